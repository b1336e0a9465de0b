"""What every load is made with: forces at points of bodies, axes of sites, schedules."""

from __future__ import annotations

from quirkpy.kernels.arrays import (
    AXES,
    FIRST_KNOT,
    KNOT_TIME,
    KNOT_VALUE,
    LAST_KNOT,
    LINEAR,
    PLACE_AXES,
    SPIN,
    VELOCITY,
    Schedules,
    Sites,
    Vec,
)
from quirkpy.kernels.compiled import inner, woven
from quirkpy.kernels.vectors import add, add3, cross, dot, get3, scale, sub, turn, turn_back
from quirkpy.parts.checks import Floats

#: Columns of the power of forces that no potential accounts for: what loads put in, what dampers take out.
INTO, OUT = 0, 1


@inner
def knot_before(s: int, t: float, schedules: Schedules) -> int:
    """The last knot of schedule s that is not after t; one before the first where there is none."""
    first, k = schedules.spans[s, FIRST_KNOT], schedules.spans[s, LAST_KNOT]
    while k >= first and schedules.knots[k, KNOT_TIME] > t:
        k -= 1
    return k


@inner
def scheduled(s: int, t: float, schedules: Schedules) -> Vec:
    """Value of schedule s at time t."""
    first, last = schedules.spans[s, FIRST_KNOT], schedules.spans[s, LAST_KNOT]
    knots, k = schedules.knots, knot_before(s, t, schedules)
    if k < first:
        return get3(knots, first, KNOT_VALUE)
    if k >= last or schedules.spans[s, LINEAR] == 0:
        return get3(knots, k, KNOT_VALUE)
    f = (t - knots[k, KNOT_TIME]) / (knots[k + 1, KNOT_TIME] - knots[k, KNOT_TIME])
    a, b = get3(knots, k, KNOT_VALUE), get3(knots, k + 1, KNOT_VALUE)
    return add(a, scale(f, sub(b, a)))


@inner
def scheduled_rate(s: int, t: float, schedules: Schedules) -> Vec:
    """Slope [1/s] of schedule s at time t; at a knot that of what follows."""
    knots, k = schedules.knots, knot_before(s, t, schedules)
    if k < schedules.spans[s, FIRST_KNOT] or k >= schedules.spans[s, LAST_KNOT] or schedules.spans[s, LINEAR] == 0:
        return 0.0, 0.0, 0.0
    rise = sub(get3(knots, k + 1, KNOT_VALUE), get3(knots, k, KNOT_VALUE))
    return scale(1.0 / (knots[k + 1, KNOT_TIME] - knots[k, KNOT_TIME]), rise)


@woven
def apply_force(wrench: Floats, b: int, arm: Vec, f: Vec) -> None:
    """Force f on body b at `arm` from its mass centre."""
    add3(wrench, b, 0, f)
    add3(wrench, b, 3, cross(arm, f))


@inner
def power_of(b: int, arm: Vec, f: Vec, torque: Vec, frames: Floats) -> float:
    """Power of a force at `arm` from the mass centre of body b and a torque."""
    w = get3(frames, b, SPIN)
    return dot(f, add(get3(frames, b, VELOCITY), cross(w, arm))) + dot(torque, w)


@inner
def from_site(site: int, a: Vec, sites: Sites, frames: Floats) -> Vec:
    """Components along the axes of a site -> N."""
    return turn(frames, sites.body[site], AXES, turn(sites.place, site, PLACE_AXES, a))


@inner
def to_site(site: int, a: Vec, sites: Sites, frames: Floats) -> Vec:
    """Components in N -> along the axes of a site."""
    return turn_back(sites.place, site, PLACE_AXES, turn_back(frames, sites.body[site], AXES, a))
