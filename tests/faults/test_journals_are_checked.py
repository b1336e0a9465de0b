"""Journals say when they are not what was written, and what a machine could not finish is no
result."""

from __future__ import annotations

import errno
import json
import random
import shutil
import sqlite3
import warnings
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import quirkpy as qp
from quirkpy.explore import explorer, journal
from quirkpy.explore.answers import robustness
from quirkpy.explore.journal import Journal
from quirkpy.explore.rows import COLUMNS, HEADER, mark_of, owner_of
from quirkpy.explore.run import records, workers
from quirkpy.explore.texts import UNREADABLE, record_of, text_of
from tests.doomed import runs_in
from tests.faults.sentence import check_refused, check_sentence
from tests.fuzz import CHUNK, chunks
from tests.random_systems import seeds
from tests.studies import changed as altered
from tests.studies import failing_pair, far_pair


@cache
def whole() -> str:
    """The graph of an exploration that nothing disturbed."""
    return far_pair().explore().to_json()


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("journals") / "pair.db"
    far_pair().explore(path)
    return path.read_bytes()


def is_beginning(told: str) -> bool:
    """Whether a graph is what the whole one was at some time."""
    part, all_of_it = json.loads(told), json.loads(whole())
    nodes = all(all_of_it["nodes"].get(key) == node for key, node in part["nodes"].items())
    return nodes and all_of_it["edges"][: len(part["edges"])] == part["edges"]


# --- damage ---------------------------------------------------------------------------------------
@seeds(120, 40, attack=4000)
def test_flipped_bits_change_no_graph(seed: int, good: bytes, tmp_path: Path) -> None:
    """A journal with flipped bits is refused by a sentence, or leads to the same graph; what is
    read of it is the beginning of that."""
    chance, path, data = random.Random(seed), tmp_path / "pair.db", bytearray(good)
    for _ in range(chance.choice((1, 1, 1, 3, 20))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for ask in (lambda: qp.ReconfigurationGraph.load(path), lambda: far_pair().explore(path)):
            try:
                graph = ask()
            except qp.PartError as error:
                check_sentence(str(error), "the journal", ())
                return
            assert is_beginning(graph.to_json())
        assert graph.to_json() == whole()
    for one in told:
        check_sentence(str(one.message), "the journal", ("damaged",))


def changed(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path)) as base:
        base.execute(sql)
        base.commit()


@pytest.mark.parametrize(
    "record",
    ["'{spam'", "'[[1]]'", "replace(record, '0.', '1.')", "x'ff00'", "'' || record || ' '"],
)
def test_a_damaged_record_is_named_and_run_again(record: str, good: bytes, tmp_path: Path) -> None:
    path = tmp_path / "pair.db"
    path.write_bytes(good)
    with closing(sqlite3.connect(path)) as base:
        node, choice = base.execute(
            "SELECT node, choice FROM runs ORDER BY node, choice LIMIT 1 OFFSET 4"
        ).fetchone()
    changed(
        path, f"UPDATE runs SET record = {record} WHERE node = '{node}' AND choice = '{choice}'"
    )
    before = path.read_bytes()
    with pytest.warns(qp.PartWarning, match="damaged") as told:
        part = qp.ReconfigurationGraph.load(path)
    key = next(key for key, one in json.loads(whole())["nodes"].items() if one["id"] == node)
    check_sentence(
        str(told[0].message),
        f"{key} ({choice})",
        ("load", "damaged", "explore again, which mends it"),
    )
    assert told[0].filename == __file__
    assert path.read_bytes() == before
    assert is_beginning(part.to_json())
    assert part.coverage < 1.0
    with pytest.warns(UserWarning, match="put aside, and run again"):
        assert far_pair().explore(path).to_json() == whole()
    with closing(sqlite3.connect(path)) as base:
        assert base.execute("SELECT node, choice FROM damaged").fetchall() == [(node, choice)]
    assert qp.ReconfigurationGraph.load(path).to_json() == whole()  # and nothing is said any more


NOTES = ("schema", "results", "version", "digest", "study", "start", "reductions", "cones")


def test_all_notes_are_known(good: bytes, tmp_path: Path) -> None:
    path = tmp_path / "pair.db"
    path.write_bytes(good)
    with closing(sqlite3.connect(path)) as base:
        assert {key for (key,) in base.execute("SELECT key FROM meta")} == set(NOTES)


def told_of(ask: Callable[[], qp.ReconfigurationGraph]) -> tuple[Any, list[str]]:
    """A graph, None where that is refused by a sentence, and what is said of it."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            graph = ask()
        except qp.PartError as error:
            check_sentence(str(error), "the journal", ("damaged",))
            return None, [str(error)]
    for one in told:
        check_sentence(str(one.message), "the journal", ("damaged",))
    return graph.to_json(), [str(one.message) for one in told]


@pytest.mark.parametrize("damage", ["key", "value", "hash", "gone"])
@pytest.mark.parametrize("key", NOTES)
def test_no_note_is_lost_in_silence(key: str, damage: str, good: bytes, tmp_path: Path) -> None:
    """Whatever of it is damaged: `load` says so, and `explore` mends it; of a note that has gone
    altogether, no graph comes but the whole one."""
    path = tmp_path / "pair.db"
    path.write_bytes(good)
    flip = f"SET {damage} = 'x' || substr({damage}, 2)"
    changed(
        path,
        f"DELETE FROM meta WHERE key = '{key}'"
        if damage == "gone"
        else f"UPDATE meta {flip} WHERE key = '{key}'",
    )
    before = path.read_bytes()
    try:
        loaded, said = told_of(lambda: qp.ReconfigurationGraph.load(path))
    except AssertionError:  # a refusal in other words
        loaded, said = None, ["refused"]
    assert path.read_bytes() == before
    assert loaded in (None, whole())
    assert said or damage == "gone"
    mended, said = told_of(lambda: far_pair().explore(path))
    if damage == "gone" and key in ("schema", "results", "digest"):
        assert mended is None
        assert "move it away and begin a new one" in said[0]
        return
    assert mended == whole()
    assert told_of(lambda: qp.ReconfigurationGraph.load(path)) == (whole(), [])
    assert told_of(lambda: far_pair().explore(path)) == (whole(), [])


def test_a_journal_that_no_longer_says_whose_it_is(good: bytes, tmp_path: Path) -> None:
    """Not even by the hash of what it said."""
    path = tmp_path / "pair.db"
    path.write_bytes(good)
    changed(path, "UPDATE meta SET value = 'x', hash = 'x' WHERE key = 'digest'")
    check_refused(
        lambda: far_pair().explore(path),
        "the journal",
        ("no longer says whose it is", "begin a new one"),
    )


@pytest.mark.parametrize("lost", ["'schema'", "'schema', 'version'", "'digest', 'study'"])
def test_no_study_takes_the_journal_of_another(lost: str, good: bytes, tmp_path: Path) -> None:
    """Also where it no longer says whose it is: runs of both would not make one graph."""
    path = tmp_path / "pair.db"
    path.write_bytes(good)
    changed(path, f"DELETE FROM meta WHERE key IN ({lost})")
    before = path.read_bytes()
    other = failing_pair()
    check_refused(lambda: other.explore(path), "the journal", ("no longer says",))
    with closing(sqlite3.connect(path)) as now:
        assert now.execute("SELECT COUNT(*) FROM runs").fetchone()[0] > 0
    assert len(path.read_bytes()) == len(before)


# --- rows of another study ------------------------------------------------------------------------
def other_pair() -> qp.Study:
    """A study with the bodies, pairs and options of `far_pair`: its records could be of either."""
    return altered(far_pair(), nudge=2e-6)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("journals") / "other.db"
    other_pair().explore(path, towards=lambda node: float(node.state.r[0, 1]))
    return path


def copy_rows(path: Path, other: Path, table: str, where: str = "1") -> int:
    """Put rows of one journal into another, over those of the same key; returns how many."""
    with closing(sqlite3.connect(path)) as base:
        base.execute("ATTACH ? AS other", (str(other),))
        columns = ", ".join(COLUMNS[table])
        rows = f"SELECT {columns} FROM other.{table} WHERE {where}"
        count = base.execute(f"INSERT OR REPLACE INTO {table} {rows}").rowcount
        base.commit()
    return count


@pytest.mark.parametrize("few", [True, False])
def test_records_of_another_study_are_recognised(
    few: bool, good: bytes, other: Path, tmp_path: Path
) -> None:
    """Whole rows, with their hashes: put aside as damaged ones are, and run again."""
    path = tmp_path / "pair.db"
    path.write_bytes(good)
    where = "node IN (SELECT min(node) FROM other.runs)" if few else "1"
    assert copy_rows(path, other, "runs", where) >= 3
    loaded, said = told_of(lambda: qp.ReconfigurationGraph.load(path))
    assert said
    assert is_beginning(loaded)
    mended, said = told_of(lambda: far_pair().explore(path))
    assert mended == whole()
    assert "put aside, and run again" in said[0]
    assert told_of(lambda: qp.ReconfigurationGraph.load(path)) == (whole(), [])


@pytest.mark.parametrize("key", [key for key in NOTES if key not in HEADER])
def test_notes_of_another_study_are_recognised(
    key: str, good: bytes, other: Path, tmp_path: Path
) -> None:
    path = tmp_path / "pair.db"
    path.write_bytes(good)
    assert copy_rows(path, other, "meta", f"key = '{key}'") == 1
    loaded, said = told_anyhow(lambda: qp.ReconfigurationGraph.load(path))
    assert loaded in (None, whole())
    assert said
    assert told_of(lambda: far_pair().explore(path))[0] == whole()


def test_a_header_of_another_study_leads_to_no_graph_of_both(
    good: bytes, other: Path, tmp_path: Path
) -> None:
    """Its digest alone, then with all its notes: then no run is one of it."""
    path = tmp_path / "pair.db"
    path.write_bytes(good)
    copy_rows(path, other, "meta", "key = 'digest'")
    words = "no longer says what was explored", "explore that study into it again"
    check_refused(lambda: qp.ReconfigurationGraph.load(path), "the journal", words)
    check_refused(lambda: far_pair().explore(path), "the journal", ("belongs to another study",))
    copy_rows(path, other, "meta")
    loaded, said = told_of(lambda: qp.ReconfigurationGraph.load(path))
    found, those_of = json.loads(loaded), json.loads(qp.ReconfigurationGraph.load(other).to_json())
    assert said
    assert len(found["nodes"]) == 1 < len(those_of["nodes"])
    assert all(edge in those_of["edges"] for edge in found["edges"])
    check_refused(lambda: far_pair().explore(path), "the journal", ("differs in nudge=",))


def test_orders_and_flights_of_another_study_are_recognised(
    good: bytes, other: Path, tmp_path: Path
) -> None:
    path, copy = tmp_path / "pair.db", tmp_path / "other.db"
    path.write_bytes(good)
    copy.write_bytes(other.read_bytes())
    graph = qp.ReconfigurationGraph.load(copy)
    graph.robustness(next(graph.moves()), 2)
    for table in ("taken", "flights"):
        assert copy_rows(path, copy, table) > 0
        loaded, said = told_of(lambda: qp.ReconfigurationGraph.load(path))
        assert said
        assert not any(edge.get("robustness") for edge in json.loads(loaded)["edges"])
        assert told_of(lambda: far_pair().explore(path))[0] == whole()


def test_flights_go_into_no_journal_of_another_study(
    good: bytes, other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the file has become another since the graph was read; before anything is flown."""
    path = tmp_path / "pair.db"
    path.write_bytes(good)
    graph = qp.ReconfigurationGraph.load(path)
    path.write_bytes(other.read_bytes())
    monkeypatch.setattr(robustness, "run_to_rest", None)
    edge = next(graph.moves())
    check_refused(lambda: graph.robustness(edge, 2), "the journal", ("belongs to another study",))


# --- one bit --------------------------------------------------------------------------------------
@seeds(60, 20, attack=6000)
def test_one_bit_is_mended_for_good(seed: int, good: bytes, tmp_path: Path) -> None:
    """Where `explore` answers, everything after it is whole and silent; where `load` says nothing,
    the graph is the whole one.  Half of the bits lie in keys and notes."""
    chance, path, data = random.Random(seed), tmp_path / "pair.db", bytearray(good)
    places = [k for k, byte in enumerate(good) if byte]
    if seed % 2:
        places = key_places(good, tmp_path)
    data[chance.choice(places)] ^= 1 << chance.randrange(8)
    path.write_bytes(data)
    loaded, said = told_anyhow(lambda: qp.ReconfigurationGraph.load(path))
    assert loaded in (None, whole()) or said
    mended, _ = told_anyhow(lambda: far_pair().explore(path))
    if mended is not None:
        assert mended == whole()
        for ask in (lambda: qp.ReconfigurationGraph.load(path), lambda: far_pair().explore(path)):
            assert told_of(ask) == (whole(), [])
        with closing(sqlite3.connect(path)) as base:
            assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert base.execute("SELECT COUNT(*) FROM damaged").fetchone()[0] <= 1


def told_anyhow(ask: Callable[[], qp.ReconfigurationGraph]) -> tuple[Any, list[str]]:
    """As `told_of`, where a refusal may say anything in a sentence about the journal."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            graph = ask()
        except qp.PartError as error:
            check_sentence(str(error), "the journal", ())
            return None, [str(error)]
    return graph.to_json(), [str(one.message) for one in told]


def key_places(good: bytes, folder: Path) -> list[int]:
    """Where the keys of runs and all notes stand in a journal."""
    path = folder / "whole.db"
    path.write_bytes(good)
    with closing(sqlite3.connect(path)) as base:
        texts = [
            (node + choice).encode()
            for node, choice in base.execute("SELECT node, choice FROM runs")
        ]
        texts += [
            (key + value).encode() for key, value in base.execute("SELECT key, value FROM meta")
        ]
    out = [
        range(good.find(text[:40]), good.find(text[:40]) + min(len(text), 100)) for text in texts
    ]
    assert all(places[0] >= 0 for places in out)
    return [place for places in out for place in places]


def test_what_came_of_flights_is_checked_too(tmp_path: Path) -> None:
    path = tmp_path / "pair.db"
    graph = far_pair().explore(path)
    edge = next(graph.moves())
    graph.robustness(edge, 2)
    known = next(
        edge for edge in qp.ReconfigurationGraph.load(path).edges if edge.robustness
    ).robustness
    assert known.samples == 2
    changed(path, "UPDATE flights SET record = replace(record, '\"samples\": 2', '\"samples\": 3')")
    with pytest.warns(UserWarning, match="damaged"):
        loaded = qp.ReconfigurationGraph.load(path)
    assert not any(edge.robustness for edge in loaded.edges)


@seeds(150, 40, attack=4000)
def test_forged_records_raise_nothing_raw(seed: int, good: bytes, tmp_path: Path) -> None:
    """Also those whose hash has been made to fit."""
    chance, path = random.Random(seed), tmp_path / "pair.db"
    path.write_bytes(good)
    owner = owner_of(far_pair().digest)
    with closing(sqlite3.connect(path)) as base:
        for node, choice, text in base.execute("SELECT node, choice, record FROM runs").fetchall():
            forged = (
                json.dumps(mutated(json.loads(text), chance)) if chance.random() < 0.3 else text
            )
            row = (forged, mark_of(owner, "runs", node, choice, forged), node, choice)
            base.execute("UPDATE runs SET record = ?, hash = ? WHERE node = ? AND choice = ?", row)
        base.commit()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            qp.ReconfigurationGraph.load(path).to_json()
        except qp.PartError as error:
            check_sentence(str(error), "", ())


@chunks()
def test_forged_texts_of_records(chunk: int, good: bytes, tmp_path: Path) -> None:
    """They are refused as what cannot be read, or hold a record that is written and read again as
    it is."""
    chance, path, read = random.Random(chunk), tmp_path / "pair.db", 0
    path.write_bytes(good)
    with closing(sqlite3.connect(path)) as base:
        texts = [text for (text,) in base.execute("SELECT record FROM runs ORDER BY node, choice")]
    for _ in range(CHUNK):
        try:
            record = record_of(json.dumps(mutated(json.loads(chance.choice(texts)), chance)))
        except UNREADABLE:
            continue
        read += 1
        text = text_of(record)
        assert text_of(record_of(text)) == text
    assert 0 < read < CHUNK


def mutated(value: Any, chance: random.Random) -> Any:
    """A JSON value in which something is something else."""
    if isinstance(value, dict | list) and value and chance.random() < 0.85:
        key = chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
        value[key] = mutated(value[key], chance)
        return value
    others: list[Any] = [
        None,
        True,
        0,
        -1,
        7,
        10**400,
        1e308,
        -0.5,
        float("nan"),
        "",
        "moved",
        "n0",
        [],
        {},
        [[]],
        [1.0],
    ]
    return chance.choice(others)


# --- versions -------------------------------------------------------------------------------------
def test_a_journal_of_another_version(
    good: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "pair.db"
    path.write_bytes(good)
    with Journal(path, read_only=True) as one:
        assert one.meta("version") == qp.__version__
    monkeypatch.setattr(journal, "RESULTS", 1_000)
    words = (
        f"was written by quirkpy {qp.__version__}",
        "may end otherwise",
        "here 1000",
        "begin a new one",
    )
    check_refused(lambda: qp.ReconfigurationGraph.load(path), "the journal", words)
    assert path.read_bytes() == good
    check_refused(lambda: far_pair().explore(path), "the journal", words)


def test_a_journal_without_hashes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pair.db"
    with closing(sqlite3.connect(path)) as base:
        base.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
        base.execute(
            "CREATE TABLE runs (node TEXT, choice TEXT, record TEXT, PRIMARY KEY (node, choice)) "
            "WITHOUT ROWID"
        )
        base.execute("INSERT INTO meta VALUES ('schema', '1')")
        base.commit()
    for ask in (lambda: far_pair().explore(path), lambda: qp.ReconfigurationGraph.load(path)):
        check_refused(ask, "the journal", ("has schema 1", "knows 3", "begin a new one"))


# --- the machine ----------------------------------------------------------------------------------
def wrapped(error: Exception) -> qp.PartError:
    try:
        raise qp.PartError("Load 'p': force(t) raised an error.") from error
    except qp.PartError as made:
        return made


SHORT: dict[str, Callable[[], Exception]] = {
    "files": lambda: OSError(errno.EMFILE, "Too many open files"),
    "disk": lambda: OSError(errno.ENOSPC, "No space left on device"),
    "memory": lambda: MemoryError("Unable to allocate 8 GiB"),
    "wrapped": lambda: wrapped(OSError(errno.EMFILE, "Too many open files")),
}  # fmt: skip


@pytest.mark.parametrize("what", SHORT)
@pytest.mark.parametrize("reductions", [True, False])
def test_what_the_machine_could_not_finish_is_no_result(
    what: str, reductions: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, run, left = tmp_path / "pair.db", workers.run_choice, [5]

    def short(*rest: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise SHORT[what]()
        return run(*rest)

    monkeypatch.setattr(workers, "run_choice", short)
    words = "a run could not be finished", "what is finished is kept", "the same call goes on"
    check_refused(lambda: far_pair().explore(path, reductions=reductions), "explore", words)
    monkeypatch.undo()
    assert runs_in(path) == 5
    assert "failed" not in qp.ReconfigurationGraph.load(path).kinds
    assert far_pair().explore(path).to_json() == whole()


def test_an_error_of_a_user_is_an_outcome() -> None:
    assert records.failure(ZeroDivisionError("float division by zero")).kind == "failed"


# --- half-made and half-written files -------------------------------------------------------------
@pytest.mark.parametrize("step", range(16))
def test_a_disk_that_is_full_while_tables_are_made(
    step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever statement fails: the same call goes on from there."""
    path, write, left = tmp_path / "pair.db", Journal._write, [step]

    def full(self: Journal, sql: str, values: tuple[Any, ...]) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise self._refuse(sqlite3.OperationalError("database or disk is full"))
        write(self, sql, values)

    monkeypatch.setattr(Journal, "_write", full)
    check_refused(
        lambda: far_pair().explore(path), "the journal", ("cannot grow", "the same call goes on")
    )
    monkeypatch.undo()
    assert far_pair().explore(path).to_json() == whole()


def test_what_a_writer_has_left_half_done_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A killed writer leaves files beside the journal, which a reader that may not write cannot put
    into it."""
    path, left, copy = tmp_path / "pair.db", tmp_path / "left", tmp_path / "copy"
    study = far_pair()
    with Journal(path) as one:
        one.open_for(study.digest, study.document())
        one.note("start", json.dumps(explorer.start_record(study)))
        left.mkdir()
        for file in tmp_path.glob("pair.db*"):
            if not file.name.endswith("-shm"):
                shutil.copy(file, left)
    names = sorted(file.name for file in left.iterdir())
    assert names == ["pair.db", "pair.db-wal"]
    with monkeypatch.context() as patch:  # as in a folder that cannot be written to
        connect = Journal._open
        patch.setattr(
            Journal, "_open", staticmethod(lambda path, mode: no_reader(path, mode, left, connect))
        )
        assert len(qp.ReconfigurationGraph.load(left / "pair.db").nodes) == 1
    assert sorted(file.name for file in left.iterdir()) == names
    copy.mkdir()
    with closing(
        sqlite3.connect(copy / "x.db", isolation_level=None)
    ) as base:  # a transaction, half of it written
        shutil.copy(path, copy / "x.db")
        base.execute("PRAGMA cache_size = 1")
        base.execute("BEGIN")
        base.execute("UPDATE meta SET value = value || 'spam'")
        base.execute("CREATE TABLE spam AS SELECT zeroblob(100000)")
        shutil.copy(copy / "x.db", left / "hot.db")
        shutil.copy(copy / "x.db-journal", left / "hot.db-journal")
    assert len(qp.ReconfigurationGraph.load(left / "hot.db").nodes) == 1


def no_reader(path: Path, mode: str, folder: Path, connect: Any) -> Any:
    if mode == "ro" and path.parent == folder:
        raise sqlite3.OperationalError("unable to open database file")
    return connect(path, mode)


# --- the order of nodes ---------------------------------------------------------------------------
@pytest.mark.parametrize("stop", [0, 3, 15])
def test_a_journal_is_read_in_the_order_of_its_writer(
    stop: int, good: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no further than that came, though it holds more: where it would have gone on, nobody
    knows."""
    path, study, take, left = tmp_path / "pair.db", far_pair(), explorer.Walk.take, [stop]
    path.write_bytes(good)

    def cut(self: Any, *rest: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        take(self, *rest)

    def towards(node: qp.Node) -> float:
        return float(node.state.r[0, 1])

    monkeypatch.setattr(explorer.Walk, "take", cut)
    with pytest.raises(KeyboardInterrupt):
        study.explore(path, towards=towards)
    monkeypatch.undo()
    with Journal(path, read_only=True) as one:
        assert one.study() == study.document()
        taken = one.order()
    loaded = qp.ReconfigurationGraph.load(path)
    assert {loaded.nodes[edge.source].id for edge in loaded.edges} == set(taken)
    graph = study.explore(path, towards=towards)
    assert qp.ReconfigurationGraph.load(path).to_json() == graph.to_json()
    monkeypatch.setattr(explorer.Walk, "take", cut)
    with pytest.raises(KeyboardInterrupt):
        study.explore(path, towards=towards)  # the same order: what is known of it stays
    monkeypatch.undo()
    assert qp.ReconfigurationGraph.load(path).to_json() == graph.to_json()
