"""Rigid motion of the whole: the velocities that it gives to bodies, accelerations relative to it,
and the mean motion of bodies beside it."""

from __future__ import annotations

import math

from quirkpy.kernels.base.arrays import MASS, MOMENTS, Sym, Vec
from quirkpy.kernels.base.compiled import inner, kernel
from quirkpy.kernels.base.matrices import sym6, sym_inverse, sym_times
from quirkpy.kernels.base.states import OMEGA, Q, R, V
from quirkpy.kernels.base.vectors import Four, add, cross, dot, get3, get4, put3, scale, sub
from quirkpy.kernels.place.members import turn_by
from quirkpy.maths.types import Bools, Floats, Ints

ZERO = (0.0, 0.0, 0.0)


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
    """Replace accelerations (k, n, 6) in states (k, n + m, STATE_WIDTH), whose first n rows are
    those of the bodies, by the rates of velocities relative to the rigid motion of the whole, in
    its axes."""
    for i in range(states.shape[0]):
        rows = states[i]
        for k in range(out.shape[1]):
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


@inner
def turn_onward(q: Four, turning: Vec) -> Four:
    """The quaternion of a body that turns by a rotation vector in its own axes [rad]."""
    half = 0.5 * math.sqrt(dot(turning, turning))
    w, u = math.cos(half), scale(0.5 * math.sin(half) / half if half > 0.0 else 0.5, turning)
    x = q[1], q[2], q[3]
    a, b = q[0] * w - dot(x, u), add(add(scale(q[0], u), scale(w, x)), cross(x, u))
    return a, b[0], b[1], b[2]


@inner
def displace_body(
    rows: Floats, k: int, shift: Vec, turned: Vec, centre: Floats, velocity: Floats,
    turning: Floats, state: Floats,
) -> None:  # fmt: skip
    """Write body k displaced in N, and by a rotation vector in body axes, which moves as the whole
    carries it."""
    q = turn_onward(get4(rows, k, Q), turned)
    put3(state, k, R, add(get3(rows, k, R), shift))
    for j in range(4):
        state[k, Q + j] = q[j]
    v, w = carried_along(state, k, centre, velocity, turning)
    put3(state, k, V, v)
    put3(state, k, OMEGA, w)


@kernel
def displace_bodies(
    rows: Floats, displaced: Floats, centre: Floats, velocity: Floats, turning: Floats, out: Floats
) -> None:
    """States (k, n, STATE_WIDTH) displaced from one (n, STATE_WIDTH) by (k, n, 6), in N and by
    rotation vectors in body axes, which move as the whole carries them."""
    for i in range(displaced.shape[0]):
        moved = displaced[i]
        for k in range(rows.shape[0]):
            shift, turned = get3(moved, k, 0), get3(moved, k, 3)
            displace_body(rows, k, shift, turned, centre, velocity, turning, out[i])


@inner
def moments_about(rows: Floats, k: int, bodies: Floats, arm: Vec) -> Sym:
    """Moments of inertia of body k about a point from which it lies at an arm, in N."""
    own, q, m = sym6(bodies, k, MOMENTS), get4(rows, k, Q), bodies[k, MASS]
    back = q[0], -q[1], -q[2], -q[3]
    x, y, z = (
        turn_by(back, (1.0, 0.0, 0.0)),
        turn_by(back, (0.0, 1.0, 0.0)),
        turn_by(back, (0.0, 0.0, 1.0)),
    )
    ix, iy, iz, far = sym_times(own, x), sym_times(own, y), sym_times(own, z), dot(arm, arm)
    return (
        dot(x, ix) + m * (far - arm[0] * arm[0]), dot(x, iy) - m * arm[0] * arm[1],
        dot(x, iz) - m * arm[0] * arm[2], dot(y, iy) + m * (far - arm[1] * arm[1]),
        dot(y, iz) - m * arm[1] * arm[2], dot(z, iz) + m * (far - arm[2] * arm[2]),
    )  # fmt: skip


@inner
def drift_of(rows: Floats, bodies: Floats, groups: Ints, g: int) -> tuple[Vec, Vec]:
    """Mass centre of group g, and its velocity."""
    mass, r, v = 0.0, ZERO, ZERO
    for k in range(bodies.shape[0]):
        if groups[k] == g:
            m = bodies[k, MASS]
            mass += m
            r, v = add(r, scale(m, get3(rows, k, R))), add(v, scale(m, get3(rows, k, V)))
    return scale(1.0 / mass, r), scale(1.0 / mass, v)


@inner
def turning_of(
    rows: Floats, bodies: Floats, groups: Ints, g: int, centre: Vec, velocity: Vec
) -> Vec:
    """The angular velocity that a rigid body would have, with the angular momentum of group g about
    its mass centre."""
    momentum, sums = ZERO, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for k in range(bodies.shape[0]):
        if groups[k] == g:
            d, u = sub(get3(rows, k, R), centre), sub(get3(rows, k, V), velocity)
            own = sym_times(sym6(bodies, k, MOMENTS), get3(rows, k, OMEGA))
            momentum = add(momentum, turn_by(get4(rows, k, Q), own))
            momentum = add(momentum, scale(bodies[k, MASS], cross(d, u)))
            a, b = sums, moments_about(rows, k, bodies, d)
            sums = a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]
    return sym_times(sym_inverse(sums), momentum)


@inner
def liveliness(
    rows: Floats, k: int, bodies: Floats, centre: Vec, velocity: Vec, turning: Vec
) -> float:
    """Kinetic energy of body k beside a rigid motion [J]."""
    arm = sub(get3(rows, k, R), centre)
    v = sub(sub(get3(rows, k, V), velocity), cross(turning, arm))
    w = sub(get3(rows, k, OMEGA), turn_to_body(rows, k, turning))
    own = sym_times(sym6(bodies, k, MOMENTS), w)
    return 0.5 * (bodies[k, MASS] * dot(v, v) + dot(w, own))


@kernel
def kinetic_beside(
    states: Floats, bodies: Floats, groups: Ints, turned: Bools, out: Floats
) -> None:
    """Kinetic energy [J] (k,) of states, whose first rows are those of the bodies (k, n + m,
    STATE_WIDTH), beside how groups move as rigid bodies.  groups: of each body the number, or -1
    where it moves beside nothing (n,); turned: whether the turning of a group is taken off, beside
    its drift."""
    for i in range(states.shape[0]):
        rows = states[i]
        out[i] = 0.0
        for k in range(bodies.shape[0]):
            if groups[k] < 0:
                out[i] += liveliness(rows, k, bodies, ZERO, ZERO, ZERO)
        for g in range(turned.shape[0]):
            centre, velocity = drift_of(rows, bodies, groups, g)
            turning = ZERO
            if turned[g]:
                turning = turning_of(rows, bodies, groups, g, centre, velocity)
            for k in range(bodies.shape[0]):
                if groups[k] == g:
                    out[i] += liveliness(rows, k, bodies, centre, velocity, turning)
