"""The mechanisms of demos/mechanisms against equations of their own."""

from __future__ import annotations

import numpy as np
import pytest

from demos.mechanisms import andrews
from tests.planar import Link, Mechanism, Point, Spring


def squeezer() -> Mechanism:
    """Positions as Hairer and Wanner write them, over beta, Theta, gamma, Phi, delta, Omega,
    epsilon."""

    def e(*names: int) -> list[int]:
        return [int(k in names) for k in range(7)]

    still = [0] * 7
    beta, two, gamma, phi, delta, omega, epsilon = (
        e(0), e(0, 1), e(2), e(3, 4), e(4), e(5, 6), e(6),
    )  # fmt: skip
    A, B = (Point((complex(*foot), still)) for foot in (andrews.A, andrews.B))
    crank = Point((7e-3, beta))
    left, right = A + Point((0.04, delta)), A + Point((-0.04j, epsilon))
    tip = crank - Point((0.028, two))
    centres = [
        Point((9.2e-4, beta)), crank - Point((0.0115, two)),
        B + Point((0.01043 - 0.01874j, gamma)), left + Point((-1j * (0.02 - 0.01421), phi)),
        A + Point((0.02308 + 0.00916j, delta)), right + Point((0.02 - 0.01421, omega)),
        A + Point((-0.00449 - 0.01228j, epsilon)),
    ]  # fmt: skip
    turns = (beta, two, gamma, phi, delta, omega, epsilon)
    links = [
        Link(mass, moment, centre, turn)
        for mass, moment, centre, turn in zip(
            andrews.MASSES, andrews.MOMENTS, centres, turns, strict=True
        )
    ]
    loops = [
        tip - (B + Point((-0.035j, gamma))), tip - (left + Point((-0.02j, phi))),
        tip - (right + Point((0.02, omega))),
    ]  # fmt: skip
    end = B + Point((0.02 - 0.018j, gamma))
    spring = Spring(Point((complex(*andrews.C), still)), end, andrews.STIFFNESS, andrews.LENGTH)
    return Mechanism(links, loops, [spring], loads=[andrews.MOMENT, *[0.0] * 6])


def test_the_squeezer_is_the_one_of_the_literature() -> None:
    """The published digits, which are good to 1e-10 of 15.8 rad; and equations of its own."""
    times = np.linspace(0.0, andrews.SECONDS, 7)
    truth = squeezer().fly(np.array(andrews.START), np.zeros(7), times)
    run = andrews.system.simulate(andrews.SECONDS, rtol=1e-13, atol=1e-15, progress=False)
    for t, angles in zip(times, truth, strict=True):
        assert andrews.angles(run.at(t)) == pytest.approx(angles, abs=2e-11)
    assert andrews.angles(run.final) == pytest.approx(andrews.REFERENCE, abs=2e-9)
    assert run.energy[-1] - run.work[-1] == pytest.approx(run.energy[0], rel=1e-12)
