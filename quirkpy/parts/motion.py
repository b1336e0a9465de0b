"""Arguments of a user's own force or joint: time, and the kinematics of bodies and sites, all in
N."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from quirkpy.maths.triples import Triple
from quirkpy.maths.types import Floats
from quirkpy.parts.body import Body, Site
from quirkpy.parts.part import Part


class FrameMotion(NamedTuple):
    """Kinematics of a body or a site, all in N: position [m], axes (3, 3, columns), velocity [m/s],
    angular velocity [rad/s]."""

    position: Floats
    axes: Floats
    velocity: Floats
    angular_velocity: Floats


class PlaceMotion(NamedTuple):
    """Kinematics of a body or a site as an argument of compiled laws, each a tuple of three numbers
    in N: position [m], the axes x, y and z, velocity [m/s], angular velocity [rad/s]."""

    position: Triple
    x: Triple
    y: Triple
    z: Triple
    velocity: Triple
    angular_velocity: Triple


class MotionView(ABC):
    """Read-only kinematics at one instant: ``at.t`` [s], ``at[body]``, ``at["its name"]`` and
    ``at[site]`` -> `FrameMotion`."""

    t: float

    @abstractmethod
    def body(self, body: Body | str) -> FrameMotion:
        """Mass centre and body axes of a body of the system, or of the one with a name."""

    @abstractmethod
    def site(self, site: Site) -> FrameMotion:
        """Origin and axes of a site on such a body."""

    @abstractmethod
    def coordinate(self, joint: Part, name: str) -> tuple[float, float]:
        """Value, whole turns included, and rate of a coordinate of a joint of the system."""

    def __getitem__(self, key: Body | Site | str) -> FrameMotion:
        return self.site(key) if isinstance(key, Site) else self.body(key)


class Wrench(NamedTuple):
    """A force [N] acting at a point (in N [m]; None: the mass centre) and a couple [N m], all in
    N."""

    force: Floats | tuple[float, float, float] = (0.0, 0.0, 0.0)
    torque: Floats | tuple[float, float, float] = (0.0, 0.0, 0.0)
    point: Floats | tuple[float, float, float] | None = None
