"""On which side of its kink each string is at a state: taut, or slack, and by how much."""

from __future__ import annotations

from typing import Any

import numpy as np

from quirkpy.kernels.act.ropes import BOTH_WAYS, BY_LENGTH, FURTHER, IS_ROPE, REST, SLACK, TAUT
from quirkpy.kernels.base.arrays import ELEMENT_SITE1, ELEMENT_SITE2, SCHEDULE2
from quirkpy.kernels.base.states import angular_of, linear_of, zero_vectors
from quirkpy.kernels.users.packing import pack
from quirkpy.maths.constants import TINY
from quirkpy.maths.types import Floats, Ints
from quirkpy.mechanics.engine import ropes_in
from quirkpy.mechanics.instant import Instant
from quirkpy.mechanics.measures import measure_of, value_at
from quirkpy.mechanics.state import State
from quirkpy.parts.schedule import TimeFunction
from quirkpy.tables.tables import Selection

#: A string is just between taut and slack where its stretch is below this share of its length: then
#: no side is chosen [1].
JUST_BETWEEN = 1e-10
#: A step along a coordinate changes a string's length by no more than this share of what it is away
#: from its kink [1], since differences go four steps; steps are not shortened by more than the
#: second factor, beyond which rounding would hide forces.
GAP_SHARE, LEAST_PROBE = 0.2, 1e-3


def stretches(selection: Selection, state: State) -> dict[str, float]:
    """Length less rest length of each active string [m], by name; zero where one is just between
    taut and slack."""
    tables, at = selection.tables, state.instant(selection)
    out = {}
    for e in ropes_in(selection):
        if tables.element_numbers[e, IS_ROPE] == BOTH_WAYS:
            continue
        name = tables.force_names[tables.element_force[e]]
        rest = tables.forces[tables.element_force[e]].value_of("rest_length")
        if isinstance(rest, TimeFunction):
            rest = float(rest.at(state.t))
        length = float(value_at(measure_of("linearize", tables, f"{name}.length"), at).item())
        out[name] = length - rest if abs(length - rest) > JUST_BETWEEN * (length + rest) else 0.0
    return out


def phases_of(selection: Selection, found: dict[str, float]) -> Ints:
    """The law of each element of the tables, by the stretches of strings: taut, slack, or by length
    for those that are just between (ne,)."""
    t = selection.tables
    out = np.zeros(len(t.element_kind), dtype=np.int64)
    for e in ropes_in(selection):
        if t.element_numbers[e, IS_ROPE] == BOTH_WAYS:
            continue
        stretch = found[t.force_names[t.element_force[e]]]
        out[e] = SLACK if stretch < 0.0 else TAUT if stretch > 0.0 else BY_LENGTH
    return out


def shorten_steps(at: Instant, phases: Any, basis: Floats, reach: Floats) -> Floats:
    """The steps of differences along coordinates with a basis (f, n, 6), shortened where strings
    would otherwise become slack or taut within them (f,); phases: the laws to which strings are
    held, which none leaves. Where bodies bend, steps are as given."""
    some = ropes_in(at.selection)
    if phases is not None or not some or at.selection.tables.bends:
        return reach
    gaps, rates = np.array([gap_of(e, at) for e in some]), rates_of(some, at, basis)
    steps = GAP_SHARE * gaps / np.maximum(rates, TINY)
    known = steps > LEAST_PROBE * reach[:, None]
    return np.asarray(np.minimum(reach, np.where(known, steps, np.inf).min(axis=1)))


def gap_of(e: int, at: Instant) -> float:
    """How far the length of a rope is from its rest length [m]."""
    tables, elements = at.selection.tables, pack(at.selection.tables).elements
    rest = float(elements.numbers[e, REST])
    if elements.what[e, SCHEDULE2] >= 0:
        given = tables.forces[tables.element_force[e]].value_of("rest_length")
        rest = float(given.at(at.t)) if isinstance(given, TimeFunction) else rest
    ways = np.diff(at.sites.position[ends_of(e, at)], axis=1)
    return abs(float(np.linalg.norm(ways, axis=2).sum()) - rest)


def rates_of(some: list[int], at: Instant, basis: Floats) -> Floats:
    """The size of the change of the length of each rope for unit rates along coordinates (f, k)."""
    places, owners = at.sites.position, pack(at.selection.tables).sites.body
    motion = np.concatenate([basis, zero_vectors(len(basis), 1)], axis=1)  # the ground last
    turns = np.einsum("nij,fnj->fni", at.frames.axes, angular_of(motion))
    arms = places - at.frames.position[owners]
    moves = linear_of(motion)[:, owners] + np.cross(turns[:, owners], arms)
    out = np.empty((len(basis), len(some)))
    for k, e in enumerate(some):
        ends = ends_of(e, at)
        d = np.diff(places[ends], axis=1)[:, 0]
        d = d / np.maximum(np.linalg.norm(d, axis=1), TINY)[:, None]
        out[:, k] = abs(np.einsum("fni,ni->f", moves[:, ends[:, 1]] - moves[:, ends[:, 0]], d))
    return out


def ends_of(e: int, at: Instant) -> Ints:
    """The rows of the sites between which the stretches of a rope run (n, 2)."""
    elements = pack(at.selection.tables).elements
    last = e + 1 + int(elements.numbers[e, FURTHER])
    return np.asarray(elements.what[e:last, [ELEMENT_SITE1, ELEMENT_SITE2]])
