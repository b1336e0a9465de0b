"""One evaluation: from a state to its accelerations, or to the smallest correction that puts it
back on its joints."""

from __future__ import annotations

import math

from quirkpy.kernels.act.loads import applied_loads
from quirkpy.kernels.act.wrenches import INTO, OUT
from quirkpy.kernels.base.arrays import (
    KIND,
    MASS,
    SPIN,
    VELOCITY,
    Elements,
    Joints,
)
from quirkpy.kernels.base.compiled import inner, kernel, shared, woven
from quirkpy.kernels.base.conditions import (
    BOUNCE,
    EXPLICIT,
    HOLDS,
    OF_GAP,
    OF_SLIP,
    PIVOT_USED,
    TIME,
    Conditions,
)
from quirkpy.kernels.base.hook import LAWS, LOADS, PARTS, ROWS, WRONG_LAW, ask
from quirkpy.kernels.base.matrices import sym_times
from quirkpy.kernels.base.states import further
from quirkpy.kernels.base.vectors import dot, get3, scale, sub
from quirkpy.kernels.place.bending import place_stations
from quirkpy.kernels.place.kinematics import inertia_in_n, place_bodies
from quirkpy.kernels.place.rows import GAMMA, JACOBIAN, LEFT, PHI, RATE, SECOND, constraint_rows
from quirkpy.kernels.tree.attraction import attract_modes
from quirkpy.kernels.tree.elimination import ACCELERATION, CENTRE
from quirkpy.kernels.tree.gaps import aim
from quirkpy.kernels.tree.members import bend, power_in_modes, tell_modes
from quirkpy.kernels.tree.merging import close_rows
from quirkpy.kernels.tree.model import Model, Scratch
from quirkpy.kernels.tree.modes import load_modes, pull_modes
from quirkpy.kernels.tree.recursion import (
    backward,
    centres,
    forward,
    hang_bodies,
    in_body_axes,
    start_bodies,
)
from quirkpy.kernels.tree.stops import clearance, stop_row
from quirkpy.kernels.tree.tree import LOOP_BODY1, LOOP_BODY2, LOOP_BODY3, LOOP_BODY4, LOOP_ROW
from quirkpy.maths.types import Floats, Ints
from quirkpy.tables.tables import PLANET, UNIFORM


@woven
def joints_at(model: Model, conditions: Conditions) -> Joints:
    """The joints, with the angles next to which theirs are taken."""
    return Joints(model.joints.ends, model.joints.coordinates, conditions.near)


@woven
def elements_at(model: Model, conditions: Conditions) -> Elements:
    """The elements, with what ropes are told to do."""
    return Elements(model.elements.what, model.elements.numbers, conditions.phases)


@woven
def stand(y: Floats, model: Model, scratch: Scratch) -> None:
    """The kinematics of a state into the scratch arrays; where bodies bend, with its tail."""
    place_bodies(y, model.bodies.shape[0], scratch.frames)
    if model.modes.what.shape[0] > 0:
        stand_bent(y, model, scratch)


@shared
def stand_bent(y: Floats, model: Model, scratch: Scratch) -> None:
    """The kinematics of stations on bodies that bend, and the tail of the state."""
    place_stations(y, y, False, model.modes, scratch.frames)
    if y.shape[0] > model.bodies.shape[0] + 1:
        for k in range(scratch.tail.shape[1]):
            scratch.tail[0, k] = further(y, model.bodies.shape[0], k)


@shared
def load_bending(t: float, model: Model, scratch: Scratch) -> None:
    """Loads on modes, with their energy and power: of stiffness, damping, uniform accelerations and
    planets."""
    modes, elements = model.modes, model.elements
    scratch.power[OUT] += load_modes(modes, scratch.general, scratch.tail, scratch.potential)
    for k in range(model.acting.shape[0]):
        e = model.acting[k]
        if elements.what[e, KIND] == UNIFORM:
            scratch.potential[k] += pull_modes(
                get3(elements.numbers, e, 0), modes, scratch.frames, scratch.wrench,
                scratch.general, scratch.tail,
            )  # fmt: skip
        elif elements.what[e, KIND] == PLANET:
            scratch.potential[k] += attract_modes(t, e, model, scratch)


@woven
def evaluate_here(
    t: float, y: Floats, model: Model, conditions: Conditions, scratch: Scratch, out: Floats
) -> None:
    """Accelerations (nb, 6) of a state: kinematics, loads, tree, loops."""
    conditions.control[TIME] = t
    stand(y, model, scratch)
    applied_loads(
        t, model.acting, elements_at(model, conditions), joints_at(model, conditions),
        model.schedules, model.bodies, model.sites, scratch.frames, scratch.wrench,
        scratch.potential, scratch.power,
    )  # fmt: skip
    if model.modes.what.shape[0] > 0:
        load_bending(t, model, scratch)
    if conditions.hook[PARTS] != 0:
        ask(conditions.hook, LOADS)
    if conditions.hook[LAWS] != 0:
        look_at_laws(conditions.hook, scratch.potential)
    solve_here(
        model,
        conditions,
        scratch,
        1.0,
        conditions.control[OF_GAP],
        conditions.control[OF_SLIP],
        conditions.control[PIVOT_USED],
    )
    in_body_axes(scratch.frames, scratch.work, out)
    for k in range(scratch.rows.shape[0]):
        if scratch.rows[k, RATE] != 0.0:
            scratch.power[INTO] += power_of_joints(model.bodies, scratch)
            if model.modes.what.shape[0] > 0:
                scratch.power[INTO] += power_in_modes(model, scratch)
            break


@inner
def look_at_laws(hook: Ints, potential: Floats) -> None:
    """Ask Python to report a law that gave no number."""
    for k in range(potential.shape[0]):
        if math.isnan(potential[k]):
            ask(hook, WRONG_LAW)
            return


@inner
def power_of_joints(bodies: Floats, scratch: Scratch) -> float:
    """Power of prescribed motions [W]: the power of all accelerations that loads do not explain."""
    frames, work, wrench, out = scratch.frames, scratch.work, scratch.wrench, 0.0
    for i in range(bodies.shape[0]):
        w, inertia = get3(frames, i, SPIN), inertia_in_n(bodies, frames, i)
        force = sub(scale(bodies[i, MASS], get3(work, i, CENTRE)), get3(wrench, i, 0))
        torque = sub(sym_times(inertia, get3(work, i, ACCELERATION + 3)), get3(wrench, i, 3))
        out += dot(force, get3(frames, i, VELOCITY)) + dot(torque, w)
    return out


@kernel
def evaluate(
    t: float, y: Floats, model: Model, conditions: Conditions, scratch: Scratch, out: Floats
) -> None:
    """`evaluate_here` as a function with machine code of its own."""
    evaluate_here(t, y, model, conditions, scratch, out)


@woven
def solve_here(
    model: Model,
    conditions: Conditions,
    scratch: Scratch,
    keep: float,
    of_gap: float,
    of_slip: float,
    pivot: float,
) -> None:
    """What the bodies do about loads, gaps and slips at the kinematics in the scratch arrays:
    work[:, CENTRE] and the angular half of work[:, ACCELERATION].

    keep = 1: accelerations, to which `of_gap` and `of_slip` may be added so that joints pull
    themselves together. keep = 0: loads and velocity terms are left out; with of_gap = 1 the
    smallest displacement that closes every gap, with of_slip = 1 the smallest change of velocity
    that stops every slip."""
    frames, work, general, tree = scratch.frames, scratch.work, scratch.general, model.tree
    start_bodies(tree.nodes, model.bodies, scratch.wrench, model.sites, frames, work)
    hang_bodies(tree, model.sites, frames, work)
    if model.modes.what.shape[0] > 0:
        bend(keep, model, scratch)
    if keep == 0.0 or of_gap != 0.0 or of_slip != 0.0:
        joints = joints_at(model, conditions)
        aim(tree, model.rows, joints, model.sites, frames, work, keep, of_gap, of_slip)
    backward(tree, model.rows, model.sites, frames, scratch)
    forward(tree.nodes, work, general)
    centres(frames, work, keep, tree.nodes.shape[0] - 1)
    if scratch.rows.shape[0] > 0:
        closing_rows(model, conditions, scratch)
        set_targets(model, conditions, scratch, keep, of_gap, of_slip)
        close_rows(
            tree,
            model.bodies,
            scratch.rows,
            scratch.innovations,
            scratch.spans,
            pivot,
            work,
            general,
            scratch.report,
        )
    if model.modes.what.shape[0] > 0:
        tell_modes(model.modes, scratch)


@kernel
def solve(
    model: Model,
    conditions: Conditions,
    scratch: Scratch,
    keep: float,
    of_gap: float,
    of_slip: float,
    pivot: float,
) -> None:
    """`solve_here` as a function with machine code of its own."""
    solve_here(model, conditions, scratch, keep, of_gap, of_slip, pivot)


@woven
def row_of_stop(row: int, s: int, model: Model, conditions: Conditions, scratch: Scratch) -> None:
    """Fill the row of stop s."""
    joints = joints_at(model, conditions)
    stop_row(row, s, model.stops, joints, model.sites, scratch.frames, scratch.rows)


@woven
def free_of_stop(
    s: int, model: Model, conditions: Conditions, scratch: Scratch
) -> tuple[float, float]:
    """How far the coordinate is from the bound of stop s, positive on the free side, and its
    rate."""
    joints = joints_at(model, conditions)
    return clearance(s, model.stops, conditions, joints, model.sites, scratch.frames)


@woven
def closing_rows(model: Model, conditions: Conditions, scratch: Scratch) -> None:
    """phi, J and gamma of the closing rows."""
    which = model.tree.loops[:, LOOP_ROW]
    t = conditions.control[TIME]
    constraint_rows(
        which,
        t,
        model.rows,
        joints_at(model, conditions),
        model.schedules,
        model.sites,
        scratch.frames,
        scratch.rows,
    )
    if conditions.hook[PARTS] != 0:
        ask(conditions.hook, ROWS)
    first = scratch.rows.shape[0] - model.stops.what.shape[0]
    for k in range(model.stops.what.shape[0]):
        if conditions.stops[k, HOLDS] != 0:
            row_of_stop(first + k, k, model, conditions, scratch)


@inner
def row_rate(k: int, first: int, a: int, b: int, rows: Floats, frames: Floats) -> float:
    """J u of row k for two bodies, whose columns begin at `first`."""
    rate = dot(get3(rows, k, first), get3(frames, a, VELOCITY))
    rate += dot(get3(rows, k, first + 3), get3(frames, a, SPIN))
    rate += dot(get3(rows, k, first + 6), get3(frames, b, VELOCITY))
    return rate + dot(get3(rows, k, first + 9), get3(frames, b, SPIN))


@woven
def set_targets(
    model: Model,
    conditions: Conditions,
    scratch: Scratch,
    keep: float,
    of_gap: float,
    of_slip: float,
) -> None:
    """The right-hand side of each closing row."""
    frames, rows, loops = scratch.frames, scratch.rows, model.tree.loops
    first = rows.shape[0] - model.stops.what.shape[0]
    for k in range(rows.shape[0]):
        left = keep * rows[k, GAMMA] - of_gap * rows[k, PHI]
        if of_slip != 0.0:
            a, b = loops[k, LOOP_BODY1], loops[k, LOOP_BODY2]
            rate = conditions.control[EXPLICIT] * rows[k, RATE]
            rate += row_rate(k, JACOBIAN, a, b, rows, frames)
            if loops[k, LOOP_BODY3] >= 0:
                rate += row_rate(
                    k, SECOND, loops[k, LOOP_BODY3], loops[k, LOOP_BODY4], rows, frames
                )
            bounce = conditions.stops[k - first, BOUNCE] if k >= first else 0.0
            left -= of_slip * (1.0 + bounce) * rate
        rows[k, LEFT] = left
