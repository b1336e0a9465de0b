"""What acts between two bodies adds up to nothing: force and moment, of springs, dampers, hinge
springs and joints."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.maths.types import Floats
from quirkpy.mechanics.equation import solve_dense
from tests.random_systems import FAMILIES, instant, random_system, seeds

systems = lru_cache(maxsize=None)(random_system)
every_family = pytest.mark.parametrize("family", FAMILIES)
every_seed = seeds(8, 3)


def ends(system: qp.Multibody, force: Any) -> list[qp.Body]:
    """The two bodies between which a force acts, or none."""
    match force:
        case qp.Spring() | qp.Damper():
            return [site.body for site in force.sites()]
        case qp.HingeSpring():
            return list(force.joint.bodies)
    return []


def totals(positions: Floats, wrenches: Floats) -> tuple[Floats, Floats]:
    """Resultant force, and moment about the origin of N, of wrenches about the mass centres in
    N."""
    moments = np.cross(positions, wrenches[:, :3]) + wrenches[:, 3:]
    return wrenches[:, :3].sum(axis=0), moments.sum(axis=0)


@every_seed
@every_family
def test_internal_forces_and_torques_sum_to_zero(family: str, seed: int) -> None:
    system = systems(family, seed)
    for name in system.tables.force_names:
        bodies = ends(system, system[name])
        if not bodies or any(body.fixed for body in bodies):
            continue
        at = system.initial.instant(system.tables.select(system.selection.joint_names, [name]))
        force, moment = totals(at.r, at.loads.wrench)
        size = 1e-13 * (1.0 + abs(at.loads.wrench).max())
        assert abs(force).max() <= size
        assert abs(moment).max() <= 10.0 * size


def test_internal_forces_are_met() -> None:
    """The test above is not about nothing."""
    kinds = set()
    for family in FAMILIES:
        for seed in range(8):
            system = systems(family, seed)
            forces: list[Any] = [system[name] for name in system.tables.force_names]
            kinds |= {
                type(f)
                for f in forces
                if ends(system, f) and not any(b.fixed for b in ends(system, f))
            }
    assert kinds == {qp.Spring, qp.Damper, qp.HingeSpring}


def summed_reactions(system: qp.Multibody) -> Floats:
    """What the joints do to each body by `reactions`: on the second body as said, on the first the
    opposite; about the mass centres, in N (n, 6)."""
    at = instant(system)
    out = np.zeros((len(system.bodies), 6))
    for name, reaction in system.reactions().items():
        joint: Any = system[name]
        place = at.view[joint.sites[1]].position
        for sign, body in zip((-1.0, 1.0), joint.bodies):
            if not body.fixed:
                k = system.bodies.index(body.name)
                out[k, :3] += sign * reaction.force
                out[k, 3:] += sign * (reaction.torque + np.cross(place - at.r[k], reaction.force))
    return out


@every_seed
@every_family
def test_reactions_with_their_opposites_are_all_that_joints_do(family: str, seed: int) -> None:
    system = systems(family, seed)
    forces, turns = system.constraint_forces(), instant(system).frames.axes[:-1].reshape(-1, 3, 3)
    inertial = np.hstack([forces[:, :3], np.einsum("nij,nj->ni", turns, forces[:, 3:])])
    np.testing.assert_allclose(
        summed_reactions(system), inertial, rtol=0.0, atol=1e-9 * (1.0 + abs(inertial).max())
    )


@every_seed
@every_family
def test_joints_between_moving_bodies_never_change_their_momentum(family: str, seed: int) -> None:
    system = systems(family, seed)
    inner = [n for n in system.selection.joint_names if not any(b.fixed for b in system[n].bodies)]
    at = system.initial.instant(system.tables.select(inner))
    solution, turns = solve_dense(at), at.frames.axes[:-1].reshape(-1, 3, 3)
    torques = np.einsum("nij,nj->ni", turns, solution.constraint_wrench[:, 3:])
    inertial = np.hstack([solution.constraint_wrench[:, :3], torques])
    force, moment = totals(at.r, inertial)
    size = 1e-10 * (1.0 + abs(inertial).max())
    assert abs(force).max() <= size
    assert abs(moment).max() <= size


def test_reaction_of_a_hanging_weight_is_its_weight() -> None:
    lamp = qp.Body.sphere("lamp", 0.1, 2.0, position=(0, 0, -1))
    system = qp.Multibody(
        lamp, qp.Spherical("hook", qp.GROUND, lamp, at=(0, 0, 0)), qp.Gravity((0, 0, -9.81))
    )
    reaction = system.reactions()["hook"]
    np.testing.assert_allclose(reaction.force, (0.0, 0.0, 19.62), atol=1e-12)
    np.testing.assert_allclose(reaction.torque, 0.0, atol=1e-12)
    assert reaction.unique


def test_reactions_of_a_beam_on_two_locks_are_flagged_as_not_unique() -> None:
    beam = qp.Body.box("beam", (1.0, 0.1, 0.1), 3.0)
    locks = [qp.Fixed(f"lock{x:+.1f}", qp.GROUND, beam, at=(x, 0, 0)) for x in (-0.5, 0.5)]
    reactions = qp.Multibody(beam, *locks, qp.Gravity((0, 0, -10.0))).reactions()
    assert not any(reaction.unique for reaction in reactions.values())
    np.testing.assert_allclose(
        sum(r.force for r in reactions.values()), (0.0, 0.0, 30.0), atol=1e-12
    )


@every_seed
@every_family
def test_all_that_acts_on_a_body_and_its_inertia_sum_to_zero(family: str, seed: int) -> None:
    """Forces, joints and stops about the mass centre: what each body does follows, in any state of
    motion."""
    system = systems(family, seed)
    for name, acting in system.balance().items():
        loads = np.array([(p.force, p.torque) for p in acting]).reshape(-1, 2, 3)
        assert abs(loads.sum(axis=0)).max() <= 1e-9 * max(1.0, abs(loads).max()), name


def test_a_stop_and_a_hinge_balance_both_bodies_and_what_turns_with_a_drive_its_inertia() -> None:
    """Two hinged bars lean on the stop between them; and a weight goes round on an arm."""
    bars = [
        qp.Body.box(f"bar {k}", (1.0, 0.1, 0.1), 1.0 + k, position=(k + 0.5, 0, 0))
        for k in range(2)
    ]
    foot = qp.Revolute("foot", qp.GROUND, bars[0], at=(0, 0, 0), axis=(0, 1, 0))
    knee = qp.Revolute("knee", *bars, at=(1, 0, 0), axis=(0, 1, 0))
    stop = qp.JointStop("stop", knee, lower=0.0, upper=0.5)
    lean = qp.HingeSpring("lean", foot, stiffness=200.0, damping=50.0)
    pull = qp.Load("pull", bars[1], force=(0, 0, 30.0))
    rest = qp.Multibody(*bars, foot, knee, stop, lean, pull, qp.Gravity((0, 0, -9.81))).settle()
    assert rest.state.held == ("stop lower",)
    for name, sources in (("bar 0", ("lean", "gravity", "foot", "knee", "stop")),
                          ("bar 1", ("pull", "gravity", "knee", "stop"))):  # fmt: skip
        acting = rest.balance[name]
        assert sorted(p.source for p in acting) == sorted(sources)
        for what in ("force", "torque"):
            np.testing.assert_allclose(
                sum(getattr(p, what) for p in acting), np.zeros(3), atol=1e-9
            )
        lines = [line for line in rest.explain().splitlines() if line.startswith(name)]
        assert len(lines) == len(sources)
        assert sum("pressed with" in line for line in lines) == 1
    weight = qp.Body.sphere(
        "weight", 0.1, 2.0, position=(0.5, 0, 0), velocity=(0, 1.5, 0), angular_velocity=(0, 0, 3)
    )
    axle = qp.Revolute("axle", qp.GROUND, weight, at=(0, 0, 0), axis=(0, 0, 1))
    system = qp.Multibody(weight, axle, qp.Prescribed("motor", axle, lambda t: (3.0 * t, 3.0, 0.0)))
    inertia = {p.source: p for p in system.balance()["weight"]}["inertia"]
    np.testing.assert_allclose(inertia.force, (2.0 * 9.0 * 0.5, 0, 0), atol=1e-12)
