"""Sites: their motion in N, the load that acts on a body at a site, and the rows of a constraint
there.

No other module knows how a site is attached to its body (`tests/contracts/test_sites.py`): an
element takes a `SiteMotion` from here, and returns it with a force, a couple or a direction.  The
ground is the last row of every body array."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from quirkpy.kernels.base.arrays import (
    AXES,
    PLACE_AXES,
    PLACE_POINT,
    POSITION,
    SPIN,
    VELOCITY,
    Sites,
    Vec,
)
from quirkpy.kernels.base.compiled import inner, kernel, woven
from quirkpy.kernels.base.vectors import (
    add,
    add3,
    centripetal,
    column,
    cross,
    dot,
    get3,
    put3,
    scale,
    sub,
    turn,
    turn_back,
)
from quirkpy.maths.types import Floats, Ints


class SiteMotion(NamedTuple):
    """A site, or another point of a body, in N: row of the body; arm from its mass centre [m];
    position [m], velocity [m/s] and angular velocity [rad/s].  Body and arm are for this module."""

    body: int
    arm: Vec
    position: Vec
    velocity: Vec
    spin: Vec


# --- lists of sites -------------------------------------------------------------------------------
def points_of(sites: Sites) -> Floats:
    """The points of sites in the axes of their bodies [m] (n, 3)."""
    return sites.place[:, PLACE_POINT:PLACE_AXES]


def with_points(sites: Sites, rows: Ints, points: Floats) -> Sites:
    """Sites with equal axes on other rows (n,) and at other points (n, 3) [m]."""
    return Sites(rows, np.concatenate([points, sites.place[:, PLACE_AXES:]], axis=1))


# --- where sites are, and how they move -----------------------------------------------------------
@woven
def from_body(b: int, a: Vec, frames: Floats) -> Vec:
    """Components along the axes of body b -> N."""
    return turn(frames, b, AXES, a)


@woven
def arm_on(b: int, site: int, sites: Sites, frames: Floats) -> Vec:
    """From the mass centre of body b to a site on it."""
    return from_body(b, get3(sites.place, site, PLACE_POINT), frames)


@woven
def axis_on(b: int, site: int, k: int, sites: Sites, frames: Floats) -> Vec:
    """Axis k of a site on body b, in N."""
    return from_body(b, column(sites.place, site, PLACE_AXES, k), frames)


@woven
def point_motion(b: int, arm: Vec, frames: Floats) -> SiteMotion:
    """The point of body b at `arm` from its mass centre."""
    w = get3(frames, b, SPIN)
    return SiteMotion(
        b,
        arm,
        add(get3(frames, b, POSITION), arm),
        add(get3(frames, b, VELOCITY), cross(w, arm)),
        w,
    )


@woven
def part_of(b: int, a: Vec, frames: Floats) -> SiteMotion:
    """The point of body b at a [m] from its mass centre, in its axes."""
    return point_motion(b, from_body(b, a, frames), frames)


@woven
def join_to_body(b: int, x: Vec, frames: Floats) -> SiteMotion:
    """A point x [m] of N, taken as part of body b."""
    return point_motion(b, sub(x, get3(frames, b, POSITION)), frames)


@woven
def site_motion_on(b: int, site: int, sites: Sites, frames: Floats) -> SiteMotion:
    """Motion of a site on body b."""
    return point_motion(b, arm_on(b, site, sites, frames), frames)


@woven
def site_motion(site: int, sites: Sites, frames: Floats) -> SiteMotion:
    """Motion of a site."""
    return site_motion_on(sites.body[site], site, sites, frames)


@woven
def join_to_site(at: SiteMotion, x: Vec, frames: Floats) -> SiteMotion:
    """A point x [m] of N, taken as joined rigidly to a site."""
    return join_to_body(at.body, x, frames)


@woven
def site_spin(site: int, sites: Sites, frames: Floats) -> Vec:
    """Angular velocity of a site [rad/s]."""
    return get3(frames, sites.body[site], SPIN)


@woven
def site_axis(site: int, k: int, sites: Sites, frames: Floats) -> Vec:
    """Axis k of a site, in N."""
    return axis_on(sites.body[site], site, k, sites, frames)


@inner
def turning_acceleration(at: SiteMotion) -> Vec:
    """The velocity-dependent part of the acceleration of a site [m/s2]."""
    return centripetal(at.spin, at.arm)


@inner
def from_site(site: int, a: Vec, sites: Sites, frames: Floats) -> Vec:
    """Components along the axes of a site -> N."""
    return from_body(sites.body[site], turn(sites.place, site, PLACE_AXES, a), frames)


@inner
def to_site(site: int, a: Vec, sites: Sites, frames: Floats) -> Vec:
    """Components in N -> along the axes of a site."""
    return turn_back(sites.place, site, PLACE_AXES, turn_back(frames, sites.body[site], AXES, a))


@woven
def turn_with_body(at: SiteMotion, a: Vec, frames: Floats) -> Vec:
    """Components along the axes of the body that a site is on, and turns with -> N."""
    return from_body(at.body, a, frames)


@kernel
def fill_sites(which: Ints, sites: Sites, frames: Floats, out: Floats) -> None:
    """Kinematics of the given sites in N (n, FRAME_WIDTH), in the columns of those of bodies."""
    for k in range(which.shape[0]):
        at = site_motion(which[k], sites, frames)
        put3(out, k, POSITION, at.position)
        put3(out, k, VELOCITY, at.velocity)
        put3(out, k, SPIN, at.spin)
        for axis in range(3):
            e = site_axis(which[k], axis, sites, frames)
            for c in range(3):
                out[k, AXES + 3 * c + axis] = e[c]


def offsets(sites: Sites) -> Floats:
    """How far each site lies from the mass centre of its body along the axes of that, at most
    [m] (ns,)."""
    return np.asarray(abs(sites.place[:, PLACE_POINT : PLACE_POINT + 3]).max(axis=1))


def axes_in_body(site: int, sites: Sites) -> Floats:
    """Axes of a site, columns in body axes (3, 3)."""
    return sites.place[site, PLACE_AXES : PLACE_AXES + 9].reshape(3, 3)


# --- what a load at a site does to its body -------------------------------------------------------
@woven
def push_at(at: SiteMotion, f: Vec, wrench: Floats) -> None:
    """Add a force at a site [N]."""
    add3(wrench, at.body, 0, f)
    add3(wrench, at.body, 3, cross(at.arm, f))


@woven
def twist_at(at: SiteMotion, torque: Vec, wrench: Floats) -> None:
    """Add a couple at a site [N m]."""
    add3(wrench, at.body, 3, torque)


@woven
def load_at(at: SiteMotion, f: Vec, torque: Vec, wrench: Floats) -> None:
    """Add a force and a couple at a site."""
    push_at(at, f, wrench)
    twist_at(at, torque, wrench)


@woven
def power_at(at: SiteMotion, f: Vec, torque: Vec) -> float:
    """Power of a force and a couple at a site [W]."""
    return dot(f, at.velocity) + dot(torque, at.spin)


@kernel
def load_point(b: int, x: Vec, f: Vec, torque: Vec, frames: Floats, wrench: Floats) -> None:
    """Add a force at the point x [m] of N, taken as part of body b, and a couple."""
    load_at(join_to_body(b, x, frames), f, torque, wrench)


# --- what a row that acts at a site asks of its body ----------------------------------------------
@woven
def act_at(at: SiteMotion, e: Vec, rows: Floats, i: int, first: int) -> None:
    """Write the columns of a body, from `first` on, of a row that pulls a site along e."""
    put3(rows, i, first, e)
    put3(rows, i, first + 3, cross(at.arm, e))


@woven
def turn_at(at: SiteMotion, n: Vec, rows: Floats, i: int, first: int) -> None:
    """Columns of a row that turns a site about n: those of the couple; those of the force stay."""
    put3(rows, i, first + 3, n)


@woven
def add_act_at(at: SiteMotion, factor: float, e: Vec, rows: Floats, i: int, first: int) -> None:
    """Add a multiple of what `act_at` writes."""
    add3(rows, i, first, scale(factor, e))
    add3(rows, i, first + 3, scale(factor, cross(at.arm, e)))


@woven
def add_turn_at(at: SiteMotion, factor: float, n: Vec, rows: Floats, i: int, first: int) -> None:
    """Add a multiple of what `turn_at` writes."""
    add3(rows, i, first + 3, scale(factor, n))
