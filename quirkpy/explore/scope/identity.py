"""Identity of shapes: poses of a system modulo invariances of the forces, and exchanges of
interchangeable modules."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from quirkpy.kernels.base.states import (
    attitudes_of,
    linear_of,
    positions_of,
    speeds_of,
    velocities_of,
)
from quirkpy.kernels.users.modal import points_of
from quirkpy.maths import quat
from quirkpy.maths.cached import cached_property
from quirkpy.maths.rotations import product, rotate
from quirkpy.maths.types import Bools, Floats, Ints
from quirkpy.mechanics.engine import Engine
from quirkpy.mechanics.invariance import SHIFT, TURN, displace
from quirkpy.mechanics.rigid_motion import BACK, rotation
from quirkpy.mechanics.state import State
from quirkpy.parts.body import GROUND
from quirkpy.parts.checks import angle_up_to, show, word
from quirkpy.parts.part import Part, checked
from quirkpy.system.multibody import Multibody

#: Lower bound of the largest acceleration, to which differences are compared [m/s2], [rad/s2].
FAINT = 1e-9
#: Standard deviation of the velocities at which invariance is tested [m/s], [rad/s].
SPEEDS_TRIED = 1e-2
#: Rigid motions of the whole that do not change a shape.
Group: TypeAlias = Literal["auto", "none", "translations", "rigid"]
#: Accelerations are equal if they agree to this share [1].
INVARIANT = 1e-7
#: Directions for the fingerprint, in general position.
PROBES = np.array([(0.36, 0.48, 0.8), (-0.77, 0.21, 0.6), (0.09, -0.82, -0.56)])
#: Different shapes closer than this many tolerances are reported.
REPORTED_MISS = 10.0


def _names(value: Any) -> Any:
    if isinstance(value, str) or not all(isinstance(group, (tuple, list)) for group in value):
        raise TypeError(
            f"is {show(value)}, but must be a list of lists of bodies, such as [[one, two]]"
        )
    return tuple(tuple(getattr(body, "name", body) for body in group) for group in value)


def _symmetries(value: Any) -> Any:
    if not isinstance(value, (dict, tuple, list)):
        raise TypeError(f"is {show(value)}, but must map bodies to lists of rotations")
    pairs = value.items() if isinstance(value, dict) else value
    out = []
    for body, turns in pairs:
        quaternions = tuple(
            tuple(quat.to_array(quat.unit_quaternion(_rotation(turn))).tolist()) for turn in turns
        )
        out.append((getattr(body, "name", body), quaternions))
    return tuple(out)


def _rotation(value: Any) -> Any:
    plain = isinstance(value, (tuple, list)) and len(value) == 4
    return quat.from_array(np.array(value, dtype=float)) if plain else value


class SameShape(Part):
    """Two poses are one shape if a rigid motion of the whole under which all selectable forces are
    invariant, and exchanges of interchangeable modules, map one onto the other.

    interchangeable: groups of bodies that may be permuted, ``[[a, b, c]]``. symmetry: rotations, in
    body axes, that map a body onto itself, ``{a: [qp.rotation((0, 0, 1), pi)]}``; give all but the
    identity. tolerance [m] and [rad]. group: "none", "translations", "rigid" (both), or "auto": the
    largest that forces allow; a larger one is refused."""

    interchangeable: Sequence[Sequence[Any]] = checked(_names, default=(), kw_only=True)
    symmetry: Mapping[Any, Any] = checked(_symmetries, default=(), kw_only=True)
    tolerance: float = checked(angle_up_to(math.pi, "pi"), default=1e-4, kw_only=True)
    group: Group = checked(word(Group), default="auto", kw_only=True)


@dataclass(frozen=True, eq=False)
class Shapes:
    """`SameShape` for the bodies of one system: their permutations and symmetry rotations."""

    bodies: tuple[str, ...]
    kinds: tuple[int, ...]  # equal numbers: interchangeable
    turns: tuple[Floats, ...]  # for each body: quaternions (k, 4), the identity first
    group: Group
    tolerance: float

    @classmethod
    def of(cls, rule: SameShape, bodies: tuple[str, ...], allowed: Group) -> Shapes:
        """The shapes of a rule, checked against the bodies of the system and the invariance of its
        forces."""
        kinds = {name: k for k, name in enumerate(bodies)}
        for group in rule.interchangeable:
            for name in group:
                if name not in kinds:
                    raise rule.refuse(
                        f"{name!r} is no moving body of the system; there are: "
                        f"{', '.join(bodies)}.",
                        code="name",
                    )
                kinds[name] = kinds[group[0]]
        symmetric = dict(rule.symmetry)
        for name in symmetric:
            if name not in kinds:
                raise rule.refuse(
                    f"{name!r} is no moving body of the system; there are: {', '.join(bodies)}.",
                    code="name",
                )
        order = get_args(Group)[1:]
        group = allowed if rule.group == "auto" else rule.group
        if order.index(group) > order.index(allowed):
            raise rule.refuse(
                f"group is {group!r}, but the selectable forces are invariant under {allowed!r} "
                "only; use 'auto'."
            )
        identity = (1.0, 0.0, 0.0, 0.0)
        turns = tuple(np.array([identity, *symmetric.get(name, ())]) for name in bodies)
        return cls(bodies, tuple(kinds[name] for name in bodies), turns, group, rule.tolerance)

    # --- comparing --------------------------------------------------------------------------------
    def distance(self, one: Floats, two: Floats) -> float:
        """The distance of two poses (n, 7), r and q, as shapes: the largest displacement [m] or
        rotation [rad] of any body, after the best rigid motion of the whole and exchange."""
        return self.match(one, two)[0]

    def match(self, one: Floats, two: Floats) -> tuple[float, tuple[int, ...]]:
        """The distance, and the body of the second that corresponds to each of the first."""
        if not len(one):
            return 0.0, ()
        apart = self._differences(self._carry(one, two), two)
        bounds = apart.min(axis=2).max(axis=1)  # a lower bound for every assignment
        best: tuple[float, tuple[int, ...]] = (np.inf, ())
        for k in np.argsort(bounds, kind="stable"):
            if bounds[k] >= best[0]:
                break
            best = min(best, _assign(apart[k]), key=lambda pair: pair[0])
        return best

    def exchanges(
        self, one: Floats, two: Floats
    ) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Every map of one pose onto another of the same shape: the body of the second that
        corresponds to each of the first, and the number of the symmetry rotation of that body."""
        if not len(one):
            yield (), ()
            return
        carried = self._carry(one, two)
        for pose, apart in zip(carried, self._differences(carried, two), strict=True):
            far, to = _assign(apart)
            if far <= self.tolerance:
                yield (
                    to,
                    tuple(
                        self._turn(attitudes_of(pose)[a], attitudes_of(two)[b], b)
                        for a, b in enumerate(to)
                    ),
                )

    def _turn(self, one: Floats, two: Floats, b: int) -> int:
        """The number of the symmetry rotation of body b that maps one orientation nearest to
        another."""
        there = product(np.broadcast_to(two, self.turns[b].shape), self.turns[b])
        return int(
            np.minimum(((there - one) ** 2).sum(axis=1), ((there + one) ** 2).sum(axis=1)).argmin()
        )

    def _carry(self, one: Floats, two: Floats) -> Floats:
        """The first pose, moved such that its first body coincides with any of its kind in the
        second, in each of its symmetric orientations (k, n, 7)."""
        if self.group == "none":
            return one[None]
        alike = [j for j in range(len(two)) if self.kinds[j] == self.kinds[0]]
        if self.group == "translations":
            out = np.repeat(one[None], len(alike), axis=0)
            positions_of(out)[:] += (positions_of(two)[alike] - positions_of(one)[0])[:, None]
            return out
        places = np.concatenate(
            [np.repeat(two[j : j + 1], len(self.turns[j]), axis=0) for j in alike]
        )
        there = product(attitudes_of(places), np.concatenate([self.turns[j] for j in alike]))
        q = product(there, attitudes_of(one)[:1] * (1.0, -1.0, -1.0, -1.0))[:, None]
        out = np.empty((len(q), *one.shape))
        arms = np.broadcast_to(positions_of(one) - positions_of(one)[0], (len(q), len(one), 3))
        positions_of(out)[:] = positions_of(places)[:, None] + rotate(q, arms)
        attitudes_of(out)[:] = product(q, np.broadcast_to(attitudes_of(one), (len(q), len(one), 4)))
        return out

    @cached_property
    def _every_turn(self) -> Floats:
        """The symmetry rotations of all bodies (n, most, 4), padded with the identity."""
        out = np.zeros((len(self.turns), max(map(len, self.turns), default=1), 4))
        out[..., 0] = 1.0
        for j, turns in enumerate(self.turns):
            out[j, : len(turns)] = turns
        return out

    def _differences(self, ones: Floats, two: Floats) -> Floats:
        """Displacement or rotation between each body of some poses (k, n, 7) and each of another,
        modulo its own symmetry (k, n, n); infinite where they are not interchangeable."""
        turns = product(
            np.broadcast_to(attitudes_of(two)[:, None], self._every_turn.shape), self._every_turn
        )
        mine = attitudes_of(ones)[:, :, None, None]
        chords = np.sqrt(
            np.minimum(((turns - mine) ** 2).sum(axis=-1), ((turns + mine) ** 2).sum(axis=-1)).min(
                axis=-1
            )
        )
        moved = np.linalg.norm(positions_of(ones)[:, :, None] - positions_of(two), axis=-1)
        kinds = np.array(self.kinds)
        far = np.maximum(moved, 4.0 * np.arcsin(np.minimum(1.0, 0.5 * chords)))
        return np.where(kinds[:, None] == kinds, far, np.inf)

    def fingerprint(self, pose: Floats) -> Floats:
        """Invariants of a shape under rigid motions of the whole and exchanges of modules: two
        shapes whose numbers differ by more than the tolerance (times the number of bodies) are
        different."""
        if not len(pose):
            return np.zeros(1)
        r = positions_of(pose)
        arms = r - r.mean(axis=0)
        seen = self._middle_from_bodies(arms, attitudes_of(pose))
        out: list[float] = []
        for mine in self._alike:
            out += (
                r[mine].sum(axis=0).tolist()
                if self.group == "none"
                else [float(np.linalg.norm(arms[mine], axis=1).sum())]
            )
            out += seen[mine].sum(axis=0).tolist()
        return np.array(out)

    @cached_property
    def _alike(self) -> list[Bools]:
        """Which bodies are of each kind."""
        kinds = np.array(self.kinds)
        return [kinds == kind for kind in np.unique(kinds)]

    @cached_property
    def _counts(self) -> tuple[Ints, Floats]:
        """The number of symmetry rotations of each body (n,), and which of `_every_turn` are among
        them (n, most, 1)."""
        counts = np.array([len(mine) for mine in self.turns])
        known = np.arange(self._every_turn.shape[1]) < counts[:, None]
        return counts, known[..., None].astype(float)

    def _middle_from_bodies(self, arms: Floats, q: Floats) -> Floats:
        """The positive part of the projection of the centre of all bodies onto some directions of
        each body, averaged over its symmetry rotations; scaled such that it changes by no more than
        poses do (n, directions)."""
        there = rotate(q * BACK, -arms)
        counts, known = self._counts
        along = np.maximum(rotate(self._every_turn, there[:, None]) @ PROBES.T, 0.0) * known
        return np.asarray(
            along.sum(axis=1) / counts[:, None] / (2.0 + np.linalg.norm(arms, axis=1).max())
        )


def _assign(apart: Floats) -> tuple[float, tuple[int, ...]]:
    """Each body is assigned to the nearest that is left; in equal shapes only one is near
    enough."""
    apart, worst, to = apart.copy(), 0.0, []
    for row in apart:
        j = int(row.argmin())
        worst = max(worst, float(row[j]))
        to.append(j)
        apart[:, j] = np.inf
    return worst, tuple(to)


def poses_of(r: Floats, q: Floats) -> Floats:
    """Poses (n, 7) of arrays of positions and quaternions."""
    return np.concatenate([r, q], axis=1)


def allowed_group(systems: Sequence[Multibody]) -> Group:
    """The largest group of rigid motions under which the equations of some systems are all
    invariant.

    Bodies or joints attached to the ground, and forces that depend on positions or directions in N,
    reduce it; rotations of the whole are tested at a pose and velocities in general position."""
    groups = [_group_of(system) for system in systems]
    order = get_args(Group)[1:]
    return min(groups, key=order.index)


def _group_of(system: Multibody) -> Group:
    if (
        any(body.name != GROUND.name for body in system.tables.fixed)
        or (system.clusters.layout.islands < 0).any()
    ):
        return "none"
    with system.clusters.lend() as engine:
        return _group_in(engine, system.initial)


def _group_in(engine: Engine, state: State) -> Group:
    engine.turn_to(state.near)
    points, bodies = points_of(engine.selection.tables), slice(len(state.bodies))
    given = points.rows(state.instant(engine.selection).state, state.further)
    rows = displace(engine, state.t, given)[0][1]
    rng = np.random.default_rng(1)
    speeds_of(rows)[bodies] = SPEEDS_TRIED * rng.normal(size=speeds_of(rows[bodies]).shape)
    shifted, other = rows.copy(), rows.copy()
    positions_of(shifted)[bodies] += SHIFT
    q = rotation(TURN)
    positions_of(other)[bodies] = rotate(q, positions_of(rows[bodies]))
    attitudes_of(other)[bodies] = product(q, attitudes_of(rows[bodies]))
    velocities_of(other)[bodies] = rotate(q, velocities_of(rows[bodies]))
    tried = np.stack([rows, shifted, other])
    here, moved, turned_here = engine.accelerations_of(state.t, tried)
    expected = here.copy()
    linear_of(expected)[bodies] = rotate(q, linear_of(here[bodies]))
    scale = INVARIANT * max(float(abs(here).max(initial=0.0)), FAINT)
    if abs(moved - here).max(initial=0.0) > scale:
        return "none"
    return "rigid" if abs(turned_here - expected).max(initial=0.0) <= scale else "translations"
