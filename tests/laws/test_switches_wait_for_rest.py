"""A switch may wait until everything rests for good: as if somebody had settled the system,
switched, and gone on by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.kernels.base.states import bodies_of
from tests.faults.sentence import check_refused
from tests.random_systems import seeds

LATER = ("far", "near")


def arms(seed: int, damping: float = 0.3, free: bool = False) -> qp.Multibody:
    """A chain of three boxes that damped springs pull towards random angles; two others may take
    their place, and a lock."""
    rng = np.random.default_rng(seed)
    size, parts, hinges = (0.2, 0.1, 0.1), [], []
    for k in range(4):
        body = qp.Body.box(
            f"b{k}", size, float(rng.uniform(0.5, 2.0)), position=(0.2 * k, 0, 0),
            fixed=not free and k == 0,
        )  # fmt: skip
        parts.append(body)
        if k:
            axis = tuple(rng.normal(size=3))
            at = (0.2 * k - 0.1, 0.0, 0.0)
            hinges.append(qp.Revolute(f"h{k}", parts[k - 1], body, at=at, axis=axis))
    stiff = {"stiffness": 0.5, "damping": damping}

    def springs(name: str) -> list[qp.HingeSpring]:
        rests = rng.uniform(-1.5, 1.5, size=len(hinges))
        return [
            qp.HingeSpring(f"{name} {h.name}", h, rest_angle=float(rest), **stiff)
            for h, rest in zip(hinges, rests, strict=True)
        ]

    lock = qp.Fixed("lock", parts[2], parts[3], here=True)
    system = qp.Multibody(*parts, *hinges, *springs("far"), candidates=[*springs("near"), lock])
    return system


def names(system: qp.Multibody, name: str) -> tuple[str, ...]:
    forces = system.tables.force_names
    return tuple(force for force in forces if force.startswith(name))


def balance(run: qp.Trajectory) -> np.ndarray:
    return run.energy + run.dissipated + run.lost + run.projected - run.work - run.switched


@pytest.mark.parametrize("free", [False, True], ids=["fixed", "free"])
@seeds(3, 2)
def test_it_is_settled_switched_and_run_on_by_hand(seed: int, free: bool) -> None:
    """To the bit in states, and the ledger knows what was left of the motion."""
    system = arms(seed, free=free)
    near, far = (names(system, name) for name in ("near", "far"))
    switches = [
        qp.Switch(qp.Settled(), forces=near, name="there"),
        qp.Switch(qp.Settled(), joints=("h1", "h2", "h3", "lock"), forces=far, name="locked"),
    ]
    run = system.simulate(2000.0, switches=switches, progress=False)
    assert [event.name for event in run.events] == ["there", "locked"]
    first = system.settle(method="dop853", progress=False)
    t = first.state.t
    assert run.pieces[1][1].t[0] == t
    np.testing.assert_array_equal(run.pieces[1][1].start.q, first.state.q)
    second = system.choosing(("h1", "h2", "h3"), near).at(first.state)
    again = second.settle(method="dop853", progress=False)
    assert again.run is not None
    both = (some.course.states for some in (run.pieces[1][1], again.run))
    np.testing.assert_array_equal(*map(bodies_of, both))
    third = run.pieces[2][1].start
    np.testing.assert_array_equal(third.q, again.state.q)
    assert max(abs(third.v).max(), abs(third.omega).max()) < 1e-15  # of the whole
    assert np.ptp(balance(run)) < 1e-8
    assert run.lost[-1] > 0.0
    assert run.final["h3"].angle == pytest.approx(again.state["h3"].angle, abs=1e-9)


@pytest.mark.parametrize("spin", [0.0, 0.05, -1.0])
def test_momenta_are_kept_where_it_drifts_and_turns(spin: float) -> None:
    """The equilibrium from which the run goes on moves as the whole did, and so does what `settle`
    finds."""
    turn, drift = np.array([0.0, 0.0, spin]), np.array([0.3, -0.1, 0.2])
    arm = np.array([0.1, 0.0, 0.0])
    hub = qp.Body.box("hub", (0.1, 0.1, 0.1), 1.0, velocity=drift, angular_velocity=turn)
    fin = qp.Body.box(
        "fin", (0.1, 0.1, 0.1), 2.0, position=arm,
        velocity=drift + np.cross(turn, arm), angular_velocity=turn,
    )  # fmt: skip
    hinge = qp.Revolute("hinge", hub, fin, at=(0.05, -0.05, 0), axis=(0, 0, 1))
    far, near = (
        qp.HingeSpring(name, hinge, stiffness=0.05, rest_angle=angle, damping=0.02)
        for name, angle in (("far", 0.5), ("near", -0.7))
    )
    system = qp.Multibody(hub, fin, hinge, far, candidates=[near])
    switches = [qp.Switch(qp.Settled(), forces=(name,)) for name in ("near", "far")]
    run = system.simulate(400.0, switches=switches, progress=False)
    assert len(run.pieces) == 3
    for momentum in (run.momentum, run.angular_momentum):
        assert abs(momentum - momentum[0]).max() < 1e-7 * abs(momentum).max()
    assert np.ptp(balance(run)) < 1e-7 * run.energy.max()
    found = system.settle(progress=False).state
    assert sum(m * found[name].velocity for name, m in (("hub", 1.0), ("fin", 2.0))) == (
        pytest.approx(run.momentum[0], abs=1e-9)
    )


def test_a_start_that_rests_is_switched_at_once() -> None:
    system = arms(1)
    rest = system.settle(progress=False)
    switch = qp.Switch(qp.Settled(), forces=names(system, "near"))
    run = system.simulate(5.0, state=rest.state, switches=[switch], progress=False)
    assert run.events[0].t == rest.state.t
    assert len(run.pieces) == 2
    assert len(run.pieces[0][1].t) == 1


def pendulum(damping: float) -> tuple[qp.Multibody, qp.State]:
    """A pendulum upright, where it may rest, but not for good."""
    bob = qp.Body.box("bob", (0.1, 0.1, 0.1), 1.0, position=(0, 0, -1.0))
    hinge = qp.Revolute("hinge", qp.GROUND, bob, at=(0, 0, 0), axis=(0, 1, 0))
    drag = qp.HingeSpring("drag", hinge, stiffness=0.0, damping=damping)
    system = qp.Multibody(
        bob,
        hinge,
        drag,
        qp.Gravity((0, 0, -9.81)),
        candidates=[qp.Load("push", bob, force=(1, 0, 0))],
    )
    up = qp.rotation((0, 1, 0), math.pi)
    return system, system.initial.replace({"bob": {"position": (0, 0, 1.0), "orientation": up}})


def test_what_may_be_left_and_what_never_comes_is_no_rest() -> None:
    """Upright it waits for ever, and so does what nothing damps; from beside it comes down."""
    push = qp.Switch(qp.Settled(), forces=("drag", "push"))
    system, upright = pendulum(2.0)
    run = system.simulate(20.0, state=upright, switches=[push], progress=False)
    assert len(run.pieces) == 1
    assert run.stop is qp.Stop.END
    swinging, _ = pendulum(0.0)
    moving = swinging.initial.replace(
        {"bob": {"angular_velocity": (0, 1, 0), "velocity": (-1, 0, 0)}}
    )
    run = swinging.simulate(200.0, state=moving, switches=[push], progress=False)
    assert len(run.pieces) == 1
    assert run.t[-1] == 200.0
    beside = qp.rotation((0, 1, 0), math.pi - 0.01)
    at = (-math.sin(math.pi - 0.01), 0, -math.cos(math.pi - 0.01))
    falling = system.initial.replace({"bob": {"position": at, "orientation": beside}})
    run = system.simulate(60.0, state=falling, switches=[push], progress=False)
    assert len(run.pieces) == 2
    assert abs(run.pieces[1][1].start["hinge"].angle) < 1e-9


def test_schedules_are_waited_for_and_controllers_refused() -> None:
    """What is still to change is no rest, and of a controller nobody knows."""
    hub = qp.Body.box("hub", (0.1, 0.1, 0.1), 1.0, fixed=True)
    arm = qp.Body.box("arm", (0.1, 0.1, 0.1), 1.0, position=(0.1, 0, 0))
    hinge = qp.Revolute("hinge", hub, arm, at=(0.05, -0.05, 0), axis=(0, 0, 1))
    late = qp.Schedule((0.0, 30.0, 31.0), (0.0, 0.0, 0.5), "smooth")
    spring = qp.HingeSpring("spring", hinge, stiffness=0.05, rest_angle=late, damping=0.02)
    motor = qp.Motor("motor", hinge, torque=0.0)
    system = qp.Multibody(hub, arm, hinge, spring, candidates=[motor])
    run = system.simulate(300.0, switches=[qp.Switch(qp.Settled(), forces=())], progress=False)
    assert run.events[0].t > 31.0
    assert run.final["hinge"].angle == pytest.approx(0.5, abs=1e-9)

    class Idle(qp.Controller):
        def command(self, t, measured, memory):  # type: ignore[no-untyped-def]
            return {"motor.torque": 0.0}

    idle = Idle("idle", period=0.1, reads=["hinge.angle"], drives=["motor.torque"])
    driven = qp.Multibody(hub, arm, hinge, spring, motor, idle)
    switches = [qp.Switch(qp.Settled(), forces=("spring",), name="let go")]
    check_refused(
        lambda: driven.simulate(9.0, switches=switches), "let go", ("'idle'", "wait for an event")
    )


def test_files_keep_it(tmp_path) -> None:  # type: ignore[no-untyped-def]
    system = arms(0)
    switches = [qp.Switch(qp.Settled(rest=1e-2), forces=names(system, "near"))]
    run = system.simulate(500.0, switches=switches, progress=False)
    run.save(tmp_path / "run.npz")
    back = qp.Trajectory.load(tmp_path / "run.npz")
    assert back.switches == tuple(switches)
    np.testing.assert_array_equal(back.lost, run.lost)
