"""Every evaluator gives the same motion as the null-space form, redundant joints included.

The first of them is the Udwadia-Phohomsiri equation as printed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import lru_cache
from typing import get_args

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.maths.types import Floats
from quirkpy.mechanics import equation
from quirkpy.mechanics.instant import Instant
from quirkpy.mechanics.kane import solve_kane
from quirkpy.mechanics.system import Evaluator
from tests.random_systems import (
    FAMILIES,
    free_acceleration,
    instant,
    masses,
    random_system,
    seeds,
    weighted_rows,
)
from tests.workshop import World

SEEDS = range(40)  # for each of the six families: 240 systems
#: Agreement, relative to the larger of constrained and free accelerations.
AGREEMENT = 1e-9
#: The widest drift off the joints that evaluators meet [m, rad].
DRIFT = 1e-7

systems = lru_cache(maxsize=None)(random_system)
every_family = pytest.mark.parametrize("family", FAMILIES)
every_evaluator = pytest.mark.parametrize(
    "evaluator", [e for e in get_args(Evaluator) if e != "dense"]
)
every_seed = seeds(len(SEEDS), 12)
#: What `Multibody` asks for each evaluator; here of an instant whose loads are computed once for
#: all.
SOLVE: dict[Evaluator, Callable[[qp.Multibody, Instant], equation.Solution]] = {
    "recursive": lambda system, at: equation.with_forces(at, system._recursive(at)),
    "dense": lambda system, at: equation.solve_dense(at),
    "literal": lambda system, at: equation.solve_literal(at),
    "kane": lambda system, at: solve_kane(at),
}


def drifted(state: qp.State, size: float, seed: int) -> qp.State:
    """The state with every pose off by up to `size` in every direction; the joints do not quite
    meet any more."""
    rng, n = np.random.default_rng(seed), len(state.bodies)
    r = state.r + rng.uniform(-size, size, (n, 3))
    q = state.q + rng.uniform(-0.5 * size, 0.5 * size, (n, 4))
    return dataclasses.replace(state, r=r, q=q / np.linalg.norm(q, axis=1, keepdims=True))


def assert_same(system: qp.Multibody, evaluator: Evaluator, state: qp.State | None = None) -> None:
    """Accelerations, and what the joints do, against the null-space form."""
    at = instant(system, state)
    applied = equation.applied_forces(at)
    free = np.linalg.solve(masses(system), applied.reshape(-1)).reshape(-1, 6)
    dense, other = (SOLVE[name](system, at) for name in ("dense", evaluator))
    for mine, theirs, unconstrained in (
        (dense.acceleration, other.acceleration, free),
        (dense.constraint_wrench, other.constraint_wrench, applied),
    ):
        scale = max(abs(mine).max(initial=0.0), abs(unconstrained).max(initial=0.0))
        assert abs(theirs - mine).max(initial=0.0) <= AGREEMENT * scale


@every_evaluator
@every_seed
@every_family
def test_evaluator_equals_dense(family: str, seed: int, evaluator: Evaluator) -> None:
    assert_same(systems(family, seed), evaluator)


@every_evaluator
@every_family
def test_a_system_answers_with_the_evaluator_that_it_is_asked_for(
    family: str, evaluator: Evaluator
) -> None:
    system = systems(family, 2)
    answer = SOLVE[evaluator](system, instant(system))
    np.testing.assert_array_equal(system.acceleration(evaluator=evaluator), answer.acceleration)
    np.testing.assert_array_equal(
        system.constraint_forces(evaluator=evaluator), answer.constraint_wrench
    )


@every_seed
@every_family
def test_literal_equals_dense_off_the_manifold(family: str, seed: int) -> None:
    system = systems(family, seed)
    assert_same(system, "literal", drifted(system.initial, DRIFT * 10.0 ** -(seed % 3), seed))


@every_seed
@every_family
def test_recursion_differs_from_dense_by_the_drift_alone(family: str, seed: int) -> None:
    """It holds the joints of its tree to be met, so that a gap of 1e-9 shows as an error of that
    order."""
    system = systems(family, seed)
    state = drifted(system.initial, 1e-9, seed)
    dense, free = system.acceleration(state, evaluator="dense"), free_acceleration(system, state)
    off = abs(system.acceleration(state, evaluator="recursive") - dense).max()
    assert off <= 1e-7 * max(abs(dense).max(), abs(free).max())


@seeds(12, 4)
@every_family
def test_recursion_does_not_care_about_the_order_of_joints(family: str, seed: int) -> None:
    """Another order gives another tree and other closing rows."""
    system = systems(family, seed)
    joints = [p for p in system.parts if isinstance(p, qp.parts.joint.BaseJoint)]
    rest = [p for p in system.parts if p not in joints]
    again = qp.Multibody(*rest, *reversed(joints), start=system.initial)
    scale = max(abs(system.acceleration()).max(), abs(free_acceleration(system)).max())
    assert abs(again.acceleration() - system.acceleration()).max() <= AGREEMENT * scale


@seeds(15, 4)
@every_family
def test_drift_changes_accelerations_only_a_little(family: str, seed: int) -> None:
    system = systems(family, seed)
    exact, free = system.acceleration(evaluator="dense"), free_acceleration(system)
    near = system.acceleration(drifted(system.initial, 1e-9, seed), evaluator="dense")
    assert abs(near - exact).max() <= 1e-7 * max(abs(exact).max(), abs(free).max())


def at_least(few: dict[str, int], all_: dict[str, int]) -> pytest.MarkDecorator:
    """How many systems of a family there must be among the first eight, and, in `make test`, among
    all."""
    soon = [pytest.param(family, 8, number) for family, number in few.items()]
    later = [
        pytest.param(family, len(SEEDS), number, marks=pytest.mark.slow)
        for family, number in all_.items()
    ]
    return pytest.mark.parametrize(("family", "among", "number"), soon + later)


@at_least(
    {"linkages": 8, "lattices": 6, "medleys": 2},
    {"meshes": 15, "linkages": 40, "lattices": 30, "medleys": 15},
)
def test_redundancy_is_there_to_be_met(family: str, among: int, number: int) -> None:
    redundant = sum(
        m.rows > m.rank for m in (systems(family, seed).mobility() for seed in range(among))
    )
    assert redundant >= number


@at_least(
    {"trees": 8, "loops": 7, "meshes": 4, "medleys": 2},
    {"trees": 40, "loops": 35, "meshes": 15, "medleys": 10},
)
def test_plain_kkt_equals_dense_where_rows_are_independent(
    family: str, among: int, number: int
) -> None:
    """[M J'; J 0] [a; -lambda] = [F; gamma] is the textbook's way, regular where no row is
    redundant."""
    regular = [
        s
        for s in (systems(family, seed) for seed in range(among))
        if s.mobility().rows == s.mobility().rank
    ]
    assert len(regular) >= number
    for system in regular:
        dense = system.acceleration(evaluator="dense")
        scale = max(abs(dense).max(), abs(free_acceleration(system)).max())
        assert abs(dense - plain_kkt(system)).max() <= AGREEMENT * scale


def plain_kkt(system: qp.Multibody) -> Floats:
    """Accelerations from the textbook's system, rows scaled to one length, bodies as they are."""
    at = instant(system)
    J, M = equation.constraint_matrix(at), masses(system)
    _, _, lengths = weighted_rows(system, system.initial)
    m = len(J)
    J = J / lengths[:, None]
    right = np.concatenate([equation.applied_forces(at).reshape(-1), at.rows.gamma / lengths])
    return np.linalg.solve(np.block([[M, J.T], [J, np.zeros((m, m))]]), right)[: len(M)].reshape(
        -1, 6
    )


@seeds(12, 4)
@every_family
def test_dense_does_not_care_about_the_order_of_joints(family: str, seed: int) -> None:
    system = systems(family, seed)
    joints = [p for p in system.parts if isinstance(p, qp.parts.joint.BaseJoint)]
    rest = [p for p in system.parts if p not in joints]
    again = qp.Multibody(*rest, *reversed(joints), start=system.initial)
    scale = max(
        abs(system.acceleration(evaluator="dense")).max(), abs(free_acceleration(system)).max()
    )
    off = abs(again.acceleration(evaluator="dense") - system.acceleration(evaluator="dense")).max()
    assert off <= AGREEMENT * scale


@seeds(12, 4)
@every_family
def test_metres_become_millimetres(family: str, seed: int) -> None:
    one, two = systems(family, seed), random_system(family, seed, World(metre=1000.0))
    metres, thousands = one.acceleration(), two.acceleration() / ([1000.0] * 3 + [1.0] * 3)
    scale = max(abs(metres).max(), abs(free_acceleration(one)).max())
    assert abs(thousands - metres).max() <= AGREEMENT * scale


# --- exactly as printed ---------------------------------------------------------------------------
def even_chain(seed: int) -> qp.Multibody:
    """Hinged bodies of about 1 kg whose moments make 4 I about as large as the mass: one scale for
    M."""
    rng = np.random.default_rng(seed)
    made = [
        qp.Body(
            f"b{k}",
            mass=rng.uniform(0.7, 1.4),
            inertia=rng.uniform(0.2, 0.35, 3),
            position=rng.uniform(-1, 1, 3),
            orientation=qp.rotation(rng.normal(size=3), rng.uniform(-3, 3)),
            angular_velocity=rng.uniform(-2, 2, 3),
        )
        for k in range(4)
    ]
    joints = [
        rng.choice([qp.Revolute, qp.Prismatic])(
            f"j{k}", one, two, at=rng.uniform(-1, 1, 3), axis=rng.normal(size=3)
        )
        for k, (one, two) in enumerate(zip([qp.GROUND, *made], made))
    ]
    closing = qp.Distance("bar", made[0], made[3])
    return qp.Multibody(*made, *joints, closing, qp.Gravity((0.5, -9.0, 2.0)))


def as_printed(system: qp.Multibody) -> Floats:
    """The fundamental equation without any scaling, as (v-dot in N, omega-dot in body axes)."""
    x = equation.literal(*system.matrices(), metric=None).reshape(-1, 7)
    turned = [equation.rate_matrix(q) @ dd for q, dd in zip(system.initial.q, x[:, 3:])]
    return np.hstack([x[:, :3], turned])


@pytest.mark.parametrize("seed", range(20))
def test_equation_exactly_as_printed_equals_dense_where_scales_are_even(seed: int) -> None:
    system = even_chain(seed)
    dense = system.acceleration(evaluator="dense")
    scale = max(abs(dense).max(), abs(free_acceleration(system)).max())
    assert abs(as_printed(system) - dense).max() <= AGREEMENT * scale
