"""The built-in forces.  Each docstring states the law, its units and its potential energy U."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np

from quirkpy.maths.cached import cached_property
from quirkpy.maths.triples import NO_TURN
from quirkpy.maths.types import Vector
from quirkpy.maths.warnings import doubt_beyond_a_turn
from quirkpy.parts.body import GROUND, Body, Site, point_sites
from quirkpy.parts.checks import (
    flag,
    instance,
    not_negative,
    number,
    optional,
    positive,
    text,
    vector,
    word,
)
from quirkpy.parts.force import Element, ElementKind, Force, ForceTraits
from quirkpy.parts.joint import BaseJoint, Coordinate
from quirkpy.parts.motion import MotionView, Wrench
from quirkpy.parts.part import checked
from quirkpy.parts.schedule import Schedule, TimeFunction

Frame: TypeAlias = Literal["inertial", "body"]
#: A vector that may change with time: three numbers, a function of time such as a Schedule, or a
#: Python function of t (not written to JSON).
VectorInTime: TypeAlias = Vector | TimeFunction | Callable[[float], Sequence[float]]


def _vector_in_time(value: Any) -> Any:
    if isinstance(value, TimeFunction) and value.scalar:
        raise TypeError(f"is a {noun(value)} of plain numbers, but must hold three at each time")
    return value if isinstance(value, TimeFunction) or callable(value) else vector(value)


def noun(value: TimeFunction) -> str:
    """The name of a function of time in a sentence."""
    return "schedule" if isinstance(value, Schedule) else type(value).__name__


def strength_in_time(value: Any) -> Any:
    """A number, zero or above, or a function of time whose definition does not show that it falls
    below zero."""
    if not isinstance(value, TimeFunction):
        return not_negative(value)
    made = in_time(value)
    if -math.inf < made.lowest < 0.0:
        raise ValueError(
            f"falls to {made.lowest:.6g}, but must be 0 or above at all times; change its values"
        )
    return made


def number_in_time(value: Any) -> Any:
    """A number, or a function of time that gives numbers."""
    if not isinstance(value, TimeFunction):
        return number(value)
    if not value.scalar:
        raise TypeError(f"is a {noun(value)} of vectors, but must hold one number at each time")
    return value


def in_time(value: Any) -> Any:
    """A number, or a function of time that gives numbers and has a rate, from which the work of its
    changes follows."""
    made = number_in_time(value)
    if isinstance(made, TimeFunction) and not made.rated:
        raise ValueError(
            "states no rate, but the work that its changes do follows from that; define rate "
            "beside its value"
        )
    return made


def split_functions(
    *values: float | TimeFunction,
) -> tuple[tuple[float, ...], tuple[Any, ...]]:
    """Values of which some are functions of time: the numbers, and the functions, None for numbers;
    the number for a function is its final value, zero if it has none."""
    functions = tuple(value if isinstance(value, TimeFunction) else None for value in values)
    return tuple(_last(value) for value in values), functions


def _last(value: float | TimeFunction) -> float:
    """The last value of a schedule of numbers; a number as it is."""
    if isinstance(value, Schedule):
        return float(value.at(value.times[-1]))
    return 0.0 if isinstance(value, TimeFunction) else value


def stated_in(value: float | TimeFunction | None) -> tuple[float, ...]:
    """The numbers in the definition of a value that may change with time."""
    if value is None:
        return ()
    return value.stated if isinstance(value, TimeFunction) else (value,)


class Gravity(Force):
    """A uniform acceleration [m/s2] of every moving body: force m g at its mass centre.  U = -m
    g . r."""

    acceleration: Vector = checked(vector)
    name: str = checked(text, default="gravity", kw_only=True)

    def elements(self) -> tuple[Element, ...]:
        return (Element("uniform", numbers=tuple(self.acceleration)),)


class BetweenPoints(Force, ABC):
    """A force along the line between two points: sites, or bodies at at1 and at2 (in N in the
    initial poses)."""

    first: Site | Body = checked(instance(Site, Body))
    second: Site | Body = checked(instance(Site, Body))
    at1: Vector | None = checked(optional(vector), default=None, kw_only=True)
    at2: Vector | None = checked(optional(vector), default=None, kw_only=True)

    def sites(self) -> tuple[Site, Site]:
        """The two points."""
        return self._sites

    @cached_property
    def _sites(self) -> tuple[Site, Site]:
        return point_sites(self, (self.first, self.second), (self.at1, self.at2))

    def value_of(self, field: str) -> Any:
        """The value of a field; a rest length that was not given is the length of the way in the
        initial poses, and the stiffness of a string with EA follows from that."""
        value = super().value_of(field)
        if value is None and field in ("stiffness", "rest_length"):
            stiffness, rest, *_ = self.pair_numbers()
            return stiffness if field == "stiffness" else rest
        return value

    def _initial_length(self) -> float:
        """The length of the way in the initial poses [m]."""
        return sum(math.dist(a.placed()[0], b.placed()[0]) for a, b in pairwise(self.way()))

    def way(self) -> tuple[Site, ...]:
        """The sites from the first point to the second."""
        return self.sites()

    def validate(self) -> None:
        first, *others = self.way()
        if all(site.body == first.body and site.at == first.at for site in others):
            raise self.refuse(
                f"both its ends are one point of {first.body.name!r}; give points of two bodies."
            )

    def elements(self) -> tuple[Element, ...]:
        stiffness, rest, *others = self.pair_numbers()
        numbers, functions = split_functions(stiffness, rest)
        return (Element("pair", *self.sites(), numbers=(*numbers, *others), schedules=functions),)

    @abstractmethod
    def pair_numbers(self) -> tuple[Any, ...]:
        """Stiffness and rest length, each a number or a function of time, damping, tension only:
        see `Element`."""


def check_limit(part: BetweenPoints, limit: float | None) -> None:
    """Refuse a load at which something yields whose stiffness is none, or changes."""
    stiffness = part.value_of("stiffness") if limit is not None else 1.0
    if not isinstance(stiffness, float) or stiffness == 0.0:
        raise part.refuse("limit_load goes with a stiffness that is a number above 0.")


class Spring(BetweenPoints):
    """Tension k (L - L0) + c dL/dt between two points.  U = k (L - L0)^2 / 2.

    stiffness k [N/m], rest_length L0 [m] (default: the distance in the initial poses), damping c [N
    s/m]. tension_only: a rope, as a `String`; it never pushes, and is without force, energy and
    damping while shorter than L0. Where the points coincide (L = 0) the direction, and so the force
    of a rest length, is undefined and set to zero. stiffness and rest_length may be functions of
    time, such as a `Schedule`: the change of U that they cause counts as work. limit_load [N]: it
    yields where k |L - L0| reaches that, as a `String` does, but, unless tension_only, also under
    pressure."""

    stiffness: float | TimeFunction = checked(strength_in_time, kw_only=True)
    rest_length: float | TimeFunction | None = checked(
        optional(strength_in_time), default=None, kw_only=True
    )
    damping: float = checked(not_negative, default=0.0, kw_only=True)
    tension_only: bool = checked(flag, default=False, kw_only=True)
    limit_load: float | None = checked(optional(positive), default=None, kw_only=True)

    def validate(self) -> None:
        super().validate()
        check_limit(self, self.limit_load)

    def pair_numbers(self) -> tuple[Any, ...]:
        rest = self._initial_length() if self.rest_length is None else self.rest_length
        limit, rope = self.limit_load or 0.0, float(self.tension_only)
        return self.stiffness, rest, self.damping, rope or (2.0 if limit else 0.0), 0.0, limit


class Damper(BetweenPoints):
    """Tension c dL/dt between two points; damping c [N s/m].  No potential."""

    damping: float = checked(not_negative, kw_only=True)

    def pair_numbers(self) -> tuple[Any, Any, float, float]:
        return 0.0, 0.0, self.damping, 0.0


class PotentialWell(Force):
    """An attraction of the mass centre to a point of N: force k (centre - r). U = k |r - centre|^2
    / 2.

    centre [m] in N, stiffness k [N/m], or a function of time: the change of U that it causes counts
    as work. There is no torque about the mass centre."""

    body: Body = checked(instance(Body))
    centre: Vector = checked(vector)
    stiffness: float | TimeFunction = checked(strength_in_time)

    def elements(self) -> tuple[Element, ...]:
        """A spring of zero rest length from the centre, fixed in N, to the mass centre."""
        ends = GROUND.site(self.name, at=self.centre), self.body.site(self.name)
        (stiffness,), (function,) = split_functions(self.stiffness)
        numbers = (stiffness, 0.0, 0.0, 0.0)
        return (Element("pair", *ends, numbers=numbers, schedules=(function, None)),)


class OnCoordinate(Force, ABC):
    """Base of forces on one coordinate of a joint, with their reactions; active while the joint is.

    coordinate: the name of the coordinate, where the joint has several: "angle", "travel",
    "travel_x" and so on."""

    joint: BaseJoint = checked(instance(BaseJoint))
    coordinate: str | None = checked(optional(text), default=None, kw_only=True)

    def validate(self) -> None:
        self._coordinate()

    def _coordinate(self) -> Coordinate:
        """The coordinate on which it acts."""
        return self.joint.named_coordinate(self.coordinate, self)

    def elements(self) -> tuple[Element, ...]:
        stiffness, rest, *others = self.coordinate_numbers()
        numbers, functions = split_functions(stiffness, rest)
        return (self.element("coordinate", (*numbers, *others), functions),)

    def element(
        self, kind: ElementKind, numbers: tuple[float, ...],
        functions: tuple[Any, ...] = (None, None),
    ) -> Element:  # fmt: skip
        """An element on its coordinate."""
        return Element(
            kind, joint=self.joint, coordinate=self._coordinate().name, numbers=numbers,
            schedules=(functions[0], functions[1]),
        )  # fmt: skip

    def coordinate_numbers(self) -> tuple[Any, ...]:
        """Stiffness and rest value, each a number or a function of time, damping, friction, its
        rate: see `Element`."""
        return 0.0, 0.0

    def _doubt(self, field: str, value: float | TimeFunction | None) -> None:
        """Warn where the coordinate is an angle, and the value exceeds a turn."""
        if self._coordinate().kind == "angle":
            for stated in stated_in(value):
                doubt_beyond_a_turn(f"{self._title()}: {field}", stated)


class HingeSpring(OnCoordinate):
    """Torque -k (angle - rest_angle) - c d(angle)/dt of the second body about the hinge, and its
    reaction.

    stiffness k [N m/rad], rest_angle [rad], damping c [N m s/rad]. U = k (angle - rest_angle)^2 / 2
    with the continuous angle. It is active while its joint is. stiffness and rest_angle may be
    functions of time, such as a `Schedule`: the change of U that they cause counts as work."""

    stiffness: float | TimeFunction = checked(strength_in_time, kw_only=True)
    rest_angle: float | TimeFunction = checked(in_time, default=0.0, kw_only=True)
    damping: float = checked(not_negative, default=0.0, kw_only=True)

    def validate(self) -> None:
        super().validate()
        self._doubt("rest_angle", self.rest_angle)

    def _coordinate(self) -> Coordinate:
        return self.joint.named_coordinate(self.coordinate, self, "angle")

    def coordinate_numbers(self) -> tuple[Any, ...]:
        return self.stiffness, self.rest_angle, self.damping


class JointSpring(OnCoordinate):
    """Load -k (x - rest) - c dx/dt along any coordinate x of a joint, and its reaction.  U = k (x -
    rest)^2 / 2.

    An angle: stiffness k [N m/rad], rest [rad], damping c [N m s/rad]; a travel or a length: [N/m],
    [m], [N s/m].  stiffness and rest may be functions of time, as of a `HingeSpring`."""

    stiffness: float | TimeFunction = checked(strength_in_time, kw_only=True)
    rest: float | TimeFunction = checked(in_time, default=0.0, kw_only=True)
    damping: float = checked(not_negative, default=0.0, kw_only=True)

    def validate(self) -> None:
        super().validate()
        self._doubt("rest", self.rest)

    def coordinate_numbers(self) -> tuple[Any, ...]:
        return self.stiffness, self.rest, self.damping


class JointDamper(OnCoordinate):
    """Load -c dx/dt along any coordinate x of a joint, and its reaction.  No potential.

    damping c: [N m s/rad] for an angle, [N s/m] for a travel or a length.
    """

    damping: float = checked(not_negative, kw_only=True)

    def coordinate_numbers(self) -> tuple[Any, ...]:
        return 0.0, 0.0, self.damping


def on_every_angle(joints: Sequence[BaseJoint], numbers: tuple[float, ...]) -> tuple[Element, ...]:
    """One element for each angle of some joints, with equal numbers."""
    angles = [(joint, c.name) for joint in joints for c in joint.coordinates if c.kind == "angle"]
    return tuple(
        Element("coordinate", joint=joint, coordinate=c, numbers=numbers) for joint, c in angles
    )


class ViscousHinges(Force):
    """Load -c d(angle)/dt on every angle of every active joint, later ones included:
    ``ViscousHinges(2e-4)``.

    damping c [N m s/rad], equal for all. No potential.
    """

    traits = ForceTraits(on_joints="alike", energy="none")

    damping: float = checked(not_negative)
    name: str = checked(text, default="viscous hinges", kw_only=True)

    def elements(self) -> tuple[Element, ...]:
        return ()

    def elements_among(self, joints: Sequence[BaseJoint]) -> tuple[Element, ...]:
        """One element for each angle, active while its joint is."""
        return on_every_angle(joints, (0.0, 0.0, self.damping))


class SprungHinges(Force):
    """Load -k (angle - rest) on every angle of every active joint, later ones included:
    ``SprungHinges(1e-3)``.

    stiffness k [N m/rad], rest [rad], equal for all: with a rest beyond the range of a hinge, a
    torque of constant sense. U = k (angle - rest)^2 / 2, with the continuous angle, of each."""

    traits = ForceTraits(on_joints="alike")

    stiffness: float = checked(not_negative)
    rest: float = checked(number, default=0.0, kw_only=True)
    name: str = checked(text, default="sprung hinges", kw_only=True)

    def validate(self) -> None:
        doubt_beyond_a_turn(f"{self._title()}: rest", self.rest)

    def elements(self) -> tuple[Element, ...]:
        return ()

    def elements_among(self, joints: Sequence[BaseJoint]) -> tuple[Element, ...]:
        """One element for each angle, active while its joint is."""
        return on_every_angle(joints, (self.stiffness, self.rest, 0.0))


class JointFriction(OnCoordinate):
    """Dry friction of a preloaded joint: load -mu N tanh(rate / slip) along a travel, mu N radius
    tanh on an angle.

    coefficient mu [1], preload N [N]: the normal load is prescribed, since the reactions of
    redundant joints are not unique. radius [m]: the lever arm of friction on an angle; not for
    travels. slip [rad/s] or [m/s]: the rate above which friction is nearly full; below, it is
    smooth and creeps. No potential."""

    coefficient: float = checked(not_negative, kw_only=True)
    preload: float = checked(not_negative, kw_only=True)
    radius: float | None = checked(optional(positive), default=None, kw_only=True)
    slip: float = checked(positive, default=1e-3, kw_only=True)

    def validate(self) -> None:
        turns = self._coordinate().kind == "angle"
        if turns and self.radius is None:
            raise self.refuse("it acts on an angle; give radius= [m], the lever of the friction.")
        if not turns and self.radius is not None:
            raise self.refuse(
                f"radius is {self.radius:g}, but it acts on no angle; leave radius out."
            )

    def coordinate_numbers(self) -> tuple[Any, ...]:
        return 0.0, 0.0, 0.0, self.coefficient * self.preload * (self.radius or 1.0), self.slip


class JointStop(OnCoordinate):
    """Bounds on a coordinate of a joint: ``JointStop("limit", hinge, lower=0.0, restitution=0.3)``.

    lower [rad] or [m], upper [rad] or [m]: if one is omitted, the coordinate is free on that side.
    At a bound an impulse changes the rate to -restitution times its value before (0: it stays, 1:
    no loss); slower than `settle` [rad/s or m/s] there is no rebound. A joint at rest on its bound
    is held there for as long as it is pressed on. The energy lost in impacts counts as dissipated.
    It is active while its joint is."""

    lower: float | None = checked(optional(number), default=None, kw_only=True)
    upper: float | None = checked(optional(number), default=None, kw_only=True)
    restitution: float = checked(not_negative, default=0.0, kw_only=True)
    settle: float = checked(positive, default=1e-4, kw_only=True)

    def validate(self) -> None:
        self._coordinate()
        if self.lower is None and self.upper is None:
            raise self.refuse("it has no bound; give lower, upper or both.")
        if self.lower is not None and self.upper is not None and self.lower >= self.upper:
            raise self.refuse(
                f"lower is {self.lower:g} and upper {self.upper:g}; lower must be the smaller one."
            )
        if self.restitution > 1.0:
            raise self.refuse(f"restitution is {self.restitution:g}, but must lie between 0 and 1.")
        self._doubt("lower", self.lower)
        self._doubt("upper", self.upper)

    def elements(self) -> tuple[Element, ...]:
        name = self._coordinate().name
        bounds = [
            (bound, side)
            for bound, side in ((self.lower, 1.0), (self.upper, -1.0))
            if bound is not None
        ]
        return tuple(
            Element(
                "stop",
                joint=self.joint,
                coordinate=name,
                numbers=(bound, side, self.restitution, self.settle),
            )
            for bound, side in bounds
        )


class Load(Force):
    """A force [N] and a torque [N m] on a body, as numbers, a `Schedule` or other `TimeFunction`,
    or a Python function of t [s].

    at: the point of the body where the force acts, in N in the initial pose, fixed in the body
    (default: the mass centre). frame "inertial": both vectors are constant in N; "body": both
    rotate with the body. It has no potential: all of its power counts as work. A function of t is
    called from Python at every evaluation and cannot be written to JSON."""

    body: Body = checked(instance(Body))
    force: VectorInTime = checked(_vector_in_time, default=(0.0, 0.0, 0.0), kw_only=True)
    torque: VectorInTime = checked(_vector_in_time, default=(0.0, 0.0, 0.0), kw_only=True)
    at: Vector | None = checked(optional(vector), default=None, kw_only=True)
    frame: Frame = checked(word(Frame), default="inertial", kw_only=True)

    def validate(self) -> None:
        for name, value in (("force", self.force), ("torque", self.torque)):
            if callable(value):
                self._call(name, value, 0.0)

    def _site(self) -> Site:
        return self.body.site_placed(self.name, self.at, NO_TURN)

    def elements(self) -> tuple[Element, ...]:
        if callable(self.force) or callable(self.torque):
            return (Element("callback"),)
        vectors = [
            (0.0, 0.0, 0.0) if isinstance(v, TimeFunction) else v for v in (self.force, self.torque)
        ]
        one, two = (v if isinstance(v, TimeFunction) else None for v in (self.force, self.torque))
        numbers = (*vectors[0], *vectors[1], float(self.frame == "body"))
        return (Element("push", self._site(), numbers=numbers, schedules=(one, two)),)

    def load(self, at: MotionView) -> Mapping[Body, Wrench]:
        """The wrench at the time and pose of `at`; used if a vector is a Python function."""
        site = at[self._site()]
        turn = at[self.body].axes if self.frame == "body" else np.eye(3)
        force, torque = (
            turn @ self._call(name, value, at.t)
            for name, value in (("force", self.force), ("torque", self.torque))
        )
        return {self.body: Wrench(force, torque, site.position)}

    def _call(self, name: str, value: VectorInTime, t: float) -> Any:
        """One of the two vectors at time t, given as numbers, as a schedule or as a function."""
        if isinstance(value, TimeFunction):
            return value.at(t)
        out = value(t) if callable(value) else value
        try:
            return np.asarray(vector(out))
        except (TypeError, ValueError) as error:
            raise self.refuse(f"{name} at t = {t} {error}.", code="yours") from None
