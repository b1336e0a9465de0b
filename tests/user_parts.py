"""Joints and forces of a user's own, as the documentation invites to write them; random systems
contain them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

import quirkpy as qp
from quirkpy.maths.types import Floats
from quirkpy.parts.checks import instance, number

#: How much of each coordinate of d = x2 - x1, in the axes of site 1, bends a `Wave`.
ACROSS = np.array([1.0, 1.0, 0.0])


class Universal(qp.Joint):
    """Two crossed hinges: a common point, x of site 1 perpendicular to y of site 2."""

    takes_axis = False

    def primitives(self) -> tuple[qp.Primitive, ...]:
        return qp.CoincidentPoints(), qp.PerpendicularAxes("x", "y")


class Cylindrical(qp.Joint):
    """A sleeve on a rod: it slides along z and turns about z."""

    def primitives(self) -> tuple[qp.Primitive, ...]:
        return qp.OriginOnLine("z"), qp.ParallelAxes("z")


class Slot(qp.Joint):
    """A ball in a groove along z of site 1."""

    def primitives(self) -> tuple[qp.Primitive, ...]:
        return (qp.OriginOnLine("z"),)


class Table(qp.Joint):
    """A ball that rolls without friction on the plane across z of site 1."""

    def primitives(self) -> tuple[qp.Primitive, ...]:
        return (qp.OriginOnPlane("z"),)


class Wave(qp.GeneralJoint):
    """Site 2 rides on the bent and swinging surface z = bend (x^2 + y^2) + swing (sin st + cos st -
    1) of site 1.

    bend [1/m], swing [m], s = pace [rad/s].
    """

    units = ("m",)

    bend: float = qp.checked(number, default=0.0, kw_only=True)
    swing: float = qp.checked(number, default=0.0, kw_only=True)
    pace: float = qp.checked(number, default=0.0, kw_only=True)

    def _height(self, t: float) -> tuple[float, float, float]:
        """The swing with its two time derivatives."""
        s, c = math.sin(self.pace * t), math.cos(self.pace * t)
        return (
            self.swing * (s + c - 1.0),
            self.swing * self.pace * (c - s),
            -self.swing * self.pace**2 * (s + c),
        )

    def _relative(self, at: qp.MotionView) -> tuple[Floats, Floats, Floats]:
        """d and d' in the axes of site 1, and the surface normal in N."""
        one, two = at[self.sites[0]], at[self.sites[1]]
        apart = two.position - one.position
        d = one.axes.T @ apart
        rate = one.axes.T @ (two.velocity - one.velocity - np.cross(one.angular_velocity, apart))
        return d, rate, one.axes @ (np.array([0.0, 0.0, 1.0]) - 2.0 * self.bend * ACROSS * d)

    def phi(self, at: qp.MotionView) -> Floats:
        d, _, _ = self._relative(at)
        return np.array([d[2] - self.bend * (d[0] ** 2 + d[1] ** 2) - self._height(at.t)[0]])

    def rate(self, at: qp.MotionView) -> Floats:
        return np.array([-self._height(at.t)[1]])

    def jacobian(self, at: qp.MotionView) -> Floats:
        _, _, normal = self._relative(at)
        centre1, centre2 = (at[body].position for body in self.bodies)
        contact = at[self.sites[1]].position
        arm1, arm2 = contact - centre1, contact - centre2
        return np.concatenate([-normal, -np.cross(arm1, normal), normal, np.cross(arm2, normal)])[
            None, :
        ]

    def gamma(self, at: qp.MotionView) -> Floats:
        _, rate, normal = self._relative(at)
        one, two = at[self.sites[0]], at[self.sites[1]]
        w1, w2 = one.angular_velocity, two.angular_velocity
        centre1, centre2 = (at[body].position for body in self.bodies)
        apart, apart_rate = two.position - one.position, two.velocity - one.velocity
        bending = np.cross(w2, np.cross(w2, two.position - centre2)) - np.cross(
            w1, np.cross(w1, one.position - centre1)
        )
        bending += np.cross(w1, np.cross(w1, apart)) - 2.0 * np.cross(w1, apart_rate)
        curve = -2.0 * self.bend * rate @ (ACROSS * rate)
        return -np.array([normal @ bending + curve - self._height(at.t)[2]])


class Drag(qp.Force):
    """Still air: force -linear v, torque -angular omega."""

    body: qp.Body = qp.checked(instance(qp.Body))
    linear: float = qp.checked(number)  # [N s/m]
    angular: float = qp.checked(number)  # [N m s/rad]

    def load(self, at: qp.MotionView) -> Mapping[qp.Body, qp.Wrench]:
        motion = at[self.body]
        return {
            self.body: qp.Wrench(
                -self.linear * motion.velocity, -self.angular * motion.angular_velocity
            )
        }


class Compass(qp.Force):
    """A needle in a field: U = -strength field . (R needle); field in N, needle in body axes, both
    unit vectors."""

    body: qp.Body = qp.checked(instance(qp.Body))
    field: qp.Vector = qp.checked(tuple)
    needle: qp.Vector = qp.checked(tuple)
    strength: float = qp.checked(number)  # [J]

    def potential(self, at: qp.MotionView) -> float:
        return float(
            -self.strength * np.asarray(self.field) @ at[self.body].axes @ np.asarray(self.needle)
        )


class Attraction(qp.Force):
    """Two mass centres that attract each other: U = -strength / sqrt(distance^2 + softening^2)."""

    first: qp.Body = qp.checked(instance(qp.Body))
    second: qp.Body = qp.checked(instance(qp.Body))
    strength: float = qp.checked(number)  # [J m]
    softening: float = qp.checked(number)  # [m]

    def potential(self, at: qp.MotionView) -> float:
        apart = at[self.second].position - at[self.first].position
        return -self.strength / math.sqrt(apart @ apart + self.softening**2)


class SlideSpring(qp.Force):
    """A spring on the travel of a sliding joint, made of the same element as `HingeSpring`."""

    joint: qp.Prismatic = qp.checked(instance(qp.Prismatic))
    stiffness: float = qp.checked(number)  # [N/m]
    rest: float = qp.checked(number)  # [m]
    damping: float = qp.checked(number)  # [N s/m]

    def elements(self) -> tuple[qp.Element, ...]:
        return (
            qp.Element(
                "coordinate", joint=self.joint, numbers=(self.stiffness, self.rest, self.damping)
            ),
        )


class Onlooker(qp.Force):
    """Does nothing; but a run that asks it keeps locked bodies apart, since it might look at any of
    them."""

    def load(self, at: qp.MotionView) -> Mapping[qp.Body, qp.Wrench]:
        return {}
