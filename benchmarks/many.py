"""Two hinged cubes that a well pulls together, by the thousand in one call: `simulate_many` against
`mujoco.batch`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

import quirkpy as qp
from benchmarks.cubes import CUBES_END, EXACT, LONGEST, STIFFNESS, THRESHOLD, build, truth, turned
from benchmarks.tables import Measured, Sheet
from benchmarks.timing import Cost, race
from quirkpy.kernels.step.methods import Method

#: Runs of one call; and how the targets call them.
RUNS, QUICK = 2000, 400
#: Methods and tolerances, relative and absolute, that are tried.
OURS: tuple[tuple[Method, float, float], ...] = (
    ("dop853", 3e-5, 2e-7), ("dop853", 5e-6, 1e-7), ("dop853", 2e-7, 2e-7), ("rk45", 3e-7, 3e-7),
)  # fmt: skip
#: Steps of MuJoCo [s], by its integrators.
THEIRS = (("Euler", 1e-2), ("RK4", 1e-2))


def many(
    system: qp.Multibody, runs: int, how: tuple[Method, float, float], threads: int, differ: bool
) -> Callable[[], Any]:
    """Work that flies as many runs; they differ: the well has another strength for each."""
    asked: dict[str, Any] = {"states": [system.initial] * runs}
    if differ:
        asked = {"parameters": {"well.stiffness": np.linspace(0.9, 1.1, runs) * STIFFNESS}}
    stop, (method, rtol, atol) = [qp.EnergyBelow(THRESHOLD)], how
    return lambda: system.simulate_many(
        **asked, duration=LONGEST, method=method, rtol=rtol, atol=atol, stop=stop,
        threads=threads, progress=False,
    )  # fmt: skip


def batches() -> ModuleType | None:
    """MuJoCo's own way to many simulations, where it is installed."""
    try:
        importlib.import_module("mujoco.batch")
    except ImportError:
        return None
    return importlib.import_module("benchmarks.in_mujoco")


def measure(quick: bool) -> Measured:
    """Runs a second, of ours until the energy is low, of MuJoCo's for as long as that takes."""
    runs, system, exact = QUICK if quick else RUNS, build(), truth()
    works: dict[str, Callable[[], Any]] = {}
    errors: dict[str, float] = {}
    for how in OURS:
        for threads in (1, 2):
            name = f"quirkpy {how[0]} {how[1]:g} {how[2]:g}, threads: {threads}"
            works[name] = many(system, runs, how, threads, False)
            ends = works[name]()["B"].position
            errors[name] = max(abs(turned(end) - exact) for end in ends)
    for threads in (1, 2):
        name = (
            f"quirkpy {OURS[0][0]} {OURS[0][1]:g} {OURS[0][2]:g}, other wells, threads: {threads}"
        )
        works[name] = many(system, runs, OURS[0], threads, True)
    mujoco = batches()
    for integrator, step in THEIRS if mujoco else ():
        for threads in (1, 2):
            name = f"mujoco.batch {integrator} {step:g}, threads: {threads}"
            works[name], end = mujoco.many_cubes(integrator, step, CUBES_END, runs, threads)
            works[name]()
            errors[name] = abs(end() - exact)
    costs = race(works, turns=3)
    return Measured([_sheet(costs, errors, runs)], _figures(costs, errors, runs))


def _sheet(costs: dict[str, Cost], errors: dict[str, float], runs: int) -> Sheet:
    rows = [
        [name, errors.get(name), 1e6 * cost.wall / runs, runs / cost.wall, cost.cpu / cost.wall]
        for name, cost in costs.items()
    ]
    heads = ["method, tolerance or step [s]", "error rad", "us a run", "per s", "CPU / wall"]
    remarks = [
        f"{runs} runs in one call, from making them ready to the arrays of their ends. quirkpy: "
        "until kinetic and potential energy are below 1e-8 J, located. MuJoCo: steps without a "
        f"look, up to {CUBES_END:g} s, where that is so. Other wells: their stiffness differs "
        "from run to run, and the part is written anew for each."
    ]
    return Sheet("Many runs of two cubes", heads, rows, remarks)


def _figures(costs: dict[str, Cost], errors: dict[str, float], runs: int) -> dict[str, float]:
    ours = {
        name: cost.wall
        for name, cost in costs.items()
        if "quirkpy" in name and name in errors and errors[name] <= EXACT
    }
    one = min((name for name in ours if name.endswith(" 1")), key=ours.__getitem__, default="")
    if not one:
        return {}
    found = {
        "many, runs/s": runs / ours[one],
        "many, two threads": ours[one] / ours[f"{one[:-1]}2"],
    }
    peer = costs.get("mujoco.batch Euler 0.01, threads: 1")
    return found | ({"many / mujoco.batch": peer.wall / ours[one]} if peer else {})
