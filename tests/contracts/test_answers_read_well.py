"""What is handed out reads well where it is printed, and what is handed on is understood."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import quirkpy as qp
from demos.cubesat_pair import pair
from quirkpy.explore.graph import ReconfigurationGraph

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
    lines = str(table).split("\n")
    assert [line.split(":")[0] for line in lines] == [
        f"{one} -> {two}" for one, _, two in table.rows
    ]
    assert all(str(table[line.split()[0]]) in line for line in lines)


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
