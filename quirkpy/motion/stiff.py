"""Stiff systems: SciPy's implicit integrators in place of the compiled steps; all else of a run
stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.integrate import BDF, LSODA, Radau

from quirkpy.kernels.act.wrenches import LOST
from quirkpy.kernels.step import integrator, steps
from quirkpy.kernels.step.impacts import FUNCTION_NOTES, STEP_NOTES, Rows
from quirkpy.maths.constants import EPS
from quirkpy.maths.types import Floats, Ints
from quirkpy.mechanics.clusters import Clusters
from quirkpy.mechanics.state import State
from quirkpy.motion.driver import START_OVER, Driver
from quirkpy.motion.settings import Settings, StiffMethod
from quirkpy.parts.event import Event

#: SciPy's integrators are asked for no smaller relative tolerance [1].
LEAST_RTOL = 1e-13
SOLVERS: dict[StiffMethod, Any] = {"radau": Radau, "bdf": BDF, "lsoda": LSODA}

#: Relative step of the differences.
DIFFERENCE = float(np.sqrt(EPS))
#: Where in a step its polynomial is asked, and what makes coefficients of x, x^2 ... of the
#: answers.
NODES = np.arange(1.0, 8.0) / 7.0
FIT = np.linalg.inv(NODES[:, None] ** np.arange(1.0, 8.0))


class StiffDriver(Driver):
    """A run whose steps SciPy takes; projection, events, ledger and rows are those of every run.

    The integrator starts afresh after an event, and where projection has moved the state by more
    than `START_OVER` tolerances; so a run that goes on from another's end agrees with the whole to
    its tolerance, not to the bit."""

    def __init__(
        self,
        clusters: Clusters,
        start: State,
        duration: float,
        events: Sequence[Event],
        s: Settings,
    ) -> None:
        super().__init__(clusters, start, duration, events, s)
        self.solver: Any = None

    def first_steps(self, room: int) -> int:
        """The start as the first row; SciPy takes the steps."""
        self.solver = None
        return super().first_steps(1)

    def advance(self, room: int) -> int:
        """Steps until the end, a terminal event, a failure, or until `room` rows or the notes are
        full; returns why."""
        rows, counts = self.rows, self.counts
        counts[steps.ROOM] = counts[steps.NOTED] = counts[steps.JUMPED] = 0
        if counts[steps.HEADED] == 0:
            integrator.head_on(self.run_arrays)
        while counts[steps.ROOM] < room and has_room(rows, counts, len(self.watched)):
            if self.clock[steps.T] >= self.clock[steps.T_END]:
                self.solver = None  # which would not go beyond it
                why = self.leave_end()
                if why != integrator.GOING:
                    return why
            if self.engine.python.halted:
                return integrator.GOING
            if self.solver is None:
                self.solver = self._new_solver()
            self.solver.step()
            if self.solver.status == "failed":
                return integrator.COLLAPSED
            if not np.isfinite(self.solver.y).all():
                return integrator.NOT_FINITE
            if self._take_over():
                return int(integrator.why_over(counts[steps.ANSWER]))
            if counts[steps.CROWDED] > integrator.TOO_MANY:
                return integrator.COLLAPSED
            if self.clock[steps.T] != self.solver.t or self._moved():
                self.solver = None
        if self.clock[steps.T] < self.clock[steps.T_END]:
            return integrator.GOING
        self.solver = None
        return self.leave_end()

    def _line(self, which: int) -> Floats:
        """The state in a line, as SciPy takes it: without what fills lines up to whole rows."""
        length = self.layout.states.state_length
        return self.run_arrays.lines[which, :length]

    def _moved(self) -> bool:
        """Whether projection has moved the end of the last step further than a history bears."""
        scale = self.settings.atol + self.settings.rtol * abs(self._line(steps.END))
        far = abs(self._line(steps.BEGIN) - self.solver.y) > START_OVER * scale
        return bool(far[self.layout.states.moving].any())

    def _new_solver(self) -> Any:
        clock, s = self.clock, self.settings
        first = min(float(clock[steps.H]), float(clock[steps.T_END] - clock[steps.T]))
        solver = SOLVERS[s.method](  # type: ignore[index]
            self._slope, float(clock[steps.T]), self._line(steps.BEGIN).copy(),
            float(clock[steps.T_END]), rtol=max(s.rtol, LEAST_RTOL), atol=s.atol, first_step=first,
            jac=self._jacobian,
        )  # fmt: skip
        if s.method == "bdf":
            solver.D[2:] = (
                0.0  # SciPy computes with these rows before it has filled them: what was in memory
            )
        return solver

    def _slope(self, t: float, y: Floats) -> Floats:
        """dy/dt of a state, as the kernels see it."""
        e, run = self.engine, self.run_arrays
        self._line(steps.WITHIN)[:] = y
        integrator.slope_within(t, run, e.model, e.conditions, e.scratch)
        e.python.raise_pending()
        return self._line(steps.SMALL).copy()

    def _jacobian(self, t: float, y: Floats) -> Floats:
        """d(dy/dt)/dy by forward differences; nothing depends on the ledger."""
        out, here = np.zeros((len(y), len(y))), self._slope(t, y)
        for k in self.layout.states.moving.tolist():
            moved = y.copy()
            moved[k] += DIFFERENCE * max(1.0, abs(y[k]))
            out[:, k] = (self._slope(t, moved) - here) / (moved[k] - y[k])
        return out

    def _take_over(self) -> bool:
        """The solver's step as a step of the run; returns whether that ends it."""
        e, run, solver = self.engine, self.run_arrays, self.solver
        begun = self.clock[steps.T]
        self.clock[steps.STEP] = self.clock[steps.H] = solver.t - begun
        self._line(steps.RAW)[:] = solver.y
        inside = solver.dense_output()(begun + NODES * (solver.t - begun)).T
        ledger = self.layout.states.ledger_in
        for told in (self._line(steps.RAW), inside):  # of the ledger, what the solver does not know
            ledger(told)[..., LOST:] = ledger(self._line(steps.BEGIN))[LOST:]
        polynomial = run.lines[steps.POLYNOMIAL : steps.POLYNOMIAL + 7, : len(solver.y)]
        polynomial[:] = FIT @ (inside - self._line(steps.BEGIN))
        over = integrator.finish(
            solver.t, run, e.model, e.conditions, e.scratch, self.table, self.watch, self.rows
        )
        e.python.raise_pending()
        return bool(over)


def has_room(rows: Rows, counts: Ints, watched: int) -> bool:
    """Whether notes and jumps of one more step find room."""
    noted, jumped = counts[steps.NOTED], counts[steps.JUMPED]
    return bool(
        noted + FUNCTION_NOTES * watched + STEP_NOTES <= len(rows.notes)
        and jumped < len(rows.jumps)
    )


def driver_for(settings: Settings) -> type[Driver]:
    """The kind of driver that the method of a run needs."""
    return StiffDriver if settings.method in SOLVERS else Driver
