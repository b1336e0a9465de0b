"""Stops: bounds on joint coordinates.  One that holds is a constraint row; one that is hit gives an impulse."""

from __future__ import annotations

from typing import NamedTuple

from quirkpy.kernels.arrays import COORDINATE_KIND, POSITION, SITE1, SITE2, Joints, Sites
from quirkpy.kernels.compiled import inner
from quirkpy.kernels.elimination import ACCELERATION, CENTRE
from quirkpy.kernels.kinematics import centripetal, joint_coordinate, site_axis, site_motion
from quirkpy.kernels.rows import GAMMA, JACOBIAN, PHI
from quirkpy.kernels.vectors import cross, dot, get3, put3, scale, sub
from quirkpy.parts.checks import Floats, Ints
from quirkpy.tables.tables import ANGLE

# Columns of Stops.what and of Stops.numbers: bound [rad] or [m]; side: 1 where the coordinate must be above it, -1
# below; restitution; the rate [rad/s] or [m/s] below which nothing bounces; the restitution of the impact that is being
# solved, or 0.
STOP_JOINT, HOLDS, STOP_WIDTH = range(3)
BOUND, SIDE, RESTITUTION, SETTLE, BOUNCE, STOP_NUMBERS = range(6)

#: A held stop lets go when the coordinate would leave it with more than this acceleration [rad/s2] or [m/s2].
RELEASE = 1e-9
#: As near as this [rad] or [m], and not moving, a joint begins in contact with its stop; further beyond it than the
#: second it is refused.
TOUCHING, BEYOND = 1e-9, 1e-6


class Stops(NamedTuple):
    """what: joint, whether it holds (ns, STOP_WIDTH); numbers (ns, STOP_NUMBERS)."""

    what: Ints
    numbers: Floats


@inner
def clearance(k: int, stops: Stops, joints: Joints, sites: Sites, frames: Floats) -> tuple[float, float]:
    """How far the coordinate is from the bound of stop k, positive on the free side, and its rate."""
    value, rate = joint_coordinate(stops.what[k, STOP_JOINT], joints, sites, frames)
    side = stops.numbers[k, SIDE]
    return side * (value - stops.numbers[k, BOUND]), side * rate


@inner
def stop_row(i: int, k: int, stops: Stops, joints: Joints, sites: Sites, frames: Floats, rows: Floats) -> None:
    """The row of stop k: its joint's coordinate equals the bound."""
    j = stops.what[k, STOP_JOINT]
    s1, s2 = joints.ends[j, SITE1], joints.ends[j, SITE2]
    b1, c1, x1, u1, w1 = site_motion(s1, sites, frames)
    _, c2, x2, u2, w2 = site_motion(s2, sites, frames)
    e = site_axis(s1, 2, sites, frames)
    value, _ = joint_coordinate(j, joints, sites, frames)
    rows[i, PHI] = value - stops.numbers[k, BOUND]
    if joints.ends[j, COORDINATE_KIND] == ANGLE:
        # the rate is e . (w2 - w1), and e turns with body 1
        put3(rows, i, JACOBIAN + 3, scale(-1.0, e))
        put3(rows, i, JACOBIAN + 9, e)
        rows[i, GAMMA] = -dot(cross(w1, e), sub(w2, w1))
        return
    # travel e . d, as in rows.point_row
    d, rate = sub(x2, x1), sub(u2, u1)
    put3(rows, i, JACOBIAN, scale(-1.0, e))
    put3(rows, i, JACOBIAN + 3, cross(e, sub(x2, get3(frames, b1, POSITION))))
    put3(rows, i, JACOBIAN + 6, e)
    put3(rows, i, JACOBIAN + 9, cross(c2, e))
    extra = 2.0 * dot(cross(w1, e), rate) + dot(centripetal(w1, e), d)
    rows[i, GAMMA] = -(dot(e, sub(centripetal(w2, c2), centripetal(w1, c1))) + extra)


@inner
def solved(i: int, a: int, b: int, rows: Floats, work: Floats) -> float:
    """J d of row i between bodies a and b, for what has just been solved for; on the ground nothing moves."""
    out, ground = 0.0, work.shape[0] - 1
    if a < ground:
        out += dot(get3(rows, i, JACOBIAN), get3(work, a, CENTRE))
        out += dot(get3(rows, i, JACOBIAN + 3), get3(work, a, ACCELERATION + 3))
    if b < ground:
        out += dot(get3(rows, i, JACOBIAN + 6), get3(work, b, CENTRE))
        out += dot(get3(rows, i, JACOBIAN + 9), get3(work, b, ACCELERATION + 3))
    return out
