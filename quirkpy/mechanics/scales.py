"""Characteristic length and rate of a system, so that steps and tolerances fit micrometres and
thousands of kilometres, microseconds and months. For systems of ordinary size both are one."""

from __future__ import annotations

import math

import numpy as np

from quirkpy.kernels.base.states import positions_of
from quirkpy.maths.types import Floats
from quirkpy.tables.tables import Selection

#: Sizes [m] and rates [1/s] of ordinary systems.  A system is scaled if all of its bodies are
#: larger, or if it is smaller as a whole, than the bounds, and likewise for rates.
SIZES, RATES = (1e-2, 10.0), (1e-2, 100.0)


def metre(selection: Selection, rows: Floats) -> float:
    """The characteristic length [m] of the bodies at rows (n, STATE_WIDTH), 1 for ordinary ones."""
    least, most = radii_of(selection)
    apart = float(np.linalg.norm(np.ptp(positions_of(rows), axis=0))) if len(rows) else 0.0
    return _unit(least, max(most, apart), SIZES)


def radii_of(selection: Selection) -> tuple[float, float]:
    """The least and the largest radius of gyration of the bodies [m]."""
    return selection.once_here(_radii)


def _radii(selection: Selection) -> tuple[float, float]:
    radii = radii_of_gyration(selection)
    return float(radii.min(initial=math.inf)), float(radii.max(initial=0.0))


def radii_of_gyration(selection: Selection) -> Floats:
    """The radius of gyration of each body [m] (nb,)."""
    t = selection.tables
    return np.asarray(np.sqrt(np.trace(t.body_inertia, axis1=1, axis2=2) / (3.0 * t.body_mass)))


def per_second(stiffness: Floats) -> float:
    """The characteristic rate [1/s] of motions under a stiffness [1/s2] (f, f), 1 for ordinary
    ones."""
    rates = np.sqrt(np.linalg.svd(stiffness, compute_uv=False))
    return _unit(float(rates.min(initial=math.inf)), float(rates.max(initial=0.0)), RATES)


def _unit(least: float, most: float, between: tuple[float, float]) -> float:
    """The power of two nearest to the least value if that is above both bounds, or nearest to the
    largest value if that is below them; otherwise 1."""
    far = least if least > between[1] else most if most < between[0] else 1.0
    return float(2.0 ** round(math.log2(far))) if 0.0 < far < math.inf else 1.0
