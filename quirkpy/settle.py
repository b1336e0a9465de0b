"""`settle`: move until the system rests, or never will; then say where, and whether that lasts."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quirkpy.catching import STILL, clearances
from quirkpy.clusters import Clusters
from quirkpy.course import Stop
from quirkpy.equilibrium import ASYMMETRY, Equilibrium, Mode, Nudge, certify, split
from quirkpy.kernels.arrays import V
from quirkpy.kernels.stops import BOUND, SIDE, STOP_COORDINATE, TOUCHING
from quirkpy.kernels.wrenches import INTO, OUT
from quirkpy.parts.checks import Floats, number, positive, shown, whole
from quirkpy.parts.event import Event
from quirkpy.parts.part import PartError
from quirkpy.polishing import POLISHED, Polished, newton, polish, rests, size_of, unknown_below
from quirkpy.simulate import Driver, Settings, check_settings, knots_of
from quirkpy.singular import forms_at, stands
from quirkpy.state import State
from quirkpy.tables import Selection
from quirkpy.vicinity import Vicinity
from quirkpy.whole import Whole, kinetic_beside, nodding

if TYPE_CHECKING:
    from quirkpy.multibody import Multibody

#: Where nothing certain holds it, it has come to rest when no more than this share of its speed is left.
DEEP = 1e-4
#: So many steps at the end of a call must be quiet before that is looked into.
QUIET = 8
#: The state is polished again once its liveliest moment has fallen to this share of that at the last attempt [energy],
#: or after this many times as many steps: what cones shows in no energy beside the whole.
AGAIN, LATER = 0.1, 1.25
#: A motion does not settle whose dampers take less than this of its energy over a stretch of steps; a steady one keeps
#: its liveliest moment within this share, and the balance of what is put in and taken out within another.
LOSSLESS, STEADY, BALANCED = 1e-9, 1e-3, 1e-2
#: What nods alike and moves so many times as lively beside that as in the stretch before is leaving a saddle [energy].
GROWN = 2.0
#: The first stretch of steps over which that is judged; each is twice as long as the one before.  So many stretches
#: that are alike are enough: what loses so little of its energy would not settle within any effort.
STRETCH, PATIENCE = 512, 3
#: So often at most a polished pose is given the turning that its momentum has there.
TURNS_ANEW = 30
#: So many saddles at most are left, one after the other, on which a motion comes to rest.
SADDLES = 8
#: A motion along neutral directions is waited for until it will end within this way [m], [rad], which then is added; a
#: damping of them below this share of the largest counts as none.
COASTING, BRAKED = 1e-3, 1e-6
#: A stop is in the way of a nudge that moves its coordinate beyond it by more than this share of it: less is rounding.
UNMOVED = 1e-6
#: A motion is tried this far [m], [rad]; a stop is in its way that it passes by more than this share of the square.
#: What loops put back to within this share of the way has not moved.
TRIED, SHUT, BACK = 1e-3, 1e-2, 0.1
#: How far beyond what its energy reaches a minimum must hold, and how much of its quadratic walls must stand there.
BEYOND, WALL = 2.0, 0.5


class Watcher:
    """Looks at a run after each compiled call: whether it rests, or why it never will."""

    def __init__(self, system: Multibody, whole: Whole, rest: float) -> None:
        self.system, self.whole, self.rest = system, whole, rest
        self.standstill = standstill(system.selection)
        self.liveliest, self.tried, self.asked, self.nodded = 0.0, math.inf, 0, 0.0
        self.before, self.peak = np.full(2, math.inf), np.zeros(2)  # of two stretches, without nods and with [J]
        self.rows, self.end = 0, STRETCH
        self.ledger, self.steady, self.alike = np.zeros(2), 0, 0
        self.calm = calm_from(system.selection)
        self.calmed = system.initial.t >= self.calm
        self.found: Equilibrium | None = None
        self.never: str | None = None

    def __call__(self, driver: Driver, filled: int) -> int | None:
        states = driver.rows.states[:filled]
        kinetic = kinetic_beside(self.whole, driver.engine.selection, states[:, :-1])
        kinetic[kinetic <= self.standstill] = 0.0  # rounding
        nods = nodding(self.whole, driver.engine.selection, states[:, :-1])
        self.nodded = max(self.nodded, float(nods.max()))
        self.liveliest = max(self.liveliest, float(kinetic.max()), self.nodded - float(nods.min()))
        if not self.calmed:
            return self._calmed(driver, filled)
        self.peak, self.rows = np.maximum(self.peak, [kinetic.max(), (kinetic + nods).max()]), self.rows + filled
        allowed = self.rest**2 * self.liveliest
        quiet = filled - int(np.argmax(np.append(kinetic[::-1] > allowed, True)))
        last = float(kinetic[quiet:].max(initial=0.0))
        enough = QUIET if kinetic[-1] > 0.0 else 1  # at standstill the next step may be as long as you like
        if filled - quiet >= enough and (last <= AGAIN * self.tried or self.rows >= LATER * self.asked):
            self.tried, self.asked = last, self.rows
            well = well_around(self.system, driver.state_of_row(filled - 1))
            left = kinetic if well is None else kinetic + well.energies(states[:, :-1])
            if well is not None and well.found.verdict == "stable" and well.found.damped:
                resting = filled - int(np.argmax(np.append(left[::-1] > allowed, True)))
                if resting < filled and well.walled(float(left[resting])):
                    self.found = well.found_at(float(driver.rows.t[resting]))
                    return resting + 1
            elif well is not None and max(last, float(left[-1])) <= DEEP**2 * self.liveliest:
                self.found = well.found_at(float(driver.rows.t[quiet]))
                return quiet + 1
        if self.rows >= self.end:
            self._judge(states[-1, -1])
        return filled if self.never is not None else None

    def _calmed(self, driver: Driver, filled: int) -> int | None:
        """Steps end where the last schedule does, and so do the rows of a call; what then stands still rests there."""
        self.calmed = bool(driver.rows.t[filled - 1] >= self.calm)
        if self.calmed:
            around = unpressed(self.system.clusters, driver.state_of_row(filled - 1))
            if abs(around.whole.beside(around.rows)).max(initial=0.0) <= STILL and rests(around):
                polished = polish(around)
                self.found = certify(polished.around, polished.moved)
        return filled if self.found is not None else None

    def _judge(self, row: Floats) -> None:
        """At the end of a stretch: does anything take the energy, or is the motion a steady one?"""
        put, taken = row[INTO] - self.ledger[0], row[OUT] - self.ledger[1]
        self.ledger = np.array([row[INTO], row[OUT]])
        peak, every = (float(x) for x in self.peak)
        alike = abs(every - self.before[1]) <= STEADY * every and peak <= GROWN * self.before[0]
        self.alike = self.alike + 1 if alike else 0
        if abs(put) + abs(taken) <= LOSSLESS * peak:
            self.never = "nothing takes its energy"
        elif alike and abs(put - taken) <= BALANCED * abs(put) and put > LOSSLESS * peak:
            self.steady += 1
            if self.steady == 2:
                self.never = "it keeps moving: what is put in each cycle, dampers take out"
        else:
            self.steady = 0
        if self.alike == PATIENCE:  # forces may put in and take out within one cycle
            self.never = "it keeps moving as it did, stretch after stretch"
        self.end, self.before, self.peak = 2 * self.end, self.peak, np.zeros(2)

    @property
    def share(self) -> float:
        """What is left of the fastest motion: over the last whole stretch, or so far."""
        left = self.before[1] if math.isfinite(self.before[1]) else self.peak[1]
        return math.sqrt(min(1.0, float(left) / self.liveliest)) if self.liveliest > 0.0 else 0.0


def calm_from(selection: Selection) -> float:
    """When the last schedule of what acts has come to its end [s]; until then no rest lasts."""
    return float(knots_of(selection).max(initial=-math.inf))


def standstill(selection: Selection) -> float:
    """The kinetic energy [J] of bodies that all move as slowly as one at rest may."""
    tables = selection.tables
    return 0.5 * STILL**2 * float(tables.body_mass.sum() + np.trace(tables.body_inertia, axis1=1, axis2=2).sum())


class Well(NamedTuple):
    """An equilibrium, and its stiffness: values (f,) along directions (f, f)."""

    around: Vicinity
    found: Equilibrium
    stiffness: Floats
    along: Floats

    def energies(self, states: Floats) -> Floats:
        """What the bend of the well alone says of the potential energy of states (k, n, STATE_WIDTH) near by [J]."""
        xi = self.around.coordinates(states)
        return np.asarray(0.5 * (xi @ self.along) ** 2 @ abs(self.stiffness))

    def found_at(self, t: float) -> Equilibrium:
        """What was found, at the time [s] at which the run came there: the whole is carried back to where it was."""
        if self.around.whole.rests:
            return dataclasses.replace(self.found, state=dataclasses.replace(self.found.state, t=t))
        rows = self.around.whole.carried(self.around.here.rows[0], t - self.around.state.t)
        return dataclasses.replace(self.found, state=self.around.state_of(rows, t))

    def walled(self, left: float) -> bool:
        """Whether energy rises nearly as the bend says, as far as some energy [J] reaches and further.

        Loads without a potential have no such walls; there the linearisation alone speaks.
        """
        K = self.around.stiffness.values
        holds = self.stiffness > unknown_below(self.around, self.along)  # the others are neutral
        still = left <= standstill(self.around.engine.selection)  # rounding
        if still or abs(K - K.T).max(initial=0.0) > ASYMMETRY * abs(K).max(initial=0.0):
            return True
        xi = (self.along[:, holds] * (BEYOND * np.sqrt(2.0 * left / self.stiffness[holds]))).T
        return bool((self.around.rises(np.concatenate([xi, -xi])) >= WALL * BEYOND**2 * left).all())


def well_around(system: Multibody, state: State) -> Well | None:
    """The well, or the saddle, at which a state lies, if Newton's method finds one there; what turns keeps its angular
    momentum, and so turns faster or slower there."""
    start, before = unpressed(system.clusters, state), math.inf
    around = start
    for _ in range(TURNS_ANEW):
        rows, moved, settled = newton(around)
        if not settled and around is start:
            return None
        if not settled or moved >= before:  # down to rounding
            break
        before = moved
        whole = around.whole.keeping(around.engine.selection, start.rows, rows)
        around = Vicinity(system.clusters, around.state_of(at_standstill(whole, rows)), whole)
        if not whole.turning.any() or moved <= POLISHED:
            break
    if around.whole.turning.any():
        around = polish(around).around
    coasting = coasted(around, start)
    if coasting is None:
        return None
    around = coasting
    found = certify(around, size_of(around, around.coordinates(start.rows[None])[0]))
    K = around.stiffness.values
    return Well(around, found, *np.linalg.eigh(0.5 * (K + K.T)))


def coasted(around: Vicinity, start: Vicinity) -> Vicinity | None:
    """The well where damping alone will have stopped a state along its neutral directions N: nothing pulls there, and
    N (eta + D xi) stays what it is until eta is zero.  None where that is far, or beyond a stop."""
    if not around.freedoms or around.whole.turning.any() or forms_at(around) is not None:
        return around
    neutral = split(around).neutral
    if not len(neutral):
        return around
    xi, D = around.coordinates(start.rows[None])[0], around.damping.values
    eta = around.reduced(start.whole.beside(start.rows)[None])[0]
    U, sigma, Vt = np.linalg.svd(neutral @ D @ neutral.T)
    braked = sigma > BRAKED * abs(D).max()
    step = neutral.T @ (Vt[braked].T @ ((U[:, braked].T @ neutral @ (eta + D @ xi)) / sigma[braked]))
    size = size_of(around, step)
    if size <= POLISHED or size > COASTING:
        return around if size <= POLISHED else None
    there = around.state_of(around.answers(around.displaced(step[None])).rows[0])
    if (clearances(there.instant(around.clusters.selection))[0] < -TOUCHING).any():
        return None
    return polish(Vicinity(around.clusters, there, around.whole)).around


def unpressed(clusters: Clusters, state: State, whole: Whole | None = None) -> Vicinity:
    """The vicinity of a state, without the stops on which nothing presses: it may leave them."""
    around = Vicinity(clusters, state, whole)
    for label in state.held:
        others = tuple(other for other in around.state.held if other != label)
        free = Vicinity(clusters, dataclasses.replace(around.state, held=others), around.whole)
        if rests(free):
            around = free
    return around


def shut_at_once(clusters: Clusters, start: Vicinity) -> Vicinity | None:
    """The vicinity of a start on all its stops, where these leave nothing to move though to first order one motion
    would be left: whichever way that begins, its loops carry it into a stop, by as much as the square of the way, or
    put it back.  Else None."""
    stops, loops = start.engine.model.stops, start.engine.model.tree.loops
    if len(loops) <= len(stops.what) or not start.freedoms or not len(stops.what):
        return None
    gaps = clearances(start.state.instant(clusters.selection))[0]
    held = tuple(label for label, gap in zip(start.engine.stops, gaps, strict=True) if gap <= TOUCHING)
    around = Vicinity(clusters, dataclasses.replace(start.state, held=held))
    if around.freedoms:
        return None

    def change(rows: Floats) -> Floats:
        return clearances(start.state_of(rows).instant(clusters.selection))[0] - gaps

    rates = np.array([change(rows) for rows in start.moved_by(TRIED * start.basis)])
    along, sizes, _ = np.linalg.svd(rates)  # where loops meet flat, motions of the whole are not told from others
    if (sizes[1:] > BACK * sizes[0]).any():
        return None
    step = np.tensordot(along[:, 0], start.basis, 1) * (TRIED / size_of(start, along[:, 0]))
    ways = np.stack([step, -step])
    for rows, away in zip(start.answers(start.moved_by(ways)).rows, start.moved_by(ways), strict=True):
        went = change(rows)
        free = (gaps + went >= -SHUT * TRIED**2).all()
        if free and abs(went).max() > BACK * abs(change(away)).max():
            return None
    return around


def at_standstill(whole: Whole, rows: Floats) -> Floats:
    """A state of the whole's motion and none beside it."""
    out = rows.copy()
    out[:, V:] = whole.field(rows)
    return out


# --- the face ---------------------------------------------------------------------------------------------------------
class Rule(NamedTuple):
    """How a system is settled; see `Multibody.settle`."""

    nudge: float
    seed: int
    rest: float
    duration: float
    settings: Settings
    stop: Sequence[Event]
    progress: Any


def check_rule(rule: Rule, evaluations: object) -> None:
    """What `settle` is asked for, also where nothing will have to move."""
    check_settings(rule.duration, rule.settings)
    if not isinstance(rule.stop, Sequence):
        raise PartError(f"settle: stop is {shown(rule.stop)}, but must be a list of events, such as [{rule.stop!r}].")
    checks = (("nudge", rule.nudge, number), ("rest", rule.rest, positive), ("seed", rule.seed, whole))
    for name, value, check in checks:
        try:
            check(value)
        except (TypeError, ValueError) as error:
            raise PartError(f"settle: {name} {error}.") from None
    if not (isinstance(evaluations, int) and evaluations > 0):
        raise PartError(f"settle: evaluations is {evaluations!r}, but must be a whole number above zero.")


def settle(system: Multibody, rule: Rule) -> Equilibrium:
    """See `Multibody.settle`."""
    return dataclasses.replace(settled(system, rule), system=system)


def settled(system: Multibody, rule: Rule, saddles: int = 0) -> Equilibrium:
    """The same, not yet told of what; saddles: how many have been left on the way."""
    start = unpressed(system.clusters, system.initial)
    still = abs(start.whole.beside(start.rows)).max(initial=0.0) <= STILL
    if still and rests(start) and (start.state.t >= calm_from(system.selection) or not start.freedoms):
        return from_rest(system, polish(start), rule, saddles)
    shut = (start if stands(start) else shut_at_once(system.clusters, start)) if still else None
    return run_to_rest(system, start.whole, rule, saddles) if shut is None else certify(shut)


def from_rest(system: Multibody, polished: Polished, rule: Rule, saddles: int = 0) -> Equilibrium:
    """A start at rest: it stays if it is stable, and is nudged out if it is not."""
    found = certify(polished.around, polished.moved)
    if found.verdict != "unstable" or rule.nudge == 0.0:
        return found
    worst = max(found.unstable, key=lambda m: m.eigenvalue.real)
    size = float(np.random.default_rng(rule.seed).choice([-1.0, 1.0])) * rule.nudge
    given = Nudge(size, rule.seed, worst.moving)
    state = nudged(polished.around, worst, size)
    if state is None:
        reason = f"{found.reason}, but a stop is in the way of the sense that was tried"
        return dataclasses.replace(found, nudge=given._replace(blocked=True), reason=reason)
    return dataclasses.replace(run_to_rest(system.at(state), polished.around.whole, rule, saddles), nudge=given)


def nudged(around: Vicinity, worst: Mode, size: float) -> State | None:
    """The state displaced along a mode, no body by more than `size` [m], [rad]; None where a stop is in the way."""
    xi = np.real(worst.along)
    rows = around.answers(around.displaced(size / size_of(around, xi) * xi[None])).rows[0]
    state, stops = around.state_of(rows), around.engine.model.stops
    which, side = stops.what[:, STOP_COORDINATE], stops.numbers[:, SIDE]
    before = around.at.coordinates(which)[:, 0]
    after = state.instant(around.clusters.selection).coordinates(which)[:, 0]
    least = -UNMOVED * abs(size)
    beyond, closing = side * (after - stops.numbers[:, BOUND]) < least, side * (after - before) < least
    return None if (beyond & closing).any() else state


def run_to_rest(system: Multibody, whole: Whole, rule: Rule, saddles: int = 0) -> Equilibrium:
    """Move until the system rests, or never will."""
    watcher = Watcher(system, whole, rule.rest)
    run = system._moved(rule.duration, rule.settings, rule.stop, rule.progress, watcher)
    if watcher.found is not None:
        found = dataclasses.replace(watcher.found, run=run)
        if found.verdict != "unstable" or rule.nudge == 0.0:
            return found
        if saddles == SADDLES:  # it has come to rest on a saddle, and on others before
            return dataclasses.replace(found, reason=f"{found.reason}, as from {saddles} saddles on the way to it")
        onward = settled(system.at(found.state), rule, saddles + 1)
        return dataclasses.replace(onward, run=onward.run or run)
    if run.stop is Stop.EVENT:
        return Equilibrium(run.final, "stopped", f"an event ended the motion: {run.events[-1].name}", run=run)
    reason = watcher.never
    if reason is None:
        reason = f"{run.stop} before it came to rest; its speeds were down to {watcher.share:.2g} of the fastest"
    return Equilibrium(run.final, "never settles", reason, run=run)
