"""A study whose modules bend: shapes at rest with their modes, and one graph however it is made."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import quirkpy as qp

REACH = 1e-3


def docked() -> qp.Study:
    """A boom from the ground, and a cube at its tip that may be locked to it, pulled or not."""
    boom = qp.Beam("boom", start=(0.0, 0.0, 0.0), end=(1.0, 0.0, 0.0), EA=1e4, EI=2.0, GJ=2.0,
                   mass_per_length=0.3, modes=(0, 0, 2, 0), damping=0.3,
                   shapes="polynomials")  # fmt: skip
    cube = qp.Body.box("cube", (0.1, 0.1, 0.1), 0.5, position=(1.05, 0.0, 0.0))
    root = qp.Fixed("root", qp.GROUND.site("root"), boom.at(0.0))
    plane = qp.Planar("plane", qp.GROUND, cube, at=(1.05, 0.0, 0.0), axis=(0, 1, 0))
    ties = [
        qp.Spring(f"tie {k}", qp.GROUND, cube, at1=far, at2=near, stiffness=3.0, damping=3.0)
        for k, (far, near) in enumerate(
            [((1.1, 0, 1), (1.1, 0, 0.05)), ((1.1, 0, -1), (1.1, 0, -0.05)),
             ((2.0, 0, 0.05), (1.1, 0, 0.05)), ((2.0, 0, -0.05), (1.1, 0, -0.05))]
        )
    ]  # fmt: skip
    tip = boom.site("tip", at=boom.at(1.0).at, z=(1, 0, 0), x=(0, 0, 1))
    face = cube.site("face", at=(-0.05, 0, 0), z=(-1, 0, 0), x=(0, 0, 1))
    sensors = [
        qp.Sensor("tip", tip, kind="tip", accepts=("face",), reach=REACH, alignment=1e-2),
        qp.Sensor("face", face, kind="face", accepts=("tip",), reach=REACH, alignment=1e-2),
    ]
    pull = qp.PotentialWell("pull", cube, centre=(1.05, 0.0, 0.3), stiffness=2.0)
    return qp.Study(
        qp.Multibody(boom, cube, root, plane), sensors=sensors, always=ties,
        options={("tip", "face"): [qp.Free(), qp.Lock()]}, potentials={"none": [], "up": [pull]},
    )  # fmt: skip


def test_a_study_finds_bent_shapes_and_the_same_graph_again(tmp_path: Path) -> None:
    """Locked and pulled, the boom is bent as the same system settles by itself; two workers, and a
    journal read again, give the same graph."""
    study = docked()
    graph = study.explore(tmp_path / "one.db", progress=False)
    bent = [n for n in graph.nodes.values() if abs(n.state.further).max() > 1e-3 and n.links]
    assert bent
    again = docked().explore(tmp_path / "two.db", workers=2, progress=False)
    assert list(again.nodes) == list(graph.nodes)
    assert [n.id for n in again.nodes.values()] == [n.id for n in graph.nodes.values()]
    kept = qp.ReconfigurationGraph.load(tmp_path / "one.db")
    assert [n.id for n in kept.nodes.values()] == [n.id for n in graph.nodes.values()]
    goal = bent[0]
    flown = graph.replay(graph.plan("n0", goal.key))
    np.testing.assert_allclose(flown.final["boom"].modes, goal.state.further[:2], atol=1e-3)


def test_what_bends_is_not_exchanged_or_watched_as_if_it_were_stiff() -> None:
    study = docked()
    boom, cube = study.system["boom"], study.system["cube"]
    with pytest.raises(qp.PartError, match=r"SameShape with exchanges.*'boom' bends"):
        qp.Study(study.system, sensors=study.sensors, options=study.options,
                 same=qp.SameShape(interchangeable=[[boom, cube]]))  # fmt: skip
