"""Impulses: what joints and stops do where velocities jump adds up to what momenta change, body by
body, and what they take to what energy does."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.kernels.base.states import attitudes_of, spins_of, velocities_of
from quirkpy.maths.rotations import rotate
from quirkpy.maths.types import Floats
from quirkpy.motion.course import Jump
from tests.laws.test_joints_take_hold import thrown
from tests.laws.test_switching_within_a_run import arm, there
from tests.motion import compiled_system
from tests.random_systems import seeds

FAMILIES = ("trees", "loops", "meshes", "linkages", "lattices", "medleys")


def momenta(run: qp.Trajectory, rows: Floats) -> tuple[Floats, Floats]:
    """Momentum and angular momentum about its mass centre of each body, in N (nb, 3)."""
    tables = run.system.tables
    spin = np.einsum("nij,nj->ni", tables.body_inertia, spins_of(rows))
    return tables.body_mass[:, None] * velocities_of(rows), rotate(attitudes_of(rows), spin)


def kinetic(run: qp.Trajectory, rows: Floats) -> float:
    tables, omega = run.system.tables, spins_of(rows)
    turning = np.einsum("ni,nij,nj->", omega, tables.body_inertia, omega)
    return float(0.5 * (tables.body_mass @ (velocities_of(rows) ** 2).sum(axis=1) + turning))


def check_jump(run: qp.Trajectory, jump: Jump) -> None:
    """To 1e-12 of the largest momentum, over how near to a singular pose the joints are, and of the
    energy."""
    mine = [impact for impact in run.impacts if impact.t == jump.t]
    (p0, h0), (p1, h1) = momenta(run, jump.before), momenta(run, jump.after)
    largest = max(abs(part).max() for part in (p0, h0, p1, h1))
    blunt = 1.0 / min(1.0, run.system.mobility(run.states[0]).smallest)
    largest *= blunt
    for k, body in enumerate(run.start.bodies):
        given = [impact.impulse[body] for impact in mine if body in impact.impulse]
        force = sum((one.force for one in given), np.zeros(3))
        couple = sum((one.couple for one in given), np.zeros(3))
        np.testing.assert_allclose(p1[k] - p0[k], force, rtol=0, atol=1e-12 * largest)
        np.testing.assert_allclose(h1[k] - h0[k], couple, rtol=0, atol=1e-12 * largest)
    whole = kinetic(run, jump.before)
    lost = sum(impact.lost for impact in mine)
    assert whole - kinetic(run, jump.after) == pytest.approx(lost, abs=1e-12 * whole * blunt)


@pytest.mark.parametrize("family", FAMILIES)
@seeds(6, 1, attack=300)
def test_impulses_of_joints_that_take_hold_of_a_start(family: str, seed: int) -> None:
    system = compiled_system(family, seed)
    run = system.at(thrown(system, seed)).simulate(0.01, progress=False)
    assert len(run.course.jumps) == 1
    (jump,) = run.course.jumps
    check_jump(run, jump)
    assert sum(impact.lost for impact in run.impacts) == pytest.approx(run.lost[0], rel=1e-9)
    assert {impact.joint for impact in run.impacts} <= set(system.selection.joint_names)
    for name, shock in run.shocks.items():
        forces = [
            np.linalg.norm(one.force)
            for impact in run.impacts
            if impact.joint == name
            for one in impact.impulse.values()
        ]
        assert shock.force == max(forces)


def bouncing(seed: int, locked: bool) -> qp.Multibody:
    """Boxes on a chain of hinges that bounce on stops of any restitution, two of them as one where
    they are locked."""
    rng = np.random.default_rng(seed)
    boxes = [
        qp.Body.box(f"b{k}", (0.1, 0.1, 0.1), rng.uniform(0.5, 2.0), position=(0.1 * k, 0, 0))
        for k in range(4)
    ]
    parts: list[qp.Part] = list(boxes)
    for k in range(3):
        place = {"at": (0.05 + 0.1 * k, 0.05, 0), "axis": (0, 0.1 * k, 1)}
        if k == 1 and locked:
            parts.append(qp.Fixed("lock", *boxes[1:3]))
            continue
        hinge = qp.Revolute(f"h{k}", *boxes[k : k + 2], **place)  # type: ignore[arg-type]
        limit, bounce = float(rng.uniform(0.05, 0.3)), float(rng.choice([0.0, 0.5, 0.8]))
        parts.append(hinge)
        parts.append(qp.JointStop(f"s{k}", hinge, lower=-limit, upper=limit, restitution=bounce))
        parts.append(
            qp.HingeSpring(
                f"k{k}", hinge, stiffness=0.05, rest_angle=float(rng.choice([-1.0, 1.0]))
            )
        )
    return qp.Multibody(*parts)


@pytest.mark.parametrize("locked", [False, True])
@seeds(12, 3, attack=400)
def test_impulses_of_stops(seed: int, locked: bool) -> None:
    """Between bodies that are locked together the lock has its part."""
    run = bouncing(seed, locked).simulate(1.5, progress=False)
    assert len(run.course.jumps) > 0
    for jump in run.course.jumps:
        check_jump(run, jump)
        names = {impact.joint for impact in run.impacts if impact.t == jump.t}
        assert names & {"s0", "s1", "s2"}
        assert ("lock" in names) == locked
    taken = sum(impact.lost for impact in run.impacts)
    assert run.dissipated[-1] == pytest.approx(taken, abs=1e-8 * abs(run.energy).max())


@seeds(6, 2, attack=200)
def test_impulses_of_a_lock_that_takes_hold_on_the_way(seed: int) -> None:
    run = arm(seed).simulate(
        4.0, switches=[qp.Switch(there(), joints=("lock", "h1"))], progress=False
    )
    (jump,) = run.course.jumps
    check_jump(run, jump)
    (held,) = [impact for impact in run.impacts if impact.joint == "lock"]
    assert set(held.impulse) == {"b0", "b1"}
    action, reaction = held.impulse["b0"].force, held.impulse["b1"].force
    np.testing.assert_allclose(action, -reaction, rtol=0, atol=1e-15)
    taken = sum(impact.lost for impact in run.impacts)
    assert taken == pytest.approx(run.lost[-1], rel=1e-9)


def test_a_ball_that_falls_on_a_floor() -> None:
    """By hand: (1 + e) m v, and (1 - e^2) m v^2 / 2."""
    ball = qp.Body.box("ball", (0.1, 0.1, 0.1), 2.0, position=(0, 0, 1.0))
    slide = qp.Prismatic("slide", qp.GROUND, ball, at=(0, 0, 0), axis=(0, 0, 1))
    floor = qp.JointStop("floor", slide, lower=-1.0, restitution=0.5)
    system = qp.Multibody(ball, slide, floor, qp.Gravity((0, 0, -9.81)))
    run = system.simulate(0.6, progress=False)
    v = float(np.sqrt(2.0 * 9.81))
    (impact,) = run.impacts
    assert impact.joint == "floor"
    np.testing.assert_allclose(impact.impulse["ball"].force, (0, 0, 3.0 * v), atol=1e-7)
    assert impact.lost == pytest.approx(0.75 * v * v, rel=1e-7)
    assert run.shocks["floor"].force == pytest.approx(3.0 * v, rel=1e-7)


def test_impulses_stay_with_the_run(tmp_path: Path) -> None:
    run = bouncing(1, True).simulate(1.0, progress=False)
    run.save(tmp_path / "run.npz")
    copy = qp.Trajectory.load(tmp_path / "run.npz")
    assert [(i.t, i.joint, i.lost) for i in copy.impacts] == [
        (i.t, i.joint, i.lost) for i in run.impacts
    ]
    again = run.system.simulate(1.0, keep="ends", progress=False)
    assert [(i.t, i.joint, i.lost) for i in again.impacts] == [
        (i.t, i.joint, i.lost) for i in run.impacts
    ]
    assert run.sampled(0.05).impacts[0].lost == run.impacts[0].lost


def test_a_stiff_method_tells_them_too() -> None:
    run = bouncing(2, False).simulate(1.0, method="radau", progress=False)
    assert run.course.jumps
    for jump in run.course.jumps:
        check_jump(run, jump)


def test_many_impacts_of_one_call_are_all_told() -> None:
    ball = qp.Body.box("ball", (0.1, 0.1, 0.1), 1.0, position=(0, 0, 0.01))
    slide = qp.Prismatic("slide", qp.GROUND, ball, at=(0, 0, 0), axis=(0, 0, 1))
    floor = qp.JointStop("floor", slide, lower=-0.01, restitution=0.98)
    system = qp.Multibody(ball, slide, floor, qp.Gravity((0, 0, -9.81)))
    run = system.simulate(3.0, progress=False)
    reached = [event.t for event in run.events if event.name == "floor reached"]
    assert len(reached) > 30
    assert [impact.t for impact in run.impacts] == reached
    assert dataclasses.is_dataclass(run.settings)
