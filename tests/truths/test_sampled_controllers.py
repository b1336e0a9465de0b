"""Sampled controllers against exact solutions in discrete time: the matrix exponential between
samples, and a bang-bang turn by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

import quirkpy as qp
from quirkpy.maths.types import Floats
from tests.random_systems import seeds

INERTIA = 0.7


class Lead(qp.Controller):
    """A torque from angle and rate, and from the last command."""

    stiffness: float
    damping: float
    share: float = 0.0

    def command(self, t: float, measured: dict[str, Any], memory: dict[str, Any]) -> dict[str, Any]:
        torque = -self.stiffness * measured["hinge.angle"] - self.damping * measured["hinge.rate"]
        torque += self.share * memory.get("last", 0.0)
        memory["last"] = torque
        return {"motor.torque": torque}


def pendulum(spring: float, drag: float, controller: qp.Controller) -> qp.Multibody:
    """A rod on a hinge with a linear spring and damper: I a'' + c a' + k a = torque."""
    base = qp.Body.box("base", (0.1,) * 3, 1.0, fixed=True)
    rod = qp.Body("rod", mass=1.0, inertia=(0.3, 0.4, INERTIA - 0.25), position=(0.5, 0.0, 0.0),
                  angular_velocity=(0.0, 0.0, 0.4), velocity=(0.0, 0.2, 0.0))  # fmt: skip
    hinge = qp.Revolute("hinge", base, rod, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    law = qp.HingeSpring("spring", hinge, stiffness=spring, damping=drag, rest_angle=0.0)
    return qp.Multibody(base, rod, hinge, law, qp.Motor("motor", hinge), controller)


def by_hand(
    spring: float, drag: float, pd: Lead, delay: float, samples: int
) -> tuple[Floats, Floats]:
    """States (a, a') at the samples, and commands, by the exponential of the linear motion with the
    torque as a third coordinate that stands still, or rises along a line, between samples."""
    A = np.zeros((4, 4))
    A[0, 1], A[1], A[2, 3] = 1.0, np.array([-spring, -drag, 1.0, 0.0]) / INERTIA, 1.0
    state, acting, last = np.array([0.0, 0.4]), 0.0, 0.0
    states, commands = [], []
    for _ in range(samples):
        states.append(state)
        last = -pd.stiffness * state[0] - pd.damping * state[1] + pd.share * last
        commands.append(last)
        if pd.hold == "first":
            slope = (last - acting) / pd.period
            state = (expm(pd.period * A) @ [*state, acting, slope])[:2]
        else:
            early = expm(delay * A) @ [*state, acting, 0.0]
            state = (expm((pd.period - delay) * A) @ [*early[:2], last, 0.0])[:2]
        acting = last
    return np.array(states), np.array(commands)


@seeds(12, 3)
@pytest.mark.parametrize(("hold", "share"), [("zero", 0.0), ("first", 0.0), ("zero", 0.6)])
def test_sampled_pd_is_the_matrix_exponential(seed: int, hold: Any, share: float) -> None:
    rng = np.random.default_rng(seed)
    spring, drag, stiffness, damping = rng.uniform(0.2, 2.0, 4).tolist()
    period = float(rng.uniform(0.05, 0.3))
    delay = share * period  # of two cases none
    pd = Lead("pd", stiffness, damping, 0.5 * share, period=period, delay=delay, hold=hold,
              reads=["hinge.angle", "hinge.rate"], drives=["motor.torque"])  # fmt: skip
    run = pendulum(spring, drag, pd).simulate(40.0 * period, rtol=1e-11, atol=1e-13)
    states, commands = by_hand(spring, drag, pd, delay, 40)
    seen = run["pd"]
    assert len(seen.t) == 40
    np.testing.assert_allclose(seen.measured["hinge.angle"], states[:, 0], rtol=0, atol=2e-10)
    np.testing.assert_allclose(seen.measured["hinge.rate"], states[:, 1], rtol=0, atol=2e-10)
    np.testing.assert_allclose(seen.command["motor.torque"], commands, rtol=0, atol=2e-10)
    np.testing.assert_array_equal(seen.t, [round(k * 1.0) * 1.0 * period for k in range(40)])


class BangBang(qp.Controller):
    """Full torque one way, then the other, then none."""

    torque: float
    half: float

    def command(self, t: float, measured: dict[str, Any], memory: dict[str, Any]) -> dict[str, Any]:
        sense = 1.0 if t < self.half else (-1.0 if t < 2.0 * self.half else 0.0)
        return {"wheel.torque": (0.0, 0.0, sense * self.torque)}


def test_bang_bang_turn_of_a_rigid_body() -> None:
    """By the turn T h^2 / I about a principal axis, at rest before and after; the wheels have taken
    the momentum, and give it back."""
    bus = qp.Body("bus", mass=50.0, inertia=(4.0, 6.0, 5.0))
    wheels = qp.ReactionWheel("wheel", bus.site("wheels"), (0.0, 0.0, 0.0))
    turn = BangBang("turn", 0.2, 3.0, period=0.5, drives=["wheel.torque"])
    run = qp.Multibody(bus, wheels, turn).simulate(8.0, rtol=1e-12, atol=1e-14)
    q = run["bus"].orientation[-1]
    assert 2.0 * np.arctan2(q.z, q.w) == pytest.approx(0.2 * 3.0**2 / 5.0, abs=1e-12)
    assert abs(run["bus"].angular_velocity[-1]).max() < 1e-13
    wheel = run.system["wheel"]
    assert isinstance(wheel, qp.ReactionWheel)
    stored = np.array([wheel.momentum_at(t)[2] for t in run.t])
    spin = 5.0 * run["bus"].angular_velocity[:, 2]
    np.testing.assert_allclose(stored + spin, 0.0, atol=1e-13)
    assert spin.max() == pytest.approx(0.6, rel=1e-12)
    # What motors do to the body is work: up, and back
    np.testing.assert_allclose(run.work, run.kinetic, atol=1e-13)
