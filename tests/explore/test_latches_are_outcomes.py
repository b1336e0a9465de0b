"""A latch in a study: a motion that comes by it ends there, in a shape that no potential leaves."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.explore.graph import ReconfigurationGraph
from quirkpy.views import curves

STOWED, HALF, CAUGHT = 0.3, -0.5, -1.0  # [rad]


def wing(latched: bool, release: float = 0.0) -> qp.Study:
    """A wing on a damped hinge that three potentials turn: in, half out, and beyond a latch; where
    that costs something to open, it belongs to the potential that turns the wing out."""
    hub = qp.Body.box("hub", (0.1, 0.1, 0.1), 1.0, fixed=True)
    arm = qp.Body.box("arm", (0.1, 0.1, 0.1), 1.0, position=(0.1, 0, 0))
    hinge = qp.Revolute("hinge", hub, arm, at=(0.05, -0.05, 0), axis=(0, 0, 1))
    latch = [qp.Latch("latch", hinge, at=CAUGHT, sense=-1, release=release, power=4.0)] * latched

    def towards(angle: float) -> list[qp.Force]:
        return [qp.HingeSpring("drive", hinge, stiffness=0.05, rest_angle=angle)]

    return qp.Study(
        qp.Multibody(hub, arm, hinge, *([] if release else latch)),
        sensors=[],
        options={},
        potentials={
            "in": towards(STOWED),
            "half": towards(HALF),
            "out": [*towards(-1.4), *(latch if release else [])],
        },
        always=[qp.ViscousHinges(5e-2)],
    )


def angles(graph: ReconfigurationGraph) -> dict[str, float]:
    return {key: float(node.rest.state["hinge"].angle) for key, node in graph.nodes.items()}


def test_a_motion_ends_where_it_is_caught_and_stays() -> None:
    graph, free = (wing(latched).explore(progress=False) for latched in (True, False))
    found = angles(graph)
    (caught,) = [key for key, angle in found.items() if abs(angle - CAUGHT) < 1e-9]
    node = graph.nodes[caught]
    assert node.rest.state.held == ("latch lower",)
    assert node.rest.verdict == node.verdict == "stable"
    ways_in = [edge for edge in graph.moves() if edge.target == caught]
    assert {edge.selection.potential for edge in ways_in} == {"out"}
    leaving = [edge for edge in graph.edges if edge.source == caught]
    assert [edge.kind for edge in leaving] == ["stayed"] * 3
    without = sorted(angles(free).values())
    np.testing.assert_allclose(without, [-1.4, HALF, 0.0, STOWED], rtol=0, atol=1e-6)
    run = graph.replay(graph.plan(ways_in[0].source, caught))
    assert [impact.joint for impact in run.impacts].count("latch") == 1
    ledger = run.energy + run.dissipated + run.lost - run.work - run.switched
    assert np.ptp(ledger) < 1e-8
    assert run.final["hinge"].angle == pytest.approx(CAUGHT, abs=1e-9)
    assert run["latch"].held[-1]


def test_it_rests_there_at_once() -> None:
    """Settled from its own place, whatever pulls, and along what is left."""
    study = wing(True)
    graph = study.explore(progress=False)
    (caught,) = [key for key, angle in angles(graph).items() if abs(angle - CAUGHT) < 1e-9]
    rest = graph.nodes[caught].rest
    assert rest.system is not None
    again = rest.system.settle()
    assert again.run is None
    assert again.state.held == ("latch lower",)
    assert again.modes == ()


def test_opening_it_costs_what_it_states() -> None:
    """In edges, plans, flights and their charts: wherever another potential leaves it out."""
    graph = wing(True, release=2.0).explore(progress=False)
    (caught,) = [key for key, angle in angles(graph).items() if abs(angle - CAUGHT) < 1e-9]
    for edge in graph.edges:
        opened = edge.source == caught and edge.selection.potential != "out"
        assert edge.changing == (2.0 if opened else 0.0)
    flown = 0
    for start, goal in itertools.permutations(graph.nodes, 2):
        if goal in graph.reachable(start):
            plan = graph.plan(start, goal)
            run = graph.replay(plan)
            assert run.supplied == pytest.approx(plan.energy, rel=1e-9)
            opened = [start, *plan.nodes[1:-1]].count(caught)
            assert run.changed[-1] == 2.0 * opened
            flown += opened
    assert flown > 0
    first = next(key for key in graph.reachable(caught) if caught in graph.reachable(key))
    run = graph.replay([*graph.plan(first, caught), *graph.plan(caught, first)])
    (change,) = run.changes
    assert change[1:] == ("latch", "latch", 2.0, 4.0)
    assert change.lasts == 0.5
    spikes = curves.power(run).panels[1]
    assert np.trapezoid(spikes.lines[0].values, spikes.x) == pytest.approx(2.0)
