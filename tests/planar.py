"""Plane mechanisms in angles of their own, with multipliers: a truth that shares nothing with
quirkpy.

A point is a sum of c exp(i n q), a complex number x + iy, n whole numbers; so all its derivatives
are exact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

from quirkpy.maths.types import Floats


class Point:
    """sum of c exp(i n q): pairs (c, n), n of the length of q."""

    def __init__(self, *terms: tuple[complex, Sequence[int]]) -> None:
        self.c = np.array([c for c, _ in terms], dtype=complex)
        self.n = np.array([n for _, n in terms], dtype=float)

    def __add__(self, other: Point) -> Point:
        out = Point()
        out.c, out.n = np.concatenate([self.c, other.c]), np.concatenate([self.n, other.n])
        return out

    def __sub__(self, other: Point) -> Point:
        return self + other * -1.0

    def __mul__(self, factor: complex) -> Point:
        out = Point()
        out.c, out.n = self.c * factor, self.n
        return out

    def at(self, q: Floats) -> complex:
        return complex((self.c * np.exp(1j * (self.n @ q))).sum())

    def slope(self, q: Floats) -> np.ndarray:
        """d/dq (nq,), complex."""
        return np.asarray((1j * self.c * np.exp(1j * (self.n @ q))) @ self.n)

    def bend(self, q: Floats, rate: Floats) -> complex:
        """What its acceleration is where q'' = 0."""
        return complex(-(self.c * np.exp(1j * (self.n @ q)) * (self.n @ rate) ** 2).sum())


class Link(NamedTuple):
    """A body: mass [kg], moment [kg m2], mass centre, and its angle n q + const."""

    mass: float
    moment: float
    centre: Point
    turn: Sequence[int]


class Spring(NamedTuple):
    """Between two points, stiffness [N/m], rest length [m]."""

    one: Point
    two: Point
    stiffness: float
    length: float


class Mechanism(NamedTuple):
    """Links; points that stay at 0, which close its loops; springs; gravity x + iy [m/s2]; loads on
    the coordinates."""

    links: Sequence[Link]
    loops: Sequence[Point] = ()
    springs: Sequence[Spring] = ()
    gravity: complex = 0.0
    loads: Sequence[float] | None = None

    def mass_matrix(self, q: Floats) -> Floats:
        out = np.zeros((len(q), len(q)))
        for link in self.links:
            J, n = link.centre.slope(q), np.array(link.turn, dtype=float)
            out += link.mass * (J[:, None] * J.conj()).real + link.moment * np.outer(n, n)
        return out

    def forces(self, q: Floats, rate: Floats) -> Floats:
        """All that acts on the coordinates, gyroscopic terms included."""
        out = np.zeros(len(q)) if self.loads is None else np.array(self.loads, dtype=float)
        for link in self.links:
            push = link.mass * (self.gravity - link.centre.bend(q, rate))
            out += (link.centre.slope(q).conj() * push).real
        for spring in self.springs:
            across = spring.two - spring.one
            d = across.at(q)
            pull = spring.stiffness * (abs(d) - spring.length) * d / abs(d)
            out -= (across.slope(q).conj() * pull).real
        return out

    def accelerations(self, q: Floats, rate: Floats) -> Floats:
        M, F = self.mass_matrix(q), self.forces(q, rate)
        if not self.loops:
            return np.asarray(np.linalg.solve(M, F))
        slopes = np.array([loop.slope(q) for loop in self.loops])
        bends = np.array([loop.bend(q, rate) for loop in self.loops])
        G = np.concatenate([slopes.real, slopes.imag])
        gamma = -np.concatenate([bends.real, bends.imag])
        m = len(G)
        full = np.block([[M, G.T], [G, np.zeros((m, m))]])
        return np.asarray(np.linalg.solve(full, np.concatenate([F, gamma]))[: len(q)])

    def fly(self, q: Floats, rate: Floats, times: Floats) -> Floats:
        """The coordinates at some times (len(times), nq)."""
        n = len(q)

        def right(_: float, y: Floats) -> Floats:
            return np.concatenate([y[n:], self.accelerations(y[:n], y[n:])])

        done = solve_ivp(
            right, (0.0, float(times[-1])), np.concatenate([q, rate]), "DOP853", t_eval=times,
            rtol=1e-13, atol=1e-14,
        )  # fmt: skip
        return np.asarray(done.y[:n].T)

    def energy(self, q: Floats, rate: Floats) -> float:
        """Kinetic and potential, loads left out [J]."""
        out = 0.5 * rate @ self.mass_matrix(q) @ rate
        for link in self.links:
            out -= link.mass * (link.centre.at(q) * np.conj(self.gravity)).real
        for spring in self.springs:
            stretch = abs((spring.two - spring.one).at(q)) - spring.length
            out += 0.5 * spring.stiffness * stretch**2
        return float(out)


def close(
    loops: Sequence[Point], guess: Floats, fixed: Callable[[int], bool] = lambda k: False
) -> Floats:
    """Coordinates near a guess at which all loops close; fixed ones stay as they are."""
    q = np.array(guess, dtype=float)
    free = [k for k in range(len(q)) if not fixed(k)]
    for _ in range(50):
        off = np.array([loop.at(q) for loop in loops])
        slopes = np.array([loop.slope(q)[free] for loop in loops])
        G = np.concatenate([slopes.real, slopes.imag])
        step = np.linalg.lstsq(G, np.concatenate([off.real, off.imag]), rcond=None)[0]
        q[free] -= step
        if abs(step).max() < 1e-16:
            break
    return q
