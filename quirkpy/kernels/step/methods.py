"""Runge-Kutta tables: the coefficients that SciPy's integrators carry, as plain arrays for the
kernels.

DOP853 (Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I) for accuracy, RK45
(Dormand and Prince) for loose tolerances."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.integrate import DOP853, RK45

from quirkpy.maths.types import Floats, Ints

Method: TypeAlias = Literal["dop853", "rk45"]

#: Slopes that a step may need, those of the interpolant included.
MOST_SLOPES = 16
# Rows of Table.weights: of the stages (the one after the last makes the step itself, those behind
# it serve the interpolant); of the two error estimates; of the interpolant (4).
FIFTH, THIRD, DENSE, WEIGHT_ROWS = 16, 17, 18, 22
# Its last column: the time of the stage, in steps.
NODE = MOST_SLOPES
# Columns of Table.counts: stages; slopes of the error estimates; stages of the interpolant beyond
# the end; order of the error estimate.
STAGES, ESTIMATED, EXTRA, ORDER = range(4)


class Table(NamedTuple):
    """weights (WEIGHT_ROWS, MOST_SLOPES + 1) and counts (4,) of a method."""

    weights: Floats
    counts: Ints


def _dop853() -> Table:
    w = np.zeros((WEIGHT_ROWS, MOST_SLOPES + 1))
    w[:12, :12], w[:12, NODE] = DOP853.A, DOP853.C
    w[12, :12], w[12, NODE] = DOP853.B, 1.0
    w[13:16, :16], w[13:16, NODE] = DOP853.A_EXTRA, DOP853.C_EXTRA
    w[FIFTH, :13], w[THIRD, :13], w[DENSE:, :16] = DOP853.E5, DOP853.E3, DOP853.D
    return Table(w, np.array([12, 12, 3, 7]))


def _rk45() -> Table:
    w = np.zeros((WEIGHT_ROWS, MOST_SLOPES + 1))
    w[:6, :5], w[:6, NODE] = RK45.A, RK45.C
    w[6, :6], w[6, NODE] = RK45.B, 1.0
    w[FIFTH, :7], w[DENSE:, :7] = RK45.E, RK45.P.T
    return Table(w, np.array([6, 7, 0, 4]))


#: Of implicit steps: their polynomial is given, as powers; the order is that of the error estimate.
IMPLICIT = Table(np.zeros((WEIGHT_ROWS, MOST_SLOPES + 1)), np.array([0, 0, -1, 3]))
TABLES: dict[Method, Table] = {"dop853": _dop853(), "rk45": _rk45()}
