"""Functions of numbers written by users and compiled by numba: their checks, and
`CompiledFunction`, a function of time."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quirkpy.maths.cached import cached_property
from quirkpy.maths.constants import TINY
from quirkpy.maths.types import Floats
from quirkpy.parts.checks import number, show
from quirkpy.parts.part import Part
from quirkpy.parts.schedule import Product, Schedule, TimeFunction

#: Times at which derivatives given by users are compared with differences [s], the step of these,
#: and the required agreement.
COMPARED_AT = 0.37, 1.1, 2.9, 7.3
STEP, SAME_RATE = 1e-3, 1e-6


@lru_cache(maxsize=1024)
def parameters_of(function: Callable[..., Any] | None) -> tuple[str, ...]:
    """The names of the arguments of a function."""
    return tuple(inspect.signature(function).parameters) if function else ()


def check_formulas(cls: type[Part], words: Sequence[str], variables: Sequence[str]) -> None:
    """Refuse a class with a formula that has other arguments than the variables and its fields."""
    fields = [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]
    for word in words:
        if word in fields:
            raise TypeError(
                f"{cls.__name__}: {word} is the name of one of its functions and of a field; call "
                "the field otherwise."
            )
        for name in parameters_of(getattr(cls, word, None)):
            if name not in variables and name not in fields:
                raise TypeError(
                    f"{cls.__name__}: {word} asks for {name!r}, which is neither "
                    f"{', '.join(variables)} nor one of its fields: {', '.join(fields)}."
                )


def numbers_of(part: Part, words: Sequence[str], variables: Sequence[str]) -> dict[str, Any]:
    """The fields that are arguments of formulas, each a number or a tuple of numbers."""
    asked = [name for word in words for name in parameters_of(getattr(type(part), word, None))]
    names = dict.fromkeys(name for name in asked if name not in variables)
    return {name: _number_or_numbers(part, name, getattr(part, name)) for name in names}


def _number_or_numbers(part: Part, name: str, value: Any) -> Any:
    try:
        return tuple(map(number, value)) if isinstance(value, tuple) else number(value)
    except (TypeError, ValueError):
        raise part.refuse(
            f"{name} is {show(value)}, but what a formula asks for must be a number or a tuple of "
            "numbers."
        ) from None


def flat(arguments: Mapping[str, Any]) -> tuple[float, ...]:
    """The numbers of an argument, one after the other."""
    values = (value if isinstance(value, tuple) else (value,) for value in arguments.values())
    return tuple(one for some in values for one in some if isinstance(one, float))


def evaluate_formula(part: Part, word: str, values: Mapping[str, Any]) -> float:
    """The value of one of a part's formulas for given variables and fields, in Python."""
    function = getattr(type(part), word)
    made = function(*(values[name] for name in parameters_of(function)))
    try:
        return number(made)
    except (TypeError, ValueError) as error:
        at = {name: value for name, value in values.items() if name in ("t", "x", "rate")}
        told = ", ".join(f"{name} = {value:.12g}" for name, value in at.items())
        raise part.refuse(f"{word} at {told} {error}.") from None


def least_disagreement(
    function: Callable[[float], float], derivative: Callable[[float], float], at: Sequence[float]
) -> tuple[float, float, float, float]:
    """The best agreement of a derivative with differences of its function: the relative error, the
    place, the derivative and the difference quotient."""
    found = []
    for x in at:
        two, one, minus, less = (function(x + k * STEP) for k in (2, 1, -1, -2))
        slope = (8.0 * (one - minus) - (two - less)) / (12.0 * STEP)
        stated = derivative(x)
        size = abs(slope) + abs(stated) + STEP * (abs(one) + abs(minus))
        found.append((abs(slope - stated) / max(size, TINY), x, stated, slope))
    return min(found)


class CompiledFunction(TimeFunction):
    """Base of users' functions of time that numba compiles; a subclass annotates its fields, and
    defines `value`, and where derivatives are needed `rate` and `acceleration`::

        class Chirp(qp.CompiledFunction):
            size: float
            growth: float
            @staticmethod
            def value(t, size, growth):
                return size * math.sin(growth * t * t)

    It gives a number; times a constant vector it is a vector. Argument names: t [s], or a field
    that is a number or a tuple of numbers. Prescribed motions need both derivatives, wheels and
    rest lengths the first; they are compared with differences when the part is constructed."""

    value: ClassVar[Callable[..., Any]]
    rate: ClassVar[Callable[..., Any] | None] = None
    acceleration: ClassVar[Callable[..., Any] | None] = None

    WORDS: ClassVar[tuple[str, ...]] = ("value", "rate", "acceleration")

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        if not callable(getattr(cls, "value", None)):
            raise TypeError(
                f"{cls.__name__}: a compiled function defines value, a function of t and of its "
                "fields."
            )
        check_formulas(cls, cls.WORDS, ("t",))

    def validate(self) -> None:
        _ = self.arguments  # evaluated for its checks
        for of, word in zip(self.WORDS, self.WORDS[1 : 1 + self.smoothness], strict=False):
            self._compare(of, word)

    def _compare(self, of: str, word: str) -> None:
        """Refuse a derivative that disagrees with differences of its function at all times
        tested."""
        off, t, stated, slope = least_disagreement(
            lambda t: self.evaluate(of, t), lambda t: self.evaluate(word, t), COMPARED_AT
        )
        if off > SAME_RATE:
            raise self.refuse(
                f"{word} at t = {t:g} is {stated:.6g}, but differences of {of} give {slope:.6g}; "
                f"correct it, or leave {word} out.",
                code="yours",
            )

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """Fields that are arguments of the formulas, by name."""
        return numbers_of(self, self.WORDS, ("t",))

    def evaluate(self, word: str, t: float) -> float:
        """Value, rate or acceleration at time t [s], in Python."""
        return evaluate_formula(self, word, {"t": t, **self.arguments})

    @property
    def scalar(self) -> bool:
        return True

    @property
    def smoothness(self) -> int:
        """The number of derivatives that it defines."""
        if type(self).rate is None:
            return 0
        return 1 if type(self).acceleration is None else 2

    @property
    def rated(self) -> bool:
        return type(self).rate is not None

    def at(self, t: float) -> NDArray[np.float64]:
        return np.asarray(self.evaluate("value", t))

    def motion(self, t: float) -> tuple[float, float, float]:
        known = self.WORDS[: 1 + self.smoothness]
        x, rate, bend = (self.evaluate(word, t) if word in known else 0.0 for word in self.WORDS)
        return x, rate, bend

    def mapped(self, matrix: Floats) -> TimeFunction:
        return Product((Schedule((0.0,), (matrix[:, 0].tolist(),)), self))

    @property
    def products(self) -> tuple[tuple[TimeFunction, ...], ...]:
        """The product of one, for a possible factor, with this function."""
        return ((Schedule((0.0,), (1.0,)), self),)
