"""Between its rows a run is known to the accuracy of its steps, and safety says when it is first
violated."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.spatial import cKDTree

import quirkpy as qp
from quirkpy.explore.scope.peaks import peak
from quirkpy.explore.scope.safety import judge
from quirkpy.kernels.base.states import (
    attitudes_of,
    bodies_of,
    positions_of,
    spins_of,
    velocities_of,
)
from quirkpy.motion.interpolation import fastest
from tests.faults.sentence import check_refused
from tests.random_systems import FAMILIES, random_system, seeds

G = 9.81


@pytest.mark.parametrize("family", FAMILIES)
def test_curves_are_the_motion(family: str) -> None:
    """Random systems: places, turns and both velocities, at random times, against runs that end
    there."""
    run = random_system(family, 0).simulate(0.05, rtol=1e-9, atol=1e-11)
    times = np.sort(np.random.default_rng(0).uniform(run.t[0], run.t[-1], 5))
    length = float(abs(np.diff(run.t)).max())
    for t, found in zip(times, run.between.at(times), strict=True):
        truth = run.at(float(t))
        error = max(run.between.error, 1e-10)
        assert np.linalg.norm(positions_of(found) - truth.r, axis=1).max() <= 4.0 * error
        assert abs((attitudes_of(found) * truth.q).sum(axis=1)).min() == pytest.approx(
            1.0, abs=1e-9
        )
        assert (
            abs(velocities_of(found) - truth.v).max()
            <= 1e-5 * max(1.0, abs(truth.v).max()) + error / length
        )
        assert abs(spins_of(found) - truth.omega).max() <= 1e-4 * max(1.0, abs(truth.omega).max())


def swung(duration: float = 2.0, rtol: float = 1e-10) -> qp.Trajectory:
    """A pendulum of 1 m, a ball on a rod, let go level: omega^2 = 2 m g sin(angle) / (m + I)."""
    ball = qp.Body("ball", 1.0, (0.1, 0.1, 0.1), position=(1.0, 0.0, 0.0))
    hinge = qp.Revolute("hinge", qp.GROUND, ball, at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    return qp.Multibody(ball, hinge, qp.Gravity((0.0, 0.0, -G))).simulate(
        duration, rtol=rtol, atol=0.01 * rtol
    )


def speed(run: qp.Trajectory, t: float) -> float:
    return float(np.linalg.norm(run.at(t)["ball"].velocity))


@pytest.mark.parametrize("share", [0.3, 0.77, 0.9999])
@pytest.mark.parametrize("what", ["speed", "turning"])
def test_limits_are_passed_where_they_are(what: qp.explore.safety.Limited, share: float) -> None:
    """Also by a hair, at the lowest point, where no row of the run need lie."""
    run = swung()
    most = math.sqrt(2.0 * G / 1.1)
    assert qp.Limit(what, 1.0001 * most).first(run) is None
    found = qp.Limit(what, share * most).first(run)
    assert found is not None
    assert found.parts == ("ball",)
    assert speed(run, found.t) == pytest.approx(share * most, rel=1e-9)
    assert speed(run, found.t - 1e-3) < share * most


def test_loads_are_passed_where_they_are() -> None:
    """The rod pulls with m g sin + m omega^2 = (1 + 2 / 1.1) m g sin along, and m g cos (1 - 1 /
    1.1) across."""
    run, at = swung(), math.radians(40.0)
    load = G * math.hypot((1.0 + 2.0 / 1.1) * math.sin(at), math.cos(at) * (1.0 - 1.0 / 1.1))
    found = qp.Limit("load", load).first(run)
    assert found is not None
    assert found.parts == ("hinge",)
    state = run.at(found.t)["ball"].position
    assert math.asin(-state[2]) == pytest.approx(at, abs=1e-9)


def test_a_load_is_passed_by_a_hair_between_two_rows() -> None:
    """It is largest at the lowest point, m g + 2 m g / 1.1, where no row of the run need lie."""
    run, most = swung(), G * (1.0 + 2.0 / 1.1)
    lowest = next(
        t for t in np.linspace(0.0, 2.0, 20001) if run.at(float(t))["ball"].position[0] <= 0.0
    )
    stored = max(np.linalg.norm(run["hinge"].reaction[:, :3], axis=1))
    share = 0.5 * (1.0 + stored / most)
    assert stored < share * most
    assert qp.Limit("load", 1.00001 * most).first(run) is None
    found = qp.Limit("load", share * most).first(run)
    assert found is not None
    assert found.t == pytest.approx(lowest, abs=0.05)


@pytest.mark.parametrize("carried", [False, True])
def test_cones_are_entered_where_they_are(carried: bool) -> None:
    """A ball falls through a narrow cone about x, from a point on the ground or on a body at
    rest."""
    ball = qp.Body.sphere("ball", 0.1, 1.0, position=(2.0, 0.0, 1.0))
    host = qp.Body.sphere("host", 0.1, 1.0, fixed=not carried)
    site = host.site("eye", at=(0.5, 0.0, 0.0), z=(1.0, 0.0, 0.0), x=(0.0, 1.0, 0.0))
    field = qp.Thruster("falls", ball.site("middle"), (0.0, 0.0, -G))
    run = qp.Multibody(ball, host, field).simulate(1.0)
    cone = qp.KeepOut(site, half_angle=0.01, length=3.0)
    found = cone.first(run)
    assert found is not None
    assert found.parts == ("ball", "host")
    assert 1.0 - 0.5 * G * found.t**2 == pytest.approx(1.5 * math.tan(0.01), abs=1e-9)
    assert qp.KeepOut(site, half_angle=0.01, length=1.4).first(run) is None
    touched = qp.KeepOut(site, half_angle=0.01, length=3.0, of="balls").first(run)
    assert touched is not None
    high = 1.0 - 0.5 * G * touched.t**2  # of a centre that is a radius of 0.1 m beside the cone
    assert high * math.cos(0.01) - 1.5 * math.sin(0.01) == pytest.approx(0.1, abs=1e-9)
    assert qp.KeepOut(site, half_angle=0.01, length=1.41, of="balls").first(run) is not None
    assert qp.KeepOut(site, half_angle=0.01, length=1.39, of="balls").first(run) is None


def surface(half_angle: float, length: float, along: int = 200, around: int = 200) -> cKDTree:
    """Points all over the surface of a cone about z with its tip in the origin: its side, where it
    has one, its end."""
    turns = np.linspace(0.0, 2.0 * math.pi, around, endpoint=False)
    far = np.linspace(0.0, length, along) if half_angle < math.pi else np.zeros(0)
    angles = np.concatenate([np.full_like(far, half_angle), np.linspace(0.0, half_angle, along)])
    r = np.concatenate([far, np.full(along, length)])
    ring = np.stack([r * np.sin(angles), r * np.cos(angles)], axis=1)
    x, z = ring[:, :1], ring[:, 1:]
    return cKDTree(
        np.stack([x * np.cos(turns), x * np.sin(turns), z + 0.0 * turns], axis=2).reshape(-1, 3)
    )


@pytest.mark.parametrize("of", ["centres", "balls"])
@seeds(21, 5, attack=2000)
def test_cones_are_what_points_on_them_say(seed: int, of: qp.explore.safety.Extent) -> None:
    """Random flights past cones narrow and wide: entered no sooner and no later than points all
    over a cone tell, be it by its tip, its side, its end or the rim between these."""
    rng = np.random.default_rng(seed)
    degrees = (179, 1, 180, 120, 90, *range(10, 180, 11), rng.uniform(1.0, 180.0))[min(seed, 21)]
    half, length = math.radians(degrees), 0.3
    points, fine, entered = surface(half, length), 6e-3, 0
    for _ in range(20):
        q, p, v = rng.normal(size=4), rng.normal(size=3), rng.normal(size=3)
        p *= rng.uniform(0.1, 0.8) / np.linalg.norm(p)
        turn = qp.Quaternion(*(q / np.linalg.norm(q)))
        radius = float(rng.uniform(0.02, 0.2))
        ball = qp.Body.sphere("ball", radius, 1.0, position=p, velocity=0.15 * v - p)
        host = qp.Body("host", 1.0, (1.0, 1.0, 1.0), orientation=turn, fixed=True)
        z = rng.normal(size=3)
        eye = host.site("eye", at=rng.uniform(-0.1, 0.1, 3), z=z / np.linalg.norm(z))
        run = qp.Multibody(ball, host).simulate(2.0)
        found = qp.KeepOut(eye, half, length, of=of).first(run)
        t = np.linspace(
            0.0, 2.0 if found is None else found.t, 600 if found is None or found.t > 0.0 else 1
        )
        at, axes = eye.written_pose()
        seen = (p + t[:, None] * ball.velocity - at) @ axes
        inside = (np.arccos(seen[:, 2] / np.linalg.norm(seen, axis=1)) < half) & (
            np.linalg.norm(seen, axis=1) < length
        )
        margins = np.where(inside, -1.0, 1.0) * points.query(seen)[0] - (
            radius if of == "balls" else 0.0
        )
        assert (margins[: len(t) - (found is not None)] > -fine).all()
        assert found is None or found.t == 0.0 or abs(margins[-1]) < fine
        assert found is None or found.t > 0.0 or margins[-1] < fine
        entered += found is not None
    assert entered >= 3 or degrees < 90


def test_a_cone_is_no_wider_than_a_ball() -> None:
    site = qp.Body("host", fixed=True).site("eye")
    check_refused(lambda: qp.KeepOut(site, 3.2), "KeepOut", ("half_angle is 3.2", "pi"))


@pytest.mark.parametrize(("of", "reach"), [("centres", 0.0), ("balls", 0.1)])
def test_what_stands_still_comes_into_sight(of: qp.explore.safety.Extent, reach: float) -> None:
    """A camera turns at 1 rad/s from x to y, where a fixed ball stands a metre away."""
    post = qp.Body.sphere("post", 0.1, 1.0, position=(0.0, 1.0, 0.0), fixed=True)
    host = qp.Body.sphere("host", 0.1, 1.0, angular_velocity=(0.0, 0.0, 1.0))
    site = host.site("eye", z=(1.0, 0.0, 0.0), x=(0.0, 1.0, 0.0))
    run = qp.Multibody(post, host).simulate(2.0)
    found = qp.KeepOut(site, half_angle=0.3, length=2.0, of=of).first(run)
    assert found is not None
    assert found.parts == ("post", "host")
    assert found.t == pytest.approx(0.5 * math.pi - 0.3 - math.asin(reach), abs=1e-9)


@pytest.mark.parametrize("rtol", [1e-6, 1e-8, 1e-10, 1e-12])
def test_peaks_are_those_of_the_motion(rtol: float) -> None:
    """Speed, turning and load are largest at the lowest point, whichever rows the integrator makes
    next to it."""
    run, most = swung(rtol=rtol), math.sqrt(2.0 * G / 1.1)
    assert max(np.linalg.norm(run["ball"].velocity, axis=1)) < most * (1.0 - 1e-6)
    assert peak(run, "speed") == pytest.approx(most, rel=10.0 * rtol)
    assert peak(run, "turning") == pytest.approx(most, rel=10.0 * rtol)
    assert peak(run, "load") == pytest.approx(G * (1.0 + 2.0 / 1.1), rel=10.0 * rtol)


@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_is_faster_than_accelerations_let_it_be(family: str) -> None:
    """Random systems: a bound above the peaks, made of states and their accelerations, twice, over
    whole steps."""
    run = random_system(family, 1).simulate(0.05, rtol=1e-9, atol=1e-11)
    peaks = np.array([peak(run, "speed"), peak(run, "turning")])
    assert (fastest(run.course, run.system.clusters) >= peaks * (1.0 - 1e-12)).all()
    h, rows = np.diff(run.t)[:, None], bodies_of(run.course.states)
    bends = np.array([run.system.acceleration(state) for state in run.states])
    for most, rate, gain in zip(
        fastest(run.course, run.system.clusters),
        (velocities_of(rows), spins_of(rows)),
        np.split(bends, 2, 2),
        strict=True,
    ):
        v, a = np.linalg.norm(rate, axis=2), np.linalg.norm(gain, axis=2)
        within = np.maximum(v[1:], v[:-1]) + 2.0 * h * np.maximum(a[1:], a[:-1])
        assert most == pytest.approx(max(v.max(), within.max()), rel=1e-9)


@pytest.mark.parametrize("restitution", [0.0, 0.6])
def test_a_peak_may_lie_just_before_an_impact(restitution: float) -> None:
    """A ball falls by 0.3 m onto a stop: no row has the speed with which it arrives."""
    ball = qp.Body.sphere("ball", 0.05, 1.0)
    rail = qp.Prismatic("rail", qp.GROUND, ball, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    stop = qp.JointStop("stop", rail, lower=-0.3, restitution=restitution)
    run = qp.Multibody(ball, rail, stop, qp.Gravity((0.0, 0.0, -G))).simulate(0.4)
    assert max(abs(run["ball"].velocity[:, 2])) < 0.9 * math.sqrt(0.6 * G)
    assert peak(run, "speed") == pytest.approx(math.sqrt(0.6 * G), rel=1e-9)


@seeds(12, 12, attack=1000)
def test_a_peak_may_lie_just_before_a_motion_ends(seed: int) -> None:
    """A ball on a spring is fastest a quarter of a period after it is let go, and stopped at some
    moment after that: between the last two rows, next to the last but one, or anywhere."""
    rng = np.random.default_rng(seed)
    ball = qp.Body.sphere("ball", 0.05, 1.0, position=(1.0, 0.0, 0.0))
    well = qp.PotentialWell("well", ball, centre=(0.0, 0.0, 0.0), stiffness=1.0)
    rtol = float(rng.choice([1e-8, 1e-10, 1e-12]))
    for later in 10.0 ** rng.uniform(-3.0, 0.0, 8):
        past = qp.When("past", lambda state, at=0.5 * math.pi + later: at - state.t)
        run = qp.Multibody(ball, well).simulate(5.0, rtol=rtol, atol=0.01 * rtol, stop=[past])
        assert run.t[-1] == pytest.approx(0.5 * math.pi + later)
        assert peak(run, "speed") == pytest.approx(1.0, abs=1e3 * rtol)


@seeds(12, 12, attack=1000)
def test_a_peak_may_lie_just_after_an_impact(seed: int) -> None:
    """A ball on a spring is thrown at a stop, thrown back without loss, and fastest where the
    spring is slack."""
    rng = np.random.default_rng(seed)
    far, speed, rtol = (
        10.0 ** rng.uniform(-2.0, 0.0),
        float(rng.uniform(0.5, 3.0)),
        float(rng.choice([1e-8, 1e-12])),
    )
    begun = float(rng.uniform(0.0, 0.9)) * far
    ball = qp.Body.sphere(
        "ball", 0.05, 1.0, position=(begun, 0.0, 0.0), velocity=(-speed, 0.0, 0.0)
    )
    rail = qp.Prismatic("rail", qp.GROUND, ball, at=(begun, 0.0, 0.0), axis=(1.0, 0.0, 0.0))
    stop = qp.JointStop("stop", rail, lower=-begun, restitution=1.0)
    well = qp.PotentialWell("well", ball, centre=(far, 0.0, 0.0), stiffness=1.0)
    past = qp.When("past", lambda state: 1.5 * far - state["ball"].position[0])
    run = qp.Multibody(ball, rail, stop, well).simulate(
        10.0, rtol=rtol, atol=0.01 * rtol, stop=[past]
    )
    most = math.hypot(speed, far - begun)
    assert peak(run, "speed") == pytest.approx(most, rel=1e3 * rtol)


@seeds(12, 12, attack=1000)
def test_no_limit_is_passed_by_what_curves_make_of_an_impact(seed: int) -> None:
    """A ball falls onto a stop: a limit next to the speed of its arrival tells whether and when it
    was passed."""
    rng = np.random.default_rng(seed)
    height, restitution = float(rng.uniform(0.05, 1.0)), float(rng.choice([0.0, 0.3, 0.9]))
    rtol, most = float(rng.choice([1e-6, 1e-8, 1e-12])), math.sqrt(2.0 * G * height)
    ball = qp.Body.sphere("ball", 0.05, 1.0)
    rail = qp.Prismatic("rail", qp.GROUND, ball, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    stop = qp.JointStop("stop", rail, lower=-height, restitution=restitution)
    falls = qp.Multibody(ball, rail, stop, qp.Gravity((0.0, 0.0, -G)))
    run = falls.simulate(1.3 * most / G, rtol=rtol, atol=0.01 * rtol)
    assert qp.Limit("speed", most * 1.001).first(run) is None
    passed = qp.Limit("speed", most * 0.999).first(run)
    assert passed is not None
    assert passed.t == pytest.approx(0.999 * most / G, rel=1e-6)


@pytest.mark.parametrize("rtol", [1e-6, 1e-9, 1e-12])
def test_a_least_clearance_is_that_of_the_motion(rtol: float) -> None:
    """A ball on a parabola passes another, a box that turns passes a third: known to rounding, not
    to the curves."""
    post = qp.Body.sphere("post", 0.1, 1.0, position=(0.3, 0.5, 0.0), fixed=True)
    ball = qp.Body.sphere("ball", 0.1, 1.0, position=(-0.5, 0.0, 0.0), velocity=(1.0, 0.1, 0.0))
    push = qp.Thruster("pushes", ball.site("middle"), (0.0, 0.2, 0.0))
    run = qp.Multibody(post, ball, push).simulate(1.5, rtol=rtol, atol=0.01 * rtol)
    far = minimize_scalar(
        lambda t: math.hypot(t - 0.8, 0.1 * t + 0.1 * t**2 - 0.5),
        bounds=(0.0, 1.5),
        options={"xatol": 1e-12},
    ).fun
    assert judge([qp.NoCollision()], run).clearance == pytest.approx(far - 0.2, abs=1e-10)
    spun = qp.Body.box("spun", (0.2, 0.2, 0.2), 1.0, angular_velocity=(0.0, 0.0, 2.0))
    wall = qp.Body.box("wall", (0.2, 1.0, 1.0), 1.0, position=(0.3, 0.0, 0.0), fixed=True)
    run = qp.Multibody(spun, wall).simulate(2.0, rtol=rtol, atol=0.01 * rtol)
    assert judge([qp.NoCollision()], run).clearance == pytest.approx(
        0.2 - 0.1 * math.sqrt(2.0), abs=1e-10
    )


def test_pieces_part_where_they_do() -> None:
    ball, rock = (
        qp.Body.sphere(name, 0.1, 1.0, position=(x, 0.0, 0.0))
        for name, x in (("ball", 0.0), ("rock", 1.0))
    )
    run = qp.Multibody(
        ball, rock, qp.Thruster("pushes", rock.site("middle"), (2.0, 0.0, 0.0))
    ).simulate(1.0)
    found = qp.StayTogether(apart=0.3).first(run)
    assert found is not None
    assert found.t == pytest.approx(math.sqrt(0.3), abs=1e-9)
    assert qp.StayTogether(apart=1.1).first(run) is None
    assert found.parts == ("ball", "rock")  # either is as loose as the other
    assert qp.StayTogether().first(run) == qp.Violation("comes apart", 0.0, ("rock",))
