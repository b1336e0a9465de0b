"""Origami: sheets of rigid panels, folded along creases, as ordinary bodies, hinges and springs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np

from quirkpy.families.creases import (
    Fold,
    assemble,
    check_angle,
    check_faces,
    from_creases,
    seams_of,
)
from quirkpy.families.fold_files import read_fold, write_fold
from quirkpy.families.panels import PanelOptions
from quirkpy.families.wrapping import scheel
from quirkpy.parts.checks import positive, show
from quirkpy.parts.part import PartError, check_argument

__all__ = ["Fold", "from_creases", "map_fold", "miura", "read_fold", "scheel", "write_fold"]

#: Creases between columns, and between rows.
Family: TypeAlias = Literal["x", "y"]
#: An angle counts as flat or as folded shut within this [rad].
EXACTLY = 1e-12


# --- map folds ------------------------------------------------------------------------------------
def map_fold(
    columns: int,
    rows: int,
    side: float = 1.0,
    fold: float | tuple[float, float] = 0.0,
    **options: Unpack[PanelOptions],
) -> Fold:
    """A map: square panels "p0,0" ... "p2,2", with accordion folds between its columns and between
    its rows.

    side [m]; fold [rad]: 0 flat, pi folded up. With rigid panels only one family of creases can
    move at a time, while the other is flat or shut. A number is the fold between the columns ("x
    0,0" lies between p0,0 and p1,0); the rows ("y 0,0", between p0,0 and p0,1) are then shut, as in
    a map that begins to open, or flat where it is 0. (a, b) are the folds between the columns and
    between the rows. offset="layers": panels that lie in a stack when shut, by their thickness.
    For other options see `from_creases`."""
    who = "map_fold"
    _check_counts(who, columns=columns, rows=rows)
    length = check_argument(who, "side", side, positive)
    across, along = _folds_of(fold, who)
    if not any(_is(angle, at) for angle in (across, along) for at in (0.0, math.pi)):
        raise PartError(
            f"{who}: fold is {show(fold)}, but rigid panels fold between their columns or between "
            "their rows, while the other folds are 0 or pi."
        )
    x, x_lift = _accordion(columns, across, length)
    y, y_lift = _accordion(rows, along, length)
    corners = {
        (i, j): (x[i], y[j], x_lift[i] + y_lift[j])
        for i, j in itertools.product(range(columns + 1), range(rows + 1))
    }
    over, under = _is(along, math.pi), _is(across, math.pi)

    def angle(family: Family, i: int, j: int) -> float:
        """The sign of an angle: panels of every second row lie upside down where the rows are
        shut."""
        if family == "x":
            return (-1.0) ** (i + j * over) * across
        return (-1.0) ** (j + i * (under and not over)) * along

    return _grid(corners, columns, rows, angle, who, options)


def _folds_of(fold: Any, who: str) -> tuple[float, float]:
    """The folds between columns and between rows."""
    pair = fold if isinstance(fold, (tuple, list)) else (fold, math.pi if fold else 0.0)
    if len(pair) != 2:
        raise PartError(f"{who}: fold is {show(fold)}, but must be an angle, or two.")
    across, along = (check_angle(angle, who, "fold") for angle in pair)
    for angle in (across, along):
        if abs(angle) > math.pi + EXACTLY:
            raise PartError(
                f"{who}: fold is {show(fold)}, but panels cannot fold beyond pi, {math.pi:.6g} rad."
            )
    return across, along


def _is(angle: float, at: float) -> bool:
    return abs(abs(angle) - at) <= EXACTLY


def _accordion(count: int, fold: float, side: float) -> tuple[list[float], list[float]]:
    """The positions of the creases of a folded strip, along its first panel and above it [m]."""
    along = -1.0 if _is(fold, math.pi) else math.cos(fold)
    up = 0.0 if _is(fold, math.pi) else math.sin(fold)
    odd = [k // 2 for k in range(count + 1)]
    even = [k - k // 2 for k in range(count + 1)]
    return (
        [side * (a + b * along) for a, b in zip(even, odd, strict=True)],
        [side * b * up for b in odd],
    )


# --- Miura ----------------------------------------------------------------------------------------
def miura(
    columns: int,
    rows: int,
    side: float = 1.0,
    sector: float = math.radians(60.0),
    fold: float = 0.0,
    **options: Unpack[PanelOptions],
) -> Fold:
    """A Miura pattern of rhombs "p0,0" ...: one freedom, with motion in two directions at once.

    side [m]; sector [rad]: the acute angle of the rhombs; fold [rad]: of the creases between rows
    ("y 0,0" ...), 0 flat, pi folded up.  Those between columns ("x 0,0" ...) then fold by
    2 atan(cos(sector) tan(fold / 2)).  offset="layers": panels that lie in a stack when shut, by
    their thickness. For other options see `from_creases`."""
    who = "miura"
    _check_counts(who, columns=columns, rows=rows)
    length = check_argument(who, "side", side, positive)
    slant, angle = (
        check_angle(sector, who, "sector"), check_angle(fold, who, "fold"),
    )  # fmt: skip
    if not 0.0 < slant < 0.5 * math.pi:
        raise PartError(f"{who}: sector is {slant:g} rad, but must lie between 0 and pi/2.")
    if not abs(angle) <= math.pi:
        raise PartError(f"{who}: fold is {angle:g} rad, but must lie between -pi and pi.")
    up, tilt = math.sin(0.5 * angle), math.cos(0.5 * angle)
    width = math.hypot(math.cos(slant), tilt * math.sin(slant))  # of a row, across its side
    corners = {
        (i, j): (
            length * i * tilt * math.sin(slant) / width,
            length * (j * width + (i % 2) * math.cos(slant) / width),
            -length * (j % 2) * up * math.sin(slant),
        )
        for i, j in itertools.product(range(columns + 1), range(rows + 1))
    }
    minor = 2.0 * math.atan2(math.cos(slant) * up, tilt)

    def turn(family: Family, i: int, j: int) -> float:
        return (-1.0) ** j * angle if family == "y" else -((-1.0) ** (i + j)) * minor

    return _grid(corners, columns, rows, turn, who, options)


# --- panels in columns and rows -------------------------------------------------------------------
def _grid(
    corners: Mapping[tuple[int, int], tuple[float, float, float]],
    columns: int,
    rows: int,
    angle: Callable[[Family, int, int], float],
    who: str,
    options: PanelOptions,
) -> Fold:
    """Quadrangles in columns and rows, and their creases by the first of the two panels."""
    number_of = {corner: k for k, corner in enumerate(corners)}
    cells = list(itertools.product(range(columns), range(rows)))
    faces = [
        [number_of[i, j], number_of[i + 1, j], number_of[i + 1, j + 1], number_of[i, j + 1]]
        for i, j in cells
    ]
    points = np.array(list(corners.values()))
    with np.errstate(all="ignore"):  # results of absurdly large numbers are refused later
        check_faces(points, faces, who)
    seams = seams_of(faces, who)
    places: list[tuple[Family, int, int]] = [
        ("x" if cells[one][0] < cells[two][0] else "y", *cells[one])
        for one, two in (seam.faces for seam in seams)
    ]
    names = [f"p{i},{j}" for i, j in cells], [f"{kind} {i},{j}" for kind, i, j in places]
    angles = [angle(*place) for place in places]
    if isinstance(options.get("offset"), str) and options["offset"] == "layers":
        options = {**options, "offset": _layers(columns, rows, angle, options)}
    return assemble(points, faces, seams, angles, names, who, options)


def _layers(
    columns: int, rows: int, angle: Callable[[Family, int, int], float], options: PanelOptions
) -> list[float]:
    """The heights of panels above the creases [m], along their normals, with which the shut sheet
    is a stack: columns on each other as packets, in which rows lie to and fro."""
    across, along = (math.copysign(1.0, angle(family, 0, 0)) for family in ("x", "y"))
    thickness = check_argument("offset", "thickness", options.get("thickness", 0.01), positive)
    upwards = [along * (-1.0) ** i > 0.0 for i in range(columns)]
    places = {
        (i, j): across * i * rows + (j if upwards[i] else rows - 1 - j)
        for i, j in itertools.product(range(columns), range(rows))
    }
    return [
        thickness * (-1.0) ** (i + j) * (layer - places[0, 0]) for (i, j), layer in places.items()
    ]


def _check_counts(who: str, **counts: Any) -> None:
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
            raise PartError(f"{who}: {name} is {show(count)}, but must be a whole number above 0.")
