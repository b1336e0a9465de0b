"""What each joint demands, stated a second time from its documented meaning, in Taylor
arithmetic."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

import quirkpy as qp
from tests.jets import Frame, Jet, arctan2, dot, root, wave
from tests.user_parts import Wave

X, Y, Z = range(3)
NUMBER = {"x": X, "y": Y, "z": Z}
#: The two other axes, in cyclic order.
OTHERS = {X: (Y, Z), Y: (Z, X), Z: (X, Y)}


class Ends:
    """Two sites on their way: `d` from the first origin to the second, and the axes of both, all in
    N."""

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

    def coordinate(self, named: qp.Coordinate) -> Jet:
        """How far the joint has gone, up to whole turns."""
        k = NUMBER[named.axis]
        b, c = OTHERS[k]
        match named.kind, named.site:
            case "travel", _:
                return self.along(k)
            case "length", _:
                return root(dot(self.d, self.d))
            case _, 1:
                return arctan2(self.cosine(c, b), self.cosine(b, b))
        return arctan2(self.cosine(c, b), self.cosine(c, c))


def related(relation: qp.Relation, frames: Mapping[str, Frame], t: float) -> Jet:
    """What a relation of coordinates wants to be zero; with just one angle up to whole turns of
    that."""
    out, turns = Jet(*(-np.array(relation.driven(t)))) - relation.value, []
    pairs = [(relation.first, 1.0)] + (
        [(relation.second, relation.factor)] if relation.second else []
    )
    for (joint, name), factor in pairs:
        named = next(c for c in joint.coordinates if c.name == name)
        out = out + Ends(joint, frames).coordinate(named) * factor
        turns += [2.0 * math.pi * abs(factor)] * (named.kind == "angle")
    return Jet(math.remainder(out.f, turns[0]), out.d, out.dd) if len(turns) == 1 else out


def demands(primitive: qp.Primitive, ends: Ends) -> list[Jet]:
    """What a primitive wants to be zero."""
    match primitive:
        case qp.CoincidentPoints():
            return [ends.along(k) for k in (X, Y, Z)]
        case qp.OriginOnLine(axis=axis):
            return [ends.along(k) for k in OTHERS[NUMBER[axis]]]
        case qp.OriginOnPlane(normal=normal, offset=offset):
            return [ends.along(NUMBER[normal]) - offset]
        case qp.ParallelAxes(axis=axis):
            return [ends.cosine(NUMBER[axis], k) for k in OTHERS[NUMBER[axis]]]
        case qp.PerpendicularAxes(axis1=one, axis2=two):
            return [ends.cosine(NUMBER[one], NUMBER[two])]
        case qp.SameOrientation():
            return [ends.cosine(j, k) for j, k in ((X, Y), (Y, Z), (Z, X))]
        case qp.FixedDistance(length=length):
            return [root(dot(ends.d, ends.d)) - length]
        case qp.DistanceAtMost():
            return []
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
    rows = [related(relation, frames, t) for relation in joint.relations()]
    primitives = joint.primitives() if isinstance(joint, qp.Joint) else ()
    return [row for primitive in primitives for row in demands(primitive, ends)] + rows
