"""`simulate_many` gives each run the bits that `simulate` gives it alone, whoever flies it."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.motion.runs import Runs
from tests.assemblies import bolted_cubes
from tests.laws import test_compiled_laws as laws
from tests.laws.test_engines_are_lent import stopped
from tests.motion import compiled_system
from tests.random_systems import FAMILIES, seeds
from tests.truths.test_slider_crank import START, mechanism
from tests.user_parts import Drag

#: Ways to fly that the driver knows.
WAYS: tuple[dict[str, Any], ...] = (
    {}, {"drift": "none"}, {"drift": "baumgarte"}, {"energy": "conserve"}, {"step": 0.004},
    {"method": "rk45", "rtol": 1e-5, "atol": 1e-7}, {"max_steps": 7},
)  # fmt: skip
LEDGER = ("work", "dissipated", "lost", "projected")


def check_alike(runs: Runs, k: int, alone: qp.Trajectory) -> None:
    """Nothing that a run leaves differs, in any bit."""
    assert runs.stop[k] is alone.stop
    assert runs.t[k] == alone.t[-1]
    end, final = runs.final[k], alone.final
    assert end == final
    assert (end.held, end.step) == (final.held, final.step)
    assert np.array_equal(end.near, final.near)
    assert (end.merged is None) == (final.merged is None)
    assert end.merged is None or np.array_equal(end.merged, final.merged)
    assert runs.events[k] == alone.events
    assert tuple(int(count[k]) for count in runs.counts) == tuple(alone.counts)
    for name in LEDGER:
        assert getattr(runs, name)[k] == getattr(alone, name)[-1], name


def check_all(
    system: qp.Multibody, states: Sequence[qp.State], duration: float, **way: Any
) -> None:
    """Starts flown together, by one and by three threads in small chunks, and one by one."""
    together = system.simulate_many(states, duration=duration, **way)
    shared = system.simulate_many(states, duration=duration, threads=3, chunk=4, **way)
    for k, state in enumerate(states):
        alone = system.at(state).simulate(duration, keep="ends", **way)
        for runs in (together, shared):
            check_alike(runs, k, alone)


def on_the_way(system: qp.Multibody, duration: float, count: int) -> list[qp.State]:
    """States through which a system passes: the start, rows of a run, its end, which goes on; but
    for those near singular poses at which joints do not quite meet."""
    run = system.simulate(duration, rtol=1e-6)
    rows = np.linspace(0, len(run.t) - 1, count).astype(int)
    met = [*(run.states[k] for k in rows), run.final]
    gaps = [abs(system.residual(state).position).max(initial=0.0) for state in met]
    return [system.initial, *(s for s, gap in zip(met, gaps, strict=True) if gap < 1e-8)]


# --- the same bits --------------------------------------------------------------------------------
@pytest.mark.parametrize("family", FAMILIES)
@seeds(6, 2, attack=400)
def test_runs_of_random_systems(family: str, seed: int) -> None:
    system = compiled_system(family, seed)
    states = on_the_way(system, 0.1, 3)
    energy = system.energy(states[-1])
    events = [
        qp.EnergyBelow(float(energy), terminal=False), qp.SensorsMeet(), qp.AtRest(speed=0.5)
    ]  # fmt: skip
    check_all(system, states, 0.05, stop=events, **WAYS[seed % len(WAYS)])


@seeds(12, 4, attack=400)
def test_runs_with_stops_and_impacts(seed: int) -> None:
    system = stopped(seed)
    check_all(system, on_the_way(system, 0.6, 4), 0.3, **WAYS[(seed + 3) % len(WAYS)])


@pytest.mark.parametrize("k", range(len(WAYS)))
def test_runs_however_they_are_made(k: int) -> None:
    system = mechanism(*START)
    check_all(system, on_the_way(system, 0.2, 3), 0.1, **WAYS[k])


def test_runs_of_locked_clusters() -> None:
    system = bolted_cubes()
    states = on_the_way(system, 0.3, 4)
    moved = states[0].replace({name: {"velocity": (0.0, 0.1, 0.2)} for name in system.bodies})
    check_all(system, [*states, moved], 0.2)


def test_runs_that_begin_beside_their_locks_or_go_on() -> None:
    """What arrays cannot say is flown alone: a start that misses its locks, and the end of a run
    of clusters."""
    system = bolted_cubes(2)
    end = system.simulate(0.1).final
    assert end.merged is not None
    beside = end.replace({"bar": {"velocity": end["bar"].velocity + (0.0, 0.0, 0.1)}})
    check_all(system, [end, beside, system.initial], 0.1)


def test_runs_through_knots_of_schedules() -> None:
    """Starts on both sides of knots and on them; some runs end at one."""
    rod = qp.Body.box("rod", (1.0, 0.1, 0.1), 2.0)
    force = qp.Schedule((0.0, 0.25, 0.5), [(0, 0, 0), (1, 2, 0), (0, 0, 3)])
    system = qp.Multibody(rod, qp.Load("push", rod, force=force, at=(0.5, 0, 0), frame="body"))
    states = [system.initial.replace(t=t) for t in (-0.1, 0.0, 0.1, 0.25, 0.6)]
    check_all(system, states, 0.25)
    check_all(system, states, 0.4, step=0.03)


def test_runs_that_begin_at_rest_where_branches_meet() -> None:
    """A flat parallelogram at rest says so, also among others."""
    angle, along = 0.0, np.array([1.0, 0.0, 0.0])
    system = _parallelogram(angle, along)
    moving = _parallelogram(0.5, along)
    assert any(e.name == "undetermined branch" for e in system.simulate(0.1).events)
    check_all(system, [system.initial, system.at(moving.initial).initial], 0.1)


def _parallelogram(angle: float, along: Any) -> qp.Multibody:
    """Three rods of 1 m on the ground, at rest, the first at an angle [rad]."""
    up = np.array([np.cos(angle), np.sin(angle), 0.0])
    z = (0.0, 0.0, 1.0)
    left, right = (
        qp.Body.rod(name, foot, foot + up, 1.0) for name, foot in (("l", 0 * along), ("r", along))
    )
    bar = qp.Body.rod("bar", up, along + up, 1.0)
    hinges = [
        qp.Revolute(f"h{k}", one, two, at=at, axis=z)
        for k, (one, two, at) in enumerate(
            [
                (qp.GROUND, left, 0 * along), (qp.GROUND, right, along),
                (left, bar, up), (right, bar, along + up),
            ]
        )
    ]  # fmt: skip
    return qp.Multibody(left, right, bar, *hinges, qp.Gravity((0.0, -9.81, 0.0)))


def test_starts_that_joints_take_hold_of() -> None:
    """What they have taken is told of each, as alone."""
    system = stopped(0)
    hit = system.initial.replace(
        {"bar 1": {"velocity": (0.3, 0.0, 0.2), "angular_velocity": (0.0, 2.0, 0.0)}}
    )
    check_all(system, [system.initial, hit], 0.2)
    assert system.simulate_many([hit], duration=0.1).events[0][0].name == "joints took hold"


def test_runs_of_compiled_laws() -> None:
    """Machine code of users' own, called from several threads."""
    system = laws.system(laws.BAND, laws.HINGE)
    check_all(system, on_the_way(system, 0.5, 6), 0.4)


def test_runs_that_end_at_a_threshold() -> None:
    system = pendulum()
    states = on_the_way(system, 0.2, 4)
    events = [qp.When.above("hinge.angle", 0.25), qp.When.below("spring.length", 0.8)]
    check_all(system, states, 1.0, stop=events)
    assert qp.Stop.EVENT in system.simulate_many(states, duration=1.0, stop=events).stop


# --- numbers and selections -----------------------------------------------------------------------
def pendulum(stiffness: float = 2.0, mass: float = 1.0, upper: float = 0.3) -> qp.Multibody:
    """A rod on a hinge with a spring and a stop."""
    rod = qp.Body.box("rod", (1.0, 0.1, 0.1), mass, position=(0.5, 0.0, 0.0))
    hinge = qp.Revolute("hinge", qp.GROUND, rod, at=(0.0, 0.0, 0.0), axis=(0, 0, 1))
    parts = (
        qp.Spring("spring", qp.GROUND, rod, at1=(0, 1, 0), stiffness=stiffness, rest_length=0.1),
        qp.JointStop("stop", hinge, upper=upper, restitution=0.4),
        qp.Load("push", rod, force=qp.Schedule((0.0, 1.0), [(0, 1, 0), (0, 2, 0)], "linear")),
    )
    return qp.Multibody(rod, hinge, *parts)


def test_numbers_differ_from_run_to_run() -> None:
    """As in systems that were written with them."""
    system, rng = pendulum(), np.random.default_rng(1)
    values = {
        "spring.stiffness": rng.uniform(1.0, 9.0, 6),
        "rod.mass": rng.uniform(0.5, 2.0, 6),
        "stop.upper": rng.uniform(0.1, 0.6, 6),
    }
    states = on_the_way(system, 0.2, 4)[:6]
    runs = system.simulate_many(states, values, duration=1.0, threads=2)
    for k, state in enumerate(states):
        own = {name: values[name][k].item() for name in values}
        tables = system.tables.with_parameters(
            {name.split(".")[0]: {name.split(".")[1]: value} for name, value in own.items()}
        )
        check_alike(runs, k, system.on_tables(tables, state).simulate(1.0, keep="ends"))
    written = [pendulum(*row).simulate(1.0).final for row in zip(*values.values(), strict=True)]
    starts = system.simulate_many(None, values, duration=1.0)
    for end, known in zip(starts.final, written, strict=True):
        np.testing.assert_allclose(end.r, known.r, rtol=0.0, atol=1e-9)
    assert len({tuple(end.r[0]) for end in starts.final}) == 6


def test_times_of_schedules_differ_from_run_to_run() -> None:
    """Steps end at the knots of each."""
    system = pendulum()
    pushes = [qp.Schedule((0.0, t), [(0, 1, 0), (0, 9, 0)], "linear") for t in (0.3, 0.5, 0.7)]
    runs = system.simulate_many(parameters={"push.force": pushes}, duration=1.0)
    for k, push in enumerate(pushes):
        tables = system.tables.with_parameters({"push": {"force": push}})
        alone = system.on_tables(tables, system.initial).simulate(1.0, keep="ends")
        check_alike(runs, k, alone)


def test_numbers_of_clusters_differ_from_run_to_run() -> None:
    """Each is made ready on its own, for how clusters lie may differ."""
    system, stiff = bolted_cubes(2), [0.1, 0.2]
    runs = system.simulate_many(parameters={"torsion.stiffness": stiff}, duration=0.2)
    for k, value in enumerate(stiff):
        tables = system.tables.with_parameters({"torsion": {"stiffness": value}})
        alone = system.on_tables(tables, system.initial).simulate(0.2, keep="ends")
        check_alike(runs, k, alone)


def test_what_acts_differs_from_run_to_run() -> None:
    system = pendulum()
    chosen = [
        (["hinge"], ["spring", "stop"]), ([], ["spring"]), (["hinge"], []), ([], ["spring"]),
        (["hinge"], ["push", "stop"]),
    ]  # fmt: skip
    states = on_the_way(system, 0.3, 4)[:5]
    stiff = np.linspace(1.0, 5.0, 5)
    runs = system.simulate_many(states, selections=chosen, duration=0.5, chunk=3, threads=2)
    both = system.simulate_many(states, {"spring.stiffness": stiff}, chosen, duration=0.5)
    for k, names in enumerate(chosen):
        other = system.choosing(*names).at(states[k])
        check_alike(runs, k, other.simulate(0.5, keep="ends"))
        tables = system.tables.with_parameters({"spring": {"stiffness": float(stiff[k])}})
        own = other.on_tables(tables, other.initial)
        check_alike(both, k, own.simulate(0.5, keep="ends"))


# --- what is asked of them ------------------------------------------------------------------------
@pytest.mark.parametrize("family", ["trees", "loops", "linkages"])
def test_samples_are_what_a_run_gives_at_their_times(family: str) -> None:
    system = compiled_system(family, 1)
    states, times = on_the_way(system, 0.1, 2), [0.0, 0.013, 0.02, 0.0501, 0.06]
    runs = system.simulate_many(states, duration=0.06, samples=times, threads=2)
    clusters = float(system.clusters.merger is not None)  # these differ by rounding, all else not
    for k in range(len(states)):
        run = runs[k]
        for j, t in enumerate(states[k].t + np.array(times)):
            rows = runs.samples.states[k, j, :-1]
            if t <= run.t[-1]:
                np.testing.assert_allclose(rows, run.rows_at(t), rtol=0.0, atol=1e-13 * clusters)
    assert runs.samples[system.bodies[0]].position.shape == (len(states), 5, 3)


def test_samples_end_with_the_run() -> None:
    """A brake takes the energy that ends it."""
    system = pendulum().without("push")
    system = system.with_(qp.HingeSpring("brake", system["hinge"], stiffness=0.0, damping=0.5))
    stop = [qp.EnergyBelow(float(system.energy()) - 1e-2)]
    runs = system.simulate_many([system.initial], duration=2.0, samples=[0.0, 1.99], stop=stop)
    assert runs.stop[0] is qp.Stop.EVENT
    assert np.isfinite(runs.samples["rod"].position[0, 0]).all()
    assert np.isnan(runs.samples["rod"].position[0, 1]).all()


def test_a_run_can_be_had_with_all_its_rows() -> None:
    system = pendulum()
    states = on_the_way(system, 0.3, 3)
    runs = system.simulate_many(states, duration=0.5, stop=[qp.EnergyBelow(-1.0)])
    for k, state in enumerate(states):
        alone = system.at(state).simulate(0.5, stop=[qp.EnergyBelow(-1.0)])
        assert np.array_equal(runs[k].course.states, alone.course.states)
        assert runs["hinge"].angle[k] == runs[k]["hinge"].angle[-1]
        assert np.array_equal(runs["rod"].position[k], runs[k]["rod"].position[-1])
    assert runs[-1].stop is runs.stop[-1]
    assert len(runs) == len(states) == len(runs.final[:])


def test_progress_counts_runs() -> None:
    told: list[float] = []
    system = pendulum()
    system.simulate_many([system.initial] * 40, duration=0.1, chunk=8, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 40


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_keeps_what_was_flown(threads: int) -> None:
    """The rest is said to be interrupted."""
    system = mechanism(*START)
    system.simulate_many([system.initial], duration=0.1)
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    begun = time.monotonic()
    timer.start()
    runs = system.simulate_many([system.initial] * 30_000, duration=100.0, threads=threads)
    timer.cancel()
    assert time.monotonic() - begun < 20.0
    flown = [stop is qp.Stop.END for stop in runs.stop]
    assert not all(flown)
    assert all(s in (qp.Stop.END, qp.Stop.INTERRUPTED) for s in runs.stop)
    assert np.isnan(runs.t).tolist() == [not done for done in flown]


# --- what is refused ------------------------------------------------------------------------------
def test_python_within_steps_is_refused() -> None:
    rod = qp.Body.box("rod", (1.0, 0.1, 0.1), 1.0)
    system = qp.Multibody(rod, Drag("drag", rod, 0.1, 0.1))
    with pytest.raises(ValueError, match="Drag 'drag' is asked in Python"):
        system.simulate_many([system.initial], duration=1.0)
    cubes = bolted_cubes(2)
    crossing = qp.When.above("bar.position.x", 5.0)  # of a cluster, which Python takes apart
    with pytest.raises(ValueError, match=r"Threshold 'bar\.position\.x above 5' is asked"):
        cubes.simulate_many([cubes.initial], duration=1.0, stop=[crossing])
    system = qp.Multibody(rod)
    when = qp.When("when", lambda state: state.t - 0.5)
    with pytest.raises(ValueError, match="When 'when' is asked in Python"):
        system.simulate_many([system.initial], duration=1.0, stop=[when])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "nothing differs from run to run"),
        ({"states": 3}, "states is 3, but must be a list"),
        ({"parameters": {"stiffness": [1.0]}}, "'stiffness' names no number of a part"),
        ({"parameters": {"spring.size": [1.0]}}, "there is no parameter 'size'"),
        ({"parameters": {"rope.size": [1.0]}}, "no moving body, joint, force or controller 'rope'"),
        ({"parameters": {"spring.stiffness": [1.0, -1.0]}}, "stiffness"),
        ({"selections": ["hinge"]}, "selection 0 is 'hinge', but must be two lists of names"),
        ({"selections": [("hinge", ["spring"])]}, "selection 0 is .* must be two lists of names"),
        ({"selections": [([], [])], "samples": 0.1}, "samples .*; give times after the start"),
        ({"selections": [(["hook"], [])]}, "no joint or force is called 'hook'"),
        (
            {"selections": [([], [])], "parameters": {"spring.stiffness": [1.0, 2.0]}},
            "are 2, give as many|but parameters|are 2",
        ),
        ({"selections": [([], [])], "threads": 0}, "threads is 0, but must be a whole number"),
        ({"selections": [([], [])], "chunk": 2.5}, "chunk is 2.5, but must be a whole number"),
        ({"selections": [([], [])], "samples": [0.2, 0.1]}, "rising times"),
        ({"selections": [([], [])], "samples": [2.0]}, "from 0 to 1 s"),
        ({"selections": [([], [])], "rtol": -1.0}, "rtol"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        pendulum().simulate_many(duration=1.0, **given)


def test_starts_that_are_none_are_refused() -> None:
    """As `at` and `simulate` do, and the run is named."""
    system = pendulum()
    good = system.initial
    turned = system.simulate(0.4).states[-1]
    apart = qp.State(
        0.0, good.bodies, good.r + 0.1, good.q, good.v, good.omega, good.joints, good.windings,
        good.selection,
    )  # fmt: skip
    with pytest.raises(ValueError, match="apart") as told:
        system.simulate_many([good, turned, apart], duration=1.0)
    assert told.value.__notes__ == ["the start of run 2"]
    beyond = pendulum(upper=2.0)
    high = beyond.simulate(1.5).final
    assert high["hinge"].angle > 0.35
    with pytest.raises(ValueError, match="begins beyond the upper bound") as told:
        system.simulate_many([good, system.at(high).initial], duration=1.0)
    assert told.value.__notes__[-1] == "run 1 of simulate_many"
