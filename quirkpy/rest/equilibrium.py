"""`Equilibrium`: a state of rest, computed to rounding, and its certificate of stability."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from quirkpy import doors
from quirkpy.kernels.base.states import NO_TAIL, halves_of
from quirkpy.maths.cached import cached_property
from quirkpy.maths.constants import TINY
from quirkpy.maths.differences import ASYMMETRY, is_symmetric_within
from quirkpy.maths.types import Floats
from quirkpy.mechanics.analysis import Pull, Reaction
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.parts.part import PartError
from quirkpy.rest.branch_points import NO_BEND, Crossing, crossing_at, decide, definite, forms_at
from quirkpy.rest.cones import decide as decide_by_sides
from quirkpy.rest.kinks import Kinks, bend_along, bends_of, even_stiffness, kinks_of, walls_of
from quirkpy.rest.newton import IDLE_PULL, NO_PULL, polish, rests, size_of, unknown_below
from quirkpy.rest.reason import Reason
from quirkpy.rest.spins import momentum_rows, spin_directions
from quirkpy.rest.verdicts import Around, Judgement, judge, motions
from quirkpy.rest.vicinity import Vicinity
from quirkpy.rest.wording import words_of

#: Bodies move in phase where no imaginary part of a scaled mode shape exceeds this [1].
REAL_SHAPE = 1e-9


if TYPE_CHECKING:
    from quirkpy.doors import Drawing
    from quirkpy.motion.trajectory import Trajectory

Verdict: TypeAlias = Literal["stable", "unstable", "marginal", "never settles", "stopped"]

#: A rate of growth or decay counts as zero below this share of the fastest rate [1].
NO_RATE = 1e-8
#: Along a neutral direction the generalized force is only rounding. Directions whose force is below
#: this share of the force that the largest stiffness gives for one stride are examined one by one.
NEUTRAL_PULL = 1e-9
#: How far a direction is followed to see whether equilibria continue along it [m], [rad], and the
#: length of one step.
FOLLOWED, NEUTRAL_STRIDE = 0.3, 0.1
#: A direction lies in a subspace that contains this share of it.
FLAT_SHARE = 0.5
#: Displacements at which equilibrium is tested with every body on its screw [m], [rad].
SCREWED = (-1.1, -0.2, 0.3, 1.3)
#: A known motion belongs to the null space of the stiffness where no more than this share lies
#: outside.
MIXED = 1e-6
#: A body takes part in a motion when it moves by this share of the one that moves most.
TAKES_PART = 0.05
#: What a body does where it turns, moves or bends most.
VERBS = ("turns", "moves", "bends")


class Mode(NamedTuple):
    """A motion xi = c exp(s t) around an equilibrium: s = eigenvalue [1/s]; the angular frequency
    |s| [rad/s] and the share of critical damping; velocities of all bodies along it, in N and body
    axes, the fastest of length 1 [m/s or rad/s] (n, 6), complex where bodies do not move in phase;
    which bodies move, and how; state: that around which it is a motion; bending: rates of all modes
    of bodies that bend along it (m,), of length 1 where the root mean square over the mass is."""

    eigenvalue: complex
    frequency: float
    damping: float
    shape: Floats
    moving: tuple[str, ...]
    state: State | None = None
    bending: Floats = NO_TAIL

    @property
    def words(self) -> str:
        """Which joints or bodies move, about or along which axis of N, and which against others."""
        if self.state is None:
            return ", ".join(self.moving)
        return words_of(self.shape, self.bending, self.state)

    @property
    def period(self) -> float:
        """The time of one oscillation [s]; infinite where there is none."""
        turning = abs(self.eigenvalue.imag)
        return 2.0 * math.pi / turning if turning > 0.0 else math.inf

    def __repr__(self) -> str:
        what = (
            f"{self.frequency:.6g} rad/s, damping {self.damping:.3g}"
            if self.frequency
            else "neutral"
        )
        return f"Mode({what}: {self.words})"


class Nudge(NamedTuple):
    """How an unstable start was displaced: along a mode, by some amount [m or rad] of the body that
    moves most; which bodies it moved; whether a stop blocked it."""

    size: float
    seed: int
    moving: tuple[str, ...]
    blocked: bool = False


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A state at rest, and whether and why it is stable.

    verdict: "stable", "unstable", "marginal", "never settles", or "stopped" by an event on the way;
    reason: the verdict explained in a sentence, with its data. damped: whether every motion around
    it dies out. gyroscopic: it is stable by gyroscopic terms alone, and any damping would destroy
    that. modes: the motions around it, slowest first; unstable, marginal: those that grow, and
    those that remain undecided; neutral: directions along which equilibria continue, on which no
    force depends, or which are translations and rotations of the whole. residual: the largest
    acceleration left [m/s2] or [rad/s2]; moved: the largest displacement of any body by Newton's
    method [m], [rad]. run: the motion that led here, if there was one; nudge: how an unstable start
    was displaced; system: the system at rest."""

    state: State
    verdict: Verdict
    reason: Reason
    damped: bool = False
    gyroscopic: bool = False
    modes: tuple[Mode, ...] = ()
    unstable: tuple[Mode, ...] = ()
    marginal: tuple[Mode, ...] = ()
    neutral: tuple[Mode, ...] = ()
    energy: float = math.nan
    residual: float = math.nan
    moved: float = 0.0
    run: Trajectory | None = None
    nudge: Nudge | None = None
    system: System | None = field(default=None, repr=False)

    @cached_property
    def forces(self) -> dict[str, tuple[Pull, ...]]:
        """What every force does to each body here."""
        return self._of().pulls(self.state)

    @cached_property
    def balance(self) -> dict[str, tuple[Pull, ...]]:
        """All that acts on each body here, about its mass centre, which adds up to zero."""
        return self._of().balance(self.state)

    @cached_property
    def reactions(self) -> dict[str, Reaction]:
        """What every joint, and every stop that holds, does to its second body here."""
        return self._of().reactions(self.state)

    def explain(self) -> str:
        """Why the system rests here, in words: verdict, motions around, and the table of forces
        and reactions."""
        return doors.explain.rest(self)

    def picture(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        eye: Sequence[float] = (0.45, -0.75, 0.8),
    ) -> Drawing:
        """The motions around it: bodies as they rest, and as ghosts to both sides along each
        motion, slowest first."""
        return doors.poses.of_rest(self, eye).save_to(path)

    def _repr_html_(self) -> str:
        return doors.notebook.of_rest(self)

    def _of(self) -> System:
        if self.system is None:
            raise PartError(
                "this equilibrium belongs to no system; settle one to get one that does.",
                code="together",
            )
        return self.system

    def __repr__(self) -> str:
        return f"Equilibrium(t={self.state.t:.6g}, {self.verdict}: {self.reason})"


# --- certifying -----------------------------------------------------------------------------------
class DirectionSplit(NamedTuple):
    """Coordinates of the directions along which equilibria continue (n, f), and of all others (f -
    n, f)."""

    neutral: Floats
    rest: Floats


class Conclusion(NamedTuple):
    """The judgement of a state at rest, with the fields of `Equilibrium` that it decides."""

    verdict: Verdict
    reason: Reason
    modes: tuple[Mode, ...] = ()
    unstable: tuple[Mode, ...] = ()
    marginal: tuple[Mode, ...] = ()
    damped: bool = False
    gyroscopic: bool = False


def certify(around: Vicinity, moved: float = 0.0) -> Equilibrium:
    """The verdict on a state at rest, with all motions around it."""
    neutral = _describe_whole(around)
    forms = forms_at(around)
    flat = forms is not None and definite(forms)
    if forms is None:
        parts = split_directions(around)
        neutral += tuple(mode(around, direction, 0j) for direction in parts.neutral)
        finding = judge_motions(around, parts)
    elif flat:
        finding = Conclusion(verdict="stable", reason=Reason("stands"), damped=True)
    else:
        finding = judge_branches(around, crossing_at(around, forms))
    return Equilibrium(
        state=around.state_of(around.here.rows[0]), neutral=neutral,
        energy=around.energy + around.entry.standing_energy,
        residual=0.0 if flat else float(abs(around.here.felt).max(initial=0.0)), moved=moved,
        **finding._asdict(),
    )  # fmt: skip


def judge_motions(around: Vicinity, parts: DirectionSplit) -> Conclusion:
    """The motions around, the verdict, its reason and the motions that decide."""
    if not len(parts.rest):
        reason = Reason("neutral" if len(parts.neutral) else "stands")
        return Conclusion(verdict="stable", reason=reason, damped=True)
    kinks = kinks_of(around)
    if kinks is not None:
        return judge_by_sides(around, parts, kinks)
    matrices = Around(
        around.stiffness.values, around.damping.values, around.stiffness_error, around.damping_error
    )
    found = judge(matrices, parts.neutral, parts.rest, momentum_rows(around))
    if found.ground in ("falls", "level", "turns") and len(walls_of(around)[0]):
        return judge_by_sides(around, parts, None)
    modes = _modes(around, found.motions.values, found.motions.along)
    lasting = tuple(m for m, dies in zip(modes, found.motions.dying, strict=True) if not dies)
    growing = tuple(m for m, grows in zip(modes, found.motions.growing, strict=True) if grows)
    deciding = _modes(around, np.zeros(len(found.along.T)), found.along)
    figures = found.value, found.error
    match found.ground:
        case "rises":
            reason = Reason("minimum") if found.damped else explain_lasting(matrices, found, modes)
            return Conclusion(modes=modes, verdict="stable", reason=reason, damped=found.damped)
        case "dies":
            return Conclusion(modes=modes, verdict="stable", reason=Reason("dies out"), damped=True)
        case "falls" | "grows":
            unstable = growing or deciding
            reason = Reason("falls", _names(unstable))
            return Conclusion(modes=modes, verdict="unstable", reason=reason, unstable=unstable)
        case "level":
            reason = Reason("level", _names(deciding), figures)
            return Conclusion(modes=modes, verdict="marginal", reason=reason, marginal=deciding)
        case "turns":
            reason = Reason("turns", _names(deciding))
            return Conclusion(
                modes=modes, verdict="marginal", reason=reason, marginal=deciding, gyroscopic=True
            )
        case "lasts":
            reason = Reason("lasts", _names(lasting), figures)
            return Conclusion(modes=modes, verdict="marginal", reason=reason, marginal=lasting)


def explain_lasting(matrices: Around, found: Judgement, modes: tuple[Mode, ...]) -> Reason:
    """The reason for a minimum of energy around which some motions may not die out: no damping
    reaches them, or rounding of faster motions hides their decay."""
    lasting = np.flatnonzero(~found.motions.dying).tolist()
    free = [k for k in lasting if found.undamped(matrices, k)]
    if free:
        return Reason("undamped", _names(tuple(modes[k] for k in free)))
    worst = max(lasting, key=lambda k: float(found.motions.errors[k]))
    figures = abs(float(found.motions.values[worst].real)), float(found.motions.errors[worst])
    return Reason("hidden rate", _names(tuple(modes[k] for k in lasting)), figures)


def judge_by_sides(around: Vicinity, parts: DirectionSplit, kinks: Kinks | None) -> Conclusion:
    """Verdict and reason where stiffness jumps, or stops that are touched exclude some motions: by
    energy alone, along every allowed direction."""
    walls, stops = walls_of(around)
    bends, D = bends_of(around, kinks, walls, parts.rest), around.damping.values
    jumping = () if kinks is None else (Reason("jumps", kinks.names),)
    where = (*jumping, *((Reason("touches", stops),) if stops else ()))
    if not is_symmetric_within(*even_stiffness(around, kinks)):
        return Conclusion(verdict="marginal", reason=Reason("no potential", why=where))
    found = decide_by_sides(bends) if kinks is None or kinks.explained else None
    if found is None:
        return Conclusion(verdict="marginal", reason=Reason("too many ways", why=where))
    gyroscopic = (abs(D - D.T) > around.damping_error + around.damping_error.T).any() or len(
        momentum_rows(around)
    )
    if found.ground == "rises":
        matrices = Around(
            around.stiffness.values,
            D,
            parts.rest.T @ bends.error @ parts.rest,
            around.damping_error,
        )
        damped = bool(motions(matrices, parts.rest, None, len(parts.neutral)).dying.all())
        return Conclusion(
            verdict="stable", reason=Reason("minimum beside", why=where), damped=damped
        )
    along = parts.rest.T @ found.along
    value, error = bend_along(around, along)
    falls = value < -error
    if falls and not gyroscopic:
        d = float(along @ D @ along)
        falling = (mode(around, along, -2.0 * value / (d + math.sqrt(d * d - 4.0 * value)) + 0j),)
        reason = Reason("falls beside", _names(falling), why=where)
        return Conclusion(modes=falling, verdict="unstable", reason=reason, unstable=falling)
    open_ = (mode(around, along, 0j),)
    doubt = "turns beside" if falls else "level beside"
    reason = Reason(doubt, _names(open_), (value, error), where)
    return Conclusion(verdict="marginal", reason=reason, marginal=open_)


def _modes(around: Vicinity, values: Floats, along: Floats) -> tuple[Mode, ...]:
    """Motions with some eigenvalues (m,) along displacements (f, m), with their descriptions."""
    return tuple(mode(around, x, complex(s)) for s, x in zip(values, along.T, strict=True))


def judge_branches(around: Vicinity, crossing: Crossing) -> Conclusion:
    """Motions and verdict where branches of motion meet: on each branch the motion is
    one-dimensional, x'' + d x' + k x = 0."""
    K, D = crossing.stiffness, crossing.damping
    if abs(K - K.T).max() > ASYMMETRY * abs(K).max():
        reason = Reason("no potential", why=[Reason("meet")])
        return Conclusion(verdict="marginal", reason=reason)
    found = decide(crossing)
    brakes = np.einsum("kf,fg,kg->k", found.along, D, found.along)
    brakes[abs(brakes) <= NO_BEND] = 0.0
    rates = [
        -0.5 * d + np.sqrt(complex(0.25 * d * d - k))
        for d, k in zip(brakes, found.bends, strict=True)
    ]
    modes = tuple(mode(around, w, complex(s)) for s, w in zip(rates, found.along, strict=True))
    fastest = max((abs(s) for s in rates), default=0.0)
    unstable = tuple(m for m in modes if m.eigenvalue.real > NO_RATE * fastest)
    if unstable:
        reason = Reason("meet, falls", _names(unstable))
        return Conclusion(modes=modes, verdict="unstable", reason=reason, unstable=unstable)
    if not found.rises:
        return Conclusion(
            modes=modes, verdict="marginal", reason=Reason("meet, level"), marginal=modes
        )
    damped = bool((brakes > NO_RATE * fastest).all())
    return Conclusion(modes=modes, verdict="stable", reason=Reason("meet, rises"), damped=damped)


def mode(around: Vicinity, direction: Floats, eigenvalue: complex) -> Mode:
    """A motion along coordinates, with its description."""
    if not np.iscomplexobj(direction):
        return _describe(around, around.shapes(direction[None])[0], eigenvalue)
    real, imaginary = around.shapes(np.array([direction.real, direction.imag]))
    return _describe(around, real + 1j * imaginary, eigenvalue)


def _describe_whole(around: Vicinity) -> tuple[Mode, ...]:
    """The rigid motions of the whole, which no coordinate describes, as modes."""
    if not len(around.carried):
        return ()
    return tuple(_describe(around, shape, 0j) for shape in around.shapes_of(around.carried))


def _describe(around: Vicinity, shape: Floats, eigenvalue: complex) -> Mode:
    sizes = np.linalg.norm(halves_of(shape), axis=2)
    largest = sizes.max(initial=0.0)
    if largest > 0.0:
        turn = shape.reshape(-1)[abs(shape).argmax()]
        shape, sizes = shape * (abs(turn) / (turn * largest)), sizes / largest
    if np.iscomplexobj(shape) and not abs(shape.imag).max(initial=0.0) > REAL_SHAPE:
        shape = shape.real
    points = around.points
    bending = np.bincount(points.owners, sizes[len(around.state.bodies) :, 0] ** 2, len(sizes))
    moving = tuple(
        f"{name} {VERBS[int(np.argmax(ways))]}"
        for name, ways in zip(
            around.state.bodies, np.column_stack([sizes[:, ::-1], np.sqrt(bending)]), strict=False
        )
        if ways.max() > TAKES_PART
    )
    frequency = abs(eigenvalue)
    damping = -eigenvalue.real / frequency if frequency else 0.0
    return Mode(
        eigenvalue, frequency, damping, shape[: len(around.state.bodies)], moving, around.state,
        points.modes_in(shape) * points.roots,
    )  # fmt: skip


def _names(modes: tuple[Mode, ...]) -> tuple[str, ...]:
    """The names of the bodies that move in some modes, each once."""
    return tuple(dict.fromkeys(what.rsplit(" ", 1)[0] for m in modes for what in m.moving))


# --- neutral directions ---------------------------------------------------------------------------
def split_directions(around: Vicinity) -> DirectionSplit:
    """The directions of zero stiffness along which equilibria continue, and a basis of the
    others."""
    if around.parts is None:
        around.parts = _split_by_stiffness(around)
    neutral, rest = around.parts
    return DirectionSplit(neutral, rest)


def _split_by_stiffness(around: Vicinity) -> tuple[Floats, Floats]:
    f, flat = around.freedoms, flat_directions(around)
    if not len(flat):
        return flat, np.eye(f)
    flat = _complete_basis(flat, spin_directions(around))
    neutral = np.array(
        [a for a in flat if all(goes_on(around, sense * a) for sense in (1.0, -1.0))]
    ).reshape(-1, f)
    full = np.linalg.qr(neutral.T, mode="complete")[0] if len(neutral) else np.eye(f)
    return neutral, full[:, len(neutral) :].T


def flat_directions(around: Vicinity) -> Floats:
    """A basis of the directions of zero stiffness (k, f)."""
    _, sigma, Vt = around.principal
    return np.asarray(Vt[sigma <= unknown_below(around, Vt.T)])


def _complete_basis(flat: Floats, known: Floats) -> Floats:
    """A basis of the same directions (k, f) that begins with those of the known ones (m, f) that
    lie among them. Two motions that each leave equilibrium unchanged need not commute, so that
    along a combination of them something may change."""
    inside = np.array(
        [a for a in known if np.linalg.norm(flat @ a) > (1.0 - MIXED) * np.linalg.norm(a) > 0.0]
    )
    if not len(inside):
        return flat
    first = np.linalg.svd(inside @ flat.T @ flat, full_matrices=False)[2]
    others = np.linalg.svd(flat - flat @ first.T @ first)[2][: len(flat) - len(first)]
    return np.concatenate([first, others])


def goes_on(around: Vicinity, direction: Floats) -> bool:
    """Whether equilibria continue along a direction: with every body moving on its screw, as under
    a symmetry; or step by step, with a correction after each."""
    along = direction / max(size_of(around, direction), TINY)
    there = around.answers(around.states_on_screw(along, np.array(SCREWED)))
    pulled = abs(there.felt).max(initial=0.0)
    rounding = IDLE_PULL * around.loading + NO_PULL
    if pulled <= rounding:
        return True
    if pulled <= rounding + NEUTRAL_PULL * NEUTRAL_STRIDE * float(
        abs(around.stiffness.values).max(initial=0.0)
    ):
        on_screws = (
            Vicinity(around.clusters, around.state_of(rows), around.whole) for rows in there.rows
        )
        if all(rests(one) for one in on_screws):
            return True
    return all(_is_followed(around, sense * along) for sense in (1.0, -1.0))


def _is_followed(around: Vicinity, along: Floats) -> bool:
    """Whether equilibria continue along a direction, followed in strides. Two successive rotations
    differ from their sum, so the set of equilibria is curved; after each stride the direction is
    projected onto the directions of zero stiffness there."""
    here = around
    for _ in range(round(FOLLOWED / NEUTRAL_STRIDE)):
        rows = here.answers(here.states_at(NEUTRAL_STRIDE * along[None])).rows[0]
        there = polish(Vicinity(here.clusters, here.state_of(rows), here.whole))
        if not there.settled or there.moved > 0.5 * NEUTRAL_STRIDE or not rests(there.around):
            return False
        along = _flatten(there.around, there.around.coordinates_of(here, along))
        along, here = along / size_of(there.around, along), there.around
    return True


def _flatten(around: Vicinity, along: Floats) -> Floats:
    """A direction without its component along stiff directions, unless that is most of it."""
    flat = flat_directions(around)
    inside = flat.T @ (flat @ along)
    mostly = np.linalg.norm(inside) > FLAT_SHARE * np.linalg.norm(along)
    return np.asarray(inside if mostly else along)
