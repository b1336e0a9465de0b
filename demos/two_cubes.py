"""Two hinged cubes, study IV.A of Shoer and Peck: a pull that moves one, and a pull that does not.

Cube A stands still at the origin.  Cube B hangs on the vertical edge that both share and may swing
half a turn, from one face of A (its centre at x = 0.1 m) to the next (y = -0.1 m).  A potential
well pulls its centre; the hinge is damped."""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial.transform import Rotation

import quirkpy as qp

SIDE = 0.1  # [m]
EDGE = np.array([0.5 * SIDE, -0.5 * SIDE, 0.0])  # a point of the shared edge

a = qp.Body.box("A", size=(SIDE, SIDE, SIDE), mass=1.0, fixed=True)
b = qp.Body.box("B", size=(SIDE, SIDE, SIDE), mass=1.0, position=(SIDE, 0, 0))
hinge = qp.Revolute("hinge", a, b, at=EDGE, axis=(0, 0, 1))
damping = qp.HingeSpring("damping", hinge, stiffness=0.0, damping=2e-4)  # [N m s/rad]


def pulled_to(x: float) -> qp.Multibody:
    """The two cubes, with the well at (x, 0, 0)."""
    return qp.Multibody(
        a, b, hinge, damping, qp.PotentialWell("pull", b, centre=(x, 0, 0), stiffness=0.05)
    )


def swung(system: qp.Multibody, angle: float) -> qp.State:
    """At rest, with B turned about the hinge."""
    turn = Rotation.from_rotvec([0.0, 0.0, angle])
    centre = EDGE + turn.apply(np.array(b.position) - EDGE)
    return system.initial.replace({"B": {"position": centre, "orientation": turn}})


def main() -> dict[str, float]:
    """Tell the story; return its numbers."""
    far = pulled_to(0.2)
    answers = {name: far.acceleration(evaluator=name) for name in ("recursive", "dense", "literal")}
    literal = answers["literal"]
    difference = float(max(abs(answer - literal).max() for answer in answers.values()))
    print("The well stands at (0.2, 0, 0), beyond the face; B lies shut against A.\n")
    print(far.explain())
    print(
        "\nB opens.  Its acceleration (x, y) in m/s2 and its angular acceleration about the hinge "
        "in rad/s2:"
    )
    for name, answer in answers.items():
        print(f"  {name:10} {answer[0, 0]:+.9f} {answer[0, 1]:+.9f}  {answer[0, 5]:+.9f}")
    print(
        f"All agree: the Udwadia-Phohomsiri equation and the others differ by {difference:.1e} at "
        "most."
    )

    near, away = pulled_to(SIDE), -math.pi
    x, y, _ = swung(near, away)["B"].position
    print(
        f"\nNow the well stands exactly at (0.1, 0, 0) and B, half a turn away, at ({x:.1f}, "
        f"{y:.1f}, 0)."
    )
    print("The pull goes straight through the hinge.  At rest there, and a little aside of it:")
    angular = {
        offset: float(near.acceleration(swung(near, away + offset))[0, 5])
        for offset in (0.0, 0.01, -0.01)
    }
    for offset, value in angular.items():
        print(f"  {offset:+.2f} rad: angular acceleration {value:+.2e} rad/s2")
    print("It leads away on both sides: the equilibrium is unstable, yet from rest nothing moves.")
    print(
        "Only one sense is free: in the other (-) the closed face of A is in the way.  Contact is "
        "not modelled here."
    )
    return {
        "freedoms": far.mobility().degrees_of_freedom,
        "opening": float(literal[0, 5]),
        "difference": difference,
        "balanced": angular[0.0],
        "ahead": angular[0.01],
        "back": angular[-0.01],
    }


if __name__ == "__main__":
    main()
