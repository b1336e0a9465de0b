"""Applied loads on each body, in N: force, torque about the mass centre; potential energies and
powers."""

from __future__ import annotations

import math

from quirkpy.kernels.act.fields import field_loads
from quirkpy.kernels.act.wrenches import INTO, OUT, push_body
from quirkpy.kernels.base.arrays import (
    COORDINATE_KIND,
    COORDINATE_SITE1,
    COORDINATE_SITE2,
    ELEMENT_COORDINATE,
    ELEMENT_SITE1,
    ELEMENT_SITE2,
    KIND,
    MASS,
    POSITION,
    SCHEDULE1,
    SCHEDULE2,
    Elements,
    Joints,
    Schedules,
    Sites,
)
from quirkpy.kernels.base.compiled import woven, woven_kernel
from quirkpy.kernels.base.vectors import dot, get3, norm, scale, sub
from quirkpy.kernels.place.kinematics import (
    along,
    coordinate_axis,
    joint_coordinate,
    turning_rate,
)
from quirkpy.kernels.place.schedules import scheduled
from quirkpy.kernels.place.sites import (
    carried,
    held_by,
    load_at,
    power_at,
    push_at,
    site_motion,
    twist_at,
)
from quirkpy.maths.types import Floats, Ints
from quirkpy.tables.tables import ANGLE, CALLBACK, COORDINATE, PAIR, PUSH, STOP, TRAVEL, UNIFORM


@woven
def uniform(wrench: Floats, e: int, numbers: Floats, bodies: Floats, frames: Floats) -> float:
    """Uniform acceleration [m/s2] of every moving body; returns the potential energy [J]."""
    g = get3(numbers, e, 0)
    energy = 0.0
    for b in range(bodies.shape[0]):
        m = bodies[b, MASS]
        push_body(b, scale(m, g), wrench)
        energy -= m * dot(g, get3(frames, b, POSITION))
    return energy


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
    stiffness, rest, damping, tension_only = (
        numbers[e, 0],
        numbers[e, 1],
        numbers[e, 2],
        numbers[e, 3] != 0.0,
    )
    one, two = site_motion(s1, sites, frames), site_motion(s2, sites, frames)
    d = sub(two.position, one.position)
    if rest == 0.0 and damping == 0.0:  # no direction is needed, and no length
        f = scale(-stiffness, d)
        push_at(two, f, wrench)
        push_at(one, scale(-1.0, f), wrench)
        return 0.5 * stiffness * dot(d, d)
    length = norm(d)
    stretch = length - rest
    if tension_only and stretch <= 0.0:
        return 0.0
    if length > 0.0:
        along = scale(1.0 / length, d)
        rate = dot(along, sub(two.velocity, one.velocity))
        drag = damping * rate
        if tension_only:
            drag = max(drag, -stiffness * stretch)
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
    s1, s2 = joints.coordinates[c, COORDINATE_SITE1], joints.coordinates[c, COORDINATE_SITE2]
    kind, stiffness, friction = joints.coordinates[c, COORDINATE_KIND], numbers[e, 0], numbers[e, 3]
    if kind == ANGLE and stiffness == 0.0:  # a damper does not ask for the angle
        stretch, rate = 0.0, turning_rate(c, joints, sites, frames)
    else:
        value, rate = joint_coordinate(c, joints, sites, frames)
        stretch = value - numbers[e, 1]
    drag = numbers[e, 2] * rate
    if friction != 0.0:
        drag += friction * math.tanh(rate / numbers[e, 4])
    push = -stiffness * stretch - drag
    one, two = site_motion(s1, sites, frames), site_motion(s2, sites, frames)
    if kind == ANGLE:
        torque = scale(push, coordinate_axis(c, joints, sites, frames))
        twist_at(two, torque, wrench)
        twist_at(one, scale(-1.0, torque), wrench)
    else:
        pulled = one
        if kind == TRAVEL:  # both forces act at site 2: the line of the slide turns with site 1
            f = scale(push, coordinate_axis(c, joints, sites, frames))
            pulled = carried(one, two.position, frames)
        else:
            d = sub(two.position, one.position)
            f = scale(push, along(d, norm(d)))
        push_at(two, f, wrench)
        push_at(pulled, scale(-1.0, f), wrench)
    power[OUT] += drag * rate
    return 0.5 * stiffness * stretch * stretch


@woven
def push(
    wrench: Floats, t: float, e: int, elements: Elements, schedules: Schedules, sites: Sites,
    frames: Floats, power: Floats,
) -> None:  # fmt: skip
    """A force at a site and a torque."""
    f, torque = get3(elements.numbers, e, 0), get3(elements.numbers, e, 3)
    one, two, site = (
        elements.what[e, SCHEDULE1],
        elements.what[e, SCHEDULE2],
        elements.what[e, ELEMENT_SITE1],
    )
    if one >= 0:
        f = scheduled(one, t, schedules)
    if two >= 0:
        torque = scheduled(two, t, schedules)
    at = site_motion(site, sites, frames)
    if elements.numbers[e, 6] != 0.0:
        f, torque = held_by(at, f, frames), held_by(at, torque, frames)
    load_at(at, f, torque, wrench)
    power[INTO] += power_at(at, f, torque)


@woven_kernel
def applied_loads(
    t: float, which: Ints, elements: Elements, joints: Joints, schedules: Schedules, bodies: Floats,
    sites: Sites, frames: Floats, wrench: Floats, potential: Floats, power: Floats,
) -> None:  # fmt: skip
    """Sum over the given elements: wrench (nb + 1, 6), potential of each (n,), power (2,);
    callbacks give nothing."""
    wrench[:] = 0.0
    power[:] = 0.0
    what, numbers = elements.what, elements.numbers
    for k in range(which.shape[0]):
        e = which[k]
        kind, s1, s2 = what[e, KIND], what[e, ELEMENT_SITE1], what[e, ELEMENT_SITE2]
        energy = 0.0
        if kind == UNIFORM:
            energy = uniform(wrench, e, numbers, bodies, frames)
        elif kind == PAIR:
            energy = pair(wrench, e, numbers, s1, s2, sites, frames, power)
        elif kind == COORDINATE:
            energy = coordinate(
                wrench, e, numbers, what[e, ELEMENT_COORDINATE], joints, sites, frames, power
            )
        elif kind == PUSH:
            push(wrench, t, e, elements, schedules, sites, frames, power)
        elif kind != CALLBACK and kind != STOP:
            energy = field_loads(t, e, elements, schedules, bodies, sites, frames, wrench, power)
        potential[k] = energy
