"""Workers: their tasks, the studies and systems that they keep, and the results that they return;
in this process, in other processes, or on other machines."""

from __future__ import annotations

import math
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from contextlib import contextmanager
from multiprocessing import current_process, get_context, parent_process, resource_tracker
from typing import Any, NamedTuple, TypeAlias

from quirkpy.explore.alike.cones import NONE, Cones, Images
from quirkpy.explore.alike.symmetry import Symmetry
from quirkpy.explore.model.graph import Node
from quirkpy.explore.model.ways import Way
from quirkpy.explore.run.records import Record, failure, record_of_way
from quirkpy.explore.run.runner import run_choice
from quirkpy.explore.scope.choices import Choice
from quirkpy.explore.scope.scope import Scope
from quirkpy.maths import interrupts
from quirkpy.parts.checks import show
from quirkpy.parts.files import module_from, modules_by_path
from quirkpy.parts.part import PartError
from quirkpy.system.multibody import Multibody

#: How long a task of a worker should take [s], and how many runs it has at most.
TASK, MOST = 0.2, 200
#: Nodes for which a worker keeps what has been compiled.
KEPT = 4
#: Variables that keep a library from using many threads in each worker.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


# --- batches --------------------------------------------------------------------------------------
#: A choice at a node.
Work: TypeAlias = tuple[Node, Choice]


class Batch(NamedTuple):
    """What a task of a worker has come to: a record of each run, and how long they took [s]."""

    records: list[Record]
    seconds: float


class Pace:
    """How many runs a task should have: few enough for all workers to have some, and for a kill to
    cost little; so many that handing them out costs little beside them."""

    def __init__(self) -> None:
        self.runs, self.seconds, self.tasks = 0, 0.0, 0

    def note(self, batch: Batch) -> None:
        """Learn from what has come back."""
        self.runs, self.seconds, self.tasks = (
            self.runs + len(batch.records), self.seconds + batch.seconds, self.tasks + 1
        )  # fmt: skip

    def size(self, waiting: int, tasks: int) -> int:
        """For so many runs that wait, and as many tasks as may be under way."""
        enough = math.ceil(self.runs * TASK / self.seconds) if self.seconds > 0.0 else 1
        return max(1, min(enough, MOST, math.ceil(waiting / tasks)))


# --- in a worker ----------------------------------------------------------------------------------
class Sent:
    """A study on its way to workers: written once for all tasks, and read where it is not known
    yet.  files: those of its modules that have no name by which a worker could import them.

    Threads share the study as it is; for other workers it is written here, for executors write
    tasks in a thread of their own, while properties of the study are computed and kept in it."""

    def __init__(
        self, study: Scope | None, text: bytes = b"", files: dict[str, str] | None = None
    ) -> None:
        self.study, self.text, self.files = study, text, files or {}

    def load(self) -> Scope:
        """The study, unpickled once."""
        if self.study is None:
            for name in self.files.keys() - sys.modules.keys():
                module_from(self.files[name], name)
            self.study = pickle.loads(self.text)
        assert isinstance(self.study, Scope)
        return self.study

    @classmethod
    def to(cls, pool: Executor, study: Scope) -> Sent:
        """On its way to the workers of an executor."""
        shared = isinstance(pool, ThreadPoolExecutor)
        return cls(study, b"" if shared else pickle.dumps(study))

    def __reduce__(self) -> tuple[Any, ...]:
        return Sent, (None, self.text or pickle.dumps(self.study), modules_by_path())


class Desk(threading.local):
    """What a worker keeps between batches: studies, and what has been compiled for the last nodes.

    Every thread has its own, for a compiled system serves one run at a time.
    """

    def __init__(self) -> None:
        self.studies: dict[str, Scope] = {}
        self.universes: dict[tuple[str, str], Multibody] = {}
        self.seen: dict[str, Images] = {}

    def images(self, digest: str) -> Images:
        """What exchanges of modules may make of the cones of a study."""
        if digest not in self.seen:
            self.seen[digest] = Cones(Symmetry(self.studies[digest])).images
        return self.seen[digest]

    def universe(self, digest: str, node: Node) -> Multibody:
        """All that may act at a node."""
        key = digest, node.id
        if key not in self.universes:
            while len(self.universes) >= KEPT:
                del self.universes[next(iter(self.universes))]
            self.universes[key] = self.studies[digest].universe(node)
        return self.universes[key]


DESK = Desk()


def begin_worker(digest: str, sent: Sent) -> None:
    """What a worker process of ours does first: Ctrl-C is its parent's business, and it ends with
    its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    DESK.studies[digest] = sent.load()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def run_written(digest: str, sent: Sent | None, written: bytes, everywhere: bool) -> Batch:
    """Some choices, pickled: what `run_batch` makes of them."""
    return run_batch(digest, sent, pickle.loads(written), everywhere)


def run_batch(digest: str, sent: Sent | None, work: list[Work], everywhere: bool = False) -> Batch:
    """Some choices; sent: None where the worker has been told of the study at its beginning.
    everywhere: cones end no run, which tells of all their images."""
    begun = time.perf_counter()
    if sent is not None and digest not in DESK.studies:
        DESK.studies[digest] = sent.load()
    known = DESK.studies[digest]
    images = DESK.images(digest) if everywhere else NONE
    records = [
        try_choice(known, node, choice, DESK.universe(digest, node), images)
        for node, choice in work
    ]
    return Batch(records, time.perf_counter() - begun)


def try_choice(
    study: Scope, node: Node, choice: Choice, universe: Multibody, images: Images
) -> Record:
    """A run; one that raises is an edge marked failed, with its message, unless that came of
    Ctrl-C."""
    try:
        record = run_choice(study, node, choice, universe, images)
    except Exception as error:
        interrupts.check()
        return record_of_way(Way((failure(error), None)), images)
    interrupts.check()
    return record


# --- pools ----------------------------------------------------------------------------------------
def check_workers(who: str, workers: Any) -> None:
    """Refuse what are no workers, and workers that would start workers."""
    if not isinstance(workers, Executor) and not (type(workers) is int and workers >= 1):
        raise PartError(
            f"{who}: workers is {show(workers)}, but must be a number from 1 up, or an Executor."
        )
    # A worker that is still starting
    if workers != 1 and getattr(current_process(), "_inheriting", False):
        raise PartError(
            f"{who}: every worker reads the script anew, and must not start workers of its own; "
            "put the call under "
            "`if __name__ == '__main__':`."
        )


@contextmanager
def pool_for(workers: int | Executor, study: Scope) -> Iterator[Executor | None]:
    """Workers as they were asked for; None for one, which is this process."""
    if workers == 1:
        yield None
    elif isinstance(workers, Executor):
        yield workers
    else:
        with processes(workers, study) as pool:
            yield pool


def is_dead_worker(error: Exception) -> bool:
    """Whether an error says that a worker has died, and its tasks with it, as executors say it, or
    Dask."""
    return isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker"


def workers_of(pool: Executor) -> int:
    """How many workers an executor has, as far as it says."""
    client = getattr(pool, "_client", None)  # Dask's
    if client is not None:
        return max(1, sum(client.ncores().values()))
    # That of mpi4py
    return int(getattr(pool, "_max_workers", None) or getattr(pool, "num_workers", None) or 1)


@contextmanager
def deaf_to_interrupts() -> Iterator[None]:
    """What is started meanwhile does not hear Ctrl-C, from its first moment on; one that comes is
    heard here later."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # The tracker would hear it again, were it started with the first worker.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Workers(ProcessPoolExecutor):
    """Processes that start when there are tasks for them, and leave Ctrl-C to this one."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have a task done; a worker may start with it."""
        with deaf_to_interrupts():
            return super().submit(fn, *args, **kwargs)


@contextmanager
def processes(workers: int, study: Scope) -> Iterator[Executor]:
    """Worker processes, each with one thread for linear algebra; they end when the exploration
    ends, also if it ends early."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update({name: "1" for name, value in before.items() if value is None})
    pool = Workers(
        workers,
        mp_context=get_context("spawn"),
        initializer=begin_worker,
        initargs=(study.digest, Sent(study)),
    )
    try:
        yield pool
    except BaseException:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        for name in (name for name, value in before.items() if value is None):
            os.environ.pop(name, None)
