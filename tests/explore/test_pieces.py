"""What comes apart is named by what is loose, not by what it was held to."""

from __future__ import annotations

import pytest

import quirkpy as qp
from demos.cubesat_pair import a, b, study
from quirkpy.explore.safety import pieces_of


def test_the_loose_body_is_named() -> None:
    graph = study.explore(progress=False)
    told = {edge.parts for edge in graph.edges if edge.kind == "rejected"}
    assert told == {("B",)}


@pytest.mark.parametrize("joined", [False, True])
def test_pieces_begin_with_what_stands_on_the_ground(joined: bool) -> None:
    c = qp.Body.box("C", size=(0.1, 0.1, 0.1), mass=1.0, position=(0.2, 0.0, 0.0))
    joints = [qp.Fixed("bc", b, c, at=(0.15, 0.0, 0.0))] if joined else []
    pieces = pieces_of(qp.Multibody(a, b, c, *joints))
    assert pieces == ([("ground",), ("B", "C")] if joined else [("ground",), ("B",), ("C",)])
