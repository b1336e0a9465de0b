"""Quantities of a system at one instant: energy, constraint residual, mobility, reactions."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from quirkpy.kernels.base.states import (
    angular_of,
    by_body,
    linear_of,
    vectors_from,
    zero_vectors,
)
from quirkpy.kernels.users.modal import states_of
from quirkpy.kernels.users.packing import pack
from quirkpy.maths.types import Bools, Floats
from quirkpy.maths.warnings import warn
from quirkpy.mechanics import bending, equation
from quirkpy.mechanics.instant import Instant
from quirkpy.mechanics.meeting import gaps
from quirkpy.parts.couplings import Coupling
from quirkpy.parts.joint import GeneralJoint
from quirkpy.parts.part import PartError
from quirkpy.parts.primitives import Gap
from quirkpy.tables.tables import RELATION_ROW

#: A row takes part in a redundancy if its share of the dependent combinations exceeds this.
REDUNDANT_PART = 1e-6
#: Loads below this share of the largest are rounding; and the name of inertia in a balance.
RESTING, INERTIA = 1e-9, "inertia"


ReactionAxes: TypeAlias = Literal["inertial", "joint"]

#: With loops and masses this far apart accelerations are computed by a second method; they agree if
#: they differ by less than this share of the largest; otherwise the one is taken that satisfies the
#: joints better by the last factor.
FAR_APART, SAME_ACCELERATION, BETTER = 1e6, 1e-6, 0.1
#: Rows of joints that slip by less than this share of the fastest are not counted as slipping.
SLIPS = 1e-3


class Energy(float):
    """Total mechanical energy [J]; `kinetic` and `potential` are its two halves."""

    kinetic: float
    potential: float

    def __new__(cls, kinetic: float, potential: float) -> Energy:
        out = super().__new__(cls, kinetic + potential)
        out.kinetic, out.potential = kinetic, potential
        return out

    def __reduce__(self) -> tuple[type[Energy], tuple[float, float]]:
        return Energy, (self.kinetic, self.potential)


def energy(at: Instant) -> Energy:
    """Kinetic energy relative to N, and the potential energy of every active force that has one."""
    if bending.bends(at):
        potential = float(at.loads.potential.sum()) + bending.strain_energy(at)
        return Energy(bending.kinetic_energy(at), potential)
    tables = at.selection.tables
    linear = 0.5 * float(np.sum(tables.body_mass[:, None] * at.v**2))
    angular = 0.5 * float(np.einsum("ni,nij,nj->", at.omega, tables.body_inertia, at.omega))
    return Energy(linear + angular, float(at.loads.potential.sum()))


@dataclass(frozen=True, eq=False)
class Residual:
    """The residuals of the active joints, and of the stops that hold, in a state.

    position: each row's residual [m], or [1] for cosines, or the distance of a held coordinate from
    its stop [rad], [m]; velocity: its rate [m/s], [1/s]; joints: the joint of each row, stops last;
    gaps: the largest gap of each joint, in metres or radians."""

    position: Floats
    velocity: Floats
    joints: tuple[str, ...]
    gaps: dict[str, Gap]


def residual(at: Instant) -> Residual:
    """Residuals of all rows of the active joints, in table order, and of the stops that hold."""
    tables, selection = at.selection.tables, at.selection
    u = bending.speeds(at)
    velocity = equation.constraint_matrix(at) @ u + at.rows.rate
    names = tuple(
        tables.joint_names[j]
        for j in (*tables.row_joint[selection.rows], *(s.joint for s in at.stops))
    )
    return Residual(at.rows.phi, velocity, names, largest_gaps(at))


def largest_gaps(at: Instant) -> dict[str, Gap]:
    """The largest gap of each active joint."""
    tables = at.selection.tables
    return {
        tables.joint_names[k]: max(gaps(at, tables.joints[k]), key=lambda g: g.size)
        for k in at.selection.joints
    }


def choose_accelerations(at: Instant, found: Floats) -> Floats:
    """Accelerations (nb, 6) by the recursion. Where masses are far apart and Gauss's principle by
    null space disagrees, those of the two that satisfy the joints better, with a warning; an error
    where neither is finite."""
    tables = at.selection.tables
    mass = tables.body_mass
    if not len(mass) or mass.max() <= FAR_APART * mass.min():
        return found
    other = equation.solve_dense(at).acceleration
    lightest, heaviest = (tables.body_names[int(k)] for k in (mass.argmin(), mass.argmax()))
    apart = f"{heaviest!r} is {mass.max() / mass.min():.1e} times as heavy as {lightest!r}"
    if not (np.isfinite(found).all() or np.isfinite(other).all()):
        raise PartError(
            f"the acceleration is lost in rounding: {apart}; make masses more alike.",
            code="rounding",
        )
    off = _disagreement(at, found, other)
    if off <= SAME_ACCELERATION:
        return found
    warn(
        f"acceleration: two ways to find it differ by {off:.1g} of the largest, for {apart}, and "
        "rounding is much of "
        "what is left; make masses more alike, or leave the light body out."
    )
    better = _constraint_residual(at, found) <= _constraint_residual(at, other) / BETTER
    return found if better else other


def _disagreement(at: Instant, one: Floats, two: Floats) -> float:
    """The largest difference of two accelerations (nb, 6), as a share of the largest acceleration
    with joints or without."""
    moments = _least_moments(at)[:, None] * np.ones(3)
    masses = at.selection.tables.body_mass[:, None] * np.ones(3)
    free = equation.applied_forces(at) / np.hstack([masses, moments])
    return float(abs(one - two).max() / max(abs(two).max(), abs(free).max()))


def _least_moments(at: Instant) -> Floats:
    return np.asarray(np.linalg.eigvalsh(at.selection.tables.body_inertia)[:, 0])


def _constraint_residual(at: Instant, accelerations: Floats) -> float:
    """The residual of the joints' acceleration equations, with rows of length one."""
    J = equation.constraint_matrix(at)
    return float(
        (abs(J @ accelerations.reshape(-1) - at.rows.gamma) / equation.row_norms(J)).max(
            initial=0.0
        )
    )


def slipping(at: Instant) -> tuple[str, ...]:
    """The joints whose rows slip, apart from those slower than `SLIPS` times the fastest."""
    found = residual(at)
    slips = abs(found.velocity)
    worst = slips.max(initial=0.0)
    return tuple(
        dict.fromkeys(
            joint for joint, slip in zip(found.joints, slips, strict=True) if slip > SLIPS * worst
        )
    )


class Mobility(NamedTuple):
    """degrees_of_freedom: 6 for each moving body and one for each mode, less the rank; rank:
    independent rows; rows: all rows; redundant: joints whose rows depend on those of others here.
    Stops that hold count as rows, under their names: degrees_of_freedom are those left as long as
    they hold. smallest: the smallest non-zero singular value of the mass-weighted constraint matrix
    with rows of length one (near 0: close to a singular pose), computed without masses where these
    differ by more than a factor of a thousand, as the rank does not depend on masses."""

    degrees_of_freedom: int
    rank: int
    rows: int
    redundant: tuple[str, ...]
    smallest: float


def mobility(at: Instant) -> Mobility:
    """Degrees of freedom and redundancy at this pose."""
    parts = equation.decompose(at)
    m = len(parts.norms)
    tables, rows = at.selection.tables, at.selection.rows
    dependent = _shares(parts) > REDUNDANT_PART
    joints = np.unique(tables.row_joint[rows[dependent[: len(rows)]]])
    stops = (stop.name for stop, too in zip(at.stops, dependent[len(rows) :], strict=True) if too)
    names = tuple(dict.fromkeys((*(tables.joint_names[k] for k in joints), *stops)))
    freedoms = states_of(tables).velocity_length - parts.rank
    return Mobility(freedoms, parts.rank, m, names, parts.smallest)


class Reaction(NamedTuple):
    """The load of a joint on its second body: force [N] at its site and torque [N m], both in N or
    in the axes of its first site. unique: whether it is determined; with redundant joints it is the
    least-norm solution of many. press: for a stop that holds, or a taut rope, the generalized force
    with which its coordinate presses on it [N m] or [N]; if negative it would have to pull, and so
    holds nothing. None for other joints, and for a latch, which holds in both senses. needed: the
    smallest load of this joint with which all joints can produce the constraint forces, force and
    torque (6,): the whole load where it is unique, and zero where the accelerations are equal
    without the joint."""

    force: Floats
    torque: Floats
    unique: bool
    press: float | None
    needed: Floats


def reactions(
    at: Instant, multipliers: Floats, axes: ReactionAxes = "inertial"
) -> dict[str, Reaction]:
    """Loads of joints, and of stops that hold, from the multipliers of all rows; that of a taut
    rope is its joint's."""
    tables, n, parts, out = at.selection.tables, len(at.selection.rows), equation.decompose(at), {}
    shares = _shares(parts)
    for name, j, mine in holding(at):
        unique = bool((shares[mine] <= REDUNDANT_PART).all())
        least = multipliers[mine] if unique else _least(parts, multipliers, mine)
        wrench = np.array([multipliers[mine], least]) @ _on_second(at, mine)
        near, far = tables.joints[j].sites
        force, torque = np.split(wrench, 2, axis=1)
        torque = torque - np.cross(at.view[far].position - _wrench_origin(at, j), force)
        if axes == "joint":
            turn = at.view[near].axes
            force, torque = force @ turn, torque @ turn
        pressing = mine[n:] & np.array([not stop.latch for stop in at.stops], dtype=bool)
        press = float(multipliers[n:][pressing].sum()) if pressing.any() else None
        out[name] = Reaction(
            force[0], torque[0], unique, press, np.concatenate([force[1], torque[1]])
        )
    return out


def _least(parts: equation.Decomposition, multipliers: Floats, mine: Bools) -> Floats:
    """The least-norm multipliers of some rows for which the constraint forces can be completed by
    multipliers of the other rows."""
    U, sized = parts.U[mine, : parts.rank], multipliers * parts.norms
    shared, along = np.linalg.eigh(np.eye(len(U)) - U @ U.T)
    own = along[:, shared <= REDUNDANT_PART]
    least = own @ (own.T @ sized[mine])
    nothing = abs(least).max(initial=0.0) <= RESTING * abs(sized).max(initial=0.0)
    return np.asarray(0.0 * least if nothing else least / parts.norms[mine])


def holding(at: Instant) -> list[tuple[str, int, Bools]]:
    """Active joints, then stops that hold: name, joint, and a mask of their rows; the rows of a
    rope's stop belong to the rope."""
    tables, selection = at.selection.tables, at.selection
    joint = np.concatenate(
        [tables.row_joint[selection.rows], [s.joint if s.own else -1 for s in at.stops]]
    )
    stops = enumerate(at.stops, len(selection.rows))
    return [
        *((tables.joint_names[j], int(j), joint == j) for j in selection.joints),
        *((s.name, s.joint, np.arange(len(joint)) == k) for k, s in stops if not s.own),
    ]


def drives_against(at: Instant, k: int) -> tuple[str, ...]:
    """Joints with prescribed motion that would move a coordinate beyond stop k, among those that
    hold."""
    tables, selection = at.selection.tables, at.selection
    parts = equation.decompose(at)
    U, first = parts.U[:, : parts.rank], len(selection.rows)
    with_it = (
        abs(U @ U[first + k])[:first] > REDUNDANT_PART
    )  # rows in dependent combinations that contain the stop
    owners = tables.row_joint[selection.rows[with_it]]
    pairs = zip(owners, at.rows.rate[:first][with_it] != 0.0, strict=True)
    by_itself = (j for j, moving in pairs if moving or tables.joints[j].driven)
    return tuple(dict.fromkeys(tables.joint_names[j] for j in by_itself))


class Pull(NamedTuple):
    """The load of a force on a body, about its mass centre, in N: force [N], torque [N m]."""

    source: str
    force: Floats
    torque: Floats


def pulls(at: Instant) -> dict[str, tuple[Pull, ...]]:
    """The non-zero loads of every active force on each moving body."""
    tables, chosen = at.selection.tables, at.selection
    joints = [tables.joint_names[j] for j in chosen.joints]
    out: dict[str, list[Pull]] = {name: [] for name in tables.body_names}
    for k in chosen.forces:
        alone = dataclasses.replace(at, selection=tables.select(joints, [tables.force_names[k]]))
        wrenches = bending.loads_on_bodies(at, alone.loads.wrench) + bending.tipping(alone)
        for name, wrench in zip(tables.body_names, wrenches, strict=True):
            if wrench.any():
                out[name].append(Pull(tables.force_names[k], linear_of(wrench), angular_of(wrench)))
    return {name: tuple(found) for name, found in out.items()}


def holds(at: Instant, multipliers: Floats) -> dict[str, tuple[Pull, ...]]:
    """The loads of every active joint, and every stop that holds, on each moving body that it acts
    on."""
    names, rows, n = at.selection.tables.body_names, at.rows, len(at.r)
    bodies = np.stack([rows.body1, rows.body2, rows.body3, rows.body4])
    both = np.concatenate([by_body(rows.jacobian), by_body(rows.second)], axis=1)
    J = np.ascontiguousarray(both.swapaxes(0, 1))
    out: dict[str, list[Pull]] = {name: [] for name in names}
    for source, _, mine in holding(at):
        wrench = zero_vectors(len(at.frames.rows))
        np.add.at(wrench, bodies[:, mine], J[:, mine] * multipliers[mine, None])
        wrench = bending.loads_on_bodies(at, wrench[:-1])
        for k in np.unique(bending.owners(at)[bodies[:, mine]]):
            if k < n:
                out[names[k]].append(Pull(source, linear_of(wrench)[k], angular_of(wrench)[k]))
    return {name: tuple(found) for name, found in out.items()}


def inertias(at: Instant, accelerations: Floats) -> dict[str, Pull]:
    """The inertia force and torque of each body for some accelerations (nb, 6)."""
    tables, turns = at.selection.tables, at.frames.axes[: len(at.r)]
    momentum = np.einsum("nij,nj->ni", tables.body_inertia, at.omega)
    torque = np.einsum("nij,nj->ni", tables.body_inertia, angular_of(accelerations)) + np.cross(
        at.omega, momentum
    )
    each = zip(
        tables.body_names,
        tables.body_mass[:, None] * linear_of(accelerations),
        np.einsum("nij,nj->ni", turns, torque),
        strict=True,
    )
    return {name: Pull(INERTIA, -force, -torque) for name, force, torque in each}


def _inertias_bent(
    at: Instant, solution: equation.Solution, every: dict[str, tuple[Pull, ...]]
) -> dict[str, Pull]:
    """Inertia forces and torques where bodies bend: loads, and what joints must add to them."""
    n, out = len(at.r), {}
    turned = np.einsum("nij,nj->ni", at.frames.axes[:n], angular_of(solution.constraint_wrench))
    held = vectors_from(linear_of(solution.constraint_wrench), turned)
    for (name, pulled), more in zip(every.items(), held, strict=True):
        force = linear_of(more) + np.sum([pull.force for pull in pulled], axis=0)
        torque = angular_of(more) + np.sum([pull.torque for pull in pulled], axis=0)
        out[name] = Pull(INERTIA, -force, -torque)
    return out


def balance(at: Instant, solution: equation.Solution) -> dict[str, tuple[Pull, ...]]:
    """All loads on each moving body and, where it is accelerated, its inertia force: they add up to
    zero."""
    held, resisting = holds(at, solution.multipliers), inertias(at, solution.acceleration)
    out, every = {}, pulls(at)
    if bending.bends(at):
        resisting = _inertias_bent(at, solution, every)
    for name, pulled in every.items():
        acting = (*pulled, *held[name])
        largest = max(
            (float(abs(load).max()) for pull in acting for load in (pull.force, pull.torque)),
            default=0.0,
        )
        own = resisting[name]
        moved = max(float(abs(own.force).max()), float(abs(own.torque).max())) > RESTING * largest
        out[name] = (*acting, own) if moved else acting
    return out


def _on_second(at: Instant, mine: Bools) -> Floats:
    """J of some rows of a joint for its second body; a coupling of two joints counts with the joint
    that it names first."""
    tables, selection, rows = at.selection.tables, at.selection, at.rows
    out = by_body(rows.jacobian)[mine, 1].copy()
    which = selection.rows[mine[: len(selection.rows)]]
    for k in np.flatnonzero(tables.row_kind[which] == RELATION_ROW):
        joint = tables.joints[tables.row_joint[which[k]]]
        other = tables.coordinate_joint[tables.row_axis1[which[k]]]
        if isinstance(joint, Coupling) and joint.first.name != tables.joint_names[other]:
            out[k] = by_body(rows.second)[np.flatnonzero(mine)[k], 1]
    return out


def _wrench_origin(at: Instant, j: int) -> Floats:
    """The reference point of moments on the second body of joint j: the mass centre. A fixed body
    is treated as the ground, with reference point at the origin of N, except in a Jacobian given by
    a user."""
    joint = at.selection.tables.joints[j]
    if isinstance(joint, GeneralJoint):
        return at.view[joint.bodies[1]].position
    site = at.selection.tables.joint_site2[j]
    return np.asarray(at.frames.position[pack(at.selection.tables).sites.body[site]])


def _shares(parts: equation.Decomposition) -> Floats:
    """The share of each row in vanishing combinations of rows: 0 for an independent row (m,)."""
    return np.asarray(1.0 - np.sum(parts.U[:, : parts.rank] ** 2, axis=1))
