"""A body on a hinge: one equation, solved on paper for any body, hinge and motion."""

from __future__ import annotations

import math
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given

import quirkpy as qp
from quirkpy.mechanics.system import Evaluator
from tests.inputs import OPEN, numbers, principal_moments, real, turns

every_evaluator = pytest.mark.parametrize("evaluator", get_args(Evaluator))


@every_evaluator
@OPEN
@given(
    mass=real(0.1, 10.0),
    moments=principal_moments(),
    centre=numbers(3),
    turn=turns(),
    axis=numbers(3, away=0.1),
    pivot=numbers(3),
    rate=real(-5.0, 5.0),
    g=numbers(3, size=10.0),
)
def test_physical_pendulum_about_any_axis(
    evaluator: Evaluator,
    mass: float,
    moments: Any,
    centre: Any,
    turn: Any,
    axis: Any,
    pivot: Any,
    rate: float,
    g: Any,
) -> None:
    """angle'' = axis . (c x m g) / (axis . I axis + m |axis x c|^2), with c from the hinge to the
    mass centre."""
    a, c = np.array(axis) / math.hypot(*axis), np.array(centre) - pivot
    frame = qp.rotation(*turn)
    written = qp.Body("body", mass, moments, position=centre, orientation=frame)
    along = written.matrix.T @ a
    body = qp.Body(
        "body", mass, moments, centre, frame, velocity=rate * np.cross(a, c),
        angular_velocity=rate * along
    )  # fmt: skip
    system = qp.Multibody(
        body, qp.Revolute("hinge", qp.GROUND, body, at=pivot, axis=axis), qp.Gravity(g)
    )

    moment = along @ (np.array(moments) * along) + mass * np.cross(a, c) @ np.cross(a, c)
    angle = mass * a @ np.cross(c, g) / moment
    expected = np.concatenate(
        [angle * np.cross(a, c) + rate**2 * np.cross(a, np.cross(a, c)), angle * along]
    )
    np.testing.assert_allclose(
        system.acceleration(evaluator=evaluator)[0], expected, rtol=0.0, atol=1e-10
    )


@pytest.mark.kernels
@every_evaluator
def test_rod_from_the_horizontal_falls_at_three_halves_g(evaluator: Evaluator) -> None:
    """angle'' = (m g L/2) / (m L^2/3): the free end of a 1 m rod starts with 1.5 g."""
    rod = qp.Body.rod("rod", (0, 0, 0), (1, 0, 0), 2.0)
    system = qp.Multibody(
        rod,
        qp.Revolute("hinge", qp.GROUND, rod, at=(0, 0, 0), axis=(0, 1, 0)),
        qp.Gravity((0, 0, -9.81)),
    )
    expected = [0.0, 0.0, -0.75 * 9.81, 0.0, 1.5 * 9.81, 0.0]
    np.testing.assert_allclose(system.acceleration(evaluator=evaluator)[0], expected, atol=1e-12)
    # the hinge carries the remaining quarter of the weight
    np.testing.assert_allclose(
        system.reactions()["hinge"].force, (0.0, 0.0, 0.25 * 2.0 * 9.81), atol=1e-12
    )
