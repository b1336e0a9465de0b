"""Sensors that come together: reach, alignment, roll, who may meet whom, and pairs in range at the
start."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from tests.motion import TIGHT
from tests.truths.test_hinged_cubes import A, B, cubes

SIDE, REACH, ALIGNMENT = 0.1, 1e-3, 1e-2
#: A fixed step [s] in which no pair passes its range unseen.
SHORT = 0.02


def face(
    body: qp.Body, name: str, z: tuple[float, ...], x: Any = (0, 0, 1), **options: Any
) -> qp.Sensor:
    """A sensor in the middle of a face of a cube."""
    site = body.site(name, at=[0.5 * SIDE * c for c in z], z=z, x=x)
    return qp.Sensor(
        f"{body.name} {name}", site, **{"reach": REACH, "alignment": ALIGNMENT} | options
    )


def swinging(
    phi: float, rate: float, well: tuple[float, float, float], **options: Any
) -> qp.Multibody:
    """The two hinged cubes, which look at each other at A."""
    system = cubes(phi, rate, well)
    hub, cube = system["hub"], system["cube"]
    return system.with_(
        face(hub, "east", (1, 0, 0), **options), face(cube, "west", (-1, 0, 0), **options)
    )


def drifting(speed: float = 0.1, turn: float = 0.0, **options: Any) -> qp.Multibody:
    """Two free cubes whose faces are 0.1 m apart and close in; the second is turned about the line
    between them."""
    one = qp.Body.box("one", [SIDE] * 3, 1.0)
    turned = qp.rotation((1, 0, 0), turn)
    two = qp.Body.box(
        "two",
        [SIDE] * 3,
        1.0,
        position=(2 * SIDE, 0, 0),
        orientation=turned,
        velocity=(-speed, 0, 0),
    )
    return qp.Multibody(
        one, two, face(one, "east", (1, 0, 0), **options), face(two, "west", (-1, 0, 0), **options)
    )  # fmt: skip


@pytest.mark.kernels
def test_sensors_meet_within_reach() -> None:
    """0.1 m less the reach, at 0.1 m/s."""
    run = drifting().simulate(2.0, stop=[qp.SensorsMeet()], step=SHORT)
    assert run.stop is qp.Stop.EVENT
    assert run.events[0].sensors == ("one east", "two west")
    assert run.t[-1] == pytest.approx((SIDE - REACH) / 0.1, abs=1e-10)


def test_the_smaller_reach_counts() -> None:
    system = drifting(reach=5e-3).without("one east")
    run = system.with_(face(system["one"], "east", (1, 0, 0))).simulate(
        2.0, stop=[qp.SensorsMeet()], step=SHORT
    )
    assert run.t[-1] == pytest.approx((SIDE - REACH) / 0.1, abs=1e-10)


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("turn", "roll", "meets"),
    [
        (0.0, None, True),
        (1.0, None, True),
        (0.0, qp.QUARTER_TURNS, True),
        (0.5 * math.pi, qp.QUARTER_TURNS, True),
        (-math.pi, qp.QUARTER_TURNS, True),
        (0.005, qp.QUARTER_TURNS, True),
        (0.02, qp.QUARTER_TURNS, False),
        (0.25 * math.pi, qp.QUARTER_TURNS, False),
        (0.5 * math.pi, 2.0 * math.pi, False),
    ],
)
def test_roll_must_match(turn: float, roll: float | None, meets: bool) -> None:
    run = drifting(turn=turn, roll=roll).simulate(2.0, stop=[qp.SensorsMeet()], step=SHORT)
    assert (run.stop is qp.Stop.EVENT) == meets


def test_only_those_meet_that_accept_each_other() -> None:
    run = drifting(kind="plug", accepts=("socket",)).simulate(
        2.0, stop=[qp.SensorsMeet()], step=SHORT
    )
    assert run.stop is qp.Stop.END


@pytest.mark.parametrize("target", ["A", "B"])
def test_hinged_cubes_meet_where_their_faces_align(target: str) -> None:
    """At 1e-2 rad they align; the middles of the faces are 2 0.05 sin(0.005) = 5e-4 m apart then,
    within reach."""
    if target == "A":
        system, at = swinging(B, 0.02, (0.1, 0, 0)), -ALIGNMENT
    else:
        system, at = cubes(A, -0.02, (0, -0.1, 0)), ALIGNMENT - math.pi
        hub, cube = system["hub"], system["cube"]
        system = system.with_(face(hub, "south", (0, -1, 0)), face(cube, "south", (0, -1, 0)))
    run = system.simulate(40.0, stop=[qp.SensorsMeet()], step=SHORT)
    known = system.simulate(
        40.0, stop=[qp.When("aligned", lambda s: s["hinge"].angle - at)], **TIGHT
    )
    assert run.stop is known.stop is qp.Stop.EVENT
    assert run.t[-1] == pytest.approx(known.t[-1], abs=1e-9)


@pytest.mark.parametrize("rtol", [1e-6, 1e-8, 1e-12])
def test_no_step_jumps_over_a_meeting(rtol: float) -> None:
    """The visit lasts 0.04 s, a step up to two seconds: its beginning is found within the step."""
    system = swinging(B, 0.02, (0.1, 0, 0))
    run = system.simulate(40.0, stop=[qp.SensorsMeet()], rtol=rtol, atol=0.1 * rtol)
    known = system.simulate(
        40.0, stop=[qp.When("aligned", lambda s: s["hinge"].angle + ALIGNMENT)], **TIGHT
    )
    assert run.stop is qp.Stop.EVENT
    assert run.t[-1] == pytest.approx(known.t[-1], abs=1e3 * rtol)


def test_a_pair_in_range_at_the_start_meets_only_after_it_has_parted() -> None:
    """From A with a push outwards; the pull brings the cube back."""
    system = swinging(A, -0.05, (0.1, 0, 0))
    run = system.simulate(60.0, stop=[qp.SensorsMeet()], step=SHORT)
    back = qp.When("back", lambda s: s["hinge"].angle + ALIGNMENT, direction="rising")
    known = system.simulate(60.0, stop=[back], **TIGHT)
    assert run.stop is known.stop is qp.Stop.EVENT
    assert run.t[-1] == pytest.approx(known.t[-1], abs=1e-9)
    assert run.t[-1] > 1.0


def test_a_pair_that_stays_in_range_does_not_meet_again() -> None:
    run = drifting().simulate(2.0, stop=[qp.SensorsMeet(name="met", terminal=False)], step=SHORT)
    assert [e.name for e in run.events] == ["met"]


@pytest.mark.parametrize("speed", [pytest.param(0.1, marks=pytest.mark.kernels), 0.09, 0.07, 0.031])
def test_a_run_that_goes_on_from_a_meeting_does_not_meet_at_once(speed: float) -> None:
    """The pair stands on the rim of its range, to rounding, and has not parted."""
    run = drifting(speed).simulate(5.0, stop=[qp.SensorsMeet()], step=SHORT)
    on = run.system.at(run.final).simulate(0.5, stop=[qp.SensorsMeet()], step=SHORT)
    assert (run.stop, on.stop) == (qp.Stop.EVENT, qp.Stop.END)


def flying_by(gap: float, backwards: bool = False) -> qp.Multibody:
    """A free ball passes a fixed one at 1 m/s, side by side, from 1 m before to 1 m behind in two
    seconds."""
    post = qp.Body.sphere("post", 0.1, 1.0, fixed=True)
    ball = qp.Body.sphere("ball", 0.1, 1.0, position=(-1, gap, 0), velocity=(1, 0, 0))
    sensors = [
        qp.Sensor(
            f"{body.name} eye",
            body.site("eye", z=(0, y, 0), x=(0, 0, 1)),
            reach=REACH,
            alignment=ALIGNMENT,
        )
        for body, y in ((post, 1.0), (ball, -1.0))
    ]
    return qp.Multibody(post, ball, *(reversed(sensors) if backwards else sensors))


@pytest.mark.kernels
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(
    ("gap", "meets"), [(0.5e-3, True), (0.99e-3, True), (1.01e-3, False), (0.1, False)]
)
def test_a_visit_of_milliseconds_within_a_step_of_a_second(
    gap: float, meets: bool, backwards: bool
) -> None:
    """Steps of a motion in a straight line grow tenfold; within reach the ball is for 1.7 or 0.3
    ms.  To look for a visit no acceleration is asked for."""
    system = flying_by(gap, backwards)
    run, alone = system.simulate(2.0, stop=[qp.SensorsMeet()]), system.simulate(2.0)
    assert np.diff(alone.t).max() > 0.5
    if meets:
        assert run.stop is qp.Stop.EVENT
        assert run.t[-1] == pytest.approx(1.0 - math.sqrt(REACH**2 - gap**2), abs=1e-10)
    else:
        assert run.stop is qp.Stop.END
        assert run.counts == alone.counts


def test_a_stop_that_holds_from_the_start_leaves_a_pair_on_the_rim_in_range() -> None:
    """Where stops are settled at the start, what counts as met already stays so."""
    run = drifting().simulate(5.0, stop=[qp.SensorsMeet()], step=SHORT)
    shelf = qp.Body.box("shelf", (0.1, 0.1, 0.1), 1.0, position=(0, 9, 0))
    slide = qp.Prismatic("slide", qp.GROUND, shelf, at=(0, 9, 0), axis=(0, 0, 1))
    held = [
        shelf,
        slide,
        qp.JointStop("floor", slide, lower=0.0),
        qp.Load("press", shelf, force=(0, 0, -1)),
    ]
    on = run.system.at(run.final).with_(*held).simulate(0.5, stop=[qp.SensorsMeet()], step=SHORT)
    assert on.final.held == ("floor lower",)
    assert on.stop is qp.Stop.END


@pytest.mark.parametrize("speed", [0.1, 0.031])
def test_a_sensor_fires_from_where_it_meets(speed: float) -> None:
    """The second cube closes in along x: distance 0.1 - speed t, axes aligned throughout."""
    run = drifting(speed).simulate(5.0, stop=[qp.SensorsMeet()], step=SHORT)
    for name, other in (("one east", "two west"), ("two west", "one east")):
        seen = run[name]
        assert np.allclose(seen.distance, SIDE - speed * run.t, rtol=0, atol=1e-12)
        assert np.allclose(seen.misalignment, 0.0, atol=1e-7)
        assert seen.signal.tolist() == [False] * (len(run.t) - 1) + [True]
        assert set(seen.partner) == {other}
        assert run.final[name].signal is True


@pytest.mark.parametrize("turn", [0.0, 0.005, 0.02, 0.5 * math.pi + 0.005])
def test_misalignment_is_that_of_the_roll_too(turn: float) -> None:
    for roll, off in (
        (None, 0.0),
        (qp.QUARTER_TURNS, math.remainder(turn, 0.5 * math.pi)),
        (2 * math.pi, turn),
    ):
        assert drifting(turn=turn, roll=roll).initial["one east"].misalignment == pytest.approx(
            abs(off), abs=1e-7
        )


def test_a_sensor_notices_the_partner_that_is_closest_to_making_it_fire() -> None:
    """One is nearer, but looks away; nobody accepts a third."""
    system = drifting()
    third = qp.Body.box("third", [SIDE] * 3, 1.0, position=(0.15, 0, 0))
    away, deaf = (
        face(third, "away", (0, 1, 0)),
        face(third, "deaf", (-1, 0, 0), accepts=("nothing",)),
    )
    start = system.with_(third, away, deaf).initial
    assert start["one east"].partner == "two west"
    assert start["third deaf"] == (False, math.inf, math.inf, None)
    with pytest.raises(
        KeyError,
        match=r"no body, joint or sensor is called 'nose'; there are: one, two, third, ground",
    ):
        start["nose"]
