"""What each joint demands, stated a second time from its documented meaning, in Taylor arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import quirkpy as qp
from tests.jets import Frame, Jet, dot, root, wave
from tests.user_parts import Wave

X, Y, Z = range(3)
NUMBER = {"x": X, "y": Y, "z": Z}
#: The two other axes, in cyclic order.
OTHERS = {X: (Y, Z), Y: (Z, X), Z: (X, Y)}


class Ends:
    """Two sites on their way: `d` from the first origin to the second, and the axes of both, all in N."""

    def __init__(self, joint: Any, frames: Mapping[str, Frame]) -> None:
        one, two = joint.sites
        place1, place2 = frames[one.body.name], frames[two.body.name]
        self.d = place2.point(np.array(two.at)) - place1.point(np.array(one.at))
        self.e = [place1.turned(axis) for axis in one.axes.T]
        self.f = [place2.turned(axis) for axis in two.axes.T]

    def along(self, k: int) -> Jet:
        """How far the second origin lies from the first, along an axis of site 1."""
        return dot(self.d, self.e[k])

    def cosine(self, j: int, k: int) -> Jet:
        """Between an axis of site 1 and an axis of site 2."""
        return dot(self.e[j], self.f[k])


def demands(primitive: qp.Primitive, ends: Ends) -> list[Jet]:
    """What a primitive wants to be zero."""
    match primitive:
        case qp.CoincidentPoints():
            return [ends.along(k) for k in (X, Y, Z)]
        case qp.PointOnLine(axis=axis):
            return [ends.along(k) for k in OTHERS[NUMBER[axis]]]
        case qp.PointOnPlane(normal=normal, offset=offset):
            return [ends.along(NUMBER[normal]) - offset]
        case qp.ParallelAxes(axis=axis):
            return [ends.cosine(NUMBER[axis], k) for k in OTHERS[NUMBER[axis]]]
        case qp.PerpendicularAxes(axis1=one, axis2=two):
            return [ends.cosine(NUMBER[one], NUMBER[two])]
        case qp.SameOrientation():
            return [ends.cosine(j, k) for j, k in ((X, Y), (Y, Z), (Z, X))]
        case qp.FixedDistance(length=length):
            return [root(dot(ends.d, ends.d)) - length]
    raise NotImplementedError(f"no second statement of {primitive!r}")


def surface(joint: Wave, ends: Ends, t: float) -> Jet:
    """How far the second origin is above a bent and swinging surface."""
    x, y, z = (ends.along(k) for k in (X, Y, Z))
    return z - (x * x + y * y) * joint.bend - (wave(joint.pace, t) - 1.0) * joint.swing


def all_demands(joint: Any, frames: Mapping[str, Frame], t: float) -> list[Jet]:
    """What a joint wants to be zero, row by row."""
    ends = Ends(joint, frames)
    if isinstance(joint, Wave):
        return [surface(joint, ends, t)]
    return [row for primitive in joint.primitives() for row in demands(primitive, ends)]
