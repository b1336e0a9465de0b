"""Open inputs: what hypothesis may choose.  Runs are the same every time."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

#: Many examples, always the same ones.
OPEN = settings(derandomize=True, deadline=None, max_examples=60, database=None)


def real(low: float, high: float) -> st.SearchStrategy[float]:
    """A number without the tiniest ones, whose squares vanish."""
    return st.floats(low, high, allow_nan=False).map(lambda x: x if abs(x) > 1e-9 else 0.0)


def numbers(n: int, size: float = 1.0, away: float = 0.0) -> st.SearchStrategy[tuple[float, ...]]:
    """n numbers from -size to size; as a vector at least `away` long."""
    drawn = st.tuples(*(real(-size, size) for _ in range(n)))
    return drawn.filter(lambda a: np.linalg.norm(a) >= away)


def turns() -> st.SearchStrategy[Any]:
    """Any rotation, as an axis and an angle."""
    return st.tuples(numbers(3, away=0.1), real(-3.1, 3.1))


def principal_moments() -> st.SearchStrategy[tuple[float, ...]]:
    """Moments of inertia of some solid: sums of two squares each [kg m2]."""
    squares = st.tuples(*(real(0.01, 1.0) for _ in range(3)))
    return squares.map(lambda s: (s[1] + s[2], s[2] + s[0], s[0] + s[1]))
