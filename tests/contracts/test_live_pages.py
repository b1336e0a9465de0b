"""Pages that ask: their server, what they are told, and what one sees of them in a browser."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

import quirkpy as qp
from demos.cubesat_pair import pair
from quirkpy.views import live, server
from quirkpy.views.server import Live
from tests.browser import PATIENCE, in_a_browser, kept, opened
from tests.faults.sentence import check_sentence

LIMITED = qp.deg * 100


def swing() -> qp.Multibody:
    """Two bars in a row on hinges, the second between stops."""
    one = qp.Body.box("one", size=(1.0, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0))
    two = qp.Body.box("two", size=(1.0, 0.1, 0.1), mass=1.0, position=(1.5, 0, 0))
    first = qp.Revolute("first", qp.GROUND, one, at=(0, 0, 0), axis=(0, 1, 0))
    second = qp.Revolute("second", one, two, at=(1, 0, 0), axis=(0, 1, 0))
    springs = (
        qp.HingeSpring(f"at {joint.name}", joint, stiffness=20.0, damping=4.0)
        for joint in (first, second)
    )
    stop = qp.JointStop("stop", second, lower=-LIMITED, upper=LIMITED)
    return qp.Multibody(one, two, first, second, stop, *springs, qp.Gravity((0, 0, -9.81)))


@pytest.fixture
def asked() -> Iterator[Live]:
    """The page of a system, which a server holds ready."""
    system = swing()
    with_page = Live(lambda: live.SystemPage(system, system.initial))
    yield with_page
    with_page.close()


def get(url: str, data: Any = None, **heads: str) -> tuple[int, bytes]:
    """The answer to a request: its number, and what it says."""
    body = None if data is None else json.dumps(data).encode()
    request = urllib.request.Request(url, body, heads)
    try:
        with urllib.request.urlopen(request, timeout=60.0) as reply:
            return reply.status, reply.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def test_only_the_page_itself_is_answered(asked: Live) -> None:
    """Not who does not know the secret, comes by another name, or from another page."""
    status, page = get(asked.url)
    assert status == 200
    assert b"connect-src 'self'" in page
    question = {"do": "move", "name": "first", "value": 0.2}
    assert get(asked.url + "ask", question)[0] == 200
    assert get(asked.url.replace("127.0.0.1", "localhost") + "ask", question)[0] == 200
    strangers: tuple[tuple[str, dict[str, str]], ...] = (
        (asked.url.replace(asked.secret, "secret"), {}),
        (asked.url.replace(asked.secret, "%C3%A4"), {}),
        (asked.url, {"Host": "elsewhere.org"}),
        (asked.url, {"Origin": "http://elsewhere.org"}),
        (asked.url, {"Origin": "null"}),
    )
    for url, heads in strangers:
        assert get(url, **heads)[0] == 404
        assert get(url + "ask", question, **heads)[0] == 404
    assert get(asked.url + "ask", {"long": "x" * server.LONGEST})[0] == 404
    assert server.HERE == "127.0.0.1"
    assert asked.host.startswith("127.0.0.1:")


def test_sliders_pose_the_system(asked: Live) -> None:
    """As `pose` does, between the stops; what makes no sense is told in a sentence."""
    system = swing()
    told = asked.answer({"do": "move", "name": "second", "value": 0.5})["pose"]
    wanted = system.pose({"second": 0.5})
    assert told["values"] == pytest.approx([wanted["first"].angle, 0.5], abs=1e-9)
    assert told["energy"] == pytest.approx(system.energy(wanted).potential)
    assert [x for row in told["r"] for x in row] == pytest.approx(
        wanted.r.ravel().tolist(), abs=1e-7
    )
    assert asked.answer({"do": "begin anew"})["pose"]["values"] == pytest.approx([0.0, 0.0])
    shown = live.SystemPage(system, system.initial)
    ranges = [
        (slider["low"], slider["high"]) for slider in map(shown._slider, *zip(*shown.names.items()))
    ]
    assert ranges[0] == pytest.approx((-3.14159265, 3.14159265))
    assert ranges[1] == pytest.approx((-LIMITED, LIMITED))
    status, words = get(asked.url + "ask", {"do": "move", "name": "first", "value": "x"})
    assert status == 400
    check_sentence(json.loads(words)["error"], "'x'", ("one number",))
    assert get(asked.url + "ask", {})[0] == 400
    assert get(asked.url)[0] == 200


def test_let_go_and_settled(asked: Live) -> None:
    """Both begin where the sliders stand."""
    asked.answer({"do": "move", "name": "first", "value": 0.3})
    told = asked.answer({"do": "let go", "seconds": 0.5})
    run = swing().simulate(0.5, state=swing().pose({"first": 0.3}))
    assert told["pose"]["values"][0] == pytest.approx(run.final["first"].angle, abs=1e-6)
    assert told["motion"]["n"] > 2
    told = json.loads(get(asked.url + "ask", {"do": "settle"})[1], parse_constant=pytest.fail)
    assert told["words"].startswith("stable: ")
    assert told["pose"]["values"] == pytest.approx(
        [swing().settle().state[name].angle for name in ("first", "second")], abs=1e-6
    )
    assert len(told["rest"]["modes"]) == len(swing().settle().modes)


def test_a_choice_is_picked_and_watched() -> None:
    """As the exploration finds it, to the bit; twice it is the same edge."""
    study = pair()
    shown = live.StudyPage(study, None)
    offer = shown.answer({"do": "offer", "node": "n0"})
    graph = study.explore(progress=False)
    mine = [edge for edge in graph.edges if edge.source == "n0"]
    for edge in sorted(mine, key=lambda edge: edge.kind != "moved")[:4]:
        options, potential = dict(edge.selection.joints), edge.selection.potential
        assert set(options) == set(offer["pairs"])
        ask = {"do": "fly", "node": "n0", "options": options, "potential": potential}
        told = shown.answer(ask)
        flown = shown.trial.graph.edges[told["edge"]]
        assert (flown.kind, flown.outcomes[0].duration) == (edge.kind, edge.outcomes[0].duration)
        assert shown.answer(ask)["edge"] == told["edge"]
        assert len(told["motion"]) == len(edge.outcomes)
    assert "n1" in shown.trial.graph.nodes
    with pytest.raises(qp.PartError, match="is no choice at n0"):
        shown.answer({"do": "fly", "node": "n0", "options": {}, "potential": "none"})


def test_a_known_graph_is_gone_on_from() -> None:
    """Its nodes and edges keep their numbers and names."""
    study = pair()
    graph = study.explore(budget=5, progress=False)
    graph.name("n0", "closed")
    again = live.StudyPage(study, graph).trial.graph
    assert [node.id for node in again.nodes.values()] == [node.id for node in graph.nodes.values()]
    assert again["closed"].key == "n0"
    assert [edge.selection for edge in again.edges] == [edge.selection for edge in graph.edges]


def test_a_script_waits_until_the_page_is_closed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(server, "GONE", 0.1)
    monkeypatch.setattr(server, "BEAT", 0.05)
    run = swing().simulate(0.1, progress=False)

    def open_and_close() -> None:
        url = ""
        while not url:
            url = capsys.readouterr().out.partition("open ")[2].partition(" in a browser")[0]
        with urllib.request.urlopen(url + "stay", timeout=60.0) as line:
            line.read(3)

    reader = threading.Thread(target=open_and_close)
    reader.start()
    shown = run.show(browser=False, wait=True)  # comes back
    reader.join()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(shown.url, timeout=10.0)
    with pytest.raises(qp.PartError, match="no browser has opened") as caught:
        run.show(browser=False, wait=True, patience=0.1)
    assert caught.value.code == "machine"


def test_a_notebook_has_the_page_below_its_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "in_notebook", lambda: True)
    shown = swing().show()
    try:
        assert f'<iframe src="{shown.url}"' in shown._repr_html_()
        assert get(shown.url)[0] == 200
        for port in (shown.port, 99999999):
            with pytest.raises(qp.PartError, match=f"show: port {port} cannot be used"):
                swing().show(port=port)
    finally:
        shown.close()


# --- in a browser ---------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from opened()


@in_a_browser
def test_sliders_move_bodies_in_a_browser(browser: Any, asked: Live) -> None:
    page = browser.new_context(viewport={"width": 1200, "height": 800}).new_page()
    page.set_default_timeout(PATIENCE)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(asked.url)
    page.wait_for_selector(".space[data-drawn]")
    before = kept(page, "live/system")
    slider = page.get_by_role("slider", name="first [rad]")
    slider.fill("0.8")
    page.wait_for_function(
        "() => document.querySelector('.slider output').textContent.startsWith('45.8')"
    )
    page.wait_for_timeout(300)
    assert (abs(kept(page, "live/moved") - before).max(axis=2) > 0.1).sum() > 2000
    slider.fill("1e-12")  # what is left by rounding is told as none
    page.wait_for_function(
        "() => document.querySelector('.slider output').textContent === '0\u00b0'"
    )
    page.get_by_role("button", name="Settle").click()
    page.wait_for_function(
        "() => document.querySelector('#panel').textContent.includes('stable: ')"
    )
    kept(page, "live/settled")
    page.get_by_role("button", name="Let go").click()
    page.wait_for_function(
        "() => document.querySelector('#panel').textContent.includes('Trajectory(')"
    )
    assert asked.pages == 1
    page.close()
    assert not complaints


@in_a_browser
def test_a_choice_is_flown_in_a_browser(browser: Any) -> None:
    study = pair()
    shown = Live(lambda: live.StudyPage(study, None))
    page = browser.new_context(viewport={"width": 1200, "height": 900}).new_page()
    page.set_default_timeout(PATIENCE)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(shown.url)
    for name, word in (("A east | B west", "hinge 1"), ("potential", "-y")):
        page.get_by_role("combobox", name=name, exact=True).select_option(word)
    page.get_by_role("button", name="Fly it").click()
    page.wait_for_function(
        "() => document.querySelector('header p').textContent.includes('1 choice tried')"
    )
    kept(page, "live/study")
    page.close()
    shown.close()
    assert not complaints
