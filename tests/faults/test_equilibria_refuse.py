"""What equilibria, linear models and branches refuse: one sentence that says what is wrong and the
way out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import quirkpy as qp
from tests.faults.sentence import case, check_refused
from tests.truths.test_linear_models import oscillator

SYSTEM = oscillator()
MOVING = SYSTEM.initial.replace({"mass": {"velocity": (0.1, 0, 0)}})
AWAY = SYSTEM.initial.replace({"mass": {"position": (0.1, 0, 0)}})


@pytest.mark.parametrize(
    ("make", "name", "words"),
    [
        case(
            lambda: SYSTEM.linearize(MOVING),
            "linearize",
            "moves",
            "0.1",
            "state at rest",
            id="moving",
        ),
        case(
            lambda: SYSTEM.linearize(inputs=["pull"]),
            "inputs",
            "'pull'",
            "rail",
            "push",
            id="unknown input",
        ),
        case(
            lambda: SYSTEM.linearize(outputs=["mass.place"]),
            "outputs",
            "'mass.place'",
            "'mass.position'",
            id="output",
        ),
        case(
            lambda: SYSTEM.linearize(inputs="rail"),
            "inputs",
            "must be a list",
            id="inputs is a word",
        ),
        case(
            lambda: SYSTEM.linearize(outputs="rail"),
            "outputs",
            "must be a list",
            id="outputs is a word",
        ),
        case(
            lambda: SYSTEM.linearize(outputs=[3.0]),
            "outputs",
            "neither a name nor a function",
            id="number",
        ),  # type: ignore[list-item]
        case(lambda: followed((1.0, 1.0)), "span", "two different numbers", id="span"),
        case(lambda: followed((0.0, float("inf"))), "span", "two different numbers", id="endless"),
        case(lambda: followed((0.0, 1.0)), "no equilibrium near", "p = 0", id="nowhere"),
        case(lambda: SYSTEM.settle(duration=-1.0), "duration", "seconds", id="duration"),
        case(lambda: SYSTEM.settle(3.0), "at", "is not a State", id="no state"),  # type: ignore[arg-type]
        case(lambda: SYSTEM.settle(method="euler"), "method", "'euler'", id="method"),  # type: ignore[arg-type]
        case(lambda: SYSTEM.settle(rest=0.0), "settle", "rest", id="rest"),
        case(lambda: SYSTEM.settle(evaluations=0), "settle", "evaluations", id="evaluations"),
        case(lambda: SYSTEM.settle(nudge=float("nan")), "settle", "nudge", id="nudge"),
        case(lambda: SYSTEM.equilibria(seeds=0), "equilibria", "seeds", id="seeds"),
        case(lambda: SYSTEM.equilibria(spread=-1.0), "equilibria", "spread", id="spread"),
        case(
            lambda: SYSTEM.equilibria(seed=None), "equilibria", "seed", "whole number", id="no seed"
        ),  # type: ignore[arg-type]
        case(lambda: SYSTEM.settle(seed=0.5), "settle", "seed", "whole number", id="half a seed"),  # type: ignore[arg-type]
        case(
            lambda: SYSTEM.settle(stop=qp.AtRest()),
            "settle",
            "stop",
            "list of events",
            id="one event",
        ),  # type: ignore[arg-type]
        case(lambda: SYSTEM.saddle(SYSTEM.initial), "saddle", "not an Equilibrium", id="a state"),  # type: ignore[arg-type]
        case(
            lambda: SYSTEM.saddle(SYSTEM.settle(AWAY, evaluations=1)),
            "saddle",
            "no well",
            "stable",
            id="no well",
        ),
        case(lambda: followed("ab"), "span", "two different numbers", id="letters"),  # type: ignore[arg-type]
        case(lambda: followed(3.0), "span", "two different numbers", id="one number"),  # type: ignore[arg-type]
        case(
            lambda: qp.continue_equilibrium(SYSTEM, SYSTEM.initial, (0, 1)),
            "family",
            "function",
            id="a system",
        ),  # type: ignore[arg-type]
        case(
            lambda: qp.continue_equilibrium(falling, "rest", (0, 1)),
            "start",
            "'rest'",
            "State",
            id="no start",
        ),  # type: ignore[arg-type]
        case(
            lambda: qp.continue_equilibrium(numbered, SYSTEM.initial, (0, 1)),
            "family(0)",
            "a system",
            id="a number",
        ),
        case(
            lambda: qp.continue_equilibrium(switched, SYSTEM.initial, (0, 1)),
            "family(",
            "other",
            id="another",
        ),
        case(
            lambda: pushed().saddle(pushed().settle()),
            "saddle",
            "potential",
            id="barrier of a load",
        ),
    ],
)
def test_refused(make: Callable[[], Any], name: str, words: tuple[str, ...]) -> None:
    check_refused(make, name, words)


def falling(p: float) -> qp.Multibody:
    """On a rail that slopes: nowhere at rest."""
    body = qp.Body.sphere("mass", 0.1, 1.0)
    rail = qp.Prismatic("rail", qp.GROUND, body, at=(0, 0, 0), axis=(1, 0, 0))
    return qp.Multibody(body, rail, qp.Gravity((1.0 + p, 0, 0)))


def numbered(p: float) -> Any:
    """No system at all."""
    return p


def switched(p: float) -> qp.Multibody:
    """On its rail at first, and then no more."""
    return SYSTEM if p < 0.1 else SYSTEM.without("rail", "spring")


def followed(span: tuple[float, float]) -> qp.Branch:
    return qp.continue_equilibrium(falling, falling(0.0).initial, span)


def pushed() -> qp.Multibody:
    """A load that no energy knows of."""
    body: Any = SYSTEM["mass"]
    return SYSTEM.with_(qp.Load("steady", body, force=(1.0, 0, 0)))
