"""Collocation at the points of Radau: three stages of order five, for stiff motion.

The stages are solved for by Newton's method with one Jacobian, which serves as long as it leads
there; in the eigenvectors of the method's matrix that takes one real and one complex system of
equations.  In each speeds are eliminated, so that they are as large as there are coordinates
(Hairer and Wanner, Solving Ordinary Differential Equations II, IV.8)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from quirkpy.kernels.act.wrenches import INTO, OUT
from quirkpy.kernels.base.compiled import inner, shared
from quirkpy.kernels.base.conditions import TIME, Conditions
from quirkpy.kernels.base.factors import factorize, solve_factors
from quirkpy.kernels.base.states import STATE_WIDTH
from quirkpy.kernels.step.projection import project
from quirkpy.kernels.step.relative import (
    AT_BASE,
    Relative,
    extent,
    farthest_turn,
    note_turning,
    place,
    rates_of,
    set_base,
    take_frames,
)
from quirkpy.kernels.step.steps import (
    BEGIN,
    FARTHEST,
    LEAP,
    NEAR,
    NEAREST,
    PASSING,
    POLYNOMIAL,
    RAW,
    RTOL,
    SMALL,
    STEP,
    WITHIN,
    Run,
    T,
    copy,
    nearness,
    size_of,
    slope,
)
from quirkpy.kernels.tree.closure import RUNNING_PIVOT
from quirkpy.kernels.tree.model import Model, Scratch
from quirkpy.maths.constants import EPS
from quirkpy.maths.types import Floats, Ints

# Rows of Collocation.table: times of the stages, in steps; from transformed stages to stages, and
# back (3 each); weights of the error estimate; powers of the polynomial through the stages (3); of
# the integral of one through their slopes (3); powers through seven points; the eigenvalues.
TIMES, MIX, UNMIX, WRONG, POWERS, INTEGRALS, THROUGH, EIGENVALUES, TABLE_ROWS = (
    0, 1, 4, 7, 8, 11, 14, 21, 22,
)  # fmt: skip
#: Points of a step through which its polynomial in a state is laid.
POINTS = 7
# Columns of the memory: the step for which equations are factorized (0: none); the last step, its
# error, when it ended; whether a Jacobian is known, and whether it was taken at this very base;
# whether there is a base; the largest rate of a turn there; what the last Newton step was worth of
# the one before it, and what is left after one, of that; Jacobians and factorizations made; whether
# stages are put onto the joints.
(
    FACTORED,
    OLD_STEP,
    OLD_ERROR,
    ENDED,
    KNOWN,
    FRESH,
    BASED,
    TURNING,
    RATE,
    LEFT_OVER,
    JACOBIANS,
    FACTORIZATIONS,
    SMOOTH,
    MEMORY_WIDTH,
) = range(14)
# Rows of Collocation.x: the base, its rates, room (2).
ORIGIN, ORIGIN_RATES, HERE, CHANGE = range(4)
#: Lines of a run: the states of the stages, and their slopes.
STAGE, STAGE_SLOPE = 1, 4
#: Newton steps at most; steps of differences: of a place, by the extent of the system, and by how
#: far it is from the origin; of a speed.
MOST_NEWTON, DIFFERENCE, FAR_DIFFERENCE, SPEED_DIFFERENCE = 7, math.sqrt(EPS), 1e-11, 1e-6
#: The error estimate is of third order, that of a step of fifth: it may be so many times the
#: tolerance, by the power of that (as in Hairer and Wanner's code).
LENIENCE, LENIENT_POWER = 0.1, -1.0 / 3.0
#: Newton's method ends where what is left is this share of the tolerance of the estimate, at most,
#: and no less than so many roundings.
LOOSEST_NEWTON, LEAST_ROUNDINGS = 0.03, 10.0
#: The last Newton step changes the stages by less than this share of what the estimate may be: the
#: ledger is taken from their slopes before it.
FELT = 0.01
#: No body is turned by more in a step [rad].
MOST_TURN = 2.0


class Collocation(NamedTuple):
    """What an implicit run has beside an explicit one: the coordinates of states; numbers of the
    method (TABLE_ROWS, POINTS); memory (MEMORY_WIDTH,); coordinates, speeds and tails of base and
    room (4, N), of the stages beside the base, the same transformed, and their rates (3, N each);
    the last step's polynomial in them (3, N); how accelerations and rates of the tail change with
    coordinates and tail (n, n), and with speeds (n, count); factors, real and complex (n, n), what
    was exchanged in them (2, n), right hand sides (N,) and room (n,) for either."""

    relative: Relative
    table: Floats
    memory: Floats
    x: Floats
    stages: Floats
    mixed: Floats
    rates: Floats
    past: Floats
    pull: Floats
    drag: Floats
    real: Floats
    pair: Any
    pivots: Ints
    one: Floats
    two: Any
    one_room: Floats
    two_room: Any


def numbers_of_method() -> Floats:
    """The table of Radau IIA of order five."""
    table, root = np.zeros((TABLE_ROWS, POINTS)), math.sqrt(6.0)
    c = np.array([(4.0 - root) / 10.0, (4.0 + root) / 10.0, 1.0])
    inverse = np.linalg.inv(c[:, None] ** np.arange(3.0))
    integrals = inverse.T / np.arange(1.0, 4.0)
    weights = integrals @ (c[:, None] ** np.arange(1.0, 4.0)).T  # A of the method, transposed
    values, vectors = np.linalg.eig(np.linalg.inv(weights.T))
    one, two = int(np.argmin(abs(values.imag))), int(np.argmax(values.imag))
    mix = np.stack([vectors[:, one].real, vectors[:, two].real, vectors[:, two].imag], axis=1)
    table[TIMES, :3], table[MIX:UNMIX, :3], table[UNMIX:WRONG, :3] = c, mix, np.linalg.inv(mix)
    table[WRONG, :3] = np.array([-13.0 - 7.0 * root, -13.0 + 7.0 * root, -1.0]) / 3.0
    table[POWERS:INTEGRALS, :3] = np.linalg.inv(c[:, None] ** np.arange(1.0, 4.0)).T
    table[INTEGRALS:THROUGH, :3] = integrals
    points = np.arange(1.0, POINTS + 1.0) / POINTS
    table[THROUGH:EIGENVALUES] = np.linalg.inv(points[:, None] ** np.arange(1.0, POINTS + 1.0))
    table[EIGENVALUES, :3] = values[one].real, values[two].real, -values[two].imag
    return table


# --- the equations of a Newton step ---------------------------------------------------------------
@inner
def set_equations(m: Any, a: Any, c: Collocation) -> None:
    """(m - J) with the speeds eliminated: (m - drag)(m - turning) - pull, over coordinates and
    tail."""
    triple, turning, count = c.relative.triple, c.relative.turning, c.drag.shape[1]
    for i in range(a.shape[0]):
        for k in range(a.shape[0]):
            a[i, k] = -c.pull[i, k]
        for k in range(count):
            a[i, k] -= m * c.drag[i, k]
            if triple[k] >= 0:
                for b in range(3):
                    a[i, triple[k] + b] += c.drag[i, k] * turning[k, b]
        if i >= count:
            a[i, i] += m
            continue
        a[i, i] += m * m
        if triple[i] >= 0:
            for b in range(3):
                a[i, triple[i] + b] -= m * turning[i, b]


@inner
def solve_equations(m: Any, a: Any, which: int, r: Any, room: Any, c: Collocation) -> None:
    """The solution of (m - J) x = r in the place of r (N,): coordinates, speeds, tail."""
    triple, turning, count = c.relative.triple, c.relative.turning, c.drag.shape[1]
    for i in range(a.shape[0]):
        total = r[count + i]
        if i < count:
            total += m * r[i]
        for k in range(count):
            total -= c.drag[i, k] * r[k]
        room[i] = total
    solve_factors(a, c.pivots[which], room)
    for i in range(count):
        speed = m * room[i] - r[i]
        if triple[i] >= 0:
            for b in range(3):
                speed -= turning[i, b] * room[triple[i] + b]
        r[count + i] = speed
    for i in range(count):
        r[i] = room[i]
    for i in range(count, a.shape[0]):
        r[count + i] = room[i]


@inner
def eigenvalues(c: Collocation, h: float) -> tuple[float, complex]:
    """Eigenvalues of the inverse of the method's matrix, real and complex, over the step."""
    row = c.table[EIGENVALUES]
    return row[0] / h, complex(row[1] / h, row[2] / h)


@shared
def factorize_equations(h: float, c: Collocation) -> None:
    """Both systems of equations for a step."""
    one, two = eigenvalues(c, h)
    set_equations(one, c.real, c)
    factorize(c.real, c.pivots[0])
    set_equations(two, c.pair, c)
    factorize(c.pair, c.pivots[1])
    c.memory[FACTORED] = h
    c.memory[FACTORIZATIONS] += 1.0


# --- the base, and how things change there --------------------------------------------------------
@inner
def take_base(run: Run, model: Model, scratch: Scratch, c: Collocation) -> None:
    """The state in BEGIN as that about which the next step is described, and its rates."""
    set_base(run, model, scratch, c.relative, c.x[ORIGIN])
    rates_of(c.x[ORIGIN], AT_BASE, 0, c.x[ORIGIN_RATES], run, scratch, c.relative)
    c.memory[TURNING] = farthest_turn(c.drag.shape[1], c.x[ORIGIN], c.relative)
    c.memory[BASED], c.memory[FRESH] = 1.0, 0.0


@inner
def rates_at(
    t: float, stage: int, line: int, to: int, x: Floats, out: Floats, run: Run, model: Model,
    conditions: Conditions, scratch: Scratch, c: Collocation,
) -> None:  # fmt: skip
    """The rates of coordinates x whose state is in a line; its slope into another.  Near a singular
    pose it is put onto the joints first, as stages of explicit steps are."""
    if c.memory[SMOOTH] != 0.0:
        conditions.control[TIME] = t
        project(run.states[line], model, conditions, scratch, run.room)
        take_frames(stage, line, x, run, c.relative)
    slope(t, line, to, run, model, conditions, scratch)
    rates_of(x, stage, to, out, run, scratch, c.relative)


@inner
def difference_along(
    k: int, size: float, run: Run, model: Model, conditions: Conditions, scratch: Scratch,
    c: Collocation,
) -> None:  # fmt: skip
    """How all rates change with number k of the base, by a difference, into the room CHANGE."""
    here, change, origin, t = c.x[HERE], c.x[CHANGE], c.x[ORIGIN_RATES], run.clock[T]
    for j in range(here.shape[0]):
        here[j] = c.x[ORIGIN, j]
    here[k] += size
    step = here[k] - c.x[ORIGIN, k]
    place(here, 0.0, AT_BASE, WITHIN, run, model, scratch, c.relative)
    rates_at(t, AT_BASE, WITHIN, SMALL, here, change, run, model, conditions, scratch, c)
    for j in range(here.shape[0]):
        change[j] = (change[j] - origin[j]) / step


@inner
def difference_of_place(run: Run, model: Model, c: Collocation) -> float:
    """By how much a coordinate is moved [m], [rad]."""
    far = 0.0
    for i in range(run.out.shape[0]):
        for k in range(3):
            far = max(far, abs(run.states[BEGIN, i, k]))
    return DIFFERENCE * extent(model, c.relative) + FAR_DIFFERENCE * far


@shared
def differentiate(
    run: Run, model: Model, conditions: Conditions, scratch: Scratch, c: Collocation
) -> None:
    """How accelerations and rates of the tail change at the base, coordinate by coordinate."""
    n, count, triple = c.pull.shape[0], c.drag.shape[1], c.relative.triple
    apart = difference_of_place(run, model, c)
    for k in range(n + count):
        size = SPEED_DIFFERENCE * (1.0 + abs(c.x[ORIGIN, k]))
        if k < count:
            size = apart if triple[k] < 0 else DIFFERENCE
        difference_along(k, size, run, model, conditions, scratch, c)
        for i in range(n):
            if k < count:
                c.pull[i, k] = c.x[CHANGE, count + i]
            elif k < 2 * count:
                c.drag[i, k - count] = c.x[CHANGE, count + i]
            else:
                c.pull[i, k - count] = c.x[CHANGE, count + i]
    note_turning(c.x[ORIGIN], c.relative)
    c.memory[KNOWN], c.memory[FRESH], c.memory[FACTORED] = 1.0, 1.0, 0.0
    c.memory[JACOBIANS] += 1.0


# --- the stages -----------------------------------------------------------------------------------
@inner
def lenience(run: Run) -> float:
    """How many tolerances of the user the error estimate may be."""
    return LENIENCE * run.clock[RTOL] ** LENIENT_POWER


@inner
def guess_stages(h: float, run: Run, c: Collocation) -> None:
    """The stages by the last step's polynomial, where that ended here; else as the base."""
    share, known = 0.0, c.memory[ENDED] == run.clock[T]
    if known:
        share = h / c.memory[OLD_STEP]
    for s in range(3):
        x = 1.0 + share * c.table[TIMES, s]
        for j in range(c.stages.shape[1]):
            one, two, three = c.past[0, j], c.past[1, j], c.past[2, j]
            c.stages[s, j] = (x - 1.0) * (one + (x + 1.0) * two + (x * x + x + 1.0) * three)
    for row in range(3):
        mix(UNMIX + row, c.stages, c.mixed[row], c)


@inner
def mix(row: int, given: Floats, to: Floats, c: Collocation) -> None:
    """A sum of three lines, weighed by a row of the table."""
    a, b, d = c.table[row, 0], c.table[row, 1], c.table[row, 2]
    for j in range(to.shape[0]):
        to[j] = a * given[0, j] + b * given[1, j] + d * given[2, j]


@inner
def place_stage(s: int, run: Run, model: Model, scratch: Scratch, c: Collocation) -> float:
    """The state of a stage into its line; returns by how much that changes it, squared, over the
    tolerances."""
    here, line = c.x[HERE], STAGE + s
    for j in range(here.shape[0]):
        here[j] = c.x[ORIGIN, j] + c.stages[s, j]
    tau = c.table[TIMES, s] * run.clock[STEP]
    place(here, tau, s, WITHIN, run, model, scratch, c.relative)
    for j in range(run.lines.shape[1]):
        run.lines[SMALL, j] = run.lines[WITHIN, j] - run.lines[line, j]
    copy(run.lines, WITHIN, line)
    return size_of(SMALL, run)


@inner
def place_stages(run: Run, model: Model, scratch: Scratch, c: Collocation) -> float:
    """The states of all stages into their lines; returns the change of a number over its tolerance,
    as the root of the mean square."""
    total = 0.0
    for s in range(3):
        total += place_stage(s, run, model, scratch, c)
    return math.sqrt(total / (3.0 * numbers_of(run)))


@inner
def numbers_of(run: Run) -> float:
    """How many numbers of a state have an error."""
    return STATE_WIDTH * run.out.shape[0] + run.groups[run.groups.shape[0] - 1]


@inner
def take_slopes(
    run: Run, model: Model, conditions: Conditions, scratch: Scratch, c: Collocation
) -> bool:
    """The rates of all stages, and how near they come to a singular pose; returns whether they may
    count: not where one was put onto the joints from too far."""
    clock, h, smooth = run.clock, run.clock[STEP], c.memory[SMOOTH] != 0.0
    clock[PASSING], clock[NEAREST], clock[FARTHEST] = clock[NEAR], 0.0, clock[NEAR]
    for s in range(3):
        here = c.x[HERE]
        for j in range(here.shape[0]):
            here[j] = c.x[ORIGIN, j] + c.stages[s, j]
        t = clock[T] + c.table[TIMES, s] * h
        rates_at(
            t, s, STAGE + s, STAGE_SLOPE + s, here, c.rates[s], run, model, conditions, scratch, c
        )
        near = nearness(smooth, run, scratch)
        if smooth and run.room[0] > LEAP * math.sqrt(max(near, RUNNING_PIVOT)):
            return False
        if near < clock[PASSING]:
            clock[PASSING], clock[NEAREST] = near, c.table[TIMES, s]
        clock[FARTHEST] = max(clock[FARTHEST], near)
    return True


@inner
def newton_step(h: float, c: Collocation) -> None:
    """One step of Newton's method on the transformed stages."""
    one, two = eigenvalues(c, h)
    t, rates, mixed = c.table, c.rates, c.mixed
    mix(UNMIX, rates, c.one, c)
    for j in range(c.one.shape[0]):
        c.one[j] -= one * mixed[0, j]
        a, b = 0.0, 0.0
        for s in range(3):
            a += t[UNMIX + 1, s] * rates[s, j]
            b += t[UNMIX + 2, s] * rates[s, j]
        c.two[j] = complex(a, b) - two * complex(mixed[1, j], mixed[2, j])
    solve_equations(one, c.real, 0, c.one, c.one_room, c)
    solve_equations(two, c.pair, 1, c.two, c.two_room, c)
    for j in range(c.one.shape[0]):
        mixed[0, j] += c.one[j]
        mixed[1, j] += c.two[j].real
        mixed[2, j] += c.two[j].imag
    for s in range(3):
        mix(MIX + s, mixed, c.stages[s], c)


@shared
def solve_stages(
    run: Run, model: Model, conditions: Conditions, scratch: Scratch, c: Collocation
) -> int:
    """The stages of a step by Newton's method; returns how many steps of it that took, or 0 where
    it does not lead there."""
    h, rate, before = run.clock[STEP], 0.0, 0.0
    over = max(c.memory[LEFT_OVER], EPS) ** 0.8
    unit = 1.0 / lenience(run)
    least = LEAST_ROUNDINGS * EPS * unit / run.clock[RTOL]
    enough = max(least, min(LOOSEST_NEWTON, math.sqrt(run.clock[RTOL] / unit)))
    guess_stages(h, run, c)
    copy(run.lines, BEGIN, RAW)
    place_stages(run, model, scratch, c)
    for k in range(1, MOST_NEWTON + 1):
        if not take_slopes(run, model, conditions, scratch, c):
            return 0
        newton_step(h, c)
        change = unit * place_stages(run, model, scratch, c)
        if not change < np.inf or farthest_turn(0, c.stages[2], c.relative) > MOST_TURN:
            return 0
        if k > 1:
            rate = change / before
            left = MOST_NEWTON - k
            if rate >= 1.0 or rate**left / (1.0 - rate) * change > enough:
                return 0
            over = rate / (1.0 - rate)
        c.memory[RATE], c.memory[LEFT_OVER] = rate, over
        if change == 0.0 or (over * change < enough and change < FELT):
            return k
        before = change
    return 0


# --- the end of a step ----------------------------------------------------------------------------
@inner
def solve_error(line: int, run: Run, c: Collocation) -> None:
    """The error estimate from the rates in a row of x, into c.one."""
    h = run.clock[STEP]
    mix(WRONG, c.stages, c.one, c)
    for j in range(c.one.shape[0]):
        c.one[j] = c.x[line, j] + c.one[j] / h
    solve_equations(c.table[EIGENVALUES, 0] / h, c.real, 0, c.one, c.one_room, c)


@inner
def size_of_error(run: Run, model: Model, scratch: Scratch, c: Collocation) -> float:
    """The estimate in c.one over what it may be."""
    here = c.x[HERE]
    for j in range(here.shape[0]):
        here[j] = c.x[ORIGIN, j] + c.stages[2, j] + c.one[j]
    place(here, run.clock[STEP], AT_BASE, WITHIN, run, model, scratch, c.relative)
    for j in range(run.lines.shape[1]):
        run.lines[SMALL, j] = run.lines[WITHIN, j] - run.lines[RAW, j]
    return math.sqrt(size_of(SMALL, run) / numbers_of(run)) / lenience(run)


@shared
def error_of_stages(
    again: bool, run: Run, model: Model, conditions: Conditions, scratch: Scratch, c: Collocation
) -> float:
    """Error of a step over what it may be; again: where it is too large, what is stiff in it is
    filtered out once more."""
    solve_error(ORIGIN_RATES, run, c)
    error = size_of_error(run, model, scratch, c)
    if again and error >= 1.0 and error < np.inf:
        here = c.x[HERE]
        for j in range(here.shape[0]):
            here[j] = c.x[ORIGIN, j] + c.one[j]
        place(here, 0.0, AT_BASE, WITHIN, run, model, scratch, c.relative)
        rates_at(
            run.clock[T], AT_BASE, WITHIN, SMALL, here, c.x[CHANGE], run, model, conditions,
            scratch, c,
        )  # fmt: skip
        solve_error(CHANGE, run, c)
        error = size_of_error(run, model, scratch, c)
    return error


@inner
def arrive(run: Run, c: Collocation) -> None:
    """The last stage as the end of the step, RAW, with what loads and dampers have done on the
    way."""
    n, h = run.out.shape[0], run.clock[STEP]
    copy(run.lines, STAGE + 2, RAW)
    for k in range(STATE_WIDTH):
        run.states[RAW, n, k] = run.states[BEGIN, n, k]
    for which in (INTO, OUT):
        for s in range(3):
            weight = 0.0
            for power in range(3):
                weight += c.table[INTEGRALS + s, power]
            run.states[RAW, n, which] += h * weight * run.states[STAGE_SLOPE + s, n, which]


@inner
def remember_stages(c: Collocation) -> None:
    """The polynomial of the step, by powers of the time in steps."""
    for power in range(3):
        for j in range(c.stages.shape[1]):
            total = 0.0
            for s in range(3):
                total += c.table[POWERS + s, power] * c.stages[s, j]
            c.past[power, j] = total


@shared
def lay_polynomial(run: Run, model: Model, scratch: Scratch, c: Collocation) -> None:
    """The polynomial of the step in states, through points on that in coordinates."""
    lines, here, h = run.lines, c.x[HERE], run.clock[STEP]
    for power in range(POINTS):
        for j in range(lines.shape[1]):
            lines[POLYNOMIAL + power, j] = 0.0
    copy(lines, BEGIN, WITHIN)
    for point in range(POINTS):
        x = (point + 1.0) / POINTS
        for j in range(here.shape[0]):
            way = x * (c.past[0, j] + x * (c.past[1, j] + x * c.past[2, j]))
            here[j] = c.x[ORIGIN, j] + way
        place(here, x * h, AT_BASE, WITHIN, run, model, scratch, c.relative)
        for power in range(POINTS):
            for j in range(lines.shape[1]):
                change = lines[WITHIN, j] - lines[BEGIN, j]
                lines[POLYNOMIAL + power, j] += c.table[THROUGH + power, point] * change
    n = run.out.shape[0]
    for which in (INTO, OUT):
        for power in range(3):
            for s in range(3):
                run.states[POLYNOMIAL + power, n, which] += (
                    h * c.table[INTEGRALS + s, power] * run.states[STAGE_SLOPE + s, n, which]
                )
