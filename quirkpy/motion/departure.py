"""How a run leaves a pose at rest where branches of motion meet.

There the joints do not decide which accelerations are possible, and a step that begins in such a
pose, or has a stage near it, would mix branches. So the first step along a branch is taken here: at
its beginning accelerations are those of the branch, all others are asked for where its pose is
regular again, and the polynomial through them is integrated twice (collocation). Such a step is
longer, until the closing rows are independent beyond doubt at its end, as long as that costs no
accuracy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from quirkpy.kernels.act.wrenches import INTO, OUT
from quirkpy.kernels.base.conditions import PIVOT_USED
from quirkpy.kernels.base.states import (
    angular_of,
    attitudes_of,
    bodies_of,
    ledger_of,
    linear_of,
    positions_of,
    speeds_of,
    zero_vectors,
)
from quirkpy.kernels.step import steps
from quirkpy.kernels.step.batch import AT_REST, PROBE_OFFSET
from quirkpy.kernels.step.projection import move_on, project
from quirkpy.kernels.step.steps import Run
from quirkpy.kernels.tree.closure import COUNTED, PIVOT, WEAKEST, WHICH
from quirkpy.kernels.tree.evaluation import evaluate
from quirkpy.kernels.tree.stops import BOUND, SIDE, STOP_COORDINATE, TOUCHING
from quirkpy.maths.constants import TINY
from quirkpy.maths.rotations import cross, product
from quirkpy.maths.types import Floats
from quirkpy.mechanics.analysis import energy
from quirkpy.mechanics.clusters import Clusters
from quirkpy.mechanics.engine import Engine, Layout
from quirkpy.mechanics.instant import Instant
from quirkpy.mechanics.state import State
from quirkpy.motion.course import Departure, Jump

#: Where accelerations are asked for, as fractions of the step: at its beginning they are known, and
#: none is asked for too near to it.
PLACES = np.array([0.0, 0.5, 0.65, 0.8, 0.9, 1.0])
#: How far the fastest joint moves at first, and at most and least [rad] or [m]; the independent
#: part of the weakest closing row, squared, that is aimed at.
FIRST_WAY, MOST_WAY, LEAST_WAY, CLEAR_OF_POSE = 1e-2, 5e-2, 1e-3, 1e-5
#: Lengths that are tried, and rounds of the equations of each; these end when accelerations change
#: by less than this share.
LENGTHS, ROUNDS, UNCHANGING = 8, 12, 1e-13
#: A step whose energies differ by more than so many relative tolerances is none.
OUT_OF_BALANCE = 10.0
#: A length with too large an error is shortened by the first, one that is not yet clear of the pose
#: grows by the second at most.
LESS_WAY, MORE_WAY = 0.3, 10.0


class BranchStart(NamedTuple):
    """A branch along which a pose is left: accelerations there of what a run moves, from rest (nb,
    6); that of the fastest joint [rad/s2] or [m/s2]; the labels of the stops that go on holding,
    since loads press on them; the joints that move. Of a pose that is left at some velocity, that
    velocity (nb, 6), and that of the fastest joint [rad/s] or [m/s]."""

    accelerations: Floats
    pull: float
    held: tuple[str, ...]
    joints: tuple[str, ...]
    velocities: Floats | None = None
    speed: float = 0.0

    def time_for(self, goes: float) -> float:
        """How long the fastest joint takes for a way [rad] or [m]."""
        return 2.0 * goes / (self.speed + math.sqrt(self.speed**2 + 2.0 * self.pull * goes))


class BranchChoice(NamedTuple):
    """What becomes of a pose at rest where branches meet: the branch that is taken, None where no
    loads pull along any; the names of all, if these leave it open."""

    way: BranchStart | None
    branches: tuple[str, ...]


#: Makes the choice for a state of a run, after an impact there, if there was one.
Leave: TypeAlias = Callable[[Clusters, State, Jump | None], BranchChoice]


class Trial(NamedTuple):
    """A step along a branch that was tried: the independent part of the weakest closing row at its
    end, squared; an estimate of the error of velocities, over the tolerance."""

    departure: Departure
    weakest: float
    error: float


class Weights(NamedTuple):
    """Weights of values at the places: of the integral from 0 to each (p, p), of the integral of
    that (p, p), and of the highest coefficient of the polynomial through them (p,)."""

    once: Floats
    twice: Floats
    highest: Floats


def weights_without(unknown: int) -> Weights:
    """Weights where the first values are not known, and do not count."""
    powers = np.arange(len(PLACES) - unknown)
    inverse = np.zeros((len(powers), len(PLACES)))
    inverse[:, unknown:] = np.linalg.inv(PLACES[unknown:, None] ** powers)
    once = PLACES[:, None] ** (powers + 1) / (powers + 1)
    twice = PLACES[:, None] ** (powers + 2) / ((powers + 1) * (powers + 2))
    return Weights(once @ inverse, twice @ inverse, inverse[-1])


FROM_REST, MOVING = weights_without(0), weights_without(1)


def meeting_row(engine: Engine, run: Run) -> int | None:
    """The closing row whose loop has several branches in the present pose of a run, at rest, if
    there is any: near the pose the rank of the rows is higher."""
    e, n, t = engine, len(run.out), float(run.clock[steps.T])
    y = run.states[steps.BEGIN, : n + 1].copy()
    counted = e.scratch.report[COUNTED]
    speeds = speeds_of(bodies_of(y))
    speeds[:] = np.random.default_rng(0).normal(size=speeds.shape)
    project(y, e.model, e.conditions, e.scratch, np.zeros(2))
    speeds *= PROBE_OFFSET / max(AT_REST, abs(speeds).max())
    move_on(y)
    project(y, e.model, e.conditions, e.scratch, np.zeros(2))
    evaluate(t, y, e.model, e.conditions, e.scratch, run.out)
    e.python.raise_pending()
    return int(e.scratch.report[WHICH]) if e.scratch.report[COUNTED] > counted else None


class Stand(NamedTuple):
    """A run that stands in a pose: its engine, arrays and layout, and what gives a state of what it
    moves as an argument of the kernels."""

    engine: Engine
    run: Run
    layout: Layout
    instant_of: Callable[[Floats], Instant]

    @property
    def state(self) -> Floats:
        """The present state (nb + 1, STATE_WIDTH)."""
        return self.run.states[steps.BEGIN, : len(self.run.out) + 1]

    def moving(self, way: BranchStart) -> Floats:
        """The present state with the velocities of a branch."""
        out = self.state.copy()
        if way.velocities is not None:
            speeds_of(bodies_of(out))[:] = way.velocities
        return out

    def is_beyond(self, y: Floats) -> bool:
        """Whether a state lies beyond a stop."""
        what, numbers = self.layout.stops
        if not len(what):
            return False
        x = self.instant_of(y).coordinates(what[:, STOP_COORDINATE])[:, 0]
        free = numbers[:, SIDE] * (x - numbers[:, BOUND])
        return bool((free[self.layout.bounding] < -TOUCHING).any())


def leave_pose(stand: Stand, way: BranchStart) -> Departure | None:
    """The step along a branch from the present state of a run, with what an impact there takes from
    the ledger; None if it ends beyond a stop, or its energies do not agree."""
    stops = stand.engine.conditions.stops
    before = stops.copy()
    stand.engine.hold_bounds(stand.layout.bounding, way.held)
    departure = depart(stand.engine, stand.run, way)
    there = stand.state.copy()
    bodies_of(there)[:] = bodies_of(departure.state)
    now, start, end = (energy(stand.instant_of(y)) for y in (stand.state, stand.moving(way), there))
    into, out = ledger_of(departure.state)[[INTO, OUT]]
    left = start.kinetic + start.potential + into - out - end.kinetic - end.potential
    size = start.kinetic + end.kinetic + abs(start.potential) + abs(end.potential)
    rtol = float(stand.run.clock[steps.RTOL])
    if abs(left) > OUT_OF_BALANCE * rtol * size or stand.is_beyond(there):
        stops[:] = before
        return None
    ledger_of(departure.state)[OUT] += now.kinetic - start.kinetic
    return departure


def depart(engine: Engine, run: Run, way: BranchStart) -> Departure:
    """The step along a branch from the present state of a run."""
    left = float(run.clock[steps.T_END] - run.clock[steps.T])
    goes, tried = FIRST_WAY, list[Trial]()
    while len(tried) < LENGTHS:
        new = BranchStep(engine, run, way, way.time_for(goes)).solve()
        tried.append(new)
        if new.error > 1.0:
            if goes <= LEAST_WAY or (len(tried) > 1 and tried[-2].error <= 1.0):
                break
            goes *= LESS_WAY
        elif new.weakest < CLEAR_OF_POSE and goes < MOST_WAY:
            wanted = 1.2 * math.sqrt(CLEAR_OF_POSE / max(new.weakest, TINY))
            goes = min(MOST_WAY, goes * min(MORE_WAY, wanted))
        else:
            break
    good = [some for some in tried if some.error <= 1.0]
    best = (good[-1] if good else min(tried, key=lambda some: some.error)).departure
    return best if best.span <= left else cut_short(best, left, engine, run)


def cut_short(departure: Departure, left: float, engine: Engine, run: Run) -> Departure:
    """The first part of a step out of a pose, of a given length [s]."""
    begun = run.states[steps.BEGIN, : len(run.out) + 1].copy()
    ledger_of(begun)[:] = 0.0
    state = state_within(departure, begun, departure.t + left)
    engine.set_time(departure.t + left)
    project(state, engine.model, engine.conditions, engine.scratch, np.zeros(2))
    return departure._replace(span=left, state=state)


class BranchStep:
    """A step along a branch of a given length [s]: states, accelerations and powers at its
    places."""

    def __init__(self, engine: Engine, run: Run, way: BranchStart, span: float) -> None:
        p, n = len(PLACES), len(run.out)
        self.engine, self.clock, self.way, self.span = engine, run.clock, way, span
        self.begun = run.states[steps.BEGIN, : n + 1].copy()
        self.weights = FROM_REST if way.velocities is None else MOVING
        if way.velocities is not None:
            speeds_of(bodies_of(self.begun))[:] = way.velocities
        self.accelerations = np.repeat(way.accelerations[None], p, axis=0)
        self.powers = np.zeros((p, 2))
        self.states = np.repeat(self.begun[None], p, axis=0)
        self.turned, self.out, self.room = np.zeros((p, n, 3)), zero_vectors(n), np.zeros(2)

    def solve(self) -> Trial:
        """The end of the step, and how good that is."""
        control = self.engine.conditions.control
        pivot, control[PIVOT_USED] = control[PIVOT_USED], PIVOT
        for _ in range(ROUNDS):
            before = self.accelerations.copy()
            self._sweep()
            change = abs(self.accelerations - before).max()
            if change <= UNCHANGING * abs(before).max():
                break
        control[PIVOT_USED] = pivot
        self.engine.python.raise_pending()
        end = self.states[-1].copy()
        most = float(abs(speeds_of(bodies_of(end))).max())
        ledger_of(end)[:] = 0.0
        ledger_of(end)[[INTO, OUT]] = self.span * (self.weights.once[-1] @ self.powers)
        highest = float(abs(np.einsum("p,pni->ni", self.weights.highest, self.accelerations)).max())
        off = self.span * highest / len(PLACES) ** 2
        allowed = float(self.clock[steps.ATOL] + self.clock[steps.RTOL] * most)
        begun = float(self.clock[steps.T])
        done = Departure(begun, self.span, end, self.way.held, self.way.velocities)
        return Trial(done, float(self.engine.scratch.report[WEAKEST]), off / allowed)

    def _sweep(self) -> None:
        """States from accelerations, and accelerations from states."""
        begun, once, twice, _ = speeds_of(bodies_of(self.begun)), *self.weights
        v = self.span * np.einsum("pk,kni->pni", once, self.accelerations)
        x = self.span**2 * np.einsum("pk,kni->pni", twice, self.accelerations)
        x += self.span * PLACES[:, None, None] * begun
        rates = angular_of(v + begun) + 0.5 * cross(self.turned, angular_of(v + begun))
        self.turned = self.span * np.einsum("pk,kni->pni", FROM_REST.once, rates)
        for p in range(1, len(PLACES)):
            self.states[p] = self.begun
            rows = bodies_of(self.states[p])
            positions_of(rows)[:] += linear_of(x[p])
            attitudes_of(rows)[:] = product(attitudes_of(rows), turns_by(self.turned[p]))
            speeds_of(rows)[:] += v[p]
            self._ask(p)

    def _ask(self, p: int) -> None:
        """The state at a place onto the joints, its accelerations and powers."""
        e, t = self.engine, float(self.clock[steps.T]) + PLACES[p] * self.span
        e.set_time(t)
        project(self.states[p], e.model, e.conditions, e.scratch, self.room)
        evaluate(t, self.states[p], e.model, e.conditions, e.scratch, self.out)
        self.accelerations[p], self.powers[p] = self.out, e.scratch.power


def turns_by(vectors: Floats) -> Floats:
    """Quaternions w x y z of rotation vectors (n, 4)."""
    half = 0.5 * np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / math.pi) * vectors], axis=-1)


def state_within(departure: Departure, begun: Floats, t: float) -> Floats:
    """The state at a time [s] within a departure from a pose (n + 1, STATE_WIDTH), near its joints:
    a polynomial through both ends; from rest motion is even in time as long as dampers do
    little."""
    end, span, x = departure.state, departure.span, (t - departure.t) / departure.span
    n = len(begun) - 1
    moved, turned = np.zeros((n, 3)), np.zeros((n, 3))
    moved[:] = positions_of(bodies_of(end)) - positions_of(bodies_of(begun))
    back = attitudes_of(bodies_of(begun)) * np.array([1.0, -1.0, -1.0, -1.0])
    change = product(back, attitudes_of(bodies_of(end)))
    turned[:] = 2.0 * np.sign(change[:, :1]) * change[:, 1:]
    turned *= 1.0 + (turned * turned).sum(axis=1, keepdims=True) / 24.0
    out = begun.copy()
    rows = bodies_of(out)
    if departure.velocities is not None:
        speeds_of(rows)[:] = departure.velocities
    slow = span * speeds_of(rows)
    way = np.concatenate([moved, turned], axis=1) - slow
    fast = span * speeds_of(bodies_of(end)) - slow
    power = 3 if slow.any() else 4
    last = (fast - 2.0 * way) / (power - 2)
    square = way - last
    gone = slow * x + square * x**2 + last * x**power
    positions_of(rows)[:] += linear_of(gone)
    attitudes_of(rows)[:] = product(attitudes_of(rows), turns_by(angular_of(gone)))
    speeds_of(rows)[:] += (2.0 * square * x + power * last * x ** (power - 1)) / span
    ledger_of(out)[:] += x**3 * ledger_of(end)
    return out
