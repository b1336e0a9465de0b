"""A heavy symmetric top in motion: Lagrange's equations, elliptic nutation, steady precession and
sleep.

A: moment across about the pivot, C: along the axis, h = m g l.  With theta the tilt, phi the
precession and n the spin along the axis, which is kept:  p_phi = A phi' sin^2 theta + C n cos theta
is kept as well, and A theta'' = A phi'^2 sin theta cos theta - C n phi' sin theta + h sin theta.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

import quirkpy as qp
from quirkpy.maths.types import Floats
from tests.motion import TIGHT

MASS, LEVER, G = 1.3, 0.12, 9.81
A, C = 0.025, 0.004
H = MASS * G * LEVER
#: Below it an upright top falls: C^2 n^2 = 4 A m g l.
CRITICAL = math.sqrt(4.0 * A * H) / C


def top(tilt: float, spin: float, precession: float = 0.0, nutation: float = 0.0) -> qp.Multibody:
    """A top on a ball joint, tilted towards x: spin along its axis, precession about z, nutation
    theta' [rad/s]."""
    turn = qp.rotation((0, 1, 0), tilt)
    axis = np.array([math.sin(tilt), 0.0, math.cos(tilt)])
    omega = np.array([0.0, nutation, precession]) + (spin - precession * math.cos(tilt)) * axis
    across = A - MASS * LEVER**2
    body = qp.Body(
        "top", MASS, (across, across, C), LEVER * axis, turn, np.cross(omega, LEVER * axis),
        qp.quat.matrix(turn).T @ omega,
    )  # fmt: skip
    return qp.Multibody(
        body, qp.Spherical("tip", qp.GROUND, body, at=(0, 0, 0)), qp.Gravity((0, 0, -G))
    )


def axis_of(run: qp.Trajectory) -> Floats:
    """The axis of the top in N at each stored time (k, 3)."""
    return np.asarray(run["top"].position) / LEVER


def lagrange(tilt: float, spin: float, precession: float, nutation: float, t: Floats) -> Floats:
    """The axis by Lagrange's equations in (theta, phi, theta'), integrated by SciPy."""
    p = A * precession * math.sin(tilt) ** 2 + C * spin * math.cos(tilt)

    def slope(_: float, y: Floats) -> list[float]:
        s, c = math.sin(y[0]), math.cos(y[0])
        rate = (p - C * spin * c) / (A * s * s)
        return [y[2], rate, rate * rate * s * c - C * spin / A * rate * s + H / A * s]

    out = solve_ivp(
        slope, (0.0, t[-1]), [tilt, 0.0, nutation], "DOP853", t_eval=t, rtol=1e-13, atol=1e-14
    ).y
    return np.transpose(
        [np.sin(out[0]) * np.cos(out[1]), np.sin(out[0]) * np.sin(out[1]), np.cos(out[0])]
    )


@pytest.mark.parametrize(
    ("tilt", "spin", "precession", "nutation"),
    [
        (0.6, 120.0, 0.0, 0.0),
        (0.6, 120.0, 8.0, 0.0),
        (1.2, 60.0, -3.0, 2.0),
        (2.0, 20.0, 4.0, -3.0),
    ],
    ids=["cusps", "waves", "loops", "hanging"],
)
def test_a_top_moves_as_lagrange_says(
    tilt: float, spin: float, precession: float, nutation: float
) -> None:
    run = top(tilt, spin, precession, nutation).simulate(3.0, **TIGHT)
    known = lagrange(tilt, spin, precession, nutation, run.t)
    np.testing.assert_allclose(axis_of(run), known, rtol=0.0, atol=2e-9)
    assert np.ptp(known[:, 2]) > 1e-2
    along = run["top"].angular_velocity[:, 2]
    np.testing.assert_allclose(along, spin, rtol=1e-10)


def test_a_top_let_go_nutates_in_elliptic_functions() -> None:
    """cos theta = u: u'^2 = (2 h/A) (u - u1)(u - u2)(u - u3), so u = u1 + (u2 - u1) sn^2, from a
    cusp at u2."""
    tilt, spin = 0.7, 90.0
    run = top(tilt, spin).simulate(4.0, **TIGHT)
    a, b, u2 = C * spin / A, 2.0 * H / A, math.cos(tilt)
    # let go at rest: (u2 - u) [b (1 - u^2) - a^2 (u2 - u)] = u'^2
    u1, u3 = np.sort(np.roots([-b, a * a, b - a * a * u2]).real)
    p, m = 0.5 * math.sqrt(b * (u3 - u1)), (u2 - u1) / (u3 - u1)
    sn = ellipj(p * run.t + ellipk(m), m)[0]
    assert -1.0 < u1 < u2 < 1.0 < u3
    np.testing.assert_allclose(axis_of(run)[:, 2], u1 + (u2 - u1) * sn**2, rtol=0.0, atol=2e-9)
    assert run.t[-1] > 5.0 * 2.0 * ellipk(m) / p


@pytest.mark.parametrize("root", [0, 1], ids=["fast", "slow"])
def test_steady_precession_stays_steady(root: int) -> None:
    """Both roots of A cos(theta) p^2 - C n p + h = 0; the tilt stays, and the axis goes round as p
    t."""
    tilt, spin = math.radians(35.0), 110.0
    p = float(np.roots([A * math.cos(tilt), -C * spin, H])[root])
    assert (p > 15.0) == (root == 0)
    run = top(tilt, spin, p).simulate(5.0, **TIGHT)
    known = np.transpose(
        [
            math.sin(tilt) * np.cos(p * run.t),
            math.sin(tilt) * np.sin(p * run.t),
            np.full_like(run.t, math.cos(tilt)),
        ]
    )
    np.testing.assert_allclose(axis_of(run), known, rtol=0.0, atol=1e-8)
    assert p * run.t[-1] > 2.0 * math.pi


# --- the sleeping top -----------------------------------------------------------------------------
@pytest.mark.parametrize("share", [0.5, 0.9, 0.99, 1.01, 1.1, 2.0])
def test_a_sleeping_top_wakes_below_its_critical_spin(share: float) -> None:
    """A w'' - i C n w' - h w = 0 for the small w = x + i y of the axis: w = exp(i k t) with real k
    above, and a pair of which one grows below.  Tilted by a millionth, so that what is left out is
    a million million times smaller."""
    tilt, spin, span = 1e-6, share * CRITICAL, 1.5
    run = top(tilt, spin).simulate(span, **TIGHT | {"atol": 1e-16})
    k = np.roots([-A, C * spin, -H]).astype(complex)
    weights = np.linalg.solve([[1.0, 1.0], 1j * k], [tilt, 0.0])  # at rest but for the spin
    known = np.exp(1j * np.outer(run.t, k)) @ weights
    found = axis_of(run)[:, 0] + 1j * axis_of(run)[:, 1]
    size = abs(known).max()
    assert abs(found - known).max() < (1e-6 + 2.0 * size**2) * size
    assert (abs(k.imag) > 1e-9).any() == (share < 1.0)
    rate = math.sqrt(max(0.0, 4.0 * A * H - (C * spin) ** 2)) / (2.0 * A)
    np.testing.assert_allclose(np.sort(k.imag), (-rate, rate), atol=1e-9)


@pytest.mark.parametrize(("share", "asleep"), [(0.97, False), (1.03, True)])
def test_a_top_stays_upright_above_its_critical_spin_alone(share: float, asleep: bool) -> None:
    """Pushed by a thousandth and followed for long: it stays, or falls far, as the roots of u'^2
    bound it."""
    run = top(1e-3, share * CRITICAL).simulate(20.0, **TIGHT)
    lowest = float(np.arccos(axis_of(run)[:, 2].min()))
    assert (lowest < 0.02) == asleep
    assert (lowest > 0.2) == (not asleep)
    a, b, u2 = C * share * CRITICAL / A, 2.0 * H / A, math.cos(1e-3)
    u1 = float(np.sort(np.roots([-b, a * a, b - a * a * u2]).real)[0])
    assert lowest == pytest.approx(math.acos(u1), rel=2e-2)
