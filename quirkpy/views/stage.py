"""The visible objects of a system: solids, axes of joints, sensors, springs, forces, with their
poses in N."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from quirkpy.kernels.act.ropes import IS_ROPE
from quirkpy.kernels.base.states import state_rows
from quirkpy.maths.quat import to_array
from quirkpy.maths.types import Floats
from quirkpy.mechanics.bent_lines import bent_lines, poses_of
from quirkpy.mechanics.measures import measure_of, value_at
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.parts.body import GROUND, Body
from quirkpy.parts.checks import positive
from quirkpy.parts.part import PartError
from quirkpy.parts.shapes import Box, Cylinder, Mesh, Shape, Sphere
from quirkpy.tables.tables import DISTANCE, LENGTH, PAIR, SLIDE, STRETCH, TURN
from quirkpy.views.solids import POINT, Solid

#: Sizes as shares of a typical body: half the axis of a joint, half the side of a sensor, its
#: distance from the face, and the arrow of the largest force.
AXLE, SENSOR, OFF, ARROW = 0.75, 0.14, 0.01, 0.9


class Axle(NamedTuple):
    """An axis about which a joint lets its second body rotate, or along which it slides: its two
    ends (2, 3) [m]."""

    joint: str
    slides: bool
    ends: Floats


class Mark(NamedTuple):
    """A sensor: corners of a square just above its site (4, 3) [m], and the unit vector
    outwards."""

    sensor: str
    corners: Floats
    outwards: Floats


class Tie(NamedTuple):
    """A spring, a rope or a bar between two points (2, 3) [m]; for ropes and strings the tension
    [N]."""

    part: str
    ends: Floats
    tension: float | None = None


class Tied(NamedTuple):
    """What acts between two sites, which are numbers of tables; whether it only pulls."""

    part: str
    sites: tuple[int, int]
    rope: bool


class Push(NamedTuple):
    """A force on a body: its source, the body, the point [m], the force (3,) [N]."""

    source: str
    body: str
    at: Floats
    force: Floats


class Sight(NamedTuple):
    """The visible objects at one instant; names belong to the solids, moving bodies first, without
    the ground; bodies that bend have a solid for each straight piece, behind all others."""

    t: float
    names: tuple[str, ...]
    solids: tuple[Solid, ...]
    axles: tuple[Axle, ...]
    marks: tuple[Mark, ...]
    ties: tuple[Tie, ...]
    pushes: tuple[Push, ...]


class Stage:
    """The visible objects of a system, found once; `at` gives their poses in a state.

    bodies: the moving ones, then the fixed ones; drawn: the body of each solid; size: the largest
    extent of a typical body [m]; exaggerate: factor by which bodies are drawn more bent."""

    def __init__(self, system: System, exaggerate: float = 1.0) -> None:
        self.system, self.tables, self.exaggerate = system, system.tables, exaggerate
        self.lines = bent_lines(system.tables)
        self.bodies: tuple[Body, ...] = (
            *self.tables.bodies,
            *(body for body in self.tables.fixed if body is not GROUND),
        )
        bent = [line.row for line in self.lines for _ in line.shapes]
        self._stiff = [k for k in range(len(self.bodies)) if k not in bent]
        self.drawn = (*(self.bodies[k] for k in (*self._stiff, *bent)),)
        extents = [extent_of(body.shape) for body in self.bodies]
        shaped = [e for e, body in zip(extents, self.bodies, strict=True) if body.shape is not None]
        self.size = float(np.median(shaped or extents))

    def at(self, state: State, forces: bool = False) -> Sight:
        """All objects in their poses; forces only on request, since they take longest."""
        sites = self.system.instant(state).sites
        points, axes = sites.position, sites.axes.transpose(0, 2, 1)  # a row per axis
        pushes = self._pushes(state) if forces and self.tables.bodies else ()
        return Sight(
            state.t,
            tuple(body.name for body in self.drawn),
            self._solids(state),
            self._axles(points, axes),
            self._marks(points, axes),
            self._ties(points, state),
            pushes,
        )

    def _solids(self, state: State) -> tuple[Solid, ...]:
        moving = len(self.tables.bodies)
        return (*(self._solid(k, state, moving) for k in self._stiff), *self._pieces(state))

    def _solid(self, k: int, state: State, moving: int) -> Solid:
        """A body that does not bend."""
        body = self.bodies[k]
        if k < moving:
            return Solid(body.shape, state.r[k], state.q[k], 1 + k)
        return Solid(body.shape, np.array(body.position), to_array(body.orientation), 0)

    def _pieces(self, state: State) -> Iterator[Solid]:
        """Straight pieces of all bodies that bend."""
        rows = state_rows(state.r, state.q, state.v, state.omega)
        places = poses_of(self.lines, self.tables, rows, state.further, self.exaggerate)
        shapes = [(shape, 1 + line.row) for line in self.lines for shape in line.shapes]
        for (shape, number), r, q in zip(shapes, *places, strict=True):
            yield Solid(shape, r, q, number)

    def _axles(self, points: Floats, axes: Floats) -> tuple[Axle, ...]:
        """The axes of all active joints except ball joints."""
        t, half, out = self.tables, AXLE * self.size, []
        for j in self.system.selection.joints:
            mine = range(t.joint_freedom[j], t.joint_freedom[j + 1])
            if sum(t.freedom_kind[f] == TURN for f in mine) > 2:
                continue
            for f in mine:
                site = t.joint_site1[j] if t.freedom_site[f] == 0 else t.joint_site2[j]
                along = axes[site, t.freedom_axis[f]]
                ends = points[t.joint_site2[j]] + half * np.stack([-along, along])
                out.append(Axle(t.joint_names[j], t.freedom_kind[f] == SLIDE, ends))
        return tuple(out)

    def _marks(self, points: Floats, axes: Floats) -> tuple[Mark, ...]:
        t, half, out = self.tables, SENSOR * self.size, []
        for sensor, site in zip(t.sensors, t.sensor_site, strict=True):
            x, y, z = axes[site]
            corners = (
                points[site] + OFF * self.size * z + half * np.array([-x - y, x - y, x + y, y - x])
            )
            out.append(Mark(sensor.name, corners, z))
        return tuple(out)

    def _ties(self, points: Floats, state: State) -> tuple[Tie, ...]:
        return tuple(
            Tie(
                two.part,
                points[list(two.sites)],
                self._tension(two.part, state) if two.rope else None,
            )
            for two in self.tied()
        )

    def tied(self) -> Iterator[Tied]:
        """What acts between two points: springs, ropes and bars."""
        t, chosen = self.tables, self.system.selection
        for f in chosen.forces:
            first = t.force_element[f]
            for e in range(first, t.force_element[f + 1]):
                if t.element_kind[e] in (PAIR, STRETCH):
                    sites = int(t.element_site1[e]), int(t.element_site2[e])
                    rope = t.element_kind[first] == PAIR and t.element_numbers[first, IS_ROPE] == 1
                    yield Tied(t.force_names[f], sites, bool(rope))
        for j in chosen.joints:
            rows, own = slice(*t.joint_row[j : j + 2]), slice(*t.joint_coordinate[j : j + 2])
            if DISTANCE in t.row_kind[rows] or LENGTH in t.coordinate_kind[own]:
                yield Tied(t.joint_names[j], (int(t.joint_site1[j]), int(t.joint_site2[j])), False)

    def _tension(self, name: str, state: State) -> float:
        """The tension of a rope [N]."""
        measure = measure_of("picture", self.tables, f"{name}.tension")
        return float(value_at(measure, self.system.instant(state)))

    def _pushes(self, state: State) -> tuple[Push, ...]:
        found = self.system.pulls(state)
        rows = {name: k for k, name in enumerate(state.bodies)}
        return tuple(
            Push(pull.source, body, state.r[rows[body]], pull.force)
            for body, pulls in found.items()
            for pull in pulls
            if pull.force.any()
        )


def factor_of(who: str, exaggerate: float) -> float:
    """A factor of bending, checked."""
    try:
        return positive(exaggerate)
    except (TypeError, ValueError) as error:
        raise PartError(f"{who}: exaggerate {error}.") from None


def extent_of(shape: Shape | None) -> float:
    """The largest extent of a shape along its axes [m]."""
    if isinstance(shape, Box):
        return float(max(shape.size))
    if isinstance(shape, Cylinder):
        return float(max(shape.length, 2.0 * shape.radius))
    if isinstance(shape, Mesh):
        return float(np.ptp(shape.points, axis=0).max())
    return 2.0 * (shape.radius if isinstance(shape, Sphere) else POINT)
