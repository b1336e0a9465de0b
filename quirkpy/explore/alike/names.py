"""`Names`: names of bodies, joints and forces under an exchange of modules, and reasons rewritten
with these names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from quirkpy.explore.alike.symmetry import IDENTITY, Exchange, Symmetry
from quirkpy.explore.scope.choices import Link
from quirkpy.parts.force import Force
from quirkpy.rest.reason import TOLD, Of, Reason, parse_reason


class Names:
    """A map of names under an exchange, computed when first asked for."""

    def __init__(self, symmetry: Symmetry) -> None:
        self.symmetry, self.study = symmetry, symmetry.study
        self._made: dict[tuple[str, Exchange], dict[str, str]] = {}

    def translate(self, exchange: Exchange, reason: Reason) -> Reason | None:
        """A reason with all names mapped; None if one of them has no image."""

        def other(of: Of, parts: tuple[str, ...]) -> list[str] | None:
            names = self.of(of, exchange)
            after = [names[part] for part in parts if part in names]
            return in_order(parts, after, list(names)) if len(after) == len(parts) else None

        if self._idle(exchange):
            return reason
        known = reason
        if reason.kind == TOLD:  # an older journal, which kept the text alone
            known = parse_reason(str(reason), lambda of: self.of(of, exchange)) or reason
        return known.rename(other)

    @staticmethod
    def _idle(exchange: Exchange) -> bool:
        """Whether the exchange is the identity on all bodies and names."""
        still = bool((abs(exchange.own) == IDENTITY).all()) and not exchange.renames
        return still and all(one == two for one, two in exchange.sensors.items())

    def of(self, of: Of | Literal["pairs", "joints"], exchange: Exchange) -> dict[str, str]:
        """The map of all names of one kind, in the order of the study, as far as it is defined."""
        key = of, exchange
        if key not in self._made:
            make = {"bodies": self._bodies, "forces": self._forces, "stops": self._stops,
                    "pairs": self._pairs, "joints": self._joints}  # fmt: skip
            self._made[key] = make[of](exchange)
        return self._made[key]

    def part(self, exchange: Exchange, name: str) -> str:
        """The image of a body or joint; fixed bodies map to themselves."""
        bodies = self.of("bodies", exchange)
        return bodies[name] if name in bodies else self.of("joints", exchange).get(name, name)

    def _pairs(self, exchange: Exchange) -> dict[str, str]:
        pairs = self.study.pairs
        to = (pairs[self.symmetry.pair(exchange, k)].name for k in range(len(pairs)))
        return {pair.name: name for pair, name in zip(pairs, to, strict=True)}

    def _bodies(self, exchange: Exchange) -> dict[str, str]:
        bodies = self.study.system.bodies
        return {name: bodies[to] for name, to in zip(bodies, exchange.to, strict=True)}

    def _forces(self, exchange: Exchange) -> dict[str, str]:
        """Pairs of equivalent forces: those that always act, and those of each potential with those
        of its image."""
        system = [part for part in self.study.system.parts if isinstance(part, Force)]
        chosen, always = self.study.forces, (*self.study.always, *system)
        every = [(always, always)]
        every += [(chosen[one], chosen[two]) for one, two in exchange.potentials.items()]
        out: dict[str, str] = {}
        for forces, others in every:
            left = [(other.name, self.symmetry.says(other)) for other in others]
            for force in forces:
                mine = self.symmetry.says(force, exchange)
                found = next((one for one in left if mine is not None and one[1] == mine), None)
                if found is not None:
                    left.remove(found)
                    out[force.name] = found[0]
        return out

    def _stops(self, exchange: Exchange) -> dict[str, str]:
        """The two sides of every stop."""
        joints = self.of("joints", exchange).items()
        sides = ("lower", "upper")
        return {f"{one} {side}": f"{two} {side}" for one, two in joints for side in sides}

    def _joints(self, exchange: Exchange) -> dict[str, str]:
        """The joints that may hold pairs, with their stops. (A joint of the system itself excludes
        exchanges.)"""
        out: dict[str, str] = {}
        for link in self._links():
            there = self.symmetry.link(exchange, link)
            if there is not None:
                mine, theirs = (self._parts_of(one) for one in (link, there))
                out |= dict(zip(mine, theirs, strict=True))
        return out

    def _links(self) -> Iterator[Link]:
        """All links that are possible in the study."""
        for k, pair in enumerate(self.study.pairs):
            for roll in range(len(self.study.rolls(pair))):
                for option in self.study.options_of(pair):
                    yield Link(k, roll, option.label)

    def _parts_of(self, link: Link) -> list[str]:
        option = self.study.option(self.study.pairs[link.pair], link.option)
        parts: tuple[Any, ...] = self.study.joint_parts(link.pair, link.roll, option)
        return [part.name for part in parts]


def in_order(before: Sequence[str], after: list[str], order: Sequence[str]) -> list[str]:
    """The images of some names.  They are listed in the order of the study if the given ones were;
    names that the study does not list come last."""
    index = {name: k for k, name in enumerate(order)}
    place = [index.get(name, len(index)) for name in before]
    if place != sorted(place):
        return after
    return sorted(after, key=lambda name: index.get(name, len(index)))
