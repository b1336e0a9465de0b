"""What an integrator promises: its order, its tolerance, the same bits, and the state at any
time."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.kernels.step.methods import Method
from tests.motion import TIGHT, apart, compiled_system, floating_chain
from tests.random_systems import FAMILIES
from tests.truths.test_double_pendulum import bars
from tests.truths.test_slider_crank import START, mechanism
from tests.user_parts import Drag


@pytest.fixture(scope="module")
def exact() -> qp.State:
    """The double pendulum after a second."""
    return bars().simulate(1.0, rtol=1e-13, atol=1e-14).final


def same_bits(one: qp.Trajectory, two: qp.Trajectory) -> bool:
    """Times, states, angles and ledger."""
    pairs = zip(one.course[:4], two.course[:4])
    return all(np.array_equal(a, b) for a, b in pairs) and one.counts == two.counts


# --- accuracy -------------------------------------------------------------------------------------
@pytest.mark.parametrize("drift", ["project", "none"])
@pytest.mark.parametrize(
    ("method", "steps", "order"), [("dop853", (16, 32), 8), ("rk45", (64, 128), 5)]
)
def test_fixed_steps_converge_with_their_order(
    method: Method, steps: tuple[int, int], order: int, drift: str, exact: qp.State
) -> None:
    errors = [
        apart(bars().simulate(1.0, method=method, step=1.0 / n, drift=drift).final, exact)
        for n in steps
    ]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.9)


@pytest.mark.parametrize(
    ("method", "steps", "order"), [("dop853", (8, 16), 8), ("rk45", (64, 128), 5)]
)
def test_fixed_steps_converge_with_their_order_on_a_loop(
    method: Method, steps: tuple[int, int], order: int
) -> None:
    """The slider-crank, through the first fifth of a second."""
    truth = mechanism(*START).simulate(0.2, rtol=1e-13, atol=1e-14).final
    errors = [
        apart(mechanism(*START).simulate(0.2, method=method, step=0.2 / n).final, truth)
        for n in steps
    ]
    assert errors[1] > 1e-12  # not rounding
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.9)


def test_fixed_steps_are_as_long_as_asked() -> None:
    run = bars().simulate(1.0, step=0.125)
    np.testing.assert_array_equal(run.t, np.linspace(0.0, 1.0, 9))
    assert run.counts[1:] == (8, 0)


@pytest.mark.parametrize("tolerance", [1e-5, 1e-7, 1e-9, 1e-11])
@pytest.mark.parametrize("method", ["dop853", "rk45"])
def test_error_follows_the_tolerance(method: Method, tolerance: float, exact: qp.State) -> None:
    """On this chain the end error stays below a thousand tolerances."""
    final = bars().simulate(1.0, method=method, rtol=tolerance, atol=0.1 * tolerance).final
    assert apart(final, exact) < 1e3 * tolerance


@pytest.mark.parametrize(("family", "seed"), [("trees", 0), ("linkages", 1), ("lattices", 2)])
def test_both_methods_agree(family: str, seed: int) -> None:
    system = compiled_system(family, seed)
    one, two = (
        system.simulate(0.3, rtol=1e-10, atol=1e-12, method=m).final for m in ("dop853", "rk45")
    )
    assert apart(one, two) < 1e-6


# --- the same bits --------------------------------------------------------------------------------
@pytest.mark.parametrize("family", FAMILIES)
def test_a_repeated_run_has_the_same_bits(family: str) -> None:
    one, two = (compiled_system(family, 5).simulate(0.3) for _ in range(2))
    assert same_bits(one, two)


@pytest.mark.parametrize("make", [floating_chain, lambda: mechanism(*START)], ids=["tree", "loop"])
def test_a_run_with_events_and_a_force_in_python_has_the_same_bits(
    make: Callable[[], qp.Multibody],
) -> None:
    """Repeated from a system built anew, and gone on with from where a terminal event has ended
    it."""
    runs = []
    for _ in range(2):
        plain = make()
        body = plain[plain.bodies[-1]]
        system = plain.with_(Drag("air", body, 0.1, 0.05))
        place = float(system.simulate(0.2).final[body.name].position[0])
        passing = [
            qp.When(
                "half way",
                lambda s, at=place, name=body.name: s[name].position[0] - at,
                direction="both",
            ),
            qp.When(
                "watched",
                lambda s, name=body.name: s[name].velocity[0],
                direction="both",
                terminal=False,
            ),
        ]
        run = system.simulate(0.5, stop=passing)
        runs.append((run, system.at(run.final).simulate(0.3, stop=passing)))
    assert runs[0][0].stop is qp.Stop.EVENT
    assert runs[0][1].states[0] == runs[0][0].final
    for one, two in zip(*runs):
        assert same_bits(one, two)
        assert one.events == two.events


def test_a_run_leaves_its_system_as_it_was() -> None:
    system = mechanism(*START)
    one = system.simulate(1.0)
    system.simulate(0.3, rtol=1e-4, method="rk45", stop=[qp.AtRest()])
    system.acceleration(one.final)
    assert same_bits(one, system.simulate(1.0))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_run_goes_on_exactly_where_it_stopped(family: str) -> None:
    system = compiled_system(family, 4)
    run = system.simulate(0.2)
    on, again = (system.at(run.final).simulate(0.2) for _ in range(2))
    assert on.states[0] == run.final == run.states[-1]
    assert not on.drift[0].any()
    assert same_bits(on, again)


def test_parts_of_a_run_have_the_same_bits_each_time() -> None:
    """Stop and go on five times, from a system kept and from one built anew: the same end, to the
    bit."""
    ends = []
    for _ in range(2):
        system = mechanism(*START)
        for _ in range(5):
            system = system.at(system.simulate(0.2).final)
        ends.append(system.initial)
    assert ends[0] == ends[1]
    assert ends[0].t == pytest.approx(1.0, rel=1e-15)
    assert apart(ends[0], mechanism(*START).simulate(1.0).final) < 1e-5


def test_a_run_that_goes_on_keeps_its_step() -> None:
    """No small first steps again; but another system finds its own."""
    system = floating_chain()
    run = system.simulate(5.0)
    on = system.at(run.final).simulate(1.0)
    assert on.t[1] - on.t[0] == pytest.approx(run.final.step, rel=1e-12)
    other = system.without("stay").at(run.final).simulate(1.0)
    assert other.t[1] - other.t[0] < 0.5 * run.final.step


# --- any time -------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", ["dop853", "rk45"])
def test_state_between_steps_is_that_of_a_run_that_stops_there(method: Method) -> None:
    rtol, atol = 1e-8, 1e-10
    run = bars().simulate(1.0, rtol=rtol, atol=atol, method=method)
    exact = bars().simulate(1.0, **TIGHT)
    for t in np.linspace(0.03, 0.97, 7):
        assert (
            apart(run.at(t), bars().simulate(t, rtol=rtol, atol=atol, method=method).final)
            < 10 * rtol
        )
        assert apart(run.at(t), exact.at(t)) < 1e2 * rtol
        assert run.at(t).t == t


@pytest.mark.parametrize("keep", ["all", "ends", 3])
def test_state_at_a_stored_time_is_the_stored_state(keep: str | int) -> None:
    run = mechanism(*START).simulate(0.5, keep=keep)
    for k, t in enumerate(run.t):
        assert run.at(t) == run.states[k]
    assert run.final == run.states[-1]
    assert run.at(0.0) == mechanism(*START).initial


def test_state_between_few_stored_steps() -> None:
    """Thinned runs are integrated again from the last stored state, however many steps that
    takes."""
    every = bars().simulate(1.0, **TIGHT)
    ends = bars().simulate(1.0, keep="ends", max_steps=1000, **TIGHT)
    assert apart(every.at(0.77), ends.at(0.77)) < 1e-11


def test_state_between_the_steps_of_a_run_with_few_of_them() -> None:
    """max_steps bounds the run, not what is asked of it."""
    run = bars().simulate(1.0, max_steps=1, step=0.1)
    assert run.at(0.05).t == 0.05
    run = bars().simulate(1.0, max_steps=2)
    t = 0.5 * (run.t[1] + run.t[2])
    assert apart(run.at(t), bars().simulate(t, **TIGHT).final) < 1e-8


@pytest.mark.parametrize("t", [-0.1, 1.1])
def test_no_state_outside_the_run(t: float) -> None:
    run = bars().simulate(1.0)
    with pytest.raises(qp.PartError, match="lies outside the run"):
        run.at(t)


# --- rows that are kept ---------------------------------------------------------------------------
@pytest.mark.parametrize("every", [1, 2, 7, 50, 10_000])
def test_every_kth_row_is_the_same_row(every: int) -> None:
    full, thin = (mechanism(*START).simulate(2.0, keep=keep, **TIGHT) for keep in ("all", every))
    assert len(full.t) > 260  # more than one compiled call fills
    chosen = sorted({*range(0, len(full.t), every), len(full.t) - 1})
    for mine, theirs in zip(thin.course[:4], full.course[:4]):
        np.testing.assert_array_equal(mine, theirs[chosen])
    assert thin.counts == full.counts


def test_the_ends_are_kept() -> None:
    full, ends = (mechanism(*START).simulate(1.0, keep=keep) for keep in ("all", "ends"))
    for mine, theirs in zip(ends.course[:4], full.course[:4]):
        np.testing.assert_array_equal(mine, theirs[[0, -1]])
    assert ends.final == full.final


def peak(duration: float, keep: str | int) -> int:
    """Most memory in use during a run [bytes]."""
    system = floating_chain()
    system.simulate(0.1)
    tracemalloc.start()
    system.simulate(duration, step=0.01, keep=keep)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return used


def test_memory_stays_flat() -> None:
    assert peak(150.0, "ends") < peak(10.0, "ends") + 100_000
    assert peak(150.0, "all") > 5.0 * peak(10.0, "all")


# --- angles ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("rate", [7.0, -7.0])
@pytest.mark.parametrize("keep", ["all", "ends"])
def test_angles_go_on_over_many_turns(rate: float, keep: str) -> None:
    """A rotor at constant rate; continued, saved state by saved state."""
    rotor = qp.Body("rotor", 1.0, (1.0, 1.0, 1.5), angular_velocity=(0, 0, rate))
    system = qp.Multibody(
        rotor, qp.Revolute("axle", qp.GROUND, rotor, at=(0, 0, 0), axis=(0, 0, 1))
    )
    run = system.simulate(10.0, keep=keep)
    np.testing.assert_allclose(run["axle"].angle, rate * run.t, rtol=0.0, atol=1e-6)
    np.testing.assert_allclose(run["axle"].rate, rate, rtol=1e-12)
    assert run.final["axle"].angle == pytest.approx(10.0 * rate, abs=1e-6)
    on = system.at(run.final).simulate(10.0, keep=keep)
    np.testing.assert_allclose(on["axle"].angle, rate * on.t, rtol=0.0, atol=2e-6)
    assert on.at(14.2)["axle"].angle == pytest.approx(14.2 * rate, abs=2e-6)


def test_a_wound_up_spring_unwinds() -> None:
    """Torque follows the continuous angle: from three turns away it swings with its own period, 2
    pi sqrt(I / k)."""
    rotor = qp.Body("rotor", 1.0, (1.0, 1.0, 1.5))
    axle = qp.Revolute("axle", qp.GROUND, rotor, at=(0, 0, 0), axis=(0, 0, 1))
    rest = 6.0 * math.pi
    run = qp.Multibody(
        rotor, axle, qp.HingeSpring("spring", axle, stiffness=1.5, rest_angle=rest)
    ).simulate(20.0, **TIGHT)
    np.testing.assert_allclose(run["axle"].angle, rest * (1.0 - np.cos(run.t)), rtol=0.0, atol=1e-9)
