"""Cones that must stay clear, and what exchanges of modules make of them.

A run that speaks for others is not ended by a cone, for to others it stands elsewhere: of every
image of every cone it tells where the motion first enters it, and each edge asks about the images
that its own cones are to that run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from quirkpy.explore.alike.symmetry import BACK, Exchange, Symmetry
from quirkpy.explore.model.ways import Entered
from quirkpy.explore.scope.safety import KeepOut, Safety, Violation, cone_of, is_simultaneous
from quirkpy.maths.rotations import product, rotate
from quirkpy.maths.triples import unit
from quirkpy.maths.types import Floats
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.body import Body, Site

#: Sites [m] and directions that agree so closely are one.
SITE_TOLERANCE = 1e-9


class Images(NamedTuple):
    """All cones about which a run is asked, which of them are cones of the study, criterion by
    criterion, and for each of these the numbers of those that exchanges may make of it."""

    cones: tuple[KeepOut, ...]
    own: tuple[int, ...]
    each: tuple[frozenset[int], ...]


#: A run that speaks for nobody else is ended by the cones of the study as they stand.
NONE = Images((), (), ())


class Cones:
    """The cones of a study, and what exchanges carry onto them."""

    def __init__(self, symmetry: Symmetry) -> None:
        self.symmetry = symmetry
        self._known: list[KeepOut] = []
        self._before: dict[Exchange, tuple[int, ...]] = {}
        rules = [*filter(None, map(cone_of, symmetry.study.safety))]
        own = tuple(self._number(rule) for rule in rules)
        each = tuple(
            frozenset(self._number(image) for image in self._images(rule)) for rule in rules
        )
        self.images = Images(tuple(self._known), own, each)

    @property
    def break_symmetry(self) -> bool:
        """Whether cones distinguish modules that are otherwise alike."""
        return len(self.images.cones) > len(set(self.images.own))

    def map_images(self, *exchanges: Exchange) -> tuple[int, ...]:
        """Which images the cones are to a run that some exchanges, one after the other, carry to
        where they stand."""
        out = self.images.own
        for exchange in reversed(exchanges):
            before = self._permute_images(exchange)
            out = tuple(before[k] for k in out)
        return out

    def is_invariant(self, exchange: Exchange) -> bool:
        """Whether an exchange carries the cones onto each other."""
        return set(self.map_images(exchange)) == set(self.images.own)

    def _permute_images(self, exchange: Exchange) -> tuple[int, ...]:
        """For each image the number of that onto which an exchange carries it."""
        if exchange not in self._before:
            came = {b: a for a, b in enumerate(exchange.to)}
            made = []
            for k, cone in enumerate(self.images.cones):
                b = self.symmetry.index.get(cone.site.body.name)
                made.append(
                    k
                    if b is None
                    else self._number(self._elsewhere(cone, came[b], exchange.own[came[b]]))
                )
            self._before[exchange] = tuple(made)
        return self._before[exchange]

    def _images(self, cone: KeepOut) -> list[KeepOut]:
        """What exchanges may carry onto a cone: itself, where it stands on what is not
        exchanged."""
        s = self.symmetry
        b = s.index.get(cone.site.body.name)
        if b is None:
            return [cone]
        alike = [a for a, kind in enumerate(s.kinds) if kind == s.kinds[b]]
        ways = [(a, product(product(s.first[b].turn, way.turn), s.first[a].turn * BACK))
                for a in alike for way in s.turns[s.kinds[b]]]  # fmt: skip
        return [self._elsewhere(cone, a, own) for a, own in ways]

    def _elsewhere(self, cone: KeepOut, a: int, own: Floats) -> KeepOut:
        """The cone on another body that a turn (4,) of body axes carries onto this one."""
        at, z = rotate(np.tile(own * BACK, (2, 1)), np.array([cone.site.at, unit(cone.site.z)]))
        body: Body = self.symmetry.bodies[a]
        site = Site(body, cone.site.name, tuple(at.tolist()), tuple(z.tolist()))
        return KeepOut(site, cone.half_angle, cone.length, cone.of)

    def _number(self, cone: KeepOut) -> int:
        """The number of a cone among those that are known; a new cone is added."""
        for k, other in enumerate(self._known):
            same = (cone.site.body.name, *_sizes(cone)) == (other.site.body.name, *_sizes(other))
            if same and abs(_line(cone) - _line(other)).max() < SITE_TOLERANCE:
                return k
        self._known.append(cone)
        return len(self._known) - 1


def _sizes(cone: KeepOut) -> tuple[float, float, str]:
    return cone.half_angle, cone.length, cone.of


def _line(cone: KeepOut) -> Floats:
    """The tip of a cone [m] and the direction of its axis, in axes of its body (6,)."""
    return np.array([*cone.site.at, *unit(cone.site.z)])


class Lookout:
    """Which images of cones a motion enters.

    images: all images about which the run is asked; clear: those that no earlier part of the motion
    has entered, by number; met: those that this part enters, with the motion until then."""

    def __init__(self, images: Images, clear: Mapping[int, KeepOut] | None = None) -> None:
        self.images = images
        self.clear = dict(enumerate(images.cones)) if clear is None else dict(clear)
        self.met: list[Entered[Any]] = []

    def onward(self) -> Lookout:
        """The lookout of a motion that begins where this one ends."""
        return Lookout(self.images, self.clear)

    def rules(self, safety: Sequence[Safety]) -> list[Safety]:
        """The criteria that end a motion."""
        return [rule for rule in safety if not self.images.cones or cone_of(rule) is None]

    def find_entries(self, run: Trajectory, violation: Violation | None) -> dict[int, Violation]:
        """The images that a stretch of the motion enters before a violation ends it, by number."""
        found = ((k, cone.first(run)) for k, cone in self.clear.items())
        out = {
            k: v
            for k, v in found
            if v is not None and (violation is None or not is_simultaneous(v.t, violation.t))
        }
        for k in out:
            del self.clear[k]
        return out

    @property
    def over(self) -> bool:
        """Whether no edge can need the rest of the motion: for some cone of the study it has
        entered every image of it."""
        return any(not numbers & self.clear.keys() for numbers in self.images.each)
