"""Tensegrities that are none are refused in one sentence that names the member and the way out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.parts.part import PartError

SQUARE = [(0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1)]
BAR: dict[str, Any] = {"bar": {"mass": 1.0}}
PULL: dict[str, Any] = {"string": {"stiffness": 1.0}}


def made(**changes: Any) -> qp.Tensegrity:
    given: dict[str, Any] = {
        "nodes": SQUARE, "bars": [(0, 2), (1, 3)], "strings": [(1, 2), (0, 3)], "fixed": [0, 1],
        **BAR, **PULL,
    }  # fmt: skip
    return qp.tensegrity(**{**given, **changes})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"nodes": [(0, 0), (1, 1)]}, r"nodes must be a list of points \(x, y, z\)"),
        ({"nodes": [(0, 0, 0), (1, 0, np.nan)]}, "nodes must be a list of points"),
        ({"bars": [(0, 2), (1, 9)]}, "b2 names the node 9, but there are those from 0 to 3"),
        ({"bars": [(0, 2, 1)]}, r"b1 is \(0, 2, 1\), but must be two nodes"),
        ({"strings": [(1,)]}, r"s1 is \(1,\), but must be two nodes or more"),
        ({"strings": [(1, 1)]}, "s1 has no length from node 1 to node 1"),
        ({"bars": [(0, 2), (1, 3), (0, 1)]}, "b3 stands between fixed nodes alone; leave it out"),
        ({"bars": [(0, 2)], "strings": [(1, 2)]}, "node 3 belongs to no member; leave it out"),
        ({"bars": [(0, 2)]}, "node 3 has no bar; give it a mass"),
        ({"fixed": [-1]}, "fixed names the node -1"),
        ({"masses": {2: 0.0}}, "masses is 0.0"),
        ({"bar": {}}, r"bar needs a density \[kg/m3\], or a mass \[kg\]"),
        ({"bar": {"mass": 1.0, "density": 1.0}}, "bar needs a density"),
        ({"bar": {"weight": 1.0}}, "must be a dict of density, mass, radius"),
        ({"bar": {"mass": [1.0]}}, "bar has 1 numbers of mass for 2 members"),
        ({"string": {"stiffness": 1.0, "rest": -0.5}}, "string rest is -0.5"),
        ({"string": {}}, "String 's1': give its stiffness"),
        ({"string": {"stiffness": 1.0, "mass": -1.0}}, "string mass is -1.0"),
        ({"string": {"stiffness": 1.0, "mass": 1.0, "beads": 1.5}}, "string beads is 1.5"),
        (
            {"strings": [(0, 3, 1), (1, 2)], "string": {"stiffness": 1.0, "mass": 1.0}},
            r"s1 runs over \(0, 3, 1\) and has a mass, but only a string between two nodes may",
        ),
        ({"bar": {"mass": 1.0, "poisson": 0.3}}, "bar has poisson, but is rigid without a modulus"),
        ({"normal": (0, 1)}, "normal"),
        ({"bars": None}, "bars is None, but must be a list"),
        ({"strings": 1}, "strings is 1, but must be a list"),
        ({"fixed": 0}, "fixed is 0, but must be a list"),
        ({"masses": [1.0]}, r"masses is \[1.0\], but must be a Mapping"),
    ],
)
def test_members_that_are_none(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PartError, match=sentence):
        made(**changes)


def test_what_no_tension_can_hold_names_the_node() -> None:
    """Two strings from a mass to one side."""
    hung = qp.tensegrity(
        [(0, 0, 0), (1, 0, 0), (0.5, 0, 1)], strings=[(0, 2), (1, 2)], fixed=[0, 1],
        masses={2: 1.0}, **PULL,
    )  # fmt: skip
    with pytest.raises(PartError, match=r"of 1 N or more .* moves node 'n3' of 'p1' most"):
        qp.prestress(hung.system)


def test_what_prestress_cannot_do() -> None:
    with pytest.raises(PartError, match="no String acts"):
        qp.prestress(qp.Multibody(qp.Body.sphere("a", 1.0, 1.0)))
    soft = made(strings=[(1, 2), (0, 3), (2, 3)], string={"stiffness": 0.1}, normal=(0, 1, 0))
    with pytest.raises(PartError, match=r"String 's1': .* ask for a rest length of .*; give"):
        qp.prestress(soft.system)
    with pytest.raises(PartError, match="system is 3, but must be a Multibody"):
        qp.prestress(3)  # type: ignore[arg-type]
    with pytest.raises(PartError, match="minimum is -1"):
        qp.prestress(soft.system, -1.0)
    with pytest.raises(PartError, match="bars is 'b1', but must be a list"):
        qp.prestress(soft.system, 1.0, bars="b1")
    for wrong, words in ((3, "3, but must be a list"), ([3], "3, but must be a Force")):
        with pytest.raises(PartError, match=f"under is {words}"):
            qp.prestress(soft.system, 1.0, wrong)  # type: ignore[arg-type]
    body = qp.Body.sphere("a", 1.0, 1.0)
    hung = qp.Multibody(body, qp.PotentialWell("w", body, (0, 0, 0), 1.0))
    stray = qp.Body.sphere("stray", 1.0, 1.0).site("tip")
    for which in ("inputs", "outputs"):
        given: dict[str, Any] = {which: [stray]}
        with pytest.raises(PartError, match=f"{which} has the site 'tip' of 'stray', which is no"):
            hung.linearize(**given)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: qp.tensegrities.prism(2, **BAR, **PULL), "order is 2, but must be a whole number"),
        (lambda: qp.tensegrities.d_bar(1.0, 2.0, **BAR, **PULL), "slope is 2 rad"),
        (lambda: qp.tensegrities.ball(0.0, **BAR, **PULL), "ball: length is 0.0"),
        (lambda: qp.tensegrities.from_matrices(np.eye(2), [], []), "N has 2 rows"),
        (
            lambda: qp.tensegrities.from_matrices(np.eye(3), [[-1, 1, 1]], []),
            "row 0 of C_b must have 3 numbers: one -1, one 1, and zeros",
        ),
        (lambda: qp.form_find(SQUARE, [(0, 1)], [np.nan]), "densities is nan"),
        (
            lambda: qp.tensegrities.winding(made(), {"s1": 1.0}, {"s2": 1.0}, 1.0),
            "winding: 's1' must be a string of the tensegrity with both rest lengths",
        ),
        (lambda: qp.form_find(SQUARE, [(0, 1)], 1.0), "densities is 1.0, but must be a list"),
        (lambda: qp.form_find(SQUARE, None, []), "members is None"),  # type: ignore[arg-type]
        (lambda: qp.form_find(SQUARE, [(0, 1)], [1.0, 2.0]), "2 densities are given for 1 members"),
        (
            lambda: qp.form_find(SQUARE, [(0, 1), (2, 3)], [1.0, 1.0], [0]),
            "these densities leave node [23] where it likes",
        ),
    ],
)
def test_shapes_that_are_none(make: Any, sentence: str) -> None:
    with pytest.raises(PartError, match=sentence):
        make()


@pytest.mark.parametrize(
    ("nodes", "members", "sentence"),
    [
        ("x,y\n0,0\n", "kind,nodes\n", "must have x, y, z"),
        ("x,y,z\n0,0,up\n", "kind,nodes\n", "z is 'up'"),
        ("x,y,z\n0,0,0\n1,0,0\n", "kind,nodes\nrope,0 1\n", "line 2 .* must be a bar or a string"),
        ("x,y,z\n0,0,0\n1,0,0\n", "kind,nodes\nbar,0 x\n", "line 2"),
    ],
)
def test_files_that_are_none(tmp_path: Path, nodes: str, members: str, sentence: str) -> None:
    places, ways = tmp_path / "nodes.csv", tmp_path / "members.csv"
    places.write_text(nodes, encoding="utf-8")
    ways.write_text(members, encoding="utf-8")
    with pytest.raises(PartError, match=sentence):
        qp.tensegrities.read_csv(places, ways, **BAR, **PULL)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "bytes.csv").write_bytes(b"x,y,z\n\xff\xfe")
    for name, words in (("gone.csv", "No such file"), ("bytes.csv", "can't decode")):
        with pytest.raises(PartError, match=f"{name}' cannot be read: .*{words}"):
            qp.tensegrities.read_csv(tmp_path / name, tmp_path / name, **BAR, **PULL)


def test_a_zero_in_a_file_is_a_number_and_not_an_empty_place(tmp_path: Path) -> None:
    """In files with the mark that spreadsheets put first, too."""
    places, ways = tmp_path / "nodes.csv", tmp_path / "members.csv"
    places.write_text("x,y,z,fixed\n0,0,0,1\n1,0,0,1\n1,0,1,0\n0,0,1,0\n", encoding="utf-8-sig")
    ways.write_text(
        "kind,nodes,rest,damping\nbar,0 2,,\nbar,1 3,,\nstring,1 2,0,0\nstring,0 3,0,0\n",
        encoding="utf-8-sig",
    )
    string: Any = {"stiffness": 1.0, "rest": 0.9, "damping": 5.0}
    read = qp.tensegrities.read_csv(places, ways, **BAR, string=string)
    assert [(s.rest_length, s.damping) for s in read.strings] == [(0.0, 0.0)] * 2


def test_matrices_and_masses_that_are_none() -> None:
    for N, C_b, name in (("x", [], "N"), (np.eye(3), [["a", 1, 0]], "C_b"), (None, [], "N")):
        with pytest.raises(PartError, match=f"from_matrices: {name} "):
            qp.tensegrities.from_matrices(N, C_b, [])
    with pytest.raises(PartError, match=r"ball: masses is \[1.0\], but must be a Mapping"):
        qp.tensegrities.ball(payload=1.0, masses=[1.0], **BAR, **PULL)  # type: ignore[arg-type]


@pytest.mark.parametrize("scale", [1e-12, 1e-9, 1.0, 1e9])
def test_densities_of_any_size_hold_the_same_shape(scale: float) -> None:
    """A plane square holds none in space, in whatever units its densities are."""
    members = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)]
    with pytest.raises(PartError, match="hold no shape in space, but one of 2 dimensions"):
        qp.form_find(SQUARE, members, [scale] * 4 + [-scale] * 2)
