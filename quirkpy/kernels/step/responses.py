"""Accelerations and energies of many neighbouring states, each projected onto its joints, or as it
is."""

from __future__ import annotations

from quirkpy.kernels.base.compiled import kernel
from quirkpy.kernels.base.conditions import TIME, Conditions
from quirkpy.kernels.step.projection import project
from quirkpy.kernels.tree.evaluation import evaluate
from quirkpy.kernels.tree.model import Model, Scratch
from quirkpy.maths.types import Floats


@kernel
def respond(
    t: float,
    states: Floats,
    model: Model,
    conditions: Conditions,
    scratch: Scratch,
    moved: Floats,
    accelerations: Floats,
    energies: Floats,
) -> None:
    """Project states (k, nb + 1, STATE_WIDTH) onto their joints in place; their accelerations (k,
    nb, 6) and potential energies (k,). moved: room for the result of projection (2,)."""
    for k in range(states.shape[0]):
        conditions.control[TIME] = t
        project(states[k], model, conditions, scratch, moved)
        evaluate(t, states[k], model, conditions, scratch, accelerations[k])
        energies[k] = 0.0
        for i in range(scratch.potential.shape[0]):
            energies[k] += scratch.potential[i]


@kernel
def accelerate_each(
    t: float, states: Floats, model: Model, conditions: Conditions, scratch: Scratch, out: Floats
) -> None:
    """Accelerations (k, nb, 6) of states, as they are, whose first rows are those of the bodies (k,
    nb + m, STATE_WIDTH)."""
    for k in range(states.shape[0]):
        evaluate(t, states[k], model, conditions, scratch, out[k])


@kernel
def respond_with_modes(
    t: float,
    states: Floats,
    projecting: bool,
    model: Model,
    conditions: Conditions,
    scratch: Scratch,
    moved: Floats,
    accelerations: Floats,
    further: Floats,
    energies: Floats,
) -> None:
    """Accelerations (k, nb, 6), rates of the further speeds (k, n) and potential energies (k,) of
    states with their tails (k, line_rows, STATE_WIDTH), projected onto their joints in place or
    left as they are."""
    first = scratch.tail.shape[1] - further.shape[1]
    for k in range(states.shape[0]):
        conditions.control[TIME] = t
        if projecting:
            project(states[k], model, conditions, scratch, moved)
        evaluate(t, states[k], model, conditions, scratch, accelerations[k])
        energies[k] = 0.0
        for i in range(scratch.potential.shape[0]):
            energies[k] += scratch.potential[i]
        for i in range(further.shape[1]):
            further[k, i] = scratch.tail[1, first + i]
