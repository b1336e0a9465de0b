"""Schedules: values given by knots, as functions of time."""

from __future__ import annotations

from quirkpy.kernels.arrays import FIRST_KNOT, INTERPOLATION, KNOT_TIME, KNOT_VALUE, LAST_KNOT, Schedules, Vec
from quirkpy.kernels.compiled import inner
from quirkpy.kernels.vectors import add, get3, scale, sub
from quirkpy.tables.tables import HOLD, SMOOTH


@inner
def knot_before(s: int, t: float, schedules: Schedules) -> int:
    """The knot of schedule s that is the last one at or before the time t; one less than the first before that."""
    k = schedules.spans[s, LAST_KNOT]
    while k >= schedules.spans[s, FIRST_KNOT] and schedules.knots[k, KNOT_TIME] > t:
        k -= 1
    return k


@inner
def scheduled(s: int, t: float, schedules: Schedules) -> Vec:
    """Value of schedule s at time t."""
    first, last = schedules.spans[s, FIRST_KNOT], schedules.spans[s, LAST_KNOT]
    knots, kind = schedules.knots, schedules.spans[s, INTERPOLATION]
    k = knot_before(s, t, schedules)
    if k < first:
        return get3(knots, first, KNOT_VALUE)
    if k >= last or kind == HOLD:
        return get3(knots, k, KNOT_VALUE)
    f = (t - knots[k, KNOT_TIME]) / (knots[k + 1, KNOT_TIME] - knots[k, KNOT_TIME])
    if kind == SMOOTH:
        f = f * f * f * (10.0 - 15.0 * f + 6.0 * f * f)
    a, b = get3(knots, k, KNOT_VALUE), get3(knots, k + 1, KNOT_VALUE)
    return add(a, scale(f, sub(b, a)))


@inner
def schedule_motion(s: int, t: float, schedules: Schedules) -> tuple[float, float, float]:
    """The first number of a smooth schedule with its first two derivatives."""
    knots, k = schedules.knots, knot_before(s, t, schedules)
    x = scheduled(s, t, schedules)[0]
    if k < schedules.spans[s, FIRST_KNOT] or k >= schedules.spans[s, LAST_KNOT]:
        return x, 0.0, 0.0
    span = knots[k + 1, KNOT_TIME] - knots[k, KNOT_TIME]
    f, way = (t - knots[k, KNOT_TIME]) / span, knots[k + 1, KNOT_VALUE] - knots[k, KNOT_VALUE]
    rate = 30.0 * f * f * (1.0 - f) * (1.0 - f) * way / span
    return x, rate, 60.0 * f * (1.0 - f) * (1.0 - 2.0 * f) * way / (span * span)
