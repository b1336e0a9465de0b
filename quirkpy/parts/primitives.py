"""Constraint primitives: the constraints of a joint on its two sites, in the smallest number of
independent rows.

Site 1 has the origin x1 and the axes e1, site 2 the origin x2 and the axes e2; d = x2 - x1. Three
kinds of scalar rows suffice, and the kernels (`kernels/place/rows.py`) contain no others:

    line      e1[axis1] . d - value          [m]      how far x2 lies along an axis of site 1
    dot       e1[axis1] . e2[axis2] - value  [1]      the cosine between an axis of each site
    distance  |d| - value                    [m]
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from quirkpy.maths.types import AXES, Axis, Floats
from quirkpy.parts.checks import number, positive, word
from quirkpy.parts.part import Part, checked

RowKind: TypeAlias = Literal["line", "dot", "distance"]
#: The position of a kind is its number in the tables.
ROW_KINDS: tuple[RowKind, ...] = get_args(RowKind)


class Row(NamedTuple):
    """One scalar equation phi = 0 between two sites; `axis` numbers are 0, 1, 2 for x, y, z."""

    kind: RowKind
    axis1: int = 0
    axis2: int = 0
    value: float = 0.0


class Gap(NamedTuple):
    """The distance of two ends from coincidence: a size and its unit."""

    size: float
    unit: Literal["m", "rad"]

    def __str__(self) -> str:
        return f"{self.size:.3g} {self.unit}"


class Primitive(Part, ABC):
    """One geometric constraint on two sites; of full rank wherever its gap is below a right
    angle."""

    @abstractmethod
    def rows(self) -> tuple[Row, ...]:
        """The scalar equations, independent of each other."""

    @abstractmethod
    def gap(self, d: Floats, turn: Floats) -> Gap:
        """The size of the violation. d: x2 - x1 in the axes of site 1; turn: axes of site 2 in
        those of site 1.

        Unlike the rows it also detects the wrong branch: an axis of opposite sense is half a turn
        off."""

    def gaps(self, d: Floats, turns: Floats) -> Floats:
        """The sizes of many gaps at once (k,), from d (k, 3) and turns (k, 3, 3)."""
        return np.array([self.gap(*pair).size for pair in zip(d, turns, strict=True)])


class CoincidentPoints(Primitive):
    """The origins of the two sites coincide (3 rows)."""

    def rows(self) -> tuple[Row, ...]:
        return Row("line", 0), Row("line", 1), Row("line", 2)

    def gap(self, d: Floats, turn: Floats) -> Gap:
        return Gap(math.hypot(*d), "m")

    def gaps(self, d: Floats, turns: Floats) -> Floats:
        """The sizes of many gaps at once (k,), as in `gap`."""
        return np.asarray(np.linalg.norm(d, axis=1))


class OriginOnLine(Primitive):
    """The origin of site 2 lies on the line through the origin of site 1 along one of its axes (2
    rows)."""

    axis: Axis = checked(word(Axis), default="z")

    def rows(self) -> tuple[Row, ...]:
        first, second = _others(self.axis)
        return Row("line", first), Row("line", second)

    def gap(self, d: Floats, turn: Floats) -> Gap:
        first, second = _others(self.axis)
        return Gap(math.hypot(d[first], d[second]), "m")


class OriginOnPlane(Primitive):
    """The origin of site 2 lies `offset` [m] above the plane through site 1 across one of its axes
    (1 row)."""

    normal: Axis = checked(word(Axis), default="z")
    offset: float = checked(number, default=0.0)

    def rows(self) -> tuple[Row, ...]:
        return (Row("line", AXES.index(self.normal), value=self.offset),)

    def gap(self, d: Floats, turn: Floats) -> Gap:
        return Gap(abs(float(d[AXES.index(self.normal)]) - self.offset), "m")


class ParallelAxes(Primitive):
    """An axis of site 1 and the same axis of site 2 point the same way (2 rows)."""

    axis: Axis = checked(word(Axis), default="z")

    def rows(self) -> tuple[Row, ...]:
        mine = AXES.index(self.axis)
        first, second = _others(self.axis)
        return Row("dot", mine, first), Row("dot", mine, second)

    def gap(self, d: Floats, turn: Floats) -> Gap:
        k = AXES.index(self.axis)
        first, second = _others(self.axis)
        return Gap(math.atan2(math.hypot(turn[k, first], turn[k, second]), turn[k, k]), "rad")

    def gaps(self, d: Floats, turns: Floats) -> Floats:
        """The sizes of many gaps at once (k,), as in `gap`."""
        k = AXES.index(self.axis)
        first, second = _others(self.axis)
        across = np.hypot(turns[:, k, first], turns[:, k, second])
        return np.asarray(np.arctan2(across, turns[:, k, k]))


class PerpendicularAxes(Primitive):
    """An axis of site 1 and an axis of site 2 are perpendicular (1 row)."""

    axis1: Axis = checked(word(Axis), default="x")
    axis2: Axis = checked(word(Axis), default="y")

    def rows(self) -> tuple[Row, ...]:
        return (Row("dot", AXES.index(self.axis1), AXES.index(self.axis2)),)

    def gap(self, d: Floats, turn: Floats) -> Gap:
        cosine = float(turn[AXES.index(self.axis1), AXES.index(self.axis2)])
        return Gap(abs(math.asin(max(-1.0, min(1.0, cosine)))), "rad")


class SameOrientation(Primitive):
    """The axes of the two sites are parallel in pairs (3 rows)."""

    def rows(self) -> tuple[Row, ...]:
        return Row("dot", 0, 1), Row("dot", 1, 2), Row("dot", 2, 0)

    def gap(self, d: Floats, turn: Floats) -> Gap:
        twist = np.array(
            [turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]
        )
        return Gap(math.atan2(math.hypot(*twist), float(np.trace(turn)) - 1.0), "rad")

    def gaps(self, d: Floats, turns: Floats) -> Floats:
        """The sizes of many gaps at once (k,), as in `gap`."""
        skew = turns - turns.transpose(0, 2, 1)
        twist = np.linalg.norm(skew[:, (2, 0, 1), (1, 2, 0)], axis=1)
        return np.asarray(np.arctan2(twist, np.trace(turns, axis1=1, axis2=2) - 1.0))


class FixedDistance(Primitive):
    """The origins of the two sites are `length` [m] apart (1 row)."""

    length: float = checked(positive)

    def rows(self) -> tuple[Row, ...]:
        return (Row("distance", value=self.length),)

    def gap(self, d: Floats, turn: Floats) -> Gap:
        return Gap(abs(math.hypot(*d) - self.length), "m")


class DistanceAtMost(Primitive):
    """The origins of the two sites are at most `length` [m] apart: no row, as a stop imposes it."""

    length: float = checked(positive)

    def rows(self) -> tuple[Row, ...]:
        return ()

    def gap(self, d: Floats, turn: Floats) -> Gap:
        return Gap(max(0.0, math.hypot(*d) - self.length), "m")


def _others(axis: Axis) -> tuple[int, int]:
    """The numbers of the two other axes, in cyclic order."""
    k = AXES.index(axis)
    return (k + 1) % 3, (k + 2) % 3
