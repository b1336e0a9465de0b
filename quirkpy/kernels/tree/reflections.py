"""Householder reflections of motions, stored one after the other as factor and vector, so that they
can be applied again in back substitution.

A table in the memory has a line for each motion and a column for each quantity that depends on
them."""

from __future__ import annotations

import math

from quirkpy.kernels.base.compiled import inner
from quirkpy.maths.types import Floats

#: The square of a column that nothing can feel: its inverse is still a number.
LEAST_SQUARE = 1e-200


@inner
def reflect(
    at: int, whole: int, width: int, top: int, column: int, to: int, sums: int, room: Floats
) -> float:  # fmt: skip
    """Reflect the motions from `top` on so that a column depends only on the first of them; stores
    the reflection from room[to] on, and returns the remaining component."""
    square, count = 0.0, whole - top
    for i in range(count):
        x = room[at + (top + i) * width + column]
        room[to + 1 + i] = x
        square += x * x
    if square < LEAST_SQUARE:
        room[to] = 0.0
        return 0.0
    felt = -math.copysign(math.sqrt(square), room[to + 1])
    factor = 1.0 / (square - room[to + 1] * felt)
    room[to], room[to + 1] = factor, room[to + 1] - felt
    rest = width - column - 1
    total = room[sums : sums + rest]
    for c in range(rest):
        total[c] = 0.0
    start = at + top * width + column + 1
    for i in range(count):
        x, line = room[to + 1 + i], room[start + i * width : start + i * width + rest]
        for c in range(rest):
            total[c] += x * line[c]
    for i in range(count):
        x = factor * room[to + 1 + i]
        line = room[start + i * width : start + i * width + rest]
        for c in range(rest):
            line[c] -= x * total[c]
    return felt


@inner
def reflect_back(at: int, count: int, to: int, room: Floats) -> None:
    """The reflection kept from room[to] on, of a vector."""
    x = 0.0
    for i in range(count):
        x += room[to + 1 + i] * room[at + i]
    x *= room[to]
    for i in range(count):
        room[at + i] -= x * room[to + 1 + i]


@inner
def numbers_before(k: int, whole: int) -> int:
    """The size of the first k reflections of so many motions in memory."""
    return k * (1 + whole) - k * (k - 1) // 2
