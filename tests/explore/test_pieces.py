"""What comes apart is named by what is loose, not by what it was held to."""

from __future__ import annotations

import itertools
from typing import Any

import networkx
import numpy as np
import pytest

import quirkpy as qp
from demos.cubesat_pair import a, b, study
from quirkpy.explore.scope.safety import pieces_of
from tests.random_systems import seeds
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
    assert graph.kinds == {
        "rejected": 7,
        "stayed": 2,
    }  # of nine choices: six wells, and coming apart under none
    assert [
        edge.switching for edge in graph.edges if edge.selection.potential == "-y"
    ] == pytest.approx(3 * [5e-4])


@pytest.mark.parametrize("joined", [False, True])
def test_pieces_begin_with_what_stands_on_the_ground(joined: bool) -> None:
    c = qp.Body.box("C", size=(0.1, 0.1, 0.1), mass=1.0, position=(0.2, 0.0, 0.0))
    joints = [qp.Fixed("bc", b, c, at=(0.15, 0.0, 0.0))] if joined else []
    pieces = pieces_of(qp.Multibody(a, b, c, *joints))
    assert pieces == ([("ground",), ("B", "C")] if joined else [("ground",), ("B",), ("C",)])


def scattered(seed: int) -> tuple[qp.Multibody, networkx.Graph]:
    """Balls of very different masses that are pulled about, some in pieces, some on a post; and who
    is joined to whom.  What joints hold begins at rest."""
    rng = np.random.default_rng([seed, 3])
    names = [*(["post"] if rng.random() < 0.5 else []), *"ABCDEF"[: int(rng.integers(2, 7))]]
    graph = networkx.Graph()
    graph.add_nodes_from(names)
    for one, two in itertools.combinations(names, 2):
        if rng.random() < 0.25 and not networkx.has_path(graph, one, two):
            graph.add_edge(one, two)
    bodies, pulls = {}, []
    for name in names:
        speed = rng.normal(0.0, 0.0 if graph.degree[name] or name == "post" else 0.3, 3)
        mass, place = float(10.0 ** rng.uniform(-1.0, 1.0)), rng.uniform(-1.0, 1.0, 3).tolist()
        bodies[name] = body = qp.Body.sphere(
            name, 0.02, mass, position=place, velocity=speed.tolist(), fixed=name == "post"
        )  # fmt: skip
        if name != "post":
            pulls.append(
                qp.Load(f"pull {name}", body, force=(mass * rng.normal(0.0, 0.3, 3)).tolist())
            )
    joints = [
        qp.Spherical(one + two, bodies[one], bodies[two], at=bodies[two].position)
        for one, two in graph.edges
    ]
    return qp.Multibody(*bodies.values(), *joints, *pulls), graph


@seeds(24, 12, attack=1000)
def test_no_two_pieces_part_farther_than_allowed(seed: int) -> None:
    """Against mass centres of what a graph of joints holds together, for all pairs of pieces,
    looked at densely."""
    system, graph = scattered(seed)
    run = system.simulate(1.5, rtol=1e-10, atol=1e-12)
    pieces, begun = [sorted(piece) for piece in networkx.connected_components(graph)], run.at(0.0)

    def parted(t: float) -> dict[frozenset[tuple[str, ...]], float]:
        state, moved = run.at(t), dict[tuple[str, ...], Any]()
        for piece in pieces:
            masses: list[float] = [system[name].mass for name in piece]  # type: ignore[attr-defined]
            ways = [state[name].position - begun[name].position for name in piece if name != "post"]
            moved[tuple(piece)] = (
                np.zeros(3) if "post" in piece else np.average(ways, axis=0, weights=masses)
            )
        pairs = itertools.combinations(moved, 2)
        return {
            frozenset((one, two)): float(np.linalg.norm(moved[one] - moved[two]))
            for one, two in pairs
        }

    if len(pieces) == 1:
        assert qp.StayTogether(apart=1e-6).first(run) is None
        return
    times = np.linspace(0.0, 1.5, 301)
    far = np.array([max(parted(float(t)).values()) for t in times])
    for share in (0.1, 0.5, 0.9):
        found = qp.StayTogether(apart=share * float(far.max())).first(run)
        assert found is not None
        k = int(np.argmax(far > share * far.max()))
        assert times[k - 1] - 1e-6 <= found.t <= times[k] + 1e-6
        there = parted(found.t)
        assert max(there.values()) == pytest.approx(share * far.max(), rel=1e-6)
        worst = max(there, key=lambda both: there[both])
        loose = [piece for piece in worst if "post" not in piece]
        least = min(map(len, loose))
        assert set(found.parts) == {
            name for piece in loose if len(piece) == least for name in piece
        }
    assert qp.StayTogether(apart=1.001 * float(far.max()) + 1e-9).first(run) is None
