"""`KeepOut` cones under exchanges of modules.

A run that represents several edges is not stopped by a cone, because for each of these edges the
cone lies somewhere else.  Instead the run records for every image of every cone, under all
exchanges, when the motion first enters it.  Each edge then reads the records of those images that
correspond to its own cones."""

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
    """The cones that a run checks: all images; the cones of the study among them, by criterion; and
    for each of these the numbers of the images onto which exchanges may map it."""

    cones: tuple[KeepOut, ...]
    own: tuple[int, ...]
    each: tuple[frozenset[int], ...]


#: A run that speaks for nobody else is ended by the cones of the study as they stand.
NONE = Images((), (), ())


class Cones:
    """The cones of a study, and all images of them under exchanges."""

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
        """Whether cones distinguish modules that are otherwise interchangeable."""
        return len(self.images.cones) > len(set(self.images.own))

    def map_images(self, *exchanges: Exchange) -> tuple[int, ...]:
        """For each cone, the number of its image under a sequence of exchanges."""
        out = self.images.own
        for exchange in reversed(exchanges):
            before = self._permute_images(exchange)
            out = tuple(before[k] for k in out)
        return out

    def is_invariant(self, exchange: Exchange) -> bool:
        """Whether an exchange maps the set of cones onto itself."""
        return set(self.map_images(exchange)) == set(self.images.own)

    def _permute_images(self, exchange: Exchange) -> tuple[int, ...]:
        """For each image, the number of the image onto which an exchange maps it."""
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
        """The images of a cone under all exchanges: only the cone itself, if its body is never
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
        """The cone on another body that a turn (4,) of body axes maps onto this one."""
        at, z = rotate(np.tile(own * BACK, (2, 1)), np.array([cone.site.at, unit(cone.site.z)]))
        body: Body = self.symmetry.bodies[a]
        site = Site(body, cone.site.name, tuple(at.tolist()), tuple(z.tolist()))
        return KeepOut(site, cone.half_angle, cone.length, cone.of)

    def _number(self, cone: KeepOut) -> int:
        """The number of a cone in the list of images; an unknown cone is appended."""
        for k, other in enumerate(self._known):
            same = (cone.site.body.name, *_sizes(cone)) == (other.site.body.name, *_sizes(other))
            if same and abs(_line(cone) - _line(other)).max() < SITE_TOLERANCE:
                return k
        self._known.append(cone)
        return len(self._known) - 1


def _sizes(cone: KeepOut) -> tuple[float, float, str]:
    return cone.half_angle, cone.length, cone.of


def _line(cone: KeepOut) -> Floats:
    """Apex [m] and unit axis of a cone, in the axes of its body (6,)."""
    return np.array([*cone.site.at, *unit(cone.site.z)])


class Lookout:
    """Records which images of cones a motion enters.

    images: all images that are checked; clear: numbers of those that no earlier part of the motion
    has entered; met: entries during this part, each with the motion up to it."""

    def __init__(self, images: Images, clear: Mapping[int, KeepOut] | None = None) -> None:
        self.images = images
        self.clear = dict(enumerate(images.cones)) if clear is None else dict(clear)
        self.met: list[Entered[Any]] = []

    def onward(self) -> Lookout:
        """The lookout of a motion that continues where this one ends."""
        return Lookout(self.images, self.clear)

    def rules(self, safety: Sequence[Safety]) -> list[Safety]:
        """The criteria that end a motion."""
        return [rule for rule in safety if not self.images.cones or cone_of(rule) is None]

    def find_entries(self, run: Trajectory, violation: Violation | None) -> dict[int, Violation]:
        """The images that a stretch of the motion enters before it ends or violates a criterion, by
        number."""
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
        """Whether the rest of the motion is irrelevant to every edge: it has entered all images of
        some cone of the study."""
        return any(not numbers & self.clear.keys() for numbers in self.images.each)
