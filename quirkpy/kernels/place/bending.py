"""Bodies that bend: their stations, the frames of sites on them, in N.

A station lies at p + sum_i q_i phi_i - sum_k b_k q' eta_k q / 2 from the mass centre of the
undeformed body, in its axes, and its own axes are turned by exp(theta), theta = sum_i q_i psi_i.
Stations are rows of all arrays of bodies, behind the bodies and before the ground: what acts at a
site on a body that bends acts on a row without mass."""

from __future__ import annotations

import math

from quirkpy.kernels.base.arrays import (
    AXES,
    BENT,
    FIRST_COORDINATE,
    FIRST_SPEED,
    MODE_COUNT,
    POSITION,
    SPIN,
    STATION_MODES,
    STATION_NUMBERS,
    STATION_SHORTENING,
    VELOCITY,
    Modes,
    Vec,
)
from quirkpy.kernels.base.compiled import inner, shared
from quirkpy.kernels.base.states import further
from quirkpy.kernels.base.vectors import add, cross, dot, get3, put3, scale, sub
from quirkpy.kernels.place.sites import from_body
from quirkpy.maths.types import Floats

#: Below this square of an angle [rad2] series replace differences of sines and cosines.
SMALL_SQUARE = 0.09
# Where the shapes of a station begin among its numbers, in units of the number of modes; before
# that stands its point.
DISPLACEMENT, ROTATION = 0, 3
STATION_POINT = 3


@inner
def turn_factors(x: float) -> tuple[float, float, float]:
    """Of an angle with the square x: sin t / t, (1 - cos t) / t^2 and (t - sin t) / t^3."""
    if x < SMALL_SQUARE:
        f0 = 1 - x / 6 * (1 - x / 20 * (1 - x / 42 * (1 - x / 72 * (1 - x / 110))))
        f1 = 0.5 - x / 24 * (1 - x / 30 * (1 - x / 56 * (1 - x / 90 * (1 - x / 132))))
        f2 = 1 / 6 - x / 120 * (1 - x / 42 * (1 - x / 72 * (1 - x / 110 * (1 - x / 156))))
        return f0, f1, f2
    t = math.sqrt(x)
    return math.sin(t) / t, (1.0 - math.cos(t)) / x, (t - math.sin(t)) / (t * x)


@inner
def turn_slopes(x: float) -> tuple[float, float]:
    """Of the second and third factor: the derivative with respect to t, divided by t."""
    if x < SMALL_SQUARE:
        g1 = -1 / 12 * (1 - x / 15 * (1 - 3 * x / 112 * (1 - 2 * x / 135 * (1 - 5 * x / 528))))
        g2 = -1 / 60 * (1 - x / 21 * (1 - x / 48 * (1 - 2 * x / 165 * (1 - 5 * x / 624))))
        return g1, g2
    f0, f1, f2 = turn_factors(x)
    return (f0 - 2.0 * f1) / x, (f1 - 3.0 * f2) / x


@inner
def spin_by(theta: Vec, rate: Vec) -> Vec:
    """D(theta) rate: the angular velocity of axes turned by exp(theta)."""
    _, f1, f2 = turn_factors(dot(theta, theta))
    once = cross(theta, rate)
    return add(rate, add(scale(f1, once), scale(f2, cross(theta, once))))


@inner
def spin_bias(theta: Vec, rate: Vec) -> Vec:
    """How D(theta) rate changes while the rate stays."""
    x = dot(theta, theta)
    _, _, f2 = turn_factors(x)
    g1, g2 = turn_slopes(x)
    once, along = cross(theta, rate), dot(theta, rate)
    changing = add(scale(g1 * along, once), scale(g2 * along, cross(theta, once)))
    return add(changing, scale(f2, cross(rate, once)))


@inner
def turned_by(theta: Vec, a: Vec) -> Vec:
    """The vector a turned by a rotation vector theta [rad]: exp(theta) a."""
    f0, f1, _ = turn_factors(dot(theta, theta))
    once = cross(theta, a)
    return add(a, add(scale(f0, once), scale(f1, cross(theta, once))))


@inner
def shape_of(modes: Modes, s: int, part: int, i: int) -> Vec:
    """Displacement or rotation of station s by mode i, undeformed, in body axes."""
    n = modes.what[modes.stations[s, STATION_MODES], MODE_COUNT]
    at = modes.stations[s, STATION_NUMBERS] + STATION_POINT + n * part + 3 * i
    return modes.numbers[at], modes.numbers[at + 1], modes.numbers[at + 2]


@inner
def point_of(modes: Modes, s: int) -> Vec:
    """Where station s is in the undeformed body."""
    at = modes.stations[s, STATION_NUMBERS]
    return modes.numbers[at], modes.numbers[at + 1], modes.numbers[at + 2]


@inner
def sum_of_shapes(modes: Modes, s: int, part: int, y: Floats, bodies: int, first: int) -> Vec:
    """Displacement or rotation of station s by all modes, whose amounts begin at `first` in the
    tail of a state, in body axes."""
    out = (0.0, 0.0, 0.0)
    for i in range(modes.what[modes.stations[s, STATION_MODES], MODE_COUNT]):
        out = add(out, scale(further(y, bodies, first + i), shape_of(modes, s, part, i)))
    return out


@inner
def drawn_near(
    modes: Modes, s: int, axis: int, y: Floats, one: int, z: Floats, other: int, bodies: int
) -> float:
    """q' eta_k u of station s along body axis k, of amounts q and u that begin at `one` and `other`
    in the tails of the states y and z."""
    at, out = modes.stations[s, STATION_SHORTENING + axis], 0.0
    n = modes.what[modes.stations[s, STATION_MODES], MODE_COUNT]
    for i in range(n if at >= 0 else 0):
        part = 0.0
        for j in range(n):
            part += modes.numbers[at + n * i + j] * further(z, bodies, other + j)
        out += part * further(y, bodies, one + i)
    return out


@inner
def shortening(
    modes: Modes, s: int, y: Floats, one: int, z: Floats, other: int, bodies: int
) -> Vec:
    """`drawn_near` along all three body axes."""
    return (
        drawn_near(modes, s, 0, y, one, z, other, bodies),
        drawn_near(modes, s, 1, y, one, z, other, bodies),
        drawn_near(modes, s, 2, y, one, z, other, bodies),
    )


@shared
def place_stations(
    y: Floats, moving: Floats, displaced: bool, modes: Modes, frames: Floats
) -> None:
    """Kinematics of all stations, from those of the bodies and the coordinates in the tail of y.

    The rates of these are the further speeds in the tail of `moving`; displaced: its coordinates
    are taken as rates, those of a small displacement."""
    bodies = frames.shape[0] - 1 - modes.stations.shape[0]
    for s in range(modes.stations.shape[0]):
        what = modes.stations[s, STATION_MODES]
        i, q = modes.what[what, BENT], modes.what[what, FIRST_COORDINATE]
        u = q if displaced else modes.what[what, FIRST_SPEED]
        theta = sum_of_shapes(modes, s, ROTATION, y, bodies, q)
        turning = sum_of_shapes(modes, s, ROTATION, moving, bodies, u)
        bent = sum_of_shapes(modes, s, DISPLACEMENT, y, bodies, q)
        slip = sum_of_shapes(modes, s, DISPLACEMENT, moving, bodies, u)
        bent = sub(bent, scale(0.5, shortening(modes, s, y, q, y, q, bodies)))
        slip = sub(slip, shortening(modes, s, y, q, moving, u, bodies))
        arm = from_body(i, add(point_of(modes, s), bent), frames)
        w, row = get3(frames, i, SPIN), bodies + s
        put3(frames, row, POSITION, add(get3(frames, i, POSITION), arm))
        beside = add(cross(w, arm), from_body(i, slip, frames))
        put3(frames, row, VELOCITY, add(get3(frames, i, VELOCITY), beside))
        put3(frames, row, SPIN, add(w, from_body(i, spin_by(theta, turning), frames)))
        put_axes(theta, i, row, frames)


@inner
def put_axes(theta: Vec, i: int, row: int, frames: Floats) -> None:
    """The axes of body i turned by exp(theta), as those of another row."""
    x = from_body(i, turned_by(theta, (1.0, 0.0, 0.0)), frames)
    y = from_body(i, turned_by(theta, (0.0, 1.0, 0.0)), frames)
    z = from_body(i, turned_by(theta, (0.0, 0.0, 1.0)), frames)
    for k in range(3):
        put3(frames, row, AXES + 3 * k, (x[k], y[k], z[k]))
