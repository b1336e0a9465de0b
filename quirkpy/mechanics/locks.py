"""Locks that hold two bodies in their present relative pose: their first sites, in states and
tables."""

from __future__ import annotations

import dataclasses

from quirkpy.kernels.base.arrays import AXES, POSITION, SPIN, VELOCITY
from quirkpy.mechanics.state import State
from quirkpy.tables.tables import Tables
from quirkpy.tables.vary import with_first_sites


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
    return (*point.tolist(), *axes.reshape(-1).tolist())
