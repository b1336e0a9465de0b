"""Rows of joints over the speeds of all bodies, and in the metric of their masses."""

from __future__ import annotations

from quirkpy.kernels.base.arrays import AXES
from quirkpy.kernels.base.compiled import kernel
from quirkpy.kernels.base.vectors import add3, get3, turn_back
from quirkpy.maths.types import Floats, Ints


@kernel
def spread_rows(first: Floats, second: Floats, bodies: Ints, frames: Floats, out: Floats) -> None:
    """Add the blocks of rows, for two bodies and two further ones (m, 12), over velocities in N and
    angular velocities in N, to rows over the speeds of all moving bodies, angular ones in body axes
    (m, nb, 6); bodies: whose blocks they are (4, m)."""
    for m in range(first.shape[0]):
        for k in range(4):
            b, column = bodies[k, m], 6 * (k % 2)
            if b < out.shape[1]:
                block = first if k < 2 else second
                add3(out[m], b, 0, get3(block, m, column))
                add3(out[m], b, 3, turn_back(frames, b, AXES, get3(block, m, column + 3)))


@kernel
def times_blocks(rows: Floats, blocks: Floats, out: Floats) -> None:
    """Rows over the speeds of all bodies (m, nb, 6) times a block of each (nb, 6, 6)."""
    for m in range(rows.shape[0]):
        for k in range(blocks.shape[0]):
            for j in range(6):
                total = 0.0
                for i in range(6):
                    total += rows[m, k, i] * blocks[k, i, j]
                out[m, k, j] = total
