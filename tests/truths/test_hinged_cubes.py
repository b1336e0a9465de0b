"""Two cubes hinged along an edge, one of them fixed: the study of Shoer and Peck, section IV.A, as
one hinge angle."""

from __future__ import annotations

import dataclasses
import math
from typing import get_args

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.mechanics.system import Evaluator

SIDE, MASS, STIFFNESS, DAMPING = 0.1, 1.0, 0.05, 2e-4
HINGE = np.array([0.05, -0.05, 0.0])
LEVER = SIDE / math.sqrt(2.0)  # from the hinge to the centre of the moving cube
#: m a^2 / 6 about the centre and m d^2 for the lever: 1/150 kg m2.
MOMENT = MASS * SIDE**2 / 6.0 + MASS * LEVER**2
#: phi: direction of the centre from the hinge; the faces meet at 45 degrees (A) and at -135 degrees
#: (B).
A, B = 0.25 * math.pi, -0.75 * math.pi

every_evaluator = pytest.mark.parametrize("evaluator", get_args(Evaluator))


def centre(phi: float) -> np.ndarray:
    """Centre of the moving cube."""
    return HINGE + LEVER * np.array([math.cos(phi), math.sin(phi), 0.0])


def cubes(phi: float, rate: float, well: tuple[float, float, float]) -> qp.Multibody:
    """Written with the faces together (A), then swung to phi."""
    hub = qp.Body.box("hub", [SIDE] * 3, fixed=True)
    cube = qp.Body.box("cube", [SIDE] * 3, MASS, position=(SIDE, 0, 0))
    hinge = qp.Revolute("hinge", hub, cube, at=HINGE, axis=(0, 0, 1))
    drag = qp.HingeSpring("drag", hinge, stiffness=0.0, damping=DAMPING)
    system = qp.Multibody(hub, cube, hinge, drag, qp.PotentialWell("pull", cube, well, STIFFNESS))
    velocity = np.cross((0.0, 0.0, rate), centre(phi) - HINGE)
    changes = {
        "position": centre(phi), "orientation": qp.rotation((0, 0, 1), phi - A),
        "velocity": velocity, "angular_velocity": (0, 0, rate),
    }  # fmt: skip
    return system.at(system.initial.replace({"cube": changes}))


@every_evaluator
@pytest.mark.parametrize(
    "well", [(0.1, 0.0, 0.0), (0.2, 0.0, 0.0), (0.0, -0.1, 0.0), (0.0, -0.2, 0.0)]
)
@pytest.mark.parametrize(
    ("phi", "rate"), [(A, 0.0), (0.5, -0.3), (-0.25 * math.pi, 0.4), (-1.9, 0.02), (B, 0.02)]
)
def test_hinged_cube_follows_its_pull(
    phi: float, rate: float, well: tuple[float, ...], evaluator: Evaluator
) -> None:
    """MOMENT phi'' = z . (lever x k (well - centre)) - c phi'."""
    system = cubes(phi, rate, well)
    lever = centre(phi) - HINGE
    torque = np.cross(lever, STIFFNESS * (well - centre(phi)))[2] - DAMPING * rate
    turn = np.array([0.0, 0.0, torque / MOMENT])
    expected = [*(np.cross(turn, lever) - rate**2 * lever), *turn]
    np.testing.assert_allclose(
        system.acceleration(evaluator=evaluator)[0], expected, rtol=0.0, atol=1e-14
    )
    assert system.initial["hinge"].angle == pytest.approx(phi - A, abs=1e-14)
    assert system.initial["hinge"].rate == pytest.approx(rate, abs=1e-16)


@pytest.mark.kernels
@every_evaluator
@pytest.mark.parametrize(
    ("phi", "well"),
    [
        (A, (0.1, 0.0, 0.0)),  # closed and pulled shut
        (
            B,
            (0.1, 0.0, 0.0),
        ),  # the pull goes straight through the hinge: an equilibrium, if an unstable one
        (math.atan2(0.05, 0.15), (0.2, 0.0, 0.0)),  # ajar at 18.43 degrees
    ],
)
def test_hinged_cube_rests_where_the_pull_passes_through_the_hinge(
    phi: float, well: tuple[float, float, float], evaluator: Evaluator
) -> None:
    assert abs(cubes(phi, 0.0, well).acceleration(evaluator=evaluator)).max() < 1e-15


def test_hinged_cube_has_the_energy_of_the_study() -> None:
    """At B with the well at (0.1, 0, 0) and 0.02 rad/s: k 0.02 / 2 + MOMENT 0.02^2 / 2 = 5.01333..
    10^-4 J."""
    assert cubes(B, 0.02, (0.1, 0.0, 0.0)).energy() == pytest.approx(
        5.013333333333333e-4, rel=1e-13
    )


def test_hinge_angle_counts_on_past_half_a_turn() -> None:
    system = cubes(A, 0.0, (0.1, 0.0, 0.0))
    state = system.initial
    for angle in np.linspace(0.0, 4.0 * math.pi, 9)[1:]:
        turn = {"position": centre(A + angle), "orientation": qp.rotation((0, 0, 1), angle)}
        state = state.replace({"cube": turn})
    assert state["hinge"].angle == pytest.approx(4.0 * math.pi, abs=1e-14)
    unwound = dataclasses.replace(state, windings=np.zeros(1, dtype=np.int64))
    assert unwound["hinge"].angle == pytest.approx(0.0, abs=1e-14)
