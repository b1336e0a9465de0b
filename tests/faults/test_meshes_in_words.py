"""STL files in words are read as they stand, or refused in one sentence; what trimesh says of them
reaches nobody's terminal."""

from __future__ import annotations

import logging
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import quirkpy as qp
from tests.faults.sentence import check_refused, check_sentence

trimesh = pytest.importorskip("trimesh")


def words() -> str:
    """A box as an STL file in words."""
    return str(trimesh.creation.box((0.1, 0.2, 0.3)).export(file_type="stl_ascii"))


def written(folder: Path, text: str) -> Path:
    place = folder / "mesh.stl"
    place.write_text(text)
    return place


def corners(mesh: qp.Mesh) -> set[tuple[tuple[float, ...], ...]]:
    """The triangles as sets of corners, in no order."""
    points = np.array(mesh.vertices)
    return {tuple(sorted(map(tuple, points[list(t)].round(9).tolist()))) for t in mesh.triangles}


@pytest.mark.parametrize("text", [
    words(), words().upper(), words().replace("\n", "\r\n"),
    words().replace("solid", "solid a facet"),
    words().replace("-0.05", "-5.0E-02"), words().replace("facet normal -1.0", "facet normal nan"),
    words().replace("facet normal ", "facet normal x"),
])  # fmt: skip
def test_what_differs_in_nothing_that_counts_is_read(text: str, tmp_path: Path) -> None:
    mesh = qp.Mesh.load(written(tmp_path, text))
    assert corners(mesh) == corners(qp.Mesh.load(written(tmp_path, words())))


@pytest.mark.parametrize("old", ["vertex", "endloop", "endfacet", "outer loop", "facet normal"])
def test_a_facet_that_is_not_whole_is_refused(old: str, tmp_path: Path) -> None:
    for new in ("", old[:-1], old + "x"):
        text = words().replace(old, new, 3 if old == "vertex" else 1)
        check_refused(lambda text=text: qp.Mesh.load(written(tmp_path, text)), "Mesh.load", ())


def test_files_that_are_damaged_anywhere_are_silent(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Read as a box with its corners where they are said to be, or refused; nothing is printed."""
    rng, text = random.Random(6), words()
    for _ in range(200):
        at, kind = rng.randrange(len(text)), rng.choice(("put", "take", "swap"))
        letter = chr(rng.randrange(32, 127))
        rest = text[at:] if kind == "put" else text[at + 1 :]
        damaged = text[:at] + ("" if kind == "take" else letter) + rest
        try:
            mesh = qp.Mesh.load(written(tmp_path, damaged))
        except qp.PartError as error:
            check_sentence(str(error), "", ())
        else:
            assert len(mesh.triangles) == damaged.lower().count("endloop") == 12
    assert capfd.readouterr() == ("", "")


def test_nothing_is_said_in_a_process_that_has_set_up_no_log(tmp_path: Path) -> None:
    i = words().index("facet normal") + 13
    place = written(tmp_path, words()[:i] + "x" + words()[i:])
    code = f"import quirkpy as qp; qp.Mesh.load({str(place)!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == done.stdout == ""
    assert not logging.getLogger("trimesh").handlers
