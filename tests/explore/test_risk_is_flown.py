"""Plans by risk with chances that were measured: no route is safer, and whole plans succeed as
often as foretold."""

from __future__ import annotations

import dataclasses
import itertools
import math
from functools import cache

import networkx
import pytest
from scipy.stats import beta

import quirkpy as qp
from demos.cubesat_pair import pair
from quirkpy.explore.answers.robustness import Flights, goals_of
from quirkpy.explore.graph import ReconfigurationGraph
from quirkpy.explore.model.graph import Edge

#: So much differs that some flights fail.
WIDE = qp.Spread(start=0.02, speed=0.02, mass=0.2, strength=0.3)
SAMPLES, WITHIN, SEED = 40, 1e-2, 3


@cache
def measured() -> ReconfigurationGraph:
    """The pair of cubes between far wells, every move flown."""
    graph: ReconfigurationGraph = pair(0.2).explore(progress=False)
    for edge in graph.moves():
        graph.robustness(edge, SAMPLES, spread=WIDE, seed=SEED, within=WITHIN)
    return graph


def least(edge: Edge) -> float:
    """The least probability of success with 95 % confidence, by Clopper and Pearson."""
    assert edge.robustness is not None
    hits = dict(edge.robustness.outcomes).get(str(edge.target), 0)
    return 0.0 if hits == 0 else float(beta.ppf(0.025, hits, SAMPLES - hits + 1))


def test_of_all_routes_none_is_safer() -> None:
    """Every simple path, each step by the edge that fails least often."""
    graph = measured()
    shares = {edge.robustness.probability for edge in graph.moves() if edge.robustness is not None}
    assert len(shares) > 1
    ways = networkx.DiGraph()
    for edge in graph.moves():
        one, two = edge.source, str(edge.target)
        if one != two and least(edge) > ways.get_edge_data(one, two, {"least": 0.0})["least"]:
            ways.add_edge(one, two, least=least(edge))
    planned = 0
    for start, goal in itertools.permutations(ways, 2):
        routes = [
            math.prod(ways[one][two]["least"] for one, two in itertools.pairwise(path))
            for path in networkx.all_simple_paths(ways, start, goal)
        ]
        if routes:
            plan = graph.plan(start, goal, cost="risk")
            assert math.exp(-plan.cost) == pytest.approx(max(routes), rel=1e-12)
            planned += 1
    assert planned > 5


def landed(graph: ReconfigurationGraph, edge: Edge, node: str, seed: int) -> list[bool]:
    """Whether flights of an edge, other ones than those that were counted, end in a node."""
    flights = Flights(
        graph.study, graph.nodes[edge.source], edge.selection, edge.nudge, goals_of(graph), WITHIN,
        edge.outcomes[0].target,
    )  # fmt: skip
    return [flights.label(x) == node for x in flights.variations.draw(WIDE, seed, range(SAMPLES))]


@pytest.mark.slow
def test_whole_plans_succeed_as_often_as_foretold() -> None:
    """A flight is lost with the first step that goes astray.  What a plan foretells lies within the
    interval about the share of its flights that arrive, and that share within what the estimates of
    its steps allow."""
    graph, flown = measured(), 0
    for start, goal in itertools.permutations(graph.nodes, 2):
        if goal not in graph.reachable(start):
            continue
        try:
            plan = graph.plan(start, goal, cost="risk")
        except qp.PartError:
            continue
        steps = [
            landed(graph, edge, node, 100 + k)
            for k, (edge, node) in enumerate(zip(plan, plan.nodes[1:]))
        ]
        arrived = sum(map(all, zip(*steps, strict=True)))
        assert plan.edges[0].robustness is not None
        counted = dataclasses.replace(
            plan.edges[0].robustness,
            target="goal",
            outcomes=(("goal", arrived), ("astray", SAMPLES - arrived)),
        )
        low, high = counted.interval(0.9999)
        bounds = [
            edge.robustness.towards(node).interval(0.9999)
            for edge, node in zip(plan, plan.nodes[1:])
        ]
        least, most = (math.prod(bound[k] for bound in bounds) for k in (0, 1))
        assert plan.probability is not None
        assert least <= high
        assert low <= most
        assert low <= plan.probability <= high or least <= arrived / SAMPLES <= most
        flown += len(plan) > 1
    assert flown > 0
