"""Strengths that differ: a force some times as strong has loads and energy so many times as large,
and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.mechanics.instant import Instant
from quirkpy.tables.vary import has_strength, selection_on, vary
from tests.contracts.catalogue import ARM, FORCES, HUB, label
from tests.contracts.stage import at_poses, random_pose
from tests.contracts.test_forces import joint_of, poses_of, tables_of

#: Whose loads follow from more than one factor: fields that also say how N moves, and bounds.
WITHOUT = (qp.PointGravity, qp.GravityGradient, qp.HillFrame, qp.JointStop, qp.Latch)
SEEDS = range(3)


@pytest.mark.parametrize("force", FORCES, ids=label)
def test_which_forces_have_a_strength(force: qp.Force) -> None:
    assert has_strength(tables_of(force), force.name) is not isinstance(force, WITHOUT)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("force", [f for f in FORCES if not isinstance(f, WITHOUT)], ids=label)
def test_loads_grow_with_the_strength(force: qp.Force, seed: int) -> None:
    rng = np.random.default_rng(seed)
    chosen, poses = tables_of(force).select(), poses_of(joint_of(force), random_pose(rng), rng)
    rates = {name: rng.normal(size=(2, 3)) for name in ("v", "omega")}
    stronger = selection_on(vary(chosen.tables, {}, {force.name: 1.7}, {}), chosen)
    here = at_poses(chosen, poses, **rates)
    motion = here.r, here.q, here.v, here.omega, here.near
    before, after = (Instant(some, 0.7, *motion).loads for some in (chosen, stronger))
    assert abs(before.wrench).max() > 0.0
    np.testing.assert_allclose(
        after.wrench, 1.7 * before.wrench, rtol=1e-12, atol=1e-14 * abs(before.wrench).max()
    )
    np.testing.assert_allclose(after.potential, 1.7 * before.potential, rtol=1e-12)
    np.testing.assert_allclose(after.power, 1.7 * before.power, rtol=1e-12)


def test_masses_and_places_differ_and_the_tables_do_not() -> None:
    tables = tables_of(FORCES[1])
    before = tables.body_mass.copy(), tables.site_point.copy()
    other = vary(tables, {"arm": 2.0}, {}, {0: np.array([1.0, 2.0, 3.0])})
    np.testing.assert_array_equal(other.body_mass, [HUB.mass, 2.0 * ARM.mass])
    np.testing.assert_allclose(other.body_inertia[1], 2.0 * ARM.inertia_matrix, rtol=1e-15)
    np.testing.assert_array_equal(other.site_point[0], [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(other.site_point[1:], before[1][1:])
    np.testing.assert_array_equal(tables.body_mass, before[0])
    np.testing.assert_array_equal(tables.site_point, before[1])
    assert not other.body_mass.flags.writeable
