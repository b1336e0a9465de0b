"""Beams: slender bodies that bend, twist and, where asked, stretch."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.spatial.transform import Rotation

from quirkpy.maths import quat
from quirkpy.maths.cached import cached_property
from quirkpy.maths.triples import Triple, across, add, cross, norm, scale, sub, unit
from quirkpy.maths.types import Floats, Vector
from quirkpy.parts.beam_shapes import BeamField, Deformation, Support, beam_field
from quirkpy.parts.body import Body, Site, turn_x_to
from quirkpy.parts.checks import (
    direction,
    flag,
    how_many,
    instance,
    is_list,
    not_negative,
    number,
    numbers,
    optional,
    positive,
    show,
    vector,
    whole,
    word,
)
from quirkpy.parts.modal import (
    MassPoints,
    ModalModel,
    PointModes,
    check_ratios,
    damping_matrix,
    damping_ratios,
)
from quirkpy.parts.part import check_argument, checked
from quirkpy.parts.shapes import Cylinder, Shape

#: How a beam's shapes are found: its true modes, or polynomials of lowest degree.
Shaping: TypeAlias = Literal["modes", "polynomials"]
#: Least sine of the angle between a beam and the direction of its y axis [1].
SAME_DIRECTION = 1e-6
#: The most modes of one beam: matrices of as many squared numbers are kept for each site.
MOST_MODES = 100


def _pair(value: Any) -> tuple[float, float]:
    """Two positive numbers, or one for both."""
    if not is_list(value):
        return (positive(value),) * 2
    one, two = numbers(value, (2,))
    return positive(one), positive(two)


def _loads(value: Any) -> tuple[float, float]:
    one, two = numbers(value, (2,))
    return not_negative(one), not_negative(two)


def _counts(value: Any) -> int | tuple[int, int, int, int]:
    """A number of modes, or one for each of four ways to deform."""
    given = tuple(value) if is_list(value) else (value,)
    given = tuple(int(n) if isinstance(n, np.integer) else n for n in given)
    if len(given) not in (1, 4):
        raise ValueError(
            f"is {show(value)}, but must be one number, or four: stretching, bending along y, "
            "along z, twisting"
        )
    total = sum(whole(n) for n in given)
    if not 0 < total <= MOST_MODES:
        raise ValueError(f"is {show(value)}, but must be 1 to {MOST_MODES} modes together")
    return given[0] if len(given) == 1 else given


def _share_of(value: Any) -> float:
    """A number from 0 to 1."""
    out = number(value)
    if not 0.0 <= out <= 1.0:
        raise ValueError(f"is {out:g}, but must be a share of the length, from 0 to 1")
    return out


class Beam(Body):
    """A slender uniform beam that bends along its y and z axes, and twists.

    start, end: points in N [m] of the undeformed beam; body x leads from one to the other. y: the
    direction in N of body y; default: by the smallest rotation from the axes of N. EA: axial
    stiffness [N]; EI: bending stiffness about body y and about z [N m2], or one number for both;
    GJ: torsional stiffness [N m2]; mass_per_length [kg/m]; tip_masses: points at start and end
    [kg].

    modes: how many of the lowest ones of bending and torsion, or a number for each way:
    (stretching, bending along y, along z, twisting).  A beam that does not stretch is as long as
    ever along its bent line; stretching modes are fast, and rarely worth their steps.  clamped:
    which end the modes leave still with its slope: "start", "end" or "both"; "pinned": both ends
    stay in place; "free": neither, modes then move neither the mass centre nor the mean axes.
    damping: share of critical damping, for all modes or for each.  stiffening: whether points draw
    near along the beam when it bends, without which a spinning beam grows soft, not stiff.
    shapes: true "modes", or "polynomials" of lowest degree.  radius: of the round beam that is
    drawn and collides [m].

    Sections stay plane and turn with the line, and their rotary inertia counts for twisting alone
    (Euler and Bernoulli); its radius of gyration squared is the sum of EI over EA. Bending is
    small: the error grows with the square of the slope."""

    # What a body has, filled in from what a beam is given
    mass: float | None = checked(optional(positive), default=None, init=False)
    inertia: Any = checked(optional(vector), default=None, init=False)
    position: Vector = checked(vector, default=(0.0, 0.0, 0.0), init=False)
    orientation: Any = checked(quat.unit_quaternion, default=quat.IDENTITY, init=False)
    shape: Shape | None = checked(optional(instance(Shape)), default=None, init=False)
    fixed: bool = checked(flag, default=False, init=False)
    unphysical_inertia: bool = checked(flag, default=False, init=False)

    start: Vector = checked(vector, kw_only=True)
    end: Vector = checked(vector, kw_only=True)
    EA: float = checked(positive, kw_only=True)
    EI: Any = checked(_pair, kw_only=True)
    GJ: float = checked(positive, kw_only=True)
    mass_per_length: float = checked(positive, kw_only=True)
    modes: Any = checked(_counts, default=6, kw_only=True)
    damping: Any = checked(damping_ratios, default=0.005, kw_only=True)
    stiffening: bool = checked(flag, default=True, kw_only=True)
    clamped: Support = checked(word(Support), default="start", kw_only=True)
    shapes: Shaping = checked(word(Shaping), default="modes", kw_only=True)
    tip_masses: tuple[float, float] = checked(_loads, default=(0.0, 0.0), kw_only=True)
    y: Vector | None = checked(optional(direction), default=None, kw_only=True)
    radius: float | None = checked(optional(positive), default=None, kw_only=True)

    def validate(self) -> None:
        if self.length == 0.0:
            raise self.refuse("start and end are the same point; a beam needs a length.")
        if self.y is not None and norm(cross(unit(self.y), self._along)) < SAME_DIRECTION:
            raise self.refuse("y lies along the beam; give a direction across it.")
        self._place()
        n = self.modes if isinstance(self.modes, int) else sum(self.modes)
        check_ratios(self, self.damping, n)
        super().validate()

    def _place(self) -> None:
        """Fill in what every body has: mass, inertia, pose and shape."""
        mass = self.mass_per_length * self.length
        total, offset = mass + sum(self.tip_masses), self._centre
        arms = np.array([-0.5, 0.0, 0.5]) * self.length - offset
        across = mass * self.length**2 / 12.0 + np.dot(
            (self.tip_masses[0], mass, self.tip_masses[1]), arms**2
        )
        middle = scale(0.5, add(self.start, self.end))
        vars(self).update(
            mass=total,
            inertia=(self._polar * self.length, float(across), float(across)),
            position=add(middle, scale(offset, self._along)),
            orientation=self._orientation(),
            shape=self._round(),
        )

    def _orientation(self) -> Any:
        x = self._along
        if self.y is None:
            return turn_x_to(x)
        y = across(unit(self.y), x)
        return quat.unit_quaternion(Rotation.from_matrix(np.array((x, y, cross(x, y))).T))

    def _round(self) -> Shape | None:
        """What is drawn and collides."""
        if self.radius is not None and self._centre != 0.0:
            raise self.refuse(
                "radius draws a round beam about its middle, but unequal tip_masses shift its "
                "mass centre; leave radius out, or fix bodies to its ends."
            )
        return None if self.radius is None else Cylinder(self.radius, self.length)

    @property
    def length(self) -> float:
        """Of the undeformed beam [m]."""
        return norm(sub(self.end, self.start))

    @property
    def _along(self) -> Triple:
        return unit(sub(self.end, self.start))

    @property
    def _centre(self) -> float:
        """How far the mass centre lies beyond the middle, towards the end [m]."""
        first, last = self.tip_masses
        total = self.mass_per_length * self.length + first + last
        return 0.5 * self.length * (last - first) / total

    @property
    def _polar(self) -> float:
        """Moment of inertia about the beam of each metre [kg m]."""
        return self.mass_per_length * sum(self.EI) / self.EA

    # --- how it bends -----------------------------------------------------------------------------
    @cached_property
    def field(self) -> BeamField:
        """The displacements of the line and the rotations of the sections with all modes."""
        line, polar = (self.mass_per_length, self.tip_masses), (self._polar, (0.0, 0.0))
        about_y, about_z = self.EI
        ways = (
            Deformation(1, self.EA, *line),
            Deformation(2, about_z, *line),
            Deformation(2, about_y, *line),
            Deformation(1, self.GJ, *polar),
        )
        return beam_field(
            ways, self.length, self.clamped, self.modes, self.shapes == "modes", self.stiffening
        )

    @cached_property
    def mass_points(self) -> MassPoints:
        """Points of a Gauss rule over the beam, with its masses, such that integrals of products of
        its modes come out exactly."""
        return self._mass_between(-1.0, self.tip_masses)

    def mass_beyond(self, share: float) -> MassPoints:
        """Mass points of what lies beyond a share of the length, with the mass at its end."""
        return self._mass_between(2.0 * share - 1.0, (0.0, self.tip_masses[1]))

    def _mass_between(self, first: float, ends: tuple[float, float]) -> MassPoints:
        """Points over the beam from a place between -1 and 1 to its end, and at both of these."""
        field, half = self.field, 0.5 * self.length
        places, weights = np.polynomial.legendre.leggauss(field.coefficients.shape[2] + 2)
        middle, reach = 0.5 * (1.0 + first), 0.5 * (1.0 - first)
        weights = np.concatenate([[0.0], half * reach * weights, [0.0]])
        places = np.concatenate([[first], middle + reach * places, [1.0]])
        masses = self.mass_per_length * weights
        masses[[0, -1]] = ends
        points = np.zeros((len(places), 3))
        points[:, 0] = half * places - self._centre
        moments = np.zeros((len(places), 3, 3))
        moments[:, 0, 0] = self._polar * weights
        return MassPoints(
            masses, points, field.displacements(places), field.shortenings(places), moments,
            field.rotations(places),
        )  # fmt: skip

    @cached_property
    def modal(self) -> ModalModel:
        """Modes and their integrals over the mass."""
        omega = self.field.frequencies
        return self.mass_points.modal_model(np.diag(omega**2), damping_matrix(self.damping, omega))

    def modes_at(self, point: Vector) -> PointModes:
        """How a point and axes there follow the modes; point: in body axes [m], from the mass
        centre.  Beside the line, and beyond the ends, it moves with the nearest section."""
        place = np.asarray(point, dtype=float)
        share = np.clip((place[0] + self._centre) / (0.5 * self.length), -1.0, 1.0)[None]
        rotation = self.field.rotations(share)[:, 0]
        arm = place - [0.5 * self.length * share[0] - self._centre, 0.0, 0.0]
        displacement = self.field.displacements(share)[:, 0] + np.cross(rotation, arm)
        shortening = self.field.shortenings(share)[0]
        if self.stiffening:
            shortening = shortening + _arm_shortening(rotation, arm)
        return PointModes(place, displacement, rotation, shortening)

    def deflection(self, amounts: Floats, share: float = 1.0) -> Floats:
        """Displacement of the line at a share of its length, in body axes (..., 3) [m], by amounts
        of the modes (..., n)."""
        modes, count = self.modes_at(self.at(share).at), len(self.field.frequencies)
        if np.shape(amounts)[-1:] != (count,):
            raise self.refuse(
                f"amounts have shape {np.shape(amounts)}, but must have {how_many(count, 'number')}"
                " in the last place, one for each mode."
            )
        drawn = np.einsum("...i,kij,...j->...k", amounts, modes.shortening, amounts)
        return np.asarray(amounts @ modes.displacement - 0.5 * drawn)

    def at(self, share: float) -> Site:
        """The site on the beam's line at a share of its length, 0 at its start and 1 at its end,
        with the axes of the beam; it follows the bending."""
        part = check_argument(self._title(), "share", share, _share_of)
        place = (part - 0.5) * self.length - self._centre
        return self.site(f"at {part:g}", at=(place, 0.0, 0.0))


def _arm_shortening(rotation: Floats, arm: Floats) -> Floats:
    """What turning by q times rotation (n, 3) shortens an arm [m] by, in matrices (3, n, n)."""
    turns = np.einsum("ik,jk->ij", rotation, rotation)
    along = np.einsum("ik,j->kij", rotation, rotation @ arm)
    return np.asarray(arm[:, None, None] * turns - 0.5 * (along + along.swapaxes(1, 2)))
