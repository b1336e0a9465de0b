"""The adaptive integrator: steps with error control, back onto the constraints, events.

`advance` runs until there is something for Python to do: buffers are full, the run is over, or cannot go on.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from quirkpy.kernels.arrays import COORDINATE_KIND, STATE_WIDTH
from quirkpy.kernels.closure import CONTRADICTION, RUNNING_PIVOT, TARGET, WHICH
from quirkpy.kernels.compiled import inlined, inner, kernel
from quirkpy.kernels.evaluation import Model, Scratch, solve
from quirkpy.kernels.events import JUST_CROSSED, NEVER, TOGETHER, crosses, locate, singular_pose
from quirkpy.kernels.hook import FAILED
from quirkpy.kernels.kinematics import fill_frames, joint_coordinate
from quirkpy.kernels.ledger import energy_of, hold_momentum, motion_energy, restore_energy
from quirkpy.kernels.loads import OUT
from quirkpy.kernels.methods import Table
from quirkpy.kernels.projection import CORRECTION_PIVOT, change_velocities, project
from quirkpy.kernels.steps import (
    ACROSS,
    BEGIN,
    CONSERVING,
    END,
    END_SLOPE,
    ENERGY,
    FIXED,
    H_MAX,
    LEAP,
    NEAR,
    NOTED,
    PASSING,
    PROJECTING,
    RANK,
    RAW,
    REJECTIONS,
    ROOM,
    SMALL,
    STEP,
    STEPS,
    T_END,
    WEAK,
    WITHIN,
    H,
    Run,
    T,
    copy,
    error_of,
    finite,
    first_step,
    interpolate,
    nearness,
    next_step,
    slope,
    take_stages,
    unit_quaternions,
)
from quirkpy.kernels.stops import (
    BEYOND,
    BOUNCE,
    HOLDS,
    RELEASE,
    RESTITUTION,
    SETTLE,
    SIDE,
    TOUCHING,
    clearance,
    solved,
    stop_row,
)
from quirkpy.kernels.tree import LOOP_BODY1, LOOP_BODY2
from quirkpy.kernels.watch import (
    DIRECTION,
    GAP,
    KIND,
    MEETING,
    NOW,
    ONE,
    ROOT,
    STOP,
    TERMINAL,
    VALUE,
    Watch,
    go_on,
    keep,
    watched,
    watched_stops,
)
from quirkpy.parts.checks import Bools, Floats
from quirkpy.tables.tables import ANGLE

#: Why `advance` returned.
GOING, ARRIVED, STOPPED, COLLAPSED, NOT_FINITE, PYTHON_FAILED = range(6)
#: What `begin` says of a start that is one, and of one whose velocities contradict a loop.
FIT, CONTRADICTED = -1, -2
#: A start that misses the joints by more than this [m or rad], or slips by more [m/s or rad/s], is projected first.
START_TOLERANCE = 1e-10
#: How far outside its range, relative to reach or alignment, a pair of sensors may begin and still count as inside.
RIM = 1e-6
#: Redundant rows that ask for something else than the others, by this share of the largest demand, contradict them.
CONTRADICTORY = 1e-4
# Columns of Rows.notes: time; number of the watched function, or -1 - closing row (see `note`);
# whether a stop was released.
NOTE_TIME, NOTE_WHICH, NOTE_RELEASED, NOTE_WIDTH = range(4)


class Rows(NamedTuple):
    """What a run fills, a row a step: times, states, angles, drift removed (displacement, change of velocity), which
    stops hold; and notes of events."""

    t: Floats
    states: Floats
    angles: Floats
    drift: Floats
    held: Bools
    notes: Floats


@inner
def remember_angles(model: Model, scratch: Scratch) -> None:
    """The angles of the state whose kinematics are in the scratch, so that the next are taken next to them."""
    joints = model.joints
    for j in range(joints.near.shape[0]):
        if joints.ends[j, COORDINATE_KIND] == ANGLE:
            joints.near[j], _ = joint_coordinate(j, joints, model.sites, scratch.frames)


@inlined
def touch_stops(run: Run, model: Model, scratch: Scratch, watch: Watch, rows: Rows) -> int:
    """Let joints that begin at rest at their stops be held there, if they are pressed on; FIT, or the number of a stop
    that a joint begins beyond."""
    stops, values, touching, t = model.stops, watch.values, False, run.clock[T]
    for k in range(values.shape[0]):
        if watch.what[k, KIND] == STOP and stops.what[watch.what[k, ONE], HOLDS] == 0:
            s = watch.what[k, ONE]
            free, rate = values[k, GAP], values[k, GAP + 1]
            if free < -BEYOND:
                return s
            if free <= TOUCHING:
                values[k, VALUE] = max(values[k, VALUE], JUST_CROSSED)
                if abs(rate) <= stops.numbers[s, SETTLE]:
                    stops.what[s, HOLDS] = 1
                    touching = True
    if touching:
        copy(run.lines, BEGIN, END)
        settle_end(t, run, model, scratch, watch)
        let_go_of_unpressed(t, False, run, model, scratch, watch, rows)
        copy(run.lines, END_SLOPE, 0)
        go_on(watch)
    return FIT


@kernel
def begin(run: Run, model: Model, scratch: Scratch, watch: Watch, rows: Rows) -> int:
    """The state in BEGIN onto the constraints, its slope, the energy, the first step, and the watched values.

    A start that is on them already is not touched by a bit: a run goes on where it stopped.  Returns FIT, or why it
    is no start: CONTRADICTED where the velocities are of no motion that the joints allow (in a singular pose rows that
    are no longer independent may contradict the others), or the number of a stop that a joint begins beyond.
    """
    clock, moved = run.clock, run.moved
    moved[:] = 0.0
    if clock[PROJECTING] > 0.0:
        copy(run.lines, BEGIN, WITHIN)
        project(run.states[WITHIN], model, scratch, moved)
        if max(moved[0], moved[1]) > START_TOLERANCE:
            copy(run.lines, WITHIN, BEGIN)
        else:
            moved[:] = 0.0
    slope(clock[T], BEGIN, 0, run, model, scratch)
    possible = scratch.report[CONTRADICTION] <= max(1e-9, CONTRADICTORY * scratch.report[TARGET])
    clock[NEAR] = nearness(run, scratch)
    clock[ENERGY] = energy_of(model, scratch)
    if clock[H] == 0.0:
        clock[H] = first_step(run)
    watched(run.states[BEGIN], run.out, model, scratch, watch)
    watched_stops(clock[T], run.states[BEGIN], model, scratch, watch, run.out)
    keep(watch, VALUE)
    remember_angles(model, scratch)
    for k in range(watch.values.shape[0]):  # a pair on the rim of its range is in it, until it has parted
        if watch.what[k, KIND] == MEETING and watch.values[k, VALUE] <= RIM:
            watch.values[k, VALUE] = min(watch.values[k, VALUE], -JUST_CROSSED)
    if not possible:
        return CONTRADICTED
    return touch_stops(run, model, scratch, watch, rows)


@inner
def note(t: float, what: int, released: bool, run: Run, rows: Rows) -> None:
    """Note an event: a watched function (a stop may have let go), or -1 - the closing row that is weakest in a singular
    pose."""
    at = run.counts[NOTED]
    rows.notes[at, NOTE_TIME], rows.notes[at, NOTE_WHICH] = t, what
    rows.notes[at, NOTE_RELEASED] = 1.0 if released else 0.0
    run.counts[NOTED] += 1


@inlined
def attempt(clipped: bool, run: Run, model: Model, scratch: Scratch, table: Table) -> bool:
    """A step of clock[STEP] to RAW, and END on the constraints; chooses the next step; returns whether it is good."""
    clock = run.clock
    fixed, projecting = clock[FIXED] > 0.0, clock[PROJECTING] > 0.0 and scratch.rows.shape[0] > 0
    smooth = projecting and clock[NEAR] < WEAK
    nearest = -1.0
    while True:
        nearest = take_stages(smooth, run, model, scratch, table)
        if smooth or not projecting or nearest >= WEAK:
            break
        smooth = True  # once more, with every stage on the constraints
    if nearest < 0.0:
        clock[H] = 0.5 * clock[STEP]
        return fixed
    clock[PASSING] = nearest
    if not fixed:
        error = error_of(False, run, model, scratch, table)
        if smooth and error >= 1.0 and math.isfinite(error):
            error = max(ACROSS * error, error_of(True, run, model, scratch, table))
        if not next_step(error, clipped, run, table):
            return False
    put_back(run, model, scratch)
    if clock[PROJECTING] > 0.0:
        if not fixed and scratch.rows.shape[0] > 0 and run.moved[0] > LEAP * math.sqrt(max(nearest, RUNNING_PIVOT)):
            clock[H] = 0.5 * clock[STEP]
            return False
        if run.moved[0] > 0.0:
            hold_momentum(run.states[RAW], run.states[END], model, scratch)
    return True


@inner
def put_back(run: Run, model: Model, scratch: Scratch) -> None:
    """END: what RAW is with unit quaternions, on the constraints where the run keeps to them."""
    copy(run.lines, RAW, END)
    unit_quaternions(run.states[END])
    if run.clock[PROJECTING] > 0.0:
        project(run.states[END], model, scratch, run.moved)


@inlined
def settle_end(t: float, run: Run, model: Model, scratch: Scratch, watch: Watch) -> None:
    """Slope, energy and watched values of the state in END."""
    slope(t, END, END_SLOPE, run, model, scratch)
    if run.clock[CONSERVING] > 0.0 and restore_energy(run.states[END], run.clock[ENERGY], model, scratch):
        slope(t, END, END_SLOPE, run, model, scratch)
    run.clock[NEAR] = nearness(run, scratch)
    watched(run.states[END], run.out, model, scratch, watch)
    watched_stops(t, run.states[END], model, scratch, watch, run.out)
    keep(watch, NOW)


@inlined
def land(first: float, run: Run, model: Model, scratch: Scratch, table: Table, watch: Watch) -> float:
    """Make the state at the first event the END of the step; returns its time."""
    clock, t = run.clock, run.clock[T] + first * run.clock[STEP]
    if first < 1.0:
        interpolate(first, run, table)
        copy(run.lines, WITHIN, END)
        if clock[PROJECTING] > 0.0:
            project(run.states[END], model, scratch, run.moved)
            hold_momentum(run.states[WITHIN], run.states[END], model, scratch)
        settle_end(t, run, model, scratch, watch)
    return t


@inner
def note_events(t: float, first: float, run: Run, rows: Rows, watch: Watch) -> bool:
    """Note what happened at the END of the step; returns whether any of it ends the run.

    Together with the first event happens what crosses within TOGETHER of it, and what has crossed by the rounding of
    the landing.
    """
    values, over = watch.values, False
    for k in range(values.shape[0]):
        with_it = (values[k, ROOT] - first) * run.clock[STEP] <= TOGETHER and values[k, ROOT] < NEVER
        if with_it or crosses(values[k, VALUE], values[k, NOW], watch.what[k, DIRECTION]):
            values[k, NOW] = -math.copysign(JUST_CROSSED, values[k, VALUE])
            values[k, ROOT] = first
            if watch.what[k, KIND] != STOP:  # those are noted when it is clear what they do
                note(t, k, False, run, rows)
            over = over or watch.what[k, TERMINAL] != 0
    return over


@inlined
def resolve_stops(
    t: float, first: float, run: Run, model: Model, scratch: Scratch, watch: Watch, rows: Rows
) -> None:  # fmt: skip
    """What stops do that have been reached, or no longer pressed on, at the END of the step."""
    stops, values, y, struck, slack = model.stops, watch.values, run.states[END], False, False
    fill_frames(y, scratch.frames)
    for k in range(values.shape[0]):
        if watch.what[k, KIND] == STOP and values[k, ROOT] == first:
            s = watch.what[k, ONE]
            if stops.what[s, HOLDS] != 0:
                slack = True
                continue
            _, rate = clearance(s, stops, model.joints, model.sites, scratch.frames)
            bounce = stops.numbers[s, RESTITUTION]
            stops.numbers[s, BOUNCE] = bounce if -bounce * rate > stops.numbers[s, SETTLE] else 0.0
            stops.what[s, HOLDS] = 1
            struck = True
            note(t, k, False, run, rows)
    if struck:
        before = motion_energy(model, scratch)
        let_go_of_pulled(t, run, model, scratch, watch, rows)
        solve(model, scratch, 0.0, 0.0, 1.0, CORRECTION_PIVOT)
        change_velocities(y, model, scratch)
        fill_frames(y, scratch.frames)
        y[y.shape[0] - 1, OUT] += before - motion_energy(model, scratch)
        for s in range(stops.what.shape[0]):
            if stops.numbers[s, BOUNCE] > 0.0:
                stops.what[s, HOLDS], stops.numbers[s, BOUNCE] = 0, 0.0
    if struck or slack:
        run.clock[RANK] = 0.0
        settle_end(t, run, model, scratch, watch)
        let_go_of_unpressed(t, True, run, model, scratch, watch, rows)


@inlined
def let_go_of_pulled(t: float, run: Run, model: Model, scratch: Scratch, watch: Watch, rows: Rows) -> None:
    """Of the stops that hold during an impact, release those that would have to pull: without them they part."""
    stops, loops = model.stops, model.tree.loops
    first = loops.shape[0] - stops.what.shape[0]
    scratch.wrench[:] = 0.0
    for k in range(watch.values.shape[0]):
        s = watch.what[k, ONE] if watch.what[k, KIND] == STOP else -1
        if s >= 0 and stops.what[s, HOLDS] != 0 and stops.numbers[s, BOUNCE] == 0.0:
            row = first + s
            stops.what[s, HOLDS] = 0
            solve(model, scratch, 0.0, 0.0, 1.0, CORRECTION_PIVOT)
            stop_row(row, s, stops, model.joints, model.sites, scratch.frames, scratch.rows)
            change = solved(row, loops[row, LOOP_BODY1], loops[row, LOOP_BODY2], scratch.rows, scratch.work)
            _, rate = clearance(s, stops, model.joints, model.sites, scratch.frames)
            if rate + stops.numbers[s, SIDE] * change <= stops.numbers[s, SETTLE]:
                stops.what[s, HOLDS] = 1
            else:
                note(t, k, True, run, rows)


@inlined
def let_go_of_unpressed(
    t: float, noting: bool, run: Run, model: Model, scratch: Scratch, watch: Watch, rows: Rows
) -> None:  # fmt: skip
    """Release the stops on which nothing presses, the least pressed first, until all that hold are pressed on; a free
    one at its bound counts as just left."""
    stops, values = model.stops, watch.values
    for _ in range(values.shape[0]):
        least, which = RELEASE, -1
        for k in range(values.shape[0]):
            holds = watch.what[k, KIND] == STOP and stops.what[watch.what[k, ONE], HOLDS] != 0
            if holds and values[k, NOW] <= least:
                least, which = values[k, NOW], k
        if which < 0:
            break
        stops.what[watch.what[which, ONE], HOLDS] = 0
        if noting:
            note(t, which, True, run, rows)
        run.clock[RANK] = 0.0
        settle_end(t, run, model, scratch, watch)
    for k in range(values.shape[0]):
        free = watch.what[k, KIND] == STOP and stops.what[watch.what[k, ONE], HOLDS] == 0
        if free and values[k, NOW] <= TOUCHING:
            values[k, NOW] = max(values[k, NOW], JUST_CROSSED)


@inner
def store(t: float, run: Run, model: Model, rows: Rows) -> None:
    """The END of the step as a row, and as the beginning of the next."""
    row, lines = run.counts[ROOM], run.lines
    rows.t[row] = t
    for i in range(rows.states.shape[1]):
        for k in range(STATE_WIDTH):
            rows.states[row, i, k] = run.states[END, i, k]
    for j in range(rows.angles.shape[1]):
        rows.angles[row, j] = model.joints.near[j]
    rows.drift[row, 0], rows.drift[row, 1] = run.moved[0], run.moved[1]
    for k in range(rows.held.shape[1]):
        rows.held[row, k] = model.stops.what[k, HOLDS] != 0
    copy(lines, END, BEGIN)
    copy(lines, END_SLOPE, 0)
    run.clock[T] = t
    run.counts[ROOM] += 1
    run.counts[STEPS] += 1


@kernel
def accept(t: float, run: Run, model: Model, scratch: Scratch, table: Table, watch: Watch, rows: Rows) -> bool:
    """Finish the step that ends in END at the time t, or at the first event within it, and keep it as a row; returns
    whether the run is over."""
    over = False
    if run.clock[PASSING] < WEAK and run.clock[PROJECTING] > 0.0:
        x = singular_pose(run, model, scratch, table, watch)
        if x < NEVER:
            note(run.clock[T] + x * run.clock[STEP], -1 - int(scratch.report[WHICH]), False, run, rows)
    settle_end(t, run, model, scratch, watch)
    if watch.values.shape[0] > 0:
        first = locate(run, model, scratch, table, watch)
        if first < NEVER:
            t = land(first, run, model, scratch, table, watch) if first < 1.0 else t
            over = note_events(t, first, run, rows, watch)
            resolve_stops(t, first, run, model, scratch, watch, rows)
        fill_frames(run.states[END], scratch.frames)
    if model.hook[FAILED] == 0:
        go_on(watch)
        remember_angles(model, scratch)
        store(t, run, model, rows)
    return over


@kernel
def advance(run: Run, model: Model, scratch: Scratch, table: Table, watch: Watch, rows: Rows, room: int) -> int:
    """Steps until the end, a terminal event, a failure, or until `room` rows or the notes are full; returns why."""
    clock, counts = run.clock, run.counts
    events = watch.values.shape[0]
    counts[ROOM], counts[NOTED] = 0, 0
    while counts[ROOM] < room and counts[NOTED] + 2 * events < rows.notes.shape[0]:  # a stop may let go at once
        t, left = clock[T], clock[T_END] - clock[T]
        if left <= 0.0:
            return ARRIVED
        h = min(min(clock[H], clock[H_MAX]), left)
        clipped = h == left and left < clock[H]
        if left - h < 1e-12 * left:
            h = left
        if h < 16.0 * np.spacing(abs(t)):
            return COLLAPSED
        clock[STEP] = h
        good = attempt(clipped, run, model, scratch, table)
        if model.hook[FAILED] != 0:
            return PYTHON_FAILED
        if not finite(run.lines, RAW) and (clock[FIXED] > 0.0 or h < 1e-10 * max(1.0, abs(t))):
            return NOT_FINITE
        if not good:
            counts[REJECTIONS] += 1
            continue
        over = accept(clock[T_END] if h == left else t + h, run, model, scratch, table, watch, rows)
        if model.hook[FAILED] != 0:
            return PYTHON_FAILED
        if over:
            return STOPPED
    return GOING


@kernel
def finish(t: float, run: Run, model: Model, scratch: Scratch, table: Table, watch: Watch, rows: Rows) -> bool:
    """Finish a step that somebody else has taken from BEGIN to RAW at the time t; returns whether the run is over."""
    run.clock[PASSING] = 1.0
    put_back(run, model, scratch)
    return accept(t, run, model, scratch, table, watch, rows)


@kernel
def slope_within(t: float, run: Run, model: Model, scratch: Scratch) -> None:
    """The slope of the state in WITHIN, into SMALL."""
    slope(t, WITHIN, SMALL, run, model, scratch)
