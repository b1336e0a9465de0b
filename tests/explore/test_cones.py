"""Cones that tell modules apart: runs are shared all the same, and every edge is judged by its own
cones."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest

import quirkpy as qp
from demos.lattice import SIDE, UP, lattice
from quirkpy.explore import explorer
from quirkpy.explore.alike.cones import NONE, Cones, Images
from quirkpy.explore.alike.symmetry import Symmetry
from quirkpy.explore.journal import Journal
from quirkpy.explore.model.ways import Way
from quirkpy.explore.reduce.reductions import Reductions
from quirkpy.explore.run.runner import run_choice
from quirkpy.explore.scope.choices import Reduction
from quirkpy.explore.scope.safety import ENTERS
from quirkpy.explore.texts import record_of, text_of
from tests.explore.test_reductions import (
    check_same,
    close,
    exact,
    first_edges,
    kill_again_and_again,
    relabelled,
)
from tests.faults.sentence import check_refused
from tests.studies import Swing, block, changed

#: One worker runs them all, so that each graph is explored once.
pytestmark = pytest.mark.xdist_group("cones")
#: Which way cameras look.
AHEAD = (0.0, 1.0, 0.0)


def body_of(study: qp.Study, name: str) -> qp.Body:
    """A body of a study."""
    return next(
        part for part in study.system.parts if isinstance(part, qp.Body) and part.name == name
    )


def camera(
    study: qp.Study, name: str, half_angle: float = 0.7, z: Any = AHEAD, **fields: Any
) -> qp.KeepOut:
    """A cone that opens in a side face."""
    site = body_of(study, name).site("camera", at=[0.5 * SIDE * c for c in z], z=z)
    return qp.KeepOut(site, half_angle=half_angle, **({"length": 0.25} | fields))


def cubes(looking: dict[str, dict[str, Any]], alike: int = 1) -> qp.Study:
    """Three cubes in a row, some with a camera before which nothing may come; the others may stand
    for each other."""
    study = exact(lattice(3, alike=alike))
    blind = [f"c{k}" for k in range(3) if f"c{k}" not in looking]
    turns = dict.fromkeys(blind, study.same.symmetry[body_of(study, "c0")]) if alike > 1 else {}
    cones = [camera(study, name, **fields) for name, fields in looking.items()]
    same = qp.SameShape(interchangeable=[blind], symmetry=turns)
    return changed(study, safety=[*study.safety, *cones], same=same)


def one_looks() -> qp.Study:
    """The first has a camera."""
    return cubes({"c0": {}})


def moored() -> qp.Study:
    """The same with the first cube fixed, and a cone on it as well."""
    study = cubes({"c1": {}})
    parts = [body_of(study, f"c{k}") for k in range(3)]
    parts[0] = qp.Body.box("c0", (SIDE,) * 3, 1.0, fixed=True)
    faces = [
        qp.Sensor(
            s.name,
            parts[int(s.site.body.name[1])].site(s.site.name, at=s.site.at, z=s.site.z, x=s.site.x),
        )
        for s in study.sensors
    ]
    cone = qp.KeepOut(parts[0].site("camera", z=(-1.0, 0.0, 0.0)), half_angle=0.3, length=0.25)
    same = qp.SameShape()
    return changed(
        study, system=qp.Multibody(*parts), sensors=faces, safety=[cone, *study.safety], same=same
    )


#: Studies, how many edges of them are looked at (None: all), and at most how many runs all of them
#: take.
STUDIES: dict[str, tuple[Any, int | None, int]] = {
    "one looks": (one_looks, 100, 12),
    "one looks far, relabelled": (
        lambda: relabelled(cubes({"c1": {"half_angle": 0.3, "length": 0.4}}), 3),
        100,
        12,
    ),
    "two look": (
        lambda: cubes({"c0": {}, "c2": {"half_angle": 0.4, "z": (1.0, 0.0, 0.0)}}),
        None,
        12,
    ),
    "all look alike": (lambda: cubes({"c0": {}, "c1": {}, "c2": {}}), None, 12),
    "at balls": (lambda: cubes({"c0": {"half_angle": 0.2, "of": "balls"}}), 100, 12),
    "one is fixed": (moored, None, 80),
}
#: Those at which `make check` looks.
SHORT = ("one looks", "all look alike")


@cache
def without(name: str) -> qp.ReconfigurationGraph:
    """The graph of a study, with a run for every edge."""
    make, edges, _ = STUDIES[name]
    graph: qp.ReconfigurationGraph = make().explore(progress=False, reductions=False, budget=edges)
    return graph


@cache
def shared(name: str) -> qp.ReconfigurationGraph:
    """The whole graph by all reductions."""
    graph: qp.ReconfigurationGraph = STUDIES[name][0]().explore(progress=False)
    return graph


def entering(graph: qp.ReconfigurationGraph) -> list[qp.Edge]:
    """The edges that a cone has rejected."""
    return [edge for edge in graph.edges if edge.reason == ENTERS]


# --- the same graph, by fewer runs ----------------------------------------------------------------
@pytest.mark.parametrize(
    "name",
    [name if name in SHORT else pytest.param(name, marks=pytest.mark.slow) for name in STUDIES],
)
def test_the_graph_is_the_same_without(name: str) -> None:
    whole, every = without(name), shared(name)
    graph = first_edges(every, len(whole.edges))
    check_same(whole, graph)
    assert len(every.edges) - sum(every.saved.values()) <= STUDIES[name][2]
    assert 0.05 * len(every.edges) < len(entering(every)) < 0.6 * len(every.edges)
    assert any(edge.carried is not None and edge.carried.node for edge in entering(graph))
    for own, carried in zip(entering(whole), entering(graph), strict=True):
        assert own.parts == carried.parts
        assert close(own.t, carried.t)


@pytest.mark.parametrize("reduction", get_args(Reduction))
def test_each_is_switched_on_alone(reduction: Reduction) -> None:
    graph = STUDIES["all look alike"][0]().explore(progress=False, reductions=[reduction])
    assert set(graph.saved) <= {reduction}
    assert bool(graph.saved) == (reduction in ("symmetry", "cache"))
    check_same(without("all look alike"), graph)


@pytest.mark.parametrize("z", [(1.0, 0.0, 0.0), (-1.0, 0.0, 0.0)])
def test_what_stands_in_a_cone_needs_no_run(z: Any) -> None:
    """A block that is locked: there is nothing to simulate, but whether a module stands before the
    camera."""
    study = block()
    study = changed(study, safety=[camera(study, "A", z=z), *study.safety])
    graph = study.explore(progress=False, reductions=["rigid"], budget=40)
    assert graph.saved["rigid"] > 50
    whole = study.explore(progress=False, reductions=False, budget=len(graph.edges))
    assert [edge.outcomes[0][:3] for edge in graph.edges] == [
        edge.outcomes[0][:3] for edge in whole.edges
    ]
    assert [edge.parts for edge in graph.edges] == [edge.parts for edge in whole.edges]
    check_same(whole, graph)
    standing = {edge.reason: edge.carried for edge in graph.edges if edge.carried is not None}
    assert (ENTERS in standing) == (z[0] > 0.0)


@pytest.mark.slow
def test_many_more_runs_are_shared_than_by_exchanges_that_keep_the_cones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One with a camera: a run for each of 64 edges instead of 8; cameras in two: of 17 instead of
    2."""
    known = {
        name: shared(name) for name in ("one looks", "two look")
    }  # before anything is exchanged
    monkeypatch.setattr(explorer, "Reductions", Apart)
    for name, before, now in (("one looks", 8.0, 64.0), ("two look", 2.0, 17.0)):
        apart = STUDIES[name][0]().explore(progress=False)
        check_same(apart, known[name])
        assert len(apart.edges) / (len(apart.edges) - sum(apart.saved.values())) == before
        assert int(len(apart.edges) / (len(apart.edges) - sum(known[name].saved.values()))) == now


def test_one_run_is_clear_to_one_and_not_to_another() -> None:
    """Of the edges that one run answers, some move and some meet a cone."""
    kinds: dict[Any, set[str]] = {}
    for edge in shared("one looks").edges:
        if edge.carried is not None and edge.carried.node is not None:
            kinds.setdefault(edge.carried[1:], set()).add(
                "entered" if edge.reason == ENTERS else edge.kind
            )
    assert sum({"moved", "entered"} <= found for found in kinds.values()) >= 4


@pytest.mark.parametrize("workers", [2, 4])
def test_any_number_of_workers(workers: int) -> None:
    with ThreadPoolExecutor(workers) as pool:
        graph = STUDIES["two look"][0]().explore(workers=pool, progress=False)
    assert graph.to_json() == shared("two look").to_json()


@pytest.mark.slow
def test_budgets_and_journals(tmp_path: Path) -> None:
    """A graph that has come some way with a budget goes on, is loaded, and is what it would have
    been at once."""
    study, path = STUDIES["two look"][0](), tmp_path / "cubes.db"
    some = study.explore(path, budget=5, progress=False)
    with ThreadPoolExecutor(3) as pool:
        assert study.explore(workers=pool, budget=5, progress=False).to_json() == some.to_json()
    assert qp.ReconfigurationGraph.load(path).to_json() == some.to_json()
    assert study.explore(path, progress=False).to_json() == shared("two look").to_json()
    assert qp.ReconfigurationGraph.load(path).to_json() == shared("two look").to_json()
    assert (
        study.explore(path, reductions=False, progress=False).to_json()
        == without("two look").to_json()
    )


class Apart(Reductions):
    """As before there were images: what is exchanged keeps the cones."""

    def __init__(self, *asked: Any) -> None:
        super().__init__(*asked[:3], everywhere=False)


@pytest.mark.slow
def test_a_journal_from_before_there_were_images(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, path = STUDIES["two look"][0](), tmp_path / "cubes.db"
    with monkeypatch.context() as before:
        before.setattr(explorer, "Reductions", Apart)
        apart = study.explore(path, progress=False)
    with Journal(path) as journal:
        journal.base.execute("DELETE FROM meta WHERE key = 'cones'")
    assert qp.ReconfigurationGraph.load(path).to_json() == apart.to_json()
    assert study.explore(path, progress=False).to_json() == shared("two look").to_json()


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_killed_at_any_moment(workers: int, tmp_path: Path) -> None:
    path = tmp_path / "cubes.db"
    kill_again_and_again(one_looks, workers, path)
    assert one_looks().explore(path, progress=False).to_json() == shared("one looks").to_json()


def test_a_flight_does_not_take_one_camera_for_another() -> None:
    """Where modules are declared to stand for each other that a cone tells apart, what was judged
    for the one is no way for the other."""
    study = changed(cubes({"c0": {}}), same=qp.SameShape(interchangeable=[["c0", "c1", "c2"]]))
    graph = study.explore(progress=False)
    ways = ("n6", "n1"), ("n1", "n4")
    steps = [
        next(edge for edge in graph.moves() if (edge.source, edge.target) == way) for way in ways
    ]
    check_refused(lambda: graph.replay(steps), "replay", ("must stay clear", "interchangeable"))


# --- images ---------------------------------------------------------------------------------------
def images_of(study: qp.Study) -> Images:
    """All that exchanges make of the cones of a study."""
    return Cones(Symmetry(study)).images


def test_images_of_cones() -> None:
    """A camera in one of four side faces of a cube, of three alike: twelve; one on top: three; on a
    fixed one: one."""
    study = lattice(3)
    aside, above = camera(study, "c0"), camera(study, "c0", z=UP)
    assert images_of(study) == NONE
    assert len(images_of(changed(study, safety=[aside])).cones) == 12
    assert len(images_of(changed(study, safety=[above])).cones) == 3
    two = images_of(changed(study, safety=[aside, camera(study, "c2")]))
    assert (len(two.cones), two.each[0] == two.each[1]) == (12, True)
    assert (
        len(images_of(changed(study, safety=[aside, camera(study, "c2", of="balls")])).cones) == 24
    )
    fixed = moored()
    assert [len(numbers) for numbers in images_of(fixed).each] == [1, 8]


def test_cones_that_everything_keeps_cost_nothing() -> None:
    """One on top of each cube: no run tells more than it did; and a cone that counts balls is not
    one for centres."""
    study = lattice(3)
    above = [camera(study, f"c{k}", z=UP) for k in range(3)]
    for safety, apart in (
        (above, False),
        ([*above[:2], camera(study, "c2", z=UP, of="balls")], True),
    ):
        made = changed(study, safety=[*study.safety, *safety])
        symmetry = Symmetry(made)
        swapped = symmetry.exchange((2, 1, 0), (0, 0, 0))
        assert swapped is not None
        assert Cones(symmetry).break_symmetry == apart
        assert Cones(symmetry).is_invariant(swapped) != apart
        assert bool(Reductions(made, frozenset({"cache"}), []).images.cones) == apart


# --- one run, and all that it tells ---------------------------------------------------------------
def start_of(study: qp.Study) -> qp.Node:
    """The first node of a study."""
    return study.explore(budget=0, progress=False).nodes["n0"]


def check_told(
    study: qp.Study, node: qp.Node, choice: qp.Choice, images: Images, *asked: tuple[int, ...]
) -> None:
    """To whoever asks, a run for all tells to the bit what one with those cones does, also once it
    has been written."""
    record = run_choice(study, node, choice, images=images)
    assert record_of(text_of(record)) == record
    for cones in asked:
        rules = [images.cones[k] for k in cones]
        own = run_choice(changed(study, safety=[*rules, *study.safety]), node, choice)
        assert record.for_cones(cones) == own


def test_a_run_tells_what_one_with_other_cones_does() -> None:
    """A block with cones of two kinds, wherever these stand: pushed apart and pulled together, with
    and without."""
    study = block()
    cones = [camera(study, "A", 0.5), camera(study, "C", 0.3, of="balls", length=0.5)]
    images = images_of(changed(study, safety=[*cones, *study.safety]))
    node, rng = start_of(study), random.Random(1)
    for choice in rng.sample(study.choices(node), 30):
        check_told(
            study,
            node,
            choice,
            images,
            *(tuple(rng.choice(sorted(e)) for e in images.each) for _ in range(3)),
        )


def balance() -> qp.Study:
    """A wheel and an arm on a fixed hub, both in balance: the wheel falls fast either way, into
    what is the same shape, and the arm after it, slowly."""
    hub = qp.Body.box("hub", (SIDE,) * 3, 1.0, fixed=True)
    wheel = qp.Body.box("wheel", (SIDE,) * 3, 1.0, position=(0.0, 0.0, SIDE))
    arm = qp.Body.box("arm", (SIDE,) * 3, 1.0, position=(SIDE, -SIDE, 0.0))
    out = (math.sqrt(0.5), -math.sqrt(0.5), 0.0)

    def ends(one: str, body: qp.Body, two: str, at: Any, there: Any, z: Any) -> list[qp.Sensor]:
        sites = hub.site(one, at=at, z=z, x=UP), body.site(two, at=there, z=[-c for c in z], x=UP)
        return [
            qp.Sensor(a, site, kind=a, accepts=(b,))
            for a, b, site in ((one, two, sites[0]), (two, one, sites[1]))
        ]

    spring = qp.Spring("spring", wheel.site("rim", at=(0.5 * SIDE, 0.0, 0.0)), hub.site("post",
    at=(-SIDE, 0.0, SIDE)),
                       stiffness=1.0, rest_length=0.0)  # fmt: skip
    well = qp.PotentialWell("well", arm, centre=(-SIDE, SIDE, 0.0), stiffness=3e-2)
    return qp.Study(
        qp.Multibody(hub, wheel, arm),
        sensors=[
            *ends(
                "top",
                wheel,
                "below",
                (0.0, 0.0, 0.5 * SIDE),
                (0.0, 0.0, -0.5 * SIDE),
                (1.0, 0.0, 0.0),
            ),
            *ends(
                "corner",
                arm,
                "end",
                (0.5 * SIDE, -0.5 * SIDE, 0.0),
                (-0.5 * SIDE, 0.5 * SIDE, 0.0),
                out,
            ),
        ],
        options={("top", "below"): [Swing()], ("corner", "end"): [Swing()]},
        potentials={"away": [spring, well]},
        always=[qp.ViscousHinges(1e-2)],
        same=qp.SameShape(symmetry={wheel: [qp.rotation(UP, math.pi)]}),
        nudge=0.01,
    )


def ways_of(way: Way[Any]) -> Iterator[Way[Any]]:
    """All motions of a tree."""
    yield way
    for onward in way.onward:
        yield from ways_of(onward)


def test_where_a_saddle_is_left_depends_on_who_comes_there() -> None:
    """The wheel that falls to one side shows a cone to the arm.  Whom this concerns is the first to
    leave the saddle on the other side, which is the same shape; nobody else leaves it twice."""
    study = balance()
    node, wheel = start_of(study), body_of(study, "wheel")
    ways = [
        (math.cos(a), math.sin(a), -1.0) for a in (0.25 * math.pi, 0.75 * math.pi, 1.25 * math.pi)
    ]
    cones = tuple(qp.KeepOut(wheel.site("eye", z=z), half_angle=0.35, length=0.3) for z in ways)
    images = Images(cones, (0,), (frozenset(range(3)),))
    (choice,) = study.choices(node)
    record = run_choice(study, node, choice, images=images)
    assert record.way is not None
    saddles = [way for way in ways_of(record.way) if way.saddle is not None]
    assert [way.like for way in saddles] == [(), (), (1,)]
    assert [{met.cone for met in way.entered} for way in saddles[1:]] == [{2}, {0}]
    check_told(study, node, choice, images, (0,), (2,))


class Breaks(qp.Safety):
    """Cannot judge what moves."""

    def first(self, run: qp.Trajectory) -> qp.Violation | None:
        if len(run.t) > 1:
            raise ValueError("it moves")
        return None


def test_what_fails_later_is_no_matter_to_whom_it_is_rejected_before() -> None:
    study = changed(block(), safety=[qp.StayTogether(), Breaks()])
    node = start_of(study)
    inside, outside = camera(study, "A", z=(1.0, 0.0, 0.0)), camera(study, "A", z=UP)
    images = Images((outside, inside), (0,), (frozenset({0, 1}),))
    held = {"B north | C south": "lock", "C west | D east": "lock", "A north | D south": "hinge 2"}
    names = (study.pairs[pair].name for pair, _ in study.open_pairs(node))
    choice = qp.Choice(tuple((name, held.get(name, "free")) for name in names), "apart")
    check_told(study, node, choice, images, (1,))
    record = run_choice(study, node, choice, images=images)
    assert [o.reason for o in record.outcomes] == ["ValueError: it moves"]
    assert record.for_cones((1,)).outcomes[0].reason == ENTERS
