"""`Watcher`: whether and since when a run is at rest; or why it never settles."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from quirkpy.kernels.act.wrenches import INTO, OUT
from quirkpy.kernels.base.states import bodies_of, ledger_of
from quirkpy.kernels.step.batch import AT_REST
from quirkpy.kernels.step.steps import NOTED
from quirkpy.kernels.users.modal import points_of
from quirkpy.maths.constants import TINY
from quirkpy.maths.types import Bools, Floats
from quirkpy.mechanics.rigid_motion import Whole, nutation_energy, relative_kinetic_energy
from quirkpy.mechanics.system import System
from quirkpy.motion.driver import Driver
from quirkpy.motion.extrema import (
    BESIDE,
    Ask,
    Summit,
    fall,
    highest,
    no_higher,
    select_summits,
    summits,
)
from quirkpy.motion.interpolation import CourseRows
from quirkpy.motion.resuming import Moment, Onward
from quirkpy.parts.part import PartError
from quirkpy.rest.cycles import Ranges
from quirkpy.rest.equilibrium import Equilibrium, certify
from quirkpy.rest.newton import polish, rests
from quirkpy.rest.reason import Reason
from quirkpy.rest.wells import Well, release_stops, standstill, well_around
from quirkpy.tables import Selection

#: Share of the highest speed below which a motion is at rest [1] where the well around it is not
#: certified as stable and damped.
SPEED_LEFT = 1e-4
#: Number of quiet steps at the end of a call before a well is sought.
QUIET = 8
#: The search for a well is repeated when the largest kinetic energy of the quiet steps has fallen
#: to this share of that at the last attempt, or when the number of steps has grown by this factor:
#: a body in steady coning loses no kinetic energy relative to the whole.
AGAIN, LATER = 0.1, 1.25
#: A motion never settles where, over a stretch of steps, loads and dampers exchange less than the
#: first share of its largest energy; or where that largest energy is constant to the second share,
#: and the work done on it equals the energy dissipated to the third.
LOSSLESS, STEADY, BALANCED = 1e-9, 1e-3, 1e-2
#: A motion is leaving a saddle, and is not steady, where its largest kinetic energy without
#: nutation has grown by more than this factor from one stretch to the next while that with nutation
#: stayed the same.
GROWN = 2.0
#: Steps in the first stretch, of which each is twice as long as the one before; and number of
#: successive stretches of equal energy after which a motion counts as steady.
STRETCH, PATIENCE = 512, 3
#: At the limit of stability an explicit method leaves noise about an equilibrium: in velocities up
#: to this factor times the absolute tolerance, in poses times the relative one.
TREMBLING = 5.0
#: A motion that covers no more than this in a stretch [m], [rad] creeps, and may continue.
CREEP = 1e-3
#: Largest number of rows kept.
LOOKED_BACK = 4096


class RestRows(NamedTuple):
    """Rows of a run, in the layout of its selection; for each the kinetic energy relative to the
    whole [J], the energy of nutation [J], and whether velocities may have jumped."""

    rows: CourseRows
    kinetic: Floats
    nutation: Floats
    jumps: Bools

    @property
    def last(self) -> tuple[Any, ...]:
        """Time, state, angles and active stops of the last row."""
        return tuple([array[-1] for array in self.rows])

    def select(self, which: slice) -> RestRows:
        """The rows in a slice, with all their data."""
        return RestRows(
            self.rows.select(which), self.kinetic[which], self.nutation[which], self.jumps[which]
        )

    def append(self, more: RestRows) -> RestRows:
        """Rows of this record and others after them."""
        others = (np.concatenate(two) for two in zip(self[1:], more[1:], strict=True))
        return RestRows(self.rows.append(more.rows), *others)


class Watcher:
    """Examines a run after each compiled call: whether it is at rest, and since when, or why it
    never settles."""

    def __init__(self, system: System, whole: Whole, rest: float, atol: float) -> None:
        self.system, self.whole, self.rest = system, whole, rest
        self.standstill = self.least = standstill(system.selection)
        self.trembling = standstill(system.selection, max(AT_REST, TREMBLING * atol))
        self.nutates = bool(whole.turning.any())
        self.largest, self.tried, self.asked = 0.0, math.inf, 0
        # Kinetic energy relative to the whole, and energy of nutation [J]
        self.most, self.summits = [0.0, 0.0], [list[Summit](), list[Summit]()]
        self.seen: RestRows | None = None
        # Largest energy [J] of the last stretch and of this one, without nutation and with it
        self.before, self.peak = np.full(2, math.inf), np.zeros(2)
        self.rows, self.end, self.began = 0, STRETCH, system.initial.t
        self.ledger, self.steady, self.alike = np.zeros(2), 0, 0
        self.ranges = Ranges(whole)
        self.calm = calm_from(system.selection)
        self.calmed = system.initial.t >= self.calm
        self.found: Equilibrium | None = None
        self.never: Reason | None = None
        self.onward: Onward | None = None

    def __call__(self, driver: Driver, filled: int) -> tuple[Any, ...] | None:
        new = self._rows_of_call(driver, filled)
        self._remember(new)
        if not self.calmed:
            return self._after_schedules(driver, new)
        kinetic = new.kinetic
        self.ranges.add(driver, new.rows)
        self.peak, self.rows = (
            np.maximum(self.peak, [kinetic.max(), (kinetic + new.nutation).max()]),
            self.rows + filled,
        )
        quiet = filled - int(
            np.argmax(np.append(kinetic[::-1] > self.rest**2 * self.largest, True))
        )
        last = float(kinetic[quiet:].max(initial=0.0))
        # At standstill the step length is unbounded; the start alone does not count as rest
        enough = QUIET if kinetic[-1] > 0.0 else 1
        again = last <= AGAIN * self.tried or self.rows >= LATER * self.asked
        if self.rows > 1 and filled - quiet >= enough and again:
            self.tried, self.asked = last, self.rows
            well = well_around(self.system, driver.state_of(*new.last))
            end = None if well is None else self._end_in(well, driver)
            if well is not None and end is not None:
                self.found = well.equilibrium_at(float(end[0][0]))
                return end
        if self.rows >= self.end:
            self._judge(driver, new.rows.select(slice(-1, None)))
        return driver.row(filled - 1) if self.never is not None else None

    def _rows_of_call(self, driver: Driver, filled: int) -> RestRows:
        """The rows of a call; recorded events may have made velocities jump."""
        of = driver.rows
        rows = CourseRows(
            of.t[:filled].copy(), of.states[:filled].copy(), of.angles[:filled].copy(),
            of.held[:filled].copy(), of.tail[:filled].copy(),
        )  # fmt: skip
        jumps = np.isin(rows.t, of.notes[: driver.counts[NOTED], 0])
        placed = self._placed(driver, rows.states, rows.tail)
        return RestRows(rows, self._kinetic(driver, placed), self._nutation(driver, placed), jumps)

    def _placed(self, driver: Driver, states: Floats, tails: Floats) -> Floats:
        """States of the run (k, n + 1, STATE_WIDTH) and their tails as rows with the points of
        modes."""
        return points_of(driver.layout.selection.tables).rows(bodies_of(states), tails)

    def _kinetic(self, driver: Driver, rows: Floats) -> Floats:
        """Kinetic energy relative to the rigid motion of the whole [J] (k,); zero where it is below
        the resolution of the integration."""
        kinetic = relative_kinetic_energy(self.whole, driver.layout.selection, rows)
        return np.where(kinetic > self.trembling, kinetic, 0.0)

    def _nutation(self, driver: Driver, rows: Floats) -> Floats:
        return nutation_energy(self.whole, driver.layout.selection, rows)

    def _remember(self, new: RestRows) -> None:
        """Keep the largest energies of a call, and all rows since the run has been quiet."""
        quiet = new.kinetic.max() <= self.rest**2 * self.largest
        near = new if self.seen is None else self.seen.select(slice(-2 * BESIDE, None)).append(new)
        for k, values in enumerate((near.kinetic, near.nutation)[: 1 + self.nutates]):
            self.most[k] = most = max(self.most[k], float(values.max()))
            if no_higher(values) > most:
                self.summits[k] = select_summits(
                    [*self.summits[k], *summits(near.rows, values, near.jumps, most, False)], most
                )
        self.largest = max(self.largest, self.most[0], self.most[1] - float(new.nutation.min()))
        self.seen = (
            self.seen.append(new).select(slice(-LOOKED_BACK, None))
            if quiet and self.seen is not None
            else near
        )

    def _end_in(self, well: Well, driver: Driver) -> tuple[Any, ...] | None:
        """The row with which the run ends in a well: the last time at which the remaining energy
        falls below its share of the largest energy of the run, both located between rows; a tenth
        of that share, or less, where the walls of the well are lower. None: there is more energy
        left.

        At a singular pose, where no run can be resumed, whole rows are taken."""
        assert self.seen is not None
        rtol = driver.settings.rtol
        for k, measure in enumerate((self._kinetic, self._nutation)):
            with suppress(PartError):
                ask = self._measure(driver, partial(measure, driver))
                self.most[k] = highest(self.summits[k], ask, self.most[k], rtol)
            self.summits[k] = []
        sure = well.found.verdict == "stable" and well.found.damped
        self.least = (
            max(self.standstill, well.energy_of(TREMBLING * rtol)) if sure else self.standstill
        )
        share = self.rest if sure else min(self.rest, SPEED_LEFT)
        seen = self._placed(driver, self.seen.rows.states, self.seen.rows.tail)
        above = self._above(driver, well, share**2, seen)
        while (
            sure
            and above[-1] <= 0.0
            and not well.has_walls(self._level(share**2, self.seen.nutation[-1:])[0])
        ):
            share, above = math.sqrt(AGAIN) * share, above - math.log(AGAIN)
        if above[-1] > 0.0:
            return None
        k = int(np.argmax(np.append(above[::-1] > 0.0, True)))
        ask = self._measure(driver, partial(self._above, driver, well, share**2))
        return self._passing(len(above) - 1 - k, above, ask, rtol)

    def _level(self, share: float, nutation: Floats) -> Floats:
        """The remaining energy [J] below which states with some energy of nutation are at rest."""
        return np.maximum(share * np.maximum(self.most[0], self.most[1] - nutation), self.least)

    def _above(self, driver: Driver, well: Well, share: float, rows: Floats) -> Floats:
        """ln(remaining energy / `_level`) of states (k,): above zero while they are not at rest."""
        left = self._kinetic(driver, rows) + well.energies(rows)
        return np.asarray(
            np.log(np.maximum(left, TINY) / self._level(share, self._nutation(driver, rows)))
        )

    def _passing(self, k: int, above: Floats, ask: Ask, rtol: float) -> tuple[Any, ...]:
        """The row at which a measure falls below zero between row k and the next; row k + 1 where
        that cannot be located."""
        assert self.seen is not None
        rows, jumps = self.seen.rows, self.seen.jumps
        found = None
        with suppress(PartError):
            found = fall(rows, above, k, jumps, ask, rtol) if k >= 0 else None
        if found is None:
            t, states, angles, held, tail = (array[k + 1 : k + 2] for array in rows)
            return t, states, angles, np.zeros((1, 2)), held, tail
        t, states, angles, held, tail = found.rows
        return t, states, angles, found.drift[None], held, tail

    def _measure(self, driver: Driver, measure: Callable[[Floats], Floats]) -> Ask:
        """A measure of states as a function of time between two rows of the run."""

        if self.onward is None:
            settings = driver.settings_between()
            self.onward = Onward(self.system.clusters, driver.start, settings, every=True)
        onward = self.onward

        def ask(rows: CourseRows, t: float) -> tuple[float, Moment]:
            there = onward(rows, t)
            placed = self._placed(driver, there.state[None], there.tail[None])
            return float(measure(placed)[0]), there

        return ask

    def _after_schedules(self, driver: Driver, new: RestRows) -> tuple[Any, ...] | None:
        """Wait for the end of the last schedule, where a step and a call end; a system that stands
        still then is at rest."""
        self.calmed = bool(new.rows.t[-1] >= self.calm)
        if self.calmed:
            around = release_stops(self.system.clusters, driver.state_of(*new.last))
            if abs(around.whole.relative_velocities(around.rows)).max(
                initial=0.0
            ) <= AT_REST and rests(around):
                polished = polish(around)
                self.found = certify(polished.around, polished.moved)
        return driver.row(len(new.kinetic) - 1) if self.found is not None else None

    def _judge(self, driver: Driver, last: CourseRows) -> None:
        """At the end of a stretch: conclude that the run never settles, if its energy is steady and
        its coordinates stay within their ranges."""
        why = self._steadiness(ledger_of(last.states)[0], float(last.t[-1]))
        self.ranges.close()
        if why is not None and not self.ranges.was_left(driver, last):
            self.never = why

    def _steadiness(self, row: Floats, t: float) -> Reason | None:
        """The reason why the energy of the motion is constant, by its ledger and by the largest
        energies of two stretches; None: it is not constant."""
        went = (t - self.began) * math.sqrt(
            float(self.peak[1]) / standstill(self.system.selection, 1.0)
        )
        self.began = t
        put, taken = row[INTO] - self.ledger[0], row[OUT] - self.ledger[1]
        self.ledger = np.array([row[INTO], row[OUT]])
        peak, every = (float(x) for x in self.peak)
        alike = (
            abs(every - self.before[1]) <= STEADY * every
            and peak <= GROWN * self.before[0]
            and went > CREEP
        )
        lossless = abs(put) + abs(taken) <= LOSSLESS * peak
        fed = alike and abs(put - taken) <= BALANCED * abs(put) and put > LOSSLESS * peak
        self.alike = self.alike + 1 if alike else 0
        self.steady = self.steady if lossless else self.steady + 1 if fed else 0
        self.end, self.before, self.peak = 2 * self.end, self.peak, np.zeros(2)
        if lossless:
            return Reason("lossless")
        if self.alike >= PATIENCE:  # forces may do work and dissipate within one cycle
            return Reason("steady")
        if self.steady >= 2:
            return Reason("fed")
        return None

    @property
    def share(self) -> float:
        """Largest speed over the last complete stretch, or so far, as a share of the largest of the
        run."""
        left = self.before[1] if math.isfinite(self.before[1]) else self.peak[1]
        return math.sqrt(min(1.0, float(left) / self.largest)) if self.largest > 0.0 else 0.0


def calm_from(selection: Selection) -> float:
    """The time at which the last schedule of the active forces ends [s]; before it no rest is
    final."""
    return selection.calm_after
