"""Joints that take hold: momenta stay, stops push and never pull, and no pose is beyond a stop."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.maths.quat import matrix
from quirkpy.maths.types import Floats
from quirkpy.parts.joint import PlacedJoint
from quirkpy.rest.vicinity import displacement_between
from tests.random_systems import allowed_directions, compatible, masses, velocities, weighted_rows

SIDE, ARMS = 0.1, 4
UP = (0.0, 0.0, 1.0)


def ring(seed: int, *, slack: float, miss: float) -> tuple[qp.Multibody, tuple[str, ...]]:
    """Five cubes in a row on hinges, floating, stirred at random, and the names of two joints that
    would take hold: of a sixth cube on the last, and of that on the first, so that a loop closes.

    Each hinge must not shut by more than at most `slack` [rad]; the sixth cube misses its place by
    about `miss` [m]."""
    rng = np.random.default_rng(seed)
    cubes = [
        qp.Body.box(
            f"c{k}", (SIDE, SIDE, SIDE), rng.uniform(0.5, 2.0), position=(SIDE * k, 0.0, 0.0)
        )
        for k in range(ARMS + 2)
    ]
    hinges, stops = [], []
    for k, (one, two) in enumerate(itertools.pairwise(cubes[:-1])):
        hinge = qp.Revolute(f"hinge {k}", one, two, at=(SIDE * (k + 0.5), 0.5 * SIDE, 0.0), axis=UP)
        hinges.append(hinge)
        stops.append(qp.JointStop(f"stop {k}", hinge, lower=-rng.uniform(0.0, slack)))
    lock = qp.Fixed("lock", cubes[-2], cubes[-1])
    rod = qp.Distance(
        "rod",
        cubes[0].site("a", at=(0.0, SIDE, 0.0)),
        cubes[-1].site("b", at=(0.0, 2.0 * SIDE, 0.0)),
    )
    system = qp.Multibody(*cubes, *hinges, *stops, candidates=[lock, rod])
    s = system.initial
    offset = np.zeros_like(s.r)
    offset[-1] = miss * rng.normal(size=3)
    stirred = dataclasses.replace(
        s, v=rng.normal(size=s.v.shape), omega=rng.normal(size=s.omega.shape), r=s.r + offset
    )
    return system.at(compatible(system, stirred)), ("lock", "rod")


def momenta(system: qp.Multibody, state: qp.State) -> Floats:
    """Momentum, and angular momentum about the mass centre, of it all (6,)."""
    bodies = [system[name] for name in state.bodies]
    m = np.array([body.mass for body in bodies])  # type: ignore[union-attr]
    centre, drift = m @ state.r / m.sum(), m @ state.v / m.sum()
    own = [
        matrix(qp.Quaternion(*q)) @ np.asarray(body.inertia_matrix) @ w  # type: ignore[union-attr]
        for q, body, w in zip(state.q, bodies, state.omega, strict=True)
    ]
    return np.concatenate(
        [m @ state.v, np.sum(own, axis=0) + m @ np.cross(state.r - centre, state.v - drift)]
    )


def angles(state: qp.State) -> Floats:
    """Of the hinges."""
    return np.array([state[f"hinge {k}"].angle for k in range(ARMS)])


def bounds(system: qp.Multibody) -> Floats:
    """What the hinges must not fall short of."""
    return np.array([system[f"stop {k}"].lower for k in range(ARMS)])  # type: ignore[union-attr]


SEEDS = range(12)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_floats_keeps_its_momenta_though_the_pose_snaps(seed: int) -> None:
    system, names = ring(seed, slack=0.01, miss=0.002)
    whole = system.choosing(
        [*(f"hinge {k}" for k in range(ARMS)), *names], [f"stop {k}" for k in range(ARMS)]
    )
    caught = whole.caught()
    assert caught.moved[0] > 1e-4
    np.testing.assert_allclose(
        momenta(system, caught.state), momenta(system, system.initial), rtol=0.0, atol=1e-12
    )
    residual = whole.residual(caught.state)
    assert abs(residual.position).max() < 1e-12
    assert abs(residual.velocity).max() < 1e-12
    went_on = whole.at(caught.state).simulate(
        0.01, progress=False
    )  # nor does it lose any at its beginning
    np.testing.assert_allclose(
        momenta(system, went_on.final)[3:], momenta(system, system.initial)[3:], rtol=0.0, atol=1e-9
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_a_pose_that_snaps_is_the_nearest_whichever_way_its_joints_are_written(seed: int) -> None:
    """What is left of the way back is at right angles to all that the joints allow; and bodies, and
    the ends of joints, may change places."""
    system, names = ring(seed, slack=0.0, miss=0.01)
    joints = [*(f"hinge {k}" for k in range(ARMS)), *names]
    caught = system.choosing(joints, ()).caught()
    assert caught.moved[0] > 1e-3
    back = displacement_between(
        *(np.concatenate([s.r, s.q], axis=1) for s in (caught.state, system.initial))
    ).reshape(-1)
    mass, along = masses(system), allowed_directions(system.choosing(joints, ()), caught.state)
    assert abs(along.T @ mass @ back).max() < 1e-11
    bodies = [part for part in system.parts if isinstance(part, qp.Body)]
    turned = [
        dataclasses.replace(part, first=part.second, second=part.first)
        for part in system.tables.joints if isinstance(part, PlacedJoint)
    ]  # fmt: skip
    other = (
        qp.Multibody(*bodies[::-1], candidates=turned, start=system.initial)
        .choosing(joints, ())
        .caught()
        .state
    )
    for name in caught.state.bodies:
        np.testing.assert_allclose(
            other[name].position, caught.state[name].position, rtol=0.0, atol=1e-12
        )
        np.testing.assert_allclose(
            other[name].velocity, caught.state[name].velocity, rtol=0.0, atol=1e-9
        )


def test_no_pose_is_beyond_a_stop_and_none_is_moved_that_is_not() -> None:
    """Joints alone would bring some of them beyond."""
    beyond = 0
    for seed in SEEDS:
        system, names = ring(seed, slack=0.01, miss=0.01)
        joints = [*(f"hinge {k}" for k in range(ARMS)), *names]
        held = system.choosing(joints, [f"stop {k}" for k in range(ARMS)]).caught().state
        alone = system.choosing(joints, ()).caught().state
        assert (angles(held) >= bounds(system) - 1e-9).all()
        if (angles(alone) < bounds(system) - 1e-9).any():
            beyond += 1
        else:
            np.testing.assert_array_equal(held.r, alone.r)
    assert 0 < beyond < len(SEEDS)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_impact_is_the_least_change_of_velocity_that_runs_into_no_stop(seed: int) -> None:
    """Of all sets of shut hinges that might be held, the one whose velocities are nearest without
    any running in."""
    system, names = ring(seed, slack=0.0, miss=0.0)
    whole = system.choosing(
        [*(f"hinge {k}" for k in range(ARMS)), *names], [f"stop {k}" for k in range(ARMS)]
    )
    B, K, _ = weighted_rows(whole, system.initial)
    before = K @ velocities(system.initial)
    n = len(system.bodies)
    rates = np.zeros((ARMS, 6 * n))
    for k in range(ARMS):
        rates[k, 6 * k + 5], rates[k, 6 * k + 11] = -1.0, 1.0  # about z, all axes alike
    shut, found = rates @ np.linalg.inv(K), []
    for held in itertools.chain.from_iterable(
        itertools.combinations(range(ARMS), k) for k in range(ARMS + 1)
    ):
        rows = np.concatenate([B, shut[list(held)]])
        after = before - np.linalg.pinv(rows, rcond=1e-9) @ (rows @ before)
        if (shut @ after >= -1e-9).all():
            found.append((float(np.linalg.norm(after - before)), after))
    _, best = min(found, key=lambda one: one[0])
    caught = whole.caught()
    np.testing.assert_allclose(
        velocities(caught.state), np.linalg.solve(K, best), rtol=0.0, atol=1e-9
    )
    assert caught.loss == pytest.approx(0.5 * (before @ before - best @ best), rel=1e-9)


@pytest.mark.parametrize("sense", [1.0, -1.0])
def test_a_start_at_a_stop_goes_on_from_the_impact(sense: float) -> None:
    """A row of three, the first hinge shut: a lock of the second swings the first open, or presses
    it shut."""
    cubes = [
        qp.Body.box(f"c{k}", (SIDE,) * 3, 1.0, position=(SIDE * k, 0.0, 0.0)) for k in range(3)
    ]
    hinges = [
        qp.Revolute(f"h{k}", *cubes[k : k + 2], at=(SIDE * (k + 0.5), 0.5 * SIDE, 0.0), axis=UP)
        for k in range(2)
    ]
    stops = [qp.JointStop(f"s{k}", hinge, lower=0.0) for k, hinge in enumerate(hinges)]
    system = qp.Multibody(*cubes, *hinges, *stops, candidates=[qp.Fixed("lock", *cubes[1:])])
    turning = system.initial.replace({"c2": dict(angular_velocity=(0.0, 0.0, sense))})
    start = compatible(system.without("s0", "s1"), turning)
    locked = system.choosing(["h0", "lock"], ["s0"])
    caught = locked.at(start).caught()
    rate = caught.state["h0"].rate
    alone = locked.without("s0").at(start).caught().state["h0"].rate
    assert rate == pytest.approx(max(alone, 0.0), abs=1e-12)
    run = locked.at(caught.state).simulate(1e-5, progress=False)
    assert run.final["h0"].angle == pytest.approx(1e-5 * rate, abs=1e-9)
    assert run.energy[0] == pytest.approx(locked.energy(caught.state), rel=1e-12)
