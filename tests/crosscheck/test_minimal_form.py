"""Kane's equations in minimal form: which speeds depend, and the reactions."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.mechanics import equation
from quirkpy.mechanics.kane import (
    Partition,
    SpeedForm,
    minimal_form,
    partition_of,
    speed_form,
)
from tests.random_systems import FAMILIES, free_acceleration, instant, random_system, seeds

Point: TypeAlias = tuple[float, float, float]


def closed(elbow: Point, end: Point, foot: Point, slides: bool) -> qp.Multibody:
    """A crank from the origin to the elbow, a rod on to its end, and a slider there, or a rocker to
    its foot, in the plane z = 0; the crank turns at 9 rad/s."""
    one, two, three = (
        qp.Body.rod(name, start=start, end=stop, mass=mass, radius=0.02)
        for name, start, stop, mass in (
            ("crank", (0.0, 0.0, 0.0), elbow, 1.0),
            ("rod", elbow, end, 2.0),
            ("last", end, foot, 1.5),
        )
    )
    up = (0.0, 0.0, 1.0)
    system = qp.Multibody(
        *(one, two, three, qp.Gravity((0.0, -9.81, 0.0))),
        qp.Revolute("motor", qp.GROUND, one, at=(0.0, 0.0, 0.0), axis=up),
        qp.Revolute("elbow", one, two, at=elbow, axis=up),
        qp.Revolute("wrist", two, three, at=end, axis=up),
        qp.Prismatic("guide", qp.GROUND, three, at=end, axis=(1.0, 0.0, 0.0))
        if slides
        else qp.Revolute("foot", qp.GROUND, three, at=foot, axis=up),
    )
    return system.at(with_crank_at(system, 9.0))


def with_crank_at(system: qp.Multibody, rate: float) -> qp.State:
    """The initial state with velocities that the joints allow, the crank at a rate [rad/s]."""
    form = speed_form(instant(system))
    C = form.J[form.loops] @ form.partial.T
    motion = np.linalg.svd(C)[2][-1] @ form.partial
    back = equation.mass_roots(instant(system))[1]
    u = np.einsum("nij,nj->ni", back, motion.reshape(-1, 6))
    u *= rate / u[0, 5]
    return system.initial.replace(
        {
            b: {"velocity": u[k, :3], "angular_velocity": u[k, 3:]}
            for k, b in enumerate(system.bodies)
        }
    )


def weakest(form: SpeedForm, dependent: np.ndarray) -> float:
    """The smallest singular value of C_D that counts, relative to the largest of C."""
    C = form.J[form.loops] @ form.partial.T
    whole, part = (np.linalg.svd(M, compute_uv=False) for M in (C, C[:, dependent]))
    return float(part[len(dependent) - 1] / whole[0])


MECHANISMS = {
    "slider-crank": closed((0.3, 0.0, 0.0), (1.1, 0.0, 0.0), (1.3, 0.0, 0.0), True),
    "crank and rocker": closed((0.0, 0.3, 0.0), (0.7, 0.6, 0.0), (0.9, 0.0, 0.0), False),
    "three rockers": closed((0.1, 0.59, 0.0), (0.75, 0.5, 0.0), (1.2, 0.0, 0.0), False),
}


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_mechanisms_pass_dead_points(mechanism: str) -> None:
    """A speed that was chosen to be independent once for all comes to rest where the others move,
    C_D is singular there; the one that pivots leave independent does not."""
    system = MECHANISMS[mechanism]
    run = system.simulate(1.5, rtol=1e-10)
    speeds = range(len(speed_form(instant(system)).partial))
    fixed = dict.fromkeys(speeds, 1.0)
    pivoted = 1.0
    for t in np.linspace(0.0, 1.5, 301):
        state = run.at(t)
        dense = system.acceleration(state, "dense")
        off = abs(system.acceleration(state, "kane") - dense).max()
        assert off <= 1e-9 * max(abs(dense).max(), abs(free_acceleration(system, state)).max())
        form = speed_form(instant(system, state))
        pivoted = min(pivoted, weakest(form, partition_of(form).dependent))
        for independent in speeds:
            others = np.array([k for k in speeds if k != independent])
            fixed[independent] = min(fixed[independent], weakest(form, others))
    assert pivoted > 0.2
    assert min(fixed.values()) < 1e-3


@seeds(20, 6)
@pytest.mark.parametrize("family", FAMILIES)
def test_reactions_are_those_of_the_null_space(family: str, seed: int) -> None:
    system = random_system(family, seed)
    dense, kane = (
        system._solve(None, evaluator).multipliers  # type: ignore[arg-type]
        for evaluator in ("dense", "kane")
    )
    assert kane == pytest.approx(dense, abs=1e-8 * max(1.0, abs(dense).max(initial=0.0)))


@seeds(20, 6)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_form_is_that_of_the_paper(family: str, seed: int) -> None:
    """Dependent speeds are A u_I + b; the equations of the independent ones are those of Kane, A_2
    (F + F*) = 0, and as many as the system has freedoms; no entry of A is large."""
    system = random_system(family, seed)
    at = instant(system)
    form = speed_form(at)
    partition: Partition = partition_of(form)
    assert len(partition.independent) == system.mobility().degrees_of_freedom
    assert abs(partition.A).max(initial=0.0) < 100.0
    J = form.J[form.loops]
    C, beta = J @ form.partial.T, form.gamma[form.loops] - J @ form.bias
    u = np.random.default_rng(seed).normal(size=len(form.partial))
    u[partition.dependent] = partition.A @ u[partition.independent] + partition.b
    assert pytest.approx(beta, abs=1e-8 * max(1.0, abs(beta).max(initial=0.0))) == C @ u
    back = equation.mass_roots(at)[1]
    applied = np.einsum("nij,nj->ni", back, equation.applied_forces(at)).reshape(-1)
    T, right = minimal_form(form, partition, applied)
    order = np.concatenate([partition.dependent, partition.independent])
    residual = T @ u[order] - right
    r = len(partition.dependent)
    inertia = u @ form.partial + form.bias
    A_2 = np.hstack([partition.A.T, np.eye(len(order) - r)])
    kane = A_2 @ (form.partial[order] @ (applied - inertia))
    scale = max(1.0, abs(inertia).max(initial=0.0), abs(applied).max(initial=0.0))
    assert residual[:r] == pytest.approx(0.0, abs=1e-10 * scale)
    assert residual[r:] == pytest.approx(-kane, abs=1e-9 * scale)
