"""Schedules: values given by knots, as functions of time."""

from __future__ import annotations

from quirkpy.kernels.arrays import FIRST_KNOT, KNOT_TIME, KNOT_VALUE, LAST_KNOT, LINEAR, Schedules, Vec
from quirkpy.kernels.compiled import inner
from quirkpy.kernels.vectors import add, get3, scale, sub


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
