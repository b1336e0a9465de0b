"""`Leaving`: the departure of a motion from an unstable equilibrium, and its time.

Near an unstable equilibrium a displacement grows as exp(s t), so the time spent there depends only
on the size of the initial displacement: ln(distance / nudge) / s, which diverges as that goes to
zero. The motion beyond does not depend on it."""

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

#: A motion has left an unstable equilibrium once a body is this far from it [m], [rad]; or this
#: share of the largest distance of any body, where that is less.
DEPARTURE, DEPARTURE_SHARE = 1e-2, 0.5
#: Accuracy of the time of departure, absolute [s] and relative.
XTOL, RTOL = 1e-12, 1e-12


class Leaving(NamedTuple):
    """The departure from an unstable equilibrium: when it was displaced [s]; waiting [s]: the time
    spent near; growth [1/s]: the rate at which the distance grew; bodies: those that moved."""

    t: float
    waiting: float
    growth: float
    bodies: tuple[str, ...]


def leaving_of(rest: Vicinity, mode: Mode, run: Trajectory) -> Leaving:
    """The departure of a run that begins near an unstable equilibrium, displaced along a mode."""
    t, sizes = run.t, distances(rest, run.course.states, run.course.tails())
    begun, far = float(t[0]), min(DEPARTURE, DEPARTURE_SHARE * float(sizes.max()))
    bodies = tuple(dict.fromkeys(what.rsplit(" ", 1)[0] for what in mode.moving))
    if sizes[0] >= far:
        return Leaving(begun, 0.0, float(mode.eigenvalue.real), bodies)
    k = int(np.argmax(sizes >= far))

    def beyond(time: float) -> float:
        there = run.at(time)
        return float(distances(rest, _rows_of(there)[None], there.further[None])[0]) - far

    left = brentq(beyond, float(t[k - 1]), float(t[k]), xtol=XTOL, rtol=RTOL)
    return Leaving(begun, float(left) - begun, float(mode.eigenvalue.real), bodies)


def distances(rest: Vicinity, states: Floats, tails: Floats) -> Floats:
    """The distance from an equilibrium of the body that has moved most, relative to the rigid
    motion of the whole, to first order [m], [rad]; states: (k, nb + 1, STATE_WIDTH) as in runs,
    with their tails (k, tail)."""
    bodies = bodies_of(rest.entry.contract(states))
    xi = rest.coordinates(rest.points.rows(bodies, tails))
    moved = (xi @ rest.basis.reshape(rest.freedoms, -1)).reshape(len(xi), -1, 3)
    return np.asarray(np.sqrt((moved * moved).sum(axis=2).max(axis=1, initial=0.0)))


def _rows_of(state: State) -> Floats:
    """A state as in runs, with an empty ledger (nb + 1, STATE_WIDTH)."""
    return with_ledger(state_rows(state.r, state.q, state.v, state.omega))
