"""Lagrange multipliers of joints and stops at each row of a run, of least norm where their rows
depend on each other.

The couplings G of the rows, each of length one, are factorized by Cholesky's method, always with
the row next of which most lies beside those before it. Where nothing does, the rows left over are
spare: with each comes a direction of the null space of G. Least-norm multipliers G+ w are those of
the other rows alone, with demands and multipliers projected off the null space."""

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
from quirkpy.kernels.base.vectors import cross, get3, put3, scale, sub
from quirkpy.kernels.place.kinematics import fill_frames, inertia_in_n
from quirkpy.kernels.place.rows import GAMMA, JACOBIAN, PHI, constraint_rows
from quirkpy.kernels.tree.stops import SIDE, Stops, stop_row
from quirkpy.maths.types import Bools, Floats, Ints

#: Of a row of length one that is independent, so much (its square) lies beside those before it, and
#: more where others are spare, since directions of the null space are not found twice. Where all
#: that spare rows have there is together at most `SPARE` [1], no singular value beyond the rank is
#: above its root, the cut of the decomposition. States in between are for the caller to look at.
INDEPENDENT, BESIDE_SPARE, SPARE = 1e-7, 1e-5, 1e-12
#: A row acts on so many bodies at most, each by so many numbers.
ENDS, WRENCH = 4, 6


class Holding(NamedTuple):
    """All that holds bodies: acting rows (m,) of the table of rows, and their bodies, the ground
    for none (m, 4); the stops, and their bodies likewise (ns, 4); whether masses are alike enough
    for redundant rows to be told by this pass."""

    which: Ints
    rows: RowTable
    bodies: Ints
    stops: Stops
    stop_bodies: Ints
    even: bool


class Workspace(NamedTuple):
    """Arrays to work in: frames (nb + 1, FRAME_WIDTH), wrench (nb + 1, 6), potential (ne,), power
    (2,), rows (m + ns, ROW_WIDTH) and their bodies (m + ns, 4), responses of these to unit loads (m
    + ns, 4, 6), the couplings of the rows and the factor of these (m + ns, m + ns), norms of the
    rows, the multipliers, demands, and numbers for the null space (4, m + ns), independent rows,
    then the others (m + ns,), accelerations of bodies (nb + 1, 6)."""

    frames: Floats
    wrench: Floats
    potential: Floats
    power: Floats
    rows: Floats
    bodies: Ints
    answers: Floats
    couplings: Floats
    factor: Floats
    columns: Floats
    order: Ints
    moving: Floats


@inner
def move_freely(bodies: Floats, inverse: Floats, room: Workspace) -> None:
    """Accelerations of each body without joints, in N; inverse: 1 / mass and the inverse of the
    moments, in the places of these."""
    for i in range(bodies.shape[0]):
        w = get3(room.frames, i, SPIN)
        momentum = sym_times(inertia_in_n(bodies, room.frames, i), w)
        torque = sub(get3(room.wrench, i, 3), cross(w, momentum))
        put3(room.moving, i, 0, scale(inverse[i, MASS], get3(room.wrench, i, 0)))
        put3(room.moving, i, 3, sym_times(inertia_in_n(inverse, room.frames, i), torque))


@inner
def answer_to_row(i: int, inverse: Floats, room: Workspace) -> None:
    """The response M^-1 J' of the bodies of row i to a unit load along it."""
    for k in range(ENDS):
        b, first = room.bodies[i, k], JACOBIAN + WRENCH * k
        if b < inverse.shape[0]:
            pull, twist = get3(room.rows, i, first), get3(room.rows, i, first + 3)
            put3(room.answers[i], k, 0, scale(inverse[b, MASS], pull))
            put3(room.answers[i], k, 3, sym_times(inertia_in_n(inverse, room.frames, b), twist))


@inner
def demand_of_row(i: int, ground: int, room: Workspace) -> float:
    """What row i demands beyond the accelerations of the bodies."""
    left = room.rows[i, GAMMA]
    for k in range(ENDS):
        b, first = room.bodies[i, k], JACOBIAN + WRENCH * k
        if b < ground:
            for c in range(WRENCH):
                left -= room.rows[i, first + c] * room.moving[b, c]
    return left


@inner
def move_by_row(i: int, ground: int, multiplier: float, room: Workspace) -> None:
    """Add to the accelerations of the bodies what a row does."""
    for k in range(ENDS):
        b = room.bodies[i, k]
        if b < ground:
            for c in range(WRENCH):
                room.moving[b, c] += multiplier * room.answers[i, k, c]


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


# --- the split ------------------------------------------------------------------------------------
@inner
def next_row(rank: int, m: int, beside: Floats, order: Ints) -> float:
    """Move the row of which most lies beside the first ones to the place behind them; returns that
    (its square)."""
    best = rank
    for n in range(rank + 1, m):
        if beside[order[n]] > beside[order[best]]:
            best = n
    order[rank], order[best] = order[best], order[rank]
    return beside[order[rank]]


@inner
def split_rows(rank: int, m: int, g: Floats, a: Floats, beside: Floats, order: Ints) -> None:
    """A column of the factor: all that lies along the row at place `rank`, beside those before."""
    p = order[rank]
    a[p, rank] = math.sqrt(beside[p])
    for n in range(rank + 1, m):
        i = order[n]
        x = g[i, p]
        for k in range(rank):
            x -= a[i, k] * a[p, k]
        a[i, rank] = x / a[p, rank]
        beside[i] -= a[i, rank] * a[i, rank]


@inner
def factorize(m: int, g: Floats, a: Floats, beside: Floats, order: Ints) -> int:
    """The factor a of the matrix g of m rows of length one, with independent rows in the front of
    `order`, and spare ones behind; returns the rank, -1 where that is not sure."""
    for i in range(m):
        beside[i], order[i] = g[i, i], i
    least = 1.0
    for rank in range(m):
        most = next_row(rank, m, beside, order)
        if most > INDEPENDENT:
            least = most
            split_rows(rank, m, g, a, beside, order)
            continue
        left = 0.0
        for n in range(rank, m):
            left += abs(beside[order[n]])
        return rank if left <= SPARE and least > BESIDE_SPARE else -1
    return m


@inner
def solve_transposed(i: int, rank: int, a: Floats, order: Ints) -> None:
    """Solve with the transpose of the factor of the independent rows, in place of row i."""
    for c in range(rank - 1, -1, -1):
        b = order[c]
        a[i, c] /= a[b, c]
        for k in range(c):
            a[i, k] -= a[b, k] * a[i, c]


@inner
def find_null_space(m: int, rank: int, a: Floats, order: Ints) -> None:
    """Directions of the null space: one for each spare row s, with 1 there and the negative of the
    first columns of row s at the independent rows; and the factor of their products, in the columns
    behind."""
    for j in range(rank, m):
        s = order[j]
        solve_transposed(s, rank, a, order)
        for n in range(rank, j + 1):
            x = 1.0 if n == j else 0.0
            for c in range(rank):
                x += a[s, c] * a[order[n], c]
            for c in range(rank, n):
                x -= a[s, c] * a[order[n], c]
            a[s, n] = math.sqrt(x) if n == j else x / a[order[n], n]


@inner
def leave_null_space(m: int, rank: int, a: Floats, order: Ints, x: Floats, y: Floats) -> None:
    """Subtract from x its part in the null space; y: to work in."""
    for j in range(rank, m):
        s = order[j]
        y[j] = x[s]
        for c in range(rank):
            y[j] -= a[s, c] * x[order[c]]
        for n in range(rank, j):
            y[j] -= a[s, n] * y[n]
        y[j] /= a[s, j]
    for j in range(m - 1, rank - 1, -1):
        s = order[j]
        y[j] /= a[s, j]
        for n in range(rank, j):
            y[n] -= a[s, n] * y[j]
        x[s] -= y[j]
        for c in range(rank):
            x[order[c]] += a[s, c] * y[j]


@inner
def solve_split(rank: int, a: Floats, order: Ints, x: Floats) -> None:
    """Solve with the factor of the independent rows, in place of the right-hand side."""
    for i in range(rank):
        b = order[i]
        for k in range(i):
            x[b] -= a[b, k] * x[order[k]]
        x[b] /= a[b, i]
    for i in range(rank - 1, -1, -1):
        b = order[i]
        x[b] /= a[b, i]
        for k in range(i):
            x[order[k]] -= a[b, k] * x[b]


@inner
def solve_least(m: int, rank: int, room: Workspace) -> None:
    """The least-norm multipliers of m normalized rows, in place of their demands."""
    a, order, wanted, y = room.factor, room.order, room.columns[2], room.columns[3]
    if rank < m:
        leave_null_space(m, rank, a, order, wanted, y)
        for j in range(rank, m):
            wanted[order[j]] = 0.0
    solve_split(rank, a, order, wanted)
    if rank < m:
        leave_null_space(m, rank, a, order, wanted, y)


@inner
def couple_rows(m: int, inverse: Floats, room: Workspace) -> None:
    """The matrix of the couplings of the first m rows, normalized, and the lengths of these."""
    ground, g, length = inverse.shape[0], room.couplings, room.columns[0]
    for i in range(m):
        answer_to_row(i, inverse, room)
        for j in range(i + 1):
            g[i, j] = coupling(i, j, ground, room)
        length[i] = 1.0 if g[i, i] == 0.0 else math.sqrt(g[i, i])
    for i in range(m):
        for j in range(i + 1):
            g[i, j] /= length[i] * length[j]
            g[j, i] = g[i, j]


@inner
def find_multipliers(m: int, even: bool, bodies: Floats, inverse: Floats, room: Workspace) -> bool:
    """The multipliers of the first m rows, into the second column; False where they are not sure.

    They are found twice, the second time those of what the first have left over by rounding."""
    ground, (length, found, wanted, _) = bodies.shape[0], room.columns
    couple_rows(m, inverse, room)
    rank = factorize(m, room.couplings, room.factor, wanted, room.order)
    if rank < 0 or (rank < m and not even):
        return False
    move_freely(bodies, inverse, room)
    found[:] = 0.0
    if rank < m:
        find_null_space(m, rank, room.factor, room.order)
    for _ in range(2):
        for i in range(m):
            wanted[i] = demand_of_row(i, ground, room) / length[i]
        solve_least(m, rank, room)
        for i in range(m):
            found[i] += wanted[i] / length[i]
            move_by_row(i, ground, wanted[i] / length[i], room)
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
    of the rows of joints (k, m); and whether all this is sure (k,)."""
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
        sure[k] = find_multipliers(rows, holding.even, bodies, inverse, room)
        last = m
        for i in range(m):
            gaps[k, i] = room.rows[i, PHI]
            tell(i, i, room, multipliers[k], wrenches[k])
        for s in range(held.shape[1]):
            if held[k, s]:
                tell(last, m + s, room, multipliers[k], wrenches[k])
                last += 1
