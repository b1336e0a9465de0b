"""How bodies bend, as the kernels take it: modal models and stations in one line of numbers."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from quirkpy.kernels.base.arrays import (
    MODES_WIDTH,
    PRODUCT_WIDTH,
    RIGID,
    STATION_WIDTH,
    UPPER,
    Modes,
)
from quirkpy.kernels.base.states import ModePoints, StateLayout
from quirkpy.kernels.tree.modes import (
    DAMPED,
    SHORTENED,
    SHORTENING,
    SQUARED,
    STIFF,
    TILTED,
    TILTING,
    TURNED,
    TURNING,
)
from quirkpy.maths.types import Floats, Ints
from quirkpy.parts.modal import CROSS, ModalModel, PointModes
from quirkpy.tables.tables import Tables

#: Products with coordinates, and with speeds.
OF_COORDINATES, OF_SPEEDS = 0, 1


def states_of(t: Tables) -> StateLayout:
    """Where the numbers of states of these bodies stand, those of modes in the tail."""
    return t.once(bent_states) if t.bends else rigid_states(len(t.bodies))


def bent_states(t: Tables) -> StateLayout:
    """The layout of the states of bodies of which some bend."""
    counts = [0 if model is None else model.count for model in modal_models(t)]
    return StateLayout.of(counts, counts)


@functools.cache
def rigid_states(bodies: int) -> StateLayout:
    """The layout of the states of a number of rigid bodies; shared, so it must not be written
    to."""
    return StateLayout.rigid(bodies)


def points_of(t: Tables) -> ModePoints:
    """The modes of these bodies as points."""
    return t.once(bent_points) if t.bends else rigid_points(len(t.bodies))


def bent_points(t: Tables) -> ModePoints:
    """The modes of bodies of which some bend, as points."""
    return ModePoints.of(states_of(t), t.body_mass)


@functools.cache
def rigid_points(bodies: int) -> ModePoints:
    """The points of a number of rigid bodies: none."""
    return ModePoints.of(rigid_states(bodies), np.ones(bodies))


def modal_models(t: Tables) -> tuple[ModalModel | None, ...]:
    """The modal model of each moving body; None: it does not bend."""
    return tuple(body.modal if body.modal and body.modal.count else None for body in t.bodies)


def stations_of(body: Ints, points: Floats, t: Tables) -> tuple[Ints, Floats, Modes]:
    """Sites as the kernels take them, from the row of the body of each (n,) and its point in the
    axes of that (n, 3): the row of each (a station, on a body that bends), its point there, and
    the modes with these stations."""
    if not t.bends:
        return body.copy(), points, RIGID
    models, packing = modal_models(t), _Packing(t.n_bodies, states_of(t))
    rows, inside = body.copy(), points.copy()
    for b, model in enumerate(models):
        if model is not None:
            mine = np.flatnonzero(body == b)
            places = points[mine].tolist() or [[0.0, 0.0, 0.0]]
            added = packing.add(b, model, [t.bodies[b].modes_at(tuple(p)) for p in places])
            rows[mine], inside[mine] = added[: len(mine)], 0.0
    rows[body == t.n_bodies] = t.n_bodies + len(packing.stations)
    return rows, inside, packing.modes()


class _Packing:
    """Stacks the numbers of all bodies that bend."""

    def __init__(self, bodies: int, states: StateLayout) -> None:
        self.bodies, self.states = bodies, states
        self.what: list[list[int]] = []
        self.stations: list[list[int]] = []
        self.products: list[list[int]] = []
        self.numbers: list[Floats] = []

    def add(self, b: int, model: ModalModel, points: Sequence[PointModes]) -> Ints:
        """Add a body with its stations, and return the rows of these."""
        first, product = len(self.stations), len(self.products)
        at = self._put(model.linear, model.angular, model.inertia_change.reshape(-1, 9)[:, UPPER])
        for matrix, factor, number in _products(model):
            if matrix.any():
                self.products.append([self._put(_spans(matrix), matrix.T), factor, number])
        for point in points:
            self.stations.append([len(self.what), *self._station(point)])
        self.what.append([
            b, model.count, int(self.states.coordinates[b]), int(self.states.speeds[b]), at,
            product, len(self.products), first, len(self.stations),
        ])  # fmt: skip
        return self.bodies + np.arange(first, len(self.stations))

    def _station(self, point: PointModes) -> list[int]:
        """Where the numbers of a station begin, and those of its foreshortening."""
        at = self._put(point.position, point.displacement, point.rotation)
        return [at, *(self._put(eta) if eta.any() else -1 for eta in point.shortening)]

    def _put(self, *arrays: Floats) -> int:
        """Append arrays to the line of numbers, and return where they begin."""
        at = sum(map(len, self.numbers))
        self.numbers += [np.asarray(array, dtype=float).reshape(-1) for array in arrays]
        return at

    def modes(self) -> Modes:
        """The packed arrays."""
        return Modes(
            np.array(self.what, np.int64).reshape(-1, MODES_WIDTH),
            np.array(self.stations, np.int64).reshape(-1, STATION_WIDTH),
            np.array(self.products, np.int64).reshape(-1, PRODUCT_WIDTH),
            np.concatenate(self.numbers),
        )


def _spans(matrix: Floats) -> Floats:
    """Of each column, the first row that is not zero, and the one behind the last (n, 2)."""
    full = matrix != 0.0
    first, last = full.argmax(axis=0), len(full) - full[::-1].argmax(axis=0)
    return np.stack([first, np.where(full.any(axis=0), last, first)], axis=1).astype(float)


def _products(model: ModalModel) -> list[tuple[Floats, int, int]]:
    """The matrices that are multiplied by amounts or rates of modes: with which of these, and the
    number of the product."""
    moments, tilt = second_moments(model), tilts(model)
    return [
        (model.stiffness, OF_COORDINATES, STIFF),
        (model.damping, OF_SPEEDS, DAMPED),
        *((moments[k // 3, k % 3], OF_COORDINATES, SQUARED + n) for n, k in enumerate(UPPER)),
        *(
            (matrix, factor, first + k)
            for matrices, pairs in (
                (model.gyroscopic, ((OF_COORDINATES, TURNED), (OF_SPEEDS, TURNING))),
                (model.shortening, ((OF_COORDINATES, SHORTENED), (OF_SPEEDS, SHORTENING))),
                (tilt, ((OF_COORDINATES, TILTED), (OF_SPEEDS, TILTING))),
            )
            for factor, first in pairs
            for k, matrix in enumerate(matrices)
        ),
    ]


def second_moments(model: ModalModel) -> Floats:
    """B (3, 3, n, n): the moments of inertia change by q'B_ab q to second order."""
    s = model.shortening_moment
    drawn = np.trace(s)[None, None] * np.eye(3)[:, :, None, None]
    return np.asarray(model.second - drawn + 0.5 * (s + s.swapaxes(0, 1)))


def tilts(model: ModalModel) -> Floats:
    """A (3, n, n): what foreshortening takes from the angular momentum of the rates u, q'A_c u."""
    return np.asarray(np.einsum("cak,akij->cij", -CROSS, model.shortening_moment))
