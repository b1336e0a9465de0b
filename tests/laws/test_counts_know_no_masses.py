"""How many freedoms there are, and which joints are redundant, is a matter of geometry: masses from
1e-18 to 1e18 times what they were change none of it.

The truth is the rank of the constraint matrix in metres and radians, by elimination with pivots of
rows and columns."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import qr

import quirkpy as qp
from quirkpy.mechanics import equation
from quirkpy.tables.vary import vary
from tests.laws.test_uneven_masses import FAMILIES, weighed
from tests.motion import compiled_system
from tests.random_systems import seeds


def geometric_rank(system: qp.Multibody) -> int:
    J = equation.constraint_matrix(system.initial.instant(system.selection))
    lengths = np.linalg.norm(J, axis=1)
    J = J[lengths > 1e-9] / lengths[lengths > 1e-9, None]
    return int((abs(np.diag(qr(J, mode="r", pivoting=True)[0])) > 1e-7).sum()) if len(J) else 0


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("decades", [4.0, 9.0, 18.0])
@seeds(20, 5, attack=1000)
def test_mobility_is_of_geometry(family: str, decades: float, seed: int) -> None:
    even, uneven = (
        compiled_system(family, seed, conservative=True).mobility(),
        weighed(family, seed, decades).mobility(),
    )
    assert uneven.rank == geometric_rank(weighed(family, seed, decades))
    assert uneven[:3] == even[:3]
    assert set(uneven.redundant) == set(even.redundant)
    assert (
        uneven.degrees_of_freedom
        == 6 * len(compiled_system(family, seed, conservative=True).bodies) - uneven.rank
    )


def four_bar(masses: tuple[float, float, float]) -> qp.Multibody:
    """A crank, a coupler and a rocker under springs, at rest."""
    corners = [
        np.array(at) for at in ((0.0, 0.0, 0.0), (0.3, 0.4, 0.0), (1.2, 0.7, 0.0), (1.1, 0.0, 0.0))
    ]
    bars, hinges = [], []
    for name, one, two, mass in zip(
        ("crank", "coupler", "rocker"), corners, corners[1:], masses, strict=False
    ):
        along = two - one
        turn = qp.rotation((0, 0, 1), math.atan2(along[1], along[0]))
        size = (float(np.linalg.norm(along)), 0.05, 0.05)
        bars.append(
            qp.Body.box(name, size, mass, position=tuple(0.5 * (one + two)), orientation=turn)
        )
    ends = [qp.GROUND, *bars, qp.GROUND]
    for k, corner in enumerate(corners):
        hinges.append(qp.Revolute(f"h{k}", ends[k], ends[k + 1], at=tuple(corner), axis=(0, 0, 1)))
    return qp.Multibody(*bars, *hinges, qp.HingeSpring("spring", hinges[0], stiffness=2.0))


@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize("mass", [1e-18, 1e-15, 1e-13, 1e-12, 1e-6, 1.0, 1e6, 1e12])
def test_a_four_bar_has_one_freedom(mass: float, which: int) -> None:
    masses = [1.0, 1.0, 1.0]
    masses[which] = mass
    system = four_bar((masses[0], masses[1], masses[2]))
    assert system.mobility().degrees_of_freedom == 1
    assert len(system.linearize(inputs=(), outputs=()).A) == 2


@pytest.mark.parametrize("mass", [1e-13, 1e-15, 1e-18])
def test_a_light_member_does_not_change_the_frequency(mass: float) -> None:
    """Of a four-bar: as light as that it weighs nothing."""
    light, lighter = (
        four_bar((1.0, m, 1.0)).linearize(inputs=(), outputs=()) for m in (1e-9, mass)
    )
    np.testing.assert_allclose(abs(lighter.poles), abs(light.poles), rtol=1e-6)


@seeds(12, 4, attack=500)
def test_reactions_know_which_loads_are_determined(seed: int) -> None:
    """Whatever masses are."""
    system = compiled_system("lattices", seed, conservative=True)
    rng = np.random.default_rng([seed, 5])
    factors = {body: float(10.0 ** rng.uniform(-9.0, 9.0)) for body in system.bodies}
    uneven = system.on_tables(vary(system.tables, factors, {}, {}), system.initial)
    one, two = (s.reactions() for s in (system, uneven))
    assert {name: r.unique for name, r in one.items()} == {
        name: r.unique for name, r in two.items()
    }
