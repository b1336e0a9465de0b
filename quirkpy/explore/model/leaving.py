"""`Leaving`: how a motion leaves an unstable rest, and when it has left.

Near an unstable rest a displacement grows as exp(s t), so the time spent there depends on the size
of the nudge alone: ln(distance / nudge) / s, for ever longer the smaller that is.  The motion
beyond does not depend on it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from quirkpy.kernels.base.states import bodies_of, state_rows, with_ledger
from quirkpy.maths.types import Floats
from quirkpy.mechanics.state import State
from quirkpy.motion.trajectory import Trajectory
from quirkpy.rest.equilibrium import Mode
from quirkpy.rest.vicinity import Vicinity

#: A motion has left an unstable rest once a body is this far from it [m], [rad]; or this share of
#: the farthest that any gets, where that is less.
DEPARTURE, DEPARTURE_SHARE = 1e-2, 0.5
#: The moment is located to this [s], and to this share of its time.
XTOL, RTOL = 1e-12, 1e-12


class Leaving(NamedTuple):
    """How a motion left an unstable rest: when it was nudged [s]; waiting [s]: how long it stayed
    near; growth [1/s]: the rate at which the distance from the rest grew; bodies: those that
    moved."""

    t: float
    waiting: float
    growth: float
    bodies: tuple[str, ...]


def leaving_of(rest: Vicinity, mode: Mode, run: Trajectory) -> Leaving:
    """How a run that begins beside an unstable rest, displaced along a mode, leaves it."""
    t, sizes = run.t, distances(rest, run.course.states)
    begun, far = float(t[0]), min(DEPARTURE, DEPARTURE_SHARE * float(sizes.max()))
    bodies = tuple(dict.fromkeys(what.rsplit(" ", 1)[0] for what in mode.moving))
    if sizes[0] >= far:
        return Leaving(begun, 0.0, float(mode.eigenvalue.real), bodies)
    k = int(np.argmax(sizes >= far))

    def beyond(time: float) -> float:
        return float(distances(rest, _rows_of(run.at(time))[None])[0]) - far

    left = brentq(beyond, float(t[k - 1]), float(t[k]), xtol=XTOL, rtol=RTOL)
    return Leaving(begun, float(left) - begun, float(mode.eigenvalue.real), bodies)


def distances(rest: Vicinity, states: Floats) -> Floats:
    """How far the body that has moved most is from a rest, beside the whole, to first order [m],
    [rad]; states: (k, nb + 1, STATE_WIDTH) as runs keep them."""
    xi = rest.coordinates(bodies_of(rest.entry.contract(states)))
    moved = (xi @ rest.basis.reshape(rest.freedoms, -1)).reshape(len(xi), -1, 3)
    return np.asarray(np.sqrt((moved * moved).sum(axis=2).max(axis=1, initial=0.0)))


def _rows_of(state: State) -> Floats:
    """A state as runs keep it, with an empty ledger (nb + 1, STATE_WIDTH)."""
    return with_ledger(state_rows(state.r, state.q, state.v, state.omega))
