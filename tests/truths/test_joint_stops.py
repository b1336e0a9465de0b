"""Joints at their stops: impacts, bounces, resting contact and its release, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import quirkpy as qp
from tests.motion import TIGHT

G, HEIGHT = 9.81, 1.0
FALL = math.sqrt(2.0 * HEIGHT / G)


def drop(restitution: float, **more: float) -> qp.Multibody:
    """A body on a vertical slide, a metre above its stop."""
    body = qp.Body.box("body", (0.1, 0.1, 0.1), 2.0, position=(0, 0, HEIGHT))
    slide = qp.Prismatic("slide", qp.GROUND, body, at=(0, 0, 0), axis=(0, 0, 1))
    stop = qp.JointStop("floor", slide, lower=-HEIGHT, restitution=restitution, **more)
    return qp.Multibody(body, slide, stop, qp.Gravity((0, 0, -G)))


def check_ledger(run: qp.Trajectory) -> None:
    assert np.ptp(run.energy + run.dissipated - run.work) < 1e-10 * max(1.0, abs(run.energy).max())


@pytest.mark.parametrize("restitution", [0.3, 0.5, 0.9])
def test_a_falling_body_bounces_ever_lower_until_it_rests(restitution: float) -> None:
    """Bounce k lasts restitution^k times 2 sqrt(2 h / g); the sum converges."""
    run = drop(restitution).simulate(12.0, **TIGHT)
    bounces = [e.t for e in run.events]
    expected = FALL + 2.0 * FALL * np.cumsum([0.0, *(restitution**k for k in range(1, 8))])
    np.testing.assert_allclose(bounces[:8], expected, rtol=0.0, atol=1e-9)
    assert run.final.held == ("floor lower",)
    assert {e.name for e in run.events} == {"floor reached"}
    assert abs(run["body"].position[-1]).max() < 1e-12
    # it comes to rest at the end of all bounces, but for those slower than the settling rate
    rest = FALL * (1.0 + restitution) / (1.0 - restitution)
    assert bounces[-1] == pytest.approx(rest, abs=2.0 * 1e-4 / (restitution * G * (1.0 - restitution)))
    assert run.dissipated[-1] == pytest.approx(2.0 * G * HEIGHT, rel=1e-9)
    check_ledger(run)


def test_nothing_is_lost_in_an_elastic_impact() -> None:
    run = drop(1.0).simulate(4.0, **TIGHT)
    np.testing.assert_allclose([e.t for e in run.events], FALL * np.array([1.0, 3.0, 5.0, 7.0]), rtol=0.0, atol=1e-9)
    assert abs(run.dissipated).max() < 1e-12
    check_ledger(run)


def test_a_body_held_at_its_stop_is_let_go_when_it_is_pulled() -> None:
    """A rising pull exceeds the weight of 2 kg at t = 19.62 / 10 s; then z'' = 10 (t - t0) / 2."""
    system = drop(0.0)
    pull = qp.Load("pull", system["body"], force=qp.Schedule((0, 10), ((0, 0, 0), (0, 0, 100)), interpolation="linear"))
    run = system.with_(pull).simulate(3.0, **TIGHT)
    assert [e.name for e in run.events] == ["floor reached", "floor released"]
    let_go = 2.0 * G / 10.0
    assert run.events[1].t == pytest.approx(let_go, abs=1e-9)
    assert run["body"].position[-1, 2] == pytest.approx(10.0 * (3.0 - let_go) ** 3 / 12.0, abs=1e-9)
    check_ledger(run)


def rods(*stops: qp.Part) -> list[qp.Part]:
    """Two rods in a row, hinged about z to each other and to the ground; the outer one turns inwards at 1 rad/s."""
    one = qp.Body.box("one", (1.0, 0.1, 0.1), 1.0, position=(0.5, 0, 0))
    two = qp.Body.box(
        "two", (1.0, 0.1, 0.1), 1.0, position=(1.5, 0, 0), velocity=(0, 0.5, 0), angular_velocity=(0, 0, 1)
    )
    first = qp.Revolute("first", qp.GROUND, one, at=(0, 0, 0), axis=(0, 0, 1))
    second = qp.Revolute("second", one, two, at=(1, 0, 0), axis=(0, 0, 1))
    return [one, two, first, second]


@pytest.mark.parametrize("restitution", [0.0, 0.4, 1.0])
def test_an_impact_in_a_chain_keeps_what_no_outer_force_changes(restitution: float) -> None:
    """Angular momentum about the grounded hinge; the rate of the stopped one is -restitution times what it was."""
    parts = rods()
    system = qp.Multibody(*parts, qp.JointStop("limit", parts[3], upper=0.5, restitution=restitution))
    run = system.simulate(1.0, **TIGHT)
    event = run.events[0]
    # flung outwards, nothing presses on the stop: where it does not bounce it is let go at once
    assert [e.name for e in run.events[1:]] == (["limit released"] if restitution == 0.0 else [])
    k = int(np.searchsorted(run.t, event.t))
    assert (event.name, event.joints, run.t[k]) == ("limit reached", ("second",), event.t)
    before = run.system.at(run.states[k - 1]).simulate(event.t - run.t[k - 1], **TIGHT).final["second"].rate
    assert run["second"].rate[k] == pytest.approx(-restitution * before, abs=1e-8)
    assert np.ptp(run.angular_momentum[:, 2]) < 1e-10
    assert np.diff(run.kinetic).max() < 1e-9
    check_ledger(run)


def test_stops_on_both_joints_hold_together_and_let_go_one_by_one() -> None:
    """Pressed on by a torque that acts through both hinges, then pulled back at the outer one."""
    parts = rods()
    push = qp.Load("push", parts[1], torque=qp.Schedule((0, 8), ((0, 0, 1), (0, 0, -1))))
    stops = [qp.JointStop("inner", parts[2], upper=0.3), qp.JointStop("outer", parts[3], upper=0.2)]
    run = qp.Multibody(*parts, push, *stops).simulate(12.0, **TIGHT)
    names = [e.name for e in run.events]
    assert {"inner reached", "outer reached"} <= set(names)
    held = [set(state.held) for state in run.states if 7.0 < state.t < 7.99]
    assert all(h == {"inner upper", "outer upper"} for h in held)
    assert [e.name for e in run.events if 7.9 < e.t < 8.1] == ["outer released"]
    assert run["first"].angle.max() < 0.3 + 1e-9
    assert run["second"].angle.max() < 0.2 + 1e-9
    check_ledger(run)


def test_a_run_goes_on_from_a_held_stop_bit_for_bit() -> None:
    system = drop(0.5)
    whole = system.simulate(2.5, step=0.01)
    for steps in (40, 100, 160):  # falling, bouncing, held
        half = system.simulate(2.5, step=0.01, max_steps=steps)
        on = system.at(half.final).simulate(0.5, step=0.01)
        assert on.states[5] == whole.states[steps + 5]
    assert half.final.held == ("floor lower",)


def test_what_holds_is_not_forgotten_by_those_who_do_not_know_it() -> None:
    """The recursive evaluator holds the body; the others refuse the state."""
    run = drop(0.0).simulate(1.0)
    assert run.final.held == ("floor lower",)
    assert abs(run.system.acceleration(run.final)).max() < 1e-12
    np.testing.assert_allclose(run.system.constraint_forces(run.final)[0], [0, 0, 2.0 * G, 0, 0, 0], atol=1e-9)
    for ask in (lambda s: run.system.acceleration(s, "dense"), run.system.reactions):
        with pytest.raises(qp.PartError, match="and the dense evaluator does not know them"):
            ask(run.final)


def test_a_joint_begins_in_contact_at_rest() -> None:
    body = qp.Body.box("body", (0.1, 0.1, 0.1), 2.0)
    slide = qp.Prismatic("slide", qp.GROUND, body, at=(0, 0, 0), axis=(0, 0, 1))
    pressed = qp.Multibody(body, slide, qp.Gravity((0, 0, -G)), qp.JointStop("floor", slide, lower=0.0))
    assert pressed.simulate(1.0).final.held == ("floor lower",)
    lifted = pressed.without("floor").with_(qp.JointStop("ceiling", slide, upper=0.0))
    run = lifted.simulate(1.0, **TIGHT)
    assert run.final.held == ()
    assert run["body"].position[-1, 2] == pytest.approx(-0.5 * G, abs=1e-10)


def test_a_start_beyond_a_stop_is_refused() -> None:
    system = drop(0.0).without("floor")
    with pytest.raises(qp.PartError, match=r"'slide' begins beyond the lower bound of its stop 'high'"):
        system.with_(qp.JointStop("high", system["slide"], lower=0.1)).simulate(1.0)


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ({}, "no bound"), ({"lower": 1.0, "upper": 0.0}, "must be the smaller"),
        ({"lower": 0.0, "restitution": 1.5}, "between 0 and 1"),
    ],
)  # fmt: skip
def test_bounds_make_sense(bounds: dict[str, float], words: str) -> None:
    with pytest.raises(qp.PartError, match=words):
        qp.JointStop("stop", drop(0.0)["slide"], **bounds)


def test_a_ball_has_no_stop() -> None:
    body = qp.Body.sphere("body", 0.1, 1.0)
    with pytest.raises(qp.PartError, match=r"'ball' .Spherical. has no coordinate"):
        qp.JointStop("stop", qp.Spherical("ball", qp.GROUND, body, at=(0, 0, 0)), lower=0.0)
