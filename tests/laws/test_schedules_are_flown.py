"""Schedules: whatever they do is noticed, however long the steps, and nothing rests before they
have ended."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import quirkpy as qp


@pytest.mark.parametrize("method", ["dop853", "rk45", "radau"])
@pytest.mark.parametrize("interpolation", ["hold", "linear"])
@pytest.mark.parametrize("begin", [3.0, 1e2, 1e4])
def test_no_step_leaps_over_a_pulse(begin: float, interpolation: Any, method: Any) -> None:
    """What rests takes steps ten times as long as the last; the momentum is the area of the pulse
    all the same."""
    ball = qp.Body.sphere("ball", 0.1, 2.0)
    times = (0.0, begin, begin + 0.5, begin + 1.0)
    pulse = qp.Schedule(times, [(0, 0, 0), (0, 0, 0), (3e-3, 0, 0), (0, 0, 0)], interpolation)
    run = qp.Multibody(ball, qp.Load("push", ball, force=pulse)).simulate(
        begin + 10.0, method=method
    )
    assert set(times) <= set(run.t)
    assert run["ball"].velocity[-1, 0] == pytest.approx(0.5 * 3e-3 / 2.0, rel=1e-4)


@pytest.mark.parametrize("keep", ["all", "ends"])
@pytest.mark.parametrize("method", ["dop853", "rk45"])
@pytest.mark.parametrize("seed", range(3))
def test_loads_that_jump_are_flown_exactly(seed: int, method: Any, keep: Any) -> None:
    """Between knots a ball under constant pushes moves along parabolas, which both methods follow
    to rounding, in a few steps: no step sees what acts after the knot with which it ends."""
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.2, 1.5, 6)) - 0.2
    pushes = rng.normal(size=(6, 3))
    ball = qp.Body.sphere("ball", 0.1, 2.0)
    push = qp.Load("push", ball, force=qp.Schedule(times.tolist(), pushes.tolist()))
    run = qp.Multibody(ball, push).simulate(10.0, method=method, keep=keep)
    asked = np.concatenate([times, rng.uniform(0.0, 10.0, 12), [10.0]])
    flown = np.array([run.at(t)["ball"].position for t in asked.tolist()])
    np.testing.assert_allclose(
        flown, [parabolas(t, times, pushes / 2.0) for t in asked], atol=1e-11
    )
    assert run.counts.steps < 30
    assert run.counts.rejections <= len(times)


def parabolas(t: float, times: Any, accelerations: Any) -> Any:
    """Where accelerations that hold from each time on, the first before as well, bring a point that
    begins at rest in the origin at t = 0."""
    x, v = np.zeros(3), np.zeros(3)
    ends = [0.0, *times[1:].tolist(), math.inf]
    for begin, end, a in zip(ends, ends[1:], accelerations, strict=False):
        span = min(t, end) - begin
        if span > 0.0:
            x, v = x + v * span + 0.5 * a * span**2, v + a * span
    return x


def test_a_slew_from_rest_to_rest_by_two_torques() -> None:
    """A torque T for a time s, and its opposite as long, turn a body by T s^2 / J; the same by a
    wheel whose momentum rises and falls on lines."""
    torque, span = 2e-3, 1.7
    box = qp.Body.box("box", (0.1, 0.1, 0.1), 1.0)
    turn = torque * span**2 / (1.0 * (0.1**2 + 0.1**2) / 12.0)
    jets = qp.Load("jets", box, torque=qp.Schedule(
        (0.0, 0.3, 0.3 + span, 0.3 + 2.0 * span), [(0, 0, s * torque) for s in (0, 1, -1, 0)]
    ))  # fmt: skip
    rise = qp.Schedule((0.3, 0.3 + span, 0.3 + 2.0 * span), (0.0, -torque * span, 0.0), "linear")
    wheel = qp.ReactionWheel("wheel", box.site("axis"), rise)
    for actuator in (jets, wheel):
        final = qp.Multibody(box, actuator).simulate(5.0, rtol=1e-12, atol=1e-13).final["box"]
        angle = 2.0 * np.arctan2(final.orientation.z, final.orientation.w)
        assert angle == pytest.approx(turn, abs=1e-9)
        assert abs(final.angular_velocity).max() < 1e-11


def test_fixed_steps_stay_as_they_are() -> None:
    ball = qp.Body.sphere("ball", 0.1, 2.0)
    pulse = qp.Schedule((0.0, 0.4, 0.7), [(0, 0, 0), (1, 0, 0), (0, 0, 0)])
    run = qp.Multibody(ball, qp.Load("push", ball, force=pulse)).simulate(3.0, step=0.3)
    np.testing.assert_allclose(run.t, 0.3 * np.arange(11), atol=1e-12)


def test_nothing_rests_before_a_schedule_has_ended() -> None:
    """A ball in a drag of its own, J w' = -c w, is turned at last by T D / c; without a schedule it
    rests at once."""
    torque, begin, last, drag = 1e-5, 50.0, 10.0, 1e-3
    ball = qp.Body.sphere("ball", 0.1, 2.0)
    hinge = qp.Revolute("hinge", qp.GROUND, ball, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    pulse = qp.Schedule((0.0, begin, begin + last), [(0, 0, 0), (0, 0, torque), (0, 0, 0)])
    held = qp.Multibody(ball, hinge, qp.ViscousHinges(drag))
    assert held.settle().run is None
    rest = held.with_(qp.Load("turn", ball, torque=pulse)).settle()
    assert rest.verdict == "stable"
    assert rest.state["hinge"].angle == pytest.approx(torque * last / drag, rel=1e-6)
    assert rest.state.t > begin + last


@pytest.mark.parametrize("first", [0.1, 30.0])
def test_what_a_schedule_leaves_where_it_was_rests_when_it_ends(first: float) -> None:
    """Two pulses press a hinge against its stop: it rests where it was, and the run ends with the
    last knot."""
    ball = qp.Body.sphere("ball", 0.1, 2.0)
    hinge = qp.Revolute("hinge", qp.GROUND, ball, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    stop = qp.JointStop("stop", hinge, lower=0.0)
    times = (0.0, first, first + 1.0, first + 100.0, first + 101.0)
    pulse = qp.Schedule(times, [(0, 0, s) for s in (0, -1e-3, 0, -1e-3, 0)])
    rest = qp.Multibody(
        ball, hinge, stop, qp.ViscousHinges(1e-3), qp.Load("press", ball, torque=pulse)
    ).settle()
    assert rest.verdict == "stable"
    assert rest.state.t == times[-1]
    assert rest.state["hinge"].angle == pytest.approx(0.0, abs=1e-12)


def test_what_is_at_rest_when_a_schedule_ends_has_not_to_be_waited_for() -> None:
    """Rest is a share of the fastest motion, and that was long ago: a spring, bent and let back
    slowly."""
    ball = qp.Body.sphere("ball", 0.1, 2.0)
    hinge = qp.Revolute("hinge", qp.GROUND, ball, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    spring = qp.HingeSpring("spring", hinge, stiffness=1e-3, damping=3e-3)
    bend = qp.Schedule((0.0, 900.0, 1000.0), [(0, 0, 1e-4), (0, 0, 1e-4), (0, 0, 0)], "linear")
    rest = qp.Multibody(ball, hinge, spring, qp.Load("bend", ball, torque=bend)).settle()
    assert rest.verdict == "stable"
    assert rest.state["hinge"].angle == pytest.approx(0.0, abs=1e-12)
    assert 1000.0 <= rest.state.t < 1050.0


@pytest.mark.parametrize("method", ["dop853", "radau"])
@pytest.mark.parametrize("beside", [np.nextafter(0.3, 0.0), 0.3, np.nextafter(0.3, 1.0)])
def test_knots_beside_each_other_count_once(beside: float, method: Any) -> None:
    """What the jump of a target puts into its servo is work once, also where another schedule has
    a knot that no step could tell from that."""
    arm = qp.Body.box("arm", (0.1, 0.1, 0.1), 1.0, position=(0.1, 0, 0))
    hinge = qp.Revolute("hinge", qp.GROUND, arm, at=(0, 0, 0), axis=(0, 0, 1))
    lead = qp.Servo("lead", hinge, target=qp.Schedule((0.1, 0.3), (0.0, 0.5), "hold"),
                    stiffness=2.0, damping=1.0)  # fmt: skip
    push = qp.Load("push", arm, force=qp.Schedule((0.0, beside), [(0.0,) * 3, (0.0, 0.1, 0.0)]))
    run = qp.Multibody(arm, hinge, lead, push).simulate(0.35, method=method)
    assert run.work[-1] > 0.2
    balance = run.energy + run.dissipated - run.work
    assert abs(balance[-1] - balance[0]) < 1e-6
