"""Questions about clearances that have no answer, in one sentence."""

from __future__ import annotations

from typing import Any

import pytest

import quirkpy as qp
from quirkpy.clearance.clearances import clearances


def run(**keywords: Any) -> qp.Trajectory:
    balls = [qp.Body.sphere(f"ball {k}", 0.1, 1.0, position=(k, 0, 0)) for k in range(2)]
    return qp.Multibody(*balls).simulate(0.1, **keywords)


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"margin": -1.0}, "must not be negative"),
        ({"margin": "wide"}, "clearances: margin, slack or play"),
        ({"slack": 0.0}, "clearances: margin, slack or play"),
        (
            {"pairs": [("ball 0", "cube")]},
            "'cube' in pairs= is no body with a shape; there are: ball 0, ball 1",
        ),
    ],
)
def test_what_makes_no_sense(keywords: dict[str, Any], words: str) -> None:
    with pytest.raises(qp.PartError, match=words):
        clearances(run(), **keywords)


def test_runs_that_keep_only_their_ends() -> None:
    with pytest.raises(qp.PartError, match="every step is needed"):
        clearances(run(keep="ends"))


def test_bodies_without_shapes_are_in_nobodys_way() -> None:
    body = qp.Body("body", 1.0, (1, 1, 1))
    result = clearances(qp.Multibody(body).simulate(0.1))
    assert (result.pairs, result.first, result.least) == ((), None, float("inf"))


def test_a_shape_of_ones_own_has_no_distance() -> None:
    class Blob(qp.Shape):
        def inertia_per_mass(self) -> tuple[float, float, float]:
            return 1.0, 1.0, 1.0

    bodies = [
        qp.Body(f"body {k}", 1.0, (1, 1, 1), shape=Blob(), position=(k, 0, 0)) for k in range(2)
    ]
    with pytest.raises(TypeError, match="Blob is no shape whose distance is known"):
        clearances(qp.Multibody(*bodies).simulate(0.1))
