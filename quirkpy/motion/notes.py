"""`Notes`: the events of a run, from the notes of the kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quirkpy.kernels.base.conditions import HOLDS
from quirkpy.kernels.base.states import bodies_of, quantities_of, with_ledger
from quirkpy.kernels.step.impacts import (
    CONTRADICTED,
    CROSSED,
    HELD,
    HELD_ON,
    JUMP,
    POSE,
    REGAINED,
    RELEASED,
    YIELDED,
    Rows,
)
from quirkpy.kernels.tree.stops import STOP_JOINT
from quirkpy.kernels.users.modal import points_of
from quirkpy.maths.types import Bools, Floats
from quirkpy.mechanics.analysis import drives_against
from quirkpy.mechanics.bending import overbent
from quirkpy.mechanics.clusters import Entry
from quirkpy.mechanics.engine import Engine, Layout
from quirkpy.mechanics.instant import Instant
from quirkpy.mechanics.state import State
from quirkpy.motion.course import Departure, Happening, Jump
from quirkpy.motion.events import RopeTurned, StopReached, Watched, way_back
from quirkpy.motion.snapshot import state_at
from quirkpy.parts.part import PartError
from quirkpy.tables.tables import Selection

#: The name of the event where branches of motion meet.
SINGULAR_POSE = "singular pose"
#: The names of the events where joints become active against the motion of a start, and where a run
#: can no longer satisfy some of them.
TOOK_HOLD, UNHELD = "joints took hold", "joints could not be held"
#: What is said of ropes and strings.
TURNS = {CROSSED: "taut", RELEASED: "slack", YIELDED: "yields", REGAINED: "elastic"}
#: The names of what happens where a run is at rest where branches of motion meet, and where it
#: takes one of them.
UNDETERMINED, TAKEN = "undetermined branch", "branch taken"


class Notes:
    """Events of a run, jumps of its velocities, and steps out of singular poses, in their
    order."""

    def __init__(self, entry: Entry, watched: Sequence[Watched]) -> None:
        self.entry, self.layout, self.watched = entry, entry.layout, watched
        self.events: list[Happening] = []
        self.jumps: list[Jump] = []
        self.departures: list[Departure] = []

    def take(self, rows: Rows, noted: int) -> None:
        """Keep the notes of the last call."""
        for t, what, which, lost in rows.notes[:noted].tolist():
            if what == JUMP:
                self.jumps.append(self._jump(t, rows, int(which)))
            else:
                self.add(t, int(what), int(which), lost)

    def add(self, t: float, what: int, which: int, lost: float) -> None:
        """Keep the event of a note, if it is not a jump; further energy lost to joints belongs to
        the event with which the loss began."""
        if what == HELD_ON:
            k = max(k for k, event in enumerate(self.events) if event.name == TOOK_HOLD)
            self.events[k] = self.events[k]._replace(lost=self.events[k].lost + lost)
        elif what != JUMP:
            self.events.append(self._happening(t, what, which, lost))

    def begin_with(self, event: Happening, before: Floats, after: Floats | None) -> None:
        """Keep the impact of joints at the start: states (nb + points, STATE_WIDTH) before and, if
        known, after."""
        self.events.insert(0, event)
        if after is not None:
            self.jumps.insert(0, Jump.between(event.t, before, after))

    def tell_branches(self, t: float, row: int, branches: tuple[str, ...] = ()) -> None:
        """Keep that the run is at rest where branches of the loop of a closing row meet; their
        names, if they are known."""
        joints = self.layout.loop(row)
        self.events.append(Happening(t, UNDETERMINED, joints=joints, branches=branches))

    def change_jump(self, after: Floats) -> None:
        """Replace the bodies just after the last jump (nb, STATE_WIDTH)."""
        self.jumps[-1] = self.jumps[-1]._replace(after=after)

    def end_at(self, t: float) -> None:
        """Discard what came after a time [s]."""
        self.events = [event for event in self.events if event.t <= t]
        self.jumps = [jump for jump in self.jumps if jump.t <= t]
        self.departures = [some for some in self.departures if some.t < t]

    def _jump(self, t: float, rows: Rows, which: int) -> Jump:
        moved = points_of(self.layout.selection.tables).from_lines(rows.jumps[which])
        there = Jump.between(t, moved[0], moved[1])
        before, after = self._bodies(there.before), self._bodies(there.after)
        return Jump(t, before, after, self.labels_of(rows.struck[which]))

    def _bodies(self, rows: Floats) -> Floats:
        """The rows of all bodies, from those of the simulated ones."""
        return bodies_of(self.entry.expand(with_ledger(rows)))

    def labels_of(self, held: Bools) -> tuple[str, ...]:
        """The labels of the stops that hold."""
        return tuple(label for label, on in zip(self.layout.labels, held, strict=True) if on)

    def _happening(self, t: float, what: int, which: int, lost: float) -> Happening:
        """The event of a note of the kernels."""
        if what in (POSE, HELD):
            name = SINGULAR_POSE if what == POSE else TOOK_HOLD
            return Happening(t, name, (), self.layout.loop(which), lost)
        event = self.watched[which].event
        if isinstance(event, StopReached):
            word = "released" if what == RELEASED else "reached"
            return Happening(t, f"{event.name} {word}", joints=(event.joint,))
        if isinstance(event, RopeTurned):
            return Happening(t, f"{event.name} {TURNS[what]}")
        return Happening(t, event.name, self.watched[which].sensors)

    def add_jam(self, engine: Engine, t: float, rows: Floats, stop: int) -> None:
        """Keep which stop blocks which drives, from the joints where the run has ended; rows: those
        of the bodies there (nb, STATE_WIDTH)."""
        holding = engine.conditions.stops[:, HOLDS] != 0
        holding[stop] = True
        at = Instant(
            engine.selection, t, *quantities_of(rows), engine.conditions.near,
            self.labels_of(holding),
        )  # fmt: skip
        drives = drives_against(at, int(np.sum(holding[:stop])))
        label, joint = self.layout.labels[stop], self.layout.stops.what[stop, STOP_JOINT]
        name = f"{label.rsplit(' ', 1)[0]} in the way of {', '.join(drives)}"
        held = engine.selection.tables.joint_names[joint]
        self.events.append(Happening(t, name, joints=tuple(dict.fromkeys((held, *drives)))))


def refuse_start(layout: Layout, answer: int, row: int) -> None:
    """Raise an error for an inadmissible start: answer is the number of a stop beyond which a joint
    begins, or CONTRADICTED, where the velocities are none of the loop of a closing row."""
    if answer >= 0:
        label = layout.labels[answer]
        joint = layout.selection.tables.joint_names[layout.stops.what[answer, STOP_JOINT]]
        stop, side = label.rsplit(" ", 1)
        raise PartError(
            f"simulate: joint {joint!r} begins beyond the {side} bound of its stop {stop!r}; "
            f"{way_back()}.",
            code="pose",
        )
    if answer == CONTRADICTED:
        raise PartError(
            "simulate: this pose is singular, and no motion of the loop "
            f"{', '.join(layout.loop(row))} has these velocities; start on one "
            "of the branches that meet here, or at rest.",
            code="pose",
        )


def bent_too_far(
    start: State, selection: Selection, t: Floats, states: Floats, angles: Floats, tails: Floats
) -> tuple[Happening, ...]:
    """What is told of bodies that have bent farther than their models reach, where a run from a
    start ends because of that."""
    k = int(np.flatnonzero(np.isfinite(tails).all(axis=1))[-1])
    last = state_at(start, float(t[k]), states[k], angles[k], further=tails[k])
    names = overbent(last.instant(selection))
    return tuple(Happening(float(t[-1]), f"{name} is bent too far") for name in names)
