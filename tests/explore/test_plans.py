"""Answers from a graph: against all routes written down one by one, and by flying them."""

from __future__ import annotations

import csv
import dataclasses
import io
import itertools
import json
import math
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from benchmarks.reductions import CASES, part_of
from demos.cubesat_pair import pair
from demos.imaging_in_orbit import followed
from demos.imaging_mission import shape
from demos.lattice import lattice
from quirkpy.explore.graph import ReconfigurationGraph
from quirkpy.explore.model.graph import Edge, Node, Outcome, rest_at

SEEDS = range(12)


@pytest.fixture(scope="module")
def cubes() -> ReconfigurationGraph:
    """The pair of CubeSats with wells beyond the faces: four shapes."""
    return pair(0.2).explore()


def drawn(seed: int, nodes: int = 7, edges: int = 16, potentials: int = 4) -> ReconfigurationGraph:
    """A graph with random moves and energies that are kept; no spacecraft is behind it."""
    rng = np.random.default_rng(seed)
    state = rest_at((), np.zeros((0, 3)), np.zeros((0, 4)))
    energy = rng.uniform(-2.0, 5.0, (nodes, potentials))  # of each potential at each shape
    first = rng.integers(potentials, size=nodes)  # which acted when the shape was first reached
    made = {
        f"n{k}": Node(k, state, (), "stable", "", 0.0, (), f"p{first[k]}") for k in range(nodes)
    }
    links = []
    for k in range(edges):
        source, target = rng.choice(nodes, 2, replace=False)
        acts, taken = int(rng.integers(potentials)), float(rng.uniform())
        start, end = float(energy[source, acts]), float(energy[target, acts])
        figures = dict(
            duration=float(rng.uniform(1, 9)), put_in=end - start + taken, dissipated=taken
        )
        figures |= dict(
            switching=start - float(energy[source, first[source]]),
            start_energy=start,
            end_energy=end,
        )
        outcome = Outcome(
            "moved", f"n{target}", "", holding=float(rng.choice([0.0, 0.5])), **figures
        )
        kind: Any = "moved" if rng.uniform() < 0.9 else "rejected"
        links.append(Edge(f"n{source}", qp.Choice((), f"p{acts} {k}"), (outcome,), kind))
    return ReconfigurationGraph(None, made, links)  # type: ignore[arg-type]


def energy_of(edges: Sequence[Edge]) -> float:
    """What the spacecraft supplies along a route [J], step by step from what acts then."""
    total, before = 0.0, edges[0].start_energy - edges[0].switching
    for edge in edges:
        total += (
            max(0.0, edge.start_energy - before)
            + max(0.0, edge.put_in)
            + edge.holding * edge.duration
        )
        before = edge.end_energy
    return total


def time_of(edges: Sequence[Edge]) -> float:
    return math.fsum(edge.duration for edge in edges)


def routes(graph: ReconfigurationGraph, start: str, goal: str) -> Iterator[tuple[Edge, ...]]:
    """Every route without loops, edge by edge."""

    def on(node: str, seen: frozenset[str], edges: tuple[Edge, ...]) -> Iterator[tuple[Edge, ...]]:
        if node == goal:
            yield edges
            return
        for edge in graph.edges:
            if edge.source == node and edge.kind == "moved" and edge.target not in seen:
                yield from on(str(edge.target), seen | {str(edge.target)}, (*edges, edge))

    return on(start, frozenset([start]), ())


def reached(graph: ReconfigurationGraph, start: str) -> set[str]:
    return {
        goal
        for goal in graph.nodes
        if goal != start and any(True for _ in routes(graph, start, goal))
    }


# --- against brute force --------------------------------------------------------------------------
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("cost", ["energy", "time", "switches"])
def test_no_route_is_cheaper_than_the_plan(seed: int, cost: Any) -> None:
    graph = drawn(seed)
    price = {"energy": energy_of, "time": time_of, "switches": len}[cost]
    for start, goal in itertools.permutations(graph.nodes, 2):
        every = [price(edges) for edges in routes(graph, start, goal)]
        if every:
            plan = graph.plan(start, goal, cost=cost)
            assert plan.cost == pytest.approx(min(every), rel=1e-12)
            assert (plan.nodes[0], plan.nodes[-1]) == (start, goal)
            assert {"energy": plan.energy, "time": plan.time, "switches": plan.switches}[
                cost
            ] == pytest.approx(plan.cost)
        else:
            with pytest.raises(qp.PartError, match=f"{goal} cannot be reached from {start}"):
                graph.plan(start, goal, cost=cost)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_plans_come_in_order(seed: int) -> None:
    graph = drawn(seed)
    for goal in sorted(reached(graph, "n0")):
        cheapest: dict[tuple[str, ...], float] = {}
        for edges in routes(graph, "n0", goal):
            way, price = tuple(e.source for e in edges), energy_of(edges)
            cheapest[way] = min(price, cheapest.get(way, math.inf))
        wanted = sorted(cheapest.values())[:3]
        assert [plan.cost for plan in graph.plan("n0", goal, k=3)] == pytest.approx(
            wanted, rel=1e-12
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_the_front_of_energy_and_time_is_whole(seed: int) -> None:
    graph = drawn(seed)
    for goal in sorted(reached(graph, "n0")):
        every = {(energy_of(edges), time_of(edges)) for edges in routes(graph, "n0", goal)}
        front = sorted(
            p for p in every if not any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in every)
        )
        plans = graph.plan("n0", goal, pareto=True)
        np.testing.assert_allclose([(plan.energy, plan.time) for plan in plans], front, rtol=1e-12)


def test_what_rounding_makes_of_one_energy_is_no_front() -> None:
    """0.1 + 0.2 + 0.3 J in two orders, the longer way cheaper by rounding: it is beaten."""
    graph = drawn(0, nodes=6, edges=0)
    for way, seconds in ((("n0", "n1", "n2", "n5"), 2.0), (("n0", "n3", "n4", "n5"), 1.0)):
        works = (0.3, 0.2, 0.1) if seconds == 2.0 else (0.1, 0.2, 0.3)
        for (source, target), work in zip(itertools.pairwise(way), works, strict=True):
            moved = Outcome(
                "moved", target, "", duration=seconds, put_in=work, start_energy=0.0, end_energy=0.0
            )
            graph.edges.append(Edge(source, qp.Choice((), f"to {target}"), (moved,), "moved"))
    (plan,) = graph.plan("n0", "n5", pareto=True)
    assert (plan.time, plan.energy) == (3.0, pytest.approx(0.6))


@pytest.mark.parametrize("seed", SEEDS)
def test_reach_sinks_components_and_dominators(seed: int) -> None:
    graph = drawn(seed)
    reach = {key: reached(graph, key) for key in graph.nodes}
    assert all(set(graph.reachable(key)) - {key} == reach[key] for key in graph.nodes)
    assert set(graph.sinks()) == {key for key in graph.nodes if not reach[key]}
    for keys in graph.components():
        mutual = {
            key
            for key in graph.nodes
            if key == keys[0] or (key in reach[keys[0]] and keys[0] in reach[key])
        }
        assert set(keys) == mutual
    for goal, through in graph.dominators("n0").items():
        ways = [{"n0", *(str(e.target) for e in edges)} for edges in routes(graph, "n0", goal)]
        assert set(through) == set.intersection(*ways)


def test_uncertain_and_rejected_edges_are_left_out() -> None:
    one, other = (
        Outcome("moved", key, "", start_energy=0.0, end_energy=0.0) for key in ("n1", "n2")
    )
    graph = drawn(0, nodes=3, edges=0)
    graph.edges.append(Edge("n0", qp.Choice((), "p"), (one, other), "ambiguous"))
    assert graph.reachable("n0") == ()
    with pytest.raises(qp.PartError, match="cannot be reached"):
        graph.plan("n0", "n1")
    plan = graph.plan("n0", "n2", ambiguous=True)
    assert (plan.switches, plan.nodes) == (1, ("n0", "n2"))


def test_plans_refuse_words_and_costs_that_mean_nothing() -> None:
    graph = drawn(0)
    with pytest.raises(qp.PartError, match="cost is 'money'"):
        graph.plan("n0", "n1", cost="money")  # type: ignore[arg-type]
    with pytest.raises(qp.PartError, match="a number from 0 up"):
        graph.plan("n0", "n1", cost=lambda edge: -1.0)


def test_a_node_is_as_good_as_its_key() -> None:
    """Also one of the same graph read again: its id tells which it is."""
    graph, again = (pair(0.2).explore() for _ in range(2))
    start, goal = again.nodes["n0"], graph.nodes["n1"]
    assert graph[start] is graph.nodes["n0"]
    assert graph.plan(start, goal).nodes == graph.plan("n0", "n1").nodes
    assert graph.table(goal) == graph.table("n1")
    assert graph.reachable(start) == graph.reachable("n0")
    assert graph.furthest(start).nodes == graph.furthest("n0").nodes
    assert graph.dominators(start) == graph.dominators("n0")
    assert graph.plan(start, where=lambda node: node.key == "n1").nodes == ("n0", "n1")


# --- flown ----------------------------------------------------------------------------------------
def test_a_route_flies_as_planned_and_keeps_its_ledger(cubes: ReconfigurationGraph) -> None:
    plan = cubes.plan("n0", "n3")
    run = cubes.replay(plan)
    assert max(leg.missed for leg in run.legs) < cubes.study.same.tolerance
    assert run.t[-1] == pytest.approx(plan.time, rel=1e-9)
    assert np.all(np.diff(run.t) >= 0.0)
    ledger = run.energy + run.dissipated + run.lost - run.work - run.switched
    np.testing.assert_allclose(ledger, ledger[0], atol=1e-9)
    np.testing.assert_allclose(run["B"].position[-1], cubes.nodes["n3"].state.r[0], atol=1e-3)


@pytest.mark.parametrize("alike", [pytest.param(2, marks=pytest.mark.slow), 4])
def test_steps_are_said_of_the_modules_that_stand_there(alike: int) -> None:
    """Cubes that may stand for each other have changed places when a step ends, and the next one is
    flown with those that are in the places of which the graph speaks."""
    graph = lattice(3, alike=alike).explore(progress=False)
    moves, others = list(graph.moves()), 0
    for one, two in itertools.product(moves, moves):
        if one.target == two.source:
            legs = graph.replay([one, two]).legs
            assert max(leg.missed for leg in legs) < 1e-6
            others += legs[1].selection != two.selection
    assert others > 0


def test_the_table_leads_to_its_goal_from_everywhere(cubes: ReconfigurationGraph) -> None:
    for goal in cubes.nodes:
        known, missed = followed(cubes, goal)
        assert known == sum(goal in cubes.reachable(key) for key in cubes.nodes if key != goal) > 0
        assert missed < cubes.study.same.tolerance


@pytest.mark.slow
def test_tables_of_the_mission_lead_from_every_shape() -> None:
    """Of all 23 shapes of four modules, one hinge at a time: to the block, and to the row."""
    graph = part_of(CASES["whole, C4"]).explore(progress=False)
    (row,) = (key for key, node in graph.nodes.items() if shape(node) == "linear")
    assert len(graph.nodes) == 23
    for goal in ("n0", row):
        known, missed = followed(graph, goal)
        assert known == 22
        assert missed < graph.study.same.tolerance


def test_the_table_in_other_languages(cubes: ReconfigurationGraph, tmp_path: Path) -> None:
    table = cubes.table("n3")
    for name in ("t.json", "t.csv", "t.h"):
        table.save(tmp_path / name)
    rows = json.loads((tmp_path / "t.json").read_text())["rows"]
    listed = list(csv.DictReader(io.StringIO((tmp_path / "t.csv").read_text())))
    assert [(key, row["next"]) for key, row in rows.items()] == [
        (row["node"], row["next"]) for row in listed
    ]
    with pytest.raises(qp.PartError, match="ends in none of"):
        table.save(tmp_path / "t.txt")
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    program = '#include <stdio.h>\n#include "t.h"\nint main(void) {\n'
    program += "  for (int k = 0; k < QUIRKPY_ROWS; k++)\n"
    program += '    printf("n%d n%d %s\\n", quirkpy_table[k].node, quirkpy_table[k].next,\n'
    program += "           quirkpy_selections[quirkpy_table[k].selection]);\n  return 0;\n}\n"
    (tmp_path / "t.c").write_text(program)
    subprocess.run(
        [compiler, "-Wall", "-Werror", "-o", tmp_path / "t", tmp_path / "t.c"],
        check=True,
        timeout=60,
    )
    told = subprocess.run(
        [tmp_path / "t"], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert told.splitlines() == [
        f"{key} {target} {choice.key}" for key, choice, target in table.rows
    ]


def test_what_is_lost_when_a_hinge_sticks_or_a_well_dies(cubes: ReconfigurationGraph) -> None:
    stuck = cubes.without("A east | B west: hinge 1")
    assert stuck.reachable("n0") == ()
    assert len(list(cubes.without("-y").moves())) < len(list(cubes.moves()))
    assert {e.selection.potential for e in cubes.without("-y").edges} == {"none", "+x"}
    with pytest.raises(qp.PartError, match="'nothing' is no pair"):
        cubes.without("nothing")


def test_a_node_tells_what_holds_it_and_how_it_moves_around_its_rest(
    cubes: ReconfigurationGraph,
) -> None:
    """The far wells of the pair: two shapes are shut and locked, two stand ajar in a well of known
    frequency."""
    for node in cubes.nodes.values():
        assert node.joints == tuple(
            (cubes.study.pairs[link.pair].name, link.option) for link in node.links
        )
        assert node.rest.verdict == node.verdict
        assert [mode.frequency for mode in node.modes] == pytest.approx(
            list(node.frequencies), rel=1e-6
        )
    assert {len(node.modes) for node in cubes.nodes.values()} == {0, 1}
    with pytest.raises(qp.PartError, match="stands alone"):
        dataclasses.replace(cubes.nodes["n0"], study=None).modes  # noqa: B018
