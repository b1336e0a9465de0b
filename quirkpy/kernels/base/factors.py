"""Square systems of equations: factors L U with rows exchanged, of real or of complex matrices."""

from __future__ import annotations

from typing import Any

from quirkpy.kernels.base.compiled import inner
from quirkpy.maths.types import Ints


@inner
def strongest_below(a: Any, k: int) -> int:
    """The row, from the diagonal on, with the largest number in column k."""
    best, most = k, abs(a[k, k])
    for i in range(k + 1, a.shape[0]):
        size = abs(a[i, k])
        if size > most:
            best, most = i, size
    return best


@inner
def exchange(a: Any, i: int, j: int) -> None:
    """Two rows in each other's place."""
    for k in range(a.shape[1]):
        a[i, k], a[j, k] = a[j, k], a[i, k]


@inner
def factorize(a: Any, pivots: Ints) -> None:
    """L, below the diagonal, and U in the place of a matrix (n, n), and which row came to each
    place (n,).  A matrix that has no inverse leaves numbers that are not finite."""
    n = a.shape[0]
    for k in range(n):
        pivots[k] = strongest_below(a, k)
        if pivots[k] != k:
            exchange(a, k, pivots[k])
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            share = a[i, k]
            if share != 0.0:
                for j in range(k + 1, n):
                    a[i, j] -= share * a[k, j]


@inner
def solve_factors(a: Any, pivots: Ints, b: Any) -> None:
    """x of A x = b in the place of b (n,), from the factors of A."""
    n = a.shape[0]
    for k in range(n):
        if pivots[k] != k:
            b[k], b[pivots[k]] = b[pivots[k]], b[k]
    for i in range(1, n):
        total = b[i]
        for j in range(i):
            total -= a[i, j] * b[j]
        b[i] = total
    for i in range(n - 1, -1, -1):
        total = b[i]
        for j in range(i + 1, n):
            total -= a[i, j] * b[j]
        b[i] = total / a[i, i]
