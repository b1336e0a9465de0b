"""Quantities at all rows of a run at once: energies, and coordinates of joints."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from quirkpy.kernels.act import courses, measures
from quirkpy.kernels.base.arrays import Joints
from quirkpy.kernels.base.states import (
    NO_TAIL,
    attitudes_of,
    bodies_of,
    positions_of,
    quantities_of,
    spins_of,
    velocities_of,
    zero_vectors,
)
from quirkpy.kernels.place.kinematics import ground_frames
from quirkpy.kernels.users.modal import states_of
from quirkpy.kernels.users.packing import pack
from quirkpy.maths.rotations import rotate
from quirkpy.maths.types import Floats, Ints
from quirkpy.mechanics import bending
from quirkpy.mechanics.instant import Instant
from quirkpy.tables.tables import CALLBACK, OF_USERS_CODE, Selection, Tables

#: Number of rows whose elements are evaluated in one call.
AT_ONCE = 4096


def instants(
    selection: Selection, t: Floats, states: Floats, angles: Floats, tails: Floats = NO_TAIL
) -> Iterator[Instant]:
    """Each row of a run as an `Instant`, for code that must call Python: t [s] (k,), states (k, nb
    + 1, STATE_WIDTH), angles [rad] (k, nc), tails (k, tail)."""
    for k, time in enumerate(t.tolist()):
        motion, tail = quantities_of(bodies_of(states[k])), tails[k] if tails.size else NO_TAIL
        yield Instant(selection, time, *motion, angles[k], further=tail)


def poses(selection: Selection, states: Floats, tails: Floats) -> Iterator[Instant]:
    """`instants` for what depends on neither time nor whole turns."""
    still = np.zeros((len(states), len(selection.tables.coordinate_names)))
    return instants(selection, np.zeros(len(states)), states, still, tails)


def with_tails(tables: Tables, states: Floats, tails: Floats) -> Floats:
    """States (k, nb + 1, STATE_WIDTH) with their tails (k, tail) in further rows, as kernels take
    them where bodies bend; as they are elsewhere."""
    layout = states_of(tables)
    return layout.whole_rows(bodies_of(states), tails) if layout.tail else states


def kinetic_along(selection: Selection, states: Floats, tails: Floats = NO_TAIL) -> Floats:
    """Kinetic energy relative to N [J] of states (k, nb + 1, STATE_WIDTH), at each (k,)."""
    tables = selection.tables
    if tables.bends:
        return np.array([bending.kinetic_energy(at) for at in poses(selection, states, tails)])
    v, omega = velocities_of(bodies_of(states)), spins_of(bodies_of(states))
    linear = (tables.body_mass[:, None] * v**2).reshape(len(states), -1).sum(axis=1)
    angular = np.einsum("kni,nij,knj->k", omega, tables.body_inertia, omega)
    return np.asarray(0.5 * linear + 0.5 * angular)


def potential_along(
    selection: Selection, t: Floats, states: Floats, angles: Floats, tails: Floats = NO_TAIL
) -> Floats:
    """Potential energy [J] of every active force that has one, and of strain, at each row (k,)."""
    if selection.tables.bends:
        rows = instants(selection, t, states, angles, tails)
        return np.array(
            [float(at.loads.potential.sum()) + bending.strain_energy(at) for at in rows]
        )
    kinds = selection.tables.element_kind[selection.elements]
    if np.isin(kinds, (CALLBACK, *OF_USERS_CODE)).any():
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
            t[some], states[some], packed.modes, angles[some], selection.elements, packed.elements,
            joints, packed.schedules, packed.bodies, packed.sites, frames, wrench, power, found,
        )  # fmt: skip
        out[some] = found.sum(axis=1)
    return out


def loads_along(
    selection: Selection, which: Ints, t: Floats, states: Floats, angles: Floats
) -> tuple[Floats, Floats]:
    """The total load of some elements of a selection, users' code included, on each body at each
    row (k, nb, 6), and their potential energy [J] (k,)."""
    packed, nb = pack(selection.tables), selection.tables.n_bodies
    n = nb + len(packed.modes.stations) + 1
    joints = Joints(packed.ends, packed.coordinates, np.zeros(angles.shape[1]))
    wrenches, found = zero_vectors(len(t), n), np.zeros((len(t), len(which)))
    measures.loads_along(
        t, states, packed.modes, angles, which, packed.elements, joints, packed.schedules,
        packed.bodies, packed.sites, ground_frames(n - 1), np.empty(2), wrenches, found,
    )  # fmt: skip
    asked = which[selection.tables.element_kind[which] == CALLBACK]
    if len(asked):
        alone = Selection(selection.tables, selection.joints, selection.forces)
        vars(alone)["elements"] = asked
        for k, at in enumerate(instants(alone, t, states, angles)):
            wrenches[k, :-1] += at.loads.wrench
            found[k, 0] += at.loads.potential.sum()
    return wrenches[:, :nb], found.sum(axis=1)


def centres_along(
    selection: Selection, which: Ints, states: Floats, tails: Floats = NO_TAIL
) -> Floats:
    """Mass centre in N [m] of some moving bodies, at each row (k, 3)."""
    tables = selection.tables
    if tables.bends:
        total, rows = tables.body_mass[which].sum(), poses(selection, states, tails)
        return np.array([bending.mass_moments(at)[which].sum(axis=0) for at in rows]) / total
    mass = tables.body_mass[which, None]
    moment = (positions_of(bodies_of(states)[:, which]) * mass).sum(axis=1)
    return np.asarray(moment / mass.sum())


def inertias_along(
    selection: Selection, which: Ints, states: Floats, tails: Floats = NO_TAIL
) -> Floats:
    """Moments of inertia of some moving bodies about their common mass centre, in N [kg m2], at
    each row (k, 3, 3)."""
    tables, centres = selection.tables, centres_along(selection, which, states, tails)
    if tables.bends:
        there = zip(poses(selection, states, tails), centres, strict=True)
        return np.array([bending.inertias_about(at, c)[which].sum(axis=0) for at, c in there])
    rows, mass = bodies_of(states)[:, which], tables.body_mass[which]
    turn = rotation_matrices(attitudes_of(rows))
    own = np.einsum("knij,njl,knml->kim", turn, tables.body_inertia[which], turn)
    arms = positions_of(rows) - centres[:, None]
    square = np.einsum("n,kni,kni->k", mass, arms, arms)
    outer = np.einsum("n,kni,knj->kij", mass, arms, arms)
    return np.asarray(own + square[:, None, None] * np.eye(3) - outer)


def momenta_along(
    selection: Selection, which: Ints, states: Floats, tails: Floats = NO_TAIL
) -> tuple[Floats, Floats]:
    """Momentum in N [kg m/s] of some moving bodies, and their angular momentum about the origin of
    N [kg m2/s], at each row (k, 3)."""
    tables = selection.tables
    if tables.bends:
        found = [bending.momenta(at) for at in poses(selection, states, tails)]
        one, two = np.array(found).swapaxes(0, 1)[:, :, which].sum(axis=2)
        return one, two
    rows, mass = bodies_of(states)[:, which], tables.body_mass[which, None]
    spin = np.einsum("nij,knj->kni", tables.body_inertia[which], spins_of(rows))
    orbital = np.cross(positions_of(rows), velocities_of(rows)) * mass
    angular = (rotate(attitudes_of(rows), spin) + orbital).sum(axis=1)
    return np.asarray((velocities_of(rows) * mass).sum(axis=1)), np.asarray(angular)


def rotation_matrices(q: Floats) -> Floats:
    """Matrices of unit quaternions w x y z (..., 4): (..., 3, 3)."""
    return np.stack([rotate(q, np.broadcast_to(e, (*q.shape[:-1], 3))) for e in np.eye(3)], axis=-1)


def coordinates_along(tables: Tables, which: Ints, states: Floats, angles: Floats) -> Floats:
    """Value and rate of the given coordinates at each row (k, n, 2)."""
    packed, out = pack(tables), np.empty((len(states), len(which), 2))
    joints = Joints(packed.ends, packed.coordinates, np.zeros(angles.shape[1]))
    frames = ground_frames(tables.n_bodies + len(packed.modes.stations))
    sites, modes = packed.sites, packed.modes
    courses.coordinates_along(states, modes, angles, which, joints, sites, frames, out)
    return out
