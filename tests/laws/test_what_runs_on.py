"""What runs on at a steady speed may come to a stop yet; what comes back to where it was never
settles."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from tests.random_systems import seeds


def slide(distance: float | None, *forces: Any, speed: float = 0.0) -> qp.Multibody:
    """One kilogram on a rail along x, with a stop where a distance says."""
    body = qp.Body.sphere("mass", 0.05, 1.0, velocity=(speed, 0, 0))
    rail = qp.Prismatic("rail", qp.GROUND, body, at=(0, 0, 0), axis=(1, 0, 0))
    stops = [] if distance is None else [qp.JointStop("end", rail, upper=distance)]
    return qp.Multibody(body, rail, *stops, *(make(rail, body) for make in forces))


def wheel(
    turn: float | None, load: float, damping: float, *forces: Any, weight: float = 0.0
) -> qp.Multibody:
    """A bar on a hinge that a torque turns against a damper, with a stop where an angle says."""
    bar = qp.Body.box("bar", (0.1, 0.1, 1.0), 1.0, position=(0, 0, -0.5))
    hinge = qp.Revolute("hinge", qp.GROUND, bar, at=(0, 0, 0), axis=(0, -1, 0))
    stops = [] if turn is None else [qp.JointStop("end", hinge, upper=turn)]
    push, drag = (
        qp.Load("push", bar, torque=(0, -load, 0)),
        qp.JointDamper("drag", hinge, damping=damping),
    )
    down = qp.Gravity((0, 0, -weight))
    return qp.Multibody(
        bar, hinge, push, drag, down, *stops, *(make(hinge, bar) for make in forces)
    )


def pushed(load: float) -> Any:
    return lambda joint, body: qp.Load("push", body, force=(load, 0, 0))


def damped(damping: float) -> Any:
    return lambda joint, body: qp.JointDamper("drag", joint, damping=damping)


def rubbed(preload: float) -> Any:
    return lambda joint, body: qp.JointFriction(
        "rub", joint, coefficient=0.3, preload=preload, slip=0.01
    )


def arrival(way: float, after: float) -> float:
    """When a speed 1 - exp(-t / after) has gone so far: t - after (1 - exp(-t / after)) = way."""
    t = way + after
    for _ in range(200):
        t = way + after * -math.expm1(-t / after)
    return t


def reached(system: qp.Multibody, joint: str, bound: float, t: float, late: float = 0.0) -> None:
    """It settles where its stop holds it, at a time [s], or a little later."""
    found = system.settle()
    assert (found.verdict, found.state.held) == ("stable", ("end upper",)), found.reason
    state = found.state[joint]
    assert (state.angle if state.travel is None else state.travel) == pytest.approx(
        bound, rel=1e-12
    )
    assert found.state.t == pytest.approx(t, rel=1e-6, abs=1e-4 + late)


@pytest.mark.parametrize("distance", [10.0, 100.0, 1000.0, 3142.0, 10_000.0])
def test_terminal_speed_goes_on_until_the_stop(distance: float) -> None:
    """v = F / c; from rest, x = (F / c) (t - (m / c) (1 - exp(-c t / m)))."""
    reached(slide(distance, pushed(1.0), damped(1.0)), "rail", distance, arrival(distance, 1.0))


@pytest.mark.parametrize("distance", [10.0, 100.0])
def test_creep_under_friction_goes_on_until_the_stop(distance: float) -> None:
    """Below what friction holds it creeps: its speed is that at which the smooth law balances the
    load."""
    system = slide(distance, pushed(0.2), rubbed(1.0))
    creep = system.simulate(10.0, progress=False).final["rail"].rate
    reached(system, "rail", distance, distance / creep, late=0.1)


@pytest.mark.parametrize("turns", [3.2, 100.0, 20_000.0])
def test_a_driven_hinge_goes_on_until_its_stop_after_many_turns(turns: float) -> None:
    inertia = (0.01 + 1.0) / 12.0 + 0.25
    angle = 2.0 * math.pi * turns
    reached(wheel(angle, 0.1, 0.1), "hinge", angle, arrival(angle, inertia / 0.1))


def test_what_floats_spreads_until_its_stop() -> None:
    """Two bodies that push each other apart against a damper, 3 km along their rail."""
    one, two = (
        qp.Body.box(name, (0.1, 0.1, 0.1), m, position=(x, 0, 0))
        for name, m, x in (("a", 2.0, 0), ("b", 1, 1))
    )
    rail = qp.Prismatic("rail", one, two, at=(0, 0, 0), axis=(1, 0, 0))
    pushes = [
        qp.Load(f"push {b.name}", b, force=(f, 0, 0), frame="body")
        for b, f in ((one, -1.0), (two, 1.0))
    ]
    stop = qp.JointStop("end", rail, upper=3000.0)
    system = qp.Multibody(one, two, rail, stop, qp.JointDamper("drag", rail, damping=1.0), *pushes)
    reached(system, "rail", 3000.0, arrival(3000.0, 2.0 / 3.0))


class Trap(qp.Force):
    """A damped spring that holds what comes beyond a place."""

    body: qp.Body
    begins: float

    def load(self, at: qp.MotionView) -> Mapping[qp.Body, qp.Wrench]:
        motion = at[self.body]
        x, v = motion.position[0] - self.begins, motion.velocity[0]
        return {
            self.body: qp.Wrench(
                (-4.0 * x - 2.0 * v if x > 0.0 else 0.0, 0, 0), (0, 0, 0), motion.position
            )
        }


def test_a_trap_far_away_is_run_into() -> None:
    found = slide(
        None, pushed(1.0), damped(1.0), lambda rail, body: Trap("trap", body, 2000.0)
    ).settle()
    assert (found.verdict, found.damped) == ("stable", True)
    assert found.state["mass"].position[0] == pytest.approx(2000.25, abs=1e-9)


def test_a_free_body_on_its_way_into_a_trap_does_not_rest() -> None:
    """Nothing pulls where it is; on its way something will."""
    body = qp.Body.sphere("mass", 0.05, 1.0, velocity=(1.0, 0, 0))
    assert qp.Multibody(body).settle().verdict == "stable"
    assert qp.Multibody(body, Trap("trap", body, 50.0)).settle().verdict == "never settles"
    assert qp.Multibody(body, Trap("trap", body, 50.0)).settle().state.t > 50.0


# --- true cycles ----------------------------------------------------------------------------------
class Feeding(qp.Force):
    """Damping that feeds small motions and brakes large ones."""

    body: qp.Body

    def load(self, at: qp.MotionView) -> Mapping[qp.Body, qp.Wrench]:
        motion = at[self.body]
        x, v = motion.position[0], motion.velocity[0]
        return {
            self.body: qp.Wrench(
                (0.5 * (1.0 - (x / 0.1) ** 2) * v - 4.0 * x, 0, 0), (0, 0, 0), motion.position
            )
        }


CYCLES = {
    "terminal": lambda: wheel(None, 0.1, 0.1),
    "terminal in gravity": lambda: wheel(None, 8.0, 0.1, weight=9.81),
    "swing": lambda: slide(
        None, lambda rail, body: qp.JointSpring("spring", rail, stiffness=4.0), speed=1.0
    ),
    "swing before a stop": lambda: slide(
        5.0, lambda rail, body: qp.JointSpring("spring", rail, stiffness=4.0), speed=1.0
    ),
    "fed": lambda: slide(None, lambda rail, body: Feeding("feed", body), speed=0.01),
}


@pytest.mark.parametrize("name", CYCLES)
def test_what_comes_back_is_recognised(name: str) -> None:
    found = CYCLES[name]().settle()
    assert found.verdict == "never settles"
    assert "keeps moving" in found.reason or "nothing takes its energy" in found.reason
    assert found.run is not None
    assert found.run.counts.evaluations < 250_000


def test_whole_turns_count_where_an_event_tells_them_apart() -> None:
    system = wheel(None, 0.1, 0.1)
    far = qp.When("far", lambda state: state["hinge"].angle - 40_000.0)
    near = qp.When("near", lambda state: state["bar"].position[2] - 9.0)
    assert system.settle(stop=[far]).verdict == "stopped"
    assert system.settle(stop=[near]).verdict == "never settles"


# --- beside a plain run ---------------------------------------------------------------------------
def random_run(rng: np.random.Generator) -> tuple[qp.Multibody, str, float]:
    """A motion that is driven at a steady rate, in the end; its joint, and how long it takes to its
    stop, about [s]."""
    damping, load = 10.0 ** rng.uniform(-1.0, 0.5), 10.0 ** rng.uniform(-1.0, 0.5)
    kind = rng.integers(4)
    far = 10.0 ** rng.uniform(0.5, 3.5 if kind != 2 else 2.0)
    if kind == 0:
        return (
            slide(far, pushed(load), damped(damping), speed=rng.uniform(0.0, 3.0)),
            "rail",
            far * damping / load,
        )
    if kind == 1:
        return wheel(far, load, damping), "hinge", far * damping / load
    if kind == 2:  # a screw: an angle that only its travel tells
        body = qp.Body.sphere("mass", 0.05, 1.0)
        screw = qp.Screw("rail", qp.GROUND, body, at=(0, 0, 0), axis=(1, 0, 0), pitch=0.1)
        parts = (
            qp.JointStop("end", screw, upper=far, coordinate="angle"),
            qp.JointDamper("d", screw, damping=damping, coordinate="angle"),
        )
        push = qp.Load("push", body, torque=(load, 0, 0))
        return qp.Multibody(body, screw, push, *parts), "rail", far * damping / load
    stop = bool(rng.integers(2))
    weight = load
    return wheel(far if stop else None, load, damping, weight=weight), "hinge", far * damping / load


@pytest.mark.filterwarnings("ignore:.*is an angle in radians:quirkpy.PartWarning")  # meant
@seeds(24, 4, attack=500)
def test_the_verdict_is_what_a_plain_long_run_shows(seed: int) -> None:
    system, joint, long = random_run(np.random.default_rng(seed))
    found = system.settle()
    last = system.simulate(
        10.0 * long + 100.0, keep="ends", progress=False, max_steps=1_000_000
    ).final
    moves = np.abs(last[joint].rate).max() > 1e-9
    assert found.verdict == ("never settles" if moves else "stable"), found.reason
    if not moves:
        here, there = found.state[joint], last[joint]
        for one, two in ((here.angle, there.angle), (here.travel, there.travel)):
            assert one == two if one is None else one == pytest.approx(two, rel=1e-9)
