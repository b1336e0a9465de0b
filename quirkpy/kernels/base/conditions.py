"""`Conditions`: the inputs of an evaluation that may differ between two evaluations of one
model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from quirkpy.kernels.base.hook import HOOK_WIDTH
from quirkpy.maths.types import Floats, Ints

# Columns of Conditions.control: the time [s]; the pivot of closing rows (closure.PIVOT ...);
# Baumgarte's gains: how much of a gap [1/s2] and of a slip [1/s] becomes acceleration; 1, or 0
# where joints that move by themselves are to be taken as standing still.
TIME, PIVOT_USED, OF_GAP, OF_SLIP, EXPLICIT, CONTROL_WIDTH = range(6)
# Columns of Conditions.stops: whether it holds; whether it has been met while the joints alone,
# drives among them, decided its coordinate: then it holds nothing, and is only watched; whether it
# is asked together with others that shut the same motion; the restitution of the impact that is
# being solved, or 0.
HOLDS, DECIDED, ASKED, BOUNCE, CONDITION_WIDTH = range(5)


class Conditions(NamedTuple):
    """control (CONTROL_WIDTH,); near: the angle [rad] next to which that of each coordinate is
    taken, so that it is continuous past pi (nc,); what each stop does (ns, CONDITION_WIDTH); the
    hook; what each rope does in the step that is being taken (ne,), see `kernels/act/ropes.py`."""

    control: Floats
    near: Floats
    stops: Floats
    hook: Ints
    phases: Ints


def new_conditions(coordinates: int, stops: int, elements: int) -> Conditions:
    """New arrays of conditions."""
    return Conditions(
        np.zeros(CONTROL_WIDTH),
        np.zeros(coordinates),
        np.zeros((stops, CONDITION_WIDTH)),
        np.zeros(HOOK_WIDTH, dtype=np.int64),
        np.zeros(elements, dtype=np.int64),
    )


def begin_anew(conditions: Conditions, pivot: float) -> None:
    """Reset time, angles, stops that hold, phases of ropes, and the parameters of closing rows; the
    hook stays."""
    conditions.control[:] = 0.0
    conditions.control[PIVOT_USED], conditions.control[EXPLICIT] = pivot, 1.0
    conditions.near[:] = 0.0
    conditions.stops[:] = 0.0
    conditions.phases[:] = 0
