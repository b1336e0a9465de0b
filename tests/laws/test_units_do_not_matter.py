"""Verdicts in metres, micrometres, kilometres, milliseconds or months: copies of one system whose
lengths, masses and times are rescaled rest alike, and their frequencies and shares of critical
damping are those of the other."""

from __future__ import annotations

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.rest.equilibrium import Equilibrium, certify
from quirkpy.rest.vicinity import Vicinity
from tests.random_systems import seeds

UNITS = (
    (1e-3, 1e-9, 1.0),
    (1e-6, 1e-18, 1.0),
    (1e-6, 1.0, 1.0),
    (1e3, 1e9, 1.0),
    (1e6, 1e18, 1.0),
    (1e6, 1.0, 1.0),
    (1e6, 1e18, 1e3),
    (1e6, 1e18, 3e5),
    (1.0, 1.0, 1e-3),
    (1.0, 1.0, 1e3),
    (1e-6, 1e-18, 1e-3),
)


def sprung_chain(seed: int, length: float, mass: float, time: float) -> qp.Multibody:
    """One to three boxes on hinges aslant, each with a spring and, most of them, a damper; at rest
    as it is written."""
    rng, parts, last = np.random.default_rng(seed), list[qp.Part](), qp.GROUND
    for k in range(int(rng.integers(1, 4))):
        at = np.array([float(k), 0.0, 0.0]) * length
        size = tuple(rng.uniform(0.3, 1.0, 3) * length)
        box = qp.Body.box(
            f"box {k}",
            size,
            rng.uniform(0.5, 2.0) * mass,
            position=tuple(at + (0.5 * length, 0, 0)),
        )
        hinge = qp.Revolute(f"hinge {k}", last, box, at=tuple(at), axis=tuple(rng.normal(size=3)))
        unit = mass * length**2 / time
        damping = float(rng.choice([0.0, 1e-3, 0.09])) * rng.uniform(1.0, 3.0) * unit
        stiffness = rng.uniform(0.5, 2.0) * unit / time
        parts += [
            box,
            hinge,
            qp.HingeSpring(f"spring {k}", hinge, stiffness=stiffness, damping=damping),
        ]
        last = box
    return qp.Multibody(*parts)


def certified(system: qp.Multibody) -> Equilibrium:
    return certify(Vicinity(system.clusters, system.initial))


@pytest.mark.parametrize("units", UNITS)
@seeds(100, 15, attack=1000)
def test_a_copy_in_other_units_has_the_same_certificate(
    units: tuple[float, float, float], seed: int
) -> None:
    one, other = certified(sprung_chain(seed, 1.0, 1.0, 1.0)), certified(sprung_chain(seed, *units))
    assert (other.verdict, other.damped, other.reason) == (one.verdict, one.damped, one.reason)
    for mine, theirs in zip(one.modes, other.modes, strict=True):
        assert theirs.frequency * units[2] == pytest.approx(mine.frequency, rel=1e-6)
        assert theirs.damping == pytest.approx(mine.damping, rel=1e-4, abs=1e-9)


def test_a_body_of_a_million_metres_is_damped() -> None:
    """Its share of critical damping is 0.09: nothing about it is undamped."""
    size, mass = 1e6, 1e18
    box = qp.Body.box("box", (size, size, size), mass)
    hinge = qp.Revolute("hinge", qp.GROUND, box, at=(0, 0, 0), axis=(0, 0, 1))
    moment, rate = mass * size**2 / 6.0, 1e-3
    spring = qp.HingeSpring(
        "spring", hinge, stiffness=moment * rate**2, damping=2.0 * 0.09 * moment * rate
    )
    rest = qp.Multibody(box, hinge, spring).settle()
    assert rest.verdict == "stable"
    assert rest.damped
    assert rest.modes[0].damping == pytest.approx(0.09, rel=1e-6)
