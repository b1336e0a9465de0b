"""Symmetric matrices whose entries differ by many powers of ten, as where a stiff spring and an
orbit meet in one system: their small eigenvalues beside their large ones.

What is lost is a share of sqrt(a_ii a_jj), not one of the largest entry, as with LAPACK: Jacobi's
rotations, see Demmel and Veselic, Jacobi's method is more accurate than QR, SIAM J. Matrix Anal.
Appl. 13 (1992)."""

from __future__ import annotations

import math

import numpy as np

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
    for _ in range(SWEEPS):
        size = np.sqrt(abs(np.diag(a)))
        left = np.triu(abs(a) > OFF_DIAGONAL * np.outer(size, size), 1) & (a != 0.0)
        if not left.any():
            break
        for i, j in np.argwhere(left):
            _rotate(a, v, int(i), int(j))
    order = np.argsort(-abs(np.diag(a)), kind="stable")
    return np.diag(a)[order], v[:, order]


def _rotate(a: Floats, v: Floats, i: int, j: int) -> None:
    """Make a_ij zero by the smaller of the two turns in that plane."""
    if a[i, j] == 0.0:
        return
    with np.errstate(over="ignore"):  # infinitely steep is no turn
        steep = (a[j, j] - a[i, i]) / (2.0 * a[i, j])
    t = math.copysign(1.0, steep) / (abs(steep) + math.hypot(1.0, steep))
    c = 1.0 / math.hypot(1.0, t)
    s = t * c
    ii, jj = a[i, i] - t * a[i, j], a[j, j] + t * a[i, j]
    for rows in (a, a.T, v.T):
        rows[i], rows[j] = c * rows[i] - s * rows[j], s * rows[i] + c * rows[j]
    a[i, i], a[j, j], a[i, j], a[j, i] = ii, jj, 0.0, 0.0


def with_signs(directions: Floats) -> Floats:
    """Directions (k, n, m) with the sign that makes the largest entry of each positive, whatever
    rounding does."""
    if not directions.size:
        return directions
    flat = directions.reshape(len(directions), -1)
    largest = flat[np.arange(len(flat)), abs(flat).argmax(axis=1)]
    return np.asarray(directions * np.where(largest < 0.0, -1.0, 1.0)[:, None, None])
