"""`Transfers`: what is said of a node, said of the place where a motion has ended in its shape:
modules that are alike may have changed places there, or stand otherwise turned."""

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
    """One way in which a place stands for a node: the exchange of modules that carries the node's
    pose there, and what holds the place open for what holds the node open."""

    exchange: Exchange
    matching: Matching
    held: Mapping[int, Link]


class Transfers:
    """How what is said of nodes of a study is said elsewhere."""

    def __init__(self, study: Scope) -> None:
        self.study = study
        self.holdings = Holdings(study)
        self.cones = Cones(self.holdings.symmetry)

    def choices(self, known: Node, node: Node, choice: Choice) -> Iterator[Choice]:
        """A choice at a node of the graph, said of a place of its shape, in every way in which it
        can be.  What holds the place open stands for what holds the node open."""
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
        """What holds a place of the shape of a node, by its record, said of the node in every way
        in which it can be; in an order that is always the same."""
        node, found = node_of(record, known.number, known.state.bodies), set()
        latched = tuple((name, LATCHED) for name in latched_at(self.study, node))
        for way in self._ways(known, node):
            joints = (*self._joints(way, known, set(node.links)), *latched)
            found.add(Arrival(joints, tuple(sorted(way.exchange.potentials))))
        return tuple(sorted(found))

    def _ways(self, known: Node, node: Node) -> Iterator[Likeness]:
        """All ways in which a place stands for a node."""
        within = REPORTED_MISS * self.study.shapes.tolerance
        held = {link.pair: link for link in known.links}
        for exchange, _, _ in self.holdings.symmetry.carriers(known.state, node.state, within):
            alike = same_shape(self.study.shapes, exchange) and self.cones.is_invariant(exchange)
            matching = self.holdings.matching(exchange, known, node) if alike else None
            if matching is not None:
                yield Likeness(exchange, matching, held)

    def _joints(self, way: Likeness, known: Node, links: set[Link]) -> Iterator[tuple[str, str]]:
        """The pairs of a node, and what they may become there, that become some links."""
        pairs, sets = self.study.open_pairs(known), self.study.sets(known)
        for (pair, roll), labels in zip(pairs, sets, strict=True):
            for label in labels:
                if self._link(way, Link(pair, roll, label)) in links:
                    yield self.study.pairs[pair].name, label

    def _link(self, way: Likeness, link: Link) -> Link | None:
        """What a link becomes: where it holds the node open, what holds that open there; None where
        the exchange leaves no such pair."""
        mine = way.held.get(link.pair, link)
        open_here = way.matching.get(mine)
        if open_here is None:
            return self.holdings.symmetry.link(way.exchange, link)
        return open_here if link == mine else open_here._replace(option=link.option)


def same_shape(shapes: Shapes, exchange: Exchange) -> bool:
    """Whether modules stand for others, and are turned, as the study allows for what is one
    shape."""
    for a, (b, own) in enumerate(zip(exchange.to, exchange.own, strict=True)):
        off = min(
            float(np.linalg.norm(sign * turn - own))
            for turn in shapes.turns[b]
            for sign in (1.0, -1.0)
        )
        if shapes.kinds[a] != shapes.kinds[b] or off > shapes.tolerance:
            return False
    return True
