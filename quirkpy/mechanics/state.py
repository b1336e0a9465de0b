"""`State`: all data from which a run can continue at one instant, and its interface for users."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Container, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from quirkpy.kernels.base.states import NO_TAIL, is_row
from quirkpy.kernels.tree.stops import REFUSED_BEYOND, latch_labels, stops_of
from quirkpy.kernels.users.modal import states_of
from quirkpy.kernels.users.packing import pack
from quirkpy.maths import quat
from quirkpy.maths.cached import cached_property
from quirkpy.maths.records import FrozenRecord
from quirkpy.maths.types import Floats, Ints, read_only
from quirkpy.maths.warnings import doubt_any
from quirkpy.mechanics import bending
from quirkpy.mechanics.controls import ControlState
from quirkpy.mechanics.instant import Instant
from quirkpy.mechanics.meeting import check_meeting
from quirkpy.mechanics.readings import BodyState, JointState, body_state
from quirkpy.mechanics.sections import Sections
from quirkpy.mechanics.sensing import read_sensor
from quirkpy.parts.checks import (
    not_negative,
    number,
    numbers,
    optional,
    real,
    show,
    text,
    texts,
    vector,
    whole_numbers,
)
from quirkpy.parts.part import PartError, UnknownName, check_argument
from quirkpy.tables.commands import have_same_parts
from quirkpy.tables.tables import ANGLE, Selection, Tables


def _holds(value: Any) -> tuple[tuple[str, tuple[float, ...]], ...]:
    """Names of locks, each with twelve numbers."""
    return tuple((text(name), tuple(numbers(twelve, (12,)))) for name, twelve in value)


#: The fields of a state that are not arrays, with the check of each.
PLAIN = (
    ("t", number), ("step", optional(not_negative)), ("bodies", texts), ("joints", texts),
    ("held", texts), ("here", _holds),
)  # fmt: skip
#: The arrays of a state that have a row for each moving body.
MOVING = ("r", "q", "v", "omega")


def are_rows(array: Floats) -> bool:
    """Whether an array holds rows of states (n, STATE_WIDTH)."""
    return bool(array.dtype == np.float64 and array.ndim == 2 and is_row(array.shape))


@dataclass(frozen=True, eq=False)
class State(FrozenRecord):
    """One instant: time, and per moving body (in the order of `bodies`) pose and velocity; whole
    turns of the joints.

    ``state["arm"].position`` reads a body, ``state["hinge"].angle`` a joint, and
    ``state.replace({"arm": dict(...)})`` gives another state.  Arrays are read-only."""

    t: float  # [s]
    bodies: tuple[str, ...]
    r: Floats  # mass centres in N [m] (n, 3)
    q: Floats  # w x y z, body to N (n, 4)
    v: Floats  # in N [m/s] (n, 3)
    omega: Floats  # body axes [rad/s] (n, 3)
    joints: tuple[str, ...]  # of each coordinate the joint's name, with its own where it has more
    windings: Ints  # whole turns of each coordinate that is an angle (n_coordinates,)
    selection: Selection | None = dataclasses.field(default=None, repr=False)
    step: float | None = None  # the next step of the integrator [s]; None: not known
    held: tuple[str, ...] = ()  # stops that hold their joints
    merged: Floats | None = None  # rows of clusters in which a run ended here; None: not known
    further: Floats = dataclasses.field(  # the tail of the state, as `StateLayout` has it (tail,)
        default_factory=lambda: NO_TAIL, repr=False
    )
    # for each lock of the present relative pose: its name, and the pose of its first site relative
    # to its first body: point [m] and axes, twelve numbers
    here: tuple[tuple[str, tuple[float, ...]], ...] = dataclasses.field(default=(), repr=False)
    controls: tuple[ControlState, ...] = dataclasses.field(default=(), repr=False)

    def __post_init__(self) -> None:
        """Refuse values that cannot belong to a state, whatever their source: a file, or a number
        that is not finite."""
        self._check_plain()
        self._check_arrays()
        super().__post_init__()
        self.check_numbers()

    def _check_plain(self) -> None:
        """Check the time, the step and the names, and convert them to plain types."""
        for name, check in PLAIN:
            try:
                self.__dict__[name] = check(self.__dict__[name])
            except (TypeError, ValueError) as error:
                raise PartError(f"State: {name} {error}.") from None

    def _check_arrays(self) -> None:
        """Refuse arrays with shapes that do not match the bodies and joints, or that are not
        numeric."""
        n = len(self.bodies)
        shapes = {"r": (n, 3), "q": (n, 4), "v": (n, 3), "omega": (n, 3)}
        for name, shape in {**shapes, "windings": (len(self.joints),)}.items():
            given = self._as_array(name)
            if given.shape != shape:
                raise PartError(
                    f"State: {name} has shape {given.shape}, but must have shape {shape}."
                )
        if self._as_array("further").ndim != 1:
            raise PartError("State: further must be a row of numbers, the tail of a state.")
        if self.merged is not None and not are_rows(self._as_array("merged")):
            raise PartError("State: merged must be None, or rows of states of clusters.")

    def _as_array(self, name: str) -> Any:
        """A field as an array of numbers, also if it was given as a list."""
        given = getattr(self, name)
        kind = np.int64 if name == "windings" else np.float64
        if isinstance(given, np.ndarray) and given.dtype == kind:
            return given
        return self._converted(name, given)

    def _converted(self, name: str, given: Any) -> Any:
        """A field of numbers as an array: whole turns as integers, all else as floats."""
        try:
            array = whole_numbers(given) if name == "windings" else real(given)
        except (TypeError, ValueError) as error:
            raise PartError(f"State: {name} {error}.") from None
        object.__setattr__(self, name, array)
        return array

    def check_numbers(self) -> None:
        """Refuse poses and velocities that are not finite."""
        with np.errstate(all="ignore"):
            total = self.r.sum() + self.q.sum() + self.v.sum() + self.omega.sum()
        for name in ("further", "merged"):
            rows = getattr(self, name)
            if rows is not None and rows.size and not np.isfinite(rows).all():
                raise PartError(
                    f"State: {name} is {show(rows.tolist())}, but every number must be finite."
                )
        if not math.isfinite(total):  # the sum may overflow though all terms are finite
            for name in MOVING:
                given = getattr(self, name)
                wrong = np.flatnonzero(~np.isfinite(given).all(axis=1))
                if len(wrong):
                    body, row = self.bodies[wrong[0]], tuple(given[wrong[0]].tolist())
                    raise PartError(
                        f"State: {name} of body {body!r} is {row}, but every number must be finite."
                    )

    def check_turns(self) -> None:
        """Refuse orientations that are not rotations."""
        for body, square in zip(self.bodies, (self.q * self.q).sum(axis=1).tolist(), strict=True):
            if not abs(square - 1.0) <= 2.0 * quat.UNIT_TOLERANCE:
                long = math.sqrt(square)
                raise PartError(
                    f"State: q of body {body!r} has length {long:.9g}, but must be a unit "
                    "quaternion."
                )

    @classmethod
    def written(cls, selection: Selection) -> State:
        """The poses and velocities of the bodies as defined, at t = 0."""
        t = selection.tables
        zero = np.zeros(len(t.coordinate_names), dtype=np.int64)
        zero.setflags(write=False)
        return cls.from_locked({
            **PLAIN_START, "bodies": t.body_names, "joints": t.coordinate_names, "windings": zero,
            "r": t.body_position, "q": t.body_quaternion, "v": t.body_velocity,
            "omega": t.body_omega, "selection": selection, "further": bending.unbent(t),
        })._between_stops(())  # fmt: skip

    def on(self, selection: Selection) -> State:
        """This instant for another selection or system: bodies are matched by name, and new ones
        are placed as defined.

        Whole turns are kept for joints that are active in both; a joint that becomes active anew
        has its angle between its stops."""
        t, old = selection.tables, self._whole_turns()
        bodies = self if self.bodies == t.body_names else self._placed_in(selection)
        windings = np.array([old.get(name, 0) for name in t.coordinate_names], dtype=np.int64)
        alike = have_same_parts(self.selection, selection)
        # Other active parts may pull away from a pressed stop; a latch continues to hold
        latched = () if alike or not self.held else self._latched_on(selection)
        step, held = (self.step, self.held) if alike else (None, latched)
        there = bodies.changed(
            t=self.t, joints=t.coordinate_names, windings=windings, selection=selection,
            step=step, held=held, merged=self.merged, here=self._held_here(selection),
            controls=self.controls,
            further=bending.tail_for(t, self.bodies, self.further, self.selection),
        )  # fmt: skip
        return there._between_stops(old)

    def _placed_in(self, selection: Selection) -> State:
        """The bodies of another system in their poses here; new ones as defined."""
        new = State.written(selection)
        arrays: dict[str, Any] = {name: np.array(getattr(new, name)) for name in MOVING}
        for row, name in enumerate(self.bodies):
            k = selection.tables.body_index.get(name)
            if k is not None and k < len(new.bodies):
                for field, array in arrays.items():
                    array[k] = getattr(self, field)[row]
        return new.changed(**arrays)

    def changed(self, **fields: Any) -> State:
        """This state with other fields that need no check, since they were computed or taken from
        another state."""
        for value in fields.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        own = vars(self)
        return State.from_locked({name: own[name] for name in STATE_FIELDS} | fields)

    def _held_here(self, selection: Selection) -> tuple[tuple[str, tuple[float, ...]], ...]:
        """The stored relative poses of locks that are active in another selection too."""
        return tuple(pair for pair in self.here if pair[0] in selection.joint_names)

    def _latched_on(self, selection: Selection) -> tuple[str, ...]:
        """The latches that hold and are active in another selection."""
        labels = latch_labels(selection, stops_of(selection, pack(selection.tables))[0])
        return tuple(label for label in self.held if label in labels)

    # --- reading ----------------------------------------------------------------------------------
    def __getitem__(self, name: str) -> Any:
        """`BodyState` of a body, `JointState` of a joint, `SensorState` of a sensor."""
        if name in self.bodies:
            k = self.bodies.index(name)
            motion = self.r[k], quat.from_array(self.q[k]), self.v[k], self.omega[k]
            if self.selection is None:
                return BodyState(*motion)
            bent = bending.modes_of(self.selection.tables, k, self.further)
            return body_state(motion, bent, self._sections(k) if bent else None)
        tables = self._tables(f"reading {name!r}")
        if name in tables.joint_index:
            return self._joint(tables.joint_index[name])
        for k, sensor in enumerate(tables.sensors):
            if sensor.name == name:
                return read_sensor(self.instant(), k)
        for body in tables.fixed:
            if body.name == name:
                return BodyState(
                    np.array(body.position), body.orientation, np.zeros(3), np.zeros(3)
                )
        raise UnknownName(
            f"no body, joint or sensor is called {name!r}; there are: "
            f"{', '.join(names_in(tables))}."
        )

    def _sections(self, k: int) -> Sections | None:
        tables = self._tables("section")
        return Sections.of(tables, k, partial(iter, (self.instant(),)), alone=True)

    def _ipython_key_completions_(self) -> list[str]:
        """The names that `state[...]` accepts."""
        return list(self.bodies if self.selection is None else names_in(self.selection.tables))

    def _joint(self, k: int) -> JointState:
        t = self._tables("reading a joint")
        which = np.arange(t.joint_coordinate[k], t.joint_coordinate[k + 1])
        return JointState.of(t.joints[k].coordinates, self.instant().coordinates(which))

    def instant(self, selection: Selection | None = None) -> Instant:
        """This state with the active parts, as arguments of the kernels."""
        chosen = self.selection if selection is None else selection
        if chosen is None:
            raise PartError(
                "this state belongs to no system; system.at(state).initial gives one that does.",
                code="together",
            )
        near = self.near
        # The state belongs to another system with the same bodies
        if self.joints != chosen.tables.coordinate_names:
            known = dict(zip(self.joints, near, strict=True))
            near = np.array([known.get(name, 0.0) for name in chosen.tables.coordinate_names])
        held, further = self.held, self.further
        return Instant(chosen, self.t, self.r, self.q, self.v, self.omega, near, held, further)

    @property
    def near(self) -> Floats:
        """The reference angle [rad] of each coordinate (n_coordinates,)."""
        return np.asarray(2.0 * math.pi * self.windings)

    @cached_property
    def angles(self) -> Floats:
        """The angles of all coordinates of its system, as `angles_of` has it; read-only."""
        return read_only(angles_of(self.instant()))

    def _tables(self, purpose: str) -> Tables:
        if self.selection is None:
            raise PartError(
                f"{purpose}: this state belongs to no system; system.at(state).initial gives one "
                "that does.",
                code="together",
            )
        return self.selection.tables

    # --- changing ---------------------------------------------------------------------------------
    def replace(
        self, changes: Mapping[str, Mapping[str, Any]] | None = None, *, t: float | None = None
    ) -> State:
        """A new state with some values exchanged: ``state.replace({"arm": dict(position=(1, 0,
        0))}, t=2.0)``.

        Keys of the inner dictionaries: position, orientation, velocity, angular_velocity, modes,
        mode_rates. An error where the ends of an active joint would no longer coincide. Angles are
        continuous: whole turns are chosen so that an angle is nearest to the old one."""
        arrays = self._change(changes or {})
        time = self.t if t is None else _time(t)
        new = dataclasses.replace(self, t=time, step=None, held=(), merged=None, **arrays)
        new = new._rewound(self)
        check_meeting(new.instant())
        return new

    def _change(self, changes: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Copies of the arrays of poses and velocities, with some values exchanged."""
        arrays: dict[str, Any] = {name: np.array(getattr(self, name)) for name in MOVING}
        if not isinstance(changes, Mapping):
            raise PartError(
                f"replace: {show(changes)} is no dict of bodies, such as {{'arm': "
                "dict(position=(1, 0, 0))}."
            )
        for name, values in changes.items():
            if name not in self.bodies:
                raise PartError(
                    f"replace: no moving body is called {name!r}; there are: "
                    f"{', '.join(self.bodies)}.",
                    code="name",
                )
            if not isinstance(values, Mapping):
                raise PartError(
                    f"replace: body {name!r} needs a dict of {', '.join(FIELDS)}, not "
                    f"{show(values)}."
                )
            k = self.bodies.index(name)
            for key, value in values.items():
                if key in bending.MODE_FIELDS:
                    given, tail = self._tables("replace"), arrays.get("further", self.further)
                    arrays["further"] = bending.with_modes(given, k, tail, key, value)
                else:
                    array, checked = _check_entry(name, key, value)
                    arrays[array][k] = checked
        return arrays

    def going_on(self, step: float, merged: Floats | None = None) -> State:
        """This state with the next step [s] of the integrator, and the rows of locked clusters."""
        return self.changed(step=step, merged=merged)

    def with_angles(self, angles: Floats) -> State:
        """This state with the whole turns that bring each angle to the given one [rad]
        (n_coordinates,)."""
        tables = self._tables("with_angles")
        shape = (len(self.joints),)
        given = np.array(
            check_argument("with_angles", "angles", angles, lambda told: numbers(told, shape))
        )
        turning = np.flatnonzero(tables.coordinate_kind == ANGLE)
        doubt_any("with_angles: an angle", given[turning].tolist())
        return self.next_to(given)

    def next_to(self, angles: Floats) -> State:
        """This state with the whole turns nearest to computed angles [rad] (n_coordinates,)."""
        turning = np.flatnonzero(self._tables("next_to").coordinate_kind == ANGLE)
        here = self.instant().coordinates(turning)[:, 0]
        more = np.rint((angles[turning] - here) / (2.0 * math.pi)).astype(np.int64)
        if not more.any():
            return self
        windings = np.array(self.windings)
        windings[turning] += more
        return self.changed(windings=windings)

    def _whole_turns(self) -> dict[str, int]:
        """Whole turns of the angles of active joints or, where the selection is not known, of all
        joints: the angle of an inactive joint has no meaning."""
        s = self.selection
        which = range(len(self.joints)) if s is None else s.coordinates.tolist()
        return {self.joints[c]: int(self.windings[c]) for c in which}

    def _between_stops(self, known: Container[str]) -> State:
        """The state with whole turns such that angles without known turns lie between their two
        stops, where these are no more than a turn apart: the angle nearest to zero, and of half a
        turn either way the positive one, so that rounding of the pose does not decide."""
        ranges = {} if self.selection is None else self.selection.turning_between
        new = [c for c in ranges if self.joints[c] not in known]
        if not new:
            return self
        windings = np.array(self.windings)
        angles = self.instant().coordinates(np.array(new))[:, 0].tolist()
        for c, angle in zip(new, angles, strict=True):
            windings[c] += _turns_between(angle, *ranges[c])
        return self.changed(windings=windings)

    def _rewound(self, old: State) -> State:
        """Whole turns such that each angle lies within half a turn of what it was."""
        return self.next_to(angles_of(old.instant()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        mine, theirs = self._values(), other._values()
        return mine[0] == theirs[0] and all(
            np.array_equal(a, b) for a, b in zip(mine[1:], theirs[1:], strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def _values(self) -> tuple[Any, ...]:
        return (
            (self.t, self.bodies, self.joints, self.held, self.here),
            self.r,
            self.q,
            self.v,
            self.omega,
            self.windings,
            self.further,
        )

    def __repr__(self) -> str:
        return f"State(t={self.t:.12g}, bodies={list(self.bodies)})"


#: The fields of states; quantities derived from a state are not passed on.
STATE_FIELDS = tuple(field.name for field in dataclasses.fields(State))
#: All fields but bodies and joints of an initial state at t = 0.
PLAIN_START: dict[str, Any] = {
    "t": 0.0, "step": None, "held": (), "merged": None, "further": NO_TAIL, "here": (),
    "controls": (),
}  # fmt: skip


def at_standstill(state: State) -> State:
    """A state in which nothing moves, with all poses and amounts of modes as they are."""
    further = state.further.copy()
    if further.size and state.selection is not None:
        states_of(state.selection.tables).speeds_in(further)[:] = 0.0
    still = np.zeros_like(state.v)
    return state.changed(v=still, omega=still.copy(), further=further)


def angles_of(at: Instant) -> Floats:
    """The angles of all coordinates [rad], whole turns included; 0 for other coordinates. With
    these as references the angles of neighbouring poses are continuous; with whole turns alone they
    may jump at half a turn."""
    turning = np.flatnonzero(at.selection.tables.coordinate_kind == ANGLE)
    angles = np.zeros(len(at.selection.tables.coordinate_kind))
    angles[turning] = at.coordinates(turning)[:, 0]
    return angles


def _turns_between(angle: float, lower: float, upper: float) -> int:
    """The least number of whole turns that brings an angle within -pi to pi between two stops
    [rad]; zero where none does."""
    turn = 2.0 * math.pi
    half = 1.0 if angle <= REFUSED_BEYOND - math.pi else 0.0
    least, most = (
        np.ceil((lower - REFUSED_BEYOND - angle) / turn),
        np.floor((upper + REFUSED_BEYOND - angle) / turn),
    )
    return int(min(max(half, least), most)) if least <= most else 0


#: User's name of a field of a body's state -> the array that holds it.
FIELDS = {"position": "r", "orientation": "q", "velocity": "v", "angular_velocity": "omega"}


def _check_entry(body: str, key: str, value: Any) -> tuple[str, Any]:
    """The array for a key of `State.replace`, and the checked value."""
    if key not in FIELDS:
        known = (*FIELDS, *bending.MODE_FIELDS)
        raise PartError(
            f"replace: {key!r} of body {body!r} is none of {', '.join(known)}.", code="name"
        )
    try:
        return FIELDS[key], quat.to_array(
            quat.unit_quaternion(value)
        ) if key == "orientation" else vector(value)
    except (TypeError, ValueError) as error:
        raise PartError(f"replace: {key} of body {body!r} {error}.") from None


def _time(value: Any) -> float:
    try:
        return number(value)
    except (TypeError, ValueError) as error:
        raise PartError(f"replace: t {error}.") from None


def names_in(t: Tables) -> tuple[str, ...]:
    """All names that a state or a run accepts; fixed bodies belong to a state."""
    return (
        *t.body_names,
        *(body.name for body in t.fixed),
        *t.joint_names,
        *(sensor.name for sensor in t.sensors),
    )
