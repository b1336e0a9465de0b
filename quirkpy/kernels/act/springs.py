"""Springs between two sites and on coordinates of joints, and how loads along these act."""

from __future__ import annotations

import math

from quirkpy.kernels.act.wrenches import OUT
from quirkpy.kernels.base.arrays import (
    COORDINATE_KIND,
    COORDINATE_SITE1,
    COORDINATE_SITE2,
    Joints,
    Sites,
)
from quirkpy.kernels.base.compiled import woven
from quirkpy.kernels.base.vectors import dot, norm, scale, sub
from quirkpy.kernels.place.kinematics import along, coordinate_axis, joint_coordinate, turning_rate
from quirkpy.kernels.place.sites import join_to_site, push_at, site_motion, twist_at
from quirkpy.maths.types import Floats
from quirkpy.tables.tables import ANGLE, TRAVEL


@woven
def pair(
    wrench: Floats,
    e: int,
    numbers: Floats,
    s1: int,
    s2: int,
    sites: Sites,
    frames: Floats,
    power: Floats,
) -> float:
    """A spring and damper between two sites; returns its potential energy."""
    stiffness, rest = numbers[e, 0], numbers[e, 1]
    return pull_together(wrench, stiffness, rest, numbers[e, 2], s1, s2, sites, frames, power)


@woven
def pull_together(
    wrench: Floats,
    stiffness: float,
    rest: float,
    damping: float,
    s1: int,
    s2: int,
    sites: Sites,
    frames: Floats,
    power: Floats,
) -> float:
    """A spring and damper of given stiffness, rest length and damping; returns its energy."""
    one, two = site_motion(s1, sites, frames), site_motion(s2, sites, frames)
    d = sub(two.position, one.position)
    if rest == 0.0 and damping == 0.0:  # no direction is needed, and no length
        f = scale(-stiffness, d)
        push_at(two, f, wrench)
        push_at(one, scale(-1.0, f), wrench)
        return 0.5 * stiffness * dot(d, d)
    length = norm(d)
    stretch = length - rest
    if length > 0.0:
        along = scale(1.0 / length, d)
        rate = dot(along, sub(two.velocity, one.velocity))
        drag = damping * rate
        f = scale(-stiffness * stretch - drag, along)
        push_at(two, f, wrench)
        push_at(one, scale(-1.0, f), wrench)
        power[OUT] += drag * rate
    return 0.5 * stiffness * stretch * stretch


@woven
def coordinate(
    wrench: Floats,
    e: int,
    numbers: Floats,
    c: int,
    joints: Joints,
    sites: Sites,
    frames: Floats,
    power: Floats,
) -> float:
    """A spring, damper and friction on a coordinate of a joint; returns its potential energy."""
    kind, stiffness, friction = joints.coordinates[c, COORDINATE_KIND], numbers[e, 0], numbers[e, 3]
    if kind == ANGLE and stiffness == 0.0:  # a damper does not ask for the angle
        stretch, rate = 0.0, turning_rate(c, joints, sites, frames)
    else:
        value, rate = joint_coordinate(c, joints, sites, frames)
        stretch = value - numbers[e, 1]
    drag = numbers[e, 2] * rate
    if friction != 0.0:
        drag += friction * math.tanh(rate / numbers[e, 4])
    push_coordinate(wrench, -stiffness * stretch - drag, c, joints, sites, frames)
    power[OUT] += drag * rate
    return 0.5 * stiffness * stretch * stretch


@woven
def push_coordinate(
    wrench: Floats, push: float, c: int, joints: Joints, sites: Sites, frames: Floats
) -> None:
    """A load along a coordinate of a joint, on its second body and back on its first."""
    s1, s2 = joints.coordinates[c, COORDINATE_SITE1], joints.coordinates[c, COORDINATE_SITE2]
    kind = joints.coordinates[c, COORDINATE_KIND]
    one, two = site_motion(s1, sites, frames), site_motion(s2, sites, frames)
    if kind == ANGLE:
        torque = scale(push, coordinate_axis(c, joints, sites, frames))
        twist_at(two, torque, wrench)
        twist_at(one, scale(-1.0, torque), wrench)
    else:
        pulled = one
        if kind == TRAVEL:  # both forces act at site 2: the line of the slide turns with site 1
            f = scale(push, coordinate_axis(c, joints, sites, frames))
            pulled = join_to_site(one, two.position, frames)
        else:
            d = sub(two.position, one.position)
            f = scale(push, along(d, norm(d)))
        push_at(two, f, wrench)
        push_at(pulled, scale(-1.0, f), wrench)
