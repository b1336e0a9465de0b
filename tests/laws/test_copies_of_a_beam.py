"""One slew of a hub with a boom, asked in other units, and with the boom written from its end."""

from __future__ import annotations

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.maths.types import Floats


def slew(mass: float = 1.0, length: float = 1.0, reverse: bool = False) -> Floats:
    """The displacement of the tip in N, in units of length, and the hub's angular velocity after a
    slew, when all masses and lengths are multiplied by numbers and times are the same (6,)."""
    hub = qp.Body.box("hub", size=(0.4 * length,) * 3, mass=20.0 * mass)
    ends = (0.2 * length, 0.0, 0.0), (8.2 * length, 0.0, 0.0)
    start, end = ends[::-1] if reverse else ends
    stiff = mass * length**3
    boom = qp.Beam(
        "boom", start=start, end=end, EA=5e6 * mass * length, EI=(567.0 * stiff, 300.0 * stiff),
        GJ=440.0 * stiff, mass_per_length=0.2 * mass / length, y=(0, 1, 0),
        clamped="end" if reverse else "start",
    )  # fmt: skip
    face = hub.site("root", at=(0.2 * length, 0, 0))
    root = qp.Fixed("root", face, boom.at(1.0 if reverse else 0.0), here=True)
    turn = qp.Load("slew", hub, torque=(0.0, 1.5 * mass * length**2, 2.0 * mass * length**2))
    system = qp.Multibody(hub, boom, root, turn)
    final = system.simulate(5.0, rtol=1e-10, atol=1e-13, progress=False).final
    tip = final["boom"].deflection(0.0 if reverse else 1.0) / length
    turned = qp.quat.matrix(final["boom"].orientation) @ tip
    return np.concatenate([turned, final["hub"].angular_velocity])


@pytest.mark.parametrize(
    ("mass", "length", "reverse"),
    [(1e6, 1.0, False), (1e-6, 1.0, False), (1.0, 1e2, False), (1.0, 1e-2, False), (1, 1, True)],
)
def test_one_slew_has_one_answer(mass: float, length: float, reverse: bool) -> None:
    wanted = slew()
    assert abs(wanted[:3]).max() > 0.1
    assert abs(slew(mass, length, reverse) - wanted).max() < 1e-9
