"""Applied loads on each body, in N: force, torque about the mass centre; potential energies and
powers."""

from __future__ import annotations

import math

from quirkpy.kernels.act.fields import field_loads
from quirkpy.kernels.act.wrenches import INTO, OUT, apply_force
from quirkpy.kernels.base.arrays import (
    AXES,
    COORDINATE_KIND,
    COORDINATE_SITE1,
    COORDINATE_SITE2,
    ELEMENT_COORDINATE,
    ELEMENT_SITE1,
    ELEMENT_SITE2,
    KIND,
    MASS,
    PLACE_POINT,
    POSITION,
    SCHEDULE1,
    SCHEDULE2,
    SPIN,
    VELOCITY,
    Elements,
    Joints,
    Schedules,
    Sites,
)
from quirkpy.kernels.base.compiled import woven, woven_kernel
from quirkpy.kernels.base.vectors import add, add3, cross, dot, get3, norm, scale, sub, turn
from quirkpy.kernels.place.kinematics import (
    along,
    coordinate_axis,
    joint_coordinate,
    site_motion,
    turning_rate,
)
from quirkpy.kernels.place.schedules import scheduled
from quirkpy.maths.types import Floats, Ints
from quirkpy.tables.tables import ANGLE, CALLBACK, COORDINATE, PAIR, PUSH, STOP, TRAVEL, UNIFORM


@woven
def uniform(wrench: Floats, e: int, numbers: Floats, bodies: Floats, frames: Floats) -> float:
    """Uniform acceleration [m/s2] of every moving body; returns the potential energy [J]."""
    g = get3(numbers, e, 0)
    energy = 0.0
    for b in range(bodies.shape[0]):
        m = bodies[b, MASS]
        add3(wrench, b, 0, scale(m, g))
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
    b1, c1, x1, u1, _ = site_motion(s1, sites, frames)
    b2, c2, x2, u2, _ = site_motion(s2, sites, frames)
    d = sub(x2, x1)
    if rest == 0.0 and damping == 0.0:  # no direction is needed, and no length
        f = scale(-stiffness, d)
        apply_force(wrench, b2, c2, f)
        apply_force(wrench, b1, c1, scale(-1.0, f))
        return 0.5 * stiffness * dot(d, d)
    length = norm(d)
    stretch = length - rest
    if tension_only and stretch <= 0.0:
        return 0.0
    if length > 0.0:
        along = scale(1.0 / length, d)
        rate = dot(along, sub(u2, u1))
        drag = damping * rate
        if tension_only:
            drag = max(drag, -stiffness * stretch)
        f = scale(-stiffness * stretch - drag, along)
        apply_force(wrench, b2, c2, f)
        apply_force(wrench, b1, c1, scale(-1.0, f))
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
    b1, b2 = sites.body[s1], sites.body[s2]
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
    if kind == ANGLE:
        f = scale(push, coordinate_axis(c, joints, sites, frames))
        add3(wrench, b2, 3, f)
        add3(wrench, b1, 3, scale(-1.0, f))
    else:
        _, c1, x1, _, _ = site_motion(s1, sites, frames)
        _, c2, x2, _, _ = site_motion(s2, sites, frames)
        if kind == TRAVEL:  # both forces act at x2: the line of the slide turns with body 1
            f = scale(push, coordinate_axis(c, joints, sites, frames))
            c1 = sub(x2, get3(frames, b1, POSITION))
        else:
            d = sub(x2, x1)
            f = scale(push, along(d, norm(d)))
        apply_force(wrench, b2, c2, f)
        apply_force(wrench, b1, c1, scale(-1.0, f))
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
    b = sites.body[site]
    if elements.numbers[e, 6] != 0.0:
        f, torque = turn(frames, b, AXES, f), turn(frames, b, AXES, torque)
    torque = add(torque, cross(turn(frames, b, AXES, get3(sites.place, site, PLACE_POINT)), f))
    add3(wrench, b, 0, f)
    add3(wrench, b, 3, torque)
    power[INTO] += dot(f, get3(frames, b, VELOCITY)) + dot(torque, get3(frames, b, SPIN))


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
