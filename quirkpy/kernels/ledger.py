"""Holding a run to its ledger: energy = what it was at the start + work - dissipation.

The correction is the smallest change of velocity, in the metric of kinetic energy, that the joints allow and that
leaves the rigid motion of every free island, and so both its momenta, as it is: what moves within is scaled.
"""

from __future__ import annotations

import math

import numpy as np

from quirkpy.kernels.arrays import AXES, MASS, OMEGA, POSITION, SPIN, VELOCITY, Sym, V, Vec
from quirkpy.kernels.compiled import inner, kernel
from quirkpy.kernels.engine import Model, Scratch
from quirkpy.kernels.loads import INTO, OUT
from quirkpy.kernels.matrices import sym_inverse, sym_times
from quirkpy.kernels.recursion import inertia_in_n
from quirkpy.kernels.vectors import add, cross, dot, get3, put3, scale, sub, turn_back
from quirkpy.parts.checks import Floats

#: Of all the energy that moves within the islands a correction may be this share; more means that something is wrong,
#: and nothing is touched.
LARGEST_SHARE = 1e-2


@inner
def rigid_motion(model: Model, frames: Floats) -> tuple[Floats, Floats, Floats]:
    """Mass centre, its velocity, and angular velocity of every island (nb + 1, 3); unused numbers stay zero."""
    islands, bodies = model.islands, model.bodies
    n = bodies.shape[0]
    mass = np.zeros(n + 1)
    centre, velocity, spin = np.zeros((n + 1, 3)), np.zeros((n + 1, 3)), np.zeros((n + 1, 3))
    moment, inertia = np.zeros((n + 1, 3)), np.zeros((n + 1, 6))
    for i in range(n):
        k, m = islands[i], bodies[i, MASS]
        if k >= 0:
            mass[k] += m
            put3(centre, k, 0, add(get3(centre, k, 0), scale(m, get3(frames, i, POSITION))))
            put3(velocity, k, 0, add(get3(velocity, k, 0), scale(m, get3(frames, i, VELOCITY))))
    for k in range(n + 1):
        if mass[k] > 0.0:
            put3(centre, k, 0, scale(1.0 / mass[k], get3(centre, k, 0)))
            put3(velocity, k, 0, scale(1.0 / mass[k], get3(velocity, k, 0)))
    for i in range(n):
        k, m = islands[i], bodies[i, MASS]
        if k >= 0:
            d = sub(get3(frames, i, POSITION), get3(centre, k, 0))
            own = inertia_in_n(bodies, frames, i)
            turning = sym_times(own, get3(frames, i, SPIN))
            orbit = scale(m, cross(d, sub(get3(frames, i, VELOCITY), get3(velocity, k, 0))))
            put3(moment, k, 0, add(get3(moment, k, 0), add(turning, orbit)))
            square = dot(d, d)
            inertia[k, 0] += own[0] + m * (square - d[0] * d[0])
            inertia[k, 1] += own[1] - m * d[0] * d[1]
            inertia[k, 2] += own[2] - m * d[0] * d[2]
            inertia[k, 3] += own[3] + m * (square - d[1] * d[1])
            inertia[k, 4] += own[4] - m * d[1] * d[2]
            inertia[k, 5] += own[5] + m * (square - d[2] * d[2])
    for k in range(n + 1):
        if mass[k] > 0.0:
            whole: Sym = (
                inertia[k, 0], inertia[k, 1], inertia[k, 2], inertia[k, 3], inertia[k, 4], inertia[k, 5],
            )  # fmt: skip
            put3(spin, k, 0, sym_times(sym_inverse(whole), get3(moment, k, 0)))
    return centre, velocity, spin


@inner
def carried(i: int, model: Model, frames: Floats, centre: Floats, velocity: Floats, spin: Floats) -> tuple[Vec, Vec]:
    """Velocity and angular velocity that body i has from the rigid motion of its island."""
    k = model.islands[i]
    if k < 0:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    w = get3(spin, k, 0)
    return add(get3(velocity, k, 0), cross(w, sub(get3(frames, i, POSITION), get3(centre, k, 0)))), w


@kernel
def energy_of(model: Model, scratch: Scratch) -> float:
    """Kinetic and potential energy at the state that the scratch was evaluated at."""
    out = 0.0
    for k in range(scratch.potential.shape[0]):
        out += scratch.potential[k]
    for i in range(model.bodies.shape[0]):
        v, w = get3(scratch.frames, i, VELOCITY), get3(scratch.frames, i, SPIN)
        own = inertia_in_n(model.bodies, scratch.frames, i)
        out += 0.5 * (model.bodies[i, MASS] * dot(v, v) + dot(w, sym_times(own, w)))
    return out


@kernel
def restore_energy(y: Floats, start: float, model: Model, scratch: Scratch) -> bool:
    """Scale what moves within the islands so that energy + dissipated - work is `start` again; y as just evaluated.

    Returns whether the velocities were changed.
    """
    n = model.bodies.shape[0]
    frames = scratch.frames
    missing = start + y[n, INTO] - y[n, OUT] - energy_of(model, scratch)
    centre, velocity, spin = rigid_motion(model, frames)
    inside = 0.0
    for i in range(n):
        v, w = carried(i, model, frames, centre, velocity, spin)
        v, w = sub(get3(frames, i, VELOCITY), v), sub(get3(frames, i, SPIN), w)
        own = inertia_in_n(model.bodies, frames, i)
        inside += 0.5 * (model.bodies[i, MASS] * dot(v, v) + dot(w, sym_times(own, w)))
    if missing == 0.0 or abs(missing) > LARGEST_SHARE * inside:
        return False
    grow = math.sqrt(1.0 + missing / inside) - 1.0
    for i in range(n):
        v, w = carried(i, model, frames, centre, velocity, spin)
        v, w = sub(get3(frames, i, VELOCITY), v), sub(get3(frames, i, SPIN), w)
        put3(y, i, V, add(get3(y, i, V), scale(grow, v)))
        put3(y, i, OMEGA, add(get3(y, i, OMEGA), scale(grow, turn_back(frames, i, AXES, w))))
    return True
