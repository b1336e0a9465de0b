"""`RunGroup`: runs of one selection, with their starts as arrays, computed by any number of
threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple, get_args

import numpy as np

from quirkpy.kernels.base.states import (
    NO_TAIL,
    attitudes_of,
    bodies_of,
    state_rows,
    with_ledger,
    zero_rows,
    zero_vectors,
)
from quirkpy.kernels.step import steps
from quirkpy.kernels.step.batch import (
    ANGLES_GIVEN,
    AT,
    BATCH_COUNTS,
    BATCH_NOTE,
    BRANCHES,
    DESK_WIDTH,
    KEPT,
    KNOTS,
    LAST,
    MOST,
    NOT_FLOWN,
    OUT_OF_STEPS,
    PATIENCE,
    STRETCH,
    TOOK,
    WAITING,
    WHY,
    RunTable,
    Worker,
    fly,
)
from quirkpy.kernels.step.impacts import JUMP, NOTE_WHAT
from quirkpy.kernels.step.integrator import (
    AT_POSE,
    JAMMED,
    NO_START,
    PYTHON_FAILED,
    START_TOLERANCE,
    UNHOLDABLE,
)
from quirkpy.kernels.tree.model import Model
from quirkpy.kernels.users.callbacks import PythonParts, interruptions
from quirkpy.maths.types import Bools, Floats, Ints
from quirkpy.mechanics.clusters import contract_rows, expand_rows, largest_difference
from quirkpy.mechanics.courses import coordinates_along
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.motion.course import ENDS, NO_TAILS, Counts, Course, Happening, Stop
from quirkpy.motion.driver import COLUMNS, Driver
from quirkpy.motion.notes import Notes
from quirkpy.motion.numbers import Numbers, with_own_numbers
from quirkpy.motion.settings import Settings, StiffMethod
from quirkpy.parts.event import Event
from quirkpy.tables.merge import Merger
from quirkpy.tables.tables import ANGLE

#: Number of notes that may wait to be fetched; and the length of a call of many runs, relative to
#: that of a single run: still well below a second.
NOTES_WAITING, CALLS = 4096, 10
#: Number of blocks for each thread, so that all have work until the end; and the largest number of
#: runs in a block.
BLOCKS, LONGEST_BLOCK = 8, 512
#: Storage for all rows of runs, where these are kept, until they are fetched [numbers].
ROOM_FOR_ROWS = 1_000_000
#: Interval in which a waiting thread looks for Ctrl-C [s].
LISTEN_EVERY = 0.05
#: For runs without samples.
NO_TIMES: Floats = np.zeros(0)
#: The number of steps of a run without a bound.
UNBOUNDED = 2**62


#: Why runs end, by the numbers used in kernels.
REASONS = {**ENDS, OUT_OF_STEPS: Stop.STEPS, NOT_FLOWN: Stop.INTERRUPTED}
#: Ends for which arrays do not suffice: joints say what blocks them, or what could not be held.
UNTOLD = (JAMMED, UNHOLDABLE, NO_START, PYTHON_FAILED, AT_POSE, NOT_FLOWN)


class Starts(NamedTuple):
    """States as arrays: times (n,), rows of bodies (n, nb, STATE_WIDTH), whole turns (n, nc), next
    steps, 0: not known (n,), tails (n, tail); for each the stops that hold, and the rows of
    clusters; whether controllers continue from an earlier run (n,)."""

    t: Floats
    rows: Floats
    windings: Ints
    step: Floats
    further: Floats
    held: Sequence[tuple[str, ...]]
    merged: Sequence[Floats | None]
    going: Bools

    @classmethod
    def of(cls, states: Sequence[State]) -> Starts:
        """Arrays from states of the same bodies and joints."""
        columns = (
            np.array([getattr(s, name) for s in states]) for name in ("r", "q", "v", "omega")
        )
        return cls(
            np.array([s.t for s in states]),
            state_rows(*columns),
            np.array([s.windings for s in states]),
            np.array([s.step or 0.0 for s in states]),
            np.array([s.further for s in states]),
            [s.held for s in states],
            [s.merged for s in states],
            np.array([len(s.controls) > 0 for s in states]),
        )

    def repeated(self, count: int) -> Starts:
        """A single state, repeated."""
        return Starts(
            np.repeat(self.t, count), np.repeat(self.rows, count, axis=0),
            np.repeat(self.windings, count, axis=0), np.repeat(self.step, count),
            np.repeat(self.further, count, axis=0), [*self.held] * count, [*self.merged] * count,
            np.repeat(self.going, count),
        )  # fmt: skip


class Ends(NamedTuple):
    """The ends of runs, a row each: the reason, NOT_FLOWN where that is not known; times, states of
    all bodies with the ledger (n, nb + 1, STATE_WIDTH), angles, tails, next steps, counts; stops
    that hold; rows of clusters; states and angles at samples; notes (m, BATCH_NOTE)."""

    why: Ints
    t: Floats
    states: Floats
    angles: Floats
    further: Floats
    step: Floats
    counts: Ints
    held: Bools
    merged: Floats | None
    samples: Floats
    sampled_angles: Floats
    sampled_tails: Floats
    notes: Floats

    @property
    def undetermined(self) -> Bools:
        """The runs that begin at rest where branches meet (n,)."""
        begun = self.notes[self.notes[:, 1 + NOTE_WHAT] == BRANCHES, 0]
        return np.isin(np.arange(len(self.t)), begun)


# --- a group --------------------------------------------------------------------------------------
class RunGroup:
    """Runs of one selection computed together: the starts of all, and the numbers in which they
    differ.

    start_of: the start of each; odd: those that begin or end in a way that arrays cannot represent,
    and are computed one by one (n,)."""

    def __init__(
        self, system: System, starts: Starts, numbers: Numbers, span: float,
        start_of: Callable[[int], State], events: Sequence[Event], settings: Settings,
        times: Floats = NO_TIMES,
    ) -> None:  # fmt: skip
        self.system, self.starts, self.numbers, self.span = system, starts, numbers, span
        self.start_of, self.events, self.settings, self.times = start_of, events, settings, times
        self.n, self.merger = len(starts.t), system.clusters.merger
        self.layout = system.clusters.merged_layout
        self.signs = np.ones((self.n, starts.rows.shape[1]), dtype=bool)
        self.odd = np.full(self.n, settings.method in get_args(StiffMethod))
        self.rows = starts.rows if self.merger is None else self._clustered()
        self.odd |= numbers.moved
        if len(numbers.where):
            self.odd |= self.merger is not None
        if len(system.selection.controllers):
            self.odd |= self._beside_samples()
        self.first = start_of(int(np.argmin(self.odd)))
        self.leader = self.driver()
        self.batch = self._batch()

    def _beside_samples(self) -> Bools:
        """Runs whose controllers have other sampling times than those of most, or that need values
        between samples."""
        s, where = self.starts, self.numbers.where
        commands = bool(len(self.times)) or bool((where[:, 0] == KNOTS).any())
        return np.asarray((s.t != s.t[0]) | s.going | commands)

    def driver(self, events: Sequence[Event] | None = None) -> Driver:
        """A driver with the arrays of one run."""
        watched = self.events if events is None else events
        driver = Driver(self.system.clusters, self.first, self.span, watched, self.settings)
        driver.head_for(driver.until, whole=True)
        driver.make_room(driver.rows_at_once() + 1)  # one more for the preceding row
        return driver

    def _clustered(self) -> Floats:
        """The starts as rows of clusters, as `Clusters.enter` returns them; starts that violate the
        locks, or that are the end of another run, are odd."""
        assert self.merger is not None
        rows = self.starts.rows
        clusters = contract_rows(self.merger, rows)
        together = expand_rows(self.merger, clusters)
        self.signs = (attitudes_of(together) * attitudes_of(rows)).sum(axis=-1) >= 0.0
        far = ~(abs(together - rows).max(axis=(1, 2)) <= 0.25 * START_TOLERANCE)
        for k in np.flatnonzero(far):
            self.odd[k] = largest_difference(together[k], rows[k]) > START_TOLERANCE
        self.odd |= np.array([merged is not None for merged in self.starts.merged])
        return clusters

    def _batch(self) -> RunTable:
        s, states, template = self.starts, self.layout.states, self.leader.clock
        lines = np.zeros((self.n, self.leader.run_arrays.lines.shape[1]))
        bodies_of(states.rows_in(lines))[:] = self.rows
        states.tail_in(lines)[:] = s.further
        clock = np.tile(template, (self.n, 1))
        clock[:, steps.T], clock[:, steps.T_END] = s.t, s.t + self.span
        if not self.settings.step:
            clock[:, steps.H] = s.step
        counts = np.full((self.n, BATCH_COUNTS), NOT_FLOWN, dtype=np.int64)
        samples = np.full((self.n, len(self.times), lines.shape[1]), np.nan)
        angles = np.full((self.n, len(self.times), s.windings.shape[1]), np.nan)
        knots = np.zeros(0) if self.settings.step else self.system.selection.knots
        probe = zero_vectors(states.bodies)
        probe[:] = np.random.default_rng(0).normal(size=probe.shape)
        counted, plan = int(self.leader.counts[steps.ENDS]), self.leader.run_arrays.ends
        return RunTable(
            lines, self._near(), self._held(), clock, counts, self.numbers.values,
            self.numbers.where, np.zeros((0, BATCH_NOTE)), knots, probe, plan[:counted].copy(),
            self.times, samples,
            angles, self.leader.empty_rows(0), np.zeros(0, dtype=np.int64),
        )  # fmt: skip

    def _near(self) -> Floats:
        """The reference angles of the starts; of the clusters, if bodies are merged."""
        t, s = self.system.tables, self.starts
        turning = t.coordinate_kind == ANGLE
        near = np.where(turning, 2.0 * np.pi * s.windings, 0.0)
        if self.merger is not None and turning.any():
            which = np.flatnonzero(turning)
            near[:, which] = coordinates_along(t, which, with_ledger(s.rows), near)[..., 0]
        return near

    def _held(self) -> Floats:
        """Which stops hold (n, ns)."""
        out = np.zeros((self.n, len(self.layout.labels)))
        for k, labels in enumerate(self.starts.held):
            if labels:
                out[k] = [label in labels for label in self.layout.labels]
        return out

    # --- flying -----------------------------------------------------------------------------------
    def fly(
        self, threads: int, tell: Callable[[int], None], every: bool = False
    ) -> tuple[Ends, bool]:
        """Compute all runs that are not odd; tell: called with the number that are done; every:
        keep all their rows. Returns their ends, and whether Ctrl-C was pressed."""
        crew = Crew(self, threads, tell, every)
        crew.work()
        self.kept = crew.kept
        return self._ends(crew.notes), crew.halted

    def _ends(self, notes: list[Floats]) -> Ends:
        b, states, n = self.batch, self.layout.states, self.layout.states.bodies
        rows = states.rows_in(b.lines)
        samples, unmoved = states.rows_in(b.samples), b.counts[:, steps.STEPS] == 0
        return Ends(
            b.counts[:, WHY], b.clock[:, steps.T], self._expand(rows, unmoved), b.near,
            states.tail_in(b.lines).copy(), b.clock[:, steps.H], b.counts, b.held != 0.0,
            None if self.merger is None else bodies_of(rows)[:, :n], self._sampled(samples),
            b.angles, states.tail_in(b.samples).copy(),
            np.concatenate([np.zeros((0, BATCH_NOTE)), *notes]),
        )  # fmt: skip

    def _sampled(self, samples: Floats) -> Floats:
        """States of all bodies at samples; the start is one of them where its time is asked for."""
        n = self.starts.rows.shape[1] + 1
        out = zero_rows(self.n, len(self.times), n)
        for k, t in enumerate(self.times):
            out[:, k] = self._expand(samples[:, k], np.full(self.n, t == 0.0))
        return out

    def _expand(self, rows: Floats, first: Bools) -> Floats:
        """States of all bodies from those of the clusters of runs (n, ..., STATE_WIDTH). first:
        which of them are starts; a start that was not moved is returned exactly as it was given."""
        if self.merger is None:
            return rows.copy()
        out = expand_rows(self.merger, rows)
        for pattern in np.unique(self.signs, axis=0):
            if not pattern.all():
                mine = (self.signs == pattern).all(axis=1)
                out[mine] = expand_rows(self._turned(pattern), rows[mine])
        still = first & (bodies_of(rows) == self.rows).all(axis=(1, 2))
        bodies_of(out)[still] = self.starts.rows[still]
        return out

    def _turned(self, pattern: Bools) -> Merger:
        """The geometry of the clusters, with the signs of the quaternions of a start (nb,)."""
        assert self.merger is not None
        return self.merger.facing(np.where(pattern, 1.0, -1.0)[:, None], np.ones((1, 1)))

    # --- runs with all their rows -----------------------------------------------------------------
    def courses(self, ends: Ends) -> Iterator[Course | None]:
        """The course of each run, if all rows are kept; None for those that need `simulate`."""
        owner = np.concatenate([np.zeros(0, dtype=np.int64), *(some for some, _ in self.kept)])
        order = np.argsort(owner, kind="stable")
        columns = [np.concatenate(parts)[order] for parts in zip(*(c for _, c in self.kept))]
        notes = ends.notes[np.argsort(ends.notes[:, 0], kind="stable")]
        for k in range(self.n):
            mine = slice(*np.searchsorted(owner[order], (k, k + 1)).tolist())
            noted = slice(*np.searchsorted(notes[:, 0], (k, k + 1)).tolist())
            jumped = (notes[noted, 1 + NOTE_WHAT] == JUMP).any()
            if jumped or ends.why[k] in UNTOLD:
                yield None
                continue
            yield self._course(k, ends, [column[mine] for column in columns], notes[noted])

    def _course(self, k: int, ends: Ends, columns: list[Any], notes: Floats) -> Course:
        """The course of run k from its rows and notes."""
        t, rows, angles, drift, held, tail = columns
        states, merged = rows, None
        if self.merger is not None:
            states = expand_rows(self._turned(self.signs[k]), rows)
            merged = bodies_of(rows)[-1].copy()
            if np.array_equal(bodies_of(rows)[0], self.rows[k]):
                bodies_of(states)[0] = self.starts.rows[k]
        counts = Counts(*ends.counts[k, : steps.ROOM].tolist())
        begun, tails = states[0], tail if tail.size else NO_TAILS
        start = partial(self.start_of, k)
        events = happenings(self.leader, start, notes, begun, tail[0] if tail.size else NO_TAIL)
        return Course(
            t, states, angles, drift, REASONS[int(ends.why[k])], events, counts,
            float(ends.step[k]), held, self.layout.labels, merged, tails,
            tuple(self.leader.notes.jumps),
        )  # fmt: skip

    def holding(self, held: Bools) -> tuple[str, ...]:
        """The labels of stops that hold."""
        return tuple(label for label, holds in zip(self.layout.labels, held, strict=True) if holds)


def happenings(
    driver: Driver, start_of: Callable[[], State], notes: Floats, begun: Floats | None = None,
    tail: Floats = NO_TAIL,
) -> tuple[Happening, ...]:  # fmt: skip
    """The events in the notes of one run, for the arrays of such a run; start_of: gives its start;
    begun, tail: rows of all bodies after projection, if its jumps are to be kept as well."""
    driver.notes = Notes(driver.entry, driver.watched)
    for _, t, what, which, lost in notes.tolist():
        if what == TOOK:
            driver.start = start_of()
            driver.tell_of_hold(lost, begun, tail)
        elif what == BRANCHES:
            driver.notes.tell_branches(t, int(which))
        else:
            driver.notes.add(t, int(what), int(which), lost)
    return tuple(driver.notes.events)


class Crew:
    """Threads that compute the runs of a group, block by block: an idle thread takes the next
    block. The bits of a run do not depend on the thread."""

    def __init__(
        self, group: RunGroup, threads: int, tell: Callable[[int], None], every: bool
    ) -> None:
        self.group, self.threads, self.tell, self.every = group, threads, tell, every
        self.lock, self.done, self.halted = threading.Lock(), 0, False
        self.notes: list[Floats] = []
        self.kept: list[tuple[Ints, tuple[Any, ...]]] = []  # runs, and columns of their rows
        self.errors: list[BaseException] = []
        self.first = threading.current_thread()
        self.listener: PythonParts | None = None  # of the main thread, which receives Ctrl-C
        self.blocks = self._blocks()

    def _blocks(self) -> Iterator[tuple[int, int]]:
        """The bounds of blocks, without the odd runs."""
        even = np.flatnonzero(~self.group.odd)
        size = max(1, min(LONGEST_BLOCK, len(even) // (BLOCKS * self.threads)))
        ends = np.flatnonzero(np.diff(even) != 1) + 1
        for part in np.split(even, ends):
            for k in range(0, len(part), size):
                some = part[k : k + size]
                yield int(some[0]), int(some[-1]) + 1

    def work(self) -> None:
        """Compute all runs; Ctrl-C ends this when the compiled calls at work have returned."""
        others = [threading.Thread(target=self._help) for _ in range(self.threads - 1)]
        for other in others:
            other.start()
        try:
            self._fly_blocks(self.group.leader, others)
        except KeyboardInterrupt:
            self.halted = True
        except BaseException:
            self.halted = True
            raise
        finally:
            for other in others:
                other.join()
        if self.errors:
            raise self.errors[0]

    def _help(self) -> None:
        try:
            self._fly_blocks(self.group.driver(), [])
        except BaseException as error:
            self.errors.append(error)
            self.halted = True

    def _fly_blocks(self, driver: Driver, others: Sequence[threading.Thread]) -> None:
        """Compute block after block with the arrays of a driver, and wait for others."""
        with ExitStack() as stack:
            engine = stack.enter_context(driver.at_work())
            worker = _worker(driver, engine)
            aside = worker
            if len(self.group.times):
                second = self.group.driver(())
                aside = _worker(second, stack.enter_context(second.at_work()))
            model = (
                with_own_numbers(engine.model) if len(self.group.numbers.where) else engine.model
            )
            batch = self._with_room(driver)
            stack.enter_context(interruptions(engine.python))
            if threading.current_thread() is self.first:
                self.listener = engine.python
            for first, last in iter(self._next_block, None):
                self._fly_block(first, last, batch, model, driver, worker, aside)
            for other in others:
                while other.is_alive() and not self._heard():
                    other.join(LISTEN_EVERY)

    def _with_room(self, driver: Driver) -> RunTable:
        """The batch with this thread's storage for notes and rows."""
        most = max(NOTES_WAITING, 2 * (len(driver.rows.notes) + len(driver.watched) + 2))
        batch = self.group.batch._replace(notes=np.zeros((most, BATCH_NOTE)))
        if not self.every:
            return batch
        rows = max(2 * len(driver.rows.t), ROOM_FOR_ROWS // driver.y.size)
        return batch._replace(rows=driver.empty_rows(rows), owner=np.zeros(rows, dtype=np.int64))

    def _next_block(self) -> tuple[int, int] | None:
        with self.lock:
            return None if self._heard() else next(self.blocks, None)

    def _heard(self) -> bool:
        """Whether all threads are to end."""
        self.halted |= self.listener is not None and self.listener.halted
        return self.halted

    def _report(self, more: int) -> None:
        """Count the runs that are done; the main thread reports the number."""
        with self.lock:
            self.done += more
        if threading.current_thread() is self.first:
            self.tell(self.done)

    def _fly_block(
        self, first: int, last: int, batch: RunTable, model: Model, driver: Driver, worker: Worker,
        aside: Worker,
    ) -> None:  # fmt: skip
        """Compute some runs, call after call."""
        desk, s = np.zeros(DESK_WIDTH, dtype=np.int64), self.group.settings
        desk[AT], desk[LAST], desk[STRETCH] = first, last, driver.rows_at_once()
        desk[PATIENCE] = CALLS * desk[STRETCH]
        desk[MOST] = UNBOUNDED if s.max_steps is None else s.max_steps
        desk[ANGLES_GIVEN] = self.group.merger is not None
        while desk[AT] < last and not self._heard():
            begun = int(desk[AT])
            fly(desk, batch, model, driver.table, worker, aside)
            if desk[WAITING]:
                self.notes.append(batch.notes[: desk[WAITING]].copy())
            if desk[KEPT]:
                columns = tuple(array[: desk[KEPT]].copy() for array in batch.rows[:COLUMNS])
                self.kept.append((batch.owner[: desk[KEPT]].copy(), columns))
            desk[WAITING] = desk[KEPT] = 0
            self._report(int(desk[AT]) - begun)


def _worker(driver: Driver, engine: Any) -> Worker:
    e, run = engine.conditions, driver.run_arrays
    return Worker(run, e, engine.scratch, driver.watch, driver.rows, e.control.copy(),
                  driver.controls.board)  # fmt: skip
