"""Truncated Taylor arithmetic: numbers and vectors that carry their first and second time
derivative along.

What is written with jets is differentiated exactly, and by nothing that the package contains.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import quirkpy as qp
from quirkpy.maths.types import Floats


@dataclass(frozen=True)
class Jet:
    """f, df/dt and d2f/dt2 at one instant; each a number or an array."""

    f: Any
    d: Any
    dd: Any

    def __add__(self, other: Any) -> Jet:
        other = jet(other)
        return Jet(self.f + other.f, self.d + other.d, self.dd + other.dd)

    def __neg__(self) -> Jet:
        return Jet(-self.f, -self.d, -self.dd)

    def __sub__(self, other: Any) -> Jet:
        return self + -jet(other)

    def __mul__(self, other: Any) -> Jet:
        return product(np.multiply, self, other)

    def __getitem__(self, k: int) -> Jet:
        return Jet(self.f[k], self.d[k], self.dd[k])


def jet(value: Any) -> Jet:
    """Anything that is no jet yet stands still."""
    if isinstance(value, Jet):
        return value
    return Jet(np.asarray(value, dtype=float), *(np.zeros(np.shape(value)) for _ in range(2)))


def product(of: Callable[[Any, Any], Any], a: Any, b: Any) -> Jet:
    """Leibniz' rule for anything linear in each of its two arguments."""
    a, b = jet(a), jet(b)
    return Jet(
        of(a.f, b.f),
        of(a.d, b.f) + of(a.f, b.d),
        of(a.dd, b.f) + 2.0 * of(a.d, b.d) + of(a.f, b.dd),
    )


def dot(a: Any, b: Any) -> Jet:
    """Scalar product."""
    return product(np.dot, a, b)


def root(a: Jet) -> Jet:
    """Square root: s^2 = a differentiated twice."""
    s = np.sqrt(a.f)
    d = a.d / (2.0 * s)
    return Jet(s, d, (a.dd - 2.0 * d * d) / (2.0 * s))


def arctan2(y: Jet, x: Jet) -> Jet:
    """The angle of (x, y) in the plane: r^2 angle' = x y' - y x', differentiated once more."""
    square, turn = x.f**2 + y.f**2, x.f * y.d - y.f * x.d
    swell, bend = 2.0 * (x.f * x.d + y.f * y.d), x.f * y.dd - y.f * x.dd
    return Jet(np.arctan2(y.f, x.f), turn / square, bend / square - swell * turn / square**2)


def wave(pace: float, t: float) -> Jet:
    """sin(pace t) + cos(pace t)."""
    s, c = np.sin(pace * t), np.cos(pace * t)
    return Jet(s + c, pace * (c - s), -(pace**2) * (s + c))


# --- moving frames --------------------------------------------------------------------------------
def quaternion_product(p: Floats, q: Floats) -> Floats:
    """Hamilton product of (w, x, y, z)."""
    return np.concatenate(
        [[p[0] * q[0] - p[1:] @ q[1:]], p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])]
    )


def times(p: Any, q: Any) -> Jet:
    """Product of two quaternions."""
    return product(quaternion_product, p, q)


def pure(a: Floats) -> Floats:
    """A vector as a quaternion."""
    return np.concatenate([[0.0], a])


@dataclass(frozen=True)
class Frame:
    """Mass centre in N and quaternion of a body, along its motion."""

    r: Jet
    q: Jet

    def turned(self, a: Floats) -> Jet:
        """A vector fixed in the body, in N: q a q*."""
        conjugate = np.array([1.0, -1.0, -1.0, -1.0])
        whole = times(times(self.q, pure(a)), product(np.multiply, conjugate, self.q))
        return Jet(whole.f[1:], whole.d[1:], whole.dd[1:])

    def point(self, a: Floats) -> Jet:
        """Where a point fixed in the body is."""
        return self.r + self.turned(a)


def turning(q: Floats, omega: Floats, omega_dot: Floats) -> Jet:
    """A quaternion with q' = q omega / 2."""
    d = 0.5 * quaternion_product(q, pure(omega))
    dd = 0.5 * (quaternion_product(d, pure(omega)) + quaternion_product(q, pure(omega_dot)))
    return Jet(q, d, dd)


def frames(system: qp.Multibody, state: qp.State, acceleration: Floats) -> dict[str, Frame]:
    """How every body moves, ground and fixed ones included, with the given (v-dot in N, omega-dot
    in body axes)."""
    moving = {
        name: Frame(
            Jet(state.r[k], state.v[k], acceleration[k, :3]),
            turning(state.q[k], state.omega[k], acceleration[k, 3:]),
        )
        for k, name in enumerate(system.bodies)
    }
    fixed = [p for p in (qp.GROUND, *system.parts) if isinstance(p, qp.Body) and p.fixed]
    return moving | {
        b.name: Frame(jet(b.position), jet([b.orientation.w, *b.orientation.vec])) for b in fixed
    }
