"""`Engine`: a selection made ready for the compiled evaluator, and the scratch that it works in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from quirkpy.kernels.arrays import (
    Elements,
    Joints,
    RowTable,
    Schedules,
    Sites,
    bodies_of,
    elements_of,
    joints_of,
    rows_of,
    schedules_of,
    sites_of,
    state_rows,
)
from quirkpy.kernels.closure import PIVOT, close_loops
from quirkpy.kernels.compiled import kernel
from quirkpy.kernels.elimination import G_WIDTH, WIDTH
from quirkpy.kernels.instant import Instant
from quirkpy.kernels.kinematics import fill_frames, ground_frames
from quirkpy.kernels.loads import applied_loads
from quirkpy.kernels.recursion import in_body_axes, tree_accelerations
from quirkpy.kernels.rows import constraint_rows
from quirkpy.kernels.tree import COUNT, GENERAL_NODE, LOOP_ROW, NODE, Tree, islands_of, tree_of
from quirkpy.parts.checks import Floats, Ints
from quirkpy.tables.tables import CALLBACK, CALLBACK_ROW, Selection


class Model(NamedTuple):
    """All that the compiled evaluator reads: the tree, the tables, which elements act, the bodies, and which of these
    hang together without the ground: the number of each body's island, -1 on the ground (nb,)."""

    tree: Tree
    sites: Sites
    joints: Joints
    rows: RowTable
    elements: Elements
    schedules: Schedules
    acting: Ints
    bodies: Floats
    islands: Ints


class Scratch(NamedTuple):
    """All that it writes: kinematics (nb + 1, FRAME_WIDTH), loads (nb + 1, 6), potential energy of each acting element,
    power (2,), the recursion's rows, and of the loops: [weakest independent row, largest contradiction, pivot]."""

    frames: Floats
    wrench: Floats
    potential: Floats
    power: Floats
    work: Floats
    general: Floats
    report: Floats


class Engine:
    """Accelerations of one selection by the compiled recursion."""

    def __init__(self, selection: Selection) -> None:
        t = selection.tables
        tree = tree_of(selection)
        n = t.n_bodies
        self.selection = selection
        self.pivot = PIVOT
        self.freedoms = int(tree.nodes[:n, COUNT].sum())
        self.model = Model(
            tree, sites_of(t), joints_of(t, np.zeros(len(t.joints))), rows_of(t), elements_of(t),
            schedules_of(t), selection.elements, bodies_of(t), islands_of(selection),
        )  # fmt: skip
        general = n if (tree.nodes[:n, NODE] == GENERAL_NODE).any() else 0
        self.scratch = Scratch(
            ground_frames(n), np.zeros((n + 1, 6)), np.zeros(len(selection.elements)), np.zeros(2),
            np.zeros((n + 1, WIDTH)), np.zeros((general, G_WIDTH)), np.array([1.0, 0.0, PIVOT]),
        )  # fmt: skip
        callbacks = (t.element_kind[selection.elements] == CALLBACK).any()
        self.in_python = bool(callbacks or (t.row_kind[tree.loops[:, LOOP_ROW]] == CALLBACK_ROW).any())

    def accelerations(self, at: Instant) -> Floats:
        """Accelerations (nb, 6): of the mass centre in N, omega-dot in body axes."""
        out = np.empty((len(at.r), 6))
        if self.in_python:
            model, scratch = self.model, self.scratch._replace(frames=at.frames.rows)
            scratch.wrench[:-1] = at.loads.wrench
            chosen = np.searchsorted(self.selection.rows, model.tree.loops[:, LOOP_ROW])
            from_rows(model, scratch, at.rows.jacobian[chosen], at.rows.gamma[chosen], self.freedoms, out)
        else:
            self.model.joints.near[:] = at.joints.near
            y = state_rows(at.r, at.q, at.v, at.omega)
            evaluate(at.t, y, self.model, self.scratch, self.freedoms, out)
        return out


@kernel
def evaluate(t: float, y: Floats, model: Model, scratch: Scratch, freedoms: int, out: Floats) -> None:
    """Accelerations (nb, 6) of a state: kinematics, loads, tree, loops."""
    frames, loops = scratch.frames, model.tree.loops
    fill_frames(y, frames)
    applied_loads(
        t, model.acting, model.elements, model.joints, model.schedules, model.bodies, model.sites, frames,
        scratch.wrench, scratch.potential, scratch.power,
    )  # fmt: skip
    tree_accelerations(
        model.tree, model.bodies, scratch.wrench, model.sites.place, frames, scratch.work, scratch.general
    )
    m = loops.shape[0]
    if m > 0:
        phi, jacobian, gamma = np.empty(m), np.empty((m, 12)), np.empty(m)
        constraint_rows(loops[:, LOOP_ROW], model.rows, model.joints, model.sites, frames, phi, jacobian, gamma)
        close_loops(
            model.tree,
            model.bodies,
            jacobian,
            gamma,
            freedoms,
            scratch.report[2],
            scratch.work,
            scratch.general,
            scratch.report,
        )
    in_body_axes(frames, scratch.work, out)


@kernel
def from_rows(model: Model, scratch: Scratch, jacobian: Floats, gamma: Floats, freedoms: int, out: Floats) -> None:
    """The same with kinematics, loads and closing rows given, as when users' Python has had its say."""
    frames, work, general = scratch.frames, scratch.work, scratch.general
    tree_accelerations(model.tree, model.bodies, scratch.wrench, model.sites.place, frames, work, general)
    if jacobian.shape[0] > 0:
        close_loops(
            model.tree, model.bodies, jacobian, gamma, freedoms, scratch.report[2], work, general, scratch.report
        )
    in_body_axes(frames, work, out)
