"""The end of a step put onto the joints, and the ledger of energy that projection changes: whether
this is more than the tolerances explain."""

from __future__ import annotations

import math

from quirkpy.kernels.act.wrenches import PROJECTED
from quirkpy.kernels.base.arrays import (
    BENT,
    FIRST_COORDINATE,
    FIRST_SPEED,
    MASS,
    MODE_COUNT,
    POSITION,
    Vec,
)
from quirkpy.kernels.base.compiled import inner
from quirkpy.kernels.base.conditions import TIME, Conditions
from quirkpy.kernels.base.states import OMEGA, Q, R, V
from quirkpy.kernels.base.vectors import cross, dot, get3, norm, scale, sub
from quirkpy.kernels.step.ledger import hold_momentum, motion_energy
from quirkpy.kernels.step.projection import project
from quirkpy.kernels.step.steps import (
    ALLOWED,
    ATOL,
    BEGIN,
    CHARGE,
    END,
    FIXED,
    HARSH,
    LEAP,
    PASSING,
    PROJECTING,
    RAW,
    RTOL,
    STEP,
    TAKEN,
    H,
    Run,
    T,
    copy,
    finite,
    unit_quaternions,
)
from quirkpy.kernels.step.watch import metric
from quirkpy.kernels.tree.closure import RUNNING_PIVOT
from quirkpy.kernels.tree.evaluation import stand
from quirkpy.kernels.tree.members import work_on_way
from quirkpy.kernels.tree.model import Model, Scratch
from quirkpy.kernels.tree.reach import trace_of
from quirkpy.maths.types import Floats

#: Projections may move so many times the energy that the tolerances leave open, and rounding, a
#: share of all energy; where they move more, joints have taken hold of a motion.  After so many
#: steps on end in which they do a run is over; one that puts energy in counts as so many.
OVERDRAWN, UNSEEN, TOO_HARSH, FROM_NOWHERE = 100.0, 1e-10, 1000, 100


@inner
def charge_motion(
    line: int, to: int, column: int, run: Run, model: Model, scratch: Scratch
) -> None:
    """Add the change of kinetic energy by projection, from one state to another, to a column of the
    ledger."""
    old, new, n = run.states[line], run.states[to], model.bodies.shape[0]
    loss = 0.5 * (
        metric(old, V, old, OMEGA, model.bodies) - metric(new, V, new, OMEGA, model.bodies)
    )
    if model.modes.what.shape[0] > 0:
        stand(old, model, scratch)
        loss = motion_energy(model, scratch)
        stand(new, model, scratch)
        loss -= motion_energy(model, scratch)
    if math.isfinite(loss):
        new[n, column] += loss


@inner
def charge_way(line: int, run: Run, model: Model, scratch: Scratch) -> None:
    """Add to the ledger the work of the loads at END over the displacement by projection, from the
    pose in a line, and compare it with what the tolerances explain. (A fixed step has no
    tolerance.)"""
    new, n, clock = run.states[END], model.bodies.shape[0], run.clock
    clock[CHARGE] = 0.0
    if run.moved[0] == 0.0 and run.moved[1] == 0.0:
        return
    put_way(line, run, model, scratch)
    if clock[FIXED] > 0.0:
        return
    all_ways, allowed = 0.0, 0.0
    for i in range(n):
        f, tau = get3(scratch.wrench, i, 0), get3(scratch.wrench, i, 3)
        m, moment = model.bodies[i, MASS], trace_of(model.bodies, i)
        v, w, r = norm(get3(new, i, V)), norm(get3(new, i, OMEGA)), norm(get3(new, i, R))
        off, turned_off = clock[ATOL] + clock[RTOL] * v, clock[ATOL] + clock[RTOL] * w
        allowed += m * off * (v + off) + moment * turned_off * (w + turned_off)
        allowed += norm(f) * (clock[ATOL] + clock[RTOL] * r) + norm(tau) * (
            clock[ATOL] + clock[RTOL]
        )
        all_ways += m * v * v + moment * w * w
    if model.modes.what.shape[0] > 0:
        allowed += leeway_in_bending(run, model, scratch)
    taken, allowed = (
        new[n, PROJECTED] - run.states[BEGIN, n, PROJECTED],
        allowed + UNSEEN * all_ways,
    )
    clock[TAKEN] += abs(taken)
    clock[ALLOWED] += allowed
    if abs(taken) > max(OVERDRAWN * allowed, clock[ALLOWED]):
        clock[CHARGE] = taken


@inner
def leeway_in_bending(run: Run, model: Model, scratch: Scratch) -> float:
    """What the tolerances leave open of the work of loads at stations and on modes, and, with
    rounding, of the energy of modes [J]."""
    n, modes, tail, out = model.bodies.shape[0], model.modes, scratch.tail, 0.0
    atol, rtol = run.clock[ATOL], run.clock[RTOL]
    for row in range(n, n + modes.stations.shape[0]):
        f, tau = get3(scratch.wrench, row, 0), get3(scratch.wrench, row, 3)
        r = norm(get3(scratch.frames, row, POSITION))
        out += norm(f) * (atol + rtol * r) + norm(tau) * (atol + rtol)
    for b in range(modes.what.shape[0]):
        q, u = modes.what[b, FIRST_COORDINATE], modes.what[b, FIRST_SPEED]
        for k in range(modes.what[b, MODE_COUNT]):
            rate = abs(tail[0, u + k])
            off = atol + rtol * rate
            out += abs(tail[2, u + k]) * (atol + rtol * abs(tail[0, q + k]))
            out += off * (rate + off) + UNSEEN * rate * rate
    return out


@inner
def put_way(line: int, run: Run, model: Model, scratch: Scratch) -> None:
    """Add the work of the loads at END over the displacement from the pose in a line to the column
    of projections."""
    old, new = run.states[line], run.states[END]
    for i in range(model.bodies.shape[0]):
        f, tau = get3(scratch.wrench, i, 0), get3(scratch.wrench, i, 3)
        way = dot(f, sub(get3(new, i, R), get3(old, i, R))) + dot(tau, rotation_from(old, new, i))
        new[model.bodies.shape[0], PROJECTED] += way
    for b in range(model.modes.what.shape[0]):
        i = model.modes.what[b, BENT]
        d, turned = sub(get3(new, i, R), get3(old, i, R)), rotation_from(old, new, i)
        new[model.bodies.shape[0], PROJECTED] += work_on_way(b, d, turned, old, model, scratch)


@inner
def is_overdrawn(run: Run) -> bool:
    """Whether projection has changed the energy by more than the tolerances explain in many
    consecutive steps, so that the result is no motion."""
    if run.clock[CHARGE] == 0.0:
        run.counts[HARSH] = 0
    else:
        run.counts[HARSH] += 1 if run.clock[CHARGE] > 0.0 else FROM_NOWHERE
    return run.counts[HARSH] > TOO_HARSH and run.clock[TAKEN] > OVERDRAWN * run.clock[ALLOWED]


@inner
def rotation_from(old: Floats, new: Floats, i: int) -> Vec:
    """The rotation vector in N by which body i is turned from one state to another close by."""
    w, a = old[i, Q], get3(old, i, Q + 1)
    u, b = new[i, Q], get3(new, i, Q + 1)
    return scale(2.0, sub(sub(scale(w, b), scale(u, a)), cross(b, a)))


@inner
def end_step(run: Run, model: Model, conditions: Conditions, scratch: Scratch) -> bool:
    """END of a step to RAW: on the constraints, with the momenta of RAW; returns whether that is
    near enough; half the step is next otherwise."""
    clock, free = run.clock, run.clock[FIXED] == 0.0
    put_back(run, model, conditions, scratch)
    if free and not finite(run.lines, END):
        clock[H] = 0.5 * clock[STEP]
        return False
    if clock[PROJECTING] > 0.0:
        leap = LEAP * math.sqrt(max(clock[PASSING], RUNNING_PIVOT))
        if free and scratch.rows.shape[0] > 0 and run.moved[0] > leap:
            clock[H] = 0.5 * clock[STEP]
            return False
        if run.moved[0] > 0.0:
            hold_momentum(run.states[RAW], run.states[END], model, scratch)
        charge_motion(RAW, END, PROJECTED, run, model, scratch)
    return True


@inner
def put_back(run: Run, model: Model, conditions: Conditions, scratch: Scratch) -> None:
    """END: the state RAW with normalized quaternions, projected onto the constraints if the run
    does so."""
    copy(run.lines, RAW, END)
    unit_quaternions(END, run)
    if run.clock[PROJECTING] > 0.0:
        conditions.control[TIME] = run.clock[T] + run.clock[STEP]
        project(run.states[END], model, conditions, scratch, run.moved)
