"""Hidden surfaces by a depth buffer: a picture of very many pieces, in which each pixel shows the
nearest.

Few pieces are cut along each other's planes (`hidden`), which is exact and takes time proportional
to their number to the power 1.5; a depth buffer takes time proportional to their number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from quirkpy.maths.types import Floats, Ints
from quirkpy.views.hidden import Piece

#: Pixels along the longer side of a picture, and the factor of oversampling along each side.
DOTS, FINER = 2400, 2
#: Number of pixels processed at once.
AT_ONCE = 2_000_000
#: A line is drawn over the faces in which it lies: its depth is reduced by this share of the
#: picture.
OVER = 2e-3


class Ink(NamedTuple):
    """Colours of faces (n, 4) and lines (n, 4), opacity 0 is invisible, and widths of lines
    [pixels] (n,)."""

    faces: Floats
    lines: Floats
    widths: Floats


class Canvas:
    """Colours and depths of all pixels of a rectangle (2, 2) [m] of the picture, from bottom to
    top."""

    def __init__(self, box: Floats) -> None:
        sides = box[1] - box[0]
        self.low, self.scale = box[0], DOTS / float(sides.max())
        self.wide, self.high = (max(FINER, int(self.scale * side)) for side in sides)
        self.depth = np.full(self.wide * self.high, -np.inf)
        self.colour = np.zeros((self.wide * self.high, 4))

    def place(self, points: Floats, onto: Floats, towards: Floats) -> Floats:
        """Points in N (..., 3) as pixel coordinates to the right and upwards, with their depths."""
        flat = (points @ onto - self.low) * self.scale
        return np.concatenate([flat, (points @ towards)[..., None] * self.scale], axis=-1)

    def put(self, at: Ints, near: Floats, colours: Floats) -> None:
        """Paint pixels wherever the new depth is at least as near as the old (n,), (n,), (n, 4)."""
        np.maximum.at(self.depth, at, near)
        won = near >= self.depth[at]
        self.colour[at[won]] = colours[won]

    def layer(self) -> Canvas:
        """An empty canvas for transparent pieces, with the depths of this one."""
        out = copy(self)
        out.depth, out.colour = self.depth.copy(), np.zeros_like(self.colour)
        return out

    def cover(self, layer: Canvas) -> None:
        """Blend a canvas over this one."""
        share = layer.colour[:, 3:]
        under = (1.0 - share) * self.colour[:, 3:]
        both = share + under
        mixed = share * layer.colour[:, :3] + under * self.colour[:, :3]
        self.colour[:, :3] = mixed / np.maximum(both, np.finfo(float).tiny)
        self.colour[:, 3:] = both

    def image(self) -> Floats:
        """Rows from bottom to top (h, w, 4), averaged over oversampled pixels."""
        high, wide = self.high // FINER, self.wide // FINER
        dots = self.colour.reshape(self.high, self.wide, 4)[: high * FINER, : wide * FINER]
        out = dots.reshape(high, FINER, wide, FINER, 4).copy()
        out[..., :3] *= out[..., 3:]
        mean = out.mean(axis=(1, 3))
        mean[..., :3] /= np.maximum(mean[..., 3:], np.finfo(float).tiny)
        return np.asarray(mean)


def paint_dots(
    pieces: Sequence[Piece], ink: Ink, box: Floats, onto: Floats, towards: Floats
) -> Floats:
    """A picture (h, w, 4) of flat pieces and lines, with colours `ink` by their numbers."""
    canvas = Canvas(box)
    faces, owners = triangles_of([piece for piece in pieces if len(piece.corners) > 2])
    placed, colours = canvas.place(faces, onto, towards), ink.faces[owners]
    opaque, glass = colours[:, 3] == 1.0, (colours[:, 3] > 0.0) & (colours[:, 3] < 1.0)
    _fill(canvas, placed[opaque], colours[opaque])
    ends, owners = lines_of(pieces)
    shown = ink.lines[owners, 3] > 0.0
    lines, owners = canvas.place(ends[shown], onto, towards), owners[shown]
    _draw(canvas, lines, ink.lines[owners], ink.widths[owners])
    if glass.any():
        before = canvas.layer()
        _fill(before, placed[glass], colours[glass])
        canvas.cover(before)
    return canvas.image()


def triangles_of(pieces: Sequence[Piece]) -> tuple[Floats, Ints]:
    """Flat pieces as fans of triangles (t, 3, 3), and the numbers of the pieces (t,)."""
    corners = [
        np.stack([np.broadcast_to(c[0], c[1:-1].shape), c[1:-1], c[2:]], axis=1)
        for c in (piece.corners for piece in pieces)
    ]
    owners = np.repeat([piece.number for piece in pieces], [len(c) for c in corners])
    return np.concatenate([np.empty((0, 3, 3)), *corners]), owners.astype(np.int64)


def lines_of(pieces: Sequence[Piece]) -> tuple[Floats, Ints]:
    """Edges that are not cuts, and pieces that are lines (e, 2, 3); and their numbers (e,)."""
    out, owners = [np.empty((0, 2, 3))], []
    for piece in pieces:
        real = np.array(piece.edges)
        pairs = np.stack([piece.corners, np.roll(piece.corners, -1, axis=0)], axis=1)
        out.append(pairs[:1] if len(pairs) == 2 else pairs[real])
        owners.append(np.full(len(out[-1]), piece.number))
    return np.concatenate(out), np.concatenate([np.zeros(0, dtype=np.int64), *owners])


def _fill(canvas: Canvas, triangles: Floats, colours: Floats) -> None:
    """Paint every pixel within each triangle (t, 3, 3), row by row."""
    low = np.clip(np.ceil(triangles[..., 1].min(axis=1) - 0.5), 0, canvas.high).astype(np.int64)
    end = np.clip(np.ceil(triangles[..., 1].max(axis=1) - 0.5), 0, canvas.high).astype(np.int64)
    slopes = _slopes(triangles)
    owner, y = _enumerate(np.maximum(end - low, 0), low)
    left, right = _spans(triangles, owner, y.astype(np.float64) + 0.5)
    first = np.clip(np.ceil(left - 0.5), 0, canvas.wide).astype(np.int64)
    wide = np.maximum(np.clip(np.ceil(right - 0.5), 0, canvas.wide).astype(np.int64) - first, 0)
    for some in _portions(wide):
        row, x = _enumerate(wide[some], first[some])
        mine, at = owner[some][row], y[some][row]
        corner, slope = triangles[mine, 0], slopes[mine]
        near = corner[:, 2] + slope[:, 0] * (x + 0.5 - corner[:, 0])
        near += slope[:, 1] * (at + 0.5 - corner[:, 1])
        canvas.put(at * canvas.wide + x, near, colours[mine])


def _slopes(triangles: Floats) -> Floats:
    """Derivatives of the depth of triangles (t, 3, 3) by pixels to the right and upwards (t, 2)."""
    u, v = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    area = np.where(area == 0.0, np.inf, area)
    right = (u[:, 2] * v[:, 1] - v[:, 2] * u[:, 1]) / area
    return np.stack([right, (v[:, 2] * u[:, 0] - u[:, 2] * v[:, 0]) / area], axis=1)


def _spans(triangles: Floats, owner: Ints, y: Floats) -> tuple[Floats, Floats]:
    """The ends of rows at the heights y (n,) within their triangles."""
    left, right = np.full(len(y), np.inf), np.full(len(y), -np.inf)
    for k in range(3):
        a, b = triangles[owner, k], triangles[owner, k - 2]
        crosses = (a[:, 1] <= y) != (b[:, 1] <= y)
        rise = np.where(crosses, b[:, 1] - a[:, 1], 1.0)
        x = a[:, 0] + (y - a[:, 1]) * (b[:, 0] - a[:, 0]) / rise
        left = np.where(crosses, np.minimum(left, x), left)
        right = np.where(crosses, np.maximum(right, x), right)
    return np.where(left <= right, left, 0.0), np.where(left <= right, right, 0.0)


def _portions(counts: Ints) -> Iterator[slice]:
    """Slices of a list whose counts add up to about AT_ONCE each."""
    ends = np.searchsorted(np.cumsum(counts), np.arange(AT_ONCE, counts.sum() + AT_ONCE, AT_ONCE))
    edges = np.unique(np.minimum([0, *(ends + 1), len(counts)], len(counts)))
    return (slice(int(a), int(b)) for a, b in pairwise(edges))


def _enumerate(counts: Ints, first: Ints) -> tuple[Ints, Ints]:
    """Consecutive integers from each of `first`, as many as `counts`: the index of the entry of
    each, and the integers."""
    owner = np.repeat(np.arange(len(counts)), counts)
    return owner, np.arange(len(owner)) + np.repeat(first - (np.cumsum(counts) - counts), counts)


def _draw(canvas: Canvas, lines: Floats, colours: Floats, widths: Floats) -> None:
    """Draw lines (e, 2, 3) with widths in pixels, over the faces in which they lie."""
    counts = 2 + np.abs(np.diff(lines[..., :2], axis=1)).max(axis=(1, 2)).astype(np.int64)
    for width in np.unique(widths):
        mine = np.flatnonzero(widths == width)
        for some in _portions(counts[mine] * int(width + 1) ** 2):
            chosen = mine[some]
            owner, k = _enumerate(counts[chosen], np.zeros(len(chosen), dtype=np.int64))
            share = k / (counts[chosen][owner] - 1)
            one, two = lines[chosen, 0][owner], lines[chosen, 1][owner]
            _stamp(canvas, one + share[:, None] * (two - one), colours[chosen][owner], width)


def _stamp(canvas: Canvas, points: Floats, colours: Floats, width: float) -> None:
    """A disc with a diameter in pixels at each point (n, 3)."""
    reach = int(0.5 * width)
    near = points[:, 2] + OVER * DOTS
    for dy in range(-reach, reach + 1):
        for dx in range(-reach, reach + 1):
            if dx * dx + dy * dy <= 0.25 * width * width:
                x, y = np.floor(points[:, :2] + (dx, dy)).astype(np.int64).T
                seen = (x >= 0) & (x < canvas.wide) & (y >= 0) & (y < canvas.high)
                at = y[seen] * canvas.wide + x[seen]
                canvas.put(at, near[seen], colours[seen])
