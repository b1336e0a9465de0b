"""The order in which bodies are merged into blocks, and the rows closed by each merge: computed
once for a selection with so many loops that this is faster than a tree
(kernels/tree/merging.py)."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from quirkpy.kernels.tree.tree import (
    CARRIER,
    COUNT,
    FAR,
    FIRST,
    FREE_NODE,
    KEPT_PLACE,
    LASTING,
    LOOP_BODY1,
    LOOP_BODY4,
    MERGE_WIDTH,
    NEAR,
    NODE,
    NODE_WIDTH,
    ORDER,
    PARENT,
    PLACE,
    ROW_NUMBER,
    ROW_PLACE,
    SPEEDS,
    Tree,
)
from quirkpy.maths.types import Floats, Ints

#: Number of multiplications per row of the closing rows beyond which merging is used. At 330 both
#: methods take equal time; near poses where all freedoms become singular the tree is more reliable.
WORTH_MERGING = 1300.0
#: Approximate number of independent rows of a loop that a hinge closes.
ROWS_OF_A_LOOP = 2.0
#: For mass ratios beyond this the tree is used, which handles weakly coupled rows.
MOST_UNEVEN = 1e4


class Block(NamedTuple):
    """Bodies that move as one part: those on its border, to which open rows refer, and an upper
    bound of its freedoms."""

    border: tuple[int, ...]
    motions: int


class Merge(NamedTuple):
    """The merge of two blocks: their numbers, the bodies on their borders, their freedoms; the rows
    that it closes, and the new block."""

    one: int
    two: int
    before: tuple[int, ...]
    whole: int
    rows: list[int]
    block: Block

    @property
    def width(self) -> int:
        """Columns of its table: one for each row and each speed of the border."""
        return len(self.rows) + SPEEDS * len(self.block.border)

    @property
    def lasting(self) -> int:
        """Upper bound of the numbers to be kept for back substitution and for the next merge."""
        rank, speeds = min(len(self.rows), self.whole), SPEEDS * len(self.block.border)
        turns = reflections_of(rank, self.whole) + reflections_of(
            min(speeds, self.whole), self.whole
        )
        return turns + 2 * rank + (self.whole + 1) * speeds + self.whole


def reflections_of(count: int, motions: int) -> int:
    """The storage of a number of reflections of a number of freedoms."""
    return count * (1 + motions) - count * (count - 1) // 2


class Planner:
    """Merges blocks until no row is open: of all neighbouring blocks the two with the fewest bodies
    on their borders, and of these the pair that closes most rows.

    members: the bodies of each row, without the ground."""

    def __init__(self, bodies: int, members: Iterable[tuple[int, ...]]) -> None:
        self.ground, self.merges = bodies, list[Merge]()
        self.groups: dict[tuple[int, ...], list[int]] = {}
        for row, of in enumerate(members):
            if of:
                self.groups.setdefault(of, []).append(row)
        self.blocks = {b: Block((b,), SPEEDS) for b in range(bodies)}
        self.home = list(range(bodies))
        self.touching: list[set[tuple[int, ...]]] = [set() for _ in range(bodies)]
        for of in self.groups:
            for b in of:
                self.touching[b].add(of)
        self.offers: list[tuple[int, int, int, int]] = []

    def run(self) -> list[Merge]:
        """All merges, in their order."""
        for b in range(self.ground):
            self.offer(b)
        while self.offers:
            _, _, one, two = heapq.heappop(self.offers)
            if one in self.blocks and two in self.blocks:
                self.offer(self.join(one, two))
        for of in list(self.groups):  # the remaining blocks connect one body and the ground
            self.blocks[self.ground] = Block((), 0)
            self.join(self.home[of[0]], self.ground)
        return self.merges

    def neighbours(self, block: int) -> list[int]:
        """Blocks that share a row with a block."""
        bodies = {
            other for b in self.blocks[block].border for of in self.touching[b] for other in of
        }
        return sorted({self.home[b] for b in bodies} - {block})

    def offer(self, block: int) -> None:
        """List the merges of a block with each of its neighbours."""
        for other in self.neighbours(block):
            made = self.outcome(*sorted((block, other)))
            heapq.heappush(self.offers, (len(made.before), -len(made.rows), made.one, made.two))

    def closed_by(self, one: int, two: int) -> list[tuple[int, ...]]:
        """The groups of rows that involve no other block."""
        border = self.blocks[one].border + self.blocks[two].border
        found = dict.fromkeys(of for b in border for of in sorted(self.touching[b]))
        return [of for of in found if {self.home[b] for b in of} <= {one, two}]

    def outcome(self, one: int, two: int) -> Merge:
        """The merge of two blocks, without carrying it out."""
        groups = self.closed_by(one, two)
        before = self.blocks[one].border + self.blocks[two].border
        border = tuple(b for b in before if not self.touching[b] <= set(groups))
        whole = self.blocks[one].motions + self.blocks[two].motions
        rows = sorted(row for of in groups for row in self.groups[of])
        return Merge(one, two, before, whole, rows, Block(border, min(whole, SPEEDS * len(border))))

    def join(self, one: int, two: int) -> int:
        """Merge two blocks; returns the number of the new one."""
        made, number = self.outcome(one, two), self.ground + 1 + len(self.merges)
        for of in self.closed_by(one, two):
            for b in of:
                self.touching[b].discard(of)
            del self.groups[of]
        for b in made.before:
            self.home[b] = number
        del self.blocks[one], self.blocks[two]
        self.blocks[number] = made.block
        self.merges.append(made)
        return number


def lines_of(merges: list[Merge], ends: Ints, bodies: int) -> Ints:
    """Lines of Tree.merges, from the bodies of each row (m, 4)."""
    rows = len(merges) + np.cumsum([0, *(len(merge.rows) for merge in merges)])
    borders = rows[-1] + np.cumsum([0, *(len(merge.block.border) for merge in merges)])
    span = max(merge.width for merge in merges)
    lasting = SPEEDS * bodies + 4 * span + max(merge.whole * merge.width for merge in merges)
    out = np.full((borders[-1], MERGE_WIDTH), -1)
    for k, merge in enumerate(merges):
        place = {b: slot for slot, b in enumerate(merge.before)}
        out[k] = (
            merge.one, merge.two, rows[k], rows[k + 1], borders[k], borders[k + 1], span, lasting
        )  # fmt: skip
        out[rows[k] : rows[k + 1], ROW_NUMBER] = merge.rows
        places = [place.get(b, -1) for row in merge.rows for b in ends[row].tolist()]
        out[rows[k] : rows[k + 1], ROW_PLACE : ROW_PLACE + 4] = np.reshape(places, (-1, 4))
        out[borders[k] : borders[k + 1], KEPT_PLACE] = [place[b] for b in merge.block.border]
    return out


def without_tree(tree: Tree, rows: Ints) -> tuple[Tree, int]:
    """A tree in which all bodies are free and all joints are rows, with a plan of merging blocks;
    and the storage that it needs.

    rows: of all joints and stops, with their bodies (m, LOOP_WIDTH)."""
    ground, ends = len(tree.nodes) - 1, rows[:, LOOP_BODY1 : LOOP_BODY4 + 1]
    merges = Planner(ground, [members(of, ground) for of in ends.tolist()]).run()
    lines = lines_of(merges, ends, ground)
    memory = int(lines[0, LASTING]) + sum(merge.lasting for merge in merges)
    return Tree(free_nodes(ground), tree.motions, rows, lines), memory


def members(ends: list[int], ground: int) -> tuple[int, ...]:
    """The bodies of a row, each once, without the ground."""
    return tuple(sorted({b for b in ends if 0 <= b < ground}))


def free_nodes(bodies: int) -> Ints:
    """Tree.nodes of bodies that all are free."""
    nodes, each = np.zeros((bodies + 1, NODE_WIDTH), np.int64), np.arange(bodies)
    nodes[:, [CARRIER, NEAR, FAR, PLACE]] = -1
    nodes[:bodies, PARENT], nodes[:bodies, NODE], nodes[:bodies, COUNT] = bodies, FREE_NODE, SPEEDS
    nodes[:bodies, ORDER] = nodes[:bodies, PLACE] = each
    nodes[:bodies, FIRST] = SPEEDS * each
    return nodes


def merging_pays(tree: Tree, rows: int, masses: Floats) -> bool:
    """Whether merging blocks closes the given total of rows faster than this tree; the tree's
    closing rows, without those of stops, are in its loops.

    For very uneven masses the tree is kept, which handles weakly coupled rows."""
    freedoms, closing, least = (
        int(tree.nodes[:-1, COUNT].sum()),
        len(tree.loops),
        WORTH_MERGING * rows,
    )
    if min(freedoms, closing) * closing * freedoms <= least:  # a bound for every order
        return False
    even = masses.max() <= MOST_UNEVEN * masses.min()
    return bool(even and closing_effort(tree) > least)


def closing_effort(tree: Tree) -> float:
    """Approximate number of multiplications for the closing rows of a tree
    (kernels/tree/closure.py): in the order of their spans, the rows of each joint widen the spans
    that they overlap."""
    ends, counts = np.unique(tree.loops[:, LOOP_BODY1 : LOOP_BODY4 + 1], axis=0, return_counts=True)
    spans = [span_of(of, tree.nodes) for of in ends.tolist()]
    low, high = np.array(spans).T
    left, freedoms, out = counts * (high > low), int(tree.nodes[:-1, COUNT].sum()), 0.0
    while left.any() and freedoms > 0:
        k = int(np.argmin(np.where(left > 0, high - low, np.inf)))
        meeting = (left > 0) & (low < high[k]) & (high > low[k])
        low, high = (
            np.where(meeting, np.minimum(low, low[k]), low),
            np.where(meeting, np.maximum(high, high[k]), high),
        )
        taken = min(left[k], ROWS_OF_A_LOOP, freedoms)
        out += taken * float((left * (high - low))[meeting].sum())
        freedoms, left[k] = freedoms - taken, 0
    return out


def span_of(ends: list[int], nodes: Ints) -> tuple[int, int]:
    """The span of the freedoms between the ends of a row and the root on which it acts; (0, 0) if
    there are none."""
    ground, passed = len(nodes) - 1, set[int]()
    for one, two in (ends[:2], ends[2:]):
        a, b = (one, two) if one >= 0 else (ground, ground)
        while a < ground or b < ground:
            if nodes[a, PLACE] < nodes[b, PLACE]:
                a, b = b, a
            if a == b:
                b = ground
            passed.update(range(nodes[a, FIRST], nodes[a, FIRST] + nodes[a, COUNT]))
            a = int(nodes[a, PARENT])
    return (min(passed), max(passed) + 1) if passed else (0, 0)
