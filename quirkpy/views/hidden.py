"""Hidden surfaces: flat pieces in space, cut along each other's planes and sorted by depth, the
farthest first.

The view is by parallel rays. For a plane through one of the pieces, whatever lies behind it cannot
hide what lies before it; so the pieces are sorted into those behind, those in it and those before,
cut where they cross it, and each half is sorted recursively (Fuchs, Kedem and Naylor, 1980). This
also resolves cyclic overlaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from quirkpy.maths.constants import TINY
from quirkpy.maths.types import Bools, Floats, Ints

#: A face is seen edge-on where the cosine between its normal and the view is no more than this [1].
EDGE_ON = 1e-9
#: A point lies in a plane within this share of the whole extent.
IN_PLANE = 1e-7
#: Number of planes tried for the one that cuts the fewest pieces.
TRIED = 8


class Piece(NamedTuple):
    """A flat convex piece, or a line of two corners; `number` identifies its owner.

    corners (k, 3) [m]; edges (k,): whether the edge from a corner to the next is a real one, not a
    cut."""

    number: int
    corners: Floats
    edges: tuple[bool, ...]

    @classmethod
    def whole(cls, number: int, corners: Floats) -> Piece:
        """A piece before any cut."""
        return cls(number, corners, (True,) * len(corners))


class Cloud(NamedTuple):
    """The corners of many pieces in one array (n, 3), and where each piece begins."""

    points: Floats
    first: Ints

    @classmethod
    def of(cls, pieces: Sequence[Piece]) -> Cloud:
        """All corners of some pieces."""
        sizes = [len(piece.corners) for piece in pieces]
        return cls(np.concatenate([piece.corners for piece in pieces]), np.cumsum([0, *sizes[:-1]]))

    def sides(self, normal: Floats, offset: float, width: float) -> tuple[Bools, Bools]:
        """Which pieces have a corner behind a plane, and which one before it."""
        away = self.points @ normal - offset
        return np.minimum.reduceat(away, self.first) < -width, np.maximum.reduceat(
            away, self.first
        ) > width


def sort_by_depth(pieces: Sequence[Piece], towards: Floats) -> list[Piece]:
    """The pieces, some of them in parts, such that none is hidden by one that comes before it.

    Pieces in one plane keep their order; lines come after the pieces in whose plane they lie."""
    seen = [piece for piece in pieces if not on_edge(piece, towards)]
    if not seen:
        return []
    every = np.concatenate([piece.corners for piece in seen])
    width = IN_PLANE * float(np.ptp(every, axis=0).max(initial=0.0))
    out: list[Piece] = []
    waiting = [(False, seen)]
    while waiting:
        done, group = waiting.pop()
        plane = None if done else best_plane(group, width)
        if plane is None:
            out += group if done else sort_by_middle(group, towards)
            continue
        normal, offset = plane if plane[0] @ towards > 0.0 else (-plane[0], -plane[1])
        behind, within, before = split_by_plane(group, normal, offset, width)
        within.sort(key=lambda piece: len(piece.corners) < 3)  # lines last; a stable sort
        waiting += [
            entry for entry in ((False, before), (True, within), (False, behind)) if entry[1]
        ]
    return out


def on_edge(piece: Piece, towards: Floats) -> bool:
    """Whether a flat piece is seen edge-on."""
    return len(piece.corners) > 2 and not abs(normal_of(piece.corners) @ towards) > EDGE_ON


def sort_by_middle(group: Sequence[Piece], towards: Floats) -> list[Piece]:
    """Pieces in the order of their centres, the farthest from the viewer first."""
    return sorted(group, key=lambda piece: float(piece.corners.mean(axis=0) @ towards))


def normal_of(corners: Floats) -> Floats:
    """The unit normal of a flat piece, by Newell's sum, which is robust against short edges."""
    normal = np.cross(corners, np.roll(corners, -1, axis=0)).sum(axis=0)
    return np.asarray(normal / max(float(np.linalg.norm(normal)), TINY))


def normals_of(faces: Sequence[Floats]) -> Floats:
    """The unit normals of flat pieces with any numbers of corners (n, 3)."""
    out, sizes = np.empty((len(faces), 3)), np.array([len(face) for face in faces], dtype=np.int64)
    for size in np.unique(sizes):
        mine = np.flatnonzero(sizes == size)
        corners = np.stack([faces[int(k)] for k in mine])
        corners = corners - corners[:, :1]
        sums = np.cross(corners, np.roll(corners, -1, axis=1)).sum(axis=1)
        out[mine] = sums / np.maximum(np.linalg.norm(sums, axis=1), TINY)[:, None]
    return out


def best_plane(group: Sequence[Piece], width: float) -> tuple[Floats, float] | None:
    """Among the planes of a few pieces the one that cuts the fewest others; None: no plane
    separates any."""
    flat = [piece for piece in group if len(piece.corners) > 2]
    if not flat or len(group) == 1:
        return None
    cloud = Cloud.of(group)
    best: tuple[int, Floats, float] | None = None
    for piece in flat[:: max(1, len(flat) // TRIED)]:
        origin = piece.corners.mean(axis=0)
        normal = normal_of(piece.corners - origin)
        behind, before = cloud.sides(normal, float(origin @ normal), width)
        cuts = int((behind & before).sum())
        if best is None or cuts < best[0]:
            best = cuts, normal, float(origin @ normal)
        if cuts == 0:
            break
    assert best is not None
    return best[1:]


def split_by_plane(
    group: Sequence[Piece], normal: Floats, offset: float, width: float
) -> tuple[list[Piece], list[Piece], list[Piece]]:
    """The pieces behind a plane, in it, and before it."""
    behind: list[Piece] = []
    within: list[Piece] = []
    before: list[Piece] = []
    for piece, back, front in zip(
        group, *Cloud.of(group).sides(normal, offset, width), strict=True
    ):
        if back and front:
            away = piece.corners @ normal - offset
            behind.append(half(piece, -away, width))
            before.append(half(piece, away, width))
        else:
            (behind if back else before if front else within).append(piece)
    return behind, within, before


def half(piece: Piece, away: Floats, width: float) -> Piece:
    """The part of a piece where `away`, the distance of its corners from a plane, is not
    negative."""
    corners, edges = [], []
    n = len(piece.corners)
    closed = n > 2
    for i in range(n):
        j = (i + 1) % n
        one, two = float(away[i]), float(away[j])
        inside, next_inside = one > -width, two > -width
        if inside:
            corners.append(piece.corners[i])
            edges.append(piece.edges[i])
        if inside != next_inside and max(abs(one), abs(two)) > width and (closed or j > i):
            touches = abs(one) <= width if inside else abs(two) <= width
            if not touches:
                share = one / (one - two)
                corners.append(piece.corners[i] + share * (piece.corners[j] - piece.corners[i]))
                edges.append(False if inside else piece.edges[i])
            elif inside:
                edges[-1] = False
    return Piece(
        piece.number, np.array(corners), tuple(edges) if closed else (True,) * len(corners)
    )
