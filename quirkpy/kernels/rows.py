"""Constraint rows: residual, Jacobian and what the accelerations must supply.

Each row is phi(x1, x2, e1, e2) = value between two sites (parts/primitives.py lists the kinds).  With
u = (v1, w1, v2, w2), velocities of the two mass centres and angular velocities, all in N:

    d phi/dt = J u        d2 phi/dt2 = J du/dt - gamma
"""

from __future__ import annotations

from quirkpy.kernels.arrays import (
    POSITION,
    ROW_AXIS1,
    ROW_AXIS2,
    ROW_JOINT,
    ROW_KIND,
    SITE1,
    SITE2,
    SPIN,
    Joints,
    RowTable,
    Sites,
)
from quirkpy.kernels.compiled import inner, kernel
from quirkpy.kernels.kinematics import centripetal, site_axis, site_motion
from quirkpy.kernels.vectors import cross, dot, get3, norm, put3, scale, sub
from quirkpy.parts.checks import Floats, Ints
from quirkpy.tables.tables import DISTANCE, DOT, LINE

# Columns of a row at one instant: residual, its explicit time derivative, what the accelerations must supply, what is
# left to be supplied while loops are closed, the size of what is left of the row; and J over (v1, w1, v2, w2) (12).
PHI, RATE, GAMMA, LEFT, SIZE, JACOBIAN, ROW_WIDTH = 0, 1, 2, 3, 4, 5, 17


@inner
def dot_row(i: int, row: int, table: RowTable, joints: Joints, sites: Sites, frames: Floats, rows: Floats) -> None:
    """Row i: an axis e of site 1 and an axis f of site 2 enclose a given angle, e . f = value."""
    j = table.what[row, ROW_JOINT]
    s1, s2 = joints.ends[j, SITE1], joints.ends[j, SITE2]
    w1, w2 = get3(frames, sites.body[s1], SPIN), get3(frames, sites.body[s2], SPIN)
    e = site_axis(s1, table.what[row, ROW_AXIS1], sites, frames)
    f = site_axis(s2, table.what[row, ROW_AXIS2], sites, frames)
    rows[i, PHI] = dot(e, f) - table.value[row]
    n = cross(e, f)
    put3(rows, i, JACOBIAN + 3, n)
    put3(rows, i, JACOBIAN + 9, scale(-1.0, n))
    # e'' . f + 2 e' . f' + e . f'' at constant angular velocities
    mixed = 2.0 * dot(cross(w1, e), cross(w2, f))
    rows[i, GAMMA] = -(dot(centripetal(w1, e), f) + mixed + dot(e, centripetal(w2, f)))


@inner
def point_row(i: int, row: int, table: RowTable, joints: Joints, sites: Sites, frames: Floats, rows: Floats) -> None:
    """Row i about d = x2 - x1: its component e . d along an axis e of site 1, or its length |d|."""
    j = table.what[row, ROW_JOINT]
    s1, s2 = joints.ends[j, SITE1], joints.ends[j, SITE2]
    b1, c1, x1, u1, w1 = site_motion(s1, sites, frames)
    _, c2, x2, u2, w2 = site_motion(s2, sites, frames)
    d, rate = sub(x2, x1), sub(u2, u1)
    if table.what[row, ROW_KIND] == LINE:
        e = site_axis(s1, table.what[row, ROW_AXIS1], sites, frames)
        rows[i, PHI] = dot(e, d) - table.value[row]
        lever = sub(x2, get3(frames, b1, POSITION))  # the axis turns with body 1 and meets d at x2
        extra = 2.0 * dot(cross(w1, e), rate) + dot(centripetal(w1, e), d)
    else:
        length = norm(d)
        e = scale(1.0 / length, d)
        rows[i, PHI] = length - table.value[row]
        lever = c1
        extra = (dot(rate, rate) - dot(e, rate) ** 2) / length
    put3(rows, i, JACOBIAN, scale(-1.0, e))
    put3(rows, i, JACOBIAN + 3, cross(e, lever))
    put3(rows, i, JACOBIAN + 6, e)
    put3(rows, i, JACOBIAN + 9, cross(c2, e))
    # e . d'' at constant velocities, and how e itself turns
    rows[i, GAMMA] = -(dot(e, sub(centripetal(w2, c2), centripetal(w1, c1))) + extra)


@kernel
def constraint_rows(which: Ints, table: RowTable, joints: Joints, sites: Sites, frames: Floats, rows: Floats) -> None:
    """Fill in phi, J and gamma of the given rows; those of other kinds become zero."""
    for i in range(which.shape[0]):
        for k in range(ROW_WIDTH):
            rows[i, k] = 0.0
        kind = table.what[which[i], ROW_KIND] if which[i] >= 0 else -1
        if kind == DOT:
            dot_row(i, which[i], table, joints, sites, frames, rows)
        elif kind == LINE or kind == DISTANCE:
            point_row(i, which[i], table, joints, sites, frames, rows)
