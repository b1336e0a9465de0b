"""`Finding`: one thing that is told of a model, though it can be as it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

#: As many names stand in a sentence.
NAMED = 4


class Finding(NamedTuple):
    """What a look at a model found.  A `PartError` refuses; a finding lets it be.

    code: words that never change, by which programs tell findings apart; sentence: what is so, and
    the way out; part: the name of the part that it is about, or an empty text where it is about
    several."""

    code: str
    sentence: str
    part: str = ""


class Findings:
    """What is found while a model is looked at; what is said of several parts is said once."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], list[str]] = {}

    def tell(self, code: str, sentence: str, part: str = "") -> None:
        """Tell something; `{}` in the sentence stands for the part, or for the names of all of
        which the same is told."""
        self.found.setdefault((code, sentence), []).append(part)

    def all(self) -> tuple[Finding, ...]:
        """All findings, in the order in which they were first told."""
        return tuple(
            Finding(code, sentence.replace("{}", list_names(parts)), _single(parts))
            for (code, sentence), parts in self.found.items()
        )


def _single(names: Iterable[str]) -> str:
    """The only name; nothing where there are several."""
    different = set(names)
    return different.pop() if len(different) == 1 else ""


def list_names(names: Iterable[str]) -> str:
    """Some names as they stand in a sentence; of many the first."""
    every = list(dict.fromkeys(names))
    shown = ", ".join(repr(name) for name in every[:NAMED])
    return shown if len(every) <= NAMED else f"{shown} and {len(every) - NAMED} more"
