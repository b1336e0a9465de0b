"""Skins: surfaces of triangles about bodies, and their distances, computed by python-fcl.

The skin of a box is exact, that of a sphere is its centre with a radius around it, and that of a
cylinder is a prism of `ROUND` sides which deviates, to either side, by no more than 5e-6 of its
radius. The distance of two separate skins is that of their nearest triangles, exactly. Of two that
overlap one is translated outwards along likely directions, and back until it touches: the shortest
of these translations is the depth."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from quirkpy.maths.cached import cached_property
from quirkpy.maths.triples import Nine, Triple
from quirkpy.maths.types import Bools, Floats, Ints
from quirkpy.mechanics.solids import placed_shapes
from quirkpy.parts.part import PartError
from quirkpy.parts.shapes import Box, Cylinder, Mesh, Shape, Sphere
from quirkpy.tables.tables import Tables

#: A sum or product of normals shorter than this share of the longest has no direction [1].
NO_NORMAL = 1e-9
#: Distance [m], negative for a depth, and the direction from the first to the second.
Apart: TypeAlias = tuple[float, Floats]

#: Sides of the prism that approximates a cylinder.
ROUND = 720
#: Below this share of the size the direction between nearest points is dominated by rounding.
LEAST_SKIN_GAP = 1e-7
#: The first translation outwards, as a share of the size, the factor of the next ones, and their
#: largest number.
FIRST_PULL, PULL_FACTOR, MOST_DRAWN = 1e-3, 4.0, 8
#: The tolerance of the translation back, as a share of the size, and the largest number of moves.
PULL_TOLERANCE, MOST_MOVES = 1e-9, 80
#: Largest number of contacts examined, of their faces, and of the best directions that are followed
#: to the end.
CONTACTS, FACES, FOLLOWED = 64, 8, 3
#: Number of directions tried where the first translation is not sufficient.
FEW = 24
#: A skin is convex if the volume of its hull exceeds its own by no more than this share.
CONVEX = 1e-9


def _fcl() -> Any:
    """python-fcl, imported when it is needed."""
    try:
        import fcl
    except ImportError as error:
        raise PartError(
            "clearances: a Mesh needs python-fcl; pip install 'quirkpy[mesh]' brings it.",
            code="install",
        ) from error
    return fcl


class Skin:
    """The surface of a shape in the axes of its body, on a fixed one in N: points (n, 3), triangles
    (m, 3), which of these are flat faces of the shape and not parts of a round one (m,), and the
    radius around the surface [m]."""

    def __init__(self, shape: Shape, point: Triple, axes: Nine) -> None:
        points, self.triangles, self.flat, self.radius = surface_of(shape)
        self.points = points @ np.reshape(axes, (3, 3)).T + point
        self.low, self.high = self.points.min(axis=0), self.points.max(axis=0)
        self.reach = float(np.linalg.norm(self.points, axis=1).max()) + self.radius
        self.middle = 0.5 * (self.low + self.high)
        self.ball = float(np.linalg.norm(self.points - self.middle, axis=1).max()) + self.radius

    @cached_property
    def corners(self) -> Floats:
        """The corners of all triangles (m, 3, 3)."""
        return np.asarray(self.points[self.triangles])

    @cached_property
    def normals(self) -> Floats:
        """Unit normals outwards (m, 3); zero for the point that a sphere is."""
        a, b, c = (self.corners[:, k] for k in range(3))
        out = np.cross(b - a, c - a)
        size = np.linalg.norm(out, axis=1)[:, None]
        return np.asarray(out / np.where(size > 0.0, size, 1.0))

    @cached_property
    def model(self) -> Any:
        """The triangles as an object of python-fcl."""
        made = _fcl().BVHModel()
        made.beginModel(len(self.points), len(self.triangles))
        made.addSubModel(self.points, self.triangles)
        made.endModel()
        return made

    @cached_property
    def hull(self) -> tuple[Floats, bool]:
        """The corners of the convex hull (k, 3), and whether the skin is convex."""
        if not self.flat.any() and self.radius > 0.0:
            return self.points[:1], True
        from scipy.spatial import ConvexHull

        found = ConvexHull(self.points)
        volume = (
            float((self.corners[:, 0] * np.cross(self.corners[:, 1], self.corners[:, 2])).sum())
            / 6.0
        )
        return self.points[found.vertices], bool(found.volume - volume <= CONVEX * found.volume)

    def holds(self, x: Floats) -> bool:
        """Whether a point is inside: seen from there the surface fills all directions."""
        if self.radius > 0.0 or (x <= self.low).any() or (x >= self.high).any():
            return False
        a, b, c = (self.corners[:, k] - x for k in range(3))
        la, lb, lc = (np.linalg.norm(side, axis=1) for side in (a, b, c))
        over = (a * np.cross(b, c)).sum(axis=1)
        under = (
            la * lb * lc
            + (a * b).sum(axis=1) * lc
            + (b * c).sum(axis=1) * la
            + (c * a).sum(axis=1) * lb
        )
        return bool(np.arctan2(over, under).sum() > math.pi)


def surface_of(shape: Shape) -> tuple[Floats, Ints, Bools, float]:
    """Points, triangles, which of these are flat faces, and the radius around the surface, in the
    axes of the shape."""
    if isinstance(shape, Mesh):
        return shape.points, shape.corners, np.ones(len(shape.corners), dtype=bool), 0.0
    if isinstance(shape, Box):
        points = 0.5 * np.array(list(itertools.product((-1.0, 1.0), repeat=3))) * shape.size
        sides = np.array(
            [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        )
        return (
            points,
            np.concatenate([sides[:, [0, 1, 2]], sides[:, [0, 2, 3]]]),
            np.ones(12, dtype=bool),
            0.0,
        )
    if isinstance(shape, Sphere):
        return np.zeros((3, 3)), np.array([[0, 1, 2]]), np.zeros(1, dtype=bool), shape.radius
    if isinstance(shape, Cylinder):
        return prism(shape)
    raise TypeError(f"{type(shape).__name__} is no shape whose distance is known")


def prism(shape: Cylinder) -> tuple[Floats, Ints, Bools, float]:
    """The skin of a cylinder, with as much of each side inside as outside."""
    k, n = "xyz".index(shape.axis), np.arange(ROUND)
    radius = 2.0 * shape.radius / (1.0 + math.cos(math.pi / ROUND))
    points = np.zeros((2 * ROUND + 2, 3))
    for ring in (0, 1):
        rows = slice(ring * ROUND, (ring + 1) * ROUND)
        points[rows, (k + 1) % 3] = radius * np.cos(2.0 * math.pi * n / ROUND)
        points[rows, (k + 2) % 3] = radius * np.sin(2.0 * math.pi * n / ROUND)
        points[rows, k] = points[2 * ROUND + ring, k] = (ring - 0.5) * shape.length
    low, then = n, (n + 1) % ROUND
    ends = [
        np.stack([then, low, 0 * n + 2 * ROUND], 1),
        np.stack([low + ROUND, then + ROUND, 0 * n + 2 * ROUND + 1], 1),
    ]
    sides = [np.stack([low, then, then + ROUND], 1), np.stack([low, then + ROUND, low + ROUND], 1)]
    return points, np.concatenate(ends + sides), np.repeat([True, False], 2 * ROUND), 0.0


# --- pairs ----------------------------------------------------------------------------------------
class Couple:
    """Two skins, the second relative to the first: rotated by T (3, 3), its body at y (3,)."""

    def __init__(self, one: Skin, two: Skin) -> None:
        fcl = self.fcl = _fcl()
        self.one, self.two = one, two
        self.first, self.second = fcl.CollisionObject(one.model), fcl.CollisionObject(two.model)
        self.request = fcl.DistanceRequest(enable_nearest_points=True)
        self.contacts = fcl.CollisionRequest(num_max_contacts=CONTACTS, enable_contact=True)
        self.radius = one.radius + two.radius
        self.size = one.ball + two.ball

    def separation(self, T: Floats, y: Floats) -> Apart:
        """The distance of two skins, or the depth of their overlap."""
        far, way, touching = self._surfaces(T, y)
        inside = far > 0.0 and self._one_inside(T, y)
        if self.radius > 0.0:
            n = way / far if far > LEAST_SKIN_GAP * self.size else self._outwards(T, touching)
            return (-far - self.radius, -n) if inside else (far - self.radius, n)
        if far > LEAST_SKIN_GAP * self.size and not inside:
            return far, way / far
        depth, n = self._pull_out(T, y, touching)
        return (far if far > 0.0 and not inside else min(0.0, -depth)), n

    def _surfaces(self, T: Floats, y: Floats) -> tuple[float, Floats, tuple[int, int]]:
        """The distance of the surfaces, the vector between nearest points, and the triangles that
        contain these."""
        self.second.setTransform(self.fcl.Transform(T, y))
        found = self.fcl.DistanceResult()
        far = max(0.0, float(self.fcl.distance(self.first, self.second, self.request, found)))
        p, q = found.nearest_points
        return far, np.asarray(q - p), (found.b1, found.b2)

    def _one_inside(self, T: Floats, y: Floats) -> bool:
        """Whether one of two with separate surfaces is inside the other."""
        return self.one.holds(T @ self.two.points[0] + y) or self.two.holds(
            (self.one.points[0] - y) @ T
        )

    def _outwards(self, T: Floats, touching: tuple[int, int]) -> Floats:
        """The direction from the first to the second where a sphere's centre lies on the other."""
        return (
            self.one.normals[touching[0]]
            if self.two.radius > 0.0
            else -T @ self.two.normals[touching[1]]
        )

    # --- where they overlap -----------------------------------------------------------------------
    def _pull_out(self, T: Floats, y: Floats, touching: tuple[int, int]) -> Apart:
        """The shortest translation found that separates the second from the first, and its
        direction."""
        directions, out = self._directions(T, y, touching), FIRST_PULL * self.size
        for _ in range(MOST_DRAWN):
            tried = [(n, *self._surfaces(T, y + out * n)[:2]) for n in directions]
            followed = self._promising(T, y, out, tried)
            if followed:
                break
            directions, out = directions[:FEW], PULL_FACTOR * out
        else:
            return 2.0 * self.size, directions[0]
        found = []
        for k in followed:
            n, far, m = tried[k]
            found.append((self._push_back(T, y, n, out), n))
            n = m / far  # a candidate for a better one
            if self._surfaces(T, y + out * n)[0] > 0.0 and not self._one_inside(T, y + out * n):
                found.append((self._push_back(T, y, n, out), n))
        return min(found, key=lambda way: way[0])

    def _promising(
        self, T: Floats, y: Floats, out: float, tried: Sequence[tuple[Floats, float, Floats]]
    ) -> list[int]:
        """Which of some directions to follow, given the distance and its direction after a long
        translation along each of them.

        These are the directions of the shortest translation if the nearest points outside are also
        those of the overlap, which holds where both are convex, and some along which the distance
        outside is largest, which separate the two in any case."""
        apart = [k for k, (_, far, _) in enumerate(tried) if far > 0.0]
        promise = {
            k: out * float(tried[k][0] @ tried[k][2]) / tried[k][1] - tried[k][1] for k in apart
        }
        ranked = (
            sorted(apart, key=promise.__getitem__),
            sorted(apart, key=lambda k: -tried[k][1]),
        )
        outside = (
            (k for k in ks if not self._one_inside(T, y + out * tried[k][0])) for ks in ranked
        )
        return list(dict.fromkeys(k for ks in outside for k in itertools.islice(ks, FOLLOWED)))

    def _push_back(self, T: Floats, y: Floats, n: Floats, out: float) -> float:
        """How far the second is translated along n when it touches on its way back from outside,
        without passing through anything."""
        for _ in range(MOST_MOVES):
            far = self._surfaces(T, y + out * n)[0]
            out -= far
            if far <= PULL_TOLERANCE * self.size or out < 0.0:
                break
        return out

    def _directions(self, T: Floats, y: Floats, touching: tuple[int, int]) -> list[Floats]:
        """Likely directions: normals of faces in contact, their sums, normals to pairs of edges in
        contact, and the line of centres."""
        rows = self._touching_faces(T, y, touching)
        mine, other = self.one.normals[rows[:, 0]], -self.two.normals[rows[:, 1]] @ T.T
        normals = distinct(np.concatenate([mine, other]))[:FACES]
        sums = [a + b for a, b in itertools.combinations(normals, 2)]
        centres = T @ self.two.middle + y - self.one.middle
        every = [*normals, centres, normals.sum(axis=0), *sums, np.array([0.0, 0.0, 1.0])]
        for (i, j), outwards in zip(rows[:FACES], (mine + other)[:FACES], strict=False):
            every += list(across_edges(self.one.corners[i], self.two.corners[j] @ T.T, outwards))
        sizes = np.linalg.norm(every, axis=1)
        units = [d / s for d, s in zip(every, sizes, strict=True) if s > NO_NORMAL * sizes.max()]
        return list(distinct(np.array(units)))

    def _touching_faces(self, T: Floats, y: Floats, touching: tuple[int, int]) -> Ints:
        """Faces of both in contact, pair by pair (n, 2), those that are known to touch first."""
        self.second.setTransform(self.fcl.Transform(T, y))
        result = self.fcl.CollisionResult()
        self.fcl.collide(self.first, self.second, self.contacts, result)
        met = [touching, *((contact.b1, contact.b2) for contact in result.contacts)]
        return np.array([pair for pair in met if min(pair) >= 0], dtype=np.int64).reshape(-1, 2)

    # --- how they lie -----------------------------------------------------------------------------
    def flush(self, T: Floats, y: Floats, aligned: float, slack: float) -> bool:
        """Whether a flat face of one lies on one of the other: their normals enclose less than
        `aligned` [rad], and they do not overlap by more than the slack [m]."""
        a, n = self.one.corners[self.one.flat], self.one.normals[self.one.flat]
        b, m = self.two.corners[self.two.flat] @ T.T + y, self.two.normals[self.two.flat] @ T.T
        for _ in range(2):
            close = are_near(a, b, slack)
            a, n = a[close], n[close]
            close = are_near(b, a, slack)
            b, m = b[close], m[close]
        for face, normal in zip(a, n, strict=True):
            others = b[m @ normal < -math.cos(aligned)]
            heights = (others - face[0]) @ normal
            level = (heights.mean(axis=1) >= -slack) & (heights.min(axis=1) <= slack)
            if any(meet(face, other, normal, slack) for other in others[level]):
                return True
        return False


def across_edges(one: Floats, two: Floats, outwards: Floats) -> Floats:
    """Normals to an edge of each of two triangles (3, 3), oriented outwards (9, 3)."""
    edges, others = np.roll(one, -1, axis=0) - one, np.roll(two, -1, axis=0) - two
    across = np.cross(edges[:, None], others[None]).reshape(-1, 3)
    return np.asarray(np.where(across @ outwards < 0.0, -1.0, 1.0)[:, None] * across)


def are_near(mine: Floats, others: Floats, within: float) -> Bools:
    """Which triangles (m, 3, 3) are within a distance of the box around some others."""
    if not len(others):
        return np.zeros(len(mine), dtype=bool)
    low, high = others.min(axis=(0, 1)) - within, others.max(axis=(0, 1)) + within
    return np.asarray(
        (mine.max(axis=1) >= low).all(axis=1) & (mine.min(axis=1) <= high).all(axis=1)
    )


def meet(one: Floats, two: Floats, normal: Floats, slack: float) -> bool:
    """Whether two triangles (3, 3), seen along a normal, touch or overlap."""
    sides = np.concatenate([np.roll(one, -1, axis=0) - one, np.roll(two, -1, axis=0) - two])
    ways = np.cross(sides, normal)
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    a, b = one @ ways.T, two @ ways.T
    gaps = np.maximum(b.min(axis=0) - a.max(axis=0), a.min(axis=0) - b.max(axis=0))
    return bool(gaps.max() <= slack)


def distinct(directions: Floats) -> Floats:
    """Directions (n, 3) without repetitions and zeros, in their order."""
    _, first = np.unique(np.round(directions, 7) + 0.0, axis=0, return_index=True)
    kept = directions[np.sort(first)]
    return np.asarray(kept[np.linalg.norm(kept, axis=1) > 0.5])


# --- bodies ---------------------------------------------------------------------------------------


def skins_of(t: Tables) -> list[Skin]:
    """The skins of all solids; made once for the same bodies."""
    return t.once(_skins_of)


def _skins_of(t: Tables) -> list[Skin]:
    return [Skin(shape, point, axes) for _, shape, point, axes in placed_shapes(t)]
