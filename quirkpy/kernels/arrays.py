"""The tables as the kernels take them: few packed arrays, a row per thing, with named columns.

A compiled call copies the description of each array that it is given, so a dozen packed arrays cost less than fifty
slim ones.  All of them can be written to, unlike those of the tables: kernels are compiled once for each kind of array.
The tuples must be importable by name: numba finds its cached code by them.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from quirkpy.parts.checks import Floats, Ints
from quirkpy.tables.tables import Tables

#: Three numbers in registers.
Vec: TypeAlias = tuple[float, float, float]
#: A symmetric 3x3 matrix in registers: xx xy xz yy yz zz; or a lower triangular one, column by column.
Sym: TypeAlias = tuple[float, float, float, float, float, float]
#: Any 3x3 matrix in registers, row by row.
Mat: TypeAlias = tuple[float, float, float, float, float, float, float, float, float]

# Columns of the state y, a row per moving body.
R, Q, V, OMEGA, STATE_WIDTH = 0, 3, 7, 10, 13

# Columns of the kinematics in N, a row per body, the ground last.
POSITION, VELOCITY, AXES, SPIN, FRAME_WIDTH = 0, 3, 6, 15, 18

# Columns of Sites.place.
PLACE_POINT, PLACE_AXES, PLACE_WIDTH = 0, 3, 12

# Columns of Joints.ends.
SITE1, SITE2, COORDINATE_KIND = range(3)

# Columns of RowTable.what.
ROW_KIND, ROW_JOINT, ROW_AXIS1, ROW_AXIS2 = range(4)

# Columns of Elements.what.
KIND, ELEMENT_SITE1, ELEMENT_SITE2, ELEMENT_JOINT, SCHEDULE1, SCHEDULE2 = range(6)

# Columns of Schedules.spans, and of its knots.
FIRST_KNOT, LAST_KNOT, LINEAR = range(3)
KNOT_TIME, KNOT_VALUE = 0, 1

# Columns of the body array: mass, and the moments xx xy xz yy yz zz about the mass centre in body axes.
MASS, MOMENTS, BODY_WIDTH = 0, 1, 7


class Sites(NamedTuple):
    """Tables.site_*: row of the body; point and axes in its axes."""

    body: Ints
    place: Floats


class Joints(NamedTuple):
    """Tables.joint_*; near: the angle [rad] next to which each joint's is taken, so that it is continuous past pi."""

    ends: Ints
    near: Floats


class RowTable(NamedTuple):
    """Tables.row_*."""

    what: Ints
    value: Floats


class Elements(NamedTuple):
    """Tables.element_*."""

    what: Ints
    numbers: Floats


class Schedules(NamedTuple):
    """Tables.schedule_* and knot_*."""

    spans: Ints
    knots: Floats


def state_rows(r: Floats, q: Floats, v: Floats, omega: Floats) -> Floats:
    """The state y (nb, STATE_WIDTH)."""
    return np.concatenate([r, q, v, omega], axis=1)


def bodies_of(t: Tables) -> Floats:
    """Masses and moments (nb, BODY_WIDTH)."""
    moments = [t.body_inertia[:, i, j] for i, j in zip(*np.triu_indices(3), strict=True)]
    return np.column_stack([t.body_mass, *moments])


def sites_of(t: Tables) -> Sites:
    """The site columns."""
    return Sites(t.site_body.copy(), np.concatenate([t.site_point, t.site_axes], axis=1))


def joints_of(t: Tables, near: Floats) -> Joints:
    """The joint columns, with the angle next to which each joint's is taken."""
    return Joints(np.column_stack([t.joint_site1, t.joint_site2, t.joint_coordinate]), near)


def rows_of(t: Tables) -> RowTable:
    """The row columns."""
    return RowTable(np.column_stack([t.row_kind, t.row_joint, t.row_axis1, t.row_axis2]), t.row_value.copy())


def elements_of(t: Tables) -> Elements:
    """The element columns."""
    what = [t.element_kind, t.element_site1, t.element_site2, t.element_joint, t.element_schedule]
    return Elements(np.column_stack(what), t.element_numbers.copy())


def schedules_of(t: Tables) -> Schedules:
    """The schedule and knot columns."""
    spans = [t.schedule_knot[:-1], t.schedule_knot[1:] - 1, t.schedule_linear]
    return Schedules(np.column_stack(spans).astype(np.int64), np.column_stack([t.knot_time, t.knot_value]))
