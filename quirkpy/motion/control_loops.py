"""`Loop`: a controller in a run, as a Python object: its readings, commands and record."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence, Set
from itertools import pairwise
from typing import Any

import numpy as np

from quirkpy.maths import quat
from quirkpy.maths.cached import cached_property
from quirkpy.maths.types import Floats
from quirkpy.mechanics.controls import ControlState
from quirkpy.mechanics.measures import WXYZ, Portion
from quirkpy.mechanics.state import State
from quirkpy.motion.course import ControlRecord
from quirkpy.motion.samples import Clock, DrivenField, Reading, floats_of
from quirkpy.parts.checks import real, show
from quirkpy.parts.controller import Controller
from quirkpy.parts.formulas import parameters_of
from quirkpy.parts.part import PartError
from quirkpy.parts.plasticity import Plasticity
from quirkpy.tables.drives import Drive
from quirkpy.tables.tables import Selection

#: Least period of a controller, in units of the rounding of time.
LEAST_PERIOD = 1e6
#: Number of last knots of a field that are kept for its continuation.
KNOTS_KEPT = 3


class Loop:
    """A controller in a run: what it reads and drives, and the first column of its numbers in the
    log of samples."""

    def __init__(self, controller: Controller, drives: Sequence[Drive], selection: Selection,
                 start: State, column: int) -> None:  # fmt: skip
        self.controller, self.selection = controller, selection
        known, t = state_of(start, controller.name), selection.tables
        lines, self.memory = dict(known.lines), copy.deepcopy(dict(known.memory))
        self.fields = [DrivenField(d, t, start.t, lines.get(d.name)) for d in drives]
        self.readings = [Reading.of(t, name) for name in controller.reads]
        if controller.period < LEAST_PERIOD * math.ulp(start.t):
            raise controller.refuse(
                f"period is {controller.period:g} s, too short beside t = {start.t:g} s, where the "
                "run begins; begin nearer to zero, with state.replace(t=0.0).",
                code="rounding",
            )
        sizes = [1, *(one.size for one in self.readings), *(drive.size for drive in drives)]
        edges = column + np.cumsum([0, *sizes])
        spans = [slice(*pair) for pair in pairwise(edges.tolist())]
        reads = len(self.readings)
        self.clock_column, self.end = column, int(edges[-1])
        self.read, self.told = spans[1 : 1 + reads], spans[1 + reads :]
        self.first_read, self.first_told = int(edges[1]), int(edges[1 + reads])
        self.ways = [*zip(self.readings, self.read, strict=True)]
        self.givers = [(one.name, one.giver(), span) for one, span in self.ways]
        self.unread = [(one, span) for one, span in self.ways if not one.found.lines]
        self.places = [*zip((d.name for d in drives), drives, self.told, strict=True)]
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.limit, self.noise, self.quantum = (
            dict(some) for some in (controller.limit, controller.noise, controller.quantum)
        )
        self.t, self.kept = start.t, list[Floats]()
        self.asked = 0  # the number of the sample that Python must compute
        self._take_up(known, start.t)
        if controller.compiled:
            self._check_compiled()

    def _check_compiled(self) -> None:
        """Check that a compiled command needs no value from Python, and that its results have the
        shapes of the fields."""
        for one, _ in self.unread:
            raise self.controller.refuse(
                f"it is compiled, but {one.name!r} is measured in Python; read something else, or "
                "leave compiled=True out.",
                code="together",
            )
        self.shapes = {name: drive.shapes[0] for name, drive, _ in self.places}

    @property
    def remembered(self) -> Sequence[float]:
        """The initial memory of a compiled command; rest lengths are those that stand."""
        if isinstance(self.controller, Plasticity):
            return [field.value_at(self.t)[0] for field in self.fields]
        return tuple(self.memory.get("memory", self.controller.memory))

    def _take_up(self, known: ControlState, t: float) -> None:
        """Continue the samples of an earlier run, if the next of them is still to come."""
        period, delay = self.controller.period, self.controller.delay
        begun = t if known.begun is None else known.begun
        self.clock, samples = Clock(begun, period, delay), known.samples
        self.pending = [(k, [floats_of(one) for one in some]) for k, some in known.pending]
        ahead = self.clock.sample(samples) - t
        if known.begun is None or not -self.clock.near <= ahead <= period + self.clock.near:
            self.clock, samples, self.pending = Clock(t, period, delay), 0, []
        # The number of the sample in the first row of the log; how many rows are from before
        self.first = samples - len(self.pending)
        self.carried = len(self.pending)

    # --- a sample in Python -----------------------------------------------------------------------
    def command(self, t: float, row: Floats, at: Callable[[], Portion]) -> None:
        """Compute the command at a time, from the readings in a row of the log, and write it into
        that row; at: gives that instant, where Python must measure something."""
        for one, span in self.unread:
            row[span] = one.ask(at())
        measured = {name: give(row[span]) for name, give, span in self.givers}
        if self.noise or self.quantum:
            self._disturb(measured)
            for name, span in zip(measured, self.read, strict=True):
                row[span] = numbers_of(measured[name])
        try:
            made = self.controller.command(t, measured, self.memory)
        except Exception as error:
            error.add_note(f"in command(t, measured, memory) of {name_of(self.controller)}")
            raise
        self._write(made, t, row)

    def _disturb(self, measured: dict[str, Any]) -> None:
        """Add noise, a fixed function of sample and seed, and round to whole quanta."""
        for name, off in self.noises(self.asked).items():
            value = measured[name]
            measured[name] = value * off if isinstance(off, quat.Quaternion) else value + off
        for name, step in self.quantum.items():
            measured[name] = step * np.round(measured[name] / step)

    def noises(self, k: int) -> dict[str, Any]:
        """The noise of measured numbers in sample k, by name; for orientations a rotation."""
        if not self.noise:
            return {}
        rng, out = np.random.default_rng((self.controller.seed, k)), dict[str, Any]()
        found = {one.name: one.found for one in self.readings}
        for name, size in self.noise.items():
            if found[name].parts == WXYZ:
                turn = size * rng.normal(size=3)
                out[name] = (
                    quat.rotation(turn, angle)
                    if (angle := float(np.linalg.norm(turn)))
                    else quat.Quaternion(1.0, 0.0, 0.0, 0.0)
                )
            else:
                out[name] = size * rng.normal(size=found[name].shape)
        return out

    def _write(self, made: Any, t: float, row: Floats) -> None:
        """Write the commands into a row of the log; an error if they are invalid."""
        if type(made) is not dict or made.keys() != self.names:
            self._check_names(made, t)
        for name, drive, span in self.places:
            value = made[name]
            if type(value) is float and self.shapes.get(name) == ():
                row[span.stop - 1] = value
            elif type(value) is np.ndarray and value.shape == self.shapes.get(name) == (3,):
                row[span] = value
            else:
                row[span] = self._numbers_of(value, drive, t)

    @cached_property
    def names(self) -> Set[str]:
        """The names of all drives."""
        return {name for name, _, _ in self.places}

    def _check_names(self, made: Any, t: float) -> None:
        """Raise an error unless commands are given for all drives and no others."""
        who, drives = self.controller, self.controller.drives
        if not isinstance(made, Mapping):
            raise who.refuse(
                f"command at t = {t:.9g} s returned {show(made)}, but must return a dict, such as "
                f"{{{drives[0]!r}: 0.0}}.",
                code="yours",
            )
        for name in (*(n for n in drives if n not in made), *(n for n in made if n not in drives)):
            said = "nothing for" if name in drives else "something for"
            raise who.refuse(
                f"command at t = {t:.9g} s returned {said} {name!r}; it drives "
                f"{', '.join(map(repr, drives))}, so return these, neither more nor less.",
                code="yours",
            )

    def _numbers_of(self, value: Any, drive: Drive, t: float) -> Floats:
        """The numbers of one command, as many as the field has."""
        try:
            array = real(value)
        except (TypeError, ValueError):
            array = np.full((2, 2), np.nan)
        if array.shape != self.shapes.get(drive.name, array.shape) or (
            array.shape not in drive.shapes
        ):
            raise self._refuse_shape(value, drive, t)
        self.shapes[drive.name] = array.shape
        if not np.isfinite(array).all():
            raise self._refuse_size(value, drive.name, t)
        return np.append((0.0, 0.0), array) if array.size < drive.size else array

    def _refuse_size(self, value: Any, name: str, t: float) -> PartError:
        """The error about a command that is not finite."""
        return self.controller.refuse(
            f"command at t = {t:.9g} s returned {show(value)} for {name!r}, but every command must "
            "be finite.",
            code="yours",
        )

    def _refuse_shape(self, value: Any, drive: Drive, t: float) -> PartError:
        """The error about a command that is neither a number nor three where it should be."""
        known = self.shapes.get(drive.name)
        shapes, again = (drive.shapes, "") if known is None else ((known,), ", as before")
        words = " or ".join("three numbers" if shape else "one number" for shape in shapes)
        return self.controller.refuse(
            f"command at t = {t:.9g} s returned {show(value)} for {drive.name!r}, but that takes "
            f"{words}{again}.",
            code="yours",
        )

    def complain(self, row: Floats, memory: Floats) -> None:
        """Raise the error in the command in a row of the log; a compiled command is evaluated once
        more, in Python."""
        t, who = float(row[self.clock_column]), self.controller
        if who.compiled:
            given = {"t": t, "measured": row[self.first_read : self.first_told].copy(),
                     "memory": memory.copy(), **who.arguments}  # fmt: skip
            command: Callable[..., Any] = type(who).command
            try:
                made = np.ravel(command(*(given[name] for name in parameters_of(command))))
            except Exception as error:
                error.add_note(f"in command of {name_of(who)}")
                raise
            if made.size != self.end - self.first_told:
                raise who.refuse(
                    f"command at t = {t:.9g} s returned {made.size} numbers, but "
                    f"{', '.join(map(repr, who.drives))} take {self.end - self.first_told}.",
                    code="yours",
                )
            row[self.first_told : self.end] = made
        for name, _, span in self.places:
            if not np.isfinite(row[span]).all():
                told = row[span] if self.shapes[name] else float(row[span.stop - 1])
                raise self._refuse_size(told, name, t)
        raise who.refuse(f"its command failed at t = {t:.9g} s.", code="yours")

    def _check_signs(self, rows: Floats) -> None:
        """Refuse commands below zero of fields that must not be, such as a rest length."""
        for name, drive, span in self.places:
            told = rows[:, span.stop - 1]
            if drive.above_zero and (told < 0.0).any():
                k = int(np.argmax(told < 0.0))
                raise self.controller.refuse(
                    f"command at t = {rows[k, self.clock_column]:.9g} s returned {told[k]:g} for "
                    f"{name!r}, but that must not be negative.",
                    code="yours",
                )

    # --- what it leaves ---------------------------------------------------------------------------
    def take(self, log: Floats, sampled: int, acted: int) -> None:
        """Keep the samples of a log, and move those with commands that have not yet taken effect to
        its beginning."""
        mine = slice(self.clock_column, self.end)
        self._check_signs(log[self.carried : sampled])
        self.kept.append(log[self.carried : sampled, mine].copy())
        log[: sampled - acted, mine] = log[acted:sampled, mine].copy()
        self.first += acted
        self.carried = sampled - acted

    def record(self, knots: Sequence[Floats]) -> ControlRecord:
        """The samples and commands of the run so far; knots: of all its fields (n, 4)."""
        if isinstance(self.controller, Plasticity):
            return self._lengths(knots)
        log = np.concatenate([np.zeros((0, self.end - self.clock_column)), *self.kept])
        at = [slice(s.start - self.clock_column, s.stop - self.clock_column)
              for s in (*self.read, *self.told)]  # fmt: skip
        reads, drives = len(self.read), [field.drive for field in self.fields]
        shapes = [self.shapes.get(drive.name, drive.shapes[0]) for drive in drives]
        return ControlRecord(
            self.controller.name, log[:, 0].copy(), tuple(self.controller.reads),
            tuple(log[:, span].reshape(-1, *one.found.shape)
                  for one, span in zip(self.readings, at, strict=False)),
            tuple(drive.name for drive in drives),
            tuple(log[:, span][:, -math.prod(shape):].reshape(-1, *shape)
                  for span, shape in zip(at[reads:], shapes, strict=True)),
            tuple(some[:, 0].copy() for some in knots),
            tuple(field.shaped(*some[:, 1 : 1 + field.drive.size])
                  for field, some in zip(self.fields, knots, strict=True)),
        )  # fmt: skip

    def _lengths(self, knots: Sequence[Floats]) -> ControlRecord:
        """The record of rest lengths: what they are from each time on at which any of them
        changes."""
        names = tuple(field.drive.name for field in self.fields)
        times = tuple(some[:, 0].copy() for some in knots)
        values = tuple(some[:, 1].copy() for some in knots)
        t = np.unique(np.concatenate(times))
        told = tuple(
            some[(np.searchsorted(at, t, side="right") - 1).clip(0)]
            for at, some in zip(times, values, strict=True)
        )
        return ControlRecord(self.controller.name, t, (), (), names, told, times, values)

    def state(self, knots: Sequence[Floats], log: Floats, memory: Floats) -> ControlState:
        """The controller as part of a state; its log begins with the samples whose commands have
        not yet taken effect."""
        lines = []
        for field, some in zip(self.fields, knots, strict=True):
            values = some[-KNOTS_KEPT:, 1 : 1 + field.drive.size]
            lines.append((field.drive.name, (tuple(some[-KNOTS_KEPT:, 0].tolist()),
                                             tuple(map(tuple, values.tolist())))))  # fmt: skip
        told = memory.tolist()
        known = {"memory": tuple(told)} if self.controller.compiled else copy.deepcopy(self.memory)
        return ControlState(
            self.controller.name, self.clock.begun, self.first + self.carried,
            tuple(known.items()), tuple(lines),
            tuple((self.first + j, tuple(tuple(log[j, span].tolist()) for span in self.told))
                  for j in range(self.carried)),
        )  # fmt: skip


def name_of(controller: Controller) -> str:
    """The phrase for a controller in messages."""
    return f"{type(controller).__name__} {controller.name!r}"


def numbers_of(value: Any) -> Floats:
    """A number, an array or a quaternion as numbers."""
    turn = isinstance(value, quat.Quaternion)
    return np.ravel(quat.to_array(value) if turn else np.asarray(value, dtype=float))


def state_of(start: State, name: str) -> ControlState:
    """The state of a controller at the start of a run; one that is not in the state starts anew."""
    return next((one for one in start.controls if one.name == name), ControlState(name))
