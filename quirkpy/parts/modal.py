"""How a body bends: its modes, and the integrals over them that its equations of motion need.

All in body axes with the mass centre of the undeformed body as origin.  A particle at p is
displaced by sum_i q_i phi_i(p) - sum_k b_k q' eta_k(p) q / 2: along the shapes phi_i, and by what
points draw near along the body axis b_k when they move across it (foreshortening).  The shapes are
mass-normalised: the integral of phi_i . phi_j dm is 1 where i = j, and 0 otherwise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from quirkpy.maths.records import FrozenRecord
from quirkpy.maths.types import Floats
from quirkpy.parts.checks import how_many, is_list, not_negative, show
from quirkpy.parts.part import Part, PartError

#: Relative rounding up to which matrices count as symmetric and shapes as normalised [1].
SHAPE_ROUNDING = 1e-9
#: The matrices b_a x of the three body axes: CROSS[a] @ r = b_a x r.
CROSS = np.array(
    [
        [[0.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]],
        [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [-1.0, 0.0, 0.0]],
        [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    ]
)


@dataclass(frozen=True, eq=False)
class ModalModel(FrozenRecord):
    """The modal model of a body with n mass-normalised modes.

    stiffness (n, n) [1/s2] and damping (n, n) [1/s], symmetric; for true modes the squared
    frequencies [rad/s] on a diagonal, and twice damping ratio times frequency.

    The other integrals over the mass, in which i and j number modes, a, b and k body axes:
    linear (n, 3): of phi_i [sqrt(kg)]; angular (n, 3): of p x phi_i [sqrt(kg) m];
    first (n, 3, 3): of phi_i p' [sqrt(kg) m]; gyroscopic (3, n, n): of phi_i . (b_a x phi_j) [1];
    second (3, 3, n, n): of (b_a x phi_i) . (b_b x phi_j), the mean over both orders of a, b [1];
    shortening (3, n, n): of eta_k [kg/m]; shortening_moment (3, 3, n, n): of p_a eta_k [kg].
    The last two are zero where a body does not stiffen when it spins; units are those of
    coordinates q in [sqrt(kg) m]."""

    stiffness: Floats
    damping: Floats
    linear: Floats
    angular: Floats
    first: Floats
    gyroscopic: Floats
    second: Floats
    shortening: Floats
    shortening_moment: Floats

    def __post_init__(self) -> None:
        n = len(self.stiffness)
        square, vectors = (n, n), (n, 3)
        for name, shape in (
            ("stiffness", square), ("damping", square), ("linear", vectors), ("angular", vectors),
            ("first", (n, 3, 3)), ("gyroscopic", (3, n, n)), ("second", (3, 3, n, n)),
            ("shortening", (3, n, n)), ("shortening_moment", (3, 3, n, n)),
        ):  # fmt: skip
            _check_array(name, getattr(self, name), shape)
        for name in ("stiffness", "damping"):
            _check_definite(name, getattr(self, name))
        _check_antisymmetric("gyroscopic", self.gyroscopic)
        for name in ("second", "shortening", "shortening_moment"):
            _check_symmetric(name, getattr(self, name))
        _check_same("second", "both orders of its axes", self.second, self.second.swapaxes(0, 1))
        super().__post_init__()

    @property
    def count(self) -> int:
        """The number of modes."""
        return len(self.stiffness)

    @property
    def frequencies(self) -> Floats:
        """Of the modes, while what the shapes leave still is held (n,) [rad/s]."""
        return np.asarray(np.sqrt(np.maximum(np.linalg.eigvalsh(self.stiffness), 0.0)))

    @property
    def inertia_change(self) -> Floats:
        """Change of the moments of inertia (n, 3, 3) with each modal coordinate, to first order
        [sqrt(kg) m]: 2 tr(first) 1 - first - first'."""
        trace = np.trace(self.first, axis1=1, axis2=2)
        return 2.0 * trace[:, None, None] * np.eye(3) - self.first - self.first.swapaxes(1, 2)


@dataclass(frozen=True, eq=False)
class PointModes(FrozenRecord):
    """How a point of a body, and the axes of a frame there, follow n modes.

    position (3,): of the point in the undeformed body [m]; displacement (n, 3): of the point with
    each coordinate [1/sqrt(kg)]; rotation (n, 3): small rotation of the axes [1/(sqrt(kg) m)];
    shortening (3, n, n): eta_k, such that the point moves by -q' eta_k q / 2 along body axis k
    [1/(kg m)].  All in body axes, from the mass centre."""

    position: Floats
    displacement: Floats
    rotation: Floats
    shortening: Floats

    def __post_init__(self) -> None:
        n = len(self.displacement)
        for name, shape in (
            ("position", (3,)), ("displacement", (n, 3)), ("rotation", (n, 3)),
            ("shortening", (3, n, n)),
        ):  # fmt: skip
            _check_array(name, getattr(self, name), shape, "PointModes")
        _check_symmetric("shortening", self.shortening, "PointModes")
        super().__post_init__()


@dataclass(frozen=True, eq=False)
class MassPoints(FrozenRecord):
    """Mass points that stand for a body, and how n shapes move them.

    Any rule of quadrature makes them: its nodes are the points, its weights times the density the
    masses.  masses (k,) [kg]; points (k, 3) [m]; displacements (n, k, 3): the shapes; shortenings
    (k, 3, n, n): eta_k of each point.  moments (k, 3, 3) [kg m2]: of small solids about their
    points, which rotations (n, k, 3) turn; they count for small turns only.  In body axes, from
    the common mass centre."""

    masses: Floats
    points: Floats
    displacements: Floats
    shortenings: Floats | None = None
    moments: Floats | None = None
    rotations: Floats | None = None

    def __post_init__(self) -> None:
        n, k = len(self.displacements), len(self.masses)
        for name, shape in (
            ("masses", (k,)), ("points", (k, 3)), ("displacements", (n, k, 3)),
            ("shortenings", (k, 3, n, n)), ("moments", (k, 3, 3)), ("rotations", (n, k, 3)),
        ):  # fmt: skip
            if getattr(self, name) is not None:
                _check_array(name, getattr(self, name), shape, "MassPoints")
        if (self.moments is None) != (self.rotations is None):
            raise PartError("MassPoints: moments and rotations go together; give both, or neither.")
        super().__post_init__()

    @property
    def mass(self) -> float:
        """The mass of all [kg]."""
        return float(self.masses.sum())

    @property
    def centre(self) -> Floats:
        """The mass centre of all (3,) [m]; the origin, where they have no mass."""
        return np.asarray(self.masses @ self.points / (self.mass or 1.0))

    @property
    def inertia(self) -> Floats:
        """Moments of inertia (3, 3) about the origin, undeformed [kg m2]."""
        turned = np.einsum("aij,kj->kai", CROSS, self.points)
        inertia = np.einsum("k,kai,kbi->ab", self.masses, turned, turned)
        return inertia if self.moments is None else inertia + self.moments.sum(axis=0)

    @property
    def mass_matrix(self) -> Floats:
        """Integrals of phi_i . phi_j dm (n, n), the small solids included."""
        phi = self.displacements
        matrix = np.einsum("k,ikc,jkc->ij", self.masses, phi, phi)
        if self.moments is None or self.rotations is None:
            return matrix
        return matrix + np.einsum("kab,ika,jkb->ij", self.moments, self.rotations, self.rotations)

    def modal_model(
        self, stiffness: Floats, damping: Floats, within: float = SHAPE_ROUNDING
    ) -> ModalModel:
        """The modal model of these points, exactly, with stiffness (n, n) [1/s2] and damping
        (n, n) [1/s] of the shapes, which must be mass-normalised.

        within: how far they may be from it, and the mass centre from the origin relative to the
        size of the body, where these points only resemble one [1]."""
        self._check_shapes(within)
        m, p, phi = self.masses, self.points, self.displacements
        turned = np.einsum("acd,ikd->aikc", CROSS, phi)
        second = np.einsum("k,aikc,bjkc->abij", m, turned, turned, optimize=True)
        eta = np.zeros((len(m), 3, len(phi), len(phi)))
        eta = eta if self.shortenings is None else self.shortenings
        return ModalModel(
            stiffness=np.array(stiffness, dtype=float),
            damping=np.array(damping, dtype=float),
            linear=np.einsum("k,ikc->ic", m, phi),
            angular=np.einsum("k,akc,ikc->ia", m, np.einsum("acd,kd->akc", CROSS, p), phi)
            + self._angular_of_solids(),
            first=np.einsum("k,ika,kb->iab", m, phi, p),
            gyroscopic=_antisymmetric(np.einsum("k,ikc,ajkc->aij", m, phi, turned, optimize=True)),
            second=_symmetric(0.5 * (second + second.swapaxes(0, 1))),
            shortening=_symmetric(np.einsum("k,kcij->cij", m, eta)),
            shortening_moment=_symmetric(np.einsum("k,ka,kcij->acij", m, p, eta, optimize=True)),
        )

    def _angular_of_solids(self) -> Floats:
        """What turning small solids add to the integrals of p x phi_i (n, 3)."""
        if self.moments is None or self.rotations is None:
            return np.zeros((len(self.displacements), 3))
        return np.asarray(np.einsum("kab,ikb->ia", self.moments, self.rotations))

    def _check_shapes(self, within: float) -> None:
        n, matrix = len(self.displacements), self.mass_matrix
        wrong = abs(matrix - np.eye(n)).max(initial=0.0)
        if wrong > within:
            raise PartError(
                f"MassPoints: the integrals of phi_i . phi_j differ by {wrong:.3g} from 1 and 0; "
                "scale and combine the shapes until they are mass-normalised."
            )
        size = abs(self.points).max(initial=0.0)
        if (far := math.hypot(*self.centre)) > within * size:
            raise PartError(
                f"MassPoints: the mass centre lies {far:.3g} m from the origin; subtract it from "
                "the points."
            )


# --- damping, and masses at nodes -----------------------------------------------------------------
def damping_ratios(value: Any) -> Any:
    """A check: shares of critical damping, one for all modes, or one for each."""
    return tuple(map(not_negative, value)) if is_list(value) else not_negative(value)


def damping_matrix(ratios: Any, frequencies: Floats) -> Floats:
    """Modal damping (n, n) [1/s] by shares of critical damping."""
    return np.diag(2.0 * np.asarray(ratios) * frequencies)


def check_ratios(part: Part, ratios: Any, n: int) -> None:
    """Refuse shares of critical damping for another number of modes."""
    if isinstance(ratios, tuple) and len(ratios) != n:
        raise part.refuse(
            f"damping has {how_many(len(ratios), 'number')}, but there are {how_many(n, 'mode')}; "
            "give one for all, or one for each."
        )


# --- checks ---------------------------------------------------------------------------------------
def _check_array(name: str, value: Any, shape: tuple[int, ...], who: str = "ModalModel") -> None:
    """Finite real numbers of one shape."""
    if not isinstance(value, np.ndarray) or value.dtype != float or value.shape != shape:
        given = value.shape if isinstance(value, np.ndarray) else show(value)
        raise PartError(
            f"{who}: {name} is {given}, but must be an array of floats of shape {shape}, for "
            f"there are {how_many(shape[-1], 'mode') if len(shape) == 2 else 'as many modes'}."
        )
    if not np.isfinite(value).all():
        raise PartError(f"{who}: {name} holds a number that is not finite; every one must be.")


def _check_same(name: str, words: str, one: Floats, two: Floats, who: str = "ModalModel") -> None:
    """Equality of two arrays up to rounding."""
    wrong = abs(one - two).max(initial=0.0)
    if wrong > SHAPE_ROUNDING * abs(one).max(initial=0.0):
        raise PartError(f"{who}: {name} differs by {wrong:.3g} between {words}; make it agree.")


def _check_symmetric(name: str, value: Floats, who: str = "ModalModel") -> None:
    _check_same(name, "both orders of two modes", value, value.swapaxes(-1, -2), who)


def _check_antisymmetric(name: str, value: Floats) -> None:
    words = "one order of two modes and minus the other"
    _check_same(name, words, value, -value.swapaxes(-1, -2))


def _check_definite(name: str, value: Floats) -> None:
    """Symmetric, and no motion against which it would push onwards."""
    _check_symmetric(name, value)
    low, high = np.linalg.eigvalsh(value)[[0, -1]] if len(value) else (0.0, 0.0)
    if low < -SHAPE_ROUNDING * high or high < 0.0:
        raise PartError(
            f"ModalModel: {name} has the eigenvalue {low:.6g}, but none may be negative."
        )


def _symmetric(value: Floats) -> Floats:
    return np.asarray(0.5 * (value + value.swapaxes(-1, -2)))


def _antisymmetric(value: Floats) -> Floats:
    return np.asarray(0.5 * (value - value.swapaxes(-1, -2)))
