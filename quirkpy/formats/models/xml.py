"""XML files from other sources, read safely: no document type, so no entities; limits of size,
depth and number; and references to files only below a folder.

The standard library's expat parses the file; a document type, with which entities would be
declared, raises an error at once."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

import numpy as np

from quirkpy.maths.types import Floats
from quirkpy.parts.checks import show
from quirkpy.parts.files import readable
from quirkpy.parts.part import PartError, sentence_of

#: Largest size of a file [bytes], nesting depth, and number of elements.
MOST_BYTES, MOST_DEPTH, MOST_ELEMENTS = 1 << 26, 200, 400_000


@dataclass
class XmlElement:
    """One element: its tag, its attributes, its contents, and its place; behind: the element that
    supplies omitted attributes."""

    tag: str
    attributes: dict[str, str]
    file: Path
    line: int
    children: list[XmlElement] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    known: bool = False
    behind: XmlElement | None = None

    def get(self, name: str, otherwise: str | None = None) -> str | None:
        """The text of an attribute, which is marked as read."""
        self.asked.add(name)
        if name in self.attributes:
            return self.attributes[name]
        return otherwise if self.behind is None else self.behind.get(name, otherwise)

    def flag(self, name: str, otherwise: bool = False) -> bool:
        """Whether an attribute is "true"."""
        found = self.get(name)
        return otherwise if found is None else found == "true"

    def text(self, name: str) -> str:
        """The text of a required attribute."""
        found = self.get(name)
        if found is None:
            raise self.refuse(f"<{self.tag}> has no {name}; give one.")
        return found

    def numbers(self, name: str, least: int, most: int | None = None) -> Floats | None:
        """The finite numbers of an attribute, with bounds of their count; None where there is
        none."""
        found = self.get(name)
        return None if found is None else self._numbers(name, found, least, most or least)

    def _numbers(self, name: str, found: str, least: int, most: int) -> Floats:
        words = found.replace(",", " ").split()
        try:
            values = [float(word) for word in words]
        except ValueError:
            raise self.refuse(
                f"{name} of <{self.tag}> is {show(found)}, but must be made of numbers."
            ) from None
        if not least <= len(values) <= most or not all(map(math.isfinite, values)):
            count = str(least) if least == most else f"{least} to {most}"
            raise self.refuse(
                f"{name} of <{self.tag}> is {show(found)}, but must be {count} finite numbers."
            )
        return np.array(values)

    def number(self, name: str, otherwise: float | None = None) -> float | None:
        """The number of an attribute."""
        found = self.numbers(name, 1)
        return otherwise if found is None else float(found[0])

    def find(self, tag: str) -> XmlElement | None:
        """The first child of a tag."""
        return next(self.all(tag), None)

    def all(self, *tags: str) -> Iterator[XmlElement]:
        """The children with some tags (with any, if none is given), in their order; they are marked
        as read."""
        for child in self.children:
            if not tags or child.tag in tags:
                child.known = True
                yield child

    def walk(self) -> Iterator[XmlElement]:
        """This element and all within it."""
        yield self
        for child in self.children:
            yield from child.walk()

    def refuse(self, sentence: str) -> PartError:
        """The error with the place of the element."""
        return PartError(f"{self.file.name}, line {self.line}: {sentence}", code="content")


class _Builder:
    """Builds elements from the events of the parser."""

    def __init__(self, place: Path, who: str) -> None:
        self.place, self.who = place, who
        self.root: XmlElement | None = None
        self.open: list[XmlElement] = []
        self.count = 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._begin
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._refuse_document_type

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if len(self.open) >= MOST_DEPTH or self.count > MOST_ELEMENTS:
            self._refuse(
                f"holds more than {MOST_DEPTH} elements within each other, or more than "
                f"{MOST_ELEMENTS} in all; no model needs as many"
            )
        made = XmlElement(tag, attributes, self.place, self.parser.CurrentLineNumber)
        if self.open:
            self.open[-1].children.append(made)
        else:
            self.root = made
        self.open.append(made)

    def _end(self, tag: str) -> None:
        self.open.pop()

    def _refuse_document_type(self, *_: object) -> None:
        self._refuse("has a document type (<!DOCTYPE>), which no model needs; take it out")

    def _refuse(self, why: str) -> NoReturn:
        raise PartError(f"{self.who}: {str(self.place)!r} {why}.", code="content")


def read_elements(path: object, who: str) -> XmlElement:
    """The root element of a file."""
    place = readable(path, who)
    try:
        with open(place, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise PartError(
            f"{who}: {str(place)!r} cannot be read: {error.strerror}.", code="file"
        ) from None
    if len(data) > MOST_BYTES:
        raise PartError(
            f"{who}: {str(place)!r} has more than {MOST_BYTES} bytes; no model needs.",
            code="content",
        )
    builder = _Builder(place, who)
    try:
        builder.parser.Parse(data, True)
    except (expat.ExpatError, LookupError, UnicodeError, ValueError) as error:
        if isinstance(error, PartError):
            raise
        raise PartError(
            f"{who}: {str(place)!r} is no XML: {sentence_of(error)}.", code="content"
        ) from None
    assert builder.root is not None  # expat refuses a file without an element
    return builder.root


# --- files that files name ------------------------------------------------------------------------
def place_below(root: Path, base: Path, name: str, endings: tuple[str, ...]) -> Path:
    """The file named in a document, relative to the folder `base`; an error where it lies outside
    of `root`, links followed, or has none of the endings. No message names it, so that equal
    findings on many files are combined."""
    if "\0" in name:
        raise PartError("its name holds a zero character, which no path may", code="file")
    place = Path(os.path.realpath(base / name.replace("\\", "/")))
    if not place.is_relative_to(os.path.realpath(root)):
        raise PartError(
            f"its file lies outside of {str(root)!r}, below which files are read (root= names "
            "another)",
            code="content",
        )
    if place.suffix.lower() not in endings:
        raise PartError(f"its file ends in none of {', '.join(endings)}", code="file")
    if not place.is_file():
        raise PartError("its file is not there", code="content")
    return place
