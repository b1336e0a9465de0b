"""Bodies, and the sites on them: frames fixed in a body to which joints, forces and sensors
attach."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypedDict, Unpack

import numpy as np

from quirkpy.maths import quat
from quirkpy.maths.cached import cached_property
from quirkpy.maths.triples import (
    NO_TURN,
    ORIGIN,
    Nine,
    Triple,
    across,
    add,
    array,
    column,
    columns,
    cross,
    dot,
    nine,
    product,
    scale,
    sub,
    triple,
    turn,
    turn_back,
    unit,
)
from quirkpy.maths.types import Axis, Floats, Vector, read_only
from quirkpy.parts.checks import (
    direction,
    flag,
    instance,
    is_triple,
    numbers,
    optional,
    positive,
    real,
    show,
    text,
    vector,
)
from quirkpy.parts.modal import ModalModel, PointModes
from quirkpy.parts.part import Part, PartError, checked
from quirkpy.parts.shapes import Box, Cylinder, Mesh, Shape, Sphere

#: A unit vector lies along the x axis where its x component is within this of 1 or -1 [1].
ALONG_X = 1e-6
#: Three principal moments, or a symmetric 3x3 matrix: about the mass centre, in body axes [kg m2].
Inertia: TypeAlias = Sequence[float] | Sequence[Sequence[float]] | Floats

#: Relative rounding that a matrix of moments may have before it counts as asymmetric or impossible.
INERTIA_TOLERANCE = 1e-9
#: Largest deviation of a direction for x from the plane perpendicular to z [rad].
SQUARE_TOLERANCE = 1e-6


class Placement(TypedDict, total=False):
    """The keywords shared by all constructors of a body; see `Body`."""

    position: Vector
    orientation: Any
    velocity: Vector
    angular_velocity: Vector
    color: Any
    label: str | None
    fixed: bool


def _inertia(value: Any) -> Any:
    """3 principal values or 3x3, kept as nested tuples."""
    if is_triple(value):
        return value
    shape = real(value).shape
    if shape not in ((3,), (3, 3)):
        raise ValueError(f"has shape {shape}, but must be 3 principal values or 3x3")
    return numbers(value, shape)


def _color(value: Any) -> Any:
    """A colour: a name or '#rrggbb', or three numbers from 0 to 1."""
    if isinstance(value, str):
        return text(value)
    out = vector(value)
    if not all(0.0 <= c <= 1.0 for c in out):
        raise ValueError(f"is {out}, but red, green and blue must lie between 0 and 1")
    return out


class Body(Part):
    """A rigid body.

    mass [kg] and inertia [kg m2] (3 principal values or 3x3, about the mass centre, body axes) may
    be omitted for fixed bodies. The initial pose and motion: position [m] and velocity [m/s] of the
    mass centre in N, orientation (body axes to N), angular_velocity [rad/s] in body axes.
    `unphysical_inertia` accepts moments that no mass distribution has (a paper's table), if they
    are positive."""

    name: str = checked(text)
    mass: float | None = checked(optional(positive), default=None)
    inertia: Inertia | None = checked(optional(_inertia), default=None)
    position: Vector = checked(vector, default=(0.0, 0.0, 0.0))
    orientation: Any = checked(quat.unit_quaternion, default=quat.IDENTITY)
    velocity: Vector = checked(vector, default=(0.0, 0.0, 0.0))
    angular_velocity: Vector = checked(vector, default=(0.0, 0.0, 0.0))
    shape: Shape | None = checked(optional(instance(Shape)), default=None)
    color: Any = checked(optional(_color), default=None)
    label: str | None = checked(optional(text), default=None)
    fixed: bool = checked(flag, default=False, kw_only=True)
    unphysical_inertia: bool = checked(flag, default=False, kw_only=True)

    def validate(self) -> None:
        if self.fixed:
            if any((*self.velocity, *self.angular_velocity)):
                raise self.refuse(
                    "a fixed body does not move: leave out velocity and angular_velocity."
                )
        elif self.mass is None or self.inertia is None:
            missing = "mass" if self.mass is None else "inertia"
            raise self.refuse(
                f"{missing} is missing; give it, or write fixed=True for a body that never moves."
            )
        if self.inertia is not None:
            self._validate_inertia()

    def _validate_inertia(self) -> None:
        small, middle, large = self._principal_moments()
        if not small > 0.0:
            raise self.refuse(
                f"inertia has the principal moment {small:.6g}, but all three must be positive; "
                "give a thin rod the small moment of its real thickness."
            )
        if small + middle < large * (1.0 - INERTIA_TOLERANCE) and not self.unphysical_inertia:
            raise self.refuse(
                f"inertia with principal moments {small:.6g}, {middle:.6g}, {large:.6g} belongs to "
                "no mass "
                "distribution (the two smaller must add up to the largest or more); "
                "unphysical_inertia=True accepts it."
            )

    def _principal_moments(self) -> list[float]:
        """The three moments about the principal axes, in increasing order."""
        if is_triple(self.inertia):
            return sorted(self.inertia)  # type: ignore[arg-type]
        matrix = self.inertia_matrix
        if abs(matrix - matrix.T).max() > INERTIA_TOLERANCE * abs(matrix).max():
            raise self.refuse(
                f"inertia {matrix.tolist()} is not symmetric; give the symmetric matrix of moments."
            )
        return np.linalg.eigvalsh(matrix).tolist()

    @cached_property
    def inertia_matrix(self) -> Floats:
        """Moments of inertia (3, 3) about the mass centre, body axes [kg m2]."""
        if self.inertia is None:
            raise self.refuse("it was given no inertia, for it is fixed.")
        if not is_triple(self.inertia):
            return read_only(np.array(self.inertia))
        a, b, c = self.inertia
        return read_only(np.array(((a, 0.0, 0.0), (0.0, b, 0.0), (0.0, 0.0, c))))

    @cached_property
    def matrix(self) -> Floats:
        """Rotation matrix (3, 3) of the initial pose, body components to N components."""
        return read_only(array(self.matrix9))

    @cached_property
    def matrix9(self) -> Nine:
        """The matrix as nine floats, row by row."""
        q = self.orientation
        return quat.rotation_matrix(q.w, q.x, q.y, q.z)

    # --- how it bends -----------------------------------------------------------------------------
    @cached_property
    def modal(self) -> ModalModel | None:
        """Modes and their integrals over the mass; None: this body does not bend."""
        return None

    def modes_at(self, point: Vector) -> PointModes:
        """How a point of the body, and axes there, follow its modes; point: in body axes [m]."""
        none = np.zeros((0, 3))
        return PointModes(np.array(point, dtype=float), none, none, np.zeros((3, 0, 0)))

    # --- ways of making one -----------------------------------------------------------------------
    @classmethod
    def _uniform(cls, name: str, shape: Shape, mass: float | None, rest: Placement) -> Body:
        """A body with its mass distributed uniformly over its shape."""
        if mass is None:
            return cls(name, shape=shape, **rest)
        kilograms = cls._size(name, "mass", positive, mass)
        moments = shape.inertia_per_mass()
        inertia = (
            tuple(kilograms * x for x in moments)
            if is_triple(moments)
            else kilograms * np.array(moments)
        )
        return cls(name, mass=kilograms, inertia=inertia, shape=shape, **rest)

    @classmethod
    def box(
        cls, name: str, size: Vector, mass: float | None = None, **rest: Unpack[Placement]
    ) -> Body:
        """A uniform cuboid; size: full lengths along body x, y, z [m]."""
        return cls._uniform(name, cls._shape(name, Box, size), mass, rest)

    @classmethod
    def sphere(
        cls, name: str, radius: float, mass: float | None = None, **rest: Unpack[Placement]
    ) -> Body:
        """A uniform ball; radius [m]."""
        return cls._uniform(name, cls._shape(name, Sphere, radius), mass, rest)

    @classmethod
    def cylinder(
        cls, name: str, radius: float, length: float, mass: float | None = None, axis: Axis = "x",
        **rest: Unpack[Placement],
    ) -> Body:  # fmt: skip
        """A uniform cylinder; radius [m], length [m], axis: the body axis along its length."""
        return cls._uniform(name, cls._shape(name, Cylinder, radius, length, axis), mass, rest)

    @classmethod
    def mesh(
        cls, name: str, mesh: Mesh, mass: float | None = None, **rest: Unpack[Placement]
    ) -> Body:
        """A uniform solid of any form; mesh: with the origin at the mass centre, like
        `mesh.centred()`."""
        if not isinstance(mesh, Mesh):
            raise PartError(
                f"{cls.__name__} {name!r}: mesh is {show(mesh)}, but must be a Mesh; Mesh.load "
                "reads one."
            )
        return cls._uniform(name, mesh, mass, rest)

    @classmethod
    def rod(
        cls,
        name: str,
        start: Vector,
        end: Vector,
        mass: float,
        radius: float | None = None,
        **rest: Unpack[Placement],
    ) -> Body:
        """A slender rod from start to end (points in N [m]), body x along it.

        Its transverse moment is m L^2/12 exactly; about its own axis m radius^2/2, with radius [m]
        = L/100 if not given. `position` and `orientation` follow from the ends."""
        first = cls._size(name, "start", vector, start)
        along = sub(cls._size(name, "end", vector, end), first)
        length = math.hypot(*along)
        if length == 0.0:
            raise PartError(
                f"Body {name!r}: start and end are the same point; a rod needs a length."
            )
        kilograms = cls._size(name, "mass", positive, mass)
        thick = cls._size(name, "radius", positive, 0.01 * length if radius is None else radius)
        across = kilograms * length**2 / 12.0
        inertia = (0.5 * kilograms * thick**2, across, across)
        placed = cls._place_along(name, first, along, rest)
        return cls(name, mass=kilograms, inertia=inertia, shape=Cylinder(thick, length), **placed)

    @staticmethod
    def _place_along(name: str, first: Any, along: Any, rest: Placement) -> Placement:
        """The placement of a body whose x axis lies along a line from a point [m], with its mass
        centre in the middle."""
        if {"position", "orientation"} & rest.keys():
            raise PartError(
                f"Body {name!r}: position and orientation follow from start and end; leave them "
                "out."
            )
        length = math.hypot(*along)
        return {
            **rest,
            "position": add(first, scale(0.5, along)),
            "orientation": turn_x_to(tuple(c / length for c in along)),
        }

    @classmethod
    def _shape(cls, name: str, kind: type[Shape], *sizes: Any) -> Shape:
        """A shape; errors name the body that is being constructed."""
        try:
            return kind(*sizes)
        except PartError as error:
            raise PartError(f"{cls.__name__} {name!r}: {str(error).partition(': ')[2]}") from None

    @classmethod
    def _size(cls, name: str, field: str, check: Callable[[Any], Any], value: Any) -> Any:
        """A checked number or point; errors name the body that is being constructed."""
        try:
            return check(value)
        except (TypeError, ValueError) as error:
            raise PartError(f"{cls.__name__} {name!r}: {field} {error}.") from None

    # --- frames on it -----------------------------------------------------------------------------
    def site(
        self,
        name: str,
        at: Vector = (0.0, 0.0, 0.0),
        z: Vector = (0.0, 0.0, 1.0),
        x: Vector | None = None,
    ) -> Site:
        """A frame fixed in this body: at [m], z and x in body axes, origin at the mass centre."""
        return Site(self, name, at, z, x)

    def site_at(self, name: str, point: Vector | None, axes: Floats) -> Site:
        """The site at `point` (in N, default the mass centre) with `axes` (columns, in N) in the
        initial pose."""
        return self.site_placed(name, None if point is None else triple(point), nine(axes))

    def site_placed(self, name: str, point: Vector | None, axes: Nine) -> Site:
        """`site_at` of plain tuples."""
        matrix = self.matrix9
        local = ORIGIN if point is None else turn_back(matrix, sub(point, self.position))
        return Site(
            self,
            name,
            local,
            turn_back(matrix, column(axes, 2)),
            turn_back(matrix, column(axes, 0)),
        )


def turn_x_to(target: Vector) -> Any:
    """The smallest rotation from the x axis to a unit vector."""
    x, y, z = target
    sine = math.hypot(y, z)
    return quat.rotation((0.0, -z, y) if sine > 0.0 else (0.0, 0.0, 1.0), math.atan2(sine, x))


class Site(Part):
    """A frame fixed in a body: origin `at` [m], axes z and x, all in body axes, origin at the mass
    centre.

    x must be perpendicular to z. If omitted, it is the body's x axis made perpendicular to z (body
    y where z lies along body x). Constructor: ``body.site(name, at=..., z=..., x=...)``."""

    body: Body = checked(instance(Body))
    name: str = checked(text)
    at: Vector = checked(vector, default=(0.0, 0.0, 0.0))
    z: Vector = checked(direction, default=(0.0, 0.0, 1.0))
    x: Vector | None = checked(optional(direction), default=None)

    def validate(self) -> None:
        if self.x is not None and abs(cosine := dot(unit(self.x), unit(self.z))) > SQUARE_TOLERANCE:
            degrees = math.degrees(math.acos(max(-1.0, min(1.0, cosine))))
            raise self.refuse(
                f"x {self.x} and z {self.z} enclose {degrees:.6g} degrees, but must be "
                "perpendicular."
            )

    def _title(self) -> str:
        body = getattr(self.body, "name", None)
        return super()._title() + (f" of body {body!r}" if isinstance(body, str) else "")

    @cached_property
    def axes(self) -> Floats:
        """Columns: the unit vectors x, y, z of the site in body axes (3, 3)."""
        return read_only(array(self.axes9))

    @cached_property
    def axes9(self) -> Nine:
        """The matrix as nine floats, row by row."""
        if self.x is None and self.z == (0.0, 0.0, 1.0):
            return NO_TURN  # the usual case
        z = unit(self.z)
        return _triad(perpendicular(z) if self.x is None else across(unit(self.x), z), z)

    def written_pose(self) -> tuple[Floats, Floats]:
        """Origin (3,) [m] and axes (3, 3, columns) in N, in the initial pose of the body."""
        point, axes = self.placed()
        return np.array(point), array(axes)

    def placed(self) -> tuple[Triple, Nine]:
        """`written_pose` as plain tuples."""
        body = self.body
        return add(body.position, turn(body.matrix9, self.at)), product(body.matrix9, self.axes9)


def perpendicular(z: Triple) -> Triple:
    """The x axis made perpendicular to the unit vector z; y where z lies along x."""
    x = across((1.0, 0.0, 0.0) if abs(z[0]) < 1.0 - ALONG_X else (0.0, 1.0, 0.0), z)
    return across(x, z) if abs(z[0]) > 0.9 else x  # avoids cancellation


def axes_about(axis: Vector) -> Nine:
    """A right-handed triad (columns) whose z is the given direction."""
    z = unit(axis)
    return _triad(perpendicular(z), z)


def _triad(x: Triple, z: Triple) -> Nine:
    """Columns x, y, z, of two perpendicular unit vectors."""
    return columns(x, cross(z, x), z)


def point_sites(
    part: Part, ends: tuple[Site | Body, Site | Body], points: tuple[Vector | None, Vector | None]
) -> tuple[Site, Site]:
    """The two points on which a spring or a bar acts: sites as they are, bodies at `points` (in N
    at the written poses; None: the mass centre)."""
    for end, point, word in zip(ends, points, ("at1", "at2"), strict=True):
        if isinstance(end, Site) and point is not None:
            raise part.refuse(
                f"{word} goes with a body; the site {end.name!r} already says where this end is."
            )
    name = str(getattr(part, "name", "point"))
    one, two = (
        end if isinstance(end, Site) else end.site_placed(name, point, NO_TURN)
        for end, point in zip(ends, points, strict=True)
    )
    return one, two


#: The inertial frame as a body: it may be used like any body, and belongs to every system.
GROUND = Body("ground", fixed=True)
