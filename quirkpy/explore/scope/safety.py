"""Safety: what a motion must not do, and where it first does it."""

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


#: What is said of a body in a cone; it comes first, then the body from which the cone looks.
ENTERS = Reason("enters")
#: What is said of the smallest piece of several.
APART = Reason("apart")
#: What happens within this share of the time, or of a second, happens at once: which is the earlier
#: is rounding.
AT_ONCE = 1e-9


class Violation(NamedTuple):
    """What was violated, when [s] from the start of the run, and by which parts; what the motion
    counts as."""

    reason: str
    t: float
    parts: tuple[str, ...]
    kind: Literal["rejected", "jammed"] = "rejected"


class SafetyTraits(NamedTuple):
    """What a criterion declares; what it leaves out is unknown, and no run is saved where it
    matters.

    sees: "motion", how bodies move, and it allows whatever stands still; "poses", where bodies are,
    also where nothing moves; "whole", anything, joints and their loads as well.
    invariant_under: the motions of the whole after which it says the same: "rigid" ones,
    "translations", or "none".
    exchanged: what it says when bodies that are alike are exchanged: the "same", of the others;
    "carried", which only what derives from `KeepOut` is: a cone that goes with its body;
    "unknown"."""

    sees: Literal["motion", "poses", "whole"] = "whole"
    invariant_under: Literal["none", "translations", "rigid"] = "none"
    exchanged: Literal["same", "carried", "unknown"] = "unknown"


class Safety(Part):
    """Base of all criteria.

    Yours says where in a motion it is first violated, or None::

        class StayLow(qp.Safety):
            height: float
            def first(self, run):
                high = run["arm"].position[:, 2] > self.height
                return qp.Violation("too high", run.t[high][0], ("arm",)) if high.any() else None

    traits: what reductions may take for granted, a `SafetyTraits`; nothing, unless your class
    declares it."""

    unknown_traits: ClassVar[SafetyTraits] = SafetyTraits()

    @property
    def traits(self) -> SafetyTraits:
        """What is known of the criterion beforehand, for reductions."""
        return self.unknown_traits

    @abstractmethod
    def first(self, run: Trajectory) -> Violation | None:
        """The first violation along a motion, if there is one."""

    def before(self, system: System) -> Violation | None:
        """What forbids a motion before anything moves, so that no run is needed; None by
        default."""
        return None


class StayTogether(Safety):
    """No part of the spacecraft comes apart from the rest: what neither joints nor cold flux pins
    hold together, with all fixed bodies as one.  apart [m]: how far mass centres of any two pieces
    may part from where they were, if pieces are allowed at all; one with fixed bodies stands
    still.  Named is the smaller one, or both where they are as large, of all that part so far at
    once."""

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
            """How far each two pieces have parted from where they were (k, pairs)."""
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
    """Bodies of the smaller of two pieces that have parted, of both where they are as large."""
    named = {body for one, two in both for body in (*two, *(one if _as_large(one, two) else ()))}
    return tuple(name for piece in pieces for name in piece if name in named)


def weights_of(system: System, pieces: Sequence[Sequence[str]]) -> Floats:
    """What each body counts in the mass centre of each piece; in that of one with fixed bodies
    nothing does, for it stands still (pieces, bodies)."""
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
    """Whether neither of two pieces, the larger first, is the loose one."""
    return len(one) == len(two) and "ground" not in one


def forbids_parting(rule: Safety) -> bool:
    """Whether a criterion forbids that bodies come apart, before anything moves, and nothing else
    then: a `StayTogether` that allows no pieces.  One with a `before` of its own must be asked."""
    own = type(rule).before is StayTogether.before
    return own and isinstance(rule, StayTogether) and rule.apart is None


class NoCollision(Safety):
    """Bodies do not run into each other: what has a shape keeps a distance [m], zero by default,
    from all else.

    Partners of a joint may touch, and faces that lie on each other at the start or at the end,
    where sensors have met and locked: see `clearances`.  Where bodies run into each other all the
    same, the motion

    - is blocked, if they have touched from the start: a face, or a corner, presses on what lies in
      its way.  Rejected.
    - jams, if they come to touch on the way and no sensors meet that would lock them: a corner has
      met a face or a corner, and so it would stay, in no shape that anything holds.  An outcome of
      its own: "jammed".

    What touches in passing, tangentially, overlaps nothing and goes on.  Bodies that come nearer
    than a margin without touching are rejected."""

    traits = SafetyTraits(sees="motion", invariant_under="rigid", exchanged="same")

    margin: float = checked(not_negative, default=0.0)

    def first(self, run: Trajectory) -> Violation | None:
        return self.judged(run, self.passed(run))

    def passed(self, run: Trajectory, play: float = 0.0) -> Clearances:
        """How all bodies pass each other; play [m]: by which bodies may overlap that only joints
        hold apart."""
        return clearances(run, margin=self.margin, play=play)

    def judged(self, run: Trajectory, found: Clearances) -> Violation | None:
        """What the first collision, if there is one, counts as."""
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
        """Whether accelerations, taken twice, could not carry anything to the limit within any
        step."""
        return bool(
            fastest(run.course, run.system.clusters)[0 if self.what == "speed" else 1] < self.value
        )


class KeepOut(Safety):
    """A cone that stays clear: no other body comes within `half_angle` [rad] of the z axis of a
    site, nearer than `length` [m].  Beyond a right angle it is all of a ball but the cone that
    opens the other way.  of: "centres", mass centres count alone; or "balls", so does what lies
    around them, as far as the shape of a body reaches."""

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
        ]  # what stands still may come in sight
        names = [*(bodies[k] for k in others), *(body.name for body in fixed)]
        places = np.array([body.position for body in fixed]).reshape(-1, 3)
        reach = self._reach(t, names)

        def from_tip(states: Floats) -> tuple[Floats, Floats]:
            """Every other body from the tip of the cone (k, others, 3), and the axis of that (k, 1,
            3)."""
            at = np.concatenate(
                [positions_of(states)[:, others], np.tile(places, (len(states), 1, 1))], axis=1
            )
            placed = self._site_in_n(states, bodies)
            return at - placed[:, None, :3], placed[:, None, 3:]

        def margins(states: Floats) -> Floats:
            """How far outside of the cone each other body is: below zero inside (k, others)."""
            d, z = from_tip(states)
            along = np.einsum("koi,kzi->ko", d, z)
            across = lengths_of(d - along[..., None] * z)
            return outside_cone(along, across, self.half_angle, self.length) - reach

        def rate(states: Floats) -> Floats:
            """How fast any other body moves at most, seen from that of the cone [m/s] (k,)."""
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
        """How far from its mass centre what counts of each body reaches [m] (n,)."""
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
        """Velocity of the body of the cone in N (k, 1, 3), and how fast it turns (k, 1)."""
        if self.site.body.name not in bodies:  # fixed
            return np.zeros((len(states), 1, 3)), np.zeros((len(states), 1))
        own = states[:, [bodies.index(self.site.body.name)]]
        return velocities_of(own), lengths_of(spins_of(own))


def cone_of(rule: Safety) -> KeepOut | None:
    """A criterion as a cone, where it is declared to go with its body as one."""
    return rule if isinstance(rule, KeepOut) and rule.traits.exchanged == "carried" else None


def outside_cone(along: Floats, across: Floats, half_angle: float, length: float) -> Floats:
    """How far points, so far from its tip along the axis and across [m], are from a cone that ends
    at a length [m] from its tip; below zero inside: how deep."""
    c, s = math.cos(half_angle), math.sin(half_angle)
    nearest = np.minimum(
        np.maximum(along * c + across * s, 0.0), length
    )  # of the points on the side, from the tip
    x, y = along - nearest * c, across - nearest * s
    aside = np.sqrt(x * x + y * y) if half_angle < math.pi else np.inf  # a whole ball has no side
    beyond = np.sqrt(along * along + across * across) - length
    within = along * s - across * c >= 0.0  # the sine of what is left of the half angle
    return np.asarray(np.where(within, np.maximum(beyond, -aside), aside))


# --- what happens along a motion ------------------------------------------------------------------
def find_first_below(
    run: Trajectory,
    margin: Callable[[Floats], Floats],
    rate: Callable[[Floats], Floats] | None = None,
) -> float | None:
    """When a margin, a function of states (k, nb, STATE_WIDTH) -> (k,), is first below zero [s];
    None: never.

    rate: how fast it may change, where that is known.
    """
    t = run.between.first(margin, rate)
    return (
        None
        if t is None
        else run.passing(t, lambda state: float(margin(state.instant().state[None])[0]))
    )


def pieces_of(system: System) -> list[tuple[str, ...]]:
    """Names of the bodies that active joints and cold flux pins hold together, piece by piece: what
    stands on the ground first, where anything does, then the largest; fixed bodies are one."""
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
    """What stands on the ground, then the largest; empty ones are left out."""
    return sorted(
        (piece for piece in pieces if piece),
        key=lambda piece: ("ground" not in piece, -len(piece), piece),
    )


def smallest(pieces: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Of several pieces the one that is loose: not the first, and the least of the others."""
    return min(pieces[1:], key=len)


class Judged(NamedTuple):
    """The earliest of what is violated along a motion, if anything is; the least distance of bodies
    that move past each other [m], where that was asked for."""

    violation: Violation | None
    clearance: float | None


def judge(criteria: Sequence[Safety], run: Trajectory, play: float = 0.0) -> Judged:
    """All criteria along a motion; what a cone says comes last, where two are violated at once.
    play [m]: of joints, by which bodies may overlap."""
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
    """Whether the second of two times [s] is no later than the first, but for rounding."""
    return two - one <= AT_ONCE * max(1.0, abs(one))


def least_of(run: Trajectory, found: Clearances) -> float | None:
    """The least distance of bodies that move past each other: that no joint holds together, nor
    locks as one, and that touch neither at the start nor at the end."""
    merger, names = run.system.clusters.merger, run.system.bodies
    of = {name: name if merger is None else int(merger.cluster[k]) for k, name in enumerate(names)}
    past = [
        pair for pair in found.pairs
        if not pair.partners and pair.begins == pair.ends == "apart"
        and of.get(pair.one, pair.one) != of.get(pair.two, pair.two)
    ]  # fmt: skip
    return least_among(run, past) if past else None
