"""What every load is made with: forces at points of bodies, and axes of sites."""

from __future__ import annotations

from quirkpy.kernels.base.arrays import AXES, PLACE_AXES, SPIN, VELOCITY, Sites, Vec
from quirkpy.kernels.base.compiled import inner, woven
from quirkpy.kernels.base.vectors import add, add3, cross, dot, get3, turn, turn_back
from quirkpy.maths.types import Floats

#: Columns of the power of forces that no potential accounts for: what loads put in, what dampers
#: take out.  Of the ledger, the last row of a state, as well: what joints took as they took hold,
#: and what projection took.
INTO, OUT, LOST, PROJECTED = range(4)


@woven
def apply_force(wrench: Floats, b: int, arm: Vec, f: Vec) -> None:
    """Force f on body b at `arm` from its mass centre."""
    add3(wrench, b, 0, f)
    add3(wrench, b, 3, cross(arm, f))


@inner
def power_of(b: int, arm: Vec, f: Vec, torque: Vec, frames: Floats) -> float:
    """Power of a force at `arm` from the mass centre of body b and a torque."""
    w = get3(frames, b, SPIN)
    return dot(f, add(get3(frames, b, VELOCITY), cross(w, arm))) + dot(torque, w)


@inner
def from_site(site: int, a: Vec, sites: Sites, frames: Floats) -> Vec:
    """Components along the axes of a site -> N."""
    return turn(frames, sites.body[site], AXES, turn(sites.place, site, PLACE_AXES, a))


@inner
def to_site(site: int, a: Vec, sites: Sites, frames: Floats) -> Vec:
    """Components in N -> along the axes of a site."""
    return turn_back(sites.place, site, PLACE_AXES, turn_back(frames, sites.body[site], AXES, a))
