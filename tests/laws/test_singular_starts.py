"""Starts at rest where branches of motion meet: along the branch that is asked for, or along the
one on which the loads pull most, which is told; never along one that rounding has chosen."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import quirkpy as qp
from quirkpy.maths.types import Floats

#: Energies, relative [1]; gaps [m].
ENERGY, GAP = 1e-8, 1e-10


def shut_map(columns: int = 3, rows: int = 3, off: float = 0.0) -> qp.Multibody:
    """A map folded up, or nearly, with springs in all creases."""
    sheet = qp.origami.map_fold(
        columns, rows, side=2.0, thickness=0.01, mass=1.0, stiffness=0.1, fold=math.pi - off
    )
    return sheet.system


def check(run: qp.Trajectory) -> None:
    """The ledger, the loops, and the number of steps."""
    ledger = run.energy + run.dissipated + run.lost - run.work
    assert run.stop is qp.Stop.END
    assert run.counts.steps < 500
    assert abs(ledger - ledger[0]).max() < ENERGY * run.energy[0]
    gaps = [abs(run.system.residual(state).position).max() for state in run.states[::5]]
    assert max(gaps) < GAP


def moved(run: qp.Trajectory) -> set[str]:
    """Families of creases that have turned by a tenth of a radian."""
    names = run.system.tables.joint_names
    return {name[0] for name in names if np.ptp(run[name].angle) > 0.1}


@pytest.mark.parametrize("off", [0.0, 1e-9, 1e-7, 1e-6])
def test_a_map_opens_from_its_folded_pose_in_a_few_steps(off: float) -> None:
    """Of a map that is folded up, or within a millionth of a radian, the columns open, since the
    springs of the rows counteract each other; the end does not depend on the tolerance."""
    ends = []
    for rtol in (1e-8, 1e-10, 1e-12):
        run = shut_map(off=off).simulate(8.0, rtol=rtol, atol=0.01 * rtol, progress=False)
        check(run)
        assert moved(run) == {"x"}
        assert "branch taken" in [event.name for event in run.events]
        ends.append(run["x 0,0"].angle[-1])
    assert ends[0] == pytest.approx(ends[2], abs=1e-6)
    assert ends[1] == pytest.approx(ends[2], abs=1e-8)


@pytest.mark.parametrize("branch", [0, 1])
def test_a_run_begins_along_the_branch_that_is_asked_for(branch: int) -> None:
    system = shut_map()
    known = system.branches()[branch]
    by_number = system.simulate(3.0, rtol=1e-10, branch=branch, progress=False)
    check(by_number)
    assert moved(by_number) == {name[0] for name in known.rates}
    assert by_number.events[0].name == "branch taken"
    assert set(by_number.events[0].joints) == set(known.rates)
    by_itself = system.simulate(3.0, rtol=1e-10, branch=known, progress=False)
    np.testing.assert_array_equal(by_itself.course.states, by_number.course.states)
    early = system.simulate(1e-3, rtol=1e-10, branch=branch, progress=False)
    rates = [early[name].rate[-1] / 1e-3 for name in known.rates]
    wanted = [rate * known.pull for rate in known.rates.values()]
    np.testing.assert_allclose(rates, wanted, rtol=1e-5)


def swung(seconds: float) -> float:
    """The angle between two panels on a hinge, afloat, some time after they were released shut:
    each turns by half of it, and their centres move along the bisector."""
    side, mass, thickness, stiffness = 2.0, 1.0, 0.01, 0.1
    own = mass * (side**2 + thickness**2) / 12.0

    def rates(_: float, y: Floats) -> Floats:
        """T = M x'^2 / 2, M = own / 2 + m side^2 sin^2(x / 2) / 8."""
        x, rate = y
        inertia = 0.5 * own + 0.125 * mass * side**2 * math.sin(0.5 * x) ** 2
        bend = 0.03125 * mass * side**2 * math.sin(x)
        return np.array([rate, (-stiffness * x - bend * rate * rate) / inertia])

    found = solve_ivp(rates, (0.0, seconds), (math.pi, 0.0), "DOP853", rtol=1e-13, atol=1e-13)
    return float(found.y[0, -1])


@pytest.mark.parametrize("seconds", [0.1, 1.0, 2.0, 3.0])
def test_leaving_a_pose_takes_the_time_that_it_should(seconds: float) -> None:
    """Of a folded map of two columns all rows move as one."""
    run = shut_map(2, 3).simulate(seconds, rtol=1e-11, atol=1e-13, progress=False)
    assert abs(run["x 0,0"].angle[-1]) == pytest.approx(swung(seconds), abs=1e-8)


def test_between_the_rows_of_a_departure() -> None:
    """States within the first step are on the joints, and on the motion; runs go on from them to
    the same end, and a saved run has them, too."""
    run = shut_map(2, 3).simulate(3.0, rtol=1e-11, atol=1e-13, progress=False)
    (departure,) = run.course.departures
    for share in (1e-3, 0.1, 0.5, 0.99):
        t = share * departure.span
        state = run.at(t)
        assert abs(run.system.residual(state).position).max() < GAP
        assert abs(run.system.residual(state).velocity).max() < GAP
        assert abs(state["x 0,0"].angle) == pytest.approx(swung(t), abs=1e-8)
    np.testing.assert_array_equal(run.at(run.t[1]).r, run.states[1].r)
    late = run.system.at(run.at(0.5 * departure.span)).simulate(1.0, rtol=1e-11, progress=False)
    after = run.at(0.5 * departure.span + 1.0)
    assert late["x 0,0"].angle[-1] == pytest.approx(after["x 0,0"].angle, abs=1e-8)


def test_departures_are_saved_with_their_runs(tmp_path: Path) -> None:
    run = shut_map(2, 3).simulate(1.0, keep="ends", progress=False)
    run.save(tmp_path / "run.npz")
    again = qp.Trajectory.load(tmp_path / "run.npz")
    assert again.events == run.events
    for t in (0.01, 0.3, 0.77):
        np.testing.assert_array_equal(again.at(t).r, run.at(t).r)
        whole = shut_map(2, 3).simulate(1.0, progress=False)
        np.testing.assert_allclose(whole.at(t).r, run.at(t).r, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("method", ["dop853", "rk45", "radau", "auto"])
def test_every_method_leaves_a_pose_alike(method: str) -> None:
    run = shut_map(2, 3).simulate(2.0, rtol=1e-9, method=method, progress=False)  # type: ignore[arg-type]
    assert run.stop is qp.Stop.END
    assert abs(run["x 0,0"].angle[-1]) == pytest.approx(swung(2.0), abs=1e-6)


def test_all_branches_along_which_loads_pull_are_named() -> None:
    run = shut_map().simulate(0.01, progress=False)
    undetermined, taken = run.events
    assert undetermined.name == "undetermined branch"
    assert len(undetermined.branches) == 2
    assert [text[:5] for text in undetermined.branches] == ["y 0,0", "x 0,0"]
    assert taken.name == "branch taken"
    pulls = [branch.pull for branch in shut_map().branches()]
    assert {name[0] for name in taken.joints} == {"x"}
    assert pulls[1] > pulls[0] > 0.0


def test_a_copy_that_is_turned_and_renamed_leaves_along_the_same_branch() -> None:
    system = shut_map(2, 3)
    turn, shift = qp.rotation((1.0, 2.0, -0.5), 0.7), np.array([3.0, -1.0, 2.0])
    poses = {
        name: {
            "position": qp.quat.matrix(turn) @ system.initial[name].position + shift,
            "orientation": turn * system.initial[name].orientation,
        }
        for name in system.bodies
    }
    there = system.at(system.initial.replace(poses))
    one, two = (some.simulate(2.0, rtol=1e-10, progress=False) for some in (system, there))
    assert one["x 0,0"].angle[-1] == pytest.approx(two["x 0,0"].angle[-1], abs=1e-8)


def test_a_damped_crease_dissipates_from_the_first_step_on() -> None:
    sheet = qp.origami.map_fold(2, 3, side=2.0, stiffness=0.1, damping=0.05, fold=math.pi)
    run = sheet.system.simulate(2.0, rtol=1e-10, progress=False)
    ledger = run.energy + run.dissipated - run.work
    assert run.dissipated[1] > 0.0
    assert abs(ledger - ledger[0]).max() < ENERGY * run.energy[0]


def test_a_stop_keeps_a_branch_from_being_taken_its_way() -> None:
    """The first line of columns lies at a stop against which its springs press: it stays, and the
    other opens."""
    system = shut_map()
    hinge = next(part for part in system.parts if getattr(part, "name", "") == "x 0,0")
    angle = system.initial["x 0,0"].angle
    stop = qp.JointStop("stop", hinge, **{"lower" if angle > 0.0 else "upper": angle})  # type: ignore[arg-type]
    run = system.with_(stop).simulate(2.0, rtol=1e-10, progress=False)
    check(run)
    assert abs(run["x 0,0"].angle - angle).max() < 1e-9
    assert abs(run["x 1,0"].angle[-1]) < 3.0


def test_what_is_no_branch_is_refused() -> None:
    system = shut_map()
    for wrong in (2, -1, True, "x", 1.0):
        with pytest.raises(qp.PartError, match=r"must be one of the branches .*0 \(y 0,0"):
            system.simulate(1.0, branch=wrong)  # type: ignore[arg-type]
    moving = system.simulate(1.0, progress=False).final
    with pytest.raises(qp.PartError, match="branch is for a start at rest, but this state moves"):
        system.simulate(1.0, state=moving, branch=0)
    loose = qp.origami.map_fold(3, 3, fold=math.pi).system
    with pytest.raises(qp.PartError, match=r"no load pulls along branch 1 \(x 0,0"):
        loose.simulate(1.0, branch=1)


def test_many_runs_leave_as_single_ones_do() -> None:
    system = shut_map(2, 3)
    states = [system.initial, system.simulate(0.5, progress=False).final, system.initial]
    runs = system.simulate_many(states, duration=1.0, samples=[0.05, 0.5])
    for k, state in enumerate(states):
        alone = system.simulate(1.0, state=state, keep="ends", progress=False)
        np.testing.assert_array_equal(runs.final[k].r, alone.final.r)
        assert [e.name for e in runs.events[k]] == [e.name for e in alone.events]
        np.testing.assert_array_equal(runs[k].final.r, alone.final.r)
