"""Two bars hung in series by ball joints in space, against Kane's equations in the six angular
rates."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.mechanics.system import Evaluator

G = np.array([0.0, 0.0, -9.81])
MASSES = (1.0, 2.0)
SIZE = (1.0, 0.1, 0.05)
#: Relative to the mass centre, in body axes: the upper ball joint; the lower one is opposite.
TOP = np.array([-0.5, 0.0, 0.0])
#: R1 = Rz(0.3) Ry(0.9) Rx(0.2) and R2 = R1 Rz(-0.5) Ry(-0.6) Rx(0.4).
TURNS = ((0.3, 0.9, 0.2), (-0.5, -0.6, 0.4))
#: Body axes; the second is (-2, 0.7, 1.5) relative to the first bar, in its own axes, plus R_rel'
#: omega1.
OMEGAS = ((1.0, 0.5, -0.8), (-1.9252573212178785, 1.148356862443587, 0.2025449310792242))
#: Kinetic and potential energy at the start [J], from 40-digit arithmetic.
ENERGY = -20.214202977153416


def turns() -> list[Any]:
    """The two orientations."""
    made, total = [], qp.rotation((0, 0, 1), 0.0)
    for z, y, x in TURNS:
        total = (
            total
            * qp.rotation((0, 0, 1), z)
            * qp.rotation((0, 1, 0), y)
            * qp.rotation((1, 0, 0), x)
        )
        made.append(total)
    return made


def bars() -> qp.Multibody:
    """The double pendulum in its start state."""
    upper, speed, made, joints = np.zeros(3), np.zeros(3), [], []
    for k, (turn, omega, mass) in enumerate(zip(turns(), OMEGAS, MASSES)):
        lever = -qp.Body.box("bar", SIZE, 1.0, orientation=turn).matrix @ TOP
        spin = qp.Body.box("bar", SIZE, 1.0, orientation=turn).matrix @ omega
        made.append(
            qp.Body.box(
                f"bar{k}",
                SIZE,
                mass,
                position=upper + lever,
                orientation=turn,
                angular_velocity=omega,
                velocity=speed + np.cross(spin, lever),
            )
        )
        joints.append(qp.Spherical(f"ball{k}", made[k - 1] if k else qp.GROUND, made[k], at=upper))
        upper, speed = upper + 2.0 * lever, speed + 2.0 * np.cross(spin, lever)
    return qp.Multibody(*made, *joints, qp.Gravity(G))


def crossing(a: np.ndarray) -> np.ndarray:
    """The matrix of a x."""
    return np.cross(np.eye(3), a)


def kane() -> np.ndarray:
    """sum over bars of m (r'' - g) . dv/du + (I alpha + omega x I omega) . domega/du = 0, u the two
    omegas in N.

    v1 = w1 x c1, v2 = w1 x 2 c1 + w2 x c2: partial velocities P, and r'' = P u' + what turning
    alone gives."""
    R = [qp.Body.box("bar", SIZE, 1.0, orientation=turn).matrix for turn in turns()]
    w = [matrix @ omega for matrix, omega in zip(R, OMEGAS)]
    c = [-(matrix @ TOP) for matrix in R]
    a, b, h = SIZE
    inertia = [
        m / 12.0 * (Q * [b * b + h * h, a * a + h * h, a * a + b * b]) @ Q.T
        for m, Q in zip(MASSES, R)
    ]
    P = [
        np.hstack([-crossing(c[0]), np.zeros((3, 3))]),
        np.hstack([-crossing(2.0 * c[0]), -crossing(c[1])]),
    ]
    inward = [np.cross(w[0], np.cross(w[0], c[0]))]
    inward.append(2.0 * inward[0] + np.cross(w[1], np.cross(w[1], c[1])))
    left, right = np.zeros((6, 6)), np.zeros(6)
    for k in range(2):
        turn = np.zeros((3, 6))
        turn[:, 3 * k : 3 * k + 3] = np.eye(3)
        left += MASSES[k] * P[k].T @ P[k] + turn.T @ inertia[k] @ turn
        right += MASSES[k] * P[k].T @ (G - inward[k]) - turn.T @ np.cross(w[k], inertia[k] @ w[k])
    alpha = np.linalg.solve(left, right)
    rows = [
        np.concatenate([P[k] @ alpha + inward[k], R[k].T @ alpha[3 * k : 3 * k + 3]])
        for k in range(2)
    ]
    return np.array(rows)


@pytest.mark.parametrize("evaluator", get_args(Evaluator))
def test_double_pendulum_in_space_follows_kane(evaluator: Evaluator) -> None:
    np.testing.assert_allclose(
        bars().acceleration(evaluator=evaluator), kane(), rtol=0.0, atol=1e-11
    )


def test_double_pendulum_starts_as_the_reference_does() -> None:
    """r2, v2 and the energy of the start state to the digits of 40-digit arithmetic."""
    system = bars()
    assert system.energy() == pytest.approx(ENERGY, rel=1e-14)
    last = system.initial["bar1"]
    np.testing.assert_allclose(
        last.position, (1.0604321679603903, 0.06635439434675659, -0.9194459499380608), atol=1e-14
    )
    np.testing.assert_allclose(
        last.velocity, (-0.38956055210554635, -0.6038698125996326, -0.9404784400151813), atol=1e-14
    )
    assert abs(system.residual().velocity).max() < 1e-14
