"""`Runs`: many runs of one system, computed in few compiled calls, each equal bit by bit to a
single run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from quirkpy import doors
from quirkpy.kernels.act.wrenches import INTO, LOST, OUT, PROJECTED
from quirkpy.kernels.base.states import (
    attitudes_of,
    bodies_of,
    ledger_of,
    positions_of,
    spins_of,
    velocities_of,
    zero_rows,
)
from quirkpy.kernels.step import steps
from quirkpy.kernels.step.batch import NOT_FLOWN
from quirkpy.kernels.step.integrator import AT_POSE, JAMMED, NO_START, PYTHON_FAILED, UNHOLDABLE
from quirkpy.kernels.step.watch import PYTHON
from quirkpy.kernels.users.users import joints_in_python
from quirkpy.maths import quat
from quirkpy.maths.types import Bools, Floats, Ints
from quirkpy.mechanics.bending import modes_of
from quirkpy.mechanics.courses import coordinates_along, with_tails
from quirkpy.mechanics.readings import JointState, body_state
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.motion.batch import REASONS, Ends, RunGroup, happenings
from quirkpy.motion.cases import Cases
from quirkpy.motion.course import Counts, Happening, Stop
from quirkpy.motion.departure import Leave
from quirkpy.motion.driver import Driver
from quirkpy.motion.move import Progress, move
from quirkpy.motion.numbers import Numbers
from quirkpy.motion.settings import Settings, check_end, check_settings
from quirkpy.motion.snapshot import state_at
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.checks import numbers, show
from quirkpy.parts.event import Event
from quirkpy.parts.part import PartError, UnknownName
from quirkpy.tables.compile import rewrite_arrays
from quirkpy.tables.tables import CALLBACK, Tables

T = TypeVar("T")
#: Numbers used in kernels for why runs end.
NUMBERS = {stop: number for number, stop in REASONS.items()}


class Each(Sequence[T]):
    """An item for each run, made when it is accessed."""

    def __init__(self, count: int, make: Callable[[int], T]) -> None:
        self._count, self._make = count, make

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, k: Any) -> Any:
        which = range(self._count)[k]
        return [self._make(i) for i in which] if isinstance(which, range) else self._make(which)


class Moments:
    """States of runs, at their ends or at times of each: ``moments["arm"].position`` (n, 3) or (n,
    times, 3), ``moments["hinge"].angle`` (n,) or (n, times).

    t [s]; states (..., nb + 1, STATE_WIDTH) with the ledger; angles (..., nc). Values that a run
    has not reached are NaN."""

    def __init__(self, tables: Tables, shape: tuple[int, ...], tail: int) -> None:
        self.tables = tables
        self.t: Floats = np.full(shape, np.nan)
        self.states = zero_rows(*shape, tables.n_bodies + 1) + np.nan
        self.angles: Floats = np.full((*shape, len(tables.coordinate_names)), np.nan)
        self.further: Floats = np.full((*shape, tail), np.nan)

    def __getitem__(self, name: str) -> Any:
        """A body (`BodyState` of arrays), or a joint (`JointState` of arrays)."""
        t = self.tables
        if name in t.body_names:
            k = t.body_index[name]
            rows = self.states[..., k, :]
            turns = quat.from_array(attitudes_of(rows))
            motion = positions_of(rows), turns, velocities_of(rows), spins_of(rows)
            return body_state(motion, modes_of(t, k, self.further))
        if name not in t.joint_index:
            known = ", ".join((*t.body_names, *t.joint_names))
            raise UnknownName(f"no moving body or joint is called {name!r}; there are: {known}.")
        j = t.joint_index[name]
        which = np.arange(t.joint_coordinate[j], t.joint_coordinate[j + 1])
        whole = with_tails(t, self.states, self.further)
        states = whole.reshape(-1, *whole.shape[-2:])
        both = coordinates_along(t, which, states, self.angles.reshape(len(states), -1))
        both = both.reshape(*self.t.shape, len(which), 2)
        return JointState.of(t.joints[j].coordinates, np.moveaxis(both, (-2, -1), (0, 1)))

    def ledger(self, column: int) -> Floats:
        """A column of the ledger [J]."""
        return ledger_of(self.states)[..., column]


class Noted(NamedTuple):
    """The notes of the runs of a group, in order; and the arrays of one such run, which are needed
    to interpret notes."""

    driver: Driver
    notes: Floats


class Runs:
    """The results of many runs, as arrays with a row for each.

    ``stop`` (n,): why each ended; ``t`` (n,): when [s]; ``final[k]``: the state, from which a run
    can continue as from that of `simulate`; ``events[k]``; ``counts``: arrays (n,); ``work``,
    ``dissipated``, ``lost``, ``projected`` (n,): the ledger at the ends [J], as of a `Trajectory`;
    ``runs["arm"].position`` (n, 3), ``runs["hinge"].angle`` (n,): bodies and joints at the ends;
    ``samples``: the same at given times after the start. ``runs[k]`` is a `Trajectory` with all its
    rows: the run is computed once more, to the same bits. Runs that Ctrl-C prevented have
    `Stop.INTERRUPTED`, and NaN."""

    def __init__(
        self, cases: Cases, duration: float, settings: Settings, asked: Sequence[Event],
        times: Floats, leave: Leave | None = None,
    ) -> None:  # fmt: skip
        self.leave = leave
        self.cases, self.duration, self.settings, self.asked = cases, duration, settings, asked
        n, tables = cases.count, cases.system.tables
        tail = cases.system.clusters.layout.states.tail
        self.times, self.ends = times, Moments(tables, (n,), tail)
        self.samples = Moments(tables, (n, len(times)), tail)
        self.steps: Floats = np.zeros(n)
        self._why, self._counted = np.full(n, NOT_FLOWN), np.zeros((n, 3), dtype=np.int64)
        self._held: list[tuple[str, ...]] = [()] * n
        self._merged: list[Floats | None] = [None] * n
        self._told: list[Noted | tuple[Happening, ...]] = [()] * n

    # --- what is asked of it ----------------------------------------------------------------------
    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, which: Any) -> Any:
        """A run by its number, as a `Trajectory`; or a body or joint by name, at the ends."""
        return self.ends[which] if isinstance(which, str) else self.run(range(len(self))[which])

    def run(self, k: int) -> Trajectory:
        """Run k once more, with all its rows."""
        settings = replace(self.settings, keep="all")
        return move(
            self.cases.of(k), self.duration, settings, self.asked, False, leave=self.leave
        )  # fmt: skip

    @property
    def t(self) -> Floats:
        """When each ended [s] (n,)."""
        return self.ends.t

    @property
    def stop(self) -> Any:
        """Why each ended: a `Stop` (n,)."""
        out = np.empty(len(self), dtype=object)
        out[:] = [REASONS[why] for why in self._why.tolist()]
        return out

    @property
    def counts(self) -> Counts:
        """Evaluations, steps taken, steps rejected, of each (n,)."""
        return Counts(*self._counted.T)

    @property
    def work(self) -> Floats:
        """Work of loads without a potential, of each run [J] (n,)."""
        return self.ends.ledger(INTO)

    @property
    def dissipated(self) -> Floats:
        """Energy dissipated by dampers in each run [J] (n,)."""
        return self.ends.ledger(OUT)

    @property
    def lost(self) -> Floats:
        """Kinetic energy lost as joints became active at the start of each run [J] (n,)."""
        return self.ends.ledger(LOST)

    @property
    def projected(self) -> Floats:
        """Energy removed in each run by projecting states onto the joints [J] (n,)."""
        return self.ends.ledger(PROJECTED)

    @property
    def final(self) -> Sequence[State]:
        """The last state of each."""
        return Each(len(self), self._final)

    @property
    def events(self) -> Sequence[tuple[Happening, ...]]:
        """The events of each run."""
        return Each(len(self), self._events)

    def __repr__(self) -> str:
        said = ", ".join(
            f"{(self._why == number).sum()} of them: {stop}"
            for number, stop in REASONS.items()
            if (self._why == number).any()
        )
        return f"Runs({len(self)}; {said})"

    def _final(self, k: int) -> State:
        start, e = self.cases.of(k).initial, self.ends
        if self._why[k] == NOT_FLOWN:
            return start
        return state_at(
            start, float(self.t[k]), e.states[k], e.angles[k], self._held[k], float(self.steps[k]),
            self._merged[k], e.further[k],
        )  # fmt: skip

    def _events(self, k: int) -> tuple[Happening, ...]:
        told = self._told[k]
        if self._why[k] in (JAMMED, UNHOLDABLE):  # the joints are evaluated anew for the cause
            return self.run(k).events
        if not isinstance(told, Noted):
            return told
        first, last = np.searchsorted(told.notes[:, 0], (k, k + 1))
        return happenings(told.driver, lambda: self.cases.of(k).initial, told.notes[first:last])

    # --- what is put into it ----------------------------------------------------------------------
    def take(self, which: Ints, group: RunGroup, ends: Ends) -> None:
        """Store the results of the runs of a group."""
        flown = ends.why != NOT_FLOWN
        to, e = which[flown], self.ends
        self._why[to], self._counted[to] = ends.why[flown], ends.counts[flown][:, : steps.ROOM]
        e.t[to], e.states[to], e.angles[to] = ends.t[flown], ends.states[flown], ends.angles[flown]
        e.further[to], self.steps[to] = ends.further[flown], ends.step[flown]
        self._take_samples(to, ends, flown)
        notes = ends.notes[np.argsort(ends.notes[:, 0], kind="stable")]
        told = Noted(group.leader, notes)
        for k in np.unique(notes[:, 0]).astype(np.int64).tolist():
            self._told[which[k]] = told
        notes[:, 0] = which[notes[:, 0].astype(np.int64)]
        for k in np.flatnonzero(flown & ends.held.any(axis=1)).tolist():
            self._held[which[k]] = group.holding(ends.held[k])
        if ends.merged is not None:
            for k in np.flatnonzero(flown).tolist():
                self._merged[which[k]] = ends.merged[k]

    def _take_samples(self, to: Ints, ends: Ends, flown: Bools) -> None:
        s = self.samples
        s.states[to], s.angles[to] = ends.samples[flown], ends.sampled_angles[flown]
        s.further[to] = ends.sampled_tails[flown]

    def take_run(self, k: int, run: Trajectory) -> None:
        """Store the result of one run."""
        c, e = run.course, self.ends
        self._why[k], self._counted[k] = NUMBERS[run.stop], run.counts
        e.t[k], e.states[k], e.angles[k] = c.t[-1], c.states[-1], c.angles[-1]
        e.further[k], self.steps[k] = c.tails()[-1], c.step
        held = c.held[-1] if c.stops else ()
        self._held[k] = tuple(label for label, holds in zip(c.stops, held, strict=True) if holds)
        self._merged[k], self._told[k] = c.merged, run.events
        s, begun = self.samples, run.start.t
        for j, t in enumerate((begun + self.times).tolist()):
            if t <= run.t[-1]:
                state, into, out = run.ledger_at(t)
                bodies_of(s.states[k, j])[:] = run.rows_at(t)
                ledger_of(s.states[k, j])[:] = 0.0
                ledger_of(s.states[k, j])[[INTO, OUT]] = into, out
                s.angles[k, j], s.further[k, j] = state.near, state.further


# --- flying ---------------------------------------------------------------------------------------
def fly_many(
    cases: Cases, duration: Any, settings: Settings, stop: Sequence[Event], times: Any,
    threads: int, chunk: int, progress: Progress, leave: Leave | None = None,
) -> Runs:  # fmt: skip
    """Compute all requested runs, chunk by chunk; leave: chooses a branch where several meet."""
    span = check_settings(duration, settings)
    _check_settings(settings, threads, chunk)
    runs = Runs(cases, span, settings, stop, _check_times(times, span), leave)
    with doors.progress.show_runs(progress, cases.count) as tell:
        for first in range(0, cases.count, chunk):
            some = range(first, min(first + chunk, cases.count))
            if not _fly_some(cases, some, runs, threads, tell):
                break
    return runs


def _fly_some(
    cases: Cases, some: range, runs: Runs, threads: int, tell: Callable[[float], None]
) -> bool:
    """Compute one chunk; returns whether to continue."""
    done = some.start
    for base, which in cases.groups(some):
        group = _group(cases, base, which, runs)
        ends, halted = group.fly(threads, partial(_tell_of_more, tell, done))
        runs.take(which, group, ends)
        failed = np.isin(ends.why, (NO_START, PYTHON_FAILED, AT_POSE))
        failed |= ends.undetermined
        for k in which[group.odd | failed].tolist():
            halted = halted or not _fly_alone(cases, k, runs)
        done += len(which)
        if halted:
            return False
    return True


def _tell_of_more(tell: Callable[[float], None], done: int, more: int) -> None:
    """Report how many runs are done, those of earlier chunks and groups included."""
    tell(done + more)


def _group(cases: Cases, base: System, which: Ints, runs: Runs) -> RunGroup:
    """Runs of one selection, prepared for computation."""
    _check_compiled(base)
    starts = cases.starts(base, which)
    for t in np.unique(starts.t).tolist():
        check_end(t, runs.duration)
    numbers = Numbers.none(len(which))
    if cases.parameters:
        made = [rewrite_arrays(base.tables, cases.changes(k)) for k in which.tolist()]
        numbers = Numbers.of(base.selection, [arrays for arrays, _ in made])
        numbers = numbers.with_gains(base.selection, [parts for _, parts in made])
    runs.samples.t[which] = starts.t[:, None] + runs.times
    group = RunGroup(
        base, starts, numbers, runs.duration, lambda k: cases.of(int(which[k])).initial,
        runs.asked, runs.settings, runs.times,
    )  # fmt: skip
    _check_events(group)
    return group


def _fly_alone(cases: Cases, k: int, runs: Runs) -> bool:
    """Compute a run as `simulate` does; returns whether it was not interrupted."""
    keep: Any = "all" if len(runs.times) else "ends"
    try:
        settings = replace(runs.settings, keep=keep)
        run = move(cases.of(k), runs.duration, settings, runs.asked, False, leave=runs.leave)
    except Exception as error:
        error.add_note(f"run {k} of simulate_many")
        raise
    if run.stop is Stop.INTERRUPTED:
        return False
    runs.take_run(k, run)
    return True


# --- checks ---------------------------------------------------------------------------------------
def _check_settings(s: Settings, threads: Any, chunk: Any) -> None:
    """Refuse settings that compiled calls alone cannot satisfy, and invalid numbers of threads or
    runs."""
    for name, number in (("threads", threads), ("chunk", chunk)):
        if type(number) is not int or number < 1:
            raise PartError(
                f"simulate_many: {name} is {show(number)}, but must be a whole number from 1 up."
            )


def _check_events(group: RunGroup) -> None:
    """Refuse events with Python functions that are called in every step."""
    for watched in group.leader.watched:
        if watched.line[0] == PYTHON:
            raise PartError(
                f"simulate_many: {type(watched.event).__name__} {watched.event.name!r} is asked in "
                "Python within every step; use an event that is compiled, or simulate for each "
                "run.",
                code="together",
            )


def _check_times(times: Any, span: float) -> Floats:
    """Times of samples, in increasing order, within the duration."""
    given = [] if times is None else times
    try:
        checked = np.array(numbers(given, (np.size(given),)))
    except (TypeError, ValueError) as error:
        raise PartError(
            f"simulate_many: samples {error}; give times after the start [s]."
        ) from None
    if len(checked) and not (
        checked[0] >= 0.0 and checked[-1] <= span and (np.diff(checked) > 0.0).all()
    ):
        raise PartError(
            f"simulate_many: samples must be rising times after the start, from 0 to {span:g} s."
        )
    return checked


def _check_compiled(system: System) -> None:
    """Refuse parts with Python functions that are called in every step."""
    t, chosen = system.tables, system.selection
    acting = chosen.elements[t.element_kind[chosen.elements] == CALLBACK]
    forces = [t.forces[k] for k in t.element_force[acting].tolist()]
    joints = [t.joints[j] for some in joints_in_python(chosen) for j, _ in some]
    for k in chosen.controllers.tolist():
        if not t.controllers[k].compiled:
            raise t.controllers[k].refuse(
                "simulate_many cannot ask it at every sample, for one compiled call flies many "
                "runs; give it compiled=True, or use simulate for each run.",
                code="together",
            )
    for part in (*forces, *joints):
        raise PartError(
            f"simulate_many: {type(part).__name__} {part.name!r} is asked in Python within every "
            "step, which one compiled call for many runs cannot wait for; write it as a "
            "CompiledForce or with a Schedule, or use simulate for each run.",
            code="together",
        )
