"""N four-bars in a row, through the poses in which all rods lie on one line: ``python -m
benchmarks.flat_poses``.

In such a pose other branches meet and rows that are independent elsewhere become dependent.  The
truth is the equation of the one angle that a true branch has, to a tolerance of 1e-13."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias, get_args

import numpy as np
from scipy.integrate import solve_ivp

import quirkpy as qp
from benchmarks.problems import four_bars
from benchmarks.tables import table
from benchmarks.variants import recompiled
from quirkpy.kernels.step import integrator
from quirkpy.kernels.tree.closure import RUNNING_PIVOT
from quirkpy.motion import driver
from quirkpy.motion.driver import Driver
from quirkpy.motion.settings import EnergyControl, Settings

UPRIGHT, HANGING = (
    0.5 * math.pi,
    -0.5 * math.pi + 0.5,
)  # over the top through all flat poses; to and fro below them


def row(n: int, angle: float, rate: float) -> qp.Multibody:
    """Planar: gravity along -y alone."""
    return four_bars(n, angle, rate, (0.0, -9.81, 0.0))


def true_angle(n: int, angle: float, rate: float, t: float) -> float:
    """angle'' = -W cos(angle): n + 1 rods turn about their ends, n bars move along with their
    heads."""
    W = 9.81 * (0.5 * (n + 1) + n) / ((n + 1) / 3.0 + n)
    told = solve_ivp(
        lambda _, y: [y[1], -W * math.cos(y[0])],
        (0.0, t),
        (angle, rate),
        method="DOP853",
        rtol=1e-13,
        atol=1e-14,
    )
    return float(told.y[0, -1])


#: What the error of a step is, and whether energy is held.
Way: TypeAlias = tuple[str, EnergyControl]
WAYS: tuple[Way, ...] = (("along", "free"), ("whole", "free"), ("along", "conserve"))

#: Steps with ordinary error control everywhere.
ordinary = recompiled(integrator.advance, WEAK=0.0)


@contextmanager
def running(advance: object, pivot: float) -> Iterator[None]:
    """Runs made within take their steps by this function, with this pivot."""
    usual = integrator.advance, driver.RUNNING_PIVOT
    integrator.advance, driver.RUNNING_PIVOT = advance, pivot
    try:
        yield
    finally:
        integrator.advance, driver.RUNNING_PIVOT = usual


def run(
    n: int, rtol: float, duration: float, *, angle: float = UPRIGHT, rate: float = -1.0,
    control: str = "along", energy: EnergyControl = "free", pivot: float = RUNNING_PIVOT,
) -> list[object]:  # fmt: skip
    """Why it ended, steps, rejections, error of the angle [rad], and the largest change of energy
    at a step [J]."""
    system = row(n, angle, rate)
    settings = Settings(
        rtol=rtol, atol=0.01 * rtol, energy=energy, max_steps=20_000,
    )  # fmt: skip
    driver = Driver(system.clusters, system.initial, duration, (), settings)
    with running(ordinary if control == "whole" else integrator.advance, pivot):
        told = qp.Trajectory(system, system.initial, settings, driver.run())
    t, turned = float(told.t[-1]), float(told.course.angles[-1][0])
    off = abs(turned + angle - true_angle(n, angle, rate, t))
    return [
        told.stop.name,
        told.counts.steps,
        told.counts.rejections,
        off,
        float(abs(np.diff(told.energy)).max()),
    ]


def controls(
    sizes: tuple[int, ...], tolerances: tuple[float, ...], duration: float, ways: Sequence[Way]
) -> str:
    """Near a singular pose: the error along the constraints, or the whole; and with the energy
    held."""
    rows: list[list[object]] = []
    for n in sizes:
        for rtol in tolerances:
            for control, energy in ways:
                rows.append(
                    [
                        n,
                        f"{rtol:.0e}",
                        control,
                        energy,
                        *run(n, rtol, duration, control=control, energy=energy),
                    ]
                )
    heads = [
        "loops",
        "rtol",
        "error",
        "energy",
        "stop",
        "steps",
        "rejections",
        "angle off [rad]",
        "energy step [J]",
    ]
    return table(f"{duration:g} s through the flat poses", heads, rows)


def pivots(sizes: tuple[int, ...], duration: float, values: tuple[float, ...]) -> str:
    """Other pivots, with the energy free and held; and swinging below the flat poses, where nothing
    is singular."""
    cases = [
        (n, energy, rtol)
        for n in sizes
        for energy in get_args(EnergyControl)
        for rtol in (1e-8, 1e-10)
    ]
    below = [(n, rtol) for n in sizes for rtol in (1e-4, 1e-10)]
    rows: list[list[object]] = []
    for pivot in values:
        line: list[object] = [f"{pivot:.0e}"]
        for n, energy, rtol in cases:
            stop, _, _, off, _ = run(n, rtol, duration, energy=energy, pivot=pivot)
            line.append(off if stop == "END" else str(stop))
        line += [
            run(n, rtol, duration, angle=HANGING, rate=0.0, pivot=pivot)[3] for n, rtol in below
        ]
        rows.append(line)
    heads = [
        "pivot",
        *(f"{n}, {e}, {rtol:.0e}" for n, e, rtol in cases),
        *(f"{n}, below, {r:.0e}" for n, r in below),
    ]
    return table("angle error [rad] over the pivot of a run: loops, energy, rtol", heads, rows)


def main(quick: bool = False) -> None:
    ways = [
        way for way in WAYS if not (quick and way[0] == "whole")
    ]  # which compiles the integrator anew
    tolerances = (1e-8,) if quick else (1e-6, 1e-8, 1e-10)
    print(controls((1,) if quick else (1, 2, 8), tolerances, 1.0 if quick else 20.0, ways))
    print()
    values = 10.0 ** np.arange(-18.0, -3.5, 4.0 if quick else 1.0)
    print(
        pivots((1,) if quick else (1, 2), 1.0 if quick else 20.0, tuple(float(v) for v in values))
    )


if __name__ == "__main__":
    main("--quick" in sys.argv)
