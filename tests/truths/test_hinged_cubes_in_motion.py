"""The two hinged cubes swing as one angle: phi'' = -k w d sin(phi - phi_w) / J - c phi' / J; events
are located."""

from __future__ import annotations

import math

import numpy as np

import quirkpy as qp

K, C, SIDE = 0.05, 2e-4, 0.1
D, J = SIDE / math.sqrt(2.0), SIDE**2 * 2.0 / 3.0


def pulled(well: tuple[float, float, float], damping: float) -> qp.Multibody:
    """Cube M hinged to the fixed cube F at (0.05, -0.05), pulled to the well."""
    fixed = qp.Body.box("F", (SIDE, SIDE, SIDE), 1.0, fixed=True)
    moving = qp.Body.box("M", (SIDE, SIDE, SIDE), 1.0, position=(SIDE, 0.0, 0.0))
    hinge = qp.Revolute("hinge", fixed, moving, at=(0.05, -0.05, 0.0), axis=(0.0, 0.0, 1.0))
    brake = qp.HingeSpring("brake", hinge, stiffness=0.0, damping=damping)
    return qp.Multibody(fixed, moving, hinge, brake, qp.PotentialWell("pull", moving, well, K))


def test_far_well_swings_the_cube_through_its_rest_at_18_degrees() -> None:
    system = pulled((2.0 * SIDE, 0.0, 0.0), 0.0)
    rest = (
        math.atan2(0.05, 0.15) - math.pi / 4.0
    )  # the hinge, the cube's centre and the well on one line
    run = system.simulate(
        20.0, rtol=1e-12, atol=1e-13, stop=[qp.When("in line", lambda s: s["hinge"].angle - rest)]
    )
    assert run.stop is qp.Stop.EVENT
    assert abs(run["hinge"].angle[-1] - rest) < 1e-10
    arm = math.hypot(0.15, 0.05)
    speed = math.sqrt(
        2.0 * K * arm * D * (1.0 - math.cos(rest)) / J
    )  # all of the potential has become motion
    assert abs(abs(run["hinge"].rate[-1]) - speed) < 1e-10
    assert run.events[0].t == run.t[-1]
    assert np.ptp(run.energy + run.dissipated - run.work) < 1e-14


def test_runs_go_on_and_are_read_back() -> None:
    system = pulled((2.0 * SIDE, 0.0, 0.0), C)
    run = system.simulate(3.0, rtol=1e-10, atol=1e-12)
    assert run.at(float(run.t[3])) == run.states[3]
    middle = run.at(1.2345)["hinge"].angle
    alone = system.simulate(1.2345, rtol=1e-10, atol=1e-12, keep="ends").final["hinge"].angle
    assert abs(middle - alone) < 1e-9
    assert system.at(run.final).initial == run.final
    assert run.momentum.shape == run.angular_momentum.shape == (len(run.t), 3)
    assert abs(run["hinge"].reaction).max() > 0.0
    assert run.drift.max() < 1e-8
    assert "end time" in repr(run)
