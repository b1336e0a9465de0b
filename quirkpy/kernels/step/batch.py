"""Many runs of one selection in one call.

The steps of a run are those of `advance`, bit for bit; this module begins a run, passes knots of
schedules, and ends it, as the driver of a single run does."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from quirkpy.kernels.act.wrenches import LOST
from quirkpy.kernels.base.compiled import inner, side_by_side
from quirkpy.kernels.base.conditions import HOLDS, Conditions
from quirkpy.kernels.base.hook import FAILED
from quirkpy.kernels.base.states import STATE_WIDTH, V, tail_start
from quirkpy.kernels.step.impacts import CROSSED, JUMP, NOTE_WIDTH, Rows
from quirkpy.kernels.step.integrator import (
    ARRIVED,
    DIVERGED,
    GOING,
    NO_START,
    PYTHON_FAILED,
    STOPPED,
    advance,
    remember_angles,
)
from quirkpy.kernels.step.landing import LEAST_DIGITS
from quirkpy.kernels.step.methods import Table
from quirkpy.kernels.step.projection import move_on, project
from quirkpy.kernels.step.sampling import Board, advance_sampled, begin_board
from quirkpy.kernels.step.steps import (
    BEGIN,
    BENDS,
    BENT,
    COUNTS_WIDTH,
    END_AT,
    ENDS,
    FIXED,
    HEADED,
    NOTED,
    REFUSED,
    ROOM,
    SMOOTH,
    STEPS,
    T_END,
    WITHIN,
    H,
    Run,
    T,
)
from quirkpy.kernels.step.watch import KIND, REST, TERMINAL, VALUE, Watch
from quirkpy.kernels.tree.closure import COUNTED, WEAKEST, WHICH
from quirkpy.kernels.tree.evaluation import evaluate, stand
from quirkpy.kernels.tree.model import Model, Scratch
from quirkpy.maths.types import Floats, Ints

# Why a run ended, beside what `advance` says, in the last of its counts: its steps were all taken;
# nobody has flown it yet.
OUT_OF_STEPS, NOT_FLOWN = DIVERGED + 1, -1
WHY, BATCH_COUNTS = COUNTS_WIDTH, COUNTS_WIDTH + 1
# What happened, beside what runs note: joints took hold of the start; it rests where branches meet.
TOOK, BRANCHES = JUMP + 1, JUMP + 2
#: Columns of RunTable.notes: the number of the run, and then those of a note.
BATCH_NOTE = 1 + NOTE_WIDTH
# Columns of the desk: the run at work, and the first that is not to be flown; whether that at work
# is under way; the last row that it has filled; how many notes wait to be fetched, and how many
# rows; how many samples it has given; rows after which the call returns; steps of one run; rows of
# one stretch of it; whether its angles are given, and not to be found from the pose.
AT, LAST, UNDER_WAY, ROW, WAITING, KEPT, SAMPLED, PATIENCE, MOST, STRETCH, ANGLES_GIVEN = range(11)
DESK_WIDTH = 11
# The arrays whose numbers may differ from run to run, by their number in RunTable.where: those of a
# model, and the numbers of compiled controllers.
PLACES, ROW_NUMBERS, ELEMENT_NUMBERS, KNOTS, BODIES, STOP_NUMBERS, GAINS = range(7)
#: What moves slower than this [m/s or rad/s], in N or beside its whole, is at rest; and how far a
#: pose beside it is [m or rad].
AT_REST, PROBE_OFFSET = 1e-12, 1e-3
#: Where branches meet, if they do not.
NOWHERE = -2


class RunTable(NamedTuple):
    """The runs, a row for each: the line of the state in which it begins, then that in which it
    ends; angles; stops that hold; clock; counts, with the reason of its end; its own numbers of the
    model, and their places: array, row, column; notes; knots of schedules [s]; velocities for poses
    beside the start (nb, 6); where there are controllers, times at which steps end, as in
    `Run.ends`; times of samples after the start [s], and for each sample a line and its angles (n,
    samples, ...); and all rows, if there is room, with the run of each (rows, ...)."""

    lines: Floats
    near: Floats
    held: Floats
    clock: Floats
    counts: Ints
    numbers: Floats
    where: Ints
    notes: Floats
    knots: Floats
    probe: Floats
    plan: Floats
    times: Floats
    samples: Floats
    angles: Floats
    rows: Rows
    owner: Ints


class Worker(NamedTuple):
    """The arrays of one thread: those of a run, as in the driver of a single run, the initial
    control of its conditions, and the board of its compiled controllers."""

    run: Run
    conditions: Conditions
    scratch: Scratch
    watch: Watch
    rows: Rows
    control: Floats
    board: Board


@inner
def write(given: Floats, to: Floats) -> None:
    """Copy numbers into an array."""
    for i in range(to.shape[0]):
        to[i] = given[i]


@inner
def put_numbers(k: int, batch: RunTable, model: Model, board: Board) -> None:
    """Write the numbers of run k into the model, and those of its controllers."""
    for m in range(batch.where.shape[0]):
        which, row, column = batch.where[m, 0], batch.where[m, 1], batch.where[m, 2]
        value = batch.numbers[k, m]
        if which == PLACES:
            model.sites.place[row, column] = value
        elif which == ROW_NUMBERS:
            model.rows.numbers[row, column] = value
        elif which == ELEMENT_NUMBERS:
            model.elements.numbers[row, column] = value
        elif which == KNOTS:
            model.schedules.knots[row, column] = value
        elif which == BODIES:
            model.bodies[row, column] = value
        elif which == STOP_NUMBERS:
            model.stops.numbers[row, column] = value
        else:
            board.own[column] = value


@inner
def begin_anew(worker: Worker) -> None:
    """Reset everything that the last run has left."""
    run, conditions, scratch = worker.run, worker.conditions, worker.scratch
    run.lines[:] = 0.0
    run.out[:] = 0.0
    run.moved[:] = 0.0
    run.counts[:] = 0
    worker.watch.values[:] = 0.0
    write(worker.control, conditions.control)
    conditions.stops[:] = 0.0
    conditions.hook[FAILED] = 0
    scratch.report[:] = 0.0
    scratch.report[WEAKEST] = 1.0
    scratch.tail[:] = 0.0


@inner
def set_out(k: int, desk: Ints, batch: RunTable, model: Model, worker: Worker) -> None:
    """Set the given start of run k."""
    run, conditions = worker.run, worker.conditions
    begin_anew(worker)
    put_numbers(k, batch, model, worker.board)
    write(batch.clock[k], run.clock)
    write(batch.lines[k], run.lines[BEGIN])
    write(batch.near[k], conditions.near)
    write(batch.held[k], conditions.stops[:, HOLDS])
    if desk[ANGLES_GIVEN] == 0:
        stand(run.states[BEGIN], model, worker.scratch)
        remember_angles(model, conditions, worker.scratch)
    if worker.board.loops.shape[0] > 0:
        head_along(run, batch, worker.board, model)
    else:
        head_for(batch.clock[k, T_END], run, batch)
    desk[SAMPLED], desk[ROW] = 0, 0


@inner
def head_for(end: float, run: Run, batch: RunTable) -> None:
    """Let steps go on to a time, and on the way end at every knot of a schedule."""
    ends, knots, n, bends = run.ends, batch.knots, 0, SMOOTH
    for j in range(knots.shape[0]):
        if run.clock[T] < knots[j] < end:
            ends[n, END_AT], ends[n, BENDS] = knots[j], BENT
            n += 1
        if knots[j] == end:
            bends = BENT
    ends[n, END_AT], ends[n, BENDS] = end, bends
    run.counts[ENDS], run.counts[HEADED] = n + 1, 0


@inner
def head_along(run: Run, batch: RunTable, board: Board, model: Model) -> None:
    """Let steps end at what is planned for all runs alike, with no sample taken yet."""
    for n in range(batch.plan.shape[0]):
        run.ends[n, END_AT], run.ends[n, BENDS] = batch.plan[n, END_AT], batch.plan[n, BENDS]
    run.counts[ENDS], run.counts[HEADED] = batch.plan.shape[0], 0
    begin_board(board, model.schedules)


@inner
def step_on(fresh: bool, room: int, model: Model, table: Table, worker: Worker) -> int:
    """Steps, at most so many; returns why they have ended."""
    run, conditions, scratch, rows = worker.run, worker.conditions, worker.scratch, worker.rows
    watch, board = worker.watch, worker.board
    if board.loops.shape[0] > 0:
        return advance_sampled(
            run, model, conditions, scratch, table, watch, rows, board, fresh, room
        )
    return advance(run, model, conditions, scratch, table, watch, rows, fresh, room)


@inner
def note_for(
    k: int, t: float, what: int, which: int, lost: float, desk: Ints, batch: RunTable
) -> None:
    """Add a note to run k."""
    notes, at = batch.notes, desk[WAITING]
    notes[at, 0], notes[at, 1], notes[at, 2], notes[at, 3] = k, t, what, which
    notes[at, 4] = lost
    desk[WAITING] += 1


@inner
def take_notes(k: int, desk: Ints, batch: RunTable, worker: Worker) -> None:
    """Copy the notes of the last stretch."""
    for j in range(worker.run.counts[NOTED]):
        at = desk[WAITING]
        batch.notes[at, 0] = k
        write(worker.rows.notes[j], batch.notes[at, 1:])
        desk[WAITING] += 1


@inner
def rests(k: int, desk: Ints, batch: RunTable, worker: Worker) -> bool:
    """Note that a run begins at rest; returns whether this ends it."""
    what, values, over = worker.watch.what, worker.watch.values, False
    for w in range(what.shape[0]):
        if what[w, KIND] == REST and values[w, VALUE] <= 0.0:
            note_for(k, worker.run.clock[T], CROSSED, w, 0.0, desk, batch)
            over = over or what[w, TERMINAL] != 0
    return over


@inner
def fastest_of(y: Floats) -> float:
    """The largest number among velocities and spins of the bodies."""
    most = 0.0
    for i in range(y.shape[0] - 1):
        for j in range(V, STATE_WIDTH):
            most = max(most, abs(y[i, j]))
    return most


@inner
def branches_meet(
    y: Floats, probe: Floats, run: Run, model: Model, conditions: Conditions, scratch: Scratch
) -> int:
    """The weakest closing row in a pose beside this one if more rows are independent there than
    here, so that branches of motion may meet at rest; NOWHERE otherwise. y: room that holds the
    pose."""
    counted = scratch.report[COUNTED]
    for i in range(probe.shape[0]):
        for j in range(V, STATE_WIDTH):
            y[i, j] = probe[i, j - V]
    project(y, model, conditions, scratch, run.room)
    factor = PROBE_OFFSET / max(AT_REST, fastest_of(y))
    for i in range(probe.shape[0]):
        for j in range(V, STATE_WIDTH):
            y[i, j] *= factor
    move_on(y)
    project(y, model, conditions, scratch, run.room)
    evaluate(run.clock[T], y, model, conditions, scratch, run.out)
    return int(scratch.report[WHICH]) if scratch.report[COUNTED] > counted else NOWHERE


@inner
def look_at_start(
    k: int, why: int, desk: Ints, batch: RunTable, model: Model, worker: Worker
) -> int:
    """Examine a start before its first step; returns why the run is over, if it is.  Bodies that
    bend choose their branch, as in a run of its own."""
    run, n = worker.run, worker.run.out.shape[0]
    lost = worker.rows.states[0, n, LOST]
    if lost != 0.0:
        note_for(k, run.clock[T], TOOK, -1, lost, desk, batch)
    take_notes(k, desk, batch, worker)
    if why == NO_START or why == PYTHON_FAILED:
        return why
    if looked_at(worker):
        if rests(k, desk, batch, worker):
            return STOPPED
        rigid = worker.scratch.rows.shape[0] > 0 and model.modes.what.shape[0] == 0
        if rigid and fastest_of(run.states[BEGIN][: n + 1]) < AT_REST:
            write(run.lines[BEGIN], run.lines[WITHIN])
            y = run.states[WITHIN][: n + 1]
            which = branches_meet(y, batch.probe, run, model, worker.conditions, worker.scratch)
            if which != NOWHERE:
                note_for(k, run.clock[T], BRANCHES, which, 0.0, desk, batch)
    return why


@inner
def looked_at(worker: Worker) -> bool:
    """Whether starts must be examined before the first step: loops may have branches, and rest may
    end the run."""
    looking = worker.scratch.rows.shape[0] > 0
    for w in range(worker.watch.what.shape[0]):
        looking = looking or worker.watch.what[w, KIND] == REST
    return looking


@inner
def keep_sample(k: int, row: int, desk: Ints, batch: RunTable, worker: Worker) -> None:
    """Store a row as the next sample of run k."""
    rows, s, first = worker.rows, desk[SAMPLED], tail_start(worker.run.out.shape[0])
    for i in range(rows.states.shape[1]):
        for j in range(STATE_WIDTH):
            batch.samples[k, s, i * STATE_WIDTH + j] = rows.states[row, i, j]
    for j in range(rows.tail.shape[1]):
        batch.samples[k, s, first + j] = rows.tail[row, j]
    write(rows.angles[row], batch.angles[k, s])
    desk[SAMPLED] += 1


@inner
def begin_beside(
    k: int, t: float, row: int, step: float, batch: RunTable, worker: Worker, aside: Worker
) -> None:
    """Start from a row of the run for a time before the next row, with a first step."""
    rows, run, n = worker.rows, aside.run, worker.run.out.shape[0]
    begin_anew(aside)
    write(batch.clock[k], run.clock)
    run.clock[T], run.clock[REFUSED] = rows.t[row], 0.0
    head_for(t, run, batch)
    run.clock[H] = run.clock[FIXED] if run.clock[FIXED] > 0.0 else step
    for i in range(n):
        for j in range(STATE_WIDTH):
            run.states[BEGIN, i, j] = rows.states[row, i, j]
    for j in range(rows.tail.shape[1]):
        run.lines[BEGIN, tail_start(n) + j] = rows.tail[row, j]
    write(rows.angles[row], aside.conditions.near)
    for j in range(rows.held.shape[1]):
        aside.conditions.stops[j, HOLDS] = 1.0 if rows.held[row, j] else 0.0


@inner
def sample_between(
    k: int, t: float, row: int, step: float, desk: Ints, batch: RunTable, model: Model,
    table: Table, worker: Worker, aside: Worker,
) -> None:  # fmt: skip
    """Store the state at a time between two rows, by steps from the first, as the next sample."""
    run, rows, n, fresh, why = aside.run, aside.rows, worker.run.out.shape[0], True, GOING
    begin_beside(k, t, row, step, batch, worker, aside)
    while why == GOING:
        why = step_on(fresh, rows.t.shape[0] - 1, model, table, aside)
        fresh = False
        if t - run.clock[T] <= LEAST_DIGITS * np.spacing(abs(t)):
            why = ARRIVED
    if why == ARRIVED:
        for i in range(n + 1):
            for j in range(STATE_WIDTH):
                add = worker.rows.states[row, n, j] if i == n else 0.0
                batch.samples[k, desk[SAMPLED], i * STATE_WIDTH + j] = run.states[BEGIN, i, j] + add
        for j in range(rows.tail.shape[1]):
            at = tail_start(n) + j
            batch.samples[k, desk[SAMPLED], at] = run.lines[BEGIN, at]
        write(aside.conditions.near, batch.angles[k, desk[SAMPLED]])
    desk[SAMPLED] += 1


@inner
def take_samples(
    k: int, fresh: bool, desk: Ints, batch: RunTable, model: Model, table: Table, worker: Worker,
    aside: Worker,
) -> None:  # fmt: skip
    """Store samples at times before the last row of the last stretch; that row becomes the last row
    of all."""
    rows, begun, filled = worker.rows, batch.clock[k, T], worker.run.counts[ROOM]
    kept = rows.t.shape[0] - 1
    for i in range(1 if fresh else 0, filled):
        before = i - 1 if i > 0 else kept
        while desk[SAMPLED] < batch.times.shape[0]:
            t = begun + batch.times[desk[SAMPLED]]
            if not t < rows.t[i]:
                break
            if t == rows.t[before]:
                keep_sample(k, before, desk, batch, worker)
            else:
                step = rows.t[i] - rows.t[before]
                sample_between(k, t, before, step, desk, batch, model, table, worker, aside)
    if filled > 0:
        copy_row(filled - 1, rows, kept, rows)


@inner
def copy_row(row: int, rows: Rows, to: int, others: Rows) -> None:
    """Copy a row over another."""
    others.t[to] = rows.t[row]
    for i in range(rows.states.shape[1]):
        write(rows.states[row, i], others.states[to, i])
    write(rows.angles[row], others.angles[to])
    write(rows.drift[row], others.drift[to])
    write(rows.held[row], others.held[to])
    write(rows.tail[row], others.tail[to])


@inner
def keep_rows(k: int, desk: Ints, batch: RunTable, worker: Worker) -> None:
    """Store all rows of the last stretch of run k."""
    for row in range(worker.run.counts[ROOM]):
        copy_row(row, worker.rows, desk[KEPT], batch.rows)
        batch.owner[desk[KEPT]] = k
        desk[KEPT] += 1


@inner
def come_down(k: int, why: int, desk: Ints, batch: RunTable, worker: Worker) -> None:
    """Store the last row of run k as its end."""
    rows, run, row, first = worker.rows, worker.run, desk[ROW], tail_start(worker.run.out.shape[0])
    while (
        desk[SAMPLED] < batch.times.shape[0]
        and batch.clock[k, T] + batch.times[desk[SAMPLED]] == rows.t[row]
    ):
        keep_sample(k, row, desk, batch, worker)
    for i in range(rows.states.shape[1]):
        for j in range(STATE_WIDTH):
            batch.lines[k, i * STATE_WIDTH + j] = rows.states[row, i, j]
    for j in range(rows.tail.shape[1]):
        batch.lines[k, first + j] = rows.tail[row, j]
    write(rows.angles[row], batch.near[k])
    for j in range(rows.held.shape[1]):
        batch.held[k, j] = 1.0 if rows.held[row, j] else 0.0
    write(run.clock, batch.clock[k])
    batch.clock[k, T] = rows.t[row]
    write(run.counts, batch.counts[k, :COUNTS_WIDTH])
    batch.counts[k, WHY] = why


@inner
def go_on(
    k: int, desk: Ints, batch: RunTable, model: Model, table: Table, worker: Worker, aside: Worker
) -> int:
    """Fly one stretch of run k; returns why the run is over, or GOING."""
    run, fresh = worker.run, desk[UNDER_WAY] == 0
    if fresh:
        set_out(k, desk, batch, model, worker)
    room = min(desk[STRETCH], desk[MOST] - run.counts[STEPS])
    if room <= 0:
        return OUT_OF_STEPS
    if fresh:
        room = 1 if looked_at(worker) else 1 + room
    why = step_on(fresh, room, model, table, worker)
    if run.counts[ROOM] > 0:
        desk[ROW] = run.counts[ROOM] - 1
    if fresh:
        why = look_at_start(k, why, desk, batch, model, worker)
    else:
        take_notes(k, desk, batch, worker)
    if batch.owner.shape[0] > 0:
        keep_rows(k, desk, batch, worker)
    if batch.times.shape[0] > 0:
        take_samples(k, fresh, desk, batch, model, table, worker, aside)
    return why


@side_by_side
def fly(
    desk: Ints, batch: RunTable, model: Model, table: Table, worker: Worker, aside: Worker
) -> None:
    """Fly the runs from desk[AT] to desk[LAST], until notes or rows must be fetched or the allowed
    number of rows is reached; then the call is repeated.  `aside` computes samples; it may be the
    worker itself if there are none."""
    spent, most = 0, worker.rows.notes.shape[0] + worker.watch.what.shape[0] + 2
    keeping = batch.owner.shape[0] > 0
    while desk[AT] < desk[LAST] and spent < desk[PATIENCE]:
        full = keeping and desk[KEPT] + worker.rows.t.shape[0] > batch.owner.shape[0]
        if full or desk[WAITING] + most > batch.notes.shape[0]:
            return
        k = desk[AT]
        why = go_on(k, desk, batch, model, table, worker, aside)
        spent += 1 + worker.run.counts[ROOM]
        desk[UNDER_WAY] = 1
        if why != GOING:
            come_down(k, why, desk, batch, worker)
            desk[AT] += 1
            desk[UNDER_WAY] = 0
