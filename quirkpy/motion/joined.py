"""`JoinedTrajectory`: successive runs with different active joints and forces as one trajectory."""

from __future__ import annotations

import dataclasses
import itertools
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import numpy as np

from quirkpy.kernels.base.states import ledger_of, zero_rows
from quirkpy.maths.cached import cached_property
from quirkpy.maths.types import Bools, Floats, Ints
from quirkpy.mechanics.impulses import Impact
from quirkpy.mechanics.sensing import SensorState
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.motion.course import NOTHING_HELD, Change, ControlRecord, Counts, Course, Happening
from quirkpy.motion.interpolation import Between, before, time_within
from quirkpy.motion.readings import ForceCourse, JointCourse, LatchCourse
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.latch import Latch
from quirkpy.parts.part import PartError

#: Runs, each with the time at which its own time begins [s].
Pieces = tuple[tuple[float, Trajectory], ...]


class JoinedTrajectory(Trajectory):
    """A trajectory made of pieces: the interface of `Trajectory`, evaluated in the piece that
    contains a time.

    switchings: the work [J] done by switching at the beginning of each piece (p,); switched: its
    sum at each row [J] (k,). energy + dissipated + lost - work - switched is constant."""

    switchings: Floats

    def __init__(self, system: System, pieces: Pieces, switchings: Sequence[float]) -> None:
        self._pieces, self.switchings = pieces, np.array(switchings, dtype=float)
        first = pieces[0][1]
        start = first.start if first.system is system else first.start.on(system.selection)
        super().__init__(system, start, first.settings, join_courses(pieces, system))

    @abstractmethod
    def over(self, change: Callable[[Trajectory], Trajectory]) -> Self:
        """A run with a function applied to each piece of this one."""

    def _told(self, state: State, begins: float) -> State:
        """A state of a piece, with the time of the joined run."""
        return dataclasses.replace(state, t=state.t + begins) if begins else state

    @property
    def beginnings(self) -> Ints:
        """The numbers of the pieces that begin with a switch (s,)."""
        return np.arange(1, len(self._pieces))

    # --- pieces -----------------------------------------------------------------------------------
    @property
    def pieces(self) -> Pieces:
        """The runs of which it is made, each with the time at which its own time begins [s]."""
        return self._pieces

    def stretches(self) -> Iterator[tuple[slice, Trajectory]]:
        """The pieces with their rows in the joined run."""
        first = 0
        for _, run in self._pieces:
            yield slice(first, first + len(run.t)), run
            first += len(run.t)

    def each(self, values: Sequence[float] | Floats) -> Floats:
        """A value of each piece, repeated for all of its rows (k,)."""
        return np.repeat(values, [len(run.t) for _, run in self._pieces])

    def _piece_at(self, t: float) -> tuple[float, Trajectory, float]:
        """The piece that contains a time: when its own time begins, the run, and the time within
        it; at a switch the later piece."""
        begins, run = [pair for pair in self._pieces if pair[0] + float(pair[1].t[0]) <= t][-1]
        return begins, run, min(t - begins, float(run.t[-1]))

    def _along(self, name: str) -> Floats:
        """An attribute of all pieces, concatenated (k, ...)."""
        return np.concatenate([getattr(run, name) for _, run in self._pieces])

    # --- states -----------------------------------------------------------------------------------
    def _state(self, k: int, step: float | None = None, merged: Floats | None = None) -> State:
        for (rows, run), (begins, _) in zip(self.stretches(), self._pieces, strict=True):
            if k < rows.stop:
                own = run.final if k == rows.stop - 1 else run.states[k - rows.start]
                return self._told(own, begins)
        raise IndexError(k)

    def at(self, t: float) -> State:
        """The state at any time, under the joints and forces active then; at a switch the state
        after it."""
        k = before(self.t, time_within(t, self.t))
        if self.t[k] == t:
            return self._state(k)
        begins, run, own = self._piece_at(t)
        return self._told(run.at(own), begins)

    def rows_at(self, t: float) -> Floats:
        """The state at a time as rows (nb, STATE_WIDTH), without the other data of a state."""
        _, run, own = self._piece_at(t)
        return run.rows_at(own)

    def ledger_at(self, t: float) -> tuple[State, float, float]:
        """The state at a time between two stored ones, with the work of loads and the energy
        dissipated [J]."""
        begins, run, own = self._piece_at(t)
        state, into, out = run.ledger_at(own)
        k = next(rows.start for rows, other in self.stretches() if other is run)
        return (
            self._told(state, begins),
            float(self.work[k]) + into,
            float(self.dissipated[k]) + out,
        )

    def highest(self, measure: Callable[[Floats], Floats]) -> float:
        """The largest value of a function of states in any piece, as `Trajectory.highest`."""
        return max(run.highest(measure) for _, run in self._pieces)

    def passing(self, t: float, margin: Callable[[State], float]) -> float:
        """The time at which a margin is zero, as `Trajectory.passing`, within the piece of a given
        time."""
        begins, run, own = self._piece_at(t)
        return begins + run.passing(own, lambda state: margin(self._told(state, begins)))

    @property
    def between(self) -> Between:
        """The curves of the pieces between rows; at a switch poses may change discontinuously."""
        raise PartError(
            "between: this run has several pieces; ask each of them: `for _, piece in run.pieces`.",
            code="together",
        )

    def sampled(self, step: float) -> Self:
        """This run with states at least every `step` [s], piece by piece."""
        return self.over(lambda run: run.sampled(step))

    def with_rows_at(self, times: Floats) -> Self:
        """This run with states at some times [s] besides the stored ones, piece by piece."""
        begun = {id(run): begins for begins, run in self._pieces}
        return self.over(lambda run: run.with_rows_at(times - begun[id(run)]))

    # --- bodies and joints ------------------------------------------------------------------------
    def __getitem__(self, name: str) -> Any:
        """A body, a joint or a sensor through all pieces, as in a `Trajectory`."""
        controlled = any(record.name == name for record in self.course.records)
        if name in self.start.bodies or controlled:
            return super().__getitem__(name)
        courses = [run[name] for _, run in self._pieces]
        if isinstance(courses[0], SensorState):
            return SensorState(*map(np.concatenate, zip(*courses, strict=True)))
        if isinstance(courses[0], LatchCourse):
            return LatchCourse.of(name, self.course.stops, self.course.held, len(self.t))
        if isinstance(courses[0], ForceCourse):
            return ForceCourse(self, name)
        figures = (
            [getattr(one, field) for one in courses] for field in ("angle", "travel", "rate")
        )
        angle, travel, rate = (
            None if some[0] is None else np.concatenate(some) for some in figures
        )
        return JointCourse(angle, travel, rate, self, name)

    # --- ledger -----------------------------------------------------------------------------------
    @cached_property
    def kinetic(self) -> Floats:
        """Kinetic energy [J] (k,)."""
        return self._along("kinetic")

    @cached_property
    def potential(self) -> Floats:
        """Potential energy of all forces active then that have one [J] (k,)."""
        return self._along("potential")

    @cached_property
    def switched(self) -> Floats:
        """Work done by switching so far [J] (k,)."""
        return self.each(np.cumsum(self.switchings))

    @property
    def changes(self) -> tuple[Change, ...]:
        """The latches that switches have opened while they held, with times and energies."""
        made = []
        for (_, run), (begins, after) in itertools.pairwise(self._pieces):
            t, stops = begins + float(after.t[0]), after.course.stops
            gone = {label.rsplit(" ", 1)[0] for label in run.final.held if label not in stops}
            latches = (part for part in run.system.parts if isinstance(part, Latch))
            made += [
                Change(t, one.name, "latch", one.release, one.power)
                for one in latches
                if one.name in gone and one.release > 0.0
            ]
        return tuple(made)

    @cached_property
    def changed(self) -> Floats:
        """Energy consumed by the switching of joints and latches so far [J] (k,), for those in
        progress in part: it comes from the supply of the spacecraft, not from the motion."""
        drawn = [change.energy * (self.t >= change.t) for change in self.changes]
        return np.asarray(sum(drawn, np.zeros(len(self.t))))

    @cached_property
    def impacts(self) -> tuple[Impact, ...]:
        """The contribution of each joint and stop to each jump of the velocities, as in a
        `Trajectory`."""
        return tuple(
            impact._replace(t=impact.t + begins)
            for begins, run in self._pieces
            for impact in run.impacts
        )

    @cached_property
    def momentum(self) -> Floats:
        """Sum of m v over the moving bodies, in N [kg m/s] (k, 3)."""
        return self._along("momentum")

    @cached_property
    def angular_momentum(self) -> Floats:
        """Angular momentum of the moving bodies about the origin of N [kg m2/s] (k, 3)."""
        return self._along("angular_momentum")


def join_courses(pieces: Pieces, system: System) -> Course:
    """All pieces as one course, on the coordinates of a system, with a continuous ledger."""
    columns: list[tuple[Floats, ...]] = []
    events: list[Happening] = []
    counts, ledger = np.zeros(3, dtype=int), zero_rows()
    for begins, run in pieces:
        names, c = list(run.start.joints), run.course
        rows = c.states.copy()
        ledger_of(rows)[:] += ledger
        ledger = ledger_of(rows)[-1].copy()
        which = [names.index(name) for name in system.initial.joints]
        columns.append((c.t + begins, rows, c.angles[:, which], c.drift, c.tails()))
        events += [event._replace(t=event.t + begins) for event in c.events]
        counts += c.counts
    t, states, angles, drift, tails = (np.concatenate(some) for some in zip(*columns, strict=True))
    last, stops = pieces[-1][1].course, every_stop(pieces)
    return Course(
        t, states, angles, drift, last.stop, tuple(events), Counts(*(int(c) for c in counts)),
        last.step, holding(pieces, stops), stops, last.merged, tails if tails.size else last.tail,
        tuple(jump._replace(t=jump.t + t) for t, run in pieces for jump in run.course.jumps),
        join_records(pieces), last.controls,
    )  # fmt: skip


def join_records(pieces: Pieces) -> tuple[ControlRecord, ...]:
    """The records of each controller in all pieces."""
    known: dict[str, ControlRecord] = {}
    for begins, run in pieces:
        for one in run.course.records:
            new = one._replace(t=one.t + begins, times=tuple(t + begins for t in one.times))
            known[one.name] = append_record(known[one.name], new) if one.name in known else new
    return tuple(known.values())


def append_record(one: ControlRecord, two: ControlRecord) -> ControlRecord:
    """The record of a controller in two successive runs."""
    columns: dict[str, Any] = {
        name: tuple(map(_end_to_end, getattr(one, name), getattr(two, name)))
        for name in ("measured", "command", "times", "values")
    }
    return one._replace(t=np.concatenate([one.t, two.t]), **columns)


def _end_to_end(a: Floats, b: Floats) -> Floats:
    """Two arrays concatenated, of which one may be empty."""
    return np.concatenate([a, b]) if len(a) and len(b) else (a if len(a) else b)


def every_stop(pieces: Pieces) -> tuple[str, ...]:
    """The stops that are active in any piece."""
    return tuple(dict.fromkeys(label for _, run in pieces for label in run.course.stops))


def holding(pieces: Pieces, stops: tuple[str, ...]) -> Bools:
    """Which stops hold at each row; inactive ones do not (k, ns)."""
    if not stops:
        return NOTHING_HELD
    made = []
    for _, run in pieces:
        held = np.zeros((len(run.t), len(stops)), dtype=bool)
        if run.course.stops:
            held[:, [stops.index(label) for label in run.course.stops]] = run.course.held
        made.append(held)
    return np.concatenate(made)
