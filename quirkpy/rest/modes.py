"""Searches from one state to an equilibrium: downhill, by Newton's method, or along a mode to the
next equilibrium.

A search along a mode starts at an equilibrium and ends where the curvature of the energy along that
mode has the opposite sign: from a minimum to a saddle, from there to a higher saddle, or down again
(eigenvector following: Cerjan and Miller, J. Chem. Phys. 75, 2800, 1981). All steps are in the
metric of kinetic energy."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from quirkpy.kernels.tree.stops import BOUND, SIDE, STOP_COORDINATE
from quirkpy.maths.constants import TINY
from quirkpy.maths.differences import unsure
from quirkpy.maths.types import Bools, Floats
from quirkpy.mechanics.bending import BentTooFar, mass_factor
from quirkpy.rest.newton import ZERO_STIFFNESS, newton, polish, size_of
from quirkpy.rest.vicinity import Vicinity
from quirkpy.rest.work import work_to

#: (1 - exp(-x)) / x is replaced by one for x below this [1].
SHORT_FLOW = 1e-6
#: Largest number of steps towards an equilibrium, downhill and by Newton's method; the largest
#: displacement of any body in one step [m], [rad].
STEPS, NEWTON, DESCENT_STEP = 200, 40, 0.3
#: Largest number of steps towards an equilibrium with given unstable modes; number of successive
#: steps with positive curvature along one of these after which the search is given up.
CLIMBING, ASTRAY = 60, 6
#: Largest number of steps along a mode, their length, and how many of them may keep the initial
#: direction.
FOLLOWED, MODE_STRIDE, STRAIGHT = 80, 0.15, 20
#: Largest number of steps of steepest descent, and their length [m], [rad].
DOWN, FALL = 1000, 0.05
#: Steps below this [m], [rad] are left to Newton's method alone; below the second a minimum is
#: near.
NEWTON_REACH, BOTTOM_REACH = 1e-3, 0.03
#: A stiffness indistinguishable from zero, below this share of the largest, is replaced by that
#: value in a step; a direction with a relative force below the second has no step.
SOFTEST, LEVEL_PULL = 1e-6, 1e-12
#: The energy is level along a mode where its curvature is below this share of the largest and below
#: the error of the differences.
LEVEL_BEND = 1e-9
#: Number of bisections for the step that moves a body as far as admissible.
HALVINGS = 4
#: Shares of a step that are tried where the whole of it bends a body too far.
SHORTER = (1.0, 0.5, 0.25, 0.125)
#: How far beyond a stop an equilibrium may lie [m], [rad].
STOP_OVERLAP = 1e-7


def displace_within_reach(around: Vicinity, xi: Floats, longest: float) -> Vicinity:
    """The vicinity of the state at some coordinates (f,), on the joints; no body moves farther than
    the longest way."""
    share = min(1.0, longest / max(size_of(around, xi), TINY))
    return displace(around, share * xi)


def displace(around: Vicinity, xi: Floats) -> Vicinity:
    """The vicinity of the state at some coordinates (f,), projected onto the joints; nearer by, or
    this very one, where a body would be bent too far."""
    for share in SHORTER if around.flexible else (1.0,):
        rows = around.answers(around.states_at(share * xi[None])).rows[0]
        if not around.flexible or is_bent_within(around, rows):
            return Vicinity(around.clusters, around.state_of(rows), around.whole)
    return around


def is_bent_within(around: Vicinity, rows: Floats) -> bool:
    """Whether no body is bent farther than its model reaches, at rows (n, STATE_WIDTH)."""
    if not np.isfinite(rows).all():
        return False
    with contextlib.suppress(BentTooFar):
        return bool(len(mass_factor(around.instant_of(rows))))
    return False


def within_models(search: Callable[..., Vicinity | None]) -> Callable[..., Vicinity | None]:
    """A search that finds nothing where it bends a body too far."""

    @functools.wraps(search)
    def found(*given: Any, **more: Any) -> Vicinity | None:
        with contextlib.suppress(BentTooFar):
            return search(*given, **more)
        return None

    return found


@within_models
def approach(around: Vicinity, downhill: bool) -> Vicinity | None:
    """The equilibrium reached from a place: downhill, a minimum; or by Newton's method, of any
    kind."""
    for _ in range(STEPS if downhill else NEWTON):
        step = _newton_step(around, downhill)
        if size_of(around, step) < NEWTON_REACH:
            ended = _converge(around)
            if ended is not None:
                return ended
        if downhill:
            tried = np.outer([1.0, 0.5, 0.25, 0.125], step)
            step = tried[int(np.argmin(work_to(around, tried)))]
        around = displace_within_reach(around, step, DESCENT_STEP)
    return None


@within_models
def climb(around: Vicinity, falling: int, longest: Callable[[Vicinity], float]) -> Vicinity | None:
    """The equilibrium reached by going uphill along the given number of modes, those of lowest
    curvature among the modes that have a stiffness, and downhill along all others: one with as many
    unstable modes (Yin, Zhang and Zhang, SIAM J. Sci. Comput. 41, A3576, 2019). longest: the
    largest displacement of any body in one step."""
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
    """The equilibrium to which Newton's steps converge in the coordinates of one vicinity."""
    rows, _, settled = newton(around)
    if not settled:
        return None
    there = polish(Vicinity(around.clusters, around.state_of(rows), around.whole))
    return there.around if there.settled else None


def _newton_step(around: Vicinity, downhill: bool) -> Floats:
    """A step of Newton's method (f,); downhill, its components along modes of negative curvature
    are reversed."""
    if not around.freedoms:
        return np.zeros(0)
    bends, modes = around.bends
    sign = np.where((bends < 0.0) & (not downhill), -1.0, 1.0)
    return _limit_step(around, bends, modes, sign * (modes.T @ around.pull), DESCENT_STEP)


def _limit_step(
    around: Vicinity, bends: Floats, modes: Floats, pull: Floats, longest: float
) -> Floats:
    """Newton's steps along modes (f,), each the force divided by the curvature; where that moves a
    body too far, all curvatures are increased by the same amount (a trust region), so that a soft
    mode does not suppress the others."""
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


@within_models
def follow(base: Vicinity, along: Floats, straight: bool = False) -> Vicinity | None:
    """The equilibrium reached along a mode (f,) of another one, in the sense given: there the
    curvature along the mode has the opposite sign.

    On the way, as many of the lowest modes orthogonal to it are followed uphill as are unstable at
    the base; all others go downhill. straight: any direction is followed, uphill, until one mode
    more has negative curvature."""
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
    """Along which modes the curvature exceeds a share of the largest, or the error of the
    differences (f,)."""
    bends, modes = around.bends
    plain: Bools = abs(bends) > share * abs(bends).max(initial=0.0)
    if plain.all():
        return plain
    doubt = np.maximum(unsure(around.stiffness_error_here, modes), ZERO_STIFFNESS)
    return np.asarray(plain | (abs(bends) > doubt))


def falling(around: Vicinity) -> int:
    """The number of modes along which the energy falls."""
    return int(((around.bends[0] < 0.0) & bends_beyond(around, SOFTEST)).sum())


def _sense(along: Floats, mode: Floats) -> float:
    """The sign of the component of a mode along a direction."""
    return 1.0 if along @ mode >= 0.0 else -1.0


@within_models
def descend(around: Vicinity) -> Vicinity | None:
    """The minimum in whose basin a state lies: by steepest descent in steps short enough not to
    cross a ridge."""
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
        times = np.maximum(bends * (FALL / size), -1.0)  # along the linearised flow xi' = pull
        decay = np.where(
            abs(times) < SHORT_FLOW, 1.0, -np.expm1(-times) / np.where(times == 0.0, 1.0, times)
        )
        around = displace_within_reach(
            around, modes @ ((modes.T @ pull) * decay * (FALL / size)), FALL
        )
    return None


def beyond_stops(around: Vicinity) -> bool:
    """Whether a state lies beyond a stop."""
    stops = around.layout.stops
    at = around.at.coordinates(stops.what[:, STOP_COORDINATE])[:, 0]
    beyond = stops.numbers[:, SIDE] * (at - stops.numbers[:, BOUND]) < -STOP_OVERLAP
    return bool((beyond & around.layout.bounding).any())


def are_stops_pressed(around: Vicinity) -> bool:
    """Whether all stops that hold a state are pressed on."""
    return all(is_pressed(around, label) for label in around.state.held)


def is_pressed(around: Vicinity, label: str) -> bool:
    """Whether a stop that holds a state is pressed on: without it the coordinate would pass it; a
    latch holds in either sense."""
    if label in around.layout.latches:
        return True
    stops, k = around.layout.stops, around.layout.labels.index(label)
    others = tuple(other for other in around.state.held if other != label)
    free = Vicinity(around.clusters, around.state.changed(held=others), around.whole)
    rate = float(gradients(free)[stops.what[k, STOP_COORDINATE]] @ free.pull)
    return float(stops.numbers[k, SIDE]) * rate < 0.0


def gradients(around: Vicinity) -> Floats:
    """Derivatives of all joint coordinates along those of the vicinity (nc, f)."""
    which = np.arange(len(around.near))
    out = np.zeros((len(which), around.freedoms))
    for k, rows in enumerate(around.with_speeds(around.basis)):
        out[:, k] = around.instant_of(rows).coordinates(which)[:, 1]
    return out
