"""Strings: what pulls along a way from site to site, and never pushes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from quirkpy.maths.triples import NO_TURN, add, scale, sub
from quirkpy.maths.types import Vector
from quirkpy.parts.body import Body, Site
from quirkpy.parts.checks import not_negative, optional, positive, show, whole
from quirkpy.parts.force import Element
from quirkpy.parts.forces import BetweenPoints, check_limit, noun, strength_in_time
from quirkpy.parts.joints import Fixed
from quirkpy.parts.part import Part, checked
from quirkpy.parts.schedule import TimeFunction

#: The density of point masses, which determines the size of their balls [kg/m3].
BALL_DENSITY = 8000.0


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
    counts as work. limit_load [N]: where k (L - L0) reaches it, the string yields: k (L - L0)
    remains there until L decreases again, and then L0 has become longer, for the rest of the run
    and in its final state. Runs locate where it becomes taut or slack, yields or is elastic again,
    and record all of these as events. mass [kg]: then it consists of parts, ``Multibody(*string,
    ...)``: `beads` point masses "s bead 1" ... between pieces "s 1" ..., each a string, and half of
    a bead's mass at each end, fixed to the body there."""

    stiffness: float | TimeFunction | None = checked(
        optional(strength_in_time), default=None, kw_only=True
    )
    EA: float | None = checked(optional(positive), default=None, kw_only=True)
    rest_length: float | TimeFunction | None = checked(
        optional(strength_in_time), default=None, kw_only=True
    )
    damping: float = checked(not_negative, default=0.0, kw_only=True)
    limit_load: float | None = checked(optional(positive), default=None, kw_only=True)
    mass: float = checked(not_negative, default=0.0, kw_only=True)
    beads: int = checked(whole, default=3, kw_only=True)
    over: Sequence[Site] = checked(sites_in_turn, default=(), kw_only=True)

    def validate(self) -> None:
        super().validate()
        if (self.stiffness is None) == (self.EA is None):
            raise self.refuse("give its stiffness [N/m], or EA [N], and not both.")
        if self.EA is not None and not isinstance(rest := self._rest(), float):
            raise self.refuse(f"EA goes with a rest_length that is a number, not a {noun(rest)}.")
        if self.EA is not None and rest == 0.0:
            raise self.refuse("EA needs a rest_length above 0: stiffness is EA / rest_length.")
        check_limit(self, self.limit_load)
        if self.mass and self.over:
            raise self.refuse("it has a mass, which only a string between two points may have.")

    def __iter__(self) -> Iterator[Part]:
        """The parts of which it consists where it has a mass; else itself."""
        return chain_of(self) if self.mass else iter((self,))

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
        return (
            stiffness, rest, self.damping, 1.0, float(len(self.over)), self.limit_load or 0.0,
        )  # fmt: skip

    def elements(self) -> tuple[Element, ...]:
        (rope,) = super().elements()
        steps = list(pairwise(self.way()))
        return (
            rope._replace(site1=steps[0][0], site2=steps[0][1]),
            *(Element("stretch", *step) for step in steps[1:]),
        )


# --- strings with mass ----------------------------------------------------------------------------
def point_mass(name: str, mass: float, place: Vector) -> Body:
    """A small ball; place [m] in N."""
    radius = (3.0 * mass / (4.0 * math.pi * BALL_DENSITY)) ** (1.0 / 3.0)
    return Body.sphere(name, radius, mass, position=place)


def chain_of(string: String) -> Iterator[Part]:
    """The parts of a string with a mass m: n beads of m / (n + 1), n + 1 pieces with the stiffness
    of the whole, and half of that mass at each end that moves."""
    count = string.beads + 1
    share = string.mass / count
    first, second = string.sites()
    one, two = first.placed()[0], second.placed()[0]
    beads = [
        point_mass(f"{string.name} bead {k}", share, add(one, scale(k / count, sub(two, one))))
        for k in range(1, count)
    ]
    yield from beads
    for word, site, place in (("first", first, one), ("second", second, two)):
        if not site.body.fixed:
            tip = point_mass(f"{string.name} {word} end", 0.5 * share, place)
            yield tip
            yield Fixed(f"{tip.name} held", site.body, tip)
    points = [first, *(bead.site_placed("middle", None, NO_TURN) for bead in beads), second]
    for k, ends in enumerate(pairwise(points), 1):
        yield piece_of(string, k, count, *ends)


def piece_of(string: String, k: int, count: int, first: Site, second: Site) -> String:
    """Piece k of a string that is divided equally."""
    rest, stiffness = string.rest_length, string.stiffness
    changed: dict[str, Any] = {
        "name": f"{string.name} {k}", "first": first, "second": second, "at1": None, "at2": None,
        "stiffness": None if stiffness is None else stiffness * float(count),
        "rest_length": None if rest is None else rest * (1.0 / count),
        "damping": string.damping * count, "mass": 0.0,
    }  # fmt: skip
    return dataclasses.replace(string, **changed)
