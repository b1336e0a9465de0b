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

#: Intended time of a task of a worker [s], and its largest number of runs.
TASK, MOST = 0.2, 200
#: Number of nodes for which a worker keeps compiled systems.
KEPT = 4
#: Variables that keep a library from using many threads in each worker.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


# --- batches --------------------------------------------------------------------------------------
#: A choice at a node.
Work: TypeAlias = tuple[Node, Choice]


class Batch(NamedTuple):
    """The result of a task of a worker: a record of each run, and their time [s]."""

    records: list[Record]
    seconds: float


class Pace:
    """The number of runs in a task: small enough that all workers have some, and that little is
    lost if one is killed; large enough that the overhead of tasks is small."""

    def __init__(self) -> None:
        self.runs, self.seconds, self.tasks = 0, 0.0, 0

    def note(self, batch: Batch) -> None:
        """Update the estimate from a result."""
        self.runs, self.seconds, self.tasks = (
            self.runs + len(batch.records), self.seconds + batch.seconds, self.tasks + 1
        )  # fmt: skip

    def size(self, waiting: int, tasks: int) -> int:
        """The size for a number of waiting runs, and a number of simultaneous tasks."""
        enough = math.ceil(self.runs * TASK / self.seconds) if self.seconds > 0.0 else 1
        return max(1, min(enough, MOST, math.ceil(waiting / tasks)))


# --- in a worker ----------------------------------------------------------------------------------
class Sent:
    """A study sent to workers: pickled once for all tasks, and unpickled where it is not known yet.
    files: those of its modules that workers could not import by name.

    Threads share the study itself; for other workers it is pickled here, since executors pickle
    tasks in a thread of their own, while properties of the study are computed and stored in it."""

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
        """The study for the workers of an executor."""
        shared = isinstance(pool, ThreadPoolExecutor)
        return cls(study, b"" if shared else pickle.dumps(study))

    def __reduce__(self) -> tuple[Any, ...]:
        return Sent, (None, self.text or pickle.dumps(self.study), modules_by_path())


class Desk(threading.local):
    """The cache of a worker between tasks: studies, and compiled systems of the last nodes.

    Every thread has its own, since a compiled system is used by one run at a time.

    """

    def __init__(self) -> None:
        self.studies: dict[str, Scope] = {}
        self.universes: dict[tuple[str, str], Multibody] = {}
        self.seen: dict[str, Images] = {}

    def images(self, digest: str) -> Images:
        """The images of the cones of a study under exchanges of modules."""
        if digest not in self.seen:
            self.seen[digest] = Cones(Symmetry(self.studies[digest])).images
        return self.seen[digest]

    def universe(self, digest: str, node: Node) -> Multibody:
        """The system of all possible parts at a node."""
        key = digest, node.id
        if key not in self.universes:
            while len(self.universes) >= KEPT:
                del self.universes[next(iter(self.universes))]
            self.universes[key] = self.studies[digest].universe(node)
        return self.universes[key]


DESK = Desk()


def begin_worker(digest: str, sent: Sent) -> None:
    """The initialisation of a worker process: Ctrl-C is left to its parent, and it ends with its
    parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    DESK.studies[digest] = sent.load()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def run_written(digest: str, sent: Sent | None, written: bytes, everywhere: bool) -> Batch:
    """Some choices, pickled: the result of `run_batch`."""
    return run_batch(digest, sent, pickle.loads(written), everywhere)


def run_batch(digest: str, sent: Sent | None, work: list[Work], everywhere: bool = False) -> Batch:
    """Some choices; sent: None where the worker has received the study at its start. everywhere:
    cones end no run, and the record contains all of their images."""
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
    """A run; if it raises, an edge of kind failed, with the message, except after Ctrl-C."""
    try:
        record = run_choice(study, node, choice, universe, images)
    except Exception as error:
        interrupts.check()
        return record_of_way(Way((failure(error), None)), images)
    interrupts.check()
    return record


# --- pools ----------------------------------------------------------------------------------------
def check_workers(who: str, workers: Any) -> None:
    """Refuse invalid workers, and workers that would start workers."""
    if not isinstance(workers, Executor) and not (type(workers) is int and workers >= 1):
        raise PartError(
            f"{who}: workers is {show(workers)}, but must be a number from 1 up, or an Executor."
        )
    # a worker that is still starting
    if workers != 1 and getattr(current_process(), "_inheriting", False):
        raise PartError(
            f"{who}: every worker reads the script anew, and must not start workers of its own; "
            "put the call under "
            "`if __name__ == '__main__':`.",
            code="machine",
        )


@contextmanager
def pool_for(workers: int | Executor, study: Scope) -> Iterator[Executor | None]:
    """The requested workers; None for one, which is this process."""
    if workers == 1:
        yield None
    elif isinstance(workers, Executor):
        yield workers
    else:
        with processes(workers, study) as pool:
            yield pool


def is_dead_worker(error: Exception) -> bool:
    """Whether an error says that a worker has died, with its tasks, in the form of executors or of
    Dask."""
    return isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker"


def workers_of(pool: Executor) -> int:
    """The number of workers of an executor, if known."""
    client = getattr(pool, "_client", None)  # Dask's
    if client is not None:
        return max(1, sum(client.ncores().values()))
    # Those of Python, of mpi4py and of executorlib
    names = ("_max_workers", "num_workers", "max_workers")
    return next((int(n) for n in (getattr(pool, name, None) for name in names) if n), 1)


@contextmanager
def deaf_to_interrupts() -> Iterator[None]:
    """Processes started in this context ignore Ctrl-C from the beginning; if it is pressed
    meanwhile it is handled here later."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # The resource tracker would handle it again if it were started with the first worker.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Workers(ProcessPoolExecutor):
    """Processes that are started when there are tasks for them, and leave Ctrl-C to this one."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a task; this may start a worker."""
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
