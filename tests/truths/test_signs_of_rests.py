"""Whether rests are missing, by the sum of their signs; and how many are said to be unseen where
that is not known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.maths.types import Floats
from quirkpy.rest.census import Census
from quirkpy.rest.cusps import Cusps
from quirkpy.rest.search import Equilibria
from quirkpy.rest.starts import random_corner, ranges
from quirkpy.rest.vicinity import Vicinity
from tests.random_systems import ATTACKING, seeds
from tests.truths.test_counts_of_equilibria import chain, landscape
from tests.truths.test_rests_beside_cusps import (
    KINDS,
    Held,
    counted,
    derivatives,
    differences,
    known,
)

#: Searches of each kind from which coverage is counted.
SYSTEMS = 50 if ATTACKING else 3


def census_of(system: qp.Multibody, looks: int = 12) -> Census:
    around, rng = Vicinity(system.clusters, system.initial), np.random.default_rng(0)
    census = Census(around, Cusps(around))
    for _ in range(looks):
        census.look(random_corner(around, rng, ranges(around)), rng)
    return census


def signs(held: Held, rests: list[Floats]) -> int:
    bends = [np.linalg.eigvalsh(derivatives(held, x[None])[1][0]) for x in rests]
    return sum((-1) ** int((values < 0.0).sum()) for values in bends)


@pytest.mark.parametrize("kind", list(KINDS))
@seeds(6, 1, attack=100)
def test_cusps_that_are_tops_are_counted(kind: str, seed: int) -> None:
    """As many as rests that are known from elsewhere leave to the sum; both poses of an arm are
    met."""
    held = KINDS[kind](100 + seed)
    rests, census = known(held), census_of(held.system)
    assert census.sum == held.euler
    tops = (counted(held, rests) - signs(held, rests)) * (-1) ** len(rests[0])
    assert census.tops == tops


@pytest.mark.parametrize("kind", ["on rails", "arm"])
def test_a_rest_left_out_is_missing(kind: str) -> None:
    held = KINDS[kind](103)
    found = held.system.equilibria(seeds=4)
    around = [Vicinity(held.system.clusters, e.state) for e in found]
    census = census_of(held.system)
    whole = census.excess(list(found), around)
    assert found.missing == 0 == whole
    for k in range(len(found)):
        rest = [j for j in range(len(found)) if j != k]
        assert abs(census.excess([found[j] for j in rest], [around[j] for j in rest]) or 0) == 1
    short = replace(found, found=found.found[1:], hits=found.hits[1:], missing=1)
    assert short.unseen >= 1.0 / len(found)


def test_signs_of_smooth_systems_add_up() -> None:
    """Rods that turn freely to zero, sprung ones and a bead among springs to one."""
    rods, sprung = (
        chain(np.random.default_rng(2), 2, sprung=sprung)[0] for sprung in (False, True)
    )
    for system, total in ((rods, 0), (sprung, 1), (landscape(0).system, 1)):
        assert census_of(system).sum == total
        found = system.equilibria(seeds=3)
        assert found.missing == 0
        census = census_of(system)
        around = [Vicinity(system.clusters, e.state) for e in found[1:]]
        assert census.excess(list(found[1:]), around) == -1


def pendulum(*more: Callable[[Any, Any], Any], **options: Any) -> qp.Multibody:
    rod = qp.Body.rod("rod", (0, 0, 0), (0.3, 0, -0.4), mass=1.0)
    hinge = qp.Revolute("hinge", qp.GROUND, rod, at=(0, 0, 0), axis=(0, 1, 0))
    return qp.Multibody(
        rod, hinge, qp.Gravity((0, 0, -9.81)), *(part(rod, hinge) for part in more), **options
    )


@pytest.mark.parametrize(
    "more",
    [
        lambda rod, hinge: qp.JointStop("stop", hinge, upper=1.0),
        lambda rod, hinge: qp.Spring(
            "rope",
            qp.GROUND,
            rod,
            at1=(1, 0, 0),
            at2=(0.3, 0, -0.4),
            stiffness=3.0,
            rest_length=0.5,
            tension_only=True,
        ),
        lambda rod, hinge: qp.Load("push", rod, force=(0, 0, 1.0)),
        lambda rod, hinge: qp.Distance("bar", qp.GROUND, rod, at1=(1, 0, 0), at2=(0.3, 0, -0.4)),
        lambda rod, hinge: qp.Body.sphere("adrift", 0.1, 1.0, position=(2, 0, 0)),
    ],
    ids=["stop", "rope", "load", "loop", "adrift"],
)  # fmt: skip
def test_signs_are_not_told_where_no_theorem_holds(more: Callable[[Any, Any], Any]) -> None:
    assert census_of(pendulum()).sum == 0
    assert census_of(pendulum(more)).sum is None


def test_signs_between_two_stops_add_up_to_one() -> None:
    between = pendulum(lambda rod, hinge: qp.JointStop("stop", hinge, lower=-1.0, upper=1.0))
    assert census_of(between).sum == 1
    assert between.equilibria(seeds=4).missing == 0


def test_signs_are_not_told_where_ends_meet_in_more_than_single_poses() -> None:
    assert census_of(arm_of_three(0).system).sum is None
    assert census_of(pair(0).system).sum is None


# --- kinds whose sum is not known -----------------------------------------------------------------
def pair(seed: int) -> Held:
    """Two balls on rails of their own in a plane, a spring between them, one or two from the ground
    to each."""
    rng = np.random.default_rng([3, seed, 2])
    each, weight = rng.integers(1, 3, 2), float(rng.integers(2) * rng.uniform(0.5, 10.0))
    n, of = int(each.sum()), np.repeat([0, 1], each)
    at, start = rng.uniform(-1.0, 1.0, (n, 2)), rng.uniform(-1.0, 1.0, (2, 2))
    rest, stiff = rng.uniform(0.3, 1.5, n + 1), rng.uniform(1.0, 10.0, n + 1)

    def point(x: Floats) -> tuple[float, float, float]:
        return float(x[0]), float(x[1]), 0.0

    balls = [qp.Body.sphere(f"ball {k}", 0.05, 1.0, position=point(start[k])) for k in range(2)]
    parts: list[Any] = [*balls, qp.Gravity((0, -weight, 0))]
    for k, ball in enumerate(balls):
        carriage = qp.Body.sphere(f"carriage {k}", 0.05, 0.5, position=point(start[k]))
        rails = (
            qp.Prismatic(f"x{k}", qp.GROUND, carriage, at=point(start[k]), axis=(1, 0, 0)),
            qp.Prismatic(f"y{k}", carriage, ball, at=point(start[k]), axis=(0, 1, 0)),
        )
        parts += [carriage, *rails]
    for k in range(n + 1):
        one, two = (qp.GROUND, balls[of[k]]) if k < n else balls
        at1, at2 = (at[k], start[of[k]]) if k < n else start
        parts.append(qp.Spring(f"s{k}", one, two, at1=point(at1), at2=point(at2),
        stiffness=stiff[k],
                               rest_length=rest[k]))  # fmt: skip
    slope = np.zeros((n + 1, 2, 4))
    for k in range(n):
        slope[k, :, 2 * of[k] : 2 * of[k] + 2] = np.eye(2)
    slope[n] = np.hstack([-np.eye(2), np.eye(2)])
    ground, down = np.vstack([at, np.zeros(2)]), weight * np.array([0.0, 1.0, 0.0, 1.0])

    def ends(x: Floats) -> tuple[Floats, Floats, Floats]:
        many = len(x), *slope.shape
        return (
            np.einsum("sdf,nf->nsd", slope, x) - ground,
            np.broadcast_to(slope, many),
            np.zeros((*many, 4)),
        )

    far = 2.5 + 2.0 * weight / float(stiff[:n].min())
    return Held(
        qp.Multibody(*parts), stiff, rest, ends, lambda x: (down + 0.0 * x, np.zeros((len(x), 4,
        4))), [], rng.uniform(-far, far, (12_000, 4)),
        lambda e: np.concatenate([e.state[f"ball {k}"].position[:2] for k in range(2)]), 1, False,
    )  # fmt: skip


def arm_of_three(seed: int) -> Held:
    """Three rods hinged to each other and to the ground, in a plane; one to three springs hold
    their tip."""
    rng = np.random.default_rng([4, seed])
    length, mass, first = (
        rng.uniform(0.3, 0.7, 3),
        rng.uniform(0.3, 1.0, 3),
        rng.uniform(-3.0, 3.0, 3),
    )
    weight, n = float(rng.uniform(1.0, 10.0)), int(rng.integers(1, 4))
    stiff, rest = rng.uniform(2.0, 20.0, n), rng.uniform(0.1, 0.9, n)

    def tips(a: Floats) -> Floats:
        return np.stack([np.sin(a) @ length, -np.cos(a) @ length], axis=-1)

    at = tips(rng.uniform(-3.0, 3.0, (n, 3)))
    steps = length[:, None] * np.column_stack([np.sin(first), -np.cos(first)])
    joints = [(float(x), 0.0, float(z)) for x, z in np.vstack([np.zeros(2), steps.cumsum(axis=0)])]
    rods = [qp.Body.rod(f"rod {k}", joints[k], joints[k + 1], mass=mass[k]) for k in range(3)]
    hinges = [
        qp.Revolute(
            f"h{k}", rods[k - 1] if k else qp.GROUND, rods[k], at=joints[k], axis=(0, -1, 0)
        )
        for k in range(3)
    ]
    springs = [
        qp.Spring(
            f"s{k}",
            qp.GROUND,
            rods[2],
            at1=(x, 0, z),
            at2=joints[3],
            stiffness=stiff[k],
            rest_length=rest[k],
        )
        for k, (x, z) in enumerate(at)
    ]
    heavy = weight * length * np.array([0.5 * mass[j] + mass[j + 1 :].sum() for j in range(3)])

    def ends(a: Floats) -> tuple[Floats, Floats, Floats]:
        s, c, bends = length * np.sin(a), length * np.cos(a), np.zeros((len(a), n, 2, 3, 3))
        for j in range(3):
            bends[:, :, 0, j, j], bends[:, :, 1, j, j] = -s[:, None, j], c[:, None, j]
        return tips(a)[:, None] - at, np.repeat(np.stack([c, s], axis=1)[:, None], n, axis=1), bends

    return Held(
        qp.Multibody(*rods, *hinges, *springs, qp.Gravity((0, 0, -weight))), stiff, rest, ends,
        lambda a: (heavy * np.sin(a), (heavy * np.cos(a))[:, :, None] * np.eye(3)), [],
        rng.uniform(-np.pi, np.pi, (12_000, 3)),
        lambda e: first + np.cumsum([e.state[f"h{k}"].angle for k in range(3)]), 0, True,
    )  # fmt: skip


def beside(held: Held) -> Floats:
    """Places at which the ends of one spring are 3e-5 to 0.6 m apart, each decade as often."""
    rng, out = np.random.default_rng(5), []
    for k in range(len(held.rest)):
        x = held.starts[:3000].copy()
        target = rng.normal(size=held.ends(x)[0][:, k].shape)
        target *= (10.0 ** rng.uniform(-4.5, -0.2, len(x)) / np.linalg.norm(target, axis=1))[
            :, None
        ]
        for _ in range(25):
            apart, slope, _ = held.ends(x)
            left = target - apart[:, k]
            share = np.minimum(1.0, 0.5 / np.maximum(np.linalg.norm(left, axis=1), 1e-9))
            x = (
                x
                + np.einsum("nfd,nd->nf", np.linalg.pinv(slope[:, k], rcond=1e-3), left)
                * share[:, None]
            )
        out.append(x[np.linalg.norm(held.ends(x)[0][:, k] - target, axis=1) < 1e-6])
    return np.concatenate(out)


def covers(held: Held, found: Equilibria) -> bool | None:
    """Whether no more is missed than is said; None where rests are no single poses."""
    rests = known(held._replace(starts=np.concatenate([held.starts, beside(held)])))
    if (
        len(rests) > 200
        or min(abs(np.linalg.eigvalsh(derivatives(held, x[None])[1][0])).min() for x in rests)
        < 1e-7
    ):
        return None
    met = set()
    for e in found:
        away = [float(abs(differences(held, held.place(e), x)).max()) for x in rests]
        assert min(away) < 1e-5
        met.add(int(np.argmin(away)))
    return (len(rests) - len(met)) / len(rests) <= found.unseen


@pytest.mark.slow
@pytest.mark.attack
@pytest.mark.parametrize("build", [KINDS["arm"], *[pair, arm_of_three] * ATTACKING])
def test_no_more_rests_beside_cusps_are_missed_than_is_said(build: Callable[[int], Held]) -> None:
    """In 94 of 100 searches; of three rods it were 92, of two 73."""
    told = []
    for seed in range(200, 200 + SYSTEMS):
        held = build(seed)
        told.append(covers(held, held.system.equilibria(seeds=10)))
    single = [covered for covered in told if covered is not None]
    assert len(single) > 0.6 * SYSTEMS  # the others have rests in lines
    assert np.mean(single) >= 0.94
