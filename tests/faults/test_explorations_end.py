"""Explorations that are killed, interrupted, or out of room: nothing finished is lost, and the
graph is the same."""

from __future__ import annotations

import os
import pickle
import random
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import quirkpy as qp
from quirkpy.explore.journal import Journal
from quirkpy.rest import settle
from tests.doomed import exploring, killed, runs_in, wait_for
from tests.faults.sentence import check_refused, check_sentence
from tests.random_systems import ATTACKING
from tests.studies import Deadly, Slow, failing_pair, far_pair

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import sys
from tests.studies import far_pair, Slow
if __name__ == "__main__":
    print("begun", flush=True)
    study = far_pair(Slow({seconds}))
    study.explore(sys.argv[1], workers=int(sys.argv[2]), progress=False)
"""


@cache
def undisturbed(*safety: qp.Safety) -> str:
    """The graph of an exploration that nothing disturbed, nor made slow."""
    with mock.patch("time.sleep"):
        return far_pair(*safety).explore().to_json()


@pytest.fixture(scope="module")
def whole() -> str:
    return undisturbed()


def slow(path: Path, workers: int, seconds: float) -> subprocess.Popen[str]:
    """A process that explores slowly, and has begun."""
    script = path.parent / "script.py"
    script.write_text(SCRIPT.format(seconds=seconds), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    words = [sys.executable, str(script), str(path), str(workers)]
    made = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=ROOT
    )
    assert made.stdout is not None
    assert made.stdout.readline() == "begun\n"
    return made


# --- kills ----------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.attack
@pytest.mark.parametrize("seed", range(20 if ATTACKING else 2))
def test_killed_at_any_moment(seed: int, tmp_path: Path) -> None:
    """Four times each, after some of the twelve runs: nothing that was in the journal is lost, and
    what comes out is the same to the bit."""
    chance, path = random.Random(seed), tmp_path / "pair.db"
    study = far_pair(Slow(0.03))
    for _ in range(4):
        before = runs_in(path)
        pid = exploring(partial(far_pair, Slow(0.03)), path, 1 + seed % 2)
        wait_for(path, min(before + chance.randint(1, 4), 10))
        time.sleep(chance.uniform(0.0, 0.1))
        killed(pid)
        assert runs_in(path) >= before
        graph = qp.ReconfigurationGraph.load(path, ["tests.studies"])
        assert len(graph.edges) <= runs_in(path)
    with mock.patch("time.sleep"):
        assert study.explore(path).to_json() == undisturbed(Slow(0.03))


@pytest.mark.slow
def test_workers_end_with_their_explorer(tmp_path: Path) -> None:
    pid = exploring(partial(far_pair, Slow(0.3)), tmp_path / "pair.db", 2)
    wait_for(tmp_path / "pair.db", 1)
    children = Path(f"/proc/{pid}/task/{pid}/children")
    if not children.is_file():
        pytest.skip("no list of children here")
    workers = [int(pid) for pid in children.read_text().split()]
    assert len(workers) >= 2
    killed(pid)
    end = time.monotonic() + 20.0
    while any(alive(pid) for pid in workers):
        assert time.monotonic() < end
        time.sleep(0.05)


def alive(pid: int) -> bool:
    """Whether a process is there, and has not just been left behind."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_an_interruption_leaves_a_journal_that_goes_on(workers: int, tmp_path: Path) -> None:
    path = tmp_path / "pair.db"
    process = slow(path, workers, 0.1)
    wait_for(path, 4)
    process.send_signal(signal.SIGINT)
    _, words = process.communicate(timeout=60)
    assert process.returncode != 0
    assert words.rstrip().endswith("KeyboardInterrupt")
    assert 4 <= runs_in(path) < 30
    with mock.patch("time.sleep"):
        told = far_pair(Slow(0.1)).explore(path).to_json()
    assert told == undisturbed(Slow(0.1))
    assert "interrupted" not in told


def test_an_interrupted_run_is_no_outcome(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Ctrl-C ends a run early; that must not go into the journal as what the choice leads to."""
    study, moved = far_pair(), settle.move

    def cut(*given: Any) -> qp.Trajectory:
        run = moved(*given)
        return qp.Trajectory(
            run.system, run.start, run.settings, run.course._replace(stop=qp.Stop.INTERRUPTED)
        )

    monkeypatch.setattr(settle, "move", cut)
    with pytest.raises(KeyboardInterrupt):
        study.explore(tmp_path / "pair.db")
    monkeypatch.undo()
    assert study.explore(tmp_path / "pair.db").to_json() == study.explore().to_json()


@pytest.mark.slow
def test_a_worker_that_is_killed(tmp_path: Path) -> None:
    fuse, path = tmp_path / "fuse", tmp_path / "pair.db"
    study = far_pair(Deadly(str(fuse)))
    fuse.touch()
    check_refused(
        lambda: study.explore(path, workers=2),
        "explore: a worker was killed",
        ("goes on", "__main__"),
    )
    assert not fuse.exists()
    assert study.explore(path, workers=2).to_json() == study.explore().to_json()


@pytest.mark.slow
def test_a_script_without_a_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from tests.studies import far_pair\nfar_pair().explore(workers=2)\n", encoding="utf-8"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, script], env=environment, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1].partition("PartError: ")[2]
    check_sentence(
        last, "explore", ("a worker was killed or could not start", "`if __name__ == '__main__':`")
    )
    assert "every worker reads the script anew" in done.stderr


# --- room and journals ----------------------------------------------------------------------------
def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: str) -> None:
    path, study = tmp_path / "pair.db", far_pair()
    prepare = Journal._prepare

    def cramped(self: Journal) -> None:
        prepare(self)
        self.base.execute("PRAGMA max_page_count = 7")

    monkeypatch.setattr(Journal, "_prepare", cramped)
    words = "cannot grow", "disk is full", "what is in it stays"
    check_refused(lambda: study.explore(path, reductions=False), "the journal", words)
    monkeypatch.undo()
    kept = runs_in(path)
    assert 0 < kept < 30
    assert len(qp.ReconfigurationGraph.load(path).edges) == kept
    assert study.explore(path).to_json() == whole


def scratched(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    path.write_bytes(data)


def told(sql: str) -> Any:
    def change(path: Path) -> None:
        with sqlite3.connect(path) as base:
            base.execute(sql)
        base.close()

    return change


FOREIGN = ("damaged or is no journal",)
FILES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "text": (lambda p: p.write_text("spam " * 500), FOREIGN),
    "scratched": (scratched, ("damaged",)),
    "cut off": (lambda p: p.write_bytes(p.read_bytes()[:3000]), ("damaged",)),
    "other base": (
        lambda p: (p.unlink(), told("CREATE TABLE songs (name TEXT)")(p)),
        ("is no journal", "another file"),
    ),
    "schema": (
        told("UPDATE meta SET value = '99', hash = '' WHERE key = 'schema'"),
        ("schema 99", "knows 3"),
    ),
    "folder": (lambda p: (p.unlink(), p.mkdir()), ("journal",)),
}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("journals") / "pair.db"
    far_pair().explore(path)
    return path.read_bytes()


@pytest.mark.parametrize("what", FILES)
def test_journals_that_are_none(what: str, good: bytes, tmp_path: Path) -> None:
    path = tmp_path / "pair.db"
    path.write_bytes(good)
    change, words = FILES[what]
    change(path)
    check_refused(lambda: far_pair().explore(path), "the journal", words)
    if path.is_file():
        before = path.read_bytes()
        with pytest.raises(qp.PartError):
            qp.ReconfigurationGraph.load(path)
        assert path.read_bytes() == before


def test_a_journal_of_another_study(good: bytes, tmp_path: Path) -> None:
    path = tmp_path / "pair.db"
    path.write_bytes(good)
    study = far_pair()
    fields = study.fields() | {"nudge": 2e-6}
    other = qp.Study(fields.pop("system"), **fields)
    check_refused(
        lambda: other.explore(path),
        "the journal",
        ("belongs to another study", "differs in nudge="),
    )
    path.unlink()
    check_refused(lambda: qp.ReconfigurationGraph.load(path), "load: there is no journal", ())


def test_a_journal_that_could_not_be_begun_is_empty(tmp_path: Path) -> None:
    """As a disk leaves it that is full with the first tables, or before them."""
    path, words = tmp_path / "pair.db", ("is empty", "explore its study into it")
    path.touch()
    check_refused(lambda: qp.ReconfigurationGraph.load(path), "the journal", words)
    Journal(path).close()
    check_refused(lambda: qp.ReconfigurationGraph.load(path), "the journal", words)
    assert len(far_pair().explore(path, budget=1).nodes) >= 1


def test_reading_writes_nothing(good: bytes, tmp_path: Path) -> None:
    path = tmp_path / "pair.db"
    path.write_bytes(good)
    assert len(qp.ReconfigurationGraph.load(path).edges) == 30
    assert path.read_bytes() == good
    assert far_pair().explore(path).coverage == 1.0
    assert [file.name for file in tmp_path.iterdir()] == ["pair.db"]


# --- the same graph -------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, 4])
def test_processes(workers: int, tmp_path: Path, whole: str) -> None:
    before = dict(os.environ)
    assert far_pair().explore(tmp_path / "pair.db", workers=workers).to_json() == whole
    assert qp.ReconfigurationGraph.load(tmp_path / "pair.db").to_json() == whole
    assert dict(os.environ) == before


class AtOnce(Executor):
    """Does everything when it is asked, the last first."""

    def submit(self, function: Any, /, *args: Any, **keywords: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(function(*args, **keywords))
        return future


@pytest.mark.parametrize(
    "executor", ["threads", "at once", pytest.param("processes", marks=pytest.mark.slow)]
)
def test_executors(executor: str, whole: str) -> None:
    makers: dict[str, Any] = {
        "threads": lambda: ThreadPoolExecutor(3), "at once": AtOnce,
        "processes": lambda: ProcessPoolExecutor(2, mp_context=get_context("spawn")),
    }  # fmt: skip
    with makers[executor]() as pool:
        assert far_pair().explore(workers=pool).to_json() == whole


class WritesLate(AtOnce):
    """Writes its tasks once more at the end, as an executor that writes them in a thread of its own
    may do at any time."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, bytes]] = []

    def submit(self, function: Any, /, *args: Any, **keywords: Any) -> Future[Any]:
        written = pickle.dumps((function, args, keywords))
        self.asked.append(((function, args, keywords), written))
        function, args, keywords = pickle.loads(written)
        return super().submit(function, *args, **keywords)


def test_tasks_do_not_change_under_way(whole: str) -> None:
    """An executor that reads a node while a property of it is kept raises "dictionary changed size
    during iteration"."""
    with WritesLate() as pool:
        graph = far_pair().explore(workers=pool)
        assert graph.to_json() == whole
        edge = next(edge for edge in graph.edges if edge.kind == "moved")
        assert graph.robustness(edge, samples=20, workers=pool).samples == 20
    assert len(pool.asked) > 5
    for asked, written in pool.asked:
        assert pickle.dumps(asked) == written


def test_a_run_that_raises_is_an_edge(tmp_path: Path) -> None:
    graph = failing_pair().explore(tmp_path / "pair.db")
    failed = [edge for edge in graph.edges if edge.kind == "failed"]
    assert {edge.selection.potential for edge in failed} == {"bad"}
    assert all("no force today" in edge.reason for edge in failed)
    assert graph.kinds["moved"] == 2
    assert "no force today" in graph.report()
    with ThreadPoolExecutor(2) as pool:
        assert failing_pair().explore(workers=pool).to_json() == graph.to_json()


# --- not everything -------------------------------------------------------------------------------
@pytest.mark.parametrize("budget", [0, 1, 7, 20, 30, 99])
def test_a_budget_is_honest(budget: int, tmp_path: Path, whole: str) -> None:
    path, study = tmp_path / "pair.db", far_pair()
    graph = study.explore(path, budget=budget, reductions=False)
    assert runs_in(path) == len(graph.edges) == min(budget, 30)
    assert graph.choices == sum(study.count(node) for node in graph.nodes.values())
    assert graph.coverage == len(graph.edges) / graph.choices
    with ThreadPoolExecutor(2) as pool:
        assert (
            study.explore(workers=pool, budget=budget, reductions=False).to_json()
            == graph.to_json()
        )
    assert study.explore(path).to_json() == whole


@pytest.mark.parametrize("budget", [0, 1, 5, 12, 13])
def test_a_budget_counts_runs(budget: int, tmp_path: Path, whole: str) -> None:
    """Edges that need none are not among them."""
    path, study = tmp_path / "pair.db", far_pair()
    graph = study.explore(path, budget=budget)
    assert runs_in(path) == len(graph.edges) - sum(graph.saved.values()) == min(budget, 12)
    with ThreadPoolExecutor(2) as pool:
        assert study.explore(workers=pool, budget=budget).to_json() == graph.to_json()
    assert qp.ReconfigurationGraph.load(path).to_json() == graph.to_json()
    assert study.explore(path).to_json() == whole


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_towards_a_goal(sign: float, tmp_path: Path) -> None:
    """The same for any workers, and when the journal is read again; a budget gets to other nodes
    first."""
    study, path = far_pair(), tmp_path / "pair.db"

    def towards(node: qp.Node) -> float:
        return sign * float(node.state.r[0, 1])

    graph = study.explore(path, towards=towards)
    assert graph.coverage == 1.0
    with ThreadPoolExecutor(3) as pool:
        assert study.explore(workers=pool, towards=towards).to_json() == graph.to_json()
    assert qp.ReconfigurationGraph.load(path).to_json() == graph.to_json()
    assert study.explore(path, towards=towards).to_json() == graph.to_json()
    short = study.explore(budget=16, towards=towards)
    assert {edge.source for edge in short.edges} <= {edge.source for edge in graph.edges}
    order = list(
        dict.fromkeys(edge.source for edge in study.explore(budget=16, towards=towards).edges)
    )
    assert order == list(dict.fromkeys(edge.source for edge in short.edges))
