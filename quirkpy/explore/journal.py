"""`Journal`: what an exploration has found, in an SQLite file, each run as soon as it is known."""

from __future__ import annotations

import contextlib
import json
import math
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from sys import intern
from typing import Any

from quirkpy.explore.chances import Robustness
from quirkpy.explore.graph import Outcome
from quirkpy.explore.leaving import Leaving
from quirkpy.explore.records import Record, Told
from quirkpy.explore.ways import Entered, Way
from quirkpy.parts.part import PartError

#: One zero for all outcomes: most figures of most of them are none.
ZERO = 0.0
#: Rises when journals change so that an older reader would misread them.
SCHEMA = 1

TABLES = (
    "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS runs (node TEXT NOT NULL, choice TEXT NOT NULL, record TEXT NOT NULL, "
    "PRIMARY KEY (node, choice)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS taken (place INTEGER PRIMARY KEY, node TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS flights (node TEXT NOT NULL, choice TEXT NOT NULL, record TEXT NOT NULL, "
    "PRIMARY KEY (node, choice)) WITHOUT ROWID",
)


class Journal:
    """Runs by the id of their node and the key of their choice; `path` None keeps them until it is closed, in memory
    as long as they are few, then in a temporary file.

    A record is committed before anything else is done with it, so whatever happens costs at most the runs in flight.
    """

    def __init__(self, path: str | Path | None, read_only: bool = False) -> None:
        self.path, self.read_only = None if path is None else Path(path), read_only
        self.shown = "the journal" if self.path is None else f"the journal {str(self.path)!r}"
        where = "" if self.path is None else self.path.resolve().as_uri() + "?mode=ro" * read_only
        try:
            self.base = sqlite3.connect(where, isolation_level=None, timeout=30.0, uri=self.path is not None)
        except sqlite3.Error as error:
            raise self._refuse(error) from error
        with contextlib.ExitStack() as stack:  # closes the file again where it cannot be used
            stack.callback(self.base.close)
            self._prepare()
            stack.pop_all()

    def _prepare(self) -> None:
        """Make the tables of a new file; refuse one that is something else."""
        tables = {name for (name,) in self._read("SELECT name FROM sqlite_master", ())}
        if "runs" not in tables and (tables or self.read_only):
            raise PartError(f"{self.shown} is no journal of an exploration; give another file.")
        if not self.read_only:
            for statement in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=NORMAL", *TABLES):
                self._write(statement, ())

    def close(self) -> None:
        """Write everything into the one file, which then needs no others beside it to be read."""
        if not self.read_only:
            with contextlib.suppress(sqlite3.Error):  # someone else reads it, or there is no room: as it is, it will do
                self.base.execute("PRAGMA journal_mode=DELETE")
        self.base.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- what it belongs to -------------------------------------------------------------------------------------
    def open_for(self, digest: str, document: str) -> None:
        """Take the journal for a study: a new one is marked with it, another study's is refused."""
        if self.meta("schema") is None:
            self._write("INSERT INTO meta VALUES ('schema', ?), ('digest', ?), ('study', ?)",
                        (str(SCHEMA), digest, document))  # fmt: skip
            return
        known = self.study()
        if self.meta("digest") != digest:
            what = differences(known, document)
            raise PartError(f"{self.shown} belongs to another study: {what}; give another file, or delete this one.")

    def study(self) -> str:
        """The document of the study that it belongs to."""
        schema, document = self.meta("schema"), self.meta("study")
        if schema != str(SCHEMA) or document is None:
            raise PartError(f"{self.shown} has schema {schema}, but this version knows {SCHEMA}; begin a new one.")
        return document

    def meta(self, key: str) -> str | None:
        """A note about the whole."""
        row = self._read("SELECT value FROM meta WHERE key = ?", (key,))
        return str(row[0][0]) if row else None

    def note(self, key: str, value: str) -> None:
        """Keep a note about the whole."""
        self._write("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    # --- runs ---------------------------------------------------------------------------------------------------
    def known(self, node: str) -> dict[str, Record]:
        """All runs from a node that are finished, by choice."""
        rows = self._read("SELECT choice, record FROM runs WHERE node = ?", (node,))
        return {intern(choice): self._record(text) for choice, text in rows}

    def run(self, node: str, choice: str) -> Record:
        """One of them."""
        ((text,),) = self._read("SELECT record FROM runs WHERE node = ? AND choice = ?", (node, choice))
        return self._record(text)

    def _record(self, text: str) -> Record:
        try:
            return record_of(text)
        except (ValueError, TypeError, KeyError) as error:
            raise PartError(f"{self.shown} is damaged ({error}); move it away and begin a new one.") from error

    def add(self, node: str, choice: str, record: Record) -> None:
        """Commit a run."""
        self._write("INSERT OR REPLACE INTO runs VALUES (?, ?, ?)", (node, choice, text_of(record)))

    # --- edges that were flown many times -------------------------------------------------------------------------
    def add_robustness(self, node: str, choice: str, found: Robustness) -> None:
        """Commit what came of an edge."""
        self._write("INSERT OR REPLACE INTO flights VALUES (?, ?, ?)", (node, choice, json.dumps(found.record())))

    def robustness(self) -> dict[tuple[str, str], Robustness]:
        """What came of edges, by the id of their node and the key of their choice."""
        if not self._read("SELECT name FROM sqlite_master WHERE name = 'flights'", ()):  # from before there were any
            return {}
        rows = self._read("SELECT node, choice, record FROM flights", ())
        try:
            return {(node, choice): Robustness.of(json.loads(text)) for node, choice, text in rows}
        except (ValueError, TypeError, KeyError) as error:
            raise PartError(f"{self.shown} is damaged ({error}); move it away and begin a new one.") from error

    def __len__(self) -> int:
        return int(self._read("SELECT COUNT(*) FROM runs", ())[0][0])

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._read("SELECT node, choice FROM runs ORDER BY node, choice", ()))

    # --- the order in which nodes were taken up, where it was not the canonical one ---------------------------------
    def order(self) -> list[str]:
        """Ids of nodes, in the order in which their choices were tried."""
        return [node for (node,) in self._read("SELECT node FROM taken ORDER BY place", ())]

    def add_to_order(self, node: str) -> None:
        """The node that is taken up next."""
        self._write("INSERT INTO taken (node) VALUES (?)", (node,))

    def forget_order(self) -> None:
        """Begin anew."""
        self._write("DELETE FROM taken", ())

    # --- inside -------------------------------------------------------------------------------------------------
    def _read(self, sql: str, values: tuple[Any, ...]) -> list[Any]:
        try:
            return self.base.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise self._refuse(error) from error

    def _write(self, sql: str, values: tuple[Any, ...]) -> None:
        try:
            self.base.execute(sql, values)
        except sqlite3.Error as error:
            raise self._refuse(error) from error

    def _refuse(self, error: sqlite3.Error) -> PartError:
        words = str(error)
        if "full" in words or "disk I/O" in words:
            return PartError(f"{self.shown} cannot grow ({words}); what is in it stays, and the same call goes on.")
        if "not a database" in words or "malformed" in words:
            return PartError(f"{self.shown} is damaged or is no journal ({words}); move it away and begin a new one.")
        if "locked" in words:
            return PartError(f"{self.shown} is in use by another exploration; wait for it, or give another file.")
        return PartError(f"{self.shown} cannot be used: {words}.")


def text_of(record: Record) -> str:
    """A record as text; floats come back bit for bit."""
    made: dict[str, Any] = {"outcomes": [list(o) for o in record.outcomes], "reached": record.reached}
    return json.dumps(made if record.way is None else made | {"way": written(record.way)})


def record_of(text: str) -> Record:
    """The record that a text holds."""
    data = json.loads(text)
    way = way_of(data["way"]) if "way" in data else None
    return Record(tuple(outcome_of(row) for row in data["outcomes"]), tuple(data["reached"]), way)


def written(way: Way[Told]) -> list[Any]:
    """All that may become of a run, as plain values."""
    entered = [[met.cone, met.stretch, met.t, *met.value] for met in way.entered]
    return [*way.value, entered, way.saddle, way.like, [written(onward) for onward in way.onward]]


def way_of(values: list[Any]) -> Way[Told]:
    """The same from plain values."""
    outcome, reached, entered, saddle, like, onward = values
    met = (Entered(cone, stretch, t, (outcome_of(row), node)) for cone, stretch, t, row, node in entered)
    return Way((outcome_of(outcome), reached), tuple(met), saddle, tuple(like), tuple(map(way_of, onward)))


def outcome_of(row: list[Any]) -> Outcome:
    """An outcome from plain values."""
    figures: list[Any] = [ZERO if is_zero(value) else value for value in row]
    values = dict(zip(Outcome._fields, figures, strict=True))
    values |= {name: intern(values[name]) for name in ("kind", "reason")}  # few different ones, in many outcomes
    values["contacts"] = tuple((t, intern(name)) for t, name in values["contacts"])
    values["parts"] = tuple(intern(name) for name in values["parts"])
    values["leavings"] = tuple(
        Leaving(t, waiting, growth, tuple(map(intern, bodies))) for t, waiting, growth, bodies in values["leavings"]
    )
    values["nudge"] = None if values["nudge"] is None else tuple(values["nudge"])
    return Outcome(**values)


def is_zero(value: Any) -> bool:
    """Whether a value is the float 0.0, not -0.0."""
    return type(value) is float and value == 0.0 and math.copysign(1.0, value) > 0.0


def differences(old: str, new: str) -> str:
    """What differs between two studies, as one would say it."""
    try:
        a, b = json.loads(old), json.loads(new)
    except ValueError:
        return "what it was made for cannot be read"
    parts = [name for name in {**a["parts"], **b["parts"]} if a["parts"].get(name) != b["parts"].get(name)]
    rules = [key for key in {**a["root"], **b["root"]} if a["root"].get(key) != b["root"].get(key)]
    said = [f"part {name!r}" for name in sorted(parts)[:3]] + [f"{key}=" for key in sorted(rules)[:3]]
    return f"it differs in {', '.join(said)}" if said else "the source of a class of yours has changed"
