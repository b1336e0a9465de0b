"""docs/architecture.md is short, and its three lines pass the stops that it names, in order."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import quirkpy as qp
from tests.studies import far_pair

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "architecture.md").read_text("utf-8")
MOST_WORDS, MOST_STOPS = 2500, 12


def stops_of(line: str) -> list[str]:
    """The names in the list below the heading of a line of a script."""
    below = PAGE.partition(f"### `{line}`\n")[2].partition("\n#")[0]
    return re.findall(r"^\d+\. `([\w.]+)`: ", below, re.MULTILINE)


def calls_of(work: Callable[[], Any]) -> list[str]:
    """All functions of the package that something calls, by full name, in order."""
    made: list[str] = []

    def notice(frame: FrameType, event: str, _: object) -> None:
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("quirkpy."):
            made.append(f"{module}.{frame.f_code.co_qualname}")

    sys.setprofile(notice)
    try:
        work()
    finally:
        sys.setprofile(None)
    return made


def pendulum() -> qp.Multibody:
    """It hangs from a damped hinge, out of the vertical."""
    bob = qp.Body.sphere("bob", 0.1, 1.0, position=(0.5, 0.0, -1.0))
    hinge = qp.Revolute("hinge", qp.GROUND, bob, at=(0, 0, 0), axis=(0, 1, 0))
    return qp.Multibody(bob, hinge, qp.ViscousHinges(1.0), qp.Gravity((0, 0, -9.81)))


LINES: dict[str, Callable[[], Any]] = {
    "run = system.simulate(10)": lambda: pendulum().simulate(10),
    "rest = system.settle()": lambda: pendulum().settle(),
    "graph = study.explore()": lambda: far_pair().explore(),
}


def test_it_is_short() -> None:
    assert len(PAGE.split()) <= MOST_WORDS


@pytest.mark.parametrize("line", LINES)
def test_the_stops_of_a_line_are_passed_in_order(line: str) -> None:
    stops = stops_of(line)
    assert 5 < len(stops) <= MOST_STOPS
    calls = iter(calls_of(LINES[line]))
    for stop in stops:
        assert stop in calls, f"{stop} is not passed, or not in this place"


def test_every_room_is_named() -> None:
    """Packages and modules at the top, and packages within the explorer and the kernels."""
    package = Path(qp.__file__).parent
    rooms = {path.name for path in package.iterdir() if path.is_dir() and path.name[0] != "_"}
    modules = {path.stem for path in package.glob("*.py")} - {"__init__"}
    inner = {
        path.name
        for room in ("explore", "kernels")
        for path in (package / room).iterdir()
        if path.is_dir() and path.name[0] != "_"
    }
    table = PAGE.partition("| room, from the top")[2].partition("\n\n")[0]
    named = set(re.findall(r"`(\w+)/?`", table))
    assert rooms | modules | inner <= named
    for name in rooms | modules:
        importlib.import_module(f"quirkpy.{name}") if name != "__main__" else None


def test_every_source_that_a_docstring_names_is_there() -> None:
    """By its path within the package, or from the root."""
    package, places = Path(qp.__file__).parent, Path(qp.__file__).parents[1]
    named = {
        (path.relative_to(package).as_posix(), name)
        for path in package.rglob("*.py")
        for name in re.findall(r"`([\w/]+\.py)`", path.read_text("utf-8"))
    }
    gone = {(p, n) for p, n in named if not any((at / n).exists() for at in (package, places))}
    assert len(named) > 5
    assert gone == set()


def test_every_source_that_a_page_names_is_there() -> None:
    root = Path(__file__).resolve().parents[2]
    pages = [root / "README.md", root / "CONTRIBUTING.md", *(root / "docs").glob("*.md")]
    named = {name for page in pages for name in re.findall(r"`([\w/]+\.py)`", page.read_text())}
    places = [root / folder for folder in (".", "quirkpy", "tests", "docs", "demos", "benchmarks")]
    gone = {name for name in named if not any((place / name).exists() for place in places)}
    assert len(named) > 20
    assert not gone
