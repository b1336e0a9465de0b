"""docs/parts.md lists every class of parts with a picture, and the pictures are what
docs/pictures.py draws."""

from __future__ import annotations

import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from quirkpy.parts.json import PART_TYPES

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PICTURES = sorted((DOCS / "pictures").iterdir())
#: A row of a table: a class, maybe with its arguments, its picture, and what is said of it.
ROW = re.compile(r"^\| `(\w+)(?:\(.*?\))?` \| !\[(.+?)\]\((.+?)\) \| ([^|\s].*) \|$", re.MULTILINE)
ROWS = ROW.findall((DOCS / "parts.md").read_text(encoding="utf-8"))
LARGEST = 10_000


def title(svg: str) -> str:
    """What a picture says to those who cannot see it."""
    return unescape(re.findall(r"<title>(.*?)</title>", svg, re.DOTALL)[0])


def words(svg: str) -> list[str]:
    """What is written in a picture."""
    return re.findall(r"<text .*?>(.*?)</text>", svg, re.DOTALL)


def program(svg: str) -> list[str]:
    """The program that wrote it, and its version."""
    return re.findall(r"Matplotlib v[^,<]*", svg)


def test_every_class_has_one_row() -> None:
    assert sorted(name for name, *_ in ROWS) == sorted(PART_TYPES)


@pytest.mark.parametrize(
    ("name", "alternative", "source", "rest"), ROWS, ids=[name for name, *_ in ROWS]
)
def test_row_shows_the_picture_of_its_class(
    name: str, alternative: str, source: str, rest: str
) -> None:
    assert source == f"pictures/{name}.svg"
    svg = (DOCS / source).read_text(encoding="utf-8")
    assert alternative == title(svg)
    assert rest
    assert len(svg) < LARGEST


def test_no_picture_is_left_over() -> None:
    assert {path.name for path in PICTURES} == {f"{name}.svg" for name in PART_TYPES}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pictures as they are drawn now."""
    pytest.importorskip(
        "matplotlib", reason="matplotlib, which draws the pictures, is not installed"
    )
    folder = tmp_path_factory.mktemp("pictures")
    done = subprocess.run(
        [sys.executable, DOCS / "pictures.py", folder], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_pictures_are_drawn_as_they_are_kept(drawn: Path) -> None:
    """To the byte by the version of matplotlib that drew them; by any other with the same words."""
    assert sorted(path.name for path in drawn.iterdir()) == [path.name for path in PICTURES]
    for path in PICTURES:
        old, new = path.read_text(encoding="utf-8"), (drawn / path.name).read_text(encoding="utf-8")
        assert (title(new), words(new)) == (title(old), words(old)), path.name
        assert program(new) != program(old) or new == old, (
            f"{path.name}: run python docs/pictures.py"
        )
