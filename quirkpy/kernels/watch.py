"""Functions of the state that a run watches; an event is where one crosses zero."""

from __future__ import annotations

import math
from typing import NamedTuple

from quirkpy.kernels.arrays import MASS, MOMENTS, OMEGA, V
from quirkpy.kernels.compiled import inner, kernel
from quirkpy.kernels.engine import Model, Scratch
from quirkpy.kernels.kinematics import site_axis, site_motion
from quirkpy.kernels.matrices import sym6, sym_times
from quirkpy.kernels.vectors import dot, get3, norm, sub
from quirkpy.parts.checks import Floats, Ints

#: What is watched.  REST: a = speed [m/s], b = acceleration [m/s2].  ENERGY: a = energy [J].  MEETING: sites one and
#: two, a = reach [m], b = alignment [rad], c = roll [rad] or 0.  PYTHON: nothing here, the event is asked.
REST, ENERGY, MEETING, PYTHON = range(4)


class Watch(NamedTuple):
    """kind, one, two (n, 3); numbers a, b, c (n, 3); direction: -1 falling, 1 rising, 0 both (n,)."""

    what: Ints
    numbers: Floats
    direction: Ints


@inner
def metric(u: Floats, first: int, w: Floats, second: int, bodies: Floats) -> float:
    """Sum over bodies of m |linear|^2 + angular . I angular, from columns `first` of u and `second` of w."""
    out = 0.0
    for i in range(bodies.shape[0]):
        a, b = get3(u, i, first), get3(w, i, second)
        out += bodies[i, MASS] * dot(a, a) + dot(b, sym_times(sym6(bodies, i, MOMENTS), b))
    return out


@inner
def total_mass(bodies: Floats) -> float:
    """Mass of all moving bodies [kg]."""
    out = 0.0
    for i in range(bodies.shape[0]):
        out += bodies[i, MASS]
    return out


@inner
def meeting(one: int, two: int, reach: float, alignment: float, roll: float, model: Model, frames: Floats) -> float:
    """Below zero where site two is within reach of site one, faces it and, modulo `roll`, matches its x axis."""
    _, _, x1, _, _ = site_motion(one, model.sites, frames)
    _, _, x2, _, _ = site_motion(two, model.sites, frames)
    far = norm(sub(x2, x1)) / reach
    z1, z2 = site_axis(one, 2, model.sites, frames), site_axis(two, 2, model.sites, frames)
    off = math.acos(max(-1.0, min(1.0, -dot(z1, z2)))) / alignment
    if roll > 0.0:
        a, b = site_axis(one, 0, model.sites, frames), site_axis(one, 1, model.sites, frames)
        c = site_axis(two, 0, model.sites, frames)
        angle = math.atan2(dot(c, b), dot(c, a))
        off = max(off, abs(angle - roll * round(angle / roll)) / alignment)
    return max(far, off) - 1.0


@kernel
def watched(
    t: float, y: Floats, acceleration: Floats, model: Model, scratch: Scratch, watch: Watch, values: Floats
) -> None:
    """Values of the watched functions at a state just evaluated."""
    bodies, energy = model.bodies, 0.0
    for k in range(scratch.potential.shape[0]):
        energy += scratch.potential[k]
    for k in range(values.shape[0]):
        kind = watch.what[k, 0]
        a, b, c = watch.numbers[k, 0], watch.numbers[k, 1], watch.numbers[k, 2]
        if kind == REST:
            mass = total_mass(bodies)
            speed = math.sqrt(metric(y, V, y, OMEGA, bodies) / mass) / a
            push = math.sqrt(metric(acceleration, 0, acceleration, 3, bodies) / mass) / b
            values[k] = max(speed, push) - 1.0
        elif kind == ENERGY:
            values[k] = 0.5 * metric(y, V, y, OMEGA, bodies) + energy - a
        elif kind == MEETING:
            values[k] = meeting(watch.what[k, 1], watch.what[k, 2], a, b, c, model, scratch.frames)
        else:
            values[k] = 0.0
