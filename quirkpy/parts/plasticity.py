"""Rest lengths that follow where a load exceeds its limit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quirkpy.maths.types import Floats
from quirkpy.parts.checks import flag, is_list, numbers, show
from quirkpy.parts.controller import Controller
from quirkpy.parts.part import checked


def some_numbers(value: Any) -> Any:
    """A list of numbers."""
    if not is_list(value):
        raise TypeError(f"is {show(value)}, but must be a list of numbers")
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

    def validate(self) -> None:
        super().validate()
        many = len(self.drives)
        for name in ("stiffness", "limit_load", "pushing", "memory"):
            if len(getattr(self, name)) != many:
                raise self.refuse(
                    f"{name} has {len(getattr(self, name))} numbers for {many} driven rest "
                    "lengths; give one for each."
                )
        if len(self.reads) != 2 * many:
            raise self.refuse(
                f"reads has {len(self.reads)} names for {many} driven rest lengths; give their "
                "lengths, and then the rates of these."
            )
        if not all(k > 0.0 for k in self.stiffness):
            raise self.refuse("stiffness must be above 0 throughout.")

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
