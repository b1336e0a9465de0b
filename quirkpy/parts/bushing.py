"""`Bushing`: a spring and damper in all six directions, and its matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from quirkpy.maths.cached import cached_property
from quirkpy.maths.types import Floats, Vector
from quirkpy.parts.body import Body, Site, point_sites
from quirkpy.parts.checks import instance, numbers, optional, real, vector
from quirkpy.parts.force import Element, Force
from quirkpy.parts.part import checked

#: Asymmetry, and negative eigenvalues, that a 6x6 matrix may have by rounding, as a share of its
#: largest entry [1].
MATRIX_ROUNDING = 1e-9
#: The stored elements of a symmetric 3x3 matrix: xx xy xz yy yz zz.
UPPER = ([0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2])


def _six(value: Any) -> Any:
    """A symmetric 6x6 matrix, or the six numbers of a diagonal one."""
    array = real(value)
    square = np.diag(array) if array.shape == (6,) else array
    out = numbers(square, (6, 6))
    if abs(square - square.T).max() > MATRIX_ROUNDING * abs(square).max():
        raise ValueError("is not symmetric, but must be; average it with its transpose")
    return out


def _dissipating(value: Any) -> Any:
    """A damping matrix (6, 6); an error where an eigenvalue is negative by more than rounding."""
    out = _six(value)
    least, most = np.linalg.eigvalsh(np.array(out))[[0, -1]]
    if least < -MATRIX_ROUNDING * max(most, -least):
        raise ValueError(
            f"has the eigenvalue {least:.6g}, but must not put energy in; every one must be 0 or "
            "more"
        )
    return out


class Bushing(Force):
    """A 6x6 spring and damper between two sites: U = x' K x/2 with x = (d, phi), in the axes of
    site 1.

    d [m]: from site 1 to site 2; phi [rad]: axis times angle of the rotation from one to the other,
    up to half a turn. The force on the second body is minus the gradient of U, minus C x_rate,
    where the rate of phi is the relative angular velocity. stiffness K and damping C: 6x6,
    symmetric, or six numbers on the diagonal, in N/m, N m/rad, N s/m ... The ends are sites, or
    bodies joined at the point `at` (in N in the initial poses, axes of N)."""

    first: Site | Body = checked(instance(Site, Body))
    second: Site | Body = checked(instance(Site, Body))
    at: Vector | None = checked(optional(vector), default=None, kw_only=True)
    stiffness: Any = checked(_six, kw_only=True)
    damping: Any = checked(_dissipating, default=(0.0,) * 6, kw_only=True)

    def sites(self) -> tuple[Site, Site]:
        """The two ends."""
        return self._sites

    @cached_property
    def _sites(self) -> tuple[Site, Site]:
        return point_sites(self, (self.first, self.second), (self.at, self.at))

    def validate(self) -> None:
        for end in (self.first, self.second):
            if isinstance(end, Body) == (self.at is None):
                raise self.refuse(
                    f"at is {self.at} and {end.name!r} a {type(end).__name__}; give at=(x, y, z) "
                    "with two bodies, and "
                    "no at with two sites."
                )

    def elements(self) -> tuple[Element, ...]:
        return (
            Element(
                "bushing", *self.sites(), numbers=(*blocks(self.stiffness), *blocks(self.damping))
            ),
        )


def blocks(matrix: Any) -> tuple[float, ...]:
    """A symmetric 6x6 matrix in the order used by elements: linear block (6), mixed block (9),
    angular block (6)."""
    m = np.array(matrix)
    return (*m[:3, :3][UPPER].tolist(), *m[:3, 3:].reshape(9).tolist(), *m[3:, 3:][UPPER].tolist())


def mobility(body: Body, position: Floats, axes: Floats, point: Floats) -> Floats:
    """The velocity of a point and the angular velocity caused by a unit impulse there, in N (6, 6):
    the inverse mass."""
    if body.fixed:
        return np.zeros((6, 6))
    x, y, z = point - position
    lever = np.eye(6)
    lever[:3, 3:] = ((0.0, z, -y), (-z, 0.0, x), (y, -x, 0.0))  # w x c = lever w
    inverse = np.zeros((6, 6))
    inverse[:3, :3] = np.eye(3) / float(body.mass or 1.0)
    inverse[3:, 3:] = axes @ np.linalg.inv(body.inertia_matrix) @ axes.T
    return np.asarray(lever @ inverse @ lever.T)


def modal_damping(stiffness: Floats, mass: Floats, ratio: float) -> Floats:
    """The damping matrix that gives every mode of M x'' + K x = 0 the same damping ratio."""
    sizes, axes = np.linalg.eigh(mass)
    root, inverse = (axes * sizes**power @ axes.T for power in (0.5, -0.5))
    squares, modes = np.linalg.eigh(inverse @ stiffness @ inverse)
    rates = np.sqrt(np.maximum(squares, 0.0))
    out = root @ (modes * (2.0 * ratio * rates)) @ modes.T @ root
    return np.asarray(0.5 * (out + out.T))
