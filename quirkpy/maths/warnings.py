"""What is likely a mistake, said once: warnings, and angles that look as if they were degrees."""

from __future__ import annotations

import contextlib
import math
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextvars import ContextVar

#: Doubts of angles that somebody has been told of; whether a document is read.
TOLD: set[str] = set()
READING: ContextVar[bool] = ContextVar("READING", default=False)
#: The package, whose own lines nobody is warned at.
HOUSE = __name__.partition(".")[0]
#: One degree [rad]: ``qp.deg * 20``.
deg = math.pi / 180.0
#: Beyond a whole turn, what people write in degrees is a multiple of one of these, but for
#: rounding: the angles of things with three, four, five, six, eight or ten sides are among them.
DEGREES, ROUNDED = (5.0, 12.0, 18.0, 22.5), 1e-9
#: A hundredth of a degree [rad], of which turns and what `deg` makes have whole numbers, but for
#: rounding.
FINE, AS_WRITTEN = 0.01 * deg, 1e-12


class PartWarning(UserWarning):
    """What is likely a mistake, or was found damaged: one sentence that names it and the way
    out."""


def warn(sentence: str) -> None:
    """Warn of something, at the line outside this package that has led to it."""
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == HOUSE:
        frame, depth = frame.f_back, depth + 1
    warnings.warn(sentence, PartWarning, stacklevel=depth)


def in_radians(angle: float) -> str:
    """The end of a sentence about a number that is hardly an angle in radians."""
    return (
        f"is {angle:g}, which is an angle in radians; {angle:g} degrees are {angle * deg:.3g}, and "
        f"qp.deg * {angle:g} "
        "says so"
    )


def doubt_degrees(who: str, angle: float) -> None:
    """Warn of an angle of more than a turn that is a round number of degrees: turns are multiples
    of 2 pi, of which none is."""
    doubt_any(who, (angle,))


def doubt_any(who: str, angles: Iterable[float]) -> bool:
    """Warn of the first of some angles that looks like degrees: more than a turn, and a round
    number of them; returns whether one does."""
    for angle in angles:
        if abs(angle) > 2.0 * math.pi and any(
            abs(math.remainder(angle, step)) <= ROUNDED * abs(angle) for step in DEGREES
        ):
            tell_once_read(f"{who} {in_radians(angle)}.")
            return True
    return False


def doubt_beyond_a_turn(who: str, angle: float) -> None:
    """Warn of an angle of more than a turn, round in degrees or not, unless it is a whole number of
    hundredths of a degree: then it was written with pi or `deg`, as turns are."""
    if abs(angle) > 2.0 * math.pi and abs(math.remainder(angle, FINE)) > AS_WRITTEN * abs(angle):
        tell_once_read(f"{who} {in_radians(angle)}.")


def tell_once_read(sentence: str) -> None:
    """Warn, unless a document is read and somebody has been told of the part that it was written
    of."""
    if not (READING.get() and sentence in TOLD):
        warn(sentence)
    TOLD.add(sentence)


@contextlib.contextmanager
def reading() -> Iterator[None]:
    """While a document is read, what has been told of the parts that were written is not told
    again."""
    before = READING.set(True)
    try:
        yield
    finally:
        READING.reset(before)
