"""Safety: what a motion must not do, and where it first does it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from quirkpy.collision import Clearances, clearances
from quirkpy.multibody import Multibody
from quirkpy.parts.body import GROUND, Site
from quirkpy.parts.checks import Floats, instance, not_negative, number, optional, positive, text, word
from quirkpy.parts.part import Part, checked
from quirkpy.parts.triples import unit
from quirkpy.state import State
from quirkpy.tables.merge import turned
from quirkpy.trajectory import Trajectory

Limited: TypeAlias = Literal["speed", "turning", "load"]


class Violation(NamedTuple):
    """What was violated, when [s] from the start of the run, and by which parts; what the motion counts as."""

    reason: str
    t: float
    parts: tuple[str, ...]
    kind: Literal["rejected", "jammed"] = "rejected"


class Safety(Part):
    """Base of all criteria.  Yours says where in a motion it is first violated, or None::

    class StayLow(qp.Safety):
        height: float
        def first(self, run):
            high = run["arm"].position[:, 2] > self.height
            return qp.Violation("too high", run.t[high][0], ("arm",)) if high.any() else None
    """

    @abstractmethod
    def first(self, run: Trajectory) -> Violation | None:
        """The first violation along a motion, if there is one."""


class StayTogether(Safety):
    """No part of the spacecraft comes apart from the rest: what joints do not hold together, counting fixed bodies as
    one.  apart [m]: how far mass centres of two pieces may part from where they were, if pieces are allowed at all."""

    apart: float | None = checked(optional(positive), default=None)

    def first(self, run: Trajectory) -> Violation | None:
        pieces = pieces_of(run.system)
        if len(pieces) < 2:
            return None
        loose = min(pieces[1:], key=lambda piece: len(piece))
        if self.apart is None:
            return Violation("comes apart", 0.0, loose)
        bodies = list(run.system.bodies)
        main, rest = ([bodies.index(name) for name in piece if name in bodies] for piece in (pieces[0], loose))
        r = run.course.states[:, :-1, :3]
        here = r[:, rest].mean(axis=1) - (r[:, main].mean(axis=1) if main else 0.0)
        far = np.linalg.norm(here - here[0], axis=1) > self.apart
        return Violation("comes apart", float(run.t[far][0] - run.t[0]), loose) if far.any() else None


class NoCollision(Safety):
    """Bodies do not run into each other: what has a shape keeps a distance [m], zero by default, from all else.

    Partners of a joint may touch, and faces that lie on each other at the start or at the end, where sensors have met
    and locked: see `clearances`.  Where bodies run into each other all the same, the motion

    - is blocked, if they have touched from the start: a face, or a corner, presses on what lies in its way.  Rejected.
    - jams, if they come to touch on the way and no sensors meet that would lock them: a corner has met a face or a
      corner, and so it would stay, in no shape that anything holds.  An outcome of its own: "jammed".

    What touches in passing, tangentially, overlaps nothing and goes on.  Bodies that come nearer than a margin without
    touching are rejected.
    """

    margin: float = checked(not_negative, default=0.0)

    def first(self, run: Trajectory) -> Violation | None:
        return self.judged(run, self.passed(run))

    def passed(self, run: Trajectory) -> Clearances:
        """How all bodies pass each other."""
        return clearances(run, margin=self.margin)

    def judged(self, run: Trajectory, found: Clearances) -> Violation | None:
        """What the first collision, if there is one, counts as."""
        if found.first is None:
            return None
        t, one, two, _, lie = found.first
        begins = next(pair.begins for pair in found.pairs if {pair.one, pair.two} == {one, two})
        after, parts = float(t - run.t[0]), (one, two)
        if lie == "apart":
            return Violation(f"comes nearer than {self.margin:g} m", after, parts)
        if begins != "apart":
            return Violation("is blocked", after, parts)
        return Violation("jams", after, parts, "jammed")


class Limit(Safety):
    """A quantity stays below a value: "speed" of any mass centre [m/s], "turning" of any body [rad/s], or "load" on
    any joint [N or N m], of least norm where it is not unique."""

    what: Limited = checked(word(Limited))
    value: float = checked(positive)

    def first(self, run: Trajectory) -> Violation | None:
        sizes = peaks(run, self.what)
        over = (sizes.values > self.value).any(axis=1)
        if not over.any():
            return None
        k = int(np.argmax(over))
        which = sizes.names[int(np.argmax(sizes.values[k]))]
        return Violation(f"{self.what} above {self.value:g}", float(sizes.t[k] - run.t[0]), (which,))


class KeepOut(Safety):
    """A cone that stays clear: no mass centre of another body comes within `half_angle` [rad] of the z axis of a site,
    nearer than `length` [m]."""

    site: Site = checked(instance(Site))
    half_angle: float = checked(positive)
    length: float = checked(positive, default=1.0)

    def first(self, run: Trajectory) -> Violation | None:
        name = self.site.body.name
        states = run.course.states[:, :-1]
        bodies = list(run.system.bodies)
        if name in bodies:
            own = states[:, bodies.index(name)]
            origin = own[:, :3] + turned(own[:, 3:7], np.broadcast_to(self.site.at, own[:, :3].shape))
            axis = turned(own[:, 3:7], np.broadcast_to(unit(self.site.z), own[:, :3].shape))
        else:
            at, axes = self.site.placed()
            origin = np.broadcast_to(at, states[:, 0, :3].shape)
            axis = np.broadcast_to(np.array(axes).reshape(3, 3)[:, 2], origin.shape)
        for k in range(len(states)):
            for other in (b for b in bodies if b != name):
                d = states[k, bodies.index(other), :3] - origin[k]
                far = float(np.linalg.norm(d))
                if 0.0 < far < self.length and d @ axis[k] > far * np.cos(self.half_angle):
                    return Violation("enters a cone that must stay clear", float(run.t[k] - run.t[0]), (other, name))
        return None


class Criterion(Safety):
    """A function of a state stays at or above zero: ``Criterion("level", lambda state: state["arm"].position[2])``."""

    name: str = checked(text)
    function: Callable[[State], float]

    def first(self, run: Trajectory) -> Violation | None:
        for state in run.states:
            if number(self.function(state)) < 0.0:
                return Violation(self.name, float(state.t - run.t[0]), ())
        return None


# --- what happens along a motion --------------------------------------------------------------------------------------
class Sizes(NamedTuple):
    """Times (k,), sizes (k, n), and what each column belongs to."""

    t: Floats
    values: Floats
    names: tuple[str, ...]


#: Loads are looked at, at most, so many times along a motion: each costs a decomposition.
LOADS_SEEN = 60


def peaks(run: Trajectory, what: Limited) -> Sizes:
    """Speeds, rates of turning, or joint loads along a motion."""
    rows = run.course.states[:, :-1]
    if what == "speed":
        return Sizes(run.t, np.linalg.norm(rows[..., 7:10], axis=2), run.system.bodies)
    if what == "turning":
        return Sizes(run.t, np.linalg.norm(rows[..., 10:13], axis=2), run.system.bodies)
    seen = np.unique(np.linspace(0, len(run.t) - 1, min(LOADS_SEEN, len(run.t))).round().astype(int))
    loads = [run.system.reactions(run._state(int(k))) for k in seen]
    names = tuple(dict.fromkeys(name for load in loads for name in load))
    values = np.zeros((len(seen), len(names)))
    for k, load in enumerate(loads):
        for name, reaction in load.items():
            values[k, names.index(name)] = max(np.linalg.norm(reaction.force), np.linalg.norm(reaction.torque))
    return Sizes(run.t[seen], values, names)


def pieces_of(system: Multibody) -> list[tuple[str, ...]]:
    """Names of the bodies that active joints hold together, piece by piece: what stands on the ground first, where
    anything does, then the largest; fixed bodies are one."""
    made: list[tuple[str, ...]] | None = system.selection.derived.get("pieces")
    if made is None:
        made = system.selection.derived["pieces"] = _pieces_of(system)
    return made


def _pieces_of(system: Multibody) -> list[tuple[str, ...]]:
    tables, n = system.tables, len(system.bodies)
    one, two = (tables.site_body[sites[system.selection.joints]] for sites in (tables.joint_site1, tables.joint_site2))
    labels = list(range(n + 1))
    for a, b in zip(one.tolist(), two.tolist(), strict=True):
        mine, other = labels[a], labels[b]
        labels = [mine if label == other else label for label in labels]
    ground = any(body != GROUND for body in tables.fixed) or bool((np.concatenate([one, two]) == n).any())
    names = (*system.bodies, "ground")
    out = [tuple(names[k] for k in range(n + ground) if labels[k] == piece) for piece in range(n + 1)]
    return sorted((piece for piece in out if piece), key=lambda piece: ("ground" not in piece, -len(piece), piece))


class Judged(NamedTuple):
    """The earliest of what is violated along a motion, if anything is; the least distance of bodies that move past each
    other [m], where that was asked for."""

    violation: Violation | None
    clearance: float | None


def judge(criteria: Sequence[Safety], run: Trajectory) -> Judged:
    """All criteria along a motion."""
    violations, least = [], []
    for criterion in criteria:
        if isinstance(criterion, NoCollision):
            found = criterion.passed(run)
            violations.append(criterion.judged(run, found))
            least.append(least_of(run, found))
        else:
            violations.append(criterion.first(run))
    first = min((v for v in violations if v is not None), key=lambda violation: violation.t, default=None)
    return Judged(first, min((gap for gap in least if gap is not None), default=None))


def least_of(run: Trajectory, found: Clearances) -> float | None:
    """The least distance of bodies that move past each other: that no joint holds together, nor locks as one, and that
    touch neither at the start nor at the end."""
    merger, names = run.system.clusters.merger, run.system.bodies
    of = {name: name if merger is None else int(merger.cluster[k]) for k, name in enumerate(names)}
    return min(
        (
            pair.least for pair in found.pairs
            if not pair.partners and pair.begins == pair.ends == "apart"
            and of.get(pair.one, pair.one) != of.get(pair.two, pair.two)
        ),
        default=None,
    )  # fmt: skip
