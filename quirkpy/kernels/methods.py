"""Runge-Kutta tables: the coefficients that SciPy's integrators carry, as plain arrays for the kernels.

DOP853 (Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I) for accuracy, RK45 (Dormand and Prince)
for loose tolerances.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.integrate import DOP853, RK45

from quirkpy.parts.checks import Floats

Method: TypeAlias = Literal["dop853", "rk45"]


class Table(NamedTuple):
    """a (s, s), b (s,), c (s,): stages and step; e3, e5: error estimates over the stages and the derivative at the end
    (s + 1,), e3 zero where there is one estimate only; order of the error estimate; dense: stages of the interpolant
    beyond the end, their a and c; d: what makes the interpolant of all derivatives."""

    a: Floats
    b: Floats
    c: Floats
    e3: Floats
    e5: Floats
    order: int
    extra_a: Floats
    extra_c: Floats
    d: Floats


def _table(method: Method) -> Table:
    if method == "dop853":
        return Table(
            DOP853.A.copy(), DOP853.B.copy(), DOP853.C.copy(), DOP853.E3.copy(), DOP853.E5.copy(), 7,
            DOP853.A_EXTRA.copy(), DOP853.C_EXTRA.copy(), DOP853.D.copy(),
        )  # fmt: skip
    a = np.zeros((6, 6))
    a[:, :5] = RK45.A
    none = np.zeros((0, 0))
    return Table(a, RK45.B.copy(), RK45.C.copy(), np.zeros(7), RK45.E.copy(), 4, none, np.zeros(0), RK45.P.T.copy())


TABLES: dict[Method, Table] = {"dop853": _table("dop853"), "rk45": _table("rk45")}
