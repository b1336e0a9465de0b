"""A spinning top in steady precession: it circles at a rate that one quadratic equation gives."""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.mechanics.system import Evaluator

MASS, LEVER, TILT, SPIN, G = 1.0, 0.1, math.radians(30.0), 100.0, 9.81
ACROSS, ALONG = 0.012, 0.003  # moments about the pivot [kg m2]
#: Roots of ACROSS cos(tilt) p^2 - ALONG spin p + m g l = 0 [rad/s]: the fast and the slow
#: precession of this top.
PRECESSIONS = (25.107863920547, 3.759649538934)


def top(precession: float) -> tuple[qp.Multibody, np.ndarray, np.ndarray]:
    """A top on a ball joint that turns with `precession` about z and has the spin SPIN along its
    own axis."""
    turn = qp.rotation((0, 1, 0), TILT)
    axis = np.array([math.sin(TILT), 0.0, math.cos(TILT)])
    omega = np.array([0.0, 0.0, precession]) + (SPIN - precession * math.cos(TILT)) * axis
    across = ACROSS - MASS * LEVER**2
    resting = qp.Body("top", MASS, (across, across, ALONG), LEVER * axis, turn)
    body = qp.Body(
        "top", MASS, (across, across, ALONG), LEVER * axis, turn, np.cross(omega, LEVER * axis),
        resting.matrix.T @ omega,
    )  # fmt: skip
    return (
        qp.Multibody(
            body, qp.Spherical("tip", qp.GROUND, body, at=(0, 0, 0)), qp.Gravity((0, 0, -G))
        ),
        omega,
        axis,
    )


@pytest.mark.parametrize("evaluator", get_args(Evaluator))
@pytest.mark.parametrize("precession", PRECESSIONS)
def test_steady_precession_of_a_top(precession: float, evaluator: Evaluator) -> None:
    """Everything turns about z as one: r'' = p x (p x r) and omega' = p x omega."""
    system, omega, axis = top(precession)
    p, turned = np.array([0.0, 0.0, precession]), system["top"].matrix.T
    expected = np.concatenate([np.cross(p, np.cross(p, LEVER * axis)), turned @ np.cross(p, omega)])
    np.testing.assert_allclose(
        system.acceleration(evaluator=evaluator)[0], expected, rtol=1e-10, atol=1e-8
    )


@pytest.mark.parametrize("precession", PRECESSIONS)
def test_precession_rates_solve_the_equation(precession: float) -> None:
    left = ACROSS * math.cos(TILT) * precession**2 - ALONG * SPIN * precession + MASS * G * LEVER
    assert left == pytest.approx(0.0, abs=1e-12)


def test_another_precession_is_not_steady() -> None:
    system, omega, _ = top(10.0)
    p = np.array([0.0, 0.0, 10.0])
    off = system.acceleration()[0, 3:] - system["top"].matrix.T @ np.cross(p, omega)
    assert abs(off).max() > 10.0
