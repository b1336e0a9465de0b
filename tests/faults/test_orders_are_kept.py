"""`load` numbers nodes as their writer did, wherever that was interrupted, and in whatever order it
took nodes up."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import quirkpy as qp
from quirkpy.explore import explorer
from tests.random_studies import random_study
from tests.random_systems import seeds
from tests.studies import far_pair


def study_of(seed: int) -> qp.Study:
    """The pair, whose graph has many nodes, and others."""
    return far_pair() if seed % 3 == 0 else random_study(seed, modules=2)


def order_of(seed: int) -> Callable[[qp.Node], float]:
    """Any order, ties among it; every node has its place whenever it is found."""
    return lambda node: float(random.Random(f"{seed} {node.id}").randrange(5))


def places(graph: qp.ReconfigurationGraph) -> dict[str, tuple[int, str]]:
    return {key: (node.number, node.id) for key, node in graph.nodes.items()}


@seeds(12, 3, attack=600)
def test_budgets_in_any_order(seed: int, tmp_path: Path) -> None:
    """After each part of an exploration the journal holds the graph that its writer has: nodes,
    numbers, edges."""
    chance, path, study = random.Random(seed), tmp_path / "pair.db", study_of(seed)
    towards = order_of(seed)
    while True:
        if chance.random() < 0.2:
            towards = order_of(chance.randrange(1000))  # somebody has thought better of it
        graph = study.explore(path, towards=towards, budget=chance.randrange(1, 12))
        loaded = qp.ReconfigurationGraph.load(path)
        assert places(loaded) == places(graph)
        assert loaded.to_json() == graph.to_json()
        if graph.coverage == 1.0:
            break
    fresh = study.explore(tmp_path / "fresh.db", towards=towards)
    assert graph.to_json() == fresh.to_json()


@seeds(12, 3, attack=600)
def test_interruptions_in_any_order(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is interrupted between a run and its edge has the run in its journal: `load` is ahead of
    its writer by what that knew, and by nothing that its writer would have numbered otherwise."""
    chance, path, study = random.Random(seed), tmp_path / "pair.db", study_of(seed)
    take, towards, held = explorer.Walk.take, order_of(seed), list[qp.ReconfigurationGraph]()
    left = [0]

    def cut(self: Any, *rest: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            held.append(self.graph())
            raise KeyboardInterrupt
        take(self, *rest)

    monkeypatch.setattr(explorer.Walk, "take", cut)
    for _ in range(4):
        left[0] = chance.randrange(30)
        try:
            held.append(study.explore(path, towards=towards))
        except KeyboardInterrupt:
            left[0] = 10**9
        left[0] = 10**9
        loaded, writer = qp.ReconfigurationGraph.load(path), held[-1]
        assert places(writer).items() <= places(loaded).items()
        known = {(edge.source, edge.selection.key): edge for edge in loaded.edges}
        assert all(known[edge.source, edge.selection.key] == edge for edge in writer.edges)
    graph = study.explore(path, towards=towards)
    assert qp.ReconfigurationGraph.load(path).to_json() == graph.to_json()
    assert places(loaded).items() <= places(graph).items()
