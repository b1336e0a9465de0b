"""`Journal`: what an exploration has found, in an SQLite file, each run as soon as it is known."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from sys import intern
from typing import Any

from quirkpy.explore.model.chances import Robustness
from quirkpy.explore.rows import (
    MAKING,
    NOTES,
    ORDER,
    Damage,
    copy_good,
    damage_of,
    mark_of,
    owner_of,
)
from quirkpy.explore.run.records import Record, check_reached
from quirkpy.explore.texts import UNREADABLE, record_of, text_of
from quirkpy.maths.warnings import HOUSE
from quirkpy.parts.files import readable
from quirkpy.parts.part import PartError

#: Rises when journals change so that an older reader would misread them.  Since 3, the hash of a
#: row counts the study that the row belongs to.
SCHEMA = 3
#: Rises whenever runs may end otherwise than before, or shapes, choices and reductions be told
#: otherwise: runs of both kinds would not make one graph.
RESULTS = 11

#: What SQLite keeps beside a file until all of it is in that.
BESIDE = ("-wal", "-journal")


class Journal:
    """Runs by the id of their node and the key of their choice; `path` None keeps them until it is
    closed, in memory as long as they are few, then in a temporary file.

    A record is committed before it is used, so an interruption loses at most the runs in flight.
    Each record has a hash, which also covers the study: a record that is damaged, or was written
    for another study, is put aside, listed in `damaged` by node and choice, and treated as missing.
    owner: the hash of the digest of the study; empty until it is known. check: raises PartError if
    a node that a record leads to does not belong to the study."""

    def __init__(self, path: str | Path | None, read_only: bool = False) -> None:
        self.path, self.read_only = None if path is None else readable(path, "journal"), read_only
        self.shown = "the journal" if self.path is None else f"the journal {str(self.path)!r}"
        self.owner = ""
        self.damaged: list[tuple[str, str]] = []
        self.verified = self.notes_missing = False
        self.check: Callable[[dict[str, Any]], None] = check_reached
        with contextlib.ExitStack() as stack:  # closes the file again where it cannot be used
            self.base = self._reading(stack.enter_context(contextlib.closing(self._connect(stack))))
            self._prepare()
            self._kept = stack.pop_all()

    # --- the file ---------------------------------------------------------------------------------
    def _connect(self, stack: contextlib.ExitStack) -> sqlite3.Connection:
        """Connect SQLite to the file; to a copy, if a read-only connection cannot complete a
        transaction that a writer left unfinished."""
        try:
            if self.path is None:
                return sqlite3.connect("", isolation_level=None)
            if not self.read_only:
                return self._open(self.path, "rwc")
            try:
                base = self._open(self.path, "ro")
                base.execute("SELECT name FROM sqlite_master").fetchall()
                return base
            except sqlite3.OperationalError:
                left = [Path(f"{self.path}{end}") for end in BESIDE]
                if not any(file.is_file() for file in left):
                    raise
                return self._open_copy(stack, self.path, left)
        except (sqlite3.Error, UnicodeError) as error:
            raise self._refuse(error) from error
        except OSError as error:
            raise PartError(
                f"{self.shown} cannot be read: {error.strerror}.", code="file"
            ) from error

    def _open_copy(
        self, stack: contextlib.ExitStack, path: Path, left: Iterable[Path]
    ) -> sqlite3.Connection:
        """Connect to a copy of a file and of the files that a writer left beside it, until the
        stack closes."""
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for file in (path, *left):
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(file, folder / file.name)
        return self._open(folder / path.name, "rw")

    @staticmethod
    def _reading(base: sqlite3.Connection) -> sqlite3.Connection:
        """Allow a connection to read damaged text."""
        base.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
        return base

    @staticmethod
    def _open(path: Path, mode: str) -> sqlite3.Connection:
        return sqlite3.connect(
            f"{path.resolve().as_uri()}?mode={mode}", isolation_level=None, timeout=30.0, uri=True
        )

    def _prepare(self) -> None:
        """Make the tables of a new file, all at once; refuse one that is something else."""
        tables = {
            name
            for (name,) in self._query("SELECT name FROM sqlite_master WHERE type = 'table'", ())
        }
        if self.read_only and not tables:
            raise self._empty()
        if tables and ("meta" not in tables or ("runs" not in tables and self.read_only)):
            raise PartError(
                f"{self.shown} is no journal of an exploration; give another file.", code="content"
            )
        if "meta" in tables:
            self._check_schema()
        if not self.read_only:
            for statement in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=NORMAL"):
                self._write(statement, ())
            with self.transaction():
                for statement in MAKING:
                    self._write(statement, ())

    def _check_schema(self) -> None:
        """Raise an error for a file of another schema, before anything else of it is read."""
        if self._says("schema", str(SCHEMA)):
            return
        notes = self._query("SELECT * FROM meta", ())
        for note in notes:
            if note[0] == "schema":
                raise PartError(
                    f"{self.shown} has schema {note[1]}, but this version knows {SCHEMA}; "
                    "begin a new one.",
                    code="content",
                )
        if notes or (self.read_only and len(self)):
            raise self._unknown("which version wrote it")
        if self.read_only:
            raise self._empty()

    def _says(self, key: str, value: str) -> bool:
        """Whether a note has this value, by its text or, if that is damaged, by its hash."""
        mark = mark_of(self.owner, "meta", key, value)
        notes = self._query("SELECT * FROM meta", ())
        return any(tuple(note[:2]) == (key, value) or note[2:] == (mark,) for note in notes)

    def _unknown(self, what: str) -> PartError:
        return PartError(
            f"{self.shown} is damaged: it no longer says {what}; move it away and begin a new one.",
            code="content",
        )

    def _empty(self) -> PartError:
        return PartError(
            f"{self.shown} is empty: the exploration that made it ended before it could write "
            "anything down; explore its study into it.",
            code="content",
        )

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """A transaction: all of it is written, or nothing."""
        self._write("BEGIN IMMEDIATE", ())
        try:
            yield
            self._write("COMMIT", ())
        except BaseException:
            with contextlib.suppress(sqlite3.Error):  # on a full disk SQLite has done so already
                self.base.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Write everything into the one file, so that no other files are needed to read it."""
        if not self.read_only:
            # Someone else reads it, or there is no room: as it is, it will do
            with contextlib.suppress(sqlite3.Error):
                self.base.execute("PRAGMA journal_mode=DELETE")
        self._kept.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- what it belongs to -----------------------------------------------------------------------
    def open_for(self, digest: str, document: str) -> None:
        """Assign the journal to a study: a new one is marked with it, that of another study raises
        an error."""
        version = str(import_module(HOUSE).__version__)
        marks = {"schema": str(SCHEMA), "results": str(RESULTS), "version": version}
        marks |= {"digest": digest, "study": document}
        if self.claim(digest, document):
            self.verify()
        with self.transaction():
            for key, value in marks.items():
                if self.meta(key) is None:  # new, or damaged and the same as ours
                    self.note(key, value)

    def claim(self, digest: str, document: str) -> bool:
        """Read and write rows of this study from now on; an error for the journal of another one.
        Returns whether the journal has any rows."""
        known = bool(self._query("SELECT * FROM meta", ())) or len(self) > 0
        if known:
            self._check_owner(digest, document)
        self.owner = owner_of(digest)
        return known

    def _check_owner(self, digest: str, document: str) -> None:
        """Raise an error for the journal of another study, or of an unknown one."""
        self._check_results()
        if self._says("digest", digest):
            return
        known = self._noted_study()
        if self.meta("digest") is None:
            raise self._unknown("whose it is")
        what = (
            "what it was made for cannot be read" if known is None else differences(known, document)
        )
        raise PartError(
            f"{self.shown} belongs to another study: {what}; give another file, or delete "
            "this one.",
            code="content",
        )

    def _check_results(self) -> None:
        """Raise an error for runs of a version that may have ended them differently."""
        results, wrote = self.meta("results"), self.meta("version")
        if not self._says("results", str(RESULTS)):
            if results is None:
                raise self._unknown("which version wrote it")
            raise PartError(
                f"{self.shown} was written by quirkpy {wrote}, whose runs may end otherwise than "
                "those of this version "
                f"(results {results}, here {RESULTS}); begin a new one.",
                code="content",
            )

    def study(self) -> str:
        """The document of the study that it belongs to."""
        self._check_schema()
        self._check_results()
        document = self._noted_study()
        if not self.owner:
            raise self._unknown("whose it is")
        if document is None:
            raise PartError(
                f"{self.shown} is damaged: it no longer says what was explored; explore that study "
                "into it again, "
                "which mends it.",
                code="content",
            )
        return document

    def _noted_study(self) -> str | None:
        """The document of the study that the journal says is its owner; None where none of the
        owners that it may mean has one."""
        for owner in self._owners():
            self.owner = owner
            document = self.meta("study")
            if document is not None:
                return document
        return None

    def _owners(self) -> Iterator[str]:
        """The possible owners of all rows: the note of the digest may be damaged in its value, its
        key or its hash."""
        for key, digest, mark in self._query("SELECT key, value, hash FROM meta", ()):
            if key == "digest" or mark == owner_of(digest):
                yield from (owner_of(digest), str(mark))

    def meta(self, key: str) -> str | None:
        """A note about the exploration; None if there is none, or it is damaged."""
        for known, value, mark in self._query("SELECT key, value, hash FROM meta", ()):
            if known == key and mark == mark_of(self.owner, "meta", key, value):
                return str(value)
        return None

    def note(self, key: str, value: str) -> None:
        """Write a note about the exploration, by its key."""
        self._write(
            "INSERT OR REPLACE INTO meta VALUES (?, ?, ?)",
            (key, value, mark_of(self.owner, "meta", key, value)),
        )

    # --- runs -------------------------------------------------------------------------------------
    def records_from(self, node: str) -> dict[str, Record]:
        """All runs from a node that are finished, by choice; those that are damaged are put
        aside."""
        rows = self._query("SELECT choice, record, hash FROM runs WHERE node = ?", (node,))
        found = ((choice, self._record(node, choice, text, mark)) for choice, text, mark in rows)
        return {intern(choice): record for choice, record in found if record is not None}

    def read_run(self, node: str, choice: str) -> Record | None:
        """The record of the run of one choice at a node; None where it is damaged."""
        rows = self._query(
            "SELECT record, hash FROM runs WHERE node = ? AND choice = ?", (node, choice)
        )
        return self._record(node, choice, *rows[0]) if rows else None

    def _record(self, node: str, choice: str, text: Any, mark: Any) -> Record | None:
        """The record in a row; None if the row is damaged, which is then put aside."""
        try:
            if mark != mark_of(self.owner, "runs", node, choice, text):
                raise ValueError("its hash is another")
            return record_of(text, self.check)
        except UNREADABLE:
            self._set_aside("runs", node, choice)
            return None

    def _set_aside(self, table: str, node: Any, choice: Any) -> None:
        self.damaged.append((str(node), str(choice)))
        if not self.read_only:
            where = f"FROM {table} WHERE node IS ? AND choice IS ?"
            with self.transaction():
                self._write(
                    f"INSERT INTO damaged SELECT node, choice, record, hash {where}", (node, choice)
                )
                self._write(f"DELETE {where}", (node, choice))

    def verify(self) -> None:
        """Check all rows once, and put damaged ones aside.

        Keys may be damaged, too, and then rows are not where their keys say: so intact rows are
        copied in order, for a reader into a file of its own."""
        if self.verified:
            return
        self.verified = True
        try:
            damage = damage_of(self.base, self.owner)
            if damage.rows or damage.disorder:
                self._mend(damage)
        except (sqlite3.Error, UnicodeError) as error:
            raise self._refuse(error) from error

    def _mend(self, damage: Damage) -> None:
        # A writer makes notes anew, and nothing is lost with them
        self.damaged += [one for one in damage.names if self.read_only or one[0] != NOTES]
        self.notes_missing = damage.of_notes
        with contextlib.ExitStack() as stack:
            fresh = sqlite3.connect("", isolation_level=None)
            stack.enter_context(contextlib.closing(fresh))
            if self.read_only:
                copy_good(self.base, fresh, self.owner)
                self.base = self._reading(fresh)
                self._kept.push(stack.pop_all())
                return
            # Nobody may write to it between its being read and its being replaced
            self.base.execute("PRAGMA locking_mode=EXCLUSIVE")
            self.base.execute("BEGIN EXCLUSIVE")
            self.base.execute("COMMIT")
            copy_good(self.base, fresh, self.owner)
            fresh.backup(self.base)
            self.base.execute("PRAGMA locking_mode=NORMAL")
            self.base.execute("SELECT * FROM meta").fetchall()  # by which it lets go of the file

    def add(self, node: str, choice: str, record: Record) -> None:
        """Commit a run."""
        self._keep("runs", node, choice, text_of(record))

    def _keep(self, table: str, node: str, choice: str, text: str) -> None:
        row = (node, choice, text, mark_of(self.owner, table, node, choice, text))
        self._write(f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?, ?)", row)

    # --- edges that were flown many times ---------------------------------------------------------
    def add_robustness(self, node: str, choice: str, found: Robustness) -> None:
        """Commit what came of an edge."""
        self._keep("flights", node, choice, json.dumps(found.record()))

    def robustness(self) -> dict[tuple[str, str], Robustness]:
        """What came of edges, by the id of their node and the key of their choice."""
        out = {}
        for node, choice, text, mark in self._query(
            "SELECT node, choice, record, hash FROM flights", ()
        ):
            try:
                if mark != mark_of(self.owner, "flights", node, choice, text):
                    raise ValueError("its hash is another")
                out[node, choice] = Robustness.of(json.loads(text))
            except UNREADABLE:
                self._set_aside("flights", node, choice)
        return out

    def __len__(self) -> int:
        return int(self._query("SELECT COUNT(*) FROM runs", ())[0][0])

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._query("SELECT node, choice FROM runs ORDER BY node, choice", ()))

    # --- the order in which nodes were taken up, where it was not the canonical one ---------------
    def order(self) -> list[str]:
        """Ids of nodes, in the order in which their choices were tried, as far as it can be
        read."""
        out: list[str] = []
        for place, node, mark in self._query(
            "SELECT place, node, hash FROM taken ORDER BY place", ()
        ):
            if place != len(out) or mark != mark_of(self.owner, "taken", place, node):
                self.damaged.append((str(node), ORDER))
                break
            out.append(node)
        return out

    def take_up(self, place: int, node: str) -> None:
        """Record the node whose choices are tried at a position of the order; later positions
        become unknown."""
        with self.transaction():
            self._write("DELETE FROM taken WHERE place >= ?", (place,))
            mark = mark_of(self.owner, "taken", place, node)
            self._write("INSERT INTO taken VALUES (?, ?, ?)", (place, node, mark))

    def forget_order(self) -> None:
        """Forget the order of nodes: from now on it is the canonical one."""
        self._write("DELETE FROM taken", ())

    # --- inside -----------------------------------------------------------------------------------
    def _query(self, sql: str, values: tuple[Any, ...]) -> list[Any]:
        try:
            return self.base.execute(sql, values).fetchall()
        except (sqlite3.Error, UnicodeError) as error:
            raise self._refuse(error) from error

    def _write(self, sql: str, values: tuple[Any, ...]) -> None:
        try:
            self.base.execute(sql, values)
        except (sqlite3.Error, UnicodeError) as error:
            raise self._refuse(error) from error

    def _refuse(self, error: sqlite3.Error | UnicodeError) -> PartError:
        words = "a name is no text" if isinstance(error, UnicodeError) else str(error)
        if "full" in words or "disk I/O" in words:
            return PartError(
                f"{self.shown} cannot grow ({words}); what is in it stays, and the same call goes "
                "on.",
                code="file",
            )
        if any(
            sign in words
            for sign in ("not a database", "malformed", "decode to UTF-8", "no such", "no text")
        ):
            return PartError(
                f"{self.shown} is damaged or is no journal ({words}); move it away and begin a new "
                "one.",
                code="content",
            )
        if "locked" in words:
            return PartError(
                f"{self.shown} is in use by another exploration; wait for it, or give another "
                "file.",
                code="file",
            )
        return PartError(f"{self.shown} cannot be used: {words}.", code="file")


def differences(old: str, new: str) -> str:
    """The differences between two studies, in words."""
    try:
        a, b = json.loads(old), json.loads(new)
    except ValueError:
        return "what it was made for cannot be read"
    parts = [
        name
        for name in {**a["parts"], **b["parts"]}
        if a["parts"].get(name) != b["parts"].get(name)
    ]
    rules = [key for key in {**a["root"], **b["root"]} if a["root"].get(key) != b["root"].get(key)]
    said = [f"part {name!r}" for name in sorted(parts)[:3]] + [
        f"{key}=" for key in sorted(rules)[:3]
    ]
    return (
        f"it differs in {', '.join(said)}" if said else "the source of a class of yours has changed"
    )
