"""`Holdings`: what holds the faces that stand open at a node, and when two nodes of one shape are held alike.

Pairs in range can be chosen anew, so what holds them at a node is no part of it.  A link whose faces stand open is: it
can be kept or let go, and no other joint can take its place there.  The same body may hang on either of two others, at
an edge that all three share, in one and the same pose; then different things can be chosen, and different things come
of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from quirkpy.explore.choices import Link
from quirkpy.explore.graph import Node
from quirkpy.explore.identity import poses_of
from quirkpy.explore.study import Study
from quirkpy.explore.symmetry import Exchange, Symmetry
from quirkpy.tables.merge import turned


class Holdings:
    """What holds nodes of a study open."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self._sensors: dict[tuple[int, int, int], dict[int, int] | None] = {}

    def open(self, node: Node) -> frozenset[Link]:
        """The links of a node whose faces are not in range."""
        near = {pair for pair, _ in self.study.in_range(node.state)}
        return frozenset(link for link in node.links if link.pair not in near)

    def alike(self, one: Node, two: Node) -> bool:
        """Whether something that carries the pose of one node onto that of another carries its open links onto those of
        the other."""
        mine, theirs = self.open(one), self.open(two)
        if len(mine) != len(theirs) or not mine:
            return len(mine) == len(theirs)
        poses = (poses_of(node.state.r, node.state.q) for node in (one, two))
        return any(self._said(to, ways, mine) == theirs for to, ways in self.study.shapes.exchanges(*poses))

    def _said(self, to: Sequence[int], ways: Sequence[int], links: frozenset[Link]) -> frozenset[Link | None]:
        """Some links after an exchange of bodies; None for one that no pair and option of the study is then."""
        exchange = self._exchange(to, ways)
        if exchange is None:
            return frozenset([None])
        return frozenset(self._symmetry.link(exchange, link) for link in links)

    def _exchange(self, to: Sequence[int], ways: Sequence[int]) -> Exchange | None:
        """The exchange in which bodies become others after some of their own turns, whatever forces say; None where a
        sensor finds no counterpart."""
        turns = self.study.shapes.turns
        sensors = {k: k for k, sensor in enumerate(self.study.sensors) if sensor.site.body.fixed}
        for a, (b, way) in enumerate(zip(to, ways, strict=True)):
            found = self._carried(a, b, way)
            if found is None:
                return None
            sensors |= found
        own = np.array([turns[b][way] for b, way in zip(to, ways, strict=True)])
        return Exchange(tuple(to), own, sensors, {})

    def _carried(self, a: int, b: int, way: int) -> dict[int, int] | None:
        """Which sensor of body b each of body a becomes."""
        key = a, b, way
        if key not in self._sensors:
            turn = turned(np.broadcast_to(self.study.shapes.turns[b][way], (3, 4)), np.eye(3)).T
            one, two = (self.study.system.bodies[k] for k in (a, b))
            self._sensors[key] = self._symmetry.carried_sensors(turn, one, two)
        return self._sensors[key]

    @cached_property
    def _symmetry(self) -> Symmetry:
        return Symmetry(self.study)
