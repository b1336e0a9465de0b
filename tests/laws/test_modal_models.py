"""The integrals of modes say the same of a body as its mass points do, one by one."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from quirkpy.maths.types import Floats
from quirkpy.parts.modal import MassPoints, ModalModel, PointModes
from quirkpy.parts.part import PartError
from tests.bending import (
    BendingMotion,
    energy_of_model,
    energy_of_points,
    random_motion,
    random_points,
    random_stiffness,
)

MODES = 4
SIZES = np.linspace(-1.0, 1.0, 5)


def model_of(points: MassPoints, rng: np.random.Generator) -> ModalModel:
    n = len(points.displacements)
    return points.modal_model(random_stiffness(rng, n), random_stiffness(rng, n))


def coefficients(values: list[float]) -> Floats:
    """Of the polynomial of degree four through the energies of bending of five sizes."""
    return np.linalg.solve(np.vander(SIZES, increasing=True), values)


@pytest.mark.parametrize("seed", range(6))
def test_kinetic_energy_is_that_of_the_points_up_to_squares_of_bending(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = random_points(rng, MODES)
    model = model_of(points, rng)
    v, w, q, rate = random_motion(rng, MODES)
    motions = [BendingMotion(v, w, size * q, size * rate) for size in SIZES]
    exact = coefficients([energy_of_points(points, motion) for motion in motions])
    found = coefficients(
        [energy_of_model(points.mass, points.inertia, model, motion) for motion in motions]
    )
    assert found[:3] == pytest.approx(exact[:3], rel=1e-12, abs=1e-12)
    assert abs(exact[3:]).max() > 1e-3  # what comes after squares is there, and left out


@pytest.mark.parametrize("seed", range(3))
def test_shapes_of_a_rigid_body_give_the_integrals_of_a_rigid_body(seed: int) -> None:
    """Six shapes that displace and turn a body as a whole: the integrals are its mass and its
    moments of inertia."""
    rng = np.random.default_rng(seed)
    points = random_points(rng)
    m, p, mass = points.masses, points.points, points.mass
    moments, axes = np.linalg.eigh(points.inertia)
    slides = np.broadcast_to(np.eye(3)[:, None] / np.sqrt(mass), (3, len(m), 3))
    turns = np.cross(axes.T[:, None], p) / np.sqrt(moments)[:, None, None]
    rigid = MassPoints(m, p, np.concatenate([slides, turns]))
    model = rigid.modal_model(np.zeros((6, 6)), np.zeros((6, 6)))
    expected = np.zeros((6, 3))
    expected[:3] = np.sqrt(mass) * np.eye(3)
    np.testing.assert_allclose(model.linear, expected, atol=1e-13)
    np.testing.assert_allclose(model.angular[:3], 0.0, atol=1e-13)
    np.testing.assert_allclose(model.angular[3:], (axes * np.sqrt(moments)).T, atol=1e-13)
    change = model.inertia_change[3:]  # of turning: theta x J - J theta x
    for k in range(3):
        turn = np.cross(np.eye(3), axes[:, k])
        expected = (turn @ rigid.inertia - rigid.inertia @ turn) / np.sqrt(moments[k])
        np.testing.assert_allclose(change[k], expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_integrals_turn_with_the_axes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = random_points(rng, MODES)
    n, zero = MODES, np.zeros((MODES, MODES))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    assert points.shortenings is not None
    turned = MassPoints(
        points.masses, points.points @ turn.T, points.displacements @ turn.T,
        np.einsum("ab,kbij->kaij", turn, points.shortenings),
    )  # fmt: skip
    old, new = points.modal_model(np.eye(n), zero), turned.modal_model(np.eye(n), zero)
    carried = {
        "linear": old.linear @ turn.T, "angular": old.angular @ turn.T,
        "first": turn @ old.first @ turn.T,
        "gyroscopic": np.einsum("ab,bij->aij", turn, old.gyroscopic),
        "second": np.einsum("ac,bd,cdij->abij", turn, turn, old.second),
        "shortening": np.einsum("ab,bij->aij", turn, old.shortening),
        "shortening_moment": np.einsum("ac,bd,cdij->abij", turn, turn, old.shortening_moment),
    }  # fmt: skip
    for name, expected in carried.items():
        np.testing.assert_allclose(getattr(new, name), expected, atol=1e-12)


def test_small_solids_turn_with_their_points() -> None:
    """A point with a moment of inertia that a shape turns is two points on a lever, for small
    turns."""
    arm, mass = 0.3, 0.5
    ends = np.array([[0.0, arm, 0.0], [0.0, -arm, 0.0]])
    turn = np.array([0.0, 0.0, 1.0]) / np.sqrt(2.0 * mass * arm**2)
    two = MassPoints(np.full(2, mass), ends, np.cross(turn, ends)[None])
    moment = two.inertia
    one = MassPoints(
        np.array([2.0 * mass]), np.zeros((1, 3)), np.zeros((1, 1, 3)), None, moment[None],
        turn[None, None],
    )  # fmt: skip
    assert one.inertia == pytest.approx(two.inertia)
    assert one.mass_matrix == pytest.approx(two.mass_matrix)
    zero = np.zeros((1, 1))
    assert one.modal_model(zero, zero).angular == pytest.approx(two.modal_model(zero, zero).angular)


def test_what_makes_no_sense_is_refused() -> None:
    rng = np.random.default_rng(0)
    points = random_points(rng, MODES)
    model = model_of(points, rng)
    skew = rng.normal(size=(MODES, MODES))
    for changes, words in (
        ({"stiffness": skew}, "stiffness differs by .* between both orders of two modes"),
        ({"damping": -np.eye(MODES)}, "damping has the eigenvalue -1, but none may be negative"),
        ({"linear": np.zeros((MODES, 2))}, r"linear is \(4, 2\), but must be .* \(4, 3\)"),
        ({"angular": np.full((MODES, 3), np.nan)}, "angular holds a number that is not finite"),
        ({"gyroscopic": np.ones((3, MODES, MODES))}, "gyroscopic differs by 2 between one order"),
        ({"second": rng.normal(size=(3, 3, MODES, MODES))}, "second differs by"),
    ):
        with pytest.raises(PartError, match=words):
            dataclasses.replace(model, **changes)
    with pytest.raises(PartError, match="differ by 3 from 1 and 0; scale and combine"):
        MassPoints(points.masses, points.points, 2.0 * points.displacements).modal_model(
            model.stiffness, model.damping
        )
    with pytest.raises(PartError, match="the mass centre lies 1 m from the origin"):
        MassPoints(points.masses, points.points + [1.0, 0, 0], points.displacements).modal_model(
            model.stiffness, model.damping
        )
    with pytest.raises(PartError, match="moments and rotations go together"):
        dataclasses.replace(points, moments=np.zeros((len(points.masses), 3, 3)))
    with pytest.raises(PartError, match="PointModes: displacement"):
        PointModes(np.zeros(3), np.zeros((2, 2)), np.zeros((2, 3)), np.zeros((3, 2, 2)))
