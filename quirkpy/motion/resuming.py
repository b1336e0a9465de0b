"""`Onward`: the motion of a run between its rows.

Each time is reached by steps of the run's own method from the row before, mostly by one; working
memory is kept, so that many times can be evaluated in succession."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from threading import RLock
from typing import NamedTuple

import numpy as np

from quirkpy.kernels.base.conditions import HOLDS
from quirkpy.kernels.base.states import bodies_of, ledger_of
from quirkpy.kernels.step import integrator, steps
from quirkpy.kernels.step.impacts import RELEASED
from quirkpy.kernels.step.landing import LEAST_DIGITS
from quirkpy.kernels.step.projection import project
from quirkpy.maths.types import Bools, Floats
from quirkpy.mechanics.clusters import Clusters
from quirkpy.mechanics.state import State
from quirkpy.motion.course import Departure
from quirkpy.motion.departure import state_within
from quirkpy.motion.driver import Driver
from quirkpy.motion.interpolation import CourseRows, before
from quirkpy.motion.settings import Settings
from quirkpy.motion.stiff import driver_for
from quirkpy.parts.part import PartError

#: Number of steps in one call.
ROOM = 16


class Moment(NamedTuple):
    """A run at a time [s] after one of its rows: the state, with the ledger in the last row (n + 1,
    STATE_WIDTH); angles; which stops hold; drift removed by the last step (2,); the next step [s],
    and how many were taken; whether any event has occurred since that row, other than stops that
    release without a jump of velocities; the tail of the state."""

    t: float
    state: Floats
    angles: Floats
    held: Bools
    drift: Floats
    step: float
    steps: int
    happened: bool
    tail: Floats

    @property
    def rows(self) -> CourseRows:
        """The moment as a row from which the run can continue."""
        return CourseRows(
            np.array([self.t]), self.state[None], self.angles[None], self.held[None],
            self.tail[None],
        )  # fmt: skip


class Onward:
    """Continues a run from any row to a time before the next.

    every: whether the rows contain every step of the run, so that one step leads from each to the
    next; departures: the steps of the run out of singular poses.
    """

    def __init__(
        self, clusters: Clusters, start: State, settings: Settings, every: bool,
        departures: Sequence[Departure] = (),
    ) -> None:  # fmt: skip
        self.clusters, self.start, self.every = clusters, start, every
        self.departures = {departure.t: departure for departure in departures}
        self.settings = replace(settings, keep="ends", max_steps=None)
        self.lock = RLock()  # one thread at a time; a user's Python may call from within
        self.idle = [self._driver()]
        self.clock = self.idle[0].clock.copy()  # the clock before any call
        self.entry = self.idle[0].entry

    def _driver(self) -> Driver:
        s = self.settings
        driver = driver_for(s)(self.clusters, self.start, 1.0, (), s)
        driver.make_room(ROOM)
        return driver

    def __call__(self, rows: CourseRows, t: float, step: float = 0.0) -> Moment:
        """The run at a time, from the last of its rows before; step: the first step [s], 0: not
        known."""
        k = before(rows.t, t)
        if self.every and k + 1 < len(rows.t):
            step = float(rows.t[k + 1] - rows.t[k])
        with self.lock:
            driver = self.idle.pop() if self.idle else self._driver()
            try:
                with driver.at_work():
                    return self._move(driver, CourseRows(*(array[k] for array in rows)), t, step)
            finally:
                self.idle.append(driver)

    def _move(self, driver: Driver, row: CourseRows, t: float, step: float) -> Moment:
        """Simulate one interval from a single row."""
        e, clock, counts, happened = driver.engine, driver.clock, driver.counts, False
        clock[:] = self.clock
        clock[steps.T], clock[steps.REFUSED] = row.t, 0.0
        counts[:] = 0
        driver.head_for(t)
        clock[steps.H] = clock[steps.FIXED] or step
        bodies_of(driver.y)[:], ledger_of(driver.y)[:] = bodies_of(row.states), 0.0
        driver.tail[:] = row.tail
        e.turn_to(row.angles)
        e.hold_those(row.held if row.held.size else np.zeros(1, dtype=bool))
        why = integrator.GOING
        if float(row.t) not in self.departures:
            why = driver.pass_end(driver.first_steps(ROOM))
            e.python.raise_pending()
            driver.check_start()
        while True:
            departure = self.departures.get(float(clock[steps.T]))
            if departure is not None:
                if t < departure.t + departure.span:
                    self._stop_within(driver, departure, t)
                    break
                why = driver.go_along(departure)
            elif why == integrator.AT_POSE:
                why = integrator.GOING
            happened |= bool((driver.rows.notes[: counts[steps.NOTED], 1] != RELEASED).any())
            if why == integrator.ARRIVED or t - clock[steps.T] <= LEAST_DIGITS * math.ulp(t):
                break
            if why != integrator.GOING:
                begun = float(row.t)
                raise PartError(
                    f"at: t = {t:.12g} s cannot be reached again from {begun:.12g} s, the stored "
                    "time before it; ask "
                    "for a stored time.",
                    code="rounding",
                )
            why = driver.pass_end(driver.advance(ROOM))
            e.python.raise_pending()
        held, drift = e.conditions.stops[:, HOLDS] != 0, driver.run_arrays.moved.copy()
        taken, step, state = int(counts[steps.STEPS]), float(clock[steps.H]), driver.y.copy()
        ledger_of(state)[:] += ledger_of(row.states)
        return Moment(
            t, state, e.conditions.near.copy(), held, drift, step, taken, happened,
            driver.tail.copy(),
        )  # fmt: skip

    def _stop_within(self, driver: Driver, departure: Departure, t: float) -> None:
        """Put a driver that stands where a departure begins at a time within it [s]."""
        e = driver.engine
        driver.y[:] = state_within(departure, driver.y, t)
        e.hold_bounds(driver.layout.bounding, departure.held)
        e.set_time(t)
        project(driver.y, e.model, e.conditions, e.scratch, driver.run_arrays.moved)
        driver.clock[steps.T] = t
        driver.clock[steps.H] = departure.t + departure.span - t
        driver.counts[steps.STEPS] += 1
