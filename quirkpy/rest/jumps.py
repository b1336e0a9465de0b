"""`Jumps`: where the stiffness around a state is discontinuous, because forces change differently
to either side."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import numpy as np

from quirkpy.kernels.step.probing import COARSER_JUMPS, JUMPS
from quirkpy.maths.cached import cached_property
from quirkpy.maths.constants import EPS
from quirkpy.maths.differences import (
    DOUBTS,
    JUMP,
    JUMP_CHANGE,
    PROBE_SHRINK,
    SIDE_OFFSET,
    UNEVEN,
    one_sided_derivatives,
)
from quirkpy.maths.types import Bools, Floats
from quirkpy.rest.coordinates import rounding_of_loads

if TYPE_CHECKING:
    from quirkpy.rest.vicinity import Vicinity


class Jumps:
    """The discontinuities of the stiffness around a state: which entries of K jump, and their
    values on either side."""

    def __init__(self, around: Vicinity) -> None:
        self._around = weakref.ref(
            around
        )  # a reference cycle would live until Python's next collection

    @property
    def around(self) -> Vicinity:
        """The vicinity to which the jumps belong."""
        around = self._around()
        assert around is not None
        return around

    @cached_property
    def uneven(self) -> Floats:
        """The part of the change of force that is even in the displacement s along each coordinate,
        per length [1/s2] (f, f): the coefficient of |s| in a fit of |s|, s^2, s^4 and s^6; zero
        where forces are smooth."""
        return self.around.differences[JUMPS]

    @cached_property
    def error(self) -> Floats:
        """Bounds of the errors of these numbers [1/s2] (f, f)."""
        a = self.around
        sizes = EPS * np.linalg.norm(a.by_place(a.pulled), axis=2).max(axis=1, initial=0.0)
        doubt = abs(a.differences[JUMPS] - a.differences[COARSER_JUMPS])
        rounding = a.rounding + rounding_of_loads(a.at, a.basis)
        shaken = abs(UNEVEN).sum() * (sizes + rounding[:, None]) / a.reach
        return np.asarray(DOUBTS * (shaken + doubt))

    @cached_property
    def counts(self) -> Bools:
        """Which of these numbers are jumps of the stiffness at this state (f, f)."""
        K, uneven = abs(self.around.stiffness.values), abs(self.uneven)
        sizes = np.sqrt(np.maximum(np.maximum(K, K.T), uneven).max(axis=1, initial=0.0))
        plain = uneven > JUMP * (sizes[:, None] * sizes)
        if not plain.any() or not (plain := plain & (uneven > self.error)).any():
            return np.asarray(plain)
        nearer = self.around.nearer(
            PROBE_SHRINK
        )  # a jump at this very state has the same size when probed closer by
        return np.asarray(plain & (abs(nearer.jumps.uneven - self.uneven) <= JUMP_CHANGE * uneven))

    @cached_property
    def one_sided_stiffness(self) -> tuple[Floats, Floats, Floats]:
        """K on the side to which each coordinate grows, K on the other side [1/s2] (f, f), and the
        error of both (f, f): one-sided differences of fourth order, compared with those of
        third."""
        return one_sided_derivatives(self._changes_of_pull, self.around.reach, self.around.rounding)

    @cached_property
    def _changes_of_pull(self) -> Floats:
        """The changes of minus the generalized force at the probes (f, 8, f)."""
        return self.around.pull - self.around.by_place(self.around.pulled)

    @cached_property
    def tangent(self) -> Floats:
        """K for Newton's method [1/s2]: where it jumps near by, the value on the side of the
        state."""
        if not self.counts.any():
            return self.around.stiffness.values
        a = self.around
        steps = np.diag(SIDE_OFFSET * a.reach)
        forth, back = (
            a.reduce(a.answers(a.states_at(sense * steps)).felt) for sense in (1.0, -1.0)
        )
        return np.asarray((back - forth).T / (2.0 * SIDE_OFFSET * a.reach))
