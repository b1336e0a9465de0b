"""Elastic-plastic strings and bars against what is known by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import quirkpy as qp

K, LIMIT, M, G = 400.0, 30.0, 1.0, 9.81
TIGHT: dict[str, Any] = dict(rtol=1e-11, atol=1e-12)


def falling(limit: float | None = LIMIT, damping: float = 0.0) -> qp.Multibody:
    """1 kg that falls half a metre before its string becomes taut."""
    ball = qp.Body.sphere("ball", 0.01, M, position=(0, 0, -0.5))
    string = qp.String(
        "s", qp.GROUND, ball, EA=K, rest_length=1.0, limit_load=limit, damping=damping
    )
    return qp.Multibody(ball, string, qp.Gravity((0, 0, -G)))


def times_of(run: qp.Trajectory) -> dict[str, float]:
    """The time of the first event of each name."""
    return {event.name: event.t for event in reversed(run.events)}


def test_a_string_yields_from_and_to_the_times_known_by_hand() -> None:
    """It falls, swings, gives way under the limit until it stands, and swings about its new rest
    length as it did about the old one."""
    run = falling().simulate(2.0, **TIGHT)
    elastic, sag, w = LIMIT / K, M * G / K, math.sqrt(K / M)
    fast = math.sqrt(2.0 * G * 0.5)
    # sag (1 - cos x) + fast / w sin x = elastic, with x = w t
    size, phase = math.hypot(sag, fast / w), math.atan2(sag, fast / w)
    swing = (math.asin((elastic - sag) / size) + phase) / w
    slower = math.sqrt(fast**2 + 2.0 * G * elastic - K / M * elastic**2)
    brake = LIMIT / M - G
    plastic = slower**2 / (2.0 * brake)
    taut = math.sqrt(2.0 * 0.5 / G)
    found = times_of(run)
    assert found["s taut"] == pytest.approx(taut, rel=1e-10)
    assert found["s yields"] == pytest.approx(taut + swing, rel=1e-10)
    assert found["s elastic"] == pytest.approx(taut + swing + slower / brake, rel=1e-10)
    rest = run["plasticity"].command["s.rest_length"]
    assert rest[-1] - 1.0 == pytest.approx(plastic, rel=1e-9)
    assert run.dissipated[-1] == pytest.approx(LIMIT * plastic, rel=1e-9)
    balance = run.energy + run.dissipated - run.work
    np.testing.assert_allclose(balance, balance[0], rtol=0, atol=1e-9)


def test_it_unloads_along_the_elastic_line_and_never_carries_more_than_its_limit() -> None:
    run = falling().simulate(2.0, **TIGHT)
    found, tension = times_of(run), run["s"].tension
    length, rest = run["s"].length, run["plasticity"].command["s.rest_length"][-1]
    assert tension.max() <= LIMIT * (1.0 + 1e-12)
    within = (run.t > found["s yields"]) & (run.t < found["s elastic"])
    np.testing.assert_allclose(tension[within], LIMIT, rtol=1e-12)
    after = (run.t > found["s elastic"]) & (tension > 0.0)
    assert after.sum() > 5
    np.testing.assert_allclose(tension[after], K * (length[after] - rest), rtol=0, atol=1e-9)
    assert np.ptp(run.energy[run.t > found["s elastic"]]) < 1e-9


@pytest.mark.parametrize("method", ["dop853", "rk45", "radau"])
def test_it_yields_alike_by_every_method_and_with_damping(method: str) -> None:
    settings: dict[str, Any] = dict(method=method, rtol=1e-9, atol=1e-10)
    one = falling(damping=0.5).simulate(1.5, **settings)
    two = falling(damping=0.5).simulate(1.5, **TIGHT)
    assert one.final["ball"].position[2] == pytest.approx(two.final["ball"].position[2], abs=1e-6)
    lengths = [run["plasticity"].command["s.rest_length"][-1] for run in (one, two)]
    assert lengths[0] == pytest.approx(lengths[1], abs=1e-7)
    balance = one.energy + one.dissipated - one.work
    np.testing.assert_allclose(balance, balance[0], rtol=0, atol=1e-5)


def driven(seed: int) -> tuple[qp.Multibody, dict[str, float]]:
    """A mass on a spring that yields both ways, shaken at random."""
    rng = np.random.default_rng(seed)
    n = dict(
        m=rng.uniform(0.5, 2), k=rng.uniform(50, 200), limit=rng.uniform(5, 15),
        f=rng.uniform(20, 40), w=rng.uniform(2, 5), c=rng.uniform(0, 2),
    )  # fmt: skip
    ball = qp.Body.sphere("ball", 0.01, n["m"], position=(50, 0, 0))
    slide = qp.Prismatic("slide", qp.GROUND, ball, at=(0, 0, 0), axis=(1, 0, 0))
    bar = qp.Spring("bar", qp.GROUND, ball, stiffness=n["k"], damping=n["c"], limit_load=n["limit"])
    shake = qp.Load("shake", ball, force=qp.Sine((n["f"], 0, 0), n["w"]))
    return qp.Multibody(ball, slide, bar, shake), n


def flown_by_hand(n: dict[str, float], end: float) -> tuple[float, float]:
    """The stretch and the plastic stretch at the end: from yield to yield with one law each."""
    t, y, p, phase = 0.0, np.zeros(2), 0.0, 0
    most = n["limit"] / n["k"]

    def rates(t: float, y: np.ndarray) -> list[float]:
        elastic = y[0] - p if phase == 0 else phase * most
        pull = n["k"] * elastic + n["c"] * y[1]
        return [y[1], (n["f"] * math.sin(n["w"] * t) - pull) / n["m"]]

    def over(t: float, y: np.ndarray) -> float:
        return float(most - abs(y[0] - p) if phase == 0 else phase * y[1])

    over.terminal, over.direction = True, -1  # type: ignore[attr-defined]
    while t < end:
        got = solve_ivp(rates, (t, end), y, "DOP853", rtol=1e-12, atol=1e-13, events=over)
        t, y = got.t[-1], got.y[:, -1]
        if got.status == 1:
            p = p if phase == 0 else y[0] - phase * most
            phase = int(np.sign(y[0] - p)) if phase == 0 else 0
    return float(y[0]), p


@pytest.mark.parametrize("seed", range(3))
def test_a_bar_shaken_at_random_yields_both_ways_as_integrated_piece_by_piece(seed: int) -> None:
    system, numbers = driven(seed)
    run = system.simulate(10.0, **TIGHT)
    stretch, plastic = flown_by_hand(numbers, 10.0)
    names = [event.name for event in run.events]
    assert names.count("bar yields") > 4
    assert run.final["ball"].position[0] - 50.0 == pytest.approx(stretch, abs=1e-7)
    rest = run["plasticity"].command["bar.rest_length"]
    if names[-1] == "bar elastic":
        assert rest[-1] - 50.0 == pytest.approx(plastic, abs=1e-7)
    assert (np.diff(rest) > 0).any()
    assert (np.diff(rest) < 0).any()


def test_what_strings_of_a_tensegrity_lose_is_their_load_times_their_way() -> None:
    bars, strings = dict(density=1300.0, radius=0.01), dict(stiffness=5e3, limit_load=60.0)
    made = qp.tensegrities.prism(3, fixed=True, bar=bars, string=strings)
    still = qp.prestress(made.system, minimum=40.0).system
    push = qp.Load("push", made.bars[0], force=qp.Sine((90.0, 40.0, -150.0), 3.0))
    system = qp.Multibody(*still.parts, push)
    run = system.simulate(3.0, **TIGHT)
    told = run["plasticity"].command
    lost = sum(60.0 * abs(np.diff(lengths)).sum() for lengths in told.values())
    assert sum(np.ptp(lengths) > 1e-4 for lengths in told.values()) >= 2
    assert [event.name.rsplit(" ", 1)[1] for event in run.events].count("yields") >= 3
    if run.events[-1].name.endswith("elastic"):
        assert run.dissipated[-1] == pytest.approx(lost, rel=1e-8)
    balance = run.energy + run.dissipated - run.work
    np.testing.assert_allclose(balance, balance[0], rtol=0, atol=1e-7 * np.ptp(run.energy))


def test_a_strong_string_does_not_yield_and_a_continued_run_remembers() -> None:
    strong, plain = falling(400.0).simulate(1.0), falling(None).simulate(1.0)
    assert set(strong["plasticity"].command["s.rest_length"]) == {1.0}
    np.testing.assert_allclose(strong.final.r, plain.final.r, rtol=0, atol=1e-12)
    whole = falling().simulate(2.0, **TIGHT)
    for split in (0.5, 0.6, 1.0):  # elastic, while it yields, afterwards
        first = falling().simulate(split, **TIGHT)
        for state in (first.final, whole.at(split)):
            again = falling().simulate(2.0 - split, state=state, **TIGHT)
            assert again.final["ball"].position[2] == pytest.approx(
                whole.final["ball"].position[2], abs=1e-8
            )


def test_many_runs_yield_as_each_does_alone() -> None:
    system = falling()
    heights = [(0, 0, z) for z in (-0.4, -0.5, -0.7)]
    starts = [system.initial.replace({"ball": dict(position=at)}) for at in heights]
    runs = system.simulate_many(starts, duration=2.0)
    for k, start in enumerate(starts):
        alone = system.simulate(2.0, state=start)
        np.testing.assert_array_equal(runs[k].final.r, alone.final.r)


def test_a_start_beyond_the_limit_gives_way_at_once() -> None:
    ball = qp.Body.sphere("ball", 0.01, M, position=(0, 0, -1.2))
    string = qp.String("s", qp.GROUND, ball, stiffness=K, rest_length=1.0, limit_load=LIMIT)
    system = qp.Multibody(ball, string)
    run = system.simulate(0.5, **TIGHT)
    assert run.events[0].name == "s elastic"
    assert run["plasticity"].command["s.rest_length"][-1] == pytest.approx(1.2 - LIMIT / K)
    assert system.acceleration()[0, 2] == pytest.approx(LIMIT / M)


def test_a_system_that_yields_is_written_and_read() -> None:
    again = qp.from_json(qp.to_json(falling()))
    assert again.simulate(0.9).final == falling().simulate(0.9).final


def test_a_compressible_bar_yields_under_tension_and_compression() -> None:
    """Pushed and pulled by more than its limit: it becomes shorter, then longer."""
    bar = qp.CompressibleBar(
        "b", (0, 0, 0), (1, 0, 0), modulus=1e6, mass=0.3, radius=0.02, damping=9
    )
    foot = qp.Revolute("foot", qp.GROUND.site("o"), bar.first_tip)
    limit = 50.0
    push = qp.Load("push", bar.ends[1], force=qp.Sine((1.4 * limit, 0, 0), 2 * math.pi, math.pi))
    soft = qp.tensegrities.yielding(qp.Multibody(*bar, foot, push), {"b elasticity": limit})
    run = soft.simulate(1.5)
    rest = run["plasticity"].command["b elasticity.rest_length"]
    assert rest.min() < 0.99
    assert (np.diff(rest)[:3] * (-1, 1, -1) > 0.01).all()
    assert abs(run["b elasticity"].tension).max() < 1.5 * limit


def test_what_does_not_yield_is_refused() -> None:
    system = falling(None)
    for limits, sentence in (
        ({}, "limits is empty"), ({"gravity": 1.0}, "'gravity' is no String"),
        ({"s": -1.0}, "limit of 's' is -1.0"), (["s"], r"limits is \['s'\], but must be a"),
    ):  # fmt: skip
        with pytest.raises(qp.PartError, match=f"yielding: {sentence}"):
            qp.tensegrities.yielding(system, limits)
    with pytest.raises(qp.PartError, match="looks for rest, and where that is depends on how 's'"):
        falling().settle()
    with pytest.raises(qp.PartError, match="a part is called 'plasticity'"):
        qp.Multibody(*falling().parts, qp.Body.sphere("plasticity", 0.1, 1.0, position=(9, 0, 0)))
