"""Holding a run to its ledger: energy = what it was at the start + work - dissipation.

The correction is the smallest change of velocity, in the metric of kinetic energy, that the joints
allow and that leaves the rigid motion of every free group, and so both its momenta, as it is: what
moves within is scaled. A group is what joints and forces between bodies, such as strings, hold
together. Where too little moves for that, as when a motion turns back, it is the smallest change of
poses instead."""

from __future__ import annotations

import math

from quirkpy.kernels.act.wrenches import INTO, OUT
from quirkpy.kernels.base.arrays import AXES, BENT, MASS, POSITION, SPIN, VELOCITY, Vec
from quirkpy.kernels.base.compiled import inner, kernel, shared
from quirkpy.kernels.base.matrices import sym6, sym_inverse, sym_times
from quirkpy.kernels.base.states import OMEGA, R, V
from quirkpy.kernels.base.vectors import (
    add,
    add3,
    centripetal,
    cross,
    dot,
    get3,
    norm,
    put3,
    scale,
    sub,
    turn,
    turn_back,
)
from quirkpy.kernels.place.kinematics import inertia_in_n
from quirkpy.kernels.step.projection import turn_quaternion
from quirkpy.kernels.tree.evaluation import stand
from quirkpy.kernels.tree.model import Model, Scratch
from quirkpy.kernels.tree.modes import (
    bending_energy,
    multiply,
    place_of_mass,
    turning_mass,
)
from quirkpy.maths.types import Floats, Ints

#: Of all the energy that moves within the groups a correction may be this share; more means that
#: something is wrong, and nothing is touched.
LARGEST_SHARE = 1e-2
#: Poses are changed where the share of accelerations that comes of turning is below this.
CENTRIPETAL_SHARE = 1e-12
#: What a correction changes.
UNCHANGED, VELOCITIES, POSES = range(3)


# Columns of the sums over an island: mass; mass centre, its velocity, angular velocity, angular
# momentum about the mass centre (3 each); moments of inertia xx xy xz yy yz zz; an angular momentum
# to be held (3).
ISLAND_MASS, CENTRE, DRIFT, TURNING, MOMENTUM, INERTIA, HELD, ISLAND_WIDTH = (
    0,
    1,
    4,
    7,
    10,
    13,
    19,
    22,
)


@inner
def rigid_motion(islands: Ints, model: Model, scratch: Scratch, sums: Floats) -> None:
    """Mass centre, its velocity, and angular velocity of every island or group, into its row of
    `sums`."""
    bodies, frames = model.bodies, scratch.frames
    n = bodies.shape[0]
    sums[:, :HELD] = 0.0
    for i in range(n):
        k, m = islands[i], bodies[i, MASS]
        if k >= 0:
            sums[k, ISLAND_MASS] += m
            add3(sums, k, CENTRE, scale(m, get3(frames, i, POSITION)))
            add3(sums, k, DRIFT, scale(m, get3(frames, i, VELOCITY)))
    if model.modes.what.shape[0] > 0:
        add_bent_centres(islands, model, scratch, sums)
    for k in range(n + 1):
        if sums[k, ISLAND_MASS] > 0.0:
            put3(sums, k, CENTRE, scale(1.0 / sums[k, ISLAND_MASS], get3(sums, k, CENTRE)))
            put3(sums, k, DRIFT, scale(1.0 / sums[k, ISLAND_MASS], get3(sums, k, DRIFT)))
    for i in range(n):
        k, m = islands[i], bodies[i, MASS]
        if k >= 0:
            d = sub(get3(frames, i, POSITION), get3(sums, k, CENTRE))
            own = inertia_in_n(bodies, frames, i)
            orbit = scale(m, cross(d, sub(get3(frames, i, VELOCITY), get3(sums, k, DRIFT))))
            add3(sums, k, MOMENTUM, add(sym_times(own, get3(frames, i, SPIN)), orbit))
            square = dot(d, d)
            sums[k, INERTIA] += own[0] + m * (square - d[0] * d[0])
            sums[k, INERTIA + 1] += own[1] - m * d[0] * d[1]
            sums[k, INERTIA + 2] += own[2] - m * d[0] * d[2]
            sums[k, INERTIA + 3] += own[3] + m * (square - d[1] * d[1])
            sums[k, INERTIA + 4] += own[4] - m * d[1] * d[2]
            sums[k, INERTIA + 5] += own[5] + m * (square - d[2] * d[2])
    if model.modes.what.shape[0] > 0:
        add_bent_moments(islands, model, scratch, sums)
    for k in range(n + 1):
        if sums[k, ISLAND_MASS] > 0.0:
            put3(
                sums,
                k,
                TURNING,
                sym_times(sym_inverse(sym6(sums, k, INERTIA)), get3(sums, k, MOMENTUM)),
            )


@shared
def add_bent_centres(islands: Ints, model: Model, scratch: Scratch, sums: Floats) -> None:
    """What bending adds to the moments of mass of islands, and to their rates."""
    modes, tail, general = model.modes, scratch.tail, scratch.general
    for b in range(modes.what.shape[0]):
        multiply(b, modes, tail, general)
        k = islands[modes.what[b, BENT]]
        if k >= 0:
            c, rate = place_of_mass(b, modes, scratch.frames, tail, general)
            add3(sums, k, CENTRE, c)
            add3(sums, k, DRIFT, rate)


@shared
def add_bent_moments(islands: Ints, model: Model, scratch: Scratch, sums: Floats) -> None:
    """What bending adds to the angular momenta and moments of inertia of islands about their mass
    centres."""
    modes, frames, tail, general = model.modes, scratch.frames, scratch.tail, scratch.general
    for b in range(modes.what.shape[0]):
        i = modes.what[b, BENT]
        k = islands[i]
        if k >= 0:
            c, rate = place_of_mass(b, modes, frames, tail, general)
            own, momentum = turning_mass(b, modes, frames, tail, general)
            d = sub(get3(frames, i, POSITION), get3(sums, k, CENTRE))
            v = sub(get3(frames, i, VELOCITY), get3(sums, k, DRIFT))
            add3(sums, k, MOMENTUM, add(momentum, add(cross(d, rate), cross(c, v))))
            along = 2.0 * dot(c, d)
            sums[k, INERTIA] += own[0] + along - 2.0 * c[0] * d[0]
            sums[k, INERTIA + 1] += own[1] - c[0] * d[1] - c[1] * d[0]
            sums[k, INERTIA + 2] += own[2] - c[0] * d[2] - c[2] * d[0]
            sums[k, INERTIA + 3] += own[3] + along - 2.0 * c[1] * d[1]
            sums[k, INERTIA + 4] += own[4] - c[1] * d[2] - c[2] * d[1]
            sums[k, INERTIA + 5] += own[5] + along - 2.0 * c[2] * d[2]


@inner
def within(i: int, model: Model, frames: Floats, sums: Floats) -> tuple[Vec, Vec]:
    """Velocity and angular velocity of body i beside the rigid motion of its group."""
    v, w, k = get3(frames, i, VELOCITY), get3(frames, i, SPIN), model.groups[i]
    if k < 0:
        return v, w
    turning = get3(sums, k, TURNING)
    arm = sub(get3(frames, i, POSITION), get3(sums, k, CENTRE))
    return sub(v, add(get3(sums, k, DRIFT), cross(turning, arm))), sub(w, turning)


@inner
def kinetic(i: int, v: Vec, w: Vec, model: Model, frames: Floats) -> float:
    """Kinetic energy of body i with the given velocities in N."""
    return 0.5 * (
        model.bodies[i, MASS] * dot(v, v)
        + dot(w, sym_times(inertia_in_n(model.bodies, frames, i), w))
    )


@kernel
def energy_of(model: Model, scratch: Scratch) -> float:
    """Kinetic and potential energy at the state that the scratch was evaluated at."""
    return motion_energy(model, scratch) + potential_of(scratch)


@inner
def potential_of(scratch: Scratch) -> float:
    """Potential energy at the state that the scratch was evaluated at."""
    out = 0.0
    for k in range(scratch.potential.shape[0]):
        out += scratch.potential[k]
    return out


@inner
def motion_energy(model: Model, scratch: Scratch) -> float:
    """Kinetic energy at the kinematics in the scratch."""
    out = 0.0
    for i in range(model.bodies.shape[0]):
        out += kinetic(
            i,
            get3(scratch.frames, i, VELOCITY),
            get3(scratch.frames, i, SPIN),
            model,
            scratch.frames,
        )
    if model.modes.what.shape[0] > 0:
        out += motion_of_modes(model, scratch)
    return out


@shared
def motion_of_modes(model: Model, scratch: Scratch) -> float:
    """Kinetic energy of bodies that bend beyond that of the same bodies, undeformed and stiff."""
    return bending_energy(model.modes, model.bodies, scratch.frames, scratch.tail, scratch.general)


@shared
def restore_energy(
    y: Floats, start: float, accelerations: Floats, h: float, model: Model, scratch: Scratch
) -> int:
    """Change the state so that energy + dissipated - work is `start` again; y as just evaluated,
    with its accelerations (nb, 6), after a step of length h. Returns VELOCITIES where what moves
    within the groups was scaled, POSES where too little moves for that, or UNCHANGED."""
    n, frames, sums = model.bodies.shape[0], scratch.frames, scratch.islands
    missing = start + y[n, INTO] - y[n, OUT] - energy_of(model, scratch)
    rigid_motion(model.groups, model, scratch, sums)
    inside = 0.0
    for i in range(n):
        v, w = within(i, model, frames, sums)
        inside += kinetic(i, v, w, model, frames)
    if missing == 0.0:
        return UNCHANGED
    if abs(missing) > LARGEST_SHARE * inside:
        return raise_poses(y, missing, accelerations, h, model, scratch)
    grow = math.sqrt(1.0 + missing / inside) - 1.0
    for i in range(n):
        v, w = within(i, model, frames, sums)
        add3(y, i, V, scale(grow, v))
        add3(y, i, OMEGA, scale(grow, turn_back(frames, i, AXES, w)))
    return VELOCITIES


@inner
def raise_poses(
    y: Floats, missing: float, accelerations: Floats, h: float, model: Model, scratch: Scratch
) -> int:
    """Move all bodies against their accelerations, so far that this takes the missing energy; free
    groups keep their angular momentum. Not where they turn, since then accelerations are no motion
    that joints allow, nor by more than a small share of what accelerations move in a step, nor
    where bodies bend."""
    n, frames, sums = model.bodies.shape[0], scratch.frames, scratch.islands
    slope, turning = 0.0, 0.0
    for i in range(n):
        k, turned = model.groups[i], turn(frames, i, AXES, get3(accelerations, i, 3))
        slope += 2.0 * kinetic(i, get3(accelerations, i, 0), turned, model, frames)
        if k >= 0:
            w, arm = get3(sums, k, TURNING), sub(get3(frames, i, POSITION), get3(sums, k, CENTRE))
            turning += 2.0 * kinetic(i, centripetal(w, arm), scale(norm(w), w), model, frames)
    bends = model.modes.what.shape[0] > 0
    far = abs(missing) >= LARGEST_SHARE * h * h * slope
    if bends or far or turning > CENTRIPETAL_SHARE * slope:
        return UNCHANGED
    for k in range(n + 1):
        put3(sums, k, HELD, get3(sums, k, MOMENTUM))
    step = -missing / slope
    for i in range(n):
        turned = turn(frames, i, AXES, get3(accelerations, i, 3))
        add3(y, i, R, scale(step, get3(accelerations, i, 0)))
        turn_quaternion(y, i, scale(step, turned))
    turn_islands(model.groups, y, model, scratch)
    return POSES


@kernel
def hold_momentum(before: Floats, after: Floats, model: Model, scratch: Scratch) -> None:
    """Turn every free island of `after` as a whole so that its angular momentum is that of
    `before`.

    Moved poses with the old velocities have another one; a rigid turn of the velocities is what
    every joint allows."""
    n, sums = model.bodies.shape[0], scratch.islands
    stand(before, model, scratch)
    rigid_motion(model.islands, model, scratch, sums)
    for k in range(n + 1):
        put3(sums, k, HELD, get3(sums, k, MOMENTUM))
    turn_islands(model.islands, after, model, scratch)


@inner
def turn_islands(islands: Ints, after: Floats, model: Model, scratch: Scratch) -> None:
    """Turn the velocities of every free island or group as a whole so that its angular momentum is
    the one that is held."""
    n, frames, sums = model.bodies.shape[0], scratch.frames, scratch.islands
    stand(after, model, scratch)
    rigid_motion(islands, model, scratch, sums)
    for i in range(n):
        k = islands[i]
        if k >= 0:
            missing = sub(get3(sums, k, HELD), get3(sums, k, MOMENTUM))
            w = sym_times(sym_inverse(sym6(sums, k, INERTIA)), missing)
            add3(after, i, V, cross(w, sub(get3(frames, i, POSITION), get3(sums, k, CENTRE))))
            add3(after, i, OMEGA, turn_back(frames, i, AXES, w))
