"""Two pendulums that a spring couples: normal modes, beats, and the time in which one hands its
energy to the other.

Small angles: I a'' + (m g l + k h^2) a - k h^2 b = 0 and the same with a and b exchanged, so that
the two swing together at w1^2 = m g l/I and against each other at w2^2 = (m g l + 2 k h^2)/I."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from tests.motion import TIGHT

MASS, LEVER, MOMENT, G = 1.4, 0.6, 0.11, 9.81
STIFFNESS, HEIGHT, APART = 3.0, 0.45, 0.8
INERTIA = MOMENT + MASS * LEVER**2
W1 = math.sqrt(MASS * G * LEVER / INERTIA)
W2 = math.sqrt((MASS * G * LEVER + 2.0 * STIFFNESS * HEIGHT**2) / INERTIA)
#: So small that the square of it, by which rates change, is less than what is asked for.
SMALL = 1e-4


def pendulums(a: float, b: float) -> qp.Multibody:
    """Both hanging down from hinges about y, let go at small angles."""
    parts: list[qp.Part] = []
    hooks = []
    for name, x, angle in (("left", 0.0, a), ("right", APART, b)):
        turn = qp.rotation((0, 1, 0), angle)
        down = qp.quat.matrix(turn) @ (0.0, 0.0, -1.0)
        pivot = np.array([x, 0.0, 0.0])
        body = qp.Body(name, MASS, (0.1, MOMENT, 0.1), pivot + LEVER * down, turn)
        axes: Any = dict(z=(0, 1, 0), x=(0, 0, 1))
        hinge = qp.Revolute(
            f"{name} hinge",
            qp.GROUND.site(name, at=pivot, **axes),
            body.site("pivot", at=(0, 0, LEVER), **axes),
        )
        hooks.append(body.site("hook", at=(0.0, 0.0, LEVER - HEIGHT)))
        parts += [body, hinge]
    spring = qp.Spring("spring", *hooks, stiffness=STIFFNESS, rest_length=APART)
    return qp.Multibody(*parts, spring, qp.Gravity((0, 0, -G)))


@pytest.mark.parametrize(("sign", "rate"), [(1.0, W1), (-1.0, W2)], ids=["together", "against"])
def test_normal_modes(sign: float, rate: float) -> None:
    """Each goes on for thirty periods as cos w t, the other mode nowhere."""
    run = pendulums(SMALL, sign * SMALL).simulate(30.0 * 2.0 * math.pi / rate, **TIGHT)
    known = SMALL * np.cos(rate * run.t)
    np.testing.assert_allclose(run["left hinge"].angle, known, rtol=0.0, atol=1e-6 * SMALL)
    np.testing.assert_allclose(run["right hinge"].angle, sign * known, rtol=0.0, atol=1e-6 * SMALL)


def test_beats_hand_the_energy_over() -> None:
    """a = A cos(d t) cos(s t), b = A sin(d t) sin(s t) with s, d = (w2 +- w1)/2: after pi/(w2 - w1)
    all is gone."""
    s, d = 0.5 * (W2 + W1), 0.5 * (W2 - W1)
    exchange = math.pi / (W2 - W1)
    run = pendulums(SMALL, 0.0).simulate(3.0 * exchange, **TIGHT)
    a, b = run["left hinge"], run["right hinge"]
    np.testing.assert_allclose(
        a.angle, SMALL * np.cos(d * run.t) * np.cos(s * run.t), rtol=0.0, atol=1e-6 * SMALL
    )
    np.testing.assert_allclose(
        b.angle, SMALL * np.sin(d * run.t) * np.sin(s * run.t), rtol=0.0, atol=1e-6 * SMALL
    )
    for k, giver, taker in ((1, a, b), (2, b, a), (3, a, b)):
        state = run.at(k * exchange)
        mine, theirs = (0.5 * INERTIA * (state[j.name].rate ** 2 + s * s * state[j.name].angle ** 2)
                        for j in (giver, taker))  # fmt: skip
        total = 0.5 * INERTIA * (s * SMALL) ** 2
        assert mine < 1e-3 * total
        assert theirs == pytest.approx(total, rel=2e-2)
    assert np.ptp(run.energy) < 1e-13
