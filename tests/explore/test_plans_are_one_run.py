"""A plan is one run with switches: it repeats the replay, which flies step by step."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from demos.cubesat_pair import pair
from demos.flux_pinned_layouts import layouts
from demos.lattice import lattice
from quirkpy.explore.graph import ReconfigurationGraph
from tests.explore.test_whole_turns import wing
from tests.faults.sentence import check_refused
from tests.random_systems import seeds


def compare(graph: ReconfigurationGraph, plan: Any) -> int:
    """The run and the replay at the end of every step, in their ledgers and impulses; how many
    locks took hold on the way."""
    flown = graph.replay(plan)
    one = graph.one_run(flown)
    run = one.system.simulate(one.duration, switches=one.switches, progress=False, **one.tolerances)
    assert len(run.pieces) == len(one.switches) + 1
    named = {event.name: event.t for event in run.events}
    assert named["arrived"] == pytest.approx(flown.t[-1], rel=1e-6)
    begun = [switch for switch in one.switches if isinstance(switch.when, qp.Settled)]
    assert len(begun) == len(flown.legs) + sum(
        at.t > 0.0 for leg in flown.legs for at in leg.leavings
    )
    for leg in flown.legs[1:]:
        t = min((event.t for event in run.events), key=lambda at: abs(at - leg.t))
        assert abs(run.at(t).r - flown.at(leg.t).r).max() < 2e-6  # nudges among them
    assert abs(run.final.r - flown.final.r).max() < 1e-8
    ledger = run.energy + run.dissipated + run.lost + run.projected - run.work - run.switched
    assert abs(ledger - ledger[0]).max() < 1e-8
    for name in ("dissipated", "work"):
        ends = (getattr(some, name)[-1] for some in (run, flown))
        assert np.ptp(list(ends)) < 1e-7, name
    taken = (
        run.lost[-1] + run.projected[-1] - run.switched[-1]
    )  # springs of hinges that let go, too
    flown_taken = flown.lost[-1] - flown.switched[-1] + flown.switched[0]
    assert taken == pytest.approx(flown_taken, abs=1e-7)
    return sum(isinstance(switch.when, qp.SensorsMeet) for switch in one.switches)


@seeds(3, 2)
@pytest.mark.parametrize(
    "make", [pair, lambda: lattice(3), lambda: lattice(4)], ids=["pair", "three", "four"]
)
def test_a_plan_repeats_its_replay(make: Any, seed: int) -> None:
    graph = make().explore(progress=False)
    rng = np.random.default_rng(seed)
    ways = [
        (start, goal)
        for start, goal in itertools.permutations(graph.nodes, 2)
        if goal in graph.reachable(start)
    ]
    plans = [graph.plan(*ways[k]) for k in rng.permutation(len(ways))[:4]]
    assert sum(compare(graph, plan) for plan in plans) > 0


@pytest.mark.filterwarnings("ignore:.*rest_angle is:quirkpy.PartWarning")
@pytest.mark.parametrize("angle", [math.pi, -math.pi, 3.0 * math.pi])
def test_short_steps_arrive_too(angle: float) -> None:
    """Of few steps, and of as many as a rest takes to show; of springs that feel whole turns."""
    graph = wing(angle, 0, fixed=angle > 0.0).explore(progress=False)
    for edge in graph.moves():
        compare(graph, [edge])


def test_it_is_flown_with_the_tolerances_of_the_study() -> None:
    """Coarser ones than those of any run."""
    graph = layouts(2).explore(progress=False)
    compare(graph, [next(graph.moves())])


def test_what_is_no_single_run_is_refused() -> None:
    """Pins that are frozen anew: there, back, and there again."""
    pins = layouts(2).explore(progress=False)
    there = next(pins.moves())
    back = pins.plan(there.target, there.source)
    check_refused(
        lambda: pins.one_run([there, *back, there]), "one_run", ("made anew", "single part")
    )
