"""What else a graph is asked: which shapes have something, what is farthest, what another graph has
and this one has not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from quirkpy.explore.answers.exports import edge_figures, node_figures, ways
from quirkpy.explore.answers.plan import Plan, plans
from quirkpy.explore.model.graph import Graph, Node
from quirkpy.parts.checks import show
from quirkpy.parts.part import PartError

Condition = Callable[[Node], bool]


def nodes_where(graph: Graph, condition: Condition) -> tuple[str, ...]:
    """The names of the nodes of which a condition is true."""
    if not callable(condition):
        raise PartError(
            f"nodes_where: {show(condition)} is no function of a node, such as "
            "lambda node: node.span > 0.3."
        )
    return tuple(key for key, node in graph.nodes.items() if condition(node))


def plans_where(
    graph: Graph, start: str | Node, condition: Condition, cost: Any, k: int, ambiguous: bool
) -> list[Plan]:
    """The k cheapest routes to any node of which a condition is true."""
    goals = nodes_where(graph, condition)
    if not goals:
        raise PartError(
            "plan: of no node is the condition true; graph.nodes_where tells of which.",
            code="answer",
        )
    found = list[Plan]()
    for goal in goals:
        found += reachable_plans(graph, start, goal, cost, k, ambiguous)
    if not found:
        raise PartError(
            f"plan: no moves lead from {graph[start].key} to any of {', '.join(goals)}.",
            code="answer",
        )
    return sorted(found, key=lambda plan: plan.cost)[:k]


def reachable_plans(
    graph: Graph, start: str | Node, goal: str, cost: Any, k: int, ambiguous: bool
) -> list[Plan]:
    """The k cheapest routes to a node; none where there are none."""
    try:
        return plans(graph, start, goal, cost, k, ambiguous)
    except PartError:
        if goal in _reach_of(graph, start):
            raise
        return []


def _reach_of(graph: Graph, start: str | Node) -> set[str]:
    """What moves lead to from a node, itself included."""
    waiting, seen = [graph[start].key], {graph[start].key}
    targets: dict[str, set[str]] = {}
    for edge, outcome in ways(graph):
        if edge.kind == "moved" and outcome.target is not None:
            targets.setdefault(edge.source, set()).add(outcome.target)
    while waiting:
        fresh = targets.get(waiting.pop(), set()) - seen
        seen |= fresh
        waiting += sorted(fresh)
    return seen


def furthest(graph: Graph, start: str | Node, cost: Any) -> Plan:
    """The dearest of the cheapest routes from a node to each of the others."""
    found = [
        plan
        for goal in graph.nodes
        if goal != graph[start].key
        for plan in reachable_plans(graph, start, goal, cost, 1, False)
    ]
    if not found:
        raise PartError(f"furthest: no moves lead away from {graph[start].key}.", code="answer")
    return max(found, key=lambda plan: plan.cost)


class GraphComparison(NamedTuple):
    """Two graphs side by side.

    shared: pairs of nodes that are one shape, of this graph and of the other; gone: nodes of this
    one alone; new: of the other alone; changed: for selections at shared nodes that come to
    something else there, the node of this graph, the selection, and both outcomes in words."""

    shared: tuple[tuple[str, str], ...]
    gone: tuple[str, ...]
    new: tuple[str, ...]
    changed: tuple[tuple[str, str, str, str], ...]


def compare(graph: Graph, other: Graph) -> GraphComparison:
    """What another graph of the same bodies has in common with this one."""
    if not isinstance(other, Graph):
        raise PartError(f"compare: {show(other)} is not a graph, such as study.explore() gives.")
    if graph.study.system.bodies != other.study.system.bodies:
        raise PartError("compare: the two graphs are of different bodies.", code="together")
    study, left, shared = graph.study, dict(other.nodes), list[tuple[str, str]]()
    for key, node in graph.nodes.items():
        for name, candidate in left.items():
            alike = node.joints == candidate.joints
            if alike and study.distance(node.state, candidate.state) <= study.shapes.tolerance:
                shared.append((key, name))
                del left[name]
                break
    ours = {one for one, _ in shared}
    gone = tuple(key for key in graph.nodes if key not in ours)
    return GraphComparison(tuple(shared), gone, tuple(left), _changes(graph, other, dict(shared)))


def _changes(
    graph: Graph, other: Graph, shared: dict[str, str]
) -> tuple[tuple[str, str, str, str], ...]:
    """Selections that come to something else in the other graph."""
    theirs = {(edge.source, edge.selection.key): edge for edge in other.edges}
    found = []
    for edge in graph.edges:
        twin = theirs.get((shared.get(edge.source, ""), edge.selection.key))
        if twin is None:
            continue
        here = shared.get(edge.target, edge.target) if edge.target else edge.kind
        if here != (twin.target or twin.kind):
            said = (edge.target or edge.kind, twin.target or twin.kind)
            found.append((edge.source, str(edge.selection), *said))
    return tuple(found)


def columns_of_nodes(graph: Graph) -> dict[str, list[Any]]:
    """What is said of nodes, a column for each figure."""
    rows = [{"node": key} | node_figures(node) for key, node in graph.nodes.items()]
    return _columns(rows)


def columns_of_edges(graph: Graph) -> dict[str, list[Any]]:
    """What is said of edges that lead to nodes, a column for each figure."""
    rows = [
        {"source": edge.source, "target": outcome.target} | edge_figures(edge, outcome)
        for edge, outcome in ways(graph)
    ]
    return _columns(rows)


def _columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}
