"""Stability of the linear motion x'' + D x' + K x = 0, from matrices with known errors.

Energy decides first, where K is symmetric and D dissipates: a minimum is stable under any damping
and any gyroscopic terms (the skew half of D); a maximum or a saddle is unstable where there are no
gyroscopic terms, or where damping is pervasive (Kelvin, Tait and Chetaev). Otherwise the
eigenvalues decide. Every number is compared with its own error, direction by direction, so that a
slow motion is judged correctly beside a fast one; where the errors leave it open, the verdict is
marginal."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.linalg import eig
from scipy.linalg.lapack import dgebal
from scipy.optimize import brentq

from quirkpy.kernels.base.eigen import eigen
from quirkpy.maths.constants import DEPENDENT, EPS, TINY
from quirkpy.maths.differences import is_symmetric_within, unsure
from quirkpy.maths.types import Bools, Floats

#: The ground of a verdict: every direction rises; one falls; one falls and gyroscopic terms
#: stabilise it; one is level to within its error; without a potential, every motion dies out; one
#: grows; one does neither to within its error.
Ground: TypeAlias = Literal["rises", "falls", "turns", "level", "dies", "grows", "lasts"]

#: Backward error of computed eigenvalues, relative to the norm of the matrix and per row.
EIGENVALUE_ROUNDING = 4.0 * EPS
#: A motion counts as undamped only where damping of this share of the critical one would be
#: detected.
SHOWS = 1e-6
#: Where momentum is conserved, a curvature of the energy counts as zero below this share of the
#: largest.
ZERO_BEND = 1e-11
#: The smallest real rate of growth that is sought, as a share of the fastest rate.
SLOWEST_GROWTH = 1e-60


class Around(NamedTuple):
    """K [1/s2] and D [1/s] over coordinates in which the mass matrix is the identity, and the error
    of each number (f, f)."""

    stiffness: Floats
    damping: Floats
    stiffness_error: Floats
    damping_error: Floats


class Spectrum(NamedTuple):
    """Eigenvalues [1/s] with non-negative imaginary part, slowest first (m,); bounds of their
    errors (m,); displacements along them (f, m)."""

    values: Floats
    errors: Floats
    along: Floats

    @property
    def growing(self) -> Bools:
        """Which motions certainly grow (m,)."""
        return np.asarray(self.values.real > self.errors)

    @property
    def dying(self) -> Bools:
        """Which motions certainly die out (m,)."""
        return np.asarray(self.values.real < -self.errors)


class Judgement(NamedTuple):
    """The ground of the verdict, and along which directions (f, k); the uncertain quantity there,
    and its error: a stiffness [1/s2] or a rate [1/s]; the motions."""

    ground: Ground
    along: Floats
    value: float
    error: float
    motions: Spectrum
    braked: bool = False

    @property
    def damped(self) -> bool:
        """Whether every motion certainly dies out: by its rate, or, around a minimum of energy,
        because damping is pervasive."""
        return self.braked or bool(self.motions.dying.all())

    def undamped(self, around: Around, k: int) -> bool:
        """Whether motion k is not damped at all: its damping is zero, with an error so small that a
        share of its frequency would be detected."""
        along = self.motions.along[:, k]
        along = along / max(float(np.linalg.norm(along)), TINY)
        bend, taken = (
            float((along.conj() @ A @ along).real) for A in (around.stiffness, around.damping)
        )
        doubt = float(unsure(around.damping_error, along[:, None])[0])
        doubt += EIGENVALUE_ROUNDING * float(np.linalg.norm(around.damping))
        return taken <= doubt <= SHOWS * math.sqrt(abs(bend))


def judge(around: Around, neutral: Floats, rest: Floats, momenta: Floats) -> Judgement:
    """The stability of the motion in the complement of the directions along which equilibria
    continue.

    neutral (n, f) and the others, rest (f - n, f): orthonormal rows. momenta: derivatives of the
    conserved momenta with respect to (x, x') (k, 2 f)."""
    kept = np.concatenate([momenta[:, : len(rest.T)] @ rest.T, momenta[:, len(rest.T) :]], axis=1)
    span = _null_space(kept)
    found = motions(around, rest, span, len(neutral))
    if not (_symmetric(around, rest) and _takes_energy(around)):
        return _by_rates(found)
    bends, errors, along = _energies(around, rest, span, bool(len(kept)))
    falls, level = bends < -errors, abs(bends) <= errors
    if falls.any():
        worst = int(np.argmax(np.where(falls, -bends / np.maximum(errors, TINY), -1.0)))
        figures = float(bends[worst]), float(errors[worst])
        if not len(kept):
            found = _with_growth(around, rest, found, int(falls.sum()))
        if found.growing.any():
            return Judgement("falls", found.along[:, found.growing], *figures, found)
        if not len(kept) and (_damps_all(around) or (falls.sum() % 2 == 1 and not level.any())):
            return Judgement("falls", along[:, falls], *figures, found)
        if not level.any():
            return Judgement("turns", along[:, falls], *figures, found)
    if level.any():
        worst = int(np.argmax(np.where(level, errors - abs(bends), -1.0)))
        return Judgement("level", along[:, level], float(bends[worst]), float(errors[worst]), found)
    braked = not len(kept) and _damps_all(around)
    return Judgement("rises", along[:, :0], 0.0, 0.0, found, braked)


def _by_rates(found: Spectrum) -> Judgement:
    """The verdict without a potential: stable if all motions die out."""
    growing, lasting = found.growing, ~found.dying
    which = growing if growing.any() else lasting
    if not which.any():
        return Judgement("dies", found.along[:, :0], 0.0, 0.0, found)
    worst = int(np.argmax(np.where(which, found.values.real, -np.inf)))
    figures = float(found.values.real[worst]), float(found.errors[worst])
    return Judgement("grows" if growing.any() else "lasts", found.along[:, which], *figures, found)


# --- what kind of forces there are ----------------------------------------------------------------
def _symmetric(around: Around, rest: Floats) -> bool:
    """Whether forces have a potential: K is symmetric to within its error and a small share of
    comparable stiffnesses."""
    return is_symmetric_within(
        rest @ around.stiffness @ rest.T, abs(rest) @ around.stiffness_error @ abs(rest).T
    )


def _braking(around: Around) -> tuple[Floats, Floats]:
    """Eigenvalues of the symmetric half of D [1/s], and the error of each (f,)."""
    values, axes = eigen(0.5 * (around.damping + around.damping.T))
    return values, unsure(around.damping_error, axes) + EIGENVALUE_ROUNDING * abs(values)


def _takes_energy(around: Around) -> bool:
    values, errors = _braking(around)
    return bool((values >= -errors).all())


def _damps_all(around: Around) -> bool:
    values, errors = _braking(around)
    return bool((values > errors).all())


def _gyroscopic(around: Around) -> bool:
    """Whether D has a significant skew half."""
    skew = abs(around.damping - around.damping.T)
    return bool((skew > around.damping_error + around.damping_error.T).any())


def _energies(
    around: Around, rest: Floats, span: Floats, confined: bool
) -> tuple[Floats, Floats, Floats]:
    """Curvatures of the energy [1/s2] (m,), their errors (m,), and directions (f, m); where
    momentum is conserved, those of the augmented energy of motion as well."""
    K = rest @ around.stiffness @ rest.T
    if not confined:
        values, axes = eigen(0.5 * (K + K.T))
        along = rest.T @ axes
        return (
            values,
            unsure(around.stiffness_error, along) + EIGENVALUE_ROUNDING * abs(values),
            along,
        )
    n, f = rest.shape
    energy = np.zeros((n + f, n + f))
    energy[:n, :n], energy[n:, n:] = 0.5 * (K + K.T), np.eye(f)
    values, axes = np.linalg.eigh(span.T @ energy @ span)
    along = rest.T @ (span @ axes)[:n]
    return (
        values,
        unsure(around.stiffness_error, along) + ZERO_BEND * abs(K).max(initial=0.0),
        along,
    )


# --- eigenvalues ----------------------------------------------------------------------------------
def _null_space(kept: Floats) -> Floats:
    """A basis of the null space of some rows (n, k), as columns."""
    if not len(kept):
        return np.eye(kept.shape[1])
    _, sigma, Vt = np.linalg.svd(kept)
    return np.asarray(Vt[(sigma > DEPENDENT * sigma.max(initial=0.0)).sum() :].T)


def motions(around: Around, rest: Floats, span: Floats | None = None, excused: int = 0) -> Spectrum:
    """Motions with displacements in the span of orthonormal rows (n, f), restricted to a subspace
    of (x, x') where momenta are conserved (n + f, k).

    Of the motions with eigenvalue zero, one is left out for each excused neutral direction, which
    may drift: those with the least displacement in the other directions."""
    n, f = rest.shape
    span = np.eye(n + f) if span is None else span
    flow, error = np.zeros((n + f, n + f)), np.zeros((n + f, n + f))
    flow[:n, n:], flow[n:, :n], flow[n:, n:] = rest, -around.stiffness @ rest.T, -around.damping
    error[n:, :n], error[n:, n:] = around.stiffness_error @ abs(rest).T, around.damping_error
    flow, error = span.T @ flow @ span, abs(span).T @ error @ abs(span)
    made: Any = dgebal(flow, scale=1, permute=0)
    balanced, scale = made[0], made[3]
    values, left, right = eig(balanced, left=True, right=True)
    error = error * scale / scale[:, None] + EIGENVALUE_ROUNDING * len(flow) * np.linalg.norm(
        balanced
    )
    weights = abs(np.einsum("fm,fm->m", left.conj(), right))
    errors = np.einsum("fm,fg,gm->m", abs(left), error, abs(right)) / np.maximum(weights, TINY)
    displaced, rates = np.split(span @ (scale[:, None] * right), [n])
    displaced = (rest.T @ displaced).astype(complex)
    lasts = abs(values) <= errors
    values = np.where(lasts, 0.0, values)
    steady = np.flatnonzero(lasts)
    drifting = steady[np.argsort(np.linalg.norm(displaced[:, steady], axis=0), kind="stable")][
        :excused
    ]
    displaced[:, ~lasts] = rates[:, ~lasts] / values[~lasts]  # with neutral components
    listed = [k for k, s in enumerate(values) if s.imag >= 0.0 and k not in drifting]
    return _sort_motions(values[listed], errors[listed], displaced[:, listed])


def _sort_motions(values: Floats, errors: Floats, along: Floats) -> Spectrum:
    """Motions in the order of their rates, the slowest first."""
    order = sorted(
        range(len(values)), key=lambda k: (round(float(abs(values[k])), 12), -values[k].real)
    )
    return Spectrum(values[order], errors[order], along[:, order])


def _with_growth(around: Around, rest: Floats, found: Spectrum, falling: int) -> Spectrum:
    """Motions without gyroscopic terms, of which as many grow, at real rates, as there are
    directions of negative curvature: these rates are computed one by one, as rounding of faster
    ones may hide them."""
    if _gyroscopic(around):
        return found
    onto = rest.T @ rest
    K, D = onto @ around.stiffness @ onto, around.damping
    K, D = 0.5 * (K + K.T), 0.5 * (D + D.T)
    highest = float(np.sqrt(abs(K).sum(axis=1).max()))
    ends = math.log(SLOWEST_GROWTH * highest), math.log(2.0 * highest)
    rates = np.array([math.exp(brentq(_lowest, *ends, args=(K, D, k))) for k in range(falling)])
    along = np.array([_lowest_eigenvalue(rate, K, D, k)[1] for k, rate in enumerate(rates)]).T
    others = np.argsort(np.where(found.growing, -1.0, abs(found.values)), kind="stable")[falling:]
    return _sort_motions(
        np.append(rates, found.values[others]), np.append(0.0 * rates, found.errors[others]),
        np.concatenate([along, found.along[:, others]], axis=1),
    )  # fmt: skip


def _lowest_eigenvalue(rate: float, K: Floats, D: Floats, k: int) -> tuple[float, Floats]:
    """The k-th lowest eigenvalue of K + s D + s^2 for symmetric matrices, and its direction
    (f,)."""
    values, axes = eigen(K + rate * D + rate * rate * np.eye(len(K)))
    which = int(np.argsort(values, kind="stable")[k])
    return float(values[which]), axes[:, which]


def _lowest(power: float, K: Floats, D: Floats, k: int) -> float:
    """The k-th lowest eigenvalue of K + s D + s^2 at s = e^power; it is zero where s is a rate of
    growth."""
    return _lowest_eigenvalue(math.exp(power), K, D, k)[0]
