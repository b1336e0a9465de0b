"""Masses from 1e-9 to 1e9 times what they were, in one system: what the recursion says is right,
and what a run does keeps its ledger and its joints, or the run ends and says why.

The truth is elimination with sixty digits over rows that are independent whatever masses are.
"""

from __future__ import annotations

import warnings
from decimal import Decimal, getcontext
from typing import Any

import numpy as np
import pytest
from scipy.linalg import qr

import quirkpy as qp
from quirkpy.maths.types import Floats
from quirkpy.mechanics import equation
from quirkpy.tables.vary import vary
from tests.motion import compiled_system
from tests.random_systems import seeds

FAMILIES = ("trees", "loops", "meshes", "linkages", "lattices", "medleys")
getcontext().prec = 60
exact: Any = np.vectorize(Decimal, otypes=[object])


def weighed(family: str, seed: int, decades: float) -> qp.Multibody:
    """A random system each of whose masses is times a power of ten, up to so many decades up or
    down."""
    system, rng = (
        compiled_system(family, seed, conservative=True),
        np.random.default_rng([seed, 77]),
    )
    factors = {body: float(10.0 ** rng.uniform(-decades, decades)) for body in system.bodies}
    return system.on_tables(vary(system.tables, factors, {}, {}), system.initial)


def eliminated(A: Any, b: Any) -> Any:
    """A x = b by Gauss, in the digits of the numbers."""
    A, x, n = A.copy(), b.copy(), len(b)
    for k in range(n):
        p = k + max(range(n - k), key=lambda i: abs(A[k + i, k]))
        A[[k, p]], x[[k, p]] = A[[p, k]], x[[p, k]]
        for i in range(k + 1, n):
            if A[i, k] != 0:
                share = A[i, k] / A[k, k]
                A[i, k:] -= share * A[k, k:]
                x[i] -= share * x[k]
    for k in range(n - 1, -1, -1):
        x[k] = (x[k] - sum(A[k, j] * x[j] for j in range(k + 1, n))) / A[k, k]
    return x


def truth(system: qp.Multibody) -> tuple[Floats, float]:
    """Accelerations (n, 6), and the largest of these and of those without joints."""
    at, t = system.initial.instant(system.selection), system.tables
    n, J, gamma = len(system.bodies), equation.constraint_matrix(at), at.rows.gamma
    there = np.linalg.norm(J, axis=1) > 1e-9
    J, gamma = J[there], gamma[there]
    W = np.full((6 * n, 6 * n), Decimal(0))
    for k in range(n):
        W[range(6 * k, 6 * k + 3), range(6 * k, 6 * k + 3)] = 1 / Decimal(float(t.body_mass[k]))
        inertia, one = exact(t.body_inertia[k]), exact(np.eye(3))
        W[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = np.array(
            [eliminated(inertia, e) for e in one]
        ).T
    free = W.dot(exact(equation.applied_forces(at).reshape(-1)))
    out = free
    if len(J):
        lengths = np.linalg.norm(J, axis=1)[:, None]
        R, order = qr((J / lengths).T, mode="economic", pivoting=True)[1:]
        rows = np.sort(order[: int((abs(np.diag(R)) > 1e-7).sum())])
        J, gamma = exact(J[rows]), exact(gamma[rows])
        out = free + W.dot(J.T.dot(eliminated(J.dot(W).dot(J.T), gamma - J.dot(free))))
    found, alone = out.astype(float).reshape(n, 6), free.astype(float)
    return found, max(abs(found).max(), abs(alone).max())


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("decades", "bound"), [(0.0, 1e-10), (2.0, 1e-6), (4.0, 1e-5)])
@seeds(6, 1, attack=200)
def test_accelerations_are_right_however_uneven_masses_are(
    family: str, decades: float, bound: float, seed: int
) -> None:
    system = weighed(family, seed, decades)
    expected, scale = truth(system)
    found, warned = accelerated(system)
    assert abs(found - expected).max() <= bound * scale or (warned and decades == 4.0)


@pytest.mark.parametrize("family", FAMILIES)
@seeds(40, 10, attack=400)
def test_at_1e18_to_one_accelerations_are_right_or_doubted(family: str, seed: int) -> None:
    """What rounding leaves of them is told in one sentence, which names the bodies; and they are
    numbers."""
    system = weighed(family, seed, 9.0)
    expected, scale = truth(system)
    found, warned = accelerated(system)
    assert np.isfinite(found).all()
    off = abs(found - expected).max()
    assert off <= 1e-5 * scale or (warned and off <= 0.1 * scale)


def accelerated(system: qp.Multibody) -> tuple[Floats, bool]:
    """Accelerations, and whether they come with a doubt that names the lightest body and the
    heaviest."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = system.acceleration()
    mass = system.tables.body_mass
    ends = [repr(system.bodies[int(k)]) for k in (mass.argmin(), mass.argmax())]
    assert all(end in str(one.message) for one in caught for end in ends)
    return found, bool(caught)


def arm_and_ball(mass: float) -> qp.Multibody:
    """A ball of 1 kg on a massless bar at the tip of a hinged arm."""
    arm = qp.Body.box("arm", (1.0, 0.02, 0.02), mass, position=(0.5, 0, 0))
    ball = qp.Body.sphere("ball", 0.1, 1.0, position=(1.7, 0, -0.7))
    hinge = qp.Revolute("hinge", qp.GROUND, arm, axis=(0, 1, 0), at=(0, 0, 0))
    bar = qp.Distance("bar", arm, ball, at1=(1, 0, 0), at2=(1.7, 0, -0.7))
    return qp.Multibody(arm, ball, hinge, bar, qp.Gravity((0, 0, -9.81)))


@pytest.mark.parametrize("mass", [1e-3, 1e-6, 1e-8, 2e-9, 1e-10])
def test_a_light_arm_carries_a_ball(mass: float) -> None:
    """It keeps its energy and its length; its joint counts, and no pose is called singular."""
    system = arm_and_ball(mass)
    run = system.simulate(2.0, progress=False)
    assert (run.stop, run.events) == (qp.Stop.END, ())
    assert np.ptp(run.energy) < 1e-5
    assert abs(run.projected).max() < 1e-5
    assert max(abs(system.residual(state).position).max() for state in run.states) < 1e-12


@pytest.mark.parametrize("mass", [1e-13, 1e-15, 1e-18])
def test_an_arm_that_is_lost_in_rounding_ends_the_run(mass: float) -> None:
    """Nothing comes of going on, and nothing that it has done is wrong."""
    run = arm_and_ball(mass).simulate(2.0, progress=False)
    assert run.stop in (qp.Stop.UNHELD, qp.Stop.COLLAPSE)
    assert {event.joints for event in run.events} <= {("bar", "hinge")}
    assert np.ptp(run.energy + run.projected) < 1e-5
    assert abs(run.projected).max() < 1e-2  # of some 10 J


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("decades", [4.0, 9.0])
@seeds(3, 1, attack=200)
def test_runs_keep_their_ledger_or_say_that_they_cannot(
    family: str, decades: float, seed: int
) -> None:
    system = weighed(family, seed, decades)
    run = system.simulate(0.3, progress=False, max_steps=300)
    whole = float(run.kinetic.max())
    if run.stop in (qp.Stop.UNHELD, qp.Stop.NOT_FINITE, qp.Stop.COLLAPSE):
        return
    assert np.ptp(run.energy + run.dissipated + run.lost - run.work) <= 1e-5 * whole + 1e-12
    assert abs(run.projected).max() <= 1e-5 * whole + 1e-12
    held = (
        1e-9 if decades < 9.0 else run.settings.rtol
    )  # at 1e18 : 1 a row may yield by what the run was asked for
    assert abs(system.residual(run.final).position).max(initial=0.0) < held
