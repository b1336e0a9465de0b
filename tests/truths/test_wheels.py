"""Spin: symmetric bodies precess, wheels store momentum and hand it over."""

from __future__ import annotations

import math

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.maths.types import Floats
from tests.motion import TIGHT


def total(run: qp.Trajectory, wheel: qp.ReactionWheel) -> Floats:
    """Angular momentum of body and wheel in N (k, 3)."""
    name = wheel.site.body.name
    stored = [wheel.momentum_at(t) for t in run.t]
    turned = [
        qp.Body("b", fixed=True, orientation=q).matrix @ h
        for q, h in zip(run[name].orientation, stored)
    ]
    return run.angular_momentum + np.array(turned)


def test_torque_free_symmetric_body_precesses() -> None:
    """In its own axes the angular velocity goes round at (Ix - Iz)/Ix wz; in N the axis goes round
    L at L/Ix."""
    body = qp.Body("top", mass=1.0, inertia=(0.3, 0.3, 0.5), angular_velocity=(0.4, 0.0, 2.0))
    run = qp.Multibody(body).simulate(10.0, **TIGHT)
    rate = (0.5 - 0.3) / 0.3 * 2.0
    known = np.transpose(
        [0.4 * np.cos(rate * run.t), 0.4 * np.sin(rate * run.t), np.full_like(run.t, 2.0)]
    )
    np.testing.assert_allclose(run["top"].angular_velocity, known, rtol=0.0, atol=1e-9)
    momentum = np.array([0.3 * 0.4, 0.0, 0.5 * 2.0])
    size = float(np.linalg.norm(momentum))
    final = run.final["top"].orientation
    axis = qp.Body("b", fixed=True, orientation=final).matrix[:, 2]
    about = qp.Body("b", fixed=True, orientation=qp.rotation(momentum, size / 0.3 * 10.0)).matrix
    np.testing.assert_allclose(axis, about @ (0, 0, 1), rtol=0.0, atol=1e-9)


def test_wheel_takes_the_momentum_of_its_body() -> None:
    """A body that spins about the axis of a wheel stops when the wheel has all of it; the motor did
    its work.  On the way its rate is (1.5 - h)/3."""
    body = qp.Body("bus", mass=10.0, inertia=(1.0, 2.0, 3.0), angular_velocity=(0.0, 0.0, 0.5))
    ramp = qp.Schedule((1.0, 4.0), ((0, 0, 0), (0, 0, 1.5)), "linear")
    wheel = qp.ReactionWheel("wheel", body.site("hub"), ramp)
    run = qp.Multibody(body, wheel).simulate(5.0, **TIGHT)
    stored = 1.5 * np.clip((run.t - 1.0) / 3.0, 0.0, 1.0)
    np.testing.assert_allclose(
        run["bus"].angular_velocity[:, 2], (1.5 - stored) / 3.0, rtol=0.0, atol=1e-9
    )
    np.testing.assert_allclose(run.final.omega, 0.0, atol=1e-9)
    assert run.work[-1] == pytest.approx(-0.5 * 3.0 * 0.25, rel=1e-8)
    np.testing.assert_allclose(total(run, wheel), np.tile((0, 0, 1.5), (len(run.t), 1)), atol=1e-9)


def test_momentum_is_exchanged_about_all_axes() -> None:
    body = qp.Body("bus", mass=10.0, inertia=(1.0, 2.0, 2.5), angular_velocity=(0.2, -0.1, 0.3))
    ramp = qp.Schedule((0.0, 2.0, 3.0), ((0.1, 0, 0), (0.3, -0.4, 0.6), (0.2, 0.2, 0.2)), "linear")
    wheel = qp.ReactionWheel(
        "wheels", body.site("deck", at=(0.1, 0.2, 0.3), z=(1, 1, 0), x=(0, 0, 1)), ramp
    )
    run = qp.Multibody(body, wheel).simulate(4.0, **TIGHT)
    stored = total(run, wheel)
    np.testing.assert_allclose(stored, np.tile(stored[0], (len(run.t), 1)), rtol=0.0, atol=1e-8)
    assert np.ptp(run.angular_momentum, axis=0).max() > 0.1
    np.testing.assert_allclose(run.kinetic - run.kinetic[0], run.work, rtol=0.0, atol=1e-9)


def test_momentum_bias_makes_a_satellite_nutate() -> None:
    """A ball with a wheel along z: small spins across go round at h/I."""
    ball = qp.Body("ball", mass=1.0, inertia=(0.2, 0.2, 0.2), angular_velocity=(0.01, 0.0, 0.0))
    run = qp.Multibody(ball, qp.ReactionWheel("wheel", ball.site("s"), 0.7)).simulate(3.0, **TIGHT)
    phase = 0.7 / 0.2 * run.t
    np.testing.assert_allclose(
        run["ball"].angular_velocity,
        0.01 * np.transpose([np.cos(phase), np.sin(phase), 0 * phase]),
        atol=1e-11,
    )
    assert np.ptp(run.energy) < 1e-14
    assert run.work[-1] == 0.0


def test_thruster_pushes_along_its_site_and_turns_with_the_body() -> None:
    """A constant thrust through the mass centre of a body that spins: the velocity goes round at
    the spin's rate."""
    body = qp.Body("bus", mass=2.0, inertia=(1.0, 1.0, 1.0), angular_velocity=(0.0, 0.0, 1.5))
    jet = qp.Thruster("jet", body.site("nozzle", z=(1, 0, 0)), 3.0)
    run = qp.Multibody(body, jet).simulate(2.0, **TIGHT)
    known = 3.0 / 2.0 / 1.5 * np.array([math.sin(3.0), 1.0 - math.cos(3.0), 0.0])
    np.testing.assert_allclose(run.final.v[0], known, rtol=0.0, atol=1e-10)
    assert run.work[-1] == pytest.approx(known @ known, rel=1e-9)


def test_thruster_by_schedule_gives_its_impulse() -> None:
    """In the axes of the site, at a lever: impulse and angular impulse of a puff of 0.5 s."""
    body = qp.Body("bus", mass=2.0, inertia=(3.0, 3.0, 4.0))
    puff = qp.Schedule((0.0, 0.2, 0.7), ((0, 0, 0), (0, 0, 1.0), (0, 0, 0)))
    jet = qp.Thruster("jet", body.site("nozzle", at=(0.0, -0.3, 0.0), z=(1, 0, 0)), puff)
    final = qp.Multibody(body, jet).simulate(1.0, **TIGHT).final
    assert final.omega[0, 2] == pytest.approx(0.5 * 0.3 / 4.0, rel=1e-7)


@pytest.mark.parametrize("seed", range(24))
def test_verdicts_of_what_spins_with_a_wheel(seed: int) -> None:
    """About a principal axis, with momentum stored along it: I w' = -w x (I w + h), linearised by
    hand."""
    rng, inertia = np.random.default_rng(seed), np.array([1.0, 2.0, 3.0])
    axis = np.eye(3)[seed % 3]
    spin, stored = 0.7 * axis, float(rng.uniform(-3.0, 3.0)) * axis
    body = qp.Body("body", mass=1.0, inertia=inertia, angular_velocity=spin)
    wheel = qp.ReactionWheel("wheel", body.site("wheel"), momentum=tuple(stored))
    found = qp.Multibody(body, wheel).settle(nudge=0.0)

    def rate(w: Floats) -> Floats:
        return np.asarray(-np.cross(w, inertia * w + stored) / inertia)

    slopes = np.array([(rate(spin + d) - rate(spin - d)) / 2e-6 for d in 1e-6 * np.eye(3)]).T
    growth = float(np.linalg.eigvals(slopes).real.max())
    assert max((mode.eigenvalue.real for mode in found.unstable), default=0.0) == pytest.approx(
        growth, abs=1e-6
    )
    assert (found.verdict == "unstable") == (growth > 1e-6)


def test_a_wheel_does_not_turn_with_the_frame_of_an_orbit() -> None:
    body = qp.Body("body", mass=1.0, inertia=(1.0, 2.0, 3.0))
    wheel = qp.ReactionWheel("wheel", body.site("wheel"), momentum=0.01)
    with pytest.raises(
        qp.PartError, match="'wheel': its momentum would have to turn with HillFrame 'hill frame'"
    ):
        qp.Multibody(body, qp.HillFrame(1e-3), wheel)
    still = qp.ReactionWheel("wheel", body.site("wheel"), momentum=0.0)
    assert qp.Multibody(body, qp.HillFrame(1e-3), still).bodies == ("body",)
