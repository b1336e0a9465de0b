"""Joints at their stops: impacts, bounces, resting contact and its release, against closed
forms."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import get_args

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.mechanics.system import Evaluator
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
    assert bounces[-1] == pytest.approx(
        rest, abs=2.0 * 1e-4 / (restitution * G * (1.0 - restitution))
    )
    assert run.dissipated[-1] == pytest.approx(2.0 * G * HEIGHT, rel=1e-9)
    check_ledger(run)


def test_nothing_is_lost_in_an_elastic_impact() -> None:
    run = drop(1.0).simulate(4.0, **TIGHT)
    np.testing.assert_allclose(
        [e.t for e in run.events], FALL * np.array([1.0, 3.0, 5.0, 7.0]), rtol=0.0, atol=1e-9
    )
    assert abs(run.dissipated).max() < 1e-12
    check_ledger(run)


def test_a_body_held_at_its_stop_is_let_go_when_it_is_pulled() -> None:
    """A rising pull exceeds the weight of 2 kg at t = 19.62 / 10 s; then z'' = 10 (t - t0) / 2."""
    system = drop(0.0)
    pull = qp.Load(
        "pull",
        system["body"],
        force=qp.Schedule((0, 10), ((0, 0, 0), (0, 0, 100)), interpolation="linear"),
    )
    run = system.with_(pull).simulate(3.0, **TIGHT)
    assert [e.name for e in run.events] == ["floor reached", "floor released"]
    let_go = 2.0 * G / 10.0
    assert run.events[1].t == pytest.approx(let_go, abs=1e-9)
    assert run["body"].position[-1, 2] == pytest.approx(10.0 * (3.0 - let_go) ** 3 / 12.0, abs=1e-9)
    check_ledger(run)


def rods(*stops: qp.Part) -> list[qp.Part]:
    """Two rods in a row, hinged about z to each other and to the ground; the outer one turns
    inwards at 1 rad/s."""
    one = qp.Body.box("one", (1.0, 0.1, 0.1), 1.0, position=(0.5, 0, 0))
    two = qp.Body.box(
        "two",
        (1.0, 0.1, 0.1),
        1.0,
        position=(1.5, 0, 0),
        velocity=(0, 0.5, 0),
        angular_velocity=(0, 0, 1),
    )
    first = qp.Revolute("first", qp.GROUND, one, at=(0, 0, 0), axis=(0, 0, 1))
    second = qp.Revolute("second", one, two, at=(1, 0, 0), axis=(0, 0, 1))
    return [one, two, first, second]


@pytest.mark.parametrize("restitution", [0.0, 0.4, 1.0])
def test_an_impact_in_a_chain_keeps_what_no_outer_force_changes(restitution: float) -> None:
    """Angular momentum about the grounded hinge; the rate of the stopped one is -restitution times
    what it was."""
    parts = rods()
    system = qp.Multibody(
        *parts, qp.JointStop("limit", parts[3], upper=0.5, restitution=restitution)
    )
    run = system.simulate(1.0, **TIGHT)
    event = run.events[0]
    # flung outwards, nothing presses on the stop: where it does not bounce it is let go at once
    assert [e.name for e in run.events[1:]] == (["limit released"] if restitution == 0.0 else [])
    k = int(np.searchsorted(run.t, event.t))
    assert (event.name, event.joints, run.t[k]) == ("limit reached", ("second",), event.t)
    before = (
        run.system.at(run.states[k - 1])
        .simulate(event.t - run.t[k - 1], **TIGHT)
        .final["second"]
        .rate
    )
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


@pytest.mark.parametrize("evaluator", get_args(Evaluator))
def test_a_held_body_presses_on_its_stop_with_its_weight(evaluator: Evaluator) -> None:
    """Every evaluator holds it; its slide does nothing."""
    run = drop(0.0).simulate(1.0)
    system, state = run.system, run.final
    assert state.held == ("floor lower",)
    assert abs(system.acceleration(state, evaluator)).max() < 1e-12
    forces = system.constraint_forces(state, evaluator)
    np.testing.assert_allclose(forces[0], [0, 0, 2.0 * G, 0, 0, 0], atol=1e-9)
    loads = system.reactions(state)
    assert set(loads) == {"slide", "floor"}
    np.testing.assert_allclose(loads["floor"].force, (0, 0, 2.0 * G), atol=1e-9)
    assert loads["floor"].press == pytest.approx(2.0 * G, rel=1e-12)
    assert loads["floor"].unique
    assert loads["slide"].press is None
    np.testing.assert_allclose(np.hstack(loads["slide"][:2]), 0.0, atol=1e-9)
    np.testing.assert_allclose(run["slide"].load[-1], 0.0, atol=1e-9)
    assert system.mobility(state)[:3] == (0, 6, 6)
    assert system.mobility().degrees_of_freedom == 1
    assert system.residual(state).joints == ("slide",) * 6
    assert abs(system.residual(state).position).max() < 1e-12


@pytest.mark.parametrize(("side", "sign"), [("lower", 1.0), ("upper", -1.0)])
@pytest.mark.parametrize("torque", [3.0, -3.0])
def test_press_tells_whether_a_stop_would_have_to_pull(
    side: str, sign: float, torque: float
) -> None:
    """An arm at its stop on either side: the torque on it is what presses, and below zero what
    pulls."""
    arm = qp.Body("arm", 2.0, (0.1, 0.1, 0.1), position=(0.5, 0, 0))
    hinge = qp.Revolute("hinge", qp.GROUND, arm, at=(0, 0, 0), axis=(0, 0, 1))
    stop = qp.JointStop("limit", hinge, **{side: 0.0})
    system = qp.Multibody(arm, hinge, stop, qp.Load("push", arm, torque=(0, 0, torque)))
    state = dataclasses.replace(system.initial, held=(f"limit {side}",))
    load = system.reactions(state, axes="joint")["limit"]
    np.testing.assert_allclose(load.torque, (0, 0, -torque), atol=1e-12)
    np.testing.assert_allclose(load.force, 0.0, atol=1e-12)
    assert load.press == pytest.approx(-sign * torque, rel=1e-12)
    held = system.simulate(0.1).final.held  # the run decides for itself
    assert held == ((f"limit {side}",) if load.press > 0.0 else ())


def test_a_taut_rope_carries_what_hangs_on_it() -> None:
    """m (g + v^2 / l) at the lowest point of a swing, in the line of the rope; the load is the
    rope's own."""
    bob = qp.Body("bob", 1.5, (1e-3, 1e-3, 1e-3), position=(0, 0, -0.8), velocity=(1.2, 0, 0))
    system = qp.Multibody(bob, qp.Rope("rope", qp.GROUND, bob), qp.Gravity((0, 0, -G)))
    state = dataclasses.replace(system.initial, held=("rope upper",))
    load, tension = system.reactions(state)["rope"], 1.5 * (G + 1.2**2 / 0.8)
    assert load.press == pytest.approx(tension, rel=1e-12)
    np.testing.assert_allclose(load.force, (0, 0, tension), rtol=1e-12, atol=1e-12)
    assert system.reactions()["rope"].press is None
    assert not system.reactions()["rope"].force.any()
    run = system.simulate(0.4, **TIGHT)
    rate, tilt = run["bob"].velocity[-1], run["bob"].position[-1, 2] / 0.8
    later = 1.5 * (-G * tilt + rate @ rate / 0.8)
    assert np.linalg.norm(run["rope"].reaction[-1, :3]) == pytest.approx(later, rel=1e-8)


def test_stops_that_do_the_same_are_redundant() -> None:
    """Two on one hinge share the load as they like, and say so."""
    arm = qp.Body("arm", 2.0, (0.1, 0.1, 0.1), position=(0.5, 0, 0))
    hinge = qp.Revolute("hinge", qp.GROUND, arm, at=(0, 0, 0), axis=(0, 0, 1))
    stops = [qp.JointStop(name, hinge, upper=0.0) for name in ("one", "two")]
    system = qp.Multibody(arm, hinge, *stops, qp.Load("push", arm, torque=(0, 0, 3.0)))
    state = dataclasses.replace(system.initial, held=("one upper", "two upper", "no such stop"))
    loads = system.reactions(state)
    assert [loads[name].press for name in ("one", "two")] == pytest.approx([1.5, 1.5], rel=1e-12)
    assert not loads["one"].unique
    assert loads["hinge"].unique
    assert system.mobility(state).redundant == ("one", "two")
    assert system.mobility(state)[:3] == (0, 6, 7)


def test_a_joint_begins_in_contact_at_rest() -> None:
    body = qp.Body.box("body", (0.1, 0.1, 0.1), 2.0)
    slide = qp.Prismatic("slide", qp.GROUND, body, at=(0, 0, 0), axis=(0, 0, 1))
    pressed = qp.Multibody(
        body, slide, qp.Gravity((0, 0, -G)), qp.JointStop("floor", slide, lower=0.0)
    )
    assert pressed.simulate(1.0).final.held == ("floor lower",)
    lifted = pressed.without("floor").with_(qp.JointStop("ceiling", slide, upper=0.0))
    run = lifted.simulate(1.0, **TIGHT)
    assert run.final.held == ()
    assert run["body"].position[-1, 2] == pytest.approx(-0.5 * G, abs=1e-10)


def test_a_start_beyond_a_stop_is_refused() -> None:
    system = drop(0.0).without("floor")
    with pytest.raises(
        qp.PartError, match=r"'slide' begins beyond the lower bound of its stop 'high'"
    ):
        system.with_(qp.JointStop("high", system["slide"], lower=0.1)).simulate(1.0)


def test_a_run_within_a_when_is_told_why_it_begins_beyond_a_stop() -> None:
    """An event is asked at the ends of steps, before it is known that a stop was reached within."""
    system = drop(0.0)
    without = system.without("floor")

    def fall(state: qp.State, model: qp.Multibody) -> float:
        return float(model.at(state).simulate(0.1, progress=False).final.t) - 100.0

    asking = qp.When("later", lambda state: fall(state, system))
    words = "When 'later' is asked within steps, where a joint may be a little beyond a stop"
    with pytest.raises(qp.PartError, match=words) as refused:
        system.simulate(2.0, stop=[asking], progress=False)
    assert "leave the stop out of the run within its function" in str(refused.value)
    assert "in the function of When 'later'" in refused.value.__notes__
    run = refused.value.trajectory  # type: ignore[attr-defined]
    assert system.at(run.final).simulate(0.1, progress=False).stop is qp.Stop.END  # a row of it
    out = qp.When("later", lambda state: fall(state, without))
    assert system.simulate(2.0, stop=[out], progress=False).stop is qp.Stop.END


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


@pytest.mark.parametrize("moving", [True, False])
def test_what_rests_at_its_stop_with_nothing_to_press_it_stays_there(moving: bool) -> None:
    """A hinge without loads, flung at its stop or lying there: no event comes of rounding, and a
    pull frees it."""
    speed = 0.4 if moving else 0.0
    arm = qp.Body("arm", 1.0, (0.1, 0.1, 0.1), velocity=(0, 0.5 * speed, 0), position=(0.5, 0, 0),
                  angular_velocity=(0, 0, speed))  # fmt: skip
    hinge = qp.Revolute("hinge", qp.GROUND, arm, at=(0, 0, 0), axis=(0, 0, 1))
    stop = qp.JointStop("limit", hinge, upper=0.2 if moving else 0.0)
    pull = qp.Load(
        "pull", arm, torque=qp.Schedule((0.0, 2.0), ((0, 0, 0), (0, 0, -0.7)), interpolation="hold")
    )
    run = qp.Multibody(arm, hinge, stop, pull).simulate(3.0, max_steps=1000, **TIGHT)
    assert run.stop is qp.Stop.END
    assert [(e.name, round(e.t, 6)) for e in run.events] == [("limit reached", 0.5)] * moving + [
        ("limit released", 2.0)
    ]
    assert run.at(1.0).held == ("limit upper",)
    assert run["hinge"].angle[-1] == pytest.approx(stop.upper - 0.5 * 0.7 / 0.35, abs=1e-8)


def test_a_stop_that_other_forces_leave_lets_go() -> None:
    """A rod leans on its stop; taken over from there, gravity has turned round: it hangs at atan(gx
    / gz)."""

    def leaning(gravity: tuple[float, float, float], start: qp.State | None = None) -> qp.Multibody:
        rod = qp.Body.rod("rod", (0, 0, 0), (0, 0, 1), 1.0, radius=0.02)
        hinge = qp.Revolute("hinge", qp.GROUND, rod, at=(0, 0, 0), axis=(0, 1, 0))
        damper = qp.HingeSpring("damper", hinge, stiffness=0.0, damping=0.3)
        stop = qp.JointStop("stop", hinge, lower=-0.3, upper=0.4)
        return qp.Multibody(rod, hinge, damper, stop, qp.Gravity(gravity), start=start)

    down = leaning((1.0, 0.0, -9.81))
    pressed = down.settle().state
    assert pressed.held == ("stop upper",)
    assert down.at(pressed).initial.held == pressed.held
    assert down.at(pressed).settle().state["hinge"].angle == pytest.approx(0.4, abs=1e-12)
    up = leaning((-1.0, 0.0, 5.0), pressed)
    assert up.simulate(0.1).final["hinge"].angle < 0.4
    assert up.settle().state["hinge"].angle == pytest.approx(math.atan2(-1.0, 5.0), abs=1e-12)


@pytest.mark.parametrize("off", [0.0, 1e-12, -1e-12, 1e-7, -1e-7])
@pytest.mark.parametrize(("lower", "upper"), [(0.0, math.pi), (-math.pi, 0.0), (0.5, 6.0)])
def test_half_a_turn_lies_between_the_stops_whichever_way_rounding_falls(
    lower: float, upper: float, off: float
) -> None:
    """An angle of pi + off is one of -pi + off as well; only between the stops it can be."""
    body = qp.Body.box(
        "body", (0.1, 0.1, 0.1), 1.0, orientation=qp.rotation((0, 0, 1), math.pi + off)
    )
    hinge = qp.Revolute(
        "hinge",
        qp.GROUND.site("post", z=(0, 0, 1), x=(1, 0, 0)),
        body.site("eye", z=(0, 0, 1), x=(1, 0, 0)),
    )
    system = qp.Multibody(body, hinge, qp.JointStop("range", hinge, lower=lower, upper=upper))
    expected = math.pi + off if upper > 0.0 else -math.pi + off
    assert system.initial["hinge"].angle == pytest.approx(expected, abs=1e-15)
    assert system.without("range").at(system.initial).initial["hinge"].angle == pytest.approx(
        expected, abs=1e-15
    )


@pytest.mark.parametrize("angle", [-0.3, 0.2, 3.0])
def test_an_angle_that_no_whole_turn_brings_between_the_stops_is_left_alone(angle: float) -> None:
    body = qp.Body.box("body", (0.1, 0.1, 0.1), 1.0, orientation=qp.rotation((0, 0, 1), angle))
    hinge = qp.Revolute(
        "hinge",
        qp.GROUND.site("post", z=(0, 0, 1), x=(1, 0, 0)),
        body.site("eye", z=(0, 0, 1), x=(1, 0, 0)),
    )
    system = qp.Multibody(body, hinge, qp.JointStop("range", hinge, lower=0.5, upper=1.5))
    assert system.initial["hinge"].angle == pytest.approx(angle, abs=1e-15)


@pytest.mark.parametrize("seed", [14, 25, 29, 39, 82, 148])
def test_a_stop_that_another_impact_frees_is_left_at_once(seed: int) -> None:
    """Four cubes in a row, pulled and pushed at random: what one hinge's impact lets go of
    another's begins exactly at its bound, not a rounding of the landing beyond it, where it would
    be met again every 1e-10 s."""
    rng, side, n = np.random.default_rng(seed), 0.1, 4
    cubes = [
        qp.Body.box(f"c{k}", (side,) * 3, 1.0, position=(side * k, 0.0, 0.0)) for k in range(n)
    ]
    hinges = [
        qp.Revolute(
            f"h{k}",
            *cubes[k : k + 2],
            at=(side * (k + 0.5), 0.5 * side * s, 0.0),
            axis=(0.0, 0.0, s),
        )
        for k, s in enumerate(rng.choice([-1.0, 1.0], n - 1))
    ]
    stops = [
        qp.JointStop(f"s{k}", hinge, lower=0.0, upper=math.pi) for k, hinge in enumerate(hinges)
    ]
    springs = [
        qp.Spring(
            f"{i}{j}",
            cubes[i],
            cubes[j],
            stiffness=0.02 * rng.uniform(0.5, 2),
            rest_length=rng.choice([0.0, 0.4]),
        )
        for i, j in itertools.combinations(range(n), 2)
    ]
    run = qp.Multibody(*cubes, *hinges, *stops, *springs, qp.ViscousHinges(2e-4)).simulate(60.0)
    assert run.stop is qp.Stop.END
    assert len(run.events) < 60
    check_ledger(run)
