"""Figures of a whole run at once: energies, and coordinates of joints, at each of its rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from quirkpy.kernels.act import courses
from quirkpy.kernels.base.arrays import Joints
from quirkpy.kernels.base.states import (
    bodies_of,
    quantities_of,
    spins_of,
    velocities_of,
    zero_vectors,
)
from quirkpy.kernels.place.kinematics import ground_frames
from quirkpy.kernels.users.packing import pack
from quirkpy.maths.types import Floats, Ints
from quirkpy.mechanics.instant import Instant
from quirkpy.tables.tables import CALLBACK, LAW, Selection, Tables

#: Rows whose elements are looked at in one call.
AT_ONCE = 4096


def instants(selection: Selection, t: Floats, states: Floats, angles: Floats) -> Iterator[Instant]:
    """Each row of a run as the kernels take it, for who must ask Python: t [s] (k,), states
    (k, nb + 1, STATE_WIDTH), angles [rad] (k, nc)."""
    for k, time in enumerate(t.tolist()):
        r, q, v, omega = quantities_of(bodies_of(states[k]))
        yield Instant(selection, time, r, q, v, omega, angles[k])


def kinetic_along(tables: Tables, states: Floats) -> Floats:
    """Kinetic energy relative to N [J] of states (k, nb + 1, STATE_WIDTH), at each (k,)."""
    v, omega = velocities_of(bodies_of(states)), spins_of(bodies_of(states))
    linear = (tables.body_mass[:, None] * v**2).reshape(len(states), -1).sum(axis=1)
    angular = np.einsum("kni,nij,knj->k", omega, tables.body_inertia, omega)
    return np.asarray(0.5 * linear + 0.5 * angular)


def potential_along(selection: Selection, t: Floats, states: Floats, angles: Floats) -> Floats:
    """Potential energy [J] of every active force that has one, at each row (k,)."""
    kinds = selection.tables.element_kind[selection.elements]
    if np.isin(kinds, (CALLBACK, LAW)).any():
        rows = instants(selection, t, states, angles)
        return np.array([float(at.loads.potential.sum()) for at in rows])
    packed, n = pack(selection.tables), states.shape[1]
    joints = Joints(packed.ends, packed.coordinates, np.zeros(angles.shape[1]))
    frames, wrench, power = ground_frames(n - 1), zero_vectors(n), np.empty(2)
    out = np.empty(len(t))
    for begin in range(0, len(t), AT_ONCE):
        some = slice(begin, begin + AT_ONCE)
        found = np.zeros((len(t[some]), len(selection.elements)))
        courses.potentials_along(
            t[some], states[some], angles[some], selection.elements, packed.elements, joints,
            packed.schedules, packed.bodies, packed.sites, frames, wrench, power, found,
        )  # fmt: skip
        out[some] = found.sum(axis=1)
    return out


def coordinates_along(tables: Tables, which: Ints, states: Floats, angles: Floats) -> Floats:
    """Value and rate of the given coordinates at each row (k, n, 2)."""
    packed, out = pack(tables), np.empty((len(states), len(which), 2))
    joints = Joints(packed.ends, packed.coordinates, np.zeros(angles.shape[1]))
    frames = ground_frames(states.shape[1] - 1)
    courses.coordinates_along(states, angles, which, joints, packed.sites, frames, out)
    return out
