"""Rows of a journal: their tables, checks of their hashes, and a copy of the intact ones."""

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
    """Damaged rows, each with its table; whether rows are out of order, or SQLite reports errors in
    its own structure."""

    rows: list[tuple[str, tuple[Any, ...]]]
    disorder: bool

    @property
    def names(self) -> list[tuple[str, str]]:
        """The name of each damaged row: a node and a choice, or its table."""
        out = []
        for table, (first, second, *_) in self.rows:
            at_place = {"meta": (NOTES, str(first)), "taken": (str(second), ORDER)}
            out.append(at_place.get(table, (str(first), str(second))))
        return out or [("the file", "its structure")] * self.disorder

    @property
    def of_notes(self) -> bool:
        """Whether notes about the exploration may be missing."""
        return self.disorder or any(table == "meta" for table, _ in self.rows)


def mark_of(owner: str, table: str, *fields: Any) -> str:
    """The hash of a row, from its other fields, its table and the owner of the row; notes that are
    written before the study is known (HEADER) have no owner."""
    whose = "" if table == NOTES and fields[0] in HEADER else owner
    return hashlib.blake2b(
        repr((whose, table, *fields)).encode("utf-8", "surrogateescape"), digest_size=16
    ).hexdigest()


def owner_of(digest: str) -> str:
    """The owner of the rows of a study: the hash of the note with its digest."""
    return mark_of("", NOTES, "digest", digest)


def rows_of(
    base: sqlite3.Connection, table: str, owner: str
) -> Iterator[tuple[tuple[Any, ...], bool]]:
    """The rows of a table in the order in which they are stored, each with whether it is intact and
    belongs to a study; nodes of the order are not valid after its first gap."""
    follows = 0
    for row in base.execute(f"SELECT {', '.join(COLUMNS[table])} FROM {table}"):
        good = row[-1] == mark_of(owner, table, *row[:-1])
        if table == "taken":
            good = good and row[0] == follows
            follows += good
        yield row, good


def damage_of(base: sqlite3.Connection, owner: str) -> Damage:
    """The damage of a file, for a study; raises the error of SQLite if that cannot read it."""
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
    """Copy all intact rows of a study into an empty database, in the order of their keys, and the
    others into its table `damaged`."""
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
    """Keep a damaged row; what is not text is stored as bytes."""
    fresh.execute("INSERT INTO damaged VALUES (?, ?, ?, ?)", tuple(map(storable, row)))


def storable(value: Any) -> Any:
    """A value in the form in which a table of texts stores it."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-8", "surrogateescape")
    return "" if value is None else value
