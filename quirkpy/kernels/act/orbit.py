"""Where the origin of N is, seen from a planet: at rest, or falling along an ellipse."""

from __future__ import annotations

import math

import numpy as np

from quirkpy.kernels.base.arrays import Vec
from quirkpy.kernels.base.compiled import inner
from quirkpy.kernels.base.vectors import add, get3, scale
from quirkpy.maths.types import Floats

#: Newton's method ends where a step is below this share of the anomaly, plus one [rad].
ANOMALY_ROUNDING = 1e-15


# Columns of the numbers of an element that knows a planet: mu; semi-major axis (0: the planet
# stands in N); eccentricity; mean anomaly at t = 0; unit vectors to the pericentre, or else the
# point of N's origin from the planet, and across it.
MU, MOVING, ECCENTRICITY, ANOMALY, TO_PERICENTRE, ACROSS = 0, 1, 2, 3, 4, 7
#: Steps of Newton's method that no ellipse needs.
MOST_STEPS = 50


@inner
def eccentric_anomaly(mean: float, e: float) -> float:
    """E of E - e sin E = mean."""
    mean -= 2.0 * math.pi * np.rint(mean / (2.0 * math.pi))
    out = mean + 0.85 * e * math.copysign(
        1.0, mean
    )  # from here Newton's method finds it for every e
    for _ in range(MOST_STEPS):
        step = (out - e * math.sin(out) - mean) / (1.0 - e * math.cos(out))
        out -= step
        if abs(step) < ANOMALY_ROUNDING * (1.0 + abs(out)):
            break
    return out


@inner
def origin(t: float, k: int, numbers: Floats) -> Vec:
    """The origin of N from the planet's centre."""
    first, a, e = get3(numbers, k, TO_PERICENTRE), numbers[k, MOVING], numbers[k, ECCENTRICITY]
    if a == 0.0:
        return first
    anomaly = eccentric_anomaly(numbers[k, ANOMALY] + t * math.sqrt(numbers[k, MU] / a) / a, e)
    along, across = a * (math.cos(anomaly) - e), a * math.sqrt(1.0 - e * e) * math.sin(anomaly)
    return add(scale(along, first), scale(across, get3(numbers, k, ACROSS)))
