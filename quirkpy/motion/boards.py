"""The board of a run's controllers: all of their data that kernels need."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from quirkpy.kernels.act.measures import Measures
from quirkpy.kernels.base.arrays import Sites
from quirkpy.kernels.base.states import zero_rows
from quirkpy.kernels.place.kinematics import ground_frames
from quirkpy.kernels.step.sampling import (
    AGENDA_WIDTH,
    DESK_WIDTH,
    FALLING,
    HOLDING,
    SILENT,
    STRAIGHT,
    Board,
)
from quirkpy.kernels.users.commands import Counted, address_of_command
from quirkpy.maths.types import Floats, Ints
from quirkpy.mechanics.clusters import Entry
from quirkpy.mechanics.measures import WXYZ, Line, kernel_measures
from quirkpy.mechanics.state import State
from quirkpy.motion.control_loops import KNOTS_KEPT, Loop
from quirkpy.parts.formulas import flat
from quirkpy.parts.plasticity import Plasticity
from quirkpy.tables.merge import Merger
from quirkpy.tables.tables import Selection

#: A controller has lost control where bodies make this many turns between two samples, and turn
#: this many times as fast as at the start [1].
MOST_TURNS, SPED_UP = 1e4, 1e3
#: So many more knots than samples make a field has where strings may yield: at least twice as many
#: as one compiled call has rows.
YIELDS = 1024


def keeps_lengths(loops: Sequence[Loop]) -> bool:
    """Whether any controller keeps the rest lengths of what yields."""
    return any(isinstance(loop.controller, Plasticity) for loop in loops)


def _fastest(start: State, loops: Sequence[Loop]) -> float:
    """The angular velocity beyond which controllers have lost control [rad/s]; larger where bodies
    turn faster at the start."""
    period = min((loop.controller.period for loop in loops if loop.readings), default=0.0)
    if period == 0.0:
        return math.inf
    begun = float(np.linalg.norm(start.omega, axis=1).max(initial=0.0))
    return max(2.0 * math.pi * MOST_TURNS / period, SPED_UP * begun)


def board_of(
    selection: Selection, entry: Entry, start: State, loops: Sequence[Loop], count: int
) -> Board:
    """The data of controllers for kernels, with storage for a number of samples of each."""
    tables, merger = selection.tables, entry.merger
    width = loops[-1].end
    fields = [field for loop in loops for field in loop.fields]
    spans = [span for loop in loops for span in loop.told]
    slots = [[*tables.commanded(field.drive)] for field in fields]
    rows = [tables.knots(s) for some in slots for s in some]
    ways = {"hold": HOLDING, "linear": STRAIGHT}
    edges = np.cumsum([0, *map(len, slots)])
    lines: list[Line] = [(SILENT, 0, 0)] * width
    bounds, turns, noisy = np.zeros(width), np.zeros(width, dtype=np.int64), False
    for loop in loops:
        for one, span in loop.ways:
            lines[span] = one.lines(selection)
            bounds[span] = loop.quantum.get(one.name, 0.0)
            turns[span.start] = one.name in loop.noise and one.found.parts == WXYZ
        for name, _, span in loop.places:
            bounds[span] = loop.limit.get(name, 0.0)
        noisy |= bool(loop.noise) and loop.controller.compiled
    noise = np.zeros((count if noisy else 0, width))
    noise[:, turns != 0] = 1.0
    first = np.full((len(fields), KNOTS_KEPT, 4), np.nan)
    for f, field in enumerate(fields):
        for n, (t, value) in enumerate(zip(field.times, field.values, strict=True)):
            first[f, n] = (t, *value, 0.0, 0.0)[:4]
    memory = np.array([x for loop in loops for x in loop.remembered], dtype=float)
    board = Board(
        np.zeros(DESK_WIDTH, dtype=np.int64), _loop_table(loops),
        np.zeros((len(loops), count, AGENDA_WIDTH)), np.zeros((count, width)), bounds, noise, turns,
        np.array(
            [(FALLING if f.drive.rising else ways[f.drive.interpolation], span.start, f.drive.size,
              *edges[k : k + 2], 0)
             for k, (f, span) in enumerate(zip(fields, spans, strict=True))], dtype=np.int64,
        ),
        np.zeros((len(fields), 2 * count + (YIELDS if keeps_lengths(loops) else 8), 4)), first,
        np.array([(some.start, some.stop - some.start) for some in rows], dtype=np.int64),
        np.array([_nine(m) for field in fields for m in field.drive.matrices]).reshape(-1, 9),
        np.array([_fastest(start, loops)]), np.stack([memory, memory]),
        np.array([x for loop in loops for x in flat(loop.controller.arguments)], dtype=float),
        kernel_measures(tables, lines), zero_rows(1, tables.n_bodies + 1),
        ground_frames(tables.n_bodies),
        *_places_of(merger),
    )  # fmt: skip
    for loop in loops:
        for j, (_, commands) in enumerate(loop.pending):
            for command, span in zip(commands, loop.told, strict=True):
                board.log[j, span][-len(command) :] = command
    return board


def no_board() -> Board:
    """The board of a run without controllers."""
    whole, none = np.zeros(0, dtype=np.int64), np.zeros((0, 0))
    table, deep = np.zeros((0, 0), dtype=np.int64), np.zeros((0, 0, 0))
    return Board(
        whole, table, deep, none, np.zeros(0), none, whole, table, deep, deep, table, none,
        np.zeros(0), none, np.zeros(0), measures_of_none(), deep, none, *_places_of(None),
    )  # fmt: skip


def _nine(matrix: Any) -> Floats:
    """The matrix that makes a knot from one number, or from three, row by row."""
    out = np.zeros((3, 3))
    made = np.asarray(matrix, dtype=float)
    out[: made.shape[0], : made.shape[1]] = made
    return out.reshape(-1)


def _places_of(merger: Merger | None) -> tuple[Ints, Floats, Floats]:
    """The poses of bodies in clusters."""
    if merger is None:
        return np.zeros(0, dtype=np.int64), np.zeros((0, 3)), np.zeros((0, 4))
    return np.array(merger.cluster), np.array(merger.place), np.array(merger.turn)


def measures_of_none() -> Measures:
    """Measures of nothing."""
    none, whole = np.zeros((0, 0)), np.zeros(0, dtype=np.int64)
    sites = Sites(whole, none)
    return Measures(whole.reshape(0, 3), sites, whole, none, np.zeros(0), np.zeros(0))


def _loop_table(loops: Sequence[Loop]) -> Ints:
    """The offsets of the numbers of each controller."""
    rows, field, memory, own = [], 0, 0, 0
    for loop in loops:
        who, last = loop.controller, field + len(loop.fields)
        counted = Counted(
            loop.first_told - loop.first_read, len(loop.remembered), loop.end - loop.first_told
        )
        address = address_of_command(who, counted) if who.compiled else 0
        rows.append((address, loop.first_read, loop.first_told, loop.end, memory, own, field, last,
                     len(loop.pending), 0, 0))  # fmt: skip
        field, memory = last, memory + len(loop.remembered)
        own += len(flat(who.arguments))
    return np.array(rows, dtype=np.int64)


NO_BOARD = no_board()
