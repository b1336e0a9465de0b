"""Where a step ends at the first event within it: the state there, and what happened."""

from __future__ import annotations

import math

import numpy as np

from quirkpy.kernels.act.wrenches import PROJECTED
from quirkpy.kernels.base.compiled import inner
from quirkpy.kernels.base.conditions import TIME, Conditions
from quirkpy.kernels.step.charges import charge_motion, charge_way
from quirkpy.kernels.step.events import JUST_CROSSED, NEVER, TOGETHER, crosses
from quirkpy.kernels.step.impacts import AGAIN, CROSSED, Rows, is_just_left, note, settle_end
from quirkpy.kernels.step.ledger import hold_momentum
from quirkpy.kernels.step.methods import EXTRA, Table
from quirkpy.kernels.step.projection import project
from quirkpy.kernels.step.steps import (
    ANSWER,
    END,
    FIXED,
    PROJECTING,
    REFUSED,
    STEP,
    T_END,
    WITHIN,
    H,
    Run,
    T,
    copy,
    has_missed,
    interpolate,
)
from quirkpy.kernels.step.watch import (
    DIRECTION,
    KIND,
    NOW,
    OWN_FUNCTIONS,
    ROOT,
    TERMINAL,
    VALUE,
    Watch,
)
from quirkpy.kernels.tree.model import Model, Scratch

#: No step is so few of the last digits of the time; where no more are left, a time is reached.
LEAST_DIGITS = 16.0
#: Where an event lies before this fraction of a step of a loop, a shorter one is taken.
CUT_SHORT = 0.1
#: By this factor a step is shorter where the polynomial of the one before has been too coarse.
SHARPER = 0.1
#: Beyond this fraction of an implicit step its polynomial is as good as its end.
NEARLY = 0.99


@inner
def is_cut_short(first: float, run: Run, model: Model, scratch: Scratch, table: Table) -> bool:
    """Whether an event lies so early in a step of a loop that the interpolated state is inaccurate:
    what happens far beyond the event also bends the polynomial before it.  That of an implicit step
    is of third order, and accurate at its very end alone."""
    clock = run.clock
    if table.counts[EXTRA] < 0:
        return first < NEARLY and first * clock[STEP] > 2.0 * TOGETHER
    if clock[FIXED] > 0.0 or clock[PROJECTING] == 0.0:
        return False
    loops = scratch.rows.shape[0] > model.stops.what.shape[0]
    return loops and first < CUT_SHORT and first * clock[STEP] > 2.0 * TOGETHER


@inner
def is_blurred(first: float, run: Run, model: Model, table: Table, watch: Watch) -> bool:
    """Whether a stop that has just been left is reached again so early in an implicit step that its
    polynomial, which begins with a slope of its own, cannot tell."""
    clock = run.clock
    early = first * clock[STEP] <= 2.0 * TOGETHER < 0.5 * clock[STEP]
    again = False
    for k in range(watch.values.shape[0]):
        again = again or is_just_left(k, first, model, watch)
    return again and early and table.counts[EXTRA] < 0 and clock[FIXED] == 0.0


@inner
def refuse_landing(share: float, run: Run) -> None:
    """Demand that the step is repeated with this share of its length."""
    run.clock[H], run.clock[REFUSED] = share * run.clock[STEP], 1.0
    run.counts[ANSWER] = AGAIN


@inner
def land(
    first: float, run: Run, model: Model, conditions: Conditions, scratch: Scratch, table: Table,
    watch: Watch,
) -> float:  # fmt: skip
    """Make the state at the first event the END of the step; returns its time.

    counts[ANSWER] is AGAIN where that misses the joints by so much that it is none, or lies early
    in a step of a loop: a step that ends about there is to be taken instead. (One that somebody
    else has taken, or of a fixed length, cannot be.)
    """
    clock, t = run.clock, run.clock[T] + first * run.clock[STEP]
    if clock[T_END] - t < LEAST_DIGITS * np.spacing(abs(t)):
        t = clock[T_END]
    if first < 1.0:
        if is_cut_short(first, run, model, scratch, table):
            refuse_landing(1.001 * first, run)
            return t
        if is_blurred(first, run, model, table, watch):
            refuse_landing(SHARPER, run)
            return t
        interpolate(first, run, table)
        copy(run.lines, WITHIN, END)
        if clock[PROJECTING] > 0.0:
            conditions.control[TIME] = t
            project(run.states[END], model, conditions, scratch, run.moved)
            hold_momentum(run.states[WITHIN], run.states[END], model, scratch)
            charge_motion(WITHIN, END, PROJECTED, run, model, scratch)
            if table.counts[EXTRA] >= 0 and has_missed(WITHIN, run):
                refuse_landing(1.001 * first if first < 0.9 else 0.5, run)
                return t
        settle_end(t, run, model, conditions, scratch, watch)
        charge_way(WITHIN, run, model, scratch)
    return t


@inner
def note_events(t: float, first: float, run: Run, rows: Rows, watch: Watch) -> bool:
    """Note what happened at the END of the step; returns whether any of it ends the run.

    Together with the first event happens what crosses within TOGETHER of it, and what has crossed
    by the rounding of the landing."""
    values, over = watch.values, False
    for k in range(values.shape[0]):
        with_it = (values[k, ROOT] - first) * run.clock[STEP] <= TOGETHER and values[
            k, ROOT
        ] < NEVER
        if with_it or crosses(values[k, VALUE], values[k, NOW], watch.what[k, DIRECTION]):
            values[k, NOW] = -math.copysign(JUST_CROSSED, values[k, VALUE])
            values[k, ROOT] = first
            if watch.what[k, KIND] not in OWN_FUNCTIONS:  # noted when it is clear what they do
                note(t, CROSSED, k, run, rows)
            over = over or watch.what[k, TERMINAL] != 0
    return over
