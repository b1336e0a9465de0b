"""Faces of the box of joint ranges: corners, edges and planes, on which some stops are active.

An equilibrium pressed on stops is one of the system held by these, on a face with fewer freedoms. A
search that only starts in the interior of the box finds small faces only by chance."""

from __future__ import annotations

import itertools
import math
from collections.abc import Set
from typing import NamedTuple

import numpy as np

from quirkpy.kernels.base.arrays import COORDINATE_KIND
from quirkpy.kernels.tree.stops import BOUND, SIDE, STOP_COORDINATE
from quirkpy.maths.types import Floats
from quirkpy.rest.modes import STOP_OVERLAP, approach, is_pressed
from quirkpy.rest.starts import at_stops, drive_to, ranges, values_of
from quirkpy.rest.vicinity import Vicinity
from quirkpy.tables.tables import ANGLE

#: Up to this number all faces are listed; beyond it they are drawn at random.
LISTED = 2000
#: Number of starts on each face, and of further starts for each coordinate that is free there.
VISITS, VISITS_PER_FREEDOM = 2, 3
#: Largest distance of starting values of a free angle [rad]; number of values of a free slider.
PLACES_APART, ALONG_SLIDE = 0.5 * math.pi, 4
#: Largest number of times that stops become active or inactive, per bounded coordinate.
PRESSES = 3


class Face(NamedTuple):
    """The stop that holds each bounded coordinate, as its row among the stops; -1: none."""

    stops: tuple[int, ...]

    @property
    def free(self) -> int:
        """The number of bounded coordinates that no stop holds."""
        return self.stops.count(-1)

    @property
    def visits(self) -> int:
        """The number of starts on this face."""
        return VISITS + VISITS_PER_FREEDOM * self.free


class RangeBox:
    """The ranges of joint coordinates between stops, and the stops that may hold each of them."""

    def __init__(self, around: Vicinity) -> None:
        self.around, self.stops = around, around.layout.stops
        self.choices = [self._holding(c) for c in range(len(around.near))]
        self.bounded = [c for c, choice in enumerate(self.choices) if len(choice) > 1]
        self.count = math.prod(len(self.choices[c]) for c in self.bounded)
        shares = sum(1.0 / len(self.choices[c]) for c in self.bounded)
        self.visits = round(self.count * (VISITS + VISITS_PER_FREEDOM * shares)) if shares else 0
        self.values = [self._values(c, v) for c, v in enumerate(ranges(around))]

    def bounds(self, c: int) -> tuple[float, float]:
        """The bounds that stops set to a coordinate."""
        mine = (self.stops.what[:, STOP_COORDINATE] == c) & self.around.layout.bounding
        bounds, sides = self.stops.numbers[mine, BOUND], self.stops.numbers[mine, SIDE]
        low = float(bounds[sides > 0.0].max(initial=-math.inf))
        return low, float(bounds[sides < 0.0].min(initial=math.inf))

    def _holding(self, c: int) -> list[int]:
        """The stops that may hold a coordinate, one for each side; -1: none."""
        numbers, bounding = self.stops.numbers, self.around.layout.bounding
        rows = (self.stops.what[:, STOP_COORDINATE] == c) & bounding
        out = [-1]
        for side, bound in zip((1.0, -1.0), self.bounds(c), strict=True):
            at = rows & (numbers[:, SIDE] == side) & (numbers[:, BOUND] == bound)
            out += np.flatnonzero(at)[:1].tolist()
        return out

    def _values(self, c: int, known: Floats) -> Floats:
        """Starting values of a coordinate that is free: within both bounds, or the known ones."""
        low, high = self.bounds(c)
        if not math.isfinite(high - low):
            return known
        angle = self.around.layout.packed.coordinates[c, COORDINATE_KIND] == ANGLE
        n = max(ALONG_SLIDE, math.ceil((high - low) / PLACES_APART)) if angle else ALONG_SLIDE
        return low + (high - low) * (np.arange(n) + 0.5) / n

    def faces(self, rng: np.random.Generator, most: int) -> list[Face]:
        """Faces in random order, the whole box among them: all, or at most a given number."""
        choices = [self.choices[c] for c in self.bounded]
        if self.count <= LISTED:
            every = [Face(stops) for stops in itertools.product(*choices)]
            return [every[k] for k in rng.permutation(len(every))[:most]]
        drawn = (Face(tuple(int(rng.choice(one)) for one in choices)) for _ in range(most))
        return list(dict.fromkeys(drawn))

    def place_on(self, face: Face, rng: np.random.Generator) -> Vicinity | None:
        """A random place on a face, held by its stops; None where the joints do not let it be
        reached."""
        target = np.array([float(rng.choice(values)) for values in self.values])
        for c, stop in zip(self.bounded, face.stops, strict=True):
            if stop >= 0:
                target[c] = self.stops.numbers[stop, BOUND]
        labels = {self.around.layout.labels[stop] for stop in face.stops if stop >= 0}
        return self.put_on(target, labels)

    def put_on(self, target: Floats, labels: Set[str]) -> Vicinity | None:
        """The place where joint coordinates have given values (nc,), held by stops with given
        labels; None where the joints do not let it be reached."""
        place = drive_to(self.around, target)
        latched = {label for label in place.state.held if label in place.layout.latches}
        if not labels:
            free = place.state.changed(held=tuple(sorted(latched)))
            return Vicinity(place.clusters, free, place.whole)
        held = at_stops(place, labels | latched)
        return held if held is not None and set(held.state.held) == labels | latched else None

    def press(self, place: Vicinity) -> Vicinity | None:
        """The equilibrium downhill of a place, held by each stop that would be passed on the way,
        and by none that would be left."""
        for _ in range(PRESSES * len(self.bounded)):
            ended = approach(place, True)
            if ended is None:
                return None
            here, held = values_of(ended), set(ended.state.held)
            passed = {self.row_holding(c, here[c]) for c in self.bounded} - {-1}
            if not passed:
                unpressed = [label for label in sorted(held) if not is_pressed(ended, label)]
                if not unpressed:
                    return ended
                held.remove(unpressed[0])
                labels: set[str] = held
            else:
                labels = held | {self.around.layout.labels[k] for k in passed}
            target = here.copy()
            for c in self.bounded:
                target[c] = np.clip(here[c], *self.bounds(c))
            found = self.put_on(target, labels)
            if found is None:
                return ended
            place = found
        return None

    def row_holding(self, c: int, value: float) -> int:
        """The stop beyond which a coordinate lies at some value; -1: none."""
        for row in self.choices[c][1:]:
            if (
                self.stops.numbers[row, SIDE] * (value - self.stops.numbers[row, BOUND])
                < -STOP_OVERLAP
            ):
                return row
        return -1
