"""A joint of your own: a bar hung on a rail without friction, which falls from level.

The class is a few lines: what it forbids, and what it leaves free.  It moves the bar here and in
another process, and goes through JSON.  Nothing pushes along the rail, so the middle of the bar
falls straight down; where the bar hangs, all its energy is that of turning: I w^2 / 2 = m g L / 2.
"""

from __future__ import annotations

import math
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

import quirkpy as qp

LENGTH, WIDTH, MASS, G = 1.0, 0.1, 2.0, 9.81  # [m], [m], [kg], [m/s2]


class Trolley(qp.Joint):
    """A hinge about z that slides along x of site 1."""

    freedoms = (qp.Freedom("slide", "x"), qp.Freedom("turn", "z"))

    def primitives(self) -> tuple[qp.Primitive, ...]:
        return qp.OriginOnLine("x"), qp.ParallelAxes("z")


def hung() -> qp.Multibody:
    """The bar, level and at rest, its left end on the rail."""
    bar = qp.Body.box("bar", size=(LENGTH, WIDTH, WIDTH), mass=MASS, position=(0.5 * LENGTH, 0, 0))
    rail = qp.GROUND.site("rail", z=(0, 0, 1), x=(1, 0, 0))
    end = bar.site("end", at=(-0.5 * LENGTH, 0, 0), z=(0, 0, 1), x=(1, 0, 0))
    return qp.Multibody(bar, Trolley("trolley", rail, end), qp.Gravity((0, -G, 0)))


def fallen(system: qp.Multibody) -> qp.Trajectory:
    """Until the bar hangs."""
    hanging = qp.When("hanging", lambda state: state["trolley"].angle + 0.5 * math.pi)
    return system.simulate(10.0, rtol=1e-11, atol=1e-13, stop=[hanging])


def rate_from(text: str, module: str) -> float:
    """How fast the bar turns then, from JSON, whose classes stand in a module: what a worker
    process is asked."""
    return float(fallen(qp.from_json(text, modules=[module])).final["bar"].angular_velocity[2])


def main() -> dict[str, float]:
    """Tell the story; return its numbers."""
    exact = -math.sqrt(12.0 * G * LENGTH / (LENGTH**2 + WIDTH**2))
    system = hung()
    print(f"The trolley leaves {system.mobility().degrees_of_freedom} freedoms.")
    run, text = fallen(system), qp.to_json(system)
    assert qp.from_json(text, modules=[__name__]) == system
    bar = run.final["bar"]
    aside, drift = abs(float(bar.position[0]) - 0.5 * LENGTH), float(np.ptp(run.energy))
    print(f"Closed form: where it hangs, the bar turns with {exact:.9f} rad/s.")
    print(
        f"  here        {bar.angular_velocity[2]:.9f} rad/s, after {run.t[-1]:.6f} s and "
        f"{run.counts.steps} steps"
    )
    print(f"  its middle has moved {aside:.1e} m aside, its energy has changed by {drift:.1e} J;")
    print(f"  the trolley has rolled {run.final['trolley'].travel:.6f} m.")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        there = pool.submit(rate_from, text, __name__).result()
    print(f"  elsewhere   {there:.9f} rad/s, from JSON in a process of its own")
    return {
        "exact": exact,
        "here": float(bar.angular_velocity[2]),
        "there": there,
        "aside": aside,
        "drift": drift,
        "rolled": float(run.final["trolley"].travel),
    }


if __name__ == "__main__":
    main()
