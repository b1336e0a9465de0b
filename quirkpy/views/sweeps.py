"""What changes over the points of a sweep, as a table and as charts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from quirkpy.explore.sweep import Sweep
from quirkpy.parts.checks import show
from quirkpy.parts.part import PartError
from quirkpy.views.curves import Line, Panel, Sheet
from quirkpy.views.listings import Listing, figure


def listing_of(sweep: Sweep) -> Listing:
    """A row for each point: its parameters and its figures; columns of which nothing is known are
    left out."""
    columns = {
        name: values
        for name, values in sweep.table().items()
        if any(value is not None for value in values)
    }
    rows = [tuple(map(cell, row)) for row in zip(*columns.values(), strict=True)]
    return Listing(repr(sweep), tuple(columns), rows)


def cell(value: Any) -> str:
    """A parameter or a figure in a table."""
    return figure(value) if value is None or isinstance(value, float) else str(value)


def sheet_of(sweep: Sweep, over: str | None, charted: Mapping[str, str]) -> Sheet:
    """A panel for each figure that is known; a curve for each choice of the other parameters."""
    names = list(sweep[0].parameters)
    name = names[0] if over is None else over
    if name not in names:
        raise PartError(
            f"plot: {show(over)} is no parameter; there are: {', '.join(names)}.", code="name"
        )
    table = sweep.table()
    x, numbers = places(table[name])
    label = name if numbers else f"{name}: {', '.join(map(str, dict.fromkeys(table[name])))}"
    panels = [
        Panel(said, label, said, np.unique(x), lines_of(sweep, name, x, word))
        for word, said in charted.items()
        if any(value is not None for value in table[word])
    ]
    return Sheet(tuple(panels), 1)


def places(values: list[Any]) -> tuple[Any, bool]:
    """Values of a parameter as numbers on an axis, their order where they are none; and whether
    they are numbers."""
    if all(isinstance(value, (int, float)) for value in values):
        return np.array(values, dtype=float), True
    order = list(dict.fromkeys(map(str, values)))
    return np.array([order.index(str(value)) for value in values], dtype=float), False


def lines_of(sweep: Sweep, over: str, x: Any, word: str) -> tuple[Line, ...]:
    """A figure over a parameter, for each choice of the others; nan where it is not known."""
    axis = np.unique(x)
    curves: dict[str, Any] = {}
    for point, place in zip(sweep, x, strict=True):
        others = (f"{n}={v}" for n, v in point.parameters.items() if n != over)
        curve = curves.setdefault(", ".join(others) or word, np.full(len(axis), np.nan))
        value = point.figures[word]
        curve[np.searchsorted(axis, place)] = np.nan if value is None else value
    return tuple(Line(name, curve) for name, curve in curves.items())
