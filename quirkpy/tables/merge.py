"""Locked clusters: bodies that locks hold together are merged into one body, and their motion is
computed from its motion.

A lock is a joint without freedoms: its two sites coincide, so the sites alone determine the
relative poses of the bodies of a cluster. Joints, forces and sensors keep their numbers; joints
within a cluster have no constraint rows any more."""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from quirkpy.maths.cached import cached_property
from quirkpy.maths.pieces import firsts_of_pieces
from quirkpy.maths.records import FrozenRecord
from quirkpy.maths.rotations import cross, rotate
from quirkpy.maths.types import Bools, Floats, Ints
from quirkpy.parts.force import kinds_where
from quirkpy.tables.commands import turn_drive
from quirkpy.tables.tables import (
    CALLBACK_ROW,
    PUSH,
    RELATION_ROW,
    STOP,
    UNIFORM,
    Selection,
    Tables,
)

#: A locked joint at a bound of its own must not reach it by rounding: the bound is moved by this
#: [rad or m], less than the tolerance of a start.
STOP_SLACK = 1e-7
#: Kinds of elements whose loads add up over clusters except where these are attached to the ground,
#: and kinds for which this is false or unknown.
ADD_UP_MOVING = kinds_where(lambda kind: kind.adds_up == "moving")
APART = kinds_where(lambda kind: kind.adds_up not in ("always", "moving"))


class Motion(NamedTuple):
    """r (..., n, 3), q (..., n, 4), v (..., n, 3) of mass centres in N, omega (..., n, 3) in body
    axes."""

    r: Floats
    q: Floats
    v: Floats
    omega: Floats


@dataclass(frozen=True, eq=False)
class Merger(FrozenRecord):
    """The merged tables with the active parts, and the pose of each body in its cluster
    (n_clusters: on the ground)."""

    selection: Selection  # the same joints and forces, between clusters
    cluster: Ints  # the cluster to which each body belongs (nb,)
    leader: Ints  # the body that gives each cluster its axes (n_clusters,)
    # Mass centre of each body relative to that of its cluster, in cluster axes; for those on the
    # ground in N [m] (nb, 3).
    place: Floats
    turn: Floats  # rotation from body axes to cluster axes, on the ground to N (nb, 4)
    standing_mass: float  # of all bodies on the ground [kg]
    standing_energy: float  # their potential energy in uniform fields [J]

    def facing(self, here: Floats, there: Floats) -> Merger:
        """The merger with those signs of the quaternions of the rotations that map those of bodies
        `here` to those `there` (nb, 4)."""
        near = (here * there).sum(axis=-1) >= 0.0
        return (
            self
            if near.all()
            else dataclasses.replace(self, turn=self.turn * np.where(near, 1.0, -1.0)[:, None])
        )

    @cached_property
    def mass_ratio(self) -> float:
        """Mass of all bodies over that of those that can move."""
        return 1.0 + self.standing_mass / float(self.selection.tables.body_mass.sum())


# --- turns and shifts, row by row -----------------------------------------------------------------


def motion_at(m: Motion, place: Floats) -> Motion:
    """The motion of the points at `place` [m], in body axes, relative to the mass centres."""
    return Motion(m.r + rotate(m.q, place), m.q, m.v + rotate(m.q, cross(m.omega, place)), m.omega)


def as_leaders_move(bodies: Motion, leader: Ints, place: Floats) -> Motion:
    """The motion of the clusters whose leaders are at `place` [m] in them."""
    return motion_at(Motion(*(array[leader] for array in bodies)), -place[leader])


# --- who belongs together -------------------------------------------------------------------------
def merge(s: Selection) -> Merger | None:
    """The active parts between the clusters of a selection; None where no bodies can be merged.

    A user's Python code refers to bodies by name, so bodies are not merged where it is called; nor
    where nothing would move, or where the loads of an active element are not known to add up
    (`KINDS`)."""
    t = s.tables
    locks = s.joints[(t.joint_in_tree[s.joints] > 0) & (np.diff(t.joint_freedom)[s.joints] == 0)]
    kinds = t.element_kind[s.elements]
    if not len(locks) or np.isin(kinds, APART).any() or _asks_python(s):
        return None
    root = roots(t, locks)
    leader = np.flatnonzero(root[:-1] == np.arange(t.n_bodies))
    if len(leader) in (0, t.n_bodies) or (
        np.isin(kinds, ADD_UP_MOVING).any() and (root[:-1] == t.n_bodies).any()
    ):
        return None
    points, axes = lie(t, locks, root)
    return _Composer(s, np.searchsorted(leader, root), leader, points, axes).merger()


def _asks_python(s: Selection) -> bool:
    """Whether a user's own joint is active."""
    return bool((s.tables.row_kind[s.rows] == CALLBACK_ROW).any())


def roots(t: Tables, locks: Ints) -> Ints:
    """The first body of each body's cluster; the ground, number nb, where that belongs to it (nb +
    1,)."""
    one, two = t.site_body[t.joint_site1[locks]], t.site_body[t.joint_site2[locks]]
    pairs = zip(one.tolist(), two.tolist(), strict=True)
    root = np.array(firsts_of_pieces(t.n_bodies + 1, pairs), dtype=np.int64)
    root[root == root[-1]] = t.n_bodies
    return root


def lie(t: Tables, locks: Ints, root: Ints) -> tuple[Floats, Floats]:
    """Mass centre [m] and axes of every body in the frame of its root, propagated lock by lock (nb
    + 1, 3 and 3 x 3).

    If several locks connect a body, the first in the tables is used.
    """
    points, axes = np.zeros((len(root), 3)), np.tile(np.eye(3), (len(root), 1, 1))
    sites = t.joint_site1[locks], t.joint_site2[locks]
    near, far = np.concatenate(sites), np.concatenate(sites[::-1])
    here, there, frame = t.site_body[near], t.site_body[far], t.site_axes.reshape(-1, 3, 3)
    placed = root == np.arange(len(root))
    while not placed[there].all():
        ready = np.flatnonzero(placed[here] & ~placed[there])
        body, first = np.unique(there[ready], return_index=True)
        k = ready[first]
        a, b = near[k], far[k]
        turn = axes[here[k]] @ frame[a] @ frame[b].transpose(0, 2, 1)
        arms = axes[here[k]] @ t.site_point[a, :, None] - turn @ t.site_point[b, :, None]
        points[body], axes[body], placed[body] = points[here[k]] + arms[:, :, 0], turn, True
    return points, axes


# --- merged tables --------------------------------------------------------------------------------
class _Composer:
    """Writes tables in which clusters are bodies."""

    def __init__(
        self, s: Selection, cluster: Ints, leader: Ints, points: Floats, axes: Floats
    ) -> None:
        t, n = s.tables, len(leader)
        self.selection, self.tables, self.cluster, self.leader, self.axes = (
            s,
            t,
            cluster,
            leader,
            axes,
        )
        self.mass = _sums(t.body_mass, cluster, n)
        centre = _sums(t.body_mass[:, None] * points[:-1], cluster, n) / self.mass[:, None]
        self.place = points - np.concatenate([centre, np.zeros((1, 3))])[cluster]

    def merger(self) -> Merger:
        s, t = self.selection, self.tables
        turn = np.tile((1.0, 0.0, 0.0, 0.0), (t.n_bodies, 1))
        follows = np.setdiff1d(np.arange(t.n_bodies), self.leader)
        turn[follows] = turns_of(self.axes[follows].tobytes())
        standing = np.flatnonzero(self.cluster[:-1] == len(self.leader))
        mass, uniform = t.body_mass[standing], s.elements[t.element_kind[s.elements] == UNIFORM]
        field = t.element_numbers[uniform, :3].sum(axis=0)
        return Merger(
            Selection(self._tables(), s.joints, s.forces), self.cluster[:-1], self.leader,
            self.place[:-1], turn, float(mass.sum()), -float(mass @ (self.place[standing] @ field)),
        )  # fmt: skip

    def _tables(self) -> Tables:
        t = self.tables
        written = Motion(t.body_position, t.body_quaternion, t.body_velocity, t.body_omega)
        r, q, v, omega = as_leaders_move(written, self.leader, self.place)
        return dataclasses.replace(
            t, bodies=tuple(t.bodies[k] for k in self.leader), body_mass=self.mass,
            body_inertia=self._inertia(), body_position=r, body_quaternion=q, body_velocity=v,
            body_omega=omega, **self._sites(), **self._rows(), **self._numbers(),
        )  # fmt: skip

    def _inertia(self) -> Floats:
        """Moments of inertia about the mass centres of the clusters, in cluster axes."""
        axes, d = self.axes[:-1], self.place[:-1]
        own = axes @ self.tables.body_inertia @ axes.transpose(0, 2, 1)
        square = (d * d).sum(axis=1)[:, None, None] * np.eye(3) - d[:, :, None] * d[:, None, :]
        return _sums(
            own + self.tables.body_mass[:, None, None] * square, self.cluster, len(self.leader)
        )

    def _sites(self) -> dict[str, Any]:
        t = self.tables
        body = t.site_body
        points = self.place[body] + (self.axes[body] @ t.site_point[:, :, None])[:, :, 0]
        axes = self.axes[body] @ t.site_axes.reshape(-1, 3, 3)
        return {
            "site_body": self.cluster[body],
            "site_point": points,
            "site_axes": axes.reshape(-1, 9),
        }

    def _rows(self) -> dict[str, Any]:
        """Rows of joints between two clusters, and rows that relate a coordinate of such a joint
        to others."""
        t, within = self.tables, self._within()
        idle = within[t.row_joint]
        relations = np.flatnonzero(t.row_kind == RELATION_ROW)
        still = np.append(within[t.coordinate_joint], True)  # the last: no coordinate, number -1
        idle[relations] = still[t.row_axis1[relations]] & still[t.row_axis2[relations]]
        kept = ~idle
        count = np.bincount(t.row_joint[kept], minlength=len(t.joints))
        names = (
            "row_kind",
            "row_joint",
            "row_axis1",
            "row_axis2",
            "row_schedule",
            "row_value",
            "row_factor",
        )
        return {name: getattr(t, name)[kept] for name in names} | {
            "joint_row": np.concatenate([[0], np.cumsum(count)])
        }

    def _within(self) -> Bools:
        """Which joints are within one cluster."""
        t = self.tables
        one, two = (self.cluster[t.site_body[sites]] for sites in (t.joint_site1, t.joint_site2))
        return np.asarray(one == two)

    def _numbers(self) -> dict[str, Any]:
        """Pushes rotated from body axes into those of the clusters; bounds extended where rounding
        alone would reach them."""
        t = self.tables
        numbers, knots = t.element_numbers.copy(), t.knot_value.copy()
        stops = np.flatnonzero(t.element_kind == STOP)
        stops = stops[self._within()[t.element_joint[stops]]]
        numbers[stops, 0] -= STOP_SLACK * numbers[stops, 1]
        turns = dict[int, Floats]()
        for e in np.flatnonzero((t.element_kind == PUSH) & (numbers[:, 6] != 0.0)):
            turn = self.axes[t.site_body[t.element_site1[e]]]
            numbers[e, :3], numbers[e, 3:6] = turn @ numbers[e, :3], turn @ numbers[e, 3:6]
            for s in t.element_schedule[e][t.element_schedule[e] >= 0].tolist():
                turns[s] = turn
                for mine in map(t.knots, t.leading(s)):
                    knots[mine] = knots[mine] @ turn.T
        drives = tuple(tuple(turn_drive(t, drive, turns) for drive in some) for some in t.drives)
        return {"element_numbers": numbers, "knot_value": knots, "drives": drives}


@functools.lru_cache(maxsize=1024)
def turns_of(axes: bytes) -> Floats:
    """Quaternions w x y z (k, 4) of axes as columns (k, 3, 3), given as bytes: cached, as sites on
    a lattice have few different ones."""
    matrices = np.frombuffer(axes).reshape(-1, 3, 3)
    return np.roll(Rotation.from_matrix(matrices).as_quat(), 1, axis=1)


def _sums(values: Floats, cluster: Ints, n: int) -> Floats:
    """Sums over the bodies of each of n clusters."""
    out = np.zeros((n + 1, *values.shape[1:]))
    np.add.at(out, cluster[: len(values)], values)
    return out[:n]
