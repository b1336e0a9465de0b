"""Events are found where they happen, once each, in order; rest and energy thresholds mean what
they say."""

from __future__ import annotations

import math

import numpy as np
import pytest

import quirkpy as qp
from tests.motion import TIGHT
from tests.truths.test_row_of_four_bars import row

G, SPEED = 10.0, 10.0


def thrown() -> qp.Multibody:
    """A ball thrown up at 10 m/s: z = 10 t - 5 t^2, back after 2 s."""
    ball = qp.Body.sphere("ball", 0.1, 1.0, velocity=(1.0, 0, SPEED))
    return qp.Multibody(ball, qp.Gravity((0, 0, -G)))


def passage(level: float, upwards: bool) -> float:
    """When the ball passes a level."""
    root = math.sqrt(SPEED**2 - 2.0 * G * level)
    return (SPEED - root if upwards else SPEED + root) / G


def height(level: float, name: str = "level", **options: object) -> qp.When:
    return qp.When(name, lambda state: state["ball"].position[2] - level, **options)


@pytest.mark.parametrize(
    ("direction", "upwards"), [("rising", [True]), ("falling", [False]), ("both", [True, False])]
)  # fmt: skip
@pytest.mark.parametrize("method", ["dop853", "rk45"])
@pytest.mark.parametrize("level", np.linspace(0.3, 3.3, 11))
def test_crossings_are_found_in_their_direction(
    direction: str, upwards: list[bool], method: str, level: float
) -> None:
    run = thrown().simulate(
        2.0, stop=[height(level, direction=direction, terminal=False)], method=method
    )
    assert run.stop is qp.Stop.END
    np.testing.assert_allclose(
        [e.t for e in run.events], [passage(level, up) for up in upwards], rtol=0.0, atol=1e-10
    )
    for event in run.events:
        assert event.t in run.t
        assert abs(run.at(event.t)["ball"].position[2] - level) < 1e-9


@pytest.mark.kernels
def test_a_terminal_event_ends_the_run() -> None:
    run = thrown().simulate(2.0, stop=[height(2.0)])
    assert run.stop is qp.Stop.EVENT
    assert [e.name for e in run.events] == ["level"]
    assert run.t[-1] == run.events[0].t == pytest.approx(passage(2.0, True), abs=1e-10)
    later = run.system.simulate(1.0).final
    on = run.system.at(later).simulate(1.0, stop=[height(2.0)])
    assert on.events[0].t == pytest.approx(passage(2.0, False), abs=1e-10)


def test_several_events_of_a_run_come_in_order() -> None:
    levels = (0.5, 3.0, 1.0, 2.0)
    stop = [height(level, f"at {level}", terminal=False) for level in levels]
    run = thrown().simulate(2.0, stop=stop, step=0.05)
    up = sorted(levels)
    assert [e.name for e in run.events] == [f"at {level}" for level in [*up, *reversed(up)]]
    times = [passage(level, True) for level in up] + [
        passage(level, False) for level in reversed(up)
    ]
    np.testing.assert_allclose([e.t for e in run.events], times, rtol=0.0, atol=1e-10)


@pytest.mark.kernels
@pytest.mark.parametrize("level", [4.9, 4.99])
def test_a_short_visit_is_seen_by_short_steps(level: float) -> None:
    """The ball is above 4.9 m for 0.28 s; a step that leaps over that sees nothing, and a fixed one
    can be shorter.

    Above 4.99 m it stays for 0.09 s: the step that begins where it rose there ends below again.
    """
    run = thrown().simulate(2.0, stop=[height(level, terminal=False, direction="both")], step=0.1)
    times = [passage(level, up) for up in (True, False)]
    np.testing.assert_allclose([e.t for e in run.events], times, rtol=0.0, atol=1e-10)


@pytest.mark.parametrize("names", [("one", "two"), ("two", "one")])
def test_simultaneous_events_stand_in_the_order_given(names: tuple[str, str]) -> None:
    along = qp.When(names[1], lambda state: state["ball"].position[0] - passage(2.0, True))
    run = thrown().simulate(2.0, stop=[height(2.0, names[0], terminal=False), along])
    assert tuple(e.name for e in run.events) == names
    assert run.events[0].t == run.events[1].t
    assert run.stop is qp.Stop.EVENT


def test_an_event_on_the_last_instant_counts() -> None:
    run = thrown().simulate(
        1.0, stop=[qp.When("moved", lambda state: state["ball"].position[0] - 1.0 + 1e-12)]
    )
    assert [e.name for e in run.events] == ["moved"]


def test_what_holds_at_the_start_has_not_happened() -> None:
    """Only a crossing counts."""
    run = thrown().simulate(0.5, stop=[height(0.0), height(-1.0, direction="falling")])
    assert run.events == ()


# --- rest and energy ------------------------------------------------------------------------------
def braked() -> qp.Multibody:
    """1 kg at 1 m/s along a damper of 0.5 N s/m: v = exp(-t / 2)."""
    body = qp.Body.sphere("body", 0.1, 1.0, position=(1, 0, 0), velocity=(1, 0, 0))
    return qp.Multibody(body, qp.Damper("damper", qp.GROUND, body, damping=0.5))


@pytest.mark.kernels
def test_rest_is_when_speed_and_acceleration_are_small() -> None:
    """exp(-t / 2) = 0.01 for the speed; half of that for the acceleration, which may rule too."""
    run = braked().simulate(50.0, stop=[qp.AtRest(speed=0.01, acceleration=1.0)], **TIGHT)
    assert run.stop is qp.Stop.EVENT
    assert run.t[-1] == pytest.approx(2.0 * math.log(100.0), abs=1e-9)
    run = braked().simulate(50.0, stop=[qp.AtRest(speed=1.0, acceleration=0.001)], **TIGHT)
    assert run.t[-1] == pytest.approx(2.0 * math.log(500.0), abs=1e-9)


def test_energy_below() -> None:
    """exp(-t) / 2 = 1e-3."""
    run = braked().simulate(50.0, stop=[qp.EnergyBelow(1e-3, name="tired")], **TIGHT)
    assert run.events[0].name == "tired"
    assert run.t[-1] == pytest.approx(math.log(500.0), abs=1e-9)
    assert run.energy[-1] == pytest.approx(1e-3, abs=1e-12)


def test_a_turning_point_is_not_rest() -> None:
    """A pendulum stands still at the end of each swing, and is pulled."""
    bob = qp.Body.sphere("bob", 0.1, 1.0, position=(1, 0, 0))
    hinge = qp.Revolute("hinge", qp.GROUND, bob, at=(0, 0, 0), axis=(0, 1, 0))
    stop = [qp.AtRest(speed=1e-2, acceleration=1e-2)]
    run = qp.Multibody(bob, hinge, qp.Gravity((0, 0, -G))).simulate(5.0, stop=stop)
    assert run.stop is qp.Stop.END


def test_a_damped_pendulum_comes_to_rest() -> None:
    bob = qp.Body.sphere("bob", 0.1, 1.0, position=(1, 0, 0))
    hinge = qp.Revolute("hinge", qp.GROUND, bob, at=(0, 0, 0), axis=(0, 1, 0))
    drag = qp.HingeSpring("drag", hinge, stiffness=0.0, damping=2.0)
    run = qp.Multibody(bob, hinge, drag, qp.Gravity((0, 0, -G))).simulate(200.0, stop=[qp.AtRest()])
    assert run.stop is qp.Stop.EVENT
    np.testing.assert_allclose(run.final["bob"].position, (0, 0, -1), atol=1e-6)


@pytest.mark.kernels
@pytest.mark.parametrize("terminal", [True, False])
def test_a_system_at_rest_is_there_at_once(terminal: bool) -> None:
    body = qp.Body.sphere("body", 0.1, 1.0)
    run = qp.Multibody(body).simulate(5.0, stop=[qp.AtRest(name="asleep", terminal=terminal)])
    assert [(e.t, e.name) for e in run.events] == [(0.0, "asleep")]
    assert run.t[-1] == (0.0 if terminal else 5.0)
    assert run.stop is (qp.Stop.EVENT if terminal else qp.Stop.END)


# --- singular poses -------------------------------------------------------------------------------
@pytest.mark.parametrize("angle", [0.2, 0.02])
@pytest.mark.parametrize("terminal", [True, False])
def test_a_singular_pose_is_told_once_and_in_its_place(angle: float, terminal: bool) -> None:
    """A four-bar on its way to the flat pose passes a mark so many radians before it."""
    mark = qp.When("mark", lambda s: s["foot0"].angle + 0.5 * math.pi - angle, terminal=terminal)
    run = row(1, 0.5 * math.pi, -1.0).simulate(1.0, rtol=1e-6, atol=1e-8, stop=[mark])
    assert [event.name for event in run.events] == (
        ["mark"] if terminal else ["mark", "singular pose"]
    )
    assert all(event.t <= run.t[-1] for event in run.events)
