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
from quirkpy.kernels.base.conditions import PIVOT_USED, TIME
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
from quirkpy.maths.constants import TINY
from quirkpy.maths.rotations import cross, product
from quirkpy.maths.types import Floats
from quirkpy.mechanics.clusters import Clusters
from quirkpy.mechanics.engine import Engine
from quirkpy.mechanics.state import State
from quirkpy.motion.course import Departure

#: Where accelerations are asked for, as fractions of the step: at its beginning they are known, and
#: none is asked for too near to it.
PLACES = np.array([0.0, 0.5, 0.65, 0.8, 0.9, 1.0])
#: How far the fastest joint moves at first, and at most and least [rad] or [m]; the independent
#: part of the weakest closing row, squared, that is aimed at.
FIRST_WAY, MOST_WAY, LEAST_WAY, CLEAR_OF_POSE = 1e-2, 5e-2, 1e-3, 1e-5
#: Lengths that are tried, and rounds of the equations of each; these end when accelerations change
#: by less than this share.
LENGTHS, ROUNDS, UNCHANGING = 8, 12, 1e-13
#: A length with too large an error is shortened by the first, one that is not yet clear of the pose
#: grows by the second at most.
LESS_WAY, MORE_WAY = 0.3, 10.0


class BranchStart(NamedTuple):
    """A branch along which a pose is left: accelerations there of what a run moves (nb, 6); that of
    the fastest joint [rad/s2] or [m/s2]; the labels of the stops on which its loads press, which go
    on holding; the joints that move."""

    accelerations: Floats
    pull: float
    held: tuple[str, ...]
    joints: tuple[str, ...]


class BranchChoice(NamedTuple):
    """What becomes of a pose at rest where branches meet: the branch that is taken, None where no
    loads pull along any; the names of all, if these leave it open."""

    way: BranchStart | None
    branches: tuple[str, ...]


#: Makes the choice for a state of a run.
Leave: TypeAlias = Callable[[Clusters, State], BranchChoice]


class Trial(NamedTuple):
    """A step along a branch that was tried: the independent part of the weakest closing row at its
    end, squared; an estimate of the error of velocities, over the tolerance."""

    departure: Departure
    weakest: float
    error: float


def _integrals(places: Floats) -> tuple[Floats, Floats, Floats]:
    """Weights of values at the places: of the integral from 0 to each (p, p), of the integral of
    that (p, p), and of the highest coefficient of the polynomial through them (p,)."""
    powers = np.arange(len(places))
    inverse = np.linalg.inv(places[:, None] ** powers)
    once = places[:, None] ** (powers + 1) / (powers + 1)
    twice = places[:, None] ** (powers + 2) / ((powers + 1) * (powers + 2))
    return once @ inverse, twice @ inverse, inverse[-1]


ONCE, TWICE, HIGHEST = _integrals(PLACES)


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


def depart(engine: Engine, run: Run, way: BranchStart) -> Departure:
    """The step along a branch from the present state of a run, at rest."""
    left = float(run.clock[steps.T_END] - run.clock[steps.T])
    goes, tried = FIRST_WAY, list[Trial]()
    while len(tried) < LENGTHS:
        span = min(math.sqrt(2.0 * goes / way.pull), left)
        new = BranchStep(engine, run, way, span).solve()
        tried.append(new)
        if new.error > 1.0:
            if goes <= LEAST_WAY or (len(tried) > 1 and tried[-2].error <= 1.0):
                break
            goes *= LESS_WAY
        elif new.weakest < CLEAR_OF_POSE and goes < MOST_WAY and span < left:
            wanted = 1.2 * math.sqrt(CLEAR_OF_POSE / max(new.weakest, TINY))
            goes = min(MOST_WAY, goes * min(MORE_WAY, wanted))
        else:
            break
    good = [some for some in tried if some.error <= 1.0]
    return (good[-1] if good else min(tried, key=lambda some: some.error)).departure


class BranchStep:
    """A step along a branch of a given length [s]: states, accelerations and powers at its
    places."""

    def __init__(self, engine: Engine, run: Run, way: BranchStart, span: float) -> None:
        p, n = len(PLACES), len(run.out)
        self.engine, self.clock, self.way, self.span = engine, run.clock, way, span
        self.begun = run.states[steps.BEGIN, : n + 1]
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
        ledger_of(end)[[INTO, OUT]] = self.span * (ONCE[-1] @ self.powers)
        highest = float(abs(np.einsum("p,pni->ni", HIGHEST, self.accelerations)).max())
        off = self.span * highest / len(PLACES) ** 2
        allowed = float(self.clock[steps.ATOL] + self.clock[steps.RTOL] * most)
        done = Departure(float(self.clock[steps.T]), self.span, end, self.way.held)
        return Trial(done, float(self.engine.scratch.report[WEAKEST]), off / allowed)

    def _sweep(self) -> None:
        """States from accelerations, and accelerations from states."""
        v = self.span * np.einsum("pk,kni->pni", ONCE, self.accelerations)
        x = self.span**2 * np.einsum("pk,kni->pni", TWICE, self.accelerations)
        rates = angular_of(v) + 0.5 * cross(self.turned, angular_of(v))
        self.turned = self.span * np.einsum("pk,kni->pni", ONCE, rates)
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
        e.conditions.control[TIME] = t
        project(self.states[p], e.model, e.conditions, e.scratch, self.room)
        evaluate(t, self.states[p], e.model, e.conditions, e.scratch, self.out)
        self.accelerations[p], self.powers[p] = self.out, e.scratch.power


def turns_by(vectors: Floats) -> Floats:
    """Quaternions w x y z of rotation vectors (n, 4)."""
    half = 0.5 * np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / math.pi) * vectors], axis=-1)


def state_within(departure: Departure, begun: Floats, t: float) -> Floats:
    """The state at a time [s] within a departure from a pose (n + 1, STATE_WIDTH), near its joints:
    from rest, motion is even in time as long as dampers do little."""
    end, span, x = departure.state, departure.span, (t - departure.t) / departure.span
    n = len(begun) - 1
    moved, turned = np.zeros((n, 3)), np.zeros((n, 3))
    moved[:] = positions_of(bodies_of(end)) - positions_of(bodies_of(begun))
    back = attitudes_of(bodies_of(begun)) * np.array([1.0, -1.0, -1.0, -1.0])
    change = product(back, attitudes_of(bodies_of(end)))
    turned[:] = 2.0 * np.sign(change[:, :1]) * change[:, 1:]
    turned *= 1.0 + (turned * turned).sum(axis=1, keepdims=True) / 24.0
    way = np.concatenate([moved, turned], axis=1)
    fast = span * speeds_of(bodies_of(end))
    square, fourth = 2.0 * way - 0.5 * fast, 0.5 * fast - way
    out = begun.copy()
    rows = bodies_of(out)
    gone = square * x**2 + fourth * x**4
    positions_of(rows)[:] += linear_of(gone)
    attitudes_of(rows)[:] = product(attitudes_of(rows), turns_by(angular_of(gone)))
    speeds_of(rows)[:] += (2.0 * square * x + 4.0 * fourth * x**3) / span
    ledger_of(out)[:] += x**3 * ledger_of(end)
    return out
