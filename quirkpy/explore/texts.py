"""Records of runs as texts of a journal, and what is read of them again."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from sys import intern
from typing import Any

from quirkpy.explore.model.graph import Outcome
from quirkpy.explore.model.leaving import Leaving
from quirkpy.explore.model.ways import Entered, Way
from quirkpy.explore.run.records import Record, Told, check_outcome, check_reached
from quirkpy.rest.reason import reason_of, told

#: One zero for all outcomes: most figures of most of them are none.
ZERO = 0.0
#: The place of the reason among the plain values of an outcome.
REASON = Outcome._fields.index("reason")

#: What a damaged or forged text may raise as it is read.
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)


def text_of(record: Record) -> str:
    """A record as text; floats come back bit for bit."""
    made: dict[str, Any] = {
        "outcomes": [list(o) for o in record.outcomes],
        "reached": record.reached,
    }
    made |= {} if record.way is None else {"way": encode_way(record.way)}
    reasons = [told(at[key]).data() for at, key in reasons_in(made)]
    return json.dumps(made | {"reasons": reasons} if any(reasons) else made)


def reasons_in(data: dict[str, Any]) -> list[tuple[Any, Any]]:
    """Where the reasons of a record of plain values stand, in one order: a list or a dictionary,
    and the place in it."""
    ends, ways = list(zip(data["outcomes"], data["reached"], strict=True)), []
    ways += [data["way"]] if "way" in data else []
    while ways:
        outcome, reached, entered, _, _, onward = ways.pop()
        ends += [(outcome, reached), *(row[-2:] for row in entered)]
        ways += onward
    out: list[tuple[Any, Any]] = []
    for outcome, node in ends:
        out += [(outcome, REASON), *([] if node is None else [(node, "reason")])]
    return out


def restore_reasons(data: dict[str, Any]) -> None:
    """Make the texts of a record of plain values reasons, of what stands beside them; journals of
    earlier versions have the texts alone."""
    places = reasons_in(data)
    reasons = data.get("reasons", [None] * len(places))
    if "reasons" in data and not any(reasons):
        raise ValueError("its reasons say no more than their texts")
    for (at, key), said in zip(places, reasons, strict=True):
        at[key] = reason_of(at[key], said)


def record_of(text: str, check: Callable[[dict[str, Any]], None] = check_reached) -> Record:
    """The record that a text holds; raises one of UNREADABLE where it holds none."""
    data = json.loads(text)
    restore_reasons(data)
    way = way_of(data["way"], check) if "way" in data else None
    outcomes, reached = tuple(outcome_of(row) for row in data["outcomes"]), tuple(data["reached"])
    if not outcomes or len(outcomes) != len(reached):
        raise ValueError("it has no outcomes, or others than nodes")
    for node in reached:
        if node is not None:
            check(node)
    return Record(outcomes, reached, way)


def encode_way(way: Way[Told]) -> list[Any]:
    """All that may become of a run, as plain values."""
    entered = [[met.cone, met.stretch, met.t, *met.value] for met in way.entered]
    return [
        *way.value,
        entered,
        way.saddle,
        way.like,
        [encode_way(onward) for onward in way.onward],
    ]


def way_of(values: list[Any], check: Callable[[dict[str, Any]], None] = check_reached) -> Way[Told]:
    """The motions of a choice as a tree, from the plain values of a journal."""
    outcome, reached, entered, saddle, like, onward = values
    for node in (reached, *(row[-1] for row in entered)):
        if node is not None:
            check(node)
    numbers = [
        *like,
        *([] if saddle is None else [saddle]),
        *(k for row in entered for k in row[:2]),
    ]
    if not all(type(k) is int for k in numbers) or not all(
        type(row[2]) is float for row in entered
    ):
        raise TypeError("its cones, stretches and saddles are no numbers")
    met = (
        Entered(cone, stretch, t, (outcome_of(row), node))
        for cone, stretch, t, row, node in entered
    )
    further = tuple(way_of(one, check) for one in onward)
    return Way((outcome_of(outcome), reached), tuple(met), saddle, tuple(like), further)


def outcome_of(row: list[Any]) -> Outcome:
    """An outcome from plain values."""
    figures: list[Any] = [ZERO if is_zero(value) else value for value in row]
    values = dict(zip(Outcome._fields, figures, strict=True))
    # few different ones, in many outcomes
    values |= {"kind": intern(values["kind"]), "reason": told(values["reason"])}
    values["contacts"] = tuple((t, intern(name)) for t, name in values["contacts"])
    values["parts"] = tuple(intern(name) for name in values["parts"])
    values["leavings"] = tuple(
        Leaving(t, waiting, growth, tuple(map(intern, bodies)))
        for t, waiting, growth, bodies in values["leavings"]
    )
    values["nudge"] = None if values["nudge"] is None else tuple(values["nudge"])
    outcome = Outcome(**values)
    check_outcome(outcome)
    return outcome


def is_zero(value: Any) -> bool:
    """Whether a value is the float 0.0, not -0.0."""
    return type(value) is float and value == 0.0 and math.copysign(1.0, value) > 0.0
