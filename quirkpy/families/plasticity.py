"""Elastic-plastic strings and bars."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from quirkpy.parts.checks import instance, positive
from quirkpy.parts.forces import Spring
from quirkpy.parts.part import PartError, check_argument
from quirkpy.parts.strings import String
from quirkpy.system.multibody import Multibody


def yielding(system: Multibody, limits: Mapping[str, float]) -> Multibody:
    """A system in which some strings and springs, such as those of compressible bars, are
    elastic-plastic: ``yielding(system, {"s1": 60.0, "b1 elasticity": 900.0})``.

    limits [N]: the `limit_load` of each, at which a string yields under tension, a spring also
    under compression. What yielding takes is dissipated energy in the ledger; rest lengths so far
    are part of the state, and commands of "plasticity"."""
    check_argument("yielding", "system", system, instance(Multibody))
    check_argument("yielding", "limits", limits, instance(Mapping))
    if not limits:
        raise PartError("yielding: limits is empty; name strings or springs, and their loads [N].")
    new = {name: with_limit(system, name, load) for name, load in limits.items()}
    parts, candidates = (
        [new.get(str(getattr(part, "name", "")), part) for part in some]
        for some in (system.parts, system.candidates)
    )
    return Multibody(*parts, candidates=candidates, start=system.start)


def with_limit(system: Multibody, name: str, load: float) -> String | Spring:
    """A string or spring of a system that yields at a load [N]."""
    part = system[name]
    if not isinstance(part, (String, Spring)):
        raise PartError(f"yielding: {name!r} is no String or Spring; name one.", code="name")
    limit = check_argument("yielding", f"limit of {name!r}", load, positive)
    return dataclasses.replace(part, limit_load=limit)
