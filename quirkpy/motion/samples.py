"""Samples of a run: when they are due, what is measured there, and knots by which commands stand in
tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from quirkpy.kernels.act.measures import STATE_NUMBER, measures_along
from quirkpy.kernels.base.arrays import KNOT_TIME, KNOT_VALUE, Joints, Schedules
from quirkpy.kernels.place.kinematics import ground_frames
from quirkpy.kernels.users.packing import pack
from quirkpy.maths import quat
from quirkpy.maths.types import Floats
from quirkpy.mechanics.controls import value_between
from quirkpy.mechanics.measures import WXYZ, Measure, Portion, kernel_measures, measure_of
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
        self.values: list[tuple[float, ...]] = [floats_of(value) for value in values]
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
        if self.times[-1] != t:
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


def floats_of(value: Any) -> tuple[float, ...]:
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
