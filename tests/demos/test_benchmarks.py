"""The measuring scripts run, and what they measure is about right."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _benchmarks_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    for name in [n for n in sys.modules if n.partition(".")[0] == "benchmarks"]:
        monkeypatch.delitem(sys.modules, name)


def test_costs_are_printed_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from benchmarks import __main__
    from benchmarks.problems import PROBLEMS

    __main__.main(["--quick", "--out", str(tmp_path / "costs.txt")])
    printed = capsys.readouterr().out
    assert all(problem.name in printed for problem in PROBLEMS)
    assert (tmp_path / "costs.txt").read_text() == printed


def test_truths_of_the_cutoffs() -> None:
    from benchmarks import cutoffs, problems

    for build, truth in (
        (problems.ball_chain, cutoffs.eliminated),
        (problems.hinge_chain, cutoffs.eliminated),
        (problems.lattice, cutoffs.one_rigid_body),
        (problems.door, cutoffs.about_its_edge),
        (problems.four_bars, cutoffs.parallelogram),
    ):
        system = build(3)
        assert cutoffs.error(system.acceleration(), truth(system)) < 1e-12
        assert abs(system.residual().velocity).max() < 1e-14


def test_the_other_measurements_run(capsys: pytest.CaptureFixture[str]) -> None:
    from benchmarks import cutoffs, gradient, quirk_rows

    for measure in (lambda: cutoffs.main(quick=True), quirk_rows.main, gradient.main):
        measure()
        assert "error" in capsys.readouterr().out
