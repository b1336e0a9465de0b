"""Controllers in a run: samples, and commands as schedules in tables of the run.

A command is a schedule whose knots are written during the run: a run with controllers is, to the
bit, one with schedules of its commands, and is stored as such afterwards (`with_commands`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from quirkpy.kernels.base.arrays import KNOT_TIME
from quirkpy.kernels.step.sampling import (
    ACTED,
    ASKED_LOOP,
    ASKED_ROW,
    COMMAND,
    DUE_AS_WITHIN,
    DUE_FIRST,
    EFFECT_AT,
    FIRST_FIELD,
    FIRST_MEMORY,
    HOLDING,
    KNOTTED,
    LAST_FIELD,
    NEAR_TO,
    NOTHING_DUE,
    SAMPLE_AT,
    SAMPLED,
    UNTIL,
    WAY,
    begin_board,
)
from quirkpy.kernels.step.steps import BENT, SAMPLES, SMOOTH
from quirkpy.maths.types import Floats
from quirkpy.mechanics.clusters import Entry
from quirkpy.mechanics.controls import ControlState
from quirkpy.mechanics.measures import Portion
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.motion.boards import NO_BOARD, board_of
from quirkpy.motion.control_loops import KNOTS_KEPT, Loop, numbers_of
from quirkpy.motion.course import ControlRecord, Course
from quirkpy.motion.samples import DrivenField, instant_of
from quirkpy.parts.controller import Controller
from quirkpy.parts.part import PartError
from quirkpy.parts.plasticity import Plasticity
from quirkpy.tables.commands import Commands, write_commands
from quirkpy.tables.drives import driven_field, find_drive
from quirkpy.tables.tables import Selection
from quirkpy.tables.vary import selection_on

#: So many samples a run has before it at once, and at least.
MOST_SAMPLES, LEAST_SAMPLES = 1024, 6


class Controls:
    """The controllers of a run, if there are any, and the schedules of their commands; `board`: all
    data for kernels."""

    def __init__(self, selection: Selection, entry: Entry, start: State) -> None:
        t, layout = selection.tables, entry.layout
        moved = layout.selection.tables  # that of clusters, where locked bodies are one
        self.selection, self.entry, self.start = selection, entry, start
        self.schedules, self.loops = layout.packed.schedules, list[Loop]()
        for k in selection.controllers.tolist():
            column = self.loops[-1].end if self.loops else 0
            self.loops.append(Loop(t.controllers[k], moved.drives[k], selection, start, column))
        if self.loops:
            knots = self.schedules.knots.copy()
            self.schedules = self.schedules._replace(knots=knots)
        self.board = NO_BOARD

    def prepare(self, end: float, whole: bool = False) -> None:
        """Make the board of a run to a time [s]; whole: with room for all samples of that."""
        if self.loops:
            span, some = end - self.start.t, [loop.controller for loop in self.loops]
            wanted = int(max(span / one.period for one in some)) + LEAST_SAMPLES
            late = int(max(one.delay / one.period for one in some)) + LEAST_SAMPLES
            count = (wanted if whole else min(wanted, MOST_SAMPLES)) + late
            self.board = board_of(self.selection, self.entry, self.start, self.loops, count)
            self.kept: list[list[Floats]] = [[] for _ in self.board.fields]
            begin_board(self.board, self.schedules)

    @property
    def most(self) -> int:
        """The largest number of times of samples and effects in one plan."""
        return 2 * self.board.agenda.shape[0] * self.board.agenda.shape[1] if self.loops else 0

    @property
    def lengths(self) -> dict[int, float]:
        """One more than the field of each element whose rest length is kept."""
        t, out, first = self.selection.tables, dict[int, float](), 1
        for loop in self.loops:
            if isinstance(loop.controller, Plasticity):
                for f, field in enumerate(loop.fields, first):
                    out[int(t.force_element[t.force_index[field.drive.force]])] = float(f)
            first += len(loop.fields)
        return out

    def is_crowded(self) -> bool:
        """Whether what has yielded has filled half of the knots that there is memory for."""
        return bool(self.loops) and bool(
            (2 * self.board.fields[:, KNOTTED] > self.board.knots.shape[1]).any()
        )

    # --- when -------------------------------------------------------------------------------------
    def plan(self, t: float, end: float, knots: Sequence[float], bends: bool) -> Floats:
        """The times after t at which steps end, for a run to a time [s], each with how loads bend
        there (n, 2): knots of schedules on the way, samples, and effects of commands, as many as
        there is memory for; bends: loads have a bend at the end."""
        if not self.loops:
            return np.array([*((knot, BENT) for knot in knots), (end, BENT if bends else SMOOTH)])
        self._turn_page()
        ahead = np.array([*knots, end])
        dues, near = self._dues(ahead)
        later = dues > t + near
        times = np.concatenate([[t], ahead, dues[later]])
        order = np.argsort(times, kind="stable")
        near = np.concatenate([np.zeros(1 + len(ahead)), near[later]])
        times = far_apart(times[order], near[order])[1:]
        limit = float(self.board.agenda[:, -1, SAMPLE_AT].min())
        if end >= limit:
            return _bending(times[times < limit], SAMPLES)
        return _bending(times, BENT if bends or self._bends_at(end) else SMOOTH)

    def _turn_page(self) -> None:
        """Keep the data of the board, and write the times of the next samples."""
        board = self.board
        for c, loop in enumerate(self.loops):
            loop.take(board.log, *board.loops[c, [SAMPLED, ACTED]].tolist())
            board.loops[c, SAMPLED], board.loops[c, ACTED] = loop.carried, 0
        for f, known in enumerate(self.kept):
            over = max(int(board.fields[f, KNOTTED]) - KNOTS_KEPT, 0)
            known.append(board.knots[f, :over].copy())
            board.knots[f, :KNOTS_KEPT] = board.knots[f, over : over + KNOTS_KEPT].copy()
            board.fields[f, KNOTTED] -= over

    def _dues(self, knots: Floats) -> tuple[Floats, Floats]:
        """The times before the end of a run at which something is due [s], in order, and for each
        the distance within which others are equal to it; they are written into the agenda. knots:
        those of schedules on the way, and the end; a time close to one of these is replaced by
        it."""
        agenda, found, end = self.board.agenda, list[Floats](), float(knots[-1])
        for c, loop in enumerate(self.loops):
            times, near = loop.clock.times(loop.first, agenda.shape[1] + 1), loop.clock.near
            sample, effect = (drawn_to(knots, some, near) for some in times)
            agenda[c, :, SAMPLE_AT], agenda[c, :, EFFECT_AT] = sample[:-1], effect[:-1]
            agenda[c, :, UNTIL], agenda[c, :, NEAR_TO] = effect[1:], near
            due = np.union1d(sample[loop.carried :], effect)
            due = due[due < end - near]
            found.append(np.stack([due, np.full(len(due), near)]))
            self._make_noise(c, loop)
        dues = np.concatenate(found, axis=1)
        times, near_to = dues[:, np.argsort(dues[0], kind="stable")]
        return times, near_to

    def _make_noise(self, c: int, loop: Loop) -> None:
        """The noise that is added to the measured numbers of compiled commands."""
        board = self.board
        if not board.loops[c, COMMAND] or not len(board.noise):
            return
        for j in range(loop.carried, len(board.noise)):
            made = loop.noises(loop.first + j)
            for one, span in loop.ways:
                if one.name in made:
                    board.noise[j, span] = numbers_of(made[one.name])

    def is_due(self, end: float) -> int:
        """The action due at the start of the run: NOTHING_DUE, DUE_FIRST, or DUE_AS_WITHIN."""
        for loop in self.loops:
            sample, effect = loop.clock.times(loop.first, loop.carried + 1)
            first = min(sample[loop.carried], effect[0] if loop.carried else math.inf)
            if first <= self.start.t + loop.clock.near and first < end - loop.clock.near:
                return DUE_AS_WITHIN if self.start.controls else DUE_FIRST
        return NOTHING_DUE

    def _bends_at(self, end: float) -> bool:
        """Whether a piecewise linear command has a bend at the end of a run, or a longer run would
        end a step there."""
        board = self.board
        for c, loop in enumerate(self.loops):
            times = board.agenda[c, :, [SAMPLE_AT, EFFECT_AT, UNTIL]]
            due = bool((abs(times - end) <= loop.clock.near).any())
            for f in range(board.loops[c, FIRST_FIELD], board.loops[c, LAST_FIELD]):
                last = board.knots[f, board.fields[f, KNOTTED] - 1, KNOT_TIME]
                if last == end or (due and board.fields[f, WAY] != HOLDING):
                    return True
        return False

    # --- what -------------------------------------------------------------------------------------
    def command(self, t: float, angles: Floats, tail: Floats) -> None:
        """Compute the command of the requested controller in Python."""
        board = self.board
        j = int(board.desk[ASKED_ROW])
        loop = self.loops[board.desk[ASKED_LOOP]]
        loop.asked = loop.first + j
        loop.command(t, board.log[j], lambda: self._instant(t, angles, tail))

    def _instant(self, t: float, angles: Floats, tail: Floats) -> Portion:
        return instant_of(self.selection, self.schedules, t, self.board.rows[0], angles, tail)

    def complain(self) -> None:
        """Raise the error of the last command."""
        c, j = self.board.desk[[ASKED_LOOP, ASKED_ROW]].tolist()
        self.loops[c].complain(self.board.log[j], self._memory(c))

    def _memory(self, c: int) -> Floats:
        first = int(self.board.loops[c, FIRST_MEMORY])
        return self.board.memory[1, first : first + len(self.loops[c].remembered)]

    def leave(self) -> tuple[tuple[ControlRecord, ...], tuple[ControlState, ...]]:
        """The samples and commands of all controllers, and their states at the end; controllers
        that do not act start anew when they do."""
        records, states = list[ControlRecord](), list[ControlState]()
        if not self.loops and not self.start.controls:
            return (), ()
        if self.loops:
            self._turn_page()
        for c, loop in enumerate(self.loops):
            board, fields = self.board, range(*self.board.loops[c, [FIRST_FIELD, LAST_FIELD]])
            knots = [
                np.concatenate([*self.kept[f], board.knots[f, : board.fields[f, KNOTTED]]])
                for f in fields
            ]
            records.append(loop.record(knots))
            states.append(loop.state(knots, board.log, self._memory(c)))
        acting = {loop.controller.name for loop in self.loops}
        idle = (one for one in self.start.controls if one.name not in acting)
        return tuple(records), (*states, *(one._replace(begun=None) for one in idle))


def _bending(times: Floats, last: int) -> Floats:
    """Times of samples with how loads bend there, and at the last (n, 2)."""
    out = np.stack([times, np.full(len(times), float(SAMPLES))], axis=1)
    out[-1:, 1] = last
    return out


def far_apart(times: Floats, near: Floats) -> Floats:
    """Times in order, without those that are equal to one before, each within its own distance."""
    while (close := np.diff(times) <= near[1:]).any():
        close[1:] &= ~close[:-1]  # of several in a row the first, as those after may stay
        kept = np.append(True, ~close)
        times, near = times[kept], near[kept]
    return times


def drawn_to(knots: Floats, times: Floats, near: float) -> Floats:
    """Times [s], each replaced by a knot close to it, if there is one; knots in order."""
    after = np.searchsorted(knots, times).clip(1, max(len(knots) - 1, 1))
    pair = knots[np.stack([after - 1, after.clip(max=len(knots) - 1)])]
    nearest = np.where(abs(pair[0] - times) <= abs(pair[1] - times), *pair)
    return np.where(abs(nearest - times) <= near, nearest, times)


# --- afterwards -----------------------------------------------------------------------------------
def with_commands(system: System, course: Course) -> System:
    """The system of a run with the commands of its controllers as schedules, and without
    controllers; without controllers the same system."""
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
    """All fields that controllers drive, with their values at the start of the system."""
    t, start = system.tables, system.initial
    lines = dict(line for one in start.controls for line in one.lines)
    return [DrivenField(d, t, start.t, lines.get(d.name)) for some in t.drives for d in some]


def recall_commands(system: System, records: Sequence[ControlRecord]) -> System:
    """A system with commands as schedules, with those of another run of it."""
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
    """A system with schedules instead of the commands of controllers, and without controllers."""
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
    """The system with the commands at its start as constants; raises an error, with the given name
    of the caller, if a controller does not declare that its command is constant at rest."""
    chosen, t = system.selection, system.tables
    for k in chosen.controllers.tolist():
        if isinstance(t.controllers[k], Plasticity):
            raise PartError(
                f"{who} looks for rest, and where that is depends on how "
                f"{t.controllers[k].drives[0].rpartition('.')[0]!r} has yielded before; use "
                "simulate(..., stop=[qp.AtRest()]), or leave limit_load out."
            )
        if not t.controllers[k].constant:
            raise t.controllers[k].refuse(
                f"{who} looks for rest, which what is commanded at every sample need not leave; "
                "leave the controller out, or give it constant=True if its command stays what it "
                "is while everything rests.",
                code="together",
            )
    return hold_commands(system)


def hold_commands(system: System) -> System:
    """The system with the commands at its start as constants; without controllers the same
    system."""
    if not system.tables.controllers:
        return system
    t = system.initial.t
    commands = (
        Commands(field.drive, np.array([t]), field.shaped(field.value_at(t)))
        for field in held_fields(system)
    )
    return replace_commands(system, list(commands))


def controls_at(records: Sequence[ControlRecord], t: float) -> tuple[ControlState, ...]:
    """The states of controllers at a time within a run: their commands are known, and their
    memories are not, so they start anew from there."""
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
    """The knots on both sides of a time."""
    k = max(int(np.searchsorted(times, t, side="right")) - 1, 0)
    return tuple(times[k : k + 2].tolist()), tuple(values[k : k + 2].tolist())
