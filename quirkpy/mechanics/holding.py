"""Loads of joints and stops at each row of a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from quirkpy.kernels.base.arrays import (
    AXES,
    BODY_WIDTH,
    MASS,
    MOMENTS,
    POSITION,
    ROW_BODY1,
    ROW_BODY4,
    SPIN,
    UPPER,
    VELOCITY,
    Joints,
)
from quirkpy.kernels.base.states import (
    NO_TAIL,
    angular_of,
    bodies_of,
    linear_of,
    positions_of,
    quantities_of,
    zero_vectors,
)
from quirkpy.kernels.place.kinematics import ground_frames, sites_along
from quirkpy.kernels.place.rows import ROW_WIDTH
from quirkpy.kernels.tree.multipliers import ENDS, WRENCH, Holding, Workspace, multipliers_along
from quirkpy.kernels.tree.stops import stop_labels, stop_names, stops_of
from quirkpy.kernels.users.packing import pack
from quirkpy.kernels.users.users import joints_in_python
from quirkpy.maths.cached import cached_property
from quirkpy.maths.rotations import cross
from quirkpy.maths.types import Bools, Floats
from quirkpy.mechanics import analysis, equation
from quirkpy.mechanics.courses import with_tails
from quirkpy.mechanics.instant import Instant
from quirkpy.parts.couplings import Coupling
from quirkpy.tables.tables import CALLBACK, RELATION_ROW, Selection, Tables


class Found(NamedTuple):
    """Multipliers (k, m + ns), their loads on the bodies of their rows (k, m + ns, 4, 6), residuals
    of the rows of joints (k, m), whether the multipliers are sure (k,)."""

    multipliers: Floats
    wrenches: Floats
    gaps: Floats
    sure: Bools


class Holders:
    """Loads of joints and stops of a selection at rows of a run: t [s] (k,), states (k, nb + 1,
    STATE_WIDTH), angles [rad] (k, nc), which stops hold (k, ns) and their labels.

    All rows are evaluated in one compiled pass; state by state where it is not sure which joints
    are redundant, as with masses that are far apart, and with joints or forces in Python."""

    def __init__(
        self, selection: Selection, t: Floats, states: Floats, angles: Floats, held: Bools,
        labels: tuple[str, ...], tails: Floats = NO_TAIL,
    ) -> None:  # fmt: skip
        self.selection, self.t, self.states, self.angles = selection, t, states, angles
        self.tables, self.packed = selection.tables, pack(selection.tables)
        self.tails, self.whole = tails, with_tails(self.tables, states, tails)
        self.ground = self.tables.n_bodies + len(self.packed.modes.stations)
        self.stops, one, two = stops_of(selection, self.packed)
        ground = np.full_like(one, self.ground)
        self.stop_bodies = np.stack([one, two, ground, ground], axis=1)
        known = stop_labels(selection, self.stops)
        self.held = np.zeros((len(t), len(known)), dtype=bool)
        for column, label in zip(held.T, labels, strict=False):
            if label in known:
                self.held[:, known.index(label)] = column

    # --- the compiled pass ------------------------------------------------------------------------
    @cached_property
    def found(self) -> Found:
        """The multipliers of all rows."""
        s, packed, k = self.selection, self.packed, len(self.t)
        m, n = len(s.rows), len(s.rows) + self.held.shape[1]
        found = Found(
            np.zeros((k, n)), np.zeros((k, n, ENDS, WRENCH)), np.zeros((k, m)),
            np.zeros(k, dtype=bool),
        )  # fmt: skip
        joints = Joints(packed.ends, packed.coordinates, np.zeros(self.angles.shape[1]))
        multipliers_along(
            self.t, self.whole, self.packed.modes, self.angles, self.held, s.elements,
            packed.elements, joints, packed.schedules, packed.bodies, inverse_bodies(self.tables),
            packed.sites, self._holding, self._room(n), *found,
        )  # fmt: skip
        if self._asks_python:
            found.sure[:] = False
        return found

    @property
    def _asks_python(self) -> bool:
        """Whether the dense decomposition must answer: joints or forces in Python, bodies that
        bend."""
        kinds = self.tables.element_kind[self.selection.elements]
        asked = any(joints_in_python(self.selection)) or bool((kinds == CALLBACK).any())
        return asked or self.tables.bends

    @property
    def _holding(self) -> Holding:
        rows = self.packed.rows
        bodies = rows.what[self.selection.rows, ROW_BODY1 : ROW_BODY4 + 1].copy()
        bodies[bodies < 0] = self.ground
        even = not equation.is_uneven(self.tables.body_mass)
        return Holding(self.selection.rows, rows, bodies, self.stops, self.stop_bodies, even)

    def _room(self, n: int) -> Workspace:
        nb = self.ground
        return Workspace(
            ground_frames(nb), zero_vectors(nb + 1), np.zeros(len(self.selection.elements)),
            np.zeros(2), np.zeros((n, ROW_WIDTH)), np.zeros((n, ENDS), dtype=np.int64),
            np.zeros((n, ENDS, WRENCH)), np.zeros((n, n)), np.zeros((n, n)),
            np.zeros((4, n)), np.zeros(n, dtype=np.int64), zero_vectors(nb + 1),
        )  # fmt: skip

    # --- joints -----------------------------------------------------------------------------------
    def load(self, name: str) -> Floats:
        """Force and torque of a joint on its second body, at its site: in N, and in the axes of its
        first site (k, 12); zero where it does not act."""
        j = self.tables.joint_index[name]
        if j not in self.selection.joints:
            return np.zeros((len(self.t), 2 * WRENCH))
        out = self._in_both_axes(j, self._on_second_body(j))
        for k in np.flatnonzero(~self.found.sure):
            out[k] = [
                x
                for axes in ("inertial", "joint")
                for part in self._reactions(int(k))[axes][name][:2]
                for x in part
            ]
        return out

    def _on_second_body(self, j: int) -> Floats:
        """The load of a joint on its second body, about the mass centre (k, 6)."""
        t, rows = self.tables, self.selection.rows
        out = np.zeros((len(self.t), WRENCH))
        for i in np.flatnonzero(t.row_joint[rows] == j):
            out += self.found.wrenches[:, i, self._second(int(rows[i]), j)]
        for s, name in enumerate(stop_names(self.selection)):
            if name == t.joint_names[j]:
                out += self.found.wrenches[:, len(rows) + s, 1]
        return out

    def _second(self, row: int, j: int) -> int:
        """Which end of a row is the second body of its joint; a coupling of two joints counts with
        the joint that it names first."""
        t, joint = self.tables, self.tables.joints[j]
        if t.row_kind[row] != RELATION_ROW or not isinstance(joint, Coupling):
            return 1
        first = t.joint_names[t.coordinate_joint[t.row_axis1[row]]]
        return 1 if joint.first.name == first else ENDS - 1

    def _in_both_axes(self, j: int, wrench: Floats) -> Floats:
        """A load about the mass centre of a joint's second body, transferred to its site."""
        t = self.tables
        which = np.array([t.joint_site1[j], t.joint_site2[j]])
        packed = self.packed
        sites = sites_along(self.whole, which, packed.sites, packed.modes, t.n_bodies)
        body = int(t.site_body[which[1]])
        centre = positions_of(self.states[:, body]) if body < t.n_bodies else np.zeros(3)
        force, torque = linear_of(wrench), angular_of(wrench)
        torque = torque - cross(sites[:, 1, POSITION:VELOCITY] - centre, force)
        axes = sites[:, 0, AXES:SPIN].reshape(-1, 3, 3)
        turned = [np.einsum("ki,kij->kj", part, axes) for part in (force, torque)]
        return np.concatenate([force, torque, *turned], axis=1)

    def gap(self, name: str) -> Floats:
        """The largest residual of a joint's rows, [m] or [rad] or of a cosine [1] (k,)."""
        mine = self.tables.row_joint[self.selection.rows] == self.tables.joint_index[name]
        return np.asarray(abs(self.found.gaps[:, mine]).max(axis=1, initial=0.0))

    # --- stops ------------------------------------------------------------------------------------
    def press(self, name: str) -> Floats:
        """The generalized force with which coordinates press on the bounds of a stop, or of a rope
        [N m] or [N] (k,); zero where it does not hold."""
        m = len(self.selection.rows)
        mine = np.array([m + s for s, n in enumerate(stop_names(self.selection)) if n == name])
        if not len(mine):
            return np.zeros(len(self.t))
        out = self.found.multipliers[:, mine].sum(axis=1)
        for k in np.flatnonzero(~self.found.sure):
            out[k] = self._press_at(int(k), name)
        return np.asarray(out)

    def _press_at(self, k: int, name: str) -> float:
        found = self._reactions(k)["inertial"].get(name)
        return 0.0 if found is None or found.press is None else found.press

    # --- state by state ---------------------------------------------------------------------------
    def instants(self) -> Iterator[Instant]:
        """All rows in turn."""
        return map(self._instant, range(len(self.t)))

    def _instant(self, k: int) -> Instant:
        labels = stop_labels(self.selection, self.stops)
        held = tuple(label for label, on in zip(labels, self.held[k], strict=True) if on)
        motion = quantities_of(bodies_of(self.states[k]))
        tail = self.tails[k] if self.tails.size else NO_TAIL
        return Instant(self.selection, float(self.t[k]), *motion, self.angles[k], held, tail)

    @cached_property
    def _known(self) -> dict[int, dict[str, dict[str, analysis.Reaction]]]:
        return {}

    def _reactions(self, k: int) -> dict[str, dict[str, analysis.Reaction]]:
        """All reactions at one row, in N and in the axes of joints."""
        if k not in self._known:
            at = self._instant(k)
            multipliers = equation.solve_dense(at).multipliers
            self._known[k] = {
                "inertial": analysis.reactions(at, multipliers, "inertial"),
                "joint": analysis.reactions(at, multipliers, "joint"),
            }
        return self._known[k]


def inverse_bodies(tables: Tables) -> Floats:
    """1 / mass and the inverse of the moments of inertia of each body (nb, BODY_WIDTH)."""
    out = np.empty((tables.n_bodies, BODY_WIDTH))
    out[:, MASS] = 1.0 / tables.body_mass
    inverse = np.linalg.inv(tables.body_inertia)
    out[:, MOMENTS:] = inverse.reshape(-1, 9)[:, UPPER]
    return out
