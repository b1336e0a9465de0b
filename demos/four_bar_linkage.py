"""Four-bars in a row, IFToMM benchmark A02: exact loops, redundant rows, and poses where all bars
lie flat.

Every window is a parallelogram of four hinges in space, three rows of which say nothing new; nobody
has to know which.  Swinging down, all bars come to lie flat, where each window could turn inside
out: the motion goes on along its own branch, and the run tells when that was.

    quirkpy simulate demos/four_bar_linkage.py --report run.html
"""

from __future__ import annotations

import math

import numpy as np

import quirkpy as qp

WINDOWS = 2
RATE = -1.0  # of the uprights at the start [rad/s]
G = 9.81  # [m/s2]
AXIS = (0.0, 0.0, 1.0)


def row(windows: int) -> qp.Multibody:
    """Uprights of 1 m and 1 kg, a metre apart, joined by bars of the same kind from head to
    head."""
    feet = [np.array([float(k), 0.0, 0.0]) for k in range(windows + 1)]
    up, swing = (
        np.array([0.0, 1.0, 0.0]),
        np.array([-RATE, 0.0, 0.0]),
    )  # velocity of the heads [m/s]
    uprights = [
        qp.Body.rod(
            f"upright {k}",
            foot,
            foot + up,
            1.0,
            velocity=0.5 * swing,
            angular_velocity=(0.0, 0.0, RATE),
        )
        for k, foot in enumerate(feet)
    ]
    parts: list[qp.Part] = [qp.Gravity((0.0, -G, 0.0)), *uprights]
    parts += [
        qp.Revolute(f"foot {k}", qp.GROUND, uprights[k], at=foot, axis=AXIS)
        for k, foot in enumerate(feet)
    ]
    for k in range(windows):
        left, right = feet[k] + up, feet[k + 1] + up
        bar = qp.Body.rod(f"bar {k}", left, right, 1.0, velocity=swing)
        parts += [
            bar,
            qp.Revolute(f"left {k}", uprights[k], bar, at=left, axis=AXIS),
            qp.Revolute(f"right {k}", uprights[k + 1], bar, at=right, axis=AXIS),
        ]
    return qp.Multibody(*parts)


system = row(WINDOWS)


def main() -> dict[str, float]:
    """Swing for ten seconds; tell where all bars lay flat, and what became of loops and energy."""
    mobility = system.mobility()
    print(f"{mobility.rows} rows, {mobility.rows - mobility.rank} of them redundant: ", end="")
    print(f"{mobility.degrees_of_freedom} degree of freedom")
    down = qp.When("hanging", lambda state: state["foot 0"].angle + math.pi, terminal=False)
    run = system.simulate(10.0, stop=[down], rtol=1e-10, atol=1e-12)
    flat = [event for event in run.events if event.name == "singular pose"]
    print(f"all bars lie flat at t = {', '.join(f'{event.t:.4f}' for event in flat)} s")
    gaps = system.residual(run.final).position
    told = {
        "redundant": mobility.rows - mobility.rank,
        "flat poses": len(flat),
        "first flat": flat[0].t,
        "first hanging": next(event.t for event in run.events if event.name == "hanging"),
        "open loops": float(abs(gaps).max()),
        "energy": float(np.ptp(run.energy)),
    }
    print(
        f"open loops at the end: {told['open loops']:.1e} m; energy changed by "
        f"{told['energy']:.1e} J"
    )
    return told


if __name__ == "__main__":
    main()
