"""Sarrus' linkage: two folded legs at right angles lead a plate along an exact straight line, with
hinges alone.

    quirkpy simulate demos/mechanisms/sarrus.py --report run.html
"""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial.transform import Rotation

import quirkpy as qp

SIDE, THICKNESS = 1.0, 0.02  # of panels and plates, which are square [m]
PANEL, PLATE, G = 1.0, 3.0, 9.81  # [kg], [m/s2]
LEAN = math.radians(70.0)  # of the panels at the start, above level [rad]
SECONDS = 0.5
UP = np.array([0.0, 0.0, 1.0])


def leg(name: str, out: np.ndarray, plate: qp.Body) -> list[qp.Part]:
    """Two panels and three hinges beyond the edges of base and plate, the knee outwards."""
    along = np.cross(UP, out)  # of the hinges
    foot = 0.5 * SIDE * out
    knee = foot + SIDE * (math.cos(LEAN) * out + math.sin(LEAN) * UP)
    head = foot + 2.0 * SIDE * math.sin(LEAN) * UP
    panels = []
    for label, low, high in (("lower", foot, knee), ("upper", knee, head)):
        x = (high - low) / SIDE
        axes = np.stack([x, along, np.cross(x, along)], axis=1)
        panels.append(
            qp.Body.box(
                f"{label} {name}", (SIDE, SIDE, THICKNESS), PANEL, position=0.5 * (low + high),
                orientation=Rotation.from_matrix(axes),
            )
        )  # fmt: skip
    lower, upper = panels
    return [
        lower, upper,
        qp.Revolute(f"foot {name}", qp.GROUND, lower, at=foot, axis=along),
        qp.Revolute(f"knee {name}", lower, upper, at=knee, axis=along),
        qp.Revolute(f"head {name}", upper, plate, at=head, axis=along),
    ]  # fmt: skip


def lift() -> qp.Multibody:
    """The plate above the ground, on two legs."""
    height = 2.0 * SIDE * math.sin(LEAN)
    plate = qp.Body.box("plate", (SIDE, SIDE, THICKNESS), PLATE, position=height * UP)
    legs = leg("x", np.array([1.0, 0.0, 0.0]), plate) + leg("y", np.array([0.0, 1.0, 0.0]), plate)
    return qp.Multibody(plate, *legs, qp.Gravity(-G * UP))


system = lift()


def main() -> dict[str, float]:
    """Let the plate sink; tell how far, and how far it strays from its line."""
    run = system.simulate(SECONDS, rtol=1e-12, atol=1e-13, progress=False)
    place = run["plate"].position
    mobility = system.mobility()
    print(f"the plate sinks to {place[-1, 2]:.6f} m, {abs(place[:, :2]).max():.0e} m off its line")
    return {
        "freedoms": mobility.degrees_of_freedom,
        "redundant": mobility.rows - mobility.rank,
        "height": float(place[-1, 2]),
        "aside": float(abs(place[:, :2]).max()),
    }


if __name__ == "__main__":
    main()
