"""The systems that are measured.  Add one: write a function of a size, and list it in PROBLEMS."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

import quirkpy as qp

Vector = tuple[float, float, float]
SIDE = 0.1  # of the cubes [m]
GRAVITY = qp.Gravity((0.0, -9.81, 2.0))  # aslant: also across planes of hinges


class Problem(NamedTuple):
    """name; build: size -> system; sizes: those that are measured, the quick ones first; what a
    size counts."""

    name: str
    build: Callable[[int], qp.Multibody]
    sizes: tuple[int, ...]
    unit: str


# --- open chains: full rank -----------------------------------------------------------------------
def ball_chain(n: int, masses: tuple[float, ...] = (1.0,)) -> qp.Multibody:
    """n rods of 1 m on ball joints, hanging crooked from the ground, spinning; masses repeat along
    the chain."""
    rng = np.random.default_rng(1)
    return _chain(n, masses, [_unit(rng.normal(size=3)) for _ in range(n)], None)


def hinge_chain(n: int, masses: tuple[float, ...] = (1.0,)) -> qp.Multibody:
    """n rods of 1 m on hinges about z, zigzag in the x-y plane, turning."""
    angles = 0.4 * np.arange(n) + 0.3 * (-1.0) ** np.arange(n)
    return _chain(
        n, masses, [np.array([np.cos(a), np.sin(a), 0.0]) for a in angles], (0.0, 0.0, 1.0)
    )


def _chain(
    n: int,
    masses: tuple[float, ...],
    along: list[np.ndarray],
    axis: tuple[float, float, float] | None,
) -> qp.Multibody:
    """Rods end to end; with an axis on hinges, without on balls.  Velocities agree with the
    joints."""
    rng = np.random.default_rng(2)
    parts: list[qp.Part] = [GRAVITY]
    before, end, speed = qp.GROUND, np.zeros(3), np.zeros(3)
    for k, direction in enumerate(along):
        spin = rng.normal(size=3) if axis is None else rng.normal() * np.asarray(axis)
        middle = end + 0.5 * direction
        rod = qp.Body.rod(f"rod {k}", end, end + direction, masses[k % len(masses)], radius=0.1)
        rod = qp.Body(
            rod.name, rod.mass, rod.inertia, middle, rod.orientation,
            speed + np.cross(spin, 0.5 * direction), rod.matrix.T @ spin,
        )  # fmt: skip
        joint = (
            qp.Spherical(f"joint {k}", before, rod, at=end)
            if axis is None
            else qp.Revolute(f"joint {k}", before, rod, at=end, axis=axis)
        )
        parts += [rod, joint]
        before, end, speed = rod, end + direction, speed + np.cross(spin, direction)
    return qp.Multibody(*parts)


def _unit(v: np.ndarray) -> np.ndarray:
    return v / np.linalg.norm(v)


# --- closed loops: redundant ----------------------------------------------------------------------
def lattice(m: int) -> qp.Multibody:
    """m x m cubes afloat, each locked to its neighbours; one is pushed."""
    cubes, locks = _locked(m, np.zeros(3))
    push = qp.Load("push", cubes[0], force=(1.0, 2.0, 3.0), torque=(0.1, 0.2, -0.1))
    return qp.Multibody(*cubes, *locks, push)


def door(m: int, spin: float = 0.5) -> qp.Multibody:
    """m x m locked cubes on two hinges of one axis (y) at the ground, swinging; the far corner is
    pushed across."""
    cubes, locks = _locked(m, np.array([0.0, spin, 0.0]))
    edge = -0.5 * SIDE
    hinges = [
        qp.Revolute(
            f"hinge {k}", qp.GROUND, cube, at=(edge, cube.position[1], 0.0), axis=(0.0, 1.0, 0.0)
        )
        for k, cube in enumerate((cubes[0], cubes[m - 1]))
    ]
    return qp.Multibody(*cubes, *locks, *hinges, qp.Load("push", cubes[-1], force=(0.0, 0.0, 1.0)))


def _locked(m: int, spin: np.ndarray) -> tuple[list[qp.Body], list[qp.Fixed]]:
    """Cubes in the x-y plane, column by column, turning together about the line x = -SIDE / 2."""
    places = [(i, j) for i in range(m) for j in range(m)]
    edge = np.array([-0.5 * SIDE, 0.0, 0.0])
    cubes = {}
    for i, j in places:
        at = SIDE * np.array([i, j, 0.0])
        moving = {"velocity": np.cross(spin, at - edge), "angular_velocity": spin}
        cubes[i, j] = qp.Body.box(f"cube {i} {j}", (SIDE,) * 3, 1.0, position=at, **moving)
    locks = [
        qp.Fixed(f"lock {i} {j} {'xy'[dj]}", cubes[i, j], cubes[i + di, j + dj])
        for i, j in places
        for di, dj in ((1, 0), (0, 1))
        if (i + di, j + dj) in cubes
    ]
    return list(cubes.values()), locks


def hinged_lattice(m: int) -> qp.Multibody:
    """m x m cubes afloat and turning, neighbours alternately hinged about an edge in the upper face
    and locked."""
    spin, half = np.array([0.3, 0.2, 0.5]), 0.5 * SIDE
    centre = SIDE * np.array([[(i, j, 0.0) for j in range(m)] for i in range(m)])
    cubes = {
        (i, j): qp.Body.box(
            f"cube {i} {j}",
            (SIDE,) * 3,
            1.0,
            position=at,
            velocity=np.cross(spin, at),
            angular_velocity=spin,
        )
        for i, row in enumerate(centre)
        for j, at in enumerate(row)
    }
    pairs = [(i, j, d) for i, j in cubes for d in (0, 1) if (i + 1 - d, j + d) in cubes]
    joints: list[qp.Part] = []
    for k, (i, j, d) in enumerate(pairs):
        ends = cubes[i, j], cubes[i + 1 - d, j + d]
        edge = centre[i, j] + half * np.array([1 - d, d, 1])
        along = (float(d), float(1 - d), 0.0)
        lock = qp.Fixed(f"lock {k}", *ends)
        joints.append(lock if k % 2 else qp.Revolute(f"hinge {k}", *ends, at=edge, axis=along))
    push = qp.Load("push", cubes[0, 0], force=(1.0, 2.0, 3.0), torque=(0.1, 0.2, -0.1))
    return qp.Multibody(*cubes.values(), *joints, push)


def four_bars(
    n: int, angle: float = 1.0, rate: float = 0.7, gravity: Vector = GRAVITY.acceleration
) -> qp.Multibody:
    """n parallelograms side by side: n + 1 rods of 1 m on the ground joined by n rods, all hinges
    about z."""
    up, turn, z = (
        np.array([np.cos(angle), np.sin(angle), 0.0]),
        np.array([0.0, 0.0, rate]),
        (0.0, 0.0, 1.0),
    )
    feet = [np.array([float(k), 0.0, 0.0]) for k in range(n + 1)]
    turning = {"velocity": np.cross(turn, 0.5 * up), "angular_velocity": turn}
    rods = [qp.Body.rod(f"rod {k}", foot, foot + up, 1.0, **turning) for k, foot in enumerate(feet)]
    parts: list[qp.Part] = [qp.Gravity(gravity), *rods]
    parts += [
        qp.Revolute(f"foot {k}", qp.GROUND, rods[k], at=foot, axis=z) for k, foot in enumerate(feet)
    ]
    for k in range(n):
        left, right = feet[k] + up, feet[k + 1] + up
        bar = qp.Body.rod(f"bar {k}", left, right, 1.0, velocity=np.cross(turn, up))
        ends = (("left", rods[k], left), ("right", rods[k + 1], right))
        parts += [
            bar,
            *(qp.Revolute(f"{side} {k}", rod, bar, at=top, axis=z) for side, rod, top in ends),
        ]
    return qp.Multibody(*parts)


def map_fold(
    columns: int, rows: int, angle: float = 0.9, masses: Iterable[float] = (), push: bool = True
) -> qp.Multibody:
    """Square panels of 1 m, hinged along all edges that they share, afloat: each column is turned
    about y against the one before it by `angle`, all rows lie straight.

    masses: of the panels, column by column; none: 1 kg each.  push: a force and a couple on each
    panel."""
    c, s, y = float(np.cos(0.5 * angle)), float(np.sin(0.5 * angle)), (0.0, 1.0, 0.0)
    cells = list(itertools.product(range(columns), range(rows)))
    weighing = dict(zip(cells, list(masses) or [1.0] * len(cells), strict=True))
    panels = {
        (i, j): qp.Body.box(
            f"panel {i} {j}",
            (1.0, 1.0, 0.01),
            weighing[i, j],
            position=(c * i, float(j), 0.0),
            orientation=qp.rotation(y, 0.5 * angle * (-1.0) ** i),
        )
        for i, j in cells
    }
    parts: list[qp.Part] = list(panels.values())
    for (i, j), panel in panels.items():
        tilt = s * (-1.0) ** i
        if (i + 1, j) in panels:
            at = (c * (i + 0.5), float(j), -0.5 * tilt)
            parts.append(qp.Revolute(f"x {i} {j}", panel, panels[i + 1, j], at=at, axis=y))
        if (i, j + 1) in panels:
            at, axis = (c * i, j + 0.5, 0.0), (c, 0.0, -tilt)
            parts.append(qp.Revolute(f"y {i} {j}", panel, panels[i, j + 1], at=at, axis=axis))
    rng = np.random.default_rng(0)
    for k, panel in enumerate(panels.values() if push else ()):
        force, torque = rng.normal(size=(2, 3)).tolist()
        parts.append(qp.Load(f"push {k}", panel, force=force, torque=torque))
    return qp.Multibody(*parts)


PROBLEMS = [
    Problem("ball chain", ball_chain, (1, 8, 32, 64), "rods"),
    Problem("hinge chain", hinge_chain, (1, 8, 32, 64), "rods"),
    Problem("four-bars", four_bars, (1, 4, 12, 24), "loops"),
    Problem("lattice of locked cubes", lattice, (2, 3, 5, 7), "cubes a side"),
]
