"""Many loops are closed by merging blocks (quirkpy/kernels/tree/merging.py).  Here all are, however
small the system: as the dense evaluator has it, on the joints and beside them, and in runs."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest

import quirkpy as qp
from benchmarks import problems
from quirkpy.kernels.tree.closure import PIVOT, RUNNING_PIVOT
from quirkpy.kernels.tree.tree import LOOP_BODY1, LOOP_BODY4
from quirkpy.maths.types import Floats
from quirkpy.mechanics import engine
from quirkpy.mechanics.blocks import Planner, members
from quirkpy.mechanics.engine import Layout
from tests.crosscheck.test_evaluators_agree import drifted
from tests.laws.test_folds_keep_their_ledger import unaccounted
from tests.random_systems import FAMILIES, free_acceleration, random_system, seeds
from tests.truths.test_row_of_four_bars import row

AGREEMENT = 1e-9


@pytest.fixture
def merging(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every layout made from here on merges blocks."""
    monkeypatch.setattr(engine, "merging_pays", lambda tree, rows, masses: rows > 0)


def merged_acceleration(
    system: qp.Multibody, state: qp.State | None = None, pivot: float = PIVOT
) -> Floats:
    """Accelerations by merging, bodies one by one."""
    layout = Layout(system.selection)
    assert layout.memory > 0 or not len(layout.solved.loops)
    with layout.lend() as lent:
        lent.close_rows_by(pivot, 0.0, 0.0)
        return lent.accelerations((state or system.initial).instant(system.selection))


def size_of(system: qp.Multibody, *accelerations: Floats) -> float:
    """What differences are relative to."""
    free = abs(free_acceleration(system)).max()
    return max(float(free), *(float(abs(a).max()) for a in accelerations))


@pytest.mark.usefixtures("merging")
@seeds(40, 6, attack=2000)
@pytest.mark.parametrize("family", FAMILIES)
def test_merged_blocks_equal_dense(family: str, seed: int) -> None:
    system = random_system(family, seed)
    dense = system.acceleration(evaluator="dense")
    off = abs(merged_acceleration(system) - dense).max()
    assert off <= AGREEMENT * size_of(system, dense)


@pytest.mark.usefixtures("merging")
@seeds(40, 3, attack=500)
@pytest.mark.parametrize("family", FAMILIES)
def test_merged_blocks_differ_from_dense_by_the_drift_alone(family: str, seed: int) -> None:
    system = random_system(family, seed)
    state = drifted(system.initial, 1e-9, seed)
    dense = system.acceleration(state, evaluator="dense")
    off = abs(merged_acceleration(system, state) - dense).max()
    assert off <= 1e-7 * size_of(system, dense)


@pytest.mark.usefixtures("merging")
@pytest.mark.parametrize("pivot", [PIVOT, RUNNING_PIVOT])
@pytest.mark.parametrize("decades", [0.0, 3.0])
@pytest.mark.parametrize("angle", [0.0, 0.01, 0.9, 2.5, math.pi])
@pytest.mark.parametrize(
    "size", [pytest.param((2, 2), marks=pytest.mark.kernels), (3, 4), (6, 6)], ids=str
)
def test_map_folds_equal_dense(
    size: tuple[int, int], angle: float, decades: float, pivot: float
) -> None:
    """Flat, nearly so, half way and shut; more than half of the rows are redundant."""
    masses = 10.0 ** np.random.default_rng(1).uniform(0.0, decades, size[0] * size[1])
    fold = problems.map_fold(*size, angle, masses)
    dense = fold.acceleration(evaluator="dense")
    off = abs(merged_acceleration(fold, pivot=pivot) - dense).max()
    assert off <= AGREEMENT * size_of(fold, dense)


def test_masses_over_six_decades_are_left_to_the_tree() -> None:
    masses = 10.0 ** np.random.default_rng(1).uniform(0.0, 6.0, 100)
    fold = problems.map_fold(10, 10, 0.9, masses)
    assert not fold.clusters.layout.memory
    dense = fold.acceleration(evaluator="dense")
    assert abs(fold.acceleration() - dense).max() <= AGREEMENT * size_of(fold, dense)


@pytest.mark.kernels
@pytest.mark.usefixtures("merging")
@seeds(20, 3, attack=200)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_order_of_parts_does_not_matter(family: str, seed: int) -> None:
    """Another order of bodies and joints gives other merges, other borders and other pivots."""
    system, rng = random_system(family, seed), np.random.default_rng(seed)
    mixed = [system.parts[k] for k in rng.permutation(len(system.parts))]
    again = qp.Multibody(*mixed)
    placed = [again.bodies.index(b) for b in system.bodies]
    state = system.initial
    order = np.argsort(placed)
    there = dataclasses.replace(
        again.initial, t=state.t, **{k: getattr(state, k)[order] for k in ("r", "q", "v", "omega")}
    )
    one, two = merged_acceleration(system), merged_acceleration(again, there)[placed]
    assert abs(one - two).max() <= AGREEMENT * size_of(system, one)


def plan_of(fold: qp.Multibody) -> Planner:
    """Bodies and rows of a system, and their merges."""
    layout = fold.clusters.layout
    ends = engine.closing_rows_of(layout.selection, layout.packed)[:, LOOP_BODY1 : LOOP_BODY4 + 1]
    ground = len(layout.tree.nodes) - 1
    planner = Planner(ground, [members(of, ground) for of in ends.tolist()])
    planner.run()
    return planner


@pytest.mark.parametrize(
    "system",
    [
        problems.map_fold(7, 5),
        problems.map_fold(2, 30),
        problems.four_bars(6),
        problems.hinged_lattice(4),
        random_system("medleys", 3),
    ],
    ids=["7 x 5", "2 x 30", "four-bars", "cubes", "medley"],
)
def test_a_plan_closes_every_row_once(system: qp.Multibody) -> None:
    """And every block goes into one merge at most; the last blocks have no border."""
    planner, rows = plan_of(system), len(system.clusters.layout.selection.rows)
    assert sorted(row for merge in planner.merges for row in merge.rows) == list(range(rows))
    used = [b for merge in planner.merges for b in (merge.one, merge.two)]
    assert len(set(used) - {planner.ground}) == len([b for b in used if b != planner.ground])
    assert not planner.groups
    assert not any(block.border for b, block in planner.blocks.items() if b > planner.ground)


def test_borders_grow_as_the_side_of_a_fold() -> None:
    for n in (6, 10, 20):
        widest = max(len(merge.before) for merge in plan_of(problems.map_fold(n, n)).merges)
        assert widest <= 3.5 * n


@pytest.mark.parametrize(
    ("system", "merges"),
    [
        (problems.map_fold(3, 3), False),
        (problems.map_fold(6, 6), False),
        (problems.map_fold(10, 10), True),
        (problems.map_fold(10, 2), False),
        (problems.map_fold(3, 60), True),
        (problems.four_bars(40), False),
        (problems.ball_chain(64), False),
        (problems.lattice(10), False),
        (problems.hinged_lattice(10), False),
    ],
    ids=["3 x 3", "6 x 6", "10 x 10", "10 x 2", "3 x 60", "four-bars", "chain", "locked", "hinged"],
)
def test_what_is_faster_is_taken(system: qp.Multibody, merges: bool) -> None:
    """As it was measured (`python -m benchmarks`)."""
    assert (system.clusters.layout.memory > 0) is merges


@pytest.mark.kernels
@pytest.mark.usefixtures("merging")
def test_a_weak_row_is_told_with_the_hinges_around_it() -> None:
    """Of a fold, where all joints are rows, the loop of a row is that of four panels."""
    layout = problems.map_fold(8, 8).clusters.layout
    loops = [layout.loop(k) for k in range(len(layout.solved.loops))]
    assert {len(loop) for loop in loops} == {4}
    assert {loop[0] for loop in loops} == {
        f"{axis} {i} {j}"
        for axis, i, j in itertools.product("xy", range(8), range(8))
        if (i if axis == "x" else j) < 7
    }


def opening(size: int) -> qp.Multibody:
    """A fold whose springs open it, some stiffer than others."""
    fold = problems.map_fold(size, size, 2.5, push=False)
    hinges = [p for p in fold.parts if isinstance(p, qp.Revolute) and p.name.startswith("x")]
    return fold.with_(*(
        qp.HingeSpring(
            f"spring {hinge.name}", hinge, stiffness=0.05 + 0.005 * (k % 3),
            rest_angle=0.3 * (-1.0) ** int(hinge.name.split()[1]),
        )
        for k, hinge in enumerate(hinges)
    ))  # fmt: skip


def test_a_run_by_merging_is_that_by_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Projection and ledger included; and the same run has the same bits."""
    runs = []
    for pays in (False, True, True):
        monkeypatch.setattr(engine, "merging_pays", lambda *_, pays=pays: pays)
        runs.append(opening(4).simulate(10.0, rtol=1e-10, atol=1e-12, progress=False))
        assert (runs[-1].system.clusters.layout.memory > 0) is pays
    tree, one, two = runs
    assert abs(one.final.r - one.start.r).max() > 0.05
    assert abs(one.final.r - tree.final.r).max() < 1e-8
    assert abs(one.system.residual(one.final).position).max() < 1e-13
    assert unaccounted(one) < 1e-8 * one.energy[0]
    np.testing.assert_array_equal(one.final.r, two.final.r)
    np.testing.assert_array_equal(one.t, two.t)


@pytest.mark.usefixtures("merging")
def test_forty_four_bars_pass_their_flat_poses() -> None:
    """Between them some bodies on borders hardly feel some motions: by 1e-160."""
    run = row(40, 0.5 * math.pi, -1.0).simulate(5.0, rtol=1e-6, atol=1e-7)
    passed = [event for event in run.events if event.name == "singular pose"]
    angles = [0.5 * math.pi + run.at(event.t)["foot0"].angle for event in passed]
    np.testing.assert_allclose(angles, -math.pi * np.arange(5), rtol=0.0, atol=3e-4)
