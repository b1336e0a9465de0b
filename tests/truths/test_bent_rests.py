"""Bodies that bend, at rest: deflections, frequencies and loss of stability by the textbooks."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy import cos, cosh, sin, sinh
from scipy.optimize import brentq

import quirkpy as qp
from quirkpy.maths.types import Floats
from tests.bending import spinning_modes
from tests.clouds import Cloud

LENGTH, EI, LINE = 1.7, 3.0, 2.0
UNIT = np.sqrt(EI / LINE) / LENGTH**2
CLAMPED_FREE = np.array([1.8751040687119611, 4.694091132974174, 7.854757438237612])


def a_beam(**changes: Any) -> qp.Beam:
    given: dict[str, Any] = {
        "start": (0.0, 0.0, 0.0), "end": (LENGTH, 0.0, 0.0), "EA": 1e6, "EI": EI, "GJ": 7.0,
        "mass_per_length": LINE, "modes": (0, 3, 3, 0), "shapes": "polynomials",
    } | changes  # fmt: skip
    return qp.Beam("boom", **given)


def cantilever(*more: qp.Part, **changes: Any) -> qp.Multibody:
    boom = a_beam(**changes)
    return qp.Multibody(boom, qp.Fixed("root", qp.GROUND.site("root"), boom.at(0.0)), *more)


def pushed(boom: qp.Beam, force: tuple[float, float, float], share: float = 1.0) -> qp.Load:
    place = (share * LENGTH, 0.0, 0.0)
    return qp.Load("push", boom, force=force, at=place)


def frequencies(rest: qp.Equilibrium) -> Floats:
    return np.sort([mode.frequency for mode in rest.modes])


# --- deflections ----------------------------------------------------------------------------------
def test_a_load_at_the_tip_bends_a_cantilever_as_the_textbooks_say() -> None:
    """P L^3 / 3 EI along both axes, from the straight beam by Newton's method."""
    boom = a_beam()
    found = cantilever(pushed(boom, (0.0, 1e-3, -2e-3))).settle()
    expected = np.array([0.0, 1e-3, -2e-3]) * LENGTH**3 / (3.0 * EI)
    assert found.verdict == "stable"
    tip = boom.deflection(found.state["boom"].modes)
    np.testing.assert_allclose(tip[1:], expected[1:], rtol=1e-9)
    assert found.reactions["root"].force[2] == pytest.approx(2e-3, rel=1e-9)


def test_weight_bends_a_cantilever_and_its_strain_is_half_the_work() -> None:
    """w L^4 / 8 EI at the tip; the energy is minus half of what weight has done."""
    g = 1e-3
    found = cantilever(qp.Gravity((0.0, 0.0, -g))).settle()
    tip = a_beam().deflection(found.state["boom"].modes)
    assert tip[2] == pytest.approx(-LINE * g * LENGTH**4 / (8.0 * EI), rel=1e-9)
    spent = 0.5 * (LINE * g) ** 2 * LENGTH**5 / (20.0 * EI)
    straight = cantilever(qp.Gravity((0.0, 0.0, -g))).energy().potential
    assert found.energy - straight == pytest.approx(-spent, rel=1e-6)


def test_what_is_released_bent_settles_straight() -> None:
    """A run that ends where Newton's method finds the rest."""
    system = cantilever(modes=(0, 1, 1, 0), damping=0.2)
    bent = system.initial.replace({"boom": {"modes": (0.05, -0.03)}})
    found = system.at(bent).settle()
    assert found.run is not None
    assert found.run.final.t > 0.0
    assert (found.verdict, found.damped) == ("stable", True)
    assert abs(found.state["boom"].modes).max() < 1e-12


# --- frequencies ----------------------------------------------------------------------------------
def test_the_certificate_of_a_cantilever_has_its_frequencies_and_names_them() -> None:
    found = cantilever(shapes="modes", EI=(EI, 4.0 * EI)).settle()
    once = UNIT * CLAMPED_FREE**2
    np.testing.assert_allclose(
        frequencies(found), np.sort(np.concatenate([once, 2.0 * once])), rtol=1e-9
    )
    assert found.modes[0].damping == pytest.approx(0.005, rel=1e-6)
    assert found.modes[0].words == "boom bends in mode 0"
    assert found.modes[0].moving == ("boom bends",)
    assert "boom" in found.explain()


def test_a_free_beam_on_a_spring_at_its_middle() -> None:
    """On a rail at its middle, which keeps its slope: halves that move alike, with their shear
    against the spring."""
    stiffness, half = 40.0, 0.5 * LENGTH
    boom = a_beam(clamped="free", shapes="modes", modes=(0, 0, 16, 0))
    rail = qp.Prismatic(
        "rail", qp.GROUND.site("rail", at=(half, 0.0, 0.0), z=(0, 0, 1), x=(1, 0, 0)),
        boom.site("rail", at=(0.0, 0.0, 0.0), z=(0, 0, 1), x=(1, 0, 0)),
    )  # fmt: skip
    found = qp.Multibody(boom, rail, qp.JointSpring("spring", rail, stiffness=stiffness)).settle()

    def equation(x: float) -> float:
        """Of y = a cos + b sin + d cosh + e sinh from the middle on: slope there; moment and shear
        at the end; shear at the middle of both halves against the spring."""
        c, s, C, S, shear = cos(x), sin(x), cosh(x), sinh(x), 2.0 * EI * (x / half) ** 3
        rows = [[0.0, 1.0, 0.0, 1.0], [-c, -s, C, S], [s, -c, S, C],
                [stiffness, -shear, stiffness, shear]]  # fmt: skip
        return float(np.linalg.det(np.array(rows))) / C**2

    grid = np.linspace(0.3, 6.0, 400)
    ways = itertools.pairwise(grid)
    alike = [brentq(equation, *way) for way in ways if equation(way[0]) * equation(way[1]) < 0.0]
    wanted = np.sqrt(EI / LINE) * (np.array(alike[:2]) / half) ** 2
    nearest = [min(frequencies(found), key=lambda w: abs(w - one)) for one in wanted]
    np.testing.assert_allclose(nearest, wanted, rtol=1e-4)


def test_a_body_of_finite_elements_by_itself_rings_at_its_own_frequencies() -> None:
    """Free: M w'' + D w' + K w over velocity, spin and modes, beside six motions of the whole."""
    body = Cloud("cloud", seed=4, modes=3)
    found = qp.Multibody(body).settle()
    M = np.eye(9)
    M[:3, :3], M[3:6, 3:6] = body.mass * np.eye(3), body.inertia_matrix
    M[:3, 6:], M[3:6, 6:] = body.modal.linear.T, body.modal.angular.T
    M[6:, :6] = M[:6, 6:].T
    K, D = np.zeros((2, 9, 9))
    K[6:, 6:], D[6:, 6:] = body.modal.stiffness, body.modal.damping
    A = np.block([[np.zeros((9, 9)), np.eye(9)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    values = np.sort(abs(np.linalg.eigvals(A)))[-6::2]
    np.testing.assert_allclose(frequencies(found), values, rtol=1e-9)
    assert len(found.neutral) == 6
    assert all("cloud bends" in mode.words for mode in found.modes)


def test_a_beam_that_a_drive_turns_rings_as_spinning_beams_do() -> None:
    """Beside a steady spin, the frequencies of the spinning beam (Wright's rotating cantilever)."""
    rate = 6.0 * UNIT
    boom = a_beam(modes=(0, 2, 2, 0))
    hinge = qp.Revolute("hinge", qp.GROUND.site("hinge"), boom.site("hinge", at=boom.at(0.0).at))
    drive = qp.Prescribed("drive", hinge, qp.Ramp(rate))
    system = qp.Multibody(boom, hinge, drive)
    spin = (0.0, 0.0, rate)
    moving = {"angular_velocity": spin, "velocity": np.cross(spin, boom.position)}
    found = system.linearize(system.initial.replace({"boom": moving}), inputs=[])
    known = spinning_modes(boom, np.array(spin), boom.at(0.0).at)
    np.testing.assert_allclose(np.sort(found.poles.imag)[4:], known.frequencies, rtol=1e-4)


# --- loss of stability ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("clamped", "shapes", "critical"),
    [("start", "polynomials", 0.25), ("pinned", "modes", 1.0)],
)
def test_a_beam_under_its_critical_load_is_stable_and_beyond_it_is_not(
    clamped: Any, shapes: Any, critical: float
) -> None:
    """Euler's load of a cantilever and of a pinned beam, from either side."""
    load = critical * np.pi**2 * EI / LENGTH**2
    for share, verdict in ((0.999, "stable"), (1.001, "unstable")):
        boom = a_beam(clamped=clamped, modes=(0, 0, 6, 0), shapes=shapes)
        ground = qp.GROUND.site("root", z=(0, 1, 0), x=(1, 0, 0))
        root = boom.site("root", at=boom.at(0.0).at, z=(0, 1, 0), x=(1, 0, 0))
        held: list[qp.Part] = [qp.Fixed("root", ground, root)]
        if clamped == "pinned":
            end = (LENGTH, 0.0, 0.0)
            line = qp.PointOnLine("end", qp.GROUND, boom, at=end, axis=(1, 0, 0))
            held = [qp.Revolute("root", ground, root), line]
        push = qp.Load("push", boom, force=(-share * load, 0.0, 0.0), at=(LENGTH, 0.0, 0.0))
        found = qp.Multibody(boom, *held, push).settle(nudge=0.0)
        assert found.verdict == verdict
        assert abs(found.state["boom"].modes).max() < 1e-9


# --- linear models --------------------------------------------------------------------------------
def test_a_linear_model_has_modal_states_and_the_compliance_of_the_tip() -> None:
    """At rest L^3 / 3 EI from force to displacement, L^2 / 2 EI to the slope; poles damped as the
    modes are."""
    boom = a_beam(modes=(0, 0, 3, 0))
    model = cantilever(modes=(0, 0, 3, 0)).linearize(
        inputs=[boom.at(1.0), "boom.torque"], outputs=[boom.at(1.0), "boom.modes.0", "boom.tip.z"]
    )
    static = model.at_rest()
    row = model.outputs.index("boom at 1.z")
    assert static[row, 2] == pytest.approx(LENGTH**3 / (3.0 * EI), rel=1e-8)
    assert static[model.outputs.index("boom.tip.z"), 2] == pytest.approx(static[row, 2], rel=1e-8)
    turned = static[row, model.inputs.index("boom.torque.y")]  # a couple half way up the beam
    assert turned == pytest.approx(-(0.5 * LENGTH) * 0.75 * LENGTH / EI, rel=1e-7)
    assert model.bending.shape == (3, 3)
