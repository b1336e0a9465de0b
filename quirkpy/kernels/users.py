"""What users' own forces and joints say at one instant, checked; their view of the bodies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from quirkpy.kernels.arrays import AXES, POSITION, SPIN, VELOCITY
from quirkpy.kernels.wrenches import INTO
from quirkpy.parts.body import Body
from quirkpy.parts.checks import Floats, Ints, number, numbers, vector
from quirkpy.parts.force import Force
from quirkpy.parts.joint import BaseJoint, GeneralJoint
from quirkpy.parts.motion import FrameMotion, MotionView, Wrench
from quirkpy.parts.part import PartError
from quirkpy.tables.tables import CALLBACK_ROW, RELATION_ROW, Selection

#: Step of the pose differences that turn a user's potential into a force: [m] for positions (times the body's own
#: scale when that is larger than 1 m), [rad] for rotations.
POSE_STEP = 2e-4


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


class OwnRows(NamedTuple):
    """What a user's own joint says: phi (m,), its explicit time derivative (m,), J over (v1, w1, v2, w2) (m, 12), gamma
    (m,)."""

    phi: Floats
    rate: Floats
    jacobian: Floats
    gamma: Floats


def general_joints(selection: Selection, rows: Ints) -> list[tuple[int, Ints]]:
    """Joints with a user's own equations among the given rows of the tables, and where theirs stand."""
    t = selection.tables
    rows = rows[rows >= 0]  # negative: rows of stops, which come last
    own = t.row_kind[rows] == CALLBACK_ROW
    if not own.any():
        return []
    return [(int(j), np.flatnonzero(own & (t.row_joint[rows] == j))) for j in np.unique(t.row_joint[rows[own]])]


def driven_joints(selection: Selection, rows: Ints) -> list[tuple[int, Ints]]:
    """Joints among the given rows that a user's function of time moves, and where their rows stand."""
    t = selection.tables
    rows = rows[rows >= 0]  # negative: rows of stops, which come last
    by_time = np.flatnonzero((t.row_kind[rows] == RELATION_ROW) & (t.row_schedule[rows] < 0))
    joints = [int(j) for j in np.unique(t.row_joint[rows[by_time]]) if t.joints[j].relations()[0].motion is not None]
    return [(j, by_time[t.row_joint[rows[by_time]] == j]) for j in joints]


def off_by(phi: Floats, period: Floats) -> Floats:
    """Residuals less the whole turns in them; a period of zero: there are none."""
    turn = np.where(period > 0.0, period, np.inf)
    return np.asarray(phi - np.where(period > 0.0, period, 0.0) * np.rint(phi / turn))


@dataclass(frozen=True, eq=False)
class Users:
    """Users' parts of a selection at the time t [s] and the given kinematics."""

    selection: Selection
    t: float
    frames: Frames

    @cached_property
    def view(self) -> MotionView:
        """The kinematics as a user's own force or joint sees them."""
        return _ArrayView(self.t, self.selection.tables.body_index, self.frames)

    # --- joints -------------------------------------------------------------------------------------------------
    def rows_of(self, joint: GeneralJoint) -> OwnRows:
        """The rows of a user's own equations."""
        m = len(joint.units)
        return OwnRows(*(self._numbers_of(joint, name, shape) for name, shape in (
            ("phi", (m,)), ("rate", (m,)), ("jacobian", (m, 12)), ("gamma", (m,)),
        )))  # fmt: skip

    def _numbers_of(self, joint: GeneralJoint, method: str, shape: tuple[int, ...]) -> Floats:
        value = _ask(joint, method, self.view)
        try:
            return numbers(value, shape)
        except (TypeError, ValueError) as error:
            raise joint.refuse(f"{method}(at) at t = {self.t} {error}.") from error

    def motion_of(self, joint: BaseJoint) -> tuple[float, float, float]:
        """Value, rate and acceleration of what moves a joint by itself."""
        try:
            return joint.relations()[0].driven(self.t)
        except PartError:
            raise
        except Exception as error:
            error.add_note(f"in the motion of {type(joint).__name__} {joint.name!r}")
            raise

    # --- forces -------------------------------------------------------------------------------------------------
    def add_load(self, wrench: Floats, power: Floats, force: Force) -> None:
        """Add what a user's own force does; it counts as work where no potential accounts for it."""
        if not force.gives("load"):
            wrench[:-1] -= self._gradient(force)
            return
        made = _ask(force, "load", self.view)
        if not isinstance(made, Mapping):
            raise force.refuse(f"load(at) must return {{body: qp.Wrench(...)}}, not {made!r}.")
        mine = np.zeros_like(wrench)
        for body, one in made.items():
            self._add_wrench(mine, force, body, one)
        wrench += mine
        if not force.gives("potential"):
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

    def energy_of(self, force: Force, view: MotionView | None = None) -> float:
        """The potential energy [J] that a user's force states."""
        energy = _ask(force, "potential", self.view if view is None else view)
        try:
            return number(energy)
        except (TypeError, ValueError) as error:
            raise force.refuse(f"potential(at) at t = {self.t} {error}.") from error

    def _gradient(self, force: Force) -> Floats:
        """dU over displacements of each mass centre and turns of each body in N (nb, 6): differences of 6th order."""
        moving = self.frames.rows[:-1, POSITION:VELOCITY]
        out = np.zeros((len(moving), 6))
        for b in range(len(moving)):
            for k in range(6):
                h = POSE_STEP * (max(1.0, abs(float(moving[b, k]))) if k < 3 else 1.0)
                u = [self.energy_of(force, self._moved(b, k, n * h)) for n in (-3, -2, -1, 1, 2, 3)]
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
