"""Places near cusps of the potential, where the ends of a spring with a rest length coincide, and
paths from there to equilibria.

Near such a point the energy is S - k L r, with S smooth and r the distance of the ends: a peak from
which a ridge leads in one direction. An equilibrium on a ridge is unstable along all but one of the
directions in which the ends move; it is found neither downhill nor by Newton's method, which
converges only from within a fraction of r."""

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
#: Distances of the ends at which a search begins [m], drawn between these bounds, uniformly in
#: their logarithm.
NEAREST_ENDS, FARTHEST_ENDS = 1e-3, 0.3
#: Ends coincide where their distance is less than this [m].
ENDS_MET = 1e-6
#: Largest number of steps towards a cusp; how far one moves any body [m], [rad]; and the share of
#: the distance that may be left.
STRIDES, CUSP_STRIDE, LEFT = 40, 0.3, 0.05
#: After this number of failed attempts two ends are assumed never to meet.
FAILURES = 3
#: Largest number of paths followed from one place near a cusp.
WAYS = 3
#: Where ends are nearer than this [m], the probes of forces straddle the cusp, and derivatives are
#: meaningless.
WITHIN = 2e-4
#: A step is at most this share of the distance of the ends, but not less than the second value [m],
#: [rad].
STEP_PER_DISTANCE, SHORTEST_STRIDE = 0.4, 1e-5
#: The ends do not move along a direction in which their motion is below this share of the largest.
UNMOVED_ENDS = 1e-6


class Cusps:
    """Springs whose ends may coincide, with the number of failed attempts to bring them
    together."""

    def __init__(self, around: Vicinity) -> None:
        self.numbers = springs_of(around)
        self.springs = list(self.numbers)
        self.failures = [0.0] * len(self.springs)

    def place_near(self, around: Vicinity, rng: np.random.Generator) -> tuple[Vicinity, int] | None:
        """A random place near a random cusp, close to the state, and the number of directions in
        which the ends can move there."""
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
        """A pose in which the ends of a spring almost coincide, and the number of directions in
        which they can move there."""
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
        """Stiffness and rest length of the spring between two sites; several springs are replaced
        by one with their total push."""
        return self.numbers[one, two]

    def places_near(
        self, around: Vicinity, rng: np.random.Generator
    ) -> Iterator[tuple[Vicinity, int]]:
        """A place near a cusp; two places where the ends coincide on a whole set of poses instead
        of isolated ones."""
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
        """The equilibria reached from a place if the energy is to fall along one mode less than the
        number of directions in which the ends move, or along any larger number, and to rise along
        all others."""
        numbers = np.arange(max(1, across - 1), stiff_in(around) + 1)
        for falling in rng.permutation(numbers)[:WAYS].tolist():
            yield self.climb(around, falling)

    def climb(self, around: Vicinity, falling: int) -> Vicinity | None:
        """The equilibrium reached from a place if the energy is to fall along that many modes; None
        where it is too near a cusp to decide."""
        ended = climb(around, falling, self.clear)
        return None if ended is None or self.nearest(ended) < WITHIN else ended

    def clear(self, around: Vicinity) -> float:
        """The longest admissible step: forces change their direction over a distance comparable to
        that of the ends."""
        return max(STEP_PER_DISTANCE * self.nearest(around), SHORTEST_STRIDE)

    def nearest(self, around: Vicinity) -> float:
        """The smallest distance between the ends of any of the springs [m]."""
        return min(float(np.linalg.norm(distance(around, *ends)[0])) for ends in self.springs)


def stiff_in(around: Vicinity) -> int:
    """The number of modes that have a stiffness."""
    return int(bends_beyond(around, LEVEL_BEND).sum())


def springs_of(around: Vicinity) -> dict[tuple[int, int], tuple[float, float]]:
    """Pairs of sites of all springs that push where their ends are close, with stiffness and rest
    length; several springs between the same sites are replaced by one that is equivalent."""
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
    """The place where two sites are a random distance apart, some thousandths to tenths of a metre,
    in a random direction among those in which they can move, and the number of these; None where
    the joints do not let them come so near."""
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
    """The vector from one site to another, in N [m] (3,), and its derivatives along coordinates (3,
    f)."""
    which, sites = np.array([one, two]), around.layout.packed.sites
    if around.flexible:
        moving = map(around.instant_of, around.with_speeds(around.basis))
        apart = np.array([at.sites.rows[two] - at.sites.rows[one] for at in (around.at, *moving)])
        return apart[0, POSITION:VELOCITY], np.asarray(apart[1:, VELOCITY:AXES].T)
    states = np.repeat(around.rows[None], 1 + around.freedoms, axis=0)
    velocities_of(states)[1:] = linear_of(around.basis)  # velocities along each coordinate
    spins_of(states)[1:] = angular_of(around.basis)
    at = sites_along(states, which, sites)
    apart = at[:, 1] - at[:, 0]
    return apart[0, POSITION:VELOCITY], np.asarray(apart[1:, VELOCITY:AXES].T)
