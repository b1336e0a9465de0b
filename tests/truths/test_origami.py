"""Folded sheets against closed forms: how Miura patterns and single corners fold, and what they
keep while they move."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.families.origami import Fold
from quirkpy.families.wrapping import Pinwheel
from tests.random_systems import seeds

#: Energies [J], relative; gaps [m] of panels of 1 m; momenta, relative.
ENERGY, GAP, MOMENTUM = 1e-8, 1e-10, 1e-10


def flown(fold: Fold, seconds: float) -> qp.Trajectory:
    """A run that keeps its energy and momenta, and its corners together."""
    run = fold.system.simulate(seconds, rtol=1e-10, atol=1e-12, progress=False)
    assert run.stop is qp.Stop.END
    ledger = run.energy + run.dissipated + run.lost - run.work
    assert abs(ledger - ledger[0]).max() <= ENERGY * abs(run.energy).max()
    assert run.drift[:, 0].max() <= GAP
    kept = [abs(h - h[0]).max() for h in (run.momentum, run.angular_momentum)]
    largest = math.sqrt(2.0 * run.kinetic.max() * len(fold.panels))
    assert max(kept) <= MOMENTUM * largest
    return run


def test_a_miura_pattern_folds_by_its_closed_form() -> None:
    """tan(x / 2) = cos(sector) tan(y / 2) between its two kinds of creases, while it moves."""
    sector = math.radians(55.0)
    fold = qp.origami.miura(3, 3, 1.0, sector, 2.5, stiffness=0.1)
    run = flown(fold, 1.2)
    y = run["y 0,0"].angle
    assert y[0] == pytest.approx(2.5, abs=1e-15)
    assert y.min() < 0.5
    for hinge in fold.hinges:
        tangent = np.tan(0.5 * y) * (1.0 if hinge.name[0] == "y" else math.cos(sector))
        angles = abs(run[hinge.name].angle)
        assert np.tan(0.5 * angles) == pytest.approx(tangent, rel=1e-8)


def corner(sectors: tuple[float, ...], radius: float = 1.0) -> tuple[list, list]:  # type: ignore[type-arg]
    """Corners and faces of triangles around one corner, flat; creases (0, k)."""
    turns = np.cumsum([0.0, *sectors[:-1]])
    rim = [(radius * math.cos(a), radius * math.sin(a)) for a in turns]
    n = len(sectors)
    return [(0.0, 0.0), *rim], [(0, k + 1, (k + 1) % n + 1) for k in range(n)]


@seeds(20, 6)
def test_a_corner_of_four_creases_folds_by_its_closed_form(seed: int) -> None:
    """A corner whose opposite sectors add up to pi folds flat, opposite creases by equal angles:
    tan(b / 2) = p tan(a / 2), p = cos((s + t) / 2) / cos((s - t) / 2)."""
    rng = np.random.default_rng(seed)
    s, t = rng.uniform(0.3, 0.5 * math.pi - 0.1, 2)
    p = math.cos(0.5 * (s + t)) / math.cos(0.5 * (s - t))
    a = float(rng.uniform(0.1, 3.0))
    b = 2.0 * math.atan(p * math.tan(0.5 * a))
    points, faces = corner((s, t, math.pi - s, math.pi - t))
    # Crease (0, 2) lies between sectors s and t, (0, 4) between their opposites
    angles = {(0, 1): a, (0, 2): -b, (0, 3): a, (0, 4): b}
    fold = qp.origami.from_creases(points, faces, angles, stiffness=0.05)
    for (_, k), angle in angles.items():
        assert fold.system.initial[f"0-{k}"].angle == pytest.approx(angle, abs=1e-12)
    assert fold.system.mobility().degrees_of_freedom == 7
    run = flown(fold, 0.5)
    one, two = (np.tan(0.5 * run[f"0-{k}"].angle) for k in (1, 4))
    assert two == pytest.approx(p * one, abs=1e-7 * abs(one).max())


@seeds(10, 4)
def test_a_corner_that_does_not_fold_flat(seed: int) -> None:
    """Any four sectors: by the law of cosines on the sphere, the angle d between creases 1 and 3
    follows from the fold between a and b, and from that between those of the other two sectors:
    cos d = cos a cos b - sin a sin b cos(fold)."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.uniform(1.0, 2.0, 3)
    e = 2.0 * math.pi - a - b - c
    low, high = max(abs(a - b), abs(c - e)), min(a + b, c + e)
    assert low < high
    d = low + (high - low) * float(rng.uniform(0.3, 0.9))
    third = np.array([math.cos(d), math.sin(d), 0.0])

    def crease(near: float, far: float, side: float) -> np.ndarray:
        """The direction at given angles from creases 1 and 3, on one side of their plane."""
        x = math.cos(near)
        y = (math.cos(far) - x * third[0]) / third[1]
        return np.array([x, y, side * math.sqrt(1.0 - x * x - y * y)])

    rim = [np.array([1.0, 0.0, 0.0]), crease(a, b, 1.0), third, crease(e, c, -1.0)]
    faces = [(0, k + 1, (k + 1) % 4 + 1) for k in range(4)]
    fold = qp.origami.from_creases([np.zeros(3), *rim], faces, stiffness=0.05)
    assert fold.system.mobility().degrees_of_freedom == 7
    run = flown(fold, 0.8)
    sides = [
        math.cos(s) * math.cos(t) - math.sin(s) * math.sin(t) * np.cos(run[f"0-{k}"].angle)
        for s, t, k in ((a, b, 2), (c, e, 4))
    ]
    assert sides[0][0] == pytest.approx(math.cos(d), abs=1e-12)
    assert sides[0] == pytest.approx(sides[1], abs=1e-9)
    assert np.ptp(sides[0]) > 1e-4


def test_a_corner_of_six_creases_moves() -> None:
    """An umbrella of six triangles, given folded, has three ways to move beside the whole."""
    turns = np.arange(6) * math.pi / 3.0 + [0.0, 0.2, -0.1, 0.1, 0.0, -0.2]
    rim = [(math.cos(a), math.sin(a), 0.0) for a in turns]
    faces = [(0, k + 1, (k + 1) % 6 + 1) for k in range(6)]
    fold = qp.origami.from_creases([(0.0, 0.0, 0.6), *rim], faces, stiffness=0.02, rest_angle=-1.0)
    assert fold.system.mobility().degrees_of_freedom == 6 + 3
    angles = [fold.system.initial[hinge.name].angle for hinge in fold.hinges]
    assert max(angles) < 0.0  # mountains, from above
    flown(fold, 2.0)


@pytest.mark.parametrize(
    ("angles", "freedoms"),
    [
        (0.0, 6 + 4), (3.0, 6 + 2), (math.pi - 1e-3, 6 + 2), ((1.0, 0.0), 6 + 2),
        ((0.0, -1.0), 6 + 2), ((math.pi, 2.0), 6 + 2), ((-2.0, math.pi), 6 + 2),
    ],
)  # fmt: skip
def test_map_folds_begin_as_they_are_told(
    angles: float | tuple[float, float], freedoms: int
) -> None:
    fold = qp.origami.map_fold(3, 3, side=2.0, fold=angles, mass=2.0, thickness=0.01)
    across, along = angles if isinstance(angles, tuple) else (angles, math.pi if angles else 0.0)
    assert [panel.name for panel in fold.panels] == [
        f"p{i},{j}" for i in range(3) for j in range(3)
    ]
    assert len(fold.hinges) == 12
    state = fold.system.initial
    for hinge in fold.hinges:
        angle = across if hinge.name[0] == "x" else along
        assert abs(state[hinge.name].angle) == pytest.approx(abs(angle), abs=1e-12)
        first = hinge.name in ("x 0,0", "y 0,0")
        assert not first or state[hinge.name].angle == pytest.approx(angle, abs=1e-12)
    assert abs(fold.system.residual().position).max() <= 1e-15
    assert fold.system.mobility().degrees_of_freedom == freedoms
    assert all(panel.mass == 2.0 for panel in fold.panels)


def test_the_map_that_could_not_be_stabilised_opens_in_two_stages() -> None:
    """3 x 3 panels of 2 m and 1 kg, hinges of 0.1 N m/rad, from 3 rad: the columns open, pass the
    flat pose, and energy, momenta and corners are kept throughout."""
    fold = qp.origami.map_fold(3, 3, side=2.0, thickness=0.01, mass=1.0, stiffness=0.1, fold=3.0)
    energy = 0.05 * (6 * 3.0**2 + 6 * math.pi**2)
    assert float(fold.system.energy()) == pytest.approx(energy, rel=1e-12)
    run = flown(fold, 20.0)
    assert run["x 0,0"].angle.min() < 0.0


@seeds(20, 5)
def test_a_wrapping_sheet_folds_without_bending(seed: int) -> None:
    """From flat to wrapped every panel keeps its form, and so it does where all corners lie on the
    edges of the hub's prism, ridges at its top, valleys k tan(pi / sides) sides below."""
    rng = np.random.default_rng(seed)
    sides, rings = int(rng.integers(3, 13)), int(rng.integers(1, 5))
    sheet = Pinwheel(sides, rings, 1.0)
    flat = sheet.flat()
    edges = {pair for face in sheet.faces().values() for pair in itertools.permutations(face, 2)}
    for angle in (1e-3, float(rng.uniform(0.1, 1.4)), 1.5, 0.5 * math.pi - 1e-6):
        places = sheet.folded(angle)
        for one, two in edges:
            apart = np.linalg.norm(places[one] - places[two])
            assert apart == pytest.approx(np.linalg.norm(flat[one] - flat[two]), abs=1e-11)
    wrapped = {corner: on_the_prism(corner, sides) for corner in flat}
    for one, two in edges:
        apart = np.linalg.norm(wrapped[one] - wrapped[two])
        assert apart == pytest.approx(np.linalg.norm(flat[one] - flat[two]), abs=1e-12)
    for corner in (corner for corner in places if corner[2] <= 1):
        assert places[corner] == pytest.approx(wrapped[corner], abs=0.02)  # a root of what is left


def on_the_prism(corner: tuple[str, int, int], sides: int) -> np.ndarray:
    """Where a corner lies once the sheet is wrapped: an edge of the prism further back for each
    ring."""
    kind, i, k = corner
    turn, radius = 2.0 * math.pi * (i - k) / sides, 0.5 / math.sin(math.pi / sides)
    depth = k * math.tan(math.pi / sides) if kind == "valley" else 0.0
    return np.array([radius * math.cos(turn), radius * math.sin(turn), -depth])


def test_a_sheet_unwraps_from_its_hub() -> None:
    """Twice as many ways to fold as the hub has sides, and none without the diagonals; it opens
    alike all around, and keeps what is to be kept."""
    fold = qp.origami.scheel(4, 2, side=1.0, fold=1.4, stiffness=0.1, thickness=0.005)
    assert len(fold.panels) == 25
    assert abs(fold.system.residual().position).max() < 1e-12
    assert fold.system.mobility().degrees_of_freedom == 6 + 2 * 4
    diagonals = [hinge for hinge in fold.hinges if "'" in hinge.name]
    bodies = {panel.name: panel for panel in fold.panels}
    pairs = [hinge.name.split(" - ") for hinge in diagonals]
    locks = [
        qp.Fixed(f"lock {one}", bodies[one], bodies[two]) for one, two in pairs if two == f"{one}'"
    ]
    assert len(locks) == 8
    assert fold.system.with_(*locks).mobility().degrees_of_freedom == 6
    run = flown(fold, 1.0)
    hub = [run[hinge.name].angle for hinge in fold.hinges if hinge.name.startswith("hub - a")]
    assert len(hub) == 4
    assert hub[0][0] == pytest.approx(-1.4, abs=1e-14)
    assert hub[0][-1] > -1.3
    for angle in hub[1:]:
        assert angle == pytest.approx(hub[0], abs=1e-8)


def test_a_fixed_sheet_and_masses_one_by_one() -> None:
    fold = qp.origami.from_creases(
        [(0, 0), (1, 0), (1, 1), (0, 1), (2, 0), (2, 1)], [(0, 1, 2, 3), (1, 4, 5, 2)],
        {(2, 1): 0.5}, mass=(1.0, 3.0), free=False, thickness=0.02,
    )  # fmt: skip
    assert fold.system.bodies == ("p1",)
    assert [panel.mass for panel in fold.panels] == [1.0, 3.0]
    lifted = fold.system.initial["p1"].position
    assert lifted == pytest.approx([1.0 + 0.5 * math.cos(0.5), 0.5, 0.5 * math.sin(0.5)], abs=1e-15)
    inertia = np.diag([3.0 * (1.0 + 0.02**2) / 12.0] * 2 + [3.0 * 2.0 / 12.0])
    assert fold.panels[1].inertia_matrix == pytest.approx(inertia, rel=1e-12)


@seeds(12, 4)
def test_prisms_weigh_what_polygons_do(seed: int) -> None:
    """A panel of any convex outline: its centre and moments, from those of its triangles."""
    rng = np.random.default_rng(seed)
    turns = np.sort(rng.uniform(0.0, 2.0 * math.pi, 7))
    outline = np.stack([2.0 * np.cos(turns), np.sin(turns)], axis=1)
    fold = qp.origami.from_creases(outline, [range(7)], mass=2.0, thickness=0.1)
    panel = fold.panels[0]
    a, b = outline[1:-1] - outline[0], outline[2:] - outline[0]
    area = 0.5 * (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
    centre = outline[0] + (area[:, None] * (a + b) / 3.0).sum(axis=0) / area.sum()
    assert panel.position[:2] == pytest.approx(centre, abs=1e-12)
    middles = 0.5 * np.stack([outline[0] + outline[1:-1], outline[0] + outline[2:],
                              outline[1:-1] + outline[2:]]) - centre  # fmt: skip
    polar = 2.0 / area.sum() * (area / 3.0 * (middles**2).sum(axis=2)).sum()
    assert panel.inertia_matrix[2, 2] == pytest.approx(polar, rel=1e-12)


def test_corners_in_the_middle_of_a_side(tmp_path: Path) -> None:
    """A panel as wide as the two beside it: its long side has three corners.  They move as the two
    hinges of one axis let them, in a file as well."""
    corners = [(0, 0), (2, 0), (2, 1), (1, 1), (0, 1), (0, 2), (1, 2), (2, 2)]
    faces = [(0, 1, 2, 3, 4), (4, 3, 6, 5), (3, 2, 7, 6)]
    for turned in range(5):
        first = faces[0][turned:] + faces[0][:turned]
        fold = qp.origami.from_creases(
            corners, [first, *faces[1:]], {(3, 4): 0.7, (2, 3): 0.7}, thickness=0.02, stiffness=0.1
        )
        assert fold.panels[0].position == pytest.approx([1.0, 0.5, 0.0], abs=1e-14)
        plate = qp.Body.box("plate", (2.0, 1.0, 0.02), 1.0).inertia_matrix
        assert np.linalg.eigvalsh(fold.panels[0].inertia_matrix) == pytest.approx(
            np.linalg.eigvalsh(plate), rel=1e-12
        )
        run = flown(fold, 2.0)
        assert run["3-4"].angle == pytest.approx(run["2-3"].angle, abs=1e-9)
    path = tmp_path / "x.fold"
    qp.origami.write_fold(run, path, frames=3)
    again = qp.origami.read_fold(path, frame=2)
    assert [len(fold.hinges), len(again.hinges)] == [3, 3]


def test_creases_not_named_are_as_the_corners_tell() -> None:
    """Of a sheet that is folded already, angles need say the sense of shut creases alone."""
    corners = [
        (0, 0, 0),
        (1, 0, 0),
        (1, 1, 0),
        (0, 1, 0),
        (1, 0, 1),
        (1, 1, 1),
        (1, 0, 0.5),
        (1, 1, 0.5),
    ]
    faces = [(0, 1, 2, 3), (1, 4, 5, 2), (4, 6, 7, 5)]
    fold = qp.origami.from_creases(corners, faces, {(4, 5): -math.pi})
    angles = [fold.system.initial[hinge.name].angle for hinge in fold.hinges]
    assert angles == pytest.approx([0.5 * math.pi, -math.pi], abs=1e-15)


# --- files ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["map", "shut", "miura"])
def test_a_run_in_a_file_comes_back(tmp_path: Path, kind: str) -> None:
    """Every frame closes, with the corners, angles and freedoms of the run."""
    fold = {
        "map": lambda: qp.origami.map_fold(2, 3, fold=2.0, stiffness=0.1),
        "shut": lambda: qp.origami.map_fold(3, 2, fold=math.pi, stiffness=0.1),
        "miura": lambda: qp.origami.miura(2, 2, 0.5, 1.0, -2.0, stiffness=0.1),
    }[kind]()
    run = fold.system.simulate(2.0, progress=False)
    path = tmp_path / "x.fold"
    qp.origami.write_fold(run, path, frames=5)
    for k, t in enumerate(np.linspace(0.0, run.t[-1], 5)):
        again, state = qp.origami.read_fold(path, frame=k), run.at(t)
        assert abs(again.system.residual().position).max() <= 1e-12
        pairs = {frozenset(site.body.name for site in h.sites): h.name for h in again.hinges}
        assert len(pairs) == len(fold.hinges)
        number = {panel.name: f"p{n}" for n, panel in enumerate(fold.panels)}
        for hinge in fold.hinges:
            theirs = pairs[frozenset(number[site.body.name] for site in hinge.sites)]
            angle = again.system.initial[theirs].angle
            assert angle == pytest.approx(state[hinge.name].angle, abs=1e-9)
        for panel in fold.panels:
            place = again.system.initial[number[panel.name]].position
            assert place == pytest.approx(state[panel.name].position, abs=1e-12)


def test_frames_that_move_corners_alone(tmp_path: Path) -> None:
    """A frame inherits the angles of its key frame: where its corners have moved, corners tell the
    angles; of what has stayed shut, the sense is inherited."""
    path = tmp_path / "x.fold"
    sheet = qp.origami.map_fold(3, 1, fold=-math.pi)
    qp.origami.write_fold(sheet.system, path)
    key = json.loads(path.read_text())
    points = np.array(key["vertices_coords"])
    third = [
        corner for corner in key["faces_vertices"][2] if corner not in key["faces_vertices"][1]
    ]
    for corner in third:  # the last panel opens by a right angle
        points[corner] = points[corner] * [0.0, 1.0, 0.0] + [0.0, 0.0, -1.0]
    moved = {"frame_parent": 0, "frame_inherit": True, "vertices_coords": points.tolist()}
    path.write_text(json.dumps(key | {"file_frames": [moved]}))
    for frame, last in ((0, math.pi), (1, 0.5 * math.pi)):
        again = qp.origami.read_fold(path, frame)
        angles = [again.system.initial[hinge.name].angle for hinge in again.hinges]
        assert angles == pytest.approx([-math.pi, last], abs=1e-12)


def test_a_pattern_of_lines_alone_is_folded_by_its_angles(tmp_path: Path) -> None:
    """No faces, angles in degrees, lengths in millimetres, as a drawing program writes them."""
    path = tmp_path / "pattern.fold"
    path.write_text(
        '{"file_spec": 1.1, "frame_unit": "mm", "vertices_coords": [[0, 0], [100, 0], [200, 0],'
        ' [0, 100], [100, 100], [200, 100]], "edges_vertices": [[0, 1], [1, 2], [3, 4], [4, 5],'
        ' [0, 3], [1, 4], [2, 5]], "edges_assignment": ["B", "B", "B", "B", "B", "M", "B"],'
        ' "edges_foldAngle": [0, 0, 0, 0, 0, -90, 0]}'
    )
    fold = qp.origami.read_fold(path, thickness=1e-3)
    assert len(fold.panels) == 2
    assert fold.system.initial["1-4"].angle == pytest.approx(-0.5 * math.pi, abs=1e-15)
    lower = min(panel.position[2] for panel in fold.panels)
    assert lower == pytest.approx(-0.05, abs=1e-15)
    flat = qp.origami.read_fold(path, fold=False, thickness=1e-3)
    assert flat.system.initial["1-4"].angle == 0.0
