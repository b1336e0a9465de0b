"""What bodies do between the rows of a run: curves of fifth degree through pose, velocity and
acceleration of both.

A pair of bodies is seen from the first: place and turn of the second in the axes of the first.
What both do together is then no motion at all.  A curve is kept by its six control points (Bezier):
it lies within their convex hull, and its derivatives within those of theirs, so that its speed and
its bend have bounds that need no sampling."""

from __future__ import annotations

import math

from quirkpy.kernels.base.arrays import Vec
from quirkpy.kernels.base.compiled import inner, kernel
from quirkpy.kernels.base.conditions import HOLDS, Conditions
from quirkpy.kernels.base.states import ANGULAR_HALF, LINEAR_HALF, OMEGA, VELOCITY_WIDTH, Q, R, V
from quirkpy.kernels.base.vectors import Four, add, cross, dot, get3, get4, norm, put3, scale, sub
from quirkpy.kernels.place.kinematics import rotation_matrix
from quirkpy.kernels.solid.solids import turn_back_by_matrix
from quirkpy.kernels.tree.evaluation import evaluate
from quirkpy.kernels.tree.model import Model, Scratch
from quirkpy.maths.types import Bools, Floats, Ints

# Columns of relative rows: place and turn of the second body in the axes of the first, their rates,
# and theirs.
PLACE, TURN, PLACE_RATE, TURN_RATE, PLACE_BEND, TURN_BEND, RELATIVE_WIDTH = 0, 3, 7, 10, 14, 17, 21
#: Control points of a curve, and numbers of each: place and turn.
CONTROLS, CURVE_WIDTH = 6, 7
#: A curve whose acceleration is wrong by e in the middle of a step h misses the motion by about
#: this share of h2 e, or less: by a twenty-fourth where all is smooth.
OF_DEFECT = 0.125


@inner
def times(p: Four, a: Vec) -> Four:
    """p times the quaternion (0, a)."""
    return (
        -p[1] * a[0] - p[2] * a[1] - p[3] * a[2],
        p[0] * a[0] + p[2] * a[2] - p[3] * a[1],
        p[0] * a[1] + p[3] * a[0] - p[1] * a[2],
        p[0] * a[2] + p[1] * a[1] - p[2] * a[0],
    )


@inner
def between(p: Four, q: Four) -> Four:
    """p* q."""
    w, x, y, z = p[0], -p[1], -p[2], -p[3]
    return (
        w * q[0] - x * q[1] - y * q[2] - z * q[3],
        w * q[1] + x * q[0] + y * q[3] - z * q[2],
        w * q[2] + y * q[0] + z * q[1] - x * q[3],
        w * q[3] + z * q[0] + x * q[2] - y * q[1],
    )


@inner
def turn_bend(q: Four, w: Vec, rate: Vec) -> Four:
    """The second derivative of a quaternion, from angular velocity and acceleration in body
    axes."""
    b, s = times(q, rate), -0.25 * dot(w, w)
    return (
        0.5 * b[0] + s * q[0],
        0.5 * b[1] + s * q[1],
        0.5 * b[2] + s * q[2],
        0.5 * b[3] + s * q[3],
    )


@inner
def put4(array: Floats, i: int, first: int, a: Four) -> None:
    """Write four numbers into row i, from column `first` on."""
    for k in range(4):
        array[i, first + k] = a[k]


@inner
def middle(x0: float, x1: float, v0: float, v1: float, a0: float, a1: float) -> Vec:
    """Value, first and second derivative in the middle of a polynomial of fifth degree over a step
    of one."""
    return (
        0.5 * (x0 + x1) + 0.15625 * (v0 - v1) + 0.015625 * (a0 + a1),
        1.875 * (x1 - x0) - 0.4375 * (v0 + v1) - 0.03125 * (a0 - a1),
        1.5 * (v1 - v0) - 0.25 * (a0 + a1),
    )


@inner
def to_middle(
    k: int, i: int, h: float, states: Floats, bends: Floats, within: Floats, bend: Floats
) -> None:
    """State of body i in the middle of step k, and its accelerations there as the polynomial has
    them."""
    y0, y1 = states[k], states[k + 1]
    for c in range(3):
        x, v, a = middle(
            y0[i, R + c],
            y1[i, R + c],
            h * y0[i, V + c],
            h * y1[i, V + c],
            h * h * bends[k, i, LINEAR_HALF + c],
            h * h * bends[k + 1, i, LINEAR_HALF + c],
        )
        within[i, R + c], within[i, V + c], bend[i, LINEAR_HALF + c] = x, v / h, a / (h * h)
    q0, q1, w0, w1 = get4(y0, i, Q), get4(y1, i, Q), get3(y0, i, OMEGA), get3(y1, i, OMEGA)
    r0, r1 = times(q0, w0), times(q1, w1)
    b0 = turn_bend(q0, w0, get3(bends[k], i, ANGULAR_HALF))
    b1 = turn_bend(q1, w1, get3(bends[k + 1], i, ANGULAR_HALF))
    m0 = middle(q0[0], q1[0], 0.5 * h * r0[0], 0.5 * h * r1[0], h * h * b0[0], h * h * b1[0])
    m1 = middle(q0[1], q1[1], 0.5 * h * r0[1], 0.5 * h * r1[1], h * h * b0[1], h * h * b1[1])
    m2 = middle(q0[2], q1[2], 0.5 * h * r0[2], 0.5 * h * r1[2], h * h * b0[2], h * h * b1[2])
    m3 = middle(q0[3], q1[3], 0.5 * h * r0[3], 0.5 * h * r1[3], h * h * b0[3], h * h * b1[3])
    s = 1.0 / math.sqrt(m0[0] * m0[0] + m1[0] * m1[0] + m2[0] * m2[0] + m3[0] * m3[0])
    q = s * m0[0], s * m1[0], s * m2[0], s * m3[0]
    put4(within, i, Q, q)
    rate, second = (
        between(q, (m0[1], m1[1], m2[1], m3[1])),
        between(q, (m0[2], m1[2], m2[2], m3[2])),
    )
    put3(within, i, OMEGA, scale(2.0 * s / h, (rate[1], rate[2], rate[3])))
    put3(bend, i, ANGULAR_HALF, scale(2.0 * s / (h * h), (second[1], second[2], second[3])))


@kernel
def fill_bends(
    t: Floats, states: Floats, angles: Floats, held: Bools, tail: Floats, reach: Floats,
    model: Model, conditions: Conditions, scratch: Scratch, room: tuple[Floats, Floats, Floats],
    bends: Floats, missed: Floats,
) -> None:  # fmt: skip
    """Accelerations of all bodies at every row (k, nb, 6), and how far the motion may be from the
    curves between rows (k - 1,) [m], for points within `reach` of their centres: from accelerations
    in the middle of each step.

    room: three more arrays of the kind, a state (nb + 1, STATE_WIDTH) and two of accelerations.
    """
    within, bend, asked = room[0], room[1], room[2]
    for k in range(t.shape[0]):
        hold_as(k, angles, held, tail, conditions, scratch)
        evaluate(t[k], states[k], model, conditions, scratch, asked)
        for i in range(bends.shape[1]):
            for c in range(VELOCITY_WIDTH):
                bends[k, i, c] = asked[i, c]
    for k in range(t.shape[0] - 1):
        h = t[k + 1] - t[k]
        hold_as(k, angles, held, tail, conditions, scratch)
        for i in range(bends.shape[1]):
            to_middle(k, i, h, states, bends, within, bend)
        evaluate(0.5 * (t[k] + t[k + 1]), within, model, conditions, scratch, asked)
        most = 0.0
        for i in range(bends.shape[1]):
            far = norm(sub(get3(asked, i, LINEAR_HALF), get3(bend, i, LINEAR_HALF)))
            off = norm(sub(get3(asked, i, ANGULAR_HALF), get3(bend, i, ANGULAR_HALF)))
            most = max(most, far + reach[i] * off)
        missed[k] = OF_DEFECT * h * h * most


@kernel
def rates_within(
    t: Floats,
    states: Floats,
    angles: Floats,
    held: Bools,
    tail: Floats,
    model: Model,
    conditions: Conditions,
    scratch: Scratch,
    bends: Floats,
    most: Floats,
) -> None:
    """How fast any body may move [m/s] and turn [rad/s] between rows (2,): were its acceleration
    twice what it is at either end of a step (k, nb, 6), all along."""
    most[0] = most[1] = 0.0
    for k in range(t.shape[0]):
        hold_as(k, angles, held, tail, conditions, scratch)
        evaluate(t[k], states[k], model, conditions, scratch, bends[k])
        last = max(0, k - 1)
        h = 2.0 * (t[k] - t[last])
        for i in range(bends.shape[1]):
            for which in range(2):
                of, rate = (LINEAR_HALF, V) if which == 0 else (ANGULAR_HALF, OMEGA)
                fast = max(norm(get3(states[k], i, rate)), norm(get3(states[last], i, rate)))
                gain = max(norm(get3(bends[k], i, of)), norm(get3(bends[last], i, of)))
                most[which] = max(most[which], fast + h * gain)


@kernel
def fill_middles(
    steps: Ints, t: Floats, states: Floats, bends: Floats, room: Floats, out: Floats
) -> None:
    """States in the middle of some steps (n, nb + 1, STATE_WIDTH), on the curves; the ledger is
    left alone."""
    for n in range(steps.shape[0]):
        k = steps[n]
        for i in range(bends.shape[1]):
            to_middle(k, i, t[k + 1] - t[k], states, bends, out[n], room)


@inner
def hold_as(
    k: int, angles: Floats, held: Bools, tail: Floats, conditions: Conditions, scratch: Scratch
) -> None:
    """Angles, stops and the tail as they are at row k."""
    for j in range(tail.shape[1]):
        scratch.tail[0, j] = tail[k, j]
    for c in range(angles.shape[1]):
        conditions.near[c] = angles[k, c]
    for s in range(held.shape[1]):
        conditions.stops[s, HOLDS] = 1 if held[k, s] else 0


# --- pairs ----------------------------------------------------------------------------------------
@inner
def motion_of(
    k: int, i: int, states: Floats, bends: Floats
) -> tuple[Vec, Four, Vec, Vec, Vec, Vec]:
    """r, q, v, omega and the accelerations of a body at row k; the ground, the last row, is at
    rest."""
    if i == bends.shape[1]:
        z = 0.0, 0.0, 0.0
        return z, (1.0, 0.0, 0.0, 0.0), z, z, z, z
    y = states[k]
    return (
        get3(y, i, R), get4(y, i, Q), get3(y, i, V), get3(y, i, OMEGA),
        get3(bends[k], i, LINEAR_HALF), get3(bends[k], i, ANGULAR_HALF),
    )  # fmt: skip


@inner
def relative_row(k: int, i: int, j: int, states: Floats, bends: Floats, out: Floats) -> None:
    """Motion of body j relative to body i at row k, into row k of `out`."""
    r1, q1, v1, w1, a1, b1 = motion_of(k, i, states, bends)
    r2, q2, v2, w2, a2, b2 = motion_of(k, j, states, bends)
    A = rotation_matrix(q1[0], q1[1], q1[2], q1[3])
    y, u = turn_back_by_matrix(A, sub(r2, r1)), turn_back_by_matrix(A, sub(v2, v1))
    rate = sub(u, cross(w1, y))
    bend = sub(turn_back_by_matrix(A, sub(a2, a1)), cross(w1, u))
    bend = sub(sub(bend, cross(b1, y)), cross(w1, rate))
    q = between(q1, q2)
    B = rotation_matrix(q[0], q[1], q[2], q[3])
    carried = turn_back_by_matrix(B, w1)
    w = sub(w2, carried)
    turning = add(sub(b2, turn_back_by_matrix(B, b1)), cross(w, carried))
    half = times(q, scale(0.5, w))
    put3(out, k, PLACE, y)
    put4(out, k, TURN, q)
    put3(out, k, PLACE_RATE, rate)
    put4(out, k, TURN_RATE, half)
    put3(out, k, PLACE_BEND, bend)
    put4(out, k, TURN_BEND, turn_bend(q, w, turning))


@inner
def fill_curve(k: int, h: float, rows: Floats, curve: Floats) -> None:
    """The control points of step k, over a step of one."""
    for c in range(CURVE_WIDTH):
        x0, x1 = rows[k, c], rows[k + 1, c]
        v0, v1 = 0.2 * h * rows[k, PLACE_RATE + c], 0.2 * h * rows[k + 1, PLACE_RATE + c]
        a0, a1 = 0.05 * h * h * rows[k, PLACE_BEND + c], 0.05 * h * h * rows[k + 1, PLACE_BEND + c]
        curve[0, c], curve[1, c], curve[2, c] = x0, x0 + v0, x0 + 2.0 * v0 + a0
        curve[3, c], curve[4, c], curve[5, c] = x1 - 2.0 * v1 + a1, x1 - v1, x1


@inner
def along_curve(s: float, c: int, curve: Floats) -> tuple[float, float]:
    """Number c of the curve at s, and its derivative."""
    u = 1.0 - s
    b0, b1, b2 = curve[0, c], curve[1, c], curve[2, c]
    b3, b4, b5 = curve[3, c], curve[4, c], curve[5, c]
    for _ in range(4):
        b0, b1, b2, b3, b4, b5 = (
            u * b0 + s * b1, u * b1 + s * b2, u * b2 + s * b3, u * b3 + s * b4, u * b4 + s * b5, b5,
        )  # fmt: skip
    return u * b0 + s * b1, 5.0 * (b1 - b0)


@inner
def pose_at(s: float, curve: Floats) -> tuple[Vec, Four, Vec, Vec]:
    """Place and turn at s, the rate of the place, and the angular velocity in the axes of the
    second body."""
    x, u = along_curve(s, 0, curve)
    y, v = along_curve(s, 1, curve)
    z, w = along_curve(s, 2, curve)
    q0, r0 = along_curve(s, 3, curve)
    q1, r1 = along_curve(s, 4, curve)
    q2, r2 = along_curve(s, 5, curve)
    q3, r3 = along_curve(s, 6, curve)
    n = 1.0 / math.sqrt(q0 * q0 + q1 * q1 + q2 * q2 + q3 * q3)
    q = n * q0, n * q1, n * q2, n * q3
    spin = between(q, (r0, r1, r2, r3))
    return (x, y, z), q, (u, v, w), scale(2.0 * n, (spin[1], spin[2], spin[3]))


@inner
def largest(curve: Floats, order: int, first: int, width: int) -> float:
    """Bound of the length of some numbers of the curve (order 0), or of their first or second
    derivative."""
    most = 0.0
    for k in range(CONTROLS - order):
        square = 0.0
        for c in range(first, first + width):
            x = curve[k, c]
            if order == 1:
                x = 5.0 * (curve[k + 1, c] - x)
            elif order == 2:
                x = 20.0 * (curve[k + 2, c] - 2.0 * curve[k + 1, c] + x)
            square += x * x
        most = max(most, square)
    return math.sqrt(most)


@inner
def shortest(curve: Floats) -> float:
    """Bound from below of the length of the quaternion: of its part along the middle of both
    ends."""
    length, least = 0.0, math.inf
    for c in range(3, CURVE_WIDTH):
        length += (curve[0, c] + curve[5, c]) ** 2
    for k in range(CONTROLS):
        part = 0.0
        for c in range(3, CURVE_WIDTH):
            part += curve[k, c] * (curve[0, c] + curve[5, c])
        least = min(least, part)
    return least / math.sqrt(length)


@inner
def stretching(curve: Floats) -> float:
    """Bound of |Q . Q'|: how fast the length of the quaternion changes, times that length."""
    most = 0.0
    for n in range(10):
        total = 0.0
        for i in range(max(0, n - 4), min(5, n) + 1):
            part = 0.0
            for c in range(3, CURVE_WIDTH):
                part += curve[i, c] * 5.0 * (curve[n - i + 1, c] - curve[n - i, c])
            total += part * choose(5, i) * choose(4, n - i)
        most = max(most, abs(total) / choose(9, n))
    return most


@inner
def choose(n: int, k: int) -> float:
    """n over k."""
    out = 1.0
    for i in range(k):
        out *= (n - i) / (i + 1.0)
    return out


@inner
def bounds_of(curve: Floats) -> tuple[float, float, float, float]:
    """Over the whole step: bounds of speed and acceleration of the place, of angular velocity and
    acceleration."""
    rate, bend, short = largest(curve, 1, 3, 4), largest(curve, 2, 3, 4), shortest(curve)
    turning = 2.0 * (bend / short + 2.0 * stretching(curve) * rate / short**3)
    return largest(curve, 1, 0, 3), largest(curve, 2, 0, 3), 2.0 * rate / short, turning
