"""`Keyframes`: a motion compressed to few bytes, as integers, with the resulting error."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from quirkpy.maths.constants import TINY
from quirkpy.maths.types import Bools, Floats
from quirkpy.motion.frames import TENSION

#: No more frames are omitted once the tolerance of positions is this [m].
LOOSEST_FRAME = 1e9
#: Integer steps per unit of the components of an orientation.
TURNS = 32767
#: Share of the allowed error of positions that is left for their rounding to integer steps.
POSITION_SHARE = 0.25
#: The code in a curve for a missing value.
NOTHING = 65535
#: Allowed error of curves, as a share of their range.
CURVE_ERROR = 0.004


class Keyframes(NamedTuple):
    """Poses between which motion is linear, with curves over the same time.

    t [s] (k,); r (k, n, 3): integer steps of `step` [m] from `origin` (3,); q, w x y z (k, n, 4):
    integer multiples of 1/TURNS; curves (k,) by name; missed: the largest error at any of the given
    instants [m], [rad]."""

    t: Floats
    r: Any
    q: Any
    origin: Floats
    step: float
    curves: dict[str, Floats]
    missed: tuple[float, float]

    def at(self, t: float) -> tuple[Floats, Floats]:
        """Interpolated poses at a time: positions (n, 3), orientations (n, 4)."""
        k = int(np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, max(len(self.t) - 2, 0)))
        r, q = self.between(np.array([k]), np.array([t]))
        return r[0], q[0]

    def between(self, k: Any, t: Floats) -> tuple[Floats, Floats]:
        """Poses at times (m,) in the intervals k (m,)."""
        r, q = self.origin + self.step * self.r, self.q / TURNS
        j = np.minimum(k + 1, len(self.t) - 1)
        return _straight(r, q, k, j, share_of(self.t, k, j, t))


def keyframes(
    t: Floats,
    r: Floats,
    q: Floats,
    curves: Mapping[str, Floats],
    length: float,
    angle: float,
    most: int,
) -> Keyframes:
    """As few of many instants (k,) of a motion as represent all others within `length` [m] and
    `angle` [rad], and curves within a share of their range. If that takes more than `most`, the
    tolerances are doubled until it does not."""
    share = CURVE_ERROR
    while True:
        made = _round(t, r, q, curves, length, angle, share)
        if len(made.t) <= most or length > LOOSEST_FRAME:
            return made
        length, angle, share = 2.0 * length, 2.0 * angle, 2.0 * share


def _round(
    t: Floats,
    r: Floats,
    q: Floats,
    curves: Mapping[str, Floats],
    length: float,
    angle: float,
    share: float,
) -> Keyframes:
    values = _in_tolerances(curves, len(t), share)
    kept = thin(t, r, q, values, length * (1.0 - POSITION_SHARE), angle * (1.0 - POSITION_SHARE))
    step = 2.0 * POSITION_SHARE * length / np.sqrt(3.0)
    origin = 0.5 * (r.min(axis=(0, 1)) + r.max(axis=(0, 1))) if r.size else np.zeros(3)
    whole = np.rint((r[kept] - origin) / step)
    small = abs(whole).max(initial=0.0) <= np.iinfo(np.int16).max
    made = Keyframes(
        t[kept],
        whole.astype(np.int16 if small else np.int32),
        np.rint(q[kept] * TURNS).astype(np.int16),
        origin,
        step,
        {name: curve[kept] for name, curve in curves.items()},
        (0.0, 0.0),
    )
    k = np.clip(np.cumsum(kept) - 1, 0, max(len(made.t) - 2, 0))
    off = misses(r, q, *made.between(k, t))
    return made._replace(missed=(float(off[0].max(initial=0.0)), float(off[1].max(initial=0.0))))


def _in_tolerances(curves: Mapping[str, Floats], rows: int, share: float) -> Floats:
    """Curves side by side (rows, m), each divided by its allowed error, a share of its range;
    without tensions, which only colour strings."""
    drawn = [curve for name, curve in curves.items() if not name.endswith(TENSION)]
    values = np.array([np.nan_to_num(curve) for curve in drawn]).reshape(len(drawn), rows).T
    return np.asarray(values / (share * np.maximum(np.ptp(values, axis=0), TINY)))


def thin(t: Floats, r: Floats, q: Floats, values: Floats, length: float, angle: float) -> Bools:
    """Which of some instants to keep (k,), so that the others are given by linear interpolation:
    the one with the largest error is kept, then recursively on either side, until all errors are
    allowed; values (k, m) have the allowed error 1. Both ends of a jump are kept."""
    kept = np.zeros(len(t), dtype=bool)
    kept[[0, -1]] = True
    kept[:-1] |= t[1:] == t[:-1]
    kept[1:] |= t[1:] == t[:-1]
    waiting = list(itertools.pairwise(int(k) for k in np.flatnonzero(kept)))
    while waiting:
        a, b = waiting.pop()
        if b - a < 2:
            continue
        inside = np.arange(a + 1, b)
        share = share_of(t, a, b, t[inside])
        there = _straight(r, q, np.full(len(inside), a), b, share)
        off_r, off_q = misses(r[inside], q[inside], *there)
        off = np.maximum(off_r / length, off_q / angle)
        off = np.maximum(off, _deviation(values, a, b, share))
        worst = int(np.argmax(off))
        if off[worst] > 1.0:
            kept[a + 1 + worst] = True
            waiting += [(a, a + 1 + worst), (a + 1 + worst, b)]
    return kept


def _deviation(values: Floats, a: int, b: int, share: Floats) -> Floats:
    """The largest errors of linear interpolation of curves between two instants (b - a - 1,)."""
    straight = (1.0 - share)[:, None] * values[a] + share[:, None] * values[b]
    return np.asarray(abs(values[a + 1 : b] - straight).max(axis=1, initial=0.0))


def share_of(t: Floats, k: Any, j: Any, at: Floats) -> Floats:
    """The interpolation parameter of times between two instants, from 0 to 1."""
    h = t[j] - t[k]
    return np.asarray(np.where(h > 0.0, (at - t[k]) / np.where(h > 0.0, h, 1.0), 0.0))


def _straight(r: Floats, q: Floats, k: Any, j: Any, share: Floats) -> tuple[Floats, Floats]:
    """Linearly interpolated poses between the instants k and the instants j (m,)."""
    s = share[:, None, None]
    near = np.copysign(1.0, (q[k] * q[j]).sum(axis=-1, keepdims=True))
    turned = (1.0 - s) * q[k] + s * near * q[j]
    return (1.0 - s) * r[k] + s * r[j], turned / np.linalg.norm(turned, axis=-1, keepdims=True)


def misses(r: Floats, q: Floats, there: Floats, turned: Floats) -> tuple[Floats, Floats]:
    """The largest differences of poses (k,): [m], [rad]."""
    chord = np.minimum(np.linalg.norm(q - turned, axis=-1), np.linalg.norm(q + turned, axis=-1))
    angle = 4.0 * np.arcsin(np.minimum(0.5 * chord, 1.0))
    return np.linalg.norm(r - there, axis=-1).max(axis=1, initial=0.0), angle.max(
        axis=1, initial=0.0
    )


def pack(motion: Keyframes) -> dict[str, Any]:
    """A motion as JSON: arrays as base64 of little-endian numbers, times of 4 bytes, curves of
    2."""
    return {
        "n": len(motion.t),
        "t": _bytes(motion.t, "<f4"),
        "r": _bytes(motion.r, f"<i{motion.r.dtype.itemsize}"),
        "wide": motion.r.dtype.itemsize,
        "origin": motion.origin.tolist(),
        "step": motion.step,
        "q": _bytes(motion.q, "<i2"),
        "missed": [float(f"{x:.2g}") for x in motion.missed],
        "curves": {name: _curve(curve) for name, curve in motion.curves.items()},
    }


def _curve(curve: Floats) -> list[Any]:
    """A curve as its lowest value, a step, and integer steps from there; NOTHING where it has no
    value."""
    known = curve[~np.isnan(curve)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    step = (high - low) / (NOTHING - 1) or 1.0
    whole = np.where(np.isnan(curve), NOTHING, np.rint((np.nan_to_num(curve) - low) / step))
    return [low, step, _bytes(whole, "<u2")]


def _bytes(array: Floats, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode("ascii")
