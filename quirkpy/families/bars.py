"""Compressible bars: bars that deform along their length, of ordinary parts."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from quirkpy.maths.cached import cached_property
from quirkpy.maths.triples import add, scale, sub
from quirkpy.maths.types import Vector
from quirkpy.parts.body import Body, Site
from quirkpy.parts.checks import below, not_negative, numbers, optional, positive, text, vector
from quirkpy.parts.couplings import Gear
from quirkpy.parts.forces import Spring
from quirkpy.parts.joints import Prismatic
from quirkpy.parts.part import Part, checked

#: The share of the moment of inertia across a bar that each of its ends has; the rest belongs to
#: its middle. All three turn together, so any share gives the same motion [1].
OF_ENDS = 0.05
#: An isotropic material has no Poisson's ratio above [1].
MOST_POISSON = 0.5


def poissons_ratio(value: Any) -> float:
    """A number from 0 to 1/2."""
    out = not_negative(value)
    return out if out == MOST_POISSON else below(MOST_POISSON)(out) if out else out


def tip_masses(value: Any) -> tuple[float, ...]:
    """Two masses, zero or above [kg]."""
    return tuple(not_negative(mass) for mass in numbers(value, (2,)))


class CompressibleBar(Part):
    """A solid bar that deforms along its length: ``CompressibleBar("b1", (0, 0, 0), (5, 0, 0),
    modulus=1e9, density=960.0, radius=0.05, poisson=0.46)``; ``Multibody(*bar, ...)``.

    start, end [m] in N in the initial pose; Young's modulus E [Pa]; mass m [kg] or density [kg/m3];
    radius r0 [m] (default: a hundredth of the length L0); poisson, its ratio nu; damping [N s/m]
    along the bar; limit_load [N], at which it yields, both ways; tips: further masses at both ends
    [kg].

    It pushes and pulls with (E pi r0^2 / L0) (L - L0). Cross-sections keep their shares of the
    length, so there is one freedom more than of a rigid bar, and its radius is r = r0 (1 - nu (L -
    L0) / L0). Its moment of inertia across is m (3 r^2 + L^2) / 12 at every length L, and
    stretching has the kinetic energy m (1 + 3 (nu r0 / L0)^2) L'^2 / 24 in addition to that of the
    mass centre.

    It consists of a middle, whose body bears the name, and of two ends, which slide by equal
    lengths along it; `first_tip` and `second_tip` are sites at its tips, `elasticity` is the spring
    between them."""

    name: str = checked(text)
    start: Vector = checked(vector)
    end: Vector = checked(vector)
    modulus: float = checked(positive, kw_only=True)
    mass: float | None = checked(optional(positive), default=None, kw_only=True)
    density: float | None = checked(optional(positive), default=None, kw_only=True)
    radius: float | None = checked(optional(positive), default=None, kw_only=True)
    poisson: float = checked(poissons_ratio, default=0.0, kw_only=True)
    damping: float = checked(not_negative, default=0.0, kw_only=True)
    limit_load: float | None = checked(optional(positive), default=None, kw_only=True)
    tips: Sequence[float] = checked(tip_masses, default=(0.0, 0.0), kw_only=True)

    def validate(self) -> None:
        if self.length == 0.0:
            raise self.refuse("start and end are the same point; a bar needs a length.")
        if (self.mass is None) == (self.density is None):
            raise self.refuse("give its mass [kg], or its density [kg/m3], and not both.")

    def __iter__(self) -> Iterator[Part]:
        """The parts of which it consists."""
        return iter((self.middle, *self.ends, *self.slides, self.gear, self.elasticity))

    # --- its numbers ------------------------------------------------------------------------------
    @property
    def length(self) -> float:
        """The length without load, L0 [m]."""
        return math.dist(self.start, self.end)

    @property
    def thickness(self) -> float:
        """The radius without load, r0 [m]; a hundredth of the length where none is given."""
        return 0.01 * self.length if self.radius is None else self.radius

    @property
    def area(self) -> float:
        """The area of its cross-section [m2]."""
        return math.pi * self.thickness**2

    @property
    def weight(self) -> float:
        """m, without tips [kg]."""
        return self.density * self.area * self.length if self.mass is None else self.mass  # type: ignore

    @property
    def stiffness(self) -> float:
        """E pi r0^2 / L0 [N/m]."""
        return self.modulus * self.area / self.length

    # --- its parts --------------------------------------------------------------------------------
    # With r = a - b L the moment of inertia across is m (L^2 + 3 (a - b L)^2) / 12. Two masses
    # m D / 6, D = 1 + 3 b^2, whose centres are 3 a b / (2 D) before the tips, have the terms in L^2
    # and L; m a^2 / (4 D) is left for the middle.
    @cached_property
    def middle(self) -> Body:
        """The body that bears the name; its x axis is that of the bar."""
        _, _, _, across = self._split
        whole = Body.rod(self.name, self.start, self.end, self.weight, self.thickness)
        return dataclasses.replace(
            whole, mass=self.weight - 2.0 * self._split[0],
            inertia=self._inertia(1.0 - 2.0 * OF_ENDS, across),
        )  # fmt: skip

    @cached_property
    def ends(self) -> tuple[Body, Body]:
        """The two bodies with the tips."""
        first, second = (self._end(k, which) for k, which in enumerate(("start", "end")))
        return first, second

    @cached_property
    def slides(self) -> tuple[Prismatic, Prismatic]:
        """The joints of the ends and the middle, along the bar."""
        first, second = (
            Prismatic(f"{end.name} slide", self.middle, end, at=self.middle.position, axis=axis)
            for end, axis in zip(self.ends, (scale(-1.0, self._axis), self._axis), strict=True)
        )
        return first, second

    @cached_property
    def gear(self) -> Gear:
        """The coupling that keeps the middle half way between the tips."""
        return Gear(f"{self.name} middle", *self.slides, ratio=1.0)

    @cached_property
    def elasticity(self) -> Spring:
        """The spring between the tips; its tension is negative where the bar pushes."""
        return Spring(
            f"{self.name} elasticity", self.first_tip, self.second_tip, stiffness=self.stiffness,
            rest_length=self.length, damping=self.damping, limit_load=self.limit_load,
        )  # fmt: skip

    @cached_property
    def first_tip(self) -> Site:
        """The site at the start of the bar."""
        return self.ends[0].site_at("tip", self.start, np.eye(3))

    @cached_property
    def second_tip(self) -> Site:
        """The site at the end of the bar."""
        return self.ends[1].site_at("tip", self.end, np.eye(3))

    @property
    def _axis(self) -> Vector:
        return scale(1.0 / self.length, sub(self.end, self.start))

    @cached_property
    def _split(self) -> tuple[float, float, float, float]:
        """The mass of each end [kg], how far its centre is before the tip [m], D, and the moment of
        inertia across that is left [kg m2]."""
        thinning = self.poisson * self.thickness / self.length
        thick, D = self.thickness * (1.0 + self.poisson), 1.0 + 3.0 * thinning**2
        before = 1.5 * thick * thinning / D
        return self.weight * D / 6.0, before, D, self.weight * thick**2 / (4.0 * D)

    def _inertia(self, share: float, across: float) -> tuple[float, float, float]:
        """Principal moments of a disc that has a share of the moment across [kg m2]."""
        return 1.9 * share * across, share * across, share * across

    def _end(self, k: int, which: str) -> Body:
        """An end with its tip mass."""
        own, before, _, across = self._split
        mass = own + self.tips[k]
        inward = scale((1.0, -1.0)[k] * before * own / mass, self._axis)
        turn, also, _ = self._inertia(OF_ENDS, across)
        also += own * self.tips[k] / mass * before**2
        return Body(
            f"{self.name} {which}", mass, (turn, also, also),
            position=add((self.start, self.end)[k], inward), orientation=self.middle.orientation,
        )  # fmt: skip
