"""The work of displacements against all forces."""

from __future__ import annotations

import numpy as np

from quirkpy.kernels.base.states import angular_of, linear_of
from quirkpy.maths.types import Floats
from quirkpy.mechanics.bending import mass_matrix
from quirkpy.mechanics.rigid_motion import displacement_between
from quirkpy.rest.vicinity import Vicinity

SEGMENTS = 4  # intervals over which work is integrated


def work_to(around: Vicinity, xi: Floats) -> Floats:
    """The work [J] of moving to some coordinates (k, f) along the joints against all forces,
    including those without a potential energy and those that change as the whole turns; exact to
    second order (k,)."""
    shares = np.linspace(0.0, 1.0, SEGMENTS + 1)[:, None, None]
    k, n = len(xi), len(around.rows)
    answers = around.answers(
        around.states_at((shares * xi).reshape((SEGMENTS + 1) * k, around.freedoms))
    )
    rows, felt = (a.reshape(SEGMENTS + 1, k, n, a.shape[-1]) for a in (answers.rows, answers.felt))
    tables, mean = around.layout.selection.tables, 0.5 * (felt[1:] + felt[:-1])
    step = displacement_between(rows[:-1], rows[1:])
    if around.flexible:
        flat = around.points.flat
        return -np.einsum("skv,vw,skw->k", flat(mean, -1), mass_matrix(around.at), flat(step, -1))
    pushed = np.einsum("n,skni,skni->k", tables.body_mass, linear_of(mean), linear_of(step))
    return np.asarray(
        -pushed
        - np.einsum("nij,sknj,skni->k", tables.body_inertia, angular_of(mean), angular_of(step))
    )
