"""Bodies that bend, in the recursion: their modes are eliminated where the tree reaches them.

A body that bends and its stations are the members of one set.  The tree reaches the set at one of
them, its head; the others hang on that without a joint.  With the amounts u'' of the modes, and the
acceleration a of the head,

    a_m = X a + Phi_m' u'' + beta_m                      acceleration of member m, at its point
    D u'' + V a + y = 0,   D = 1 + sum Phi_m I_m Phi_m'  what the modes do

Each member hands inertia I_m and load to the head, as a body that is locked to it does, and its
share to D, V and y; the last of them, the lead, eliminates the modes: with D = L L', W = L^-1 V the
head keeps I - W'W.  Where the body itself is not the head, its coupling U of rigid motion and modes
belongs to D and V as well.  Shapes are mass-normalised, so a body alone has D = 1."""

from __future__ import annotations

import math

from quirkpy.kernels.base.arrays import (
    BENT,
    FIRST_COORDINATE,
    FIRST_SPEED,
    FIRST_STATION,
    LAST_STATION,
    MODE_COUNT,
    MOMENTS,
    POSITION,
    SPIN,
    STATION_SHORTENING,
    VELOCITY,
    Modes,
    Vec,
)
from quirkpy.kernels.base.compiled import inner, shared
from quirkpy.kernels.base.matrices import mixed_transposed, sym6, sym_times
from quirkpy.kernels.base.states import further
from quirkpy.kernels.base.vectors import (
    add,
    add3,
    centripetal,
    cross,
    dot,
    get3,
    put3,
    scale,
    sub,
)
from quirkpy.kernels.place.bending import (
    DISPLACEMENT,
    ROTATION,
    shape_of,
    spin_bias,
    spin_by,
)
from quirkpy.kernels.place.sites import from_body
from quirkpy.kernels.tree.elimination import (
    ACCELERATION,
    ANGULAR,
    BIAS,
    CENTRE,
    CHANGE,
    LINEAR,
    LOAD,
    MIXED,
    POINT,
    SHIFT,
    whole_bias,
)
from quirkpy.kernels.tree.model import Model, Scratch
from quirkpy.kernels.tree.modes import (
    ANSWER,
    COUPLING,
    FACTORS,
    HALF,
    LOADS,
    PUSH,
    SHAPES,
    STEP,
    column_of,
    multiply,
    put_body,
    put_modes,
    turned_moments,
)
from quirkpy.kernels.tree.tree import (
    COUNT,
    FIRST,
    LEAD_NODE,
    MEMBER_NODE,
    MOTION,
    NODE,
    PARENT,
    Tree,
)
from quirkpy.maths.types import Floats, Ints


# --- stations -------------------------------------------------------------------------------------
@inner
def put_station(
    s: int, b: int, modes: Modes, frames: Floats, wrench: Floats, tail: Floats, work: Floats,
    general: Floats,
) -> None:  # fmt: skip
    """Shapes of a station in N, relative to its body, its beta, and its load; it has no inertia."""
    i, n, q = modes.what[b, BENT], modes.what[b, MODE_COUNT], modes.what[b, FIRST_COORDINATE]
    u, row = modes.what[b, FIRST_SPEED], frames.shape[0] - 1 - modes.stations.shape[0] + s
    theta, turning, slip = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(n):
        psi = shape_of(modes, s, ROTATION, k)
        theta = add(theta, scale(tail[0, q + k], psi))
        turning = add(turning, scale(tail[0, u + k], psi))
    to, drawn = column_of(n, SHAPES), (0.0, 0.0, 0.0)
    for k in range(n):
        rate = tail[0, u + k]
        near = nearing(modes, s, k, n, tail, q)
        drawn = add(drawn, scale(rate, nearing(modes, s, k, n, tail, u)))
        phi = sub(shape_of(modes, s, DISPLACEMENT, k), near)
        slip = add(slip, scale(rate, phi))
        psi = spin_by(theta, shape_of(modes, s, ROTATION, k))
        put3(general, row, to + 6 * k, from_body(i, phi, frames))
        put3(general, row, to + 6 * k + 3, from_body(i, psi, frames))
    w, arm = get3(frames, i, SPIN), sub(get3(frames, row, POSITION), get3(frames, i, POSITION))
    moving = cross(w, from_body(i, slip, frames))
    beta = sub(add(centripetal(w, arm), scale(2.0, moving)), from_body(i, drawn, frames))
    spin = from_body(i, spin_by(theta, turning), frames)
    put3(general, row, to + 6 * n, beta)
    alpha = add(from_body(i, spin_bias(theta, turning), frames), cross(w, spin))
    put3(general, row, to + 6 * n + 3, alpha)
    for c in range(LINEAR, ANGULAR + 6):
        work[row, c] = 0.0
    put3(work, row, POINT, (0.0, 0.0, 0.0))
    put3(work, row, LOAD, scale(-1.0, get3(wrench, row, 0)))
    put3(work, row, LOAD + 3, scale(-1.0, get3(wrench, row, 3)))


@inner
def nearing(modes: Modes, s: int, k: int, n: int, tail: Floats, first: int) -> Vec:
    """Row k of eta times amounts that begin at `first` in the tail, along the three body axes."""
    return (
        nearing_along(modes, s, 0, k, n, tail, first),
        nearing_along(modes, s, 1, k, n, tail, first),
        nearing_along(modes, s, 2, k, n, tail, first),
    )


@inner
def nearing_along(
    modes: Modes, s: int, axis: int, k: int, n: int, tail: Floats, first: int
) -> float:
    """Row k of eta times amounts, along one body axis."""
    at, out = modes.stations[s, STATION_SHORTENING + axis], 0.0
    for c in range(n if at >= 0 else 0):
        out += modes.numbers[at + n * k + c] * tail[0, first + c]
    return out


# --- members relative to their head ---------------------------------------------------------------
@inner
def beta_of(row: int, i: int, n: int, general: Floats) -> tuple[Vec, Vec]:
    """Beta of a member relative to its body i, whose own is zero."""
    if row == i:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    at = column_of(n, SHAPES) + 6 * n
    return get3(general, row, at), get3(general, row, at + 3)


@inner
def put_member(
    row: int, head: int, i: int, n: int, keep: float, work: Floats, general: Floats
) -> None:
    """Shapes and beta of a member relative to the head of its set, instead of its body."""
    d, at = get3(work, row, SHIFT), column_of(n, SHAPES)
    a, alpha = beta_of(row, i, n, general)
    a_head, alpha_head = beta_of(head, i, n, general)
    a = sub(sub(a, a_head), cross(alpha_head, d))
    put3(work, row, BIAS, scale(keep, a))
    put3(work, row, BIAS + 3, scale(keep, sub(alpha, alpha_head)))
    for k in range(n):
        phi, psi = get3(general, head, at + 6 * k), get3(general, head, at + 6 * k + 3)
        add3(general, row, at + 6 * k, scale(-1.0, add(phi, cross(psi, d))))
        add3(general, row, at + 6 * k + 3, scale(-1.0, psi))


@inner
def start_modes(i: int, head: int, n: int, work: Floats, general: Floats) -> None:
    """D, V and y of body i alone."""
    d, shapes, coupling = get3(work, i, SHIFT), column_of(n, SHAPES), column_of(n, COUPLING)
    half, push, square = column_of(n, HALF), column_of(n, PUSH), column_of(n, FACTORS)
    a, alpha = get3(work, i, BIAS), get3(work, i, BIAS + 3)
    for k in range(n):
        f, m = get3(general, i, coupling + 6 * k), get3(general, i, coupling + 6 * k + 3)
        general[i, push + k] = -general[i, column_of(n, LOADS) + k]
        put3(general, i, half + 6 * k, f)
        put3(general, i, half + 6 * k + 3, m)
        for c in range(k + 1):
            general[i, square + n * k + c] = 1.0 if c == k else 0.0
        if i != head:
            general[i, push + k] += dot(f, a) + dot(m, alpha)
            add3(general, i, half + 6 * k + 3, cross(d, f))
            for c in range(k + 1):
                both = 0.0
                for e in range(6):
                    both += general[i, coupling + 6 * k + e] * general[i, shapes + 6 * c + e]
                    both += general[i, coupling + 6 * c + e] * general[i, shapes + 6 * k + e]
                general[i, square + n * k + c] += both


@shared
def bend(keep: float, model: Model, scratch: Scratch) -> None:
    """All of bodies that bend that goes before the recursion; keep = 0: without what velocities and
    loads do."""
    tree, modes, bodies = model.tree, model.modes, model.bodies
    frames, wrench, tail = scratch.frames, scratch.wrench, scratch.tail
    work, general = scratch.work, scratch.general
    first = frames.shape[0] - 1 - modes.stations.shape[0]
    for b in range(modes.what.shape[0]):
        i, n = modes.what[b, BENT], modes.what[b, MODE_COUNT]
        multiply(b, modes, tail, general)
        put_body(b, modes, bodies, frames, wrench, tail, work, general)
        put_modes(b, keep, modes, frames, tail, general)
        head = tree.nodes[i, PARENT] if tree.nodes[i, NODE] >= MEMBER_NODE else i
        for s in range(modes.what[b, FIRST_STATION], modes.what[b, LAST_STATION]):
            put_station(s, b, modes, frames, wrench, tail, work, general)
        for s in range(modes.what[b, FIRST_STATION], modes.what[b, LAST_STATION]):
            if first + s != head:
                put_member(first + s, head, i, n, keep, work, general)
        if i != head:
            put_member(i, head, i, n, keep, work, general)
        start_modes(i, head, n, work, general)


# --- the recursion --------------------------------------------------------------------------------
@inner
def is_loaded(i: int, work: Floats) -> bool:
    """Whether a member has inertia, or bodies hang on it that have."""
    return bool(work[i, LINEAR] + work[i, LINEAR + 3] + work[i, LINEAR + 5] > 0.0)


@inner
def share_inertia(i: int, body: int, n: int, work: Floats, general: Floats) -> None:
    """Add Phi I X to V, and Phi I Phi' to D, of member i."""
    A, C = sym6(work, i, LINEAR), sym6(work, i, ANGULAR)
    b0, b1, b2 = get3(work, i, MIXED), get3(work, i, MIXED + 3), get3(work, i, MIXED + 6)
    d, shapes = get3(work, i, SHIFT), column_of(n, SHAPES)
    half, square = column_of(n, HALF), column_of(n, FACTORS)
    for k in range(n):
        phi, psi = get3(general, i, shapes + 6 * k), get3(general, i, shapes + 6 * k + 3)
        f = add(sym_times(A, phi), (dot(b0, psi), dot(b1, psi), dot(b2, psi)))
        m = add(mixed_transposed(b0, b1, b2, phi), sym_times(C, psi))
        add3(general, body, half + 6 * k, f)
        add3(general, body, half + 6 * k + 3, add(m, cross(d, f)))
        for c in range(k + 1):
            at = shapes + 6 * c
            both = dot(f, get3(general, i, at)) + dot(m, get3(general, i, at + 3))
            general[body, square + n * k + c] += both


@inner
def take_member(i: int, tree: Tree, scratch: Scratch) -> None:
    """What member i adds to the modes of its set; the lead, the last of them, eliminates these."""
    nodes, work, general = tree.nodes, scratch.work, scratch.general
    body, n = nodes[i, MOTION], nodes[i, COUNT]
    f, m = whole_bias(i, work)
    push, shapes = column_of(n, PUSH), column_of(n, SHAPES)
    for k in range(n):
        phi, psi = get3(general, i, shapes + 6 * k), get3(general, i, shapes + 6 * k + 3)
        general[body, push + k] += dot(phi, f) + dot(psi, m)
    if is_loaded(i, work):
        share_inertia(i, body, n, work, general)
    if nodes[i, NODE] == LEAD_NODE:
        factorize_modes(body, n, general)
        reduce_head(nodes[i, PARENT], body, n, work, general)


@inner
def factorize_modes(body: int, n: int, general: Floats) -> None:
    """D = L L'; V becomes W = L^-1 V, and y L^-1 y.  Zeros at the beginning of a row stay."""
    half, push, square = column_of(n, HALF), column_of(n, PUSH), column_of(n, FACTORS)
    for k in range(n):
        at, low = square + n * k, 0
        while low < k and general[body, at + low] == 0.0:
            low += 1
        for c in range(low, k + 1):
            to = square + n * c
            x = general[body, at + c]
            for e in range(low, c):
                x -= general[body, at + e] * general[body, to + e]
            general[body, at + c] = math.sqrt(x) if c == k else x / general[body, to + c]
        back = 1.0 / general[body, at + k]
        for e in range(low, k):
            x = general[body, at + e]
            general[body, push + k] -= x * general[body, push + e]
            for c in range(6):
                general[body, half + 6 * k + c] -= x * general[body, half + 6 * e + c]
        general[body, push + k] *= back
        for c in range(6):
            general[body, half + 6 * k + c] *= back


@inner
def reduce_head(head: int, body: int, n: int, work: Floats, general: Floats) -> None:
    """Take from the head what the modes give way: I - W'W, p - W'y."""
    half, push = column_of(n, HALF), column_of(n, PUSH)
    for k in range(n):
        v, w = get3(general, body, half + 6 * k), get3(general, body, half + 6 * k + 3)
        y, at = general[body, push + k], 0
        for r in range(3):
            for c in range(3):
                work[head, MIXED + 3 * r + c] -= v[r] * w[c]
                if c >= r:
                    work[head, LINEAR + at] -= v[r] * v[c]
                    work[head, ANGULAR + at] -= w[r] * w[c]
                    at += 1
        add3(work, head, LOAD, scale(-y, v))
        add3(work, head, LOAD + 3, scale(-y, w))


@inner
def solve_modes(
    body: int, n: int, a: Vec, alpha: Vec, given: Floats, at: int, sign: float, general: Floats
) -> None:
    """STEP = L^-T (sign given[at:] - W a), of the acceleration a of the head."""
    half, step, square = column_of(n, HALF), column_of(n, STEP), column_of(n, FACTORS)
    for k in range(n - 1, -1, -1):
        x = sign * given[at + k]
        x -= dot(get3(general, body, half + 6 * k), a)
        x -= dot(get3(general, body, half + 6 * k + 3), alpha)
        for e in range(k + 1, n):
            x -= general[body, square + n * e + k] * general[body, step + e]
        general[body, step + k] = x / general[body, square + n * k + k]


@inner
def with_step(i: int, body: int, n: int, a: Vec, alpha: Vec, general: Floats) -> tuple[Vec, Vec]:
    """a of member i, and what the modes in STEP add."""
    step, shapes = column_of(n, STEP), column_of(n, SHAPES)
    for k in range(n):
        x = general[body, step + k]
        a = add(a, scale(x, get3(general, i, shapes + 6 * k)))
        alpha = add(alpha, scale(x, get3(general, i, shapes + 6 * k + 3)))
    return a, alpha


@inner
def member_motion(
    i: int, nodes: Ints, a: Vec, alpha: Vec, work: Floats, general: Floats
) -> tuple[Vec, Vec]:
    """Acceleration of member i, from that which it has with its head alone; the lead, the first of
    them, says what the modes do."""
    body, n, head = nodes[i, MOTION], nodes[i, COUNT], nodes[i, PARENT]
    if nodes[i, NODE] == LEAD_NODE:
        of, turning = get3(work, head, ACCELERATION), get3(work, head, ACCELERATION + 3)
        push = column_of(n, PUSH)
        solve_modes(body, n, of, turning, general[body], push, -1.0, general)
        for k in range(n):
            general[body, column_of(n, ANSWER) + k] = general[body, column_of(n, STEP) + k]
    return with_step(i, body, n, a, alpha, general)


# --- closing rows ---------------------------------------------------------------------------------
@inner
def pass_modes(
    i: int, nodes: Ints, f: Vec, m: Vec, row: Floats, at: int, work: Floats, general: Floats
) -> tuple[Vec, Vec]:
    """Pass a load at member i on to its head: adds the innovations of the modes to row[at:], and
    returns what, moved to the head, acts there."""
    body, n = nodes[i, MOTION], nodes[i, COUNT]
    shapes, step = column_of(n, SHAPES), column_of(n, STEP)
    half, square = column_of(n, HALF), column_of(n, FACTORS)
    force, torque = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(n):
        x = dot(get3(general, i, shapes + 6 * k), f)
        x += dot(get3(general, i, shapes + 6 * k + 3), m)
        for e in range(k):
            x -= general[body, square + n * k + e] * general[body, step + e]
        x /= general[body, square + n * k + k]
        general[body, step + k] = x
        row[at + k] += x
        force = add(force, scale(x, get3(general, body, half + 6 * k)))
        torque = add(torque, scale(x, get3(general, body, half + 6 * k + 3)))
    return sub(f, force), sub(m, sub(torque, cross(get3(work, i, SHIFT), force)))


@inner
def change_member(
    i: int, nodes: Ints, a: Vec, alpha: Vec, nu: Floats, work: Floats, general: Floats
) -> tuple[Vec, Vec]:
    """The change of the acceleration of member i by innovations."""
    body, n, head = nodes[i, MOTION], nodes[i, COUNT], nodes[i, PARENT]
    if nodes[i, NODE] == LEAD_NODE:
        of, turning = get3(work, head, CHANGE), get3(work, head, CHANGE + 3)
        solve_modes(body, n, of, turning, nu, nodes[i, FIRST], 1.0, general)
        for k in range(n):
            general[body, column_of(n, ANSWER) + k] += general[body, column_of(n, STEP) + k]
    return with_step(i, body, n, a, alpha, general)


# --- what comes of it -----------------------------------------------------------------------------
@shared
def tell_modes(modes: Modes, scratch: Scratch) -> None:
    """What the modes do, into the slope of the further speeds."""
    general, tail = scratch.general, scratch.tail
    for b in range(modes.what.shape[0]):
        i, n = modes.what[b, BENT], modes.what[b, MODE_COUNT]
        for k in range(n):
            tail[1, modes.what[b, FIRST_SPEED] + k] = general[i, column_of(n, ANSWER) + k]


@inner
def way_of(
    i: int, old: Floats, b: int, bodies: int, modes: Modes, tail: Floats, general: Floats
) -> tuple[Vec, Vec]:
    """What the modes of body b move member i beside their head [m], [rad], from another state to
    that in the scratch."""
    n, q = modes.what[b, MODE_COUNT], modes.what[b, FIRST_COORDINATE]
    d, turned, shapes = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), column_of(n, SHAPES)
    for k in range(n):
        change = tail[0, q + k] - further(old, bodies, q + k)
        d = add(d, scale(change, get3(general, i, shapes + 6 * k)))
        turned = add(turned, scale(change, get3(general, i, shapes + 6 * k + 3)))
    return d, turned


@shared
def work_on_way(b: int, d: Vec, turned: Vec, old: Floats, model: Model, scratch: Scratch) -> float:
    """Work of the loads on modes and stations of body b over a small displacement from another
    state; d, turned: that of the body, in N."""
    modes, nodes, bodies = model.modes, model.tree.nodes, model.bodies.shape[0]
    frames, wrench, tail, general = scratch.frames, scratch.wrench, scratch.tail, scratch.general
    i, n = modes.what[b, BENT], modes.what[b, MODE_COUNT]
    q, u, first = modes.what[b, FIRST_COORDINATE], modes.what[b, FIRST_SPEED], bodies
    out, head = 0.0, nodes[i, PARENT] if nodes[i, NODE] >= MEMBER_NODE else i
    for k in range(n):
        out += tail[2, u + k] * (tail[0, q + k] - further(old, bodies, q + k))
    if head != i:
        more, turn_more = way_of(head, old, b, bodies, modes, tail, general)
        arm = sub(get3(frames, head, POSITION), get3(frames, i, POSITION))
        d, turned = add(add(d, cross(turned, arm)), more), add(turned, turn_more)
        out += dot(get3(wrench, head, 0), d) + dot(get3(wrench, head, 3), turned)
    for s in range(modes.what[b, FIRST_STATION], modes.what[b, LAST_STATION]):
        row = first + s
        if row != head:
            more, turn_more = way_of(row, old, b, bodies, modes, tail, general)
            arm = sub(get3(frames, row, POSITION), get3(frames, head, POSITION))
            way = add(add(d, cross(turned, arm)), more)
            out += dot(get3(wrench, row, 0), way)
            out += dot(get3(wrench, row, 3), add(turned, turn_more))
    return out


@shared
def power_in_modes(model: Model, scratch: Scratch) -> float:
    """Power of all accelerations of bodies that bend that loads do not explain, beyond that of the
    same bodies undeformed and stiff [W]."""
    modes, bodies, frames = model.modes, model.bodies, scratch.frames
    wrench, tail, work = scratch.wrench, scratch.tail, scratch.work
    general, first, out = scratch.general, bodies.shape[0], 0.0
    for b in range(modes.what.shape[0]):
        i, n, u = modes.what[b, BENT], modes.what[b, MODE_COUNT], modes.what[b, FIRST_SPEED]
        v, w = get3(frames, i, VELOCITY), get3(frames, i, SPIN)
        a, alpha = get3(work, i, CENTRE), get3(work, i, ACCELERATION + 3)
        put_body(b, modes, bodies, frames, wrench, tail, work, general)
        own = turned_moments(sym6(bodies, i, MOMENTS), frames, i)
        m0, m1, m2 = get3(work, i, MIXED), get3(work, i, MIXED + 3), get3(work, i, MIXED + 6)
        more = (dot(m0, alpha), dot(m1, alpha), dot(m2, alpha))
        out += dot(v, add(add(more, get3(work, i, LOAD)), get3(wrench, i, 0)))
        torque = sub(sym_times(sym6(work, i, ANGULAR), alpha), sym_times(own, alpha))
        torque = add(add(torque, mixed_transposed(m0, m1, m2, a)), get3(work, i, LOAD + 3))
        out += dot(w, add(torque, get3(wrench, i, 3)))
        for k in range(n):
            at = column_of(n, COUPLING) + 6 * k
            f, m = get3(general, i, at), get3(general, i, at + 3)
            x, rate = general[i, column_of(n, ANSWER) + k], tail[0, u + k]
            out += x * (dot(f, v) + dot(m, w)) + rate * (x + dot(f, a) + dot(m, alpha))
            out -= rate * general[i, column_of(n, LOADS) + k]
        for s in range(modes.what[b, FIRST_STATION], modes.what[b, LAST_STATION]):
            out -= dot(get3(wrench, first + s, 0), get3(frames, first + s, VELOCITY))
            out -= dot(get3(wrench, first + s, 3), get3(frames, first + s, SPIN))
    return out
