"""Shapes of bodies: what collides, what is drawn, and the moments of inertia when the mass fills it evenly."""

from __future__ import annotations

from abc import ABC, abstractmethod

from quirkpy.parts.checks import AXES, Axis, Vector, lengths, positive, word
from quirkpy.parts.part import Part, checked


class Shape(Part, ABC):
    """A convex solid centred on the mass centre, its edges or its axis along body axes."""

    @abstractmethod
    def inertia_per_mass(self) -> tuple[float, float, float]:
        """Principal moments about the centre, body axes, of the uniform solid of 1 kg [m2]."""


class Box(Shape):
    """A cuboid; size: full lengths along the body axes x, y, z [m]."""

    size: Vector = checked(lengths)

    def inertia_per_mass(self) -> tuple[float, float, float]:
        a, b, c = self.size
        return (b * b + c * c) / 12.0, (a * a + c * c) / 12.0, (a * a + b * b) / 12.0


class Sphere(Shape):
    """A ball; radius [m]."""

    radius: float = checked(positive)

    def inertia_per_mass(self) -> tuple[float, float, float]:
        moment = 0.4 * self.radius**2
        return moment, moment, moment


class Cylinder(Shape):
    """A round rod; radius [m], length [m], axis: the body axis that it lies along."""

    radius: float = checked(positive)
    length: float = checked(positive)
    axis: Axis = checked(word(Axis), default="x")

    def inertia_per_mass(self) -> tuple[float, float, float]:
        across = (3.0 * self.radius**2 + self.length**2) / 12.0
        x, y, z = (0.5 * self.radius**2 if axis == self.axis else across for axis in AXES)
        return x, y, z
