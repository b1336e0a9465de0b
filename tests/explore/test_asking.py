"""What a graph is asked beside plans from one node to another."""

from __future__ import annotations

import math
from functools import cache
from importlib.util import find_spec

import numpy as np
import pytest

import quirkpy as qp
from demos.cubesat_pair import SIDE, pair


@cache
def graph() -> qp.ReconfigurationGraph:
    return pair().explore()


def test_nodes_are_found_by_what_they_have() -> None:
    nodes = graph().nodes
    assert graph().nodes_where(lambda node: True) == tuple(nodes)
    south = graph().nodes_where(lambda node: node.state["B"].position[1] < -0.05)
    assert south == ("n1",)
    with pytest.raises(qp.PartError, match="no function of a node"):
        graph().nodes_where("n0")  # type: ignore[arg-type]


def test_a_plan_leads_to_any_shape_that_will_do() -> None:
    south = lambda node: node.state["B"].position[1] < -0.05  # noqa: E731
    plan = graph().plan("n0", where=south)
    assert plan == graph().plan("n0", "n1")
    assert graph().plan("n0", where=lambda node: node.key == "n0").nodes == ("n0",)
    assert [len(p) for p in graph().plan("n0", where=lambda node: True, k=2)] == [0, 1]
    assert graph().furthest() == plan
    for words, ways in (
        ("of no node", {"where": lambda node: False}), ("give a goal", {}),
        ("give a goal", {"goal": "n1", "where": south}),
    ):  # fmt: skip
        with pytest.raises(qp.PartError, match=words):
            graph().plan("n0", **ways)


def test_nodes_have_mass_and_extent() -> None:
    """Two cubes side by side, by hand."""
    for node in graph().nodes.values():
        whole, apart = node.mass_properties, 0.5 * SIDE
        assert whole.mass == 2.0
        assert np.allclose(whole.centre, 0.5 * node.state["B"].position, rtol=0, atol=1e-9)
        own = SIDE**2 / 6.0
        expected = [2.0 * own, *[2.0 * (own + apart**2)] * 2]
        assert np.allclose(whole.moments, expected, rtol=1e-6, atol=0)
        assert np.allclose(whole.axes @ np.diag(whole.moments) @ whole.axes.T, whole.inertia)
        assert np.linalg.det(whole.axes) == pytest.approx(1.0)
        assert node.span == pytest.approx(SIDE * math.sqrt(6.0), rel=1e-6)


def test_graphs_are_compared() -> None:
    """With itself all is shared; with one whose wells pull less far, edges differ."""
    same = graph().compare(graph())
    assert same.shared == (("n0", "n0"), ("n1", "n1"))
    assert (same.gone, same.new, same.changed) == ((), (), ())
    stuck = pair(0.05).explore()
    other = graph().compare(stuck)
    assert other.shared[0] == ("n0", "n0")
    assert len(other.shared) + len(other.gone) == len(graph().nodes)
    assert len(other.shared) + len(other.new) == len(stuck.nodes)
    ball = qp.Multibody(qp.Body.sphere("ball", 0.1, 1.0))
    alone = qp.Study(ball, sensors=[], options={}).explore()
    with pytest.raises(qp.PartError, match="different bodies"):
        graph().compare(alone)
    with pytest.raises(qp.PartError, match="'n0' is not a graph"):
        graph().compare("n0")  # type: ignore[arg-type]


@pytest.mark.skipif(find_spec("pandas") is not None, reason="pandas is here")
def test_frames_say_what_they_need() -> None:
    with pytest.raises(qp.PartError, match="pandas"):
        graph().frames()


@pytest.mark.skipif(find_spec("pandas") is None, reason="pandas is not installed")
def test_frames_hold_all_nodes_and_moves() -> None:
    nodes, edges = graph().frames()
    assert list(nodes["node"]) == list(graph().nodes)
    assert set(edges["source"]) <= set(graph().nodes)
