"""Loads on bodies as wholes: fields, which act on masses and at no site."""

from __future__ import annotations

from quirkpy.kernels.base.arrays import Vec
from quirkpy.kernels.base.compiled import woven
from quirkpy.kernels.base.vectors import add3
from quirkpy.maths.types import Floats

#: Columns of the power of forces that no potential accounts for: what loads put in, what dampers
#: take out.  Of the ledger, the last row of a state, as well: what joints took as they took hold,
#: and what projection took.
INTO, OUT, LOST, PROJECTED = range(4)


@woven
def push_body(b: int, f: Vec, wrench: Floats) -> None:
    """Add a force at the mass centre of body b [N]."""
    add3(wrench, b, 0, f)


@woven
def load_body(b: int, f: Vec, torque: Vec, wrench: Floats) -> None:
    """Add a force at the mass centre of body b [N] and a couple [N m]."""
    add3(wrench, b, 0, f)
    add3(wrench, b, 3, torque)
