"""A Stewart platform: six legs that grow and shrink lead a plate anywhere, turns included.

Each leg hangs on a universal joint, slides along itself and ends in a ball joint.  Drives lead the
lengths smoothly from one pose to another; where the plate is in between, no formula tells.

    quirkpy simulate demos/mechanisms/stewart_platform.py --report run.html
"""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial.transform import Rotation

import quirkpy as qp

BASE, TOP, HEIGHT = 1.0, 0.6, 1.0  # radii of the corners, height at the start [m]
PLATE, TUBE, ROD, G = 20.0, 1.5, 1.0, 9.81  # [kg]; [m/s2]
MIDDLE = 0.6  # length of tubes and rods [m]
#: Where the drives lead the plate: its centre [m], its turn [rad].
TARGET = np.array([0.15, -0.1, 1.2])
TURN = Rotation.from_rotvec([0.1, 0.2, 0.3])
SECONDS = 2.0


def corners(radius: float, apart: float) -> np.ndarray:
    """Three pairs around a circle, each so far apart [rad] (6, 3)."""
    angles = [k * 2.0 * math.pi / 3.0 + side * apart for k in range(3) for side in (-0.5, 0.5)]
    return radius * np.array([[math.cos(a), math.sin(a), 0.0] for a in angles])


FEET, HEADS = corners(BASE, 0.3), corners(TOP, 2.0 * math.pi / 3.0 - 0.3)


def lengths(centre: np.ndarray, turn: Rotation) -> np.ndarray:
    """How long the legs are where the plate is so (6,) [m]."""
    return np.asarray(np.linalg.norm(centre + turn.apply(HEADS) - FEET, axis=1))


def leg(k: int, plate: qp.Body, growth: float) -> list[qp.Part]:
    """Tube, rod, their joints and the drive that makes the leg longer by so much [m]."""
    foot, head = FEET[k], HEADS[k] + [0.0, 0.0, HEIGHT]
    along = (head - foot) / np.linalg.norm(head - foot)
    tube = qp.Body.rod(f"tube {k}", foot, foot + MIDDLE * along, TUBE, radius=0.03)
    rod = qp.Body.rod(f"rod {k}", head - MIDDLE * along, head, ROD, radius=0.02)
    slide = qp.Prismatic(f"slide {k}", tube, rod, at=head, axis=along)
    lead = qp.Schedule((0.0, SECONDS), (0.0, growth), "smooth")
    return [
        tube, rod, slide, qp.Universal(f"foot {k}", qp.GROUND, tube, at=foot, axis=along),
        qp.Spherical(f"head {k}", rod, plate, at=head),
        qp.Prescribed(f"drive {k}", slide, motion=lead),
    ]  # fmt: skip


def platform() -> qp.Multibody:
    """Level at the start, above the middle of its base."""
    plate = qp.Body.cylinder(
        "plate", radius=TOP, length=0.05, mass=PLATE, axis="z", position=(0.0, 0.0, HEIGHT)
    )
    start = lengths(np.array([0.0, 0.0, HEIGHT]), Rotation.identity())
    growth = lengths(TARGET, TURN) - start
    legs = [part for k in range(6) for part in leg(k, plate, float(growth[k]))]
    return qp.Multibody(plate, *legs, qp.Gravity((0.0, 0.0, -G)))


system = platform()


def main() -> dict[str, float]:
    """Lead it there; tell how far off it is, what the drives bear there, and what they gave."""
    run = system.simulate(SECONDS, rtol=1e-11, atol=1e-12, progress=False)
    plate = run.final["plate"]
    w = plate.orientation
    turn = Rotation.from_quat([w.x, w.y, w.z, w.w])
    off = float(abs(plate.position - TARGET).max())
    turned = float((turn * TURN.inv()).magnitude())
    print(f"{system.mobility().rows} rows; the plate is {off:.0e} m and {turned:.0e} rad off")
    return {
        "freedoms": system.mobility().degrees_of_freedom,
        "off": off,
        "turned": turned,
        "work": float(run.work[-1]),
        "risen": float(run.potential[-1] - run.potential[0]),
    }


if __name__ == "__main__":
    main()
