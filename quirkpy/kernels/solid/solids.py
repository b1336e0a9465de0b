"""Solids: the shapes of bodies as rows of numbers, their support points, and how far a point is
from them.

A solid is handed on in its own axes: its kind and its half lengths; of a cylinder these are the
radius twice and half its length, which lies along z, of a sphere three times the radius."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from quirkpy.kernels.base.arrays import Mat, Vec
from quirkpy.kernels.base.compiled import inner, kernel
from quirkpy.kernels.base.vectors import column, get3, put3
from quirkpy.kernels.place.sites import from_body, part_of
from quirkpy.maths.triples import NO_TURN, Nine, Triple
from quirkpy.maths.types import Floats, Ints
from quirkpy.parts.shapes import Box, Cylinder, Shape, Sphere

#: Kinds of solid.
SPHERE, BOX, CYLINDER = range(3)
# Columns of Solids.what, and of Solids.numbers: half lengths, centre and axes in the axes of the
# body (on a fixed body in N), and the radius of the ball around the centre that holds all of it.
SOLID_KIND, SOLID_BODY = range(2)
HALF, SOLID_POINT, SOLID_AXES, REACH, SOLID_WIDTH = 0, 3, 6, 15, 16
# Columns of a pose of a solid in N.
POSE_POINT, POSE_AXES, POSE_WIDTH = 0, 3, 12


class Solids(NamedTuple):
    """what (n, 2), numbers (n, SOLID_WIDTH)."""

    what: Ints
    numbers: Floats


#: The axes of a cylinder in those of its body, as columns: its z lies along the named one.
ALONG: dict[str, Nine] = {
    "x": (0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0),
    "y": (0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0),
    "z": NO_TURN,
}


def half_lengths(shape: Shape) -> tuple[int, Triple, Nine]:
    """Kind of solid, half lengths, and its axes in those of the body."""
    if isinstance(shape, Box):
        a, b, c = shape.size
        return BOX, (0.5 * a, 0.5 * b, 0.5 * c), NO_TURN
    if isinstance(shape, Cylinder):
        return CYLINDER, (shape.radius, shape.radius, 0.5 * shape.length), ALONG[shape.axis]
    if isinstance(shape, Sphere):
        return SPHERE, (shape.radius, shape.radius, shape.radius), NO_TURN
    raise TypeError(
        f"{type(shape).__name__} is no shape whose distance is known; give a Box, a Sphere or a "
        "Cylinder"
    )


def reach_of(kind: int, half: Triple) -> float:
    """The radius of the bounding ball of a solid about its centre."""
    a, b, c = half
    return {SPHERE: a, BOX: math.hypot(a, b, c), CYLINDER: math.hypot(a, c)}[kind]


def solids(rows: Sequence[tuple[int, Shape, Triple, Nine]]) -> Solids:
    """Row of the body, shape, and where that is in the axes of the body: point and axes."""
    what, numbers = np.zeros((len(rows), 2), dtype=np.int64), np.zeros((len(rows), SOLID_WIDTH))
    for k, (body, shape, point, axes) in enumerate(rows):
        kind, half, along = half_lengths(shape)
        turned_by = np.reshape(axes, (3, 3)) @ np.reshape(along, (3, 3))
        what[k] = kind, body
        numbers[k] = *half, *point, *turned_by.ravel(), reach_of(kind, half)
    return Solids(what, numbers)


@inner
def turn_by_matrix(m: Mat, a: Vec) -> Vec:
    """M a."""
    return (
        m[0] * a[0] + m[1] * a[1] + m[2] * a[2],
        m[3] * a[0] + m[4] * a[1] + m[5] * a[2],
        m[6] * a[0] + m[7] * a[1] + m[8] * a[2],
    )


@inner
def turn_back_by_matrix(m: Mat, a: Vec) -> Vec:
    """M' a."""
    return (
        m[0] * a[0] + m[3] * a[1] + m[6] * a[2],
        m[1] * a[0] + m[4] * a[1] + m[7] * a[2],
        m[2] * a[0] + m[5] * a[1] + m[8] * a[2],
    )


@inner
def axes_in(a: Mat, b: Mat) -> Mat:
    """A' B: the axes of b in those of a."""
    x = turn_back_by_matrix(a, (b[0], b[3], b[6]))
    y = turn_back_by_matrix(a, (b[1], b[4], b[7]))
    z = turn_back_by_matrix(a, (b[2], b[5], b[8]))
    return x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]


@inner
def put_pose(k: int, solids: Solids, frames: Floats, poses: Floats) -> None:
    """Centre and axes of solid k in N, from the kinematics of its body."""
    b = solids.what[k, SOLID_BODY]
    at = part_of(b, get3(solids.numbers, k, SOLID_POINT), frames)
    put3(poses, k, POSE_POINT, at.position)
    for axis in range(3):
        along = from_body(b, column(solids.numbers, k, SOLID_AXES, axis), frames)
        for i in range(3):
            poses[k, POSE_AXES + 3 * i + axis] = along[i]


@kernel
def fill_poses(solids: Solids, frames: Floats, poses: Floats) -> None:
    """Centre and axes of all solids in N (n, POSE_WIDTH)."""
    for k in range(solids.what.shape[0]):
        put_pose(k, solids, frames, poses)


@inner
def support(kind: int, half: Vec, d: Vec) -> Vec:
    """The point of a solid that is farthest in the direction d, of any length but zero."""
    if kind == BOX:
        return (
            math.copysign(half[0], d[0]),
            math.copysign(half[1], d[1]),
            math.copysign(half[2], d[2]),
        )
    if kind == CYLINDER:
        across = math.hypot(d[0], d[1])
        if across == 0.0:
            return 0.0, 0.0, math.copysign(half[2], d[2])
        s = half[0] / across
        return s * d[0], s * d[1], math.copysign(half[2], d[2])
    s = half[0] / math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    return s * d[0], s * d[1], s * d[2]


@inner
def extent(kind: int, half: Vec, n: Vec) -> float:
    """The extent of a solid in the direction n, from its centre."""
    if kind == BOX:
        return half[0] * abs(n[0]) + half[1] * abs(n[1]) + half[2] * abs(n[2])
    if kind == CYLINDER:
        return half[0] * math.hypot(n[0], n[1]) + half[2] * abs(n[2])
    return half[0] * math.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])


@inner
def point_apart(kind: int, half: Vec, y: Vec) -> tuple[float, Vec]:
    """How far a point is from the surface of a solid, below zero inside, and the direction from
    there to the point."""
    if kind == BOX:
        return point_from_box(half, y)
    if kind == CYLINDER:
        return point_from_cylinder(half, y)
    far = math.sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2])
    if far == 0.0:
        return -half[0], (0.0, 0.0, 1.0)
    return far - half[0], (y[0] / far, y[1] / far, y[2] / far)


@inner
def point_from_box(half: Vec, y: Vec) -> tuple[float, Vec]:
    """`point_apart` of a box."""
    over = abs(y[0]) - half[0], abs(y[1]) - half[1], abs(y[2]) - half[2]
    x, u, z = max(over[0], 0.0), max(over[1], 0.0), max(over[2], 0.0)
    far = math.sqrt(x * x + u * u + z * z)
    if far > 0.0:
        s = 1.0 / far
        return far, (
            math.copysign(s * x, y[0]),
            math.copysign(s * u, y[1]),
            math.copysign(s * z, y[2]),
        )
    if over[0] >= over[1] and over[0] >= over[2]:
        return over[0], (math.copysign(1.0, y[0]), 0.0, 0.0)
    if over[1] >= over[2]:
        return over[1], (0.0, math.copysign(1.0, y[1]), 0.0)
    return over[2], (0.0, 0.0, math.copysign(1.0, y[2]))


@inner
def point_from_cylinder(half: Vec, y: Vec) -> tuple[float, Vec]:
    """`point_apart` of a cylinder."""
    radial = math.hypot(y[0], y[1])
    out = (y[0] / radial, y[1] / radial) if radial > 0.0 else (1.0, 0.0)
    side, end = radial - half[0], abs(y[2]) - half[2]
    if side <= 0.0 and end <= 0.0:
        if side > end:
            return side, (out[0], out[1], 0.0)
        return end, (0.0, 0.0, math.copysign(1.0, y[2]))
    a, b = max(side, 0.0), max(end, 0.0)
    far = math.hypot(a, b)
    a, b = a / far, b / far
    return far, (a * out[0], a * out[1], math.copysign(b, y[2]))
