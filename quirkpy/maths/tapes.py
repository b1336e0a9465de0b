"""The moment of a tape spring, which kernels and parts share."""

from __future__ import annotations

#: How much of the linear part, at its end, is given to the rounding of the peak; and as much again
#: beyond it.
ROUNDING = 0.2


def bend_tape(a: float, k: float, peak: float, plateau: float, snap: float) -> tuple[float, float]:
    """Size of the moment of a tape spring at an angle a >= 0, and the energy up to there."""
    top, wide = peak / k, 2.0 * ROUNDING * peak / k
    first = top - 0.5 * wide
    if a <= first:
        return k * a, 0.5 * k * a * a
    s = min((a - first) / wide, 1.0)
    moment = k * (first + wide * (s - s**3 + 0.5 * s**4))
    energy = 0.5 * k * first * first
    energy += k * wide * (first * s + wide * (0.5 * s**2 - 0.25 * s**4 + 0.1 * s**5))
    if a <= first + wide:
        return moment, energy
    s, fall = min((a - first - wide) / snap, 1.0), plateau - peak
    share = s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
    energy += snap * (peak * s + fall * s**4 * (2.5 - 3.0 * s + s * s))
    beyond = max(a - first - wide - snap, 0.0)
    return peak + fall * share, energy + plateau * beyond
