"""From one state to an equilibrium: downhill, by Newton's method, or along a motion until energy is
level again.

What follows a motion leaves an equilibrium along one of its modes and goes on until energy is bent
the other way along that: from a minimum to a saddle, from there to a higher one, or down again
(eigenvector following: Cerjan and Miller, J. Chem. Phys. 75, 2800, 1981).  All steps are in the
metric of kinetic energy."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from quirkpy.kernels.base.states import angular_of, linear_of
from quirkpy.kernels.tree.stops import BOUND, SIDE, STOP_COORDINATE
from quirkpy.maths.constants import TINY
from quirkpy.maths.differences import unsure
from quirkpy.maths.types import Bools, Floats
from quirkpy.mechanics.instant import Instant
from quirkpy.rest.newton import ZERO_STIFFNESS, newton, polish, size_of
from quirkpy.rest.vicinity import Vicinity

#: (1 - exp(-x)) / x is taken as one for x below this [1].
SHORT_FLOW = 1e-6
#: Steps towards an equilibrium at most, downhill and by Newton's method; how far one moves any body
#: [m], [rad].
STEPS, NEWTON, DESCENT_STEP = 200, 40, 0.3
#: The same on the way to a rest that falls along some modes; steps one after the other where energy
#: is bent up along one of these, which lead astray.
CLIMBING, ASTRAY = 60, 6
#: The same along a mode; so many of them at most go straight.
FOLLOWED, MODE_STRIDE, STRAIGHT = 80, 0.15, 20
#: Steps of steepest descent, at most and how far.
DOWN, FALL = 1000, 0.05
#: Steps below this [m], [rad] are left to Newton's method alone; a bottom is near below the second.
NEWTON_REACH, BOTTOM_REACH = 1e-3, 0.03
#: A stiffness below this share of the largest that is not known from zero is taken for so much in a
#: step; one that has no pull is left alone.
SOFTEST, LEVEL_PULL = 1e-6, 1e-12
#: Energy is level along a mode where it is bent by less than this share of the largest, and by no
#: more than differences leave in doubt.
LEVEL_BEND = 1e-9
#: How often the step that moves as far as may be is narrowed down.
HALVINGS = 4
#: How far beyond a stop an equilibrium may lie [m], [rad].
STOP_OVERLAP = 1e-7


def displace_within_reach(around: Vicinity, xi: Floats, longest: float) -> Vicinity:
    """The vicinity of the state at some coordinates (f,), on the joints; no body moves farther than
    the longest way."""
    share = min(1.0, longest / max(size_of(around, xi), TINY))
    rows = around.answers(around.states_at(share * xi[None])).rows[0]
    return Vicinity(around.clusters, around.state_of(rows), around.whole)


def approach(around: Vicinity, downhill: bool) -> Vicinity | None:
    """The equilibrium to which a place leads: downhill, to a minimum; or by Newton's method, to any
    kind."""
    for _ in range(STEPS if downhill else NEWTON):
        step = _newton_step(around, downhill)
        if size_of(around, step) < NEWTON_REACH:
            ended = _converge(around)
            if ended is not None:
                return ended
        if downhill:
            tried = np.outer([1.0, 0.5, 0.25, 0.125], step)
            step = tried[int(np.argmin(around.rises(tried)))]
        around = displace_within_reach(around, step, DESCENT_STEP)
    return None


def climb(around: Vicinity, falling: int, longest: Callable[[Vicinity], float]) -> Vicinity | None:
    """The equilibrium to which a place leads that goes uphill along so many of its modes that have
    a stiffness, those along which energy is bent down most, and downhill along all others: one at
    which energy falls along as many (Yin, Zhang and Zhang, SIAM J. Sci. Comput. 41, A3576, 2019).
    longest: how far a step may move any body."""
    astray = 0
    for _ in range(CLIMBING):
        bends, modes = around.bends
        climbed = np.flatnonzero(bends_beyond(around, LEVEL_BEND))[:falling]
        astray = astray + 1 if len(climbed) < falling or (bends[climbed] > 0.0).any() else 0
        if astray > ASTRAY:
            return None
        sign = np.ones(len(bends))
        sign[climbed] = -1.0
        furthest = min(DESCENT_STEP, longest(around))
        step = _limit_step(around, bends, modes, sign * (modes.T @ around.pull), furthest)
        if size_of(around, step) < min(NEWTON_REACH, 0.1 * furthest):
            ended = _converge(around)
            if ended is not None:
                return ended
        around = displace_within_reach(around, step, DESCENT_STEP)
    return None


def _converge(around: Vicinity) -> Vicinity | None:
    """The equilibrium to which Newton's steps lead in the coordinates of one vicinity."""
    rows, _, settled = newton(around)
    if not settled:
        return None
    there = polish(Vicinity(around.clusters, around.state_of(rows), around.whole))
    return there.around if there.settled else None


def _newton_step(around: Vicinity, downhill: bool) -> Floats:
    """A step of Newton's method (f,); downhill, where energy is bent the other way the step is
    turned round."""
    if not around.freedoms:
        return np.zeros(0)
    bends, modes = around.bends
    sign = np.where((bends < 0.0) & (not downhill), -1.0, 1.0)
    return _limit_step(around, bends, modes, sign * (modes.T @ around.pull), DESCENT_STEP)


def _limit_step(
    around: Vicinity, bends: Floats, modes: Floats, pull: Floats, longest: float
) -> Floats:
    """Newton's steps along modes, each as far as its pull says (f,); where that moves a body too
    far, as if all were bent by so much more that it does not: then a soft mode leaves the others
    their share."""
    largest = max(float(abs(bends).max(initial=0.0)), ZERO_STIFFNESS)
    stiff = bends_beyond(around, SOFTEST)
    size = np.where(stiff, abs(bends), SOFTEST * largest)
    pull = np.where(stiff | (abs(pull) >= LEVEL_PULL), pull, 0.0)

    def step(more: float) -> Floats:
        return np.asarray(modes @ (pull / (size + more)))

    made, more = step(0.0), SOFTEST * largest
    if size_of(around, made) <= longest:
        return made
    while size_of(around, made) > longest:
        more *= 4.0
        made = step(more)
    low = 0.25 * more
    for _ in range(HALVINGS):
        middle = math.sqrt(low * more)
        low, more = (middle, more) if size_of(around, step(middle)) > longest else (low, middle)
    return step(more)


def follow(base: Vicinity, along: Floats, straight: bool = False) -> Vicinity | None:
    """The equilibrium to which a mode of another leads (f,), in its sense: there energy is bent the
    other way along it.

    On the way up the lowest modes across it are as many as energy falls along at the base, and are
    climbed as well; all others go downhill.  straight: along any direction, uphill, until energy is
    bent down along one mode more."""
    up = straight or float(along @ base.stiffness.values @ along) > 0.0
    climbed = max(0, falling(base) - (0 if up else 1))
    before, around = (
        base,
        displace_within_reach(base, along * (MODE_STRIDE / size_of(base, along)), MODE_STRIDE),
    )
    for taken in range(FOLLOWED):
        if straight and taken == STRAIGHT:
            return None
        along = around.coordinates_of(before, along)
        bends, modes = around.bends
        if straight and falling(around) > climbed:
            along, straight = modes[:, climbed] * _sense(along, modes[:, climbed]), False
        k = -1 if straight else int(np.argmax(abs(along @ modes)))
        way = along if straight else modes[:, k] * _sense(along, modes[:, k])
        turned = not straight and bool(bends[k] < 0.0 if up else bends[k] > 0.0)
        sign = np.ones(len(bends))
        sign[[i for i in range(len(bends)) if i != k][:climbed]] = -1.0
        if not straight:
            sign[k] = (-1.0 if up else 1.0) if turned else 0.0
        step = _limit_step(around, bends, modes, sign * (modes.T @ around.pull), MODE_STRIDE)
        if turned and size_of(around, step) < NEWTON_REACH:
            return _converge(around)
        if not turned:
            across = step - way * float(way @ step) / float(way @ way)
            step = across + way * (MODE_STRIDE / size_of(around, way))
        before, along, around = around, way, displace_within_reach(around, step, MODE_STRIDE)
    return None


def bends_beyond(around: Vicinity, share: float) -> Bools:
    """Along which modes energy is bent: by more than a share of the most, or by more than the
    differences leave in doubt (f,)."""
    bends, modes = around.bends
    plain: Bools = abs(bends) > share * abs(bends).max(initial=0.0)
    if plain.all():
        return plain
    doubt = np.maximum(unsure(around.stiffness_error_here, modes), ZERO_STIFFNESS)
    return np.asarray(plain | (abs(bends) > doubt))


def falling(around: Vicinity) -> int:
    """Along how many modes energy falls."""
    return int(((around.bends[0] < 0.0) & bends_beyond(around, SOFTEST)).sum())


def _sense(along: Floats, mode: Floats) -> float:
    """The sense in which a mode goes along a direction."""
    return 1.0 if along @ mode >= 0.0 else -1.0


def descend(around: Vicinity) -> Vicinity | None:
    """The minimum in whose basin a state lies: by steepest descent in short steps, so that no ridge
    is leapt over."""
    for _ in range(DOWN):
        bends, modes = around.bends
        pull = around.pull
        if beyond_stops(around):
            return None
        convex = len(bends) > 0 and bends[-1] > 0.0 and not falling(around)
        if (
            convex
            and size_of(
                around, _limit_step(around, bends, modes, modes.T @ pull, 2.0 * BOTTOM_REACH)
            )
            < BOTTOM_REACH
        ):
            return approach(around, True)
        size = size_of(around, pull)
        if size == 0.0:
            return around
        times = np.maximum(
            bends * (FALL / size), -1.0
        )  # along the flow xi' = pull, as its linear part goes
        decay = np.where(
            abs(times) < SHORT_FLOW, 1.0, -np.expm1(-times) / np.where(times == 0.0, 1.0, times)
        )
        around = displace_within_reach(
            around, modes @ ((modes.T @ pull) * decay * (FALL / size)), FALL
        )
    return None


def beyond_stops(around: Vicinity) -> bool:
    """Whether a state lies where a stop does not let it."""
    stops = around.layout.stops
    at = around.at.coordinates(stops.what[:, STOP_COORDINATE])[:, 0]
    beyond = stops.numbers[:, SIDE] * (at - stops.numbers[:, BOUND]) < -STOP_OVERLAP
    return bool((beyond & around.layout.bounding).any())


def are_stops_pressed(around: Vicinity) -> bool:
    """Whether all stops that hold a state are pressed on."""
    return all(is_pressed(around, label) for label in around.state.held)


def is_pressed(around: Vicinity, label: str) -> bool:
    """Whether a stop that holds a state is pressed on: without it its coordinate would pass it; a
    latch holds whichever way it would go."""
    if label in around.layout.latches:
        return True
    stops, k = around.layout.stops, around.layout.labels.index(label)
    others = tuple(other for other in around.state.held if other != label)
    free = Vicinity(around.clusters, around.state.changed(held=others), around.whole)
    rate = float(gradients(free)[stops.what[k, STOP_COORDINATE]] @ free.pull)
    return float(stops.numbers[k, SIDE]) * rate < 0.0


def gradients(around: Vicinity) -> Floats:
    """Derivatives of all joint coordinates along those of the vicinity (nc, f)."""
    at, which = around.at, np.arange(len(around.near))
    out = np.zeros((len(which), around.freedoms))
    for k, motion in enumerate(around.basis):
        moving = Instant(
            at.selection,
            at.t,
            at.r,
            at.q,
            linear_of(motion).copy(),
            angular_of(motion).copy(),
            at.near,
            at.held,
        )
        out[:, k] = moving.coordinates(which)[:, 1]
    return out
