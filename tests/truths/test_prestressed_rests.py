"""Prestressed structures rest where they were written: verdicts beside kinks of their strings, and
where tensions that cancel leave rounding about the axes of thin bars."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import quirkpy as qp


def prism(order: int, EA: float, radius: float = 0.01, **more: Any) -> qp.Tensegrity:
    return qp.tensegrities.prism(
        order, radius=0.5, height=0.6, bar=dict(density=1300.0, radius=radius),
        string=dict(EA=EA, damping=1.0), **more,
    )  # fmt: skip


@pytest.mark.parametrize("order", [3, 4])
@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("EA", [1e3, 2e3 * math.pi, 1e5])
def test_a_prestressed_prism_rests_stably_where_it_was_written(
    EA: float, fixed: bool, order: int
) -> None:
    """Stretched strings of positive tension in its state of self-stress make a prism stiff in its
    mechanism (Pellegrino and Calladine, 1986), whether it floats or not, and however few
    micrometres of stretch there are."""
    made = prism(order, EA, fixed=fixed)
    system = qp.prestress(made.system, minimum=20.0).system
    rest = system.settle(duration=1.0)
    assert rest.verdict == "stable"
    assert rest.run is None
    np.testing.assert_allclose(made.places(rest.state), made.places(), rtol=0, atol=1e-9)
    assert all(mode.frequency > 0.0 for mode in rest.modes)


@pytest.mark.parametrize("radius", [1e-3, 3e-2])
def test_thin_bars_rest_as_thick_ones(radius: float) -> None:
    """Their moment about their axis, about which tensions leave rounding, is a thousandth."""
    made = prism(3, 2e3 * math.pi, radius, fixed=False)
    assert qp.prestress(made.system, minimum=20.0).system.settle(duration=1.0).verdict == "stable"


def test_a_model_beside_a_kink_has_the_stiffness_of_its_side() -> None:
    """A mass between two strings of 1 kN/m, stretched by ever less: 2 k / m along them, in settled
    verdicts as well as in linear models."""
    for stretch in (1e-2, 1e-4, 1e-6):
        made = qp.tensegrity(
            [(-1, 0, 0), (0, 0, 0), (1, 0, 0)], strings=[(0, 1), (1, 2)], fixed=[0, 2],
            masses={1: 0.5}, string={"stiffness": 1e3, "rest_length": 1.0 - stretch},
        )  # fmt: skip
        rest = made.system.settle()
        assert rest.verdict == "stable"
        assert rest.modes[-1].frequency == pytest.approx(math.sqrt(2e3 / 0.5), rel=1e-6)
