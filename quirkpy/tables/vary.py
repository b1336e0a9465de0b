"""Tables with other masses, strengths of forces and positions of joints than those defined."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

import numpy as np

from quirkpy.maths.types import Floats
from quirkpy.parts.force import ELEMENT_KINDS, KINDS, KindTraits
from quirkpy.tables.tables import Selection, Tables

#: The fields of tables, and derived values that do not depend on their numbers.
FIELDS = tuple(field.name for field in dataclasses.fields(Tables))
NAMES = (
    "body_names", "joint_names", "coordinate_names", "force_names", "body_index", "joint_index",
    "force_index", "sensor_partners", "made_of_bodies", "bends", "joints_here",
)  # fmt: skip
#: The arrays with changes.
VARIED = ("body_mass", "body_inertia", "element_numbers", "knot_value", "site_point")


def has_strength(tables: Tables, force: str) -> bool:
    """Whether the loads of a force can be scaled by a factor: not for a user's law, nor for a field
    that also determines the motion of N."""
    rows = _elements(tables, force)
    return len(rows) > 0 and all(_kind(tables, row).strength is not None for row in rows)


def vary(
    tables: Tables,
    masses: Mapping[str, float],
    strengths: Mapping[str, float],
    places: Mapping[int, Floats],
) -> Tables:
    """Tables with masses and moments of inertia of bodies, and loads of forces, times a factor, by
    name; and other points of sites, by row [m]."""
    arrays = {name: getattr(tables, name).copy() for name in VARIED}
    mass, inertia, numbers, knots = (arrays[name] for name in VARIED[:4])
    for body, factor in masses.items():
        row = tables.body_index[body]
        mass[row] *= factor
        inertia[row] *= factor
    for force, factor in strengths.items():
        for row, columns, times in _stronger(tables, force):
            numbers[row, columns] *= factor
            for some in times:
                knots[some] *= factor
    for site, point in places.items():
        arrays["site_point"][site] = point
    return with_numbers(tables, arrays)


def _stronger(tables: Tables, force: str) -> Iterator[tuple[int, list[int], list[slice]]]:
    """For each element of a force its row, and the columns and knots that scale with its
    strength."""
    for row in _elements(tables, force):
        kind = _kind(tables, row)
        given = (int(tables.element_schedule[row, k]) for k in kind.schedules)
        knots = [tables.knots(leaf) for s in given if s >= 0 for leaf in tables.leading(s)]
        yield row, list(kind.strength or ()), knots


def _kind(tables: Tables, row: int) -> KindTraits:
    return KINDS[ELEMENT_KINDS[tables.element_kind[row]]]


def _elements(tables: Tables, force: str) -> range:
    k = tables.force_index[force]
    return range(int(tables.force_element[k]), int(tables.force_element[k + 1]))


def with_numbers(tables: Tables, arrays: Mapping[str, Floats]) -> Tables:
    """Tables with other numbers in some arrays, without constructing parts: fast enough for
    thousands."""
    for array in arrays.values():
        array.setflags(write=False)
    return Tables.from_locked(
        {name: getattr(tables, name) for name in (*FIELDS, *NAMES)} | dict(arrays)
    )


def selection_on(tables: Tables, chosen: Selection) -> Selection:
    """A selection of the same rows on tables that differ only in numbers."""
    out = Selection(tables, chosen.joints, chosen.forces)
    vars(out).update(
        rows=chosen.rows, elements=chosen.elements, joint_names=chosen.joint_names,
        made_of_rows=chosen.made_of_rows,
    )  # fmt: skip
    return out


def with_first_sites(tables: Tables, found: Mapping[str, tuple[float, ...]]) -> Tables:
    """Tables with other first sites of some joints, by name: point [m] and axes, twelve numbers;
    the same tables where they are there already."""
    points, axes = tables.site_point.copy(), tables.site_axes.copy()
    for name, numbers in found.items():
        row = tables.joint_site1[tables.joint_index[name]]
        points[row], axes[row] = np.split(np.array(numbers), [points.shape[1]])
    if np.array_equal(points, tables.site_point) and np.array_equal(axes, tables.site_axes):
        return tables
    return with_numbers(tables, {"site_point": points, "site_axes": axes})
