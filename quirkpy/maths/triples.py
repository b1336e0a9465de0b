"""Vectors of three and matrices of nine floats as plain tuples.

Parts are constructed one by one: for so few numbers plain arithmetic costs a tenth of arrays. A
matrix is stored row by row."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from quirkpy.maths.types import Floats, Vector

Triple: TypeAlias = tuple[float, float, float]
#: A 3x3 matrix, row by row.
Nine: TypeAlias = tuple[float, ...]

ORIGIN: Triple = (0.0, 0.0, 0.0)
NO_TURN: Nine = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


def triple(value: Vector) -> Triple:
    """Three numbers in any form, unchecked, as a tuple of floats."""
    x, y, z = np.asarray(value, dtype=float).tolist()
    return x, y, z


def nine(value: Any) -> Nine:
    """A 3x3 matrix in any form, unchecked, as a tuple of floats."""
    return tuple(np.asarray(value, dtype=float).reshape(9).tolist())


def array(matrix: Nine) -> Floats:
    """A matrix as an array (3, 3)."""
    return np.array(matrix).reshape(3, 3)


def add(a: Vector, b: Vector) -> Triple:
    """a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def sub(a: Vector, b: Vector) -> Triple:
    """a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def scale(s: float, a: Vector) -> Triple:
    """s a."""
    return s * a[0], s * a[1], s * a[2]


def dot(a: Vector, b: Vector) -> float:
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def norm(a: Vector) -> float:
    """|a|."""
    return math.sqrt(dot(a, a))


def cross(a: Vector, b: Vector) -> Triple:
    """a x b."""
    (a0, a1, a2), (b0, b1, b2) = a, b
    return a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0


def unit(a: Vector) -> Triple:
    """The direction of a, of length one."""
    x, y, z = a
    largest = max(abs(x), abs(y), abs(z))  # first: the square of a component may overflow
    x, y, z = x / largest, y / largest, z / largest
    length = math.hypot(x, y, z)
    return x / length, y / length, z / length


def across(a: Vector, z: Vector) -> Triple:
    """The component of a perpendicular to the unit vector z, normalised."""
    along = dot(a, z)
    return unit((a[0] - along * z[0], a[1] - along * z[1], a[2] - along * z[2]))


def column(m: Nine, k: int) -> Triple:
    """Column k of a matrix."""
    return m[k], m[k + 3], m[k + 6]


def columns(x: Vector, y: Vector, z: Vector) -> Nine:
    """The matrix with these columns."""
    return x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]


def turn(m: Nine, a: Vector) -> Triple:
    """m a."""
    x, y, z = a
    return (
        m[0] * x + m[1] * y + m[2] * z,
        m[3] * x + m[4] * y + m[5] * z,
        m[6] * x + m[7] * y + m[8] * z,
    )


def turn_back(m: Nine, a: Vector) -> Triple:
    """m' a."""
    x, y, z = a
    return (
        m[0] * x + m[3] * y + m[6] * z,
        m[1] * x + m[4] * y + m[7] * z,
        m[2] * x + m[5] * y + m[8] * z,
    )


def product(m: Nine, n: Nine) -> Nine:
    """m n."""
    return columns(turn(m, column(n, 0)), turn(m, column(n, 1)), turn(m, column(n, 2)))


def product_back(m: Nine, n: Nine) -> Nine:
    """m' n."""
    return columns(
        turn_back(m, column(n, 0)), turn_back(m, column(n, 1)), turn_back(m, column(n, 2))
    )
