"""How far two solids are apart, or how deep one is in the other: with the direction, and a point of
each.

Spheres by their centres, two boxes by their features, cylinders by `gjk` where they are apart.
Where a cylinder nearly touches or overlaps, likely directions are improved: from a solid that is
drawn back along a direction, until both are just apart, there is a nearest direction to the other,
and along that it is at least as well out.  What is found is a depth at which the solids do come
apart; of shallow overlaps it is the least one."""

from __future__ import annotations

import math
from typing import TypeAlias

from quirkpy.kernels.base.arrays import Mat, Vec
from quirkpy.kernels.base.compiled import inner, kernel
from quirkpy.kernels.base.matrices import mat9
from quirkpy.kernels.base.vectors import add, cross, dot, get3, norm, put3, scale, sub
from quirkpy.kernels.solid.boxes import axis_of, boxes_apart, facing, unit
from quirkpy.kernels.solid.gjk import gjk
from quirkpy.kernels.solid.solids import (
    BOX,
    HALF,
    POSE_AXES,
    POSE_POINT,
    SOLID_KIND,
    SPHERE,
    Solids,
    axes_in,
    extent,
    point_apart,
    turn_back_by_matrix,
    turn_by_matrix,
)
from quirkpy.maths.types import Floats, Ints

#: Distance [m], below zero the depth; its direction from the first solid to the second; a point of
#: each.
Apart: TypeAlias = tuple[float, Vec, Vec, Vec]

#: An overlap is looked at from this share of the size outside; its direction is improved so many
#: times at most, as long as the depth changes by more than this share of the size.
OUTSIDE, MOST_TURNS, DEPTH_TOLERANCE = 1e-3, 20, 1e-12
#: Nearer than this share of the size solids are treated like those that overlap: the direction
#: between points that are so close has lost its digits.
LEAST_SOLID_GAP = 1e-5
#: Where the distance is uncertain by more than this share of the size, it is searched for once more
#: from the direction in which the first search has ended.
DOUBTFUL = 1e-10
#: Solids that overlap a little are apart when they shrink to this share: in a direction that is
#: good to begin with.
SHRUNK = 0.9
#: Directions shorter than this share of the size are none.
NO_DIRECTION = 1e-9

# Columns of what `distances` answers.
GAP, NORMAL, POINT1, POINT2, ANSWER_WIDTH = 0, 1, 4, 7, 10


@inner
def gap_along(one: int, a: Vec, two: int, b: Vec, c: Vec, R: Mat, n: Vec) -> float:
    """How far two solids are apart along a unit vector n; no direction gives more than their
    distance."""
    return dot(n, c) - extent(one, a, n) - extent(two, b, turn_back_by_matrix(R, n))


@inner
def better(
    one: int, a: Vec, two: int, b: Vec, c: Vec, R: Mat, d: Vec, gap: float, n: Vec
) -> tuple[float, Vec]:
    """The gap along d, of any length, and that direction, if it is larger than what is known."""
    length = norm(d)
    if length > NO_DIRECTION * (norm(a) + norm(b)):
        m = facing(scale(1.0 / length, d), c)
        found = gap_along(one, a, two, b, c, R, m)
        if found > gap:
            return found, m
    return gap, n


@inner
def likely_direction(one: int, a: Vec, two: int, b: Vec, c: Vec, R: Mat) -> tuple[float, Vec]:
    """The best of the axes of both, of what is perpendicular to an axis of each, of the line of
    centres, and of what leads from the axis of a cylinder to the other centre."""
    gap, n = -math.inf, (0.0, 0.0, 1.0)
    for i in range(3):
        gap, n = better(one, a, two, b, c, R, unit(i, 1.0), gap, n)
        gap, n = better(one, a, two, b, c, R, axis_of(R, i), gap, n)
        for j in range(3):
            gap, n = better(one, a, two, b, c, R, cross(unit(i, 1.0), axis_of(R, j)), gap, n)
    gap, n = better(one, a, two, b, c, R, c, gap, n)
    gap, n = better(one, a, two, b, c, R, (c[0], c[1], 0.0), gap, n)
    axis = axis_of(R, 2)
    return better(one, a, two, b, c, R, sub(c, scale(dot(c, axis), axis)), gap, n)


@inner
def improve_direction(
    one: int, a: Vec, two: int, b: Vec, c: Vec, R: Mat, gap: float, n: Vec
) -> Apart:
    """The best direction that can be reached from n, on which the solids are as far apart as
    `gap`."""
    size = norm(a) + norm(b)
    p, q = n, n
    for _ in range(MOST_TURNS):
        out = scale(OUTSIDE * size - gap, n)
        _, _, m, p, q, _ = gjk(one, a, two, b, add(c, out), R, n)
        q = sub(q, out)
        found = gap_along(one, a, two, b, c, R, m)
        if found <= gap:
            break
        settled = found <= gap + DEPTH_TOLERANCE * size
        gap, n = found, m
        if settled:
            break
    return gap, n, p, q


@inner
def close(one: int, a: Vec, two: int, b: Vec, c: Vec, R: Mat, near: Vec) -> Apart:
    """Two solids, boxes or cylinders, that overlap or nearly touch; near: a direction that may be a
    good one."""
    gap, n = likely_direction(one, a, two, b, c, R)
    gap, n = better(one, a, two, b, c, R, near, gap, n)
    gap, n, p, q = improve_direction(one, a, two, b, c, R, gap, n)
    low, _, m, _, _, _ = gjk(one, scale(SHRUNK, a), two, scale(SHRUNK, b), c, R, n)
    if low > 0.0:
        other, m, x, y = improve_direction(
            one, a, two, b, c, R, gap_along(one, a, two, b, c, R, m), m
        )
        if other > gap:
            return other, m, x, y
    return gap, n, p, q


@inner
def solid_distance(one: int, a: Vec, two: int, b: Vec, c: Vec, R: Mat) -> Apart:
    """Two solids, in the axes of the first: half lengths a and b, centre c of the second and its
    axes R."""
    if two == SPHERE:
        far, n = point_apart(one, a, c)
        return far - b[0], n, sub(c, scale(far, n)), sub(c, scale(b[0], n))
    if one == SPHERE:
        far, back = point_apart(two, b, turn_back_by_matrix(R, (-c[0], -c[1], -c[2])))
        m = turn_by_matrix(R, back)
        n = -m[0], -m[1], -m[2]
        return far - a[0], n, scale(a[0], n), scale(far, n)
    if one == BOX and two == BOX:
        return boxes_apart(a, b, c, R)
    size = norm(a) + norm(b)
    low, far, n, p, q, _ = gjk(one, a, two, b, c, R, c if dot(c, c) > 0.0 else (0.0, 0.0, 1.0))
    if far > LEAST_SOLID_GAP * size:
        if far - low > DOUBTFUL * size:
            _, again, m, x, y, _ = gjk(one, a, two, b, c, R, n)
            if again < far:
                return again, m, x, y
        return far, n, p, q
    return close(one, a, two, b, c, R, n)


@inner
def apart_in_n(i: int, j: int, solids: Solids, poses: Floats) -> Apart:
    """Solids i and j where `poses` says that they are; direction and points in N."""
    x, A = get3(poses, i, POSE_POINT), mat9(poses, i, POSE_AXES)
    c = turn_back_by_matrix(A, sub(get3(poses, j, POSE_POINT), x))
    R = axes_in(A, mat9(poses, j, POSE_AXES))
    one, two = solids.what[i, SOLID_KIND], solids.what[j, SOLID_KIND]
    gap, n, p, q = solid_distance(
        one, get3(solids.numbers, i, HALF), two, get3(solids.numbers, j, HALF), c, R
    )
    return gap, turn_by_matrix(A, n), add(x, turn_by_matrix(A, p)), add(x, turn_by_matrix(A, q))


@kernel
def distances(pairs: Ints, solids: Solids, poses: Floats, out: Floats) -> None:
    """`Apart` of each pair of solids (n, ANSWER_WIDTH), everything in N."""
    for k in range(pairs.shape[0]):
        gap, n, p, q = apart_in_n(pairs[k, 0], pairs[k, 1], solids, poses)
        out[k, GAP] = gap
        put3(out, k, NORMAL, n)
        put3(out, k, POINT1, p)
        put3(out, k, POINT2, q)
