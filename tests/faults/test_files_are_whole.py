"""Whatever ends the writing of a file, what was there before stays as it was, and nothing is left
beside it."""

from __future__ import annotations

import contextlib
import errno
import inspect
import os
import stat
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import quirkpy as qp
from quirkpy.explore.answers.plan import FlightTable
from quirkpy.parts import files
from quirkpy.views.drawing import Drawing
from tests.faults.sentence import check_refused
from tests.motion import floating_chain
from tests.studies import far_pair

OLD = b"what was there before"


@cache
def run() -> qp.Trajectory:
    return floating_chain().simulate(0.1)


@cache
def graph() -> qp.ReconfigurationGraph:
    return far_pair().explore()


@cache
def rest() -> qp.Equilibrium:
    return graph().nodes["n0"].rest


#: Every way in which the package writes a file that a user names, by the end of the name.
WRITERS: dict[str, Callable[[Path], Any]] = {
    "run.npz": lambda p: run().save(p),
    "run.csv": lambda p: run().save(p),
    "run.html": lambda p: run().report(p),
    "run.gif": lambda p: run().movie(p, fps=10.0),
    "run.mp4": lambda p: run().movie(p, fps=10.0),
    "run.png": lambda p: run().picture(p),
    "system.svg": lambda p: run().system.picture(p),
    "rest.pdf": lambda p: rest().picture(p),
    "curves.png": lambda p: run().plot().save(p),
    "curves.svg": lambda p: run().plot().save(p),
    "curves.pdf": lambda p: run().plot().save(p),
    "graph.html": lambda p: graph().report(p),
    "beside.js": lambda p: graph().report(p.with_name("page.html"), side=p),
    "graph.graphml": lambda p: graph().save(p),
    "graph.dot": lambda p: graph().save(p),
    "graph.json": lambda p: graph().save(p),
    "graph.txt": lambda p: graph().save(p),
    "graph.png": lambda p: graph().save(p),
    "picture.svg": lambda p: graph().picture(p),
    "table.json": lambda p: graph().table("n1").save(p),
    "table.csv": lambda p: graph().table("n1").save(p),
    "table.h": lambda p: graph().table("n1").save(p),
}  # fmt: skip
if find_spec("h5py") is not None:
    WRITERS["run.h5"] = lambda p: run().save(p)
#: Methods with a path that read, or keep a journal, which SQLite writes.
OTHERS = {
    "Trajectory.load", "ReconfigurationGraph.load", "Mesh.load", "ModalBody.load", "Study.explore",
}  # fmt: skip
#: Of each method that writes, one of the above.
COVERED = {
    "Trajectory.save", "Trajectory.report", "Trajectory.movie", "Trajectory.picture",
    "Multibody.picture", "Equilibrium.picture", "ReconfigurationGraph.report",
    "ReconfigurationGraph.save", "ReconfigurationGraph.picture", "FlightTable.save", "Drawing.save",
    "Drawing.save_to",
}  # fmt: skip


def test_no_writer_is_left_out() -> None:
    """Every public method that is given a path stands in the tables above."""
    found = set()
    for cls in {Drawing, FlightTable, *(getattr(qp, name) for name in qp.__all__)}:
        for name, member in vars(cls).items() if inspect.isclass(cls) else ():
            function = getattr(member, "__func__", member)
            public = not name.startswith("_") and inspect.isfunction(function)
            if public and {"path", "side"} & inspect.signature(function).parameters.keys():
                found.add(f"{cls.__name__}.{name}")
    assert found == COVERED | OTHERS


# --- no room --------------------------------------------------------------------------------------
@contextlib.contextmanager
def no_room_for_more_than(size: int) -> Iterator[None]:
    """Files of this process and its children cannot grow any further."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_what_was_there(name: str, tmp_path: Path) -> None:
    path, write = tmp_path / name, WRITERS[name]
    write(path)
    size = path.stat().st_size
    kept = {other: other.read_bytes() for other in tmp_path.iterdir()}
    assert size > 10
    path.write_bytes(OLD)
    kept[path] = OLD
    with no_room_for_more_than(size // 2):
        check_refused(lambda: write(path), ": ", ("cannot be written", "nothing was changed"))
    assert {other: other.read_bytes() for other in tmp_path.iterdir()} == kept
    write(path)
    assert path.read_bytes() != OLD


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("name", ["run.npz", "run.csv", "graph.json", "curves.png"])
def test_failures_at_the_last_moment(
    name: str, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.write_bytes(OLD)

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, step, full)
    check_refused(
        lambda: WRITERS[name](path), str(path), ("No space left on device", "nothing was changed")
    )
    assert path.read_bytes() == OLD
    assert list(tmp_path.iterdir()) == [path]


def test_an_interruption_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(OLD)

    def cut_short() -> None:
        with files.replacing(path, "save") as file:
            file.write(b"half of it")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cut_short()
    assert path.read_bytes() == OLD
    assert list(tmp_path.iterdir()) == [path]


# --- what is no place for a file ------------------------------------------------------------------
@pytest.mark.parametrize("name", WRITERS)
def test_places_that_are_none(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is refused by a sentence, before any work is done, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    write: Any = WRITERS[name]
    (tmp_path / "folder" / name).mkdir(parents=True)
    (tmp_path / "file").write_bytes(OLD)
    for wrong, words in (
        (tmp_path / "no" / name, ("cannot be written", "No such file")),
        (tmp_path / "folder" / name, ("cannot be written", "Is a directory")),
        (tmp_path / "file" / name, ("cannot be written", "Not a directory")),
        (Path(f"a\0b{name}"), ("zero character",)),
        (Path("x" * 300 + name), ("cannot be written", "too long")),
    ):
        check_refused(lambda wrong=wrong: write(wrong), ": ", words)
    if name != "beside.js":
        for wrong in (
            3,
            None if name in ("run.npz", "run.html", "run.gif") else 3.5,
            b"bytes.png",
            ["x"],
        ):
            check_refused(lambda wrong=wrong: write(wrong), ": ", ("is no path",))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]


def test_links_and_permissions_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "x.txt", tmp_path / "link.txt"
    path.write_bytes(OLD)
    path.chmod(0o640)
    link.symlink_to(path)
    files.write_text(link, "new", "save")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_devices_are_written_to_and_not_replaced(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    run().save(os.devnull)
    for device in (os.devnull, "/dev/full"):
        assert stat.S_ISCHR(os.stat(device).st_mode)
    check_refused(lambda: run().save("/dev/full"), "/dev/full", ("No space left on device",))
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
