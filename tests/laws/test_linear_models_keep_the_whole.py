"""A linear model has every freedom of its system, also those of a whole that floats: its transfer
functions are those of mass, damping and stiffness matrices that are put together by hand, and its
answers those of runs."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import quirkpy as qp
from quirkpy.maths.types import Floats
from tests.motion import TIGHT
from tests.random_systems import seeds


def cross(a: Floats) -> Floats:
    return np.cross(a, np.eye(3)).T


def seen(turn: Floats, arm: Floats) -> Floats:
    """What (displacement in N, rotation vector in body axes) makes of a point and the axes of the
    body, in N (6, 6).

    turn: body axes as columns in N; arm: from the mass centre to the point, in N.
    """
    return np.block([[np.eye(3), -cross(arm) @ turn], [np.zeros((3, 3)), turn]])


def network(rng: np.random.Generator, floats: bool) -> tuple[qp.Multibody, Floats, Floats, Floats]:
    """Bodies anyhow in space on bushings, which are at rest as they are written; M, C and K over (r
    in N, rotation in body axes) of each."""
    n = int(rng.integers(1, 5))
    bodies, turns = [], []
    for k in range(n):
        axis, angle = rng.normal(size=3), rng.uniform(0.0, 3.0)
        moments = rng.uniform(0.02, 0.03, 3)
        bodies.append(
            qp.Body(f"b{k}", rng.uniform(0.5, 3.0), moments, position=rng.normal(size=3),
                    orientation=qp.rotation(tuple(axis), angle))
        )  # fmt: skip
        turns.append(scipy.linalg.expm(cross(axis / np.linalg.norm(axis) * angle)))
    M = scipy.linalg.block_diag(
        *(np.diag([b.mass] * 3 + list(np.diag(b.inertia_matrix))) for b in bodies)
    )
    C, K = np.zeros((6 * n, 6 * n)), np.zeros((6 * n, 6 * n))
    joined = [(k, int(rng.integers(0, k))) for k in range(1, n)] + ([] if floats else [(0, None)])
    pins = []
    for i, j in joined:
        at = rng.normal(size=3)
        halves = rng.normal(size=(2, 6, 6))
        stiffness, damping = (
            half @ half.T * size for half, size in zip(halves, (10.0 ** rng.uniform(-2, 3), 0.1))
        )
        map_ = np.zeros((6, 6 * n))
        map_[:, 6 * i : 6 * i + 6] = seen(turns[i], at - np.array(bodies[i].position))
        if j is not None:
            map_[:, 6 * j : 6 * j + 6] = -seen(turns[j], at - np.array(bodies[j].position))
        one = (
            qp.GROUND.site(f"g{i}", at=tuple(at))
            if j is None
            else site(bodies[j], turns[j], at, f"e{i}")
        )
        pins.append(
            qp.Bushing(
                f"p{i}",
                one,
                site(bodies[i], turns[i], at, "own"),
                stiffness=stiffness,
                damping=damping,
            )
        )
        K, C = K + map_.T @ stiffness @ map_, C + map_.T @ damping @ map_
    return qp.Multibody(*bodies, *pins), M, C, K


def site(body: qp.Body, turn: Floats, at: Floats, name: str) -> qp.Site:
    """A site at a point of N with the axes of N."""
    inside = turn.T
    return body.site(
        name,
        at=tuple(inside @ (at - np.array(body.position))),
        z=tuple(inside[:, 2]),
        x=tuple(inside[:, 0]),
    )


@pytest.mark.parametrize("floats", [True, False], ids=["floats", "grounded"])
@seeds(12, 3, attack=2_000)
def test_transfer_functions_are_those_of_matrices_put_together_by_hand(
    floats: bool, seed: int
) -> None:
    rng = np.random.default_rng([seed, floats])
    system, M, C, K = network(rng, floats)
    n = len(system.bodies)
    which = [str(name) for name in rng.choice(system.bodies, 2)]
    model = system.linearize(
        inputs=[f"{which[0]}.force", f"{which[1]}.torque"],
        outputs=[
            f"{which[1]}.position",
            f"{which[0]}.rotation",
            f"{which[0]}.velocity",
            f"{which[1]}.angular_velocity",
        ],
    )
    assert len(model.A) == 2 * system.mobility().degrees_of_freedom == 12 * n
    one, two = (system.bodies.index(name) for name in which)
    body: Any = system[which[1]]
    turn = body.matrix
    pushes, rows = np.zeros((6 * n, 6)), np.zeros((6, 6 * n))
    pushes[6 * one : 6 * one + 3, :3], pushes[6 * two + 3 : 6 * two + 6, 3:] = np.eye(3), turn.T
    rows[:3, 6 * two : 6 * two + 3], rows[3:, 6 * one + 3 : 6 * one + 6] = np.eye(3), np.eye(3)
    swapped = np.zeros((6, 6 * n))
    swapped[:3, 6 * one : 6 * one + 3], swapped[3:, 6 * two + 3 : 6 * two + 6] = (
        np.eye(3),
        np.eye(3),
    )
    for w in 10.0 ** rng.uniform(-1.5, 2.5, 5):
        s = 1j * w
        moved = np.linalg.solve(M * s * s + C * s + K, pushes)
        known = np.concatenate([rows @ moved, s * swapped @ moved])
        found = model.C @ np.linalg.solve(s * np.eye(len(model.A)) - model.A, model.B) + model.D
        np.testing.assert_allclose(found, known, rtol=0.0, atol=1e-7 * abs(known).max())


@pytest.mark.parametrize("which", ["torque", "force"])
def test_a_free_box_is_an_integrator(which: str) -> None:
    """1/(J s) from torque to rate, 1/(m s^2) from force to place; with rigid=False nothing is
    left."""
    box = qp.Body.box("box", (0.1, 0.2, 0.3), 2.0, velocity=(0.4, 0.0, 0.0))
    output = {"torque": "box.angular_velocity", "force": "box.position"}[which]
    system = qp.Multibody(box)
    model = system.linearize(inputs=[f"box.{which}"], outputs=[output])
    assert len(model.A) == 12
    assert "with the motion" in repr(model)
    s = 0.3 + 0.7j
    found = model.C @ np.linalg.solve(s * np.eye(12) - model.A, model.B) + model.D
    known = (
        np.linalg.inv(box.inertia_matrix) / s if which == "torque" else np.eye(3) / (2.0 * s * s)
    )
    np.testing.assert_allclose(found, known, rtol=1e-12, atol=1e-14)
    for norm in (model.h2, model.hinf):
        with pytest.raises(qp.PartError, match=r"all die out.*rigid=False"):
            norm()
    bare = system.linearize(inputs=[f"box.{which}"], outputs=[output], rigid=False)
    assert bare.A.shape == (0, 0)
    assert "without the motion" in repr(bare)
    assert bare.hinf() == 0.0


def chain(rng: np.random.Generator, floats: bool) -> qp.Multibody:
    """Boxes on sprung and damped hinges one after the other."""
    n = int(rng.integers(2, 5))
    boxes = [
        qp.Body.box(f"b{k}", tuple(rng.uniform(0.05, 0.2, 3)), 1.0 + k, position=(0.3 * k, 0, 0))
        for k in range(n)
    ]
    hinges = [
        qp.Revolute(
            f"h{k}",
            boxes[k - 1] if k else qp.GROUND,
            boxes[k],
            at=(0.3 * k - 0.15, 0.02 * k, 0.0),
            axis=tuple(rng.normal(size=3)),
        )
        for k in range(1 if floats else 0, n)
    ]
    springs = [
        qp.HingeSpring(f"s{h.name}", h, stiffness=rng.choice([0.0, 0.5]), damping=0.02)
        for h in hinges
    ]
    return qp.Multibody(*boxes, *hinges, *springs)


@pytest.mark.parametrize("floats", [True, False], ids=["floats", "grounded"])
@seeds(6, 2, attack=300)
def test_answers_to_pushes_are_those_of_runs(floats: bool, seed: int) -> None:
    """Under a small steady torque on one body and a load along a hinge; free hinges and the whole
    move on for ever."""
    rng = np.random.default_rng([7, seed, floats])
    system = chain(rng, floats)
    last, hinge, t, size = system.bodies[-1], system.initial.joints[-1], 0.8, 1e-6
    outputs = [f"{last}.angular_velocity", f"{system.bodies[0]}.position", hinge]
    model = system.linearize(inputs=[f"{last}.torque"], outputs=outputs)
    assert len(model.A) == 2 * system.mobility().degrees_of_freedom
    torque = rng.normal(size=3)
    ends = []
    for sign in (1.0, -1.0):
        push = qp.Load("push", system[last], torque=tuple(sign * size * torque))  # type: ignore[arg-type]
        end = system.with_(push).simulate(t, **TIGHT).final
        ends.append(
            np.concatenate(
                [end[last].angular_velocity, end[system.bodies[0]].position, [end[hinge].angle]]
            )
        )
    f = len(model.A)
    both = scipy.linalg.expm(
        np.block([[model.A, model.B @ torque[:, None]], [np.zeros((1, f + 1))]]) * t
    )
    known = model.C @ both[:f, f]
    np.testing.assert_allclose(
        (ends[0] - ends[1]) / (2.0 * size), known, rtol=0.0, atol=1e-5 * abs(known).max()
    )


def test_norms_of_what_floats_are_those_between_its_parts() -> None:
    """Two masses on a spring that nothing holds: 1/(m s^2 + c s + k) of the reduced mass, without
    the drift; with it there is no norm."""
    k, c, reduced = 18.0, 1.2, 2.0 / 3.0
    one, two = (
        qp.Body.sphere(name, 0.05, m, position=(x, 0, 0))
        for name, m, x in (("a", 1.0, 0.0), ("b", 2.0, 0.5))
    )
    rail = qp.Prismatic("rail", one, two, at=(0, 0, 0), axis=(1, 0, 0))
    system = qp.Multibody(one, two, rail, qp.JointSpring("spring", rail, stiffness=k, damping=c))
    w, ratio = math.sqrt(k / reduced), c / (2.0 * math.sqrt(k * reduced))
    bare = system.linearize(inputs=["rail"], outputs=["rail"], rigid=False)
    assert bare.hinf() == pytest.approx(
        1.0 / (2.0 * ratio * math.sqrt(1.0 - ratio**2) * k), rel=1e-8
    )
    assert bare.h2() == pytest.approx(1.0 / math.sqrt(4.0 * ratio * w**3 * reduced**2), rel=1e-8)
    whole = system.linearize(inputs=["rail"], outputs=["rail"])
    assert len(whole.A) == 14
    for norm in (whole.h2, whole.hinf):
        with pytest.raises(qp.PartError, match="rigid=False"):
            norm()


def test_in_orbit_the_whole_drifts_as_hill_says() -> None:
    """Poles of the mass centre: 0, 0, +-in along the track and radially, +-in across (Hill,
    Clohessy and Wiltshire)."""
    n = 1.1e-3
    body = qp.Body("box", 2.0, (0.02, 0.05, 0.06), position=(0.0, 4.0, 0.0))
    system = qp.Multibody(body, qp.HillFrame(n))
    model = system.linearize(outputs=["box.position"])
    bare = system.linearize(rigid=False)
    assert (len(model.A), len(bare.A)) == (12, 6)
    s = 2j * n
    push = system.linearize(inputs=["box.force"], outputs=["box.position"])
    found = push.C @ np.linalg.solve(s * np.eye(12) - push.A, push.B)
    hill = (
        s * s * np.eye(3)
        - n * n * np.diag([3.0, 0.0, -1.0])
        - 2.0 * n * s * np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 0]])
    )
    np.testing.assert_allclose(
        found, np.linalg.inv(hill) / 2.0, rtol=1e-7, atol=1e-7 * abs(found).max()
    )
    assert dataclasses.is_dataclass(model)


@pytest.mark.parametrize("rate", [3e-6, 1e-3, 1.0, 1e4])
def test_the_h2_norm_of_slow_and_fast_motions(rate: float) -> None:
    """x'' + 0.2 w x' + w^2 x = f: 1 / (2 x 0.2 w^3), squared."""
    body = qp.Body.sphere("body", 0.1, 1.0)
    slide = qp.Prismatic("slide", qp.GROUND, body, at=(0, 0, 0), axis=(1, 0, 0))
    spring = qp.JointSpring("spring", slide, stiffness=rate**2, damping=0.2 * rate)
    model = qp.Multibody(body, slide, spring).linearize(inputs=["slide"], outputs=["slide"])
    assert model.h2() == pytest.approx((0.4 * rate**3) ** -0.5, rel=1e-6)
