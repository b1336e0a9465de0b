"""A user's event is told where its own function crosses zero, nowhere else: poses and stops keep
their names."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.motion.notes import SINGULAR_POSE
from tests.motion import compiled_system
from tests.random_systems import seeds


def cranks(stopped: bool) -> qp.Multibody:
    """Two cranks on feet 1 m apart, their tips joined by a massless bar: of its one closing row
    nothing is left where all lie on one line, every half turn."""
    c, s, spin = math.cos(0.5), math.sin(0.5), (0.0, -1.0, 0.0)
    turn = qp.rotation((0, 1, 0), -0.5)
    ends: list[Any] = []
    parts: list[Any] = []
    for x in (0.0, 1.0):
        middle = np.array([0.5 * c, 0.0, 0.5 * s])
        crank = qp.Body.box(
            f"crank at {x:g}", (1.0, 0.05, 0.05), 1.0, position=middle + (x, 0.0, 0.0),
            orientation=turn, velocity=np.cross(spin, middle), angular_velocity=spin,
        )  # fmt: skip
        ends.append(crank)
        parts += [
            crank,
            qp.Revolute(f"foot at {x:g}", qp.GROUND, crank, at=(x, 0, 0), axis=(0, 1, 0)),
        ]
    parts.append(qp.Distance("bar", *ends, at1=(c, 0, s), at2=(1 + c, 0, s)))
    if stopped:
        parts.append(qp.JointStop("far", parts[1], lower=-50.0, upper=50.0))
    return qp.Multibody(*parts)


@pytest.mark.filterwarnings("ignore::quirkpy.PartWarning")  # a stop at 50 rad
@pytest.mark.parametrize("stopped", [False, True])
def test_singular_poses_are_told_to_nobody_else(stopped: bool) -> None:
    """Turning at 1 rad/s from 0.5 rad past the line, with one of the events that users have, or
    none."""
    never = qp.When("never", lambda state: 1.0, terminal=False)
    for stop in ([], [never], [qp.EnergyBelow(-1.0), never]):
        run = cranks(stopped).simulate(10.0, stop=stop, progress=False)
        assert run.stop is qp.Stop.END
        assert [event.name for event in run.events] == [SINGULAR_POSE] * 3
        assert all("bar" in event.joints for event in run.events)
        passed = [(math.pi * k - 0.5, math.pi * k + 0.5) for k in (1, 2, 3)]
        for event, times in zip(run.events, passed):
            assert min(abs(event.t - t) for t in times) < 1e-3


def test_settling_passes_singular_poses() -> None:
    assert cranks(False).settle(evaluations=5000, progress=False).verdict == "never settles"


@pytest.mark.parametrize("family", ["trees", "loops", "meshes", "linkages"])
@seeds(4, 1, attack=200)
def test_every_event_of_a_user_is_a_crossing(family: str, seed: int) -> None:
    """The function is asked again a little before and a little after each."""
    system = compiled_system(family, seed)
    name, rng = system.bodies[0], np.random.default_rng(seed)
    along = rng.normal(size=3)
    level = float(along @ system.initial[name].position + 0.01 * rng.normal())

    def height(state: qp.State) -> float:
        return float(along @ state[name].position) - level

    watched = [
        qp.When("height", height, terminal=False, direction="both"),
        qp.When("never", lambda state: 1.0),
    ]
    run = system.simulate(0.5, stop=watched, progress=False)
    told = [event for event in run.events if event.name == "height"]
    assert all(event.name != "never" for event in run.events)
    for event in told:
        near = 1e-5
        before, after = (
            height(run.at(min(max(t, run.t[0]), run.t[-1])))
            for t in (event.t - near, event.t + near)
        )
        assert before * after <= 0.0 or abs(before) < 1e-9 or abs(after) < 1e-9
