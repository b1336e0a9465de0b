"""Arithmetic on plain tuples is that of arrays, and gives tuples of floats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from quirkpy.maths import triples
from quirkpy.parts.checks import is_triple

every_seed = pytest.mark.parametrize("seed", range(20))


def drawn(seed: int) -> tuple[Any, ...]:
    """Two vectors and two matrices as arrays, and the same as tuples."""
    arrays = [
        np.random.default_rng([seed, k]).normal(size=shape)
        for k, shape in enumerate((3, 3, (3, 3), (3, 3)))
    ]
    return *arrays, *map(triples.triple, arrays[:2]), *map(triples.nine, arrays[2:])


@every_seed
def test_vectors(seed: int) -> None:
    a, b, _, _, u, v, _, _ = drawn(seed)
    for found, expected in (
        (triples.add(u, v), a + b),
        (triples.sub(u, v), a - b),
        (triples.scale(0.3, u), 0.3 * a),
        (triples.cross(u, v), np.cross(a, b)),
        (triples.unit(u), a / np.linalg.norm(a)),
    ):
        assert is_triple(found)
        np.testing.assert_allclose(found, expected, rtol=1e-15, atol=1e-15)
    assert abs(triples.dot(u, v) - a @ b) < 1e-14
    z = triples.unit(v)
    x = triples.across(u, z)
    assert abs(triples.dot(x, z)) < 1e-15
    assert abs(triples.dot(x, x) - 1.0) < 1e-15
    assert triples.dot(x, u) > 0.0


@every_seed
def test_matrices(seed: int) -> None:
    a, _, m, n, u, _, p, q = drawn(seed)
    for found, expected in (
        (triples.turn(p, u), m @ a),
        (triples.turn_back(p, u), m.T @ a),
        (triples.product(p, q), m @ n),
        (triples.product_back(p, q), m.T @ n),
    ):
        assert all(type(number) is float for number in found)
        np.testing.assert_allclose(
            np.reshape(found, expected.shape), expected, rtol=1e-14, atol=1e-15
        )
    assert triples.array(p).tolist() == m.tolist()
    assert [triples.column(p, k) for k in range(3)] == [tuple(column) for column in m.T.tolist()]
    assert triples.columns(*(triples.column(p, k) for k in range(3))) == p
    assert triples.product(triples.NO_TURN, p) == p


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-200, 1.0, 1e200, 1e308])
def test_a_direction_may_have_any_length(size: float) -> None:
    assert triples.unit((size, -size, 0.0)) == pytest.approx(
        (0.5**0.5, -(0.5**0.5), 0.0), rel=1e-15
    )
