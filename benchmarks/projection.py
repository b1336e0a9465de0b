"""What projection removes, how many Newton steps it takes, and what it costs: ``python -m
benchmarks.projection``."""

from __future__ import annotations

import sys
import time

import numpy as np

import quirkpy as qp
from benchmarks import problems
from benchmarks.cutoffs import moved_off
from benchmarks.tables import table
from benchmarks.tolerances import falling_chain
from benchmarks.variants import recompiled
from quirkpy.kernels.base.states import with_ledger
from quirkpy.kernels.step import projection
from quirkpy.motion.driver import state_at

OFF = (1e-9, 1e-6, 1e-3)


#: One Newton step, and the velocities.
one_step = recompiled(projection.project, NEWTON_STEPS=1)


def projected(system: qp.Multibody, state: qp.State) -> tuple[qp.State, int]:
    """The state on the joints, and the Newton steps that it took."""
    at, moved = state.instant(), np.zeros(2)
    y = with_ledger(at.state)
    taken = 0
    with system.clusters.lend() as e:
        e.turn_to(at.near)
        while taken == 0 or (
            moved[0] >= projection.PROJECTION_TOLERANCE and taken < projection.NEWTON_STEPS
        ):
            one_step(y, e.model, e.conditions, e.scratch, moved)
            taken += 1
    return state_at(state, state.t, y, at.near), taken


def residuals(system: qp.Multibody, state: qp.State) -> tuple[float, float]:
    """Largest residual in position and in velocity."""
    found = system.residual(state)
    return float(abs(found.position).max()), float(abs(found.velocity).max())


def before_and_after(systems: dict[str, qp.Multibody]) -> str:
    """States disturbed in every pose and velocity."""
    rows: list[list[object]] = []
    for name, system in systems.items():
        for off in OFF:
            state = moved_off(system.initial, off)
            new, steps = projected(system, state)
            rows.append(
                [name, f"{off:.0e}", *residuals(system, state), *residuals(system, new), steps]
            )
    heads = [
        "system",
        "off",
        "position",
        "velocity",
        "position after",
        "velocity after",
        "Newton steps",
    ]
    return table("largest residuals before and after a projection", heads, rows)


def in_a_run(systems: dict[str, qp.Multibody], duration: float) -> str:
    """At the default tolerances: residuals at the end with and without; the largest correction of a
    step."""
    rows: list[list[object]] = []
    for name, system in systems.items():
        without = system.simulate(duration, drift="none", keep="ends")
        run = system.simulate(duration)
        largest = (float(x) for x in run.drift.max(axis=0))
        again = int((run.drift[:, 0] >= projection.PROJECTION_TOLERANCE).sum())
        rows.append(
            [
                name,
                run.counts.steps,
                *residuals(system, without.final),
                *residuals(system, run.final),
                *largest,
                again,
            ]
        )
    heads = [
        "system", "steps", "none: position", "velocity", "project: position", "velocity",
        "pose removed", "velocity removed", "second Newton steps",
    ]  # fmt: skip
    return table(
        f"{duration:g} s at rtol 1e-8: residuals at the end, and the largest correction",
        heads,
        rows,
    )


def cost(systems: dict[str, qp.Multibody], steps: int, repeats: int) -> str:
    """Microseconds a step, with and without, at a fixed step."""
    rows: list[list[object]] = []
    for name, system in systems.items():
        for method in ("dop853", "rk45"):
            best = {"none": np.inf, "project": np.inf}
            for _ in range(repeats):
                for drift in ("none", "project"):
                    begin = time.process_time()
                    system.simulate(
                        steps * 1e-4, step=1e-4, drift=drift, method=method, keep="ends"
                    )
                    best[drift] = min(best[drift], (time.process_time() - begin) / steps)
            us = 1e6 * best["none"], 1e6 * best["project"]
            rows.append([name, method, *us, f"{100 * (us[1] / us[0] - 1.0):.0f} %"])
    return table(
        "microseconds for a step", ["system", "method", "without", "with projection", "more"], rows
    )


def main(quick: bool = False) -> None:
    systems = {
        "falling chain 8": falling_chain(2 if quick else 8),
        "hinge chain 30": problems.hinge_chain(2 if quick else 30),
        "door 3x3": problems.door(2 if quick else 3),
        "four-bars 4": problems.four_bars(1 if quick else 4),
    }
    print(before_and_after(systems), end="\n\n")
    print(in_a_run(systems, 0.1 if quick else 2.0), end="\n\n")
    systems["falling chain 64"] = falling_chain(2 if quick else 64)
    print(cost(systems, 50 if quick else 1000, 2 if quick else 7))


if __name__ == "__main__":
    main("--quick" in sys.argv)
