"""Figures of a whole run are those of each of its states, and cost no state for each row."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.mechanics.sensing import SensorState
from quirkpy.motion.course import Kept
from tests.motion import floating_chain
from tests.random_systems import random_system, seeds
from tests.studies import pair


@seeds(20, 8, attack=1000)
def test_figures_are_those_of_the_states(seed: int) -> None:
    """Energies, coordinates and what sensors notice: one by one from checked states, and at once
    from the rows; forces and joints in Python included."""
    system = random_system("medleys", seed)
    run = system.simulate(0.05, max_steps=40)
    asked = [system.energy(state) for state in run.states]
    assert run.kinetic.tolist() == pytest.approx([e.kinetic for e in asked], rel=1e-14)
    assert run.potential.tolist() == pytest.approx([e.potential for e in asked], rel=1e-14)
    for name in {joint.name for joint in system.parts if isinstance(joint, qp.Joint)}:
        found, each = run[name], [state[name] for state in run.states]
        for field in ("angle", "travel", "rate"):
            values = getattr(found, field)
            if values is not None:
                expected = np.array([getattr(one, field) for one in each])
                np.testing.assert_array_equal(values, expected)


def test_sensors_notice_what_they_do_in_each_state() -> None:
    study = pair(0.2)
    system = qp.Multibody(*study.system.parts, *study.sensors, *study.potentials["-y"])
    run = system.simulate(2.0, max_steps=50)
    for sensor in study.sensors:
        each = [state[sensor.name] for state in run.states]
        for field in SensorState._fields:
            expected = [getattr(one, field) for one in each]
            assert getattr(run[sensor.name], field).tolist() == expected


# --- no states ------------------------------------------------------------------------------------
FIGURES: dict[str, Callable[[qp.Trajectory], Any]] = {
    "repr": repr,
    "energy": lambda run: run.energy,
    "momentum": lambda run: (run.momentum, run.angular_momentum),
    "ledger": lambda run: (run.work, run.dissipated, run.lost, run.projected, run.drift),
    "body": lambda run: run[next(iter(run.start.bodies))],
    "joint": lambda run: run[run.system.tables.joint_names[0]].angle,
    "drift": lambda run: run.plot("drift"),
    "pickle": lambda run: pickle.dumps(run.course),
    "ends": lambda run: (run.final, run.at(float(run.t[0]))),
}


@pytest.fixture(scope="module")
def long() -> qp.Trajectory:
    return floating_chain().simulate(2.0, step=1e-3)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many states are made."""
    count, check, change = [0], qp.State.__post_init__, qp.State.changed

    def counted(self: qp.State) -> None:
        count[0] += 1
        check(self)

    def changed(self: qp.State, **fields: Any) -> qp.State:
        count[0] += 1
        return change(self, **fields)

    monkeypatch.setattr(qp.State, "__post_init__", counted)
    monkeypatch.setattr(qp.State, "changed", changed)
    return count


@pytest.mark.parametrize("name", FIGURES)
def test_no_figure_makes_a_state_for_each_row(
    name: str, long: qp.Trajectory, made: list[int]
) -> None:
    run = qp.Trajectory(long.system, long.start, long.settings, long.course)
    assert len(run.t) > 2000
    FIGURES[name](run)
    assert made[0] <= 3
    assert len(run.states) == len(run.t)  # which does
    assert made[0] >= len(run.t)


# --- rows that are kept ---------------------------------------------------------------------------
@seeds(60, 20, attack=2000)
def test_rows_are_kept_as_asked(seed: int) -> None:
    """All, every k-th or the two ends of rows that come in chunks of any size; with an end put in
    their place; against the rows as a list."""
    chance = np.random.default_rng(seed)
    every = [1, 2, 3, 7, 0][seed % 5]
    kept, rows = Kept({1: "all", 0: "ends"}.get(every, every)), np.sort(chance.random(200))
    begin = 0
    while begin < len(rows):
        some = rows[begin : begin + int(chance.integers(0, 30))]
        kept.add(some, np.stack([some, -some], axis=1))
        begin += len(some)
    last = len(rows) - 1
    expected = [t for k, t in enumerate(rows) if (every and k % every == 0) or k in (0, last)]
    if seed % 2:
        end = np.array([chance.random()])
        kept.end_with(end, np.stack([end, -end], axis=1))
        expected = [t for k, t in enumerate(expected) if t < end and not (every != 1 and k == last)]
        expected = [t for t in expected if t != rows[-1] or every == 1] + [end[0]]
    t, both = kept.arrays()
    assert t.tolist() == expected
    assert both.tolist() == [[t, -t] for t in expected]
