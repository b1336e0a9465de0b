"""Two hinged cubes in motion, study IV.A of Shoer and Peck: from face to face and back, by
switching a well.

Cube A stands still at the origin.  Cube B hangs on the vertical edge that both share and lies shut
against the east face of A.  A well beyond the south face pulls B's centre; the hinge is damped.
When B has swung half a turn it lies shut against the south face; there it is held, and a well
beyond the east face pulls it back."""

from __future__ import annotations

import math

import numpy as np

import quirkpy as qp

SIDE = 0.1  # [m]
EDGE = np.array([0.5 * SIDE, -0.5 * SIDE, 0.0])  # a point of the shared edge

a = qp.Body.box("A", size=(SIDE, SIDE, SIDE), mass=1.0, fixed=True)
b = qp.Body.box("B", size=(SIDE, SIDE, SIDE), mass=1.0, position=(SIDE, 0, 0))
hinge = qp.Revolute("hinge", a, b, at=EDGE, axis=(0, 0, 1))
damping = qp.HingeSpring("damping", hinge, stiffness=0.0, damping=2e-4)  # [N m s/rad]


def pulled_to(*centre: float) -> qp.Multibody:
    """The two cubes, with the well at a point."""
    return qp.Multibody(
        a, b, hinge, damping, qp.PotentialWell("pull", b, centre=centre, stiffness=0.05)
    )


def swing(system: qp.Multibody, name: str, angle: float) -> qp.Trajectory:
    """Until the hinge has reached an angle; half way is noted in passing."""
    half = qp.When("half way", lambda state: state["hinge"].angle + 0.5 * math.pi, terminal=False)
    shut = qp.When(name, lambda state: state["hinge"].angle - angle)
    return system.simulate(60.0, stop=[shut, half])


def held(state: qp.State) -> qp.State:
    """The same pose, at rest: what a lock leaves of a state in which the faces lie together."""
    return state.replace({"B": {"velocity": (0, 0, 0), "angular_velocity": (0, 0, 0)}})


def tell(run: qp.Trajectory) -> None:
    """Events, and the ledger of energy at a few times."""
    for event in run.events:
        print(f"  {event.t:9.6f} s  {event.name}")
    print("\n        t    angle     kinetic   potential  dissipated         sum   [s, degrees, mJ]")
    angle, ledger = np.degrees(run["hinge"].angle), (run.kinetic, run.potential, run.dissipated)
    for k in np.linspace(0, len(run.t) - 1, 6).astype(int):
        parts = [1e3 * float(column[k]) for column in ledger]
        print(
            f"  {run.t[k]:7.3f}  {angle[k]:7.2f}  "
            + "  ".join(f"{mJ:10.6f}" for mJ in (*parts, sum(parts)))
        )
    print(
        f"\n  {run.stop}, after {run.counts.steps} steps and {run.counts.evaluations} "
        "evaluations.\n"
    )


def main() -> dict[str, float]:
    """Tell the story; return its numbers."""
    print(
        "B lies shut against the east face of A.  The well goes on at (0, -0.2, 0), beyond the "
        "south face."
    )
    there = swing(pulled_to(0.0, -2.0 * SIDE, 0.0), "shut on the south face", -math.pi)
    tell(there)
    final = there.final["hinge"]
    print(
        f"B arrives at {final.rate:+.4f} rad/s.  A lock takes the remaining "
        f"{1e3 * there.kinetic[-1]:.3f} mJ."
    )

    print("\nHeld at the south face, with the well moved to (0.2, 0, 0), beyond the east face:")
    back = swing(
        pulled_to(2.0 * SIDE, 0.0, 0.0).at(held(there.final)), "shut on the east face", 0.0
    )
    tell(back)
    took = float(back.t[-1] - back.t[0])
    print(
        f"The way back is the mirror image of the way there: {took:.6f} s and {there.t[-1]:.6f} s."
    )
    ledger = there.energy + there.dissipated
    return {
        "arrival": float(there.t[-1]),
        "rate": float(final.rate),
        "energy": float(there.energy[-1]),
        "back": took,
        "ledger": float(abs(ledger - ledger[0]).max()),
        "half": float(there.events[0].t),
    }


if __name__ == "__main__":
    main()
