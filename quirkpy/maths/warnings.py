"""Warnings of probable mistakes, given once; and angles that look like degrees."""

from __future__ import annotations

import contextlib
import math
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextvars import ContextVar

#: Warnings about angles given so far; whether a document is being read.
TOLD: set[str] = set()
READING: ContextVar[bool] = ContextVar("READING", default=False)
#: The package, whose own lines are skipped when a warning is located.
HOUSE = __name__.partition(".")[0]
#: One degree [rad]: ``qp.deg * 20``.
deg = math.pi / 180.0
#: Angles above a whole turn that are given in degrees are multiples of one of these, up to
#: rounding, among them the angles of regular shapes with three, four, five, six, eight or ten
#: sides.
DEGREES, ROUNDED = (5.0, 12.0, 18.0, 22.5), 1e-9
#: A hundredth of a degree [rad], of which turns and multiples of `deg` are integer multiples, up to
#: rounding.
FINE, AS_WRITTEN = 0.01 * deg, 1e-12


class PartWarning(UserWarning):
    """A probable mistake, or damage that was found: one sentence that names it and a remedy."""


def warn(sentence: str) -> None:
    """Give a warning, at the line outside this package that has caused it."""
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == HOUSE:
        frame, depth = frame.f_back, depth + 1
    warnings.warn(sentence, PartWarning, stacklevel=depth)


def in_radians(angle: float) -> str:
    """The end of a sentence about a number that is probably not an angle in radians."""
    return (
        f"is {angle:g}, which is an angle in radians; {angle:g} degrees are {angle * deg:.3g}, and "
        f"qp.deg * {angle:g} "
        "says so"
    )


def doubt_degrees(who: str, angle: float) -> None:
    """Warn of an angle of more than a turn that is a round number of degrees: no multiple of 2 pi
    is one."""
    doubt_any(who, (angle,))


def doubt_any(who: str, angles: Iterable[float]) -> bool:
    """Warn of the first of some angles that looks like degrees: more than a turn, and a round
    number of degrees; returns whether one does."""
    for angle in angles:
        if abs(angle) > 2.0 * math.pi and any(
            abs(math.remainder(angle, step)) <= ROUNDED * abs(angle) for step in DEGREES
        ):
            tell_once_read(f"{who} {in_radians(angle)}.")
            return True
    return False


def doubt_beyond_a_turn(who: str, angle: float) -> None:
    """Warn of an angle of more than a turn, round in degrees or not, unless it is an integer number
    of hundredths of a degree: then it was given by pi or `deg`."""
    if abs(angle) > 2.0 * math.pi and abs(math.remainder(angle, FINE)) > AS_WRITTEN * abs(angle):
        tell_once_read(f"{who} {in_radians(angle)}.")


def tell_once_read(sentence: str) -> None:
    """Warn, unless a document is being read whose part has caused this warning when it was
    written."""
    if not (READING.get() and sentence in TOLD):
        warn(sentence)
    TOLD.add(sentence)


@contextlib.contextmanager
def reading() -> Iterator[None]:
    """A context for reading a document: warnings given when its parts were written are not
    repeated."""
    before = READING.set(True)
    try:
        yield
    finally:
        READING.reset(before)
