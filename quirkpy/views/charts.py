"""Painting of curves."""

from __future__ import annotations

from typing import Any

import numpy as np

from quirkpy.views.curves import Panel, Sheet
from quirkpy.views.drawing import DASHES, LINES, PALE, Drawing, blank, style

#: Sizes in inches: the width of a single panel, and of one of several side by side, the height, and
#: the widths of the legend and of one of its letters.
ALONE, BESIDE, PANEL_HEIGHT, LEGEND, LETTER = 5.0, 3.3, 2.2, 0.7, 0.075
#: Largest width of a bar, and of several side by side for one time [points].
BAR, BARS = 4.0, 12.0
#: Largest number of letters of a label that fits beside a panel.
LONG = 24


def draw(sheet: Sheet) -> Drawing:
    """A sheet as a figure."""
    with style("plot"):
        n = sheet.columns
        rows = -(-len(sheet.panels) // n)
        letters = max(len(line.name) for panel in sheet.panels for line in panel.lines)
        width = (ALONE if n == 1 else BESIDE * n) + LEGEND + LETTER * letters
        figure = blank(width, PANEL_HEIGHT * rows + 0.3, "constrained")
        grid = figure.subplots(rows, n, squeeze=False)
        flat = list(grid.flat)
        for k, (axes, panel) in enumerate(zip(flat, sheet.panels, strict=False)):
            below = next((other for other in sheet.panels[k + n :: n]), None)
            paint(axes, panel, first=k < n, last=below is None or below.kind == "orbit")
        _one_time(sheet, flat)
        for axes in flat[len(sheet.panels) :]:
            axes.set_axis_off()
        _legends(sheet, flat)
    return Drawing(figure)


def paint(axes: Any, panel: Panel, first: bool, last: bool) -> None:
    """One panel: its curves, the scale, and the marked events."""
    for k in range(len(panel.lines)):
        _curve(axes, panel, k)
    if panel.kind == "orbit":
        _ends(axes, panel)
    _moments(axes, panel, named=first)
    if panel.kind == "log" and not any(np.isfinite(line.values).any() for line in panel.lines):
        _nothing(axes)
    long = len(panel.y_label) > LONG
    axes.set_ylabel(panel.y_label.replace(" [", "\n[") if long else panel.y_label)
    if last:
        axes.set_xlabel(panel.x_label)
    else:
        axes.tick_params(labelbottom=False)


def _curve(axes: Any, panel: Panel, k: int) -> None:
    """One curve of a panel, in the colour and with the dashes of its number."""
    line = panel.lines[k]
    look = {
        "color": LINES[k % len(LINES)],
        "linestyle": DASHES[k % len(DASHES)],
        "label": line.name,
    }
    if panel.kind == "bars":
        colour, beside = LINES[k % len(LINES)], k - 0.5 * (len(panel.lines) - 1)
        wide = min(BAR, BARS / len(panel.lines))
        bars = axes.vlines(panel.x, 0.0, line.values, color=colour, linewidth=wide, label=line.name)
        bars.set_transform(axes.transData + _shift(axes, wide * beside))
        axes.axhline(0.0, color=PALE, linewidth=0.8)
    elif panel.kind == "log":
        axes.semilogy(panel.x, line.values, marker=".", markersize=3.0, linewidth=0.7, **look)
    else:
        axes.plot(panel.x, line.values, **look)


def _shift(axes: Any, points: float) -> Any:
    """An offset to the right by a number of points."""
    from matplotlib.transforms import ScaledTranslation

    return ScaledTranslation(points / 72.0, 0.0, axes.figure.dpi_scale_trans)


def _moments(axes: Any, panel: Panel, named: bool) -> None:
    """The marked events: lines across the panel, and their names above it."""
    for t, _ in panel.moments:
        axes.axvline(t, color=PALE, linewidth=0.7, linestyle=(0, (1, 2)), zorder=1)
    if named and panel.moments:
        top = axes.secondary_xaxis("top")
        top.set_xticks(
            [t for t, _ in panel.moments],
            [name for _, name in panel.moments],
            rotation=20,
            ha="left",
        )
        top.tick_params(length=0, labelsize=7.5, colors=PALE)
        top.spines["top"].set_visible(False)


def _nothing(axes: Any) -> None:
    """Text where a logarithmic scale has no values to show."""
    axes.text(
        0.5,
        0.5,
        "zero throughout",
        transform=axes.transAxes,
        ha="center",
        va="center",
        color=PALE,
    )
    axes.set_yticks([])


def _one_time(sheet: Sheet, flat: list[Any]) -> None:
    """Give all panels the same time range."""
    timed = [
        (axes, panel)
        for axes, panel in zip(flat, sheet.panels, strict=False)
        if panel.kind != "orbit"
    ]
    low = min((float(panel.x.min()) for _, panel in timed), default=0.0)
    high = max((float(panel.x.max()) for _, panel in timed), default=1.0)
    margin = 0.01 * (high - low) or 1.0
    for axes, _ in timed:
        axes.set_xlim(low - margin, high + margin)


def _ends(axes: Any, panel: Panel) -> None:
    """Mark the beginning and the end of an orbit."""
    for line in panel.lines:
        there = np.flatnonzero(np.isfinite(line.values))
        if len(there):
            a, b = there[0], there[-1]
            axes.plot(
                panel.x[a],
                line.values[a],
                "o",
                color="white",
                markeredgecolor=LINES[0],
                label="start",
            )
            axes.plot(panel.x[b], line.values[b], "o", color=LINES[0], label="end")


def _legends(sheet: Sheet, flat: list[Any]) -> None:
    """A title above each panel with a single curve; other curves are named to the right of each
    row."""
    n = sheet.columns
    for k, (axes, panel) in enumerate(zip(flat, sheet.panels, strict=False)):
        if n > 1 and (k < n or panel.kind == "orbit"):
            axes.set_title(panel.title, pad=18.0 if panel.moments else 4.0)
        if (k + 1) % n == 0 or k + 1 == len(sheet.panels):
            axes.legend(
                loc="center left", bbox_to_anchor=(1.01, 0.5), borderaxespad=0.0, handlelength=2.6
            )
