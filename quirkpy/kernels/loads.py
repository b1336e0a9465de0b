"""Applied loads: force [N] and torque [N m] about the mass centre on each body, in N, and potential energies [J]."""

from __future__ import annotations

import numpy as np
from numba import njit

from quirkpy.kernels.arrays import Elements, Frames, Joints, Schedules, Sites, Vec
from quirkpy.kernels.kinematics import joint_coordinate, site_axis, site_motion
from quirkpy.kernels.vectors import add3, cross, dot, norm, row3, scale, sub, turn
from quirkpy.parts.checks import Floats, Ints
from quirkpy.tables.tables import ANGLE, COORDINATE, PAIR, PUSH, UNIFORM


@njit(cache=True)
def scheduled(s: int, t: float, schedules: Schedules) -> Vec:
    """Value of schedule s at time t."""
    first, last = schedules.knot[s], schedules.knot[s + 1] - 1
    k = first + np.searchsorted(schedules.time[first : last + 1], t, side="right") - 1
    if k < first:
        return row3(schedules.value, first)
    if k >= last or not schedules.linear[s]:
        return row3(schedules.value, k)
    f = (t - schedules.time[k]) / (schedules.time[k + 1] - schedules.time[k])
    a, b = row3(schedules.value, k), row3(schedules.value, k + 1)
    return a[0] + f * (b[0] - a[0]), a[1] + f * (b[1] - a[1]), a[2] + f * (b[2] - a[2])


@njit(cache=True)
def apply_force(wrench: Floats, b: int, arm: Vec, f: Vec) -> None:
    """Force f on body b at `arm` from its mass centre."""
    add3(wrench, b, 0, f)
    add3(wrench, b, 3, cross(arm, f))


@njit(cache=True)
def uniform(wrench: Floats, numbers: Floats, body_mass: Floats, frames: Frames) -> float:
    """The same acceleration for every moving body; returns its potential energy."""
    g = (numbers[0], numbers[1], numbers[2])
    energy = 0.0
    for b in range(body_mass.shape[0]):
        add3(wrench, b, 0, scale(body_mass[b], g))
        energy -= body_mass[b] * dot(g, row3(frames.position, b))
    return energy


@njit(cache=True)
def pair(wrench: Floats, numbers: Floats, s1: int, s2: int, sites: Sites, frames: Frames) -> float:
    """A spring and damper between two sites; returns its potential energy."""
    stiffness, rest, damping, tension_only = numbers[0], numbers[1], numbers[2], numbers[3] != 0.0
    b1, c1, x1, u1, _ = site_motion(s1, sites, frames)
    b2, c2, x2, u2, _ = site_motion(s2, sites, frames)
    d = sub(x2, x1)
    length = norm(d)
    stretch = length - rest
    if tension_only and stretch <= 0.0:
        return 0.0
    if length > 0.0:
        along = scale(1.0 / length, d)
        tension = stiffness * stretch + damping * dot(along, sub(u2, u1))
        if tension_only:
            tension = max(tension, 0.0)
        f = scale(-tension, along)
        apply_force(wrench, b2, c2, f)
        apply_force(wrench, b1, c1, scale(-1.0, f))
    return 0.5 * stiffness * stretch * stretch


@njit(cache=True)
def coordinate(wrench: Floats, numbers: Floats, j: int, joints: Joints, sites: Sites, frames: Frames) -> float:
    """A spring and damper on the coordinate of a joint; returns its potential energy."""
    value, rate = joint_coordinate(j, joints, sites, frames)
    effort = -(numbers[0] * (value - numbers[1]) + numbers[2] * rate)
    s1, s2 = joints.site1[j], joints.site2[j]
    b1, b2 = sites.body[s1], sites.body[s2]
    f = scale(effort, site_axis(s1, 2, sites, frames))
    if joints.coordinate[j] == ANGLE:
        add3(wrench, b2, 3, f)
        add3(wrench, b1, 3, scale(-1.0, f))
    else:  # both forces act at x2: the line of the slide turns with body 1
        _, c2, x2, _, _ = site_motion(s2, sites, frames)
        apply_force(wrench, b2, c2, f)
        apply_force(wrench, b1, sub(x2, row3(frames.position, b1)), scale(-1.0, f))
    return 0.5 * numbers[0] * (value - numbers[1]) ** 2


@njit(cache=True)
def push(
    wrench: Floats,
    t: float,
    numbers: Floats,
    schedule: Ints,
    s1: int,
    schedules: Schedules,
    sites: Sites,
    frames: Frames,
) -> None:
    """A force at a site and a torque."""
    f, torque = (numbers[0], numbers[1], numbers[2]), (numbers[3], numbers[4], numbers[5])
    if schedule[0] >= 0:
        f = scheduled(schedule[0], t, schedules)
    if schedule[1] >= 0:
        torque = scheduled(schedule[1], t, schedules)
    b = sites.body[s1]
    if numbers[6] != 0.0:
        f, torque = turn(frames.axes, b, f), turn(frames.axes, b, torque)
    apply_force(wrench, b, turn(frames.axes, b, row3(sites.point, s1)), f)
    add3(wrench, b, 3, torque)


@njit(cache=True)
def applied_loads(
    t: float, which: Ints, elements: Elements, joints: Joints, schedules: Schedules, body_mass: Floats, sites: Sites,
    frames: Frames,
) -> tuple[Floats, Floats]:  # fmt: skip
    """Sum over the given elements: wrench (nb + 1, 6) and potential energy of each (n,); callbacks stay zero."""
    wrench = np.zeros((frames.position.shape[0], 6))
    potential = np.zeros(which.shape[0])
    for k in range(which.shape[0]):
        e = which[k]
        kind, numbers = elements.kind[e], elements.numbers[e]
        if kind == UNIFORM:
            potential[k] = uniform(wrench, numbers, body_mass, frames)
        elif kind == PAIR:
            potential[k] = pair(wrench, numbers, elements.site1[e], elements.site2[e], sites, frames)
        elif kind == COORDINATE:
            potential[k] = coordinate(wrench, numbers, elements.joint[e], joints, sites, frames)
        elif kind == PUSH:
            push(wrench, t, numbers, elements.schedule[e], elements.site1[e], schedules, sites, frames)
    return wrench, potential
