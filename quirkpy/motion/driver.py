"""The driver of a run: kernels take the steps; here events are recorded, rows are kept, and the end
of the run is explained."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np

from quirkpy.kernels.act.wrenches import LOST
from quirkpy.kernels.base.conditions import HOLDS
from quirkpy.kernels.base.hook import PARTS
from quirkpy.kernels.base.states import NO_TAIL, bodies_of, ledger_of, speeds_of, zero_vectors
from quirkpy.kernels.step import integrator, sampling, steps
from quirkpy.kernels.step.batch import AT_REST
from quirkpy.kernels.step.impacts import FIT, FUNCTION_NOTES, NOTE_WIDTH, Rows
from quirkpy.kernels.step.methods import IMPLICIT, TABLES
from quirkpy.kernels.step.sampling import DUE
from quirkpy.kernels.step.watch import BEFORE, PYTHON, REST, TRIAL, VALUE
from quirkpy.kernels.tree.closure import RUNNING_PIVOT, WHICH
from quirkpy.kernels.users.callbacks import interruptions
from quirkpy.kernels.users.formulas import check_functions
from quirkpy.kernels.users.modal import points_of
from quirkpy.kernels.users.users import has_unchecked
from quirkpy.maths.types import Bools, Floats
from quirkpy.mechanics.analysis import energy, slipping
from quirkpy.mechanics.bending import refuse_bending
from quirkpy.mechanics.clusters import Clusters
from quirkpy.mechanics.direct import DirectCall
from quirkpy.mechanics.engine import AtWork, Engine
from quirkpy.mechanics.instant import Instant
from quirkpy.mechanics.meeting import check_meeting
from quirkpy.mechanics.state import State
from quirkpy.motion.controllers import Controls
from quirkpy.motion.course import ENDS, NO_TAILS, Counts, Course, Departure, Happening, Kept, Stop
from quirkpy.motion.departure import BranchChoice, Leave, Stand, leave_pose, meeting_row
from quirkpy.motion.events import ask, ask_measure, watch_of, watched_in
from quirkpy.motion.notes import TAKEN, TOOK_HOLD, UNHELD, Notes, bent_too_far, refuse_start
from quirkpy.motion.settings import Settings
from quirkpy.motion.snapshot import state_at
from quirkpy.parts.event import Event, Threshold, When

#: Rows that one compiled call may fill: at most, and so that a call lasts well below a second,
#: where a closing row counts as so many bodies; and events.
MOST_ROWS, ROWS_LOOKED_AT = 256, 64
EFFORT_PER_CALL, CLOSING_ROW = 40_000, 5
NOTES = 16
#: Columns of the rows of a run: times, states, angles, drift, stops that hold, tails.
COLUMNS = 6
ADVANCE, ADVANCE_SAMPLED = map(DirectCall, (integrator.advance, sampling.advance_sampled))
#: The start of a run, as the pose at a switch, may be put onto its joints by so much [m or rad].
START_REACH = 1e-3
#: Joints are said to take hold of a start where they take more than this share of its kinetic
#: energy.
TAKES = 1e-10


class Driver:
    """One run: its arrays, and the loop around `advance`."""

    def __init__(
        self, clusters: Clusters, start: State, duration: float, events: Sequence[Event],
        s: Settings,
    ) -> None:  # fmt: skip
        self.start, self.settings, self.selection = start, s, clusters.selection
        self.clusters = clusters
        if has_unchecked(clusters.selection):
            start.instant(clusters.selection).users.check_potentials()
        self.entry = clusters.enter(start, s.drift == "project")
        self.layout = self.entry.layout
        if s.energy == "conserve":
            refuse_bending(clusters.selection.tables, 'energy="conserve"')
        self.engine: Engine  # while it is at work
        self.table = TABLES.get(s.method, IMPLICIT)  # type: ignore[arg-type]
        states = self.layout.states
        fixed = s.step if s.step is not None else 0.0
        self.knots = frozenset([] if fixed else clusters.selection.knots.tolist())
        self.controls = Controls(clusters.selection, self.entry, start)
        self.look: Look | None = None
        self.leave: Leave | None = None
        self.clock = clock = np.zeros(steps.CLOCK_WIDTH)
        clock[: steps.PROJECTING + 1] = (
            start.t, fixed or start.step or 0.0, 0.0, s.rtol, s.atol,
            fixed or math.inf, fixed, s.energy == "conserve", 0.0, s.drift == "project",
        )  # fmt: skip
        lines, rows = states.zero_lines(steps.LINES)
        self.y = rows[steps.BEGIN, : states.bodies + 1]
        self.tail = states.tail_in(lines[steps.BEGIN])
        bodies_of(self.y)[:], ledger_of(self.y)[LOST] = self.entry.rows, self.entry.lost
        self.tail[:] = start.further
        self.counts = np.zeros(steps.COUNTS_WIDTH, dtype=np.int64)
        self.run_arrays = steps.Run(
            clock, self.counts, lines, rows, states.groups, zero_vectors(states.bodies),
            np.zeros(2), np.zeros(2), np.zeros((0, 2)),
        )  # fmt: skip
        if clusters.selection.tables.schedule_formula and clusters.selection.tables.unproven:
            clusters.selection.check_strengths(start.t, start.t + duration)
        self.head_for(start.t + duration)
        lengths = self.controls.lengths if self.controls.loops else {}
        self.watched = watched_in(self.entry, clusters.selection, events, lengths)
        self.kinds = {w.line[0] for w in self.watched}
        self.watch = watch_of(self.layout, self.watched)
        self.notes = Notes(self.entry, self.watched)
        self.rested = False  # says the look

    def head_for(self, end: float, whole: bool = False) -> None:
        """Set the time [s] at which the run ends. Steps end at every knot of a schedule before it,
        so that none passes over it, and at every sample of a controller; whole: with memory for all
        samples at once."""
        self.until = end
        self.controls.prepare(end, whole)
        most = len(self.knots) + 1 + self.controls.most
        self.run_arrays = self.run_arrays._replace(ends=np.zeros((most, 2)))
        if self.controls.loops:
            self.controls.board.desk[DUE] = self.controls.is_due(end)
        self._plan()

    def _plan(self) -> None:
        """The next times at which steps are to end."""
        t, end = float(self.clock[steps.T]), self.until
        knots = sorted(knot for knot in self.knots if t < knot < end)
        ends = self.controls.plan(t, end, knots, end in self.knots)
        if self.look is not None:  # which is to look wherever loads change
            ends = ends[:1]
        self.run_arrays.ends[: len(ends)] = ends
        self.counts[steps.ENDS], self.counts[steps.HEADED] = len(ends), 0
        self.last = bool(ends[-1, 0] == end)

    def _command(self) -> None:
        """Compute the command of a controller in Python."""
        e, t = self.engine, float(self.clock[steps.T])
        e.python.t = t
        self.controls.command(t, e.conditions.near, self.tail)

    # --- the loop ---------------------------------------------------------------------------------
    def run(self, progress: Callable[[float], None] | None = None) -> Course:
        """Step until the end; results survive an interruption and an exception in users' code."""
        kept = Kept(self.settings.keep)
        self.make_room(self.rows_at_once())
        if self.look is not None:
            self._plan()
        with self.at_work() as e:
            if PYTHON in self.kinds:
                e.python.open()
            try:
                stop = self._drive(kept, progress)
            except KeyboardInterrupt:
                self._keep_rest(kept)
                stop = Stop.INTERRUPTED
            except Exception as error:
                self._leave_course(kept, error)
                raise
        return self._course(kept, stop)

    def _leave_course(self, kept: Kept, error: Exception) -> None:
        """Attach the results so far to an error, if there is enough memory for them."""
        with suppress(MemoryError):
            self._keep_rest(kept)
        with suppress(MemoryError):
            if kept.seen:
                error.course = self._course(kept, Stop.FAILED)  # type: ignore[attr-defined]
                error.add_note(
                    f"at t = {self.engine.python.t:.12g} s; the run up to there is the attribute "
                    "`trajectory` of this error"
                )

    def rows_at_once(self) -> int:
        """How many steps one call may take."""
        effort = len(self.y) + CLOSING_ROW * len(self.layout.tree.loops)
        most = MOST_ROWS if self.look is None else ROWS_LOOKED_AT
        return max(1, min(most, EFFORT_PER_CALL // effort))

    def make_room(self, at_once: int) -> None:
        """Rows for so many steps of one call."""
        self.rows = self.empty_rows(1 + at_once)

    def empty_rows(self, count: int) -> Rows:
        """Empty rows of the run, and empty notes of one call."""
        angles, stops = len(self.layout.packed.coordinates), len(self.layout.labels)
        noted = NOTES + FUNCTION_NOTES * len(self.watched)
        notes, jumps = np.zeros((noted, NOTE_WIDTH)), NOTES if stops else 1
        return Rows(
            np.zeros(count), np.empty((count, *self.y.shape)), np.zeros((count, angles)),
            np.zeros((count, 2)), np.zeros((count, stops), dtype=bool),
            np.zeros((count, *self.tail.shape)), notes,
            np.zeros((jumps, 2, *self.run_arrays.states.shape[1:])),
            np.zeros((jumps, stops), dtype=bool),
        )  # fmt: skip

    def at_work(self) -> AtWork:
        """A context in which the run has an engine of its own."""
        return AtWork(self.layout.lend(), self.take, self.give_back)

    def take(self, e: Engine) -> None:
        """Work with an engine that is lent to this run."""
        alpha, beta = self.settings.gains if self.settings.drift == "baumgarte" else (0.0, 0.0)
        e.close_rows_by(RUNNING_PIVOT, beta * beta, 2.0 * alpha)
        self.engine, e.python.events = e, self.python_values
        if self.controls.loops:
            e.model = e.model._replace(schedules=self.controls.schedules)
            e.python.commands = self._command
            e.python.open()

    def give_back(self) -> None:
        """Return the engine in the state in which it was lent."""
        self.engine.model = self.layout.model
        self.engine.python.events = self.engine.python.commands = None  # which would keep the run
        del self.engine

    def _drive(self, kept: Kept, progress: Callable[[float], None] | None) -> Stop:
        """Make all calls of kernels. Most runs end with the first; a Ctrl-C meanwhile is raised
        when it returns, unless Python is called from the kernel, where it could be lost."""
        e, why = self.engine, integrator.GOING
        asking = e.conditions.hook[PARTS] != 0 or PYTHON in self.kinds or self.controls.loops
        if not asking:
            why = self._begin(kept)
            if why in ENDS and progress is None:
                return Stop.REST if self.rested else ENDS[why]
        with interruptions(e.python):
            if asking:
                why = self._begin(kept)
            return self._loop(why, kept, progress)

    def _begin(self, kept: Kept) -> int:
        """The start on the constraints, as the first row, and the first steps; returns why they
        ended.

        No steps are taken if the start must be examined first: at rest, or in a loop where branches
        may meet; bodies that bend choose theirs."""
        e = self.engine
        looking = len(e.scratch.rows) > 0 or REST in self.kinds
        why = self._start(kept, 1 if looking else 1 + self._room())
        if looking and self._resting():
            return integrator.STOPPED
        closing = looking and len(e.scratch.rows) > 0 and not len(e.model.modes.what)
        if closing and abs(speeds_of(bodies_of(self.y))).max(initial=0.0) < AT_REST:
            return self._choose_branch(kept, why)
        return why

    def _choose_branch(self, kept: Kept, why: int) -> int:
        """At rest, where branches may meet: leave along one; returns why the last call ended."""
        row = meeting_row(self.engine, self.run_arrays)
        if row is not None and why == integrator.GOING and self.leave is not None:
            return self._depart(kept, self.leave(self.clusters, self._state_now(self.y), None), row)
        if row is not None:
            self.notes.tell_branches(float(self.clock[steps.T]), row)
        return why

    def _leave_struck(self, kept: Kept) -> int:
        """Leave a singular pose after an impact there; returns why the last call ended."""
        if self.leave is None:
            return integrator.GOING
        choice = self.leave(self.clusters, self._state_now(self.y), self.notes.jumps[-1])
        return self._depart(kept, choice, int(self.clock[steps.WEAK_ROW]))

    def _depart(self, kept: Kept, choice: BranchChoice, row: int) -> int:
        """Leave a pose along a branch, if one is taken; returns why the call ended with which the
        run goes on. row: a closing row whose loop has several branches there."""
        t, (way, branches) = float(self.clock[steps.T]), choice
        if branches:
            self.notes.tell_branches(t, row, branches)
        stand = Stand(self.engine, self.run_arrays, self.layout, self._instant_of)
        departure = None if way is None else leave_pose(stand, way)
        if way is None or departure is None:
            return integrator.GOING
        if way.velocities is None:
            self.notes.events.append(Happening(t, TAKEN, joints=way.joints))
        else:
            self.notes.change_jump(self._instant_of(stand.moving(way)).state)
        self.notes.departures.append(departure)
        why = self.go_along(departure)
        self._raise_pending(why)
        self._keep_rows(kept)
        self._check_functions(why)
        self.check_start()
        return why

    def go_along(self, departure: Departure) -> int:
        """Take the step out of a pose; returns why the call ended with which the run goes on."""
        clock, end = self.clock, float(self.clock[steps.T_END])
        self.engine.hold_bounds(self.layout.bounding, departure.held)
        self.watch.values[:, BEFORE] = self.watch.values[:, VALUE]
        whole = departure.span == end - clock[steps.T]
        clock[steps.T] = end if whole else clock[steps.T] + departure.span
        clock[steps.H] = clock[steps.FIXED] or departure.span
        bodies_of(self.y)[:] = bodies_of(departure.state)
        ledger_of(self.y)[:] += ledger_of(departure.state)
        self.counts[steps.STEPS] += 1
        return self.pass_end(self.first_steps(1))

    def _start(self, kept: Kept, room: int) -> int:
        """The start as the first row, and steps that with it fill `room` rows at most; returns why
        they have ended."""
        e = self.engine
        e.turn_to(self.start.angles)
        e.hold(self.start.held)
        why = self.pass_end(self.first_steps(room))
        self._raise_pending(why)
        self._keep_rows(kept)
        self._check_functions(why)
        self.check_start()
        begun, lost = self.rows.states[0], float(ledger_of(self.rows.states[0])[LOST])
        if lost != 0.0:
            self.tell_of_hold(lost, self.entry.expand(begun), self.rows.tail[0])
        return why

    def _raise_pending(self, why: int) -> None:
        """Raise the exception of users' code in the last call of a kernel, or the error of an
        invalid command."""
        self.engine.python.raise_pending()
        if why == integrator.PYTHON_FAILED:
            self.controls.complain()

    def _check_functions(self, why: int) -> None:
        """Name the user's function of time that caused numbers that are not finite."""
        if why == integrator.NOT_FINITE:
            self.engine.python.t = float(self.clock[steps.T])
            check_functions(self.engine.selection, self.engine.python.t)

    def stand(self) -> Course:
        """The start alone: projected onto its joints, with the stops that are in contact; no step
        is taken."""
        kept = Kept(self.settings.keep)
        self.make_room(1)
        with self.at_work():
            self._start(kept, 1)
        return self._course(kept, Stop.END)

    def tell_of_hold(
        self, lost: float, begun: Floats | None = None, tail: Floats = NO_TAIL
    ) -> None:
        """Record kinetic energy [J] that projection of the given start onto its joints has removed,
        and which joints did so, if any; driven joints may have added some. begun, tail: rows of all
        bodies after projection, as the run begins."""
        at = self.start.instant(self.start.selection or self.selection)
        if abs(lost) > TAKES * energy(at).kinetic:
            told = Happening(self.start.t, TOOK_HOLD, joints=slipping(at), lost=lost)
            points = points_of(self.selection.tables)
            after = None if begun is None else points.rows(bodies_of(begun), tail)
            self.notes.begin_with(told, points.rows(at.state, at.further), after)

    def check_start(self) -> None:
        """Raise an error for an inadmissible start."""
        e, answer = self.engine, int(self.counts[steps.ANSWER])
        if answer != FIT:
            refuse_start(self.layout, answer, int(e.scratch.report[WHICH]))
        if max(self.entry.drift[0], self.rows.drift[0, 0]) > START_REACH:
            check_meeting(self.start.instant(self.selection))

    def _instant_of(self, y: Floats) -> Instant:
        """A state of what moves, with the time and the stops of now."""
        return self._state_now(y).instant(self.selection)

    def _state_now(self, y: Floats) -> State:
        """A state of what moves, with the time and the stops of now, for users."""
        t, c = float(self.clock[steps.T]), self.engine.conditions
        return self.state_of(t, y, c.near, c.stops[:, HOLDS] != 0, self.tail)

    def _keep_present(self, kept: Kept) -> None:
        """The present state as a row of the run."""
        held = self.engine.conditions.stops[None, :, HOLDS] != 0
        kept.add(
            self.clock[:1], self.y[None], self.engine.conditions.near[None],
            self.run_arrays.moved[None], held, self.tail[None],
        )  # fmt: skip

    def _keep_rest(self, kept: Kept) -> None:
        """Keep the rows of a call that did not return; the start, if there are none."""
        self._keep_rows(kept)
        if not kept.seen:
            self._keep_present(kept)

    def _keep_rows(self, kept: Kept) -> None:
        """Rows and notes that the last call has filled."""
        filled, noted = int(self.counts[steps.ROOM]), int(self.counts[steps.NOTED])
        end = self.look(self, filled) if self.look is not None and filled else None
        before = filled if end is None else int(np.searchsorted(self.rows.t[:filled], end[0][0]))
        kept.add(*(array[:before] for array in self.rows[:COLUMNS]))
        self.notes.take(self.rows, noted)
        if end is not None:
            self.rested = True
            kept.end_with(*end)
            self.notes.end_at(float(end[0][0]))
        self.counts[steps.ROOM] = self.counts[steps.NOTED] = self.counts[steps.JUMPED] = 0

    def row(self, k: int) -> tuple[Any, ...]:
        """A row that the last call has filled, as `Look` gives it."""
        return tuple([array[k : k + 1] for array in self.rows[:COLUMNS]])

    def state_of(
        self, t: float, states: Floats, angles: Floats, held: Bools, further: Floats
    ) -> State:
        """The state in a row of the run, as that moves it."""
        holding = tuple(
            label for label, holds in zip(self.layout.labels, held, strict=True) if holds
        )
        merged = None if self.entry.merger is None else bodies_of(states)
        return state_at(
            self.start, float(t), self.entry.expand(states), angles, holding, None, merged, further
        )

    def _loop(self, why: int, kept: Kept, progress: Callable[[float], None] | None) -> Stop:
        """Call the kernels until the run is over; why: the reason why the last call ended."""
        e = self.engine
        while True:
            if progress is not None and self.counts[steps.STEPS] > 0:
                e.python.t = float(self.clock[steps.T])
                progress(float(self.clock[steps.T]))
            if self.rested:
                return Stop.REST
            if why in ENDS:
                return ENDS[why]
            if e.python.halted:
                return Stop.INTERRUPTED
            room = self._room()
            if room <= 0:
                return Stop.STEPS
            why = self.pass_end(self.advance(room))
            self._raise_pending(why)
            self._keep_rows(kept)
            self._check_functions(why)
            if why == integrator.AT_POSE:  # after an impact in a singular pose
                why = self._leave_struck(kept)
            if why == integrator.JAMMED:
                self.notes.add_jam(
                    e, float(self.clock[steps.T]), bodies_of(self.y), int(self.counts[steps.ANSWER])
                )
            if why == integrator.UNHOLDABLE:
                loop = self.layout.loop(int(self.clock[steps.WEAK_ROW]))
                self.notes.events.append(Happening(float(self.clock[steps.T]), UNHELD, joints=loop))

    def pass_end(self, why: int) -> int:
        """Why a call ended; at the last of the planned times the run continues with a new plan."""
        arrived = why == integrator.ARRIVED and not self.last
        if not arrived and (why != integrator.GOING or not self.controls.is_crowded()):
            return why
        self._plan()
        return integrator.GOING

    def _room(self) -> int:
        """How many steps a call may take."""
        most, rows = self.settings.max_steps, len(self.rows.t) - 1
        return rows if most is None else min(rows, most - int(self.counts[steps.STEPS]))

    def first_steps(self, room: int) -> int:
        """The start as the first row, and steps as `advance`; returns why they have ended."""
        return self._advance(True, room)

    def advance(self, room: int) -> int:
        """Take steps until Python must act; returns why they ended."""
        return self._advance(False, room)

    def _advance(self, fresh: bool, room: int) -> int:
        e = self.engine
        arrays = (
            self.run_arrays, e.model, e.conditions, e.scratch, self.table, self.watch, self.rows,
        )  # fmt: skip
        if self.controls.loops:
            return int(ADVANCE_SAMPLED.run(*arrays, self.controls.board, fresh, room))
        return int(ADVANCE.run(*arrays, fresh, room))

    def leave_end(self) -> int:
        """Continue after a step that ended at a planned time; returns why not, or GOING."""
        e = self.engine
        arrays = self.run_arrays, e.model, e.conditions, e.scratch, self.watch, self.rows
        if self.controls.loops:
            return int(sampling.pass_sample(*arrays, self.controls.board))
        return int(integrator.pass_end(*arrays))

    def settings_between(self) -> Settings:
        """The settings for recomputing states between rows."""
        return self.settings

    def _resting(self) -> bool:
        """Record the rest in which the run begins; returns whether it ends with it."""
        begun = zip(self.watched, self.watch.values[:, VALUE], strict=True)
        rests = [w.event for w, v in begun if w.line[0] == REST and v <= 0.0]
        self.notes.events += [Happening(float(self.clock[steps.T]), event.name) for event in rests]
        return any(event.terminal for event in rests)

    def python_values(self) -> None:
        """Evaluate the watched functions that are Python's, at the state of the kernels."""
        states, asked = self.layout.states, self.watch.asked.reshape(-1)
        y, near = self.entry.expand(states.rows_in(asked)), self.engine.conditions.near
        state = state_at(self.start, self.engine.python.t, y, near, further=states.tail_in(asked))
        state = state.next_to(near)  # those of a state close by
        for k, w in enumerate(self.watched):
            if isinstance(w.event, When):
                self.watch.values[k, TRIAL] = ask(w.event, state)
            elif isinstance(w.event, Threshold) and w.measure is None:
                self.watch.values[k, TRIAL] = ask_measure(w.event, self.selection, state)

    def _course(self, kept: Kept, stop: Stop) -> Course:
        c = self.counts
        counts = Counts(int(c[steps.EVALUATIONS]), int(c[steps.STEPS]), int(c[steps.REJECTIONS]))
        t, rows, angles, drift, held, tail = kept.arrays()
        states, merged = rows, None
        if self.entry.merger is not None:
            states, drift[0] = self.entry.expand(rows), np.maximum(drift[0], self.entry.drift)
            merged = bodies_of(rows)[-1].copy()
            if np.array_equal(bodies_of(rows)[0], self.entry.rows):  # as it was given, to the bit
                bodies_of(states)[0] = self.entry.start
        step, stops = float(self.clock[steps.H]), self.layout.labels
        events, jumps = tuple(self.notes.events), tuple(self.notes.jumps)
        if stop in (Stop.NOT_FINITE, Stop.FAILED):  # what a step has told that is not kept
            events = tuple(event for event in events if event.t <= t[-1])
        if stop in (Stop.NOT_FINITE, Stop.COLLAPSE) and tail.size:
            events += bent_too_far(self.start, self.selection, t, states, angles, tail)
        return Course(
            t, states, angles, drift, stop, events, counts, step, held, stops, merged,
            tail if tail.size else NO_TAILS, jumps, *self.controls.leave(),
            tuple(self.notes.departures),
        )  # fmt: skip


#: What is asked after each compiled call, with the number of rows that it filled: None, or the row
#: with which the run is to end: times, states, angles, drift, stops held, tails (1, ...).
Look: TypeAlias = Callable[[Driver, int], tuple[Any, ...] | None]
