"""Where branches of motion meet: reported, never guessed."""

from __future__ import annotations

import math

import numpy as np
import pytest

import quirkpy as qp
from tests.truths.test_row_of_four_bars import row


@pytest.mark.parametrize("windows", [1, 2, 40])
@pytest.mark.parametrize("rtol", [1e-6, 1e-10])
def test_every_passage_is_reported_with_its_loop(windows: int, rtol: float) -> None:
    """The uprights turn downwards through 0, -pi, -2 pi ..."""
    run = row(windows, 0.5 * math.pi, -1.0).simulate(5.0, rtol=rtol, atol=0.1 * rtol)
    passed = [e for e in run.events if e.name == "singular pose"]
    angles = [0.5 * math.pi + run.at(e.t)["foot0"].angle for e in passed]
    np.testing.assert_allclose(angles, -math.pi * np.arange(len(passed)), rtol=0.0, atol=3e-4)
    assert len(passed) == 1 + int(-(0.5 * math.pi + run.final["foot0"].angle) // math.pi)
    for e in passed:
        assert len(e.joints) == 4
        assert all(name in run.system.tables.joint_names for name in e.joints)


def test_velocities_of_no_branch_are_refused_by_the_name_of_the_loop() -> None:
    """Flat, the uprights turn at 1 and -0.5 rad/s: neither the parallelogram nor its crossed
    form."""
    flat = row(1, 0.0, 0.0)
    turns = {
        "up0": {"velocity": (0, 0.5, 0), "angular_velocity": (0, 0, 1)},
        "up1": {"velocity": (0, -0.25, 0), "angular_velocity": (0, 0, -0.5)},
        "over0": {"velocity": (0, 0.25, 0), "angular_velocity": (0, 0, -1.5)},
    }
    mixed = flat.initial.replace(turns)
    assert abs(flat.residual(mixed).velocity).max() < 1e-15
    with pytest.raises(
        qp.PartError, match=r"this pose is singular, and no motion of the loop .*foot0.* has these"
    ) as e:
        flat.at(mixed).simulate(0.1)
    assert len(e.value.trajectory.t) == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("rate", [-1.0, 2.0])
def test_a_flat_start_with_the_velocity_of_a_branch_stays_on_it(rate: float) -> None:
    run = row(1, 0.0, rate).simulate(0.5, max_steps=500)
    assert run.stop is qp.Stop.END
    assert not run.events or run.events[0].name != "undetermined branch"
    energy = run["foot0"].rate ** 2 + 2.0 * 11.772 * np.sin(run["foot0"].angle)
    np.testing.assert_allclose(energy, rate**2, rtol=1e-6)


def test_a_flat_start_at_rest_says_that_its_branch_is_undetermined() -> None:
    run = row(1, 0.0, 0.0).simulate(0.1)
    assert run.events[0].name == "undetermined branch"
    assert len(run.events[0].joints) == 4
    assert not row(1, 0.3, 0.0).simulate(0.1).events


def test_fixed_steps_pass_a_flat_pose_and_none_is_left_out() -> None:
    """Each step moves on, whatever a stage is moved by near the pose."""
    run = row(1, 0.3, -2.0).simulate(0.4, step=0.01)
    angle = 0.3 + run["foot0"].angle
    assert angle[0] > 0.0 > angle[-1]
    assert np.diff(angle).max() < 0.0
    np.testing.assert_allclose(
        run["foot0"].rate ** 2 + 2.0 * 11.772 * np.sin(angle),
        4.0 + 2.0 * 11.772 * np.sin(0.3),
        rtol=1e-4,
    )
