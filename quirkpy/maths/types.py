"""Types of arrays and vectors for annotations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]


Ints: TypeAlias = NDArray[np.int64]


Bools: TypeAlias = NDArray[np.bool_]


#: Three numbers: a tuple, a list or an array of shape (3,).  Parts store a tuple of floats.
Vector: TypeAlias = Sequence[float] | Floats


Axis: TypeAlias = Literal["x", "y", "z"]


AXES: tuple[Axis, ...] = get_args(Axis)


def read_only(array: Floats) -> Floats:
    """An array, read-only from now on."""
    array.setflags(write=False)
    return array
