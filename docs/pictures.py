"""The pictures of docs/parts.md: `python docs/pictures.py [folder]` writes one for every class of
parts.

A function in `draw` draws the class of its name; its docstring is what the picture says to those
who cannot see it, and the words that parts.md has for it.  Orange is what may move, blue what
pushes, green what magnets have; the first body is grey, the second sand."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib
from draw import bodies, forces, functions, joints, primitives
from draw.card import SETTINGS, Card


def pictures() -> dict[str, Callable[[Card], None]]:
    """Functions by the name of the class that they draw: point_on_line draws PointOnLine."""
    return {
        name.title().replace("_", ""): draw
        for module in (bodies, functions, joints, forces, primitives)
        for name, draw in vars(module).items()
        if inspect.isfunction(draw)
        and draw.__module__ == module.__name__
        and not name.startswith("_")
    }


def main(folder: Path) -> None:
    """Write all pictures into a folder; no others stay there."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    with matplotlib.rc_context(SETTINGS):
        for name, draw in pictures().items():
            card = Card()
            draw(card)
            card.save(folder / f"{name}.svg", " ".join((inspect.getdoc(draw) or name).split()))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent / "pictures")
