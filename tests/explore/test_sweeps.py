"""A study explored for several values of its parameters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from demos.cubesat_pair import b, pair
from quirkpy.explore.sweep import combinations, journals
from quirkpy.views import sweeps

WELLS = [0.1, 0.2]


def moved(node: qp.Node) -> bool:
    """Whether the second cube is elsewhere than as written."""
    return bool(abs(node.state["B"].position - b.position).max() > 1e-3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sweep")


@pytest.fixture(scope="module")
def swept(folder: Path) -> qp.Sweep:
    return qp.sweep(pair, {"well": np.array(WELLS)}, folder, goal=moved, samples=5, progress=False)


def test_each_point_is_the_study_alone(swept: qp.Sweep, folder: Path) -> None:
    assert [path.name for path in sorted(folder.glob("*"))] == ["well=0.1.db", "well=0.2.db"]
    for well, point in zip(WELLS, swept, strict=True):
        alone = pair(well).explore(progress=False)
        assert point.parameters == {"well": well}
        assert list(point.graph.nodes) == list(alone.nodes)
        assert [e.outcomes for e in point.graph.edges] == [e.outcomes for e in alone.edges]
        plan = alone.plan("n0", where=moved)
        assert (point.cheapest.nodes, point.cheapest.energy) == (plan.nodes, plan.energy)
        assert point.figures["reached"] == len(alone.reachable("n0"))
        assert point.surest.probability == point.figures["probability"]
        assert point.figures["probability"] is not None


def test_a_sweep_goes_on_from_its_journals(
    swept: qp.Sweep, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is flown again, not even samples; without journals nothing is known of risk."""
    monkeypatch.setattr("quirkpy.explore.run.workers.run_choice", None)
    monkeypatch.setattr("quirkpy.explore.sweep.ReconfigurationGraph.robustness", None)
    again = qp.sweep(pair, {"well": WELLS}, folder, goal=moved, samples=5, progress=False)
    assert again.table() == swept.table()


def test_a_sweep_is_a_table_and_charts(swept: qp.Sweep) -> None:
    pytest.importorskip("matplotlib")
    title, head, *rows = str(swept).split("\n")
    assert title == repr(swept) == "Sweep(2 studies over well)"
    assert head.split()[:4] == ["well", "shapes", "moves", "reached"]
    assert [float(row.split()[0]) for row in rows] == WELLS
    assert swept._repr_html_().count("<tr>") == 3
    axes = swept.plot().figure.axes
    assert [a.get_ylabel() for a in axes] == [
        "shapes reached", "cheapest plan [J]", "its time [s]", "surest plan",
    ]  # fmt: skip
    (line,) = axes[1].get_lines()
    np.testing.assert_array_equal(line.get_xdata(), WELLS)
    np.testing.assert_array_equal(line.get_ydata(), swept.table()["energy"])
    with pytest.raises(qp.PartError, match="'mass' is no parameter"):
        swept.plot("mass")


def test_several_parameters_give_a_curve_for_each_of_the_others(swept: qp.Sweep) -> None:
    one, two = swept
    words = [("a", 1.0), ("a", 2.0), ("b", 1.0), ("b", 2.0)]
    points = [
        p._replace(parameters={"word": word, "x": x}) for (word, x), p in zip(words, (one, two) * 2)
    ]
    whole = qp.Sweep(tuple(points))
    (panel, *_) = sweeps.sheet_of(whole, "x", {"energy": "E"}).panels
    assert [line.name for line in panel.lines] == ["word=a", "word=b"]
    (panel, *_) = sweeps.sheet_of(whole, "word", {"energy": "E"}).panels
    assert panel.x_label == "word: a, b"
    energies = {line.name: line.values.tolist() for line in panel.lines}
    first, second = one.cheapest.energy, two.cheapest.energy
    assert energies == {"x=1.0": [first, first], "x=2.0": [second, second]}
    lost = qp.Sweep((one._replace(cheapest=None, surest=None), two))
    assert np.isnan(sweeps.sheet_of(lost, None, {"energy": "E"}).panels[0].lines[0].values[0])
    assert "-" in str(lost).split("\n")[2].split()


def test_what_can_be_no_sweep_is_refused(tmp_path: Path) -> None:
    cases: list[tuple[Any, str]] = [
        (lambda: qp.sweep(pair, {}), "must be a dict of lists"),
        (lambda: qp.sweep(pair, {"well": 0.1}), "must be a list of values"),  # type: ignore[dict-item]
        (lambda: qp.sweep(pair, {"well": []}), "must be a list of values"),
        (lambda: qp.sweep(lambda x: x, {"x": [1]}), "sweep: study_of gave 1"),  # type: ignore[arg-type, return-value]
        (lambda: journals({"x": ["a/b", "a_b"]}, tmp_path), "several points would have"),
    ]
    for act, said in cases:
        with pytest.raises(qp.PartError, match=said):
            act()
    every = list(combinations({"a": [1, 2], "b": ["x", "y"]}))
    assert every == [{"a": i, "b": j} for i in (1, 2) for j in ("x", "y")]


def test_what_is_no_sweep_is_refused_before_it_begins(tmp_path: Path) -> None:
    taken = tmp_path / "taken.db"
    taken.touch()
    for study_of, given, words in (
        (3, {}, "study_of is 3, but must be a function that gives a Study"),
        (pair, {"goal": 3}, "goal is 3, but must be a condition of a node, or the name of one"),
        (pair, {"folder": taken}, r"folder '.*taken.db' cannot be made"),
    ):
        with pytest.raises(qp.PartError, match=f"sweep: {words}"):
            qp.sweep(study_of, {"well": WELLS}, **given)  # type: ignore[arg-type]


def test_sweeps_refuse_what_nobody_takes() -> None:
    """Options of `explore`, and parameters of the study, before anything is explored."""
    refused: tuple[tuple[Callable[[], Any], str], ...] = (
        (lambda: qp.sweep(pair, {"well": WELLS}, budgett=3), "no option 'budgett'"),
        (lambda: qp.sweep(pair, {"wall": WELLS}), "do not fit: .*'wall'"),
        (lambda: qp.sweep(lambda well, mass: pair(well), {"well": WELLS}), "do not fit: .*'mass'"),
    )
    for make, words in refused:
        with pytest.raises(qp.PartError, match=words) as caught:
            make()
        assert caught.value.code == "name"
