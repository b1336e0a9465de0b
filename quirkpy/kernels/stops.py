"""Stops: bounds on joint coordinates.  One that holds is a constraint row; one that is hit gives an impulse."""

from __future__ import annotations

from typing import NamedTuple

from quirkpy.kernels.arrays import Joints, Sites
from quirkpy.kernels.compiled import inner
from quirkpy.kernels.elimination import ACCELERATION, CENTRE
from quirkpy.kernels.kinematics import joint_coordinate
from quirkpy.kernels.rows import GAMMA, JACOBIAN, PHI, SECOND, coordinate_row
from quirkpy.kernels.vectors import dot, get3
from quirkpy.parts.checks import Floats, Ints

# Columns of Stops.what and of Stops.numbers: bound [rad] or [m]; side: 1 where the coordinate must be above it, -1
# below; restitution; the rate [rad/s] or [m/s] below which nothing bounces; the restitution of the impact that is being
# solved, or 0.
STOP_JOINT, STOP_COORDINATE, HOLDS, STOP_WIDTH = range(4)
BOUND, SIDE, RESTITUTION, SETTLE, BOUNCE, STOP_NUMBERS = range(6)

#: A held stop lets go when the coordinate would leave it with more than this acceleration [rad/s2] or [m/s2].
RELEASE = 1e-9
#: As near as this [rad] or [m], and not moving, a joint begins in contact with its stop; further beyond it than the
#: second it is refused.
TOUCHING, BEYOND = 1e-9, 1e-6


class Stops(NamedTuple):
    """what: joint, coordinate, whether it holds (ns, STOP_WIDTH); numbers (ns, STOP_NUMBERS)."""

    what: Ints
    numbers: Floats


@inner
def clearance(k: int, stops: Stops, joints: Joints, sites: Sites, frames: Floats) -> tuple[float, float]:
    """How far the coordinate is from the bound of stop k, positive on the free side, and its rate."""
    value, rate = joint_coordinate(stops.what[k, STOP_COORDINATE], joints, sites, frames)
    side = stops.numbers[k, SIDE]
    return side * (value - stops.numbers[k, BOUND]), side * rate


@inner
def stop_row(i: int, k: int, stops: Stops, joints: Joints, sites: Sites, frames: Floats, rows: Floats) -> None:
    """The row of stop k: its coordinate equals the bound."""
    for column in range(JACOBIAN, SECOND):
        rows[i, column] = 0.0
    c = stops.what[k, STOP_COORDINATE]
    x, extra = coordinate_row(i, JACOBIAN, 1.0, c, joints, sites, frames, rows)
    rows[i, PHI], rows[i, GAMMA] = x - stops.numbers[k, BOUND], -extra


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
