"""Vectors of three numbers as tuples: numba keeps them in registers, and nothing is allocated."""

from __future__ import annotations

import math
from typing import TypeAlias

from quirkpy.kernels.base.arrays import Vec
from quirkpy.kernels.base.compiled import inner
from quirkpy.maths.types import Floats


@inner
def get3(array: Floats, i: int, first: int) -> Vec:
    """Three numbers of row i, from column `first` on."""
    return array[i, first], array[i, first + 1], array[i, first + 2]


@inner
def sub(a: Vec, b: Vec) -> Vec:
    """a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inner
def add(a: Vec, b: Vec) -> Vec:
    """a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inner
def scale(s: float, a: Vec) -> Vec:
    """s a."""
    return s * a[0], s * a[1], s * a[2]


@inner
def dot(a: Vec, b: Vec) -> float:
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inner
def cross(a: Vec, b: Vec) -> Vec:
    """a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inner
def centripetal(w: Vec, arm: Vec) -> Vec:
    """w x (w x arm): the acceleration of a point that turns with a body."""
    return sub(scale(dot(w, arm), w), scale(dot(w, w), arm))


@inner
def norm(a: Vec) -> float:
    """|a|."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@inner
def turn(array: Floats, i: int, first: int, a: Vec) -> Vec:
    """The row-major matrix in row i, from column `first` on, times a vector: body components to N
    components."""
    return (
        array[i, first] * a[0] + array[i, first + 1] * a[1] + array[i, first + 2] * a[2],
        array[i, first + 3] * a[0] + array[i, first + 4] * a[1] + array[i, first + 5] * a[2],
        array[i, first + 6] * a[0] + array[i, first + 7] * a[1] + array[i, first + 8] * a[2],
    )


@inner
def turn_back(array: Floats, i: int, first: int, a: Vec) -> Vec:
    """The transposed matrix in row i times a vector: components in N to those in body axes."""
    return (
        array[i, first] * a[0] + array[i, first + 3] * a[1] + array[i, first + 6] * a[2],
        array[i, first + 1] * a[0] + array[i, first + 4] * a[1] + array[i, first + 7] * a[2],
        array[i, first + 2] * a[0] + array[i, first + 5] * a[1] + array[i, first + 8] * a[2],
    )


@inner
def column(array: Floats, i: int, first: int, k: int) -> Vec:
    """Column k of the row-major matrix in row i, from column `first` on."""
    return array[i, first + k], array[i, first + 3 + k], array[i, first + 6 + k]


@inner
def put3(array: Floats, i: int, first: int, a: Vec) -> None:
    """Write a vector into row i, from column `first` on."""
    array[i, first] = a[0]
    array[i, first + 1] = a[1]
    array[i, first + 2] = a[2]


@inner
def add3(array: Floats, i: int, first: int, a: Vec) -> None:
    """Add a vector to row i, from column `first` on."""
    array[i, first] += a[0]
    array[i, first + 1] += a[1]
    array[i, first + 2] += a[2]


#: Four numbers of a quaternion, w x y z.
Four: TypeAlias = tuple[float, float, float, float]


@inner
def get4(array: Floats, i: int, first: int) -> Four:
    """Four numbers of row i, from column `first` on."""
    return array[i, first], array[i, first + 1], array[i, first + 2], array[i, first + 3]
