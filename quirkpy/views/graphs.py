"""A reconfiguration graph in words: nodes, edges, and what was rejected and why."""

from __future__ import annotations

from collections import Counter

from quirkpy.explore.alike.silent import silent
from quirkpy.explore.graph import ReconfigurationGraph
from quirkpy.explore.model.graph import Edge
from quirkpy.parts.checks import how_many


def text(graph: ReconfigurationGraph) -> str:
    """Nodes and edges, a line each; rejections counted by reason."""
    kinds = ", ".join(f"{n} {kind}" for kind, n in graph.kinds.items())
    tried = f"{100.0 * graph.coverage:.4g} % of the choices tried"
    nodes, edges = how_many(len(graph.nodes), "node"), how_many(len(graph.edges), "edge")
    lines = [
        f"{nodes}, {edges} ({kinds}), {tried}",
        *_nodes(graph),
        *_moves(graph),
    ]
    for kind in ("rejected", "jammed", "never settles", "failed"):
        lines += _reasons(graph, kind)
    lines += _savings(graph)
    known_of = silent(graph.study)
    if known_of:
        lines += ["", "runs are kept apart that might be one, for nothing is known of:"]
        lines += [f"  {words}" for words in known_of]
    if graph.near_misses:
        lines += ["", "shapes that nearly are the same:"]
        lines += [f"  {one} and {two}: {gap:.3g} apart" for one, two, gap in graph.near_misses]
    return "\n".join(lines)


def _nodes(graph: ReconfigurationGraph) -> list[str]:
    """The table of nodes, with its header."""
    return ["", f"{'node':6} {'name':12} {'id':10} {'energy [J]':>12}  verdict"] + [
        f"{key:6} {node.name or '':12} {node.id[:8]:10} {node.energy:12.5g}  {node.verdict}: "
        f"{node.reason}"
        for key, node in graph.nodes.items()
    ]


def _moves(graph: ReconfigurationGraph) -> list[str]:
    """The table of edges along which something moved, with its header, if there are any."""
    moves = [edge for edge in graph.edges if edge.kind in ("moved", "ambiguous")]
    head = (
        f"{'from':6} {'to':9} {'moves [s]':>10} {'waits [s]':>10} {'switched [J]':>13} "
        f"{'dissipated [J]':>15} {'m/s':>9}  selection"
    )
    return ["", head, *map(_edge, moves)] if moves else []


def _reasons(graph: ReconfigurationGraph, kind: str) -> list[str]:
    """The reasons of outcomes of a kind, with their numbers, if there are any."""
    reasons = Counter(
        f"{o.reason}{' (' + ', '.join(o.parts) + ')' if o.parts else ''}"
        for edge in graph.edges
        for o in edge.outcomes
        if o.kind == kind
    )
    counted = [f"  {n:5d}  {reason}" for reason, n in sorted(reasons.items())]
    return ["", f"{kind}:", *counted] if counted else []


def _savings(graph: ReconfigurationGraph) -> list[str]:
    """The number of runs that represent all edges, if that is smaller."""
    if not any(graph.saved.values()):
        return []
    saved = ", ".join(f"{n} by {reduction}" for reduction, n in graph.saved.items())
    runs = len(graph.edges) - sum(graph.saved.values())
    return ["", f"{runs} runs answer for all edges; saved: {saved}"]


def _edge(edge: Edge) -> str:
    to = edge.target or "/".join(sorted({o.target or o.kind for o in edge.outcomes}))
    o = edge.outcomes[0]
    figures = (
        f"{o.moving:10.5g} {o.waiting:10.5g} {o.switching:13.5g} {o.dissipated:15.5g} "
        f"{o.peak_speed:9.4g}"
    )
    runs = f", {len(edge.outcomes)} runs" if len(edge.outcomes) > 1 else ""
    return f"{edge.source:6} {to:9} {figures}  {edge.selection}{runs}"
