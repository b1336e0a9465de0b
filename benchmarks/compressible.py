"""Compressible bars: table 2 and figures 15 to 19 of Hsu, Tadiparthi and Bhattacharya, for a T-bar
of HDPE and of aluminium.

What the paper leaves open is chosen here: strings are damped by 5 N s/m and bars by 100 N s/m; all
is about the equilibrium; forces act at both free nodes in the plane, and their displacements are
seen; the doublet is 10 N along x at node 3, one second to the right and one to the left, and the
answer is seen for 100 s.

    python -m benchmarks.compressible
"""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

import quirkpy as qp

LENGTH, RADIUS = 5.0, 0.05
MATERIALS: dict[str, dict[str, float]] = {
    "HDPE": {"density": 960.0, "modulus": 1e9, "poisson": 0.46},
    "aluminium": {"density": 2700.0, "modulus": 68e9, "poisson": 0.33},
}
#: Seconds that the paper states for 10 s.
STATED = {"HDPE": 39.18, "aluminium": 502.2}
OF_STRINGS, OF_BARS = 5.0, 100.0  # damping [N s/m]
PUSH, PULSE, SEEN = 10.0, 1.0, 100.0  # [N], [s], [s]


class Row(NamedTuple):
    """Of one material: masses of all bars [kg]; wall time of 10 s at 1e-10 [s]; largest deviation
    from rigid bars, and of the motion with the kinetic energy as printed [m]; norms of the linear
    model; eigenvalues of the compliance of the free nodes in the plane [m/N]; of the doublet the
    largest and the square norm of the answer over that of the force."""

    mass: float
    wall: float
    off_rigid: float
    off_printed: float
    h2: float
    hinf: float
    peak: float
    peaks: float
    compliance: tuple[float, ...]
    largest: float
    square: float


def t_bar(material: dict[str, float], **damping: float) -> qp.Tensegrity:
    """The T-bar of table 1, of compressible bars where the material has a modulus."""
    bar: Any = {"radius": RADIUS, **material}
    if damping:
        bar["damping"] = OF_BARS
    return qp.tensegrities.t_bar(
        LENGTH, bar=bar, string={"stiffness": 100.0, "rest": (0.9, 0.9, 1.0), **damping}
    )  # fmt: skip


def off_rigid(made: qp.Tensegrity, density: float, seconds: float = 10.0) -> float:
    """How far free nodes are at most from where rigid bars of the same density have them, within
    some seconds."""
    rigid = t_bar({"density": density})
    one, two = (m.system.simulate(seconds, rtol=1e-10, atol=1e-12) for m in (made, rigid))
    times = np.linspace(0.0, seconds, 201)
    apart = [made.places(one.at(t)) - rigid.places(two.at(t)) for t in times]
    return float(abs(np.array(apart)).max())


def off_printed(material: dict[str, float], seconds: float = 2.0) -> float:
    """What it changes that the paper subtracts all kinetic energy of stretching beside that of the
    mass centre: its T_f, which no distribution of mass has, beside m / 24 times the square of the
    rate of the length. From a length and an angle of the left bar; the right one is its image."""
    m, area = material["density"] * math.pi * RADIUS**2 * LENGTH, math.pi * RADIUS**2
    k, side = material["modulus"] * area / LENGTH, LENGTH / math.sqrt(2.0)

    def tips(share: float) -> np.ndarray:
        def slope(_: float, x: np.ndarray) -> np.ndarray:
            L, a, rate, turn = x
            u, n = np.array([math.cos(a), math.sin(a)]), np.array([-math.sin(a), math.cos(a)])
            up, across = L * u - (side, 0.0), 2.0 * L * u[0] - side
            high = float(np.linalg.norm(up))
            pull = -100.0 * max(0.0, high - 0.9 * side) * up / high
            pull[0] -= 100.0 * max(0.0, across - side)
            inertia, grows = m * (L**2 / 3.0 + RADIUS**2 / 4.0), m * 2.0 * L / 3.0
            radial = pull @ u - k * (L - LENGTH) + 0.5 * grows * turn**2
            around = L * (pull @ n) - grows * rate * turn
            return np.array([rate, turn, radial / (share * m), around / inertia])

        start, times = [LENGTH, math.pi / 4, 0.0, 0.0], np.linspace(0.0, seconds, 201)
        found = solve_ivp(slope, (0.0, seconds), start, "DOP853", times, rtol=1e-11, atol=1e-13)
        L, a = found.y[:2]
        return np.array([L * np.cos(a), L * np.sin(a)])

    return float(abs(tips(1.0 / 3.0) - tips(1.0 / 4.0)).max())


def struck(made: qp.Tensegrity, still: qp.State, seconds: float) -> qp.Trajectory:
    """A run from rest under a doublet at node 2."""
    node = made.nodes[2]
    force = qp.Schedule((0.0, PULSE, 2.0 * PULSE), ((PUSH, 0, 0), (-PUSH, 0, 0), (0, 0, 0)))
    load = qp.Load("doublet", node.body, force=force, at=tuple(made.places()[2]))
    start = still.replace(t=0.0)
    return made.system.with_(load).simulate(seconds, state=start, rtol=1e-9, atol=1e-11)


def doublet(made: qp.Tensegrity, still: qp.State, seconds: float = SEEN) -> tuple[float, float]:
    """The largest displacement of a node along an axis after a doublet, and the square norm of all,
    over that of the force."""
    run = struck(made, still, seconds)
    times = np.linspace(0.0, seconds, 20_001)
    y = np.array([made.places(run.at(t))[2:] for t in times]) - made.places(still)[2:]
    square = np.trapezoid((y**2).sum(axis=(1, 2)), times)
    given = PUSH * math.sqrt(2.0 * PULSE)
    return float(abs(y).max() / given), float(math.sqrt(square) / given)


def of_nylon(material: dict[str, float], damping: float = 40.0) -> qp.Tensegrity:
    """The T-bar with strings of nylon, of table 1, all of them at 90 % of their length."""
    string: Any = {"EA": 2e9 * math.pi * 0.001**2, "rest": 0.9, "damping": damping}
    bar: Any = {"radius": RADIUS, "damping": OF_BARS, **material}
    return qp.tensegrities.t_bar(LENGTH, bar=bar, string=string)


def with_nylon(material: dict[str, float]) -> tuple[float, float]:
    """The figures of the doublet for strings of nylon, which come nearest to those stated."""
    made = of_nylon(material)
    return doublet(made, made.system.settle().state, 20.0)


def of_densities(material: dict[str, float], damping: float = 10.0) -> tuple[float, float]:
    """The norms H2 and H-infinity from force densities of all strings, the controls of the paper,
    to free nodes: those nearest to the stated ones."""
    made = t_bar(material, damping=damping)
    inputs = [f"s{k}.density" for k in (1, 2, 3)]
    still = made.system.settle().state
    model = made.system.linearize(still, inputs=inputs, outputs=made.nodes[2:])
    return model.h2(), model.hinf()


def row_of(name: str) -> Row:
    """All figures of one material."""
    material = MATERIALS[name]
    made, damped = t_bar(material), t_bar(material, damping=OF_STRINGS)
    made.system.simulate(0.01)
    began = time.perf_counter()
    made.system.simulate(10.0, rtol=1e-10, atol=1e-10)
    wall = time.perf_counter() - began
    still = damped.system.settle().state
    free = damped.nodes[2:]
    model = damped.system.linearize(still, inputs=free, outputs=free)
    compliance = np.linalg.eigvalsh(model.at_rest())[2:]  # none across the plane
    return Row(
        sum(body.mass for body in made.system.parts if isinstance(body, qp.Body)), wall,
        off_rigid(made, material["density"]), off_printed(material), model.h2(), model.hinf(),
        model.energy_to_peak(), model.peak_to_peak(), tuple(compliance.tolist()),
        *doublet(damped, still),
    )  # fmt: skip


def main() -> dict[str, Row]:
    """Print and return the figures of both materials."""
    out = {}
    for name in MATERIALS:
        row = out[name] = row_of(name)
        print(f"{name}: {row.mass:.2f} kg; 10 s at 1e-10 in {row.wall:.3f} s, ", end="")
        print(f"stated {STATED[name]:g} s, {STATED[name] / row.wall:.0f} x")
        print(f"  off rigid bars {row.off_rigid:.0e} m, off T_f as printed {row.off_printed:.0e} m")
        print(f"  H2 {row.h2:.4f}, Hinf {row.hinf:.4f}, energy to peak {row.peak:.4f}, ", end="")
        print(f"peak to peak {row.peaks:.4f}")
        print("  compliance " + ", ".join(f"{x:.4g}" for x in row.compliance) + " m/N")
        print(f"  doublet: largest {row.largest:.3g}, square {row.square:.3g}")
        material = MATERIALS[name]
        print("  with nylon: largest {:.3g}, square {:.3g}".format(*with_nylon(material)))
        print("  from force densities: H2 {:.4f}, Hinf {:.4f}".format(*of_densities(material)))
    return out


if __name__ == "__main__":
    main()
