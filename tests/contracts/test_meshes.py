"""Meshes as parts: volume, moments, files, pictures; and what is no solid is refused."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.clearance.clearances import clearances
from quirkpy.clearance.skins import surface_of
from quirkpy.views.solids import Solid, visible_patches
from tests.faults.sentence import check_refused

TIPS = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
SIDES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
#: Two tetrahedra as a file has them: three corners a triangle, none shared.
STL = "solid two\n{}endsolid two\n"
FACET = "facet normal 0 0 0\nouter loop\n{}endloop\nendfacet\n"


def brick(size: tuple[float, float, float]) -> qp.Mesh:
    return qp.Mesh(*surface_of(qp.Box(size))[:2])


def written(mesh: qp.Mesh, path: Path) -> Path:
    facets = ("".join("vertex {!r} {!r} {!r}\n".format(*corner) for corner in tips.tolist())
              for tips in mesh.points[mesh.corners])  # fmt: skip
    path.write_text(STL.format("".join(map(FACET.format, facets))), encoding="utf-8")
    return path


# --- moments --------------------------------------------------------------------------------------
def test_moments_are_those_of_the_solid() -> None:
    """A brick has those of a box; a tetrahedron those of its textbook, about its centre."""
    mesh = brick((1.0, 2.0, 3.0))
    np.testing.assert_allclose(
        mesh.inertia_per_mass(), np.diag(qp.Box((1.0, 2.0, 3.0)).inertia_per_mass()), atol=1e-15
    )
    tip = qp.Mesh(TIPS, SIDES)
    assert tip.volume == pytest.approx(1.0 / 6.0, rel=1e-15)
    np.testing.assert_allclose(tip.centre, 0.25, rtol=1e-15)
    np.testing.assert_allclose(
        tip.centred().inertia_per_mass(), np.eye(3) * 5 / 80 + 1 / 80, rtol=1e-13
    )


def test_a_body_of_a_mesh_is_uniform() -> None:
    body = qp.Body.mesh("brick", brick((0.1, 0.2, 0.3)), 3.0)
    box = qp.Body.box("brick", (0.1, 0.2, 0.3), 3.0)
    np.testing.assert_allclose(body.inertia_matrix, box.inertia_matrix, atol=1e-17)
    assert qp.from_json(qp.to_json(body)) == body


# --- files ----------------------------------------------------------------------------------------
def test_a_file_is_read(tmp_path: Path) -> None:
    """An STL in millimetres, whose vertices are found to be shared."""
    pytest.importorskip("trimesh", reason="trimesh, which reads files, is not installed")
    there = written(brick((100.0, 200.0, 300.0)), tmp_path / "brick.stl")
    mesh = qp.Mesh.load(there, scale=1e-3)
    assert len(mesh.vertices) == 8
    assert mesh.volume == pytest.approx(0.006, rel=1e-6)
    (tmp_path / "no.stl").write_text("nothing", encoding="utf-8")
    for path in (tmp_path / "no.stl", tmp_path / "missing.stl"):
        check_refused(lambda path=path: qp.Mesh.load(path), "Mesh.load", (str(path),))
    check_refused(lambda: qp.Mesh.load(there, scale=0.0), "Mesh.load", ("scale", "0.0"))


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    run = qp.Multibody(
        qp.Body.mesh("brick", brick((0.1, 0.1, 0.1)), fixed=True),
        qp.Body.sphere("ball", 0.1, 1.0, position=(1, 0, 0)),
    ).simulate(0.1)
    for name in ("trimesh", "fcl"):
        monkeypatch.setitem(sys.modules, name, None)
    check_refused(lambda: qp.Mesh.load("brick.stl"), "Mesh.load", ("trimesh", "quirkpy[mesh]"))
    check_refused(lambda: clearances(run), "clearances", ("python-fcl", "quirkpy[mesh]"))


# --- pictures -------------------------------------------------------------------------------------
def test_a_mesh_is_seen_as_the_solid_that_it_is() -> None:
    """A brick of triangles covers what a box covers, and its diagonals are no edges."""
    q = np.array([math.cos(0.3), 0.0, math.sin(0.3), 0.0])
    mesh, box = (
        visible_patches([Solid(s, np.zeros(3), q, 0)])
        for s in (brick((1.0, 2.0, 3.0)), qp.Box((1.0, 2.0, 3.0)))
    )

    def area(patches: Any) -> float:
        outlines = [(patch.corners, np.roll(patch.corners, -1, axis=0)) for patch in patches]
        return sum(0.5 * float((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum()) for a, b in outlines)

    assert area(mesh) == pytest.approx(area(box), rel=1e-12)
    assert sum(sum(patch.edges) for patch in mesh) == sum(sum(patch.edges) for patch in box)


# --- what is no solid -----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("vertices", "triangles", "words"),
    [
        (TIPS[:3], SIDES, ("vertices", "(3, 3)")),
        (((0.0, 0.0),) * 4, SIDES, ("vertices", "(4, 2)")),
        ((*TIPS[:3], (0.0, 0.0, math.inf)), SIDES, ("vertices", "finite")),
        (TIPS, SIDES[:3], ("triangles", "(3, 3)")),
        (TIPS, ((0, 2, 1.5), *SIDES[1:]), ("triangles", "whole")),
        (TIPS, ((0, 2, 4), *SIDES[1:]), ("vertex 4", "there are 4")),
        (TIPS, ((0, 2, 2), *SIDES[1:]), ("triangle 0", "no area")),
        (TIPS, ((0, 1, 2), *SIDES[1:]), ("not closed", "vertices 0 and 1")),
        (TIPS, tuple(side[::-1] for side in SIDES), ("volume", "clockwise")),
    ],
)
def test_what_is_no_solid_is_refused(vertices: Any, triangles: Any, words: tuple[str, ...]) -> None:
    check_refused(lambda: qp.Mesh(vertices, triangles), "Mesh", words)


def test_a_mesh_off_its_mass_centre_fills_no_body() -> None:
    check_refused(
        lambda: qp.Body.mesh("tip", qp.Mesh(TIPS, SIDES), 1.0), "Mesh", ("0.25", "centred()")
    )
    check_refused(
        lambda: qp.Body.mesh("tip", qp.Sphere(1.0), 1.0), "Body", ("'tip'", "Sphere", "Mesh.load")
    )  # type: ignore[arg-type]
    assert qp.Body("tip", mass=1.0, inertia=(1, 1, 1), shape=qp.Mesh(TIPS, SIDES)).shape is not None
