"""What a pair may become: hinges about edges of boxes, their sense and stop; frames that mate;
options of one's own."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.explore.scope.options import mating_frame, shift_frame
from tests.faults.sentence import Case, case, check_refused
from tests.studies import Ball

SIZE = np.array([0.1, 0.2, 0.3])
FACES = [tuple(s * e for e in row) for row in np.eye(3) for s in (1.0, -1.0)]
QUARTER = 0.5 * math.pi


def hub(at: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> qp.Body:
    return qp.Body.box("hub", SIZE, 1.0, fixed=True, position=at)


def across(z: Any) -> list[tuple[float, ...]]:
    """The four axes of a box that lie in a face."""
    return [axis for axis in FACES if abs(np.dot(axis, z)) < 0.5]


def site_on(body: qp.Body, z: Any, x: Any) -> qp.Site:
    return body.site("face", at=0.5 * SIZE * z, z=z, x=x)


def open_pair(z: Any, x: Any, edge: int) -> tuple[qp.Multibody, qp.Body, qp.Hinge]:
    """A small cube on a face of the hub, hinged about an edge of the hub."""
    z, x = np.array(z), np.array(x)
    arm = qp.Body.box("arm", (0.02, 0.02, 0.02), 1.0, position=0.5 * SIZE * z + 0.01 * z)
    back = arm.site("back", at=-0.01 * z, z=-z, x=x)
    option = qp.Hinge(edge)
    made = option.parts("hinge", site_on(hub(), z, x), mating_frame(qp.Sensor("s", back), 0.0))
    return qp.Multibody(hub(), arm, *made), arm, option


@pytest.mark.parametrize("z", FACES)
def test_hinges_lie_on_edges_open_outwards_and_stop_half_a_turn_later(
    z: tuple[float, float, float],
) -> None:
    """On all six faces, about all four edges, for every way in which x may lie."""
    for x, edge in itertools.product(across(z), (1, 2, 3, 4)):
        system, _, option = open_pair(z, x, edge)
        y = np.cross(z, x)
        out = {1: y, 2: -y, 3: np.array(x), 4: -np.array(x)}[edge]
        at, axis, most = option.placed(site_on(hub(), z, x))
        frame = np.stack([x, y, z])
        middle = 0.5 * SIZE * np.abs(out) @ np.abs(out) * out + 0.5 * SIZE * z
        np.testing.assert_allclose(0.5 * SIZE * z + np.array(at) @ frame, middle, atol=1e-15)
        assert abs(np.array(axis) @ frame @ out) < 1e-15
        assert most == math.pi
        # a small angle lifts the arm off the face: along z
        opened = system.initial.replace(
            {"arm": turned_about(system, middle, np.array(axis) @ frame, 0.01)}
        )
        assert opened["hinge"].angle == pytest.approx(0.01, abs=1e-9)
        assert np.dot(opened["arm"].position - system.initial["arm"].position, z) > 0.0
        assert system.residual().position.size


def turned_about(system: qp.Multibody, point: Any, axis: Any, angle: float) -> dict[str, Any]:
    turn, here = qp.rotation(axis, angle), system.initial["arm"]
    return {
        "position": point + rotated(turn, here.position - point),
        "orientation": turn * here.orientation,
    }


def rotated(turn: Any, v: Any) -> Any:
    w = turn * qp.Quaternion(0.0, *v) * turn.conjugate()
    return np.array([w.x, w.y, w.z])


@pytest.mark.parametrize("edge", [1, 2, 3, 4])
def test_the_faces_are_a_stop(edge: int) -> None:
    """What presses the faces together moves nothing; what lifts them apart does."""
    system, arm, _ = open_pair((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), edge)
    for force, moves in ((-0.01, False), (0.01, True)):
        pushed = system.with_(qp.Load("push", arm, force=(0.0, 0.0, force)))
        assert (abs(pushed.simulate(0.1).final["hinge"].angle) > 1e-6) == moves


def test_a_hinge_by_point_and_axis() -> None:
    one = site_on(hub(), np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0]))
    hinge = qp.Hinge(at=(0.0, 0.1, 0.0), axis=(-2.0, 0.0, 0.0), opens=1.0)
    same = qp.Hinge(1, opens=1.0)
    assert hinge.placed(one) == ((0.0, 0.1, 0.0), (-1.0, 0.0, 0.0), 1.0)
    for a, b in zip(hinge.placed(one), same.placed(one), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-15)
    assert qp.Hinge(at=(0, 0, 0), axis=(0, 0, 1)).placed(one)[2] is None
    assert hinge.label == "hinge at (0.0, 0.1, 0.0) about (-2.0, 0.0, 0.0)"
    assert same.label == "hinge 1"


def on(shape: qp.Body, at: Any = (0.05, 0.0, 0.0)) -> Callable[[], Any]:
    site = shape.site("s", at=at, z=(1, 0, 0), x=(0, 0, 1))
    return lambda: qp.Hinge(3).parts("h", site, site)


REFUSED: list[Case] = [
    case(lambda: qp.Hinge(), "Hinge", "either an edge, 1 to 4, or at= and axis=", id="nothing"),
    case(lambda: qp.Hinge(1, at=(0, 0, 0), axis=(0, 0, 1)), "Hinge", "either", id="both"),
    case(lambda: qp.Hinge(at=(0, 0, 0)), "Hinge", "belong together", id="at alone"),
    case(lambda: qp.Hinge(1, axis=(0, 0, 1)), "Hinge", "belong together", id="axis alone"),
    case(lambda: qp.Hinge(5), "Hinge", "edge is 5", "1, 2, 3 or 4", id="edge 5"),
    case(lambda: qp.Hinge(True), "Hinge", "edge is True", id="edge True"),
    case(lambda: qp.Hinge(1, opens=0.0), "Hinge", "opens is 0.0", id="opens 0"),
    case(lambda: qp.Hinge(at=(0, 0, 0), axis=(0, 0, 0)), "Hinge", "axis", id="axis 0"),
    case(
        on(qp.Body.sphere("ball", 0.1, 1.0)),
        "Hinge",
        "'ball' is no box",
        "at= and axis=",
        id="ball",
    ),
    case(
        on(qp.Body.box("b", (0.1, 0.1, 0.1), 1.0), (0.05, 0.0, 0.05)),
        "Hinge",
        "'s'",
        "at or beyond",
        id="on edge",
    ),
]


@pytest.mark.parametrize(("make", "name", "words"), REFUSED)
def test_refused(make: Callable[[], Any], name: str, words: tuple[str, ...]) -> None:
    check_refused(make, name, words)


# --- frames ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("turns", range(4))
@pytest.mark.parametrize("z", FACES)
def test_mated_frames_lie_on_each_other(z: tuple[float, float, float], turns: int) -> None:
    """However the second is turned about the first, by quarter turns."""
    body = qp.Body.box("arm", (0.1, 0.1, 0.1), 1.0)
    sensor = qp.Sensor("s", body.site("s", at=(0.05, 0.0, 0.0), z=z, x=across(z)[0]))
    made, axes = mating_frame(sensor, QUARTER * turns), np.array(sensor.site.axes9).reshape(3, 3)
    frame = np.array(made.axes9).reshape(3, 3)
    np.testing.assert_allclose(frame[:, 2], -axes[:, 2], atol=1e-15)
    np.testing.assert_allclose(np.linalg.det(frame), 1.0)
    assert made.at == sensor.site.at
    # seen in that frame, the x axis of the sensor is turned by the roll about z
    seen = frame.T @ axes[:, 0]
    np.testing.assert_allclose(
        seen, [math.cos(QUARTER * turns), math.sin(QUARTER * turns), 0.0], atol=1e-15
    )


def test_shifted_frames() -> None:
    body = qp.Body.box("arm", (0.1, 0.1, 0.1), 1.0)
    site = body.site("s", at=(0.05, 0.0, 0.0), z=(1, 0, 0), x=(0, 0, 1))
    made = shift_frame(
        site, "edge", (0.05, 0.0, 0.0), (0.0, 1.0, 0.0)
    )  # x of the site is z of the body, y is -y
    np.testing.assert_allclose(made.at, (0.05, 0.0, 0.05), atol=1e-15)
    np.testing.assert_allclose(made.z, np.cross((1, 0, 0), (0, 0, 1)), atol=1e-15)


def faced(roll: float, quarter: int) -> qp.Study:
    """Two cubes face to face, the second turned about the axis between them."""
    one = qp.Body.box("one", (0.1, 0.1, 0.1), 1.0, fixed=True)
    turn = qp.rotation((1, 0, 0), quarter * QUARTER)
    two = qp.Body.box("two", (0.1, 0.1, 0.1), 1.0, position=(0.1, 0, 0), orientation=turn)
    sensors = [
        qp.Sensor(
            f"{body.name} face",
            body.site("face", at=(s * 0.05, 0, 0), z=(s, 0, 0), x=(0, 0, 1)),
            roll=roll,
        )
        for body, s in ((one, 1.0), (two, -1.0))
    ]
    options = [qp.Free(), qp.Lock(), qp.Hinge(1), qp.Hinge(3)]
    return qp.Study(qp.Multibody(one, two), sensors=sensors, options={("face", "face"): options})


@pytest.mark.parametrize("quarter", range(4))
def test_pairs_are_held_as_they_are_turned(quarter: int) -> None:
    study = faced(QUARTER, quarter)
    assert study.in_range(study.system.initial) == [(0, quarter)]
    graph = study.explore()
    assert graph.kinds == {"stayed": 4}
    (node,) = graph.nodes.values()
    assert [(link.roll, link.option) for link in node.links] == [(quarter, "lock")]
    np.testing.assert_allclose(node.state.r, study.system.initial.r, atol=1e-14)


@pytest.mark.parametrize(("quarter", "pairs"), [(0, 1), (1, 0), (2, 1), (3, 0)])
def test_half_turns_do_not_take_quarters(quarter: int, pairs: int) -> None:
    study = faced(math.pi, quarter)
    assert len(study.in_range(study.system.initial)) == pairs


# --- others ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("option", "label", "joins", "freedoms"),
    [
        (qp.Free(), "free", False, None),
        (qp.Lock(), "lock", True, 0),
        (qp.Hinge(2), "hinge 2", True, 1),
        (Ball(), "ball", True, 3),
    ],
)
def test_options_of_all_kinds(
    option: qp.Option, label: str, joins: bool, freedoms: int | None
) -> None:
    """A class of one's own among them; JSON brings each back."""
    assert (option.label, option.joins) == (label, joins)
    assert qp.from_json(qp.to_json(option), ["tests.studies"]) == option
    study = faced(QUARTER, 0)
    made = option.parts("joint", study.sensors[0].site, mating_frame(study.sensors[1], 0.0))
    assert len(made) == (0 if freedoms is None else 1 if label != "hinge 2" else 2)
    if freedoms is not None:
        system = qp.Multibody(*study.system.parts, *made)
        assert system.mobility().degrees_of_freedom in (
            freedoms,
            freedoms - 1,
        )  # a hinge that is shut rests on its stop
