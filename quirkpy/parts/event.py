"""Events of a run. An event occurs where its function of the state crosses zero, or jumps across
it: at an impact, at a switch, where joints become active."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from quirkpy.parts.checks import flag, number, positive, text, word
from quirkpy.parts.part import Part, checked

Direction: TypeAlias = Literal["falling", "rising", "both"]


def _function(value: Any) -> Any:
    if not callable(value):
        raise TypeError(f"is {value!r}, but must be a function of a state that returns a number")
    return value


class Event(Part, ABC):
    """Base of all events. terminal: whether the run stops there; it is located and recorded in
    either case."""

    name: str = checked(text)
    terminal: bool = checked(flag, default=True, kw_only=True)


class AtRest(Event):
    """The system has come to rest: velocities and accelerations are below thresholds.

    speed [m/s]: the root of twice the kinetic energy over the total mass; acceleration [m/s2]: the
    corresponding measure of the accelerations, in which bodies that locks hold together count as
    one. Both must fall below their thresholds, so that a turning point is not rest. A run that
    begins at rest stops at once."""

    name: str = checked(text, default="at rest", kw_only=True)
    speed: float = checked(positive, default=1e-6, kw_only=True)
    acceleration: float = checked(positive, default=1e-6, kw_only=True)


class EnergyBelow(Event):
    """Kinetic plus potential energy falls below `energy` [J]."""

    energy: float = checked(number)
    name: str = checked(text, default="energy below", kw_only=True)


class SensorsMeet(Event):
    """Two compatible sensors of different bodies come within reach of each other, facing (see
    `Sensor`).

    A pair that is in range at the start meets only after it has parted; bodies that locks hold
    together count as one.
    """

    name: str = checked(text, default="sensors meet", kw_only=True)


class When(Event):
    """A function of the state crosses zero: ``When("level", lambda state:
    state["arm"].position[2])``.

    The function is called from Python after every step; direction: which crossings count.
    `When.above` and `When.below` need no Python."""

    function: Callable[[Any], float] = checked(_function)
    direction: Direction = checked(word(Direction), default="both", kw_only=True)

    @staticmethod
    def above(
        measure: str, level: float, *, name: str | None = None, terminal: bool = True
    ) -> Threshold:
        """A measured number rises to a level: ``qp.When.above("hinge.angle", 1.5)``; see
        `Threshold`."""
        told = name or f"{measure} above {level:g}"
        return Threshold(measure, level, "rising", name=told, terminal=terminal)

    @staticmethod
    def below(
        measure: str, level: float, *, name: str | None = None, terminal: bool = True
    ) -> Threshold:
        """A measured number falls to a level: ``qp.When.below("arm.position.z", 0.0)``; see
        `Threshold`."""
        told = name or f"{measure} below {level:g}"
        return Threshold(measure, level, "falling", name=told, terminal=terminal)


class Threshold(Event):
    """A measurable quantity, given by its name, crosses a level: ``qp.When.above("hinge.angle",
    1.5)``.

    measure: a name of `system.measures` that gives one number; a vector needs its component, as
    "arm.position.z". It is compiled, except for reactions and quantities of users' Python code,
    which are evaluated in Python after every step. A run that begins beyond the level must return
    first."""

    measure: str = checked(text)
    level: float = checked(number)
    direction: Direction = checked(word(Direction), default="both")
    name: str = checked(text, default="threshold", kw_only=True)
