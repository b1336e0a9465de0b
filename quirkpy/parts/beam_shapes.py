"""Mode shapes of uniform beams, exact to rounding: bending, torsion and stretching.

A shape is a polynomial over a beam from -1 to 1, given by its coefficients for the polynomials P_k
of Legendre.  Trial shapes are integrals of P_k: their strains are orthogonal, so that the stiffness
matrix is a multiple of 1, and the method of Rayleigh and Ritz gives the lower modes to rounding."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.polynomial import legendre

from quirkpy.maths.types import Floats

#: Where the shapes of a beam stand still: clamped at one end or at both, in place at both
#: ("pinned"), or nowhere: then they move neither the mass centre nor the mean axes.
Support: TypeAlias = Literal["start", "end", "both", "pinned", "free"]
#: Trial shapes beyond twice the number of wanted modes: enough for all digits.
SPARE = 24
#: Where the sign of a shape is looked at: this share of a half wave before the end of the beam.
BESIDE_END = 0.1


class Deformation(NamedTuple):
    """One way in which a beam deforms.

    order: derivatives from the shape to the strain: two for bending, one for torsion and
    stretching; rigidity: EI [N m2], GJ [N m2] or EA [N]; density: of what moves with the shape
    [kg/m] or [kg m]; ends (2,): the same at the two ends of the beam [kg] or [kg m2]."""

    order: int
    rigidity: float
    density: float
    ends: tuple[float, float] = (0.0, 0.0)


class ModeShapes(NamedTuple):
    """Mass-normalised modes: frequencies (m,) [rad/s]; coefficients (m, degree + 1) for Legendre
    polynomials from -1 to 1."""

    frequencies: Floats
    coefficients: Floats


def beam_modes(
    way: Deformation, length: float, support: Support, count: int, trial: int = 0
) -> ModeShapes:
    """The lowest `count` modes of a beam [m], from `trial` trial shapes; 0: from as many as all
    digits need."""
    if count == 0:
        return ModeShapes(np.zeros(0), np.zeros((0, 1)))
    half = 0.5 * length
    moved = way._replace(density=half * way.density)
    tried = _trial_shapes(moved, support, trial or 2 * count + SPARE)
    stretch = way.rigidity / half ** (2 * way.order - 1)
    values, vectors = np.linalg.eigh(_mass_matrix(moved, tried, tried))
    values, vectors = values[::-1][:count], vectors[:, ::-1][:, :count]
    shapes = vectors.T @ tried / np.sqrt(values)[:, None]
    beside = legendre.legval(1.0 - BESIDE_END / count, shapes.T)
    return ModeShapes(np.sqrt(stretch / values), shapes * np.where(beside < 0.0, -1, 1)[:, None])


def _trial_shapes(way: Deformation, support: Support, count: int) -> Floats:
    """Coefficients (count, degree + 1) of shapes that keep to the support; strains are normalised
    Legendre polynomials."""
    # Strains without mean, and in bending without first moment, leave both ends where they are
    first = way.order if support == "both" else 0
    strains = np.diag(np.sqrt(np.arange(first + count) + 0.5))[first:]
    shapes: Floats = np.array(legendre.legint(strains, way.order, lbnd=-1, axis=1), dtype=float)
    return np.asarray(shapes - _rigid_share(way, support, shapes))


def _rigid_share(way: Deformation, support: Support, shapes: Floats) -> Floats:
    """What shapes that are clamped at the start displace and turn as a whole, against the
    support."""
    out = np.zeros_like(shapes)
    end = legendre.legval(1.0, shapes.T)
    if support == "free":
        rigid = np.eye(way.order, shapes.shape[1])
        share = _mass_matrix(way, rigid, shapes)
        out = np.linalg.solve(_mass_matrix(way, rigid, rigid), share).T @ rigid
    elif support == "pinned" and way.order == 2:
        out[:, 0] = out[:, 1] = 0.5 * end
    elif support == "end":
        slope = legendre.legval(1.0, legendre.legder(shapes, way.order - 1, axis=1).T)
        out[:, 0] = end
        out[:, 1] += (way.order - 1) * slope
        out[:, 0] -= (way.order - 1) * slope
    return out


def _mass_matrix(way: Deformation, one: Floats, two: Floats) -> Floats:
    """Integrals of products of shapes over the mass of a beam from -1 to 1."""
    squares = 1.0 / (np.arange(one.shape[1]) + 0.5)
    at = [legendre.legval([-1.0, 1.0], shapes.T) for shapes in (one, two)]
    return np.asarray(way.density * (one * squares) @ two.T + (at[0] * way.ends) @ at[1].T)


# --- all modes of a beam --------------------------------------------------------------------------
class BeamField(NamedTuple):
    """The displacement field of a beam with n modes, from -1 at its start to 1 at its end.

    half: half its length [m]; frequencies (n,) [rad/s]; coefficients (n, 4, degree + 1), for
    Legendre polynomials, of displacements along x, y and z and of the twist about x; shortening
    (degree + 1, n, n): of eta, by which points draw near along x."""

    half: float
    frequencies: Floats
    coefficients: Floats
    shortening: Floats

    def displacements(self, places: Floats) -> Floats:
        """Of the line (n, k, 3) [1/sqrt(kg)], at places (k,) from -1 to 1."""
        return np.moveaxis(np.asarray(legendre.legval(places, self._columns[:, :, :3])), -1, 1)

    def rotations(self, places: Floats) -> Floats:
        """Small rotations of the sections (n, k, 3) [1/(sqrt(kg) m)], at places (k,) from -1 to
        1: twist, and slopes."""
        twist = legendre.legval(places, self._columns[:, :, 3])
        slope = legendre.legval(places, legendre.legder(self._columns[:, :, 1:3])) / self.half
        return np.stack([twist, -slope[:, 1], slope[:, 0]], axis=-1)

    def shortenings(self, places: Floats) -> Floats:
        """The matrices eta_k (k, 3, n, n) [1/(kg m)], at places (k,) from -1 to 1."""
        out = np.zeros((len(places), 3, *self.shortening.shape[1:]))
        out[:, 0] = np.moveaxis(legendre.legval(places, self.shortening), -1, 0)
        return out

    @property
    def _columns(self) -> Floats:
        """The coefficients with their number first (degree + 1, n, 4)."""
        return np.moveaxis(self.coefficients, -1, 0)


def beam_field(
    ways: tuple[Deformation, ...], length: float, support: Support,
    counts: int | tuple[int, int, int, int], exact: bool, stiffening: bool,
) -> BeamField:  # fmt: skip
    """The field of a beam [m] that stretches along x, bends along y and along z, and twists.

    counts: how many modes of each of these four ways, or the number of the lowest of the last
    three. exact: true modes, not polynomials of lowest degree. stiffening: whether points draw near
    when they move across the beam."""
    each = (0, counts, counts, counts) if isinstance(counts, int) else counts
    found = [
        beam_modes(way, length, support, n, 0 if exact else n)
        for way, n in zip(ways, each, strict=True)
    ]
    frequencies = np.concatenate([shapes.frequencies for shapes in found])
    order = np.argsort(frequencies, kind="stable")
    order = order[: counts if isinstance(counts, int) else None]
    coefficients, half = _stack(found)[order], 0.5 * length
    shortening = _shortening(coefficients[:, 1:3], ways[1], half, support)
    return BeamField(half, frequencies[order], coefficients, stiffening * shortening)


def _stack(found: list[ModeShapes]) -> Floats:
    """The coefficients of the modes of four ways, one after the other (n, 4, degree + 1)."""
    width = max(shapes.coefficients.shape[1] for shapes in found)
    rows = [np.zeros((len(shapes.frequencies), 4, width)) for shapes in found]
    for place, (row, shapes) in enumerate(zip(rows, found, strict=True)):
        row[:, place, : shapes.coefficients.shape[1]] = shapes.coefficients
    return np.concatenate(rows)


def _shortening(bending: Floats, way: Deformation, half: float, support: Support) -> Floats:
    """Coefficients (degree + 1, n, n) of the integrals of products of slopes along the beam, from
    where it is held; ends that are both held do not draw near, and a free beam's mass centre does
    not move."""
    n, _, width = bending.shape
    places, weights = legendre.leggauss(width)
    slope = legendre.legval(places, legendre.legder(np.moveaxis(bending, -1, 0)))
    products = np.einsum("idk,jdk->kij", slope, slope).reshape(width, n * n) / half
    degrees = np.arange(2 * width - 3)
    values = legendre.legvander(places, len(degrees) - 1) * (degrees + 0.5)
    eta = legendre.legint((values * weights[:, None]).T @ products, lbnd=-1)
    end = legendre.legval(1.0, eta)
    if support == "end":
        eta[0] -= end
    elif support == "both":
        eta[:2] -= 0.5 * end
    elif support == "free":
        mass = 2.0 * half * way.density + sum(way.ends)
        eta[0] -= (2.0 * half * way.density * eta[0] + way.ends[1] * end) / mass
    return np.asarray(eta.reshape(-1, n, n))
