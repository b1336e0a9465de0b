"""Meshes of models: read once, closed where they are open, and only from below a folder."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from quirkpy.formats.models.xml import MOST_BYTES, place_below
from quirkpy.maths.types import Floats, Ints
from quirkpy.parts.part import PartError
from quirkpy.parts.shapes import Mesh, read_triangles
from quirkpy.system.findings import Findings

#: Kinds of files that may be opened as meshes.
MESH_ENDINGS = (".stl", ".obj", ".ply", ".off", ".dae", ".glb", ".gltf", ".msh")
#: A mesh of more triangles is replaced by its hull, for speed.
MOST_TRIANGLES = 20_000


class Meshes:
    """The meshes of one model, each read once."""

    def __init__(self, root: Path, findings: Findings) -> None:
        self.root, self.findings = root, findings
        self.read: dict[Path, tuple[Floats, Ints] | None] = {}

    def triangles(self, base: Path, name: str, who: str) -> tuple[Floats, Ints] | None:
        """Vertices (n, 3) in the unit of a file and triangles (m, 3); None, and a finding, where it
        cannot be read."""
        try:
            place = place_below(self.root, base, name, MESH_ENDINGS)
            if place not in self.read:
                self.read[place] = None
                self.read[place] = self._read(place)
            return self.read[place]
        except PartError as error:
            why = str(error).removeprefix("Mesh.load: ").rstrip(".")
            why = re.sub(r"^'.*' cannot", f"a file {Path(name).suffix} cannot", why)
            self.findings.tell("mesh", f"{{}}: a mesh was left out: {why}.", who)
            return None

    def _read(self, place: Path) -> tuple[Floats, Ints]:
        if place.suffix == ".msh":
            return read_msh(place)
        try:
            import trimesh
        except ImportError:
            raise PartError(
                "pip install 'quirkpy[mesh]' brings trimesh, which reads it", code="install"
            ) from None
        return read_triangles(trimesh, place)

    def solid(self, base: Path, name: str, scale: Floats, who: str) -> Mesh | None:
        """A file as a solid."""
        found = self.triangles(base, name, who)
        if found is None:
            return None
        corners = found[1] if scale.prod() > 0.0 else found[1][:, ::-1]
        return self.solid_of(found[0] * scale, corners, who)

    def solid_of(self, points: Floats, corners: Ints, who: str) -> Mesh | None:
        """Triangles as a solid: unchanged if their surface is closed, otherwise their hull."""
        try:
            if len(corners) <= MOST_TRIANGLES:
                return Mesh(points, corners)
        except PartError:
            return self._hull(points, who)
        return self._hull(points, who)

    def _hull(self, points: Floats, who: str) -> Mesh | None:
        try:
            made = hull_of(points)
        except (QhullError, PartError, ValueError):
            self.findings.tell("mesh", "{}: a mesh was left out: it holds no volume.", who)
            return None
        self.findings.tell(
            "mesh",
            "{}: the convex hull of a mesh stands for it: its surface is not closed, or of more "
            f"than {MOST_TRIANGLES} triangles.",
            who,
        )
        return made


def read_msh(place: Path) -> tuple[Floats, Ints]:
    """A mesh in the old format of MuJoCo: four counts, vertices, normals and texture as single
    floats, triangles as integers."""
    data = place.read_bytes()[:MOST_BYTES]
    if len(data) < 16:
        raise PartError("a file .msh ends before its counts", code="content")
    points, normals, textures, faces = np.frombuffer(data, "<i4", 4).tolist()
    if min(points, normals, textures, faces) < 0 or len(data) != 16 + 4 * (
        3 * points + 3 * normals + 2 * textures + 3 * faces
    ):
        raise PartError("a file .msh has another length than its counts say", code="content")
    corners = np.frombuffer(data, "<i4", 3 * faces, len(data) - 12 * faces).reshape(-1, 3)
    if faces and not 0 <= corners.min() <= corners.max() < points:
        raise PartError("a file .msh names vertices that it does not have", code="content")
    where = np.frombuffer(data, "<f4", 3 * points, 16).reshape(-1, 3)
    return where.astype(float), corners.astype(np.int64)


def hull_of(points: Floats) -> Mesh:
    """The convex hull of points (n, 3) as a mesh, its triangles turned outwards."""
    hull = ConvexHull(points)
    used = np.unique(hull.simplices)
    number = np.zeros(len(points), dtype=np.int64)
    number[used] = np.arange(len(used))
    a, b, c = (points[hull.simplices[:, k]] for k in range(3))
    inwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    faces = np.where(inwards[:, None], hull.simplices[:, ::-1], hull.simplices)
    return Mesh(points[used], number[faces])
