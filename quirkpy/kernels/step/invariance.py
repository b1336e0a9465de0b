"""Whether a group of bodies moves freely as a whole: nothing changes where the group is shifted,
and all turns with it where it is turned; and how such a group moves in the mean."""

from __future__ import annotations

from quirkpy.kernels.base.arrays import MASS, Vec
from quirkpy.kernels.base.compiled import inner, kernel
from quirkpy.kernels.base.conditions import TIME, Conditions
from quirkpy.kernels.base.states import OMEGA, STATE_WIDTH, Q, R, V
from quirkpy.kernels.base.vectors import (
    Four,
    add,
    add3,
    cross,
    dot,
    get3,
    get4,
    norm,
    put3,
    scale,
    sub,
)
from quirkpy.kernels.place.carried import ZERO, drift_of, turn_onward, turning_of
from quirkpy.kernels.place.members import turn_by
from quirkpy.kernels.step.projection import project
from quirkpy.kernels.step.relative import product, put4
from quirkpy.kernels.tree.evaluation import evaluate
from quirkpy.kernels.tree.model import Model, Scratch
from quirkpy.maths.types import Floats, Ints

#: What a group does freely: nothing; it drifts; it drifts and turns.
HELD, DRIFTS, TURNS = 0, 1, 2
#: Columns of a trial: a shift, and a turn as a quaternion.
SHIFTED, TURNED, TRIAL_WIDTH = 0, 3, 7


@kernel
def feel_displaced(
    t: float, rows: Floats, displaced: Floats, model: Model, conditions: Conditions,
    scratch: Scratch, moved: Floats, states: Floats, felt: Floats,
) -> None:  # fmt: skip
    """The first two of some states (k, n, STATE_WIDTH) with their accelerations (k, n, 6): the one
    given, and this one displaced by (n, 6), in N and by rotation vectors in body axes, and put back
    onto its joints. moved: room for the result of projection (2,)."""
    for k in range(rows.shape[0]):
        for j in range(STATE_WIDTH):
            states[0, k, j] = rows[k, j]
            states[1, k, j] = rows[k, j]
        add3(states[1], k, R, get3(displaced, k, 0))
        put4(states[1], k, Q, turn_onward(get4(rows, k, Q), get3(displaced, k, 3)))
    conditions.control[TIME] = t
    project(states[1], model, conditions, scratch, moved)
    for i in range(2):
        evaluate(t, states[i], model, conditions, scratch, felt[i])


@inner
def copy_base(states: Floats, felt: Floats) -> None:
    """Write the second of some states, with its accelerations, into the place of the third."""
    for k in range(states.shape[1]):
        for j in range(STATE_WIDTH):
            states[2, k, j] = states[1, k, j]
        for j in range(6):
            felt[2, k, j] = felt[1, k, j]


@inner
def shift_group(state: Floats, groups: Ints, g: int, shift: Vec) -> None:
    """Shift all bodies of group g."""
    for k in range(groups.shape[0]):
        if groups[k] == g:
            add3(state, k, R, shift)


@inner
def turn_group(state: Floats, groups: Ints, g: int, centre: Vec, q: Four) -> None:
    """Turn group g about a point, its velocities with it."""
    for k in range(groups.shape[0]):
        if groups[k] == g:
            put3(state, k, R, add(centre, turn_by(q, sub(get3(state, k, R), centre))))
            put3(state, k, V, turn_by(q, get3(state, k, V)))
            put4(state, k, Q, product(q, get4(state, k, Q)))


@inner
def fall_of(felt: Floats, bodies: Floats, groups: Ints, g: int) -> Vec:
    """The acceleration of the mass centre of group g."""
    mass, fall = 0.0, ZERO
    for k in range(groups.shape[0]):
        if groups[k] == g:
            mass += bodies[k, MASS]
            fall = add(fall, scale(bodies[k, MASS], get3(felt, k, 0)))
    return scale(1.0 / mass, fall)


@inner
def turn_accelerations(felt: Floats, groups: Ints, g: int, fall: Vec, q: Four) -> None:
    """Turn the accelerations of group g beside that of its mass centre."""
    for k in range(groups.shape[0]):
        if groups[k] == g:
            put3(felt, k, 0, add(fall, turn_by(q, sub(get3(felt, k, 0), fall))))


@inner
def is_equal_within(one: Floats, two: Floats, share: float, least: float) -> bool:
    """Whether accelerations (n, 6) differ by no more than a share of the largest, and a least
    value."""
    apart, largest = 0.0, 0.0
    for k in range(one.shape[0]):
        for j in range(6):
            apart = max(apart, abs(one[k, j] - two[k, j]))
            largest = max(largest, max(abs(one[k, j]), abs(two[k, j])))
    return apart <= share * largest + least


@kernel
def freedom_of(
    t: float, groups: Ints, g: int, trial: Floats, orbit: float, turnable: bool, share: float,
    least: float, model: Model, conditions: Conditions, scratch: Scratch, states: Floats,
    felt: Floats,
) -> int:  # fmt: skip
    """HELD, DRIFTS or TURNS: what group g does freely, told by accelerations at the second of some
    states, and where the group is shifted and turned by a trial (1, TRIAL_WIDTH) from it; the
    latter where it may be turnable. orbit: the square of the rate of the rotating frame, if N is
    one [1/s2]. Accelerations are equal within a share and a least value. States (4, n, STATE_WIDTH)
    and accelerations (4, n, 6) of which the last two are room."""
    shift, q = get3(trial, 0, SHIFTED), get4(trial, 0, TURNED)
    copy_base(states, felt)
    shift_group(states[2], groups, g, shift)
    for k in range(groups.shape[0]):
        if groups[k] == g:
            add3(felt[2], k, 0, (3.0 * orbit * shift[0], 0.0, -orbit * shift[2]))
    evaluate(t, states[2], model, conditions, scratch, felt[3])
    if not is_equal_within(felt[2], felt[3], share, least):
        return HELD
    if not turnable:
        return DRIFTS
    copy_base(states, felt)
    turn_group(states[2], groups, g, drift_of(states[1], model.bodies, groups, g)[0], q)
    turn_accelerations(felt[2], groups, g, fall_of(felt[1], model.bodies, groups, g), q)
    evaluate(t, states[2], model, conditions, scratch, felt[3])
    return TURNS if is_equal_within(felt[2], felt[3], share, least) else DRIFTS


@inner
def stands_still(rows: Floats, groups: Ints, g: int) -> bool:
    """Whether no body of group g has any velocity."""
    for k in range(groups.shape[0]):
        if groups[k] == g:
            v, w = get3(rows, k, V), get3(rows, k, OMEGA)
            if dot(v, v) + dot(w, w) != 0.0:
                return False
    return True


@kernel
def mean_motion(
    rows: Floats, felt: Floats, bodies: Floats, groups: Ints, g: int, freedom: int, slowest: float,
    centre: Floats, velocity: Floats, acceleration: Floats, turning: Floats,
) -> None:  # fmt: skip
    """The rigid motion nearest to that of group g, in the metric of kinetic energy, for each of its
    bodies (n, 3); felt: accelerations at rows. A group that is held turns about a fixed point; one
    that drifts does not turn where it turns more slowly than `slowest` [rad/s]."""
    at, v = drift_of(rows, bodies, groups, g)
    fall, turn = fall_of(felt, bodies, groups, g), ZERO
    if freedom != DRIFTS and not stands_still(rows, groups, g):
        turn = turning_of(rows, bodies, groups, g, at, v)
        if freedom == TURNS and norm(turn) <= slowest:
            turn = ZERO
    if freedom == HELD:
        fall = cross(turn, v)
    for k in range(groups.shape[0]):
        if groups[k] == g:
            put3(centre, k, 0, at)
            put3(velocity, k, 0, v)
            put3(acceleration, k, 0, fall)
            put3(turning, k, 0, turn)
