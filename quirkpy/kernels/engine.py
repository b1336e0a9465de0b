"""`Engine`: a selection made ready for the compiled evaluator, and the memory that it works in."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from quirkpy.kernels.arrays import Joints, pack
from quirkpy.kernels.callbacks import PythonParts
from quirkpy.kernels.closure import PIVOT, REPORT_WIDTH, SPAN_WIDTH, WEAKEST
from quirkpy.kernels.elimination import G_WIDTH, WIDTH
from quirkpy.kernels.evaluation import CONTROL_WIDTH, Model, Scratch, evaluate
from quirkpy.kernels.hook import HOOK_WIDTH
from quirkpy.kernels.instant import Instant
from quirkpy.kernels.kinematics import ground_frames
from quirkpy.kernels.ledger import ISLAND_WIDTH
from quirkpy.kernels.rows import ROW_WIDTH
from quirkpy.kernels.stops import DECIDED, HOLDS, STOP_JOINT, stop_labels, stops_of
from quirkpy.kernels.tree import (
    CARRIER,
    COUNT,
    GENERAL_NODE,
    LOOP_BODY1,
    LOOP_BODY2,
    LOOP_BODY3,
    LOOP_ROW,
    LOOP_WIDTH,
    NODE,
    PARENT,
    PLACE,
    tree_of,
)
from quirkpy.parts.checks import Floats, Ints
from quirkpy.tables.tables import Selection

#: No stabilisation; joints that move by themselves do.
STANDARD_CONTROL = (PIVOT, 0.0, 0.0, 1.0)


class Engine:
    """Accelerations of one selection by the compiled recursion."""

    def __init__(self, selection: Selection) -> None:
        packed = pack(selection.tables)
        tree, islands = tree_of(selection)
        stops, one, two = stops_of(selection, packed)
        if len(stops.what):
            tree = tree._replace(loops=np.concatenate([tree.loops, closing_stops(one, two)]))
        n, m, freedoms = selection.tables.n_bodies, len(tree.loops), int(tree.nodes[:-1, COUNT].sum())
        general = n if GENERAL_NODE in tree.nodes[:-1, NODE] else 0
        self.selection = selection
        self.model = Model(
            tree, packed.sites, Joints(packed.ends, packed.coordinates, np.zeros(len(packed.coordinates))), packed.rows,
            packed.elements, packed.schedules, selection.elements, packed.bodies, islands, stops,
            np.zeros(HOOK_WIDTH, dtype=np.int64), np.zeros(CONTROL_WIDTH),
        )  # fmt: skip
        self.model.control[:] = STANDARD_CONTROL
        self.scratch = Scratch(
            ground_frames(n), np.zeros((n + 1, 6)), np.zeros(len(selection.elements)), np.zeros(2),
            np.zeros((n + 1, WIDTH)), np.zeros((general, G_WIDTH)), np.zeros((m, ROW_WIDTH)),
            np.zeros((m + 1, freedoms)), np.zeros((m, SPAN_WIDTH), dtype=np.int64), np.zeros((n + 1, ISLAND_WIDTH)),
            np.zeros(REPORT_WIDTH),
        )  # fmt: skip
        self.scratch.report[WEAKEST] = 1.0
        self.busy = False  # with a run
        self.python = PythonParts(selection, self.model, self.scratch)

    def accelerations(self, at: Instant) -> Floats:
        """Accelerations (nb, 6): of the mass centre in N, omega-dot in body axes."""
        self.model.joints.near[:] = at.near
        self.hold(at.held)
        out = np.empty((len(at.r), 6))
        evaluate(at.t, at.state, self.model, self.scratch, out)
        self.python.raise_pending()
        return out

    @cached_property
    def stops(self) -> tuple[str, ...]:
        """A label for each bound that acts: the name of the stop or of the joint that it belongs to, and which side."""
        return stop_labels(self.selection, self.model.stops)

    def hold(self, labels: Iterable[str]) -> None:
        """Let the named stops hold, and no others."""
        held = set(labels)
        self.model.stops.what[:, HOLDS] = [label in held for label in self.stops]
        self.model.stops.what[:, DECIDED] = 0

    def loop(self, k: int) -> tuple[str, ...]:
        """The joints of the loop that closing row k closes, its own first; none for k = -1."""
        if k < 0:
            return ()
        t, nodes = self.selection.tables, self.model.tree.nodes
        row, a, b = self.model.tree.loops[k, :LOOP_BODY3].tolist()
        carriers = [t.row_joint[row] if row >= 0 else self.model.stops.what[-1 - row, STOP_JOINT]]
        while a != b:  # the deeper one goes up
            if nodes[a, PLACE] < nodes[b, PLACE]:
                a, b = b, a
            carriers.append(nodes[a, CARRIER])
            a = nodes[a, PARENT]
        return tuple(t.joint_names[j] for j in carriers if j >= 0)


def closing_stops(one: Ints, two: Ints) -> Ints:
    """The closing rows of stops, numbered -1, -2 ... with their bodies."""
    loops = np.full((len(one), LOOP_WIDTH), -1, dtype=np.int64)
    loops[:, LOOP_ROW], loops[:, LOOP_BODY1], loops[:, LOOP_BODY2] = -1 - np.arange(len(one)), one, two
    return loops
