"""Whatever can be measured along a run is what the system says state by state; and by the same
names events are found, tables made and linear models read."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from demos import grasped_satellite
from quirkpy.mechanics.holding import Holders
from quirkpy.mechanics.measures import measure_of, measures_in, value_at
from quirkpy.motion.events import watched_functions
from tests.motion import calls_of, compiled_system, floating_chain
from tests.random_systems import FAMILIES, random_system, seeds
from tests.studies import far_pair

every_family = pytest.mark.parametrize("family", FAMILIES)
every_seed = seeds(6, 2)


def off(found: Any, known: Any, size: float = 0.0) -> float:
    """The largest difference, as a share of the largest number."""
    found, known = np.asarray(found), np.asarray(known)
    return float(abs(found - known).max(initial=0.0) / max(abs(known).max(initial=0.0), size, 1e-9))


# --- state by state -------------------------------------------------------------------------------
@every_seed
@every_family
def test_reactions_along_a_run_are_those_of_its_states(family: str, seed: int) -> None:
    """Redundant ones, those of couplings and of users' own joints included."""
    system = random_system(family, seed)
    run = system.simulate(0.02, max_steps=4)
    for axes, what in (("inertial", "reaction"), ("joint", "load")):
        known = [system.reactions(state, axes=axes) for state in run.states]  # type: ignore[arg-type]
        size = max(abs(np.hstack([r.force, r.torque])).max() for k in known for r in k.values())
        for name in known[0]:
            stated = [np.concatenate([k[name].force, k[name].torque]) for k in known]
            assert off(run.measure(f"{name}.{what}"), stated, size) < 1e-7, name


@every_seed
@every_family
def test_loads_of_one_pass_are_those_found_state_by_state(family: str, seed: int) -> None:
    """Where rows depend on each other, those of least norm."""
    run = compiled_system(family, seed).simulate(0.02, max_steps=4)
    made, found, stated = loads_of(run, False), holders_of(run).found.sure, loads_of(run, True)
    assert found.any() or family == "meshes"
    assert off(made, stated) < 1e-10


@pytest.mark.kernels
def test_a_stop_that_presses_in_a_redundant_loop_is_measured_in_one_pass() -> None:
    """A four-bar of four parallel hinges, with one of them against its stop."""
    corners = [(0.0, 0.0, 0.0), (0.0, 0.4, 0.0), (0.7, 0.5, 0.0), (0.6, 0.0, 0.0)]
    rods = [
        qp.Body.rod(f"rod {k}", start=corners[k], end=corners[k + 1], radius=0.02, mass=1.0 + k)
        for k in range(3)
    ]
    links = [qp.GROUND, *rods, qp.GROUND]
    hinges = [
        qp.Revolute(f"hinge {k}", links[k], links[k + 1], at=corners[k], axis=(0, 0, 1))
        for k in range(4)
    ]
    push = qp.Load("push", rods[0], force=(-1.0, 0.3, 0.5))
    stop = qp.JointStop("limit", hinges[0], upper=0.0)
    system = qp.Multibody(*rods, *hinges, push, stop)
    run = system.simulate(0.01, step=0.005)
    assert run["limit"].press[-1] > 0.1
    assert holders_of(run).found.sure.all()
    assert off(loads_of(run, False), loads_of(run, True)) < 1e-10
    stated = holders_of(run)
    stated.found.sure[:] = False
    assert off(run["limit"].press, stated.press("limit")) < 1e-10


def holders_of(run: qp.Trajectory) -> Holders:
    """What finds the loads of joints along a run."""
    c = run.course
    return Holders(run.system.selection, c.t, c.states, c.angles, c.held, c.stops)


def loads_of(run: qp.Trajectory, by_state: bool) -> Any:
    """The loads of all joints, in one pass or found state by state (n, k, 12)."""
    holders = holders_of(run)
    if by_state:
        holders.found.sure[:] = False
    return np.array([holders.load(name) for name in run.system.tables.joint_names])


@every_seed
@every_family
def test_loads_along_a_run_are_those_of_its_states(family: str, seed: int) -> None:
    system = random_system(family, seed)
    run = system.simulate(0.02, max_steps=3)
    known = [system.pulls(state) for state in run.states]
    for f, force in enumerate(system.tables.forces):
        measure = measures_in(system.tables).get(f"{force.name}.load")
        if measure is None:
            continue  # a stop
        found = run.measure(f"{force.name}.load")
        assert found.shape == (len(run.t), *measure.shape)
        if measure.shape != (6,):
            continue
        acting = [
            {b: np.concatenate(p[1:]) for b, some in k.items() for p in some if p[0] == force.name}
            for k in known
        ]
        bodies = [
            b
            for b in system.bodies
            if all(off(found[k], a.get(b, np.zeros(6))) < 1e-9 for k, a in enumerate(acting))
        ]
        assert bodies, (f, force)
    assert off(run.measure("energy"), [system.energy(s) for s in run.states]) < 1e-10


@every_seed
@every_family
def test_gaps_and_the_whole_are_those_of_the_states(family: str, seed: int) -> None:
    system = compiled_system(family, seed)
    run = system.simulate(0.02, max_steps=4)
    for k, state in enumerate(run.states):
        found = system.residual(state)
        rows = np.array(found.joints)
        for joint in set(found.joints) & set(system.tables.joint_names):
            worst = abs(found.position[rows == joint]).max()
            assert run[joint].gap[k] == pytest.approx(worst, abs=1e-14)
    mass = system.tables.body_mass
    np.testing.assert_allclose(
        run.centre_of_mass * mass.sum(),
        np.einsum("n,kni->ki", mass, np.array([s.r for s in run.states])),
        rtol=1e-12, atol=1e-12,
    )  # fmt: skip
    some = system.bodies[: 1 + len(system.bodies) // 2]
    rest = system.bodies[len(some) :]
    both = [run.group(*names) for names in (some, rest) if names]
    np.testing.assert_allclose(sum(g.momentum for g in both), run.momentum, atol=1e-12)
    np.testing.assert_allclose(
        sum(g.angular_momentum for g in both), run.angular_momentum, atol=1e-11
    )
    arms = [g.centre_of_mass - run.centre_of_mass for g in both]
    square = [np.einsum("ki,ki->k", a, a)[:, None, None] * np.eye(3) - a[:, :, None] * a[:, None]
              for a in arms]  # fmt: skip
    parallel = sum(g.inertia + g.mass * s for g, s in zip(both, square, strict=True))
    np.testing.assert_allclose(parallel, run.inertia, rtol=1e-11, atol=1e-11)


def test_springs_servos_and_stops_say_what_they_do() -> None:
    hub = qp.Body.box("hub", (0.1, 0.1, 0.1), 1.0, fixed=True)
    arm = qp.Body.box("arm", (0.1, 0.1, 0.1), 1.0, position=(0.1, 0.0, 0.0))
    hinge = qp.Revolute("hinge", hub, arm, at=(0.05, -0.05, 0), axis=(0, 0, 1))
    system = qp.Multibody(
        hub, arm, hinge, qp.Load("push", arm, force=(0.0, -0.4, 0.0)),
        qp.Spring("cord", hub, arm, stiffness=3.0, rest_length=0.08, damping=0.2),
        qp.HingeSpring("torsion", hinge, stiffness=0.02, rest_angle=0.3, damping=1e-3),
        qp.JointStop("limit", hinge, lower=-0.05),
        candidates=(qp.Load("later", arm, force=(1.0, 0.0, 0.0)),),
    )  # fmt: skip
    run = system.simulate(2.0)
    length = np.linalg.norm(run["arm"].position, axis=1)
    np.testing.assert_allclose(run["cord"].length, length, rtol=1e-14)
    rate = np.einsum("ki,ki->k", run["arm"].position, run["arm"].velocity) / length
    np.testing.assert_allclose(run["cord"].tension, 3.0 * (length - 0.08) + 0.2 * rate, atol=1e-14)
    angle, turning = run["hinge"].angle, run["hinge"].rate
    np.testing.assert_allclose(
        run["torsion"].load, -0.02 * (angle - 0.3) - 1e-3 * turning, atol=1e-15
    )
    np.testing.assert_allclose(run["torsion"].energy, 0.01 * (angle - 0.3) ** 2, atol=1e-16)
    np.testing.assert_array_equal(run["push"].load, [(0.0, -0.4, 0.0, 0.0, 0.0, 0.0)] * len(run.t))
    assert not run["later"].load.any()
    press = run["limit"].press
    known = [system.reactions(s).get("limit") for s in run.states]
    np.testing.assert_allclose(press, [0.0 if r is None else r.press for r in known], atol=1e-12)
    assert press[0] == 0.0 < press[-1]


def test_what_is_measured_follows_the_selection_of_each_piece() -> None:
    graph = far_pair().explore()
    edge = next(graph.moves())
    replay = graph.replay(graph.plan(edge.source, edge.target))
    joint = replay.system.tables.joint_names
    for name in joint:
        assert replay[name].load.shape == (len(replay.t), 6)
    for force in replay.system.tables.force_names:
        assert len(replay.measure(f"{force}.energy")) == len(replay.t)


# --- events ---------------------------------------------------------------------------------------
def turning(torque: float) -> qp.Multibody:
    """A wheel that a constant torque turns: angle = torque t^2 / 2 I, I = 0.4 m r^2."""
    ball = qp.Body.sphere("ball", 0.1, 2.5)
    tip = ball.site("tip", at=(0.1, 0.0, 0.0))
    axle = qp.Revolute("axle", qp.GROUND, ball, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    drag = qp.Spring("thread", qp.GROUND.site("eye", at=(0.1, 0, 0)), tip, stiffness=0.0)
    return qp.Multibody(ball, axle, drag, qp.Load("turn", ball, torque=(0.0, 0.0, torque)))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_crossing_is_located_exactly_and_in_its_direction(sign: float) -> None:
    torque, inertia = sign * 0.02, 0.4 * 2.5 * 0.01
    rising, falling = qp.When.above("axle.angle", 1.5), qp.When.below("axle.angle", -1.5)
    run = turning(torque).simulate(20.0, stop=[rising, falling], rtol=1e-12, atol=1e-13)
    expected = rising if sign > 0 else falling
    assert [event.name for event in run.events] == [expected.name]
    assert run.t[-1] == pytest.approx(np.sqrt(2.0 * 1.5 * inertia / 0.02), rel=1e-10)
    assert run.final["axle"].angle == pytest.approx(sign * 1.5, abs=1e-10)


@pytest.mark.parametrize(
    ("name", "level", "angle"),
    [
        ("ball.orientation.z", np.sin(0.4), 0.8),
        ("tip.position.y", 0.1 * np.sin(0.8), 0.8),
        ("ball.tip.velocity.x", -0.02, None),
        ("axle.rate", 0.7, None),
        ("thread.length", 0.2 * np.sin(0.4), 0.8),
        ("ball.angular_velocity.z", 0.7, None),
    ],
)
def test_compiled_crossings_are_those_that_python_finds(
    name: str, level: float, angle: float | None
) -> None:
    system = turning(0.02)
    made = qp.Threshold(name, level, "both", name="made")
    python = qp.When("python", lambda s: float(measured(system, s, name)) - level)
    runs = [system.simulate(5.0, stop=[event]) for event in (made, python)]
    assert runs[0].t[-1] == pytest.approx(runs[1].t[-1], rel=1e-9)
    assert [len(run.events) for run in runs] == [1, 1]
    if angle is not None:
        assert runs[0].final["axle"].angle == pytest.approx(angle, abs=1e-9)
    entry = system.clusters.enter(system.initial, True)
    (watched,) = watched_functions(entry, system.selection, [made])
    assert watched.measure is not None  # compiled


def measured(system: qp.Multibody, state: qp.State, name: str) -> Any:
    return value_at(measure_of("test", system.tables, name), state.instant(system.selection))


def test_a_crossing_of_a_reaction_asks_python() -> None:
    """The axle of a wheel with a heavy rim holds m w^2 r."""
    ball = qp.Body.sphere("ball", 0.1, 2.5, position=(0.3, 0.0, 0.0))
    axle = qp.Revolute("axle", qp.GROUND, ball, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    system = qp.Multibody(ball, axle, qp.Load("turn", ball, torque=(0.0, 0.0, 0.02)))
    run = system.simulate(60.0, stop=[qp.When.below("axle.load.force.x", -0.5)])
    assert len(run.events) == 1
    assert run["axle"].load[-1, 0] == pytest.approx(-0.5, abs=1e-7)


def test_a_crossing_where_locked_bodies_move_as_one() -> None:
    ball = qp.Body.sphere("ball", 0.1, 2.5)
    bob = qp.Body.sphere("bob", 0.1, 0.5, position=(0.5, 0.0, 0.0))
    axle = qp.Revolute("axle", qp.GROUND, ball, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    system = qp.Multibody(
        ball, bob, axle, qp.Fixed("lock", ball, bob), qp.Load("t", ball, torque=(0.0, 0.0, 0.02))
    )
    for event in (
        qp.When.above("axle.angle", 0.5),
        qp.When.above("bob.position.y", 0.5 * np.sin(0.5)),
    ):
        run = system.simulate(60.0, stop=[event])
        assert run.final["axle"].angle == pytest.approx(0.5, abs=1e-8)


# --- tables, files, linear models -----------------------------------------------------------------
@pytest.mark.parametrize(("start", "step", "rows"), [(0.0, 0.3, 5), (2.5, 0.25, 5), (0.0, 7.0, 2)])
def test_regular_samples_are_the_regular_ones_alone(start: float, step: float, rows: int) -> None:
    """Each a step after the one before, and the end, which may lie nearer; also across switches."""
    system = floating_chain()
    run = system.simulate(1.0, state=system.initial.changed(t=start))
    flown = system.simulate(
        1.0, switches=[qp.Switch(0.6, parameters={"torsion": {"damping": 0.1}})]
    )
    for one, begun in ((run, start), (flown, 0.0)):
        table = one.table(["arm.position", "kinetic"], step=step)
        regular = [begun + step * k for k in range(rows - 1)]
        np.testing.assert_array_equal(table["t"], [*regular, begun + 1.0])
        for t, place in zip(table["t"], table["arm.position"], strict=True):
            np.testing.assert_allclose(one.at(t)["arm"].position, place, rtol=0, atol=1e-9)
    with pytest.raises(qp.PartError, match="table: step is 1e-09 s"):
        run.table(step=1e-9)


def test_tables_and_files_hold_what_names_measure(tmp_path: Path) -> None:
    run = floating_chain().simulate(1.0)
    names = ["hinge.angle", "arm.position", "torsion.load", "inertia"]
    table = run.table(names, step=0.1)
    assert list(table) == ["t", *names]
    np.testing.assert_array_equal(table["t"], [*(0.1 * np.arange(10)), 1.0])
    assert table["arm.position"].shape == (11, 3)
    for t, place in zip(table["t"], table["arm.position"], strict=True):
        np.testing.assert_allclose(run.at(t)["arm"].position, place, rtol=0, atol=1e-9)
    run.save(tmp_path / "run.csv", names=names[:2])
    with (tmp_path / "run.csv").open() as file:
        head, *lines = list(csv.reader(file))
    assert head == ["t", "hinge.angle", "arm.position.x", "arm.position.y", "arm.position.z"]
    np.testing.assert_array_equal(
        np.array(lines, dtype=float)[:, 1:],
        np.column_stack([run["hinge"].angle, run["arm"].position]),
    )
    run.save(tmp_path / "all.csv")
    assert "tail.orientation.w" in (tmp_path / "all.csv").read_text().splitlines()[0]


def test_names_are_offered_where_they_are_typed() -> None:
    run = floating_chain().simulate(0.1)
    assert {"arm", "hinge", "torsion"} <= set(run._ipython_key_completions_())
    assert {"arm", "hinge"} <= set(run.final._ipython_key_completions_())
    assert run.system.measures["cord.tension"] == "N"
    for name in run._ipython_key_completions_():
        assert run[name] is not None


def test_linear_models_measure_by_the_same_names() -> None:
    """A bob on a spring: its tension is k times its travel, its site goes along."""
    bob = qp.Body.sphere("bob", 0.1, 2.0, position=(0.0, 0.0, -1.0))
    slide = qp.Prismatic("slide", qp.GROUND, bob, at=(0.0, 0.0, -1.0), axis=(0.0, 0.0, 1.0))
    foot = bob.site("foot", at=(0.0, 0.0, -0.1))
    cord = qp.Spring("cord", qp.GROUND, foot, stiffness=8.0, rest_length=0.5)
    system = qp.Multibody(bob, slide, cord, qp.Gravity((0.0, 0.0, -9.81)),
                          qp.JointDamper("drag", slide, damping=5.0))  # fmt: skip
    rest = system.settle().state
    linear = system.linearize(
        rest, inputs=[], outputs=["foot.position", "cord.tension", "slide.travel", "cord.length"]
    )
    assert linear.outputs == (
        "foot.position.x", "foot.position.y", "foot.position.z", "cord.tension", "slide.travel",
        "cord.length",
    )  # fmt: skip
    along = linear.C[2, 0]
    assert abs(along) == pytest.approx(1.0 / np.sqrt(2.0), rel=1e-7)
    np.testing.assert_allclose(linear.C[:2], 0.0, atol=1e-9)
    np.testing.assert_allclose(linear.C[3:, 0], [-8.0 * along, along, -along], rtol=1e-6)


def test_measuring_a_manipulator_costs_no_call_for_each_state() -> None:
    """Loads of five joints at some hundred states, in one pass."""
    links, joints = [qp.GROUND], []
    for k in range(5):
        link = qp.Body.rod(f"l{k}", start=(0.5 * k, 0, 0), end=(0.5 * k + 0.5, 0, 0), radius=0.03,
                           mass=1.0)  # fmt: skip
        axis = (0.0, 1.0, 0.0) if k % 2 else (0.0, 0.0, 1.0)
        joints.append(qp.Revolute(f"j{k}", links[-1], link, at=(0.5 * k, 0, 0), axis=axis))
        links.append(link)
    parts = [*links[1:], *joints, qp.Gravity((0.0, 0.0, -9.81)), qp.ViscousHinges(0.1)]
    run = qp.Multibody(*parts).simulate(2.0).sampled(0.005)
    assert len(run.t) > 400
    measure(run)
    assert calls_of(lambda: measure(run)) < 5 * len(run.t)


def test_measuring_redundant_loops_costs_no_call_for_each_state() -> None:
    """Loads of twelve joints, whose rows depend on each other at every state."""
    run = grasped_satellite.prescribed().simulate(120.0, step=0.5)
    measure(run)
    assert calls_of(lambda: measure(run)) < 12 * len(run.t)


def measure(run: qp.Trajectory) -> None:
    """The loads of all joints, by a run that knows none yet."""
    fresh = qp.Trajectory(run.system, run.start, run.settings, run.course)
    for name in run.system.tables.joint_names:
        assert fresh[name].load.shape == (len(run.t), 6)
