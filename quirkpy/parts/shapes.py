"""Shapes of bodies, for collisions, for drawings, and for the moments of inertia of a uniform
mass."""

from __future__ import annotations

import contextlib
import logging
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np

from quirkpy.maths.cached import cached_property
from quirkpy.maths.triples import Triple
from quirkpy.maths.types import AXES, Axis, Floats, Ints, Vector, read_only
from quirkpy.parts.checks import lengths, numbers, positive, real, word
from quirkpy.parts.files import readable
from quirkpy.parts.part import Part, PartError, check_argument, checked, sentence_of

#: Three principal moments, or a symmetric 3x3 matrix.
Moments: TypeAlias = Triple | tuple[Triple, ...]

#: Largest size of the file of a mesh, and of its header [bytes].
LARGEST, HEAD = 1 << 30, 1 << 16

#: A facet of an ASCII STL file, without its normal; and the text around all facets.
FACET = re.compile(
    rb"facet\s+normal(\s+\S+){3}\s+outer\s+loop"
    rb"(\s+vertex(\s+[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?){3}){3}\s+endloop\s+endfacet\b",
    re.IGNORECASE,
)
SOLID = re.compile(rb"^\s*(end)?solid\b[^\r\n]*", re.IGNORECASE | re.MULTILINE)
#: A mesh counts as centred where its centre is off by no more than this share of its size [1].
CENTRED = 1e-6


class Shape(Part, ABC):
    """A solid in body axes, with the mass centre as origin; boxes, spheres and cylinders are
    centred there."""

    @abstractmethod
    def inertia_per_mass(self) -> Moments:
        """Moments about the mass centre, body axes, of the uniform solid of 1 kg [m2]: principal
        ones, or a matrix."""


class Box(Shape):
    """A cuboid; size: full lengths along the body axes x, y, z [m]."""

    size: Vector = checked(lengths)

    def inertia_per_mass(self) -> tuple[float, float, float]:
        a, b, c = self.size
        return (b * b + c * c) / 12.0, (a * a + c * c) / 12.0, (a * a + b * b) / 12.0


class Sphere(Shape):
    """A ball; radius [m]."""

    radius: float = checked(positive)

    def inertia_per_mass(self) -> tuple[float, float, float]:
        moment = 0.4 * self.radius**2
        return moment, moment, moment


class Cylinder(Shape):
    """A round rod; radius [m], length [m], axis: the body axis along its length."""

    radius: float = checked(positive)
    length: float = checked(positive)
    axis: Axis = checked(word(Axis), default="x")

    def inertia_per_mass(self) -> tuple[float, float, float]:
        across = (3.0 * self.radius**2 + self.length**2) / 12.0
        x, y, z = (0.5 * self.radius**2 if axis == self.axis else across for axis in AXES)
        return x, y, z


# --- meshes ---------------------------------------------------------------------------------------
def _vertices(value: Any) -> Any:
    """Points (n, 3), as tuples."""
    array = real(value)
    if array.ndim != 2 or array.shape[1] != 3 or len(array) < 4:
        raise ValueError(f"has shape {array.shape}, but must be points (n, 3), four or more")
    return numbers(array, array.shape)


def _triangles(value: Any) -> Any:
    """Triples of whole numbers (m, 3), as tuples."""
    array = real(value)
    if array.ndim != 2 or array.shape[1] != 3 or len(array) < 4:
        raise ValueError(
            f"has shape {array.shape}, but must be triples of vertices (m, 3), four or more"
        )
    whole = array.astype(np.int64)
    if (whole != array).any():
        raise ValueError("has numbers that are not whole, but must number the vertices from 0")
    return tuple(map(tuple, whole.tolist()))


class Mesh(Shape):
    """A solid of any form, inside a closed surface of triangles.

    vertices (n, 3) [m] in body axes, from the mass centre; triangles (m, 3): numbers of their
    vertices from 0, counterclockwise seen from outside. It need not be convex or connected.
    `Mesh.load` reads one from a file."""

    vertices: Sequence[Sequence[float]] | Floats = checked(_vertices)
    triangles: Sequence[Sequence[int]] | Ints = checked(_triangles)

    def validate(self) -> None:
        numbered, n = self.corners, len(self.vertices)
        if numbered.min() < 0 or numbered.max() >= n:
            wrong = int(numbered.min() if numbered.min() < 0 else numbered.max())
            raise self.refuse(
                f"triangles speak of vertex {wrong}, but there are {n}, numbered from 0."
            )
        flat = np.flatnonzero(np.linalg.norm(self.normals, axis=1) == 0.0)
        if len(flat):
            raise self.refuse(
                f"triangle {flat[0]} has no area; leave it out and join its vertices."
            )
        self._check_surface()

    def _check_surface(self) -> None:
        """Refuse a surface that is open, or whose triangles have the wrong orientation."""
        open_edge = self._open_edge()
        if open_edge is not None:
            one, two = open_edge
            raise self.refuse(
                f"its surface is not closed: of the edge between vertices {one} and {two} one side "
                "is missing, or both "
                "triangles turn the same way; a solid needs every edge once in each sense."
            )
        if not self.volume > 0.0:
            raise self.refuse(
                f"its volume is {self.volume:.6g} m3, so its triangles turn clockwise seen from "
                "outside; "
                "exchange two vertices of each."
            )

    def _open_edge(self) -> tuple[int, int] | None:
        """An edge that does not occur in both directions, if there is one."""
        edges = np.concatenate([self.corners[:, [k, (k + 1) % 3]] for k in range(3)])
        found, sense = np.unique(np.sort(edges, axis=1), axis=0, return_inverse=True)
        ways = np.bincount(sense.ravel(), weights=np.where(edges[:, 0] < edges[:, 1], 1.0, -1.0))
        wrong = np.flatnonzero(ways != 0.0)
        return (int(found[wrong[0], 0]), int(found[wrong[0], 1])) if len(wrong) else None

    @cached_property
    def points(self) -> Floats:
        """The vertices as an array (n, 3) [m]."""
        return read_only(np.array(self.vertices, dtype=float))

    @cached_property
    def corners(self) -> Ints:
        """The triangles as an array (m, 3)."""
        out = np.array(self.triangles, dtype=np.int64)
        out.setflags(write=False)
        return out

    @cached_property
    def normals(self) -> Floats:
        """Outward normals of the triangles, with lengths of twice their areas (m, 3) [m2]."""
        a, b, c = (self.points[self.corners[:, k]] for k in range(3))
        return read_only(np.cross(b - a, c - a))

    @property
    def volume(self) -> float:
        """The enclosed volume [m3]."""
        return float((self.points[self.corners[:, 0]] * self.normals).sum()) / 6.0

    @property
    def centre(self) -> Floats:
        """The centre of its volume (3,) [m]."""
        sixth = (self.points[self.corners[:, 0]] * self.normals).sum(axis=1) / 6.0
        return np.asarray(
            (sixth[:, None] * self.points[self.corners].sum(axis=1)).sum(axis=0)
            / (4.0 * self.volume)
        )

    @property
    def reach(self) -> float:
        """The largest distance from the mass centre [m]."""
        return float(np.linalg.norm(self.points, axis=1).max())

    def centred(self) -> Mesh:
        """The mesh moved so that the centre of its volume is at the mass centre."""
        return Mesh(self.points - self.centre, self.triangles)

    def inertia_per_mass(self) -> Moments:
        if np.linalg.norm(self.centre) > CENTRED * self.reach:
            at = ", ".join(f"{x:.6g}" for x in self.centre)
            raise self.refuse(
                f"its volume is centred on ({at}), so the mass centre of what fills it evenly is "
                "not at the origin; "
                "take mesh.centred(), or give mass and inertia to Body."
            )
        tips = self.points[self.corners]  # of tetrahedra with the origin
        weight = (tips[:, 0] * self.normals).sum(axis=1) / (120.0 * self.volume)
        total = tips.sum(axis=1)
        second = np.einsum("m,mki,mkj->ij", weight, tips, tips) + np.einsum(
            "m,mi,mj->ij", weight, total, total
        )
        moments = np.trace(second) * np.eye(3) - 0.5 * (second + second.T)
        x, y, z = moments.tolist()
        return tuple(x), tuple(y), tuple(z)

    @classmethod
    def load(cls, path: str | PathLike[str], scale: float = 1.0) -> Mesh:
        """The mesh in a file, .stl or any other format read by trimesh; scale: length of its unit
        [m], for millimetres 1e-3.

        Its axes and its origin become those of the body: `centred` moves the centre of its volume
        there."""
        try:
            import trimesh
        except ImportError as error:
            raise PartError(
                "Mesh.load: this needs trimesh; pip install 'quirkpy[mesh]' brings it.",
                code="install",
            ) from error
        long = check_argument("Mesh.load", "scale", scale, positive)
        place = readable(path, "Mesh.load")
        vertices, triangles = read_triangles(trimesh, place)
        with np.errstate(all="ignore"):  # absurd numbers are refused later
            return cls(long * vertices, triangles)


def read_triangles(trimesh: Any, place: Path) -> tuple[Any, Any]:
    """Vertices (n, 3), in the unit of the file, and triangles (m, 3) of a mesh in a file."""
    try:
        with open(place, "rb") as file, np.errstate(all="ignore"), silence("trimesh"):
            check_promises(file)
            kind = place.suffix[1:].lower()
            found = trimesh.load_mesh(file, file_type=kind)
            vertices, triangles = np.asarray(found.vertices), np.asarray(found.faces)
            if kind in ("stl", "stl_ascii"):
                check_facets(file, len(triangles))
    except Exception as error:  # other readers raise any error for damaged files
        raise PartError(
            f"Mesh.load: {str(place)!r} cannot be read as a mesh: {sentence_of(error)}.",
            code="content",
        ) from error
    if not len(triangles):
        raise PartError(f"Mesh.load: {str(place)!r} holds no triangles.", code="content")
    return vertices, triangles


@contextlib.contextmanager
def silence(library: str) -> Iterator[None]:
    """Suppress a library's log output on the terminal; loggers with handlers of their own still get
    it."""
    log, silent = logging.getLogger(library), logging.NullHandler()
    log.addHandler(silent)
    try:
        yield
    finally:
        log.removeHandler(silent)


def check_facets(file: BinaryIO, triangles: int) -> None:
    """Refuse an ASCII STL file whose facets are not those that were read from it."""
    file.seek(0)
    data = file.read()
    if len(data) >= 84 and len(data) == 84 + 50 * int.from_bytes(data[80:84], "little"):
        return  # binary
    left, whole = FACET.subn(b"", data)
    if whole != triangles or SOLID.sub(b"", left).strip():
        raise ValueError(
            f"it is damaged: of its facets {whole} are whole, and {triangles} triangles were read"
        )


def check_promises(file: BinaryIO) -> None:
    """Refuse a file that is too long for a mesh, or whose header announces more than it contains,
    before memory is allocated."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    head = file.read(HEAD)
    file.seek(0)
    if size > LARGEST:
        raise ValueError(f"it has {size} bytes, and a mesh has {LARGEST} at most")
    if head.startswith(b"ply") or head.lstrip().startswith((b"OFF", b"COFF", b"NOFF")):
        words = (
            head.partition(b"end_header")[0]
            if head.startswith(b"ply")
            else b" ".join(head.split()[:4])
        )
        promised = [int(word) for word in re.findall(rb"(?<![\w.+-])\d{1,40}(?![\w.])", words)]
        if any(count > size for count in promised):
            raise ValueError(f"it promises {max(promised)} of something in {size} bytes")
