"""The implicit integrator: steps of collocation where the explicit one takes Runge-Kutta's; all
else of a run is the same."""

from __future__ import annotations

import numpy as np

from quirkpy.kernels.base.compiled import inner, kernel
from quirkpy.kernels.base.conditions import Conditions
from quirkpy.kernels.step.charges import end_step
from quirkpy.kernels.step.collocation import (
    BASED,
    ENDED,
    FACTORED,
    FRESH,
    KNOWN,
    LEFT_OVER,
    MOST_NEWTON,
    MOST_TURN,
    OLD_ERROR,
    OLD_STEP,
    RATE,
    SMOOTH,
    TURNING,
    Collocation,
    arrive,
    differentiate,
    error_of_stages,
    factorize_equations,
    lay_polynomial,
    remember_stages,
    solve_stages,
    take_base,
)
from quirkpy.kernels.step.impacts import Rows
from quirkpy.kernels.step.integrator import (
    ARRIVED,
    GOING,
    REJECTED,
    has_room,
    is_clipped,
    set_step,
    take_in,
)
from quirkpy.kernels.step.methods import Table
from quirkpy.kernels.step.steps import (
    NEAR,
    PASSING,
    PROJECTING,
    REFUSED,
    SAFETY,
    SHRINK,
    STEP,
    T_END,
    WEAK,
    H,
    Run,
    T,
)
from quirkpy.kernels.step.watch import Watch
from quirkpy.kernels.tree.model import Model, Scratch
from quirkpy.maths.constants import TINY

#: A step grows at most so much; by less than the second number it does not, so that what is
#: factorized serves again.
MOST_GROWTH, WORTH_WHILE = 8.0, 1.2
#: A Jacobian is taken anew after steps that took more of Newton's than the first number, each worth
#: less than the second says of the one before it.
FEW_NEWTON, GOOD_RATE = 2, 1e-3
#: Of the step at which a body would turn too far this share is taken at most.
SHY = 0.75
#: A step ends where it was to end but for this share of it.
LATE = 1e-9
#: An error below this counts as this [1].
LEAST_ERROR = 1e-10


@inner
def make_equations(
    run: Run, model: Model, conditions: Conditions, scratch: Scratch, c: Collocation
) -> None:
    """The equations of the step, where those at hand are of another."""
    if c.memory[KNOWN] == 0.0:
        differentiate(run, model, conditions, scratch, c)
    if c.memory[FACTORED] != run.clock[STEP]:
        factorize_equations(run.clock[STEP], c)


@inner
def keep_smooth(smooth: bool, c: Collocation) -> None:
    """Whether stages are put onto the joints; a Jacobian without that is none with it."""
    if (c.memory[SMOOTH] != 0.0) != smooth:
        c.memory[SMOOTH], c.memory[KNOWN] = 1.0 if smooth else 0.0, 0.0


@inner
def give_up(run: Run, c: Collocation) -> None:
    """Newton's method leads nowhere: a Jacobian of this very base is next, or half the step."""
    if c.memory[FRESH] != 0.0:
        run.clock[H], run.clock[REFUSED] = 0.5 * run.clock[STEP], 1.0
    c.memory[KNOWN] = c.memory[FRESH]
    c.memory[LEFT_OVER], c.memory[ENDED] = 1.0, np.nan


@inner
def growth_after(error: float, newton: int, run: Run, c: Collocation) -> float:
    """By how much the next step may differ from this one: by its error, and by how that has changed
    since the one before (Gustafsson)."""
    error = max(error, LEAST_ERROR)
    growth = error**-0.25
    if c.memory[ENDED] == run.clock[T]:
        change = run.clock[STEP] / c.memory[OLD_STEP] * (c.memory[OLD_ERROR] / error) ** 0.25
        growth *= min(1.0, change)
    return SAFETY * (2.0 * MOST_NEWTON + 1.0) / (2.0 * MOST_NEWTON + newton) * growth


@inner
def choose_next(error: float, newton: int, clipped: bool, run: Run, c: Collocation) -> bool:
    """The next step, from the error of this one; returns whether this one is good."""
    clock, growth = run.clock, growth_after(error, newton, run, c)
    if not error < 1.0:
        clock[H], clock[REFUSED] = clock[STEP] * max(SHRINK, growth), 1.0
        return False
    growth = min(growth, 1.0 if clock[REFUSED] != 0.0 else MOST_GROWTH)
    if newton > FEW_NEWTON and c.memory[RATE] > GOOD_RATE:
        c.memory[KNOWN] = 0.0
    elif 1.0 <= growth < WORTH_WHILE:
        growth = 1.0
    if not clipped or growth < 1.0:
        clock[H] = clock[STEP] * growth
    clock[REFUSED] = 0.0
    c.memory[OLD_ERROR] = max(error, LEAST_ERROR)
    return True


@inner
def attempt_implicitly(
    run: Run, model: Model, conditions: Conditions, scratch: Scratch, watch: Watch, c: Collocation
) -> bool:
    """A step of clock[STEP] to RAW, and END on the constraints; chooses the next step; returns
    whether it is good."""
    clock, clipped = run.clock, is_clipped(run)
    closing = clock[PROJECTING] > 0.0 and scratch.rows.shape[0] > 0
    keep_smooth(closing and clock[NEAR] < WEAK, c)
    make_equations(run, model, conditions, scratch, c)
    newton = solve_stages(run, model, conditions, scratch, c)
    if closing and c.memory[SMOOTH] == 0.0 and clock[PASSING] < WEAK:
        keep_smooth(True, c)  # once more, with every stage on the constraints
        make_equations(run, model, conditions, scratch, c)
        newton = solve_stages(run, model, conditions, scratch, c)
    if newton == 0:
        give_up(run, c)
        return False
    arrive(run, c)
    again = clock[REFUSED] != 0.0 or c.memory[ENDED] != clock[T]
    error = error_of_stages(again, run, model, conditions, scratch, c)
    if not choose_next(error, newton, clipped, run, c):
        return False
    if not end_step(run, model, conditions, scratch):
        return False
    remember_stages(c)
    if watch.values.shape[0] > 0 or clock[PASSING] < WEAK:
        lay_polynomial(run, model, scratch, c)
    c.memory[OLD_STEP] = clock[STEP]
    return True


@inner
def leave_base(end: float, run: Run, c: Collocation) -> None:
    """After a step that was to end at a time [s]: where it did, its polynomial says what may come
    next."""
    late = abs(run.clock[T] - end)
    c.memory[BASED] = 0.0
    c.memory[ENDED] = run.clock[T] if late <= LATE * c.memory[OLD_STEP] else np.nan


@kernel
def march_implicitly(
    room: int, run: Run, model: Model, conditions: Conditions, scratch: Scratch, table: Table,
    watch: Watch, rows: Rows, c: Collocation,
) -> int:  # fmt: skip
    """Steps until T_END, as `march` takes them; loads may have jumped since the last."""
    rejected, why = 0, GOING
    c.memory[BASED] = 0.0
    while why == GOING and has_room(room, run, rows, watch):
        if c.memory[BASED] == 0.0:
            take_base(run, model, scratch, c)
        why = set_step(SHY * MOST_TURN / max(c.memory[TURNING], TINY), rejected, run)
        if why != GOING:
            return why
        end = run.clock[T] + run.clock[STEP]
        good = attempt_implicitly(run, model, conditions, scratch, watch, c)
        why = take_in(good, run, model, conditions, scratch, table, watch, rows)
        if why != REJECTED:
            leave_base(end, run, c)
        rejected = rejected + 1 if why == REJECTED else 0
        why = GOING if why == REJECTED else why
    return ARRIVED if why == GOING and run.clock[T] >= run.clock[T_END] else why
