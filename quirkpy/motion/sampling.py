"""A run at more times than its stored ones: regular, or given ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from quirkpy.maths.types import Floats, Ints
from quirkpy.motion.course import Course
from quirkpy.motion.interpolation import CourseRows
from quirkpy.motion.resuming import Onward
from quirkpy.parts.checks import positive
from quirkpy.parts.part import PartError, check_argument

#: The requested times between two others [s], in order.
Inner: TypeAlias = Callable[[float, float], Sequence[float]]
#: Largest number of rows of a sampled run.
MOST_ROWS = 10_000_000
#: Times that differ by no more than this share of a step are equal.
SAME_TIME = 1e-9


def check_step(who: str, step: Any, t: Floats) -> float:
    """A step [s] for sampling a run at given times; an error if that needs too many rows."""
    checked: float = check_argument(who, "step", step, positive)
    span = float(t[-1] - t[0])
    if span / checked > MOST_ROWS:
        raise PartError(
            f"{who}: step is {checked:g} s, of which the run takes {span / checked:.2g}; give one "
            f"of {span / MOST_ROWS:.2g} s or more."
        )
    return checked


def evenly(step: float) -> Inner:
    """Regular times between two others, at most a step apart [s]."""

    def inner(begun: float, ending: float) -> Sequence[float]:
        parts = math.ceil((ending - begun) / step)
        return [begun + (ending - begun) * i / parts for i in range(1, parts)]

    return inner


def among(times: Floats) -> Inner:
    """The elements of some times that lie between two others, in order (k,) [s]."""

    def inner(begun: float, ending: float) -> Sequence[float]:
        first, last = np.searchsorted(times, begun, "right"), np.searchsorted(times, ending)
        return [float(t) for t in times[first:last]]

    return inner


def regular_times(t: Floats, step: float) -> Floats:
    """The first of some times, others each a step [s] after the one before, and the last (k,)."""
    span = float(t[-1] - t[0])
    whole = math.ceil(span / step - SAME_TIME) if span > 0.0 else 0
    return np.append(float(t[0]) + step * np.arange(whole), float(t[-1]))


def rows_at(t: Floats, times: Floats, step: float) -> Ints:
    """The row of each of some stored times, a step [s] from each other (k,); of two at one time the
    later one."""
    return np.searchsorted(t, times + SAME_TIME * step, "right") - 1


def sample(course: Course, rows: CourseRows, onward: Onward, inner: Inner) -> Course:
    """A course with rows at further times between its own; rows: the stored ones, of the simulated
    bodies. `drift` is zero in the further rows."""
    c, made = course, list[tuple[Any, ...]]()
    for k, begun in enumerate(c.t.tolist()):
        made.append((begun, c.states[k], c.angles[k], c.drift[k], c.tails()[k]))
        ending = float(c.t[k + 1]) if k + 1 < len(c.t) else begun
        here, next_step = rows.select(slice(k, k + 1)), 0.0
        for at in inner(begun, ending):  # each from the one before
            there = onward(here, at, next_step)
            here, next_step = there.rows, there.step
            none = np.zeros_like(c.drift[k])
            made.append((at, onward.entry.expand(there.state), there.angles, none, there.tail))
    t, states, angles, drift, tail = (np.array(column) for column in zip(*made, strict=True))
    held = c.held[np.searchsorted(c.t, t, side="right") - 1] if c.stops else c.held
    tail = tail if tail.size else c.tail
    return c._replace(t=t, states=states, angles=angles, drift=drift, held=held, tail=tail)
