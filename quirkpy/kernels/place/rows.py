"""Constraint rows: residual, Jacobian and what the accelerations must supply.

Each row is phi(x1, x2, e1, e2) = value between two sites (parts/primitives.py lists the kinds).
With u = (v1, w1, v2, w2), velocities of the two mass centres and angular velocities, all in N:

    d phi/dt = J u        d2 phi/dt2 = J du/dt - gamma
"""

from __future__ import annotations

import numpy as np

from quirkpy.kernels.base.arrays import (
    COORDINATE_KIND,
    COORDINATE_SITE1,
    COORDINATE_SITE2,
    POINTER,
    POINTER_SITE,
    ROW_AXIS1,
    ROW_AXIS2,
    ROW_BODY3,
    ROW_FACTOR,
    ROW_JOINT,
    ROW_KIND,
    ROW_PERIOD,
    ROW_SCHEDULE,
    ROW_VALUE,
    SITE1,
    SITE2,
    Joints,
    RowTable,
    Schedules,
    Sites,
    Vec,
)
from quirkpy.kernels.base.compiled import inner, kernel
from quirkpy.kernels.base.vectors import add, centripetal, cross, dot, norm, scale, sub
from quirkpy.kernels.place.kinematics import along, coordinate_axis, joint_angle
from quirkpy.kernels.place.schedules import schedule_motion
from quirkpy.kernels.place.sites import (
    SiteMotion,
    act_at,
    add_act_at,
    add_turn_at,
    join_to_site,
    site_axis,
    site_motion,
    turn_at,
    turning_acceleration,
)
from quirkpy.maths.types import Floats, Ints
from quirkpy.tables.tables import ANGLE, DISTANCE, DOT, LINE, RELATION_ROW, TRAVEL

# Columns of a row at one instant: residual, its explicit time derivative, what the accelerations
# must supply, what is left to be supplied while loops are closed, the size of what is left of the
# row; J over (v1, w1, v2, w2) (12); and, of a row that relates coordinates of two joints, J over
# those of the second joint's bodies (12).
PHI, RATE, GAMMA, LEFT, SIZE, JACOBIAN, SECOND, ROW_WIDTH = 0, 1, 2, 3, 4, 5, 17, 29


@inner
def dot_row(
    i: int, row: int, table: RowTable, joints: Joints, sites: Sites, frames: Floats, rows: Floats
) -> None:
    """Row i: an axis e of site 1 and an axis f of site 2 enclose a given angle, e . f = value."""
    j = table.what[row, ROW_JOINT]
    s1, s2 = joints.ends[j, SITE1], joints.ends[j, SITE2]
    one, two = site_motion(s1, sites, frames), site_motion(s2, sites, frames)
    w1, w2 = one.spin, two.spin
    e = site_axis(s1, table.what[row, ROW_AXIS1], sites, frames)
    f = site_axis(s2, table.what[row, ROW_AXIS2], sites, frames)
    rows[i, PHI] = dot(e, f) - table.numbers[row, ROW_VALUE]
    n = cross(e, f)
    turn_at(one, n, rows, i, JACOBIAN)
    turn_at(two, scale(-1.0, n), rows, i, JACOBIAN + 6)
    # e'' . f + 2 e' . f' + e . f'' at constant angular velocities
    mixed = 2.0 * dot(cross(w1, e), cross(w2, f))
    rows[i, GAMMA] = -(dot(centripetal(w1, e), f) + mixed + dot(e, centripetal(w2, f)))


@inner
def point_row(
    i: int, row: int, table: RowTable, joints: Joints, sites: Sites, frames: Floats, rows: Floats
) -> None:
    """Row i about d = x2 - x1: its component e . d along an axis e of site 1, or its length |d|."""
    j = table.what[row, ROW_JOINT]
    s1, s2 = joints.ends[j, SITE1], joints.ends[j, SITE2]
    one, two = site_motion(s1, sites, frames), site_motion(s2, sites, frames)
    d, rate = sub(two.position, one.position), sub(two.velocity, one.velocity)
    pulled = one
    if table.what[row, ROW_KIND] == LINE:
        e = site_axis(s1, table.what[row, ROW_AXIS1], sites, frames)
        rows[i, PHI] = dot(e, d) - table.numbers[row, ROW_VALUE]
        pulled = join_to_site(
            one, two.position, frames
        )  # the axis turns with site 1 and meets d there
        extra = 2.0 * dot(cross(one.spin, e), rate) + dot(centripetal(one.spin, e), d)
    else:
        length = norm(d)
        e = scale(1.0 / length, d)
        rows[i, PHI] = length - table.numbers[row, ROW_VALUE]
        extra = (dot(rate, rate) - dot(e, rate) ** 2) / length
    act_at(pulled, scale(-1.0, e), rows, i, JACOBIAN)
    act_at(two, e, rows, i, JACOBIAN + 6)
    # e . d'' at constant velocities, and how e itself turns
    rows[i, GAMMA] = -(dot(e, turning_apart(one, two)) + extra)


@inner
def turning_apart(one: SiteMotion, two: SiteMotion) -> Vec:
    """The acceleration of site two relative to site one that velocities alone make."""
    return sub(turning_acceleration(two), turning_acceleration(one))


@inner
def coordinate_row(
    i: int,
    first: int,
    factor: float,
    c: int,
    joints: Joints,
    sites: Sites,
    frames: Floats,
    rows: Floats,
) -> tuple[float, float]:
    """Add `factor` times J of a coordinate to row i, from column `first` on; returns the coordinate
    x and what of its second derivative velocities alone make: x'' = J du/dt + extra."""
    if joints.coordinates[c, COORDINATE_KIND] == ANGLE:
        return angle_row(i, first, factor, c, joints, sites, frames, rows)
    s1, s2 = joints.coordinates[c, COORDINATE_SITE1], joints.coordinates[c, COORDINATE_SITE2]
    one, two = site_motion(s1, sites, frames), site_motion(s2, sites, frames)
    d, rate = sub(two.position, one.position), sub(two.velocity, one.velocity)
    pulled = one
    if joints.coordinates[c, COORDINATE_KIND] == TRAVEL:
        e = coordinate_axis(c, joints, sites, frames)
        x, pulled = dot(e, d), join_to_site(one, two.position, frames)
        extra = 2.0 * dot(cross(one.spin, e), rate) + dot(centripetal(one.spin, e), d)
    else:
        x = norm(d)
        e = along(d, x)
        extra = (dot(rate, rate) - dot(e, rate) ** 2) / x if x > 0.0 else 0.0
    add_act_at(pulled, -factor, e, rows, i, first)
    add_act_at(two, factor, e, rows, i, first + 6)
    return x, extra + dot(e, turning_apart(one, two))


@inner
def angle_row(
    i: int,
    first: int,
    factor: float,
    c: int,
    joints: Joints,
    sites: Sites,
    frames: Floats,
    rows: Floats,
) -> tuple[float, float]:
    """The row of a relation for an angle; returns the angle [rad] and what the change of its axes
    adds to its acceleration.  Its rate is (w2 - w1) . g with g = (n - s p) / (1 - s^2), s = n . p:
    the axis n belongs to one site, the pointer p to the other, and where the joint is closed they
    are perpendicular."""
    s1, s2 = joints.coordinates[c, COORDINATE_SITE1], joints.coordinates[c, COORDINATE_SITE2]
    one, two = site_motion(s1, sites, frames), site_motion(s2, sites, frames)
    w1, w2 = one.spin, two.spin
    pointing = joints.coordinates[c, POINTER_SITE]
    n = coordinate_axis(c, joints, sites, frames)
    p = site_axis(pointing, joints.coordinates[c, POINTER], sites, frames)
    n_rate, p_rate = (
        (cross(w1, n), cross(w2, p)) if pointing == s2 else (cross(w2, n), cross(w1, p))
    )
    s, s_rate = dot(n, p), dot(n_rate, p) + dot(n, p_rate)
    h = 1.0 / (1.0 - s * s)
    g = scale(h, sub(n, scale(s, p)))
    g_rate = scale(h, sub(n_rate, add(scale(s_rate, p), scale(s, p_rate))))
    g_rate = add(g_rate, scale(2.0 * s * s_rate * h, g))
    add_turn_at(one, -factor, g, rows, i, first)
    add_turn_at(two, factor, g, rows, i, first + 6)
    return joint_angle(c, joints, sites, frames), dot(sub(w2, w1), g_rate)


@inner
def relation_row(
    i: int, row: int, t: float, table: RowTable, joints: Joints, schedules: Schedules, sites: Sites,
    frames: Floats, rows: Floats,
) -> None:  # fmt: skip
    """Row i: a coordinate plus a multiple of another one equals a number and, perhaps, a
    schedule."""
    one, two, schedule = (
        table.what[row, ROW_AXIS1],
        table.what[row, ROW_AXIS2],
        table.what[row, ROW_SCHEDULE],
    )
    phi, extra = coordinate_row(i, JACOBIAN, 1.0, one, joints, sites, frames, rows)
    phi -= table.numbers[row, ROW_VALUE]
    if two >= 0:
        first = JACOBIAN if table.what[row, ROW_BODY3] < 0 else SECOND
        factor = table.numbers[row, ROW_FACTOR]
        x, more = coordinate_row(i, first, factor, two, joints, sites, frames, rows)
        phi, extra = phi + factor * x, extra + factor * more
    if schedule >= 0:
        x, rate, bend = schedule_motion(schedule, t, schedules)
        phi, extra = phi - x, extra - bend
        rows[i, RATE] = -rate
    rows[i, PHI], rows[i, GAMMA] = within_turn(phi, table.numbers[row, ROW_PERIOD]), -extra


@inner
def within_turn(x: float, period: float) -> float:
    """x less the whole turns in it; a period of zero: there are none."""
    return x - period * np.rint(x / period) if period > 0.0 else x


@kernel
def constraint_rows(
    which: Ints, t: float, table: RowTable, joints: Joints, schedules: Schedules, sites: Sites,
    frames: Floats, rows: Floats,
) -> None:  # fmt: skip
    """Fill in phi, J and gamma of the given rows at the time t; those of other kinds become
    zero."""
    for i in range(which.shape[0]):
        for k in range(SECOND):
            rows[i, k] = 0.0
        kind = table.what[which[i], ROW_KIND] if which[i] >= 0 else -1
        if kind == DOT:
            dot_row(i, which[i], table, joints, sites, frames, rows)
        elif kind == LINE or kind == DISTANCE:
            point_row(i, which[i], table, joints, sites, frames, rows)
        elif kind == RELATION_ROW:
            for k in range(SECOND, ROW_WIDTH):
                rows[i, k] = 0.0
            relation_row(i, which[i], t, table, joints, schedules, sites, frames, rows)
