"""Stiff systems: the driver of runs by the implicit method, and of runs that choose their method by
themselves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from quirkpy.kernels.base.states import speeds_of
from quirkpy.kernels.place.kinematics import ground_frames
from quirkpy.kernels.step import collocation, integrator, relative, sampling, steps
from quirkpy.kernels.step.collocation import Collocation
from quirkpy.kernels.step.implicit import LATE, march_implicitly
from quirkpy.kernels.step.methods import IMPLICIT, TABLES
from quirkpy.kernels.step.relative import Relative
from quirkpy.kernels.step.steps import Run
from quirkpy.kernels.tree.tree import (
    BALL_NODE,
    FIXED_NODE,
    FREE_NODE,
    MEMBER_NODE,
    NODE,
    PARENT,
    SLIDE_NODE,
    TURN_NODE,
    WHOSE,
    Tree,
)
from quirkpy.maths.cached import cached_property
from quirkpy.maths.types import Floats, Ints
from quirkpy.mechanics.clusters import Clusters
from quirkpy.mechanics.engine import Layout
from quirkpy.mechanics.state import State
from quirkpy.motion.course import Happening
from quirkpy.motion.driver import EFFORT_PER_CALL, Driver
from quirkpy.motion.settings import Settings
from quirkpy.parts.event import Event

#: How the nodes of a tree move on what they hang on; what is not named has six coordinates.
WAYS = {
    FIXED_NODE: relative.RIGID, TURN_NODE: relative.TURNS, SLIDE_NODE: relative.SLIDES,
    BALL_NODE: relative.BALLED,
}  # fmt: skip
#: What a step costs beside differences and factors: so many times an explicit one.
STEP_COST = 2
#: The names of what happens where a run changes its method.
IMPLICIT_STEPS, EXPLICIT_STEPS = "implicit steps", "explicit steps"
#: A run is not taken as stiff before so many steps; a step is at the limit of stability where the
#: product of its length and the fastest rate is above the second number; velocities that differ by
#: less than this share of the tolerance say nothing of rates.
FIRST_LOOK, AT_THE_LIMIT, NOISE = 500, 2.5, 1e-3
#: So many implicit steps are tried; they must cost less than this share of what explicit ones do,
#: for the same time.
TRIED, PAYS = 16, 0.7
#: Factors of n equations cost this share of n^3 evaluations of one body.
FACTORS_COST = 2e-3


def coordinates_in(tree: Tree, n: int, shut: bool) -> Ints:
    """The relative coordinates of each of n bodies (n, WHAT_WIDTH); shut: joints of the tree hold
    exactly, else all bodies have six coordinates, as those at sites on bodies that bend do."""
    nodes, ground = tree.nodes, len(tree.nodes) - 1
    out, begun = np.zeros((n, relative.WHAT_WIDTH), dtype=np.int64), 0
    for i in range(n):
        head = int(nodes[i, PARENT]) if nodes[i, NODE] >= MEMBER_NODE else i
        kind, parent = int(nodes[head, NODE]), int(nodes[head, PARENT])
        rigid = shut and head == i and (parent < n or parent == ground)
        how = WAYS.get(kind, relative.FREE) if rigid else relative.FREE
        under = n if parent == ground else int(nodes[parent, WHOSE])
        out[i] = how, n + 1 if kind == FREE_NODE else under, begun
        begun += relative.COORDINATES[how]
    return out


#: The table of the method, made once: nobody may write to it.
numbers_of_method = cache(collocation.numbers_of_method)


def room_for_collocation(layout: Layout, shut: bool) -> Collocation:
    """Memory for implicit steps of a selection."""
    what = coordinates_in(layout.solved, layout.states.bodies, shut)
    count = sum(relative.COORDINATES[how] for how in what[:, relative.HOW].tolist())
    n, length = count + layout.states.tail, 2 * count + layout.states.tail
    memory = np.zeros(collocation.MEMORY_WIDTH)
    stages, mixed, rates, past = np.zeros((4, 3, length))
    return Collocation(
        room_for_coordinates(what, count), numbers_of_method(), memory,
        np.zeros((4, length)), stages, mixed, rates, past, np.zeros((n, n)),
        np.zeros((n, count)), np.zeros((n, n)), np.zeros((n, n), dtype=complex),
        np.zeros((2, n), dtype=np.int64), np.zeros(length), np.zeros(length, dtype=complex),
        np.zeros(n), np.zeros(n, dtype=complex),
    )  # fmt: skip


def room_for_coordinates(what: Ints, count: int) -> Relative:
    """Memory for states in the coordinates of their tree."""
    n, triple = len(what), np.full(count, -1, dtype=np.int64)
    for how, _, first in what.tolist():
        if how in (relative.BALLED, relative.FREE):
            first += 3 if how == relative.FREE else 0
            triple[first : first + 3] = first
    frames = np.zeros((4, n + 2, relative.RELATIVE_WIDTH))
    frames[:, n, : relative.TURNED] = ground_frames(0)[0]
    frames[:, n, relative.TURNED] = 1.0
    base = np.zeros((n, relative.BASE_WIDTH))
    return Relative(what, base, frames, np.zeros((3, 3)), triple, np.zeros((count, 3)))


class StiffDriver(Driver):
    """A run by implicit steps; projection, events, ledger and rows are those of every run.

    Data that serve several steps are discarded at the end of a run; so a run that continues another
    one agrees with the whole to its tolerance, not to the bit."""

    @cached_property
    def collocation(self) -> Collocation:
        """Memory for implicit steps, made when the first of them is taken."""
        return room_for_collocation(self.layout, self.settings.drift == "project")

    def first_steps(self, room: int) -> int:
        """The start as the first row; returns why that is all, or GOING."""
        self._forget()
        return super().first_steps(1)

    def _forget(self) -> None:
        """Discard what is known of earlier steps."""
        memory = self.collocation.memory
        memory[:] = 0.0
        memory[collocation.LEFT_OVER], memory[collocation.ENDED] = 1.0, np.nan

    def advance(self, room: int) -> int:
        """Take implicit steps until Python must act; returns why they ended."""
        return self._step_implicitly(room)

    def _step_implicitly(self, room: int) -> int:
        """Take implicit steps past all planned times; returns why they ended."""
        e, counts = self.engine, self.counts
        arrays = (
            self.run_arrays, e.model, e.conditions, e.scratch, IMPLICIT, self.watch, self.rows,
        )  # fmt: skip
        counts[steps.ROOM] = counts[steps.NOTED] = counts[steps.JUMPED] = 0
        if counts[steps.HEADED] == 0:
            integrator.head_on(self.run_arrays)
        why, told = integrator.GOING, 0
        while why == integrator.GOING and counts[steps.ROOM] < room and not e.python.halted:
            why = int(march_implicitly(room, *arrays, self.collocation))
            if self.controls.loops:
                told = sampling.keep_lengths(told, *arrays[:1], *arrays[5:], self.controls.board)
            if why == integrator.ARRIVED:
                why = self.leave_end()
            elif why == integrator.GOING:
                break
        return why

    def rows_at_once(self) -> int:
        """How many steps one call may take: each may evaluate all differences, and factorize."""
        n = len(self.collocation.one_room)
        effort = len(self.y) * (STEP_COST + n / 6) + n**3 / 1000
        return max(1, min(super().rows_at_once(), int(EFFORT_PER_CALL / effort)))


class AutoDriver(StiffDriver):
    """A run that begins with explicit steps, and continues with implicit ones where the motion is
    stiff: where the length of its steps is limited by stability, and implicit steps, which are
    tried, take less effort. Events tell when the method changes."""

    def __init__(
        self,
        clusters: Clusters,
        start: State,
        duration: float,
        events: Sequence[Event],
        s: Settings,
    ) -> None:
        super().__init__(clusters, start, duration, events, s)
        self.table = TABLES["dop853"]
        self.implicit, self.trying, self.stiff, self.changed = False, False, False, False
        self.look_after, self.explicit_step = FIRST_LOOK, 0.0
        self.efforts = {False: math.inf, True: 0.0}

    def first_steps(self, room: int) -> int:
        """The start as the first row, and explicit steps; returns why they have ended."""
        return Driver.first_steps(self, room)

    def rows_at_once(self) -> int:
        """How many explicit steps one call may take."""
        return Driver.rows_at_once(self)

    def advance(self, room: int) -> int:
        """Take steps by the method with less effort until Python must act; returns why they
        ended."""
        if self.implicit and self.efforts[True] >= PAYS * self.efforts[False]:
            self._change_to(False)
        elif not self.implicit and self.stiff:
            self._change_to(True)
        begun, spent = float(self.clock[steps.T]), self._effort()
        if self.implicit:
            most = TRIED if self.trying else StiffDriver.rows_at_once(self)
            why, self.trying = self._step_implicitly(min(room, most)), False
        else:
            why = Driver.advance(self, room)
            self.stiff = self._seems_stiff()
        span = float(self.clock[steps.T]) - begun
        self.efforts[self.implicit] = (self._effort() - spent) / span if span > 0.0 else math.inf
        return why

    def settings_between(self) -> Settings:
        """The settings of a run by one method."""
        return by_one_method(self.settings, self.notes.events)

    def _effort(self) -> float:
        """The cost of all steps so far, in evaluations."""
        if not self.changed:
            return float(self.counts[steps.EVALUATIONS])
        factorized = self.collocation.memory[collocation.FACTORIZATIONS]
        n, bodies = len(self.collocation.one_room), len(self.y)
        return float(self.counts[steps.EVALUATIONS] + factorized * FACTORS_COST * n**3 / bodies)

    def _change_to(self, implicit: bool) -> None:
        """Continue with the other method."""
        made, self.changed = float(self.collocation.memory[collocation.FACTORIZATIONS]), True
        self.implicit, self.trying, self.stiff = implicit, implicit, False
        if implicit:
            self.explicit_step = float(self.clock[steps.H])
            self._forget()
            self.collocation.memory[collocation.FACTORIZATIONS] = made
        else:
            self.clock[steps.H] = self.explicit_step
            self.look_after = 2 * int(self.counts[steps.STEPS])
        name = IMPLICIT_STEPS if implicit else EXPLICIT_STEPS
        self.notes.events.append(Happening(float(self.clock[steps.T]), name))

    def _seems_stiff(self) -> bool:
        """Whether the length of the last explicit step was limited by stability."""
        count, filled = int(self.counts[steps.STEPS]), int(self.counts[steps.ROOM])
        if count < self.look_after or filled < 2:
            return False
        rows, run = self.rows, self.run_arrays
        h = float(rows.t[filled - 1] - rows.t[filled - 2])
        if abs(h - run.clock[steps.STEP]) > LATE * h:  # an event lies in it
            return False
        return h * fastest_rate(rows.states[filled - 2], run, h) > AT_THE_LIMIT


def fastest_rate(before: Floats, run: Run, h: float) -> float:
    """The fastest rate [1/s]: the change of accelerations over that of velocities between the last
    stage of a step of DOP853 and its end, both at one time (Hairer and Wanner, IV.2). before: the
    state in which the step began (nb + 1, STATE_WIDTH)."""
    w, n = TABLES["dop853"].weights, len(run.out)
    slopes, last = run.states[:12, :n], 11
    ends, stage = w[12, :12].copy(), w[last, :12].copy()
    change = (run.states[steps.RAW, :n] - before[:n]) / h
    first = (change - np.tensordot(ends[1:], slopes[1:], 1)) / ends[0]  # it has been overwritten
    off = h * (stage[0] - ends[0]) * first + h * np.tensordot((stage - ends)[1:], slopes[1:], 1)
    answer = slopes[last] - run.states[steps.END_SLOPE, :n]
    way, least = np.linalg.norm(speeds_of(off)), run.clock[steps.ATOL]
    return float(np.linalg.norm(speeds_of(answer)) / way) if way > NOISE * least else 0.0


def by_one_method(settings: Settings, events: Sequence[Happening]) -> Settings:
    """Settings with one method, for recomputing states between rows of a run with these events."""
    if settings.method != "auto":
        return settings
    changed = any(event.name == IMPLICIT_STEPS for event in events)
    return replace(settings, method="radau" if changed else "dop853")


def driver_for(settings: Settings) -> type[Driver]:
    """The kind of driver that the method of a run needs."""
    return DRIVERS.get(settings.method, Driver)


DRIVERS: dict[str, type[Driver]] = {"radau": StiffDriver, "auto": AutoDriver}
