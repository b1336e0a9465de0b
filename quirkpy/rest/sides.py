"""On which side of its kink each string is at a state: taut, or slack, and by how much."""

from __future__ import annotations

import numpy as np

from quirkpy.kernels.act.ropes import BOTH_WAYS, BY_LENGTH, IS_ROPE, SLACK, TAUT
from quirkpy.maths.types import Ints
from quirkpy.mechanics.engine import ropes_in
from quirkpy.mechanics.measures import measure_of, value_at
from quirkpy.mechanics.state import State
from quirkpy.parts.schedule import TimeFunction
from quirkpy.tables.tables import Selection

#: A string is just between taut and slack where its stretch is below this share of its length: then
#: no side is chosen [1].
JUST_BETWEEN = 1e-10


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
