"""A, B, C, D near a state of rest: one oscillator in closed form, and any system against its own
motion."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import scipy.linalg
import scipy.signal

import quirkpy as qp
from tests.motion import TIGHT

MASS, SPRING, RATIO = 2.0, 18.0, 0.1
OMEGA = math.sqrt(SPRING / MASS)


def oscillator(ratio: float = RATIO) -> qp.Multibody:
    """m x'' = -k x - c x' on a rail along x."""
    body = qp.Body.sphere("mass", 0.1, MASS)
    rail = qp.Prismatic("rail", qp.GROUND, body, at=(0, 0, 0), axis=(1, 0, 0))
    damping = 2.0 * ratio * MASS * OMEGA
    return qp.Multibody(
        body, rail, qp.JointSpring("spring", rail, stiffness=SPRING, damping=damping),
        qp.Load("push", body, force=(0.0, 0.0, 0.0)),
    )  # fmt: skip


@pytest.mark.parametrize("ratio", [0.002, 0.1, 0.6, 1.5])
def test_norms_and_gain_of_one_oscillator(ratio: float) -> None:
    """From force to place: H2^2 = 1 / (4 zeta w^3 m^2); Hinf = 1 / (2 zeta sqrt(1 - zeta^2) k), or
    1 / k at rest."""
    linear = oscillator(ratio).linearize(inputs=["rail"], outputs=["rail"])
    assert linear.h2() == pytest.approx(1.0 / math.sqrt(4.0 * ratio * OMEGA**3 * MASS**2), rel=1e-8)
    peak = 2.0 * ratio * math.sqrt(1.0 - ratio**2) if ratio < math.sqrt(0.5) else 1.0
    assert linear.hinf() == pytest.approx(1.0 / (peak * SPRING), rel=1e-8)
    np.testing.assert_allclose(
        linear.poles,
        sorted(np.roots([1.0, 2 * ratio * OMEGA, OMEGA**2]), key=lambda s: (abs(s), s.imag)),
        rtol=1e-8,
    )


def test_scipy_takes_it_and_gives_the_response_to_a_step() -> None:
    linear = oscillator().linearize(inputs=["rail"], outputs=["rail", "rail.rate"])
    system = scipy.signal.StateSpace(*linear)
    t = np.linspace(0.0, 3.0, 301)
    _, y, _ = scipy.signal.lsim(system, np.ones(len(t)), t)
    decay, turning = RATIO * OMEGA, OMEGA * math.sqrt(1.0 - RATIO**2)
    place = 1.0 - np.exp(-decay * t) * (np.cos(turning * t) + decay / turning * np.sin(turning * t))
    rate = np.exp(-decay * t) * np.sin(turning * t) * OMEGA**2 / turning
    np.testing.assert_allclose(y, np.column_stack([place, rate]) / SPRING, rtol=0.0, atol=1e-9)
    assert system.A.shape == (2, 2)
    assert (linear.inputs, linear.outputs) == (("rail",), ("rail", "rail.rate"))


def test_undamped_there_is_no_norm() -> None:
    linear = oscillator(0.0).linearize(inputs=["rail"], outputs=["rail"])
    for norm in (linear.h2, linear.hinf):
        with pytest.raises(qp.PartError, match="all die out"):
            norm()


def crane(*more: qp.Force) -> qp.Multibody:
    """A damped trolley with a bar that hangs from it, leaning on a spring, and a free wheel on the
    bar."""
    trolley = qp.Body.box("trolley", (0.3, 0.2, 0.1), 2.0)
    bar = qp.Body.box("bar", (0.1, 0.1, 1.0), 1.5, position=(0.1, 0, -0.5))
    wheel = qp.Body.cylinder("wheel", 0.2, 0.05, 0.4, position=(0.1, 0.1, -1.0))
    rail = qp.Prismatic("rail", qp.GROUND, trolley, at=(0, 0, 0), axis=(1, 0, 0))
    pin = qp.Revolute("pin", trolley, bar, at=(0.1, 0, 0), axis=(0, 1, 0))
    axle = qp.Revolute("axle", bar, wheel, at=(0.1, 0.1, -1.0), axis=(1, 1, 0))
    return qp.Multibody(
        trolley, bar, wheel, rail, pin, axle, qp.Gravity((0, 0, -9.81)),
        qp.JointSpring("home", rail, stiffness=20.0, damping=3.0),
        qp.JointSpring("lean", pin, stiffness=6.0, rest=0.4, damping=0.5),
        qp.JointSpring("twist", axle, stiffness=2.0, damping=0.2), *more,
    )  # fmt: skip


def test_the_model_moves_as_the_system_does() -> None:
    """From states perturbed by 1e-6 along every coordinate and rate, over a short time: exp(A t)
    and C."""
    system = crane()
    rest = system.settle().state
    outputs = [
        "rail",
        "pin.rate",
        "wheel.position",
        "bar.rotation",
        "bar.angular_velocity",
        "trolley.velocity",
    ]
    linear = system.linearize(rest, outputs=outputs)
    f, t, h = 3, 0.37, 1e-6
    assert linear.A.shape == (2 * f, 2 * f)
    np.testing.assert_allclose(linear.drift, 0.0, atol=1e-11)
    ends = []
    for sign in (1.0, -1.0):
        x = sign * h * np.eye(2 * f)
        runs = [
            system.at(dataclasses.replace(linear.displaced(row[:f], row[f:]), t=0.0)).simulate(
                t, **TIGHT
            )
            for row in x
        ]
        ends.append(np.array([measured(run.final, rest, linear) for run in runs]))
    found = ((ends[0] - ends[1]) / (2.0 * h)).T
    known = linear.C @ scipy.linalg.expm(linear.A * t)
    np.testing.assert_allclose(found, known, rtol=0.0, atol=1e-6 * abs(known).max())


def measured(state: qp.State, rest: qp.State, linear: qp.Linear) -> np.ndarray:
    """The outputs of the test above, read by hand."""
    turn = rest["bar"].orientation.conjugate() * state["bar"].orientation
    rotation = 2.0 * np.array([turn.x, turn.y, turn.z]) * np.sign(turn.w)
    return np.concatenate([
        [state["rail"].travel, state["pin"].rate], state["wheel"].position - rest["wheel"].position,
        rotation, state["bar"].angular_velocity, state["trolley"].velocity,
    ])  # fmt: skip


@pytest.mark.parametrize("stiffness", [1e-8, 1e-3, 18.0, 1e6, 1e12])
def test_rates_are_slopes_of_what_they_are_rates_of(stiffness: float) -> None:
    """Slow or fast, y' = C A x: each output that is a rate is that of its neighbour."""
    one = qp.Body.sphere("one", 0.1, 2.0, position=(1.0, 0, 0))
    two = qp.Body.box("two", (0.2, 0.1, 0.3), 3.0, position=(2.0, 0, 0))
    arm = qp.Revolute("arm", qp.GROUND, one, at=(0, 0, 0), axis=(0, 0, 1))
    rail = qp.Prismatic("rail", one, two, at=(1.5, 0, 0), axis=(1, 0, 0))
    system = qp.Multibody(
        one, two, arm, rail, qp.JointSpring("k", arm, stiffness=stiffness),
        qp.JointSpring("c", rail, stiffness=2.0 * stiffness),
    )  # fmt: skip
    pairs = (
        ("arm", "arm.rate"), ("rail", "rail.rate"), ("two.position", "two.velocity"),
        ("two.rotation", "two.angular_velocity"),
    )  # fmt: skip
    linear = system.linearize(outputs=[name for pair in pairs for name in pair])
    moved = linear.C @ linear.A
    at = 0
    for what, _ in pairs:
        wide = 3 if "." in what else 1
        slopes = moved[at : at + wide]
        np.testing.assert_allclose(
            linear.C[at + wide : at + 2 * wide], slopes, atol=1e-9 * abs(slopes).max()
        )
        at += 2 * wide
    assert at == len(linear.C)


@pytest.mark.parametrize("which", ["pin", "bar.force", "wheel.torque", "gust"])
def test_inputs_push_as_loads_do(which: str) -> None:
    """x(t) under a small constant input, against a run with that load."""
    gust = qp.Load("gust", crane()["bar"], force=(1.0, 0.5, -0.2), torque=(0.1, 0.3, 0.0))  # type: ignore[arg-type]
    rest = crane().settle().state
    # with the gust at full strength the system would rest elsewhere: it is an input alone
    system = crane().at(rest)
    linear = (qp.Multibody(*system.parts, candidates=[gust], start=rest)).linearize(
        rest, inputs=[which], outputs=["rail"]
    )
    size, t = 1e-5, 0.4
    load = {
        "pin": None,
        "bar.force": qp.Load("small", system["bar"], force=(size, 0, 0)),  # type: ignore[arg-type]
        "wheel.torque": qp.Load("small", system["wheel"], torque=(size, 0, 0)),  # type: ignore[arg-type]
        "gust": qp.Load(
            "small",
            system["bar"],
            force=size * np.array((1.0, 0.5, -0.2)),
            torque=size * np.array((0.1, 0.3, 0.0)),
        ),  # type: ignore[arg-type]
    }[which]
    if load is None:  # a spring whose rest is moved a little pushes by so much
        stiff = system.without("lean").with_(
            dataclasses.replace(system["lean"], rest=0.4 + size / 6.0)
        )  # type: ignore[type-var]
    else:
        stiff = system.with_(load)
    moved = (
        stiff.at(dataclasses.replace(rest, t=0.0)).simulate(t, **TIGHT).final["rail"].travel
        - rest["rail"].travel
    )
    A, B = linear.A, linear.B[:, :1]
    both = scipy.linalg.expm(np.block([[A, B], [np.zeros((1, len(A) + 1))]]) * t)
    known = float((linear.C @ both[:-1, -1:])[0, 0]) * size
    assert moved == pytest.approx(known, rel=1e-4, abs=1e-12)


def test_a_function_of_the_state_is_an_output() -> None:
    linear = crane().linearize(
        crane().settle().state, outputs=[lambda s: s["wheel"].position[0] ** 2, "wheel.position"]
    )
    np.testing.assert_allclose(
        linear.C[0], 2.0 * linear.state["wheel"].position[0] * linear.C[1], rtol=1e-8, atol=1e-12
    )
