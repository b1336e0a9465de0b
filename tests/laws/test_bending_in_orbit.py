"""Planets act on bodies that bend, mass by mass: as on particles, by a potential, and alike in all
three evaluators."""

from __future__ import annotations

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.mechanics import bending, equation
from quirkpy.mechanics.state import at_standstill
from quirkpy.rest.vicinity import Vicinity
from tests.clouds import Cloud, stirred
from tests.laws.test_bodies_that_bend import all_rates, by_equation
from tests.random_systems import seeds

MU, FAR = 400.0, (20.0, -12.0, 9.0)  # a planet so near that its gradient is felt
FIELDS = {
    "at rest": qp.PointGravity(MU, tuple(-x for x in FAR)),
    "falling": qp.GravityGradient(qp.Orbit.circular(MU, 25.0)),
}


def falling(field: str) -> qp.Multibody:
    hub = qp.Body.box("hub", (1, 1, 1), 5.0)
    one = Cloud("one", seed=1, modes=4, position=(1, 0, 0))
    two = Cloud("two", seed=2, modes=2, position=(2, 0, 0))
    hinge = qp.Revolute("a", hub.site("a", at=(0.5, 0, 0)), one.site("a", at=(-0.5, 0, 0)))
    ball = qp.Spherical("b", one.site("b", at=(0.4, 0, 0.3)), two.site("b", at=(-0.6, 0, 0.3)))
    return qp.Multibody(hub, one, two, hinge, ball, FIELDS[field])


@pytest.mark.parametrize("field", FIELDS)
@seeds(3, 1, attack=40)
def test_three_evaluators_agree_beside_a_planet(field: str, seed: int) -> None:
    system = falling(field)
    state = stirred(system, seed)
    at = state.instant(system.selection)
    dense = by_equation(equation.solve_dense(at))
    size = abs(dense).max()
    assert abs(all_rates(system, state) - dense).max() < 1e-9 * size
    assert abs(by_equation(equation.solve_literal(at)) - dense).max() < 1e-9 * size


@seeds(3, 1, attack=40)
def test_particles_one_by_one_are_drawn_alike(seed: int) -> None:
    """The loads on modes and body, by particles, each in the field where it is: to the second power
    of size over distance."""
    body = Cloud("cloud", seed=seed, drawing_near=False)
    errors = []
    for scale in (1.0, 10.0):
        centre = tuple(-scale * x for x in FAR)
        system = qp.Multibody(body, qp.PointGravity(MU * scale**3, centre))
        at = stirred(system, seed, bent=0.2, fast=0.0).instant(system.selection)
        (bent,) = bending.bent_bodies(at)
        loads = np.zeros(6 + len(bent.q))
        points = body.points
        for m, p, phi in zip(
            points.masses, points.points, points.displacements.swapaxes(0, 1), strict=True
        ):
            arm = bent.axes @ (p + bent.q @ phi)
            way = at.r[0] + arm - np.array(centre)
            force = -MU * scale**3 * m * way / np.linalg.norm(way) ** 3
            loads[:3] += force
            loads[3:6] += bent.axes.T @ np.cross(arm, force)
            loads[6:] += phi @ (bent.axes.T @ force)
        loads[6:] -= body.modal.stiffness @ bent.q
        errors.append(abs(bending.forces(at) - loads).max() / abs(loads).max())
    assert errors[0] < 1e-2
    assert errors[1] < 0.02 * errors[0]


@seeds(3, 1, attack=40)
def test_loads_of_a_planet_are_slopes_of_its_energy(seed: int) -> None:
    system = falling("at rest")
    here = Vicinity(system.clusters, at_standstill(stirred(system, seed)))
    gradient = here.slopes_of(here.probes.energies[:, None])[0]
    assert abs(gradient + here.pull).max() <= 1e-8 * max(1.0, abs(here.pull).max())


@pytest.mark.parametrize("field", FIELDS)
def test_flight_beside_a_planet_keeps_its_ledger(field: str) -> None:
    """Energy less work and what damping took; N's origin falls with the orbit, or stands."""
    system = falling(field)
    run = system.at(stirred(system, 1)).simulate(1.0, rtol=1e-10, atol=1e-12, progress=False)
    kept = run.energy - run.work + run.dissipated
    assert abs(kept - kept[0]).max() < 1e-8 * abs(run.kinetic).max()


def test_a_turning_frame_is_refused() -> None:
    with pytest.raises(qp.PartError, match="'cloud' bends, and a turning frame"):
        qp.Multibody(Cloud("cloud", seed=1), qp.HillFrame(1e-3))
