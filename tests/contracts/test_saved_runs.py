"""A run in a file comes back bit for bit, answers as before, and goes on as it would have."""

from __future__ import annotations

import dataclasses
import math
import pickle
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import quirkpy as qp
from demos.cubesat_pair import pair
from quirkpy.explore.answers.replay import Replay
from quirkpy.formats import json, npz
from quirkpy.motion.course import NO_TAILS, Counts, Course, Happening
from quirkpy.motion.settings import Settings
from tests import user_parts
from tests.assemblies import assembly
from tests.contracts.catalogue import PARTS
from tests.explore.test_changing_joints import charged
from tests.laws.test_sensors_meet import SHORT, drifting
from tests.motion import compiled_system, floating_chain
from tests.random_systems import FAMILIES
from tests.truths.test_slider_crank import START, mechanism


def bits(value: Any) -> Any:
    """A value in which equal means equal to the last bit."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes()
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, tuple):
        return type(value), [bits(item) for item in value]
    if isinstance(value, qp.State | Settings):
        names = [field.name for field in dataclasses.fields(value) if field.name != "selection"]
        return {name: bits(getattr(value, name)) for name in names}
    return value


def reloaded(run: qp.Trajectory, folder: Path, *modules: str) -> qp.Trajectory:
    """The run once it has been in a file; what it was made of is the same."""
    run.save(folder / "run.npz")
    copy = qp.Trajectory.load(folder / "run.npz", modules)
    assert copy.system == run.system
    for name in ("start", "settings", "course"):
        assert bits(getattr(copy, name)) == bits(getattr(run, name)), name
    return copy


# --- the same bits --------------------------------------------------------------------------------
@pytest.mark.parametrize("family", FAMILIES)
def test_a_run_comes_back_and_goes_on(family: str, tmp_path: Path) -> None:
    system = compiled_system(family, 4)
    run = system.simulate(0.2, keep=2)
    copy = reloaded(run, tmp_path, user_parts.__name__)
    assert copy.states == run.states
    assert bits(copy.final) == bits(run.final)
    goes_on = system.at(run.final).simulate(0.1).course
    assert bits(copy.system.at(copy.final).simulate(0.1).course) == bits(goes_on)
    assert bits(system.at(copy.final).simulate(0.1).course) == bits(goes_on)


def test_it_answers_as_before(tmp_path: Path) -> None:
    run = mechanism(*START).simulate(0.5)
    copy = reloaded(run, tmp_path)
    t = 0.5 * (run.t[3] + run.t[4])
    assert bits(copy.at(t)) == bits(run.at(t))
    for name in (
        "t",
        "kinetic",
        "potential",
        "work",
        "dissipated",
        "momentum",
        "angular_momentum",
        "drift",
    ):
        assert bits(getattr(copy, name)) == bits(getattr(run, name)), name
    for joint in run.system.tables.joint_names:
        for one, two in zip(
            (copy[joint].angle, copy[joint].rate), (run[joint].angle, run[joint].rate), strict=True
        ):
            assert bits(one) == bits(two)
        np.testing.assert_array_equal(copy[joint].reaction, run[joint].reaction)
    assert repr(copy) == repr(run)


def test_a_run_that_went_on_keeps_the_step_with_which_it_began(tmp_path: Path) -> None:
    first = floating_chain().simulate(2.0)
    second = floating_chain().at(first.final).simulate(1.0)
    assert second.start.step is not None
    copy = reloaded(second, tmp_path)
    assert bits(copy.system.simulate(1.0).course) == bits(second.course)


def test_a_run_of_locked_clusters_goes_on_to_the_bit(tmp_path: Path) -> None:
    """As one long run would: from the rows of the clusters, which those of their members do not
    give back."""
    system = assembly(1).locked
    whole, first = (system.simulate(9.0, max_steps=n) for n in (15, 5))
    copy = reloaded(first, tmp_path)
    assert bits(copy.final) == bits(first.final)
    for one, final in ((copy.system, copy.final), (system, copy.final)):
        second = one.at(final).simulate(9.0, max_steps=5)
        np.testing.assert_array_equal(second.course.states[:, :-1], whole.course.states[5:11, :-1])
    again = reloaded(second, tmp_path)
    assert again.start.merged is not None
    assert bits(again.system.simulate(9.0, max_steps=5).course) == bits(second.course)


def test_events_and_windings_come_back(tmp_path: Path) -> None:
    run = drifting().simulate(2.0, stop=[qp.SensorsMeet()], step=SHORT)
    copy = reloaded(run, tmp_path)
    assert copy.stop is qp.Stop.EVENT
    assert copy.events == run.events
    assert copy.events[0].sensors == ("one east", "two west")
    rotor = qp.Body("rotor", 1.0, (1.0, 1.0, 1.5), angular_velocity=(0, 0, 7.0))
    system = qp.Multibody(
        rotor, qp.Revolute("axle", qp.GROUND, rotor, at=(0, 0, 0), axis=(0, 0, 1))
    )
    turned = system.simulate(3.0)
    again = reloaded(system.at(turned.final).simulate(3.0), tmp_path)
    assert again.final["axle"].angle == pytest.approx(42.0, abs=1e-6)


def test_a_run_that_failed_comes_back(tmp_path: Path) -> None:
    """Numbers that JSON does not know among them."""
    run = floating_chain().simulate(0.2)
    states = run.course.states.copy()
    states[-1, 0, 0] = math.nan
    course = run.course._replace(states=states, stop=qp.Stop.NOT_FINITE, step=math.inf)
    copy = reloaded(qp.Trajectory(run.system, run.start, run.settings, course), tmp_path)
    assert copy.stop is qp.Stop.NOT_FINITE
    assert math.isnan(copy.course.states[-1, 0, 0])


def test_signs_of_zeros_are_kept(tmp_path: Path) -> None:
    ball = qp.Body.sphere("ball", 0.1, 1.0, velocity=(1.0, 0.0, 0.0))
    written = qp.Multibody(ball)
    system = written.at(written.initial.replace({"ball": {"position": (-0.0, 0.0, -0.0)}}))
    copy = reloaded(system.simulate(1.0), tmp_path)
    assert np.signbit(copy.start.r).tolist() == [[True, False, True]]


def test_candidates_come_along(tmp_path: Path) -> None:
    chain = floating_chain()
    system = qp.Multibody(
        *chain.parts, candidates=[qp.Spring("later", chain["hub"], chain["fin"], stiffness=1.0)]
    )
    assert reloaded(system.simulate(0.1), tmp_path).system.candidates == system.candidates


# --- the file -------------------------------------------------------------------------------------
def test_the_file_has_the_name_that_was_given(tmp_path: Path) -> None:
    run = floating_chain().simulate(0.1)
    run.save(str(tmp_path / "first of May"))
    assert [path.name for path in tmp_path.iterdir()] == ["first of May"]
    assert qp.Trajectory.load(str(tmp_path / "first of May")).t.tolist() == run.t.tolist()


def test_arrays_can_be_read_without_quirkpy(tmp_path: Path) -> None:
    run = floating_chain().simulate(0.1)
    run.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz", allow_pickle=False) as archive:
        np.testing.assert_array_equal(archive["course.t"], run.t)
        np.testing.assert_array_equal(archive["course.states"], run.course.states)


def test_new_fields_need_no_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An array a step, a number and an array an event, as a later version might keep them."""

    class Wider(NamedTuple):
        t: float
        name: str
        sensors: tuple[str, ...] = ()
        joints: tuple[str, ...] = ()
        lost: float = 0.0
        branches: tuple[str, ...] = ()
        impulse: Any = None
        speed: float = 0.0

    class Longer(NamedTuple):
        t: Any
        states: Any
        angles: Any
        drift: Any
        stop: qp.Stop
        events: tuple[Wider, ...]
        counts: Counts
        step: float
        held: Any = None
        stops: tuple[str, ...] = ()
        merged: Any = None
        tail: Any = NO_TAILS
        jumps: tuple[Any, ...] = ()
        records: tuple[Any, ...] = ()
        controls: tuple[Any, ...] = ()
        departures: tuple[Any, ...] = ()
        heat: Any = None

    Wider.__name__, Longer.__name__ = Happening.__name__, Course.__name__
    run = floating_chain().simulate(0.1)
    run.save(tmp_path / "old.npz")
    monkeypatch.setitem(npz.RECORDS, "Happening", Wider)
    monkeypatch.setitem(npz.RECORDS, "Course", Longer)
    events = (
        Wider(0.05, "knock", ("a", "b"), (), 0.5, (), np.array([0.1, -0.0]), math.inf),
        Wider(0.06, "knock"),
    )
    longer: Any = Longer(
        **run.course._asdict() | {"events": events}, heat=np.arange(len(run.t)) / 3.0
    )
    reloaded(qp.Trajectory(run.system, run.start, run.settings, longer), tmp_path)
    older: Any = qp.Trajectory.load(tmp_path / "old.npz").course
    assert older.heat is None


# --- what lasts -----------------------------------------------------------------------------------
def test_pickles_carry_all_between_processes() -> None:
    """Within one version: a run, its states and its system, a study and its graph (parts have their
    own test)."""
    run, graph = floating_chain().simulate(0.1), pair().explore(budget=2)
    again, known = pickle.loads(pickle.dumps((run, graph)))
    assert bits(again.final) == bits(run.final)
    assert again.course.states.tobytes() == run.course.states.tobytes()
    onward = [one.system.at(one.final).simulate(0.1) for one in (run, again)]
    assert bits(onward[0].final) == bits(onward[1].final)
    assert known.to_json() == graph.to_json()
    assert known.study.digest == graph.study.digest


def test_what_lasts_names_no_place_in_the_package(tmp_path: Path) -> None:
    """JSON, runs and journals know classes by words that never change: those that users type, and
    for studies those that were once chosen."""
    run, graph = floating_chain().simulate(0.1), pair().explore(tmp_path / "pair.db", budget=1)
    run.save(tmp_path / "run.npz")
    texts = [qp.to_json(one) for one in (*PARTS, run.final, run.system, graph.study)]
    texts += [graph.to_json()]
    texts += [
        (tmp_path / file).read_bytes().replace(b"\0", b"").decode("latin-1")
        for file in ("pair.db", "run.npz")
    ]
    chosen = {name for name in json.TYPES if name.startswith("quirkpy.explore.")}
    assert len(chosen) == 11
    for text in texts:
        assert set(re.findall(r"quirkpy\.[\w.]+:\w+", text)) <= chosen
        assert not re.search(r"quirkpy\.(?!explore\.\w+:)", text)


# --- replays --------------------------------------------------------------------------------------
def test_a_replay_comes_back_leg_by_leg(tmp_path: Path) -> None:
    """Its runs to the bit, its ledger, what its joints drew, and charts; also as a table."""
    graph = charged(pair(0.2)).explore(progress=False)
    run = graph.replay(graph.plan("n0", "n2"))
    run.save(tmp_path / "flight.npz")
    copy = qp.Trajectory.load(tmp_path / "flight.npz")
    assert isinstance(copy, Replay)
    for one, two in zip(run.legs, copy.legs, strict=True):
        for mine, other in zip(one.runs, two.runs, strict=True):
            assert bits(mine.course) == bits(other.course)
        assert one._replace(runs=()) == two._replace(runs=())
    for name in ("t", "energy", "lost", "work", "switched", "power", "changed", "dissipated"):
        assert bits(getattr(run, name)) == bits(getattr(copy, name)), name
    assert (copy.supplied, copy.waits) == (run.supplied, run.waits)
    middle = 0.5 * float(run.t[-1])
    np.testing.assert_array_equal(copy.at(middle).r, run.at(middle).r)
    copy.sampled(5.0).save(tmp_path / "again.npz")
    assert len(qp.Trajectory.load(tmp_path / "again.npz").t) >= len(run.t)
    copy.save(tmp_path / "flight.csv", ["B.position"], step=10.0)
    rows = np.loadtxt(tmp_path / "flight.csv", delimiter=",", skiprows=1)
    np.testing.assert_array_equal(rows[:-1, 0], 10.0 * np.arange(len(rows) - 1))
    assert len(copy.plot("energy", "power").png()) > 1000


# --- for other programs ---------------------------------------------------------------------------
def runs_of_each_kind() -> list[qp.Trajectory]:
    """A plain run, one that switches, one with a controller, and a replay; names that no group
    bears."""
    one, two = (
        qp.Body.sphere(n, 0.1, 1.0, position=(x, 0, 0)) for n, x in (("t/x", 0), ("%2F", 1))
    )
    odd = qp.Multibody(one, two, qp.Fixed(".", one, two, here=True)).simulate(0.1)
    switch = qp.Switch(0.1, parameters={"torsion": {"damping": 0.1}})
    graph = pair(0.2).explore()
    return [
        odd, floating_chain().simulate(0.2), floating_chain().simulate(0.2, switches=[switch]),
        graph.replay(graph.plan("n0", "n1")),
    ]  # fmt: skip


def test_an_hdf5_file_is_the_table_with_units(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    for run in runs_of_each_kind():
        run.save(tmp_path / "run.h5")
        table, units = run.table(), {"t": "s"} | dict(run.system.measures)
        with h5py.File(tmp_path / "run.h5") as file:
            assert file.attrs["stop"] == str(run.stop)
            assert sorted(kept.attrs["name"] for kept in file.values()) == sorted(table)
            for kept in file.values():
                name = kept.attrs["name"]
                assert bits(kept[()]) == bits(np.asarray(table[name])), name
                assert kept.attrs["unit"] == units[name]
                assert len(kept.attrs.get("parts", ())) == math.prod(kept.shape[1:]) * (
                    kept.ndim > 1
                )
        first = (tmp_path / "run.h5").read_bytes()
        run.save(str(tmp_path / "AGAIN.HDF5"))
        assert (tmp_path / "AGAIN.HDF5").read_bytes() == first
    run.save(tmp_path / "some.h5", ["kinetic"], step=1.0)
    with h5py.File(tmp_path / "some.h5") as file:
        assert sorted(file) == ["kinetic", "t"]
        np.testing.assert_array_equal(np.diff(file["t"][:-1]), 1.0)


def test_h5py_is_asked_for_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(qp.PartError, match=r"'.*run.h5' needs h5py; pip install 'quirkpy\[hdf5\]'"):
        floating_chain().simulate(0.1).save(tmp_path / "run.h5")
    assert not list(tmp_path.iterdir())
