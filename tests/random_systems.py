"""Random systems by family and seed: trees, loops, redundant linkages, lattices of cubes, and all
of it at once.

`random_system(family, seed)` gives a system that begins at t = 0.7 s in a state that satisfies its
joints in position and velocity.  The same arguments give the same system, to the bit."""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.maths.types import Floats
from quirkpy.mechanics import equation
from quirkpy.mechanics.instant import Instant
from tests.user_parts import Cylindrical, Slot, Table, Universal, Wave
from tests.workshop import INSTANT, Workshop, World

#: Joints with freedoms to spare: loops made of them can move.
LOOSE = (qp.Spherical, qp.Revolute, Universal, Cylindrical, qp.Prismatic)
#: Joints that close a loop without locking it at once.
CLOSING = (qp.Distance, Slot, Table, Wave, qp.Spherical, qp.Revolute)
SIDE = 0.1  # of the lattices' cubes [m]
#: Whether laws are tried at length: `make attack` sets it.
ATTACKING = os.environ.get("QUIRKPY_ATTACK") == "1"


def trees(w: Workshop) -> None:
    """One or two trees, each on the ground, on a fixed body or floating; any joint."""
    for _ in range(w.choose((1, 2))):
        members = [w.root()]
        for _ in range(w.choose((1, 2, 3, 4, 5))):
            parent = w.choose(members)
            members.append(w.body())
            w.join(parent, members[-1])


def loops(w: Workshop) -> None:
    """One closed chain of 4 to 8 bodies, grounded or floating."""
    ring = [w.body() for _ in range(w.choose((4, 5, 6, 7, 8)))]
    if w.chance(0.5):
        ring[0] = qp.GROUND
    for one, two in zip(ring, [*ring[1:], ring[0]]):
        w.join(one, two, LOOSE)


def meshes(w: Workshop) -> None:
    """A tree with two to four further joints across it."""
    members = [w.root()]
    for _ in range(w.choose((4, 5, 6, 7))):
        parent = w.choose(members)
        members.append(w.body())
        w.join(parent, members[-1], LOOSE)
    for _ in range(w.choose((2, 3, 4))):
        one, two = w.rng.choice(len(members), 2, replace=False)
        w.join(members[one], members[two], CLOSING)


def linkages(w: Workshop) -> None:
    """A row of planar four-bars with parallel hinges: three of the rows of each loop are
    redundant."""
    axis, along = w.unit(), w.unit()
    along -= (along @ axis) * axis
    along /= np.linalg.norm(along)
    up = np.cross(axis, along)
    windows = w.choose((1, 2, 3))
    feet = [x * along + w.between(-0.2, 0.2) * up for x in range(windows + 1)]
    heads = [foot + w.between(-0.4, 0.4) * along + w.between(0.6, 1.2) * up for foot in feet]
    base = w.root()
    uprights = [w.body(0.5 * (foot + head)) for foot, head in zip(feet, heads)]
    for upright, foot in zip(uprights, feet):
        w.join(base, upright, (qp.Revolute,), axis, foot)
    for left, right in itertools.pairwise(range(windows + 1)):
        coupler = w.body(0.5 * (heads[left] + heads[right]))
        for k in (left, right):
            w.join(uprights[k], coupler, (qp.Revolute,), axis, heads[k])


def lattices(w: Workshop) -> None:
    """A block of cubes: neighbours are locked, hinged along an edge, or apart."""
    counts = w.choose(((2, 2, 1), (3, 2, 1), (3, 3, 1), (2, 2, 2), (4, 2, 1), (3, 2, 2)))
    cells = {
        cell: w.box(SIDE * np.array(cell), SIDE) for cell in itertools.product(*map(range, counts))
    }
    if w.chance(0.5):
        w.join(qp.GROUND, cells[0, 0, 0], (qp.Fixed, qp.Revolute))
    for (cell, cube), k in itertools.product(cells.items(), range(3)):
        step = np.eye(3)[k]
        neighbour = cells.get(tuple(int(c) for c in cell + step))
        kind = w.choose((qp.Fixed, qp.Fixed, qp.Fixed, qp.Revolute, qp.Revolute, None))
        if neighbour and kind:
            turn = w.choose(
                (1, 2)
            )  # the edge lies along one axis of the face, at the border of the other
            edge, border = (
                np.eye(3)[(k + turn) % 3],
                w.choose((-1.0, 1.0)) * np.eye(3)[(k - turn) % 3],
            )
            w.join(cube, neighbour, (kind,), edge, SIDE * (np.array(cell) + 0.5 * (step + border)))


def medleys(w: Workshop) -> None:
    """Everything at once: fixed and free bodies, a tree, a loop, a linkage."""
    w.body(fixed=True)
    w.body()
    trees(w)
    for make in (loops, linkages):
        if w.chance(0.5):
            make(w)
    one, two = w.rng.choice(len(w.bodies), 2, replace=False)
    if not (w.bodies[one].fixed and w.bodies[two].fixed):
        w.join(w.bodies[one], w.bodies[two], (qp.Distance, Wave))


FAMILIES: dict[str, Callable[[Workshop], None]] = {
    make.__name__: make for make in (trees, loops, meshes, linkages, lattices, medleys)
}


def random_system(
    family: str,
    seed: int,
    world: World | None = None,
    *,
    driven: bool = True,
    conservative: bool = False,
) -> qp.Multibody:
    """A system of the family, moving at random.

    driven: joints may move by themselves with time, where the others let them.
    conservative: every force has a potential.
    """
    place = World() if world is None else world
    workshop = Workshop(
        [list(FAMILIES).index(family), seed], place, driven=driven, conservative=conservative
    )
    FAMILIES[family](workshop)
    workshop.forces()
    system = qp.Multibody(*workshop.parts)
    v = np.array([place.vector(workshop.cube()) for _ in system.bodies])
    omega = np.array([workshop.cube(3.0) for _ in system.bodies])
    state = compatible(system, dataclasses.replace(system.initial, t=INSTANT, v=v, omega=omega))
    if driven and abs(system.residual(state).velocity).max(initial=0.0) > 1e-9:
        return random_system(family, seed, world, driven=False, conservative=conservative)
    return system.at(state)


def seeds(count: int, soon: int, attack: int | None = None) -> pytest.MarkDecorator:
    """A test for each of `count` seeds in `make test`; `make check` runs the first `soon`, `make
    attack` runs `attack`.

    A test without `attack` is not part of `make attack`.
    """
    always = [] if attack is None else [pytest.mark.attack]
    most = attack if ATTACKING and attack is not None else count
    return pytest.mark.parametrize(
        "seed",
        [
            pytest.param(seed, marks=[*always, *([pytest.mark.slow] * (seed >= soon))])
            for seed in range(most)
        ],
    )


# --- what the laws need to know about a system ----------------------------------------------------
def instant(system: qp.Multibody, state: qp.State | None = None) -> Instant:
    """The arrays that evaluators work on."""
    return (system.initial if state is None else state).instant(system.selection)


def masses(system: qp.Multibody) -> Floats:
    """Mass matrix over (v in N, omega in body axes) of all moving bodies, (6 n, 6 n)."""
    out = np.zeros((6 * len(system.bodies),) * 2)
    for k, name in enumerate(system.bodies):
        body: Any = system[name]
        out[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = body.mass * np.eye(3)
        out[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = body.inertia_matrix
    return out


def velocities(state: qp.State) -> Floats:
    """(v in N, omega in body axes) of all moving bodies, one after the other (6 n,)."""
    return np.hstack([state.v, state.omega]).reshape(-1)


def free_acceleration(system: qp.Multibody, state: qp.State | None = None) -> Floats:
    """What the bodies would do without joints (n, 6)."""
    forces = equation.applied_forces(instant(system, state)).reshape(-1)
    return np.linalg.solve(masses(system), forces).reshape(-1, 6)


def weighted_rows(system: qp.Multibody, state: qp.State) -> tuple[Floats, Floats, Floats]:
    """Rows B of length one and the matrix K such that J u = lengths * (B K u), |K u|^2 = u' M u;
    and the lengths."""
    K = np.linalg.cholesky(masses(system)).T
    B = np.linalg.solve(K.T, equation.constraint_matrix(instant(system, state)).T).T
    lengths = np.linalg.norm(B, axis=1)
    return B / lengths[:, None], K, lengths


def compatible(system: qp.Multibody, state: qp.State) -> qp.State:
    """The state with the nearest velocities, in the mass metric, that the joints allow."""
    B, K, lengths = weighted_rows(system, state)
    u = velocities(state)
    for _ in range(2):  # the second pass removes the rounding of the first
        now = dataclasses.replace(state, v=u.reshape(-1, 6)[:, :3], omega=u.reshape(-1, 6)[:, 3:])
        rate = system.residual(now).velocity
        u = u - np.linalg.solve(K, np.linalg.pinv(B, rcond=1e-7) @ (rate / lengths))
    by_body = u.reshape(-1, 6)
    return dataclasses.replace(state, v=by_body[:, :3].copy(), omega=by_body[:, 3:].copy())


def allowed_directions(system: qp.Multibody, state: qp.State | None = None) -> Floats:
    """An M-orthonormal basis of the velocities that the joints allow at standstill, as columns (6
    n, dof)."""
    B, K, _ = weighted_rows(system, system.initial if state is None else state)
    _, sigma, Vt = np.linalg.svd(B, full_matrices=True)
    rank = int((sigma > 1e-6).sum())
    return np.linalg.solve(K, Vt[rank:].T)


def moved(state: qp.State, h: float) -> qp.State:
    """Every body carried on by its present velocity for a time h."""
    angle = np.linalg.norm(state.omega, axis=1)
    spin = [
        qp.rotation(w, h * a) if a else qp.rotation((0, 0, 1), 0)
        for w, a in zip(state.omega, angle)
    ]
    turned = [qp.Quaternion(*q) * s for q, s in zip(state.q, spin)]
    q = np.array([[s.w, s.x, s.y, s.z] for s in turned])
    return dataclasses.replace(state, r=state.r + h * state.v, q=q)
