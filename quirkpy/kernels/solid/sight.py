"""Which pairs of sensors are in range of each other, and how they are turned."""

from __future__ import annotations

import math
from typing import NamedTuple

from quirkpy.kernels.base.arrays import Sites
from quirkpy.kernels.base.compiled import inner, kernel
from quirkpy.kernels.base.vectors import dot, sub
from quirkpy.kernels.place.sites import site_axis, site_motion
from quirkpy.maths.types import Bools, Floats, Ints

# Columns of a pair: reach [m], alignment [rad], the step from one turn of the second about the
# first to the next [rad], and how many there are.
REACH, ALIGNMENT, ROLL, ROLLS, PAIR_WIDTH = range(5)


class Sensors(NamedTuple):
    """Sites of sensors; pairs of them (m, 2), with their limits (m, PAIR_WIDTH)."""

    sites: Sites
    pairs: Ints
    limits: Floats


@inner
def nearest_turn(one: int, two: int, k: int, sensors: Sensors, frames: Floats) -> tuple[float, int]:
    """How far pair k is from the nearest of its turns [rad], and which that is."""
    sites, around = sensors.sites, 2.0 * math.pi
    x, y = site_axis(one, 0, sites, frames), site_axis(one, 1, sites, frames)
    its = site_axis(two, 0, sites, frames)
    angle = math.atan2(dot(its, y), dot(its, x))
    least, best = math.inf, 0
    for n in range(int(sensors.limits[k, ROLLS])):
        off = angle - n * sensors.limits[k, ROLL]
        off = abs(off - around * math.floor(off / around + 0.5))
        if off < least:
            least, best = off, n
    return least, best


@kernel
def in_range(frames: Floats, sensors: Sensors, met: Bools, out: Ints) -> int:
    """Pairs within reach, facing, and in one of their turns: their numbers and turns in `out` (m,
    2); returns how many.  Of pairs that have met (m,) only the turn is asked."""
    count, sites = 0, sensors.sites
    for k in range(sensors.pairs.shape[0]):
        one, two = sensors.pairs[k, 0], sensors.pairs[k, 1]
        here, there = site_motion(one, sites, frames), site_motion(two, sites, frames)
        d = sub(there.position, here.position)
        if not met[k] and dot(d, d) > sensors.limits[k, REACH] ** 2:
            continue
        facing = -dot(site_axis(one, 2, sites, frames), site_axis(two, 2, sites, frames))
        most = math.inf if met[k] else sensors.limits[k, ALIGNMENT]
        if math.acos(max(-1.0, min(1.0, facing))) > most:
            continue
        off, turn = nearest_turn(one, two, k, sensors, frames)
        if off <= most:
            out[count, 0], out[count, 1] = k, turn
            count += 1
    return count
