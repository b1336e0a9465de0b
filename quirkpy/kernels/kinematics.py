"""Where sites are and how they move, everything in N.  The ground is the last row of every body array."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from quirkpy import quat
from quirkpy.kernels.arrays import Frames, Joints, Sites, Vec
from quirkpy.kernels.vectors import add, column, cross, dot, put3, row3, scale, sub, turn
from quirkpy.parts.checks import Floats, Ints
from quirkpy.tables.tables import ANGLE, TRAVEL

rotation_matrix = njit(cache=True)(quat.rotation_matrix)


@njit(cache=True)
def body_frames(q: Floats, omega: Floats) -> tuple[Floats, Floats]:
    """Axes (nb + 1, 9, row-major) and angular velocities in N (nb + 1, 3) from quaternions and body-axes rates."""
    n = q.shape[0]
    axes = np.zeros((n + 1, 9))
    spin = np.zeros((n + 1, 3))
    for i in range(n):
        nine = rotation_matrix(q[i, 0], q[i, 1], q[i, 2], q[i, 3])
        for k in range(9):
            axes[i, k] = nine[k]
        put3(spin, i, 0, turn(axes, i, row3(omega, i)))
    axes[n, 0] = axes[n, 4] = axes[n, 8] = 1.0
    return axes, spin


@njit(cache=True)
def site_motion(site: int, sites: Sites, frames: Frames) -> tuple[int, Vec, Vec, Vec, Vec]:
    """Body row, arm from the mass centre, position, velocity and angular velocity of a site."""
    b = sites.body[site]
    arm = turn(frames.axes, b, row3(sites.point, site))
    w = row3(frames.spin, b)
    return b, arm, add(row3(frames.position, b), arm), add(row3(frames.velocity, b), cross(w, arm)), w


@njit(cache=True)
def site_axis(site: int, k: int, sites: Sites, frames: Frames) -> Vec:
    """Axis k of a site, in N."""
    return turn(frames.axes, sites.body[site], column(sites.axes, site, k))


@njit(cache=True)
def joint_coordinate(j: int, joints: Joints, sites: Sites, frames: Frames) -> tuple[float, float]:
    """Value and rate of a joint's coordinate along z: angle [rad], whole turns included, or travel [m]."""
    s1, s2 = joints.site1[j], joints.site2[j]
    _, _, x1, u1, w1 = site_motion(s1, sites, frames)
    _, _, x2, u2, w2 = site_motion(s2, sites, frames)
    z1 = site_axis(s1, 2, sites, frames)
    if joints.coordinate[j] == ANGLE:
        across, up = site_axis(s1, 0, sites, frames), site_axis(s1, 1, sites, frames)
        pointer = site_axis(s2, 0, sites, frames)
        angle = math.atan2(dot(pointer, up), dot(pointer, across)) + 2.0 * math.pi * joints.windings[j]
        return angle, dot(z1, sub(w2, w1))
    d = sub(x2, x1)
    return dot(z1, d), dot(z1, sub(u2, u1)) + dot(cross(w1, z1), d)


@njit(cache=True)
def joint_coordinates(which: Ints, joints: Joints, sites: Sites, frames: Frames) -> Floats:
    """Value and rate of the coordinate of each of the given joints (n, 2); NaN for a joint without one."""
    out = np.full((which.shape[0], 2), np.nan)
    for k in range(which.shape[0]):
        kind = joints.coordinate[which[k]]
        if kind == ANGLE or kind == TRAVEL:
            out[k, 0], out[k, 1] = joint_coordinate(which[k], joints, sites, frames)
    return out


@njit(cache=True)
def centripetal(w: Vec, arm: Vec) -> Vec:
    """w x (w x arm): the acceleration of a point that turns with a body."""
    return sub(scale(dot(w, arm), w), scale(dot(w, w), arm))
