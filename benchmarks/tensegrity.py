"""Tensegrities: this toolbox beside the method of Hsu, Tadiparthi and Bhattacharya as they print
it, here in NumPy, and MuJoCo and Exudyn, where they are installed.

    python -m benchmarks.tensegrity
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import RK45

import quirkpy as qp

GOAL, SECONDS = 1e-10, 10.0
#: Seconds that the paper states for this T-bar.
STATED = 2.4
WOOD = {"density": 500.0, "radius": 0.05}
SPRINGS = {"stiffness": 100.0, "rest": (0.9, 0.9, 1.0)}


class Printed(NamedTuple):
    """A tensegrity in Cartesian coordinates of its nodes, eqs. 1 to 24: mass matrix, connectivity
    of strings with stiffness and rest lengths, that of bars with lengths, rows that fix nodes."""

    M: np.ndarray
    ways: np.ndarray
    stiffness: np.ndarray
    rests: np.ndarray
    pairs: np.ndarray
    lengths: np.ndarray
    held: np.ndarray

    @classmethod
    def of(cls, made: qp.Tensegrity, fixed: list[int]) -> Printed:
        """Of bars without masses at their ends."""
        n = len(made.nodes)
        M = np.zeros((3 * n, 3 * n))
        C = np.zeros((len(made.ends), n))
        for k, (body, (i, j)) in enumerate(zip(made.bars, made.ends, strict=True)):
            C[k, i], C[k, j] = -1.0, 1.0
            X = np.kron(C[k], np.eye(3))
            middle = 0.5 * np.kron(abs(C[k]), np.eye(3))
            length = body.shape.length  # type: ignore[union-attr]
            M += body.mass * middle.T @ middle + body.inertia[1] / length**2 * X.T @ X  # type: ignore
        S = np.zeros((len(made.ways), n))
        for k, (i, j) in enumerate(made.ways):
            S[k, i], S[k, j] = -1.0, 1.0
        held = np.concatenate([np.kron(np.eye(n)[i], np.eye(3)) for i in fixed])
        return cls(
            M, S, np.array([s.stiffness for s in made.strings]),
            np.array([s.rest_length for s in made.strings]), C,
            np.array([b.shape.length for b in made.bars]), held,  # type: ignore[union-attr]
        )  # fmt: skip

    def stretched(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Directions and stretches of the strings, none below zero."""
        s = self.ways @ q.reshape(-1, 3)
        length = np.linalg.norm(s, axis=1)
        return s / length[:, None], np.maximum(length - self.rests, 0.0)

    def slope(self, _: float, y: np.ndarray) -> np.ndarray:
        """Eq. 22."""
        q, v = np.split(y, 2)
        units, stretch = self.stretched(q)
        load = -(self.ways.T @ (units * (self.stiffness * stretch)[:, None])).ravel()
        rows, bend = self.rows(q), self.bends(v)
        free = np.linalg.solve(self.M, load)
        back = np.linalg.solve(self.M, rows.T)
        multipliers = np.linalg.solve(rows @ back, bend + rows @ free)
        return np.concatenate([v, free - back @ multipliers])

    def rows(self, q: np.ndarray) -> np.ndarray:
        """Eq. 25."""
        b = self.pairs @ q.reshape(-1, 3)
        bars = 2.0 * (self.pairs[:, :, None] * b[:, None]).reshape(len(b), -1)
        return np.concatenate([self.held, bars])

    def bends(self, v: np.ndarray) -> np.ndarray:
        """What velocities add to the rows of accelerations."""
        b = self.pairs @ v.reshape(-1, 3)
        return np.concatenate([np.zeros(len(self.held)), 2.0 * np.einsum("ki,ki->k", b, b)])

    def energy(self, y: np.ndarray) -> float:
        """Eq. 34."""
        q, v = np.split(y, 2)
        return float(0.5 * v @ self.M @ v + 0.5 * self.stiffness @ self.stretched(q)[1] ** 2)

    def corrected(
        self, y: np.ndarray, start: np.ndarray, energy: float, way: str = "printed"
    ) -> np.ndarray:
        """Algorithm 1, with eq. 45; no forces from outside.

        way: "printed"; "joints", eq. 33, without the row of energy; "weighted", with the least
        kinetic energy of corrections instead of the least sum of squares; "none"."""
        weight = np.eye(len(y))
        if way == "weighted":
            weight = np.linalg.inv(np.kron(np.eye(2), self.M))
        for _ in range(10 if way != "none" else 0):
            q, v = np.split(y, 2)
            b = self.pairs @ q.reshape(-1, 3)
            gaps = np.concatenate(
                [self.held @ (q - start), np.einsum("ki,ki->k", b, b) - self.lengths**2]
            )
            wrong = energy - self.energy(y) if way != "joints" else 0.0
            if max(np.linalg.norm(gaps), abs(wrong)) <= GOAL:
                break
            rows, turning = self.rows(q), self.rows(v)
            turning[: len(self.held)] = 0.0
            units, stretch = self.stretched(q)
            pull = (self.ways.T @ (units * (self.stiffness * stretch)[:, None])).ravel()
            A = np.block(
                [[rows, np.zeros_like(rows)], [turning, rows], [pull[None], (self.M @ v)[None]]]
            )
            wanted = np.concatenate([-gaps, -rows @ v, [wrong]])
            if way == "joints":
                A, wanted = A[:-1], wanted[:-1]
            y = y + weight @ A.T @ np.linalg.solve(A @ weight @ A.T, wanted)
        return y

    def simulate(
        self, start: np.ndarray, seconds: float, way: str = "printed", goal: float | None = None,
        look: Callable[[float, np.ndarray], None] = lambda t, y: None,
    ) -> tuple[np.ndarray, int]:  # fmt: skip
        """Dormand and Prince's method to a tolerance, corrected in some way after each step; the
        end, and how many steps. look: called after each."""
        y, steps = np.concatenate([start, np.zeros_like(start)]), 0
        energy = self.energy(y)
        tolerance = GOAL if goal is None else goal
        solver = RK45(self.slope, 0.0, y, seconds, rtol=tolerance, atol=tolerance)
        while solver.status == "running":
            solver.step()
            if way != "none":
                solver.y = self.corrected(solver.y, start, energy, way)
                solver.f = self.slope(solver.t, solver.y)
            look(solver.t, solver.y)
            steps += 1
        return solver.y, steps


def timed(run: Callable[[], object], times: int = 5) -> float:
    """The least of some times [s]."""
    out = []
    for _ in range(times):
        began = time.perf_counter()
        run()
        out.append(time.perf_counter() - began)
    return min(out)


def t_bars() -> None:
    """A T-bar, 10 s at 1e-10, with the energy held by both."""
    made = qp.tensegrities.t_bar(bar=WOOD, string=SPRINGS)  # type: ignore[typeddict-item]
    options = {"rtol": GOAL, "atol": GOAL, "energy": "conserve"}
    run = made.system.simulate(SECONDS, **options)  # type: ignore[arg-type]
    ours = timed(lambda: made.system.simulate(SECONDS, **options))  # type: ignore[arg-type]
    printed = Printed.of(made, [0, 1])
    start = made.places().ravel()
    (end, steps), began = printed.simulate(start, SECONDS), time.perf_counter()
    printed.simulate(start, SECONDS)
    theirs = time.perf_counter() - began
    apart = float(abs(made.places(run.final).ravel() - np.split(end, 2)[0]).max())
    print(f"T-bar, {SECONDS:g} s at {GOAL:g}: {1e3 * ours:.2f} ms, {run.counts.steps} steps")
    print(f"  as printed, in NumPy: {theirs:.2f} s, {steps} steps, {theirs / ours:.0f} x")
    print(f"  stated by the paper: {STATED:g} s, {STATED / ours:.0f} x")
    print(f"  ends differ by {apart:.0e} m")


def pushed(made: qp.Tensegrity, rates: tuple[float, float]) -> qp.State:
    """A T-bar whose bars turn about their feet, the first to the left and the second to the right,
    so fast [rad/s]."""
    start, changed = made.system.initial, {}
    signed = (-rates[0], rates[1])
    for body, foot, rate in zip(made.bars, made.places()[:2], signed, strict=True):
        spin = np.array([0.0, rate, 0.0])
        changed[body.name] = {
            "velocity": np.cross(spin, np.array(body.position) - foot),
            "angular_velocity": body.matrix.T @ spin,
        }
    return start.replace(changed)


def in_mujoco(step: float, rates: tuple[float, float]) -> tuple[Callable[[], object], Any]:
    """The same as two hinges and tendons that only pull, by RK4; a run of it, and its data."""
    import mujoco

    made = qp.tensegrities.t_bar(bar=WOOD, string=SPRINGS)  # type: ignore[arg-type]
    places, bodies = made.places().tolist(), ""
    for name, body, foot, tip in zip("ab", made.bars, places[:2], places[2:], strict=True):
        x, z, across = tip[0] - foot[0], tip[2], body.inertia[1]  # type: ignore[index]
        bodies += (
            f'<body name="{name}" pos="{foot[0]} 0 0"><joint type="hinge" axis="0 -1 0"/>'
            f'<inertial pos="{0.5 * x} 0 {0.5 * z}" mass="{body.mass}" '
            f'diaginertia="{across} {across} {across}"/>'
            f'<site name="{name}" pos="{x} 0 {z}"/></body>'
        )
    ties = "".join(
        f'<spatial springlength="0 {string.rest_length}" stiffness="{string.stiffness}">'
        f'<site site="{one}"/><site site="{two}"/></spatial>'
        for string, one, two in zip(made.strings, "dca", "abb", strict=True)
    )
    text = (
        f'<mujoco><option gravity="0 0 0" integrator="RK4" timestep="{step}">'
        '<flag contact="disable"/></option><worldbody><site name="c" pos="0 0 0"/>'
        f'<site name="d" pos="{places[1][0]} 0 0"/>{bodies}</worldbody>'
        f"<tendon>{ties}</tendon></mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)

    def run() -> None:
        mujoco.mj_resetData(model, data)
        data.qvel[:] = rates[0], -rates[1]
        mujoco.mj_step(model, data, round(SECONDS / step))
        mujoco.mj_forward(model, data)

    return run, data


def tendons() -> None:
    """A T-bar with kinks, 10 s, here and by tendons of MuJoCo: error of the tips and time."""
    made = qp.tensegrities.t_bar(bar=WOOD, string=SPRINGS)  # type: ignore[arg-type]
    rates = (0.25, -0.1)
    start = pushed(made, rates)
    best = made.places(made.system.simulate(SECONDS, state=start, rtol=1e-13, atol=1e-14).final)

    def tell(name: str, places: np.ndarray, wall: float) -> None:
        print(f"  {name}: {abs(places - best[2:]).max():.0e} m in {1e3 * wall:.2f} ms")

    print(f"T-bar with {len(made.system.simulate(SECONDS, state=start).events)} kinks:")
    for goal in (1e-6, 1e-8, 1e-10):
        run = lambda goal=goal: made.system.simulate(  # noqa: E731
            SECONDS, state=start, rtol=goal, atol=goal
        )
        tell(f"here, {goal:g}", made.places(run().final)[2:], timed(run))
    if importlib.util.find_spec("mujoco") is not None:
        for step in (1e-2, 1e-3, 1e-4):
            fly, data = in_mujoco(step, rates)
            wall = timed(fly, 2)
            tell(f"MuJoCo, steps of {step:g} s", np.array([data.site(n).xpos for n in "ab"]), wall)
    if importlib.util.find_spec("exudyn") is not None:
        from benchmarks import in_exudyn

        for step in (1e-2, 1e-3, 1e-4):
            go, ends = in_exudyn.t_bar(made, rates, step, SECONDS)
            wall = timed(go, 2)
            tell(f"Exudyn RK44, steps of {step:g} s", ends(), wall)


def towers() -> None:
    """One second of towers of 10 to 100 bars, at 1e-8: what each bar and evaluation costs."""
    for order, stages in ((5, 2), (5, 10), (5, 20)):
        made = qp.tensegrities.tower(
            order, stages, 1.0, 1.0, bar={"density": 1300.0, "radius": 0.01},
            string={"stiffness": 500.0, "rest": 0.98, "damping": 1.0},
        )  # fmt: skip
        run = made.system.simulate(0.2)
        wall = timed(lambda made=made: made.system.simulate(0.2), 6)  # type: ignore[misc]
        each = wall / run.counts.evaluations / len(made.bars)
        print(
            f"tower of {len(made.bars):3d} bars, {len(made.strings):3d} strings: "
            f"{1e6 * each:.2f} us per bar and evaluation, {run.counts.evaluations} evaluations"
        )


if __name__ == "__main__":
    t_bars()
    tendons()
    towers()
