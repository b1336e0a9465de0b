"""`Clusters`: the bodies of a selection as simulated, with bodies locked together merged into
one."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import NamedTuple

import numpy as np

from quirkpy.kernels.base.states import (
    as_many,
    attitudes_of,
    bodies_of,
    positions_of,
    spins_of,
    state_rows,
    velocities_of,
    with_ledger,
    zero_rows,
)
from quirkpy.kernels.place.members import gather, spread
from quirkpy.kernels.step.integrator import START_TOLERANCE
from quirkpy.kernels.step.projection import project
from quirkpy.maths.cached import cached_property
from quirkpy.maths.types import Floats
from quirkpy.mechanics.bending import refuse_bending
from quirkpy.mechanics.engine import Engine, Layout
from quirkpy.mechanics.state import State
from quirkpy.parts.part import PartError
from quirkpy.tables import Selection
from quirkpy.tables.merge import Merger, merge


class Entry(NamedTuple):
    """The start of a run: the layout of the simulated bodies; its rows (n, STATE_WIDTH); the state
    of all bodies before merging (nb, STATE_WIDTH); the size of the projection onto the joints, of
    poses and velocities (2,); the merger, if there are clusters; the kinetic energy [J] removed by
    the projection."""

    layout: Layout
    rows: Floats
    start: Floats
    drift: Floats
    merger: Merger | None = None
    lost: float = 0.0

    def expand(self, states: Floats) -> Floats:
        """The states of all bodies (..., nb + 1, STATE_WIDTH) from those of a run; the ledger
        remains the last row."""
        return states if self.merger is None else expand_rows(self.merger, states)

    def contract(self, state: Floats) -> Floats:
        """The state of a run (n + 1, STATE_WIDTH) from that of all bodies: the inverse of `expand`
        up to rounding."""
        return state if self.merger is None else contract_rows(self.merger, state)

    @property
    def mass_ratio(self) -> float:
        """Mass of all bodies over that of the simulated bodies."""
        return 1.0 if self.merger is None else self.merger.mass_ratio

    @property
    def standing_energy(self) -> float:
        """Potential energy [J] of the bodies that are not simulated."""
        return 0.0 if self.merger is None else self.merger.standing_energy


class Clusters:
    """The simulated bodies of a selection; without locks each body is separate.

    layout: the layout of all separate bodies, if it exists already; then no bodies are locked
    together.
    """

    def __init__(self, selection: Selection, layout: Layout | None = None) -> None:
        self.selection = selection
        if layout is not None:
            self.layout, self.merger = layout, None

    @cached_property
    def layout(self) -> Layout:
        """The layout of all separate bodies."""
        return Layout(self.selection)

    @cached_property
    def merger(self) -> Merger | None:
        """The geometry of the clusters, if there are any. Bodies with internal speeds are not
        merged, even if locked: then every body stays separate."""
        return None if self.layout.states.tail else merge(self.selection)

    @cached_property
    def merged_layout(self) -> Layout:
        """The layout in which each cluster is one body."""
        return self.layout if self.merger is None else Layout(self.merger.selection)

    def rigid(self, who: str) -> Clusters:
        """Itself, or an error where any body bends; who: what takes rigid bodies alone."""
        refuse_bending(self.selection.tables, who)
        return self

    def lend(self) -> AbstractContextManager[Engine]:
        """An engine of all separate bodies, for the duration of a block."""
        return self.layout.lend()

    def enter(self, start: State, projecting: bool) -> Entry:
        """Prepare the start of a run.

        A start that violates the locks is projected first, as in a run without clusters; if the run
        does not project, its bodies are not merged. Rows in which an earlier run has ended are used
        unchanged."""
        self._check_tail(start)
        rows, drift = state_rows(start.r, start.q, start.v, start.omega), np.zeros(2)
        if self.merger is None:
            return Entry(self.layout, rows, rows, drift)
        if start.merged is not None and expands_to(rows, start.merged, self.merger):
            return Entry(self.merged_layout, start.merged, rows, drift, self.merger)
        clusters = contract_rows(self.merger, rows)
        together = expand_rows(self.merger, clusters)
        merger = self.merger.facing(attitudes_of(together), attitudes_of(rows))
        if start.merged is not None and expands_to(rows, start.merged, merger):
            return Entry(self.merged_layout, start.merged, rows, drift, merger)
        near = abs(together - rows).max() <= 0.25 * START_TOLERANCE  # in every number
        if not near and largest_difference(together, rows) > START_TOLERANCE:
            if not projecting:
                return Entry(self.layout, rows, rows, drift)
            given = rows
            rows, drift = self._project(start, rows)
            clusters, lost = contract_rows(merger, rows), self._motion(given) - self._motion(rows)
            return Entry(self.merged_layout, clusters, rows, drift, merger, lost)
        return Entry(self.merged_layout, clusters, rows, drift, merger)

    def _check_tail(self, start: State) -> None:
        """Refuse a start whose further coordinates belong to other bodies."""
        given, wanted = start.further.size, self.layout.states.tail
        if given != wanted:
            raise PartError(
                f"the state has {given} further coordinates and speeds, but its bodies have "
                f"{wanted}; begin with a state of this system.",
                code="together",
            )

    def _motion(self, rows: Floats) -> float:
        """Kinetic energy of all bodies [J]."""
        t, v, w = self.selection.tables, velocities_of(rows), spins_of(rows)
        return 0.5 * float(
            (t.body_mass @ (v * v).sum(axis=1)) + np.einsum("ni,nij,nj->", w, t.body_inertia, w)
        )

    def _project(self, start: State, rows: Floats) -> tuple[Floats, Floats]:
        """The start projected onto its joints, and the size of the projection; unchanged where that
        is only rounding."""
        y, drift = with_ledger(rows), np.zeros(2)
        with self.lend() as e:
            e.turn_to(start.angles)
            e.hold(start.held)
            e.set_time(start.t)
            project(y, e.model, e.conditions, e.scratch, drift)
            e.python.raise_pending()
        return (bodies_of(y), drift) if drift.max() > START_TOLERANCE else (rows, np.zeros(2))


def expand_rows(merger: Merger, rows: Floats) -> Floats:
    """Rows of all bodies (..., nb + m, STATE_WIDTH) from rows of clusters; m further rows stay
    last."""
    many, n, nb = as_many(rows), len(merger.leader), len(merger.cluster)
    out = zero_rows(len(many), many.shape[1] + nb - n)
    spread(many, merger.cluster, merger.place, merger.turn, n, out)
    return out.reshape(*rows.shape[:-2], *out.shape[1:])


def contract_rows(merger: Merger, rows: Floats) -> Floats:
    """Rows of clusters (..., n + m, STATE_WIDTH) from rows of all bodies, computed from the leader
    of each cluster."""
    many, n, nb = as_many(rows), len(merger.leader), len(merger.cluster)
    out = zero_rows(len(many), many.shape[1] + n - nb)
    gather(many, merger.leader, merger.place[merger.leader], nb, out)
    return out.reshape(*rows.shape[:-2], *out.shape[1:])


def expands_to(bodies: Floats, clusters: Floats, merger: Merger) -> bool:
    """Whether rows of clusters expand to given rows of all bodies, bit by bit."""
    fits = clusters.shape == (len(merger.leader), bodies.shape[1])
    return fits and np.array_equal(expand_rows(merger, clusters), bodies)


def largest_difference(one: Floats, two: Floats) -> float:
    """The largest difference of two states in rows [m], [rad], [m/s] or [rad/s]; quaternions of
    either sign are the same rotation."""
    q1, q2 = attitudes_of(one), attitudes_of(two)
    turned = 2.0 * np.minimum(abs(q1 - q2), abs(q1 + q2))
    others = (positions_of, velocities_of, spins_of)
    parts = turned, *(of(one) - of(two) for of in others)
    return max(float(np.linalg.norm(part, axis=-1).max()) for part in parts)
