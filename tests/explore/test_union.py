"""Several journals of one study made one."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

import quirkpy as qp
from demos.cubesat_pair import pair
from quirkpy.explore.journal import Journal


def backwards(node: qp.Node) -> float:
    return -float(node.number)


def test_parts_of_an_exploration_are_the_whole(tmp_path: Path) -> None:
    """Of two halves begun from either end nothing is lost, and only what is missing is flown."""
    study = pair(0.2)
    whole = study.explore(progress=False)
    first, second, both = (tmp_path / f"{name}.db" for name in ("first", "second", "both"))
    study.explore(first, budget=4, progress=False)
    study.explore(second, budget=7, towards=backwards, progress=False)
    graph = qp.ReconfigurationGraph.merge([first, second], both)
    runs = []
    for path in (first, second, both):
        with Journal(path, read_only=True) as journal:
            runs.append(set(journal))
    assert runs[2] == runs[0] | runs[1]
    assert runs[0] != runs[2] != runs[1]
    assert graph.coverage < 1.0
    counts = []
    again = study.explore(both, progress=counts.append)
    assert again.to_json() == whole.to_json()
    assert qp.ReconfigurationGraph.load(both).to_json() == whole.to_json()
    needed = len(whole.edges) - sum(whole.saved.values())
    assert counts[-1].runs == needed - len(runs[2])


def test_of_flights_those_of_more_samples_are_kept(tmp_path: Path) -> None:
    places = [tmp_path / f"{n}.db" for n in (5, 9)]
    for place, samples in zip(places, (5, 9), strict=True):
        graph = pair().explore(place, progress=False)
        graph.robustness(next(graph.moves()), samples)
    for order, name in ((places, "a.db"), (places[::-1], "b.db")):
        edge = next(qp.ReconfigurationGraph.merge(order, tmp_path / name).moves())
        assert edge.robustness is not None
        assert edge.robustness.samples == 9


def test_what_cannot_be_one_is_refused(tmp_path: Path) -> None:
    one, other, bare, out = (tmp_path / f"{n}.db" for n in ("one", "other", "bare", "out"))
    pair(0.1).explore(one, progress=False)
    pair(0.2).explore(other, progress=False)
    pair(0.1).explore(bare, reductions=False, budget=0, progress=False)
    for paths, said in (
        ([one, other], "belongs to another study"), ([one, bare], "different reductions"),
        ([one, tmp_path / "no.db"], "there is no journal"), ([one], "two journals or more"),
    ):  # fmt: skip
        with pytest.raises(qp.PartError, match=said):
            qp.ReconfigurationGraph.merge(paths, out)
        assert not out.exists()
    with pytest.raises(qp.PartError, match="is there already"):
        qp.ReconfigurationGraph.merge([one, one], bare)


def test_damaged_runs_are_left_out_and_told(tmp_path: Path) -> None:
    one, other, out = (tmp_path / f"{n}.db" for n in ("one", "other", "out"))
    for path in (one, other):
        pair().explore(path, progress=False)
    with contextlib.closing(sqlite3.connect(other)) as base, base:
        base.execute("UPDATE runs SET hash = 'x'")
    with pytest.warns(qp.PartWarning, match="damaged run"):
        graph = qp.ReconfigurationGraph.merge([other, one], out)
    assert graph.coverage == 1.0
