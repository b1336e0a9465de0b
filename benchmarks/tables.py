"""A table printer: columns as wide as they need to be, text to the left, numbers to the right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


def table(title: str, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Title, heads and rows as lines of text; floats with two significant digits."""
    cells = [list(heads), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(heads))]
    left = [bool(rows) and isinstance(rows[0][k], str) for k in range(len(heads))]
    lines = [
        "  ".join(c.ljust(w) if flush else c.rjust(w) for c, w, flush in zip(row, widths, left))
        for row in cells
    ]
    return "\n".join([title, *(f"  {line.rstrip()}" for line in lines)])


def _cell(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    if value != value:
        return "refused"
    return f"{value:.2g}" if 1e-2 <= abs(value) < 99.5 or value == 0.0 else _short(value)


def _short(value: float) -> str:
    return f"{value:.0f}" if 99.5 <= abs(value) < 1e6 else f"{value:.0e}"


class Sheet(NamedTuple):
    """A table with what must be said about it."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[object]]
    remarks: Sequence[str] = ()

    def text(self) -> str:
        """For a terminal."""
        return "\n".join(
            [table(self.title, self.heads, self.rows), *(f"  {line}" for line in self.remarks)]
        )

    def markdown(self) -> str:
        """For a page."""
        return "\n\n".join([f"### {self.title}", "\n".join(self.lines()), *self.remarks])

    def lines(self) -> list[str]:
        """The table for a page, line by line."""
        cells = [
            list(self.heads),
            ["---"] * len(self.heads),
            *([_cell(value) for value in row] for row in self.rows),
        ]
        return [f"| {' | '.join(line)} |" for line in cells]


class Measured(NamedTuple):
    """What a section found: sheets to read, and single figures by name, from which targets are
    judged."""

    sheets: list[Sheet]
    figures: dict[str, float]
