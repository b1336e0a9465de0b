"""CubeSats that never touch: flux pins hold them 30 mm apart, electromagnets turn them, and cold
decides about what.

Over each superconductor stands a neodymium magnet of 5.7 A m2.  With its disc cold the pin is a
hinge: nothing resists spinning about the axis of the magnet.  With the ring around the disc cold as
well, four more magnets are pinned, and the modules are one.  A selection warms the ring of one pin,
and so lets one hinge go; what is cold is frozen anew where it stands.  Then a pulse goes through
the coils on both sides of a pin: they turn until they point opposite ways, to 0 or 90 degrees.  So
a chain of n modules has 2^(n - 1) layouts, and any leads to any other by one pulse for each pin
that differs.

Magnets of different pins do not feel each other here: on the spacecraft each would have an opposed
one beside it, so that its field does not reach far.  Damping is a guess, 5 % of critical, for no
measurement for small spacecraft is public.

    python demos/flux_pinned_layouts.py          two and three modules
    python demos/flux_pinned_layouts.py --four   and four, which takes minutes
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

import quirkpy as qp

SIDE, GAP = 0.1, 0.03  # [m]
MASS = 1.0  # [kg]
MAGNET, RING = 5.7, 0.03  # [A m2], a cylinder of 19 mm; [m]
COIL = 2.0  # [A m2]
SPIN = 3e-3  # [N m s/rad]
ON, OFF = 600.0, 660.0  # a pulse ends between these times [s]
UP = (0.0, 0.0, 1.0)

#: Out of which face of the module before each pin points, and a direction across it.
CHAIN = (
    ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
)


class OneAxle(qp.Choosing):
    """One pin may spin, all others hold."""

    def allows(self, chosen: Any, bodies: Any) -> bool:
        return sum(one.label == "pin" for one in chosen) == 1


def modules(count: int) -> list[qp.Body]:
    """Cubes in their first layout, the first one fixed."""
    out = [qp.Body.box("hub", (SIDE,) * 3, MASS, fixed=True)]
    for k, (axis, _) in enumerate(CHAIN[: count - 1], 1):
        centre = np.array(out[-1].position) + (SIDE + GAP) * np.array(axis)
        out.append(qp.Body.box(f"module {k}", (SIDE,) * 3, MASS, position=tuple(centre)))
    return out


def pulse(angle: float) -> qp.Schedule:
    """The moment of a coil, across its site in a direction [rad], until the pulse ends."""
    moment = (COIL * math.cos(angle), COIL * math.sin(angle), 0.0)
    return qp.Schedule((0.0, ON, OFF), (moment, moment, (0.0, 0.0, 0.0)), "linear")


def layouts(count: int) -> qp.Study:
    """The study of a chain of modules."""
    bodies = modules(count)
    sensors: list[qp.Sensor] = []
    potentials: dict[str, list[qp.Force]] = {"none": []}
    options: dict[tuple[str, str], list[qp.Option]] = {}
    for k, (axis, across) in enumerate(CHAIN[: count - 1], 1):
        before, after, out = bodies[k - 1], bodies[k], np.array(axis)
        face = before.site(f"cold {k}", at=tuple(0.5 * SIDE * out), z=axis, x=across)
        back = after.site(f"magnets {k}", at=tuple(-0.5 * SIDE * out), z=tuple(-out), x=across)
        for site, kind, other in (
            (face, f"cold {k}", f"magnets {k}"),
            (back, f"magnets {k}", f"cold {k}"),
        ):
            sensors.append(
                qp.Sensor(kind, site, kind=kind, accepts=(other,), reach=1.5 * GAP, alignment=0.8)
            )
        options[f"cold {k}", f"magnets {k}"] = [
            qp.Pin(MAGNET, ring=RING, spin=SPIN),
            qp.Pin(MAGNET, spin=SPIN),
        ]
        base = before.site(f"base coil {k}", z=axis, x=across)
        tip = after.site(f"tip coil {k}", z=axis, x=across)
        for name, angle in (
            ("0", 0.0),
            ("90", 0.5 * math.pi),
        ):  # side by side, two coils come to point opposite ways
            coils = (
                qp.Electromagnet("base", base, pulse(angle + math.pi)),
                qp.Electromagnet("tip", tip, pulse(0.0)),
            )
            potentials[f"pin {k} to {name}"] = [qp.Dipoles(coils, name="coils")]
    return qp.Study(
        qp.Multibody(*bodies),
        sensors=sensors,
        options=options,
        choosing=[OneAxle()],
        potentials=potentials,
        safety=[qp.StayTogether(), qp.NoCollision(margin=0.01)],
        same=qp.SameShape(tolerance=0.1),
        settle=qp.SettleRule(
            rest=1e-2, rtol=1e-6, atol=1e-9
        ),  # what rests is polished all the same
    )


study = layouts(3)


def main(most: int = 3) -> dict[str, float]:
    """Explore chains of up to so many modules; return what was found."""
    found: dict[str, float] = {}
    for count in range(2, most + 1):
        graph = layouts(count).explore()
        print(graph.report())
        ways = [graph.plan("n0", key, cost="switches").switches for key in graph.nodes]
        found |= {
            f"nodes, {count} modules": len(graph.nodes),
            f"moves, {count} modules": len(list(graph.moves())),
            f"longest way, {count} modules": max(ways),
        }  # fmt: skip
        if count == 2:
            w, x = graph.nodes["n1"].state.q[0, :2]
            cold = graph.study.universe(graph.nodes["n0"])["cold 1 | magnets 1: pin"]
            assert isinstance(cold, qp.FluxPinning)
            found["given up by coils"] = next(graph.moves()).dissipated
            found["turned"] = abs(2.0 * math.atan2(x, w))
            found["stiffness"] = cold.linearized("spring").stiffness[0][0]
    return found


if __name__ == "__main__":
    main(4 if "--four" in sys.argv else 3)
