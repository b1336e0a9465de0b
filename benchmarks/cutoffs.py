"""How wide the plateaus of the two cut-offs are, and what scaling buys: ``python -m
benchmarks.cutoffs [--quick]``.

Errors are the largest difference from a truth found another way, relative to the largest
acceleration: by closed form where constraints are redundant, by elimination in extended precision
where they are not."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import quirkpy as qp
from benchmarks import problems
from benchmarks.tables import table
from quirkpy.mechanics import equation
from quirkpy.mechanics.instant import Instant

OFF = (0.0, 1e-9, 1e-7)  # distance from the manifold [m], [rad], [m/s], [rad/s]
FORMS = ("dense", "scaled", "printed")


class Case(NamedTuple):
    """A system, and the accelerations (n, 6) that it really has in its initial state."""

    name: str
    system: qp.Multibody
    truth: np.ndarray


# --- truths ---------------------------------------------------------------------------------------
def eliminated(system: qp.Multibody) -> np.ndarray:
    """Newton, Euler and the constraints as one square system, by Gauss in extended precision: full
    rank only."""
    at = system.initial.instant()
    tables, n = at.selection.tables, 6 * len(at.r)
    J = equation.constraint_matrix(at).astype(np.longdouble)
    K = np.zeros((n + len(J), n + len(J)), dtype=np.longdouble)
    for k, (mass, inertia) in enumerate(zip(tables.body_mass, tables.body_inertia)):
        K[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = mass * np.eye(3)
        K[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = inertia
    K[:n, n:], K[n:, :n] = -J.T, J
    right = np.concatenate([equation.applied_forces(at).reshape(-1), at.rows.gamma])
    return _gauss(K, right.astype(np.longdouble))[:n].astype(float).reshape(-1, 6)


def _gauss(K: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve K x = right with rows scaled and row pivoting."""
    K = np.column_stack([K, right]) / abs(K).max(axis=1)[:, None]
    for k in range(len(K)):
        pivot = k + int(np.argmax(abs(K[k:, k])))
        K[[k, pivot]] = K[[pivot, k]]
        K[k + 1 :] -= np.outer(K[k + 1 :, k] / K[k, k], K[k])
    x = np.zeros_like(right)
    for k in reversed(range(len(K))):
        x[k] = (K[k, -1] - K[k, k + 1 : -1] @ x[k + 1 :]) / K[k, k]
    return x


def one_rigid_body(system: qp.Multibody) -> np.ndarray:
    """The free lattice at rest: one rigid body under the force and torque of its first cube."""
    r, inertia = system.initial.r, system.tables.body_inertia
    (push,) = (p for p in system.parts if isinstance(p, qp.Load))
    arms = r - r.mean(axis=0)
    total = inertia.sum(axis=0) + sum(d @ d * np.eye(3) - np.outer(d, d) for d in arms)
    spin = np.linalg.solve(total, np.asarray(push.torque) + np.cross(arms[0], push.force))
    linear = np.asarray(push.force) / len(r) + np.cross(spin, arms)
    return np.hstack([linear, np.tile(spin, (len(r), 1))])


def about_its_edge(system: qp.Multibody) -> np.ndarray:
    """The door: one rigid body that turns about a fixed axis."""
    state = system.initial
    arms = state.r - np.array([-0.5 * problems.SIDE, 0.0, 0.0])
    arms[:, 1] = 0.0
    moment = system.tables.body_inertia[:, 1, 1].sum() + (arms**2).sum()
    spin = np.array([0.0, -arms[-1, 0] / moment, 0.0])  # 1 N along z at the last cube
    linear = np.cross(spin, arms) - state.omega[0, 1] ** 2 * arms
    return np.hstack([linear, np.tile(spin, (len(arms), 1))])


def parallelogram(system: qp.Multibody) -> np.ndarray:
    """The four-bars: every upright turns alike, every bar moves without turning."""
    state = system.initial
    upright = np.array([name.startswith("rod") for name in system.bodies])
    half = state.r[0]  # of the first upright, which stands at the origin
    n, m = upright.sum(), (~upright).sum()
    turn = np.array([0.0, 0.0, -9.81 * 2.0 * half[0] * (0.5 * n + m) / (n / 3.0 + m)])
    rate = state.v[0] @ np.cross([0.0, 0.0, 1.0], half) / (half @ half)
    linear = np.cross(turn, half) - rate**2 * half
    out = np.zeros((len(upright), 6))
    out[:, :3] = np.where(upright[:, None], linear, 2.0 * linear)
    out[upright, 5] = turn[2]
    return out


def _case(name: str, system: qp.Multibody, truth: Callable[[qp.Multibody], np.ndarray]) -> Case:
    return Case(name, system, truth(system))


# --- the forms with their cut-offs free -----------------------------------------------------------
def solve(
    form: str, at: Instant, row_cut: float = equation.ROW_CUT, mass_cut: float = equation.MASS_CUT
) -> np.ndarray:
    """dense; scaled: literal in the metric of kinetic energy; printed: literal over r, q as they
    are.  NaN: refused."""
    if form == "dense":
        return _dense(at, row_cut)
    A, b, M, F = equation.matrices(at)
    metric = equation._complete(M, at) if form == "scaled" else None
    try:
        x = equation.literal(A, b, M, F, row_cut=row_cut, mass_cut=mass_cut, metric=metric).reshape(
            -1, 7
        )
    except equation.UndeterminedAcceleration:
        return np.full((len(at.r), 6), np.nan)
    return np.array([[*row[:3], *(equation.rate_matrix(q) @ row[3:])] for row, q in zip(x, at.q)])


def _dense(at: Instant, row_cut: float) -> np.ndarray:
    """equation.solve_dense with another cut."""
    _, back = equation.mass_roots(at)
    free = np.einsum("nij,nj->ni", back, equation.applied_forces(at)).reshape(-1)
    U, sigma, Vt, rank, norms, _ = equation.decompose(at, row_cut)
    U, sigma, Vt = U[:, :rank], sigma[:rank], Vt[:rank]
    a = free + Vt.T @ ((U.T @ (at.rows.gamma / norms)) / sigma - Vt @ free)
    return np.einsum("nij,nj->ni", back, a.reshape(-1, 6))


def bare(
    at: Instant, row_cut: float, mass_cut: float, scale: float = 1.0, normalise: bool = True
) -> np.ndarray:
    """The printed equation with two plain pseudoinverses, which truncate instead of refusing; F
    enters whole.

    scale: factor on the first joint row, as if it were written in another unit.
    """
    A, b, M, F = equation.matrices(at)
    A[0] *= scale
    b[0] *= scale
    if normalise:
        A, b = equation.normalise_rows(A, b)
    unit = abs(M).max()
    free = np.eye(len(F)) - np.linalg.pinv(A, rcond=row_cut) @ A
    x = np.linalg.pinv(np.vstack([free @ M / unit, A]), rcond=mass_cut) @ np.concatenate(
        [F / unit, b]
    )
    return np.array(
        [[*row[:3], *(equation.rate_matrix(q) @ row[3:])] for row, q in zip(x.reshape(-1, 7), at.q)]
    )


def moved_off(state: qp.State, size: float, seed: int = 0) -> qp.State:
    """Every pose and velocity disturbed by about `size`."""
    rng = np.random.default_rng(seed)
    r, q, v, omega = (
        a + size * rng.standard_normal(a.shape) for a in (state.r, state.q, state.v, state.omega)
    )
    return dataclasses.replace(
        state, r=r, q=q / np.linalg.norm(q, axis=1)[:, None], v=v, omega=omega
    )


def error(a: np.ndarray, truth: np.ndarray) -> float:
    return float(abs(a - truth).max() / abs(truth).max())


# --- tables ---------------------------------------------------------------------------------------
def plateau(
    case: Case, which: str, cuts: np.ndarray, forms: tuple[str, ...], sizes: tuple[float, ...] = OFF
) -> str:
    """Errors over one cut, on the manifold and off it."""
    instants = [moved_off(case.system.initial, size).instant() for size in sizes]
    rows = [
        [
            f"{cut:.0e}",
            *(
                error(solve(form, at, **{which: float(cut)}), case.truth)
                for at in instants
                for form in forms
            ),
        ]
        for cut in cuts
    ]
    heads = [which, *(f"{form} {_off(size)}" for size in sizes for form in forms)]
    return table(f"{case.name}: error against {which}", heads, rows)


def _off(size: float) -> str:
    return "on" if size == 0.0 else f"{size:.0e} off"


def spectrum(cases: list[Case]) -> str:
    """Singular values of the scaled constraint matrix: the largest redundant and the smallest true
    one."""
    rows: list[list[object]] = []
    for case in cases:
        rank = case.system.mobility().rank
        for size in OFF:
            sigma = equation.decompose(moved_off(case.system.initial, size).instant()).sigma
            redundant = float(sigma[rank]) if rank < len(sigma) else None
            rows.append(
                [
                    case.name,
                    _off(size),
                    rank,
                    len(sigma) - rank,
                    redundant or "-",
                    float(sigma[rank - 1]),
                ]
            )
    heads = ["system", "manifold", "rank", "redundant", "largest redundant", "smallest true"]
    return table("singular values", heads, rows)


def mass_ratios(ratios: tuple[float, ...]) -> str:
    """A chain of ten rods, light and heavy in turn."""
    rows: list[list[object]] = []
    for ratio in ratios:
        case = _case("", problems.ball_chain(10, (ratio**-0.5, ratio**0.5)), eliminated)
        at = case.system.initial.instant()
        rows.append([f"{ratio:.0e}", *(error(solve(form, at), case.truth) for form in FORMS)])
    return table(
        "ball chain of 10 rods, light and heavy in turn: error at the default cuts",
        ["ratio", *FORMS],
        rows,
    )


def one_cut(door: Case) -> str:
    """What goes wrong when both pseudoinverses share a cut: redundancy wants it coarse, small
    inertia wants it fine."""
    drifts, moments = (1e-9, 1e-7), (1e-4, 1e-5)
    truth = np.array([[0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])
    cases = [(_twisted(moment).initial.instant(), truth) for moment in moments]
    cases += [(moved_off(door.system.initial, drift).instant(), door.truth) for drift in drifts]
    cuts = (1e-6, 1e-7, 1e-8, 1e-10, 1e-13)
    rows: list[list[object]] = [
        [f"{cut:.0e}", *(error(bare(at, cut, cut), a) for at, a in cases)] for cut in cuts
    ]
    rows.append(["two cuts", *(error(solve("printed", at), a) for at, a in cases)])
    heads = [
        *(f"1000 kg, {moment:g} kg m2" for moment in moments),
        *(f"{door.name} {_off(d)}" for d in drifts),
    ]
    return table("one cut for both", ["cut", *heads], rows)


def _twisted(moment: float) -> qp.Multibody:
    """A free body of 1000 kg with a small moment of inertia, which turns at 1 rad/s2."""
    body = qp.Body("body", mass=1000.0, inertia=(moment, moment, moment))
    return qp.Multibody(body, qp.Load("twist", body, torque=(0.0, 0.0, moment)))


def whole_force(sizes: tuple[int, ...]) -> str:
    """F whole, as printed, or without its part in the row space, which has no bearing on the exact
    answer."""
    rows: list[list[object]] = []
    for n in sizes:
        case = _case("", problems.hinge_chain(n), eliminated)
        at = case.system.initial.instant()
        both = bare(at, equation.ROW_CUT, equation.MASS_CUT), solve("printed", at)
        rows.append(
            [n, float(equation.decompose(at).sigma[-1]), *(error(a, case.truth) for a in both)]
        )
    return table(
        "hinge chain, F in the printed equation",
        ["rods", "smallest sigma", "F", "(1 - A+ A) F"],
        rows,
    )


def flat(angles: tuple[float, ...]) -> str:
    """Two parallelograms on their way to the flat pose, where other branches meet and the rank
    drops."""
    rows: list[list[object]] = []
    for angle in angles:
        case = _case("", problems.four_bars(2, angle), parallelogram)
        at = case.system.initial.instant()
        mobility = case.system.mobility()
        errors = (error(solve(form, at), case.truth) for form in FORMS)
        rows.append([f"{angle:.0e}", mobility.degrees_of_freedom, mobility.smallest, *errors])
    heads = ["angle [rad]", "freedoms", "smallest sigma", *FORMS]
    return table("two parallelograms near their flat pose, default cuts", heads, rows)


def agreement(cases: list[Case]) -> str:
    """Literal against dense at the default cuts."""
    rows: list[list[object]] = []
    for case in cases:
        for size in OFF:
            at = moved_off(case.system.initial, size).instant()
            dense = solve("dense", at)
            rows.append(
                [case.name, _off(size), *(error(solve(form, at), dense) for form in FORMS[1:])]
            )
    return table("difference of literal from dense", ["system", "manifold", *FORMS[1:]], rows)


def row_units(case: Case) -> str:
    """One row of the first joint written in another unit of length, on the manifold."""
    at = case.system.initial.instant()
    rows = [
        [
            f"{scale:.0e}",
            *(
                error(bare(at, 1e-6, 1e-13, scale, normalise), case.truth)
                for normalise in (False, True)
            ),
        ]
        for scale in (1.0, 1e3, 1e6, 1e9, 1e-3, 1e-6, 1e-9)
    ]
    return table(
        f"{case.name}, one row times a factor",
        ["factor", "rows as they are", "rows normalised"],
        rows,
    )


def main(quick: bool = False) -> None:
    ball = _case("ball chain 30", problems.ball_chain(3 if quick else 30), eliminated)
    hinges = _case("hinge chain 100", problems.hinge_chain(4 if quick else 100), eliminated)
    block = _case("locked lattice 4x4", problems.lattice(2 if quick else 4), one_rigid_body)
    door = _case("door 3x3", problems.door(2 if quick else 3), about_its_edge)
    bars = _case("four-bars 4", problems.four_bars(1 if quick else 4), parallelogram)
    uneven = _case("ball chain 10, masses 1e4:1", problems.ball_chain(10, (1e-2, 1e2)), eliminated)
    cases = [ball, hinges, block, door, bars]
    rough, fine = (
        10.0 ** np.arange(first, -0.5, 4.0 if quick else 1.0) for first in (-17.0, -15.0)
    )
    out = [spectrum(cases), agreement(cases)]
    out += [plateau(case, "row_cut", fine, FORMS) for case in (ball, block, door, bars)]
    out += [plateau(hinges, "row_cut", 10.0 ** np.arange(-6.0, -1.0), ("dense",))]
    out += [plateau(case, "mass_cut", rough, FORMS[1:], OFF[:2]) for case in (door, uneven)]
    out += [
        mass_ratios((1.0, 1e3, 1e6) if quick else (1.0, 1e2, 1e4, 1e6, 1e8)),
        one_cut(door),
        row_units(ball),
    ]
    out += [
        whole_force((2, 4) if quick else (10, 40, 100)),
        flat((1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)),
    ]
    print("\n\n".join(out))


if __name__ == "__main__":
    main("--quick" in sys.argv)
