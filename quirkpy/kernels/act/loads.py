"""Applied loads on each body, in N: force, torque about the mass centre; potential energies and
powers."""

from __future__ import annotations

from quirkpy.kernels.act.driven import driven_loads
from quirkpy.kernels.act.fields import field_loads
from quirkpy.kernels.act.ropes import IS_ROPE, rope
from quirkpy.kernels.act.springs import coordinate, pair
from quirkpy.kernels.act.wrenches import INTO, push_body
from quirkpy.kernels.base.arrays import (
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
from quirkpy.kernels.base.vectors import dot, get3, scale
from quirkpy.kernels.place.schedules import schedule_value
from quirkpy.kernels.place.sites import (
    load_at,
    power_at,
    site_motion,
    turn_with_body,
)
from quirkpy.maths.types import Floats, Ints
from quirkpy.tables.tables import (
    CALLBACK,
    COORDINATE,
    JOINT_LAW,
    PAIR,
    PUSH,
    STOP,
    UNIFORM,
)


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
        f = schedule_value(one, t, schedules)
    if two >= 0:
        torque = schedule_value(two, t, schedules)
    at = site_motion(site, sites, frames)
    if elements.numbers[e, 6] != 0.0:
        f, torque = turn_with_body(at, f, frames), turn_with_body(at, torque, frames)
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
        driven = what[e, SCHEDULE1] >= 0 or what[e, SCHEDULE2] >= 0
        if kind == UNIFORM:
            energy = uniform(wrench, e, numbers, bodies, frames)
        elif kind == PAIR and numbers[e, IS_ROPE] != 0.0:
            energy = rope(t, e, elements, schedules, sites, frames, wrench, power)
        elif kind == PAIR and not driven:
            energy = pair(wrench, e, numbers, s1, s2, sites, frames, power)
        elif kind == COORDINATE and not driven:
            energy = coordinate(
                wrench, e, numbers, what[e, ELEMENT_COORDINATE], joints, sites, frames, power
            )
        elif kind == PUSH:
            push(wrench, t, e, elements, schedules, sites, frames, power)
        elif kind == PAIR or kind == COORDINATE or kind >= JOINT_LAW:
            energy = driven_loads(t, e, elements, joints, schedules, sites, frames, wrench, power)
        elif kind != CALLBACK and kind != STOP:
            energy = field_loads(t, e, elements, schedules, bodies, sites, frames, wrench, power)
        potential[k] = energy
