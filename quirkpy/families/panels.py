"""Panels, hinges and what acts there: the parts of which sheets are made."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict

import numpy as np
from scipy.spatial.transform import Rotation

from quirkpy.maths.types import Floats
from quirkpy.parts.body import Body
from quirkpy.parts.checks import flag, not_negative, number, numbers, positive, show
from quirkpy.parts.force import Force
from quirkpy.parts.forces import HingeSpring, JointStop
from quirkpy.parts.joint_laws import TapeSpring
from quirkpy.parts.joints import Revolute
from quirkpy.parts.latch import Latch
from quirkpy.parts.part import PartError, check_argument
from quirkpy.parts.shapes import Mesh

#: Two corners, by number.
Crease: TypeAlias = tuple[int, int]

#: Largest deviation of a face from a plane, and gap of a closed fold, as shares of the size [1].
PLANE, CLOSED = 1e-9, 1e-9
#: Largest thickness of a panel, and height above its creases, as shares of the size [1].
TALLEST = 1e4

#: The numbers of a tape spring; it needs the first three.
TAPE = ("stiffness", "peak", "plateau", "snap", "straight", "damping")


class PanelOptions(TypedDict, total=False):
    """The options common to all folds; see `from_creases`."""

    mass: float | Sequence[float]
    thickness: float
    offset: Sequence[float] | Literal["layers"]
    hinges: Literal["middle", "surface"]
    stiffness: float
    damping: float
    rest_angle: float
    tape: Mapping[str, Any] | None
    latch: float | None
    stop: tuple[float, float] | Literal["flat"] | None
    contact: bool
    restitution: float
    free: bool
    inertia: Any


class Seam(NamedTuple):
    """A crease and its two faces: the boundary of the first contains it in forward, that of the
    second in backward direction."""

    corners: Crease
    faces: tuple[int, int]


def normal_of(polygon: Floats) -> Floats:
    """The unit normal of a plane polygon, on the side from which its corners are counterclockwise
    (3,)."""
    twice = np.cross(polygon, np.roll(polygon, -1, axis=0)).sum(axis=0)
    length = np.linalg.norm(twice)
    return np.asarray(twice / length if length > 0.0 else twice)


def axis_of(seam: Seam, points: Floats) -> Floats:
    """The unit vector about which the second panel rotates relative to the first in a valley
    fold."""
    along = points[seam.corners[0]] - points[seam.corners[1]]
    return np.asarray(along / np.linalg.norm(along))


def is_list(value: Any) -> bool:
    """Whether something is a list of some kind, and no word."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


# --- options --------------------------------------------------------------------------------------
def check_options(options: PanelOptions, names: Sequence[str], who: str) -> dict[str, Any]:
    """All options, checked, with their defaults; the mass, the inertia and the offset of every
    panel."""
    unknown = [name for name in options if name not in PanelOptions.__annotations__]
    if unknown:
        raise PartError(
            f"{who}: there is no option {unknown[0]!r}; there are "
            f"{', '.join(PanelOptions.__annotations__)}.",
            code="name",
        )
    out: dict[str, Any] = {
        "latch": None, "stop": None, "free": True, "inertia": None, "tape": None, "contact": False,
        "offset": None, "hinges": "middle", "mass": 1.0, **options
    }  # fmt: skip
    _check_numbers(out, who)
    _check_bounds(out, who)
    _check_heights(out, len(names), who)
    out["mass"] = _each(out["mass"], len(names), "mass", who)
    for mass in out["mass"]:
        check_argument(who, "mass", mass, positive)
    out["inertia"] = _inertias(out["inertia"], names, who)
    _check_tape(out["tape"], who)
    return out


def _check_numbers(out: dict[str, Any], who: str) -> None:
    checks = {
        "thickness": (positive, 0.01), "stiffness": (not_negative, 0.0),
        "damping": (not_negative, 0.0), "rest_angle": (number, 0.0),
        "restitution": (not_negative, 0.0), "free": (flag, True), "contact": (flag, False),
    }  # fmt: skip
    if "restitution" in out and out["stop"] is None and out["contact"] is False:
        raise PartError(
            f"{who}: restitution is that of stops; give stop=(lower, upper) or contact=True, too."
        )
    for name, (check, default) in checks.items():
        out[name] = check_argument(who, name, out.get(name, default), check)


def _check_bounds(out: Mapping[str, Any], who: str) -> None:
    stop = out["stop"]
    if stop is None or (isinstance(stop, str) and stop == "flat"):
        return
    if not is_list(stop) or len(stop) != 2:
        raise PartError(
            f"{who}: stop is {show(stop)}, but must be two bounds (lower, upper), or 'flat'."
        )


def _check_tape(tape: Any, who: str) -> None:
    if tape is None:
        return
    given = tape if isinstance(tape, Mapping) else {}
    if not set(TAPE[:3]) <= set(given) <= set(TAPE):
        raise PartError(
            f"{who}: tape is {show(tape)}, but must be the numbers of a TapeSpring by their names: "
            f"{', '.join(TAPE[:3])}, and perhaps {', '.join(TAPE[3:])}."
        )


def _check_heights(out: dict[str, Any], count: int, who: str) -> None:
    """Where creases are: in the middle of panels, on their surfaces, or aside by an offset."""
    if out["hinges"] not in ("middle", "surface"):
        raise PartError(
            f"{who}: hinges is {show(out['hinges'])}, but must be 'middle' or 'surface'."
        )
    if out["offset"] is None:
        out["offset"] = [0.0] * count
        return
    if out["hinges"] == "surface":
        raise PartError(
            f"{who}: hinges on surfaces determine where panels are; leave offset out, or give "
            "hinges='middle'."
        )
    if isinstance(out["offset"], str):
        raise PartError(
            f"{who}: offset is {show(out['offset'])}, but must be a number for each of {count} "
            "panels; 'layers' is known to map_fold and miura."
        )
    out["offset"] = _each(out["offset"], count, "offset", who)


def _each(value: Any, count: int, name: str, who: str) -> list[float]:
    """A number for each panel, from one or so many."""
    each = [value] * count if np.ndim(value) == 0 else value
    out: Floats = check_argument(who, name, each, lambda given: numbers(given, (count,)))
    return [float(one) for one in out]


def _inertias(value: Any, names: Sequence[str], who: str) -> list[Any]:
    """The inertia of each panel, None for that of a uniform plate."""
    if not isinstance(value, Mapping):
        return [value] * len(names)
    unknown = [name for name in value if name not in names]
    if unknown:
        raise PartError(
            f"{who}: inertia names {show(unknown[0])}, but no panel is called so.", code="name"
        )
    return [value.get(name) for name in names]


# --- panels and hinges ----------------------------------------------------------------------------
class Plates(NamedTuple):
    """Where everything is: the middle surfaces of panels, and how far they are from where they
    would be without thickness [m]; the creases; the heights of their axes above the middle surface
    of the first of their two panels [m]."""

    polygons: list[Floats]
    shifts: list[Floats]
    seams: Sequence[Seam]
    heights: list[float]


def lay_out(
    polygons: Sequence[Floats],
    seams: Sequence[Seam],
    senses: Sequence[float],
    chosen: Mapping[str, Any],
    who: str,
) -> Plates:
    """Panels of some thickness, from those of none."""
    _check_sizes(polygons, chosen, who)
    normals = [normal_of(polygon) for polygon in polygons]
    if chosen["hinges"] == "surface":
        heights = [0.5 * sense * chosen["thickness"] for sense in senses]
        shifts = _shifts(seams, heights, normals, who)
    else:
        heights = [-chosen["offset"][seam.faces[0]] for seam in seams]
        shifts = [up * n for up, n in zip(chosen["offset"], normals, strict=True)]
    moved = [polygon + shift for polygon, shift in zip(polygons, shifts, strict=True)]
    return Plates(moved, shifts, seams, heights)


def _check_sizes(polygons: Sequence[Floats], chosen: Mapping[str, Any], who: str) -> None:
    """Refuse panels whose thickness, or height above their creases, leaves nothing of the sheet
    after rounding."""
    size = max(float(np.ptp(polygon, axis=0).max()) for polygon in polygons)
    heights = {"thickness": chosen["thickness"], "offset": max(map(abs, chosen["offset"]))}
    for name, height in heights.items():
        if height > TALLEST * size:
            raise PartError(
                f"{who}: {name} is {height:g} m, and the largest panel {size:g} m wide; give both "
                "in metres."
            )


def _shifts(
    seams: Sequence[Seam], heights: Sequence[float], normals: Sequence[Floats], who: str
) -> list[Floats]:
    """How far panels move if creases move to their surfaces (3,) [m]: across each crease by its
    height times the difference of the two normals.  An error where a corner does not permit it."""
    found: dict[int, Floats] = {0: np.zeros(3)}
    waiting = [0]
    while waiting:
        face = waiting.pop()
        for seam, up in zip(seams, heights, strict=True):
            if face not in seam.faces:
                continue
            other = seam.faces[1 - seam.faces.index(face)]
            there = found[face] + up * (normals[face] - normals[other])
            if other not in found:
                found[other] = there
                waiting.append(other)
            elif (off := float(np.linalg.norm(there - found[other]))) > CLOSED:
                raise PartError(
                    f"{who}: with hinges on their surfaces, panels {seam.faces[0]} and "
                    f"{seam.faces[1]} are {off:.3g} m apart; around a corner panels fold about "
                    "axes in one plane: give offset instead.",
                    code="pose",
                )
    return [found[face] for face in range(len(normals))]


def make_panel(k: int, name: str, sheet: Plates, chosen: Mapping[str, Any]) -> Body:
    """A plate: a box if it is a rectangle, else a prism; x along its first side."""
    polygon, mass = sheet.polygons[k], chosen["mass"][k]
    normal, side = normal_of(polygon), polygon[1] - polygon[0]
    x = side / np.linalg.norm(side)
    axes = np.stack([x, np.cross(normal, x), normal], axis=1)
    flat = (polygon - polygon[0]) @ axes
    fixed = k == 0 and not chosen["free"]
    placed: Any = {"orientation": Rotation.from_matrix(axes), "fixed": fixed}
    if _is_rectangle(flat):
        size = (float(flat[2, 0]), float(flat[2, 1]), chosen["thickness"])
        body = Body.box(name, size, mass, position=polygon[0] + axes @ (0.5 * flat[2]), **placed)
    else:
        prism = _prism(flat, chosen["thickness"])
        body = Body.mesh(
            name, prism.centred(), mass, position=polygon[0] + axes @ prism.centre, **placed
        )
    inertia = chosen["inertia"][k]
    return body if inertia is None else dataclasses.replace(body, inertia=inertia)


def _is_rectangle(flat: Floats) -> bool:
    """Whether a polygon that begins at the origin, with its first side along x, is a rectangle."""
    if len(flat) != 4:
        return False
    a, b = flat[2, 0], flat[2, 1]
    square = np.array([[0.0, 0.0], [a, 0.0], [a, b], [0.0, b]])
    return bool(abs(flat[:, :2] - square).max() <= PLANE * abs(flat).max())


def _prism(flat: Floats, thickness: float) -> Mesh:
    """The plate with a convex polygon in the plane z = 0 as its middle surface."""
    n = len(flat)
    half = np.array([0.0, 0.0, 0.5 * thickness])
    cut = _triangles(flat)
    below = [(a, c, b) for a, b, c in cut]
    above = [(n + a, n + b, n + c) for a, b, c in cut]
    around = [
        triangle
        for k in range(n)
        for triangle in (
            (k, (k + 1) % n, n + k), ((k + 1) % n, n + (k + 1) % n, n + k),
        )
    ]  # fmt: skip
    return Mesh(np.concatenate([flat - half, flat + half]), below + above + around)


def _triangles(flat: Floats) -> list[tuple[int, int, int]]:
    """A convex polygon cut into triangles of non-zero area, also if some corners lie on its sides:
    corners are cut off one by one, among those whose triangle has an area."""
    left, out = list(range(len(flat))), []
    least = PLANE * float(abs(flat).max()) ** 2
    while len(left) > 3:
        for k in range(1, len(left) + 1):
            ear = [left[k - 1], left[k % len(left)], left[(k + 1) % len(left)]]
            rest = [corner for corner in left if corner != ear[1]]
            if min(_area(flat[ear]), _area(flat[rest])) > least:
                break
        out.append((ear[0], ear[1], ear[2]))
        left = rest
    return [*out, (left[0], left[1], left[2])]


def _area(polygon: Floats) -> float:
    """The area of a plane polygon [m2]."""
    sides = np.cross(polygon, np.roll(polygon, -1, axis=0))
    return 0.5 * float(np.linalg.norm(sides.sum(axis=0)))


def make_hinge(
    k: int, name: str, sheet: Plates, points: Floats, panels: Sequence[Body]
) -> Revolute:
    """The hinge along a crease: z along it, x out of the first panel and into the second."""
    seam, one = sheet.seams[k], sheet.seams[k].faces[0]
    axis, middle = axis_of(seam, points), points[list(seam.corners)].mean(axis=0)
    middle = middle + sheet.shifts[one] + sheet.heights[k] * normal_of(sheet.polygons[one])
    sites = []
    for face, label in zip(seam.faces, ("out", "in"), strict=True):
        across = np.cross(normal_of(sheet.polygons[face]), axis)
        axes = np.stack([across, np.cross(axis, across), axis], axis=1)
        sites.append(panels[face].site_at(f"{name} {label}", middle, axes))
    return Revolute(name, *sites)


def forces_at(hinge: Revolute, sense: float, chosen: Mapping[str, Any]) -> Iterator[Force]:
    """The forces at a hinge; sense: 1 for a valley, -1 for a mountain."""
    if chosen["stiffness"] or chosen["damping"]:
        yield HingeSpring(
            f"spring {hinge.name}", hinge, stiffness=chosen["stiffness"],
            rest_angle=chosen["rest_angle"], damping=chosen["damping"],
        )  # fmt: skip
    if chosen["tape"] is not None:
        yield TapeSpring(f"tape {hinge.name}", hinge, **chosen["tape"])
    if chosen["latch"] is not None:
        yield Latch(f"latch {hinge.name}", hinge, at=chosen["latch"])
    if chosen["stop"] is not None or chosen["contact"]:
        lower, upper = _bounds(sense, chosen)
        yield JointStop(
            f"stop {hinge.name}", hinge, lower=lower, upper=upper,
            restitution=chosen["restitution"],
        )  # fmt: skip


def _bounds(sense: float, chosen: Mapping[str, Any]) -> tuple[float, float]:
    """The angles between which a crease folds [rad]: as given, and no further than panels that
    touch let it."""
    lower, upper = -math.pi, math.pi
    if chosen["stop"] == "flat" or (chosen["contact"] and chosen["hinges"] == "surface"):
        lower, upper = (0.0, math.pi) if sense > 0.0 else (-math.pi, 0.0)
    if is_list(chosen["stop"]):
        given = chosen["stop"]
        if not chosen["contact"]:
            return given[0], given[1]
        lower, upper = max(lower, given[0]), min(upper, given[1])
    return lower, upper
