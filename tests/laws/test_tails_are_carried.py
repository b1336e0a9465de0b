"""Bodies with more coordinates and speeds than a rigid one: whatever these do, runs carry them.

No part gives a body any yet.  So here a layout says that there are some, and a force, which adds no
load, writes their rates where the kernels look for them, at each evaluation: two oscillators in one
body and a wheel that slows down in another, of which closed forms are known.  They act on nothing,
so all else must go as it does without them."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.explore.model.graph import Node, node_of, node_record
from quirkpy.explore.run.records import check_reached
from quirkpy.kernels.base.states import StateLayout
from quirkpy.maths.types import Floats
from quirkpy.mechanics.clusters import Clusters
from quirkpy.mechanics.engine import Engine, Layout
from quirkpy.motion.interpolation import bends_of, fastest, rows_of
from quirkpy.parts.part import PartError
from quirkpy.rest.reason import told

#: Two coordinates in the first body; two speeds in it and one, without a coordinate, in the third.
LAYOUT = StateLayout.of((2, 0, 0), (2, 0, 1))
#: Frequencies of the oscillators [rad/s], how fast the wheel slows down [1/s], and the start.
FAST, DECAY = np.array([7.0, 80.0]), 2.0
START = np.array([0.3, 0.0, 0.0, 2.0, 5.0])
END = 0.6
#: Engines at work, the last of them at the moment.
WORKING: list[Engine] = []
HERE = "tests.laws.test_tails_are_carried"


def slope(tail: Floats) -> Floats:
    """What the coordinates and speeds do."""
    return np.concatenate([tail[2:4], -(FAST**2) * tail[:2], -DECAY * tail[4:]])


def truth(t: Any) -> Floats:
    """Where they are at times, in closed form (k, 5)."""
    s = np.atleast_1d(t)[:, None]
    x, u = START[:2], START[2:4]
    c, w = np.cos(FAST * s), np.sin(FAST * s)
    return np.hstack(
        [x * c + u / FAST * w, u * c - x * FAST * w, START[4] * np.exp(-DECAY * s)],
    )


class Within(qp.Force):
    """What moves within bodies, without any load on them."""

    def load(self, at: qp.MotionView) -> dict[Any, Any]:
        """None; the rates of the tail are written where kernels look for them."""
        tail = WORKING[-1].scratch.tail if WORKING else np.zeros((2, 0))
        if tail.shape[1]:
            tail[1] = slope(tail[0])
        return {}


class Known(Layout):
    """A layout that tells which engine is at work."""

    @contextmanager
    def lend(self) -> Iterator[Engine]:
        """As any other, and noted."""
        with super().lend() as engine:
            WORKING.append(engine)
            try:
                yield engine
            finally:
                WORKING.pop()


def rigid() -> qp.Multibody:
    """A pendulum of two bars, and a box that tumbles beside it."""
    bars = [
        qp.Body.box(f"bar {k}", size=(0.4, 0.05, 0.05), mass=1.0, position=(0.2 + 0.4 * k, 0, 0))
        for k in range(2)
    ]
    box = qp.Body.box(
        "box", size=(0.1, 0.2, 0.3), mass=2.0, position=(0, 2, 0), angular_velocity=(1.0, 2.0, 0.1)
    )
    return qp.Multibody(
        *bars, box,
        qp.Revolute("top", qp.GROUND, bars[0], at=(0, 0, 0), axis=(0, 0, 1)),
        qp.Spherical("middle", bars[0], bars[1], at=(0.4, 0, 0)),
        qp.Gravity((0, -9.81, 0)), Within("within"),
    )  # fmt: skip


def flexible(further: Floats = START) -> qp.Multibody:
    """The same, whose bodies have further coordinates and speeds."""
    system = rigid()
    clusters = Clusters(system.selection, Known(system.selection, LAYOUT))
    start = dataclasses.replace(system.initial, further=further)
    return system._variant(start=start, selection=system.selection, clusters=clusters)


WAYS: list[tuple[dict[str, Any], float]] = [
    ({"method": "dop853"}, 1e-7),
    ({"method": "rk45"}, 1e-6),
    ({"method": "dop853", "step": 2e-3}, 1e-9),
    ({"method": "rk45", "step": 1e-3}, 1e-6),
    ({"method": "radau"}, 1e-7),
    ({"method": "dop853", "energy": "conserve"}, 1e-7),
    ({"method": "dop853", "drift": "baumgarte"}, 1e-7),
]


@pytest.mark.parametrize(("way", "within"), WAYS, ids=str)
def test_tails_go_where_they_must(way: dict[str, Any], within: float) -> None:
    """At every stored time, at any time between, and sampled."""
    run = flexible().simulate(END, **way)
    assert run.course.tail.shape == (len(run.t), LAYOUT.tail)
    assert abs(run.course.tail - truth(run.t)).max() <= within * 80.0
    between = 0.5 * (run.t[1:] + run.t[:-1])[::7]
    found = np.array([run.at(float(t)).further for t in between])
    assert abs(found - truth(between)).max() <= within * 80.0
    dense = run.sampled(END / 23.0)
    assert abs(dense.course.tail - truth(dense.t)).max() <= within * 80.0


@pytest.mark.kernels
@pytest.mark.parametrize("method", ["dop853", "rk45"])
def test_all_else_goes_as_without_them(method: Any) -> None:
    """With steps of one length to the bit."""
    step: Any = {"method": method, "step": 2e-3}
    with_tail, without = flexible().simulate(END, **step), rigid().simulate(END, **step)
    np.testing.assert_array_equal(with_tail.course.states, without.course.states)
    assert without.course.tail.size == 0


def test_the_error_of_tails_counts() -> None:
    """Steps are as short as the fastest oscillator needs, and shorter for a smaller error."""
    still = flexible(np.zeros(5)).simulate(END, rtol=1e-6, atol=1e-8)
    runs = [flexible().simulate(END, rtol=r, atol=0.01 * r) for r in (1e-6, 1e-9)]
    wrong = [abs(run.course.tail - truth(run.t)).max() for run in runs]
    assert runs[0].counts.steps > 2 * still.counts.steps
    assert wrong[1] < 1e-2 * wrong[0] < 1e-4


def test_each_group_of_the_tail_has_a_scale_of_its_own() -> None:
    """Coordinates of a body are one vector, its speeds another, and the wheel's a third."""
    assert LAYOUT.groups.tolist() == [0, 2, 4, 5]
    large = flexible(START * (1.0, 1.0, 1.0, 1.0, 1e6)).simulate(END, rtol=1e-6, atol=1e-12)
    assert abs(large.course.tail[:, :4] - truth(large.t)[:, :4]).max() < 1e-4
    assert np.allclose(large.course.tail[:, 4], 1e6 * truth(large.t)[:, 4], rtol=1e-4)


@pytest.mark.kernels
def test_events_see_tails_where_they_are() -> None:
    """The first oscillator passes zero after a quarter of its period; the step ends there."""
    zero = qp.When("zero", lambda state: float(state.further[0]))
    run = flexible().simulate(END, stop=[zero])
    assert run.t[-1] == pytest.approx(0.5 * math.pi / FAST[0], abs=1e-8)
    assert abs(run.course.tail[-1] - truth(run.t[-1:])[0]).max() < 1e-5
    assert abs(run.final.further[0]) < 1e-7


def test_runs_go_on_with_their_tails() -> None:
    """Halves agree with the whole; the second begins with the bits with which the first ended."""
    half = flexible().simulate(0.5 * END)
    again = flexible().at(half.final).simulate(0.5 * END)
    np.testing.assert_array_equal(again.course.tail[0], half.course.tail[-1])
    assert abs(again.course.tail[-1] - truth(END)[0]).max() < 1e-5
    ends = flexible().simulate(END, keep="ends")
    assert ends.course.tail.shape == (2, LAYOUT.tail)
    assert abs(ends.at(0.7 * END).further - truth(0.7 * END)[0]).max() < 1e-5


def test_files_keep_tails(tmp_path: Path) -> None:
    """Runs in NPZ files and states in JSON, bit for bit."""
    run = flexible().simulate(0.1)
    run.save(tmp_path / "run.npz")
    loaded = qp.Trajectory.load(tmp_path / "run.npz", [HERE])
    np.testing.assert_array_equal(loaded.course.tail, run.course.tail)
    np.testing.assert_array_equal(loaded.start.further, START)
    np.testing.assert_array_equal(loaded.final.further, run.final.further)
    assert qp.from_json(qp.to_json(run.final)) == run.final
    assert run.final != dataclasses.replace(run.final, further=START)


def test_files_without_tails_say_nothing_of_them(tmp_path: Path) -> None:
    run = rigid().simulate(0.1)
    run.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as file:
        assert not [name for name in file.files if "tail" in name or "further" in name]
        assert "further" not in str(file["document"])
    assert "further" not in qp.to_json(run.final)


def test_files_with_damaged_tails_are_refused(tmp_path: Path) -> None:
    """As many tails as rows, or none."""
    run = flexible().simulate(0.1)
    course = run.course._replace(tail=run.course.tail[1:])
    qp.Trajectory(run.system, run.start, run.settings, course).save(tmp_path / "run.npz")
    with pytest.raises(PartError, match="cannot be read"):
        qp.Trajectory.load(tmp_path / "run.npz", [HERE])


def test_accelerations_end_with_those_of_further_speeds() -> None:
    system = flexible()
    with system.clusters.lend() as engine:
        found = engine.all_accelerations(system.initial.instant())
        assert found.shape == (LAYOUT.velocity_length,) == (3 * 6 + 3,)
        np.testing.assert_array_equal(LAYOUT.further_in(found), slope(START)[2:])
        np.testing.assert_array_equal(LAYOUT.by_body(found), rigid().acceleration())


def test_curves_between_rows_ask_with_tails() -> None:
    """Accelerations along a run are asked for where the tails are."""
    run = flexible().simulate(0.1)
    asked: list[Floats] = []
    clusters = run.system.clusters
    with clusters.lend() as engine:
        held = engine  # lent again below: the same memory
    bends_of(clusters, rows_of(run.course), np.ones(4))
    asked.append(held.scratch.tail[0].copy())
    fastest(run.course, clusters)
    asked.append(held.scratch.tail[0].copy())
    np.testing.assert_array_equal(asked[0], run.course.tail[-2])  # in the middle of the last step
    np.testing.assert_array_equal(asked[1], run.course.tail[-1])


def test_bodies_that_move_within_themselves_are_not_merged() -> None:
    """Locked together they still move beside each other."""
    bars = [
        qp.Body.box(f"bar {k}", size=(0.4, 0.05, 0.05), mass=1.0, position=(0.4 * k, 0, 0))
        for k in range(3)
    ]
    locks = [
        qp.Fixed(f"lock {k}", bars[k], bars[k + 1], at=(0.2 + 0.4 * k, 0, 0)) for k in range(2)
    ]
    system = qp.Multibody(*bars, *locks)
    assert system.clusters.merger is not None
    apart = Clusters(system.selection)
    apart.__dict__["layout"] = Layout(system.selection, LAYOUT)
    assert apart.merger is None


@pytest.mark.parametrize("further", [np.zeros(0), np.zeros(1), np.zeros(7)])
def test_states_with_other_tails_are_refused(further: Floats) -> None:
    """Also one number, which NumPy would spread over all of them."""
    with pytest.raises(PartError, match="further coordinates and speeds"):
        flexible(further).simulate(END)


def test_tails_that_are_none_are_refused() -> None:
    initial = rigid().initial
    for further, said in ((np.array([math.nan]), "finite"), (np.zeros((2, 2)), "row of numbers")):
        with pytest.raises(PartError, match=said):
            dataclasses.replace(initial, further=further)


def test_tails_belong_to_bodies() -> None:
    """A state taken to a system of the same bodies keeps its tail, one of others has none."""
    state = flexible().initial
    np.testing.assert_array_equal(state.on(rigid().selection).further, START)
    alone = qp.Multibody(*rigid().parts[2:3])
    assert state.on(alone.selection).further.size == 0


def test_records_of_nodes_keep_tails() -> None:
    """And say nothing of what is empty; what is no tail is refused."""
    for further in (START, np.zeros(0)):
        state = dataclasses.replace(rigid().initial, further=further)
        node = Node(0, state, (), "stable", told("meet, rises"), 0.0, ())
        record = json.loads(json.dumps(node_record(node)))
        check_reached(record)
        assert ("further" in record) == bool(further.size)
        found = node_of(record, 0, state.bodies)
        np.testing.assert_array_equal(found.state.further, further)
        with pytest.raises(TypeError, match="tail"):
            check_reached(record | {"further": ["bent"]})
