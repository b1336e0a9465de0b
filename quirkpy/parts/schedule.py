"""`Schedule`: a function of time that compiles and is written to JSON, unlike a Python function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quirkpy.parts.checks import numbers, real, shown, word
from quirkpy.parts.part import Part, checked

Interpolation: TypeAlias = Literal["hold", "linear"]


def _times(value: Any) -> Any:
    array = real(value)
    if array.ndim != 1 or not array.size or not np.isfinite(array).all() or (np.diff(array) <= 0.0).any():
        raise ValueError(f"is {shown(value)}, but must be a list of rising finite times [s], at least one")
    return tuple(array.tolist())


def _values(value: Any) -> Any:
    array = real(value)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"has shape {array.shape}, but must be a list of vectors of three numbers")
    return numbers(value, array.shape)


class Schedule(Part):
    """A vector (three numbers) as a function of time, given by knots.

    times [s] rise; values: one vector for each.  "hold" keeps a value until the next knot (a knot belongs to what
    follows it), "linear" joins the knots.  Before the first knot the first value holds, after the last the last.
    """

    times: Sequence[float] = checked(_times)
    values: Sequence[Sequence[float]] = checked(_values)
    interpolation: Interpolation = checked(word(Interpolation), default="hold")

    def validate(self) -> None:
        if len(self.times) != len(self.values):
            raise self.refuse(f"{len(self.times)} times do not go with {len(self.values)} values; give one for each.")

    def at(self, t: float) -> NDArray[np.float64]:
        """The value (3,) at time t [s]."""
        times, values = np.asarray(self.times), np.asarray(self.values)
        if self.interpolation == "hold":
            return np.asarray(values[max(int(np.searchsorted(times, t, side="right")) - 1, 0)])
        return np.array([np.interp(t, times, column) for column in values.T])
