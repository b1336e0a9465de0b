"""A start that moves against its joints: what these take is told, to the joule, in an event and in
the ledger."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.motion.notes import TOOK_HOLD
from tests.motion import compiled_system
from tests.random_systems import compatible, masses, random_system, seeds, velocities

FAMILIES = ("trees", "loops", "meshes", "linkages", "lattices", "medleys")


def kinetic(system: qp.Multibody, state: qp.State) -> float:
    u = velocities(state)
    return float(0.5 * u @ masses(system) @ u)


def thrown(system: qp.Multibody, seed: int, share: float = 1.0) -> qp.State:
    """The start with velocities at random, whatever the joints say."""
    rng, state = np.random.default_rng(seed), system.initial
    v, omega = (x + share * rng.normal(size=x.shape) for x in (state.v, state.omega))
    return dataclasses.replace(state, v=v, omega=omega, step=None, merged=None)


def holds_of(run: qp.Trajectory) -> list[Any]:
    return [event for event in run.events if event.name == TOOK_HOLD]


@pytest.mark.parametrize("family", FAMILIES)
@seeds(6, 1, attack=300)
def test_what_joints_take_is_the_energy_of_the_nearest_motion_less(family: str, seed: int) -> None:
    """The truth: velocities by a pseudoinverse in the metric of mass, and kinetic energies by
    masses alone."""
    system = compiled_system(family, seed)
    start = thrown(system, seed)
    lost = kinetic(system, start) - kinetic(system, compatible(system, start))
    run = system.at(start).simulate(0.02, progress=False)
    whole = kinetic(system, start)
    assert run.lost[0] == pytest.approx(lost, abs=1e-9 * whole)
    assert np.ptp(run.lost) == 0.0
    assert run.energy[0] + run.lost[0] == pytest.approx(
        system.energy(start), abs=1e-7 * (1.0 + whole)
    )
    balance = run.energy + run.dissipated + run.lost - run.work
    assert abs(balance - balance[0]).max() < 1e-6 * (1.0 + whole)
    events = holds_of(run)
    if lost < 1e-9 * whole:
        return
    assert len(events) == 1
    assert run.events[0] is events[0]
    assert (events[0].t, events[0].lost) == (start.t, run.lost[0])
    found = system.residual(start)
    slips = abs(found.velocity)
    assert found.joints[int(slips.argmax())] in events[0].joints
    still = {name for name, slip in zip(found.joints, slips) if slip < 1e-6 * slips.max()}
    slipping = {name for name, slip in zip(found.joints, slips) if slip > 1e-2 * slips.max()}
    assert slipping <= set(events[0].joints)
    assert not (still - slipping) & set(events[0].joints)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_start_that_moves_as_its_joints_allow_loses_nothing(family: str) -> None:
    """Off by what drift makes of it, too."""
    for seed in range(3):
        system = compiled_system(family, seed)
        for off in (0.0, 1e-9, 1e-7):
            run = system.at(thrown(system, seed, off)).simulate(0.01, progress=False)
            assert not holds_of(run)
            assert abs(run.lost).max() <= 1e-9 * (1.0 + kinetic(system, system.initial))


@seeds(6, 2, attack=200)
def test_joints_that_move_by_themselves_may_put_energy_in(seed: int) -> None:
    """Then less than nothing is lost, and the event says so."""
    system = random_system("trees", seed)
    rest = dataclasses.replace(
        system.initial, v=0.0 * system.initial.v, omega=0.0 * system.initial.omega, step=None
    )
    run = system.at(rest).simulate(0.01, progress=False)
    gained = kinetic(system, compatible(system, rest))
    assert run.lost[0] == pytest.approx(-gained, abs=1e-9 * (1.0 + gained))
    assert [event.lost for event in holds_of(run)] == ([run.lost[0]] if gained > 1e-9 else [])


@pytest.mark.parametrize("family", ["trees", "lattices"])
def test_what_was_lost_stays_with_the_run(family: str, tmp_path: Path) -> None:
    """Between rows, in a file, denser, and not in a run that goes on from its end."""
    system = compiled_system(family, 3)
    system = system.at(thrown(system, 1))
    run = system.simulate(0.2, progress=False)
    lost = run.lost[0]
    assert lost > 0.0
    run.save(tmp_path / "run.npz")
    copy = qp.Trajectory.load(tmp_path / "run.npz", ["tests.user_parts"])
    assert (copy.lost == lost).all()
    assert copy.events == run.events
    assert (run.sampled(0.01).lost == lost).all()
    on = system.at(run.final).simulate(0.1, progress=False)
    assert (on.lost == 0.0).all()
    assert not holds_of(on)
    whole = system.simulate(float(on.t[-1] - run.t[0]), progress=False)
    np.testing.assert_allclose(whole.final.r, on.final.r, atol=1e-6)


def test_charts_show_it_where_there_is_some() -> None:
    from quirkpy.views import curves

    system = compiled_system("trees", 3)
    thrown_run = system.at(thrown(system, 1)).simulate(0.1, progress=False)
    for run, shown in ((thrown_run, True), (system.simulate(0.1, progress=False), False)):
        (panel,) = curves.energy(run).panels
        assert ("taken by joints" in [line.name for line in panel.lines]) is shown


def test_a_start_is_not_drawn_onto_joints_out_of_reach() -> None:
    """As a switch refuses it, in words that name the way out; a lock as it stands holds it."""
    bus = qp.Body.box("bus", (1.0, 1.0, 1.0), 50.0)
    arm = qp.Body.box("arm", (1.0, 0.1, 0.1), 3.0, position=(1.0, 0.0, 0.0))
    hinge = qp.Revolute("hinge", bus, arm, at=(0.5, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    spring = qp.HingeSpring("spring", hinge, stiffness=1.0, rest_angle=1.0)
    locks = qp.Fixed("lock", bus, arm), qp.Fixed("here", bus, arm, here=True)
    system = qp.Multibody(bus, arm, hinge, spring, candidates=locks)
    moving = system.at(system.simulate(1.0).final)
    for joints in (["lock"], ["hinge", "lock"]):
        with pytest.raises(qp.PartError, match=r"'lock'.* apart .*Fixed\(\.\.\., here=True\)"):
            moving.choosing(joints, ["spring"]).simulate(1.0)
    held = moving.choosing(["here"], []).simulate(1.0)
    assert held.lost[-1] > 0.1
    assert held.final["hinge"].angle == pytest.approx(moving.initial["hinge"].angle, abs=1e-6)
