"""When two poses are one shape: laws of an equivalence, whatever carries the whole and whoever is
exchanged."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from demos.cubesat_pair import pair
from quirkpy.explore.model.graph import Node, node_record, rest_at
from quirkpy.explore.reduce.known import Known
from quirkpy.explore.scope.identity import REPORTED_MISS, Group, Shapes, allowed_group, poses_of
from quirkpy.maths.rotations import product, rotate
from quirkpy.maths.types import Floats
from tests.faults.sentence import check_refused
from tests.studies import changed

seeds = pytest.mark.parametrize("seed", range(8))
GROUPS: tuple[Group, ...] = ("none", "translations", "rigid")
#: Quarter turns about z, the identity first; all four leave a module as it was.
QUARTERS = np.array([(math.cos(a), 0.0, 0.0, math.sin(a)) for a in 0.25 * math.pi * np.arange(4)])


def turns(rng: np.random.Generator, n: int) -> Floats:
    q = rng.normal(size=(n, 4))
    return np.asarray(q / np.linalg.norm(q, axis=1, keepdims=True))


def pose(rng: np.random.Generator, n: int = 5) -> Floats:
    return poses_of(rng.normal(size=(n, 3)), turns(rng, n))


def shapes(group: Group = "rigid", n: int = 5, tolerance: float = 1e-4) -> Shapes:
    """Bodies 0, 1, 2 interchangeable and of a symmetry of four; 3 of two; 4 unlike any other."""
    kinds = (0, 0, 0, 3, 4)[:n]
    own = (QUARTERS, QUARTERS, QUARTERS, QUARTERS[::2], QUARTERS[:1])[:n]
    return Shapes(tuple("abcde"[:n]), kinds, own, group, tolerance)


def carried(rng: np.random.Generator, one: Floats, group: Group) -> Floats:
    """The same shape: moved as the group allows, modules exchanged, each turned within its
    symmetry, signs changed."""
    out = one.copy()
    if group != "none":
        out[:, :3] += rng.normal(size=3)
    if group == "rigid":
        q = np.repeat(turns(rng, 1), len(one), axis=0)
        out = poses_of(rotate(q, out[:, :3]), product(q, out[:, 3:]))
    for k, count in enumerate((4, 4, 4, 2, 1)):
        out[k, 3:] = product(
            out[k : k + 1, 3:], QUARTERS[:: 4 // count][rng.integers(count)][None]
        )[0]
    out[:, 3:] *= rng.choice([-1.0, 1.0], size=(len(one), 1))
    return np.asarray(out[[*rng.permutation(3), 3, 4]])


def shaken(rng: np.random.Generator, one: Floats, size: float) -> Floats:
    """Every body displaced and turned by no more than a size."""
    out = one.copy()
    d = rng.normal(size=(len(one), 3))
    out[:, :3] += size * rng.uniform() * d / np.linalg.norm(d, axis=1, keepdims=True)
    half = 0.5 * size * d / np.linalg.norm(d, axis=1, keepdims=True)
    small = np.concatenate([np.ones((len(one), 1)), half], axis=1)
    out[:, 3:] = product(out[:, 3:], small / np.linalg.norm(small, axis=1, keepdims=True))
    return out


# --- an equivalence -------------------------------------------------------------------------------
@seeds
@pytest.mark.parametrize("group", GROUPS)
def test_a_shape_is_itself_however_it_is_carried(group: Group, seed: int) -> None:
    rng, known = np.random.default_rng(seed), shapes(group)
    one = pose(rng)
    assert known.distance(one, one) < 1e-15
    two, three = carried(rng, one, group), carried(rng, carried(rng, one, group), group)
    for a, b in ((one, two), (two, one), (two, three), (one, three)):
        assert known.distance(a, b) < 1e-7  # half an angle is an arc cosine
        assert sorted(known.match(a, b)[1]) == list(range(5))
        assert abs(known.fingerprint(a) - known.fingerprint(b)).max() < 1e-12


@seeds
@pytest.mark.parametrize("group", GROUPS)
def test_the_match_says_who_stands_for_whom(group: Group, seed: int) -> None:
    rng = np.random.default_rng(seed)
    one = pose(rng)
    order = [*rng.permutation(3), 3, 4]
    _, to = shapes(group).match(one, one[order])
    assert [order[k] for k in to] == list(range(5))


@seeds
@pytest.mark.parametrize("group", GROUPS)
def test_what_differs_is_told_apart(group: Group, seed: int) -> None:
    """By any motion of one body, by a mirror, by what the group does not hold, by exchanging those
    that are unlike."""
    rng, known = np.random.default_rng(seed), shapes(group)
    one = pose(rng)
    moved, twisted = carried(rng, one, group), carried(rng, one, group)
    moved[rng.integers(5), :3] += 1e-2
    k = rng.integers(5)
    twisted[k, 3:] = product(
        twisted[k : k + 1, 3:], np.array([(math.cos(0.1), 0.0, math.sin(0.1), 0.0)])
    )[0]
    mirrored = one * np.array([-1.0, 1.0, 1.0, 1.0, 1.0, -1.0, -1.0])
    exchanged = one[[3, 1, 2, 0, 4]]
    others = [moved, twisted, mirrored, exchanged]
    others += [carried(rng, one, larger) for larger in GROUPS[GROUPS.index(group) + 1 :]]
    for other in others:
        assert known.distance(one, other) > 10.0 * known.tolerance
        assert known.distance(other, one) > 10.0 * known.tolerance


@seeds
@pytest.mark.parametrize("group", GROUPS)
def test_distance_is_bounded_as_a_distance_is(group: Group, seed: int) -> None:
    """Symmetric and with a triangle, up to the arm by which the turn of one body carries the
    others."""
    rng, known, size = np.random.default_rng(seed), shapes(group), 1e-5
    one = pose(rng)
    two = shaken(rng, carried(rng, one, group), size)
    three = shaken(rng, carried(rng, two, group), size)
    arm = 2.0 * (2.0 + np.linalg.norm(one[:, None, :3] - one[None, :, :3], axis=2).max())
    assert known.distance(one, two) <= arm * size
    assert known.distance(two, one) <= arm * size
    assert (
        known.distance(one, three)
        <= arm * (known.distance(one, two) + known.distance(two, three)) + 1e-7
    )


@seeds
@pytest.mark.parametrize("group", GROUPS)
def test_the_fingerprint_never_parts_equal_shapes(group: Group, seed: int) -> None:
    """What is one shape within the tolerance has fingerprints within what `Known` looks through."""
    rng, known = np.random.default_rng(seed), shapes(group)
    for _ in range(20):
        one = pose(rng)
        two = shaken(rng, carried(rng, one, group), rng.uniform(0.0, 2.0) * known.tolerance)
        if known.distance(one, two) <= REPORTED_MISS * known.tolerance:
            apart = abs(known.fingerprint(one) - known.fingerprint(two)).max()
            assert apart <= REPORTED_MISS * known.tolerance * len(one)


# --- what an exploration makes of it --------------------------------------------------------------
def nodes_at(*angles: float, tolerance: float = 1e-4) -> Known:
    """B about A's corner, in free space."""
    known = Known(changed(pair(), same=qp.SameShape(tolerance=tolerance)))
    for angle in angles:
        r = np.array([(0.2 + angle, 0.3, 0.0)])
        q = np.array([(1.0, 0.0, 0.0, 0.0)])
        known.place(node_record(Node(0, rest_at(("B",), r, q), (), "stable", "", 0.0, ())))
    return known


def test_a_chain_within_the_tolerance() -> None:
    """A node stands for what is near to itself, not for what is near to something near: the first
    is its measure."""
    assert len(nodes_at(0.0, 0.8e-4).nodes) == 1
    known = nodes_at(0.0, 0.8e-4, 1.6e-4)
    assert [node.state.r[0, 0] for node in known.nodes] == [0.2, 0.2 + 1.6e-4]
    assert len(nodes_at(0.8e-4, 0.0, 1.6e-4).nodes) == 1


def test_near_misses_are_told() -> None:
    known = nodes_at(0.0, 5e-4, 5e-3)
    assert [(one, two) for one, two, _ in known.near_misses] == [("n0", "n1")]
    assert known.near_misses[0][2] == pytest.approx(5e-4)
    graph = pair().explore(budget=0)
    graph.near_misses += known.near_misses
    assert "n0 and n1: 0.0005 apart" in graph.report()


# --- what forces allow ----------------------------------------------------------------------------
ONE = qp.Body.box("one", (0.1, 0.1, 0.2), 1.0)
TWO = qp.Body.box("two", (0.1, 0.2, 0.1), 1.0, position=(0.1, 0.3, 0.05))
ORBIT = qp.Orbit(3.986e14, (7e6, 0.0, 0.0), (0.0, 7.5e3, 0.0))
WORLDS: dict[str, tuple[list[Any], Group]] = {
    "nothing": ([], "rigid"),
    "between them": (
        [
            qp.Spring(
                "s", ONE, TWO, at1=(0, 0, 0), at2=(0.1, 0.3, 0), stiffness=1.0, rest_length=0.1
            )
        ],
        "rigid",
    ),
    "a joint": (
        [qp.Revolute("h", ONE, TWO, at=(0.0, 0.1, 0.0), axis=(0, 0, 1)), qp.ViscousHinges(1e-3)],
        "rigid",
    ),
    "in its axes": ([qp.Load("l", TWO, force=(1, 0, 0), frame="body")], "rigid"),
    "gravity": ([qp.Gravity((0, 0, -9.81))], "translations"),
    "a load": ([qp.Load("l", TWO, force=(1, 0, 0))], "translations"),
    "well": ([qp.PotentialWell("w", TWO, (0, 0, 0), 1.0)], "none"),
    "Hill frame": ([qp.HillFrame(1e-3)], "none"),
    "gradient": ([qp.GravityGradient(ORBIT)], "none"),
    "planet": ([qp.PointGravity(3.986e14, (7e6, 0, 0))], "none"),
    "fixed body": ([qp.Body("post", fixed=True)], "none"),
    "joint to the ground": (
        [qp.Revolute("h", qp.GROUND, TWO, at=(0, 0, 0), axis=(0, 0, 1))],
        "none",
    ),
}


@pytest.mark.parametrize("world", WORLDS)
def test_what_forces_allow_is_found(world: str) -> None:
    parts, group = WORLDS[world]
    assert allowed_group([qp.Multibody(ONE, TWO, *parts)]) == group
    assert allowed_group([qp.Multibody(ONE, TWO), qp.Multibody(ONE, TWO, *parts)]) == group


@pytest.mark.parametrize("asked", GROUPS)
@pytest.mark.parametrize("allowed", GROUPS)
def test_a_larger_group_is_refused(asked: Group, allowed: Group) -> None:
    rule = qp.SameShape(group=asked)
    if GROUPS.index(asked) > GROUPS.index(allowed):
        check_refused(
            lambda: Shapes.of(rule, ("a",), allowed),
            "SameShape",
            (repr(asked), repr(allowed), "'auto'"),
        )
    else:
        assert Shapes.of(rule, ("a",), allowed).group == asked
    assert Shapes.of(qp.SameShape(), ("a",), allowed).group == allowed


def test_rules_name_bodies_of_the_system() -> None:
    rule = qp.SameShape(
        interchangeable=[[ONE, TWO]], symmetry={ONE: [qp.rotation((0, 0, 1), math.pi)]}
    )
    made = Shapes.of(rule, ("one", "two"), "rigid")
    assert made.kinds == (0, 0)
    assert [len(turns) for turns in made.turns] == [2, 1]
    assert qp.from_json(qp.to_json(rule)) == rule
    for wrong in (
        qp.SameShape(interchangeable=[["one", "spam"]]),
        qp.SameShape(symmetry={"spam": []}),
    ):
        check_refused(
            lambda wrong=wrong: Shapes.of(wrong, ("one", "two"), "rigid"),
            "SameShape",
            ("'spam'", "one, two"),
        )
