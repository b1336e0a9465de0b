"""Why does it rest there?  Two hinged cubes, study IV.A of Shoer and Peck, settled and certified.

Cube B hangs on the vertical edge that it shares with A, which stands still; a well pulls its
centre, the hinge is damped.  With the well beyond the face it comes to rest where the pull goes
through the hinge; with a stop on the way it rests there, pressed on; and half a turn away from a
well at the face it rests without moving, on a summit that it leaves for one side only, for a face
is in the way of the other."""

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
latch = qp.JointStop("latch", hinge, lower=-0.3, upper=0.0)  # [rad]
faces = qp.JointStop("faces", hinge, lower=-math.pi, upper=0.0)


def pulled_to(x: float, *more: qp.Part) -> qp.Multibody:
    """The two cubes, with the well at (x, 0, 0)."""
    return qp.Multibody(
        a, b, hinge, damping, qp.PotentialWell("pull", b, centre=(x, 0, 0), stiffness=0.05), *more
    )


def swung(system: qp.Multibody, angle: float) -> qp.State:
    """At rest, with B turned about the hinge."""
    turn = Rotation.from_rotvec([0.0, 0.0, angle])
    centre = EDGE + turn.apply(np.array(b.position) - EDGE)
    return system.initial.replace({"B": {"position": centre, "orientation": turn}})


def tell(title: str, found: qp.Equilibrium) -> None:
    """Verdict, motions, and the table of forces."""
    print(
        f"{title}\n\n{found.explain()}\n\nhinge: {math.degrees(found.state['hinge'].angle):.6f} "
        "degrees\n"
    )


def main() -> dict[str, float]:
    """Tell the story; return its numbers."""
    free = pulled_to(2.0 * SIDE).settle()
    tell(
        "The well stands at (0.2, 0, 0), beyond the face.  B opens, swings and comes to rest:", free
    )
    print("Pull and hinge cancel: the line from the well to B's centre goes through the hinge.\n")

    caught = pulled_to(2.0 * SIDE, latch).settle()
    tell("The same with a stop at -0.3 rad on the way:", caught)
    pressed = caught.reactions["latch"].press or 0.0
    print(
        f"The stop {caught.state.held[0]!r} is pressed on with {1e3 * pressed:.4f} mN m and keeps "
        "B where it is.\n"
    )

    near = pulled_to(SIDE, faces)
    far = swung(near, -math.pi)
    summit = near.settle(far, nudge=0.0)
    tell(
        "Now the well stands at (0.1, 0, 0), and B lies shut half a turn away.  Nothing moves it, "
        "and yet:",
        summit,
    )
    blocked = near.settle(far, nudge=-1e-6)
    tell(
        "So the start is left by a nudge, whose sense a seed decides.  This one pushes B into the "
        "closed face:",
        blocked,
    )
    left = near.settle(far)
    tell(
        "The other sense is free, and B falls shut on the other face, where nothing presses:", left
    )

    reaction, pull = free.reactions["hinge"].force, free.forces["B"][0].force
    return {
        "angle": float(free.state["hinge"].angle),
        "frequency": free.modes[0].frequency,
        "damping": free.modes[0].damping,
        "pull": float(np.linalg.norm(pull)),
        "unbalanced": float(abs(reaction + pull).max()),
        "pressed": pressed,
        "at the stop": float(caught.state["hinge"].angle),
        "growth": summit.unstable[0].eigenvalue.real,
        "stayed": float(summit.state["hinge"].angle),
        "blocked": float(blocked.nudge is not None and blocked.nudge.blocked),
        "left for": float(left.state["hinge"].angle),
        "verdicts": float(
            [free.verdict, caught.verdict, summit.verdict] == ["stable", "stable", "unstable"]
        ),
    }


if __name__ == "__main__":
    main()
