"""A slider-crank in the vertical plane against its one-freedom Lagrangian, derived here from the
crank angle."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import get_args

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.mechanics.system import Evaluator

CRANK, ROD = 0.3, 0.8  # lengths [m]
MASSES = (1.0, 2.0, 1.5)  # crank, rod, slider [kg]
G = 9.81
#: Crank angle [rad] and rate [rad/s] of the reference motion, and its energy [J] (positions from
#: the hinge's height).
START, ENERGY = (math.pi / 6.0, 12.0), 16.338982626787317


def directions(angle: float) -> tuple[np.ndarray, np.ndarray]:
    """The unit vector at an angle, and its derivative."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([c, s]), np.array([-s, c])


@dataclass
class Motion:
    """One freedom a (the crank angle): angle of the rod, places of the mass centres; each with d/da
    and d2/da2."""

    a: float

    @property
    def rod(self) -> tuple[float, float, float]:
        """b with CRANK sin a + ROD sin b = 0, differentiated twice."""
        b = -math.asin(CRANK * math.sin(self.a) / ROD)
        first = -CRANK * math.cos(self.a) / (ROD * math.cos(b))
        second = (CRANK * math.sin(self.a) + ROD * math.sin(b) * first**2) / (ROD * math.cos(b))
        return b, first, second

    @property
    def places(self) -> np.ndarray:
        """Mass centres of crank, rod and slider in the plane: [derivative 0 1 2, body, x y]."""
        b, first, second = self.rod
        (along, across), (rod, rod_across) = directions(self.a), directions(b)
        pin = CRANK * np.array([along, across, -along])
        arm = ROD * np.array([rod, first * rod_across, second * rod_across - first**2 * rod])
        return np.stack([0.5 * pin, pin + 0.5 * arm, pin + arm], axis=1)

    @property
    def turns(self) -> np.ndarray:
        """Angles of the three bodies: [derivative 0 1 2, body]."""
        return np.array([[self.a, 1.0, 0.0], self.rod, [0.0] * 3]).T

    def lagrangian(self, rate: float) -> tuple[float, float, float]:
        """Inertia J(a), a'' = -(J' a'^2 / 2 + V') / J, and the energy."""
        m, moments = (
            np.array(MASSES),
            np.array([MASSES[0] * CRANK**2 / 12.0, MASSES[1] * ROD**2 / 12.0, 0.0]),
        )
        r, turn = self.places, self.turns
        J = m @ (r[1] ** 2).sum(axis=1) + moments @ turn[1] ** 2
        slope = 2.0 * m @ (r[1] * r[2]).sum(axis=1) + 2.0 * moments @ (turn[1] * turn[2])
        potential = G * m @ r[:, :, 1].T
        return J, -(0.5 * slope * rate**2 + potential[1]) / J, 0.5 * J * rate**2 + potential[0]


def mechanism(a: float, rate: float) -> qp.Multibody:
    """The mechanism with spatial hinges and a slide: three of its rows are redundant."""
    motion = Motion(a)
    speeds = np.pad(rate * motion.places[1], ((0, 0), (0, 1)))
    pin, slide = (CRANK * math.cos(a), CRANK * math.sin(a), 0.0), (*motion.places[0, 2], 0.0)
    spin = [(0.0, 0.0, rate * d) for d in motion.turns[1]]
    crank = qp.Body.rod(
        "crank", (0, 0, 0), pin, MASSES[0], velocity=speeds[0], angular_velocity=spin[0]
    )
    rod = qp.Body.rod("rod", pin, slide, MASSES[1], velocity=speeds[1], angular_velocity=spin[1])
    slider = qp.Body.box("slider", (0.1, 0.1, 0.1), MASSES[2], position=slide, velocity=speeds[2])
    hinges = [
        qp.Revolute(name, one, two, at=at, axis=(0, 0, 1))
        for name, one, two, at in (
            ("main", qp.GROUND, crank, (0, 0, 0)),
            ("pin", crank, rod, pin),
            ("wrist", rod, slider, slide),
        )
    ]
    guide = qp.Prismatic("guide", qp.GROUND, slider, at=slide, axis=(1, 0, 0))
    return qp.Multibody(crank, rod, slider, *hinges, guide, qp.Gravity((0, -G, 0)))


@pytest.mark.parametrize("evaluator", get_args(Evaluator))
@pytest.mark.parametrize(
    ("a", "rate"), [START, (2.0, -7.0), (-1.1, 3.0), (4.4, 0.0), (math.pi, 20.0)]
)
def test_slider_crank_follows_its_lagrangian(a: float, rate: float, evaluator: Evaluator) -> None:
    system, motion = mechanism(a, rate), Motion(a)
    _, push, _ = motion.lagrangian(rate)
    places = rate**2 * motion.places[2] + push * motion.places[1]
    turns = rate**2 * motion.turns[2] + push * motion.turns[1]
    expected = np.zeros((3, 6))
    expected[:, :2], expected[:, 5] = places, turns
    assert system.mobility()[:3] == (1, 17, 20)
    off = abs(system.acceleration(evaluator=evaluator) - expected).max()
    assert off <= 1e-12 * abs(expected).max()


def test_slider_crank_starts_with_the_reference_energy() -> None:
    """16.338982626787317 J: kinetic energy at 30 degrees and 12 rad/s, and the two rods' weight
    times height."""
    assert mechanism(*START).energy() == pytest.approx(ENERGY, rel=1e-13)
    assert Motion(START[0]).lagrangian(START[1])[2] == pytest.approx(ENERGY, rel=1e-13)


def test_slider_crank_starts_with_the_reference_rates() -> None:
    """Rod: -0.1886163861754041 rad at -3.9674791352014833 rad/s; slider: 1.045619303410417 m at
    -2.3951218702802226."""
    a, rate = START
    motion = Motion(a)
    assert [motion.rod[0], rate * motion.rod[1]] == pytest.approx(
        [-0.1886163861754041, -3.9674791352014833], rel=1e-14
    )
    slider = [motion.places[0, 2, 0], rate * motion.places[1, 2, 0]]
    assert slider == pytest.approx([1.045619303410417, -2.3951218702802226], rel=1e-14)
    assert abs(mechanism(a, rate).residual().velocity).max() < 1e-14
