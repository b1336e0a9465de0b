"""Parts -> tables: each part is lowered to its rows, and the rows are stacked."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from quirkpy.parts.body import GROUND, Body, Site
from quirkpy.parts.checks import Floats, Ints, Vector, shown
from quirkpy.parts.force import ELEMENT_KINDS, Element, Force
from quirkpy.parts.joint import BaseJoint, Freedom, GeneralJoint, Joint
from quirkpy.parts.part import Part, PartError
from quirkpy.parts.primitives import ROW_KINDS
from quirkpy.parts.schedule import Schedule
from quirkpy.parts.sensor import Sensor
from quirkpy.parts.triples import Nine
from quirkpy.tables.tables import (
    ANGLE,
    CALLBACK_ROW,
    ELEMENT_WIDTH,
    NO_COORDINATE,
    SLIDE,
    TRAVEL,
    TURN,
    Parameters,
    Tables,
)

AXIS_NUMBER = {"x": 0, "y": 1, "z": 2}
COORDINATE_NUMBER = {None: NO_COORDINATE, "angle": ANGLE, "travel": TRAVEL}
#: The fields of a body that a selection may change; a pose is state, not a parameter.
BODY_PARAMETERS = ("mass", "inertia")
#: The arrays that parameters write anew.
REWRITTEN = (
    "body_mass", "body_inertia", "site_point", "site_axes", "row_value", "element_numbers", "knot_time", "knot_value",
)  # fmt: skip


def compile(parts: Iterable[Part]) -> Tables:
    """All parts of a universe (candidates included) as frozen arrays."""
    listed = list(parts)
    bodies = [p for p in listed if isinstance(p, Body)]
    return _Builder(
        [b for b in bodies if not b.fixed],
        [b for b in bodies if b.fixed],
        [p for p in listed if isinstance(p, BaseJoint)],
        [p for p in listed if isinstance(p, Force)],
        [p for p in listed if isinstance(p, Sensor)],
    ).build()


class RowLines(NamedTuple):
    """The constraint rows of one joint, as columns of the row table."""

    kind: list[int]
    axis1: list[int]
    axis2: list[int]
    value: list[float]


def joint_lines(joint: BaseJoint) -> RowLines:
    """The scalar rows of a joint."""
    if isinstance(joint, Joint):
        rows = [row for primitive in joint.primitives() for row in primitive.rows()]
        return RowLines(
            [ROW_KINDS.index(r.kind) for r in rows], [r.axis1 for r in rows], [r.axis2 for r in rows],
            [r.value for r in rows],
        )  # fmt: skip
    assert isinstance(joint, GeneralJoint)
    m = len(joint.units)
    return RowLines([CALLBACK_ROW] * m, [0] * m, [0] * m, [0.0] * m)


def site_line(site: Site) -> tuple[Vector, Nine]:
    """Point and axes of a site; on a fixed body both in N."""
    return site.placed() if site.body.fixed else (site.at, site.axes9)


class _Builder:
    """Stacks rows while it walks over the parts."""

    def __init__(
        self, bodies: Sequence[Body], fixed: Sequence[Body], joints: Sequence[BaseJoint], forces: Sequence[Force],
        sensors: Sequence[Sensor],
    ) -> None:  # fmt: skip
        self.bodies, self.fixed, self.joints, self.forces, self.sensors = bodies, fixed, joints, forces, sensors
        self.body_row = {b.name: k for k, b in enumerate(bodies)}
        self.site_body: list[int] = []
        self.site_place: list[tuple[Vector, Nine]] = []
        self.schedules: list[Schedule] = []

    def build(self) -> Tables:
        fixed = self.fixed if GROUND in self.fixed else [*self.fixed, GROUND]
        blocks = {**self._bodies(), **self._joints(), **self._elements(), **self._sensors()}
        blocks |= {**self._sites(), **self._schedules()}  # last: the others have filled these lists
        return Tables(
            bodies=tuple(self.bodies), fixed=tuple(fixed), joints=tuple(self.joints), forces=tuple(self.forces),
            sensors=tuple(self.sensors), **blocks,
        )  # fmt: skip

    def add_site(self, site: Site | None) -> int:
        """Every use of a site has a row of its own, so that parameters can move it alone."""
        if site is None:
            return -1
        self.site_body.append(self.body_row.get(site.body.name, len(self.bodies)))
        self.site_place.append(site_line(site))
        return len(self.site_body) - 1

    def add_schedule(self, schedule: Schedule | None) -> int:
        if schedule is None:
            return -1
        self.schedules.append(schedule)
        return len(self.schedules) - 1

    def _bodies(self) -> dict[str, Any]:
        bodies = self.bodies
        return {
            "body_mass": floats([b.mass for b in bodies]),
            "body_inertia": floats([b.inertia_matrix for b in bodies], 3, 3),
            "body_position": floats([b.position for b in bodies], 3),
            "body_quaternion": floats([(q.w, q.x, q.y, q.z) for q in (b.orientation for b in bodies)], 4),
            "body_velocity": floats([b.velocity for b in bodies], 3),
            "body_omega": floats([b.angular_velocity for b in bodies], 3),
        }

    def _joints(self) -> dict[str, Any]:
        lines = [joint_lines(joint) for joint in self.joints]
        freedoms: list[tuple[Freedom, ...]] = [joint.freedoms or () for joint in self.joints]
        flat = [freedom for some in freedoms for freedom in some]
        coordinates = [joint.coordinate for joint in self.joints]
        return {
            "joint_site1": ints([self.add_site(joint.sites[0]) for joint in self.joints]),
            "joint_site2": ints([self.add_site(joint.sites[1]) for joint in self.joints]),
            "joint_row": offsets([len(line.kind) for line in lines]),
            "joint_coordinate": ints([COORDINATE_NUMBER[c] for c in coordinates]),
            "joint_freedom": offsets([len(some) for some in freedoms]),
            "joint_in_tree": np.array([joint.freedoms is not None for joint in self.joints], dtype=bool),
            "freedom_kind": ints([TURN if f.kind == "turn" else SLIDE for f in flat]),
            "freedom_axis": ints([AXIS_NUMBER[f.axis] for f in flat]),
            "row_kind": ints([k for line in lines for k in line.kind]),
            "row_joint": ints([j for j, line in enumerate(lines) for _ in line.kind]),
            "row_axis1": ints([a for line in lines for a in line.axis1]),
            "row_axis2": ints([a for line in lines for a in line.axis2]),
            "row_value": floats([v for line in lines for v in line.value]),
        }

    def _elements(self) -> dict[str, Any]:
        joint_row = {joint.name: k for k, joint in enumerate(self.joints)}
        made = [force.elements() for force in self.forces]
        elements = [element for some in made for element in some]
        return {
            "force_element": offsets([len(some) for some in made]),
            "element_kind": ints([ELEMENT_KINDS.index(e.kind) for e in elements]),
            "element_force": ints([f for f, some in enumerate(made) for _ in some]),
            "element_site1": ints([self.add_site(e.site1) for e in elements]),
            "element_site2": ints([self.add_site(e.site2) for e in elements]),
            "element_site3": ints([self.add_site(e.site3) for e in elements]),
            "element_joint": ints([-1 if e.joint is None else joint_row[e.joint.name] for e in elements]),
            "element_numbers": floats([padded(e) for e in elements], ELEMENT_WIDTH),
            "element_schedule": ints([[self.add_schedule(s) for s in e.schedules] for e in elements]).reshape(-1, 2),
        }

    def _sensors(self) -> dict[str, Any]:
        sensors = self.sensors
        accepts = [[b.kind in a.accepts and a.kind in b.accepts for b in sensors] for a in sensors]
        return {
            "sensor_site": ints([self.add_site(s.site) for s in sensors]),
            "sensor_accepts": np.array(accepts, dtype=bool).reshape(len(sensors), len(sensors)),
            "sensor_reach": floats([s.reach for s in sensors]),
            "sensor_alignment": floats([s.alignment for s in sensors]),
            "sensor_roll": floats([s.roll or 0.0 for s in sensors]),
        }

    def _sites(self) -> dict[str, Any]:
        return {
            "site_body": ints(self.site_body),
            "site_point": floats([point for point, _ in self.site_place], 3),
            "site_axes": floats([axes for _, axes in self.site_place], 9),
        }

    def _schedules(self) -> dict[str, Any]:
        return {
            "schedule_knot": offsets([len(s.times) for s in self.schedules]),
            "schedule_linear": np.array([s.interpolation == "linear" for s in self.schedules], dtype=bool),
            "knot_time": floats([t for s in self.schedules for t in s.times]),
            "knot_value": floats([v for s in self.schedules for v in s.values], 3),
        }


def rewrite(tables: Tables, parameters: Parameters) -> Tables:
    """The same tables with the rows of some parts written anew, in place of the old ones."""
    if not isinstance(parameters, Mapping):
        raise PartError(f"parameters: {shown(parameters)} is not a dict, such as {{'pull': {{'stiffness': 0.1}}}}.")
    arrays = {name: getattr(tables, name).copy() for name in REWRITTEN}
    lists: dict[str, list[Any]] = {name: list(getattr(tables, name)) for name in ("bodies", "joints", "forces")}
    for name, changes in parameters.items():
        if name in tables.joint_index:
            k = tables.joint_index[name]
            lists["joints"][k] = _rewrite_joint(tables, arrays, k, _changed(tables.joints[k], changes))
        elif name in tables.force_index:
            k = tables.force_index[name]
            lists["forces"][k] = _rewrite_force(tables, arrays, k, _changed(tables.forces[k], changes))
        elif name in tables.body_names:
            k = tables.body_index[name]
            lists["bodies"][k] = _rewrite_body(arrays, k, tables.bodies[k], changes)
        else:
            raise PartError(f"parameters: there is no moving body, joint or force {name!r} in these tables.")
    parts: dict[str, Any] = {name: tuple(some) for name, some in lists.items()}
    return dataclasses.replace(tables, **arrays, **parts)


def _changed(part: Any, changes: Any) -> Any:
    """The part with some fields changed; it checks itself as when it was first made."""
    known = {field.name for field in dataclasses.fields(part) if field.init}
    _check_changes(part, changes)
    unknown = sorted(set(changes) - (known - {"name"}))
    if unknown:
        raise part.refuse(
            f"there is no parameter {unknown[0]!r}; its parameters are: {', '.join(sorted(known - {'name'}))}."
        )
    return dataclasses.replace(part, **changes)


def _check_changes(part: Part, changes: Any) -> None:
    if not isinstance(changes, Mapping):
        raise part.refuse(f"its parameters are {shown(changes)}, but must be a dict, such as {{'mass': 2.0}}.")


def _rewrite_body(arrays: dict[str, Any], row: int, body: Body, changes: Any) -> Body:
    _check_changes(body, changes)
    unknown = sorted(set(changes) - set(BODY_PARAMETERS))
    if unknown:
        raise body.refuse(f"{unknown[0]!r} cannot change with a selection; only {' and '.join(BODY_PARAMETERS)} can.")
    new: Body = dataclasses.replace(body, **changes)
    arrays["body_mass"][row], arrays["body_inertia"][row] = new.mass, new.inertia_matrix
    return new


def _rewrite_site(arrays: dict[str, Any], row: int, site: Site | None) -> None:
    if site is not None:
        arrays["site_point"][row], arrays["site_axes"][row] = site_line(site)


def _rewrite_joint(tables: Tables, arrays: dict[str, Any], k: int, new: BaseJoint) -> BaseJoint:
    _same_ends(tables.joints[k], [b.name for b in tables.joints[k].bodies], [b.name for b in new.bodies])
    for row, site in zip((tables.joint_site1[k], tables.joint_site2[k]), new.sites, strict=True):
        _rewrite_site(arrays, row, site)
    lines, mine = joint_lines(new), slice(tables.joint_row[k], tables.joint_row[k + 1])
    _same_ends(tables.joints[k], joint_lines(tables.joints[k])[:3], lines[:3])
    arrays["row_value"][mine] = lines.value
    return new


def _rewrite_force(tables: Tables, arrays: dict[str, Any], k: int, new: Force) -> Force:
    rows = range(tables.force_element[k], tables.force_element[k + 1])
    old = tables.forces[k].elements()
    elements = new.elements()
    _same_ends(tables.forces[k], [_ends(e) for e in old], [_ends(e) for e in elements])
    for row, element in zip(rows, elements, strict=True):
        _rewrite_site(arrays, tables.element_site1[row], element.site1)
        _rewrite_site(arrays, tables.element_site2[row], element.site2)
        _rewrite_site(arrays, tables.element_site3[row], element.site3)
        arrays["element_numbers"][row] = padded(element)
        for schedule, s in zip(element.schedules, tables.element_schedule[row], strict=True):
            if schedule is not None:
                knots = slice(tables.schedule_knot[s], tables.schedule_knot[s + 1])
                arrays["knot_time"][knots], arrays["knot_value"][knots] = schedule.times, schedule.values
    return new


def _ends(element: Element) -> tuple[Any, ...]:
    """What a parameter may not change about an element: its kind, its bodies, its joint, its number of knots."""
    sites = tuple(None if s is None else s.body.name for s in (element.site1, element.site2, element.site3))
    knots = tuple(None if s is None else (len(s.times), s.interpolation) for s in element.schedules)
    return element.kind, sites, element.joint and element.joint.name, knots


def _same_ends(part: Part, before: Any, after: Any) -> None:
    if before != after:
        raise part.refuse(
            "a parameter changes numbers, not what the part acts on (bodies, joint, primitives, number of knots); "
            "write a part of its own for that."
        )


def padded(element: Element) -> list[float]:
    """The numbers of an element, filled up with zeros."""
    return [*element.numbers, *[0.0] * (ELEMENT_WIDTH - len(element.numbers))]


def floats(rows: Sequence[Any], *shape: int) -> Floats:
    """Rows of the given shape, also when there are none."""
    array = np.array(rows, dtype=float)
    return array.reshape(len(rows), *shape) if shape else array


def ints(rows: Sequence[Any]) -> Ints:
    """Whole numbers, also when there are none."""
    return np.array(rows, dtype=np.int64)


def offsets(counts: Sequence[int]) -> Ints:
    """Where each block begins, and where the last one ends."""
    return ints([0, *accumulate(counts)])
