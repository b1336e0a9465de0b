"""What kernels are given: a model, which they only read, and a scratch, which they write.

Both are handed over by address, and arrays as seven numbers or more: what is seldom called takes
these two, so that nothing is made ready for it where it is not."""

from __future__ import annotations

from typing import NamedTuple

from quirkpy.kernels.base.arrays import (
    Elements,
    JointTable,
    Modes,
    RowTable,
    Schedules,
    Sites,
)
from quirkpy.kernels.tree.stops import Stops
from quirkpy.kernels.tree.tree import Tree
from quirkpy.maths.types import Floats, Ints


class Model(NamedTuple):
    """What never changes for a selection, and anybody may read: the tree, the tables, which
    elements act, the bodies, the number of the island of each (those that hang together without the
    ground; -1: on the ground) (nb,), that of its group, which forces between bodies hold together
    as well, the stops, whose rows come last, and how bodies bend."""

    tree: Tree
    sites: Sites
    joints: JointTable
    rows: RowTable
    elements: Elements
    schedules: Schedules
    acting: Ints
    bodies: Floats
    islands: Ints
    groups: Ints
    stops: Stops
    modes: Modes


class Scratch(NamedTuple):
    """All that it writes, in rows of bodies, of stations on those that bend, and the ground:
    kinematics (nb + 1, FRAME_WIDTH), loads (nb + 1, 6), potential energy of each acting element and
    then of each body that bends, power (2,), the recursion's rows (nb + 1, WIDTH) and those of
    joints with several freedoms and of modes, the closing rows (m, ROW_WIDTH), their innovations A
    and the solution (m + 1, freedoms), the spans of A (m, SPAN_WIDTH) (or, where blocks are merged,
    memory for that in one line, and the blocks (., BLOCK_WIDTH)), sums over islands, the report;
    and the tail of the state, its slope, and the loads on its speeds (3, tail)."""

    frames: Floats
    wrench: Floats
    potential: Floats
    power: Floats
    work: Floats
    general: Floats
    rows: Floats
    innovations: Floats
    spans: Ints
    islands: Floats
    report: Floats
    tail: Floats
