"""Runs with sampled controllers: at samples numbers of the state are read and commands asked for,
from machine code or from Python; commands stand as knots of schedules.

When a controller samples, and when its commands take effect, is known beforehand; Python is asked
for commands alone, where a controller is not compiled."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from quirkpy.kernels.act.measures import (
    MEASURED,
    MEASURED_COLUMN,
    MEASURED_ROW,
    SITE_NUMBER,
    STATE_NUMBER,
    Measures,
    measure,
)
from quirkpy.kernels.base.arrays import KNOT_TIME, KNOT_VALUE, Schedules, Vec
from quirkpy.kernels.base.compiled import inner, kernel, shared
from quirkpy.kernels.base.conditions import Conditions
from quirkpy.kernels.base.hook import COMMANDS, FAILED, ask, call_command
from quirkpy.kernels.base.states import OMEGA, STATE_WIDTH
from quirkpy.kernels.base.vectors import Four, add, dot, get3, get4, scale, sub
from quirkpy.kernels.place.kinematics import fill_frames
from quirkpy.kernels.place.members import spread
from quirkpy.kernels.step.impacts import (
    NOTE_LOST,
    NOTE_TIME,
    NOTE_WHAT,
    NOTE_WHICH,
    REGAINED,
    Rows,
)
from quirkpy.kernels.step.integrator import (
    ARRIVED,
    DIVERGED,
    GOING,
    PYTHON_FAILED,
    STOPPED,
    head_on,
    look_anew,
    march,
    pass_end,
    pass_knot,
    set_out,
)
from quirkpy.kernels.step.methods import Table
from quirkpy.kernels.step.steps import (
    ASKED_UNTIL,
    BEGIN,
    BENDS,
    HEADED,
    NOTED,
    SAMPLES,
    Run,
    T,
)
from quirkpy.kernels.step.watch import KEPT, Watch
from quirkpy.kernels.tree.evaluation import joints_at, stand
from quirkpy.kernels.tree.model import Model, Scratch
from quirkpy.maths.types import Floats, Ints

# Columns of Board.desk: what is to be done at the start; the controller that is asked, and the row
# of its sample.
DUE, ASKED_LOOP, ASKED_ROW, DESK_WIDTH = range(4)
# What is due at a start: nothing, a sample before it begins, or one as at a knot within a run.
NOTHING_DUE, DUE_FIRST, DUE_AS_WITHIN = range(3)
# Columns of Board.loops: address of the compiled command, 0: Python is asked; from where to where
# its numbers stand in the log, what is read first, behind the time of the sample; where those stand
# that it remembers, and its own; fields that it drives; how many samples it has taken of those that
# the agenda has, at the start and now, and how many commands have taken effect.
(
    COMMAND, FIRST_READ, FIRST_TOLD, LAST_TOLD, FIRST_MEMORY, FIRST_OWN, FIRST_FIELD, LAST_FIELD,
    CARRIED, SAMPLED, ACTED, LOOP_WIDTH,
) = range(12)  # fmt: skip
# Columns of Board.agenda: when a sample is taken, when its command takes effect, until when that
# goes; times that are no further apart are one [s].
SAMPLE_AT, EFFECT_AT, UNTIL, NEAR_TO, AGENDA_WIDTH = range(5)
# Columns of Board.fields: how it goes between knots; where its command stands in the log, and how
# many numbers that has; its slots in the tables; how many knots there are.
WAY, TOLD, SIZE, FIRST_SLOT, LAST_SLOT, KNOTTED, FIELD_WIDTH = range(7)
# How a field goes between knots: it holds, goes straight, or falls at the rate that is commanded.
HOLDING, STRAIGHT, FALLING = range(3)
# Columns of Board.slots: the first of its rows among the knots of schedules, and how many.
FIRST_ROW, ROWS, SLOT_WIDTH = range(3)
#: No line of the measures: nothing acts there that could be measured.
SILENT = -1


class Board(NamedTuple):
    """desk (DESK_WIDTH,); loops (n, LOOP_WIDTH); agenda of each (n, samples, AGENDA_WIDTH); log:
    of each controller the time of a sample, and what was read and commanded (samples, numbers);
    quanta of what is read and limits of what is commanded, 0: none (numbers,); noise (samples,
    numbers), of orientations as turns in four numbers, no rows where nothing is added; which
    numbers are the first of a quaternion that is turned (numbers,); fields (nf, FIELD_WIDTH), their
    knots (nf, nk, 4), and the first three of these (nf, 3, 4); slots (ns, SLOT_WIDTH), and what
    makes knots of commands (ns, 9); the spin beyond which controllers have lost what they control
    [rad/s] (1,); what controllers remember, at the start and now (2, m), and their own numbers;
    measures, in the order of the log; room for the state of all bodies (1, nb + 1, STATE_WIDTH),
    and for its frames; where bodies lie in clusters, empty where they move one by one."""

    desk: Ints
    loops: Ints
    agenda: Floats
    log: Floats
    bounds: Floats
    noise: Floats
    turns: Ints
    fields: Ints
    knots: Floats
    first_knots: Floats
    slots: Ints
    matrices: Floats
    fastest: Floats
    memory: Floats
    own: Floats
    measures: Measures
    rows: Floats
    frames: Floats
    cluster: Ints
    place: Floats
    turn: Floats


# --- what is read ---------------------------------------------------------------------------------
@inner
def show_bodies(run: Run, model: Model, scratch: Scratch, board: Board) -> None:
    """The state of all bodies in BEGIN, one by one, with its frames, and those of what moves."""
    n = run.out.shape[0]
    stand(run.states[BEGIN], model, scratch)
    if board.cluster.shape[0] > 0:
        moved = run.states[BEGIN : BEGIN + 1, : n + 1]
        spread(moved, board.cluster, board.place, board.turn, n, board.rows)
        fill_frames(board.rows[0], model.modes, board.frames)
        return
    for i in range(n + 1):
        for k in range(STATE_WIDTH):
            board.rows[0, i, k] = run.states[BEGIN, i, k]


@inner
def read(
    n: int, t: float, model: Model, conditions: Conditions, scratch: Scratch, board: Board
) -> float:
    """What line n of the measures says of the state that is shown."""
    what, frames = board.measures.what, scratch.frames
    kind = what[n, MEASURED]
    if kind == SILENT:
        return 0.0
    if kind == STATE_NUMBER:
        return board.rows[0, what[n, MEASURED_ROW], what[n, MEASURED_COLUMN]]
    if kind == SITE_NUMBER and board.cluster.shape[0] > 0:
        frames = board.frames
    return measure(
        n, t, board.rows[0], board.measures, model.elements, joints_at(model, conditions),
        model.schedules, model.bodies, model.sites, frames,
    )  # fmt: skip


@inner
def turn_further(q: Four, by: Four) -> Four:
    """The product of two quaternions w x y z."""
    return (
        q[0] * by[0] - q[1] * by[1] - q[2] * by[2] - q[3] * by[3],
        q[0] * by[1] + q[1] * by[0] + q[2] * by[3] - q[3] * by[2],
        q[0] * by[2] - q[1] * by[3] + q[2] * by[0] + q[3] * by[1],
        q[0] * by[3] + q[1] * by[2] - q[2] * by[1] + q[3] * by[0],
    )


@inner
def disturb(c: int, j: int, board: Board) -> None:
    """Add noise to what controller c has read, and round to whole quanta."""
    log, noise, n = board.log, board.noise, board.loops[c, FIRST_READ]
    noisy = noise.shape[0] > 0
    while n < board.loops[c, FIRST_TOLD]:
        if noisy and board.turns[n] != 0:
            q = turn_further(get4(log, j, n), get4(noise, j, n))
            log[j, n], log[j, n + 1], log[j, n + 2], log[j, n + 3] = q
            n += 4
            continue
        if noisy:
            log[j, n] += noise[j, n]
        if board.bounds[n] > 0.0:
            log[j, n] = board.bounds[n] * np.rint(log[j, n] / board.bounds[n])
        n += 1


# --- what is commanded ----------------------------------------------------------------------------
@inner
def hold_within(c: int, j: int, board: Board) -> bool:
    """Hold commands within their limits; returns whether all are finite."""
    log, total = board.log, 0.0
    for n in range(board.loops[c, FIRST_TOLD], board.loops[c, LAST_TOLD]):
        total += 0.0 * log[j, n]
        most = board.bounds[n]
        if most > 0.0:
            log[j, n] = min(max(log[j, n], -most), most)
    return total == 0.0


@inner
def take_sample(
    c: int, j: int, run: Run, model: Model, conditions: Conditions, scratch: Scratch, board: Board
) -> None:
    """What controller c reads now, and what it commands, into row j of the log."""
    own, t = board.loops[c], run.clock[T]
    show_bodies(run, model, scratch, board)
    board.log[j, own[FIRST_READ] - 1] = t
    for n in range(own[FIRST_READ], own[FIRST_TOLD]):
        board.log[j, n] = read(n, t, model, conditions, scratch, board)
    board.desk[ASKED_LOOP], board.desk[ASKED_ROW] = c, j
    if own[COMMAND] == 0:
        ask(conditions.hook, COMMANDS)
    else:
        disturb(c, j, board)
        conditions.hook[FAILED] = call_command(
            own[COMMAND], t, board.log[j], own[FIRST_READ], own[FIRST_TOLD], board.memory[1],
            own[FIRST_MEMORY], board.own, own[FIRST_OWN],
        )  # fmt: skip
    if conditions.hook[FAILED] == 0 and not hold_within(c, j, board):
        conditions.hook[FAILED] = 1


@inner
def add_knot(f: int, t: float, value: Vec, near: float, board: Board) -> None:
    """A knot of field f; in place of those that it comes before, or is near."""
    count = board.fields[f, KNOTTED]
    while count > 0 and board.knots[f, count - 1, KNOT_TIME] >= t - near:
        count -= 1
    board.knots[f, count, KNOT_TIME] = t
    for k in range(3):
        board.knots[f, count, KNOT_VALUE + k] = value[k]
    board.fields[f, KNOTTED] = count + 1


@inner
def knot_value(f: int, n: int, board: Board) -> Vec:
    """The value at a knot of field f."""
    knots = board.knots
    return knots[f, n, KNOT_VALUE], knots[f, n, KNOT_VALUE + 1], knots[f, n, KNOT_VALUE + 2]


@inner
def field_value(f: int, t: float, board: Board) -> Vec:
    """What stands in field f, which goes along lines, at a time."""
    last, knots = board.fields[f, KNOTTED] - 1, board.knots
    if last == 0 or t >= knots[f, last, KNOT_TIME]:
        return knot_value(f, last, board)
    while last > 1 and t < knots[f, last - 1, KNOT_TIME]:
        last -= 1
    begun = knots[f, last - 1, KNOT_TIME]
    a, b = knot_value(f, last - 1, board), knot_value(f, last, board)
    if t < begun:
        return a
    share = (t - begun) / (knots[f, last, KNOT_TIME] - begun)
    return add(a, scale(share, sub(b, a)))


@inner
def follow(
    f: int, j: int, t: float, until: float, sample: float, near: float, board: Board
) -> None:
    """Let a command in row j of the log act on field f from a time to the next [s].

    Where a sample is taken meanwhile what goes along a line has a knot there, so that a step ends
    there as well when what was commanded is flown once more."""
    first, size, way = board.fields[f, TOLD], board.fields[f, SIZE], board.fields[f, WAY]
    there = board.log[j, first], 0.0, 0.0
    if size == 3:
        there = get3(board.log, j, first)
    if way == HOLDING:
        add_knot(f, t, there, near, board)
        return
    here, span = field_value(f, t, board), until - t
    if board.knots[f, board.fields[f, KNOTTED] - 1, KNOT_TIME] != t:
        add_knot(f, t, here, near, board)
    if way == FALLING:
        there = sub(here, scale(span, there))
    if t + near < sample < until - near:
        between = add(here, scale((sample - t) / span, sub(there, here)))
        add_knot(f, sample, between, near, board)
    add_knot(f, until, there, near, board)


@inner
def mark_sample(f: int, t: float, near: float, board: Board) -> None:
    """A knot of field f at a sample that changes nothing, where none is to come: for the same."""
    last = board.fields[f, KNOTTED] - 1
    if board.knots[f, last, KNOT_TIME] < t - near:
        add_knot(f, t, knot_value(f, last, board), near, board)


@inner
def write_field(f: int, board: Board, schedules: Schedules) -> None:
    """The last knots of a field into the tables; where there are fewer, the first holds before
    it."""
    size, count = board.fields[f, SIZE], board.fields[f, KNOTTED]
    for s in range(board.fields[f, FIRST_SLOT], board.fields[f, LAST_SLOT]):
        m, rows = board.matrices[s], board.slots[s, ROWS]
        for k in range(rows):
            n = count - rows + k
            early = n < 0
            if early:
                n = 0
            x, y, z = knot_value(f, n, board)
            row = board.slots[s, FIRST_ROW] + k
            schedules.knots[row, KNOT_TIME] = board.knots[f, n, KNOT_TIME]
            if early:
                schedules.knots[row, KNOT_TIME] -= 1.0 * (rows - count - k)
            for i in range(3):
                value = m[3 * i] * x
                if size == 3:
                    value = value + m[3 * i + 1] * y + m[3 * i + 2] * z
                schedules.knots[row, KNOT_VALUE + i] = value


@kernel
def begin_board(board: Board, schedules: Schedules) -> None:
    """No sample is taken yet, and fields stand as they do at the start."""
    for c in range(board.loops.shape[0]):
        board.loops[c, SAMPLED], board.loops[c, ACTED] = board.loops[c, CARRIED], 0
    for k in range(board.memory.shape[1]):
        board.memory[1, k] = board.memory[0, k]
    for f in range(board.fields.shape[0]):
        count = 0
        for n in range(board.first_knots.shape[1]):
            for k in range(4):
                board.knots[f, n, k] = board.first_knots[f, n, k]
            if not math.isnan(board.first_knots[f, n, KNOT_TIME]):
                count += 1
        board.fields[f, KNOTTED] = count
        write_field(f, board, schedules)


@inner
def turn(run: Run, model: Model, conditions: Conditions, scratch: Scratch, board: Board) -> None:
    """Let all controllers do what has come due: sample, and let commands act."""
    loops, agenda, t = board.loops, board.agenda, run.clock[T]
    for c in range(loops.shape[0]):
        near = agenda[c, 0, NEAR_TO]
        while agenda[c, loops[c, SAMPLED], SAMPLE_AT] <= t + near:
            take_sample(c, loops[c, SAMPLED], run, model, conditions, scratch, board)
            if conditions.hook[FAILED] != 0:
                return
            mark_sample(loops[c, FIRST_FIELD], t, near, board)
            write_field(loops[c, FIRST_FIELD], board, model.schedules)
            loops[c, SAMPLED] += 1
        while loops[c, ACTED] < loops[c, SAMPLED] and (
            agenda[c, loops[c, ACTED], EFFECT_AT] <= t + near
        ):
            j, sample = loops[c, ACTED], agenda[c, loops[c, SAMPLED], SAMPLE_AT]
            for f in range(loops[c, FIRST_FIELD], loops[c, LAST_FIELD]):
                follow(f, j, t, agenda[c, j, UNTIL], sample, near, board)
                write_field(f, board, model.schedules)
            loops[c, ACTED] += 1


@inner
def remember_length(f: int, rest: float, board: Board) -> None:
    """Let the controller of field f remember what stands there, at its next sample."""
    for c in range(board.loops.shape[0]):
        first = board.loops[c, FIRST_FIELD]
        if first <= f < board.loops[c, LAST_FIELD]:
            board.memory[1, board.loops[c, FIRST_MEMORY] + f - first] = rest


@inner
def take_lengths(told: int, run: Run, watch: Watch, rows: Rows, board: Board) -> int:
    """Write down the rest lengths of what has yielded, of all notes from a number on; returns how
    many notes there are."""
    for n in range(told, run.counts[NOTED]):
        if rows.notes[n, NOTE_WHAT] == REGAINED:
            f = int(watch.numbers[int(rows.notes[n, NOTE_WHICH]), KEPT]) - 1
            if f >= 0:
                rest = rows.notes[n, NOTE_LOST]
                if board.fields[f, KNOTTED] == board.knots.shape[1]:
                    forget_first(f, board)
                add_knot(f, rows.notes[n, NOTE_TIME], (rest, 0.0, 0.0), 0.0, board)
                remember_length(f, rest, board)
    return run.counts[NOTED]


@kernel
def keep_lengths(told: int, run: Run, watch: Watch, rows: Rows, board: Board) -> int:
    """`take_lengths` for steps that are not those of `advance_sampled`."""
    return take_lengths(told, run, watch, rows, board)


@inner
def forget_first(f: int, board: Board) -> None:
    """Make room for a knot of a field: a run of many, whose knots nobody keeps."""
    for n in range(1, board.fields[f, KNOTTED]):
        for k in range(4):
            board.knots[f, n - 1, k] = board.knots[f, n, k]
    board.fields[f, KNOTTED] -= 1


# --- the run --------------------------------------------------------------------------------------
@inner
def is_lost(run: Run, board: Board) -> bool:
    """Whether any body spins faster than controllers can have wanted."""
    y, most = run.states[BEGIN], board.fastest[0]
    for i in range(run.out.shape[0]):
        spin = get3(y, i, OMEGA)
        if dot(spin, spin) > most * most:
            return True
    return False


@kernel
def pass_sample(
    run: Run, model: Model, conditions: Conditions, scratch: Scratch, watch: Watch, rows: Rows,
    board: Board,
) -> int:  # fmt: skip
    """`pass_end` with controllers."""
    if run.ends[run.counts[HEADED] - 1, BENDS] == SAMPLES:
        turn(run, model, conditions, scratch, board)
        if conditions.hook[FAILED] != 0:
            return PYTHON_FAILED
        if is_lost(run, board):
            return DIVERGED
    return pass_end(run, model, conditions, scratch, watch, rows)


@shared
def begin_sampled(
    run: Run, model: Model, conditions: Conditions, scratch: Scratch, table: Table, watch: Watch,
    rows: Rows, board: Board,
) -> int:  # fmt: skip
    """The start as the first row, with samples that are due there; returns why that is all, or
    GOING.

    Where a run goes on from another, what a command changes at once is work, as at a knot within a
    run."""
    due = board.desk[DUE]
    if due == DUE_FIRST:
        turn(run, model, conditions, scratch, board)
        if conditions.hook[FAILED] != 0:
            return PYTHON_FAILED
    why = set_out(run, model, conditions, scratch, table, watch, rows)
    take_lengths(0, run, watch, rows, board)
    if why != GOING or due != DUE_AS_WITHIN:
        return why
    asked = run.clock[ASKED_UNTIL]
    run.clock[ASKED_UNTIL] = np.nextafter(run.clock[T], -np.inf)
    turn(run, model, conditions, scratch, board)
    if conditions.hook[FAILED] != 0:
        return PYTHON_FAILED
    over = pass_knot(run, model, conditions, scratch, watch, rows)
    run.clock[ASKED_UNTIL] = asked
    return STOPPED if over else GOING


@kernel
def advance_sampled(
    run: Run, model: Model, conditions: Conditions, scratch: Scratch, table: Table, watch: Watch,
    rows: Rows, board: Board, fresh: bool, room: int,
) -> int:  # fmt: skip
    """`advance` with controllers."""
    look_anew(run)
    if run.counts[HEADED] == 0:
        head_on(run)
    why = GOING
    if fresh:
        why = begin_sampled(run, model, conditions, scratch, table, watch, rows, board)
    told = take_lengths(0, run, watch, rows, board)
    while why == GOING:
        why = march(room, run, model, conditions, scratch, table, watch, rows)
        told = take_lengths(told, run, watch, rows, board)
        if why != ARRIVED:
            return why
        why = pass_sample(run, model, conditions, scratch, watch, rows, board)
    return why
