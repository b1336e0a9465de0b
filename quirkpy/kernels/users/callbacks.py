"""Users' Python functions in compiled runs: kernels call them through the hook, and exceptions are
raised after the kernel has returned."""

from __future__ import annotations

import ctypes
import signal
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np

from quirkpy.kernels.base.arrays import ROW_PERIOD
from quirkpy.kernels.base.conditions import TIME, Conditions
from quirkpy.kernels.base.hook import (
    ADDRESS,
    COMMANDS,
    EVENTS,
    FAILED,
    LAWS,
    LOADS,
    PARTS,
    ROWS,
    SIGNATURE,
    WRONG_LAW,
)
from quirkpy.kernels.place.rows import GAMMA, JACOBIAN, PHI, RATE, SECOND
from quirkpy.kernels.tree.model import Model, Scratch
from quirkpy.kernels.tree.tree import LOOP_ROW
from quirkpy.kernels.users.users import FrameMotions, Users, driven_joints, general_joints, off_by
from quirkpy.maths.interrupts import listening, note
from quirkpy.parts.joint import GeneralJoint
from quirkpy.tables.tables import CALLBACK, Selection


class PythonParts:
    """Evaluates the users' parts of one selection, at the kinematics that the kernels have just
    computed.

    `events`, `commands`: functions that write the values of a run's Python events, and what a
    controller commands, to where the run reads them; t: the time [s] of the last call."""

    def __init__(
        self, selection: Selection, model: Model, conditions: Conditions, scratch: Scratch
    ) -> None:
        self.selection, self.scratch, self.conditions = selection, scratch, conditions
        self.control, self.hook = conditions.control, conditions.hook
        rows = model.tree.loops[:, LOOP_ROW]
        self.joints, self.driven = general_joints(selection, rows), driven_joints(selection, rows)
        self.periods = model.rows.numbers[rows[rows >= 0], ROW_PERIOD]
        kinds = selection.tables.element_kind[selection.elements]
        self.forces = np.flatnonzero(kinds == CALLBACK)
        self.laws = selection.laws
        self.events: Callable[[], None] | None = None
        self.commands: Callable[[], None] | None = None
        self.error: BaseException | None = None
        self.t = 0.0
        self.halted = False
        self._pointer: Any = None
        if self.joints or self.driven or len(self.forces):
            self.hook[PARTS] = 1
            self.open()
        if len(self.laws):
            self.hook[LAWS] = 1
            self.open()

    def begin_anew(self) -> None:
        """Forget events and exceptions of the last user."""
        self.events = self.commands = self.error = None
        self.halted, self.t = False, 0.0
        self.hook[FAILED] = 0

    def open(self) -> None:
        """Make the callback and store its address in the hook."""
        if self._pointer is None:
            me = weakref.proxy(self)  # which a method of its own would keep
            self._pointer = SIGNATURE(
                lambda what: me._answer(what)
            )  # lives as long as its address is in use
            self.hook[ADDRESS] = ctypes.cast(self._pointer, ctypes.c_void_p).value or 0

    def _answer(self, what: int) -> int:
        """Evaluate what is asked for.  An exception or interruption is stored, since none may pass
        through machine code."""
        self.t = float(self.control[TIME])
        try:
            if self.halted:
                raise KeyboardInterrupt
            if what == LOADS:
                self._add_loads()
            elif what == ROWS:
                self._fill_rows()
            elif what == EVENTS and self.events is not None:
                self.events()
            elif what == COMMANDS and self.commands is not None:
                self.commands()
            elif what == WRONG_LAW:
                self._users().look_at_laws(self.laws, self.scratch.potential)
        except BaseException as error:
            self.error = error
            return 1
        return 0

    def raise_pending(self) -> None:
        """Raise the exception of the last call of a kernel, if there was one."""
        error, self.error = self.error, None
        self.hook[FAILED] = 0
        if error is not None:
            raise error

    def _users(self) -> Users:
        return Users(
            self.selection, self.t, FrameMotions(self.scratch.frames), self.conditions.near
        )

    def _add_loads(self) -> None:
        s, users, t = self.scratch, self._users(), self.selection.tables
        for k in self.forces:
            force = t.forces[t.element_force[self.selection.elements[k]]]
            s.potential[k] = users.energy_of(force)
            users.add_load(s.wrench, s.power, force)

    def _fill_rows(self) -> None:
        rows, users = self.scratch.rows, self._users()
        for j, where in self.joints:
            joint = self.selection.tables.joints[j]
            assert isinstance(joint, GeneralJoint)
            made = users.rows_of(joint)
            rows[where, PHI], rows[where, RATE], rows[where, GAMMA] = (
                made.phi,
                made.rate,
                made.gamma,
            )
            rows[where, JACOBIAN:SECOND] = made.jacobian
        for j, where in self.driven:
            x, rate, bend = users.motion_of(self.selection.tables.joints[j])
            rows[where, PHI] = off_by(rows[where, PHI] - x, self.periods[where])
            rows[where, RATE] -= rate
            rows[where, GAMMA] += bend


@contextmanager
def interruptions(python: PythonParts) -> Iterator[None]:
    """In this block Ctrl-C takes effect when the current kernel returns, within a second; a second
    Ctrl-C takes effect at once.

    Without it, an interruption during a callback from compiled code would be lost."""

    heard = listening()
    python.halted = False
    if heard is None:
        yield
        return

    def wait(number: int, frame: FrameType | None) -> None:
        if python.halted:
            heard(number, frame)
        python.halted = True
        note(heard)

    signal.signal(signal.SIGINT, wait)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, heard)
