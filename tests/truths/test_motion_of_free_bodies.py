"""Motions of one body that mathematics knows in closed form, followed for as long as the reference
goes."""

from __future__ import annotations

import numpy as np
import pytest

import quirkpy as qp

#: The tolerances of every reference motion.
TIGHT = {"rtol": 1e-12, "atol": 1e-13}

#: Torque-free body, I = (1, 2, 3) kg m2, omega(0) = (0.1, 2, 0.1) rad/s: omega in body axes by
#: Jacobi's elliptic functions and the quaternion w x y z by quadrature, in 40-digit arithmetic.
TUMBLING = [
    (
        10.0,
        (1.1050666344174196, -1.6699783631823968, 0.643213874876945),
        (0.29796696110860477, -0.9453572901864229, -0.1148462284404065, 0.06576950503159264),
    ),
    (
        50.0,
        (0.10501036199725862, -1.9997431894803905, 0.10169755180074444),
        (0.04387223570169431, -0.7880473922954264, -0.0008844994012197667, -0.6140486561272832),
    ),
    (
        100.0,
        (-0.522636308830918, 1.933093709236982, 0.31259596462974737),
        (0.24188772431237832, 0.031691645443719024, -0.9548765131498109, -0.16940133727603074),
    ),
]


@pytest.fixture(scope="module")
def tumbling() -> qp.Trajectory:
    body = qp.Body("body", 1.0, (1.0, 2.0, 3.0), angular_velocity=(0.1, 2.0, 0.1))
    return qp.Multibody(body).simulate(100.0, **TIGHT)


def same_turn(quaternion: np.ndarray, reference: object) -> float:
    """How far two quaternions w x y z are apart, up to their sign."""
    return float(min(abs(quaternion - reference).max(), abs(quaternion + reference).max()))


@pytest.mark.parametrize(("t", "omega", "quaternion"), TUMBLING)
def test_torque_free_body_tumbles_as_jacobi_says(
    tumbling: qp.Trajectory, t: float, omega: tuple[float, ...], quaternion: tuple[float, ...]
) -> None:
    state = tumbling.at(t)
    np.testing.assert_allclose(state.omega[0], omega, rtol=0.0, atol=1e-9)
    assert same_turn(state.q[0], np.array(quaternion)) < 1e-9


def test_torque_free_body_keeps_energy_and_momentum(tumbling: qp.Trajectory) -> None:
    """2 T = 8.04 J; L = (0.1, 4, 0.3) kg m2/s in N, since body axes and N coincide at the start."""
    np.testing.assert_allclose(tumbling.kinetic, 4.02, rtol=1e-10)
    np.testing.assert_allclose(
        tumbling.angular_momentum, np.tile((0.1, 4.0, 0.3), (len(tumbling.t), 1)), atol=4e-10
    )


def test_dzhanibekov_flips_on_time() -> None:
    """I = (3, 2, 1), omega(0) = (1e-3, 2, 1e-3): omega2 is zero at 6.91273812 s and then every
    14.9659951347057 s, a half period 2 K(k) / rate of the elliptic functions.

    The energy lies within a millionth of that of the flip that never comes: an error of 1e-15 in it
    moves a flip by some 1e-9 s.  Rounding alone costs 5e-9 s in a minute, at any tolerance; 1.3e-8
    s is what this one reaches."""
    body = qp.Body("body", 1.0, (3.0, 2.0, 1.0), angular_velocity=(1e-3, 2.0, 1e-3))
    flip = qp.When("flip", lambda state: state["body"].angular_velocity[1], terminal=False)
    run = qp.Multibody(body).simulate(70.0, stop=[flip], **TIGHT)
    times = np.array([event.t for event in run.events])
    assert run.stop is qp.Stop.END
    assert len(times) == 5
    assert times[0] == pytest.approx(6.91273812, abs=5e-9)
    np.testing.assert_allclose(np.diff(times), 14.9659951347057, rtol=0.0, atol=2e-8)


def test_pendulum_let_go_from_the_horizontal() -> None:
    """L = 1 m, g = 9.81, from (-1, 0): at 5 s (x, y) = (-0.94230543504376, -0.334754338414),
    and the period is 2.367841947576237 s, by elliptic integrals.  A bar held at the mass centre
    does not turn the bob."""
    bob = qp.Body.sphere("bob", 0.05, 1.0, position=(-1, 0, 0))
    system = qp.Multibody(bob, qp.Distance("bar", qp.GROUND, bob), qp.Gravity((0, -9.81, 0)))
    turning = qp.When(
        "turning", lambda s: s["bob"].velocity[1], direction="falling", terminal=False
    )
    run = system.simulate(5.0, stop=[turning], **TIGHT)
    np.testing.assert_allclose(
        run.final["bob"].position, (-0.94230543504376, -0.334754338414, 0.0), rtol=0.0, atol=1e-9
    )
    # the bob stands still, and starts to fall again, after each half period
    half = 0.5 * 2.367841947576237
    np.testing.assert_allclose(
        [event.t for event in run.events], half * np.arange(1, 5), rtol=0.0, atol=1e-9
    )
