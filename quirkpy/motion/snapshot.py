"""A row of a run as a state."""

from __future__ import annotations

import math

import numpy as np

from quirkpy.kernels.base.states import NO_TAIL, quantities_of
from quirkpy.maths.types import Floats
from quirkpy.mechanics.controls import ControlState
from quirkpy.mechanics.state import State

#: Angles this near to half a turn [turns] are compared with those of the pose.
HALF_TURN = 1e-6


def state_at(
    start: State, t: float, y: Floats, angles: Floats, held: tuple[str, ...] = (),
    step: float | None = None, merged: Floats | None = None, further: Floats = NO_TAIL,
    controls: tuple[ControlState, ...] = (),
) -> State:  # fmt: skip
    """A row of a run with its own angles as a state of its system; held: the stops that hold; step,
    merged, further, controls: see State."""
    rows = y[: len(start.r)]
    r, q, v, omega = (some.copy() for some in quantities_of(rows))
    turns = angles / (2.0 * math.pi)
    whole = np.rint(turns)
    sure = (
        abs(turns - whole).max(initial=0.0) < 0.5 - HALF_TURN
    )  # the pose may have the opposite sign at half a turn
    windings = whole.astype(np.int64) if sure else np.zeros(len(angles), dtype=np.int64)
    state = start.changed(
        t=float(t), r=r, q=q, v=v, omega=omega, windings=windings, step=step, held=held,
        merged=merged, further=further.copy(), controls=controls,
    )  # fmt: skip
    if not (np.isfinite(rows).all() and np.isfinite(further).all()):
        state.check_numbers()
    return state if sure else state.next_to(angles)
