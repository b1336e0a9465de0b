"""Impulses of joints and stops where velocities jump."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from quirkpy.kernels.base.states import (
    angular_of,
    by_body,
    linear_of,
    vectors_from,
    zero_vectors,
)
from quirkpy.maths.types import Floats
from quirkpy.mechanics.analysis import Pull, holding, holds
from quirkpy.mechanics.bending import bends, mass_matrix, speeds
from quirkpy.mechanics.equation import constraint_matrix, least_multipliers, multipliers_of
from quirkpy.mechanics.instant import Instant


class Impulse(NamedTuple):
    """The impulse of a joint on a body in an impact: force impulse [N s], and couple impulse about
    its mass centre [N m s], both in N (3,)."""

    force: Floats
    couple: Floats


class Impact(NamedTuple):
    """The contribution of a joint, or of a stop that holds, to an impact: time [s], its name, its
    impulse on each moving body, and the kinetic energy that it removes [J]; negative where it adds
    some.

    The impulses of all joints and stops at one time add up to the change of momentum of each body,
    and the energies to the loss of kinetic energy. Where joints are redundant, theirs are the
    least-norm solution."""

    t: float
    joint: str
    impulse: dict[str, Impulse]
    lost: float


class Shock(NamedTuple):
    """The largest force impulse [N s] and couple impulse [N m s] of a joint on any body."""

    force: float
    couple: float


def impacts(at: Instant, before: Floats) -> tuple[Impact, ...]:
    """The contributions of joints and stops to an impact; at: just after it, with the stops that
    took part; before: v in N and omega in body axes of all bodies, and the rates of modes, in one
    line, just before."""
    if bends(at):
        return _impacts_bent(at, before)
    inertia, mass = at.selection.tables.body_inertia, at.selection.tables.body_mass
    v, omega = linear_of(by_body(before)), angular_of(by_body(before))
    spun = np.einsum("nij,nj->ni", inertia, at.omega - omega)
    found = holds(at, multipliers_of(at, vectors_from(mass[:, None] * (at.v - v), spun)))
    turns = at.frames.axes[: len(at.r)]
    mean = vectors_from(at.v + v, np.einsum("nij,nj->ni", turns, at.omega + omega)) / 2.0
    motion = dict(zip(found, mean, strict=True))
    sources = dict.fromkeys(pull.source for pulls in found.values() for pull in pulls)
    made = (_impact(at.t, source, found, motion) for source in sources)
    return tuple(impact for impact in made if impact.impulse)


def _impacts_bent(at: Instant, before: Floats) -> tuple[Impact, ...]:
    """`impacts` where bodies bend: an impulse also changes the rates of modes, so what it takes is
    told by the rates of the rows of its joint."""
    after = speeds(at)
    multipliers = least_multipliers(at, mass_matrix(at) @ (after - before))
    found, taken = holds(at, multipliers), {}
    given = multipliers * (constraint_matrix(at) @ (after + before)) / 2.0
    for source, _, mine in holding(at):
        taken[source] = -float(given[mine].sum())
    sources = dict.fromkeys(pull.source for pulls in found.values() for pull in pulls)
    still = {body: zero_vectors(1)[0] for body in found}
    made = (_impact(at.t, source, found, still) for source in sources)
    return tuple(one._replace(lost=taken[one.joint]) for one in made if one.impulse)


def _impact(
    t: float, source: str, found: dict[str, tuple[Pull, ...]], motion: dict[str, Floats]
) -> Impact:
    """The part of one joint; motion: half the sum of the velocities before and after of each body
    (6,)."""
    mine = {
        body: Impulse(pull.force, pull.torque)
        for body, pulls in found.items()
        for pull in pulls
        if pull.source == source and (pull.force.any() or pull.torque.any())
    }
    given = [
        one.force @ linear_of(motion[body]) + one.couple @ angular_of(motion[body])
        for body, one in mine.items()
    ]
    return Impact(t, source, mine, -float(sum(given)))


def shocks(impacts: tuple[Impact, ...]) -> dict[str, Shock]:
    """The largest impulses of each joint."""
    out: dict[str, Shock] = {}
    for impact in impacts:
        largest = out.get(impact.joint, Shock(0.0, 0.0))
        for one in impact.impulse.values():
            force, couple = (float(np.linalg.norm(part)) for part in one)
            largest = Shock(max(largest.force, force), max(largest.couple, couple))
        out[impact.joint] = largest
    return out
