"""The tables as the kernels take them: few tuples of arrays, each a room of the tables without its prefix."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quirkpy.parts.checks import Floats, Ints
from quirkpy.tables.tables import Tables

Bools: TypeAlias = NDArray[np.bool_]
#: Three numbers in registers.
Vec: TypeAlias = tuple[float, float, float]


class Frames(NamedTuple):
    """Kinematics of all bodies in N, the ground last: position [m], velocity [m/s], spin [rad/s] (nb + 1, 3) and axes,
    row-major rotation matrices (nb + 1, 9)."""

    position: Floats
    velocity: Floats
    axes: Floats
    spin: Floats


class Sites(NamedTuple):
    """Tables.site_*."""

    body: Ints
    point: Floats
    axes: Floats


class Joints(NamedTuple):
    """Tables.joint_*; windings: whole turns of each angle, which are state."""

    site1: Ints
    site2: Ints
    coordinate: Ints
    windings: Ints


class RowTable(NamedTuple):
    """Tables.row_*."""

    kind: Ints
    joint: Ints
    axis1: Ints
    axis2: Ints
    value: Floats


class Elements(NamedTuple):
    """Tables.element_*."""

    kind: Ints
    site1: Ints
    site2: Ints
    joint: Ints
    numbers: Floats
    schedule: Ints


class Schedules(NamedTuple):
    """Tables.schedule_* and knot_*."""

    knot: Ints
    linear: Bools
    time: Floats
    value: Floats


def sites_of(t: Tables) -> Sites:
    """The site columns."""
    return Sites(t.site_body, t.site_point, t.site_axes)


def joints_of(t: Tables, windings: Ints) -> Joints:
    """The joint columns, with the state's windings."""
    return Joints(t.joint_site1, t.joint_site2, t.joint_coordinate, windings)


def rows_of(t: Tables) -> RowTable:
    """The row columns."""
    return RowTable(t.row_kind, t.row_joint, t.row_axis1, t.row_axis2, t.row_value)


def elements_of(t: Tables) -> Elements:
    """The element columns."""
    return Elements(
        t.element_kind, t.element_site1, t.element_site2, t.element_joint, t.element_numbers, t.element_schedule
    )


def schedules_of(t: Tables) -> Schedules:
    """The schedule and knot columns."""
    return Schedules(t.schedule_knot, t.schedule_linear, t.knot_time, t.knot_value)
