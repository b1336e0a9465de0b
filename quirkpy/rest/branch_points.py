"""Equilibria at singular poses, where the constraint Jacobian J loses rank and branches of motion
meet, as in a flat four-bar.

At such a pose some displacements Z w that satisfy the constraints to first order belong to no
motion. A motion that begins along w has J a = gamma(Zw, Zw) for some acceleration a, so that mu'
gamma(Zw, Zw) = 0 for every mu with J' mu = 0. These conditions are quadratic forms Q(w); they
vanish identically where rows are merely redundant. The curvature of the energy along a motion is w'
K0 w with K0 = Z' (Hess U - sum lambda_i Hess phi_i) Z, taken over free bodies with the multipliers
held constant; another choice lambda + s mu adds s Q, which is zero along true motions.

So the equilibrium is a minimum if K0 + sum s Q is positive definite for some s, and it is not if w'
K0 w < 0 for some w with Q(w) = 0. With a single Q one of the two holds, except in the limiting case
(S-lemma: Polik and Terlaky, SIAM Review 49, 371, 2007)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from quirkpy.kernels.base.states import zero_vectors
from quirkpy.maths.constants import TINY
from quirkpy.maths.differences import PLACES
from quirkpy.maths.types import Floats
from quirkpy.mechanics import equation
from quirkpy.rest.coordinates import accelerations_of_free
from quirkpy.rest.vicinity import Vicinity

#: Tolerance of scaled multipliers in the search for the largest smallest eigenvalue [1].
MULTIPLIER_TOLERANCE = 1e-9
#: Tolerance of the scaled curvature of energy in the search for branches [1].
BEND_TOLERANCE = 1e-15
#: Two unit directions are the same branch if their inner product is within this of 1 or -1 [1].
SAME_BRANCH = 1e-6
#: A form is not zero where it exceeds this share of the curvature terms of single rows [1].
BENT = 1e-6
#: Nor where paths are as straight as rounding: a curvature of theirs in units of the size [1].
STRAIGHT = 1e-10
#: A curvature of the energy counts as zero below this share of the largest [1], and below this
#: value [1/s2]; a damping below the latter value [1/s].
LEVEL_FORM, NO_BEND = 1e-8, 1e-12
#: A linear combination of forms, with a coefficient vector of length one, counts as definite where
#: its smallest eigenvalue is above this.
DEFINITE = 1e-3
#: Number of random directions from which branches of motion are sought, and the tolerance of Q = 0.
TRIED, DIRECTION_TOLERANCE = 24, 1e-9


class Crossing(NamedTuple):
    """K0 and the damping matrix in the coordinates of a vicinity (f, f), and the independent forms
    Q (k, f, f)."""

    stiffness: Floats
    damping: Floats
    forms: Floats


class BranchVerdict(NamedTuple):
    """The deciding directions (k, f), of length one, along true motions; the curvature of the
    energy along each [1/s2] (k,); whether it is positive along all motions."""

    along: Floats
    bends: Floats
    rises: bool


def crossing_at(around: Vicinity, forms: Floats) -> Crossing:
    """Stiffness, damping and forms at a state where branches of motion meet."""
    multipliers = equation.solve_dense(around.at).multipliers
    steps = (PLACES[None, :, None] * np.diag(around.reach)[:, None]).reshape(-1, around.freedoms)
    K, D = (
        -around.slopes_of(around.reduce(_relative_accelerations(around, states, multipliers)))
        for states in (around.states_at(steps), around.states_at(0.0 * steps, steps))
    )
    return Crossing(K, D, forms)


def forms_at(around: Vicinity) -> Floats | None:
    """Independent forms Q that vanish along every true motion (k, f, f), each of norm one; None at
    a regular pose."""
    parts = around.decomposition
    if not around.freedoms or parts.rank == len(parts.norms):
        return None
    lost = parts.U[:, parts.rank :] / parts.norms[:, None]
    directions = np.random.default_rng(0).normal(size=(3, around.freedoms))
    tried = _gammas(around, directions)
    fastest = float(abs(np.einsum("kf,fni->kni", directions, around.basis)).max())
    straight = STRAIGHT * fastest**2 / (around.size * float(parts.norms.min()))
    least = max(BENT * float(abs(tried / parts.norms).max()), straight)
    if abs(tried @ lost).max() <= least:  # merely redundant
        return None
    return _forms(around, lost, least)


def stands(around: Vicinity) -> bool:
    """Whether no motion relative to the rigid motion of the whole exists: the constraints allow
    none to first order, or some linear combination of the forms is definite, so that all forms
    vanish along no direction, as in a flat triangle of hinges."""
    if not around.freedoms:
        return True
    forms = forms_at(around)
    return forms is not None and definite(forms)


def definite(forms: Floats) -> bool:
    """Whether some linear combination of forms (k, f, f) is positive definite."""
    from scipy.optimize import minimize

    def smallest(s: Floats) -> float:
        return float(
            np.linalg.eigvalsh(
                np.einsum("k,kfg->fg", s / max(float(np.linalg.norm(s)), TINY), forms)
            )[0]
        )

    starts = np.concatenate([np.eye(len(forms)), -np.eye(len(forms))])
    if any(smallest(start) > DEFINITE for start in starts):
        return True

    def lowest(start: Floats) -> float:
        found: Any = minimize(lambda s: -smallest(s), start, method="Nelder-Mead")  # type: ignore[call-overload]
        return float(found.fun)

    return len(forms) > 1 and any(-lowest(start) > DEFINITE for start in starts[:1:-1])


def decide(crossing: Crossing) -> BranchVerdict:
    """Along which motions the energy rises and along which it falls."""
    K, forms = 0.5 * (crossing.stiffness + crossing.stiffness.T), crossing.forms
    along = branches(K, forms)
    bends = np.einsum("kf,fg,kg->k", along, K, along)
    level = LEVEL_FORM * float(abs(K).max()) + NO_BEND
    bends[abs(bends) <= level] = 0.0
    return BranchVerdict(along, bends, lowest(K, forms) > level and bool((bends > 0.0).all()))


def lowest(K: Floats, forms: Floats) -> float:
    """The maximum over s of the smallest eigenvalue of K + sum s Q, a concave function of s."""
    from scipy.optimize import minimize

    def falling(s: Floats) -> float:
        return -float(np.linalg.eigvalsh(K + np.einsum("k,kfg->fg", s, forms))[0])

    scale = max(float(abs(K).max()), TINY) / max(float(abs(forms).max()), TINY)
    best = 0.0 - falling(np.zeros(len(forms)))
    for start in np.concatenate(
        [np.zeros((1, len(forms))), np.eye(len(forms)), -np.eye(len(forms))]
    ):
        found: Any = minimize(  # type: ignore[call-overload]
            lambda s: falling(scale * s),
            start,
            method="Nelder-Mead",
            options={"xatol": MULTIPLIER_TOLERANCE, "fatol": 0.0},
        )
        best = max(best, -float(found.fun))
    return best


def branches(K: Floats, forms: Floats) -> Floats:
    """Directions w of length one with all Q(w) = 0 at which w' K w has a local minimum: true
    motions, lowest first. With two freedoms there are at most two such lines."""
    from scipy.optimize import minimize

    f, size, rng = len(K), max(float(abs(K).max()), TINY), np.random.default_rng(0)
    demands: Any = {
        "type": "eq",
        "fun": lambda w: np.append(np.einsum("f,kfg,g->k", w, forms, w), w @ w - 1.0),
        "jac": lambda w: np.concatenate([2.0 * forms @ w, 2.0 * w[None]]),
    }
    found: list[Floats] = []
    for start in rng.normal(size=(TRIED, f)):
        made: Any = minimize(  # type: ignore[call-overload]
            lambda w: float(w @ K @ w) / size, start / np.linalg.norm(start),
            jac=lambda w: 2.0 * K @ w / size, method="SLSQP", constraints=demands,
            options={"ftol": BEND_TOLERANCE, "maxiter": 200},
        )  # fmt: skip
        w = made.x / max(float(np.linalg.norm(made.x)), TINY)
        missed = abs(np.einsum("f,kfg,g->k", w, forms, w)).max()
        if missed <= DIRECTION_TOLERANCE * abs(forms).max() and all(
            abs(abs(w @ other) - 1.0) > SAME_BRANCH for other in found
        ):
            found.append(w * np.sign(w[np.argmax(abs(w))]))
    found.sort(key=lambda w: float(w @ K @ w))
    return np.array(found).reshape(-1, f)


# --- rows and loads of free bodies ----------------------------------------------------------------
def _gammas(around: Vicinity, directions: Floats) -> Floats:
    """gamma(Zw, Zw) of all rows, for some w (k, m), without the explicit time dependence of the
    rows."""
    out = []
    for w in directions:
        speeds = np.multiply.outer([1.0, -1.0, 0.0], np.einsum("f,fni->ni", w, around.basis))
        moving = (around.instant_of(state) for state in around.with_speeds(speeds))
        one, other, none = (equation.targets(at) for at in moving)
        out.append(0.5 * (one + other) - none)
    return np.array(out)


def _forms(around: Vicinity, lost: Floats, least: float) -> Floats:
    """Independent forms mu' gamma(Zw, Zw) as matrices (k, f, f), each of norm one, computed by
    polarisation."""
    f = around.freedoms
    pairs = [(i, j) for i in range(f) for j in range(i, f)]
    unit = np.eye(f)
    values = _gammas(around, np.array([unit[i] + unit[j] for i, j in pairs])) @ lost
    squares = _gammas(around, unit) @ lost
    matrices = np.zeros((lost.shape[1], f, f))
    for (i, j), value in zip(pairs, values, strict=True):
        both = 0.25 * value if i == j else 0.5 * (value - squares[i] - squares[j])
        matrices[:, i, j] = matrices[:, j, i] = both
    _, sigma, Vt = np.linalg.svd(matrices.reshape(len(matrices), -1), full_matrices=False)
    return np.asarray(Vt[sigma > least].reshape(-1, f, f))


def _relative_accelerations(around: Vicinity, states: Floats, multipliers: Floats) -> Floats:
    """Accelerations of the bodies relative to the rigid motion of the whole, under loads and
    constant multipliers, in states (k, n, STATE_WIDTH)."""
    out = zero_vectors(*states.shape[:2])
    for rows, felt in zip(states, out, strict=True):
        at = around.instant_of(rows)
        held = equation.constraint_matrix(at).T @ multipliers
        felt[:] = accelerations_of_free(around.at, equation.generalised_forces(at) + held)
    return around.whole.relative_accelerations(states, out)
