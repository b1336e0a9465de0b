"""A mast of scissors: pairs of crossed bars, stage upon stage, that a spring at the foot draws
together and so pushes out.

    quirkpy simulate demos/mechanisms/scissor_mast.py --report run.html
"""

from __future__ import annotations

import math

import numpy as np

import quirkpy as qp

STAGES = 6
BAR, DENSITY = 0.5, 0.8  # [m], [kg/m]
STIFFNESS, REST = 400.0, 0.1  # of the spring between the feet [N/m], [m]
FOLDED = math.radians(8.0)  # of the bars at the start, above level [rad]
SECONDS = 0.8
AXIS = (0.0, 0.0, 1.0)


def mast(stages: int) -> qp.Multibody:
    """Bars "a0", "b0" ... in the plane z = 0; a0 is hinged to the ground, the foot of b0 slides."""
    width, height = BAR * math.cos(FOLDED), BAR * math.sin(FOLDED)

    def corner(side: float, level: int) -> np.ndarray:
        return np.array([side * width, level * height, 0.0])

    parts: list[qp.Part] = []
    rising, falling = [], []
    for k in range(stages):
        a = qp.Body.rod(f"a{k}", corner(0, k), corner(1, k + 1), DENSITY * BAR)
        b = qp.Body.rod(f"b{k}", corner(1, k), corner(0, k + 1), DENSITY * BAR)
        middle = 0.5 * (corner(0, k) + corner(1, k + 1))
        parts += [a, b, qp.Revolute(f"pin {k}", a, b, at=middle, axis=AXIS)]
        if k:
            parts += [
                qp.Revolute(f"left {k}", falling[-1], a, at=corner(0, k), axis=AXIS),
                qp.Revolute(f"right {k}", rising[-1], b, at=corner(1, k), axis=AXIS),
            ]
        rising.append(a)
        falling.append(b)
    return qp.Multibody(
        *parts,
        qp.Revolute("foot", qp.GROUND, rising[0], at=corner(0, 0), axis=AXIS),
        qp.PointOnLine("rail", qp.GROUND, falling[0], at=corner(1, 0), axis=(1.0, 0.0, 0.0)),
        qp.Spring("spring", rising[0], falling[0], at1=corner(0, 0), at2=corner(1, 0),
                  stiffness=STIFFNESS, rest_length=REST),
    )  # fmt: skip


system = mast(STAGES)


def main() -> dict[str, float]:
    """Push it out; tell its loops and how high it gets."""
    run = system.simulate(SECONDS, rtol=1e-11, atol=1e-12, progress=False)
    mobility = system.mobility()
    first, last = (run[name].position[:, 1] for name in ("a0", f"a{STAGES - 1}"))
    top = last + first  # half a stage above the middle of the last
    print(f"{STAGES} stages, {mobility.rows - mobility.rank} redundant rows; ", end="")
    print(f"it reaches {top[-1]:.4f} m")
    return {
        "freedoms": mobility.degrees_of_freedom,
        "top": float(top[-1]),
        "gap": float(abs(system.residual(run.final).position).max()),
        "energy": float(np.ptp(run.energy)),
    }


if __name__ == "__main__":
    main()
