"""Stops that hold and ropes that are taut are rows like others: three evaluators, one answer, and
loads to it."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.mechanics import equation
from tests.crosscheck.test_joints_and_couplings import chain
from tests.random_systems import free_acceleration
from tests.random_systems import random_system as random_of

#: Systems in which something can hold.
CASES = [
    *((family, seed) for family in ("chains", "loops") for seed in range(8)),
    *(("trees", seed) for seed in (0, 2, 3, 4, 5)),
    *(("medleys", seed) for seed in (2, 7, 8, 9, 10, 11)),
]


def with_stops(system: qp.Multibody, seed: int) -> tuple[qp.Multibody, tuple[str, ...]]:
    """Stops where some of the coordinates are, on either side, and a rope as long as its ends are
    apart; all labels."""
    rng, here = np.random.default_rng(seed), system.initial.instant()
    stops: list[Any] = []
    for c, name in enumerate(system.tables.coordinate_names):
        joint = system.tables.joints[system.tables.coordinate_joint[c]]
        if rng.random() < 0.4:
            which = int(np.flatnonzero(np.arange(len(system.tables.coordinate_joint)) == c)[0])
            own = joint.coordinates[
                which - int(system.tables.joint_coordinate[system.tables.coordinate_joint[c]])
            ].name
            side, value = (
                ("lower", "upper")[int(rng.integers(2))],
                float(here.coordinates(np.array([c]))[0, 0]),
            )
            stops.append(qp.JointStop(f"stop {c} {name}", joint, coordinate=own, **{side: value}))
    bodies = [part for part in system.parts if isinstance(part, qp.Body) and not part.fixed]
    if len(bodies) > 1:
        one, two = rng.choice(len(bodies), 2, replace=False)
        stops.append(qp.Rope("rope", bodies[one], bodies[two]))
    more = system.with_(*stops)
    return more, more.clusters.layout.labels


def holding(system: qp.Multibody, labels: tuple[str, ...], seed: int) -> qp.State:
    """A state in which as many of the stops hold as leave something to move, at velocities that all
    rows allow."""
    rng, state = np.random.default_rng(seed), system.initial
    for label in labels:
        tried = dataclasses.replace(state, held=(*state.held, label))
        at = tried.instant(system.selection)
        J, u = equation.constraint_matrix(at), rng.normal(size=6 * len(at.r))
        u -= np.linalg.pinv(J, rcond=1e-9) @ (J @ u + at.rows.rate)
        parts, free = equation.decompose(at), system.mobility(tried).degrees_of_freedom
        if (
            abs(J @ u + at.rows.rate).max() < 1e-10
            and free > 0
            and parts.sigma[parts.rank - 1] > 1e-2
        ):
            both = u.reshape(-1, 6)
            state = dataclasses.replace(tried, v=both[:, :3].copy(), omega=both[:, 3:].copy())
    return state


def some(family: str, seed: int, coupled: bool = True) -> tuple[qp.Multibody, qp.State]:
    made = (
        chain(seed, {"chains": 0, "loops": 1}[family])
        if family in ("chains", "loops")
        else random_of(family, seed)
    )
    if not coupled:  # one load does not tell what gears and drives do to several bodies
        made = made.without(
            *(part.name for part in made.parts if isinstance(part, qp.parts.couplings.Coupling))
        )
    system, labels = with_stops(made, seed)
    return system, holding(system, labels, seed)


@pytest.mark.parametrize(("family", "seed"), CASES)
def test_evaluators_agree_where_stops_hold(seed: int, family: str) -> None:
    system, state = some(family, seed)
    assert abs(system.residual(state).velocity).max() < 1e-9
    dense = system.acceleration(state, "dense")
    scale = max(abs(dense).max(), abs(free_acceleration(system, state)).max())
    for evaluator in ("recursive", "literal", "kane"):
        assert abs(system.acceleration(state, evaluator) - dense).max() <= 1e-9 * scale  # type: ignore[arg-type]
    forces = system.constraint_forces(state, "dense")
    np.testing.assert_allclose(
        system.constraint_forces(state), forces, rtol=0.0, atol=1e-8 * abs(forces).max()
    )


@pytest.mark.parametrize(("family", "seed"), CASES)
def test_loads_of_joints_and_stops_are_what_the_equation_asks_for(seed: int, family: str) -> None:
    """Summed over both bodies of each joint and stop they are the constraint forces; an action has
    its reaction."""
    system, state = some(family, seed, coupled=False)
    at, total = state.instant(system.selection), np.zeros((len(state.bodies), 6))
    forces = system.constraint_forces(state, "dense")
    loads = system.reactions(state)
    stops = {stop.name: stop for stop in at.stops}
    assert {label.rsplit(" ", 1)[0] for label in state.held} == set(stops) <= set(loads)
    for name, load in loads.items():
        assert (load.press is None) == (name not in stops)
        part: Any = system[name]
        joint = part.joint if isinstance(part, qp.JointStop) else part
        point = at.view[joint.sites[1]].position
        for site, sign in zip(joint.sites, (-1.0, 1.0), strict=True):
            if site.body.name in state.bodies:
                k = state.bodies.index(site.body.name)
                torque = load.torque + np.cross(point - at.r[k], load.force)
                axes = at.frames.axes[k]
                total[k] += sign * np.concatenate([load.force, axes.T @ torque])
    np.testing.assert_allclose(total, forces, rtol=0.0, atol=1e-9 * max(1.0, abs(forces).max()))


def test_enough_of_them_hold() -> None:
    """And they matter: without them the bodies would accelerate otherwise."""
    held, matter = [], 0
    for family, seed in CASES:
        system, state = some(family, seed)
        held.append(len(state.held))
        let_go = dataclasses.replace(state, held=())
        matter += abs(system.acceleration(let_go) - system.acceleration(state)).max() > 1e-3
    assert min(held) >= 1
    assert max(held) >= 8
    assert matter >= len(CASES) - 2
