"""Stops: bounds on joint coordinates.  One that holds is a constraint row; one that is hit gives an
impulse."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from quirkpy.kernels.base.arrays import BODY1, BODY2, Joints, Packed, Sites
from quirkpy.kernels.base.compiled import inner, kernel
from quirkpy.kernels.base.conditions import DECIDED, HOLDS, Conditions
from quirkpy.kernels.base.vectors import dot, get3
from quirkpy.kernels.place.kinematics import joint_coordinate
from quirkpy.kernels.place.rows import GAMMA, JACOBIAN, PHI, SECOND, coordinate_row
from quirkpy.kernels.tree.elimination import ACCELERATION, CENTRE
from quirkpy.maths.types import Floats, Ints
from quirkpy.tables.tables import STOP, Selection

# Columns of Stops.what: joint and coordinate. Of Stops.numbers: bound [rad] or [m]; side: 1 where
# the coordinate must be above it, -1 below; restitution; the rate [rad/s] or [m/s] below which
# nothing bounces; 1: a latch, which bounds nothing until it is reached from that side, and then
# holds in both senses; 0: a stop.
STOP_JOINT, STOP_COORDINATE, STOP_WIDTH = range(3)
BOUND, SIDE, RESTITUTION, SETTLE, LATCH, STOP_NUMBERS = range(6)

#: A held stop lets go when the coordinate would leave it with more than this acceleration [rad/s2]
#: or [m/s2].
RELEASE = 1e-9
#: As near as this [rad] or [m], and not moving, a joint begins in contact with its stop; further
#: beyond it than the second it is refused.
TOUCHING, REFUSED_BEYOND = 1e-9, 1e-6
#: A drive may go on so far [rad] or [m] beyond a stop: it often ends just there, but for rounding.
LEEWAY = 5e-7


class Stops(NamedTuple):
    """what: joint, coordinate (ns, STOP_WIDTH); numbers (ns, STOP_NUMBERS).  What they do is among
    the conditions."""

    what: Ints
    numbers: Floats


def stops_of(selection: Selection, packed: Packed) -> tuple[Stops, Ints, Ints]:
    """The stops that act, and the bodies of their joints; made once, and not to be written to."""
    known = selection.made_here
    if _stops not in known:
        known[_stops] = _stops(selection, packed)
    found: tuple[Stops, Ints, Ints] = known[_stops]
    return found


def _stops(selection: Selection, packed: Packed) -> tuple[Stops, Ints, Ints]:
    t = selection.tables
    acting = selection.elements[t.element_kind[selection.elements] == STOP]
    joints = t.element_joint[acting]
    what, numbers = (
        np.zeros((len(acting), STOP_WIDTH), dtype=np.int64),
        np.zeros((len(acting), STOP_NUMBERS)),
    )
    what[:, STOP_JOINT], what[:, STOP_COORDINATE] = joints, t.element_coordinate[acting]
    numbers[:, :STOP_NUMBERS] = t.element_numbers[acting, :STOP_NUMBERS]
    return Stops(what, numbers), packed.carriers[joints, BODY1], packed.carriers[joints, BODY2]


def stop_names(selection: Selection) -> tuple[str, ...]:
    """The name of the `JointStop`, or of the joint, that each bound that acts belongs to."""
    t = selection.tables
    acting = selection.elements[t.element_kind[selection.elements] == STOP]
    pairs = zip(t.element_force[acting].tolist(), t.element_joint[acting].tolist(), strict=True)
    return tuple(
        t.joint_names[joint] if force < 0 else t.force_names[force] for force, joint in pairs
    )


def stop_labels(selection: Selection, stops: Stops) -> tuple[str, ...]:
    """A label for each bound that acts: its name, and which side."""
    if not len(stops.what):
        return ()
    sides = ["lower" if side > 0.0 else "upper" for side in stops.numbers[:, SIDE]]
    return tuple(f"{name} {side}" for name, side in zip(stop_names(selection), sides, strict=True))


def latch_labels(selection: Selection, stops: Stops) -> tuple[str, ...]:
    """The labels of those that are latches."""
    labels = zip(stop_labels(selection, stops), stops.numbers[:, LATCH].tolist(), strict=True)
    return tuple(label for label, latch in labels if latch != 0.0)


@inner
def clearance(
    k: int, stops: Stops, conditions: Conditions, joints: Joints, sites: Sites, frames: Floats
) -> tuple[float, float]:
    """How far the coordinate is from the bound of stop k, positive on the free side, and its
    rate."""
    value, rate = joint_coordinate(stops.what[k, STOP_COORDINATE], joints, sites, frames)
    side, more = stops.numbers[k, SIDE], 0.0 if conditions.stops[k, DECIDED] == 0 else LEEWAY
    return side * (value - stops.numbers[k, BOUND]) + more, side * rate


@inner
def is_latched(s: int, stops: Stops, conditions: Conditions) -> bool:
    """Whether latch s holds, or the one at the same place that is reached from the other side."""
    for k in range(stops.what.shape[0]):
        alike = (
            stops.numbers[k, LATCH] != 0.0 and stops.numbers[k, BOUND] == stops.numbers[s, BOUND]
        )
        there = alike and stops.what[k, STOP_COORDINATE] == stops.what[s, STOP_COORDINATE]
        if there and conditions.stops[k, HOLDS] != 0:
            return True
    return False


@inner
def stop_row(
    i: int, k: int, stops: Stops, joints: Joints, sites: Sites, frames: Floats, rows: Floats
) -> None:
    """The row of stop k: its coordinate equals the bound."""
    for column in range(JACOBIAN, SECOND):
        rows[i, column] = 0.0
    c = stops.what[k, STOP_COORDINATE]
    x, extra = coordinate_row(i, JACOBIAN, 1.0, c, joints, sites, frames, rows)
    rows[i, PHI], rows[i, GAMMA] = x - stops.numbers[k, BOUND], -extra


@kernel
def stop_rows(
    which: Ints, stops: Stops, joints: Joints, sites: Sites, frames: Floats, rows: Floats
) -> None:
    """Constraint rows of some stops, one each, for Python."""
    for i in range(which.shape[0]):
        stop_row(i, which[i], stops, joints, sites, frames, rows)


@inner
def row_response(i: int, a: int, b: int, rows: Floats, work: Floats) -> float:
    """J d of row i between bodies a and b, where d is the solution just computed; the ground does
    not move."""
    out, ground = 0.0, work.shape[0] - 1
    if a < ground:
        out += dot(get3(rows, i, JACOBIAN), get3(work, a, CENTRE))
        out += dot(get3(rows, i, JACOBIAN + 3), get3(work, a, ACCELERATION + 3))
    if b < ground:
        out += dot(get3(rows, i, JACOBIAN + 6), get3(work, b, CENTRE))
        out += dot(get3(rows, i, JACOBIAN + 9), get3(work, b, ACCELERATION + 3))
    return out
