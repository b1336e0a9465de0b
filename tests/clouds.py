"""Bodies of mass points with smooth random shapes: all their integrals are sums, and each of their
points is a site that follows the bending."""

from __future__ import annotations

import numpy as np

import quirkpy as qp
from quirkpy.kernels.base.states import quantities_of
from quirkpy.kernels.step.projection import project
from quirkpy.maths.cached import cached_property
from quirkpy.maths.types import Floats
from quirkpy.mechanics.engine import Engine
from quirkpy.parts.body import Body
from quirkpy.parts.checks import flag, whole
from quirkpy.parts.modal import MassPoints, ModalModel, PointModes
from quirkpy.parts.part import checked

POINTS = 16


class Cloud(Body):
    """Mass points that move by polynomials of the second degree in their places."""

    mass: float | None = checked(lambda x: x, default=None, init=False)
    inertia: object = checked(lambda x: x, default=None, init=False)
    seed: int = checked(whole, kw_only=True)
    modes: int = checked(whole, default=3, kw_only=True)
    drawing_near: bool = checked(flag, default=True, kw_only=True)

    def validate(self) -> None:
        points = self.points
        vars(self).update(mass=points.mass, inertia=points.inertia)
        super().validate()

    @cached_property
    def _numbers(self) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Masses, points, and coefficients of displacement, rotation and foreshortening."""
        rng, n = np.random.default_rng(self.seed), self.modes
        masses, places = rng.uniform(0.1, 0.4, POINTS), rng.normal(size=(POINTS, 3)) / 2.0
        places -= masses @ places / masses.sum()
        moving, turning = rng.normal(size=(2, n, 3, 10))
        moving[..., :4] *= 0.3  # far from a rigid motion
        eta = 0.1 * rng.normal(size=(3, n, n, 10)) * self.drawing_near
        phi = moving @ monomials(places).T
        square = np.einsum("k,ick,jck->ij", masses, phi, phi)
        back = np.linalg.inv(np.linalg.cholesky(square))
        moving, turning = (np.einsum("ij,jca->ica", back, some) for some in (moving, turning))
        return masses, places, moving, turning, eta + eta.swapaxes(1, 2)

    @cached_property
    def points(self) -> MassPoints:
        """The mass points."""
        masses, places, moving, _, eta = self._numbers
        phi = (moving @ monomials(places).T).swapaxes(1, 2).copy()
        return MassPoints(masses, places, phi, np.einsum("cija,ka->kcij", eta, monomials(places)))

    @cached_property
    def _model(self) -> ModalModel:
        rng = np.random.default_rng(self.seed + 1000)
        stiffness = np.diag(rng.uniform(20.0, 200.0, self.modes))
        return self.points.modal_model(stiffness, 0.02 * np.sqrt(stiffness))

    @property
    def modal(self) -> ModalModel:
        return self._model

    def modes_at(self, point: qp.Vector) -> PointModes:
        place = np.array(point, dtype=float)
        _, _, moving, turning, eta = self._numbers
        here = monomials(place)
        return PointModes(place, moving @ here, turning @ here, eta @ here)


def monomials(x: Floats) -> Floats:
    """1, x, y, z and their products (..., 10)."""
    a, b, c = np.moveaxis(x, -1, 0)
    return np.stack([np.ones_like(a), a, b, c, a * a, b * b, c * c, a * b, b * c, c * a], axis=-1)


def stirred(system: qp.Multibody, seed: int, bent: float = 0.03, fast: float = 1.0) -> qp.State:
    """A random state near the initial one that satisfies the joints."""
    rng, s = np.random.default_rng(seed), system.initial
    n, layout = len(s.bodies), system.clusters.layout.states
    moving = fast * rng.normal(size=(2, n, 3))
    amounts = np.concatenate([bent * rng.normal(size=len(s.further) // 2)] * 2)
    start = s.changed(v=moving[0], omega=moving[1], further=amounts)
    lines = layout.zero_lines(1)[0]
    y = start.instant(system.selection).whole.copy()
    with system.clusters.lend() as engine:
        put_on_joints(y, engine, s)
    lines[0] = y.reshape(-1)
    r, q, v, omega = (part.copy() for part in quantities_of(layout.rows_in(lines)[0, :n]))
    return s.changed(r=r, q=q, v=v, omega=omega, further=layout.tail_in(lines)[0].copy())


def put_on_joints(y: Floats, engine: Engine, s: qp.State) -> None:
    """Project a state until that changes nothing."""
    engine.turn_to(s.near)
    for _ in range(3):
        project(y, engine.model, engine.conditions, engine.scratch, np.zeros(2))
