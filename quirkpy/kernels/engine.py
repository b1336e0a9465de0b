"""`Engine`: a selection made ready for the compiled evaluator, and the memory that it works in."""

from __future__ import annotations

import numpy as np

from quirkpy.kernels.arrays import Joints, pack
from quirkpy.kernels.callbacks import PythonParts
from quirkpy.kernels.closure import PIVOT, REPORT_WIDTH, WEAKEST
from quirkpy.kernels.elimination import G_WIDTH, WIDTH
from quirkpy.kernels.evaluation import CONTROL_WIDTH, PIVOT_USED, Model, Scratch, evaluate
from quirkpy.kernels.hook import HOOK_WIDTH
from quirkpy.kernels.instant import Instant
from quirkpy.kernels.kinematics import ground_frames
from quirkpy.kernels.ledger import ISLAND_WIDTH
from quirkpy.kernels.rows import ROW_WIDTH
from quirkpy.kernels.tree import CARRIER, COUNT, GENERAL_NODE, NODE, PARENT, PLACE, tree_of
from quirkpy.parts.checks import Floats
from quirkpy.tables.tables import Selection


class Engine:
    """Accelerations of one selection by the compiled recursion."""

    def __init__(self, selection: Selection) -> None:
        packed = pack(selection.tables)
        tree, islands = tree_of(selection)
        n, m, freedoms = selection.tables.n_bodies, len(tree.loops), int(tree.nodes[:-1, COUNT].sum())
        general = n if GENERAL_NODE in tree.nodes[:-1, NODE] else 0
        self.selection = selection
        self.model = Model(
            tree, packed.sites, Joints(packed.ends, np.zeros(len(packed.ends))), packed.rows, packed.elements,
            packed.schedules, selection.elements, packed.bodies, islands,
            np.zeros(HOOK_WIDTH, dtype=np.int64), np.zeros(CONTROL_WIDTH),
        )  # fmt: skip
        self.model.control[PIVOT_USED] = PIVOT
        self.scratch = Scratch(
            ground_frames(n), np.zeros((n + 1, 6)), np.zeros(len(selection.elements)), np.zeros(2),
            np.zeros((n + 1, WIDTH)), np.zeros((general, G_WIDTH)), np.zeros((m, ROW_WIDTH)),
            np.zeros((m + 1, freedoms)), np.zeros((n + 1, ISLAND_WIDTH)), np.zeros(REPORT_WIDTH),
        )  # fmt: skip
        self.scratch.report[WEAKEST] = 1.0
        self.python = PythonParts(selection, self.model, self.scratch)

    def accelerations(self, at: Instant) -> Floats:
        """Accelerations (nb, 6): of the mass centre in N, omega-dot in body axes."""
        self.model.joints.near[:] = at.near
        out = np.empty((len(at.r), 6))
        evaluate(at.t, at.state, self.model, self.scratch, out)
        self.python.raise_pending()
        return out

    def loop(self, k: int) -> tuple[str, ...]:
        """The joints of the loop that closing row k closes, its own first; none for k = -1."""
        if k < 0:
            return ()
        t, nodes = self.selection.tables, self.model.tree.nodes
        row, a, b = self.model.tree.loops[k].tolist()
        carriers = [t.row_joint[row]]
        while a != b:  # the deeper one goes up
            if nodes[a, PLACE] < nodes[b, PLACE]:
                a, b = b, a
            carriers.append(nodes[a, CARRIER])
            a = nodes[a, PARENT]
        return tuple(t.joint_names[j] for j in carriers if j >= 0)
