"""States of which a number is none, or of another shape, are refused wherever they come from; no
run is endless."""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from tests.faults.sentence import check_refused
from tests.motion import floating_chain

WRONG = math.nan, math.inf, -math.inf


def start() -> qp.State:
    return floating_chain().initial


def spoiled(name: str, value: float) -> Any:
    """The values of a field, one of them another."""
    array = np.array(getattr(start(), name))
    array[1, 0] = value
    return array


@pytest.mark.parametrize("value", WRONG)
def test_times_that_are_none(value: float) -> None:
    check_refused(lambda: dataclasses.replace(start(), t=value), "State", ("t is", "finite"))
    check_refused(lambda: start().replace(t=value), "replace", ("t is", "finite"))


@pytest.mark.parametrize("value", WRONG)
@pytest.mark.parametrize("name", ["r", "q", "v", "omega"])
def test_numbers_that_are_none(name: str, value: float) -> None:
    body = start().bodies[1]
    words = f"{name} of body {body!r}", "every number must be finite"
    check_refused(
        lambda: dataclasses.replace(start(), **{name: spoiled(name, value)}), "State", words
    )


@pytest.mark.parametrize("name", ["r", "q", "v", "omega", "windings"])
def test_other_shapes(name: str) -> None:
    array = getattr(start(), name)
    for other in (array[:-1], array[None], np.zeros(0)):
        check_refused(
            lambda other=other: dataclasses.replace(start(), **{name: other}),
            "State",
            (f"{name} has shape",),
        )


def test_large_numbers_are_numbers() -> None:
    """Though their sum is none."""
    far = np.full_like(start().r, 1e308)
    assert dataclasses.replace(start(), r=far).r[0, 0] == 1e308


def test_turns_that_are_none() -> None:
    system = floating_chain()
    long = dataclasses.replace(system.initial, q=1.1 * system.initial.q)
    words = "q of body", "has length 1.1", "unit quaternion"
    check_refused(lambda: system.at(long), "State", words)
    check_refused(lambda: qp.Multibody(*system.parts, start=long), "State", words)


@pytest.mark.parametrize(
    ("field", "value"), [("t", "1e999"), ("t", "NaN"), ("r", "1e999"), ("q", "Infinity")]
)
def test_documents_with_such_numbers(field: str, value: str) -> None:
    data = json.loads(qp.to_json(start()))
    root = data["root"]
    if field == "t":
        root["t"] = "@"
    else:
        root[field][0][0] = "@"
    text = json.dumps(data).replace('"@"', value)
    check_refused(lambda: qp.from_json(text), "", ())


@pytest.mark.parametrize("method", ["dop853", "rk4"])
def test_a_run_from_no_time_ends(method: Any) -> None:
    """Also where somebody has gone round the check."""
    system = qp.Multibody(qp.Body.sphere("ball", 0.1, 1.0))
    object.__setattr__(system.initial, "t", math.nan)
    step = {"step": 0.1} if method == "rk4" else {}
    try:
        run = system.simulate(1.0, method=method, **step)
    except qp.PartError:
        return
    assert run.stop in (qp.Stop.NOT_FINITE, qp.Stop.COLLAPSE)


def wrong_fields() -> list[tuple[str, Any, str]]:
    """Values that a field of a state cannot have, and a word of what is said."""
    steps = [("step", value, "step") for value in (*WRONG, -1.0, "soon", True, 1j)]
    times = [("t", value, "t is") for value in ("now", None, 1j, True, [0.0])]
    turns = [
        ("windings", [value] * len(start().joints), "whole numbers") for value in (*WRONG, 1.5)
    ]
    lists = [
        (name, value, "list of names")
        for name in ("bodies", "joints", "held")
        for value in (None, 5, "arm", [1], {"a": 1})
    ]
    arrays = [
        (name, value, name)
        for name in ("r", "q", "v", "omega", "windings")
        for value in (None, 5, "x", [["a"]], [[1j]], [[1.0], [1.0, 2.0]])
    ]
    rows = [
        (name, value, name)
        for name in ("merged", "further")
        for value in (5, "x", [[1j]], np.zeros((1, 2, 3)), np.full((1, 13), math.nan))
    ]
    rows += [("further", value, "further") for value in (None, [math.inf], [[1.0]])]
    return [*steps, *times, *turns, *lists, *arrays, *rows, ("merged", [[1.0]], "merged")]


@pytest.mark.parametrize(("name", "value", "word"), wrong_fields())
def test_fields_that_are_none(name: str, value: Any, word: str) -> None:
    check_refused(lambda: dataclasses.replace(start(), **{name: value}), "State", (word,))


def test_lists_are_arrays() -> None:
    """And whole numbers of turns are whole numbers, however they are written; the state is the
    same."""
    begun = start()
    for name in ("r", "q", "v", "omega", "windings"):
        given = getattr(begun, name).tolist()
        made = dataclasses.replace(begun, **{name: given})
        assert made == begun
        assert getattr(made, name).dtype == getattr(begun, name).dtype
        assert not getattr(made, name).flags.writeable
    floats = dataclasses.replace(begun, windings=begun.windings.astype(float))
    assert floats == begun
    assert floats.windings.dtype == np.int64
    assert dataclasses.replace(begun, bodies=list(begun.bodies)).bodies == begun.bodies


TAKERS = [
    name
    for name, method in inspect.getmembers(qp.Multibody, inspect.isfunction)
    if "state" in inspect.signature(method).parameters
    and name not in ("check_state", "animate", "_solve")  # a display is asked for first
]


@pytest.mark.parametrize("name", TAKERS)
def test_what_is_asked_of_no_state_is_refused(name: str) -> None:
    """Also of a state of other bodies."""
    assert len(TAKERS) > 15
    chain, other = floating_chain(), qp.Multibody(qp.Body.sphere("ball", 0.1, 1.0)).initial
    needed = {"simulate": (1.0,), "pose": ({},)}.get(name, ())

    def ask(state: Any) -> Any:
        return getattr(chain, name)(*needed, state=state)

    for state in (3, math.nan, "x", [1.0], chain):
        check_refused(lambda state=state: ask(state), "", ("is not a State",))
    run = chain.simulate(0.01)
    check_refused(lambda: ask(run), "", ("is not a State", "give its .final"))
    check_refused(lambda: ask(other), "", ("the state has the bodies ball",))


def test_states_are_read_by_the_names_of_bodies() -> None:
    """Whatever the order in which a system has them."""
    chain = floating_chain()
    bodies = [part for part in chain.parts if isinstance(part, qp.Body)]
    others = [part for part in chain.parts if not isinstance(part, qp.Body)]
    turned = qp.Multibody(*bodies[::-1], *others)
    assert turned.bodies == chain.bodies[::-1]
    final = chain.simulate(0.5).final
    np.testing.assert_allclose(
        turned.acceleration(final)[::-1], chain.acceleration(final), rtol=1e-9, atol=1e-12
    )
    assert turned.energy(final) == pytest.approx(chain.energy(final), rel=1e-12)


@pytest.mark.parametrize("changes", [5, "arm", [("arm", {})]])
def test_changes_that_are_none(changes: Any) -> None:
    check_refused(lambda: start().replace(changes), "replace", ("no dict of bodies",))
