"""Norms and realisations of linear systems x' = A x + B u, y = C x + D u, whose motions die out."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import matrix_balance, solve_continuous_lyapunov

from quirkpy.maths.types import Floats
from quirkpy.rest.areas import area_of

#: An eigenvalue lies on the imaginary axis if its real part is below this share of the largest [1].
ON_AXIS = 1e-8
#: Relative accuracy of the H-infinity norm.
PEAK = 1e-9
#: Directions that inputs reach, or outputs show, by less than this share do not count [1].
REACHED = 1e-9
#: Entries of A below this share of the largest are what rounding leaves of drifting motions [1].
DRIFTING = 1e-20


class Realisation(NamedTuple):
    """x' = A x + B u, y = C x + D u with A (n, n), B (n, m), C (p, n), D (p, m);
    ``scipy.signal.StateSpace(*realisation)``."""

    A: Floats
    B: Floats
    C: Floats
    D: Floats

    @property
    def balanced(self) -> Realisation:
        """This system with states in units in which A is balanced, but for motions that drift: what
        rounding leaves of their stiffness says nothing of their units."""
        size = abs(self.A)
        kept = np.where(size > DRIFTING * size.max(initial=0.0), self.A, 0.0)
        _, (scale, _) = matrix_balance(kept, permute=False, separate=True)
        A = self.A * (scale / scale[:, None])
        return Realisation(A, self.B / scale[:, None], self.C * scale, self.D)

    def minimal(self, tolerance: float = REACHED) -> Realisation:
        """A system with the same transfer function and the fewest states: without those that no
        input reaches, and those that no output shows."""
        reached = self.balanced.reduced(tolerance)
        return reached.dual.balanced.reduced(tolerance).dual

    @property
    def dual(self) -> Realisation:
        """Inputs and outputs exchanged."""
        return Realisation(self.A.T, self.C.T, self.B.T, self.D.T)

    def reduced(self, tolerance: float) -> Realisation:
        """This system with those states alone that inputs reach."""
        Q = reachable(self.A, self.B, tolerance)
        return Realisation(Q.T @ self.A @ Q, Q.T @ self.B, self.C @ Q, self.D)

    def at_rest(self) -> Floats:
        """The outputs for constant inputs once all motion has died out (p, m)."""
        return np.asarray(self.D - self.C @ np.linalg.lstsq(self.A, self.B, rcond=None)[0])

    def covariance(self) -> Floats:
        """The covariance of the outputs under white noise of unit intensity at inputs (p, p)."""
        same = self.balanced
        if not len(same.A):
            return np.zeros((len(self.C), len(self.C)))
        # time in units of the fastest motion, lengths in units of its displacement
        rate = float(abs(same.A).max())
        P = solve_continuous_lyapunov(same.A / rate, -same.B @ same.B.T)
        return np.asarray(same.C @ P @ same.C.T / rate)

    def h2(self) -> float:
        """The H2 norm: the size of the outputs under white noise of unit intensity."""
        return math.sqrt(max(0.0, float(np.trace(self.covariance()))))

    def energy_to_peak(self) -> float:
        """The norm that is induced by inputs in the 2-norm and outputs in the infinity norm: the
        largest length of the outputs at any time after inputs u with integral u'u dt = 1."""
        return math.sqrt(max(0.0, float(np.linalg.eigvalsh(self.covariance()).max(initial=0.0))))

    def hinf(self) -> float:
        """The H-infinity norm, which the 2-norms of inputs and outputs induce: the largest gain at
        any frequency (Bruinsma and Steinbuch, 1990)."""
        if not self.B.size or not self.C.size:
            return 0.0
        poles = np.linalg.eigvals(self.A)
        tried = np.concatenate([[0.0], abs(poles), abs(poles.imag)])
        lower = max(self.gain(w) for w in tried)
        if lower == 0.0:
            return 0.0
        while True:
            gamma = (1.0 + 2.0 * PEAK) * lower
            H = np.block([[self.A, self.B @ self.B.T / gamma**2], [-self.C.T @ self.C, -self.A.T]])
            values = np.linalg.eigvals(H)
            crossed = np.sort(abs(values.imag[abs(values.real) <= ON_AXIS * abs(values).max()]))
            middles = 0.5 * (crossed[1:] + crossed[:-1])
            higher = max((self.gain(w) for w in middles), default=0.0)
            if higher <= gamma:
                return lower
            lower = higher

    def peak_to_peak(self) -> float:
        """The norm that is induced by inputs and outputs in the infinity norm: the largest output
        at any time after inputs of which none ever exceeds one, to a relative accuracy of 1e-6."""
        same = self.balanced
        areas = np.array([[area_of(same.A, b, c) for b in same.B.T] for c in same.C])
        each = areas.reshape(len(self.C), self.B.shape[1]) + abs(self.D)
        return float(each.sum(axis=1).max(initial=0.0))

    def gain(self, w: float) -> float:
        """The largest singular value of the transfer function at an angular frequency [rad/s]."""
        inside = np.linalg.solve(1j * w * np.eye(len(self.A)) - self.A, self.B)
        return float(np.linalg.norm(self.C @ inside + self.D, 2))


def reachable(A: Floats, B: Floats, tolerance: float) -> Floats:
    """An orthonormal basis of the states that inputs reach (n, r): B, A B, A A B and so on, each
    without what came before."""
    found, size = np.zeros((len(A), 0)), float(np.linalg.norm(A, 2)) if len(A) else 0.0
    fresh = directions(B, tolerance * float(np.linalg.norm(B, 2)) if B.size else 0.0)
    while fresh.shape[1]:
        found = np.concatenate([found, fresh], axis=1)
        moved = A @ fresh
        for _ in range(2):  # twice is enough
            moved = moved - found @ (found.T @ moved)
        fresh = directions(moved, tolerance * size)
    return found


def directions(columns: Floats, least: float) -> Floats:
    """An orthonormal basis of columns, without those of less than some length."""
    U, sigma, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(U[:, sigma > least])
