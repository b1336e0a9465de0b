"""The scripts that measure the integrator run, and their systems are what they say."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import quirkpy as qp

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _benchmarks_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    for name in [n for n in sys.modules if n.partition(".")[0] == "benchmarks"]:
        monkeypatch.delitem(sys.modules, name)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """One turn for each work that is timed."""
    from benchmarks import timing

    monkeypatch.setattr(timing.race, "__defaults__", (1,))
    for name in ("BATCH", "SPENT"):
        monkeypatch.setattr(timing, name, 0.0)


def test_chain_falls_to_its_reference() -> None:
    from benchmarks import tolerances

    run = tolerances.falling_chain(8).simulate(tolerances.END, rtol=1e-10, atol=1e-12, keep="ends")
    np.testing.assert_allclose(tolerances.tip(run.final), tolerances.TIP, rtol=0.0, atol=1e-9)


@pytest.mark.slow
@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize(
    "name",
    ["closure", "clusters", "distances", "flat_poses", "projection", "stiffness", "tolerances"],
)
def test_measurement_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    importlib.import_module(f"benchmarks.{name}").main(quick=True)
    assert capsys.readouterr().out


def test_kernels_with_something_exchanged_can_be_called() -> None:
    from benchmarks.variants import recompiled
    from quirkpy.kernels.base import arrays
    from quirkpy.kernels.tree import closure, elimination, tree
    from quirkpy.kernels.users.packing import pack

    alone = qp.Multibody(qp.Body("b", mass=1.0, inertia=(1.0, 1.0, 1.0))).selection
    of_one, _ = tree.tree_of(alone, pack(alone.tables))
    loose = of_one._replace(loops=np.zeros((1, tree.LOOP_WIDTH), dtype=np.int64))
    nobody, work = np.zeros((0, arrays.BODY_WIDTH)), np.zeros((1, elimination.WIDTH))
    rows, report = np.zeros((1, closure.SIZE + closure.LEFT + 1)), np.zeros(closure.REPORT_WIDTH)
    found = []
    for sweeps in (1, 2):
        A = np.array(
            [[1e-3], [0.0]]
        )  # one row whose square is the pivot: a sweep leaves a third of it
        rows[0, closure.LEFT] = 1e-3
        spans = np.array([[0, 1, 0]])
        recompiled(closure.smallest_solution, SWEEPS=sweeps)(
            loose, nobody, work, A, spans, rows, 1e-6, report
        )
        found.append(A[1, 0])
    np.testing.assert_allclose(found, [2.0 / 3.0, 8.0 / 9.0])
