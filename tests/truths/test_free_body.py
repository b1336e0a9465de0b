"""A body alone: Newton's and Euler's equations."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given

import quirkpy as qp
from quirkpy.mechanics.system import Evaluator
from tests.inputs import OPEN, numbers, principal_moments, real, turns

every_evaluator = pytest.mark.parametrize("evaluator", get_args(Evaluator))


@every_evaluator
def test_torque_free_body_follows_euler(evaluator: Evaluator) -> None:
    """I = (1, 2, 3), omega = (0.1, 2, 0.1): I1 omega1' = (I2 - I3) omega2 omega3 = -0.2, and so on
    round."""
    body = qp.Body("body", 1.0, (1.0, 2.0, 3.0), angular_velocity=(0.1, 2.0, 0.1))
    expected = [0.0, 0.0, 0.0, -0.2, 0.01, -0.2 / 3.0]
    np.testing.assert_allclose(
        qp.Multibody(body).acceleration(evaluator=evaluator)[0], expected, atol=1e-15
    )


@every_evaluator
@OPEN
@given(
    mass=real(0.1, 10.0),
    moments=principal_moments(),
    turn=turns(),
    omega=numbers(3, size=5.0),
    force=numbers(3),
    torque=numbers(3),
    point=numbers(3),
)
def test_pushed_body_follows_newton_and_euler(
    evaluator: Evaluator,
    mass: float,
    moments: Any,
    turn: Any,
    omega: Any,
    force: Any,
    torque: Any,
    point: Any,
) -> None:
    """m r'' = f and I omega' + omega x I omega = R' (torque + arm x f), the push at any point of
    N."""
    body = qp.Body(
        "body", mass, moments, (0.3, -0.2, 0.1), qp.rotation(*turn), angular_velocity=omega
    )
    system = qp.Multibody(body, qp.Load("push", body, force=force, torque=torque, at=point))
    arm = np.array(point) - body.position
    couple = body.matrix.T @ (torque + np.cross(arm, force))
    spin = (couple - np.cross(omega, np.array(moments) * omega)) / moments
    expected = np.concatenate([np.array(force) / mass, spin])
    np.testing.assert_allclose(
        system.acceleration(evaluator=evaluator)[0], expected, rtol=0.0, atol=1e-9
    )
