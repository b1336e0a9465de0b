"""Where bodies are and how they move, and the coordinates of joints, everything in N.  The ground
is the last row of every body array."""

from __future__ import annotations

import math

import numpy as np

from quirkpy.kernels.base.arrays import (
    ACROSS,
    AXES,
    AXIS_SITE,
    COORDINATE_AXIS,
    COORDINATE_KIND,
    COORDINATE_SITE1,
    COORDINATE_SITE2,
    FRAME_WIDTH,
    MOMENTS,
    POINTER,
    POINTER_SITE,
    POSITION,
    RIGID,
    SPIN,
    UP,
    VELOCITY,
    Joints,
    Modes,
    Sites,
    Sym,
    Vec,
)
from quirkpy.kernels.base.compiled import inner, kernel, woven, woven_kernel
from quirkpy.kernels.base.matrices import sym6, sym_times
from quirkpy.kernels.base.states import OMEGA, Q, R, V
from quirkpy.kernels.base.vectors import cross, dot, get3, norm, put3, scale, sub
from quirkpy.kernels.place.bending import place_stations
from quirkpy.kernels.place.sites import fill_sites, site_axis, site_motion, site_spin
from quirkpy.maths import quat
from quirkpy.maths.triples import NO_TURN
from quirkpy.maths.types import Floats, Ints
from quirkpy.tables.tables import ANGLE, TRAVEL

TURN_AROUND = 2.0 * math.pi
#: Angles as near to half way between two as this [turns] are half way.
TIE = 1e-9

rotation_matrix = inner(quat.rotation_matrix)


@woven
def place_bodies(y: Floats, bodies: int, frames: Floats) -> None:
    """Kinematics of so many moving bodies, from the state."""
    for i in range(bodies):
        nine = rotation_matrix(y[i, Q], y[i, Q + 1], y[i, Q + 2], y[i, Q + 3])
        put3(frames, i, AXES, (nine[0], nine[1], nine[2]))
        put3(frames, i, AXES + 3, (nine[3], nine[4], nine[5]))
        put3(frames, i, AXES + 6, (nine[6], nine[7], nine[8]))
        w = get3(y, i, OMEGA)
        put3(frames, i, SPIN, (
            nine[0] * w[0] + nine[1] * w[1] + nine[2] * w[2],
            nine[3] * w[0] + nine[4] * w[1] + nine[5] * w[2],
            nine[6] * w[0] + nine[7] * w[1] + nine[8] * w[2],
        ))  # fmt: skip
        put3(frames, i, POSITION, get3(y, i, R))
        put3(frames, i, VELOCITY, get3(y, i, V))


@woven_kernel
def fill_frames(y: Floats, modes: Modes, frames: Floats) -> None:
    """Kinematics of the moving bodies, and of the stations on those that bend, from the state; the
    last row, the ground, is left as it is."""
    place_bodies(y, frames.shape[0] - 1 - modes.stations.shape[0], frames)
    if modes.stations.shape[0] > 0:
        place_stations(y, y, False, modes, frames)


def ground_frames(n: int) -> Floats:
    """Room for the kinematics of n moving bodies; the ground's row, the last, is filled in."""
    frames = np.zeros((n + 1, FRAME_WIDTH))
    frames[n, AXES:SPIN] = NO_TURN
    return frames


def frames_of(y: Floats, modes: Modes = RIGID, bodies: int | None = None) -> Floats:
    """Kinematics in N of all bodies at a state (nb, STATE_WIDTH), and of the ground; where bodies
    bend, with the stations between them, at a state with its tail whose first rows are those of so
    many bodies."""
    frames = ground_frames((bodies or len(y)) + len(modes.stations))
    fill_frames(y, modes, frames)
    return frames


@kernel
def trace_sites(
    states: Floats, modes: Modes, which: Ints, sites: Sites, frames: Floats, out: Floats
) -> None:
    """Kinematics of the given sites in each of some states; `frames` is room."""
    for k in range(states.shape[0]):
        fill_frames(states[k], modes, frames)
        fill_sites(which, sites, frames, out[k])


def sites_along(
    states: Floats, which: Ints, sites: Sites, modes: Modes = RIGID, bodies: int | None = None
) -> Floats:
    """Kinematics in N of the given sites (k, n, FRAME_WIDTH) in states (k, nb, STATE_WIDTH); where
    bodies bend, in states with their tails, whose first rows are those of so many bodies."""
    out = np.empty((len(states), len(which), FRAME_WIDTH))
    frames = ground_frames((bodies or states.shape[1]) + len(modes.stations))
    trace_sites(np.ascontiguousarray(states), modes, which, sites, frames, out)
    return out


@inner
def next_to(near: float, angle: float) -> float:
    """The angle in [-pi, pi] plus the whole turns that bring it nearest to another angle.

    Halfway between two multiples of a turn it takes the turns of the other angle, if that is a
    whole number of turns."""
    turns = (near - angle) / TURN_AROUND
    return angle + TURN_AROUND * (
        math.floor(turns + 0.5 + TIE) if angle > 0.0 else math.ceil(turns - 0.5 - TIE)
    )


@woven
def coordinate_axis(c: int, joints: Joints, sites: Sites, frames: Floats) -> Vec:
    """The axis of a coordinate, in N."""
    return site_axis(
        joints.coordinates[c, AXIS_SITE], joints.coordinates[c, COORDINATE_AXIS], sites, frames
    )


@woven
def turning_rate(c: int, joints: Joints, sites: Sites, frames: Floats) -> float:
    """How fast the second site turns relative to the first about the axis of an angle [rad/s]."""
    s1, s2 = joints.coordinates[c, COORDINATE_SITE1], joints.coordinates[c, COORDINATE_SITE2]
    w1, w2 = site_spin(s1, sites, frames), site_spin(s2, sites, frames)
    return dot(coordinate_axis(c, joints, sites, frames), sub(w2, w1))


@woven
def joint_angle(c: int, joints: Joints, sites: Sites, frames: Floats) -> float:
    """An angle about an axis of either site, whole turns included: of the pointer, an axis of the
    other site, from where it is at zero."""
    row = joints.coordinates
    pointer = site_axis(row[c, POINTER_SITE], row[c, POINTER], sites, frames)
    across = site_axis(row[c, AXIS_SITE], row[c, ACROSS], sites, frames)
    up = site_axis(row[c, AXIS_SITE], row[c, UP], sites, frames)
    angle = math.atan2(dot(pointer, up), dot(pointer, across))
    return next_to(joints.near[c], angle)


@inner
def joint_coordinate(c: int, joints: Joints, sites: Sites, frames: Floats) -> tuple[float, float]:
    """Value and rate of a coordinate: angle [rad], whole turns included, travel [m] or length
    [m]."""
    if joints.coordinates[c, COORDINATE_KIND] == ANGLE:
        return joint_angle(c, joints, sites, frames), turning_rate(c, joints, sites, frames)
    s1, s2 = joints.coordinates[c, COORDINATE_SITE1], joints.coordinates[c, COORDINATE_SITE2]
    one, two = site_motion(s1, sites, frames), site_motion(s2, sites, frames)
    d, u = sub(two.position, one.position), sub(two.velocity, one.velocity)
    if joints.coordinates[c, COORDINATE_KIND] == TRAVEL:
        z1 = coordinate_axis(c, joints, sites, frames)
        return dot(z1, d), dot(z1, u) + dot(cross(one.spin, z1), d)
    length = norm(d)
    return length, dot(along(d, length), u)


@inner
def along(d: Vec, length: float) -> Vec:
    """The direction of d; nowhere where it has no length."""
    return scale(1.0 / length, d) if length > 0.0 else d


@kernel
def joint_coordinates(
    which: Ints, joints: Joints, sites: Sites, frames: Floats, out: Floats
) -> None:
    """Value and rate of each of the given coordinates (n, 2)."""
    for k in range(which.shape[0]):
        out[k, 0], out[k, 1] = joint_coordinate(which[k], joints, sites, frames)


@kernel
def trace_coordinates(
    states: Floats, modes: Modes, which: Ints, joints: Joints, sites: Sites, frames: Floats,
    out: Floats,
) -> None:  # fmt: skip
    """Values of the given coordinates in each of some states (k, n); `frames` is room."""
    for k in range(states.shape[0]):
        fill_frames(states[k], modes, frames)
        for n in range(which.shape[0]):
            out[k, n] = joint_coordinate(which[n], joints, sites, frames)[0]


@inner
def inertia_in_n(bodies: Floats, frames: Floats, i: int) -> Sym:
    """Q I Q' as a symmetric matrix, from the six moments in body axes."""
    j = sym6(bodies, i, MOMENTS)
    x, y, z = get3(frames, i, AXES), get3(frames, i, AXES + 3), get3(frames, i, AXES + 6)
    jx, jy, jz = sym_times(j, x), sym_times(j, y), sym_times(j, z)
    return dot(x, jx), dot(x, jy), dot(x, jz), dot(y, jy), dot(y, jz), dot(z, jz)
