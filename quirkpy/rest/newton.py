"""Newton's method on what pulls along the constraints: to the equilibrium near a state, down to
rounding."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from quirkpy.kernels.base.states import by_body, flat, halves_of
from quirkpy.maths.differences import DOUBTS, JUMP, unsure
from quirkpy.maths.types import Floats
from quirkpy.rest.vicinity import Vicinity

#: A Newton step moves no body by more than this [m], [rad].
NEWTON_STRIDE = 0.1
#: Newton steps at most; the step [m], [rad] below which the next would change nothing, unless what
#: still pulls along stiff directions would be felt as a stiffness of soft ones; and how much a step
#: with an old stiffness must gain, or the stiffness is computed anew.
NEWTON_STEPS, POLISHED, STIFFNESS_GAIN = 40, 1e-13, 0.1
#: Where all directions are alike stiff, a stiffness counts as zero below this share of the largest;
#: everywhere below this [1/s2], by which nothing would move within years.
STIFFNESS_CUT, ZERO_STIFFNESS = 1e-11, 1e-18
#: Loads that cancel leave no more than this share of themselves, per metre or radian; they are not
#: asked about what is too stiff for any but fiercer ones [m/s2].
CANCELLED, FIERCEST = 1e-10, 1e6
#: Newton's steps below this [m], [rad] that gain no more are rounding.
STEP_ROUNDING = 1e-6
#: What pulls along a coordinate is rounding below this share of its stiffness times a metre or a
#: radian, and of the largest acceleration that loads would give without joints; or below this
#: [m/s2], [rad/s2] altogether.
IDLE_PULL, NO_PULL = 1e-12, 1e-14
#: A state plainly moves where what pulls changes by no more than this share, so far on [m], [rad],
#: whither it pulls.
PLAIN, ONWARD = 0.5, 1e-4


class Polished(NamedTuple):
    """Where Newton's steps have ended, how far they moved any body in all [m], [rad], and whether
    they converged."""

    around: Vicinity
    moved: float
    settled: bool


def polish(around: Vicinity) -> Polished:
    """The equilibrium near a state: Newton's method on what pulls along the constraints.

    Directions without stiffness are left alone; the state's own motion as a whole is kept.
    """
    moved, clusters = 0.0, around.clusters
    for _ in range(NEWTON_STEPS):
        rows, size, settled = newton(around)
        if size == 0.0:
            return Polished(around, moved, settled)
        moved += size
        around = Vicinity(clusters, around.state_of(rows), around.whole)
        if settled and (not around.wide or has_arrived(around, size)):
            return Polished(around, moved, True)
    return Polished(around, moved, False)


def has_arrived(around: Vicinity, size: float) -> bool:
    """Whether nothing pulls at the end of steps of some size [m], [rad] but what a stiffness puts
    right, and a next step would be rounding, or gain no more."""
    back = pseudo_inverse(around)
    after = size_of(around, back @ around.pull)
    gains = STEP_ROUNDING < after <= STIFFNESS_GAIN * size
    return not gains and is_balanced(around, around.pull, back)


def newton(around: Vicinity) -> tuple[Floats, float, bool]:
    """Steps in the coordinates of one vicinity, all with its stiffness, as long as that serves: the
    state's rows, how far any body has moved, and whether a next step would change nothing."""
    back = pseudo_inverse(around)
    xi, pull, rows, before = np.zeros(around.freedoms), around.pull, around.rows, math.inf
    for _ in range(NEWTON_STEPS):
        step = back @ pull
        size = size_of(around, step)
        if size <= POLISHED and (
            not around.wide or (abs(around.jumps.tangent @ step) <= around.rounding).all()
        ):
            return rows, size_of(around, xi), is_balanced(around, pull, back)
        # Too far from where the stiffness was measured, or down to rounding
        if size > STIFFNESS_GAIN * before:
            return (
                rows,
                size_of(around, xi),
                before < STEP_ROUNDING and is_balanced(around, pull, back),
            )
        xi = xi + step * min(1.0, NEWTON_STRIDE / size)
        answers = around.answers(around.states_at(xi[None]))
        rows, pull, before = answers.rows[0], around.reduce(answers.felt)[0], size
        if size > NEWTON_STRIDE:
            break
    return rows, size_of(around, xi), False


def rests(around: Vicinity) -> bool:
    """Whether a state at standstill is an equilibrium, but for rounding."""
    if is_far_from_equilibrium(around):
        return False
    back = pseudo_inverse(around)
    return size_of(around, back @ around.pull) <= STEP_ROUNDING and is_balanced(
        around, around.pull, back
    )


def is_far_from_equilibrium(around: Vicinity) -> bool:
    """Whether equilibrium is farther away than `ONWARD`, told from two states alone, and what pulls
    is not rounding."""
    felt = around.here.felt
    size = math.sqrt(float((felt.reshape(-1, 3) ** 2).sum(axis=1).max(initial=0.0)))
    if size == 0.0:
        return False
    change = around.answers(around.displace_bodies(felt * (ONWARD / size))).felt - felt
    plain = float((change**2).sum()) <= PLAIN**2 * float((felt**2).sum())
    return plain and size > IDLE_PULL * around.loading + NO_PULL


def is_balanced(around: Vicinity, pull: Floats, back: Floats) -> bool:
    """Whether no force is left but such as a stiffness answers; back: K+.  (Half way down a well
    the stiffness is zero, and the force is the largest.)"""
    K = around.jumps.tangent
    left = abs(pull - K @ (back @ pull))
    return bool((left <= idle(around, 0.0)).all() or (left <= idle(around, around.loading)).all())


def idle(around: Vicinity, loading: float) -> Floats:
    """What pulls along each coordinate by rounding alone: as forces change over a share of a metre
    or a radian, and as loads cancel that would give bodies without joints some acceleration [m/s2],
    [rad/s2] (f,)."""
    lengths = around.lengths
    return np.asarray(
        IDLE_PULL * (abs(around.stiffness.values) @ lengths)
        + (IDLE_PULL * loading + NO_PULL) * lengths
    )


def size_of(around: Vicinity, xi: Floats) -> float:
    """How far a displacement along coordinates moves the body that it moves most [m], [rad]; in
    systems of another size in what is a metre there."""
    if not len(xi):
        return 0.0
    moved = halves_of(by_body(xi @ flat(around.basis))) / np.array([[around.size], [1.0]])
    return math.sqrt(float((moved * moved).sum(axis=2).max(initial=0.0)))


def pseudo_inverse(around: Vicinity) -> Floats:
    """K+ without the directions whose stiffness is zero, or not known from zero."""
    if around.jumps.counts.any():
        return np.asarray(np.linalg.pinv(around.jumps.tangent, rcond=JUMP))
    U, sigma, Vt = around.principal
    known = sigma > unknown_below(around, Vt.T)
    return np.asarray((Vt[known].T / sigma[known]) @ U[:, known].T)


def unknown_below(around: Vicinity, along: Floats) -> Floats:
    """What the stiffness along some directions of length one (f, k) must exceed not to count as
    zero (k,)."""
    if not around.wide and float(around.principal[1].min(initial=math.inf)) > CANCELLED * FIERCEST:
        doubt = around.stiffness.doubt @ along
        least = STIFFNESS_CUT * float(around.principal[1].max(initial=0.0))
        return np.maximum(least, DOUBTS * np.sqrt((doubt * doubt).sum(axis=0)))
    return np.maximum(unsure(around.stiffness_error, along), ZERO_STIFFNESS)
