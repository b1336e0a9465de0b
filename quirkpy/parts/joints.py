"""The built-in joints.  Angles and travels: site 2 relative to site 1, about or along z, right-handed."""

from __future__ import annotations

import math
from functools import cached_property

from quirkpy.parts.body import Site, point_sites
from quirkpy.parts.checks import Vector, optional, positive, vector
from quirkpy.parts.joint import Freedom, Joint
from quirkpy.parts.part import checked
from quirkpy.parts.primitives import (
    CoincidentPoints,
    FixedDistance,
    ParallelAxes,
    PointOnLine,
    Primitive,
    SameOrientation,
)

# Primitives never change: all joints that need one share it.
ONE_POINT, ONE_LINE = CoincidentPoints(), PointOnLine("z")
ONE_AXIS, NO_TURNS = ParallelAxes("z"), SameOrientation()


class Spherical(Joint):
    """A ball joint: one common point, three turns."""

    takes_axis = False
    freedoms = (Freedom("turn", "x"), Freedom("turn", "y"), Freedom("turn", "z"))

    def primitives(self) -> tuple[Primitive, ...]:
        return (ONE_POINT,)


class Revolute(Joint):
    """A hinge about z: angle [rad], zero where the x axes of the sites coincide, continuous past half a turn."""

    freedoms = (Freedom("turn", "z"),)

    def primitives(self) -> tuple[Primitive, ...]:
        return ONE_POINT, ONE_AXIS


class Prismatic(Joint):
    """A slide along z: travel [m] from site 1 to site 2; the axes stay parallel."""

    freedoms = (Freedom("slide", "z"),)

    def primitives(self) -> tuple[Primitive, ...]:
        return ONE_LINE, NO_TURNS


class Fixed(Joint):
    """A lock: the two sites are one frame.  In the shorthand `at` is the second body's mass centre unless given."""

    takes_axis = False
    needs_point = False
    freedoms = ()

    def primitives(self) -> tuple[Primitive, ...]:
        return ONE_POINT, NO_TURNS


class Distance(Joint):
    """A massless bar of constant length [m] between two points: sites, or at1 and at2 in N at the written poses.

    at1 and at2 are the mass centres and length is the distance at the written poses, unless given.
    """

    takes_axis = False
    at: None = checked(optional(vector), default=None, init=False, kw_only=True)
    axis: None = checked(optional(vector), default=None, init=False, kw_only=True)
    at1: Vector | None = checked(optional(vector), default=None, kw_only=True)
    at2: Vector | None = checked(optional(vector), default=None, kw_only=True)
    length: float | None = checked(optional(positive), default=None, kw_only=True)

    def _validate_place(self) -> None:
        if self.length is None and self._written_length() == 0.0:
            raise self.refuse(
                "its ends coincide; give length=, or two points apart (Spherical holds two points together)."
            )

    @cached_property
    def sites(self) -> tuple[Site, Site]:
        """The two end points; their axes do not matter."""
        return point_sites(self, (self.first, self.second), (self.at1, self.at2))

    def _written_length(self) -> float:
        one, two = (site.placed()[0] for site in self.sites)
        return math.dist(one, two)

    def primitives(self) -> tuple[Primitive, ...]:
        return (FixedDistance(self._written_length() if self.length is None else self.length),)
