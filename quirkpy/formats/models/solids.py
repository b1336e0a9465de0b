"""What a link looks like: its solids as the one shape of a body, and files of meshes."""

from __future__ import annotations

import math

import numpy as np

from quirkpy.formats.models.links import MassPiece, ModelLink, RelativePose
from quirkpy.maths.types import Floats, Ints
from quirkpy.parts.part import PartError
from quirkpy.parts.shapes import Box, Cylinder, Mesh, Shape, Sphere
from quirkpy.system.findings import Findings

#: Sides of the polygons that stand for circles.
SIDES = 24
#: A solid is centred on its body, and lies along its axes, where it misses them by less [m], [1].
CENTRED_SOLID = 1e-9
#: The corners of a cuboid of sides 2, and its faces.
CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
FACES = np.array(
    [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
     (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]
)  # fmt: skip


def solid_of(link: ModelLink, findings: Findings) -> Shape | None:
    """The shape of the body that a link becomes, about its mass centre."""
    if not link.pieces:
        return None
    onto = RelativePose(np.eye(3), -link.centre)
    pieces = [MassPiece(onto.then(piece.pose), piece.shape) for piece in link.pieces]
    if len(pieces) == 1 and (alone := _lone_piece(pieces[0])) is not None:
        return alone
    try:
        return _join(pieces)
    except PartError as error:
        told = str(error).partition(": ")[2].rstrip(".")
        findings.tell("shape", f"{{}}: it has no shape here: {told}.", link.name)
        return None


def _lone_piece(piece: MassPiece) -> Shape | None:
    """A single solid as it is, where it is centred and lies along the axes of the body."""
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


def _join(pieces: list[MassPiece]) -> Mesh:
    """Several solids as one surface in several pieces."""
    points, faces, count = [], [], 0
    for pose, shape in pieces:
        vertices, triangles = surface_of(shape)
        points.append(vertices @ pose.turn.T + pose.at)
        faces.append(triangles + count)
        count += len(vertices)
    return Mesh(np.concatenate(points), np.concatenate(faces))


def surface_of(shape: Shape) -> tuple[Floats, Ints]:
    """Vertices (n, 3) [m] and triangles (m, 3) of a shape; round ones as polyhedra within them."""
    if isinstance(shape, Mesh):
        return shape.points, shape.corners
    if isinstance(shape, Box):
        return 0.5 * CORNERS * shape.size, FACES
    if isinstance(shape, Sphere):
        r = shape.radius
        turns = np.linspace(0.0, math.pi, SIDES // 2 + 1)
        return lathe(r * np.sin(turns[1:-1]), -r * np.cos(turns))
    if isinstance(shape, Cylinder):
        half = 0.5 * shape.length
        points, faces = lathe(np.full(2, shape.radius), np.array([-half, -half, half, half]))
        return np.roll(points, "xyz".index(shape.axis) + 1, axis=1), faces
    raise PartError(f"{type(shape).__name__}: no surface of such a shape is known.")


def lathe(radii: Floats, heights: Floats) -> tuple[Floats, Ints]:
    """A solid of revolution about z: rings of radii (k,) [m] between two poles, heights (k + 2,)
    [m] of the poles and the rings, rising."""
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
