"""Symmetric matrices whose entries differ by many powers of ten, as where a stiff spring and an
orbit meet in one system: their small eigenvalues beside their large ones.

What is lost is a share of sqrt(a_ii a_jj), not one of the largest entry, as with LAPACK: Jacobi's
rotations, see Demmel and Veselic, Jacobi's method is more accurate than QR, SIAM J. Matrix Anal.
Appl. 13 (1992)."""

from __future__ import annotations

import math

import numpy as np

from quirkpy.kernels.base.compiled import inner, kernel
from quirkpy.maths.types import Floats

#: Sweeps at most, and the share of sqrt(a_ii a_jj) below which an entry is none.
SWEEPS, OFF_DIAGONAL = 30, 1e-16
#: Where all eigenvalues are larger than this share of the largest, LAPACK finds them well enough.
WELL_CONDITIONED = 1e-4


def eigen(matrix: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues of a symmetric matrix (f, f), the largest in size first (f,), and eigenvectors as
    columns (f, f)."""
    values, axes = np.linalg.eigh(matrix)
    order = np.argsort(-abs(values), kind="stable")
    if not len(order) or abs(values[order[-1]]) > WELL_CONDITIONED * abs(values[order[0]]):
        return values[order], axes[:, order]
    a, v = np.array(matrix, dtype=float), np.eye(len(matrix))
    turn_to_diagonal(a, v)
    order = np.argsort(-abs(np.diag(a)), kind="stable")
    return np.diag(a)[order], v[:, order]


@kernel
def turn_to_diagonal(a: Floats, v: Floats) -> None:
    """Turn a symmetric matrix (f, f) in planes of two axes until only its diagonal is left; the
    columns of v (f, f) turn along."""
    f = a.shape[0]
    for _ in range(SWEEPS):
        turned = False
        for i in range(f):
            for j in range(i + 1, f):
                size = math.sqrt(abs(a[i, i])) * math.sqrt(abs(a[j, j]))
                if a[i, j] != 0.0 and abs(a[i, j]) > OFF_DIAGONAL * size:
                    turn(a, v, i, j)
                    turned = True
        if not turned:
            return


@inner
def turn(a: Floats, v: Floats, i: int, j: int) -> None:
    """Make a_ij zero by the smaller of the two turns in that plane."""
    steep = (a[j, j] - a[i, i]) / (2.0 * a[i, j])  # infinitely steep is no turn
    t = math.copysign(1.0, steep) / (abs(steep) + math.sqrt(1.0 + steep * steep))
    c = 1.0 / math.sqrt(1.0 + t * t)
    s = t * c
    ii, jj = a[i, i] - t * a[i, j], a[j, j] + t * a[i, j]
    for k in range(a.shape[0]):
        a[i, k], a[j, k] = c * a[i, k] - s * a[j, k], s * a[i, k] + c * a[j, k]
    for k in range(a.shape[0]):
        a[k, i], a[k, j] = c * a[k, i] - s * a[k, j], s * a[k, i] + c * a[k, j]
        v[k, i], v[k, j] = c * v[k, i] - s * v[k, j], s * v[k, i] + c * v[k, j]
    a[i, i], a[j, j], a[i, j], a[j, i] = ii, jj, 0.0, 0.0


def with_signs(directions: Floats) -> Floats:
    """Directions (k, n, m) with the sign that makes the largest entry of each positive, whatever
    rounding does."""
    if not directions.size:
        return directions
    flat = directions.reshape(len(directions), -1)
    largest = flat[np.arange(len(flat)), abs(flat).argmax(axis=1)]
    return np.asarray(directions * np.where(largest < 0.0, -1.0, 1.0)[:, None, None])
