"""`Ranges`: whether a motion stays within the ranges of its coordinates, or leaves them.

A motion of constant energy is a cycle only if its coordinates stay within the ranges that they have
had. One that moves on, at the terminal speed of a damper or creeping under friction, may still
reach a stop, a well or another body. Whole turns of an angle count as no displacement where no
force, stop or event depends on them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from quirkpy.kernels.base.arrays import COORDINATE_KIND, Joints
from quirkpy.kernels.base.states import bodies_of, positions_of
from quirkpy.kernels.place.kinematics import fill_frames, ground_frames, joint_coordinates
from quirkpy.kernels.tree.stops import STOP_COORDINATE
from quirkpy.kernels.users.modal import points_of
from quirkpy.maths.types import Bools, Floats, Ints
from quirkpy.mechanics.rigid_motion import Whole
from quirkpy.motion.driver import Driver
from quirkpy.motion.events import ask
from quirkpy.motion.interpolation import CourseRows
from quirkpy.motion.snapshot import state_at
from quirkpy.parts.event import When
from quirkpy.rest.newton import NO_PULL
from quirkpy.tables.tables import ANGLE

#: A coordinate leaves its range where the range grows by more than this share of itself within a
#: stretch; it drifts where its bounds move by more than the second share in each of two stretches,
#: by amounts equal to within the third, a factor.
RANGE_GROWTH, DRIFTS, DRIFT_FACTOR = 0.1, 1e-3, 2.0
#: A displacement below this share of the longest of its kind, of bodies or of angles, is rounding.
NO_WAY = 1e-6
#: Numbers of whole turns for which forces are compared.
TURNS_ON = tuple(2**k for k in range(0, 21, 2))
#: Whole turns do not matter where accelerations differ by less than this share [1].
TURN_ROUNDING = 1e-7


class Stretch(NamedTuple):
    """Bounds of all coordinates over some time: the middle of that time [s], the lowest and the
    highest values (m,)."""

    t: float
    low: Floats
    high: Floats


class Ranges:
    """The ranges of positions and joint coordinates that a motion has covered, stretch by stretch.

    Positions are those of mass centres; for bodies that drift freely, relative to the mass centre
    of their group.
    """

    def __init__(self, whole: Whole) -> None:
        self.whole = whole
        self.stretches: list[Stretch] = []
        self.begun = self.end = 0.0
        self.low, self.high = np.zeros(0), np.zeros(0)

    def add(self, driver: Driver, rows: CourseRows) -> None:
        """Append rows to the present stretch."""
        values = self._values(driver, rows)
        low, high = values.min(axis=0), values.max(axis=0)
        if len(self.low):
            low, high = np.minimum(low, self.low), np.maximum(high, self.high)
        else:
            self.begun = float(rows.t[0])
        self.low, self.high, self.end = low, high, float(rows.t[-1])

    def close(self) -> None:
        """End the present stretch; three are kept, the first of them merged with all earlier
        ones."""
        self.stretches.append(Stretch(0.5 * (self.begun + self.end), self.low, self.high))
        if len(self.stretches) > 3:
            one, two = self.stretches[:2]
            self.stretches[:2] = [
                Stretch(two.t, np.minimum(one.low, two.low), np.maximum(one.high, two.high))
            ]
        self.low = self.high = np.zeros(0)

    def was_left(self, driver: Driver, row: CourseRows) -> bool:
        """Whether the motion left, in the last stretch, the ranges that it had covered before. row:
        the last row. After the first stretch there is nothing to compare with, and the answer is
        True."""
        if len(self.stretches) < 2:
            return True
        gone = self._outside(driver)
        angles = len(gone) - len(row.angles[0])
        turning = np.flatnonzero(gone[angles:])
        return bool(gone[:angles].any()) or any(tells_turns(driver, row, int(c)) for c in turning)

    def _outside(self, driver: Driver) -> Bools:
        """Which values left their range (m,)."""
        last, before = self.stretches[-1], self.stretches[:-1]
        low = np.min([s.low for s in before], axis=0)
        high = np.max([s.high for s in before], axis=0)
        lengths = np.maximum(last.high, high) - np.minimum(last.low, low)
        n = len(lengths) - len(driver.rows.angles[0])
        longest = np.concatenate(
            [np.full(len(part), part.max(initial=0.0)) for part in (lengths[:n], lengths[n:])]
        )
        counts = lengths > NO_WAY * longest
        grown = np.maximum(last.high - high, low - last.low) > RANGE_GROWTH * (high - low)
        drifts = [
            self._drifts([getattr(s, bound) for s in self.stretches], lengths)
            for bound in ("low", "high")
        ]
        return np.asarray(counts & (grown | drifts[0] | drifts[1]))

    def _drifts(self, bounds: list[Floats], lengths: Floats) -> Bools:
        """Which bounds move steadily (m,)."""
        times = [s.t for s in self.stretches]
        shift = bounds[-1] - bounds[-2]
        moves = abs(shift) > DRIFTS * lengths
        if len(bounds) < 3:
            return np.asarray(moves)
        rate, earlier = (
            shift / (times[-1] - times[-2]),
            (bounds[-2] - bounds[-3]) / (times[-2] - times[-3]),
        )
        alike = (
            (rate * earlier > 0.0)
            & (abs(rate) < DRIFT_FACTOR * abs(earlier))
            & (abs(earlier) < DRIFT_FACTOR * abs(rate))
        )
        return np.asarray(moves & alike)

    def _values(self, driver: Driver, rows: CourseRows) -> Floats:
        """Positions, travels and lengths, and then angles, of rows (k, m)."""
        states = bodies_of(rows.states)
        mass, at = driver.engine.selection.tables.body_mass, positions_of(states).copy()
        for g in np.unique(self.whole.islands[self.whole.drifts]):
            mine = self.whole.islands[: len(mass)] == g
            at[:, mine] -= (np.einsum("n,kni->ki", mass[mine], at[:, mine]) / mass[mine].sum())[
                :, None
            ]
        ways = travels(driver, states, rows.tail)
        turning = driver.engine.model.joints.coordinates[:, COORDINATE_KIND] == ANGLE
        return np.concatenate(
            [at.reshape(len(at), -1), ways, np.where(turning, rows.angles, 0.0)], axis=1
        )


def travels(driver: Driver, states: Floats, tails: Floats) -> Floats:
    """Travels and lengths [m] of states (k, nb, STATE_WIDTH) with tails (k, tail), zero for angles
    (k, nc)."""
    model = driver.engine.model
    frames = ground_frames(states.shape[1] + len(model.modes.stations))
    which = np.flatnonzero(model.joints.coordinates[:, COORDINATE_KIND] != ANGLE)
    joints = Joints(*model.joints, driver.engine.conditions.near)
    out, made = np.zeros((len(states), len(model.joints.coordinates))), np.empty((len(which), 2))
    points = points_of(driver.engine.selection.tables)
    for k, y in enumerate(points.lines(points.rows(states, tails))) if len(which) else ():
        fill_frames(y, model.modes, frames)
        joint_coordinates(which, joints, model.sites, frames, made)
        out[k, which] = made[:, 0]
    return out


def tells_turns(driver: Driver, row: CourseRows, c: int) -> bool:
    """Whether a stop, a force or an event depends on whole turns of an angle."""
    engine = driver.engine
    stopped: Ints = engine.model.stops.what[:, STOP_COORDINATE]
    if (stopped == c).any():
        return True
    angles, t, y = row.angles[0], float(row.t[0]), row.states[0]
    kept = engine.conditions.near.copy()
    sense = 1 if angles[c] >= 0.0 else -1
    watched = [w.event for w in driver.watched if isinstance(w.event, When)]

    def answers(turns: int) -> tuple[Floats, list[float]]:
        near = angles.copy()
        near[c] += 2.0 * np.pi * turns
        engine.turn_to(near)
        tail, bodies = row.tail[0], driver.entry.expand(y)
        state = state_at(driver.start, t, bodies, near, further=tail).next_to(near)
        rows = points_of(engine.selection.tables).rows(bodies_of(y)[None], tail)
        return engine.accelerations_of(t, rows)[0], [ask(event, state) for event in watched]

    try:
        here, values = answers(0)
        scale = TURN_ROUNDING * float(abs(here).max(initial=0.0)) + NO_PULL
        for turns in TURNS_ON:
            there, others = answers(sense * turns)
            if abs(there - here).max(initial=0.0) > scale or others != values:
                return True
    finally:
        engine.turn_to(kept)
    return False
