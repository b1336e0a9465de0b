"""Two solids that are apart: their distance from support points alone, as Gilbert, Johnson and
Keerthi find it.

What is sought is the point nearest to the origin in the set of all differences, of a point of the
second solid less one of the first.  A simplex of at most four of them comes nearer and nearer; with
each step a plane is known that tells the solids apart, so the distance is known from both sides.
"""

from __future__ import annotations

import math

from quirkpy.kernels.base.arrays import Mat, Vec
from quirkpy.kernels.base.compiled import inner
from quirkpy.kernels.base.vectors import add, dot, norm, scale, sub
from quirkpy.kernels.solid.simplices import on_segment, on_tetrahedron, on_triangle, weigh_corners
from quirkpy.kernels.solid.solids import support, turn_back_by_matrix, turn_by_matrix

#: The two sides may differ by this share of the size; and most steps, which thin and nearly
#: parallel solids ask for.
TIGHT, MOST_STEPS = 1e-12, 200
#: Between faces that are parallel but for rounding the direction goes on improving where the
#: distance does not.
MOST_STALLS = 6
#: Nearer than this share of the size solids touch.
TOUCH = 1e-14


@inner
def farthest(kind: int, half: Vec, c: Vec, R: Mat, d: Vec) -> Vec:
    """The point of the second solid that is farthest in the direction d."""
    return add(c, turn_by_matrix(R, support(kind, half, turn_back_by_matrix(R, d))))


@inner
def gjk(
    one: int, a: Vec, two: int, b: Vec, c: Vec, R: Mat, towards: Vec
) -> tuple[float, float, Vec, Vec, Vec, int]:  # fmt: skip
    """Distance from below and from above, its direction from the first solid to the second, a point
    of each, and the steps taken; where they overlap both distances are zero.

    towards: the direction in which to begin, from the first to the second.
    """
    size = norm(a) + norm(b) + norm(c)
    p = support(one, a, towards)
    q = farthest(two, b, c, R, (-towards[0], -towards[1], -towards[2]))
    v = sub(q, p)
    zero = (0.0, 0.0, 0.0)
    # four corners w = q - p, of which `n` count
    w0, w1, w2, w3 = v, zero, zero, zero
    p0, p1, p2, p3 = p, zero, zero, zero
    n, far, low, normal, steps, stalls = 1, norm(v), -math.inf, towards, 0, 0
    for steps in range(MOST_STEPS):
        if far <= TOUCH * size:
            return 0.0, 0.0, normal, p, add(p, v), steps
        x = support(one, a, v)
        y = farthest(two, b, c, R, (-v[0], -v[1], -v[2]))
        w = sub(y, x)
        bound = dot(v, w) / far
        if bound > low:
            low, normal = bound, scale(1.0 / far, v)
        if far - low <= TIGHT * size or w == w0 or (n > 1 and w == w1) or (n > 2 and w == w2):
            break
        if n == 1:
            w1, p1 = w, x
            s, t = on_segment(w0, w1)
            weights = s, t, 0.0, 0.0
        elif n == 2:
            w2, p2 = w, x
            s, t, u = on_triangle(w0, w1, w2)
            weights = s, t, u, 0.0
        else:
            w3, p3 = w, x
            weights = on_tetrahedron(w0, w1, w2, w3)
        new = weigh_corners(weights, w0, w1, w2, w3)
        if weights[0] > 0.0 and weights[1] > 0.0 and weights[2] > 0.0 and weights[3] > 0.0:
            return 0.0, 0.0, normal, p, p, steps
        nearer = norm(new)
        if nearer >= far:
            stalls += 1
            if stalls > MOST_STALLS or nearer > far + TIGHT * size:
                break
        v, far = new, nearer
        p = weigh_corners(weights, p0, p1, p2, p3)
        n = 0
        for k in range(4):
            if weights[k] > 0.0:
                one_w = w0 if k == 0 else (w1 if k == 1 else (w2 if k == 2 else w3))
                one_p = p0 if k == 0 else (p1 if k == 1 else (p2 if k == 2 else p3))
                if n == 0:
                    w0, p0 = one_w, one_p
                elif n == 1:
                    w1, p1 = one_w, one_p
                else:
                    w2, p2 = one_w, one_p
                n += 1
    return max(low, 0.0), far, normal, p, add(p, v), steps
