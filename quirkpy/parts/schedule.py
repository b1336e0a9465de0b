"""Functions of time that compile and can be written to JSON, unlike Python functions: schedules,
sines, ramps, and their sums and products."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from quirkpy.maths.types import Floats
from quirkpy.maths.warnings import doubt_degrees
from quirkpy.parts.checks import number, numbers, real, show, word
from quirkpy.parts.part import Part, checked

Interpolation: TypeAlias = Literal["hold", "linear", "smooth"]
#: The position of an interpolation is its number in the tables.
INTERPOLATIONS: tuple[Interpolation, ...] = get_args(Interpolation)
#: Largest number of products in a sum: each is computed in every evaluation.
MOST_TERMS = 64
#: Number of times at which the least value of a function is sought.
SAMPLED = 257


class TimeFunction(Part, ABC):
    """Base of functions of time: of a number, or of a vector (three numbers).

    They can be added and multiplied, also with numbers and constant vectors: ``0.5 * ramp +
    qp.Sine(0.1, 3.0)``, ``window * qp.Sine((0.0, 0.0, 2.0), 3.0)``; one of the factors of a product
    may be a vector."""

    #: Makes numpy leave sums and products with its own numbers to the functions below.
    __array_ufunc__ = None

    @property
    @abstractmethod
    def scalar(self) -> bool:
        """Whether values of the function are plain numbers."""

    @property
    @abstractmethod
    def smoothness(self) -> int:
        """0: it is discontinuous; 1: it is continuous and has a rate; 2: its rate is continuous as
        well."""

    @property
    def rated(self) -> bool:
        """Whether a rate of the function is known wherever it is continuous."""
        return True

    @abstractmethod
    def at(self, t: float) -> NDArray[np.float64]:
        """The value at time t [s]: (3,), or () where its values are plain numbers."""

    @abstractmethod
    def motion(self, t: float) -> tuple[float, float, float]:
        """Value, rate [1/s] and acceleration [1/s2] of a function of numbers at time t [s]."""

    @abstractmethod
    def mapped(self, matrix: Floats) -> TimeFunction:
        """The vectors (3,) times a matrix (3, 3), or numbers times a vector, given as (3, 1)."""

    @property
    def products(self) -> tuple[tuple[TimeFunction, ...], ...]:
        """The function as a sum of products: the factors of each, one that is a vector first."""
        return ((self,),)

    @property
    def stated(self) -> tuple[float, ...]:
        """For a function of numbers, the values in its definition."""
        return ()

    @property
    def lowest(self) -> float:
        """For a function of numbers, its least value at any time, where that follows from its
        definition alone; else -inf."""
        return -math.inf

    def least_within(self, first: float, last: float) -> float:
        """For a function of numbers, its least value at times within a span [s], to the resolution
        of a few hundred samples."""
        times = np.linspace(first, last, SAMPLED)
        return min(float(self.at(t)) for t in times.tolist())

    def __add__(self, other: Any) -> TimeFunction:
        return Sum((*summands(self), *summands(as_function(other))))

    def __radd__(self, other: Any) -> TimeFunction:
        return as_function(other) + self

    def __mul__(self, other: Any) -> TimeFunction:
        return Product((*factors(self), *factors(as_function(other))))

    def __rmul__(self, other: Any) -> TimeFunction:
        return as_function(other) * self

    def __neg__(self) -> TimeFunction:
        return -1.0 * self

    def __sub__(self, other: Any) -> TimeFunction:
        return self + -1.0 * as_function(other)

    def __rsub__(self, other: Any) -> TimeFunction:
        return as_function(other) - self


def as_function(value: Any) -> TimeFunction:
    """A function of time unchanged; a number, or a vector, as a constant function."""
    if isinstance(value, TimeFunction):
        return value
    return Schedule((0.0,), (value,))


def summands(function: TimeFunction) -> tuple[TimeFunction, ...]:
    """The terms of a sum; any other function alone."""
    return tuple(function.terms) if isinstance(function, Sum) else (function,)


def factors(function: TimeFunction) -> tuple[TimeFunction, ...]:
    """The factors of a product; any other function alone."""
    return tuple(function.factors) if isinstance(function, Product) else (function,)


def _times(value: Any) -> Any:
    array = real(value)
    if (
        array.ndim != 1
        or not array.size
        or not np.isfinite(array).all()
        or (np.diff(array) <= 0.0).any()
    ):
        raise ValueError(
            f"is {show(value)}, but must be a list of rising finite times [s], at least one"
        )
    return tuple(array.tolist())


def _values(value: Any) -> Any:
    array = real(value)
    if array.ndim == 0 or array.shape[1:] not in ((), (3,)):
        raise ValueError(
            f"has shape {array.shape}, but must be a list of vectors of three numbers, or of "
            "numbers"
        )
    return numbers(array, array.shape)


def _number_or_vector(value: Any) -> Any:
    """One finite number, or three."""
    array = real(value)
    if array.shape not in ((), (3,)):
        raise ValueError(f"has shape {array.shape}, but must be one number or three")
    return numbers(value, (3,)) if array.ndim else number(value)


def _functions(value: Any) -> Any:
    if not isinstance(value, (tuple, list)) or len(value) < 2:
        raise TypeError(f"is {show(value)}, but must be a list of two functions of time or more")
    for one in value:
        if not isinstance(one, TimeFunction):
            raise TypeError(f"holds {show(one)}, but must hold functions of time alone")
    return tuple(value)


class Schedule(TimeFunction):
    """A vector (three numbers), or a number, as a function of time, given by knots.

    times [s] increase; values: one for each. "hold" keeps a value until the next knot (a knot
    belongs to the interval after it), "linear" interpolates between knots, "smooth" goes from one
    to the next by 10 s^3 - 15 s^4 + 6 s^5 and so is at rest at every knot, with two continuous
    derivatives. Before the first knot the value is the first, after the last knot the last."""

    times: Sequence[float] = checked(_times)
    values: Sequence[Sequence[float]] | Sequence[float] = checked(_values)
    interpolation: Interpolation = checked(word(Interpolation), default="hold")

    def validate(self) -> None:
        if len(self.times) != len(self.values):
            raise self.refuse(
                f"{len(self.times)} times do not go with {len(self.values)} values; give one for "
                "each."
            )

    @property
    def scalar(self) -> bool:
        """Whether values of the schedule are plain numbers."""
        return isinstance(self.values[0], float)

    @property
    def smoothness(self) -> int:
        return 2 if len(self.times) == 1 else INTERPOLATIONS.index(self.interpolation)

    @property
    def stated(self) -> tuple[float, ...]:
        return tuple(self.values) if self.scalar else ()  # type: ignore[arg-type]

    @property
    def lowest(self) -> float:
        return min(self.stated, default=-math.inf)

    def at(self, t: float) -> NDArray[np.float64]:
        """The value at time t [s]: (3,), or () where its values are plain numbers."""
        times, values = np.asarray(self.times), np.asarray(self.values)
        k = max(int(np.searchsorted(times, t, side="right")) - 1, 0)
        if self.interpolation == "hold" or k == len(times) - 1 or t < times[0]:
            return np.asarray(values[k])
        share = (t - times[k]) / (times[k + 1] - times[k])
        if self.interpolation == "smooth":
            share = share**3 * (10.0 - 15.0 * share + 6.0 * share**2)
        return np.asarray(values[k] + share * (values[k + 1] - values[k]))

    def motion(self, t: float) -> tuple[float, float, float]:
        k = int(np.searchsorted(self.times, t, side="right")) - 1
        if k < 0 or k == len(self.times) - 1 or self.interpolation == "hold":
            return float(self.at(t)), 0.0, 0.0
        span = self.times[k + 1] - self.times[k]
        s, way = (t - self.times[k]) / span, float(np.subtract(self.values[k + 1], self.values[k]))
        if self.interpolation == "linear":
            return float(self.at(t)), way / span, 0.0
        rate, bend = 30.0 * s**2 * (1.0 - s) ** 2, 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s)
        return float(self.at(t)), way * rate / span, way * bend / span**2

    def mapped(self, matrix: Floats) -> Schedule:
        values = np.asarray(self.values)
        turned = values[:, None] * matrix.T if self.scalar else values @ matrix.T
        return Schedule(self.times, turned.tolist(), self.interpolation)


class Sine(TimeFunction):
    """mean + amplitude sin(rate t + phase), at all times: ``qp.Sine(0.1, 2.0)``.

    amplitude and mean: numbers, or vectors of three; rate [rad/s], phase [rad]."""

    amplitude: float | Sequence[float] = checked(_number_or_vector)
    rate: float = checked(number)
    phase: float = checked(number, default=0.0)
    mean: float | Sequence[float] = checked(_number_or_vector, default=0.0)

    def validate(self) -> None:
        if self.scalar and not isinstance(self.mean, float):
            raise self.refuse("mean is a vector and amplitude a number; give both as one kind.")
        doubt_degrees("Sine: phase", self.phase)

    @property
    def scalar(self) -> bool:
        """Whether amplitude is a plain number; a mean of zero is compatible with both."""
        return isinstance(self.amplitude, float)

    @property
    def smoothness(self) -> int:
        return 2

    @property
    def stated(self) -> tuple[float, ...]:
        return (self.amplitude, self.mean) if self.scalar else ()  # type: ignore[return-value]

    @property
    def lowest(self) -> float:
        return self.mean - abs(self.amplitude) if self.scalar else -math.inf  # type: ignore

    def at(self, t: float) -> NDArray[np.float64]:
        turn = math.sin(self.rate * t + self.phase)
        return np.asarray(np.asarray(self.mean) + np.asarray(self.amplitude) * turn)

    def motion(self, t: float) -> tuple[float, float, float]:
        turn, a = self.rate * t + self.phase, float(np.asarray(self.amplitude))
        swing = a * math.sin(turn)
        return (
            float(np.asarray(self.mean)) + swing,
            self.rate * a * math.cos(turn),
            -self.rate * self.rate * swing,
        )

    def mapped(self, matrix: Floats) -> Sine:
        both = (np.asarray(matrix @ np.atleast_1d(x)) for x in (self.amplitude, self._mean))
        amplitude, mean = (x.tolist() for x in both)
        return Sine(amplitude, self.rate, self.phase, mean)

    @property
    def _mean(self) -> Any:
        """The mean with as many components as the amplitude."""
        return self.mean if self.scalar else (np.zeros(3) + self.mean)


class Ramp(TimeFunction):
    """value + rate t, at all times: ``qp.Ramp(0.5)`` rotates a drive at 0.5 rad/s.

    rate [1/s] and value (at t = 0): numbers, or vectors of three. For a ramp with a beginning and
    an end use a `Schedule` with linear interpolation."""

    rate: float | Sequence[float] = checked(_number_or_vector)
    value: float | Sequence[float] = checked(_number_or_vector, default=0.0)

    def validate(self) -> None:
        if self.scalar and not isinstance(self.value, float):
            raise self.refuse("value is a vector and rate a number; give both as one kind.")

    @property
    def scalar(self) -> bool:
        """Whether rate is a plain number; a value of zero is compatible with both."""
        return isinstance(self.rate, float)

    @property
    def smoothness(self) -> int:
        return 2

    @property
    def stated(self) -> tuple[float, ...]:
        return (self.value,) if isinstance(self.value, float) else ()

    def at(self, t: float) -> NDArray[np.float64]:
        return np.asarray(np.asarray(self.value) + np.asarray(self.rate) * t)

    def motion(self, t: float) -> tuple[float, float, float]:
        return float(self.at(t)), float(np.asarray(self.rate)), 0.0

    def mapped(self, matrix: Floats) -> Ramp:
        value = self.value if self.scalar else np.zeros(3) + self.value
        rate, value = (np.asarray(matrix @ np.atleast_1d(x)) for x in (self.rate, value))
        return Ramp(rate.tolist(), value.tolist())


class Sum(TimeFunction):
    """Functions of time added up: ``one + two``."""

    terms: Sequence[TimeFunction] = checked(_functions)

    def validate(self) -> None:
        if len({one.scalar for one in self.terms}) > 1:
            raise self.refuse("some of its terms are numbers and others vectors; add one kind.")
        check_products(self)

    @property
    def scalar(self) -> bool:
        return self.terms[0].scalar

    @property
    def smoothness(self) -> int:
        return min(one.smoothness for one in self.terms)

    @property
    def rated(self) -> bool:
        return all(one.rated for one in self.terms)

    @property
    def products(self) -> tuple[tuple[TimeFunction, ...], ...]:
        return tuple(product for one in self.terms for product in one.products)

    @property
    def stated(self) -> tuple[float, ...]:
        return tuple(value for one in self.terms for value in one.stated)

    def at(self, t: float) -> NDArray[np.float64]:
        return np.asarray(np.sum([one.at(t) for one in self.terms], axis=0))

    def motion(self, t: float) -> tuple[float, float, float]:
        x, rate, bend = np.sum([one.motion(t) for one in self.terms], axis=0).tolist()
        return x, rate, bend

    def mapped(self, matrix: Floats) -> Sum:
        return Sum(tuple(one.mapped(matrix) for one in self.terms))


class Product(TimeFunction):
    """Functions of time multiplied: ``window * wave``; one of them may be a vector."""

    factors: Sequence[TimeFunction] = checked(_functions)

    def validate(self) -> None:
        if sum(not one.scalar for one in self.factors) > 1:
            raise self.refuse("more than one of its factors is a vector; one at most may be.")
        check_products(self)

    @property
    def scalar(self) -> bool:
        return all(one.scalar for one in self.factors)

    @property
    def smoothness(self) -> int:
        return min(one.smoothness for one in self.factors)

    @property
    def rated(self) -> bool:
        return all(one.rated for one in self.factors)

    @property
    def _ordered(self) -> list[TimeFunction]:
        """The factors, a vector first."""
        return sorted(self.factors, key=lambda one: one.scalar)

    @property
    def products(self) -> tuple[tuple[TimeFunction, ...], ...]:
        each = itertools.product(*(one.products for one in self._ordered))
        return tuple(tuple(itertools.chain(*some)) for some in each)

    def at(self, t: float) -> NDArray[np.float64]:
        return np.asarray(math.prod(one.at(t) for one in self._ordered))

    def motion(self, t: float) -> tuple[float, float, float]:
        x, rate, bend = 1.0, 0.0, 0.0
        for y, slope, curve in (one.motion(t) for one in self._ordered):
            x, rate, bend = x * y, rate * y + x * slope, bend * y + 2.0 * rate * slope + x * curve
        return x, rate, bend

    def mapped(self, matrix: Floats) -> Product:
        first, *rest = self._ordered
        return Product((first.mapped(matrix), *rest))


def check_products(function: Sum | Product) -> None:
    """Refuse sums and products that are too expensive to be intended."""
    count = 1
    for one in function.terms if isinstance(function, Sum) else function.factors:
        many = len(one.products)
        count = count - 1 + many if isinstance(function, Sum) else count * many
    if count > MOST_TERMS:
        raise function.refuse(
            f"multiplied out it is a sum of {count} products, but may be one of {MOST_TERMS} at "
            "most; use a smooth Schedule of its values instead."
        )
