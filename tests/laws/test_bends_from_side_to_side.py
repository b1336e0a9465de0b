"""Where the bend of energy jumps at planes, or walls leave a cone, energy falls along an allowed
direction or along none: against dense samples of all directions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from quirkpy.maths.types import Floats
from quirkpy.rest.cones import Bends, decide
from tests.random_systems import seeds


def bends(rng: np.random.Generator, kinks: int, walls: int) -> Bends:
    f = int(rng.integers(1, 5))
    turn = np.linalg.qr(rng.normal(size=(f, f)))[0]
    K = turn @ np.diag(rng.uniform(-0.6, 2.0, f)) @ turn.T
    rows = rng.normal(size=(kinks + walls, f))
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    return Bends(
        K, np.full((f, f), 1e-13), rows[:kinks], rng.uniform(-1.5, 1.5, kinks), rows[kinks:]
    )


def lowest(form: Bends, rng: np.random.Generator) -> float:
    """Of the bend on allowed directions of length one: the best of many, each followed down (within
    the walls)."""
    f = len(form.stiffness)
    tried = rng.normal(size=(20_000, f))
    ways = [tried]
    for _ in range(3 if len(form.walls) else 0):  # on the walls as well, and where they meet
        wall = form.walls[rng.integers(0, len(form.walls), len(tried))]
        ways.append(ways[-1] - np.einsum("kf,kf->k", ways[-1], wall)[:, None] * wall)
    tried = np.concatenate(ways)
    tried = tried[np.linalg.norm(tried, axis=1) > 1e-9]
    tried /= np.linalg.norm(tried, axis=1)[:, None]
    inside = (tried @ form.walls.T >= -1e-12).all(axis=1)
    tried = tried[inside]
    if not len(tried):
        return np.inf
    values = form.along(tried)
    best = float(values.min())
    for start in tried[np.argsort(values)[:6]]:
        made = minimize(
            lambda x: float(form.along(x[None])[0] / (x @ x)),
            start,
            method="SLSQP",
            constraints=[{"type": "ineq", "fun": lambda x: form.walls @ x}]
            if len(form.walls)
            else [],
        )
        x = made.x / np.linalg.norm(made.x)
        if (form.walls @ x >= -1e-9).all():
            best = min(best, float(form.along(x[None])[0]))
    return best


@pytest.mark.parametrize(
    ("kinks", "walls"), [(1, 0), (2, 0), (3, 0), (0, 1), (0, 2), (0, 3), (1, 1), (2, 2)]
)
@seeds(12, 3, attack=500)
def test_it_falls_where_a_dense_search_finds_a_direction(kinks: int, walls: int, seed: int) -> None:
    rng = np.random.default_rng([seed, kinks, walls])
    form = bends(rng, kinks, walls)
    found, value = decide(form), lowest(form, rng)
    assert found is not None
    if abs(value) < 1e-6:
        return
    assert found.ground == ("falls" if value < 0.0 else "rises")
    if found.ground == "falls":
        x: Floats = found.along
        assert np.linalg.norm(x) == pytest.approx(1.0)
        assert (form.walls @ x >= -1e-8).all()
        assert form.along(x[None])[0] == pytest.approx(found.value, abs=1e-9)
        assert found.value < 0.0


@pytest.mark.parametrize("turned", [0.0, 0.7, 2.5])
def test_a_copositive_matrix_is_one(turned: float) -> None:
    """x'Kx with K = [[1, 2], [2, 1]] falls along (1, -1), but not in the quadrant between two
    walls; Horn's matrix is copositive in five dimensions, and level on its border."""
    c, s = np.cos(turned), np.sin(turned)
    turn = np.array([[c, -s], [s, c]])
    none = np.zeros((0, 2)), np.zeros(0)
    K, walls = turn @ np.array([[1.0, 2.0], [2.0, 1.0]]) @ turn.T, np.eye(2) @ turn.T
    rises, falls = (
        decide(Bends(K, np.full((2, 2), 1e-13), *none, w)) for w in (walls, walls * [[1.0], [-1.0]])
    )
    assert rises is not None
    assert falls is not None
    assert (rises.ground, falls.ground) == ("rises", "falls")
    horn = np.array(
        [
            [1, -1, 1, 1, -1],
            [-1, 1, -1, 1, 1],
            [1, -1, 1, -1, 1],
            [1, 1, -1, 1, -1],
            [-1, 1, 1, -1, 1],
        ]
    )
    empty, grounds = (np.zeros((0, 5)), np.zeros(0)), []
    for shift in (1e-3, 0.0, -1e-3):
        found = decide(Bends(horn + shift * np.eye(5), np.full((5, 5), 1e-12), *empty, np.eye(5)))
        assert found is not None
        grounds.append(found.ground)
    assert grounds == ["rises", "level", "falls"]
