"""What is handed out reads well where it is printed, and what is handed on is understood."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

import quirkpy as qp
from demos.cubesat_pair import pair
from quirkpy.explore.answers.plan import Plan
from quirkpy.explore.graph import ReconfigurationGraph
from quirkpy.views import listings

HUB = qp.Body.box("hub", (0.1, 0.1, 0.1), 1.0, fixed=True)
ARM = qp.Body.box("arm", (0.1, 0.1, 0.1), 1.0, position=(0.1, 0, 0))
HINGE = qp.Revolute("hinge", HUB, ARM, at=(0.05, -0.05, 0), axis=(0, 0, 1))
SPRUNG = qp.Multibody(HUB, ARM, HINGE, qp.HingeSpring("spring", HINGE, stiffness=0.1, damping=1e-2))


@pytest.fixture(scope="module")
def graph() -> ReconfigurationGraph:
    """The four shapes of two cubes."""
    return pair(0.2).explore(progress=False)


def test_a_flight_table_has_a_line_for_each_node(graph: ReconfigurationGraph) -> None:
    table = graph.table("n1")
    title, _, *lines = str(table).split("\n")
    assert title == repr(table) == "FlightTable(3 nodes with a way to n1)"
    assert [line.split()[:2] for line in lines] == [[one, two] for one, _, two in table.rows]
    assert all(table[line.split()[0]].held in line for line in lines)
    page = table._repr_html_()
    assert (page.count("<tr>"), page.count("<td"), page.count("<th ")) == (4, 12, 4)


def test_a_plan_says_where_its_energy_goes(graph: ReconfigurationGraph) -> None:
    plan = graph.plan("n2", "n1")
    title, head, *lines, sums = str(plan).split("\n")
    assert (title, repr(plan)) == (plan.headline, f"Plan({plan.headline})")
    assert head.split()[5:] == ["switching", "driving", "holding", "dissipated", "selection"]
    for line, edge, time, spent in zip(lines, plan, plan.times, plan.spent, strict=True):
        assert line.endswith(str(edge.selection))
        numbers = [float(word) for word in line.split()[3:9]]
        assert numbers == pytest.approx([time, spent.supplied, *spent], rel=1e-4)
        assert spent.dissipated == edge.dissipated > 0.0
    wanted = [plan.time, plan.energy, *plan.spending]
    assert [float(word) for word in sums.split()[2:]] == pytest.approx(wanted, rel=1e-4)
    assert sum(plan.spending[:3]) == pytest.approx(plan.energy, rel=1e-14)
    assert plan.record()["dissipated"] == plan.spending.dissipated == sums_of(plan, "dissipated")


def sums_of(plan: Plan, figure: str) -> float:
    """The sum of a figure of all edges of a plan."""
    return math.fsum(getattr(edge, figure) for edge in plan)


def test_what_is_handed_out_is_short_and_prints_as_a_table(graph: ReconfigurationGraph) -> None:
    pytest.importorskip("matplotlib")
    run = SPRUNG.simulate(0.1)
    for thing in (graph.nodes["n1"], graph.edges[0], graph.study, run, graph.plan("n2", "n1")):
        assert len(f"{thing!r}\n".splitlines()[0]) <= 120
        assert repr(thing).count("\n") == 0 < str(thing).count("\n")
        assert thing._repr_html_().count("<div") == thing._repr_html_().count("</div>") > 0
    assert all(word in str(graph.study) for word in ("'well'", "SettleRule", "Hinge(2)", "Limit"))
    assert "slowest" not in str(dataclasses.replace(graph.nodes["n0"], frequencies=()))
    assert all(o.reason in str(edge) for edge in graph.edges for o in edge.outcomes)


def test_rounding_is_told_as_nothing() -> None:
    assert listings.joules(SPRUNG, 3.13e-30) == listings.joules(SPRUNG, 1.0, -1.0 - 2e-16) == "0 J"
    assert listings.joules(SPRUNG, 3.13e-20) == "3.13e-20 J"


def test_numbers_go_with_their_nouns(graph: ReconfigurationGraph) -> None:
    assert str(graph.plan("n0", "n1")).split("\n")[0].endswith(" 1 switch")
    assert str(graph.plan("n0", "n0")).endswith(" 0 switches")
    assert repr(graph.study).startswith("Study(1 moving body, ")


def test_a_picture_says_how_it_is_kept(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    drawing = SPRUNG.picture(tmp_path / "one.png")
    assert repr(drawing).startswith("Drawing(")
    assert "save" in repr(drawing)


def test_a_rest_is_as_good_as_its_state_for_a_linear_model() -> None:
    rest = SPRUNG.settle()
    assert np.array_equal(SPRUNG.linearize(rest).A, SPRUNG.linearize(rest.state).A)


def test_states_in_the_place_of_others_are_shown_theirs() -> None:
    with pytest.raises(qp.PartError, match="in seconds, and where it begins as state="):
        SPRUNG.simulate(SPRUNG.initial)  # type: ignore[arg-type]
    with pytest.raises(qp.PartError, match=r"not a State, .*; give its \.state\."):
        SPRUNG.simulate(1.0, state=SPRUNG.settle())  # type: ignore[arg-type]
