"""An unstable rest is left along the modes that its certificate names, both ways, and what comes
then does not depend on how small the nudge is."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.explore.model.leaving import DEPARTURE
from quirkpy.explore.run import runner
from quirkpy.kernels.base.states import state_rows
from quirkpy.maths.types import Floats
from quirkpy.rest.settle import nudge_along
from quirkpy.rest.vicinity import Vicinity, displacement_between
from tests.random_systems import seeds
from tests.studies import balanced, changed

SIZE = 1e-6


def displacement(one: qp.State, two: qp.State) -> Floats:
    """From one state to another near by, of all bodies (n, 6)."""
    rows = (state_rows(state.r, state.q, state.v, state.omega) for state in (one, two))
    return displacement_between(*rows)


def cosine(one: Floats, two: Floats) -> float:
    return float((one * two).sum() / np.linalg.norm(one) / np.linalg.norm(two))


def column(seed: int) -> qp.Multibody:
    """Links on hinges and balls, one over the other or hanging, some of two bodies locked together,
    at rest by chance of no kind: every joint stands on the vertical through the first."""
    rng = np.random.default_rng([seed, 16])
    parts: list[Any] = [qp.Gravity((0.0, 0.0, -9.81))]
    before, at = qp.GROUND, np.zeros(3)
    for k in range(int(rng.integers(2, 6))):
        way, length = (1.0 if k == 0 or rng.uniform() < 0.6 else -1.0), float(rng.uniform(0.3, 1.0))
        turn = qp.rotation((0, 0, 1), float(rng.uniform(0.0, 6.0)))
        middle = at + (0.0, 0.0, 0.5 * way * length)
        inertia = rng.uniform(0.01, 0.1, 3) + 0.1
        link = qp.Body(
            f"b{k}",
            mass=float(rng.uniform(0.2, 3.0)),
            inertia=inertia,
            position=middle,
            orientation=turn,
        )
        x, y = rng.normal(size=2)
        joint = (
            qp.Revolute(f"j{k}", before, link, at=at, axis=(x, y, 0.0))
            if rng.uniform() < 0.7
            else qp.Spherical(f"j{k}", before, link, at=at)
        )
        parts += [link, joint]
        if rng.uniform() < 0.5:  # a second body, locked to the first
            more = qp.Body(
                f"c{k}", mass=0.3, inertia=(0.02, 0.03, 0.04), position=middle, orientation=turn
            )
            parts += [more, qp.Fixed(f"l{k}", link, more, at=middle)]
        before, at = link, at + (0.0, 0.0, way * length)
    return qp.Multibody(*parts)


@seeds(24, 8, attack=400)
def test_the_displacement_is_the_certified_mode(seed: int) -> None:
    """Read in a vicinity that was made anew, as whoever leaves the rest later has it."""
    system = column(seed)
    found = system.settle(nudge=0.0)
    assert found.verdict == "unstable"
    anew = Vicinity(system.clusters, found.state)
    for mode in found.unstable:
        for sense in (1.0, -1.0):
            state = nudge_along(anew, mode, sense * SIZE)
            assert state is not None
            moved = displacement(found.state, state)
            assert 1.0 - cosine(moved, sense * np.real(mode.shape)) < 1e-9
            assert np.linalg.norm(moved.reshape(-1, 3), axis=1).max() == pytest.approx(
                SIZE, rel=1e-6
            )


def unequal(seed: int) -> qp.Study:
    """Three cubes of different masses in a corner, which springs between all centres pull together
    or push apart."""
    rng, side, up = np.random.default_rng([seed, 3]), 0.1, (0.0, 0.0, 1.0)
    places = [(-0.5, 0.0), (0.5, 0.0), (0.5, 1.0)]
    cubes = [
        qp.Body.box(
            name,
            size=(side,) * 3,
            mass=float(rng.uniform(0.5, 2.0)),
            position=(side * x, side * y, 0.0),
        )
        for name, (x, y) in zip("ABC", places, strict=True)
    ]
    ways = {
        "east": (1.0, 0.0, 0.0),
        "north": (0.0, 1.0, 0.0),
        "west": (-1.0, 0.0, 0.0),
        "south": (0.0, -1.0, 0.0),
    }
    faces = [
        qp.Sensor(f"{cube.name} {name}", cube.site(name, at=[0.5 * side * c for c in z], z=z, x=up))
        for cube in cubes
        for name, z in ways.items()
    ]
    potentials = {
        name: [
            qp.Spring(
                f"{a.name}{b.name}",
                a,
                b,
                stiffness=float(rng.uniform(0.01, 0.03)),
                rest_length=rest,
            )
            for a, b in itertools.combinations(cubes, 2)
        ]
        for name, rest in (("together", 0.0), ("apart", 4.0 * side))
    }
    options = {("face", "face"): [qp.Free(), qp.Lock(), qp.Hinge(edge=1), qp.Hinge(edge=2)]}
    return qp.Study(
        qp.Multibody(*cubes), sensors=faces, options=options, potentials=potentials,
        always=[qp.ViscousHinges(2e-4)], safety=[qp.StayTogether()],
        settle=qp.SettleRule(evaluations=3e4),
    )  # fmt: skip


@seeds(3, 1, attack=60)
def test_studies_leave_every_mode_both_ways(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an exploration flies, beside the certificate of the rest from which it does."""
    rests: list[tuple[Any, list[tuple[float, bool]]]] = []

    def begun(study: Any, choice: Any, ended: Any, *rest: Any) -> Any:
        rests.append((ended.found, []))
        return of_a_rest(study, choice, ended, *rest)

    def watched(around: Vicinity, mode: qp.Mode, size: float) -> qp.State | None:
        state, (found, moves) = nudge_along(around, mode, size), rests[-1]
        k = next(k for k, known in enumerate(found.unstable) if known is mode)
        moves.append((math.copysign(1.0 + k, size), state is None))
        if state is not None:
            moved = displacement(found.state, state)
            assert (
                1.0 - cosine(moved, math.copysign(1.0, size) * np.real(found.unstable[k].shape))
                < 1e-9
            )
        return state

    of_a_rest = runner.leave
    monkeypatch.setattr(runner, "leave", begun)
    monkeypatch.setattr(runner, "nudge_along", watched)
    unequal(seed).explore(budget=120, progress=False, reductions=False)
    assert rests or seed > 1  # not every spacecraft comes by one
    for found, moves in rests:
        spirals = sum(mode.eigenvalue.imag < 0.0 for mode in found.unstable)
        ways = len(found.unstable) - spirals
        assert sorted(sense for sense, _ in moves) == sorted(
            (*range(-ways, 0), *range(1, ways + 1))
        )


# --- how long that takes --------------------------------------------------------------------------
NUDGES = 1e-8, 1e-6, 1e-4, 1e-3


def ridge(nudge: float, disturbance: float | None = None) -> qp.ReconfigurationGraph:
    """A cube on a hinge with a well straight beyond it, as it leaves that ridge."""
    return changed(balanced(), nudge=nudge, disturbance=disturbance).explore(progress=False)


def chances(graph: qp.ReconfigurationGraph) -> list[Any]:
    return [o for edge in graph.edges for o in edge.outcomes if o.leavings and o.target is not None]


def test_moving_does_not_depend_on_the_nudge_and_waiting_does_as_it_grows() -> None:
    found = {nudge: chances(ridge(nudge)) for nudge in NUDGES}
    first = found[NUDGES[0]]
    assert len(first) >= 2
    for nudge, others in found.items():
        for one, other in zip(first, others, strict=True):
            (at,), (there,) = one.leavings, other.leavings
            assert there.growth == pytest.approx(at.growth, rel=1e-9)
            assert there.bodies == at.bodies == ("arm",)
            later = math.log(nudge / NUDGES[0]) / at.growth
            assert at.waiting - there.waiting == pytest.approx(later, rel=1e-3)
            grown = (
                nudge / DEPARTURE
            ) ** 2 / at.growth  # it begins at rest, so that half of it dies out first
            assert abs(other.moving - one.moving) <= grown + 1e-6 * one.moving
            assert other.duration == pytest.approx(other.waiting + other.moving, rel=1e-15)


def test_waiting_is_until_a_body_is_a_centimetre_or_a_hundredth_of_a_radian_away() -> None:
    """The run itself, gone over by differences of poses."""
    graph = ridge(1e-6)
    edge = next(edge for edge in graph.edges if edge.kind == "ambiguous")
    source = graph.nodes[edge.source]
    begun = runner.begin(graph.study, source, edge.selection, graph.study.universe(source))
    assert isinstance(begun, runner.Begun)
    for ended, _ in runner.motions(graph.study, begun.system, begun.links, edge.selection):
        (leaving,) = ended.leavings
        run = ended.runs[0]
        away = displacement(run.at(0.0), run.at(leaving.waiting)).reshape(-1, 3)
        assert np.linalg.norm(away, axis=1).max() == pytest.approx(1e-2, rel=2e-3)  # to first order


def test_plans_by_time_count_the_moving_or_a_stated_disturbance() -> None:
    graph = ridge(1e-6)
    edge = next(edge for edge in graph.edges if edge.kind == "ambiguous")
    goal = edge.outcomes[0].target
    plan = graph.plan(edge.source, goal, cost="time", ambiguous=True)
    assert plan.time == plan.cost == edge.outcomes[0].moving
    for disturbance in (1e-7, 1e-5):
        stated = ridge(1e-6, disturbance)
        assert stated.study.digest == graph.study.digest  # it decides nothing but what plans count
        (at,) = edge.outcomes[0].leavings
        waited = at.waiting + math.log(1e-6 / disturbance) / at.growth
        assert stated.plan(edge.source, goal, cost="time", ambiguous=True).time == pytest.approx(
            plan.time + waited
        )
    with pytest.raises(qp.PartError, match="disturbance"):
        ridge(1e-6, -1.0)


def test_a_replay_takes_as_long_as_planned_beside_its_waiting() -> None:
    graph = ridge(1e-6)
    edge = next(edge for edge in graph.edges if edge.kind == "ambiguous")
    plan = graph.plan(edge.source, edge.outcomes[0].target, cost="time", ambiguous=True)
    run = graph.replay(plan)
    assert run.waiting > 0.0
    assert run.t[-1] - run.waiting == pytest.approx(plan.time, rel=1e-6)
    assert [length for _, length in run.waits] == [run.waiting]
    ledger = run.energy + run.dissipated + run.lost - run.work - run.switched
    np.testing.assert_allclose(ledger, ledger[0], atol=1e-9)
