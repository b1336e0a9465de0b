"""The adaptive Runge-Kutta integrator: steps, error control, projection, the interpolant.

The state y is (nb + 1, STATE_WIDTH): a row r q v omega per body, and in the last row the ledger, work put in by loads
and energy taken out by dampers.  `advance` takes steps until something has to be decided in Python.
"""

from __future__ import annotations

import math

import numpy as np

from quirkpy.kernels.arrays import AXES, COORDINATE_KIND, OMEGA, SPIN, STATE_WIDTH, VELOCITY, Q, R, V, Vec
from quirkpy.kernels.compiled import inlined, kernel
from quirkpy.kernels.engine import Model, Scratch, evaluate
from quirkpy.kernels.kinematics import joint_coordinate
from quirkpy.kernels.ledger import restore_energy
from quirkpy.kernels.loads import INTO, OUT
from quirkpy.kernels.methods import Table
from quirkpy.kernels.projection import closing_rows, correct_velocities, prepare, project, row_rates
from quirkpy.kernels.vectors import cross, get3, put3, scale, sub, turn, turn_back
from quirkpy.kernels.watch import Watch, watched
from quirkpy.parts.checks import Floats, Ints
from quirkpy.tables.tables import ANGLE

# Columns of the clock: time, next step, end of the run; relative and absolute tolerance; largest step; fixed step or 0;
# whether the energy is held, and its value at the start.
T, H, T_END, RTOL, ATOL, H_MAX, FIXED, CONSERVING, ENERGY, CLOCK_WIDTH = range(10)
# Columns of the counts.
EVALUATIONS, STEPS, REJECTIONS, ROOM = range(4)
# Why `advance` returned.
GOING, ARRIVED, CROSSED, COLLAPSED, NOT_FINITE = range(5)

#: A step grows at most tenfold and shrinks at most fivefold; 0.9 of the step that the error allows is taken.
GROW, SHRINK, SAFETY = 10.0, 0.2, 0.9
#: A closing row whose independent part, squared, is below this makes a pose nearly singular.
WEAK = 1e-2


@kernel
def rates(t: float, y: Floats, model: Model, scratch: Scratch, freedoms: int, out: Floats, dy: Floats) -> None:
    """dy/dt from the accelerations in `out`."""
    n = out.shape[0]
    for i in range(n):
        w, x, z, u = y[i, Q], y[i, Q + 1], y[i, Q + 2], y[i, Q + 3]
        a, b, c = 0.5 * y[i, OMEGA], 0.5 * y[i, OMEGA + 1], 0.5 * y[i, OMEGA + 2]
        put3(dy, i, R, get3(y, i, V))
        dy[i, Q] = -x * a - z * b - u * c
        dy[i, Q + 1] = w * a + z * c - u * b
        dy[i, Q + 2] = w * b + u * a - x * c
        dy[i, Q + 3] = w * c + x * b - z * a
        put3(dy, i, V, get3(out, i, 0))
        put3(dy, i, OMEGA, get3(out, i, 3))
    dy[n, INTO], dy[n, OUT] = scratch.power[INTO], scratch.power[OUT]


@kernel
def derivative(t: float, y: Floats, model: Model, scratch: Scratch, freedoms: int, out: Floats, dy: Floats) -> None:
    """dy/dt of a state; `out` receives the accelerations."""
    evaluate(t, y, model, scratch, freedoms, out)
    rates(t, y, model, scratch, freedoms, out, dy)


@kernel
def add_stages(y: Floats, K: Floats, weights: Floats, n: int, h: float, out: Floats) -> None:
    """out = y + h (weights[0] K[0] + ... + weights[n - 1] K[n - 1])."""
    flat, start, slopes = out.reshape(-1), y.reshape(-1), K.reshape(K.shape[0], -1)
    for i in range(flat.shape[0]):
        flat[i] = 0.0
    for s in range(n):
        w = weights[s]
        if w != 0.0:
            slope = slopes[s]
            for i in range(flat.shape[0]):
                flat[i] += w * slope[i]
    for i in range(flat.shape[0]):
        flat[i] = start[i] + h * flat[i]


@kernel
def estimate(K: Floats, weights: Floats, h: float, out: Floats) -> None:
    """An error estimate h (weights[0] K[0] + ...), for every number of the state."""
    add_stages(np.zeros_like(out), K, weights, weights.shape[0] - (1 if weights[-1] == 0.0 else 0), h, out)


@inlined
def tangent_part(error: Floats, y: Floats, model: Model, scratch: Scratch, freedoms: int) -> None:
    """What is left of an error in poses, and of one in velocities, within what the constraints allow at y."""
    n = error.shape[0] - 1
    small, kept = np.zeros_like(error), np.zeros_like(error)
    for part in range(2):
        prepare(y, model, scratch)
        _, jacobian = closing_rows(model, scratch)
        frames = scratch.frames
        for i in range(n):
            put3(frames, i, VELOCITY, get3(error, i, R if part == 0 else V))
            spin = small_turn(y, error, i) if part == 0 else turn(frames, i, AXES, get3(error, i, OMEGA))
            put3(frames, i, SPIN, spin)
            put3(small, i, V, get3(frames, i, VELOCITY))
            put3(small, i, OMEGA, turn_back(frames, i, AXES, spin))
        correct_velocities(small, model, scratch, row_rates(model, scratch, jacobian), jacobian, freedoms)
        for i in range(n):
            put3(kept, i, R if part == 0 else V, get3(small, i, V))
            put3(kept, i, Q if part == 0 else OMEGA, scale(0.5 if part == 0 else 1.0, get3(small, i, OMEGA)))
    error[:n] = kept[:n]


@kernel
def small_turn(y: Floats, d: Floats, i: int) -> Vec:
    """The rotation vector in N by which a small change d of its quaternion turns body i: 2 d q*, vector part."""
    w, a = y[i, Q], (y[i, Q + 1], y[i, Q + 2], y[i, Q + 3])
    dw, b = d[i, Q], (d[i, Q + 1], d[i, Q + 2], d[i, Q + 3])
    return scale(2.0, sub(sub(scale(w, b), scale(dw, a)), cross(b, a)))


@inlined
def near_singular(
    y: Floats, y_new: Floats, K: Floats, h: float, table: Table, clock: Floats, error: float, model: Model,
    scratch: Scratch, freedoms: int,
) -> float:  # fmt: skip
    """The error to control near a singular pose: noise of the stages, divided by the distance to the pose squared,
    enters the accelerations across the constraints, where projection removes it; along them it must be small."""
    five, three = np.empty_like(y), np.empty_like(y)
    rtol, atol = clock[RTOL], clock[ATOL]
    estimate(K, table.e5, 1.0, five)
    estimate(K, table.e3, 1.0, three)
    tangent_part(five, y, model, scratch, freedoms)
    tangent_part(three, y, model, scratch, freedoms)
    return max(
        1e-3 * error, combined(size_of(five, y, y_new, rtol, atol), size_of(three, y, y_new, rtol, atol), h, y, table)
    )


@kernel
def size_of(error: Floats, y: Floats, y_new: Floats, rtol: float, atol: float) -> float:
    """Sum of squares over positions, quaternions, velocities and angular velocities of error / tolerance.

    The scale of a vector is its length (that of a quaternion one), not its components: turning the world changes
    nothing.
    The ledger takes no part.
    """
    out = 0.0
    for i in range(y.shape[0] - 1):
        for first, last in ((R, Q), (Q, V), (V, OMEGA), (OMEGA, STATE_WIDTH)):
            old, new, off = 0.0, 0.0, 0.0
            for k in range(first, last):
                old += y[i, k] * y[i, k]
                new += y_new[i, k] * y_new[i, k]
                off += error[i, k] * error[i, k]
            tolerance = atol + rtol * math.sqrt(max(old, new))
            out += off / (tolerance * tolerance)
    return out


@kernel
def combined(five: float, three: float, h: float, y: Floats, table: Table) -> float:
    """The error that step control goes by, from the sizes of one or two estimates."""
    n = STATE_WIDTH * (y.shape[0] - 1)
    if five == 0.0 and three == 0.0:
        return 0.0
    if table.order == 7:  # Hairer's combination
        return abs(h) * five / math.sqrt((five + 0.01 * three) * n)
    return abs(h) * math.sqrt(five / n)


@kernel
def error_norm(
    y: Floats, y_new: Floats, K: Floats, h: float, table: Table, rtol: float, atol: float, room: Floats
) -> float:
    """Error of a step over its tolerance: a step is good below one.  `room` is scratch, like y."""
    estimate(K, table.e5, 1.0, room)
    five, three = size_of(room, y, y_new, rtol, atol), 0.0
    if table.order == 7:
        estimate(K, table.e3, 1.0, room)
        three = size_of(room, y, y_new, rtol, atol)
    return combined(five, three, h, y, table)


@kernel
def first_step(y: Floats, dy: Floats, span: float, rtol: float, atol: float) -> float:
    """A step in which, by the first derivative alone, nothing changes by more than a hundredth of its size."""
    size, slope = 0.0, 0.0
    n = y.shape[0] - 1
    for i in range(n):
        for first, last in ((R, Q), (Q, V), (V, OMEGA), (OMEGA, STATE_WIDTH)):
            a, b = 0.0, 0.0
            for k in range(first, last):
                a += y[i, k] * y[i, k]
                b += dy[i, k] * dy[i, k]
            scale = atol + rtol * math.sqrt(a)
            size += a / (scale * scale)
            slope += b / (scale * scale)
    h = 1e-6 if size < 1e-10 or slope < 1e-10 else 0.01 * math.sqrt(size / slope)
    return min(h, span)


@kernel
def remember_angles(model: Model, scratch: Scratch) -> None:
    """The angles of the state whose kinematics are in the scratch, so that the next are taken next to them."""
    joints = model.joints
    for j in range(joints.near.shape[0]):
        if joints.ends[j, COORDINATE_KIND] == ANGLE:
            joints.near[j], _ = joint_coordinate(j, joints, model.sites, scratch.frames)


@kernel
def finite(y: Floats) -> bool:
    """Whether every number is finite."""
    flat = y.reshape(-1)
    total = 0.0
    for i in range(flat.shape[0]):
        total += 0.0 * flat[i]
    return total == 0.0


@inlined
def take_stages(
    t: float, h: float, y: Floats, K: Floats, raw: Floats, model: Model, scratch: Scratch, freedoms: int, table: Table,
    counts: Ints, out: Floats,
) -> float:  # fmt: skip
    """The stages of a step from y, K[0] being known, and its end `raw`; returns the weakest closing row met."""
    stages, weakest = table.b.shape[0], 1.0
    for s in range(1, stages):
        add_stages(y, K, table.a[s], s, h, raw)
        derivative(t + table.c[s] * h, raw, model, scratch, freedoms, out, K[s])
        weakest = min(weakest, scratch.report[0])
    add_stages(y, K, table.b, stages, h, raw)
    counts[EVALUATIONS] += stages - 1
    if table.order < 7:
        derivative(t + h, raw, model, scratch, freedoms, out, K[stages])
        counts[EVALUATIONS] += 1
    return weakest


@kernel
def next_step(clock: Floats, h: float, error: float, order: int, clipped: bool) -> bool:
    """Set clock[H] from the error of a step of h; returns whether the step is good."""
    if not error < 1.0:
        shrink = SHRINK if not math.isfinite(error) else max(SHRINK, SAFETY * error ** (-1.0 / (order + 1)))
        clock[H] = h * shrink
        return False
    growth = GROW if error == 0.0 else min(GROW, SAFETY * error ** (-1.0 / (order + 1)))
    if not clipped or growth < 1.0:
        clock[H] = h * growth
    return True


@kernel
def unit_quaternions(y: Floats) -> None:
    """Give every quaternion the length one."""
    for i in range(y.shape[0] - 1):
        size = 0.0
        for k in range(Q, V):
            size += y[i, k] * y[i, k]
        size = 1.0 / math.sqrt(size)
        for k in range(Q, V):
            y[i, k] *= size


@kernel
def crossed(values: Floats, now: Floats, direction: Ints) -> bool:
    """Whether any watched function has crossed zero the way that counts."""
    for k in range(now.shape[0]):
        if (direction[k] <= 0 and values[k] > 0.0 >= now[k]) or (direction[k] >= 0 and values[k] < 0.0 <= now[k]):
            return True
    return False


@kernel
def advance(
    clock: Floats, counts: Ints, y: Floats, K: Floats, raw: Floats, model: Model, scratch: Scratch, freedoms: int,
    table: Table, projecting: bool, watch: Watch, values: Floats, out: Floats, moved: Floats, times: Floats,
    states: Floats, angles: Floats, drifts: Floats,
) -> int:  # fmt: skip
    """Steps until the end, a crossing, a failure or until the rows of `times` are full; returns why.

    In and out: clock, counts, y, values (of the watched functions), K[0] = dy/dt at y.  counts[ROOM] rows are filled.
    On a crossing y and K are still those of the step's beginning, raw holds its end before projection, and the row of
    the end is filled but not counted.
    """
    last = table.b.shape[0] + 1
    y_new, now = np.empty_like(y), np.empty_like(values)
    counts[ROOM] = 0
    while counts[ROOM] < times.shape[0]:
        t, left = clock[T], clock[T_END] - clock[T]
        if left <= 0.0:
            return ARRIVED
        h = min(min(clock[H], clock[H_MAX]), left)
        clipped = h == left and left < clock[H]
        if left - h < 1e-12 * left:
            h = left
        if h < 16.0 * np.spacing(abs(t)):
            return COLLAPSED
        weakest = take_stages(t, h, y, K, raw, model, scratch, freedoms, table, counts, out)
        if not finite(raw) and (clock[FIXED] > 0.0 or h < 1e-10 * max(1.0, abs(t))):
            return NOT_FINITE
        if clock[FIXED] == 0.0:
            error = error_norm(y, raw, K, h, table, clock[RTOL], clock[ATOL], y_new)
            if error >= 1.0 and weakest < WEAK and math.isfinite(error):
                error = near_singular(y, raw, K, h, table, clock, error, model, scratch, freedoms)
            if not next_step(clock, h, error, table.order, clipped):
                counts[REJECTIONS] += 1
                continue
        # back onto the constraints
        y_new[:] = raw
        unit_quaternions(y_new)
        moved[:] = 0.0
        if projecting:
            project(y_new, model, scratch, freedoms, moved)
            if clock[FIXED] == 0.0 and moved[0] > 0.1 * math.sqrt(min(weakest, scratch.report[0])):
                clock[H] = 0.5 * h  # so far that another branch might be nearer
                counts[REJECTIONS] += 1
                continue
        # the new state, and what it crosses
        t_new, row = clock[T_END] if h == left else t + h, counts[ROOM]
        derivative(t_new, y_new, model, scratch, freedoms, out, K[last])
        counts[EVALUATIONS] += 1
        if clock[CONSERVING] > 0.0 and restore_energy(y_new, clock[ENERGY], model, scratch):
            derivative(t_new, y_new, model, scratch, freedoms, out, K[last])
            counts[EVALUATIONS] += 1
        times[row], states[row], drifts[row, 0], drifts[row, 1] = t_new, y_new, moved[0], moved[1]
        watched(t_new, y_new, out, model, scratch, watch, now)
        if crossed(values, now, watch.direction):
            return CROSSED
        values[:] = now
        remember_angles(model, scratch)
        angles[row] = model.joints.near
        clock[T], y[:], K[0] = t_new, y_new, K[last]
        counts[STEPS] += 1
        counts[ROOM] += 1
    return GOING


@kernel
def interpolant(
    clock: Floats, h: float, y: Floats, K: Floats, raw: Floats, model: Model, scratch: Scratch, freedoms: int,
    table: Table, out: Floats, F: Floats,
) -> None:  # fmt: skip
    """Coefficients F of the interpolant over the last step, from its stages K; `raw` is its end before projection."""
    t = clock[T]
    stages = table.b.shape[0]
    if table.order < 7:
        for s in range(F.shape[0]):
            add_stages(np.zeros_like(y), K, table.d[s], stages + 1, h, F[s])
        return
    derivative(t + h, raw, model, scratch, freedoms, out, K[stages])
    point = np.empty_like(y)
    for s in range(table.extra_c.shape[0]):
        add_stages(y, K, table.extra_a[s], stages + 1 + s, h, point)
        derivative(t + table.extra_c[s] * h, point, model, scratch, freedoms, out, K[stages + 1 + s])
    F[0] = raw - y
    F[1] = h * K[0] - F[0]
    F[2] = 2.0 * F[0] - h * (K[stages] + K[0])
    for s in range(table.d.shape[0]):
        add_stages(np.zeros_like(y), K, table.d[s], K.shape[0], h, F[3 + s])


@kernel
def interpolate(x: float, y: Floats, raw: Floats, end: Floats, F: Floats, order: int, out: Floats) -> None:
    """The state at the fraction x of a step from y to `end`; the correction from raw to end is blended in smoothly."""
    blend = x * x * (3.0 - 2.0 * x)
    out[:] = 0.0
    if order < 7:
        for s in range(F.shape[0] - 1, -1, -1):
            out[:] = (out + F[s]) * x
    else:
        for s in range(F.shape[0] - 1, -1, -1):
            out[:] = (out + F[s]) * (x if (F.shape[0] - 1 - s) % 2 == 0 else 1.0 - x)
    out[:] = out + y + blend * (end - raw)
    unit_quaternions(out)
