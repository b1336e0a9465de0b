"""`Joint`: the base of every joint, built in or user-defined.

A joint connects two sites and is described in two ways. Its **primitives** are the constraints:
rows for closing loops and for the fundamental equation. Its **freedoms**, for the kinematic joints,
are the motion subspace with which it connects a body to its parent in a tree. Freedoms are
optional: a joint without them always acts by its rows."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from quirkpy.maths.cached import cached_property
from quirkpy.maths.triples import NO_TURN, Nine
from quirkpy.maths.types import Axis, Floats, Vector
from quirkpy.parts.body import Body, Site, axes_about
from quirkpy.parts.checks import direction, instance, optional, show, text, vector
from quirkpy.parts.motion import MotionView
from quirkpy.parts.part import Part, checked
from quirkpy.parts.primitives import Primitive
from quirkpy.parts.schedule import TimeFunction

if TYPE_CHECKING:
    from quirkpy.parts.force import Element


class Freedom(NamedTuple):
    """One motion that a joint allows: a rotation about, or a translation along, an axis of a site
    at the origin of site 2.

    A screw rotates about the axis and moves along it by the joint's one relation: travel - pitch
    angle = 0. It cannot be combined with others. site: the site of the axis; one of site 2 is the
    second of two rotations about perpendicular axes."""

    kind: Literal["turn", "slide", "screw"]
    axis: Axis
    site: Literal[1, 2] = 1


def stands_alone(freedoms: tuple[Freedom, ...]) -> bool:
    """Whether these are the freedoms of a screw, or of a cross with two rotations."""
    return [(f.kind, f.site) for f in freedoms] in ([("screw", 1)], [("turn", 1), ("turn", 2)])


CoordinateKind: TypeAlias = Literal["angle", "travel", "length"]
#: Joints that have a coordinate of a kind, or of any.
EXAMPLES: dict[CoordinateKind | None, str] = {
    "angle": "a Revolute", "travel": "a Prismatic", "length": "a Rope",
    None: "a Revolute or a Prismatic",
}  # fmt: skip
#: The unit of each kind of coordinate.
COORDINATE_UNITS: dict[CoordinateKind, Literal["rad", "m"]] = {
    "angle": "rad",
    "travel": "m",
    "length": "m",
}


class Coordinate(NamedTuple):
    """A number that measures the displacement of a joint.

    angle [rad]: of site 2 relative to site 1 about `axis`, which belongs to site 1 or 2,
    right-handed, whole turns included; zero where the next axis in cyclic order is the same in
    both. travel [m]: of site 2 along `axis` of site 1. length [m]: the distance of the two origins;
    its axis is not used."""

    name: str
    kind: CoordinateKind
    axis: Axis = "z"
    site: Literal[1, 2] = 1


@functools.cache
def coordinates_of(freedoms: tuple[Freedom, ...]) -> tuple[Coordinate, ...]:
    """The coordinates of a joint, one for each freedom, in their order; several rotations have no
    angles. Two of a kind are named after their axes."""
    turns = [f for f in freedoms if f.kind == "turn"]
    counted = [f for f in freedoms if f.kind == "slide" or len(turns) == 1]
    made: list[Coordinate] = []
    for freedom in counted:
        kind: CoordinateKind = "angle" if freedom.kind == "turn" else "travel"
        alone = sum(other.kind == freedom.kind for other in counted) == 1
        made.append(Coordinate(kind if alone else f"{kind}_{freedom.axis}", kind, freedom.axis))
    return tuple(made)


class Relation(NamedTuple):
    """A constraint on coordinates of joints: first + factor second = value + motion(t).

    first, second: a joint and the name of one of its coordinates. motion: a `TimeFunction` of
    numbers, or a function of t that gives value, rate and acceleration; None: no prescribed
    motion."""

    first: tuple[BaseJoint, str]
    second: tuple[BaseJoint, str] | None = None
    factor: float = 0.0
    value: float = 0.0
    motion: TimeFunction | Callable[[float], tuple[float, float, float]] | None = None

    def driven(self, t: float) -> tuple[float, float, float]:
        """Value, rate and acceleration of the motion at time t [s]."""
        if self.motion is None:
            return 0.0, 0.0, 0.0
        return self.motion.motion(t) if isinstance(self.motion, TimeFunction) else self.motion(t)


class BaseJoint(Part, ABC):
    """The interface of every joint: a name, two sites, and optional coordinates."""

    #: The motion subspace; None: the joint always acts by its rows.
    freedoms: ClassVar[tuple[Freedom, ...] | None] = None

    name: str = checked(text)

    @property
    @abstractmethod
    def bodies(self) -> tuple[Body, Body]:
        """The two bodies, first and second."""

    @property
    @abstractmethod
    def sites(self) -> tuple[Site, Site]:
        """The two sites."""

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """The numbers that measure its displacement."""
        return coordinates_of(self.freedoms or ())

    @property
    def coordinate(self) -> CoordinateKind | None:
        """The kind of coordinate of a joint that has just one."""
        return self.coordinates[0].kind if len(self.coordinates) == 1 else None

    def relations(self) -> tuple[Relation, ...]:
        """The constraints of a joint on coordinates, its own or those of other joints; one row
        each."""
        return ()

    @property
    def driven(self) -> bool:
        """Whether the joint prescribes the motion of a coordinate."""
        return any(relation.motion is not None for relation in self.relations())

    def elements(self) -> tuple[Element, ...]:
        """The stops that are part of it."""
        return ()

    def named_coordinate(
        self, name: str | None, asker: Part, kind: CoordinateKind | None = None
    ) -> Coordinate:
        """The coordinate with a given name, of this kind; None: the only one. `asker` raises the
        error if there is none."""
        fitting = [c for c in self.coordinates if kind in (None, c.kind) and name in (None, c.name)]
        if len(fitting) == 1:
            return fitting[0]
        noun = kind or "coordinate"
        title, names = (
            f"joint {self.name!r} ({type(self).__name__})",
            [c.name for c in self.coordinates],
        )
        if not names or kind not in (None, *(c.kind for c in self.coordinates)):
            raise asker.refuse(
                f"{title} has no {noun}; give a joint that has one, such as {EXAMPLES[kind]}."
            )
        known = ", ".join(map(repr, names))
        if name is None:
            raise asker.refuse(
                f"{title} has several coordinates; say which one: coordinate= one of {known}."
            )
        raise asker.refuse(f"coordinate is {name!r}, but {title} has {known}; name one of these.")


class PlacedJoint(BaseJoint):
    """A joint with two ends of its own.

    An end is a `Site`, or a `Body` in the shorthand: then `at` (point) and `axis` (direction), both
    in N in the initial poses of the bodies, define the frame; z of the site = axis, and coordinates
    are zero in that pose. Where one end is a site and the other a body, the body's frame is the
    site's in the initial poses."""

    #: Whether this class uses `axis`, and whether `at` may be omitted for two bodies.
    takes_axis: ClassVar[bool] = True
    needs_point: ClassVar[bool] = True

    first: Site | Body = checked(instance(Site, Body))
    second: Site | Body = checked(instance(Site, Body))
    at: Vector | None = checked(optional(vector), default=None, kw_only=True)
    axis: Vector | None = checked(optional(direction), default=None, kw_only=True)

    def validate(self) -> None:
        one, two = self.bodies
        if one == two:
            raise self.refuse(f"both ends are on body {one.name!r}; a joint needs two bodies.")
        self._validate_place()

    def _validate_place(self) -> None:
        """`at` and `axis` belong to the shorthand, and the shorthand needs them."""
        shorthand = isinstance(self.first, Body) and isinstance(self.second, Body)
        if not shorthand and not (self.at is None and self.axis is None):
            raise self.refuse(
                "at and axis go with two bodies; a site already says where the joint is."
            )
        if self.axis is not None and not self.takes_axis:
            raise self.refuse("this joint has no axis; leave axis out.")
        if shorthand and self.at is None and self.needs_point:
            raise self.refuse(
                "say where it is: at=(x, y, z) in N, or give two sites instead of two bodies."
            )
        if shorthand and self.axis is None and self.takes_axis:
            raise self.refuse(
                "say along which axis: axis=(x, y, z) in N, or give two sites instead of two "
                "bodies."
            )

    @property
    def bodies(self) -> tuple[Body, Body]:
        """The two bodies, first and second."""
        one, two = (end.body if isinstance(end, Site) else end for end in (self.first, self.second))
        return one, two

    @cached_property
    def sites(self) -> tuple[Site, Site]:
        """The two sites, given or built from the shorthand."""
        if isinstance(self.first, Site) and isinstance(self.second, Site):
            return self.first, self.second
        point, axes = self._frame()
        return self._site(self.first, point, axes), self._site(self.second, point, axes)

    def _frame(self) -> tuple[Vector, Nine]:
        """Origin and axes in N, in the initial poses, of the frame shared by both sites there."""
        for end in (self.first, self.second):
            if isinstance(end, Site):
                return end.placed()
        point = self.bodies[1].position if self.at is None else self.at
        return point, NO_TURN if self.axis is None else axes_about(self.axis)

    def _site(self, end: Site | Body, point: Vector, axes: Nine) -> Site:
        return end if isinstance(end, Site) else end.site_placed(self.name, point, axes)


class Joint(PlacedJoint):
    """Base of a joint made of primitives; a subclass needs one method::

        class Slider(qp.Joint):  # a pin in a slot along z of site 1
            def primitives(self):
                return (qp.OriginOnLine("z"),)

    Its rows, their derivatives and its gap follow. `freedoms`, if given, must span exactly the
    motions that the primitives leave free (the contract tests check that): then the joint may also
    be part of the tree; its translations have travels, and a single rotation has an angle that is
    continuous past half a turn."""

    @abstractmethod
    def primitives(self) -> tuple[Primitive, ...]:
        """The constraints between its two sites; together of full rank."""

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        if "primitives" not in vars(cls) and cls.primitives is Joint.primitives:
            raise TypeError(
                f"{cls.__name__}: a joint defines primitives(self) and returns a tuple of "
                "primitives."
            )

    def validate(self) -> None:
        super().validate()
        made = self.primitives()
        if not (isinstance(made, tuple) and made and all(isinstance(p, Primitive) for p in made)):
            raise self.refuse(
                f"primitives() must return a tuple of primitives, not {show(made)}.", code="yours"
            )
        freedoms = self.freedoms or ()
        special = any(f.kind == "screw" or f.site == 2 for f in freedoms)
        screw = any(f.kind == "screw" for f in freedoms)
        if special and not (stands_alone(freedoms) and len(self.relations()) == screw):
            raise self.refuse(
                "freedoms may have a screw alone, with the one relation of its travel and angle, "
                "or a turn about an axis of site 2 as the second of two turns."
            )


class GeneralJoint(PlacedJoint):
    """Base of a joint with equations that no primitive covers: phi(x, t) = 0 with derivatives that
    the user provides.

    For each row i: phi_i = 0 on the constraint, d phi / dt = G u + phi_t, and along any motion d2
    phi / dt2 = G u' - gamma, where u = (v1, w1, v2, w2) holds the velocities of the two mass
    centres and the two angular velocities, all in N (12 numbers).  `at` gives time and kinematics:
    at.t, at[body], at[site]."""

    #: Unit of each row, "m" or "rad": their number is the number of rows.
    units: ClassVar[tuple[Literal["m", "rad"], ...]] = ()

    @abstractmethod
    def phi(self, at: MotionView) -> Floats:
        """Residual of each row, shape (m,)."""

    @abstractmethod
    def jacobian(self, at: MotionView) -> Floats:
        """G, shape (m, 12), over (v1, w1, v2, w2) in N."""

    @abstractmethod
    def gamma(self, at: MotionView) -> Floats:
        """What G u' must equal, shape (m,)."""

    def rate(self, at: MotionView) -> Floats:
        """phi_t: the explicit rate of the residual, shape (m,); non-zero only for prescribed
        motion."""
        return np.zeros(len(self.units))

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        missing = [
            n for n in ("phi", "jacobian", "gamma") if getattr(cls, n) is getattr(GeneralJoint, n)
        ]
        if missing or not cls.units:
            raise TypeError(
                f"{cls.__name__}: a general joint defines units (one of 'm', 'rad' for each row), "
                "phi, jacobian and "
                f"gamma; missing: {', '.join(missing) or 'units'}."
            )
        if not isinstance(cls.units, tuple) or not set(cls.units) <= {"m", "rad"}:
            raise TypeError(
                f"{cls.__name__}: units is {cls.units!r}, but must be a tuple of 'm' and 'rad', "
                "one a row."
            )
