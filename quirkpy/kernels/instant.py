"""`Instant`: a selection at one state; hands its arrays to the kernels, and to users' Python what it asks for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from quirkpy.kernels import kinematics, loads
from quirkpy.kernels.arrays import Joints, pack, state_rows
from quirkpy.kernels.rows import GAMMA, JACOBIAN, PHI, RATE, ROW_WIDTH, constraint_rows
from quirkpy.kernels.users import Frames, Users, general_joints
from quirkpy.parts.checks import Floats, Ints
from quirkpy.parts.joint import GeneralJoint
from quirkpy.parts.motion import MotionView
from quirkpy.tables.tables import CALLBACK, Selection


class Rows(NamedTuple):
    """Constraint rows over u = (v1, w1, v2, w2) of the two bodies of each row, all in N.

    phi: residual [m] or [1] (m,); rate: its explicit time derivative (m,); jacobian (m, 12); gamma: what the
    accelerations must supply, jacobian du/dt = gamma (m,); body1, body2: rows of the bodies, nb for the ground (m,).
    """

    phi: Floats
    rate: Floats
    jacobian: Floats
    gamma: Floats
    body1: Ints
    body2: Ints


class Loads(NamedTuple):
    """wrench: applied to each moving body, about its mass centre in N (nb, 6); potential: energy of each element (n,);
    power of the forces that no potential accounts for: put in by loads, taken out by dampers (2,)."""

    wrench: Floats
    potential: Floats
    power: Floats


@dataclass(frozen=True, eq=False)
class Instant:
    """A selection at one state: t [s]; r (nb, 3), q (nb, 4), v (nb, 3) in N; omega (nb, 3) in body axes; near:
    the angle [rad] next to which each joint's is taken (nj,); held: labels of the stops that hold."""

    selection: Selection
    t: float
    r: Floats
    q: Floats
    v: Floats
    omega: Floats
    near: Floats
    held: tuple[str, ...] = ()

    @cached_property
    def state(self) -> Floats:
        """The state as the kernels take it (nb, STATE_WIDTH)."""
        return state_rows(self.r, self.q, self.v, self.omega)

    @cached_property
    def frames(self) -> Frames:
        """Kinematics of all bodies in N."""
        rows = kinematics.ground_frames(len(self.r))
        kinematics.fill_frames(self.state, rows)
        return Frames(rows)

    @cached_property
    def joints(self) -> Joints:
        """Joint columns for the kernels."""
        return Joints(pack(self.selection.tables).ends, self.near)

    @cached_property
    def users(self) -> Users:
        """What users' own parts say."""
        return Users(self.selection, self.t, self.frames)

    @property
    def view(self) -> MotionView:
        """The kinematics as a user's own force or joint sees them."""
        return self.users.view

    @cached_property
    def rows(self) -> Rows:
        """Rows of the active joints, in table order."""
        s, t = self.selection, self.selection.tables
        made = np.empty((len(s.rows), ROW_WIDTH))
        packed = pack(t)
        constraint_rows(s.rows, packed.rows, self.joints, packed.sites, self.frames.rows, made)
        joint = t.row_joint[s.rows]
        bodies = (t.site_body[sites[joint]] for sites in (t.joint_site1, t.joint_site2))
        out = Rows(made[:, PHI], made[:, RATE], made[:, JACOBIAN:], made[:, GAMMA], *bodies)
        for j, where in general_joints(s, s.rows):
            own = t.joints[j]
            assert isinstance(own, GeneralJoint)
            for array, values in zip(out, self.users.rows_of(own), strict=False):
                array[where] = values
        return out

    @cached_property
    def loads(self) -> Loads:
        """Applied loads of the active forces (constraint forces and gyroscopic terms are not among them)."""
        s, t = self.selection, self.selection.tables
        wrench, potential, power = np.empty((t.n_bodies + 1, 6)), np.empty(len(s.elements)), np.empty(2)
        packed = pack(t)
        loads.applied_loads(
            self.t, s.elements, packed.elements, self.joints, packed.schedules, packed.bodies, packed.sites,
            self.frames.rows, wrench, potential, power,
        )  # fmt: skip
        for k in np.flatnonzero(t.element_kind[s.elements] == CALLBACK):
            force = t.forces[t.element_force[s.elements[k]]]
            potential[k] = self.users.energy_of(force)
            self.users.add_load(wrench, power, force)
        return Loads(wrench[:-1], potential, power)

    def coordinates(self, joints: Ints) -> Floats:
        """Value and rate of the coordinate of each of the given joints (n, 2); NaN where it has none."""
        out = np.full((len(joints), 2), np.nan)
        sites = pack(self.selection.tables).sites
        kinematics.joint_coordinates(joints, self.joints, sites, self.frames.rows, out)
        return out
