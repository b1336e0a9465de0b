"""`WholeTurns`: the whole turns of a spacecraft's own hinges, as far as anything feels them.

The pose of two bodies gives the angle of their hinge up to whole turns, and half a turn with either
sign; a spring, a stop or a gear there does not forget them. So they belong to a shape as its pose
does, and each motion begins with those of its node."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from quirkpy.maths.types import Bools, Floats
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.parts.force import Force
from quirkpy.parts.joint_laws import JointLaw
from quirkpy.tables import Tables, compile
from quirkpy.tables.tables import (
    ANGLE,
    CALLBACK,
    CALLBACK_ROW,
    COORDINATE,
    MOTOR,
    RELATION_ROW,
)

#: Where laws are tried [rad], and when [s], at which rates [rad/s]; turns to either side [rad]; how
#: closely values agree.
PLACES = (-2.9, -1.3, -0.4, 0.02, 0.3, 0.9, 2.2, 3.0)
MOMENTS = ((0.0, 0.0), (0.7, 0.4), (31.0, -2.0))
TURNED, SAME_LAW = (-4.0 * math.pi, -2.0 * math.pi, 2.0 * math.pi), 1e-9


class WholeTurns:
    """The angles of the joints of a system itself that are felt beyond half a turn by any of these
    joints, or of some forces."""

    def __init__(self, system: System, forces: Iterable[Force]) -> None:
        tables = compile((*system.parts, *forces))
        names = system.tables.coordinate_names
        self.selection = system.selection
        self.names = tuple(np.array(tables.coordinate_names)[feel_turns(tables)].tolist())
        self.which = np.array([names.index(name) for name in self.names], dtype=np.int64)

    def angles(self, state: State) -> Floats:
        """The angles that are felt, whole turns included [rad]."""
        return self._own(state).angles[self.which]

    def of(self, state: State) -> dict[str, int]:
        """The whole turns of a state, by the name of the coordinate."""
        if not self.names:
            return {}
        return dict(zip(self.names, self._own(state).windings[self.which].tolist(), strict=True))

    def carried(self, old: State, new: State) -> dict[str, int]:
        """The whole turns at a new pose that differs from an old one by a rigid motion of the
        whole: angles stay the same, though rounding may give half a turn the other sign."""
        if not self.names:
            return {}
        return self.of(self._own(new).next_to(self._own(old).angles))

    def agree(self, one: State, two: State) -> bool:
        """Whether two states that look alike have the same whole turns."""
        if not self.names:
            return True
        return bool((abs(self.angles(one) - self.angles(two)) < math.pi).all())

    def _own(self, state: State) -> State:
        return state.changed(held=()).on(self.selection)


def feel_turns(tables: Tables) -> Bools:
    """For each coordinate whether it is an angle whose whole turns matter to any force, stop or
    relation of joints: to all but motors, dampers without a spring, and laws that repeat with each
    turn; other Python of a user may read any angle (nc,)."""
    t = tables
    felt = np.zeros(len(t.coordinate_kind), dtype=bool)
    damper = (t.element_kind == COORDINATE) & (t.element_numbers[:, 0] == 0.0)
    repeating = [isinstance(force, JointLaw) and repeats(force) for force in t.forces]
    idle = (damper & (t.element_schedule[:, 0] < 0)) | (t.element_kind == MOTOR)
    idle |= np.array([False, *repeating])[t.element_force + 1]  # no force: the stop of a joint
    felt[t.element_coordinate[~idle & (t.element_coordinate >= 0)]] = True
    related = t.row_kind == RELATION_ROW
    for columns in (t.row_axis1[related], t.row_axis2[related]):
        felt[columns[columns >= 0]] = True
    anywhere = (t.element_kind == CALLBACK) & (t.element_coordinate < 0)
    if anywhere.any() or (t.row_kind == CALLBACK_ROW).any():
        felt[:] = True
    return felt & (t.coordinate_kind == ANGLE)


def repeats(law: JointLaw) -> bool:
    """Whether load and energy of a law are the same a whole turn further on, at all places that are
    tried; not where it fails."""
    words = ("load", "energy") if law.gives("potential") else ("load",)
    try:
        return all(
            math.isclose(
                law.evaluate(word, t, x, rate), law.evaluate(word, t, x + turns, rate),
                rel_tol=SAME_LAW, abs_tol=SAME_LAW * abs(law.evaluate(word, t, x + 1.0, rate)),
            )
            for word in words for t, rate in MOMENTS for x in PLACES for turns in TURNED
        )  # fmt: skip
    except Exception:  # it may be undefined at such places
        return False
