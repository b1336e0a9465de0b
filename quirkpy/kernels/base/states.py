"""How the numbers of a state are laid out, and those of whatever has a component for each speed:
written down here, and nowhere else.

A state is a row for each moving body, a last row for the ledger of energy, and a tail: further
coordinates and further speeds of bodies that have more than a rigid one: those of its modes, where
a body bends.  A row of a body is r (in N [m]), q (w x y z, body to N), v (in N [m/s]), omega (body
axes [rad/s]).
What has a component for each speed (accelerations, small displacements, modes; forces, which act
along them) is a flat vector: six numbers for each body, linear part first, and then one for each
further speed.

Functions whose names end with `_of` take arrays of any leading shape and return views.  Columns by
number are for kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from quirkpy.kernels.base.compiled import inner
from quirkpy.maths.types import Floats, Ints

# Columns of a body's row in a state, for kernels alone.
R, Q, V, OMEGA, STATE_WIDTH = 0, 3, 7, 10, 13
#: Where the numbers of a body begin in its row.
BODY_COLUMNS = {"position": R, "orientation": Q, "velocity": V, "angular_velocity": OMEGA}
# Columns of a body's six numbers in accelerations and the like, for kernels alone.
LINEAR_HALF, ANGULAR_HALF, VELOCITY_WIDTH = 0, 3, 6
#: The axes along which a point moves.
AXES = range(3)
#: The tail of a state whose bodies have nothing beyond a rigid one's coordinates and speeds.
NO_TAIL: Floats = np.zeros(0)
NO_TAIL.setflags(write=False)


@inner
def tail_start(bodies: int) -> int:
    """Where the tail begins in a line of so many bodies."""
    return (bodies + 1) * STATE_WIDTH


@inner
def further(y: Floats, bodies: int, k: int) -> float:
    """Number k of the tail of a state of so many bodies, whose tail is in the rows behind the
    ledger; zero, where the state has come without these rows."""
    row = bodies + 1 + k // STATE_WIDTH
    return y[row, k % STATE_WIDTH] if row < y.shape[0] else 0.0


@inner
def add_further(y: Floats, bodies: int, k: int, change: float) -> None:
    """Add to number k of the tail of a state."""
    y[bodies + 1 + k // STATE_WIDTH, k % STATE_WIDTH] += change


# --- rows of bodies -------------------------------------------------------------------------------
def positions_of(rows: Floats) -> Floats:
    """Mass centres in N [m] (..., 3), of rows of states (..., STATE_WIDTH) or of poses (..., 7)."""
    return rows[..., R:Q]


def attitudes_of(rows: Floats) -> Floats:
    """Unit quaternions w x y z, body to N (..., 4), of rows of states (..., STATE_WIDTH) or of
    poses (..., 7)."""
    return rows[..., Q:V]


def velocities_of(rows: Floats) -> Floats:
    """Velocities of mass centres in N [m/s] (..., 3), of rows of states (..., STATE_WIDTH)."""
    return rows[..., V:OMEGA]


def spins_of(rows: Floats) -> Floats:
    """Angular velocities in body axes [rad/s] (..., 3), of rows of states (..., STATE_WIDTH)."""
    return rows[..., OMEGA:STATE_WIDTH]


def speeds_of(rows: Floats) -> Floats:
    """Velocities and spins (..., 6), of rows of states (..., STATE_WIDTH)."""
    return rows[..., V:STATE_WIDTH]


def quantities_of(rows: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Positions, attitudes, velocities and spins, of rows of states (..., STATE_WIDTH)."""
    return positions_of(rows), attitudes_of(rows), velocities_of(rows), spins_of(rows)


def state_rows(r: Floats, q: Floats, v: Floats, omega: Floats) -> Floats:
    """Rows of bodies (..., STATE_WIDTH) from positions, attitudes, velocities and spins."""
    return np.concatenate([r, q, v, omega], axis=-1)


def as_many(rows: Floats) -> Floats:
    """Rows of any number of states, or vectors by bodies, as kernels take them (k, n, width)."""
    return np.ascontiguousarray(rows).reshape(-1, *rows.shape[-2:])


def zero_rows(*shape: int) -> Floats:
    """Rows of zeros (..., STATE_WIDTH): ledgers, or bodies that are filled in later."""
    return np.zeros((*shape, STATE_WIDTH))


def ground_rows(*shape: int) -> Floats:
    """Rows at the origin of N, with the identity as attitude and without velocity (...,
    STATE_WIDTH)."""
    out = zero_rows(*shape)
    out[..., Q] = 1.0
    return out


def is_row(shape: Sequence[int]) -> bool:
    """Whether the last axis of an array of this shape is as long as a row of a state."""
    return len(shape) > 0 and shape[-1] == STATE_WIDTH


# --- states ---------------------------------------------------------------------------------------
def bodies_of(states: Floats) -> Floats:
    """The rows of the bodies (..., nb, STATE_WIDTH), without the ledger, which is the last row."""
    return states[..., :-1, :]


def ledger_of(states: Floats) -> Floats:
    """The row of the ledger (..., STATE_WIDTH); its columns stand in `kernels/act/wrenches.py`."""
    return states[..., -1, :]


def with_ledger(rows: Floats) -> Floats:
    """States (..., nb + 1, STATE_WIDTH) from rows of bodies, with an empty ledger."""
    return np.concatenate([rows, zero_rows(*rows.shape[:-2], 1)], axis=-2)


# --- vectors with a component for each speed ------------------------------------------------------
def linear_of(vectors: Floats) -> Floats:
    """What belongs to the velocities of mass centres, in N (..., 3): the first half of vectors by
    bodies (..., 6)."""
    return vectors[..., LINEAR_HALF:ANGULAR_HALF]


def angular_of(vectors: Floats) -> Floats:
    """What belongs to the angular velocities (..., 3): the second half of vectors by bodies (...,
    6)."""
    return vectors[..., ANGULAR_HALF:VELOCITY_WIDTH]


def vectors_from(linear: Floats, angular: Floats) -> Floats:
    """Vectors by bodies (..., 6) from their two halves."""
    return np.concatenate([linear, angular], axis=-1)


def zero_vectors(*shape: int) -> Floats:
    """Zero vectors by bodies (..., 6)."""
    return np.zeros((*shape, VELOCITY_WIDTH))


def halves_of(vectors: Floats) -> Floats:
    """Vectors by bodies (..., 6) as their two halves, linear and angular (..., 2, 3)."""
    return vectors.reshape(*vectors.shape[:-1], 2, ANGULAR_HALF)


def by_body(vectors: Floats) -> Floats:
    """Flat vectors of the six speeds of each body (..., 6 nb), body by body (..., nb, 6)."""
    *leading, length = vectors.shape
    return vectors.reshape(*leading, length // VELOCITY_WIDTH, VELOCITY_WIDTH)


def flat(vectors: Floats) -> Floats:
    """Vectors by bodies (..., nb, 6), one body after the other (..., 6 nb)."""
    *leading, bodies, width = vectors.shape
    return vectors.reshape(*leading, bodies * width)


def speeds_count(bodies: int) -> int:
    """The number of speeds of so many rigid bodies."""
    return bodies * VELOCITY_WIDTH


# --- what bodies have beyond that -----------------------------------------------------------------
class StateLayout(NamedTuple):
    """Where everything stands in states and velocity vectors of so many moving bodies.  tail: how
    many numbers it has.

    coordinates: where the further coordinates of each body begin in the tail, and, last, where
    those of all end (bodies + 1,); speeds: the same for the further speeds, which come after all
    coordinates.  A body may have speeds without coordinates, as wheels have whose angles do not
    matter.  groups: where each part of the tail begins that has one scale in tolerances (the
    further coordinates of a body, or its further speeds), and, last, where the tail ends."""

    bodies: int
    tail: int
    coordinates: Ints
    speeds: Ints
    groups: Ints

    @classmethod
    def of(cls, coordinates: Sequence[int], speeds: Sequence[int]) -> StateLayout:
        """The layout for the given numbers of further coordinates and speeds of each body."""
        ends = np.cumsum([0, *coordinates, *speeds], dtype=np.int64)
        n = len(coordinates)
        return cls(n, int(ends[-1]), ends[: n + 1], ends[n:], np.unique(ends))

    @classmethod
    def rigid(cls, bodies: int) -> StateLayout:
        """The layout of rigid bodies: six speeds each, and an empty tail."""
        return cls.of((0,) * bodies, (0,) * bodies)

    @property
    def state_length(self) -> int:
        """Numbers of a state in a line: rows of the bodies, the ledger, the tail."""
        return (self.bodies + 1) * STATE_WIDTH + self.tail

    @property
    def velocity_length(self) -> int:
        """Numbers of a vector with a component for each speed."""
        return self.bodies * VELOCITY_WIDTH + self.tail - int(self.coordinates[-1])

    @property
    def line_rows(self) -> int:
        """Rows that a line takes: those of the state, and as many as its tail needs.  So lines are
        whole rows, and kernels see each as an array of them."""
        return self.bodies + 1 - (-self.tail // STATE_WIDTH)

    @property
    def moving(self) -> Ints:
        """The indices of all numbers of a state but the ledger."""
        ends = (self.bodies + 1) * STATE_WIDTH
        return np.delete(np.arange(self.state_length), slice(ends - STATE_WIDTH, ends))

    def zero_lines(self, count: int) -> tuple[Floats, Floats]:
        """So many lines of zeros (count, numbers), and the same memory as rows (count, line_rows,
        STATE_WIDTH)."""
        rows = zero_rows(count, self.line_rows)
        return rows.reshape(count, -1), rows

    def whole_rows(self, rows: Floats, tails: Floats) -> Floats:
        """States as kernels take them (..., line_rows, STATE_WIDTH): rows of the bodies, an empty
        ledger, and rows with the tails (..., tail)."""
        lines = np.zeros((*rows.shape[:-2], self.line_rows * STATE_WIDTH))
        self.rows_in(lines)[..., : self.bodies, :] = rows[..., : self.bodies, :]
        self.tail_in(lines)[:] = tails
        return lines.reshape(*rows.shape[:-2], self.line_rows, STATE_WIDTH)

    def rows_in(self, lines: Floats) -> Floats:
        """The rows of bodies and ledger in lines (..., bodies + 1, STATE_WIDTH)."""
        ends = (self.bodies + 1) * STATE_WIDTH
        return lines[..., :ends].reshape(*lines.shape[:-1], self.bodies + 1, STATE_WIDTH)

    def ledger_in(self, lines: Floats) -> Floats:
        """The ledgers in lines (..., STATE_WIDTH)."""
        return ledger_of(self.rows_in(lines))

    def tail_in(self, lines: Floats) -> Floats:
        """The tails of lines (..., tail)."""
        first = (self.bodies + 1) * STATE_WIDTH
        return lines[..., first : first + self.tail]

    def vector(self, by_body: Floats, further: Floats) -> Floats:
        """Flat vectors with a component for each speed (..., velocity_length), from those of the
        six of each body (..., bodies, 6) and those of the further ones."""
        return np.concatenate([flat(by_body), further], axis=-1)

    def by_body(self, vectors: Floats) -> Floats:
        """The six speeds of each body in flat vectors (..., bodies, 6)."""
        ends = self.bodies * VELOCITY_WIDTH
        return vectors[..., :ends].reshape(*vectors.shape[:-1], self.bodies, VELOCITY_WIDTH)

    def further_in(self, vectors: Floats) -> Floats:
        """The further speeds in flat vectors (..., number of those)."""
        return vectors[..., self.bodies * VELOCITY_WIDTH :]

    def speeds_in(self, tails: Floats) -> Floats:
        """The further speeds in tails (..., number of those)."""
        return tails[..., int(self.speeds[0]) :]

    def coordinates_in(self, tails: Floats) -> Floats:
        """The further coordinates in tails (..., number of those)."""
        return tails[..., : int(self.speeds[0])]


class ModePoints(NamedTuple):
    """The modes of bodies that bend as points: rows of states behind those of the bodies, each with
    the mass of its body, which move along one axis for each of three modes and neither turn nor are
    carried along by what moves the whole.  So a mode of the amount q lies q / sqrt(mass) [m] away,
    the root mean square over the mass of what it displaces, and small displacements of bodies and
    modes are rows alike (..., nb + points, 6).

    owners: the body of each point (points,); places: the number among the linear components of all
    points for each mode (modes,); roots: the root of the mass of its body [kg^1/2] (modes,)."""

    states: StateLayout
    owners: Ints
    places: Ints
    roots: Floats

    @classmethod
    def of(cls, states: StateLayout, masses: Floats) -> ModePoints:
        """The points of bodies with given masses [kg] (bodies,)."""
        counts = np.diff(states.coordinates)
        points = -(-counts // len(AXES))
        first = len(AXES) * (np.cumsum(points) - points)
        places = np.concatenate([[0], *(at + np.arange(n) for at, n in zip(first, counts))])[1:]
        owners = np.repeat(np.arange(states.bodies), points)
        return cls(states, owners, places, np.repeat(np.sqrt(masses), counts))

    @property
    def rows_count(self) -> int:
        """How many rows bodies and points have."""
        return self.states.bodies + len(self.owners)

    def rows(self, bodies: Floats, tails: Floats) -> Floats:
        """Rows of states with points (..., nb + points, STATE_WIDTH), from those of the bodies and
        the tails (..., tail)."""
        if not len(self.owners):
            return bodies
        added = ground_rows(*bodies.shape[:-2], len(self.owners))
        positions_of(added)[:] = self._spread(self.states.coordinates_in(tails) / self.roots)
        velocities_of(added)[:] = self._spread(self.states.speeds_in(tails) / self.roots)
        return np.concatenate([bodies, added], axis=-2)

    def bodies(self, rows: Floats) -> Floats:
        """The rows of the bodies alone (..., nb, width)."""
        return rows[..., : self.states.bodies, :]

    def tails(self, rows: Floats) -> Floats:
        """The tails of rows with points (..., tail)."""
        added = rows[..., self.states.bodies :, :]
        both = self._gathered(positions_of(added)), self._gathered(velocities_of(added))
        return np.concatenate([x * self.roots for x in both], axis=-1)

    def lines(self, rows: Floats) -> Floats:
        """States as kernels take them (..., line_rows, STATE_WIDTH), with an empty ledger."""
        if not len(self.owners):
            return with_ledger(rows)
        return self.states.whole_rows(self.bodies(rows), self.tails(rows))

    def from_lines(self, lines: Floats) -> Floats:
        """Rows with points of states as kernels have them (..., line_rows, STATE_WIDTH)."""
        numbers = lines.reshape(*lines.shape[:-2], -1)
        return self.rows(bodies_of(self.states.rows_in(numbers)), self.states.tail_in(numbers))

    def vectors(self, flat_vectors: Floats, power: int) -> Floats:
        """Flat vectors with a component for each speed (..., velocity_length), by rows (..., nb +
        points, 6); those of modes times a power of the roots: -1 for displacements, 1 for what acts
        along them, 0 for what is weighted with masses already."""
        bodies = self.states.by_body(flat_vectors)
        return self.with_modes(bodies, self.states.further_in(flat_vectors) * self.roots**power)

    def with_modes(self, bodies: Floats, modes: Floats) -> Floats:
        """Vectors of the bodies (..., nb, 6), with points whose components are given (..., modes),
        by rows (..., nb + points, 6)."""
        if not len(self.owners):
            return bodies
        added = zero_vectors(*bodies.shape[:-2], len(self.owners))
        linear_of(added)[:] = self._spread(modes)
        return np.concatenate([bodies, added], axis=-2)

    def modes_in(self, vectors: Floats) -> Floats:
        """The components of the modes in vectors by rows (..., modes)."""
        return self._gathered(linear_of(vectors[..., self.states.bodies :, :]))

    def flat(self, vectors: Floats, power: int) -> Floats:
        """The inverse of `vectors`: flat vectors from those by rows (..., nb + points, 6)."""
        return self.states.vector(self.bodies(vectors), self.modes_in(vectors) / self.roots**power)

    def displaced(self, one: Floats, two: Floats) -> float:
        """The largest displacement by a mode between two tails [m]."""
        apart = self.states.coordinates_in(one - two) / self.roots
        return float(abs(apart).max(initial=0.0))

    def _spread(self, modes: Floats) -> Floats:
        """A number for each mode (..., modes), as components of points (..., points, 3)."""
        out = np.zeros((*modes.shape[:-1], len(AXES) * len(self.owners)))
        out[..., self.places] = modes
        return out.reshape(*modes.shape[:-1], len(self.owners), len(AXES))

    def _gathered(self, linear: Floats) -> Floats:
        """The number of each mode (..., modes), from components of points (..., points, 3)."""
        return linear.reshape(*linear.shape[:-2], linear.shape[-2] * len(AXES))[..., self.places]
