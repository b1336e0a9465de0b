"""Bodies given by nodes and shapes, against beams, and against the whole finite element model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from quirkpy.maths.types import Floats
from quirkpy.parts.beam import Beam
from quirkpy.parts.modal_body import ModalBody
from quirkpy.parts.part import PartError
from quirkpy.parts.reduction import craig_bampton, normal_modes
from tests.bending import random_points, random_stiffness, spinning_modes

LENGTH, EA, EI, GJ, LINE = 1.7, 400.0, (3.0, 5.0), 2.0, 2.0
POLAR = LINE * sum(EI) / EA


def rod_element(h: float, rigidity: float, density: float) -> tuple[Floats, Floats]:
    """Stiffness and mass of linear displacements between two nodes."""
    return (
        rigidity / h * np.array([[1.0, -1.0], [-1.0, 1.0]]),
        density * h / 6.0 * np.array([[2.0, 1.0], [1.0, 2.0]]),
    )


def bending_element(h: float, rigidity: float, density: float) -> tuple[Floats, Floats]:
    """Stiffness and mass of Hermite's cubics over displacement and slope of two nodes."""
    K = [[12, 6 * h, -12, 6 * h], [6 * h, 4 * h**2, -6 * h, 2 * h**2],
         [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h**2, -6 * h, 4 * h**2]]  # fmt: skip
    M = [[156, 22 * h, 54, -13 * h], [22 * h, 4 * h**2, 13 * h, -3 * h**2],
         [54, 13 * h, 156, -22 * h], [-13 * h, -3 * h**2, -22 * h, 4 * h**2]]  # fmt: skip
    return rigidity / h**3 * np.array(K), density * h / 420.0 * np.array(M)


def frame(elements: int) -> tuple[Floats, Floats, Floats]:
    """Nodes, stiffness and mass of a straight beam along x, six displacements at each node."""
    h, size = LENGTH / elements, 6 * (elements + 1)
    nodes = np.zeros((elements + 1, 3))
    nodes[:, 0] = np.linspace(0.0, LENGTH, elements + 1)
    K, M = np.zeros((size, size)), np.zeros((size, size))
    flip = np.diag([1.0, -1.0, 1.0, -1.0])  # slope of z is minus the turn about y
    along_z = [flip @ m @ flip for m in bending_element(h, EI[0], LINE)]
    ways = (
        ((0,), rod_element(h, EA, LINE)), ((3,), rod_element(h, GJ, POLAR)),
        ((1, 5), bending_element(h, EI[1], LINE)), ((2, 4), tuple(along_z)),
    )  # fmt: skip
    for e in range(elements):
        for columns, (k, m) in ways:
            at = np.array([6 * (e + node) + c for node in (0, 1) for c in columns])
            K[np.ix_(at, at)] += k
            M[np.ix_(at, at)] += m
    return nodes, K, M


def a_beam(**changes: Any) -> Beam:
    return Beam(
        "boom", start=(0.0, 0.0, 0.0), end=(LENGTH, 0.0, 0.0), EA=EA, EI=EI, GJ=GJ,
        mass_per_length=LINE, **changes,
    )  # fmt: skip


# --- finite elements ------------------------------------------------------------------------------
def test_a_clamped_model_tends_to_the_beam() -> None:
    """Frequencies, movements of the tip and rigid couplings, as the square of the elements'
    length."""
    beam = a_beam(modes=4)
    tip = beam.modes_at(beam.at(1.0).at)
    errors = []
    for elements in (8, 16):
        body = ModalBody.from_matrices("fem", *frame(elements), modes=4, clamped=[0])
        assert body.position == pytest.approx(beam.position, abs=1e-12)
        assert body.mass == pytest.approx(beam.mass)
        found = body.modes_at((0.5 * LENGTH, 0.0, 0.0))
        root = body.modes_at((-0.5 * LENGTH, 0.0, 0.0))
        assert abs(root.displacement).max() == 0.0
        assert body.modal.frequencies == pytest.approx(beam.modal.frequencies, rel=4e-3)
        pairs = (
            (found.displacement, tip.displacement), (found.rotation, tip.rotation),
            (body.modal.linear, beam.modal.linear), (body.modal.angular, beam.modal.angular),
        )  # fmt: skip
        errors.append([abs(abs(a) - abs(b)).max() / abs(b).max() for a, b in pairs])
    assert np.max(errors[1]) < 0.02
    assert (np.array(errors[1]) < 0.3 * np.array(errors[0])).all()


def test_a_free_model_moves_neither_centre_nor_axes() -> None:
    nodes, K, M = frame(16)
    beam = a_beam(modes=(0, 1, 1, 0), clamped="free")
    body = ModalBody.from_matrices("fem", nodes + [3.0, 2.0, 1.0], K, M, modes=2)
    assert body.position == pytest.approx((3.0 + 0.5 * LENGTH, 2.0, 1.0))
    assert body.modal.frequencies == pytest.approx(beam.modal.frequencies, rel=1e-4)
    assert abs(body.modal.linear).max() < 1e-9 * np.sqrt(beam.mass)
    assert abs(body.modal.angular).max() < 1e-9 * LENGTH * np.sqrt(beam.mass)
    with pytest.raises(PartError, match="six lowest squared frequencies of the free model"):
        ModalBody.from_matrices("fem", nodes, K + 1e3 * M, M, modes=2)


def test_craig_and_bamptons_reduction_keeps_statics_and_with_all_modes_everything() -> None:
    _, K, M = frame(5)
    loose = np.arange(6, len(K))
    K, M = K[np.ix_(loose, loose)], M[np.ix_(loose, loose)]
    boundary = np.arange(len(K) - 6, len(K))
    exact = np.linalg.inv(K)[np.ix_(boundary, boundary)]
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)
    for count in (0, 3, len(K) - 6):
        model = craig_bampton(K, M, boundary, count)
        assert model.mass.shape == (6 + count, 6 + count)
        assert np.linalg.inv(model.stiffness)[:6, :6] == pytest.approx(exact, rel=1e-9, abs=1e-12)
        found = normal_modes(model).squares
        assert (found >= squares[: len(found)] * (1.0 - 1e-9)).all()  # Rayleigh
        if count == len(K) - 6:
            assert found == pytest.approx(squares, rel=1e-7)


def test_a_boundary_makes_a_body_bend_statically_as_its_model_does() -> None:
    """Compliance at a node of the boundary, by modes of the reduced model."""
    nodes, K, M = frame(12)
    body = ModalBody.from_matrices("fem", nodes, K, M, modes=1, clamped=[0], boundary=[12])
    assert body.modal.count == 7
    tip = body.modes_at((0.5 * LENGTH, 0.0, 0.0))
    follow = np.hstack([tip.displacement, tip.rotation])
    found = follow.T @ np.linalg.solve(body.modal.stiffness, follow)
    exact = np.linalg.inv(K[6:, 6:])[-6:, -6:]
    assert found == pytest.approx(exact, rel=0.03, abs=1e-9)


# --- shapes as given ------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(3))
def test_it_is_what_its_mass_points_are(seed: int) -> None:
    """Modes found from the stiffness of any shapes; the scale of shapes does not matter."""
    rng = np.random.default_rng(seed)
    points, n = random_points(rng, 3), 3
    mixing, K = rng.normal(size=(n, n)), random_stiffness(rng, n)
    given = {"nodes": points.points, "masses": points.masses, "damping": 0.1}
    assert points.shortenings is not None
    one = ModalBody(
        "one", shapes=np.tensordot(mixing, points.displacements, 1),
        stiffness=mixing @ K @ mixing.T,
        shortenings=np.einsum("ij,kcjl,ml->kcim", mixing, points.shortenings, mixing), **given,
    )  # fmt: skip
    squares, turn = np.linalg.eigh(K)
    scales = np.array([4.0, -2.0, 0.5])[:, None, None]
    shapes = scales * np.tensordot(turn.T, points.displacements, 1)
    two = ModalBody("two", frequencies=np.sqrt(squares), shapes=shapes, **given)
    for body in (one, two):
        assert body.mass == pytest.approx(points.mass)
        assert body.inertia_matrix == pytest.approx(points.inertia)
        assert body.modal.frequencies == pytest.approx(np.sqrt(squares))
        damping = np.diag(body.modal.damping)
        assert damping == pytest.approx(0.2 * np.sqrt(squares))
        follow = body.modal.linear.T @ np.linalg.solve(body.modal.stiffness, body.modal.linear)
        linear = np.einsum("k,ikc->ic", points.masses, points.displacements)
        assert follow == pytest.approx(linear.T @ np.linalg.solve(K, linear))
    eta = one.modal.shortening_moment
    assert np.einsum("akii->ak", eta) == pytest.approx(
        np.einsum("k,ka,kcii->ac", points.masses, points.points, points.shortenings)
    )


def test_a_panel_by_mass_moments_and_shapes() -> None:
    """Masses are shared among nodes such that mass, centre and moments hold, as evenly as can
    be."""
    x, y = (grid.ravel() for grid in np.meshgrid(np.linspace(-1, 1, 9), np.linspace(-0.5, 0.5, 5)))
    nodes = np.column_stack([x, y, np.zeros(45)])
    bent = np.zeros((2, 45, 3))
    bent[0, :, 2], bent[1, :, 2] = (x + 1.0) ** 2, (x + 1.0) * y
    mass = 3.0
    inertia = (mass * 1.0 / 12.0, mass * 4.0 / 12.0, mass * 5.0 / 12.0)
    body = ModalBody(
        "panel", mass=mass, inertia=inertia, nodes=nodes, shapes=bent, frequencies=(3.0, 9.0)
    )
    points = body.mass_points
    assert points.mass == pytest.approx(mass, rel=1e-6)
    assert points.inertia == pytest.approx(np.diag(inertia), rel=1e-5, abs=1e-5)
    assert points.masses.min() >= 0.0
    assert body.modal.frequencies == pytest.approx((3.0, 9.0))
    assert points.mass_matrix == pytest.approx(np.eye(2), abs=1e-9)
    corner = body.modes_at((1.0, 0.5, 0.0))
    scale = corner.displacement[:, 2] / [4.0, 1.0]
    expected = np.array([[0.0, -4.0, 0.0], [2.0, -0.5, 0.0]])  # slopes: of z along y, minus along x
    found = corner.rotation / scale[:, None]
    assert found[1] == pytest.approx(expected[1], abs=0.2)
    assert found[0] == pytest.approx(expected[0], abs=0.5)


def test_shapes_of_a_beam_at_nodes_spin_as_the_beam_does() -> None:
    beam = a_beam(modes=(0, 3, 3, 0))
    points = beam.mass_points
    heavy = points.masses > 0.0
    body = ModalBody(
        "boom", nodes=points.points[heavy], masses=points.masses[heavy],
        shapes=points.displacements[:, heavy], frequencies=beam.modal.frequencies,
        shortenings=points.shortenings[heavy], moments=points.moments[heavy],
        rotations=points.rotations[:, heavy],
    )  # fmt: skip
    spin, root = np.array([0.3, 0.5, 4.0]), beam.at(0.0).at
    one, two = (spinning_modes(part, spin, root).frequencies for part in (beam, body))
    assert two == pytest.approx(one, rel=1e-9)


def test_arrays_come_from_a_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    points = random_points(rng, 2)
    arrays = {
        "nodes": points.points, "masses": points.masses, "shapes": points.displacements,
        "frequencies": np.array([1.0, 2.0]), "damping": np.array(0.02),
    }  # fmt: skip
    np.savez(tmp_path / "panel.npz", **arrays)
    body = ModalBody.load("panel", tmp_path / "panel.npz", color="#ff0000")
    assert body == ModalBody("panel", color="#ff0000", **arrays)
    np.savez(tmp_path / "other.npz", **arrays, colour=1.0)
    with pytest.raises(PartError, match="holds 'colour', which is no field of a ModalBody"):
        ModalBody.load("panel", tmp_path / "other.npz")
    (tmp_path / "text.npz").write_text("no archive")
    with pytest.raises(PartError, match="cannot be read as NPZ"):
        ModalBody.load("panel", tmp_path / "text.npz")


def test_what_is_no_modal_body_is_refused() -> None:
    points = random_points(np.random.default_rng(6), 2)
    usual: dict[str, Any] = {
        "nodes": points.points, "masses": points.masses, "shapes": points.displacements,
        "frequencies": (1.0, 2.0),
    }  # fmt: skip
    for changes, words in (
        ({"frequencies": (1.0,)}, r"frequencies has shape \(1,\), but must have shape \(2,\)"),
        ({"frequencies": (0.0, 1.0)}, "frequencies is 0.0, but must be positive"),
        ({"frequencies": None}, "give frequencies of modes, or a stiffness matrix"),
        ({"nodes": points.points + 1.0}, "lies 1.73 m from the origin"),
        ({"mass": 7.0}, "mass is 7, but masses of its nodes make it"),
        ({"masses": None}, "mass is missing"),
        ({"shapes": points.displacements[[0, 0]]}, "is a sum of others, or nought"),
        ({"shapes": points.displacements + points.displacements[[1, 0]] * 0.4}, "in common"),
        ({"frequencies": None, "stiffness": [[1.0, 2.0], [0.0, 1.0]]}, "is not symmetric"),
        ({"frequencies": None, "stiffness": [[1.0, 0.0], [0.0, 0.0]]}, "no hold on some shape"),
        (
            {"masses": None, "mass": 1.0, "inertia": (90.0, 90.0, 90.0)},
            "masses of its nodes do not have",
        ),
        ({"damping": (0.1,)}, "damping has 1 number, but there are 2 modes"),
        ({"fixed": True}, "a fixed body does not bend"),
    ):
        with pytest.raises(PartError, match=words):
            ModalBody("panel", **{**usual, **changes})
    nodes, K, M = frame(3)
    for arguments, words in (
        ((nodes, K[1:], M), "stiffness has shape"),
        ((nodes, K, M[1:]), r"must be \(k, 3\), and"),
        ((nodes, K + np.triu(K), M), "stiffness is not symmetric"),
    ):
        with pytest.raises(PartError, match=words):
            ModalBody.from_matrices("fem", *arguments, modes=2)
    with pytest.raises(PartError, match=r"clamped is \[9\], but must be numbers of nodes"):
        ModalBody.from_matrices("fem", nodes, K, M, modes=2, clamped=[9])


@pytest.mark.parametrize("thick", [True, False])
def test_axes_where_nodes_are_held_do_not_turn(thick: bool) -> None:
    """At a root that is held over a plane, however its neighbours bend; nodes held in a line, as at
    a hinge, turn about it with what is around."""
    heights = (-0.1, 0.1) if thick else (0.0,)
    grid = [(x, y, z) for x in (0.0, 0.5, 1.0) for y in (-1.0, 0.0, 1.0) for z in heights]
    nodes = np.array(grid) - np.mean(grid, axis=0)
    shapes = np.zeros((1, len(nodes), 3))
    shapes[0, :, 2] = 0.1 * np.array(grid)[:, 0] ** 2
    body = ModalBody(
        "panel", nodes=nodes, shapes=shapes, frequencies=[5.0], masses=[0.1] * len(nodes),
        inertia=None if thick else (0.6, 0.15, 0.75),
    )  # fmt: skip
    root, tip = (body.modes_at((x, 0.0, heights[0])) for x in (-0.5, 0.5))
    assert abs(root.displacement).max() == 0.0
    assert bool(abs(root.rotation).max() == 0.0) == thick
    assert tip.rotation[0, 1] < 0.0


@pytest.mark.parametrize("modes", [0, -1, 1.5, True, "2"])
@pytest.mark.parametrize("clamped", [(), (0,)])
def test_numbers_of_modes_are_whole_and_not_nought(modes: Any, clamped: Any) -> None:
    nodes, K, M = frame(3)
    with pytest.raises(PartError, match=r"'fem': modes is .*, but must be a whole number from 1"):
        ModalBody.from_matrices("fem", nodes, K, M, modes=modes, clamped=clamped)
