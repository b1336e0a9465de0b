"""What taking hold and letting go cost: in edges, plans, replays and the power that these chart."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import networkx
import numpy as np
import pytest

import quirkpy as qp
from demos.cubesat_pair import SIDE, STIFFNESS, a, b, face, pair
from demos.flux_pinned_layouts import layouts
from demos.lattice import lattice
from quirkpy.explore.graph import ReconfigurationGraph
from quirkpy.views import curves
from tests.explore.test_plans_are_flown import fly, loose
from tests.faults.sentence import check_sentence
from tests.studies import changed

#: Energies of taking hold and of letting go [J], and the power with which they are drawn [W].
COSTS = {"lock": (3.0, 1.0, 2.0), "hinge 1": (0.5, 0.25, None), "hinge 2": (0.7, 0.0, 0.1)}


def costly(lock: qp.Option | None = None) -> qp.Study:
    """The pair of CubeSats, whose connectors cost something."""

    def told(label: str) -> dict[str, Any]:
        return dict(zip(("energy", "release", "power"), COSTS[label], strict=True))

    faces = {"east": (1.0, 0.0, 0.0), "south": (0.0, -1.0, 0.0)}
    lock = qp.Lock(**told("lock")) if lock is None else lock
    return qp.Study(
        qp.Multibody(a, b),
        sensors=[
            face(a, "east", faces["east"], ("B west",)),
            face(a, "south", faces["south"], ("B south",)),
            face(b, "west", (-1.0, 0.0, 0.0), ("A east",)),
            face(b, "south", faces["south"], ("A south",)),
        ],
        options={
            ("A east", "B west"): [qp.Free(), lock, qp.Hinge(edge=1, **told("hinge 1"))],
            ("A south", "B south"): [qp.Free(), lock, qp.Hinge(edge=2, **told("hinge 2"))],
        },
        potentials={
            "none": [],
            "+x": [qp.PotentialWell("well", b, centre=(SIDE, 0.0, 0.0), stiffness=STIFFNESS)],
            "-y": [qp.PotentialWell("well", b, centre=(0.0, -SIDE, 0.0), stiffness=STIFFNESS)],
        },
        always=[qp.ViscousHinges(2e-4)],
        safety=[qp.StayTogether(), qp.Limit("speed", 0.5)],
    )


@pytest.fixture(scope="module")
def graph() -> ReconfigurationGraph:
    return costly().explore(progress=False)


def by_hand(graph: ReconfigurationGraph, edge: qp.Edge) -> float:
    """What changes, from what holds at the node to what is chosen, and the locks on contact, with
    which the hinge at the other face lets go."""
    held, drawn = dict(graph.nodes[edge.source].joints), 0.0
    for joint, label in edge.selection.joints:
        if held.get(joint) != label:
            drawn += COSTS[label][0] if label in COSTS else 0.0
            drawn += COSTS[held[joint]][1] if joint in held else 0.0
            held[joint] = label
    for _ in edge.contacts:
        drawn += COSTS["lock"][0]
        drawn += sum(COSTS[label][1] for label in held.values() if label.startswith("hinge"))
    return drawn


def charged(study: qp.Study, uneven: bool = False) -> qp.Study:
    """A study whose options cost something, hinges about each edge another sum where uneven."""

    def cost(option: qp.Option) -> qp.Option:
        if isinstance(option, qp.Lock):
            return replace(option, energy=3.0, release=1.0, power=2.0)
        more = 0.1 * (getattr(option, "edge", None) or 0) if uneven else 0.0
        return replace(option, energy=0.5 + more, release=0.25) if option.joins else option

    costs = {kinds: list(map(cost, options)) for kinds, options in study.options.items()}
    return changed(study, options=costs)


SMALL = {
    "far wells": lambda: charged(pair(0.2)),
    "far wells, uneven": lambda: charged(pair(0.2), uneven=True),
    "lattice of 3": lambda: charged(lattice(3)),
    "two pinned modules": lambda: charged(layouts(2)),
    "lattice of 3, all selections": lambda: charged(lattice(3, choosing=())),
}
LARGE = ("lattice of 3, all selections",)


@pytest.fixture(
    scope="module",
    params=[pytest.param(n, marks=pytest.mark.slow) if n in LARGE else n for n in SMALL],
)
def explored(request: pytest.FixtureRequest) -> ReconfigurationGraph:
    return SMALL[request.param]().explore(progress=False)


def test_flights_draw_what_plans_say(explored: ReconfigurationGraph) -> None:
    """Every pair of nodes, step by step, costs of joints included."""
    flown = 0
    for start, goal in itertools.permutations(explored.nodes, 2):
        if goal in explored.reachable(start):
            plan = explored.plan(start, goal)
            run = explored.replay(plan)
            assert run.supplied == pytest.approx(plan.energy, rel=1e-9)
            assert plan.energy == pytest.approx(plan.cost, rel=1e-12)
            for leg, energy in zip(run.legs, plan.energies, strict=True):
                assert leg.supplied == pytest.approx(energy, rel=1e-9)
            flown += 1
    assert flown == sum(len(explored.reachable(key)) for key in explored.nodes) > 0


def flown_steps(graph: ReconfigurationGraph) -> networkx.DiGraph:
    """Each move as it is flown after each other one that leads to its source, and as the first
    step, with what it then supplies [J]: what holds and acts follows from the step before alone."""
    out = networkx.DiGraph()
    for edge in graph.moves():
        (leg,) = graph.replay([edge]).legs
        out.add_edge((edge.source, None), (edge.target, id(edge)), weight=leg.supplied)
        for after in graph.moves():
            if after.source == edge.target:
                leg = graph.replay([edge, after]).legs[1]
                there = after.target, id(after)
                out.add_edge((edge.target, id(edge)), there, weight=leg.supplied)
    return out


def test_no_flight_is_cheaper_than_the_plan(explored: ReconfigurationGraph) -> None:
    steps = flown_steps(explored)
    for start in explored.nodes:
        least: dict[str, float] = {}
        steps.add_node((start, None))
        ways = networkx.single_source_dijkstra_path_length(steps, (start, None))
        for (node, _), supplied in ways.items():
            least[node] = min(supplied, least.get(node, math.inf))
        assert set(least) - {start} == set(explored.reachable(start))
        for goal in explored.reachable(start):
            assert explored.plan(start, goal).cost == pytest.approx(least[goal], rel=1e-9)


def test_edges_tell_what_their_joints_draw(graph: ReconfigurationGraph) -> None:
    assert len(graph.nodes) == 2
    for edge in graph.edges:
        assert edge.changing == pytest.approx(by_hand(graph, edge), abs=1e-15)
    stays = [edge for edge in graph.edges if edge.changing == 0.0]
    assert stays
    plain = costly(qp.Lock()).explore(progress=False)
    assert [edge.kind for edge in plain.edges] == [edge.kind for edge in graph.edges]
    assert [node.id for node in plain.nodes.values()] == [n.id for n in graph.nodes.values()]


def test_turned_modules_make_no_difference_to_what_plans_cost() -> None:
    """Cubes that stand turned by quarters are the same cubes; their faces are others by name."""
    found = []
    for turns in ((0, 0, 0), (1, 2, 0), (3, 0, 1)):
        graph = charged(lattice(3, turns)).explore(progress=False)
        ways = [(a, b) for a in graph.nodes for b in graph.reachable(a)]
        found.append(sorted(graph.plan(*ends, k=3)[-1].energy for ends in ways))
        found[-1] += sorted(graph.plan(*ends).energy for ends in ways)
    np.testing.assert_allclose(found[1:], [found[0]] * 2, rtol=1e-9)


def test_modules_whose_hinges_cost_otherwise_are_not_alike() -> None:
    """Turned round, a pair of cubes has its first hinge where the second was."""
    graph = charged(lattice(3), uneven=True).explore(progress=False)
    follow = [[a, b] for a, b in itertools.product(graph.moves(), repeat=2) if a.target == b.source]
    with pytest.raises(qp.PartError, match="or in what their options cost"):
        list(map(graph.replay, follow))


@pytest.mark.slow
def test_flights_on_hinges_alone_draw_what_plans_say() -> None:
    """What is held by one hinge shuts otherwise than what is held by the other, and costs so."""
    graph = charged(loose(), uneven=True).explore(progress=False)
    assert fly(graph, itertools.permutations(graph.nodes, 2)) > 20


def test_plans_and_replays_count_it(graph: ReconfigurationGraph) -> None:
    plan = graph.plan("n0", "n1")
    run = graph.replay(plan)
    drawn = math.fsum(edge.changing for edge in plan.edges)
    assert drawn > 3.0
    assert plan.energy > drawn
    assert run.supplied == pytest.approx(plan.energy, rel=1e-9)
    assert run.changed[-1] == pytest.approx(drawn, abs=1e-12)
    assert (np.diff(run.changed) >= 0.0).all()
    assert math.fsum(change.energy for change in run.changes) == pytest.approx(drawn)
    ledger = run.energy + run.dissipated + run.lost - run.work - run.switched
    assert np.ptp(ledger) < 1e-8  # of the motion, of which this is no part


def test_the_chart_of_power_has_their_spikes(graph: ReconfigurationGraph) -> None:
    run = graph.replay(graph.plan("n0", "n1"))
    panels = {panel.title + panel.y_label: panel for panel in curves.power(run).panels}
    (spikes,) = (panel for name, panel in panels.items() if name.startswith("Changing jointspower"))
    (line,) = spikes.lines
    unit = {"[W]": 1.0, "[mW]": 1e-3}[spikes.y_label.split()[-1]]
    area = float(np.trapezoid(line.values, spikes.x)) * unit
    stated = [change for change in run.changes if change.power is not None]
    assert area == pytest.approx(math.fsum(change.energy for change in stated), rel=1e-12)
    assert line.values.max() * unit == pytest.approx(2.0)
    lasting = max(change.lasts for change in stated)
    assert lasting == pytest.approx(1.5)


def test_a_lock_that_holds_as_it_finds(graph: ReconfigurationGraph) -> None:
    """It leaves the pair where its sensors met, beside where the lock would have drawn it."""
    found = costly(qp.Lock.here(energy=3.0)).explore(progress=False)
    assert qp.Lock.here().label == "lock here"
    assert qp.Lock.here(power=2.0) == qp.Lock(as_found=True, power=2.0)
    assert len(found.nodes) >= 2
    one, two = (g.nodes["n1"].state.r for g in (graph, found))
    off = float(abs(one - two).max())
    assert 1e-9 < off < 2e-3
    assert qp.from_json(qp.to_json(costly(qp.Lock.here()))).digest == costly(qp.Lock.here()).digest


@pytest.mark.parametrize(
    ("fields", "words"),
    [({"energy": -1.0}, "energy is -1"), ({"power": 0.0}, "power is 0"), ({"release": "x"}, "x")],
)
def test_costs_that_cannot_be_are_refused(fields: dict[str, Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words) as caught:
        qp.Lock(**fields)
    check_sentence(str(caught.value), "Lock", ())
