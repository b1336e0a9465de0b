"""What the tests of motion share: systems that move, and how far two states are apart."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

import quirkpy as qp
from quirkpy.parts.part import Part
from tests.random_systems import random_system
from tests.user_parts import Wave
from tests.workshop import World

#: The tolerances of reference motions.
TIGHT = {"rtol": 1e-12, "atol": 1e-13}


def in_python(part: Part) -> bool:
    """Whether a part is run by the interpreter."""
    return isinstance(part, Wave) or (
        isinstance(part, qp.Force) and part.elements()[0].kind == "callback"
    )


def compiled_system(
    family: str, seed: int, world: World | None = None, *, conservative: bool = False
) -> qp.Multibody:
    """A random system without the parts that are written in Python."""
    system = random_system(family, seed, world, driven=False, conservative=conservative)
    return system.without(*(part.name for part in system.parts if in_python(part)))


def apart(one: qp.State, two: qp.State) -> float:
    """The largest difference of two states, in any number."""
    rows = [np.hstack([state.r, state.q, state.v, state.omega]) for state in (one, two)]
    return float(abs(rows[0] - rows[1]).max())


def floating_chain() -> qp.Multibody:
    """Four bodies of different shapes, hinged, on balls and on a spring, that nothing else
    holds."""
    turn = qp.rotation((1, 2, 3), 0.7)
    hub = qp.Body(
        "hub", 2.0, (0.3, 0.4, 0.5), angular_velocity=(0.3, -0.2, 0.5), velocity=(0.1, 0.2, -0.1)
    )
    arm = qp.Body.box("arm", (1.0, 0.2, 0.1), 1.0, position=(0.8, 0, 0), orientation=turn)
    fin = qp.Body.box(
        "fin", (0.5, 0.5, 0.1), 0.5, position=(1.5, 0.2, 0), angular_velocity=(0.5, 1.0, -0.4)
    )
    tail = qp.Body.sphere("tail", 0.2, 0.7, position=(-0.7, 0.1, 0.3))
    hinge = qp.Revolute("hinge", hub, arm, at=(0.4, 0, 0), axis=(0, 1, 1))
    return qp.Multibody(
        hub, arm, fin, tail, hinge, qp.Spherical("ball", arm, fin, at=(1.2, 0.1, 0)),
        qp.HingeSpring("torsion", hinge, stiffness=0.8, rest_angle=0.4),
        qp.Spring("cord", hub, tail, stiffness=5.0), qp.Spring("stay", fin, hub, stiffness=1.0),
    )  # fmt: skip


def calls_of(make: Callable[[], object]) -> int:
    """How many functions of Python are called while something is made: an effort that no other
    work on the machine changes."""
    calls = 0

    def count(_: object, event: str, __: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        make()
    finally:
        sys.setprofile(None)
    return calls
