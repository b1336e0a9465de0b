"""Runs that cannot go on say why, and keep what they have computed."""

from __future__ import annotations

import itertools
import math
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.motion import course
from quirkpy.motion.course import write
from quirkpy.parts.checks import instance
from tests.motion import TIGHT, floating_chain
from tests.random_systems import random_system
from tests.truths.test_slider_crank import START, mechanism


class Push(qp.Force):
    """Whatever force a test wants, along x."""

    body: qp.Body = qp.checked(instance(qp.Body))
    size: Callable[[Any], float]

    def load(self, at: qp.MotionView) -> Any:
        return {self.body: qp.Wrench((self.size(at), 0.0, 0.0))}


def pushed(size: Callable[[Any], float], **body: Any) -> qp.Multibody:
    ball = qp.Body.sphere("ball", 0.1, 1.0, **{"position": (1, 0, 0)} | body)
    return qp.Multibody(ball, Push("wind", ball, size))


class WeatherError(Exception):
    """A user's own."""


def storm(t: float) -> Callable[[Any], float]:
    """A force that fails from time t on."""

    def size(at: Any) -> float:
        if at.t >= t:
            raise WeatherError("too much wind")
        return math.cos(10.0 * at.t)

    return size


# --- errors in users' functions -------------------------------------------------------------------
def test_an_error_in_a_force_surfaces_with_time_name_and_trajectory() -> None:
    with pytest.raises(WeatherError, match="too much wind") as caught:
        pushed(storm(0.5)).simulate(1.0)
    notes = " ".join(caught.value.__notes__)
    assert "load(at) of Push 'wind'" in notes
    assert "t = 0.5" in notes or "t = 0.6" in notes
    assert "`trajectory`" in notes
    run = caught.value.trajectory
    assert 0.2 < run.t[-1] < 0.5
    assert len(np.unique(run.t)) == len(run.t) > 3
    assert run.final == run.at(run.t[-1])
    same = pushed(storm(9.0)).simulate(1.0)
    np.testing.assert_array_equal(run.course.states, same.course.states[: len(run.t)])


def test_an_error_at_the_start_surfaces_too() -> None:
    with pytest.raises(WeatherError) as caught:
        pushed(storm(0.0)).simulate(1.0)
    assert list(caught.value.trajectory.t) == [0.0]
    assert "t = 0 s" in " ".join(caught.value.__notes__)


def test_an_error_of_the_kind_that_python_raises_stays_what_it_is() -> None:
    """Not every ValueError is a wrong result."""
    with pytest.raises(ValueError, match="math domain error") as caught:
        pushed(lambda at: math.sqrt(0.5 - at.t)).simulate(1.0)
    assert not isinstance(caught.value, qp.PartError)


@pytest.mark.kernels
@pytest.mark.parametrize("later", [0.0, 0.3])
def test_an_error_in_an_event_names_it(later: float) -> None:
    def watch(state: qp.State) -> float:
        if state.t >= later:
            raise WeatherError
        return 1.0

    with pytest.raises(WeatherError) as caught:
        pushed(storm(9.0)).simulate(1.0, stop=[qp.When("look", watch)])
    assert "When 'look'" in " ".join(caught.value.__notes__)
    assert caught.value.trajectory.t[-1] <= later


def test_an_error_in_progress_keeps_each_row_once() -> None:
    def progress(t: float) -> None:
        raise WeatherError

    system = mechanism(*START)
    with pytest.raises(WeatherError) as caught:
        system.simulate(2.0, progress=progress, **TIGHT)
    run = caught.value.trajectory
    full = system.simulate(2.0, **TIGHT)
    assert 1 < len(run.t) < len(full.t)
    np.testing.assert_array_equal(run.t, full.t[: len(run.t)])
    assert f"t = {run.t[-1]:.12g} s" in " ".join(caught.value.__notes__)


def test_a_system_runs_again_after_an_error() -> None:
    system = mechanism(*START)
    before = system.simulate(0.2)
    with pytest.raises(WeatherError):
        system.simulate(
            0.2, stop=[qp.When("look", lambda state: (_ for _ in ()).throw(WeatherError))]
        )
    np.testing.assert_array_equal(before.course.states, system.simulate(0.2).course.states)


# --- what is not a number -------------------------------------------------------------------------
@pytest.mark.kernels
def test_nan_from_a_force_is_refused_by_its_name() -> None:
    with pytest.raises(qp.PartError, match=r"Push 'wind'.*finite") as caught:
        pushed(lambda at: math.nan if at.t > 0.5 else 0.0).simulate(1.0)
    assert 0.0 < caught.value.trajectory.t[-1] <= 0.5


def test_numbers_that_overflow_end_the_run() -> None:
    """A spring so stiff that one fixed step leaps out of the numbers."""
    ball = qp.Body.sphere("ball", 0.1, 1.0, position=(1, 0, 0))
    system = qp.Multibody(ball, qp.PotentialWell("well", ball, (0, 0, 0), 1e30))
    run = system.simulate(10.0, step=1.0)
    assert run.stop is qp.Stop.NOT_FINITE
    assert np.isfinite(run.course.states).all()


@pytest.mark.parametrize("family", ["linkages", "lattices"])
@pytest.mark.parametrize("method", ["dop853", "rk45"])
def test_a_run_of_long_steps_ends_with_its_last_numbers(family: str, method: Any) -> None:
    """Steps so long that states leap out of the numbers, also as joints draw them back."""
    for seed, step in itertools.product(range(3), (0.3, 5.0)):
        system = random_system(family, seed)
        own = ("attraction", "drag", "compass")  # in Python, which is warned of such numbers
        forces = [f.name for f in system.tables.forces if not f.name.startswith(own)]
        moving = system.choosing(system.selection.joint_names, forces)
        try:
            run = moving.simulate(10.0 * step, step=step, method=method, progress=False)
        except qp.PartError as error:  # a load as a function of time is asked about none
            run = error.trajectory  # type: ignore[attr-defined]
        assert np.isfinite(run.course.states).all()
        assert run.final.t == run.t[-1] >= max([run.t[0], *(event.t for event in run.events)])


@pytest.mark.kernels
@pytest.mark.parametrize("method", ["dop853", "rk45"])
def test_a_force_that_has_no_end_stops_the_run(method: Any) -> None:
    """x'' = -1 / (2 x^2) from 1 m at rest reaches zero after pi / 2 s; nobody can follow it
    through."""
    system = pushed(lambda at: -0.5 / at[system_ball].position[0] ** 2)
    system_ball = system["ball"]
    run = system.simulate(3.0, method=method, max_steps=1500)
    assert run.stop in (qp.Stop.COLLAPSE, qp.Stop.NOT_FINITE)
    assert run.t[-1] == pytest.approx(0.5 * math.pi, abs=1e-4)
    assert "fall" not in str(run.stop)
    assert len(str(run.stop)) > 20


# --- what a user bounds ---------------------------------------------------------------------------
@pytest.mark.parametrize("most", [pytest.param(1, marks=pytest.mark.kernels), 7, 256, 257, 300])
def test_max_steps_bounds_the_effort(most: int) -> None:
    run = mechanism(*START).simulate(5.0, max_steps=most)
    assert run.stop is qp.Stop.STEPS
    assert run.counts.steps == most
    assert len(run.t) == most + 1


def test_an_inconsistent_velocity_is_projected_and_told() -> None:
    """The nearest velocity that the joint allows: 1 m/s along the bar is taken away."""
    bob = qp.Body.sphere("bob", 0.1, 1.0, position=(1, 0, 0), velocity=(1.0, 2.0, 0.0))
    run = qp.Multibody(bob, qp.Distance("bar", qp.GROUND, bob)).simulate(1.0)
    np.testing.assert_allclose(run.states[0]["bob"].velocity, (0.0, 2.0, 0.0), atol=1e-14)
    assert run.drift[0, 1] == pytest.approx(1.0, rel=1e-9)
    assert run.drift[1:].max() < 1e-6


INTERRUPTED = """
import signal
import quirkpy as qp
from tests.truths.test_row_of_four_bars import row
# Whoever runs the tests may have switched it off.
signal.signal(signal.SIGINT, signal.default_int_handler)
calls = []
# All kernels are compiled by then: meanwhile an interruption can be lost in a callback of LLVM.
def progress(t):
    calls.append(t)
    if len(calls) == 2:
        print("ready", flush=True)
run = row(2, 1.0, -1.0).simulate(1e6, rtol=1e-12, keep="ends", progress=progress{stop})
print(run.stop.name, len(run.t), run.t[-1] > 0.0, flush=True)
"""


@pytest.mark.parametrize("stop", ["", ", stop=[qp.When('never', lambda state: 1.0)]"])
def test_ctrl_c_stops_a_run_of_hours_and_keeps_what_is_computed(stop: str) -> None:
    code = INTERRUPTED.format(stop=stop)
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        try:
            assert process.communicate(timeout=20)[0] == "INTERRUPTED 2 True\n"
            assert process.returncode == 0
        finally:
            process.kill()


@pytest.fixture
def ctrl_c() -> Iterator[Callable[[], None]]:
    """What Ctrl-C does to a program that has not changed its meaning."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield lambda: signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_between_two_calls_of_the_kernels(times: int, ctrl_c: Callable[[], None]) -> None:
    """The first waits for the kernel at work; the second, from somebody who does not want to wait,
    ends it there."""

    def progress(t: float) -> None:
        for _ in range(times):
            ctrl_c()

    run = mechanism(*START).simulate(10.0, progress=progress, **TIGHT)
    full = mechanism(*START).simulate(10.0, **TIGHT)
    assert run.stop is qp.Stop.INTERRUPTED
    assert 1 < len(run.t) < len(full.t)
    np.testing.assert_array_equal(run.course.states, full.course.states[: len(run.t)])


def test_ctrl_c_while_a_force_is_asked(ctrl_c: Callable[[], None]) -> None:
    def size(at: Any) -> float:
        if at.t > 0.5:
            ctrl_c()
        return math.cos(10.0 * at.t)

    run = pushed(size).simulate(10.0)
    same = pushed(storm(99.0)).simulate(10.0)
    assert run.stop is qp.Stop.INTERRUPTED
    assert 0.2 < run.t[-1] <= 0.6
    np.testing.assert_array_equal(run.course.states, same.course.states[: len(run.t)])


# --- rows in files --------------------------------------------------------------------------------
@pytest.mark.parametrize("writes", [math.inf, 0, 3])
def test_rows_in_a_file_are_those_in_memory(writes: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the disk has room for none, or for a few calls alone."""
    whole, left = floating_chain().simulate(2.0, step=1e-3), [writes]

    def short(file: Any, at: int, rows: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError("No space left on device")
        write(file, at, rows)

    monkeypatch.setattr(course, "write", short)
    monkeypatch.setattr(course, "IN_MEMORY", 100_000)
    run = floating_chain().simulate(2.0, step=1e-3)
    np.testing.assert_array_equal(run.course.states, whole.course.states)
    np.testing.assert_array_equal(run.t, whole.t)
    assert run.course.states.flags.writeable
    assert isinstance(memory_of(run.course.states), np.memmap) == (writes == math.inf)
    assert left[0] < 0 or writes == math.inf


def memory_of(array: Any) -> Any:
    """The array whose memory another one shows, itself or a mapped file."""
    return array if isinstance(array, np.memmap) or array.base is None else memory_of(array.base)


@pytest.mark.parametrize("fast", [1.0, 10.0])
def test_a_run_that_bends_a_body_too_far_names_it(fast: float) -> None:
    """Hinged straight to the ground, six clamped modes leave almost no mass to the turn; `modes`
    may be a whole number of NumPy."""
    boom = qp.Beam("boom", start=(0, 0, 0), end=(1, 0, 0), EA=1e6, EI=1.0, GJ=1.0,
                   mass_per_length=1.0, modes=np.int64(6))  # fmt: skip
    hinge = qp.Revolute("hinge", qp.GROUND, boom, at=(0, 0, 0), axis=(0, 0, 1))
    system = qp.Multibody(boom, hinge)
    start = system.initial.replace({"boom": {"mode_rates": (fast, fast, 0, 0, 0, 0)}})
    run = system.at(start).simulate(2.0, progress=False)
    assert run.stop in (qp.Stop.COLLAPSE, qp.Stop.NOT_FINITE)
    assert run.events[-1].name == "boom is bent too far"
