"""The clearance of two solids along a motion: where it is least, and where it first falls below a
threshold.

A look at one instant says how far the solids are apart and in which direction n.  Along n, carried
along by either of them, they stay apart by what the velocities of all their points say, less half
of what accelerations can do: a bound for the instants around.  Looks go on from left to right, each
as far as its bound may be hoped to be enough, and where it is not, again and nearer.  So nothing is
missed between the looks."""

from __future__ import annotations

import math
from typing import NamedTuple

from quirkpy.kernels.base.arrays import Mat, Vec
from quirkpy.kernels.base.compiled import inner, kernel
from quirkpy.kernels.base.matrices import mat9
from quirkpy.kernels.base.vectors import add, cross, dot, get3, norm, scale, sub
from quirkpy.kernels.place.kinematics import rotation_matrix
from quirkpy.kernels.solid.curves import bounds_of, fill_curve, largest, pose_at, relative_row
from quirkpy.kernels.solid.distance import solid_distance
from quirkpy.kernels.solid.solids import (
    HALF,
    REACH,
    SOLID_AXES,
    SOLID_BODY,
    SOLID_KIND,
    SOLID_POINT,
    Solids,
    axes_in,
    extent,
    turn_back_by_matrix,
    turn_by_matrix,
)
from quirkpy.maths.constants import TINY
from quirkpy.maths.types import Floats, Ints

#: The least clearance is found to this share of it, or to what the caller wants, whichever is more.
LEAST_ACCURACY = 1e-3
#: A span shorter than this share of a step is an instant.
INSTANT = 1e-13
#: The next look goes on by this share of what the last one hopes for, by so many times as much at
#: most; and back to this share of its span at least, where it was not enough.
HOPED, FARTHER, NEARER = 0.95, 4.0, 0.01
# Columns of the answers: the least clearance, and when; when the threshold was first passed and the
# clearance then; how many looks it took.
LEAST, WHEN, PASSED, THERE, LOOKS, FOUND_WIDTH = range(6)


class Motions(NamedTuple):
    """Times (k,), states (k, nb + 1, STATE_WIDTH), accelerations (k, nb, 6)."""

    t: Floats
    states: Floats
    bends: Floats


class Room(NamedTuple):
    """Memory for one pair: relative rows (k, RELATIVE_WIDTH), control points, and a bound of the
    clearance over each step (k,)."""

    rows: Floats
    curve: Floats
    bounds: Floats


@inner
def bound_along(
    n: Vec, p: Vec, one: int, a: Vec, A: Mat, q: Vec, two: int, b: Vec, B: Mat, y: Vec, rate: Vec,
    w: Vec, d: float, second: bool,
) -> float:  # fmt: skip
    """How far the solids are apart along n after a time d, were all points to go on at their
    velocities, and n carried by the first body, or by the second; p, q: their centres from those of
    their bodies, y: the second body, w: its angular velocity, everything in the axes of the
    first."""
    m = add(n, scale(d, cross(n, w)))
    if second:
        m = sub(scale(2.0, n), m)
        back = dot(m, sub(p, y)) + extent(one, a, turn_back_by_matrix(A, m)) - d * dot(n, rate)
        return dot(n, q) - extent(two, b, turn_back_by_matrix(B, n)) - back
    far = dot(n, sub(add(y, scale(d, rate)), p)) + dot(m, q)
    return (
        far - extent(two, b, turn_back_by_matrix(B, m)) - extent(one, a, turn_back_by_matrix(A, n))
    )


@inner
def look(
    s: float, left: float, right: float, i: int, j: int, solids: Solids, curve: Floats,
    limits: tuple[float, float, float, float],
) -> tuple[float, float]:  # fmt: skip
    """The clearance at s, and a lower bound from s - left to s + right."""
    one, two = solids.what[i, SOLID_KIND], solids.what[j, SOLID_KIND]
    a, b = get3(solids.numbers, i, HALF), get3(solids.numbers, j, HALF)
    p, A = get3(solids.numbers, i, SOLID_POINT), mat9(solids.numbers, i, SOLID_AXES)
    y, turn, rate, spin = pose_at(s, curve)
    T = rotation_matrix(turn[0], turn[1], turn[2], turn[3])
    q, w = turn_by_matrix(T, get3(solids.numbers, j, SOLID_POINT)), turn_by_matrix(T, spin)
    B = product(T, mat9(solids.numbers, j, SOLID_AXES))
    gap, n, _, _ = solid_distance(
        one, a, two, b, turn_back_by_matrix(A, sub(add(y, q), p)), axes_in(A, B)
    )
    speed, bend, turning, twisting = limits
    n, d = turn_by_matrix(A, n), max(left, right)
    reach = norm(q) + solids.numbers[j, REACH]
    bound = gap - (speed + turning * reach) * d
    low = min(
        bound_along(n, p, one, a, A, q, two, b, B, y, rate, w, -left, False),
        bound_along(n, p, one, a, A, q, two, b, B, y, rate, w, right, False),
    )
    twisting += turning * turning
    bound = max(bound, low - 0.5 * d * d * (bend + twisting * reach))
    low = min(
        bound_along(n, p, one, a, A, q, two, b, B, y, rate, w, -left, True),
        bound_along(n, p, one, a, A, q, two, b, B, y, rate, w, right, True),
    )
    reach = norm(p) + solids.numbers[i, REACH] + largest(curve, 0, 0, 3)
    return gap, max(bound, low - 0.5 * d * d * (bend + 2.0 * turning * speed + twisting * reach))


@inner
def product(a: Mat, b: Mat) -> Mat:
    """A B."""
    x = turn_by_matrix(a, (b[0], b[3], b[6]))
    y = turn_by_matrix(a, (b[1], b[4], b[7]))
    z = turn_by_matrix(a, (b[2], b[5], b[8]))
    return x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]


@inner
def far_off(i: int, j: int, solids: Solids, curve: Floats, speed: float) -> float:
    """A lower bound of the clearance over a whole step, from the bounding balls of both."""
    y, _, _, _ = pose_at(0.5, curve)
    far = norm(sub(y, get3(solids.numbers, i, SOLID_POINT))) - norm(
        get3(solids.numbers, j, SOLID_POINT)
    )
    return far - 0.5 * speed - solids.numbers[i, REACH] - solids.numbers[j, REACH]


@inner
def search(
    k: int, target: float, relative: float, fine: float, passing: bool, i: int, j: int,
    solids: Solids, room: Room, limits: tuple[float, float, float, float], out: Floats,
) -> tuple[float, float]:  # fmt: skip
    """Looks at step k until its clearance is known not to fall below the target by more than
    `fine`.

    passing: returns the first s at which it is below the target, and the clearance there; 2 where
    it is not.  Else the target follows the least clearance found, of which it is to be the share
    `relative` below; returns that and s."""
    begin, end, half, where, there = 0.0, 1.0, 0.5, 2.0, target
    while begin < end:
        whole = 2.0 * half >= end - begin
        if whole:
            half = 0.5 * (end - begin)
        s = begin + half
        gap, bound = look(s, half, half, i, j, solids, room.curve, limits)
        out[LOOKS] += 1.0
        if not passing and gap < target:
            target, where = gap, s
        if passing and gap < target:  # passed here or before
            where, there, end = s, gap, s
            if target - gap <= fine or half <= INSTANT:
                end = begin
            continue
        enough = target if passing else target - max(fine, relative * abs(target))
        spare, lost = max(gap - enough, fine), gap - bound
        hope = HOPED * math.sqrt(
            spare / max(lost, TINY)
        )  # what is lost grows with the square of the span
        if lost <= spare or half <= INSTANT:
            begin = end if whole else s + half
            half *= min(max(hope, 1.0), FARTHER)
        else:
            half *= max(hope, NEARER)
    return where, (there if passing else target)


@inner
def step_of(k: int, motions: Motions, room: Room) -> float:
    """Length of step k [s]; its control points are written to the room."""
    h = motions.t[k + 1] - motions.t[k]
    fill_curve(k, h, room.rows, room.curve)
    return h


@inner
def find_least(
    i: int,
    j: int,
    last: int,
    fine: float,
    solids: Solids,
    motions: Motions,
    room: Room,
    out: Floats,
) -> None:
    """LEAST and WHEN of a pair over its rows 0 to `last`, to `fine` [m] or a share SHARE of it."""
    least, when = math.inf, 0.0
    for end in range(2):  # a first value, from both ends
        k = 0 if end == 0 else last - 1
        step_of(k, motions, room)
        gap, _ = look(float(end), 0.0, 0.0, i, j, solids, room.curve, (0.0, 0.0, 0.0, 0.0))
        out[LOOKS] += 1.0
        if gap < least:
            least, when = gap, motions.t[k + end]
    # One look a step at first: then of most of them it is known that they are farther apart
    for k in range(last):
        h = step_of(k, motions, room)
        limits = bounds_of(room.curve)
        room.bounds[k] = far_off(i, j, solids, room.curve, limits[0])
        if room.bounds[k] < least:
            gap, room.bounds[k] = look(0.5, 0.5, 0.5, i, j, solids, room.curve, limits)
            out[LOOKS] += 1.0
            if gap < least:
                least, when = gap, motions.t[k] + 0.5 * h
    for k in range(last):
        if room.bounds[k] < least - max(fine, LEAST_ACCURACY * abs(least)):
            h = step_of(k, motions, room)
            s, found = search(
                k,
                least,
                LEAST_ACCURACY,
                fine,
                False,
                i,
                j,
                solids,
                room,
                bounds_of(room.curve),
                out,
            )
            if found < least:
                least, when = found, motions.t[k] + s * h
    out[LEAST], out[WHEN] = least, when


@inner
def find_passing(
    i: int, j: int, last: int, fine: float, thresholds: Floats, solids: Solids, motions: Motions,
    room: Room, out: Floats,
) -> None:  # fmt: skip
    """PASSED and THERE of a pair: when its clearance is first below the threshold of that step (k -
    1,), judged to `fine` [m]; the time is infinite where it never is."""
    out[PASSED] = math.inf
    for k in range(last):
        h = step_of(k, motions, room)
        limits = bounds_of(room.curve)
        if far_off(i, j, solids, room.curve, limits[0]) < thresholds[k]:
            s, gap = search(k, thresholds[k], 0.0, fine, True, i, j, solids, room, limits, out)
            if s <= 1.0:
                out[PASSED], out[THERE] = motions.t[k] + s * h, gap
                break


@kernel
def pass_by(
    passing: bool, pairs: Ints, last: Ints, fine: Floats, thresholds: Floats, solids: Solids,
    motions: Motions, room: Room, out: Floats,
) -> None:  # fmt: skip
    """Of each pair, over its rows 0 to `last`, the least clearance; passing: when it first falls
    below the thresholds, one a step (n, k - 1)."""
    for n in range(pairs.shape[0]):
        i, j = pairs[n, 0], pairs[n, 1]
        for k in range(last[n] + 1):
            relative_row(
                k,
                solids.what[i, SOLID_BODY],
                solids.what[j, SOLID_BODY],
                motions.states,
                motions.bends,
                room.rows,
            )
        if passing:
            find_passing(i, j, last[n], fine[n], thresholds[n], solids, motions, room, out[n])
        else:
            find_least(i, j, last[n], fine[n], solids, motions, room, out[n])


@kernel
def along(
    pair: Ints, times: Floats, solids: Solids, motions: Motions, room: Room, out: Floats
) -> None:
    """The clearance of a pair (1, 2) at some times of a motion of more than one row (n,) [m]."""
    i, j, last = pair[0, 0], pair[0, 1], motions.t.shape[0] - 2
    one, two, known = solids.what[i, SOLID_BODY], solids.what[j, SOLID_BODY], -1
    for n in range(times.shape[0]):
        k = 0 if known < 0 or times[n] < motions.t[known] else known
        while k < last and motions.t[k + 1] <= times[n]:
            k += 1
        if k != known:
            relative_row(k, one, two, motions.states, motions.bends, room.rows)
            relative_row(k + 1, one, two, motions.states, motions.bends, room.rows)
            step_of(k, motions, room)
            known = k
        s = (times[n] - motions.t[k]) / (motions.t[k + 1] - motions.t[k])
        out[n], _ = look(s, 0.0, 0.0, i, j, solids, room.curve, (0.0, 0.0, 0.0, 0.0))
