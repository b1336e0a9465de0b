"""Coordinates driven by functions of time, servos and tape springs, against what is known in closed
form."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.linalg import expm
from scipy.optimize import minimize_scalar

import quirkpy as qp
from tests.contracts.own_parts import Chirp, Detent, Notches
from tests.motion import calls_of

MASS, STIFFNESS, DAMPING = 2.0, 18.0, 1.2
BALL = qp.Body.sphere("ball", 0.1, MASS)
SLIDE = qp.Prismatic("slide", qp.GROUND, BALL, at=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0))
TIGHT: Any = dict(rtol=1e-10, atol=1e-12)


def slid(*parts: qp.Part, duration: float = 5.0) -> qp.Trajectory:
    """A ball on a slide, from rest."""
    return qp.Multibody(BALL, SLIDE, *parts).simulate(duration, **TIGHT)


def balance(run: qp.Trajectory) -> float:
    """How far the ledger is from closing [J]."""
    left = run.energy + run.dissipated - run.work
    return float(abs(left - left[0]).max())


def test_a_spring_whose_end_swings_drives_an_oscillator() -> None:
    """m x'' = k (a sin w t - x): x = a w0^2 / (w0^2 - w^2) (sin w t - w / w0 sin w0 t)."""
    a, w, w0 = 0.3, 2.0, np.sqrt(STIFFNESS / MASS)
    spring = qp.JointSpring("spring", SLIDE, stiffness=STIFFNESS, rest=qp.Sine(a, w))
    run = slid(spring)
    known = a * w0**2 / (w0**2 - w**2) * (np.sin(w * run.t) - w / w0 * np.sin(w0 * run.t))
    np.testing.assert_allclose(run["slide"].travel, known, atol=1e-9)
    # The end of the spring does k (a sin w t - x) (a sin w t)' per second
    pulled = STIFFNESS * (a * np.sin(w * run.t) - known) * a * w * np.cos(w * run.t)
    assert run.work[-1] == pytest.approx(trapezoid(pulled, run.t), rel=2e-2)
    assert balance(run) < 1e-9


def test_a_sine_pushes_a_mass() -> None:
    """m v = A / w (1 - cos w t), of a force along a constant vector, on a free body."""
    size, w = 0.7, 3.0
    ball = qp.Body.sphere("ball", 0.1, MASS)
    push = qp.Load("push", ball, force=qp.Sine(size, w) * (0.0, 2.0, -1.0))
    run = qp.Multibody(ball, push).simulate(4.0, **TIGHT)
    known = size / (MASS * w) * (1.0 - np.cos(w * run.t))
    np.testing.assert_allclose(run["ball"].velocity, np.outer(known, (0.0, 2.0, -1.0)), atol=1e-10)


@pytest.mark.parametrize("target", [0.4, qp.Ramp(0.3, 0.4)], ids=["held", "led"])
def test_a_servo_is_a_damped_oscillator_about_its_target(target: Any) -> None:
    """m e'' + c e' + k e = 0, e = x - target, by the matrix exponential: a target at constant
    rate changes nothing."""
    servo = qp.Servo("servo", SLIDE, target=target, stiffness=STIFFNESS, damping=DAMPING)
    run, function = slid(servo), qp.Sine(0.0, 0.0) + target
    A = np.array([[0.0, 1.0], [-STIFFNESS / MASS, -DAMPING / MASS]])
    begun = [-function.motion(0.0)[0], -function.motion(0.0)[1]]
    off = [expm(A * t) @ begun for t in run.t]
    known = [function.motion(t)[0] + e for t, (e, _) in zip(run.t, off, strict=True)]
    np.testing.assert_allclose(run["slide"].travel, known, atol=1e-9)
    assert balance(run) < 1e-9


def test_a_servo_never_exceeds_its_limit_and_keeps_its_ledger() -> None:
    limit = 1.5
    target = qp.Schedule((0.0, 1.0, 2.0), (0.0, 1.0, -0.5), "smooth")
    servo = qp.Servo(
        "servo", SLIDE, target=target, stiffness=STIFFNESS, damping=DAMPING, limit=limit
    )
    run = slid(servo)
    force = np.gradient(run["ball"].velocity[:, 0], run.t)[2:-2] * MASS
    assert abs(run["servo"].load).max() <= limit
    assert abs(run["servo"].load).max() > 0.999 * limit
    assert abs(force).max() < 1.05 * limit
    assert balance(run) < 1e-9
    inside = qp.Servo("servo", SLIDE, target=0.05, stiffness=STIFFNESS, damping=DAMPING, limit=9.0)
    free = qp.Servo("servo", SLIDE, target=0.05, stiffness=STIFFNESS, damping=DAMPING)
    np.testing.assert_allclose(slid(inside).final.r, slid(free).final.r, atol=1e-12)


@pytest.mark.parametrize("method", ["dop853", "rk45"])
def test_a_target_that_jumps_puts_in_what_the_spring_then_has(method: Any) -> None:
    """From rest at one target, a jump by a puts in k a^2 / 2."""
    target = qp.Schedule((0.0, 1.0), (0.0, 0.3))
    servo = qp.Servo("servo", SLIDE, target=target, stiffness=STIFFNESS, damping=DAMPING)
    run = qp.Multibody(BALL, SLIDE, servo).simulate(4.0, method=method, rtol=1e-9, atol=1e-12)
    assert run.work[-1] == pytest.approx(0.5 * STIFFNESS * 0.3**2, rel=1e-12)
    assert balance(run) < 1e-7


# --- tape springs ---------------------------------------------------------------------------------
HUB = qp.Body.box("hub", size=(0.1, 0.1, 0.1), mass=1.0, fixed=True)
ARM = qp.Body.box("arm", size=(0.1, 0.1, 0.1), mass=1.0, position=(0.1, 0, 0))
HINGE = qp.Revolute("hinge", HUB, ARM, at=(0.05, -0.05, 0), axis=(0, 0, 1))
TAPE = qp.TapeSpring(
    "tape", HINGE, stiffness=8.0, peak=(0.9, 0.4), plateau=(0.25, 0.3), snap=0.15, straight=0.2
)


def test_a_tape_spring_is_linear_snaps_and_stays_on_its_plateau() -> None:
    away = np.linspace(-1.0, 1.0, 4001)
    moment = np.array([TAPE.moment(0.2 + a) for a in away])
    small = abs(away) < 0.04
    np.testing.assert_allclose(moment[small], -8.0 * away[small], atol=1e-15)
    assert -moment.min() == pytest.approx(0.9, rel=1e-5)
    assert moment.max() == pytest.approx(0.4, rel=1e-5)
    np.testing.assert_allclose(moment[away > 0.4], -0.25, rtol=1e-14)
    np.testing.assert_allclose(moment[away < -0.4], 0.3, rtol=1e-14)


def test_the_moment_of_a_tape_spring_has_two_continuous_slopes_and_is_that_of_its_energy() -> None:
    h = 1e-4
    angles = np.arange(-0.8, 1.2, h)
    moment = np.array([TAPE.moment(a) for a in angles])
    energy = np.array([TAPE.energy(a) for a in angles])
    slope = (8.0 * (energy[3:-1] - energy[1:-3]) - (energy[4:] - energy[:-4])) / (12.0 * h)
    np.testing.assert_allclose(moment[2:-2], -slope, atol=1e-9)
    bends = np.diff(moment, 2) / h**2  # a corner would make one as large as 1 / h
    assert abs(np.diff(bends)).max() < 0.05 * abs(bends).max()


def test_the_plateaus_of_a_strip() -> None:
    """Steel, 0.1 mm, 90 degrees: D = 0.01923 N m, 39.3 and 21.1 N mm.  The energy of a plate whose
    curvature across goes and which is curved along, by 1 / r either way, least over r: its slope
    over the angle of the fold."""
    R, subtended, thickness, poisson = 0.02, np.pi / 2.0, 1e-4, 0.3
    across, along = np.eye(2)
    C = 210e9 / (1.0 - poisson**2) * (
        np.outer(across, across) + np.outer(along, along)
        + poisson * (np.outer(across, along) + np.outer(along, across))
    )  # fmt: skip

    def energy(angle: float, sense: float) -> float:
        def of(r: float) -> float:
            bent = -across / R - sense * along / r
            return (
                0.5 * thickness**3 / 12.0 * float(bent @ C @ bent) * (r * angle) * (R * subtended)
            )

        return float(minimize_scalar(of, bounds=(0.2 * R, 5.0 * R), method="bounded").fun)

    found = qp.TapeSpring.steady_moments(210e9, poisson, thickness, subtended)
    for moment, sense in zip(found, (1.0, -1.0), strict=True):
        slope = (energy(1.1, sense) - energy(0.9, sense)) / 0.2
        assert moment == pytest.approx(slope, rel=1e-9)
    assert found == pytest.approx((0.0393, 0.0211), abs=5e-5)


def test_an_arm_on_a_tape_spring_swings_through_the_snap_and_keeps_its_energy() -> None:
    start = qp.Multibody(HUB, ARM, HINGE, TAPE)
    turn = qp.rotation((0, 0, 1), 1.1)
    placed = np.array((0.05, -0.05, 0.0)) + qp.quat.matrix(turn) @ (0.05, 0.05, 0.0)
    state = start.initial.replace({"arm": dict(position=placed, orientation=turn)})
    run = start.at(state).simulate(3.0, **TIGHT)
    # Where the third slope jumps a method of high order loses some of it
    assert abs(run.energy - run.energy[0]).max() < 3e-7
    assert run.potential[0] == pytest.approx(TAPE.energy(1.1), rel=1e-12)
    angle = run["hinge"].angle
    assert angle.min() < -0.3
    np.testing.assert_allclose(run["tape"].load, [TAPE.moment(a) for a in angle], atol=1e-14)
    np.testing.assert_allclose(run["tape"].energy, [TAPE.energy(a) for a in angle], atol=1e-14)


# --- functions of time ----------------------------------------------------------------------------
FUNCTIONS: dict[str, qp.TimeFunction] = {
    "sine": qp.Sine(0.4, 1.3, 0.2, 0.1),
    "ramp": qp.Ramp(0.3, -0.1),
    "smooth": qp.Schedule((0.5, 1.0, 2.5), (0.2, -0.4, 0.3), "smooth"),
    "own": Chirp(0.3, 0.4),
    "sum": qp.Sine(0.4, 1.3) + qp.Ramp(0.3) - 0.2,
    "product": 0.5 * qp.Sine(0.4, 1.3) * qp.Schedule((0.5, 2.0), (0.0, 1.0), "smooth"),
    "both": (qp.Ramp(0.2, 1.0) + Chirp(0.3, 0.4)) * (1.0 - qp.Sine(0.4, 1.3)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_drive_follows_its_function_with_both_derivatives(name: str) -> None:
    function = FUNCTIONS[name]
    drives = qp.Prescribed("drive", SLIDE, function), qp.Prescribed("py", SLIDE, function.motion)
    x, rate, _ = function.motion(0.0)
    system = qp.Multibody(BALL, SLIDE, candidates=drives)
    begun = system.initial.replace({"ball": dict(position=(x, 0, 0), velocity=(rate, 0, 0))})
    runs = [
        system.choosing(["slide", one], []).at(begun).simulate(3.0, **TIGHT)
        for one in ("drive", "py")
    ]
    for run in runs:
        known = np.array([function.motion(t) for t in run.t])
        np.testing.assert_allclose(run["slide"].travel, known[:, 0], atol=1e-9)
        np.testing.assert_allclose(run["slide"].rate, known[:, 1], atol=1e-8)
    known = np.array([function.motion(t)[2] for t in runs[0].t])
    np.testing.assert_allclose(runs[0]["drive"].load[:, 2], MASS * known, atol=1e-7)
    assert balance(runs[0]) < 1e-8


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_are_those_of_the_value(name: str) -> None:
    function, h = FUNCTIONS[name], 1e-4
    for t in (-0.3, 0.7, 1.9, 3.3):
        x = [float(function.at(t + k * h)) for k in (-2, -1, 0, 1, 2)]
        value, rate, bend = function.motion(t)
        assert value == pytest.approx(x[2], abs=1e-14)
        assert rate == pytest.approx((8 * (x[3] - x[1]) - (x[4] - x[0])) / (12 * h), abs=1e-9)
        assert bend == pytest.approx((x[3] - 2 * x[2] + x[1]) / h**2, abs=1e-4)


def test_sums_and_products_mean_what_they_say() -> None:
    wave, ramp = qp.Sine((0.3, 0.0, -0.2), 2.0, 0.1), qp.Ramp(0.5, 1.0)
    for made, known in (
        (wave * ramp + (1.0, 0.0, 0.0), lambda t: wave.at(t) * ramp.at(t) + (1.0, 0.0, 0.0)),
        (2.0 - ramp * ramp, lambda t: 2.0 - ramp.at(t) ** 2),
        (np.float64(3.0) * -wave, lambda t: -3.0 * wave.at(t)),
    ):
        for t in (0.0, 1.7):
            np.testing.assert_allclose(made.at(t), known(t), rtol=1e-14)
    turned = (wave * ramp).mapped(np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    np.testing.assert_allclose(turned.at(0.7)[1], -(wave * ramp).at(0.7)[0], rtol=1e-14)


# --- laws of one's own ----------------------------------------------------------------------------
def test_a_law_is_the_same_compiled_and_in_python() -> None:
    begun = {"ball": dict(velocity=(0.8, 0.0, 0.0))}
    runs = []
    for law in (
        Detent("law", SLIDE, torque=2.0, notches=9.0, damping=0.3),
        Notches("law", SLIDE, torque=2.0, notches=9.0, damping=0.3),
    ):
        system = qp.Multibody(BALL, SLIDE, law)
        runs.append(system.at(system.initial.replace(begun)).simulate(4.0, **TIGHT))
        assert balance(runs[-1]) < 1e-9
        assert runs[-1].dissipated[-1] > 1e-3
    np.testing.assert_allclose(runs[0].final.r, runs[1].final.r, atol=1e-11)
    np.testing.assert_allclose(runs[0].dissipated[-1], runs[1].dissipated[-1], rtol=1e-9)


class Breathing(qp.CompiledJointLaw):
    """A spring that grows and wanes with time."""

    stiffness: float
    pace: float

    @staticmethod
    def load(t: float, x: float, stiffness: float, pace: float) -> Any:
        return -stiffness * (1.5 + np.sin(pace * t)) * x

    @staticmethod
    def energy(t: float, x: float, stiffness: float, pace: float) -> Any:
        return 0.5 * stiffness * (1.5 + np.sin(pace * t)) * x * x


def test_what_time_changes_in_an_energy_counts_as_work() -> None:
    """As of a built-in spring of which the stiffness is such a function of time."""
    function = qp.Sine(STIFFNESS, 2.0, mean=1.5 * STIFFNESS)
    springs = Breathing("s", SLIDE, STIFFNESS, 2.0), qp.JointSpring("s", SLIDE, stiffness=function)
    runs = []
    for spring in springs:
        system = qp.Multibody(BALL, SLIDE, spring)
        start = system.initial.replace({"ball": dict(position=(0.3, 0.0, 0.0))})
        runs.append(system.at(start).simulate(4.0, **TIGHT))
        assert balance(runs[-1]) < 1e-9
    assert abs(runs[0].work).max() > 0.1
    np.testing.assert_allclose(runs[0].work[-1], runs[1].work[-1], rtol=1e-8)


def test_a_system_under_a_sine_never_comes_to_rest_unless_it_fades() -> None:
    drag = qp.JointDamper("drag", SLIDE, damping=3.0)
    spring = qp.JointSpring("spring", SLIDE, stiffness=STIFFNESS)
    sine = qp.Sine((0.4, 0.0, 0.0), 2.0)
    fading = sine * qp.Schedule((0.0, 1.0, 3.0), (0.0, 1.0, 0.0), "linear")
    verdicts = [
        qp.Multibody(BALL, SLIDE, drag, spring, qp.Load("push", BALL, force=push)).settle().verdict
        for push in (sine, fading)
    ]
    assert verdicts == ["never settles", "stable"]


def test_functions_keep_their_knots() -> None:
    """No step leaps over a knot of what a function is made of."""
    window = qp.Schedule((1.0, 1.5, 2.5), (0.0, 1.0, 0.0), "linear")
    run = slid(qp.Load("push", BALL, force=window * qp.Sine((0.4, 0.0, 0.0), 2.0) + (0.1, 0, 0)))
    assert {1.0, 1.5, 2.5} <= set(run.t.tolist())
    assert all(a < b for a, b in itertools.pairwise(run.t))


def test_functions_are_parameters_as_long_as_their_form_stays() -> None:
    """Other numbers in a sum of products are written anew, as the part with them has it."""

    def push(size: float, pace: float) -> qp.Load:
        wave = qp.Schedule((0.0, 2.0), (size, 1.0), "linear") * qp.Sine(0.4, pace)
        return qp.Load("push", BALL, force=wave * (1.0, 0.0, 0.0) + qp.Ramp((0.0, size, 0.0)))

    system, other = (qp.Multibody(BALL, push(*numbers)) for numbers in ((0.3, 2.0), (0.7, 3.1)))
    force = push(0.7, 3.1).force
    changed = system.tables.select(parameters={"push": {"force": force}})
    state = system.initial.replace(t=1.3)
    np.testing.assert_array_equal(
        state.instant(changed).loads.wrench, other.initial.replace(t=1.3).instant().loads.wrench
    )
    with pytest.raises(qp.PartError, match="a parameter changes numbers"):
        system.tables.select(parameters={"push": {"force": qp.Sine((1.0, 0.0, 0.0), 2.0)}})


def test_functions_ask_python_for_no_more_than_numbers_do() -> None:
    """Over two thousand steps, a spring whose rest swings by a sine, or a compiled law, calls what
    a built-in spring calls; a function in Python is called at every stage."""
    springs = (
        qp.JointSpring("s", SLIDE, stiffness=STIFFNESS),
        qp.JointSpring("s", SLIDE, stiffness=STIFFNESS, rest=qp.Sine(0.1, 2.0)),
        Detent("s", SLIDE, torque=2.0, notches=9.0, damping=0.3),
        qp.Load("s", BALL, force=lambda t: (0.1 * math.sin(2.0 * t), 0.0, 0.0)),
    )
    systems = [qp.Multibody(BALL, SLIDE, spring) for spring in springs]
    plain, sine, law, python = map(calls_of_a_run, systems)
    assert abs(sine - plain) < 100
    assert abs(law - plain) < 100
    assert python > plain + 20_000


def calls_of_a_run(system: qp.Multibody) -> int:
    """How many functions of Python a run of two thousand steps calls."""
    system.simulate(0.01, step=0.01)
    return calls_of(lambda: system.simulate(20.0, step=0.01, progress=False))
