"""The area under the size of an impulse response, with a bound of its error: what a linear system
makes at most of an input that stays within one."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import expm, solve_continuous_lyapunov

from quirkpy.maths.constants import EPS
from quirkpy.maths.types import Floats
from quirkpy.parts.part import PartError

#: Relative accuracy of an area [1].
AREA_ACCURACY = 1e-6
#: Largest numbers of steps in a block, between whose ends the response is a cubic, and in all.
BLOCK_STEPS, MOST_CUBICS = 4096, 10**8
#: A cubic with the values and slopes of a function at both ends of a step h differs from it by less
#: than h^4 / 384 times its largest fourth derivative.
OF_CUBICS = 384.0
#: Zeros of cubics with less of an imaginary part are real; steps get no finer once the area left
#: has fallen to the second share times the accuracy [1].
REAL_ZERO, LAST_OF_AREA = 1e-9, 1e-3


def area_of(A: Floats, b: Floats, c: Floats) -> float:
    """The integral of |c exp(A t) b| over t from 0 on, where all motions die out, to a relative
    accuracy of `AREA_ACCURACY`; an error where that cannot be had."""
    if not b.any() or not c.any():
        return 0.0
    rate = float(abs(A).max())
    response = Response(A / rate, c)
    share, total, error = 0.1 * AREA_ACCURACY, 0.0, math.inf
    for _ in range(3):
        if response.unsure > AREA_ACCURACY:
            break
        total, error = response.area(b, share)
        if error <= AREA_ACCURACY * total:
            return total / rate
        share *= min(0.1, 0.1 * AREA_ACCURACY * total / error)
    raise PartError(
        f"the peak-to-peak norm cannot be known to {AREA_ACCURACY:g} of itself: its slowest motion "
        f"dies out at {response.slow * rate:.3g} 1/s, beside rates up to {rate:.3g} 1/s; leave "
        "fast motions out, or add damping.",
        code="answer",
    )


class Response:
    """The response c exp(A t) x of a system in which rates are one or less, for any x.

    With v its derivative of some order, the integral of v^2 over all later times is |F x|^2, F from
    an observability Gramian; and v^2 is less than twice the product of the roots of this and of
    that of v'. Of exp(s t) c exp(A t) x the same integral bounds what is left of the area."""

    def __init__(self, A: Floats, c: Floats) -> None:
        self.A, self.c = A, c
        self.slow = 0.5 * float(-np.linalg.eigvals(A).real.max())
        self.unsure = EPS * len(A) / self.slow if self.slow > 0.0 else math.inf
        self.after = self.observed(self.slow) / math.sqrt(2.0 * self.slow)
        F = self.observed(0.0)
        self.bends = [F @ np.linalg.matrix_power(A, k) for k in (4, 5)]
        self.powers: dict[int, list[Floats]] = {}

    def observed(self, shift: float) -> Floats:
        """F with |F x|^2 the integral of (c exp((A + shift) t) x)^2."""
        moved = self.A + shift * np.eye(len(self.A))
        W = solve_continuous_lyapunov(moved.T, -np.outer(self.c, self.c))
        sizes, axes = np.linalg.eigh(0.5 * (W + W.T))
        return np.asarray(np.sqrt(np.maximum(sizes, 0.0))[:, None] * axes.T)

    def left(self, x: Floats) -> float:
        """A bound of the area from a state on."""
        return float(np.linalg.norm(self.after @ x))

    def area(self, x: Floats, share: float) -> tuple[float, float]:
        """The area from a state on, and a bound of its error: steps are such that cubics leave
        about a share of it, and the end is where no more is left."""
        total = error = 0.0
        count, whole = 0, self.left(x)
        while (rest := self.left(x)) > share * total and count < MOST_CUBICS:
            four, five = (float(np.linalg.norm(bend @ x)) for bend in self.bends)
            bend = math.sqrt(2.0 * four * five)
            fine = OF_CUBICS * share * max(rest, LAST_OF_AREA * share * whole) * self.slow
            longest = 0.5 / self.slow
            h = min(longest, (fine / bend) ** 0.25) if bend > 0.0 else longest
            twos = math.floor(math.log2(h))
            h = 2.0**twos
            n = int(min(BLOCK_STEPS, 2.0 ** max(0, math.floor(math.log2(longest / h)))))
            states = self.states(x, twos, n)
            g, slope = self.c @ states, h * (self.c @ self.A @ states)
            total += h * area_of_cubics(g[:-1], g[1:], slope[:-1], slope[1:])
            error += n * h**5 / OF_CUBICS * bend
            x, count = states[:, -1], count + n
        return total, error + self.left(x) + self.unsure * total

    def states(self, x: Floats, twos: int, n: int) -> Floats:
        """The states at n steps, a power of two, of 2^twos after one, and that one (len(x),
        n + 1)."""
        powers = self.powers.setdefault(twos, [expm(2.0**twos * self.A)])
        out, k = x[:, None], 0
        while len(powers) <= round(math.log2(n)):
            powers.append(powers[-1] @ powers[-1])
        while out.shape[1] < n:
            out, k = np.concatenate([out, powers[k] @ out], axis=1), k + 1
        return np.concatenate([out, (powers[k] @ x)[:, None]], axis=1)


def area_of_cubics(one: Floats, two: Floats, rise: Floats, later: Floats) -> float:
    """The area under the sizes of cubics on [0, 1] with some values and slopes at 0 and at 1."""
    shape = np.array([one, one + rise / 3.0, two - later / 3.0, two])  # it lies within these
    plain = (shape.min(axis=0) >= 0.0) | (shape.max(axis=0) <= 0.0)
    total = float(abs(0.25 * shape[:, plain].sum(axis=0)).sum())
    for k in np.flatnonzero(~plain):
        up = two[k] - one[k]
        cubic = np.polynomial.Polynomial(
            [one[k], rise[k], 3.0 * up - 2.0 * rise[k] - later[k], rise[k] + later[k] - 2.0 * up]
        )
        roots = cubic.roots()
        inside = roots.real[
            (abs(roots.imag) <= REAL_ZERO) & (roots.real > 0.0) & (roots.real < 1.0)
        ]
        ends = np.concatenate([[0.0], np.sort(inside), [1.0]])
        total += float(abs(np.diff(cubic.integ()(ends))).sum())
    return total
