"""Schedules: values given by knots, as functions of time."""

from __future__ import annotations

from quirkpy.kernels.base.arrays import (
    FIRST_KNOT,
    INTERPOLATION,
    KNOT_TIME,
    KNOT_VALUE,
    LAST_KNOT,
    Schedules,
    Vec,
)
from quirkpy.kernels.base.compiled import inner
from quirkpy.kernels.base.vectors import add, get3, scale, sub
from quirkpy.tables.tables import HOLD, SMOOTH


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


@inner
def scheduled_rate(s: int, t: float, schedules: Schedules) -> Vec:
    """Slope [1/s] of schedule s at time t; at a knot that of what follows."""
    knots, k, kind = (
        schedules.knots,
        knot_before(s, t, schedules),
        schedules.spans[s, INTERPOLATION],
    )
    if k < schedules.spans[s, FIRST_KNOT] or k >= schedules.spans[s, LAST_KNOT] or kind == HOLD:
        return 0.0, 0.0, 0.0
    rise = sub(get3(knots, k + 1, KNOT_VALUE), get3(knots, k, KNOT_VALUE))
    span = knots[k + 1, KNOT_TIME] - knots[k, KNOT_TIME]
    f = (t - knots[k, KNOT_TIME]) / span
    return scale((30.0 * f * f * (1.0 - f) * (1.0 - f) if kind == SMOOTH else 1.0) / span, rise)
