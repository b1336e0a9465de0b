"""Objects shown on bodies in a page in addition to their shapes: sensors, magnets, cold faces, axes
of joints, and keep-out cones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np

from quirkpy.explore.scope.safety import KeepOut
from quirkpy.explore.scope.scope import Scope
from quirkpy.maths.types import Floats
from quirkpy.mechanics.system import System
from quirkpy.parts.body import Body, Site
from quirkpy.parts.force import Force
from quirkpy.parts.magnets import Dipoles, Magnet, PlanetField
from quirkpy.parts.pinning import FluxPinning
from quirkpy.parts.sensor import Sensor
from quirkpy.tables.tables import TURN
from quirkpy.views.drawing import LINES
from quirkpy.views.stage import AXLE, OFF, SENSOR, Stage
from quirkpy.views.stills import AXLES, SENSORS

#: Sizes as shares of a typical body: half the length of a magnet, half the side of a cold face, the
#: length of a cone.
MAGNET, FACE, CONE = 0.28, 0.3, 2.5
#: Number of faces of a cone.
SIDES = 32
#: The length of the head of an arrow, as a share of the arrow, and its radius, as a share of the
#: head.
HEAD_LENGTH, HEAD_RADIUS = 0.35, 0.3
#: Opacity of squares and cones [1].
SQUARE, GLASS = 0.9, 0.14
#: Colours of magnets and of cold faces.
MAGNETS, COLD = LINES[1], LINES[5]


class Emblem(NamedTuple):
    """A mesh on a body, in its axes and from its mass centre [m]: corners (k, 3), triangles and
    edges as numbers of corners; a colour, and the opacity of faces and edges [1]."""

    body: Body
    colour: str
    corners: Floats
    triangles: list[list[int]]
    edges: list[list[int]]
    covers: float = 1.0
    line: float = 1.0


def emblems_of_run(system: System) -> Iterator[Emblem]:
    """The emblems of the active parts of a run, with the axes of its joints."""
    size = Stage(system).size
    yield from emblems(size, system.tables.sensors, system.tables.forces)
    yield from axles_of(system, AXLE * size)


def emblems_of_study(study: Scope) -> Iterator[Emblem]:
    """The emblems of all parts of a study, and of its keep-out cones."""
    size = Stage(study.system).size
    forces = (*study.system.tables.forces, *study.always, *chain(*study.potentials.values()))
    yield from emblems(size, study.sensors, forces)
    for rule in study.safety:
        if isinstance(rule, KeepOut):
            yield cone(rule, min(rule.length, CONE * size))


def emblems(size: float, sensors: Iterable[Sensor], forces: Iterable[Force]) -> Iterator[Emblem]:
    """The emblems of sensors, cold faces and magnets, each once, for bodies of a typical size
    [m]."""
    for sensor in sensors:
        yield square(sensor.site, SENSOR * size, OFF * size, SENSORS)
    given = list(forces)
    pinnings = [force for force in given if isinstance(force, FluxPinning)]
    fields = [force for force in given if isinstance(force, (Dipoles, PlanetField, FluxPinning))]
    for cold in dict.fromkeys(chain(*(force.superconductors for force in pinnings))):
        yield square(cold.site, FACE * size, OFF * size, COLD)
    for magnet in dict.fromkeys(chain(*(force.magnets for force in fields))):
        if isinstance(magnet, Magnet):
            yield arrow(magnet.site, math.copysign(MAGNET * size, magnet.moment))


def axles_of(system: System, half: float) -> Iterator[Emblem]:
    """Axes of the active joints, on the first body of each; not of ball joints."""
    t = system.tables
    for j in system.selection.joints:
        mine = range(t.joint_freedom[j], t.joint_freedom[j + 1])
        if sum(t.freedom_kind[f] == TURN for f in mine) > 2:
            continue
        site = t.joints[j].sites[0]
        for f in mine:
            along = half * site.axes[:, t.freedom_axis[f]]
            ends = np.array([site.at - along, site.at + along])
            yield Emblem(site.body, AXLES, ends, [], [[0, 1]])


def square(site: Site, half: float, off: float, colour: str) -> Emblem:
    """A square just above a site."""
    corners = [[-half, -half, off], [half, -half, off], [half, half, off], [-half, half, off]]
    around = [[k, (k + 1) % 4] for k in range(4)]
    return _on(site, colour, corners, [[0, 1, 2], [0, 2, 3]], around, SQUARE)


def arrow(site: Site, half: float) -> Emblem:
    """An arrow along the z axis of a site, from -half to half."""
    neck, wide = half * (1.0 - 2.0 * HEAD_LENGTH), HEAD_RADIUS * abs(half)
    ring = [[wide * x, wide * y, neck] for x, y in ((1, 0), (0, 1), (-1, 0), (0, -1))]
    head = [[2 + k, 2 + (k + 1) % 4, 1] for k in range(4)]
    return _on(site, MAGNETS, [[0, 0, -half], [0, 0, half], *ring], head, [[0, 1]], 1.0)


def cone(rule: KeepOut, length: float) -> Emblem:
    """The surface of the cone of a rule with its rim, up to `length` [m] from the tip."""
    along, across = length * math.cos(rule.half_angle), length * math.sin(rule.half_angle)
    turns = 2.0 * np.pi * np.arange(SIDES) / SIDES
    rim = [[across * math.cos(a), across * math.sin(a), along] for a in turns]
    around = [[1 + k, 1 + (k + 1) % SIDES] for k in range(SIDES)]
    faces = [[0, one, two] for one, two in around]
    return _on(rule.site, LINES[1], [[0.0, 0.0, 0.0], *rim], faces, around, GLASS, 0.5)


def _on(
    site: Site, colour: str, corners: list[list[float]], triangles: list[list[int]],
    edges: list[list[int]], covers: float, line: float = 1.0,
) -> Emblem:  # fmt: skip
    """A mesh given in the axes of a site, in those of its body."""
    at = np.array(site.at) + np.array(corners, dtype=float) @ site.axes.T
    return Emblem(site.body, colour, at, triangles, edges, covers, line)
