"""What there is to see of a system is where the system has it, and stills and films come out."""

from __future__ import annotations

import builtins
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import quirkpy as qp
from demos.cubesat_pair import pair
from demos.hinged_cubes import EDGE, pulled_to
from quirkpy.views import movie, stills
from quirkpy.views.poses import merge_views
from quirkpy.views.solids import EYE
from quirkpy.views.stage import ARROW, AXLE, OFF, SENSOR, Stage

UP = (0.0, 0.0, 1.0)


@pytest.fixture(scope="module")
def run() -> qp.Trajectory:
    return pulled_to(0.0, -0.2, 0.0).simulate(8.0)


def workshop() -> qp.Multibody:
    """One of each that is drawn: shapes, hinge, slide, ball, spring, rope, gravity, sensor, a body
    without a shape."""
    base = qp.Body.box("base", (0.5, 0.5, 0.02), fixed=True, position=(0, 0, -0.2))
    rod = qp.Body.rod("rod", (0, 0, 0), (0.4, 0, 0), 1.0)
    can = qp.Body.cylinder("can", 0.05, 0.2, 1.0, axis="z", position=(0, 0.2, 0), color="#009e73")
    ball = qp.Body.sphere("ball", 0.06, 1.0, position=(0.4, 0, 0), label="bob")
    mote = qp.Body("mote", 1.0, (0.1, 0.1, 0.1), position=(0.0, -0.3, 0.1))
    return qp.Multibody(
        base,
        rod,
        can,
        ball,
        mote,
        qp.Revolute("hinge", base, rod, at=(0, 0, 0), axis=(0, 1, 0)),
        qp.Prismatic("slide", base, can, at=(0, 0.2, 0), axis=UP),
        qp.Spherical("socket", rod, ball, at=(0.4, 0, 0)),
        qp.Rope("rope", base, mote, at1=(0.0, -0.2, -0.2), at2=(0.0, -0.3, 0.1), length=1.0),
        qp.Spring(
            "spring", rod, can, at1=(0.2, 0, 0), at2=(0, 0.2, 0), stiffness=2.0, rest_length=0.1
        ),
        qp.Gravity((0, 0, -2.0)),
        qp.Sensor("eye", rod.site("end", at=(0.2, 0, 0), z=(1, 0, 0), x=UP)),
    )


def test_everything_is_where_the_state_has_it() -> None:
    """The rod turned by a third about its hinge: site, axle and spring go along."""
    system, turn = workshop(), Rotation.from_rotvec([0.0, 0.7, 0.0])
    end = turn.apply([0.4, 0.0, 0.0])
    turned = system.initial.replace(
        {
            "rod": {"position": 0.5 * end, "orientation": turn},
            "ball": {"position": end, "orientation": turn},
        }
    )
    stage = Stage(system)
    sight = stage.at(turned, forces=True)
    assert sight.names == ("rod", "can", "ball", "mote", "base")  # the ground is nothing to see
    assert stage.size == pytest.approx(0.3)  # the median of 0.4, 0.2, 0.12, 0.5
    hinge, slide = sight.axles  # the socket turns about any axis
    assert [(axle.joint, axle.slides) for axle in sight.axles] == [
        ("hinge", False),
        ("slide", True),
    ]
    np.testing.assert_allclose(hinge.ends, np.outer([-1, 1], [0, AXLE * 0.3, 0]), atol=1e-12)
    np.testing.assert_allclose(
        slide.ends, [(0, 0.2, -AXLE * 0.3), (0, 0.2, AXLE * 0.3)], atol=1e-12
    )
    (mark,) = sight.marks
    np.testing.assert_allclose(mark.outwards, turn.apply([1, 0, 0]), atol=1e-12)
    np.testing.assert_allclose(
        mark.corners.mean(axis=0), turn.apply([0.4 + OFF * 0.3, 0, 0]), atol=1e-12
    )
    assert np.linalg.norm(mark.corners[1] - mark.corners[0]) == pytest.approx(2 * SENSOR * 0.3)
    np.testing.assert_allclose(
        np.cross(*np.diff(mark.corners, axis=0)[:2]) @ mark.outwards, (2 * SENSOR * 0.3) ** 2
    )
    ties = {tie.part: tie.ends for tie in sight.ties}
    np.testing.assert_allclose(ties["spring"], [turn.apply([0.2, 0, 0]), (0, 0.2, 0)], atol=1e-12)
    np.testing.assert_allclose(ties["rope"], [(0, -0.2, -0.2), (0, -0.3, 0.1)], atol=1e-12)
    pushes = {(push.source, push.body): push for push in sight.pushes}
    apart = ties["spring"][1] - ties["spring"][0]
    length = float(np.linalg.norm(apart))
    np.testing.assert_allclose(
        pushes["spring", "rod"].force, 2.0 * (length - 0.1) * apart / length, atol=1e-12
    )
    weights = {push.body for push in sight.pushes if push.force @ UP < -1.9}
    assert weights == {"rod", "can", "ball", "mote"}
    np.testing.assert_allclose(pushes["spring", "can"].at, (0, 0.2, 0))


def test_forces_are_asked_for() -> None:
    system = workshop()
    assert Stage(system).at(system.initial).pushes == ()


def test_what_does_not_act_is_not_seen() -> None:
    system = workshop().choosing(["slide"], [])
    sight = Stage(system).at(system.initial, forces=True)
    assert [axle.joint for axle in sight.axles] == ["slide"]
    assert sight.ties == () == sight.pushes


def test_round_sides_have_no_edges() -> None:
    """Of a cylinder seen from the side: two silhouettes, and every strip's ends."""
    can = qp.Multibody(qp.Body.cylinder("can", 0.1, 1.0, 1.0, axis="z"))
    stage = Stage(can)
    view = stills.view_of(stage, stage.at(can.initial), (0.0, -1.0, 0.0))
    lengthwise = 0
    for piece in view.pieces:
        sides = np.roll(piece.corners, -1, axis=0) - piece.corners
        lengthwise += sum(
            bool(edge) for edge, side in zip(piece.edges, sides, strict=True) if abs(side[2]) > 0.5
        )
    assert lengthwise == 2


@pytest.mark.parametrize("eye", [(0, 0, 0), "above", (1, 2), (float("nan"), 0, 1)])
def test_an_eye_that_is_nowhere_is_refused(eye: Any) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(qp.PartError, match="picture: eye "):
        workshop().picture(eye=eye)


def test_arrows_are_in_proportion() -> None:
    heavy, light = (qp.Body.sphere(f"b{m}", 0.1, m, position=(m, 0, 0)) for m in (2.0, 1.0))
    system = qp.Multibody(heavy, light, qp.Gravity((0, 0, -1.0)))
    stage = Stage(system)
    view = stills.view_of(stage, stage.at(system.initial, forces=True), EYE)
    assert view.largest == pytest.approx(2.0)
    heads = [piece.corners for piece in view.pieces if len(piece.corners) == 3]
    long, short = (0.0 - head[:, 2].min() for head in heads)
    assert long == pytest.approx(0.9 * 0.2)
    assert short == pytest.approx(0.5 * long)


def test_forces_shine_through_what_hides_them() -> None:
    """Gravity pulls at a ball from within; the arrow that does not reach out of it is painted last,
    dotted."""
    ball = qp.Body.sphere("ball", 1.0, 1.0)
    system = qp.Multibody(ball, qp.Gravity((0.0, 0.0, -1.0)))
    stage = Stage(system)
    sight = stage.at(system.initial, forces=True)
    view = stills.view_of(stage, sight, EYE)
    line, head = view.over
    np.testing.assert_allclose(line.corners[0], 0.0)
    np.testing.assert_allclose(head.corners[2], (0.0, 0.0, -ARROW * 2.0))
    painted = stills.collection(view, EYE)
    assert (
        len(painted.get_paths())
        == len(stills.collection(view._replace(over=()), EYE).get_paths()) + 2
    )
    _, dashes = painted.get_linestyles()[-1]
    assert dashes is not None
    assert stills.view_of(stage, stage.at(system.initial), EYE).over == ()
    both = merge_views(view, [stills.view_of(stage, sight, EYE, faint=True)])
    assert both.over == view.over
    assert both.looks[line.number] == view.looks[line.number]


@pytest.mark.parametrize("name", ["x.png", "x.svg", "x.pdf"])
def test_pictures_come_out(name: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    one, two = tmp_path / f"1{name}", tmp_path / f"2{name}"
    for path in (one, two):
        drawing = workshop().picture(path)
    assert one.read_bytes() == two.read_bytes()
    (axes,) = drawing.figure.axes
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == ["rod", "can", "bob", "mote", "base"]
    words = [text.get_text() for text in axes.texts]
    assert {"x", "y", "z", "200 mm      longest arrow 2 N"} <= set(words)


def test_pictures_have_the_colours_of_the_bodies(tmp_path: Path) -> None:
    """Looked at from above, the middle of the picture is the colour of what lies there, and the
    margin is white."""
    pytest.importorskip("matplotlib")
    from matplotlib.image import imread

    under = qp.Body.box("under", (1.0, 1.0, 0.1), 1.0, color=(0.0, 0.0, 1.0))
    upper = qp.Body.box("upper", (0.2, 0.2, 0.1), 1.0, position=(0, 0, 0.5), color=(1.0, 0.0, 0.0))
    for order in ([under, upper], [upper, under]):
        qp.Multibody(*order).picture(tmp_path / "x.png", eye=(0.0, 0.0, 1.0))
        shot = imread(tmp_path / "x.png")[:, :, :3]
        red = (shot[:, :, 0] > 0.8) & (shot[:, :, 1:].max(axis=2) < 0.1)
        blue = (shot[:, :, 2] > 0.8) & (shot[:, :, :2].max(axis=2) < 0.1)
        assert (
            0.035 < red.sum() / (red.sum() + blue.sum()) < 0.05
        )  # 0.2^2 of 1, and the squares of the legend
        rows, columns = np.nonzero(blue)
        assert red[round(np.median(rows)), round(np.median(columns))]
        np.testing.assert_array_equal(shot[0, 0], 1.0)


def test_a_ball_is_brightest_where_the_light_falls() -> None:
    ball = qp.Multibody(qp.Body.sphere("ball", 0.1, 1.0))
    stage = Stage(ball)
    view = stills.view_of(stage, stage.at(ball.initial), EYE)
    assert len(view.pieces) == 1 + stills.DISCS
    brightness = [sum(view.looks[piece.number].face[:3]) for piece in view.pieces]
    assert brightness == sorted(brightness)
    for piece in view.pieces:
        assert np.linalg.norm(piece.corners, axis=1).max() < 0.1 + 1e-9


# --- films ----------------------------------------------------------------------------------------
def test_pace(run: qp.Trajectory) -> None:
    times, faster = movie.pace(run, 25.0, None)
    assert (len(times), faster) == (201, 1.0)
    assert (times[0], times[-1]) == (0.0, 8.0)
    assert len(movie.pace(run, 10.0, 4.0)[0]) == 21
    with pytest.raises(
        qp.PartError, match=r"movie: 80000 frames are too many; 6000 are not: give speed=14."
    ):
        movie.pace(run, 10000.0, None)
    with pytest.raises(qp.PartError, match=r"movie: fps or speed is 0.0, but must be positive"):
        movie.pace(run, 0.0, None)


def test_scenes_of_a_replay_have_its_joints() -> None:
    graph = pair().explore()
    flown = graph.replay([*graph.plan("n0", "n1"), *graph.plan("n1", "n0")])
    scenes = movie.Scenes.of(flown)
    first, second = (scenes.sight(flown, leg.t + 1.0, True).axles[0].joint for leg in flown.legs)
    assert (first, second) == ("A east | B west: hinge 1", "A south | B south: hinge 2")
    along = scenes.sight(flown, 1.0, True).axles[0].ends
    np.testing.assert_allclose(along[:, :2], [EDGE[:2], EDGE[:2]], atol=1e-9)
    assert movie.traces(flown).shape == (movie.TRACED, 1, 3)


def test_frames_show_the_motion(run: qp.Trajectory) -> None:
    """B, which is sand, moves: later frames have its colour elsewhere; the clock's corner changes
    too."""
    pytest.importorskip("matplotlib")
    from quirkpy.views.drawing import style

    with style("movie"):
        first, _, last = movie.frames(run, np.array([0.0, 4.0, 8.0]), 1.0, EYE, True, True)
    assert first.shape == last.shape == (540, 960, 4)
    places = []
    for shot in (first, last):
        r, g, b = (shot[:, :, k].astype(int) for k in range(3))
        rows, columns = np.nonzero((r - b > 60) & (r > 120) & (g > 90) & (np.arange(960) < 560))
        places.append((rows.mean(), columns.mean()))
    assert math.dist(*places) > 40.0


def test_gifs_come_out(run: qp.Trajectory, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from PIL import Image

    run.movie(tmp_path / "run.gif", fps=2.0, speed=2.0, forces=False, trace=False)
    with Image.open(tmp_path / "run.gif") as film:
        assert (film.size, film.n_frames, film.info["duration"]) == ((960, 540), 9, 500)


def test_mp4s_come_out(run: qp.Trajectory, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    reader = pytest.importorskip("imageio_ffmpeg")
    run.movie(tmp_path / "run.mp4", fps=4.0, speed=4.0)
    count, seconds = reader.count_frames_and_secs(str(tmp_path / "run.mp4"))
    assert (count, seconds) == (9, pytest.approx(2.25, abs=0.01))


def test_what_is_missing_is_said(
    run: qp.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(qp.PartError, match=r"movie: 'run.avi' ends in none of .mp4, .gif"):
        run.movie(tmp_path / "run.avi")
    real = builtins.__import__

    def without(missing: str) -> Any:
        def imported(name: str, *rest: Any) -> Any:
            if name.split(".")[0] == missing:
                raise ImportError(name)
            return real(name, *rest)

        return imported

    monkeypatch.setattr(builtins, "__import__", without("imageio_ffmpeg"))
    with pytest.raises(
        qp.PartError,
        match=r"an .mp4 needs imageio-ffmpeg; pip install 'quirkpy\[movies\]' brings it",
    ):
        run.movie(tmp_path / "run.mp4")
    monkeypatch.setattr(builtins, "__import__", without("matplotlib"))
    for ask in (
        lambda: run.movie(tmp_path / "run.gif"),
        lambda: run.plot(),
        lambda: run.system.picture(),
    ):
        with pytest.raises(
            qp.PartError, match=r"this needs matplotlib; pip install 'quirkpy\[plots\]' brings it"
        ):
            ask()
