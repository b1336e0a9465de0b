"""Two boxes: how far they are apart, or how deep they overlap, both exactly; nothing has to
converge.

Everything is said in the axes of the first box: half lengths a and b, the centre c of the second
and its axes R.  There are fifteen axes on which boxes can be told apart: the normals of either, and
what is perpendicular to an edge of each.  On the best of them they are as far apart as is possible
on any, or overlap least.  Where the nearest points lie within two edges, what is perpendicular to
these is the best axis; else one of the points is a corner."""

from __future__ import annotations

import math

from quirkpy.kernels.base.arrays import Mat, Vec
from quirkpy.kernels.base.compiled import inner
from quirkpy.kernels.base.vectors import add, cross, dot, scale, sub
from quirkpy.kernels.solid.solids import turn_back_by_matrix, turn_by_matrix

#: An edge that crosses another gives an axis; edges closer to parallel than this [rad] give none:
#: faces do then.
PARALLEL = 1e-14
#: What rounding may be, as a share of the size.  An axis of two edges must beat those of faces by
#: it: so faces that lie on each other are told apart by their normal.
BOX_ROUNDING = 1e-14
#: An edge as near to lying in a face as this [rad] may be met on either side of it.
EITHER_SIDE = 1e-12


@inner
def axis_of(m: Mat, k: int) -> Vec:
    """Column k."""
    return m[k], m[3 + k], m[6 + k]


@inner
def unit(k: int, length: float) -> Vec:
    """A vector along axis k."""
    return (length if k == 0 else 0.0), (length if k == 1 else 0.0), (length if k == 2 else 0.0)


@inner
def facing(n: Vec, c: Vec) -> Vec:
    """n or -n, whichever points towards c."""
    return n if dot(n, c) >= 0.0 else (-n[0], -n[1], -n[2])


@inner
def on_faces(a: Vec, b: Vec, c: Vec, R: Mat) -> tuple[float, Vec]:
    """The separation of two boxes along the best of their six face normals, and this normal,
    directed from the first to the second."""
    best, n = -math.inf, (1.0, 0.0, 0.0)
    for i in range(3):
        reach = a[i] + b[0] * abs(R[3 * i]) + b[1] * abs(R[3 * i + 1]) + b[2] * abs(R[3 * i + 2])
        gap = abs(c[i]) - reach
        if gap > best:
            best, n = gap, unit(i, math.copysign(1.0, c[i]))
    for j in range(3):
        axis = axis_of(R, j)
        reach = b[j] + a[0] * abs(axis[0]) + a[1] * abs(axis[1]) + a[2] * abs(axis[2])
        gap = abs(dot(axis, c)) - reach
        if gap > best:
            best, n = gap, facing(axis, c)
    return best, n


@inner
def edge_normal(i: int, j: int, R: Mat) -> tuple[float, Vec]:
    """The sine of the angle between edge i of the first box and edge j of the second, and their
    common perpendicular."""
    n = cross(unit(i, 1.0), axis_of(R, j))
    sine = math.sqrt(dot(n, n))
    return sine, (scale(1.0 / sine, n) if sine > PARALLEL else n)


@inner
def on_edges(i: int, j: int, a: Vec, b: Vec, c: Vec, R: Mat, m: Vec) -> float:
    """The separation along the axis m, which is perpendicular to edges i and j."""
    gap = abs(dot(m, c))
    for k in range(3):
        if k != i:
            gap -= a[k] * abs(m[k])
        if k != j:
            gap -= b[k] * abs(dot(m, axis_of(R, k)))
    return gap


@inner
def separate(a: Vec, b: Vec, c: Vec, R: Mat, small: float) -> tuple[float, Vec]:
    """The separation along the best axis, and this axis; an axis of two edges only if it is better
    by `small`."""
    best, n = on_faces(a, b, c, R)
    faces = best
    for i in range(3):
        for j in range(3):
            sine, m = edge_normal(i, j, R)
            if sine > PARALLEL:
                gap = on_edges(i, j, a, b, c, R, m)
                if gap > best and gap > faces + small:
                    best, n = gap, facing(m, c)
    return best, n


@inner
def clamp(x: float, most: float) -> float:
    """x, within -most and most."""
    return min(most, max(-most, x))


@inner
def within(half: Vec, y: Vec) -> Vec:
    """The point of a box that is nearest to another."""
    return clamp(y[0], half[0]), clamp(y[1], half[1]), clamp(y[2], half[2])


@inner
def corner(half: Vec, k: int) -> Vec:
    """Corner k of a box, 0 to 7."""
    return (
        half[0] if k & 1 else -half[0],
        half[1] if k & 2 else -half[1],
        half[2] if k & 4 else -half[2],
    )


@inner
def nearest_corner(a: Vec, b: Vec, c: Vec, R: Mat) -> tuple[float, Vec, Vec]:
    """Square of the least distance between a corner of either box and the other box, and the two
    points."""
    best, p, q = math.inf, c, c
    for k in range(8):
        y = add(c, turn_by_matrix(R, corner(b, k)))
        x = within(a, y)
        d = sub(y, x)
        square = dot(d, d)
        if square < best:
            best, p, q = square, x, y
    for k in range(8):
        x = corner(a, k)
        z = turn_back_by_matrix(R, sub(x, c))
        y = within(b, z)
        d = sub(z, y)
        square = dot(d, d)
        if square < best:
            best, p, q = square, x, add(c, turn_by_matrix(R, y))
    return best, p, q


@inner
def between_edges(
    i: int, ai: float, x: Vec, bj: float, y: Vec, axis: Vec, m: Vec, sine: float
) -> tuple[Vec, Vec]:
    """The nearest points of two edges: through x along axis i, and through y along `axis`, of half
    lengths ai and bj.

    m, sine: their common perpendicular, and the sine between them.  Where they are nearly parallel
    the place along them is uncertain by rounding over the sine; the distance then changes by the
    product of the two."""
    d = sub(y, x)
    s = clamp(dot(cross(d, axis), m) / sine, ai)
    t = clamp(s * axis[i] - dot(axis, d), bj)
    s = clamp(d[i] + t * axis[i], ai)
    return add(x, unit(i, s)), add(y, scale(t, axis))


@inner
def nearest_on_edges(
    i: int, j: int, a: Vec, b: Vec, c: Vec, R: Mat, best: float, p: Vec, q: Vec
) -> tuple[float, Vec, Vec]:  # fmt: skip
    """What `nearest_corner` has found, or points within edges i and j: those that face each other
    along what is perpendicular to both."""
    sine, m = edge_normal(i, j, R)
    n, axis = facing(m, c), axis_of(R, j)
    i1, i2, j1, j2 = (i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3
    b1, b2 = axis_of(R, j1), axis_of(R, j2)
    for k in range(16):
        s1, s2 = (1.0 if k & 1 else -1.0), (1.0 if k & 2 else -1.0)
        t1, t2 = (1.0 if k & 4 else -1.0), (1.0 if k & 8 else -1.0)
        if s1 * n[i1] < -EITHER_SIDE or s2 * n[i2] < -EITHER_SIDE:
            continue
        if t1 * dot(n, b1) > EITHER_SIDE or t2 * dot(n, b2) > EITHER_SIDE:
            continue
        x = add(unit(i1, s1 * a[i1]), unit(i2, s2 * a[i2]))
        y = add(c, add(scale(t1 * b[j1], b1), scale(t2 * b[j2], b2)))
        x, y = between_edges(i, a[i], x, b[j], y, axis, m, sine)
        d = sub(y, x)
        square = dot(d, d)
        if square < best:
            best, p, q = square, x, y
    return best, p, q


@inner
def boxes_apart(a: Vec, b: Vec, c: Vec, R: Mat) -> tuple[float, Vec, Vec, Vec]:
    """Distance of two boxes, below zero the depth; its direction, and the points of the first and
    of the second."""
    small = BOX_ROUNDING * (a[0] + a[1] + a[2] + b[0] + b[1] + b[2])
    gap, n = separate(a, b, c, R, small)
    back = scale(min(gap, 0.0), n)  # where they overlap, the second is drawn back until they touch
    c = sub(c, back)
    square, p, q = nearest_corner(a, b, c, R)
    least = max(gap, 0.0) + small
    # No corner is as near as the best axis says: points within edges, or no such points
    if square > least * least:
        for i in range(3):
            for j in range(3):
                sine, m = edge_normal(i, j, R)
                if sine > PARALLEL and on_edges(i, j, a, b, c, R, m) > max(gap, 0.0) - small:
                    square, p, q = nearest_on_edges(i, j, a, b, c, R, square, p, q)
    far = math.sqrt(square)
    if gap > 0.0 and far > gap + small:
        gap, n = far, scale(1.0 / far, sub(q, p))
    return gap, n, p, add(q, back)
