"""`explore`: every choice at every node, until nothing new is found.

Runs may finish in any order; they are taken in the order of (node, choice), and a node stands for what the first run in
that order has reached.  So the graph does not depend on how many workers there were, or how often one was killed.
"""

from __future__ import annotations

import json
import math
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from multiprocessing import current_process, get_context
from pathlib import Path
from typing import Any

import numpy as np

from quirkpy.explore.graph import Edge, Kind, Node, Outcome, ReconfigurationGraph, node_of
from quirkpy.explore.identity import NEAR, Shapes, poses_of
from quirkpy.explore.journal import Journal
from quirkpy.explore.runner import Record, run_choice, start_record
from quirkpy.explore.study import Choice, Count, Exploring, Study
from quirkpy.multibody import Multibody
from quirkpy.parts.checks import Floats, shown
from quirkpy.parts.part import PartError

#: Choices that one task of a worker tries.
BATCH = 8
#: Tasks that are under way for each worker, so that none waits.
AHEAD = 3
#: Variables that keep a library from using many threads in each worker.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


# --- shapes that are known --------------------------------------------------------------------------------------------
class Known:
    """The nodes found so far, by shape and by what holds them open."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.shapes: Shapes = study.shapes
        self.nodes: list[Node] = []
        self.poses: list[Floats] = []
        self.open: list[int] = []  # links of each that are not in range
        self.prints: Floats = np.zeros((0, 0))
        self.near_misses: list[tuple[str, str, float]] = []

    def place(self, record: dict[str, Any]) -> tuple[Node, bool]:
        """The node that a record describes, and whether it is a new one."""
        node = node_of(record, len(self.nodes), self.study.system.bodies)
        pose, misses = poses_of(node.state.r, node.state.q), []
        mine, tolerance = self.shapes.fingerprint(pose)[None], self.shapes.tolerance
        opened = self._open(node)
        close = abs(self.prints - mine) <= NEAR * tolerance * max(1, len(pose)) if self.nodes else np.zeros((0, 1))
        for k in np.flatnonzero(close.all(axis=1)):
            other = self.nodes[int(k)]
            if self.open[int(k)] == opened:
                gap, _ = self.shapes.match(self.poses[int(k)], pose)
                if gap <= tolerance:
                    return other, False
                if gap <= NEAR * tolerance:
                    misses.append((other.key, node.key, gap))
        self.prints = np.concatenate([self.prints, mine]) if self.nodes else mine
        self.nodes.append(node)
        self.poses.append(pose)
        self.open.append(opened)
        self.near_misses += misses
        return node, True

    def _open(self, node: Node) -> int:
        """How many of its links are not in range, so that they are part of the shape."""
        near = {pair for pair, _ in self.study.in_range(node.state)}
        return sum(link.pair not in near for link in node.links)


# --- in a worker ------------------------------------------------------------------------------------------------------
_studies: dict[str, Study] = {}
_universes: dict[tuple[str, str], Multibody] = {}


def begin_worker(digest: str, study: Study) -> None:
    """What a worker process of ours is told once."""
    _studies[digest] = study


def run_batch(digest: str, study: Study | None, node: Node, choices: list[Choice]) -> list[tuple[str, Record]]:
    """Some choices at a node; what has been compiled for a node is kept for the next batch."""
    if study is not None:
        _studies.setdefault(digest, study)
    known = _studies[digest]
    key = digest, node.id
    if key not in _universes:
        while len(_universes) >= 4:
            del _universes[next(iter(_universes))]
        _universes[key] = known.universe(node)
    return [(choice.key, tried(known, node, choice, _universes[key])) for choice in choices]


def tried(study: Study, node: Node, choice: Choice, universe: Multibody) -> Record:
    """A run; one that raises is an edge marked failed, with its message."""
    try:
        return run_choice(study, node, choice, universe)
    except Exception as error:
        return Record((Outcome("failed", None, f"{type(error).__name__}: {error}"),), (None,))


# --- the loop ---------------------------------------------------------------------------------------------------------
def explore(
    study: Study, path: str | Path | None = None, *, workers: int | Executor = 1, budget: int | None = None,
    towards: Callable[[Node], float] | None = None, progress: Exploring = None,
) -> ReconfigurationGraph:  # fmt: skip
    """The graph of everything that can be reached.

    path: the journal, "pair.db"; if it exists, the exploration goes on from it; None: nothing is kept.  workers: 1, a
    number of processes, or any concurrent.futures Executor.  budget: at most so many runs in all, in canonical order;
    the graph says what was not tried.  towards: a function of a node, such as its distance from a goal; nodes with low
    values are explored first.  progress: called with a `Count` now and then; None: a line on a terminal.
    """
    _check(workers, budget)
    with ExitStack() as stack:
        journal = stack.enter_context(Journal(path))
        journal.open_for(study.digest, study.document() if path is not None else "")
        pool = _pool(workers, study, stack)
        tell = stack.enter_context(study.told(progress))
        walk = Walk(study, journal, budget, towards, tell)
        if pool is None:
            walk.alone()
        else:
            walk.together(pool, workers if isinstance(workers, int) else 1)
        return walk.graph()


def load(path: str | Path, modules: tuple[str, ...] = ()) -> ReconfigurationGraph:
    """The graph that a journal holds, as far as it has come."""
    if not Path(path).is_file():
        raise PartError(f"load: there is no journal {str(path)!r}.")
    with Journal(path) as journal:
        document = journal.meta("study")
        if document is None:
            raise PartError(f"load: {str(path)!r} holds no study; it is no journal of an exploration.")
        study = Study.read(document, modules)
        walk = Walk(study, journal, None, None, lambda _: None)
        walk.replay()
        return walk.graph()


def _check(workers: Any, budget: Any) -> None:
    if not isinstance(workers, Executor) and not (type(workers) is int and workers >= 1):
        raise PartError(f"explore: workers is {shown(workers)}, but must be a number from 1 up, or an Executor.")
    if budget is not None and not (type(budget) is int and budget >= 0):
        raise PartError(f"explore: budget is {shown(budget)}, but must be None or a number of runs.")
    if workers != 1 and current_process().name != "MainProcess":
        raise PartError(
            "explore: a worker process was asked to start workers of its own; put the call under "
            "`if __name__ == '__main__':`, for every worker reads the script anew."
        )


def _pool(workers: int | Executor, study: Study, stack: ExitStack) -> Executor | None:
    if isinstance(workers, Executor):
        return workers
    if workers == 1:
        return None
    for name in THREADS:
        os.environ.setdefault(name, "1")
    begin = ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=begin_worker, initargs=(study.digest, study)
    )
    return stack.enter_context(begin)


class Walk:
    """An exploration under way: what is known, and what comes next."""

    def __init__(
        self, study: Study, journal: Journal, budget: int | None, towards: Callable[[Node], float] | None,
        tell: Callable[[Count], None],
    ) -> None:  # fmt: skip
        self.study, self.journal, self.budget, self.towards, self.tell = study, journal, budget, towards, tell
        self.known = Known(study)
        self.edges: list[Edge] = []
        self.rejected = self.runs = self.started = 0
        self.order: deque[Node] = deque()  # nodes whose choices have not been taken up
        begun = journal.meta("start")
        if begun is None:
            begun = json.dumps(start_record(study))
            journal.note("start", begun)
        self.order.append(self.known.place(json.loads(begun))[0])

    # --- one after the other ------------------------------------------------------------------------------------
    def alone(self) -> None:
        """In this process."""
        digest = self.study.digest
        for node, choices in self.nodes():
            done = self.journal.known(node.id)
            for choice in choices:
                record = done.get(choice.key)
                if record is None:
                    if self._spent():
                        return
                    ((_, record),) = run_batch(digest, self.study, node, [choice])
                    self._keep(node, choice.key, record)
                self.take(node, choice, record)

    def replay(self) -> None:
        """What the journal knows, and nothing else."""
        for node, choices in self.nodes():
            done = self.journal.known(node.id)
            for choice in choices:
                if choice.key in done:
                    self.take(node, choice, done[choice.key])

    def nodes(self) -> Iterator[tuple[Node, list[Choice]]]:
        """Nodes in the order in which they are taken up, with their choices."""
        while self.order:
            node = self._next()
            yield node, self.study.choices(node)

    def _next(self) -> Node:
        if self.towards is None:
            return self.order.popleft()
        best = min(self.order, key=lambda node: (self.towards(node), node.number))  # type: ignore[misc]
        self.order.remove(best)
        return best

    def _spent(self) -> bool:
        return self.budget is not None and self.runs >= self.budget

    # --- side by side -------------------------------------------------------------------------------------------
    def together(self, pool: Executor, workers: int) -> None:
        """With workers: batches run ahead, results are taken in canonical order."""
        digest = self.study.digest
        queue: deque[tuple[Node, Choice]] = deque()  # in canonical order, not yet taken
        known: dict[tuple[str, str], Record] = {}
        pending: dict[Future[Any], tuple[Node, list[Choice]]] = {}
        waiting: deque[tuple[Node, list[Choice]]] = deque()
        sent = None if isinstance(pool, ProcessPoolExecutor) else self.study
        most = AHEAD * max(workers, int(getattr(pool, "_max_workers", 0) or 0), 2)
        while True:
            while self.order and (self.towards is None or not queue):  # the best is known when all before is taken
                node = self._next()
                choices = self.study.choices(node)
                done = self.journal.known(node.id)
                queue.extend((node, choice) for choice in choices)
                known.update({(node.id, key): record for key, record in done.items()})
                left = [choice for choice in choices if choice.key not in done]
                if self.budget is not None:
                    left = left[: max(0, self.budget - self.started)]
                self.started += len(left)
                size = max(1, min(BATCH, math.ceil(len(left) / (2 * most))))
                waiting.extend((node, left[k : k + size]) for k in range(0, len(left), size))
            while waiting and len(pending) < most:
                node, choices = waiting.popleft()
                pending[pool.submit(run_batch, digest, sent, node, choices)] = (node, choices)
            while queue and (queue[0][0].id, queue[0][1].key) in known:
                node, choice = queue.popleft()
                self.take(node, choice, known.pop((node.id, choice.key)))
            if (self.order and (self.towards is None or not queue)) or (waiting and len(pending) < most):
                continue
            if not pending:
                return
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                node, choices = pending.pop(future)
                try:
                    results = future.result()
                except BrokenProcessPool as error:
                    raise PartError(
                        "explore: a worker process was killed or could not start; what is finished is in the journal, "
                        "and the same call goes on from there."
                    ) from error
                for key, record in results:
                    known[node.id, key] = record
                    self._keep(node, key, record)

    # --- taking results -----------------------------------------------------------------------------------------
    def _keep(self, node: Node, key: str, record: Record) -> None:
        self.journal.add(node.id, key, record)
        self.runs += 1

    def take(self, node: Node, choice: Choice, record: Record) -> None:
        """A run, in its turn: the node that it reached is a known one or becomes one."""
        outcomes = []
        for outcome, reached in zip(record.outcomes, record.reached, strict=True):
            if reached is None:
                outcomes.append(outcome)
                continue
            target, new = self.known.place(reached)
            if new:
                self.order.append(target)
            kind: Kind = "stayed" if target.number == node.number else "moved"
            outcomes.append(outcome._replace(kind=kind, target=target.key))
        kinds = {(outcome.kind, outcome.target) for outcome in outcomes}
        self.edges.append(Edge(node.key, choice, tuple(outcomes), outcomes[0].kind if len(kinds) == 1 else "ambiguous"))
        self.rejected += self.edges[-1].kind == "rejected"
        self.tell(Count(len(self.known.nodes), len(self.edges), self.rejected, len(self.order), self.runs))

    def graph(self) -> ReconfigurationGraph:
        """What is known now."""
        numbers = {node.key: node.number for node in self.known.nodes}
        edges = sorted(self.edges, key=lambda edge: numbers[edge.source]) if self.towards else self.edges
        choices = sum(self.study.count(node) for node in self.known.nodes)
        nodes = {node.key: node for node in self.known.nodes}
        return ReconfigurationGraph(self.study, nodes, edges, self.known.near_misses, choices)
