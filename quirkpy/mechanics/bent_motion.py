"""Momenta and energy of bodies that bend, in many states at once, and how groups of them move in
the mean.

States are rows with points for the modes (`ModePoints`).  All is written in N; c is the first
moment of mass of a body about the origin of its axes, J its moments of inertia about that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from quirkpy.kernels.base.states import (
    angular_of,
    linear_of,
    positions_of,
    speeds_of,
    vectors_from,
)
from quirkpy.kernels.users.modal import modal_models, points_of
from quirkpy.maths.rotations import cross
from quirkpy.maths.types import Bools, Floats
from quirkpy.mechanics.bending import (
    Bent,
    first_moment,
    moments,
    momentum_of_modes,
    spin_of_modes,
)
from quirkpy.mechanics.momenta import axes_of, stored_momentum
from quirkpy.tables.tables import Selection


class MassMotion(NamedTuple):
    """Mass (n,) [kg]; place of the mass centre of each body (..., n, 3); momentum, and angular
    momentum about the origin of N (..., n, 3); moments of inertia about that (..., n, 3, 3)."""

    mass: Floats
    place: Floats
    momentum: Floats
    angular: Floats
    moments: Floats


class GroupMotion(NamedTuple):
    """Of a group of bodies the mass centre and its velocity, the angular momentum about it, the
    moments of inertia, and the angular velocity of a rigid body with both (..., 3)."""

    centre: Floats
    velocity: Floats
    momentum: Floats
    moments: Floats
    turning: Floats


def bent_in(selection: Selection, rows: Floats, rates: Floats) -> Iterator[Bent]:
    """All bodies that bend, at rows (..., n + points, STATE_WIDTH), with rates of their speeds in
    place of the speeds: vectors by rows (..., n + points, 6)."""
    points = points_of(selection.tables)
    q = points.states.coordinates_in(points.tails(rows))
    u = points.states.further_in(points.flat(rates, -1))
    axes = axes_of(points.bodies(rows))
    for b, model in enumerate(modal_models(selection.tables)):
        if model is not None:
            first = int(points.states.coordinates[b])
            mine = slice(first, first + model.count)
            spin = angular_of(rates)[..., b, :]
            yield Bent(b, mine, model, q[..., mine], u[..., mine], axes[..., b, :, :], spin)


def impulses(selection: Selection, rows: Floats, rates: Floats) -> Floats:
    """M times vectors by rows (..., n + points, 6): momentum of each body in N, angular momentum
    about the origin of its axes in these, and what belongs to its modes; M is that at rows."""
    points, tables = points_of(selection.tables), selection.tables
    linear, angular = (half(points.bodies(rates)) for half in (linear_of, angular_of))
    p = tables.body_mass[:, None] * linear
    h = np.einsum("nij,...nj->...ni", tables.body_inertia, angular)
    further = points.states.further_in(points.flat(rates, -1)).copy()
    for x in bent_in(selection, rows, rates):
        c, P, H, v = first_moment(x), momentum_of_modes(x), spin_of_modes(x), linear[..., x.row, :]
        here = np.einsum("...ij,...i->...j", x.axes, v)
        own = np.cross(x.omega, c) + _times(P, x.u)
        p[..., x.row, :] += _times(x.axes, own)
        J = moments(x, tables.body_inertia[x.row])
        h[..., x.row, :] = _times(J, x.omega) + np.cross(c, here) + _times(H, x.u)
        further[..., x.columns] += _times(P.swapaxes(-1, -2), here)
        further[..., x.columns] += _times(H.swapaxes(-1, -2), x.omega)
    return points.vectors(points.states.vector(vectors_from(p, h), further), 1)


def mass_motion(selection: Selection, rows: Floats, t: float | None = None) -> MassMotion:
    """Momenta and moments of all bodies at rows (..., n + points, STATE_WIDTH); t: the time at
    which reaction wheels spin as they do then [s], None: without what they store."""
    points, tables = points_of(selection.tables), selection.tables
    bodies, each = points.bodies(rows), impulses(selection, rows, speeds_of(rows))
    axes, r, mass = axes_of(bodies), positions_of(bodies), tables.body_mass
    first, J = np.zeros_like(r), np.empty(axes.shape)
    J[:] = tables.body_inertia
    for x in bent_in(selection, rows, speeds_of(rows)):
        first[..., x.row, :] = _times(x.axes, first_moment(x))
        J[..., x.row, :, :] = moments(x, tables.body_inertia[x.row])
    p, h = linear_of(points.bodies(each)), angular_of(points.bodies(each))
    h = h if t is None else h + stored_momentum(selection, t)
    place = r + first / mass[:, None]
    across = _outer(mass[:, None] * r + first, r) + _outer(r, first)
    far = np.trace(across, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - across
    turned = axes @ J @ axes.swapaxes(-1, -2)
    return MassMotion(mass, place, p, np.cross(r, p) + _times(axes, h), turned + far)


def group_motion(every: MassMotion, mine: Bools) -> GroupMotion:
    """The motion of some of the bodies in the mean; mine: which (n,)."""
    mass = every.mass[mine]
    total, parts = mass.sum(), [part[..., mine, :] for part in every[1:4]]
    centre = np.einsum("n,...ni->...i", mass, parts[0]) / total
    momentum = parts[1].sum(axis=-2)
    angular = parts[2].sum(axis=-2) - np.cross(centre, momentum)
    across = total * _outer(centre, centre)
    far = np.trace(across, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - across
    about = every.moments[..., mine, :, :].sum(axis=-3) - far
    turning = np.linalg.solve(about, angular[..., None])[..., 0]
    return GroupMotion(centre, momentum / total, angular, about, turning)


def fall_of(selection: Selection, rows: Floats, felt: Floats, mine: Bools) -> Floats:
    """The acceleration of the mass centre of some bodies (3,), from accelerations by rows (n +
    points, 6)."""
    points, mass = points_of(selection.tables), selection.tables.body_mass
    pushed = linear_of(points.bodies(impulses(selection, rows, felt))).copy()
    for x in bent_in(selection, rows, speeds_of(rows)):
        slip = np.cross(x.omega, _times(momentum_of_modes(x), x.u))
        drawn = np.einsum("i,kij,j->k", x.u, x.model.shortening, x.u)
        bias = np.cross(x.omega, np.cross(x.omega, first_moment(x))) + 2.0 * slip - drawn
        pushed[x.row] += x.axes @ bias
    return np.asarray(pushed[mine].sum(axis=0) / mass[mine].sum())


def energy_of(selection: Selection, rows: Floats, rates: Floats) -> Floats:
    """Kinetic energy of vectors by rows (..., n + points, 6) at rows [J] (...)."""
    each = impulses(selection, rows, rates)
    return np.asarray(0.5 * (each * rates).sum(axis=(-1, -2)))


def carried_by(rows: Floats, motion: GroupMotion, turned: bool, mine: Bools) -> Floats:
    """The velocities that the mean motion of a group gives to its bodies (..., n, 6), zero for
    others; rows of bodies alone."""
    turning = motion.turning[..., None, :] if turned else np.zeros(3)
    arm = positions_of(rows) - motion.centre[..., None, :]
    linear = motion.velocity[..., None, :] + cross(np.broadcast_to(turning, arm.shape), arm)
    spin = np.einsum("...nij,...ni->...nj", axes_of(rows), np.broadcast_to(turning, arm.shape))
    return np.asarray(np.where(mine[:, None], vectors_from(linear, spin), 0.0))


def _times(matrix: Floats, vector: Floats) -> Floats:
    """Matrices times vectors (..., m)."""
    return np.asarray(np.einsum("...ij,...j->...i", matrix, vector))


def _outer(a: Floats, b: Floats) -> Floats:
    """a b' (..., 3, 3)."""
    return np.asarray(a[..., :, None] * b[..., None, :])
