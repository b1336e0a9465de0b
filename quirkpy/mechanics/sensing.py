"""Readings of sensors in a pose."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from quirkpy.kernels.step.integrator import SENSOR_RIM
from quirkpy.maths.triples import array, product_back
from quirkpy.mechanics.instant import Instant
from quirkpy.mechanics.meeting import sites_in_n
from quirkpy.parts.body import Site
from quirkpy.parts.sensor import Sensor


class SensorState(NamedTuple):
    """The reading of a sensor: signal, whether it fires; distance [m] and misalignment [rad] (of
    the z axes and, modulo the roll, of the x axes) to its partner, the compatible sensor of another
    body that is closest to making it fire; inf and None where there is none. Arrays (k,) along a
    run."""

    signal: Any
    distance: Any
    misalignment: Any
    partner: Any


def common_range(one: Sensor, two: Sensor) -> tuple[float, float, float]:
    """Reach [m], alignment [rad] and roll [rad, 0: any] of a pair, such that both sensors are
    satisfied."""
    return (
        min(one.reach, two.reach),
        min(one.alignment, two.alignment),
        max(one.roll or 0.0, two.roll or 0.0),
    )


def read_sensor(at: Instant, k: int) -> SensorState:
    """The reading of sensor k; a pair at the boundary of its range, where a run locates the event,
    counts as inside."""
    t = at.selection.tables
    nearest, out = math.inf, SensorState(False, math.inf, math.inf, None)
    for other in t.sensor_partners[k]:
        one, two = t.sensors[k], t.sensors[other]
        reach, alignment, roll = common_range(one, two)
        distance, off = _mismatch(at, one.site, two.site, roll)
        ratio = max(distance / reach, off / alignment)
        if ratio < nearest:
            nearest, out = ratio, SensorState(ratio <= 1.0 + SENSOR_RIM, distance, off, two.name)
    return out


def _mismatch(at: Instant, one: Site, two: Site, roll: float) -> tuple[float, float]:
    """Distance [m] of two sites that should face each other, and the misalignment of their axes
    [rad]."""
    (x1, e1), (x2, e2) = sites_in_n(at, one, two)
    turned = array(
        product_back(e1, e2)
    )  # the axes of the second site in those of the first, as columns
    off = math.acos(max(-1.0, min(1.0, -turned[2, 2])))
    if roll > 0.0:
        off = max(off, abs(math.remainder(math.atan2(turned[1, 0], turned[0, 0]), roll)))
    return math.dist(x1, x2), off
