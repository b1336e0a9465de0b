"""Stops of stiff, damped hinges: bounces end in contact, contacts let go, and no run is lost in
between; what impacts take is in the ledger."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from tests.random_systems import seeds


def sprung_chain(seed: int) -> qp.Multibody:
    """Boxes of all masses on hinges with springs, stiff or soft, most of them between stops."""
    rng = np.random.default_rng(seed)
    number = int(rng.integers(1, 4))
    bodies = [qp.Body.box("base", (0.1,) * 3, 1.0, fixed=bool(rng.integers(2)))]
    parts: list[Any] = [qp.Gravity((0.0, 0.0, -9.81))] if bodies[0].fixed else []
    for k in range(number):
        mass, place = float(10 ** rng.uniform(-1.5, 0.7)), (0.2 + 0.3 * k, 0.0, 0.0)
        bodies.append(qp.Body.box(f"b{k}", (0.3, 0.1, 0.05), mass, position=place))
        axis, at = rng.normal(size=3).tolist(), (0.05 + 0.3 * k, 0.0, 0.0)
        hinge = qp.Revolute(f"h{k}", *bodies[-2:], at=at, axis=axis)
        stiffness, damping = (float(10 ** rng.uniform(*span)) for span in ((1, 4), (-1, 2)))
        rest = float(rng.uniform(-1, 1))
        parts += [hinge, qp.HingeSpring(f"s{k}", hinge, stiffness=stiffness, damping=damping,
                                        rest_angle=rest)]  # fmt: skip
        if rng.random() < 0.7:
            lower, upper, bounce = (
                float(rng.uniform(*span)) for span in ((-0.4, -0.05), (0.05, 0.4), (0.0, 0.9))
            )
            stop = qp.JointStop(f"st{k}", hinge, lower=lower, upper=upper, restitution=bounce)
            parts.append(stop)
    return qp.Multibody(*bodies, *parts)


def check_bounces(system: qp.Multibody, method: Any) -> None:
    """A run ends at its end, within its stops and its ledger."""
    run = system.simulate(0.5, method=method, rtol=1e-6, atol=1e-8, max_steps=60_000)
    assert run.stop.name == "END" or (method != "radau" and run.stop.name == "STEPS")
    balance = run.energy + run.dissipated + run.lost + run.projected - run.work
    assert np.ptp(balance) < 1e-4 * max(np.ptp(run.potential), 1.0)
    for stop in system.parts:
        if isinstance(stop, qp.JointStop):
            angle = run[stop.joint.name].angle
            assert stop.lower - 1e-8 < angle.min()
            assert angle.max() < stop.upper + 1e-8


@pytest.mark.parametrize(
    ("seed", "method"),
    [(7, "radau"), (39, "radau"), (146, "radau"), (381, "radau"), (96, "dop853"), (39, "rk45"),
     (85, "rk45")],
)  # fmt: skip
def test_a_stop_that_lets_go_is_left(seed: int, method: str) -> None:
    """A hinge that leaves its stop, a few roundings beyond the bound or more slowly than the
    polynomial of a long step can tell, is not caught again and again."""
    check_bounces(sprung_chain(seed), method)


@seeds(8, 2, attack=400)
@pytest.mark.parametrize("method", ["radau", "auto"])
def test_bounces_of_stiff_hinges_end(seed: int, method: str) -> None:
    check_bounces(sprung_chain(seed), method)


@pytest.mark.parametrize("bounce", [0.65, 0.99])
@pytest.mark.parametrize("method", ["radau", "dop853"])
def test_flights_too_brief_to_be_told_end_in_contact(method: Any, bounce: float) -> None:
    """A needle that a spring of 3176 N m/rad throws on its stop: the last flights last 1e-13 s."""
    needle = qp.Body.box("needle", (0.01, 0.01, 0.01), 0.01)
    hinge = qp.Revolute("hinge", qp.GROUND, needle, at=(0, 0, 0), axis=(0, 0, 1))
    spring = qp.HingeSpring("spring", hinge, stiffness=3176.0, rest_angle=0.5)
    stop = qp.JointStop("stop", hinge, upper=0.1, restitution=bounce)
    run = qp.Multibody(needle, hinge, spring, stop).simulate(1.0, method=method, max_steps=40_000)
    assert run.stop.name == "END"
    assert run.final["hinge"].angle == pytest.approx(0.1, abs=1e-9)
    assert run["stop"].press[-1] == pytest.approx(3176.0 * 0.4, rel=1e-6)
    balance = run.energy + run.dissipated + run.lost + run.projected - run.work
    assert np.ptp(balance) < 1e-5 * run.energy[0]
