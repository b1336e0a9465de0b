"""One Runge-Kutta step: slopes, stages, error estimate, the next step, and the polynomial within
it.

A state is laid out as `kernels/base/states.py` says, and filled up to whole rows.  All that a step
computes are lines of one array, a state each; sums of slopes are loops over their flat numbers."""

from __future__ import annotations

import math
from typing import NamedTuple

from quirkpy.kernels.act.wrenches import INTO, OUT
from quirkpy.kernels.base.arrays import AXES, SPIN, VELOCITY
from quirkpy.kernels.base.compiled import inner, shared
from quirkpy.kernels.base.conditions import EXPLICIT, TIME, Conditions
from quirkpy.kernels.base.states import (
    ANGULAR_HALF,
    LINEAR_HALF,
    OMEGA,
    STATE_WIDTH,
    Q,
    R,
    V,
    tail_start,
)
from quirkpy.kernels.base.vectors import get3, put3, scale, turn, turn_back
from quirkpy.kernels.step.methods import (
    DENSE,
    ESTIMATED,
    EXTRA,
    FIFTH,
    MOST_SLOPES,
    NODE,
    ORDER,
    STAGES,
    Table,
)
from quirkpy.kernels.step.projection import (
    CORRECTION_PIVOT,
    change_velocities,
    move_modes,
    project,
    return_modes,
    small_turn,
)
from quirkpy.kernels.tree.closure import COUNTED, RUNNING_PIVOT, WEAKEST
from quirkpy.kernels.tree.evaluation import evaluate, evaluate_here, solve, stand
from quirkpy.kernels.tree.model import Model, Scratch
from quirkpy.maths.types import Floats, Ints

#: Hairer's starting step: the trial step where sizes or slopes, over the tolerances, are below the
#: second number; nothing changes where the slope at its end is below the third.
TRIAL_STEP, FLAT, STILL = 1e-6, 1e-10, 1e-15
#: A first step where nothing changes is this share of the trial step at least [1].
SHARE_OF_TRIAL = 1e-3


# Columns of the clock: time, next step, end of the run; relative and absolute tolerance; largest
# step; fixed step or 0; whether the energy is held, and its value at the start; whether states are
# projected; the length of the present step; how far the present state is from a singular pose (see
# `nearness`), and the largest rank of the closing rows so far; whether the last step was refused;
# how near to a singular pose the present step comes, at which fraction of it, and how far from one
# it gets; the closing row that is weakest at the present state; the energy that projections have
# moved so far, in or out, and what the tolerances have allowed them; what that of the present step
# has taken, if it was more; how many landings were not taken, for they missed the joints; the last
# time at which loads are asked for until T_END: just before that, where it is a knot of a schedule;
# the potential energy of the present state, NaN where the last evaluation was of another one.
(
    T,
    H,
    T_END,
    RTOL,
    ATOL,
    H_MAX,
    FIXED,
    CONSERVING,
    ENERGY,
    PROJECTING,
    STEP,
    NEAR,
    RANK,
    REFUSED,
    PASSING,
    NEAREST,
    FARTHEST,
    WEAK_ROW,
    TAKEN,
    ALLOWED,
    CHARGE,
    MISSES,
    ASKED_UNTIL,
    POTENTIAL,
    CLOCK_WIDTH,
) = range(25)
# Columns of the counts: of the run; then rows filled and events noted since Python looked; what
# became of the start, or which stop is in the way of a drive; how many steps on end events have cut
# to nothing; in how many on end projection has taken more energy than the tolerances allow; jumps
# of velocities kept since Python looked; how many of the known ends of steps there are, and for how
# many of them the run has headed.
(
    EVALUATIONS, STEPS, REJECTIONS, ROOM, NOTED, ANSWER, CROWDED, HARSH, JUMPED, ENDS, HEADED,
    COUNTS_WIDTH,
) = range(12)  # fmt: skip
# Columns of Run.ends: a time at which a step is to end; whether loads bend there, so that what acts
# after it is not asked for before, and whether controllers sample there, or command.
END_AT, BENDS = range(2)
SMOOTH, BENT, SAMPLES = range(3)
# Lines of a run: slopes; the state at the beginning; the end of the step, raw and then on the
# constraints; its slope; a state within; room; the interpolant.
BEGIN, RAW, END, END_SLOPE, WITHIN, SMALL, POLYNOMIAL = MOST_SLOPES, 17, 18, 19, 20, 21, 22
LINES = POLYNOMIAL + 7

#: A step grows at most tenfold and shrinks at most fivefold; 0.9 of the step that the error allows
#: is taken.
GROW, SHRINK, SAFETY = 10.0, 0.2, 0.9
#: Nearer than this to a singular pose (the weakest closing row's independent part, squared), stages
#: are projected.
WEAK = 3e-2
#: A projection that moves bodies by more than this share of the distance to a singular pose may
#: land on another branch.
LEAP = 0.1
#: A state within a step, on which a run would land, that misses the joints by more than so many
#: tolerances, and by more than the second [m, rad, m/s or rad/s], is not taken: a shorter step is.
#: After so many none is refused until the poses are singular no more: nearest to these rounding
#: alone makes states miss, however short the step.
MISSED, UNFELT, MOST_MISSES = 10.0, 1e-8, 8
#: There the error along the constraints counts, and this share of the whole: rounding, divided by
#: the distance to the pose cubed, enters the accelerations across the constraints, where projection
#: removes it.
ACROSS = 1e-6


class Run(NamedTuple):
    """clock, counts; the lines (LINES, numbers), and the same memory as states (LINES, line_rows,
    STATE_WIDTH); where the groups of the tail begin (see `StateLayout`); accelerations (nb, 6);
    displacement and change of velocity of the last projection (2,); room for those (2,); times at
    which steps are to end, the last of them that of the run or of those that are known (m, 2)."""

    clock: Floats
    counts: Ints
    lines: Floats
    states: Floats
    groups: Ints
    out: Floats
    moved: Floats
    room: Floats
    ends: Floats


@inner
def rates(y: Floats, out: Floats, power: Floats, dy: Floats) -> None:
    """dy/dt from the accelerations in `out` and the powers."""
    n = out.shape[0]
    for i in range(n):
        w, x, z, u = y[i, Q], y[i, Q + 1], y[i, Q + 2], y[i, Q + 3]
        a, b, c = 0.5 * y[i, OMEGA], 0.5 * y[i, OMEGA + 1], 0.5 * y[i, OMEGA + 2]
        put3(dy, i, R, get3(y, i, V))
        dy[i, Q] = -x * a - z * b - u * c
        dy[i, Q + 1] = w * a + z * c - u * b
        dy[i, Q + 2] = w * b + u * a - x * c
        dy[i, Q + 3] = w * c + x * b - z * a
        put3(dy, i, V, get3(out, i, LINEAR_HALF))
        put3(dy, i, OMEGA, get3(out, i, ANGULAR_HALF))
    dy[n, INTO], dy[n, OUT] = power[INTO], power[OUT]


@inner
def hand_tail(line: int, run: Run, scratch: Scratch) -> None:
    """Copy the tail of a line to where it is evaluated."""
    first = tail_start(run.out.shape[0])
    for k in range(scratch.tail.shape[1]):
        scratch.tail[0, k] = run.lines[line, first + k]


@inner
def take_tail(to: int, run: Run, scratch: Scratch) -> None:
    """Copy the slope of the tail just evaluated into a line."""
    first = tail_start(run.out.shape[0])
    for k in range(scratch.tail.shape[1]):
        run.lines[to, first + k] = scratch.tail[1, k]


@inner
def accelerate(
    t: float, line: int, run: Run, model: Model, conditions: Conditions, scratch: Scratch
) -> None:
    """Evaluate the state in a line; the accelerations into run.out.

    For a step that ends at a knot of a schedule, loads are those before the knot, also at its
    end."""
    hand_tail(line, run, scratch)
    asked = min(t, run.clock[ASKED_UNTIL])
    evaluate(asked, run.states[line], model, conditions, scratch, run.out)


@inner
def slope(
    t: float, line: int, to: int, run: Run, model: Model, conditions: Conditions, scratch: Scratch
) -> None:
    """dy/dt of the state in a line, into another; the accelerations into run.out."""
    accelerate(t, line, run, model, conditions, scratch)
    run.counts[EVALUATIONS] += 1
    rates(run.states[line], run.out, scratch.power, run.states[to])
    take_tail(to, run, scratch)


@inner
def combine(lines: Floats, weights: Floats, row: int, n: int, h: float, base: int, to: int) -> None:
    """lines[to] = lines[base] (nothing where base < 0) + h (weights[row, 0] lines[0] + ... n of
    them), pair by pair."""
    width = lines.shape[1]
    if base >= 0:
        for i in range(width):
            lines[to, i] = lines[base, i]
    else:
        for i in range(width):
            lines[to, i] = 0.0
    for k in range(0, n - 1, 2):
        one, two = h * weights[row, k], h * weights[row, k + 1]
        if one != 0.0 or two != 0.0:
            for i in range(width):
                lines[to, i] += one * lines[k, i] + two * lines[k + 1, i]
    if n % 2 == 1:
        one = h * weights[row, n - 1]
        for i in range(width):
            lines[to, i] += one * lines[n - 1, i]


@inner
def nearness(met: bool, run: Run, scratch: Scratch) -> float:
    """The distance of the pose just evaluated from a singular one: the squared independent part of
    the weakest row; 0 if a row that was independent before is not any more.

    met: the pose satisfies the constraints.  Elsewhere a redundant row may look independent, and
    its rank is not recorded."""
    rank = scratch.report[COUNTED]
    if met:
        run.clock[RANK] = max(run.clock[RANK], rank)
    return scratch.report[WEAKEST] if rank >= run.clock[RANK] else 0.0


@inner
def take_stages(
    smooth: bool, run: Run, model: Model, conditions: Conditions, scratch: Scratch, table: Table
) -> bool:
    """The slopes of a step from BEGIN, the first being known, and its end RAW, noting the nearness
    met; returns whether it may count.

    smooth: every stage is projected first.  Stages miss the constraints by their own errors, and
    near a singular pose accelerations answer to that as 1 / distance squared; on the constraints
    they are as smooth as anywhere.  It may not count where a stage would be moved too far for that.
    """
    clock, t, h, stages = run.clock, run.clock[T], run.clock[STEP], table.counts[STAGES]
    clock[PASSING], clock[NEAREST], clock[FARTHEST] = clock[NEAR], 0.0, clock[NEAR]
    for s in range(1, table.counts[ESTIMATED]):
        combine(run.lines, table.weights, s, s, h, BEGIN, RAW)
        if smooth:
            conditions.control[TIME] = t + table.weights[s, NODE] * h
            project(run.states[RAW], model, conditions, scratch, run.room)
        hand_tail(RAW, run, scratch)
        asked = min(t + table.weights[s, NODE] * h, clock[ASKED_UNTIL])
        evaluate_here(asked, run.states[RAW], model, conditions, scratch, run.out)
        run.counts[EVALUATIONS] += 1
        rates(run.states[RAW], run.out, scratch.power, run.states[s])
        take_tail(s, run, scratch)
        near = nearness(smooth, run, scratch)
        if (
            smooth
            and clock[FIXED] == 0.0
            and run.room[0] > LEAP * math.sqrt(max(near, RUNNING_PIVOT))
        ):
            return False
        if near < clock[PASSING]:
            clock[PASSING], clock[NEAREST] = near, table.weights[s, NODE]
        clock[FARTHEST] = max(clock[FARTHEST], near)
    combine(run.lines, table.weights, stages, stages, h, BEGIN, RAW)
    return True


# --- errors ---------------------------------------------------------------------------------------
@inner
def size_of(error: int, run: Run) -> float:
    """Sum of squares over positions, quaternions, velocities, angular velocities and groups of the
    tail of error / tolerance.

    The scale of a vector is its length (that of a quaternion one), not its components: turning the
    world changes nothing.  The ledger takes no part."""
    before, after, off = run.states[BEGIN], run.states[RAW], run.states[error]
    rtol, atol = run.clock[RTOL], run.clock[ATOL]
    out = 0.0
    for i in range(run.out.shape[0]):
        for first, last in ((R, Q), (Q, V), (V, OMEGA), (OMEGA, STATE_WIDTH)):
            old, new, wrong = 0.0, 0.0, 0.0
            for k in range(first, last):
                old += before[i, k] * before[i, k]
                new += after[i, k] * after[i, k]
                wrong += off[i, k] * off[i, k]
            tolerance = atol + rtol * math.sqrt(max(old, new))
            out += wrong / (tolerance * tolerance)
    first, lines = tail_start(run.out.shape[0]), run.lines
    for g in range(run.groups.shape[0] - 1):
        old, new, wrong = 0.0, 0.0, 0.0
        for k in range(first + run.groups[g], first + run.groups[g + 1]):
            old += lines[BEGIN, k] * lines[BEGIN, k]
            new += lines[RAW, k] * lines[RAW, k]
            wrong += lines[error, k] * lines[error, k]
        tolerance = atol + rtol * math.sqrt(max(old, new))
        out += wrong / (tolerance * tolerance)
    return out


@inner
def error_of(
    along: bool, run: Run, model: Model, conditions: Conditions, scratch: Scratch, table: Table
) -> float:
    """Error of a step over its tolerance: a step is good below one.  along: of its part along the
    constraints alone."""
    h, slopes = run.clock[STEP], table.counts[ESTIMATED]
    n = STATE_WIDTH * run.out.shape[0] + run.groups[run.groups.shape[0] - 1]
    sizes = (0.0, 0.0)
    for estimate in range(1 if table.counts[ORDER] < 7 else 2):
        combine(run.lines, table.weights, FIFTH + estimate, slopes, 1.0, -1, WITHIN)
        if along:
            keep_tangent_part(
                run.states[WITHIN], run.states[BEGIN], model, conditions, scratch, run.states[SMALL]
            )
        size = size_of(WITHIN, run)
        sizes = (size, sizes[1]) if estimate == 0 else (sizes[0], size)
    five, three = sizes
    if five == 0.0:
        return 0.0
    if table.counts[ORDER] < 7:
        return h * math.sqrt(five / n)
    return h * five / math.sqrt((five + 0.01 * three) * n)  # Hairer's combination


@shared
def keep_tangent_part(
    error: Floats, y: Floats, model: Model, conditions: Conditions, scratch: Scratch, small: Floats
) -> None:
    """Leave of an error in poses, and of one in velocities, what the constraints allow at y.
    `small` is room."""
    n, frames = model.bodies.shape[0], scratch.frames
    scratch.wrench[:] = 0.0
    conditions.control[EXPLICIT] = 0.0
    for part in range(2):
        stand(y, model, scratch)
        for i in range(n):
            put3(frames, i, VELOCITY, get3(error, i, R if part == 0 else V))
            spin = (
                small_turn(y, error, i)
                if part == 0
                else turn(frames, i, AXES, get3(error, i, OMEGA))
            )
            put3(frames, i, SPIN, spin)
            put3(small, i, V, get3(frames, i, VELOCITY))
            put3(small, i, OMEGA, turn_back(frames, i, AXES, spin))
        if model.modes.what.shape[0] > 0:
            move_modes(y, error, part == 0, model, scratch, small)
        solve(model, conditions, scratch, 0.0, 0.0, 1.0, CORRECTION_PIVOT)
        change_velocities(small, model, scratch)
        for i in range(n):
            put3(error, i, R if part == 0 else V, get3(small, i, V))
            # A turn is twice the change of the quaternion's vector part, at the pose turned back
            if part == 0:
                error[i, Q] = 0.0
                put3(error, i, Q + 1, scale(0.5, get3(small, i, OMEGA)))
            else:
                put3(error, i, OMEGA, get3(small, i, OMEGA))
        if model.modes.what.shape[0] > 0:
            return_modes(small, part == 0, model, error)
    conditions.control[EXPLICIT] = 1.0


@inner
def next_step(error: float, clipped: bool, run: Run, table: Table) -> bool:
    """Choose the next step from the error of this one; returns whether this one is good."""
    h, power = run.clock[STEP], -1.0 / (table.counts[ORDER] + 1)
    if not error < 1.0:
        run.clock[H] = h * (max(SHRINK, SAFETY * error**power) if math.isfinite(error) else SHRINK)
        run.clock[REFUSED] = 1.0
        return False
    most = (
        GROW if run.clock[REFUSED] == 0.0 else 1.0
    )  # what has just been too long is not tried again at once
    growth = most if error == 0.0 else min(most, SAFETY * error**power)
    run.clock[REFUSED] = 0.0
    if not clipped or growth < 1.0:
        run.clock[H] = h * growth
    return True


@inner
def shares(line: int, less: int, run: Run) -> float:
    """Mean square of a line (minus another one, if `less` is not negative), scaled by the
    tolerances at BEGIN."""
    y, d, rtol, atol = run.states[BEGIN], run.states[line], run.clock[RTOL], run.clock[ATOL]
    out = 0.0
    for i in range(run.out.shape[0]):
        for first, last in ((R, Q), (Q, V), (V, OMEGA), (OMEGA, STATE_WIDTH)):
            size, square = 0.0, 0.0
            for k in range(first, last):
                size += y[i, k] * y[i, k]
                off = d[i, k] - run.states[less, i, k] if less >= 0 else d[i, k]
                square += off * off
            scale = atol + rtol * math.sqrt(size)
            out += square / (scale * scale)
    first, lines = tail_start(run.out.shape[0]), run.lines
    for g in range(run.groups.shape[0] - 1):
        size, square = 0.0, 0.0
        for k in range(first + run.groups[g], first + run.groups[g + 1]):
            size += lines[BEGIN, k] * lines[BEGIN, k]
            off = lines[line, k] - lines[less, k] if less >= 0 else lines[line, k]
            square += off * off
        scale = atol + rtol * math.sqrt(size)
        out += square / (scale * scale)
    return out / (4 * run.out.shape[0] + run.groups.shape[0] - 1)


@inner
def has_missed(line: int, run: Run) -> bool:
    """Whether a state in a line, whose projection is END, violates the joints by so much that the
    step must be shortened."""
    clock = run.clock
    if (
        clock[FIXED] > 0.0
        or clock[MISSES] >= MOST_MISSES
        or max(run.moved[0], run.moved[1]) <= UNFELT
    ):
        return False
    if shares(END, line, run) <= MISSED * MISSED:
        return False
    clock[MISSES] += 1.0
    return True


@inner
def forget_misses(run: Run) -> None:
    """After an accepted step at poses that are no longer singular, count misses from zero again."""
    if run.clock[PASSING] >= WEAK:
        run.clock[MISSES] = 0.0


@inner
def first_step(
    run: Run, model: Model, conditions: Conditions, scratch: Scratch, table: Table
) -> float:
    """A first step with an expected error of a hundredth of the tolerance, from the first slope and
    its change over a small step (Hairer, Norsett and Wanner, Solving Ordinary Differential
    Equations I, II.4)."""
    size, rate, span = shares(BEGIN, -1, run), shares(0, -1, run), run.clock[T_END] - run.clock[T]
    small = min(span, TRIAL_STEP if size < FLAT or rate < FLAT else 0.01 * math.sqrt(size / rate))
    for i in range(run.lines.shape[1]):
        run.lines[WITHIN, i] = run.lines[BEGIN, i] + small * run.lines[0, i]
    slope(run.clock[T] + small, WITHIN, SMALL, run, model, conditions, scratch)
    fastest = math.sqrt(max(rate, shares(SMALL, 0, run) / (small * small)))
    step = (
        max(TRIAL_STEP, SHARE_OF_TRIAL * small)
        if fastest < STILL
        else (0.01 / fastest) ** (1.0 / (table.counts[ORDER] + 1))
    )
    return min(span, min(100.0 * small, step))


@inner
def finite(lines: Floats, line: int) -> bool:
    """Whether every number of a line is finite."""
    total = 0.0
    for i in range(lines.shape[1]):
        total += 0.0 * lines[line, i]
    return total == 0.0


@inner
def copy(lines: Floats, line: int, to: int) -> None:
    """lines[to] = lines[line]."""
    for i in range(lines.shape[1]):
        lines[to, i] = lines[line, i]


@inner
def unit_quaternions(line: int, run: Run) -> None:
    """Normalize every quaternion of the state in a line."""
    y = run.states[line]
    for i in range(run.out.shape[0]):
        size = 0.0
        for k in range(Q, V):
            size += y[i, k] * y[i, k]
        size = 1.0 / math.sqrt(size)
        for k in range(Q, V):
            y[i, k] *= size


# --- within the step ------------------------------------------------------------------------------
@shared
def make_polynomial(
    run: Run, model: Model, conditions: Conditions, scratch: Scratch, table: Table
) -> None:
    """The interpolant over the present step, from its slopes; it ends in RAW."""
    lines, weights, h = run.lines, table.weights, run.clock[STEP]
    stages, extra = table.counts[STAGES], table.counts[EXTRA]
    if extra < 0:  # given
        return
    if extra == 0:
        for s in range(4):
            combine(lines, weights, DENSE + s, stages + 1, h, -1, POLYNOMIAL + s)
        return
    t, smooth = run.clock[T], run.clock[PROJECTING] > 0.0 and run.clock[PASSING] < WEAK
    slope(t + h, END if smooth else RAW, stages, run, model, conditions, scratch)
    for s in range(stages + 1, stages + 1 + extra):
        combine(lines, weights, s, s, h, BEGIN, WITHIN)
        if smooth:  # as those of the step
            conditions.control[TIME] = t + weights[s, NODE] * h
            project(run.states[WITHIN], model, conditions, scratch, run.room)
        slope(t + weights[s, NODE] * h, WITHIN, s, run, model, conditions, scratch)
    for i in range(lines.shape[1]):
        change = lines[RAW, i] - lines[BEGIN, i]
        lines[POLYNOMIAL, i] = change
        lines[POLYNOMIAL + 1, i] = h * lines[0, i] - change
        lines[POLYNOMIAL + 2, i] = 2.0 * change - h * (lines[stages, i] + lines[0, i])
    for s in range(4):
        combine(lines, weights, DENSE + s, stages + 1 + extra, h, -1, POLYNOMIAL + 3 + s)


@inner
def interpolate(x: float, run: Run, table: Table) -> None:
    """The state at the fraction x of the step, into WITHIN; the correction from RAW to END is
    blended in smoothly."""
    lines, blend, extra = run.lines, x * x * (3.0 - 2.0 * x), table.counts[EXTRA]
    terms = 4 if extra == 0 else 7
    for i in range(lines.shape[1]):
        out = 0.0
        for s in range(terms - 1, -1, -1):
            factor = x if extra <= 0 or (terms - 1 - s) % 2 == 0 else 1.0 - x
            out = (out + lines[POLYNOMIAL + s, i]) * factor
        lines[WITHIN, i] = out + lines[BEGIN, i] + blend * (lines[END, i] - lines[RAW, i])
    unit_quaternions(WITHIN, run)
