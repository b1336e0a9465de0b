"""The built-in joints.  Angles and travels: site 2 relative to site 1, about or along z,
right-handed."""

from __future__ import annotations

import math
from abc import ABC

from quirkpy.maths.cached import cached_property
from quirkpy.maths.types import Vector
from quirkpy.parts.body import Site, point_sites
from quirkpy.parts.checks import flag, not_negative, number, optional, positive, vector
from quirkpy.parts.force import Element
from quirkpy.parts.joint import Coordinate, Freedom, Joint, PlacedJoint, Relation
from quirkpy.parts.part import checked
from quirkpy.parts.primitives import (
    CoincidentPoints,
    DistanceAtMost,
    FixedDistance,
    OriginOnLine,
    OriginOnPlane,
    ParallelAxes,
    PerpendicularAxes,
    Primitive,
    SameOrientation,
)

# Primitives are immutable: joints with equal ones share them.
ONE_POINT, ONE_LINE, ONE_PLANE = CoincidentPoints(), OriginOnLine("z"), OriginOnPlane("z")
ONE_AXIS, NO_TURNS, ONE_CROSS = ParallelAxes("z"), SameOrientation(), PerpendicularAxes("x", "y")
#: Three rotations: the freedoms of a common point.
EVERY_TURN = Freedom("turn", "x"), Freedom("turn", "y"), Freedom("turn", "z")


class Spherical(Joint):
    """A ball joint: one common point, three turns."""

    takes_axis = False
    freedoms = EVERY_TURN

    def primitives(self) -> tuple[Primitive, ...]:
        return (ONE_POINT,)


class Revolute(Joint):
    """A hinge about z: angle [rad], zero where the x axes of the sites coincide, continuous past
    half a turn."""

    freedoms = (Freedom("turn", "z"),)

    def primitives(self) -> tuple[Primitive, ...]:
        return ONE_POINT, ONE_AXIS


class Prismatic(Joint):
    """A slide along z: travel [m] from site 1 to site 2; the axes stay parallel."""

    freedoms = (Freedom("slide", "z"),)

    def primitives(self) -> tuple[Primitive, ...]:
        return ONE_LINE, NO_TURNS


class Fixed(Joint):
    """A lock: the two sites coincide. In the shorthand `at` is the second body's mass centre unless
    given.

    here: it holds the relative pose that the two bodies have when it becomes active, with the frame
    of the second site fixed in it; states in which it is active store that pose, also in files."""

    takes_axis = False
    needs_point = False
    freedoms = ()

    here: bool = checked(flag, default=False, kw_only=True)

    def primitives(self) -> tuple[Primitive, ...]:
        return ONE_POINT, NO_TURNS


class Cylindrical(Joint):
    """A sleeve on a rod: angle [rad] about and travel [m] along z, from site 1 to site 2."""

    freedoms = (Freedom("turn", "z"), Freedom("slide", "z"))

    def primitives(self) -> tuple[Primitive, ...]:
        return ONE_LINE, ONE_AXIS


class Planar(Joint):
    """A plate on a table across z: travel_x and travel_y [m] along axes of site 1, angle [rad]
    about z."""

    freedoms = (Freedom("slide", "x"), Freedom("slide", "y"), Freedom("turn", "z"))

    def primitives(self) -> tuple[Primitive, ...]:
        return ONE_PLANE, ONE_AXIS


class PointOnLine(Joint):
    """A ball in a groove: the origin of site 2 stays on the z axis of site 1; travel [m] along it,
    free rotation."""

    freedoms = (Freedom("slide", "z"), *EVERY_TURN)

    def primitives(self) -> tuple[Primitive, ...]:
        return (ONE_LINE,)


class PointOnPlane(Joint):
    """A ball on a table: the origin of site 2 stays in the x-y plane of site 1; travel_x and
    travel_y [m], free rotation."""

    freedoms = (Freedom("slide", "x"), Freedom("slide", "y"), *EVERY_TURN)

    def primitives(self) -> tuple[Primitive, ...]:
        return (ONE_PLANE,)


class Universal(Joint):
    """Hooke's joint: one common point, and a cross whose arms are x of site 1 and y of site 2,
    always perpendicular.

    angle_x [rad] rotates the cross about x of site 1, angle_y [rad] site 2 about its own y. For
    shafts along the two z axes, with the angle beta between them, tan b = cos(beta) tan a, where a
    and b are their rotations since x of site 1 was perpendicular to both (Hooke's law). In the
    shorthand `axis` is that z."""

    freedoms = (Freedom("turn", "x"), Freedom("turn", "y", site=2))

    def primitives(self) -> tuple[Primitive, ...]:
        return ONE_POINT, ONE_CROSS

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        return Coordinate("angle_x", "angle", "x", 1), Coordinate("angle_y", "angle", "y", 2)


class Parallel(Joint):
    """The z axes of both sites stay parallel, in the same sense; angle [rad] about z, any
    displacement."""

    needs_point = False
    freedoms = (
        Freedom("slide", "x"),
        Freedom("slide", "y"),
        Freedom("slide", "z"),
        Freedom("turn", "z"),
    )

    def primitives(self) -> tuple[Primitive, ...]:
        return (ONE_AXIS,)


class Perpendicular(Joint):
    """x of site 1 stays perpendicular to y of site 2; any displacement, and all rotations that keep
    the right angle."""

    needs_point = False

    def primitives(self) -> tuple[Primitive, ...]:
        return (ONE_CROSS,)


class Screw(Joint):
    """A nut on a bolt: travel [m] along z = pitch [m/rad] angle about z. One turn gives 2 pi pitch;
    pitch > 0: right-handed."""

    freedoms = (Freedom("screw", "z"),)

    pitch: float = checked(number, kw_only=True)

    def validate(self) -> None:
        super().validate()
        if self.pitch == 0.0:
            raise self.refuse(
                "pitch is 0, but a screw moves on as it turns; use a Revolute, which does not."
            )

    def primitives(self) -> tuple[Primitive, ...]:
        return ONE_LINE, ONE_AXIS

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        return Coordinate("angle", "angle"), Coordinate("travel", "travel")

    def relations(self) -> tuple[Relation, ...]:
        return (Relation((self, "travel"), (self, "angle"), -self.pitch),)


class _BetweenEnds(PlacedJoint, ABC):
    """A joint between two points: sites, or bodies at at1 and at2 in N in the initial poses
    (default: mass centres)."""

    takes_axis = False
    at: None = checked(optional(vector), default=None, init=False, kw_only=True)
    axis: None = checked(optional(vector), default=None, init=False, kw_only=True)
    at1: Vector | None = checked(optional(vector), default=None, kw_only=True)
    at2: Vector | None = checked(optional(vector), default=None, kw_only=True)
    length: float | None = checked(optional(positive), default=None, kw_only=True)

    def _validate_place(self) -> None:
        if self.length is None and self._initial_length() == 0.0:
            raise self.refuse(
                "its ends coincide; give length=, or two points apart (Spherical holds two points "
                "together)."
            )

    @cached_property
    def sites(self) -> tuple[Site, Site]:
        """The two end points; their axes do not matter."""
        return point_sites(self, (self.first, self.second), (self.at1, self.at2))

    def _initial_length(self) -> float:
        one, two = (site.placed()[0] for site in self.sites)
        return math.dist(one, two)

    def _length(self) -> float:
        """The length [m], given or from the initial poses."""
        return self._initial_length() if self.length is None else self.length


class Rope(_BetweenEnds, Joint):
    """A massless rope between two points: slack while their distance is below its length [m], and
    an upper bound of the distance.

    Sites, or at1 and at2 in N in the initial poses; by default at1 and at2 are the mass centres and
    length is the distance in the initial poses. Coordinate: length [m], the distance of the ends.
    When the rope becomes taut in a run, an impulse makes the ends approach at `restitution` times
    the speed at which they separated (0: it stays taut); slower than `settle` [m/s] there is no
    rebound. The energy lost in impacts counts as dissipated."""

    restitution: float = checked(not_negative, default=0.0, kw_only=True)
    settle: float = checked(positive, default=1e-4, kw_only=True)

    def validate(self) -> None:
        super().validate()
        if self.restitution > 1.0:
            raise self.refuse(f"restitution is {self.restitution:g}, but must lie between 0 and 1.")

    def primitives(self) -> tuple[Primitive, ...]:
        return (DistanceAtMost(self._length()),)

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        return (Coordinate("length", "length"),)

    def elements(self) -> tuple[Element, ...]:
        numbers = (self._length(), -1.0, self.restitution, self.settle)
        return (Element("stop", joint=self, coordinate="length", numbers=numbers),)


class Distance(_BetweenEnds, Joint):
    """A massless bar of constant length [m] between two points: sites, or at1 and at2 in N in the
    initial poses.

    By default at1 and at2 are the mass centres and length is the distance in the initial poses.
    """

    def primitives(self) -> tuple[Primitive, ...]:
        return (FixedDistance(self._length()),)
