"""Explorations on a Dask cluster: a real scheduler, workers in processes of their own, one of them
killed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import quirkpy as qp
from quirkpy.explore.run.workers import workers_of
from tests.faults.sentence import check_refused
from tests.studies import Deadly, far_pair

distributed = pytest.importorskip("distributed")
#: One worker runs them all, so that one cluster is started.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("cluster"),
    pytest.mark.filterwarnings("default"),
]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two workers of one thread each, and nannies that start new ones."""
    dask = pytest.importorskip("dask")
    with warnings.catch_warnings(), dask.config.set({"distributed.scheduler.allowed-failures": 1}):
        warnings.simplefilter("default")
        with (
            distributed.LocalCluster(
                n_workers=2,
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                silence_logs=50,
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client


def test_the_graph_of_a_cluster_is_the_same(client: Any, tmp_path: Path) -> None:
    whole = far_pair().explore()
    pool = client.get_executor(pure=False)
    assert workers_of(pool) == 2
    assert far_pair().explore(tmp_path / "pair.db", workers=pool).to_json() == whole.to_json()
    assert qp.ReconfigurationGraph.load(tmp_path / "pair.db").to_json() == whole.to_json()
    edge = next(whole.moves())
    assert whole.robustness(edge, 20, workers=pool) == whole.robustness(edge, 20)


def test_a_worker_of_a_cluster_is_killed(client: Any, tmp_path: Path) -> None:
    """Its tasks go to the other one, or to its successor; nothing is missing and nothing is counted
    twice."""
    fuse, path = tmp_path / "fuse", tmp_path / "pair.db"
    study = far_pair(Deadly(str(fuse)))
    before = set(client.run(_pid).values())
    fuse.touch()
    graph = study.explore(path, workers=client.get_executor(pure=False))
    assert not fuse.exists()
    client.wait_for_workers(2, timeout=60)
    assert set(client.run(_pid).values()) != before
    assert graph.to_json() == study.explore().to_json()
    assert qp.ReconfigurationGraph.load(path, ["tests.studies"]).to_json() == graph.to_json()


def test_a_run_that_kills_every_worker(client: Any, tmp_path: Path) -> None:
    """The cluster gives it up; what was finished is kept, and goes on where the cause is gone."""
    fuse, path = tmp_path / "fuse", tmp_path / "pair.db"
    study = far_pair(Deadly(str(fuse), ever=True))
    fuse.touch()
    pool = client.get_executor(pure=False)
    check_refused(
        lambda: study.explore(path, workers=pool), "explore: a worker was killed", ("goes on",)
    )
    fuse.unlink()
    assert study.explore(path, workers=pool).to_json() == study.explore().to_json()


def _pid() -> int:
    import os

    return os.getpid()
