"""Vectors of three numbers as tuples: numba keeps them in registers, and nothing is allocated."""

from __future__ import annotations

import math

from numba import njit

from quirkpy.kernels.arrays import Vec
from quirkpy.parts.checks import Floats


@njit(cache=True)
def row3(array: Floats, i: int) -> Vec:
    """Row i of an (n, 3) array."""
    return array[i, 0], array[i, 1], array[i, 2]


@njit(cache=True)
def sub(a: Vec, b: Vec) -> Vec:
    """a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@njit(cache=True)
def add(a: Vec, b: Vec) -> Vec:
    """a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@njit(cache=True)
def scale(s: float, a: Vec) -> Vec:
    """s a."""
    return s * a[0], s * a[1], s * a[2]


@njit(cache=True)
def dot(a: Vec, b: Vec) -> float:
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(cache=True)
def cross(a: Vec, b: Vec) -> Vec:
    """a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@njit(cache=True)
def norm(a: Vec) -> float:
    """|a|."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@njit(cache=True)
def turn(axes: Floats, i: int, a: Vec) -> Vec:
    """Matrix i of an (n, 9) array of row-major matrices, times a vector: body components to N components."""
    return (
        axes[i, 0] * a[0] + axes[i, 1] * a[1] + axes[i, 2] * a[2],
        axes[i, 3] * a[0] + axes[i, 4] * a[1] + axes[i, 5] * a[2],
        axes[i, 6] * a[0] + axes[i, 7] * a[1] + axes[i, 8] * a[2],
    )


@njit(cache=True)
def column(axes: Floats, i: int, k: int) -> Vec:
    """Column k of matrix i of an (n, 9) array."""
    return axes[i, k], axes[i, 3 + k], axes[i, 6 + k]


@njit(cache=True)
def put3(array: Floats, i: int, first: int, a: Vec) -> None:
    """Write a vector into row i, from column `first` on."""
    array[i, first] = a[0]
    array[i, first + 1] = a[1]
    array[i, first + 2] = a[2]


@njit(cache=True)
def add3(array: Floats, i: int, first: int, a: Vec) -> None:
    """Add a vector to row i, from column `first` on."""
    array[i, first] += a[0]
    array[i, first + 1] += a[1]
    array[i, first + 2] += a[2]
