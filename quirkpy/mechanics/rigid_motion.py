"""`Whole`: the rigid motion of a system as a whole, relative to which its bodies may be at rest.

A connected system that is not attached to the ground may drift for ever, and one without external
moments may rotate for ever; its bodies may still be at rest relative to each other. A joint with
prescribed motion carries the bodies attached to it around. All other motion is relative to N."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from quirkpy.kernels.base.states import (
    angular_of,
    as_many,
    attitudes_of,
    linear_of,
    positions_of,
    speeds_of,
    vectors_from,
    velocities_of,
    zero_vectors,
)
from quirkpy.kernels.place.carried import carry_along, feel, kinetic_beside
from quirkpy.kernels.users.modal import points_of
from quirkpy.kernels.users.packing import pack
from quirkpy.maths.cached import cached_property
from quirkpy.maths.rotations import cross, product, rotate
from quirkpy.maths.types import Bools, Floats, Ints
from quirkpy.mechanics.bent_motion import carried_by, energy_of, group_motion, mass_motion
from quirkpy.mechanics.momenta import (
    angular_momentum,
    axes_of,
    moments,
    spinning,
    stored_momentum,
)
from quirkpy.tables.tables import Selection

#: (x - sin x) / x^3 is taken as 1/6 for angles x below this [rad].
SMALL_SCREW = 1e-3
#: Factors that conjugate a quaternion.
BACK = np.array([1.0, -1.0, -1.0, -1.0])


@dataclass(frozen=True, eq=False)
class Whole:
    """The rigid motion of the island of each body, per body (n, 3): its centre of rotation, the
    velocity and acceleration of that point, and the angular velocity, all in N.  Where bodies bend,
    the points of their modes follow (n + points, 3): they are on no island, and stand still.

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
        turning = self.turning.copy()
        for k in pieces(self.islands):
            mine = self.islands == k
            if self.turns[mine].all() and self.turning[mine].any():
                h = stored_momentum(selection, t)[np.flatnonzero(mine)]
                momentum = spin_of(selection, t, before[None], mine)[0]
                momentum -= np.einsum("nip,np->i", axes_of(after[mine]), h)
                about = moments_of(selection, after[None], mine)[0]
                turning[mine] = np.linalg.solve(about, momentum)
        return dataclasses.replace(self, turning=turning)

    def carry(self, rows: Floats, seconds: float) -> Floats:
        """The state after a time of rigid motion, without relative motion."""
        angle = self.turning * seconds
        q = rotation(angle)
        centre = self.centre + self.velocity * seconds + 0.5 * self.acceleration * seconds**2
        out = rows.copy()
        positions_of(out)[:] = centre + rotate(q, positions_of(rows) - self.centre)
        attitudes_of(out)[:] = product(q, attitudes_of(rows))
        drift = self.velocity + self.acceleration * seconds  # of the centre, which does not turn
        velocities_of(out)[:] = drift + rotate(q, velocities_of(rows) - self.velocity)
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


# --- energy and momentum beside the motion of the whole ------------------------------------------
def relative_kinetic_energy(whole: Whole, selection: Selection, states: Floats) -> Floats:
    """Kinetic energy of states (k, n, STATE_WIDTH) relative to the rigid motion of the whole (k,)
    [J]: for each group that drifts freely without its translation, for one that rotates freely
    without its rotation.

    The rigid motion is subtracted from the velocities, not from the energy, where it may be
    dominant.
    """
    if selection.tables.bends:
        return _relative_bent(whole, selection, states)
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
        if tables.bends:
            bent = group_motion(mass_motion(selection, states), bodies_among(selection, mine))
            momentum, turning, sums = bent.momentum, bent.turning, bent.moments
        else:
            momentum, turning, sums = spinning(
                tables.body_mass[mine], tables.body_inertia[mine], states[:, mine]
            )
        largest = np.linalg.eigvalsh(sums)[:, -1]
        out += 0.5 * (
            np.einsum("ki,ki->k", momentum, turning) - (momentum**2).sum(axis=1) / largest
        )
    return out


def _relative_bent(whole: Whole, selection: Selection, states: Floats) -> Floats:
    """`relative_kinetic_energy` where bodies bend: of rows with points (k, n, STATE_WIDTH)."""
    points, (number, turned) = points_of(selection.tables), whole.groups
    every, rates, bodies = mass_motion(selection, states), speeds_of(states), points.bodies(states)
    for g, turns_too in enumerate(turned.tolist()):
        mine = bodies_among(selection, number == g)
        field = carried_by(bodies, group_motion(every, mine), turns_too, mine)
        still = np.zeros((len(states), len(points.roots)))
        rates = rates - points.with_modes(field, still)
    return energy_of(selection, states, rates)


def bodies_among(selection: Selection, mine: Bools) -> Bools:
    """Which of the bodies are chosen (nb,), by a choice among rows with points (n,)."""
    return mine[: selection.tables.n_bodies]


def spin_of(selection: Selection, t: float, states: Floats, mine: Bools) -> Floats:
    """Angular momentum of a group about its mass centre at time t, with that of its wheels, in N
    (k, 3), at states by rows (k, n, STATE_WIDTH)."""
    tables = selection.tables
    if tables.bends:
        every = mass_motion(selection, states, t)
        return group_motion(every, bodies_among(selection, mine)).momentum
    stored = stored_momentum(selection, t)[mine]
    return angular_momentum(
        states[:, mine], tables.body_mass[mine], tables.body_inertia[mine], stored
    )


def moments_of(selection: Selection, states: Floats, mine: Bools) -> Floats:
    """Moments of inertia of a group about its mass centre, in N (k, 3, 3)."""
    tables = selection.tables
    if tables.bends:
        every = mass_motion(selection, states)
        return group_motion(every, bodies_among(selection, mine)).moments
    return moments(tables.body_mass[mine], tables.body_inertia[mine], states[:, mine])
