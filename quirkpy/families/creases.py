"""Rigid panels hinged along creases: ordinary bodies and joints from corners and faces."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypedDict, Unpack

import numpy as np
from scipy.spatial.transform import Rotation

from quirkpy.maths.types import Floats
from quirkpy.parts.body import Body
from quirkpy.parts.checks import flag, not_negative, number, numbers, positive, real, show
from quirkpy.parts.force import Force
from quirkpy.parts.forces import HingeSpring, JointStop
from quirkpy.parts.joints import Revolute
from quirkpy.parts.latch import Latch
from quirkpy.parts.part import PartError, check_argument
from quirkpy.parts.shapes import Mesh
from quirkpy.system.multibody import Multibody

#: Faces have one orientation if their normals agree to this [1].
ONE_WAY_UP = 1e-12
#: Two corners, by number.
Crease: TypeAlias = tuple[int, int]

#: Largest deviation of a face from a plane, and gap of a closed fold, as shares of the size [1].
PLANE, CLOSED = 1e-9, 1e-9
#: Fold angles agree with the corners to within this [rad]: files contain rounded numbers.
SAME_ANGLE = 1e-3
#: Larger angles are refused [rad].
MOST_TURNED = 1e3


class PanelOptions(TypedDict, total=False):
    """The options common to all folds; see `from_creases`."""

    mass: float | Sequence[float]
    thickness: float
    stiffness: float
    damping: float
    rest_angle: float
    latch: float | None
    stop: tuple[float, float] | None
    restitution: float
    free: bool
    inertia: Any


class Fold(NamedTuple):
    """A folded sheet. system: all of its parts; hinges: one for each crease, with angle zero where
    the sheet is flat there and positive where it is folded towards the panels' z axes (a valley
    seen from there); panels: one for each face, z axis along its normal."""

    system: Multibody
    hinges: tuple[Revolute, ...]
    panels: tuple[Body, ...]


class Seam(NamedTuple):
    """A crease and its two faces: the boundary of the first contains it in forward, that of the
    second in backward direction."""

    corners: Crease
    faces: tuple[int, int]


def from_creases(
    vertices: Any,
    faces: Sequence[Sequence[int]],
    creases: Mapping[Crease, float] | None = None,
    **options: Unpack[PanelOptions],
) -> Fold:
    """A sheet of any rigid panels: ``from_creases([(0, 0), (1, 0), ...], [(0, 1, 4, 3), ...],
    {(1, 4): 0.5})``.

    vertices (n, 2) or (n, 3) [m]: its corners, flat or folded; faces: convex polygons by the
    numbers of their corners, counterclockwise seen from one side of the sheet; every edge that two
    faces share is a crease. creases: angles [rad] by which a flat sheet is folded, positive where
    the visible sides approach each other (a valley), 0 for those not named. For corners that are
    folded already, angles give the sense in which a crease is folded shut, and the number of turns;
    those not named follow from the corners.

    Panels have the names p0, p1 ... and hinges the numbers of the corners at their ends, "1-4".

    mass [kg]: of each panel, or one for each; thickness [m]; stiffness [N m/rad], rest_angle [rad],
    damping [N m s/rad] of a spring at each crease; latch [rad]: the angle at which creases catch;
    stop (lower, upper) [rad]: bounds of all creases, with their restitution [1]; free: whether the
    first panel is free or fixed; inertia [kg m2]: of every panel about its mass centre, instead of
    that of a uniform plate, x along its first side, z along its normal."""
    return sheet_of(vertices, faces, creases, "from_creases", options)


def sheet_of(
    vertices: Any,
    faces: Sequence[Sequence[int]],
    creases: Mapping[Crease, float] | None,
    who: str,
    options: PanelOptions,
) -> Fold:
    """`from_creases`, with errors that name the caller."""
    points = corners_of(vertices, who)
    with np.errstate(all="ignore"):  # results of absurdly large numbers are refused later
        check_faces(points, faces, who)
    seams = seams_of(faces, who)
    check_hinged(seams, len(faces), who)
    given = _angles_given(creases, seams, who)
    angles = [given.get(tuple(sorted(seam.corners))) for seam in seams]
    if creases is not None and is_flat(points, faces):
        angles = [angle or 0.0 for angle in angles]
        points = fold_corners(points, faces, seams, [angle or 0.0 for angle in angles], who)
    names = (
        [f"p{k}" for k in range(len(faces))],
        ["-".join(map(str, sorted(seam.corners))) for seam in seams],
    )
    return assemble(points, faces, seams, angles, names, who, options)


def _angles_given(creases: Any, seams: Sequence[Seam], who: str) -> dict[tuple[Any, ...], float]:
    """Angles [rad] by the corners at the ends of creases, the lesser one first."""
    if not isinstance(creases, Mapping | None):
        raise PartError(
            f"{who}: creases is {show(creases)}, but must be angles by corners, such as "
            "{(1, 4): 0.5}."
        )
    known = {tuple(sorted(seam.corners)) for seam in seams}
    out: dict[tuple[Any, ...], float] = {}
    for crease, angle in (creases or {}).items():
        ends = tuple(sorted(crease)) if isinstance(crease, tuple) and _is_pair(crease) else None
        if ends not in known:
            raise PartError(
                f"{who}: corners {show(crease)} are the ends of no crease of two faces."
            )
        if ends in out:
            raise PartError(f"{who}: crease {show(crease)} is given twice; name it once.")
        out[ends] = check_angle(angle, who, f"the angle of crease {show(crease)}")
    return out


def _is_pair(crease: tuple[Any, ...]) -> bool:
    return len(crease) == 2 and all(isinstance(corner, (int, np.integer)) for corner in crease)


def is_flat(points: Floats, faces: Sequence[Sequence[int]]) -> bool:
    """Whether a sheet lies in a plane, with all faces of one orientation."""
    normals = np.array([normal_of(points[list(face)]) for face in faces])
    return bool((normals @ normals[0] > 1.0 - ONE_WAY_UP).all())


def check_angle(angle: Any, who: str, what: str) -> float:
    """An angle [rad]; an error where it is not a number, or exceeds many turns."""
    out: float = check_argument(who, what, angle, number)
    if abs(out) > MOST_TURNED:
        raise PartError(f"{who}: {what} is {out:g} rad, which is more than any hinge has turned.")
    return out


# --- what is given --------------------------------------------------------------------------------
def corners_of(vertices: Any, who: str) -> Floats:
    """Corners in N (n, 3) [m], from points in a plane or in space."""
    points: Floats = check_argument(who, "vertices", vertices, real)
    if points.ndim != 2 or points.shape[1] not in (2, 3):
        raise PartError(
            f"{who}: vertices have shape {points.shape}, but must have shape (n, 2) or (n, 3)."
        )
    if not np.isfinite(points).all():
        raise PartError(f"{who}: vertices must be finite.")
    return np.hstack([points, np.zeros((len(points), 3 - points.shape[1]))])


def check_faces(points: Floats, faces: Sequence[Sequence[int]], who: str) -> None:
    """Refuse faces that are not convex polygons of known corners."""
    if not _is_list(faces) or not all(map(_is_list, faces)):
        raise PartError(f"{who}: faces is {show(faces)}, but must be lists of corners by number.")
    if not len(faces):
        raise PartError(f"{who}: faces is empty; give at least one.")
    for k, face in enumerate(faces):
        if not all(_is_number_of(corner, len(points)) for corner in face):
            raise PartError(
                f"{who}: face {k} is {show(list(face))}, but there are corners 0 to "
                f"{len(points) - 1}."
            )
        if len(face) < 3 or len(set(face)) < len(face):
            raise PartError(
                f"{who}: face {k} is {show(list(face))}, but needs three corners or more, "
                "each once."
            )
        _check_polygon(points[list(face)], f"{who}: face {k}")


def _is_list(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _is_number_of(corner: Any, count: int) -> bool:
    whole = isinstance(corner, (int, np.integer)) and not isinstance(corner, bool)
    return whole and 0 <= corner < count


def _check_polygon(polygon: Floats, who: str) -> None:
    """Refuse a face that is not plane or has a re-entrant corner."""
    sides = np.roll(polygon, -1, axis=0) - polygon
    size, normal = abs(sides).max(), normal_of(polygon)
    if not 0.5 < np.linalg.norm(normal) < 2.0:
        raise PartError(f"{who} has no area; leave it out.")
    off = float(abs((polygon - polygon.mean(axis=0)) @ normal).max())
    if off > PLANE * size:
        raise PartError(
            f"{who} is bent: its corners are {off:.3g} m off a plane; cut it along another crease."
        )
    if ((np.cross(np.roll(sides, 1, axis=0), sides) @ normal) < -PLANE * size**2).any():
        raise PartError(
            f"{who} has a corner that points inwards; cut it into convex faces, with a crease "
            "between them that is locked."
        )


def normal_of(polygon: Floats) -> Floats:
    """The unit normal of a plane polygon, on the side from which its corners are counterclockwise
    (3,)."""
    twice = np.cross(polygon, np.roll(polygon, -1, axis=0)).sum(axis=0)
    length = np.linalg.norm(twice)
    return np.asarray(twice / length if length > 0.0 else twice)


def seams_of(faces: Sequence[Sequence[int]], who: str) -> list[Seam]:
    """The creases, in the order in which they first occur in faces."""
    first: dict[Crease, int] = {}
    seams = []
    for k, face in enumerate(faces):
        for a, b in edges_of(face):
            if (a, b) in first:
                raise PartError(
                    f"{who}: faces {first[a, b]} and {k} both run from corner {a} to corner {b}; "
                    "give the corners of every face counterclockwise, seen from one side of the "
                    "sheet, and no more than two faces to an edge."
                )
            first[a, b] = k
            if (b, a) in first:
                seams.append(Seam((b, a), (first[b, a], k)))
    return seams


def check_hinged(seams: Sequence[Seam], faces: int, who: str) -> None:
    """Refuse a sheet whose creases do not connect all faces."""
    reached, waiting = {0}, [0]
    while waiting:
        face = waiting.pop()
        beside = {other for seam in seams if face in seam.faces for other in seam.faces} - reached
        reached |= beside
        waiting += beside
    missing = [k for k in range(faces) if k not in reached]
    if missing:
        raise PartError(f"{who}: face {missing[0]} shares no crease with the others; hinge it.")


def edges_of(face: Sequence[int]) -> Iterator[Crease]:
    """The sides of a face, corner by corner."""
    for k, corner in enumerate(face):
        yield int(corner), int(face[(k + 1) % len(face)])


# --- angles ---------------------------------------------------------------------------------------
def angle_at(seam: Seam, polygons: Sequence[Floats], axis: Floats) -> float:
    """The fold angle of a crease [rad], between -pi and pi."""
    one, two = (normal_of(polygons[face]) for face in seam.faces)
    return math.atan2(float(np.cross(one, two) @ axis), float(one @ two))


def axis_of(seam: Seam, points: Floats) -> Floats:
    """The unit vector about which the second panel rotates relative to the first in a valley
    fold."""
    along = points[seam.corners[0]] - points[seam.corners[1]]
    return np.asarray(along / np.linalg.norm(along))


def fold_corners(
    points: Floats,
    faces: Sequence[Sequence[int]],
    seams: Sequence[Seam],
    angles: Sequence[float],
    who: str,
) -> Floats:
    """The corners of a flat sheet after its creases have been folded (n, 3); the first face is
    fixed. An error where the sheet would have to tear."""
    turns: dict[int, tuple[Floats, Floats]] = {0: (np.eye(3), np.zeros(3))}
    waiting = [0]
    while waiting:
        face = waiting.pop()
        for seam, angle in zip(seams, angles, strict=True):
            if face in seam.faces:
                other = seam.faces[1 - seam.faces.index(face)]
                if other not in turns:
                    sense = 1.0 if face == seam.faces[0] else -1.0
                    turns[other] = _turn_across(turns[face], seam, sense * angle, points)
                    waiting.append(other)
    return _corners_after(points, faces, turns, who)


def _turn_across(
    parent: tuple[Floats, Floats], seam: Seam, angle: float, points: Floats
) -> tuple[Floats, Floats]:
    """The motion x -> Q x + d of a face that is connected to another by a crease."""
    Q, d = parent
    here = points[seam.corners[0]]
    turn = Q @ Rotation.from_rotvec(angle * axis_of(seam, points)).as_matrix()
    return turn, Q @ here + d - turn @ here


def _corners_after(
    points: Floats,
    faces: Sequence[Sequence[int]],
    turns: Mapping[int, tuple[Floats, Floats]],
    who: str,
) -> Floats:
    """The position of each corner after the motions of its faces; all of these must agree."""
    out, seen = np.array(points), np.zeros(len(points), dtype=bool)
    size = float(np.ptp(points, axis=0).max())
    for k, face in enumerate(faces):
        Q, d = turns[k]
        for corner in face:
            place = Q @ points[corner] + d
            gap = float(np.linalg.norm(place - out[corner]))
            if seen[corner] and gap > CLOSED * size:
                raise PartError(
                    f"{who}: folded so, the sheet tears at corner {corner}, by {gap:.3g} m; rigid "
                    "panels around a corner allow only angles that close."
                )
            if not seen[corner]:
                out[corner], seen[corner] = place, True
    return out


# --- parts ----------------------------------------------------------------------------------------
def assemble(
    points: Floats,
    faces: Sequence[Sequence[int]],
    seams: Sequence[Seam],
    angles: Sequence[float | None],
    names: tuple[Sequence[str], Sequence[str]],
    who: str,
    options: PanelOptions,
) -> Fold:
    """Bodies, hinges and springs of a sheet with given corners; angles: of the creases, whole turns
    and the sense of half turns included [rad], None where they follow from the corners; names: of
    panels and hinges."""
    polygons = [points[list(face)] for face in faces]
    chosen = _check_options(options, len(faces), who)
    panels = tuple(
        _panel(name, polygon, mass, chosen, fixed=not chosen["free"] and k == 0)
        for k, (name, polygon, mass) in enumerate(
            zip(names[0], polygons, chosen["mass"], strict=True)
        )
    )
    hinges = tuple(
        _hinge(name, seam, points, polygons, panels)
        for name, seam in zip(names[1], seams, strict=True)
    )
    forces = [force for hinge in hinges for force in _forces(hinge, chosen)]
    system = _wind(Multibody(*panels, *hinges, *forces), hinges, angles, who)
    return Fold(system, hinges, panels)


def _check_options(options: PanelOptions, faces: int, who: str) -> dict[str, Any]:
    """All options, checked, with their defaults; the masses of all panels."""
    unknown = [name for name in options if name not in PanelOptions.__annotations__]
    if unknown:
        raise PartError(
            f"{who}: there is no option {unknown[0]!r}; there are "
            f"{', '.join(PanelOptions.__annotations__)}."
        )
    checks = {
        "thickness": (positive, 0.01), "stiffness": (not_negative, 0.0),
        "damping": (not_negative, 0.0), "rest_angle": (number, 0.0),
        "restitution": (not_negative, 0.0),
    }  # fmt: skip
    out: dict[str, Any] = {
        "latch": None, "stop": None, "free": True, "inertia": None, **options
    }  # fmt: skip
    if "restitution" in options and out["stop"] is None:
        raise PartError(f"{who}: restitution is that of stops; give stop=(lower, upper), too.")
    for name, (check, default) in checks.items():
        out[name] = check_argument(who, name, out.get(name, default), check)
    out["free"] = check_argument(who, "free", out["free"], flag)
    if out["stop"] is not None and (not _is_list(out["stop"]) or len(out["stop"]) != 2):
        raise PartError(
            f"{who}: stop is {show(out['stop'])}, but must be two bounds (lower, upper)."
        )
    masses = out.get("mass", 1.0)
    each = [masses] * faces if np.ndim(masses) == 0 else masses
    out["mass"] = [
        check_argument(who, "mass", mass, positive)
        for mass in check_argument(who, "mass", each, lambda value: numbers(value, (faces,)))
    ]
    return out


def _panel(name: str, polygon: Floats, mass: float, chosen: Mapping[str, Any], fixed: bool) -> Body:
    """A plate: a box if it is a rectangle, else a prism; x along its first side."""
    normal, side = normal_of(polygon), polygon[1] - polygon[0]
    x = side / np.linalg.norm(side)
    axes = np.stack([x, np.cross(normal, x), normal], axis=1)
    flat = (polygon - polygon[0]) @ axes
    placed: Any = {"orientation": Rotation.from_matrix(axes), "fixed": fixed}
    if _is_rectangle(flat):
        size = (float(flat[2, 0]), float(flat[2, 1]), chosen["thickness"])
        body = Body.box(name, size, mass, position=polygon[0] + axes @ (0.5 * flat[2]), **placed)
    else:
        prism = _prism(flat, chosen["thickness"])
        body = Body.mesh(
            name, prism.centred(), mass, position=polygon[0] + axes @ prism.centre, **placed
        )
    if chosen["inertia"] is None:
        return body
    return dataclasses.replace(body, inertia=chosen["inertia"])


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


def _hinge(
    name: str,
    seam: Seam,
    points: Floats,
    polygons: Sequence[Floats],
    panels: Sequence[Body],
) -> Revolute:
    """The hinge along a crease: z along it, x out of the first panel and into the second."""
    axis, middle = axis_of(seam, points), points[list(seam.corners)].mean(axis=0)
    sites = []
    for face, label in zip(seam.faces, ("out", "in"), strict=True):
        across = np.cross(normal_of(polygons[face]), axis)
        axes = np.stack([across, np.cross(axis, across), axis], axis=1)
        sites.append(panels[face].site_at(f"{name} {label}", middle, axes))
    return Revolute(name, *sites)


def _forces(hinge: Revolute, chosen: Mapping[str, Any]) -> Iterator[Force]:
    """The forces at a hinge."""
    if chosen["stiffness"] or chosen["damping"]:
        yield HingeSpring(
            f"spring {hinge.name}", hinge, stiffness=chosen["stiffness"],
            rest_angle=chosen["rest_angle"], damping=chosen["damping"],
        )  # fmt: skip
    if chosen["latch"] is not None:
        yield Latch(f"latch {hinge.name}", hinge, at=chosen["latch"])
    if chosen["stop"] is not None:
        lower, upper = chosen["stop"]
        yield JointStop(
            f"stop {hinge.name}", hinge, lower=lower, upper=upper,
            restitution=chosen["restitution"],
        )  # fmt: skip


def _wind(
    system: Multibody, hinges: Sequence[Revolute], angles: Sequence[float | None], who: str
) -> Multibody:
    """The system with given initial angles of hinges, which the pose determines up to whole
    turns."""
    state = system.initial
    windings = np.array(state.windings)
    for hinge, angle in zip(hinges, angles, strict=True):
        if angle is None:
            continue
        turns = (angle - state[hinge.name].angle) / (2.0 * math.pi)
        if abs(turns - round(turns)) * 2.0 * math.pi > SAME_ANGLE:
            raise PartError(
                f"{who}: {hinge.name} is to be folded by {show(angle)} rad, but its corners say "
                f"{state[hinge.name].angle:.6g} rad."
            )
        windings[state.joints.index(hinge.name)] += round(turns)
    return (
        system
        if (windings == state.windings).all()
        else system.at(state.changed(windings=windings))
    )
