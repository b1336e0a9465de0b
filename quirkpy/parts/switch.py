"""`Switch`: the active parts from a time or an event of a run on, or from where it has settled."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from quirkpy.parts.checks import (
    angle_up_to,
    number,
    optional,
    share,
    show,
    small_of_either_sense,
    text,
    texts,
)
from quirkpy.parts.event import Event
from quirkpy.parts.part import Part, checked


class Settled(Part):
    """The moment of a `Switch` at which everything rests for good, as `settle` certifies it:
    ``Switch(qp.Settled(), forces=("pull",))``.

    What follows begins in that equilibrium itself, and the energy of the motion that was left is
    lost. An unstable one counts only for a switch with a `nudge`, without which nothing would leave
    it. rest: the share of the highest speed at which the equilibrium is sought, as in `settle`."""

    rest: float = checked(share, default=1e-3, kw_only=True)


def _moment(value: Any) -> float | Event | Settled:
    if isinstance(value, (Event, Settled)):
        return value
    try:
        return number(value)
    except (TypeError, ValueError):
        raise TypeError(
            f"is {show(value)}, but must be a time [s], an event, such as qp.AtRest(), or "
            "qp.Settled()"
        ) from None


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        raise TypeError(f"is the text {show(value)}, but must be a list of names: [{value!r}]")
    return texts(value)


def _parameters(value: Any) -> tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]:
    """{"spring": {"stiffness": 0.1}} as pairs, which are immutable."""
    pairs = value.items() if isinstance(value, Mapping) else value
    try:
        parted = [(name, dict(fields)) for name, fields in pairs]
    except (TypeError, ValueError):
        raise TypeError(
            f"is {show(value)}, but must be a dict, such as {{'spring': {{'stiffness': 0.1}}}}"
        ) from None
    return tuple((name, tuple(fields.items())) for name, fields in parted)


class Switch(Part):
    """A change of the active parts in a run: ``Switch(10.0, joints=("lock",), forces=("pull",))``.

    when: a time [s], an event, at whose located time it happens, or `Settled()`; of several
    switches each is waited for when the one before has happened. joints, forces: the names of all
    active ones from then on, as in `System.choosing`; None: no change. parameters: new values of
    fields of parts, by their names: ``{"spring": {"stiffness": 0.1}}``.

    nudge [m or rad]: a displacement of the body that moves most, along the most unstable mode, if
    what then acts leaves everything at rest in an unstable equilibrium, as in `settle`; a negative
    one is in the other sense.

    Joints become active as in a plastic impact: momenta are conserved, and poses are projected onto
    the joints if that moves no body further than `reach` [m or rad]; otherwise the run raises an
    error."""

    when: float | Event | Settled = checked(_moment)
    joints: tuple[str, ...] | None = checked(optional(_names), default=None, kw_only=True)
    forces: tuple[str, ...] | None = checked(optional(_names), default=None, kw_only=True)
    parameters: Any = checked(_parameters, default=(), kw_only=True)
    reach: float = checked(angle_up_to(math.pi, "pi"), default=1e-3, kw_only=True)
    nudge: float = checked(small_of_either_sense, default=0.0, kw_only=True)
    name: str = checked(text, default="switch", kw_only=True)

    def validate(self) -> None:
        if self.joints is None and self.forces is None and not (self.parameters or self.nudge):
            raise self.refuse("it changes nothing; give joints=, forces=, parameters= or nudge=.")
