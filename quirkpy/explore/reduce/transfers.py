"""`Transfers`: statements about a node, translated to a place of the same shape that a motion has
reached, where interchangeable modules may have changed places or be turned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from quirkpy.explore.alike.cones import Cones
from quirkpy.explore.alike.symmetry import Exchange
from quirkpy.explore.model.changing import LATCHED, latched_at
from quirkpy.explore.model.graph import Node, node_of
from quirkpy.explore.reduce.holdings import Holdings, Matching
from quirkpy.explore.scope.choices import Arrival, Choice, Link
from quirkpy.explore.scope.identity import REPORTED_MISS, Shapes
from quirkpy.explore.scope.scope import Scope


class Likeness(NamedTuple):
    """One identification of a place with a node: the exchange of modules that maps the pose of the
    node onto the place, and the open link of the place for each open link of the node."""

    exchange: Exchange
    matching: Matching
    held: Mapping[int, Link]


class Transfers:
    """Translation between the nodes of a study and places of the same shapes."""

    def __init__(self, study: Scope) -> None:
        self.study = study
        self.holdings = Holdings(study)
        self.cones = Cones(self.holdings.symmetry)

    def choices(self, known: Node, node: Node, choice: Choice) -> Iterator[Choice]:
        """A choice at a node translated to a place of its shape, once for each identification of
        the two."""
        if node is known:
            yield choice
            return
        rolls = dict(self.study.open_pairs(known))
        asked = [
            Link(self.study.numbers[name], rolls[self.study.numbers[name]], label)
            for name, label in choice.joints
        ]
        for way in self._ways(known, node):
            potential = way.exchange.potentials.get(choice.potential)
            links = (self._link(way, link) for link in asked)
            made = sorted(link for link in links if link is not None)
            if potential is not None and [link[:2] for link in made] == self.study.open_pairs(node):
                pairs = self.study.pairs
                yield Choice(
                    tuple((pairs[link.pair].name, link.option) for link in made), potential
                )

    def arrivals_in(self, known: Node, record: Mapping[str, Any]) -> tuple[Arrival, ...]:
        """The links of a place of the shape of a node, given by its record, translated to the node,
        once for each identification, in a fixed order."""
        node, found = node_of(record, known.number, known.state.bodies), set()
        latched = tuple((name, LATCHED) for name in latched_at(self.study, node))
        for way in self._ways(known, node):
            joints = (*self._joints(way, known, set(node.links)), *latched)
            found.add(Arrival(joints, tuple(sorted(way.exchange.potentials))))
        return tuple(sorted(found))

    def _ways(self, known: Node, node: Node) -> Iterator[Likeness]:
        """All identifications of a place with a node."""
        within = REPORTED_MISS * self.study.shapes.tolerance
        held = {link.pair: link for link in known.links}
        for exchange, _, _ in self.holdings.symmetry.carriers(known.state, node.state, within):
            alike = same_shape(self.study.shapes, exchange) and self.cones.is_invariant(exchange)
            matching = self.holdings.matching(exchange, known, node) if alike else None
            if matching is not None:
                yield Likeness(exchange, matching, held)

    def _joints(self, way: Likeness, known: Node, links: set[Link]) -> Iterator[tuple[str, str]]:
        """The pairs of a node with options whose images are given links."""
        pairs, sets = self.study.open_pairs(known), self.study.sets(known)
        for (pair, roll), labels in zip(pairs, sets, strict=True):
            for label in labels:
                if self._link(way, Link(pair, roll, label)) in links:
                    yield self.study.pairs[pair].name, label

    def _link(self, way: Likeness, link: Link) -> Link | None:
        """The image of a link: at open faces the open link of the place that corresponds to it;
        None if there is no such pair."""
        mine = way.held.get(link.pair, link)
        open_here = way.matching.get(mine)
        if open_here is None:
            return self.holdings.symmetry.link(way.exchange, link)
        return open_here if link == mine else open_here._replace(option=link.option)


def same_shape(shapes: Shapes, exchange: Exchange) -> bool:
    """Whether modules are exchanged and turned only as the study's `SameShape` allows."""
    for a, (b, own) in enumerate(zip(exchange.to, exchange.own, strict=True)):
        off = min(
            float(np.linalg.norm(sign * turn - own))
            for turn in shapes.turns[b]
            for sign in (1.0, -1.0)
        )
        if shapes.kinds[a] != shapes.kinds[b] or off > shapes.tolerance:
            return False
    return True
