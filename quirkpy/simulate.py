"""`simulate`: the driver of a run.  Kernels take the steps; here events are located, rows kept, and ends explained."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from scipy.optimize import brentq

from quirkpy.course import Buffers, Counts, Course, Happening, Keep, Kept, Stop
from quirkpy.kernels import integrator, ledger
from quirkpy.kernels.arrays import OMEGA, STATE_WIDTH, Q, R, V, state_rows
from quirkpy.kernels.callbacks import PythonParts
from quirkpy.kernels.closure import RUNNING_PIVOT
from quirkpy.kernels.engine import Engine
from quirkpy.kernels.methods import TABLES, Method
from quirkpy.kernels.watch import ENERGY, MEETING, PYTHON, REST, Watch
from quirkpy.parts.checks import Floats, number, optional, positive
from quirkpy.parts.event import AtRest, EnergyBelow, Event, SensorsMeet, When
from quirkpy.parts.part import PartError
from quirkpy.state import State
from quirkpy.tables import Selection

Drift: TypeAlias = Literal["project", "none"]
EnergyControl: TypeAlias = Literal["free", "conserve"]

#: Rows that one compiled call may fill: at most, and so that a call lasts well below a second.
MOST_ROWS = 256
EFFORT_PER_CALL = 40_000
#: Events this close to the first one [s] happen together.
TOGETHER = 1e-10
#: How far outside its range, relative to reach or alignment, a pair of sensors may begin and still count as inside.
RIM = 1e-6
#: What stands for the value of a watched function at its crossing; its sign is that of the side where it goes on.
JUST_CROSSED = float(np.finfo(float).tiny)
#: A start that misses the joints by more than this [m or rad], or slips by more [m/s or rad/s], is projected first.
START_TOLERANCE = 1e-10


class Watched(NamedTuple):
    """One watched function: the event that it belongs to, its line in the kernels' table, its sensors."""

    event: Event
    line: tuple[int, int, int]
    numbers: tuple[float, float, float]
    direction: int
    sensors: tuple[str, ...] = ()


@dataclass(frozen=True)
class Settings:
    """How a run is made; see `Multibody.simulate`."""

    rtol: float
    atol: float
    drift: Drift
    energy: EnergyControl
    method: Method
    step: float | None
    keep: Keep | int
    max_steps: int | None


def watched_functions(selection: Selection, events: Sequence[Event]) -> list[Watched]:
    """What the events of a run ask for, in their order."""
    if not isinstance(events, (list, tuple)):
        raise PartError(f"simulate: stop is {events!r}, but must be a list of events, such as [qp.AtRest()].")
    out = []
    for event in events:
        if isinstance(event, AtRest):
            out.append(Watched(event, (REST, 0, 0), (event.speed, event.acceleration, 0.0), -1))
        elif isinstance(event, EnergyBelow):
            out.append(Watched(event, (ENERGY, 0, 0), (event.energy, 0.0, 0.0), -1))
        elif isinstance(event, SensorsMeet):
            out += meetings(selection, event)
        elif isinstance(event, When):
            direction = {"falling": -1, "rising": 1, "both": 0}[event.direction]
            out.append(Watched(event, (PYTHON, len(out), 0), (0.0, 0.0, 0.0), direction))
        else:
            raise PartError(f"simulate: {event!r} in stop= is no event; give AtRest, EnergyBelow, SensorsMeet or When.")
    return out


def meetings(selection: Selection, event: SensorsMeet) -> list[Watched]:
    """One function for each pair of sensors that may notice each other."""
    t = selection.tables
    out = []
    for i, one in enumerate(t.sensors):
        for j, two in enumerate(t.sensors[:i]):
            if t.sensor_accepts[i, j] and t.site_body[t.sensor_site[i]] != t.site_body[t.sensor_site[j]]:
                reach, alignment = min(one.reach, two.reach), min(one.alignment, two.alignment)
                line = (MEETING, int(t.sensor_site[j]), int(t.sensor_site[i]))
                roll = two.roll or one.roll or 0.0
                out.append(Watched(event, line, (reach, alignment, roll), -1, (two.name, one.name)))
    return out


def check_settings(duration: Any, s: Settings) -> float:
    """The duration, when all that a run is asked for makes sense."""
    try:
        span = positive(duration)
    except (TypeError, ValueError) as error:
        raise PartError(f"simulate: duration {error}; give it in seconds.") from None
    for name, check in (("rtol", positive), ("atol", positive), ("step", optional(positive))):
        try:
            check(getattr(s, name))
        except (TypeError, ValueError) as error:
            raise PartError(f"simulate: {name} {error}.") from None
    for name, options in (("drift", Drift), ("energy", EnergyControl), ("method", Method)):
        if getattr(s, name) not in get_args(options):
            words = ", ".join(map(repr, get_args(options)))
            raise PartError(f"simulate: {name} is {getattr(s, name)!r}, but must be one of {words}.")
    if s.keep not in get_args(Keep) and not (isinstance(s.keep, int) and not isinstance(s.keep, bool) and s.keep > 0):
        raise PartError(f"simulate: keep is {s.keep!r}, but must be 'all', 'ends' or a whole number of steps.")
    if s.max_steps is not None and not (type(s.max_steps) is int and s.max_steps > 0):
        raise PartError(f"simulate: max_steps is {s.max_steps!r}, but must be None or a whole number above zero.")
    return span


class Driver:
    """One run: the state of the integrator, and the loop around `advance`."""

    def __init__(self, engine: Engine, start: State, duration: float, events: Sequence[Event], s: Settings) -> None:
        self.engine, self.start, self.settings = engine, start, s
        self.table = TABLES[s.method]
        n = len(start.r)
        self.y = np.zeros((n + 1, STATE_WIDTH))
        self.y[:n] = state_rows(start.r, start.q, start.v, start.omega)
        rows = 16 if s.method == "dop853" else len(self.table.b) + 2
        self.K = np.zeros((rows, n + 1, STATE_WIDTH))
        self.raw, self.out = np.zeros_like(self.y), np.zeros((n, 6))
        self.moved, self.counts = np.zeros(2), np.zeros(4, dtype=np.int64)
        self.watched = watched_functions(engine.selection, events)
        self.watch = Watch(
            np.array([w.line for w in self.watched], dtype=np.int64).reshape(-1, 3),
            np.array([w.numbers for w in self.watched]).reshape(-1, 3),
            np.array([w.direction for w in self.watched], dtype=np.int64),
        )
        self.values = np.zeros(len(self.watched))
        self.python = PythonParts(
            engine, self._python_values if any(w.line[0] == PYTHON for w in self.watched) else None
        )
        fixed = s.step if s.step is not None else 0.0
        end = start.t + duration
        conserving = float(s.energy == "conserve")
        self.clock = np.array([start.t, fixed, end, s.rtol, s.atol, fixed or math.inf, fixed, conserving, 0.0])
        self.events: list[Happening] = []
        engine.scratch.report[2] = RUNNING_PIVOT

    # --- the loop -----------------------------------------------------------------------------------------------
    def run(self, progress: Callable[[float], None] | None = None) -> Course:
        """Step until the end; what is computed survives an interruption and a user's exception."""
        kept = Kept(self.settings.keep)
        self.buffers = Buffers.make(self._rows(), self.y, len(self.engine.model.joints.near))
        try:
            self._begin()
            self._keep_present(kept)
            stop = self._loop(kept, progress)
        except KeyboardInterrupt:
            self._keep_rest(kept)
            stop = Stop.INTERRUPTED
        except Exception as error:
            self._keep_rest(kept)
            error.add_note(
                f"at t = {self.python.t:.12g} s; the run up to there is the attribute `trajectory` of this error"
            )
            error.course = self._course(kept, Stop.FAILED)  # type: ignore[attr-defined]
            raise
        finally:
            self.engine.scratch.report[2] = self.engine.pivot
        return self._course(kept, stop)

    def _keep_present(self, kept: Kept) -> None:
        """The present state as a row of the run."""
        kept.add(self.clock[:1], self.y[None], self.engine.model.joints.near[None], self.moved[None])

    def _keep_rest(self, kept: Kept) -> None:
        """What a call that did not return has filled; the start, when there is nothing else."""
        kept.add_rows(self.buffers, int(self.counts[integrator.ROOM]))
        if not kept.seen:
            self._keep_present(kept)

    def _begin(self) -> None:
        """The start on the constraints, its derivative, first step and watched values."""
        e = self.engine
        e.model.joints.near[:] = self.start.instant(e.selection).near
        if self.settings.drift == "project":
            self._project_start()
        self._refresh()
        self.clock[integrator.ENERGY] = ledger.energy_of(e.model, e.scratch)
        e.model.joints.near[:] = self.start.instant(e.selection).near
        self.python.remember_angles(e.model, e.scratch)
        if self.clock[integrator.H] == 0.0:
            span = self.clock[integrator.T_END] - self.clock[integrator.T]
            first = integrator.first_step(self.y, self.K[0], span, self.settings.rtol, self.settings.atol)
            self.clock[integrator.H] = self.start.step or first
        self._evaluate_watched()
        for k, w in enumerate(self.watched):  # a pair on the rim of its range is in it, until it has parted
            if w.line[0] == MEETING and self.values[k] <= RIM:
                self.values[k] = min(self.values[k], -JUST_CROSSED)

    def _project_start(self) -> None:
        """Onto the constraints where the start misses them, and not a bit otherwise: a run goes on where it stopped."""
        e, trial = self.engine, self.y.copy()
        self.python.project(trial, e.model, e.scratch, e.freedoms, self.moved)
        if self.moved.max() > START_TOLERANCE:
            self.y[:] = trial
        else:
            self.moved[:] = 0.0

    def _loop(self, kept: Kept, progress: Callable[[float], None] | None) -> Stop:
        e, b = self.engine, self.buffers
        if self._resting():
            return Stop.EVENT
        most = self.settings.max_steps
        while True:
            room = len(b.t) if most is None else min(len(b.t), most - int(self.counts[integrator.STEPS]))
            if room <= 0:
                return Stop.STEPS
            why = self.python.advance(
                self.clock, self.counts, self.y, self.K, self.raw, e.model, e.scratch, e.freedoms, self.table,
                self.settings.drift == "project", self.watch, self.values, self.out, self.moved,
                b.t[:room], b.states, b.angles, b.drift,
            )  # fmt: skip
            filled = int(self.counts[integrator.ROOM])
            kept.add_rows(b, filled)
            self.counts[integrator.ROOM] = 0
            if progress is not None:
                self.python.t = float(self.clock[integrator.T])
                progress(float(self.clock[integrator.T]))
            if why == integrator.CROSSED and self._cross(kept, filled):
                return Stop.EVENT
            if why in ENDS:
                return ENDS[why]

    def _resting(self) -> bool:
        """Record the rest in which the run begins; returns whether it ends with it."""
        rests = [w.event for w, v in zip(self.watched, self.values, strict=True) if w.line[0] == REST and v <= 0.0]
        self.events += [Happening(float(self.clock[integrator.T]), event.name) for event in rests]
        return any(event.terminal for event in rests)

    def _rows(self) -> int:
        return max(1, min(MOST_ROWS, EFFORT_PER_CALL // max(1, len(self.y))))

    def _refresh(self) -> None:
        """dy/dt at y into K[0]."""
        e = self.engine
        self.python.derivative(self.clock[integrator.T], self.y, e.model, e.scratch, e.freedoms, self.out, self.K[0])
        self.counts[integrator.EVALUATIONS] += 1

    def _evaluate_watched(self) -> None:
        e, t = self.engine, self.clock[integrator.T]
        self.python.watched(t, self.y, self.out, e.model, e.scratch, self.watch, self.values)

    # --- events -------------------------------------------------------------------------------------------------
    def _cross(self, kept: Kept, row: int) -> bool:
        """Locate what happened in the step that `advance` left at its beginning; returns whether the run ends."""
        e, t0, b = self.engine, float(self.clock[integrator.T]), self.buffers
        t1, end = float(b.t[row]), b.states[row].copy()
        h = t1 - t0
        F = np.zeros((len(self.table.d) + (3 if self.table.order == 7 else 0), *self.y.shape))
        self.python.interpolant(
            self.clock, h, self.y, self.K, self.raw, e.model, e.scratch, e.freedoms, self.table, self.out, F
        )
        before = self.values.copy()
        inside, values, dy = np.empty_like(self.y), np.empty_like(self.values), np.empty_like(self.y)

        def value(x: float, k: int) -> float:
            """Watched function k at the fraction x of the step."""
            if x == 0.0:
                return float(before[k])
            if x == 1.0:
                inside[:] = end
            else:
                integrator.interpolate(x, self.y, self.raw, end, F, self.table.order, inside)
            self.python.derivative(t0 + x * h, inside, e.model, e.scratch, e.freedoms, self.out, dy)
            self.python.watched(t0 + x * h, inside, self.out, e.model, e.scratch, self.watch, values)
            return float(values[k])

        value(1.0, 0)
        now, way = values.copy(), self.watch.direction
        every = [slice(k, k + 1) for k in range(len(now))]
        crossed = [k for k, s in enumerate(every) if integrator.crossed(before[s], now[s], way[s])]
        roots = {k: self._root(value, k, h, now[k]) for k in crossed}
        first = min(roots.values(), default=1.0)
        together = [k for k in crossed if (roots[k] - first) * h <= TOGETHER]
        self._land(kept, t0 + first * h, first, end, F)
        for k in together:
            self.values[k] = -math.copysign(JUST_CROSSED, before[k])
            w = self.watched[k]
            self.events.append(Happening(t0 + first * h, w.event.name, w.sensors))
        return any(self.watched[k].event.terminal for k in together)

    def _root(self, value: Callable[[float, int], float], k: int, h: float, end: float) -> float:
        """The fraction of a step of length h at which watched function k crosses zero.

        Where it has just done so, its value there is rounding: it is asked again a little later.
        """
        first = min(0.5, TOGETHER / h) if abs(self.values[k]) == JUST_CROSSED else 0.0
        if value(first, k) * end >= 0.0:
            return first if end != 0.0 else 1.0
        return float(brentq(value, first, 1.0, args=(k,), xtol=1e-15, rtol=1e-15))

    def _land(self, kept: Kept, t: float, x: float, end: Floats, F: Floats) -> None:
        """Make the state at the event the present one, on the constraints."""
        e, y = self.engine, self.y.copy()
        if x < 1.0:
            integrator.interpolate(x, self.y, self.raw, end, F, self.table.order, y)
            if self.settings.drift == "project":
                self.python.project(y, e.model, e.scratch, e.freedoms, self.moved)
        else:
            y[:] = end
        self.y[:] = y
        self.clock[integrator.T] = t
        self._refresh()
        self._evaluate_watched()
        self.python.remember_angles(e.model, e.scratch)
        self.counts[integrator.STEPS] += 1
        self._keep_present(kept)

    def _python_values(self, t: float, y: Floats, values: Floats) -> None:
        """Watched functions that are Python's."""
        state = state_at(self.start, t, y, self.engine.model.joints.near)
        for k, w in enumerate(self.watched):
            if isinstance(w.event, When):
                values[k] = ask(w.event, state)

    def _course(self, kept: Kept, stop: Stop) -> Course:
        c = self.counts
        counts = Counts(int(c[integrator.EVALUATIONS]), int(c[integrator.STEPS]), int(c[integrator.REJECTIONS]))
        t, states, angles, drift = kept.arrays()
        return Course(t, states, angles, drift, stop, tuple(self.events), counts, float(self.clock[integrator.H]))


ENDS = {
    integrator.ARRIVED: Stop.END,
    integrator.COLLAPSED: Stop.COLLAPSE,
    integrator.NOT_FINITE: Stop.NOT_FINITE,
}


def ask(event: When, state: State) -> float:
    """The value of a user's event function."""
    try:
        value = event.function(state)
    except Exception as error:
        error.add_note(f"in the function of When {event.name!r}")
        raise
    try:
        return number(value)
    except (TypeError, ValueError) as error:
        raise event.refuse(f"its function at t = {state.t} {error}.") from None


def state_at(start: State, t: float, y: Floats, angles: Floats) -> State:
    """A row of a run as a state of the system in which it began."""
    n = len(start.r)
    r, q, v, omega = (y[:n, i:j].copy() for i, j in ((R, Q), (Q, V), (V, OMEGA), (OMEGA, STATE_WIDTH)))
    zero = np.zeros(len(angles), dtype=np.int64)
    bare = State(t, start.bodies, r, q, v, omega, start.joints, zero, start.selection)
    return bare.with_angles(angles)
