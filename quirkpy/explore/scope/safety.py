"""Safety: criteria for motions, and the first violation of each."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from quirkpy.clearance.clearances import Clearances, clearances, least_among
from quirkpy.explore.scope.peaks import TIED, Limited, heaviest, lengths_of, loads, rates
from quirkpy.kernels.base.arrays import AXES, POSITION, SPIN, VELOCITY
from quirkpy.kernels.base.states import (
    bodies_of,
    positions_of,
    spins_of,
    velocities_of,
)
from quirkpy.kernels.place.kinematics import sites_along
from quirkpy.kernels.solid.solids import REACH
from quirkpy.kernels.users.packing import sites_of
from quirkpy.maths.types import Floats
from quirkpy.mechanics.solids import solids_of
from quirkpy.mechanics.system import System
from quirkpy.motion.interpolation import fastest
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.body import GROUND, Site
from quirkpy.parts.checks import angle_up_to, instance, not_negative, optional, positive, word
from quirkpy.parts.part import Part, checked
from quirkpy.rest.reason import Reason
from quirkpy.tables.tables import IMAGE, Selection, Tables

Extent: TypeAlias = Literal["centres", "balls"]


#: The reason for a body in a cone, followed by the body of the cone.
ENTERS = Reason("enters")
#: The reason for a piece that has separated.
APART = Reason("apart")
#: Events within this share of the time, or of a second, are simultaneous: their order is rounding.
AT_ONCE = 1e-9


class Violation(NamedTuple):
    """What was violated, when [s] from the start of the run, and by which parts; the kind of the
    outcome."""

    reason: str
    t: float
    parts: tuple[str, ...]
    kind: Literal["rejected", "jammed"] = "rejected"


class SafetyTraits(NamedTuple):
    """The traits that a criterion declares; omitted ones are unknown, and reductions that need them
    are not used.

    sees: "motion", it depends on motion, and allows whatever is at rest; "poses", it depends on
    poses, also without motion; "whole", on anything, joints and their loads included.
    invariant_under: the rigid motions that do not change its result: "rigid" ones, "translations",
    or "none". exchanged: its result when interchangeable bodies are exchanged: the "same", with
    exchanged names; "carried", a cone that moves with its body, only for classes derived from
    `KeepOut`; "unknown"."""

    sees: Literal["motion", "poses", "whole"] = "whole"
    invariant_under: Literal["none", "translations", "rigid"] = "none"
    exchanged: Literal["same", "carried", "unknown"] = "unknown"


class Safety(Part):
    """Base of all criteria.

    A subclass gives the first violation in a motion, or None::

        class StayLow(qp.Safety):
            height: float
            def first(self, run):
                high = run["arm"].position[:, 2] > self.height
                return qp.Violation("too high", run.t[high][0], ("arm",)) if high.any() else None

    traits: a `SafetyTraits` for reductions; unknown, unless the class declares it."""

    unknown_traits: ClassVar[SafetyTraits] = SafetyTraits()

    @property
    def traits(self) -> SafetyTraits:
        """The traits of the criterion, for reductions."""
        return self.unknown_traits

    @abstractmethod
    def first(self, run: Trajectory) -> Violation | None:
        """The first violation along a motion, if there is one."""

    def before(self, system: System) -> Violation | None:
        """A reason to forbid a motion before it begins, so that no run is needed; None by
        default."""
        return None


class StayTogether(Safety):
    """No part of the spacecraft separates from the rest: pieces are connected by joints and cold
    flux pins, with all fixed bodies as one. apart [m]: the largest change of the distance of mass
    centres of any two pieces, if pieces are allowed at all; a piece with fixed bodies does not
    move. The violation names the smaller piece, or both if they have equal size, of all that
    separate at once."""

    traits = SafetyTraits(sees="motion", invariant_under="rigid", exchanged="same")

    apart: float | None = checked(optional(positive), default=None)

    def before(self, system: System) -> Violation | None:
        pieces = pieces_of(system)
        return (
            Violation(APART, 0.0, smallest(pieces))
            if len(pieces) > 1 and self.apart is None
            else None
        )

    def first(self, run: Trajectory) -> Violation | None:
        pieces = pieces_of(run.system)
        if len(pieces) < 2 or self.apart is None:
            return self.before(run.system)
        allowed, weights, pairs = (
            self.apart,
            weights_of(run.system, pieces),
            np.triu_indices(len(pieces), 1),
        )

        def separations(states: Floats) -> Floats:
            """The separation of each two pieces since the start (k, pairs)."""
            centres = weights @ (
                positions_of(states) - positions_of(bodies_of(run.course.states))[0]
            )
            return lengths_of(centres[:, pairs[0]] - centres[:, pairs[1]])

        t = find_first_below(run, lambda states: allowed - separations(states).max(axis=1))
        if t is None:
            return None
        (far,) = separations(run.at(t).instant().state[None])
        both = [
            (pieces[pairs[0][k]], pieces[pairs[1][k]])
            for k in np.flatnonzero(far >= (1.0 - TIED) * far.max())
        ]
        return Violation(APART, t - float(run.t[0]), _loose_bodies(pieces, both))


def _loose_bodies(
    pieces: Sequence[tuple[str, ...]], both: Iterable[tuple[tuple[str, ...], tuple[str, ...]]]
) -> tuple[str, ...]:
    """Bodies of the smaller of two separated pieces, of both if they have equal size."""
    named = {body for one, two in both for body in (*two, *(one if _as_large(one, two) else ()))}
    return tuple(name for piece in pieces for name in piece if name in named)


def weights_of(system: System, pieces: Sequence[Sequence[str]]) -> Floats:
    """The weight of each body in the mass centre of each piece; zero for a piece with fixed bodies,
    which does not move (pieces, bodies)."""
    mass, names = system.tables.body_mass, system.bodies
    rows = [
        [m if name in piece and "ground" not in piece else 0.0 for m, name in zip(mass, names)]
        for piece in pieces
    ]
    weights = np.array(rows)
    return np.asarray(
        weights / np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    )


def _as_large(one: Sequence[str], two: Sequence[str]) -> bool:
    """Whether two pieces, the larger first, have equal size, so that both count as separated."""
    return len(one) == len(two) and "ground" not in one


def forbids_parting(rule: Safety) -> bool:
    """Whether a criterion forbids separation before any motion, and nothing else then: a
    `StayTogether` that allows no pieces. One with a `before` of its own must be called."""
    own = type(rule).before is StayTogether.before
    return own and isinstance(rule, StayTogether) and rule.apart is None


class NoCollision(Safety):
    """Bodies do not collide: bodies with a shape keep a distance [m], zero by default, from all
    others.

    Partners of a joint may touch, and so may faces in contact at the start or at the end, where
    sensors have met and locked: see `clearances`. Where bodies collide nevertheless, the motion

    - is blocked, if they have touched from the start: a face, or a corner, presses on an obstacle.
      Rejected.
    - jams, if they come to touch on the way and no sensors meet that would lock them: a corner has
      met a face or a corner, and so it would stay, in no shape that anything holds.  An outcome of
      its own: "jammed".

    Bodies that touch in passing, tangentially, do not overlap, and the motion continues. Bodies
    that come nearer than a margin without touching are rejected."""

    traits = SafetyTraits(sees="motion", invariant_under="rigid", exchanged="same")

    margin: float = checked(not_negative, default=0.0)

    def first(self, run: Trajectory) -> Violation | None:
        return self.judged(run, self.passed(run))

    def passed(self, run: Trajectory, play: float = 0.0) -> Clearances:
        """The clearances of all bodies; play [m]: allowed overlap of bodies that only joints keep
        apart."""
        return clearances(run, margin=self.margin, play=play)

    def judged(self, run: Trajectory, found: Clearances) -> Violation | None:
        """The violation for the first collision, if there is one."""
        if found.first is None:
            return None
        t, one, two, _, lie = found.first
        begins = next(pair.begins for pair in found.pairs if {pair.one, pair.two} == {one, two})
        after, parts = float(t - run.t[0]), (one, two)
        if lie == "apart":
            return Violation(Reason("near", (), [self.margin]), after, parts)
        if begins != "apart":
            return Violation(Reason("blocked"), after, parts)
        return Violation(Reason("jams"), after, parts, "jammed")


class Limit(Safety):
    """A quantity stays below a value: "speed" of any mass centre [m/s], "turning" of any body
    [rad/s], or "load" on any joint [N or N m], of least norm where it is not unique."""

    what: Limited = checked(word(Limited))
    value: float = checked(positive)

    @property
    def traits(self) -> SafetyTraits:
        sees: Literal["motion", "whole"] = "whole" if self.what == "load" else "motion"
        return SafetyTraits(sees, invariant_under="rigid", exchanged="same")

    def first(self, run: Trajectory) -> Violation | None:
        if self.what != "load" and self._is_far_below(run):
            return None
        t = (
            run.between.first_time(lambda t: self.value - heaviest(run, t))
            if self.what == "load"
            else find_first_below(
                run, lambda states: self.value - rates(states, self.what).max(axis=1, initial=0.0)
            )
        )
        if t is None:
            return None
        names, sizes = run.system.bodies, rates(run.at(t).instant().state, self.what)
        if self.what == "load":
            names, sizes = loads(run, t)
        which = tuple(
            name
            for name, size in zip(names, sizes, strict=True)
            if size >= (1.0 - TIED) * sizes.max()
        )
        return Violation(Reason(self.what, (), [self.value]), t - float(run.t[0]), which)

    def _is_far_below(self, run: Trajectory) -> bool:
        """Whether upper bounds from accelerations exclude that the limit is reached within any
        step."""
        return bool(
            fastest(run.course, run.system.clusters)[0 if self.what == "speed" else 1] < self.value
        )


class KeepOut(Safety):
    """A cone that stays clear: no other body comes within `half_angle` [rad] of the z axis of a
    site, nearer than `length` [m]. Beyond a right angle it is a ball without the opposite cone. of:
    "centres", only mass centres count; or "balls", bodies count with their bounding spheres."""

    site: Site = checked(instance(Site))
    half_angle: float = checked(angle_up_to(math.pi, "pi"))
    length: float = checked(positive, default=1.0)
    of: Extent = checked(word(Extent), default="centres")

    @property
    def traits(self) -> SafetyTraits:
        group: Literal["none", "rigid"] = "none" if self.site.body.fixed else "rigid"
        return SafetyTraits("poses", invariant_under=group, exchanged="carried")

    def first(self, run: Trajectory) -> Violation | None:
        name, bodies, t = self.site.body.name, list(run.system.bodies), run.system.tables
        others = [k for k, body in enumerate(bodies) if body != name]
        fixed = [
            body for body in t.fixed if name in bodies and body != GROUND
        ]  # fixed bodies may enter as well
        names = [*(bodies[k] for k in others), *(body.name for body in fixed)]
        places = np.array([body.position for body in fixed]).reshape(-1, 3)
        reach = self._reach(t, names)

        def from_tip(states: Floats) -> tuple[Floats, Floats]:
            """The position of every other body relative to the tip of the cone (k, others, 3), and
            the axis of the cone (k, 1, 3)."""
            at = np.concatenate(
                [positions_of(states)[:, others], np.tile(places, (len(states), 1, 1))], axis=1
            )
            placed = self._site_in_n(states, bodies)
            return at - placed[:, None, :3], placed[:, None, 3:]

        def margins(states: Floats) -> Floats:
            """The distance of each other body from the cone, negative inside (k, others)."""
            d, z = from_tip(states)
            along = np.einsum("koi,kzi->ko", d, z)
            across = lengths_of(d - along[..., None] * z)
            return outside_cone(along, across, self.half_angle, self.length) - reach

        def rate(states: Floats) -> Floats:
            """Upper bound of the speed of any other body relative to that of the cone [m/s]
            (k,)."""
            d, _ = from_tip(states)
            v, turning = self._moving(states, bodies)
            moving = velocities_of(states)[:, others] - v
            speeds = np.concatenate(
                [lengths_of(moving), np.repeat(lengths_of(v), len(fixed), axis=1)], axis=1
            )
            return np.asarray(
                (speeds + turning * (lengths_of(d) + math.hypot(*self.site.at))).max(
                    axis=1, initial=0.0
                )
            )

        first = find_first_below(
            run, lambda states: margins(states).min(axis=1, initial=np.inf), rate
        )
        if first is None:
            return None
        inside = names[int(np.argmin(margins(run.between.at(np.array([first])))[0]))]
        return Violation(ENTERS, first - float(run.t[0]), (inside, name))

    def _reach(self, t: Tables, names: Sequence[str]) -> Floats:
        """The radius of each body around its mass centre for this criterion [m] (n,)."""
        known, solids = solids_of(t) if self.of == "balls" else ((), None)
        far = (
            {}
            if solids is None
            else dict(zip(known, solids.numbers[:, REACH].tolist(), strict=True))
        )
        return np.array([far.get(name, 0.0) for name in names])

    def _site_in_n(self, states: Floats, bodies: list[str]) -> Floats:
        """Origin and z axis of the site in N (k, 6)."""
        rows = {name: k for k, name in enumerate(bodies)}
        moving = states[:, : len(bodies)]
        at = sites_along(moving, np.arange(1), sites_of([self.site], rows, len(bodies)))[:, 0]
        z = at[:, AXES:SPIN].reshape(-1, 3, 3)[:, :, 2]
        return np.concatenate([at[:, POSITION:VELOCITY], z], axis=1)

    def _moving(self, states: Floats, bodies: list[str]) -> tuple[Floats, Floats]:
        """Velocity of the body of the cone in N (k, 1, 3), and its angular velocity (k, 1)."""
        if self.site.body.name not in bodies:  # fixed
            return np.zeros((len(states), 1, 3)), np.zeros((len(states), 1))
        own = states[:, [bodies.index(self.site.body.name)]]
        return velocities_of(own), lengths_of(spins_of(own))


def cone_of(rule: Safety) -> KeepOut | None:
    """A criterion as a cone, if its traits say that it moves with its body."""
    return rule if isinstance(rule, KeepOut) and rule.traits.exchanged == "carried" else None


def outside_cone(along: Floats, across: Floats, half_angle: float, length: float) -> Floats:
    """The distance of points, with coordinates along the axis and across it [m], from a cone of a
    given length; negative inside: the depth."""
    c, s = math.cos(half_angle), math.sin(half_angle)
    nearest = np.minimum(
        np.maximum(along * c + across * s, 0.0), length
    )  # of the points on the side, from the tip
    x, y = along - nearest * c, across - nearest * s
    aside = np.sqrt(x * x + y * y) if half_angle < math.pi else np.inf  # a whole ball has no side
    beyond = np.sqrt(along * along + across * across) - length
    within = along * s - across * c >= 0.0  # the sine of the angle to the side
    return np.asarray(np.where(within, np.maximum(beyond, -aside), aside))


# --- what happens along a motion ------------------------------------------------------------------
def find_first_below(
    run: Trajectory,
    margin: Callable[[Floats], Floats],
    rate: Callable[[Floats], Floats] | None = None,
) -> float | None:
    """The time at which a margin, a function of states (k, nb, STATE_WIDTH) -> (k,), is first below
    zero [s]; None: never.

    rate: a bound of its rate, if known.

    """
    t = run.between.first(margin, rate)
    return (
        None
        if t is None
        else run.passing(t, lambda state: float(margin(state.instant().state[None])[0]))
    )


def pieces_of(system: System) -> list[tuple[str, ...]]:
    """Names of the bodies that active joints and cold flux pins hold together, piece by piece: the
    piece attached to the ground first, if any, then the largest; fixed bodies are one."""
    return system.selection.once(_pieces_of)


def _pieces_of(selection: Selection) -> list[tuple[str, ...]]:
    tables, n = selection.tables, selection.tables.n_bodies
    joints, elements = selection.joints, selection.elements
    pins = elements[
        (tables.element_kind[elements] == IMAGE) & (tables.element_numbers[elements, 0] != 0.0)
    ]
    one, two = (
        tables.site_body[np.concatenate([joints_at[joints], pins_at[pins]])]
        for joints_at, pins_at in (
            (tables.joint_site1, tables.element_site1),
            (tables.joint_site2, tables.element_site2),
        )
    )
    labels = list(range(n + 1))
    for a, b in zip(one.tolist(), two.tolist(), strict=True):
        mine, other = labels[a], labels[b]
        labels = [mine if label == other else label for label in labels]
    ground = any(body != GROUND for body in tables.fixed) or bool(
        (np.concatenate([one, two]) == n).any()
    )
    names = (*tables.body_names, "ground")
    out = [
        tuple(names[k] for k in range(n + ground) if labels[k] == piece) for piece in range(n + 1)
    ]
    return sort_by_size(out)


def sort_by_size(pieces: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The piece attached to the ground, then in order of size; empty ones are left out."""
    return sorted(
        (piece for piece in pieces if piece),
        key=lambda piece: ("ground" not in piece, -len(piece), piece),
    )


def smallest(pieces: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The loose one of several pieces: not the first, and the smallest of the others."""
    return min(pieces[1:], key=len)


class Judged(NamedTuple):
    """The earliest violation along a motion, if there is any; the least distance of bodies that
    move past each other [m], if it was computed."""

    violation: Violation | None
    clearance: float | None


def judge(criteria: Sequence[Safety], run: Trajectory, play: float = 0.0) -> Judged:
    """All criteria along a motion; of simultaneous violations that of a cone comes last. play [m]:
    of joints, an allowed overlap of bodies."""
    violations, least = [], []
    for criterion in sorted(criteria, key=lambda criterion: isinstance(criterion, KeepOut)):
        if isinstance(criterion, NoCollision):
            found = criterion.passed(run, play)
            violations.append(criterion.judged(run, found))
            least.append(least_of(run, found))
        else:
            violations.append(criterion.first(run))
    violated = [violation for violation in violations if violation is not None]
    begun = min((violation.t for violation in violated), default=0.0)
    first = next((violation for violation in violated if is_simultaneous(begun, violation.t)), None)
    return Judged(first, min((gap for gap in least if gap is not None), default=None))


def is_simultaneous(one: float, two: float) -> bool:
    """Whether the second of two times [s] is no later than the first, up to rounding."""
    return two - one <= AT_ONCE * max(1.0, abs(one))


def least_of(run: Trajectory, found: Clearances) -> float | None:
    """The least distance of bodies that move past each other: not connected by a joint, nor locked
    as one, and touching neither at the start nor at the end."""
    merger, names = run.system.clusters.merger, run.system.bodies
    of = {name: name if merger is None else int(merger.cluster[k]) for k, name in enumerate(names)}
    past = [
        pair for pair in found.pairs
        if not pair.partners and pair.begins == pair.ends == "apart"
        and of.get(pair.one, pair.one) != of.get(pair.two, pair.two)
    ]  # fmt: skip
    return least_among(run, past) if past else None
