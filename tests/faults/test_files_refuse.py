"""Runs that cannot be written to a file, and files that cannot be read."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from tests.faults.sentence import check_refused
from tests.motion import floating_chain
from tests.user_parts import Drag

BAR = qp.Body.box("bar", (0.1, 0.1, 0.3), mass=1.0)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What a file holds that can be read."""
    path = tmp_path_factory.mktemp("runs") / "run.npz"
    floating_chain().simulate(0.1).save(path)
    return path.read_bytes()


def changed(path: Path, **arrays: Any) -> None:
    """Exchange arrays of an archive; None takes one away."""
    with np.load(path) as archive:
        old = {name: archive[name] for name in archive.files}
    renamed = {name.replace("__", "."): array for name, array in arrays.items()}
    np.savez(path, **{name: array for name, array in (old | renamed).items() if array is not None})


def reworded(old: str, new: str) -> Callable[[Path], None]:
    """Change words of the document."""

    def change(path: Path) -> None:
        with np.load(path) as archive:
            text = str(archive["document"])
        assert old in text
        changed(path, document=np.array(text.replace(old, new)))

    return change


def one_array(array: Any) -> bytes:
    """What NumPy writes for an array that is in no archive."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def spoiled(path: Path) -> None:
    """One byte in the middle of the states is another."""
    with zipfile.ZipFile(path) as archive:
        offset = archive.getinfo("course.states.npy").header_offset + 400
    data = bytearray(path.read_bytes())
    data[offset] ^= 0xFF
    path.write_bytes(data)


FOREIGN, DAMAGED = ("is not a run, or is damaged", "Trajectory.save"), ("damaged",)
FILES: dict[str, tuple[Callable[[Path], Any], tuple[str, ...]]] = {
    "missing": (Path.unlink, ("cannot be read", "No such file")),
    "folder": (lambda p: (p.unlink(), p.mkdir()), ("cannot be read", "directory")),
    "empty": (lambda p: p.write_bytes(b""), FOREIGN),
    "text": (lambda p: p.write_text("t, x\n0, 1\n"), FOREIGN),
    "array": (lambda p: p.write_bytes(one_array(np.zeros(3))), FOREIGN),
    "pickle": (lambda p: p.write_bytes(one_array(np.array([{}], dtype=object))), FOREIGN),
    "other archive": (lambda p: np.savez(p, x=np.zeros(3)), FOREIGN),
    "cut off": (lambda p: p.write_bytes(p.read_bytes()[:-100]), FOREIGN),
    "spoiled": (spoiled, FOREIGN),
    "pickled inside": (lambda p: changed(p, course__t=np.array([None], dtype=object)), FOREIGN),
    "no JSON": (lambda p: changed(p, document=np.array("spam")), FOREIGN),
    "schema in words": (lambda p: changed(p, schema=np.array("one")), FOREIGN),
    "newer": (lambda p: changed(p, schema=np.array(99)), ("schema 99", "reads 1")),
    "newer parts": (reworded('"quirkpy": 1', '"quirkpy": 98'), ("schema 98", "reads 1")),
    "array gone": (lambda p: changed(p, course__drift=None), (*DAMAGED, "'course.drift'")),
    "too short": (lambda p: changed(p, course__t=np.zeros(2)), (*DAMAGED, "arrays")),
    "no rows": (lambda p: changed(p, course__t=np.zeros(0)), (*DAMAGED, "arrays")),
    "number for an array": (lambda p: changed(p, course__t=np.array(0.0)), DAMAGED),
    "narrow states": (
        lambda p: changed(p, course__states=np.zeros((5, 5, 12))),
        (*DAMAGED, "arrays"),
    ),
    "start of others": (
        lambda p: changed(p, start__r=np.zeros((1, 3))),
        ("State: r has shape (1, 3)",),
    ),
    "field unknown": (reworded('"step"', '"leap"'), (*DAMAGED, "'leap'")),
    "stop unknown": (reworded('"END"', '"FIN"'), (*DAMAGED, "'FIN'")),
    "not a run": (reworded('"root": {', '"root": 3, "was": {'), ("holds no run",)),
    "not even a document": (lambda p: changed(p, document=np.array("[]")), ("no schema",)),
}


@pytest.mark.parametrize("what", FILES)
def test_refused(what: str, good: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    change, words = FILES[what]
    Path("run.npz").write_bytes(good)
    change(Path("run.npz"))
    check_refused(lambda: qp.Trajectory.load("run.npz"), "load: 'run.npz'", words)


def test_functions_of_time_are_refused_and_leave_no_file(tmp_path: Path) -> None:
    run = qp.Multibody(BAR, qp.Load("p", BAR, force=lambda t: (math.sin(t), 0.0, 0.0))).simulate(
        0.1
    )
    check_refused(
        lambda: run.save(tmp_path / "run.npz"), "'p'", ("force", "Python function", "Schedule")
    )
    assert not list(tmp_path.iterdir())


def test_a_users_classes_are_made_with_consent_only(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    run = qp.Multibody(BAR, Drag("drag", BAR, 0.3, 0.1)).simulate(0.1)
    run.save(path)
    for modules in ((), ("os", "tests")):
        with pytest.raises(qp.PartError, match="name its module") as caught:
            qp.Trajectory.load(path, modules)
        assert "tests.user_parts:Drag" in str(caught.value)
        assert str(path) in str(caught.value)
    copy = qp.Trajectory.load(path, modules=["tests.user_parts"])
    assert copy.states == run.states


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    run = floating_chain().simulate(0.1)
    path = str(tmp_path / "no" / "run.npz")
    check_refused(lambda: run.save(path), repr(path), ("save", "cannot be written", "No such file"))


@pytest.mark.parametrize("name", ["run.json", "run.html", "run.NPY", "run.mp4"])
def test_a_run_is_not_kept_under_the_name_of_another_format(tmp_path: Path, name: str) -> None:
    run = floating_chain().simulate(0.1)
    path = str(tmp_path / name)
    check_refused(lambda: run.save(path), repr(path), ("save", ".npz", ".csv"))
    assert not list(tmp_path.iterdir())
