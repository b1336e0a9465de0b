"""Short motions that pass through every kernel of a run: small enough to be walked through with
compilation off."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from tests.motion import TIGHT, apart, compiled_system, floating_chain
from tests.random_systems import FAMILIES
from tests.truths.test_row_of_four_bars import row
from tests.user_parts import Cylindrical, Drag, Universal

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("family", FAMILIES)
def test_random_systems_stay_on_their_joints(family: str) -> None:
    """Trees and loops of all joints, with redundant rows, by both methods."""
    system = compiled_system(family, 8)
    one, two = (
        system.simulate(0.02, method=m, rtol=1e-6, atol=1e-8).final for m in ("dop853", "rk45")
    )
    assert apart(one, two) < 1e-3
    for state in (one, two):
        assert abs(system.residual(state).position).max(initial=0.0) < 1e-10


def test_a_four_bar_passes_its_flat_pose() -> None:
    """By energy: W = 11.772 / s2 with the uprights at angle phi, phi'^2 = 1 + 2 W (1 - sin phi)."""
    start = 0.25  # rad above the flat pose: stages are not projected yet
    rate = -math.sqrt(1.0 + 2.0 * 11.772 * (1.0 - math.sin(start)))
    run = row(1, start, rate).simulate(0.1, **TIGHT)
    angle = start + run["foot0"].angle
    assert angle[0] > 0.0 > angle[-1]
    energy = run["foot0"].rate ** 2 + 2.0 * 11.772 * np.sin(angle)
    np.testing.assert_allclose(energy, 1.0 + 2.0 * 11.772, rtol=1e-8)


def test_joints_of_two_freedoms_turn_and_slide() -> None:
    """A sleeve on a rod in a universal joint: energy is kept, away from the start as well."""
    rod = qp.Body.box("rod", (0.1, 0.1, 2.0), 1.0, position=(0, 0, -1))
    sleeve = qp.Body.box(
        "sleeve", (0.3, 0.2, 0.2), 0.5, position=(0, 0, -1), angular_velocity=(0, 0, 3)
    )
    system = qp.Multibody(
        rod,
        sleeve,
        Universal("cross", qp.GROUND, rod, at=(0, 0, 0)),
        Cylindrical("rail", rod, sleeve, at=(0, 0, -1), axis=(0, 0, 1)),
        qp.Gravity((3.0, 1.0, -9.81)),
    )
    run = system.simulate(0.2)
    assert np.ptp(run.energy) < 1e-7
    assert abs(run.final["sleeve"].position[2] + 1.0) > 0.1
    assert abs(system.residual(run.final).position).max() < 1e-10


@pytest.mark.parametrize("method", ["dop853", "rk45"])
def test_state_between_steps_and_at_events(method: Any) -> None:
    """A drop swings through a plane while a chain tumbles beside it."""
    drop = qp.Body.sphere("drop", 0.1, 1.0, position=(0, 3, 1))
    system = floating_chain().with_(drop, qp.PotentialWell("well", drop, (0, 3, 0), 1.0))
    plane = qp.When("plane", lambda state: state["drop"].position[2], terminal=False)
    far = qp.When("far", lambda state: state["drop"].position[2] + 0.5)
    run = system.simulate(
        5.0, stop=[plane, far, qp.EnergyBelow(-1.0)], method=method, rtol=1e-7, atol=1e-9
    )
    assert [e.name for e in run.events] == ["joints took hold", "plane", "far"]
    # z'' = -z from one metre
    np.testing.assert_allclose(
        [e.t for e in run.events], [0.0, 0.5 * math.pi, 2.0 / 3.0 * math.pi], atol=1e-5
    )
    assert (
        apart(run.at(1.0), system.simulate(1.0, method=method, rtol=1e-7, atol=1e-9).final) < 1e-4
    )


def test_energy_is_held_on_request() -> None:
    run = floating_chain().simulate(0.5, rtol=1e-6, atol=1e-8, energy="conserve")
    assert np.ptp(run.energy) < 1e-12


def test_a_users_force_on_a_loop() -> None:
    """Projection with Python at work; drag slows the four-bar by what it takes out."""
    mechanism = row(1, 1.0, -1.0)
    over: Any = mechanism["over0"]
    run = mechanism.with_(Drag("air", over, 0.5, 0.1)).simulate(0.05, rtol=1e-7, atol=1e-9)
    assert run.work[-1] < 0.0
    assert np.ptp(run.energy - run.work) < 1e-6


def test_a_run_without_projection_drifts_and_stays_close() -> None:
    mechanism = row(1, 1.0, -1.0)
    one, two = (mechanism.simulate(0.05, drift=drift).final for drift in ("none", "project"))
    assert 0.0 < apart(one, two) < 1e-7


def test_a_string_becomes_taut_limp_and_slack() -> None:
    """Over a pulley, damped, and let out at once in the end; its tension is watched, too."""
    ball = qp.Body.sphere("ball", 0.01, 1.0, position=(0, 0, -0.99), velocity=(0, 0, -1.0))
    string = qp.String(
        "s", qp.GROUND, ball, at1=(1, 0, -1), over=qp.GROUND.site("pulley"), stiffness=400.0,
        damping=20.0, rest_length=qp.Schedule((0.0, 0.3), (math.sqrt(2.0) + 1.0, 3.0), "hold"),
    )  # fmt: skip
    system = qp.Multibody(ball, string, qp.Gravity((0, 0, -9.81)))
    pulled = qp.When.above("s.tension", 5.0, terminal=False)
    run = system.simulate(0.32, rtol=1e-7, atol=1e-9, stop=[pulled])
    told = [event.name for event in run.events]
    assert {*told[:2]} == {"s taut", "s.tension above 5"}  # it jumps, by damping
    assert told[-1] == "s slack"
    account = run.energy + run.dissipated - run.work
    assert np.ptp(account) < 1e-5
    assert run["s"].tension[-1] == 0.0 < run["s"].tension.max()
