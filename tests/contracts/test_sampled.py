"""A run with more states than were stored, and a replay at any time."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from demos.cubesat_pair import pair
from demos.hinged_cubes import pulled_to
from quirkpy.explore.answers.replay import Replay


@pytest.fixture(scope="module")
def run() -> qp.Trajectory:
    return pulled_to(0.0, -0.2, 0.0).simulate(10.0)


@pytest.fixture(scope="module")
def replay() -> Replay:
    graph = pair().explore()
    return graph.replay([*graph.plan("n0", "n1"), *graph.plan("n1", "n0")])


def test_stored_states_stay_and_others_come_between(run: qp.Trajectory) -> None:
    denser = run.sampled(0.1)
    assert set(run.t) < set(denser.t)
    assert 0.0 < np.diff(denser.t).min() <= np.diff(denser.t).max() <= 0.1 + 1e-12
    for t, state in zip(denser.t, denser.states, strict=True):
        there = run.at(t)
        np.testing.assert_allclose(state["B"].position, there["B"].position, atol=1e-9)
        np.testing.assert_allclose(state["B"].velocity, there["B"].velocity, atol=1e-9)
        assert state == there or t not in run.t
    assert denser.final == run.final


def test_a_run_that_kept_its_ends_is_read_once(run: qp.Trajectory) -> None:
    """States between come one from the other: of a run of many steps no step is taken hundreds of
    times."""
    ends = run.system.simulate(10.0, keep="ends", method="rk45", rtol=1e-10)
    asked = []
    onward = ends._onward

    def counted(*given: Any) -> Any:
        asked.append(onward(*given))
        return asked[-1]

    counted.entry = onward.entry  # type: ignore[attr-defined]
    ends.__dict__["_onward"] = counted
    denser = ends.sampled(0.05)
    assert len(denser.t) == 201
    assert sum(there.steps for there in asked) < ends.counts.steps + 2 * 201
    np.testing.assert_allclose(denser["B"].position[100], run.at(5.0)["B"].position, atol=1e-8)
    assert np.ptp(denser.energy + denser.dissipated) < 1e-10


def test_a_time_beside_a_stored_one_is_that(run: qp.Trajectory) -> None:
    """Nearer than any step can be."""
    for t in run.t[1:-1]:
        beside, there = run.at(np.nextafter(t, np.inf)), run.at(t)
        np.testing.assert_allclose(beside["B"].position, there["B"].position, rtol=0.0, atol=1e-15)


def test_asked_from_anywhere_it_is_the_same_motion(run: qp.Trajectory) -> None:
    """In another order, in a copy, by two threads at once, and within a run of the same system."""
    times = np.linspace(0.0, 10.0, 97).tolist()
    states = [run.at(t) for t in times]
    assert [run.at(t) for t in reversed(times)] == states[::-1]
    for copy in (pickle.loads(pickle.dumps(run)), deepcopy(run)):
        assert [copy.at(t) for t in times] == states
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run.at, times)) == states
    within = []

    def asks(state: qp.State) -> float:
        within.append((state.t, run.at(min(state.t + 0.1, 10.0))))
        return 1.0

    again = run.system.simulate(10.0, stop=[qp.When("asks", asks)])
    assert again.final == run.final
    assert len(within) > 10
    assert all(run.at(min(t + 0.1, 10.0)) == there for t, there in within)


def test_the_ledger_is_kept_between(run: qp.Trajectory) -> None:
    """Energy that dampers take follows from the hinge's own rate: the integral of c rate^2, by
    Simpson's rule."""
    denser = run.sampled(0.02)
    balance = denser.energy + denser.dissipated - denser.work
    assert np.ptp(balance) < 1e-10
    t = np.linspace(0.0, 10.0, 1001)
    rates = np.array([run.at(x)["hinge"].rate for x in t])
    weights = np.full(1001, 2.0)
    weights[1::2], weights[[0, -1]] = 4.0, 1.0
    assert denser.dissipated[-1] == pytest.approx(
        2e-4 * float(weights @ rates**2) * 0.01 / 3.0, rel=1e-6
    )
    assert (np.diff(denser.dissipated) >= 0.0).all()


def test_a_replay_is_sampled_leg_by_leg(replay: Replay) -> None:
    denser = replay.sampled(0.5)
    assert len(denser.legs) == len(replay.legs)
    assert np.diff(denser.t).max() <= 0.5 + 1e-12
    for one in (replay, denser):
        balance = one.energy + one.dissipated + one.lost - one.work - one.switched
        assert np.ptp(balance) < 1e-10


def test_a_replay_between_its_states_obeys_its_joints(replay: Replay) -> None:
    """B stays on its circle about the edge, and at stored times the stored state comes back."""
    for t in np.linspace(0.0, replay.t[-1], 57):
        x, y, _ = replay.at(t)["B"].position
        assert np.hypot(x - 0.05, y + 0.05) == pytest.approx(np.hypot(0.05, 0.05), abs=1e-8)
    assert replay.at(replay.t[5]) == replay.states[5]
    with pytest.raises(qp.PartError, match="lies outside the run"):
        replay.at(-1.0)


@pytest.mark.parametrize("step", [0.0, -1.0, float("nan"), "often"])
def test_a_step_that_is_none_is_refused(run: qp.Trajectory, step: object) -> None:
    with pytest.raises(qp.PartError, match="sampled: step is"):
        run.sampled(step)  # type: ignore[arg-type]
