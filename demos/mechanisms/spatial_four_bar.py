"""A spatial four-bar (RSSR): a crank drives a rocker about a skew axis through a rod with two ball
joints.

The rod may also spin about its own line, which changes nothing else.

    quirkpy simulate demos/mechanisms/spatial_four_bar.py --report run.html
"""

from __future__ import annotations

import numpy as np

import quirkpy as qp

#: The crank turns about z through the origin, the rocker about y through its foot.
CRANK, ROCKER = np.array([0.3, 0.0, 0.0]), np.array([0.0, 0.0, 0.8])  # to the balls [m]
FOOT = np.array([1.0, 0.3, -0.3])
DENSITY, TORQUE = 2.0, 1.5  # of all rods [kg/m]; on the crank [N m]
SECONDS = 2.0


def linkage() -> qp.Multibody:
    """At rest, crank along x, rocker upright."""
    here, there = CRANK, FOOT + ROCKER
    crank, rod, rocker = (
        qp.Body.rod(name, start, end, DENSITY * float(np.linalg.norm(end - start)))
        for name, start, end in (
            ("crank", np.zeros(3), here),
            ("rod", here, there),
            ("rocker", FOOT, there),
        )
    )
    drive = qp.Revolute("drive", qp.GROUND, crank, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    return qp.Multibody(
        crank, rod, rocker, drive, qp.Motor("motor", drive, torque=TORQUE),
        qp.Spherical("ball 1", crank, rod, at=here),
        qp.Spherical("ball 2", rod, rocker, at=there),
        qp.Revolute("swing", qp.GROUND, rocker, at=FOOT, axis=(0.0, 1.0, 0.0)),
    )  # fmt: skip


system = linkage()


def main() -> dict[str, float]:
    """Drive it; tell turns of the crank, how far the rocker swings, and what the motor gave."""
    run = system.simulate(SECONDS, rtol=1e-11, atol=1e-12, progress=False)
    swing = run["swing"].angle
    print(f"crank turned by {run['drive'].angle[-1]:.3f} rad; rocker between ", end="")
    print(f"{swing.min():.4f} and {swing.max():.4f} rad")
    return {
        "freedoms": system.mobility().degrees_of_freedom,
        "turned": float(run["drive"].angle[-1]),
        "lowest": float(swing.min()),
        "highest": float(swing.max()),
        "gap": float(abs(system.residual(run.final).position).max()),
        "ledger": float(np.ptp(run.energy - run.work)),
    }


if __name__ == "__main__":
    main()
