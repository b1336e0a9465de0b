"""Starts of searches for equilibria: random places, corners of joint ranges, half turns of
joints."""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from quirkpy.kernels.base.arrays import COORDINATE_KIND
from quirkpy.kernels.base.states import attitudes_of, linear_of, zero_vectors
from quirkpy.kernels.tree.stops import BOUND, SIDE, STOP_COORDINATE
from quirkpy.maths.constants import TINY
from quirkpy.maths.rotations import rotate
from quirkpy.maths.types import Bools, Floats
from quirkpy.mechanics.engine import Layout
from quirkpy.rest.modes import displace, gradients
from quirkpy.rest.newton import size_of
from quirkpy.rest.vicinity import Vicinity
from quirkpy.tables.tables import ANGLE

#: Largest displacement of any body in one step [m], [rad]; random component of a path, as a share
#: of a step.
WANDER_STRIDE, WAVERS = 0.3, 0.1
#: Largest number of steps towards corners of joint ranges, the displacement of any body in one
#: step, and the remaining distance at which the corner is reached [m], [rad].
STRIDES, DRIVEN, THERE = 60, 0.6, 1e-3
#: Corners of an angle without stops, relative to its present value [rad]; the number of whole turns
#: to either side where a force depends on them, that is, where they change accelerations by this
#: share.
CORNERS = 0.5 * math.pi * np.arange(-1.0, 3.0)
TURNS, COUNTED = 2, 1e-7
#: A coordinate closer to a stop than this is at the stop [m], [rad].
AT = 2e-3
#: Gradients below this share of the largest count as zero.
IDLE_GRADIENT = 1e-6


def wander(around: Vicinity, rng: np.random.Generator, spread: float) -> Vicinity:
    """A place some steps away along the joints, in random directions; spread: the length of the
    path [m], [rad].

    Directions are drawn as motions of bodies in their own axes, so that a system rotated in space
    takes the rotated path."""
    left = spread * float(rng.uniform(0.1, 1.0))
    direction = random_direction(around, rng)
    while left > 0.0 and around.freedoms:
        direction = direction + WAVERS * random_direction(around, rng)
        stride = min(left, WANDER_STRIDE)
        there = displace(around, direction * (stride / max(size_of(around, direction), TINY)))
        direction, around, left = there.coordinates_of(around, direction), there, left - stride
        direction = direction / max(size_of(around, direction), TINY)
    return around


def random_direction(around: Vicinity, rng: np.random.Generator) -> Floats:
    """A random direction (f,): motions of all bodies in their own axes, projected onto those that
    the joints allow, that move no body by more than one [m], [rad]."""
    motion = rng.normal(size=zero_vectors(len(around.rows)).shape)
    linear_of(motion)[:] = rotate(attitudes_of(around.rows), linear_of(motion))
    along = np.einsum("fni,ni->f", around.basis, motion)
    if around.flexible:
        along = _unbent(around, along)
    return np.asarray(along / max(size_of(around, along), TINY))


def _unbent(around: Vicinity, along: Floats) -> Floats:
    """A direction without its share that bends bodies; where nothing moves otherwise, as it was."""
    bent = around.points.modes_in(around.basis)
    left = along - bent @ np.linalg.lstsq(bent, along, rcond=IDLE_GRADIENT)[0]
    none = np.linalg.norm(left) <= IDLE_GRADIENT * np.linalg.norm(along)
    return np.asarray(along if none else left)


# --- by joint coordinates -------------------------------------------------------------------------
def ranges(around: Vicinity) -> list[Floats]:
    """Values at which each joint coordinate begins a search: bounds of its stops and their mean, or
    quarters of a turn from its present value."""
    lows, highs, bounds = limits_of(around.layout)
    here, counted = values_of(around), are_turns_counted(around)
    on = 2.0 * math.pi * np.arange(-TURNS, TURNS + 1)[:, None]
    out = []
    for c, kind in enumerate(around.layout.packed.coordinates[:, COORDINATE_KIND]):
        low, high = lows[c], highs[c]
        if math.isfinite(low) and math.isfinite(high):
            found = [low, 0.5 * (low + high), high, here[c]]
        else:
            corners = (
                here[c] + (CORNERS + on * counted[c]).ravel() if kind == ANGLE else here[c : c + 1]
            )
            found = [*corners[(corners >= low) & (corners <= high)], *bounds[c]]
        out.append(np.array(found))
    return out


def limits_of(layout: Layout) -> tuple[Floats, Floats, list[Floats]]:
    """The range of each coordinate between the active stops, infinite where there is none, and all
    their bounds: (nc,), (nc,), nc lists."""
    stops, n = layout.stops, len(layout.packed.coordinates)
    mine = [(stops.what[:, STOP_COORDINATE] == c) & layout.bounding for c in range(n)]
    bounds = [stops.numbers[some, BOUND] for some in mine]
    sides = [stops.numbers[some, SIDE] for some in mine]
    each = list(zip(bounds, sides, strict=True))
    low = [at[side > 0.0].max(initial=-math.inf) for at, side in each]
    high = [at[side < 0.0].min(initial=math.inf) for at, side in each]
    return np.array(low), np.array(high), bounds


def random_corner(around: Vicinity, rng: np.random.Generator, corners: list[Floats]) -> Vicinity:
    """A random corner of the ranges of all joint coordinates, as near as the joints allow."""
    return drive_to(around, np.array([float(rng.choice(values)) for values in corners]))


def advance_coordinate(around: Vicinity, c: int, by: float) -> Vicinity:
    """The place where one joint coordinate is larger by some amount [rad], [m], and the others, as
    far as the joints allow, are unchanged."""
    target = values_of(around)
    target[c] += by
    return drive_to(around, target, c)


def drive_to(around: Vicinity, target: Floats, chosen: int | None = None) -> Vicinity:
    """The place where joint coordinates have given values (nc,), or the nearest reached in a number
    of steps; chosen: the one that has priority where they cannot all be attained."""
    for _ in range(STRIDES):
        way = target - values_of(around)
        J = gradients(around)
        if abs(way).max(initial=0.0) <= THERE or not J.size:
            break
        xi: Floats = np.asarray(np.linalg.lstsq(J, way, rcond=IDLE_GRADIENT)[0], dtype=np.float64)
        if chosen is not None and abs((J @ xi - way)[chosen]) > 0.5 * abs(way[chosen]):
            row = J[chosen]
            if np.linalg.norm(row) <= IDLE_GRADIENT * abs(J).max():
                break
            xi = row * (float(way[chosen]) / float(row @ row))
            if abs(way[chosen]) <= THERE:
                break
        size = size_of(around, xi)
        if size <= THERE:
            break
        around = displace(around, xi * min(1.0, DRIVEN / size))
    return around


def angles_of(around: Vicinity) -> list[int]:
    """Which joint coordinates are angles."""
    return np.flatnonzero(around.layout.packed.coordinates[:, COORDINATE_KIND] == ANGLE).tolist()


def are_turns_counted(around: Vicinity) -> Bools:
    """Which joint coordinates are angles on whose whole turns a force depends (nc,)."""
    out, here = np.zeros(len(around.near), dtype=bool), around.here.felt
    for c in angles_of(around):
        windings = around.state.windings.copy()
        windings[c] += 1
        other = Vicinity(
            around.clusters, around.state.changed(windings=windings), around.whole
        ).here.felt
        out[c] = abs(other - here).max() > COUNTED * max(float(abs(here).max()), around.loading)
    return out


def values_of(around: Vicinity) -> Floats:
    """Values of all joint coordinates, whole turns included (nc,)."""
    return np.array(around.at.coordinates(np.arange(len(around.near)))[:, 0])


def at_stops(around: Vicinity, among: Collection[str] | None = None) -> Vicinity | None:
    """The place held by all stops that it touches, or by those of them with given labels; None: it
    touches none."""
    stops, here = around.layout.stops, values_of(around)
    away = abs(here[stops.what[:, STOP_COORDINATE]] - stops.numbers[:, BOUND])
    held = tuple(label for label, gap in zip(around.layout.labels, away, strict=True)
                 if gap <= AT and (among is None or label in among))  # fmt: skip
    if not held:
        return None
    there = Vicinity(around.clusters, around.state.changed(held=held), around.whole)
    return displace(there, np.zeros(there.freedoms))
