"""`Known`: the nodes found so far."""

from __future__ import annotations

from typing import Any

import numpy as np

from quirkpy.explore.graph import Node, node_of
from quirkpy.explore.identity import NEAR, Shapes, poses_of
from quirkpy.explore.study import Study
from quirkpy.parts.checks import Floats

#: Poses of which no number differs by more than this share of the tolerance are one shape as they stand.
SURELY = 0.125


class Known:
    """The nodes found so far, by shape and by what holds them open."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.shapes: Shapes = study.shapes
        self.nodes: list[Node] = []
        self.poses: list[Floats] = []
        self.open: list[int] = []  # links of each that are not in range
        self.prints: Floats = np.zeros((0, 0))
        self.near_misses: list[tuple[str, str, float]] = []

    def place(self, record: dict[str, Any]) -> tuple[Node, bool]:
        """The node that a record describes, and whether it is a new one."""
        node = node_of(record, len(self.nodes), self.study.system.bodies)
        pose, misses = poses_of(node.state.r, node.state.q), []
        mine, tolerance = self.shapes.fingerprint(pose)[None], self.shapes.tolerance
        opened = self._open(node)
        close = abs(self.prints - mine) <= NEAR * tolerance * max(1, len(pose)) if self.nodes else np.zeros((0, 1))
        for k in np.flatnonzero(close.all(axis=1)):
            other = self.nodes[int(k)]
            if self.open[int(k)] == opened:
                if abs(self.poses[int(k)] - pose).max(initial=0.0) <= SURELY * tolerance:
                    return other, False
                gap, _ = self.shapes.match(self.poses[int(k)], pose)
                if gap <= tolerance:
                    return other, False
                if gap <= NEAR * tolerance:
                    misses.append((other.key, node.key, gap))
        self.prints = np.concatenate([self.prints, mine]) if self.nodes else mine
        self.nodes.append(node)
        self.poses.append(pose)
        self.open.append(opened)
        self.near_misses += misses
        return node, True

    def _open(self, node: Node) -> int:
        """How many of its links are not in range, so that they are part of the shape."""
        near = {pair for pair, _ in self.study.in_range(node.state)}
        return sum(link.pair not in near for link in node.links)
