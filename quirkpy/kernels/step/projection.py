"""Back onto the constraints: the smallest correction of poses, then of velocities, in the metric of
kinetic energy.

The recursion solves this too.  Where it takes what the velocities alone make of a joint's
acceleration, it is given the gap (or the slip) of the joint instead, with no loads; its answer is
then not an acceleration but a displacement of each body (or a change of its velocity): moved as
little as the masses allow, the ends meet."""

from __future__ import annotations

import math

from quirkpy.kernels.base.arrays import AXES, FIRST_COORDINATE, FIRST_SPEED, MODE_COUNT, Vec
from quirkpy.kernels.base.compiled import inner, kernel, shared
from quirkpy.kernels.base.conditions import Conditions
from quirkpy.kernels.base.states import OMEGA, Q, R, V, add_further, further
from quirkpy.kernels.base.vectors import add3, cross, get3, norm, scale, sub, turn_back
from quirkpy.kernels.place.bending import place_stations
from quirkpy.kernels.place.kinematics import rotation_matrix
from quirkpy.kernels.tree.elimination import ACCELERATION, CENTRE
from quirkpy.kernels.tree.evaluation import solve_here, stand
from quirkpy.kernels.tree.model import Model, Scratch
from quirkpy.maths.types import Floats

#: As PIVOT of closure.py, for corrections: they are small, so a weaker row may count.
CORRECTION_PIVOT = 1e-8
#: Newton steps of a projection, and the displacement below which the next one would change nothing.
NEWTON_STEPS = 6
PROJECTION_TOLERANCE = 1e-8


@kernel
def project(
    y: Floats, model: Model, conditions: Conditions, scratch: Scratch, moved: Floats
) -> None:
    """Poses, then velocities, onto the constraints; moved: the largest displacement and change of
    velocity (2,).

    Users' joints are asked about the time of the conditions, which the caller sets.
    """
    scratch.wrench[:] = 0.0
    moved[0], gap, newton = 0.0, 1.0, 0
    while True:
        stand(y, model, scratch)
        solve_here(model, conditions, scratch, 0.0, gap, 1.0 - gap, CORRECTION_PIVOT)
        if gap == 0.0:
            break
        step = displace(y, model, scratch)
        moved[0], newton = max(moved[0], step), newton + 1
        if step < PROJECTION_TOLERANCE or newton == NEWTON_STEPS:
            gap = 0.0  # poses are done; velocities are next, and last
    moved[1] = change_velocities(y, model, scratch)


@inner
def displace(y: Floats, model: Model, scratch: Scratch) -> float:
    """Move every body by what was solved for; returns the largest displacement [m or rad]."""
    largest = 0.0
    for i in range(model.bodies.shape[0]):
        d, turning = get3(scratch.work, i, CENTRE), get3(scratch.work, i, ACCELERATION + 3)
        largest = max(largest, max(norm(d), norm(turning)))
        add3(y, i, R, d)
        turn_quaternion(y, i, turning)
    if model.modes.what.shape[0] > 0:
        largest = max(largest, change_modes(y, FIRST_COORDINATE, model, scratch))
    return largest


@inner
def change_modes(y: Floats, column: int, model: Model, scratch: Scratch) -> float:
    """Add what was solved for to coordinates or speeds of modes; returns the largest change."""
    largest, what = 0.0, model.modes.what
    for b in range(what.shape[0]):
        for k in range(what[b, MODE_COUNT]):
            change = scratch.tail[1, what[b, FIRST_SPEED] + k]
            largest = max(largest, abs(change))
            add_further(y, model.bodies.shape[0], what[b, column] + k, change)
    return largest


@inner
def change_velocities(y: Floats, model: Model, scratch: Scratch) -> float:
    """Change every velocity by what was solved for; returns the largest change [m/s or rad/s]."""
    largest = 0.0
    for i in range(model.bodies.shape[0]):
        d, spin = get3(scratch.work, i, CENTRE), get3(scratch.work, i, ACCELERATION + 3)
        largest = max(largest, max(norm(d), norm(spin)))
        add3(y, i, V, d)
        add3(y, i, OMEGA, turn_back(scratch.frames, i, AXES, spin))
    if model.modes.what.shape[0] > 0:
        largest = max(largest, change_modes(y, FIRST_SPEED, model, scratch))
    return largest


@kernel
def move_on(y: Floats) -> None:
    """Move every body by its velocity, and turn it by its angular velocity (body axes), over one
    second."""
    for i in range(y.shape[0] - 1):
        add3(y, i, R, get3(y, i, V))
        nine = rotation_matrix(y[i, Q], y[i, Q + 1], y[i, Q + 2], y[i, Q + 3])
        w = get3(y, i, OMEGA)
        turn_quaternion(y, i, (
            nine[0] * w[0] + nine[1] * w[1] + nine[2] * w[2],
            nine[3] * w[0] + nine[4] * w[1] + nine[5] * w[2],
            nine[6] * w[0] + nine[7] * w[1] + nine[8] * w[2],
        ))  # fmt: skip


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


@inner
def small_turn(y: Floats, d: Floats, i: int) -> Vec:
    """The rotation vector in N by which a small change d of its quaternion turns body i: 2 d q*,
    vector part."""
    w, a = y[i, Q], (y[i, Q + 1], y[i, Q + 2], y[i, Q + 3])
    dw, b = d[i, Q], (d[i, Q + 1], d[i, Q + 2], d[i, Q + 3])
    return scale(2.0, sub(sub(scale(w, b), scale(dw, a)), cross(b, a)))


@shared
def move_modes(
    y: Floats, error: Floats, displaced: bool, model: Model, scratch: Scratch, small: Floats
) -> None:
    """Take the errors of modes, those of coordinates where displaced, as rates: of the stations in
    the scratch, and as the further speeds of a small state."""
    modes, n = model.modes, model.bodies.shape[0]
    place_stations(y, error, displaced, modes, scratch.frames)
    for b in range(modes.what.shape[0]):
        u = modes.what[b, FIRST_SPEED]
        first = modes.what[b, FIRST_COORDINATE] if displaced else u
        for k in range(modes.what[b, MODE_COUNT]):
            change = further(error, n, first + k) - further(small, n, u + k)
            add_further(small, n, u + k, change)


@shared
def return_modes(small: Floats, displaced: bool, model: Model, error: Floats) -> None:
    """What is left of these errors back to where they were."""
    what, n = model.modes.what, model.bodies.shape[0]
    for b in range(what.shape[0]):
        u = what[b, FIRST_SPEED]
        first = what[b, FIRST_COORDINATE] if displaced else u
        for k in range(what[b, MODE_COUNT]):
            change = further(small, n, u + k) - further(error, n, first + k)
            add_further(error, n, first + k, change)
