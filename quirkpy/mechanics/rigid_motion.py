"""`Whole`: the rigid motion of a system as a whole, relative to which its bodies may be at rest.

A connected system that is not attached to the ground may drift for ever, and one without external
moments may rotate for ever; its bodies may still be at rest relative to each other. A joint with
prescribed motion carries the bodies attached to it around. All other motion is relative to N."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from quirkpy.kernels.base.states import (
    angular_of,
    as_many,
    attitudes_of,
    bodies_of,
    linear_of,
    positions_of,
    speeds_of,
    vectors_from,
    velocities_of,
    with_ledger,
    zero_vectors,
)
from quirkpy.kernels.place.carried import carry_along, feel, kinetic_beside
from quirkpy.kernels.step.projection import project
from quirkpy.kernels.step.responses import accelerate_each
from quirkpy.kernels.users.packing import pack
from quirkpy.kernels.users.users import joints_in_python
from quirkpy.maths.cached import cached_property
from quirkpy.maths.constants import DEPENDENT
from quirkpy.maths.pieces import firsts_of_pieces
from quirkpy.maths.rotations import cross, product, rotate
from quirkpy.maths.types import Bools, Floats, Ints
from quirkpy.mechanics import equation
from quirkpy.mechanics.engine import Engine
from quirkpy.mechanics.instant import Instant
from quirkpy.mechanics.momenta import (
    angular_momentum,
    axes_of,
    moments,
    spinning,
    stored_momentum,
)
from quirkpy.parts.force import kinds_where
from quirkpy.tables.tables import HILL, Selection

#: An island counts as free of external loads if a shift of one metre or a turn changes its
#: accelerations by less than this share of them.
INVARIANCE = 1e-7
#: A rigid motion satisfies joints with prescribed motion if it violates none of their rates by more
#: than this share.
RIGID = 1e-9
#: (x - sin x) / x^3 is taken as 1/6 for angles x below this [rad].
SMALL_SCREW = 1e-3
#: Accelerations below this are rounding [m/s2] or [rad/s2].
ACCELERATION_ROUNDING = 1e-14
#: A floating system that rotates no faster than this [rad/s], a turn in some seventy days, counts
#: as not rotating: joints that close leave as much.
TURNS_NOT = 1e-6
#: A drift slower than this [m/s] is not extrapolated; distances of the extrapolated places [m].
DRIFTS_NOT, AHEAD = 1e-9, np.geomspace(1e-2, 1e5, 321)
#: Displacements of bodies from equilibrium at which invariance is tested [m], [rad].
DISTORTION = 1e-3
#: Kinds of elements that may act on any body; that may depend on anything; and in which N is a
#: rotating frame.
ON_ANY = kinds_where(lambda kind: kind.acts_on == "unknown")
ANYWHERE = kinds_where(lambda kind: kind.felt == "unknown")
TURNING = kinds_where(lambda kind: kind.felt == "turning")
ORBITAL = (HILL,)
#: Factors that conjugate a quaternion.
BACK = np.array([1.0, -1.0, -1.0, -1.0])
#: Test shifts [m] and turns [rad], in general position.
SHIFT, TURN = np.array([0.71, -0.43, 0.57]), np.array([0.31, 0.53, -0.41])


@dataclass(frozen=True, eq=False)
class Whole:
    """The rigid motion of the island of each body, per body (n, 3): its centre of rotation, the
    velocity and acceleration of that point, and the angular velocity, all in N.

    drifts, turns: whether the island is invariant under translations, and under rotations (n,)."""

    centre: Floats
    velocity: Floats
    acceleration: Floats
    turning: Floats
    islands: Ints
    drifts: Bools
    turns: Bools

    @classmethod
    def at_rest(cls, islands: Ints) -> Whole:
        """No rigid motion: all velocities are relative to N."""
        zero, no = np.zeros((len(islands), 3)), np.zeros(len(islands), dtype=bool)
        return cls(zero, zero, zero, zero, islands, no, no)

    def with_drifts(self) -> Whole:
        """This motion, with every translation and rotation of the whole among the displacements
        considered."""
        no = np.zeros(len(self.islands), dtype=bool)
        return dataclasses.replace(self, drifts=no, turns=no)

    @cached_property
    def rests(self) -> bool:
        """Whether there is no rigid motion at all."""
        return not (self.velocity.any() or self.acceleration.any() or self.turning.any())

    def field(self, rows: Floats) -> Floats:
        """Velocities in N and angular velocities in body axes of bodies in this rigid motion (...,
        n, 6)."""
        if self.rests:
            return zero_vectors(*rows.shape[:-1])
        out = zero_vectors(*rows.shape[:-1])
        carry_along(as_many(rows), self.centre, self.velocity, self.turning, as_many(out))
        return out

    def centripetal(self, rows: Floats) -> Floats:
        """Accelerations of bodies in this rigid motion (n, 3)."""
        if self.rests:
            return np.zeros((len(rows), 3))
        return cross(self.turning, cross(self.turning, positions_of(rows) - self.centre))

    def relative_velocities(self, rows: Floats) -> Floats:
        """Velocities relative to the rigid motion (..., n, 6)."""
        return np.asarray(speeds_of(rows) - self.field(rows))

    def relative_accelerations(self, rows: Floats, accelerations: Floats) -> Floats:
        """Rates of the velocities relative to the rigid motion, in axes that rotate with it (...,
        n, 6); the first rows of the states are those of the bodies (..., n + m, STATE_WIDTH)."""
        if self.rests:
            return accelerations
        out = accelerations.copy()
        moved = self.centre, self.velocity, self.acceleration, self.turning
        feel(as_many(rows), *moved, as_many(out))
        return out

    def directions(self, rows: Floats) -> Floats:
        """Rigid displacements that change nothing (k, n, 6): translations, and rotations where
        nothing rotates yet."""
        out = [zero_vectors(0, len(rows))]
        for k in pieces(self.islands) if self.drifts.any() or self.turns.any() else ():
            mine = self.islands == k
            if self.drifts[mine].all():
                out.append(zero_vectors(3, len(rows)))
                linear_of(out[-1])[:, mine] = np.eye(3)[:, None]
            if self.turns[mine].all() and not self.turning[mine].any():
                out.append(zero_vectors(3, len(rows)))
                out[-1][:, mine] = turns(rows[mine], self.centre[mine])
        return np.concatenate(out)

    @cached_property
    def groups(self) -> tuple[Ints, Bools]:
        """For each body the number of the group relative to whose rigid motion its energy is
        measured, -1 where it is measured in N (n,); for each group whether that motion includes
        rotation: groups that drift freely, and groups carried round a fixed point."""
        number, turned = np.full(len(self.islands), -1), list[bool]()
        for k in pieces(self.islands) if self.drifts.any() or self.turning.any() else ():
            mine = self.islands == k
            drifts = bool(self.drifts[mine].all())
            round_a_point = bool(self.turning[mine].any()) and not drifts
            if drifts or round_a_point:
                number[mine] = len(turned)
                turned.append(round_a_point or bool(self.turns[mine].all()))
        return number, np.array(turned, dtype=bool)

    def displacement_of_spin(self, rows: Floats, island: int) -> Floats | None:
        """The displacement of all bodies by further rotation of an island without external moments
        (n, 6); None: it does not rotate."""
        mine = (self.islands == island)[:, None]
        if not (self.turns[mine[:, 0]].all() and self.turning[mine[:, 0]].any()):
            return None
        arm = positions_of(rows) - self.centre
        return np.where(
            mine,
            vectors_from(cross(self.turning, arm), into_body(rows, self.turning)),
            0.0,
        )

    def keeping(self, selection: Selection, t: float, before: Floats, after: Floats) -> Whole:
        """The rigid motion that keeps, in another pose (n, STATE_WIDTH), the angular momentum of a
        state at time t."""
        if not self.turning.any():
            return self
        turning, tables = self.turning.copy(), selection.tables
        for k in pieces(self.islands):
            mine = self.islands == k
            if self.turns[mine].all() and self.turning[mine].any():
                m, inertia, h = (
                    tables.body_mass[mine],
                    tables.body_inertia[mine],
                    stored_momentum(selection, t)[mine],
                )
                momentum = angular_momentum(before[None, mine], m, inertia, h)[0]
                momentum -= np.einsum("nip,np->i", axes_of(after[mine]), h)
                turning[mine] = np.linalg.solve(moments(m, inertia, after[None, mine])[0], momentum)
        return dataclasses.replace(self, turning=turning)

    def carry(self, rows: Floats, seconds: float) -> Floats:
        """The state after a time of rigid motion, without relative motion."""
        angle = self.turning * seconds
        q = rotation(angle)
        centre = self.centre + self.velocity * seconds + 0.5 * self.acceleration * seconds**2
        out = rows.copy()
        positions_of(out)[:] = centre + rotate(q, positions_of(rows) - self.centre)
        attitudes_of(out)[:] = product(q, attitudes_of(rows))
        velocities_of(out)[:] = rotate(q, velocities_of(rows))
        return out


def pieces(islands: Ints) -> list[int]:
    """The numbers of the islands, in increasing order."""
    return sorted(set(islands.tolist()))


def into_body(rows: Floats, a: Floats) -> Floats:
    """Vectors in N, one for each body (..., n, 3), in body axes (..., n, 3)."""
    back = attitudes_of(rows) * BACK
    return rotate(back, a)


def displacement_between(one: Floats, two: Floats) -> Floats:
    """The differences between neighbouring states: displacements in N and rotation vectors in body
    axes (..., n, 6)."""
    turn = product(attitudes_of(one) * BACK, attitudes_of(two))
    turning = 2.0 * turn[..., 1:] * np.where(turn[..., :1] < 0.0, -1.0, 1.0)
    return vectors_from(positions_of(two) - positions_of(one), turning)


def turns(rows: Floats, centre: Floats) -> Floats:
    """Velocities in N, and angular velocities in body axes, of all bodies in rotations about each
    axis of N (3, n, 6)."""
    about = cross(np.eye(3)[:, None], positions_of(rows) - centre)
    return vectors_from(about, axes_of(rows).transpose(1, 0, 2))


def rotation(angle: Floats) -> Floats:
    """Quaternions w x y z of rotation vectors (..., 3)."""
    half = 0.5 * np.sqrt((angle * angle).sum(axis=-1, keepdims=True))
    turns = half > 0.0
    return np.concatenate(
        [
            np.cos(half),
            0.5 * np.where(turns, np.sin(half) / np.where(turns, half, 1.0), 1.0) * angle,
        ],
        axis=-1,
    )


#: The test turn applied to the axes of N, and to the four unit quaternions along the coordinate
#: axes, row by row.
TURNED_AXES = rotate(rotation(TURN), np.eye(3))
TURNED_UNITS = product(np.tile(rotation(TURN), (4, 1)), np.eye(4))


def on_screws(rows: Floats, start: Floats, lengths: Floats) -> Floats:
    """States (k, n, STATE_WIDTH) with every body displaced along the screw of a displacement (n,
    6): lengths of the path (k,), in units of that displacement."""
    s = lengths[:, None, None]
    v, w = linear_of(start), rotate(attitudes_of(rows), angular_of(start))
    angle = s * np.linalg.norm(w, axis=1)[:, None]
    once = s**2 * 0.5 * np.sinc(0.5 * angle / np.pi) ** 2
    large = abs(angle) > SMALL_SCREW
    twice = (
        np.where(large, (angle - np.sin(angle)) / np.where(large, angle, 1.0) ** 3, 1.0 / 6.0)
        * s**3
    )
    out = np.repeat(rows[None], len(lengths), axis=0)
    positions_of(out)[:] += s * v + once * cross(w, v) + twice * cross(w, cross(w, v))
    attitudes_of(out)[:] = product(rotation(s * w), attitudes_of(rows))
    return out


# --- finding it -----------------------------------------------------------------------------------
def whole_motion(engine: Engine, at: Instant, rows: Floats) -> Whole:
    """The rigid motion of a system at rows (n, STATE_WIDTH); stops and angles of the engine are set
    already."""
    groups = groups_of(engine)
    out = Whole.at_rest(groups)
    driven = moves_by_itself(engine.selection) and at.rows.rate.any()
    if groups.max(initial=-1) < 0 and not driven:  # all on the ground, nothing prescribed
        return out
    bent = distort(engine, at.t, rows)
    base, felt = accelerations(engine, at.t, np.array([rows, bent]))
    for k in pieces(groups):
        mine = groups == k
        if k < 0:
            if driven:
                out = _motion_of_drives(out, at, rows, mine) or _fit(
                    out, engine.selection, rows, mine, base, drifts=False, turns=False
                )
        elif _nothing_pulls(engine, at.t, bent, felt, mine) and not _meets_a_pull(
            engine, at.t, rows, mine, base
        ):
            turns = _nothing_turns(engine, at.t, bent, felt, mine)
            out = _fit(out, engine.selection, rows, mine, base, drifts=True, turns=turns)
    return out


def moves_by_itself(selection: Selection) -> bool:
    """Whether some joint may have prescribed motion, so that its rows have explicit rates."""
    return selection.once(_moves_by_itself)


def _moves_by_itself(selection: Selection) -> bool:
    general, driven = selection.once(joints_in_python)
    return bool(general or driven or (selection.tables.row_schedule[selection.rows] >= 0).any())


def accelerations(engine: Engine, t: float, states: Floats) -> Floats:
    """Accelerations of some states (k, n, STATE_WIDTH), without projection (k, n, 6)."""
    out = zero_vectors(*states.shape[:2])
    given = engine.model, engine.conditions, engine.scratch
    accelerate_each(t, as_many(states), *given, out)
    engine.python.raise_pending()
    return out


def distort(engine: Engine, t: float, rows: Floats) -> Floats:
    """A neighbouring state on the joints, displaced from the poses at which forces between bodies
    cancel."""
    state = with_ledger(rows)
    moved, (shifts, turned) = bodies_of(state), distortions(len(rows))
    positions_of(moved)[:] += shifts
    attitudes_of(moved)[:] = product(attitudes_of(rows), turned)
    engine.set_time(t)
    project(state, engine.model, engine.conditions, engine.scratch, np.zeros(2))
    engine.python.raise_pending()
    return moved


@functools.cache
def distortions(n: int) -> tuple[Floats, Floats]:
    """Displacements of a number of bodies [m] (n, 3), and rotations (n, 4)."""
    rng = np.random.default_rng(0)
    shifts = DISTORTION * rng.normal(size=(n, 3))
    return shifts, rotation(DISTORTION * rng.normal(size=(n, 3)))


def groups_of(engine: Engine) -> Ints:
    """The connected group of each body, by joints or forces between bodies, as a number; -1:
    attached to the ground by joints."""
    known = engine.selection.made_of_rows
    if _groups not in known:
        known[_groups] = _groups(engine.selection, engine.model.islands)
    found: Ints = known[_groups]
    return found


def _groups(selection: Selection, islands: Ints) -> Ints:
    t = selection.tables
    if islands.max(initial=-1) < 0:
        return islands
    acting = selection.elements
    if has_kind(selection, ON_ANY):  # a user's own force may connect any two bodies
        return np.where(islands < 0, -1, 0)
    sites = np.stack([t.element_site1[acting], t.element_site2[acting], t.element_site3[acting]])
    bodies = np.append(t.site_body, -1)[sites]
    labels = np.append(islands, -1)[bodies]
    one, two = (np.concatenate([labels[i], labels[j]]) for i, j in ((0, 1), (1, 2)))
    joined = (one >= 0) & (two >= 0)
    pairs = zip(one[joined].tolist(), two[joined].tolist(), strict=True)
    together = np.array(firsts_of_pieces(len(islands) + 1, pairs))
    return np.where(islands < 0, -1, together[islands])


def has_kind(selection: Selection, kinds: Iterable[int]) -> bool:
    """Whether an element of some kinds is active."""
    return not selection.once(kinds_of).isdisjoint(kinds)


def kinds_of(selection: Selection) -> frozenset[int]:
    """The kinds of the active elements."""
    return frozenset(selection.tables.element_kind[selection.elements].tolist())


def _nothing_pulls(engine: Engine, t: float, rows: Floats, felt: Floats, mine: Bools) -> bool:
    """Whether the mass centre of a group moves independently of external loads, as under uniform
    and orbital fields: a translation of the group changes no acceleration, apart from the terms of
    the rotating frame of an orbit. felt: accelerations at rows."""
    shifted, here = rows.copy(), felt.copy()
    positions_of(shifted)[mine] += SHIFT
    there = accelerations(engine, t, shifted[None])[0]
    tables, acting = engine.selection.tables, engine.selection.elements
    orbits = has_kind(engine.selection, ORBITAL)
    for e in acting[tables.element_kind[acting] == HILL] if orbits else ():
        linear_of(here)[mine] += tables.element_numbers[e, 0] ** 2 * SHIFT * (3.0, 0.0, -1.0)
    return _is_equal_within_rounding(here, there)


def _meets_a_pull(engine: Engine, t: float, rows: Floats, mine: Bools, base: Floats) -> bool:
    """Whether a group that drifts freely, or begins to fall with accelerations `base`, will meet an
    external force within `AHEAD`: forces of users, and forces between it and other groups, are
    evaluated along the path. (Uniform and orbital fields have no second end.)"""
    tables, acting = engine.selection.tables, engine.selection.elements
    mass = tables.body_mass[mine]
    velocity = mass @ velocities_of(rows)[mine] / mass.sum()
    way = velocity if np.linalg.norm(velocity) > DRIFTS_NOT else mass @ linear_of(base)[mine]
    length = float(np.linalg.norm(way))
    if length <= DRIFTS_NOT or has_kind(engine.selection, TURNING):
        return False
    ends = np.stack(
        [tables.element_site1[acting], tables.element_site2[acting], tables.element_site3[acting]]
    )
    inside = np.append(np.append(mine, False)[tables.site_body], False)[ends]
    ties = inside.any(axis=0) & ((ends >= 0) & ~inside).any(axis=0)
    if not (ties.any() or has_kind(engine.selection, ANYWHERE)):
        return False
    ahead = np.repeat(rows[None], len(AHEAD) + 1, axis=0)
    positions_of(ahead)[1:, mine] += AHEAD[:, None, None] * (way / length)
    felt = accelerations(engine, t, ahead)
    return not _is_equal_within_rounding(felt[:1], felt[1:])


def _nothing_turns(engine: Engine, t: float, rows: Floats, felt: Floats, mine: Bools) -> bool:
    """Whether a rotation of a group about its mass centre rotates its accelerations, apart from
    that of the mass centre. felt: accelerations at rows."""
    if has_kind(engine.selection, TURNING):
        return False
    tables, centre = engine.selection.tables, _mass_centre(engine.selection, rows, mine)
    other, here = rows.copy(), felt.copy()
    positions_of(other)[mine] = centre + (positions_of(rows)[mine] - centre) @ TURNED_AXES
    attitudes_of(other)[mine] = attitudes_of(rows)[mine] @ TURNED_UNITS
    velocities_of(other)[mine] = velocities_of(rows)[mine] @ TURNED_AXES
    there = accelerations(engine, t, other[None])[0]
    mass = tables.body_mass[mine]
    fall = np.asarray(mass @ linear_of(here)[mine] / mass.sum())
    linear_of(here)[mine] = fall + (linear_of(here)[mine] - fall) @ TURNED_AXES
    return _is_equal_within_rounding(here, there)


def _is_equal_within_rounding(one: Floats, two: Floats) -> bool:
    """Whether accelerations are equal within rounding."""
    scale = max(float(abs(one).max(initial=0.0)), float(abs(two).max(initial=0.0)))
    return bool(abs(one - two).max(initial=0.0) <= INVARIANCE * scale + ACCELERATION_ROUNDING)


def _mass_centre(selection: Selection, rows: Floats, mine: Bools) -> Floats:
    mass = selection.tables.body_mass[mine]
    return np.asarray(mass @ positions_of(rows)[mine] / mass.sum())


def _motion_of_drives(whole: Whole, at: Instant, rows: Floats, mine: Bools) -> Whole | None:
    """The steady rigid motion about a fixed point that joints with prescribed motion require; None
    where no rigid motion satisfies them all."""
    n, centre = len(rows), _mass_centre(at.selection, rows, mine)
    shifts = [np.tile(vectors_from(axis, np.zeros(3)), (n, 1)) for axis in np.eye(3)]
    rigid = np.where(mine[:, None], np.array([*shifts, *turns(rows, centre)]), 0.0).reshape(
        6, 6 * n
    )
    J, rate = equation.constraint_matrix(at), at.rows.rate
    found = np.linalg.lstsq(J @ rigid.T, -rate, rcond=DEPENDENT)[0]
    if abs(J @ rigid.T @ found + rate).max() > RIGID * abs(rate).max():
        return None
    velocity, turning = np.split(np.asarray(found, dtype=np.float64), 2)
    return _with(whole, mine, centre, velocity, np.cross(turning, velocity), turning)


def _fit(
    whole: Whole,
    selection: Selection,
    rows: Floats,
    mine: Bools,
    base: Floats,
    *,
    drifts: bool,
    turns: bool,
) -> Whole:
    """The rigid motion nearest to that of some bodies, in the metric of kinetic energy."""
    centre = _mass_centre(selection, rows, mine)
    mass = selection.tables.body_mass[mine]
    velocity = np.asarray(mass @ velocities_of(rows)[mine] / mass.sum())
    fall = np.asarray(mass @ linear_of(base)[mine] / mass.sum())
    turning: Floats = np.zeros(3)
    if (turns or not drifts) and speeds_of(rows[mine]).any():
        turning = np.asarray(
            spinning(mass, selection.tables.body_inertia[mine], rows[None, mine])[1][0]
        )
        if drifts and np.linalg.norm(turning) <= TURNS_NOT:
            turning = np.zeros(3)
    if not drifts:  # rotation about a fixed point
        fall = np.asarray(np.cross(turning, velocity))
    return _with(whole, mine, centre, velocity, fall, turning, drifts, turns)


def _with(
    whole: Whole, mine: Bools, centre: Floats, velocity: Floats, fall: Floats, turning: Floats,
    drifts: bool = False, turns: bool = False,
) -> Whole:  # fmt: skip
    """The motion of the whole with another rigid motion for some bodies."""
    one = mine[:, None]
    return Whole(
        np.where(one, centre, whole.centre),
        np.where(one, velocity, whole.velocity),
        np.where(one, fall, whole.acceleration),
        np.where(one, turning, whole.turning),
        whole.islands,
        whole.drifts | (mine & drifts),
        whole.turns | (mine & turns),
    )


# --- energy and momentum beside the motion of the whole ------------------------------------------
def relative_kinetic_energy(whole: Whole, selection: Selection, states: Floats) -> Floats:
    """Kinetic energy of states (k, n, STATE_WIDTH) relative to the rigid motion of the whole (k,)
    [J]: for each group that drifts freely without its translation, for one that rotates freely
    without its rotation.

    The rigid motion is subtracted from the velocities, not from the energy, where it may be
    dominant.
    """
    out = np.empty(len(states))
    kinetic_beside(as_many(states), pack(selection.tables).bodies, *whole.groups, out)
    return out


def nutation_energy(whole: Whole, selection: Selection, states: Floats) -> Floats:
    """Energy of nutation [J] (k,) in states (k, n, STATE_WIDTH): over all groups that rotate freely
    the sum of L.w / 2 - L^2 / (2 I), with L the angular momentum about the mass centre, w the
    angular velocity of a rigid body that has it, and I the largest principal moment.

    A rigid rotation about the axis of I has none; damping within a group dissipates all of it and
    leaves that rotation."""
    tables, out = selection.tables, np.zeros(len(states))
    for g in pieces(whole.islands[whole.turns]) if whole.turning[whole.turns].any() else ():
        mine = whole.islands == g
        momentum, turning, sums = spinning(
            tables.body_mass[mine], tables.body_inertia[mine], states[:, mine]
        )
        largest = np.linalg.eigvalsh(sums)[:, -1]
        out += 0.5 * (
            np.einsum("ki,ki->k", momentum, turning) - (momentum**2).sum(axis=1) / largest
        )
    return out
