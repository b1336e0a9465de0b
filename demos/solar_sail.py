"""A solar sail turned by 60 degrees in 300 s, with 44 modes: how far do the tips of its booms lag?

After the first example of A. K. Banerjee and M. Lemak ("Efficient generalized speeds in a recursive
formulation of flexible multibody dynamics"), who print curves and times but no data. Assumed here:
a bus of 150 kg; four booms of 28 m crosswise, each of 0.17 kg/m, a share of the film included, and
with 0.3 kg at its tip; EI of 1000 and 800 N m2, GJ of 100 N m2, damping of 0.5 %; eleven modes
each, ten of bending and one of torsion: 44 modes, and 50 freedoms with those of the whole.  A
torque about two of the booms turns the sail, for half the time one way, then the other.

The sail is one body: a `ModalBody` of the bus and all four booms.  The same as five bodies, a bus
with four beams fixed to it, moves alike.

    python demos/solar_sail.py                      the numbers
    python demos/solar_sail.py out                  and charts, a film and a page in a folder
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import quirkpy as qp

Floats = NDArray[np.float64]

BUS = qp.Body.box("bus", (1.0, 1.0, 1.0), 150.0)
LENGTH, DAMPING = 28.0, 0.005  # [m], [1]
WAYS = {"east": (1.0, 0.0), "north": (0.0, 1.0), "west": (-1.0, 0.0), "south": (0.0, -1.0)}
SLEW, ANGLE = 300.0, np.radians(60.0)  # [s], [rad]


def booms(stiffening: bool = True) -> list[qp.Beam]:
    """Four beams from faces of the bus outwards, their z axes normal to the sail."""
    return [
        qp.Beam(
            name, start=(0.5 * x, 0.5 * y, 0.0), end=((0.5 + LENGTH) * x, (0.5 + LENGTH) * y, 0.0),
            y=(-y, x, 0.0), EA=2e5, EI=(1000.0, 800.0), GJ=100.0, mass_per_length=0.17,
            tip_masses=(0.0, 0.3), modes=(0, 5, 5, 1), damping=DAMPING, stiffening=stiffening,
        )
        for name, (x, y) in WAYS.items()
    ]  # fmt: skip


def in_one() -> qp.ModalBody:
    """Bus and booms as one body: their mass points, each with the modes of its own boom."""
    nodes, masses, moments = [np.zeros(3)], [BUS.mass or 0.0], [BUS.inertia_matrix]
    own = [boom.mass_points for boom in booms()]
    n, k = sum(len(some.displacements) for some in own), sum(len(some.masses) for some in own)
    shapes, turns, squares = np.zeros((n, 1 + k, 3)), np.zeros((n, 1 + k, 3)), []
    for boom, some in zip(booms(), own, strict=True):
        axes, first, at = boom.matrix, len(squares), len(nodes)
        rows = slice(first, first + len(some.displacements))
        columns = slice(at, at + len(some.masses))
        shapes[rows, columns] = some.displacements @ axes.T
        turns[rows, columns] = some.rotations @ axes.T
        nodes += list(boom.position + some.points @ axes.T)
        masses += list(some.masses)
        moments += list(axes @ some.moments @ axes.T)
        squares += list(boom.modal.frequencies)
    return qp.ModalBody(
        "sail", nodes=nodes, shapes=shapes, rotations=turns, masses=masses, moments=moments,
        frequencies=squares, damping=DAMPING,
    )  # fmt: skip


def in_pieces(stiffening: bool = True) -> list[qp.Part]:
    """The bus, with four beams fixed to it."""
    beams = booms(stiffening)
    return [BUS, *beams, *(qp.Fixed(f"{b.name} root", BUS, b, at=b.start) for b in beams)]


def slewed(*parts: qp.Part) -> qp.Multibody:
    """A sail, with the first of its bodies turned about the booms east and west."""
    sail = qp.Multibody(*parts)
    size = 4.0 * ANGLE * float(sail.simulate(1e-3, progress=False).inertia[0, 0, 0]) / SLEW**2
    turns = [(size, 0.0, 0.0), (-size, 0.0, 0.0), (0.0, 0.0, 0.0)]
    bang = qp.Schedule((0.0, 0.5 * SLEW, SLEW), turns)
    return sail.with_(qp.Load("slew", sail[sail.bodies[0]], torque=bang))


def angle(run: qp.Trajectory, name: str) -> Floats:
    """How far a body has turned about x at each row [rad] (k,)."""
    w, x = run.measure(f"{name}.orientation")[:, :2].T
    return np.asarray(2.0 * np.arctan2(x, w))


def draw(run: qp.Trajectory, folder: Path) -> None:
    """The curves of the example, a film and a page."""
    folder.mkdir(parents=True, exist_ok=True)
    run.movie(folder / "sail.mp4")
    run.report(folder / "sail.html")


def main(folder: str | None = None) -> dict[str, float]:
    """Slew the sail as one body and as five, and compare."""
    one = slewed(in_one()).simulate(SLEW, progress=False)
    five = slewed(*in_pieces(stiffening=False)).simulate(SLEW, progress=False)
    full = slewed(*in_pieces()).simulate(SLEW, progress=False)
    turned, north = angle(full, "bus"), full["north"]
    root = abs(north.section(0.0).bending[:, 0]).max()
    tip = abs(north.tip[:, 2]).max()
    print(
        f"{sum(len(boom.modal.frequencies) for boom in booms())} modes from "
        f"{min(boom.modal.frequencies[0] for boom in booms()):.3f} to "
        f"{max(boom.modal.frequencies[-1] for boom in booms()):.1f} rad/s\n"
        f"turned by {np.degrees(turned[-1]):.4f} degrees; tips bend by up to "
        f"{1e3 * tip:.2f} mm, and carry up to {root:.3f} N m at their roots"
    )
    off = np.degrees(angle(one, "sail")[-1] - angle(five, "bus")[-1])
    print(f"as one body it ends {off:.1e} degrees from where five end without foreshortening")
    if folder is not None:
        draw(full, Path(folder))
    return {
        "turned": float(turned[-1]), "off": float(off),
        "tip": float(tip), "root": float(root),
        "steps": float(one.counts.steps), "evaluations": float(one.counts.evaluations),
    }  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:2])
