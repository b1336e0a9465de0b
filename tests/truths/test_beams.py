"""Beams by the textbooks: frequencies, deflections, buckling, participation, and spin."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy import cos, cosh, sin, sinh
from scipy.optimize import brentq

import quirkpy as qp
from quirkpy.maths.types import Floats
from quirkpy.parts.beam import Beam
from quirkpy.parts.part import PartError
from quirkpy.tables.compile import rewrite
from tests.bending import spinning_modes

LENGTH, EI, LINE = 1.7, 3.0, 2.0
#: Euler and Bernoulli's unit of angular frequency [rad/s].
UNIT = np.sqrt(EI / LINE) / LENGTH**2
#: First and second frequency of a cantilever that turns about its root, across the plane of spin,
#: in units of Euler and Bernoulli, by its speed in the same units (Wright et al., J. Applied
#: Mechanics 49, 1982).
FLAP = {
    0: (3.5160, 22.0345), 1: (3.6816, 22.1810), 2: (4.1373, 22.6149), 3: (4.7973, 23.3203),
    4: (5.5850, 24.2733), 5: (6.4495, 25.4461), 6: (7.3604, 26.8091), 8: (9.2568, 29.9954),
    10: (11.2023, 33.6404), 12: (13.1702, 37.6031),
}  # fmt: skip


def a_beam(**changes: Any) -> Beam:
    given: dict[str, Any] = {
        "start": (0.0, 0.0, 0.0), "end": (LENGTH, 0.0, 0.0), "EA": 1e6, "EI": EI, "GJ": 7.0,
        "mass_per_length": LINE,
    } | changes  # fmt: skip
    return Beam("boom", **given)


def roots(equation: Callable[[float], float], count: int) -> Floats:
    """The first zeros above 0.5 of a function that changes its sign once within half a unit."""
    found: list[float] = []
    low = 0.5
    while len(found) < count:
        if equation(low) * equation(low + 0.5) < 0.0:
            found.append(brentq(equation, low, low + 0.5, xtol=1e-14))
        low += 0.5
    return np.array(found)


def clamped_free(x: float) -> float:
    return cos(x) + 1.0 / cosh(x)


def clamped_clamped(x: float) -> float:
    return cos(x) - 1.0 / cosh(x)


SUPPORTS = {
    "start": clamped_free, "end": clamped_free, "both": clamped_clamped, "free": clamped_clamped,
    "pinned": sin,
}  # fmt: skip


# --- at rest --------------------------------------------------------------------------------------
@pytest.mark.parametrize("clamped", SUPPORTS)
@pytest.mark.parametrize("count", [1, 4, 12])
def test_bending_frequencies_are_those_of_euler_and_bernoulli(clamped: Any, count: int) -> None:
    beam = a_beam(clamped=clamped, modes=(0, count, count, 0), EI=(EI, 4.0 * EI))
    found = np.sort(beam.modal.frequencies)
    once = UNIT * roots(SUPPORTS[clamped], count) ** 2
    assert found == pytest.approx(np.sort(np.concatenate([once, 2.0 * once])), rel=1e-12)


@pytest.mark.parametrize("clamped", SUPPORTS)
def test_torsion_and_stretching_are_quarter_waves_or_half_waves(clamped: Any) -> None:
    beam = a_beam(clamped=clamped, modes=(3, 0, 0, 3))
    waves = np.arange(1, 4) - (0.0 if clamped in ("both", "free") else 0.5)
    stretching = np.sqrt(1e6 / LINE) * waves * np.pi / LENGTH
    polar = LINE * 2.0 * EI / 1e6
    twisting = np.sqrt(7.0 / polar) * waves * np.pi / LENGTH
    expected = np.sort(np.concatenate([stretching, twisting]))
    assert beam.modal.frequencies == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("tip", [0.3, 3.0, 30.0])
def test_a_mass_at_the_tip_lowers_the_frequencies(tip: float) -> None:
    share = tip / (LINE * LENGTH)

    def equation(x: float) -> float:
        slow = cos(x) + 1.0 / cosh(x)
        return slow + share * x * (cos(x) * sinh(x) - sin(x) * cosh(x)) / cosh(x)

    for clamped, masses in (("start", (0.0, tip)), ("end", (tip, 0.0))):
        beam = a_beam(clamped=clamped, tip_masses=masses, modes=(0, 3, 0, 0))
        assert beam.modal.frequencies == pytest.approx(UNIT * roots(equation, 3) ** 2, rel=1e-12)


def test_the_lowest_modes_are_chosen_from_all_motions() -> None:
    every = a_beam(modes=(0, 5, 5, 5), EI=(EI, 1.3 * EI)).modal.frequencies
    for count in (1, 2, 5):
        some = a_beam(modes=count, EI=(EI, 1.3 * EI)).modal.frequencies
        assert some == pytest.approx(every[:count], rel=1e-12)


def test_two_polynomials_bend_as_loads_at_the_tip_ask() -> None:
    """P L^3 / 3 EI, P L^2 / 2 EI and M L / EI; true modes tend to them."""
    expected = np.array([[LENGTH**3 / 3.0, LENGTH**2 / 2.0], [LENGTH**2 / 2.0, LENGTH]]) / EI
    for shapes, count, error in (("polynomials", 2, 1e-12), ("modes", 12, 2e-3)):
        beam = a_beam(shapes=shapes, modes=(0, count, 0, 0))
        tip = beam.modes_at(beam.at(1.0).at)
        follow = np.column_stack([tip.displacement[:, 1], tip.rotation[:, 2]])
        found = follow.T @ np.linalg.solve(beam.modal.stiffness, follow)
        assert found == pytest.approx(expected, rel=40.0 * error if count > 2 else error)


def test_a_beam_buckles_as_euler_says() -> None:
    """A load along the beam does work as points draw near; its least critical value by support."""
    for clamped, factor in (("start", 0.25), ("pinned", 1.0)):
        beam = a_beam(clamped=clamped, modes=(0, 8, 0, 0), shapes="polynomials")
        nearer = beam.modes_at(beam.at(1.0).at).shortening[0]
        loads = np.linalg.eigvals(np.linalg.solve(nearer, beam.modal.stiffness)).real
        assert loads.min() == pytest.approx(factor * np.pi**2 * EI / LENGTH**2, rel=1e-9)


def test_participation_of_modes_is_that_of_the_closed_shapes() -> None:
    """The integrals of w and of x w over a cantilever whose w^2 has the integral one."""
    beam = a_beam(modes=(0, 6, 0, 0))
    x = roots(clamped_free, 6)
    force = 2.0 * (sinh(x) - sin(x)) / (cosh(x) + cos(x)) / x
    model = beam.modal
    assert abs(model.linear[:, 1]) == pytest.approx(force * np.sqrt(beam.mass), rel=1e-11)
    about_root = model.angular[:, 2] + 0.5 * LENGTH * model.linear[:, 1]
    assert abs(about_root) == pytest.approx(2.0 * LENGTH * np.sqrt(beam.mass) / x**2, rel=1e-11)


# --- spinning -------------------------------------------------------------------------------------
@pytest.mark.parametrize("speed", FLAP)
def test_a_spinning_cantilever_stiffens_as_measured(speed: int) -> None:
    lag, flap = (
        spinning_modes(beam, np.array([0.0, 0.0, speed * UNIT]), beam.at(0.0).at).frequencies[:2]
        for beam in (a_beam(modes=m, shapes="polynomials") for m in ((0, 9, 0, 0), (0, 0, 9, 0)))
    )
    assert flap / UNIT == pytest.approx(FLAP[speed], abs=6e-5)
    assert lag**2 == pytest.approx(flap**2 - (speed * UNIT) ** 2, rel=1e-10)


def test_without_stiffening_a_spinning_cantilever_grows_soft_and_falls_over() -> None:
    """In the plane of spin, from the first frequency at rest on."""
    for share, stable in ((0.99, True), (1.01, False)):
        for stiffening in (True, False):
            beam = a_beam(modes=(0, 6, 6, 0), stiffening=stiffening)
            spin = np.array([0.0, 0.0, share * beam.modal.frequencies[0]])
            lowest = np.linalg.eigvalsh(spinning_modes(beam, spin, beam.at(0.0).at).stiffness)[0]
            assert (lowest > 0.0) == (stable or stiffening)


def test_a_spinning_beam_is_as_much_longer_as_simo_and_vu_quoc_say() -> None:
    """5.1432e-4 m, and, from EA u'' = -m spin^2 (x + u), tan(k L) / k - L."""
    beam = a_beam(
        end=(10.0, 0.0, 0.0), EA=2.8e7, EI=1.4e4, mass_per_length=1.2, modes=(4, 0, 0, 0),
        shapes="polynomials",
    )  # fmt: skip
    found = spinning_modes(beam, np.array([0.0, 0.0, 6.0]), beam.at(0.0).at)
    longer = beam.deflection(np.linalg.solve(found.stiffness, found.load))[0]
    k = 6.0 * np.sqrt(1.2 / 2.8e7)
    assert longer == pytest.approx(5.1432e-4, abs=5e-9)
    assert longer == pytest.approx(np.tan(10.0 * k) / k - 10.0, rel=1e-9)


# --- frames ---------------------------------------------------------------------------------------
def test_a_beam_clamped_at_its_end_is_the_reverse_of_one_clamped_at_its_start() -> None:
    there = a_beam(tip_masses=(0.1, 0.7), modes=9)
    back = a_beam(
        start=(LENGTH, 0, 0), end=(0, 0, 0), clamped="end", tip_masses=(0.7, 0.1), modes=9
    )
    assert back.position == pytest.approx(there.position)
    assert back.modal.frequencies == pytest.approx(there.modal.frequencies, rel=1e-12)
    for share in (0.0, 0.3, 1.0):
        one = there.modes_at(there.at(share).at)
        two = back.modes_at(back.at(1.0 - share).at)
        for way in range(2):  # compliances along each axis do not know signs of shapes
            a, b = (m.displacement[:, 1 + way] for m in (one, two))
            c, d = (beam.modal.frequencies for beam in (there, back))
            assert np.sum((a / c) ** 2) == pytest.approx(np.sum((b / d) ** 2), rel=1e-10)
        nearer, farther = (np.trace(m.shortening[0]) for m in (one, two))
        assert nearer == pytest.approx(-farther, rel=1e-10)


@pytest.mark.parametrize("clamped", SUPPORTS)
def test_shapes_keep_to_their_support(clamped: Any) -> None:
    beam = a_beam(clamped=clamped, tip_masses=(0.4, 0.1), modes=(2, 3, 2, 2))
    start, end = (beam.modes_at(beam.at(share).at) for share in (0.0, 1.0))
    held = {"start": [start], "end": [end], "both": [start, end], "pinned": [], "free": []}
    for point in held[clamped]:
        for found in (point.displacement, point.rotation, point.shortening):
            assert abs(found).max() < 1e-9
    if clamped == "pinned":
        assert abs(start.displacement).max() < 1e-9
        assert abs(end.displacement[:, 1:]).max() < 1e-9
    if clamped == "free":
        model = beam.modal
        for integral in (model.linear, model.angular, model.shortening):
            assert abs(integral).max() < 1e-9


def test_mass_and_moments_are_those_of_its_points() -> None:
    beam = Beam(
        "boom", start=(1.0, 2.0, 3.0), end=(2.0, 1.0, 3.5), EA=1e4, EI=(3.0, 5.0), GJ=2.0,
        mass_per_length=0.7, tip_masses=(0.5, 0.2), y=(0.0, 0.0, 1.0),
    )  # fmt: skip
    points = beam.mass_points
    assert points.mass == pytest.approx(beam.mass)
    assert points.inertia == pytest.approx(beam.inertia_matrix, abs=1e-12)
    placed = beam.position + points.points @ beam.matrix.T
    assert placed[0] == pytest.approx(beam.start)
    assert placed[-1] == pytest.approx(beam.end)
    assert beam.at(0.0).placed()[0] == pytest.approx(beam.start)
    assert beam.at(1.0).placed()[0] == pytest.approx(beam.end)
    assert beam.matrix[:, 1] @ (0, 0, 1) > 0.0
    assert beam.matrix[:, 2] @ (0, 0, 1) == pytest.approx(0.0, abs=1e-15)


def test_a_point_beside_the_line_turns_with_its_section() -> None:
    """By full rotations, up to squares of the bending."""
    beam = a_beam(modes=(0, 2, 2, 2), EI=(EI, 2.0 * EI))
    rng = np.random.default_rng(3)
    place = np.array(beam.at(0.8).at)
    arm = np.array([0.0, 0.2, -0.3])
    line, beside = beam.modes_at(tuple(place)), beam.modes_at(tuple(place + arm))
    for size in (1e-2, 1e-3):
        q = size * rng.normal(size=6)
        theta = q @ line.rotation
        turned = np.cross(theta, arm) + 0.5 * np.cross(theta, np.cross(theta, arm))
        moved = q @ (beside.displacement - line.displacement)
        moved = moved - 0.5 * (beside.shortening - line.shortening) @ q @ q
        assert moved == pytest.approx(turned, abs=1e-14)


def test_what_no_beam_can_be_is_refused() -> None:
    for changes, words in (
        ({"end": (0, 0, 0)}, "start and end are the same point"),
        ({"EI": (1.0, -1.0)}, "EI is -1.0, but must be positive"),
        ({"modes": (1, 2)}, r"modes is \(1, 2\), but must be one number, or four"),
        ({"modes": 2.5}, "modes is 2.5, but must be a whole number"),
        ({"modes": 0}, "modes is 0, but must be 1 to 100"),
        ({"damping": (0.1, 0.2)}, "damping has 2 numbers, but there are 6 modes"),
        ({"clamped": "middle"}, "clamped is 'middle', but must be one of 'start'"),
        ({"y": (2.0, 0.0, 0.0)}, "y lies along the beam"),
        ({"radius": 0.1, "tip_masses": (0.0, 1.0)}, "unequal tip_masses shift its mass centre"),
    ):
        with pytest.raises(PartError, match=words):
            a_beam(**changes)
    with pytest.raises(PartError, match=r"share is 1.2, but must be a share of the length"):
        a_beam().at(1.2)
    tables = qp.Multibody(a_beam()).tables
    with pytest.raises(PartError, match="'mass' cannot change with a selection; only mass and"):
        rewrite(tables, {"boom": {"mass": 3.0}})
    with pytest.raises(PartError, match="start and end"):
        dataclasses.replace(a_beam(), end=(0.0, 0.0, 0.0))


@pytest.mark.parametrize("amounts", [(1.0, 2.0), 1.0, np.zeros((6, 2))])
def test_amounts_of_other_modes_are_refused(amounts: Any) -> None:
    with pytest.raises(PartError, match=r"'boom': amounts have shape .* have 6 numbers"):
        a_beam(modes=6).deflection(amounts)
