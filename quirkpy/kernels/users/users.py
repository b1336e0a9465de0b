"""Users' own forces and joints at one instant: calls, checks of the results, and the view of bodies
that they get."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from quirkpy.kernels.act.wrenches import INTO
from quirkpy.kernels.base.arrays import AXES, FRAME_WIDTH, POSITION, SPIN, VELOCITY, Joints
from quirkpy.kernels.base.states import angular_of, halves_of, linear_of, zero_vectors
from quirkpy.kernels.place.kinematics import joint_coordinates
from quirkpy.kernels.place.sites import fill_sites, load_point
from quirkpy.kernels.users.packing import pack, sites_known, sites_of
from quirkpy.maths.cached import cached_property
from quirkpy.maths.triples import triple
from quirkpy.maths.types import Floats, Ints
from quirkpy.parts.body import Body, Site
from quirkpy.parts.checks import number, numbers, vector
from quirkpy.parts.force import Force
from quirkpy.parts.joint import BaseJoint, GeneralJoint
from quirkpy.parts.joint_laws import JointLaw
from quirkpy.parts.motion import FrameMotion, MotionView, Wrench
from quirkpy.parts.part import Part, PartError
from quirkpy.tables.tables import CALLBACK, CALLBACK_ROW, LAW, RELATION_ROW, Selection, Tables

#: Rounding of a user's potential, as a share of its largest value [1].
POTENTIAL_ROUNDING = 1e-13
#: Step of the pose differences that turn a user's potential into a force: [m] for positions (times
#: the body's own scale when that is larger than 1 m), [rad] for rotations.
POSE_STEP = 2e-4
#: Load and potential are compared so far beside the pose [m and rad, as above]: farther than
#: differences reach.
COMPARISON_STEP = 5.0 * POSE_STEP
#: Up to which relative difference.
AGREEMENT = 1e-5
#: Of one site, the first.
ONE = np.zeros(1, dtype=np.int64)


class FrameMotions(NamedTuple):
    """Kinematics in N of all bodies, the ground last (nb + 1, FRAME_WIDTH), or of sites; position
    [m], velocity [m/s], axes and spin [rad/s] are views of its columns."""

    rows: Floats

    @property
    def position(self) -> Floats:
        """Mass centres, or sites (n, 3)."""
        return self.rows[:, POSITION:VELOCITY]

    @property
    def velocity(self) -> Floats:
        """Of the same points (n, 3)."""
        return self.rows[:, VELOCITY:AXES]

    @property
    def axes(self) -> Floats:
        """Rotation matrices to N (n, 3, 3)."""
        return self.rows[:, AXES:SPIN].reshape(-1, 3, 3)

    @property
    def spin(self) -> Floats:
        """Angular velocities in N (n, 3)."""
        return self.rows[:, SPIN:]


class OwnRows(NamedTuple):
    """The result of a user's own joint: phi (m,), its explicit time derivative (m,), J over (v1,
    w1, v2, w2) (m, 12), gamma (m,)."""

    phi: Floats
    rate: Floats
    jacobian: Floats
    gamma: Floats


def general_joints(selection: Selection, rows: Ints) -> list[tuple[int, Ints]]:
    """Joints with users' own equations among the given rows of the tables, and the positions of
    their rows."""
    t = selection.tables
    rows = rows[rows >= 0]  # negative: rows of stops, which come last
    if not len(rows):
        return []
    own = t.row_kind[rows] == CALLBACK_ROW
    if not own.any():
        return []
    return [
        (int(j), np.flatnonzero(own & (t.row_joint[rows] == j)))
        for j in np.unique(t.row_joint[rows[own]])
    ]


def driven_joints(selection: Selection, rows: Ints) -> list[tuple[int, Ints]]:
    """Joints whose motion is a user's function of time among the given rows, and the positions of
    their rows."""
    t = selection.tables
    rows = rows[rows >= 0]  # negative: rows of stops, which come last
    if not len(rows):
        return []
    by_time = np.flatnonzero((t.row_kind[rows] == RELATION_ROW) & (t.row_schedule[rows] < 0))
    if not len(by_time):
        return []
    joints = [
        int(j)
        for j in np.unique(t.row_joint[rows[by_time]])
        if t.joints[j].relations()[0].motion is not None
    ]
    return [(j, by_time[t.row_joint[rows[by_time]] == j]) for j in joints]


def joints_in_python(selection: Selection) -> tuple[list[tuple[int, Ints]], list[tuple[int, Ints]]]:
    """`general_joints` and `driven_joints` among all rows of a selection."""
    return general_joints(selection, selection.rows), driven_joints(selection, selection.rows)


def off_by(phi: Floats, period: Floats) -> Floats:
    """Residuals modulo a period; 0: no period."""
    turn = np.where(period > 0.0, period, np.inf)
    return np.asarray(phi - np.where(period > 0.0, period, 0.0) * np.rint(phi / turn))


@dataclass(frozen=True, eq=False)
class Users:
    """Users' parts of a selection at the time t [s] and the given kinematics; near: the angles next
    to which those of coordinates are taken [rad] (nc,)."""

    selection: Selection
    t: float
    frames: FrameMotions
    near: Floats

    @cached_property
    def view(self) -> MotionView:
        """The bodies as a user's own force or joint sees them."""
        return self._view_of(self.frames)

    def _view_of(self, frames: FrameMotions) -> _ArrayView:
        return _ArrayView(self.t, self.selection.tables, frames, self.near)

    # --- joints -----------------------------------------------------------------------------------
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
            raise joint.refuse(f"{method}(at) at t = {self.t} {error}.", code="yours") from error

    def motion_of(self, joint: BaseJoint) -> tuple[float, float, float]:
        """Value, rate and acceleration of a prescribed motion."""
        try:
            return joint.relations()[0].driven(self.t)
        except PartError:
            raise
        except Exception as error:
            error.add_note(f"in the motion of {type(joint).__name__} {joint.name!r}")
            raise

    # --- forces -----------------------------------------------------------------------------------
    def add_load(self, wrench: Floats, power: Floats, force: Force) -> None:
        """Add the load of a user's own force; its power counts as work if it has no potential."""
        if not force.gives("load"):
            wrench[:-1] -= self._gradient(force)
            return
        mine = self.load_of(force)
        wrench += mine
        if isinstance(force, JointLaw):
            power += force.powers(self.view)
        elif not force.gives("potential"):
            with np.errstate(invalid="ignore", over="ignore"):  # where speeds are no numbers
                power[INTO] += (
                    linear_of(mine) * self.frames.velocity + angular_of(mine) * self.frames.spin
                ).sum()

    def load_of(self, force: Force) -> Floats:
        """The wrench of a user's force on every body (nb + 1, 6)."""
        made = _ask(force, "wrenches" if isinstance(force, JointLaw) else "load", self.view)
        if not isinstance(made, Mapping):
            raise force.refuse(
                f"load(at) must return {{body: qp.Wrench(...)}}, not {made!r}.", code="yours"
            )
        out = zero_vectors(len(self.frames.rows))
        for body, one in made.items():
            self._add_wrench(out, force, body, one)
        return out

    def _add_wrench(self, wrench: Floats, force: Force, body: Any, one: Any) -> None:
        row = self.selection.tables.body_index.get(body.name) if isinstance(body, Body) else None
        if row is None or not isinstance(one, Wrench):
            raise force.refuse(
                f"load(at) returned {{{body!r}: {one!r}}}; the keys must be bodies of the system, "
                "the values qp.Wrench.",
                code="yours",
            )
        if not body.fixed and body.modal is not None and body.modal.count:
            raise force.refuse(
                f"load(at) at t = {self.t} loads body {body.name!r}, which bends; fix a rigid "
                "body to it, and load that.",
                code="together",
            )
        try:
            f, torque = triple(vector(one.force)), triple(vector(one.torque))
            at = self.frames.position[row] if one.point is None else vector(one.point)
        except (TypeError, ValueError) as error:
            raise force.refuse(
                f"load(at) at t = {self.t}: a vector of the wrench on {body.name!r} {error}."
            ) from None
        load_point(row, triple(at), f, torque, self.frames.rows, wrench)

    def energy_of(self, force: Force, view: MotionView | None = None) -> float:
        """The potential energy of a user's force [J]."""
        energy = _ask(force, "potential", self.view if view is None else view)
        try:
            return number(energy)
        except (TypeError, ValueError) as error:
            raise force.refuse(f"potential(at) at t = {self.t} {error}.", code="yours") from error

    def look_at_laws(self, where: Ints, potential: Floats) -> None:
        """Raise an error for a compiled law that gave no number; where: the laws among the acting
        elements.

        The law is called once more, uncompiled.  If its arguments are not finite themselves, no law
        is blamed."""
        if not np.isfinite(self.frames.rows).all():
            return
        t = self.selection.tables
        for k in where[np.isnan(potential[where])]:
            force = t.forces[t.element_force[self.selection.elements[k]]]
            with suppress(KeyError):  # of members of a cluster there is no view
                self.load_of(force)
                self.energy_of(force)
            raise force.refuse(
                f"its compiled law gives no number at t = {self.t}, or raises an error.",
                code="yours",
            )

    def _gradient(self, force: Force) -> Floats:
        """dU over displacements of each mass centre and turns of each body in N (nb, 6):
        differences of 6th order; of bodies that the potential does not read they are zero, and it
        is not asked."""
        moving = self.frames.rows[:-1, POSITION:VELOCITY]
        out, view = (
            zero_vectors(len(moving)),
            self._view_of(self.frames),
        )
        self.energy_of(force, view)
        for b in sorted(view.read):
            for k in range(6):
                h = POSE_STEP * (max(1.0, abs(float(moving[b, k]))) if k < 3 else 1.0)
                u = [
                    self.energy_of(force, self._displace_body(b, k, n * h))
                    for n in (-3, -2, -1, 1, 2, 3)
                ]
                out[b, k] = (45.0 * (u[3] - u[2]) - 9.0 * (u[4] - u[1]) + (u[5] - u[0])) / (
                    60.0 * h
                )
        return out

    # --- is the one the gradient of the other? ----------------------------------------------------
    def check_potentials(self) -> None:
        """Refuse forces whose load, with everything at rest, is not the negative gradient of the
        potential beside it.

        A selection is asked once, when its system is made or at its first run.  Both are asked
        along one line through all poses at once, whose direction is random, the same each time:
        what the load says of it must be the slope of the potential, at a pose on either side of the
        present one (there a spring is not at its natural length, and a rope not just taut).  What
        differences cannot tell is let pass, and so is a pose at which the force has no answer."""
        for force in forces_to_compare(self.selection):
            if any(self._disagrees(force, side) for side in (-COMPARISON_STEP, COMPARISON_STEP)):
                raise self._disagreement(force)
        self.selection.once(comparison_of).due = False

    def _disagrees(self, force: Force, side: float) -> bool:
        """Whether load and potential disagree by more than the error of differences."""
        h, way = POSE_STEP, self._way
        try:
            u = [
                self._displace_all(side + n * h).energy_of(force) for n in (-3, -2, -1, 0, 1, 2, 3)
            ]
            load = self._displace_all(side).load_of(force)[:-1]
        except Exception:
            return False
        slope = (45.0 * (u[4] - u[2]) - 9.0 * (u[5] - u[1]) + (u[6] - u[0])) / (60.0 * h)
        curl = abs(
            slope - 0.5 * (u[4] - u[2]) / h
        )  # of a kink in the load, and below of one in the potential
        kink = abs(u[1] - 4.0 * u[2] + 6.0 * u[3] - 4.0 * u[4] + u[5]) / h
        rounding = POTENTIAL_ROUNDING * max(map(abs, u)) / h
        size = abs(load * way).sum() + abs(slope)
        return bool(
            abs((load * way).sum() + slope) > AGREEMENT * size + 10.0 * curl + kink + rounding
        )

    @cached_property
    def _way(self) -> Floats:
        """A random direction in the space of displacements and turns (nb, 6), whose largest
        components are one step."""
        position = self.frames.position[:-1]
        way = np.random.default_rng(0).uniform(-1.0, 1.0, zero_vectors(len(position)).shape)
        linear_of(way)[:] *= np.maximum(1.0, abs(position))
        return way

    def _displace_all(self, step: float) -> Users:
        """The view with all bodies displaced along that direction, at rest."""
        rows, way = np.zeros_like(self.frames.rows), step * self._way
        rows[:, AXES:SPIN] = self.frames.rows[:, AXES:SPIN]
        rows[:-1, POSITION:VELOCITY] = self.frames.position[:-1] + linear_of(way)
        turned = Rotation.from_rotvec(angular_of(way)).as_matrix() @ self.frames.axes[:-1]
        rows[:-1, AXES:SPIN] = turned.reshape(-1, 9)
        return Users(self.selection, self.t, FrameMotions(rows), self.near)

    def _disagreement(self, force: Force) -> PartError:
        """The error for the body and component, force or torque, with the largest disagreement,
        with both values."""
        found = []
        for step in (0.0, -COMPARISON_STEP, COMPARISON_STEP):
            with suppress(Exception):
                there = self._displace_all(step)
                found.append((there.load_of(force)[:-1], -there._gradient(force)))
        load, gradient = max(found, key=lambda pair: float(abs(pair[0] - pair[1]).max()))
        apart = np.linalg.norm(halves_of(load - gradient), axis=2)
        b, half = np.unravel_index(apart.argmax(), apart.shape)
        mine, wanted = (_words(one[b, 3 * half : 3 * half + 3]) for one in (load, gradient))
        what, unit = ("torque", "N m") if half else ("force", "N")
        return force.refuse(
            f"its load and its potential disagree on body {self.selection.tables.body_names[b]!r} "
            f"at t = {self.t}, at "
            f"rest and near this pose: the load gives the {what} {mine} {unit}, minus the gradient "
            "of the potential "
            f"{wanted} {unit}; correct one, leave one out, or make a force of its own of what no "
            "potential gives.",
            code="yours",
        )

    def _displace_body(self, b: int, k: int, step: float) -> MotionView:
        """The view with body b moved along (k < 3) or turned about (k >= 3) an axis of N."""
        rows = self.frames.rows.copy()
        if k < 3:
            rows[b, POSITION + k] += step
        else:
            rows[b, AXES:SPIN] = (_turn_about(k - 3, step) @ self.frames.axes[b]).reshape(9)
        return self._view_of(FrameMotions(rows))


class _ArrayView(MotionView):
    """Reads bodies out of the arrays."""

    def __init__(self, t: float, tables: Tables, frames: FrameMotions, near: Floats) -> None:
        self.t, self._tables, self._index = t, tables, tables.body_index
        self._frames, self._near, self.read = frames, near, set[int]()

    def _row(self, body: Body) -> int:
        """Of the body in the arrays; that of the ground, where it is fixed."""
        try:
            row = self._index[body.name]
        except KeyError:
            raise KeyError(f"body {body.name!r} is not in the system") from None
        if not body.fixed:
            self.read.add(row)
        return len(self._frames.rows) - 1 if body.fixed else row

    def _called(self, name: Any) -> Body:
        """The body with a name."""
        every = (*self._tables.bodies, *self._tables.fixed)
        found = next((body for body in every if body.name == name), None)
        if found is None:
            known = ", ".join(body.name for body in every)
            raise KeyError(f"at[{name!r}] is no body; give a body, a site, or one of: {known}")
        return found

    def body(self, body: Body | str) -> FrameMotion:
        given = body if isinstance(body, Body) else self._called(body)
        row = self._row(given)
        if given.fixed:
            return FrameMotion(np.asarray(given.position), given.matrix, np.zeros(3), np.zeros(3))
        return _motion(self._frames, row)

    def site(self, site: Site) -> FrameMotion:
        row, made = self._row(site.body), np.empty((1, FRAME_WIDTH))
        bends = not site.body.fixed and site.body.modal is not None
        sites = sites_of([site], {site.body.name: row}, row)
        if bends:
            sites = sites_known([site], self._tables)
        fill_sites(ONE, sites, self._frames.rows, made)
        return _motion(FrameMotions(made), 0)

    def coordinate(self, joint: Part, name: str) -> tuple[float, float]:
        t, packed, made = self._tables, pack(self._tables), np.empty((1, 2))
        which = np.array([t.coordinate_index[str(getattr(joint, "name", "")), name]])
        joints = Joints(packed.ends, packed.coordinates, self._near)
        joint_coordinates(which, joints, packed.sites, self._frames.rows, made)
        return float(made[0, 0]), float(made[0, 1])


def _motion(frames: FrameMotions, row: int) -> FrameMotion:
    """One row, for users to keep."""
    every = frames.position, frames.axes, frames.velocity, frames.spin
    return FrameMotion(*(array[row].copy() for array in every))


def forces_to_compare(selection: Selection) -> list[Force]:
    """The users' forces of a selection that give both a load and a potential."""
    t = selection.tables
    kinds = t.element_kind[selection.elements]
    own = selection.elements[(kinds == CALLBACK) | (kinds == LAW)]
    if not len(own):
        return []
    some = [t.forces[k] for k in np.unique(t.element_force[own])]
    both = [force for force in some if force.gives("load") and force.gives("potential")]
    return [force for force in both if not isinstance(force, JointLaw)]  # they compare themselves


def has_unchecked(selection: Selection) -> bool:
    """Whether a selection has users' forces whose load and potential have not been compared yet."""
    return selection.once(comparison_of).due


@dataclass
class Comparison:
    """Whether load and potential of users' forces must still be compared."""

    due: bool


def comparison_of(selection: Selection) -> Comparison:
    """The comparison for the users' forces of a selection; due if any has both a load and a
    potential."""
    return Comparison(bool(forces_to_compare(selection)))


def _words(vector: Floats) -> str:
    """Three numbers in a sentence."""
    return "(" + ", ".join(f"{x:.6g}" for x in vector) + ")"


def _ask(part: Any, method: str, view: MotionView) -> Any:
    """The result of a method of a user's part; an exception in it gets a note with the name of the
    method."""
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
