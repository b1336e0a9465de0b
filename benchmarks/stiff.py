"""Stiff motion: implicit steps beside SciPy's Radau over the same right hand side, and beside
explicit steps: ``python -m benchmarks.stiff [--quick]``."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import Radau

import quirkpy as qp
from benchmarks.tables import table
from benchmarks.variants import recompiled
from quirkpy.kernels.base.states import bodies_of, positions_of
from quirkpy.kernels.step import steps
from quirkpy.motion.driver import Driver
from quirkpy.motion.settings import Settings

#: The steps of differences, of numbers of a state.
DIFFERENCE = 1.5e-8
#: Radius [m], density [kg/m3] and Young's modulus [Pa] of the bars of Hsu, Tadiparthi and
#: Bhattacharya, of length 5 m; strings [N/m], the upright ones at 90 % of their length.
RADIUS, LENGTH, STRING, TAUT = 0.05, 5.0, 100.0, 0.9
MATERIALS = {"HDPE": (960.0, 1e9), "aluminium": (2700.0, 68e9)}
#: The rate of a circular orbit of 95 minutes [rad/s].
ORBIT = 2.0 * math.pi / 5700.0


class Case(NamedTuple):
    """A system, how long it moves [s], and in which share of that SciPy is measured, which is
    slow."""

    name: str
    system: qp.Multibody
    duration: float
    share: float


def pinned_pair(damping: float = 0.05) -> qp.Multibody:
    """Two cubes of a kilogram, pinned at 30 mm by what a magnet of 5.7 A m2 and a superconductor do
    to first order, in orbit; one begins a centimetre off."""
    hub = qp.Body.box("hub", size=(0.1, 0.1, 0.1), mass=1.0)
    arm = qp.Body.box("arm", size=(0.1, 0.1, 0.1), mass=1.0, position=(0.13, 0, 0))
    cold = qp.Superconductor("cold", hub.site("face", at=(0.05, 0, 0), z=(1, 0, 0)))
    magnet = qp.Magnet("magnet", arm.site("inner", at=(-0.05, 0, 0), z=(1, 0, 0)), moment=5.7)
    pinning = qp.FluxPinning(cold, magnet).linearized("spring", damping=damping)
    system = qp.Multibody(hub, arm, pinning, qp.HillFrame(ORBIT))
    return system.at(system.initial.replace({"arm": {"position": (0.14, 0.002, 0.0)}}))


def bar(name: str, start: Any, end: Any, material: str) -> list[Any]:
    """A bar that yields along itself: two halves on a slide, its axial spring between them, damped
    by half a percent."""
    density, modulus = MATERIALS[material]
    area, middle = math.pi * RADIUS**2, 0.5 * (np.array(start) + np.array(end))
    mass, axial = 0.5 * density * area * LENGTH, modulus * area / LENGTH
    lower = qp.Body.rod(f"{name} lower", start, middle, mass=mass)
    upper = qp.Body.rod(f"{name} upper", middle, end, mass=mass)
    along = (np.array(end) - np.array(start)) / LENGTH
    slide = qp.Prismatic(f"{name} slide", lower, upper, at=middle, axis=along)
    damping = 2.0 * 0.005 * math.sqrt(axial * 0.5 * mass)
    axle = qp.JointSpring(f"{name} axial", slide, stiffness=axial, damping=damping)
    return [lower, upper, slide, axle]


def string(name: str, one: Any, two: Any, at1: Any, at2: Any, taut: float) -> qp.Spring:
    """A string between two points, as long at rest as a share of their distance."""
    rest = taut * math.dist(at1, at2)
    return qp.Spring(
        name, one, two, at1=at1, at2=at2, stiffness=STRING, rest_length=rest, tension_only=True
    )


def t_bar(material: str) -> qp.Multibody:
    """Two crossed bars, hinged at their feet, between strings; in a plane, without gravity."""
    side = LENGTH / math.sqrt(2.0)
    a = bar("one", (0, 0, 0), (side, side, 0), material)
    b = bar("two", (side, 0, 0), (0, side, 0), material)
    feet = [
        qp.Revolute("foot one", qp.GROUND, a[0], at=(0, 0, 0), axis=(0, 0, 1)),
        qp.Revolute("foot two", qp.GROUND, b[0], at=(side, 0, 0), axis=(0, 0, 1)),
    ]
    strings = [
        string("left", qp.GROUND, b[1], (0, 0, 0), (0, side, 0), TAUT),
        string("right", qp.GROUND, a[1], (side, 0, 0), (side, side, 0), TAUT),
        string("top", a[1], b[1], (side, side, 0), (0, side, 0), 1.0),
    ]
    return qp.Multibody(*a, *b, *feet, *strings)


def damped_chain(n: int = 8) -> qp.Multibody:
    """Rods in a row on hinges that are stiff and strongly damped but for the first, which swings
    under gravity."""
    rods, joints, springs, before = [], [], [], qp.GROUND
    for k in range(n):
        rods.append(qp.Body.rod(f"rod {k}", (0.2 * k, 0, 0), (0.2 * k + 0.2, 0, 0), mass=0.1))
        joints.append(
            qp.Revolute(f"hinge {k}", before, rods[-1], at=(0.2 * k, 0, 0), axis=(0, 1, 0))
        )
        stiff = (1e3, 10.0) if k else (0.0, 0.05)
        springs.append(
            qp.HingeSpring(f"spring {k}", joints[-1], stiffness=stiff[0], damping=stiff[1])
        )
        before = rods[-1]
    return qp.Multibody(*rods, *joints, *springs, qp.Gravity((0, 0, -9.81)))


def cases(quick: bool) -> list[Case]:
    """What is moved."""
    return [
        Case("damped flux pins in orbit", pinned_pair(), 570.0 if quick else 5700.0, 1.0),
        Case("T-bar of HDPE", t_bar("HDPE"), 1.0 if quick else 10.0, 0.2),
        Case("T-bar of aluminium", t_bar("aluminium"), 1.0 if quick else 10.0, 0.2),
        Case("chain of 8 rods, fast modes damped", damped_chain(), 1.0 if quick else 10.0, 0.2),
    ]  # fmt: skip


# --- SciPy over the same right hand side ----------------------------------------------------------
SLOPE = recompiled(steps.slope)


class Peer:
    """SciPy's Radau, whose right hand side is one call of a kernel; its Jacobian by differences, a
    call for each number of the state."""

    def __init__(self, system: qp.Multibody, rtol: float) -> None:
        settings = Settings(rtol=rtol, atol=0.01 * rtol)
        self.driver = Driver(system.clusters, system.initial, 1.0, (), settings)
        self.driver.make_room(1)
        self.rtol, self.asked, self.steps = rtol, 0, 0
        self.length = self.driver.layout.states.state_length

    def slope(self, t: float, y: np.ndarray) -> np.ndarray:
        """dy/dt."""
        e, run = self.driver.engine, self.driver.run_arrays
        run.lines[steps.WITHIN, : self.length] = y
        SLOPE(t, steps.WITHIN, steps.SMALL, run, e.model, e.conditions, e.scratch)
        self.asked += 1
        return run.lines[steps.SMALL, : self.length].copy()

    def jacobian(self, t: float, y: np.ndarray) -> np.ndarray:
        """d(dy/dt)/dy."""
        out, here = np.zeros((len(y), len(y))), self.slope(t, y)
        for k in self.driver.layout.states.moving.tolist():
            off = y.copy()
            off[k] += DIFFERENCE * max(1.0, abs(y[k]))
            out[:, k] = (self.slope(t, off) - here) / (off[k] - y[k])
        return out

    def run(self, duration: float) -> np.ndarray:
        """Places of all bodies at the end [m]."""
        with self.driver.at_work():
            self.driver.first_steps(1)
            start = self.driver.run_arrays.lines[steps.BEGIN, : self.length].copy()
            solver = Radau(
                self.slope, 0.0, start, duration, rtol=self.rtol, atol=0.01 * self.rtol,
                jac=self.jacobian, first_step=float(self.driver.clock[steps.H]),
            )  # fmt: skip
            while solver.status == "running":
                solver.step()
                self.steps += 1
            return positions_of(bodies_of(self.driver.layout.states.rows_in(solver.y))).copy()


# --- measuring ------------------------------------------------------------------------------------
def timed(make: Callable[..., Any], *given: Any, times: int = 3) -> tuple[float, Any]:
    """The least processor time of some trials [ms], and what was made."""
    best, made = math.inf, None
    for _ in range(times):
        begun = time.process_time()
        made = make(*given)
        best = min(best, time.process_time() - begun)
    return 1e3 * best, made


def fly(system: qp.Multibody, duration: float, method: Any, rtol: float) -> qp.Trajectory:
    """A run of which the end alone is kept."""
    atol = 0.01 * rtol
    return system.simulate(
        duration, method=method, rtol=rtol, atol=atol, keep="ends", progress=False
    )


def ours(system: qp.Multibody, duration: float, method: str, rtol: float, end: Any) -> list[Any]:
    """A line: error against where bodies end, and what it took."""
    spent, run = timed(fly, system, duration, method, rtol)
    off, counts = float(abs(run.final.r - end).max()), run.counts
    words = ", ".join(event.name for event in run.events)
    return [
        f"{method}, {duration:g} s", f"{rtol:.0e}", off, counts.steps, counts.evaluations, spent,
        words,
    ]  # fmt: skip


def theirs(system: qp.Multibody, duration: float, rtol: float, end: Any) -> list[Any]:
    """The same of SciPy's Radau."""
    peer = Peer(system, rtol)
    spent, there = timed(peer.run, duration, times=1)
    off = float(abs(there - end).max())
    return [f"SciPy's, {duration:g} s", f"{rtol:.0e}", off, peer.steps, peer.asked, spent, ""]


def measure(case: Case, tolerances: tuple[float, ...]) -> str:
    """Error at the end and processor time, by tolerance."""
    rows, short = [], case.share * case.duration
    for duration in sorted({case.duration, short}):
        end = fly(case.system, duration, "radau", 1e-11).final.r
        for rtol in tolerances:
            rows.append(ours(case.system, duration, "radau", rtol, end))
            if duration == short:
                rows.append(theirs(case.system, duration, rtol, end))
            if duration == case.duration:
                rows.append(ours(case.system, duration, "auto", rtol, end))
        rows.append(ours(case.system, duration, "dop853", tolerances[0], end))
    heads = ["method", "rtol", "error [m]", "steps", "evaluations", "ms", "events"]
    return table(case.name, heads, rows)


def main(quick: bool = False) -> None:
    for case in cases(quick):
        print(measure(case, (1e-6,) if quick else (1e-4, 1e-6, 1e-8)), end="\n\n", flush=True)


if __name__ == "__main__":
    main("--quick" in sys.argv)
