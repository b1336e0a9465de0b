"""`Instant`: a selection at one state; hands its arrays to the kernels, and to users' Python what it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from quirkpy.kernels import kinematics, loads, rows
from quirkpy.kernels.arrays import (
    AXES,
    POSITION,
    SPIN,
    VELOCITY,
    Joints,
    bodies_of,
    elements_of,
    joints_of,
    rows_of,
    schedules_of,
    sites_of,
    state_rows,
)
from quirkpy.kernels.loads import INTO
from quirkpy.parts.body import Body
from quirkpy.parts.checks import Floats, Ints, number, numbers, vector
from quirkpy.parts.force import Force
from quirkpy.parts.joint import GeneralJoint
from quirkpy.parts.motion import FrameMotion, MotionView, Wrench
from quirkpy.tables.tables import CALLBACK, CALLBACK_ROW, Selection

#: Step of the pose differences that turn a user's potential into a force: [m] for positions (times the body's own
#: scale when that is larger than 1 m), [rad] for rotations.
POSE_STEP = 2e-4


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


class Frames(NamedTuple):
    """Kinematics of all bodies in N, the ground last (nb + 1, FRAME_WIDTH); position [m], velocity [m/s], axes and spin
    [rad/s] are views of its columns."""

    rows: Floats

    @property
    def position(self) -> Floats:
        """Mass centres (nb + 1, 3)."""
        return self.rows[:, POSITION:VELOCITY]

    @property
    def velocity(self) -> Floats:
        """Of the mass centres (nb + 1, 3)."""
        return self.rows[:, VELOCITY:AXES]

    @property
    def axes(self) -> Floats:
        """Rotation matrices, body to N (nb + 1, 3, 3)."""
        return self.rows[:, AXES:SPIN].reshape(-1, 3, 3)

    @property
    def spin(self) -> Floats:
        """Angular velocities in N (nb + 1, 3)."""
        return self.rows[:, SPIN:]


class Loads(NamedTuple):
    """wrench: applied to each moving body, about its mass centre in N (nb, 6); potential: energy of each element (n,);
    power of the forces that no potential accounts for: put in by loads, taken out by dampers (2,)."""

    wrench: Floats
    potential: Floats
    power: Floats


@dataclass(frozen=True, eq=False)
class Instant:
    """A selection at one state: t [s]; r (nb, 3), q (nb, 4), v (nb, 3) in N; omega (nb, 3) in body axes; near:
    the angle [rad] next to which each joint's is taken (nj,)."""

    selection: Selection
    t: float
    r: Floats
    q: Floats
    v: Floats
    omega: Floats
    near: Floats

    @cached_property
    def frames(self) -> Frames:
        """Kinematics of all bodies in N."""
        rows = kinematics.ground_frames(len(self.r))
        kinematics.fill_frames(state_rows(self.r, self.q, self.v, self.omega), rows)
        return Frames(rows)

    @cached_property
    def joints(self) -> Joints:
        """Joint columns for the kernels."""
        return joints_of(self.selection.tables, self.near)

    @cached_property
    def view(self) -> MotionView:
        """The same kinematics as a user's own force or joint sees them."""
        return _ArrayView(self.t, self.selection.tables.body_index, self.frames)

    # --- constraints --------------------------------------------------------------------------------------------
    @cached_property
    def rows(self) -> Rows:
        """Rows of the active joints, in table order."""
        s, t = self.selection, self.selection.tables
        m = len(s.rows)
        phi, jacobian, gamma = np.empty(m), np.empty((m, 12)), np.empty(m)
        rows.constraint_rows(s.rows, rows_of(t), self.joints, sites_of(t), self.frames.rows, phi, jacobian, gamma)
        joint = t.row_joint[s.rows]
        out = Rows(
            phi,
            np.zeros(len(phi)),
            jacobian,
            gamma,
            t.site_body[t.joint_site1[joint]],
            t.site_body[t.joint_site2[joint]],
        )
        for j in np.unique(joint[t.row_kind[s.rows] == CALLBACK_ROW]):
            self._general_rows(out, t.joints[j], np.flatnonzero(joint == j))
        return out

    def _general_rows(self, out: Rows, joint: Any, where: Ints) -> None:
        """Fill in the rows of a user's own equations."""
        assert isinstance(joint, GeneralJoint)
        m = len(where)
        made = {
            "phi": (out.phi, (m,)),
            "rate": (out.rate, (m,)),
            "jacobian": (out.jacobian, (m, 12)),
            "gamma": (out.gamma, (m,)),
        }
        for method, (array, shape) in made.items():
            value = _ask(joint, method, self.view)
            try:
                array[where] = numbers(value, shape)
            except (TypeError, ValueError) as error:
                raise joint.refuse(f"{method}(at) at t = {self.t} {error}.") from error

    # --- loads --------------------------------------------------------------------------------------------------
    @cached_property
    def loads(self) -> Loads:
        """Applied loads of the active forces (constraint forces and gyroscopic terms are not among them)."""
        s, t = self.selection, self.selection.tables
        wrench, potential, power = np.empty((t.n_bodies + 1, 6)), np.empty(len(s.elements)), np.empty(2)
        loads.applied_loads(
            self.t, s.elements, elements_of(t), self.joints, schedules_of(t), bodies_of(t), sites_of(t),
            self.frames.rows,
            wrench, potential, power,
        )  # fmt: skip
        for k in np.flatnonzero(t.element_kind[s.elements] == CALLBACK):
            force = t.forces[t.element_force[s.elements[k]]]
            potential[k] = self._energy_of(force)
            self._add_callback(wrench, power, force)
        return Loads(wrench[:-1], potential, power)

    def _add_callback(self, wrench: Floats, power: Floats, force: Force) -> None:
        """Add what a user's own force does; it counts as work where no potential accounts for it."""
        if not force.overrides("load"):
            wrench[:-1] -= self._gradient(force)
            return
        made = _ask(force, "load", self.view)
        if not isinstance(made, Mapping):
            raise force.refuse(f"load(at) must return {{body: qp.Wrench(...)}}, not {made!r}.")
        mine = np.zeros_like(wrench)
        for body, one in made.items():
            self._add_wrench(mine, force, body, one)
        wrench += mine
        if not force.overrides("potential"):
            power[INTO] += (mine[:, :3] * self.frames.velocity + mine[:, 3:] * self.frames.spin).sum()

    def _add_wrench(self, wrench: Floats, force: Force, body: Any, one: Any) -> None:
        row = self.selection.tables.body_index.get(body.name) if isinstance(body, Body) else None
        if row is None or not isinstance(one, Wrench):
            raise force.refuse(
                f"load(at) returned {{{body!r}: {one!r}}}; the keys must be bodies of the system, the values qp.Wrench."
            )
        try:
            f, torque = np.asarray(vector(one.force)), np.asarray(vector(one.torque))
            arm = np.zeros(3) if one.point is None else np.asarray(vector(one.point)) - self.frames.position[row]
        except (TypeError, ValueError) as error:
            raise force.refuse(f"load(at) at t = {self.t}: a vector of the wrench on {body.name!r} {error}.") from None
        wrench[row, :3] += f
        wrench[row, 3:] += torque + np.cross(arm, f)

    def _energy_of(self, force: Force, view: MotionView | None = None) -> float:
        energy = _ask(force, "potential", self.view if view is None else view)
        try:
            return number(energy)
        except (TypeError, ValueError) as error:
            raise force.refuse(f"potential(at) at t = {self.t} {error}.") from error

    def _gradient(self, force: Force) -> Floats:
        """dU over displacements of each mass centre and turns of each body in N (nb, 6): differences of 6th order."""
        out = np.zeros((len(self.r), 6))
        for b in range(len(self.r)):
            for k in range(6):
                h = POSE_STEP * (max(1.0, abs(float(self.r[b, k]))) if k < 3 else 1.0)
                u = [self._energy_of(force, self._moved(b, k, n * h)) for n in (-3, -2, -1, 1, 2, 3)]
                out[b, k] = (45.0 * (u[3] - u[2]) - 9.0 * (u[4] - u[1]) + (u[5] - u[0])) / (60.0 * h)
        return out

    def _moved(self, b: int, k: int, step: float) -> MotionView:
        """The view with body b moved along (k < 3) or turned about (k >= 3) an axis of N."""
        rows = self.frames.rows.copy()
        if k < 3:
            rows[b, POSITION + k] += step
        else:
            rows[b, AXES:SPIN] = (_turn_about(k - 3, step) @ self.frames.axes[b]).reshape(9)
        return _ArrayView(self.t, self.selection.tables.body_index, Frames(rows))

    # --- joint coordinates --------------------------------------------------------------------------------------
    def coordinates(self, joints: Ints) -> Floats:
        """Value and rate of the coordinate of each of the given joints (n, 2); NaN where it has none."""
        sites = sites_of(self.selection.tables)
        return np.asarray(kinematics.joint_coordinates(joints, self.joints, sites, self.frames.rows))


class _ArrayView(MotionView):
    """Reads bodies out of the arrays."""

    def __init__(self, t: float, index: Mapping[str, int], frames: Frames) -> None:
        self.t, self._index, self._frames = t, index, frames

    def body(self, body: Body) -> FrameMotion:
        try:
            row = self._index[body.name]
        except KeyError:
            raise KeyError(f"body {body.name!r} is not in the system") from None
        if body.fixed:
            return FrameMotion(np.asarray(body.position), body.matrix, np.zeros(3), np.zeros(3))
        frames = self._frames
        every = frames.position, frames.axes, frames.velocity, frames.spin
        return FrameMotion(*(array[row].copy() for array in every))


def _ask(part: Any, method: str, view: MotionView) -> Any:
    """What a method of a user's part returns; an error in it says where it came from."""
    try:
        return getattr(part, method)(view)
    except Exception as error:
        error.add_note(f"in {method}(at) of {type(part).__name__} {part.name!r}")
        raise


def _turn_about(k: int, angle: float) -> Floats:
    """Rotation matrix about axis k of N."""
    c, s = np.cos(angle), np.sin(angle)
    out = np.eye(3)
    i, j = (k + 1) % 3, (k + 2) % 3
    out[i, i] = out[j, j] = c
    out[j, i], out[i, j] = s, -s
    return out
