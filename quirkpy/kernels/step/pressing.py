"""Which touched stops carry load.  Stops never pull, so impulses and forces solve a complementarity
problem."""

from __future__ import annotations

from quirkpy.kernels.base.compiled import inner, shared
from quirkpy.kernels.base.conditions import ASKED, BOUNCE, HOLDS, Conditions
from quirkpy.kernels.step.projection import CORRECTION_PIVOT
from quirkpy.kernels.step.steps import END, Run, accelerate
from quirkpy.kernels.step.watch import leaving
from quirkpy.kernels.tree.evaluation import free_of_stop, row_of_stop, solve
from quirkpy.kernels.tree.model import Model, Scratch
from quirkpy.kernels.tree.stops import LATCH, RELEASE, SETTLE, SIDE, row_response
from quirkpy.kernels.tree.tree import LOOP_BODY1, LOOP_BODY2

#: A rate after an impact that is wrong by this share of `settle` is.
SLIGHT = 1e-6
#: Pivots tried for each stop; then all that would be run into hold.
PIVOTS = 16


@shared
def hold_what_presses(
    striking: bool, t: float, run: Run, model: Model, conditions: Conditions, scratch: Scratch
) -> None:
    """Of the stops that hold (on return: are asked), let those go on holding that press, at an
    impact (`striking`) or between impacts, at the state END.

    At an impact, with p the impulses, u the rates before and after, e the restitutions, Newton's
    law for contacts that do not pull (J. J. Moreau, Unilateral contact and dry friction in finite
    freedom dynamics, 1988; Ch. Glocker, F. Pfeiffer, Nonlinear Dynamics 7 (1995) 471):

        w = u+ + e u-,  p >= 0,  w >= 0,  p.w = 0.

    The change of kinetic energy is half the sum of p (u+ + u-).  Where p > 0 that is p (1 - e) u-,
    and u- <= 0: none is ever added, however the restitutions differ.  Where nothing is struck, p
    are forces and w the accelerations with which the stops are left.

    Solved by principal pivots, from none that holds, always the first stop that is wrong
    (criss-cross, D. den Hertog, C. Roos, T. Terlaky, Linear Algebra Appl. 187 (1993) 1, which ends
    for semidefinite matrices): one that is run into takes hold, one that pulls lets go, and may
    come again.  None joins those on which it depends, so those that hold are independent, and
    whether one pulls is whether it would be left if it alone let go.  In the end what lies at its
    stop and goes neither way is held too, unless it bounces."""
    stops = conditions.stops
    for _ in range(PIVOTS * ask_those_that_hold(model, conditions)):
        which = first_wrong(striking, t, run, model, conditions, scratch)
        if which < 0:
            break
        stops[which, HOLDS] = 1.0 - stops[which, HOLDS]
    solve_motion(striking, t, run, model, conditions, scratch)
    for s in range(stops.shape[0]):
        if stops[s, ASKED] != 0 and stops[s, HOLDS] == 0 and stops[s, BOUNCE] == 0.0:
            over = surplus(striking, s, model, conditions, scratch)
            if over <= doubtful_surplus(striking, s, model, conditions, scratch):
                stops[s, HOLDS] = 1


@inner
def ask_those_that_hold(model: Model, conditions: Conditions) -> int:
    """Release the stops that hold and mark them as under test; returns their number.  Latches go on
    holding."""
    asked = 0
    for s in range(conditions.stops.shape[0]):
        if model.stops.numbers[s, LATCH] != 0.0:
            continue
        conditions.stops[s, ASKED] = conditions.stops[s, HOLDS]
        if conditions.stops[s, HOLDS] != 0:
            conditions.stops[s, HOLDS] = 0
            asked += 1
    return asked


@shared
def solve_motion(
    striking: bool, t: float, run: Run, model: Model, conditions: Conditions, scratch: Scratch
) -> None:
    """The change of velocity at an impact, or the accelerations, with the stops that hold now."""
    if striking:
        solve(model, conditions, scratch, 0.0, 0.0, 1.0, CORRECTION_PIVOT)
    else:
        accelerate(t, END, run, model, conditions, scratch)


@shared
def first_wrong(
    striking: bool, t: float, run: Run, model: Model, conditions: Conditions, scratch: Scratch
) -> int:
    """The first stop under test that violates complementarity: it is penetrated without holding, or
    holds and pulls; or -1."""
    stops = conditions.stops
    solve_motion(striking, t, run, model, conditions, scratch)
    into = stops.shape[0]
    for s in range(stops.shape[0]):
        if stops[s, ASKED] != 0 and stops[s, HOLDS] == 0:
            over = surplus(striking, s, model, conditions, scratch)
            if over < -slight(striking, s, model):
                into = s
                break
    for s in range(into):
        if stops[s, ASKED] != 0 and stops[s, HOLDS] != 0:
            stops[s, HOLDS] = 0
            solve_motion(striking, t, run, model, conditions, scratch)
            stops[s, HOLDS] = 1
            if surplus(striking, s, model, conditions, scratch) > slight(striking, s, model):
                return s
    return into if into < stops.shape[0] else -1


@inner
def surplus(
    striking: bool, s: int, model: Model, conditions: Conditions, scratch: Scratch
) -> float:
    """By how much the rate [rad/s] or [m/s] with which stop s is left, after the change of velocity
    just computed, exceeds the required one; or the acceleration with which it is left."""
    if not striking:
        return leaving(s, model, conditions, scratch)
    _, before = free_of_stop(s, model, conditions, scratch)
    after = before + change_of_rate(s, model, conditions, scratch)
    return after + conditions.stops[s, BOUNCE] * before


@inner
def slight(striking: bool, s: int, model: Model) -> float:
    """The threshold of `surplus` below which it is rounding."""
    return SLIGHT * model.stops.numbers[s, SETTLE] if striking else RELEASE


@inner
def doubtful_surplus(
    striking: bool, s: int, model: Model, conditions: Conditions, scratch: Scratch
) -> float:
    """The surplus up to which a stop goes on holding.  At an impact this is `settle`, and less for
    a faster impact, so that holding adds at most the energy of that rate."""
    if not striking:
        return RELEASE
    _, before = free_of_stop(s, model, conditions, scratch)
    settle = model.stops.numbers[s, SETTLE]
    return settle * min(1.0, settle / abs(before)) if before != 0.0 else settle


@inner
def change_of_rate(s: int, model: Model, conditions: Conditions, scratch: Scratch) -> float:
    """The change of the rate with which stop s is left, by the change of velocity just computed."""
    stops, loops = model.stops, model.tree.loops
    row = loops.shape[0] - stops.what.shape[0] + s
    row_of_stop(row, s, model, conditions, scratch)
    a, b = loops[row, LOOP_BODY1], loops[row, LOOP_BODY2]
    return stops.numbers[s, SIDE] * row_response(row, a, b, scratch.rows, scratch.work)
