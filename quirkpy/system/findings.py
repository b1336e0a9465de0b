"""`Finding`: a remark on a model that is valid, but probably contains a mistake."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

#: Largest number of names in a sentence.
NAMED = 4


class Finding(NamedTuple):
    """A remark on a model. A `PartError` refuses a model; a finding does not.

    code: words that never change, by which programs distinguish findings; sentence: the problem and
    a remedy; part: the name of the part concerned, or an empty string for several parts."""

    code: str
    sentence: str
    part: str = ""


class Findings:
    """The remarks collected on a model; equal remarks on several parts are combined."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], list[str]] = {}

    def tell(self, code: str, sentence: str, part: str = "") -> None:
        """Add a remark; `{}` in the sentence is replaced by the part, or by the names of all parts
        with an equal remark."""
        self.found.setdefault((code, sentence), []).append(part)

    def all(self) -> tuple[Finding, ...]:
        """All findings, in the order in which they were first added."""
        return tuple(
            Finding(code, sentence.replace("{}", list_names(parts)), _single(parts))
            for (code, sentence), parts in self.found.items()
        )


def _single(names: Iterable[str]) -> str:
    """The only name; nothing where there are several."""
    different = set(names)
    return different.pop() if len(different) == 1 else ""


def list_names(names: Iterable[str]) -> str:
    """Some names as part of a sentence; of many the first."""
    every = list(dict.fromkeys(names))
    shown = ", ".join(repr(name) for name in every[:NAMED])
    return shown if len(every) <= NAMED else f"{shown} and {len(every) - NAMED} more"
