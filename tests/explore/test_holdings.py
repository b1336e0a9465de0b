"""What holds nodes of one pose: where it differs they are told apart, where it says the same they
are one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from benchmarks.reductions import CASES, part_of
from quirkpy.explore import explorer
from quirkpy.explore.answers.replay import transfer_choice
from quirkpy.explore.graph import ReconfigurationGraph
from quirkpy.explore.model.assembly import caught_by
from quirkpy.explore.model.graph import Node, node_of, node_record, rest_at
from quirkpy.explore.reduce.holdings import Holdings
from quirkpy.explore.reduce.known import Known
from quirkpy.explore.reduce.transfers import Transfers
from quirkpy.explore.run.records import Record
from quirkpy.explore.run.runner import run_choice
from quirkpy.explore.scope.choices import Link
from quirkpy.explore.scope.identity import poses_of
from tests.laws.test_unstable_rests_are_left import unequal
from tests.studies import changed


def distance(study: qp.Study, one: Node, two: Node) -> float:
    return study.shapes.distance(*(poses_of(node.state.r, node.state.q) for node in (one, two)))


def open_names(study: qp.Study, node: Node) -> set[tuple[str, str]]:
    """What holds a node open, by name."""
    return {(study.pairs[link.pair].name, link.option) for link in Holdings(study).open(node)}


@pytest.fixture(scope="module")
def corner() -> ReconfigurationGraph:
    """Three unequal cubes, whose hinges are sprung, so that none of them says what another does."""
    study = unequal(0)
    return changed(study, always=[*study.always, qp.SprungHinges(1e-5)]).explore(
        budget=150, progress=False
    )


def test_an_edge_leads_to_a_node_that_is_held_as_its_motion_ends(
    corner: ReconfigurationGraph,
) -> None:
    """Flown again, every motion ends in the pose of its node, open where the node is, by the same
    joints."""
    study, looked = corner.study, 0
    for edge in corner.edges:
        source = corner.nodes[edge.source]
        if edge.kind not in ("moved", "ambiguous") or not Holdings(study).open(source):
            continue
        record = run_choice(study, source, edge.selection)
        for outcome, reached in zip(edge.outcomes, record.reached, strict=True):
            if reached is not None:
                there, target = (
                    node_of(reached, 0, study.system.bodies),
                    corner.nodes[str(outcome.target)],
                )
                assert distance(study, there, target) <= study.shapes.tolerance
                assert open_names(study, there) == open_names(study, target)
                looked += 1
    assert looked > 15


# --- a cube that hangs on either of two -----------------------------------------------------------
def ajar(*choosing: qp.Choosing, sprung: bool = False) -> tuple[qp.Study, Node, Node]:
    """Cubes A and B side by side, locked, and C with an edge on the edge that both share, half open
    to either: hung on A, and hung on B."""
    study = changed(unequal(0), choosing=choosing)
    if sprung:
        study = changed(study, always=[*study.always, qp.SprungHinges(1e-5)])
    r = np.array([(-0.05, 0.0, 0.0), (0.05, 0.0, 0.0), (0.0, 0.05 + 0.05 * math.sqrt(2.0), 0.0)])
    q = np.array(
        [(1.0, 0.0, 0.0, 0.0)] * 2 + [(math.cos(math.pi / 8.0), 0.0, 0.0, math.sin(math.pi / 8.0))]
    )
    state = rest_at(study.system.bodies, r, q)
    lock = Link(study.numbers["A east | B west"], 0, "lock")
    nodes = []
    for name in ("A north | C west", "B north | C south"):
        hung = [Link(study.numbers[name], 0, f"hinge {k}") for k in (1, 2)]
        fits = [(link, caught_by(study, [lock, link], state)) for link in hung]
        (link,) = (
            link for link, caught in fits if caught is not None and caught.moved.max() < 1e-9
        )
        nodes.append(Node(len(nodes), state, (lock, link), "stable", "", 0.0, (), "apart"))
    return study, nodes[0], nodes[1]


def test_what_hangs_on_one_of_two_can_be_taken_apart_from_the_other() -> None:
    study, one, two = ajar()
    assert not Holdings(study).are_equivalent(one, two)
    known = Known(study)
    assert [known.place(node_record(node))[1] for node in (one, two)] == [True, True]
    assert known.near_misses == []
    first, second = (set(study.choices(node)) for node in (one, two))
    assert len(first) == len(second)
    assert first != second
    ends: list[list[Node]] = [[], []]
    # A and B come apart, and C goes with whom it hangs on
    for node, found in zip((one, two), ends, strict=True):
        for k in (1, 2):
            held = {study.pairs[link.pair].name: link.option for link in node.links} | {
                "A east | B west": f"hinge {k}"
            }
            choice = next(
                c for c in study.choices(node) if dict(c.joints) == held and c.potential == "apart"
            )
            reached = run_choice(study, node, choice).reached
            found += [
                node_of(record, 0, study.system.bodies) for record in reached if record is not None
            ]
    assert all(ends)
    assert any(min(distance(study, end, other) for other in ends[1]) > 0.01 for end in ends[0])


def test_where_two_always_hold_together_it_does_not_matter_on_which_one_hangs() -> None:
    study, one, two = ajar(qp.OneHinge())
    assert Holdings(study).are_equivalent(one, two)
    known = Known(study)
    assert [known.place(node_record(node))[1] for node in (one, two)] == [True, False]
    assert len(study.choices(one)) == len(study.choices(two)) > 0
    assert walk_both(study, one, two) > 0


def test_sprung_hinges_never_say_the_same() -> None:
    study, one, two = ajar(qp.OneHinge(), sprung=True)
    assert not Holdings(study).are_equivalent(one, two)


# --- those that are one ---------------------------------------------------------------------------
def kind(record: Record, study: qp.Study) -> list[tuple[Any, ...]]:
    """What comes of a choice, in an order of its own: kinds, shapes reached, and figures."""
    out = []
    for outcome, reached in zip(record.outcomes, record.reached, strict=True):
        there = None if reached is None else node_of(reached, 0, study.system.bodies)
        out.append(
            (outcome.kind, round(outcome.duration, 3), round(outcome.dissipated, 9), outcome, there)
        )
    return sorted(out, key=lambda one: one[:3])


def walk_both(study: qp.Study, one: Node, two: Node) -> int:
    """Try every choice at both of two nodes that are taken for one, and compare; how many moved."""
    transfers, holdings, moved = Transfers(study), Holdings(study), 0
    for choice in study.choices(one):
        there = transfer_choice(transfers, one, two, choice, "a choice")
        both = [
            kind(run_choice(study, node, asked), study)
            for node, asked in ((one, choice), (two, there))
        ]
        assert len(both[0]) == len(both[1])
        for (_, _, _, a, here), (_, _, _, b, other) in zip(*both, strict=True):
            assert a.kind == b.kind
            for name in (
                "duration",
                "dissipated",
                "put_in",
                "lost",
                "peak_speed",
                "end_energy",
                "start_energy",
            ):
                x, y = getattr(a, name), getattr(b, name)
                assert (x is None) == (y is None)
                assert x is None or math.isclose(x, y, rel_tol=1e-5, abs_tol=1e-9), name
            if here is not None:
                assert distance(study, here, other) <= study.shapes.tolerance
                assert holdings.are_equivalent(here, other)
                moved += a.duration > 0.0
    return moved


def taken_for_one(
    study: qp.Study, monkeypatch: pytest.MonkeyPatch, **how: Any
) -> list[tuple[Node, Node]]:
    """Nodes that an exploration has taken for one though what holds them has other names, and
    differently often."""
    pairs: list[tuple[Node, Node]] = []

    class Watched(Known):
        def place(self, record: dict[str, Any]) -> tuple[Node, bool]:
            node, new = super().place(record)
            mine = node_of(record, 0, study.system.bodies)
            if not new and set(mine.links) != set(node.links):
                pairs.append((node, mine))
            return node, new

    monkeypatch.setattr(explorer, "Known", Watched)
    study.explore(progress=False, **how)
    return pairs


def test_hinges_that_say_the_same_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """One hinge at a time: a module that hangs on a cluster hangs on any of its modules that share
    the edge."""
    study = part_of(CASES["whole, C4"])
    holdings = Holdings(study)
    found = []
    for one, two in taken_for_one(study, monkeypatch):
        opened = [{link.pair for link in holdings.open(node)} for node in (one, two)]
        if opened[0] and opened[0] != opened[1]:
            found.append((one, two))
    assert found
    rng = np.random.default_rng(13)
    picked = [found[k] for k in rng.choice(len(found), size=min(4, len(found)), replace=False)]
    assert sum(walk_both(study, *pair) for pair in picked) > 0


def test_what_holds_pairs_in_range_is_chosen_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    study = unequal(1)
    holdings = Holdings(study)
    pairs = taken_for_one(study, monkeypatch, budget=60)
    found = [
        (one, two)
        for one, two in pairs
        if holdings.open(one) == holdings.open(two) and one.links != two.links
    ]
    assert found
    rng = np.random.default_rng(13)
    for k in rng.choice(len(found), size=3, replace=False):
        walk_both(study, *found[k])
