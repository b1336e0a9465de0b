"""Cubes hinged at edges, against pivots counted in integers: every shape, every move, and what is
in the way."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest

import quirkpy as qp
from demos.imaging_in_orbit import followed
from tests import pivots
from tests.pivots import Cell, Marked
from tests.random_systems import ATTACKING

DEMO = run_path(str(Path(__file__).resolve().parents[2] / "demos" / "lattice.py"))
SIDE, FACES, lattice = DEMO["SIDE"], DEMO["FACES"], DEMO["lattice"]
#: One worker runs them all, so that each graph is explored once.
pytestmark = pytest.mark.xdist_group("lattice")
#: Quarter turns of a face of a cube, from east.
QUARTERS = {"east": 0, "north": 1, "west": 2, "south": 3}
#: N: shapes, edges (one for each sense of the torque), moves among them, blocked, jammed.
COUNTS = {
    2: (1, 4, 2, 0, 0),
    3: (2, 16, 8, 0, 0),
    4: (7, 120, 48, 12, 0),
    5: (18, 360, 154, 24, 2),
    6: (60, 1732, 657, 184, 25),
}
LONG = [
    n if n < 5 else pytest.param(n, marks=pytest.mark.slow) for n in COUNTS if n < 6 or ATTACKING
]


@cache
def explored(n: int) -> qp.ReconfigurationGraph:
    """All shapes of n cubes, one hinge at a time."""
    return lattice(n).explore(progress=False)


def heading(q: Sequence[float]) -> float:
    """The turn about the vertical of a quaternion, in quarter turns."""
    w, x, y, z = q
    assert math.hypot(x, y) < 1e-9
    return 2.0 * math.atan2(z, w) / (0.5 * math.pi)


def placed(node: qp.Node) -> dict[str, tuple[int, int, int]]:
    """Cells of the cubes of a node, and their quarter turns, in the axes of the first."""
    r, q = node.state.r, node.state.q
    first = heading(q[0])
    angle = -0.5 * math.pi * first
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    flat = (r - r[0]) / SIDE
    assert abs(flat[:, 2]).max() < 1e-9
    cells = flat[:, :2] @ turn.T
    turns = np.array([heading(each) - first for each in q])
    assert abs(cells - cells.round()).max() < 1e-6
    assert abs(turns - turns.round()).max() < 1e-6
    return {
        name: (round(x), round(y), round(mark) % 4)
        for name, (x, y), mark in zip(node.state.bodies, cells, turns, strict=True)
    }


def shape_of(node: qp.Node, turns: int = 1) -> Marked:
    """The polyomino that a node is."""
    return pivots.shape(placed(node).values(), turns)


def side_of(cell: tuple[int, int, int], face: str) -> Cell:
    """Where a face of a placed cube looks."""
    return pivots.SIDES[(QUARTERS[face] + cell[2]) % 4]


def hinged(node: qp.Node, choice: qp.Choice) -> pivots.Choice:
    """The clusters, the hinge and its corner that a selection makes of a node."""
    where = placed(node)
    joined = {name: {name} for name in where}
    hinges = []
    for pair, label in choice.joints:
        ends = [end.split() for end in pair.split(" | ")]
        if label == "lock":
            both = joined[ends[0][0]] | joined[ends[1][0]]
            joined |= dict.fromkeys(both, both)
        elif label.startswith("hinge"):
            hinges.append((*ends, int(label.split()[1])))
    (((one, face), (two, _), edge),) = hinges
    still, moving = ({where[name][:2] for name in joined[body]} for body in (one, two))
    assert not still & moving
    assert still | moving == {cell[:2] for cell in where.values()}
    (x, y, _), (i, j) = where[one], side_of(where[one], face)
    # edge 1 is on the +y side of the site, whose z looks out of the face and whose x looks up: y =
    # z cross x
    across = (j, -i) if edge == 1 else (-j, i)
    corner = round(x + 0.5 + 0.5 * (i + across[0])), round(y + 0.5 + 0.5 * (j + across[1]))
    return pivots.Choice(
        frozenset(still), frozenset(moving), (where[one][:2], where[two][:2]), corner
    )


def expected(node: qp.Node, edge: qp.Edge) -> tuple[str, Marked | None]:
    """What integers say of an edge."""
    choice = hinged(node, edge.selection)
    if edge.selection.potential == "shut":
        return "stayed", shape_of(node)
    move = pivots.pivot(*choice)
    after = [*choice.still, *(to for _, to in move.to)]
    return move.kind, pivots.shape([(*cell, 0) for cell in after]) if move.kind == "moved" else None


def found(graph: qp.ReconfigurationGraph, edge: qp.Edge) -> tuple[str, Marked | None]:
    """What the explorer says; a move into an equal shape counts as one."""
    target = None if edge.target is None else shape_of(graph[edge.target])
    if edge.kind == "rejected":
        return {"is blocked": "blocked"}.get(edge.reason, edge.reason), target
    return "moved" if edge.contacts else edge.kind, target


@pytest.mark.attack
@pytest.mark.parametrize("n", LONG)
def test_shapes_and_moves_are_those_that_integers_tell(n: int) -> None:
    """Edge by edge; and so are the numbers of shapes, edges, moves, blocked and jammed ones."""
    graph, counted = explored(n), pivots.graph([(k, 0) for k in range(n)])
    for edge in graph.edges:
        assert found(graph, edge) == expected(graph[edge.source], edge), edge
    shapes = {key: shape_of(node) for key, node in graph.nodes.items()}
    assert set(shapes.values()) == counted.nodes == pivots.polyominoes(n)
    assert len(graph.nodes) == len(counted.nodes)
    mine = Counter((shapes[edge.source], *found(graph, edge)) for edge in graph.edges)
    assert mine == Counter(counted.edges)
    kinds = Counter(kind for _, kind, _ in mine.elements())
    assert (
        len(graph.nodes),
        len(graph.edges),
        kinds["moved"],
        kinds["blocked"],
        kinds["jammed"],
    ) == COUNTS[n]
    assert graph.coverage == 1.0
    assert not graph.near_misses


@pytest.mark.attack
@pytest.mark.parametrize("n", LONG[1:])
def test_a_table_leads_to_its_goal_from_every_shape(n: int) -> None:
    """Followed by replay until it arrives: to every shape of three and four cubes; of more to the
    row, and to the shape that most steps lead to."""
    graph = explored(n)
    steps = [graph.plan("n0", key, cost="switches").switches for key in graph.nodes]
    for goal in graph.nodes if n < 5 else ("n0", f"n{np.argmax(steps)}"):
        known, missed = followed(graph, goal)
        assert known == len(graph.nodes) - 1
        assert missed < graph.study.same.tolerance


# --- quarter turns that can be told apart ---------------------------------------------------------
MARKS = [marks for n in (2, 3) for marks in itertools.product((0, 1), repeat=n) if marks[0] == 0]


@pytest.mark.parametrize("marks", MARKS, ids=str)
def test_no_pivot_changes_the_parity_of_a_module(marks: tuple[int, ...]) -> None:
    """Cubes that half a turn, but no quarter, leaves as they are: just the shapes of the same
    parities are reached."""
    graph = lattice(len(marks), turns=marks, alike=2).explore(progress=False)
    start = [(k, 0, mark) for k, mark in enumerate(marks)]
    shapes = [shape_of(node, turns=2) for node in graph.nodes.values()]
    counted = pivots.graph(start, turns=2)
    assert len(set(shapes)) == len(shapes)
    assert set(shapes) == counted.nodes
    assert len(graph.edges) == len(counted.edges)
    assert {pivots.parities(shape) for shape in shapes} == {pivots.parities(start)}


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_shapes_fall_into_components_by_parity(n: int) -> None:
    """Of all shapes with all marks, pivots connect only such as have the same parities."""
    marked = {
        pivots.shape([(x, y, mark) for (x, y, _), mark in zip(cells, marks, strict=True)], 2)
        for cells in pivots.polyominoes(n)
        for marks in itertools.product((0, 1), repeat=n)
    }
    components = []
    while marked:
        reached = pivots.graph(min(marked), 2).nodes
        assert reached <= marked
        assert len({pivots.parities(shape) for shape in reached}) == 1
        components.append(reached)
        marked -= reached
    assert len({pivots.parities(min(component)) for component in components}) == n // 2 + 1


# --- the truth itself -----------------------------------------------------------------------------
def overlapping(moving: Sequence[Cell], still: Sequence[Cell], angles: np.ndarray) -> np.ndarray:
    """Whether any of some squares, turned by each angle, overlaps another, by 1e-9 at least: in
    floats."""
    hit = np.zeros(len(angles), dtype=bool)
    c, s = np.cos(angles)[:, None], np.sin(angles)[:, None]
    for one, two in itertools.product(moving, still):
        apart = np.zeros(len(angles), dtype=bool)
        for cell, points, sense in (
            (two, pivots.corners(one), 1.0),
            (one, pivots.corners(two), -1.0),
        ):
            x, y = np.array(points, dtype=float).T
            for k, p in enumerate((c * x - sense * s * y, sense * s * x + c * y)):
                apart |= (p.max(axis=1) <= cell[k] + 1e-9) | (p.min(axis=1) >= cell[k] + 1.0 - 1e-9)
        hit |= ~apart
    return hit


@pytest.mark.parametrize("n", [2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_pivots_are_those_of_many_small_turns(n: int) -> None:
    """Step by step through the motion, with nothing but the two ways to turn a point and the four
    faces of a square."""
    angles = np.linspace(0.0, math.pi, 1441)[1:]
    for cells in pivots.polyominoes(n):
        for choice in pivots.choices([cell[:2] for cell in cells]):
            move = pivots.pivot(*choice)
            (a, b), corner = choice.hinge, np.array(choice.corner)
            # b opens to where a corner of its hinged face, the one away from the corner, leaves a
            shared = set(pivots.corners(a)) & set(pivots.corners(b))
            away = np.array(next(p for p in shared if p != choice.corner)) - corner
            leaving = np.array([b[0] - a[0], b[1] - a[1]])
            sense = 1.0 if np.dot((-away[1], away[0]), leaving) > 0 else -1.0
            moving = [tuple(np.array(cell) - corner) for cell in choice.moving]
            still = [tuple(np.array(cell) - corner) for cell in choice.still]
            if sense < 0.0:
                moving, still = ([(x, -y - 1) for x, y in cells] for cells in (moving, still))
            hits = overlapping(moving, still, angles)
            last = 720 if move.kind == "moved" and abs(move.quarters) == 1 else 1440
            if move.kind == "moved":
                assert move.quarters * sense > 0
                assert not hits[: last - 1].any()
            else:
                first = angles[np.argmax(hits)]
                assert hits.any()
                assert first == pytest.approx(2.0 * math.atan(move.begins), abs=0.02)
                assert (move.kind == "blocked") == (first < 0.02)


def test_no_overlap_begins_just_before_faces_meet() -> None:
    """Sensors meet 0.01 rad before faces lie on each other, and the rest of the way is not looked
    at."""
    starts = {
        2.0 * math.atan(pivots.pivot(*choice).begins)
        for n in range(2, 7)
        for cells in pivots.polyominoes(n)
        for choice in pivots.choices([cell[:2] for cell in cells])
    }
    assert all(
        abs(start - face) > 0.1
        for start in starts
        for face in (0.5 * math.pi, math.pi)
        if start < face
    )


# --- all selections -------------------------------------------------------------------------------
def study_of_all(n: int) -> qp.ReconfigurationGraph:
    """The same cubes, with whatever a pair may become."""
    return lattice(n, choosing=()).explore(progress=False)


#: N: shapes, edges, and of these moved, stayed, rejected, jammed, with all selections.
COUNTS_OF_ALL = {
    2: (1, 8, 0, 6, 2, 0),
    3: (4, 112, 24, 35, 51, 2),
    4: (27, 5888, 2126, 709, 2953, 100),
}


@pytest.mark.attack
@pytest.mark.parametrize("n", [2, 3, *[pytest.param(4, marks=pytest.mark.slow)] * ATTACKING])
def test_all_selections_hold_those_of_one_hinge(n: int) -> None:
    """Among the edges of all selections stand those of one hinge, between the same shapes; some
    others lead to shapes that hinges hold open.  Each of them has an outcome."""
    graph, one = study_of_all(n), explored(n)
    kinds = (graph.kinds.get(kind, 0) for kind in ("moved", "stayed", "rejected", "jammed"))
    assert (len(graph.nodes), len(graph.edges), *kinds) == COUNTS_OF_ALL[n]
    assert graph.coverage == 1.0
    assert not graph.near_misses
    assert not {"failed", "never settles"} & set(graph.kinds)
    assert {node.verdict for node in graph.nodes.values()} == {"stable"}
    flat = {
        key: shape_of(node)
        for key, node in graph.nodes.items()
        if all(x.option == "lock" for x in node.links)
    }
    assert sorted(flat.values()) == sorted(shape_of(node) for node in one.nodes.values())
    tried = {key: set(one.study.choices(graph[key])) for key in flat}
    mine = [e for e in graph.edges if e.source in flat and e.selection in tried[e.source]]
    assert Counter((flat[e.source], *found(graph, e)) for e in mine) == Counter(
        (shape_of(one[e.source]), *found(one, e)) for e in one.edges
    )


@pytest.mark.parametrize(
    "marks", [m if len(m) < 3 else pytest.param(m, marks=pytest.mark.slow) for m in MARKS], ids=str
)
def test_no_selection_at_all_changes_the_parity_of_a_module(marks: tuple[int, ...]) -> None:
    """However many hinges open at once, and through whichever shapes that they hold open: of all
    that is locked, just that is reached which single pivots reach."""
    graph = lattice(len(marks), turns=marks, alike=2, choosing=()).explore(progress=False)
    start = [(k, 0, mark) for k, mark in enumerate(marks)]
    locked = [
        node for node in graph.nodes.values() if all(link.option == "lock" for link in node.links)
    ]
    shapes = [shape_of(node, turns=2) for node in locked]
    assert len(set(shapes)) == len(shapes)
    assert set(shapes) == pivots.graph(start, turns=2).nodes
    assert {pivots.parities(shape) for shape in shapes} == {pivots.parities(start)}
    assert not {"failed", "never settles"} & set(graph.kinds)


def test_three_cubes_close_to_triangles() -> None:
    """Two hinges of a row or a corner that open at once: the free faces meet, and the inner edges
    make a triangle of three equal sides, held by three hinges, or of two, held by a lock and two
    hinges."""
    graph = study_of_all(3)
    row, corner, bent, equal = graph.nodes.values()
    turns = [sorted(abs(math.remainder(heading(q) - heading(node.state.q[0]),
    4.0)) for q in node.state.q)
             for node in (row, corner, bent, equal)]  # fmt: skip
    assert turns[2] == pytest.approx([0.0, 0.5, 1.0], abs=1e-7)
    assert turns[3] == pytest.approx([0.0, 1.0 / 3.0, 4.0 / 3.0], abs=1e-7)
    assert (len(bent.frequencies), len(equal.frequencies)) == (1, 2)
