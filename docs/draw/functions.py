"""Pictures of functions of time."""

from __future__ import annotations

from draw import card
from draw.card import FREE, INK, PALE, Card


def sine(on: Card) -> None:
    """A sine about a mean, with its amplitude."""
    on.plot("t", "value")
    on.line((24, 58), (144, 58), colour=PALE, dashed=True)
    on.line(
        *((26 + t, 58 + 26 * card.sine(6.4 * t)) for t in range(0, 113, 2)), colour=FREE, width=1.4
    )
    on.arrow((40, 58), (40, 84), colour=INK, width=0.9)
    on.text((54, 94), "amplitude")
    on.text((136, 66), "mean", PALE)


def ramp(on: Card) -> None:
    """A line that goes on at all times."""
    on.plot("t", "value")
    on.line((26, 34), (142, 92), colour=FREE, width=1.4)
    on.line((66, 54), (106, 54), (106, 74), colour=PALE, width=0.8)
    on.text((120, 62), "rate", INK)


def sum(on: Card) -> None:
    """Two functions of time, and above them both added up."""
    on.plot("t", "one + two")
    on.line((26, 30), (142, 52), colour=PALE, width=0.9)
    on.line(
        *((26 + t, 32 + 8 * card.sine(9 * t)) for t in range(0, 113, 2)), colour=PALE, width=0.9
    )
    on.line(
        *((26 + t, 50 + 0.28 * t + 14 * card.sine(9 * t)) for t in range(0, 113, 2)),
        colour=FREE, width=1.4,
    )  # fmt: skip


def product(on: Card) -> None:
    """A wave within a window that opens and closes."""
    on.plot("t", "one * two")
    windows = [(26 + t, 32 * card.smooth(min(1, min(t, 112 - t) / 40))) for t in range(0, 113, 2)]
    for side in (1, -1):
        on.line(*((x, 58 + side * w) for x, w in windows), colour=PALE, width=0.8, dashed=True)
    on.line(*((x, 58 + w * card.sine(14 * (x - 26))) for x, w in windows), colour=FREE, width=1.4)
