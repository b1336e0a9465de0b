"""What the tests of distances share: solids anywhere, and their geometry once more, in plain
NumPy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import quirkpy as qp
from quirkpy.kernels.solid.distance import ANSWER_WIDTH, GAP, NORMAL, POINT1, POINT2, distances
from quirkpy.kernels.solid.solids import POSE_WIDTH, fill_poses, solids
from quirkpy.maths.triples import NO_TURN, ORIGIN

Array = NDArray[np.float64]
AXES = "xyz"


class Placed(NamedTuple):
    """A shape somewhere: centre, and axes as the columns of a matrix."""

    shape: qp.Shape
    at: Array
    axes: Array

    def moved(self, by: Array, turn: Array) -> Placed:
        """Turned about the origin, then moved."""
        return Placed(self.shape, turn @ self.at + by, turn @ self.axes)

    def extent(self, n: Array) -> Array:
        """How far it reaches along directions (m, 3), from its centre."""
        d = n @ self.axes
        if isinstance(self.shape, qp.Box):
            return np.asarray(abs(d) @ (0.5 * np.array(self.shape.size)))
        if isinstance(self.shape, qp.Sphere):
            return np.asarray(self.shape.radius * np.linalg.norm(d, axis=1))
        assert isinstance(self.shape, qp.Cylinder)
        along = d[:, AXES.index(self.shape.axis)]
        across = np.linalg.norm(np.delete(d, AXES.index(self.shape.axis), axis=1), axis=1)
        return np.asarray(0.5 * self.shape.length * abs(along) + self.shape.radius * across)

    def misses(self, point: Array) -> float:
        """By how much a point lies outside, in any one of its measures."""
        y = self.axes.T @ (point - self.at)
        if isinstance(self.shape, qp.Box):
            return float((abs(y) - 0.5 * np.array(self.shape.size)).max())
        if isinstance(self.shape, qp.Sphere):
            return float(np.linalg.norm(y) - self.shape.radius)
        assert isinstance(self.shape, qp.Cylinder)
        along = AXES.index(self.shape.axis)
        across = np.linalg.norm(np.delete(y, along)) - self.shape.radius
        return float(max(across, abs(y[along]) - 0.5 * self.shape.length))

    @property
    def size(self) -> float:
        """Its largest measure."""
        shape = self.shape
        if isinstance(shape, qp.Box):
            return max(shape.size)
        return max(2.0 * shape.radius, getattr(shape, "length", 0.0))  # type: ignore[attr-defined]


class Found(NamedTuple):
    """Distances, directions, and the points of both, a row a pair."""

    gap: Array
    normal: Array
    first: Array
    second: Array


def found(pairs: list[tuple[Placed, Placed]]) -> Found:
    """What the kernels say of pairs."""
    flat = [placed for pair in pairs for placed in pair]
    made = solids([(k, placed.shape, ORIGIN, NO_TURN) for k, placed in enumerate(flat)])
    frames = np.zeros((len(flat), 18))
    frames[:, :3] = [placed.at for placed in flat]
    frames[:, 6:15] = [placed.axes.ravel() for placed in flat]
    poses, out = np.zeros((len(flat), POSE_WIDTH)), np.zeros((len(pairs), ANSWER_WIDTH))
    fill_poses(made, frames, poses)
    distances(np.arange(len(flat)).reshape(-1, 2), made, poses, out)
    return Found(out[:, GAP], out[:, NORMAL:POINT1], out[:, POINT1:POINT2], out[:, POINT2:])


def gap_along(one: Placed, two: Placed, n: Array) -> Array:
    """How far two solids are apart along directions (m, 3): never more than their distance."""
    return np.asarray(n @ (two.at - one.at) - one.extent(n) - two.extent(n))


def random_shape(kind: str, rng: np.random.Generator, thinnest: float) -> qp.Shape:
    """A shape whose measures lie between `thinnest` and 1."""
    a, b, c = np.exp(rng.uniform(np.log(thinnest), 0.0, 3))
    if kind == "box":
        return qp.Box((a, b, c))
    return (
        qp.Sphere(0.5 * a) if kind == "sphere" else qp.Cylinder(0.5 * a, b, AXES[rng.integers(3)])
    )


def nearly_aligned(rng: np.random.Generator) -> Array:
    """A rotation by quarter turns, and by next to nothing."""
    quarter = np.eye(3)[rng.permutation(3)]
    off = rng.normal(size=3) * 10.0 ** rng.uniform(-17.0, -1.0)
    return np.asarray(Rotation.from_rotvec(off).as_matrix() @ (quarter * np.linalg.det(quarter)))


def random_pair(
    one: str, two: str, rng: np.random.Generator, thinnest: float = 0.2
) -> tuple[Placed, Placed]:
    """Two shapes, apart or not; every third pair nearly aligned, and of those every second one
    nearly touching."""
    shapes = random_shape(one, rng, thinnest), random_shape(two, rng, thinnest)
    c = rng.normal(size=3)
    c *= rng.uniform(0.1, 1.5) / np.linalg.norm(c)
    if rng.integers(3):
        return Placed(shapes[0], np.zeros(3), random_turn(rng)), Placed(
            shapes[1], c, random_turn(rng)
        )
    first, second = (
        Placed(shapes[0], np.zeros(3), np.eye(3)),
        Placed(shapes[1], c, nearly_aligned(rng)),
    )
    if rng.integers(2):  # side by side along an axis: faces flush but for a trifle
        n = np.eye(3)[[rng.integers(3)]]
        reach = float((first.extent(n) + second.extent(n))[0])
        at = 0.3 * c * (1.0 - n[0]) + n[0] * (reach + rng.choice((0.0, 1e-12, 1e-9, -1e-9, 1e-3)))
        second = second._replace(at=at)
    return first, second


def random_turn(rng: np.random.Generator) -> Array:
    """Any rotation."""
    return np.asarray(Rotation.random(random_state=int(rng.integers(2**31))).as_matrix())
