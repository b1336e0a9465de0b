"""Graphs that other programs read: the same nodes, edges, labels and numbers come back, to the
bit."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import networkx
import pydot
import pytest

import quirkpy as qp
from tests.studies import balanced, far_pair

ODD = 'closed "tight" \\ é <&>'


@pytest.fixture(scope="module", params=["certain", "ambiguous"])
def graph(request: pytest.FixtureRequest) -> qp.ReconfigurationGraph:
    if request.param == "ambiguous":
        made = balanced().explore()
        assert "ambiguous" in made.kinds
        return made
    made = far_pair().explore()
    made.name("n1", ODD)
    made.robustness(next(made.moves()), 5)
    return made


def edges_of(keyed: Any) -> Counter[Any]:
    """Edges with all that is said of them."""
    return Counter(
        (source, target, tuple(sorted(figures.items())))
        for source, target, figures in keyed.edges(data=True)
    )


def test_networkx_has_every_edge_that_leads_somewhere(graph: qp.ReconfigurationGraph) -> None:
    keyed = graph.to_networkx()
    assert isinstance(keyed, networkx.MultiDiGraph)
    assert list(keyed.nodes) == list(graph.nodes)
    expected = Counter(
        (edge.source, target, edge.selection.key)
        for edge in graph.edges
        for target in {outcome.target for outcome in edge.outcomes}
        if target is not None
    )
    assert Counter((s, t, key) for s, t, key in keyed.edges(keys=True)) == expected
    for edge in graph.edges:
        if edge.target is not None:
            figures = keyed.edges[edge.source, edge.target, edge.selection.key]
            assert figures["duration"] == edge.duration
            assert figures["kind"] == edge.kind
            assert ("probability" in figures) == (edge.robustness is not None)


def test_graphml(graph: qp.ReconfigurationGraph, tmp_path: Path) -> None:
    graph.save(tmp_path / "graph.graphml")
    keyed, again = (
        graph.to_networkx(),
        networkx.read_graphml(tmp_path / "graph.graphml", force_multigraph=True),
    )
    assert edges_of(again) == edges_of(keyed)
    for key, figures in keyed.nodes(data=True):
        assert again.nodes[key] == as_others_call_them(figures)
    ids = [key for _, _, key in again.edges(keys=True)]
    assert len(set(ids)) == len(ids)  # what others take for one edge


Lines = list[
    tuple[tuple[str, ...], dict[str, str]]
]  # the node or the two ends, and what is said of them


def by_pydot(path: Path) -> Lines:
    (read,) = pydot.graph_from_dot_file(path, encoding="utf-8")
    nodes = [((node.get_name(),), node.get_attributes()) for node in read.get_nodes()]
    return nodes + [
        ((e.get_source(), e.get_destination()), e.get_attributes()) for e in read.get_edges()
    ]


def by_hand(path: Path) -> Lines:
    out = []
    for line in path.read_text(encoding="utf-8").splitlines()[1:-1]:
        found = re.fullmatch(r"  (\w+)(?: -> (\w+))? \[(.*)\];", line)
        assert found is not None
        pairs = re.findall(r'(\w+)=("(?:[^"\\]|\\.)*")(?:, |$)', found[3])
        assert ", ".join("=".join(pair) for pair in pairs) == found[3]
        out.append((tuple(name for name in found.groups()[:2] if name), dict(pairs)))
    return out


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("read", [by_pydot, by_hand])
def test_dot(read: Any, graph: qp.ReconfigurationGraph, tmp_path: Path) -> None:
    graph.save(tmp_path / "graph.dot")
    lines = [(ends, unquoted(figures)) for ends, figures in read(tmp_path / "graph.dot")]
    keyed = graph.to_networkx()
    nodes = {ends[0]: figures for ends, figures in lines if len(ends) == 1}
    assert list(nodes) == list(graph.nodes)
    for key, figures in keyed.nodes(data=True):
        assert same(nodes[key], as_others_call_them(figures))
    edges = {(*ends, figures["selection"]): figures for ends, figures in lines if len(ends) == 2}
    assert len(edges) == len(lines) - len(nodes) == keyed.number_of_edges()
    for source, target, figures in keyed.edges(data=True):
        assert same(edges[source, target, figures["selection"]], figures)


def as_others_call_them(figures: dict[str, Any]) -> dict[str, Any]:
    """The figures of a node: "id" is taken by GraphML, "name" by pydot."""
    return {k: v for k, v in figures.items() if k not in ("id", "name")} | {"hash": figures["id"]}


def unquoted(figures: dict[str, str]) -> dict[str, str]:
    return {name: re.sub(r"\\(.)", r"\1", text[1:-1]) for name, text in figures.items()}


def same(read: dict[str, str], figures: dict[str, Any]) -> bool:
    """Whether texts say what figures are; floats to the bit."""
    assert read.keys() == figures.keys()
    return all(type(value)(read[name]) == value for name, value in figures.items())


def test_json(graph: qp.ReconfigurationGraph, tmp_path: Path) -> None:
    graph.save(tmp_path / "graph.json")
    read = json.loads((tmp_path / "graph.json").read_text(encoding="utf-8"))
    assert list(read["nodes"]) == list(graph.nodes)
    for key, node in graph.nodes.items():
        assert read["nodes"][key]["r"] == node.state.r.tolist()
        assert read["nodes"][key]["id"] == node.id
        assert read["nodes"][key]["energy"] == node.energy
    assert len(read["edges"]) == len(graph.edges)
    for line, edge in zip(read["edges"], graph.edges, strict=True):
        assert (line["source"], line["kind"]) == (edge.source, edge.kind)
        assert qp.Choice(tuple(line["joints"].items()), line["potential"]) == edge.selection
        for one, outcome in zip(line["outcomes"], edge.outcomes, strict=True):
            assert one == json.loads(json.dumps(outcome._asdict()))
            assert one["duration"] == outcome.duration
        if edge.robustness is not None:
            assert type(edge.robustness).of(line["robustness"]) == edge.robustness
