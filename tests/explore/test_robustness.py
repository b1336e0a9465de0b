"""How sure an edge is: against thresholds that are known in closed form."""

from __future__ import annotations

import dataclasses
import json
import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import networkx
import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binomtest

import quirkpy as qp
from demos.cubesat_pair import DAMPING, SIDE, STIFFNESS, pair
from quirkpy.explore.answers import robustness
from quirkpy.explore.model.chances import Robustness
from quirkpy.explore.run.variations import share_a_loop
from quirkpy.motion.move import move
from tests.faults.sentence import check_refused
from tests.random_studies import random_study
from tests.random_systems import seeds
from tests.studies import balanced, changed, far_pair

STILL = qp.Spread(start=0.0, mass=0.0, strength=0.0)
#: The truth lies within these intervals; a test fails by chance once in ten thousand times, and
#: seeds are fixed.
SURE = 0.9999


def spread(**fields: float) -> qp.Spread:
    return qp.Spread(**({"start": 0.0, "mass": 0.0, "strength": 0.0} | fields))


@pytest.fixture(scope="module")
def far() -> qp.ReconfigurationGraph:
    return far_pair().explore()


def edge_of(graph: qp.ReconfigurationGraph, source: str, target: str) -> qp.Edge:
    return next(edge for edge in graph.moves() if (edge.source, edge.target) == (source, target))


# --- truths ---------------------------------------------------------------------------------------
def test_as_written_every_edge_leads_where_it_leads(far: qp.ReconfigurationGraph) -> None:
    for graph in (far, pair().explore()):
        for edge in [edge for edge in graph.edges if edge.target is not None]:
            assert graph.robustness(edge, 1, spread=STILL).outcomes == ((edge.target, 1),)


def test_the_speed_at_which_an_unstable_start_turns_back() -> None:
    """B straight beyond the hinge, opened by a nudge x: it falls open unless it moves back faster
    than the stable motion of I x'' + c x' - k R^2 x = 0 does, and else shuts and stays."""
    nudge, sigma = 1e-3, 1.5e-4
    graph = changed(pair(), nudge=nudge).explore()
    edge = next(graph.moves())
    moment, pull = SIDE**2 / 6.0 + SIDE**2 / 2.0, STIFFNESS * SIDE**2 / 2.0
    threshold = nudge * (DAMPING + math.sqrt(DAMPING**2 + 4.0 * moment * pull)) / (2.0 * moment)
    found = graph.robustness(edge, 400, spread=spread(speed=sigma), seed=3)
    low, high = found.interval(SURE)
    assert low < ndtr(threshold / sigma) < high
    assert {label for label, _ in found.outcomes} == {"n0", "n1"}
    speed = {m.parameter: m for m in graph.margins(edge, spread(speed=0.01), resolution=1e-4)}[
        "speed 1"
    ]
    changes = [
        (at, to)
        for at, to in ((speed.low, speed.below), (speed.high, speed.above))
        if at is not None
    ]
    assert len(changes) == 1  # the other way it only falls faster
    assert abs(changes[0][0]) == pytest.approx(threshold, abs=2.0 * speed.resolution)
    assert changes[0][1] == "n0"


def test_how_far_a_hinge_may_stand_from_its_place(far: qp.ReconfigurationGraph) -> None:
    """Half a turn about a hinge that stands d aside carries a face 2 d aside; sensors meet within
    their reach, while the faces are aligned: the last `alignment` of the turn, in which the middle
    of the face still comes up."""
    reach, alignment, sigma = 1e-3, 1e-2, 3e-4
    steps = np.linspace(-3e-3, 3e-3, 1201)
    x, y = np.meshgrid(steps, steps)
    early = np.clip(2.0 * y, 0.0, 0.5 * SIDE * alignment)
    meets = np.hypot(2.0 * x, 2.0 * y - early) <= reach
    weight = np.exp(-(x**2 + y**2) / (2.0 * sigma**2))
    truth = float(weight[meets].sum() / weight.sum())
    edge = edge_of(far, "n0", "n2")
    low, high = far.robustness(edge, 500, spread=spread(hinge=sigma)).interval(SURE)
    assert low < truth < high
    assert high - low < 0.15
    margins = {m.parameter: m for m in far.margins(edge, spread(hinge=4e-3), resolution=1e-3)}
    assert len(margins) == 3
    free, *bound = sorted(margins.values(), key=lambda m: m.low is not None)
    assert (free.low, free.high) == (None, None)  # along its axis a hinge may stand anywhere
    sides = sorted(abs(value) for m in bound for value in (m.low, m.high) if value is not None)
    np.testing.assert_allclose(sides, [5e-4, 5e-4, 5e-4, 7.5e-4], atol=3e-5)


def tug(first: float, second: float) -> qp.Study:
    """The balanced pair between two wells that mirror each other: the stronger one has it."""
    study = balanced()
    arm = study.system["arm"]
    assert isinstance(arm, qp.Body)
    wells = [
        qp.PotentialWell("left", arm, centre=(-0.1, 0.3, 0.0), stiffness=first),
        qp.PotentialWell("right", arm, centre=(-0.3, 0.1, 0.0), stiffness=second),
    ]
    return changed(study, potentials={"tug": wells})


def test_which_of_two_wells_is_the_stronger() -> None:
    graph = tug(0.05, 0.06).explore(budget=2)
    edge = next(graph.moves())
    margins = {m.parameter: m for m in graph.margins(edge, spread(strength=0.5), resolution=2e-3)}
    ratio = math.log(0.06 / 0.05)
    left, right = margins["strength of tug: left"], margins["strength of tug: right"]
    assert left.high == pytest.approx(ratio, abs=2.0 * left.resolution)
    assert right.low == pytest.approx(-ratio, abs=2.0 * right.resolution)
    assert (left.low, right.high) == (None, None)
    assert left.above == right.below != edge.target


def test_starts_that_shut_faces_forbid_are_drawn_again(far: qp.ReconfigurationGraph) -> None:
    edge = edge_of(far, "n0", "n2")
    found = far.robustness(edge, 40, spread=spread(start=1e-3))
    assert found.outcomes == (("n2", 40),)
    margin = far.margins(edge, spread(start=0.01))[0]
    assert sorted([margin.below or "", margin.above or ""]) == ["", "blocked"]
    blocked = margin.low if margin.below else margin.high
    assert abs(blocked or 1.0) <= margin.resolution


@pytest.mark.parametrize(("k", "n"), [(0, 10), (3, 10), (10, 10), (1, 1000), (999, 1000)])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.999])
def test_intervals_are_those_of_clopper_and_pearson(k: int, n: int, confidence: float) -> None:
    found = Robustness("n1", n, (("n1", k), ("n0", n - k)), STILL, 0)
    expected = binomtest(k, n).proportion_ci(confidence, "exact")
    np.testing.assert_allclose(
        found.interval(confidence), (expected.low, expected.high), atol=1e-12
    )
    assert found.probability == k / n


def test_samples_flown_together_are_those_flown_one_by_one(
    far: qp.ReconfigurationGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results, reasons included, of samples of which some end elsewhere or are rejected."""
    edge, counts = edge_of(far, "n0", "n2"), []
    wide = qp.Spread(start=0.02, speed=0.02, mass=0.2, strength=0.3, hinge=4e-4)
    flown: list[int] = []
    fly = robustness.Flights._fly_first
    monkeypatch.setattr(
        robustness.Flights, "_fly_first", lambda me, xs: flown.append(len(xs)) or fly(me, xs)
    )
    for many in (1, 10**6):
        monkeypatch.setattr(robustness, "MANY", many)
        counts.append(far.robustness(edge, 100, spread=wide, seed=7))
    assert sum(flown) == 100
    assert (counts[0].outcomes, counts[0].reasons) == (counts[1].outcomes, counts[1].reasons)
    assert len(counts[0].outcomes) > 1


def test_first_motions_flown_together_are_whole(far: qp.ReconfigurationGraph) -> None:
    """Rows, events and jumps of each, to the bit, also where joints take hold at a start; none has
    to be flown again."""
    edge = edge_of(far, "n0", "n2")
    flights = robustness.Flights(
        far.study, far.nodes[edge.source], edge.selection, edge.nudge, robustness.goals_of(far),
        1e-2, edge.target,
    )  # fmt: skip
    little = qp.Spread(start=1e-3, speed=1e-5, mass=0.01, strength=0.02, hinge=1e-5)
    block = list(flights.variations.draw(little, 0, range(20)))
    for x, course in zip(block, flights._fly_first(block), strict=True):
        assert course is not None
        system, rule = flights.variations.at(x), flights.rule
        run = move(system, rule.duration, flights._settings, rule.stop, False)
        for mine, theirs in zip(course, run.course, strict=True):
            np.testing.assert_equal(mine, theirs)
        assert course.jumps


def test_samples_that_rest_elsewhere_say_why(far: qp.ReconfigurationGraph) -> None:
    """Whatever reaches no node has a reason."""
    wide = qp.Spread(start=0.02, speed=0.02, mass=0.2, strength=0.3, hinge=4e-4)
    found = far.robustness(edge_of(far, "n0", "n2"), 100, spread=wide, seed=7)
    reached = sum(count for name, count in found.outcomes if name in far.nodes)
    assert reached < 100
    assert sum(count for _, count in found.reasons) == 100 - reached


# --- kept, shared, planned with -------------------------------------------------------------------
WIDE = qp.Spread(hinge=3e-4, speed=1e-3)


def test_samples_do_not_depend_on_who_flies_them(far: qp.ReconfigurationGraph) -> None:
    edge = edge_of(far, "n0", "n2")
    alone = far.robustness(edge, 60, spread=WIDE, seed=5)
    with ThreadPoolExecutor(3) as pool:
        assert far.robustness(edge, 60, spread=WIDE, seed=5, workers=pool) == alone
    assert far.robustness(edge, 60, spread=WIDE, seed=6) != alone


@pytest.mark.slow
def test_samples_are_the_same_in_other_processes(far: qp.ReconfigurationGraph) -> None:
    edge = edge_of(far, "n0", "n2")
    alone = far.robustness(edge, 100, spread=WIDE)
    assert far.robustness(edge, 100, spread=WIDE, workers=2) == alone


def test_what_is_known_of_an_edge_is_kept(tmp_path: Path) -> None:
    study, path = far_pair(), tmp_path / "pair.db"
    graph = study.explore(path)
    before = graph.to_json()
    found = graph.robustness(edge_of(graph, "n0", "n2"), 20, spread=WIDE)
    assert edge_of(graph, "n0", "n2").robustness == found
    assert graph.to_json() != before
    for again in (qp.ReconfigurationGraph.load(path), study.explore(path)):
        assert again.to_json() == graph.to_json()
        assert edge_of(again, "n0", "n2").robustness == found
        assert edge_of(again, "n0", "n1").robustness is None


def test_the_surest_way_is_not_the_shortest() -> None:
    graph = far_pair().explore()
    with pytest.raises(qp.PartError, match=r"cannot be reached.*risk of 6 edges is not known"):
        graph.plan("n0", "n2", cost="risk")

    def known(source: str, target: str, k: int) -> None:
        edge = edge_of(graph, source, target)
        at = graph.edges.index(edge)
        found = Robustness(target, 100, ((target, k), ("elsewhere", 100 - k)), STILL, 0)
        graph.edges[at] = qp.Edge(edge.source, edge.selection, edge.outcomes, edge.kind, found)

    known("n0", "n2", 50)
    assert graph.plan("n0", "n2", cost="risk").nodes == ("n0", "n2")
    known("n0", "n1", 99)
    known("n1", "n2", 98)
    plan = graph.plan("n0", "n2", cost="risk")
    assert plan.nodes == ("n0", "n1", "n2")
    lows = [edge.robustness.interval()[0] for edge in plan]
    assert plan.cost == pytest.approx(-math.log(math.prod(lows)), rel=1e-12)
    assert plan.probability == pytest.approx(0.99 * 0.98)
    assert graph.plan("n0", "n3").probability is None


def test_bad_questions_are_refused(far: qp.ReconfigurationGraph) -> None:
    edge, ask = edge_of(far, "n0", "n2"), far.robustness
    check_refused(lambda: ask(edge, 0), "robustness: samples is 0", ("from 1 up",))
    check_refused(lambda: ask(edge, workers="two"), "robustness: workers is 'two'", ("Executor",))  # type: ignore[arg-type]
    stranger = qp.Edge("n9", edge.selection, edge.outcomes, "moved")
    check_refused(lambda: ask(stranger), "robustness", ("is no edge of this",))
    rejected = next(edge for edge in far.edges if edge.kind == "rejected")
    check_refused(lambda: ask(rejected), "robustness", ("leads to no one node", "target="))
    check_refused(
        lambda: far.margins(edge, resolution=2.0),
        "margins: resolution is 2",
        ("share of the reach",),
    )
    check_refused(lambda: qp.Spread(mass=-0.1), "Spread: mass is -0.1", ())


def test_a_sample_that_cannot_be_flown_is_counted() -> None:
    """An error in flight is an outcome, not the end of the count: here factors are beyond what a
    float can be."""
    graph = far_pair().explore()
    found = graph.robustness(edge_of(graph, "n0", "n2"), 5, spread=spread(mass=1e6))
    assert dict(found.outcomes)["failed"] >= 1
    assert sum(dict(found.outcomes).values()) == found.samples == 5


# --- play ---------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def latching() -> qp.ReconfigurationGraph:
    """Two modules of which a second connector closes on a hinge that already holds them, about the
    same edge; connectors catch from 2 cm off."""
    study = random_study(4, modules=2, collisions=True)
    sensors = [dataclasses.replace(one, reach=0.02, alignment=0.2) for one in study.sensors]
    return changed(study, sensors=sensors).explore(progress=False)


@pytest.mark.parametrize("play", [1e-7, 1e-6, 1e-5, 1e-4, 1e-3])
def test_a_second_connector_closes_over_the_play_of_the_first(
    latching: qp.ReconfigurationGraph, play: float
) -> None:
    """Two hinges about one edge turn together as written.  If one of them stood aside for good,
    they would bind as soon as both are shut, and the samples rest wherever they have met."""
    closing = [
        edge
        for edge in latching.moves()
        if len(latching[edge.target].links) > len(latching[edge.source].links)
    ]
    assert len(closing) == 2
    for edge in closing:
        found = latching.robustness(edge, 4, spread=spread(hinge=play), seed=1, within=0.1)
        assert found.outcomes == ((edge.target, 4),)


@seeds(12, 12)
def test_loops_are_those_of_graph_theory(seed: int) -> None:
    """Two bars lie in one loop where NetworkX finds them in one biconnected component."""
    rng = np.random.default_rng(seed)
    bars = [tuple(rng.choice(6, 2, replace=False).tolist()) for _ in range(int(rng.integers(3, 9)))]
    graph = networkx.Graph(bars)
    parts = [set(map(frozenset, part)) for part in networkx.biconnected_component_edges(graph)]
    for k, one in enumerate(bars):
        for two in (bars[j] for j in range(len(bars)) if j != k):
            both = {frozenset(one), frozenset(two)}
            known = len(both) == 1 or any(both <= part for part in parts)
            assert share_a_loop(one, two, bars) == known


# --- collisions -----------------------------------------------------------------------------------
def watched(*others: qp.Body) -> qp.ReconfigurationGraph:
    """The pair, of which bodies must not run into each other nor into others."""
    study = far_pair(qp.NoCollision())
    return changed(study, system=qp.Multibody(*study.system.parts, *others)).explore(progress=False)


def test_the_play_of_a_hinge_is_no_collision() -> None:
    """Faces that touch by design overlap by twice the play, once the hinge has turned by half a
    turn."""
    graph = watched()
    for play in (1e-5, 1e-4):
        for edge in graph.moves():
            assert graph.robustness(edge, 20, spread=spread(hinge=play), seed=2).outcomes == (
                (edge.target, 20),
            )


def test_why_samples_fail_is_counted(tmp_path: Path) -> None:
    """A post reaches a millimetre into the way of the far corner, which is a collision whatever
    play the hinge has."""
    away = 0.5 * SIDE + (math.sqrt(2.0) * SIDE - 1e-3 + 0.02) / math.sqrt(2.0)
    graph = watched(qp.Body.sphere("post", 0.02, position=(away, -away, 0.0), fixed=True))
    edge = next(edge for edge in graph.edges if edge.kind == "jammed")
    found = graph.robustness(edge, 20, spread=spread(hinge=1e-5), target="n0")
    assert (found.outcomes, dict(found.reasons)) == ((("jammed", 20),), {"jams": 20})
    assert "20 jammed (20 jams)" in str(found)
    assert Robustness.of(json.loads(json.dumps(found.record()))) == found
    limited = far_pair(qp.Limit("speed", 0.04)).explore(tmp_path / "far.db", progress=False)
    fast = next(edge for edge in limited.moves() if edge.peak_speed > 0.03)
    told = limited.robustness(fast, 60, spread=spread(strength=0.4), seed=4)
    assert 0 < dict(told.reasons)["speed above 0.04"] == dict(told.outcomes)["rejected"] < 60
    kept = qp.ReconfigurationGraph.load(tmp_path / "far.db")
    assert next(e.robustness for e in kept.edges if e.robustness is not None) == told
