"""Coordinates and momenta of groups that turn freely: what the conservation of angular momentum
leaves."""

from __future__ import annotations

import numpy as np

from quirkpy.kernels.base.states import zero_vectors
from quirkpy.maths.types import Floats
from quirkpy.mechanics.rigid_motion import spin_of
from quirkpy.rest.vicinity import Vicinity


def spin_directions(around: Vicinity) -> Floats:
    """Coordinates of rotations about the axes about which the whole turns freely (m, f)."""
    islands = np.unique(around.whole.islands)
    fields = [around.whole.displacement_of_spin(around.rows, k) for k in islands]
    return around.reduce(
        np.array([field for field in fields if field is not None]).reshape(
            -1, *zero_vectors(len(around.rows)).shape
        )
    )


def momentum_rows(around: Vicinity) -> Floats:
    """Derivatives with respect to (xi, eta) of the angular momentum of groups that turn and on
    which no external moment acts (3 each, 2 f)."""
    whole, selection, out = around.whole, around.layout.selection, []
    turning = np.unique(whole.islands) if whole.turning.any() else ()
    for g in turning:
        mine = whole.islands == g
        if whole.turns[mine].all() and whole.turning[mine].any():
            shifted, moving = (
                around.slopes_of(spin_of(selection, around.state.t, answers.rows, mine))
                for answers in (around.probes, around.moving)
            )
            out.append(np.concatenate([shifted, moving / around.pace], axis=1))
    return np.concatenate(out) if out else np.zeros((0, 2 * around.freedoms))
