"""Export of a graph to networkx, GraphML and DOT."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quirkpy.explore.model.graph import Edge, Graph, Node, Outcome

#: Figures of an outcome, as edges have them.
FIGURES = (
    "duration", "waiting", "moving", "start_energy", "end_energy", "switching", "changing",
    "holding", "dissipated", "put_in", "lost", "peak_speed", "peak_load", "clearance",
)  # fmt: skip


def ways(graph: Graph) -> Iterator[tuple[Edge, Outcome]]:
    """For each edge and each node to which it may lead, the first outcome that leads there."""
    for edge in graph.edges:
        seen = set()
        for outcome in edge.outcomes:
            if outcome.target is not None and outcome.target not in seen:
                seen.add(outcome.target)
                yield edge, outcome


def node_figures(node: Node) -> dict[str, Any]:
    """The attributes of a node, as plain values."""
    out = {"label": node.name or node.key, "id": node.id, "name": node.name or node.key,
    "verdict": node.verdict,
           "reason": str(node.reason), "energy": node.energy,
           "potential": node.potential}  # fmt: skip
    return {name: value for name, value in out.items() if value is not None}


def edge_figures(edge: Edge, outcome: Outcome) -> dict[str, Any]:
    """The attributes of an edge, as plain values; unknown ones are left out."""
    out: dict[str, Any] = {"label": str(edge.selection), "selection": edge.selection.key,
    "kind": edge.kind,
                           "potential": edge.selection.potential}  # fmt: skip
    out |= {name: getattr(outcome, name) for name in FIGURES}
    if edge.robustness is not None:
        low, high = edge.robustness.interval()
        out |= {"probability": edge.robustness.probability, "probability_low": low,
        "probability_high": high,
                "samples": edge.robustness.samples}  # fmt: skip
    return {name: value for name, value in out.items() if value is not None}


def to_networkx(graph: Graph) -> Any:
    """A graph as a directed multigraph of networkx, as `ReconfigurationGraph.to_networkx` says."""
    import networkx

    out = networkx.MultiDiGraph()
    for key, node in graph.nodes.items():
        out.add_node(key, **node_figures(node))
    for edge, outcome in ways(graph):
        out.add_edge(
            edge.source, outcome.target, key=edge.selection.key, **edge_figures(edge, outcome)
        )
    return out


def graphml(graph: Graph) -> str:
    """The graph as GraphML.  Its edges are called "e0", "e1" ...: other programs take edges of one
    id for one edge."""
    import networkx

    keyed, out = to_networkx(graph), networkx.MultiDiGraph()
    out.add_nodes_from((key, foreign(figures)) for key, figures in keyed.nodes(data=True))
    for k, (source, target, figures) in enumerate(keyed.edges(data=True)):
        out.add_edge(source, target, key=f"e{k}", **figures)
    return "\n".join(networkx.generate_graphml(out, named_key_ids=True)) + "\n"


def foreign(figures: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a node under names that no format or reader reserves; the key of the node
    becomes its label."""
    return {
        "hash" if name == "id" else name: value for name, value in figures.items() if name != "name"
    }


def dot(graph: Graph) -> str:
    """The graph as DOT; floats are written so that they read back exactly."""
    lines = ["digraph reconfigurations {"]
    for key, node in graph.nodes.items():
        lines.append(f"  {key} {_join_attributes(foreign(node_figures(node)))};")
    for edge, outcome in ways(graph):
        lines.append(
            f"  {edge.source} -> {outcome.target} {_join_attributes(edge_figures(edge, outcome))};"
        )
    return "\n".join([*lines, "}"]) + "\n"


def _join_attributes(figures: dict[str, Any]) -> str:
    return "[" + ", ".join(f"{name}={_quote(value)}" for name, value in figures.items()) + "]"


def _quote(value: Any) -> str:
    """A value as DOT quotes it: nothing but quotation marks and backslashes is changed."""
    text = value if isinstance(value, str) else repr(value)
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
