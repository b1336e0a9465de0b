"""What hides what: along every ray, the piece painted last is the nearest."""

from __future__ import annotations

import io
import itertools
from unittest import mock

import numpy as np
import pytest
from matplotlib.image import imread
from scipy.spatial.transform import Rotation

import quirkpy as qp
from quirkpy.views import dots, stills
from quirkpy.views.dots import DOTS, Ink, paint_dots
from quirkpy.views.hidden import Piece, normal_of, sort_by_depth
from quirkpy.views.solids import Solid, across, brightness, mesh_of, pieces_of, visible_patches

EYE = (0.36, -0.48, 0.8)


def met(piece: Piece, origin: np.ndarray, towards: np.ndarray) -> float:
    """How far along a ray, towards the eye, it meets a flat convex piece; minus infinity where it
    does not."""
    corners, n = piece.corners, normal_of(piece.corners - piece.corners.mean(axis=0))
    t = float((corners[0] - origin) @ n / (towards @ n))
    point = origin + t * towards
    sides = np.cross(np.roll(corners, -1, axis=0) - corners, point - corners) @ n
    return t if (sides > 0.0).all() or (sides < 0.0).all() else -np.inf


def check(pieces: list[Piece], rays: np.random.Generator, count: int = 100) -> int:
    """Compare the last piece painted with the nearest one, on random rays; how many of them met
    anything."""
    towards, onto = across(EYE)
    painted = sort_by_depth(pieces, towards)
    points = np.concatenate([piece.corners for piece in pieces]) @ onto
    hits = 0
    for _ in range(count):
        x = rays.uniform(points.min(axis=0), points.max(axis=0))
        origin = onto @ x
        depths = [met(piece, origin, towards) for piece in pieces]
        last = [k for k, piece in enumerate(painted) if met(piece, origin, towards) > -np.inf]
        if max(depths) == -np.inf:
            assert not last
            continue
        hits += 1
        nearest = int(np.argmax(depths))
        assert painted[last[-1]].number == pieces[nearest].number
        assert met(painted[last[-1]], origin, towards) == pytest.approx(depths[nearest], abs=1e-9)
    return hits


@pytest.mark.parametrize("seed", range(6))
def test_the_nearest_piece_is_painted_last(seed: int) -> None:
    """Triangles that reach through each other."""
    draw = np.random.default_rng(seed)
    pieces = [
        Piece.whole(k, draw.normal(size=(3, 3)) + 0.5 * draw.normal(size=3)) for k in range(14)
    ]
    assert check(pieces, draw) > 20


def test_a_cycle_of_rods() -> None:
    """Three rods, each over the next: sorting by distance alone must fail."""
    pieces = []
    for k in range(3):
        turn = Rotation.from_rotvec([0.0, 0.0, 2.0 * np.pi * k / 3.0])
        rod = np.array([(-1.0, 0.3, -0.2), (1.0, 0.3, 0.2), (1.0, 0.5, 0.2), (-1.0, 0.5, -0.2)])
        pieces.append(Piece.whole(k, turn.apply(rod)))
    assert check(pieces, np.random.default_rng(0), 200) > 20
    towards, _ = across(EYE)
    assert len(sort_by_depth(pieces, towards)) > 3


def test_boxes_beside_each_other() -> None:
    """Blocks on a lattice and rods across them."""
    draw = np.random.default_rng(5)
    towards, _ = across(EYE)
    places = itertools.product(range(3), range(2), range(2))
    solids = [
        Solid(qp.Box((1.0, 1.0, 1.0)), np.array(p, float), np.array([1.0, 0, 0, 0]), 0)
        for p in places
    ]
    solids.append(
        Solid(qp.Box((5.0, 0.2, 0.2)), np.array([1.0, 0.5, 2.0]), np.array([0.8, 0, 0, 0.6]), 0)
    )
    solids.append(
        Solid(
            qp.Cylinder(0.2, 6.0, axis="z"),
            np.array([-1.0, -1.0, 0.0]),
            np.array([1.0, 0, 0, 0]),
            0,
        )
    )
    pieces = [piece for k, solid in enumerate(solids) for piece in pieces_of(k, solid, towards)]
    assert check(pieces, draw, 60) > 25


def test_lines_are_cut_where_something_hides_them() -> None:
    square = Piece.whole(0, np.array([(-1.0, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]))
    through = Piece.whole(1, np.array([(0.0, 0, -1), (0.5, 0.0, 1)]))
    flat = Piece.whole(2, np.array([(-0.5, 0.0, 0.0), (0.5, 0.0, 0.0)]))
    painted = sort_by_depth([flat, through, square], np.array([0.0, 0.0, 1.0]))
    assert [piece.number for piece in painted] == [1, 0, 2, 1]
    np.testing.assert_allclose(painted[0].corners, [(0, 0, -1), (0.25, 0, 0)], atol=1e-15)
    np.testing.assert_allclose(painted[3].corners, [(0.25, 0, 0), (0.5, 0, 1)], atol=1e-15)


def test_cuts_are_no_edges() -> None:
    """A square cut by another: each half has one edge that is none, and as much area in all as
    before."""
    square = np.array([(-1.0, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)])
    pieces = [Piece.whole(0, square), Piece.whole(1, square[:, [2, 1, 0]])]
    towards, _ = across(EYE)
    parts = [piece for piece in sort_by_depth(pieces, towards) if piece.number == 0]
    parts += [piece for piece in sort_by_depth(pieces[::-1], towards) if piece.number == 0]
    cut = [piece for piece in parts if not all(piece.edges)]
    assert cut
    assert all(piece.edges.count(False) == 1 for piece in cut)


@pytest.mark.parametrize(
    ("shape", "volume", "surface"),
    [
        (qp.Box((1.0, 2.0, 3.0)), 6.0, 22.0),
        (qp.Cylinder(0.5, 2.0, axis="y"), np.pi / 2, 2.5 * np.pi),
        (qp.Sphere(0.5), np.pi / 6, np.pi),
        (
            qp.Mesh(
                ((-1, -1, -1), (3, -1, -1), (-1, 3, -1), (-1, -1, 3)),
                ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)),
            ),
            32.0 / 3.0,
            24.0 + 8.0 * np.sqrt(3.0),
        ),
        (None, 4 / 3 * np.pi * 0.02**3, 4 * np.pi * 0.02**2),
    ],
)
def test_meshes_are_closed(shape: qp.Shape | None, volume: float, surface: float) -> None:
    """By the divergence theorem the triangles enclose the volume of the shape; each edge belongs to
    two of them."""
    mesh = mesh_of(shape)
    a, b, c = np.moveaxis(mesh.points[mesh.triangles], 1, 0)
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0 == pytest.approx(volume, rel=2e-2)
    assert 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() == pytest.approx(
        surface, rel=1e-2
    )
    assert np.einsum("ij,ij->i", np.cross(b - a, c - a), a + b + c).min() > 0.0


def test_light_and_straight_down() -> None:
    cube = Solid(qp.Box((1.0, 1.0, 1.0)), np.zeros(3), np.array([1.0, 0, 0, 0]), 0)
    (top,) = visible_patches([cube], eye=(0.0, 0.0, 2.0))
    np.testing.assert_allclose(
        sorted(map(tuple, top.corners)), [(-0.5, -0.5), (-0.5, 0.5), (0.5, -0.5), (0.5, 0.5)]
    )
    assert brightness([np.array([(0.0, 0, 0), (0, 1, 0), (1, 0, 0)])]).tolist() == [0.0]


# --- dot by dot -----------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(3))
def test_every_dot_shows_the_nearest_piece(seed: int) -> None:
    """Along rays through the middles of random dots, of triangles and squares that reach through
    each other; where one sees through a piece, what lies behind it is mixed in."""
    draw = np.random.default_rng(seed)
    pieces = [
        Piece.whole(k, draw.normal(size=(3, 3)) + 0.5 * draw.normal(size=3)) for k in range(14)
    ]
    glass = 13
    colours = np.column_stack([draw.uniform(size=(14, 3)), np.ones(14)])
    colours[glass, 3] = 0.25
    towards, onto = across(EYE)
    points = np.concatenate([piece.corners for piece in pieces]) @ onto
    box = np.stack([points.min(axis=0), points.max(axis=0)])
    with mock.patch.object(dots, "FINER", 1):
        image = paint_dots(pieces, Ink(colours, np.zeros((14, 4)), np.ones(14)), box, onto, towards)
    scale, hits = DOTS / np.ptp(box, axis=0).max(), 0
    for _ in range(200):
        row, column = (int(draw.integers(n)) for n in image.shape[:2])
        origin = onto @ (box[0] + (np.array([column, row]) + 0.5) / scale)
        depths = np.array([met(piece, origin, towards) for piece in pieces])
        behind = int(np.argmax(depths[:glass]))
        if depths.max() == -np.inf:
            assert image[row, column, 3] == 0.0
        elif depths[glass] <= depths[behind]:
            hits += 1
            np.testing.assert_allclose(image[row, column], colours[behind])
        elif depths[behind] > -np.inf:
            mixed = 0.25 * colours[glass, :3] + 0.75 * colours[behind, :3]
            np.testing.assert_allclose(image[row, column], [*mixed, 1.0])
        else:
            np.testing.assert_allclose(image[row, column], colours[glass])
    assert hits > 20


def test_both_painters_paint_one_picture() -> None:
    """Cubes, a ball and a rod, turned; but for dots at edges."""
    hub = qp.Body.box("hub", size=(0.2, 0.1, 0.1), mass=1.0)
    rod = qp.Body.cylinder("rod", radius=0.03, length=0.4, mass=1.0, position=(0.0, 0.1, 0.1),
                           orientation=qp.rotation((1.0, 1.0, 0.0), 0.7))  # fmt: skip
    ball = qp.Body.sphere("ball", 0.06, 1.0, position=(0.05, 0.0, 0.05))
    system = qp.Multibody(hub, rod, ball, qp.Gravity((0.0, 0.0, -1.0)))
    exact = imread(io.BytesIO(system.picture().png()))
    with mock.patch.object(stills, "EXACT", 0):
        dotted = imread(io.BytesIO(system.picture().png()))
    assert exact.shape == dotted.shape
    off = abs(exact - dotted).max(axis=2)
    assert exact.std() > 0.1
    assert off.mean() < 0.01
    assert (off > 0.2).mean() < 0.02
