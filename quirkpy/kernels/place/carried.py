"""Rigid motion of the whole: the velocities that it gives to bodies, and accelerations relative to
it."""

from __future__ import annotations

from quirkpy.kernels.base.arrays import Vec
from quirkpy.kernels.base.compiled import inner, kernel
from quirkpy.kernels.base.states import OMEGA, Q, R, V
from quirkpy.kernels.base.vectors import add, cross, get3, get4, scale, sub
from quirkpy.kernels.place.members import turn_by
from quirkpy.maths.types import Floats


@inner
def turn_to_body(rows: Floats, k: int, a: Vec) -> Vec:
    """A vector in N in the axes of body k."""
    return turn_by((rows[k, Q], -rows[k, Q + 1], -rows[k, Q + 2], -rows[k, Q + 3]), a)


@inner
def carried_along(
    rows: Floats, k: int, centre: Floats, velocity: Floats, turning: Floats
) -> tuple[Vec, Vec]:
    """Velocity in N and angular velocity in body axes that the motion of the whole gives to body
    k."""
    turn, arm = get3(turning, k, 0), sub(get3(rows, k, R), get3(centre, k, 0))
    return add(get3(velocity, k, 0), cross(turn, arm)), turn_to_body(rows, k, turn)


@kernel
def carry_along(
    states: Floats, centre: Floats, velocity: Floats, turning: Floats, out: Floats
) -> None:
    """Velocities of all bodies of states (k, n, STATE_WIDTH) in a rigid motion of the whole about a
    centre, with a given velocity and angular velocity in N (n, 3): in N, and in body axes (k, n,
    6)."""
    for i in range(states.shape[0]):
        for k in range(states.shape[1]):
            v, w = carried_along(states[i], k, centre, velocity, turning)
            for axis in range(3):
                out[i, k, axis], out[i, k, 3 + axis] = v[axis], w[axis]


@kernel
def feel(
    states: Floats, centre: Floats, velocity: Floats, acceleration: Floats, turning: Floats,
    out: Floats,
) -> None:  # fmt: skip
    """Replace accelerations (k, n, 6) in states (k, n, STATE_WIDTH) by the rates of velocities
    relative to the rigid motion of the whole, in its axes."""
    for i in range(states.shape[0]):
        rows = states[i]
        for k in range(states.shape[1]):
            v, w = carried_along(rows, k, centre, velocity, turning)
            turn, arm = get3(turning, k, 0), sub(get3(rows, k, R), get3(centre, k, 0))
            push = add(get3(acceleration, k, 0), cross(turn, cross(turn, arm)))
            push = add(push, scale(2.0, cross(turn, sub(get3(rows, k, V), v))))
            twist = cross(w, sub(get3(rows, k, OMEGA), w))
            for axis in range(3):
                out[i, k, axis] -= push[axis]
                out[i, k, 3 + axis] -= twist[axis]


@kernel
def turn_axes(states: Floats, out: Floats) -> None:
    """The axes of all bodies of states (k, n, STATE_WIDTH) in N, one after the other (k, n, 3,
    3)."""
    for i in range(states.shape[0]):
        for k in range(states.shape[1]):
            q = get4(states[i], k, Q)
            for axis in range(3):
                one = (
                    1.0 if axis == 0 else 0.0,
                    1.0 if axis == 1 else 0.0,
                    1.0 if axis == 2 else 0.0,
                )
                turned = turn_by(q, one)
                for j in range(3):
                    out[i, k, axis, j] = turned[j]
