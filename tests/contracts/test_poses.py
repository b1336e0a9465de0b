"""Maps of potentials, ghosts of motions, and what notebooks show."""

from __future__ import annotations

import base64
import itertools
import math
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import quirkpy as qp
from demos.cubesat_pair import pair
from demos.hinged_cubes import pulled_to
from quirkpy.views.landscape import landscape_of
from quirkpy.views.poses import displace, merge_views, motions_of, reach_of
from quirkpy.views.stills import Look, View


@pytest.fixture(scope="module")
def run() -> qp.Trajectory:
    return pulled_to(0.0, -0.2, 0.0).simulate(10.0)


@pytest.fixture(scope="module")
def rest() -> qp.Equilibrium:
    """A ball on a rod: gravity holds two turns; about the rod it turns freely."""
    ball = qp.Body.sphere("bob", 0.1, 2.0, position=(0.0, 0.0, -0.5))
    hinge = qp.Spherical("joint", qp.GROUND, ball, at=(0, 0, 0))
    return qp.Multibody(ball, hinge, qp.Gravity((0, 0, -9.81))).settle()


# --- maps -----------------------------------------------------------------------------------------
def test_the_map_is_the_well(run: qp.Trajectory) -> None:
    """k |r - well|^2 / 2 over the plane in which B swings, and the way on it."""
    land = landscape_of(run)
    assert (land.body, land.axes) == ("B", (0, 1))
    x, y = np.meshgrid(land.x, land.y)
    np.testing.assert_allclose(land.energy, 0.025 * (x**2 + (y + 0.2) ** 2), atol=1e-15)
    np.testing.assert_allclose(
        land.way[:, 2], 0.025 * (land.way[:, 0] ** 2 + (land.way[:, 1] + 0.2) ** 2), atol=1e-12
    )
    assert land.x[0] < land.way[:, 0].min() < land.way[:, 0].max() < land.x[-1]
    assert land.y[0] < land.way[:, 1].min() < land.way[:, 1].max() < land.y[-1]


def test_the_map_lies_where_the_body_goes() -> None:
    fall = qp.Body.sphere("ball", 0.1, 1.0, velocity=(1.0, 0.0, 0.0))
    land = landscape_of(qp.Multibody(fall, qp.Gravity((0, 0, -2.0))).simulate(3.0), "ball")
    assert land.axes == (0, 2)
    np.testing.assert_allclose(land.energy, np.repeat(2.0 * land.y[:, None], 49, axis=1))
    assert land.way[-1, 2] == pytest.approx(-18.0)


def test_maps_that_cannot_be_are_refused(run: qp.Trajectory) -> None:
    with pytest.raises(qp.PartError, match="landscape: body is 'A', but must be one of 'B'"):
        run.landscape("A")
    graph = pair().explore()
    with pytest.raises(qp.PartError, match=r"ask one of its pieces, run.pieces\[0\]\[1\]"):
        graph.replay(graph.plan("n0", "n1")).landscape()


@pytest.mark.parametrize("end", [".svg", pytest.param(".pdf", marks=pytest.mark.slow)])
def test_maps_and_ghosts_come_out(
    run: qp.Trajectory, rest: qp.Equilibrium, end: str, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    run.landscape().save(tmp_path / f"map{end}")
    run.picture(tmp_path / f"run{end}", ghosts=2)
    rest.picture(tmp_path / f"rest{end}")
    assert min(path.stat().st_size for path in tmp_path.iterdir()) > 5000


# --- ghosts ---------------------------------------------------------------------------------------
def test_bodies_are_displaced_along_a_motion(rest: qp.Equilibrium) -> None:
    """The bob swings about the joint: to first order it goes aside by length times angle, and turns
    by the angle."""
    mode = rest.modes[0]
    there = displace(rest.state, mode.shape, 1e-4)
    angle = (
        Rotation.from_quat(there.q[0], scalar_first=True)
        * Rotation.from_quat(rest.state.q[0], scalar_first=True).inv()
    )
    aside = there.r[0] - rest.state.r[0]
    np.testing.assert_allclose(aside, np.cross(angle.as_rotvec(), rest.state.r[0]), atol=1e-10)
    assert np.linalg.norm(angle.as_rotvec()) == pytest.approx(1e-4, rel=1e-6)


def test_no_ghost_goes_too_far(rest: qp.Equilibrium) -> None:
    for mode, _, _ in motions_of(rest):
        reach = reach_of(mode, 0.2)
        moved = displace(rest.state, mode.shape, reach)
        turned = Rotation.from_quat(moved.q[0], scalar_first=True).magnitude()
        assert np.linalg.norm(moved.r - rest.state.r) + 0.1 * turned == pytest.approx(
            0.25 * 0.2, rel=1e-6
        )


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_what_bends_is_shown_as_far_in_all_sizes(scale: float) -> None:
    """A boom with a payload, of which all lengths are multiplied: the same picture."""
    EI, line = 5.0 * scale**4, 0.2 * scale**2
    boom = qp.Beam(
        "boom", start=(0, 0, 0), end=(2 * scale, 0, 0), EA=1e4 * scale**2, EI=EI, GJ=EI,
        mass_per_length=line, modes=(2, 2, 0, 0), shapes="polynomials",
    )  # fmt: skip
    payload = qp.Body.sphere("payload", 0.1 * scale, 0.5 * scale**3, position=(2.1 * scale, 0, 0))
    rest = qp.Multibody(
        boom, payload, qp.Fixed("root", qp.GROUND, boom.at(0.0)),
        qp.Fixed("tip", boom.at(1.0), payload.site("mount", at=(-0.1 * scale, 0, 0))),
    ).settle()  # fmt: skip
    mode, size = min(rest.modes, key=lambda one: one.frequency), 2.0 * scale
    reach = reach_of(mode, size)
    there = displace(rest.state, mode.shape, reach, mode.bending)
    moved = np.linalg.norm(there.r - rest.state.r, axis=1).max()
    assert 0.1 * size < moved <= 0.26 * size


def test_figures_of_motions(rest: qp.Equilibrium) -> None:
    """A bob of 2/5 m r^2 on 0.5 m: w^2 = g L / (L^2 + 2/5 r^2)."""
    frequency = (9.81 * 0.5 / (0.25 + 0.4 * 0.01)) ** 0.5
    swings = f"{frequency:.4g} rad/s, undamped"
    assert [figures for _, figures, _ in motions_of(rest)] == [swings, swings, "neutral"]
    near = pulled_to(0.1, 0.0, 0.0)
    turn = Rotation.from_rotvec([0.0, 0.0, -math.pi])
    opposite = near.initial.replace({"B": {"position": (0.0, -0.1, 0.0), "orientation": turn}})
    unstable = near.settle(opposite, nudge=0.0)  # the pull goes straight through the hinge
    assert unstable.verdict == "unstable"
    rate = unstable.unstable[0].eigenvalue.real
    assert f"grows, {rate:.4g} 1/s" in [figures for _, figures, _ in motions_of(unstable)]


def test_views_come_together() -> None:
    from quirkpy.views.hidden import Piece

    square = np.array([(0.0, 0, 0), (1, 0, 0), (1, 1, 0)])
    one = View([Piece.whole(0, square)], [Look("red", None)], 2.0)
    both = merge_views(one, [View([Piece.whole(0, square)], [Look("blue", None)], 0.0), one])
    assert [both.looks[piece.number].face for piece in both.pieces] == ["red", "blue", "red"]
    assert len(one.pieces) == 1
    assert both.largest == 2.0


@pytest.mark.parametrize("ghosts", [-1, 2.5, "many"])
def test_wrong_numbers_of_ghosts_are_refused(run: qp.Trajectory, ghosts: int) -> None:
    with pytest.raises(qp.PartError, match="picture: ghosts is"):
        run.picture(ghosts=ghosts)


# --- notebooks ------------------------------------------------------------------------------------
class Reader(HTMLParser):
    """What a browser would find: tags, words, and the bytes of pictures."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words = ""
        self.images: list[bytes] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        source = dict(attrs).get("src") or ""
        if tag == "img":
            self.images.append(base64.b64decode(source.removeprefix("data:image/png;base64,")))

    def handle_data(self, data: str) -> None:
        self.words += data


def test_everything_shows_itself(run: qp.Trajectory, rest: qp.Equilibrium) -> None:
    pytest.importorskip("matplotlib")
    graph = pair().explore()
    for thing, images, word in (
        (run, 2, "the end time was reached"), (run.system, 1, "hinge: Revolute between A and B"),
        (rest, 1, "bob turns"), (graph, 1, "comes apart"),
    ):  # fmt: skip
        page = Reader(thing._repr_html_())
        assert len(page.images) == images
        assert all(image.startswith(b"\x89PNG") and len(image) > 3000 for image in page.images)
        assert word in page.words
        assert not {"script", "link", "iframe"} & set(page.tags)


def test_names_are_harmless() -> None:
    name = "<script>alert('x')</script>"
    body = qp.Body.sphere(name, 0.1, 1.0)
    page = Reader(qp.Multibody(body, qp.Gravity((0, 0, -1.0)))._repr_html_())
    assert "script" not in page.tags
    assert name in page.words


def test_without_matplotlib_words_remain(
    run: qp.Trajectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    import builtins

    real = builtins.__import__

    def imported(name: str, *rest: object) -> object:
        if name.split(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", imported)
    page = Reader(run.system._repr_html_())
    assert not page.images
    assert "pip install 'quirkpy[plots]'" in page.words
    assert "1 moving body" in page.words


@pytest.mark.slow
def test_a_notebook_shows_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Executed in a kernel of its own: each cell ends with the HTML of its last line, a chart with
    its PNG; a window, here one of the fake VPython, opens beside it, and the kernel goes on when it
    is over."""
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    nbformat = pytest.importorskip("nbformat")
    cells = [
        "import quirkpy as qp\nfrom demos.cubesat_pair import study\nfrom demos.hinged_cubes "
        "import pulled_to\n"
        "system = pulled_to(0.0, -0.2, 0.0)\nsystem",
        "run = system.simulate(5.0)\nrun",
        "system.settle()",
        "study.explore()",
        "run.plot('energy')",
        "run.animate(browser=False, keep_open=False, speed=100.0)\n1 + 1",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    root = Path(__file__).resolve().parents[2]
    (tmp_path / "pkg_resources.py").write_text("")
    (tmp_path / "vpython.py").write_text(
        (root / "tests" / "fake_vpython.py").read_text(encoding="utf-8")
    )
    paths = filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    nbclient.NotebookClient(
        book, timeout=240, resources={"metadata": {"path": str(root)}}
    ).execute()
    outputs = [
        next(out for out in cell.outputs if out.output_type == "execute_result")
        for cell in book.cells
    ]
    for out, images in zip(outputs[:4], (1, 2, 1, 1), strict=True):
        assert len(re.findall("<img ", out.data["text/html"])) == images
    assert base64.b64decode(outputs[4].data["image/png"]).startswith(b"\x89PNG")
    assert all("text/plain" in out.data for out in outputs)
    assert outputs[5].data["text/plain"] == "2"
    assert "animate: open http://localhost:" in book.cells[5].outputs[0].text
    streams = itertools.chain.from_iterable(cell.outputs for cell in book.cells)
    assert not [out for out in streams if out.output_type == "error"]
