"""The picture of a graph: nothing lies over anything else, and the page holds all of it."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from demos.cubesat_pair import pair, study
from demos.lattice import lattice
from quirkpy.explore.graph import ReconfigurationGraph
from quirkpy.views import graph_picture
from quirkpy.views.drawing import INK
from quirkpy.views.graph_picture import Picture, draw, edges_of, inks_of, lasting, picture_of
from quirkpy.views.graph_places import (
    APART,
    CLOSE,
    ROOM,
    around,
    gaps,
    inside,
    outwards,
    places_of,
    size_of,
    spread_out,
)
from quirkpy.views.solids import Solid, across, visible_patches

STILL, ORIGIN = np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3)


@pytest.fixture(scope="module", params=[0.1, 0.2])
def graph(request: pytest.FixtureRequest) -> ReconfigurationGraph:
    return pair(request.param).explore()


@pytest.fixture(scope="module")
def crowd() -> ReconfigurationGraph:
    """Seven shapes with an arrow between almost any two."""
    return lattice(4).explore(progress=False)


def boxes(picture: Picture) -> list[Any]:
    shapes = [ROOM + shape.centre for shape in picture.shapes]
    words = [
        np.array([a.at - 0.5 * size_of(a.words), a.at + 0.5 * size_of(a.words)])
        for a in picture.arrows
    ]
    return [*shapes, *words]


def test_nothing_overlaps(graph: ReconfigurationGraph) -> None:
    picture = picture_of(graph)
    for (low, high), (lower, higher) in itertools.combinations(boxes(picture), 2):
        assert (high < lower).any() or (low > higher).any()
    for box in boxes(picture):
        assert not any(inside(box, arrow.curve) for arrow in picture.arrows)
    centres = [shape.centre for shape in picture.shapes]
    assert min(math.dist(a, b) for a, b in itertools.combinations(centres, 2)) == pytest.approx(
        APART
    )


def test_the_page_holds_everything(graph: ReconfigurationGraph) -> None:
    picture = picture_of(graph)
    low, high = edges_of(picture)
    for a, b in boxes(picture):
        assert (a > low).all()
        assert (b < high).all()
    for shape in picture.shapes:
        corners = np.concatenate([patch.corners for patch in shape.patches])
        assert abs(corners).max() <= 1.0 + 1e-12


def test_arrows_say_potential_and_time() -> None:
    picture = picture_of(study.explore())
    assert [arrow.words for arrow in picture.arrows] == ["−y, 33.6 s", "+x, 33.6 s"]
    assert all(arrow.certain for arrow in picture.arrows)
    assert [shape.lines for shape in picture.shapes] == [
        ("n0", "stable, 0 J"),
        ("n1", "stable, 0 J"),
    ]
    assert picture.caption.startswith("2 shapes; 18 choices tried:")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(9.105, "9.11 s"), (999.0, "999 s"), (1500.0, "25 min"), (24294.0, "6.75 h")],
)
def test_times_are_said_as_people_say_them(seconds: float, said: str) -> None:
    assert lasting(seconds) == said


def test_it_is_the_same_for_the_same_graph(graph: ReconfigurationGraph) -> None:
    one, two = (picture_of(graph) for _ in range(2))
    assert all(
        np.array_equal(a.curve, b.curve) and np.array_equal(a.at, b.at)
        for a, b in zip(one.arrows, two.arrows)
    )


@pytest.mark.parametrize(
    ("shape", "area"),
    [
        (qp.Box((1.0, 2.0, 3.0)), 6.0 * 0.36 + 3.0 * 0.48 + 2.0 * 0.8),
        (qp.Sphere(0.5), math.pi / 4),
        (qp.Cylinder(0.5, 2.0, axis="z"), math.pi / 4 * 0.8 + 2.0 * 0.6),
    ],
)
def test_solids_cover_what_they_hide(shape: qp.Shape, area: float) -> None:
    """The area of the shadow, seen along (0.36, -0.48, 0.8)."""
    shadow = 0.0
    for patch in visible_patches([Solid(shape, ORIGIN, STILL, 0)], eye=(0.36, -0.48, 0.8)):
        (x, y), (u, v) = patch.corners.T, np.roll(patch.corners, -1, axis=0).T
        shadow += 0.5 * float(x @ v - u @ y)
        assert 0.0 <= patch.light <= 1.0
    assert shadow == pytest.approx(area, rel=1e-2)


def test_the_nearer_cube_hides_the_farther() -> None:
    cube = qp.Box((1.0, 1.0, 1.0))
    near, far = Solid(cube, np.array([0.0, -1.0, 0.0]), STILL, 1), Solid(cube, ORIGIN, STILL, 2)
    for solids in ([near, far], [far, near]):
        patches = visible_patches(solids)
        assert sorted(patch.number for patch in patches) == [1, 1, 1, 2, 2, 2]
        hidden = (
            np.array([0.0, -0.5, 0.0]) @ across()[1]
        )  # the middle of the face in which they touch
        there = [patch.number for patch in patches if covers(patch.corners, hidden)]
        assert there[-1] == 1
        assert 2 in there


def covers(corners: Any, point: Any) -> bool:
    """Whether a convex polygon, counterclockwise, has a point inside."""
    (dx, dy), (x, y) = (np.roll(corners, -1, axis=0) - corners).T, (point - corners).T
    return bool((dx * y - dy * x > 0.0).all())


def test_words_stand_clear_of_each_other_and_belong_to_their_arrow(
    crowd: ReconfigurationGraph,
) -> None:
    """Beside an arrow nothing else is as near; where there is no such place, they stand upon it."""
    picture = picture_of(crowd)
    assert (len(picture.shapes), len(picture.arrows)) == (7, 26)
    for (low, high), (lower, higher) in itertools.combinations(boxes(picture), 2):
        assert (high < lower).any() or (low > higher).any()
    for arrow in picture.arrows:
        half = 0.5 * size_of(arrow.words)
        off = [
            np.linalg.norm(np.maximum(abs(o.curve - arrow.at) - half, 0.0), axis=1).min()
            for o in picture.arrows
        ]
        own = off[next(k for k, other in enumerate(picture.arrows) if other is arrow)]
        upon = np.linalg.norm(arrow.curve - arrow.at, axis=1).min() < 1e-12
        assert upon or own < 1.2 * min(gap for gap in off if gap != own)


def test_shapes_on_a_circle_stand_so_that_no_arrows_cross() -> None:
    assert around(4, [(0, 1), (0, 2), (1, 3), (2, 3)]) == (0, 1, 3, 2)
    assert around(4, [(0, 1), (1, 2), (2, 3), (0, 3)]) == (0, 1, 2, 3)
    assert around(5, itertools.combinations(range(5), 2)) == (0, 1, 2, 3, 4)


@pytest.mark.parametrize("seed", [1, 2])
def test_many_shapes_stand_close_and_never_over_each_other(seed: int) -> None:
    cloud = np.random.default_rng(seed).normal(size=(120, 2)) ** 3
    places = spread_out(cloud, CLOSE)
    assert gaps(places).min() >= CLOSE > math.hypot(*(ROOM[1] - ROOM[0]))
    assert np.ptp(places, axis=0).max() < 2.0 * CLOSE * math.sqrt(120)
    assert np.array_equal(places, spread_out(cloud, CLOSE))


def test_some_shapes_are_shown_by_key_or_name(crowd: ReconfigurationGraph) -> None:
    crowd.name("n2", "corner")
    picture = picture_of(crowd, ["n0", "corner", "n2", "n3"])
    assert [shape.lines[0] for shape in picture.shapes] == ["n0", "corner", "n3"]
    between = {
        (e.source, e.target)
        for e in crowd.moves()
        if {e.source, str(e.target)} <= {"n0", "n2", "n3"}
    }
    assert len(picture.arrows) == len(between)
    assert picture.caption.startswith("3 of 7 shapes; 120 choices tried:")
    for wrong, said in (
        ("n0", "of is 'n0', but must be a list"),
        (["n0", "n9"], "of has 'n9', which is no shape"),
    ):
        with pytest.raises(qp.PartError, match=said):
            crowd.picture(of=wrong)


def test_of_too_many_shapes_the_nearest_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """From n0 a move leads to n1 and n2, from there to n3."""
    monkeypatch.setattr(graph_picture, "MOST", 3)
    graph = pair(0.2).explore()
    assert [shape.lines[0] for shape in picture_of(graph).shapes] == ["n0", "n1", "n2"]
    with pytest.raises(
        qp.PartError, match="4 shapes are too many for one page; there is room for 3"
    ):
        graph.picture(of=list(graph.nodes))


def test_many_arrows_say_by_colour_what_drives_them(
    crowd: ReconfigurationGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_picture, "LABELLED", 25)
    picture = picture_of(crowd)
    assert {arrow.words for arrow in picture.arrows} == {""}
    assert picture.caption.endswith("Arrows: the quickest motion.")
    written = [text.get_text() for text in draw(crowd).figure.axes[0].texts]
    assert "driven by open" in written


def test_very_many_shapes_stand_around_the_start() -> None:
    """A thousand in a chain: each farther out than the one before, and none over another."""
    keys = [f"n{k}" for k in range(1000)]
    places = outwards(keys, list(itertools.pairwise(keys)))
    away = np.linalg.norm(places, axis=1)
    assert (np.diff(away) > 0.0).all()
    assert away[-1] < 0.65 * CLOSE * math.sqrt(1000)
    assert gaps(places).min() >= CLOSE * (1.0 - 1e-12)


@pytest.mark.parametrize(
    ("limit", "apart"), [("ON_A_CIRCLE", APART), ("FEW", CLOSE), ("MANY", CLOSE)]
)
def test_more_shapes_stand_otherwise(
    limit: str, apart: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    for smaller in ("ON_A_CIRCLE", "FEW", "MANY"):
        monkeypatch.setattr(f"quirkpy.views.graph_places.{smaller}", 2)
        if smaller == limit:
            break
    graph = pair(0.2).explore()
    places = places_of(graph, list(graph.nodes))
    assert gaps(places).min() >= apart * (1.0 - 1e-12)


@pytest.mark.parametrize("name", ["pair.png", "pair.svg", "pair.pdf"])
def test_it_is_painted(name: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        study.explore().save(tmp_path / folder / name)
    one, two = ((tmp_path / folder / name).read_bytes() for folder in ("one", "two"))
    assert len(one) > 5000
    assert one == two


def test_arrows_are_coloured(graph: ReconfigurationGraph) -> None:
    """By drive: a colour for each potential.  By energy or time: the more, the darker."""
    pytest.importorskip("matplotlib")
    picture = picture_of(graph)
    inks, key = inks_of(picture, "drive")
    assert {words for _, words in key} == {"driven by −y", "driven by +x"}
    for arrow, ink in zip(picture.arrows, inks, strict=True):
        assert (ink, f"driven by {arrow.drives[0]}".replace("-", "−")) in key
    for colour in ("energy", "time"):
        inks, key = inks_of(picture, colour)  # type: ignore[arg-type]
        light = [sum(ink[:3]) for ink in inks]
        ranked = sorted(range(len(light)), key=lambda k: -light[k])
        costs = [getattr(picture.arrows[k], colour) for k in ranked]
        assert all(b > a - 1e-12 for a, b in itertools.pairwise(costs))
    assert inks_of(picture, None) == ([INK] * len(picture.arrows), [])


def test_costs_are_those_of_the_edges() -> None:
    """Half a milliwatt second: k (0.1 sqrt 2)^2 / 2."""
    graph = study.explore()
    for arrow, edge in zip(picture_of(graph).arrows, graph.moves(), strict=True):
        assert arrow.energy == pytest.approx(0.5 * 0.05 * 0.02)
        assert arrow.time == edge.moving
    with pytest.raises(
        qp.PartError, match="picture: colour is 'red', but must be one of 'drive', 'energy', 'time'"
    ):
        graph.picture(colour="red")  # type: ignore[arg-type]
