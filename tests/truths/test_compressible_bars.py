"""Compressible bars against minimal coordinates, formulas by hand, and laws."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import quirkpy as qp
from tests.motion import TIGHT
from tests.random_systems import seeds

LENGTH, RADIUS, NU = 5.0, 0.05, 0.46
SIDE = LENGTH / math.sqrt(2.0)
HDPE: dict[str, Any] = {"density": 960.0, "radius": RADIUS, "modulus": 1e9, "poisson": NU}
SPRINGS: dict[str, Any] = {"stiffness": 100.0, "rest": (0.9, 0.9, 0.8)}


def sole(poisson: float = NU, tips: tuple[float, float] = (0.0, 0.0), **more: Any) -> Any:
    return qp.CompressibleBar(
        "b", (0, 0, 0), (3, 4, 0), modulus=1e9, density=960.0, radius=0.5, poisson=poisson,
        tips=tips, **more,
    )  # fmt: skip


@seeds(6, 3)
def test_its_kinetic_energy_is_that_of_a_bar_of_that_length_and_thickness(seed: int) -> None:
    """At any length, not just near the first: of the mass centre, of turning with m (3 r^2 + L^2) /
    12, of stretching, and of masses at its tips."""
    rng = np.random.default_rng(seed)
    bar = sole(tips=tuple(rng.uniform(0.0, 50.0, 2)))
    free = qp.Multibody(*bar)
    stretch, rate, velocity, spin = 0.4, rng.normal(), rng.normal(size=3), rng.normal(size=3)
    axis = np.array([0.6, 0.8, 0.0])
    spin -= (spin @ axis) * axis  # about its own axis its inertia is a convention
    wanted = {}
    for body, sense in zip((bar.middle, *bar.ends), (0.0, -1.0, 1.0), strict=True):
        moved = np.array(body.position) + 0.5 * sense * stretch * axis
        arm = moved - np.array(bar.middle.position)
        wanted[body.name] = {
            "position": moved, "angular_velocity": body.matrix.T @ spin,
            "velocity": velocity + np.cross(spin, arm) + 0.5 * sense * rate * axis,
        }  # fmt: skip
    state = free.initial.replace(wanted)
    b = NU * 0.5 / 5.0
    length, radius, m = 5.0 + stretch, 0.5 - b * stretch, bar.weight
    tips = [velocity + 0.5 * s * (rate * axis + np.cross(spin, axis) * length) for s in (-1, 1)]
    expected = 0.5 * m * velocity @ velocity
    expected += m * (3.0 * radius**2 + length**2) / 24.0 * spin @ spin
    expected += m * (1.0 + 3.0 * b**2) / 24.0 * rate**2
    expected += 0.5 * sum(M * v @ v for M, v in zip(bar.tips, tips, strict=True))
    energy = free.energy(state)
    assert energy.kinetic == pytest.approx(expected, rel=1e-12)
    assert energy.potential == pytest.approx(0.5 * bar.stiffness * stretch**2, rel=1e-12)


def test_it_rings_as_a_bar_of_equal_shares_does() -> None:
    """Free at sqrt(12 k / m), held at one end at sqrt(3 k / m), for a thin one."""
    thin = qp.CompressibleBar("b", (0, 0, 0), (3, 4, 0), modulus=1e9, mass=30.0, radius=0.01)
    held = qp.Spherical("foot", qp.GROUND.site("o"), thin.first_tip)
    for parts, factor in (((), 12.0), ((held,), 3.0)):
        stiffness = qp.Multibody(*thin, *parts).linearize().stiffness
        found = np.linalg.eigvals(stiffness).real.max()
        assert found == pytest.approx(factor * thin.stiffness / 30.0, rel=1e-6)


def by_lengths(t: float) -> np.ndarray:
    """The tips of a T-bar of HDPE at a time (2, 2): of each bar a length and an angle, by
    Lagrange's equations."""
    m, area = 960.0 * math.pi * RADIUS**2 * LENGTH, math.pi * RADIUS**2
    k, b = 1e9 * area / LENGTH, NU * RADIUS / LENGTH
    rests = np.array((0.9, 0.9, 0.8)) * SIDE
    feet, along = np.array([[0.0, 0.0], [SIDE, 0.0]]), m / 3.0 + m * b**2 / 4.0

    def tips_of(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        units = np.array([[math.cos(a), math.sin(a)] for a in x[2:4]])
        return feet + x[:2, None] * units, units

    def slope(_: float, x: np.ndarray) -> np.ndarray:
        tips, units = tips_of(x)
        pulls = np.zeros((2, 2))
        for i, other, rest in ((0, feet[1], rests[0]), (1, feet[0], rests[1])):
            d = tips[i] - other
            pulls[i] -= 100.0 * max(0.0, np.linalg.norm(d) - rest) * d / np.linalg.norm(d)
        d = tips[0] - tips[1]
        f = 100.0 * max(0.0, np.linalg.norm(d) - rests[2]) * d / np.linalg.norm(d)
        pulls += np.array([-f, f])
        normals = np.array([[-u[1], u[0]] for u in units])
        L, rate, turn = x[:2], x[4:6], x[6:8]
        r = RADIUS - b * (L - LENGTH)
        inertia = m * (L**2 / 3.0 + r**2 / 4.0)
        grows = m * (2.0 * L / 3.0 - 0.5 * b * r)
        radial = (pulls * units).sum(1) - k * (L - LENGTH) + 0.5 * grows * turn**2
        across = L * (pulls * normals).sum(1) - grows * rate * turn
        return np.concatenate([rate, turn, radial / along, across / inertia])

    start = [LENGTH, LENGTH, math.pi / 4, 3 * math.pi / 4, 0.0, 0.0, 0.0, 0.0]
    found = solve_ivp(slope, (0.0, t), start, "DOP853", rtol=1e-12, atol=1e-14, max_step=2e-3)
    return tips_of(found.y[:, -1])[0]


def test_a_compressible_t_bar_moves_as_two_lengths_and_two_angles_do() -> None:
    """To 1e-9 m, by the explicit method and, to its tolerance, by the implicit one."""
    made = qp.tensegrities.t_bar(bar=HDPE, string=SPRINGS)
    assert sum(body.mass for body in made.system.parts if isinstance(body, qp.Body)) == (
        pytest.approx(75.39, abs=0.01)  # table 2 of the paper
    )
    best = by_lengths(0.5)
    run = made.system.simulate(0.5, **TIGHT)
    np.testing.assert_allclose(made.places(run.final)[2:, [0, 2]], best, rtol=0, atol=1e-9)
    stiff = made.system.simulate(0.5, method="radau", rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(made.places(stiff.final)[2:, [0, 2]], best, rtol=0, atol=1e-6)
    assert run["b1 elasticity"].tension.min() < -20.0  # it is pressed


def test_stiff_ones_move_as_rigid_ones_do() -> None:
    """Of steel a T-bar stays as near to that of rigid bars as it is pressed together."""
    bar = {"density": 500.0, "radius": RADIUS}
    rigid = qp.tensegrities.t_bar(bar=bar, string=SPRINGS)
    soft = qp.tensegrities.t_bar(bar={**bar, "modulus": 2e11}, string=SPRINGS)
    one, two = (made.places(made.system.simulate(1.0).final) for made in (rigid, soft))
    assert 1e-9 < abs(one - two).max() < 1e-6


@seeds(3, 1)
def test_what_floats_keeps_energy_and_momenta(seed: int) -> None:
    """A prism of soft bars with masses at nodes, thrown, with strings of random lengths."""
    rng = np.random.default_rng(seed)
    made = qp.tensegrities.prism(
        3, fixed=False, bar={"mass": 2.0, "modulus": 1e6, "radius": 0.05, "poisson": 0.3},
        string={"stiffness": 500.0, "rest": rng.uniform(0.5, 0.9, 9)}, masses={0: 0.5, 4: 0.3},
    )  # fmt: skip
    velocity, spin = rng.normal(size=3), rng.normal(size=3)
    moving = made.system.initial.replace(
        {
            body.name: {
                "velocity": velocity + np.cross(spin, body.position),
                "angular_velocity": body.matrix.T @ spin,
            }
            for body in made.system.parts if isinstance(body, qp.Body)
        }
    )  # fmt: skip
    run = made.system.simulate(0.5, state=moving, **TIGHT)
    assert np.ptp(run.energy) <= 1e-10 * run.energy[0]
    size = math.sqrt(2.0 * run.energy[0] * 7.0)
    assert np.ptp(run.momentum, axis=0).max() <= 1e-11 * size
    assert np.ptp(run.angular_momentum, axis=0).max() <= 1e-10 * size
    assert np.ptp(run["b1 elasticity"].length) > 1e-3


def test_prestress_finds_the_rest_lengths_of_bars_too() -> None:
    """The tensions are those between rigid bars, each bar pushes with what holds them, and all
    stays where it is."""
    string = {"stiffness": 5e3}
    rigid = qp.tensegrities.prism(3, fixed=False, bar={"mass": 1.0}, string=string)
    soft = qp.tensegrities.prism(3, fixed=False, bar={"mass": 1.0, "modulus": 1e8}, string=string)
    bars = [bar.elasticity.name for bar in soft.compressible]
    one, two = qp.prestress(rigid.system, 20.0), qp.prestress(soft.system, 20.0, bars=bars)
    for name, tension in one.tension.items():
        assert two.tension[name] == pytest.approx(tension, rel=1e-9)
    # the densities of bars are those of upright strings, pushing
    for name in bars:
        assert two.density[name] == pytest.approx(-two.density["s7"], rel=1e-9)
        assert two.rest_length[name] > soft.compressible[0].length
    assert abs(two.system.acceleration()[:, :3]).max() < 1e-6
    with pytest.raises(qp.PartError, match="bars names 's1', which is no Spring"):
        qp.prestress(soft.system, bars=["s1"])


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"end": (0, 0, 0)}, "start and end are the same point"),
        ({"mass": 1.0, "density": 1.0}, "give its mass .* and not both"),
        ({}, "give its mass"),
        ({"mass": 1.0, "poisson": 0.6}, "poisson is 0.6, but must be below 0.5"),
        ({"mass": 1.0, "modulus": 0.0}, "modulus is 0.0, but must be positive"),
        ({"mass": 1.0, "tips": (1.0,)}, "tips has shape"),
        ({"mass": 1.0, "tips": (1.0, -1.0)}, "tips is -1.0, but must not be negative"),
    ],
)
def test_bars_that_are_none_are_refused(changes: dict[str, Any], sentence: str) -> None:
    given = {"start": (0, 0, 0), "end": (1, 0, 0), "modulus": 1e9, **changes}
    with pytest.raises(qp.PartError, match=f"CompressibleBar 'b': {sentence}"):
        qp.CompressibleBar("b", **given)
