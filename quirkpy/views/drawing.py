"""`Drawing`: a finished picture, and the common style of all pictures."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from quirkpy.parts.files import check_writable, ending_of, replacing
from quirkpy.parts.part import PartError

#: Colours that can be distinguished by the colour-blind (Okabe and Ito), and dashes that can be
#: without colour.
LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d31")
DASHES = (
    "-",
    (0, (5, 1.5)),
    (0, (1.5, 1.2)),
    (0, (6, 1.5, 1.5, 1.5)),
    "-",
    (0, (5, 1.5)),
    (0, (1.5, 1.2)),
    "-",
)
INK, PALE = "#2b2f36", "#6d7480"
#: The style of every picture: plain fonts of one size, thin axes, and reproducible bytes.
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "axes.titlesize": 9.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": PALE,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dde1e6",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "lines.linewidth": 1.5,
    "legend.frameon": False,
    "svg.hashsalt": "quirkpy",
    "pdf.fonttype": 42,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-4, 5),
}
#: Formats of pictures, with the metadata that contain the date, which are omitted.
DATED: dict[str, dict[str, Any]] = {
    ".png": {},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}


@contextlib.contextmanager
def style(what: str) -> Iterator[None]:
    """Draw in the common style; an error message where matplotlib is missing. Other settings are
    restored afterwards."""
    try:
        import matplotlib
    except ImportError as error:
        raise PartError(
            f"{what}: this needs matplotlib; pip install 'quirkpy[plots]' brings it.",
            code="install",
        ) from error
    with matplotlib.rc_context(STYLE):
        yield


def blank(width: float, height: float, layout: Any = None) -> Any:
    """An empty figure of a size [inches] without a window; within `style`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout=layout)
    FigureCanvasAgg(figure)
    return figure


def check_path(path: str | os.PathLike[str], what: str) -> Path:
    """A path that can be written to, whose ending determines the format."""
    return check_writable(ending_of(path, what, tuple(DATED)), what)


class Drawing:
    """A picture: ``drawing.save("energy.svg")``; as the last line of a cell of a notebook it is
    displayed.

    figure: the `matplotlib.figure.Figure`, for further changes.  No window and no
    `pyplot` is involved."""

    def __init__(self, figure: Any) -> None:
        self.figure = figure

    def __repr__(self) -> str:
        width, height = self.figure.get_size_inches()
        return f"Drawing({width:.3g} x {height:.3g} inches; save('name.svg') writes it)"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as .png, .svg or .pdf, with reproducible bytes."""
        place = check_path(path, "save")
        with style("save"), replacing(place, "save") as file:
            self.figure.savefig(
                file, format=place.suffix[1:], dpi=200, metadata=DATED[place.suffix]
            )

    def save_to(self, path: str | os.PathLike[str] | None) -> Drawing:
        """The drawing, written to a path if there is one."""
        if path is not None:
            self.save(path)
        return self

    def png(self, dpi: int = 110) -> bytes:
        """The drawing as the bytes of a PNG."""
        out = io.BytesIO()
        with style("png"):
            self.figure.savefig(out, format="png", dpi=dpi)
        return out.getvalue()

    def _repr_png_(self) -> bytes:
        return self.png()
