"""Which pairs of sensors are in range of each other, and how they are turned."""

from __future__ import annotations

import math
from typing import NamedTuple

from quirkpy.kernels.base.arrays import Vec
from quirkpy.kernels.base.compiled import inner, kernel
from quirkpy.kernels.base.vectors import add, column, dot, get3, get4, sub
from quirkpy.kernels.place.members import turned_by
from quirkpy.maths.types import Bools, Floats, Ints

# Columns of a sensor: its point and axes in body axes; of a pair: reach [m], alignment [rad], the
# step from one turn of the second about the first to the next [rad], and how many there are.
POINT, AXES, SENSOR_WIDTH = 0, 3, 12
REACH, ALIGNMENT, ROLL, ROLLS, PAIR_WIDTH = range(5)


class Sensors(NamedTuple):
    """Sensors (n, SENSOR_WIDTH), and the row of the body of each, -1 where that is fixed: then
    everything is in N (n,); pairs of them (m, 2), with their limits (m, PAIR_WIDTH)."""

    places: Floats
    bodies: Ints
    pairs: Ints
    limits: Floats


@inner
def in_n(s: int, sensors: Sensors, q: Floats, a: Vec) -> Vec:
    """A vector in the axes of the body of a sensor, in N."""
    row = sensors.bodies[s]
    return turned_by(get4(q, row, 0), a) if row >= 0 else a


@inner
def axis(s: int, k: int, sensors: Sensors, q: Floats) -> Vec:
    """An axis of a sensor in N."""
    return in_n(s, sensors, q, column(sensors.places, s, AXES, k))


@inner
def point(s: int, sensors: Sensors, r: Floats, q: Floats) -> Vec:
    """Where a sensor is in N."""
    at, row = in_n(s, sensors, q, get3(sensors.places, s, POINT)), sensors.bodies[s]
    return add(get3(r, row, 0), at) if row >= 0 else at


@inner
def nearest_turn(one: int, two: int, k: int, sensors: Sensors, q: Floats) -> tuple[float, int]:
    """How far pair k is from the nearest of its turns [rad], and which that is."""
    x, around = axis(two, 0, sensors, q), 2.0 * math.pi
    angle = math.atan2(dot(x, axis(one, 1, sensors, q)), dot(x, axis(one, 0, sensors, q)))
    least, best = math.inf, 0
    for n in range(int(sensors.limits[k, ROLLS])):
        off = angle - n * sensors.limits[k, ROLL]
        off = abs(off - around * math.floor(off / around + 0.5))
        if off < least:
            least, best = off, n
    return least, best


@kernel
def in_range(r: Floats, q: Floats, sensors: Sensors, met: Bools, out: Ints) -> int:
    """Pairs within reach, facing, and in one of their turns: their numbers and turns in `out` (m,
    2); returns how many.  Of pairs that have met (m,) only the turn is asked."""
    count = 0
    for k in range(sensors.pairs.shape[0]):
        one, two = sensors.pairs[k, 0], sensors.pairs[k, 1]
        d = sub(point(two, sensors, r, q), point(one, sensors, r, q))
        if not met[k] and dot(d, d) > sensors.limits[k, REACH] ** 2:
            continue
        facing = -dot(axis(one, 2, sensors, q), axis(two, 2, sensors, q))
        most = math.inf if met[k] else sensors.limits[k, ALIGNMENT]
        if math.acos(max(-1.0, min(1.0, facing))) > most:
            continue
        off, turn = nearest_turn(one, two, k, sensors, q)
        if off <= most:
            out[count, 0], out[count, 1] = k, turn
            count += 1
    return count
