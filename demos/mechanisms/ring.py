"""A ring of N bars and N hinges with parallel axes, which falls about one of its corners: N - 3
ways to change its shape, three redundant rows, whatever N.

    quirkpy simulate demos/mechanisms/ring.py --report run.html
"""

from __future__ import annotations

import math

import numpy as np

import quirkpy as qp

COUNT = 8
BAR, MASS, G = 0.5, 1.0, 9.81  # of each bar [m], [kg]; [m/s2]
SECONDS = 1.0
AXIS = (0.0, 0.0, 1.0)


def ring(count: int) -> qp.Multibody:
    """A regular polygon in the plane z = 0, at rest: its first bar is level, to the right of a
    corner that is hinged to the ground, and the others hang below."""
    angles = -2.0 * math.pi / count * np.arange(count)
    steps = BAR * np.stack([np.cos(angles), np.sin(angles), np.zeros(count)], axis=1)
    corners = np.vstack([np.zeros(3), np.cumsum(steps, axis=0)])
    bars = [qp.Body.rod(f"bar {k}", corners[k], corners[k + 1], MASS) for k in range(count)]
    hinges = [
        qp.Revolute(f"hinge {k}", bars[k - 1], bars[k], at=corners[k], axis=AXIS)
        for k in range(count)
    ]
    peg = qp.Revolute("peg", qp.GROUND, bars[0], at=corners[0], axis=AXIS)
    return qp.Multibody(*bars, *hinges, peg, qp.Gravity((0.0, -G, 0.0)))


system = ring(COUNT)


def main() -> dict[str, float]:
    """Let it fall about its corner; tell how many ways it has to move."""
    run = system.simulate(SECONDS, rtol=1e-11, atol=1e-12, progress=False)
    mobility = system.mobility()
    told = {
        "freedoms": mobility.degrees_of_freedom,
        "redundant": mobility.rows - mobility.rank,
        "gap": float(abs(system.residual(run.final).position).max()),
        "energy": float(np.ptp(run.energy)),
    }
    print(
        f"{COUNT} bars: {told['freedoms']} freedoms, {told['redundant']} redundant rows; ", end=""
    )
    print(f"closed to {told['gap']:.0e} m")
    return told


if __name__ == "__main__":
    main()
