"""Poses by coordinates of joints: bodies are moved along the joints until coordinates have given
values; loops stay closed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from quirkpy.maths.types import Floats, Ints
from quirkpy.mechanics.clusters import Clusters
from quirkpy.mechanics.state import State
from quirkpy.parts.checks import number, show
from quirkpy.parts.part import PartError, check_argument
from quirkpy.rest.modes import gradients
from quirkpy.rest.newton import size_of
from quirkpy.rest.starts import DRIVEN, IDLE_GRADIENT, displace, values_of
from quirkpy.rest.vicinity import Vicinity
from quirkpy.tables.tables import ANGLE, Selection

#: A coordinate has its value when it is this close [rad], [sizes of bodies].
POSED = 1e-11
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
        out[names[name]] = check_argument("pose", f"coordinate {name!r}", value, number)
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
    """The state at rest nearest to one in which some coordinates have given values (k,), on the way
    there as little as possible being changed of the others; and what these values lack (k,)."""
    around = at_rest(clusters, state)
    angles = clusters.selection.tables.coordinate_kind[which] == ANGLE
    near = POSED * np.where(angles, 1.0, around.size)
    way = values - values_of(around)[which]
    for _ in range(SPARE_STEPS + int(2.0 * abs(way / near).max(initial=0.0) * POSED / DRIVEN)):
        if (abs(way) <= near).all():
            break
        xi = direction_to(gradients(around), which, way)
        size = size_of(around, xi)
        if size <= POSED:
            break
        there = displace(around, xi * min(1.0, DRIVEN / size)).state
        around = at_rest(clusters, there)
        way = values - values_of(around)[which]
    return around.state, np.where(abs(way) <= near, 0.0, way)


def at_rest(clusters: Clusters, state: State) -> Vicinity:
    """The neighbourhood of a state without its velocities, in coordinates of which no force is
    asked."""
    still = np.zeros(state.v.shape)
    around = Vicinity(clusters, state.changed(v=still, omega=still.copy(), step=None, merged=None))
    vars(around)["_free"] = around._span
    return around


def direction_to(J: Floats, which: Ints, way: Floats) -> Floats:
    """The displacement (f,) by which some coordinates change by `way` (k,), as far as the joints
    allow, and the others (their derivatives are the other rows of J) as little as possible."""
    mine, others = J[which], np.delete(J, which, axis=0)
    U, sigma, Vt = np.linalg.svd(mine)
    rank = int((sigma > IDLE_GRADIENT * abs(J).max(initial=0.0)).sum())
    xi = Vt[:rank].T @ ((U[:, :rank].T @ way) / sigma[:rank])
    left = Vt[rank:].T
    if left.size and others.size:
        xi = xi - left @ np.linalg.lstsq(others @ left, others @ xi, rcond=IDLE_GRADIENT)[0]
    return np.asarray(xi)
