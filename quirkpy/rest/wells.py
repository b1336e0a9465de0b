"""Wells: the equilibrium near a state, and the energy of the motion around it."""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

import numpy as np

from quirkpy.kernels.base.states import speeds_of
from quirkpy.kernels.step.batch import AT_REST
from quirkpy.kernels.tree.stops import TOUCHING
from quirkpy.maths.types import Floats
from quirkpy.mechanics.clusters import Clusters
from quirkpy.mechanics.rigid_motion import Whole
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.motion.capture import clearances
from quirkpy.rest.branch_points import NO_BEND, forms_at
from quirkpy.rest.equilibrium import Equilibrium, certify, split_directions
from quirkpy.rest.kinks import Kinks, kinks_of
from quirkpy.rest.newton import POLISHED, newton, polish, rests, size_of, unknown_below
from quirkpy.rest.vicinity import Vicinity
from quirkpy.rest.work import work_to
from quirkpy.tables import Selection

#: Largest number of times that an equilibrium is recomputed with the rotation that keeps the
#: angular momentum.
TURNS_ANEW = 30
#: A motion along neutral directions is simulated until its remaining distance is within this [m],
#: [rad], which is then added; a damping of neutral motions below this share of the largest counts
#: as zero.
COASTING, BRAKED = 1e-3, 1e-6
#: Distance up to which a minimum must have walls, in units of the amplitude of the energy left; and
#: the least height of these walls relative to the quadratic approximation.
ENERGY_REACH, WALL = 2.0, 0.5


def standstill(selection: Selection, speed: float = AT_REST) -> float:
    """The kinetic energy [J] of the bodies if all move at the largest speed that counts as rest
    [m/s], [rad/s]."""
    tables = selection.tables
    return (
        0.5
        * speed**2
        * float(tables.body_mass.sum() + np.trace(tables.body_inertia, axis1=1, axis2=2).sum())
    )


class Well(NamedTuple):
    """An equilibrium, and its stiffness: values (f,) along directions (f, f); where it jumps
    there."""

    around: Vicinity
    found: Equilibrium
    stiffness: Floats
    along: Floats
    kinks: Kinks | None = None

    def bends(self, xi: Floats) -> Floats:
        """Twice the quadratic approximation of the potential energy at coordinates (k, f) [J]; at a
        saddle, with the absolute values of the stiffness."""
        plain = np.asarray((xi @ self.along) ** 2 @ abs(self.stiffness))
        if self.kinks is None:
            return plain
        reached = xi @ self.kinks.normals.T
        return np.asarray(abs(plain + (reached * abs(reached)) @ self.kinks.jumps))

    def energies(self, states: Floats) -> Floats:
        """The quadratic approximation of the potential energy of states (k, n, STATE_WIDTH) near by
        [J]."""
        return 0.5 * self.bends(self.around.coordinates(states))

    def energy_of(self, size: float) -> float:
        """The quadratic approximation of the energy of a displacement along each direction that
        moves no body by more than a size [m], [rad] [J]."""
        sizes = np.array([size_of(self.around, along) for along in self.along.T])
        return float(0.5 * ((size / sizes) ** 2 * abs(self.stiffness)).sum()) if len(sizes) else 0.0

    def equilibrium_at(self, t: float) -> Equilibrium:
        """The equilibrium at the time [s] at which the run reached it: the rigid motion of the
        whole is undone."""
        if self.around.whole.rests:
            return dataclasses.replace(self.found, state=self.found.state.changed(t=t))
        rows = self.around.whole.carry(self.around.here.rows[0], t - self.around.state.t)
        return dataclasses.replace(self.found, state=self.around.state_of(rows, t))

    def has_walls(self, left: float) -> bool:
        """Whether the energy rises nearly as in the quadratic approximation, up to some energy [J]
        and beyond.

        Loads without a potential have no such walls; there the linearisation alone decides.
        """
        still = left <= standstill(self.around.layout.selection)  # rounding
        if still or not self.around.symmetric:
            return True
        xi = np.concatenate([self.along.T, -self.along.T])
        stiffness, least = self.bends(xi), unknown_below(self.around, self.along)
        if self.kinks is not None:
            least = np.zeros(len(least))
        holds = stiffness > np.concatenate([least, least])  # the others are neutral
        xi = xi[holds] * (ENERGY_REACH * np.sqrt(2.0 * left / stiffness[holds]))[:, None]
        return bool((work_to(self.around, xi) >= WALL * ENERGY_REACH**2 * left).all())


def well_around(system: System, state: State) -> Well | None:
    """The well, or the saddle, near a state, if Newton's method finds one; a rotating system keeps
    its angular momentum, and so changes its speed of rotation."""
    start, before = release_stops(system.clusters, state), math.inf
    around = start
    for _ in range(TURNS_ANEW):
        rows, moved, settled = newton(around)
        if not settled and around is start:
            return None
        if not settled or moved >= before:  # converged to rounding
            break
        before = moved
        whole = around.whole.keeping(around.layout.selection, around.state.t, start.rows, rows)
        around = Vicinity(system.clusters, around.state_of(at_standstill(whole, rows)), whole)
        if not whole.turning.any() or moved <= POLISHED:
            break
    if around.whole.turning.any():
        around = polish(around).around
    elif around.wide:  # forces along soft directions are only known at the point itself
        polished = polish(around)
        if not polished.settled:
            return None
        around = polished.around
    coasting = coast(around, start)
    if coasting is None:
        return None
    around = coasting
    found = certify(around, size_of(around, around.coordinates(start.rows[None])[0]))
    return Well(around, found, *around.bends, kinks_of(around))


def coast(around: Vicinity, start: Vicinity) -> Vicinity | None:
    """The well where damping alone will have stopped a state along its neutral directions N: no
    force acts there, and N (eta + D xi) is constant until eta is zero. None where that is far, or
    beyond a stop."""
    if not around.freedoms or around.whole.turning.any() or forms_at(around) is not None:
        return around
    neutral = split_directions(around).neutral
    if not len(neutral):
        return around
    xi, D = around.coordinates(start.rows[None])[0], around.damping.values
    eta = around.reduce(start.whole.relative_velocities(start.rows)[None])[0]
    U, sigma, Vt = np.linalg.svd(neutral @ D @ neutral.T)
    braked = sigma > max(BRAKED * float(abs(D).max()), NO_BEND)
    step = neutral.T @ (
        Vt[braked].T @ ((U[:, braked].T @ neutral @ (eta + D @ xi)) / sigma[braked])
    )
    size = size_of(around, step)
    if size <= POLISHED or size > COASTING:
        return around if size <= POLISHED else None
    there = around.state_of(around.answers(around.states_at(step[None])).rows[0])
    if (clearances(there.instant(around.clusters.selection))[0] < -TOUCHING).any():
        return None
    return polish(Vicinity(around.clusters, there, around.whole)).around


def release_stops(clusters: Clusters, state: State, whole: Whole | None = None) -> Vicinity:
    """The vicinity of a state, without the stops that are not pressed on, which it may leave."""
    around = Vicinity(clusters, state, whole)
    for label in (label for label in state.held if label not in around.layout.latches):
        others = tuple(other for other in around.state.held if other != label)
        free = Vicinity(clusters, around.state.changed(held=others), around.whole)
        if rests(free):
            around = free
    return around


def at_standstill(whole: Whole, rows: Floats) -> Floats:
    """A state with the velocities of the rigid motion of the whole alone."""
    out = rows.copy()
    speeds_of(out)[:] = whole.field(rows)
    return out
