"""An event happens also where a value jumps across its level: at an impact, as joints take hold of
a start, in a latch, at a switch and at a knot of a schedule, whatever is watched."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import quirkpy as qp
from tests.laws.test_latches import panel
from tests.laws.test_many_runs_are_single_runs import check_alike
from tests.truths.test_joint_stops import FALL, drop

SPEED = 2.0


class Jumping(NamedTuple):
    """A system that jumps at a time [s]; the switches that make it do so, if any do; what is told
    there beside events; and events that the jump brings, made anew each time."""

    system: qp.Multibody
    t: float
    brings: Callable[[], list[qp.Event]]
    switches: tuple[qp.Switch, ...] = ()


def speed_below(level: float) -> qp.When:
    """The fastest of all bodies becomes slower than a level [m/s]."""
    return qp.When(
        "slow", lambda state: np.linalg.norm(state.v, axis=1).max() - level, direction="falling"
    )


def boxes(**joint: Any) -> qp.Multibody:
    """Two boxes of one mass afloat, that fly towards each other at 2 m/s each, with a lock that
    holds them as they stand."""
    one = qp.Body.box("one", (0.1, 0.1, 0.1), 1.0, velocity=(SPEED, 0, 0))
    two = qp.Body.box("two", (0.1, 0.1, 0.1), 1.0, position=(5.0, 0, 0), velocity=(-SPEED, 0, 0))
    lock = qp.Fixed("lock", one, two, here=True)
    well = qp.PotentialWell("well", one, (0.0, 3.0, 0.0), 1e-9)
    return qp.Multibody(one, two, well, candidates=[lock])


def bounced(restitution: float) -> Jumping:
    def brings() -> list[qp.Event]:
        events = [
            qp.When.above("body.velocity.z", -SPEED),
            qp.When.above("slide.rate", -SPEED),
            qp.When("up", lambda state: state["body"].velocity[2] + SPEED, direction="rising"),
            qp.EnergyBelow(15.0),
        ]
        if restitution == 0.0:
            events += [qp.AtRest(), qp.When.below("kinetic", 3.0), speed_below(1.0)]
        return events

    return Jumping(drop(restitution), FALL, brings)


def locked(when: float) -> Jumping:
    """The two boxes locked at a time, 0 at their start."""

    def brings() -> list[qp.Event]:
        return [
            qp.EnergyBelow(1.0),
            qp.AtRest(),
            speed_below(1.0),
            qp.When.below("one.velocity.x", 1.0),
            qp.When.above("two.velocity.x", -1.0),
            qp.When.below("kinetic", 1.0),
        ]

    if when == 0.0:
        return Jumping(boxes().choosing(("lock",), ()), 0.0, brings)
    return Jumping(boxes(), when, brings, (qp.Switch(when, joints=("lock",)),))


def barred() -> Jumping:
    """A ball that begins to move along the bar on which it hangs, which takes that from it."""
    bob = qp.Body.sphere("bob", 0.1, 1.0, position=(1, 0, 0), velocity=(3.0, 0.5, 0.0))
    bar = qp.Distance("bar", qp.GROUND, bob)
    return Jumping(
        qp.Multibody(bob, bar),
        0.0,
        lambda: [qp.EnergyBelow(1.0), speed_below(1.0), qp.When.below("bob.velocity.x", 1.0)],
    )


def latched() -> Jumping:
    """Two boxes on a hinge, caught by a latch on their way."""
    system = panel(0.5, 1, 1.0)
    run = system.simulate(60.0, progress=False)
    before, after = (rows[1, -1] for rows in run.course.jumps[0][1:3])  # the spin about the hinge
    assert abs(after) < 1e-9 < before

    def brings() -> list[qp.Event]:
        rate = 0.5 * before
        return [
            qp.EnergyBelow(0.005 * (1.0 - 0.5) ** 2 + 1e-6),
            qp.When.below("fin.angular_velocity.z", rate),
            qp.When.below("hinge.rate", rate),
            qp.When(
                "slow",
                lambda state: state["fin"].angular_velocity[2] - rate,
                direction="falling",
            ),
        ]

    return Jumping(system, run.events[0].t, brings)


def knotted() -> Jumping:
    """A spring whose rest angle jumps to where the hinge is about to be: its energy goes, and its
    pull."""
    hub = qp.Body.box("hub", (0.1, 0.1, 0.1), 1.0, fixed=True)
    fin = qp.Body.box("fin", (0.1, 0.1, 0.1), 1.0, position=(0.1, 0, 0))
    hinge = qp.Revolute("hinge", hub, fin, at=(0.05, 0.05, 0), axis=(0, 0, 1))
    angle = qp.Schedule((0.0, 0.05), (1.0, 0.0), "hold")
    spring = qp.HingeSpring("spring", hinge, stiffness=0.01, rest_angle=angle)
    return Jumping(
        qp.Multibody(hub, fin, hinge, spring),
        0.05,
        lambda: [qp.EnergyBelow(0.003), qp.When.below("potential", 0.003)],
    )


def let_go() -> Jumping:
    """A well that ceases to act: its energy is gone."""
    body = qp.Body.box("body", (0.1, 0.1, 0.1), 1.0, velocity=(1.0, 0, 0))
    well = qp.PotentialWell("well", body, (0.0, 3.0, 0.0), 1.0)
    return Jumping(
        qp.Multibody(body, well),
        0.25,
        lambda: [qp.EnergyBelow(2.0), qp.When.below("energy", 2.0)],
        (qp.Switch(0.25, forces=()),),
    )


def snapped() -> Jumping:
    """A joint that draws two bodies 5 mm along as it takes hold, and so their sensors within reach
    of each other."""
    one = qp.Body.box("one", (0.1, 0.1, 0.1), 1.0)
    two = qp.Body.box("two", (0.1, 0.1, 0.1), 1.0, position=(0.105, 0, 0), velocity=(1e-9, 0, 0))
    east = one.site("east", (0.05, 0, 0), z=(1, 0, 0), x=(0, 0, 1))
    west = two.site("west", (-0.05, 0, 0), z=(-1, 0, 0), x=(0, 0, 1))
    eyes = [qp.Sensor(f"{site.name} eye", site, reach=2e-3) for site in (east, west)]
    ball = qp.Spherical("ball", one.site("end", (0.05, 0, 0)), two.site("end", (-0.05, 0, 0)))
    return Jumping(
        qp.Multibody(one, two, *eyes, candidates=[ball]),
        0.5,
        lambda: [qp.SensorsMeet()],
        (qp.Switch(0.5, joints=("ball",), reach=0.01),),
    )


JUMPS: dict[str, Callable[[], Jumping]] = {
    "an impact": lambda: bounced(0.0),
    "a bounce": lambda: bounced(0.5),
    "locks that take hold of a start": lambda: locked(0.0),
    "a joint that takes hold of a start": barred,
    "a lock that is switched on": lambda: locked(0.7),
    "a latch": latched,
    "a knot": knotted,
    "a force that is switched off": let_go,
    "a pose that snaps": snapped,
}
SWITCHED = ("a lock that is switched on", "a force that is switched off", "a pose that snaps")


def flown(jumping: Jumping, event: qp.Event, terminal: bool) -> Any:
    told = dataclasses.replace(event, terminal=terminal)
    duration = max(1.5 * jumping.t, 0.1)
    return jumping.system.simulate(duration, stop=[told], switches=jumping.switches, progress=False)


@pytest.mark.parametrize("name", JUMPS)
def test_what_jumps_across_a_level_is_told(name: str) -> None:
    """Once, at the time of the jump; a run that it ends, ends after the jump."""
    jumping = JUMPS[name]()
    for event in jumping.brings():
        run = flown(jumping, event, terminal=True)
        assert run.stop is qp.Stop.EVENT, event
        assert run.t[-1] == pytest.approx(jumping.t, abs=1e-9)
        (told,) = [e for e in run.events if e.name == event.name]
        assert told.t == run.t[-1]
        on = flown(jumping, event, terminal=False)
        assert on.stop is qp.Stop.END
        assert [e.t for e in on.events if e.name == event.name] == [told.t]
        assert abs(on.t - told.t).min() == 0.0


@pytest.mark.parametrize("name", [name for name in JUMPS if name not in SWITCHED])
def test_many_runs_are_told_the_same(name: str) -> None:
    """To the bit, of all events that need no Python within steps."""
    jumping = JUMPS[name]()
    duration = max(1.5 * jumping.t, 0.1)
    for event in jumping.brings():
        if type(event) in (qp.EnergyBelow, qp.AtRest) or ".rate" in getattr(event, "measure", ""):
            alone = flown(jumping, event, terminal=True)
            runs = jumping.system.simulate_many(
                [jumping.system.initial], duration=duration, stop=[event]
            )
            check_alike(runs, 0, alone)


@pytest.mark.parametrize("direction", ["falling", "both"])
def test_a_jump_the_other_way_is_not_told(direction: Any) -> None:
    """Of a bounce from -4.4 to 2.2 m/s, and a fall afterwards."""
    event = qp.When(
        "level", lambda state: state["body"].velocity[2] - 1.0, direction=direction, terminal=False
    )
    run = drop(0.5).simulate(1.5 * FALL, stop=[event], progress=False)
    times = [e.t for e in run.events if e.name == "level"]
    falls = FALL + (0.5 * 9.81 * FALL - 1.0) / 9.81
    expected = [falls] if direction == "falling" else [FALL, falls]
    np.testing.assert_allclose(times, expected, rtol=0, atol=1e-9)


def test_what_is_met_at_its_bound_is_told_once() -> None:
    """The level is that of the stop: the crossing and the impact are one moment, whichever of the
    two rounding puts first."""
    for level in np.linspace(-1.0, 1.0, 9) * 1e-15:
        touched = qp.When.below("body.position.z", float(level), terminal=False)
        run = drop(0.0).simulate(1.0, stop=[touched], progress=False)
        times = [e.t for e in run.events if e.name == touched.name]
        assert len(times) <= 1
        np.testing.assert_allclose(times, FALL, rtol=0, atol=1e-9)


def test_a_later_switch_waits_for_what_an_earlier_brings() -> None:
    """The lock takes the energy for which the second switch waits."""
    system = boxes()
    switches = (
        qp.Switch(0.5, joints=("lock",)),
        qp.Switch(qp.EnergyBelow(1.0, name="spent"), joints=(), name="parted"),
    )
    run = system.simulate(1.0, switches=switches, progress=False)
    assert run.switches == switches
    assert [(e.t, e.name) for e in run.events if e.name in ("spent", "parted")] == [
        (0.5, "spent"), (0.5, "parted"),
    ]  # fmt: skip


def test_an_impact_at_the_very_end_ends_no_run_before_it() -> None:
    """The last impact comes as many of the last digits before the end as it likes."""
    for digits in range(-20, 21, 4):
        end = 2.0 * FALL + digits * np.spacing(2.0 * FALL)
        run = drop(0.5).simulate(end, progress=False)
        assert run.stop is qp.Stop.END
        assert run.t[-1] == end
