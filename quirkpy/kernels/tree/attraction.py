"""What a planet does to bodies that bend, beside what it does to them as they were: to second order
in their size, as `planet` in kernels/act/fields.py has it.

A particle at r + d of the body feels g + G d, with g and G those at the origin r of its axes. So
the potential energy is -g . c + G : J / 2, with the first moment c of mass about the origin and the
moments of inertia J about it; both change with bending, and modes feel the slopes of that."""

from __future__ import annotations

import math

from quirkpy.kernels.act.orbit import MOVING, MU, origin
from quirkpy.kernels.act.wrenches import INTO, load_body
from quirkpy.kernels.base.arrays import (
    AXES,
    BENT,
    FIRST_COORDINATE,
    FIRST_SPEED,
    MODE_COUNT,
    MODE_NUMBERS,
    POSITION,
    SPIN,
    VELOCITY,
    Vec,
)
from quirkpy.kernels.base.compiled import inner, shared
from quirkpy.kernels.base.matrices import sym_times
from quirkpy.kernels.base.vectors import add, cross, dot, get3, norm, scale, sub, turn_back
from quirkpy.kernels.place.sites import from_body
from quirkpy.kernels.tree.model import Model, Scratch
from quirkpy.kernels.tree.modes import (
    OF_MOMENTS,
    SQUARED,
    change_of_moments,
    first_moment,
    product,
    pulls,
    turned_moments,
)


@inner
def falls_at(r: Vec, centre: Vec, mu: float, moving: bool) -> Vec:
    """The acceleration at r [m/s2], with N's origin at some place from the planet's centre; beside
    that of the origin, without cancellation, where this falls."""
    at = add(centre, r)
    distance = norm(at)
    cube = distance * distance * distance
    if not moving:
        return scale(-mu / cube, at)
    square = dot(centre, centre)
    q = dot(r, add(r, scale(2.0, centre))) / square
    s = (1.0 + q) * math.sqrt(1.0 + q)
    share = q * (3.0 + q * (3.0 + q)) / (s * (1.0 + s))  # 1 - (|origin| / |at|)^3
    return scale(-mu / (square * math.sqrt(square)), sub(r, scale(share, at)))


@shared
def attract_modes(t: float, e: int, model: Model, scratch: Scratch) -> float:
    """Loads of a planet, element e, on bodies that bend; returns their potential energy [J], or
    counts their power where N's origin falls."""
    numbers, modes, frames = model.elements.numbers, model.modes, scratch.frames
    general, tail, energy = scratch.general, scratch.tail, 0.0
    mu, moving, centre = numbers[e, MU], numbers[e, MOVING] != 0.0, origin(t, e, numbers)
    for b in range(modes.what.shape[0]):
        i, q = modes.what[b, BENT], modes.what[b, FIRST_COORDINATE]
        r = get3(frames, i, POSITION)
        at = add(centre, r)
        distance = norm(at)
        c, steep = scale(1.0 / distance, at), mu / (distance * distance * distance)
        g = falls_at(r, centre, mu, moving)
        first = from_body(i, first_moment(b, modes, tail, general), frames)
        j = turned_moments(change_of_moments(b, modes, tail, q, 1.0, general), frames, i)
        jc, trace = sym_times(j, c), j[0] + j[3] + j[5]
        out = dot(c, jc)
        f = scale(-1.5 * steep / distance, add(scale(2.0, jc), scale(trace - 5.0 * out, c)))
        f = add(f, scale(steep, sub(scale(3.0 * dot(c, first), c), first)))
        torque = add(cross(first, g), scale(3.0 * steep, cross(c, jc)))
        load_body(i, f, torque, scratch.wrench)
        here, x = turn_back(frames, i, AXES, g), turn_back(frames, i, AXES, c)
        work = push_modes(b, here, x, steep, model, scratch)
        if moving:
            v, w = get3(frames, i, VELOCITY), get3(frames, i, SPIN)
            scratch.power[INTO] += dot(f, v) + dot(torque, w) + work
        else:
            energy -= dot(first, g) + 0.5 * steep * (trace - 3.0 * out)
    return energy


@inner
def push_modes(b: int, g: Vec, c: Vec, steep: float, model: Model, scratch: Scratch) -> float:
    """Loads on the modes of body b of an acceleration g and a gradient steep (3 c c' - 1), in its
    axes; returns their power [W]."""
    modes, general, tail = model.modes, scratch.general, scratch.tail
    i, n, u = modes.what[b, BENT], modes.what[b, MODE_COUNT], modes.what[b, FIRST_SPEED]
    at, work = modes.what[b, MODE_NUMBERS] + OF_MOMENTS * n, 0.0
    two = (3.0 * c[0] * c[0] - 1.0, 6.0 * c[0] * c[1], 6.0 * c[0] * c[2],
           3.0 * c[1] * c[1] - 1.0, 6.0 * c[1] * c[2], 3.0 * c[2] * c[2] - 1.0)  # fmt: skip
    for k in range(n):
        push = dot(pulls(modes, b, k, general)[0], g)
        for a in range(6):
            slope = 0.5 * modes.numbers[at + 6 * k + a] + product(general, i, n, SQUARED + a, k)
            push -= steep * two[a] * slope
        tail[2, u + k] += push
        work += push * tail[0, u + k]
    return work
