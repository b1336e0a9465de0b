"""Pendulum, bead on a turning hoop, column, truss: where an equilibrium stops being stable, in
closed form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import quirkpy as qp

G = 9.81


# --- pendulum -------------------------------------------------------------------------------------
def pendulum(angle: float, *, damping: float = 0.0) -> qp.Multibody:
    """A bar of 1 m and 2 kg on a hinge; it hangs down at angle 0."""
    bar = qp.Body.box("bar", (0.1, 0.1, 1.0), 2.0, position=(0.5 * math.sin(angle), 0.0,
    -0.5 * math.cos(angle)),
                      orientation=qp.rotation((0, -1, 0), angle))  # fmt: skip
    hinge = qp.Revolute("hinge", qp.GROUND, bar, at=(0, 0, 0), axis=(0, -1, 0))
    return qp.Multibody(
        bar, hinge, qp.Gravity((0, 0, -G)), qp.JointDamper("drag", hinge, damping=damping)
    )


MOMENT = 2.0 * (1.0 + 0.01) / 12.0 + 2.0 * 0.25
PENDULUM2 = 2.0 * G * 0.5 / MOMENT


@pytest.mark.parametrize(("angle", "sign"), [(0.0, 1.0), (math.pi, -1.0)])
def test_a_pendulum_is_held_or_thrown_by_the_curvature_of_its_hinge_alone(
    angle: float, sign: float
) -> None:
    """Gravity has no second derivative in N: without lambda times the curvature of the rows both
    look marginal."""
    found = pendulum(angle).settle(nudge=0.0)
    assert found.verdict == ("stable" if sign > 0.0 else "unstable")
    roots = np.roots([1.0, 0.0, sign * PENDULUM2])
    known = sorted(roots[roots.imag >= 0.0], key=abs)
    np.testing.assert_allclose(
        sorted(m.eigenvalue.real for m in found.modes), np.sort(np.real(known)), atol=1e-8
    )
    assert {round(m.frequency, 7) for m in found.modes} == {round(math.sqrt(PENDULUM2), 7)}
    assert found.energy == pytest.approx(-sign * 2.0 * G * 0.5, rel=1e-14)
    assert not found.damped


@pytest.mark.parametrize("ratio", [0.002, 0.02, 0.3])
def test_frequency_and_damping_of_a_damped_pendulum(ratio: float) -> None:
    found = pendulum(1.0, damping=2.0 * ratio * MOMENT * math.sqrt(PENDULUM2)).settle()
    assert (found.verdict, found.damped) == ("stable", True)
    (mode,) = found.modes
    assert mode.frequency == pytest.approx(math.sqrt(PENDULUM2), rel=1e-10)
    assert mode.damping == pytest.approx(ratio, rel=1e-8)
    assert found.state["hinge"].angle == pytest.approx(-1.0, abs=1e-12)
    assert found.residual < 1e-13 * G


def test_a_pendulum_upright_at_rest_falls_off_and_says_so() -> None:
    found = pendulum(math.pi, damping=0.5).settle()
    assert found.verdict == "stable"
    assert found.nudge is not None
    assert found.nudge.moving == ("bar turns",)
    assert abs(found.state["hinge"].angle) == pytest.approx(math.pi, abs=1e-12)


# --- bead on a turning hoop -----------------------------------------------------------------------
RADIUS = 0.4
CRITICAL = math.sqrt(G / RADIUS)


def hoop(rate: float, angle: float = 0.0) -> qp.Multibody:
    """A bead on a hoop that a motor turns about its upright diameter.  The bead's own moments are
    alike in all directions, so that only its place counts: (m R^2 + I) a'' = m R^2 sin a (w^2 cos a
    - g / R) - c a'."""
    place = np.array([RADIUS * math.sin(angle), 0.0, -RADIUS * math.cos(angle)])
    spin = (0.0, 0.0, rate)
    ring = qp.Body("ring", 1.0, (0.1, 0.1, 0.1), angular_velocity=spin)
    bead = qp.Body.sphere(
        "bead", 0.05, 0.3, position=place, velocity=np.cross(spin, place), angular_velocity=spin
    )
    axle = qp.Revolute("axle", qp.GROUND, ring, at=(0, 0, 0), axis=(0, 0, 1))
    wire = qp.Revolute("wire", ring, bead, at=(0, 0, 0), axis=(0, -1, 0))
    motor = qp.Prescribed("motor", axle, lambda t: (rate * t, rate, 0.0))
    drag = qp.JointDamper("drag", wire, damping=0.02)
    return qp.Multibody(ring, bead, axle, wire, motor, drag, qp.Gravity((0, 0, -G)))


#: m R^2 / (m R^2 + I) of the bead.
SHARE = RADIUS**2 / (RADIUS**2 + 0.4 * 0.05**2)


@pytest.mark.parametrize("share", [0.5, 0.98, 1.02, 2.0])
def test_the_bottom_of_a_turning_hoop_lets_go_at_the_critical_rate(share: float) -> None:
    rate = share * CRITICAL
    found = hoop(rate).settle(nudge=0.0)
    assert found.verdict == ("stable" if share < 1.0 else "unstable")
    frequencies = [m.frequency for m in found.modes]
    product = math.prod(frequencies) if len(frequencies) == 2 else frequencies[0] ** 2
    assert product == pytest.approx(SHARE * abs(CRITICAL**2 - rate**2), rel=1e-8)


@pytest.mark.parametrize("share", [1.1, 1.5, 3.0])
def test_above_it_the_bead_settles_at_the_angle_of_balance(share: float) -> None:
    """cos a = g / (w^2 R), and there it swings at w sin a."""
    rate = share * CRITICAL
    found = hoop(rate).settle()
    assert (found.verdict, found.damped) == ("stable", True)
    angle = math.acos(1.0 / share**2)
    assert abs(found.state["wire"].angle) == pytest.approx(angle, abs=1e-10)
    assert found.nudge is not None
    assert found.modes[0].frequency == pytest.approx(
        rate * math.sin(angle) * math.sqrt(SHARE), rel=1e-8
    )


def test_the_bifurcation_of_the_hoop_is_located() -> None:
    branch = qp.continue_equilibrium(
        hoop, hoop(0.5 * CRITICAL).initial, (0.5 * CRITICAL, 1.5 * CRITICAL)
    )
    assert branch.complete
    assert [s.kind for s in branch.special] == ["bifurcation"]
    assert branch.special[0].parameter == pytest.approx(CRITICAL, rel=1e-7)
    assert (branch.stable == (branch.parameters < CRITICAL)).all()


# --- column ---------------------------------------------------------------------------------------
LINK, HOLD = 0.5, 3.0
BUCKLING = HOLD * (3.0 - math.sqrt(5.0)) / (2.0 * LINK)


def column(
    load: float, *, follows: bool = False, damping: float = 0.05, lean: float = 0.0
) -> qp.Multibody:
    """Two rigid links, each on a hinge with a torsion spring, under a load at the top: along N, or
    with the link."""
    size, turn = (0.02, 0.02, LINK), qp.rotation((0, 1, 0), lean)
    lower = qp.Body.box("lower", size, 0.2, position=(0, 0, 0.5 * LINK))
    upper = qp.Body.box("upper", size, 0.2, position=(0, 0, 1.5 * LINK), orientation=turn)
    foot = qp.Revolute("foot", qp.GROUND, lower, at=(0, 0, 0), axis=(0, 1, 0))
    knee = qp.Revolute("knee", lower, upper, at=(0, 0, LINK), axis=(0, 1, 0))
    springs = [
        qp.JointSpring(f"of {j.name}", j, stiffness=HOLD, damping=damping) for j in (foot, knee)
    ]
    push = qp.Load(
        "push",
        upper,
        force=(0, 0, -load),
        at=(0, 0, 2.0 * LINK),
        frame="body" if follows else "inertial",
    )
    return qp.Multibody(lower, upper, foot, knee, *springs, push)


@pytest.mark.parametrize("share", [0.2, 0.99, 1.01, 1.5])
def test_a_sprung_column_buckles_at_its_critical_load(share: float) -> None:
    """(P L)^2 - 3 k P L + k^2 = 0."""
    found = column(share * BUCKLING).settle(nudge=0.0)
    assert found.verdict == ("stable" if share < 1.0 else "unstable")
    assert len(found.unstable) == (0 if share < 1.0 else 1)


def test_the_critical_load_is_located() -> None:
    branch = qp.continue_equilibrium(column, column(0.0).initial, (0.0, 1.3 * BUCKLING))
    assert [s.kind for s in branch.special] == ["bifurcation"]
    assert branch.special[0].parameter == pytest.approx(BUCKLING, rel=1e-7)


def flutter(damping: float) -> float:
    """The follower load at which the first eigenvalue of the column crosses into growth, from its
    own two equations."""
    m, J = 0.2, 0.2 * (LINK**2 + 0.02**2) / 12.0
    M = np.array(
        [[1.25 * m * LINK**2 + J, 0.5 * m * LINK**2], [0.5 * m * LINK**2, 0.25 * m * LINK**2 + J]]
    )
    C, K = (np.array([[2.0, -1.0], [-1.0, 1.0]]) * x for x in (damping, HOLD))

    def growth(load: float) -> float:
        stiffness = K + load * LINK * np.array([[-1.0, 1.0], [0.0, 0.0]])
        A = np.block(
            [
                [np.zeros((2, 2)), np.eye(2)],
                [-np.linalg.solve(M, stiffness), -np.linalg.solve(M, C)],
            ]
        )
        return float(np.linalg.eigvals(A).real.max())

    low, high = 0.0, 10.0 * HOLD / LINK
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if growth(middle) < 0.0 else (low, middle)
    return low


@pytest.mark.parametrize("share", [0.5, 0.98, 1.02, 1.4])
def test_a_follower_load_makes_it_flutter_and_no_energy_says_so(share: float) -> None:
    """Ziegler's column: K is not symmetric, and its determinant never vanishes; the eigenvalues
    decide."""
    found = column(share * flutter(0.05), follows=True).settle(nudge=0.0)
    assert found.verdict == ("stable" if share < 1.0 else "unstable")
    if share > 1.0:
        assert abs(found.unstable[0].eigenvalue.imag) > 1.0


def test_the_onset_of_flutter_is_located() -> None:
    known = flutter(0.05)
    branch = qp.continue_equilibrium(
        lambda load: column(load, follows=True),
        column(0.0).initial,
        (0.0, 1.3 * known),
        longest=0.02,
    )
    assert [s.kind for s in branch.special] == ["onset of oscillation"]
    assert branch.special[0].parameter == pytest.approx(known, rel=1e-6)


# --- truss ----------------------------------------------------------------------------------------
HALF, RISE, AXIAL = 1.0, 0.3, 50.0


def truss(load: float) -> qp.Multibody:
    """Two springs from (-HALF, 0, 0) and (HALF, 0, 0) to a slider at height RISE, pushed down."""
    slider = qp.Body.box("slider", (0.1, 0.1, 0.1), 0.5, position=(0, 0, RISE))
    rail = qp.Prismatic("rail", qp.GROUND, slider, at=(0, 0, RISE), axis=(0, 0, 1))
    sides: Any = [
        qp.Spring(
            f"side {x}",
            qp.GROUND,
            slider,
            at1=(x, 0, 0),
            at2=(0, 0, RISE),
            stiffness=AXIAL,
            damping=1.0,
        )
        for x in (-HALF, HALF)
    ]
    return qp.Multibody(slider, rail, *sides, qp.Load("push", slider, force=(0, 0, -load)))


def test_a_shallow_truss_snaps_through_at_the_fold() -> None:
    """P = 2 k y (l0 / l - 1), l^2 = a^2 + y^2, is largest where l^3 = l0 a^2; the branch turns
    there, and again."""
    rest = math.hypot(HALF, RISE)
    length = (rest * HALF**2) ** (1.0 / 3.0)
    height = math.sqrt(length**2 - HALF**2)
    most = 2.0 * AXIAL * height * (rest / length - 1.0)
    branch = qp.continue_equilibrium(
        truss, truss(-1.5 * most).settle().state, (-1.5 * most, 1.5 * most)
    )
    assert branch.complete
    assert [s.kind for s in branch.special] == ["fold", "fold"]
    np.testing.assert_allclose([s.parameter for s in branch.special], (most, -most), rtol=1e-7)
    heights = [s.state["slider"].position[2] for s in branch.special]
    np.testing.assert_allclose(heights, (height, -height), rtol=1e-4)
    at = np.array([p.state["slider"].position[2] for p in branch])
    known = 2.0 * AXIAL * at * (rest / np.hypot(HALF, at) - 1.0)
    np.testing.assert_allclose(branch.parameters, known, rtol=0.0, atol=1e-9)
    np.testing.assert_array_equal(branch.stable, abs(at) > height)


@pytest.mark.parametrize("share", [0.6, 1.05])
def test_past_the_fold_the_truss_settles_on_the_other_side(share: float) -> None:
    rest = math.hypot(HALF, RISE)
    length = (rest * HALF**2) ** (1.0 / 3.0)
    most = 2.0 * AXIAL * math.sqrt(length**2 - HALF**2) * (rest / length - 1.0)
    light = truss(0.5 * most).settle()
    assert light.state["slider"].position[2] > 0.0
    found = truss(share * most).settle(light.state)
    assert found.verdict == "stable"
    assert (found.state["slider"].position[2] > 0.0) == (share < 1.0)


# --- nothing but the fourth order -----------------------------------------------------------------
@pytest.mark.parametrize("damping", [0.0, 0.5])
@pytest.mark.parametrize("length", [1.0, 1.2])
def test_two_springs_across_a_rail_hold_as_their_length_says(damping: float, length: float) -> None:
    """At their rest length they hold to fourth order alone, which is marginal and no growth;
    pressed, they push it to either side, to x^2 = length^2 - 1, over 2 k (length - 1)^2 / 2."""
    bead = qp.Body.sphere("bead", 0.05, 1.0)
    rail = qp.Prismatic("rail", qp.GROUND, bead, at=(0, 0, 0), axis=(1, 0, 0))
    springs = [
        qp.Spring(
            f"spring {y}",
            qp.GROUND,
            bead,
            at1=(0, y, 0),
            at2=(0, 0, 0),
            stiffness=10.0,
            rest_length=length,
        )
        for y in (-1.0, 1.0)
    ]
    system = qp.Multibody(bead, rail, *springs, qp.JointDamper("drag", rail, damping=damping))
    found = system.settle(nudge=0.0)
    assert found.run is None
    if length == 1.0:
        assert (found.verdict, [m.moving for m in found.marginal]) == (
            "marginal",
            [("bead moves",)],
        )
        return
    assert found.verdict == "unstable"
    (left, right), (top,) = (
        [e for e in system.equilibria(seeds=12) if e.verdict == v] for v in ("stable", "unstable")
    )
    for well in (left, right):
        assert abs(well.state["bead"].position[0]) == pytest.approx(
            math.sqrt(length**2 - 1.0), abs=1e-12
        )
        over = system.saddle(well)
        assert over is not None
        assert over.barrier == pytest.approx(10.0 * (length - 1.0) ** 2, rel=1e-10)
        assert over.barrier == pytest.approx(top.energy - well.energy, rel=1e-12)
