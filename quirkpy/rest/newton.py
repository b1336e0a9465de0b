"""Newton's method for the generalized forces along the constraints: to the equilibrium near a
state, accurate to rounding."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from quirkpy.kernels.base.states import by_body, flat, halves_of
from quirkpy.maths.differences import DOUBTS, JUMP, unsure
from quirkpy.maths.types import Floats
from quirkpy.rest.coordinates import rounding_of_loads
from quirkpy.rest.vicinity import Vicinity

#: A Newton step moves no body by more than this [m], [rad].
NEWTON_STRIDE = 0.1
#: Largest number of Newton steps; the step [m], [rad] below which iteration ends, unless the
#: remaining force along stiff directions would appear as a stiffness of soft ones; and the factor
#: by which a step with an old stiffness must reduce the last, or the stiffness is computed anew.
NEWTON_STEPS, POLISHED, STIFFNESS_GAIN = 40, 1e-13, 0.1
#: Where all directions are of comparable stiffness, a stiffness counts as zero below this share of
#: the largest; in any case below the second value [1/s2], which would not move anything within
#: years.
STIFFNESS_CUT, ZERO_STIFFNESS = 1e-11, 1e-18
#: Loads that cancel leave at most this share of themselves, per metre or radian; they are
#: considered only where the stiffness is not so large that only accelerations above the second
#: value would matter [m/s2].
CANCELLED, FIERCEST = 1e-10, 1e6
#: Newton steps below this [m], [rad] that no longer decrease are rounding.
STEP_ROUNDING = 1e-6
#: A generalized force is rounding below this share of its stiffness times a metre or a radian, or
#: of the largest acceleration that the loads would give without joints; or below the second value
#: [m/s2], [rad/s2].
IDLE_PULL, NO_PULL = 1e-12, 1e-14
#: A state is certainly not in equilibrium if the force changes by no more than this share over the
#: second value, a distance [m], [rad], along its own direction.
PLAIN, ONWARD = 0.5, 1e-4


class Polished(NamedTuple):
    """The result of Newton's method, the largest displacement of any body [m], [rad], and whether
    it converged."""

    around: Vicinity
    moved: float
    settled: bool


def polish(around: Vicinity) -> Polished:
    """The equilibrium near a state, by Newton's method for the forces along the constraints.

    Directions without stiffness are not changed; the rigid motion of the whole is kept.
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
    """Whether, after a step of some size [m], [rad], the remaining forces are balanced by
    stiffness, and a further step would be rounding or no improvement."""
    back = pseudo_inverse(around)
    after = size_of(around, back @ around.pull)
    gains = STEP_ROUNDING < after <= STIFFNESS_GAIN * size
    return not gains and is_balanced(around, around.pull, back)


def newton(around: Vicinity) -> tuple[Floats, float, bool]:
    """Newton steps in the coordinates of one vicinity, with its constant stiffness, while they
    converge: the state's rows, the largest displacement of any body, and whether a further step
    would change nothing."""
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
    """Whether the next equilibrium is farther away than `ONWARD`, estimated from two states alone,
    and the force exceeds rounding."""
    felt = around.here.felt
    size = math.sqrt(float((felt.reshape(-1, 3) ** 2).sum(axis=1).max(initial=0.0)))
    if size == 0.0:
        return False
    change = around.answers(around.displace_bodies(felt * (ONWARD / size))).felt - felt
    plain = float((change**2).sum()) <= PLAIN**2 * float((felt**2).sum())
    return plain and size > IDLE_PULL * around.loading + NO_PULL


def is_balanced(around: Vicinity, pull: Floats, back: Floats) -> bool:
    """Whether the remaining force lies in the range of the stiffness; back: K+. (Half way down a
    well the stiffness is zero, and the force is largest.)"""
    K = around.jumps.tangent
    left = abs(pull - K @ (back @ pull))
    return bool(
        (left <= idle(around, 0.0)).all()
        or (left <= idle(around, around.loading)).all()
        or (
            left
            <= idle(around, around.loading) + DOUBTS * rounding_of_loads(around.at, around.basis)
        ).all()
    )


def idle(around: Vicinity, loading: float) -> Floats:
    """Bound of the rounding of the force along each coordinate: from forces that change over a
    share of a metre or a radian, and from loads that cancel but would give free bodies some
    acceleration [m/s2], [rad/s2] (f,)."""
    lengths = around.lengths
    return np.asarray(
        IDLE_PULL * (abs(around.stiffness.values) @ lengths)
        + (IDLE_PULL * loading + NO_PULL) * lengths
    )


def size_of(around: Vicinity, xi: Floats) -> float:
    """The displacement of the body that a step along coordinates moves most [m], [rad]; lengths are
    in units of the system's own size."""
    if not len(xi):
        return 0.0
    moved = halves_of(by_body(xi @ flat(around.basis))) / around.units
    return math.sqrt(float((moved * moved).sum(axis=2).max(initial=0.0)))


def pseudo_inverse(around: Vicinity) -> Floats:
    """K+ without the directions whose stiffness is zero or indistinguishable from zero."""
    if around.jumps.counts.any():
        return np.asarray(np.linalg.pinv(around.jumps.tangent, rcond=JUMP))
    U, sigma, Vt = around.principal
    known = sigma > unknown_below(around, Vt.T)
    return np.asarray((Vt[known].T / sigma[known]) @ U[:, known].T)


def unknown_below(around: Vicinity, along: Floats) -> Floats:
    """The values that the stiffness along some directions of length one (f, k) must exceed to be
    distinguishable from zero (k,)."""
    if not around.wide and float(around.principal[1].min(initial=math.inf)) > CANCELLED * FIERCEST:
        doubt = around.stiffness.doubt @ along
        least = STIFFNESS_CUT * float(around.principal[1].max(initial=0.0))
        return np.maximum(least, DOUBTS * np.sqrt((doubt * doubt).sum(axis=0)))
    return np.maximum(unsure(around.stiffness_error, along), ZERO_STIFFNESS)
