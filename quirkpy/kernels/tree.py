"""The spanning tree of a selection: which joint carries which body, and which rows are left to close loops.

Breadth first from the ground, then from one root of every part that floats free.  Locks are taken before joints that
move, so that the tree has as few freedoms as it can have.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from quirkpy.kernels.compiled import allocating, inner
from quirkpy.parts.checks import Bools, Ints
from quirkpy.tables.tables import SLIDE, TURN, Selection

#: What hangs a body on its parent.
FIXED_NODE, TURN_NODE, SLIDE_NODE, BALL_NODE, FREE_NODE, GENERAL_NODE = range(6)

# Columns of Tree.nodes, a row per body and one for the ground.
ORDER = 0  # not of this body: row k names the body that comes k-th, parents first
PARENT = 1  # row of the parent; the ground is the last row
NODE = 2  # FIXED_NODE ...
CARRIER = 3  # the joint to the parent; -1: a free root
NEAR = 4  # its site on the parent
FAR = 5  # its site on the body; -1: a free root
AXIS_NUMBER = 6  # of a single turn or slide
PLACE = 7  # position in the order; -1: the ground
FIRST = 8  # where its freedoms begin among all freedoms of the tree
COUNT = 9  # how many they are
MOTION = 10  # where the joint's begin in Tree.motions
NODE_WIDTH = 11

# Columns of Tree.loops and Tree.motions.
LOOP_ROW, LOOP_BODY1, LOOP_BODY2 = range(3)
MOTION_KIND, MOTION_AXIS = range(2)


class Tree(NamedTuple):
    """nodes (nb + 1, NODE_WIDTH); motions: kind and axis of every joint's freedoms (nf, 2); loops: the constraint rows
    that the tree does not take care of, and their bodies (m, 3)."""

    nodes: Ints
    motions: Ints
    loops: Ints


def tree_of(s: Selection) -> Tree:
    """The spanning tree of a selection."""
    t = s.tables
    n = t.n_bodies
    site1, site2 = t.joint_site1, t.joint_site2
    body1, body2 = t.site_body[site1], t.site_body[site2]
    start, touching = joints_at_bodies(n, s.joints, body1, body2, t.joint_in_tree)
    nodes = np.zeros((n + 1, NODE_WIDTH), np.int64)
    nodes[:, [CARRIER, NEAR, FAR, PLACE]] = -1
    grow(nodes, start, touching, body1, body2, t.joint_freedom, t.freedom_kind)
    hung = np.flatnonzero(nodes[:, CARRIER] >= 0)
    by = nodes[hung, CARRIER]
    onwards = body2[by] == hung
    nodes[hung, NEAR], nodes[hung, FAR] = np.where(onwards, (site1[by], site2[by]), (site2[by], site1[by]))
    nodes[hung, MOTION] = t.joint_freedom[by]
    single = np.flatnonzero((nodes[:, NODE] == TURN_NODE) | (nodes[:, NODE] == SLIDE_NODE))
    nodes[single, AXIS_NUMBER] = t.freedom_axis[nodes[single, MOTION]]
    closing = s.rows[~np.isin(t.row_joint[s.rows], by)]
    joint = t.row_joint[closing]
    loops = np.column_stack([closing, body1[joint], body2[joint]])
    return Tree(nodes, np.column_stack([t.freedom_kind, t.freedom_axis]), loops)


def islands_of(s: Selection) -> Ints:
    """What the active joints hold together: the number of each body's island, -1 where that includes the ground."""
    t = s.tables
    ends = t.site_body[t.joint_site1[s.joints]], t.site_body[t.joint_site2[s.joints]]
    linked = coo_array((np.ones(len(s.joints)), ends), shape=(t.n_bodies + 1, t.n_bodies + 1))
    _, label = connected_components(linked, directed=False)
    return np.where(label[:-1] == label[-1], -1, label[:-1]).astype(np.int64)


@allocating
def joints_at_bodies(nb: int, active: Ints, body1: Ints, body2: Ints, in_tree: Bools) -> tuple[Ints, Ints]:
    """Joints that can carry a body, by body: touching[start[b] : start[b + 1]]; the ground is body nb."""
    start = np.zeros(nb + 2, np.int64)
    for j in active:
        if in_tree[j] and body1[j] != body2[j]:
            start[body1[j] + 1] += 1
            start[body2[j] + 1] += 1
    for b in range(nb + 1):
        start[b + 1] += start[b]
    fill = start.copy()
    touching = np.empty(start[nb + 1], np.int64)
    for j in active:
        if in_tree[j] and body1[j] != body2[j]:
            for b in (body1[j], body2[j]):
                touching[fill[b]] = j
                fill[b] += 1
    return start, touching


@inner
def node_kind(j: int, joint_freedom: Ints, freedom_kind: Ints) -> int:
    """How a joint hangs a body in the tree."""
    first, count = joint_freedom[j], joint_freedom[j + 1] - joint_freedom[j]
    if count == 0:
        return FIXED_NODE
    if count == 1:
        return TURN_NODE if freedom_kind[first] == TURN else SLIDE_NODE
    slides = 0
    for k in range(first, first + count):
        if freedom_kind[k] == SLIDE:
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


@allocating
def grow(
    nodes: Ints, start: Ints, touching: Ints, body1: Ints, body2: Ints, joint_freedom: Ints, freedom_kind: Ints
) -> None:
    """Fill in ORDER, PARENT, NODE, CARRIER, PLACE, FIRST, COUNT.

    Two queues of bodies whose joints are still to be followed: all locks that can be reached come before the next joint
    that moves.
    """
    nb = nodes.shape[0] - 1
    reached = np.zeros(nb + 1, np.bool_)
    locks, moves = np.empty(nb + 1, np.int64), np.empty(nb + 1, np.int64)
    placed, freedoms = 0, 0
    root = nb
    while root >= 0:
        locks[0] = root
        n_locks, at_lock, n_moves, at_move = 1, 0, 0, 0
        reached[root] = True
        if root < nb:
            nodes[root, PARENT], nodes[root, NODE], nodes[root, COUNT] = nb, FREE_NODE, 6
            nodes[placed, ORDER], nodes[root, PLACE], nodes[root, FIRST] = root, placed, freedoms
            placed, freedoms = placed + 1, freedoms + 6
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
            for k in range(start[b], start[b + 1]):
                j = touching[k]
                other = body2[j] if body1[j] == b else body1[j]
                kind = node_kind(j, joint_freedom, freedom_kind)
                if reached[other] or locking != (kind == FIXED_NODE):
                    continue
                reached[other] = True
                count = joint_freedom[j + 1] - joint_freedom[j]
                nodes[other, PARENT], nodes[other, NODE], nodes[other, CARRIER] = b, kind, j
                nodes[other, FIRST], nodes[other, COUNT] = freedoms, count
                nodes[placed, ORDER], nodes[other, PLACE] = other, placed
                placed, freedoms = placed + 1, freedoms + count
                locks[n_locks] = other
                n_locks += 1
        root = next_root(nb, reached, start)
