"""Whether the energy rises along every allowed direction where its curvature differs from side to
side.

At an equilibrium with a rope that is just taut, the second variation of energy is x' K x + sum_k
b_k x'a_k |a_k'x|, which is a quadratic form in each of the cells into which the planes a_k'x = 0
divide the directions. A stop that is touched without force leaves the half space g'x >= 0. In both
cases a form must be positive on a cone. Its minimum over directions of length one lies in the
interior of the cone or of one of its faces, where it is an eigenvalue of the form restricted to the
span of that face. So all faces are examined (Gaddum's criterion for copositive matrices, for any
cone)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.optimize import linprog

from quirkpy.kernels.base.eigen import eigen
from quirkpy.maths.differences import unsure
from quirkpy.maths.types import Floats

#: Largest number of planes and walls whose combinations are all examined.
MOST = 7
#: A direction of length one is on the allowed side of a plane, or on it, if it lies beyond by no
#: more than this.
ON = 1e-9


class Bends(NamedTuple):
    """K (f, f) with the error of each number; planes, normals a_k of length one (m, f) with half
    the jump of the stiffness across each, b_k (m,); walls, normals of length one (w, f) on the free
    side [1/s2]."""

    stiffness: Floats
    error: Floats
    normals: Floats
    jumps: Floats
    walls: Floats

    def along(self, directions: Floats) -> Floats:
        """The curvature of the energy along some directions (k, f), allowed or not (k,)."""
        plain = np.einsum("kf,fg,kg->k", directions, self.stiffness, directions)
        reached = directions @ self.normals.T
        return np.asarray(plain + (reached * abs(reached)) @ self.jumps)


class ConeVerdict(NamedTuple):
    """Whether energy rises along every allowed direction, falls along one, or is level to within
    its error; that direction (f,), the curvature along it [1/s2] and its error."""

    ground: Literal["rises", "falls", "level"]
    along: Floats
    value: float
    error: float


def decide(bends: Bends) -> ConeVerdict | None:
    """The verdict over all cells and all of their faces; None where there are too many planes and
    walls."""
    m, f = bends.normals.shape
    if m + len(bends.walls) > MOST:
        return None
    level: ConeVerdict | None = None
    lowest: ConeVerdict | None = None
    for signs in itertools.product((1.0, -1.0), repeat=m):
        sides = np.array(signs)[:, None] * bends.normals
        K = bends.stiffness + np.einsum(
            "k,kf,kg->fg", bends.jumps * signs, bends.normals, bends.normals
        )
        for found in _lowest(K, bends.error, np.concatenate([sides, bends.walls])):
            if found.ground == "falls" and (lowest is None or found.value < lowest.value):
                lowest = found
            level = found if level is None or found.value < level.value else level
    return lowest or level or ConeVerdict("rises", np.zeros(f), 0.0, 0.0)


def _lowest(K: Floats, error: Floats, inside: Floats) -> Iterator[ConeVerdict]:
    """Directions x of the cone inside x >= 0 along which x' K x is not certainly positive: the
    minimum on each face that has one in its interior."""
    clear: list[frozenset[int]] = []
    for size in range(len(inside) + 1):
        for face in map(frozenset, itertools.combinations(range(len(inside)), size)):
            if any(whole <= face for whole in clear):
                continue
            span = _complement(inside[sorted(face)], len(K))
            if not span.shape[1]:
                continue
            values, axes = eigen(span.T @ K @ span)
            along = span @ axes
            errors = unsure(error, along)
            if (values > errors).all():
                clear.append(face)
                continue
            for which in (values < -errors, values <= errors):
                x = _inward_direction(inside, along[:, which])
                if x is not None:
                    value, doubt = float(x @ K @ x), float(unsure(error, x[:, None])[0])
                    yield ConeVerdict("falls" if value < -doubt else "level", x, value, doubt)
                    break


def _complement(rows: Floats, f: int) -> Floats:
    """An orthonormal basis of the orthogonal complement of some columns (f, k), as columns."""
    if not len(rows):
        return np.eye(f)
    _, sigma, Vt = np.linalg.svd(rows)
    return np.asarray(Vt[int((sigma > ON).sum()) :].T)


def _inward_direction(inside: Floats, along: Floats) -> Floats | None:
    """A direction of length one in the span of some columns (f, p) with inside x >= 0; None if
    there is none."""
    reached = inside @ along
    for k in range(along.shape[1]):
        for sense in (1.0, -1.0):
            if (sense * reached[:, k] >= -ON).all():
                return np.asarray(sense * along[:, k])
    if along.shape[1] < 2:
        return None
    for k in range(along.shape[1]):
        for sense in (1.0, -1.0):
            cost = np.zeros(along.shape[1])
            cost[k] = -sense
            found: Any = linprog(
                cost, A_ub=-reached, b_ub=np.zeros(len(reached)), bounds=(-1.0, 1.0)
            )
            if found.status == 0 and -found.fun > ON:
                x = along @ found.x
                return np.asarray(x / np.linalg.norm(x))
    return None
