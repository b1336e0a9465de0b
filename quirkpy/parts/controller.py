"""`Controller`: measures a run at samples, and commands its motors, wheels and loads."""

from __future__ import annotations

import dataclasses
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from quirkpy.maths.cached import cached_property
from quirkpy.parts.checks import (
    flag,
    not_negative,
    positive,
    real,
    show,
    text,
    texts,
    whole,
    word,
)
from quirkpy.parts.formulas import numbers_of, parameters_of
from quirkpy.parts.part import Part, checked

#: Arguments of a compiled command other than fields.
GIVEN = "t", "measured", "memory"
#: Fields that say what a controller is, which no parameter replaces.
WIRING = "name", "drives", "reads", "hold", "constant", "compiled"
#: How a command is interpolated between samples.
Hold: TypeAlias = Literal["zero", "first"]


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        raise TypeError(f"is the text {show(value)}, but must be a list of names: [{value!r}]")
    names = texts(value)
    for k, name in enumerate(names):
        if name in names[:k]:
            raise ValueError(f"has {name!r} twice; name it once")
    return names


def _drives(value: Any) -> tuple[str, ...]:
    if not (names := _names(value)):
        raise ValueError("is empty; name what it commands, such as 'wheel.torque'")
    for name in names:
        if not all(name.rpartition(".")):
            raise ValueError(
                f"has {show(name)}; name a force and its field, such as 'wheel.torque'"
            )
    return names


def _numbers(value: Any) -> tuple[float, ...]:
    array = real(value)
    if array.ndim != 1:
        raise TypeError(f"is {show(value)}, but must be a list of numbers, such as [0.0, 0.0]")
    return tuple(map(float, array))


def by_name(check: Callable[[Any], float]) -> Callable[[Any], tuple[tuple[str, float], ...]]:
    """A check of numbers by name, ``{"hinge.angle": 1e-3}``, stored as pairs, which are
    immutable."""

    def checked_pairs(value: Any) -> tuple[tuple[str, float], ...]:
        pairs = value.items() if isinstance(value, Mapping) else value
        try:
            parted = [(str(name), one) for name, one in pairs]
        except (TypeError, ValueError):
            raise TypeError(
                f"is {show(value)}, but must be numbers by name, such as {{'hinge.angle': 1e-3}}"
            ) from None
        return tuple((name, check(one)) for name, one in parted)

    return checked_pairs


class Controller(Part, ABC):
    """Base of sampled controllers; a subclass annotates its fields, and defines `command`::

        class PD(qp.Controller):
            stiffness: float
            damping: float
            def command(self, t, measured, memory):
                torque = -self.stiffness * measured["hinge.angle"]
                return {"motor.torque": torque - self.damping * measured["hinge.rate"]}

    ``PD("pd", 2.0, 0.3, period=0.1, reads=["hinge.angle", "hinge.rate"], drives=["motor.torque"])``
    is a part of a system like others. In a run Python is called once for each sample, and steps end
    exactly there: at the time at which the controller becomes active, and every `period` [s] from
    then on.

    measured: the values of the names in `reads` (`system.measures`), numbers, arrays of three, and
    quaternions of orientations; memory: the controller's own dict, empty at first, and part of the
    state: a continued run finds it unchanged, and files can contain numbers, strings, lists and
    arrays. `command` returns a number, or three, for each of `drives`: the field of a force that
    may be a function of time, such as "push.force", "jet.thrust", "motor.torque" or "servo.target",
    which the command replaces; the value defined there holds until the first command. All drives
    refer to the load on the body of the part. So "wheel.torque" is the torque of the motors of a
    `ReactionWheel` on its body, in axes of its site: the momentum of the wheels changes by the
    opposite.

    hold: "zero", a command is constant until the next; "first", it changes linearly from its
    previous value to the command, in one period. delay [s]: time until commands take effect. limit:
    bound of every component of commands, by drive. noise: standard deviation of noise added to
    measured numbers, by name; for orientations that of a small rotation [rad]; `seed` determines
    it. quantum: measured numbers are rounded to multiples of it, by name. constant: while the
    system is at rest the command is constant, so `settle`, which otherwise refuses controllers,
    treats it as a constant.

    compiled: numba compiles `command`, and no Python is called in a run. Then it is a static
    function of numbers with these argument names: t [s]; measured, an array with all numbers in the
    order of `reads`, orientations as w x y z; memory, an array owned by the controller, initially
    the numbers of the field `memory`; or a field that is a number or a tuple of numbers. It returns
    the numbers of `drives`, one after the other, as a tuple or an array::

        class PD(qp.Controller):
            stiffness: float
            @staticmethod
            def command(t, measured, memory, stiffness):
                return -stiffness * measured[0]

    It is active while any of the parts that it drives is. `run["pd"]` has the measured values and
    commands."""

    name: str = checked(text)
    period: float = checked(positive, kw_only=True)
    drives: Sequence[str] = checked(_drives, kw_only=True)
    reads: Sequence[str] = checked(_names, default=(), kw_only=True)
    hold: Hold = checked(word(Hold), default="zero", kw_only=True)
    delay: float = checked(not_negative, default=0.0, kw_only=True)
    limit: Any = checked(by_name(positive), default=(), kw_only=True)
    noise: Any = checked(by_name(not_negative), default=(), kw_only=True)
    quantum: Any = checked(by_name(positive), default=(), kw_only=True)
    seed: int = checked(whole, default=0, kw_only=True)
    constant: bool = checked(flag, default=False, kw_only=True)
    compiled: bool = checked(flag, default=False, kw_only=True)
    memory: Sequence[float] = checked(_numbers, default=(), kw_only=True)

    @abstractmethod
    def command(
        self, t: float, measured: dict[str, Any], memory: dict[str, Any]
    ) -> Mapping[str, Any]:
        """A number, or three, for each of `drives`, at the time t [s] of a sample."""

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """Fields that are arguments of the command where it is compiled, by name."""
        return numbers_of(self, ("command",), GIVEN) if self.compiled else {}

    def validate(self) -> None:
        self._check_command()
        for field, noun, known in (
            ("limit", "drives", self.drives), ("noise", "reads", self.reads),
            ("quantum", "reads", self.reads),
        ):  # fmt: skip
            for name, _ in getattr(self, field):
                if name not in known:
                    raise self.refuse(
                        f"{field} names {name!r}, which is none of its {noun}: "
                        f"{', '.join(known) or 'none'}.",
                        code="name",
                    )

    def _check_command(self) -> None:
        """Refuse a compiled command with unknown arguments, and initial memory of one that is not
        compiled."""
        if not self.compiled:
            if self.memory:
                raise self.refuse(
                    "memory has numbers, but its command is Python's and finds a dict; give "
                    "compiled=True, or begin in the command with memory.get(...)."
                )
            return
        if not isinstance(inspect.getattr_static(type(self), "command"), staticmethod):
            raise self.refuse(
                "compiled=True needs a command that is a static function of t, measured, memory "
                "and fields; write @staticmethod above it, and leave self out."
            )
        fields = [field.name for field in dataclasses.fields(self)]
        for name in parameters_of(type(self).command):
            if name not in GIVEN and name not in fields:
                raise self.refuse(
                    f"command asks for {name!r}, which is neither {', '.join(GIVEN)} nor one of "
                    f"its fields: {', '.join(fields)}."
                )
        _ = self.arguments  # evaluated for its checks
