"""Numbers that runs watch, or that are computed along them, each given by a line of a table."""

from __future__ import annotations

from typing import NamedTuple

from quirkpy.kernels.act.loads import applied_loads
from quirkpy.kernels.act.ropes import IS_ROPE, tension_of, way_of
from quirkpy.kernels.base.arrays import (
    COORDINATE_KIND,
    COORDINATE_SITE1,
    COORDINATE_SITE2,
    ELEMENT_COORDINATE,
    ELEMENT_SITE1,
    ELEMENT_SITE2,
    Elements,
    Joints,
    Modes,
    Schedules,
    Sites,
)
from quirkpy.kernels.base.compiled import inner, kernel
from quirkpy.kernels.base.vectors import dot, get3, norm, sub
from quirkpy.kernels.place.kinematics import (
    along,
    coordinate_axis,
    fill_frames,
    joint_coordinate,
)
from quirkpy.kernels.place.sites import site_motion
from quirkpy.maths.types import Floats, Ints
from quirkpy.tables.tables import ANGLE, TRAVEL

#: What is measured: a number of the state, its row and column; value or rate (column 0 or 1) of a
#: coordinate, its number; position, velocity or spin of a site (columns 0 to 8), its row; length
#: of the way of an element, or its rate (column 0 or 1); what an element pulls with, along its
#: two sites; what it does along its coordinate.
(
    STATE_NUMBER, COORDINATE_NUMBER, SITE_NUMBER, ELEMENT_LENGTH, ELEMENT_PULL, ELEMENT_PUSH
) = range(6)  # fmt: skip
# Columns of Measures.what.
MEASURED, MEASURED_ROW, MEASURED_COLUMN, MEASURE_WIDTH = range(4)


class Measures(NamedTuple):
    """what (n, MEASURE_WIDTH); sites that are in no table; one: room for the number of an element
    (1,), wrench (nb + 1, 6), potential (1,) and power (2,): room for what it does."""

    what: Ints
    sites: Sites
    one: Ints
    wrench: Floats
    potential: Floats
    power: Floats


@inner
def site_number(site: int, column: int, sites: Sites, frames: Floats) -> float:
    """A number of the motion of a site."""
    at = site_motion(site, sites, frames)
    if column < 3:
        return at.position[column]
    return at.velocity[column - 3] if column < 6 else at.spin[column - 6]


@inner
def pull_of(e: int, measures: Measures, elements: Elements, sites: Sites, frames: Floats) -> float:
    """The tension of an element between its two sites, which is no rope, from the load just
    computed."""
    s1, s2 = elements.what[e, ELEMENT_SITE1], elements.what[e, ELEMENT_SITE2]
    one, two = site_motion(s1, sites, frames), site_motion(s2, sites, frames)
    d = sub(two.position, one.position)
    return -dot(get3(measures.wrench, sites.body[s2], 0), along(d, norm(d)))


@inner
def push_of(
    e: int, measures: Measures, elements: Elements, joints: Joints, sites: Sites, frames: Floats
) -> float:
    """The generalized force of an element on its coordinate, from the load just computed."""
    c = elements.what[e, ELEMENT_COORDINATE]
    s1, s2 = joints.coordinates[c, COORDINATE_SITE1], joints.coordinates[c, COORDINATE_SITE2]
    b = sites.body[s2]
    if joints.coordinates[c, COORDINATE_KIND] == ANGLE:
        return dot(get3(measures.wrench, b, 3), coordinate_axis(c, joints, sites, frames))
    if joints.coordinates[c, COORDINATE_KIND] == TRAVEL:
        return dot(get3(measures.wrench, b, 0), coordinate_axis(c, joints, sites, frames))
    one, two = site_motion(s1, sites, frames), site_motion(s2, sites, frames)
    d = sub(two.position, one.position)
    return dot(get3(measures.wrench, b, 0), along(d, norm(d)))


@inner
def measure(
    k: int, t: float, y: Floats, measures: Measures, elements: Elements, joints: Joints,
    schedules: Schedules, bodies: Floats, sites: Sites, frames: Floats,
) -> float:  # fmt: skip
    """The value of line k of the measures at a state whose frames are known."""
    kind, row = measures.what[k, MEASURED], measures.what[k, MEASURED_ROW]
    column = measures.what[k, MEASURED_COLUMN]
    if kind == STATE_NUMBER:
        return y[row, column]
    if kind == COORDINATE_NUMBER:
        x, rate = joint_coordinate(row, joints, sites, frames)
        return x if column == 0 else rate
    if kind == SITE_NUMBER:
        return site_number(row, column, measures.sites, frames)
    if kind == ELEMENT_LENGTH:
        length, pace = way_of(row, elements, sites, frames)
        return length if column == 0 else pace
    if kind == ELEMENT_PULL and elements.numbers[row, IS_ROPE] != 0.0:
        return tension_of(t, row, elements, schedules, sites, frames)
    measures.one[0] = row
    applied_loads(
        t, measures.one, elements, joints, schedules, bodies, sites, frames, measures.wrench,
        measures.potential, measures.power,
    )  # fmt: skip
    if kind == ELEMENT_PULL:
        return pull_of(row, measures, elements, sites, frames)
    return push_of(row, measures, elements, joints, sites, frames)


@kernel
def measures_along(
    t: Floats, states: Floats, modes: Modes, angles: Floats, measures: Measures, elements: Elements,
    joints: Joints, schedules: Schedules, bodies: Floats, sites: Sites, frames: Floats,
    out: Floats,
) -> None:  # fmt: skip
    """The values of all measures at each row of a run (k, n)."""
    for k in range(t.shape[0]):
        fill_frames(states[k], modes, frames)
        here = Joints(joints.ends, joints.coordinates, angles[k])
        for n in range(measures.what.shape[0]):
            out[k, n] = measure(
                n, t[k], states[k], measures, elements, here, schedules, bodies, sites, frames
            )


@kernel
def loads_along(
    t: Floats, states: Floats, modes: Modes, angles: Floats, which: Ints, elements: Elements,
    joints: Joints, schedules: Schedules, bodies: Floats, sites: Sites, frames: Floats,
    power: Floats, wrenches: Floats, potentials: Floats,
) -> None:  # fmt: skip
    """The total load of the given elements on each body at each row (k, nb + 1, 6), and the
    potential energy of each (k, n); callbacks give zero."""
    for k in range(t.shape[0]):
        fill_frames(states[k], modes, frames)
        here = Joints(joints.ends, joints.coordinates, angles[k])
        applied_loads(
            t[k], which, elements, here, schedules, bodies, sites, frames, wrenches[k],
            potentials[k], power,
        )  # fmt: skip
