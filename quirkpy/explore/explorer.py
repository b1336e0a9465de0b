"""`explore`: every choice at every node, until nothing new is found.

Runs may finish in any order; their results are processed in the order of (node, choice), and a node
is the first result in that order that has reached its shape. So the graph does not depend on the
number of workers or on interruptions."""

from __future__ import annotations

import json
import math
import os
import pickle
from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import ExitStack, suppress
from dataclasses import replace
from heapq import heappop, heappush
from pathlib import Path
from typing import Any

from quirkpy import doors
from quirkpy.explore.journal import Journal
from quirkpy.explore.model.changing import cost_of_outcome, has_costs
from quirkpy.explore.model.graph import SHORT, Edge, Graph, Kind, Node, Outcome
from quirkpy.explore.reduce.known import Known
from quirkpy.explore.reduce.reductions import Reductions, Ticket, select_reductions
from quirkpy.explore.reduce.transfers import Transfers
from quirkpy.explore.run.records import Record, Unfinished, canonical, check_reached, stop_short
from quirkpy.explore.run.runner import start_record
from quirkpy.explore.run.workers import (
    DESK,
    Batch,
    Pace,
    Sent,
    Work,
    check_workers,
    is_dead_worker,
    pool_for,
    run_batch,
    run_written,
    workers_of,
)
from quirkpy.explore.scope.choices import Arrival, Carried, Count, Exploring, Reduction
from quirkpy.explore.scope.scope import Scope
from quirkpy.explore.texts import UNREADABLE
from quirkpy.maths import interrupts
from quirkpy.maths.cached import cached_property
from quirkpy.maths.warnings import warn
from quirkpy.parts.checks import show
from quirkpy.parts.files import path_of
from quirkpy.parts.part import PartError

#: Tasks that are under way for each worker, so that none waits.
AHEAD = 3
#: Runs that wait for a worker before the choices of further nodes are looked at.
PLENTY = 2000
#: Damaged records that are named.
NAMED = 3
#: What a journal notes where runs tell of all images of the cones.
EVERYWHERE = "everywhere"


# --- the loop -------------------------------------------------------------------------------------
def explore(
    study: Scope, path: str | Path | None = None, *, workers: int | Executor = 1,
    budget: int | None = None, towards: Callable[[Node], float] | None = None,
    progress: Exploring = None, reductions: bool | Iterable[Reduction] = True,
) -> Graph:  # fmt: skip
    """Explore a study, from its start or from where its journal ends, as `Study.explore` says."""
    check_workers("explore", workers)
    _check_budget(budget)
    which = select_reductions(reductions)
    if study.system.tables.bends:  # locked bodies are not rigid, and modes are not exchanged
        which = frozenset()
    try:
        with ExitStack() as stack:
            stack.enter_context(interrupts.remember())
            journal = stack.enter_context(Journal(path))
            journal.open_for(study.digest, study.document())
            tell = stack.enter_context(doors.progress.show_exploring(progress))
            begun = start_in(journal, study) or _note_start(journal, study)
            if towards is None:
                journal.forget_order()
            journal.note("reductions", json.dumps(sorted(which)))
            walk = Walk(study, journal, begun, which, True, budget, towards, tell)
            journal.note("cones", EVERYWHERE if walk.everywhere else "as they stand")
            pool = stack.enter_context(pool_for(workers, study))
            walk.run(pool, Sent.to(workers, study) if isinstance(workers, Executor) else None)
            graph = walk.graph()
            walk.tell_of_damage("explore", "put aside, and run again")
            return graph
    except (OSError, MemoryError, Unfinished) as error:
        raise explain_early_end(error) from error


def _check_budget(budget: Any) -> None:
    """Raise an error unless the budget is a number of runs."""
    if budget is not None and not (type(budget) is int and budget >= 0):
        raise PartError(f"explore: budget is {show(budget)}, but must be None or a number of runs.")


def _note_start(journal: Journal, study: Scope) -> dict[str, Any]:
    """The record of the start at rest, written to the journal."""
    begun = start_record(study)
    journal.note("start", json.dumps(begun))
    return begun


def explain_early_end(error: Exception) -> PartError:
    """The reason why an exploration ends early though nothing is wrong with the study."""
    try:
        stop_short(error)
    except Unfinished as short:
        return PartError(f"explore: {short}", code="machine")
    return PartError(f"explore: {error}", code="machine")


def start_in(journal: Journal, study: Scope) -> dict[str, Any] | None:
    """The node in which an exploration began, if its journal has it; the node must belong to the
    study."""
    journal.check = member_check(study)
    journal.verify()
    text = journal.meta("start")
    if text is None:
        return None
    try:
        begun = json.loads(text)
        journal.check(begun)
    except UNREADABLE:
        return None
    return dict(begun)


def member_check(study: Scope) -> Callable[[dict[str, Any]], None]:
    """A function that checks whether a record of a node belongs to a study: the number of bodies,
    and its pairs and options."""
    bodies, pairs = len(study.system.bodies), study.pairs
    labels = [{option.label for option in study.options_of(pair)} for pair in pairs]
    rolls = [len(study.rolls(pair)) for pair in pairs]

    def check(node: dict[str, Any]) -> None:
        check_reached(node)
        known = all(
            0 <= k < len(pairs) and 0 <= r < rolls[k] and o in labels[k]
            for k, r, o in node["links"]
        )
        if (
            len(node["r"]) != bodies
            or not known
            or node["potential"] not in (None, *study.potentials)
        ):
            raise ValueError("it is a node of another study")

    return check


def load(path: str | Path, modules: Iterable[str] = ()) -> Graph:
    """The graph that a journal holds, as `ReconfigurationGraph.load` says."""
    if not os.path.isfile(path_of(path, "load")):  # pathlib raises where a folder is closed to us
        raise PartError(f"load: there is no journal {str(path)!r}.", code="file")
    with Journal(path, read_only=True) as journal:
        study = Scope.read(journal.study(), modules)
        begun = start_in(journal, study)
        if begun is None:
            raise PartError(
                f"load: {journal.shown} has no node yet that can be read; explore its study first.",
                code="content",
            )
        place = {node: k for k, node in enumerate(journal.order())}
        towards = (lambda node: place.get(node.id, math.inf)) if place else None
        which, everywhere = rules_in(journal)
        walk = Walk(study, journal, begun, which, everywhere, None, towards, lambda _: None)
        walk.replay(place)
        graph = walk.graph()
        walk.tell_of_damage(
            "load", "left out, and so is what comes after; explore again, which mends it"
        )
        return graph


def rules_in(journal: Journal) -> tuple[frozenset[Reduction], bool]:
    """The reductions of an exploration, and whether its runs record all images of the cones; an
    error if the journal no longer has them."""
    which, cones = journal.meta("reductions"), journal.meta("cones")
    lost = which is None and len(journal) > 0
    lost = lost or (journal.notes_missing and None in (which, cones))
    with suppress(*UNREADABLE):
        if not lost:  # older journals know of no images
            return select_reductions(json.loads(which or "[]")), cones == EVERYWHERE
    raise PartError(
        f"load: {journal.shown} is damaged: it no longer says by which reductions it was explored; "
        "explore that study into it again, which mends it.",
        code="content",
    )


class Walk:
    """An exploration under way: what is known, and what comes next."""

    def __init__(
        self, study: Scope, journal: Journal, start: dict[str, Any],
        reductions: frozenset[Reduction], everywhere: bool, budget: int | None,
        towards: Callable[[Node], float] | None, tell: Callable[[Count], None],
    ) -> None:  # fmt: skip
        self.study, self.journal, self.budget, self.towards, self.tell = (
            study,
            journal,
            budget,
            towards,
            tell,
        )
        self.known = Known(study)
        self.reductions = Reductions(study, reductions, self.known.nodes, everywhere)
        self.everywhere = bool(self.reductions.images.cones)
        self.edges: list[Edge] = []
        self.rejected = self.started = 0
        self.pace = Pace()
        self.taken, self.before = (
            0,
            journal.order() if towards is not None else [],
        )  # nodes taken up, now and before
        self.order: list[
            tuple[float, int, Node]
        ] = []  # a heap of nodes whose choices have not been taken up
        self._wait(self.known.place(start)[0])
        self.fresh: dict[
            tuple[str, str], Record | None
        ] = {}  # finished runs without an edge; None: see the journal
        self.looked_up: set[str] = set()
        self.spoken: dict[
            tuple[str, str], Carried | None
        ] = {}  # runs, and how the first edge came by them
        self.saved: Counter[str] = Counter()

    @cached_property
    def transfers(self) -> Transfers:
        """The transfer of the joints of a reached pose to the bodies of its node."""
        return Transfers(self.study)

    # --- one after the other ----------------------------------------------------------------------
    def run(self, pool: Executor | None, sent: Sent | None) -> None:
        """Explore in this process, or with the workers of a pool."""
        if pool is None:
            self.run_serially()
        else:
            self.run_in_parallel(pool, sent, workers_of(pool))

    def run_serially(self) -> None:
        """Explore in this process, one run after the other."""
        digest = self.study.digest
        DESK.studies[digest] = self.study
        for asked in self.tickets():
            ticket, record = self.answer_to(asked)
            while record is None:
                if self._is_out_of_budget():
                    return
                work = [(ticket.node, ticket.choice)]
                self._keep(work, run_batch(digest, None, work, self.everywhere))
                ticket, record = self.answer_to(asked)
            self.take(ticket, record)

    def replay(self, order: Container[str]) -> None:
        """Process the records of the journal, up to the first run that is missing, or to the end of
        its own order, if it has one: the exploration that wrote it may have continued at any
        node."""
        while self.order and (not order or self.order[0][-1].id in order):
            for asked in self._take_up_node():
                ticket, record = self.answer_to(asked)
                if record is None:
                    return
                self.take(ticket, record)

    def tell_of_damage(self, who: str, what: str) -> None:
        """Warn of damaged records, and say what has been done about them."""
        damaged = list(dict.fromkeys(self.journal.damaged))
        if damaged:
            keys = {node.id: node.key for node in self.known.nodes}
            said = [
                f"{keys.get(node, node[:SHORT])} ({choice})" for node, choice in damaged[:NAMED]
            ]
            more = f" and {len(damaged) - NAMED} more" if len(damaged) > NAMED else ""
            warn(
                f"{who}: records of {self.journal.shown} are damaged: {', '.join(said)}{more}; "
                f"they are {what}."
            )

    def tickets(self) -> Iterator[Ticket]:
        """All choices, at nodes in the order in which these are taken up."""
        while self.order:
            yield from self._take_up_node()

    def _take_up_node(self) -> list[Ticket]:
        """The choices at the next node, with the records of the journal about them."""
        node = self._next()
        self._note_order(node)
        tickets = self.reductions.tickets(node)
        wanted = {ticket.key: None for ticket in tickets if ticket.record is None}
        for source in {source: None for source, _ in wanted}:
            self._look_up(source, wanted)
        return tickets

    def _look_up(self, source: str, wanted: Container[tuple[str, str]]) -> None:
        """Read the records of a node from the journal."""
        if source not in self.looked_up:
            self.looked_up.add(source)
            known = self.journal.records_from(source).items()
            fits = (
                (key, record)
                for key, record in known
                if record.way is not None or not self.everywhere
            )
            self.fresh |= {
                (source, key): record if (source, key) in wanted else None for key, record in fits
            }

    def answer_to(self, asked: Ticket) -> tuple[Ticket, Record | None]:
        """A ticket, and the record that answers it, if there is one; if the assigned run names
        parts that cannot be transferred, the ticket of a run of its own."""
        record = self.record_of(asked)
        answer = None if record is None else asked.answer(record)
        if record is None or answer is not None:
            return asked, answer
        alone = asked.own_run
        self._look_up(alone.node.id, ())
        return alone, self.record_of(alone)

    def has_record(self, ticket: Ticket) -> bool:
        """Whether the run that answers a ticket has a record."""
        return ticket.record is not None or ticket.key in self.fresh or ticket.key in self.spoken

    def record_of(self, ticket: Ticket) -> Record | None:
        """The record of the run that answers a ticket, if there is one; records of runs with an
        edge are not kept in memory, but read again when needed."""
        if ticket.record is not None or not self.has_record(ticket):
            return ticket.record
        return self.fresh.get(ticket.key) or self.journal.read_run(*ticket.key)

    def _next(self) -> Node:
        return heappop(self.order)[-1]

    def _wait(self, node: Node) -> None:
        """Queue a new node, whose choices are to be run."""
        heappush(
            self.order, (0.0 if self.towards is None else self.towards(node), node.number, node)
        )

    def _note_order(self, node: Node) -> None:
        """Write an order that is not the canonical one to the journal, for `load`; an order that is
        there is kept as long as it agrees, so that an early end of this exploration loses nothing
        of it."""
        if self.towards is not None and not self.journal.read_only:
            if self.before[self.taken : self.taken + 1] != [node.id]:
                self.journal.take_up(self.taken, node.id)
                self.before = []
            self.taken += 1

    def _is_out_of_budget(self) -> bool:
        return self.budget is not None and self.pace.runs >= self.budget

    # --- side by side -----------------------------------------------------------------------------
    def run_in_parallel(self, pool: Executor, sent: Sent | None, workers: int) -> None:
        """Explore with workers, which receive the study in each batch or at their start: batches
        run in any order, results are processed in canonical order."""
        try:
            self._run_batches(pool, sent, workers)
        except Exception as error:
            if not is_dead_worker(error):
                raise
            raise PartError(
                "explore: a worker was killed or could not start; what is finished is in the "
                "journal, and the same "
                "call goes on from there (a script asks for workers under `if __name__ == "
                "'__main__':`).",
                code="machine",
            ) from error

    def _run_batches(self, pool: Executor, sent: Sent | None, workers: int) -> None:
        digest = self.study.digest
        queue: deque[Ticket] = deque()  # in canonical order, not yet taken
        pending: dict[Future[Batch], list[Work]] = {}
        waiting: deque[Work] = deque()
        asked: set[tuple[str, str]] = set()
        most = AHEAD * max(workers, 2)
        while True:
            while self._wants_node(queue, waiting):
                self._queue_node(queue, asked, waiting)
            while waiting and len(pending) < most:
                size = self.pace.size(len(waiting), most)
                work = [waiting.popleft() for _ in range(size)]
                # Pickled here: nodes change in this thread while an executor's writes its tasks
                written = pickle.dumps(work)
                pending[pool.submit(run_written, digest, sent, written, self.everywhere)] = work
            self._take_answers(queue, asked, waiting)
            if self._wants_node(queue, waiting) or (waiting and len(pending) < most):
                continue
            if not pending:
                return
            done = wait(pending, return_when=FIRST_COMPLETED).done
            # First what is finished
            for future in sorted(done, key=lambda future: future.exception() is not None):
                asked.difference_update((node.id, choice.key) for node, choice in pending[future])
                self._keep(pending.pop(future), future.result())

    def _queue_node(
        self, queue: deque[Ticket], asked: set[tuple[str, str]], waiting: deque[Work]
    ) -> None:
        """Queue the choices at the next node, and, as far as the budget goes, those of their runs
        that are neither recorded nor asked for yet."""
        tickets = self._take_up_node()
        queue.extend(tickets)
        missing = {t.key: t for t in tickets if not self.has_record(t) and t.key not in asked}
        left = list(missing.values())
        if self.budget is not None:
            left = left[: max(0, self.budget - self.started)]
        self.started += len(left)
        asked.update(ticket.key for ticket in left)
        waiting.extend((ticket.node, ticket.choice) for ticket in left)

    def _take_answers(
        self, queue: deque[Ticket], asked: set[tuple[str, str]], waiting: deque[Work]
    ) -> None:
        """Process the available answers in canonical order, up to the first that is missing."""
        while queue:
            ticket, record = self.answer_to(queue[0])
            if record is None:
                self._ask(ticket, asked, waiting)
                break
            queue.popleft()
            self.take(ticket, record)

    def _ask(self, ticket: Ticket, asked: set[tuple[str, str]], waiting: deque[Work]) -> None:
        """Schedule a run as the next, because the run that was assigned to answer for it cannot."""
        left = self.budget is None or self.started < self.budget
        if left and ticket.key not in asked and not self.has_record(ticket):
            self.started += 1
            asked.add(ticket.key)
            waiting.appendleft((ticket.node, ticket.choice))

    def _wants_node(self, queue: Sequence[Ticket], waiting: Sequence[Work]) -> bool:
        """Whether to look up the choices of another node: when the queue is empty, for only then is
        the best node known; or when few runs remain and the next node is known."""
        ahead = (
            self.towards is None
            and len(waiting) < PLENTY
            and (self.budget is None or self.started < self.budget)
        )
        return bool(self.order) and (ahead or not queue)

    # --- taking results ---------------------------------------------------------------------------
    def _keep(self, work: list[Work], batch: Batch) -> list[Record]:
        """Write the results of a task to the journal."""
        self.pace.note(batch)
        for (node, choice), record in zip(work, batch.records, strict=True):
            self.journal.add(node.id, choice.key, record)
            self.fresh[node.id, choice.key] = record
        return batch.records

    def take(self, ticket: Ticket, record: Record) -> None:
        """Process the answer to a choice: the node that it reached is a known one or becomes a new
        one."""
        self._count(ticket)
        ends = list(zip(record.outcomes, record.reached, strict=True))
        found = [self._end(ticket, *ends[k]) for k in canonical(ends)]
        outcomes, arrivals = (tuple(some) for some in zip(*found, strict=True))
        kinds = {(outcome.kind, outcome.target) for outcome in outcomes}
        whole: Kind = outcomes[0].kind if len(kinds) == 1 else "ambiguous"
        held = arrivals if any(arrivals) else ()
        edge = Edge(ticket.at.key, ticket.asked, outcomes, whole, None, ticket.carried, held)
        self.edges.append(edge)
        self.rejected += whole == "rejected"
        self._tell_count()

    def _end(
        self, ticket: Ticket, told: Outcome, reached: dict[str, Any] | None
    ) -> tuple[Outcome, tuple[Arrival, ...]]:
        """The outcome with the node that it reached, and the joints that hold that node then."""
        drawn = cost_of_outcome(self.study, ticket.at, ticket.asked, told, reached)
        outcome = told._replace(changing=drawn)
        if reached is None:
            return outcome, ()
        target, new = self.known.place(reached)
        if new:
            self._wait(target)
        stays = target.number == ticket.at.number
        kind: Kind = "stayed" if stays else "moved"
        charged = not stays and has_costs(self.study)  # else no matter what holds it
        arrivals = self.transfers.arrivals_in(target, reached) if charged else ()
        return outcome._replace(kind=kind, target=target.key), arrivals

    def _tell_count(self) -> None:
        """Report the progress of the exploration."""
        pace = self.pace
        counts = len(self.known.nodes), len(self.edges), self.rejected, len(self.order), pace.runs
        self.tell(Count(*counts, pace.tasks, pace.seconds))

    def _count(self, ticket: Ticket) -> None:
        """Count the reduction that saved the run of an edge, and release the record."""
        known = ticket.record is not None or ticket.key in self.spoken
        carried = ticket.carried or self.spoken.get(ticket.key)
        if known and carried is not None:
            self.saved[carried.by[0]] += 1
        if not known and self.reductions.which:  # else no other edge asks for it
            self.spoken[ticket.key] = ticket.carried
        self.fresh.pop(ticket.key, None)

    def graph(self) -> Graph:
        """The graph of all that is known now."""
        numbers = {node.key: node.number for node in self.known.nodes}
        edges = (
            sorted(self.edges, key=lambda edge: numbers[edge.source])
            if self.towards
            else self.edges
        )
        choices = sum(self.study.count(node) for node in self.known.nodes)
        nodes = {node.key: replace(node, study=self.study) for node in self.known.nodes}
        flown = self.journal.robustness()
        if flown:
            keys = ((nodes[edge.source].id, edge.selection.key) for edge in edges)
            edges = [
                replace(edge, robustness=flown.get(key))
                for edge, key in zip(edges, keys, strict=True)
            ]
        path = self.journal.path
        saved = dict(sorted(self.saved.items()))
        return Graph(self.study, nodes, edges, self.known.near_misses, choices, path, saved)
