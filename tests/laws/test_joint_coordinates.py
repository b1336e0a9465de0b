"""Angles and travels are what an observer would measure, and their rates are their derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import quirkpy as qp
from tests.inputs import OPEN, numbers, real, turns
from tests.random_systems import FAMILIES, moved, random_system, seeds


def coordinate(system: qp.Multibody, state: qp.State, name: str) -> float | None:
    """The angle or the travel of a joint, if it has one."""
    angle, travel, _ = state[name]
    return travel if angle is None else angle


@seeds(8, 3)
@pytest.mark.parametrize("family", FAMILIES)
def test_rates_of_coordinates_are_their_derivatives(family: str, seed: int) -> None:
    system = random_system(family, seed)
    h = 1e-3
    for name in system.selection.joint_names:
        if coordinate(system, system.initial, name) is not None:
            x = [
                coordinate(system, moved(system.initial, k * h), name)
                for k in (-3, -2, -1, 1, 2, 3)
            ]
            slope = (45.0 * (x[3] - x[2]) - 9.0 * (x[4] - x[1]) + x[5] - x[0]) / (60.0 * h)
            assert system.initial[name].rate == pytest.approx(slope, rel=1e-8, abs=1e-8)


@OPEN
@given(turn=turns(), point=numbers(3), axis=numbers(3, away=0.1), angle=real(-3.0, 3.0))
def test_hinge_angle_is_the_turn_of_the_second_body(
    turn: Any, point: Any, axis: Any, angle: float
) -> None:
    one = qp.Body.box("one", (1, 2, 3), 1.0, orientation=qp.rotation(*turn))
    two = qp.Body.box("two", (1, 1, 1), 1.0, position=(0.4, 0.5, 0.6))
    system = qp.Multibody(one, two, qp.Revolute("hinge", one, two, at=point, axis=axis))
    swing = qp.rotation(axis, angle)
    body = qp.Body("swung", 1.0, (1, 1, 1), orientation=swing)
    place = np.array(point) + body.matrix @ (np.array(two.position) - point)
    state = system.initial.replace({"two": dict(position=place, orientation=swing)})
    assert state["hinge"].angle == pytest.approx(angle, abs=1e-9)
    assert state["hinge"].travel is None


@OPEN
@given(point=numbers(3), axis=numbers(3, away=0.1), travel=real(-5.0, 5.0))
def test_travel_is_how_far_the_second_body_slid_along_the_axis(
    point: Any, axis: Any, travel: float
) -> None:
    one, two = (
        qp.Body.box("one", (1, 2, 3), 1.0),
        qp.Body.box("two", (1, 1, 1), 1.0, position=(0.4, 0.5, 0.6)),
    )
    system = qp.Multibody(one, two, qp.Prismatic("slide", one, two, at=point, axis=axis))
    place = two.position + travel * np.array(axis) / math.hypot(*axis)
    state = system.initial.replace({"two": dict(position=place)})
    assert state["slide"].travel == pytest.approx(travel, abs=1e-9)
    assert state["slide"].angle is None


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("turns", [-3, -1, 0, 1, 2])
def test_half_a_turn_keeps_its_whole_turns(turns: int, sign: float) -> None:
    """The pose says half a turn to either side: what a run has counted is what a state reads."""
    body = qp.Body.box("b", (1.0, 1.0, 1.0), 1.0)
    system = qp.Multibody(body, qp.Revolute("hinge", qp.GROUND, body, at=(0, 0, 0), axis=(0, 0, 1)))
    half = system.initial.replace({"b": {"orientation": qp.rotation((0, 0, 1), sign * math.pi)}})
    angle = (2 * turns + 1) * math.pi
    assert half.with_angles(np.array([angle]))["hinge"].angle == pytest.approx(angle, abs=1e-12)
