"""The fundamental equation of constrained motion, by two methods.

`literal` is the Udwadia-Phohomsiri equation as printed (Proc. R. Soc. A 462, 2097, 2006; eq. (14)
of Shoer and Peck's QuIRK paper), over the accelerations of positions and quaternions, with a mass
matrix that is singular by construction. It is the reference for all other evaluators. `dense`
solves the same problem, Gauss's principle, over mass-centre and angular accelerations by the null
space of the constraints.

Letters follow the papers: M, F, A, b, T (docs/notation.md gives units and shapes).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from quirkpy.kernels.base.states import (
    NO_TAIL,
    angular_of,
    attitudes_of,
    by_body,
    flat,
    linear_of,
    positions_of,
    speeds_count,
    vectors_from,
    zero_vectors,
)
from quirkpy.kernels.place.weighing import spread_rows, times_blocks
from quirkpy.maths.rotations import cross
from quirkpy.maths.types import Floats
from quirkpy.mechanics import bending
from quirkpy.mechanics.instant import ConstraintRows, Instant
from quirkpy.parts.part import PartError

#: A column is named as undetermined if it has more than this share of the largest entry of a
#: direction [1].
INVOLVED = 1e-3
#: Rank of the constraints: a singular value of the row-normalised, mass-weighted A below this
#: (relative to the largest) counts as redundancy. It lies far above the drift of rows (1e-9 in
#: Runge-Kutta stages, 1e-7 at worst), so that redundant rows do not appear independent, and far
#: below the smallest true value.
ROW_CUT = 1e-6
#: Rank of [(1 - A+ A) M; A], which has full column rank in every well-posed system: only rounding
#: is below this.
MASS_CUT = 1e-13
#: For mass ratios beyond this the rank is computed without masses: the response of a row to a load
#: is dominated by the lightest body that it moves.
UNEVEN = 1e3


class Matrices(NamedTuple):
    """A x'' = b and M x'' = F without constraints, over x = (r, q) body by body, q as w x y z: 7
    columns each."""

    A: Floats
    b: Floats
    M: Floats
    F: Floats


class Solution(NamedTuple):
    """acceleration: v-dot in N and omega-dot in body axes (nb, 6); multipliers: least-norm, one per
    row (m,); constraint_wrench: load of the joints on each body, force in N and torque in body axes
    (nb, 6); further: of the modes of bodies that bend (n,)."""

    acceleration: Floats
    multipliers: Floats
    constraint_wrench: Floats
    further: Floats = NO_TAIL


class UndeterminedAcceleration(ValueError):
    """[M; A] has dependent columns: mass and constraints leave some accelerations undetermined."""

    def __init__(self, columns: tuple[int, ...]) -> None:
        super().__init__(
            f"neither mass nor constraints determine the acceleration of columns {list(columns)}; "
            "give these coordinates mass or constrain them."
        )
        self.columns = columns


# --- over (r, q): the printed form ----------------------------------------------------------------
def rate_matrix(q: Floats) -> Floats:
    """T of eq. (7) as corrected, scalar first: body-axes omega = T(q) q-dot, shape (3, 4).  T T' =
    4, T q = 0."""
    w, x, y, z = q
    return 2.0 * np.array([[-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]])


def matrices(at: Instant) -> Matrices:
    """M, F (eqs. (10), (12), (13)) and A, b: joint rows (eq. (16)) first, then one unit-norm row
    per body (eq. (15)).

    The terms with T-dot q-dot in eqs. (8), (18), (19) are identically zero and do not appear.
    """
    if bending.bends(at):
        return _matrices_bent(at)
    n, tables = len(at.r), at.selection.tables
    J, b_joints = by_body(constraint_matrix(at)), at.rows.gamma
    generalised = applied_forces(at)
    m = len(b_joints)
    A, b = np.zeros((m + n, 7 * n)), np.zeros(m + n)
    M, F = np.zeros((7 * n, 7 * n)), np.zeros(7 * n)
    b[:m] = b_joints
    for k in range(n):
        r, q = slice(7 * k, 7 * k + 3), slice(7 * k + 3, 7 * k + 7)
        T = rate_matrix(at.q[k])
        q_dot = 0.25 * T.T @ at.omega[k]
        A[:m, r] = linear_of(J)[:, k]
        A[:m, q] = angular_of(J)[:, k] @ T
        A[m + k, q], b[m + k] = 2.0 * at.q[k], -2.0 * q_dot @ q_dot
        M[r, r] = tables.body_mass[k] * np.eye(3)
        M[q, q] = T.T @ tables.body_inertia[k] @ T
        F[r], F[q] = linear_of(generalised)[k], T.T @ angular_of(generalised)[k]
    return Matrices(A, b, M, F)


def _matrices_bent(at: Instant) -> Matrices:
    """`matrices` where bodies bend, with a column for each mode behind those of the bodies: from
    the mass matrix over velocities V = S x', whose S' x' vanishes."""
    n, J = len(at.r), constraint_matrix(at)
    further = J.shape[1] - speeds_count(n)
    S, unit, b_unit = np.zeros((J.shape[1], 7 * n + further)), np.zeros((n, 7 * n + further)), []
    for k in range(n):
        q, T = slice(7 * k + 3, 7 * k + 7), rate_matrix(at.q[k])
        S[6 * k : 6 * k + 3, 7 * k : 7 * k + 3], S[6 * k + 3 : 6 * k + 6, q] = np.eye(3), T
        q_dot = 0.25 * T.T @ at.omega[k]
        unit[k, q] = 2.0 * at.q[k]
        b_unit.append(-2.0 * q_dot @ q_dot)
    S[6 * n :, 7 * n :] = np.eye(further)
    A, b = np.vstack([J @ S, unit]), np.concatenate([targets(at), b_unit])
    return Matrices(A, b, S.T @ bending.mass_matrix(at) @ S, S.T @ bending.forces(at))


def literal(
    A: Floats,
    b: Floats,
    M: Floats,
    F: Floats,
    *,
    row_cut: float = ROW_CUT,
    mass_cut: float = MASS_CUT,
    metric: Floats | None = None,
) -> Floats:
    """Accelerations by Udwadia and Phohomsiri, eq. (14):  x'' = [(1 - A+ A) M; A]+ [F; b].

    Both pseudoinverses have a cut of their own: A+ the coarse `row_cut` on row-normalised A, the
    outer one the fine `mass_cut`. metric: a symmetric positive matrix W in whose coordinates y =
    W^(1/2) x the equation is evaluated, so that the singular value decomposition does not mix
    metres, radians and kilograms; None: as printed. F enters as (1 - A+ A) F: the remainder is
    orthogonal to all columns of (1 - A+ A) M and changes nothing, but as a residual it would make
    rounding grow with the square of the condition number. Raises `UndeterminedAcceleration` with
    the columns where [M; A] is rank-deficient."""
    n = len(F)
    back = np.eye(n) if metric is None else inverse_root(metric)  # x = back y
    A_y, b_y = normalise_rows(A @ back, b)
    M_y, F_y = back @ M @ back, back @ F
    free = np.eye(n) - np.linalg.pinv(A_y, rcond=row_cut) @ A_y
    U, sigma, Vt = np.linalg.svd(np.vstack([free @ M_y, A_y]), full_matrices=False)
    if len(sigma) < n or (sigma < mass_cut * sigma[0]).any():
        lost = Vt[sigma < mass_cut * sigma[0]] @ back
        raise UndeterminedAcceleration(_columns(lost))
    return np.asarray(back @ (Vt.T @ ((U.T @ np.concatenate([free @ F_y, b_y])) / sigma)))


def solve_literal(at: Instant) -> Solution:
    """The printed equation for a selection at a state."""
    A, b, M, F = matrices(at)
    n = len(at.r)
    if n == 0:
        return _nothing(at)
    _refuse_lost_moments(at)
    x = literal(A, b, M, F, metric=_complete(M, at))
    by_body = x[: 7 * n].reshape(n, -1)
    acceleration = zero_vectors(n)
    linear_of(acceleration)[:] = positions_of(by_body)
    for k in range(n):
        angular_of(acceleration)[k] = rate_matrix(at.q[k]) @ attitudes_of(by_body)[k]
    return with_forces(at, acceleration, further=x[7 * n :])


def _refuse_lost_moments(at: Instant) -> None:
    """T' I T represents the moments of a body to the rounding of the largest; refuse a body with a
    far smaller one, which would be lost."""
    moments = np.linalg.eigvalsh(at.selection.tables.body_inertia)
    lost = np.flatnonzero(moments[:, 0] < MASS_CUT * moments[:, 2])
    if lost.size:
        raise UndeterminedAcceleration(tuple(int(7 * k + 3 + i) for k in lost for i in range(4)))


def _complete(M: Floats, at: Instant) -> Floats:
    """M with the missing inertia along each quaternion added, so that it is regular: the metric of
    kinetic energy."""
    out = M.copy()
    for k, inertia in enumerate(at.selection.tables.body_inertia):
        q = slice(7 * k + 3, 7 * k + 7)
        out[q, q] += 4.0 * np.trace(inertia) / 3.0 * np.outer(at.q[k], at.q[k])
    return out


# --- over (v, omega): the null-space form ---------------------------------------------------------
def constraint_matrix(at: Instant) -> Floats:
    """Rows of the active joints over the stacked (v in N, omega in body axes) of all moving bodies,
    and then over the rates of the modes of those that bend (m, 6 nb + ...)."""
    rows: ConstraintRows = at.rows
    if bending.bends(at):
        return bending.on_bodies(at, over_frames(at, rows))
    wide = zero_vectors(len(rows.phi), len(at.r))
    first, second = np.ascontiguousarray(rows.jacobian), np.ascontiguousarray(rows.second)
    bodies = np.stack([rows.body1, rows.body2, rows.body3, rows.body4])
    spread_rows(first, second, bodies, at.frames.rows, wide)
    return flat(wide)


def over_frames(at: Instant, rows: ConstraintRows) -> Floats:
    """Rows over the velocities in N of all bodies and stations, the ground last (m, nb + ns + 1,
    6)."""
    wide, each = zero_vectors(len(rows.phi), len(at.frames.rows)), np.arange(len(rows.phi))
    first, second = by_body(rows.jacobian), by_body(rows.second)
    wide[each, rows.body1] += first[:, 0]
    wide[each, rows.body2] += first[:, 1]
    wide[each, rows.body3] += second[:, 0]
    wide[each, rows.body4] += second[:, 1]
    return wide


def targets(at: Instant) -> Floats:
    """What the rows of the active joints ask of the rates of all speeds (m,)."""
    rows = at.rows
    if not bending.bends(at):
        return rows.gamma
    bias, first, second = bending.station_biases(at), by_body(rows.jacobian), by_body(rows.second)
    ends = ((rows.body1, first[:, 0]), (rows.body2, first[:, 1]),
            (rows.body3, second[:, 0]), (rows.body4, second[:, 1]))  # fmt: skip
    return rows.gamma - sum(np.einsum("mi,mi->m", J, bias[body]) for body, J in ends)


def applied_forces(at: Instant) -> Floats:
    """Right-hand sides of Newton and Euler without joints: f in N; tau - omega x I omega in body
    axes (nb, 6)."""
    n = len(at.r)
    turns = at.frames.axes[:n]
    torque = np.einsum("nij,ni->nj", turns, angular_of(at.loads.wrench))
    momentum = np.einsum("nij,nj->ni", at.selection.tables.body_inertia, at.omega)
    return vectors_from(linear_of(at.loads.wrench), torque - cross(at.omega, momentum))


def generalised_forces(at: Instant) -> Floats:
    """`applied_forces` as one line, with those on modes last (n,)."""
    return bending.forces(at) if bending.bends(at) else flat(applied_forces(at))


def over_root(at: Instant, vectors: Floats) -> Floats:
    """x M^(-1/2) of rows over all speeds (..., n), with M^(-1/2) = L^-T, M = L L', where bodies
    bend."""
    if bending.bends(at):
        factor = bending.mass_factor(at, stiffening(at)[0])
        return np.asarray(np.linalg.solve(factor, vectors.T).T)
    _, back = mass_roots(at)
    if vectors.ndim == 1:
        return flat(np.einsum("nij,nj->ni", back, by_body(vectors)))
    return _over_bodies(vectors, back)


def times_root(at: Instant, vectors: Floats) -> Floats:
    """x M^(1/2) of rows over all speeds (m, n), with M^(1/2) = L, M = L L', where bodies bend."""
    if bending.bends(at):
        return np.asarray(vectors @ bending.mass_factor(at, stiffening(at)[0]))
    root, _ = mass_roots(at)
    return flat(np.matmul(root, by_body(vectors)[..., None])[..., 0])


def from_root(at: Instant, weighted: Floats) -> Floats:
    """Rates of all speeds from M^(1/2) times these (n,)."""
    if bending.bends(at):
        factor = bending.mass_factor(at, stiffening(at)[0])
        return np.asarray(np.linalg.solve(factor.T, weighted))
    _, back = mass_roots(at)
    return flat(np.einsum("nij,nj->ni", back, by_body(weighted)))


def stiffening(at: Instant) -> tuple[Floats | float, Floats | float]:
    """What may be added to M (n, n) and to F (n,) without any change of accelerations and
    multipliers, s J'J and s J'b with rows of length one: the mass matrix of a body that bends,
    right to second order, need be positive only along what the joints leave free."""
    rows = constraint_matrix(at)
    if not len(rows):
        return 0.0, 0.0
    J, b = normalise_rows(rows, targets(at))
    size = float(abs(bending.mass_matrix(at)).max())
    return size * J.T @ J, size * J.T @ b


def mass_roots(at: Instant) -> tuple[Floats, Floats]:
    """Per body M^(1/2) and M^(-1/2) over (v, omega body axes), each (nb, 6, 6)."""
    return at.selection.tables.mass_roots


class Decomposition(NamedTuple):
    """U sigma Vt of the mass-weighted constraint matrix with rows of length one, with square U and
    Vt: the last rows of Vt span the motions that the rows leave; its rank, and the row norms;
    smallest: the smallest non-zero singular value, 1 where there is none. Where masses
    are `UNEVEN` rows are normalised without masses, and rank, U and smallest do not depend on
    masses."""

    U: Floats
    sigma: Floats
    Vt: Floats
    rank: int
    norms: Floats
    smallest: float


def decompose(at: Instant, row_cut: float = ROW_CUT) -> Decomposition:
    """Rank of the active constraints, free of units: A = J M^(-1/2) with rows of unit norm."""
    J = constraint_matrix(at)
    if not len(J):
        return Decomposition(np.eye(0), np.zeros(0), np.eye(J.shape[1]), 0, np.zeros(0), 1.0)
    A = over_root(at, J)
    if not np.isfinite(A).all():
        raise PartError(
            f"the state at t = {at.t:g} s has numbers that are too large for its joints; the "
            f"largest is {float(abs(at.r).max(initial=0.0)):.3g} m: give smaller ones."
        )
    if not bending.bends(at) and is_uneven(at.selection.tables.body_mass):
        return _of_uneven(at, J, A, row_cut)
    norms = row_norms(A)
    U, sigma, Vt = np.linalg.svd(A / norms[:, None])
    rank = _rank(sigma, row_cut)
    return Decomposition(U, sigma, Vt, rank, norms, float(sigma[rank - 1]) if rank else 1.0)


def is_uneven(mass: Floats) -> bool:
    """Whether masses [kg] are far apart."""
    return bool(mass.max(initial=0.0) > UNEVEN * mass.min(initial=np.inf))


def _of_uneven(at: Instant, J: Floats, A: Floats, row_cut: float) -> Decomposition:
    """The decomposition for masses that are far apart: independent rows are found with all masses
    equal, so that the large accelerations of light bodies do not hide the parts of a row that
    belong to others; then A over these rows."""
    tables = at.selection.tables
    gyration = np.sqrt(np.trace(tables.body_inertia, axis1=1, axis2=2) / (3.0 * tables.body_mass))
    lengths = np.array([np.diag([1.0, 1.0, 1.0, *(3 * [1.0 / length])]) for length in gyration])
    plain = _over_bodies(J, lengths)
    norms = row_norms(plain)
    left, alone, _ = np.linalg.svd(plain / norms[:, None])
    rank = _rank(alone, row_cut)
    first, lost = left[:, :rank], left[:, rank:]
    U, sigma, Vt = np.linalg.svd(first.T @ (A / norms[:, None]))
    smallest = float(alone[rank - 1]) if rank else 1.0
    return Decomposition(np.hstack([first @ U, lost]), sigma, Vt, rank, norms, smallest)


def _over_bodies(J: Floats, blocks: Floats) -> Floats:
    """J (m, 6 nb) times a block-diagonal matrix, one block for each body (nb, 6, 6)."""
    rows = by_body(J)
    out = np.empty(rows.shape)
    times_blocks(rows, blocks, out)
    return flat(out)


def _rank(sigma: Floats, row_cut: float) -> int:
    return int((sigma > row_cut * sigma[0]).sum()) if sigma.size else 0


def solve_dense(at: Instant) -> Solution:
    """Gauss's principle: of all accelerations that the constraints allow, the one nearest to the
    free one in the mass metric.  a = a_free + A+ (c - A a_free) in the coordinates a = M^(1/2)
    (v-dot, omega-dot)."""
    n = len(at.r)
    if n == 0:
        return _nothing(at)
    more = stiffening(at)[1] if bending.bends(at) else 0.0
    free = over_root(at, generalised_forces(at) + more)
    if not len(at.rows.phi):
        return _of_speeds(at, from_root(at, free))
    U, sigma, Vt, rank, norms, _ = decompose(at)
    U, sigma, Vt = U[:, :rank], sigma[:rank], Vt[:rank]
    inside = Vt.T @ ((U.T @ (targets(at) / norms)) / sigma - Vt @ free)
    return _of_speeds(at, from_root(at, free + inside), U @ ((Vt @ inside) / sigma) / norms)


def _of_speeds(at: Instant, rates: Floats, multipliers: Floats | None = None) -> Solution:
    """The solution with the rates of all speeds (n,)."""
    ends = speeds_count(len(at.r))
    return with_forces(at, by_body(rates[:ends]), multipliers, rates[ends:])


def with_forces(
    at: Instant, acceleration: Floats, multipliers: Floats | None = None, further: Floats = NO_TAIL
) -> Solution:
    """Add the constraint forces M a - F, and the least-norm multipliers that produce them; further:
    rates of modes."""
    if bending.bends(at):
        rates = np.concatenate([flat(acceleration), further])
        load = bending.mass_matrix(at) @ rates - bending.forces(at)
        found = least_multipliers(at, load) if multipliers is None else multipliers
        return Solution(acceleration, found, by_body(load[: acceleration.size]), further)
    tables = at.selection.tables
    inertial = np.hstack([
        tables.body_mass[:, None] * linear_of(acceleration),
        np.einsum("nij,nj->ni", tables.body_inertia, angular_of(acceleration)),
    ])  # fmt: skip
    wrench = inertial - applied_forces(at)
    if multipliers is None:
        multipliers = multipliers_of(at, wrench)
    return Solution(acceleration, multipliers, wrench)


def multipliers_of(at: Instant, wrench: Floats) -> Floats:
    """Least-norm lambda (in the row-normalised metric) with J' lambda = constraint wrench: force in
    N, torque in body axes (nb, 6); or impulses."""
    return least_multipliers(at, flat(wrench))


def least_multipliers(at: Instant, load: Floats) -> Floats:
    """`multipliers_of` for a load over all speeds (n,)."""
    if not len(at.rows.phi):
        return np.zeros(0)
    U, sigma, Vt, rank, norms, _ = decompose(at)
    weighted = over_root(at, load)
    return np.asarray(U[:, :rank] @ ((Vt[:rank] @ weighted) / sigma[:rank]) / norms)


def _nothing(at: Instant) -> Solution:
    """The empty solution of a system whose bodies are all fixed."""
    return Solution(zero_vectors(0), np.zeros(len(at.rows.phi)), zero_vectors(0))


# --- small linear algebra -------------------------------------------------------------------------
def row_norms(A: Floats) -> Floats:
    """Length of each row; 1 for a row of zeros."""
    norms = np.linalg.norm(A, axis=1)
    norms[norms == 0.0] = 1.0
    return np.asarray(norms)


def normalise_rows(A: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Rows of unit length, and their right-hand sides."""
    norms = row_norms(A)
    return A / norms[:, None], b / norms


def inverse_root(W: Floats) -> Floats:
    """W^(-1/2) of a symmetric positive matrix."""
    values, vectors = np.linalg.eigh(W)
    return np.asarray((vectors / np.sqrt(values)) @ vectors.T)


def _columns(directions: Floats) -> tuple[int, ...]:
    """The columns with large entries in the given directions."""
    if not len(directions):
        return ()
    size = abs(directions) / abs(directions).max(axis=1, keepdims=True)
    return tuple(int(c) for c in np.flatnonzero((size > INVOLVED).any(axis=0)))
