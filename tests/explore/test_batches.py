"""Runs handed out in batches: long enough to be worth it, short enough to lose little, and always
the same graph."""

from __future__ import annotations

import pickle
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import pytest

import quirkpy as qp
from demos.cubesat_pair import b, pair
from quirkpy.explore.explorer import AHEAD
from quirkpy.explore.model.graph import Outcome
from quirkpy.explore.run import workers
from quirkpy.explore.run.records import Record
from quirkpy.explore.run.workers import MOST, TASK, Batch, Pace
from quirkpy.explore.scope.choices import Count
from quirkpy.explore.texts import record_of, text_of
from tests.studies import Slow, changed, far_pair

#: What it costs at most to hand out a task [s]; a scheduler on a network takes about a millisecond.
HANDED_OUT = 5e-3


class Counting(Executor):
    """Two threads that note how many runs each task has."""

    def __init__(self) -> None:
        self.pool, self.sizes = ThreadPoolExecutor(2), list[int]()
        self._max_workers = 2

    def submit(self, function: Any, /, *args: Any, **keywords: Any) -> Future[Any]:
        self.sizes.append(len(pickle.loads(args[2])))
        return self.pool.submit(function, *args, **keywords)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.pool.shutdown(wait, cancel_futures=cancel_futures)


def wide(wells: int) -> qp.Study:
    """Two nodes, each with so many potentials that hold or tear the pair apart: hundreds of short
    runs."""
    potentials = {
        f"well {k}": [qp.PotentialWell("well", b, (0.1 + 0.01 * k, 0.0, 0.0), 0.05)]
        for k in range(wells)
    }
    options = {kinds: [qp.Free(), qp.Lock()] for kinds in pair().options}
    return changed(pair(), potentials=potentials, options=options)


def test_short_runs_do_not_drown_in_handing_out() -> None:
    study, counts = wide(150), list[Count]()
    with Counting() as pool:
        graph = study.explore(workers=pool, progress=counts.append, reductions=False)
    last = counts[-1]
    assert last.runs == len(graph.edges) == 300
    assert (last.tasks, sum(pool.sizes)) == (len(pool.sizes), 300)
    assert last.tasks <= 60  # the last ones are shared among the workers, one by one
    assert HANDED_OUT <= 0.05 * TASK
    assert max(pool.sizes) > 5
    assert graph.to_json() == study.explore(reductions=False).to_json()


def test_long_runs_go_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a kill may cost are the runs under way: no task has more than its time allows, here a
    fifth of the usual."""
    monkeypatch.setattr(workers, "TASK", 0.2 * TASK)
    held = {
        kinds: options[1:] for kinds, options in far_pair().options.items()
    }  # what comes apart takes no time
    with Counting() as pool:
        changed(far_pair(Slow(0.25 * TASK)), options=held).explore(workers=pool)
    assert set(pool.sizes) == {1}


@pytest.mark.parametrize(
    ("seconds", "waiting", "expected"),
    [
        (0.0, 1000, 1),
        (1e-3, 10_000, MOST),
        (1e-2, 1000, round(TASK / 1e-2)),
        (1e-2, 12, 2),
        (3.0, 1000, 1),
    ],
)
def test_the_size_of_a_task(seconds: float, waiting: int, expected: int) -> None:
    pace = Pace()
    if seconds:
        pace.note(Batch([None] * 4, 4.0 * seconds))  # type: ignore[list-item]
    assert pace.size(waiting, 2 * AHEAD) == expected


def test_records_come_back_bit_for_bit() -> None:
    """Zeros of both signs as well, though many share one."""
    figures = {
        "duration": -0.0,
        "switching": 0.0,
        "dissipated": 5e-324,
        "peak_load": None,
        "clearance": 0.0,
    }
    outcome = Outcome(
        "moved", None, "why", contacts=((0.0, "a | b"),), parts=("a",), nudge=(-1e-6, 0), **figures
    )  # type: ignore[arg-type]
    back = record_of(text_of(Record((outcome,), (None,)))).outcomes[0]
    assert back == outcome
    assert [repr(value) for value in back] == [repr(value) for value in outcome]


@pytest.mark.parametrize("name", ["_max_workers", "num_workers", "max_workers"])
def test_executors_say_how_many_workers_they_have(name: str) -> None:
    """Under the names of Python, of mpi4py and of executorlib; as many tasks are handed out."""
    pool = Executor()
    assert workers.workers_of(pool) == 1
    setattr(pool, name, 7)
    assert workers.workers_of(pool) == 7
