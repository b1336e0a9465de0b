"""Rest where ropes are just taut, potentials have a crease, or stops are touched and not pressed
on: a minimum on every side, or left on the one that falls.  Truths are the signs of the bends side
by side, or dense samples of them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.maths.types import Floats
from quirkpy.parts.checks import instance
from tests.random_systems import seeds


def moved(seed: int) -> tuple[Floats, Floats]:
    """Axes as columns, and a place: none for seed 0."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0] if seed else np.eye(3)
    return turn * np.linalg.det(turn), rng.normal(size=3) * bool(seed)


def ropes(
    K: Floats,
    ways: Floats,
    strengths: Floats,
    seed: int = 0,
    damping: float = 0.5,
    start: Floats | None = None,
) -> qp.Multibody:
    """A ball that does not turn, pushed and pulled by x'Kx/2 (3, 3), with ropes along some ways (k,
    3) that are just taut and pull as it moves that way; turned and shifted."""
    turn, shift = moved(seed)
    at = shift if start is None else shift + turn @ start
    ball = qp.Body.sphere("ball", 0.05, 1.0, position=at)
    sites = [x.site("o", at=tuple(p), z=tuple(turn[:, 2]), x=tuple(turn[:, 0])) for x, p in
             ((qp.GROUND, shift), (ball, np.zeros(3)))]  # fmt: skip
    block = np.zeros((6, 6))
    block[:3, :3] = K
    field = qp.Bushing("field", *sites, stiffness=block, damping=np.diag([damping] * 3 + [0.0] * 3))
    lines = [
        qp.Spring(
            f"rope{k}",
            qp.GROUND.site(f"far{k}", at=tuple(shift - turn @ way * 5.0)),
            ball.site(f"end{k}"),
            stiffness=strength,
            rest_length=5.0,
            tension_only=True,
        )
        for k, (way, strength) in enumerate(zip(ways, strengths))
    ]
    return qp.Multibody(ball, field, *lines, upright(ball))


def upright(ball: qp.Body) -> qp.Bushing:
    """What keeps a ball from turning, and does nothing else."""
    return qp.Bushing("upright", qp.GROUND, ball, at=tuple(ball.position), stiffness=(0, 0, 0, 1.0,
    1.0, 1.0),
                      damping=(0, 0, 0, 0.1, 0.1, 0.1))  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(-1.0, 3.0, "unstable"), (1.0, 5.0, "stable"), (3.0, 1e4, "stable"), (-1.0, 0.0, "unstable"),
     (0.0, 4.0, "marginal"), (-1e-3, 1e3, "unstable")],
)  # fmt: skip
def test_one_rope_that_is_just_taut(low: float, high: float, verdict: str, seed: int) -> None:
    """U = low x^2 / 2 for x < 0, high x^2 / 2 for x > 0: it falls to x < 0, whichever sense the
    seed takes."""
    way = np.array([[1.0, 0.0, 0.0]])
    system = ropes(np.diag([low, 1.0, 2.0]), way, np.array([high - low]), seed)
    found = system.settle(nudge=0.0)
    assert found.verdict == verdict, found.reason
    assert "rope0" in found.reason
    assert "jumps" in found.reason
    if low < 0.0:
        turn, shift = moved(seed)
        assert found.unstable[0].eigenvalue.real == pytest.approx(
            np.sqrt(0.0625 - low) - 0.25, rel=1e-4
        )
        for choice in range(3):
            left = system.settle(seed=choice, duration=8.0 / np.sqrt(-low))
            assert ((left.state["ball"].position - shift) @ turn)[0] < -5e-7


class Whirl(qp.Force):
    """A load on a body across the way from the origin, in its own plane: it has no potential."""

    body: qp.Body = qp.checked(instance(qp.Body))
    strength: float

    def load(self, at: qp.MotionView) -> qp.Wrench:
        x, y, _ = at[self.body].position
        return {self.body: qp.Wrench((-self.strength * y, self.strength * x, 0.0))}  # type: ignore[return-value]


@pytest.mark.parametrize("strength", [0.5, 3.0])
def test_loads_without_a_potential_are_not_judged_by_energy(strength: float) -> None:
    """x'' = -x + s y: with s = 3 the ball spirals out at every moderate damping, though energy
    rises on all sides."""
    system = ropes(np.eye(3), np.eye(3)[:1], np.array([4.0]))
    ball = system["ball"]
    assert isinstance(ball, qp.Body)
    found = system.with_(Whirl("whirl", ball, strength)).settle(nudge=0.0)
    assert found.verdict == "marginal"
    assert "no potential" in found.reason


def test_what_swings_across_a_rope_comes_to_rest_where_it_is_just_taut() -> None:
    found = ropes(
        np.eye(3), np.eye(3)[:1], np.array([4.0]), start=np.array([0.2, 0.1, 0.0])
    ).settle()
    assert (found.verdict, found.damped) == ("stable", True), found.reason
    np.testing.assert_allclose(found.state["ball"].position, 0.0, rtol=0.0, atol=1e-9)


def bend(K: Floats, ways: Floats, strengths: Floats, x: Floats) -> Floats:
    """x'Kx + sum strength (way'x)+^2 (n,)."""
    return np.asarray(
        np.einsum("ni,ij,nj->n", x, K, x) + (np.maximum(x @ ways.T, 0.0) ** 2) @ strengths
    )  # fmt: skip


@pytest.mark.parametrize("kinks", [2, 3])
@seeds(10, 3, attack=1_000)
def test_several_ropes_at_once(kinks: int, seed: int) -> None:
    """Against the lowest of many thousand directions."""
    rng = np.random.default_rng([seed, kinks])
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    K = turn @ np.diag(rng.uniform([-1.0, 0.3, 0.5], [1.0, 2.0, 2.0])) @ turn.T
    ways = rng.normal(size=(kinks, 3))
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    strengths = rng.uniform(0.5, 6.0, kinks)
    x = rng.normal(size=(400_000, 3))
    x /= np.linalg.norm(x, axis=1)[:, None]
    lowest = float(bend(K, ways, strengths, x).min())
    found = ropes(K, ways, strengths, seed).settle(nudge=0.0)
    if abs(lowest) < 1e-2:
        assert found.verdict in ("stable", "unstable", "marginal")
    else:
        assert found.verdict == ("unstable" if lowest < 0.0 else "stable"), (found.reason, lowest)


def in_a_plane(away: float, ways: Floats, strengths: Floats) -> qp.Multibody:
    """A puck pushed away from where it rests, and ropes in its plane that are just taut."""
    puck = qp.Body.sphere("puck", 0.05, 1.0)
    stiffness, damping = (-away, -away, 0.0, 0.0, 0.0, 0.3), (0.5, 0.5, 0.0, 0.0, 0.0, 0.1)
    push = qp.Bushing("push", qp.GROUND, puck, at=(0, 0, 0), stiffness=stiffness, damping=damping)
    table = qp.Planar("table", qp.GROUND, puck, at=(0, 0, 0), axis=(0, 0, 1))
    lines = [
        qp.Spring(
            f"rope{k}",
            qp.GROUND.site(f"far{k}", at=(*(-50.0 * way), 0.0)),
            puck,
            stiffness=strength,
            rest_length=50.0,
            tension_only=True,
        )
        for k, (way, strength) in enumerate(zip(ways, strengths))
    ]
    return qp.Multibody(puck, table, push, *lines)


@pytest.mark.parametrize("kinks", [3, 4, 5, 6])
@seeds(10, 3, attack=1_000)
def test_more_ropes_than_a_plane_has_numbers(kinks: int, seed: int) -> None:
    """Ropes all around: what displacements along two coordinates change alike either way are four
    numbers, which five jumps explain in many ways, all but one of them wrong."""
    rng = np.random.default_rng([seed, kinks, 2])
    angles = 2.0 * np.pi * (np.arange(kinks) + rng.uniform(-0.3, 0.3, kinks)) / kinks
    ways, strengths = (
        np.column_stack([np.cos(angles), np.sin(angles)]),
        rng.uniform(1.0, 8.0, kinks),
    )
    away, turns = float(rng.uniform(0.5, 2.0)), np.linspace(0.0, 2.0 * np.pi, 20_000)
    x = np.column_stack([np.cos(turns), np.sin(turns)])
    lowest = float(bend(-away * np.eye(2), ways, strengths, x).min())
    found = in_a_plane(away, ways, strengths).settle(nudge=0.0)
    if abs(lowest) > 1e-2 and found.verdict != "marginal":
        assert found.verdict == ("unstable" if lowest < 0.0 else "stable"), (found.reason, lowest)
    (near, *_) = sorted(
        abs(np.sin(one - two)) for k, one in enumerate(angles) for two in angles[:k]
    )
    assert found.verdict != "marginal" or abs(lowest) <= 1e-2 or near < 0.15  # planes side by side


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(-1.0, 5.0, "unstable"), (1.0, 5.0, "stable"), (5.0, -1.0, "unstable")],
)
def test_a_potential_of_a_users_own_with_a_crease(low: float, high: float, verdict: str) -> None:
    ball = qp.Body.sphere("ball", 0.05, 1.0)
    rail = qp.Prismatic("rail", qp.GROUND, ball, at=(0, 0, 0), axis=(1, 0, 0))
    damper = qp.JointDamper("brake", rail, damping=0.5)

    def energy(at: qp.MotionView) -> float:
        x = at[ball].position[0]
        return 0.5 * (low if x < 0.0 else high) * float(x) ** 2

    def wrenches(at: qp.MotionView) -> dict[qp.Body, qp.Wrench]:
        x = at[ball].position[0]
        return {
            ball: qp.Wrench((-(low if x < 0.0 else high) * x, 0, 0), (0, 0, 0), at[ball].position)
        }

    system = qp.Multibody(ball, rail, damper, qp.Potential("crease", energy, wrenches=wrenches))
    found = system.settle(nudge=0.0)
    assert found.verdict == verdict, found.reason
    assert "crease jumps" in found.reason


# --- stops that are touched -----------------------------------------------------------------------
def corner(
    K: Floats, seed: int, damping: float = 0.5, senses: tuple[float, ...] = (1.0, 1.0)
) -> qp.Multibody:
    """A ball on two slides, one on the other, pushed and pulled by x'Kx/2 (2, 2), that touches a
    stop on each: only senses * x >= 0 is free; turned and shifted."""
    turn, shift = moved(seed)
    sledge = qp.Body.sphere("sledge", 0.05, 1e-6, position=shift)
    ball = qp.Body.sphere("ball", 0.05, 1.0, position=shift)
    one = qp.Prismatic("one", qp.GROUND, sledge, at=tuple(shift), axis=tuple(turn[:, 0]))
    two = qp.Prismatic("two", sledge, ball, at=tuple(shift), axis=tuple(turn[:, 1]))
    sites = [x.site("o", at=tuple(p), z=tuple(turn[:, 2]), x=tuple(turn[:, 0])) for x, p in
             ((qp.GROUND, shift), (ball, np.zeros(3)))]  # fmt: skip
    block = np.zeros((6, 6))
    block[:2, :2] = K
    field = qp.Bushing("field", *sites, stiffness=block, damping=np.diag([damping] * 2 + [0.0] * 4))
    stops = [
        qp.JointStop(
            f"stop {rail.name}", rail, **({"lower": 0.0} if sense > 0.0 else {"upper": 0.0})
        )
        for rail, sense in zip((one, two), senses)
        if sense
    ]
    return qp.Multibody(sledge, ball, one, two, field, *stops)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("senses", [(1.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (1.0, 0.0), (0.0, 0.0)])
@pytest.mark.parametrize("coupling", [0.5, 2.0, -2.0])
def test_two_stops_that_are_touched_leave_a_quadrant(
    coupling: float, senses: tuple[float, float], seed: int
) -> None:
    """K = [[1, c], [c, 1]] falls along (1, -1) or (1, 1) where |c| > 1: a motion that both stops
    allow, or neither."""
    K = np.array([[1.0, coupling], [coupling, 1.0]])
    x = np.column_stack([np.cos(a := np.linspace(0.0, 2.0 * np.pi, 10_001)), np.sin(a)])
    allowed = x[(x * np.array(senses) >= -1e-12).all(axis=1)]
    lowest = np.einsum("ni,ij,nj->n", allowed, K, allowed).min()
    found = corner(K, seed, senses=senses).settle(nudge=0.0)
    assert found.verdict == ("stable" if lowest > 0.0 else "unstable"), found.reason


@seeds(20, 5, attack=2_000)
def test_random_corners(seed: int) -> None:
    rng = np.random.default_rng([11, seed])
    half = rng.normal(size=(2, 2))
    K = half + half.T
    senses = (1.0, float(rng.choice([-1.0, 1.0])))
    a = np.linspace(0.0, 0.5 * np.pi, 100_001)
    x = np.column_stack([np.cos(a), np.sin(a)]) * senses
    lowest = float(np.einsum("ni,ij,nj->n", x, K, x).min())
    found = corner(K, seed, senses=senses).settle(nudge=0.0)
    assert found.verdict == ("stable" if lowest > 0.0 else "unstable") or abs(lowest) < 1e-6, (
        found.reason
    )
    if found.verdict == "unstable":
        moves = np.real(found.unstable[0].shape)[1, :3] @ moved(seed)[0]
        way = moves[:2] * np.array(senses)
        assert (way >= -1e-9).all() or (way <= 1e-9).all()  # within the corner, of either sign
    assert dataclasses.is_dataclass(found)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("count", "verdict"), [(0, "unstable"), (1, "unstable"), (2, "stable")])
def test_ropes_that_hold_leave_a_corner(count: int, verdict: str, seed: int) -> None:
    """K = [[1, 2], [2, 1]] falls along (1, -1): one rope, against motion along x, leaves (-1, 1),
    two leave neither."""
    turn, shift = moved(seed)
    K = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    free = ropes(K, np.zeros((0, 3)), np.zeros(0), seed)
    ball = free["ball"]
    assert isinstance(ball, qp.Body)
    lines = [
        qp.Rope(
            f"line{k}",
            qp.GROUND.site(f"peg{k}", at=tuple(shift - 5.0 * turn[:, k])),
            ball.site(f"eye{k}"),
            length=5.0,
        )
        for k in range(count)
    ]
    found = free.with_(*lines).settle(nudge=0.0)
    assert found.verdict == verdict, found.reason
