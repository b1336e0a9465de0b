"""The rigid motion of a system as a whole, found by trial: where a group of bodies is free, it may
be shifted and turned, and nothing else changes."""

from __future__ import annotations

import functools
from collections.abc import Iterable

import numpy as np

from quirkpy.kernels.base.states import (
    angular_of,
    attitudes_of,
    linear_of,
    positions_of,
    speeds_of,
    vectors_from,
    velocities_of,
    zero_rows,
    zero_vectors,
)
from quirkpy.kernels.place.carried import displace_bodies
from quirkpy.kernels.step.invariance import (
    DRIFTS,
    HELD,
    TURNS,
    feel_displaced,
    freedom_of,
    mean_motion,
)
from quirkpy.kernels.users.modal import points_of
from quirkpy.kernels.users.users import joints_in_python
from quirkpy.maths.constants import DEPENDENT
from quirkpy.maths.pieces import firsts_of_pieces
from quirkpy.maths.rotations import product, rotate
from quirkpy.maths.types import Bools, Floats, Ints
from quirkpy.mechanics import equation
from quirkpy.mechanics.bent_motion import fall_of, group_motion, mass_motion
from quirkpy.mechanics.engine import Engine
from quirkpy.mechanics.instant import Instant
from quirkpy.mechanics.rigid_motion import Whole, pieces, rotation, turns
from quirkpy.parts.force import kinds_where
from quirkpy.tables.tables import HILL, Selection

#: An island counts as free of external loads if a shift of one metre or a turn changes its
#: accelerations by less than this share of them.
INVARIANCE = 1e-7
#: Accelerations below this are rounding [m/s2] or [rad/s2].
ACCELERATION_ROUNDING = 1e-14
#: A rigid motion satisfies joints with prescribed motion if it violates none of their rates by more
#: than this share.
RIGID = 1e-9
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
#: In place of a group, of the points of modes: what moves the whole does not carry them.
OF_MODES = -2
#: Test shifts [m] and turns [rad], in general position; both together.
SHIFT, TURN = np.array([0.71, -0.43, 0.57]), np.array([0.31, 0.53, -0.41])
TRIAL = np.concatenate([SHIFT, rotation(TURN)])[None]


def whole_motion(engine: Engine, at: Instant, rows: Floats) -> Whole:
    """The rigid motion of a system at rows (n, STATE_WIDTH); stops and angles of the engine are set
    already."""
    groups = np.append(groups_of(engine), np.full(len(rows) - engine.states.bodies, OF_MODES))
    driven = moves_by_itself(engine.selection) and bool(at.rows.rate.any())
    if groups.max(initial=-1) < 0 and not driven:  # all on the ground, nothing prescribed
        return Whole.at_rest(groups)
    states, felt = displace(engine, at.t, rows, 4)
    freedom, motion = np.zeros(len(rows), dtype=np.int64), np.zeros((4, len(rows), 3))
    for g in pieces(groups):
        if g >= 0:
            free = _freedom(engine, at.t, groups, g, states, felt)
            if free != HELD and not _meets_a_pull(engine, at.t, rows, groups, g, felt[0]):
                freedom[groups == g] = free
                _fit(engine, rows, felt[0], groups, g, free, motion)
        elif g != OF_MODES and driven and not _follow_drives(at, rows, groups == g, motion):
            _fit(engine, rows, felt[0], groups, g, HELD, motion)
    centre, velocity, acceleration, turning = motion
    drifts, turns = freedom != HELD, freedom == TURNS
    return Whole(centre, velocity, acceleration, turning, groups, drifts, turns)


def moves_by_itself(selection: Selection) -> bool:
    """Whether some joint may have prescribed motion, so that its rows have explicit rates."""
    return selection.once(_moves_by_itself)


def _moves_by_itself(selection: Selection) -> bool:
    general, driven = selection.once(joints_in_python)
    return bool(general or driven or (selection.tables.row_schedule[selection.rows] >= 0).any())


def displace(engine: Engine, t: float, rows: Floats, count: int = 2) -> tuple[Floats, Floats]:
    """A state, a neighbouring one on the joints, displaced from the poses at which forces between
    bodies cancel, and room for more, a number in all (count, n, STATE_WIDTH); their accelerations
    (count, n, 6)."""
    n = len(rows)
    if engine.states.tail:
        return _displace_bent(engine, t, rows)
    states, felt = zero_rows(count, n), zero_vectors(count, n)
    given = engine.model, engine.conditions, engine.scratch
    feel_displaced(t, rows, distortions(n), *given, np.zeros(2), states, felt)
    engine.python.raise_pending()
    return states, felt


def _displace_bent(engine: Engine, t: float, rows: Floats) -> tuple[Floats, Floats]:
    """`displace` by rows with the points of modes, without room for more."""
    moved = distortions(len(rows))[None].copy()
    angular_of(moved)[:, engine.states.bodies :] = 0.0
    there = np.repeat(rows[None], 1, axis=0)
    still = np.zeros((3, len(rows), 3))
    displace_bodies(rows, moved, *still, there)
    speeds_of(there)[:] = speeds_of(rows)
    states = np.concatenate([rows[None], engine.respond(t, there)[0]])
    return states, engine.accelerations_of(t, states)


@functools.cache
def distortions(n: int) -> Floats:
    """Displacements of a number of bodies [m], and their rotation vectors [rad] (n, 6); shared, so
    they must not be written to."""
    rng = np.random.default_rng(0)
    return vectors_from(DISTORTION * rng.normal(size=(n, 3)), DISTORTION * rng.normal(size=(n, 3)))


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


def _freedom(engine: Engine, t: float, groups: Ints, g: int, states: Floats, felt: Floats) -> int:
    """What a group does freely: the mass centre moves independently of external loads, as under
    uniform and orbital fields; and turning it turns its accelerations, apart from that of the mass
    centre. States and accelerations as from `displace`."""
    tables, acting = engine.selection.tables, engine.selection.elements
    orbit, turnable = 0.0, not has_kind(engine.selection, TURNING)
    if has_kind(engine.selection, ORBITAL):
        orbits = acting[tables.element_kind[acting] == HILL]
        orbit = float((tables.element_numbers[orbits, 0] ** 2).sum())
    if engine.states.tail:
        return _freedom_bent(engine, t, groups == g, states[1], felt[1], orbit, turnable)
    given = engine.model, engine.conditions, engine.scratch, states, felt
    free: int = freedom_of(
        t, groups, g, TRIAL, orbit, turnable, INVARIANCE, ACCELERATION_ROUNDING, *given
    )
    engine.python.raise_pending()
    return free


def _freedom_bent(
    engine: Engine, t: float, mine: Bools, rows: Floats, felt: Floats, orbit: float,
    turnable: bool,
) -> int:  # fmt: skip
    """`_freedom` where bodies bend, of the bodies that are mine, from rows with points and their
    accelerations."""
    selection, q = engine.selection, np.broadcast_to(rotation(TURN), (len(rows), 4))
    bodies = mine.copy()
    shifted, wanted = rows.copy(), felt.copy()
    positions_of(shifted)[bodies] += SHIFT
    linear_of(wanted)[bodies] += orbit * np.array([3.0, 0.0, -1.0]) * SHIFT
    turned, then = rows.copy(), felt.copy()
    centre = positions_of(rows)[bodies].mean(axis=0)
    positions_of(turned)[bodies] = centre + rotate(q, positions_of(rows) - centre)[bodies]
    velocities_of(turned)[bodies] = rotate(q, velocities_of(rows))[bodies]
    attitudes_of(turned)[bodies] = product(q, attitudes_of(rows))[bodies]
    fall = fall_of(selection, rows, felt, bodies[: engine.states.bodies])
    linear_of(then)[bodies] = fall + rotate(q, linear_of(felt) - fall)[bodies]
    found = engine.accelerations_of(t, np.array([shifted, turned]))
    if not _is_equal_within_rounding(wanted, found[0]):
        return HELD
    return TURNS if turnable and _is_equal_within_rounding(then, found[1]) else DRIFTS


def _meets_a_pull(
    engine: Engine, t: float, rows: Floats, groups: Ints, g: int, base: Floats
) -> bool:
    """Whether a group that drifts freely, or begins to fall with accelerations `base`, will meet an
    external force within `AHEAD`: forces of users, and forces between it and other groups, are
    evaluated along the path. (Uniform and orbital fields have no second end.)"""
    if g not in _tied_groups(engine.selection, groups) or has_kind(engine.selection, TURNING):
        return False
    mine = groups == g
    mass = engine.selection.tables.body_mass[np.flatnonzero(mine)]
    velocity = mass @ velocities_of(rows)[mine] / mass.sum()
    way = velocity if np.linalg.norm(velocity) > DRIFTS_NOT else mass @ linear_of(base)[mine]
    length = float(np.linalg.norm(way))
    if length <= DRIFTS_NOT:
        return False
    ahead = np.repeat(rows[None], len(AHEAD) + 1, axis=0)
    positions_of(ahead)[1:, mine] += AHEAD[:, None, None] * (way / length)
    felt = engine.accelerations_of(t, ahead)
    return not _is_equal_within_rounding(felt[:1], felt[1:])


def _tied_groups(selection: Selection, groups: Ints) -> frozenset[int]:
    """The groups on which something outside may act: ends of one element lie in and beyond them, or
    forces may depend on anything."""
    known = selection.made_of_rows
    if _find_ties not in known:
        every = has_kind(selection, ANYWHERE)
        known[_find_ties] = frozenset(pieces(groups)) if every else _find_ties(selection, groups)
    found: frozenset[int] = known[_find_ties]
    return found


def _find_ties(selection: Selection, groups: Ints) -> frozenset[int]:
    t, acting, tied = selection.tables, selection.elements, set[int]()
    of_sites = np.append(groups, -1)[t.site_body].tolist()
    ends = np.stack([t.element_site1[acting], t.element_site2[acting], t.element_site3[acting]])
    for sites in ends.T.tolist():
        met = {of_sites[site] for site in sites if site >= 0}
        tied |= met if len(met) > 1 else set()
    return frozenset(tied - {-1})


def _is_equal_within_rounding(one: Floats, two: Floats) -> bool:
    """Whether accelerations are equal within rounding."""
    scale = max(float(abs(one).max(initial=0.0)), float(abs(two).max(initial=0.0)))
    return bool(abs(one - two).max(initial=0.0) <= INVARIANCE * scale + ACCELERATION_ROUNDING)


def _follow_drives(at: Instant, rows: Floats, mine: Ints, motion: Floats) -> bool:
    """Fill in the steady rigid motion of some bodies about a fixed point that joints with
    prescribed motion require (4, n, 3); whether a rigid motion satisfies them all."""
    n, mass = len(rows), at.selection.tables.body_mass[np.flatnonzero(mine)]
    centre = np.asarray(mass @ positions_of(rows)[mine] / mass.sum())
    shifts = [np.tile(vectors_from(axis, np.zeros(3)), (n, 1)) for axis in np.eye(3)]
    rigid = np.where(mine[:, None], np.array([*shifts, *turns(rows, centre)]), 0.0)
    J, rate = equation.constraint_matrix(at), at.rows.rate
    violated = J @ points_of(at.selection.tables).flat(rigid, -1).T
    found = np.linalg.lstsq(violated, -rate, rcond=DEPENDENT)[0]
    if abs(violated @ found + rate).max() > RIGID * abs(rate).max():
        return False
    velocity, turning = np.split(np.asarray(found, dtype=np.float64), 2)
    motion[:, mine] = np.stack([centre, velocity, np.cross(turning, velocity), turning])[:, None]
    return True


def _fit(
    engine: Engine, rows: Floats, felt: Floats, groups: Ints, g: int, freedom: int, motion: Floats
) -> None:
    """Fill in the rigid motion nearest to that of a group, in the metric of kinetic energy (4, n,
    3)."""
    if engine.states.tail:
        return _fit_bent(engine, rows, felt, groups == g, freedom, motion)
    bodies = engine.model.bodies
    mean_motion(rows, felt, bodies, groups, g, freedom, TURNS_NOT, *motion)


def _fit_bent(
    engine: Engine, rows: Floats, felt: Floats, mine: Bools, freedom: int, motion: Floats
) -> None:
    """`_fit` where bodies bend, for the bodies that are mine."""
    selection, bodies = engine.selection, mine[: engine.states.bodies]
    group = group_motion(mass_motion(selection, rows), bodies)
    fall, turning = fall_of(selection, rows, felt, bodies), np.zeros(3)
    if freedom != DRIFTS and speeds_of(rows)[mine].any():
        turning = group.turning
        if freedom == TURNS and np.linalg.norm(turning) <= TURNS_NOT:
            turning = np.zeros(3)
    if freedom == HELD:
        fall = np.cross(turning, group.velocity)
    motion[:, mine] = np.stack([group.centre, group.velocity, fall, turning])[:, None]
