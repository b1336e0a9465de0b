"""A four-bar with a spring and a damper across its diagonal: where it hangs, and how it swings
there.

The kind of IFToMM's linear benchmark, three rods of one metre and one kilogram in a parallelogram:
settling gives the equilibrium, the certificate its eigenvalues.

    quirkpy simulate demos/mechanisms/spring_four_bar.py --report run.html
"""

from __future__ import annotations

import math

import numpy as np

import quirkpy as qp

LENGTH, MASS, G = 1.0, 1.0, 9.81  # of each rod [m], [kg]; [m/s2]
STIFFNESS, DAMPING, REST = 25.0, 5.0, 1.2  # [N/m], [N s/m], [m]
AXIS = (0.0, 0.0, 1.0)


def linkage() -> qp.Multibody:
    """At rest with its uprights vertical; the spring leads from the left foot to the right head."""
    feet = np.array([[0.0, 0.0, 0.0], [LENGTH, 0.0, 0.0]])
    heads = feet + [0.0, LENGTH, 0.0]
    left, right = (
        qp.Body.rod(name, foot, head, MASS)
        for name, foot, head in zip(("left", "right"), feet, heads, strict=True)
    )
    bar = qp.Body.rod("bar", heads[0], heads[1], MASS)
    return qp.Multibody(
        left, right, bar, qp.Gravity((0.0, -G, 0.0)),
        qp.Revolute("left foot", qp.GROUND, left, at=feet[0], axis=AXIS),
        qp.Revolute("right foot", qp.GROUND, right, at=feet[1], axis=AXIS),
        qp.Revolute("left head", left, bar, at=heads[0], axis=AXIS),
        qp.Revolute("right head", right, bar, at=heads[1], axis=AXIS),
        qp.Spring("spring", qp.GROUND, bar, at1=feet[0], at2=heads[1],
                  stiffness=STIFFNESS, rest_length=REST, damping=DAMPING),
    )  # fmt: skip


system = linkage()


def main() -> dict[str, float]:
    """Settle; tell the angle of the uprights above level, and the eigenvalue."""
    rest = system.settle()
    (mode,) = rest.modes
    angle = 0.5 * math.pi + rest.state["left foot"].angle
    print(f"{rest.verdict} at {angle:.12f} rad; eigenvalue {mode.eigenvalue:.10f} 1/s")
    return {
        "stable": rest.verdict == "stable",
        "angle": angle,
        "real": mode.eigenvalue.real,
        "imaginary": abs(mode.eigenvalue.imag),
    }


if __name__ == "__main__":
    main()
