"""Names and paths that no file can hold are refused where they are given, by every class and every
writer."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import xml.dom.minidom
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import quirkpy as qp
from quirkpy.commands.definitions import load_definition
from quirkpy.parts.files import check_writable, ending_of, path_of, replacing, write_text
from tests.contracts.catalogue import PARTS
from tests.faults.sentence import check_refused
from tests.studies import changed, far_pair

#: Each kind of character that XML 1.0 does not know, or that moves a terminal.
UNWRITABLE = "\0", "\x01", "\x08", "\x1b", "\x7f", "\x9b", "\ud800", "\udfff", "\ufffe", "\uffff"
#: What looks odd and is a name all the same.
ODD = "<b>", "a & b", "Ä", "模块", "😀", "a\tb", '"', "]]>", "=1+1", "\u202e", "e\u0301", "\ufffd"
NAMED = [part for part in PARTS if any(field.name == "name" for field in dataclasses.fields(part))]


@pytest.mark.parametrize("character", UNWRITABLE)
def test_no_part_has_such_a_name(character: str) -> None:
    for part in NAMED:
        check_refused(
            lambda part=part: dataclasses.replace(part, name=f"a{character}b"),
            type(part).__name__, (repr(character), "leave it out"),
        )  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*Glyph")  # fonts lack some
@pytest.mark.parametrize("name", ODD)
def test_names_that_are_odd_are_written_whole(name: str, tmp_path: Path) -> None:
    body = qp.Body.box(name, (0.1, 0.1, 0.1), 1.0)
    system = qp.Multibody(body, qp.Revolute("hinge", qp.GROUND, body, at=(0, 0, 0), axis=(0, 0, 1)))
    system.picture(tmp_path / "picture.svg")
    xml.dom.minidom.parse(str(tmp_path / "picture.svg"))
    assert qp.from_json(qp.to_json(body)) == body


LABELS: tuple[Any, ...] = (1, None, ("a",), -1, "", " ", "a\nb", *(f"a{c}" for c in UNWRITABLE))


@pytest.mark.parametrize("label", LABELS)
def test_no_potential_has_such_a_label(label: Any) -> None:
    check_refused(
        lambda: changed(far_pair(), potentials={label: []}), "Study", ("potentials: a name",)
    )


@pytest.mark.parametrize("label", LABELS)
def test_no_kind_of_sensor_and_no_option_has_such_a_label(label: Any) -> None:
    check_refused(
        lambda: changed(far_pair(), options={("face", label): [qp.Free()]}),
        "Study", ("options: a kind of sensors",),
    )  # fmt: skip

    Odd: Any = type("Odd", (qp.Free,), {"label": label})
    kinds = next(iter(far_pair().options))
    check_refused(lambda: changed(far_pair(), options={kinds: [Odd()]}), "Study", ("a label is",))


@pytest.mark.parametrize("label", [1, None, ["a"], -1, "", "a\nb", "\x01"])
def test_nor_in_a_document(label: Any) -> None:
    data = json.loads(qp.to_json(far_pair()))
    data["root"]["potentials"][0][0] = label
    check_refused(lambda: qp.from_json(json.dumps(data)), "", ())


# --- paths ----------------------------------------------------------------------------------------
def takers() -> dict[str, Any]:
    """The one place through which all paths go, and some of the writers that stand on it."""
    system = qp.Multibody(qp.Body.sphere("ball", 0.1, 1.0))
    run = system.simulate(0.01, progress=False)
    return {
        "path_of": lambda p: path_of(p, "who"),
        "ending_of": lambda p: ending_of(p, "who", [".json"]),
        "check_writable": lambda p: check_writable(p, "who"),
        "write_text": lambda p: write_text(p, "text", "who"),
        "replacing": lambda p: replacing(p, "who").__enter__(),
        "run.save": run.save,
        "load": qp.Trajectory.load,
        "report": run.report,
        "picture": system.picture,
        "mesh": qp.Mesh.load,
        "explore": far_pair().explore,
        "graph": qp.ReconfigurationGraph.load,
    }


@pytest.mark.parametrize("taker", takers())
def test_paths_that_cannot_be_are_refused_in_a_sentence(taker: str, tmp_path: Path) -> None:
    take = takers()[taker]
    for character in ("\ud800", "\udfff", "\0"):
        check_refused(
            lambda character=character: take(str(tmp_path / f"a{character}.json")),
            "", (repr(character)[1:-1] if character != "\0" else "zero", "leave it out"),
        )  # fmt: skip
    for long in (300, 5000):
        check_refused(lambda long=long: take(str(tmp_path / ("x" * long + ".json"))), "", ())
    loop = tmp_path / "loop.json"
    os.symlink(loop, loop)
    check_refused(lambda: take(str(loop)), "", ("leads back to itself",))
    assert list(tmp_path.iterdir()) == [loop]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize("end", ["npz", "stl", "ply", "obj", "off", "db", "json"])
def test_what_may_have_no_end_is_not_read(end: str, tmp_path: Path) -> None:
    """A pipe to which nobody writes: who opened it would wait for ever."""
    pipe = tmp_path / f"pipe.{end}"
    os.mkfifo(pipe)
    readers: dict[str, tuple[Callable[[Path], Any], ...]] = {
        "npz": (qp.Trajectory.load,),
        "db": (far_pair().explore, qp.ReconfigurationGraph.load),
        "json": (load_definition,),
    }
    for read in readers.get(end, (qp.Mesh.load,)):
        with ends_within(20):
            check_refused(lambda read=read: read(pipe), repr(str(pipe)), ())
    assert list(tmp_path.iterdir()) == [pipe]


@contextlib.contextmanager
def ends_within(seconds: int) -> Iterator[None]:
    """An error where it takes longer."""

    def late(*_: Any) -> None:
        raise AssertionError("it waits")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def test_bytes_that_are_no_text_are_a_path(tmp_path: Path) -> None:
    """As the names of other people's files are: Python writes them as lone surrogates."""
    place = os.fsdecode(os.fsencode(tmp_path / "a") + b"\xff.json")
    write_text(place, "text", "who")
    assert Path(place).read_text() == "text"
