"""Mechanisms of one freedom by their energy: a truth that shares nothing with quirkpy.

Whoever asks says where each body is over one coordinate q; derivatives are those of complex steps,
exact to rounding, and the time from one place to another is an integral."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import quad

STEP = 1e-30
NO_MOMENTS = (0.0, 0.0, 0.0)


class Piece(NamedTuple):
    """A body: mass [kg], moments about its axes [kg m2], and where its centre (3,) and its axes, as
    columns (3, 3), are over q."""

    mass: float
    moments: Sequence[float]
    place: Callable[[Any], tuple[Any, Any]]


class Motion(NamedTuple):
    """Bodies, and the potential over q [J], that of weight included."""

    pieces: Sequence[Piece]
    potential: Callable[[float], float]

    def inertia(self, q: float) -> float:
        """Twice the kinetic energy at a rate of 1."""
        out = 0.0
        for piece in self.pieces:
            r, axes = piece.place(q + 1j * STEP)
            v, turning = np.imag(r) / STEP, np.imag(axes) / STEP
            spin = np.real(axes).T @ turning  # of body axes, [omega] x
            omega = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
            out += piece.mass * float(v @ v) + float(np.dot(piece.moments, omega**2))
        return out

    def rate(self, q: float, start: float) -> float:
        """How fast it is where it was let go at rest at `start`."""
        given = self.potential(start) - self.potential(q)
        return float(np.sqrt(2.0 * given / self.inertia(q)))

    def time(self, start: float, end: float) -> float:
        """From rest at `start` until it comes to `end` for the first time."""

        def slowness(u: float) -> float:  # q = start + (end - start) u^2 smooths the start
            return 2.0 * u * abs(end - start) / self.rate(start + (end - start) * u * u, start)

        return float(quad(slowness, 0.0, 1.0, epsabs=1e-13, epsrel=1e-13, limit=200)[0])


def still(q: Any) -> Any:
    """Axes that do not turn."""
    return np.eye(3) + 0.0 * q


def rod(mass: float, start: Callable[[Any], Any], end: Callable[[Any], Any]) -> list[Piece]:
    """A slender rod that does not spin, between two points (3,) over q: a sixth of its mass at
    either end and the rest in the middle move as it does."""
    ends = [
        Piece(mass / 6.0, NO_MOMENTS, lambda q, at=at: (at(q), still(q))) for at in (start, end)
    ]
    middle = Piece(mass * 2.0 / 3.0, NO_MOMENTS, lambda q: (0.5 * (start(q) + end(q)), still(q)))
    return [*ends, middle]


def turn(axis: Sequence[float], angle: Any) -> Any:
    """The matrix of a turn about a unit vector."""
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K
