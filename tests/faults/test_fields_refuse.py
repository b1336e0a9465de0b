"""Fields, magnets and actuators that cannot be, and the sentence that each of them gets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from tests.faults.sentence import case, check_refused

BASE = qp.Body.box("base", (0.1,) * 3, 1.0)
TOP = qp.Body.box("top", (0.1,) * 3, 1.0, position=(0.0, 0.0, 0.2))
FACE, BELOW = BASE.site("face", at=(0, 0, 0.05)), TOP.site("below", at=(0, 0, -0.05))
COLD, MAGNET = qp.Superconductor("cold", FACE), qp.Magnet("magnet", BELOW, 2.0)
LOW = qp.Magnet("low", TOP.site("deep", at=(0.0, 0.0, -0.3)), 2.0)
STEPS = qp.Schedule((0.0, 1.0), ((0, 0, 0), (0, 0, 1)))
ROUND = qp.Orbit.circular(1.0, 2.0)
NOWHERE, WALL = qp.Superconductor("cold", qp.GROUND.site("f")), qp.Body("wall", fixed=True)
SKEW = np.eye(6) + np.eye(6, k=1)


def bushing(**changes: Any) -> qp.Bushing:
    return qp.Bushing(
        **{"name": "pad", "first": BASE, "second": TOP, "at": (0, 0, 0.1), "stiffness": (1.0,) * 6}
        | changes
    )


def pinning(*magnets: qp.Magnet, **rest: Any) -> qp.FluxPinning:
    return qp.FluxPinning(COLD, magnets or MAGNET, **rest)


REFUSED = [
    case(lambda: qp.Orbit(0, (1, 0, 0), (0, 1, 0)), "Orbit", "mu is 0.0", "positive", id="mu zero"),
    case(
        lambda: qp.Orbit(1, (0, 0, 0), (0, 1, 0)),
        "Orbit",
        "(0, 0, 0)",
        "away from it",
        id="at the centre",
    ),
    case(
        lambda: qp.Orbit(1, (1, 0, 0), (2, 0, 0)),
        "Orbit",
        "along position",
        "ellipse",
        id="falling straight",
    ),
    case(
        lambda: qp.Orbit(1, (1, 0, 0), (0, 1.5, 0)),
        "Orbit",
        "1.5 m/s",
        "escape",
        "ellipses",
        id="escaping",
    ),
    case(
        lambda: qp.Orbit.circular(1, -2.0),
        "Orbit.circular",
        "-2.0",
        "positive",
        id="radius negative",
    ),
    case(
        lambda: qp.PointGravity(-1.0),
        "'point gravity'",
        "mu is -1.0",
        "positive",
        id="planet negative",
    ),
    case(
        lambda: qp.GravityGradient(7e6),
        "'gravity gradient'",
        "orbit is 7000000.0",
        "Orbit",
        id="orbit a number",
    ),
    case(lambda: qp.HillFrame(0.0), "'hill frame'", "rate is 0.0", "positive", id="rate zero"),
    case(
        lambda: qp.Charge("a", BASE, 1.0),
        "'a'",
        "site is Body",
        "must be a Site",
        id="charge on a body",
    ),
    case(
        lambda: qp.Charge("a", FACE, qp.Schedule((0.0,), ((1.0, 0.0, 0.0),))),
        "'a'",
        "charge is a schedule of vectors",
        "one number",
        id="charge a vector",
    ),
    case(
        lambda: qp.Charge("a", FACE, "much"),
        "'a'",
        "charge is 'much'",
        "one number",
        id="charge a word",
    ),
    case(lambda: qp.Coulomb([]), "'coulomb'", "charges is []", "list of some", id="no charges"),
    case(
        lambda: qp.Coulomb([MAGNET]),
        "'coulomb'",
        "charges is Magnet",
        "must be a Charge",
        id="charge a magnet",
    ),
    case(
        lambda: qp.Coulomb([qp.Charge("a", FACE, 1.0)] * 2),
        "'coulomb'",
        "two",
        "'a'",
        "rename",
        id="charges alike",
    ),
    case(
        lambda: qp.Coulomb(qp.Charge("a", FACE, 1.0), debye_length=0),
        "'coulomb'",
        "debye_length is 0.0",
        id="debye zero",
    ),
    case(
        lambda: qp.Magnet("m", FACE, "strong"),
        "'m'",
        "moment is 'strong'",
        "one number",
        id="moment a word",
    ),
    case(
        lambda: qp.Magnet("m", FACE, 1.0, radius=0),
        "'m'",
        "radius is 0.0",
        "positive",
        id="magnet without size",
    ),
    case(
        lambda: qp.Electromagnet("m", FACE, (1, 2)),
        "'m'",
        "moment has shape (2,)",
        "(3,)",
        id="moment short",
    ),
    case(
        lambda: qp.Electromagnet("m", FACE, 1.0, holding_power=-1),
        "'m'",
        "holding_power is -1.0",
        "negative",
        id="holding power",
    ),
    case(lambda: qp.Dipoles("magnet"), "'dipoles'", "magnets is 'magnet'", id="magnets a word"),
    case(
        lambda: qp.PlanetField(MAGNET, (0, 0, 1), centre=(0, 0, 0), orbit=ROUND),
        "'planet field'",
        "centre is (0.0",
        "one of them",
        id="planet in two places",
    ),
    case(
        lambda: pinning(LOW),
        "'flux pinning'",
        "'low'",
        "0.15 m behind",
        "'cold'",
        "warm=",
        id="magnet behind",
    ),
    case(
        lambda: pinning(warm=["tin"]),
        "'flux pinning'",
        "warm names 'tin'",
        "cold",
        id="warm unknown",
    ),
    case(
        lambda: pinning(warm="cold"),
        "'flux pinning'",
        "warm names 'cold'",
        "tuple",
        id="warm a word",
    ),
    case(
        lambda: pinning(frozen=((1.0, 2.0),)),
        "'flux pinning'",
        "shape (1, 2)",
        "six numbers",
        id="frozen short",
    ),
    case(
        lambda: pinning().freezing(None, "tin"),
        "'flux pinning'",
        "freezing names 'tin'",
        "cold",
        id="freezing whom",
    ),
    case(
        lambda: pinning().warming("tin"),
        "'flux pinning'",
        "warming names 'tin'",
        "cold",
        id="warming whom",
    ),
    case(
        lambda: pinning(MAGNET, qp.Magnet("own", BASE.site("s"), 1.0)).linearized("s"),
        "'flux pinning'",
        "base and",
        "all magnets on another",
        id="linear between three",
    ),
    case(
        lambda: qp.FluxPinning(NOWHERE, qp.Magnet("m", WALL.site("s", (0, 0, 1)), 1)).linearized(
            "s"
        ),
        "'flux pinning'",
        "both its bodies are fixed",
        id="linear between fixed ones",
    ),
    case(
        lambda: bushing(at=None),
        "'pad'",
        "at is None",
        "'base' a Body",
        "two bodies",
        id="bushing nowhere",
    ),
    case(lambda: bushing(first=FACE), "'pad'", "'face' a Site", "no at", id="bushing at a site"),
    case(
        lambda: bushing(stiffness=(1.0,) * 5),
        "'pad'",
        "stiffness has shape (5,)",
        "(6, 6)",
        id="stiffness short",
    ),
    case(
        lambda: bushing(stiffness=SKEW),
        "'pad'",
        "stiffness is not symmetric",
        "transpose",
        id="stiffness skew",
    ),
    case(
        lambda: bushing(damping=(1, 1, 1, 1, 1, -1)),
        "'pad'",
        "eigenvalue -1",
        "energy",
        id="damping negative",
    ),
    case(
        lambda: qp.Thruster("jet", FACE, (1, 2)),
        "'jet'",
        "thrust has shape (2,)",
        id="thrust short",
    ),
    case(
        lambda: qp.Thruster("jet", BASE, 1.0),
        "'jet'",
        "site is Body",
        "must be a Site",
        id="thruster on a body",
    ),
    case(
        lambda: qp.ReactionWheel("w", FACE, STEPS),
        "'w'",
        "by lines",
        "'linear'",
        id="wheel that jumps",
    ),
    case(
        lambda: qp.ReactionWheel("w", FACE, "fast"),
        "'w'",
        "momentum is 'fast'",
        id="wheel by a word",
    ),
    case(
        lambda: qp.Potential("u", 3.0),
        "'u'",
        "function is 3.0",
        "function of a MotionView",
        id="potential a number",
    ),
    case(
        lambda: qp.Potential("u", abs, wrenches=2),
        "'u'",
        "wrenches is 2",
        "MotionView",
        id="wrenches a number",
    ),
    case(lambda: qp.Potential("u", abs).load(None), "'u'", "no wrenches", id="no load"),
    case(
        lambda: qp.to_json(qp.Potential("u", abs)),
        "'u'",
        "Python function",
        "JSON",
        id="potential to JSON",
    ),
    case(
        lambda: qp.Multibody(BASE, qp.HillFrame(1.0), qp.GravityGradient(ROUND)),
        "'hill frame'",
        "'gravity gradient'",
        "let one of them act",
        id="planet twice",
    ),
    case(
        lambda: qp.Multibody(BASE, TOP, qp.HillFrame(1.0), qp.HillFrame(2.0, name="other")),
        "'hill frame'",
        "'other'",
        id="two frames",
    ),
    case(
        lambda: qp.Multibody(
            BASE, TOP, qp.HillFrame(1.0), qp.PlanetField(MAGNET, (0, 0, 1), orbit=ROUND)
        ),
        "'planet field'",
        "do not turn",
        "HillFrame 'hill frame'",
        "centre=",
        id="field of another frame",
    ),
    case(
        lambda: qp.Multibody(BASE, pinning()),
        "'flux pinning'",
        "'top'",
        "not in the system",
        id="magnet left out",
    ),
]


@pytest.mark.parametrize(("make", "name", "words"), REFUSED)
def test_it_is_refused(make: Callable[[], Any], name: str, words: tuple[str, ...]) -> None:
    check_refused(make, name, words)
