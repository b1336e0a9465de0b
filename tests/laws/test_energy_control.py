"""energy="conserve": the ledger closes to rounding, both momenta are left alone, the joints still
hold."""

from __future__ import annotations

import numpy as np
import pytest

import quirkpy as qp


def free_pair() -> qp.Multibody:
    """Two bodies on a ball joint in free space, with a spring and a damper between them."""
    a = qp.Body(
        "a",
        mass=1.0,
        inertia=(1.0, 1.2, 1.5),
        angular_velocity=(1.0, 2.0, 0.3),
        velocity=(0.1, 0.0, 0.0),
    )
    b = qp.Body(
        "b", mass=2.0, inertia=(0.3, 0.5, 0.6), position=(1.0, 0.0, 0.0), velocity=(0.1, 0.3, 0.0)
    )
    ball = qp.Spherical("ball", a, b, at=(0.5, 0.2, 0.1))
    return qp.Multibody(
        a, b, ball, qp.Spring("spring", a, b, at1=(0.0, 1.0, 0.0), stiffness=5.0, damping=0.01)
    )


def swinging_loop() -> qp.Multibody:
    """A four-bar on the ground: no island floats free."""
    z = (0.0, 0.0, 1.0)
    uprights = [
        qp.Body.rod(
            f"u{i}", (i, 0, 0), (i, 1, 0), 1.0, velocity=(0.5, 0, 0), angular_velocity=(0, 0, -1)
        )
        for i in range(2)
    ]
    coupler = qp.Body.rod("c", (0, 1, 0), (1, 1, 0), 1.0, velocity=(1, 0, 0))
    hinges = [
        qp.Revolute(f"g{i}", qp.GROUND, body, at=(i, 0, 0), axis=z)
        for i, body in enumerate(uprights)
    ]
    hinges += [
        qp.Revolute(f"h{i}", body, coupler, at=(i, 1, 0), axis=z) for i, body in enumerate(uprights)
    ]
    return qp.Multibody(*uprights, coupler, *hinges, qp.Gravity((0.0, -9.81, 0.0)))


@pytest.mark.kernels
@pytest.mark.parametrize("make", [free_pair, swinging_loop])
def test_ledger_closes_to_rounding(make: object) -> None:
    system = make()  # type: ignore[operator]
    run = system.simulate(0.5, rtol=1e-7, atol=1e-9, energy="conserve")
    balance = run.energy + run.dissipated - run.work
    assert np.ptp(balance) <= 1e-13 * max(abs(run.kinetic).max(), abs(run.potential).max())


def test_correction_spares_both_momenta() -> None:
    free, held = (
        free_pair().simulate(20.0, rtol=1e-8, atol=1e-10, energy=word)
        for word in ("free", "conserve")
    )
    assert np.ptp(held.energy + held.dissipated) < 1e-4 * np.ptp(free.energy + free.dissipated)
    assert np.ptp(held.momentum, axis=0).max() < 1e-12
    assert (
        np.ptp(held.angular_momentum, axis=0).max()
        < 5.0 * np.ptp(free.angular_momentum, axis=0).max()
    )


def test_joints_hold_after_the_correction() -> None:
    run = swinging_loop().simulate(2.0, rtol=1e-8, atol=1e-10, energy="conserve")
    for state in run.states[::20]:
        residual = run.system.residual(state)
        assert abs(residual.position).max() < 1e-11
        assert abs(residual.velocity).max() < 1e-10


def test_lone_free_body_has_nothing_inside_to_scale() -> None:
    body = qp.Body("body", mass=1.0, inertia=(1.0, 2.0, 3.0), angular_velocity=(0.1, 2.0, 0.1))
    free, held = (qp.Multibody(body).simulate(10.0, energy=word) for word in ("free", "conserve"))
    assert np.array_equal(free.course.states, held.course.states)


@pytest.mark.parametrize("rest", [0.5, 0.7, 0.9])
def test_energy_is_held_where_a_motion_turns_back(rest: float) -> None:
    """There is nothing to scale then: poses take what is missing, and joints still hold; at loose
    tolerances, at every step."""
    made = qp.tensegrities.t_bar(
        bar={"density": 500.0, "radius": 0.05},
        string={"stiffness": 100.0, "rest": (rest, rest, 1.0)},
    )
    run = made.system.simulate(20.0, rtol=1e-6, atol=1e-6, energy="conserve")
    assert run.kinetic.min() < 1e-2 * run.kinetic.max()
    assert np.ptp(run.energy) <= 1e-12 * run.energy[0]
    for state in run.states[::10]:
        assert abs(made.system.residual(state).position).max() < 1e-12


def test_what_floats_turns_back_and_keeps_its_momenta() -> None:
    """A prism that is let go, so that all of it stands still again and again, and one that drifts
    and turns besides."""
    made = qp.tensegrities.prism(
        3, fixed=False, bar={"mass": 1.0}, string={"stiffness": 100.0, "rest": 0.6}
    )
    for spin in (0.0, 0.3):
        moving = made.system.initial.replace(
            {
                body.name: {
                    "velocity": np.cross((0, 0, spin), body.position) + (spin, 0, 0),
                    "angular_velocity": body.matrix.T @ (0, 0, spin),
                }
                for body in made.bars
            }
        )
        run = made.system.simulate(5.0, state=moving, rtol=1e-6, atol=1e-6, energy="conserve")
        assert np.ptp(run.energy) <= 1e-12 * run.energy[0]
        assert np.ptp(run.momentum, axis=0).max() < 1e-12
        assert np.ptp(run.angular_momentum, axis=0).max() < 1e-5
