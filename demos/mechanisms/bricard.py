"""Bricard's mechanism, IFToMM benchmark A04: six hinges along the edges of a cube.

By counting nothing can move, 30 rows for 30 freedoms; yet the axes are such that one row is
redundant and the ring turns inside out.  Which one, nobody has to know.

    quirkpy simulate demos/mechanisms/bricard.py --report run.html
"""

from __future__ import annotations

import itertools

import numpy as np

import quirkpy as qp

LENGTH, WIDTH, MASS, G = 1.0, 0.1, 1.0, 9.81  # of rods of square section [m], [kg]; [m/s2]
#: Around six edges of a cube; the last one is the ground.
CORNERS = LENGTH * np.array(
    [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 1], [0, 0, 1]], dtype=float
)
SECONDS = 10.0


def rod(name: str, start: np.ndarray, end: np.ndarray) -> qp.Body:
    """A rod of square section between two corners."""
    size = np.where(abs(end - start) > 0.0, LENGTH, WIDTH)
    return qp.Body.box(name, tuple(size), MASS, position=0.5 * (start + end))


def ring() -> qp.Multibody:
    """Five rods and the ground, hinged at the corners across both edges that meet there."""
    rods = [rod(f"rod {k}", a, b) for k, (a, b) in enumerate(itertools.pairwise(CORNERS))]
    links = [qp.GROUND, *rods, qp.GROUND]
    hinges = []
    for k, corner in enumerate(CORNERS):
        axis = np.cross(corner - CORNERS[k - 1], CORNERS[(k + 1) % 6] - corner)
        hinges.append(qp.Revolute(f"hinge {k}", links[k], links[k + 1], at=corner, axis=axis))
    return qp.Multibody(*rods, *hinges, qp.Gravity((0.0, -G, 0.0)))


system = ring()


def main() -> dict[str, float]:
    """Let it fall for ten seconds; tell its freedom, its closed loop and its energy."""
    mobility = system.mobility()
    run = system.simulate(SECONDS, rtol=1e-11, atol=1e-12, progress=False)
    told = {
        "rows": mobility.rows,
        "freedoms": mobility.degrees_of_freedom,
        "gap": float(abs(system.residual(run.final).position).max()),
        "energy": float(np.ptp(run.energy)),
    }
    print(f"{mobility.rows} rows, {mobility.rows - mobility.rank} of them redundant")
    print(f"loop closed to {told['gap']:.0e} m, energy to {told['energy']:.0e} J")
    return told


if __name__ == "__main__":
    main()
