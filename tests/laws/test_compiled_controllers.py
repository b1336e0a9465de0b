"""Controllers that are compiled command to the bit what the same lines command in Python, in one
run and in many; and what has lost its bodies ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.motion.controllers import Controls
from tests.laws.test_controllers import DRIVES, PERIOD, READS, craft, same_bits
from tests.motion import calls_of
from tests.random_systems import seeds


class Compiled(qp.Controller):
    """`Attitude` of `test_controllers.py`, in numbers."""

    stiffness: float = 0.6
    damping: float = 1.6

    @staticmethod
    def command(t, measured, memory, stiffness, damping):  # type: ignore[no-untyped-def,override]
        side, out = (1.0 if measured[0] >= 0.0 else -1.0), np.empty(4)
        for k in range(3):
            off = 2.0 * measured[1 + k] * side
            memory[k] += PERIOD * off
            out[k] = -stiffness * off - damping * measured[4 + k] - 0.05 * memory[k]
        out[3] = 0.3 * (0.8 - measured[7]) - 0.4 * measured[8]
        return out


def both(case: int, locked: bool = False, **options: Any) -> list[qp.Multibody]:
    """The same craft under the controller in Python, and under that in machine code."""
    parts, pd = craft(case, **options)
    known = {"memory": (0.0, 0.0, 0.0), "compiled": True}
    fast = Compiled("pd", period=PERIOD, reads=READS, drives=DRIVES, **known, **options)
    if locked:  # another body, that moves as one with the bus
        bus: Any = parts[0]
        turn = qp.rotation((1, 2, 3), 0.4)
        box = qp.Body.box("box", (0.2,) * 3, 3.0, position=(-0.5, 0.1, 0), orientation=turn)
        parts = [*parts, box, qp.Fixed("lock", bus, box, at=(-0.4, 0, 0))]
    return [qp.Multibody(*parts, one) for one in (pd, fast)]


OPTIONS: list[dict[str, Any]] = [
    {},
    {"delay": 0.25},
    {"limit": {"wheel.torque": 0.02}, "quantum": {"hinge.rate": 1e-3}},
    {"noise": {"hinge.angle": 1e-3, "bus.orientation": 1e-4}, "seed": 3},
]


@seeds(3, 1)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_machine_code_commands_what_python_does(seed: int, options: dict[str, Any]) -> None:
    """All that was read, commanded and flown; and from a state in which a run has ended."""
    python, fast = both(seed, **options)
    one, two = python.simulate(3.0), fast.simulate(3.0)
    same_bits(one, two)
    for name in READS:
        np.testing.assert_array_equal(one["pd"].measured[name], two["pd"].measured[name])
    for name in DRIVES:
        np.testing.assert_array_equal(one["pd"].command[name], two["pd"].command[name])
    more = fast.simulate(1.3, state=fast.simulate(1.7).final)
    np.testing.assert_array_equal(more.course.states[-1, :-1], two.course.states[-1, :-1])


def test_bodies_that_are_locked_together_are_read_one_by_one() -> None:
    python, fast = both(1, locked=True)
    same_bits(python.simulate(2.0), fast.simulate(2.0))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_many_runs_have_the_bits_of_each(options: dict[str, Any]) -> None:
    """Thrown about, with other masses, and from the end of another run."""
    _, system = both(2, **options)
    start = system.initial
    states = [start.replace({"arm": {"velocity": (0.1 * k, 0, 0)}}) for k in range(3)]
    states.append(system.simulate(0.25).final)
    runs = system.simulate_many(states=states, duration=2.0, threads=2)
    for k, state in enumerate(states):
        alone = system.simulate(2.0, state=state)
        assert runs.final[k] == alone.final
        same_bits(runs[k], alone)
    heavier = system.simulate_many(parameters={"bus.mass": [20.0, 30.0]}, duration=1.0)
    assert heavier.final[0] == system.simulate(1.0).final
    assert heavier.final[1] == heavier[1].final != heavier.final[0]


class Turn(qp.Controller):
    """A PD of a hinge about half a radian."""

    stiffness: float
    damping: float

    @staticmethod
    def command(t, measured, memory, stiffness, damping):  # type: ignore[no-untyped-def]
        return (-stiffness * (measured[0] - 0.5) - damping * measured[1],)


def turned(stiffness: float, damping: float, **options: Any) -> qp.Multibody:
    """An arm on a floating bus, turned by a motor."""
    bus, arm, hinge, _, motor = craft(3)[0]
    given = {"period": 0.1, "reads": ["hinge.angle", "hinge.rate"], "drives": ["motor.torque"]}
    pd = Turn("pd", stiffness, damping, compiled=True, **(given | options))
    return qp.Multibody(bus, arm, hinge, motor, pd)


def test_gains_are_parameters() -> None:
    """Of many runs, of which each has the bits of a system made with them, and from a switch on;
    runs that differ in more than gains are flown one by one."""
    gains = [0.1, 0.7, 2.0]
    runs = turned(0.3, 0.4).simulate_many(
        parameters={"pd.stiffness": gains, "pd.damping": [2.0 * k for k in gains]}, duration=2.0
    )
    for k, gain in enumerate(gains):
        alone = turned(gain, 2.0 * gain).simulate(2.0)
        assert runs.final[k].q.tobytes() == alone.final.q.tobytes()
        same_bits(runs[k], alone)
    slower = turned(0.3, 0.4).simulate_many(parameters={"pd.period": [0.1, 0.25]}, duration=2.0)
    for k, period in enumerate((0.1, 0.25)):
        alone = turned(0.3, 0.4, period=period).simulate(2.0)
        assert slower.final[k].q.tobytes() == alone.final.q.tobytes()
    off = qp.Switch(1.0, parameters={"pd": {"stiffness": 0.0, "damping": 0.0}})
    told = turned(0.3, 0.4).simulate(2.0, switches=[off])["pd"].command["motor.torque"]
    assert told[9] != 0.0
    assert not told[10:].any()
    for change, said in (
        ({"reads": ["hinge.angle"]}, "no parameter 'reads'"),
        ({"gain": 1.0}, "no"),
    ):
        with pytest.raises(qp.PartError, match=f"Turn 'pd': there is {said}"):
            turned(0.3, 0.4).simulate(2.0, switches=[qp.Switch(1.0, parameters={"pd": change})])


def test_no_python_is_asked_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of the controller in Python once for each sample, and for nothing else."""
    asked = list[float]()
    usual = Controls.command
    monkeypatch.setattr(
        Controls, "command", lambda *given: (asked.append(given[1]), usual(*given))[1]
    )
    python, fast = both(0)
    fast.simulate(2.0)
    assert not asked
    run = python.simulate(2.0)
    np.testing.assert_array_equal(asked, run["pd"].t)
    assert calls_of(lambda: python.simulate(2.0)) > calls_of(lambda: fast.simulate(2.0)) + 20 * 5


@pytest.mark.kernels
def test_samples_uncompiled() -> None:
    python, fast = both(0, delay=0.03)
    runs = [system.simulate(0.15) for system in (python, fast)]
    same_bits(*runs)
    many = fast.simulate_many(states=[fast.initial], duration=0.15)
    assert many.final[0] == runs[0].final


class Harsh(qp.Controller):
    """A PD with gains far beyond what its period bears."""

    def command(self, t: float, measured: dict[str, Any], memory: dict[str, Any]) -> dict[str, Any]:
        return {"motor.torque": -30.0 * measured["hinge.angle"] - 6.0 * measured["hinge.rate"]}


def test_what_controllers_have_lost_ends() -> None:
    """Gains of 30 and 6 on a pendulum, asked every 0.3 s: it turns ever faster, and the run says
    so; what turned as fast at the start may do so."""
    rod = qp.Body.rod("rod", (0, 0, 0), (0, 0, -1), 1.0)
    hinge = qp.Revolute("hinge", qp.GROUND, rod, at=(0, 0, 0), axis=(0, 1, 0))
    harsh = Harsh("pd", period=0.3, reads=["hinge.angle", "hinge.rate"], drives=["motor.torque"])
    system = qp.Multibody(rod, hinge, qp.Motor("motor", hinge), qp.Gravity((0, 0, -9.81)), harsh)
    start = system.initial.replace({"rod": {"angular_velocity": (0, 1e-3, 0)}})
    run = system.simulate(100.0, state=start, keep="ends", rtol=1e-6)
    assert run.stop is qp.Stop.DIVERGED
    assert "10000 times" in str(run.stop)
    assert run.t[-1] < 20.0
