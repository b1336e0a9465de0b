"""Windows: what is drawn and when, what is missing is said, nothing hangs; where there is a
browser, a real one."""

from __future__ import annotations

import importlib.util
import itertools
import math
import os
import re
import socket
import subprocess
import sys
import time
import webbrowser
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from demos.cubesat_pair import pair
from demos.hinged_cubes import EDGE, pulled_to
from quirkpy.motion.frames import time_on_screen
from quirkpy.views import window
from quirkpy.views.film import Film, film_of, rgb_of, still_of
from quirkpy.views.player import Player, top
from tests.browser import PATIENCE, in_a_browser, kept

ROOT = Path(__file__).resolve().parents[2]
FAKE = (ROOT / "tests" / "fake_vpython.py").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def run() -> qp.Trajectory:
    return pulled_to(0.0, -0.2, 0.0).simulate(8.0)


@pytest.fixture(scope="module")
def film(run: qp.Trajectory) -> Film:
    return film_of(run, 1.0, True)


@pytest.fixture
def fake() -> Any:
    """A fresh module each time."""
    module = ModuleType("fake_vpython")
    exec(compile(FAKE, "fake_vpython.py", "exec"), vars(module))
    return module


# --- arrays ---------------------------------------------------------------------------------------
def test_a_film_is_the_run(run: qp.Trajectory, film: Film) -> None:
    assert len(film.times) == 241
    b, a = film.solids
    assert (b["name"], b["kind"], b["fixed"], a["name"], a["fixed"]) == (
        "B",
        "box",
        False,
        "A",
        True,
    )
    np.testing.assert_allclose(film.centres[120, 0], run.at(4.0)["B"].position)
    angle = run.at(4.0)["hinge"].angle
    np.testing.assert_allclose(
        film.along[120, 0], [math.cos(angle), math.sin(angle), 0.0], atol=1e-12
    )
    np.testing.assert_allclose(
        film.up[120, 0], [-math.sin(angle), math.cos(angle), 0.0], atol=1e-12
    )
    np.testing.assert_allclose(
        film.axles[:, 0, :, :2], np.broadcast_to(EDGE[:2], (241, 2, 2)), atol=1e-7
    )
    foot, arrow = film.pushes[120, 0]
    np.testing.assert_allclose(foot, film.centres[120, 0])
    pull = np.array([0.0, -0.2, 0.0]) - foot
    np.testing.assert_allclose(
        arrow / np.linalg.norm(arrow), pull / np.linalg.norm(pull), atol=1e-12
    )
    lengths = np.linalg.norm(film.pushes[:, 0, 1], axis=1)
    assert lengths.max() == pytest.approx(0.9 * 0.1)
    assert film.columns == ("kinetic", "potential", "kinetic + potential", "dissipated")


def test_films_survive_a_pipe(film: Film) -> None:
    again = Film.unpack(film.pack())
    for name, value in film._asdict().items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(getattr(again, name), value)
        else:
            assert getattr(again, name) == value


def test_a_replay_has_each_hinge_in_its_time() -> None:
    graph = pair().explore()
    flown = graph.replay([*graph.plan("n0", "n1"), *graph.plan("n1", "n0")])
    film = film_of(flown, 20.0, False)
    first, second = np.isfinite(film.axles[:, :, 0, 0]).T
    half = film.times < time_on_screen(np.array(flown.legs[1].t), flown.waits)
    assert first[half].all()
    assert not first[~half].any()
    np.testing.assert_array_equal(second[:-1], ~first[:-1])
    assert not second[-1]  # at rest, its faces are locked
    assert film.times[-1] == pytest.approx(flown.t[-1] - flown.waiting)
    assert film.marks.shape[1] == 4


@pytest.mark.parametrize(
    ("colour", "expected"),
    [("#ff8000", (1.0, 128 / 255, 0.0)), ((0.1, 0.2, 0.3), (0.1, 0.2, 0.3)), ("red", (1, 0, 0))],
)
def test_colours(colour: Any, expected: tuple[float, float, float]) -> None:
    pytest.importorskip("matplotlib")
    assert rgb_of(colour) == pytest.approx(expected)


def test_a_plan_is_flown_in_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the window would be given."""
    shown: list[Any] = []
    monkeypatch.setattr(window, "show", lambda make, *options: shown.append((make(), options)))
    graph = pair().explore()
    graph.animate(graph.plan("n0", "n1"), speed=10.0, port=8080, keep_open=False)
    graph.study.system.animate(patience=5.0)
    (film, options), (still, others) = shown
    assert (film.speed, options, others) == (
        10.0,
        (True, 8080, 60.0, False),
        (True, None, 5.0, True),
    )
    (move,) = graph.plan("n0", "n1")
    assert move.duration == pytest.approx(88.4756, abs=1e-4)
    assert film.times[-1] == pytest.approx(
        move.moving, rel=1e-6
    )  # without the waiting on the ridge
    assert still.times.tolist() == [0.0]


# --- the writer -----------------------------------------------------------------------------------
def test_everything_is_drawn_where_it_is(film: Film, fake: Any) -> None:
    player = Player(fake, film, clock=lambda: 0.0)
    b, a = player.solids
    assert (type(b), type(a)) == (fake.box, fake.box)
    np.testing.assert_allclose(b.pos, (0.1, 0, 0), atol=1e-12)
    player.advance(4.0)
    np.testing.assert_allclose(b.pos, film.centres[120, 0])
    np.testing.assert_allclose(b.axis, 0.1 * film.along[120, 0])
    np.testing.assert_allclose(b.size, (0.1, 0.1, 0.1))
    np.testing.assert_allclose(a.pos, (0, 0, 0))
    (axle,), (push,) = player.axles, player.pushes
    np.testing.assert_allclose(np.add(axle.pos, axle.axis)[:2], EDGE[:2], atol=1e-7)
    np.testing.assert_allclose(push.axis, film.pushes[120, 0, 1])
    ghosts = [thing for thing in fake.made if getattr(thing, "opacity", 1.0) < 1.0]
    assert len(ghosts) == 1  # what is fixed has none
    np.testing.assert_allclose(ghosts[0].pos, film.centres[-1, 0])
    (way,) = [thing for thing in fake.made if type(thing) is fake.curve]
    np.testing.assert_allclose(way.pos, film.ways[:, 0])


def test_what_does_not_exist_is_hidden(fake: Any) -> None:
    graph = pair().explore()
    flown = graph.replay([*graph.plan("n0", "n1"), *graph.plan("n1", "n0")])
    player = Player(fake, film_of(flown, 20.0, True), clock=lambda: 0.0)
    seen = [[axle.visible for axle in player.axles]]
    player.seek(
        fake.slider(value=float(time_on_screen(np.array(flown.legs[1].t), flown.waits)) + 10.0)
    )
    seen.append([axle.visible for axle in player.axles])
    assert seen == [[True, False], [False, True]]
    assert all(mark.visible for mark in player.marks)


def test_round_bodies(fake: Any) -> None:
    """VPython's cylinder begins at one end."""
    can = qp.Body.cylinder("can", 0.1, 1.0, 1.0, axis="z", position=(0, 0, 2))
    ball, mote = (
        qp.Body.sphere("ball", 0.3, 1.0, position=(1, 0, 0)),
        qp.Body("mote", 1.0, (1, 1, 1)),
    )
    system = qp.Multibody(can, ball, mote)
    player = Player(fake, still_of(system, system.initial, True), clock=lambda: 0.0)
    one, two, three = player.solids
    np.testing.assert_allclose(one.pos, (0, 0, 1.5))
    np.testing.assert_allclose(one.axis, (0, 0, 1.0))
    np.testing.assert_allclose(one.size, (1.0, 0.2, 0.2))
    assert (type(two), two.radius, three.radius) == (fake.sphere, 0.3, 0.02)
    assert not [
        thing for thing in fake.made if type(thing) in (fake.button, fake.slider, fake.graph)
    ]


def test_everything_is_in_view(fake: Any) -> None:
    """A wide plate below a small ball."""
    plate = qp.Body.box("plate", (2.0, 2.0, 0.1), fixed=True, position=(0.0, 0.0, -1.0))
    ball = qp.Body.sphere("ball", 0.1, 1.0)
    system = qp.Multibody(plate, ball)
    Player(fake, still_of(system, system.initial, True), clock=lambda: 0.0)
    corners = np.array(list(itertools.product((-1.0, 1.0), (-1.0, 1.0), (-1.05, -0.95))))
    away = np.linalg.norm(corners - np.array(fake.scene.center), axis=1)
    assert away.max() < fake.scene.range < 1.5 * away.max()


def test_buttons_and_sliders(film: Film, fake: Any) -> None:
    player = Player(fake, film, clock=lambda: 0.0)
    assert (player.playing, player.button.text, player.words.text) == (
        True,
        "Pause",
        "t = 0.00 s, ×1",
    )
    player.toggle()
    assert (player.playing, player.button.text) == (False, "Play")
    player.place.value = 6.0
    player.seek(player.place)
    np.testing.assert_allclose(player.solids[0].pos, film.centres[180, 0])
    assert player.cursor.data[0][0] == 6.0
    player.pace.value = 1.0
    player.set_speed(player.pace)
    assert player.words.text == "t = 6.00 s, ×2"
    player.toggle()
    player.advance(10.0)
    assert (player.t, player.playing, player.button.text) == (8.0, False, "Play")
    player.toggle()  # from the beginning
    assert (player.t, player.playing) == (0.0, True)


def test_energy_is_beside_it(film: Film, fake: Any) -> None:
    Player(fake, film, clock=lambda: 0.0)
    (graph,) = [thing for thing in fake.made if type(thing) is fake.graph]
    assert (graph.xtitle, graph.ytitle) == ("time [s]", "energy [mJ]")
    assert graph.ymin <= film.energy.min() < film.energy.max() <= graph.ymax
    curves = [thing for thing in fake.made if type(thing) is fake.gcurve and thing.points]
    assert [thing.label for thing in curves] == list(film.columns)
    assert curves[2].points[-1] == pytest.approx([8.0, film.energy[-1, 2]])


@pytest.mark.parametrize(
    ("low", "high", "end"), [(0.0, 1.3, 1.5), (0.0, 9.0, 9.0), (-2.0, 10.0, 13.0), (1.0, 1.0, 2.5)]
)
def test_axes_of_energy_end_where_they_can_be_divided(low: float, high: float, end: float) -> None:
    assert top(low, high) == pytest.approx(end)


def test_it_follows_the_clock(film: Film, fake: Any) -> None:
    """A clock that goes on by 0.1 s at each look: twice as fast, 8 s take 40 of them."""
    ticks = iter(range(1000))
    player = Player(fake, film._replace(speed=2.0), clock=lambda: 0.1 * next(ticks))
    player.play(keep_open=False)
    assert (player.t, len(fake.calls)) == (8.0, 40)
    assert set(fake.calls) == {30}


def test_names_are_harmless(film: Film, fake: Any) -> None:
    Player(
        fake, film._replace(title="<script>", columns=("<b>", *film.columns[1:])), clock=lambda: 0.0
    )
    assert "<script>" not in fake.scene.title
    assert not [thing for thing in fake.made if getattr(thing, "label", "") == "<b>"]


# --- what is missing ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("missing", "sentence"),
    [
        ("vpython", r"animate: this needs VPython; pip install 'quirkpy\[vpython\]' brings it."),
        ("pkg_resources", r"animate: VPython needs pkg_resources, .* pip install 'setuptools<82'."),
    ],
)
def test_what_is_missing_is_said(
    run: qp.Trajectory, missing: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == missing else found("json")
    )
    for ask in (run.animate, run.system.animate):
        with pytest.raises(qp.PartError, match=sentence):
            ask()


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The fake as the VPython of this process and of others; what is written to the path goes on in
    its file."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "pkg_resources.py").write_text("")
    (folder / "vpython.py").write_text(FAKE)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "vpython", raising=False)
    return folder / "vpython.py"


def test_no_display_and_no_browser_are_said(
    run: qp.Trajectory, installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(
        qp.PartError, match=r"animate: there is no display for a window; run.movie\('run.mp4'\)"
    ):
        run.animate()
    monkeypatch.setenv("DISPLAY", ":0")

    def none() -> None:
        raise webbrowser.Error("none")

    monkeypatch.setattr(webbrowser, "get", none)
    with pytest.raises(
        qp.PartError, match=r"animate: no browser was found; .* browser=False prints the address"
    ):
        run.animate()
    with pytest.raises(qp.PartError, match=r"animate: patience is 0.0, but must be positive"):
        run.animate(patience=0.0)


def test_nobody_waits_for_ever(
    run: qp.Trajectory, installed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """VPython waits for a browser that never comes."""
    installed.write_text("import time\ntime.sleep(600)\n")
    begun = time.monotonic()
    with pytest.raises(
        qp.PartError, match=r"no browser has opened http://localhost:8764 within 0.5 s; open it"
    ):
        run.animate(browser=False, port=8764, patience=0.5)
    assert time.monotonic() - begun < 20.0
    assert capsys.readouterr().out == "animate: open http://localhost:8764 in a browser.\n"


@pytest.mark.slow
def test_a_window_that_fails_is_said(run: qp.Trajectory, installed: Path) -> None:
    installed.write_text("raise ImportError('no such thing')\n")
    with pytest.raises(
        qp.PartError, match="animate: the window failed: ImportError: no such thing"
    ):
        run.animate(browser=False)


def test_the_script_goes_on_when_the_window_is_closed(run: qp.Trajectory, installed: Path) -> None:
    """VPython ends its process, as it does when the tab is closed."""
    installed.write_text(FAKE + "\n\ndef rate(pictures: int) -> None:\n    raise SystemExit(0)\n")
    run.system.animate(browser=False)  # comes back


@pytest.mark.slow
def test_it_ends_by_itself(run: qp.Trajectory, installed: Path) -> None:
    run.animate(browser=False, keep_open=False, speed=100.0)


SHOWING = """
import quirkpy as qp
ball = qp.Body.sphere("ball", radius=0.1, mass=1.0)
qp.Multibody(ball).animate(browser=False, patience=120.0)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="kills as POSIX does")
def test_a_window_ends_with_whoever_asked_for_it(installed: Path, tmp_path: Path) -> None:
    """However that ends; and it leaves nothing in the folder of temporary files."""
    notes = (
        "import os, pathlib, time\npathlib.Path(os.environ['NOTED']).write_text(str(os.getpid()))\n"
    )
    installed.write_text(notes + "time.sleep(600)\n")
    noted, room = tmp_path / "pid", tmp_path / "room"
    room.mkdir()
    places = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    env = {**os.environ, "PYTHONPATH": places, "NOTED": str(noted), "TMPDIR": str(room)}
    script = subprocess.Popen(
        [sys.executable, "-c", SHOWING], cwd=ROOT, env=env, stdout=subprocess.DEVNULL
    )
    try:
        end = time.monotonic() + 60.0
        while not (noted.is_file() and noted.read_text()):
            assert script.poll() is None
            assert time.monotonic() < end
            time.sleep(0.05)
    finally:
        script.kill()
        script.wait()
    window_pid, end = int(noted.read_text()), time.monotonic() + 20.0
    while is_there(window_pid):
        assert time.monotonic() < end, "the window outlives its parent"
        time.sleep(0.05)
    assert not list(room.iterdir())


def is_there(pid: int) -> bool:
    """Whether a process runs, and is not just waited for by nobody."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not (stat.is_file() and ") Z " in stat.read_text())


@pytest.mark.slow
def test_servers_listen_to_this_machine_alone() -> None:
    code = (
        "import asyncio, http.server\n"
        "from quirkpy.views.window import bind_locally\n"
        "bind_locally()\n"
        "with http.server.HTTPServer(('', 0), http.server.BaseHTTPRequestHandler) as one:\n"
        "    print(one.server_address[0])\n"
        "async def main():\n"
        "    async with await asyncio.get_running_loop().create_server(asyncio.Protocol, "
        "'0.0.0.0', 0) as two:\n"
        "        print(two.sockets[0].getsockname()[0])\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60
    )
    assert done.stdout.split() == ["127.0.0.1", "127.0.0.1"], done.stderr


SERVED = """
import asyncio, http.server, socket, threading, urllib.error, urllib.request
from quirkpy.views.window import bind_locally
bind_locally()

class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"page")

def read(patience):
    try:
        return urllib.request.urlopen(f"http://127.0.0.1:{port}", timeout=patience).read().decode()
    except OSError:
        return "none"

pages = http.server.HTTPServer(("", 0), Page)
port = pages.server_address[1]
threading.Thread(target=pages.serve_forever, daemon=True).start()
print(read(0.5))
silent = socket.create_connection(("127.0.0.1", port))

async def main():
    await asyncio.get_running_loop().create_server(asyncio.Protocol, "0.0.0.0", 0)

asyncio.run(main())
print(read(60.0))
"""


@pytest.mark.slow
def test_pages_come_when_their_socket_is_there_and_wait_for_no_silent_connection() -> None:
    """Else a window on a busy machine stayed empty."""
    words = [sys.executable, "-c", SERVED]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert done.stdout.split() == ["none", "page"], done.stderr


# --- a real browser -------------------------------------------------------------------------------
SCRIPT = """
import quirkpy as qp
from demos.hinged_cubes import pulled_to
run = pulled_to(0.0, -0.2, 0.0).simulate(8.0)
run.animate(browser=False, port={port}, speed=0.5, patience=120.0)
print("went on")
"""
#: What the clock of the window shows [s].
CLOCK = "parseFloat((document.body.innerText.match(/t = ([0-9.]+)/) || [0, 0])[1])"


@in_a_browser
@pytest.mark.skipif(sys.version_info >= (3, 13), reason="VPython has no wheel for this Python")
def test_cubes_move_in_a_real_browser(browser: Any) -> None:
    """The window opens, and its buttons work; B, which is sand, is elsewhere later; closing it lets
    the script go on and end."""
    port = window.free_port()
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}
    script = subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(port=port)],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        wait_for(port, script)
        page = browser.new_page(viewport={"width": 800, "height": 860})
        page.set_default_timeout(PATIENCE)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"http://localhost:{port}")
        page.wait_for_selector("canvas")
        page.wait_for_function(f"{CLOCK} > 0.2")
        page.get_by_role("button", name="Pause").click()
        page.get_by_role("button", name="Play").wait_for()
        paused = page.evaluate(CLOCK)
        first = sand(kept(page, "windows/first"))
        assert page.evaluate(CLOCK) == paused < 8.0
        page.get_by_role("button", name="Play").click()
        page.wait_for_function(f"{CLOCK} > 5.0")
        assert math.dist(first, sand(kept(page, "windows/second"))) > 20.0
        assert not errors
        page.close()
        said, _ = script.communicate(timeout=60)
        assert said.splitlines()[-1] == "went on"
        assert script.returncode == 0
    finally:
        script.kill()
        script.wait()


@in_a_browser
@pytest.mark.skipif(sys.version_info >= (3, 13), reason="VPython has no wheel for this Python")
def test_a_real_window_ends_with_a_script_that_is_killed(browser: Any, tmp_path: Path) -> None:
    """While it plays: both of its servers are gone, and its folder of temporary files."""
    port, room, sockets = window.free_port(), tmp_path / "room", list[str]()
    room.mkdir()
    places = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    env = {**os.environ, "PYTHONPATH": places, "TMPDIR": str(room)}
    code = SCRIPT.format(port=port)
    script = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, env=env, stdout=subprocess.DEVNULL
    )
    try:
        wait_for(port, script)
        page = browser.new_page(viewport={"width": 800, "height": 860})
        page.set_default_timeout(PATIENCE)
        page.on("websocket", lambda one: sockets.append(one.url))
        page.goto(f"http://localhost:{port}")
        page.wait_for_selector("canvas")
        page.wait_for_function(f"{CLOCK} > 0.2")
    finally:
        script.kill()
        script.wait()
    ports = {port, *(int(re.findall(r":(\d+)", url)[0]) for url in sockets)}
    assert len(ports) == 2
    end = time.monotonic() + 20.0
    while any(answers(one) for one in ports) or list(room.iterdir()):
        assert time.monotonic() < end, "the window outlives its parent"
        time.sleep(0.1)
    page.close()


def wait_for(port: int, script: subprocess.Popen[str]) -> None:
    """Until somebody answers."""
    for _ in range(4 * PATIENCE // 1000):
        if answers(port):
            return
        assert script.poll() is None, "the script has ended"
        time.sleep(0.25)
    raise AssertionError("nobody answers")


def answers(port: int) -> bool:
    """Whether anybody listens there."""
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def sand(picture: Any) -> tuple[float, float]:
    """The middle of what is sand in the scene."""
    r, g, b = np.moveaxis(picture[:430], 2, 0)
    rows, columns = np.nonzero((r - b > 0.25) & (r > 0.5) & (r - g < 0.25))
    assert len(rows) > 2000
    return float(rows.mean()), float(columns.mean())
