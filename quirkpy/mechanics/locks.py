"""Locks that hold two bodies in their present relative pose: their first sites, in states and
tables."""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.spatial.transform import Rotation

from quirkpy.kernels.base.arrays import AXES, POSITION, SPIN, VELOCITY
from quirkpy.maths.triples import triple
from quirkpy.maths.types import Floats
from quirkpy.mechanics.bending import Bent, bent_bodies
from quirkpy.mechanics.state import State
from quirkpy.parts.body import Body
from quirkpy.tables.tables import Tables
from quirkpy.tables.vary import with_first_sites

#: Rounds in which a point of a bent body is found, and how far the last may move it [1].
ROUNDS, POINT_ROUNDING = 60, 1e-15


def hold_here(tables: Tables, state: State) -> tuple[Tables, State]:
    """Tables and a state for locks with `Fixed.here`: each active one holds the relative pose that
    is stored in the state, or else the present one. Its first site is placed at the second one."""
    selection = state.selection
    assert selection is not None
    held = dict(state.here)
    found: dict[str, tuple[float, ...]] = {}
    for j in tables.joints_here:
        if j in selection.joints:
            name = tables.joint_names[j]
            found[name] = held[name] if name in held else first_site(state, j)
    if not found and not held:
        return tables, state
    return with_first_sites(tables, found), dataclasses.replace(state, here=tuple(found.items()))


def first_site(state: State, j: int) -> tuple[float, ...]:
    """Point [m] and axes, relative to its first body, of the frame of the second site of joint j
    (12 numbers)."""
    at = state.instant()
    t, rows = at.selection.tables, at.sites.rows
    body, there = int(t.site_body[t.joint_site1[j]]), rows[t.joint_site2[j]]
    frame = at.frames.rows[body]
    turn = frame[AXES:SPIN].reshape(3, 3)
    point = (there[POSITION:VELOCITY] - frame[POSITION:VELOCITY]) @ turn
    axes = turn.T @ there[AXES:SPIN].reshape(3, 3)
    for x in bent_bodies(at):
        if x.row == body:
            point, axes = unbend(x, t.bodies[body], point, axes)
    return (*point.tolist(), *axes.reshape(-1).tolist())


def unbend(x: Bent, body: Body, point: Floats, axes: Floats) -> tuple[Floats, Floats]:
    """Where a frame that follows a bent body, at a point [m] with axes (3, 3) in the axes of the
    body, is in it undeformed."""
    there, moved = point, np.full(3, np.inf)
    modes = body.modes_at(triple(there))
    for _ in range(ROUNDS):
        drawn = np.einsum("i,kij,j->k", x.q, modes.shortening, x.q)
        there, before = point - (x.q @ modes.displacement - 0.5 * drawn), moved
        modes = body.modes_at(triple(there))
        moved = there
        if abs(moved - before).max() <= POINT_ROUNDING * abs(point).max(initial=0.0):
            break
    turned = Rotation.from_rotvec(x.q @ modes.rotation).as_matrix()
    return there, turned.T @ axes
