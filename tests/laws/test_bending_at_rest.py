"""Bodies that bend, at rest, on random systems: stiffness is the second variation of energy, linear
models are the motion, and steady motion of the whole is taken off."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import quirkpy as qp
from quirkpy.kernels.base.states import speeds_of
from quirkpy.maths.types import Floats
from quirkpy.mechanics import bending
from quirkpy.mechanics.bent_motion import energy_of, group_motion, mass_motion
from quirkpy.mechanics.state import at_standstill
from quirkpy.rest.newton import size_of
from quirkpy.rest.vicinity import Vicinity
from tests.clouds import Cloud, stirred
from tests.laws.test_bodies_that_bend import assembly
from tests.laws.test_stiffness_is_second_variation import bends
from tests.random_systems import seeds


def around(seed: int, *more: str) -> Vicinity:
    """Of a random system of bodies that bend, bent and at a standstill."""
    system = assembly(seed, *more)
    return Vicinity(system.clusters, at_standstill(stirred(system, seed)))


@pytest.mark.parametrize("more", [("ground",), ("loop", "ground"), ("loop",)])
@seeds(4, 1, attack=40)
def test_stiffness_and_pull_are_derivatives_of_energy(seed: int, more: tuple[str, ...]) -> None:
    """In any bent pose, along random directions of joints and modes together."""
    here = around(seed, *more)
    assert here.freedoms > 3
    K, gradient = here.stiffness.values, here.slopes_of(here.probes.energies[:, None])[0]
    assert abs(gradient + here.pull).max() <= 1e-8 * max(1.0, abs(here.pull).max())
    assert here.symmetric
    rng = np.random.default_rng(seed)
    for xi in rng.normal(size=(3, here.freedoms)) if "ground" in more else ():  # others fall
        along = xi / size_of(here, xi)
        known = bends(here, along, 2e-3)
        doubt = abs(known - bends(here, along, 1.4e-3)) + 1e-7 * abs(known)
        assert along @ K @ along == pytest.approx(known, rel=1e-6, abs=10.0 * doubt)


@seeds(4, 1, attack=40)
def test_coordinates_are_orthonormal_in_kinetic_energy(seed: int) -> None:
    """Z' M Z = 1 with the mass matrix of the bent bodies, and the energy of unit rates is 1/2."""
    here = around(seed, "loop")
    Z = here.points.flat(here.basis, -1)
    M = bending.mass_matrix(here.at)
    assert abs(Z @ M @ Z.T - np.eye(here.freedoms)).max() < 1e-10
    moving = here.with_speeds(here.basis)
    selection = here.layout.selection
    each = [bending.kinetic_energy(here.instant_of(rows)) for rows in moving]
    np.testing.assert_allclose(each, 0.5, rtol=1e-10)
    np.testing.assert_allclose(energy_of(selection, moving, speeds_of(moving)), 0.5, rtol=1e-10)


@seeds(4, 1, attack=40)
def test_momenta_of_many_states_are_those_of_each(seed: int) -> None:
    """Mass centre, momentum, angular momentum and moments of inertia, as the instant has them."""
    system = assembly(seed)
    state = stirred(system, seed)
    at, here = state.instant(system.selection), Vicinity(system.clusters, state)
    every = mass_motion(system.selection, here.rows[None])
    p, h = bending.momenta(at)
    np.testing.assert_allclose(every.momentum[0], p, rtol=0.0, atol=1e-12 * abs(p).max())
    np.testing.assert_allclose(every.angular[0], h, rtol=0.0, atol=1e-12 * abs(h).max())
    group = group_motion(every, np.ones(len(at.r), dtype=bool))
    centre = bending.mass_moments(at).sum(axis=0) / at.selection.tables.body_mass.sum()
    np.testing.assert_allclose(group.centre[0], centre, rtol=0.0, atol=1e-13)
    about = bending.inertias_about(at, centre).sum(axis=0)
    np.testing.assert_allclose(group.moments[0], about, rtol=0.0, atol=1e-12 * abs(about).max())


def damped_assembly(seed: int) -> qp.Multibody:
    """A hub on springs and two clouds on it, damped, without weight."""
    hub = qp.Body.box("hub", (1, 1, 1), 5.0)
    one = Cloud("one", seed=seed, modes=4, position=(1, 0, 0))
    two = Cloud("two", seed=seed + 50, modes=2, position=(2, 0, 0))
    hinge = qp.Revolute("a", hub.site("a", at=(0.5, 0, 0)), one.site("a", at=(-0.5, 0, 0)))
    root = qp.Fixed("b", one.site("b", at=(0.4, 0, 0.3)), two.site("b", at=(-0.6, 0, 0.3)))
    held = qp.Spherical("foot", qp.GROUND.site("foot", at=(0, 0, -0.5)),
                        hub.site("foot", at=(0, 0, -0.5)))  # fmt: skip
    return qp.Multibody(
        hub, one, two, hinge, root, held, qp.JointSpring("s", hinge, stiffness=3.0, damping=0.5),
        qp.Spring("stay", qp.GROUND, hub, at1=(1, 1, 2), at2=(0.4, 0.4, 0.4), stiffness=20.0,
                  rest_length=1.0, damping=2.0),
        qp.Spring("tie", qp.GROUND, two, at1=(3, 0, 1), at2=(2.1, 0.1, 0.1), stiffness=15.0,
                  rest_length=0.8, damping=2.0),
    )  # fmt: skip


@seeds(1, 1, attack=20)
def test_a_linear_model_is_the_motion_near_by(seed: int) -> None:
    """A state a little off the rest, flown, and by the exponential of A."""
    system = damped_assembly(seed)
    rest = next(e for e in system.equilibria(seeds=1) if e.verdict == "stable")
    model = system.at(rest.state).linearize(inputs=[], outputs=["one.modes", "a"])
    rng, f, size = np.random.default_rng(seed), len(model.drift), 1e-5
    xi = size * rng.normal(size=2 * f)
    start = model.displaced(xi[:f], xi[f:])
    run = system.at(start).simulate(0.7, rtol=1e-10, atol=1e-14, progress=False)
    wanted = model.C @ scipy.linalg.expm(0.7 * model.A) @ xi

    def seen(state: qp.State) -> Floats:
        return np.append(state["one"].modes, state["a"].angle)

    assert abs(seen(run.final) - seen(rest.state) - wanted).max() < 1e-3 * size


@seeds(1, 1, attack=20)
def test_where_it_settles_is_a_rest_that_newton_finds(seed: int) -> None:
    """Released at rest in the pose it was written with: a run, and a search without one."""
    system = damped_assembly(seed)
    found = system.settle()
    assert found.verdict == "stable"
    assert found.residual < 1e-9
    near = [e for e in system.equilibria(found.state, seeds=1) if e.verdict == "stable"]
    assert min(abs(e.state.further - found.state.further).max() for e in near) < 1e-8
    assert min(abs(e.state.r - found.state.r).max() for e in near) < 1e-8


@pytest.mark.kernels
def test_a_bent_beam_rests_uncompiled() -> None:
    """Accelerations of bodies and modes of many states at once reach beyond no array."""
    body = Cloud("cloud", seed=4, modes=2)
    root = qp.Fixed("root", qp.GROUND, body, at=(0.1, 0.2, 0.0))
    system = qp.Multibody(body, root, qp.Gravity((0.0, 0.0, -1.0)))
    here = Vicinity(system.clusters, system.initial)
    gradient = here.slopes_of(here.probes.energies[:, None])[0]
    assert abs(gradient + here.pull).max() < 1e-8
