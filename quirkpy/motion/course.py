"""The record of a run: rows, events, counts, and why it ended."""

from __future__ import annotations

import enum
import math
import tempfile
import weakref
from collections.abc import Sequence
from contextlib import suppress
from io import RawIOBase
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from quirkpy.kernels.base.states import speeds_of
from quirkpy.kernels.step import integrator
from quirkpy.maths.types import Bools, Floats
from quirkpy.mechanics.controls import ControlState

Keep: TypeAlias = Literal["all", "ends"]
#: Factor by which full columns grow [1], so that few copies are needed.
GROWTH = 1.25
#: Largest memory of a column of a run [bytes]; larger ones are in files.
IN_MEMORY = 32_000_000

#: Waiting times of a motion, in order: the beginning of each, and its length [s].
Waits: TypeAlias = Sequence[tuple[float, float]]


class Stop(enum.Enum):
    """Why a run ended."""

    END = "the end time was reached"
    EVENT = "a terminal event happened"
    REST = "it came to rest, or never will"
    STEPS = "max_steps was reached"
    COLLAPSE = "the step became too small to go on: the tolerances cannot be met here"
    NOT_FINITE = "a force or an acceleration was not finite"
    JAMMED = "a stop or a taut rope is in the way of a drive"
    UNHELD = (
        "joints could not be held: projection onto them took more energy than the tolerances "
        "leave open"
    )
    DIVERGED = (
        "controllers drove bodies so fast that they turn 10000 times between two samples: they do "
        "not hold what they control"
    )
    INTERRUPTED = "it was interrupted"
    FAILED = "a user's function raised an error"

    def __str__(self) -> str:
        return self.value


#: Why runs end, by the numbers used in kernels.
ENDS = {
    integrator.ARRIVED: Stop.END,
    integrator.STOPPED: Stop.EVENT,
    integrator.COLLAPSED: Stop.COLLAPSE,
    integrator.NOT_FINITE: Stop.NOT_FINITE,
    integrator.JAMMED: Stop.JAMMED,
    integrator.UNHOLDABLE: Stop.UNHELD,
    integrator.DIVERGED: Stop.DIVERGED,
}


class Happening(NamedTuple):
    """A located event: time [s], its name; the two sensors that met; the joints of a loop that
    passed a singular pose, where branches of motion meet (the loop stayed on its branch); or a
    joint at its stop, and the drives that this blocks; or joints that became active against the
    motion of a start, or that a run could not hold; or those of a branch along which a pose at rest
    is left. lost: the kinetic energy [J] lost as joints became active. branches: those that meet in
    a pose at rest, each by its joints that move."""

    t: float
    name: str
    sensors: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    lost: float = 0.0
    branches: tuple[str, ...] = ()


class Change(NamedTuple):
    """A part that becomes active or inactive at a time [s]: a pair of a study with its option, or a
    latch that is opened; the energy consumed [J], and the power [W]; None: at once."""

    t: float
    pair: str
    option: str
    energy: float
    power: float | None

    @property
    def lasts(self) -> float:
        """For how long it draws power [s]."""
        return 0.0 if self.power is None else self.energy / self.power


class Jump(NamedTuple):
    """A jump of velocities at a time [s]: the bodies just before and just after, in the pose of the
    jump, with the points of modes (nb + points, STATE_WIDTH), and the stops that took part; all
    joints do."""

    t: float
    before: Floats
    after: Floats
    held: tuple[str, ...] = ()

    @classmethod
    def between(cls, t: float, before: Floats, after: Floats, held: tuple[str, ...] = ()) -> Jump:
        """The jump from one state to another, in the poses of the second."""
        start = after.copy()
        speeds_of(start)[:] = speeds_of(before)
        return cls(t, start, after.copy(), held)


class Departure(NamedTuple):
    """A step along a branch out of a pose at rest where several meet: the time at which it begins,
    and its length [s]; the end of what moves, with what it adds to the ledger (n + 1, STATE_WIDTH);
    the stops that hold in it; the velocities at its beginning (n, 6), None if at rest."""

    t: float
    span: float
    state: Floats
    held: tuple[str, ...] = ()
    velocities: Floats | None = None


class ControlRecord(NamedTuple):
    """The record of a controller in a run: its name; the times of its samples [s] (m,); its inputs,
    with their values (m, ...), orientations as w x y z; its drives, with the commands (m, ...); and
    for each of these the knots of the driven field: times [s] (n,), values (n, ...)."""

    name: str
    t: Floats
    reads: tuple[str, ...]
    measured: tuple[Floats, ...]
    drives: tuple[str, ...]
    command: tuple[Floats, ...]
    times: tuple[Floats, ...]
    values: tuple[Floats, ...]


class Counts(NamedTuple):
    """The cost of a run: evaluations of the accelerations, steps taken, steps rejected."""

    evaluations: int
    steps: int
    rejections: int


NOTHING_HELD: Bools = np.zeros((0, 0), dtype=bool)
NO_TAILS: Floats = np.zeros((0, 0))


class Course(NamedTuple):
    """The record of a run: times (k,), states (k, nb + 1, STATE_WIDTH) with the ledger in the last
    row, angles (k, nj), drift removed at each step, of poses and of velocities (k, 2), why it
    ended, events, counts, the next step; which stops hold (k, ns), and their labels; where locked
    bodies were merged, the clusters' rows at the end (n, STATE_WIDTH); tails of the states (k,
    tail), empty where no body has more coordinates and speeds than a rigid one; jumps of the
    velocities; records of controllers, and their states at the end; steps out of singular
    poses."""

    t: Floats
    states: Floats
    angles: Floats
    drift: Floats
    stop: Stop
    events: tuple[Happening, ...]
    counts: Counts
    step: float
    held: Bools = NOTHING_HELD
    stops: tuple[str, ...] = ()
    merged: Floats | None = None
    tail: Floats = NO_TAILS
    jumps: tuple[Jump, ...] = ()
    records: tuple[ControlRecord, ...] = ()
    controls: tuple[ControlState, ...] = ()
    departures: tuple[Departure, ...] = ()

    def tails(self) -> Floats:
        """The tails, a row for each state, also if they are empty (k, tail)."""
        return self.tail if self.tail.size else np.zeros((len(self.t), 0))


class Column:
    """Rows of one kind that are appended to. The array grows in place, so that there is never a
    second copy in memory. Beyond `IN_MEMORY` it is mapped from an unnamed file, which is deleted
    with the array: then it needs memory only while it is read, and the operating system may reclaim
    that. If there is no space for a file, rows stay in memory; if memory runs out, earlier rows are
    kept."""

    def __init__(self, rows: Any) -> None:
        self.store, self.rows = rows, len(rows)
        self.most: float = IN_MEMORY
        self.of_row = math.prod(rows.shape[1:]) * rows.itemsize
        self.file: RawIOBase | None = None

    def add(self, more: Any) -> None:
        """Append rows."""
        rows = self.rows + len(more)
        if self.file is None and rows * self.of_row > self.most:
            self._move_to_file()
        if self.file is None or not self._written(more):
            if len(self.store) < rows:
                self._resize(max(rows, int(GROWTH * len(self.store))))
            self.store[self.rows : rows] = more
        self.rows = rows

    def array(self) -> Any:
        """All rows."""
        if self.file is None:
            self._resize(self.rows)
            return self.store
        shape = self.rows, *self.store.shape[1:]
        return np.asarray(np.memmap(self.file, self.store.dtype, "c", shape=shape))

    def _resize(self, rows: int) -> None:
        if len(self.store) != rows:
            self.store.resize((rows, *self.store.shape[1:]), refcheck=False)  # the only reference

    def _move_to_file(self) -> None:
        """Move the rows into a file, if there is space for one; this is tried once."""
        self.most = math.inf
        with suppress(OSError):
            file = unnamed_file()
            weakref.finalize(self, file.close)  # arrays keep what they have mapped
            write(file, 0, self.store[: self.rows])
            self.file, self.store = file, self.store[:0].copy()

    def _written(self, more: Any) -> bool:
        """Write rows into the file; if there is no space, the earlier rows are read back into
        memory."""
        assert self.file is not None
        try:
            write(self.file, self.rows * self.of_row, more)
        except OSError:
            self.store, self.file = self.array().copy(), None
        return self.file is not None


def unnamed_file() -> RawIOBase:
    """A file that is deleted when its last reference is gone."""
    return tempfile.TemporaryFile(prefix="quirkpy-", buffering=0)


def write(file: RawIOBase, at: int, rows: Any) -> None:
    """Write rows from a byte offset on."""
    data = rows.tobytes()
    file.seek(at)
    if file.write(data) != len(data):
        raise OSError("the file has no more room")


class Kept:
    """The rows of a run that are kept: all, every k-th, or the two ends; the last two options need
    constant memory.

    If there is no room for more rows, earlier ones are kept."""

    def __init__(self, keep: Keep | int) -> None:
        self.every = keep if isinstance(keep, int) else {"all": 1, "ends": 0}[keep]
        self.first: list[Any] = []  # a run that ends in its first call has no others
        self.columns: list[Column] = []
        self.rows = self.seen = 0
        self.last: tuple[Any, ...] = ()

    def add(self, *arrays: Any) -> None:
        """Rows, as columns of times, states, angles, drift, stops held, tails."""
        n, every = len(arrays[0]), self.every
        if not n:
            return
        chosen = slice(-self.seen % every, n, every) if every else slice(0, 0 if self.seen else 1)
        self._append(arrays if every == 1 else [array[chosen] for array in arrays])
        self.seen += n
        ended = (self.seen - 1) % every == 0 if every else self.seen == 1
        self.last = () if ended else tuple([array[-1:].copy() for array in arrays])

    def _append(self, arrays: Sequence[Any]) -> None:
        rows = self.rows + len(arrays[0])
        if not self.first and not self.columns:
            self.first = [array.copy() for array in arrays]
        elif rows > self.rows:
            if self.first:
                self.columns, self.first = [Column(array) for array in self.first], []
            for column, array in zip(self.columns, arrays, strict=True):
                column.rows = self.rows
                column.add(array)
        self.rows = rows

    def end_with(self, *row: Any) -> None:
        """Append the last row, replacing any rows at or after its time."""
        if self.rows:
            times = self.first[0] if self.first else self.columns[0].array()
            self.rows = int(np.searchsorted(times[: self.rows], row[0][0]))
        self.last = tuple([array.copy() for array in row])

    def arrays(self) -> tuple[Any, ...]:
        """All rows that were kept, and the end, column by column."""
        if self.last:
            self._append(self.last)
            self.last = ()
        if self.first:
            rows = self.rows
            return tuple([a if len(a) == rows else a[:rows].copy() for a in self.first])
        for column in self.columns:
            column.rows = self.rows
        return tuple(column.array() for column in self.columns)
