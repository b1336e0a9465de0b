"""Elastic-plastic strings and bars: rest lengths that follow where a load exceeds its limit."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from quirkpy.maths.types import Floats
from quirkpy.parts.checks import flag, instance, numbers, positive
from quirkpy.parts.controller import Controller
from quirkpy.parts.forces import Spring
from quirkpy.parts.part import PartError, check_argument, checked
from quirkpy.parts.strings import String
from quirkpy.system.multibody import Multibody


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


def yielding(system: Multibody, limits: Mapping[str, float], period: float = 1e-3) -> Multibody:
    """A system in which some strings and springs, such as those of compressible bars, are
    elastic-plastic: ``yielding(system, {"s1": 60.0, "b1 elasticity": 900.0})``.

    limits [N]: the load at which each yields, a string under tension, a spring also under
    compression; rest lengths follow at samples, a `period` [s] apart, with an error of second order
    in it. What yielding dissipates is negative work in the ledger; rest lengths so far are part of
    the state, and commands of the part "plasticity"."""
    check_argument("yielding", "system", system, instance(Multibody))
    chosen = [(yieldable(system, n), positive_limit(n, load)) for n, load in limits.items()]
    if not chosen:
        raise PartError("yielding: limits is empty; name strings or springs, and their loads [N].")
    parts = [part for part, _ in chosen]
    driver = Plasticity(
        "plasticity", period=period, hold="first", drives=[f"{p.name}.rest_length" for p in parts],
        reads=[f"{p.name}.{what}" for what in ("length", "length.rate") for p in parts],
        memory=[p.value_of("rest_length") for p in parts],
        stiffness=[p.value_of("stiffness") for p in parts], limit_load=[load for _, load in chosen],
        pushing=[float(not isinstance(p, String)) for p in parts],
    )  # fmt: skip
    new = {part.name: part for part in parts}
    kept = [new.get(str(getattr(part, "name", "")), part) for part in system.parts]
    return Multibody(*kept, driver, candidates=system.candidates, start=system.start)


def yieldable(system: Multibody, name: str) -> String | Spring:
    """A string or spring with its stiffness and rest length as numbers."""
    part = system[name]
    if not isinstance(part, (String, Spring)):
        raise PartError(f"yielding: {name!r} is no String or Spring; name one.")
    values = {field: part.value_of(field) for field in ("stiffness", "rest_length")}
    for field, value in values.items():
        if not isinstance(value, float) or value == 0.0:
            raise PartError(f"yielding: {field} of {name!r} must be a number above 0.")
    if isinstance(part, String):
        return dataclasses.replace(part, EA=None, **values)
    return dataclasses.replace(part, **values)


def positive_limit(name: str, load: Any) -> float:
    """The load at which a part yields, checked [N]."""
    return float(check_argument("yielding", f"limit of {name!r}", load, positive))
