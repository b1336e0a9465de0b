"""Rigid panels hinged along creases: ordinary bodies and joints from corners and faces."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np
from scipy.spatial.transform import Rotation

from quirkpy.families.panels import (
    CLOSED,
    PLANE,
    Crease,
    PanelOptions,
    Seam,
    axis_of,
    check_options,
    forces_at,
    is_list,
    lay_out,
    make_hinge,
    make_panel,
    normal_of,
)
from quirkpy.maths.types import Floats
from quirkpy.parts.body import Body
from quirkpy.parts.checks import number, real, show
from quirkpy.parts.joints import Revolute
from quirkpy.parts.part import PartError, check_argument
from quirkpy.system.multibody import Multibody

#: Faces have one orientation if their normals agree to this [1].
ONE_WAY_UP = 1e-12
#: Fold angles agree with the corners to within this [rad]: files contain rounded numbers.
SAME_ANGLE = 1e-3
#: Larger angles are refused [rad].
MOST_TURNED = 1e3


class Fold(NamedTuple):
    """A folded sheet. system: all of its parts; hinges: one for each crease, with angle zero where
    the sheet is flat there and positive where it is folded towards the panels' z axes (a valley
    seen from there); panels: one for each face, z axis along its normal."""

    system: Multibody
    hinges: tuple[Revolute, ...]
    panels: tuple[Body, ...]


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

    mass [kg]: of each panel, or one for each; thickness [m]; inertia [kg m2]: of every panel about
    its mass centre, or of panels by their names, instead of that of a uniform plate, x along its
    first side, z along its normal; free: whether the first panel is free or fixed.

    stiffness [N m/rad], rest_angle [rad], damping [N m s/rad] of a spring at each crease; tape: the
    numbers of a `TapeSpring` at each crease, by their names; latch [rad]: the angle at which
    creases catch; stop (lower, upper) [rad]: bounds of all creases, or "flat": valleys fold from 0
    to pi, mountains from 0 to -pi. contact: panels that share a crease touch when it is shut and go
    no further; restitution: of stops and contacts.

    offset [m]: heights of panels above the plane of the creases, each along its normal, by which
    thick panels lie beside each other when shut; everything moves as if they had no thickness.
    hinges: creases lie in the "middle" of the thickness, or on the "surface" on whose side they are
    folded, so that panels are flush when flat and when shut; they then fold one way, and around
    most corners not at all."""
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
            raise PartError(
                f"{who}: crease {show(crease)} is given twice; name it once.", code="name"
            )
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
    if not is_list(faces) or not all(map(is_list, faces)):
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
                    "panels around a corner allow only angles that close.",
                    code="pose",
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
    chosen = check_options(options, names[0], who)
    polygons = [points[list(face)] for face in faces]
    senses = [
        math.copysign(1.0, angle_at(seam, polygons, axis_of(seam, points)) if a is None else a)
        for seam, a in zip(seams, angles, strict=True)
    ]
    sheet = lay_out(polygons, seams, senses, chosen, who)
    panels = tuple(make_panel(k, name, sheet, chosen) for k, name in enumerate(names[0]))
    hinges = tuple(
        make_hinge(k, name, sheet, points, panels) for k, name in enumerate(names[1])
    )  # fmt: skip
    forces = [
        force
        for hinge, sense in zip(hinges, senses, strict=True)
        for force in forces_at(hinge, sense, chosen)
    ]
    system = _wind(Multibody(*panels, *hinges, *forces), hinges, angles, who)
    return Fold(system, hinges, panels)


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
                f"{state[hinge.name].angle:.6g} rad.",
                code="pose",
            )
        windings[state.joints.index(hinge.name)] += round(turns)
    return (
        system
        if (windings == state.windings).all()
        else system.at(state.changed(windings=windings))
    )
