"""What taking hold and letting go cost: in edges, plans, replays and the power that these chart."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from demos.cubesat_pair import SIDE, STIFFNESS, a, b, face
from quirkpy.explore.graph import ReconfigurationGraph
from quirkpy.views import curves
from tests.faults.sentence import check_sentence

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
    """What changes, from what holds at the node to what is chosen, and the locks on contact."""
    held, drawn = dict(graph.nodes[edge.source].joints), 0.0
    for pair, label in edge.selection.joints:
        if held.get(pair) != label:
            drawn += COSTS[label][0] if label in COSTS else 0.0
            drawn += COSTS[held[pair]][1] if pair in held else 0.0
            held[pair] = label
    for _, pair in edge.contacts:
        drawn += COSTS["lock"][0] + (COSTS[held[pair]][1] if held.get(pair) in COSTS else 0.0)
    return drawn


def test_edges_tell_what_their_joints_draw(graph: ReconfigurationGraph) -> None:
    assert len(graph.nodes) == 2
    for edge in graph.edges:
        assert edge.changing == pytest.approx(by_hand(graph, edge), abs=1e-15)
    stays = [edge for edge in graph.edges if edge.changing == 0.0]
    assert stays
    plain = costly(qp.Lock()).explore(progress=False)
    assert [edge.kind for edge in plain.edges] == [edge.kind for edge in graph.edges]
    assert [node.id for node in plain.nodes.values()] == [n.id for n in graph.nodes.values()]


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
