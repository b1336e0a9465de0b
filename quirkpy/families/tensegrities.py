"""Tensegrities of the literature: T-bars, D-bars, arms, prisms, towers, balls; and tensegrities
from matrices and from files."""

from __future__ import annotations

import csv
import dataclasses
import io
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np

from quirkpy.families.plasticity import yielding
from quirkpy.families.tensegrity import (
    BarOptions,
    StringOptions,
    Tensegrity,
    tensegrity,
)
from quirkpy.maths.types import Floats, Vector
from quirkpy.parts.checks import instance, positive, show
from quirkpy.parts.files import FilePath, readable
from quirkpy.parts.part import PartError, check_argument, sentence_of
from quirkpy.parts.schedule import Schedule
from quirkpy.system.multibody import Multibody

__all__ = [
    "Tensegrity", "arm", "ball", "d_bar", "from_matrices", "prism", "read_csv", "t_bar", "tower",
    "winding",
    "yielding",
]  # fmt: skip

#: The normal of the plane of flat tensegrities: x to the right, z up.
FLAT = (0.0, 1.0, 0.0)
#: Columns of a file of members beside their kind and nodes, by kind.
MEMBER_COLUMNS = {
    "bar": BarOptions.__annotations__.keys(), "string": StringOptions.__annotations__.keys(),
}  # fmt: skip
#: The force density of strings to a payload, as a share of that of the others [1].
OF_PAYLOAD = 0.5


class MemberOptions(TypedDict, total=False):
    """The options of `tensegrity` other than nodes and members."""

    bar: BarOptions
    string: StringOptions
    masses: Mapping[int, float]
    normal: Vector


class Members(NamedTuple):
    """Nodes [m], bars and strings by the numbers of their nodes, and those that are fixed."""

    nodes: list[tuple[float, float, float]]
    bars: list[tuple[int, int]]
    strings: list[tuple[int, ...]]
    fixed: list[int]


# --- flat -----------------------------------------------------------------------------------------
def t_bar(length: float = 5.0, **options: Unpack[MemberOptions]) -> Tensegrity:
    """Two bars that cross in a square, the benchmark of Hsu, Tadiparthi and Bhattacharya.

    length [m] of the bars. Nodes 0 and 1 at the bottom are fixed, 2 is above 1 and 3 above 0; bars
    run along the diagonals, strings "s1" and "s2" vertically on the right and on the left, "s3"
    along the top. All parts stay in the plane of x and z."""
    side = check_argument("t_bar", "length", length, positive) / math.sqrt(2.0)
    nodes = [(0, 0, 0), (side, 0, 0), (side, 0, side), (0, 0, side)]
    return tensegrity(nodes, [(0, 2), (1, 3)], [(1, 2), (0, 3), (2, 3)], [0, 1], **flat(options))


def d_bar(length: float = 1.0, slope: float = math.pi / 6, **options: Any) -> Tensegrity:
    """Four bars around a rhomb, hinged to each other, and strings along both diagonals.

    length [m] of the bars, slope [rad] of them over the long diagonal; its left end is fixed."""
    side = check_argument("d_bar", "length", length, positive)
    angle = check_argument("d_bar", "slope", slope, positive)
    if not angle < 0.5 * math.pi:
        raise PartError(f"d_bar: slope is {angle:g} rad, but must lie between 0 and pi/2.")
    x, z = side * math.cos(angle), side * math.sin(angle)
    nodes = [(0, 0, 0), (x, 0, z), (2 * x, 0, 0), (x, 0, -z)]
    return tensegrity(
        nodes, [(0, 1), (1, 2), (2, 3), (3, 0)], [(0, 2), (1, 3)], [0], **flat(options)
    )


def arm(squares: int = 3, side: float = 1.0, **options: Unpack[MemberOptions]) -> Tensegrity:
    """A robotic arm of squares, each with two bars along its diagonals, connected by hinges at the
    corners; strings run along all sides.

    side [m].  Nodes 0 and 1 on the wall are fixed, 2 k and 2 k + 1 are the lower and the upper
    corner after k squares."""
    count = check_count("arm", "squares", squares)
    width = check_argument("arm", "side", side, positive)
    nodes = [(width * k, 0.0, width * up) for k in range(count + 1) for up in (0, 1)]
    bars, strings = [], []
    for k in range(0, 2 * count, 2):
        bars += [(k, k + 3), (k + 1, k + 2)]
        strings += [(k, k + 2), (k + 1, k + 3), (k + 2, k + 3)]
    return tensegrity(nodes, bars, strings, [0, 1], **flat(options))


def flat(options: Any) -> Any:
    """Options of a tensegrity that stays in its plane, unless given otherwise."""
    return {"normal": FLAT, **options}


# --- in space -------------------------------------------------------------------------------------
def prism(
    order: int = 3, radius: float = 1.0, height: float = 1.0, *, fixed: bool = True,
    **options: Unpack[MemberOptions],
) -> Tensegrity:  # fmt: skip
    """A prism: as many bars as the order, between two polygons of strings, rotated by the only
    angle at which strings and bars alone are in equilibrium, pi/2 - pi/order.

    radius [m] of the polygons, height [m]. Nodes 0 ... at the bottom, fixed or free, then those at
    the top; strings around the bottom where it is free, around the top, and vertical ones."""
    made = stack("prism", order, 1, radius, height, fixed)
    return tensegrity(made.nodes, made.bars, made.strings, made.fixed, **options)


def tower(
    order: int = 3, stages: int = 3, radius: float = 1.0, height: float = 1.0, *,
    fixed: bool = True, **options: Unpack[MemberOptions],
) -> Tensegrity:  # fmt: skip
    """A stack of prisms, each rotated relative to the one below; bars meet in ball joints.

    radius [m] of the polygons, height [m] of each prism; nodes as in `prism`, stage by stage."""
    made = stack("tower", order, stages, radius, height, fixed)
    return tensegrity(made.nodes, made.bars, made.strings, made.fixed, **options)


def stack(who: str, order: int, stages: int, radius: float, height: float, fixed: bool) -> Members:
    """Nodes and members of a stack of prisms."""
    n, floors = check_count(who, "order", order, 3), check_count(who, "stages", stages)
    r, h = (
        check_argument(who, name, value, positive)
        for name, value in (("radius", radius), ("height", height))
    )
    twist, angle = 0.5 * math.pi - math.pi / n, 0.0
    nodes, bars, strings = list(polygon(n, r, 0.0, 0.0)), [], []
    if not fixed:
        strings += around(0, n)
    for k in range(floors):
        sense = 1 if k % 2 == 0 else -1
        angle += sense * twist
        nodes += polygon(n, r, h * (k + 1), angle)
        low, high = k * n, (k + 1) * n
        strings += around(high, n)
        strings += [(low + i, high + i) for i in range(n)]
        bars += [(low + i, high + (i + sense) % n) for i in range(n)]
    return Members(nodes, bars, strings, list(range(n)) if fixed else [])


def polygon(n: int, radius: float, z: float, angle: float) -> Iterator[tuple[float, float, float]]:
    """The corners of a regular polygon."""
    for i in range(n):
        at = 2.0 * math.pi * i / n + angle
        yield radius * math.cos(at), radius * math.sin(at), z


def around(first: int, n: int) -> list[tuple[int, ...]]:
    """The sides of a polygon with consecutive nodes."""
    return [(first + i, first + (i + 1) % n) for i in range(n)]


def ball(
    length: float = 1.0, payload: float | None = None, *, fixed: Sequence[int] = (),
    **options: Unpack[MemberOptions],
) -> Tensegrity:  # fmt: skip
    """Six bars, two each along x, y and z, with 24 strings at equal force densities; with a payload
    [kg] in the middle and eight more strings to it, at half of these, from the bars along x and y.

    length [m] of the bars; fixed: nodes that are fixed. The distance of parallel bars is half their
    length, with a payload 8/9 of that for those connected to it, so that strings and bars alone are
    in equilibrium. Nodes 0 to 3 belong to the bars along x, 4 to 7 to those along y, 8 to 11 to
    those along z; 12 is the payload."""
    half = 0.5 * check_argument("ball", "length", length, positive)
    even = icosahedron((0.5, 0.5, 0.5))
    nodes = even if payload is None else icosahedron((*2 * (2.0 / (4.0 + OF_PAYLOAD),), 0.5))
    bars = [(2 * k, 2 * k + 1) for k in range(6)]
    strings: list[tuple[int, ...]] = [
        (i, j)
        for i, j in itertools.combinations(range(12), 2)
        if math.isclose(math.dist(even[i], even[j]), math.sqrt(1.5))
    ]
    if payload is not None:
        nodes.append((0.0, 0.0, 0.0))
        strings += [(i, 12) for i in range(8)]
        options = {**options, "masses": {**masses_in("ball", options), 12: payload}}
    return tensegrity(half * np.array(nodes), bars, strings, fixed, **options)


def masses_in(who: str, options: MemberOptions) -> Mapping[int, float]:
    """The masses of nodes among options."""
    given: Mapping[int, float] = check_argument(
        who, "masses", options.get("masses") or {}, instance(Mapping)
    )
    return given


def icosahedron(apart: Sequence[float]) -> list[tuple[float, ...]]:
    """The ends of six bars of length 2, two each along x, y, z, at twice the given distances from
    each other."""
    return [
        tuple(np.roll((along, side * apart[k], 0.0), k).tolist())
        for k in range(3)
        for side in (-1.0, 1.0)
        for along in (-1.0, 1.0)
    ]


# --- strings that are wound ----------------------------------------------------------------------
def winding(
    made: Tensegrity, first: Mapping[str, float], last: Mapping[str, float], seconds: float
) -> Multibody:
    """The system of a tensegrity with strings that are wound or paid out, from first to last rest
    lengths [m] by name, such as those of two prestresses, smoothly within some seconds."""
    time = check_argument("winding", "seconds", seconds, positive)
    known = {string.name: string for string in made.strings}
    for name in (*first, *last):
        if name not in known or name not in first or name not in last:
            raise PartError(
                f"winding: {name!r} must be a string of the tensegrity with both rest lengths."
            )
    changed = [
        dataclasses.replace(
            known[name], EA=None, stiffness=known[name].value_of("stiffness"),
            rest_length=Schedule((0.0, time), (length, last[name]), "smooth"),
        )
        for name, length in first.items()
    ]  # fmt: skip
    return made.system.without(*first).with_(*changed)


# --- from matrices and files ----------------------------------------------------------------------
def from_matrices(
    N: Any, C_b: Any, C_s: Any, fixed: Sequence[int] = (), **options: Unpack[MemberOptions]
) -> Tensegrity:
    """A tensegrity from the matrices of the papers: nodes N (3, n) as columns [m], connectivity of
    bars C_b and of strings C_s, a row for each member with -1 where it begins and 1 where it
    ends."""
    nodes = np.atleast_2d(numbers_of("N", N))
    if nodes.shape[0] != 3:
        raise PartError(f"from_matrices: N has {nodes.shape[0]} rows, but must have x, y and z.")
    bars, strings = (
        [ends_of(name, row, k, nodes.shape[1]) for k, row in enumerate(rows_of(name, matrix))]
        for name, matrix in (("C_b", C_b), ("C_s", C_s))
    )
    return tensegrity(nodes.T, bars, strings, fixed, **options)


def numbers_of(name: str, matrix: Any) -> Floats:
    """A matrix of numbers."""
    try:
        return np.asarray(matrix, dtype=float)
    except (TypeError, ValueError):
        raise PartError(
            f"from_matrices: {name} is {show(matrix)}, but must be a matrix of numbers."
        ) from None


def rows_of(name: str, matrix: Any) -> Floats:
    """A matrix of connectivity; an empty one has no rows."""
    made = numbers_of(name, matrix)
    return np.atleast_2d(made) if made.size else np.empty((0, 0))


def ends_of(name: str, row: Floats, k: int, count: int) -> tuple[int, int]:
    """The two nodes of a row of connectivity."""
    first, last = np.flatnonzero(row == -1.0), np.flatnonzero(row == 1.0)
    if len(row) != count or len(first) != 1 or len(last) != 1 or np.count_nonzero(row) != 2:
        raise PartError(
            f"from_matrices: row {k} of {name} must have {count} numbers: one -1, one 1, and zeros."
        )
    return int(first[0]), int(last[0])


def read_csv(nodes: FilePath, members: FilePath, **options: Unpack[MemberOptions]) -> Tensegrity:
    """A tensegrity from two text files, with commas, semicolons or tabs between columns. nodes:
    columns x, y, z [m], and optionally fixed (0 or 1) and mass [kg]; members: columns kind ("bar"
    or "string") and nodes, their numbers from 0, separated by blanks: ``string,0 4``; and any
    options of bars and strings, such as radius and rest, empty for the one that is given here."""
    rows = list(lines_of("nodes", nodes, ("x", "y", "z")))
    points = [tuple(number_in(nodes, row, axis) for axis in "xyz") for row in rows]
    fixed = [i for i, row in enumerate(rows) if number_in(nodes, row, "fixed", "0") != 0.0]
    masses = {i: number_in(nodes, row, "mass") for i, row in enumerate(rows) if row.get("mass")}
    found: dict[str, list[tuple[int, ...]]] = {"bar": [], "string": []}
    each: dict[str, dict[str, list[Any]]] = {"bar": {}, "string": {}}
    for k, row in enumerate(lines_of("members", members, ("kind", "nodes"))):
        if row["kind"] not in found or not all(n.isdecimal() for n in row["nodes"].split()):
            raise PartError(
                f"read_csv: line {k + 2} of {members} is {show(row)}, but must be a bar or a "
                "string and the numbers of its nodes, such as string,0 4.",
                code="content",
            )
        found[row["kind"]].append(tuple(map(int, row["nodes"].split())))
        for name in MEMBER_COLUMNS[row["kind"]] & row.keys():
            value = number_in(members, row, name) if row[name] else None
            each[row["kind"]].setdefault(name, []).append(as_count(name, value))
    if masses:
        options = {**options, "masses": {**masses, **masses_in("read_csv", options)}}
    given: dict[str, Any] = dict(options)
    for kind, columns in each.items():
        common = given.get(kind, {})
        known = {n: column for n, column in columns.items() if any(x is not None for x in column)}
        given[kind] = {**common, **{n: fill_column(x, common.get(n)) for n, x in known.items()}}
    return tensegrity(points, found["bar"], found["string"], fixed, **given)


def fill_column(column: Sequence[float | None], common: Any) -> list[Any]:
    """A column of a file, with the number for all members where it is empty."""
    return [common if value is None else value for value in column]


def as_count(name: str, value: float | None) -> float | None:
    """A number of a file, whole where it counts beads."""
    return int(value) if name == "beads" and value is not None and value == int(value) else value


def lines_of(what: str, path: FilePath, columns: Sequence[str]) -> Iterator[dict[str, str]]:
    """The lines of a file of text by its columns."""
    try:
        text = readable(path, what).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise PartError(
            f"read_csv: {show(str(path))} cannot be read: {sentence_of(error)}.", code="content"
        ) from None
    head = text.partition("\n")[0]
    between = next((mark for mark in "\t;" if mark in head), ",")
    reader = csv.DictReader(io.StringIO(text), skipinitialspace=True, delimiter=between)
    if not set(columns) <= set(reader.fieldnames or ()):
        raise PartError(
            f"read_csv: {path} has the columns {', '.join(reader.fieldnames or ['none'])}, but "
            f"must have {', '.join(columns)}.",
            code="content",
        )
    for row in reader:
        yield {name: (value or "").strip() for name, value in row.items() if name}


def number_in(path: FilePath, row: Mapping[str, str], column: str, default: str = "") -> float:
    """A number of a line."""
    text = row.get(column) or default
    try:
        return float(text)
    except ValueError:
        raise PartError(
            f"read_csv: {column} is {text!r} in {path}, but must be a number.", code="content"
        ) from None


def check_count(who: str, name: str, count: Any, least: int = 1) -> int:
    """An integer, at least a given one."""
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < least:
        raise PartError(f"{who}: {name} is {show(count)}, but must be a whole number from {least}.")
    return int(count)
