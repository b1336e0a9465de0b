"""Kernels that are called directly get arguments of the types that they were compiled for; and a
run asks Python for little beside them."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import quirkpy as qp
from quirkpy.mechanics import engine
from quirkpy.mechanics.direct import DirectCall
from quirkpy.motion import driver
from tests.motion import calls_of
from tests.random_systems import random_system

HUB = qp.Body.box("hub", size=(0.1, 0.1, 0.1), mass=1.0, fixed=True)
ARM = qp.Body.box("arm", size=(0.1, 0.1, 0.1), mass=1.0, position=(0.1, 0, 0))
FIN = qp.Body.box("fin", size=(0.1, 0.1, 0.1), mass=1.0, position=(0.2, 0, 0))
CALLS = {"evaluate": engine.EVALUATE, "advance": driver.ADVANCE, "sampled": driver.ADVANCE_SAMPLED}


def two_cubes() -> qp.Multibody:
    """A cube hinged to one that is fixed, and drawn to a point."""
    hinge = qp.Revolute("hinge", HUB, ARM, at=(0.05, -0.05, 0), axis=(0, 0, 1))
    well = qp.PotentialWell("well", ARM, centre=(0.1, 0.02, 0), stiffness=0.05)
    return qp.Multibody(HUB, ARM, hinge, well)


class Pull(qp.Controller):
    """A force that grows with time."""

    def command(self, t: float, measured: dict[str, Any], memory: dict[str, Any]) -> dict[str, Any]:
        return {"push.force": (0.0, 0.1 * t, 0.0)}


def merged_cubes() -> qp.Multibody:
    """Cubes of which two are locked together, with a stop and a sampled controller."""
    hinge = qp.Revolute("hinge", HUB, ARM, at=(0.05, -0.05, 0), axis=(0, 0, 1))
    lock, stop = qp.Fixed("lock", ARM, FIN, at=(0.15, 0, 0)), qp.JointStop("stop", hinge, upper=0.3)
    pull = Pull("pull", period=0.01, drives=["push.force"])
    return qp.Multibody(HUB, ARM, FIN, hinge, lock, stop, qp.Load("push", FIN), pull)


@pytest.fixture
def types(monkeypatch: pytest.MonkeyPatch) -> dict[str, set[Any]]:
    """The types of the arguments of every direct call, by kernel."""
    seen: dict[str, set[Any]] = {name: set() for name in CALLS}

    def watched(name: str, call: DirectCall) -> Any:
        def run(*arguments: Any) -> Any:
            seen[name].add(tuple(map(call.kernel.typeof_pyval, arguments)))
            return call.kernel(*arguments)

        return run

    for name, call in CALLS.items():
        monkeypatch.setattr(call, "run", watched(name, call))
    return seen


def test_all_direct_calls_are_watched_here() -> None:
    """`CALLS` names every one of the package."""
    package = [module for name, module in sys.modules.items() if name.startswith("quirkpy.")]
    found = [one for module in package for one in vars(module).values()]
    calls = {id(one) for one in found if isinstance(one, DirectCall)}
    assert calls == set(map(id, CALLS.values()))


@pytest.mark.parametrize("family", ["loops", "medleys"])
def test_types_do_not_depend_on_the_system(family: str, types: dict[str, set[Any]]) -> None:
    """Accelerations and runs of random systems, with events and without, from states of all
    sources: one signature for each kernel, that of the two cubes."""
    seen = [two_cubes(), merged_cubes(), random_system(family, 0)]
    slow = qp.EnergyBelow(1e-12, name="slow", terminal=False)
    late = qp.When("late", lambda state: state.t - 0.01, terminal=False)
    for system in seen:
        for options in ({}, {"stop": [slow, late]}, {"step": 1e-3, "max_steps": 3, "keep": "ends"}):
            run = system.simulate(0.02, progress=False, **options)
            system.acceleration(run.final)
            run.at(0.5 * float(run.t[0] + run.t[-1]))
    assert {name: len(kinds) for name, kinds in types.items()} == dict.fromkeys(CALLS, 1)


def test_a_run_calls_few_functions_of_python() -> None:
    """What depends on the system alone is computed once, and what is absent (events, measures,
    controllers, knots) costs nothing: two cubes, kept and built anew."""
    kept = two_cubes()
    kept.acceleration(kept.simulate(1.0, progress=False).final)
    assert calls_of(lambda: kept.simulate(1.0, progress=False)) <= 120
    assert calls_of(lambda: two_cubes().simulate(1.0, progress=False)) <= 880
    assert calls_of(kept.acceleration) <= 25
