"""Extrema of a motion between its rows, and the times at which a measure falls below a level.

Rows lie where the integrator happened to stop; results must not depend on them. Between two rows
the motion is smooth, unless velocities jump at one. A polynomial through the rows around gives an
estimate of the time; there the state is integrated from the row before and becomes one more point
of the polynomial."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from quirkpy.maths.types import Bools, Floats
from quirkpy.motion.interpolation import CourseRows
from quirkpy.motion.resuming import Moment

#: Finest resolution of times, as a share of the interval [1].
FINEST = 1e-12
#: Largest number of points of a polynomial, the nearest ones; and number of rows on either side of
#: an extremum.
POINTS, BESIDE = 8, 3
#: Points farther away than this many half steps are not used.
MOST_HALF_STEPS = 20.0
#: An extremum is sought no nearer to the ends of a step than this share of it; steps below the
#: second share, of the time itself, are ignored.
STEP_RIM, LEAST_STEP = 1e-6, 1e-12
#: A parabola through three rows misses the maximum by no more than this share of its height above
#: the lower neighbour.
MISSES = 0.1
#: Largest number of maxima examined, as a periodic motion has very many; those that agree to the
#: second share count as one.
TOPS, SAME_TOP = 16, 1e-12
#: Extrema and zeros of a polynomial are bracketed on a grid with this many points on either side of
#: its middle, and then refined by this many steps of Newton's method.
STRIDES, NEWTON_STEPS = 16, 4
GRID = (np.arange(-STRIDES, STRIDES + 1)[:, None] / STRIDES) ** np.arange(POINTS)
#: A maximum is accepted when the polynomial exceeds the last point by no more than this many
#: tolerances; the time of a level crossing is accepted to within the second number of tolerances,
#: times the step. Largest number of evaluations.
TOP_TOLERANCES, EXACT, LOOKS = 1e3, 10.0, 12
#: Offset of a second evaluation where one point does not give a slope, as a share of the interval.
NEXT_POINT = 0.05
#: Spacing of three evaluations that confirm a minimum found from farther away, as a share of the
#: interval.
CLOSELY = 0.02
#: A crossing predicted by the curves is evaluated a little earlier as well, by the first share of a
#: step, and sought within the second.
EARLIER, PASSING_SPAN = 1e-4, 0.25
#: A level crossing is sought no nearer to the ends of a step than this share of it; points of a
#: polynomial are at least the second share apart; below the third, every evaluation halves the
#: interval, or the remainder is rounding.
LEVEL_RIM, ANEW, HALVED = 1e-9, 1e-5, 1e-3

#: The value of a measure at a time between two of some rows, and the run there, if something
#: happens before.
Ask: TypeAlias = Callable[[CourseRows, float], tuple[float, Moment | None]]


class Summit(NamedTuple):
    """A maximum of a measure among some rows: an upper bound of its value; the rows around, and the
    values there; the times between which it lies, and whether velocities jump at the second."""

    reach: float
    rows: CourseRows
    values: Floats
    low: float
    high: float
    jumps: bool


class Curve:
    """A polynomial between two times, through points of a measure in and around them.

    t, values: the points; the variable of the polynomial runs from -1 to 1.
    """

    def __init__(self, t: Floats, values: Floats, low: float, high: float) -> None:
        self.t, self.values = t, values
        self.centre, self.scale = 0.5 * (low + high), 0.5 * (high - low)
        self.through(self.centre)

    def through(self, t: float) -> None:
        """Interpolate the points nearest to a time."""
        places, there = (
            ((self.t - self.centre) / self.scale).tolist(),
            (t - self.centre) / self.scale,
        )
        far = [abs(place - there) for place in places]
        near: list[int] = []
        for k in sorted(range(len(places)), key=far.__getitem__):
            if len(near) == POINTS:
                break
            if abs(x := places[k]) < MOST_HALF_STEPS and not [
                j for j in near if abs(places[j] - x) <= ANEW
            ]:
                near.append(k)
        x = np.array([places[k] for k in near])
        powers = np.arange(len(x), dtype=np.float64)
        self.own: Floats = np.asarray(
            np.linalg.solve(x[:, None] ** powers, self.values[near]), dtype=np.float64
        )
        self.first: Floats = np.asarray(powers[1:] * self.own[1:])
        self.second: Floats = np.asarray(powers[1:-1] * self.first[1:])

    def add(self, t: float, value: float) -> None:
        """Add a point, and interpolate it."""
        self.t, self.values = np.append(self.t, t), np.append(self.values, value)
        self.through(t)

    def __call__(self, t: float) -> float:
        return at_place(self.own, (t - self.centre) / self.scale)

    def slope(self, t: float) -> float:
        """The derivative of the polynomial [1/s]."""
        return at_place(self.first, (t - self.centre) / self.scale) / self.scale

    def top(self, end: bool) -> float | None:
        """The time of its maximum, unless that is at an end; end: the second end counts. Next to an
        end at which it increases inwards the maximum is inside, perhaps closer than the grid."""
        k = int(np.argmax(GRID[:, : len(self.own)] @ self.own))
        if (
            k in (0, len(GRID) - 1)
            and at_place(self.first, -1.0 + k / STRIDES) * (STRIDES - k) <= 0.0
        ):
            return self.centre + self.scale if end and k > 0 else None
        return self.centre + self.scale * refine(self.first, self.second, k)

    def fall(self) -> float:
        """The last time at which it falls to zero; nan where it does not."""
        above = GRID[:, : len(self.own)] @ self.own > 0.0
        falls = np.flatnonzero(above[:-1] & ~above[1:])
        if not len(falls):
            return math.nan
        return self.centre + self.scale * refine(self.own, self.first, int(falls[-1]) + 0.5)


def at_place(coefficients: Floats, x: float) -> float:
    """The value of a polynomial."""
    out = 0.0
    for c in coefficients[::-1].tolist():
        out = out * x + c
    return out


def refine(of: Floats, slope: Floats, k: float) -> float:
    """The zero of a polynomial near a grid point, by Newton's method, no farther away than one grid
    interval."""
    begun = x = -1.0 + k / STRIDES
    for _ in range(NEWTON_STEPS):
        rate = at_place(slope, x)
        x = x - at_place(of, x) / rate if rate != 0.0 else x
        x = min(max(x, begun - 1.0 / STRIDES), begun + 1.0 / STRIDES)
    return x


# --- the largest of all ---------------------------------------------------------------------------
def summits(
    rows: CourseRows, values: Floats, jumps: Bools, most: float, ends: bool
) -> list[Summit]:
    """Of values at rows (k,) those that are larger than both neighbours, and what comes before and
    after velocities jump, where it may reach above a value; ends: also the first and the last."""
    n, beyond = len(values), [-math.inf if ends else math.inf]
    first, last = starts(jumps), stops(jumps)  # what lies beyond a jump is another motion
    padded, reach = np.concatenate([beyond, values, beyond]), reaches(rows.t, values, jumps)
    rises = np.where(first, math.inf, values - padded[:-2])
    falls = np.where(last, math.inf, values - padded[2:])
    peaks = (rises >= 0.0) & (falls >= 0.0) & ((rises > 0.0) | (falls > 0.0))
    peaks[[0, -1]] &= n > 1
    found = [span for k in np.flatnonzero(peaks & (reach > most * (1.0 + SAME_TOP))).tolist()
             for span in spans_of(k, n, jumps)]  # fmt: skip
    found += [(k - 1, k) for k in np.flatnonzero(jumps).tolist() if k > 0]
    return [summit(rows, values, reach, jumps, *span) for span in dict.fromkeys(found)]


def starts(jumps: Bools) -> Bools:
    """Which rows are the first after velocities have jumped."""
    return np.concatenate([[False], jumps[1:]])


def stops(jumps: Bools) -> Bools:
    """Which rows are the last before velocities jump."""
    return np.concatenate([jumps[1:], [False]])


def no_higher(values: Floats) -> Floats:
    """The upper bound of series (k, ...) below which `reaches` stays at every row, and so does any
    maximum at a jump of velocities (...)."""
    return np.asarray(
        values.max(axis=0, initial=0.0)
        + (1.0 + MISSES) * abs(np.diff(values, axis=0)).max(axis=0, initial=0.0)
    )


def reaches(t: Floats, values: Floats, jumps: Bools) -> Floats:
    """Upper bound of the value near each row (k,): the maximum of the parabola through it and both
    neighbours, plus its possible error; at both ends, and next to jumps, plus the difference of
    neighbouring rows."""
    out, n = values.copy(), len(values)
    alone = starts(jumps) | stops(jumps)
    if n > 2:
        h, d = np.diff(t), np.diff(values)
        slopes = d / np.maximum(h, LEAST_STEP * np.maximum(1.0, abs(t[1:])))
        bend = (slopes[1:] - slopes[:-1]) / (h[1:] + h[:-1])
        slope = (slopes[:-1] * h[1:] + slopes[1:] * h[:-1]) / (h[1:] + h[:-1])
        rise = np.where(bend < 0.0, -0.25 * slope**2 / np.where(bend < 0.0, bend, 1.0), 0.0)
        fall = np.maximum(abs(d[1:]), abs(d[:-1]))
        out[1:-1] += np.where(alone[1:-1], 0.0, np.minimum(rise, fall) + MISSES * fall)
    alone[[0, -1]] = True
    for k in np.flatnonzero(alone).tolist():
        out[k] += (1.0 + MISSES) * abs(np.diff(values[max(0, k - 2) : k + 3])).max(initial=0.0)
    return out


def spans_of(k: int, n: int, jumps: Bools) -> list[tuple[int, int]]:
    """The rows between which the maximum near row k may lie: its neighbours; where velocities jump
    there, or next to it, each step separately."""
    low, high = max(0, k - 1), min(n - 1, k + 1)
    cut = high - low == 2 and (jumps[k] or jumps[high])
    return [(low, k), (k, high)] if cut else [(low, high)]


def summit(
    rows: CourseRows, values: Floats, reach: Floats, jumps: Bools, low: int, high: int
) -> Summit:
    """The maximum between two rows, with as many rows around as the motion is smooth for; reach:
    upper bound near each row."""
    jump = bool(jumps[high])
    before = np.flatnonzero(jumps[: low + 1])
    after = np.flatnonzero(jumps[low + 1 :])
    first = max(int(before[-1]) if len(before) else 0, high - BESIDE - 1)
    last = min(low + 1 + int(after[0]) if len(after) else len(values), low + BESIDE + 2)
    cut = slice(first, last)
    of = values[low : high + 1]
    far = max(reach[low], 2.0 * of.max() - of.min()) if jump else reach[low : high + 1].max()
    return Summit(
        float(far), rows.select(cut), values[cut], float(rows.t[low]), float(rows.t[high]), jump
    )


def select_summits(found: Iterable[Summit], most: float) -> list[Summit]:
    """Maxima that may exceed a value, in decreasing order of their upper bounds."""
    above = [summit for summit in found if summit.reach > most * (1.0 + SAME_TOP)]
    return sorted(above, key=lambda summit: -summit.reach)[:TOPS]


def highest(
    found: Iterable[Summit],
    ask: Ask,
    most: float,
    rtol: float,
    known: Sequence[tuple[float, float]] = (),
) -> float:
    """The largest value of a measure, if a maximum between rows exceeds the largest value at rows;
    accurate to the tolerance of the motion. known: times and values between rows, if there are
    any."""
    for summit in select_summits(found, most):
        if summit.reach > most * (1.0 + SAME_TOP):
            most = max(most, top(summit, ask, TOP_TOLERANCES * rtol, known))
    return most


def top(s: Summit, ask: Ask, gain: float, known: Sequence[tuple[float, float]] = ()) -> float:
    """The largest value of a measure near one maximum; gain: the share by which the polynomial may
    exceed the last value."""
    most = float(s.values.max())
    if s.high - s.low <= LEAST_STEP * max(1.0, abs(s.low)):
        return most
    curve, rim = Curve(s.rows.t, s.values, s.low, s.high), STEP_RIM * (s.high - s.low)
    for t, value in known:
        if s.low < t < s.high:
            curve.add(t, value)
            most = max(most, value)
    for _ in range(LOOKS):
        x = curve.top(s.jumps) if len(curve.own) > 2 else s.high if s.jumps else curve.centre
        if x is None:
            break
        said, known_here = (
            curve(x),
            abs(curve.t - min(x, s.high - rim)).min() < ANEW * (s.high - s.low),
        )
        risen = said - most > gain * abs(most)
        if len(curve.t) > max(3, len(s.values) + 1) and (not risen or (known_here and x == s.high)):
            return max(most, said)
        if known_here:  # one point gives no slope
            x = (
                curve.centre
                if s.high - x < ANEW * (s.high - s.low)
                else x + NEXT_POINT * (s.high - x)
            )
        x = min(max(x, s.low + rim), s.high - rim)
        said = curve(x)
        value, found = ask(s.rows, x)
        if found is not None and found.happened:  # velocities jumped just before
            break
        most = max(most, value)
        if (
            not (known_here or s.jumps)
            and len(s.values) > 3
            and abs(value - said) <= gain * abs(value)
        ):
            break  # the maximum is of second order in the time error
        curve.add(x, value)
    return most


def bottom(
    t: Floats, values: Floats, low: float, high: float, ask: Callable[[Floats], Floats]
) -> float:
    """The time between two at which a measure is least, given its values at some times, and a
    function for more values."""
    curve = Curve(t, -values, low, high)
    x = curve.top(False)
    if x is not None:
        around = np.clip(x + CLOSELY * (high - low) * np.array([-1.0, 0.0, 1.0]), low, high)
        for place, value in zip(around.tolist(), ask(around).tolist(), strict=True):
            curve.add(place, -value)
        x = curve.top(False)
    return float(curve.t[np.argmax(curve.values)]) if x is None else x


# --- below a level --------------------------------------------------------------------------------
def fall(
    rows: CourseRows, values: Floats, k: int, jumps: Bools, ask: Ask, rtol: float
) -> Moment | None:
    """The run where a measure that is positive at row k, and not at the next, has last fallen to
    zero between them; None: at the next, where velocities jump."""
    low, high = float(rows.t[k]), float(rows.t[k + 1])
    rim = max(LEVEL_RIM * (high - low), LEAST_STEP * max(1.0, abs(high)))
    if high - low <= 2.0 * rim:
        return None
    s = summit(rows, values, values, jumps, k, k + 1)
    rim = max(rim, STEP_RIM * (high - low)) if s.jumps else rim
    curve, above, below = Curve(s.rows.t, s.values, low, high), low, high
    x, last = high - rim if s.jumps else curve.fall(), math.inf
    for _ in range(LOOKS):
        x = x if above < x < below else 0.5 * (above + below)
        x = min(max(x, low + rim), high - rim)
        (value, found), there = ask(s.rows, x), x
        above, below = (x, below) if value > 0.0 else (above, x)
        if above >= high - rim or (found is not None and found.happened):  # not before the end
            return None
        x -= value / min(curve.slope(x), -math.ulp(0.0))
        rounding = abs(value) > 0.5 * last and abs(x - there) <= HALVED * (high - low)
        if (
            abs(x - there) <= max(EXACT * rtol, FINEST) * (high - low)
            or below <= low + rim
            or rounding
        ):
            break
        last = abs(value)
        if abs(x - there) > ANEW * (high - low):
            curve.add(there, value)
            x = curve.fall()
    return found


def passing(
    margin: Callable[[float], float], t: float, low: float, high: float, rtol: float
) -> float:
    """The time near a given one, within a step, at which a margin is zero, by secants; the given
    time where there is none."""
    far = EARLIER * (high - low)
    one, two = (t, margin(t)), (max(low, t - far), margin(max(low, t - far)))
    for _ in range(LOOKS):
        if one[1] == two[1]:  # only rounding is left, or there is no zero
            return one[0] if abs(one[0] - two[0]) <= ANEW * (high - low) else t
        x = one[0] - one[1] * (one[0] - two[0]) / (one[1] - two[1])
        if not (low <= x <= high and abs(x - t) <= PASSING_SPAN * (high - low)):
            break
        if abs(x - one[0]) <= max(EXACT * rtol, FINEST) * (high - low):
            return x
        one, two = (x, margin(x)), one
    return t
