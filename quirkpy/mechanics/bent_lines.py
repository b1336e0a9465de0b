"""How bodies that bend are shown: straight pieces between points that follow the modes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist

from quirkpy.kernels.base.states import attitudes_of, positions_of
from quirkpy.maths.rotations import product, rotate
from quirkpy.maths.types import Floats, Ints
from quirkpy.mechanics.bending import modes_of
from quirkpy.parts.beam import Beam
from quirkpy.parts.body import Body
from quirkpy.parts.modal import PointModes
from quirkpy.parts.modal_body import ModalBody
from quirkpy.parts.shapes import Box, Cylinder, Shape
from quirkpy.tables.tables import Tables

#: Pieces of a beam, and most points of a body of nodes.
PIECES, MOST_POINTS = 16, 65
#: Along -x to this share of a way, turns to it are about z [1].
BACKWARDS = 1e-9
#: Half the width of a line without a radius, as a share of its length [1].
NARROW = 0.004


class BentLine(NamedTuple):
    """A body that bends, as straight pieces: its row in the tables, its points and how they move
    with its modes, numbers of the points at both ends of each piece (m, 2), and what a piece looks
    like while the body is straight (m,), lengthwise along its x axis."""

    row: int
    points: tuple[PointModes, ...]
    ends: Ints
    shapes: tuple[Shape, ...]

    @classmethod
    def of(cls, body: Body, row: int) -> BentLine | None:
        """The pieces of a beam, or of a body of nodes without a shape; None for others."""
        if isinstance(body, Beam):
            places = [body.at(share).at for share in np.linspace(0.0, 1.0, PIECES + 1).tolist()]
            ends = np.stack([np.arange(PIECES), np.arange(1, PIECES + 1)], axis=1)
            return cls._through(body, row, np.array(places), ends, body.radius)
        if isinstance(body, ModalBody) and body.shape is None:
            nodes = _spread(np.array(body.nodes))
            return cls._through(body, row, nodes, _shortest_net(nodes), None)
        return None

    @classmethod
    def _through(
        cls, body: Body, row: int, places: Floats, ends: Ints, radius: float | None
    ) -> BentLine:
        lengths = np.linalg.norm(places[ends[:, 1]] - places[ends[:, 0]], axis=1).tolist()
        wide = 2.0 * NARROW * float(np.ptp(places, axis=0).max())
        shapes: list[Shape] = [
            Box((length, wide, wide)) if radius is None else Cylinder(radius, length)
            for length in lengths
        ]
        points = tuple(body.modes_at((x, y, z)) for x, y, z in places.tolist())
        return cls(row, points, ends, tuple(shapes))

    def places(self, amounts: Floats) -> Floats:
        """Of the points, in body axes (k, 3) [m]."""
        drawn = [np.einsum("i,kij,j->k", amounts, p.shortening, amounts) for p in self.points]
        moved = [p.position + amounts @ p.displacement for p in self.points]
        return np.array(moved) - 0.5 * np.array(drawn)

    def poses(self, r: Floats, q: Floats, amounts: Floats) -> tuple[Floats, Floats]:
        """Of the pieces, of a body at r (3,) that is turned by q (4,): middles (m, 3) and
        orientations (m, 4)."""
        one, two = self.places(amounts)[self.ends].swapaxes(0, 1)
        turns = product(np.broadcast_to(q, (len(one), 4)), _turns_to(two - one))
        return r + rotate(np.broadcast_to(q, turns.shape), 0.5 * (one + two)), turns


def bent_lines(tables: Tables) -> tuple[BentLine, ...]:
    """Bent lines of all bodies that have any."""
    found = (BentLine.of(body, k) for k, body in enumerate(tables.bodies) if body.modal is not None)
    return tuple(line for line in found if line is not None)


def poses_of(
    lines: Sequence[BentLine], tables: Tables, rows: Floats, tail: Floats, exaggerate: float = 1.0
) -> tuple[Floats, Floats]:
    """Of all pieces of some lines at a state: rows of its bodies, and its tail; exaggerate: factor
    of all bending.  Middles (m, 3) [m] and orientations (m, 4)."""
    r, q = np.zeros((0, 3)), np.zeros((0, 4))
    for line in lines:
        amounts = exaggerate * modes_of(tables, line.row, tail)[0]
        own = line.poses(positions_of(rows)[line.row], attitudes_of(rows)[line.row], amounts)
        r, q = np.concatenate([r, own[0]]), np.concatenate([q, own[1]])
    return r, q


def _turns_to(ways: Floats) -> Floats:
    """The smallest rotations from the x axis to some directions (m, 3), as quaternions (m, 4)."""
    x, y, z = (ways / np.linalg.norm(ways, axis=1)[:, None]).T
    back = x < BACKWARDS - 1.0
    out = np.stack([1.0 + x, 0.0 * x, -z, np.where(back, 1.0, y)], axis=1)
    return np.asarray(out / np.linalg.norm(out, axis=1)[:, None])


# --- bodies of nodes ------------------------------------------------------------------------------
def _spread(nodes: Floats) -> Floats:
    """Nodes that are far from each other, at most so many: each the farthest from those before."""
    chosen, away = [0], np.linalg.norm(nodes - nodes[0], axis=1)
    while len(chosen) < min(MOST_POINTS, len(nodes)) and away.max() > 0.0:
        chosen.append(int(np.argmax(away)))
        away = np.minimum(away, np.linalg.norm(nodes - nodes[chosen[-1]], axis=1))
    return nodes[chosen]


def _shortest_net(places: Floats) -> Ints:
    """The shortest net between points: the numbers of two of them for each piece (m, 2)."""
    net = minimum_spanning_tree(cdist(places, places)).tocoo()
    return np.stack([net.row, net.col], axis=1).astype(np.int64)
