"""N four-bars in a row (IFToMM benchmark A02): a parallelogram of one freedom, and 3 N redundant
rows."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import get_args

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.kernels.tree.reach import HIGH, LOW
from quirkpy.mechanics.system import Evaluator

G = 9.81


def row(windows: int, angle: float, rate: float) -> qp.Multibody:
    """Uprights of 1 m and 1 kg, a metre apart, at `angle` from x; couplers of the same kind between
    their heads."""
    arm, swing = (
        np.array([math.cos(angle), math.sin(angle), 0.0]),
        np.array([-math.sin(angle), math.cos(angle), 0.0]),
    )
    feet = [np.array([float(k), 0.0, 0.0]) for k in range(windows + 1)]
    uprights = [
        qp.Body.rod(
            f"up{k}",
            foot,
            foot + arm,
            1.0,
            velocity=0.5 * rate * swing,
            angular_velocity=(0, 0, rate),
        )
        for k, foot in enumerate(feet)
    ]
    couplers = [
        qp.Body.rod(f"over{k}", one + arm, two + arm, 1.0, velocity=rate * swing)
        for k, (one, two) in enumerate(pairwise(feet))
    ]
    pairs = [(f"foot{k}", qp.GROUND, up, foot) for k, (up, foot) in enumerate(zip(uprights, feet))]
    for k, coupler in enumerate(couplers):
        pairs += [
            (f"{side}{k}", uprights[j], coupler, feet[j] + arm)
            for side, j in (("left", k), ("right", k + 1))
        ]
    hinges = [qp.Revolute(name, one, two, at=at, axis=(0, 0, 1)) for name, one, two, at in pairs]
    return qp.Multibody(*uprights, *couplers, *hinges, qp.Gravity((0, -G, 0)))


def expected(windows: int, angle: float, rate: float) -> np.ndarray:
    """angle'' = -W cos(angle), W = g ((N + 1)/2 + N) / ((N + 1)/3 + N).

    N + 1 rods turn about their ends, N couplers translate with the heads.
    """
    W = G * ((windows + 1) / 2.0 + windows) / ((windows + 1) / 3.0 + windows)
    angular = -W * math.cos(angle)
    arm, swing = (
        np.array([math.cos(angle), math.sin(angle), 0.0]),
        np.array([-math.sin(angle), math.cos(angle), 0.0]),
    )
    head = angular * swing - rate**2 * arm
    out = np.zeros((2 * windows + 1, 6))
    out[: windows + 1, :3], out[: windows + 1, 5], out[windows + 1 :, :3] = (
        0.5 * head,
        angular,
        head,
    )
    return out


@pytest.mark.parametrize("evaluator", get_args(Evaluator))
@pytest.mark.parametrize("angle", [0.5 * math.pi, 0.7, 2.9, -1.1])
@pytest.mark.parametrize("windows", [1, 2, 4])
def test_row_of_four_bars_swings_as_a_parallelogram(
    windows: int, angle: float, evaluator: Evaluator
) -> None:
    system, true = row(windows, angle, -1.0), expected(windows, angle, -1.0)
    assert system.mobility()[:3] == (1, 6 * (2 * windows + 1) - 1, 5 * (3 * windows + 1))
    np.testing.assert_allclose(system.acceleration(evaluator=evaluator), true, rtol=0.0, atol=1e-10)


def test_row_of_forty_four_bars_swings_as_a_parallelogram() -> None:
    """The benchmark's own size: 81 rods, 605 rows, 120 of them redundant."""
    system = row(40, 1.0, -1.0)
    assert system.mobility()[:3] == (1, 485, 605)
    np.testing.assert_allclose(system.acceleration(), expected(40, 1.0, -1.0), rtol=0.0, atol=1e-9)


@pytest.mark.parametrize(("windows", "energy"), [(1, 20.453333333333333), (2, 35.835)])
def test_row_of_four_bars_starts_with_the_energy_of_the_benchmark(
    windows: int, energy: float
) -> None:
    """((N + 1)/3 + N)/2 kinetic and ((N + 1)/2 + N) g potential, uprights vertical at 1 rad/s."""
    assert row(windows, 0.5 * math.pi, -1.0).energy() == pytest.approx(energy, rel=1e-14)


def test_closing_rows_of_many_loops_stay_short() -> None:
    """Four times as many loops take little more than four times as many numbers, not sixteen
    times."""
    length = []
    for windows in (10, 40):
        system = row(windows, 0.7, -1.0)
        with system.clusters.lend() as engine:
            engine.accelerations(system.initial.instant())
            spans = engine.scratch.spans.copy()
        length.append(int((spans[:, HIGH] - spans[:, LOW]).sum()))
    assert length[1] < 8 * length[0]
