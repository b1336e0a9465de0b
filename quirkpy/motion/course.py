"""What a run leaves behind: rows, events, counts, and why it ended."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from quirkpy.maths.types import Bools, Floats

Keep: TypeAlias = Literal["all", "ends"]


#: Waits of a motion, in their order: when each begins, and how long it lasts [s].
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
    INTERRUPTED = "it was interrupted"
    FAILED = "a user's function raised an error"

    def __str__(self) -> str:
        return self.value


class Happening(NamedTuple):
    """A located event: time [s], its name; the two sensors that met; the joints of a loop that
    passed a singular pose, where branches of motion meet: it kept to its own; or a joint at its
    stop, and drives that this is in the way of; or joints that take hold of a start that moves
    against them, or that a run could not hold.  lost: the kinetic energy [J] that joints took as
    they took hold."""

    t: float
    name: str
    sensors: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    lost: float = 0.0


class Counts(NamedTuple):
    """What a run cost: evaluations of the accelerations, steps taken, steps rejected."""

    evaluations: int
    steps: int
    rejections: int


NOTHING_HELD: Bools = np.zeros((0, 0), dtype=bool)
NO_TAILS: Floats = np.zeros((0, 0))


class Course(NamedTuple):
    """What a run leaves: times (k,), states (k, nb + 1, STATE_WIDTH) with the ledger in the last
    row, angles (k, nj), drift removed at each step, of poses and of velocities (k, 2), why it
    ended, events, counts, the next step; which stops hold (k, ns), and their labels; where locked
    bodies were one, the clusters' rows at the end (n, STATE_WIDTH); tails of the states (k, tail),
    empty where no body has more coordinates and speeds than a rigid one."""

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

    def tails(self) -> Floats:
        """The tails, a row for each state, whether they have numbers or none (k, tail)."""
        return self.tail if self.tail.size else np.zeros((len(self.t), 0))


class Kept:
    """The rows of a run that are kept: all, every k-th, or the two ends; the memory of the last two
    stays flat."""

    def __init__(self, keep: Keep | int) -> None:
        self.every = keep if isinstance(keep, int) else {"all": 1, "ends": 0}[keep]
        self.chunks: list[tuple[Any, ...]] = []
        self.last: tuple[Any, ...] = ()
        self.seen = 0

    def add(self, *arrays: Any) -> None:
        """Rows, as columns of times, states, angles, drift, stops held, tails."""
        n, every = len(arrays[0]), self.every
        if not n:
            return
        chosen = slice(-self.seen % every, n, every) if every else slice(0, 0 if self.seen else 1)
        picked = arrays if every == 1 else [array[chosen] for array in arrays]
        if len(picked[0]):
            self.chunks.append(tuple([array.copy() for array in picked]))
        self.seen += n
        ended = (self.seen - 1) % every == 0 if every else self.seen == 1
        self.last = () if ended else tuple([array[-1:].copy() for array in arrays])

    def end_with(self, *row: Any) -> None:
        """A row that is the last, in the place of those that are not before it."""
        while self.chunks and self.chunks[-1][0][-1] >= row[0][0]:
            before = int(np.searchsorted(self.chunks[-1][0], row[0][0]))
            chunk = self.chunks.pop()
            if before:
                self.chunks.append(tuple([array[:before] for array in chunk]))
        self.last = tuple([array.copy() for array in row])

    def arrays(self) -> tuple[Any, ...]:
        """All that was kept, and the end: column by column.  Each chunk is let go of as soon as it
        is copied."""
        chunks = [*self.chunks, self.last] if self.last else self.chunks
        if len(chunks) == 1:
            return chunks[0]
        out = tuple(
            [
                np.empty((sum(len(chunk[0]) for chunk in chunks), *array.shape[1:]), array.dtype)
                for array in chunks[0]
            ]
        )
        self.chunks, at = [], 0
        while chunks:
            chunk = chunks.pop(0)
            for column, array in zip(out, chunk, strict=True):
                column[at : at + len(array)] = array
            at += len(chunk[0])
        return out
