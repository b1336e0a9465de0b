"""Events within a step: crossings of the watched functions, located on the polynomial of the
step."""

from __future__ import annotations

import math

import numpy as np

from quirkpy.kernels.base.compiled import inner, shared
from quirkpy.kernels.base.conditions import HOLDS, TIME, Conditions
from quirkpy.kernels.base.states import R
from quirkpy.kernels.base.vectors import get3, norm
from quirkpy.kernels.step.methods import Table
from quirkpy.kernels.step.projection import project
from quirkpy.kernels.step.steps import (
    ASKED_UNTIL,
    BEGIN,
    EVALUATIONS,
    FARTHEST,
    NEAREST,
    PASSING,
    STEP,
    WITHIN,
    Run,
    T,
    accelerate,
    interpolate,
    make_polynomial,
    nearness,
)
from quirkpy.kernels.step.watch import (
    DIRECTION,
    GAP,
    KIND,
    MEETING,
    NOW,
    ONE,
    ROOT,
    ROPE,
    STOP,
    TRIAL,
    VALUE,
    Watch,
    lies_in_places,
    look_at_places,
    watch_functions,
    watched_stops,
)
from quirkpy.kernels.tree.evaluation import stand
from quirkpy.kernels.tree.model import Model, Scratch
from quirkpy.maths.constants import EPS

#: Half the width to which a root is located, as a fraction of the step, and as a share of the root
#: [1].
ROOT_WIDTH, ROOT_ROUNDING = 0.5e-15, 2e-16
#: Events this close to the first one [s] happen together.
TOGETHER = 1e-10
#: What stands for the value of a watched function at its crossing; its sign is that of the side
#: where it goes on.
JUST_CROSSED = float(np.finfo(float).tiny)
#: What a joint coordinate may be off by the rounding of places, as a share of how far these are
#: from the origin.
COORDINATE_ROUNDING = 16.0 * EPS
#: Of a function that does not cross zero in the step.
NEVER = 2.0
#: Where the cubic through distances and rates at both ends of a step comes nearer than this many
#: reaches, or than this share of its fall, the step is looked into for a short visit.
VISIT_REACHES, VISIT_FALL = 2.0, 0.02
#: Instead of a watched function: how near a pose is to a singular one; below SINGULAR it is one.  A
#: step is searched where it falls to this share of its largest value in the step; whether it falls
#: or rises at an end is judged over the fourth number of steps; the stages of a step lie no further
#: apart than the fifth.
NEARNESS, SINGULAR, SINGULAR_FALL, GLANCE, STAGE_GAP = -1, 1e-4, 0.25, 1e-3, 0.3
#: A visit that does not go deeper than this is rounding.
GRAZE = 1e-12
#: Zero is out of reach of a function whose least value so far is so many times what it falls by
#: between there and the ends of what is left to search.
OUT_OF_REACH = 10.0
#: Golden sections of a search for the least value within a step, and the golden ratio less one.
SECTIONS, GOLDEN = 60, 0.6180339887498949


@inner
def crosses(before: float, after: float, direction: int) -> bool:
    """Whether a function crosses zero in the direction that counts."""
    return (direction <= 0 and before > 0.0 >= after) or (direction >= 0 and before < 0.0 <= after)


@shared
def value_within(
    x: float,
    k: int,
    run: Run,
    model: Model,
    conditions: Conditions,
    scratch: Scratch,
    table: Table,
    watch: Watch,
) -> float:
    """Watched function k at the fraction x of the step; for NEARNESS the distance from a singular
    pose.  Where places alone tell it, nothing else is evaluated."""
    interpolate(x, run, table)
    t = run.clock[T] + x * run.clock[STEP]
    if k >= 0 and lies_in_places(k, model, conditions, watch):
        conditions.control[TIME] = t
        stand(run.states[WITHIN], model, scratch)
        look_at_places(k, model, conditions, scratch, watch)
        return watch.values[k, TRIAL]
    if k == NEARNESS:
        conditions.control[TIME] = t
        project(run.states[WITHIN], model, conditions, scratch, run.room)
    accelerate(t, WITHIN, run, model, conditions, scratch)
    run.counts[EVALUATIONS] += 1
    if k == NEARNESS:
        return nearness(True, run, scratch)
    watch_functions(run.states[WITHIN], run.out, model, conditions, scratch, watch)
    asked = min(t, run.clock[ASKED_UNTIL])
    watched_stops(asked, run.states[WITHIN], model, conditions, scratch, watch, run.out)
    return watch.values[k, TRIAL]


@inner
def root_between(
    a: float, fa: float, b: float, fb: float, k: int, run: Run, model: Model,
    conditions: Conditions, scratch: Scratch, table: Table, watch: Watch,
) -> float:  # fmt: skip
    """Where function k, of opposite signs at a and b, has just crossed zero: Chandrupatla's method,
    to rounding.

    T. R. Chandrupatla, Advances in Engineering Software 28 (1997) 145: inverse quadratic
    interpolation where it is safe, halving elsewhere."""
    t, c, fc, beyond = 0.5, a, fa, fb > 0.0
    for _ in range(100):
        x = a + t * (b - a)
        fx = value_within(x, k, run, model, conditions, scratch, table, watch)
        if (fx > 0.0) == (fa > 0.0):
            c, fc = a, fa
        else:
            c, fc, b, fb = b, fb, a, fa
        a, fa = x, fx
        half = ROOT_WIDTH + ROOT_ROUNDING * abs(a)
        if fa == 0.0 or abs(b - a) <= 2.0 * half:
            return a if fa == 0.0 or (fa > 0.0) == beyond else b
        least = half / abs(b - a)
        xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
        t = 0.5
        if phi * phi < xi and (1.0 - phi) * (1.0 - phi) < 1.0 - xi:
            t = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (
                fc - fb
            )
        t = min(1.0 - least, max(least, t))
    return a


@inner
def least_of_cubic(g0: float, r0: float, g1: float, r1: float) -> tuple[float, float]:
    """The place in (0, 1) and the value of the minimum of the cubic with these values and slopes at
    0 and 1; (-1, inf) if the minimum lies at an end."""
    c3, c2 = r0 + r1 - 2.0 * (g1 - g0), 3.0 * (g1 - g0) - 2.0 * r0 - r1
    square = c2 * c2 - 3.0 * c3 * r0
    if square < 0.0:
        return -1.0, math.inf
    q = -(
        c2 + math.copysign(math.sqrt(square), c2)
    )  # roots of 3 c3 x2 + 2 c2 x + r0, without cancellation
    best, value = -1.0, math.inf
    for n in range(2):
        if n == 0:
            x = q / (3.0 * c3) if c3 != 0.0 else -1.0
        else:
            x = r0 / q if q != 0.0 else -1.0
        if 0.0 < x < 1.0:
            g = g0 + x * (r0 + x * (c2 + x * c3))
            if g < value:
                best, value = x, g
    return best, value


@inner
def may_visit(k: int, run: Run, conditions: Conditions, watch: Watch) -> float:
    """The fraction of the step at which two sensors that are apart at both ends may have met, a
    joint may have touched its stop, or a rope have been slack or taut; -1: nowhere.

    It is estimated by the cubic through the squared distance, the clearance, or what is left of a
    phase, and its rate at both ends."""
    values, h, kind = watch.values, run.clock[STEP], watch.what[k, KIND]
    apart = values[k, VALUE] > 0.0 and values[k, NOW] > 0.0
    if not apart or (kind != MEETING and kind != STOP and kind != ROPE):
        return -1.0
    if kind == STOP and conditions.stops[watch.what[k, ONE], HOLDS] != 0:
        return -1.0
    g0, g1 = values[k, GAP], values[k, GAP + 2]
    x, g = least_of_cubic(g0, h * values[k, GAP + 1], g1, h * values[k, GAP + 3])
    close = VISIT_REACHES * watch.numbers[k, 0] if kind == MEETING else 0.0
    if x < 0.0:
        x, g = (0.5, min(g0, g1))
    return x if g < close * close + VISIT_FALL * (max(g0, g1) - g) else -1.0


@inner
def least_between(
    a: float,
    b: float,
    enough: float,
    k: int,
    run: Run,
    model: Model,
    conditions: Conditions,
    scratch: Scratch,
    table: Table,
    watch: Watch,
) -> tuple[float, float]:
    """The minimum of function k between a and b, place and value, by golden sections; or the first
    place found where it is at most `enough`, or where that is out of reach.  (The distance from a
    singular pose is always followed to its minimum, whose place counts, too.)"""
    left, right, fl, fr, fa, fb = a, b, math.inf, math.inf, math.inf, math.inf
    for n in range(SECTIONS):
        if n == 0 or (n > 1 and fl < fr):
            if n > 1:
                b, fb, right, fr = right, fr, left, fl
            left = b - GOLDEN * (b - a)
            fl = value_within(left, k, run, model, conditions, scratch, table, watch)
        else:
            if n > 1:
                a, fa, left, fl = left, fl, right, fr
            right = a + GOLDEN * (b - a)
            fr = value_within(right, k, run, model, conditions, scratch, table, watch)
        least = min(fl, fr)
        if least <= enough or (k != NEARNESS and least > OUT_OF_REACH * (max(fa, fb) - least)):
            break
    if fl < fr:
        return left, fl
    return right, fr


@shared
def singular_pose(
    run: Run, model: Model, conditions: Conditions, scratch: Scratch, table: Table, watch: Watch
) -> float:
    """The fraction of the step at which a singular pose is passed, to about 1e-4 rad; NEVER if
    there is none.

    The distance from a singular pose falls below SINGULAR and has a minimum near the stage with the
    smallest distance; if that stage is an end of the step, the distance decreases from there into
    the step."""
    nearest, k = (
        run.clock[NEAREST],
        np.int64(NEARNESS),
    )  # not a literal: kernels are compiled anew for each
    if run.clock[PASSING] > SINGULAR_FALL * run.clock[FARTHEST]:
        return NEVER
    make_polynomial(run, model, conditions, scratch, table)
    if nearest == 0.0 or nearest == 1.0:
        falls = value_within(
            abs(nearest - GLANCE), k, run, model, conditions, scratch, table, watch
        )
        falls -= value_within(nearest, k, run, model, conditions, scratch, table, watch)
        if falls > 0.0:
            return NEVER
    low, high = max(0.0, nearest - STAGE_GAP), min(1.0, nearest + STAGE_GAP)
    x, near = least_between(low, high, 0.0, k, run, model, conditions, scratch, table, watch)
    if near >= SINGULAR:
        return NEVER
    value_within(
        x, k, run, model, conditions, scratch, table, watch
    )  # there, so that the report is that of the pose
    return x


@inner
def rounding_of(k: int, run: Run, watch: Watch) -> float:
    """The rounding error of watched function k that follows from that of positions: for the
    clearance of a stop; 0 for others."""
    far = 0.0
    if watch.what[k, KIND] == STOP:
        for i in range(run.out.shape[0]):
            far = max(far, norm(get3(run.states[BEGIN], i, R)))
    return COORDINATE_ROUNDING * far


@inner
def least_inside(k: int, run: Run, watch: Watch) -> float:
    """The value of watched function k below which it has fallen for sure since the beginning of the
    step, where it is zero but for rounding: a stop that has just been left may still lie a little
    beyond its bound."""
    beyond = min(watch.values[k, GAP], 0.0) if watch.what[k, KIND] == STOP else 0.0
    return beyond - rounding_of(k, run, watch)


@inner
def past_rounding(
    b: float, k: int, run: Run, model: Model, conditions: Conditions, scratch: Scratch,
    table: Table, watch: Watch,
) -> tuple[float, float]:  # fmt: skip
    """A fraction of the step, at most b, at which function k, zero at the beginning, differs from
    that by more than rounding, and its value there.

    Its rate at the beginning does not decide the sign: for a motion from rest it is rounding
    itself."""
    least, most = least_inside(k, run, watch), rounding_of(k, run, watch)
    a = min(b, TOGETHER / run.clock[STEP])
    fa = value_within(a, k, run, model, conditions, scratch, table, watch)
    while least <= fa <= most and a < b:
        a = min(b, 4.0 * a)
        fa = value_within(a, k, run, model, conditions, scratch, table, watch)
    return a, fa


@shared
def locate(
    run: Run, model: Model, conditions: Conditions, scratch: Scratch, table: Table, watch: Watch
) -> float:
    """The fraction of the step at which the first event happens (NEVER: none), and for each
    function its root in column ROOT."""
    values, made, first = watch.values, False, NEVER
    for k in range(values.shape[0]):
        values[k, ROOT] = NEVER
        fa, b, fb = values[k, VALUE], 1.0, values[k, NOW]
        across = crosses(fa, fb, watch.what[k, DIRECTION])
        visit = -1.0 if across else may_visit(k, run, conditions, watch)
        if not across and visit < 0.0:
            continue
        if not made:
            make_polynomial(run, model, conditions, scratch, table)
            made = True
        if not across:
            low, high = max(0.0, visit - 0.5), min(1.0, visit + 0.5)
            b, fb = least_between(
                low, high, -GRAZE, k, run, model, conditions, scratch, table, watch
            )
            if fb > -GRAZE:
                continue
        a = 0.0
        if abs(fa) == JUST_CROSSED:  # its value is rounding: asked again a little later
            a, fa = past_rounding(0.5 * b, k, run, model, conditions, scratch, table, watch)
            inside = least_inside(k, run, watch) <= min(fa, fb) and fa <= 0.0
            if inside and watch.what[k, KIND] == STOP:
                values[k, NOW] = JUST_CROSSED  # it is still about to leave
                continue
        if fa * fb > 0.0 or (fa == 0.0 and watch.what[k, KIND] == STOP):
            values[k, ROOT] = a
        elif fb == 0.0:
            values[k, ROOT] = b
        else:
            values[k, ROOT] = root_between(
                a, fa, b, fb, k, run, model, conditions, scratch, table, watch
            )
        first = min(first, values[k, ROOT])
    return first
