"""`Known`: the nodes found so far."""

from __future__ import annotations

from typing import Any

import numpy as np

from quirkpy.explore.model.graph import Node, node_of
from quirkpy.explore.reduce.holdings import Holdings
from quirkpy.explore.scope.identity import REPORTED_MISS, Shapes, poses_of
from quirkpy.explore.scope.scope import Scope
from quirkpy.kernels.users.modal import points_of
from quirkpy.maths.types import Floats

#: Poses of which no number differs by more than this share of the tolerance are one shape as they
#: stand.
SURELY = 0.125
#: So many records are remembered at once, with the nodes that they describe.
REMEMBERED = 2048


class Known:
    """The nodes found so far, indexed by shape and by their open links."""

    def __init__(self, study: Scope) -> None:
        self.study = study
        self.shapes: Shapes = study.shapes
        self.nodes: list[Node] = []
        self.poses: list[Floats] = []
        self.holdings = Holdings(study)
        self.prints: Floats = np.zeros((0, 0))
        self.near_misses: list[tuple[str, str, float]] = []
        self.told: dict[Any, Node] = {}

    def place(self, record: dict[str, Any]) -> tuple[Node, bool]:
        """The node that a record describes, and whether it is a new one: the first that it matches,
        so that the same record describes the same node ever after."""
        turns = tuple(record.get("turns", {}).items())
        key = turns, *(tuple(map(tuple, record[name])) for name in ("r", "q", "links"))
        key = (*key, tuple(record.get("further", ())))
        if key in self.told:
            return self.told[key], False
        node, new = self._find(record)
        if len(self.told) == REMEMBERED:
            self.told.clear()
        self.told[key] = node
        return node, new

    def _find(self, record: dict[str, Any]) -> tuple[Node, bool]:
        """The node that a record describes which is not remembered, and whether it is a new one."""
        node = node_of(record, len(self.nodes), self.study.system.bodies)
        pose, misses = poses_of(node.state.r, node.state.q), []
        mine, tolerance = self.shapes.fingerprint(pose)[None], self.shapes.tolerance
        close = (
            abs(self.prints - mine) <= REPORTED_MISS * tolerance * max(1, len(pose))
            if self.nodes
            else np.zeros((0, 1))
        )
        for k in np.flatnonzero(close.all(axis=1)):
            other = self.nodes[int(k)]
            surely = abs(self.poses[int(k)] - pose).max(initial=0.0) <= SURELY * tolerance
            gap = 0.0 if surely else self.shapes.match(self.poses[int(k)], pose)[0]
            gap = max(gap, self.bent_apart(other, node))
            alike = gap <= tolerance and self.study.turns.agree(other.state, node.state)
            if alike and self.holdings.are_equivalent(other, node):
                return other, False
            if tolerance < gap <= REPORTED_MISS * tolerance and len(
                self.holdings.open(other)
            ) == len(self.holdings.open(node)):
                misses.append((other.key, node.key, gap))
        self.near_misses += misses
        self._add(node, pose, mine)
        return node, True

    def bent_apart(self, one: Node, two: Node) -> float:
        """How far bodies are bent otherwise in two nodes [m]: amounts of modes are in body axes,
        which turn with the whole."""
        points = points_of(self.study.system.tables)
        return points.displaced(one.state.further, two.state.further) if len(points.owners) else 0.0

    def _add(self, node: Node, pose: Floats, mine: Floats) -> None:
        """Add a new node with its pose (n, 7) and its fingerprint (1, m)."""
        self.prints = np.concatenate([self.prints, mine]) if self.nodes else mine
        self.nodes.append(node)
        self.poses.append(pose)
