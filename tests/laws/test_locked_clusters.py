"""Bodies that locks hold together move as one in a run, and its result speaks of each of them."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.motion.settings import METHODS
from tests.assemblies import as_members, assembly, bolted_cubes, composed, kept_apart, moving
from tests.motion import TIGHT, apart, compiled_system
from tests.random_systems import seeds
from tests.truths.test_row_of_four_bars import row
from tests.user_parts import Onlooker, Wave
from tests.workshop import World

grounds = pytest.mark.parametrize("grounded", [False, True], ids=["afloat", "grounded"])


def off(one: qp.State, two: qp.State) -> float:
    """The largest difference of two states, as a share of the speeds where those are large."""
    return apart(one, two) / max(1.0, abs(two.v).max(), abs(two.omega).max())


# --- the same motion ------------------------------------------------------------------------------
@grounds
@seeds(20, 4)
def test_a_cluster_moves_as_the_body_that_it_is(seed: int, grounded: bool) -> None:
    """Composed by hand in other axes: mass, mass centre, inertia, sites, springs, dampers and
    loads."""
    both = assembly(seed, grounded=grounded)
    assert moving(both.locked) == len(both.by_hand.bodies) == 3 < len(both.locked.bodies)
    run, known = (system.simulate(0.3, **TIGHT) for system in (both.locked, both.by_hand))
    assert off(run.final, as_members(both, known.final)) < 1e-9
    assert run.work[-1] == pytest.approx(known.work[-1], abs=1e-7)
    assert run.dissipated[-1] == pytest.approx(known.dissipated[-1], abs=1e-7)


@grounds
@seeds(20, 4)
def test_a_run_of_clusters_is_that_of_their_members(seed: int, grounded: bool) -> None:
    system = assembly(seed, grounded=grounded).locked
    assert moving(kept_apart(system)) == len(system.bodies)
    run, known = (one.simulate(0.3, **TIGHT) for one in (system, kept_apart(system)))
    assert off(run.final, known.final) < 1e-9
    for name in system.tables.joint_names:
        assert run.final[name] == pytest.approx(known.final[name], abs=1e-8)


@pytest.mark.parametrize(
    ("family", "seed"), [("lattices", 0), ("lattices", 3), ("lattices", 7), ("medleys", 5)]
)
def test_random_systems_move_as_their_members_do(family: str, seed: int) -> None:
    system = compiled_system(family, seed)
    assert moving(system) < len(system.bodies)
    run, known = (one.simulate(0.3, **TIGHT) for one in (system, kept_apart(system)))
    assert off(run.final, known.final) < 1e-9


@seeds(8, 2)
def test_locks_hold_and_quaternions_go_on(seed: int) -> None:
    run = assembly(seed).locked.simulate(0.3)
    residual = [run.system.residual(state) for state in run.states]
    speed = max(1.0, abs(run.course.states[:, :-1, 7:]).max())
    assert max(abs(one.position).max() for one in residual) < 1e-10
    assert max(abs(one.velocity).max() for one in residual) < 1e-10 * speed
    q = run.course.states[:, :-1, 3:7]
    np.testing.assert_allclose(np.linalg.norm(q, axis=2), 1.0, rtol=0.0, atol=1e-14)
    assert (np.einsum("kni,kni->kn", q[1:], q[:-1]) > 0.0).all()


@seeds(8, 2)
def test_energy_and_momenta_of_all_members_are_kept(seed: int) -> None:
    """Kinetic and potential energy from the members, the springs within clusters included."""
    system = assembly(seed, conservative=True).locked
    fixed_to_space = [p.name for p in system.parts if isinstance(p, qp.Gravity | qp.PotentialWell)]
    fixed_to_space += [
        p.name for p in system.parts if isinstance(p, qp.Spring) and p.first == qp.GROUND
    ]
    for free in (system, system.without(*fixed_to_space)):
        run = free.simulate(0.3, **TIGHT)
        assert np.ptp(run.energy) < 1e-9 * (abs(run.kinetic) + abs(run.potential)).max()
    assert np.ptp(run.momentum, axis=0).max() < 1e-10 * abs(run.momentum).max()
    assert np.ptp(run.angular_momentum, axis=0).max() < 1e-10 * abs(run.angular_momentum).max()


def test_a_cluster_far_from_round_tumbles_as_euler_says() -> None:
    """Three spheres in an L, locked: a free body whose axes are those of no member."""
    turn = qp.rotation((1, 2, 3), 0.8)
    places = np.array([(0, 0, 0), (1.0, 0, 0), (0, 0.4, 0.1)]) @ World(turn).matrix.T
    balls = [qp.Body.sphere(f"ball{k}", 0.1, 1.0 + k, position=at) for k, at in enumerate(places)]
    whole = composed("whole", balls)
    spin = np.array([0.3, 2.0, -0.5])
    speeds = [
        dataclasses.replace(b, velocity=np.cross(spin, b.position), angular_velocity=spin)
        for b in balls
    ]
    system = qp.Multibody(
        *speeds, qp.Fixed("a", speeds[1], speeds[0]), qp.Fixed("b", speeds[1], speeds[2])
    )
    known = qp.Multibody(
        dataclasses.replace(whole, velocity=np.cross(spin, whole.position), angular_velocity=spin)
    ).simulate(3.0, **TIGHT)
    run = system.simulate(3.0, **TIGHT)
    assert moving(system) == 1
    np.testing.assert_allclose(
        run.final.r[0], _carried(known.final, whole, balls[0]), rtol=0.0, atol=1e-10
    )
    spun = World(known.final["whole"].orientation).matrix @ known.final.omega[0]
    for state in (run.final[ball.name] for ball in balls):
        np.testing.assert_allclose(
            World(state.orientation).matrix @ state.angular_velocity, spun, rtol=0.0, atol=1e-9
        )
    assert abs(spun - spin).max() > 0.1


def _carried(state: qp.State, whole: qp.Body, member: qp.Body) -> np.ndarray:
    """Where a point of a body has gone that was written at a member's mass centre."""
    now = state[whole.name]
    out: np.ndarray = now.position + World(now.orientation).matrix @ np.subtract(
        member.position, whole.position
    )
    return out


# --- what a run costs -----------------------------------------------------------------------------
def test_twenty_seven_locked_cubes_are_one_body() -> None:
    system = bolted_cubes()
    entry = system.clusters.enter(system.initial, True)
    assert (len(system.bodies), len(system.selection.joints), moving(system)) == (28, 55, 2)
    assert len(entry.layout.tree.loops) == 0  # no loop is left to be closed
    assert len(kept_apart(system).clusters.layout.tree.loops) == 6 * 54 - 6 * 26
    assert len(entry.layout.packed.bodies) == 2
    run, known = (one.simulate(0.5, **TIGHT) for one in (system, kept_apart(system)))
    assert run.course.states.shape[1] == 29
    assert off(run.final, known.final) < 1e-10
    assert run.counts.evaluations == pytest.approx(known.counts.evaluations, rel=0.2)


# --- what is not merged ---------------------------------------------------------------------------
def test_bodies_stay_apart_where_a_users_python_sees_them() -> None:
    system = bolted_cubes(2)
    assert moving(system) == 2
    assert moving(system.with_(Onlooker("onlooker"))) == 9
    wave = Wave("wave", qp.GROUND, system["bar"], at=(0.15, 0, 0), axis=(0, 0, 1))
    assert moving(system.with_(wave)) == 9
    assert moving(qp.Multibody(*system.parts, candidates=[Onlooker("onlooker"), wave])) == 2


def test_locks_that_may_act_later_merge_nothing() -> None:
    system = bolted_cubes(2)
    locks = [part for part in system.parts if isinstance(part, qp.Fixed)]
    rest = [part for part in system.parts if part not in locks]
    assert moving(qp.Multibody(*rest, candidates=locks)) == 9
    assert moving(qp.Multibody(*rest, *locks[:3], candidates=locks[3:])) == 6


def test_a_system_all_of_which_stands_is_left_as_it_is() -> None:
    system = bolted_cubes(2).without("hinge", "torsion", "bar")
    grounded = system.with_(qp.Fixed("bolt", qp.GROUND, system["cube000"]))
    assert moving(grounded) == 8
    run = grounded.with_(qp.Gravity((0, 0, -9.81))).simulate(1.0)
    assert apart(run.final, run.start) < 1e-12


# --- starts ---------------------------------------------------------------------------------------
@grounds
@seeds(8, 2)
def test_the_first_row_is_the_start_to_the_bit(seed: int, grounded: bool) -> None:
    system = assembly(seed, grounded=grounded).locked
    run = system.simulate(0.1)
    assert run.states[0] == system.initial
    assert not run.drift[0].any()


@grounds
@seeds(8, 2)
def test_a_start_that_misses_the_locks_is_projected_as_ever(seed: int, grounded: bool) -> None:
    """By the smallest change in the metric of kinetic energy, over all bodies; `drift` says how
    far."""
    system = assembly(seed, grounded=grounded).locked
    rng = np.random.default_rng(seed)
    start = system.initial
    moved = {
        name: getattr(start, name) + 1e-7 * rng.normal(size=getattr(start, name).shape)
        for name in ("r", "omega")
    }
    system = system.at(
        dataclasses.replace(start, v=start.v + 0.1 * rng.normal(size=start.v.shape), **moved)
    )
    run, known = (one.simulate(0.2, **TIGHT) for one in (system, kept_apart(system)))
    assert moving(system) == 3
    assert apart(run.states[0], known.states[0]) < 1e-12
    np.testing.assert_allclose(run.drift[0], known.drift[0], rtol=1e-9)
    assert run.drift[0, 1] > 1e-2
    assert off(run.final, known.final) < 1e-9


@pytest.mark.parametrize("drift", ["baumgarte", "none"])
def test_a_start_that_misses_the_locks_stays_so_without_projection(drift: Any) -> None:
    """The slip of a lock dies out as the gains say, or stays: nothing to merge."""
    system = pendulum()
    start = system.initial.replace(
        {"half1": {"velocity": (0.3, -0.2, 0.1), "angular_velocity": (0.5, 0.0, -1.0)}}
    )
    run, known = (
        one.at(start).simulate(0.1, drift=drift, **TIGHT) for one in (system, kept_apart(system))
    )
    slip = [abs(system.residual(state).velocity).max() for state in (run.states[0], run.final)]
    assert slip[0] > 0.5
    assert (slip[1] > 0.9 * slip[0]) == (drift == "none")
    assert off(run.final, known.final) < 1e-10
    assert moving(system) == 1


# --- the same bits --------------------------------------------------------------------------------
@grounds
@seeds(8, 2)
def test_a_run_in_parts_has_the_bits_of_the_whole(seed: int, grounded: bool) -> None:
    system = assembly(seed, grounded=grounded, conservative=True).locked
    whole, first = (system.simulate(9.0, max_steps=n) for n in (12, 5))
    second = system.at(first.final).simulate(9.0, max_steps=7)
    np.testing.assert_array_equal(second.t, whole.t[5:])
    np.testing.assert_array_equal(second.course.states[:, :-1], whole.course.states[5:, :-1])
    assert second.states[0] == first.final
    assert second.final == whole.final


def test_a_run_goes_on_in_a_system_built_anew() -> None:
    one, two = (assembly(3).locked for _ in range(2))
    run = one.simulate(9.0, max_steps=5)
    ends = [system.at(run.final).simulate(9.0, max_steps=5).final for system in (one, two)]
    assert ends[0] == ends[1] == one.simulate(9.0, max_steps=10).final


def test_what_has_changed_is_not_gone_on_with() -> None:
    """Rows of clusters serve the very state that they made."""
    system = bolted_cubes(2)
    final = system.simulate(0.2).final
    assert final.merged is not None
    faster = final.replace({"bar": {"velocity": (0.0, 0.0, 0.1)}})
    assert faster.merged is None
    stale = dataclasses.replace(faster, merged=final.merged)
    assert apart(*(system.at(state).simulate(0.1).final for state in (faster, stale))) == 0.0
    without = system.without("cube000-cube001")
    assert apart(without.at(final).simulate(0.1).states[0], final) == 0.0
    heavier = [
        dataclasses.replace(part, mass=9.0) if part.name == "cube000" else part
        for part in system.parts[:9]
    ]
    loose = qp.Multibody(*heavier).at(final).simulate(0.1)
    assert apart(loose.states[0], final) == 0.0


# --- all that a run can do ------------------------------------------------------------------------
@pytest.mark.parametrize("method", METHODS)
def test_clusters_move_by_every_method(method: Any) -> None:
    system = assembly(3).locked
    known = system.simulate(0.2, **TIGHT)
    run = system.simulate(0.2, method=method, rtol=1e-9, atol=1e-11)
    assert run.stop is qp.Stop.END
    assert apart(run.final, known.final) < 1e-4
    assert apart(run.at(0.13), known.at(0.13)) < 1e-4


@pytest.mark.parametrize(
    "options",
    [
        {"step": 0.01},
        {"energy": "conserve"},
        {"drift": "none"},
        {"drift": "baumgarte"},
        {"keep": "ends"},
        {"keep": 3},
    ],
    ids=str,
)
def test_clusters_move_with_every_option(options: dict[str, Any]) -> None:
    system = assembly(3, conservative=True).locked
    assert (
        len(
            system.clusters.enter(system.initial, options.get("drift", "project") == "project").rows
        )
        == 3
    )
    run, known = (one.simulate(0.2, **options) for one in (system, kept_apart(system)))
    assert apart(run.final, known.final) < 1e-5
    for k, t in enumerate(run.t):
        assert run.at(t) == run.states[k]
    assert apart(run.at(0.11), known.at(0.11)) < 1e-5
    if "energy" in options:
        assert np.ptp(run.energy) < 1e-10 * (abs(run.kinetic) + abs(run.potential)).max()


def test_max_steps_and_errors_leave_states_of_all_bodies() -> None:
    system = bolted_cubes(2)
    assert system.simulate(9.0, max_steps=4).course.states.shape == (5, 10, 13)

    def fail(state: qp.State) -> float:
        return 1.0 if state.t < 0.1 else math.sqrt(-1.0)

    with pytest.raises(ValueError, match="math domain") as caught:
        system.simulate(9.0, stop=[qp.When("fail", fail)])
    run = caught.value.trajectory
    assert run.course.states.shape == (len(run.t), 10, 13)
    assert run.final == run.at(run.t[-1])


def test_an_interruption_leaves_states_of_all_bodies() -> None:
    def tired(t: float) -> None:
        raise KeyboardInterrupt

    run = bolted_cubes(2).simulate(9.0, progress=tired)
    assert run.stop is qp.Stop.INTERRUPTED
    assert run.final["cube111"].position.shape == (3,)


# --- events ---------------------------------------------------------------------------------------
def times(run: qp.Trajectory) -> list[float]:
    return [event.t for event in run.events]


def check_events(
    system: qp.Multibody, duration: float, stop: list[qp.Event], tolerance: float = 1e-8
) -> qp.Trajectory:  # fmt: skip
    """The run of clusters has the events of that of their members."""
    run, known = (
        one.simulate(duration, stop=stop, **TIGHT) for one in (system, kept_apart(system))
    )
    assert moving(system) < len(system.bodies)
    assert [event[1:] for event in run.events] == [event[1:] for event in known.events]
    assert run.events
    np.testing.assert_allclose(times(run), times(known), rtol=0.0, atol=tolerance)
    return run


def test_a_users_event_sees_all_bodies() -> None:
    """Where a cube passes that is no leader of its cluster."""
    passing = qp.When("passing", lambda state: state["cube111"].position[1] - 0.12)
    run = check_events(bolted_cubes(2), 20.0, [passing])
    assert run.final["cube111"].position[1] == pytest.approx(0.12, abs=1e-12)


def pendulum(*more: qp.Part, damping: float = 0.5) -> qp.Multibody:
    """A rod of two locked halves on a bracket that is bolted to the ground; gravity, a damped
    hinge."""
    bracket = qp.Body.box("bracket", (0.1, 0.1, 0.1), 5.0, position=(-0.05, 0, 0.3))
    halves = [
        qp.Body.box(f"half{k}", (0.5, 0.1, 0.1), 1.0 + k, position=(0.25 + 0.5 * k, 0, 0.3))
        for k in range(2)
    ]
    hinge = qp.Revolute("hinge", bracket, halves[0], at=(0, 0, 0.3), axis=(0, 1, 0))
    return qp.Multibody(
        bracket, *halves, hinge, qp.Fixed("bolt", qp.GROUND, bracket), qp.Fixed("weld", *halves),
        qp.HingeSpring("oil", hinge, stiffness=0.0, damping=damping), qp.Gravity((0, 0, -9.81)),
        *more,
    )  # fmt: skip


@pytest.mark.parametrize(
    "event", [qp.EnergyBelow(12.0), qp.AtRest(speed=1e-2, acceleration=1e-1)], ids=["low", "rest"]
)
def test_bodies_bolted_to_the_ground_count_in_thresholds(event: qp.Event) -> None:
    """The bracket has potential energy, and mass over which rest is a mean; a cluster has one
    acceleration."""
    system = pendulum(damping=4.0)
    run = check_events(system, 20.0, [event], 1e-6)
    assert moving(system) == 1
    assert run.stop is qp.Stop.EVENT
    if isinstance(event, qp.EnergyBelow):
        assert run.energy[-1] == pytest.approx(12.0, abs=1e-9)


def test_sensors_of_members_meet() -> None:
    system = pendulum()
    lip = qp.Body.box("lip", (0.1, 0.1, 0.1), 1.0, position=(0.0, 0, -0.75), fixed=True)
    sensors = [
        qp.Sensor("tip", system["half1"].site("tip", at=(0.25, 0, 0), z=(1, 0, 0)), reach=0.02),
        qp.Sensor("twin", system["half0"].site("twin", at=(0.25, 0, 0), z=(1, 0, 0)), reach=0.02),
        qp.Sensor("back", system["half1"].site("back", at=(-0.25, 0, 0), z=(-1, 0, 0)), reach=0.02),
        qp.Sensor("target", lip.site("target", at=(0, 0, 0.04), z=(0, 0, 1)), reach=0.02),
    ]
    run = check_events(pendulum(lip, *sensors), 2.0, [qp.SensorsMeet()])
    assert run.events[0].sensors == ("tip", "target")


def test_a_stop_bounces_what_hangs_on_it() -> None:
    """The same bounces; a hinge that is locked does not reach its stop, be it on the bound."""
    hinge: Any = pendulum()["hinge"]
    halves = [pendulum()[f"half{k}"] for k in range(2)]
    spare = qp.Revolute("spare", *halves, at=(0.5, 0, 0.3), axis=(0, 1, 0))
    stop = qp.JointStop("stop", hinge, upper=0.7, restitution=0.5)
    check_events(pendulum(stop), 1.5, [])
    idle = qp.JointStop("idle", spare, lower=0.0, upper=1.0)
    run = pendulum(spare, stop, idle).simulate(3.0)
    assert {event.joints for event in run.events} == {("hinge",)}
    assert run.final.held == ("stop upper",)
    assert np.ptp(run.energy + run.dissipated) < 1e-6
    beyond = qp.JointStop("beyond", spare, lower=0.1)
    with pytest.raises(
        qp.PartError, match="joint 'spare' begins beyond the lower bound of its stop 'beyond'"
    ):
        pendulum(spare, beyond).simulate(0.1)


def test_flat_poses_are_told_by_their_hinges() -> None:
    """A four-bar whose rods carry bolted weights passes them as its members do."""
    bare = row(1, 1.2, -4.0)
    weights, bolts = [], []
    for rod in (part for part in bare.parts if isinstance(part, qp.Body)):
        offset = 0.25 * rod.matrix[:, 2]
        weight = qp.Body.sphere(f"{rod.name} weight", 0.05, 0.3, position=rod.position + offset)
        weight = dataclasses.replace(
            weight,
            velocity=np.add(rod.velocity, np.cross(rod.matrix @ rod.angular_velocity, offset)),
            orientation=rod.orientation,
            angular_velocity=rod.angular_velocity,
        )
        weights.append(weight)
        bolts.append(qp.Fixed(f"{rod.name} bolt", rod, weight))
    system = bare.with_(*weights, *bolts)
    run, known = (one.simulate(2.0, rtol=1e-10, atol=1e-12) for one in (system, kept_apart(system)))
    assert (len(system.bodies), moving(system)) == (6, 3)
    assert {event.name for event in run.events} == {"singular pose"}
    assert {name for event in run.events for name in event.joints} == {
        "foot0",
        "left0",
        "foot1",
        "right0",
    }
    np.testing.assert_allclose(times(run), times(known), rtol=0.0, atol=1e-3)


# --- reactions ------------------------------------------------------------------------------------
def test_reactions_of_locks_are_those_that_the_motion_takes() -> None:
    """The weld carries the outer half: m (a - g), and the torque about it that turns the half."""
    run = pendulum().simulate(0.7, **TIGHT)
    known = kept_apart(pendulum()).simulate(0.7, **TIGHT)
    state, outer = run.final, run.final["half1"]
    acceleration = run.system.acceleration(state)[run.system.bodies.index("half1")]
    body: Any = run.system["half1"]
    weld = run.system.reactions(state)["weld"]
    force = body.mass * (acceleration[:3] + (0, 0, 9.81))
    np.testing.assert_allclose(weld.force, force, rtol=0.0, atol=1e-9)
    turn = World(outer.orientation).matrix
    own = body.inertia_matrix @ acceleration[3:] + np.cross(
        outer.angular_velocity, body.inertia_matrix @ outer.angular_velocity
    )
    np.testing.assert_allclose(weld.torque, turn @ own, rtol=0.0, atol=1e-9)
    other = known.system.reactions(known.final)["weld"]
    np.testing.assert_allclose(weld.force, other.force, rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(
        run["weld"].reaction[-1], [*weld.force, *weld.torque], rtol=0.0, atol=1e-11
    )
