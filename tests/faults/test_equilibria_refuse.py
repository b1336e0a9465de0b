"""What equilibria, linear models and branches refuse: one sentence that says what is wrong and the way out."""

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
        case(lambda: SYSTEM.linearize(MOVING), "linearize", "moves", "0.1", "state at rest", id="moving"),
        case(lambda: SYSTEM.linearize(inputs=["pull"]), "inputs", "'pull'", "rail", "push", id="unknown input"),
        case(lambda: SYSTEM.linearize(outputs=["mass.place"]), "outputs", "'mass.place'", "body.position", id="output"),
        case(lambda: SYSTEM.linearize(inputs="rail"), "inputs", "must be a list", id="inputs is a word"),
        case(lambda: SYSTEM.linearize(outputs="rail"), "outputs", "must be a list", id="outputs is a word"),
        case(lambda: SYSTEM.linearize(outputs=[3.0]), "outputs", "neither a name nor a function", id="number"),  # type: ignore[list-item]
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
        case(lambda: pushed().saddle(pushed().settle()), "saddle", "potential", id="barrier of a load"),
    ],
)  # fmt: skip
def test_refused(make: Callable[[], Any], name: str, words: tuple[str, ...]) -> None:
    check_refused(make, name, words)


def falling(p: float) -> qp.Multibody:
    """On a rail that slopes: nowhere at rest."""
    body = qp.Body.sphere("mass", 0.1, 1.0)
    rail = qp.Prismatic("rail", qp.GROUND, body, at=(0, 0, 0), axis=(1, 0, 0))
    return qp.Multibody(body, rail, qp.Gravity((1.0 + p, 0, 0)))


def followed(span: tuple[float, float]) -> qp.Branch:
    return qp.continue_equilibrium(falling, falling(0.0).initial, span)


def pushed() -> qp.Multibody:
    """A load that no energy knows of."""
    body: Any = SYSTEM["mass"]
    return SYSTEM.with_(qp.Load("steady", body, force=(1.0, 0, 0)))
