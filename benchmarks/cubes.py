"""Two hinged cubes that a well pulls together: a short run to an event, as explorations make them by the thousand."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp

import quirkpy as qp
from benchmarks import peers
from benchmarks.tables import Measured, Sheet
from benchmarks.timing import race

SIDE, STIFFNESS, DAMPING, THRESHOLD = 0.1, 10.0, 0.02, 1e-8
EXACT = 1e-7  # [rad]
MUJOCO = (("Euler", 1e-2), ("Euler", 1e-3), ("RK4", 1e-2), ("RK4", 1e-3))


def build() -> qp.Multibody:
    """A stands still; B hangs on the edge that both share."""
    a = qp.Body.box("A", (SIDE,) * 3, 1.0, fixed=True)
    b = qp.Body.box("B", (SIDE,) * 3, 1.0, position=(SIDE, 0.0, 0.0))
    hinge = qp.Revolute("hinge", a, b, at=(0.5 * SIDE, 0.5 * SIDE, 0.0), axis=(0.0, 0.0, 1.0))
    damper = qp.HingeSpring("damper", hinge, stiffness=0.0, damping=DAMPING)
    return qp.Multibody(a, b, hinge, damper, qp.PotentialWell("well", b, (SIDE, SIDE, 0.0), STIFFNESS))


def run(system: qp.Multibody, rtol: float) -> float:
    """How far the hinge has turned when the energy has gone."""
    stop = qp.EnergyBelow(THRESHOLD)
    x, y, _ = system.simulate(20.0, rtol=rtol, atol=rtol, stop=[stop], keep="ends").final["B"].position
    return math.atan2(y - 0.5 * SIDE, x - 0.5 * SIDE) + 0.25 * math.pi


def truth() -> float:
    """The same as one equation for the angle, J angle'' = torque of the well - damping."""
    arm, inertia = 0.5**0.5 * SIDE, SIDE**2 / 6.0 + 0.5 * SIDE**2

    def right(t: float, y: np.ndarray) -> tuple[float, float]:
        # The centre is (arm cos a, arm sin a) from the hinge, the well (arm cos 45, arm sin 45).
        return y[1], (STIFFNESS * arm**2 * math.sin(0.25 * math.pi - y[0]) - DAMPING * y[1]) / inertia

    def gone(t: float, y: np.ndarray) -> float:
        stretch = 2.0 * arm * math.sin(0.5 * (0.25 * math.pi - y[0]))
        return 0.5 * inertia * y[1] ** 2 + 0.5 * STIFFNESS * stretch**2 - THRESHOLD

    gone.terminal = True
    start = (-0.25 * math.pi, 0.0)
    done = solve_ivp(right, (0.0, 20.0), start, method="DOP853", rtol=1e-13, atol=1e-15, events=gone)
    return float(done.y[0, -1]) + 0.25 * math.pi


def measure(quick: bool) -> Measured:
    """Simulations per second, with the model built each time and with the model kept."""
    works: dict[str, tuple[Callable[[], float], Callable[[], float]]] = {}
    for rtol in (1e-7, 1e-8, 1e-9):
        kept = build()
        works[f"quirkpy dop853 {rtol:g}"] = (
            lambda rtol=rtol: run(build(), rtol),
            lambda rtol=rtol, kept=kept: run(kept, rtol),
        )
    mujoco = peers.present().get("MuJoCo")
    for integrator, step in MUJOCO if mujoco else ():
        model = mujoco.cubes(integrator, step)
        works[f"MuJoCo {integrator} {step:g}"] = (
            lambda i=integrator, s=step: mujoco.run_cubes(mujoco.cubes(i, s), THRESHOLD),
            lambda model=model: mujoco.run_cubes(model, THRESHOLD),
        )
    exact = truth()
    errors = {name: abs(kept() - exact) for name, (_, kept) in works.items()}
    pairs = {(name, k): work for name, both in works.items() for k, work in enumerate(both)}
    costs = race({f"{name}|{k}": work for (name, k), work in pairs.items()})
    wall = {pair: costs[f"{pair[0]}|{pair[1]}"].wall for pair in pairs}
    rows = [[name, errors[name], 1e3 * wall[name, 0], 1.0 / wall[name, 0], 1e3 * wall[name, 1], 1.0 / wall[name, 1],
             costs[f"{name}|0"].cpu / costs[f"{name}|0"].wall] for name in works]  # fmt: skip
    good = [name for name in works if name.startswith("quirkpy") and errors[name] <= EXACT]
    figures = {"cubes error": min(e for name, e in errors.items() if name.startswith("quirkpy"))}
    for k, word in enumerate(("built", "kept")):
        best = min(wall[name, k] for name in good)
        for integrator, step in MUJOCO[::2] if mujoco else ():
            figures[f"cubes {word} / MuJoCo {integrator}"] = wall[f"MuJoCo {integrator} {step:g}", k] / best
    heads = [
        "method, tolerance or step [s]",
        "error rad",
        "build + run ms",
        "per second",
        "model kept ms",
        "per second",
    ]
    remarks = [
        "Until kinetic and potential energy are below 1e-8 J, after 5.27 s. MuJoCo: the model compiled from its XML, "
        "the pull as a tendon, steps in blocks of ten from Python; the end interpolated between steps.",
        f"Ratios: the fastest row of quirkpy with an error below {EXACT:g} rad against MuJoCo with steps of 10 ms.",
    ]
    return Measured([Sheet("Two cubes", [*heads, "CPU / wall"], rows, remarks)], figures)
