"""Controllers at work in a run: samples, and commands that stand as schedules in tables of its own.

A command is a schedule of which the knots are written as the run goes on: a run with controllers
is, to the bit, one with schedules that say what was commanded, and afterwards it is kept as such
(`with_commands`)."""

from __future__ import annotations

import copy
import math
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from quirkpy.kernels.base.arrays import Schedules
from quirkpy.maths import quat
from quirkpy.maths.types import Floats
from quirkpy.mechanics.clusters import Entry
from quirkpy.mechanics.controls import ControlState
from quirkpy.mechanics.measures import measure_of
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.motion.course import ControlRecord, Course
from quirkpy.motion.samples import Clock, DrivenField, Instance, Readings, floats_of
from quirkpy.parts.checks import real, show
from quirkpy.parts.controller import Controller
from quirkpy.parts.part import PartError
from quirkpy.tables.commands import Commands, write_commands
from quirkpy.tables.drives import Drive, driven_field, find_drive
from quirkpy.tables.tables import Selection, Tables
from quirkpy.tables.vary import selection_on

#: A period must be so many times as long as what time is rounded to.
LEAST_PERIOD = 1e6


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
        self.pending = deque((k, [floats_of(one) for one in some]) for k, some in known.pending)
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
        self.loops: list[Loop] = []
        self.near = 0.0
        if len(selection.controllers) == 0:
            return
        knots = self.schedules.knots.copy()
        self.schedules = self.schedules._replace(knots=knots)
        self.loops = [
            Loop(t.controllers[k], moved.drives[k], selection, t, start)
            for k in selection.controllers.tolist()
        ]
        self.near = min(loop.clock.near for loop in self.loops)
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
        if not self.loops and not self.idle:
            return ()
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
    known = {
        name: (times, values)
        for one in course.records
        for name, times, values in zip(one.drives, one.times, one.values, strict=True)
    }
    fields = held_fields(system)
    still = {field.drive.name: (np.array(field.times), field.shaped(*field.values))
             for field in fields}  # fmt: skip
    told = still | known
    return replace_commands(
        system, [Commands(field.drive, *told[field.drive.name]) for field in fields]
    )


def held_fields(system: System) -> list[DrivenField]:
    """All fields that controllers drive, as they stand where the system begins."""
    t, start = system.tables, system.initial
    lines = dict(line for one in start.controls for line in one.lines)
    return [DrivenField(d, t, start.t, lines.get(d.name)) for some in t.drives for d in some]


def recall_commands(system: System, records: Sequence[ControlRecord]) -> System:
    """A system in which commands stand as schedules with those of another run of it."""
    t, commands = system.tables, []
    for record in records:
        for name, times, values in zip(record.drives, record.times, record.values, strict=True):
            owner, _, word = name.rpartition(".")
            force = t.forces[t.force_index[owner]]
            field = driven_field(force, word)
            drive = find_drive(force, field, getattr(force, field).interpolation, t.joints)
            if drive is None:
                raise ValueError(f"there is nothing to drive called {name!r}")
            commands.append(Commands(drive, times, values))
    return replace_commands(system, commands) if commands else system


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
    for k in chosen.controllers.tolist():
        if not t.controllers[k].constant:
            raise t.controllers[k].refuse(
                f"{who} looks for rest, which what is commanded at every sample need not leave; "
                "leave the controller out, or give it constant=True if its command stays what it "
                "is while everything rests."
            )
    return hold_commands(system)


def hold_commands(system: System) -> System:
    """The system with what its controllers command where it begins as constants; without
    controllers the same system."""
    if not system.tables.controllers:
        return system
    t = system.initial.t
    commands = (
        Commands(field.drive, np.array([t]), field.shaped(field.value_at(t)))
        for field in held_fields(system)
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
