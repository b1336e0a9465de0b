"""`continue_equilibrium`: an equilibrium as a function of a parameter, through folds and past
bifurcations.

The unknowns are a displacement xi along the joints and the parameter p. Each step follows the
tangent of g(xi, p) = 0 and is then corrected orthogonally to it (pseudo-arclength, Keller 1977), so
that folds are regular points."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, overload

import numpy as np

from quirkpy.maths.constants import TINY
from quirkpy.maths.types import Floats
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.motion.controllers import freeze_commands
from quirkpy.parts.checks import number, show
from quirkpy.parts.part import PartError
from quirkpy.rest.equilibrium import Equilibrium, Verdict, certify, split_directions
from quirkpy.rest.newton import polish, size_of
from quirkpy.rest.vicinity import Vicinity

#: Step of finite differences in the parameter, as a share of its range [1].
PARAMETER_STEP = 1e-4
#: A correction has no component along singular values below this share of the largest [1].
BRANCH_RANK = 1e-12
#: An eigenvalue belongs to an oscillation where its imaginary part exceeds this share of the
#: largest [1].
OSCILLATES = 1e-6
#: A family of systems: the same bodies and joints, with a force or a length that depends on p.
Family: TypeAlias = "Callable[[float], System]"
Turn: TypeAlias = Literal["fold", "bifurcation", "onset of oscillation"]

#: Largest number of steps; the longest step, as a share of the range of p, and as a displacement [m
#: or rad] of the body that moves most; the shortest step.
STEPS, LONGEST_STEP, MOVES, SHORTEST_STEP = 2000, 0.05, 0.1, 1e-9
#: Largest number of Newton steps before a step is halved, and the size required of the last.
CORRECTIONS, BRANCH_TOLERANCE = 8, 1e-11
#: Accuracy of the location of special points, as a share of the range of p.
LOCATED = 1e-9


class Point(NamedTuple):
    """An equilibrium of the family: the parameter, the state, its verdict, and its smallest
    stiffness [1/s2]."""

    parameter: float
    state: State
    verdict: Verdict
    softest: float


class Special(NamedTuple):
    """A point where the branch changes: a fold, where p turns back; a bifurcation, where another
    branch crosses; or the onset of an oscillation."""

    kind: Turn
    parameter: float
    state: State


@dataclass(frozen=True)
class Branch(Sequence[Point]):
    """Equilibria in their order along the branch, and the special points located on it.

    complete: whether the end of the range was reached; otherwise `reason` says why the branch
    ended.
    """

    points: tuple[Point, ...]
    special: tuple[Special, ...]
    complete: bool
    reason: str

    @overload
    def __getitem__(self, k: int) -> Point: ...
    @overload
    def __getitem__(self, k: slice) -> Sequence[Point]: ...
    def __getitem__(self, k: int | slice) -> Point | Sequence[Point]:
        return self.points[k]

    def __len__(self) -> int:
        return len(self.points)

    @property
    def parameters(self) -> Floats:
        """The parameter at every point (k,)."""
        return np.array([point.parameter for point in self.points])

    @property
    def stable(self) -> Floats:
        """Whether each point is stable (k,)."""
        return np.array([point.verdict == "stable" for point in self.points])

    def __repr__(self) -> str:
        turns = (
            ", ".join(f"{s.kind} at {s.parameter:.6g}" for s in self.special) or "nothing special"
        )
        return (
            f"Branch({len(self)} points, {self.parameters[0]:.6g} to {self.parameters[-1]:.6g}: "
            f"{turns})"
        )


def continue_equilibrium(
    family: Family,
    start: State | Equilibrium,
    span: tuple[float, float],
    *,
    steps: int = STEPS,
    longest: float = LONGEST_STEP,
) -> Branch:
    """Follow an equilibrium of ``family(p)`` from p = span[0] to span[1], say of ``lambda p:
    frame.with_(load(p))``.

    start: a state near an equilibrium at span[0].  longest: the longest step, as a share of the
    range.  The branch ends where p leaves the range on either side, or after `steps`.  Folds are
    passed; of branches that cross, the same one is followed on."""
    try:
        first, last = (number(end) for end in span)
    except (TypeError, ValueError):
        first = last = 0.0
    if first == last:
        raise PartError(
            f"continue_equilibrium: span is {show(span)}, but must be two different numbers."
        )
    if not callable(family):
        raise PartError(
            f"continue_equilibrium: family is {show(family)}, but must be a function of p that "
            "gives a system."
        )
    state = start.state if isinstance(start, Equilibrium) else start
    if not isinstance(state, State):
        raise PartError(
            f"continue_equilibrium: start is {show(start)}, but must be a State or an Equilibrium."
        )
    family = members(family, first)
    at = polish(Vicinity(family(first).clusters, state))
    if not at.settled:
        raise PartError(
            f"continue_equilibrium: there is no equilibrium near this state at p = {first:g}; "
            "settle the system first.",
            code="pose",
        )
    return BranchTracer(family, at.around, first, last, longest).along(steps)


def members(family: Family, first: float) -> Family:
    """A function of p that gives members of a family and raises an error if a member is no system,
    or has other bodies or joints than the first."""

    def member_at(p: float) -> tuple[System, tuple[object, ...]]:
        system = family(p)
        if not (hasattr(system, "bodies") and hasattr(system, "selection")):
            raise PartError(
                f"continue_equilibrium: family({p:g}) is {show(system)}, but must be a system.",
                code="yours",
            )
        still = freeze_commands(system, "continue_equilibrium")
        return still, (system.bodies, system.selection.joint_names)

    def member(p: float) -> System:
        system, names = member_at(p)
        if names != known:
            raise PartError(
                f"continue_equilibrium: family({p:g}) has other bodies or joints than "
                f"family({first:g}); let a "
                "strength or a length depend on p, and keep the names.",
                code="yours",
            )
        return system

    known = member_at(first)[1]
    return member


class BranchTracer:
    """The present point of the branch and the direction in which it is followed."""

    def __init__(
        self, family: Family, around: Vicinity, first: float, last: float, longest: float
    ) -> None:
        self.family, self.first, self.last = family, first, last
        self.range, self.longest = abs(last - first), longest * abs(last - first)
        self.around, self.p = around, first
        self.tangent = self.heading(around, first, None)

    def along(self, steps: int) -> Branch:
        """All steps along the branch, from its first point to its end."""
        points, special = [self.point()], []
        length, reason = 0.2, f"{steps} steps were taken"
        for _ in range(steps):
            moved = self.step(length)
            if moved is None:
                length *= 0.5
                if length < SHORTEST_STEP:
                    reason = (
                        "the branch could not be followed any further: it ends, or has a corner, "
                        "here"
                    )
                    break
                continue
            around, p, tangent, corrections = moved
            special += self.find_special_points(around, p, tangent)
            self.around, self.p, self.tangent = around, p, tangent
            points.append(self.point())
            length = min(1.0, length * (1.5 if corrections <= 3 else 0.8))
            if (p - self.first) * (self.last - self.first) < -LOCATED * self.range**2:
                reason = "the branch turned back and left the range where it began"
                break
            if abs(p - self.last) <= LOCATED * self.range:
                return Branch(
                    tuple(points), tuple(special), True, "the end of the range was reached"
                )
        return Branch(tuple(points), tuple(special), False, reason)

    def point(self) -> Point:
        """The present point of the branch."""
        K = restrict(self.around)
        softest = float(np.linalg.eigvalsh(0.5 * (K + K.T))[0]) if len(K) else math.inf
        return Point(self.p, self.around.state, certify(self.around).verdict, softest)

    # --- steps ------------------------------------------------------------------------------------
    def pull_slope(self, around: Vicinity, p: float) -> Floats:
        """dg/dp (f,), by central differences."""
        h = PARAMETER_STEP * self.range
        there = [Vicinity(self.family(p + s * h).clusters, around.state) for s in (-1.0, 1.0)]
        low, high = (around.reduce(v.here.felt)[0] for v in there)
        return np.asarray((high - low) / (2.0 * h))

    def heading(self, around: Vicinity, p: float, before: Floats | None) -> Floats:
        """The tangent (f + 1,): a displacement and a share of the range, of length one, oriented
        like the one before."""
        slope, rest = self.pull_slope(around, p) * self.range, split_directions(around).rest
        wide = np.hstack(
            [-(around.stiffness.values * self.scales(around)) @ rest.T, slope[:, None]]
        )
        inner = np.linalg.svd(rest @ wide)[2][-1]
        tangent = np.append(rest.T @ inner[:-1], inner[-1])
        if before is None:
            sense = 1.0 if tangent[-1] * (self.last - self.first) >= 0.0 else -1.0
        else:
            sense = 1.0 if tangent @ before >= 0.0 else -1.0
        return np.asarray(sense * tangent)

    def scales(self, around: Vicinity) -> Floats:
        """The displacement of each coordinate that has the weight of the whole range of p: a metre
        or a radian (f,)."""
        return np.array(
            [1.0 / max(size_of(around, unit), TINY) for unit in np.eye(around.freedoms)]
        )

    def step(self, length: float) -> tuple[Vicinity, float, Floats, int] | None:
        """The next point: a step along the tangent, then the correction onto the branch; None where
        that fails."""
        moves = size_of(self.around, self.scales(self.around) * self.tangent[:-1])
        most = min(
            self.longest / max(abs(self.tangent[-1]) * self.range, TINY),
            MOVES / max(moves, TINY),
        )
        s = length * most
        p = self.p + s * self.tangent[-1] * self.range
        if (p - self.last) * (self.last - self.first) > 0.0:  # land on the end of the range
            s *= (self.last - self.p) / (p - self.p)
            return self.correct(s, fixed=self.last)
        return self.correct(s)

    def correct(
        self, s: float, fixed: float | None = None
    ) -> tuple[Vicinity, float, Floats, int] | None:
        """The point of the branch at a distance along the tangent; or at the given p."""
        base, scales = self.around, self.scales(self.around)
        xi = s * scales * self.tangent[:-1]
        p = self.p + s * self.tangent[-1] * self.range if fixed is None else fixed
        rows = base.answers(base.states_at(xi[None])).rows[0]
        for k in range(CORRECTIONS):
            here = Vicinity(self.family(p).clusters, base.state_of(rows))
            if fixed is None:
                normal = transfer_tangent(here, base, self.tangent, scales, self.scales(here))
                slope = self.pull_slope(here, p)[:, None] * self.range
                wide = np.vstack(
                    [np.hstack([here.stiffness.values * self.scales(here), -slope]), normal]
                )
                delta = np.linalg.lstsq(wide, np.append(here.pull, 0.0), rcond=BRANCH_RANK)[0]
                change, dp = self.scales(here) * delta[:-1], float(delta[-1]) * self.range
            else:
                change, dp = (
                    np.linalg.lstsq(here.stiffness.values, here.pull, rcond=BRANCH_RANK)[0],
                    0.0,
                )
            size = max(size_of(here, change), abs(dp) / self.range)
            if size > 4.0 * MOVES or not math.isfinite(size):
                return None
            if size <= BRANCH_TOLERANCE:
                tangent = self.heading(
                    here, p, transfer_tangent(here, base, self.tangent, scales, self.scales(here))
                )
                return here, p, tangent, k
            rows, p = here.answers(here.states_at(change[None])).rows[0], p + dp
        return None

    # --- special points ---------------------------------------------------------------------------
    def find_special_points(self, around: Vicinity, p: float, tangent: Floats) -> list[Special]:
        """The special points between the present point and the next."""
        found: list[Special] = []
        if self.tangent[-1] * tangent[-1] < 0.0:
            found.append(self.locate("fold", around, p, lambda v, q, t: float(t[-1])))
        elif determinant(self.around) * determinant(around) < 0.0:
            found.append(self.locate("bifurcation", around, p, lambda v, q, t: determinant(v)))
        if (growth(self.around) > GROWTH_RATE) != (growth(around) > GROWTH_RATE) and not found:
            found.append(self.locate("onset of oscillation", around, p, lambda v, q, t: growth(v)))
        return found

    def locate(
        self,
        kind: Turn,
        around: Vicinity,
        p: float,
        function: Callable[[Vicinity, float, Floats], float],
    ) -> Special:
        """Location of a special point by bisection and secants along the branch."""
        low, high = 0.0, self.way_to(around, p)
        f_low = function(self.around, self.p, self.tangent)
        best = (around, p)
        f_high = function(around, p, self.heading(around, p, self.tangent))
        for k in range(60):
            share = (
                0.5
                if k % 3 == 2 or f_high == f_low
                else min(0.95, max(0.05, f_low / (f_low - f_high)))
            )
            middle = low + share * (high - low)
            made = self.correct(middle)
            if made is None:
                break
            best = made[0], made[1]
            f = function(made[0], made[1], made[2])
            if (high - low) <= LOCATED or f == 0.0:
                break
            if f * f_low > 0.0:
                low, f_low = middle, f
            else:
                high, f_high = middle, f
        return Special(kind, best[1], best[0].state)

    def way_to(self, around: Vicinity, p: float) -> float:
        """The distance of a point, measured along the tangent."""
        xi = self.around.coordinates(around.rows[None])[0]
        return float(
            np.append(xi / self.scales(self.around), (p - self.p) / self.range) @ self.tangent
        )


#: A rate of growth above this counts as growth [1/s].
GROWTH_RATE = 1e-9


def determinant(around: Vicinity) -> float:
    """The determinant of the stiffness, scaled by its largest entry, so that changes of sign can be
    located."""
    K = restrict(around)
    return float(np.linalg.det(K / max(float(abs(K).max(initial=0.0)), TINY))) if len(K) else 1.0


def restrict(around: Vicinity) -> Floats:
    """The stiffness restricted to the complement of the neutral directions."""
    rest = split_directions(around).rest
    return np.asarray(rest @ around.stiffness.values @ rest.T)


def growth(around: Vicinity) -> float:
    """The fastest growth rate of an oscillation about the equilibrium [1/s]; -inf where there is
    none."""
    K, D = around.stiffness.values, around.damping.values
    if not len(K):
        return -math.inf
    f = len(K)
    values = np.linalg.eigvals(np.block([[np.zeros((f, f)), np.eye(f)], [-K, -D]]))
    turning = values[abs(values.imag) > OSCILLATES * abs(values).max()]
    return float(turning.real.max(initial=-math.inf))


def transfer_tangent(
    here: Vicinity, base: Vicinity, tangent: Floats, old: Floats, new: Floats
) -> Floats:
    """A tangent at one place, expressed in the coordinates of another (f + 1,)."""
    moved = np.einsum("f,fni->ni", old * tangent[:-1], base.basis)
    return np.append(here.covectors @ moved.reshape(-1) / new, tangent[-1])
