"""`Instant`: a selection at one state; gives its arrays to the kernels, and kinematics to users'
Python code."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from quirkpy.kernels.act import loads
from quirkpy.kernels.base.arrays import (
    FRAME_WIDTH,
    ROW_BODY1,
    ROW_BODY4,
    ROW_PERIOD,
    Joints,
    Sites,
)
from quirkpy.kernels.base.states import NO_TAIL, halves_of, state_rows, zero_vectors
from quirkpy.kernels.place import kinematics
from quirkpy.kernels.place.rows import (
    GAMMA,
    JACOBIAN,
    PHI,
    RATE,
    ROW_WIDTH,
    SECOND,
    constraint_rows,
)
from quirkpy.kernels.place.sites import fill_sites
from quirkpy.kernels.tree.stops import (
    LATCH,
    SIDE,
    STOP_JOINT,
    stop_labels,
    stop_names,
    stop_rows,
    stops_of,
)
from quirkpy.kernels.users.modal import states_of
from quirkpy.kernels.users.packing import pack, sites_and_modes
from quirkpy.kernels.users.users import FrameMotions, Users, joints_in_python, off_by
from quirkpy.maths.cached import cached_property
from quirkpy.maths.types import Floats, Ints
from quirkpy.parts.body import Site
from quirkpy.parts.joint import GeneralJoint
from quirkpy.parts.motion import MotionView
from quirkpy.tables.tables import CALLBACK, Selection


class ConstraintRows(NamedTuple):
    """Constraint rows over u = (v1, w1, v2, w2) of the two bodies of each row, all in N.

    phi: residual [m], [rad] or [1] (m,); rate: its explicit time derivative (m,); jacobian (m, 12);
    gamma: the right-hand side of the acceleration equations, jacobian du/dt = gamma (m,); body1,
    body2: rows of the bodies, nb for the ground (m,). second, body3, body4: the corresponding
    columns and bodies for rows that act on two joints; zero and the ground for others."""

    phi: Floats
    rate: Floats
    jacobian: Floats
    gamma: Floats
    body1: Ints
    body2: Ints
    second: Floats
    body3: Ints
    body4: Ints


class Held(NamedTuple):
    """A stop that holds: its name, or that of its joint; its joint, and whether the stop is part of
    the joint; whether it is a latch, which holds in both senses."""

    name: str
    joint: int
    own: bool
    latch: bool


class Loads(NamedTuple):
    """wrench: load on each moving body, about its mass centre in N, and on each station (nb + ns,
    6); potential: energy of each element (n,); power of the forces without a potential: delivered
    by loads, dissipated by dampers (2,)."""

    wrench: Floats
    potential: Floats
    power: Floats


@dataclass(frozen=True, eq=False)
class Instant:
    """A selection at one state: t [s]; r (nb, 3), q (nb, 4), v (nb, 3) in N; omega (nb, 3) in body
    axes; near: the reference angle [rad] of each coordinate, which fixes its whole turns (nc,);
    held: labels of the stops that hold; further: the tail of the state."""

    selection: Selection
    t: float
    r: Floats
    q: Floats
    v: Floats
    omega: Floats
    near: Floats
    held: tuple[str, ...] = ()
    further: Floats = field(default_factory=lambda: NO_TAIL)

    @cached_property
    def state(self) -> Floats:
        """The rows of the bodies (nb, STATE_WIDTH)."""
        return state_rows(self.r, self.q, self.v, self.omega)

    @cached_property
    def whole(self) -> Floats:
        """The state as the kernels take it: rows of the bodies, and where any bends, of the tail
        (., STATE_WIDTH)."""
        t = self.selection.tables
        return states_of(t).whole_rows(self.state, self.further) if t.bends else self.state

    @cached_property
    def frames(self) -> FrameMotions:
        """Kinematics in N of all bodies, of the stations on those that bend, and of the ground."""
        t = self.selection.tables
        if not t.bends:
            return FrameMotions(kinematics.frames_of(self.state))
        return FrameMotions(kinematics.frames_of(self.whole, pack(t).modes, len(self.r)))

    @cached_property
    def sites(self) -> FrameMotions:
        """Kinematics in N of all sites of the tables (ns)."""
        return self._frames_of(pack(self.selection.tables).sites, self.frames.rows)

    def at_sites(self, *parts: Site) -> FrameMotions:
        """Kinematics in N of any sites on bodies of the system."""
        sites, modes = sites_and_modes(parts, self.selection.tables)
        if not len(modes.what):
            return self._frames_of(sites, self.frames.rows)
        return self._frames_of(sites, kinematics.frames_of(self.whole, modes, len(self.r)))

    def _frames_of(self, sites: Sites, frames: Floats) -> FrameMotions:
        rows = np.empty((len(sites.body), FRAME_WIDTH))
        fill_sites(np.arange(len(rows)), sites, frames, rows)
        return FrameMotions(rows)

    @cached_property
    def joints(self) -> Joints:
        """Joint columns for the kernels."""
        packed = pack(self.selection.tables)
        return Joints(packed.ends, packed.coordinates, self.near)

    @cached_property
    def users(self) -> Users:
        """Data of users' own parts."""
        return Users(self.selection, self.t, self.frames, self.near)

    @property
    def view(self) -> MotionView:
        """The kinematics in the interface of users' own forces and joints."""
        return self.users.view

    @cached_property
    def rows(self) -> ConstraintRows:
        """Rows of the active joints, in table order, and then those of the stops that hold."""
        made = self._joint_rows()
        if not self.stops:
            return made
        return ConstraintRows(
            *(np.concatenate(both) for both in zip(made, self._stop_rows(), strict=True))
        )

    @cached_property
    def stops(self) -> tuple[Held, ...]:
        """The stops that hold, in the order of their rows."""
        return tuple(held for _, held in self._holding) if self.held else ()

    @cached_property
    def _holding(self) -> list[tuple[int, Held]]:
        """Stops of the selection that hold, and their numbers."""
        s, t = self.selection, self.selection.tables
        stops, _, _ = stops_of(s, pack(t))
        joints, latches = stops.what[:, STOP_JOINT].tolist(), stops.numbers[:, LATCH] != 0.0
        lines = zip(stop_labels(s, stops), stop_names(s), joints, latches.tolist(), strict=True)
        return [
            (k, Held(name, joint, name == t.joint_names[joint], latch))
            for k, (label, name, joint, latch) in enumerate(lines)
            if label in self.held
        ]

    def _stop_rows(self) -> ConstraintRows:
        """Rows of the stops that hold: the distance of each held coordinate from its stop, positive
        on the free side, so that multipliers of stops that are pressed on are positive."""
        packed, ground = pack(self.selection.tables), len(self.frames.rows) - 1
        stops, one, two = stops_of(self.selection, packed)
        which = np.array([k for k, _ in self._holding])
        made = np.zeros((len(which), ROW_WIDTH))
        stop_rows(which, stops, self.joints, packed.sites, self.frames.rows, made)
        made *= stops.numbers[which, SIDE, None]
        none = np.full(len(which), ground)
        return ConstraintRows(
            made[:, PHI], made[:, RATE], made[:, JACOBIAN:SECOND], made[:, GAMMA], one[which],
            two[which], made[:, SECOND:], none, none,
        )  # fmt: skip

    def _joint_rows(self) -> ConstraintRows:
        s, t = self.selection, self.selection.tables
        made = np.zeros((len(s.rows), ROW_WIDTH))
        packed = pack(t)
        constraint_rows(
            s.rows,
            self.t,
            packed.rows,
            self.joints,
            packed.schedules,
            packed.sites,
            self.frames.rows,
            made,
        )
        bodies = packed.rows.what[s.rows, ROW_BODY1 : ROW_BODY4 + 1].T
        one, two, three, four = np.where(bodies < 0, len(self.frames.rows) - 1, bodies)
        out = ConstraintRows(
            made[:, PHI],
            made[:, RATE],
            made[:, JACOBIAN:SECOND],
            made[:, GAMMA],
            one,
            two,
            made[:, SECOND:],
            three,
            four,
        )
        general, driven = s.once(joints_in_python)
        for j, where in general:
            own = t.joints[j]
            assert isinstance(own, GeneralJoint)
            for array, values in zip(out, self.users.rows_of(own), strict=False):
                array[where] = values
        for j, where in driven:
            x, rate, bend = self.users.motion_of(t.joints[j])
            out.phi[where] = off_by(
                out.phi[where] - x, packed.rows.numbers[s.rows[where], ROW_PERIOD]
            )
            out.rate[where] -= rate
            out.gamma[where] += bend
        return out

    @cached_property
    def loads(self) -> Loads:
        """Loads of the active forces, without constraint forces and gyroscopic terms."""
        s, t = self.selection, self.selection.tables
        wrench, potential, power = (
            zero_vectors(len(self.frames.rows)),
            np.empty(len(s.elements)),
            np.empty(2),
        )
        packed = pack(t)
        loads.applied_loads(
            self.t, s.elements, packed.elements, self.joints, packed.schedules, packed.bodies,
            packed.sites, self.frames.rows, wrench, potential, power,
        )  # fmt: skip
        kinds = t.element_kind[s.elements]
        self.users.look_at_laws(s.laws, potential)
        for k in np.flatnonzero(kinds == CALLBACK):
            force = t.forces[t.element_force[s.elements[k]]]
            potential[k] = self.users.energy_of(force)
            self.users.add_load(wrench, power, force)
        return Loads(wrench[:-1], potential, power)

    @cached_property
    def sizes_of_loads(self) -> Floats:
        """Sums of the sizes of all forces on each row of `loads`, however they cancel [N], and of
        those of their moments [N m] (nb + ns, 2); forces in Python are left out."""
        s, packed, some = self.selection, pack(self.selection.tables), len(self.frames.rows)
        out = np.zeros((some - 1, 2))
        for k in range(len(s.elements)):
            wrench, told = zero_vectors(some), (np.empty(1), np.empty(2))
            loads.applied_loads(
                self.t, s.elements[k : k + 1], packed.elements, self.joints, packed.schedules,
                packed.bodies, packed.sites, self.frames.rows, wrench, *told,
            )  # fmt: skip
            out += np.linalg.norm(halves_of(wrench[:-1]), axis=2)
        return out

    def coordinates(self, which: Ints) -> Floats:
        """Value and rate of each of the given coordinates (n, 2)."""
        out = np.empty((len(which), 2))
        sites = pack(self.selection.tables).sites
        kinematics.joint_coordinates(which, self.joints, sites, self.frames.rows, out)
        return out
