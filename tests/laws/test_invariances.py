"""An observer's choices do not matter: place and direction of N, which body comes first, the sign
of a quaternion."""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quirkpy as qp
from quirkpy.maths.types import Floats
from quirkpy.mechanics.equation import solve_dense
from tests.inputs import OPEN, numbers, turns
from tests.random_systems import FAMILIES, free_acceleration, random_system, seeds
from tests.workshop import World

systems = lru_cache(maxsize=None)(random_system)
every_family = pytest.mark.parametrize("family", FAMILIES)
every_seed = seeds(8, 3)
TURNED = World(qp.rotation((1, -2, 0.5), 2.1), (3.0, -4.0, 7.0))


def assert_same(
    system: qp.Multibody, mine: Floats, theirs: Floats, tolerance: float = 1e-9
) -> None:
    scale = max(abs(mine).max(), abs(free_acceleration(system)).max())
    assert abs(mine - theirs).max() <= tolerance * scale


def assert_turned(family: str, seed: int, world: World) -> None:
    """Accelerations seen from another frame are the same vectors; omega-dot, in body axes, the same
    numbers."""
    here, there = systems(family, seed), random_system(family, seed, world)
    seen = there.acceleration()
    seen[:, :3] = seen[:, :3] @ world.matrix
    assert_same(here, here.acceleration(), seen)
    assert there.energy().kinetic == pytest.approx(here.energy().kinetic, rel=1e-10)
    assert there.mobility()[:3] == here.mobility()[:3]


@every_seed
@every_family
def test_turning_and_moving_the_world_turns_the_answer(family: str, seed: int) -> None:
    assert_turned(family, seed, TURNED)


@settings(OPEN, max_examples=25)
@given(
    family=st.sampled_from(list(FAMILIES)),
    seed=st.integers(0, 7),
    turn=turns(),
    shift=numbers(3, size=10.0),
)
def test_no_direction_of_the_world_is_special(
    family: str, seed: int, turn: Any, shift: Any
) -> None:
    assert_turned(family, seed, World(qp.rotation(*turn), shift))


@every_seed
@every_family
def test_swapping_the_two_bodies_of_a_joint_changes_nothing(family: str, seed: int) -> None:
    one, other = systems(family, seed), random_system(family, seed, World(swap=True))
    assert one.bodies == other.bodies
    assert_same(one, one.acceleration(), other.acceleration())
    assert other.energy() == pytest.approx(one.energy(), rel=1e-10, abs=1e-10)


@every_seed
@every_family
def test_the_sign_of_a_quaternion_changes_nothing(family: str, seed: int) -> None:
    system = systems(family, seed)
    signs = np.where(np.arange(len(system.bodies)) % 2, 1.0, -1.0)[:, None]
    other = dataclasses.replace(system.initial, q=signs * system.initial.q)
    assert np.array_equal(system.acceleration(other), system.acceleration())
    literal = system.acceleration(other, evaluator="literal")
    assert_same(system, system.acceleration(evaluator="literal"), literal)
    assert system.energy(other) == system.energy()


@every_family
def test_naming_bodies_in_another_order_changes_nothing(family: str) -> None:
    system = systems(family, 5)
    bodies = [p for p in system.parts if isinstance(p, qp.Body)]
    rest = [p for p in system.parts if not isinstance(p, qp.Body)]
    other = qp.Multibody(*reversed(bodies), *rest, start=system.initial)
    order = [other.bodies.index(name) for name in system.bodies]
    assert_same(system, system.acceleration(), other.acceleration()[order])


@every_family
def test_heavier_bodies_and_stronger_forces_move_alike(family: str) -> None:
    """Mass counts only in proportion to force: with everything tripled, accelerations stay."""
    system = systems(family, 6)
    bodies = {name: system[name] for name in system.bodies}
    heavy = {n: dict(mass=3.0 * b.mass, inertia=3.0 * b.inertia_matrix) for n, b in bodies.items()}
    light = system.tables.select(forces=[])
    rich = system.tables.select(forces=[], parameters=heavy)
    at_light, at_rich = (system.initial.instant(s) for s in (light, rich))
    one, three = solve_dense(at_light), solve_dense(at_rich)
    assert_same(system, one.acceleration, three.acceleration)
    wrenches = abs(one.constraint_wrench).max()
    assert abs(3.0 * one.constraint_wrench - three.constraint_wrench).max() <= 1e-9 * max(
        wrenches, 1.0
    )
