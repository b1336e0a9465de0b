"""Elastic-plastic strings and bars against what is known by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import quirkpy as qp

K, LIMIT, M, G = 400.0, 30.0, 1.0, 9.81


def falling(limit: float = LIMIT) -> qp.Multibody:
    """1 kg that falls half a metre before its string becomes taut."""
    ball = qp.Body.sphere("ball", 0.01, M, position=(0, 0, -0.5))
    string = qp.String("s", qp.GROUND, ball, EA=K, rest_length=1.0)
    return qp.tensegrities.yielding(
        qp.Multibody(ball, string, qp.Gravity((0, 0, -G))), {"s": limit}, period=1e-3
    )


def test_a_string_yields_until_it_has_taken_what_a_fall_brings() -> None:
    """m g (h + e + p) = k e^2 / 2 + F p for the elastic stretch e = F / k and the plastic one p;
    afterwards it swings as elastic as before, and has lost F p."""
    elastic = LIMIT / K
    plastic = (M * G * (0.5 + elastic) - 0.5 * K * elastic**2) / (LIMIT - M * G)
    run = falling().simulate(2.0)
    rest = run["plasticity"].command["s.rest_length"]
    assert rest[-1] - 1.0 == pytest.approx(plastic, rel=5e-3)
    assert (np.diff(rest) >= 0.0).all()
    assert run["s"].tension.max() == pytest.approx(LIMIT, rel=0.06)
    lost = run.energy[0] - run.energy[-1]
    assert lost == pytest.approx(LIMIT * plastic, rel=1e-2)
    np.testing.assert_allclose(run.energy - run.work, run.energy[0], rtol=0, atol=1e-6)
    later = run.t > 1.0
    assert np.ptp(run.energy[later]) < 1e-6


def test_a_strong_string_does_not_yield_and_a_continued_run_remembers() -> None:
    strong = falling(400.0).simulate(1.0)
    assert set(strong["plasticity"].command["s.rest_length"]) == {1.0}
    whole = falling().simulate(1.0)
    again = falling().simulate(0.5, state=falling().simulate(0.5).final)
    assert again["plasticity"].command["s.rest_length"][-1] == pytest.approx(
        whole["plasticity"].command["s.rest_length"][-1], rel=1e-12
    )


def test_a_system_that_yields_is_written_and_read() -> None:
    again = qp.from_json(qp.to_json(falling()))
    assert again.simulate(0.5).final == falling().simulate(0.5).final


def test_a_bar_yields_under_tension_and_compression() -> None:
    """Pushed and pulled by more than its limit: it becomes shorter, then longer."""
    bar = qp.CompressibleBar(
        "b", (0, 0, 0), (1, 0, 0), modulus=1e6, mass=0.3, radius=0.02, damping=9
    )
    foot = qp.Revolute("foot", qp.GROUND.site("o"), bar.first_tip)
    limit = 50.0
    push = qp.Load("push", bar.ends[1], force=qp.Sine((1.4 * limit, 0, 0), 2 * math.pi, math.pi))
    soft = qp.tensegrities.yielding(qp.Multibody(*bar, foot, push), {"b elasticity": limit})
    run = soft.simulate(0.95)
    rest = run["plasticity"].command["b elasticity.rest_length"]
    t = run["plasticity"].t
    assert rest[t < 0.5].min() < 0.99
    assert rest[-1] > rest[t < 0.5].min() + 0.01
    assert abs(run["b elasticity"].tension).max() < 1.5 * limit


def test_what_does_not_yield_is_refused() -> None:
    system = falling()
    plain = qp.Multibody(*(part for part in system.parts if part.name != "plasticity"))
    for limits, sentence in (
        ({}, "limits is empty"), ({"gravity": 1.0}, "'gravity' is no String"),
        ({"s": -1.0}, "limit of 's' is -1.0"), (["s"], r"limits is \['s'\], but must be a"),
    ):  # fmt: skip
        with pytest.raises(qp.PartError, match=f"yielding: {sentence}"):
            qp.tensegrities.yielding(plain, limits)
    with pytest.raises(qp.PartError, match="has a 'plasticity' already; name all limits in one"):
        qp.tensegrities.yielding(system, {"s": 1.0})
