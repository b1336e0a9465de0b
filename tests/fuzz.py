"""Damaged files by the thousand: how values and bytes are changed, with seeds, and how many are
tried.

A test runs over chunks of CHUNK documents: one of them in `make check`, five to ten in
`make test`, and a thousand in `make fuzz`."""

from __future__ import annotations

import copy
import os
import random
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from tests.faults.sentence import check_sentence

CHUNK = 1000
FUZZING = os.environ.get("QUIRKPY_FUZZ") == "1"
#: What a value may become: numbers out of all proportion, other types, names of what there may be.
OTHERS: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 10, 2**31, 2**63, 10**400, 0.0, -0.0, 0.5, -1.5, 1e-320,
    1e-9, 1e9, 1e160, 1e308, -1e308, "", "x", "y", "z", "a\0b", "\ud800", "Body", "Site", "State",
    "Study", "Multibody", "quirkpy.explore.study:Study", [], {}, [[]], [None], {"type": "Body"},
    {"part": "hub"}, {"quaternion": [1.0, 0.0, 0.0, 0.0]}, {"type": "Sphere"}, [0.0, 0.0, 0.0],
    [1.0, 2.0], [1e308, 1e308, 1e308],
)  # fmt: skip


def chunks(count: int = 10) -> pytest.MarkDecorator:
    """A test for each chunk, by number."""
    made = [
        pytest.param(k, marks=[pytest.mark.fuzz, *([pytest.mark.slow] * (k >= 1))])
        for k in range(1000 if FUZZING else count)
    ]
    return pytest.mark.parametrize("chunk", made)


def mutated(data: Any, chance: random.Random) -> Any:
    """A copy of plain values in which one to four, anywhere, have become others, gone, or changed
    places."""
    out = copy.deepcopy(data)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        places = list(_places(out))
        if places:
            _change(*chance.choice(places), chance)
    return out


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every dictionary and list, with each key; those at the top come once, and so seldom."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


def _change(holder: Any, key: Any, chance: random.Random) -> None:
    value, sort = holder[key], chance.random()
    if isinstance(value, float) and sort < 0.35:
        holder[key] = value * chance.choice((-1.0, 0.0, 1e-200, 1e30, 1e200, 1.0 + 1e-7))
    elif sort < 0.40:
        del holder[key]
    elif sort < 0.45:
        other = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        holder[key], holder[other] = holder[other], value
    elif sort < 0.50 and isinstance(holder, list):
        holder.append(copy.deepcopy(value))
    elif sort < 0.55 and isinstance(holder, dict):
        holder[chance.choice(("type", "name", "x", "part"))] = copy.deepcopy(chance.choice(OTHERS))
    else:
        holder[key] = copy.deepcopy(chance.choice(OTHERS))


def scribbled(data: bytes, chance: random.Random) -> bytes:
    """Bytes of which some are others, gone, or there twice."""
    out = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 5, 20))):
        if not out:
            break
        k, sort = chance.randrange(len(out)), chance.random()
        if sort < 0.4 and chr(out[k]).isdigit():
            out[k] = chance.choice(b"0123456789.-e")
        elif sort < 0.6:
            out[k] ^= 1 << chance.randrange(8)
        elif sort < 0.75:
            out[k : k + 1] = chance.choice(
                (b"9999999", b"-", b"\0", b"\n", b"[", b"{", b"e99", b"\xff\xff\xff\xff")
            )
        elif sort < 0.85:
            del out[k : k + chance.randrange(1, 40)]
        elif sort < 0.95:
            out[k:k] = out[k : k + chance.randrange(1, 40)]
        else:
            del out[k:]
    return bytes(out)


#: What may be refused of something that was read well: only in motion does it show that parts do
#: not go together, that rows are not those to which the motion leads, or that a number is far too
#: large.  Each is one sentence, which names the part or the time, the value, and the way out.
IN_USE = re.compile(
    r"cannot be reached again from|begins beyond the (upper|lower) bound|its ends on .* apart"
    r"|rounding; begin nearer to zero|has numbers that are too large"
)


def check_reading(
    read: Callable[[], Any], use: Callable[[Any], Iterator[Callable[[], Any]]] | None = None
) -> bool:
    """It reads, or says in one sentence why not; returns whether it has read.  Whatever use yields
    is then done with it, and raises nothing but what IN_USE tells."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):  # of 1e300 m/s energy is infinite
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", qp.PartWarning)
        try:
            made = read()
        except qp.PartError as error:
            check_sentence(str(error), "", ())
            return False
        for step in use(made) if use else ():
            check_step(step)
    return True


def check_step(step: Callable[[], Any]) -> None:
    """Something is done, or refused in a sentence of IN_USE."""
    try:
        step()
    except qp.PartError as error:
        check_sentence(str(error), "", ())
        if not IN_USE.search(str(error)):
            raise


def uses_of(system: Any) -> Iterator[Callable[[], Any]]:
    """What is done with a system that has been read."""
    yield system.acceleration
    yield system.energy
    yield system.mobility
    yield system.reactions
    yield lambda: system.simulate(1e-3, max_steps=20, progress=False)
