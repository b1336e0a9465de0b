"""Two hinged cubes that a well pulls together: a short run to an event, as explorations make them
by the thousand."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from types import ModuleType

import numpy as np
from scipy.integrate import solve_ivp

import quirkpy as qp
from benchmarks import peers
from benchmarks.tables import Measured, Sheet
from benchmarks.timing import Cost, race
from quirkpy.kernels.base.states import positions_of
from quirkpy.kernels.step.methods import Method
from quirkpy.mechanics.clusters import Clusters
from quirkpy.mechanics.state import State
from quirkpy.motion.driver import Driver
from quirkpy.motion.settings import Settings
from quirkpy.tables import Tables, compile

SIDE, STIFFNESS, DAMPING, THRESHOLD, LONGEST = 0.1, 10.0, 0.02, 1e-8, 20.0
EXACT = 1e-7  # [rad]
#: When the energy is below the threshold [s].
CUBES_END = 5.27
#: Of ours: methods and tolerances that are tried.
OURS: tuple[tuple[Method, float], ...] = (
    ("dop853", 2e-7),
    ("dop853", 1e-7),
    ("dop853", 1e-8),
    ("dop853", 1e-9),
    ("rk45", 3e-7),
    ("rk45", 1e-7),
)
MUJOCO = (("Euler", 1e-2), ("Euler", 1e-3), ("RK4", 1e-2), ("RK4", 1e-3))
#: How MuJoCo's energy is looked at: the words of a row, and how many steps between two looks.
LOOKS = {"a look each step": 1, "blocks of ten": 10}
WORDS = {"built": "build + run", "kept": "model kept", "selected": "selected + run"}
#: A run that ends with the angle [rad].
Run = Callable[[], float]


def build() -> qp.Multibody:
    """A stands still; B hangs on the edge that both share."""
    a = qp.Body.box("A", (SIDE,) * 3, 1.0, fixed=True)
    b = qp.Body.box("B", (SIDE,) * 3, 1.0, position=(SIDE, 0.0, 0.0))
    hinge = qp.Revolute("hinge", a, b, at=(0.5 * SIDE, 0.5 * SIDE, 0.0), axis=(0.0, 0.0, 1.0))
    damper = qp.HingeSpring("damper", hinge, stiffness=0.0, damping=DAMPING)
    return qp.Multibody(
        a, b, hinge, damper, qp.PotentialWell("well", b, (SIDE, SIDE, 0.0), STIFFNESS)
    )


def turned(position: np.ndarray) -> float:
    """How far the hinge has turned when the cube is there."""
    return math.atan2(position[1] - 0.5 * SIDE, position[0] - 0.5 * SIDE) + 0.25 * math.pi


def run(system: qp.Multibody, rtol: float, method: Method = "dop853") -> float:
    """How far the hinge has turned when the energy has gone."""
    stop = [qp.EnergyBelow(THRESHOLD)]
    done = system.simulate(LONGEST, rtol=rtol, atol=rtol, method=method, stop=stop, keep="ends")
    return turned(done.final["B"].position)


# --- one of many: what may act is compiled once, what acts is chosen for each run -----------------
def universe() -> Tables:
    """The cubes with four hinges of which one will act, each with its damper, and four wells."""
    a = qp.Body.box("A", (SIDE,) * 3, 1.0, fixed=True)
    b = qp.Body.box("B", (SIDE,) * 3, 1.0, position=(SIDE, 0.0, 0.0))
    parts: list[qp.Part] = [a, b]
    for k, (edge, axis) in enumerate(EDGES):
        at, well = 0.5 * SIDE * np.add(edge, (1, 0, 0)), SIDE * np.add(edge, (1, 0, 0))
        hinge = qp.Revolute(f"hinge {k}", a, b, at=at, axis=axis)
        parts += [hinge, qp.HingeSpring(f"damper {k}", hinge, stiffness=0.0, damping=DAMPING)]
        parts.append(qp.PotentialWell(f"well {k}", b, well, STIFFNESS))
    return compile(parts)


#: Edges of the face that both cubes share, and the axis about which B turns there: four times the
#: same motion, turned.
EDGES = (
    ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), ((0.0, -1.0, 0.0), (0.0, 0.0, -1.0)),
    ((0.0, 0.0, 1.0), (0.0, -1.0, 0.0)), ((0.0, 0.0, -1.0), (0.0, 1.0, 0.0)),
)  # fmt: skip


def chosen(rtol: float, method: Method = "dop853") -> Run:
    """Runs that each take another selection of the same tables, made ready once."""
    tables, stop = universe(), [qp.EnergyBelow(THRESHOLD)]
    settings = Settings(rtol=rtol, atol=rtol, method=method, keep="ends")
    start, turns = State.written(tables.select()), itertools.cycle(enumerate(EDGES))

    ready = [
        Clusters(tables.select([f"hinge {k}"], [f"damper {k}", f"well {k}"]))
        for k in range(len(EDGES))
    ]

    def run() -> float:
        k, (edge, _) = next(turns)
        course = Driver(ready[k], start, LONGEST, stop, settings).run()
        x, y, z = positions_of(course.states)[-1, 0]
        return turned(np.array([x, edge[1] * y + edge[2] * z]))

    return run


def truth() -> float:
    """The same as one equation for the angle, J angle'' = torque of the well - damping."""
    arm, inertia = 0.5**0.5 * SIDE, SIDE**2 / 6.0 + 0.5 * SIDE**2

    def right(t: float, y: np.ndarray) -> tuple[float, float]:
        # The centre is (arm cos a, arm sin a) from the hinge, the well (arm cos 45, arm sin 45).
        return y[1], (
            STIFFNESS * arm**2 * math.sin(0.25 * math.pi - y[0]) - DAMPING * y[1]
        ) / inertia

    def gone(t: float, y: np.ndarray) -> float:
        stretch = 2.0 * arm * math.sin(0.5 * (0.25 * math.pi - y[0]))
        return 0.5 * inertia * y[1] ** 2 + 0.5 * STIFFNESS * stretch**2 - THRESHOLD

    gone.terminal = True
    start = (-0.25 * math.pi, 0.0)
    done = solve_ivp(
        right, (0.0, 20.0), start, method="DOP853", rtol=1e-13, atol=1e-15, events=gone
    )
    return float(done.y[0, -1]) + 0.25 * math.pi


def ours() -> dict[str, dict[str, Run]]:
    """Name of a row -> ways to run."""
    out = {}
    for method, rtol in OURS:
        kept = build()
        out[f"quirkpy {method} {rtol:g}"] = {
            "built": lambda rtol=rtol, method=method: run(build(), rtol, method),
            "kept": lambda rtol=rtol, method=method, kept=kept: run(kept, rtol, method),
            "selected": chosen(rtol, method),
        }
    return out


def theirs(mujoco: ModuleType) -> dict[str, dict[str, Run]]:
    """The same for MuJoCo."""
    out = {}
    for integrator, step in MUJOCO:
        model = mujoco.cubes(integrator, step)
        for words, steps in LOOKS.items():
            out[f"MuJoCo {integrator} {step:g}, {words}"] = {
                "built": lambda i=integrator, s=step, n=steps: mujoco.run_cubes(
                    mujoco.cubes(i, s), THRESHOLD, n
                ),
                "kept": lambda model=model, n=steps: mujoco.run_cubes(model, THRESHOLD, n),
            }
    return out


def measure(quick: bool) -> Measured:
    """Simulations per second: the model built each time, kept, and selected from what is
    compiled."""
    mujoco = peers.present().get("MuJoCo")
    works = {**ours(), **(theirs(mujoco) if mujoco else {})}
    exact = truth()
    # Each way to run is asked four times, so that every selection has its turn.
    errors = {
        name: max(abs(way() - exact) for way in ways.values() for _ in EDGES)
        for name, ways in works.items()
    }
    costs = race(
        {f"{name}|{how}": way for name, ways in works.items() for how, way in ways.items()}
    )
    wall = {key: cost.wall for key, cost in costs.items()}
    rows = [_row(name, errors[name], costs) for name in works]
    exactly = [name for name in works if name.startswith("quirkpy") and errors[name] <= EXACT]
    fastest = {
        how: min((wall[f"{name}|{how}"] for name in exactly), default=math.nan) for how in WORDS
    }
    figures = {"cubes error": min(e for name, e in errors.items() if name.startswith("quirkpy"))}
    for integrator, words in itertools.product(("Euler", "RK4"), LOOKS) if mujoco else ():
        for how in WORDS:
            peer = wall[
                f"MuJoCo {integrator} 0.01, {words}|{'built' if how == 'built' else 'kept'}"
            ]
            figures[f"cubes {how} / MuJoCo {integrator}, {words}"] = peer / fastest[how]
    heads = ["method, tolerance or step [s]", "error rad"]
    heads += [f"{words} {unit}" for words in WORDS.values() for unit in ("ms", "per s")]
    remarks = [
        "Until kinetic and potential energy are below 1e-8 J, after 5.27 s. Selected: hinges at "
        "all four edges are "
        "compiled once; each run chooses another and makes an `Engine` and a `Driver`. MuJoCo: the "
        "model compiled from "
        "its XML, the pull as a tendon. A look each step: steps from Python until the energy is "
        "low. Blocks of ten: "
        "it looks every ten steps, then at each, and interpolates the end.",
        f"Ratios: the fastest row of quirkpy with an error below {EXACT:g} rad against MuJoCo with "
        "steps of 10 ms; "
        "built against built, kept and selected against kept.",
    ]
    return Measured([Sheet("Two cubes", [*heads, "CPU / wall"], rows, remarks)], figures)


def _row(name: str, error: float, costs: dict[str, Cost]) -> list[object]:
    """A row of the sheet; MuJoCo has nothing to select."""
    out: list[object] = [name, error]
    for how in WORDS:
        cost = costs.get(f"{name}|{how}")
        out += [1e3 * cost.wall, 1.0 / cost.wall] if cost else [None, None]
    kept = costs[f"{name}|kept"]
    return [*out, kept.cpu / kept.wall]
