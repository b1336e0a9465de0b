"""The adaptive integrator: steps with error control, projection onto constraints, events.

`advance` runs until Python must act: buffers are full, or the run is over or cannot go on; it
passes knots of schedules by itself."""

from __future__ import annotations

import math

import numpy as np

from quirkpy.kernels.act.wrenches import INTO, LOST
from quirkpy.kernels.base.arrays import COORDINATE_KIND
from quirkpy.kernels.base.compiled import inner, kernel, shared
from quirkpy.kernels.base.conditions import HOLDS, TIME, Conditions
from quirkpy.kernels.base.hook import FAILED
from quirkpy.kernels.base.states import STATE_WIDTH, tail_start
from quirkpy.kernels.place.kinematics import joint_angle
from quirkpy.kernels.step.charges import charge_motion, charge_way, end_step, is_overdrawn
from quirkpy.kernels.step.events import (
    JUST_CROSSED,
    NEVER,
    TOGETHER,
    locate,
    singular_pose,
)
from quirkpy.kernels.step.impacts import (
    AGAIN,
    CONTRADICTED,
    CONTRADICTORY,
    FIT,
    FUNCTION_NOTES,
    HELD,
    HELD_ON,
    NO_NUMBERS,
    POSE,
    STEP_NOTES,
    STRUCK,
    UNHELD,
    Rows,
    note,
    resolve_stops,
    settle_end,
    stop_against_drive,
    touch_stops,
)
from quirkpy.kernels.step.jumps import (
    remember_before,
    tell_jumps,
    watch_given,
    watch_switched,
)
from quirkpy.kernels.step.landing import LEAST_DIGITS, land, note_events
from quirkpy.kernels.step.ledger import energy_of, potential_of
from quirkpy.kernels.step.methods import EXTRA, Table
from quirkpy.kernels.step.projection import project
from quirkpy.kernels.step.ropes import begin_ropes, switch_ropes, turn_ropes
from quirkpy.kernels.step.steps import (
    ACROSS,
    ALLOWED,
    ANSWER,
    ASKED_UNTIL,
    BEGIN,
    BENDS,
    CHARGE,
    CROWDED,
    END,
    END_AT,
    END_SLOPE,
    ENDS,
    ENERGY,
    FIXED,
    H_MAX,
    HARSH,
    HEADED,
    JUMPED,
    NEAR,
    NOTED,
    PASSING,
    POTENTIAL,
    PROJECTING,
    RAW,
    REJECTIONS,
    ROOM,
    STEP,
    STEPS,
    T_END,
    TAKEN,
    WEAK,
    WEAK_ROW,
    WITHIN,
    H,
    Run,
    T,
    copy,
    error_of,
    finite,
    first_step,
    forget_misses,
    nearness,
    next_step,
    slope,
    take_stages,
)
from quirkpy.kernels.step.watch import (
    KIND,
    MEETING,
    NOW,
    VALUE,
    Watch,
    go_on,
    keep,
    watch_functions,
    watched_stops,
)
from quirkpy.kernels.tree.closure import CONTRADICTION, TARGET, WHICH
from quirkpy.kernels.tree.evaluation import joints_at, stand
from quirkpy.kernels.tree.model import Model, Scratch
from quirkpy.tables.tables import ANGLE

#: Rows that miss by no more than this, in what they ask of accelerations, do not contradict.
LEAST_DEMAND = 1e-9
#: A step that would leave less than this share of what is left of the run takes all of it [1].
LAST_SLIVER = 1e-12
#: Numbers are not finite for good where the step is below this share of the time, at least of 1 s
#: [1].
LOST_STEP = 1e-10
#: Why `advance` returned.
(
    GOING, ARRIVED, STOPPED, COLLAPSED, NOT_FINITE, PYTHON_FAILED, NO_START, JAMMED, UNHOLDABLE,
    DIVERGED, AT_POSE,
) = range(11)  # fmt: skip
#: What `take_in` says of a step that is to be taken anew.
REJECTED = -1
#: A start that misses the joints by more than this [m or rad], or slips by more [m/s or rad/s], is
#: projected first.
START_TOLERANCE = 1e-10
#: How far outside its range, relative to reach or alignment, a pair of sensors may begin and still
#: count as inside.
SENSOR_RIM = 1e-6
#: An impact as near as this to a singular pose is one in it.
STRUCK_NEAR = 1e-6
#: So many steps on end that events have cut to nothing, or that are rejected, are the last: nothing
#: will come of more.
TOO_MANY = 1000


@inner
def remember_angles(model: Model, conditions: Conditions, scratch: Scratch) -> None:
    """Store the angles of the state whose kinematics are in the scratch, as references for those of
    the next state."""
    joints, near = joints_at(model, conditions), conditions.near
    for c in range(near.shape[0]):
        if joints.coordinates[c, COORDINATE_KIND] == ANGLE:
            near[c] = joint_angle(c, joints, model.sites, scratch.frames)


@shared
def begin(
    run: Run, model: Model, conditions: Conditions, scratch: Scratch, table: Table, watch: Watch,
    rows: Rows,
) -> bool:  # fmt: skip
    """The state in BEGIN onto the constraints, its slope, the energy, the watched values; a row;
    the first step; returns whether the run is over: with an event as joints took hold.

    A start that is on them already is not touched by a bit: a run goes on where it stopped.
    counts[ANSWER]: FIT, or why it is no start: CONTRADICTED where the velocities are of no motion
    that the joints allow (in a singular pose rows that are no longer independent may contradict the
    others), or the number of a stop that a joint begins beyond."""
    clock, moved = run.clock, run.moved
    clock[POTENTIAL] = math.nan
    moved[:] = 0.0
    if clock[PROJECTING] > 0.0:
        copy(run.lines, BEGIN, WITHIN)
        conditions.control[TIME] = clock[T]
        project(run.states[WITHIN], model, conditions, scratch, moved)
        if max(moved[0], moved[1]) > START_TOLERANCE:
            charge_motion(BEGIN, WITHIN, LOST, run, model, scratch)
            watch_given(run, model, conditions, scratch, watch)
            copy(run.lines, WITHIN, BEGIN)
        else:
            moved[:] = 0.0
    begin_ropes(run, model, conditions, scratch, watch, rows)
    slope(clock[T], BEGIN, 0, run, model, conditions, scratch)
    possible = scratch.report[CONTRADICTION] <= max(
        LEAST_DEMAND, CONTRADICTORY * scratch.report[TARGET]
    )
    clock[NEAR] = nearness(True, run, scratch)
    clock[ENERGY] = energy_of(model, scratch)
    watch_functions(run.states[BEGIN], run.out, model, conditions, scratch, watch)
    watched_stops(clock[T], run.states[BEGIN], model, conditions, scratch, watch, run.out)
    keep(watch, VALUE)
    remember_angles(model, conditions, scratch)
    run.counts[ANSWER] = (
        touch_stops(run, model, conditions, scratch, watch, rows) if possible else CONTRADICTED
    )
    # A pair on the rim of its range is in it, until it has parted
    for k in range(watch.values.shape[0]):
        if watch.what[k, KIND] == MEETING and watch.values[k, VALUE] <= SENSOR_RIM:
            watch.values[k, VALUE] = min(watch.values[k, VALUE], -JUST_CROSSED)
    over = tell_jumps(clock[T], VALUE, run, rows, watch)
    fill_row(clock[T], BEGIN, run, conditions, rows)
    if clock[H] == 0.0 and run.counts[ANSWER] == FIT:
        clock[H] = first_step(run, model, conditions, scratch, table)
    return over


@shared
def attempt(
    clipped: bool, run: Run, model: Model, conditions: Conditions, scratch: Scratch, table: Table
) -> bool:
    """A step of clock[STEP] to RAW, and END on the constraints; chooses the next step; returns
    whether it is good."""
    clock = run.clock
    fixed, projecting = clock[FIXED] > 0.0, clock[PROJECTING] > 0.0 and scratch.rows.shape[0] > 0
    smooth = projecting and clock[NEAR] < WEAK
    while True:
        counts = take_stages(smooth, run, model, conditions, scratch, table)
        if smooth or not projecting or clock[PASSING] >= WEAK:
            break
        smooth = True  # once more, with every stage on the constraints
    if not counts:
        clock[H] = 0.5 * clock[STEP]
        return False
    if not fixed:
        error = error_of(False, run, model, conditions, scratch, table)
        if smooth and error >= 1.0 and math.isfinite(error):
            error = max(ACROSS * error, error_of(True, run, model, conditions, scratch, table))
        if not next_step(error, clipped, run, table):
            return False
    return end_step(run, model, conditions, scratch)


@inner
def fill_row(t: float, line: int, run: Run, conditions: Conditions, rows: Rows) -> None:
    """The state in a line as the next row."""
    row = run.counts[ROOM]
    rows.t[row] = t
    for i in range(rows.states.shape[1]):
        for k in range(STATE_WIDTH):
            rows.states[row, i, k] = run.states[line, i, k]
    first = tail_start(run.out.shape[0])
    for k in range(rows.tail.shape[1]):
        rows.tail[row, k] = run.lines[line, first + k]
    for j in range(rows.angles.shape[1]):
        rows.angles[row, j] = conditions.near[j]
    rows.drift[row, 0], rows.drift[row, 1] = run.moved[0], run.moved[1]
    for k in range(rows.held.shape[1]):
        rows.held[row, k] = conditions.stops[k, HOLDS] != 0
    run.counts[ROOM] += 1


@shared
def accept(
    t: float, run: Run, model: Model, conditions: Conditions, scratch: Scratch, table: Table,
    watch: Watch, rows: Rows,
) -> bool:  # fmt: skip
    """Finish the step that ends in END at the time t, or at the first event within it, and store it
    as a row.  Returns whether the run is over, with the reason in counts[ANSWER]: the number of a
    stop that contradicts a drive, UNHELD, NO_NUMBERS, STRUCK, or FIT; if nothing is stored and the
    step must be repeated it is AGAIN."""
    over, turned, first, x, weak, clock = False, False, NEVER, NEVER, 0, run.clock
    landed = math.inf
    near, harsh, taken, allowed = clock[NEAR], run.counts[HARSH], clock[TAKEN], clock[ALLOWED]
    noted, jumped = run.counts[NOTED], run.counts[JUMPED]
    if run.clock[PASSING] < WEAK and run.clock[PROJECTING] > 0.0:
        x = singular_pose(run, model, conditions, scratch, table, watch)
        weak = int(scratch.report[WHICH])
    settle_end(t, run, model, conditions, scratch, watch)
    charge_way(RAW, run, model, scratch)
    run.counts[ANSWER] = (
        UNHELD if is_overdrawn(run) else stop_against_drive(run, model, conditions, scratch)
    )
    if run.counts[ANSWER] != FIT:  # such an end is none
        return True
    if watch.values.shape[0] > 0:
        first = locate(run, model, conditions, scratch, table, watch)
    if first < 1.0:
        clock[TAKEN], clock[ALLOWED] = taken, allowed
        t = land(first, run, model, conditions, scratch, table, watch)
        if run.counts[ANSWER] == AGAIN:
            clock[NEAR], run.counts[HARSH] = near, harsh
            return True
        if clock[CHARGE] == 0.0:  # up to there it is no harsh one
            run.counts[HARSH] = 0
    if x < min(first, NEVER):  # a later one is met again in the next step
        note(clock[T] + x * clock[STEP], POSE, weak, run, rows)
    if clock[CHARGE] != 0.0:
        note(t, HELD if harsh == 0 else HELD_ON, int(clock[WEAK_ROW]), run, rows)
    if first < NEVER:
        landed = clock[NEAR] if clock[PROJECTING] > 0.0 else math.inf
        over = note_events(t, first, run, rows, watch)
        remember_before(NOW, watch)
        resolve_stops(t, first, run, model, conditions, scratch, watch, rows)
        turned = turn_ropes(t, first, run, model, conditions, scratch, watch, rows)
        over = tell_jumps(t, NOW, run, rows, watch) or over
        clock[POTENTIAL] = math.nan
    if not finite(run.lines, END):
        run.counts[NOTED], run.counts[JUMPED] = noted, jumped
        run.counts[ANSWER] = NO_NUMBERS
        return True
    stand(run.states[END], model, scratch)
    if conditions.hook[FAILED] == 0:
        go_on(watch)
        cut = first < NEVER and t - run.clock[T] < 2.0 * TOGETHER
        run.counts[CROWDED] = run.counts[CROWDED] + 1 if cut else 0
        remember_angles(model, conditions, scratch)
        fill_row(t, END, run, conditions, rows)
        copy(run.lines, END, BEGIN)
        copy(run.lines, END_SLOPE, 0)
        run.clock[T] = t
        run.counts[STEPS] += 1
        struck = run.counts[JUMPED] > jumped and run.counts[ANSWER] == FIT and not over
        if struck and landed < STRUCK_NEAR and model.modes.what.shape[0] == 0:
            run.counts[ANSWER] = STRUCK
        if turned and table.counts[EXTRA] >= 0 and clock[FIXED] == 0.0 and t < clock[T_END]:
            # what was a good step before a rope has turned need be none after it
            clock[H] = min(clock[H], first_step(run, model, conditions, scratch, table))
    return over or run.counts[ANSWER] != FIT


@kernel
def why_over(answer: int) -> int:
    """The return value of `advance` for a run that `accept` has ended."""
    if answer == FIT:
        return STOPPED
    if answer == NO_NUMBERS:
        return NOT_FINITE
    if answer == STRUCK:
        return AT_POSE
    return UNHOLDABLE if answer == UNHELD else JAMMED


@inner
def has_room(room: int, run: Run, rows: Rows, watch: Watch) -> bool:
    """Whether there is room for what a step may fill: a stop may let go at once; a pose may be
    singular, where joints take hold; velocities may jump."""
    counts, events = run.counts, watch.values.shape[0]
    return (
        counts[ROOM] < room
        and counts[NOTED] + FUNCTION_NOTES * events + STEP_NOTES <= rows.notes.shape[0]
        and counts[JUMPED] < rows.jumps.shape[0]
    )


@inner
def set_step(longest: float, rejected: int, run: Run) -> int:
    """The length of the next step; returns why there is none, or GOING."""
    clock = run.clock
    t, left = clock[T], clock[T_END] - clock[T]
    if left <= 0.0:
        return ARRIVED
    if not left < np.inf:  # a time that is none never ends
        return NOT_FINITE
    h = min(min(clock[H], min(clock[H_MAX], longest)), left)
    if left - h < LAST_SLIVER * left:
        h = left
    if not h >= LEAST_DIGITS * np.spacing(abs(t)) or rejected > TOO_MANY:
        return COLLAPSED
    clock[STEP] = h
    return GOING


@inner
def is_clipped(run: Run) -> bool:
    """Whether a step is shorter than it might be, for the run ends there."""
    left = run.clock[T_END] - run.clock[T]
    return run.clock[STEP] == left and left < run.clock[H]


@inner
def take_in(
    good: bool, run: Run, model: Model, conditions: Conditions, scratch: Scratch, table: Table,
    watch: Watch, rows: Rows,
) -> int:  # fmt: skip
    """What becomes of a step that was tried: why the run is over, GOING, or REJECTED."""
    clock, counts, t, h = run.clock, run.counts, run.clock[T], run.clock[STEP]
    if conditions.hook[FAILED] != 0:
        return PYTHON_FAILED
    if not finite(run.lines, RAW) and (clock[FIXED] > 0.0 or h < LOST_STEP * max(1.0, abs(t))):
        return NOT_FINITE
    over = False
    if good:
        end = clock[T_END] if h == clock[T_END] - t else t + h
        over = accept(end, run, model, conditions, scratch, table, watch, rows)
        if conditions.hook[FAILED] != 0:
            return PYTHON_FAILED
    if not good or (over and counts[ANSWER] == AGAIN):
        counts[REJECTIONS] += 1
        return REJECTED
    forget_misses(run)
    if over:
        return why_over(counts[ANSWER])
    return COLLAPSED if counts[CROWDED] > TOO_MANY else GOING


@shared
def march(
    room: int, run: Run, model: Model, conditions: Conditions, scratch: Scratch, table: Table,
    watch: Watch, rows: Rows,
) -> int:  # fmt: skip
    """Steps until T_END, a terminal event, a failure, or until `room` rows or the notes are full;
    returns why."""
    rejected, why = 0, GOING
    while why == GOING and has_room(room, run, rows, watch):
        why = set_step(np.inf, rejected, run)
        if why != GOING:
            return why
        good = attempt(is_clipped(run), run, model, conditions, scratch, table)
        why = take_in(good, run, model, conditions, scratch, table, watch, rows)
        rejected = rejected + 1 if why == REJECTED else 0
        why = GOING if why == REJECTED else why
    return ARRIVED if why == GOING and run.clock[T] >= run.clock[T_END] else why


@kernel
def head_on(run: Run) -> bool:
    """Head for the next of the known ends of steps; returns whether there is one.

    As far as that, what acts after it is not asked for, if loads bend there."""
    clock, counts = run.clock, run.counts
    if counts[HEADED] >= counts[ENDS]:
        return False
    end, bends = run.ends[counts[HEADED], END_AT], run.ends[counts[HEADED], BENDS] != 0.0
    counts[HEADED] += 1
    clock[T_END], clock[ASKED_UNTIL] = end, np.inf
    if bends and end > clock[T]:
        clock[ASKED_UNTIL] = np.nextafter(end, -np.inf)
    if end - clock[T] < LEAST_DIGITS * np.spacing(abs(end)):  # no step is as short
        clock[T] = end
    return True


@shared
def set_out(
    run: Run, model: Model, conditions: Conditions, scratch: Scratch, table: Table, watch: Watch,
    rows: Rows,
) -> int:  # fmt: skip
    """The start on its joints, as the first row; returns why that is all, or GOING."""
    over = begin(run, model, conditions, scratch, table, watch, rows)
    if conditions.hook[FAILED] != 0:
        return PYTHON_FAILED
    if run.counts[ANSWER] != FIT:
        return NO_START
    return STOPPED if over else GOING


@inner
def look_anew(run: Run) -> None:
    """Rows, notes and jumps that are told from now on are the first."""
    run.counts[ROOM], run.counts[NOTED], run.counts[JUMPED] = 0, 0, 0


@shared
def pass_knot(
    run: Run, model: Model, conditions: Conditions, scratch: Scratch, watch: Watch, rows: Rows
) -> bool:
    """Switch to the loads after a knot of a schedule at which a step has ended; returns whether an
    event at this jump ends the run.

    The change of the potential energy by the jump of a load, at a fixed state, is work, also in the
    row that has just been stored."""
    clock, n = run.clock, model.bodies.shape[0]
    if math.isnan(clock[POTENTIAL]):
        slope(clock[T], BEGIN, 0, run, model, conditions, scratch)
        clock[POTENTIAL] = potential_of(scratch)
    clock[ASKED_UNTIL] = np.inf
    switch_ropes(run, model, conditions, scratch, watch, rows)
    slope(clock[T], BEGIN, 0, run, model, conditions, scratch)
    work = potential_of(scratch) - clock[POTENTIAL]
    clock[POTENTIAL] += work  # the next knot may be nearer than any step is short
    run.states[BEGIN, n, INTO] += work
    if run.counts[ROOM] > 0:
        rows.states[run.counts[ROOM] - 1, n, INTO] += work
    return watch_switched(run, model, conditions, scratch, rows, watch)


@kernel
def pass_end(
    run: Run, model: Model, conditions: Conditions, scratch: Scratch, watch: Watch, rows: Rows
) -> int:
    """Go on where a step has ended at a time at which it was to; returns GOING, or why not: ARRIVED
    at the last that is known."""
    if run.clock[ASKED_UNTIL] < run.clock[T_END]:
        over = pass_knot(run, model, conditions, scratch, watch, rows)
        if conditions.hook[FAILED] != 0:
            return PYTHON_FAILED
        if over:
            return STOPPED
    return GOING if head_on(run) else ARRIVED


@kernel
def advance(
    run: Run,
    model: Model,
    conditions: Conditions,
    scratch: Scratch,
    table: Table,
    watch: Watch,
    rows: Rows,
    fresh: bool,
    room: int,
) -> int:
    """Steps until the last of the known ends, past knots of schedules, until a terminal event, a
    failure, or until `room` rows or the notes are full; returns why.

    fresh: the run begins, and the start is the first row.
    """
    look_anew(run)
    if run.counts[HEADED] == 0:
        head_on(run)
    why = GOING
    if fresh:
        why = set_out(run, model, conditions, scratch, table, watch, rows)
    while why == GOING:
        why = march(room, run, model, conditions, scratch, table, watch, rows)
        if why != ARRIVED:
            return why
        why = pass_end(run, model, conditions, scratch, watch, rows)
    return why
