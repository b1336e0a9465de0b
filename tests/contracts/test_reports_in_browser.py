"""Pages in a real browser, opened from the disk with the network off; screenshots stay in out/reports."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from demos.lattice import lattice
from quirkpy.explore.graph import ReconfigurationGraph

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(BROWSER is None, reason="no Chromium here; on Debian: apt-get install chromium"),
]

ROOT = Path(__file__).resolve().parents[2]
#: A browser without a graphics card that speaks to nobody.
FLAGS = [
    "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
DESK, PHONE = (1280, 900), (390, 844)
NASTY = "</script><script>alert('arm')</script>"
#: Where the eye of the view is, and whether it has moved from a place.
EYE = "() => document.querySelector('.space').layout.scene.camera.eye"
TURNED = f"(one) => {{ const two = ({EYE})(); return Math.hypot(two.x - one.x, two.y - one.y, two.z - one.z) > 0.1; }}"


@pytest.fixture(scope="module")
def graph() -> ReconfigurationGraph:
    """Four cubes on a lattice."""
    return lattice(4).explore(progress=False)


@pytest.fixture(scope="module")
def pages(graph: ReconfigurationGraph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page of a study, its side file, and the page of a run."""
    folder = tmp_path_factory.mktemp("pages")
    graph.name("n0", "row & <b>")
    graph.report(folder / "study.html", side=folder / "study.js")
    hub = qp.Body.box("hub", size=(0.1, 0.1, 0.1), mass=1.0, fixed=True)
    arm = qp.Body.box(NASTY, size=(0.1, 0.1, 0.1), mass=1.0, position=(0.1, 0.0, 0.0))
    hinge = qp.Revolute("hinge", hub, arm, at=(0.05, -0.05, 0.0), axis=(0.0, 0.0, 1.0))
    spring = qp.HingeSpring("spring", hinge, stiffness=0.02, rest_angle=-1.0, damping=1e-3)
    qp.Multibody(hub, arm, hinge, spring).simulate(20.0, progress=False).report(folder / "run.html")
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield opened
        opened.close()


class Opened:
    """A page in a window of some size, with what it complained about and asked for."""

    def __init__(self, browser: Any, path: Path, motion: str = "reduce") -> None:
        self.context = browser.new_context(
            viewport={"width": DESK[0], "height": DESK[1]}, offline=True, reduced_motion=motion
        )
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda said: said.type == "error" and self.complaints.append(said.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.complaints.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda asked: self.asked(asked.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_function("() => (document.querySelector('.space') || {}).layout")

    def asked(self, address: str) -> None:
        if not address.startswith(("file:", "data:", "blob:")):
            self.complaints.append(address)

    def pixels(self, selector: str = ".space") -> Any:
        """What is seen of an element (height, width, 3)."""
        from matplotlib.image import imread

        return imread(io.BytesIO(self.page.locator(selector).first.screenshot()))[:, :, :3]

    def wait_until_not(self, before: Any) -> None:
        """Wait until the bodies are seen otherwise."""
        for _ in range(40):
            if abs(self.pixels() - before).max() > 0.3:
                return
            self.page.wait_for_timeout(250)
        raise AssertionError("nothing has changed")

    def keep(self, name: str, whole: bool = False) -> None:
        """Leave a screenshot for people to look at."""
        folder = ROOT / "out" / "reports"
        folder.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=str(folder / f"{name}.png"), full_page=whole)

    def panel(self) -> str:
        return str(self.page.locator("#panel").inner_text())

    def close(self) -> None:
        self.context.close()
        assert self.complaints == []


@pytest.fixture(scope="module")
def study(browser: Any, pages: Path) -> Iterator[Opened]:
    """The page of the study, which all tests on it go through in one window."""
    opened = Opened(browser, pages / "study.html")
    yield opened
    opened.close()


def colours_in(picture: Any) -> int:
    return len(np.unique((picture * 15).astype(int).reshape(-1, 3), axis=0))


def test_the_study_is_small_enough(pages: Path) -> None:
    from quirkpy.views.report import library

    assert (pages / "study.html").stat().st_size - len(library().encode()) < 1_000_000


def test_it_opens_with_the_start(study: Opened) -> None:
    study.page.wait_for_timeout(500)
    assert "7 shapes, 120 choices" in study.page.locator("header").inner_text()
    assert "Shape row & <b>" in study.panel()
    assert "nothing in it can move" in study.panel()
    assert colours_in(study.pixels()) > 30
    assert study.page.locator(".net .node").count() == 7
    study.keep("study")


def test_a_node_is_chosen_by_mouse_and_by_keyboard(study: Opened) -> None:
    study.page.locator(".net .node").nth(3).click()
    assert "Shape n3" in study.panel()
    study.page.locator(".net .node").nth(2).focus()
    study.page.keyboard.press("Enter")
    assert "Shape n2" in study.panel()
    assert study.page.locator(".net .node.chosen").count() == 1


def test_an_edge_plays_its_motion(study: Opened, graph: ReconfigurationGraph) -> None:
    study.page.locator(".net .way").first.focus()
    study.page.keyboard.press("Enter")
    edge = min((e for e in graph.moves() if (e.source, e.target) == ("n0", "n1")), key=lambda e: e.duration)
    told = study.panel()
    assert "From row & <b> to n1 moved" in " ".join(told.split())
    for pair, option in edge.selection.joints:
        assert f"{pair}\t{option}" in told
    assert f"{float(f'{edge.duration:.4g}')} s" in told
    assert study.page.locator(".player input").input_value() == "0"  # who asks for less motion starts it himself
    one = study.pixels()
    study.page.locator(".player button").click()
    study.page.wait_for_function("() => document.querySelector('.player input').value > 50")
    study.page.locator(".player input").fill("1000")
    study.wait_until_not(one)
    assert f"{float(f'{edge.duration:.4g}')} s of" in study.page.locator(".player output").inner_text()
    cursor = study.page.evaluate("() => document.querySelectorAll('.curves')[0].layout.shapes[0].x0")
    assert cursor == pytest.approx(edge.duration, rel=1e-5)
    study.keep("edge")


def test_dragging_turns_the_view(study: Opened) -> None:
    study.page.locator(".space").scroll_into_view_if_needed()
    box = study.page.locator(".space").bounding_box()
    x, y = box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"]
    before, one = study.page.evaluate(EYE), study.pixels()
    study.page.mouse.move(x, y)
    study.page.mouse.down()
    study.page.mouse.move(x + 120, y + 30, steps=6)
    study.page.mouse.up()
    study.page.wait_for_function(TURNED, arg=before)
    after = study.page.evaluate(EYE)
    study.wait_until_not(one)
    study.page.locator(".space").focus()
    study.page.keyboard.press("ArrowLeft")
    study.page.wait_for_function(TURNED, arg=after)


@pytest.mark.parametrize("cost", ["energy", "time", "switches"])
def test_plans_are_those_of_the_graph(study: Opened, graph: ReconfigurationGraph, cost: Any) -> None:
    labels = {"Start": "0", "Goal": "5", "By": cost}
    for label, value in labels.items():
        study.page.get_by_label(label, exact=True).select_option(value)
    study.page.get_by_role("button", name="Find the best plans").click()
    said = study.page.locator(".plans > li").all_inner_texts()
    wanted = graph.plan("n0", "n5", cost=cost, k=3)
    assert len(said) == len(wanted) == 3
    for words, plan in zip(said, wanted, strict=True):
        assert f"time {float(f'{plan.time:.4g}')} s" in words or cost != "time"
        assert f"{plan.switches} switch" in words or cost != "switches"
    route = " → ".join(graph.nodes[key].name or key for key in wanted[0].nodes)
    assert cost == "energy" or route in said[0] or len({plan.cost for plan in wanted}) < 3
    assert study.page.locator(".net .node.chosen").count() == said[0].splitlines()[0].count("→") + 1
    assert study.page.locator(".net .node.faded").count() > 0
    if cost == "time":
        study.keep("plan")


def test_searching_finds(study: Opened) -> None:
    field = study.page.get_by_label("Search shapes and choices")
    field.fill("rejected c1 blocked")
    hits = study.page.locator("section[aria-label=Search] .hits button")
    assert 0 < hits.count() <= 12
    hits.first.click()
    assert "is blocked" in study.panel()
    assert "rejected" in study.panel()
    field.fill("no such thing")
    assert "nothing has all of these words" in study.page.locator("section[aria-label=Search]").inner_text()
    field.fill("")


def test_tables_hold_all_of_it(study: Opened) -> None:
    study.page.get_by_role("tab", name="Choices").click()
    study.page.get_by_role("button", name="Show more").click()
    assert study.page.locator("#tab2 tbody tr").count() == 120
    study.page.get_by_label("Kind").select_option("moved")
    study.page.get_by_role("button", name="time [s]").click()
    times = [float(text) for text in study.page.locator("#tab2 tbody tr td:nth-child(4)").all_inner_texts()]
    assert len(times) == 44
    assert times == sorted(times)
    study.keep("choices")
    study.page.get_by_role("tab", name="Shapes").click()
    study.page.get_by_role("button", name="n4", exact=True).last.click()
    assert "Shape n4" in study.panel()
    study.page.get_by_role("tab", name="Graph").click()


def test_what_lies_beside_is_read_when_asked_for(study: Opened, graph: ReconfigurationGraph) -> None:
    number = next(k for k, edge in enumerate(graph.edges) if edge.kind == "stayed" and edge.duration > 0.0)
    study.page.evaluate(f"() => {{ location.hash = '#e{number}'; }}")
    study.page.get_by_role("button", name="Fetch its motion from study.js").click()
    study.page.wait_for_function("() => !document.querySelector('.player').hidden")
    assert float(study.page.locator(".player input").input_value()) >= 0.0


def test_it_fits_a_phone_and_the_dark(study: Opened) -> None:
    """The same window, made small and dark."""
    study.page.emulate_media(color_scheme="dark")
    study.page.locator(".net .way").nth(5).focus()
    study.page.keyboard.press("Enter")
    study.page.locator(".player input").fill("500")
    assert colours_in(study.pixels()) > 20
    assert study.pixels()[:5].mean() < 0.3
    study.keep("dark")
    study.page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    study.page.wait_for_function("() => document.querySelector('.space .svg-container').clientWidth < 390")
    assert study.page.evaluate("() => document.documentElement.scrollWidth") <= PHONE[0]
    assert colours_in(study.pixels()) > 20
    study.keep("phone", whole=True)


def test_a_run_plays_in_step_with_its_curves(browser: Any, pages: Path) -> None:
    opened = Opened(browser, pages / "run.html", "no-preference")
    opened.page.wait_for_function("() => document.querySelector('.player input').value > 20")
    assert NASTY in opened.page.locator("h1").inner_text()
    assert colours_in(opened.pixels()) > 20
    opened.page.locator(".player button").click()
    opened.page.locator(".player input").fill("250")
    marks = opened.page.evaluate("() => [...document.querySelectorAll('.curves')].map((p) => p.layout.shapes[0].x0)")
    assert marks == [pytest.approx(5.0), pytest.approx(5.0)]
    assert "5 s of 20 s" in opened.page.locator(".player output").inner_text()
    opened.keep("run")
    opened.close()
