"""Interpolation between the rows of a run: curves of fifth degree through poses, velocities and
accelerations of both rows.

Rows are added until the error of the curves is within the allowed one; states are then known at all
times, at the cost of a few products."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quirkpy.kernels.base.states import (
    angular_of,
    attitudes_of,
    bodies_of,
    linear_of,
    positions_of,
    spins_of,
    velocities_of,
    zero_rows,
    zero_vectors,
)
from quirkpy.kernels.solid.curves import fill_bends, fill_middles, rates_within
from quirkpy.kernels.solid.solids import REACH, SOLID_BODY, Solids
from quirkpy.maths.cached import cached_property
from quirkpy.maths.rotations import product
from quirkpy.maths.types import Bools, Floats, Ints
from quirkpy.mechanics.bending import refuse_bending
from quirkpy.mechanics.clusters import Clusters
from quirkpy.mechanics.state import State
from quirkpy.motion.course import Course
from quirkpy.parts.checks import number
from quirkpy.parts.part import PartError

#: A step in which a body turns further than the first value [rad] is halved by another run, one
#: further than the second along the curves, as relative poses of bodies matter; largest number of
#: rounds of halving.
FAR_TURN, WIDE_TURN, MOST_ROUNDS = 1.0, 0.5, 25
#: Allowed error of the curves, as a share of the radius of the smallest body.
ALLOWED = 2.5e-5
#: Time before an event at which the state just before it is computed, as a share of the step that
#: ends there.
EVE = 1e-6
#: Number of points at which each step is examined; and number of refinements around the first point
#: with a violation.
PLACES, CLOSER = 8, 12
#: A dip is followed if its minimum may lie this many times as far below its lowest point as its
#: sides are above that.
STEEP = 2.0


#: Number of halvings between points where a margin may fall below zero unnoticed; the rate there is
#: assumed to be at most this factor times that at both points.
DENSER, FASTER = 6, 1.25


class CourseRows(NamedTuple):
    """Rows of a run: times, states, angles, stops that hold and tails."""

    t: Floats
    states: Floats
    angles: Floats
    held: Bools
    tail: Floats

    def select(self, which: slice | Ints) -> CourseRows:
        """The rows in a slice, or with some numbers."""
        t, states, angles, held, tail = self
        return CourseRows(t[which], states[which], angles[which], held[which], tail[which])

    def append(self, more: CourseRows) -> CourseRows:
        """Rows of this record and others after them."""
        return CourseRows(*(np.concatenate(two) for two in zip(self, more, strict=True)))


def before(t: Floats, x: float) -> int:
    """The last row before a time."""
    return int(np.searchsorted(t, x, side="right")) - 1


def time_within(t: Any, times: Floats) -> float:
    """A time within a run with given times [s] (k,); an error if it lies outside."""
    try:
        t = number(t)
    except (TypeError, ValueError) as error:
        raise PartError(f"at: t {error}; give a time of the run [s].") from None
    if not times[0] <= t <= times[-1]:
        raise PartError(
            f"at: t = {t} lies outside the run, which covers {times[0]} to {times[-1]} s.",
            code="answer",
        )
    return float(t)


def rows_of(course: Course) -> CourseRows:
    """The rows of a run's record."""
    held = course.held if course.held.size else np.zeros((len(course.t), 0), dtype=bool)
    return CourseRows(course.t, course.states, course.angles, held, course.tails())


class Between:
    """The motion of a run on curves with an error of at most `allowed` [m], for points of bodies,
    with the size of their solids.

    at: the state of the run at a time. rows: those of the run, and further states where needed;
    bends: accelerations there (k, nb, 6); error: upper bound of the difference between curves and
    motion [m]."""

    def __init__(
        self,
        course: Course,
        clusters: Clusters,
        at: Callable[[float], State],
        solids: Solids,
        allowed: float,
    ) -> None:
        rows, self.eves = with_eves(at, rows_of(course), [event.t for event in course.events])
        reach = np.zeros(len(course.states[0]))
        np.maximum.at(reach, solids.what[:, SOLID_BODY], solids.numbers[:, REACH])
        bends, missed = bends_of(clusters, rows, reach)
        for _ in range(MOST_ROUNDS):
            rate = np.linalg.norm(spins_of(bodies_of(rows.states)), axis=2).max(axis=1, initial=0.0)
            turn = np.diff(rows.t) * np.maximum(rate[1:], rate[:-1])
            coarse = (missed > allowed) | (turn > FAR_TURN)
            if coarse.any():
                rows = with_middles(at, rows, np.flatnonzero(coarse))
            elif (turn > WIDE_TURN).any():
                rows = halve(rows, bends, np.flatnonzero(turn > WIDE_TURN))
            else:
                break
            bends, missed = bends_of(clusters, rows, reach)
        self.rows, self.bends, self.error = rows, bends, float(missed.max(initial=0.0))

    def at(self, t: Floats) -> Floats:
        """States at any times of the run (k, nb, STATE_WIDTH)."""
        rows, n = self.rows, len(self.rows.states[0]) - 1
        if len(rows.t) == 1:
            return np.repeat(rows.states[:, :n], len(t), axis=0)
        k = np.clip(np.searchsorted(rows.t, t, side="right") - 1, 0, max(0, len(rows.t) - 2))
        after = np.minimum(k + 1, len(rows.t) - 1)
        steps = np.where(np.isin(rows.t[k], self.eves), 0.0, rows.t[after] - rows.t[k])
        h = steps[:, None, None]
        s = np.clip((t - rows.t[k])[:, None, None] / np.where(h > 0.0, h, 1.0), 0.0, 1.0)
        one, two, a, b = (
            rows.states[k, :n],
            rows.states[after, :n],
            self.bends[k],
            self.bends[after],
        )
        out = zero_rows(len(t), n)
        place, rate = fifth_degree(s)
        ends = (positions_of(one), h * velocities_of(one), h * h * linear_of(a),
                positions_of(two), h * velocities_of(two), h * h * linear_of(b))  # fmt: skip
        positions_of(out)[:] = sum(w * x for w, x in zip(place, ends, strict=True))
        speed = sum(w * x for w, x in zip(rate, ends, strict=True)) / np.where(h > 0.0, h, 1.0)
        velocities_of(out)[:] = np.where(h > 0.0, speed, velocities_of(one))
        q1, q2 = attitudes_of(one), attitudes_of(two)
        same = np.where(
            (q1 * q2).sum(axis=-1, keepdims=True) < 0.0, -h, h
        )  # either sign is the same rotation
        (d1, b1), (d2, b2) = (
            turning(attitudes_of(x), spins_of(x), angular_of(y)) for x, y in ((one, a), (two, b))
        )
        ends = q1, h * d1, h * h * b1, np.sign(same) * q2, same * d2, same * h * b2
        q, d = (
            np.sum([w * x for w, x in zip(weights, ends, strict=True)], axis=0)
            for weights in (place, rate)
        )
        size = np.linalg.norm(q, axis=-1, keepdims=True)
        spin = (
            2.0
            * product(q * (1.0, -1.0, -1.0, -1.0), d)[..., 1:]
            / (size * size * np.where(h > 0.0, h, 1.0))
        )
        attitudes_of(out)[:] = q / size
        spins_of(out)[:] = np.where(h > 0.0, spin, spins_of(one))
        return out

    @property
    def places(self) -> Floats:
        """Times at which every step is examined (k,)."""
        t = self.rows.t
        shares = np.arange(PLACES) / PLACES
        return np.append((t[:-1, None] + np.diff(t)[:, None] * shares).ravel(), t[-1])

    @cached_property
    def states(self) -> Floats:
        """The states at these times (k, nb, STATE_WIDTH)."""
        return self.at(self.places)

    def first(
        self, margin: Callable[[Floats], Floats], rate: Callable[[Floats], Floats] | None = None
    ) -> float | None:
        """The time at which a margin, a function of states (k, nb, STATE_WIDTH) -> (k,), is first
        below zero [s]; None: never.

        Dips between the points examined are followed to their minima, so that short ones are found
        too. rate: a bound of the margin's rate, a function of states as well; where the margin may
        fall below zero between two points, more points are examined."""
        t, values = self.places, margin(self.states)
        if rate is not None and len(t) > 1:
            t, values = self._denser(margin, rate, t, values)
        return self._find_first_zero(lambda t: margin(self.at(t)), t, values)

    def first_time(self, margin: Callable[[Floats], Floats]) -> float | None:
        """The time at which a margin, a function of times (k,) -> (k,), is first below zero [s];
        None: never. For margins that are not functions of states alone."""
        return self._find_first_zero(margin, self.places, margin(self.places))

    def _denser(
        self,
        margin: Callable[[Floats], Floats],
        rate: Callable[[Floats], Floats],
        t: Floats,
        values: Floats,
    ) -> tuple[Floats, Floats]:
        """Points up to the first at which a margin is below zero, so dense that it is unlikely to
        be so between two earlier ones; and its values there."""
        rates = rate(self.states)
        for _ in range(DENSER):
            end = int(np.argmax(values < 0.0)) + 1 if (values < 0.0).any() else len(t)
            t, values, rates = t[:end], values[:end], rates[:end]
            fall = FASTER * np.maximum(rates[1:], rates[:-1]) * np.diff(t)
            k = np.flatnonzero(values[1:] + values[:-1] < fall)
            if not len(k):
                break
            middles = 0.5 * (t[k] + t[k + 1])
            there = self.at(middles)
            t, values, rates = (
                np.insert(old, k + 1, new)
                for old, new in ((t, middles), (values, margin(there)), (rates, rate(there)))
            )
        return t, values

    def _find_first_zero(
        self, margin: Callable[[Floats], Floats], t: Floats, values: Floats
    ) -> float | None:
        if len(t) == 1:
            return float(t[0]) if values[0] < 0.0 else None
        lowest, bottoms = self._dips(margin, t, values)
        order = np.argsort(np.append(t, lowest), kind="stable")
        t, values = np.append(t, lowest)[order], np.append(values, bottoms)[order]
        for _ in range(CLOSER):
            if not (values < 0.0).any():
                return None
            k = int(np.argmax(values < 0.0))
            if k == 0 or t[k] - t[k - 1] <= 4.0 * math.ulp(t[k]):
                break
            t = np.linspace(t[k - 1], t[k], PLACES + 1)
            values = margin(t)
        return float(t[np.argmax(values < 0.0)])

    def _dips(
        self, margin: Callable[[Floats], Floats], t: Floats, values: Floats
    ) -> tuple[Floats, Floats]:
        """Minima of the dips of a margin over time that may reach below zero: times, and values
        there (n,)."""
        left, right = (
            np.insert(values, end, np.inf)[cut]
            for end, cut in ((0, slice(-1)), (len(t), slice(1, None)))
        )
        fall = (
            np.maximum(np.where(np.isinf(left), 0.0, left), np.where(np.isinf(right), 0.0, right))
            - values
        )
        k = np.flatnonzero(
            (values <= left) & (values <= right) & (values >= 0.0) & (values <= STEEP * fall)
        )
        low, high = t[np.maximum(k - 1, 0)], t[np.minimum(k + 1, len(t) - 1)]
        bottoms = values[k]
        for _ in range(CLOSER if len(k) else 0):
            closer = np.linspace(low, high, PLACES + 1, axis=1)
            found = margin(closer.ravel()).reshape(closer.shape)
            best, each = found.argmin(axis=1), np.arange(len(k))
            low, high = (
                closer[each, np.maximum(best - 1, 0)],
                closer[each, np.minimum(best + 1, PLACES)],
            )
            bottoms = found[each, best]
        return 0.5 * (low + high) if len(k) else low, bottoms


def fifth_degree(s: Floats) -> tuple[tuple[Floats, ...], tuple[Floats, ...]]:
    """Weights of the value and its first and second derivatives at both ends of a unit step: for
    the value at s, and for its derivative."""
    s2, s3, s4, s5 = s**2, s**3, s**4, s**5
    late, late_rate = 10.0 * s3 - 15.0 * s4 + 6.0 * s5, 30.0 * (s2 - 2.0 * s3 + s4)
    value = (
        1.0 - late, s - 6.0 * s3 + 8.0 * s4 - 3.0 * s5, 0.5 * (s2 - 3.0 * s3 + 3.0 * s4 - s5),
        late, -4.0 * s3 + 7.0 * s4 - 3.0 * s5, 0.5 * (s3 - 2.0 * s4 + s5),
    )  # fmt: skip
    rate = (
        -late_rate, 1.0 - 18.0 * s2 + 32.0 * s3 - 15.0 * s4,
        0.5 * (2.0 * s - 9.0 * s2 + 12.0 * s3 - 5.0 * s4), late_rate,
        -12.0 * s2 + 28.0 * s3 - 15.0 * s4, 0.5 * (3.0 * s2 - 8.0 * s3 + 5.0 * s4),
    )  # fmt: skip
    return value, rate


def turning(q: Floats, omega: Floats, rate: Floats) -> tuple[Floats, Floats]:
    """First and second derivatives of quaternions w x y z, from angular velocities and
    accelerations in body axes."""
    spin, spun = (np.concatenate([np.zeros_like(w[..., :1]), w], axis=-1) for w in (omega, rate))
    square = (omega * omega).sum(axis=-1, keepdims=True)
    return 0.5 * product(q, spin), 0.5 * product(q, spun) - 0.25 * square * q


# --- denser rows ----------------------------------------------------------------------------------
def with_eves(
    at: Callable[[float], State], rows: CourseRows, events: Sequence[float]
) -> tuple[CourseRows, Floats]:
    """The rows, with the states of the run just before those at which an event occurred; the times
    of these."""
    jumps = np.flatnonzero(np.isin(rows.t[1:], events) & (np.diff(rows.t) > 0.0))
    t = rows.t[jumps + 1] - EVE * np.diff(rows.t)[jumps]
    late = (t > rows.t[jumps]) & (t < rows.t[jumps + 1])
    eves = t[late]
    try:
        return (with_states(at, rows, jumps[late], eves) if len(eves) else rows), eves
    except PartError:  # a run cannot be resumed where branches meet
        return rows, eves[:0]


def with_middles(at: Callable[[float], State], rows: CourseRows, steps: Ints) -> CourseRows:
    """The rows, with the states of the run in the middle of some steps."""
    return with_states(at, rows, steps, 0.5 * (rows.t[steps] + rows.t[steps + 1]))


def with_states(
    at: Callable[[float], State], rows: CourseRows, steps: Ints, t: Floats
) -> CourseRows:
    """The rows, with the states of the run at a time within each of some steps."""
    found = [at(float(x)).instant() for x in t]
    states = rows.states[steps].copy()
    for k, instant in enumerate(found):
        bodies_of(states)[k] = instant.state
    angles = np.array([instant.near for instant in found]).reshape(len(t), -1)
    tail = np.array([instant.further for instant in found]).reshape(len(t), rows.tail.shape[1])
    return insert(rows, steps, CourseRows(t, states, angles, rows.held[steps], tail))


def halve(rows: CourseRows, bends: Floats, steps: Ints) -> CourseRows:
    """The rows, with those of the curves in the middle of some steps."""
    t, states = 0.5 * (rows.t[steps] + rows.t[steps + 1]), rows.states[steps].copy()
    fill_middles(steps, rows.t, rows.states, bends, np.zeros_like(bends[0]), states)
    return insert(rows, steps, rows.select(steps)._replace(t=t, states=states))


def insert(rows: CourseRows, steps: Ints, new: CourseRows) -> CourseRows:
    """The rows, with a new one in each of some steps."""
    added = np.zeros(len(rows.t) + len(steps), dtype=bool)
    added[steps + 1 + np.arange(len(steps))] = True
    return CourseRows(*(merge(added, old, more) for old, more in zip(rows, new, strict=True)))


def merge(added: Bools, old: NDArray[Any], more: NDArray[Any]) -> NDArray[Any]:
    """Rows of two arrays merged into one; added: the mask of those of the second."""
    out = np.empty((len(added), *old.shape[1:]), dtype=old.dtype)
    out[~added], out[added] = old, more
    return out


def fastest(course: Course, clusters: Clusters) -> Floats:
    """Upper bounds of the velocity [m/s] and angular velocity [rad/s] of any body during a run
    (2,)."""
    rows, most = rows_of(course), np.zeros(2)
    with clusters.lend() as e:
        rates_within(
            *rows,
            e.model,
            e.conditions,
            e.scratch,
            zero_vectors(len(rows.t), len(rows.states[0]) - 1),
            most,
        )
        e.python.raise_pending()
    return most


def bends_of(clusters: Clusters, rows: CourseRows, reach: Floats) -> tuple[Floats, Floats]:
    """Accelerations at all rows, and a bound of the difference between motion and curves; a single
    row needs none."""
    refuse_bending(clusters.selection.tables, "curves between rows")
    n = len(rows.states[0])
    bends, missed = zero_vectors(len(rows.t), n - 1), np.zeros(len(rows.t) - 1)
    if not len(missed):
        return bends, missed
    room = zero_rows(n), zero_vectors(n - 1), zero_vectors(n - 1)
    with clusters.lend() as e:
        fill_bends(*rows, reach, e.model, e.conditions, e.scratch, room, bends, missed)
        e.python.raise_pending()
    return bends, missed
