"""What every refusal keeps: one sentence on one line that names the part and says what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import quirkpy as qp

#: A refusal that a test expects: what is done, whose name the sentence carries, further words in
#: it.
Case = tuple[Callable[[], Any], str, tuple[str, ...]]


def case(make: Callable[[], Any], name: str, *words: str, id: str) -> Any:
    """A row of a table of refusals."""
    return pytest.param(make, name, words, id=id)


def check_refused(make: Callable[[], Any], name: str, words: tuple[str, ...]) -> None:
    """It raises PartError; its text is a sentence with the given words."""
    with pytest.raises(qp.PartError) as caught:
        make()
    check_sentence(str(caught.value), name, words)


def check_sentence(sentence: str, name: str, words: tuple[str, ...]) -> None:
    assert "\n" not in sentence
    assert sentence.endswith(".")
    assert not sentence.endswith("..")
    assert len(sentence) < 400
    for word in (name, *words):
        assert word in sentence, sentence
