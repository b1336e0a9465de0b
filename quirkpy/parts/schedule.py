"""`Schedule`: a function of time that compiles and is written to JSON, unlike a Python function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from quirkpy.parts.checks import numbers, real, show, word
from quirkpy.parts.part import Part, checked

Interpolation: TypeAlias = Literal["hold", "linear", "smooth"]
#: The order of the interpolations is their number in the tables.
INTERPOLATIONS: tuple[Interpolation, ...] = get_args(Interpolation)


def _times(value: Any) -> Any:
    array = real(value)
    if (
        array.ndim != 1
        or not array.size
        or not np.isfinite(array).all()
        or (np.diff(array) <= 0.0).any()
    ):
        raise ValueError(
            f"is {show(value)}, but must be a list of rising finite times [s], at least one"
        )
    return tuple(array.tolist())


def _values(value: Any) -> Any:
    array = real(value)
    if array.ndim == 0 or array.shape[1:] not in ((), (3,)):
        raise ValueError(
            f"has shape {array.shape}, but must be a list of vectors of three numbers, or of "
            "numbers"
        )
    return numbers(value, array.shape)


class Schedule(Part):
    """A vector (three numbers), or a number, as a function of time, given by knots.

    times [s] rise; values: one for each.  "hold" keeps a value until the next knot (a knot belongs
    to what follows it), "linear" joins the knots, "smooth" goes from one to the next by 10 s^3 - 15
    s^4 + 6 s^5 and so is at rest at every knot, with two continuous derivatives.  Before the first
    knot the first value holds, after the last the last."""

    times: Sequence[float] = checked(_times)
    values: Sequence[Sequence[float]] | Sequence[float] = checked(_values)
    interpolation: Interpolation = checked(word(Interpolation), default="hold")

    def validate(self) -> None:
        if len(self.times) != len(self.values):
            raise self.refuse(
                f"{len(self.times)} times do not go with {len(self.values)} values; give one for "
                "each."
            )

    @property
    def scalar(self) -> bool:
        """Whether values of the schedule are plain numbers."""
        return isinstance(self.values[0], float)

    def at(self, t: float) -> NDArray[np.float64]:
        """The value at time t [s]: (3,), or () where its values are plain numbers."""
        times, values = np.asarray(self.times), np.asarray(self.values)
        k = max(int(np.searchsorted(times, t, side="right")) - 1, 0)
        if self.interpolation == "hold" or k == len(times) - 1 or t < times[0]:
            return np.asarray(values[k])
        share = (t - times[k]) / (times[k + 1] - times[k])
        if self.interpolation == "smooth":
            share = share**3 * (10.0 - 15.0 * share + 6.0 * share**2)
        return np.asarray(values[k] + share * (values[k + 1] - values[k]))

    def motion(self, t: float) -> tuple[float, float, float]:
        """Value, rate [1/s] and acceleration [1/s2] of a "smooth" schedule of numbers at time t
        [s]."""
        k = int(np.searchsorted(self.times, t, side="right")) - 1
        if k < 0 or k == len(self.times) - 1:
            return float(self.at(t)), 0.0, 0.0
        span = self.times[k + 1] - self.times[k]
        s, way = (t - self.times[k]) / span, float(np.subtract(self.values[k + 1], self.values[k]))
        rate, bend = 30.0 * s**2 * (1.0 - s) ** 2, 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s)
        return float(self.at(t)), way * rate / span, way * bend / span**2
