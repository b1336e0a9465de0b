"""Rest lengths of what has yielded: the controller that keeps them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from quirkpy.maths.types import Floats
from quirkpy.parts.checks import flag, texts
from quirkpy.parts.controller import Controller
from quirkpy.parts.force import Force
from quirkpy.parts.forces import Spring
from quirkpy.parts.part import Part, PartError, checked
from quirkpy.parts.schedule import Schedule
from quirkpy.parts.strings import String

#: The name of the controller in runs and states.
PLASTICITY = "plasticity"
#: How far apart the samples are that repeat rest lengths; these change between samples [s].
PERIOD = 100.0


class Plasticity(Controller):
    """Keeps the rest lengths of all strings and springs that may yield, as its commands. A system
    adds it; what they change by, and when, is found within the steps of a run."""

    compiled: bool = checked(flag, default=True, kw_only=True)
    drives: Sequence[str] = checked(texts, default=(), kw_only=True)  # none where all are recorded

    @staticmethod
    def command(t: float, measured: Floats, memory: Floats) -> Floats:  # type: ignore[override]
        """The rest lengths so far."""
        return memory


def with_plasticity(parts: Iterable[Part]) -> list[Part]:
    """Parts, with the controller of what may yield among them."""
    listed = list(parts)
    limited = [k for k, p in enumerate(listed) if getattr(p, "limit_load", None) is not None]
    if not limited:
        return listed
    some = {k: elastic_plastic(listed[k]) for k in limited if may_yield(listed[k])}
    for part in listed:
        if getattr(part, "name", "") == PLASTICITY:
            raise PartError(
                f"Multibody: a part is called {PLASTICITY!r}, as the rest lengths of what has a "
                "limit_load are; give it another name."
            )
    keeper = Plasticity(
        PLASTICITY, period=PERIOD, drives=[f"{p.name}.rest_length" for p in some.values()],
        memory=[p.value_of("rest_length") for p in some.values()],
    )  # fmt: skip
    return [*(some.get(k, part) for k, part in enumerate(listed)), keeper]


def may_yield(part: Any) -> bool:
    """Whether a part has a load at which it yields, and no record of its rest lengths: a schedule
    of steps, as strings of recorded runs have."""
    if not isinstance(part, (String, Spring)) or part.limit_load is None:
        return False
    rest = part.rest_length
    return not (isinstance(rest, Schedule) and rest.interpolation == "hold")


def elastic_plastic(part: Any) -> Force:
    """A string or spring that may yield with its stiffness and rest length as numbers."""
    values: dict[str, Any] = {name: part.value_of(name) for name in ("stiffness", "rest_length")}
    rest = values["rest_length"]
    if not isinstance(rest, float) or rest == 0.0:
        raise part.refuse("limit_load goes with a rest_length that is a number above 0.")
    if isinstance(part, String):
        values["EA"] = None
    changed: Force = dataclasses.replace(part, **values)
    return changed
