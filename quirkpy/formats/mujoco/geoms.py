"""Geoms of MJCF files: their contributions to the mass, centre and moments of a body, and their
solids."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from quirkpy.formats.models.links import RelativePose
from quirkpy.maths.types import Floats, Ints
from quirkpy.parts.part import PartError
from quirkpy.parts.shapes import Box, Cylinder, Mesh, Shape, Sphere

#: Number of sizes of each kind.
SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
#: Kinds without mass.
WEIGHTLESS = ("plane", "hfield")


class GeomSolid(NamedTuple):
    """A body of density one: volume [m3], centre (3,) [m], and moments (3, 3) [m5] about it, all in
    the frame of its geom; shape: its visible shape there, None: invisible."""

    volume: float
    centre: Floats
    moments: Floats
    shape: Shape | None


def primitive(kind: str, size: Floats) -> GeomSolid:
    """A solid of a kind by its sizes: radii and half lengths [m]."""
    volume, moments = VOLUMES[kind](*size.tolist())
    return GeomSolid(volume, np.zeros(3), volume * np.diag(moments), _shape(kind, size.tolist()))


def _sphere(r: float) -> tuple[float, tuple[float, float, float]]:
    moment = 0.4 * r * r
    return 4.0 / 3.0 * math.pi * r**3, (moment, moment, moment)


def _box(a: float, b: float, c: float) -> tuple[float, tuple[float, float, float]]:
    x, y, z = a * a / 3.0, b * b / 3.0, c * c / 3.0
    return 8.0 * a * b * c, (y + z, x + z, x + y)


def _ellipsoid(a: float, b: float, c: float) -> tuple[float, tuple[float, float, float]]:
    x, y, z = a * a / 5.0, b * b / 5.0, c * c / 5.0
    return 4.0 / 3.0 * math.pi * a * b * c, (y + z, x + z, x + y)


def _cylinder(r: float, half: float) -> tuple[float, tuple[float, float, float]]:
    across = (3.0 * r * r + 4.0 * half * half) / 12.0
    return 2.0 * math.pi * r * r * half, (across, across, 0.5 * r * r)


def _capsule(r: float, half: float) -> tuple[float, tuple[float, float, float]]:
    """A cylinder with half a ball at each end, whose centres lie 3 r/8 beyond its faces."""
    rod, (side, _, along) = _cylinder(r, half)
    ball, (moment, _, _) = _sphere(r)
    far = half + 0.375 * r
    caps = moment - (0.375 * r) ** 2 + far * far
    volume = rod + ball
    across = (rod * side + ball * caps) / volume
    return volume, (across, across, (rod * along + ball * moment) / volume)


VOLUMES: dict[str, Callable[..., tuple[float, tuple[float, float, float]]]] = {
    "sphere": _sphere, "box": _box, "ellipsoid": _ellipsoid, "cylinder": _cylinder,
    "capsule": _capsule,
}  # fmt: skip


def _shape(kind: str, size: list[float]) -> Shape | None:
    """The visible shape of a geom; for capsules the cylinder, for ellipsoids None."""
    if kind == "sphere":
        return Sphere(size[0])
    if kind == "box":
        x, y, z = (2.0 * half for half in size)
        return Box((x, y, z))
    if kind in ("cylinder", "capsule"):
        return Cylinder(size[0], 2.0 * size[1], "z")
    return None


# --- meshes ---------------------------------------------------------------------------------------
def mesh_solid(points: Floats, corners: Ints, shape: Mesh | None, way: str) -> GeomSolid:
    """The solid inside a mesh, by one of MuJoCo's methods: "legacy" counts each tetrahedron with
    the centre of the surface as positive, "exact" with its sign."""
    faces = points[corners]
    middles, normals = (
        faces.mean(axis=1),
        0.5 * np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0]),
    )
    areas = np.linalg.norm(normals, axis=1)
    if not areas.sum() > 0.0:
        raise PartError("a mesh has no area, so it can have no mass", code="content")
    middle = (areas @ middles) / areas.sum()
    parts = _tetrahedra(middles - middle, normals, way)
    if not parts.sum() > 0.0:
        raise PartError("a mesh holds no volume, so it can have no mass", code="content")
    centre = (parts @ (0.75 * middles + 0.25 * middle)) / parts.sum()
    tips = faces - centre
    parts = _tetrahedra(tips.mean(axis=1), normals, way)
    total = tips.sum(axis=1)
    second = np.einsum("m,mki,mkj->ij", parts, tips, tips)
    second = (second + np.einsum("m,mi,mj->ij", parts, total, total)) / 20.0
    moments = np.trace(second) * np.eye(3) - second
    return GeomSolid(float(parts.sum()), centre, moments, shape)


def _tetrahedra(middles: Floats, normals: Floats, way: str) -> Floats:
    """Volumes of the tetrahedra of all triangles with the origin [m3]."""
    volumes = np.einsum("ij,ij->i", middles, normals) / 3.0
    return np.abs(volumes) if way == "legacy" else volumes


# --- turns ----------------------------------------------------------------------------------------
def turn_z_to(direction: Floats) -> Floats:
    """The smallest rotation (3, 3) from z to a direction."""
    z = direction / np.linalg.norm(direction)
    cosine = float(z[2])
    if cosine < -1.0 + TURNED_BACK:
        return np.diag([1.0, -1.0, -1.0])
    x, y = -float(z[1]), float(z[0])
    across = np.array([[0.0, 0.0, y], [0.0, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + across + across @ across / (1.0 + cosine))


#: Cosines this near to -1 count as half a turn [1].
TURNED_BACK = 1e-12


def pose_between(ends: Floats) -> tuple[RelativePose, float]:
    """The pose of a solid with its z axis from one point to another (6,), and half its length
    [m]."""
    along = ends[3:] - ends[:3]
    length = float(np.linalg.norm(along))
    if length == 0.0:
        raise PartError("fromto names one point twice", code="content")
    return RelativePose(turn_z_to(along), 0.5 * (ends[:3] + ends[3:])), 0.5 * length
