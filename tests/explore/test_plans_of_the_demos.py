"""Plans on the graphs of the demos: no route is cheaper, priced step by step by whoever has not
read `routes`."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import networkx
import numpy as np
import pytest
from scipy.stats import beta

import quirkpy as qp
from demos import imaging_in_orbit, imaging_mission
from demos.cubesat_pair import pair
from demos.flux_pinned_layouts import layouts
from demos.lattice import lattice
from quirkpy.explore.graph import ReconfigurationGraph
from quirkpy.explore.model.chances import Robustness
from tests.random_systems import ATTACKING

SMALL: dict[str, Any] = {
    "cubesat_pair": pair,
    "far wells": lambda: pair(0.2),
    "lattice of 3": lambda: lattice(3),
    "lattice of 4": lambda: lattice(4),
    "pinned modules": lambda: layouts(2),
}
LARGE: dict[str, Any] = {
    "mission": lambda: imaging_mission.study.explore(
        budget=350, towards=imaging_mission.study.count, progress=False
    ),
    "in orbit": lambda: imaging_in_orbit.study.explore(
        budget=imaging_in_orbit.FIRST, progress=False
    ),
}
#: Pairs of nodes of a large graph.
SOME = 1000 if ATTACKING else 100
COSTS = ("energy", "time", "switches", "risk")
#: Sums of many figures agree to this share.
SAME = 1e-12


@cache
def explored(name: str) -> ReconfigurationGraph:
    """A graph of a demo, with chances drawn for three of four edges, some of them counted for
    another node."""
    graph: ReconfigurationGraph = (
        SMALL[name]().explore(progress=False) if name in SMALL else LARGE[name]()
    )
    rng, edges = np.random.default_rng(11), list(graph.edges)
    for k, edge in enumerate(edges):
        goals = list(dict.fromkeys(o.target for o in edge.outcomes if o.target is not None))
        if goals and rng.random() < 0.75:
            n, shares = int(rng.integers(20, 200)), rng.dirichlet([1.0] * (len(goals) + 1))
            counts = rng.multinomial(n, shares).tolist()
            told = tuple(zip([*goals, "elsewhere"], counts))
            asked = goals[int(rng.integers(len(goals)))] if rng.random() < 0.8 else "elsewhere"
            edges[k] = dataclasses.replace(
                edge, robustness=Robustness(asked, n, told, qp.Spread(), 0)
            )
    return dataclasses.replace(graph, edges=edges)


class Way(NamedTuple):
    """A step as this file prices it."""

    source: str
    target: str
    fixed: float  # whatever comes before
    first: float  # as the first step
    start: float  # potential energy once the selection is made, and at the end
    end: float

    def after(self, stored: float | None) -> float:
        return self.fixed + (self.first if stored is None else max(0.0, self.start - stored))


def ways(graph: ReconfigurationGraph, cost: str, ambiguous: bool) -> Iterator[Way]:
    """All that may be a step."""
    for edge in graph.edges:
        if edge.kind == "moved" or (ambiguous and edge.kind == "ambiguous"):
            known = set()
            for o in edge.outcomes:
                if o.target in (None, edge.source) or o.target in known:
                    continue
                known.add(o.target)
                fixed, first, start, end = 0.0, 0.0, 0.0, 0.0
                if cost == "energy":
                    fixed, first = (
                        max(0.0, o.put_in) + o.holding * o.duration + o.changing,
                        max(0.0, o.switching),
                    )
                    start, end = float(o.start_energy or 0.0), float(o.end_energy or 0.0)
                elif cost == "time":
                    fixed = o.duration - sum(leaving.waiting for leaving in o.leavings)
                elif cost == "switches":
                    fixed = 1.0
                else:
                    hits = (
                        0
                        if edge.robustness is None
                        else dict(edge.robustness.outcomes).get(o.target, 0)
                    )
                    if hits == 0 or edge.robustness is None:
                        continue
                    fixed = -math.log(beta.ppf(0.025, hits, edge.robustness.samples - hits + 1))
                yield Way(edge.source, str(o.target), fixed, first, start, end)


class Priced:
    """The steps of a graph, and two searches: all rows of nodes that cost no more than a bound, and
    any walk."""

    def __init__(self, graph: ReconfigurationGraph, cost: str, ambiguous: bool) -> None:
        self.leaving: dict[str, list[Way]] = {key: [] for key in graph.nodes}
        for way in ways(graph, cost, ambiguous):
            self.leaving[way.source].append(way)
        self.least = networkx.DiGraph()
        self.least.add_nodes_from(graph.nodes)
        self.product = networkx.DiGraph()
        every = [way for leaving in self.leaving.values() for way in leaving]
        for way in every:
            old = self.least.get_edge_data(way.target, way.source, {"weight": math.inf})["weight"]
            self.least.add_edge(way.target, way.source, weight=min(old, way.fixed))
            self.product.add_node((way.target, way.end))
        arrivals: dict[str, set[float]] = {key: set() for key in graph.nodes}
        for way in every:
            arrivals[way.target].add(way.end)
        for way in every:
            starts: list[float | None] = [None, *arrivals[way.source]]
            for stored in starts:
                self._arc((way.source, stored), (way.target, way.end), way.after(stored))

    def _arc(self, one: Any, two: Any, weight: float) -> None:
        if not self.product.has_edge(one, two) or weight < self.product[one][two]["weight"]:
            self.product.add_edge(one, two, weight=weight)

    def rows(self, start: str, goal: str, most: float) -> dict[tuple[str, ...], float]:
        """Every row of nodes without loops, and the least that it costs, if that is no more than a
        bound."""
        ahead = networkx.single_source_dijkstra_path_length(self.least, goal)
        found: dict[tuple[str, ...], float] = {}

        def on(row: tuple[str, ...], cost: float, stored: float | None) -> None:
            if row[-1] == goal:
                found[row] = min(cost, found.get(row, math.inf))
                return
            for way in self.leaving[row[-1]]:
                then = cost + way.after(stored)
                if way.target not in row and then + ahead.get(way.target, math.inf) <= most:
                    on((*row, way.target), then, way.end)

        on((start,), 0.0, None)
        return found

    def walk(self, start: str) -> dict[str, tuple[float, bool]]:
        """The cheapest walk to every node over (node, energy stored), and whether it passes no node
        twice."""
        if (start, None) not in self.product:
            return {}
        cost, paths = networkx.single_source_dijkstra(self.product, (start, None))
        best: dict[str, tuple[float, bool]] = {}
        for there, price in cost.items():
            row = [node for node, _ in paths[there]]
            if there[0] != start and price < best.get(there[0], (math.inf, True))[0]:
                best[there[0]] = price, len(set(row)) == len(row)
        return best


def bound(cost: float) -> float:
    return cost * (1.0 + SAME) + 1e-15


@pytest.mark.parametrize("ambiguous", [False, True])
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("name", SMALL)
def test_of_small_graphs_every_pair(name: str, cost: Any, ambiguous: bool) -> None:
    """The three best plans against all rows of nodes that cost no more than the third."""
    graph = explored(name)
    priced, planned = Priced(graph, cost, ambiguous), 0
    for start, goal in itertools.permutations(graph.nodes, 2):
        if not networkx.has_path(priced.least, goal, start):
            with pytest.raises(qp.PartError, match="cannot be reached"):
                graph.plan(start, goal, cost=cost, ambiguous=ambiguous)
            continue
        plans = graph.plan(start, goal, cost=cost, ambiguous=ambiguous, k=3)
        most = bound(plans[-1].cost) if len(plans) == 3 else math.inf
        every = sorted(priced.rows(start, goal, most).values())
        assert [plan.cost for plan in plans] == pytest.approx(every[:3], rel=SAME, abs=1e-15)
        if cost == "energy":
            assert [plan.energy for plan in plans] == pytest.approx(every[:3], rel=SAME, abs=1e-15)
        planned += 1
    assert planned > 0 or not any(priced.leaving.values())


@pytest.mark.slow
@pytest.mark.attack
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("name", LARGE)
def test_of_large_graphs_a_hundred_pairs(name: str, cost: Any) -> None:
    """The best plan against the cheapest walk over nodes and energies; where that comes by a node
    twice, no plan may be cheaper, and no row of nodes without loops that costs less may be
    found."""
    graph, rng = explored(name), np.random.default_rng(16)
    priced, planned = Priced(graph, cost, False), 0
    for start in rng.choice([key for key, found in priced.leaving.items() if found], SOME).tolist():
        reached = priced.walk(start)
        goal = str(rng.choice(sorted(reached)))
        price, simple = reached[goal]
        plan = graph.plan(start, goal, cost=cost)
        assert plan.cost >= price * (1.0 - SAME) - 1e-15
        if simple:
            assert plan.cost == pytest.approx(price, rel=SAME, abs=1e-15)
        else:
            assert min(priced.rows(start, goal, bound(plan.cost)).values()) == pytest.approx(
                plan.cost, rel=SAME
            )
        planned += 1
    assert planned == SOME
