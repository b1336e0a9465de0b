"""The spanning tree of a selection: which joint connects each body to its parent, and which rows
remain to close loops.

Breadth first from the ground, then from one root in every part that floats freely.  Locks are taken
before joints with freedoms, which minimizes the number of freedoms of the tree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from quirkpy.kernels.base.arrays import (
    BENT,
    BODY1,
    BODY2,
    CARRIER_SITE1,
    CARRIER_SITE2,
    FIRST_MOTION,
    FIRST_STATION,
    IN_TREE,
    LAST_STATION,
    MODE_COUNT,
    MOTION_AXIS,
    MOTION_KIND,
    MOTIONS,
    ROW_BODY1,
    ROW_BODY2,
    ROW_BODY3,
    ROW_BODY4,
    ROW_JOINT,
    STATION_MODES,
    THREAD_ROW,
    Modes,
    Packed,
)
from quirkpy.kernels.base.compiled import allocating, inner
from quirkpy.maths.types import Bools, Ints
from quirkpy.tables.tables import ONWARDS, SCREW, SLIDE, TURN, Selection

#: What hangs a body on its parent.
FIXED_NODE, TURN_NODE, SLIDE_NODE, BALL_NODE, FREE_NODE, GENERAL_NODE = range(6)
#: Of members of a set (members.py), which hang on its head: the first of them, and the others.
MEMBER_NODE, LEAD_NODE = 6, 7

# Columns of Tree.nodes, a row per body and one for the ground.
ORDER = 0  # not of this body: row k names the body that comes k-th, parents first
PARENT = 1  # row of the parent; the ground is the last row
NODE = 2  # FIXED_NODE ...
CARRIER = 3  # the joint to the parent; -1: a free root
NEAR = 4  # its site on the parent
FAR = 5  # its site on the body; -1: a free root
AXIS_NUMBER = 6  # of a single turn or slide
PLACE = 7  # position in the order; -1: the ground
FIRST = 8  # where its freedoms begin among all freedoms of the tree, numbered along the loops
COUNT = 9  # how many they are
MOTION = 10  # where the joint's begin in Tree.motions; of a member, the row of the body
SENSE = 11  # 1: it hangs by the joint's second site, -1: by the first
THREAD = 12  # the row by which a screw moves on as it turns; -1: it is none
WHOSE = 13  # row of the body that it is part of; its own, of a body and the ground
NODE_WIDTH = 14

# Columns of Tree.loops: the row, and its bodies; the other two are those of a second joint, -1:
# none.
LOOP_ROW, LOOP_BODY1, LOOP_BODY2, LOOP_BODY3, LOOP_BODY4, LOOP_WIDTH = range(6)

# Columns of Tree.merges, a line for each merge: its two blocks (a body, the ground, or the ground's
# number + 1 + that of the merge that made it); lines of the rows that it closes, and of the bodies
# that it keeps on its border; and the same for all: the largest width of a table, and where memory
# that lasts begins.  Lines of the rows are next: the row, and where its four bodies stand on the
# borders of the two blocks, one behind the other (-1: nowhere); then, for each body that is kept,
# where it stood there.
ONE, TWO, FIRST_ROW, LAST_ROW, FIRST_KEPT, LAST_KEPT, WIDEST, LASTING, MERGE_WIDTH = range(9)
ROW_NUMBER, ROW_PLACE = range(2)
KEPT_PLACE = 0
#: Speeds of a body.
SPEEDS = 6


class Tree(NamedTuple):
    """nodes (nb + 1, NODE_WIDTH); motions: kind, axis and site of every joint's freedoms (nf, 3);
    loops: the constraint rows that the tree does not take care of, and their bodies (m,
    LOOP_WIDTH).

    merges: where all bodies are free and all joints are rows, how blocks are merged to close these
    (mechanics/blocks.py); else no lines (., MERGE_WIDTH)."""

    nodes: Ints
    motions: Ints
    loops: Ints
    merges: Ints


def tree_of(s: Selection, packed: Packed) -> tuple[Tree, Ints]:
    """The spanning tree of a selection, and its islands, the sets of bodies that active joints
    connect: the number of each body's island, -1 if it includes the ground (nb,)."""
    n, ns = s.tables.n_bodies, len(packed.modes.stations)
    nodes, loops = (
        np.zeros((n + ns + 1, NODE_WIDTH), np.int64),
        np.empty((len(s.rows), LOOP_WIDTH), np.int64),
    )
    nodes[:, WHOSE] = np.arange(n + ns + 1)
    nodes[n : n + ns, WHOSE] = packed.modes.what[packed.modes.stations[:, STATION_MODES], BENT]
    islands = np.empty(n + ns + 1, np.int64)
    count = plant(
        nodes, loops, islands, s.joints, s.rows, packed.carriers, packed.rows.what, packed.motions,
        packed.modes,
    )  # fmt: skip
    merges = np.empty((0, MERGE_WIDTH), np.int64)
    tree = Tree(nodes, packed.motions, loops[:count], merges)
    return tree, islands_of(islands, n) if ns else islands[:n]


def islands_of(rows: Ints, n: int) -> Ints:
    """The islands of n bodies, from those of their rows and of their stations: the largest number
    of a body in each."""
    largest = {int(k): b for b, k in enumerate(rows[:n].tolist())}
    return np.array([-1 if k < 0 else largest[k] for k in rows[:n].tolist()], dtype=np.int64)


@allocating
def plant(
    nodes: Ints,
    loops: Ints,
    islands: Ints,
    active: Ints,
    rows: Ints,
    carriers: Ints,
    what: Ints,
    motions: Ints,
    modes: Modes,
) -> int:
    """Fill in nodes, loops and islands; returns how many loops there are."""
    nb = nodes.shape[0] - 1
    for b in range(nb + 1):
        nodes[b, CARRIER] = nodes[b, NEAR] = nodes[b, FAR] = nodes[b, PLACE] = -1
        nodes[b, THREAD] = -1
    start, touching = joints_at_bodies(nb, active, carriers)
    grow(nodes, start, touching, carriers, motions, modes)
    for b in range(nb):
        j = nodes[b, CARRIER]
        if j >= 0:
            onwards = carriers[j, BODY2] == b
            nodes[b, NEAR] = carriers[j, CARRIER_SITE1 if onwards else CARRIER_SITE2]
            nodes[b, FAR] = carriers[j, CARRIER_SITE2 if onwards else CARRIER_SITE1]
            nodes[b, MOTION], nodes[b, SENSE] = carriers[j, FIRST_MOTION], 1 if onwards else -1
            nodes[b, THREAD] = carriers[j, THREAD_ROW]
            if nodes[b, NODE] == TURN_NODE or nodes[b, NODE] == SLIDE_NODE:
                nodes[b, AXIS_NUMBER] = motions[nodes[b, MOTION], MOTION_AXIS]
    count = 0
    for row in rows:
        j = what[row, ROW_JOINT]
        a, b = what[row, ROW_BODY1], what[row, ROW_BODY2]
        if nodes[a, CARRIER] != j and nodes[b, CARRIER] != j:
            loops[count, LOOP_ROW], loops[count, LOOP_BODY1], loops[count, LOOP_BODY2] = row, a, b
            loops[count, LOOP_BODY3], loops[count, LOOP_BODY4] = (
                what[row, ROW_BODY3],
                what[row, ROW_BODY4],
            )
            count += 1
    number_freedoms(nodes, loops, count)
    number_islands(islands, active, carriers, nodes)
    return count


@inner
def number_paths(a: int, b: int, freedoms: int, nodes: Ints) -> int:
    """FIRST of the bodies on the paths from a and b to the root, the deeper one first; returns the
    next number."""
    nb = nodes.shape[0] - 1
    while a != nb or b != nb:
        if nodes[a, PLACE] < nodes[b, PLACE]:
            a, b = b, a
        freedoms = number_node(a, freedoms, nodes)
        a = nodes[a, PARENT]
    return freedoms


@inner
def number_node(b: int, freedoms: int, nodes: Ints) -> int:
    """FIRST of a body that has none yet; members of a set share theirs.  Returns the next
    number."""
    if nodes[b, FIRST] >= 0:
        return freedoms
    nodes[b, FIRST] = freedoms
    if nodes[b, NODE] >= MEMBER_NODE:
        for k in range(nodes.shape[0] - 1):
            if nodes[k, NODE] >= MEMBER_NODE and nodes[k, WHOSE] == nodes[b, WHOSE]:
                nodes[k, FIRST] = freedoms
    return freedoms + nodes[b, COUNT]


@inner
def number_freedoms(nodes: Ints, loops: Ints, count: int) -> None:
    """FIRST of every body: along the loops, so that the freedoms of each stand side by side, then
    the others."""
    nb = nodes.shape[0] - 1
    freedoms = 0
    for b in range(nb):
        nodes[b, FIRST] = -1
    for k in range(count):
        freedoms = number_paths(loops[k, LOOP_BODY1], loops[k, LOOP_BODY2], freedoms, nodes)
        if loops[k, LOOP_BODY3] >= 0:
            freedoms = number_paths(loops[k, LOOP_BODY3], loops[k, LOOP_BODY4], freedoms, nodes)
    for k in range(nb):
        freedoms = number_node(nodes[k, ORDER], freedoms, nodes)


@inner
def connect(islands: Ints, a: int, b: int) -> None:
    """Give the islands of two bodies one number."""
    while islands[a] != a:
        a = islands[a]
    while islands[b] != b:
        b = islands[b]
    islands[min(a, b)] = max(a, b)


@inner
def number_islands(islands: Ints, active: Ints, carriers: Ints, nodes: Ints) -> None:
    """Give bodies that joints connect, and bodies and their stations, one number, the largest among
    them; that of the ground, the largest of all, becomes -1."""
    n = islands.shape[0]
    for b in range(n):
        islands[b] = b
    for b in range(n):
        connect(islands, b, nodes[b, WHOSE])
    for j in active:
        connect(islands, carriers[j, BODY1], carriers[j, BODY2])
    for b in range(n - 2, -1, -1):  # each points to a larger one, which is settled already
        islands[b] = islands[islands[b]]
    for b in range(n):
        if islands[b] == n - 1:
            islands[b] = -1


@allocating
def joints_at_bodies(nb: int, active: Ints, carriers: Ints) -> tuple[Ints, Ints]:
    """Joints that can carry a body, by body: touching[start[b] : start[b + 1]]; the ground is body
    nb."""
    start = np.zeros(nb + 2, np.int64)
    for j in active:
        a, b = carriers[j, BODY1], carriers[j, BODY2]
        if carriers[j, IN_TREE] != 0 and a != b:
            start[a + 1] += 1
            start[b + 1] += 1
    for b in range(nb + 1):
        start[b + 1] += start[b]
    fill = start.copy()
    touching = np.empty(start[nb + 1], np.int64)
    for j in active:
        if carriers[j, IN_TREE] != 0 and carriers[j, BODY1] != carriers[j, BODY2]:
            for k in (BODY1, BODY2):
                b = carriers[j, k]
                touching[fill[b]] = j
                fill[b] += 1
    return start, touching


@inner
def node_kind(j: int, carriers: Ints, motions: Ints) -> int:
    """The kind of connection by which a joint carries a body in the tree."""
    first, count = carriers[j, FIRST_MOTION], carriers[j, MOTIONS]
    if count == 0:
        return FIXED_NODE
    if count == 1 and motions[first, MOTION_KIND] != SCREW:
        return TURN_NODE if motions[first, MOTION_KIND] == TURN else SLIDE_NODE
    slides = 0
    for k in range(first, first + count):
        if motions[k, MOTION_KIND] == SLIDE:
            slides += 1
    return BALL_NODE if count == 3 and slides == 0 else GENERAL_NODE


@inner
def next_root(nb: int, reached: Bools, start: Ints) -> int:
    """Of the bodies not reached yet the one with most joints; -1 when all are."""
    root = -1
    for b in range(nb):
        if not reached[b] and (root < 0 or start[b + 1] - start[b] > start[root + 1] - start[root]):
            root = b
    return root


@inner
def hang_members(
    head: int, k: int, placed: int, nodes: Ints, reached: Bools, locks: Ints, n_locks: int,
    modes: Modes,
) -> int:  # fmt: skip
    """Hang the members of set k, that with this head, on it; returns how many were not reached
    yet."""
    hung, first = 0, nodes.shape[0] - 1 - modes.stations.shape[0]
    for s in range(modes.what[k, FIRST_STATION] - 1, modes.what[k, LAST_STATION]):
        body = modes.what[k, BENT]
        row = body if s < modes.what[k, FIRST_STATION] else first + s
        if not reached[row]:
            reached[row] = True
            nodes[row, PARENT], nodes[row, MOTION] = head, body
            nodes[row, NODE] = LEAD_NODE if hung == 0 else MEMBER_NODE
            nodes[row, COUNT] = modes.what[k, MODE_COUNT]
            nodes[placed + hung, ORDER], nodes[row, PLACE] = row, placed + hung
            locks[n_locks + hung] = row
            hung += 1
    return hung


@allocating
def grow(
    nodes: Ints, start: Ints, touching: Ints, carriers: Ints, motions: Ints, modes: Modes
) -> None:
    """Fill in ORDER, PARENT, NODE, CARRIER, PLACE, COUNT.

    Two queues of bodies whose joints are still to be followed: all locks that can be reached come
    before the next joint that moves."""
    nb = nodes.shape[0] - 1
    reached = np.zeros(nb + 1, np.bool_)
    locks, moves = np.empty(nb + 1, np.int64), np.empty(nb + 1, np.int64)
    placed = 0
    root = nb
    while root >= 0:
        locks[0] = root
        n_locks, at_lock, n_moves, at_move = 1, 0, 0, 0
        reached[root] = True
        if root < nb:
            nodes[root, PARENT], nodes[root, NODE], nodes[root, COUNT] = nb, FREE_NODE, 6
            nodes[placed, ORDER], nodes[root, PLACE] = root, placed
            placed += 1
        while at_lock < n_locks or at_move < n_moves:
            locking = at_lock < n_locks
            if locking:
                b = locks[at_lock]
                at_lock += 1
                moves[n_moves] = b
                n_moves += 1
            else:
                b = moves[at_move]
                at_move += 1
            for k in range(modes.what.shape[0]):
                if modes.what[k, BENT] == nodes[b, WHOSE]:
                    hung = hang_members(b, k, placed, nodes, reached, locks, n_locks, modes)
                    placed, n_locks = placed + hung, n_locks + hung
            for k in range(start[b], start[b + 1]):
                j = touching[k]
                other = carriers[j, BODY2] if carriers[j, BODY1] == b else carriers[j, BODY1]
                kind = node_kind(j, carriers, motions)
                if reached[other] or locking != (kind == FIXED_NODE):
                    continue
                if carriers[j, IN_TREE] == ONWARDS and carriers[j, BODY2] != other:
                    continue  # its row closes a loop instead
                reached[other] = True
                nodes[other, PARENT], nodes[other, NODE], nodes[other, CARRIER] = b, kind, j
                nodes[other, COUNT] = carriers[j, MOTIONS]
                nodes[placed, ORDER], nodes[other, PLACE] = other, placed
                placed += 1
                locks[n_locks] = other
                n_locks += 1
        root = next_root(nb, reached, start)
