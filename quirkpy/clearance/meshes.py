"""The clearance of skins along a motion: the counterpart, with python-fcl, of
`kernels/solid/advancement.py` for built-in shapes.

Curves, bounds and search are the same. An evaluation gives the distance of two skins, and its
direction n. No point moves faster than the curve allows; and along n, fixed in either body, the
hulls of both stay apart by the velocities of all their points, less half of the effect of
accelerations. For skins that are not convex, all pairs of triangles that can come near within the
interval are examined, each pair along the best of the normals of all."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from quirkpy.clearance.skins import Couple, Skin, are_near, distinct
from quirkpy.kernels.base.states import (
    angular_of,
    attitudes_of,
    ground_rows,
    linear_of,
    positions_of,
    spins_of,
    velocities_of,
    zero_vectors,
)
from quirkpy.kernels.solid.advancement import (
    FOUND_WIDTH,
    INSTANT,
    LEAST,
    LEAST_ACCURACY,
    LOOKS,
    PASSED,
    THERE,
    WHEN,
    Motions,
)
from quirkpy.kernels.solid.curves import CONTROLS
from quirkpy.kernels.solid.solids import SOLID_BODY, Solids
from quirkpy.maths import quat
from quirkpy.maths.rotations import product, rotate
from quirkpy.maths.types import Floats, Ints
from quirkpy.motion.interpolation import turning

#: Weights of the control points of fifth and fourth degree.
FIFTH, FOURTH = (np.array([math.comb(n, k) for k in range(n + 1)], dtype=float) for n in (5, 4))
#: Number of passes in which near triangles are sought, from either side.
ROUNDS = 2
#: Largest number of triples of two triangles and a direction that are examined; beyond it, the
#: interval is halved.
MOST_PAIRS = 300_000


class Curves(NamedTuple):
    """The motion of one body relative to another: times (k,), control points of position and
    rotation (k - 1, CONTROLS, 7) over unit steps, and bounds of speed and acceleration, of angular
    velocity and acceleration, over each (k - 1, 4)."""

    t: Floats
    controls: Floats
    bounds: Floats


class Pose(NamedTuple):
    """Rotation (3, 3) and position (3,) of the second body in the axes of the first, with their
    rates."""

    T: Floats
    y: Floats
    rate: Floats
    w: Floats


class Target(NamedTuple):
    """The clearance that is sought, its relative and absolute accuracy [m], and whether its first
    passing is sought."""

    value: float
    share: float
    fine: float
    passing: bool


def pass_by(
    passing: bool, pairs: Ints, last: Ints, fine: Floats, thresholds: Floats, solids: Solids,
    skins: list[Skin], motions: Motions,
) -> Floats:  # fmt: skip
    """The results of `kernels.solid.advancement.pass_by`, row by row, for pairs with at least one
    mesh."""
    out = np.zeros((len(pairs), FOUND_WIDTH))
    for n, (i, j) in enumerate(pairs):
        one, two = (int(solids.what[k, SOLID_BODY]) for k in (i, j))
        few = Motions(
            motions.t[: last[n] + 1], motions.states[: last[n] + 1], motions.bends[: last[n] + 1]
        )
        passage = Passage(Couple(skins[i], skins[j]), curves_of(one, two, few), out[n])
        if passing:
            passage.find_passing(float(fine[n]), thresholds[n])
        else:
            passage.find_least(float(fine[n]))
    return out


class Passage:
    """One pair along its motion; `out` receives the result."""

    def __init__(self, couple: Couple, curves: Curves, out: Floats) -> None:
        self.couple, self.curves, self.out = couple, curves, out
        self.apart_at_least = self._bound_clearance()

    def _bound_clearance(self) -> Floats:
        """Lower bounds of the clearance over whole steps, from the bounding spheres of both (k -
        1,)."""
        one, two, c = self.couple.one, self.couple.two, self.curves
        y = np.array([pose_at(0.5, controls).y for controls in c.controls])
        return np.asarray(
            np.linalg.norm(y - one.middle, axis=1) - 0.5 * c.bounds[:, 0] - one.ball - two.reach
        )

    def find_least(self, fine: float) -> None:
        """Compute LEAST and WHEN, to `fine` [m] or a share SHARE of it."""
        c, least, when = self.curves, math.inf, 0.0
        for step, end in ((0, 0.0), (len(c.controls) - 1, 1.0)):
            gap, _ = self._measure(pose_at(end, c.controls[step]))
            if gap < least:
                least, when = gap, float(c.t[step + int(end)])
        for wanted in (math.inf, fine):  # one evaluation a step at first
            for k in np.flatnonzero(self.apart_at_least < least).tolist():
                if self.apart_at_least[k] < least:
                    s, found = self._search(k, Target(least, LEAST_ACCURACY, wanted, False))
                    if found < least:
                        least, when = found, float(c.t[k] + s * (c.t[k + 1] - c.t[k]))
        self.out[LEAST], self.out[WHEN] = least, when

    def find_passing(self, fine: float, thresholds: Floats) -> None:
        """Compute PASSED and THERE: when the clearance is first below the threshold of that step,
        to within `fine` [m]."""
        c = self.curves
        self.out[PASSED] = math.inf
        for k in np.flatnonzero(self.apart_at_least < thresholds[: len(c.controls)]):
            s, gap = self._search(int(k), Target(float(thresholds[k]), 0.0, fine, True))
            if s <= 1.0:
                self.out[PASSED], self.out[THERE] = c.t[k] + s * (c.t[k + 1] - c.t[k]), gap
                break

    def _search(self, k: int, wanted: Target) -> tuple[float, float]:
        """Evaluate step k until its clearance is known not to fall below the target by more than
        the tolerance: the place of the minimum, or of the first passing, and the clearance there;
        the place is 2 where there is none."""
        target, share, fine, passing = wanted
        spans, where, there = [(0.0, 1.0)], 2.0, target
        while spans:
            begin, end = spans.pop()
            half = 0.5 * (end - begin)
            s = begin + half
            pose = pose_at(s, self.curves.controls[k])
            gap, n = self._measure(pose)
            if not passing and gap < target:
                target, where = gap, s
            if passing and gap < target:  # passed here or before
                where, there, spans = s, gap, []
                if target - gap > fine and half > INSTANT:
                    spans = [(begin, s)]
                continue
            enough = target if passing else target - max(fine, share * abs(target))
            if half <= INSTANT or self._stays(k, half, pose, gap, n, min(enough, gap - fine)):
                continue
            spans += [(s, end), (begin, s)]
        return where, (there if passing else target)

    def _measure(self, pose: Pose) -> tuple[float, Floats]:
        self.out[LOOKS] += 1.0
        return self.couple.separation(pose.T, pose.y)

    def _stays(self, k: int, d: float, pose: Pose, gap: float, n: Floats, enough: float) -> bool:
        """Whether the clearance stays above `enough` within d of an evaluation, to either side."""
        one, two = self.couple.one, self.couple.two
        moved = (self.curves.bounds[k][0] + self.curves.bounds[k][2] * two.reach) * d
        if gap - moved >= enough:
            return True
        lost = self._bend(k, d)
        if min(lost) > gap - enough:
            return False
        (first, whole), (second, all_of_it) = one.hull, two.hull
        if self._along(first[None], second[None], n[None], pose, d, lost) >= enough:
            return True
        if whole and all_of_it:
            return False
        i, j = nearby(one, two, pose, max(enough, 0.0) + moved)
        ways = distinct(np.concatenate([n[None], one.normals[i], -two.normals[j] @ pose.T.T]))
        if len(i) * len(j) * len(ways) > MOST_PAIRS:
            return False
        return self._along(one.corners[i], two.corners[j], ways, pose, d, lost) >= enough

    def _bend(self, k: int, d: float) -> tuple[float, float]:
        """The largest deviation of a motion from its tangent within d of an evaluation in step k
        [m], along a direction fixed in the first body, and along one fixed in the second."""
        speed, bend, turns, twist = self.curves.bounds[k]
        one, two = self.couple.one, self.couple.two
        twist = twist + turns * turns
        long = float(np.linalg.norm(positions_of(self.curves.controls)[k], axis=1).max())
        return (
            0.5 * d * d * (bend + twist * two.reach),
            0.5 * d * d * (bend + 2.0 * turns * speed + twist * (one.reach + long)),
        )

    def _along(
        self, a: Floats, b: Floats, ways: Floats, pose: Pose, d: float, lost: tuple[float, float]
    ) -> float:
        """Lower bound of the distances between pieces of the first (m, c, 3) and of the second (k,
        c, 3) within d: each pair along one of some directions (l, 3), fixed in the first or in the
        second."""
        T, y, rate, w = pose
        low = np.full((2, len(ways), len(a), len(b)), np.inf)
        one, two, still = self.couple.one.radius, self.couple.two.radius, ways @ y
        own, other = highest(a, ways), -highest(b, -ways @ T)
        for t in (-d, d):
            bent, gone = t * np.cross(ways, w), t * (ways @ rate)
            m = ways + bent
            off = still + gone - one - two * np.linalg.norm(m, axis=1)
            low[0] = np.minimum(
                low[0], (-highest(b, -m @ T) + off[:, None])[:, None] - own[:, :, None]
            )
            m = ways - bent
            off = m @ y + gone - two - one * np.linalg.norm(m, axis=1)
            low[1] = np.minimum(low[1], (other + off[:, None])[:, None] - highest(a, m)[:, :, None])
        low -= np.reshape(lost, (2, 1, 1, 1))
        return float(low.max(axis=(0, 1)).min(initial=math.inf))


def highest(pieces: Floats, ways: Floats) -> Floats:
    """The largest extents of pieces (m, c, 3) along directions (l, m)."""
    return np.asarray((pieces @ ways.T).max(axis=1).T)


def nearby(one: Skin, two: Skin, pose: Pose, within: float) -> tuple[Ints, Ints]:
    """Triangles of both that may be nearer to the other skin than `within`, including the radius of
    a sphere."""
    wide = within + one.radius + two.radius
    a, b = one.corners, two.corners @ pose.T.T + pose.y
    i, j = np.arange(len(a)), np.arange(len(b))
    for _ in range(ROUNDS):
        i = i[are_near(a[i], b[j], wide)]
        j = j[are_near(b[j], a[i], wide)]
    return i, j


# --- curves ---------------------------------------------------------------------------------------
def poses_of(i: int, states: Floats) -> Floats:
    """States of body i (k, STATE_WIDTH); for the ground, the last row, without motion."""
    if i < states.shape[1] - 1:
        return states[:, i]
    return ground_rows(len(states))


def conjugate(q: Floats) -> Floats:
    """Inverse rotations (k, 4)."""
    return q * (1.0, -1.0, -1.0, -1.0)


def relative_poses(i: int, j: int, states: Floats) -> tuple[Floats, Floats]:
    """Rotations (k, 3, 3) and positions (k, 3) of body j in the axes of body i."""
    one, two = poses_of(i, states), poses_of(j, states)
    back = conjugate(attitudes_of(one))
    return matrices(product(back, attitudes_of(two))), rotate(
        back, positions_of(two) - positions_of(one)
    )


def matrices(q: Floats) -> Floats:
    """Rotation matrices (k, 3, 3)."""
    return np.array([quat.rotation_matrix(*x) for x in q.tolist()]).reshape(-1, 3, 3)


def curves_of(i: int, j: int, motions: Motions) -> Curves:
    """The curves of body j relative to body i, through the rows of a motion."""
    t, states, bends = motions
    one, two = poses_of(i, states), poses_of(j, states)
    a, b = (bends[:, k] if k < bends.shape[1] else zero_vectors(len(t)) for k in (i, j))
    back, w1 = conjugate(attitudes_of(one)), spins_of(one)
    y, u = (
        rotate(back, positions_of(two) - positions_of(one)),
        rotate(back, velocities_of(two) - velocities_of(one)),
    )
    rate = u - np.cross(w1, y)
    bend = (
        rotate(back, linear_of(b) - linear_of(a))
        - np.cross(w1, u)
        - np.cross(angular_of(a), y)
        - np.cross(w1, rate)
    )
    q = product(back, attitudes_of(two))
    carried = rotate(conjugate(q), w1)
    w = spins_of(two) - carried
    twist = angular_of(b) - rotate(conjugate(q), angular_of(a)) + np.cross(w, carried)
    turn_rate, turn_bend = turning(q, w, twist)
    x, v, c = np.hstack([y, q]), np.hstack([rate, turn_rate]), np.hstack([bend, turn_bend])
    controls = control_points(t, x, v, c)
    return Curves(t, controls, bounds_of(controls))


def control_points(t: Floats, x: Floats, v: Floats, c: Floats) -> Floats:
    """Control points (k - 1, CONTROLS, m) of the quintics that have values x, rates v and second
    derivatives c (k, m) at times t [s] (k,)."""
    h = np.diff(t)[:, None]
    v0, v1, c0, c1 = 0.2 * h * v[:-1], 0.2 * h * v[1:], 0.05 * h * h * c[:-1], 0.05 * h * h * c[1:]
    x0, x1 = x[:-1], x[1:]
    return np.stack([x0, x0 + v0, x0 + 2.0 * v0 + c0, x1 - 2.0 * v1 + c1, x1 - v1, x1], axis=1)


def bounds_of(controls: Floats) -> Floats:
    """Bounds of speed and acceleration of the position, of angular velocity and acceleration, step
    by step (k, 4)."""
    first = 5.0 * np.diff(controls, axis=1)
    second = 4.0 * np.diff(first, axis=1)
    speed, bend = (np.linalg.norm(positions_of(x), axis=2).max(axis=1) for x in (first, second))
    rate, swing = (np.linalg.norm(attitudes_of(x), axis=2).max(axis=1) for x in (first, second))
    q, dq = attitudes_of(controls), attitudes_of(first)
    middle = q[:, 0] + q[:, -1]
    short = np.einsum("kcx,kx->kc", q, middle).min(axis=1) / np.linalg.norm(middle, axis=1)
    parts = np.zeros(
        (len(controls), 2 * CONTROLS - 2)
    )  # of the product of the quaternion and its rate
    dots = np.einsum("kix,kjx->kij", q, dq) * FIFTH[:, None] * FOURTH
    for i in range(CONTROLS):
        parts[:, i : i + CONTROLS - 1] += dots[:, i]
    stretch = abs(parts / [math.comb(9, n) for n in range(10)]).max(axis=1)
    twist = 2.0 * (swing / short + 2.0 * stretch * rate / short**3)
    return np.stack([speed, bend, 2.0 * rate / short, twist], axis=1)


def pose_at(s: float, controls: Floats) -> Pose:
    """Position and rotation at s, and their rates; the angular velocity in the axes of the first
    body."""
    powers = np.arange(6.0)
    x = (FIFTH * s**powers * (1.0 - s) ** (5.0 - powers)) @ controls
    d = (FOURTH * s ** powers[:5] * (1.0 - s) ** (4.0 - powers[:5])) @ (
        5.0 * np.diff(controls, axis=0)
    )
    size = float(np.linalg.norm(attitudes_of(x)))
    q = attitudes_of(x) / size
    T = np.array(quat.rotation_matrix(*q.tolist())).reshape(3, 3)
    spin = 2.0 * product(conjugate(q)[None], attitudes_of(d)[None])[0, 1:] / size
    return Pose(T, positions_of(x), positions_of(d), T @ spin)
