"""Coordinates around a state: a basis of the displacements that joints allow, orthonormal in the
metric of kinetic energy, and what free bodies would do.

Where bodies bend, their modes follow as points (`ModePoints`), and the masses of bodies and modes
are not those of the bodies one by one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from quirkpy.kernels.base.eigen import with_signs
from quirkpy.kernels.base.states import by_body, flat, halves_of
from quirkpy.kernels.step.probing import measure_coordinates
from quirkpy.kernels.users.modal import points_of
from quirkpy.maths.constants import DEPENDENT, EPS
from quirkpy.maths.types import Floats
from quirkpy.mechanics import equation
from quirkpy.mechanics.bending import mass_matrix
from quirkpy.mechanics.bent_motion import impulses
from quirkpy.mechanics.instant import Instant
from quirkpy.mechanics.scales import radii_of_gyration
from quirkpy.tables.tables import Selection


class Answers(NamedTuple):
    """Accelerations of states on their joints (k, nb, STATE_WIDTH), relative to the rigid motion of
    the whole (k, nb, 6), and potential energies (k,)."""

    rows: Floats
    felt: Floats
    energies: Floats


class LocalCoordinates(NamedTuple):
    """What coordinates are: displacements along them (f, nb, 6), covectors (f, 6 nb), and the step
    of each in differences (f,)."""

    basis: Floats
    covectors: Floats
    reach: Floats


def measure(at: Instant, free: Floats, longest: tuple[float, float]) -> LocalCoordinates:
    """The coordinates of directions M^(1/2) Z, orthonormal (f, n, 6); longest: what a step moves a
    body by at most [m], [rad]."""
    points = points_of(at.selection.tables)
    if len(points.owners):
        Z = equation.from_root(at, points.flat(free, 0).T).T
        basis, covectors = points.vectors(Z, -1), points.vectors(Z @ mass_matrix(at), 1)
        moved = np.linalg.norm(halves_of(basis), axis=3) / longest
        reach = 1.0 / moved.max(axis=(1, 2), initial=0.0)
        return LocalCoordinates(basis, flat(covectors), np.asarray(reach))
    made = np.empty(free.shape), np.empty(free.shape), np.empty(len(free))
    measure_coordinates(np.ascontiguousarray(free), *equation.mass_roots(at), *longest, *made)
    return LocalCoordinates(made[0], flat(made[1]), made[2])


def span_of(at: Instant, parts: equation.Decomposition, carried: Floats) -> Floats:
    """An orthonormal basis M^(1/2) Z of what the joints leave free, without some rigid motions of
    the whole (k, n, 6): (f, n, 6)."""
    free, points = parts.Vt[parts.rank :], points_of(at.selection.tables)
    if len(carried):
        weighted = equation.times_root(at, points.flat(carried, -1))
        _, sigma, Vt = np.linalg.svd(weighted @ free.T)
        free = Vt[int((sigma > DEPENDENT * sigma.max(initial=0.0)).sum()) :] @ free
    return with_signs(points.vectors(free, 0))


def units_of(selection: Selection, size: float) -> Floats:
    """What the halves of displacements are measured in (1, 2, 1): a size [m], and a radian; where
    bodies bend, modes by the radius of gyration of their body, as slopes are (n, 2, 1)."""
    plain, points = np.array([[[size], [1.0]]]), points_of(selection.tables)
    if not len(points.owners):
        return plain
    out = np.repeat(plain, points.rows_count, axis=0)
    out[points.states.bodies :, 0, 0] = radii_of_gyration(selection)[points.owners]
    return out


def accelerations_of_free(at: Instant, forces: Floats) -> Floats:
    """What generalised forces, one line, would do to bodies without joints, by rows (n, 6)."""
    points = points_of(at.selection.tables)
    if len(points.owners):
        return points.vectors(equation.from_root(at, equation.over_root(at, forces).T).T, -1)
    _, back = equation.mass_roots(at)
    return np.asarray(np.einsum("nij,njk,nk->ni", back, back, by_body(forces)))


def rounding_of_loads(at: Instant, basis: Floats) -> Floats:
    """What rounding of loads that cancel on a body, each known to a share of its own size, can
    leave along coordinates with a basis (f, n, 6): (f,); nothing where bodies bend."""
    if len(points_of(at.selection.tables).owners):
        return np.zeros(len(basis))
    moved = np.linalg.norm(halves_of(basis), axis=3)
    return np.asarray(EPS * np.einsum("fnh,nh->f", moved, at.sizes_of_loads))


def forces_as_felt(at: Instant, states: Floats, felt: Floats) -> Floats:
    """Accelerations of neighbours (k, n, 6) as the forces on them would accelerate the masses of
    this instant: masses of bodies that bend change with their bending."""
    points = points_of(at.selection.tables)
    if not len(points.owners):
        return felt
    forces = points.flat(impulses(at.selection, states, felt), 1)
    return accelerations_of_free(at, forces)
