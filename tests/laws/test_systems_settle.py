"""What settles, what never does, and that either is recognised with bounded effort and the same
bits each time."""

from __future__ import annotations

import cmath
import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.spatial.transform import Rotation

import quirkpy as qp
from quirkpy.kernels.base.states import state_rows
from quirkpy.maths.types import Floats
from quirkpy.mechanics.momenta import angular_momentum
from quirkpy.rest.settle import nudge_along
from quirkpy.rest.vicinity import Vicinity
from tests.assemblies import assembly
from tests.motion import apart
from tests.random_systems import seeds


def slider(*forces: Any, speed: float = 0.0, at: float = 0.3) -> qp.Multibody:
    """One kilogram on a rail along x, on a spring of 4 N/m."""
    body = qp.Body.sphere("mass", 0.05, 1.0, position=(at, 0, 0), velocity=(speed, 0, 0))
    rail = qp.Prismatic("rail", qp.GROUND.site("o", z=(1, 0, 0)), body.site("c", z=(1, 0, 0)))
    return qp.Multibody(
        body,
        rail,
        qp.JointSpring("spring", rail, stiffness=4.0),
        *(make(rail, body) for make in forces),
    )


def drag(ratio: float) -> Any:
    return lambda rail, body: qp.JointDamper("drag", rail, damping=2.0 * ratio * 2.0)


@pytest.mark.parametrize("ratio", [0.5, 0.02, 0.002])
def test_lightly_damped_systems_settle_when_a_thousandth_of_their_motion_is_left(
    ratio: float,
) -> None:
    """exp(-ratio w t) = 1/1000, at about one swing's accuracy."""
    found = slider(drag(ratio)).settle()
    assert (found.verdict, found.damped) == ("stable", True)
    assert found.state["rail"].travel == pytest.approx(0.0, abs=1e-13)
    assert found.modes[0].damping == pytest.approx(ratio, rel=1e-8)
    assert found.state.t == pytest.approx(math.log(1000.0) / (2.0 * ratio), rel=0.1, abs=2.0)


def swings(ratio: float, at: float = 0.3) -> tuple[Any, Any]:
    """Place and speed of the slider, from rest, as functions of time: w = 2 rad/s."""
    decay, w = 2.0 * ratio, cmath.sqrt(ratio**2 - 1.0) * 2.0

    def place(t: float) -> float:
        return float(
            (at * cmath.exp(-decay * t) * (cmath.cosh(w * t) + decay / w * cmath.sinh(w * t))).real
        )

    def speed(t: float) -> float:
        return float((-4.0 * at / w * cmath.exp(-decay * t) * cmath.sinh(w * t)).real)

    return place, speed


@pytest.mark.parametrize("rest", [1e-2, 1e-3, 1e-5])
@pytest.mark.parametrize("ratio", [2.0, 0.5, 0.05, 0.002])
def test_rest_begins_when_a_share_of_the_fastest_motion_is_left(ratio: float, rest: float) -> None:
    """The moment is that of the closed form, whatever rows the integrator makes on the way."""
    place, speed = swings(ratio)
    fastest = -minimize_scalar(
        lambda t: -(speed(t) ** 2), bounds=(0.0, 2.0), options={"xatol": 1e-12}
    ).fun
    level = 0.5 * rest**2 * fastest

    def left(t: float) -> float:
        return math.log((0.5 * speed(t) ** 2 + 2.0 * place(t) ** 2) / level)

    slow = 2.0 * (ratio - math.sqrt(max(0.0, ratio**2 - 1.0)))
    ends = brentq(left, 0.0, 3.0 + 2.0 * math.log(1.0 / rest) / slow, xtol=1e-13, rtol=1e-14)
    for rtol in (1e-8, 1e-11):
        found = slider(drag(ratio)).settle(rest=rest, rtol=rtol, atol=1e-4 * rest * rtol)
        assert found.run is not None
        assert found.state.t == found.run.t[-1] == pytest.approx(ends, rel=30.0 * rtol)
        energy = found.run.kinetic[-1] + 2.0 * found.run["rail"].travel[-1] ** 2
        assert energy == pytest.approx(level, rel=1e3 * rtol)
        assert (
            abs(found.run.energy[-1] + found.run.dissipated[-1] - found.run.energy[0])
            < 100.0 * rtol
        )


@pytest.mark.parametrize("keep", ["all", "ends", 7])
def test_rest_begins_with_the_last_row_whatever_is_kept(keep: Any) -> None:
    system = slider(drag(0.02))
    every, found = system.settle(), system.settle(keep=keep)
    assert every.run is not None
    assert found.run is not None
    last = len(every.run.t) - 1
    rows = {"all": [*range(last + 1)], "ends": [0, last], 7: sorted({*range(0, last, 7), last})}[
        keep
    ]
    np.testing.assert_array_equal(found.run.t, every.run.t[rows])
    np.testing.assert_array_equal(found.run.course.states, every.run.course.states[rows])


def pair(velocity: Any, ratio: float, turning: float = 0.0) -> qp.Multibody:
    """Two bodies on a sprung slider that nothing else holds, drifting and turning."""
    spin = np.array([0.0, 0.0, turning])
    ends = [np.array([x, 0.2, 0.0]) for x in (-0.4, 0.5)]
    bodies = [
        qp.Body(
            name,
            m,
            (0.01, 0.01, 0.015),
            position=p,
            velocity=velocity + np.cross(spin, p),
            angular_velocity=spin,
        )
        for name, m, p in zip(("one", "two"), (1.0, 2.0), ends)
    ]
    rail = qp.Prismatic("rail", *(b.site("s", z=(1, 0, 0)) for b in bodies))
    spring = qp.JointSpring("spring", rail, stiffness=6.0, rest=0.7, damping=4.0 * ratio)
    return qp.Multibody(*bodies, rail, spring)


@pytest.mark.parametrize("velocity", [(0.0, 0.0, 0.0), (3.0, -1.0, 0.5), (100.0, 0.0, 0.0)])
@pytest.mark.parametrize("ratio", [0.3, 0.02])
def test_drifting_bodies_settle_on_each_other(
    velocity: tuple[float, float, float], ratio: float
) -> None:
    """k = 6 N/m on the reduced mass 2/3 kg: 3 rad/s; the drift counts for nothing."""
    found = pair(velocity, ratio).settle()
    assert (found.verdict, found.damped) == ("stable", True)
    assert found.state["rail"].travel == pytest.approx(0.7, abs=1e-11)
    assert found.modes[0].frequency == pytest.approx(3.0, rel=1e-8)
    assert len(found.neutral) == 6
    np.testing.assert_allclose(found.state.v, np.tile(velocity, (2, 1)), rtol=0.0, atol=1e-9)


def test_a_turning_pair_settles_farther_apart_and_keeps_turning() -> None:
    """Momentum h is kept: k (x - 0.7) = m w^2 x, w = h / (J + m x^2) with the reduced mass m =
    2/3.  It nods for ever about its major axis, for the slider does not feel that."""
    system = pair((0.2, 0.0, 0.0), 0.1, 0.8)
    found = system.settle(rtol=1e-11, atol=1e-13)
    assert (found.verdict, found.damped) == ("stable", False)
    x, J, m = found.state["rail"].travel, 2 * 0.015, 2.0 / 3.0
    h = 0.8 * (J + m * 0.9**2)
    assert 6.0 * (x - 0.7) == pytest.approx(m * (h / (J + m * x * x)) ** 2 * x, rel=2e-7)
    np.testing.assert_allclose(found.state.omega[:, 2], h / (J + m * x * x), rtol=1e-7)


def tumbler(damping: float) -> qp.Multibody:
    """Two floating bodies on a sprung hinge along the line between them, that turn mostly about
    that line."""
    spin = np.array((2.0, 1.0, 0.1))
    ends = [np.array(p) for p in ((-0.3, -0.01, 0.0), (0.3, 0.01, 0.0))]
    moments = ((0.02, 0.05, 0.03), (0.02, 0.03, 0.04))
    bodies = [
        qp.Body(name, 1.0, inertia, position=p, velocity=np.cross(spin, p), angular_velocity=spin)
        for name, inertia, p in zip("ab", moments, ends)
    ]
    hinge = qp.Revolute("hinge", *bodies, at=(0, 0, 0), axis=(1, 0, 0))
    return qp.Multibody(
        *bodies, hinge, qp.HingeSpring("spring", hinge, stiffness=0.1, damping=damping)
    )


def test_a_tumbling_pair_ends_about_its_largest_moment_with_the_momentum_that_it_had() -> None:
    """What its hinge takes is the energy of coning, which no motion of the parts beside each other
    shows."""
    system = tumbler(0.05)
    mass, moments = np.ones(2), np.array([system[name].inertia_matrix for name in system.bodies])  # type: ignore[union-attr]
    before, found = system.initial, system.settle(rtol=1e-10, atol=1e-12)
    assert (found.verdict, found.damped) == ("stable", True)
    rows = [state_rows(s.r, s.q, s.v, s.omega)[None] for s in (before, found.state)]
    one, two = (angular_momentum(r, mass, moments)[0] for r in rows)
    assert np.linalg.norm(two) == pytest.approx(np.linalg.norm(one), rel=1e-7)
    values, axes = np.linalg.eigh(inertia_of(rows[1], mass, moments))
    np.testing.assert_allclose(abs(two @ axes), (0.0, 0.0, np.linalg.norm(two)), atol=1e-9)
    assert np.linalg.norm(found.state.omega[0]) == pytest.approx(
        np.linalg.norm(two) / values[2], rel=1e-9
    )
    assert found.run is not None
    assert found.run.counts.evaluations < 200_000


def test_what_cones_and_is_hardly_damped_is_recognised_as_never_settling() -> None:
    """Stiff beside its turning: the hinge sees next to nothing of it, and little effort says so."""
    stiff = tumbler(0.05)
    spring = stiff["spring"]
    assert isinstance(spring, qp.HingeSpring)
    found = stiff.without("spring").with_(dataclasses.replace(spring, stiffness=100.0)).settle()
    assert (found.verdict, found.reason) == (
        "never settles",
        "it keeps moving as it did, stretch after stretch",
    )
    assert found.run is not None
    assert found.run.counts.evaluations < 200_000


def test_a_tumbling_pair_without_damping_never_settles() -> None:
    found = tumbler(0.0).settle()
    assert (found.verdict, found.reason) == ("never settles", "nothing takes its energy")


def inertia_of(rows: Floats, mass: Floats, inertia: Floats) -> Floats:
    """About the mass centre, in N."""
    total = np.zeros((3, 3))
    r = rows[0, :, :3] - mass @ rows[0, :, :3] / mass.sum()
    for d, q, m, own in zip(r, rows[0, :, 3:7], mass, inertia):
        turn = Rotation.from_quat(np.roll(q, -1)).as_matrix()
        total += turn @ own @ turn.T + m * (d @ d * np.eye(3) - np.outer(d, d))
    return total


@pytest.mark.parametrize("tilt", [0.0, 0.25 * math.pi])
def test_where_two_moments_are_alike_what_gives_way_decides_about_which_axis_a_pair_spins(
    tilt: float,
) -> None:
    """Spun about y or z, of alike moments, it rests, and yet about the axis between them the hinge,
    on which the bodies pull opposite ways, lets go: w^2 (Jz - Jy) sin 2p / 2 twists it by so much
    over k, and energy is smallest there."""
    spin, k, off = np.array((0.0, math.cos(tilt), math.sin(tilt))), 0.1, 0.01
    moments = ((0.02, 0.05, 0.05 - off), (0.02, 0.03, 0.03 + off))
    bodies = [
        qp.Body(
            name,
            1.0,
            inertia,
            position=(x, 0, 0),
            velocity=np.cross(spin, (x, 0, 0)),
            angular_velocity=spin,
        )
        for name, inertia, x in zip("ab", moments, (-0.3, 0.3))
    ]
    hinge = qp.Revolute("hinge", *bodies, at=(0, 0, 0), axis=(1, 0, 0))
    spring = qp.HingeSpring("spring", hinge, stiffness=k, damping=0.05)
    found = qp.Multibody(*bodies, hinge, spring).settle(nudge=0.0)
    if tilt == 0.0:
        assert (found.verdict, found.run) == ("unstable", None)
        return
    assert (found.verdict, len(found.neutral)) == ("stable", 4)
    assert abs(found.state["hinge"].angle) == pytest.approx(0.5 * off / k, rel=1e-2)


def row(driven: tuple[bool, ...], seed: int) -> qp.Multibody:
    """Floating cubes in a row on parallel hinges, some of them sprung and all damped, that swing
    without momenta."""
    rng = np.random.default_rng(seed)
    n, side = len(driven) + 1, 0.1
    cubes = [
        qp.Body.box(f"c{k}", (side, side, side), 1.0, position=(side * k, 0.0, 0.0))
        for k in range(n)
    ]
    hinges, springs = [], []
    for k, sprung in enumerate(driven):
        at = (side * (k + 0.5), 0.5 * side, 0.0)
        hinges.append(qp.Revolute(f"h{k}", cubes[k], cubes[k + 1], at=at, axis=(0, 0, 1)))
        springs.append(
            qp.HingeSpring(f"s{k}", hinges[-1], stiffness=1e-3 if sprung else 0.0, damping=2e-4)
        )
    system = qp.Multibody(*cubes, *hinges, *springs)
    start, r = system.initial, system.initial.r
    rates = np.cumsum(np.append(0.0, rng.uniform(0.2, 0.5, n - 1)))
    v = np.zeros((n, 3))
    for k in range(1, n):
        arms = [np.array([side * (k - 0.5), 0.5 * side, 0.0]) - r[i] for i in (k - 1, k)]
        v[k] = (
            v[k - 1] + np.cross((0, 0, rates[k - 1]), arms[0]) - np.cross((0, 0, rates[k]), arms[1])
        )
    d, v = r - r.mean(axis=0), v - v.mean(axis=0)
    own = side**2 / 6.0
    turning = (np.cross(d, v)[:, 2].sum() + own * rates.sum()) / ((d**2).sum() + n * own)
    v -= np.cross((0, 0, turning), d)
    swing = {
        f"c{k}": dict(velocity=v[k], angular_velocity=(0, 0, rates[k] - turning)) for k in range(n)
    }
    return system.at(start.replace(swing))


@pytest.mark.parametrize(
    "driven", [(False,), (True, False), (False, True), (False, True, False), (False, False)]
)
def test_a_hinge_of_what_floats_that_only_damping_acts_on_is_neutral(
    driven: tuple[bool, ...],
) -> None:
    """It stops wherever the others leave it: beside the six motions of the whole, one neutral
    direction for each."""
    for seed in range(3):
        found = row(driven, seed).settle()
        assert (found.verdict, found.damped) == ("stable", True), found.reason
        assert len(found.neutral) == 6 + driven.count(False)
        assert found.state.t < 1e4
        for k, sprung in enumerate(driven):
            assert not sprung or found.state[f"h{k}"].angle == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("driven", [(False,), (True, False), (False, True, False)])
def test_where_damping_alone_stops_a_hinge_is_told_long_before_it_stops(
    driven: tuple[bool, ...],
) -> None:
    """Beside a run of twice the time and more, which stops there."""
    for seed in range(2):
        system = row(driven, seed)
        found = system.settle(rtol=1e-11, atol=1e-13)
        moving = system.simulate(found.state.t, rtol=1e-11, atol=1e-13, progress=False).final
        still = system.simulate(1000.0, rtol=1e-11, atol=1e-13, progress=False).final
        here, then, last = (
            np.array([s[f"h{k}"].angle for k in range(len(driven))])
            for s in (found.state, moving, still)
        )
        assert abs(then - last).max() > 1e-5
        np.testing.assert_allclose(here, last, rtol=0.0, atol=1e-6)  # it was told within 1e-3


def test_what_cannot_move_is_at_rest() -> None:
    """A body on a lock, and a system in which all bodies are fixed."""
    box = qp.Body.box("box", (1, 1, 1), 1.0)
    base = qp.Body.box("base", (1, 1, 1), 1.0, fixed=True)
    for system in (
        qp.Multibody(box, qp.Fixed("lock", qp.GROUND, box), qp.Gravity((0, 0, -9.81))),
        qp.Multibody(base),
    ):
        found = system.settle()
        assert (found.verdict, found.reason, found.modes) == (
            "stable",
            "nothing in it can move",
            (),
        )
        assert [e.verdict for e in system.equilibria(seeds=2)] == ["stable"]
        assert system.linearize().A.shape == (0, 0)
        assert found.explain().startswith("stable")


# --- what never settles ---------------------------------------------------------------------------
def test_an_undamped_swing_never_settles() -> None:
    found = slider().settle()
    assert found.verdict == "never settles"
    assert "nothing takes its energy" in found.reason
    assert found.run is not None
    assert found.run.counts.evaluations < 50_000


class VanDerPol(qp.Force):
    """Damping that feeds small motions and brakes large ones."""

    body: qp.Body

    def load(self, at: qp.MotionView) -> Mapping[qp.Body, qp.Wrench]:
        motion = at[self.body]
        x, v = motion.position[0], motion.velocity[0]
        return {
            self.body: qp.Wrench(
                (0.5 * (1.0 - (x / 0.1) ** 2) * v, 0, 0), (0, 0, 0), motion.position
            )
        }


@pytest.mark.slow
def test_a_limit_cycle_is_recognised_and_its_centre_is_unstable() -> None:
    system = slider(lambda rail, body: VanDerPol("feed", body))
    found = system.settle()
    assert found.verdict == "never settles"
    assert "keeps moving" in found.reason
    assert found.run is not None
    assert found.run.counts.evaluations < 200_000
    centre = slider(lambda rail, body: VanDerPol("feed", body), at=0.0).settle(nudge=0.0)
    assert centre.verdict == "unstable"
    assert centre.unstable[0].eigenvalue.real == pytest.approx(0.25, rel=1e-7)


@pytest.mark.parametrize("evaluations", [2_000, 20_000])
def test_the_effort_is_bounded_by_evaluations_and_never_by_the_clock(evaluations: int) -> None:
    found = slider(drag(1e-5)).settle(evaluations=evaluations)
    assert found.verdict == "never settles"
    assert found.run is not None
    assert found.run.counts.evaluations <= 1.5 * evaluations
    assert "max_steps" in found.reason


def test_the_effort_is_bounded_by_simulated_time() -> None:
    found = slider(drag(0.002)).settle(duration=30.0)
    assert found.verdict == "never settles"
    assert found.state.t == pytest.approx(30.0, abs=1e-12)


def test_what_bounces_rests_on_its_stop_when_the_last_bounce_is_over() -> None:
    """Fallen by h, each bounce takes half as long as the one before: over after sqrt(2 h / g) (1 +
    2 r / (1 - r))."""
    body = qp.Body.sphere("ball", 0.05, 1.0, position=(0, 0, 1.0))
    rail = qp.Prismatic("rail", qp.GROUND, body, at=(0, 0, 0), axis=(0, 0, 1))
    floor = qp.JointStop("floor", rail, lower=-0.9, restitution=0.5)
    found = qp.Multibody(body, rail, qp.Gravity((0, 0, -9.81)), floor).settle()
    assert (found.verdict, found.state.held) == ("stable", ("floor lower",))
    assert found.state.t == pytest.approx(math.sqrt(2.0 * 0.9 / 9.81) * 3.0, rel=3e-3)


def test_a_motion_along_what_is_neutral_is_named_by_what_turns() -> None:
    """A ball on a rope in still air: its swing, and its spin, which dies out and leaves it turned
    some way."""

    class Air(qp.Force):
        body: qp.Body

        def load(self, at: qp.MotionView) -> Mapping[qp.Body, qp.Wrench]:
            motion = at[self.body]
            drag, brake = (
                -0.8 * np.array(motion.velocity),
                -0.001 * np.array(motion.angular_velocity),
            )
            return {self.body: qp.Wrench(drag, brake, motion.position)}

    ball = qp.Body.sphere("ball", 0.05, 1.0, position=(0.2, 0, -0.9))
    rope = qp.Rope("rope", qp.GROUND.site("o"), ball.site("c"), length=1.0)
    found = qp.Multibody(ball, rope, qp.Gravity((0, 0, -9.81)), Air("air", ball)).settle()
    assert (found.verdict, len(found.neutral)) == ("stable", 3)
    assert [m.moving for m in found.modes] == [("ball turns",)] * 3 + [("ball moves",)] * 2
    np.testing.assert_allclose(
        [m.eigenvalue.real for m in found.modes], [-1.0] * 3 + [-0.4] * 2, rtol=1e-7
    )


def test_friction_under_a_steady_load_creeps_to_rest() -> None:
    """Smooth friction has no potential: its slope at standstill damps, and the spring decides where
    it ends."""
    found = slider(
        lambda rail, body: qp.JointFriction("rub", rail, coefficient=0.3, preload=1.0, slip=0.1),
        lambda rail, body: qp.Load("push", body, force=(0.5, 0, 0)),
    ).settle()
    assert found.verdict == "stable"
    assert found.state["rail"].travel == pytest.approx(0.125, abs=1e-11)
    assert found.modes[0].damping == pytest.approx(0.3 / 0.1 / 4.0, rel=1e-6)


# --- the same each time ---------------------------------------------------------------------------
def test_the_same_seed_gives_the_same_bits() -> None:
    system = slider(drag(0.05))
    one, two = (system.settle(seed=1) for _ in range(2))
    assert apart(one.state, two.state) == 0.0
    assert [m.eigenvalue for m in one.modes] == [m.eigenvalue for m in two.modes]
    found = [system.equilibria(seeds=6, seed=5) for _ in range(2)]
    assert found[0].hits == found[1].hits
    assert all(apart(a.state, b.state) == 0.0 for a, b in zip(*found))


@seeds(4, 2)
def test_locked_bodies_have_the_modes_and_verdict_of_the_body_that_they_are(seed: int) -> None:
    both = assembly(seed, grounded=True, conservative=True)
    one, two = (
        system.equilibria(seeds=1, seed=0) for system in (still(both.locked), still(both.by_hand))
    )
    assert [e.verdict for e in one] == [e.verdict for e in two]
    for a, b in zip(one, two):
        assert len(a.modes) == len(b.modes)
        np.testing.assert_allclose(
            [m.frequency for m in a.modes], [m.frequency for m in b.modes], rtol=1e-5, atol=1e-5
        )


def still(system: qp.Multibody) -> qp.Multibody:
    """The same at standstill."""
    zero = {name: {"velocity": (0, 0, 0), "angular_velocity": (0, 0, 0)} for name in system.bodies}
    return system.at(system.initial.replace(zero))


# --- modes are heard ------------------------------------------------------------------------------
def test_frequencies_are_those_with_which_it_rings() -> None:
    """Three masses on springs and hinges in a row: displaced along one mode by 1e-5, it comes back
    after a period."""
    bodies = [
        qp.Body.box(f"b{k}", (0.2, 0.1, 0.1), 1.0 + k, position=(0.3 * k + 0.15, 0, 0))
        for k in range(3)
    ]
    hinges = [
        qp.Revolute(
            f"h{k}",
            bodies[k - 1] if k else qp.GROUND,
            b,
            at=(0.3 * k, 0, 0),
            axis=(0, 0, 1) if k != 1 else (0, 1, 0),
        )
        for k, b in enumerate(bodies)
    ]
    springs = [qp.JointSpring(f"s{k}", h, stiffness=5.0 + k) for k, h in enumerate(hinges)]
    system = qp.Multibody(*bodies, *hinges, *springs, qp.Gravity((9.81, 0, 0)))
    found = system.settle(nudge=0.0)
    around = Vicinity(system.clusters, found.state)
    assert len(found.modes) == 3
    for mode in found.modes:
        start = nudge_along(around, mode, 1e-5)
        assert start is not None
        run = system.at(start).simulate(3.2 * mode.period, rtol=1e-12, atol=1e-16)
        swing = np.array([run.at(t).r - found.state.r for t in run.t]).reshape(len(run.t), -1)
        which = int(abs(swing).max(axis=0).argmax())
        times = [rising(run, which, k * mode.period, found.state) for k in (1, 3)]
        assert (times[1] - times[0]) / 2.0 == pytest.approx(mode.period, rel=1e-5)


def rising(run: qp.Trajectory, which: int, near: float, rest: qp.State) -> float:
    """When a coordinate is largest near some time: its velocity crosses zero."""

    def speed(t: float) -> float:
        return float(run.at(t).v.reshape(-1)[which])

    period = near if near else 1.0
    low, high = near - 0.05 * period, near + 0.05 * period
    sign = np.sign(speed(low))
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.sign(speed(middle)) == sign else (low, middle)
    return low
