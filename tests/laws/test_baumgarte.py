"""Baumgarte's stabilisation: gaps and slips die out as a damped oscillator's, in the tree and in
loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from tests.motion import apart
from tests.truths.test_row_of_four_bars import row


@pytest.mark.parametrize("gains", [(10.0, 10.0), (3.0, 20.0)])
def test_a_slip_dies_out_as_the_gains_say(gains: tuple[float, float]) -> None:
    """A body locked to the ground that moves all the same: g'' + 2 alpha g' + beta^2 g = 0 for the
    gap."""
    body = qp.Body.sphere("body", 0.1, 1.0, velocity=(0.01, 0, 0))
    system = qp.Multibody(body, qp.Fixed("lock", qp.GROUND, body))
    run = system.simulate(0.5, drift="baumgarte", gains=gains, rtol=1e-10, atol=1e-12)
    alpha, beta = gains
    if alpha == beta:
        gap = 0.01 * run.t * np.exp(-alpha * run.t)
    else:
        w = np.sqrt(beta**2 - alpha**2)
        gap = 0.01 * np.exp(-alpha * run.t) * np.sin(w * run.t) / w
    np.testing.assert_allclose(run["body"].position[:, 0], gap, rtol=0.0, atol=1e-9)


def test_loops_keep_together_better_than_without() -> None:
    off: dict[Any, float] = {}
    runs = {}
    for drift in ("none", "baumgarte", "project"):
        runs[drift] = row(2, 1.2, -1.0).simulate(
            0.5, drift=drift, rtol=1e-6, atol=1e-8, gains=(100.0, 100.0)
        )
        off[drift] = abs(runs[drift].system.residual(runs[drift].final).position).max()
    assert off["project"] < 1e-12 < off["baumgarte"] < 0.5 * off["none"]
    assert apart(runs["baumgarte"].final, runs["project"].final) < 1e-3


@pytest.mark.parametrize("gains", [5.0, (1.0,), (1.0, -1.0), (1.0, float("nan"))])
def test_gains_are_two_positive_numbers(gains: Any) -> None:
    with pytest.raises(qp.PartError, match="simulate: gains"):
        row(1, 1.2, -1.0).simulate(0.1, drift="baumgarte", gains=gains)
