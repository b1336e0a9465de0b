"""Wrong arguments of a run: one sentence each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from tests.faults.sentence import case, check_refused

BALL = qp.Body.sphere("ball", 0.1, 1.0, velocity=(1, 0, 0))


def run(duration: Any = 1.0, **options: Any) -> qp.Trajectory:
    return qp.Multibody(BALL).simulate(duration, **options)


@pytest.mark.parametrize(
    ("make", "name", "words"),
    [
        case(lambda: run(0.0), "simulate", "duration", "positive", id="no duration"),
        case(lambda: run(-1.0), "simulate", "duration", "positive", id="backwards"),
        case(lambda: run(float("inf")), "simulate", "duration", "finite", id="for ever"),
        case(lambda: run("1 s"), "simulate", "duration", "'1 s'", id="words"),
        case(lambda: run(None), "simulate", "duration", "one number", id="nothing"),
        case(lambda: run(rtol=0.0), "simulate", "rtol", "positive", id="rtol zero"),
        case(lambda: run(atol=float("nan")), "simulate", "atol", "finite", id="atol nan"),
        case(lambda: run(step=-0.1), "simulate", "step", "positive", id="step negative"),
        case(
            lambda: run(method="euler"),
            "simulate",
            "method",
            "'euler'",
            "'dop853', 'rk45'",
            id="method",
        ),
        case(
            lambda: run(drift="maybe"),
            "simulate",
            "drift",
            "'maybe'",
            "'project', 'baumgarte', 'none'",
            id="drift",
        ),
        case(
            lambda: run(keep="some"),
            "simulate",
            "keep",
            "'some'",
            "'all', 'ends'",
            id="keep a word",
        ),
        case(lambda: run(keep=0), "simulate", "keep is 0", id="keep none"),
        case(lambda: run(keep=True), "simulate", "keep is True", id="keep true"),
        case(lambda: run(keep=1.5), "simulate", "keep is 1.5", id="keep one and a half"),
        case(lambda: run(max_steps=0), "simulate", "max_steps is 0", id="no steps"),
        case(lambda: run(max_steps=1e3), "simulate", "max_steps is 1000.0", id="steps a float"),
        case(lambda: run(stop=qp.AtRest()), "simulate", "stop", "list of events", id="one event"),
        case(lambda: run(stop=["rest"]), "simulate", "'rest'", "no event", id="a word"),
        case(
            lambda: run(stop=[lambda s: 1.0]), "simulate", "no event", "When", id="a bare function"
        ),
        case(lambda: qp.AtRest(speed=0.0), "AtRest", "speed", "positive", id="rest at no speed"),
        case(lambda: qp.EnergyBelow("1 J"), "EnergyBelow", "energy", "'1 J'", id="energy a word"),
        case(lambda: qp.When("w", 1.0), "When 'w'", "function", id="when a number"),
        case(
            lambda: qp.When("w", abs, direction="up"),
            "When 'w'",
            "direction",
            "'up'",
            id="direction",
        ),
        case(
            lambda: qp.AtRest(terminal=1),
            "AtRest",
            "terminal",
            "True or False",
            id="terminal a number",
        ),
        case(
            lambda: run(stop=[qp.When("w", lambda s: np.nan)]),
            "When 'w'",
            "function at t = 0.0",
            "finite",
            id="nan",
        ),
        case(
            lambda: run(stop=[qp.When("w", lambda s: None)]),
            "When 'w'",
            "one number",
            id="nothing returned",
        ),
    ],
)
def test_refused(make: Any, name: str, words: tuple[str, ...]) -> None:
    check_refused(make, name, words)


def test_a_run_names_what_it_knows_when_asked_for_something_else() -> None:
    body = qp.Body.sphere("body", 0.1, 1.0, position=(1, 0, 0))
    run = qp.Multibody(body, qp.Distance("bar", qp.GROUND, body)).simulate(0.1)
    with pytest.raises(
        KeyError,
        match=r"no moving body, joint, force, sensor or controller is called 'nose'; there are: "
        r"body, bar",
    ):
        run["nose"]
    assert (run["bar"].angle, run["bar"].travel, run["bar"].rate) == (
        None,
        None,
        None,
    )  # a bar has no coordinate
