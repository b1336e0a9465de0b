"""Samples of a controller in a run: their times, the quantities measured there, and the knots that
represent commands in tables."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from quirkpy.kernels.base.arrays import KNOT_TIME, KNOT_VALUE, Schedules
from quirkpy.kernels.step.sampling import SILENT
from quirkpy.maths import quat
from quirkpy.maths.types import Floats
from quirkpy.mechanics.controls import value_between
from quirkpy.mechanics.measures import WXYZ, Line, Measure, Portion, has_part_acting, measure_of
from quirkpy.tables.drives import Drive
from quirkpy.tables.tables import Selection, Tables
from quirkpy.tables.vary import selection_on, with_numbers

#: A sample this near to a time, in periods, is taken there: at the end of a run, by the next run.
NEAR = 1e-9
#: Largest denominator of periods that are represented as exact fractions.
SIMPLEST = 10**6
#: Integers below this are exact as floating-point numbers.
EXACT = 2**53


@lru_cache(maxsize=1024)
def fraction_of(x: float) -> Fraction:
    """The simplest fraction that equals a floating-point number to the bit: one tenth for 0.1."""
    near = Fraction(x).limit_denominator(SIMPLEST)
    return near if float(near) == x else Fraction(x)


class Clock:
    """The times at which a controller takes its samples, every period from a time [s] on, each
    correctly rounded; and the times at which their commands take effect."""

    def __init__(self, begun: float, period: float, delay: float) -> None:
        parts = [fraction_of(x) for x in (begun, period, delay)]
        self.scale = math.lcm(*(part.denominator for part in parts))
        self.first, self.step, self.late = (int(part * self.scale) for part in parts)
        self.begun, self.near = begun, NEAR * period

    def sample(self, k: int) -> float:
        """The time of sample k [s]."""
        return (self.first + k * self.step) / self.scale

    def effect(self, k: int) -> float:
        """The time at which the command of sample k takes effect [s]."""
        return (self.first + k * self.step + self.late) / self.scale

    def times(self, k: int, count: int) -> tuple[Floats, Floats]:
        """The times of a number of samples from number k on, and of their effects [s]."""
        if abs(self.first) + (k + count) * self.step + self.late >= EXACT or self.scale >= EXACT:
            which = range(k, k + count)
            return np.array([*map(self.sample, which)]), np.array([*map(self.effect, which)])
        ticks = self.first + self.step * np.arange(k, k + count)
        return ticks / self.scale, (ticks + self.late) / self.scale


class DrivenField:
    """A field of a force that is replaced by commands, at the beginning of a run: knots, times [s]
    and values, at most three."""

    def __init__(
        self, drive: Drive, t: Tables, begun: float, known: tuple[Any, Any] | None
    ) -> None:
        self.drive, self.held = drive, drive.interpolation == "hold"
        written = t.forces[t.force_index[drive.force]].value_of(drive.field)
        times, values = ((begun,), (written,)) if known is None else known
        self.times = [float(time) for time in times]
        self.values: list[tuple[float, ...]] = [floats_of(value) for value in values]

    def value_at(self, t: float) -> tuple[float, ...]:
        """The value of the field at a time."""
        if t == self.times[-1]:
            return self.values[-1]
        here, values = np.array(self.times), np.array(self.values)
        return tuple(value_between(t, here, values, self.held).tolist())

    def shaped(self, *values: tuple[float, ...]) -> Floats:
        """Values in the shape of the field (n,) or (n, 3)."""
        return np.array(values).reshape(-1, *self.drive.shapes[0])


def floats_of(value: Any) -> tuple[float, ...]:
    """A number, or three, as a tuple."""
    return tuple(np.atleast_1d(np.asarray(value, dtype=float)).tolist())


class Reading(NamedTuple):
    """The measure of a name, and the number of its components."""

    name: str
    found: Measure
    size: int

    @classmethod
    def of(cls, tables: Tables, name: str) -> Reading:
        """The reading of a name; an error where there is no such measure."""
        found = measure_of("reads", tables, name)
        return cls(name, found, math.prod(found.shape))

    def lines(self, selection: Selection) -> list[Line]:
        """The lines that compiled code measures for it: none where Python is needed, or a part is
        inactive."""
        idle = self.found.acts and not has_part_acting(selection, self.name)
        return [(SILENT, 0, 0)] * self.size if idle or not self.found.lines else [*self.found.lines]

    def giver(self) -> Callable[[Floats], Any]:
        """What makes of its numbers the value given to a controller: a number, an array, a
        quaternion."""
        if self.found.parts == WXYZ:
            return lambda row: quat.Quaternion(*row.tolist())
        if not self.found.shape:
            return np.ndarray.item
        return lambda row: row.reshape(self.found.shape).copy()

    def ask(self, at: Portion) -> Floats:
        """Values that no kernel measures, under the commands at an instant."""
        return np.asarray(self.found.along(at)[0]).reshape(-1)


def instant_of(
    selection: Selection, schedules: Schedules, t: float, rows: Floats, angles: Floats,
    tail: Floats,
) -> Portion:  # fmt: skip
    """A run at one instant, with the commands of its schedules: all bodies, and the ledger (nb + 1,
    STATE_WIDTH); the reference angles of coordinates [rad] (nc,); the tail of the state."""
    arrays = {"knot_time": schedules.knots[:, KNOT_TIME].copy(),
              "knot_value": schedules.knots[:, KNOT_VALUE:].copy()}  # fmt: skip
    here = selection_on(with_numbers(selection.tables, arrays), selection)
    times, states, near = np.array([t]), rows[None].copy(), angles[None].copy()
    return Portion(here, times, states, near, tails=tail[None].copy())
