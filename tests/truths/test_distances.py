"""Distances of solids against closed forms, against every pair of features, and by certificates
that need no reference.

A certificate: a point of each solid, so far apart, and a direction along which they are as far
apart.  The first bounds the distance from above, the second from below."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numba import config
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import quirkpy as qp
from tests.solids import Array, Placed, found, gap_along, random_pair, random_turn

#: Run uncompiled as well: so their coverage is measured.
uncompiled_too = pytest.mark.kernels
#: How many random pairs are looked at; uncompiled, where each takes a hundred times as long, enough
#: to go every way.
MANY = 100 if config.DISABLE_JIT else 1000

KINDS = ("sphere", "box", "cylinder")
PAIRS = list(itertools.product(KINDS, KINDS))
CORNERS = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
EDGES = [
    (i, j) for i, j in itertools.combinations(range(8), 2) if (CORNERS[i] != CORNERS[j]).sum() == 1
]


def at(x: float, y: float, z: float) -> Array:
    return np.array([x, y, z])


# --- boxes, feature by feature --------------------------------------------------------------------
def corners(box: Placed) -> Array:
    assert isinstance(box.shape, qp.Box)
    return box.at + CORNERS * np.array(box.shape.size) @ box.axes.T


def from_box(box: Placed, points: Array) -> float:
    assert isinstance(box.shape, qp.Box)
    over = abs((points - box.at) @ box.axes) - 0.5 * np.array(box.shape.size)
    return float(np.linalg.norm(np.maximum(over, 0.0), axis=1).min())


def between_edges(one: Array, two: Array) -> float:
    """The least distance of points within edges: those of one and of two, as pairs of ends."""
    a, u = one[EDGES][:, 0], one[EDGES][:, 1] - one[EDGES][:, 0]
    b, v = two[EDGES][:, 0], two[EDGES][:, 1] - two[EDGES][:, 0]
    d = b[None] - a[:, None]
    n = np.cross(u[:, None], v[None])
    square = (n * n).sum(axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        s = (np.cross(d, v[None]) * n).sum(axis=2) / square
        t = (np.cross(d, u[:, None]) * n).sum(axis=2) / square
        far = abs((d * n).sum(axis=2)) / np.sqrt(square)
    inside = (s >= 0.0) & (s <= 1.0) & (t >= 0.0) & (t <= 1.0)
    return float(far[inside].min(initial=math.inf))


def boxes_by_features(one: Placed, two: Placed) -> float:
    """Corners against boxes and edges against edges; of an overlap the best of the fifteen axes."""
    normals = [
        one.axes.T,
        two.axes.T,
        np.cross(one.axes.T[:, None], two.axes.T[None]).reshape(-1, 3),
    ]
    axes = np.concatenate(normals)
    length = np.linalg.norm(axes, axis=1)
    axes = axes[length > 1e-9] / length[length > 1e-9, None]
    gap = float(gap_along(one, two, np.concatenate([axes, -axes])).max())
    if gap <= 0.0:
        return gap
    a, b = corners(one), corners(two)
    return min(from_box(one, b), from_box(two, a), between_edges(a, b))


@uncompiled_too
@pytest.mark.parametrize("thinnest", [0.2, 1e-3])
def test_boxes_feature_by_feature(thinnest: float) -> None:
    rng = np.random.default_rng(11)
    pairs = [random_pair("box", "box", rng, thinnest) for _ in range(MANY)]
    truth = np.array([boxes_by_features(*pair) for pair in pairs])
    assert 0.02 * MANY < (truth < 0.0).sum() < 0.98 * MANY
    np.testing.assert_allclose(found(pairs).gap, truth, rtol=0.0, atol=1e-12)


# --- certificates ---------------------------------------------------------------------------------
def directions_like(n: Array, a: Placed, b: Placed) -> Array:
    """A direction, and those that are square to one or two axes of the solids: edges that are
    parallel but for 1e-8 leave as much of it open, and the distance of their points not."""
    axes = np.concatenate([a.axes.T, b.axes.T])
    out = np.concatenate(
        [
            n[None],
            axes,
            n - (axes @ n)[:, None] * axes,
            np.cross(a.axes.T[:, None], b.axes.T).reshape(-1, 3),
        ]
    )
    out = out[np.linalg.norm(out, axis=1) > 1e-6]
    out = out / np.linalg.norm(out, axis=1)[:, None]
    return np.asarray(out * np.where(out @ n < 0.0, -1.0, 1.0)[:, None])


@uncompiled_too
@pytest.mark.parametrize(("one", "two"), PAIRS)
@pytest.mark.parametrize("thinnest", [0.2, 1e-3])
def test_distances_prove_themselves(one: str, two: str, thinnest: float) -> None:
    """The points belong to the solids, they are as far apart as is said, and so are the solids
    along the direction."""
    rng = np.random.default_rng(12)
    pairs = [random_pair(one, two, rng, thinnest) for _ in range(MANY)]
    answer = found(pairs)
    allowed = 1e-12 if "cylinder" not in (one, two) or "sphere" in (one, two) else 1e-9
    if thinnest < 0.1 and allowed == 1e-9:
        allowed = 1e-8  # thin, and parallel to rounding: the bound from below is less sharp
    assert (answer.gap > 0.0).sum() > 0.1 * MANY
    for k, (a, b) in enumerate(pairs):
        gap, n = answer.gap[k], answer.normal[k]
        below = float(gap_along(a, b, directions_like(n, a, b) if gap > 0.0 else n[None]).max())
        np.testing.assert_allclose(np.linalg.norm(n), 1.0, atol=1e-14)
        assert abs(gap - below) < allowed, (a, b)
        if gap > 0.0:
            assert a.misses(answer.first[k]) < 1e-13, (a, b)
            assert b.misses(answer.second[k]) < 1e-13, (a, b)
            above = float(np.linalg.norm(answer.second[k] - answer.first[k]))
            assert abs(gap - above) < allowed, (a, b)


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_no_direction_leads_out_of_a_shallow_overlap_sooner(one: str, two: str) -> None:
    """Solids that are pushed into each other by a hundredth: against the best of many directions,
    improved."""
    rng, many = np.random.default_rng(13), sphere_of_directions(2000)
    pairs = []
    while len(pairs) < 60:
        a, b = random_pair(one, two, rng)
        answer = found([(a, b)])
        if answer.gap[0] > 0.0:
            pairs.append((a, b._replace(at=b.at - (answer.gap[0] + 0.01) * answer.normal[0])))
    for (a, b), gap in zip(pairs, found(pairs).gap):
        best = -math.inf
        for start in many[np.argsort(-gap_along(a, b, many))[:4]]:
            best = max(best, ascended(a, b, start))
        assert -0.0101 < gap < 0.0
        assert gap > best - 1e-9, (a, b)


def sphere_of_directions(count: int) -> Array:
    k = np.arange(count) + 0.5
    z, turn = 1.0 - 2.0 * k / count, math.pi * (1.0 + math.sqrt(5.0)) * k
    return np.stack(
        [np.sqrt(1.0 - z * z) * np.cos(turn), np.sqrt(1.0 - z * z) * np.sin(turn), z], axis=1
    )


def ascended(a: Placed, b: Placed, start: Array) -> float:
    def depth(n: Array) -> float:
        return -float(gap_along(a, b, (n / np.linalg.norm(n))[None])[0])

    return -float(
        minimize(depth, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}).fun
    )


# --- closed forms ---------------------------------------------------------------------------------
@uncompiled_too
def test_spheres_by_their_centres() -> None:
    rng = np.random.default_rng(14)
    pairs = [random_pair("sphere", "sphere", rng, 1e-3) for _ in range(500)]
    truth = [np.linalg.norm(b.at - a.at) - a.shape.radius - b.shape.radius for a, b in pairs]  # type: ignore[attr-defined]
    np.testing.assert_allclose(found(pairs).gap, truth, rtol=0.0, atol=1e-15)


@uncompiled_too
def test_concentric_solids_have_a_direction() -> None:
    shapes = qp.Sphere(0.5), qp.Box((1.0, 2.0, 3.0)), qp.Cylinder(0.3, 4.0)
    pairs = [
        (Placed(a, np.zeros(3), np.eye(3)), Placed(b, np.zeros(3), np.eye(3)))
        for a in shapes
        for b in shapes
    ]
    answer = found(pairs)
    np.testing.assert_allclose(np.linalg.norm(answer.normal, axis=1), 1.0, atol=1e-14)
    np.testing.assert_allclose(
        answer.gap, [-1.0, -1.0, -0.8, -1.0, -1.0, -1.3, -0.8, -1.3, -0.6], rtol=0.0, atol=1e-12
    )


@uncompiled_too
@pytest.mark.parametrize("tilt", [0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.3, 0.5 * math.pi])
def test_rods_by_the_lines_of_their_axes(tilt: float) -> None:
    """Two long cylinders whose axes cross at a distance, at any angle: that distance less both
    radii."""
    rod = qp.Cylinder(0.1, 10.0, axis="z")
    turn = np.asarray(Rotation.from_euler("x", tilt).as_matrix())
    apart = (0.5, 0.2 + 1e-6, 0.2 + 1e-9, 0.2, 0.2 - 1e-9, 0.15)
    pairs = [
        (Placed(rod, np.zeros(3), np.eye(3)), Placed(rod, at(x, 0.0, 0.0), turn)) for x in apart
    ]
    np.testing.assert_allclose(found(pairs).gap, np.array(apart) - 0.2, rtol=0.0, atol=1e-12)


@uncompiled_too
@pytest.mark.parametrize("tilt", [0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.1])
def test_a_coin_over_a_table(tilt: float) -> None:
    """Its lowest point: a rim, or the whole face."""
    coin, table = qp.Cylinder(1.0, 0.002, axis="z"), qp.Box((10.0, 10.0, 0.01))
    turn = np.asarray(Rotation.from_euler("y", tilt).as_matrix())
    lowest = 0.001 * math.cos(tilt) + math.sin(tilt)
    heights = (0.5, 1e-3, 1e-9, 0.0, -1e-9, -1e-4)
    pairs = [
        (
            Placed(table, np.zeros(3), np.eye(3)),
            Placed(coin, at(0.3, -0.2, 0.005 + lowest + height), turn),
        )
        for height in heights
    ]
    np.testing.assert_allclose(found(pairs).gap, heights, rtol=0.0, atol=1e-11)


@uncompiled_too
def test_two_coins_rim_to_rim() -> None:
    """In one plane, and one in a plane that stands upright."""
    coin = qp.Cylinder(1.0, 0.002, axis="z")
    flat, upright = np.eye(3), np.asarray(Rotation.from_euler("y", 0.5 * math.pi).as_matrix())
    pairs = [
        (Placed(coin, np.zeros(3), flat), Placed(coin, at(1.5, 1.5, 0.0), flat)),
        (Placed(coin, np.zeros(3), flat), Placed(coin, at(1.25, 0.0, 0.0), upright)),
        (Placed(coin, np.zeros(3), flat), Placed(coin, at(0.0, 1.25, 0.0), upright)),
        (Placed(coin, np.zeros(3), flat), Placed(coin, at(0.0, 0.0, 1.25), upright)),
    ]
    truth = [1.5 * math.sqrt(2.0) - 2.0, 0.249, -0.75 + 1e-3, 0.249]
    gap = found(pairs).gap
    np.testing.assert_allclose(gap[[0, 1, 3]], np.array(truth)[[0, 1, 3]], rtol=0.0, atol=1e-12)
    assert gap[2] < 0.0


@uncompiled_too
@pytest.mark.parametrize("seed", range(10))
def test_flush_cubes_touch_and_face_each_other(seed: int) -> None:
    """Shifted along the face and turned as a whole: distance zero, and the direction is that of the
    face."""
    rng, cube = np.random.default_rng(seed), qp.Box((0.1, 0.1, 0.1))
    turn, shift = random_turn(rng), at(0.1, *rng.uniform(-0.09, 0.09, 2))
    one, two = Placed(cube, np.zeros(3), np.eye(3)), Placed(cube, shift, np.eye(3))
    answer = found([(one.moved(shift, turn), two.moved(shift, turn))])
    assert abs(answer.gap[0]) < 1e-16
    np.testing.assert_allclose(answer.normal[0], turn[:, 0], atol=1e-14)
