"""Rests of hinged rods between stops: inside the box of their ranges, and pressed on stops of one,
two or three hinges, told by Newton's method from a grid on every face of the box."""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.maths.types import Bools, Floats
from tests.random_systems import seeds

G = 9.81
#: How far apart places of the grid are [rad]; steps from each; poses that are one [rad].
GRID, STEPS, SAME = 0.35, 60, 1e-5


class Chain(NamedTuple):
    """Rods hung on each other between stops, springs on some hinges.  c: the weights, so that
    U = -sum c cos a + sum k (x - rest)^2 / 2, with a the angles from below, first + cumsum x."""

    system: qp.Multibody
    c: Floats
    k: Floats
    rest: Floats
    first: Floats
    low: Floats
    high: Floats

    def slope(self, x: Floats) -> Floats:
        """dU/dx at some places (m, n)."""
        moments = self.c * np.sin(self.first + np.cumsum(x, axis=1))
        below = np.cumsum(moments[:, ::-1], axis=1)[:, ::-1]
        return np.asarray(below + self.k * (x - self.rest))

    def bend(self, x: Floats) -> Floats:
        """The second derivatives of U at some places (m, n, n)."""
        stiff = self.c * np.cos(self.first + np.cumsum(x, axis=1))
        below = np.cumsum(stiff[:, ::-1], axis=1)[:, ::-1]
        n = len(self.c)
        later = np.maximum(np.arange(n)[:, None], np.arange(n))
        return np.asarray(below[:, later] + np.diag(self.k))


def chain(seed: int, n: int) -> Chain:
    rng = np.random.default_rng([10, seed])
    length, mass = rng.uniform(0.2, 0.5, n), rng.uniform(0.3, 1.0, n)
    first = rng.uniform(-3.0, 3.0, n)
    k = np.where(rng.random(n) < 0.6, rng.uniform(0.2, 2.0, n), 0.0)
    rest = rng.uniform(-2.0, 2.0, n)
    low, high = -rng.uniform(0.1, 5.0, n), rng.uniform(0.1, 5.0, n)
    parts: list[Any] = [qp.Gravity((0, 0, -G))]
    at, before = np.zeros(3), qp.GROUND
    for j in range(n):
        end = at + length[j] * np.array([math.sin(first[j]), 0.0, -math.cos(first[j])])
        rod = qp.Body.rod(f"r{j}", tuple(at), tuple(end), mass=mass[j])
        hinge = qp.Revolute(f"h{j}", before, rod, at=tuple(at), axis=(0, -1, 0))
        parts += [rod, hinge, qp.JointStop(f"s{j}", hinge, lower=low[j], upper=high[j])]
        if k[j]:
            parts.append(qp.JointSpring(f"k{j}", hinge, stiffness=k[j], rest=rest[j], damping=0.01))
        at, before = end, rod
    c = np.array([(0.5 * mass[j] + mass[j + 1 :].sum()) * length[j] * G for j in range(n)])
    return Chain(qp.Multibody(*parts), c, k, rest, first, low, high)


class Rest(NamedTuple):
    """Angles of the hinges, which are held by stops, and along how many modes energy falls."""

    x: Floats
    held: tuple[bool, ...]
    falling: int


def rests(made: Chain) -> list[Rest]:
    """All rests, each pose once."""
    out: list[Rest] = []
    for sides in itertools.product((0.0, 1.0, -1.0), repeat=len(made.c)):
        for x in on_face(made, np.array(sides)):
            if not any(one_pose(made, x, other.x) for other in out):
                free = np.array(sides) == 0.0
                bends = np.linalg.eigvalsh(made.bend(x[None])[0][np.ix_(free, free)])
                out.append(Rest(x, tuple((~free).tolist()), int((bends < 0.0).sum())))
    return out


def on_face(made: Chain, sides: Floats) -> Floats:
    """Rests that are pressed on the lower (1) or upper (-1) stops of some hinges (m, n)."""
    free, bounds = sides == 0.0, np.where(sides > 0.0, made.low, made.high)
    axes = [
        np.arange(low + 0.5 * GRID, high, GRID) if is_free else np.array([bound])
        for low, high, is_free, bound in zip(made.low, made.high, free, bounds, strict=True)
    ]
    x = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(sides))
    for _ in range(STEPS if free.any() else 0):
        slope, bend = made.slope(x)[:, free], made.bend(x)[:, free][:, :, free]
        step = np.linalg.solve(bend + 1e-12 * np.eye(free.sum()), slope[..., None])[..., 0]
        size = np.linalg.norm(step, axis=1)[:, None]
        x[:, free] -= step * np.minimum(1.0, 0.4 / np.maximum(size, 1e-300))
    still = (abs(made.slope(x)[:, free]) < 1e-9).all(axis=1)
    inside = ((x > made.low) & (x < made.high))[:, free].all(axis=1)
    pressed = (made.slope(x) * sides)[:, ~free].min(axis=1, initial=math.inf) > 0.0
    return np.unique(np.round(x[still & inside & pressed], 8), axis=0)


def one_pose(made: Chain, x: Floats, y: Floats) -> bool:
    """Whether angles are one but for whole turns of hinges without a spring."""
    turns = np.where(made.k == 0.0, np.round((x - y) / (2.0 * math.pi)), 0.0)
    return bool(abs(x - y - 2.0 * math.pi * turns).max() < SAME)


def compare(made: Chain, found: qp.Equilibria) -> Bools:
    """Which of all rests were found; what was found is one of these, with its verdict."""
    known, n = rests(made), len(made.c)
    met = np.zeros(len(known), dtype=bool)
    for e in found:
        x = np.array([float(e.state[f"h{j}"].angle) for j in range(n)])
        k = next(k for k, rest in enumerate(known) if one_pose(made, x, rest.x))
        held = tuple(any(s.startswith(f"s{j} ") for s in e.state.held) for j in range(n))
        assert held == known[k].held
        assert e.verdict == ("unstable" if known[k].falling else "stable")
        assert len(e.unstable) == known[k].falling
        assert not met[k]
        met[k] = True
    return met


@pytest.mark.parametrize("seed", [5, 3])
def test_rests_pressed_on_stops_of_two_hinges_are_found(seed: int) -> None:
    made = chain(seed, 2)
    found = made.system.equilibria(seeds=8)
    assert compare(made, found).all()
    corners = [e for e in found if len(e.state.held) == 2]
    assert [e.verdict for e in corners] == ["stable"]
    assert found.missing == 0


@seeds(4, 1, attack=40)
@pytest.mark.parametrize("rods", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_no_more_rests_between_stops_are_missed_than_said(rods: int, seed: int) -> None:
    """With little effort and with more."""
    made = chain(seed, rods)
    for effort in (1, 4):
        found = made.system.equilibria(seeds=effort)
        met = compare(made, found)
        assert (~met).mean() <= found.unseen + 1e-12
        assert found.missing is None or found.missing <= (~met).sum()


def test_a_corner_of_three_ranges_is_missed_by_none() -> None:
    """Rods that lean far over, between narrow stops: pressed on all three, and nowhere else."""
    made = chain(0, 3)
    hinges = [made.system[f"h{j}"] for j in range(3)]
    parts = [p for p in made.system.parts if not isinstance(p, (qp.JointStop, qp.JointSpring))]
    narrow: list[Any] = [qp.JointStop(f"s{j}", hinge, lower=-0.01, upper=0.01)
              for j, hinge in enumerate(hinges)]  # fmt: skip
    found = qp.Multibody(*parts, *narrow).equilibria(seeds=2)
    bare = made._replace(k=np.zeros(3), low=np.full(3, -0.01), high=np.full(3, 0.01))
    assert compare(bare, found).all()
    assert any(len(e.state.held) == 3 for e in found)
    assert found.missing == 0
