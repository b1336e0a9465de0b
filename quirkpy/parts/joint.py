"""`Joint`: the base of every joint, built in or yours.

A joint stands between two sites and shows two faces.  Its **primitives** say what it forbids: rows for closing loops
and for the fundamental equation.  Its **freedoms**, for the kinematic joints, say what it allows: the motion subspace
with which it hangs in a tree.  Freedoms are optional: a joint without them always acts through its rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from quirkpy.parts.body import Body, Site, axes_about
from quirkpy.parts.checks import Axis, Floats, Vector, direction, instance, optional, shown, text, vector
from quirkpy.parts.motion import MotionView
from quirkpy.parts.part import Part, checked
from quirkpy.parts.primitives import Primitive
from quirkpy.parts.triples import NO_TURN, Nine


class Freedom(NamedTuple):
    """One motion that a joint allows: a turn about, or a slide along, an axis of site 1 at the origin of site 2."""

    kind: Literal["turn", "slide"]
    axis: Axis


class BaseJoint(Part, ABC):
    """What every joint has: a name and two ends.

    An end is a `Site`, or a `Body` in the shorthand: then `at` (point) and `axis` (direction), both in N at the poses
    with which the bodies were written, place the frame; z of the site = axis, and joint zero is that pose.  Where one
    end is a site and the other a body, the body's frame is the site's at the written poses.
    """

    #: Whether `axis` means something to this class, and whether two bodies may leave `at` out.
    takes_axis: ClassVar[bool] = True
    needs_point: ClassVar[bool] = True

    #: What it allows: the motion subspace; None: it always acts through its rows.
    freedoms: ClassVar[tuple[Freedom, ...] | None] = None

    name: str = checked(text)
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
            raise self.refuse("at and axis go with two bodies; a site already says where the joint is.")
        if self.axis is not None and not self.takes_axis:
            raise self.refuse("this joint has no axis; leave axis out.")
        if shorthand and self.at is None and self.needs_point:
            raise self.refuse("say where it is: at=(x, y, z) in N, or give two sites instead of two bodies.")
        if shorthand and self.axis is None and self.takes_axis:
            raise self.refuse("say along which axis: axis=(x, y, z) in N, or give two sites instead of two bodies.")

    @property
    def coordinate(self) -> Literal["angle", "travel"] | None:
        """The one coordinate along z that this joint has: an angle [rad], a travel [m], or none."""
        if self.freedoms is None or len(self.freedoms) != 1 or self.freedoms[0].axis != "z":
            return None
        return "angle" if self.freedoms[0].kind == "turn" else "travel"

    @property
    def bodies(self) -> tuple[Body, Body]:
        """The two bodies, first and second."""
        one, two = (end.body if isinstance(end, Site) else end for end in (self.first, self.second))
        return one, two

    @cached_property
    def sites(self) -> tuple[Site, Site]:
        """The two sites, written or built from the shorthand."""
        if isinstance(self.first, Site) and isinstance(self.second, Site):
            return self.first, self.second
        point, axes = self._frame()
        return self._site(self.first, point, axes), self._site(self.second, point, axes)

    def _frame(self) -> tuple[Vector, Nine]:
        """Origin and axes in N, at the written poses, of the frame that both sites share there."""
        for end in (self.first, self.second):
            if isinstance(end, Site):
                return end.placed()
        point = self.bodies[1].position if self.at is None else self.at
        return point, NO_TURN if self.axis is None else axes_about(self.axis)

    def _site(self, end: Site | Body, point: Vector, axes: Nine) -> Site:
        return end if isinstance(end, Site) else end.site_placed(self.name, point, axes)


class Joint(BaseJoint):
    """Base of a joint made of primitives: yours needs one method::

        class Slider(qp.Joint):  # a pin in a slot along z of site 1
            def primitives(self):
                return (qp.PointOnLine("z"),)

    Its rows, their derivatives and its gap follow.  `freedoms`, when given, must span exactly what the primitives leave
    free (the contract tests check that): then the joint may also hang in the tree, and a single turn about z has an
    angle that is continuous past half a turn.
    """

    @abstractmethod
    def primitives(self) -> tuple[Primitive, ...]:
        """What this joint demands of its two sites; together full rank."""

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        if "primitives" not in vars(cls) and cls.primitives is Joint.primitives:
            raise TypeError(f"{cls.__name__}: a joint defines primitives(self) and returns a tuple of primitives.")

    def validate(self) -> None:
        super().validate()
        made = self.primitives()
        if not (isinstance(made, tuple) and made and all(isinstance(p, Primitive) for p in made)):
            raise self.refuse(f"primitives() must return a tuple of primitives, not {shown(made)}.")


class GeneralJoint(BaseJoint):
    """Base of a joint whose equations no primitive covers: phi(x, t) = 0 with derivatives that you write.

    For each row i: phi_i = 0 on the constraint, d phi / dt = G u + phi_t, and along any motion
    d2 phi / dt2 = G u' - gamma, where u = (v1, w1, v2, w2) holds the velocities of the two mass centres and the two
    angular velocities, all in N (12 numbers).  `at` gives time and kinematics: at.t, at[body], at[site].
    """

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
        """phi_t: how fast the residual changes at standstill, shape (m,); not zero only for prescribed motion."""
        return np.zeros(len(self.units))

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        missing = [n for n in ("phi", "jacobian", "gamma") if getattr(cls, n) is getattr(GeneralJoint, n)]
        if missing or not cls.units:
            raise TypeError(
                f"{cls.__name__}: a general joint defines units (one of 'm', 'rad' for each row), phi, jacobian and "
                f"gamma; missing: {', '.join(missing) or 'units'}."
            )
        if not isinstance(cls.units, tuple) or not set(cls.units) <= {"m", "rad"}:
            raise TypeError(f"{cls.__name__}: units is {cls.units!r}, but must be a tuple of 'm' and 'rad', one a row.")
