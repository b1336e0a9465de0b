"""Quantities of parts along a run, by name: joints, forces, groups of bodies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from quirkpy.kernels.act.measures import COORDINATE_NUMBER, STATE_NUMBER
from quirkpy.kernels.base.states import NO_TAIL, quantities_of, speeds_of
from quirkpy.kernels.users.modal import points_of
from quirkpy.maths import quat
from quirkpy.maths.cached import cached_property
from quirkpy.maths.types import Bools, Floats, Ints
from quirkpy.mechanics.courses import centres_along, inertias_along, momenta_along
from quirkpy.mechanics.impulses import Impact, impacts
from quirkpy.mechanics.instant import Instant
from quirkpy.mechanics.measures import WXYZ, XYZ, Portion, measures_in
from quirkpy.mechanics.system import System
from quirkpy.motion.course import ControlRecord, Jump
from quirkpy.parts.part import PartError
from quirkpy.tables.tables import Selection, Tables

#: Component names of quantities outside the list of measures, by shape.
PARTS: dict[tuple[int, ...], tuple[str, ...]] = {(): (), (3,): XYZ}
#: How names end that are orientations.
TURNS = ".orientation"


class Measured(Protocol):
    """A run with quantities that can be measured along it by name."""

    t: Floats
    system: System

    def measure(self, name: str) -> Floats:
        """The quantity with a given name, at each stored time."""


@dataclass(frozen=True, eq=False)
class JointCourse:
    """A joint along a run: its angle [rad], its travel or length [m] and rate at each stored time
    (k,); None where it has none, (k, n) where it has several (see `JointState`). reaction: force
    [N] and torque [N m] on its second body, at its site, in N (k, 6); load: the reaction in the
    axes of its first site; gap: the largest residual of its rows [m], [rad] or, of cosines, [1]
    (k,). While the joint is inactive they are zero."""

    angle: Any
    travel: Any
    rate: Any
    run: Measured
    name: str

    @cached_property
    def reaction(self) -> Floats:
        """Force [N] and torque [N m] on its second body, at its site, in N (k, 6)."""
        return self.run.measure(f"{self.name}.reaction")

    @cached_property
    def load(self) -> Floats:
        """Force [N] and torque [N m] of the joint at each row, in its own axes (k, 6)."""
        return self.run.measure(f"{self.name}.load")

    @cached_property
    def gap(self) -> Floats:
        """The largest residual of its rows at each row of the run (k,)."""
        return self.run.measure(f"{self.name}.gap")

    @cached_property
    def press(self) -> Floats:
        """The force with which a coordinate presses on the joint's own bound, as that of a rope [N]
        (k,)."""
        return self.run.measure(f"{self.name}.press")


@dataclass(frozen=True, eq=False)
class ForceCourse:
    """A force along a run, at each stored time; zero while it is inactive.

    load: the generalized force on its coordinate [N m] or [N] (k,); for other forces force [N] and
    torque [N m] about the mass centre, in N, on its body, or on the second of two (k, 6), or on
    each moving body (k, n, 6). energy [J] (k,). For a spring or damper between two points length
    [m] and tension [N] (k,); for a stop press, the force of its coordinate on it [N m] or [N]
    (k,)."""

    run: Measured
    name: str

    @property
    def load(self) -> Floats:
        """Load along its coordinate, or on bodies, as the class says."""
        return self.run.measure(f"{self.name}.load")

    @property
    def energy(self) -> Floats:
        """Potential energy of the force [J] (k,)."""
        return self.run.measure(f"{self.name}.energy")

    @property
    def length(self) -> Floats:
        """Distance of its two points [m] (k,)."""
        return self.run.measure(f"{self.name}.length")

    @property
    def tension(self) -> Floats:
        """The tension between its two points [N] (k,)."""
        return self.run.measure(f"{self.name}.tension")

    @property
    def press(self) -> Floats:
        """The generalized force with which a coordinate presses on its bounds [N m] or [N] (k,)."""
        return self.run.measure(f"{self.name}.press")


@dataclass(frozen=True, eq=False)
class LatchCourse:
    """A latch along a run: whether it holds at each stored time (k,)."""

    held: Bools

    @classmethod
    def of(cls, name: str, stops: Sequence[str], held: Bools, rows: int) -> LatchCourse:
        """The course of a latch, from the stops that hold at each row (k, ns), by their labels: it
        holds where one of its two sides does."""
        mine = [label.rsplit(" ", 1)[0] == name for label in stops]
        if not any(mine):
            return cls(np.zeros(rows, dtype=bool))
        return cls(np.asarray(held[:, mine].any(axis=1)))


@dataclass(frozen=True, eq=False)
class ControllerCourse:
    """A controller along a run: the times of its samples [s] (m,); what it measured there, and its
    commands from there on, by name, each (m,) or (m, 3), orientations as quaternions (m,)."""

    name: str
    t: Floats
    measured: dict[str, Any]
    command: dict[str, Floats]

    @classmethod
    def of(cls, record: ControlRecord) -> ControllerCourse:
        """The course of a controller, from its record."""
        measured = zip(record.reads, record.measured, strict=True)
        told = {name: _give_turns(name, values) for name, values in measured}
        return cls(
            record.name, record.t, told, dict(zip(record.drives, record.command, strict=True))
        )


def read_record(records: Sequence[ControlRecord], name: str, t: Floats) -> Floats | None:
    """The last measured value or command of a controller at each time, "pd.wheel.torque", zero
    before its first sample; None where a name is neither."""
    for record in records:
        told = name.removeprefix(f"{record.name}.")
        columns = dict(zip(record.reads, record.measured, strict=True))
        columns |= dict(zip(record.drives, record.command, strict=True))
        if told != name and told in columns:
            before = np.zeros((1, *columns[told].shape[1:]))
            which = np.searchsorted(record.t, t, side="right")
            return np.asarray(np.concatenate([before, columns[told]])[which])
    return None


def _give_turns(name: str, values: Floats) -> Any:
    """Orientations as quaternions; all other values unchanged."""
    return quat.from_array(values) if name.endswith(TURNS) else values


def impacts_of(jumps: Sequence[Jump], selection: Selection, near: Floats) -> tuple[Impact, ...]:
    """The contribution of each joint and stop to jumps of velocities, for a selection; near:
    reference angles of coordinates [rad] (nc,)."""
    found: list[Impact] = []
    for jump in jumps:
        points = points_of(selection.tables)
        tail = points.tails(jump.after) if len(points.owners) else NO_TAIL
        bodies = quantities_of(points.bodies(jump.after))
        at = Instant(selection, jump.t, *bodies, near, jump.held, tail)
        found += impacts(at, points.flat(speeds_of(jump.before), -1))
    return tuple(found)


class BodyGroup:
    """Some bodies of a run taken together, at each stored time: mass [kg], centre_of_mass [m] (k,
    3), inertia about it, in N [kg m2] (k, 3, 3), momentum [kg m/s] and angular_momentum about the
    origin of N [kg m2/s] (k, 3)."""

    def __init__(self, of: Portion, which: Ints) -> None:
        self.tables, self.which = of.selection.tables, which
        self._rows = of.selection, which, of.states, of.tails

    @classmethod
    def of(cls, portion: Portion, names: Sequence[str]) -> BodyGroup:
        """Moving bodies by their names; all of them without names."""
        tables = portion.selection.tables
        index, bodies = tables.body_index, tables.body_names
        for name in names:
            if name not in bodies:
                raise PartError(
                    f"group: no moving body is called {name!r}; there are: {', '.join(bodies)}.",
                    code="name",
                )
        which = np.array([index[name] for name in names or bodies], dtype=np.int64)
        return cls(portion, which)

    @property
    def mass(self) -> float:
        """Total mass [kg]."""
        return float(self.tables.body_mass[self.which].sum())

    @cached_property
    def centre_of_mass(self) -> Floats:
        """Mass centre in N [m] (k, 3)."""
        return centres_along(*self._rows)

    @cached_property
    def inertia(self) -> Floats:
        """Inertia about the mass centre, in N [kg m2] (k, 3, 3)."""
        return inertias_along(*self._rows)

    @property
    def momentum(self) -> Floats:
        """Sum of m v, in N [kg m/s] (k, 3)."""
        return momenta_along(*self._rows)[0]

    @property
    def angular_momentum(self) -> Floats:
        """Angular momentum about the origin of N [kg m2/s] (k, 3)."""
        return momenta_along(*self._rows)[1]


def table_of(run: Measured, names: Sequence[str] | None) -> dict[str, Floats]:
    """The time "t" and the quantities with given names; None: bodies, coordinates of joints and
    energies."""
    if isinstance(names, str):
        raise PartError(f"table: names is {names!r}, but must be a list, such as [{names!r}].")
    chosen = usual_names(run.system.tables) if names is None else names
    return {"t": run.t} | {name: run.measure(name) for name in chosen}


def columns_of(run: Measured, names: Sequence[str] | None) -> dict[str, Floats]:
    """The values of `table_of` as plain columns, one for each number."""
    known, columns = measures_in(run.system.tables), dict[str, Floats]()
    for name, values in table_of(run, names).items():
        parts = known[name].parts if name in known else _parts_told(name, values.shape[1:])
        flat = values.reshape(len(values), -1).T
        titles = [f"{name}.{part}" for part in parts] if parts else [name]
        columns |= {title: flat[k] for k, title in enumerate(titles)}
    return columns


def _parts_told(name: str, shape: tuple[int, ...]) -> tuple[str, ...]:
    """Names of the components of what a controller measured or commanded."""
    if name.endswith(TURNS):
        return WXYZ
    return PARTS[shape] if shape in PARTS else tuple(map(str, range(math.prod(shape))))


def usual_names(tables: Tables) -> list[str]:
    """The names of poses, bending, coordinates and energies."""
    moving = [
        name
        for name, found in measures_in(tables).items()
        if any(line[0] in (STATE_NUMBER, COORDINATE_NUMBER) for line in found.lines)
        or name.endswith((".modes", ".tip"))
    ]
    return [*moving, "kinetic", "potential", "work", "dissipated"]
