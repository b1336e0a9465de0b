"""What every signed distance of solids obeys, overlap included."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import quirkpy as qp
from tests.solids import Placed, found, random_pair, random_turn

KINDS = ("sphere", "box", "cylinder")
PAIRS = list(itertools.product(KINDS, KINDS))

every_pair = pytest.mark.parametrize(("one", "two"), PAIRS)


def tolerance(one: str, two: str) -> float:
    """Two cylinders, or a cylinder and a box, are searched for; all others have closed forms."""
    return 1e-13 if "sphere" in (one, two) or one == two == "box" else 1e-9


def sample(one: str, two: str, seed: int, count: int = 300) -> list[tuple[Placed, Placed]]:
    """Pairs that are apart or overlap by little: what is found of deep overlaps may be one of
    several ways out."""
    rng = np.random.default_rng(seed)
    pairs = [random_pair(one, two, rng, 1e-3 if k % 2 else 0.2) for k in range(count)]
    if tolerance(one, two) < 1e-9:
        return pairs
    gaps = found(pairs).gap
    return [pair for pair, gap in zip(pairs, gaps) if gap > -0.02 * min(pair[0].size, pair[1].size)]


def scaled(placed: Placed, s: float) -> Placed:
    shape = placed.shape
    if isinstance(shape, qp.Box):
        a, b, c = shape.size
        return Placed(qp.Box((s * a, s * b, s * c)), s * placed.at, placed.axes)
    if isinstance(shape, qp.Sphere):
        return Placed(qp.Sphere(s * shape.radius), s * placed.at, placed.axes)
    assert isinstance(shape, qp.Cylinder)
    return Placed(
        qp.Cylinder(s * shape.radius, s * shape.length, shape.axis), s * placed.at, placed.axes
    )


@every_pair
def test_it_is_the_same_seen_from_either(one: str, two: str) -> None:
    pairs = sample(one, two, 1)
    here, there = found(pairs), found([(b, a) for a, b in pairs])
    np.testing.assert_allclose(here.gap, there.gap, rtol=0.0, atol=tolerance(one, two))


@every_pair
def test_it_moves_along(one: str, two: str) -> None:
    """Nobody can tell where the origin is, or which way is up; but far from it digits are lost."""
    rng, pairs = np.random.default_rng(2), sample(one, two, 2)
    moves = [(rng.normal(size=3), random_turn(rng)) for _ in pairs]
    here = found(pairs)
    there = found([(a.moved(*move), b.moved(*move)) for (a, b), move in zip(pairs, moves)])
    np.testing.assert_allclose(
        here.gap, there.gap, rtol=0.0, atol=max(2e-15 * 10, tolerance(one, two))
    )


@every_pair
@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e3, 2.0**20])
def test_it_has_no_unit(one: str, two: str, scale: float) -> None:
    pairs = sample(one, two, 3, 100)
    there = found([(scaled(a, scale), scaled(b, scale)) for a, b in pairs])
    np.testing.assert_allclose(
        there.gap / scale, found(pairs).gap, rtol=0.0, atol=tolerance(one, two)
    )


@every_pair
@pytest.mark.parametrize("step", [1e-9, 1e-6, 1e-3])
def test_it_changes_by_no_more_than_the_solids_move(one: str, two: str, step: float) -> None:
    """Across touching as well."""
    rng, pairs = np.random.default_rng(4), sample(one, two, 4)
    moved = []
    for a, b in pairs:
        by = rng.normal(size=3)
        moved.append((a, b._replace(at=b.at + step * by / np.linalg.norm(by))))
    change = abs(found(moved).gap - found(pairs).gap)
    assert change.max() < step + tolerance(one, two)


@every_pair
def test_drawing_apart_along_the_direction_undoes_it(one: str, two: str) -> None:
    """Solids that overlap just touch when they are drawn apart by the depth; those apart, when
    moved together.

    Of edges that are parallel but for rounding the direction is less sharp than the distance.
    """
    pairs = sample(one, two, 5)
    answer = found(pairs)
    touching = [
        (a, b._replace(at=b.at - gap * n))
        for (a, b), gap, n in zip(pairs, answer.gap, answer.normal, strict=True)
    ]
    assert found(touching).gap.min() > -100.0 * tolerance(one, two)
    apart = answer.gap > 0.0
    assert abs(found(touching).gap[apart]).max() < 100.0 * tolerance(one, two)


@every_pair
def test_a_solid_in_two_halves_is_as_far_away(one: str, two: str) -> None:
    """Boxes and cylinders cut in two: the nearer half is as near as the whole."""
    pairs = [(a, b) for a, b in sample(one, two, 6) if not isinstance(a.shape, qp.Sphere)]
    gaps = found(pairs).gap if pairs else np.zeros(0)
    for (a, b), gap in zip(pairs, gaps, strict=True):
        if gap <= 0.0:
            continue
        if isinstance(a.shape, qp.Box):
            x, y, z = a.shape.size
            half, along, off = qp.Box((0.5 * x, y, z)), 0, 0.25 * x
        else:
            assert isinstance(a.shape, qp.Cylinder)
            half = qp.Cylinder(a.shape.radius, 0.5 * a.shape.length, a.shape.axis)  # type: ignore[assignment]
            along, off = "xyz".index(a.shape.axis), 0.25 * a.shape.length
        halves = [
            (Placed(half, a.at + side * off * a.axes[:, along], a.axes), b) for side in (-1.0, 1.0)
        ]
        assert abs(found(halves).gap.min() - gap) < tolerance(one, two)
