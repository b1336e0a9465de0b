"""Options of a pair of sensors in range: nothing, a lock, a hinge about an edge, or a user's
option."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from quirkpy.maths.triples import add, cross, dot, scale, sub, turn, unit
from quirkpy.parts.body import Body, Site
from quirkpy.parts.bushing import Bushing
from quirkpy.parts.checks import (
    angle_up_to,
    direction,
    flag,
    not_negative,
    optional,
    positive,
    show,
    vector,
)
from quirkpy.parts.forces import JointStop
from quirkpy.parts.joint import BaseJoint, GeneralJoint, Joint
from quirkpy.parts.joints import Fixed, Revolute
from quirkpy.parts.magnets import Magnet
from quirkpy.parts.part import Part, checked, fields_of
from quirkpy.parts.pinning import FluxPinning, Superconductor, body_pose
from quirkpy.parts.sensor import Sensor
from quirkpy.parts.shapes import Box

#: Least distance of an edge from the face's centre, along a line within the box [m].
THIN = 1e-9
#: Distance of a magnet [m] until the cooling pose of its superconductor is known.
MAGNET_DISTANCE = 1.0


#: The fields for costs, which do not distinguish options.
COSTS = ("energy", "release", "power")


class OptionTraits(NamedTuple):
    """The traits that a class of options declares; omitted ones are unknown, and no reduction uses
    them.

    holds: the two bodies "as one", by a lock; by a "hinge", placed as in `Hinge`; by a joint that
    leaves "freedoms", and its stops, without any force; "nothing"; "unknown". exchanged: the option
    with its two sites exchanged: the "same"; "carried", a hinge about the same line; "unknown".
    Only classes derived from `Hinge` may declare "hinge" and "carried"."""

    holds: Literal["nothing", "as one", "hinge", "freedoms", "unknown"] = "unknown"
    exchanged: Literal["same", "carried", "unknown"] = "unknown"


class Option(Part):
    """Base of the options of a pair. A subclass gives the parts that join two sites; these
    coincide, with their axes, when the sensors meet exactly::

        class Ball(qp.Option):
            def parts(self, name, one, two):
                return (qp.Spherical(name, one, two),)

    joins: whether the pair is held together. traits: an `OptionTraits` for reductions; unknown,
    unless the class declares it.

    energy, release [J]: the energy supplied by the spacecraft to lock, and to release; power [W]:
    the power of that supply; None: at once. These do not affect the motion; edges, plans and
    replays include them."""

    unknown_traits: ClassVar[OptionTraits] = OptionTraits()

    joins = True
    #: Whether the parts are made anew with every choice, also if the pair was held before.
    renewed = False

    energy: float = checked(not_negative, default=0.0, kw_only=True)
    release: float = checked(not_negative, default=0.0, kw_only=True)
    power: float | None = checked(optional(positive), default=None, kw_only=True)

    @property
    def traits(self) -> OptionTraits:
        """The traits of the option, for reductions."""
        return self.unknown_traits

    @property
    def costs(self) -> tuple[float, float, float | None]:
        """Energy of locking and of releasing [J], and the power of its supply [W]."""
        return self.energy, self.release, self.power

    @abstractmethod
    def parts(self, name: str, one: Site, two: Site) -> tuple[Part, ...]:
        """The parts that join the pair, the joint first."""

    def hold(self, parts: tuple[Part, ...], state: Any) -> tuple[Part, ...]:
        """The parts as they become active at a state, if they depend on it; otherwise unchanged."""
        return parts

    @property
    def label(self) -> str:
        """A short name, which distinguishes it from the other options of a pair."""
        held = fields_of(self).items()
        told = {name: value for name, value in held if value is not None and name not in COSTS}
        fields = [f"{name}={value}" for name, value in told.items()]
        return " ".join([type(self).__name__.lower(), *fields])


class Free(Option):
    """The pair is not held."""

    joins = False
    traits = OptionTraits(holds="nothing", exchanged="same")

    def parts(self, name: str, one: Site, two: Site) -> tuple[Part, ...]:
        return ()


class Lock(Option):
    """The two faces are held together, as one body: in the exact meeting pose or, with `as_found`
    (`Lock.here()`), in the relative pose when they lock within reach of each other."""

    as_found: bool = checked(flag, default=False, kw_only=True)

    @classmethod
    def here(cls, **costs: Any) -> Lock:
        """The lock that holds the relative pose found; costs: energy=, release=, power=."""
        return cls(as_found=True, **costs)

    @property
    def traits(self) -> OptionTraits:
        """Known for locks in the exact meeting pose."""
        if self.as_found:
            return OptionTraits()
        return OptionTraits(holds="as one", exchanged="same")

    @property
    def label(self) -> str:
        return "lock here" if self.as_found else "lock"

    def parts(self, name: str, one: Site, two: Site) -> tuple[Part, ...]:
        return (Fixed(name, one, two),)

    def hold(self, parts: tuple[Part, ...], state: Any) -> tuple[Part, ...]:
        if not self.as_found:
            return parts
        (lock,) = parts
        assert isinstance(lock, Fixed)
        one, two = lock.sites
        return (Fixed(lock.name, site_on(one.name, one.body, two, state), two),)


def _edge(value: Any) -> Any:
    if type(value) is not int or value not in (1, 2, 3, 4):
        raise TypeError(f"is {show(value)}, but must be 1, 2, 3 or 4")
    return value


class Hinge(Option):
    """The faces open about an edge that both share; when closed, they press on each other like a
    stop.

    edge: of the first body's box, around the face of its sensor: 1 and 2 are parallel to the x axis
    of the site, on its +y and its -y side, 3 and 4 to y, on its +x and -x side. Or at [m] and axis,
    both in the axes of the first site: a positive angle opens. opens [rad]: the largest angle, at
    most a turn; for two boxes about an edge, half a turn."""

    traits = OptionTraits(holds="hinge", exchanged="carried")

    edge: int | None = checked(optional(_edge), default=None)
    at: Any = checked(optional(vector), default=None, kw_only=True)
    axis: Any = checked(optional(direction), default=None, kw_only=True)
    opens: float | None = checked(
        optional(angle_up_to(2.0 * math.pi, "2 pi")), default=None, kw_only=True
    )

    def validate(self) -> None:
        if (self.edge is None) == (self.at is None):
            raise self.refuse("give either an edge, 1 to 4, or at= and axis=.")
        if (self.at is None) != (self.axis is None):
            raise self.refuse("at= and axis= belong together.")

    @property
    def label(self) -> str:
        if self.edge is not None:
            return f"hinge {self.edge}"
        return f"hinge at {self.at} about {self.axis}"

    def parts(self, name: str, one: Site, two: Site) -> tuple[Part, ...]:
        at, axis, most = self.placed(one)
        sites = (shift_frame(site, f"{site.name} {self.label}", at, axis) for site in (one, two))
        hinge = Revolute(name, *sites)
        return hinge, JointStop(f"{name} faces", hinge, lower=0.0, upper=most)

    def placed(self, one: Site) -> tuple[Any, Any, float | None]:
        """Point and axis in the axes of the first site, and the largest angle of the hinge."""
        if self.edge is None:
            return self.at, unit(self.axis), self.opens
        shape = one.body.shape
        if not isinstance(shape, Box):
            raise self.refuse(
                f"body {one.body.name!r} is no box, so it has no edges; give at= and axis=."
            )
        side, sign = (1, 1.0) if self.edge in (1, 2) else (0, 1.0)
        sign = 1.0 if self.edge in (1, 3) else -1.0
        across = tuple(sign * (1.0 if k == side else 0.0) for k in range(3))
        reach = self._to_the_edge(one, shape, turn(one.axes9, across))
        e = scale(reach, across)
        return e, unit(cross((0.0, 0.0, 1.0), e)), math.pi if self.opens is None else self.opens

    def _to_the_edge(self, one: Site, shape: Box, way: Any) -> float:
        """The extent of the face from the site along a direction in body axes [m]."""
        distances = [
            (math.copysign(0.5 * size, w) - x) / w
            for size, x, w in zip(shape.size, one.at, way)
            if abs(w) > THIN
        ]
        reach = min(distances, default=0.0)
        if reach <= THIN:
            raise self.refuse(
                f"the site {one.name!r} of body {one.body.name!r} lies at or beyond that edge of "
                "its box."
            )
        return reach


def hinge_of(option: Option) -> Hinge | None:
    """An option as a hinge, if its traits say that it holds as one."""
    return option if isinstance(option, Hinge) and option.traits.holds == "hinge" else None


class Pin(Option):
    """A superconductor at the first site is cooled in the present pose of the pair, and pins
    magnets of the second body without contact: a flux pin, frozen anew with every choice.

    One magnet is in the middle, its moment [A m2] along z of the second site: the pin is a hinge
    about that axis, with free rotation. ring [m]: four more around it, at this distance along x and
    y, hold that rotation too. damping: of each motion, as a share of critical; spin [N m s/rad]: of
    rotation. Both are estimates without measurements."""

    renewed = True

    moment: float = checked(positive)
    ring: float | None = checked(optional(positive), default=None, kw_only=True)
    damping: float = checked(not_negative, default=0.05, kw_only=True)
    spin: float = checked(not_negative, default=0.0, kw_only=True)

    @property
    def label(self) -> str:
        return "pin" if self.ring is None else f"pin ring {self.ring:g}"

    def parts(self, name: str, one: Site, two: Site) -> tuple[Part, ...]:
        a = self.ring
        points = (
            [(0.0, 0.0)] if a is None else [(0.0, 0.0), (a, 0.0), (0.0, a), (-a, 0.0), (0.0, -a)]
        )
        z, x = turn(two.axes9, (0.0, 0.0, -1.0)), turn(two.axes9, (1.0, 0.0, 0.0))
        sites = [
            Site(two.body, f"{name} {k}", add(two.at, turn(two.axes9, (*point, 0.0))), z, x)
            for k, point in enumerate(points)
        ]
        magnets = [Magnet(f"{name} {k}", site, self.moment) for k, site in enumerate(sites)]
        somewhere = tuple((*point, MAGNET_DISTANCE, 0.0, 0.0, -1.0) for point in points)
        cold = Superconductor(name, one)
        pinning = FluxPinning((cold,), magnets, frozen=(somewhere,), name=name)
        return pinning, Bushing(f"{name} damping", one, two, stiffness=(0.0,) * 6)

    def hold(self, parts: tuple[Part, ...], state: Any) -> tuple[Part, ...]:
        pinning, damper = parts
        assert isinstance(pinning, FluxPinning)
        assert isinstance(damper, Bushing)
        frozen = replace(pinning, **pinning.freezing(state))
        return frozen, frozen.damper(damper.name, self.damping, self.spin, state)


def site_on(name: str, body: Body, other: Site, state: Any) -> Site:
    """The site of a body that coincides with one of another, at a state."""
    (r, axes), (there, turned) = (body_pose(some, state) for some in (body, other.body))
    point, frame = there + turned @ np.asarray(other.at), axes.T @ turned @ other.axes
    return body.site(name, axes.T @ (point - r), z=frame[:, 2], x=frame[:, 0])


def shift_frame(site: Site, name: str, at: Any, axis: Any) -> Site:
    """A frame fixed in a site: `at` [m] and z along `axis`, both in its axes."""
    z = unit(axis)
    helper = (1.0, 0.0, 0.0) if abs(z[0]) < 0.9 else (0.0, 1.0, 0.0)
    x = unit(sub(helper, scale(dot(helper, z), z)))
    axes = site.axes9
    return Site(site.body, name, add(site.at, turn(axes, at)), turn(axes, z), turn(axes, x))


def mating_frame(sensor: Sensor, roll: float) -> Site:
    """The frame on a sensor's body that coincides with the other sensor's site when the two meet: z
    reversed, x rotated back by the roll [rad] of this one's x axis about the other's z."""
    site = sensor.site
    axes = site.axes9
    c, s = math.cos(roll), math.sin(roll)
    # in its own axes: z' = -z; a rotation about z' by -roll maps x to x'
    return Site(
        site.body,
        f"{site.name} mated",
        site.at,
        turn(axes, (0.0, 0.0, -1.0)),
        turn(axes, (c, s, 0.0)),
    )


def freedoms_of(joint: Part) -> int:
    """The number of freedoms that a joint leaves between its two bodies."""
    if not isinstance(joint, BaseJoint):
        return 6
    if joint.freedoms is not None:
        return len(joint.freedoms)
    if isinstance(joint, Joint):
        return 6 - sum(len(primitive.rows()) for primitive in joint.primitives())
    return 6 - len(joint.units) if isinstance(joint, GeneralJoint) else 6
