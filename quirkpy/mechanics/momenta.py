"""Momenta of bodies: of several together, of wheels in them, and the rotation of the equivalent
rigid body."""

from __future__ import annotations

import numpy as np

from quirkpy.kernels.base.states import (
    as_many,
    positions_of,
    spins_of,
    velocities_of,
)
from quirkpy.kernels.place.carried import turn_axes
from quirkpy.kernels.place.sites import axes_in_body
from quirkpy.kernels.users.packing import pack
from quirkpy.maths.rotations import cross
from quirkpy.maths.types import Floats
from quirkpy.parts.actuators import ReactionWheel
from quirkpy.tables.tables import WHEEL, Selection


def spinning(mass: Floats, inertia: Floats, states: Floats) -> tuple[Floats, Floats, Floats]:
    """Angular momentum about the mass centre, the angular velocity of a rigid body that has it (k,
    3), and its moments of inertia (k, 3, 3)."""
    d, axes = arms_of(mass, states), axes_of(states)
    each = np.einsum("npq,knq->knp", inertia, spins_of(states))
    momentum, sums = _momentum(mass, d, axes, each, states), _moments(mass, inertia, d, axes)
    return momentum, np.asarray(np.linalg.solve(sums, momentum[..., None])[..., 0]), sums


def moments(mass: Floats, inertia: Floats, states: Floats) -> Floats:
    """Moments of inertia of all bodies about their common mass centre, in N (k, 3, 3)."""
    return _moments(mass, inertia, arms_of(mass, states), axes_of(states))


def _moments(mass: Floats, inertia: Floats, d: Floats, axes: Floats) -> Floats:
    """Moments of inertia in N (k, 3, 3) of bodies at positions d relative to their common mass
    centre (k, n, 3), with axes (k, n, 3, 3)."""
    total = np.einsum("knip,npq,knjq->kij", axes, inertia, axes) - np.einsum(
        "n,kni,knj->kij", mass, d, d
    )
    return np.asarray(total + np.einsum("n,kni,kni->k", mass, d, d)[:, None, None] * np.eye(3))


def stored_momentum(selection: Selection, t: float) -> Floats:
    """Angular momentum of the reaction wheels in each body at time t [s], in body axes [N m s] (n,
    3)."""
    tables, packed = selection.tables, pack(selection.tables)
    sites, out = packed.sites, np.zeros((tables.n_bodies + len(packed.modes.stations) + 1, 3))
    for e in selection.elements[tables.element_kind[selection.elements] == WHEEL]:
        wheel, site = tables.forces[tables.element_force[e]], tables.element_site1[e]
        assert isinstance(wheel, ReactionWheel)
        out[sites.body[site]] += axes_in_body(site, sites) @ wheel.in_site(t)
    return out[: tables.n_bodies]


def angular_momentum(
    states: Floats, mass: Floats, inertia: Floats, stored: Floats | None = None
) -> Floats:
    """Angular momentum of bodies (k, n, STATE_WIDTH) about their common mass centre, in N (k, 3);
    stored: that of wheels in them (n, 3)."""
    each = np.einsum("npq,knq->knp", inertia, spins_of(states))
    each = each if stored is None else each + stored
    return _momentum(mass, arms_of(mass, states), axes_of(states), each, states)


def _momentum(mass: Floats, d: Floats, axes: Floats, each: Floats, states: Floats) -> Floats:
    """Angular momentum in N (k, 3) of bodies at positions d relative to their common mass centre
    (k, n, 3), with axes (k, n, 3, 3); each: the angular momentum of each body about its own mass
    centre, in its axes (k, n, 3)."""
    moved = np.einsum("n,kni->ki", mass, cross(d, velocities_of(states)))
    return np.asarray(np.einsum("knip,knp->ki", axes, each) + moved)


def arms_of(mass: Floats, states: Floats) -> Floats:
    """Positions of bodies relative to their common mass centre (k, n, 3)."""
    r = positions_of(states)
    return np.asarray(r - (np.einsum("n,kni->ki", mass, r) / mass.sum())[:, None])


def axes_of(states: Floats) -> Floats:
    """Body axes as columns in N (k, n, 3, 3)."""
    out = np.empty((*states.shape[:-1], 3, 3))
    turn_axes(as_many(states), out.reshape(-1, *out.shape[-3:]))
    return out.swapaxes(-1, -2)
