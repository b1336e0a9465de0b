"""Energy and momentum of whole runs: what is put in, taken out and kept."""

from __future__ import annotations

import numpy as np
import pytest

import quirkpy as qp
from tests.motion import TIGHT, compiled_system, floating_chain
from tests.random_systems import FAMILIES, seeds

every_family = pytest.mark.parametrize("family", FAMILIES)


def account(run: qp.Trajectory) -> np.ndarray:
    """What must not change."""
    return run.energy + run.dissipated - run.work


def size_of(run: qp.Trajectory) -> float:
    """What the account is measured by: all that flows through it."""
    return (
        float((abs(run.kinetic) + abs(run.potential) + abs(run.dissipated) + abs(run.work)).max())
        + 1e-3
    )


@every_family
@seeds(4, 2)
def test_energy_is_accounted_for(family: str, seed: int) -> None:
    """Springs, dampers, loads constant and scheduled; damped, and driven from outside."""
    system = compiled_system(family, seed)
    run = system.simulate(0.5, rtol=1e-10, atol=1e-12)
    assert run.stop is qp.Stop.END
    assert np.ptp(account(run)) <= 1e-8 * size_of(run)


def test_energy_that_a_rope_takes_is_accounted_for() -> None:
    """While a damped rope goes slack it pulls no more, yet what is left of its energy still has to
    be dissipated."""
    run = compiled_system("medleys", 1).simulate(0.5, **TIGHT)
    assert np.ptp(account(run)) <= 1e-8 * size_of(run)


def test_the_ledger_is_not_about_nothing() -> None:
    runs = [compiled_system("trees", seed).simulate(0.5) for seed in range(4)]
    assert max(run.dissipated[-1] / size_of(run) for run in runs) > 1e-3
    assert max(abs(run.work[-1]) / size_of(run) for run in runs) > 1e-3


def check_kept(run: qp.Trajectory) -> None:
    """Energy and both momenta, to 1e-10 of their size."""
    assert np.ptp(run.energy) <= 1e-10 * run.kinetic.max()
    for momentum in (run.momentum, run.angular_momentum):
        size = np.linalg.norm(momentum, axis=1).max()
        assert np.ptp(momentum, axis=0).max() <= 1e-10 * size


def test_free_systems_keep_energy_and_momenta() -> None:
    check_kept(floating_chain().simulate(60.0, **TIGHT))


@pytest.mark.slow
def test_a_free_body_keeps_energy_and_momenta_for_a_long_time() -> None:
    """About the axis of the middle moment: it tips over again and again."""
    body = qp.Body(
        "body", 2.0, (1.0, 2.0, 3.0), velocity=(0.1, -0.2, 0.3), angular_velocity=(0.1, 2.0, 0.1)
    )
    check_kept(qp.Multibody(body).simulate(1000.0, keep=100, **TIGHT))


@pytest.mark.slow
def test_free_systems_keep_energy_and_momenta_for_a_long_time() -> None:
    check_kept(floating_chain().simulate(1000.0, keep=100, **TIGHT))


def test_viscous_drag_takes_out_what_was_there() -> None:
    """v = v0 exp(-c t / m) along the line of a damper: m v0^2 / 2 (1 - exp(-2 c t / m)) is
    dissipated."""
    body = qp.Body.sphere("body", 0.1, 2.0, position=(1, 0, 0), velocity=(3, 0, 0))
    run = qp.Multibody(body, qp.Damper("damper", qp.GROUND, body, damping=0.5)).simulate(
        4.0, **TIGHT
    )
    np.testing.assert_allclose(run["body"].velocity[:, 0], 3.0 * np.exp(-0.25 * run.t), rtol=1e-11)
    np.testing.assert_allclose(
        run.dissipated, 9.0 * -np.expm1(-0.5 * run.t), rtol=1e-10, atol=1e-13
    )


def test_a_load_works_what_it_pushes() -> None:
    """A force of 2 N on 1 kg from rest: work 2 t^2."""
    body = qp.Body.sphere("body", 0.1, 1.0)
    run = qp.Multibody(body, qp.Load("push", body, force=(0, 2, 0))).simulate(3.0, **TIGHT)
    np.testing.assert_allclose(run.work, 2.0 * run.t**2, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(run.kinetic, run.work, rtol=1e-11, atol=1e-15)
