"""A sampled controller, in Python and compiled, against the run without it: a bus that floats with
wheels, and an arm that is slewed.

``python -m benchmarks controllers``.  Runs of one row take turns; times of the processor count.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import quirkpy as qp
from benchmarks.tables import Measured, Sheet
from benchmarks.timing import race

DURATION, PERIOD = 60.0, 0.1  # [s]
#: Panels that hang on sprung hinges at either side of the bus, beside the arm.
PANELS = (0, 4)
WAYS = ("no control", "its commands as schedules", "PD, compiled", "PD in Python at 10 Hz")


class Hold(qp.Controller):
    """A PD of attitude."""

    def command(self, t: float, measured: dict[str, Any], memory: dict[str, Any]) -> dict[str, Any]:
        q, omega = measured["bus.orientation"], measured["bus.angular_velocity"]
        off = 2.0 * np.sign(q.w) * np.array([q.x, q.y, q.z])
        return {"wheels.torque": -30.0 * off - 80.0 * omega}


class Fast(qp.Controller):
    """The same, compiled."""

    @staticmethod
    def command(t, measured, memory):  # type: ignore[no-untyped-def]
        k = 60.0 if measured[0] >= 0.0 else -60.0
        return (
            -k * measured[1] - 80.0 * measured[4],
            -k * measured[2] - 80.0 * measured[5],
            -k * measured[3] - 80.0 * measured[6],
        )


def craft(panels: int) -> tuple[list[qp.Part], Hold]:
    """A bus with wheels, an arm that a servo slews there and back, and panels."""
    bus = qp.Body.box("bus", (1.0, 1.0, 1.0), 100.0)
    arm = qp.Body.rod("arm", (0.5, 0, 0), (2.5, 0, 0), 8.0)
    shoulder = qp.Revolute("shoulder", bus, arm, at=(0.5, 0, 0), axis=(0, 0, 1))
    way = qp.Schedule((0.0, 20.0, 40.0, 60.0), (0.0, 1.5, 1.5, 0.0), "smooth")
    slew = qp.Servo("slew", shoulder, target=way, stiffness=40.0, damping=30.0)
    parts: list[qp.Part] = [bus, arm, shoulder, slew]
    for sense in (1.0, -1.0):
        inner = bus
        for k in range(panels):
            name, at = f"panel {sense:+.0f} {k}", sense * (0.5 + k)
            panel = qp.Body.box(name, (0.8, 1.0, 0.02), 2.0, position=(0, at + 0.5 * sense, 0.6))
            root = qp.Revolute(f"root of {name}", inner, panel, at=(0, at, 0.6), axis=(1, 0, 0))
            spring = qp.HingeSpring(f"spring of {name}", root, stiffness=20.0, damping=0.5)
            parts += [panel, root, spring]
            inner = panel
    wheels = qp.ReactionWheel("wheels", bus.site("wheels"), (0.0, 0.0, 0.0))
    reads = ("bus.orientation", "bus.angular_velocity")
    return [*parts, wheels], Hold("hold", period=PERIOD, reads=reads, drives=["wheels.torque"])


def measure(quick: bool) -> Measured:
    """Runs of a minute, with all states kept."""
    rows, figures = [], {}
    for panels in PANELS[:1] if quick else PANELS:
        parts, hold = craft(panels)
        free, held = qp.Multibody(*parts), qp.Multibody(*parts, hold)
        known = qp.Multibody(*held.simulate(DURATION).system.parts)
        some = {"period": PERIOD, "reads": hold.reads, "drives": hold.drives}
        fast = qp.Multibody(*parts, Fast("hold", compiled=True, **some))
        systems = dict(zip(WAYS, (free, known, fast, held), strict=True))
        works = {way: lambda made=made: made.simulate(DURATION) for way, made in systems.items()}
        costs = race(works)
        times = [costs[way].cpu for way in WAYS]
        each = 1e6 * (times[3] - times[1]) * PERIOD / DURATION
        name = f"bus, arm and {2 * panels} panels" if panels else "bus and arm"
        ratios = [times[k] / times[j] for k in (2, 3) for j in (0, 1)]
        rows.append([name, *(1e3 * t for t in times), *ratios, each])
        for way, against in zip(("compiled", "in Python"), (ratios[:2], ratios[2:]), strict=True):
            figures[f"{name}, {way}, against no control"] = against[0]
            figures[f"{name}, {way}, against schedules"] = against[1]
    heads = [
        "system", *(f"{way}, ms" for way in WAYS), "compiled / no control", "/ schedules",
        "in Python / no control", "/ schedules", "Python a sample, us",
    ]  # fmt: skip
    remarks = [
        f"Runs of {DURATION:g} s with all states kept; the same motion as schedules takes the same "
        "steps, one or more for each sample."
    ]
    return Measured([Sheet("Sampled controllers", heads, rows, remarks)], figures)
