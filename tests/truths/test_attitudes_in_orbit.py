"""The 24 attitudes of a box in a circular orbit, and free bodies that spin: which last, and which
turning alone holds.

Moments along the frame: Ix radial, Iy along the track, Iz normal.  Pitch: w^2 = 3 n^2 (Iy - Ix) /
Iz.  Roll and yaw, with a = (Iz - Ix) / Iy and b = (Iz - Iy) / Ix: s^4 + (1 + 3 a + a b) n^2 s^2 + 4
a b n^4 = 0.  Lagrange: Iz > Iy > Ix, a minimum of the amended potential; DeBra and Delp: a, b < 0
and yet imaginary roots (Hughes, Spacecraft Attitude Dynamics)."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import quirkpy as qp

RATE = 1.1e-3
#: Moments that, in the right order, lie in the region of DeBra and Delp.
MOMENTS = (1.0, 1.9, 0.95)


def attitudes() -> list[qp.Quaternion]:
    """The 24 rotations that carry the axes of a cube onto themselves."""
    quarter = [qp.rotation(axis, 0.5 * math.pi) for axis in np.eye(3)]
    found: list[qp.Quaternion] = [qp.rotation((0, 0, 1), 0.0)]
    for q in found:
        for turn in quarter:
            new = turn * q
            if all(
                abs(new.w * p.w + new.x * p.x + new.y * p.y + new.z * p.z) < 0.99 for p in found
            ):
                found.append(new)
    return found


def box(attitude: qp.Quaternion, at: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> qp.Multibody:
    body = qp.Body("box", 12.0, MOMENTS, position=at, orientation=attitude)
    return qp.Multibody(body, qp.HillFrame(RATE))


def known(system: qp.Multibody) -> tuple[str, bool, list[float]]:
    """Verdict, whether it is gyroscopic, and the moduli of the roots, smallest first."""
    body = system["box"]
    assert isinstance(body, qp.Body)
    Ix, Iy, Iz = np.diag(body.matrix @ body.inertia_matrix @ body.matrix.T)
    a, b = (Iz - Ix) / Iy, (Iz - Iy) / Ix
    squares = [-3.0 * (Iy - Ix) / Iz, *np.roots([1.0, 1.0 + 3.0 * a + a * b, 4.0 * a * b])]
    roots = np.concatenate([[s, -s] for s in np.sqrt(np.array(squares, dtype=complex))])
    stable = bool(abs(roots.real).max() < 1e-9)
    lagrange = Iz > Iy > Ix
    verdict = "stable" if lagrange else "marginal" if stable else "unstable"
    return (
        verdict,
        stable and not lagrange,
        sorted(RATE * abs(s) for s in roots if s.imag >= -1e-12),
    )


def test_there_are_24_attitudes_of_each_kind_four() -> None:
    kinds = [known(box(q))[:2] for q in attitudes()]
    assert len(kinds) == 24
    assert kinds.count(("stable", False)) == kinds.count(("marginal", True)) == 4


@pytest.mark.parametrize("k", range(24))
def test_each_attitude_is_certified_as_lagrange_and_as_debra_and_delp_say(k: int) -> None:
    system = box(attitudes()[k], (0.0, 3.0, 0.0))
    verdict, gyroscopic, moduli = known(system)
    found = system.settle(nudge=0.0)
    assert (found.verdict, found.gyroscopic, found.damped) == (verdict, gyroscopic, False)
    np.testing.assert_allclose([m.frequency for m in found.modes], moduli, rtol=1e-7)
    if gyroscopic:
        assert "any damping lets it go" in found.reason


def test_an_attitude_off_the_axes_is_not_at_rest() -> None:
    found = box(qp.rotation((0, 0, 1), 0.3)).settle(evaluations=20000)
    assert found.verdict == "never settles"


@pytest.mark.parametrize("k", [0, 5, 9])
def test_the_drift_along_the_orbit_is_neutral_and_no_doubt(k: int) -> None:
    """Wherever along the track it is and whichever way it drifts, the mass centre decides
    nothing."""
    found = box(attitudes()[k], (0.0, -7.0, 0.0)).settle(nudge=0.0)
    assert len(found.neutral) == 3
    assert all(m.moving == ("box moves",) for m in found.neutral)


@pytest.mark.parametrize(
    ("axis", "verdict", "gyroscopic"),
    [(0, "marginal", True), (1, "unstable", False), (2, "stable", False)],
    ids=["minor", "intermediate", "major"],
)
@pytest.mark.parametrize("turned", [0.0, 0.7])
def test_a_free_body_spins_for_ever_about_its_major_axis_alone(
    axis: int, verdict: str, gyroscopic: bool, turned: float
) -> None:
    """About axis 1, of three: growth or precession at w sqrt((I1 - I2)(I1 - I3) / (I2 I3))."""
    moments, spin = np.array([0.6, 1.0, 1.3]), 0.8
    body = qp.Body("top", 2.0, moments, orientation=qp.rotation((1, 2, 3), turned), velocity=(0.3,
    0.1, 0.0),
                   angular_velocity=spin * np.eye(3)[axis])  # fmt: skip
    found = qp.Multibody(body).settle(nudge=0.0)
    assert (found.verdict, found.gyroscopic) == (verdict, gyroscopic)
    one, two, three = moments[[axis, (axis + 1) % 3, (axis + 2) % 3]]
    rate = spin * math.sqrt(abs((one - two) * (one - three)) / (two * three))
    assert [m.frequency for m in found.modes] == pytest.approx([rate] * len(found.modes), rel=1e-7)
    assert found.modes[-1].frequency > 0.0


def test_a_body_that_nothing_moves_is_neutral_in_all_six_directions() -> None:
    found = qp.Multibody(qp.Body.box("box", (1, 2, 3), 1.0)).settle()
    assert (found.verdict, len(found.neutral), found.modes) == ("stable", 6, ())


def test_a_tumbling_body_never_settles_and_little_effort_says_so() -> None:
    body = qp.Body("top", 2.0, (0.6, 1.0, 1.3), angular_velocity=(0.3, 0.8, 0.2))
    found = qp.Multibody(body).settle()
    assert found.verdict == "never settles"
    assert found.run is not None
    assert found.run.counts.evaluations < 50_000


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("tilt", [1e-5, 1e-2])
def test_a_body_that_cones_a_little_never_settles(axis: int, tilt: float) -> None:
    """A rigid body has no energy beside that of its whole, and yet its axis goes round for ever."""
    spin = np.eye(3)[axis] + tilt * np.eye(3)[axis - 1]
    found = qp.Multibody(qp.Body("top", 2.0, (0.3, 0.4, 0.5), angular_velocity=spin)).settle()
    assert (found.verdict, found.reason) == ("never settles", "nothing takes its energy")


@pytest.mark.parametrize(("polar", "verdict"), [(0.3, "stable"), (0.5, "marginal")])
def test_across_its_axis_of_symmetry_a_body_spins_along_a_family(
    polar: float, verdict: str
) -> None:
    """About any axis across it alike: a turn about the axis is neutral beside three drifts and the
    spin itself, and the other one is no motion, for momentum is kept; energy is smallest there for
    a rod, and largest for a disc."""
    body = qp.Body("top", 2.0, (0.4, 0.4, polar), angular_velocity=(0.6, 0.8, 0.0))
    found = qp.Multibody(body).settle()
    assert (found.verdict, len(found.neutral), found.modes) == (verdict, 5, ())
    assert found.gyroscopic == (verdict == "marginal")


def test_permutations_of_the_moments_fill_all_regions() -> None:
    """Both regions of stability, and instability of pitch and of roll and yaw, are among the six
    orders."""
    regions = set()
    for Ix, Iy, Iz in itertools.permutations(MOMENTS):
        a, b = (Iz - Ix) / Iy, (Iz - Iy) / Ix
        regions.add(
            (Iy > Ix, 1 + 3 * a + a * b > 4 * math.sqrt(a * b) if a * b > 0 else False, a > 0)
        )
    assert len(regions) >= 4


@pytest.mark.parametrize("tilt", [0.0, 0.5, 0.5 * math.pi])
@pytest.mark.parametrize("edge", [0.0, 0.05])
def test_a_dumbbell_spins_about_any_transverse_axis(tilt: float, edge: float) -> None:
    """Two hinged cubes pull apart as they spin; rolled about the line between them nothing changes,
    and nor does it as they spin on: two neutral turns beside three drifts, which must not be mixed,
    for they do not commute."""
    spin = np.array([0.0, math.sin(tilt), math.cos(tilt)]) * 0.5
    cubes = [
        qp.Body.box(
            name,
            (0.1, 0.1, 0.1),
            1.0,
            position=(x, 0, 0),
            velocity=np.cross(spin, (x, 0, 0)),
            angular_velocity=spin,
        )
        for name, x in (("one", 0.0), ("two", 0.1))
    ]
    hinge = qp.Revolute("hinge", *cubes, at=(0.05, edge, 0.0), axis=(0.0, 0.0, 1.0))
    found = qp.Multibody(
        *cubes, hinge, qp.HingeSpring("spring", hinge, stiffness=0.02, damping=1e-3)
    ).settle()
    assert (found.run is None) == (
        edge == 0.0
    )  # hinged in the middle, it does not open and is at rest already
    assert (found.verdict, found.damped, len(found.neutral)) == ("stable", True, 5)
    assert len(found.modes) == 1
    assert found.modes[0].eigenvalue.real < -0.2
