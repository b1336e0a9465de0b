"""Strings: what pulls along a way from site to site, and never pushes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from quirkpy.parts.body import Site
from quirkpy.parts.checks import not_negative, optional, positive, show
from quirkpy.parts.force import Element
from quirkpy.parts.forces import BetweenPoints, noun, strength_in_time
from quirkpy.parts.part import checked
from quirkpy.parts.schedule import TimeFunction


def sites_in_turn(value: Any) -> tuple[Site, ...]:
    """A sequence of sites; None and a single one are accepted."""
    some = (value,) if isinstance(value, Site) else value
    if not isinstance(some, (list, tuple)) or not all(isinstance(one, Site) for one in some):
        raise TypeError(f"is {show(value)}, but must be a list of sites")
    return tuple(some)


class String(BetweenPoints):
    """A string between two points: tension k (L - L0) + c dL/dt where that is positive, else zero.
    U = k (L - L0)^2 / 2 while L > L0.

    stiffness k [N/m], or EA [N] instead, then k = EA / L0; rest_length L0 [m] (default: L in the
    initial poses), damping c [N s/m]. over: sites over which it runs from the first point to the
    second, without friction and so with one tension; L is the length of that path. stiffness and
    rest_length may be functions of time, such as a `Schedule`: the change of U that they cause
    counts as work. Runs locate where it becomes taut or slack, and record both as events."""

    stiffness: float | TimeFunction | None = checked(
        optional(strength_in_time), default=None, kw_only=True
    )
    EA: float | None = checked(optional(positive), default=None, kw_only=True)
    rest_length: float | TimeFunction | None = checked(
        optional(strength_in_time), default=None, kw_only=True
    )
    damping: float = checked(not_negative, default=0.0, kw_only=True)
    over: Sequence[Site] = checked(sites_in_turn, default=(), kw_only=True)

    def validate(self) -> None:
        super().validate()
        if (self.stiffness is None) == (self.EA is None):
            raise self.refuse("give its stiffness [N/m], or EA [N], and not both.")
        if self.EA is not None and not isinstance(rest := self._rest(), float):
            raise self.refuse(f"EA goes with a rest_length that is a number, not a {noun(rest)}.")
        if self.EA is not None and rest == 0.0:
            raise self.refuse("EA needs a rest_length above 0: stiffness is EA / rest_length.")

    def way(self) -> tuple[Site, ...]:
        """The sites from the first point to the second."""
        first, second = self.sites()
        return first, *self.over, second

    def _rest(self) -> Any:
        """The rest length: a number, or a function of time."""
        return self._initial_length() if self.rest_length is None else self.rest_length

    def pair_numbers(self) -> tuple[Any, ...]:
        rest = self._rest()
        stiffness = self.stiffness if self.EA is None else self.EA / rest
        return stiffness, rest, self.damping, 1.0, float(len(self.over))

    def elements(self) -> tuple[Element, ...]:
        (rope,) = super().elements()
        steps = list(pairwise(self.way()))
        return (
            rope._replace(site1=steps[0][0], site2=steps[0][1]),
            *(Element("stretch", *step) for step in steps[1:]),
        )
