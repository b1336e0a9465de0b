"""How busy workers are when runs take milliseconds: handed out in tasks of about 0.2 s, and one by
one."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any
from unittest import mock

import quirkpy as qp
from benchmarks.tables import Measured, Sheet
from demos.cubesat_pair import b, pair
from quirkpy.explore.run import workers
from quirkpy.explore.scope.choices import Count

#: Wells from which the pair may choose, each for four short runs; fewer when in haste.
WELLS, FEW = 800, 150
WORKERS = 2


def short_runs(wells: int) -> qp.Study:
    """Two shapes, in each of which the pair is held or comes apart under so many wells: runs of
    milliseconds."""
    fields = pair().fields()
    fields["potentials"] = {
        f"well {k}": [qp.PotentialWell("well", b, (0.1 + 1e-3 * k, 0.0, 0.0), 0.05)]
        for k in range(wells)
    }
    fields["options"] = {kinds: [qp.Free(), qp.Lock()] for kinds in fields["options"]}
    return qp.Study(fields.pop("system"), **fields)


@contextmanager
def on_dask(study: qp.Study) -> Iterator[Executor]:
    """Two workers of a Dask cluster on this machine, with a scheduler between."""
    import distributed

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with (
            distributed.LocalCluster(
                n_workers=WORKERS,
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                silence_logs=50,
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client.get_executor(pure=False)


def pools() -> dict[str, Any]:
    """What hands out runs: processes of our own, and Dask where it is installed."""
    out: dict[str, Any] = {"processes": lambda study: workers.processes(WORKERS, study)}
    try:
        import distributed  # noqa: F401
    except ImportError:
        return out
    return out | {"Dask": on_dask}


def shared(pool: Executor, study: qp.Study, most: int) -> tuple[Count, float]:
    """What was done in tasks of at most so many runs, and how long that took [s]."""
    counts: list[Count] = []
    with mock.patch.object(workers, "MOST", most):
        begun = time.perf_counter()
        study.explore(workers=pool, progress=counts.append, reductions=False)
        return counts[-1], time.perf_counter() - begun


def measure(quick: bool) -> Measured:
    """A row for each way to hand out; that of tasks on Dask decides, where there is one."""
    study, rows, figures = short_runs(FEW if quick else WELLS), [], {}
    for name, make in pools().items():
        with make(study) as pool:
            shared(pool, short_runs(FEW), workers.MOST)  # imports, compiles
            for words, most in (("tasks of about 0.2 s", workers.MOST), ("one by one", 1)):
                count, wall = shared(pool, study, most)
                busy = count.seconds / (WORKERS * wall)
                rows.append(
                    [
                        f"{name}, {words}",
                        count.runs,
                        count.tasks,
                        1e3 * count.seconds / count.runs,
                        wall,
                        busy,
                    ]
                )
                figures[f"utilisation, {words}"] = busy
    heads = [
        "2 workers",
        "runs",
        "tasks",
        "a run [ms]",
        "time [s]",
        "share of the time in which workers run",
    ]
    remark = (
        "Runs of two cubes that are held or separate under one of many wells, none shared. Wall "
        "time of workers that have started: on a busy machine all of these times increase "
        "equally."
    )
    return Measured([Sheet("Workers: short runs", heads, rows, [remark])], figures)
