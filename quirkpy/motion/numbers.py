"""`Numbers`: the numbers in which the models of several runs differ."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from quirkpy.kernels.base.arrays import (
    MASS,
    MOMENTS,
    ROW_FACTOR,
    ROW_PERIOD,
    ROW_VALUE,
    UPPER,
)
from quirkpy.kernels.step.batch import (
    BODIES,
    ELEMENT_NUMBERS,
    GAINS,
    KNOTS,
    PLACES,
    ROW_NUMBERS,
    STOP_NUMBERS,
)
from quirkpy.kernels.tree.model import Model
from quirkpy.kernels.tree.stops import SETTLE
from quirkpy.maths.types import Bools, Floats, Ints
from quirkpy.parts.controller import Controller
from quirkpy.parts.formulas import flat
from quirkpy.tables.tables import ANGLE, RELATION_ROW, STOP, Selection, Tables

#: A part that parameters have made anew: its list in the tables, its number there, and itself.
Rewritten: TypeAlias = tuple[str, int, Any]
#: Arrays of tables whose numbers may differ from run to run; the corresponding array of a model,
#: and its first column.
SOURCES = {
    "site_point": (PLACES, 0), "site_axes": (PLACES, 3), "row_value": (ROW_NUMBERS, ROW_VALUE),
    "row_factor": (ROW_NUMBERS, ROW_FACTOR), "element_numbers": (ELEMENT_NUMBERS, 0),
    "knot_time": (KNOTS, 0), "knot_value": (KNOTS, 1), "body_mass": (BODIES, MASS),
    "body_inertia": (BODIES, MOMENTS),
}  # fmt: skip


def with_own_numbers(model: Model) -> Model:
    """The model with copies of the arrays to which numbers are written."""
    return model._replace(
        sites=model.sites._replace(place=model.sites.place.copy()),
        rows=model.rows._replace(numbers=model.rows.numbers.copy()),
        elements=model.elements._replace(numbers=model.elements.numbers.copy()),
        schedules=model.schedules._replace(knots=model.schedules.knots.copy()),
        bodies=model.bodies.copy(),
        stops=model.stops._replace(numbers=model.stops.numbers.copy()),
    )


class Numbers(NamedTuple):
    """Numbers of a model that differ from run to run: their places, as array, row and column (m,
    3), and their values (n, m); in which runs more than numbers differ: times of knots, or
    controllers otherwise than by gains (n,)."""

    where: Ints
    values: Floats
    moved: Bools

    @classmethod
    def none(cls, runs: int) -> Numbers:
        """No differences."""
        nowhere = np.zeros((0, 3), dtype=np.int64)
        return cls(nowhere, np.zeros((runs, 0)), np.zeros(runs, dtype=bool))

    @classmethod
    def of(cls, selection: Selection, runs: Sequence[Mapping[str, Floats]]) -> Numbers:
        """The differences, from arrays of tables, by name, with which each run replaces those of
        the selection."""
        out, t = cls.none(len(runs)), selection.tables
        for name in SOURCES:
            own = _as_packed(name, getattr(t, name)[None])[0]
            if any(name in arrays for arrays in runs):
                every = np.array([arrays.get(name, getattr(t, name)) for arrays in runs])
                out = out.with_array(name, _as_packed(name, every), own)
        return out.with_stops(selection).with_periods(t)

    def with_array(self, name: str, every: Floats, own: Floats) -> Numbers:
        """Numbers that also contain those entries of one array (n, rows, columns) that differ from
        its own."""
        which, first = SOURCES[name]
        places = np.argwhere((every != own).any(axis=0))
        differ = every[:, places[:, 0], places[:, 1]]
        moved = (differ != own[places[:, 0], places[:, 1]]).any(axis=1) & (name == "knot_time")
        where = np.insert(places + (0, first), 0, which, axis=1)
        return self.more(where, differ)._replace(moved=self.moved | moved)

    def with_gains(self, selection: Selection, runs: Sequence[Sequence[Rewritten]]) -> Numbers:
        """Numbers that also contain those of compiled commands, from the parts that each run
        replaces."""
        chosen = selection.controllers.tolist()
        own = [selection.tables.controllers[k] for k in chosen]
        every = [[_controller_of(k, parts, one) for k, one in zip(chosen, own, strict=True)]
                 for parts in runs]  # fmt: skip
        moved = np.array([any(map(differ_otherwise, own, some)) for some in every], dtype=bool)
        gains = np.array(
            [gains_of(own if m else some) for m, some in zip(moved, every, strict=True)]
        )
        columns = np.flatnonzero((gains != gains_of(own)).any(axis=0))
        where = np.insert(np.zeros((len(columns), 2), dtype=np.int64), 0, GAINS, axis=1)
        where[:, 2] = columns
        return self.more(where, gains[:, columns])._replace(moved=self.moved | moved)

    def more(self, where: Ints, values: Floats) -> Numbers:
        """Numbers with others appended."""
        both = np.concatenate([self.where, where]), np.concatenate([self.values, values], axis=1)
        return self._replace(where=both[0], values=both[1])

    def with_stops(self, selection: Selection) -> Numbers:
        """Numbers repeated where elements are stops."""
        t = selection.tables
        acting = selection.elements[t.element_kind[selection.elements] == STOP]
        number = {e: s for s, e in enumerate(acting.tolist())}
        found = [
            (m, (STOP_NUMBERS, number[row], column))
            for m, (which, row, column) in enumerate(self.where.tolist())
            if which == ELEMENT_NUMBERS and row in number and column <= SETTLE
        ]
        if not found:
            return self
        return self.more(np.array([w for _, w in found]), self.values[:, [m for m, _ in found]])

    def with_periods(self, t: Tables) -> Numbers:
        """Numbers with the periods of relations of a single angle, which depend on its factor."""
        turning = np.zeros(len(t.row_kind), dtype=bool)
        related = np.flatnonzero((t.row_kind == RELATION_ROW) & (t.row_axis2 >= 0))
        one, two = (t.coordinate_kind[axis[related]] for axis in (t.row_axis1, t.row_axis2))
        turning[related] = (two == ANGLE) & (one != ANGLE)
        which, row, column = self.where.T
        mine = (which == ROW_NUMBERS) & (column == ROW_FACTOR)
        mine[mine] = turning[row[mine]]
        where = self.where[mine] + (0, 0, ROW_PERIOD - ROW_FACTOR)
        return self.more(where, 2.0 * np.pi * abs(self.values[:, mine]))


def _controller_of(k: int, parts: Sequence[Rewritten], own: Controller) -> Controller:
    """Controller k, as some parts replace it."""
    return next((p for which, row, p in parts if which == "controllers" and row == k), own)


def gains_of(controllers: Sequence[Controller]) -> Floats:
    """The numbers of all compiled commands, in order."""
    return np.array([x for one in controllers for x in flat(one.arguments)], dtype=float)


def differ_otherwise(one: Controller, two: Controller) -> bool:
    """Whether controllers differ in more than the numbers of their compiled commands."""
    fields = [f.name for f in dataclasses.fields(one) if f.name not in one.arguments]
    same = all(getattr(one, name) == getattr(two, name) for name in fields)
    return not same or len(gains_of([one])) != len(gains_of([two]))


def _as_packed(name: str, every: Floats) -> Floats:
    """An array of tables for each run, in the columns of the model's array (n, rows, columns)."""
    if name == "body_inertia":
        return every.reshape(*every.shape[:2], 9)[..., UPPER]
    return every if every.ndim == 3 else every[..., None]
