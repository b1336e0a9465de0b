"""`Tables`: all parts as frozen arrays, compiled once; and `Selection`: which of them act.

Rows of moving bodies come in the order in which the bodies were given.  Ground and fixed bodies
share one further row, number `n_bodies`, that never moves: a site on them is stored in N."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quirkpy.maths.cached import Value, cached_property, once
from quirkpy.maths.records import FrozenRecord
from quirkpy.maths.types import Floats, Ints
from quirkpy.parts.body import Body
from quirkpy.parts.controller import Controller
from quirkpy.parts.force import ELEMENT_KINDS, Force
from quirkpy.parts.formulas import CompiledFunction
from quirkpy.parts.joint import BaseJoint
from quirkpy.parts.part import PartError
from quirkpy.parts.primitives import ROW_KINDS
from quirkpy.parts.schedule import INTERPOLATIONS, TimeFunction
from quirkpy.parts.sensor import Sensor
from quirkpy.tables.drives import Drive, takes
from quirkpy.tables.frame import check_frame

#: New values of some fields of some parts: {"pull": {"stiffness": 0.1}}.
Parameters: TypeAlias = Mapping[str, Mapping[str, Any]]

LINE, DOT, DISTANCE = range(len(ROW_KINDS))
#: The kind of a row whose equation is a user's Python (`GeneralJoint`).
CALLBACK_ROW = len(ROW_KINDS)
#: Of one that relates coordinates: the first + factor x the second = value + a function of time.
RELATION_ROW = CALLBACK_ROW + 1
#: element_kind: the place of the kind in ELEMENT_KINDS.
UNIFORM, PAIR, COORDINATE, PUSH, CALLBACK, STOP = range(6)
DIPOLES, IMAGE, PLANET_DIPOLE, HILL, PLANET, CHARGES, BUSHING, WHEEL, LAW = map(
    ELEMENT_KINDS.index,
    (
        "dipoles", "image", "planet dipole", "hill", "planet", "charges", "bushing", "wheel", "law",
    ),
)  # fmt: skip
STRETCH = ELEMENT_KINDS.index("stretch")
JOINT_LAW, SERVO, TAPE, MOTOR = map(ELEMENT_KINDS.index, ("joint law", "servo", "tape", "motor"))
#: The number of a stop that says whether it is a latch.
STOP_LATCH = 4
#: Those whose law is a user's machine code.
OF_USERS_CODE = LAW, JOINT_LAW
#: coordinate_kind.
ANGLE, TRAVEL, LENGTH = range(3)
#: joint_in_tree: not at all; its second body on its first; either on the other.
NOT_IN_TREE, ONWARDS, BOTH_WAYS = range(3)
TURN, SLIDE, SCREW = range(3)
#: schedule_kind: given by knots, of which a step may leap over none; by formulas; and what is made
#: of other schedules.
HOLD, LINEAR, SMOOTH = range(len(INTERPOLATIONS))
SINE, RAMP, FORMULA, PRODUCT, SUM = range(len(INTERPOLATIONS), 8)
#: Width of element_numbers: the widest element, a bushing.
ELEMENT_WIDTH = 42


@dataclass(frozen=True, eq=False)
class Tables(FrozenRecord):
    """Struct of arrays; every candidate joint and force is in it.  n + letter counts: bodies,
    sites, joints ..."""

    # --- the parts themselves, in table order (for names, errors and Python callbacks)
    bodies: tuple[Body, ...]  # the moving ones
    fixed: tuple[Body, ...]  # those that share the ground's row
    joints: tuple[BaseJoint, ...]
    forces: tuple[Force, ...]
    sensors: tuple[Sensor, ...]
    controllers: tuple[Controller, ...]
    drives: tuple[tuple[Drive, ...], ...]  # of each controller what it drives

    body_mass: Floats  # [kg] (nb,)
    body_inertia: Floats  # about the mass centre, body axes [kg m2] (nb, 3, 3)
    body_position: Floats  # written pose: mass centre in N [m] (nb, 3)
    body_quaternion: Floats  # written pose: w x y z (nb, 4)
    body_velocity: Floats  # written motion: of the mass centre in N [m/s] (nb, 3)
    body_omega: Floats  # written motion: angular velocity, body axes [rad/s] (nb, 3)

    site_body: Ints  # row of its body; nb stands for ground (ns,)
    site_point: Floats  # body axes, from the mass centre [m] (ns, 3)
    site_axes: Floats  # row-major matrix, columns x y z in body axes (ns, 9)

    joint_site1: Ints  # (nj,)
    joint_site2: Ints  # (nj,)
    joint_row: Ints  # rows of joint j: joint_row[j] .. joint_row[j + 1] (nj + 1,)
    joint_coordinate: Ints  # coordinates of joint j: from joint_coordinate[j] to [j + 1] (nj + 1,)
    joint_needs: Ints  # joints without which it does not act; -1: none (nj, 2)
    joint_freedom: Ints  # freedoms of joint j: joint_freedom[j] .. joint_freedom[j + 1] (nj + 1,)
    joint_in_tree: Ints  # NOT_IN_TREE, ONWARDS or BOTH_WAYS (nj,)
    freedom_kind: Ints  # TURN, SLIDE or SCREW (nf,)
    freedom_axis: Ints  # axis of its site: 0 1 2 (nf,)
    freedom_site: Ints  # 0: the axis belongs to site 1, 1: to site 2 (nf,)

    coordinate_joint: Ints  # (nc,)
    coordinate_kind: Ints  # ANGLE, TRAVEL or LENGTH (nc,)
    coordinate_axis: Ints  # 0 1 2 (nc,)
    coordinate_site: Ints  # 0: the axis belongs to site 1, 1: to site 2 (nc,)

    row_kind: Ints  # LINE, DOT, DISTANCE, CALLBACK_ROW or RELATION_ROW (nr,)
    row_joint: Ints  # the joint that it belongs to (nr,)
    row_axis1: Ints  # axis of site 1; of a relation: its first coordinate (nr,)
    row_axis2: Ints  # axis of site 2; of a relation: its second coordinate, -1: none (nr,)
    row_schedule: Ints  # of a relation: the schedule to which it is equal; -1: none (nr,)
    row_value: Floats  # what the expression must equal (nr,)
    row_factor: Floats  # of a relation: of its second coordinate (nr,)

    force_element: Ints  # elements of force f: from force_element[f] to [f + 1] (n_forces + 1,)
    joint_element: Ints  # those of joint j: joint_element[j] .. joint_element[j + 1] (nj + 1,)
    element_kind: Ints  # UNIFORM ... MOTOR (ne,)
    element_force: Ints  # the force that it belongs to; -1: to a joint (ne,)
    element_site1: Ints  # -1: none (ne,)
    element_site2: Ints  # -1: none (ne,)
    element_site3: Ints  # -1: none (ne,)
    element_joint: Ints  # -1: none (ne,)
    element_coordinate: Ints  # -1: none (ne,)
    element_numbers: Floats  # see parts/force.py, Element (ne, ELEMENT_WIDTH)
    element_schedule: Ints  # of the two vectors that time may change; -1: constant (ne, 2)

    schedule_knot: Ints  # knots of schedule s: from schedule_knot[s] to [s + 1] (n_schedules + 1,)
    schedule_kind: Ints  # HOLD ... SUM (n_schedules,)
    schedule_parts: Ints  # first and last schedule that it is made of; -1: of none (n_schedules, 2)
    # Of a SINE amplitude and mean stand in place of values, rate and phase in place of times; of a
    # RAMP rate and value; of a FORMULA its numbers, one in a row.
    knot_time: Floats  # [s] (nk,)
    knot_value: Floats  # a plain number comes first (nk, 3)
    schedule_formula: tuple[CompiledFunction | None, ...]  # None of others (n_schedules,)

    sensor_site: Ints  # (n_sensors,)
    sensor_accepts: NDArray[np.bool_]  # both notice each other (n_sensors, n_sensors)
    sensor_reach: Floats  # [m] (n_sensors,)
    sensor_alignment: Floats  # [rad] (n_sensors,)
    sensor_roll: Floats  # [rad], 0: any roll (n_sensors,)

    @cached_property
    def unproven(self) -> tuple[tuple[Force, str, TimeFunction], ...]:
        """Strengths of forces that are functions of time of which it is not known that they
        never fall below zero: the force, the field, the function."""
        return tuple(
            (part, field, value)
            for part in self.forces
            for field in ("stiffness", "rest_length")
            if isinstance(value := getattr(part, field, None), TimeFunction)
            and value.lowest < 0.0
            and not takes(part, field, -1.0)
        )

    @cached_property
    def sensor_partners(self) -> tuple[tuple[int, ...], ...]:
        """For each sensor the numbers of those that it can notice: of other bodies, and each
        accepts the other."""
        body = self.site_body[self.sensor_site]
        return tuple(
            tuple(np.flatnonzero(accepted & (body != mine)).tolist())
            for accepted, mine in zip(self.sensor_accepts, body, strict=True)
        )

    @cached_property
    def bends(self) -> bool:
        """Whether any moving body bends."""
        return len([b for b in self.bodies if b.modal is not None and b.modal.count > 0]) > 0

    def once(self, make: Callable[[Tables], Value]) -> Value:
        """What a function makes of the bodies as they are written, but for masses: made once for
        all tables of the same bodies."""
        return once(self.made_of_bodies, make, self)

    @cached_property
    def made_of_bodies(self) -> dict[Callable[[Tables], Any], Any]:
        """What `once` keeps, by function."""
        return {}

    @cached_property
    def body_names(self) -> tuple[str, ...]:
        """Names of the moving bodies, in row order."""
        return tuple(part.name for part in self.bodies)

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, in table order."""
        return tuple(part.name for part in self.joints)

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the coordinates: that of the joint, and its own as well where the joint has
        several."""
        named = ((joint, c) for joint in self.joints for c in joint.coordinates)
        return tuple(j.name if len(j.coordinates) == 1 else f"{j.name}: {c.name}" for j, c in named)

    @cached_property
    def coordinate_index(self) -> dict[tuple[str, str], int]:
        """Name of a joint and of one of its coordinates -> row."""
        pairs = [(joint.name, c.name) for joint in self.joints for c in joint.coordinates]
        return {pair: k for k, pair in enumerate(pairs)}

    @cached_property
    def force_names(self) -> tuple[str, ...]:
        """Names of the forces, in table order."""
        return tuple(part.name for part in self.forces)

    @cached_property
    def body_index(self) -> dict[str, int]:
        """Name -> row; fixed bodies and the ground give the last row, nb."""
        rows = {name: k for k, name in enumerate(self.body_names)}
        return rows | {part.name: len(self.bodies) for part in self.fixed}

    @cached_property
    def joint_index(self) -> dict[str, int]:
        """Name -> row of a joint."""
        return {name: k for k, name in enumerate(self.joint_names)}

    @cached_property
    def force_index(self) -> dict[str, int]:
        """Name -> row of a force."""
        return {name: k for k, name in enumerate(self.force_names)}

    @cached_property
    def joints_here(self) -> tuple[int, ...]:
        """The joints that hold their bodies as they stand when they become active."""
        return tuple(j for j, joint in enumerate(self.joints) if getattr(joint, "here", False))

    @property
    def n_bodies(self) -> int:
        """Number of moving bodies, and the row of the ground."""
        return len(self.bodies)

    def select(
        self,
        joints: Iterable[str] | None = None,
        forces: Iterable[str] | None = None,
        parameters: Parameters | None = None,
    ) -> Selection:
        """What acts: joints and forces by name (None: all), some parameters changed.  A slice and
        data, no rebuild."""
        if parameters:
            return self.with_parameters(parameters).select(joints, forces)
        joint_rows = self._acting(_row_numbers("joint", self.joint_index, joints))
        made = Selection(self, joint_rows, _row_numbers("force", self.force_index, forces))
        check_frame([self.forces[k] for k in made.forces])
        return made

    def commanded(self, drive: Drive) -> list[int]:
        """The schedules that stand for what a controller drives."""
        first = int(self.force_element[self.force_index[drive.force]])
        return [int(self.element_schedule[first + k, j]) for k, j in drive.slots]

    def knots(self, s: int) -> slice:
        """The knots of a schedule."""
        return slice(int(self.schedule_knot[s]), int(self.schedule_knot[s + 1]))

    def leaves(self, s: int) -> list[int]:
        """The schedules of knots and formulas that a schedule is made of; itself, if it is one."""
        first, last = self.schedule_parts[s].tolist()
        if first < 0:
            return [s]
        return [leaf for part in range(first, last + 1) for leaf in self.leaves(part)]

    def leading(self, s: int) -> list[int]:
        """The first factors of the products that a schedule is the sum of: with twice their values
        it is twice as large, and where it is a vector, so are they."""
        first, last = self.schedule_parts[s].tolist()
        if first < 0:
            return [s]
        some = range(first, last + 1) if self.schedule_kind[s] == SUM else (first,)
        return [leaf for part in some for leaf in self.leading(part)]

    def calm_after(self, s: int) -> float:
        """When a schedule has come to its end [s]; inf: never."""
        first, last = self.schedule_parts[s].tolist()
        if first < 0:
            return self._calm_leaf(s)
        parts = range(first, last + 1)
        ends = [self.calm_after(part) for part in parts]
        if self.schedule_kind[s] == PRODUCT:
            ended = [end for part, end in zip(parts, ends, strict=True) if self._ends_at_zero(part)]
            return min(ended, default=max(ends))
        return max(ends)

    def _calm_leaf(self, s: int) -> float:
        kind, values = self.schedule_kind[s], self.knot_value[self.knots(s)]
        if kind in (SINE, RAMP):
            return math.inf if values[0].any() else -math.inf
        return math.inf if kind == FORMULA else float(self.knot_time[self.knots(s)][-1])

    def _ends_at_zero(self, s: int) -> bool:
        """Whether a schedule of knots does."""
        knots = self.schedule_kind[s] in (HOLD, LINEAR, SMOOTH)
        return bool(knots and not self.knot_value[self.knots(s)][-1].any())

    @cached_property
    def mass_roots(self) -> tuple[Floats, Floats]:
        """Per body M^(1/2) and M^(-1/2) over (v in N, omega in body axes), each (nb, 6, 6)."""
        n = len(self.body_mass)
        root, back = np.zeros((n, 6, 6)), np.zeros((n, 6, 6))
        moments, directions = np.linalg.eigh(self.body_inertia)
        size = np.sqrt(self.body_mass)[:, None, None]
        root[:, :3, :3], back[:, :3, :3] = size * np.eye(3), np.eye(3) / size
        root[:, 3:, 3:] = np.einsum("nij,nj,nkj->nik", directions, np.sqrt(moments), directions)
        back[:, 3:, 3:] = np.einsum(
            "nij,nj,nkj->nik", directions, 1.0 / np.sqrt(moments), directions
        )
        return root, back

    def _acting(self, chosen: Ints) -> Ints:
        """Of the chosen joints those that act: all that need another one have it."""
        acts = np.zeros(len(self.joints) + 1, dtype=bool)
        acts[chosen] = acts[-1] = True  # the last: what needs no joint, number -1
        while not acts[self.joint_needs[chosen]].all():
            chosen = chosen[acts[self.joint_needs[chosen]].all(axis=1)]
            acts[:-1] = np.isin(np.arange(len(self.joints)), chosen)
        return chosen

    def with_parameters(self, parameters: Parameters) -> Tables:
        """Tables with the rows of some parts written anew: {part name: {field: value}}."""
        from quirkpy.tables.compile import rewrite

        return rewrite(self, parameters)


@dataclass(frozen=True, eq=False)
class Selection(FrozenRecord):
    """The joints and forces that act, as sorted row numbers of the tables."""

    tables: Tables
    joints: Ints
    forces: Ints

    def check_strengths(self, first: float, last: float) -> None:
        """Refuse a stiffness or a rest length that falls below zero within a span of time [s]."""
        for part, field, value in self.tables.unproven:
            acts = self.tables.force_index[part.name] in self.forces
            if acts and (least := value.least_within(first, last)) < 0.0:
                raise part.refuse(
                    f"{field} falls to {least:.6g} between t = {first:g} and {last:g} s, but must "
                    "be 0 or above; end the run before, or change the function."
                )

    @cached_property
    def rows(self) -> Ints:
        """Constraint rows of the active joints, in table order."""
        return _ranges(self.tables.joint_row, self.joints)

    @cached_property
    def elements(self) -> Ints:
        """Elements of the active forces and joints; one that acts on a joint needs that joint
        active."""
        tables = self.tables
        chosen = np.concatenate(
            [_ranges(tables.force_element, self.forces), _ranges(tables.joint_element, self.joints)]
        )
        acts = np.zeros(len(tables.joints) + 1, dtype=bool)
        acts[self.joints] = acts[-1] = (
            True  # the last: that of the elements without a joint, number -1
        )
        return chosen[acts[tables.element_joint[chosen]]]

    @cached_property
    def laws(self) -> Ints:
        """Which of these elements are laws that users have written."""
        kinds = self.tables.element_kind[self.elements]
        return np.flatnonzero((kinds == LAW) | (kinds == JOINT_LAW))

    @cached_property
    def turning_between(self) -> dict[int, tuple[float, float]]:
        """Angles with two stops no more than a turn apart, by the number of their coordinate: both
        bounds [rad]."""
        t = self.tables
        bounds: dict[int, list[float]] = {}
        for k in self.elements[t.element_kind[self.elements] == STOP].tolist():
            latch = t.element_numbers[k, STOP_LATCH] != 0.0
            if t.coordinate_kind[t.element_coordinate[k]] == ANGLE and not latch:
                bound, side = t.element_numbers[k, :2].tolist()
                pair = bounds.setdefault(int(t.element_coordinate[k]), [-math.inf, math.inf])
                pair[0 if side > 0.0 else 1] = bound
        return {
            c: (lower, upper)
            for c, (lower, upper) in bounds.items()
            if upper - lower <= 2.0 * math.pi
        }

    @cached_property
    def schedules(self) -> tuple[int, ...]:
        """Numbers of the schedules of what acts."""
        t = self.tables
        if not len(t.schedule_kind):
            return ()
        named = (t.element_schedule[self.elements].ravel(), t.row_schedule[self.rows])
        return tuple(int(s) for s in np.concatenate(named) if s >= 0)

    @cached_property
    def controllers(self) -> Ints:
        """Numbers of the controllers that act: those of which any part that they drive does."""
        acting = {self.tables.force_names[k] for k in self.forces}
        some = enumerate(self.tables.drives)
        return np.array(
            [k for k, drives in some if any(drive.force in acting for drive in drives)],
            dtype=np.int64,
        )

    @cached_property
    def knots(self) -> Floats:
        """Times at which schedules of what acts have knots [s], rising; not those of commands,
        which controllers set."""
        t = self.tables
        if not self.schedules:
            return np.zeros(0)
        commanded = {s for some in t.drives for drive in some for s in t.commanded(drive)}
        leaves = [leaf for s in self.schedules if s not in commanded for leaf in t.leaves(s)]
        given = [t.knots(s) for s in leaves if t.schedule_kind[s] in (HOLD, LINEAR, SMOOTH)]
        times = [t.knot_time[knots] for knots in given]
        return np.unique(np.concatenate(times)) if times else np.zeros(0)

    @property
    def calm_after(self) -> float:
        """When the last schedule of what acts has come to its end [s]; inf: never."""
        return max(map(self.tables.calm_after, self.schedules), default=-math.inf)

    @cached_property
    def coordinates(self) -> Ints:
        """Numbers of the coordinates of the active joints."""
        return _ranges(self.tables.joint_coordinate, self.joints)

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the active joints."""
        return tuple(self.tables.joint_names[k] for k in self.joints)

    def once(self, make: Callable[[Selection], Value]) -> Value:
        """What a function makes of the rows that act, whatever their numbers: made once for all
        selections of the same rows.  It must not hold the selection in turn, so that both go as
        soon as nobody needs them."""
        return once(self.made_of_rows, make, self)

    @cached_property
    def made_of_rows(self) -> dict[Callable[..., Any], Any]:
        """What `once` keeps, by function."""
        return {}

    def once_here(self, make: Callable[[Selection], Value]) -> Value:
        """What a function makes of the rows that act and of their numbers: made once for this
        selection.  It must not hold the selection in turn."""
        return once(self.made_here, make, self)

    @cached_property
    def made_here(self) -> dict[Callable[..., Any], Any]:
        """What `once_here` keeps, by function."""
        return {}


def _row_numbers(noun: str, index: Mapping[str, int], names: Iterable[str] | None) -> Ints:
    """Names -> sorted row numbers; None stands for all."""
    if isinstance(names, str):
        raise PartError(
            f"select: {noun}s must be a list of names, not the text {names!r}; write [{names!r}]."
        )
    if names is None:
        return np.arange(len(index))
    wanted = frozenset(names)
    if not wanted <= index.keys():
        unknown, known = sorted(wanted - index.keys()), ", ".join(index) or "none"
        raise PartError(
            f"select: there is no {noun} {unknown[0]!r}; the {noun}s here are: {known}.",
            code="name",
        )
    return np.array(sorted([index[name] for name in wanted]), dtype=np.int64)


def _ranges(first: Ints, rows: Ints) -> Ints:
    """All k with first[row] <= k < first[row + 1], row by row."""
    ends = first.tolist()
    return np.array(
        [k for row in rows.tolist() for k in range(ends[row], ends[row + 1])], dtype=np.int64
    )
