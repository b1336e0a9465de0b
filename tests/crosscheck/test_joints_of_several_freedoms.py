"""Joints whose freedoms are turns and slides together: in the tree, in loops, and against the
null-space form."""

from __future__ import annotations

import functools
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import quirkpy as qp
from quirkpy.kernels.tree.tree import GENERAL_NODE, NODE
from quirkpy.mechanics.equation import rate_matrix
from quirkpy.parts.joint import Freedom
from tests.random_systems import free_acceleration


class Sleeve(qp.Joint):
    """Turns about z and slides along it."""

    freedoms = (Freedom("turn", "z"), Freedom("slide", "z"))

    def primitives(self) -> tuple[qp.Primitive, ...]:
        return qp.OriginOnLine("z"), qp.ParallelAxes("z")


class Table(qp.Joint):
    """Slides along x and y and turns about z."""

    freedoms = (Freedom("slide", "x"), Freedom("slide", "y"), Freedom("turn", "z"))

    def primitives(self) -> tuple[qp.Primitive, ...]:
        return qp.OriginOnPlane("z"), qp.ParallelAxes("z")


class Skate(qp.Joint):
    """Slides along x and y and turns every way: a ball on a table."""

    freedoms = (
        Freedom("slide", "x"),
        Freedom("slide", "y"),
        Freedom("turn", "x"),
        Freedom("turn", "y"),
        Freedom("turn", "z"),
    )

    def primitives(self) -> tuple[qp.Primitive, ...]:
        return (qp.OriginOnPlane("z"),)


KINDS = (Sleeve, Table, Skate, qp.Revolute, qp.Prismatic)
#: Those whose freedoms are no turns and slides along axes of site 1 alone.
CROSSED = (qp.Universal, functools.partial(qp.Screw, pitch=-0.3))
FAMILIES = pytest.mark.parametrize("kinds", [KINDS, CROSSED], ids=["several", "crossed"])


def chain(seed: int, loops: int, kinds: tuple[Any, ...]) -> qp.Multibody:
    """Four bodies in a row on the ground, some joints written the other way round, and loops
    between them."""
    rng = np.random.default_rng(seed)
    bodies = [
        qp.Body(
            f"b{k}",
            mass=rng.uniform(0.5, 2.0),
            inertia=rng.uniform(1.0, 1.9, 3),
            position=rng.normal(size=3),
            orientation=Rotation.random(random_state=int(rng.integers(1 << 30))),
            velocity=rng.normal(size=3),
            angular_velocity=rng.normal(size=3),
        )
        for k in range(4)
    ]
    ends = [(qp.GROUND, bodies[0]), *pairwise(bodies)]
    ends += [(bodies[0], bodies[3]), (bodies[2], bodies[0])][:loops]
    joints = []
    for k, pair in enumerate(ends):
        one, two = pair if rng.random() < 0.5 else pair[::-1]
        kind = kinds[int(rng.integers(len(kinds)))]
        joints.append(
            kind(f"j{k}", one, two, at=tuple(rng.normal(size=3)), axis=tuple(rng.normal(size=3)))
        )
    return qp.Multibody(*bodies, *joints, qp.Gravity((0.0, 0.0, -9.81)))


def allowed(system: qp.Multibody) -> qp.Multibody:
    """The same system at velocities that the joints allow: the least change of the written ones."""
    matrices, n = system.matrices(), len(system.bodies)
    rows = matrices.A.reshape(-1, n, 7)
    turning = np.stack(
        [rows[:, k, 3:] @ rate_matrix(system.initial.q[k]).T / 4.0 for k in range(n)], axis=1
    )
    J = np.concatenate([rows[:, :, :3], turning], axis=2).reshape(-1, 6 * n)[: len(matrices.A) - n]
    u = np.hstack([system.initial.v, system.initial.omega]).reshape(-1)
    u = (u - np.linalg.pinv(J, rcond=1e-9) @ (J @ u)).reshape(n, 6)
    new = {
        b: {"velocity": u[k, :3], "angular_velocity": u[k, 3:]} for k, b in enumerate(system.bodies)
    }
    return system.at(system.initial.replace(new))


@pytest.mark.kernels
@FAMILIES
@pytest.mark.parametrize("loops", [0, 1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_recursion_equals_dense(seed: int, loops: int, kinds: tuple[Any, ...]) -> None:
    system = allowed(chain(seed, loops, kinds))
    dense = system.acceleration(evaluator="dense")
    scale = max(abs(dense).max(), abs(free_acceleration(system)).max())
    assert abs(system.acceleration(evaluator="recursive") - dense).max() <= 1e-9 * scale


def test_general_joints_do_hang_in_the_trees() -> None:
    trees = [chain(seed, 1, KINDS).clusters.layout.tree for seed in range(6)]
    assert sum((tree.nodes[:-1, NODE] == GENERAL_NODE).any() for tree in trees) >= 4


@pytest.mark.parametrize("seed", range(6))
def test_crosses_and_screws_that_have_turned(seed: int) -> None:
    """In flight, where their angles are large, they hang in the tree, keep energy, and all
    evaluators agree."""
    system = allowed(chain(seed, 0, CROSSED))
    assert len(system.clusters.layout.tree.loops) == 0
    run = system.simulate(1.0, rtol=1e-10, atol=1e-12, progress=False)
    assert abs(run.energy - run.energy[0]).max() <= 1e-8 * run.kinetic.max()
    there = system.at(run.final)
    assert abs(system.residual(run.final).position).max() < 1e-12
    exact = there.acceleration(evaluator="dense")
    for evaluator in ("recursive", "kane", "literal"):
        off = abs(there.acceleration(evaluator=evaluator) - exact).max()
        assert off <= 1e-9 * abs(exact).max()


@pytest.mark.kernels
@FAMILIES
@pytest.mark.parametrize("loops", [0, 2])
@pytest.mark.parametrize("seed", [1, 4])
def test_a_start_beside_the_joints_is_put_onto_them(
    seed: int, loops: int, kinds: tuple[Any, ...]
) -> None:
    """Poses and velocities disturbed by 1e-7; the nearest state on the joints is not much farther
    away."""
    system, rng = allowed(chain(seed, loops, kinds)), np.random.default_rng(seed)
    was = system.initial
    new = {
        b: {
            "position": was.r[k] + rng.uniform(-1e-7, 1e-7, 3),
            "velocity": was.v[k] + rng.uniform(-1e-7, 1e-7, 3),
            "orientation": qp.rotation(rng.normal(size=3), 1e-7) * was[b].orientation,
        }
        for k, b in enumerate(system.bodies)
    }
    off = was.replace(new)
    run = system.at(off).simulate(0.01)
    assert abs(system.residual(off).position).max() > 1e-8
    assert 1e-8 < run.drift[0, 0] < 1e-5
    for state in run.states:
        assert abs(system.residual(state).position).max() < 1e-12
        assert abs(system.residual(state).velocity).max() < 1e-11


class Loose(qp.Joint):
    """Claims to turn about axes of both sites, and to slide as well."""

    freedoms = (Freedom("turn", "x"), Freedom("turn", "y", site=2), Freedom("slide", "z"))

    def primitives(self) -> tuple[qp.Primitive, ...]:
        return qp.OriginOnLine("z"), qp.PerpendicularAxes("x", "y")


def test_freedoms_that_no_tree_can_hang_by_are_refused() -> None:
    body = qp.Body.box("box", (1.0, 1.0, 1.0), 1.0)
    with pytest.raises(qp.PartError, match="as the second of two turns"):
        Loose("loose", qp.GROUND, body, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
