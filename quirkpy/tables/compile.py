"""Parts -> tables: each part is converted to rows, and the rows are stacked."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from quirkpy.maths.triples import Nine
from quirkpy.maths.types import Floats, Ints, Vector
from quirkpy.parts.body import GROUND, Body, Site
from quirkpy.parts.checks import show
from quirkpy.parts.controller import WIRING, Controller
from quirkpy.parts.force import ELEMENT_KINDS, Element, Force
from quirkpy.parts.formulas import CompiledFunction, flat
from quirkpy.parts.joint import BaseJoint, Freedom, GeneralJoint, Joint, Relation, stands_alone
from quirkpy.parts.part import Part, PartError
from quirkpy.parts.plasticity import with_plasticity
from quirkpy.parts.primitives import ROW_KINDS
from quirkpy.parts.schedule import INTERPOLATIONS, Ramp, Schedule, Sine, TimeFunction
from quirkpy.parts.sensor import Sensor
from quirkpy.tables.drives import drive_forces, renew_drives
from quirkpy.tables.tables import (
    ANGLE,
    BOTH_WAYS,
    CALLBACK_ROW,
    ELEMENT_WIDTH,
    FORMULA,
    LENGTH,
    NOT_IN_TREE,
    ONWARDS,
    PRODUCT,
    RAMP,
    RELATION_ROW,
    SCREW,
    SINE,
    SLIDE,
    SUM,
    TRAVEL,
    TURN,
    Parameters,
    Tables,
)

AXIS_NUMBER = {"x": 0, "y": 1, "z": 2}
FREEDOM_NUMBER = {"turn": TURN, "slide": SLIDE, "screw": SCREW}
COORDINATE_NUMBER = {"angle": ANGLE, "travel": TRAVEL, "length": LENGTH}
#: The fields of a body that a selection may change; a pose is state, not a parameter.
BODY_PARAMETERS = ("mass", "inertia")
#: The arrays that depend on parameters.
REWRITTEN = (
    "body_mass", "body_inertia", "site_point", "site_axes", "row_value", "row_factor",
    "element_numbers", "knot_time", "knot_value",
)  # fmt: skip


def compile(parts: Iterable[Part]) -> Tables:
    """All parts, candidates included, as frozen arrays."""
    listed = with_plasticity(parts)
    bodies = [p for p in listed if isinstance(p, Body)]
    return _Builder(
        [b for b in bodies if not b.fixed],
        [b for b in bodies if b.fixed],
        [p for p in listed if isinstance(p, BaseJoint)],
        [p for p in listed if isinstance(p, Force)],
        [p for p in listed if isinstance(p, Sensor)],
        [p for p in listed if isinstance(p, Controller)],
    ).build()


class RowLine(NamedTuple):
    """A line of the row table; for a relation axis1 and axis2 are its coordinates, by joint and
    name."""

    kind: int
    axis1: Any
    axis2: Any
    value: float
    factor: float = 0.0
    schedule: TimeFunction | None = None


def joint_lines(joint: BaseJoint) -> list[RowLine]:
    """The scalar rows of a joint: its own equations, and then its relations."""
    lines: list[RowLine] = []
    if isinstance(joint, Joint):
        rows = [row for primitive in joint.primitives() for row in primitive.rows()]
        lines += [RowLine(ROW_KINDS.index(r.kind), r.axis1, r.axis2, r.value) for r in rows]
    elif isinstance(joint, GeneralJoint):
        lines += [RowLine(CALLBACK_ROW, 0, 0, 0.0)] * len(joint.units)
    return lines + [relation_line(relation) for relation in joint.relations()]


def relation_line(r: Relation) -> RowLine:
    """A relation as one line of the row table."""
    one, two = (None if pair is None else (pair[0].name, pair[1]) for pair in (r.first, r.second))
    schedule = r.motion if isinstance(r.motion, TimeFunction) else None
    return RowLine(RELATION_ROW, one, two, r.value, r.factor, schedule)


def in_tree(joint: BaseJoint) -> int:
    """Which body can be the child of which in a tree: freedoms refer to the axes of site 1, and
    rotations also to those of site 2; a screw, or a cross of two rotations, may be used in either
    direction, but not combined with others."""
    freedoms = joint.freedoms
    if freedoms is None or stands_alone(freedoms):
        return NOT_IN_TREE if freedoms is None else BOTH_WAYS
    turns = {f.axis for f in freedoms if f.kind == "turn"}
    slides = {f.axis for f in freedoms if f.kind == "slide"}
    across = {"x", "y", "z"} - turns if len(turns) == 1 else set[str]()
    even = not turns or len(slides) in (0, 3) or (len(turns) == 1 and slides in (turns, across))
    return BOTH_WAYS if even else ONWARDS


def site_line(site: Site) -> tuple[Vector, Nine]:
    """Point and axes of a site; for a fixed body both in N."""
    return site.placed() if site.body.fixed else (site.at, site.axes9)


class _Builder:
    """Stacks the rows of all parts."""

    def __init__(
        self, bodies: Sequence[Body], fixed: Sequence[Body], joints: Sequence[BaseJoint],
        forces: Sequence[Force], sensors: Sequence[Sensor], controllers: Sequence[Controller],
    ) -> None:  # fmt: skip
        self.bodies, self.fixed, self.joints, self.forces, self.sensors = (
            bodies,
            fixed,
            joints,
            forces,
            sensors,
        )
        self.controllers = controllers
        self.driven, self.drives = drive_forces(controllers, forces, joints)
        self.body_row = {b.name: k for k, b in enumerate(bodies)}
        self.joint_row = {joint.name: k for k, joint in enumerate(joints)}
        pairs = [(joint.name, c.name) for joint in joints for c in joint.coordinates]
        self.coordinate_row: dict[Any, int] = {None: -1} | {pair: k for k, pair in enumerate(pairs)}
        self.site_body: list[int] = []
        self.site_place: list[tuple[Vector, Nine]] = []
        self.schedules: list[ScheduleLine] = []

    def build(self) -> Tables:
        fixed = self.fixed if GROUND in self.fixed else [*self.fixed, GROUND]
        blocks = {**self._bodies(), **self._joints(), **self._elements(), **self._sensors()}
        blocks |= {**self._sites(), **self._schedules()}  # last: the others have filled these lists
        return Tables(
            bodies=tuple(self.bodies), fixed=tuple(fixed), joints=tuple(self.joints),
            forces=tuple(self.forces), sensors=tuple(self.sensors),
            controllers=tuple(self.controllers), drives=self.drives, **blocks,
        )  # fmt: skip

    def add_site(self, site: Site | None) -> int:
        """A new row for every use of a site, so that parameters can move it separately."""
        if site is None:
            return -1
        self.site_body.append(self.body_row.get(site.body.name, len(self.bodies)))
        self.site_place.append(site_line(site))
        return len(self.site_body) - 1

    def add_schedule(self, function: TimeFunction | None) -> int:
        if function is None:
            return -1
        self.schedules += schedule_lines(function, len(self.schedules))
        return len(self.schedules) - 1

    def _bodies(self) -> dict[str, Any]:
        bodies = self.bodies
        return {
            "body_mass": floats([b.mass for b in bodies]),
            "body_inertia": floats([b.inertia_matrix for b in bodies], 3, 3),
            "body_position": floats([b.position for b in bodies], 3),
            "body_quaternion": floats(
                [(q.w, q.x, q.y, q.z) for q in (b.orientation for b in bodies)], 4
            ),
            "body_velocity": floats([b.velocity for b in bodies], 3),
            "body_omega": floats([b.angular_velocity for b in bodies], 3),
        }

    def _joints(self) -> dict[str, Any]:
        freedoms: list[tuple[Freedom, ...]] = [joint.freedoms or () for joint in self.joints]
        flat = [freedom for some in freedoms for freedom in some]
        return {
            "joint_site1": ints([self.add_site(joint.sites[0]) for joint in self.joints]),
            "joint_site2": ints([self.add_site(joint.sites[1]) for joint in self.joints]),
            "joint_freedom": offsets([len(some) for some in freedoms]),
            "joint_in_tree": ints([in_tree(joint) for joint in self.joints]),
            "joint_needs": ints([self._needs(joint) for joint in self.joints]).reshape(-1, 2),
            "freedom_kind": ints([FREEDOM_NUMBER[f.kind] for f in flat]),
            "freedom_axis": ints([AXIS_NUMBER[f.axis] for f in flat]),
            "freedom_site": ints([f.site - 1 for f in flat]),
            **self._coordinates(),
            **self._rows(),
        }

    def _needs(self, joint: BaseJoint) -> list[int]:
        """The other joints on whose coordinates it acts."""
        pairs = [
            pair for r in joint.relations() for pair in (r.first, r.second) if pair is not None
        ]
        others = [
            self.joint_row[name]
            for name in dict.fromkeys(p[0].name for p in pairs)
            if name != joint.name
        ]
        return [*others, -1, -1][:2]

    def _coordinates(self) -> dict[str, Any]:
        made = [joint.coordinates for joint in self.joints]
        flat = [coordinate for some in made for coordinate in some]
        return {
            "joint_coordinate": offsets([len(some) for some in made]),
            "coordinate_joint": ints([j for j, some in enumerate(made) for _ in some]),
            "coordinate_kind": ints([COORDINATE_NUMBER[c.kind] for c in flat]),
            "coordinate_axis": ints([AXIS_NUMBER[c.axis] for c in flat]),
            "coordinate_site": ints([c.site - 1 for c in flat]),
        }

    def _rows(self) -> dict[str, Any]:
        made = [joint_lines(joint) for joint in self.joints]
        lines, number = [line for some in made for line in some], self.coordinate_row
        return {
            "joint_row": offsets([len(some) for some in made]),
            "row_kind": ints([line.kind for line in lines]),
            "row_joint": ints([j for j, some in enumerate(made) for _ in some]),
            "row_axis1": ints([number.get(line.axis1, line.axis1) for line in lines]),
            "row_axis2": ints([number.get(line.axis2, line.axis2) for line in lines]),
            "row_schedule": ints([self.add_schedule(line.schedule) for line in lines]),
            "row_value": floats([line.value for line in lines]),
            "row_factor": floats([line.factor for line in lines]),
        }

    def _elements(self) -> dict[str, Any]:
        """The elements of the forces first, then those of the joints."""
        forces = [self.driven.get(force.name, force) for force in self.forces]
        made = [force.elements_among(self.joints) for force in forces]
        own = [joint.elements() for joint in self.joints]
        elements = [element for some in (*made, *own) for element in some]
        first = sum(map(len, made))
        return {
            "force_element": offsets([len(some) for some in made]),
            "joint_element": first + offsets([len(some) for some in own]),
            "element_kind": ints([ELEMENT_KINDS.index(e.kind) for e in elements]),
            "element_force": ints(
                [f for f, some in enumerate(made) for _ in some] + [-1] * (len(elements) - first)
            ),
            "element_site1": ints([self.add_site(e.site1) for e in elements]),
            "element_site2": ints([self.add_site(e.site2) for e in elements]),
            "element_site3": ints([self.add_site(e.site3) for e in elements]),
            "element_joint": ints(
                [-1 if e.joint is None else self.joint_row[e.joint.name] for e in elements]
            ),
            "element_coordinate": ints([self.coordinate_row[coordinate_of(e)] for e in elements]),
            "element_numbers": floats([pad(e) for e in elements], ELEMENT_WIDTH),
            "element_schedule": ints(
                [[self.add_schedule(s) for s in e.schedules] for e in elements]
            ).reshape(-1, 2),
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
            "schedule_kind": ints([s.kind for s in self.schedules]),
            "schedule_parts": ints([s.parts for s in self.schedules]).reshape(-1, 2),
            "schedule_formula": tuple(s.formula for s in self.schedules),
            "knot_time": floats([t for s in self.schedules for t in s.times]),
            "knot_value": floats([v for s in self.schedules for v in s.values], 3),
        }


def rewrite(tables: Tables, parameters: Parameters) -> Tables:
    """Tables with the rows of some parts replaced."""
    arrays, parts = rewrite_arrays(tables, parameters)
    kinds = "bodies", "joints", "forces", "controllers"
    lists = {name: list(getattr(tables, name)) for name in kinds}
    for name, k, part in parts:
        lists[name][k] = part
    changed: dict[str, Any] = {name: tuple(some) for name, some in lists.items()}
    made = dataclasses.replace(tables, **arrays, **changed)
    return _rewrite_drives(made) if made.controllers else made


def _rewrite_drives(t: Tables) -> Tables:
    """Tables after a change of the numbers of forces, with the values before the first commands."""
    made, values = renew_drives(t.drives, t.forces, t.joints), t.knot_value.copy()
    for drive in (drive for some in made for drive in some):
        value = np.atleast_1d(t.forces[t.force_index[drive.force]].value_of(drive.field))
        for s, matrix in zip(t.commanded(drive), drive.matrices, strict=True):
            values[t.knots(s)] = matrix @ value
    return dataclasses.replace(t, knot_value=values, drives=made)


def rewrite_arrays(
    tables: Tables, parameters: Parameters
) -> tuple[dict[str, Any], list[tuple[str, int, Part]]]:
    """The arrays that depend on parameters; and the new parts, each with its list and its position
    there."""
    if not isinstance(parameters, Mapping):
        raise PartError(
            f"parameters: {show(parameters)} is not a dict, such as "
            f"{{'pull': {{'stiffness': 0.1}}}}."
        )
    arrays = {name: getattr(tables, name).copy() for name in REWRITTEN}
    return arrays, [_rewrite_part(tables, arrays, *change) for change in parameters.items()]


def _rewrite_part(tables: Tables, arrays: Any, name: str, changes: Any) -> tuple[str, int, Part]:
    """Replace the rows of one joint, force, body or controller, given by its name."""
    if name in tables.joint_index:
        k = tables.joint_index[name]
        return "joints", k, _rewrite_joint(tables, arrays, k, _change(tables.joints[k], changes))
    if name in tables.force_index:
        k = tables.force_index[name]
        return "forces", k, _rewrite_force(tables, arrays, k, _change(tables.forces[k], changes))
    if name in tables.body_names:
        k = tables.body_index[name]
        return "bodies", k, _rewrite_body(arrays, k, tables.bodies[k], changes)
    for k, controller in enumerate(tables.controllers):
        if controller.name == name:
            return "controllers", k, _change(controller, changes, WIRING)
    raise PartError(
        f"parameters: no moving body, joint, force or controller {name!r} is here.", code="name"
    )


def _change(part: Any, changes: Any, fixed: tuple[str, ...] = ("name",)) -> Any:
    """The part with some fields changed; it is checked as in its construction."""
    known = {field.name for field in dataclasses.fields(part) if field.init} - {*fixed}
    _check_changes(part, changes)
    unknown = sorted(set(changes) - known)
    if unknown:
        raise part.refuse(
            f"there is no parameter {unknown[0]!r}; its own are: {', '.join(sorted(known))}.",
            code="name",
        )
    return dataclasses.replace(part, **changes)


def _check_changes(part: Part, changes: Any) -> None:
    if not isinstance(changes, Mapping):
        raise part.refuse(
            f"its parameters are {show(changes)}, but must be a dict, such as {{'mass': 2.0}}."
        )


def _rewrite_body(arrays: dict[str, Any], row: int, body: Body, changes: Any) -> Body:
    _check_changes(body, changes)
    unknown = sorted(set(changes) - set(() if body.modal else BODY_PARAMETERS))
    if unknown:
        raise body.refuse(
            f"{unknown[0]!r} cannot change with a selection; only {' and '.join(BODY_PARAMETERS)} "
            "of a rigid body can."
        )
    new: Body = dataclasses.replace(body, **changes)
    arrays["body_mass"][row], arrays["body_inertia"][row] = new.mass, new.inertia_matrix
    return new


def _rewrite_site(arrays: dict[str, Any], row: int, site: Site | None) -> None:
    if site is not None:
        arrays["site_point"][row], arrays["site_axes"][row] = site_line(site)


def _rewrite_joint(tables: Tables, arrays: dict[str, Any], k: int, new: BaseJoint) -> BaseJoint:
    _same_ends(
        tables.joints[k], [b.name for b in tables.joints[k].bodies], [b.name for b in new.bodies]
    )
    for row, site in zip((tables.joint_site1[k], tables.joint_site2[k]), new.sites, strict=True):
        _rewrite_site(arrays, row, site)
    before, lines = joint_lines(tables.joints[k]), joint_lines(new)
    _same_ends(
        tables.joints[k],
        *([(x[:3], _knots([x.schedule])) for x in some] for some in (before, lines)),
    )
    for row, line in zip(range(tables.joint_row[k], tables.joint_row[k + 1]), lines, strict=True):
        arrays["row_value"][row], arrays["row_factor"][row] = line.value, line.factor
        _rewrite_schedule(tables, arrays, tables.row_schedule[row], line.schedule)
    rows = range(tables.joint_element[k], tables.joint_element[k + 1])
    for row, element in zip(rows, new.elements(), strict=True):
        arrays["element_numbers"][row] = pad(element)
    return new


def _rewrite_schedule(
    tables: Tables, arrays: dict[str, Any], s: int, function: TimeFunction | None
) -> None:
    """Replace the knots of a function of time, whose last line is that of schedule s."""
    if function is not None:
        lines = schedule_lines(function, 0)
        first = tables.schedule_knot[s + 1 - len(lines)]
        knots = slice(first, tables.schedule_knot[s + 1])
        arrays["knot_time"][knots] = [t for line in lines for t in line.times]
        arrays["knot_value"][knots] = [v for line in lines for v in line.values]


def _rewrite_force(tables: Tables, arrays: dict[str, Any], k: int, new: Force) -> Force:
    rows = range(tables.force_element[k], tables.force_element[k + 1])
    old, elements = (force.elements_among(tables.joints) for force in (tables.forces[k], new))
    _same_ends(tables.forces[k], [_ends(e) for e in old], [_ends(e) for e in elements])
    for row, element in zip(rows, elements, strict=True):
        _rewrite_site(arrays, tables.element_site1[row], element.site1)
        _rewrite_site(arrays, tables.element_site2[row], element.site2)
        _rewrite_site(arrays, tables.element_site3[row], element.site3)
        arrays["element_numbers"][row] = pad(element)
        for schedule, s in zip(element.schedules, tables.element_schedule[row], strict=True):
            _rewrite_schedule(tables, arrays, s, schedule)
    return new


def _ends(element: Element) -> tuple[Any, ...]:
    """The properties of an element that a parameter may not change: its kind, its bodies, its
    joint, its number of knots."""
    sites = tuple(
        None if s is None else s.body.name for s in (element.site1, element.site2, element.site3)
    )
    return element.kind, sites, coordinate_of(element), _knots(element.schedules)


def _knots(functions: Iterable[TimeFunction | None]) -> list[Any]:
    """The properties of functions of time that a parameter may not change."""
    return [
        None
        if f is None
        else (
            f.scalar,
            [(x.kind, len(x.times), x.parts, type(x.formula)) for x in schedule_lines(f, 0)],
        )
        for f in functions
    ]


def _same_ends(part: Part, before: Any, after: Any) -> None:
    if before != after:
        raise part.refuse(
            "a parameter changes numbers, not what the part acts on (bodies, joint, primitives, "
            "number of knots); "
            "write a part of its own for that."
        )


def coordinate_of(element: Element) -> tuple[str, str] | None:
    """The coordinate on which an element acts, by joint and name."""
    if element.joint is None:
        return None
    return element.joint.name, element.joint.named_coordinate(
        element.coordinate, element.joint
    ).name


class ScheduleLine(NamedTuple):
    """A line of the table of schedules: its kind, its knots, first and last line of its components,
    and the formula of its values."""

    kind: int
    times: Sequence[float] = ()
    values: Sequence[Any] = ()
    parts: tuple[int, int] = (-1, -1)
    formula: CompiledFunction | None = None


def schedule_lines(function: TimeFunction, first: int) -> list[ScheduleLine]:
    """The lines of a function of time, numbered from `first` on: its components, and itself as the
    last."""
    products, lines, terms = function.products, list[ScheduleLine](), list[ScheduleLine]()
    for factors in products:
        leaves = [leaf_line(factor) for factor in factors]
        if len(leaves) == 1:
            terms += leaves
            continue
        at = first + len(lines)
        lines += leaves
        terms.append(ScheduleLine(PRODUCT, parts=(at, at + len(leaves) - 1)))
    at = first + len(lines)
    whole = [ScheduleLine(SUM, parts=(at, at + len(terms) - 1))] if len(terms) > 1 else []
    return [*lines, *terms, *whole]


def leaf_line(leaf: TimeFunction) -> ScheduleLine:
    """The line of a function of time without components."""
    if isinstance(leaf, Schedule):
        kind = INTERPOLATIONS.index(leaf.interpolation)
        return ScheduleLine(kind, leaf.times, [three_numbers(v) for v in leaf.values])
    if isinstance(leaf, Sine):
        values = [three_numbers(v) for v in (leaf.amplitude, leaf.mean)]
        return ScheduleLine(SINE, (leaf.rate, leaf.phase), values)
    if isinstance(leaf, Ramp):
        values = [three_numbers(v) for v in (leaf.rate, leaf.value)]
        return ScheduleLine(RAMP, (0.0, 0.0), values)
    assert isinstance(leaf, CompiledFunction)
    values = [three_numbers(v) for v in flat(leaf.arguments)]
    return ScheduleLine(FORMULA, [0.0] * len(values), values, formula=leaf)


def three_numbers(value: Any) -> Any:
    """A vector unchanged; a plain number followed by two zeros."""
    return value if isinstance(value, tuple) else (value, 0.0, 0.0)


def pad(element: Element) -> list[float]:
    """The numbers of an element, padded with zeros."""
    return [*element.numbers, *[0.0] * (ELEMENT_WIDTH - len(element.numbers))]


def floats(rows: Sequence[Any], *shape: int) -> Floats:
    """Rows of the given shape, also when there are none."""
    array = np.array(rows, dtype=float)
    return array.reshape(len(rows), *shape) if shape else array


def ints(rows: Sequence[Any]) -> Ints:
    """Integers, also when there are none."""
    return np.array(rows, dtype=np.int64)


def offsets(counts: Sequence[int]) -> Ints:
    """The offsets of all blocks, and the end of the last."""
    return ints([0, *accumulate(counts)])
