"""What plans promise, compared with the flight: energy step by step, time, and the node in which
each step ends."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from benchmarks.reductions import CASES, part_of
from demos import imaging_in_orbit, imaging_mission
from demos.cubesat_pair import b, pair
from demos.flux_pinned_layouts import layouts
from demos.lattice import lattice
from quirkpy.explore.graph import ReconfigurationGraph
from quirkpy.explore.scope.identity import poses_of
from tests.random_systems import ATTACKING
from tests.studies import changed

#: Pairs of nodes of a large graph between which plans are flown.
SOME = 1000 if ATTACKING else 100


def fly(graph: ReconfigurationGraph, pairs: Iterable[tuple[str, str]], **how: Any) -> int:
    """Fly the cheapest plan between each pair, as far as there is one; how many were flown."""
    flown = 0
    for start, goal in pairs:
        if goal in graph.reachable(start):
            compare(graph, graph.plan(start, goal, **how))
            flown += 1
    return flown


def compare(graph: ReconfigurationGraph, plan: qp.Plan) -> None:
    """One plan with its flight."""
    run = graph.replay(plan)
    assert run.supplied == pytest.approx(plan.energy, rel=1e-9, abs=1e-12)
    for leg, energy, time in zip(run.legs, plan.energies, plan.times, strict=True):
        waited = math.fsum(at.waiting for at in leg.leavings)
        assert leg.supplied == pytest.approx(energy, rel=1e-6, abs=1e-12)
        assert leg.lasted - waited == pytest.approx(time, rel=1e-6, abs=1e-9)
    ledger = run.energy + run.dissipated + run.lost - run.work - run.switched
    taken = float(abs(run.projected).max())  # known to first order in what loads do along the way
    assert abs(ledger - ledger[0]).max() <= 1e-8 + 0.01 * taken
    goal, final = graph.nodes[plan.nodes[-1]], run.final
    poses = (poses_of(state.r, state.q) for state in (goal.state, final))
    assert graph.study.shapes.distance(*poses) <= 1e-6
    assert abs(final.v).max() == abs(final.omega).max() == 0.0


@pytest.mark.parametrize(
    "make", [pair, lambda: pair(0.2), lambda: lattice(3), lambda: lattice(4), lambda: layouts(2)],
    ids=["cubesat_pair", "far wells", "lattice of 3", "lattice of 4", "two pinned modules"],
)  # fmt: skip
def test_every_plan_of_small_graphs_is_flown(make: Any) -> None:
    graph = make().explore(progress=False)
    flown = fly(graph, itertools.permutations(graph.nodes, 2))
    assert flown == sum(len(graph.reachable(key)) for key in graph.nodes) > 0


def test_as_many_steps_as_there_are(far: ReconfigurationGraph) -> None:
    """Also along edges that no plan takes: what acts when a step begins is what the one before has
    left."""
    for one, two in itertools.product(far.moves(), far.moves()):
        if one.target == two.source:
            legs = far.replay([one, two]).legs
            assert legs[1].switching == pytest.approx(
                two.start_energy - one.end_energy, rel=1e-9, abs=1e-13
            )


def loose() -> qp.Study:
    """The pair with hinges alone, which do not lock where faces meet, and a well between its two
    shapes."""
    study = pair()
    out = qp.PotentialWell("out", b, centre=(0.1, -0.1, 0.0), stiffness=0.05)
    options = {
        ("A east", "B west"): [qp.Free(), qp.Hinge(edge=1)],
        ("A south", "B south"): [qp.Free(), qp.Hinge(edge=2)],
    }
    return changed(study, options=options, potentials=study.potentials | {"out": [out]})


def test_plans_without_locks_are_flown() -> None:
    """What is held by one hinge shuts otherwise than what is held by the other."""
    graph = loose().explore(progress=False)
    assert fly(graph, itertools.permutations(graph.nodes, 2)) > 20


def test_what_cannot_be_flown_is_refused(far: ReconfigurationGraph) -> None:
    rejected = next(edge for edge in far.edges if edge.target is None)
    with pytest.raises(qp.PartError, match="leads to no node for certain"):
        far.replay([rejected])
    for no_plan in ("n0", None, 5):
        with pytest.raises(qp.PartError, match=f"replay: {no_plan!r} is no plan"):
            far.replay(no_plan)
    with pytest.raises(qp.PartError, match=r"no way to n1 is known.*risk of 6 edges is not known"):
        far.table("n1", cost="risk")
    for k in (0, -1, 1.5):
        with pytest.raises(qp.PartError, match="must be a number of plans from 1 up"):
            far.plan("n0", "n1", k=k)  # type: ignore[arg-type]
    with pytest.raises(qp.PartError, match="is None, but must be a number from 0 up"):
        far.plan("n0", "n1", cost=lambda edge: None)  # type: ignore[arg-type, return-value]


@pytest.fixture(scope="module")
def far() -> ReconfigurationGraph:
    return pair(0.2).explore(progress=False)


def test_a_step_that_only_lets_go_is_flown() -> None:
    """Two cubes at rest ajar under damping alone: what holds them open is let go, and nothing
    moves."""
    study = pair(0.2)
    free = changed(
        study, safety=[rule for rule in study.safety if not isinstance(rule, qp.StayTogether)]
    )
    graph = free.explore(progress=False, budget=40)
    still = [edge for edge in graph.moves() if edge.duration == 0.0]
    assert still
    for edge in still:
        run = graph.replay([edge])
        assert (run.t[-1], len(run.legs), run.waiting) == (0.0, 1, 0.0)
        np.testing.assert_allclose(run.final.r, graph.nodes[str(edge.target)].state.r, atol=1e-9)
    for one in graph.moves():
        if one.target == still[0].source:
            assert graph.replay([one, still[0]]).legs[-1].lasted == 0.0


def some(graph: ReconfigurationGraph, seed: int) -> list[tuple[str, str]]:
    """Pairs of nodes, of which the first leads to the second."""
    rng, ways = np.random.default_rng(seed), {key: graph.reachable(key) for key in graph.nodes}
    starts = rng.choice([key for key, goals in ways.items() if goals], SOME)
    return [(str(start), str(rng.choice(ways[start]))) for start in starts]


@pytest.mark.slow
@pytest.mark.attack
def test_a_hundred_plans_of_the_mission_are_flown() -> None:
    """All selections, as far as the demo goes; and to the end, one hinge at a time."""
    graph = imaging_mission.study.explore(
        budget=350, towards=imaging_mission.study.count, progress=False
    )
    assert fly(graph, some(graph, 16)) == SOME
    whole = part_of(CASES["whole, C4"]).explore(progress=False)
    assert fly(whole, some(whole, 16)) == SOME


@pytest.mark.slow
@pytest.mark.attack
def test_a_hundred_plans_of_the_mission_in_orbit_are_flown() -> None:
    graph = imaging_in_orbit.study.explore(budget=imaging_in_orbit.FIRST, progress=False)
    assert fly(graph, some(graph, 16)) == SOME


@pytest.mark.parametrize("cost", ["time", "switches"])
def test_plans_by_other_costs_foretell_energy_as_well(far: ReconfigurationGraph, cost: Any) -> None:
    assert fly(far, itertools.permutations(far.nodes, 2), cost=cost) == 12
