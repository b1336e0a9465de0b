"""Schedules: functions of time given by knots or formulas, and sums and products of these."""

from __future__ import annotations

import math

from quirkpy.kernels.base.arrays import (
    FIRST_KNOT,
    FORMULA_ADDRESS,
    INTERPOLATION,
    KNOT_TIME,
    KNOT_VALUE,
    LAST_KNOT,
    Schedules,
    Vec,
)
from quirkpy.kernels.base.compiled import inner
from quirkpy.kernels.base.hook import call_formula
from quirkpy.kernels.base.vectors import add, get3, scale, sub
from quirkpy.tables.tables import FORMULA, HOLD, LINEAR, PRODUCT, RAMP, SINE, SMOOTH, SUM

#: Which of the formulas of a function of time is asked for.
VALUE_AT, RATE_AT, ACCELERATION_AT = range(3)
NO_CHANGE = 0.0, 0.0, 0.0


@inner
def knot_before(s: int, t: float, schedules: Schedules) -> int:
    """The last knot of schedule s that is not after t; one before the first where there is none."""
    low, high = schedules.spans[s, FIRST_KNOT] - 1, schedules.spans[s, LAST_KNOT]
    while low < high:
        middle = (low + high + 1) // 2
        if schedules.knots[middle, KNOT_TIME] > t:
            high = middle - 1
        else:
            low = middle
    return low


@inner
def between_knots(s: int, t: float, schedules: Schedules) -> Vec:
    """Value of a schedule of knots at time t."""
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
def by_formula(s: int, which: int, t: float, schedules: Schedules) -> Vec:
    """The value of a user's formula, or of one of its derivatives."""
    address, row = schedules.spans[s, FORMULA_ADDRESS], schedules.spans[s, FIRST_KNOT]
    return call_formula(address, which, t, 0.0, 0.0, row, schedules.knots), 0.0, 0.0


@inner
def leaf_value(s: int, t: float, schedules: Schedules) -> Vec:
    """Value of a schedule that is not composed of others."""
    kind, k, knots = (
        schedules.spans[s, INTERPOLATION],
        schedules.spans[s, FIRST_KNOT],
        schedules.knots,
    )
    if kind <= SMOOTH:
        return between_knots(s, t, schedules)
    if kind == SINE:
        turn = math.sin(knots[k, KNOT_TIME] * t + knots[k + 1, KNOT_TIME])
        return add(get3(knots, k + 1, KNOT_VALUE), scale(turn, get3(knots, k, KNOT_VALUE)))
    if kind == RAMP:
        return add(get3(knots, k + 1, KNOT_VALUE), scale(t, get3(knots, k, KNOT_VALUE)))
    return by_formula(s, VALUE_AT, t, schedules)


@inner
def product_value(s: int, t: float, schedules: Schedules) -> Vec:
    """Value of a product, whose first factor may be a vector, or of a single schedule."""
    if schedules.spans[s, INTERPOLATION] != PRODUCT:
        return leaf_value(s, t, schedules)
    x = leaf_value(schedules.spans[s, FIRST_KNOT], t, schedules)
    for k in range(schedules.spans[s, FIRST_KNOT] + 1, schedules.spans[s, LAST_KNOT] + 1):
        x = scale(leaf_value(k, t, schedules)[0], x)
    return x


@inner
def schedule_value(s: int, t: float, schedules: Schedules) -> Vec:
    """Value of schedule s at time t."""
    if schedules.spans[s, INTERPOLATION] != SUM:
        return product_value(s, t, schedules)
    x = 0.0, 0.0, 0.0
    for k in range(schedules.spans[s, FIRST_KNOT], schedules.spans[s, LAST_KNOT] + 1):
        x = add(x, product_value(k, t, schedules))
    return x


@inner
def knot_motion(s: int, t: float, schedules: Schedules) -> tuple[Vec, Vec, Vec]:
    """Value of a schedule of knots with its first two derivatives; at a knot those of what
    follows."""
    knots, k = schedules.knots, knot_before(s, t, schedules)
    x, kind = between_knots(s, t, schedules), schedules.spans[s, INTERPOLATION]
    first, last = schedules.spans[s, FIRST_KNOT], schedules.spans[s, LAST_KNOT]
    if k < first or k >= last or kind == HOLD:
        return x, NO_CHANGE, NO_CHANGE
    span = knots[k + 1, KNOT_TIME] - knots[k, KNOT_TIME]
    way = sub(get3(knots, k + 1, KNOT_VALUE), get3(knots, k, KNOT_VALUE))
    if kind == LINEAR:
        return x, scale(1.0 / span, way), NO_CHANGE
    f = (t - knots[k, KNOT_TIME]) / span
    a, b = 30.0 * f * f * (1.0 - f) * (1.0 - f), 60.0 * f * (1.0 - f) * (1.0 - 2.0 * f)
    square = span * span
    rate = a * way[0] / span, a * way[1] / span, a * way[2] / span
    return x, rate, (b * way[0] / square, b * way[1] / square, b * way[2] / square)


@inner
def leaf_motion(s: int, t: float, schedules: Schedules) -> tuple[Vec, Vec, Vec]:
    """Value and first two derivatives of a schedule that is not composed of others."""
    kind, k, knots = (
        schedules.spans[s, INTERPOLATION],
        schedules.spans[s, FIRST_KNOT],
        schedules.knots,
    )
    if kind <= SMOOTH:
        return knot_motion(s, t, schedules)
    if kind == FORMULA:
        x, rate = by_formula(s, VALUE_AT, t, schedules), by_formula(s, RATE_AT, t, schedules)
        return x, rate, by_formula(s, ACCELERATION_AT, t, schedules)
    a, b = get3(knots, k, KNOT_VALUE), get3(knots, k + 1, KNOT_VALUE)
    if kind == RAMP:
        return add(b, scale(t, a)), a, NO_CHANGE
    w = knots[k, KNOT_TIME]
    turn = w * t + knots[k + 1, KNOT_TIME]
    swing = scale(math.sin(turn), a)
    return add(b, swing), scale(w * math.cos(turn), a), scale(-w * w, swing)


@inner
def product_motion(s: int, t: float, schedules: Schedules) -> tuple[Vec, Vec, Vec]:
    """Value and first two derivatives of a product, or of a single schedule."""
    if schedules.spans[s, INTERPOLATION] != PRODUCT:
        return leaf_motion(s, t, schedules)
    x, rate, bend = leaf_motion(schedules.spans[s, FIRST_KNOT], t, schedules)
    for k in range(schedules.spans[s, FIRST_KNOT] + 1, schedules.spans[s, LAST_KNOT] + 1):
        f, df, ddf = leaf_motion(k, t, schedules)
        bend = add(add(scale(f[0], bend), scale(2.0 * df[0], rate)), scale(ddf[0], x))
        rate = add(scale(f[0], rate), scale(df[0], x))
        x = scale(f[0], x)
    return x, rate, bend


@inner
def motion_of(s: int, t: float, schedules: Schedules) -> tuple[Vec, Vec, Vec]:
    """Value of schedule s at time t with its first two derivatives [1/s], [1/s2]; at a knot those
    of what follows."""
    if schedules.spans[s, INTERPOLATION] != SUM:
        return product_motion(s, t, schedules)
    x, rate, bend = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(schedules.spans[s, FIRST_KNOT], schedules.spans[s, LAST_KNOT] + 1):
        a, b, c = product_motion(k, t, schedules)
        x, rate, bend = add(x, a), add(rate, b), add(bend, c)
    return x, rate, bend


@inner
def schedule_motion(s: int, t: float, schedules: Schedules) -> tuple[float, float, float]:
    """A schedule of plain numbers with its first two derivatives."""
    x, rate, bend = motion_of(s, t, schedules)
    return x[0], rate[0], bend[0]


@inner
def schedule_rate(s: int, t: float, schedules: Schedules) -> Vec:
    """Slope [1/s] of schedule s at time t; at a knot that of what follows."""
    return motion_of(s, t, schedules)[1]
