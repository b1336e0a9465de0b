"""Lagrange multipliers of joints and stops at each row of a run, where their rows are
independent."""

from __future__ import annotations

import math
from typing import NamedTuple

from quirkpy.kernels.act.loads import applied_loads
from quirkpy.kernels.base.arrays import (
    MASS,
    SPIN,
    Elements,
    Joints,
    Modes,
    RowTable,
    Schedules,
    Sites,
)
from quirkpy.kernels.base.compiled import inner, kernel
from quirkpy.kernels.base.matrices import sym_times
from quirkpy.kernels.base.vectors import cross, dot, get3, put3, scale, sub
from quirkpy.kernels.place.kinematics import fill_frames, inertia_in_n
from quirkpy.kernels.place.rows import GAMMA, JACOBIAN, PHI, constraint_rows
from quirkpy.kernels.tree.stops import SIDE, Stops, stop_row
from quirkpy.maths.types import Bools, Floats, Ints

#: Rows of length one are told apart where so much of each (its square) lies beside those before it;
#: a state in which they are not is for who asks to look at alone.
INDEPENDENT = 1e-6
#: A row acts on so many bodies at most, each by so many numbers.
ENDS, WRENCH = 4, 6


class Holding(NamedTuple):
    """All that holds bodies: acting rows (m,) of the table of rows, and their bodies, the ground
    for none (m, 4); the stops, and their bodies likewise (ns, 4)."""

    which: Ints
    rows: RowTable
    bodies: Ints
    stops: Stops
    stop_bodies: Ints


class Workspace(NamedTuple):
    """Arrays to work in: frames (nb + 1, FRAME_WIDTH), wrench (nb + 1, 6), potential (ne,), power
    (2,), rows (m + ns, ROW_WIDTH) and their bodies (m + ns, 4), responses of these to unit loads (m
    + ns, 4, 6), the matrix of the rows (m + ns, m + ns), norms of the rows and the multipliers (2,
    m + ns), accelerations without joints (nb + 1, 6)."""

    frames: Floats
    wrench: Floats
    potential: Floats
    power: Floats
    rows: Floats
    bodies: Ints
    answers: Floats
    couplings: Floats
    columns: Floats
    free: Floats


@inner
def move_freely(bodies: Floats, inverse: Floats, room: Workspace) -> None:
    """Accelerations of each body without joints, in N; inverse: 1 / mass and the inverse of the
    moments, in the places of these."""
    for i in range(bodies.shape[0]):
        w = get3(room.frames, i, SPIN)
        momentum = sym_times(inertia_in_n(bodies, room.frames, i), w)
        torque = sub(get3(room.wrench, i, 3), cross(w, momentum))
        put3(room.free, i, 0, scale(inverse[i, MASS], get3(room.wrench, i, 0)))
        put3(room.free, i, 3, sym_times(inertia_in_n(inverse, room.frames, i), torque))


@inner
def answer_to_row(i: int, inverse: Floats, room: Workspace) -> float:
    """The response M^-1 J' of the bodies of row i to a unit load along it; returns the demand of
    the row beyond the motion without joints."""
    left = room.rows[i, GAMMA]
    for k in range(ENDS):
        b, first = room.bodies[i, k], JACOBIAN + WRENCH * k
        if b < inverse.shape[0]:
            pull, twist = get3(room.rows, i, first), get3(room.rows, i, first + 3)
            put3(room.answers[i], k, 0, scale(inverse[b, MASS], pull))
            put3(room.answers[i], k, 3, sym_times(inertia_in_n(inverse, room.frames, b), twist))
            left -= dot(pull, get3(room.free, b, 0)) + dot(twist, get3(room.free, b, 3))
    return left


@inner
def coupling(i: int, j: int, ground: int, room: Workspace) -> float:
    """The entry J M^-1 J' of rows i and j."""
    out = 0.0
    for k in range(ENDS):
        for n in range(ENDS):
            if room.bodies[i, k] < ground and room.bodies[i, k] == room.bodies[j, n]:
                first = JACOBIAN + WRENCH * k
                for c in range(WRENCH):
                    out += room.rows[i, first + c] * room.answers[j, n, c]
    return out


@inner
def factorize(m: int, a: Floats) -> bool:
    """Cholesky factor of the matrix of m normalized rows, in place; False if they are dependent."""
    for j in range(m):
        for i in range(j, m):
            x = a[i, j]
            for k in range(j):
                x -= a[i, k] * a[j, k]
            if i > j:
                a[i, j] = x / a[j, j]
            elif x > INDEPENDENT:
                a[j, j] = math.sqrt(x)
            else:
                return False
    return True


@inner
def solve_split(m: int, a: Floats, x: Floats) -> None:
    """Solve with the Cholesky factor, in place of the right-hand side."""
    for i in range(m):
        for k in range(i):
            x[i] -= a[i, k] * x[k]
        x[i] /= a[i, i]
    for i in range(m - 1, -1, -1):
        for k in range(i + 1, m):
            x[i] -= a[k, i] * x[k]
        x[i] /= a[i, i]


@inner
def find_multipliers(m: int, bodies: Floats, inverse: Floats, room: Workspace) -> bool:
    """The multipliers of the first m rows, into the second column; False if the rows are
    dependent."""
    ground, a = bodies.shape[0], room.couplings
    length, wanted = room.columns[0], room.columns[1]
    move_freely(bodies, inverse, room)
    for i in range(m):
        wanted[i] = answer_to_row(i, inverse, room)
        for j in range(i + 1):
            a[i, j] = coupling(i, j, ground, room)
        if not a[i, i] > 0.0:
            return False
        length[i] = math.sqrt(a[i, i])
    for i in range(m):
        wanted[i] /= length[i]
        for j in range(i + 1):
            a[i, j] /= length[i] * length[j]
    if not factorize(m, a):
        return False
    solve_split(m, a, wanted)
    for i in range(m):
        wanted[i] /= length[i]
    return True


@inner
def take_rows(
    t: float, held: Bools, holding: Holding, joints: Joints, schedules: Schedules, sites: Sites,
    room: Workspace,
) -> int:  # fmt: skip
    """Fill in the rows of joints, and behind them those of stops that hold, with their bodies;
    returns the number of rows."""
    m, frames, stops = holding.which.shape[0], room.frames, holding.stops
    constraint_rows(holding.which, t, holding.rows, joints, schedules, sites, frames, room.rows)
    for i in range(m):
        for k in range(ENDS):
            room.bodies[i, k] = holding.bodies[i, k]
    for s in range(held.shape[0]):
        if held[s]:
            stop_row(m, s, stops, joints, sites, frames, room.rows)
            for c in range(room.rows.shape[1]):
                room.rows[m, c] *= stops.numbers[s, SIDE]
            for k in range(ENDS):
                room.bodies[m, k] = holding.stop_bodies[s, k]
            m += 1
    return m


@inner
def tell(i: int, to: int, room: Workspace, multipliers: Floats, wrenches: Floats) -> None:
    """Write the load of row i by its multiplier into line `to`."""
    multipliers[to] = room.columns[1, i]
    for end in range(ENDS):
        for c in range(WRENCH):
            wrenches[to, end, c] = room.columns[1, i] * room.rows[i, JACOBIAN + WRENCH * end + c]


@kernel
def multipliers_along(
    t: Floats, states: Floats, modes: Modes, angles: Floats, held: Bools, acting: Ints,
    elements: Elements, joints: Joints, schedules: Schedules, bodies: Floats, inverse: Floats,
    sites: Sites, holding: Holding, room: Workspace, multipliers: Floats, wrenches: Floats,
    gaps: Floats, sure: Bools,
) -> None:  # fmt: skip
    """At each row of a run: multipliers of the rows of joints, then of all stops, zero of those
    that do not hold (k, m + ns); what these do by them to their bodies (k, m + ns, 4, 6); residuals
    of the rows of joints (k, m); and whether the rows are independent, so that all this is so
    (k,)."""
    m = holding.which.shape[0]
    multipliers[:], wrenches[:] = 0.0, 0.0
    for k in range(t.shape[0]):
        fill_frames(states[k], modes, room.frames)
        here = Joints(joints.ends, joints.coordinates, angles[k])
        applied_loads(
            t[k], acting, elements, here, schedules, bodies, sites, room.frames, room.wrench,
            room.potential, room.power,
        )  # fmt: skip
        rows = take_rows(t[k], held[k], holding, here, schedules, sites, room)
        sure[k] = find_multipliers(rows, bodies, inverse, room)
        last = m
        for i in range(m):
            gaps[k, i] = room.rows[i, PHI]
            tell(i, i, room, multipliers[k], wrenches[k])
        for s in range(held.shape[1]):
            if held[k, s]:
                tell(last, m + s, room, multipliers[k], wrenches[k])
                last += 1
