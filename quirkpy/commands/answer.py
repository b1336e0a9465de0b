"""`Answer`: what a command says."""

from __future__ import annotations

from typing import Any, NamedTuple


class Answer(NamedTuple):
    """What a command says: to people, and to machines."""

    text: str
    data: Any
