"""Robustness of an edge: Monte Carlo runs with random parameters, and the range of each single
parameter."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quirkpy.explore.journal import Journal
from quirkpy.explore.model.assembly import assemble, release_links
from quirkpy.explore.model.chances import Robustness, Spread
from quirkpy.explore.model.graph import Node, shape_of
from quirkpy.explore.run.records import stop_short
from quirkpy.explore.run.runner import Ended, classify, follow, refuse_interruption, rigid, rule_of
from quirkpy.explore.run.variations import Variations
from quirkpy.explore.run.workers import Sent, check_workers, is_dead_worker, pool_for, workers_of
from quirkpy.explore.scope.choices import Choice, Link
from quirkpy.explore.scope.identity import REPORTED_MISS
from quirkpy.explore.scope.safety import judge
from quirkpy.explore.scope.scope import Scope
from quirkpy.maths.types import Floats
from quirkpy.mechanics.state import State
from quirkpy.motion.batch import RunGroup, Starts
from quirkpy.motion.course import Course, Stop
from quirkpy.motion.move import move
from quirkpy.motion.numbers import Numbers
from quirkpy.motion.settings import Settings
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.checks import show, small
from quirkpy.parts.event import SensorsMeet
from quirkpy.parts.part import PartError, check_argument
from quirkpy.rest.settle import run_to_rest, settle
from quirkpy.rest.vicinity import Vicinity

if TYPE_CHECKING:
    from quirkpy.explore.model.graph import Edge, Graph

#: What comes of a sample that ends at rest in no shape of the graph, and of one that raises an
#: error.
ELSEWHERE, FAILED = "elsewhere", "failed"
#: A first motion that takes so many times the steps of the edge's own is looked at step by step: it
#: may never end.
LONGER = 4
#: From so many samples on first motions are flown many at once, for which a kernel of its own is
#: compiled.
MANY = 200
#: How far parameters are moved at most, where nothing else is asked for.
FAR = Spread(start=0.1, speed=0.1, mass=1.0, strength=1.0, hinge=0.01)
#: Samples that one task of a worker flies at most, and tasks for each worker at least.
MOST, AHEAD = 500, 4


# --- answers --------------------------------------------------------------------------------------
class Margin(NamedTuple):
    """How far a parameter may deviate, down and up, before an edge has another outcome.

    low, high: the deviations at which the outcome changes; None: nowhere up to `reach`. below,
    above: the outcome beyond them; "blocked" if a stop prevents the start.  All are in the units of
    `Spread`, and known to within `resolution`."""

    parameter: str
    low: float | None
    high: float | None
    below: str | None
    above: str | None
    reach: float
    resolution: float


class Goal(NamedTuple):
    """A node as ends of motions are compared with it: its key, the pairs held with their turns, and
    its state."""

    key: str
    held: frozenset[tuple[int, int]]
    state: State


class Result(NamedTuple):
    """The outcome of one sample: the key of a node, or another word; and the reason if it rests in
    no known shape."""

    label: str
    reason: str | None = None


def goals_of(graph: Graph) -> list[Goal]:
    """All nodes of a graph."""
    return [Goal(key, _holds_of(node.links), node.state) for key, node in graph.nodes.items()]


def _holds_of(links: Sequence[Link]) -> frozenset[tuple[int, int]]:
    return frozenset((link.pair, link.roll) for link in links)


# --- flying ---------------------------------------------------------------------------------------
class Flights:
    """Repeated flights of one edge; target: the node that it reaches with nominal parameters."""

    def __init__(
        self, study: Scope, node: Node, choice: Choice, nudge: tuple[float, int] | None,
        goals: Sequence[Goal], within: float, target: str | None,
    ) -> None:  # fmt: skip
        self.study, self.node, self.choice, self.goals, self.within = (
            study,
            node,
            choice,
            list(goals),
            within,
        )
        self.rule = rule_of(study, study.nudge, (SensorsMeet(),))
        self.short: tuple[frozenset[Any], str, int] | None = (
            None  # what meets, what comes of it, steps until then
        )
        try:
            self._learn(nudge, target)
        except PartError:
            if nudge is None:
                raise
            self._learn((-nudge[0], nudge[1]), target)  # what a mirrored edge has told of this one

    def _learn(self, nudge: tuple[float, int] | None, target: str | None) -> None:
        """Fly the edge with nominal parameters.  Its end becomes another representative of the
        target, because modules may be exchanged or pairs turned in it.  If it ends with its first
        contact, after which nothing can move, samples in which the same sensors meet need not be
        continued."""
        self.variations = Variations(self.study, self.node, self.choice, nudge)
        self.zero = np.zeros(len(self.variations.parameters))
        ended = self._fly_on(self.zero)
        if target is not None:
            self.goals.append(self._end(ended, target))
        self.nominal = self._classify(ended).label
        if (
            len(ended.runs) == 1
            and ended.contacts
            and ended.violation is None
            and self.study.on_contact == "lock"
        ):
            last = assemble(self.study, ended.links, ended.found.state, self.choice.potential)
            if rigid(last) is not None:
                run = ended.runs[0]
                self.short = _meeting_pairs(run), self.nominal, run.counts.steps

    def _end(self, ended: Ended, target: str) -> Goal:
        """The end of the edge as a goal; refused if it has another shape than the target."""
        end = self._goal(ended, target)
        known = next(goal.state for goal in self.goals if goal.key == target)
        if self.study.distance(known, end.state) > REPORTED_MISS * self.study.same.tolerance:
            raise PartError(
                f"robustness: flown again, {self.choice} at {self.node.key} does not end at "
                f"{target} but at another "
                "shape; explore without reductions for an edge that is flown as it was found.",
                code="answer",
            )
        return end

    def _goal(self, ended: Ended, key: str) -> Goal:
        """The end of a motion as a goal with a key."""
        state, study = ended.found.state, self.study
        held = _holds_of(release_links(study, state, ended.links))
        return Goal(key, held, shape_of(study, state))

    def label(self, x: Floats) -> str:
        """The outcome for some parameters: the key of a node, or another word."""
        return self.explain(x).label

    def explain(self, x: Floats, course: Course | None = None) -> Result:
        """The outcome of a sample, with the reason if it reaches no node; course: its first motion,
        if that has been flown already."""
        try:
            return self._classify_early(x, course) or self._classify(self._fly_on(x))
        except Exception as error:
            stop_short(error)
            return Result(FAILED, f"{type(error).__name__}: {error}")

    def _classify_early(self, x: Floats, course: Course | None = None) -> Result | None:
        """The outcome of a sample if its first motion decides it, else None."""
        if self.short is None:
            return None
        met, label, _ = self.short
        system, settings = self.variations.at(x), self._settings
        run = (
            move(system, self.rule.duration, settings, self.rule.stop, False)
            if course is None
            else Trajectory(system, system.initial, settings, course)
        )
        if run.stop is Stop.INTERRUPTED:
            raise KeyboardInterrupt
        if run.stop is not Stop.EVENT or _meeting_pairs(run) != met:
            return None
        violation = judge(self.study.safety, run, self.variations.play(x)).violation
        return Result(label) if violation is None else Result(violation.kind, violation.reason)

    def _fly_on(self, x: Floats) -> Ended:
        """The motion of a sample, continued until everything rests."""
        system = self.variations.at(x)
        if self.variations.stands(x):
            found = settle(system, self.rule)
        else:
            around = Vicinity(system.clusters, system.initial)
            found = replace(run_to_rest(system, around.whole, self.rule), system=system)
        refuse_interruption(found)
        return follow(
            self.study,
            self.variations.links,
            self.choice,
            found,
            self.study.nudge,
            lambda s: self.variations.also(x, s),
            play=self.variations.play(x),
        )

    def _classify(self, ended: Ended) -> Result:
        kind, reason, rests = classify(self.study, self.node, ended)
        if not rests:
            return Result(kind, reason)
        _, held, state = self._goal(ended, ELSEWHERE)
        near = [
            (self.study.distance(goal.state, state), goal.key)
            for goal in self.goals
            if goal.held == held
        ]
        distance, key = min(near, default=(math.inf, ELSEWHERE))
        return Result(key) if distance <= self.within else Result(ELSEWHERE, self._stray(state))

    def _stray(self, state: State) -> str:
        """Why a rest has no shape of the graph."""
        distance, key = min(
            ((self.study.distance(goal.state, state), goal.key) for goal in self.goals),
            default=(math.inf, ""),
        )
        if distance <= self.within:
            return f"it rests as {key} does, but other joints have taken hold"
        return f"it rests in no shape that was found; the nearest is {key}"

    def count(self, spread: Spread, seed: int, samples: range) -> Counter[Result]:
        """Counts of outcomes and reasons for some samples."""
        together = self.short is not None and len(samples) >= MANY and self.variations.plain
        counts = Counter[Result]()
        for block in self.variations.blocks(spread, seed, samples):
            courses = self._fly_first(block) if together else [None] * len(block)
            counts.update(map(self.explain, block, courses))
        return counts

    @property
    def _settings(self) -> Settings:
        """Settings of first motions."""
        assert self.short is not None
        return replace(self.rule.settings, max_steps=LONGER * self.short[2])

    def _fly_first(self, block: Sequence[Floats]) -> list[Course | None]:
        """The first motions of some samples in one call, bit for bit as one by one."""
        v = self.variations
        starts = Starts.of([v.state(x) for x in block])
        group = RunGroup(
            v.system, starts._replace(step=np.zeros(len(block))),
            Numbers.of(v.system.selection, [v.numbers(x) for x in block]), self.rule.duration,
            lambda k: v.at(block[k]).initial, self.rule.stop, self._settings,
        )  # fmt: skip
        ends, halted = group.fly(1, lambda done: None, every=True)
        if halted:
            raise KeyboardInterrupt
        return list(group.courses(ends))

    # --- margins ----------------------------------------------------------------------------------
    def margins(self, reach: Spread, resolution: float) -> Iterator[Margin]:
        """The margins of all parameters, one after the other."""
        for k, (parameter, far) in enumerate(
            zip(self.variations.parameters, self.variations.scale(reach).tolist(), strict=True)
        ):
            if far > 0.0:
                (low, below), (high, above) = (
                    self._change(k, sense * far, resolution) for sense in (-1.0, 1.0)
                )
                yield Margin(parameter.name, low, high, below, above, far, resolution * far)

    def _change(self, k: int, far: float, resolution: float) -> tuple[float | None, str | None]:
        """Where along one parameter the outcome first changes, and to what: by doubling the step,
        then by bisection."""
        inside, outside, step = 0.0, None, resolution
        while outside is None and inside < 1.0:
            there = min(1.0, inside + step)
            label = self._probe(k, there * far)
            if label == self.nominal:
                inside, step = there, 2.0 * step
            else:
                outside, beyond = there, label
        if outside is None:
            return None, None
        while outside - inside > resolution:
            middle = 0.5 * (inside + outside)
            label = self._probe(k, middle * far)
            if label == self.nominal:
                inside = middle
            else:
                outside, beyond = middle, label
        return 0.5 * (inside + outside) * far, beyond

    def _probe(self, k: int, value: float) -> str:
        x = self.zero.copy()
        x[k] = value
        return self.label(x) if self.variations.allows(x) else "blocked"


def _meeting_pairs(run: Trajectory) -> frozenset[Any]:
    """The pairs of sensors whose meeting has ended a run."""
    return frozenset(
        frozenset(event.sensors) for event in run.events if event.sensors and event.t == run.t[-1]
    )


# --- many at once ---------------------------------------------------------------------------------
class Task(NamedTuple):
    """The data of an edge that a worker needs, which determine the outcome of every sample."""

    digest: str
    node: Node
    choice: Choice
    nudge: tuple[float, int] | None
    goals: tuple[Goal, ...]
    within: float
    spread: Spread
    seed: int
    target: str | None


def sample_edge(
    graph: Graph, edge: Edge, samples: int, spread: Spread, seed: int, workers: Any,
    target: str | None, within: float,
) -> Robustness:  # fmt: skip
    """The counted results of an edge that is flown with random parameters, as
    `ReconfigurationGraph.robustness` says."""
    place = _place(graph, edge)
    check_workers("robustness", workers)
    _check_samples(edge, samples, target)
    key = graph[str(edge.target if target is None else target)].key
    with journal_of(graph):  # refused before anything is flown
        task = _task(graph, edge, within, spread, seed)
    with pool_for(workers, graph.study) as pool:
        counts = (
            _count_here(graph.study, task, samples)
            if pool is None
            else _count_in_pool(pool, graph.study, task, samples)
        )
    labels, reasons = _tally(counts)
    found = Robustness(key, samples, _rank_counts(labels), spread, seed, _rank_counts(reasons))
    graph.edges[place] = replace(edge, robustness=found)
    with journal_of(graph) as journal:
        journal.add_robustness(graph.nodes[edge.source].id, edge.selection.key, found)
    return found


@contextmanager
def journal_of(graph: Graph) -> Iterator[Journal]:
    """The journal of a graph; refused if its file now belongs to another study.  A graph without a
    file gets a journal in memory."""
    with Journal(graph.path) as journal:
        journal.claim(graph.study.digest, graph.study.document())
        yield journal


def _check_samples(edge: Edge, samples: Any, target: str | None) -> None:
    """Refuse an invalid number of samples, and an edge without a target."""
    if type(samples) is not int or samples < 1:
        raise PartError(
            f"robustness: samples is {show(samples)}, but must be a whole number from 1 up."
        )
    if target is None and edge.target is None:
        raise PartError(
            f"robustness: {edge!r} leads to no one node; say with target= which of them counts as "
            "success.",
            code="answer",
        )


def _tally(counts: Counter[Result]) -> tuple[Counter[str], Counter[str]]:
    """Counts of labels, and of reasons."""
    labels, reasons = Counter[str](), Counter[str]()
    for told, count in counts.items():
        labels[told.label] += count
        if told.reason is not None:
            reasons[told.reason] += count
    return labels, reasons


def _rank_counts(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    """Counts, the most frequent first."""
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def margins(
    graph: Graph, edge: Edge, reach: Spread, resolution: float, within: float
) -> tuple[Margin, ...]:
    """How far each parameter alone may move before an edge leads elsewhere, as
    `ReconfigurationGraph.margins` says."""
    _place(graph, edge)
    if not 0.0 < resolution < 1.0:
        raise PartError(
            f"margins: resolution is {show(resolution)}, but must be a share of the reach, 0 to 1."
        )
    flights = _flights(graph.study, _task(graph, edge, within, reach, 0))
    return tuple(flights.margins(reach, resolution))


def _place(graph: Graph, edge: Edge) -> int:
    """The number of an edge in its graph; it is identified by its choice, since an edge that was
    flown before has changed."""
    for k, other in enumerate(graph.edges):
        if other.source == edge.source and other.selection == edge.selection:
            return k
    raise PartError(
        f"robustness: {edge!r} is no edge of this graph; give one of graph.edges.", code="name"
    )


def _task(graph: Graph, edge: Edge, within: float, spread: Spread, seed: int) -> Task:
    node = graph.nodes[edge.source]
    check_argument("robustness or margins", "within", within, small)
    return Task(
        graph.study.digest,
        replace(node, study=None),  # which a worker has of its own
        edge.selection,
        edge.nudge,
        tuple(goals_of(graph)),
        within,
        spread,
        seed,
        edge.outcomes[0].target,
    )


def _flights(study: Scope, task: Task) -> Flights:
    return Flights(study, task.node, task.choice, task.nudge, task.goals, task.within, task.target)


def _count_here(study: Scope, task: Task, samples: int) -> Counter[Result]:
    return _flights(study, task).count(task.spread, task.seed, range(samples))


def _count_in_pool(pool: Executor, study: Scope, task: Task, samples: int) -> Counter[Result]:
    """Batches of samples on several workers; the samples do not depend on which worker flies
    them."""
    size = max(1, min(MOST, samples // (AHEAD * workers_of(pool))))
    batches = [range(k, min(k + size, samples)) for k in range(0, samples, size)]
    sent = Sent.to(pool, study)
    jobs = [pool.submit(fly_batch, sent, task, batch) for batch in batches]
    try:
        return sum((job.result() for job in jobs), Counter[Result]())
    except Exception as error:
        if not is_dead_worker(error):
            raise
        raise PartError(
            "robustness: a worker was killed or could not start; nothing of this edge is kept (a "
            "script asks for "
            "workers under `if __name__ == '__main__':`).",
            code="machine",
        ) from error


class Seat(threading.local):
    """What a worker keeps between batches: the edge that it flew last."""

    task: Task | None = None
    flights: Flights | None = None


SEAT = Seat()


def fly_batch(sent: Sent, task: Task, samples: range) -> Counter[Result]:
    """Counts of outcomes for some samples of an edge, in a worker."""
    if SEAT.flights is None or SEAT.task is None or not _same(SEAT.task, task):
        SEAT.task, SEAT.flights = task, _flights(sent.load(), task)
    return SEAT.flights.count(task.spread, task.seed, samples)


def _same(one: Task, two: Task) -> bool:
    """Whether two tasks concern the same edge under the same conditions, with the same keys of
    nodes, which may differ between graphs of one study."""
    mine, other = (
        (task.digest, task.node.id, task.choice, task.nudge, task.within, task.target, task.goals)
        for task in (one, two)
    )
    return mine == other
