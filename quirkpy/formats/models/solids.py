"""The shape of a body from the solids of a link, and files of meshes."""

from __future__ import annotations

import math

import numpy as np

from quirkpy.clearance.skins import surface_of
from quirkpy.formats.models.links import MassPiece, ModelLink, RelativePose
from quirkpy.maths.types import Floats, Ints
from quirkpy.parts.part import PartError
from quirkpy.parts.shapes import Box, Cylinder, Mesh, Shape, Sphere
from quirkpy.system.findings import Findings

#: Sides of the polygons that approximate the circles of a ball.
SIDES = 24
#: A solid is centred on its body, and aligned with its axes, to within this [m], [1].
CENTRED_SOLID = 1e-9


def solid_of(link: ModelLink, findings: Findings) -> Shape | None:
    """The shape of the body made from a link, about its mass centre."""
    if not link.pieces:
        return None
    onto = RelativePose(np.eye(3), -link.centre)
    pieces = [MassPiece(onto.then(piece.pose), piece.shape) for piece in link.pieces]
    if len(pieces) == 1 and (alone := _lone_shape(pieces[0])) is not None:
        return alone
    try:
        return _join_pieces(pieces)
    except PartError as error:
        told = str(error).partition(": ")[2].rstrip(".")
        findings.tell("shape", f"{{}}: it has no shape here: {told}.", link.name)
        return None


def _lone_shape(piece: MassPiece) -> Shape | None:
    """A single solid unchanged, if it is centred and aligned with the axes of the body."""
    turn, at = piece.pose
    if np.abs(at).max() > CENTRED_SOLID:
        return None
    straight = np.abs(np.rint(turn) - turn).max() <= CENTRED_SOLID
    shape = piece.shape
    if isinstance(shape, Sphere):
        return shape
    if isinstance(shape, Box) and straight:
        x, y, z = (np.abs(np.rint(turn)) @ shape.size).tolist()
        return Box((x, y, z))
    if isinstance(shape, Cylinder) and straight:
        along = np.abs(turn[:, "xyz".index(shape.axis)]).argmax()
        return Cylinder(shape.radius, shape.length, "xyz"[int(along)])  # type: ignore[arg-type]
    return None


def _join_pieces(pieces: list[MassPiece]) -> Mesh:
    """Several solids as one disconnected surface."""
    points, faces, count = [], [], 0
    for pose, shape in pieces:
        vertices, triangles = triangles_of(shape)
        points.append(vertices @ pose.turn.T + pose.at)
        faces.append(triangles + count)
        count += len(vertices)
    return Mesh(np.concatenate(points), np.concatenate(faces))


def triangles_of(shape: Shape) -> tuple[Floats, Ints]:
    """Vertices (n, 3) [m] and triangles (m, 3) of a shape; for a ball an inscribed polyhedron."""
    if isinstance(shape, Sphere):
        turns = np.linspace(0.0, math.pi, SIDES // 2 + 1)
        return lathe(shape.radius * np.sin(turns[1:-1]), -shape.radius * np.cos(turns))
    points, triangles, _, _ = surface_of(shape)
    return points, triangles


def lathe(radii: Floats, heights: Floats) -> tuple[Floats, Ints]:
    """A solid of revolution about z: rings of radii (k,) [m] between two poles, heights (k + 2,)
    [m] of the poles and the rings, increasing."""
    turns = np.arange(SIDES) * (2.0 * math.pi / SIDES)
    ring = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    points = [np.array([[0.0, 0.0, heights[0]]])]
    for r, z in zip(radii, heights[1:-1], strict=True):
        points.append(np.column_stack([r * ring, np.full(SIDES, z)]))
    points.append(np.array([[0.0, 0.0, heights[-1]]]))
    k, after, rings = np.arange(SIDES), (np.arange(SIDES) + 1) % SIDES, len(radii)
    last = 1 + rings * SIDES
    faces = [np.column_stack([np.zeros(SIDES, int), 1 + after, 1 + k])]
    for row in range(rings - 1):
        a, b = 1 + row * SIDES, 1 + (row + 1) * SIDES
        faces += [np.column_stack([a + k, a + after, b + after]),
                  np.column_stack([a + k, b + after, b + k])]  # fmt: skip
    top = 1 + (rings - 1) * SIDES
    faces.append(np.column_stack([np.full(SIDES, last), top + k, top + after]))
    return np.concatenate(points), np.concatenate(faces)
