"""Controllers at work in a run: samples, and commands that stand as schedules in tables of its own.

A command is a schedule of which the knots are written as the run goes on: a run with controllers
is, to the bit, one with schedules that say what was commanded, and afterwards it is kept as such
(`with_commands`)."""

from __future__ import annotations

import copy
import math
from collections import deque
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from quirkpy.kernels.act.measures import measures_along
from quirkpy.kernels.base.arrays import KNOT_TIME, KNOT_VALUE, Joints, Schedules
from quirkpy.kernels.place.kinematics import ground_frames
from quirkpy.kernels.users.packing import pack
from quirkpy.maths import quat
from quirkpy.maths.types import Floats
from quirkpy.mechanics.clusters import Entry
from quirkpy.mechanics.controls import ControlState, value_between
from quirkpy.mechanics.measures import WXYZ, Measure, Portion, kernel_measures, measure_of
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.motion.course import ControlRecord, Course
from quirkpy.parts.checks import real, show
from quirkpy.parts.controller import Controller
from quirkpy.tables.commands import Commands, write_commands
from quirkpy.tables.drives import KNOTS, Drive
from quirkpy.tables.tables import Selection, Tables
from quirkpy.tables.vary import selection_on, with_numbers

#: A sample this near to a time, in periods, is taken there: at the end of a run by the next one.
NEAR = 1e-9
#: Periods are written down as fractions with denominators up to this, where these are they.
SIMPLEST = 10**6


def fraction_of(x: float) -> Fraction:
    """The simplest fraction that is a number to the bit: of 0.1 one tenth."""
    near = Fraction(x).limit_denominator(SIMPLEST)
    return near if float(near) == x else Fraction(x)


class Clock:
    """When a controller takes its samples: every period from a time [s] on, each to the bit where
    that lies; and when the commands of these take effect."""

    def __init__(self, begun: float, period: float, delay: float) -> None:
        parts = [fraction_of(x) for x in (begun, period, delay)]
        self.scale = math.lcm(*(part.denominator for part in parts))
        self.first, self.step, self.late = (int(part * self.scale) for part in parts)
        self.begun, self.near = begun, NEAR * period

    def sample(self, k: int) -> float:
        """The time of sample k [s]."""
        return (self.first + k * self.step) / self.scale

    def effect(self, k: int) -> float:
        """When the command of sample k takes effect [s]."""
        return (self.first + k * self.step + self.late) / self.scale


class DrivenField:
    """A drive on its way through a run: knots of the field in whose place commands stand, and the
    last of them in the tables of the run."""

    def __init__(
        self, drive: Drive, t: Tables, begun: float, known: tuple[Any, Any] | None
    ) -> None:
        self.drive, self.slots = drive, [t.knots(s) for s in t.commanded(drive)]
        written = getattr(t.forces[t.force_index[drive.force]], drive.field)
        times, values = ((begun,), (written,)) if known is None else known
        self.times = [float(time) for time in times]
        self.values = [np.array(value, dtype=float) for value in values]
        self.held = drive.interpolation == "hold"

    def field_of(self, command: Floats) -> Floats:
        """A command in as many numbers as the field has."""
        if command.shape == self.drive.shapes[0]:
            return command
        return np.array([0.0, 0.0, float(command)])  # along z

    def value_at(self, t: float) -> Floats:
        """What stands in the field at a time."""
        here, values = np.array(self.times[-2:]), np.array(self.values[-2:])
        return value_between(t, here, values, self.held)

    def follow(self, command: Floats, t: float, until: float) -> None:
        """Let a command act from a time to the next [s]."""
        wanted = self.field_of(command)
        if self.held:
            self._add(t, wanted)
            return
        here = self.value_at(t)
        self._add(t, here)
        self._add(until, here - wanted * (until - t) if self.drive.rising else wanted)

    def _add(self, t: float, value: Floats) -> None:
        """A knot; in place of those that it comes before."""
        while self.times and self.times[-1] >= t:
            self.times.pop()
            self.values.pop()
        self.times.append(t)
        self.values.append(value)

    def write(self, knots: Floats) -> None:
        """The last knots into the tables; where there are fewer, the first holds before it."""
        count = KNOTS[self.drive.interpolation]
        times, values = self.times[-count:], self.values[-count:]
        while len(times) < count:
            times, values = [times[0] - 1.0, *times], [values[0], *values]
        for slot, matrix in zip(self.slots, self.drive.matrices, strict=True):
            knots[slot, KNOT_TIME] = times
            for row, value in zip(range(slot.start, slot.stop), values, strict=True):
                knots[row, KNOT_VALUE:] = matrix @ np.atleast_1d(value)

    def last(self) -> tuple[tuple[float, ...], tuple[Any, ...]]:
        """The knots between which it goes now."""
        return tuple(self.times[-2:]), tuple(value.tolist() for value in self.values[-2:])


class Readings:
    """What names measure at an instant of a run, in one compiled call for all that kernels know."""

    def __init__(self, who: str, names: Sequence[str], selection: Selection) -> None:
        t = selection.tables
        self.selection, self.packed = selection, pack(t)
        self.names = [(name, measure_of(who, t, name)) for name in names]
        lines = [line for _, found in self.names for line in found.lines]
        self.measures = kernel_measures(t, lines) if lines else None
        self.frames, self.out = ground_frames(t.n_bodies), np.zeros((1, len(lines)))
        near = np.zeros(len(self.packed.coordinates))
        self.joints = Joints(self.packed.ends, self.packed.coordinates, near)

    def __call__(self, at: Portion, schedules: Schedules) -> dict[str, Any]:
        """What is measured, by name, with the commands that stand in schedules."""
        p = self.packed
        if self.measures is not None:
            measures_along(
                at.t, at.states, at.angles, self.measures, p.elements,
                self.joints, schedules, p.bodies, p.sites, self.frames, self.out,
            )  # fmt: skip
        return dict(self._read(at, schedules))

    def _read(self, at: Portion, schedules: Schedules) -> Any:
        first = 0
        for name, found in self.names:
            if not found.lines:
                yield name, as_given(found, self._ask(found, at, schedules))
                continue
            numbers = self.out[0, first : first + len(found.lines)]
            first += len(found.lines)
            yield name, as_given(found, numbers.reshape(found.shape))

    def _ask(self, found: Measure, at: Portion, schedules: Schedules) -> Floats:
        """What no kernel measures, under the commands of this instant."""
        arrays = {"knot_time": schedules.knots[:, KNOT_TIME].copy(),
                  "knot_value": schedules.knots[:, KNOT_VALUE:].copy()}  # fmt: skip
        tables = with_numbers(self.selection.tables, arrays)
        here = selection_on(tables, self.selection)
        return np.asarray(found.along(Portion(here, at.t, at.states, at.angles))[0])


def as_given(found: Measure, values: Floats) -> Any:
    """What is measured as a controller gets it: a number, an array of its own, a quaternion."""
    if found.parts == WXYZ:
        return quat.from_array(values)
    return np.array(values) if values.ndim else float(values)


class Loop:
    """A controller at work in a run."""

    def __init__(self, controller: Controller, drives: Sequence[Drive], selection: Selection,
                 written: Tables, start: State) -> None:  # fmt: skip
        self.controller, self.selection = controller, selection
        known = state_of(start, controller.name)
        lines, self.memory = dict(known.lines), copy.deepcopy(dict(known.memory))
        self.fields = [DrivenField(d, written, start.t, lines.get(d.name)) for d in drives]
        self.readings = Readings("reads", controller.reads, selection)
        self.limit, self.noise, self.quantum = (
            dict(some) for some in (controller.limit, controller.noise, controller.quantum)
        )
        self.t: list[float] = []
        self.measured: list[list[Floats]] = [[] for _ in controller.reads]
        self.command: list[list[Floats]] = [[] for _ in drives]
        self._take_up(known, start.t)

    def _take_up(self, known: ControlState, t: float) -> None:
        """Go on with the samples of an earlier run, if the next of them is still to come."""
        period, delay = self.controller.period, self.controller.delay
        begun = t if known.begun is None else known.begun
        self.clock, self.samples = Clock(begun, period, delay), known.samples
        self.pending = deque(
            (k, [np.array(value) for value in values]) for k, values in known.pending
        )
        ahead = self.clock.sample(self.samples) - t
        if known.begun is None or not -self.clock.near <= ahead <= period + self.clock.near:
            self.clock, self.samples = Clock(t, period, delay), 0
            self.pending.clear()

    @property
    def due(self) -> float:
        """The time of the next sample, or at which a command takes effect [s]."""
        sample = self.clock.sample(self.samples)
        return min(sample, self.clock.effect(self.pending[0][0])) if self.pending else sample

    def turn(self, t: float, end: float, at: Portion, schedules: Schedules) -> None:
        """Sample, and let commands act, as far as the time has come; end: of the run [s]."""
        while self.clock.sample(self.samples) <= t + self.clock.near:
            self.pending.append((self.samples, self._ask(t, at, schedules)))
            self.samples += 1
        while self.pending and self.clock.effect(self.pending[0][0]) <= t + self.clock.near:
            k, commands = self.pending.popleft()
            until = self.clock.effect(k + 1)
            until = end if abs(until - end) <= self.clock.near else until
            for field, command in zip(self.fields, commands, strict=True):
                field.follow(command, t, until)
                field.write(schedules.knots)

    # --- a sample ---------------------------------------------------------------------------------
    def _ask(self, t: float, at: Portion, schedules: Schedules) -> list[Floats]:
        """What the controller commands at an instant."""
        measured = self.readings(at, schedules)
        if self.noise:
            self._disturb(measured)
        for name, step in self.quantum.items():
            measured[name] = step * np.round(measured[name] / step)
        told = [_as_array(measured[name]) for name in self.controller.reads]
        try:
            made = self.controller.command(t, measured, self.memory)
        except Exception as error:
            error.add_note(f"in command(t, measured, memory) of {name_of(self.controller)}")
            raise
        commands = self._checked(made, t)
        self.t.append(t)
        for column, value in zip((*self.measured, *self.command), (*told, *commands), strict=True):
            column.append(value)
        return commands

    def _disturb(self, measured: dict[str, Any]) -> None:
        """Add what `noise` says, the same for each sample of each seed."""
        rng = np.random.default_rng((self.controller.seed, self.samples))
        for name, size in self.noise.items():
            value = measured[name]
            if isinstance(value, quat.Quaternion):
                turn = size * rng.normal(size=3)
                angle = float(np.linalg.norm(turn))
                measured[name] = value * quat.rotation(turn, angle) if angle else value
            else:
                off = size * rng.normal(size=np.shape(value))
                measured[name] = value + (off if np.ndim(value) else float(off))

    def _checked(self, made: Any, t: float) -> list[Floats]:
        """The commands, when they are such."""
        who, drives = self.controller, self.controller.drives
        if not isinstance(made, Mapping):
            raise who.refuse(
                f"command at t = {t:.9g} s returned {show(made)}, but must return a dict, such as "
                f"{{{drives[0]!r}: 0.0}}."
            )
        for name in (*(n for n in drives if n not in made), *(n for n in made if n not in drives)):
            said = "nothing for" if name in drives else "something for"
            raise who.refuse(
                f"command at t = {t:.9g} s returned {said} {name!r}; it drives "
                f"{', '.join(map(repr, drives))}, so return these, neither more nor less."
            )
        both = zip(self.fields, self.command, strict=True)
        return [self._number(made[field.drive.name], field.drive, t, before)
                for field, before in both]  # fmt: skip

    def _number(self, value: Any, drive: Drive, t: float, before: list[Floats]) -> Floats:
        """One command within its limit."""
        shapes = (before[0].shape,) if before else drive.shapes
        begins = f"command at t = {t:.9g} s returned {show(value)} for {drive.name!r}, but"
        try:
            array = np.array(real(value))
        except (TypeError, ValueError):
            array = np.full((2, 2), np.nan)
        if array.shape not in shapes:
            words = " or ".join("three numbers" if shape else "one number" for shape in shapes)
            again = ", as before" if before else ""
            raise self.controller.refuse(f"{begins} that takes {words}{again}.")
        if not np.isfinite(array).all():
            raise self.controller.refuse(f"{begins} every command must be finite.")
        most = self.limit.get(drive.name)
        return array if most is None else np.clip(array, -most, most)

    # --- what it leaves ---------------------------------------------------------------------------
    def record(self) -> ControlRecord:
        """The samples and commands of the run so far."""
        t, drives = self.selection.tables, [field.drive for field in self.fields]
        shapes = [measure_of("reads", t, name).shape for name in self.controller.reads]
        return ControlRecord(
            self.controller.name, np.array(self.t), tuple(self.controller.reads),
            tuple(map(_stack, self.measured, shapes)), tuple(drive.name for drive in drives),
            tuple(map(_stack, self.command, [drive.shapes[0] for drive in drives])),
            tuple(np.array(field.times) for field in self.fields),
            tuple(np.array(field.values) for field in self.fields),
        )  # fmt: skip

    def state(self) -> ControlState:
        """The controller as a state carries it."""
        lines = tuple((field.drive.name, field.last()) for field in self.fields)
        pending = tuple((k, tuple(one.tolist() for one in some)) for k, some in self.pending)
        memory = tuple(copy.deepcopy(self.memory).items())
        return ControlState(
            self.controller.name, self.clock.begun, self.samples, memory, lines, pending
        )


def name_of(controller: Controller) -> str:
    """A controller in a sentence."""
    return f"{type(controller).__name__} {controller.name!r}"


def _as_array(value: Any) -> Floats:
    return quat.to_array(value) if isinstance(value, quat.Quaternion) else np.array(value, float)


def _stack(rows: list[Floats], shape: tuple[int, ...]) -> Floats:
    """Rows as an array, also where there are none."""
    return np.array(rows) if rows else np.zeros((0, *shape))


def state_of(start: State, name: str) -> ControlState:
    """How a controller stands where a run begins; one that the state does not know begins anew."""
    return next((one for one in start.controls if one.name == name), ControlState(name))


class Controls:
    """The controllers of a run at work, if there are any, and the schedules in which their commands
    stand."""

    def __init__(self, selection: Selection, entry: Entry, start: State) -> None:
        t, layout = selection.tables, entry.layout
        moved = layout.selection.tables  # that of clusters, where locked bodies are one
        self.selection, self.entry, self.idle = selection, entry, start.controls
        self.schedules = layout.packed.schedules
        if len(selection.controllers):
            knots = self.schedules.knots.copy()
            self.schedules = self.schedules._replace(knots=knots)
        self.loops = [
            Loop(t.controllers[k], moved.drives[k], selection, t, start)
            for k in selection.controllers.tolist()
        ]
        for field in (field for loop in self.loops for field in loop.fields):
            field.write(self.schedules.knots)

    def due_before(self, end: float) -> float:
        """When one of them has something to do [s], before the end of a run; inf: not before."""
        times = [loop.due for loop in self.loops if loop.due < end - loop.clock.near]
        return min(times, default=math.inf)

    def has_knot(self, t: float) -> bool:
        """Whether commands bend at a time [s] to which they have been given."""
        return any(field.times[-1] == t for loop in self.loops for field in loop.fields)

    def turn(self, t: float, end: float, state: Floats, angles: Floats) -> None:
        """Let all of them do what has come due, at a state as the run moves it; end: of the run
        [s]."""
        rows = self.entry.expand(state)[None]
        at = Portion(self.selection, np.array([t]), rows, angles[None].copy())
        for loop in self.loops:
            loop.turn(t, end, at, self.schedules)

    def records(self) -> tuple[ControlRecord, ...]:
        """The samples and commands of all controllers."""
        return tuple(loop.record() for loop in self.loops)

    def states(self) -> tuple[ControlState, ...]:
        """Controllers as a state carries them; those that do not act begin anew when they do."""
        acting = {loop.controller.name for loop in self.loops}
        idle = (one._replace(begun=None) for one in self.idle if one.name not in acting)
        return (*(loop.state() for loop in self.loops), *idle)


# --- afterwards -----------------------------------------------------------------------------------
def with_commands(system: System, course: Course) -> System:
    """The system of a run in which what its controllers commanded stands as schedules, and which
    has no controllers any more; without controllers the same system."""
    t = system.tables
    if not t.controllers:
        return system
    drives = {drive.name: drive for some in t.drives for drive in some}
    commands = [
        Commands(drives[name], times, values)
        for record in course.records
        for name, times, values in zip(record.drives, record.times, record.values, strict=True)
    ]
    tables = write_commands(t, commands)
    chosen = selection_on(tables, system.selection)
    forces = {force.name: force for force in tables.forces}
    parts, candidates = (
        tuple(forces.get(getattr(part, "name", ""), part) for part in some
              if not isinstance(part, Controller))
        for some in (system.parts, system.candidates)
    )  # fmt: skip
    return type(system).from_checked(
        parts, candidates, system.start, tables=tables, selection=chosen, clusters=None,
        initial=system.initial.changed(selection=chosen),
    )  # fmt: skip


def controls_at(records: Sequence[ControlRecord], t: float) -> tuple[ControlState, ...]:
    """How controllers stand at a time within a run: what they command is known, and what they
    remember is not, so they begin anew from there."""
    return tuple(
        ControlState(
            record.name,
            lines=tuple(
                (name, _around(t, times, values))
                for name, times, values in zip(
                    record.drives, record.times, record.values, strict=True
                )
            ),
        )
        for record in records
    )


def _around(t: float, times: Floats, values: Floats) -> tuple[tuple[float, ...], tuple[Any, ...]]:
    """The knots between which a time lies."""
    k = max(int(np.searchsorted(times, t, side="right")) - 1, 0)
    return tuple(times[k : k + 2].tolist()), tuple(values[k : k + 2].tolist())
