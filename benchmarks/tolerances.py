"""End error against tolerance, and the error between steps: ``python -m benchmarks.tolerances
[--quick]``."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Iterator

import numpy as np
from scipy.spatial.transform import Rotation

import quirkpy as qp
from benchmarks.tables import table
from benchmarks.variants import recompiled
from quirkpy.kernels.base.states import attitudes_of, bodies_of, positions_of
from quirkpy.kernels.step import integrator, steps
from quirkpy.kernels.step.methods import Method
from quirkpy.mechanics.engine import Engine
from quirkpy.motion.driver import Driver
from quirkpy.motion.settings import Settings

#: Tip of `falling_chain(8)` at 5 s: two methods of order 8 and two programs agree to about 1e-12.
TIP = np.array((-6.46661930312065, 4.303127178467408, -1.1481616601243552))
END = 5.0  # [s]
METHODS: tuple[Method, ...] = ("dop853", "rk45")


def falling_chain(n: int, turn: np.ndarray | None = None, start: float = 0.0) -> qp.Multibody:
    """n square rods, 1 x 0.05 x 0.05 m and 1 kg, on ball joints in a line along x, turning as one
    with 1 rad/s about the vertical; then they fall.  turn: a rotation matrix for the whole world;
    start: where along x the chain hangs."""
    Q = np.eye(3) if turn is None else turn
    pose = Rotation.from_matrix(Q)
    rods, joints, before = [], [], qp.GROUND
    for k in range(n):
        moving = {"velocity": Q @ (0.0, k + 0.5, 0.0), "angular_velocity": (0.0, 0.0, 1.0)}
        at = Q @ (start + k + 0.5, 0.0, 0.0)
        rods.append(
            qp.Body.box(f"rod {k}", (1.0, 0.05, 0.05), 1.0, position=at, orientation=pose, **moving)
        )
        joints.append(qp.Spherical(f"joint {k}", before, rods[-1], at=Q @ (start + k, 0.0, 0.0)))
        before = rods[-1]
    return qp.Multibody(*rods, *joints, qp.Gravity(Q @ (0.0, 0.0, -9.81)))


def tip(state: qp.State) -> np.ndarray:
    """The free end of the last rod, whose body x axis runs along it."""
    w, x, y, z = state.q[-1]
    along = np.array([1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)])
    return state.r[-1] + 0.5 * along


def end_errors(tolerances: tuple[float, ...]) -> str:
    """atol is a hundredth of rtol."""
    system = falling_chain(8)
    rows: list[list[object]] = []
    for rtol in tolerances:
        row: list[object] = [f"{rtol:.0e}"]
        for method in METHODS:
            run, best = (
                system.simulate(END, rtol=rtol, atol=0.01 * rtol, method=method, keep="ends"),
                np.inf,
            )
            for _ in range(3):
                begin = time.perf_counter()
                system.simulate(END, rtol=rtol, atol=0.01 * rtol, method=method, keep="ends")
                best = min(best, time.perf_counter() - begin)
            off = float(abs(tip(run.final) - TIP).max())
            row += [off, off / rtol, run.counts.evaluations, f"{1e3 * best:.1f}"]
        rows.append(row)
    heads = [
        "rtol",
        *(f"{m} {word}" for m in METHODS for word in ("error [m]", "/ rtol", "evaluations", "ms")),
    ]
    return table("tip of 8 rods at 5 s", heads, rows)


def worlds(rtol: float) -> str:
    """The same fall in a world that is turned, and in one whose origin is far away."""
    turn = Rotation.from_rotvec([0.7, -0.4, 1.1]).as_matrix()
    rows: list[list[object]] = []
    for name, Q, start in (
        ("as it is", np.eye(3), 0.0),
        ("turned", turn, 0.0),
        ("1 km from the origin", np.eye(3), 1e3),
    ):
        run = falling_chain(8, Q, start).simulate(END, rtol=rtol, atol=0.01 * rtol, keep="ends")
        off = float(abs(Q.T @ tip(run.final) - (start, 0.0, 0.0) - TIP).max())
        rows.append([name, run.counts.steps, run.counts.rejections, off])
    return table(
        f"the error norm: dop853, rtol {rtol:.0e}",
        ["world", "steps", "rejections", "error [m]"],
        rows,
    )


def growth(durations: tuple[float, ...], rtol: float) -> str:
    """The error of a longer fall, against a run of the same method at a tolerance of 1e-13."""
    system = falling_chain(8)
    rows: list[list[object]] = []
    for duration in durations:
        row: list[object] = [f"{duration:g} s"]
        fine = [
            system.simulate(duration, rtol=1e-13, atol=1e-15, method=m, keep="ends").final
            for m in METHODS
        ]
        for method, best in zip(METHODS, fine):
            run = system.simulate(duration, rtol=rtol, atol=0.01 * rtol, method=method, keep="ends")
            row.append(float(abs(tip(run.final) - tip(best)).max()) / rtol)
        rows.append([*row, float(abs(tip(fine[0]) - tip(fine[1])).max())])
    heads = ["after", *(f"{m}: error / rtol" for m in METHODS), "methods at 1e-13 differ by [m]"]
    return table(f"tip of 8 rods, rtol {rtol:.0e}", heads, rows)


def between_steps(rtol: float) -> str:
    """Largest error of the interpolant that locates events, and of run.at(), at eight points within
    every step.

    The truth is a run from the step's beginning at a tolerance of 1e-13.
    """
    system = falling_chain(8)
    rows: list[list[object]] = []
    for method in METHODS:
        run = system.simulate(1.0, rtol=rtol, atol=0.01 * rtol, method=method)
        worst, at_end, asked = 0.0, 0.0, 0.0
        for k in range(0, len(run.t) - 1, max(1, len(run.t) // 40)):
            begin, h = run.states[k], float(run.t[k + 1] - run.t[k])
            for x, r, q in interpolated(system, begin, h, run.settings):
                fine = system.at(begin).simulate(x * h, rtol=1e-13, atol=1e-15, keep="ends").final
                off = max(abs(r - fine.r).max(), np.minimum(abs(q - fine.q), abs(q + fine.q)).max())
                worst = max(worst, float(off))
                there = run.at(begin.t + x * h)
                asked = max(asked, float(abs(there.r - fine.r).max()))
            fine = system.at(begin).simulate(h, rtol=1e-13, atol=1e-15, keep="ends").final
            at_end = max(at_end, float(abs(run.states[k + 1].r - fine.r).max()))
        rows.append([method, f"{rtol:.0e}", at_end, worst, asked])
    heads = ["method", "rtol", "end of the step", "interpolant within", "run.at() within"]
    return table("local error [m]", heads, rows)


make_polynomial, interpolate = recompiled(steps.make_polynomial), recompiled(steps.interpolate)


def interpolated(
    system: qp.Multibody, begin: qp.State, h: float, s: Settings
) -> Iterator[tuple[float, ...]]:
    """Fractions of one step of size h from `begin`, with poses from its interpolant."""
    one = dataclasses.replace(s, step=h, keep="ends", max_steps=1)
    d = Driver(system.clusters, begin, h, (), one)
    with d.at_work() as e:
        e.turn_to(begin.near)
        yield from _inside(d, e, begin.t)


def _inside(d: Driver, e: Engine, begun: float) -> Iterator[tuple[float, ...]]:
    arrays, rows = d.run_arrays, d.empty_rows(1)
    integrator.advance(arrays, e.model, e.conditions, e.scratch, d.table, d.watch, rows, True, 1)
    first = arrays.lines[[0, steps.BEGIN]].copy()
    integrator.advance(arrays, e.model, e.conditions, e.scratch, d.table, d.watch, rows, False, 1)
    arrays.lines[[0, steps.BEGIN]], d.clock[steps.T] = (
        first,
        begun,
    )  # as it was before the step was stored
    make_polynomial(arrays, e.model, e.conditions, e.scratch, d.table)
    for x in np.arange(1, 9) / 9.0:
        interpolate(x, arrays, d.table)
        inside = bodies_of(d.layout.states.rows_in(arrays.lines[steps.WITHIN]))
        yield float(x), positions_of(inside).copy(), attitudes_of(inside).copy()


def main(quick: bool = False) -> None:
    print(
        end_errors(
            (1e-4, 1e-6)
            if quick
            else (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)
        )
    )
    print()
    print(worlds(1e-4 if quick else 1e-8), end="\n\n")
    print(growth((1.0,) if quick else (1.0, 5.0, 10.0, 15.0, 20.0), 1e-8), end="\n\n")
    for rtol in (1e-6,) if quick else (1e-6, 1e-8, 1e-10):
        print(between_steps(rtol), end="\n\n")


if __name__ == "__main__":
    main("--quick" in sys.argv)
