"""Rows of a journal: the tables in which they stand, whether each is what was written, and a copy
of those that are."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from typing import Any, NamedTuple

TABLES = {
    "meta": "key TEXT PRIMARY KEY, value TEXT NOT NULL, hash TEXT",
    "runs": (
        "node TEXT NOT NULL, choice TEXT NOT NULL, record TEXT NOT NULL, hash TEXT, "
        "PRIMARY KEY (node, choice)"
    ),
    "taken": "place INTEGER PRIMARY KEY, node TEXT NOT NULL, hash TEXT",
    "flights": (
        "node TEXT NOT NULL, choice TEXT NOT NULL, record TEXT NOT NULL, hash TEXT, "
        "PRIMARY KEY (node, choice)"
    ),
    "damaged": "node TEXT NOT NULL, choice TEXT NOT NULL, record TEXT NOT NULL, hash TEXT",
}
#: What makes all tables that are not there.
MAKING = [
    f"CREATE TABLE IF NOT EXISTS {name} ({columns})"
    f"{'' if name in ('taken', 'damaged') else ' WITHOUT ROWID'}"
    for name, columns in TABLES.items()
]
#: The columns of each table that has hashes, the hash last.
COLUMNS = {
    "meta": ("key", "value", "hash"),
    "runs": ("node", "choice", "record", "hash"),
    "taken": ("place", "node", "hash"),
    "flights": ("node", "choice", "record", "hash"),
}
#: What notes about the whole are called where they are named beside records.
NOTES = "meta"
#: Notes that say what the file is and whose: they are read before the study is known.
HEADER = ("schema", "results", "version", "digest")
#: What is said of nodes whose place in the order is not known any more.
ORDER = "the order of nodes, from there on"


class Damage(NamedTuple):
    """What is not as it was written: rows, each with its table; whether rows are out of order, or
    SQLite finds fault with its own structure."""

    rows: list[tuple[str, tuple[Any, ...]]]
    disorder: bool

    @property
    def names(self) -> list[tuple[str, str]]:
        """What to call each: a node and a choice, or what else it is."""
        out = []
        for table, (first, second, *_) in self.rows:
            at_place = {"meta": (NOTES, str(first)), "taken": (str(second), ORDER)}
            out.append(at_place.get(table, (str(first), str(second))))
        return out or [("the file", "its structure")] * self.disorder

    @property
    def of_notes(self) -> bool:
        """Whether notes about the whole may be missing."""
        return self.disorder or any(table == "meta" for table, _ in self.rows)


def mark_of(owner: str, table: str, *fields: Any) -> str:
    """The hash of a row, from its other fields, its table and what marks the study that it belongs
    to; what is noted before any study is known (HEADER) belongs to none."""
    whose = "" if table == NOTES and fields[0] in HEADER else owner
    return hashlib.blake2b(
        repr((whose, table, *fields)).encode("utf-8", "surrogateescape"), digest_size=16
    ).hexdigest()


def owner_of(digest: str) -> str:
    """What marks the rows of a study: the hash of the note that tells its digest."""
    return mark_of("", NOTES, "digest", digest)


def rows_of(
    base: sqlite3.Connection, table: str, owner: str
) -> Iterator[tuple[tuple[Any, ...], bool]]:
    """Each row of a table, in the order in which it is found there, and whether it is what was
    written for a study; the order of nodes is none after its first gap."""
    follows = 0
    for row in base.execute(f"SELECT {', '.join(COLUMNS[table])} FROM {table}"):
        good = row[-1] == mark_of(owner, table, *row[:-1])
        if table == "taken":
            good = good and row[0] == follows
            follows += good
        yield row, good


def damage_of(base: sqlite3.Connection, owner: str) -> Damage:
    """What is not as it was written for a study; raises SQLite's error where that cannot even read
    it."""
    found = base.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    there, wrong = {name for (name,) in found}, []
    disorder = base.execute("PRAGMA quick_check(1)").fetchone() != ("ok",)
    for table in (table for table in COLUMNS if table in there):
        keys, last = 1 if table in ("meta", "taken") else 2, None
        for row, good in rows_of(base, table, owner):
            if not good:
                wrong.append((table, row))
                continue
            disorder = disorder or not (last is None or last < row[:keys])
            last = row[:keys]
    return Damage(wrong, disorder)


def copy_good(base: sqlite3.Connection, fresh: sqlite3.Connection, owner: str) -> None:
    """Put all rows that are what was written for a study into a base that is empty, in the order of
    their keys, and the others aside, into its table `damaged`."""
    for statement in MAKING:
        fresh.execute(statement)
    there = {name for (name,) in base.execute("SELECT name FROM sqlite_master")}
    fresh.execute("BEGIN")
    if "damaged" in there:
        for row in base.execute("SELECT node, choice, record, hash FROM damaged"):
            put_aside(fresh, row)
    for table in (table for table in COLUMNS if table in there):
        places = ", ".join("?" * len(COLUMNS[table]))
        for row, good in rows_of(base, table, owner):
            if good:
                fresh.execute(f"INSERT OR IGNORE INTO {table} VALUES ({places})", row)
            else:
                put_aside(fresh, row if len(row) == 4 else (table, *row))
    fresh.execute("COMMIT")


def put_aside(fresh: sqlite3.Connection, row: tuple[Any, ...]) -> None:
    """Keep a row that is not what was written; what is no text is kept as its bytes."""
    fresh.execute("INSERT INTO damaged VALUES (?, ?, ?, ?)", tuple(map(storable, row)))


def storable(value: Any) -> Any:
    """A value as a table of texts takes it."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-8", "surrogateescape")
    return "" if value is None else value
