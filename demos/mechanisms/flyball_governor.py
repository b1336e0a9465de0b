"""Watt's flyball governor, IFToMM benchmark A05: a stiff mechanism.

Two rods hang from the top of a turning shaft, 30 degrees below level, with 5 kg at each end; stiff
struts (springs of 8e5 N/m, dampers of 4e4 N s/m) lead from their middles to a slider on the shaft.
As the flyballs spread and fall, the slider rides up and down.  Struts meet it at its centre.

    quirkpy simulate demos/mechanisms/flyball_governor.py --report run.html
"""

from __future__ import annotations

import math

import numpy as np

import quirkpy as qp

LENGTH, WIDTH, BLOCK, DENSITY = 1.0, 0.01, 0.1, 3000.0  # shaft and rods, slider [m]; [kg/m3]
BALL, STIFFNESS, DAMPING, STRUT = 5.0, 8e5, 4e4, 0.5  # [kg], [N/m], [N s/m], [m]
SPIN, SLOPE, G = 2.0 * math.pi, math.radians(30.0), 9.81  # [rad/s], [rad], [m/s2]
ROD = DENSITY * LENGTH * WIDTH**2  # also the shaft's [kg]
SECONDS = 10.0  # of the benchmark


def arm(name: str, side: float) -> qp.Body:
    """A rod with its ball as one body, below the top of the shaft at either side."""
    along = np.array([side * math.cos(SLOPE), -math.sin(SLOPE), 0.0])
    mass = ROD + BALL
    reach = LENGTH * (0.5 * ROD + BALL) / mass  # of the mass centre
    about = ROD * (LENGTH**2 / 12.0 + (reach - 0.5 * LENGTH) ** 2) + BALL * (LENGTH - reach) ** 2
    centre = np.array([0.0, LENGTH, 0.0]) + reach * along
    return qp.Body(
        name, mass=mass, inertia=(ROD * WIDTH**2 / 6.0, about, about), position=centre,
        orientation=qp.rotation((0, 0, 1), math.atan2(along[1], along[0])),
        velocity=np.cross([0.0, SPIN, 0.0], centre),
        angular_velocity=(SPIN * along[1], SPIN * side * math.cos(SLOPE), 0.0),
        shape=qp.Box((LENGTH, 0.05, 0.05)),
    )  # fmt: skip


def governor() -> qp.Multibody:
    """Shaft, slider and two arms, all turning as one."""
    top, turning = (0.0, LENGTH, 0.0), {"angular_velocity": (0.0, SPIN, 0.0)}
    shaft = qp.Body.box(
        "shaft", (WIDTH, LENGTH, WIDTH), ROD, position=(0.0, 0.5 * LENGTH, 0.0), **turning
    )
    slider = qp.Body.box(
        "slider", (BLOCK,) * 3, DENSITY * BLOCK**3, position=(0.0, 0.5 * LENGTH, 0.0), **turning
    )
    parts: list[qp.Part] = [
        shaft, slider, qp.Gravity((0.0, -G, 0.0)),
        qp.Revolute("bearing", qp.GROUND, shaft, at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)),
        qp.Prismatic("slide", shaft, slider, at=slider.position, axis=(0.0, 1.0, 0.0)),
    ]  # fmt: skip
    for name, side in (("right", 1.0), ("left", -1.0)):
        body = arm(name, side)
        middle = np.array(top) + 0.5 * LENGTH * np.array(
            [side * math.cos(SLOPE), -math.sin(SLOPE), 0.0]
        )
        parts += [
            body,
            qp.Revolute(f"hinge {name}", shaft, body, at=top, axis=(0.0, 0.0, 1.0)),
            qp.Spring(f"strut {name}", body, slider, at1=middle, at2=slider.position,
                      stiffness=STIFFNESS, rest_length=STRUT, damping=DAMPING),
        ]  # fmt: skip
    return qp.Multibody(*parts)


system = governor()


def main(seconds: float = 2.0) -> dict[str, float]:
    """Run it; tell how far up the shaft the slider is, and that nothing but the struts takes
    energy."""
    run = system.simulate(seconds, rtol=1e-9, atol=1e-11, progress=False)
    heights = run["slider"].position[:, 1]
    ledger = run.energy + run.dissipated
    print(f"the slider rides between {heights.min():.4f} m and {heights.max():.4f} m")
    return {
        "lowest": float(heights.min()),
        "highest": float(heights.max()),
        "height": float(heights[-1]),
        "momentum": float(np.ptp(run.angular_momentum[:, 1])),
        "ledger": float(np.ptp(ledger)),
    }


if __name__ == "__main__":
    main()
