"""`ControlState`: the part of a state that belongs to a controller, between two of its samples."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from quirkpy.maths.types import Floats

#: Knots of a drive: times [s], and the values of its field there.
Knots: TypeAlias = tuple[tuple[float, ...], tuple[Any, ...]]


class ControlState(NamedTuple):
    """A controller between two samples: its name; the time of its first sample [s], None: it starts
    anew; the number of samples taken; its memory; for each of its drives, by name, the knots
    between which the command is interpolated now; and delayed commands, each with the number of its
    sample."""

    name: str
    begun: float | None = None
    samples: int = 0
    memory: Any = ()
    lines: tuple[tuple[str, Knots], ...] = ()
    pending: tuple[tuple[int, tuple[Any, ...]], ...] = ()


def value_between(t: float, times: Floats, values: Floats, held: bool) -> Floats:
    """The value given by knots at a time: constant from each knot to the next, or linear between
    them."""
    k = max(int(np.searchsorted(times, t, side="right")) - 1, 0)
    if held or k == len(times) - 1 or t < times[0]:
        return np.asarray(values[k])
    share = (t - times[k]) / (times[k + 1] - times[k])
    return np.asarray(values[k] + share * (values[k + 1] - values[k]))
