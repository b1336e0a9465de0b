"""How large and how fast a system is, so that micrometres and thousands of kilometres, microseconds
and months are looked at alike: by steps of its own size and pace.  Of an ordinary system both are
one."""

from __future__ import annotations

import math

import numpy as np

from quirkpy.kernels.base.states import positions_of
from quirkpy.maths.types import Floats
from quirkpy.tables.tables import Selection

#: Systems whose bodies are all larger, or which are wholly smaller, than these [m] are not
#: ordinary; nor are those whose motions are all faster, or all slower, than these [1/s].
SIZES, RATES = (1e-2, 10.0), (1e-2, 100.0)


def metre(selection: Selection, rows: Floats) -> float:
    """The length [m] that is to the bodies at rows (n, STATE_WIDTH) what a metre is to ordinary
    ones."""
    least, most = radii_of(selection)
    apart = float(np.linalg.norm(np.ptp(positions_of(rows), axis=0))) if len(rows) else 0.0
    return _unit(least, max(most, apart), SIZES)


def radii_of(selection: Selection) -> tuple[float, float]:
    """The least and the largest radius of gyration of the bodies [m]."""
    return selection.once_here(_radii)


def _radii(selection: Selection) -> tuple[float, float]:
    t = selection.tables
    radii = np.sqrt(np.trace(t.body_inertia, axis1=1, axis2=2) / (3.0 * t.body_mass))
    return float(radii.min(initial=math.inf)), float(radii.max(initial=0.0))


def per_second(stiffness: Floats) -> float:
    """The rate [1/s] that is to motions under a stiffness [1/s2] (f, f) what one is to ordinary
    ones."""
    rates = np.sqrt(np.linalg.svd(stiffness, compute_uv=False))
    return _unit(float(rates.min(initial=math.inf)), float(rates.max(initial=0.0)), RATES)


def _unit(least: float, most: float, between: tuple[float, float]) -> float:
    """The power of two next to the least of some numbers, where that is above two bounds, or next
    to the most of them, where that is below; else 1."""
    far = least if least > between[1] else most if most < between[0] else 1.0
    return float(2.0 ** round(math.log2(far))) if 0.0 < far < math.inf else 1.0
