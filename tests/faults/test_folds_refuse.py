"""Sheets that are none, folds that would tear, and FOLD files that say what cannot be."""

from __future__ import annotations

import json
import math
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import quirkpy as qp
from tests.faults.sentence import case, check_refused, check_sentence
from tests.fuzz import CHUNK, chunks, mutated

SQUARES = [(0, 0), (1, 0), (1, 1), (0, 1), (2, 0), (2, 1)]
TWO = [(0, 1, 2, 3), (1, 4, 5, 2)]
CROSS = [(i, j) for i in range(3) for j in range(3)]
FOUR = [(0, 3, 4, 1), (3, 6, 7, 4), (1, 4, 5, 2), (4, 7, 8, 5)]
make = qp.origami.from_creases
map_fold, miura = qp.origami.map_fold, qp.origami.miura

REFUSED = [
    case(lambda: make("no", TWO), "from_creases", "vertices", id="vertices that are a word"),
    case(lambda: make([(0, 1, 2, 3)], TWO), "from_creases", "(1, 4)", id="four dimensions"),
    case(lambda: make([(0, math.nan)] * 6, TWO), "from_creases", "finite", id="no number"),
    case(lambda: make(SQUARES, [(0, 1)]), "face 0", "three corners", id="a line"),
    case(lambda: make(SQUARES, [(0, 1, 9)]), "face 0", "0 to 5", id="a corner that is not there"),
    case(lambda: make([(0, 0), (1, 0), (2, 0)], [(0, 1, 2)]), "face 0", "no area", id="no area"),
    case(lambda: make([(0, 0, 0), (1, 0, 0), (1, 1, 0.1), (0, 1, 0)], [(0, 1, 2, 3)]),
         "face 0", "bent", id="bent"),
    case(lambda: make([(0, 0), (2, 0), (0.5, 0.5), (0, 2)], [(0, 1, 2, 3)]), "face 0", "inwards",
         id="not convex"),
    case(lambda: make(SQUARES, [(0, 1, 2, 3), (2, 5, 4, 1)]), "faces 0 and 1", "counterclockwise",
         id="turned the other way"),
    case(lambda: make(SQUARES, TWO, {(0, 1): 0.5}), "(0, 1)", "no crease", id="a border"),
    case(lambda: make(SQUARES, TWO, {(1, 2): "a"}), "(1, 2)", id="an angle that is a word"),
    case(lambda: make(CROSS, FOUR, {(1, 4): 0.5, (3, 4): 0.4}), "from_creases", "tears", " m;",
         id="angles that do not close"),
    case(lambda: make([*SQUARES, (5, 5), (6, 5), (6, 6)], [*TWO, (6, 7, 8)], {}), "face 2",
         "shares no crease", id="a face apart"),
    case(lambda: make([*SQUARES, (5, 5), (6, 5), (6, 6)], [*TWO, (6, 7, 8)]), "face 2",
         "shares no crease", id="a face apart, of a sheet that is not folded"),
    case(lambda: make(SQUARES, TWO, restitution=0.5), "restitution", "stop=",
         id="restitution without stops"),
    case(lambda: make(SQUARES, TWO, mass=-1.0), "mass", "-1", id="mass"),
    case(lambda: make(SQUARES, TWO, mass=(1.0, 2.0, 3.0)), "mass", id="three masses of two"),
    case(lambda: make(SQUARES, TWO, thickness=0.0), "thickness", id="thickness"),
    case(lambda: make(SQUARES, None), "faces", "None", id="no faces"),  # type: ignore[arg-type]
    case(lambda: make(SQUARES, [1, 2]), "faces", "lists", id="faces that are numbers"),  # type: ignore[list-item]
    case(lambda: make(SQUARES, []), "from_creases", "faces is empty", id="not one face"),
    case(lambda: make(SQUARES, TWO, {1: 0.5}), "1", "no crease", id="a crease that is a number"),  # type: ignore[dict-item]
    case(lambda: make(SQUARES, TWO, [(1, 2)]), "creases", "angles", id="creases without angles"),  # type: ignore[arg-type]
    case(lambda: make(SQUARES, TWO, {(1, 2): 0.5, (2, 1): 0.4}), "(2, 1)", "twice", id="twice"),
    case(lambda: make(SQUARES, TWO, stop=1.0), "stop is 1", "two bounds", id="one bound"),  # type: ignore[arg-type]
    case(lambda: make(SQUARES, TWO, stop=(1, 2, 3)), "stop is (1, 2, 3)", id="three bounds"),  # type: ignore[arg-type]
    case(lambda: make(SQUARES, TWO, free="no"), "free is 'no'", id="free, in a word"),  # type: ignore[arg-type]
    case(lambda: map_fold(2, 2, side=1e200), "map_fold", "no area", id="out of all proportion"),
    case(
        lambda: map_fold(2, 2, side=1.0, offset=1e300), "map_fold", "offset is 1e+300",
        id="far off its creases",
    ),
    case(
        lambda: map_fold(2, 2, side=1.0, thickness=1e5), "map_fold", "thickness is 100000",
        id="thicker than anything",
    ),
    case(lambda: make(SQUARES, TWO, stop="shut"), "stop is 'shut'", "'flat'", id="a stop misspelt"),
    case(lambda: make(SQUARES, TWO, contact="yes"), "contact is 'yes'", id="contact, in a word"),  # type: ignore[arg-type]
    case(lambda: make(SQUARES, TWO, offset="layers"), "offset", "map_fold", id="layers of what"),
    case(lambda: make(SQUARES, TWO, offset=(0.0,)), "offset", id="an offset for two panels"),
    case(lambda: make(SQUARES, TWO, hinges="top"), "hinges is 'top'", "surface", id="hinges"),  # type: ignore[arg-type]
    case(lambda: make(SQUARES, TWO, hinges="surface", offset=(0.0, 0.1)), "offset", "middle",
         id="offsets and surfaces"),
    case(lambda: make(SQUARES, TWO, tape=3.0), "tape is 3", "TapeSpring", id="a tape in a number"),  # type: ignore[arg-type]
    case(lambda: make(SQUARES, TWO, tape={"stiffness": 1.0, "snip": 2.0}), "snip", "plateau",
         id="a tape with other numbers"),
    case(lambda: make(SQUARES, TWO, inertia={"hub": (1, 1, 1)}), "'hub'", "no panel",
         id="the inertia of another body"),
    case(lambda: map_fold(2, 2, fold=2.0, hinges="surface"), "panels 1 and 3", "offset",
         id="surfaces around a corner"),
    case(lambda: qp.origami.write_fold(map_fold(3, 1, hinges="surface").system, "x.fold"),
         "p1,0", "different heights", id="a file with creases at different heights"),
    case(lambda: make(SQUARES, TWO, stiff=1.0), "stiff", "stiffness", id="an option misspelt"),
    case(lambda: map_fold(0, 3), "map_fold", "columns is 0", id="no columns"),
    case(lambda: map_fold(3, 2.5), "map_fold", "rows is 2.5", id="half a row"),
    case(lambda: map_fold(2, 2, side=-1.0), "map_fold", "side", id="side"),
    case(lambda: map_fold(2, 2, fold=170.0), "map_fold", "170", "rad", id="degrees"),
    case(lambda: map_fold(2, 2, fold=(1.0, 1.0)), "map_fold", "0 or pi", id="both at once"),
    case(lambda: map_fold(2, 2, fold=(1.0,)), "map_fold", "or two", id="one of two"),
    case(lambda: miura(2, 2, sector=60.0), "miura", "sector", "pi/2", id="sector in degrees"),
    case(lambda: miura(2, 2, fold=4.0), "miura", "fold is 4", id="folded through"),
    case(lambda: qp.origami.read_fold("/nowhere/x.fold"), "x.fold", "read", id="no file"),
    case(lambda: qp.origami.write_fold(None, "x.fold"), "write_fold", "run", id="no run"),  # type: ignore[arg-type]
    case(lambda: qp.origami.write_fold(qp.Multibody(qp.Body.sphere("s", 1.0, 1.0)), "x.fold"),
         "write_fold", "no body", id="no panels"),
    case(lambda: qp.origami.write_fold(map_fold(1, 2).system, "x.txt"), "x.txt", ".fold",
         id="another ending"),
    case(lambda: qp.origami.write_fold(map_fold(1, 2).system, "x.fold", frames=0), "frames", "0",
         id="no frames"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "name", "words"), REFUSED)
def test_it_is_refused_in_a_sentence(
    make: Callable[[], Any], name: str, words: tuple[str, ...]
) -> None:
    check_refused(make, name, words)


SHEET: dict[str, Any] = {
    "vertices_coords": SQUARES, "faces_vertices": TWO, "edges_vertices": [[1, 2]],
    "edges_foldAngle": [90.0],
}  # fmt: skip
DAMAGED = {
    "no JSON": ("{", "JSON"),
    "a list": ("[]", "object"),
    "no corners": (json.dumps(SHEET | {"vertices_coords": None}), "vertices_coords"),
    "a unit": (json.dumps(SHEET | {"frame_unit": "mile"}), "mile"),
    "edges": (json.dumps(SHEET | {"edges_vertices": [[1, 17]]}), "0 to 5"),
    "angles": (json.dumps(SHEET | {"edges_foldAngle": [1, 2]}), "1 edge"),
    "half an edge": (json.dumps(SHEET | {"edges_vertices": [[1.5, 2]]}), "pairs of corners"),
    "an edge twice": (
        json.dumps(SHEET | {"edges_vertices": [[1, 2], [2, 1]], "edges_foldAngle": [1, 2]}),
        "twice",
    ),
    "an angle of 400 digits": (json.dumps(SHEET | {"edges_foldAngle": [10**399]}), "(1, 2)"),
    "another angle than that of its corners": (
        json.dumps(
            SHEET
            | {
                "vertices_coords": [
                    [0, 0, 0],
                    [1, 0, 0],
                    [1, 1, 0],
                    [0, 1, 0],
                    [1, 0, 1],
                    [1, 1, 1],
                ],
                "edges_foldAngle": [-90],
            }
        ),
        "corners say",
    ),
    "an angle": (json.dumps(SHEET | {"edges_foldAngle": ["x"]}), "'x'"),
    "faces": (json.dumps(SHEET | {"faces_vertices": 7}), "faces_vertices"),
    "no faces in space": (
        json.dumps({"vertices_coords": [[0, 0, 0], [1, 0, 1]], "edges_vertices": [[0, 1]]}),
        "plane drawing",
    ),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_file_is_named(tmp_path: Path, kind: str) -> None:
    text, word = DAMAGED[kind]
    path = tmp_path / "sheet.fold"
    path.write_text(text)
    check_refused(lambda: qp.origami.read_fold(path), "read_fold: 'sheet.fold'", (word,))


def test_frames_that_inherit_from_themselves(tmp_path: Path) -> None:
    path = tmp_path / "sheet.fold"
    path.write_text(
        json.dumps(SHEET | {"file_frames": [{"frame_inherit": True, "frame_parent": 1}]})
    )
    check_refused(lambda: qp.origami.read_fold(path, frame=1), "inherits", ())
    check_refused(lambda: qp.origami.read_fold(path, frame=2), "frame 2", ("0 to 1",))


@chunks()
def test_files_by_the_thousand_are_read_or_refused(chunk: int, tmp_path: Path) -> None:
    """Whatever stands in a file: a sheet that can be asked for its energy, or a sentence."""
    chance, path = random.Random(f"fold {chunk}"), tmp_path / "x.fold"
    qp.origami.write_fold(map_fold(2, 2, fold=2.0, stiffness=0.1).system, path)
    sheet = json.loads(path.read_text()) | {"file_frames": [{"frame_inherit": True}]}
    refused = 0
    for _ in range(CHUNK // 10):
        path.write_text(json.dumps(mutated(sheet, chance)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", qp.PartWarning)
            try:
                fold = qp.origami.read_fold(path, frame=chance.randrange(2), stiffness=0.1)
                assert float(fold.system.energy()) >= 0.0
            except qp.PartError as error:
                check_sentence(str(error), "", ())
                refused += 1
    assert 0 < refused < CHUNK // 10
