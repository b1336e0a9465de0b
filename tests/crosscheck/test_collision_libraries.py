"""Distances of ten thousand pairs beside those of python-fcl and of coal, where these are
installed.

Both iterate to about 1e-6 of the size by default; spheres, boxes and cylinders of all pairs,
degenerate ones included."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from tests.solids import AXES, Array, Placed, found, random_pair

KINDS = ("sphere", "box", "cylinder")
PAIRS = list(itertools.product(KINDS, KINDS))


def pairs_of(one: str, two: str) -> list[tuple[Placed, Placed]]:
    rng = np.random.default_rng(21)
    return [random_pair(one, two, rng, 1e-3 if k % 4 == 0 else 0.2) for k in range(1112)]


def upright(placed: Placed) -> Array:
    """The axes that a library wants: its cylinders lie along z."""
    if isinstance(placed.shape, qp.Cylinder):
        k = AXES.index(placed.shape.axis)
        return placed.axes[:, [(k + 1) % 3, (k + 2) % 3, k]]
    return placed.axes


def shape_in(library: Any, shape: qp.Shape) -> Any:
    """Both libraries call them by the same names."""
    if isinstance(shape, qp.Box):
        return library.Box(*shape.size)
    if isinstance(shape, qp.Sphere):
        return library.Sphere(shape.radius)
    assert isinstance(shape, qp.Cylinder)
    return library.Cylinder(shape.radius, shape.length)


def by_fcl(fcl: Any, one: Placed, two: Placed) -> tuple[float, bool]:
    """Distance where they are apart, and whether they overlap."""
    made = [
        fcl.CollisionObject(shape_in(fcl, p.shape), fcl.Transform(upright(p), p.at))
        for p in (one, two)
    ]
    touching = fcl.collide(*made, fcl.CollisionRequest(), fcl.CollisionResult()) > 0
    return fcl.distance(*made, fcl.DistanceRequest(), fcl.DistanceResult()), touching


def by_coal(coal: Any, one: Placed, two: Placed) -> float:
    """Signed distance."""
    request = coal.DistanceRequest()
    request.gjk_tolerance = request.epa_tolerance = 1e-8
    request.gjk_max_iterations = request.epa_max_iterations = 1000
    places = [coal.Transform3s(upright(p), p.at) for p in (one, two)]
    shapes = [shape_in(coal, p.shape) for p in (one, two)]
    return float(
        coal.distance(shapes[0], places[0], shapes[1], places[1], request, coal.DistanceResult())
    )


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_fcl_agrees(one: str, two: str) -> None:
    fcl = pytest.importorskip("fcl")
    pairs = pairs_of(one, two)
    ours, off = found(pairs).gap, []
    for (a, b), gap in zip(pairs, ours, strict=True):
        theirs, touching = by_fcl(fcl, a, b)
        if abs(gap) > 1e-3:
            assert touching == (gap < 0.0), (a, b)
        if gap > 1e-3:
            off.append(abs(theirs - gap))
    assert len(off) > 200
    assert np.quantile(off, 0.99) < 3e-5


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_coal_agrees(one: str, two: str) -> None:
    """No depth of ours is less than that of coal, and shallow ones are the same."""
    coal = pytest.importorskip("coal")
    pairs = pairs_of(one, two)
    ours = found(pairs).gap
    theirs = np.array([by_coal(coal, a, b) for a, b in pairs])
    apart, shallow = ours > 1e-6, (ours < 0.0) & (ours > -1e-2)
    assert np.quantile(abs(theirs - ours)[apart], 0.99) < 1e-6
    assert np.quantile(abs(theirs - ours)[shallow], 0.9) < 1e-5
