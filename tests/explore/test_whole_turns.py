"""Whole turns of the hinges of a study belong to its shapes: wound springs feel them, and half a
turn has either sign in the same pose."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.explore.graph import ReconfigurationGraph

#: What is done to the whole before it is written down: its turn and its shift [m].
COPIES: tuple[tuple[Any, tuple[float, float, float]], ...] = (
    (qp.rotation((0, 0, 1), 0.0), (0.0, 0.0, 0.0)),
    (qp.rotation((1, 2, -1), 2.1), (0.3, -7.0, 2.0)),
    (qp.rotation((-3, 1, 1), -0.7), (40.0, 0.1, -0.2)),
)
TURN = 2.0 * math.pi


def wing(angle: float, copy: int = 0, fixed: bool = True, **spring: float) -> qp.Study:
    """Two boxes on a hinge at some angle, and springs that rest a little further on in its sense, a
    little back, and one turn back."""
    turn, shift = COPIES[copy]
    size, edge, sense = (0.1, 0.1, 0.1), np.array([0.05, -0.05, 0.0]), math.copysign(1.0, angle)

    def put(point: Any) -> tuple[float, ...]:
        return tuple((turn * np.quaternion(0, *point) * turn.conjugate()).vec + shift)

    folded = qp.rotation((0, 0, 1), angle)
    arm_at = edge + (folded * np.quaternion(0, 0.05, 0.05, 0) * folded.conjugate()).vec
    hub = qp.Body.box("hub", size, 1.0, position=put((0, 0, 0)), orientation=turn, fixed=fixed)
    arm = qp.Body.box("arm", size, 2.0, position=put(arm_at), orientation=turn * folded)
    ends = (
        hub.site("edge", at=edge, z=(0, 0, 1)),
        arm.site("edge", at=(-0.05, -0.05, 0), z=(0, 0, 1)),
    )
    hinge = qp.Revolute("hinge", *ends)
    system = qp.Multibody(hub, arm, hinge)
    numbers = {"stiffness": 0.05, "damping": 0.02} | spring
    return qp.Study(
        system.at(system.initial.with_angles([angle])),
        sensors=[],
        options={},
        potentials={
            name: [qp.HingeSpring("spring", hinge, rest_angle=angle + sense * more, **numbers)]
            for name, more in (("on", 0.4), ("back", -0.3), ("unwound", -TURN))
        },
    )


def angles_of(graph: ReconfigurationGraph) -> list[float]:
    return sorted(float(node.rest.state["hinge"].angle) for node in graph.nodes.values())


@pytest.mark.filterwarnings("ignore:.*rest_angle is:quirkpy.PartWarning")
@pytest.mark.parametrize("fixed", [True, False], ids=["fixed", "free"])
@pytest.mark.parametrize("copy", range(len(COPIES)))
@pytest.mark.parametrize("turns", [0.5, -0.5, 1.5, -1.5, 1.0, -0.55])
def test_each_motion_begins_with_those_of_its_node(turns: float, copy: int, fixed: bool) -> None:
    """As written: at half a turn of either sign, and beyond it. Where the arm lies as before, but a
    whole turn back, that is another shape, and replays arrive in it."""
    angle = TURN * turns
    study = wing(angle, copy, fixed)
    graph = study.explore(progress=False)
    sense = math.copysign(1.0, angle)
    expected = sorted(angle + sense * more for more in (0.0, 0.4, -0.3, -TURN))
    np.testing.assert_allclose(angles_of(graph), expected, rtol=0, atol=1e-7)
    (root,) = [node for node in graph.nodes.values() if node.number == 0]
    assert root.rest.state["hinge"].angle == pytest.approx(angle, abs=1e-12)
    assert graph.near_misses == []
    unwound = next(edge for edge in graph.moves() if edge.selection.potential == "unwound")
    assert graph.nodes[unwound.target].id != root.id
    flown = graph.replay([unwound])
    went = flown["hinge"].angle
    np.testing.assert_allclose(went[[0, -1]], [angle, angle - sense * TURN], rtol=0, atol=1e-7)


def test_all_ways_of_exploring_agree(tmp_path: Any) -> None:
    """With reductions and without, from a journal, and of a study that was read."""
    study = wing(-0.5 * TURN, 1, fixed=False)
    graph = study.explore(tmp_path / "turns.db", progress=False)
    plain = study.explore(reductions=False, progress=False)
    assert plain.to_json() == graph.to_json() or angles_of(plain) == pytest.approx(angles_of(graph))
    assert qp.ReconfigurationGraph.load(tmp_path / "turns.db").to_json() == graph.to_json()
    again = qp.Study.read(study.document()).explore(progress=False)
    assert again.to_json() == graph.to_json()
    assert len(graph.compare(plain).shared) == len(graph.nodes) == 4
    assert study.digest != wing(0.5 * TURN, 1, fixed=False).digest


def test_a_damper_forgets_them() -> None:
    """No shape is another one for whole turns that nothing feels."""
    assert wing(0.3).turns.names == ("hinge",)
    study = wing(0.3, stiffness=0.0)
    assert study.turns.names == ()
    assert len(study.explore(progress=False).nodes) == 1


def folded(sense: float, copy: int) -> qp.Study:
    """A map of two by two panels, folded up, with springs in all creases that rest there, and
    others that open its columns, or press them on beyond half a turn."""
    options: dict[str, Any] = {"side": 0.5, "mass": 0.4, "thickness": 0.002}
    fold = qp.origami.map_fold(2, 2, fold=(sense * math.pi, sense * math.pi), **options)
    begun = fold.system.initial
    angles = {hinge: float(begun[hinge.name].angle) for hinge in fold.hinges}
    assert sorted(set(np.round(list(angles.values()), 12))) == [
        -round(math.pi, 12),
        round(math.pi, 12),
    ]
    held = [
        qp.HingeSpring(f"held {h.name}", h, stiffness=0.02, rest_angle=angle, damping=0.3)
        for h, angle in angles.items()
    ]
    turn, shift = COPIES[copy]
    there = {
        name: {
            "position": (turn * np.quaternion(0, *begun[name].position) * turn.conjugate()).vec
            + shift,
            "orientation": turn * begun[name].orientation,
        }
        for name in begun.bodies
    }
    system = fold.system.with_(*held)
    return qp.Study(
        system.at(begun.replace(there)),
        sensors=[],
        options={},
        potentials={
            name: [
                qp.HingeSpring(f"drive {h.name}", h, stiffness=0.05, rest_angle=share * angle)
                for h, angle in angles.items()
                if h.name.startswith("x")
            ]
            for name, share in (("open", 0.8), ("beyond", 1.3))
        },
    )


@pytest.mark.parametrize(("sense", "copy"), [(1.0, 0), (-1.0, 1), (1.0, 2)])
def test_a_folded_map_comes_to_rest_where_it_settles(sense: float, copy: int) -> None:
    """Creases at half a turn, of which every second one is at minus half a turn."""
    study = folded(sense, copy)
    graph = study.explore(progress=False)
    assert len(graph.nodes) == 3
    begun = {name: study.system.initial[name].angle for name in study.turns.names}
    root = graph["n0"].rest.state
    assert {name: root[name].angle for name in begun} == pytest.approx(begun, abs=1e-9)
    for name, forces in study.potentials.items():
        (edge,) = [e for e in graph.moves() if e.source == "n0" and e.selection.potential == name]
        found = graph.nodes[edge.target].rest.state
        settled = study.system.with_(*forces).settle(progress=False).state
        for hinge in begun:
            assert found[hinge].angle == pytest.approx(settled[hinge].angle, abs=1e-6)
