"""Andrews' squeezing mechanism, IFToMM benchmark A03: seven bodies in a plane, three loops, driven
by a constant moment.

Dimensions, masses and reference values are those of the test set for initial value problems (F.
Mazzia and C. Magherini; E. Hairer and G. Wanner, Solving Ordinary Differential Equations II, sect.
VII.7).

    quirkpy simulate demos/mechanisms/andrews.py --report run.html
"""

from __future__ import annotations

import math

import numpy as np

import quirkpy as qp

Z = (0.0, 0.0, 1.0)
#: Fixed hinges and the spring's end [m]; the spring [N/m], [m]; the drive [N m].
O, A, B, C = (0.0, 0.0), (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)  # noqa: E741
STIFFNESS, LENGTH, MOMENT = 4530.0, 0.07785, 0.033
MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
MOMENTS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
#: beta, Theta, gamma, Phi, delta, Omega, epsilon at the start [rad].
START = (
    -0.0617138900142764496, 0.0, 0.4552798191630703803, 0.2226683901658858847,
    0.4873649795438425502, -0.2226683901658858847, 1.2305474445498211925,
)  # fmt: skip
#: The same after 0.03 s, as published; equations of their own, and quirkpy, agree to 4e-12 rad and
#: are 1.1e-9 rad off in beta.
REFERENCE = (
    15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948,
    0.5244099658805304, 0.5347301163226948, 1.048080741042263,
)  # fmt: skip
SECONDS = 0.03


def point(foot: tuple[float, float], angle: float, along: float, across: float = 0.0) -> np.ndarray:
    """A point so far along and across a direction from a foot (3,) [m]."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([foot[0] + along * c - across * s, foot[1] + along * s + across * c, 0.0])


def squeezer() -> qp.Multibody:
    """The mechanism at the start."""
    beta, theta, gamma, phi, delta, omega, epsilon = START
    crank = tuple(point(O, beta, 7e-3)[:2])
    left, right = tuple(point(A, delta, 0.04)[:2]), tuple(point(A, epsilon, 0.0, -0.04)[:2])
    tip = point(crank, beta + theta, -0.028)  # where four bodies meet
    turns = (beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon)
    centres = (
        point(O, beta, 9.2e-4), point(crank, beta + theta, -0.0115),
        point(B, gamma, 0.01043, -0.01874), point(left, phi + delta, 0.0, -(0.02 - 0.01421)),
        point(A, delta, 0.02308, 0.00916), point(right, omega + epsilon, 0.02 - 0.01421),
        point(A, epsilon, -0.00449, -0.01228),
    )  # fmt: skip
    one, two, three, four, five, six, seven = (
        qp.Body(
            f"K{k + 1}", mass=MASSES[k], inertia=(MOMENTS[k], MOMENTS[k], MOMENTS[k]),
            position=centres[k], orientation=qp.rotation(Z, turns[k]), shape=qp.Sphere(1e-3),
        )
        for k in range(7)
    )  # fmt: skip
    end = point(B, gamma, 0.02, -0.018)
    return qp.Multibody(
        *(one, two, three, four, five, six, seven),
        qp.Revolute("O", qp.GROUND, one, at=(*O, 0.0), axis=Z),
        qp.Revolute("crank", one, two, at=(*crank, 0.0), axis=Z),
        qp.Revolute("tip 3", two, three, at=tip, axis=Z),
        qp.Revolute("tip 4", two, four, at=tip, axis=Z),
        qp.Revolute("tip 6", two, six, at=tip, axis=Z),
        qp.Revolute("B", qp.GROUND, three, at=(*B, 0.0), axis=Z),
        qp.Revolute("left", five, four, at=(*left, 0.0), axis=Z),
        qp.Revolute("right", seven, six, at=(*right, 0.0), axis=Z),
        qp.Revolute("A 5", qp.GROUND, five, at=(*A, 0.0), axis=Z),
        qp.Revolute("A 7", qp.GROUND, seven, at=(*A, 0.0), axis=Z),
        qp.Spring("spring", qp.GROUND, three, at1=(*C, 0.0), at2=end, stiffness=STIFFNESS,
                  rest_length=LENGTH),
        qp.Load("drive", one, torque=(0.0, 0.0, MOMENT)),
    )  # fmt: skip


system = squeezer()


def angles(state: qp.State) -> np.ndarray:
    """The seven angles of the literature [rad], from those of the hinges since the start."""
    turned = {
        name: state[name].angle for name in ("O", "crank", "B", "left", "A 5", "right", "A 7")
    }
    order = ("O", "crank", "B", "left", "A 5", "right", "A 7")
    return np.array(START) + [turned[name] for name in order]


def main() -> dict[str, float]:
    """Fly to the time of the reference, and compare."""
    run = system.simulate(SECONDS, rtol=1e-12, atol=1e-13, progress=False)
    off = float(abs(angles(run.final) - REFERENCE).max())
    print(f"Andrews' squeezer after {SECONDS} s: {off:.1e} rad off the reference")
    print(f"{len(run.t) - 1} steps, {system.mobility().degrees_of_freedom} freedom")
    return {"off": off, "freedoms": system.mobility().degrees_of_freedom}


if __name__ == "__main__":
    main()
