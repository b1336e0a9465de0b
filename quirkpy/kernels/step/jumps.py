"""Watched functions whose values jump, where velocities or loads do: an event may happen between
two states of one time."""

from __future__ import annotations

import math

from quirkpy.kernels.base.compiled import inner
from quirkpy.kernels.base.conditions import Conditions
from quirkpy.kernels.step.events import GRAZE, JUST_CROSSED, crosses
from quirkpy.kernels.step.impacts import CROSSED, Rows, note
from quirkpy.kernels.step.steps import BEGIN, Run, T, slope
from quirkpy.kernels.step.watch import (
    BEFORE,
    DIRECTION,
    GAP,
    KIND,
    MEETING,
    OWN_FUNCTIONS,
    REST,
    STOP,
    TERMINAL,
    TRIAL,
    VALUE,
    Watch,
    watch_functions,
)
from quirkpy.kernels.tree.model import Model, Scratch


@inner
def remember_before(column: int, watch: Watch) -> None:
    """The values in a column as those before a jump."""
    for k in range(watch.values.shape[0]):
        watch.values[k, BEFORE] = watch.values[k, column]


@inner
def tell_jumps(t: float, column: int, run: Run, rows: Rows, watch: Watch) -> bool:
    """Note what a jump, from BEFORE to a column, has carried across zero; returns whether any of it
    ends the run.

    What has changed by no more than rounding stays on the side where it was: it crosses in the next
    step, if it does.  Stops are asked elsewhere, and 0 before says that nothing is known."""
    values, over = watch.values, False
    for k in range(values.shape[0]):
        before, after = values[k, BEFORE], values[k, column]
        values[k, BEFORE] = 0.0
        if watch.what[k, KIND] in OWN_FUNCTIONS or not crosses(before, after, 0):
            continue
        if abs(after - before) <= GRAZE:
            values[k, column] = math.copysign(JUST_CROSSED, before)
        elif crosses(before, after, watch.what[k, DIRECTION]):
            note(t, CROSSED, k, run, rows)
            over = over or watch.what[k, TERMINAL] != 0
    return over


@inner
def watch_given(
    run: Run, model: Model, conditions: Conditions, scratch: Scratch, watch: Watch
) -> None:
    """The values at a start as it is given, of which joints take hold, as those before that, where
    none are known.  Rest is asked of the start by itself; sensors that meet there, have met."""
    if watch.values.shape[0] == 0:
        return
    slope(run.clock[T], BEGIN, 0, run, model, conditions, scratch)
    watch_functions(run.states[BEGIN], run.out, model, conditions, scratch, watch)
    for k in range(watch.values.shape[0]):
        kind = watch.what[k, KIND]
        known = kind in OWN_FUNCTIONS or kind == REST or kind == MEETING
        if not known and watch.values[k, BEFORE] == 0.0:
            watch.values[k, BEFORE] = watch.values[k, TRIAL]


@inner
def watch_switched(
    run: Run, model: Model, conditions: Conditions, scratch: Scratch, rows: Rows, watch: Watch
) -> bool:
    """The values where loads have just jumped, and the slope is known; whether that ends the run.
    Places are as they were: what stops and sensors say stays."""
    remember_before(VALUE, watch)
    watch_functions(run.states[BEGIN], run.out, model, conditions, scratch, watch)
    for k in range(watch.values.shape[0]):
        if watch.what[k, KIND] != STOP and watch.what[k, KIND] != MEETING:
            watch.values[k, VALUE] = watch.values[k, TRIAL]
            watch.values[k, GAP] = watch.values[k, GAP + 2 * TRIAL]
            watch.values[k, GAP + 1] = watch.values[k, GAP + 2 * TRIAL + 1]
    return tell_jumps(run.clock[T], VALUE, run, rows, watch)
