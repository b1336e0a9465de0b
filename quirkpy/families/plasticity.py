"""Elastic-plastic strings and bars."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from quirkpy.parts.checks import instance, positive
from quirkpy.parts.forces import Spring
from quirkpy.parts.part import PartError, check_argument
from quirkpy.parts.plasticity import Plasticity
from quirkpy.parts.strings import String
from quirkpy.system.multibody import Multibody


def yielding(system: Multibody, limits: Mapping[str, float], period: float = 1e-3) -> Multibody:
    """A system in which some strings and springs, such as those of compressible bars, are
    elastic-plastic: ``yielding(system, {"s1": 60.0, "b1 elasticity": 900.0})``.

    limits [N]: the load at which each yields, a string under tension, a spring also under
    compression; rest lengths follow at samples, a `period` [s] apart, with an error of second order
    in it. What yielding dissipates is negative work in the ledger; rest lengths so far are part of
    the state, and commands of the part "plasticity"."""
    check_argument("yielding", "system", system, instance(Multibody))
    check_argument("yielding", "limits", limits, instance(Mapping))
    if any(isinstance(part, Plasticity) for part in system.parts):
        raise PartError(
            "yielding: this system has a 'plasticity' already; name all limits in one call."
        )
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
        raise PartError(f"yielding: {name!r} is no String or Spring; name one.", code="name")
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
