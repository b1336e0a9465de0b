"""Joints that become active during motion: a plastic impact, after which the motion satisfies
them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from quirkpy.kernels.base.states import bodies_of, speeds_of, state_rows, with_ledger
from quirkpy.kernels.step.batch import AT_REST
from quirkpy.kernels.step.integrator import START_TOLERANCE
from quirkpy.kernels.step.ledger import hold_momentum
from quirkpy.kernels.step.projection import move_on, project
from quirkpy.kernels.tree.stops import (
    BOUND,
    LATCH,
    SETTLE,
    SIDE,
    STOP_COORDINATE,
    TOUCHING,
    stops_of,
)
from quirkpy.kernels.users.modal import points_of
from quirkpy.kernels.users.packing import pack
from quirkpy.maths.types import Bools, Floats
from quirkpy.mechanics.analysis import energy
from quirkpy.mechanics.clusters import Clusters
from quirkpy.mechanics.engine import Engine
from quirkpy.mechanics.instant import Instant
from quirkpy.mechanics.rigid_motion import displacement_between
from quirkpy.mechanics.state import State
from quirkpy.motion.course import Jump
from quirkpy.motion.snapshot import state_at

#: Distance from its bounds assigned to a coordinate without bounds [rad] or [m].
FAR = 1e6
#: A coordinate moves into a stop after an impact if its rate exceeds this share of the largest
#: change of velocity [1].
INTO_STOP = 1e-9
#: Largest number of corrections along the joints towards the nearest pose; each reduces the
#: remaining distance by a factor comparable to that distance.
NEARER = 20


class Catch(NamedTuple):
    """A state after joints have become active; the kinetic energy [J] lost; how far poses [m or
    rad] and velocities [m/s or rad/s] were changed; the impact: the bodies on the joints, with the
    velocities before and after, and the stops that took part."""

    state: State
    loss: float
    moved: Floats
    jump: Jump | None = None


def catch(clusters: Clusters, state: State) -> Catch:
    """Move poses to the nearest ones on the joints, then change velocities, both by the smallest
    change in the metric of kinetic energy: a plastic impact.

    Stops that hold, and those that the pose on the joints would pass, take part: they push, and
    never pull; which of them continue to hold depends on the loads. Groups that are not attached to
    the ground keep their angular momentum, which the old velocities would not have in the new
    pose."""
    with clusters.lend() as engine:
        return _caught(Hold(engine, state), state)


def _caught(hold: Hold, state: State) -> Catch:
    before, holding = (
        hold.rows,
        np.array([label in state.held for label in hold.engine.labels], dtype=bool),
    )
    while True:
        posed, moved = hold.nearest(before, holding)
        beyond = ~holding & (clearances(hold.instant(posed))[0] < -TOUCHING)
        if not beyond.any():
            break
        holding |= beyond
    if moved[0] <= START_TOLERANCE and not holding.any():
        posed = before  # unchanged to the bit
    else:
        speeds_of(posed)[:] = speeds_of(before)
        posed = hold.keep_momentum(before, posed)
    after, changed, pushing = hold.velocities_after_impact(posed, holding)
    made = hold.state_of(after)
    labels = tuple(np.array(hold.engine.labels)[pushing].tolist())
    jump = Jump.between(state.t, bodies_of(posed), bodies_of(after), labels)
    loss = (
        energy(state.instant(hold.engine.selection)).kinetic - energy(hold.instant(after)).kinetic
    )
    return Catch(made, loss, np.array([moved[0], changed]), jump)


def clearances(at: Instant) -> Floats:
    """The distances of coordinates from the bounds of the active stops, positive on the free side,
    and their rates (2, n). Latches are no bounds: a large distance with rate zero."""
    stops = stops_of(at.selection, pack(at.selection.tables))[0]
    value, rate = at.coordinates(stops.what[:, STOP_COORDINATE]).T
    found = np.array([value - stops.numbers[:, BOUND], rate]) * stops.numbers[:, SIDE]
    return np.where(stops.numbers[:, LATCH] == 0.0, found, [[FAR], [0.0]])


def hold_at_latches(clusters: Clusters, state: State) -> State:
    """The state held by the latches in whose positions it is at rest, like the start of a run."""
    layout = clusters.layout
    if not layout.latches:
        return state
    stops = layout.stops
    here, rate = state.instant(clusters.selection).coordinates(stops.what[:, STOP_COORDINATE]).T
    there = abs(here - stops.numbers[:, BOUND]) <= TOUCHING
    there &= ~layout.bounding & (abs(rate) <= stops.numbers[:, SETTLE])
    labels = (label for label, at in zip(layout.labels, there, strict=True) if at)
    return state.changed(held=tuple(dict.fromkeys((*state.held, *labels))))


class Hold:
    """The joints and stops that become active in a state."""

    def __init__(self, engine: Engine, state: State) -> None:
        self.engine, self.start = engine, state.changed(selection=engine.selection)
        self.points = points_of(engine.selection.tables)
        bodies = state_rows(state.r, state.q, state.v, state.omega)
        self.rows = with_ledger(self.points.rows(bodies, state.further))
        at = state.instant(engine.selection)
        self.angles = at.coordinates(np.arange(len(state.joints)))[:, 0]
        self.engine.turn_to(self.angles)
        self.engine.set_time(state.t)

    def state_of(self, rows: Floats) -> State:
        """Rows, with the points of modes (n + 1, STATE_WIDTH), as a state with angles continuous
        with those of the start."""
        s, further = self.start, self.start.further
        if further.size:
            further = self.points.tails(bodies_of(rows))
        made = state_at(s, s.t, rows, s.near, further=further, controls=s.controls)
        return made.next_to(self.angles)

    def instant(self, rows: Floats) -> Instant:
        """The state with the active parts, as arguments of the kernels."""
        return self.state_of(rows).instant()

    def nearest(self, rows: Floats, holding: Bools) -> tuple[Floats, Floats]:
        """The pose on the joints that is nearest to some rows, and the displacement of bodies, as
        from `onto`.

        It does not depend on how the rows of the joints are written: starting from the result of
        `onto`, the component along the joints of the remaining displacement is removed, a few
        times. Prescribed motion of joints is not included."""
        after, moved = self.onto(rows, holding)
        for _ in range(NEARER):
            back, none = after.copy(), after.copy()
            speeds_of(bodies_of(back))[:] = bodies_of(displacement_between(after, rows))
            speeds_of(bodies_of(none))[:] = 0.0
            along = speeds_of(self.onto(back, holding)[0]) - speeds_of(self.onto(none, holding)[0])
            if abs(along).max(initial=0.0) <= AT_REST:
                break
            speeds_of(after)[:] = along
            move_on(after)
            after, _ = self.onto(after, holding)
        return after, moved

    def onto(self, rows: Floats, holding: Bools) -> tuple[Floats, Floats]:
        """Rows on the joints and on the stops that hold (n + 1, STATE_WIDTH), and the changes of
        poses and velocities (2,)."""
        e, after, moved = self.engine, self.lines_of(rows), np.zeros(2)
        e.hold_those(holding)
        project(after, e.model, e.conditions, e.scratch, moved)
        e.python.raise_pending()
        return self.rows_of(after), moved

    def keep_momentum(self, before: Floats, after: Floats) -> Floats:
        """Rows turned by as much as keeps the angular momentum of free groups in another pose."""
        e, there = self.engine, self.lines_of(after)
        hold_momentum(self.lines_of(before), there, e.model, e.scratch)
        return self.rows_of(there)

    def lines_of(self, rows: Floats) -> Floats:
        """Rows as kernels take them, to be written to."""
        return self.points.lines(bodies_of(rows)) if self.start.further.size else rows.copy()

    def rows_of(self, lines: Floats) -> Floats:
        """The inverse of `lines_of`."""
        return with_ledger(self.points.from_lines(lines)) if self.start.further.size else lines

    def velocities_after_impact(self, posed: Floats, holding: Bools) -> tuple[Floats, float, Bools]:
        """The velocities after the impact, their largest change, and the stops that take part: no
        coordinate at a stop moves into it, and no stop that takes part pulls, as it would where the
        coordinate leaves the stop without it. Latches that hold do so in both senses."""
        free = ~holding & (clearances(self.instant(posed))[0] > TOUCHING)
        latches = self.engine.model.stops.numbers[:, LATCH] != 0.0
        pushing = holding & latches
        for _ in range(2 * len(holding) + 1):
            after, moved = self.onto(posed, pushing)
            slow = -AT_REST - INTO_STOP * moved[1]
            into = np.where(free | pushing, 0.0, clearances(self.instant(after))[1])
            if into.min(initial=0.0) >= slow:
                break
            pushing[int(np.argmin(into))] = True
            for s in np.flatnonzero(pushing & ~latches):
                others = pushing.copy()
                others[s] = False
                if clearances(self.instant(self.onto(posed, others)[0]))[1][s] > 0.0:
                    pushing = others
        return after, float(moved[1]), pushing
