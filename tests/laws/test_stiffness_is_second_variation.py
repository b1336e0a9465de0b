"""The stiffness around a state is the second variation of energy along its joints; its modes are
what it rings with."""

from __future__ import annotations

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.maths.types import Floats
from quirkpy.rest.equilibrium import ASYMMETRY
from quirkpy.rest.newton import DOUBTS, size_of
from quirkpy.rest.vicinity import Vicinity
from tests.motion import compiled_system
from tests.random_systems import FAMILIES, random_system, seeds


def at_standstill(system: qp.Multibody) -> qp.State:
    """The initial pose with no velocities."""
    state = system.initial
    still = {name: {"velocity": (0, 0, 0), "angular_velocity": (0, 0, 0)} for name in system.bodies}
    return state.replace(still)


#: Second derivative from nine values in a row, to eighth order.
EIGHTH = np.array([-9.0, 128.0, -1008.0, 8064.0, -14350.0, 8064.0, -1008.0, 128.0, -9.0]) / 5040.0


def bends(around: Vicinity, xi: Floats, h: float) -> float:
    """Second derivative of the energy along a line of coordinates, put back onto the joints."""
    places = h * np.arange(-4.0, 5.0)
    energies = around.answers(around.states_at(places[:, None] * xi)).energies
    return float(EIGHTH @ (energies - around.energy)) / h**2


@pytest.mark.parametrize("family", FAMILIES)
@seeds(10, 2, attack=40)
def test_stiffness_and_pull_are_derivatives_of_energy_on_the_joints(family: str, seed: int) -> None:
    """For any conservative system in any pose at rest, along random directions, to what rounding of
    U / h^2 allows."""
    system = random_system(family, seed, driven=False, conservative=True)
    around = Vicinity(system.clusters, at_standstill(system))
    if not around.freedoms:
        return
    K, scale = around.stiffness.values, max(abs(around.energy), 1.0)
    gradient = around.slopes_of(around.probes.energies[:, None])[0]
    rounding = 1e-14 * scale / around.reach.min()
    assert abs(gradient + around.pull).max() <= 1e-8 * max(1.0, abs(around.pull).max()) + rounding
    rng = np.random.default_rng(seed)
    for xi in rng.normal(size=(3, around.freedoms)):
        along, h = xi / size_of(around, xi), 2e-3
        known, rounding = bends(around, along, h), 1e-13 * scale / h**2
        doubt = abs(known - bends(around, along, 0.7 * h)) + abs(
            along @ around.stiffness.doubt @ along
        )
        assert along @ K @ along == pytest.approx(known, rel=1e-6, abs=rounding + DOUBTS * doubt)


@pytest.mark.parametrize("family", FAMILIES)
@seeds(2, 1, attack=8)
def test_at_an_equilibrium_it_is_symmetric(family: str, seed: int) -> None:
    """Elsewhere the axes of the bodies turn with the coordinates; where nothing pulls that makes no
    difference."""
    system = compiled_system(family, seed, conservative=True)
    for found in system.equilibria(at_standstill(system), seeds=1):
        K, doubt, _ = Vicinity(system.clusters, found.state).stiffness
        allowed = ASYMMETRY * abs(K).max(initial=0.0) + DOUBTS * abs(doubt).max(initial=0.0) + 1e-12
        assert abs(K - K.T).max(initial=0.0) <= allowed
        assert abs(doubt).max(initial=0.0) <= 1e-5 * abs(K).max(initial=0.0) + 1e-12
