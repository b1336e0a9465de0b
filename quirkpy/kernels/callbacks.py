"""The integrator when Python takes part: the same functions, some of them run by the interpreter.

Users' forces, joints and events are Python.  Where a run has any, `advance` and what calls them are run uncompiled,
with `derivative`, the closing rows and the watched functions exchanged for versions that ask the user's code;
everything else stays compiled.  There is no second integrator.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from quirkpy.kernels import integrator, projection, watch
from quirkpy.kernels.arrays import OMEGA, STATE_WIDTH, Q, R, V
from quirkpy.kernels.engine import Engine, Model, Scratch, from_rows
from quirkpy.kernels.instant import Frames, Instant
from quirkpy.kernels.tree import LOOP_ROW
from quirkpy.parts.checks import Floats

Values = Callable[[float, Floats, Floats], None]


def interpreted(function: Any, **exchanged: Any) -> Any:
    """The same function, run by Python with some of the functions that it calls exchanged."""
    plain = getattr(function, "py_func", function)
    return FunctionType(plain.__code__, {**plain.__globals__, **exchanged}, plain.__name__)


class PythonParts:
    """The functions of the integrator for one engine: compiled where all parts are, else interpreted where needed."""

    def __init__(self, engine: Engine, values: Values | None) -> None:
        self.engine, self.t, self._values = engine, 0.0, values
        self.derivative: Any = integrator.derivative
        self.project: Any = projection.project
        self.advance: Any = integrator.advance
        self.interpolant: Any = integrator.interpolant
        self.watched: Any = watch.watched
        self.remember_angles: Any = integrator.remember_angles
        if engine.in_python or values is not None:
            self._interpret()

    def _interpret(self) -> None:
        exchanged: dict[str, Any] = {}
        if self._values is not None:
            self.watched = exchanged["watched"] = self._ask_events
        if self.engine.in_python:
            rows = {"closing_rows": self._closing_rows, "row_rates": self._row_rates}
            velocities = interpreted(projection.project_velocities, **rows)
            self.project = interpreted(projection.project, project_velocities=velocities, **rows)
            tangent = interpreted(integrator.tangent_part, **rows)
            self.derivative = self._derivative
            exchanged |= {
                "derivative": self._derivative,
                "take_stages": interpreted(integrator.take_stages, derivative=self._derivative),
                "project": self.project,
                "near_singular": interpreted(integrator.near_singular, tangent_part=tangent),
            }
            self.interpolant = interpreted(integrator.interpolant, derivative=self._derivative)
        self.advance = interpreted(integrator.advance, **exchanged)

    def _instant(self, t: float, y: Floats) -> Instant:
        """What acts, at a row of the integrator."""
        self.t = t
        r, q, v, omega = (y[:-1, i:j] for i, j in ((R, Q), (Q, V), (V, OMEGA), (OMEGA, STATE_WIDTH)))
        return Instant(self.engine.selection, t, r, q, v, omega, self.engine.model.joints.near)

    def _derivative(
        self, t: float, y: Floats, model: Model, scratch: Scratch, freedoms: int, out: Floats, dy: Floats
    ) -> None:
        """`integrator.derivative`, with loads and closing rows from the user's code."""
        at = self._instant(t, y)
        scratch.frames[:] = at.frames.rows
        scratch.wrench[:-1], scratch.power[:] = at.loads.wrench, at.loads.power
        scratch.potential[:] = at.loads.potential
        chosen = self._chosen(model)
        from_rows(model, scratch, at.rows.jacobian[chosen], at.rows.gamma[chosen], freedoms, out)
        integrator.rates(t, y, model, scratch, freedoms, out, dy)

    def _chosen(self, model: Model) -> Any:
        """Where the closing rows stand among all active rows."""
        return np.searchsorted(self.engine.selection.rows, model.tree.loops[:, LOOP_ROW])

    def _at_scratch(self, scratch: Scratch) -> Instant:
        """What acts, at the kinematics in the scratch."""
        n = len(scratch.frames) - 1
        zero = np.zeros((n, 3))
        at = Instant(self.engine.selection, self.t, zero, np.zeros((n, 4)), zero, zero, self.engine.model.joints.near)
        vars(at)["frames"] = Frames(scratch.frames.copy())
        return at

    def _closing_rows(self, model: Model, scratch: Scratch) -> tuple[Floats, Floats]:
        """`projection.closing_rows`, with the user's phi and Jacobian among them."""
        rows, chosen = self._at_scratch(scratch).rows, self._chosen(model)
        return rows.phi[chosen], rows.jacobian[chosen]

    def _row_rates(self, model: Model, scratch: Scratch, jacobian: Floats) -> Floats:
        """`projection.row_rates`, with the explicit time derivative of the user's phi."""
        rate = self._at_scratch(scratch).rows.rate[self._chosen(model)]
        return np.asarray(projection.row_rates(model, scratch, jacobian) + rate)

    def _ask_events(
        self, t: float, y: Floats, acceleration: Floats, model: Model, scratch: Scratch, what: Any, values: Floats
    ) -> None:
        """`watch.watched`, then the user's functions."""
        watch.watched(t, y, acceleration, model, scratch, what, values)
        self.t = t
        assert self._values is not None
        self._values(t, y, values)
