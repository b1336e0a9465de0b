"""Functions of the state that a run watches; an event is where one crosses zero."""

from __future__ import annotations

import math
from typing import NamedTuple

from quirkpy.kernels.act.measures import Measures, measure
from quirkpy.kernels.act.ropes import phase_lasts
from quirkpy.kernels.base.arrays import FIRST_SPEED, MASS, MODE_COUNT, MOMENTS
from quirkpy.kernels.base.compiled import inner, shared
from quirkpy.kernels.base.conditions import ASKED, HOLDS, TIME, Conditions
from quirkpy.kernels.base.hook import EVENTS, ask
from quirkpy.kernels.base.matrices import sym6, sym_times
from quirkpy.kernels.base.states import ANGULAR_HALF, LINEAR_HALF, OMEGA, V
from quirkpy.kernels.base.vectors import dot, get3, norm, sub
from quirkpy.kernels.place.rows import GAMMA
from quirkpy.kernels.place.sites import site_axis, site_motion
from quirkpy.kernels.step.ledger import motion_of_modes
from quirkpy.kernels.tree.evaluation import (
    elements_at,
    evaluate,
    free_of_stop,
    joints_at,
    row_of_stop,
)
from quirkpy.kernels.tree.model import Model, Scratch
from quirkpy.kernels.tree.stops import LATCH, RELEASE, SIDE, is_latched, row_response
from quirkpy.kernels.tree.tree import LOOP_BODY1, LOOP_BODY2
from quirkpy.maths.types import Floats, Ints

#: What is watched.  REST: a = speed [m/s], b = acceleration [m/s2].  ENERGY: a = energy [J].
#: MEETING: sites one and two, a = reach [m], b = alignment [rad], c = roll [rad] or 0.  PYTHON: the
#: event is asked.  STOP: one = number of the stop; the clearance where it does not hold, else how
#: hard it is pressed on, as an acceleration.  MEASURE: one = number of the measure, a = what it is
#: compared with.  ROPE: one = number of the element, a = KEPT; how long it goes on doing what it
#: does.
REST, ENERGY, MEETING, PYTHON, STOP, MEASURE, ROPE = range(7)
#: What happens to parts of the system, which is told when it is clear what that does.
OWN_FUNCTIONS = STOP, ROPE

# Column of Watch.numbers: one more than the field of a board with the rest length of a rope that
# may yield, or 0.
KEPT = 0
# Columns of Watch.what.
KIND, ONE, TWO, DIRECTION, TERMINAL, WHAT_WIDTH = range(6)
# Columns of Watch.values: of the function, at the beginning of a step, at its end, at any state
# asked about; where in the step it crosses zero; for meetings the square of the distance and its
# rate, for stops the clearance and its rate, for ropes what is left of a phase and its rate, at the
# same three states; just before a jump, 0: not known.
VALUE, NOW, TRIAL, ROOT, GAP, BEFORE, VALUES_WIDTH = 0, 1, 2, 3, 4, 10, 11


class Watch(NamedTuple):
    """what (n, WHAT_WIDTH), direction: -1 falling, 1 rising, 0 both; numbers a, b, c (n, 3); values
    (n, VALUES_WIDTH); asked: the state that events in Python are asked about (nb + 1,
    STATE_WIDTH); measures: what is compared with a number."""

    what: Ints
    numbers: Floats
    values: Floats
    asked: Floats
    measures: Measures


@inner
def metric(u: Floats, first: int, w: Floats, second: int, bodies: Floats) -> float:
    """Sum over bodies of m |linear|^2 + angular . I angular, from columns `first` of u and `second`
    of w."""
    out = 0.0
    for i in range(bodies.shape[0]):
        a, b = get3(u, i, first), get3(w, i, second)
        out += bodies[i, MASS] * dot(a, a) + dot(b, sym_times(sym6(bodies, i, MOMENTS), b))
    return out


@shared
def squares_of_modes(model: Model, scratch: Scratch) -> tuple[float, float]:
    """Sums over all modes of the squares of their rates, and of the rates of these."""
    what, tail, speeds, rates = model.modes.what, scratch.tail, 0.0, 0.0
    for b in range(what.shape[0]):
        for k in range(what[b, MODE_COUNT]):
            i = what[b, FIRST_SPEED] + k
            speeds += tail[0, i] * tail[0, i]
            rates += tail[1, i] * tail[1, i]
    return speeds, rates


@inner
def total_mass(bodies: Floats) -> float:
    """Mass of all moving bodies [kg]."""
    out = 0.0
    for i in range(bodies.shape[0]):
        out += bodies[i, MASS]
    return out


@inner
def meeting(k: int, watch: Watch, model: Model, frames: Floats) -> float:
    """Negative if site two is within reach of site one, faces it and, modulo the roll, is aligned
    with its x axis; and the distance."""
    one, two = watch.what[k, ONE], watch.what[k, TWO]
    reach, alignment, roll = watch.numbers[k, 0], watch.numbers[k, 1], watch.numbers[k, 2]
    here, there = site_motion(one, model.sites, frames), site_motion(two, model.sites, frames)
    d = sub(there.position, here.position)
    watch.values[k, GAP + 2 * TRIAL] = dot(d, d)
    watch.values[k, GAP + 2 * TRIAL + 1] = 2.0 * dot(d, sub(there.velocity, here.velocity))
    far = norm(d) / reach
    z1, z2 = site_axis(one, 2, model.sites, frames), site_axis(two, 2, model.sites, frames)
    off = math.acos(max(-1.0, min(1.0, -dot(z1, z2)))) / alignment
    if roll > 0.0:
        a, b = site_axis(one, 0, model.sites, frames), site_axis(one, 1, model.sites, frames)
        c = site_axis(two, 0, model.sites, frames)
        angle = math.atan2(dot(c, b), dot(c, a))
        off = max(off, abs(angle - roll * round(angle / roll)) / alignment)
    return max(far, off) - 1.0


@inner
def look_at_places(
    k: int, model: Model, conditions: Conditions, scratch: Scratch, watch: Watch
) -> None:
    """The value of a meeting, of a rope, or of a stop as if it did not hold, into column TRIAL: by
    the kinematics in the scratch alone, and the time of the conditions."""
    if watch.what[k, KIND] == MEETING:
        watch.values[k, TRIAL] = meeting(k, watch, model, scratch.frames)
        return
    if watch.what[k, KIND] == ROPE:
        value, gap, rate = phase_lasts(
            conditions.control[TIME], watch.what[k, ONE], elements_at(model, conditions),
            model.schedules, model.sites, scratch.frames,
        )  # fmt: skip
    else:
        gap, rate = free_of_stop(watch.what[k, ONE], model, conditions, scratch)
        value = gap
    watch.values[k, GAP + 2 * TRIAL], watch.values[k, GAP + 2 * TRIAL + 1] = gap, rate
    watch.values[k, TRIAL] = value


@inner
def lies_in_places(k: int, model: Model, conditions: Conditions, watch: Watch) -> bool:
    """Whether no acceleration has a say in watched function k: of a meeting, a rope, or a stop that
    is free."""
    if watch.what[k, KIND] != STOP:
        return watch.what[k, KIND] == MEETING or watch.what[k, KIND] == ROPE
    s = watch.what[k, ONE]
    latched = model.stops.numbers[s, LATCH] != 0.0 and is_latched(s, model.stops, conditions)
    return not latched and conditions.stops[s, HOLDS] == 0


@inner
def watch_functions(
    y: Floats,
    acceleration: Floats,
    model: Model,
    conditions: Conditions,
    scratch: Scratch,
    watch: Watch,
) -> None:
    """The watched functions at a state just evaluated, into column TRIAL."""
    bodies, energy, asking = model.bodies, 0.0, False
    speed_within, rate_within = 0.0, 0.0
    for k in range(scratch.potential.shape[0]):
        energy += scratch.potential[k]
    if model.modes.what.shape[0] > 0:
        speed_within, rate_within = squares_of_modes(model, scratch)
        energy += motion_of_modes(model, scratch)
    for k in range(watch.values.shape[0]):
        kind, a, b = watch.what[k, KIND], watch.numbers[k, 0], watch.numbers[k, 1]
        if kind == REST:
            mass = total_mass(bodies)
            speeds = metric(y, V, y, OMEGA, bodies) + speed_within
            rates = metric(acceleration, LINEAR_HALF, acceleration, ANGULAR_HALF, bodies)
            speed = math.sqrt(speeds / mass) / a
            push = math.sqrt((rates + rate_within) / mass) / b
            watch.values[k, TRIAL] = max(speed, push) - 1.0
        elif kind == ENERGY:
            watch.values[k, TRIAL] = 0.5 * metric(y, V, y, OMEGA, bodies) + energy - a
        elif kind == MEASURE:
            x = measure(
                watch.what[k, ONE], conditions.control[TIME], y, watch.measures, model.elements,
                joints_at(model, conditions), model.schedules, bodies, model.sites, scratch.frames,
            )  # fmt: skip
            watch.values[k, TRIAL] = x - a
        elif kind == PYTHON:
            asking = True
        else:
            look_at_places(k, model, conditions, scratch, watch)
    if asking:
        for i in range(y.shape[0]):
            for j in range(y.shape[1]):
                watch.asked[i, j] = y[i, j]
        ask(conditions.hook, EVENTS)


@inner
def watched_stops(
    t: float,
    y: Floats,
    model: Model,
    conditions: Conditions,
    scratch: Scratch,
    watch: Watch,
    out: Floats,
) -> None:
    """For stops that hold, the acceleration with which the coordinate would pass through the bound;
    1 for a latch that holds, which never releases; `out` is room."""
    stops, doubted = model.stops, 0
    for k in range(watch.values.shape[0]):
        if watch.what[k, KIND] == STOP:
            s = watch.what[k, ONE]
            if stops.numbers[s, LATCH] != 0.0 and is_latched(s, stops, conditions):
                watch.values[k, TRIAL] = 1.0
                watch.values[k, GAP + 2 * TRIAL], watch.values[k, GAP + 2 * TRIAL + 1] = 1.0, 0.0
            elif conditions.stops[s, HOLDS] != 0:
                conditions.stops[s, HOLDS] = 0
                evaluate(t, y, model, conditions, scratch, out)
                conditions.stops[s, HOLDS] = 1
                away = leaving(s, model, conditions, scratch)
                watch.values[k, TRIAL] = RELEASE - away
                if abs(away) <= RELEASE:
                    conditions.stops[s, ASKED] = 1
                    doubted += 1
    if doubted > 1:
        ask_together(t, y, model, conditions, scratch, watch, out)
    for s in range(stops.what.shape[0]):
        conditions.stops[s, ASKED] = 0


@inner
def ask_together(
    t: float,
    y: Floats,
    model: Model,
    conditions: Conditions,
    scratch: Scratch,
    watch: Watch,
    out: Floats,
) -> None:
    """Test stops each of which, released alone, would still be held by the others: all are
    released, and hold again one by one, the most pressed first.  If any is pressed, those that are
    neither pressed nor pulled are not released."""
    stops, values = model.stops, watch.values
    for s in range(stops.what.shape[0]):
        if conditions.stops[s, ASKED] != 0:
            conditions.stops[s, HOLDS] = 0
    pressed = 0.0
    for _ in range(values.shape[0] + 1):
        evaluate(t, y, model, conditions, scratch, out)
        least, which = -RELEASE, -1
        for k in range(values.shape[0]):
            s = watch.what[k, ONE]
            if (
                watch.what[k, KIND] == STOP
                and conditions.stops[s, ASKED] != 0
                and conditions.stops[s, HOLDS] == 0
            ):
                away = leaving(s, model, conditions, scratch)
                values[k, TRIAL] = RELEASE - away if away > RELEASE else RELEASE - away + pressed
                if away < least:
                    least, which = away, k
        if which < 0:
            break
        conditions.stops[watch.what[which, ONE], HOLDS] = 1
        pressed = 2.0 * RELEASE
    for s in range(stops.what.shape[0]):
        if conditions.stops[s, ASKED] != 0:
            conditions.stops[s, HOLDS] = 1


@inner
def leaving(s: int, model: Model, conditions: Conditions, scratch: Scratch) -> float:
    """The acceleration with which the coordinate of stop s leaves it, from the accelerations just
    computed."""
    loops, stops = model.tree.loops, model.stops
    row = loops.shape[0] - stops.what.shape[0] + s
    row_of_stop(row, s, model, conditions, scratch)
    a, b = loops[row, LOOP_BODY1], loops[row, LOOP_BODY2]
    change = row_response(row, a, b, scratch.rows, scratch.work)
    return stops.numbers[s, SIDE] * (change - scratch.rows[row, GAMMA])


@inner
def keep(watch: Watch, column: int) -> None:
    """Store the values just computed as those of the beginning (VALUE) or of the end (NOW) of a
    step."""
    values = watch.values
    for k in range(values.shape[0]):
        values[k, column] = values[k, TRIAL]
        values[k, GAP + 2 * column] = values[k, GAP + 2 * TRIAL]
        values[k, GAP + 2 * column + 1] = values[k, GAP + 2 * TRIAL + 1]


@inner
def go_on(watch: Watch) -> None:
    """Make the end of a step the beginning of the next."""
    values = watch.values
    for k in range(values.shape[0]):
        values[k, VALUE] = values[k, NOW]
        values[k, GAP] = values[k, GAP + 2]
        values[k, GAP + 1] = values[k, GAP + 3]
