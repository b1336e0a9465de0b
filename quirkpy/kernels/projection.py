"""Back onto the constraints: the smallest correction of poses, then of velocities, in the metric of kinetic energy.

The recursion solves this too.  Where it takes what the velocities alone make of a joint's acceleration, it is given the
gap (or the slip) of the joint instead, with no loads; its answer is then not an acceleration but a displacement of each
body (or a change of its velocity): moved as little as the masses allow, the ends meet.
"""

from __future__ import annotations

import math

import numpy as np

from quirkpy.kernels.arrays import AXES, OMEGA, PLACE_AXES, PLACE_POINT, POSITION, SPIN, VELOCITY, Q, R, V, Vec
from quirkpy.kernels.closure import close_loops
from quirkpy.kernels.compiled import inlined, inner, kernel
from quirkpy.kernels.elimination import ACCELERATION, BIAS, CENTRE, LOAD, POINT
from quirkpy.kernels.engine import Model, Scratch
from quirkpy.kernels.kinematics import fill_frames
from quirkpy.kernels.recursion import backward, forward, hang_bodies, start_bodies
from quirkpy.kernels.rows import constraint_rows
from quirkpy.kernels.tree import (
    AXIS_NUMBER,
    BALL_NODE,
    COUNT,
    FAR,
    FREE_NODE,
    GENERAL_NODE,
    LOOP_BODY1,
    LOOP_BODY2,
    LOOP_ROW,
    MOTION,
    MOTION_AXIS,
    MOTION_KIND,
    NEAR,
    NODE,
    PARENT,
    TURN_NODE,
    Tree,
)
from quirkpy.kernels.vectors import add, column, cross, dot, get3, norm, put3, scale, sub, turn, turn_back
from quirkpy.parts.checks import Floats
from quirkpy.tables.tables import TURN

#: As PIVOT of closure.py, for corrections: they are small, so a weaker row may count.
CORRECTION_PIVOT = 1e-8
ZERO: Vec = (0.0, 0.0, 0.0)


@inner
def twist(tree: Tree, i: int, place: Floats, frames: Floats) -> Vec:
    """The small turn of body i, in N, that lines it up with its parent, apart from what its joint leaves free."""
    nodes = tree.nodes
    kind, near, far, p = nodes[i, NODE], nodes[i, NEAR], nodes[i, FAR], nodes[i, PARENT]
    out = (0.0, 0.0, 0.0)
    turns, axis = 0, nodes[i, AXIS_NUMBER]
    if kind == TURN_NODE:
        turns = 1
    elif kind == BALL_NODE or kind == FREE_NODE:
        turns = 3
    elif kind == GENERAL_NODE:
        for k in range(nodes[i, MOTION], nodes[i, MOTION] + nodes[i, COUNT]):
            if tree.motions[k, MOTION_KIND] == TURN:
                turns += 1
                axis = tree.motions[k, MOTION_AXIS]
    if turns == 1:
        mine = turn(frames, i, AXES, column(place, far, PLACE_AXES, axis))
        out = cross(mine, turn(frames, p, AXES, column(place, near, PLACE_AXES, axis)))
    elif turns == 0:
        for k in range(3):
            mine = turn(frames, i, AXES, column(place, far, PLACE_AXES, k))
            out = add(out, scale(0.5, cross(mine, turn(frames, p, AXES, column(place, near, PLACE_AXES, k)))))
    return out


@inner
def aim_at_gaps(tree: Tree, place: Floats, frames: Floats, work: Floats) -> None:
    """For each joint of the tree, the displacement that closes it; no loads."""
    nodes = tree.nodes
    for i in range(nodes.shape[0] - 1):
        put3(work, i, LOAD, ZERO)
        put3(work, i, LOAD + 3, ZERO)
        if nodes[i, NODE] != FREE_NODE:
            p = nodes[i, PARENT]
            near = add(get3(frames, p, POSITION), turn(frames, p, AXES, get3(place, nodes[i, NEAR], PLACE_POINT)))
            far = add(get3(frames, i, POSITION), get3(work, i, POINT))
            put3(work, i, BIAS, sub(near, far))
            put3(work, i, BIAS + 3, twist(tree, i, place, frames))


@inner
def aim_at_slips(tree: Tree, frames: Floats, work: Floats) -> None:
    """For each joint of the tree, the change of velocity that stops its slip; no loads."""
    nodes = tree.nodes
    for i in range(nodes.shape[0] - 1):
        put3(work, i, LOAD, ZERO)
        put3(work, i, LOAD + 3, ZERO)
        if nodes[i, NODE] != FREE_NODE:
            p, c = nodes[i, PARENT], get3(work, i, POINT)
            w, wp = get3(frames, i, SPIN), get3(frames, p, SPIN)
            arm = sub(add(get3(frames, i, POSITION), c), get3(frames, p, POSITION))
            mine = add(get3(frames, i, VELOCITY), cross(w, c))
            put3(work, i, BIAS, sub(add(get3(frames, p, VELOCITY), cross(wp, arm)), mine))
            put3(work, i, BIAS + 3, sub(wp, w))


@inlined
def respond(model: Model, scratch: Scratch, jacobian: Floats, target: Floats, freedoms: int) -> None:
    """Displacements (CENTRE, ACCELERATION + 3) for the aims in the scratch array, and J d = target on closing rows."""
    tree, work, general = model.tree, scratch.work, scratch.general
    backward(tree, model.sites.place, scratch.frames, work, general)
    forward(tree.nodes, work, general)
    for i in range(model.bodies.shape[0]):
        alpha = get3(work, i, ACCELERATION + 3)
        put3(work, i, CENTRE, sub(get3(work, i, ACCELERATION), cross(alpha, get3(work, i, POINT))))
    if target.shape[0] > 0:
        close_loops(tree, model.bodies, jacobian, target, freedoms, CORRECTION_PIVOT, work, general, scratch.report)


@inlined
def prepare(y: Floats, model: Model, scratch: Scratch) -> None:
    """Kinematics, inertias and joint axes at the state; loads are set aside."""
    fill_frames(y, scratch.frames)
    scratch.wrench[:] = 0.0
    start_bodies(model.tree.nodes, model.bodies, scratch.wrench, model.sites.place, scratch.frames, scratch.work)
    hang_bodies(model.tree.nodes, model.sites.place, scratch.frames, scratch.work)


@inlined
def closing_rows(model: Model, scratch: Scratch) -> tuple[Floats, Floats]:
    """phi and J of the closing rows at the kinematics in the scratch."""
    m = model.tree.loops.shape[0]
    phi, jacobian, gamma = np.empty(m), np.empty((m, 12)), np.empty(m)
    if m > 0:
        which = model.tree.loops[:, LOOP_ROW]
        constraint_rows(which, model.rows, model.joints, model.sites, scratch.frames, phi, jacobian, gamma)
    return phi, jacobian


@kernel
def row_rates(model: Model, scratch: Scratch, jacobian: Floats) -> Floats:
    """J u on the closing rows."""
    frames, loops = scratch.frames, model.tree.loops
    out = np.empty(loops.shape[0])
    for k in range(loops.shape[0]):
        a, b = loops[k, LOOP_BODY1], loops[k, LOOP_BODY2]
        out[k] = (
            dot(get3(jacobian, k, 0), get3(frames, a, VELOCITY))
            + dot(get3(jacobian, k, 3), get3(frames, a, SPIN))
            + dot(get3(jacobian, k, 6), get3(frames, b, VELOCITY))
            + dot(get3(jacobian, k, 9), get3(frames, b, SPIN))
        )
    return out


@inlined
def correct_poses(y: Floats, model: Model, scratch: Scratch, phi: Floats, jacobian: Floats, freedoms: int) -> float:
    """One Newton step of the poses in y towards the constraints; returns the largest displacement [m or rad]."""
    aim_at_gaps(model.tree, model.sites.place, scratch.frames, scratch.work)
    respond(model, scratch, jacobian, -phi, freedoms)
    largest = 0.0
    for i in range(model.bodies.shape[0]):
        d, turning = get3(scratch.work, i, CENTRE), get3(scratch.work, i, ACCELERATION + 3)
        largest = max(largest, max(norm(d), norm(turning)))
        put3(y, i, R, add(get3(y, i, R), d))
        turn_quaternion(y, i, turning)
    return largest


@inner
def turn_quaternion(y: Floats, i: int, d: Vec) -> None:
    """Turn body i by the small rotation vector d, in N; the quaternion stays unit."""
    x, a, b, c = 1.0, 0.5 * d[0], 0.5 * d[1], 0.5 * d[2]
    q0, q1, q2, q3 = y[i, Q], y[i, Q + 1], y[i, Q + 2], y[i, Q + 3]
    w0 = x * q0 - a * q1 - b * q2 - c * q3
    w1 = x * q1 + a * q0 + b * q3 - c * q2
    w2 = x * q2 - a * q3 + b * q0 + c * q1
    w3 = x * q3 + a * q2 - b * q1 + c * q0
    size = 1.0 / math.sqrt(w0 * w0 + w1 * w1 + w2 * w2 + w3 * w3)
    y[i, Q], y[i, Q + 1], y[i, Q + 2], y[i, Q + 3] = w0 * size, w1 * size, w2 * size, w3 * size


@inlined
def correct_velocities(
    y: Floats, model: Model, scratch: Scratch, rates: Floats, jacobian: Floats, freedoms: int
) -> float:
    """The velocities in y onto the constraints; rates: d phi/dt of the closing rows; returns the largest change."""
    aim_at_slips(model.tree, scratch.frames, scratch.work)
    respond(model, scratch, jacobian, -rates, freedoms)
    largest = 0.0
    for i in range(model.bodies.shape[0]):
        d, spin = get3(scratch.work, i, CENTRE), get3(scratch.work, i, ACCELERATION + 3)
        largest = max(largest, max(norm(d), norm(spin)))
        put3(y, i, V, add(get3(y, i, V), d))
        put3(y, i, OMEGA, add(get3(y, i, OMEGA), turn_back(scratch.frames, i, AXES, spin)))
    return largest


#: Newton steps of a projection, and the displacement below which the next one would change nothing.
NEWTON_STEPS = 6
SETTLED = 1e-8


@kernel
def project(y: Floats, model: Model, scratch: Scratch, freedoms: int, moved: Floats) -> None:
    """Poses, then velocities, onto the constraints; moved: the largest displacement and change of velocity (2,)."""
    moved[0] = 0.0
    for _ in range(NEWTON_STEPS):
        prepare(y, model, scratch)
        phi, jacobian = closing_rows(model, scratch)
        step = correct_poses(y, model, scratch, phi, jacobian, freedoms)
        moved[0] = max(moved[0], step)
        if step < SETTLED:
            break
    project_velocities(y, model, scratch, freedoms, moved)


@inlined
def project_velocities(y: Floats, model: Model, scratch: Scratch, freedoms: int, moved: Floats) -> None:
    """Velocities onto the constraints at the poses as they are; moved[1]: the largest change."""
    prepare(y, model, scratch)
    _, jacobian = closing_rows(model, scratch)
    moved[1] = correct_velocities(y, model, scratch, row_rates(model, scratch, jacobian), jacobian, freedoms)
