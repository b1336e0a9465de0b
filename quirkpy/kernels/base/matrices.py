"""3x3 matrices as tuples, kept in registers: symmetric ones as six numbers, triangular ones too,
any other as nine."""

from __future__ import annotations

import math

from quirkpy.kernels.base.arrays import Mat, Sym, Vec
from quirkpy.kernels.base.compiled import inner
from quirkpy.maths.types import Floats


@inner
def sym6(work: Floats, i: int, k: int) -> Sym:
    """A symmetric 3x3 matrix stored at column k."""
    return (
        work[i, k],
        work[i, k + 1],
        work[i, k + 2],
        work[i, k + 3],
        work[i, k + 4],
        work[i, k + 5],
    )


@inner
def put6(work: Floats, i: int, k: int, s: Sym) -> None:
    """Store a symmetric 3x3 matrix."""
    for n in range(6):
        work[i, k + n] = s[n]


@inner
def sym_times(s: Sym, v: Vec) -> Vec:
    """Symmetric matrix times vector."""
    return (
        s[0] * v[0] + s[1] * v[1] + s[2] * v[2],
        s[1] * v[0] + s[3] * v[1] + s[4] * v[2],
        s[2] * v[0] + s[4] * v[1] + s[5] * v[2],
    )


@inner
def sym_inverse(s: Sym) -> Sym:
    """Inverse of a symmetric positive 3x3 matrix, by cofactors."""
    a = s[3] * s[5] - s[4] * s[4]
    b = s[2] * s[4] - s[1] * s[5]
    c = s[1] * s[4] - s[2] * s[3]
    d = 1.0 / (s[0] * a + s[1] * b + s[2] * c)
    return (
        a * d,
        b * d,
        c * d,
        (s[0] * s[5] - s[2] * s[2]) * d,
        (s[1] * s[2] - s[0] * s[4]) * d,
        (s[0] * s[3] - s[1] * s[1]) * d,
    )


@inner
def mat9(work: Floats, i: int, k: int) -> Mat:
    """A 3x3 matrix stored row by row at column k."""
    return (
        work[i, k], work[i, k + 1], work[i, k + 2], work[i, k + 3], work[i, k + 4],
        work[i, k + 5], work[i, k + 6], work[i, k + 7], work[i, k + 8],
    )  # fmt: skip


@inner
def mixed_transposed(b0: Vec, b1: Vec, b2: Vec, v: Vec) -> Vec:
    """B' v, from the rows of B."""
    return (
        b0[0] * v[0] + b1[0] * v[1] + b2[0] * v[2],
        b0[1] * v[0] + b1[1] * v[1] + b2[1] * v[2],
        b0[2] * v[0] + b1[2] * v[1] + b2[2] * v[2],
    )


@inner
def cholesky3(s: Sym) -> Sym:
    """Lower factor H of a symmetric positive matrix, H H' = s; packed h00 h10 h20 h11 h21 h22."""
    a = math.sqrt(s[0])
    b, c = s[1] / a, s[2] / a
    d = math.sqrt(s[3] - b * b)
    e = (s[4] - b * c) / d
    return a, b, c, d, e, math.sqrt(s[5] - c * c - e * e)


@inner
def lower_transposed(h: Sym, v: Vec) -> Vec:
    """H' v."""
    return h[0] * v[0] + h[1] * v[1] + h[2] * v[2], h[3] * v[1] + h[4] * v[2], h[5] * v[2]


@inner
def lower(h: Sym, v: Vec) -> Vec:
    """H v."""
    return h[0] * v[0], h[1] * v[0] + h[3] * v[1], h[2] * v[0] + h[4] * v[1] + h[5] * v[2]
