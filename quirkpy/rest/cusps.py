"""Places beside cusps of the potential, where the ends of a spring of some rest length meet, and
ways from there.

Beside the point where they meet energy is S - k L r, with S smooth and r the distance of both ends:
a tip, from which a ridge leads one way.  What rests on a ridge falls along as many modes as lie
across it, all but one, and is met neither downhill nor by Newton's method, whose steps are good
there for no more than a share of r."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from quirkpy.kernels.base.arrays import (
    AXES,
    ELEMENT_SITE1,
    ELEMENT_SITE2,
    KIND,
    POSITION,
    VELOCITY,
)
from quirkpy.kernels.base.states import angular_of, linear_of, spins_of, velocities_of
from quirkpy.kernels.place.kinematics import sites_along
from quirkpy.maths.constants import TINY
from quirkpy.maths.types import Floats
from quirkpy.rest.modes import LEVEL_BEND, bends_beyond, climb, displace_within_reach
from quirkpy.rest.newton import size_of
from quirkpy.rest.vicinity import Vicinity
from quirkpy.tables.tables import PAIR

#: Columns of the numbers of a spring: its stiffness, rest length, and whether it only pulls.
STIFFNESS, REST, TENSION = 0, 1, 3
#: How near to each other two ends are brought [m]: any distance between these, each decade as
#: often.
NEAREST_ENDS, FARTHEST_ENDS = 1e-3, 0.3
#: Ends have met where they are so far apart [m].
ENDS_MET = 1e-6
#: Strides at most until they are there, how far one moves any body [m], [rad], and what may be left
#: of their distance.
STRIDES, CUSP_STRIDE, LEFT = 40, 0.3, 0.05
#: Ends that some such ways have not brought together are taken not to meet.
FAILURES = 3
#: From such a place so many ways are gone at most.
WAYS = 3
#: Ends that are nearer than this [m] lie within probes of forces, which then straddle the cusp:
#: nothing is told there.
WITHIN = 2e-4
#: A step is no longer than this share of how far ends are apart, but no shorter than the second
#: [m], [rad].
STEP_PER_DISTANCE, SHORTEST_STRIDE = 0.4, 1e-5
#: Directions in which ends move by less than this share of what they move most, they do not move
#: in.
UNMOVED_ENDS = 1e-6


class Cusps:
    """Springs whose ends may meet, and how often these were not brought together."""

    def __init__(self, around: Vicinity) -> None:
        self.numbers = springs_of(around)
        self.springs = list(self.numbers)
        self.failures = [0.0] * len(self.springs)

    def place_near(self, around: Vicinity, rng: np.random.Generator) -> tuple[Vicinity, int] | None:
        """A random place beside a random cusp, as near to a state as the joints have it; and along
        how many directions its ends move there."""
        left = [k for k, failures in enumerate(self.failures) if failures < FAILURES]
        if not left:
            return None
        k = int(rng.choice(left))
        found = bring_sites_near(around, *self.springs[k], rng)
        self.failures[k] = self.failures[k] + 1.0 if found is None else -math.inf
        return found

    def meeting(
        self, around: Vicinity, k: int, rng: np.random.Generator
    ) -> tuple[Vicinity | None, int]:
        """A pose in which the ends of a spring all but meet, and along how many directions they
        move there."""
        if self.failures[k] >= FAILURES:
            return None, 0
        near = bring_sites_near(around, *self.springs[k], rng, NEAREST_ENDS, NEAREST_ENDS)
        self.failures[k] = self.failures[k] + 1.0 if near is None else -math.inf
        met = (
            None
            if near is None
            else bring_sites_near(near[0], *self.springs[k], rng, ENDS_MET, ENDS_MET)
        )
        return (None, 0) if met is None else met

    def rest(self, one: int, two: int) -> tuple[float, float]:
        """Stiffness and rest length of the spring between two sites; of several that which pushes
        as all do."""
        return self.numbers[one, two]

    def places_near(
        self, around: Vicinity, rng: np.random.Generator
    ) -> Iterator[tuple[Vicinity, int]]:
        """A place beside a cusp; two where the ends that meet there do so in more than single
        poses."""
        for _ in range(2):
            found = self.place_near(around, rng)
            if found is None:
                return
            yield found
            if found[1] >= stiff_in(found[0]):
                return

    @property
    def any(self) -> bool:
        """Whether the ends of some spring have been brought together."""
        return any(failures < 0.0 for failures in self.failures)

    def ridges(
        self, around: Vicinity, across: int, rng: np.random.Generator
    ) -> Iterator[Vicinity | None]:
        """Where a place leads if energy is to fall along one mode less than the directions in which
        ends move, or along any number more, and to rise along all others."""
        numbers = np.arange(max(1, across - 1), stiff_in(around) + 1)
        for falling in rng.permutation(numbers)[:WAYS].tolist():
            yield self.climb(around, falling)

    def climb(self, around: Vicinity, falling: int) -> Vicinity | None:
        """Where a place leads if energy is to fall along so many modes; None where that is too near
        a cusp to tell."""
        ended = climb(around, falling, self.clear)
        return None if ended is None or self.nearest(ended) < WITHIN else ended

    def clear(self, around: Vicinity) -> float:
        """How far a step may go: forces turn within as little as ends are apart."""
        return max(STEP_PER_DISTANCE * self.nearest(around), SHORTEST_STRIDE)

    def nearest(self, around: Vicinity) -> float:
        """How far apart the ends are that are nearest to each other [m]."""
        return min(float(np.linalg.norm(distance(around, *ends)[0])) for ends in self.springs)


def stiff_in(around: Vicinity) -> int:
    """Along how many modes there is a stiffness."""
    return int(bends_beyond(around, LEVEL_BEND).sum())


def springs_of(around: Vicinity) -> dict[tuple[int, int], tuple[float, float]]:
    """The sites of all springs that push where their ends are close, each two once, with stiffness
    and rest length; of several between the same as one spring has them that pulls alike."""
    elements, acting = around.layout.packed.elements, around.layout.selection.elements
    what, numbers = elements.what[acting], elements.numbers[acting]
    pushing = (
        (numbers[:, STIFFNESS] > 0.0) & (numbers[:, REST] > 0.0) & (numbers[:, TENSION] == 0.0)
    )
    chosen = (what[:, KIND] == PAIR) & pushing
    out: dict[tuple[int, int], tuple[float, float]] = {}
    for row, (k, rest) in zip(
        what[chosen], numbers[chosen][:, [STIFFNESS, REST]].tolist(), strict=True
    ):
        ends = int(row[ELEMENT_SITE1]), int(row[ELEMENT_SITE2])
        other, length = out.get(ends, (0.0, 0.0))
        out[ends] = k + other, (k * rest + other * length) / (k + other)
    return out


def bring_sites_near(
    around: Vicinity,
    one: int,
    two: int,
    rng: np.random.Generator,
    nearest: float = NEAREST_ENDS,
    farthest: float = FARTHEST_ENDS,
) -> tuple[Vicinity, int] | None:
    """The place where two sites are a random way apart, some thousandths to tenths of a metre, in a
    random direction of those in which they move, and how many these are; None where the joints do
    not let them come so near."""
    apart, slope = distance(around, one, two)
    axes, sizes, _ = np.linalg.svd(slope, full_matrices=False)
    axes = axes[:, sizes > UNMOVED_ENDS * max(float(sizes.max(initial=0.0)), TINY)]
    if not axes.size:
        return None
    direction = axes @ rng.normal(size=axes.shape[1])
    far = nearest * (farthest / nearest) ** float(rng.uniform())
    target = direction * (far / np.linalg.norm(direction))
    for _ in range(STRIDES):
        if np.linalg.norm(apart - target) <= LEFT * far:
            return around, axes.shape[1]
        xi: Floats = np.linalg.lstsq(slope, target - apart, rcond=UNMOVED_ENDS)[0]
        if size_of(around, xi) <= LEFT * nearest:
            return None
        around = displace_within_reach(around, xi, CUSP_STRIDE)
        apart, slope = distance(around, one, two)
    return None


def distance(around: Vicinity, one: int, two: int) -> tuple[Floats, Floats]:
    """From one site to another, in N [m] (3,), and its derivatives along coordinates (3, f)."""
    which, sites = np.array([one, two]), around.layout.packed.sites
    states = np.repeat(around.rows[None], 1 + around.freedoms, axis=0)
    velocities_of(states)[1:] = linear_of(around.basis)  # velocities along each coordinate
    spins_of(states)[1:] = angular_of(around.basis)
    at = sites_along(states, which, sites)
    apart = at[:, 1] - at[:, 0]
    return apart[0, POSITION:VELOCITY], np.asarray(apart[1:, VELOCITY:AXES].T)
