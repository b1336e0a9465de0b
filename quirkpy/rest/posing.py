"""Poses by coordinates of joints: bodies are moved along the joints until coordinates have given
values; loops stay closed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from quirkpy.maths.types import Floats, Ints
from quirkpy.maths.warnings import doubt_degrees
from quirkpy.mechanics.clusters import Clusters
from quirkpy.mechanics.state import State, at_standstill
from quirkpy.parts.checks import number, show
from quirkpy.parts.part import PartError, check_argument
from quirkpy.rest.modes import displace, gradients
from quirkpy.rest.newton import size_of
from quirkpy.rest.starts import DRIVEN, IDLE_GRADIENT, values_of
from quirkpy.rest.vicinity import Vicinity
from quirkpy.tables.tables import ANGLE, Selection

#: A coordinate has its value when it is this close [rad], [sizes of bodies].
POSED = 1e-11
#: The others are where they shall be when a step moves no body farther [rad], [sizes of bodies].
SETTLED = 1e-9
#: Largest number of steps beyond those that the way takes.
SPARE_STEPS = 40


def pose_of(clusters: Clusters, state: State, coordinates: Mapping[str, Any]) -> State:
    """The state at rest in which coordinates have given values; see `Multibody.pose`."""
    wanted = rows_of(clusters.selection, coordinates)
    which = np.array(list(wanted), dtype=np.int64)
    values = np.array(list(wanted.values()))
    there, missed = seek(clusters, state, which, values)
    if missed.any():
        k = int(abs(missed).argmax())
        name = state.joints[which[k]]
        raise PartError(
            f"pose: coordinate {name!r} cannot be brought to {values[k]:.6g}, only to "
            f"{values[k] - missed[k]:.6g}: other joints are in the way; ask for less, or name "
            "those that may move as well.",
            code="pose",
        )
    return there


def rows_of(selection: Selection, coordinates: Mapping[str, Any]) -> dict[int, float]:
    """Coordinates of active joints by number, with the values given for them by name."""
    names = names_of(selection)
    if not isinstance(coordinates, Mapping):
        raise PartError(
            f"pose: {show(coordinates)} is no dict of coordinates, such as {{'hinge': 0.5}}."
        )
    out = {}
    for name, value in coordinates.items():
        if name not in names:
            raise PartError(
                f"pose: no coordinate of an active joint is called {show(name)}; there are: "
                f"{', '.join(names) or 'none'}.",
                code="name",
            )
        c = names[name]
        out[c] = check_argument("pose", f"coordinate {name!r}", value, number)
        if selection.tables.coordinate_kind[c] == ANGLE:
            doubt_degrees(f"pose: coordinate {name!r}", out[c])
    return out


def names_of(selection: Selection) -> dict[str, int]:
    """Names of the coordinates of active joints, as in states and charts, with their numbers: that
    of the joint, "hinge", and where it has several "joint.angle"."""
    t, out = selection.tables, {}
    for j in selection.joints.tolist():
        joint, first = t.joints[j], int(t.joint_coordinate[j])
        for k, c in enumerate(joint.coordinates):
            several = len(joint.coordinates) > 1
            out[f"{joint.name}.{c.name}" if several else joint.name] = first + k
    return out


def seek(clusters: Clusters, state: State, which: Ints, values: Floats) -> tuple[State, Floats]:
    """The state at rest in which some coordinates have given values (k,), or are as near as they
    come on the way there, and the others are as near as possible to what they were; and what the
    values lack (k,)."""
    around = at_rest(clusters, state)
    wanted = values_of(around)
    wanted[which] = values
    angles = clusters.selection.tables.coordinate_kind[which] == ANGLE
    near = POSED * np.where(angles, 1.0, around.size)
    way = wanted - values_of(around)
    for _ in range(
        SPARE_STEPS + int(2.0 * abs(way[which] * POSED / near).max(initial=0.0) / DRIVEN)
    ):
        xi = direction_to(gradients(around), which, way)
        size = size_of(around, xi)
        if size <= (SETTLED if (abs(way[which]) <= near).all() else POSED):
            break
        there = displace(around, xi * min(1.0, DRIVEN / size)).state
        around = at_rest(clusters, there)
        way = wanted - values_of(around)
    return around.state, np.where(abs(way[which]) <= near, 0.0, way[which])


def at_rest(clusters: Clusters, state: State) -> Vicinity:
    """The neighbourhood of a state without its velocities, in coordinates of which no force is
    asked."""
    around = Vicinity(clusters, at_standstill(state).changed(step=None, merged=None))
    vars(around)["_free"] = around._span
    return around


def direction_to(J: Floats, which: Ints, way: Floats) -> Floats:
    """The displacement (f,) by which some coordinates go their way, and the others, as far as that
    and the joints leave it open, theirs: derivatives J (nc, f) and ways (nc,) of all."""
    others = np.setdiff1d(np.arange(len(J)), which)
    U, sigma, Vt = np.linalg.svd(J[which])
    rank = int((sigma > IDLE_GRADIENT * abs(J).max(initial=0.0)).sum())
    xi = Vt[:rank].T @ ((U[:, :rank].T @ way[which]) / sigma[:rank])
    left = Vt[rank:].T
    if left.size and len(others):
        missing = way[others] - J[others] @ xi
        xi = xi + left @ np.linalg.lstsq(J[others] @ left, missing, rcond=IDLE_GRADIENT)[0]
    return np.asarray(xi)
