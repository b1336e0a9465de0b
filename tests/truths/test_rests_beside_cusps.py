"""Balls and arms among springs of some rest length: where the ends of one meet its energy has a
cusp, beside which lie rests that are met neither downhill nor by Newton's method.  All of them are
known from thousands of starts in numpy, and that these are all from the sum of (-1)^(modes along
which energy falls) over rests and cusps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.maths.types import Floats
from quirkpy.rest.search import Equilibria
from quirkpy.rest.vicinity import Vicinity
from tests.random_systems import ATTACKING, seeds

#: Searches of which the share is taken that is covered by what is said to be unseen.
SYSTEMS = 60 if ATTACKING else 5


class Held(NamedTuple):
    """A system, and its potential energy U(x) = sum k (|d(x)| - L)^2 / 2 + a smooth rest, whose
    derivatives are known.

    ends: d and its first two derivatives at places (n, f); smooth: gradient and second derivatives
    of the rest. cusps: where ends of one spring meet, and which.  place: where an equilibrium of
    the system is, along x. euler: the sum of (-1)^index over all rests and cusps; round: whether x
    are angles."""

    system: qp.Multibody
    stiffness: Floats
    rest: Floats
    ends: Callable[[Floats], tuple[Floats, Floats, Floats]]
    smooth: Callable[[Floats], tuple[Floats, Floats]]
    cusps: list[tuple[Floats, int]]
    starts: Floats
    place: Callable[[qp.Equilibrium], Floats]
    euler: int
    round: bool


def ball(seed: int, across: int) -> Held:
    """A ball on two rails, or free in space, among three or four springs, with or without
    weight."""
    rng = np.random.default_rng([1, seed, across])
    n, weight = int(rng.integers(3, 5)), float(rng.integers(2) * rng.uniform(0.5, 10.0))
    at, start = rng.uniform(-1.0, 1.0, (n, across)), rng.uniform(-1.0, 1.0, across)
    rest, stiff = rng.uniform(0.3, 1.5, n), rng.uniform(1.0, 10.0, n)

    def point(x: Floats) -> tuple[float, float, float]:
        return float(x[0]), float(x[1]), float(x[2]) if across == 3 else 0.0

    one = qp.Body.sphere("ball", 0.05, 1.0, position=point(start))
    parts: list[Any] = [one, qp.Gravity((0.0, -weight, 0.0))]
    if across == 2:
        carriage = qp.Body.sphere("carriage", 0.05, 0.5, position=point(start))
        parts += [
            carriage,
            qp.Prismatic("x", qp.GROUND, carriage, at=point(start), axis=(1, 0, 0)),
            qp.Prismatic("y", carriage, one, at=point(start), axis=(0, 1, 0)),
        ]
    parts += [
        qp.Spring(
            f"s{k}",
            qp.GROUND,
            one,
            at1=point(at[k]),
            at2=point(start),
            stiffness=stiff[k],
            rest_length=rest[k],
        )
        for k in range(n)
    ]

    def ends(x: Floats) -> tuple[Floats, Floats, Floats]:
        slope = np.broadcast_to(np.eye(across), (len(x), n, across, across))
        return x[:, None] - at, slope, np.zeros((len(x), n, across, across, across))

    def smooth(x: Floats) -> tuple[Floats, Floats]:
        return weight * np.eye(across)[1] + 0.0 * x, np.zeros((len(x), across, across))

    far = 2.5 + weight / float(stiff.sum())
    return Held(
        qp.Multibody(*parts), stiff, rest, ends, smooth, [(at[k], k) for k in range(n)],
        rng.uniform(-far, far, (4000, across)), lambda e: e.state["ball"].position[:across], 1,
        False,
    )  # fmt: skip


def arm(seed: int) -> Held:
    """Two rods hinged to each other and to the ground, in a plane; one or two springs hold their
    tip, which passes the other end of each in two poses."""
    rng = np.random.default_rng([2, seed])
    length, mass, first = (
        rng.uniform(0.3, 0.7, 2),
        rng.uniform(0.3, 1.0, 2),
        rng.uniform(-3.0, 3.0, 2),
    )
    weight, n = float(rng.uniform(1.0, 10.0)), int(rng.integers(1, 3))
    stiff, rest = rng.uniform(2.0, 20.0, n), rng.uniform(0.1, 0.9, n)
    bent, pose = (
        np.where(rng.integers(2, size=n), 1.0, -1.0) * rng.uniform(0.3, 2.8, n),
        rng.uniform(-3.0, 3.0, n),
    )
    poses = np.column_stack([pose, pose + bent])

    def tips(a: Floats) -> Floats:
        return np.stack([np.sin(a) @ length, -np.cos(a) @ length], axis=-1)

    at = tips(poses)
    knee, tip = length[0] * np.array([math.sin(first[0]), -math.cos(first[0])]), tips(first)
    rods = [
        qp.Body.rod(f"rod {k}", (p[0], 0, p[1]), (q[0], 0, q[1]), mass=mass[k])
        for k, (p, q) in enumerate([(np.zeros(2), knee), (knee, tip)])
    ]
    hinges = [
        qp.Revolute("h0", qp.GROUND, rods[0], at=(0, 0, 0), axis=(0, -1, 0)),
        qp.Revolute("h1", *rods, at=(knee[0], 0, knee[1]), axis=(0, -1, 0)),
    ]
    springs = [
        qp.Spring(
            f"s{k}",
            qp.GROUND,
            rods[1],
            at1=(x, 0, z),
            at2=(tip[0], 0, tip[1]),
            stiffness=stiff[k],
            rest_length=rest[k],
        )
        for k, (x, z) in enumerate(at)
    ]

    def ends(a: Floats) -> tuple[Floats, Floats, Floats]:
        s, c, bends = length * np.sin(a), length * np.cos(a), np.zeros((len(a), n, 2, 2, 2))
        for j in range(2):
            bends[:, :, 0, j, j], bends[:, :, 1, j, j] = -s[:, None, j], c[:, None, j]
        return tips(a)[:, None] - at, np.repeat(np.stack([c, s], axis=1)[:, None], n, axis=1), bends

    heavy = weight * length * np.array([0.5 * mass[0] + mass[1], 0.5 * mass[1]])

    def smooth(a: Floats) -> tuple[Floats, Floats]:
        return heavy * np.sin(a), (heavy * np.cos(a))[:, :, None] * np.eye(2)

    cusps = []
    for k, (one, two) in enumerate(poses):
        towards = math.atan2(
            at[k][0], -at[k][1]
        )  # the other pose is its image across the line to the tip
        cusps += [(np.array([one, two]), k), (2.0 * towards - np.array([one, two]), k)]
    return Held(
        qp.Multibody(*rods, *hinges, *springs, qp.Gravity((0, 0, -weight))), stiff, rest, ends,
        smooth, cusps, rng.uniform(-np.pi, np.pi, (4000, 2)),
        lambda e: first + np.cumsum([e.state["h0"].angle, e.state["h1"].angle]), 0, True,
    )  # fmt: skip


# --- all rests ------------------------------------------------------------------------------------
def derivatives(held: Held, x: Floats) -> tuple[Floats, Floats]:
    """Gradient and second derivatives of U at places (n, f)."""
    d, slope, bend = held.ends(x)
    r = np.maximum(np.linalg.norm(d, axis=-1), 1e-300)
    u, tension = d / r[..., None], held.stiffness * (r - held.rest)
    along = np.einsum("nsd,nsdf->nsf", u, slope)
    turning = np.einsum("nsdf,nsdg->nsfg", slope, slope) - along[..., :, None] * along[..., None, :]
    gradient, second = held.smooth(x)
    second = second + np.einsum("s,nsf,nsg->nfg", held.stiffness, along, along)
    second = second + np.einsum("ns,nsfg->nfg", tension / r, turning)
    second = second + np.einsum("ns,nsd,nsdfg->nfg", tension, u, bend)
    return gradient + np.einsum("ns,nsf->nf", tension, along), second


def differences(held: Held, one: Floats, two: Floats) -> Floats:
    """From a place to others, whole turns left out."""
    away = np.asarray(two - one)
    return np.asarray((away + np.pi) % (2.0 * np.pi) - np.pi if held.round else away)


def known(held: Held) -> list[Floats]:
    """All rests, from places all over, and on rings about cusps."""
    rng, f = np.random.default_rng(0), held.starts.shape[1]
    ways = rng.normal(size=(100, f))
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    rings = (np.logspace(-5, -0.1, 16)[:, None, None] * ways).reshape(-1, f)
    x = np.concatenate([held.starts, *(at + rings for at, _ in held.cusps)])
    found: list[Floats] = []
    for _ in range(150):
        gradient, second = derivatives(held, x)
        there = np.linalg.norm(gradient, axis=1) < 1e-9
        for place in x[there]:
            if all(abs(differences(held, place, other)).max() > 1e-6 for other in found):
                found.append(place)
        near = ~there & (abs(x).max(axis=1) < 50.0)
        x, gradient, second = x[near], gradient[near], second[near]
        step = -np.linalg.solve(second, gradient[..., None])[..., 0]
        x = (
            x
            + step
            * np.minimum(1.0, 0.3 / np.maximum(np.linalg.norm(step, axis=1), 1e-300))[:, None]
        )
    return found


def counted(held: Held, rests: list[Floats]) -> int:
    """The sum of (-1)^index; a cusp is a top where all else pulls less than the spring pushes, and
    else nothing."""
    bends = [np.linalg.eigvalsh(derivatives(held, x[None])[1][0]) for x in rests]
    total = sum((-1) ** int((values < 0.0).sum()) for values in bends)
    for x, k in held.cusps:
        d, slope, _ = (part[0] for part in held.ends(x[None]))
        r = np.linalg.norm(d, axis=1)
        others = [j for j in range(len(r)) if j != k]
        pulls = held.smooth(x[None])[0][0] + sum(
            held.stiffness[j] * (1.0 - held.rest[j] / r[j]) * d[j] @ slope[j] for j in others
        )
        force = np.linalg.lstsq(slope[k].T, pulls)[0]
        total += (-1) ** len(x) * bool(np.linalg.norm(force) < held.stiffness[k] * held.rest[k])
    return total


def missed(held: Held, found: Equilibria) -> int:
    """How many rests were not found; each that was found is one of them."""
    rests = known(held)
    assert counted(held, rests) == held.euler
    nearest = []
    for e in found:
        away = [float(abs(differences(held, held.place(e), x)).max()) for x in rests]
        assert min(away) < 1e-5
        nearest.append(int(np.argmin(away)))
    assert len(set(nearest)) == len(nearest)
    return len(rests) - len(nearest)


KINDS: dict[str, Callable[[int], Held]] = {
    "on rails": lambda seed: ball(seed, 2),
    "in space": lambda seed: ball(seed, 3),
    "arm": arm,
}


@pytest.mark.parametrize("kind", ["on rails", "in space"])
def test_all_rests_of_a_ball_beside_cusps_are_found(kind: str) -> None:
    held = KINDS[kind](0)
    assert missed(held, held.system.equilibria(seeds=10)) == 0


@seeds(4, 1, attack=40)
def test_what_is_found_of_an_arm_beside_cusps_are_rests(seed: int) -> None:
    """Some are missed, see docs/equilibria.md, but none is made up where probes straddle a cusp."""
    held = arm(seed)
    assert missed(held, held.system.equilibria(seeds=10)) >= 0


@pytest.mark.slow
@pytest.mark.attack
@pytest.mark.parametrize("kind", ["on rails", "in space"])
def test_eight_of_ten_searches_find_all_rests_beside_cusps(kind: str) -> None:
    """And nine of ten say how much is unseen; before, every fifth ball in space was found whole."""
    left, covered = [], []
    for k in range(SYSTEMS):
        held = KINDS[kind](100 + k)
        found = held.system.equilibria(seeds=10)
        left.append(missed(held, found))
        covered.append(left[-1] / (left[-1] + len(found)) <= found.unseen)
    assert np.mean(np.array(left) == 0) >= 0.8
    assert np.mean(covered) >= 0.9


def test_modes_come_lowest_first_though_a_ball_turns_without_stiffness() -> None:
    """Ways uphill take the lowest modes across them; beside neutral ones modes came in the order of
    their size."""
    held = ball(6, 3)
    bends, modes = Vicinity(held.system.clusters, held.system.initial).bends
    assert bends[0] < -0.1
    assert not bends[1:4].any()  # the ball turns
    assert bends[4] > 1.0
    assert (np.diff(bends) >= 0.0).all()
    np.testing.assert_allclose(modes.T @ modes, np.eye(6), atol=1e-9)
