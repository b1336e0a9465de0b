"""Of all accelerations that the joints allow, the true one is nearest to the free one in the mass
metric (Gauss).

Its other face is d'Alembert's: constraint forces do no virtual work.
"""

from __future__ import annotations

from functools import lru_cache
from typing import get_args

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.maths.types import Floats
from quirkpy.mechanics.system import Evaluator
from tests.random_systems import (
    FAMILIES,
    allowed_directions,
    free_acceleration,
    masses,
    random_system,
    seeds,
    velocities,
)

systems = lru_cache(maxsize=None)(random_system)
every_family = pytest.mark.parametrize("family", FAMILIES)
every_seed = seeds(8, 3)
every_evaluator = pytest.mark.parametrize("evaluator", get_args(Evaluator))


def gaussian(system: qp.Multibody, acceleration: Floats) -> float:
    """Half the squared distance to the free acceleration, in the mass metric."""
    away = (acceleration - free_acceleration(system)).reshape(-1)
    return float(0.5 * away @ masses(system) @ away)


@every_evaluator
@every_seed
@every_family
def test_no_allowed_change_of_acceleration_lowers_the_gaussian(
    family: str, seed: int, evaluator: Evaluator
) -> None:
    system = systems(family, seed)
    true, directions = system.acceleration(evaluator=evaluator), allowed_directions(system)
    least, rng = gaussian(system, true), np.random.default_rng(seed)
    for size in (1e-3, 1.0, 1e3):
        step = size * rng.normal(size=directions.shape[1])
        other = gaussian(system, true + (directions @ step).reshape(-1, 6))
        # the basis is M-orthonormal: at the minimum the price of a step is half its squared length
        assert other - least == pytest.approx(0.5 * step @ step, rel=1e-9, abs=1e-11 * least)
        assert other >= least * (1.0 - 1e-11)


@every_evaluator
@every_seed
@every_family
def test_constraint_forces_do_no_virtual_work(family: str, seed: int, evaluator: Evaluator) -> None:
    system = systems(family, seed)
    forces = system.constraint_forces(evaluator=evaluator).reshape(-1)
    work, size = forces @ allowed_directions(system), abs(forces) @ abs(allowed_directions(system))
    assert (abs(work) <= 1e-10 * (1.0 + size)).all()


@every_seed
@every_family
def test_constraint_forces_do_no_work_on_joints_at_rest(family: str, seed: int) -> None:
    system = random_system(family, seed, driven=False)
    each = system.constraint_forces().reshape(-1) * velocities(system.initial)
    assert abs(each.sum()) <= 1e-10 * (1.0 + abs(each).sum())


def test_driven_joints_do_work() -> None:
    """The counterpart: where a joint moves by itself, its force carries power."""
    moving = [systems("trees", seed) for seed in range(12)]
    assert max(abs(s.constraint_forces().reshape(-1) @ velocities(s.initial)) for s in moving) > 1.0
