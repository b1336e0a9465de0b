"""Motion in orbit: Hill's frame and a planet's pull, against closed forms and against each
other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.maths.types import Floats
from tests.motion import TIGHT

#: Earth, 500 km up.
MU, RADIUS = 3.986004418e14, 6.878137e6
ORBIT = qp.Orbit.circular(MU, RADIUS)
N = ORBIT.rate
PERIOD = 2.0 * math.pi / N
#: About x (up), y (along the track), z (normal): the long axis points up, the shortest lies normal.
MOMENTS = (0.9, 2.0, 2.3)


def satellite(**changes: Any) -> qp.Body:
    return qp.Body(**{"name": "satellite", "mass": 4.0, "inertia": MOMENTS} | changes)


def test_rate_of_the_orbit() -> None:
    assert pytest.approx(1.10678e-3, rel=1e-5) == N


# --- translation ----------------------------------------------------------------------------------
def test_clohessy_and_wiltshires_solution() -> None:
    """x = 4 x0 + 2 v0/n + (u0/n) sin - (3 x0 + 2 v0/n) cos, and so on; a ball has no attitude to
    disturb it."""
    (x, y, z), (u, v, w) = (30.0, -50.0, 20.0), (0.02, -0.05, 0.03)
    ball = qp.Body.sphere("ball", 0.1, 2.0, position=(x, y, z), velocity=(u, v, w))
    run = qp.Multibody(ball, qp.HillFrame(N)).simulate(1.7 * PERIOD, **TIGHT)
    t = run.t
    s, c = np.sin(N * t), np.cos(N * t)
    known = np.transpose([
        4 * x + 2 * v / N + u / N * s - (3 * x + 2 * v / N) * c,
        y - 2 * u / N + 2 * u / N * c + (6 * x + 4 * v / N) * s - (6 * N * x + 3 * v) * t,
        z * c + w / N * s,
    ])  # fmt: skip
    np.testing.assert_allclose(run["ball"].position, known, rtol=0.0, atol=1e-8)


def test_integral_of_jacobi_over_ten_orbits() -> None:
    body = satellite(
        position=(3.0, -10.0, 2.0),
        velocity=(1e-3, 2e-3, -1e-3),
        angular_velocity=(4e-4, 3e-4, -5e-4),
    )
    run = qp.Multibody(body, qp.HillFrame(N)).simulate(10.0 * PERIOD, **TIGHT)
    assert np.ptp(run.energy) < 1e-10 * (run.kinetic + abs(run.potential)).max()
    assert np.ptp(run.kinetic) > 0.1 * run.kinetic.max()


def test_hill_frame_and_moving_origin_agree() -> None:
    """Seen from the turning frame, to first order in distance over radius, 1.6e-5 at 110 m."""
    r, v, w = (
        np.array([5.0, -4.0, 3.0]),
        np.array([2e-3, 1e-3, -1e-3]),
        np.array([2e-4, -3e-4, 1e-4]),
    )
    turned = qp.rotation((1, 2, 3), 0.6)
    axes = satellite(orientation=turned).matrix
    normal = np.array([0.0, 0.0, N])
    in_hill = satellite(position=r, velocity=v, angular_velocity=w, orientation=turned)
    in_space = satellite(
        position=r,
        velocity=v + np.cross(normal, r),
        angular_velocity=w + axes.T @ normal,
        orientation=turned,
    )
    hill = qp.Multibody(in_hill, qp.HillFrame(N)).simulate(0.5 * PERIOD, **TIGHT).final["satellite"]
    run = qp.Multibody(in_space, qp.GravityGradient(ORBIT)).simulate(0.5 * PERIOD, **TIGHT)
    space = run.final["satellite"]
    back = qp.rotation((0, 0, 1), -math.pi)
    np.testing.assert_allclose(space.position * (-1, -1, 1), hill.position, rtol=0.0, atol=2e-3)
    q = back * space.orientation
    assert abs(abs(q.w * hill.orientation.w + np.dot(q.vec, hill.orientation.vec)) - 1.0) < 1e-10
    assert run.kinetic[-1] - run.kinetic[0] == pytest.approx(run.work[-1], rel=1e-9)


@pytest.mark.parametrize(
    "velocity", [(0.0, 1.0, 0.0), (0.3, 1.1, -0.2), (-0.5, 0.6, 0.4), (0.0, 0.3, 0.0)]
)
def test_moving_origin_is_a_planet_at_rest_seen_from_an_ellipse(velocity: Any) -> None:
    """mu = 1, at distances where nothing is small: the same motion in both frames, force and torque
    included."""
    orbit = qp.Orbit(1.0, (1.0, 0.2, -0.1), velocity)
    close = TIGHT | {
        "rtol": 1e-13,
        "atol": 1e-13,
    }  # the last one falls close by the planet: errors grow hundredfold
    inertia, spin = (2e-3, 3e-3, 4e-3), (0.4, -0.2, 0.3)
    near = qp.Body(
        "body",
        0.7,
        inertia,
        position=(0.1, 0.2, 0.1),
        velocity=(0.0, 0.1, 0.1),
        angular_velocity=spin,
    )
    there = qp.Body(
        "body", 0.7, inertia, position=near.position + np.array(orbit.position),
        velocity=near.velocity + np.array(orbit.velocity), angular_velocity=spin,
    )  # fmt: skip
    moving = qp.Multibody(near, qp.GravityGradient(orbit)).simulate(3.0, **close).final
    run = qp.Multibody(there, qp.PointGravity(1.0)).simulate(3.0, **close)
    place, speed = orbit.at(3.0)
    np.testing.assert_allclose(moving.r[0] + place, run.final.r[0], rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(moving.v[0] + speed, run.final.v[0], rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(moving.omega, run.final.omega, rtol=0.0, atol=1e-9)
    assert np.ptp(run.energy) < 1e-11


def test_a_planet_far_away_pulls_without_loss_of_digits() -> None:
    """Two points 0.1 m apart at 7e6 m differ by 3 n2 d: 3.7e-7 m/s2, which doubles in a planet's
    frame do not hold."""
    points = [
        qp.Body.sphere(name, 1e-6, 1.0, position=(x, 0, 0))
        for name, x in (("low", -0.05), ("high", 0.05))
    ]
    found = qp.Multibody(*points, qp.GravityGradient(ORBIT)).acceleration()[:, 0]
    assert found[1] - found[0] == pytest.approx(2 * N**2 * 0.1, rel=1e-12)
    hill = qp.Multibody(*points, qp.HillFrame(N)).acceleration()[:, 0]
    assert hill[1] - hill[0] == pytest.approx(3.675e-7, rel=1e-3)


def test_joint_between_two_cubes_in_orbit_carries_the_difference() -> None:
    """Half of 3 n2 d m: 1.8e-7 N between two cubes of 1 kg, 0.1 m apart along the radius."""
    low, high = (
        qp.Body.box(f"cube {x}", (0.1,) * 3, 1.0, position=(x, 0, 0)) for x in (-0.05, 0.05)
    )
    lock = qp.Fixed("lock", low, high)
    pull = qp.Multibody(low, high, lock, qp.HillFrame(N)).reactions()["lock"].force
    np.testing.assert_allclose(pull, (-1.5 * N**2 * 0.1, 0, 0), rtol=1e-9, atol=1e-18)
    assert -pull[0] == pytest.approx(1.8e-7, rel=0.03)


# --- attitude -------------------------------------------------------------------------------------
def known_rates() -> Floats:
    """Libration about x, y and z: pitch n sqrt(3 (Iy - Ix)/Iz); roll and yaw from
    s^4 + (1 + 3 k1 + k1 k3) n2 s^2 + 4 k1 k3 n4 = 0, k1 = (Iz - Ix)/Iy, k3 = (Iz - Iy)/Ix."""
    x, y, z = MOMENTS
    k1, k3 = (z - x) / y, (z - y) / x
    coupled = np.sqrt(-np.roots([1.0, 1.0 + 3.0 * k1 + k1 * k3, 4.0 * k1 * k3]))
    return np.sort([*coupled, math.sqrt(3.0 * (y - x) / z)]) * N


def librations(field: str = "hill") -> tuple[Floats, Floats]:
    """Rates [rad/s] and shapes (small turn, angular velocity) of small librations, seen from the
    Hill frame."""
    turning = np.array([0.0, 0.0, N]) if field == "gradient" else np.zeros(3)
    force = qp.GravityGradient(ORBIT) if field == "gradient" else qp.HillFrame(N)
    system, motion = qp.Multibody(satellite(), force), np.zeros((6, 6))
    motion[:3, 3:] = np.eye(3)

    def bend(orientation: Any, rate: Floats) -> Floats:
        """Derivative of the angular velocity relative to the Hill frame."""
        carried = (
            qp.quat.matrix(orientation).T @ turning
        )  # in body axes, where it turns back with the body
        changed = dict(orientation=orientation, angular_velocity=rate + carried)
        alpha = system.acceleration(system.initial.replace({"satellite": changed}))[0, 3:]
        return np.asarray(alpha + np.cross(rate, carried))

    for k in range(3):
        turned = [bend(qp.rotation(np.eye(3)[k], a), np.zeros(3)) for a in (-1e-4, 1e-4)]
        motion[3:, k] = (turned[1] - turned[0]) / 2e-4
        spun = [bend(qp.rotation((0, 0, 1), 0.0), a * np.eye(3)[k]) for a in (-1e-6, 1e-6)]
        motion[3:, 3 + k] = (spun[1] - spun[0]) / 2e-6
    values, shapes = np.linalg.eig(motion)
    order = np.argsort(values.imag)[3:]
    return values.imag[order], shapes[:, order]


@pytest.mark.parametrize("field", ["hill", "gradient"])
def test_libration_rates_about_all_three_axes(field: str) -> None:
    np.testing.assert_allclose(librations(field)[0], known_rates(), rtol=1e-7)


@pytest.mark.parametrize("mode", range(3))
@pytest.mark.parametrize("field", ["hill", "gradient"])
def test_librations_come_back_after_their_period(field: str, mode: int) -> None:
    """Set off in the shape of a mode, a satellite is back after one period, seen from the turning
    frame."""
    shape = librations()[1][:, mode]
    turn, rate = (1e-5 * part / abs(shape[:3]).max() for part in (shape.real[:3], shape.real[3:]))
    period, size = 2.0 * math.pi / known_rates()[mode], float(np.linalg.norm(turn))
    orientation = qp.rotation(turn, size)
    body = satellite(orientation=orientation, angular_velocity=rate)
    force: qp.Force = qp.HillFrame(N)
    if field == "gradient":
        body = satellite(orientation=orientation, angular_velocity=rate + body.matrix.T @ (0, 0, N))
        force = qp.GravityGradient(ORBIT)
    final = qp.Multibody(body, force).simulate(period, **TIGHT).final["satellite"]
    back = qp.rotation((0, 0, 1), -N * period if field == "gradient" else 0.0) * final.orientation
    np.testing.assert_allclose(2.0 * back.vec * np.sign(back.w), turn, rtol=0.0, atol=3e-10)


# --- a planet at rest -----------------------------------------------------------------------------
def test_keplers_ellipse() -> None:
    """A small ball about a planet keeps energy and angular momentum and comes back after 2 pi
    sqrt(a^3/mu)."""
    ball = qp.Body.sphere("ball", 1e-4, 1.0, position=(1.2, 0.0, 0.3), velocity=(0.1, 0.9, 0.2))
    orbit = qp.Orbit(1.0, ball.position, ball.velocity)
    run = qp.Multibody(ball, qp.PointGravity(1.0)).simulate(2.0 * math.pi / orbit.rate, **TIGHT)
    np.testing.assert_allclose(run.final.r[0], ball.position, rtol=0.0, atol=1e-7)
    np.testing.assert_allclose(orbit.at(1.0)[0], run.at(1.0).r[0], rtol=0.0, atol=1e-7)


def test_gradient_of_a_planet_is_that_of_a_dumbbell() -> None:
    """Force, torque and energy of two points, to second order in their distance: the next order is
    the fourth."""
    half, axes = 1e-3, qp.rotation((1, 2, 3), 0.7)
    moment = 2.0 * half**2
    rod = qp.Body(
        "rod", 2.0, (1e-3 * moment, moment, moment), orientation=axes, position=(1.0, 0.5, -0.7)
    )
    loads = qp.Multibody(rod, qp.PointGravity(3.0)).initial.instant().loads
    force, torque, energy = np.zeros(3), np.zeros(3), 0.0
    for sign in (-1.0, 1.0):
        arm = sign * half * rod.matrix[:, 0]
        at = rod.position + arm
        pull = -3.0 * at / np.linalg.norm(at) ** 3
        force, torque, energy = (
            force + pull,
            torque + np.cross(arm, pull),
            energy - 3.0 / np.linalg.norm(at),
        )
    np.testing.assert_allclose(loads.wrench[0, :3], force, rtol=1e-8)
    np.testing.assert_allclose(
        loads.wrench[0, 3:], torque, rtol=2e-3
    )  # the rod is thin, not infinitely so
    assert loads.potential[0] == pytest.approx(energy, rel=1e-9)
