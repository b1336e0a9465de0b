"""Solid bodies as flat patches, seen from a direction: arrays only, for any painter."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from quirkpy.maths.rotations import rotate
from quirkpy.maths.types import Bools, Floats, Ints
from quirkpy.parts.checks import direction
from quirkpy.parts.part import PartError
from quirkpy.parts.shapes import Box, Cylinder, Mesh, Shape, Sphere
from quirkpy.views.hidden import EDGE_ON, Piece, normals_of, sort_by_depth

#: The view is along z where the cosine is within this of 1 or -1 [1].
VERTICAL = 1e-9
#: Directions to the viewer, and to the light.
EYE, LIGHT = (0.45, -0.75, 0.8), (0.2, -0.55, 0.95)
#: Number of corners of round shapes, and the radius [m] of a body without a known shape.
ROUND, POINT = 36, 0.02
#: An edge is drawn where the surface bends by more than this [rad].
SHARP = 0.5
STILL = np.array((1.0, 0.0, 0.0, 0.0))


class Solid(NamedTuple):
    """A visible body: its shape, position [m], orientation (w x y z), and the number of its
    colour."""

    shape: Shape | None
    r: Floats
    q: Floats
    number: int


class Patch(NamedTuple):
    """A flat patch: the number of its solid, its corners (k, 2) [m] in the picture, its brightness
    from 0 to 1, and which of the edges from corner to corner are edges of the solid (k,)."""

    number: int
    corners: Floats
    light: float
    edges: tuple[bool, ...]


class Surface(NamedTuple):
    """The surface of a shape in body axes: points (n, 3) [m] and triangles (m, 3), counterclockwise
    from outside."""

    points: Floats
    triangles: Ints


def across(eye: Sequence[float] = EYE) -> tuple[Floats, Floats]:
    """The direction to the viewer (3,); and the right and upward directions of the picture, as
    columns (3, 2)."""
    try:
        towards = np.array(direction(eye))
    except (TypeError, ValueError) as error:
        raise PartError(f"picture: eye {error}.") from None
    towards /= np.linalg.norm(towards)
    right = np.cross(
        (0.0, 0.0, 1.0) if abs(towards[2]) < 1.0 - VERTICAL else (0.0, 1.0, 0.0), towards
    )
    right /= np.linalg.norm(right)
    return towards, np.stack([right, np.cross(towards, right)], axis=1)


def visible_patches(solids: Iterable[Solid], eye: Sequence[float] = EYE) -> list[Patch]:
    """The patches that face the viewer, ordered such that none is hidden by one before it."""
    towards, onto = across(eye)
    listed = list(solids)
    pieces = [piece for k, solid in enumerate(listed) for piece in pieces_of(k, solid, towards)]
    painted = sort_by_depth(pieces, towards)
    lights = brightness([piece.corners for piece in painted]).tolist()
    return [
        Patch(listed[piece.number].number, piece.corners @ onto, light, piece.edges)
        for piece, light in zip(painted, lights, strict=True)
    ]


def pieces_of(number: int, solid: Solid, towards: Floats) -> list[Piece]:
    """The faces of a solid that face the viewer, in N."""
    polygons = faces(solid.shape, towards, solid.q)
    points = np.concatenate(polygons)
    turned = rotate(np.broadcast_to(solid.q, (len(points), 4)), points)
    ends = np.cumsum([len(face) for face in polygons])[:-1]
    facing = (normals_of(np.split(turned, ends)) @ towards > EDGE_ON).tolist()
    placed = np.split(turned + solid.r, ends)
    edges = [(True,) * len(corners) for corners in placed]
    # The side is round: only the outer edges of its strips are drawn
    if isinstance(solid.shape, Cylinder):
        strips = facing[2:]
        edges[2:] = [
            (True, not strips[j - 1], True, not strips[j + 1 - ROUND]) for j in range(ROUND)
        ]
    if isinstance(solid.shape, Mesh):
        edges = _edges_of(solid.shape, np.array(facing))
    return [
        Piece(number, corners, mine)
        for corners, mine, seen in zip(placed, edges, facing, strict=True)
        if seen
    ]


def _edges_of(shape: Mesh, facing: Bools) -> list[tuple[bool, ...]]:
    """Which edges of the triangles of a mesh are drawn: where the surface bends by more than SHARP,
    or turns away from the viewer."""
    sides = np.sort(np.stack([shape.corners, np.roll(shape.corners, -1, axis=1)], axis=2), axis=2)
    found, which = np.unique(sides.reshape(-1, 2), axis=0, return_inverse=True)
    which = which.reshape(-1, 3)
    units = shape.normals / np.linalg.norm(shape.normals, axis=1)[:, None]
    sums, seen = np.zeros((len(found), 3)), np.zeros(len(found))
    for k in range(3):
        np.add.at(sums, which[:, k], units)
        np.add.at(seen, which[:, k], np.where(facing, 1.0, 0.0))
    flat = (np.linalg.norm(sums, axis=1) > 2.0 * math.cos(0.5 * SHARP)) & (seen != 1.0)
    return [tuple(row) for row in (~flat[which]).tolist()]


def brightness(faces: Sequence[Floats]) -> Floats:
    """The brightness of faces, from 0 to 1 (n,)."""
    return np.maximum(0.0, normals_of(faces) @ (np.array(LIGHT) / np.linalg.norm(LIGHT)))


def mesh_of(shape: Shape | None) -> Surface:
    """The surface of a shape as triangles, for painters with a variable view."""
    if isinstance(shape, Mesh):
        return Surface(shape.points, shape.corners)
    if not isinstance(shape, (Box, Cylinder)):
        return _of_sphere(shape.radius if isinstance(shape, Sphere) else POINT)
    polygons = faces(shape, np.zeros(3), STILL)
    first = np.cumsum([0, *(len(polygon) for polygon in polygons)])
    fans = [
        np.stack(
            [np.full(len(p) - 2, a), a + 1 + np.arange(len(p) - 2), a + 2 + np.arange(len(p) - 2)],
            axis=1,
        )
        for a, p in zip(first, polygons, strict=False)
    ]
    return Surface(np.concatenate(polygons), np.concatenate(fans))


def _of_sphere(radius: float) -> Surface:
    """Rings from pole to pole, with equal numbers of points."""
    rings, n = ROUND // 2, ROUND
    down = math.pi * np.arange(rings + 1)[:, None] / rings
    around = 2.0 * math.pi * np.arange(n)[None] / n
    points = np.stack(
        [np.sin(down) * np.cos(around), np.sin(down) * np.sin(around), np.cos(down) + 0.0 * around],
        -1,
    )
    i, j = np.meshgrid(np.arange(rings), np.arange(n), indexing="ij")
    a, b = i * n + j, i * n + (j + 1) % n
    c, d = a + n, b + n
    lower = np.stack([a, c, d], axis=-1)[:-1].reshape(-1, 3)  # the last ring is a point
    upper = np.stack([a, d, b], axis=-1)[1:].reshape(-1, 3)  # so is the first
    return Surface(radius * points.reshape(-1, 3), np.concatenate([lower, upper]))


def faces(shape: Shape | None, towards: Floats, q: Floats) -> list[Floats]:
    """The faces of a shape in body axes, corners (k, 3) counterclockwise from outside."""
    if isinstance(shape, Box):
        return _of_box(0.5 * np.array(shape.size))
    if isinstance(shape, Cylinder):
        return _of_cylinder(shape)
    if isinstance(shape, Mesh):
        return list(shape.points[shape.corners])
    radius = shape.radius if isinstance(shape, Sphere) else POINT
    across = rotate(np.array([q * (1.0, -1.0, -1.0, -1.0)]), towards[None])[
        0
    ]  # a disc that faces the viewer
    one = np.cross(across, (1.0, 0.0, 0.0) if abs(across[0]) < 0.9 else (0.0, 1.0, 0.0))
    one /= np.linalg.norm(one)
    return [radius * _circle() @ np.stack([one, np.cross(across, one)])]


def _circle() -> Floats:
    angles = 2.0 * math.pi * np.arange(ROUND) / ROUND
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _of_box(half: Floats) -> list[Floats]:
    square = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
    out = []
    for k in range(3):
        for side in (-1.0, 1.0):
            corners = np.empty((4, 3))
            corners[:, k], corners[:, (k + 1) % 3], corners[:, (k + 2) % 3] = (
                side,
                square[:, 0],
                square[:, 1],
            )
            out.append((corners if side > 0.0 else corners[::-1]) * half)
    return out


def _of_cylinder(shape: Cylinder) -> list[Floats]:
    k, half, ring = "xyz".index(shape.axis), 0.5 * shape.length, shape.radius * _circle()
    ends = []
    for side in (-half, half):
        end = np.empty((ROUND, 3))
        end[:, k], end[:, (k + 1) % 3], end[:, (k + 2) % 3] = side, ring[:, 0], ring[:, 1]
        ends.append(end)
    low, high = ends
    sides = [
        np.array([low[j], low[j - ROUND + 1], high[j - ROUND + 1], high[j]]) for j in range(ROUND)
    ]
    return [low[::-1], high, *sides]
