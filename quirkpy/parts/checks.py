"""What a field of a part may be: each check turns a user's value into the stored one or says what is wrong.

A check raises ValueError or TypeError with the end of a sentence ("is -1.0, but must be positive"); `Part`
puts the part and the field in front of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
#: Three numbers: a tuple, a list or an array of shape (3,).  Parts store a tuple of floats.
Vector: TypeAlias = Sequence[float] | Floats
Axis: TypeAlias = Literal["x", "y", "z"]
AXES: tuple[Axis, ...] = get_args(Axis)


def text(value: Any) -> str:
    """A name: some characters, not all of them blank."""
    if not isinstance(value, str) or not value.strip():
        raise TypeError(f"is {value!r}, but must be a text that is not empty")
    return value


def number(value: Any) -> float:
    """A finite real number."""
    if isinstance(value, (bool, str)) or np.ndim(value) != 0:
        raise TypeError(f"is {value!r}, but must be one number")
    try:
        out = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"is {value!r}, but must be one number") from None
    if not math.isfinite(out):
        raise ValueError(f"is {out}, but must be finite")
    return out


def positive(value: Any) -> float:
    """A finite number above zero."""
    out = number(value)
    if out <= 0.0:
        raise ValueError(f"is {out}, but must be positive")
    return out


def not_negative(value: Any) -> float:
    """A finite number, zero or above."""
    out = number(value)
    if out < 0.0:
        raise ValueError(f"is {out}, but must not be negative")
    return out


def flag(value: Any) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"is {value!r}, but must be True or False")
    return bool(value)


def numbers(value: Any, shape: tuple[int, ...]) -> Any:
    """An array of finite numbers of the given shape, as nested tuples of floats."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise TypeError(f"is {value!r}, but must be numbers of shape {shape}") from None
    if array.shape != shape:
        raise ValueError(f"has shape {array.shape}, but must have shape {shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"is {_brief(array)}, but every number must be finite")
    return _tuples(array)


def vector(value: Any) -> Any:
    """Three finite numbers."""
    return numbers(value, (3,))


def lengths(value: Any) -> Any:
    """Three positive numbers, such as the sides of a box."""
    out = vector(value)
    if min(out) <= 0.0:
        raise ValueError(f"is {out}, but all three must be positive")
    return out


def direction(value: Any) -> Any:
    """Three finite numbers that are not all zero; kept at the length that the user gave."""
    out = vector(value)
    if math.hypot(*out) == 0.0:
        raise ValueError("has zero length, but must point somewhere")
    return out


def optional(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same check, but None is allowed too."""
    return lambda value: None if value is None else check(value)


def word(options: Any) -> Callable[[Any], Any]:
    """One of the words of a `Literal`."""
    words = get_args(options)

    def check(value: Any) -> Any:
        if value not in words:
            raise ValueError(f"is {value!r}, but must be one of {', '.join(map(repr, words))}")
        return value

    return check


def instance(*kinds: type) -> Callable[[Any], Any]:
    """An object of one of the given classes."""

    def check(value: Any) -> Any:
        if not isinstance(value, kinds):
            raise TypeError(f"is {value!r}, but must be a {' or a '.join(k.__name__ for k in kinds)}")
        return value

    return check


def unit(value: Vector) -> Floats:
    """A direction as a unit vector (3,)."""
    array = np.asarray(value, dtype=float)
    return np.asarray(array / math.hypot(*array))


def _tuples(array: Floats) -> Any:
    return tuple(_tuples(row) if row.ndim else float(row) for row in array)


def _brief(array: Floats) -> str:
    return str(tuple(array.tolist())) if array.ndim == 1 else str(array.tolist())
