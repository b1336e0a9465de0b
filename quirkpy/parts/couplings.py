"""Joints that impose relations on the coordinates of other joints."""

from __future__ import annotations

import itertools
import math
from abc import ABC
from collections.abc import Callable, Sequence
from typing import Any

from quirkpy.maths.warnings import doubt_any
from quirkpy.parts.body import Body, Site
from quirkpy.parts.checks import instance, number, numbers, optional, show, text
from quirkpy.parts.joint import BaseJoint, Relation
from quirkpy.parts.part import checked
from quirkpy.parts.schedule import TimeFunction

#: Times at which a function of time is tested [s]: if it is equal at two of them it is constant
#: there, as a schedule at its knots.
LOOKED_AT = (1.0, 1.1, 10.0, 11.0, 60.0, 61.0, 600.0, 660.0, 3600.0, 4000.0)


def _motion(value: Any) -> Any:
    """A schedule or another function of time, also in Python."""
    if isinstance(value, TimeFunction) or callable(value):
        return value
    raise TypeError(f"is {show(value)}, but must be a Schedule or a function of t")


class Coupling(BaseJoint, ABC):
    """Base of joints that act on coordinates of other joints; active while these are.

    first: a joint; first_coordinate: the name of its coordinate, where it has several.
    """

    first: BaseJoint = checked(instance(BaseJoint))
    first_coordinate: str | None = checked(optional(text), default=None, kw_only=True)

    @property
    def bodies(self) -> tuple[Body, Body]:
        """The bodies of the first joint."""
        return self.first.bodies

    @property
    def sites(self) -> tuple[Site, Site]:
        """The sites of the first joint."""
        return self.first.sites

    def _one(self) -> tuple[BaseJoint, str]:
        """The first joint and its coordinate."""
        return self.first, self.first.named_coordinate(self.first_coordinate, self).name

    def _doubt(self, field: str, of: tuple[BaseJoint, str], values: Sequence[Any]) -> bool:
        """Warn where a coordinate is an angle, and one of the values for it looks like degrees;
        returns whether one does."""
        joint, name = of
        turning = joint.named_coordinate(name, self).kind == "angle"
        return turning and doubt_any(f"{self._title()}: {field}", values)


class Gear(Coupling):
    """Two wheels in mesh, or any linear coupling: coordinate of `second` = ratio x coordinate of
    `first` + offset.

    ratio in the units of the two coordinates: for wheels of z1 and z2 teeth with external meshing,
    on one carrier and with axes of equal direction, -z1 / z2; for a pinion and its rack the radius
    [m]. offset [rad] or [m]. Angles include whole turns. second_coordinate: as first_coordinate."""

    second: BaseJoint = checked(instance(BaseJoint))
    ratio: float = checked(number, kw_only=True)
    offset: float = checked(number, default=0.0, kw_only=True)
    second_coordinate: str | None = checked(optional(text), default=None, kw_only=True)

    def validate(self) -> None:
        if self._one() == self._two():
            raise self.refuse(
                f"both its coordinates are {self._one()[1]!r} of {self.first.name!r}; name two of "
                "them."
            )
        self._doubt("offset", self._two(), [self.offset])

    def _two(self) -> tuple[BaseJoint, str]:
        return self.second, self.second.named_coordinate(self.second_coordinate, self).name

    def relations(self) -> tuple[Relation, ...]:
        return (Relation(self._two(), self._one(), -self.ratio, self.offset),)


class Prescribed(Coupling):
    """A drive that moves a coordinate of a joint as a function of time, whatever the load.

    motion [rad] or [m]: a "smooth" `Schedule` of numbers, a `Sine`, a `Ramp`, or sums and products
    of these; or a function of t [s] that gives the value and its first two derivatives, ``lambda t:
    (0.5 * t, 0.5, 0.0)``, which is called from Python and cannot be written to JSON. The reaction
    is the load of the drive on the second body of the joint; its power counts as work."""

    motion: TimeFunction | Callable[[float], tuple[float, float, float]] = checked(_motion)

    def validate(self) -> None:
        self._one()
        if isinstance(self.motion, TimeFunction):
            if not self.motion.scalar or self.motion.smoothness < 2:
                raise self.refuse(
                    "its schedule must hold plain numbers and be 'smooth', for accelerations "
                    "follow from it; write "
                    "Schedule(times, values, 'smooth'), or give a function."
                )
            self._doubt("a value of its schedule", self._one(), self.motion.stated)
        else:
            if not self._doubt("motion at t = 0", self._one(), self._evaluate_motion(0.0)[:1]):
                stays = [a for a, b in itertools.pairwise(map(self._seen, LOOKED_AT)) if a == b]
                self._doubt("an angle at which its motion stays", self._one(), stays)

    def _seen(self, t: float) -> float:
        """The function's value at a time that no run may reach; nan where it fails."""
        try:
            return self._evaluate_motion(t)[0]
        except Exception:  # the function may be undefined at such times
            return math.nan

    def _evaluate_motion(self, t: float) -> tuple[float, float, float]:
        """The values of the function at time t, checked."""
        value = self.motion(t) if callable(self.motion) else self.motion.motion(t)
        try:
            made: tuple[float, float, float] = numbers(value, (3,))
        except (TypeError, ValueError) as error:
            raise self.refuse(
                f"motion at t = {t} {error}; it gives value, rate and acceleration.", code="yours"
            ) from None
        return made

    def relations(self) -> tuple[Relation, ...]:
        return (
            Relation(
                self._one(),
                motion=self.motion
                if isinstance(self.motion, TimeFunction)
                else self._evaluate_motion,
            ),
        )
