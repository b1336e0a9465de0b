"""States in the coordinates of their tree: how each body has moved on what it hangs on, since a
state that is their base.

A turn or a slide has one coordinate, a ball joint three, the components of a rotation vector; what
is free, or hangs on a joint with several unlike freedoms, six.  Roots of parts that float hang on a
carrier, which goes on with the motion of all these as a whole.  So what is stiff keeps its
direction while all turns, joints of the tree stay shut, and quaternions have the length one."""

from __future__ import annotations

import math
from typing import NamedTuple

from quirkpy.kernels.base.arrays import (
    AXES,
    FRAME_WIDTH,
    MASS,
    POSITION,
    SPIN,
    VELOCITY,
    Mat,
    Vec,
)
from quirkpy.kernels.base.compiled import inner, shared
from quirkpy.kernels.base.matrices import sym_inverse, sym_times
from quirkpy.kernels.base.states import OMEGA, Q, R, V, tail_start
from quirkpy.kernels.base.vectors import (
    Four,
    add,
    add3,
    cross,
    get3,
    get4,
    norm,
    put3,
    scale,
    sub,
    turn_back,
)
from quirkpy.kernels.place.kinematics import rotation_matrix
from quirkpy.kernels.place.sites import arm_on, axis_on, from_body
from quirkpy.kernels.step.steps import BEGIN, Run
from quirkpy.kernels.tree.evaluation import stand
from quirkpy.kernels.tree.model import Model, Scratch
from quirkpy.kernels.tree.tree import AXIS_NUMBER, FAR, NEAR, ORDER
from quirkpy.maths.types import Floats, Ints

#: How a body moves on what it hangs on.
RIGID, TURNS, SLIDES, BALLED, FREE = range(5)
#: How many coordinates that takes.
COORDINATES = (0, 1, 1, 3, 6)
# Columns of Relative.what, a row per body: RIGID ...; on what it hangs, as a row of the frames (the
# carrier's is the last, behind the ground's); where its coordinates begin.
HOW, UNDER, FIRST, WHAT_WIDTH = range(4)
# Columns of Relative.base, a row per body: how it is turned beside what it hangs on; the joint on
# that, in its axes; from the joint to the mass centre, in axes of the body; axis of the joint.
TURNED_BY, PIVOT, ARM, AXIS, BASE_WIDTH = 0, 4, 7, 10, 13
# Further columns of frames: quaternion; accelerations in N, linear and angular.
TURNED, PUSHED, SPUN, RELATIVE_WIDTH = FRAME_WIDTH, FRAME_WIDTH + 4, FRAME_WIDTH + 7, 28
#: The frames of the base, behind those of the three stages of a step.
AT_BASE = 3
#: The share of the moments of all masses below which they are taken as lying on a line.
ON_A_LINE = 1e-8
#: Below this [rad] series serve for what a rotation vector does.
SLIGHT_TURN = 1e-2


class Relative(NamedTuple):
    """what (nb, WHAT_WIDTH), base (nb, BASE_WIDTH), frames of three stages and of the base (4, nb +
    2, RELATIVE_WIDTH); the carrier at the base: place, velocity, spin (3, 3); of each coordinate
    that is part of a rotation vector where that begins (-1: of none), and what its rate takes from
    the three (count, 3)."""

    what: Ints
    base: Floats
    frames: Floats
    carrier: Floats
    triple: Ints
    turning: Floats


# --- rotations ------------------------------------------------------------------------------------
@inner
def put4(array: Floats, i: int, first: int, q: Four) -> None:
    """Write four numbers into row i, from column `first` on."""
    for k in range(4):
        array[i, first + k] = q[k]


@inner
def product(a: Four, b: Four) -> Four:
    """The quaternion a b: first b turns, then a."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@inner
def unit(q: Four) -> Four:
    """A quaternion of the length one."""
    size = 1.0 / math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return size * q[0], size * q[1], size * q[2], size * q[3]


@inner
def rotation_by(d: Vec) -> Four:
    """The quaternion of a rotation vector [rad]."""
    angle = norm(d)
    if angle < SLIGHT_TURN:
        square = angle * angle
        s = 0.5 - square / 48.0 + square * square / 3840.0
    else:
        s = math.sin(0.5 * angle) / angle
    return math.cos(0.5 * angle), s * d[0], s * d[1], s * d[2]


@inner
def rate_of_turn(d: Vec, w: Vec) -> Vec:
    """How a rotation vector d changes [rad/s] where what it turns does so with w, in its own
    axes."""
    angle = norm(d)
    if angle < SLIGHT_TURN:
        c = 1.0 / 12.0 + angle * angle / 720.0
    else:
        half = 0.5 * angle
        c = (1.0 - half * math.cos(half) / math.sin(half)) / (angle * angle)
    beside = cross(d, w)
    return add(w, add(scale(0.5, beside), scale(c, cross(d, beside))))


# --- the base -------------------------------------------------------------------------------------
@inner
def set_frame(q: Four, r: Vec, v: Vec, w: Vec, i: int, frames: Floats) -> None:
    """Row i of frames: attitude, place, velocity and spin, in N."""
    nine = rotation_matrix(q[0], q[1], q[2], q[3])
    put4(frames, i, TURNED, q)
    put3(frames, i, AXES, (nine[0], nine[1], nine[2]))
    put3(frames, i, AXES + 3, (nine[3], nine[4], nine[5]))
    put3(frames, i, AXES + 6, (nine[6], nine[7], nine[8]))
    put3(frames, i, POSITION, r)
    put3(frames, i, VELOCITY, v)
    put3(frames, i, SPIN, w)


@inner
def carry(tau: float, relative: Relative, frames: Floats) -> None:
    """The carrier a time [s] after the base."""
    c = relative.carrier
    w, v = get3(c, 2, 0), get3(c, 1, 0)
    place = add(get3(c, 0, 0), scale(tau, v))
    set_frame(rotation_by(scale(tau, w)), place, v, w, frames.shape[0] - 1, frames)


@inner
def floats(i: int, relative: Relative) -> bool:
    """Whether body i hangs, over others, on the carrier."""
    last = relative.frames.shape[1] - 1
    p = relative.what[i, UNDER]
    while p < last - 1:
        p = relative.what[p, UNDER]
    return p == last


@inner
def find_carrier(model: Model, relative: Relative, frames: Floats) -> None:
    """The carrier at the base: the mass centre of all that floats, and how that turns about it, as
    if masses were points; a single root turns by itself."""
    c, mass, roots = relative.carrier, 0.0, 0
    c[:] = 0.0
    for i in range(model.bodies.shape[0]):
        if floats(i, relative):
            m = model.bodies[i, MASS]
            mass += m
            roots += 1 if relative.what[i, UNDER] == frames.shape[0] - 1 else 0
            add3(c, 0, 0, scale(m, get3(frames, i, POSITION)))
            add3(c, 1, 0, scale(m, get3(frames, i, VELOCITY)))
    if mass > 0.0:
        put3(c, 0, 0, scale(1.0 / mass, get3(c, 0, 0)))
        put3(c, 1, 0, scale(1.0 / mass, get3(c, 1, 0)))
    if roots > 1:
        put3(c, 2, 0, spin_of_all(model, relative, frames))


@inner
def spin_of_all(model: Model, relative: Relative, frames: Floats) -> Vec:
    """The angular velocity with which the mass centres of all that floats turn about theirs."""
    c, momentum = relative.carrier, (0.0, 0.0, 0.0)
    xx, xy, xz, yy, yz, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(model.bodies.shape[0]):
        if floats(i, relative):
            m = model.bodies[i, MASS]
            d = sub(get3(frames, i, POSITION), get3(c, 0, 0))
            v = sub(get3(frames, i, VELOCITY), get3(c, 1, 0))
            momentum = add(momentum, scale(m, cross(d, v)))
            xx, yy, zz = xx + m * d[0] * d[0], yy + m * d[1] * d[1], zz + m * d[2] * d[2]
            xy, xz, yz = xy - m * d[0] * d[1], xz - m * d[0] * d[2], yz - m * d[1] * d[2]
    all_moments = xx + yy + zz
    if not all_moments > 0.0:
        return momentum
    e = ON_A_LINE * all_moments
    return sym_times(sym_inverse((yy + zz + e, xy, xz, xx + zz + e, yz, xx + yy + e)), momentum)


@shared
def set_base(run: Run, model: Model, scratch: Scratch, relative: Relative, x: Floats) -> None:
    """The state in BEGIN as the base; x: its coordinates, all zero, its speeds, its tail."""
    n, frames, y = model.bodies.shape[0], relative.frames[AT_BASE], run.states[BEGIN]
    stand(y, model, scratch)
    for i in range(n):
        for k in range(FRAME_WIDTH):
            frames[i, k] = scratch.frames[i, k]
        put4(frames, i, TURNED, get4(y, i, Q))
    find_carrier(model, relative, frames)
    carry(0.0, relative, frames)
    x[:] = 0.0
    for i in range(n):
        hang(i, model, scratch, relative, frames)
        take_speeds(i, x, relative, frames)
    count, first = relative.triple.shape[0], tail_start(n)
    for k in range(scratch.tail.shape[1]):
        x[2 * count + k] = run.lines[BEGIN, first + k]


@inner
def hang(i: int, model: Model, scratch: Scratch, relative: Relative, frames: Floats) -> None:
    """How body i hangs at the base."""
    how, p, base, nodes = relative.what[i, HOW], relative.what[i, UNDER], relative.base, model.tree
    q, r = get4(frames, p, TURNED), get3(frames, i, POSITION)
    back = (q[0], -q[1], -q[2], -q[3])
    put4(base, i, TURNED_BY, product(back, get4(frames, i, TURNED)))
    joint, axis = r, (0.0, 0.0, 0.0)
    if how == TURNS or how == BALLED:
        joint = add(r, arm_on(i, nodes.nodes[i, FAR], model.sites, scratch.frames))
    if how == TURNS or how == SLIDES:
        near, number = nodes.nodes[i, NEAR], nodes.nodes[i, AXIS_NUMBER]
        axis = axis_on(p, near, number, model.sites, scratch.frames)
        axis = turn_back(frames, i if how == TURNS else p, AXES, axis)
    put3(base, i, PIVOT, turn_back(frames, p, AXES, sub(joint, get3(frames, p, POSITION))))
    put3(base, i, ARM, turn_back(frames, i, AXES, sub(r, joint)))
    put3(base, i, AXIS, axis)


@inner
def take_speeds(i: int, x: Floats, relative: Relative, frames: Floats) -> None:
    """The speeds of body i on what it hangs on."""
    p = relative.what[i, UNDER]
    wp, d = get3(frames, p, SPIN), sub(get3(frames, i, POSITION), get3(frames, p, POSITION))
    beside = sub(get3(frames, i, VELOCITY), get3(frames, p, VELOCITY))
    slip = turn_back(frames, p, AXES, sub(beside, cross(wp, d)))
    spin = turn_back(frames, i, AXES, sub(get3(frames, i, SPIN), wp))
    put_parts(i, relative.triple.shape[0], slip, spin, x, relative)


# --- coordinates and bodies -----------------------------------------------------------------------
@inner
def put_parts(i: int, after: int, slide: Vec, turning: Vec, x: Floats, relative: Relative) -> None:
    """Of a motion of body i on what it hangs on what its joint allows, into its coordinates in x,
    or, `after` these, its speeds."""
    how, k, axis = relative.what[i, HOW], relative.what[i, FIRST] + after, relative.base[i]
    if how == TURNS:
        x[k] = axis[AXIS] * turning[0] + axis[AXIS + 1] * turning[1] + axis[AXIS + 2] * turning[2]
    elif how == SLIDES:
        x[k] = axis[AXIS] * slide[0] + axis[AXIS + 1] * slide[1] + axis[AXIS + 2] * slide[2]
    elif how == BALLED:
        x[k], x[k + 1], x[k + 2] = turning
    elif how == FREE:
        x[k], x[k + 1], x[k + 2] = slide
        x[k + 3], x[k + 4], x[k + 5] = turning


@inner
def parts_of(i: int, after: int, x: Floats, relative: Relative) -> tuple[Vec, Vec]:
    """How far body i slides and turns by its coordinates, or, `after` these, by its speeds: along
    the axes of what it hangs on, and along its own."""
    how, k, axis = relative.what[i, HOW], relative.what[i, FIRST] + after, relative.base
    none = (0.0, 0.0, 0.0)
    if how == TURNS:
        return none, scale(x[k], get3(axis, i, AXIS))
    if how == SLIDES:
        return scale(x[k], get3(axis, i, AXIS)), none
    if how == BALLED:
        return none, (x[k], x[k + 1], x[k + 2])
    if how == FREE:
        return (x[k], x[k + 1], x[k + 2]), (x[k + 3], x[k + 4], x[k + 5])
    return none, none


@shared
def place(
    x: Floats, tau: float, stage: int, line: int, run: Run, model: Model, scratch: Scratch,
    relative: Relative,
) -> None:  # fmt: skip
    """The state with the coordinates x, a time [s] after the base, into a line, and its frames;
    the ledger there is left as it is."""
    nodes, frames, y = model.tree.nodes, relative.frames[stage], run.states[line]
    carry(tau, relative, frames)
    bodies = relative.what.shape[0]
    for k in range(nodes.shape[0] - 1):
        if nodes[k, ORDER] < bodies:  # no station
            place_body(nodes[k, ORDER], x, y, relative, frames)
    after, first = 2 * relative.triple.shape[0], tail_start(bodies)
    for k in range(scratch.tail.shape[1]):
        run.lines[line, first + k] = x[after + k]


@inner
def place_body(i: int, x: Floats, y: Floats, relative: Relative, frames: Floats) -> None:
    """Body i, where that on which it hangs has its place."""
    p, base = relative.what[i, UNDER], relative.base
    slide, turning = parts_of(i, 0, x, relative)
    slip, spin = parts_of(i, relative.triple.shape[0], x, relative)
    q = product(get4(frames, p, TURNED), get4(base, i, TURNED_BY))
    q = unit(product(q, rotation_by(turning)))
    nine = rotation_matrix(q[0], q[1], q[2], q[3])
    own = times(nine, get3(base, i, ARM))
    there = from_body(p, add(get3(base, i, PIVOT), slide), frames)
    wp = get3(frames, p, SPIN)
    w = add(wp, times(nine, spin))
    v = add(add(get3(frames, p, VELOCITY), cross(wp, there)), from_body(p, slip, frames))
    v = add(v, cross(w, own))
    r = add(add(get3(frames, p, POSITION), there), own)
    set_frame(q, r, v, w, i, frames)
    put4(y, i, Q, q)
    put3(y, i, R, r)
    put3(y, i, V, v)
    put3(y, i, OMEGA, turn_back(frames, i, AXES, w))


@inner
def times(m: Mat, a: Vec) -> Vec:
    """Matrix, row by row, times vector."""
    return (
        m[0] * a[0] + m[1] * a[1] + m[2] * a[2],
        m[3] * a[0] + m[4] * a[1] + m[5] * a[2],
        m[6] * a[0] + m[7] * a[1] + m[8] * a[2],
    )


@shared
def take_frames(stage: int, line: int, x: Floats, run: Run, relative: Relative) -> None:
    """Frames and speeds as the state in a line has them, where something else has moved it."""
    frames, y = relative.frames[stage], run.states[line]
    for i in range(run.out.shape[0]):
        q = get4(y, i, Q)
        w = times(rotation_matrix(q[0], q[1], q[2], q[3]), get3(y, i, OMEGA))
        set_frame(q, get3(y, i, R), get3(y, i, V), w, i, frames)
    for i in range(run.out.shape[0]):
        take_speeds(i, x, relative, frames)


# --- rates ----------------------------------------------------------------------------------------
@shared
def rates_of(
    x: Floats, stage: int, line: int, out: Floats, run: Run, scratch: Scratch, relative: Relative
) -> None:  # fmt: skip
    """How the coordinates x of a stage change, and its speeds and tail, from the slope of its state
    in a line, into `out`."""
    n, frames, slope = run.out.shape[0], relative.frames[stage], run.states[line]
    for i in range(n):
        put3(frames, i, PUSHED, get3(slope, i, V))
        put3(frames, i, SPUN, from_body(i, get3(slope, i, OMEGA), frames))
    for i in range(n):
        rates_of_body(i, x, out, relative, frames)
    after, first = 2 * relative.triple.shape[0], tail_start(n)
    for k in range(scratch.tail.shape[1]):
        out[after + k] = run.lines[line, first + k]


@inner
def rates_of_body(i: int, x: Floats, out: Floats, relative: Relative, frames: Floats) -> None:
    """The rates of the coordinates and speeds of body i."""
    p, count = relative.what[i, UNDER], relative.triple.shape[0]
    slip, spin = parts_of(i, count, x, relative)
    turning = parts_of(i, 0, x, relative)[1]
    how = relative.what[i, HOW]
    put_parts(i, 0, slip, spin if how == TURNS else rate_of_turn(turning, spin), out, relative)
    w, wp, ap = get3(frames, i, SPIN), get3(frames, p, SPIN), get3(frames, p, SPUN)
    d = sub(get3(frames, i, POSITION), get3(frames, p, POSITION))
    beside = sub(get3(frames, i, VELOCITY), get3(frames, p, VELOCITY))
    pushed = sub(sub(get3(frames, i, PUSHED), get3(frames, p, PUSHED)), cross(ap, d))
    pushed = sub(pushed, cross(wp, sub(scale(2.0, beside), cross(wp, d))))
    spun = add(sub(get3(frames, i, SPUN), ap), cross(w, wp))
    pushed, spun = turn_back(frames, p, AXES, pushed), turn_back(frames, i, AXES, spun)
    put_parts(i, count, pushed, spun, out, relative)


@inner
def note_turning(x: Floats, relative: Relative) -> None:
    """How the rates of rotation vectors change with these, at the base: half a cross product."""
    turning, count = relative.turning, relative.triple.shape[0]
    for i in range(relative.what.shape[0]):
        how, k = relative.what[i, HOW], relative.what[i, FIRST]
        if how == BALLED or how == FREE:
            k += 3 if how == FREE else 0
            w = get3_of(x, count + k)
            put3(turning, k, 0, (0.0, 0.5 * w[2], -0.5 * w[1]))
            put3(turning, k + 1, 0, (-0.5 * w[2], 0.0, 0.5 * w[0]))
            put3(turning, k + 2, 0, (0.5 * w[1], -0.5 * w[0], 0.0))


@inner
def get3_of(x: Floats, k: int) -> Vec:
    """Three numbers, from number k on."""
    return x[k], x[k + 1], x[k + 2]


@inner
def farthest_turn(after: int, x: Floats, relative: Relative) -> float:
    """The largest angle [rad] by which a body is turned on what it hangs on, or, `after` the
    coordinates, the largest rate of one [rad/s]."""
    most = 0.0
    for i in range(relative.what.shape[0]):
        most = max(most, norm(parts_of(i, after, x, relative)[1]))
    return most


@inner
def extent(model: Model, relative: Relative) -> float:
    """How far bodies are from what they hang on, at most [m]; 1 where that is nothing."""
    most = 0.0
    for i in range(model.bodies.shape[0]):
        most = max(most, norm(get3(relative.base, i, PIVOT)) + norm(get3(relative.base, i, ARM)))
    return most if most > 0.0 else 1.0
