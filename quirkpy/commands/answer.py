"""`Answer`: the result of a command."""

from __future__ import annotations

from typing import Any, NamedTuple


class Answer(NamedTuple):
    """The result of a command: as text, and as data for programs."""

    text: str
    data: Any
