"""All joints in the tree, in loops, written either way round and driven: three evaluators, one
answer, and runs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import quirkpy as qp
from quirkpy.kernels.tree.tree import CARRIER, NODE
from tests.random_systems import free_acceleration

KINDS: tuple[tuple[Any, dict[str, Any]], ...] = (
    (qp.Cylindrical, {}), (qp.Planar, {}), (qp.Universal, {}), (qp.PointOnLine, {}),
    (qp.PointOnPlane, {}), (qp.Parallel, {}), (qp.Perpendicular, {}), (qp.Screw, {"pitch": 0.2}),
    (qp.Revolute, {}), (qp.Prismatic, {}),
)  # fmt: skip


def gone(kind: type, amount: Any) -> tuple[Any, Any]:
    """Where site 2 stands in site 1 after the joint has gone some way: displacement and turn."""
    turn = Rotation.identity()
    x, y, z, a, b = amount
    if kind in (qp.Cylindrical, qp.Revolute, qp.Planar, qp.Parallel, qp.Screw):
        turn = Rotation.from_rotvec((0, 0, a))
    if kind in (qp.PointOnLine, qp.PointOnPlane):
        turn = Rotation.from_rotvec((a, b, x))
    if kind in (qp.Universal, qp.Perpendicular):
        turn = Rotation.from_rotvec((a, 0, 0)) * Rotation.from_rotvec((0, b, 0))
    shifts: dict[Any, Any] = {
        qp.Cylindrical: (0, 0, z), qp.Planar: (x, y, 0), qp.PointOnLine: (0, 0, z),
        qp.PointOnPlane: (x, y, 0), qp.Parallel: (x, y, z), qp.Perpendicular: (x, y, z),
        qp.Screw: (0, 0, 0.2 * a), qp.Prismatic: (0, 0, z),
    }  # fmt: skip
    return np.array(shifts.get(kind, (0, 0, 0))), turn


def chain(seed: int, loops: int) -> qp.Multibody:
    """Five bodies in a row on the ground, joints anywhere on their way and either way round; loops,
    gears, drives."""
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
        for k in range(5)
    ]
    ends = [(qp.GROUND, bodies[0]), *pairwise(bodies)]
    ends += [(bodies[0], bodies[4]), (bodies[3], bodies[1])][:loops]
    joints: list[Any] = []
    for k, pair in enumerate(ends):
        one, two = pair if rng.random() < 0.5 else pair[::-1]
        kind, fields = KINDS[int(rng.integers(len(KINDS)))]
        shift, turn = gone(kind, rng.uniform(-0.8, 0.8, 5))
        point, axes = rng.normal(size=3), Rotation.random(random_state=int(rng.integers(1 << 30)))
        first = one.site_at(f"s{k}", point, axes.as_matrix())
        second = two.site_at(f"t{k}", point + axes.apply(shift), (axes * turn).as_matrix())
        joints.append(kind(f"j{k}", first, second, **fields))
    made = couplings(rng, bodies, joints)[
        : 2 if loops < 2 else 1
    ]  # two loops may stand still, and no drive moves them
    return qp.Multibody(*bodies, *joints, *made, qp.Gravity((0.0, 0.0, -9.81)))


def couplings(rng: Any, bodies: list[qp.Body], joints: list[Any]) -> list[Any]:
    """A gear between the coordinates of two joints and a drive of another, fitting where they
    stand."""
    state = qp.Multibody(*bodies, *joints).initial
    pairs = [(joint, c.name) for joint in joints for c in joint.coordinates]
    if len(pairs) < 3:
        return []
    one, two, three = (pairs[n] for n in rng.choice(len(pairs), 3, replace=False))

    def value(pair: Any) -> float:
        which = state.instant().selection.tables.coordinate_index[pair[0].name, pair[1]]
        return float(state.instant().coordinates(np.array([which]))[0, 0])

    offset, start = value(two) + 0.4 * value(one), value(three)
    return [
        qp.Gear(
            "gear",
            one[0],
            two[0],
            ratio=-0.4,
            offset=offset,
            first_coordinate=one[1],
            second_coordinate=two[1],
        ),
        qp.Prescribed(
            "drive",
            three[0],
            lambda t: (start + 0.3 * np.sin(t), 0.3 * np.cos(t), -0.3 * np.sin(t)),
            first_coordinate=three[1],
        ),
    ]


def allowed(system: qp.Multibody) -> qp.Multibody:
    """The same system at velocities that the joints allow."""
    return system.at(system.simulate(1e-9, max_steps=1).states[0])


@pytest.mark.parametrize("loops", [0, 1, 2])
@pytest.mark.parametrize("seed", range(10))
def test_evaluators_agree(seed: int, loops: int) -> None:
    system = allowed(chain(seed, loops))
    assert abs(system.residual().velocity).max() < 1e-9
    dense = system.acceleration(evaluator="dense")
    scale = max(abs(dense).max(), abs(free_acceleration(system)).max())
    for evaluator in ("recursive", "literal", "kane"):
        assert abs(system.acceleration(evaluator=evaluator) - dense).max() <= 1e-9 * scale  # type: ignore[arg-type]


def test_joints_hang_in_the_trees_as_they_may() -> None:
    """A groove hangs its ball, but no ball its groove."""
    seen = set()
    for seed in range(10):
        system = chain(seed, 0)
        for b, node in enumerate(system.clusters.layout.tree.nodes[:-1]):
            if node[CARRIER] >= 0:
                joint = system.tables.joints[node[CARRIER]]
                onwards = joint.bodies[1].name == system.bodies[b]
                assert onwards or not isinstance(joint, (qp.PointOnLine, qp.PointOnPlane))
                seen.add((type(joint), int(node[NODE])))
    assert len(seen) >= 5


@pytest.mark.parametrize("seed", range(4))
def test_runs_stay_on_the_joints_and_keep_the_ledger(seed: int) -> None:
    run = chain(seed, 1).simulate(0.3, rtol=1e-10, atol=1e-12)
    assert run.stop is qp.Stop.END
    for state in run.states[1:]:
        assert abs(run.system.residual(state).position).max() < 1e-9
        assert abs(run.system.residual(state).velocity).max() < 1e-8
    ledger = run.energy - run.work
    assert abs(ledger - ledger[0]).max() < 1e-6 * max(1.0, abs(run.energy).max())
