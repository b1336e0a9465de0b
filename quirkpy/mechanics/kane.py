"""Kane's equations in the minimal form of Bajodah, Hodges and Chen (J. Guidance 26(1), 79, 2003),
with loops closed at cut joints as by D. P. Madonna; equation numbers are his.

Generalised speeds u belong to the joints of the spanning tree; the rows of all other joints close
its loops: C u' = beta. The number of dependent speeds is the rank of these rows, u_D' = A u_I' + b,
and Kane's equations then need no multipliers:

    [A_1; A_2 M] u' = [b; A_2 F],   A_1 = [1 -A],  A_2 = [A' 1]   over u = (u_D, u_I).

The dependent speeds are found by pivoting, anew at each evaluation, so that C_D of eq. (13) never
becomes singular, as it does at the dead points of a crank if the choice is fixed. Redundant rows
end the pivoting.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular

from quirkpy.kernels.base.arrays import ROW_JOINT
from quirkpy.kernels.base.states import by_body, flat, speeds_count
from quirkpy.kernels.tree.tree import CARRIER, ORDER, tree_of
from quirkpy.kernels.users.packing import pack
from quirkpy.maths.types import Floats, Ints
from quirkpy.mechanics.bending import refuse_bending
from quirkpy.mechanics.equation import (
    ROW_CUT,
    Solution,
    applied_forces,
    constraint_matrix,
    mass_roots,
    multipliers_of,
    row_norms,
    with_forces,
)
from quirkpy.mechanics.instant import Instant


class TreeJoint(NamedTuple):
    """A body and the rows of the joint to its parent (m,). Their columns at the body are U sigma
    V': (m, rank), (rank,), (6, rank); free: the directions that they leave free (freedoms, 6)."""

    body: int
    rows: Ints
    U: Floats
    sigma: Floats
    V: Floats
    free: Floats


class SpeedForm(NamedTuple):
    """Accelerations of all bodies in terms of those of the generalised speeds, u' @ partial + bias,
    in units of kinetic energy, M^(1/2) (v', omega'). partial: partial velocities, of length one (n,
    6 nb); bias (6 nb,). J (m, 6 nb), gamma (m,): the rows in the same units, of length one; norms:
    their lengths before (m,); loops: numbers of those that close loops."""

    tree: tuple[TreeJoint, ...]
    partial: Floats
    bias: Floats
    J: Floats
    gamma: Floats
    norms: Floats
    loops: Ints


class Partition(NamedTuple):
    """Dependent speeds (r,) and independent ones (n - r,) by number; A (r, n - r) and b (r,):
    u_D' = A u_I' + b; Q (m, r), R (r, r): of the rows that close loops, C_D = Q R."""

    dependent: Ints
    independent: Ints
    A: Floats
    b: Floats
    Q: Floats
    R: Floats


def solve_kane(at: Instant) -> Solution:
    """Accelerations from the minimal form, and reactions by substituting them back."""
    refuse_bending(at.selection.tables, 'evaluator="kane"')
    _, back = mass_roots(at)
    form = speed_form(at)
    partition = partition_of(form)
    applied = flat(np.einsum("nij,nj->ni", back, applied_forces(at)))
    acceleration = speed_rates(form, partition, applied) @ form.partial + form.bias
    solution = with_forces(
        at, np.einsum("nij,nj->ni", back, by_body(acceleration)), np.zeros(len(form.gamma))
    )
    if _independent_rows(form, partition) < len(form.gamma):  # the reactions are not unique
        return solution._replace(multipliers=multipliers_of(at, solution.constraint_wrench))
    return solution._replace(multipliers=reactions_of(form, partition, acceleration - applied))


def _independent_rows(form: SpeedForm, partition: Partition) -> int:
    return len(partition.dependent) + sum(len(joint.sigma) for joint in form.tree)


# --- generalised speeds ---------------------------------------------------------------------------
def speed_form(at: Instant) -> SpeedForm:
    """The generalised speeds of the spanning tree: for each body, its freedoms relative to its
    parent."""
    _, back = mass_roots(at)
    J = flat(np.einsum("mni,nij->mnj", by_body(constraint_matrix(at)), back))
    norms = row_norms(J)
    J, gamma = J / norms[:, None], at.rows.gamma / norms
    tree, loops = _tree_joints_of(at, J)
    freedoms = sum(len(joint.free) for joint in tree)
    partial = np.zeros((freedoms, speeds_count(len(at.r))))
    bias, first = np.zeros(partial.shape[1]), 0
    for joint in tree:
        last = first + len(joint.free)
        others, inverse = J[joint.rows], (joint.V / joint.sigma) @ joint.U.T
        carried = gamma[joint.rows] - others @ bias
        by_body(partial)[:, joint.body] = -(partial @ others.T) @ inverse.T
        by_body(bias)[joint.body] = inverse @ carried
        by_body(partial)[first:last, joint.body] = joint.free
        first = last
    return SpeedForm(tree, partial / row_norms(partial)[:, None], bias, J, gamma, norms, loops)


def _tree_joints_of(at: Instant, J: Floats) -> tuple[tuple[TreeJoint, ...], Ints]:
    """All bodies with the joints to their parents, parents first; and the rows that close loops."""
    s, packed = at.selection, pack(at.selection.tables)
    nodes = tree_of(s, packed)[0].nodes
    carriers, order = nodes[:-1, CARRIER], nodes[:-1, ORDER]
    joint = np.full(len(J), -1)  # stops that hold stay -1: they are not rows of a joint
    joint[: len(s.rows)] = packed.rows.what[s.rows, ROW_JOINT]
    tree = tuple(
        _tree_joint(b, np.flatnonzero((joint == carriers[b]) & (joint >= 0)), J)
        for b in order.tolist()
    )
    return tree, np.flatnonzero(~np.isin(joint, carriers[carriers >= 0]))


def _tree_joint(body: int, rows: Ints, J: Floats) -> TreeJoint:
    U, sigma, Vt = np.linalg.svd(by_body(J)[rows, body])
    rank = int((sigma > ROW_CUT).sum())  # rows are of length one
    return TreeJoint(body, rows, U[:, :rank], sigma[:rank], Vt[:rank].T, Vt[rank:])


# --- dependent and independent speeds -------------------------------------------------------------
def partition_of(form: SpeedForm) -> Partition:
    """The dependent speeds are chosen by pivoting, with each speed in units of the kinetic energy
    that it gives to the system: then A = -C_D^-1 C_I of eq. (13) has small entries."""
    J, n = form.J[form.loops], len(form.partial)
    C, beta = J @ form.partial.T, form.gamma[form.loops] - J @ form.bias
    if not C.size:
        none = np.zeros((len(C), 0))
        return Partition(np.arange(0), np.arange(n), np.zeros((0, n)), np.zeros(0), none, none[:0])
    Q, R, pivots = qr(C, mode="economic", pivoting=True)
    rank = int((abs(np.diagonal(R)) > ROW_CUT).sum())
    order, Q_1, R_1 = (
        pivots.astype(np.int64),
        Q[:, :rank].astype(float),
        R[:rank, :rank].astype(float),
    )
    A, b = -solve_triangular(R_1, R[:rank, rank:]), solve_triangular(R_1, Q_1.T @ beta)
    return Partition(order[:rank], order[rank:], A, b, Q_1, R_1)


def minimal_form(form: SpeedForm, partition: Partition, applied: Floats) -> tuple[Floats, Floats]:
    """T and the right-hand side of T u' = ..., eq. (6), over u = (u_D, u_I); applied: loads and
    gyroscopic terms over all bodies, in units of kinetic energy (6 nb,)."""
    r, rest = partition.A.shape
    partial = form.partial[np.concatenate([partition.dependent, partition.independent])]
    A_1 = np.hstack([np.eye(r), -partition.A])
    A_2 = np.hstack([partition.A.T, np.eye(rest)])
    T = np.vstack([A_1, A_2 @ (partial @ partial.T)])
    return T, np.concatenate([partition.b, A_2 @ (partial @ (applied - form.bias))])


def speed_rates(form: SpeedForm, partition: Partition, applied: Floats) -> Floats:
    """u', in the order of the tree (n,)."""
    rates = np.empty(len(form.partial))
    rates[np.concatenate([partition.dependent, partition.independent])] = np.linalg.solve(
        *minimal_form(form, partition, applied)
    )
    return rates


# --- reactions ------------------------------------------------------------------------------------
def reactions_of(form: SpeedForm, partition: Partition, constraint: Floats) -> Floats:
    """Multipliers of all rows (m,): of those that close loops from the dependent speeds, C_D'
    lambda = F_cr of eq. (10); then of the joints of the tree, from its ends to its roots.
    constraint: total load of all joints on all bodies, in units of kinetic energy (6 nb,)."""
    multipliers = np.zeros(len(form.gamma))
    on_dependent = form.partial[partition.dependent] @ constraint
    multipliers[form.loops] = partition.Q @ solve_triangular(partition.R, on_dependent, trans="T")
    left = constraint - multipliers @ form.J
    for joint in reversed(form.tree):
        load = joint.U @ ((joint.V.T @ by_body(left)[joint.body]) / joint.sigma)
        multipliers[joint.rows] = load
        left -= load @ form.J[joint.rows]
    return multipliers / form.norms
