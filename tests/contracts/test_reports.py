"""The page of a run and of a study: what is in it, how exactly, and that no name can break it."""

from __future__ import annotations

import base64
import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import quirkpy as qp
from demos.cubesat_pair import pair, study
from quirkpy.explore.answers.motions import frames_of_edges, in_order
from quirkpy.explore.graph import ReconfigurationGraph
from quirkpy.explore.model.costs import COST_WORDS, price_of
from quirkpy.explore.model.graph import Outcome
from quirkpy.motion.frames import frames_of, whole
from quirkpy.views import listings, report, report_graph
from quirkpy.views.emblems import MAGNET, emblems_of_run, emblems_of_study
from quirkpy.views.keyframes import NOTHING, TURNS, Keyframes, keyframes, misses, pack
from quirkpy.views.solids import mesh_of
from quirkpy.views.stage import OFF
from tests.studies import balanced

LENGTH, ANGLE = 1e-3, 5e-3
#: What a name must not be able to do.
NASTY = '</script><script>alert("1")</script><!-- & <b>'


@pytest.fixture(scope="module")
def run() -> qp.Trajectory:
    """An arm that swings on a hinge with a damper, and a body that tumbles away under a load."""
    hub = qp.Body.box("hub", size=(0.1, 0.1, 0.1), mass=1.0, fixed=True)
    arm = qp.Body.box(NASTY, size=(0.1, 0.1, 0.1), mass=1.0, position=(0.1, 0.0, 0.0))
    rod = qp.Body.cylinder("rod", radius=0.02, length=0.2, mass=0.5, position=(0.0, 1.0, 0.0),
                           velocity=(0.1, 0.0, 0.02), angular_velocity=(3.0, 0.4, 0.0))  # fmt: skip
    hinge = qp.Revolute("hinge", hub, arm, at=(0.05, -0.05, 0.0), axis=(0.0, 0.0, 1.0))
    spring = qp.HingeSpring("spring", hinge, stiffness=0.02, rest_angle=1.0, damping=1e-3)
    push = qp.Load("push", rod, force=(0.01, 0.0, 0.0))
    return qp.Multibody(hub, arm, rod, hinge, spring, push).simulate(10.0, progress=False)


@pytest.fixture(scope="module")
def graph() -> ReconfigurationGraph:
    return pair(0.2).explore(progress=False)


# --- motions --------------------------------------------------------------------------------------
def decoded(packed_motion: dict[str, Any]) -> Keyframes:
    """What a reader of the page finds."""
    n = packed_motion["n"]

    def array(text: str, kind: str) -> Any:
        return np.frombuffer(base64.b64decode(text), dtype=kind)

    def curve(low: float, step: float, text: str) -> Any:
        whole = array(text, "<u2")
        return np.where(whole == NOTHING, np.nan, low + step * whole)

    return Keyframes(
        array(packed_motion["t"], "<f4").astype(float),
        array(packed_motion["r"], f"<i{packed_motion['wide']}").reshape(n, -1, 3),
        array(packed_motion["q"], "<i2").reshape(n, -1, 4),
        np.array(packed_motion["origin"]),
        packed_motion["step"],
        {name: curve(*packed_curve) for name, packed_curve in packed_motion["curves"].items()},
        tuple(packed_motion["missed"]),
    )


@pytest.mark.parametrize(("length", "angle"), [(1e-3, 5e-3), (1e-4, 1e-3)])
def test_motions_miss_by_no_more_than_they_say(
    run: qp.Trajectory, length: float, angle: float
) -> None:
    """At any time, and not only where they were measured."""
    frames = frames_of([(0.0, run)], length, angle)
    stored = keyframes(frames.t, frames.r, frames.q, {}, length, angle, 100_000)
    assert 0.2 * length < stored.missed[0] <= length
    assert stored.missed[1] <= angle
    assert len(stored.t) < len(frames.t)
    found = decoded(pack(stored))
    times = np.sort(np.random.default_rng(1).uniform(0.0, 10.0, 300))
    states = [run.at(float(t)) for t in times]
    there = (
        np.array([found.at(float(t))[0] for t in times]),
        np.array([found.at(float(t))[1] for t in times]),
    )
    off = misses(np.array([s.r for s in states]), np.array([s.q for s in states]), *there)
    assert off[0].max() <= stored.missed[0] + 1.5 * length
    assert off[1].max() <= stored.missed[1] + 1.5 * angle
    at_frames = [found.at(float(t)) for t in np.float32(frames.t[1:-1])]
    off = misses(
        frames.r[1:-1], frames.q[1:-1], *(np.array(each) for each in zip(*at_frames, strict=True))
    )
    assert off[0].max() == pytest.approx(stored.missed[0], rel=0.05)


def test_fewer_keyframes_miss_by_more_and_say_so(run: qp.Trajectory) -> None:
    frames = frames_of([(0.0, run)], LENGTH, ANGLE)
    stored = keyframes(frames.t, frames.r, frames.q, {}, LENGTH, ANGLE, 12)
    assert len(stored.t) <= 12
    off = misses(
        frames.r,
        frames.q,
        *(np.array(each) for each in zip(*map(stored.at, frames.t), strict=True)),
    )
    assert stored.missed[0] > LENGTH
    assert off[0].max() == pytest.approx(stored.missed[0])
    assert off[1].max() == pytest.approx(stored.missed[1])


def test_positions_far_away_take_wider_numbers() -> None:
    t = np.linspace(0.0, 1.0, 50)
    r = np.stack([1e4 * t, np.sin(20.0 * t), 0.0 * t], axis=1)[:, None]
    q = np.broadcast_to((1.0, 0.0, 0.0, 0.0), (50, 1, 4))
    stored = keyframes(t, r, q, {}, LENGTH, ANGLE, 1000)
    assert pack(stored)["wide"] == 4
    assert stored.missed[0] <= LENGTH


def test_jumps_stay_jumps() -> None:
    """Where joints take hold, bodies snap: at one time there are two poses."""
    t = np.array([0.0, 1.0, 1.0, 2.0])
    r = np.array([0.0, 0.0, 1.0, 1.0])[:, None, None] * np.ones(3)
    q = np.broadcast_to((1.0, 0.0, 0.0, 0.0), (4, 1, 4))
    stored = decoded(
        pack(keyframes(t, r, q, {"x": np.array([0.0, 0.0, 5.0, 5.0])}, LENGTH, ANGLE, 100))
    )
    assert stored.t.tolist() == t.tolist()
    assert stored.at(0.999)[0][0, 0] == pytest.approx(0.0, abs=LENGTH)
    assert stored.at(1.0)[0][0, 0] == pytest.approx(1.0, abs=LENGTH)
    assert stored.curves["x"].tolist() == [0.0, 0.0, 5.0, 5.0]


def test_curves_keep_their_shape_and_their_gaps(run: qp.Trajectory) -> None:
    frames = frames_of([(0.0, run)], LENGTH, ANGLE)
    gap = np.where(frames.t > 5.0, np.nan, 1.0)
    given = {
        "kinetic": frames.kinetic,
        "gap": gap,
        "none": np.full(len(gap), np.nan),
        "same": np.ones(len(gap)),
    }
    stored = keyframes(frames.t, frames.r, frames.q, given, LENGTH, ANGLE, 1000)
    found = decoded(pack(stored)).curves
    assert abs(found["kinetic"] - stored.curves["kinetic"]).max() <= np.ptp(frames.kinetic) / 65534
    between = np.interp(frames.t, stored.t, found["kinetic"])
    assert abs(between - frames.kinetic).max() <= 0.005 * np.ptp(frames.kinetic)
    assert np.array_equal(np.isnan(found["gap"]), np.isnan(stored.curves["gap"]))
    assert np.isnan(found["none"]).all()
    assert (found["same"] == 1.0).all()


def test_all_whole_numbers_of_orientations_fit(run: qp.Trajectory) -> None:
    frames = frames_of([(0.0, run)], LENGTH, ANGLE)
    stored = keyframes(frames.t, frames.r, frames.q, {}, LENGTH, ANGLE, 1000)
    assert abs(stored.q).max() == TURNS


def test_frames_keep_the_ledger(run: qp.Trajectory) -> None:
    frames = frames_of([(0.0, run)], LENGTH, ANGLE)
    balance = frames.kinetic + frames.potential + frames.dissipated - frames.work
    assert abs(balance - balance[0]).max() < 1e-8
    assert frames.dissipated[-1] == run.dissipated[-1] > 1e-4
    assert frames.work[-1] == run.work[-1] > 1e-4
    assert list(frames.joints) == ["hinge [rad]"]
    stored = np.searchsorted(frames.t, run.t)
    assert np.array_equal(frames.t[stored], run.t)
    assert np.allclose(frames.joints["hinge [rad]"][stored], run["hinge"].angle, atol=1e-12)
    assert np.array_equal(frames.r[stored, 1], run["rod"].position)


def test_curves_are_smooth_where_bodies_hardly_move() -> None:
    """A long bar that trembles: it goes straight on for far longer than its energies do."""
    bar = qp.Body.box("bar", size=(4.0, 0.1, 0.1), mass=1.0, position=(2.0, 0.0, 0.0))
    hub = qp.Body.box("hub", size=(0.1, 0.1, 0.1), mass=1.0, fixed=True)
    hinge = qp.Revolute("hinge", hub, bar, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    spring = qp.HingeSpring("spring", hinge, stiffness=1.0, rest_angle=1e-3)
    system = qp.Multibody(hub, bar, hinge, spring)
    rate = math.sqrt(1.0 / (16.01 / 12.0 + 4.0))
    frames = frames_of([(0.0, system.simulate(20.0, progress=False))], 1e-2, 1e-2)
    t = np.linspace(0.0, 20.0, 2001)
    kinetic = 0.5e-6 * np.sin(rate * t) ** 2
    assert abs(np.interp(t, frames.t, frames.kinetic) - kinetic).max() < 0.012 * 0.5e-6
    assert len(frames.t) < 400


def test_states_that_were_not_kept_are_made_again() -> None:
    """Three whole swings end where they began, at rest: from both ends alone nothing has moved."""
    hub = qp.Body.box("hub", size=(0.1, 0.1, 0.1), mass=1.0, fixed=True)
    arm = qp.Body.box("arm", size=(0.1, 0.1, 0.1), mass=1.0, position=(0.1, 0.0, 0.0))
    hinge = qp.Revolute("hinge", hub, arm, at=(0.05, -0.05, 0.0), axis=(0.0, 0.0, 1.0))
    system = qp.Multibody(
        hub, arm, hinge, qp.HingeSpring("spring", hinge, stiffness=0.02, rest_angle=-1.0)
    )
    period = 2.0 * math.pi * math.sqrt((1.0 / 6.0 + 1.0 / 2.0) * 0.01 / 0.02)
    sparse = system.simulate(3.0 * period, keep="ends", progress=False)
    assert len(sparse.t) == 2
    assert sparse.final["arm"].position == pytest.approx((0.1, 0.0, 0.0), abs=1e-6)
    frames = frames_of([(0.0, sparse)], LENGTH, ANGLE)
    stored = keyframes(frames.t, frames.r, frames.q, {}, LENGTH, ANGLE, 10_000)
    for t in np.linspace(0.0, 3.0 * period, 50):
        angle = -1.0 + math.cos(2.0 * math.pi * t / period)
        there = 0.05 + math.hypot(0.05, 0.05) * math.cos(angle + math.pi / 4.0)
        assert stored.at(float(t))[0][0, 0] == pytest.approx(there, abs=2.5 * LENGTH)


def test_a_run_whose_states_are_all_kept_is_taken_as_it_is(run: qp.Trajectory) -> None:
    """However many steps it took: where it met singular poses again and again, no run begins anew
    between them."""
    course = run.course._replace(counts=run.counts._replace(steps=100 * len(run.t)))
    fine = qp.Trajectory(run.system, run.start, run.settings, course)
    assert whole(fine) is fine


def test_frames_of_a_flown_plan_go_on(graph: ReconfigurationGraph) -> None:
    flown = graph.replay(graph.plan("n0", "n3"))
    frames = frames_of(flown.pieces, LENGTH, ANGLE)
    assert len(flown.legs) > 1
    assert (np.diff(frames.t) >= 0.0).all()
    assert frames.t[-1] == flown.t[-1]
    assert frames.dissipated[-1] == pytest.approx(flown.dissipated[-1], rel=1e-12)
    assert np.array_equal(frames.r[-1], flown.final.r)


# --- solids ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("shape", "edges", "length"),
    [
        (qp.Box((1.0, 2.0, 3.0)), 12, 24.0),
        (qp.Sphere(0.5), 0, 0.0),
        (qp.Cylinder(0.5, 2.0, axis="y"), 72, 2.0 * math.pi),
    ],
)
def test_sharp_edges_are_drawn(shape: qp.Shape, edges: int, length: float) -> None:
    mesh = mesh_of(shape)
    found = report.sharp_edges(mesh)
    assert len(found) == edges
    ends = mesh.points[found]
    assert np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).sum() == pytest.approx(length, rel=2e-3)


# --- pages ----------------------------------------------------------------------------------------
class Read(HTMLParser):
    """The scripts of a page, and its title."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] == "script":
            self.scripts.append(data)
            self.tags.append("")


def test_no_name_can_break_a_page(run: qp.Trajectory) -> None:
    frames = frames_of([(0.0, run)], LENGTH, ANGLE)
    data = report.run_page(run, frames)
    read = Read(report.page(data, repr(run)))
    assert read.tags.count("script") == 2
    assert "b" not in read.tags
    found = json.loads(read.scripts[0])
    assert [body["name"] for body in found["bodies"]] == [NASTY, "rod", "hub"]
    assert found["title"] == f"A run of hub, {NASTY}, rod"
    assert len(read.scripts) == 2


def test_a_page_asks_for_nothing_from_anywhere(run: qp.Trajectory) -> None:
    whole = report.page(report.run_page(run, frames_of([(0.0, run)], LENGTH, ANGLE)), "")
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", whole)
    assert "default-src 'none'" in whole


def test_numbers_that_json_has_not_become_null() -> None:
    assert report.as_script({"a": [math.inf, math.nan, 1.0]}) == '{"a":[null,null,1.0]}'


def test_the_page_of_a_study_holds_its_graph(graph: ReconfigurationGraph) -> None:
    rests = {key: node.rest for key, node in graph.nodes.items()}
    found = list(frames_of_edges(graph, in_order(graph, False), LENGTH, ANGLE))
    data, beside = report_graph.graph_page(graph, rests, found)
    assert [node["key"] for node in data["nodes"]] == list(graph.nodes)
    assert [edge["k"] for edge in data["edges"]] == [edge.kind for edge in graph.edges]
    assert beside == {}
    for number, edge in enumerate(graph.edges):
        said = data["edges"][number]
        pairs, options = data["tables"]["pairs"], data["tables"]["options"]
        joints = zip(said["j"][::2], said["j"][1::2], strict=True)
        assert tuple((pairs[p], options[o]) for p, o in joints) == edge.selection.joints
        assert (number in data["costs"]["of"]) == (edge.kind == "moved")
        for word in COST_WORDS if edge.kind == "moved" else ():
            cost = data["costs"][word][data["costs"]["of"].index(number)]
            price = price_of(graph.study, word, edge, edge.outcomes[0])
            assert (cost is None) == (price == math.inf)
            assert cost is None or cost == price
        if edge.kind == "moved":
            motion = decoded(data["motions"][str(number)][0])
            assert motion.t[-1] == pytest.approx(edge.duration, rel=1e-6)
            start, there = graph.nodes[edge.source].state, motion.at(0.0)
            assert misses(start.r[None], start.q[None], there[0][None], there[1][None])[0] < 4e-3
    assert {node["verdict"] for node in data["nodes"]} == {
        node.verdict for node in graph.nodes.values()
    }


def test_why_a_shape_rests_is_what_its_certificate_says(graph: ReconfigurationGraph) -> None:
    swinging = [node for node in graph.nodes.values() if any(f > 0.0 for f in node.frequencies)]
    assert swinging
    for node in swinging:
        rest = node.rest
        told = report_graph.rest_of(rest)
        assert [mode["frequency"] for mode in told["modes"]] == pytest.approx(
            list(node.frequencies), rel=1e-6
        )
        assert rest.verdict == node.verdict
        total = np.sum([load for body, _, load, _ in told["forces"] if body == "B"], axis=0)
        assert abs(total[:3]).max() < 1e-6


def test_all_outcomes_of_a_chance_are_shown() -> None:
    graph = balanced().explore(progress=False)
    number = next(k for k, edge in enumerate(graph.edges) if edge.kind == "ambiguous")
    found = dict(frames_of_edges(graph, in_order(graph, False), LENGTH, ANGLE))
    assert len(found[number]) == len(graph.edges[number].outcomes) == 2
    ends = [frames.r[-1, 0] for frames in found[number] if frames is not None]
    assert len(ends) == 2
    assert np.linalg.norm(ends[0] - ends[1]) > 0.05


def test_the_page_of_a_flown_plan_tells_what_switching_costs(graph: ReconfigurationGraph) -> None:
    """The whole ledger holds at every keyframe, where moves meet as well."""
    flown = graph.replay(graph.plan("n0", "n3"))
    assert len(flown.legs) > 1
    frames = frames_of(flown.pieces, LENGTH, ANGLE)
    ledger = report.switching_of(flown, frames)
    balance = frames.kinetic + frames.potential + frames.dissipated + ledger["taken by joints"]
    balance = balance - frames.work - ledger["put in by switching"]
    assert abs(balance - balance[0]).max() < 1e-8
    assert np.ptp(ledger["put in by switching"]) > 1e-5
    shown = decoded(report.run_page(flown, frames)["motion"]).curves
    assert {"put in by switching [J]", "taken by joints [J]"} <= set(shown)
    told = [(event["t"], event["words"]) for event in report.list_events(flown)]
    assert told == sorted(told, key=lambda event: event[0])
    for leg in flown.legs:
        assert (leg.t, f"{leg.edge.source} → {leg.edge.target}: {leg.edge.selection}") in told


def test_what_a_page_says_of_an_edge_is_short_and_whole(graph: ReconfigurationGraph) -> None:
    """All that an outcome says beside its defaults, to six digits."""
    rests = {key: node.rest for key, node in graph.nodes.items()}
    data, _ = report_graph.graph_page(graph, rests, [])
    for edge, told in zip(graph.edges, data["edges"], strict=True):
        for outcome, short in zip(edge.outcomes, told["o"], strict=True):
            whole = Outcome._field_defaults | {"kind": told["k"], "target": None} | short
            assert data["tables"]["reasons"][whole.pop("reason")] == outcome.reason
            target = whole.pop("target")
            assert (None if target is None else list(graph.nodes)[target]) == outcome.target
            for name, value in whole.items():
                assert report_graph.brief(value) == report_graph.brief(getattr(outcome, name))
    assert report_graph.brief((1.23456789, ("a", 2))) == [1.23457, ["a", 2]]
    assert len(json.dumps(data["edges"])) < 250 * len(graph.edges)


def test_what_has_no_room_goes_beside(graph: ReconfigurationGraph) -> None:
    found = list(frames_of_edges(graph, in_order(graph, True), LENGTH, ANGLE))
    assert report_graph.share_out(graph, found, False, 0) == ({}, {})
    inside, beside = report_graph.share_out(graph, found, True, 0)
    assert inside == {}
    assert sorted(map(int, beside)) == sorted(number for number, _ in found)
    first = {
        found[0][0]: beside[str(found[0][0])],
        "beside": found[0][0],
    }  # with its number, here and where it is told
    half, _ = report_graph.share_out(graph, found, False, len(json.dumps(first)))
    assert 0 < len(half) < len(list(graph.moves()))


@pytest.mark.parametrize("words", ["", "said " * 2000])
def test_a_page_is_no_larger_than_it_may_be(
    graph: ReconfigurationGraph, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever else it holds; half of the motions find room."""
    rests = {key: node.rest for key, node in graph.nodes.items()}
    found = list(frames_of_edges(graph, in_order(graph, False), LENGTH, ANGLE))
    sizes = [
        len(report.page(report_graph.graph_page(graph, rests, some, words)[0], words).encode())
        for some in ([], found)
    ]
    monkeypatch.setattr(report_graph, "WHOLE", sum(sizes) // 2)
    data, _ = report_graph.graph_page(graph, rests, found, words)
    assert 0 < len(data["motions"]) < len(found)
    assert sizes[0] < len(report.page(data, words).encode()) <= sum(sizes) // 2


def test_the_best_edges_come_first(graph: ReconfigurationGraph) -> None:
    order = in_order(graph, False)
    assert sorted(order) == [
        k for k, edge in enumerate(graph.edges) if edge.kind in ("moved", "ambiguous")
    ]
    ways = {(edge.source, edge.target) for edge in graph.moves()}
    first = [graph.edges[k] for k in order[: len(ways)]]
    assert {(edge.source, edge.target) for edge in first} <= ways
    for plan in graph.plan("n0", "n2", cost="time", k=2):
        assert all(any(edge is other for other in [graph.edges[k] for k in order]) for edge in plan)
    assert set(order) < set(in_order(graph, True)) or not any(
        edge.duration > 0.0 for edge in graph.edges if edge.kind not in ("moved", "ambiguous")
    )


def test_pages_are_written(tmp_path: Path, run: qp.Trajectory) -> None:
    run.report(tmp_path / "run.html")
    small = study.explore(progress=False)
    (tmp_path / "beside").mkdir()
    small.report(tmp_path / "pair.html", side=tmp_path / "beside" / "x.js")
    for name in ("run.html", "pair.html"):
        assert 5e4 < (tmp_path / name).stat().st_size < 3e5
    data = json.loads(Read((tmp_path / "pair.html").read_text(encoding="utf-8")).scripts[0])
    assert data["side"] == "beside/x.js"
    assert (tmp_path / "beside" / "x.js").read_text(encoding="utf-8").startswith("quirkpyBeside({")
    assert small.report().startswith("2 nodes")


def test_what_cannot_be_written_is_refused(tmp_path: Path, run: qp.Trajectory) -> None:
    with pytest.raises(qp.PartError, match=r"'run.txt' must end in .html"):
        run.report(tmp_path / "run.txt")
    with pytest.raises(qp.PartError, match=r"'x.json', but must end in .js"):
        study.explore(progress=False).report(tmp_path / "x.html", side="x.json")
    assert list(tmp_path.iterdir()) == []


def test_what_a_study_assumes_is_on_its_page() -> None:
    found = dict(listings.assumptions_of(study))
    assert found["Bodies"] == [repr(part) for part in study.system.parts[:2]]
    assert len(found["Potentials"]) == len(study.potentials)
    assert found["Options of pairs"][0] == "A east | B west: Free(), Lock(), Hinge(1)"
    assert found["Safety"] == list(map(repr, study.safety))
    assert "nudge: 1e-06" in found["How it is explored"]


# --- what lies on bodies --------------------------------------------------------------------------
def test_emblems_lie_where_parts_say() -> None:
    """On a body that is turned and off the origin: in its axes, as sites are."""
    body = qp.Body.box("b", size=(0.2, 0.2, 0.2), mass=1.0, position=(1.0, 2.0, 3.0),
                       orientation=qp.rotation((0.0, 0.0, 1.0), 0.5))  # fmt: skip
    other = qp.Body.box("o", size=(0.2, 0.2, 0.2), mass=1.0, position=(1.0, 2.0, 4.0))
    site = body.site("eye", at=(0.1, 0.0, 0.0), z=(1.0, 0.0, 0.0))
    magnets = [qp.Magnet("m", site, moment=-2.0), qp.Magnet("n", other.site("s"), moment=1.0)]
    asked = qp.Study(
        qp.Multibody(body, other), sensors=[qp.Sensor("s", site, kind="k")],
        options={("k", "k"): [qp.Free()]}, potentials={"on": [qp.Dipoles(magnets)]},
        safety=[qp.KeepOut(site, half_angle=0.3, length=0.25)],
    )  # fmt: skip
    square, arrow, _, cone = emblems_of_study(asked)
    assert all(e.body == body for e in (square, arrow, cone))
    assert square.corners[:, 0] == pytest.approx(0.1 + OFF * 0.2)
    assert square.corners.mean(axis=0)[1:] == pytest.approx(0.0, abs=1e-15)
    tail, tip = arrow.corners[:2]
    assert (tip - tail) @ (1.0, 0.0, 0.0) == pytest.approx(-2.0 * MAGNET * 0.2)
    rim = cone.corners[1:] - cone.corners[0]
    assert cone.corners[0] == pytest.approx((0.1, 0.0, 0.0))
    assert np.linalg.norm(rim, axis=1) == pytest.approx(0.25)
    assert rim[:, 0] == pytest.approx(0.25 * math.cos(0.3))
    data, _ = report_graph.graph_page(asked.explore(budget=0, progress=False), {}, [])
    assert [emblem["body"] for emblem in data["emblems"]] == [0, 0, 1, 0]


def test_springs_and_strings_end_where_they_are_seen() -> None:
    """On bodies that move and on fixed ones, which lie aslant, at every state of a run."""
    turn = qp.rotation((1, 2, 3), 0.7)
    hub = qp.Body.box("hub", (0.1, 0.2, 0.3), 1.0, fixed=True, position=(1, 2, 3), orientation=turn)
    one = qp.Body.box("one", (0.1, 0.1, 0.1), 1.0, position=(2, 2, 3), orientation=turn)
    two = qp.Body.box("two", (0.1, 0.1, 0.1), 1.0, position=(2, 3, 3), angular_velocity=(0, 1, 1))
    sites = [b.site("end", at=(0.05, 0.02, 0.03)) for b in (hub, one, two)]
    parts = (
        qp.Spring("spring", sites[0], sites[1], stiffness=1.0, rest_length=0.5),
        qp.String("string", sites[1], sites[2], stiffness=1.0, rest_length=0.5),
    )
    run = qp.Multibody(hub, one, two, *parts).simulate(1.0, progress=False)
    ties = report.bodies_of(run.system)["ties"]
    seen = report.Stage(run.system).at(run.final).ties
    assert [tie.part for tie in seen] == ["spring", "string"]
    r, q = run.final.r, run.final.q
    for shown, tie in zip(ties, seen, strict=True):
        assert shown[2] == ("string tension [N]" if tie.part == "string" else None)
        for (row, point), end in zip(shown[:2], tie.ends, strict=True):
            there = (
                point
                if row is None
                else r[row] + Rotation.from_quat(q[row], scalar_first=True).apply(point)
            )
            assert there == pytest.approx(end, abs=1e-5)


def test_axes_of_joints_lie_on_their_first_bodies(run: qp.Trajectory) -> None:
    (axle,) = emblems_of_run(run.system)
    assert axle.body.name == "hub"
    one, two = axle.corners
    assert 0.5 * (one + two) == pytest.approx((0.05, -0.05, 0.0))
    assert np.cross(two - one, (0.0, 0.0, 1.0)) == pytest.approx(0.0, abs=1e-15)


# --- seeing ---------------------------------------------------------------------------------------
def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255.0 for k in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: str, two: str) -> float:
    low, high = sorted((luminance(one), luminance(two)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("block", [0, 1], ids=["light", "dark"])
def test_colours_can_be_told_apart(block: int) -> None:
    """WCAG 2: 4.5 for what is read, 3 for what is drawn."""
    style = (Path(report.__file__).parent / "page" / "style.css").read_text(encoding="utf-8")
    found = re.findall(r":root \{(.*?)\}", style, re.DOTALL)[block]
    colours = dict(re.findall(r"--(\w+): (#\w{6})", found))
    for ground in ("paper", "ground", "lit"):
        for word in ("ink", "pale", "accent", "good", "bad", "warn"):
            assert contrast(colours[word], colours[ground]) >= (4.5 if ground != "lit" else 4.0), (
                word,
                ground,
            )
    for line in ("arrow", "curve1", "curve2", "curve3", "curve4", "curve5", "curve6", "curve7"):
        assert contrast(colours[line], colours["paper"]) >= 3.0, line


def test_bodies_have_the_colours_they_were_given() -> None:
    def colour(given: Any, row: int | None = 0) -> str:
        return report.colour_text(qp.Body.sphere("ball", 0.1, 1.0, color=given), row)

    assert colour("red") == "red"
    assert colour("#102030") == "#102030"
    assert colour((1.0, 0.5, 0.0)) == "#ff8000"
    assert colour("url(x)") == colour(None) != colour(None, 1)


def test_tensions_of_strings_are_told_and_ask_for_no_keyframes() -> None:
    """A page knows how hard each string pulls, over several sites with one tension too; a string
    that flutters needs no more keyframes than the motion."""
    ball = qp.Body.sphere("ball", 0.01, 1.0, position=(0, 0, -0.5))
    ring = [qp.GROUND.site("ring", at=(0.5, 0, 0))]
    string = qp.String("s", qp.GROUND, ball, stiffness=400.0, rest_length=1.6, over=ring)
    hung = qp.Multibody(ball, string, qp.Gravity((0, 0, -9.81)))
    ties = report.bodies_of(hung)["ties"]
    assert [tie[2] for tie in ties] == ["s tension [N]"] * 2
    assert [tie.tension for tie in report.Stage(hung).at(hung.initial).ties] == [0.0, 0.0]
    flown = hung.simulate(2.0, progress=False)
    frames = frames_of(flown.pieces, *report.tolerances_of(hung.parts))
    told = frames.joints["s tension [N]"]
    assert told.min() == 0.0
    assert told.max() == pytest.approx(flown["s"].tension.max(), rel=1e-9)
    curves = {"s tension [N]": told * np.cos(1e4 * np.arange(len(told)))}
    made, plain = (
        keyframes(frames.t, frames.r, frames.q, some, 1e-3, 1e-2, 10_000) for some in (curves, {})
    )
    assert len(made.t) == len(plain.t)
