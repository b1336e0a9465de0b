"""Runs with controllers are runs with schedules: to the bit, in two halves, after a switch, from
files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from tests.random_systems import seeds

PERIOD = 0.1


class Attitude(qp.Controller):
    """A bus held by wheels, an arm led by a motor; the integral of the error in memory."""

    stiffness: float = 0.6
    damping: float = 1.6

    def command(self, t: float, measured: dict[str, Any], memory: dict[str, Any]) -> dict[str, Any]:
        q, omega = measured["bus.orientation"], measured["bus.angular_velocity"]
        off = 2.0 * np.array([q.x, q.y, q.z]) * np.sign(q.w)
        memory["sum"] = memory.get("sum", np.zeros(3)) + PERIOD * off
        angle, rate = measured["hinge.angle"], measured["hinge.rate"]
        return {
            "wheel.torque": -self.stiffness * off - self.damping * omega - 0.05 * memory["sum"],
            "motor.torque": 0.3 * (0.8 - angle) - 0.4 * rate,
        }


DRIVES = "wheel.torque", "motor.torque"
READS = "bus.orientation", "bus.angular_velocity", "hinge.angle", "hinge.rate"


def craft(case: int, **options: Any) -> tuple[list[qp.Part], Attitude]:
    """A floating bus with wheels and an arm, and what holds and leads them."""
    rng = np.random.default_rng(case)
    bus = qp.Body("bus", mass=20.0, inertia=(2.0, 2.5, 3.0),
                  angular_velocity=rng.normal(scale=0.05, size=3).tolist())  # fmt: skip
    arm = qp.Body("arm", mass=2.0, inertia=(0.05, 0.3, 0.3), position=(0.9, 0.0, 0.0),
                  angular_velocity=bus.angular_velocity,
                  velocity=np.cross(bus.angular_velocity, (0.9, 0.0, 0.0)).tolist())  # fmt: skip
    hinge = qp.Revolute("hinge", bus, arm, at=(0.4, 0.0, 0.0), axis=rng.normal(size=3).tolist())
    wheels = qp.ReactionWheel("wheel", bus.site("wheels"), (0.0, 0.0, 0.0))
    made = Attitude("pd", period=PERIOD, reads=READS, drives=DRIVES, **options)
    return [bus, arm, hinge, wheels, qp.Motor("motor", hinge)], made


def same_bits(one: qp.Trajectory, two: qp.Trajectory) -> None:
    np.testing.assert_array_equal(one.t, two.t)
    np.testing.assert_array_equal(one.course.states, two.course.states)
    np.testing.assert_array_equal(one.course.angles, two.course.angles)


@seeds(8, 2)
@pytest.mark.parametrize("options", [{}, {"delay": 0.2}, {"delay": 0.03}], ids=str)
def test_a_controlled_run_is_one_with_schedules(seed: int, options: Any) -> None:
    """What was commanded, written down as parts of their own, flies with the same bits; momenta are
    kept with those of the wheels, and all that motors do is in the ledger."""
    parts, pd = craft(seed, **options)
    run = qp.Multibody(*parts, pd).simulate(5.0)
    flown = run.system
    assert not any(isinstance(part, qp.Controller) for part in flown.parts)
    same_bits(run, qp.Multibody(*flown.parts).simulate(5.0))
    assert np.isin(run["pd"].t, run.t).all()
    np.testing.assert_array_equal(run["pd"].t, [k / 10 for k in range(50)])
    wheel = flown["wheel"]
    assert isinstance(wheel, qp.ReactionWheel)
    turns = qp.quat.numpy_quaternion.as_rotation_matrix(run["bus"].orientation)
    stored = np.array([q @ wheel.momentum_at(t) for q, t in zip(turns, run.t, strict=True)])
    whole = run.angular_momentum + stored
    np.testing.assert_allclose(whole, np.broadcast_to(whole[0], whole.shape), atol=2e-8)
    assert abs(stored).max() > 1e-3
    np.testing.assert_allclose(run.energy - run.energy[0], run.work, atol=1e-8)


@seeds(6, 2)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"delay": 0.25},
        {"delay": 0.03},
        {"noise": {"hinge.angle": 1e-3, "bus.orientation": 1e-4}, "seed": 3},
    ],
    ids=str,
)
def test_a_run_goes_on_with_the_same_bits(seed: int, options: Any) -> None:
    """From a sample, where steps end anyway; memory, commands on their way, momenta of wheels and
    noise go on."""
    parts, pd = craft(seed, **options)
    system = qp.Multibody(*parts, pd)
    whole, first = system.simulate(4.0), system.simulate(1.7)
    second = system.simulate(2.3, state=first.final)
    k = len(first.t) - 1
    np.testing.assert_array_equal(whole.t[k:], second.t)
    np.testing.assert_array_equal(whole.course.states[-1, :-1], second.course.states[-1, :-1])
    for name in READS:
        values = [run["pd"].measured[name] for run in (first, second)]
        np.testing.assert_array_equal(whole["pd"].measured[name], np.concatenate(values))
    for name in DRIVES:
        values = [run["pd"].command[name] for run in (first, second)]
        np.testing.assert_array_equal(whole["pd"].command[name], np.concatenate(values))


@seeds(9, 3, attack=200)
@pytest.mark.parametrize("method", ["radau", "dop853"])
def test_runs_from_files_go_on_and_fly_again_with_the_same_bits(
    seed: int, method: Any, tmp_path: Path
) -> None:
    """Against stops, with whatever rows are kept, and at any time between samples."""
    options: dict[str, Any] = [{}, {"delay": 0.25}, {"delay": 0.03}][seed % 3]
    rng, (parts, pd) = np.random.default_rng(seed), craft(seed, **options)
    hinge: Any = parts[2]
    stop = qp.JointStop("stop", hinge, lower=-0.02, upper=0.3, restitution=rng.uniform(0, 0.7))
    stiffness, damping = 10 ** rng.uniform(-1, 2), 10 ** rng.uniform(-2, 0.5)
    spring = qp.HingeSpring("soft", hinge, stiffness=stiffness, damping=damping, rest_angle=0.5)
    made, duration = qp.Multibody(*parts, stop, spring, pd), float(rng.uniform(0.5, 2.0))
    given: Any = {"method": method, "keep": (4, "all", "ends")[seed % 3]}
    run = made.simulate(duration, **given)
    run.save(tmp_path / "run.npz")
    again = qp.Trajectory.load(tmp_path / "run.npz")
    one, two = (made.simulate(duration, state=some.final, **given) for some in (run, again))
    same_bits(one, two)
    for flown in (run, again, one):
        same_bits(flown, flown.system.simulate(duration, **given))


def test_a_switch_leaves_the_samples_alone() -> None:
    """A joint that locks between two samples: those after go on in their rhythm, from what was
    remembered."""
    parts, pd = craft(1)
    hinge = parts[2]
    assert isinstance(hinge, qp.Revolute)
    lock = qp.Fixed("lock", *hinge.bodies, here=True)
    system = qp.Multibody(*parts, pd, candidates=[lock])
    switch = qp.Switch(1.234, joints=("hinge", "lock"))
    run = system.simulate(3.0, switches=[switch])
    np.testing.assert_array_equal(run["pd"].t, [k / 10 for k in range(30)])
    assert len(run.pieces) == 2
    assert np.ptp(run["hinge"].angle[run.t > 1.234]) < 1e-9
    angle = run["hinge"].angle[np.isin(run.t, run["pd"].t)]
    np.testing.assert_allclose(run["pd"].measured["hinge.angle"], angle[:30], atol=1e-12)
    balance = run.energy + run.lost - run.work - run.switched
    assert np.ptp(balance) < 1e-8


def test_a_controller_takes_over_where_its_motor_is_switched_on() -> None:
    """It samples from the switch on, every period, while any of what it drives acts."""
    parts, pd = craft(2)
    wheel, motor = parts[3:]
    system = qp.Multibody(*parts[:3], pd, candidates=[wheel, motor])
    on = qp.Switch(0.77, forces=("wheel", "motor"))
    off = qp.Switch(1.5, forces=())
    run = system.simulate(2.0, switches=[on, off])
    np.testing.assert_allclose(run["pd"].t, 0.77 + 0.1 * np.arange(8), rtol=1e-15)
    assert [len(piece.course.records) for _, piece in run.pieces] == [0, 1, 0]


@pytest.mark.parametrize("method", ["radau", "rk45"])
def test_other_methods_fly_the_same_commands(method: Any) -> None:
    parts, pd = craft(3)
    one, two = (
        qp.Multibody(*parts, pd).simulate(2.0, method=some, rtol=1e-9, atol=1e-11)
        for some in ("dop853", method)
    )
    np.testing.assert_array_equal(one["pd"].t, two["pd"].t)
    for name in DRIVES:
        np.testing.assert_allclose(one["pd"].command[name], two["pd"].command[name], atol=1e-7)


def test_what_is_between_rows_and_in_files_knows_the_commands(tmp_path: Path) -> None:
    """`at`, measures and a saved run see what was commanded."""
    parts, pd = craft(4)
    run = qp.Multibody(*parts, pd).simulate(2.0)
    between = qp.Multibody(*run.system.parts).simulate(1.234).final
    np.testing.assert_allclose(run.at(1.234).omega, between.omega, atol=1e-9)
    k = np.searchsorted(run["pd"].t, run.t, side="right") - 1
    commanded = run["pd"].command["motor.torque"][k]
    np.testing.assert_allclose(run["motor"].load, commanded, rtol=1e-12, atol=1e-15)
    off = qp.Switch(1.0, forces=("wheel",))
    switched = qp.Multibody(*parts, pd).simulate(1.5, switches=[off])
    switched.save(tmp_path / "switched.npz")
    other = qp.Trajectory.load(tmp_path / "switched.npz")
    same_bits(switched, other)
    for name in ("wheel.load", "motor.load", "pd.wheel.torque"):
        np.testing.assert_array_equal(other.measure(name), switched.measure(name))
    run.save(tmp_path / "run.npz")
    again = qp.Trajectory.load(tmp_path / "run.npz")
    same_bits(run, again)
    np.testing.assert_array_equal(again["motor"].load, run["motor"].load)
    for name in READS:
        np.testing.assert_array_equal(again["pd"].measured[name], run["pd"].measured[name])


class Diary(qp.Controller):
    """Remembers everything that files keep."""

    def command(self, t: float, measured: Any, memory: Any) -> dict[str, Any]:
        memory.setdefault("times", []).append(t)
        memory.setdefault("nested", [1, [2.0, "two"], (3, 4)])[1].append(t)
        memory["last"], memory["sum"] = ("at", t), memory.get("sum", np.zeros(3)) + t
        return {"motor.torque": 0.01 * len(memory["times"])}


def test_what_a_controller_remembers_is_in_files(tmp_path: Path) -> None:
    """Lists stay lists, tuples tuples, arrays arrays: it goes on from a file as from the run."""
    made = driven(Diary("a", period=0.1, drives=["motor.torque"]))
    run = made.simulate(0.5)
    run.save(tmp_path / "run.npz")
    again = qp.Trajectory.load(tmp_path / "run.npz")
    one, two = (dict(made.simulate(0.3, state=some.final).final.controls[0].memory)
                for some in (run, again))  # fmt: skip
    assert one["times"] == two["times"] == [k / 10 for k in range(8)]
    assert one["nested"] == two["nested"]
    assert one["last"] == two["last"] == ("at", 0.7)
    np.testing.assert_array_equal(one["sum"], two["sum"])


def test_locked_bodies_turn_commands_along() -> None:
    """A load in the axes of a body that is locked to another one acts in its own axes, whether they
    move as one body or not."""

    class Push(qp.Controller):
        def command(self, t: float, measured: Any, memory: Any) -> dict[str, Any]:
            return {"push.force": (np.sin(t), 0.3, 0.1), "push.torque": (0.0, 0.01, np.cos(t))}

    one = qp.Body.box("one", (0.2, 0.1, 0.1), 2.0)
    two = qp.Body.box("two", (0.1,) * 3, 1.0, position=(0.2, 0, 0),
                      orientation=qp.rotation((1, 2, 3), 0.7))  # fmt: skip
    lock = qp.Fixed("lock", one, two, at=(0.1, 0, 0))
    push = qp.Load("push", two, frame="body")
    pd = Push("pd", period=0.1, drives=["push.force", "push.torque"])
    run = qp.Multibody(one, two, lock, push, pd).simulate(3.0)
    apart = qp.Multibody(*run.system.parts).simulate(3.0, drift="none")
    np.testing.assert_allclose(run.final.q, apart.final.q, atol=1e-7)
    np.testing.assert_allclose(run.final.v, apart.final.v, atol=1e-7)
    assert abs(run.final["one"].velocity).max() > 0.1


class Waves(qp.Controller):
    """Sines of time for all that it drives."""

    def command(self, t: float, measured: Any, memory: Any) -> dict[str, Any]:
        return {
            name: np.sin(2.0 * t)
            if name in ("motor.torque", "lead.target")
            else (np.sin(3.0 * t), 0.1, 0.2)
            for name in self.drives
        }


def driven(*controllers: qp.Controller, load: Any = (0.0, 0.0, 0.0)) -> qp.Multibody:
    """A craft on which everything may be driven."""
    bus, arm, hinge, wheel, motor = craft(5)[0]
    assert isinstance(bus, qp.Body)
    assert isinstance(hinge, qp.Revolute)
    lead = qp.Servo("lead", hinge, target=0.0, stiffness=2.0, damping=1.0)
    push, jet = qp.Load("push", bus, force=load), qp.Thruster("jet", bus.site("jet"), 0.0)
    return qp.Multibody(bus, arm, hinge, wheel, motor, lead, push, jet, *controllers)


def waves(name: str, period: float, *drives: str, **options: Any) -> Waves:
    return Waves(name, period=period, drives=drives, **options)


@pytest.mark.parametrize(
    "some",
    [
        (waves("a", 0.1, "push.torque"), waves("b", 0.3, "motor.torque")),
        (waves("a", 0.1, "jet.thrust"), waves("b", 1.0 / 7.0, "motor.torque")),
        (waves("a", 0.1, "wheel.momentum", "motor.torque", hold="first"),),
        (waves("a", 0.1, "wheel.momentum", "jet.thrust", hold="first", delay=0.1),),
        (waves("a", 0.25, "lead.target", "wheel.torque"),),
        (waves("a", 0.25, "lead.target", hold="first"),),
        (waves("a", 0.25, "lead.target", "wheel.momentum", hold="first", delay=0.3),),
    ],
    ids=lambda some: " ".join(f"{one.hold} {' '.join(one.drives)}" for one in some),
)
def test_everything_can_be_driven(some: tuple[Waves, ...]) -> None:
    """At each sample a step ends, and what was commanded flies as schedules with the same bits;
    what targets that jump change in energies is work."""
    made = driven(*some)
    run = made.simulate(3.0)
    for one in some:
        count = round(3.0 / one.period)
        np.testing.assert_allclose(run[one.name].t, one.period * np.arange(count), rtol=1e-15)
        assert np.isin(run[one.name].t, run.t).all()
    same_bits(run, qp.Multibody(*run.system.parts).simulate(3.0))
    balance = run.energy + run.dissipated - run.work
    assert np.ptp(balance) < 3e-8
    wheel = run.system["wheel"]
    assert isinstance(wheel, qp.ReactionWheel)
    if "wheel.momentum" in some[0].drives:  # there one period, and the delay, later
        seen, late = run["a"], some[0].period + some[0].delay
        told = [wheel.momentum_at(t + late) for t in seen.t[:-2]]
        np.testing.assert_allclose(seen.command["wheel.momentum"][:-2], told, atol=1e-12)


@pytest.mark.parametrize(
    "some",
    [
        waves("a", 0.1, "wheel.torque", "motor.torque"),
        waves("a", 0.1, "lead.target", "jet.thrust", hold="first"),
        waves("a", 0.05, "lead.target", "wheel.momentum", hold="first", delay=0.1),
    ],
    ids=lambda one: " ".join(one.drives),
)
@pytest.mark.parametrize("beside", [math.nextafter(0.3, 0.0), 0.3, 0.1 + 0.2])
def test_knots_beside_samples_are_one_with_them(some: Waves, beside: float) -> None:
    """What goes along a line to the next sample goes on to a knot that misses this by rounding: no
    step creeps up to a bend between the two, and what was commanded flies with the same bits."""
    knots = qp.Schedule((0.0, beside), [(0.0,) * 3, (0.1, 0, 0)], "hold")
    run = driven(some, load=knots).simulate(0.6)
    same_bits(run, qp.Multibody(*run.system.parts).simulate(0.6))
    ends = np.union1d(run["a"].t, run["a"].t + some.delay)
    assert np.isin(run["a"].t, run.t).all()
    assert run.counts.steps < 4 * len(ends)
    assert run.counts.rejections < len(ends)


@pytest.mark.parametrize("duration", [0.1 + 0.2, 0.3, math.nextafter(3.0, 0.0), 2.95])
def test_samples_beside_other_times_are_one_with_them(duration: float) -> None:
    """Knots of schedules, and ends of runs, that miss a sample by rounding; the next run takes the
    sample on which a run ends."""
    knots = qp.Schedule((0.0, 0.1 + 0.2, 0.7000000000000001), [(0.0,) * 3, (1.0, 0, 0), (0.0,) * 3])
    made = driven(waves("a", 0.1, "wheel.torque", "motor.torque"), load=knots)
    run = made.simulate(duration)
    assert run.stop is qp.Stop.END
    more = made.simulate(0.35, state=run.final)
    assert more.stop is qp.Stop.END
    both = np.concatenate([run["a"].t, more["a"].t])
    np.testing.assert_allclose(both, 0.1 * np.arange(len(both)), atol=1e-15)
    assert len(both) == math.ceil(10.0 * (duration + 0.35) - 1e-9)
    assert run.at(0.5 * duration).t == 0.5 * duration


def test_ten_thousand_samples() -> None:
    """Each knows its time, and looking between them is no search through all."""
    run = driven(waves("a", 1e-3, "motor.torque")).simulate(2.0)
    np.testing.assert_array_equal(run["a"].t, [k / 1000 for k in range(2000)])
    assert run.at(1.23456)["hinge"].angle == pytest.approx(
        np.interp(1.23456, run.t, run["hinge"].angle), abs=1e-6
    )


def test_what_is_measured_is_what_runs_measure() -> None:
    """Numbers of states, of coordinates, and what only Python answers, under the commands of that
    moment; noise and quanta are in the record."""
    reads = ("hinge.angle", "bus.orientation", "energy", "motor.load", "hinge.reaction")
    made = driven(waves("a", 0.1, "motor.torque", "push.force", reads=reads))
    run = made.simulate(1.0)
    rows = np.searchsorted(run.t, run["a"].t)
    for name in reads[:1] + reads[2:3]:
        known = run.measure(name)[rows]
        np.testing.assert_allclose(run["a"].measured[name], known, rtol=1e-12, atol=1e-12)
    before = np.append(0.0, run["a"].command["motor.torque"][:-1])  # until then
    np.testing.assert_allclose(run["a"].measured["motor.load"], before, atol=1e-15)
    assert run["a"].measured["hinge.reaction"].shape == (10, 6)
    rough = waves(
        "a", 0.1, "motor.torque", reads=reads[:2], noise={"hinge.angle": 0.01},
        quantum={"hinge.angle": 0.005}, seed=7,
    )  # fmt: skip
    told = [driven(rough).simulate(1.0)["a"].measured["hinge.angle"] for _ in range(2)]
    np.testing.assert_array_equal(told[0], told[1])
    whole = told[0] / 0.005
    np.testing.assert_allclose(whole, np.round(whole), atol=1e-9)
    assert abs(told[0]).max() > 0.005


def test_limits_hold_and_are_recorded() -> None:
    run = driven(waves("a", 0.1, "push.force", limit={"push.force": 0.15})).simulate(1.0)
    command = run["a"].command["push.force"]
    assert abs(command).max() == 0.15
    np.testing.assert_allclose(command[5], (0.15, 0.1, 0.15))
    np.testing.assert_array_equal(run.measure("a.push.force")[run.t == 0.5][0], command[5])


@pytest.mark.parametrize("when", [1.0, 1.1])
def test_what_a_sample_changes_at_once_is_in_the_ledger(when: float) -> None:
    """A target that jumps changes the energy of its servo: work, also where a run goes on from a
    sample, and what is switched there is measured under the commands of that moment."""
    parts = driven(waves("a", 0.25, "lead.target")).parts
    bus, arm = parts[:2]
    assert isinstance(bus, qp.Body)
    assert isinstance(arm, qp.Body)
    made = qp.Multibody(*parts, candidates=[qp.Fixed("lock", bus, arm, here=True)])
    run = made.simulate(3.0, switches=[qp.Switch(when, joints=("hinge", "lock"))])
    np.testing.assert_allclose(run["a"].t, 0.25 * np.arange(12), rtol=1e-15)
    balance = run.energy + run.dissipated + run.lost - run.work - run.switched
    assert np.ptp(balance) < 1e-7
    assert abs(run.work).max() > 0.01
    first = made.simulate(when)
    second = made.simulate(1.0, state=first.final)
    before = first.energy[-1] + first.dissipated[-1] - first.work[-1]
    whole = second.energy + second.dissipated - second.work
    np.testing.assert_allclose(whole + first.dissipated[-1] - first.work[-1], before, atol=1e-7)
