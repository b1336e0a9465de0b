"""Pivots of cubes on a lattice, in integers: what a cluster does that turns about an edge of
another one.

A node is a polyomino of unit squares, named by the integer corner at their lower left.  A choice at
a node locks the modules into two clusters, each connected by faces, and hinges one pair of faces
across the cut at one of the two corners that both faces share; all other pairs across are free.
The second cluster then turns about that corner, relative to the first, so that the hinged faces
part (the torque opens), or is pressed onto it (the torque closes).

- stayed: the torque closes the hinge, whose faces are stops.
- blocked: faces or corners that touch at the start press on each other: the insides overlap from
  the first instant.
- jammed: the insides begin to overlap later, before any face meets one: there a corner touches, and
  nothing goes on.
- moved: without any overlap the clusters come, after one or two quarter turns, to where faces of
  both meet.  All that meet at that instant lock, and the whole is a polyomino again.  Corners that
  touch in passing stop nobody.

Faces lie on each other only after whole quarter turns, for the squares are parallel only then.
After two the hinged squares meet with the faces next to those that have parted, so no motion goes
further.  Angles at which squares begin or cease to overlap are roots of quadratics in t = tan(angle
/ 2): a corner (x, y) of one passes the line x = k of the other where x (1 - t t) - 2 y t = k (1 + t
t).  All of them are listed, exactly; between two neighbours nothing changes, and at a rational t
there, where cosine and sine are rational, the squares are compared along their axes in fractions.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from math import isqrt
from typing import NamedTuple

Cell = tuple[int, int]
Cells = frozenset[Cell]

SIDES = ((1, 0), (0, 1), (-1, 0), (0, -1))
#: Digits to which roots are written down; roots of such small quadratics that differ do so much
#: sooner.
DIGITS = 10**40


class Move(NamedTuple):
    """What becomes of a choice: of which kind, where each module of the moved cluster comes to,
    after how many quarter turns (counted against the clock), and at which t an overlap begins."""

    kind: str
    to: tuple[tuple[Cell, Cell], ...] = ()
    quarters: int = 0
    begins: float = 0.0


# --- one square passing another -------------------------------------------------------------------
def quarter(cell: Cell, times: int = 1) -> Cell:
    """A cell after quarter turns about the origin, which is a corner."""
    x, y = cell
    for _ in range(times % 4):
        x, y = -y - 1, x
    return x, y


def corners(cell: Cell) -> list[Cell]:
    """The corners of a cell."""
    return [(cell[0] + i, cell[1] + j) for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))]


def square_radii(cell: Cell) -> tuple[int, int]:
    """Squares of the least and the largest distance of a cell from the origin: those of two
    corners, for the axes pass through no cell."""
    sizes = [x * x + y * y for x, y in corners(cell)]
    return min(sizes), max(sizes)


def roots(x: int, y: int, k: int) -> Iterator[Fraction]:
    """Where t turns the corner (x, y) onto the line x = k, to many digits; exactly equal roots come
    out equal."""
    a, b, c = k + x, 2 * y, k - x  # a t t + b t + c = 0
    if a == 0:
        if b:
            yield Fraction(-c, b)
        return
    under = b * b - 4 * a * c
    if under < 0:
        return
    root, square = isqrt(under), 1
    if root * root == under:
        for sign in (1, -1):
            yield Fraction(-b + sign * root, 2 * a)
        return
    # Under = square^2 * rest, so that equal roots are written alike
    for factor in range(isqrt(under), 1, -1):
        if under % (factor * factor) == 0:
            square, under = factor, under // (factor * factor)
            break
    value = Fraction(isqrt(under * DIGITS * DIGITS), DIGITS)
    for sign in (1, -1):
        yield Fraction(-b, 2 * a) + sign * Fraction(square, 2 * a) * value


def overlap_at(moving: Cell, still: Cell, t: Fraction) -> bool:
    """Whether the insides overlap, where the first is turned by the angle whose half has the
    tangent t."""
    c, s = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    there = [(c * x - s * y, s * x + c * y) for x, y in corners(moving)]
    back = [(c * x + s * y, -s * x + c * y) for x, y in corners(still)]
    return _across(there, still) and _across(back, moving)


def _across(points: list[tuple[Fraction, Fraction]], cell: Cell) -> bool:
    """Whether points reach into a cell in x and in y."""
    return all(
        max(p[k] for p in points) > cell[k] and min(p[k] for p in points) < cell[k] + 1
        for k in (0, 1)
    )


@cache
def overlaps(moving: Cell, still: Cell) -> tuple[tuple[Fraction, Fraction | None], ...]:
    """Intervals of t > 0, up to half a turn, in which a square that turns about the origin overlaps
    another; None: to the end."""
    (inner, outer), (low, high) = square_radii(moving), square_radii(still)
    if outer <= low or high <= inner:
        return ()
    events = {Fraction(0)}
    for one, two, sense in ((moving, still, 1), (still, moving, -1)):
        for (x, y), (i, j) in itertools.product(corners(one), corners(two)):
            # lines x = i, and y = j: that is x = j for a corner turned back by a quarter
            events |= {sense * t for t in (*roots(x, y, i), *roots(y, -x, j)) if sense * t > 0}
    marks = sorted(events)
    out: list[tuple[Fraction, Fraction | None]] = []
    for here, after in itertools.zip_longest(marks, marks[1:]):
        middle = (here + after) / 2 if after is not None else here + 1
        if overlap_at(moving, still, middle):
            begun = out.pop()[0] if out and out[-1][1] == here else here
            out.append((begun, after))
    return tuple(out)


# --- clusters -------------------------------------------------------------------------------------
def neighbours(cell: Cell) -> list[Cell]:
    """Cells that share a face with one."""
    return [(cell[0] + i, cell[1] + j) for i, j in SIDES]


def connected(cells: Iterable[Cell]) -> bool:
    """Whether faces hold all cells together."""
    left = set(cells)
    queue = [left.pop()]
    while queue:
        for cell in neighbours(queue.pop()):
            if cell in left:
                left.remove(cell)
                queue.append(cell)
    return not left


def pivot(
    still: Iterable[Cell], moving: Iterable[Cell], hinge: tuple[Cell, Cell], corner: Cell
) -> Move:
    """What becomes of two clusters when the hinge between the faces of two cells, first of the
    still one, opens about a corner."""
    (ax, ay), (bx, by) = hinge
    cx, cy = corner
    # the way from the corner along the face, and from a to b: b opens against the clock if it lies
    # to the left of it
    along = ax + bx + 1 - 2 * cx, ay + by + 1 - 2 * cy
    sense = 1 if along[0] * (by - ay) - along[1] * (bx - ax) > 0 else -1

    def seen(cell: Cell) -> Cell:  # from the corner, in a mirror where it opens with the clock
        x, y = cell[0] - cx, cell[1] - cy
        return (x, y) if sense > 0 else (x, -y - 1)

    def back(cell: Cell) -> Cell:
        x, y = cell if sense > 0 else (cell[0], -cell[1] - 1)
        return x + cx, y + cy

    fixed, turning = {seen(cell) for cell in still}, [seen(cell) for cell in moving]
    quarters = next(
        k for k in (1, 2) if any(n in fixed for c in turning for n in neighbours(quarter(c, k)))
    )
    end = Fraction(1) if quarters == 1 else None
    starts = [
        begun
        for c in turning
        for f in fixed
        for begun, _ in overlaps(c, f)
        if end is None or begun < end
    ]
    if starts:
        return Move("blocked" if min(starts) == 0 else "jammed", begins=float(min(starts)))
    to = tuple((back(c), back(quarter(c, quarters))) for c in turning)
    return Move("moved", to, sense * quarters)


class Choice(NamedTuple):
    """Two clusters, the cells whose faces are hinged (one of each), and the corner."""

    still: Cells
    moving: Cells
    hinge: tuple[Cell, Cell]
    corner: Cell


def choices(cells: Iterable[Cell]) -> list[Choice]:
    """All ways to make two clusters with one hinge; the cluster of the first cell is the one that
    stays."""
    first, *others = sorted(cells)
    out = []
    for count in range(1, len(others) + 1):
        for chosen in itertools.combinations(others, count):
            moving = frozenset(chosen)
            still = frozenset({first, *others}) - moving
            if connected(still) and connected(moving):
                for a in sorted(still):
                    for b in sorted(set(neighbours(a)) & moving):
                        shared = sorted(set(corners(a)) & set(corners(b)))
                        out += [Choice(still, moving, (a, b), corner) for corner in shared]
    return out


# --- shapes ---------------------------------------------------------------------------------------
Marked = tuple[tuple[int, int, int], ...]  # cells with a mark each


def shape(cells: Iterable[tuple[int, ...]], turns: int = 1) -> Marked:
    """A name for cells up to motions in the plane: of four turned copies, moved to the origin, the
    first in order.  Cells may carry how many quarter turns the module has made; `turns`: after so
    many it looks the same (1, 2 or 4)."""
    copies = []
    for k in range(4):
        turned = [
            (*quarter((x, y), k), (mark + k) % turns) for x, y, mark in ((*c, 0)[:3] for c in cells)
        ]
        low = [min(c[i] for c in turned) for i in (0, 1)]
        copies.append(tuple(sorted((x - low[0], y - low[1], mark) for x, y, mark in turned)))
    return min(copies)


def parities(cells: Iterable[tuple[int, ...]]) -> tuple[int, int]:
    """How many modules have each (x + y + quarter turns) mod 2, the fewer first: no pivot changes
    that of any module, and a motion of the whole all at once."""
    odd = [sum((*c, 0)[:3]) % 2 for c in cells]
    return min(sum(odd), len(odd) - sum(odd)), max(sum(odd), len(odd) - sum(odd))


class Graph(NamedTuple):
    """Shapes that can be reached, and of every one: choices with the two senses of the torque, and
    what becomes."""

    nodes: set[Marked]
    edges: list[tuple[Marked, str, Marked | None]]

    def count(self, kind: str) -> int:
        """Edges of a kind."""
        return sum(edge[1] == kind for edge in self.edges)


def graph(start: Iterable[tuple[int, ...]], turns: int = 1) -> Graph:
    """Everything that pivots make of a shape; each choice is tried with a torque that opens, and
    one that closes."""
    begun = shape(start, turns)
    nodes, edges, queue = {begun}, [], [begun]
    while queue:
        here = queue.pop(0)
        marks = {(x, y): mark for x, y, mark in here}
        for choice in choices(marks):
            edges.append((here, "stayed", here))
            move = pivot(*choice)
            there = None
            if move.kind == "moved":
                after = {cell: (*cell, marks[cell]) for cell in choice.still}
                after |= {c: (*to, marks[c] + move.quarters) for c, to in move.to}
                there = shape(after.values(), turns)
                if there not in nodes:
                    nodes.add(there)
                    queue.append(there)
            edges.append((here, move.kind, there))
    return Graph(nodes, edges)


def polyominoes(n: int) -> set[Marked]:
    """All shapes of n cells, up to motions in the plane: mirror images count twice."""
    known = {shape([(0, 0)])}
    for _ in range(n - 1):
        known = {
            shape([*((x, y) for x, y, _ in cells), new])
            for cells in known
            for x, y, _ in cells
            for new in neighbours((x, y))
            if (*new, 0) not in cells
        }
    return known
