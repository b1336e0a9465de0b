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
from typing import Any, NamedTuple

import numpy as np

from quirkpy.kernels.act.measures import STATE_NUMBER, measures_along
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
from quirkpy.parts.part import PartError
from quirkpy.tables.commands import Commands, write_commands
from quirkpy.tables.drives import KNOTS, Drive
from quirkpy.tables.tables import Selection, Tables
from quirkpy.tables.vary import selection_on, with_numbers

#: A sample this near to a time, in periods, is taken there: at the end of a run by the next one.
NEAR = 1e-9
#: A period must be so many times as long as what time is rounded to.
LEAST_PERIOD = 1e6
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
    """A field of a force in whose place commands stand, on its way through a run: knots, times [s]
    and values, and the last of them as rows of the tables of the run."""

    def __init__(
        self, drive: Drive, t: Tables, begun: float, known: tuple[Any, Any] | None
    ) -> None:
        self.drive, self.slots = drive, [t.knots(s) for s in t.commanded(drive)]
        self.held, self.count = drive.interpolation == "hold", KNOTS[drive.interpolation]
        self.matrices = [np.asarray(matrix).tolist() for matrix in drive.matrices]
        written = getattr(t.forces[t.force_index[drive.force]], drive.field)
        times, values = ((begun,), (written,)) if known is None else known
        self.times = [float(time) for time in times]
        self.values: list[tuple[float, ...]] = [_floats(value) for value in values]
        self.rows = [[row_of(matrix, *knot) for knot in zip(self.times, self.values, strict=True)]
                     for matrix in self.matrices]  # fmt: skip

    def value_at(self, t: float) -> tuple[float, ...]:
        """What stands in the field at a time."""
        if t == self.times[-1]:
            return self.values[-1]
        here, values = np.array(self.times[-2:]), np.array(self.values[-2:])
        return tuple(value_between(t, here, values, self.held).tolist())

    def follow(self, command: tuple[float, ...], t: float, until: float, near: float) -> None:
        """Let a command act from a time to the next [s]; knots that are near are one."""
        along_z = len(command) < self.drive.size
        wanted = (0.0, 0.0, *command) if along_z else command
        if self.held:
            self._add(t, wanted, near)
            return
        here, span = self.value_at(t), until - t
        self._add(t, here, near)
        rising = (x - rate * span for x, rate in zip(here, wanted, strict=True))
        self._add(until, tuple(rising) if self.drive.rising else wanted, near)

    def _add(self, t: float, value: tuple[float, ...], near: float) -> None:
        """A knot; in place of those that it comes before, or is near."""
        while self.times and self.times[-1] >= t - near:
            del self.times[-1], self.values[-1]
            for rows in self.rows:
                del rows[-1]
        self.times.append(t)
        self.values.append(value)
        for matrix, rows in zip(self.matrices, self.rows, strict=True):
            rows.append(row_of(matrix, t, value))

    def write(self, knots: Floats) -> None:
        """The last knots into the tables; where there are fewer, the first holds before it."""
        for slot, every in zip(self.slots, self.rows, strict=True):
            rows = every[-self.count :]
            while len(rows) < self.count:
                rows = [(rows[0][0] - 1.0, *rows[0][1:]), *rows]
            knots[slot] = rows

    @property
    def last(self) -> tuple[tuple[float, ...], tuple[tuple[float, ...], ...]]:
        """The knots between which it goes now."""
        return tuple(self.times[-2:]), tuple(self.values[-2:])

    def shaped(self, *values: tuple[float, ...]) -> Floats:
        """Values as the field has them (n,) or (n, 3)."""
        return np.array(values).reshape(-1, *self.drive.shapes[0])


def row_of(matrix: list[list[float]], t: float, value: Sequence[float]) -> tuple[float, ...]:
    """A knot as a row of tables: its time, and three numbers."""
    if len(value) == 1:
        return (t, *(row[0] * value[0] for row in matrix))
    x, y, z = value
    return (t, *(a * x + b * y + c * z for a, b, c in matrix))


def _floats(value: Any) -> tuple[float, ...]:
    """A number, or three, as a tuple."""
    return tuple(np.atleast_1d(np.asarray(value, dtype=float)).tolist())


class Readings:
    """What names measure at an instant of a run: numbers of the state are read, one compiled call
    measures all that kernels know, and Python is asked for the rest."""

    def __init__(self, who: str, names: Sequence[str], selection: Selection) -> None:
        t = selection.tables
        self.selection, self.packed = selection, pack(t)
        self.names = [(name, measure_of(who, t, name)) for name in names]
        lines = [line for _, found in self.names for line in found.lines]
        self.plain = all(kind == STATE_NUMBER for kind, _, _ in lines)
        self.cells = tuple(np.array([line[1:] for line in lines], dtype=object).reshape(-1, 2).T)
        if self.plain:
            self.cells = tuple(cells.astype(np.int64) for cells in self.cells)
        self.measures = kernel_measures(t, lines)
        self.frames, self.out = ground_frames(t.n_bodies), np.zeros((1, len(lines)))
        near = np.zeros(len(self.packed.coordinates))
        self.joints = Joints(self.packed.ends, self.packed.coordinates, near)

    def numbers(self, at: Instance, schedules: Schedules) -> list[list[float]]:
        """The numbers that each name measures, with the commands that stand in schedules."""
        flat, p, first, out = list[float](), self.packed, 0, []
        if self.plain:
            flat = at.rows[self.cells].tolist()
        else:
            measures_along(
                np.array([at.t]), at.rows[None], at.angles[None], self.measures, p.elements,
                self.joints, schedules, p.bodies, p.sites, self.frames, self.out,
            )  # fmt: skip
            flat = self.out[0].tolist()
        for _, found in self.names:
            many = len(found.lines)
            asked = flat[first : first + many] if many else self._ask(found, at, schedules)
            out.append(asked)
            first += many
        return out

    def _ask(self, found: Measure, at: Instance, schedules: Schedules) -> list[float]:
        """What no kernel measures, under the commands of this instant."""
        arrays = {"knot_time": schedules.knots[:, KNOT_TIME].copy(),
                  "knot_value": schedules.knots[:, KNOT_VALUE:].copy()}  # fmt: skip
        here = selection_on(with_numbers(self.selection.tables, arrays), self.selection)
        one = Portion(here, np.array([at.t]), at.rows[None], at.angles[None].copy())
        values: list[float] = np.asarray(found.along(one)[0]).reshape(-1).tolist()
        return values

    def give(self, numbers: list[list[float]]) -> dict[str, Any]:
        """What is measured as a controller gets it: numbers, arrays of its own, quaternions."""
        return {
            name: as_given(found, values)
            for (name, found), values in zip(self.names, numbers, strict=True)
        }


class Instance(NamedTuple):
    """A run at one instant: time [s]; all bodies, and the ledger (nb + 1, STATE_WIDTH); the angles
    next to which those of coordinates are taken [rad] (nc,)."""

    t: float
    rows: Floats
    angles: Floats


def as_given(found: Measure, values: list[float]) -> Any:
    """What one name measures, as a controller gets it."""
    if found.parts == WXYZ:
        return quat.Quaternion(*values)
    return np.array(values).reshape(found.shape) if found.shape else values[0]


class Loop:
    """A controller at work in a run."""

    def __init__(self, controller: Controller, drives: Sequence[Drive], selection: Selection,
                 written: Tables, start: State) -> None:  # fmt: skip
        self.controller, self.selection = controller, selection
        known = state_of(start, controller.name)
        lines, self.memory = dict(known.lines), copy.deepcopy(dict(known.memory))
        self.fields = [DrivenField(d, written, start.t, lines.get(d.name)) for d in drives]
        self.readings = Readings("reads", controller.reads, selection)
        if controller.period < LEAST_PERIOD * math.ulp(start.t):
            raise controller.refuse(
                f"period is {controller.period:g} s, too short beside t = {start.t:g} s, where the "
                "run begins; begin nearer to zero, with state.replace(t=0.0)."
            )
        self.limit, self.noise, self.quantum = (
            dict(some) for some in (controller.limit, controller.noise, controller.quantum)
        )
        self.t: list[float] = []
        self.measured: list[Any] = []
        self.command: list[Any] = []
        self.shapes: dict[str, tuple[int, ...]] = {}
        self._take_up(known, start.t)

    def _take_up(self, known: ControlState, t: float) -> None:
        """Go on with the samples of an earlier run, if the next of them is still to come."""
        period, delay = self.controller.period, self.controller.delay
        begun = t if known.begun is None else known.begun
        self.clock, self.samples = Clock(begun, period, delay), known.samples
        self.pending = deque((k, [_floats(one) for one in some]) for k, some in known.pending)
        ahead = self.clock.sample(self.samples) - t
        if known.begun is None or not -self.clock.near <= ahead <= period + self.clock.near:
            self.clock, self.samples = Clock(t, period, delay), 0
            self.pending.clear()

    @property
    def due(self) -> float:
        """The time of the next sample, or at which a command takes effect [s]."""
        sample = self.clock.sample(self.samples)
        return min(sample, self.clock.effect(self.pending[0][0])) if self.pending else sample

    def turn(self, t: float, end: float, at: Instance, schedules: Schedules) -> None:
        """Sample, and let commands act, as far as the time has come; end: of the run [s]."""
        while self.clock.sample(self.samples) <= t + self.clock.near:
            self.pending.append((self.samples, self._ask(t, at, schedules)))
            self.samples += 1
        while self.pending and self.clock.effect(self.pending[0][0]) <= t + self.clock.near:
            k, commands = self.pending.popleft()
            until = self.clock.effect(k + 1)
            until = end if abs(until - end) <= self.clock.near else until
            for field, command in zip(self.fields, commands, strict=True):
                field.follow(command, t, until, self.clock.near)
                field.write(schedules.knots)

    # --- a sample ---------------------------------------------------------------------------------
    def _ask(self, t: float, at: Instance, schedules: Schedules) -> list[tuple[float, ...]]:
        """What the controller commands at an instant."""
        told = self.readings.numbers(at, schedules)
        measured = self.readings.give(told)
        if self.noise or self.quantum:
            self._disturb(measured)
            told = [_numbers(measured[name]) for name in self.controller.reads]
        try:
            made = self.controller.command(t, measured, self.memory)
        except Exception as error:
            error.add_note(f"in command(t, measured, memory) of {name_of(self.controller)}")
            raise
        commands = self._checked(made, t)
        self.t.append(t)
        self.measured.append(told)
        self.command.append(commands)
        return commands

    def _disturb(self, measured: dict[str, Any]) -> None:
        """Add noise, the same for each sample of each seed, and round to whole quanta."""
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
        for name, step in self.quantum.items():
            measured[name] = step * np.round(measured[name] / step)

    def _checked(self, made: Any, t: float) -> list[tuple[float, ...]]:
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
        return [self._within(made[field.drive.name], field.drive, t) for field in self.fields]

    def _within(self, value: Any, drive: Drive, t: float) -> tuple[float, ...]:
        """One command within its limit."""
        try:
            array = np.array(real(value))
        except (TypeError, ValueError):
            array = np.full((2, 2), np.nan)
        if array.shape != self.shapes.get(drive.name, array.shape) or (
            array.shape not in drive.shapes
        ):
            raise self._refuse_shape(value, drive, t)
        self.shapes[drive.name] = array.shape
        numbers = tuple(array.reshape(-1).tolist())
        if not all(map(math.isfinite, numbers)):
            raise self.controller.refuse(
                f"command at t = {t:.9g} s returned {show(value)} for {drive.name!r}, but every "
                "command must be finite."
            )
        most = self.limit.get(drive.name)
        return numbers if most is None else tuple(min(max(x, -most), most) for x in numbers)

    def _refuse_shape(self, value: Any, drive: Drive, t: float) -> PartError:
        """The error about a command that is neither a number nor three where it should be."""
        known = self.shapes.get(drive.name)
        shapes, again = (drive.shapes, "") if known is None else ((known,), ", as before")
        words = " or ".join("three numbers" if shape else "one number" for shape in shapes)
        return self.controller.refuse(
            f"command at t = {t:.9g} s returned {show(value)} for {drive.name!r}, but that takes "
            f"{words}{again}."
        )

    # --- what it leaves ---------------------------------------------------------------------------
    def record(self) -> ControlRecord:
        """The samples and commands of the run so far."""
        t, drives = self.selection.tables, [field.drive for field in self.fields]
        found = [measure_of("reads", t, name) for name in self.controller.reads]
        commands = [self.shapes.get(drive.name, drive.shapes[0]) for drive in drives]
        return ControlRecord(
            self.controller.name, np.array(self.t), tuple(self.controller.reads),
            _columns(self.measured, [one.shape for one in found]),
            tuple(drive.name for drive in drives), _columns(self.command, commands),
            tuple(np.array(field.times) for field in self.fields),
            tuple(field.shaped(*field.values) for field in self.fields),
        )  # fmt: skip

    def state(self) -> ControlState:
        """The controller as a state carries it."""
        return ControlState(
            self.controller.name, self.clock.begun, self.samples,
            tuple(copy.deepcopy(self.memory).items()),
            tuple((field.drive.name, field.last) for field in self.fields),
            tuple((k, tuple(commands)) for k, commands in self.pending),
        )  # fmt: skip


def name_of(controller: Controller) -> str:
    """A controller in a sentence."""
    return f"{type(controller).__name__} {controller.name!r}"


def _numbers(value: Any) -> list[float]:
    """A number, an array or a quaternion as a list."""
    array = quat.to_array(value) if isinstance(value, quat.Quaternion) else np.asarray(value, float)
    numbers: list[float] = array.reshape(-1).tolist()
    return numbers


def _columns(rows: list[Any], shapes: Sequence[tuple[int, ...]]) -> tuple[Floats, ...]:
    """Column by column what rows hold, each as an array (m, ...)."""
    return tuple(
        np.array([row[k] for row in rows], dtype=float).reshape(-1, *shape)
        for k, shape in enumerate(shapes)
    )


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
        self.near = min((loop.clock.near for loop in self.loops), default=0.0)
        for field in (field for loop in self.loops for field in loop.fields):
            field.write(self.schedules.knots)

    def due_before(self, end: float) -> float:
        """When one of them has something to do [s], before the end of a run; inf: not before."""
        first = math.inf
        for loop in self.loops:
            due = loop.due
            if due < first and due < end - loop.clock.near:
                first = due
        return first

    def has_knot(self, t: float) -> bool:
        """Whether commands bend at a time [s] to which they have been given."""
        return any(field.times[-1] == t for loop in self.loops for field in loop.fields)

    def turn(self, t: float, end: float, state: Floats, angles: Floats) -> None:
        """Let all of them do what has come due, at a state as the run moves it; end: of the run
        [s]."""
        at = Instance(t, self.entry.expand(state), angles)
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
    return replace_commands(system, commands)


def replace_commands(system: System, commands: Sequence[Commands]) -> System:
    """A system with schedules in the place of what controllers command, and without these."""
    tables = write_commands(system.tables, commands)
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


def freeze_commands(system: System, who: str) -> System:
    """The system with what its controllers command where it begins as constants; refused, for whom
    it says, where a controller does not declare that its command rests as everything does."""
    chosen, t = system.selection, system.tables
    if not t.controllers:
        return system
    for k in chosen.controllers.tolist():
        if not t.controllers[k].constant:
            raise t.controllers[k].refuse(
                f"{who} looks for rest, which what is commanded at every sample need not leave; "
                "leave the controller out, or give it constant=True if its command stays what it "
                "is while everything rests."
            )
    start = system.initial
    lines = dict(line for one in start.controls for line in one.lines)
    fields = (DrivenField(d, t, start.t, lines.get(d.name)) for some in t.drives for d in some)
    commands = (
        Commands(field.drive, np.array([start.t]), field.shaped(field.value_at(start.t)))
        for field in fields
    )
    return replace_commands(system, list(commands))


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
