"""Rest lengths that follow where a load exceeds its limit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quirkpy.maths.types import Floats
from quirkpy.parts.checks import flag, numbers
from quirkpy.parts.controller import Controller
from quirkpy.parts.part import checked


def some_numbers(value: Any) -> Any:
    """A sequence of numbers."""
    return numbers(value, (len(value),))


class Plasticity(Controller):
    """Perfect plasticity, sampled: where |stiffness (length - rest length)| will exceed a limit at
    the next sample, by length and rate at this one, the rest length moves on until then so that it
    does not.

    stiffness [N/m] and limit_load [N] of each of the driven strings and springs; pushing: 1 where
    it also yields under compression, else 0. `yielding` makes one."""

    stiffness: Sequence[float] = checked(some_numbers, kw_only=True)
    limit_load: Sequence[float] = checked(some_numbers, kw_only=True)
    pushing: Sequence[float] = checked(some_numbers, kw_only=True)
    compiled: bool = checked(flag, default=True, kw_only=True)

    @staticmethod
    def command(  # type: ignore[override]
        t: float,
        measured: Floats,
        memory: Floats,
        period: float,
        stiffness: Any,
        limit_load: Any,
        pushing: Any,
    ) -> Floats:
        """New rest lengths, which the memory keeps; read are all lengths, then their rates."""
        for k in range(len(stiffness)):
            most = limit_load[k] / stiffness[k]
            length = measured[k] + period * measured[len(stiffness) + k]
            if length - memory[k] > most:
                memory[k] = length - most
            elif pushing[k] != 0.0 and length - memory[k] < -most:
                memory[k] = length + most
        return memory
