"""Commands of controllers, written into tables as schedules."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np

from quirkpy.maths.types import Floats
from quirkpy.parts.force import Force
from quirkpy.tables.drives import Drive, with_knots
from quirkpy.tables.tables import Selection, Tables


class Commands(NamedTuple):
    """The commands of a drive in a run: times of its knots [s] (n,), and the values of its field
    there (n,) or (n, 3)."""

    drive: Drive
    times: Floats
    values: Floats


def write_commands(t: Tables, commands: Sequence[Commands]) -> Tables:
    """Tables in which commands are replaced by schedules, and which have no controllers."""
    times = np.split(t.knot_time, t.schedule_knot[1:-1])
    values = np.split(t.knot_value, t.schedule_knot[1:-1])
    forces = list(t.forces)
    for drive, at, some in commands:
        k = t.force_index[drive.force]
        forces[k] = with_knots(forces[k], drive, at, some)
        for s, matrix in zip(t.commanded(drive), drive.matrices, strict=True):
            times[s], values[s] = at, some.reshape(len(at), -1) @ matrix.T
    changed: dict[str, Any] = {
        "schedule_knot": np.cumsum([0, *map(len, times)]), "knot_time": np.concatenate(times),
        "knot_value": np.concatenate(values), "forces": tuple(forces), "controllers": (),
        "drives": (),
    }  # fmt: skip
    return dataclasses.replace(t, **changed)


def have_same_parts(one: Selection | None, two: Selection) -> bool:
    """Whether the same parts are active in two selections, so that a step length of one is suitable
    for the other; numbers that controllers of either drive may differ."""
    if one is None:
        return False
    if one.tables is two.tables:
        return bool(
            np.array_equal(one.joints, two.joints) and np.array_equal(one.forces, two.forces)
        )
    joints, forces = (
        [[getattr(some.tables, parts)[k] for k in getattr(some, parts)] for some in (one, two)]
        for parts in ("joints", "forces")
    )
    driven = {(d.force, d.field) for some in (one, two) for ds in some.tables.drives for d in ds}
    return joints[0] == joints[1] and len(forces[0]) == len(forces[1]) and all(
        _is_same_force(mine, theirs, driven) for mine, theirs in zip(*forces, strict=True)
    )  # fmt: skip


def _is_same_force(one: Force, two: Force, driven: Set[tuple[str, str]]) -> bool:
    """Whether two forces are equal but for the fields, by force and name, that are driven."""
    names = [field.name for field in dataclasses.fields(one)]
    return one == two or (
        type(one) is type(two)
        and all(
            getattr(one, name) == getattr(two, name)
            for name in names if (one.name, name) not in driven
        )
    )  # fmt: skip


def turn_drive(t: Tables, drive: Drive, turns: Mapping[int, Floats]) -> Drive:
    """A drive with some schedules, given by number, rotated into other axes."""
    none = np.eye(3)
    pairs = zip(t.commanded(drive), drive.matrices, strict=True)
    return drive._replace(matrices=tuple(turns.get(s, none) @ m for s, m in pairs))
