"""What comes apart is named by what is loose, not by what it was held to."""

from __future__ import annotations

import pytest

import quirkpy as qp
from demos.cubesat_pair import a, b, study
from quirkpy.explore.scope.safety import pieces_of
from tests.studies import changed


def test_the_loose_body_is_named() -> None:
    graph = study.explore(progress=False)
    told = {edge.parts for edge in graph.edges if edge.kind == "rejected"}
    assert told == {("B",)}


class NoPull(qp.Safety):
    """Refuses every well before anything moves."""

    def before(self, system: qp.Multibody) -> qp.Violation | None:
        pulls = [part.name for part in system.parts if isinstance(part, qp.PotentialWell)]
        return qp.Violation("pulls", 0.0, tuple(pulls)) if pulls else None

    def first(self, run: qp.Trajectory) -> qp.Violation | None:
        assert self.before(run.system) is None, "it was refused before, so there is no run"
        return None


def test_what_a_system_alone_tells_needs_no_run() -> None:
    graph = changed(study, safety=[NoPull(), *study.safety]).explore(progress=False)
    refused = {edge.selection.potential for edge in graph.edges if edge.reason == "pulls"}
    assert refused == {"+x", "-y"}
    assert graph.kinds == {"rejected": 7, "stayed": 2}  # of nine choices: six wells, and coming apart under none
    assert [edge.switching for edge in graph.edges if edge.selection.potential == "-y"] == pytest.approx(3 * [5e-4])


@pytest.mark.parametrize("joined", [False, True])
def test_pieces_begin_with_what_stands_on_the_ground(joined: bool) -> None:
    c = qp.Body.box("C", size=(0.1, 0.1, 0.1), mass=1.0, position=(0.2, 0.0, 0.0))
    joints = [qp.Fixed("bc", b, c, at=(0.15, 0.0, 0.0))] if joined else []
    pieces = pieces_of(qp.Multibody(a, b, c, *joints))
    assert pieces == ([("ground",), ("B", "C")] if joined else [("ground",), ("B",), ("C",)])
