"""Documents that somebody has damaged: `from_json` reads them, or says in a sentence why not."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

import quirkpy as qp
from tests.contracts.catalogue import FORCES, PARTS
from tests.faults.sentence import check_refused
from tests.fuzz import CHUNK, check_reading, chunks, mutated, scribbled, uses_of
from tests.motion import floating_chain
from tests.studies import far_pair


@cache
def documents() -> tuple[str, ...]:
    """What `to_json` writes of a part of every kind, of a state, of systems and of a study."""
    chain = floating_chain()
    whole = (chain, chain.initial, far_pair(), *FORCES[:3])
    return tuple(qp.to_json(one) for one in (*whole, *whole, *PARTS))


@chunks()
def test_documents_with_other_values(chunk: int) -> None:
    chance = random.Random(chunk)
    plain = [json.loads(text) for text in documents()]
    texts = (json.dumps(mutated(chance.choice(plain), chance)) for _ in range(CHUNK))
    read = sum(check_reading(lambda text=text: qp.from_json(text), uses) for text in texts)
    assert 0 < read < CHUNK


def uses(made: Any) -> Iterator[Callable[[], Any]]:
    """What is done with what has been read: it is shown and written, a system moves, and a study is
    judged and begun."""
    yield lambda: (repr(made), qp.to_json(made))
    if isinstance(made, qp.Multibody):
        yield made.explain
        yield from uses_of(made)
    if isinstance(made, qp.State):
        yield lambda: [made[body] for body in made.bodies]
    if isinstance(made, qp.Study):
        yield lambda: (made.digest, list(made.in_range(made.system.initial)))
        if len(made.document()) % 7 == 0:  # some
            yield lambda: made.explore(budget=1, progress=False)


@chunks()
def test_documents_with_other_letters(chunk: int) -> None:
    chance = random.Random(chunk)
    for _ in range(CHUNK):
        text: Any = scribbled(chance.choice(documents()).encode(), chance)
        if chance.random() < 0.5:
            text = text.decode("utf-8", "replace")
        check_reading(lambda text=text: qp.from_json(text), uses)


@pytest.mark.parametrize("depth", [101, 900, 5_000, 200_000])
@pytest.mark.parametrize("pair", ["[]", ('{"a":', "}")])
def test_what_lies_too_deep(depth: int, pair: tuple[str, str]) -> None:
    inside = pair[0] * depth + ("1" if pair[0] != "[" else "") + pair[1] * depth
    text = f'{{"quirkpy": 1, "parts": {{}}, "root": {inside}}}'
    check_refused(lambda: qp.from_json(text), "from_json", ("more than 100 deep",))


def test_what_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quirkpy.parts.json.LONGEST_TEXT", 1000)
    check_refused(
        lambda: qp.from_json(" " * 1001), "from_json", ("1001 characters", "1000 at most")
    )
