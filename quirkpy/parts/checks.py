"""Checks of the fields of parts: each converts a user's value into the stored one or says what is
wrong.

A check raises ValueError or TypeError with the end of a sentence ("is -1.0, but must be positive");
`Part` prefixes the part and the field."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from numbers import Real
from typing import Any, get_args

import numpy as np

from quirkpy.maths.types import Floats, Ints
from quirkpy.maths.warnings import in_radians

#: Characters forbidden in names: those that XML 1.0 excludes, and control characters of terminals.
UNWRITABLE = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def show(value: Any) -> str:
    """A value as shown in a sentence: on one line, shortened where it is long."""
    line = " ".join(repr(value).split())
    return line if len(line) <= 100 else line[:97] + "..."


def how_many(n: int, one: str, many: str = "") -> str:
    """A number and a noun as they stand in a sentence: "1 node", "2 nodes"."""
    return f"{n} {one if n == 1 else many or one + 's'}"


def text(value: Any) -> str:
    """A name: characters on one line, not all blank, that files can contain and terminals can
    show."""
    if not isinstance(value, str) or not value.strip() or len(value.splitlines()) > 1:
        raise TypeError(f"is {show(value)}, but must be a text of one line that is not empty")
    wrong = UNWRITABLE.search(value)
    if wrong:
        raise ValueError(
            f"is {show(value)}, but holds {wrong[0]!r}, which not every file can; leave it out"
        )
    return value


def number(value: Any) -> float:
    """A finite real number."""
    if type(value) is float and math.isfinite(value):
        return value  # the usual case, without conversion to an array
    try:
        array = real(value)
    except TypeError:
        raise TypeError(f"is {show(value)}, but must be one number") from None
    if array.ndim != 0:
        raise TypeError(f"is {show(value)}, but must be one number")
    out = float(array)
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


def angle_up_to(most: float, words: str) -> Callable[[Any], float]:
    """A positive angle [rad] up to a largest one, described by words; a larger value was meant in
    degrees."""

    def check(value: Any) -> float:
        out = positive(value)
        if out > most:
            raise ValueError(f"{in_radians(out)}; it must not be above {words}")
        return out

    return check


def below(most: float) -> Callable[[Any], float]:
    """A positive number below a bound."""

    def check(value: Any) -> float:
        out = positive(value)
        if out >= most:
            raise ValueError(f"is {out:g}, but must be below {most:g}")
        return out

    return check


def share(value: Any) -> float:
    """A positive number less than one."""
    return below(1.0)(value)


def small(value: Any) -> float:
    """A displacement [m] or [rad], zero or above, of no more than half a turn; a larger value was
    meant in degrees."""
    return 0.0 if number(value) == 0.0 else angle_up_to(math.pi, "pi")(value)


def small_of_either_sense(value: Any) -> float:
    """A displacement [m] or [rad] of no more than half a turn, in either sense."""
    out = number(value)
    return math.copysign(small(abs(out)), out)


def whole(value: Any) -> int:
    """An integer, zero or above."""
    if type(value) is not int or value < 0:
        raise TypeError(f"is {show(value)}, but must be a whole number from 0 up")
    return value


def flag(value: Any) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"is {show(value)}, but must be True or False")
    return bool(value)


def numbers(value: Any, shape: tuple[int, ...]) -> Any:
    """An array of finite numbers of the given shape, as nested tuples of floats."""
    array = real(value)
    if array.shape != shape:
        raise ValueError(f"has shape {array.shape}, but must have shape {shape}")
    out = _tuples(array)
    # Usually few numbers: for these faster than numpy
    if not all(map(math.isfinite, array.ravel().tolist())):
        raise ValueError(f"is {show(out)}, but every number must be finite")
    return out


def is_triple(value: Any) -> bool:
    """Whether a value is already in the form of `vector`: a tuple of three finite floats."""
    if type(value) is not tuple or len(value) != 3:
        return False
    a, b, c = value
    return (
        type(a) is type(b) is type(c) is float
        and math.isfinite(a)
        and math.isfinite(b)
        and math.isfinite(c)
    )


def real(value: Any) -> Floats:
    """Real numbers as an array of any shape: no strings, no booleans, no complex numbers, no ragged
    lists."""
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O" and not all(isinstance(item, Real) for item in array.flat):
            raise TypeError
        if array.dtype.kind not in "iufO":
            raise TypeError
        return array.astype(float)
    except (OverflowError, TypeError, ValueError):
        raise TypeError(f"is {show(value)}, but must be made of real numbers") from None


def is_list(value: Any) -> bool:
    """Whether a value is a tuple, a list, or an array that is not a single number."""
    return isinstance(value, (tuple, list)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def steady(value: Any) -> Any:
    """Any value made immutable: lists and arrays become tuples."""
    plain = value.tolist() if isinstance(value, np.ndarray) else value
    if type(plain) in (list, tuple):
        plain = tuple(steady(item) for item in plain)
    try:
        hash(plain)
    except TypeError:
        raise TypeError(
            f"is {show(value)}, which can change later; give a tuple or another part"
        ) from None
    return plain


def vector(value: Any) -> Any:
    """Three finite numbers."""
    # The usual case, without conversion to an array
    return value if is_triple(value) else numbers(value, (3,))


def lengths(value: Any) -> Any:
    """Three positive numbers, such as the sides of a box."""
    out = vector(value)
    if min(out) <= 0.0:
        raise ValueError(f"is {out}, but all three must be positive")
    return out


def direction(value: Any) -> Any:
    """Three finite numbers that are not all zero; their length is kept."""
    out = vector(value)
    if math.hypot(*out) == 0.0:
        raise ValueError("has zero length, but must point somewhere")
    return out


def texts(value: Any) -> tuple[str, ...]:
    """A list of names."""
    if isinstance(value, tuple) and all(type(name) is str for name in value):
        return value
    if not isinstance(value, (tuple, list)) or not all(isinstance(name, str) for name in value):
        raise TypeError(f"is {show(value)}, but must be a list of names")
    return tuple(value)


def whole_numbers(value: Any) -> Ints:
    """Integers as an array of any shape."""
    given = real(value)
    with np.errstate(all="ignore"):
        out = given.astype(np.int64)
    if not (out == given).all():
        raise ValueError(f"is {show(given.tolist())}, but must be made of whole numbers")
    return np.asarray(out)


def optional(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A check that allows None too."""
    return lambda value: None if value is None else check(value)


def word(options: Any) -> Callable[[Any], Any]:
    """One of the words of a `Literal`."""
    words = get_args(options)

    def check(value: Any) -> Any:
        if not isinstance(value, str) or value not in words:
            raise ValueError(f"is {show(value)}, but must be one of {', '.join(map(repr, words))}")
        return value

    return check


def instance(*kinds: type) -> Callable[[Any], Any]:
    """An object of one of the given classes."""
    words = " or a ".join(kind.__name__.removeprefix("Base") for kind in kinds)

    def check(value: Any) -> Any:
        if not isinstance(value, kinds):
            raise TypeError(f"is {show(value)}, but must be a {words}")
        return value

    return check


def _tuples(array: Floats) -> Any:
    """Numbers as nested tuples of floats."""
    rows = array.tolist()
    if array.ndim < 2:
        return tuple(rows) if array.ndim else rows
    return tuple(map(tuple, rows)) if array.ndim == 2 else tuple(map(_tuples, array))
