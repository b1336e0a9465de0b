"""The point of a simplex that is nearest to the origin, by signed volumes: its weights at the
corners.

M. Montanari, N. Petrinic and E. Barbieri, ACM Transactions on Graphics 36 (2017), article 30:
weights are quotients of projected lengths, areas or volumes, so that those of thin simplices keep
their digits."""

from __future__ import annotations

import math
from typing import TypeAlias

from quirkpy.kernels.base.arrays import Vec
from quirkpy.kernels.base.compiled import inner
from quirkpy.kernels.base.vectors import add, cross, dot, scale, sub

Weights: TypeAlias = tuple[float, float, float, float]

#: Of a flat tetrahedron rounding may say that it holds the origin; then its weights miss it by more
#: than this, squared and relative to the farthest corner.
ORIGIN_MISS = 1e-24


@inner
def weigh_corners(weights: Weights, a: Vec, b: Vec, c: Vec, d: Vec) -> Vec:
    """The sum of four corners with their weights."""
    return add(
        add(scale(weights[0], a), scale(weights[1], b)),
        add(scale(weights[2], c), scale(weights[3], d)),
    )


@inner
def on_segment(a: Vec, b: Vec) -> tuple[float, float]:
    """Weights of two corners."""
    t = sub(b, a)
    k = 0
    for i in range(1, 3):
        if abs(t[i]) > abs(t[k]):
            k = i
    if t[k] == 0.0:
        return 1.0, 0.0
    foot = a[k] - dot(a, t) / dot(t, t) * t[k]  # of the origin on the line
    x, y = (b[k] - foot) / t[k], (foot - a[k]) / t[k]
    if x <= 0.0:
        return 0.0, 1.0
    if y <= 0.0:
        return 1.0, 0.0
    return x, y


@inner
def on_triangle(a: Vec, b: Vec, c: Vec) -> tuple[float, float, float]:
    """Weights of three corners."""
    n = cross(sub(b, a), sub(c, a))
    square = dot(n, n)
    if square > 0.0:
        k = 0
        for i in range(1, 3):
            if abs(n[i]) > abs(n[k]):
                k = i
        i, j = (k + 1) % 3, (k + 2) % 3
        foot = scale(dot(n, a) / square, n)
        u = (b[i] - foot[i]) * (c[j] - foot[j]) - (b[j] - foot[j]) * (c[i] - foot[i])
        v = (c[i] - foot[i]) * (a[j] - foot[j]) - (c[j] - foot[j]) * (a[i] - foot[i])
        w = (a[i] - foot[i]) * (b[j] - foot[j]) - (a[j] - foot[j]) * (b[i] - foot[i])
        if n[k] < 0.0:
            u, v, w = -u, -v, -w
        if u > 0.0 and v > 0.0 and w > 0.0:
            total = u + v + w
            return u / total, v / total, w / total
    best, out = math.inf, (1.0, 0.0, 0.0)
    for e in range(3):
        one, two = (a, b) if e == 0 else ((b, c) if e == 1 else (c, a))
        x, y = on_segment(one, two)
        p = add(scale(x, one), scale(y, two))
        if dot(p, p) < best:
            best = dot(p, p)
            out = (x, y, 0.0) if e == 0 else ((0.0, x, y) if e == 1 else (y, 0.0, x))
    return out


@inner
def on_tetrahedron(a: Vec, b: Vec, c: Vec, d: Vec) -> Weights:
    """Weights of four corners; none of them is zero where the origin lies within."""
    va, vb = dot(b, cross(d, c)), dot(a, cross(c, d))
    vc, vd = dot(a, cross(d, b)), dot(a, cross(b, c))
    if (va > 0.0 and vb > 0.0 and vc > 0.0 and vd > 0.0) or (
        va < 0.0 and vb < 0.0 and vc < 0.0 and vd < 0.0
    ):
        total = va + vb + vc + vd
        out = va / total, vb / total, vc / total, vd / total
        p = weigh_corners(out, a, b, c, d)
        if dot(p, p) <= ORIGIN_MISS * max(max(dot(a, a), dot(b, b)), max(dot(c, c), dot(d, d))):
            return out
    out, best = (1.0, 0.0, 0.0, 0.0), math.inf
    for f in range(4):
        one, two = (b if f == 0 else a), (b if f > 1 else c)
        three = c if f == 3 else d
        x, y, z = on_triangle(one, two, three)
        p = add(add(scale(x, one), scale(y, two)), scale(z, three))
        if dot(p, p) < best:
            best = dot(p, p)
            if f == 0:
                out = 0.0, x, y, z
            elif f == 1:
                out = x, 0.0, y, z
            elif f == 2:
                out = x, y, 0.0, z
            else:
                out = x, y, z, 0.0
    return out
