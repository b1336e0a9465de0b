"""Pages in a real browser, opened from the disk with the network off; screenshots stay in
out/reports."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from demos import cubesat_pair
from demos.lattice import lattice
from quirkpy.explore.graph import ReconfigurationGraph
from quirkpy.explore.model.graph import Edge
from tests.browser import MARKS, PATIENCE, kept, pixels

pytestmark = MARKS

DESK, PHONE = (1280, 900), (390, 844)
NASTY = "</script><script>alert('arm')</script>"
#: Where the eye of the view is, and whether it has moved from a place.
EYE = "() => document.querySelector('.space').camera.axes().back"
TURNED = (
    "(one) => "
    f"{{ const two = ({EYE})(); return Math.hypot(...two.map((x, i) => x - one[i])) > 0.1; }}"
)
#: Of each chart the time at which its mark stands.
TIMES = (
    "() => [...document.querySelectorAll('.curves .cursor')].map((mark) => Number(mark.dataset.t))"
)


@pytest.fixture(scope="module")
def graph() -> ReconfigurationGraph:
    """Four cubes on a lattice."""
    return lattice(4).explore(progress=False)


@pytest.fixture(scope="module")
def pages(graph: ReconfigurationGraph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page of a study, its side file, and the page of a run."""
    folder = tmp_path_factory.mktemp("pages")
    graph.name("n0", "row & <b>")
    graph.robustness(quickest(graph, "n0", "n1"), 20)
    graph.report(folder / "study.html", side=folder / "study.js")
    hub = qp.Body.box("hub", size=(0.1, 0.1, 0.1), mass=1.0, fixed=True)
    arm = qp.Body.box(NASTY, size=(0.1, 0.1, 0.1), mass=1.0, position=(0.1, 0.0, 0.0))
    hinge = qp.Revolute("hinge", hub, arm, at=(0.05, -0.05, 0.0), axis=(0.0, 0.0, 1.0))
    spring = qp.HingeSpring("spring", hinge, stiffness=0.02, rest_angle=-1.0, damping=1e-3)
    qp.Multibody(hub, arm, hinge, spring).simulate(20.0, progress=False).report(folder / "run.html")
    return folder


def quickest(graph: ReconfigurationGraph, source: str, target: str) -> Edge:
    """Of all edges from one shape to another the one whose motion takes least."""
    return min(
        (e for e in graph.moves() if (e.source, e.target) == (source, target)),
        key=lambda e: e.duration,
    )


class Opened:
    """A page in a window of some size, with what it complained about and asked for."""

    def __init__(self, browser: Any, path: Path, motion: str = "reduce", **how: Any) -> None:
        how = {
            "viewport": {"width": DESK[0], "height": DESK[1]},
            "offline": True,
            "reduced_motion": motion,
            **how,
        }
        self.context = browser.new_context(**how)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on(
            "console", lambda said: said.type == "error" and self.complaints.append(said.text)
        )
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on(
            "dialog", lambda dialog: (self.complaints.append(dialog.message), dialog.dismiss())
        )
        self.page.on("request", lambda asked: self.asked(asked.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_function(
            "() => Number((document.querySelector('.space') || {dataset: {}}).dataset.drawn) > 0"
        )

    def asked(self, address: str) -> None:
        if not address.startswith(("file:", "data:", "blob:")):
            self.complaints.append(address)

    def pixels(self, selector: str = ".space") -> Any:
        """What is seen of an element (height, width, 3)."""
        return pixels(self.page.locator(selector).first.screenshot())

    def wait_until_not(self, before: Any) -> None:
        """Wait until the bodies are seen otherwise."""
        for _ in range(PATIENCE // 250):
            if abs(self.pixels() - before).max() > 0.3:
                return
            self.page.wait_for_timeout(250)
        raise AssertionError("nothing has changed")

    def keep(self, name: str, whole: bool = False) -> None:
        """Leave a screenshot for people to look at."""
        kept(self.page, f"reports/{name}", whole)

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
    assert (pages / "study.html").stat().st_size < 300_000
    assert (pages / "run.html").stat().st_size < 150_000


def test_it_opens_with_the_start(study: Opened) -> None:
    study.page.wait_for_selector("#panel h2")
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


def shown(value: float) -> str:
    """A number as the page writes it: four digits."""
    digits, _, power = f"{value:.3e}".partition("e")
    if value and not 1e-3 <= abs(value) < 1e6:
        return f"{float(digits):g}e{int(power)}".replace("-", "\u2212")
    return f"{float(f'{value:.4g}'):.12g}".replace("-", "\u2212")


def test_an_edge_plays_its_motion(study: Opened, graph: ReconfigurationGraph) -> None:
    study.page.locator(".net .way").first.focus()
    study.page.keyboard.press("Enter")
    edge = quickest(graph, "n0", "n1")
    told = study.panel()
    assert "From row & <b> to n1 moved" in " ".join(told.split())
    for pair, option in edge.selection.joints:
        assert f"{pair}\t{option}" in told
    assert f"{float(f'{edge.duration:.4g}')} s" in told
    for outcome in (
        edge.outcomes[0].clearance,
        edge.outcomes[0].switching,
        edge.outcomes[0].dissipated,
    ):
        assert shown(outcome) in told
    assert edge.robustness is not None
    assert f"Robustness: {edge.robustness}" in told
    assert (
        study.page.locator(".player input").input_value() == "0"
    )  # who asks for less motion starts it himself
    one = study.pixels()
    study.page.locator(".player button").click()
    study.page.wait_for_function("() => document.querySelector('.player input').value > 50")
    study.page.locator(".player input").fill("1000")
    study.wait_until_not(one)
    assert (
        f"{float(f'{edge.duration:.4g}')} s of" in study.page.locator(".player output").inner_text()
    )
    assert study.page.evaluate(TIMES)[0] == pytest.approx(edge.duration, rel=1e-5)
    study.keep("edge")


#: Where on the screen an arrow is half way.
HALF_WAY = """(way) => {
  way.scrollIntoView({ block: "center", behavior: "instant" });
  const line = way.querySelector(".line"), at = line.getPointAtLength(0.5 * line.getTotalLength());
  const { x, y } = at.matrixTransform(line.getScreenCTM());
  return [x, y];
}"""


def test_an_arrow_is_clicked_beside_its_line(study: Opened) -> None:
    """Almost three dots away from it: no one hits a line."""
    way = study.page.locator(".net .way").first
    study.page.locator(".net .node").nth(5).click()
    assert "Shape n5" in study.panel()
    x, y = way.evaluate(HALF_WAY)
    study.page.mouse.click(x + 2.0, y + 2.0)
    assert "From row & <b> to n1 moved" in " ".join(study.panel().split())


def test_wheel_and_keys_move_the_eye(study: Opened) -> None:
    far = "() => document.querySelector('.space').camera.distance"
    box = study.page.locator(".space")
    box.scroll_into_view_if_needed()
    box.hover()
    begun = study.page.evaluate(far)
    study.page.mouse.wheel(0, -300)
    study.page.wait_for_function(f"(begun) => ({far})() < 0.8 * begun", arg=begun)
    box.focus()
    study.page.keyboard.press("Shift+ArrowLeft")
    assert study.page.evaluate("() => document.querySelector('.space').camera.aside[0]") != 0.0
    study.page.keyboard.press("0")
    assert study.page.evaluate(far) == begun


def test_who_has_no_graphics_is_told(browser: Any, pages: Path) -> None:
    """Everything else is there."""
    context = browser.new_context(offline=True, reduced_motion="reduce")
    page = context.new_page()
    page.add_init_script(
        "const get = HTMLCanvasElement.prototype.getContext;"
        "HTMLCanvasElement.prototype.getContext = function (kind, ...how) "
        "{ return kind === 'webgl2' ? null : get.call(this, kind, ...how); };"
    )
    page.goto((pages / "run.html").as_uri())
    page.wait_for_selector(".curves .curve")
    assert "no WebGL 2" in page.locator(".space").inner_text()
    context.close()


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
def test_plans_are_those_of_the_graph(
    study: Opened, graph: ReconfigurationGraph, cost: Any
) -> None:
    labels = {"Start": "0", "Goal": "5", "By": cost}
    for label, value in labels.items():
        study.page.get_by_label(label, exact=True).select_option(value)
    study.page.get_by_role("button", name="Find the best plans").click()
    said = study.page.locator(".plans > li").all_inner_texts()
    wanted = graph.plan("n0", "n5", cost=cost, k=3)
    assert len(said) == len(wanted) == 3
    for words, plan in zip(said, wanted, strict=True):
        assert f"energy {shown(plan.energy)} J" in words or cost != "energy"
        assert f"time {float(f'{plan.time:.4g}')} s" in words or cost != "time"
        assert f"{plan.switches} switch" in words or cost != "switches"
        for share in ("switching", "dissipated"):
            assert f"{share} {shown(getattr(plan.spending, share))} J" in words
    route = " → ".join(graph.nodes[key].name or key for key in wanted[0].nodes)
    assert cost == "energy" or route in said[0] or len({plan.cost for plan in wanted}) < 3
    assert study.page.locator(".net .node.chosen").count() == said[0].splitlines()[0].count("→") + 1
    assert study.page.locator(".net .node.faded").count() > 0
    if cost == "time":
        study.keep("plan")


def test_the_safest_plan_is_among_edges_of_known_robustness(
    study: Opened, graph: ReconfigurationGraph
) -> None:
    study.page.get_by_label("Goal", exact=True).select_option("1")
    study.page.get_by_label("By", exact=True).select_option("risk")
    study.page.get_by_role("button", name="Find the best plans").click()
    (words,) = study.page.locator(".plans > li").all_inner_texts()
    (plan,) = graph.plan("n0", "n1", cost="risk", k=3)
    assert words.startswith("1. row & <b> \u2192 n1")
    assert f"at least {shown(math.exp(-plan.cost))}" in words
    study.page.get_by_label("Goal", exact=True).select_option("5")
    study.page.get_by_role("button", name="Find the best plans").click()
    said = study.page.locator(".plans").inner_text()
    assert "n5 cannot be reached from row & <b> along edges of known robustness" in said


def test_searching_finds(study: Opened) -> None:
    field = study.page.get_by_label("Search shapes and choices")
    field.fill("rejected c1 blocked")
    hits = study.page.locator("section[aria-label=Search] .hits button")
    assert 0 < hits.count() <= 12
    hits.first.click()
    assert "is blocked" in study.panel()
    assert "rejected" in study.panel()
    field.fill("no such thing")
    assert (
        "nothing has all of these words"
        in study.page.locator("section[aria-label=Search]").inner_text()
    )
    field.fill("")


def test_tables_hold_all_of_it(study: Opened) -> None:
    study.page.get_by_role("tab", name="Choices").click()
    study.page.get_by_role("button", name="Show more").click()
    assert study.page.locator("#tab2 tbody tr").count() == 120
    study.page.get_by_label("Kind").select_option("moved")
    study.page.get_by_role("button", name="time [s]").click()
    times = [
        float(text)
        for text in study.page.locator("#tab2 tbody tr td:nth-child(4)").all_inner_texts()
    ]
    assert len(times) == 44
    assert times == sorted(times)
    study.keep("choices")
    study.page.get_by_role("tab", name="Shapes").click()
    study.page.get_by_role("button", name="n4", exact=True).last.click()
    assert "Shape n4" in study.panel()
    study.page.get_by_role("tab", name="Graph").click()


def test_what_lies_beside_is_read_when_asked_for(
    study: Opened, graph: ReconfigurationGraph
) -> None:
    number = next(
        k for k, edge in enumerate(graph.edges) if edge.kind == "stayed" and edge.duration > 0.0
    )
    study.page.evaluate(f"() => {{ location.hash = '#e{number}'; }}")
    study.page.get_by_role("button", name="Fetch its motion from study.js").click()
    study.page.wait_for_function("() => !document.querySelector('.player').hidden")
    assert float(study.page.locator(".player input").input_value()) >= 0.0


#: Contrast of every text that is seen with what lies behind it, the lowest first.
CONTRASTS = """() => {
  const parts = (colour) => colour.match(/[0-9.]+/g).map(Number);
  const light = (c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const card = one.matches(".node") && one.querySelector(".card");
      const colour = card ? getComputedStyle(card).fill : getComputedStyle(one).backgroundColor;
      if (colour.startsWith("rgb") && (parts(colour)[3] ?? 1) > 0.99) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    const seen = element.checkVisibility({ checkOpacity: true }) && !element.closest(".faded, option");
    if (!seen || (!own && !element.placeholder)) continue;
    const style = getComputedStyle(element, element.placeholder ? "::placeholder" : null);
    const colours = [element instanceof SVGElement ? style.fill : style.color, behind(element)];
    const [low, high] = colours.map((colour) => luminance(parts(colour)) + 0.05).sort((a, b) => a - b);
    found.push([high / low, (element.placeholder || element.textContent).trim().slice(0, 40)]);
  }
  return found.sort(([a], [b]) => a - b);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_that_is_written_can_be_read(study: Opened, scheme: Any) -> None:
    """WCAG 2: a contrast of 4.5, of what the browser really paints."""
    study.page.emulate_media(color_scheme=scheme)
    study.page.locator(".net .way").first.focus()
    study.page.keyboard.press("Enter")
    found = study.page.evaluate(CONTRASTS)
    assert len(found) > 80
    assert any(words.startswith("a name, a pair") for _, words in found)
    assert [words for contrast, words in found if contrast < 4.5] == []
    assert 4.5 <= found[0][0] < 21.0 < found[-1][0] + 10.0
    assert (study.pixels("body").mean() < 0.3) == (scheme == "dark")
    if scheme == "dark":
        assert study.pixels()[:5].mean() < 0.3
        study.keep("dark")


def test_all_can_be_done_with_the_keyboard(study: Opened) -> None:
    """From the top of the page, by Tab and Enter alone, to plans, a shape, and the motion of a
    choice."""
    reached = []
    study.page.evaluate(
        "() => { document.activeElement.blur(); window.getSelection().removeAllRanges(); "
        "scrollTo(0, 0); }"
    )
    study.page.locator("header").click()
    while len(reached) < 200:
        study.page.keyboard.press("Tab")
        name, ring = study.page.evaluate(FOCUSED)
        if name is None:  # the end of the page
            break
        assert ring, name
        reached.append(name)
        if name == "Find the best plans":
            study.page.keyboard.press("Enter")
            assert study.page.locator(".plans > li").count() > 0
    for wanted in (
        "Search shapes and choices",
        "Start",
        "Goal",
        "By",
        "Shapes",
        "shape n3, stable",
        "Zoom in",
        "Time of the motion",
    ):
        assert any(name.startswith(wanted) for name in reached), (wanted, reached)
    assert any(name.startswith("from n2 to ") for name in reached)
    assert any(name.startswith("The bodies in space") for name in reached)


#: What has the focus, and whether it is seen that it has.
FOCUSED = """() => {
  const one = document.activeElement, style = (selector) => getComputedStyle(one.querySelector(selector));
  if (one === document.body) return [null, false];
  const ring = one.matches(".node") ? style(".card").strokeDasharray !== "none"
    : one.matches(".way") ? style(".line").strokeWidth === "0.14px" : getComputedStyle(one).outlineStyle !== "none";
  return [one.getAttribute("aria-label") || one.innerText || one.tagName, Boolean(ring)];
}"""


def test_it_opens_on_a_phone(browser: Any, pages: Path) -> None:
    opened = Opened(
        browser, pages / "study.html", viewport={"width": PHONE[0], "height": PHONE[1]},
        is_mobile=True, has_touch=True, color_scheme="dark",
    )  # fmt: skip
    assert opened.page.evaluate("() => document.documentElement.scrollWidth") <= PHONE[0]
    opened.page.locator(".net .node").nth(3).tap()
    assert "Shape n3" in opened.panel()
    opened.page.locator("#panel").get_by_role("button", name="to row & <b>: ").first.tap()
    assert "From n3 to row & <b>" in " ".join(opened.panel().split())
    opened.page.locator(".player input").fill("500")
    assert colours_in(opened.pixels()) > 20
    assert opened.page.evaluate("() => document.documentElement.scrollWidth") <= PHONE[0]
    opened.keep("phone", whole=True)
    opened.close()


#: Boxes of cards and of what arrows say, in the unit of the graph.
BOXES = """() => [".net .card", ".net .way text"].map((what) => [...document.querySelectorAll(what)].map((one) => {
  const box = one.getBBox(), node = one.closest(".node");
  const place = node ? node.transform.baseVal[0].matrix : { e: 0, f: 0 };
  return [box.x + place.e, box.y + place.f, box.x + box.width + place.e, box.y + box.height + place.f];
}))"""


def test_what_arrows_say_lies_over_nothing(browser: Any, tmp_path: Path) -> None:
    """As the browser measures letters."""
    graph = cubesat_pair.pair(0.2).explore(progress=False)
    graph.report(tmp_path / "pair.html")
    opened = Opened(browser, tmp_path / "pair.html")
    opened.page.wait_for_selector("#panel h2")
    cards, words = opened.page.evaluate(BOXES)
    said = opened.page.locator(".net .way text").all_text_contents()
    assert (len(cards), len(words)) == (4, 6)
    ways = {(edge.source, str(edge.target)) for edge in graph.moves()}
    best = [quickest(graph, *way) for way in ways]
    assert sorted(said) == sorted(
        f"{edge.selection.potential}, {shown(edge.duration)} s" for edge in best
    )
    for one, two in itertools.combinations([*cards, *words], 2):
        assert one[2] <= two[0] or two[2] <= one[0] or one[3] <= two[1] or two[3] <= one[1]
    opened.keep("pair")
    opened.close()


def test_a_run_plays_in_step_with_its_curves(browser: Any, pages: Path) -> None:
    opened = Opened(browser, pages / "run.html", "no-preference")
    opened.page.wait_for_function("() => document.querySelector('.player input').value > 20")
    assert NASTY in opened.page.locator("h1").inner_text()
    assert colours_in(opened.pixels()) > 20
    opened.page.locator(".player button").click()
    opened.page.locator(".player input").fill("250")
    assert opened.page.evaluate(TIMES) == [pytest.approx(5.0), pytest.approx(5.0)]
    assert "5 s of 20 s" in opened.page.locator(".player output").inner_text()
    opened.keep("run")
    chart = opened.page.locator(".curves").nth(1)
    chart.hover(position={"x": 300, "y": 90})
    told = chart.locator(".told").inner_text().splitlines()
    chart.click(position={"x": 300, "y": 90})
    dot = 20.0 / 400.0  # a click is told in whole dots
    assert opened.page.evaluate(TIMES)[0] == pytest.approx(float(told[0].split()[0]), abs=dot)
    assert told[1].startswith("hinge [rad]: ")
    opened.close()
