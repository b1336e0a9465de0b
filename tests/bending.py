"""Bodies that bend, written down twice: as mass points, and by the integrals of their modes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from quirkpy.maths.types import Floats
from quirkpy.parts.body import Body
from quirkpy.parts.modal import MassPoints, ModalModel

#: The permutation symbol: LEVI[a, c, k] = b_a . (b_c x b_k).
LEVI = np.array([[[np.linalg.det(np.eye(3)[[a, c, k]]) for k in range(3)] for c in range(3)]
                 for a in range(3)])  # fmt: skip


class BendingMotion(NamedTuple):
    """Velocity v of the frame and spin (3,), in body axes; modal coordinates q and rates (n,)."""

    v: Floats
    spin: Floats
    q: Floats
    rate: Floats


def random_points(rng: np.random.Generator, modes: int = 4, k: int = 9) -> MassPoints:
    """Random mass points about their mass centre, with random mass-normalised shapes."""
    masses = rng.uniform(0.1, 1.0, k)
    points = rng.normal(size=(k, 3))
    points -= masses @ points / masses.sum()
    roots = np.repeat(np.sqrt(masses), 3)
    shapes = np.linalg.qr(rng.normal(size=(3 * k, modes)))[0] / roots[:, None]
    eta = rng.normal(size=(k, 3, modes, modes))
    return MassPoints(masses, points, shapes.T.reshape(modes, k, 3), eta + eta.swapaxes(-1, -2))


def random_stiffness(rng: np.random.Generator, n: int) -> Floats:
    root = rng.normal(size=(n, n))
    return np.asarray(root @ root.T + np.eye(n))


def random_motion(rng: np.random.Generator, n: int) -> BendingMotion:
    return BendingMotion(*(rng.normal(size=k) for k in (3, 3, n, n)))


def energy_of_points(points: MassPoints, motion: BendingMotion) -> float:
    """Kinetic energy of mass points, each with its own velocity."""
    v, w, q, rate = motion
    out = 0.0
    for k, m in enumerate(points.masses):
        phi = points.displacements[:, k]
        eta = np.zeros((3, len(q), len(q)))
        eta = eta if points.shortenings is None else points.shortenings[k]
        place = points.points[k] + q @ phi - 0.5 * (eta @ q) @ q
        moving = v + np.cross(w, place) + rate @ phi - (eta @ q) @ rate
        out += 0.5 * m * float(moving @ moving)
    return out


def mass_matrix(mass: float, inertia: Floats, model: ModalModel, q: Floats) -> Floats:
    """The mass matrix over v, omega (body axes) and the rates of the modes (6 + n, 6 + n), such
    that the kinetic energy is right up to squares of bending."""
    n = model.count
    S0, S = model.shortening, model.shortening_moment
    out = np.eye(6 + n)
    out[:3, :3] *= mass
    first = q @ model.linear - 0.5 * (S0 @ q) @ q
    out[:3, 3:6] = np.einsum("adc,c->ad", LEVI, first)
    out[:3, 6:] = model.linear.T - S0 @ q
    changed = inertia + np.einsum("i,iab->ab", q, model.inertia_change)
    changed = changed + np.einsum("i,abij,j->ab", q, model.second, q)
    s = np.einsum("i,akij,j->ak", q, S, q)
    out[3:6, 3:6] = changed - 0.5 * (2.0 * np.trace(s) * np.eye(3) - s - s.T)
    bent = np.einsum("aij,j->ai", model.gyroscopic, q)
    out[3:6, 6:] = model.angular.T + bent - np.einsum("ack,ckij,j->ai", LEVI, S, q)
    return np.asarray(np.triu(out) + np.triu(out, 1).T)


def energy_of_model(
    mass: float, inertia: Floats, model: ModalModel, motion: BendingMotion
) -> float:
    speeds = np.concatenate([motion.v, motion.spin, motion.rate])
    return 0.5 * float(speeds @ mass_matrix(mass, inertia, model, motion.q) @ speeds)


class SpinningModes(NamedTuple):
    """Stiffness and gyroscopic matrices (n, n) of a body whose frame moves steadily."""

    stiffness: Floats
    gyroscopic: Floats

    @property
    def frequencies(self) -> Floats:
        """In increasing order (n,) [rad/s]."""
        n = len(self.stiffness)
        square = np.block([
            [np.zeros((n, n)), np.eye(n)], [-self.stiffness, -self.gyroscopic]
        ])  # fmt: skip
        return np.sort(abs(np.linalg.eigvals(square).imag))[::2]


def spinning_modes(body: Body, spin: Floats, still: Floats) -> SpinningModes:
    """Of a body that spins steadily [rad/s] about one of its points (body axes [m]), linearised
    about the undeformed shape, which must be at rest relative to it."""
    assert body.mass is not None
    assert body.modal is not None
    mass, inertia, model = body.mass, body.inertia_matrix, body.modal
    rigid = np.concatenate([np.cross(spin, -np.asarray(still)), spin])
    n = model.count

    def energy(q: Floats) -> float:
        return -0.5 * float(rigid @ mass_matrix(mass, inertia, model, q)[:6, :6] @ rigid)

    def momenta(q: Floats) -> Floats:
        return rigid @ mass_matrix(mass, inertia, model, q)[:6, 6:]

    unit, none = np.eye(n), np.zeros(n)
    first = np.array([energy(e) - energy(none) for e in unit])
    both = np.array([[energy(d + e) - energy(none) for d in unit] for e in unit])
    coupling = np.array([momenta(e) - momenta(none) for e in unit])
    return SpinningModes(model.stiffness + both - first[:, None] - first, coupling.T - coupling)
