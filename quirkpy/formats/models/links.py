"""Links: the rigid pieces of a model in robot files, each with its motions relative to the
parent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from quirkpy.maths import quat
from quirkpy.maths.rotations import quaternion_of
from quirkpy.maths.triples import array
from quirkpy.maths.types import Floats
from quirkpy.parts.body import Body, Site, axes_about
from quirkpy.parts.shapes import Shape

MotionKind = Literal["hinge", "slide", "ball", "planar", "free"]


class RelativePose(NamedTuple):
    """The pose of a frame relative to another: rotation (3, 3), its axes as columns, and origin at
    (3,) [m]."""

    turn: Floats
    at: Floats

    def then(self, other: RelativePose) -> RelativePose:
        """The pose of a frame that is given by `other` relative to this one."""
        return RelativePose(self.turn @ other.turn, self.point(other.at))

    def point(self, local: Floats) -> Floats:
        """A point of this frame, in the outer one."""
        return np.asarray(self.at + self.turn @ local)

    @property
    def quaternion(self) -> Any:
        """The turn as a quaternion."""
        return quat.from_array(quaternion_of(self.turn))


def no_pose() -> RelativePose:
    """The identity pose."""
    return RelativePose(np.eye(3), np.zeros(3))


def rotation_about(axis: Floats, angle: float) -> Floats:
    """The matrix (3, 3) of a turn about an axis, by an angle [rad]."""
    return quat.matrix(quat.rotation(axis.tolist(), angle))


class LinkFrame(NamedTuple):
    """The frame of a link on the body that it has become: pose in body axes, from the mass
    centre."""

    body: Body
    pose: RelativePose

    def site(self, name: str, at: Floats, axes: Floats) -> Site:
        """A site, by its point [m] and its axes (columns) in this frame."""
        turned = self.pose.turn @ axes
        place, z, x = (v.tolist() for v in (self.pose.point(at), turned[:, 2], turned[:, 0]))
        return Site(self.body, name, tuple(place), tuple(z), tuple(x))


@dataclass
class JointMotion:
    """One motion that joints allow to a link, in axes of the link.

    axis (3,): unit vector of the rotation or translation; at (3,): a point of it [m]; zero: its
    coordinate in the pose of the file; start: its initial coordinate; rotor: inertia added to the
    coordinate by a rotor [kg m2] or [kg]."""

    name: str
    kind: MotionKind
    axis: Floats
    at: Floats
    zero: float = 0.0
    start: float = 0.0
    rotor: float = 0.0

    def moved(self, value: Any) -> RelativePose:
        """The pose of the link, relative to its pose before, for a value of the coordinate: a
        number; for a ball joint a quaternion."""
        if self.kind == "slide":
            return RelativePose(np.eye(3), self.axis * (value - self.zero))
        turn = (
            rotation_about(self.axis, value - self.zero)
            if self.kind == "hinge"
            else quat.matrix(value)
        )
        return RelativePose(turn, self.at - turn @ self.at)

    @property
    def simple(self) -> bool:
        """Whether the coordinate is one number."""
        return self.kind in ("hinge", "slide")

    @property
    def first_value(self) -> Any:
        """The initial value."""
        return self.start if self.simple else quat.IDENTITY

    def sites(self, carrier: LinkFrame, pose: RelativePose, link: LinkFrame) -> tuple[Site, Site]:
        """The frames of the joint on the parent of the link, for a pose of the link, and on the
        link."""
        axes = array(axes_about(tuple(self.axis.tolist())))
        onto = self.at - self.axis * self.zero if self.kind == "slide" else self.at
        turn = rotation_about(self.axis, self.zero) if self.kind == "hinge" else np.eye(3)
        return (
            carrier.site(self.name, pose.point(onto), pose.turn @ axes),
            link.site(self.name, self.at, turn @ axes),
        )


class MassPiece(NamedTuple):
    """A solid of a link: its shape, and its pose in the link."""

    pose: RelativePose
    shape: Shape


@dataclass
class ModelLink:
    """A rigid piece: its pose relative to its parent (None: the world), the motions relative to it,
    and its mass [kg].

    centre (3,) [m] and inertia (3, 3) [kg m2] about it, in its own axes; static: it never moves;
    feather: its mass was added to make the equations regular."""

    name: str
    carrier: ModelLink | None
    pose: RelativePose
    motions: list[JointMotion] = field(default_factory=list)
    mass: float = 0.0
    centre: Floats = field(default_factory=lambda: np.zeros(3))
    inertia: Floats = field(default_factory=lambda: np.zeros((3, 3)))
    pieces: list[MassPiece] = field(default_factory=list)
    color: Any = None
    feather: bool = False

    @property
    def static(self) -> bool:
        """Whether the link cannot move."""
        return not self.motions and (self.carrier is None or self.carrier.static)

    def add(self, mass: float, centre: Floats, inertia: Floats) -> None:
        """Add mass, with its inertia about its own centre, in axes of this link."""
        total = self.mass + mass
        middle = (self.mass * self.centre + mass * centre) / total if total else self.centre
        own = self.inertia + shifted_moments(self.mass, self.centre - middle)
        self.inertia = own + inertia + shifted_moments(mass, centre - middle)
        self.mass, self.centre = total, middle

    def absorb(self, other: ModelLink) -> None:
        """Merge a link that is fixed to it: mass and solids."""
        pose = other.pose
        turned = pose.turn @ other.inertia @ pose.turn.T
        self.add(other.mass, pose.point(other.centre), turned)
        self.pieces += [MassPiece(pose.then(piece.pose), piece.shape) for piece in other.pieces]


def shifted_moments(mass: float, by: Floats) -> Floats:
    """Moments (3, 3) of a point mass [kg] about a point at a given distance [m]."""
    return np.asarray(mass * (by @ by * np.eye(3) - np.outer(by, by)))


def turned_moments(turn: Floats, principal: Floats) -> Floats:
    """The matrix of principal moments about rotated axes."""
    return np.asarray(turn @ np.diag(principal) @ turn.T)


def size_of(links: Iterable[ModelLink]) -> float:
    """The longest distance within any link [m]: between joints, or to a mass centre."""
    return max((r for r in map(math.sqrt, _squares(links)) if r > 0.0), default=1.0)


def _squares(links: Iterable[ModelLink]) -> Iterator[float]:
    for link in links:
        for far in (link.pose.at, link.centre, *(motion.at for motion in link.motions)):
            yield float(far @ far)
