"""FOLD files, the format of E. Demaine, J. Ku and R. Lang for folded sheets: JSON, with angles in
degrees and frames of a motion."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias, Unpack

import numpy as np

from quirkpy.families.creases import (
    SAME_ANGLE,
    Fold,
    angle_at,
    check_faces,
    corners_of,
    edges_of,
    is_flat,
    seams_of,
    sheet_of,
)
from quirkpy.families.panels import PanelOptions, Seam, axis_of, normal_of
from quirkpy.maths import quat
from quirkpy.maths.types import Floats
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.body import Body
from quirkpy.parts.checks import number, real, show
from quirkpy.parts.files import FilePath, ending_of, readable, write_text
from quirkpy.parts.joints import Revolute
from quirkpy.parts.json import LONGEST_TEXT, plain_values
from quirkpy.parts.part import PartError, check_argument
from quirkpy.parts.shapes import Box, Mesh
from quirkpy.system.multibody import Multibody

#: Lengths of a frame [m].
UNITS = {
    "m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "nm": 1e-9, "in": 0.0254, "pt": 0.0254 / 72.0,
    "unit": 1.0,
}  # fmt: skip
#: Corners of panels coincide where they are no further apart than this share of the panels' size.
SAME_CORNER = 1e-9
#: Creases folded by less are flat [rad].
UNFOLDED = 1e-9

Frame: TypeAlias = Mapping[str, Any]


# --- reading --------------------------------------------------------------------------------------
def read_fold(
    path: FilePath, frame: int = 0, fold: bool = True, **options: Unpack[PanelOptions]
) -> Fold:
    """The sheet in a FOLD file, as `from_creases` makes it of the corners, faces and fold angles of
    one of its frames, numbered from 0, the key frame.

    Panels have the names p0, p1 ... in the order of the faces; edges with the assignment "F" are
    creases too, except those of a single face. If a file has no faces, they are those of the plane
    drawing of its edges. fold: whether a flat sheet is folded by the angles of the file. If a frame
    moves the corners but inherits the angles, those that no longer hold follow from the corners.
    Lengths of frame_unit "unit", or without unit, are metres."""
    who = "read_fold"
    place = readable(path, who)
    try:
        if os.path.getsize(place) > LONGEST_TEXT:
            raise PartError(
                f"{who}: {str(place)!r} is too large for a FOLD file; give another.", code="content"
            )
        text = place.read_bytes()
    except OSError as error:
        raise PartError(
            f"{who}: {str(place)!r} cannot be read: {error.strerror}.", code="file"
        ) from error
    who = f"{who}: {place.name!r}"
    chosen, older = _frame_of(plain_values(text, who), frame, who)
    given = _numbers(chosen, "vertices_coords", who) * _unit_of(chosen, who)
    points = corners_of(given, who)
    edges = _edges(chosen, len(points), who)
    faces = chosen.get("faces_vertices") or _faces_drawn(points, edges, who)
    if not (isinstance(faces, list) and all(isinstance(face, list) for face in faces)):
        raise PartError(
            f"{who}: faces_vertices must be a list of lists of corners.", code="content"
        )
    with np.errstate(all="ignore"):  # results of absurdly large numbers are refused later
        check_faces(points, faces, who)
    angles = _angles(chosen, edges, faces, who) if fold else None
    if angles and older and not is_flat(points, faces):
        angles = _angles_that_hold(angles, points, faces, who)
    return sheet_of(points, faces, angles, who, options)


def _frame_of(document: Any, wanted: int, who: str) -> tuple[Frame, bool]:
    """A frame with the fields that it inherits, and whether its angles belong to a frame before the
    one that moved its corners."""
    if not isinstance(document, dict):
        raise PartError(
            f"{who}: a FOLD file is a JSON object, with keys such as vertices_coords.",
            code="content",
        )
    rest = document.get("file_frames") or []
    frames = [document, *(rest if isinstance(rest, list) else [])]
    if isinstance(wanted, bool) or not isinstance(wanted, int) or not 0 <= wanted < len(frames):
        raise PartError(
            f"{who}: there is no frame {show(wanted)}; there are 0 to {len(frames) - 1}.",
            code="content",
        )
    chain: list[Frame] = []
    k = wanted
    while True:
        if not isinstance(frames[k], dict) or len(chain) > len(frames):
            raise PartError(
                f"{who}: frame {k} inherits from no frame, or from itself.", code="content"
            )
        chain.append(frames[k])
        if k == 0 or not frames[k].get("frame_inherit"):
            break
        k = frames[k].get("frame_parent", 0)
        if not isinstance(k, int) or not 0 <= k < len(frames):
            raise PartError(
                f"{who}: frame {wanted} inherits from frame {show(k)}, which is none.",
                code="content",
            )
    merged = {key: value for one in reversed(chain) for key, value in one.items()}
    moved = next((k for k, one in enumerate(chain) if "vertices_coords" in one), len(chain))
    return merged, all("edges_foldAngle" not in one for one in chain[: moved + 1])


def _unit_of(frame: Frame, who: str) -> float:
    unit = frame.get("frame_unit", "unit")
    if not isinstance(unit, str) or unit not in UNITS:
        raise PartError(
            f"{who}: frame_unit is {show(unit)}, but must be one of {', '.join(UNITS)}.",
            code="content",
        )
    return UNITS[unit]


def _numbers(frame: Frame, key: str, who: str) -> Floats:
    if key not in frame:
        raise PartError(f"{who}: it has no {key}, without which there is no sheet.", code="content")
    out: Floats = check_argument(who, key, frame[key], real)
    if not np.isfinite(out).all():
        raise PartError(f"{who}: {key} must be finite numbers.", code="content")
    return out


def _edges(frame: Frame, corners: int, who: str) -> list[tuple[int, int]]:
    """The edges, by the numbers of the corners at their ends."""
    if "edges_vertices" not in frame:
        return []
    ends = _numbers(frame, "edges_vertices", who)
    if not ends.size:
        return []
    pairs = ends.ndim == 2 and ends.shape[1] == 2 and not (ends % 1.0).any()
    if not pairs or ((ends < 0) | (ends >= corners)).any():
        raise PartError(
            f"{who}: edges_vertices must be pairs of corners, 0 to {corners - 1}.", code="content"
        )
    return [(int(a), int(b)) for a, b in ends]


def _angles(
    frame: Frame, edges: Sequence[tuple[int, int]], faces: Sequence[Sequence[int]], who: str
) -> dict[tuple[int, int], float] | None:
    """The fold angles [rad] of the edges between two faces; None where the file has none."""
    given = frame.get("edges_foldAngle")
    if given is None:
        return None
    if not isinstance(given, list) or len(given) != len(edges):
        raise PartError(
            f"{who}: edges_foldAngle must have a number for each of {len(edges)} edges.",
            code="content",
        )
    sides = Counter(frozenset(edge) for face in faces for edge in edges_of(face))
    out = {}
    for edge, angle in zip(edges, given, strict=True):
        if sides[frozenset(edge)] == 2 and angle is not None:
            if isinstance(angle, bool) or not isinstance(angle, (int, float)):
                raise PartError(
                    f"{who}: the fold angle of edge {edge} is {show(angle)}, no number.",
                    code="content",
                )
            degrees = check_argument(who, f"the fold angle of edge {edge}", angle, number)
            out[edge] = math.radians(degrees)
    return out


def _angles_that_hold(
    angles: Mapping[tuple[int, int], float],
    points: Floats,
    faces: Sequence[Sequence[int]],
    who: str,
) -> dict[tuple[int, int], float]:
    """The inherited angles [rad] that still agree with the corners after their motion."""
    polygons = [points[list(face)] for face in faces]
    now = {
        frozenset(seam.corners): angle_at(seam, polygons, axis_of(seam, points))
        for seam in seams_of(faces, who)
    }
    return {
        edge: angle
        for edge, angle in angles.items()
        if frozenset(edge) in now
        and abs(math.remainder(angle - now[frozenset(edge)], 2.0 * math.pi)) <= SAME_ANGLE
    }


def _faces_drawn(points: Floats, edges: Sequence[tuple[int, int]], who: str) -> list[list[int]]:
    """The inner faces of a plane drawing, counterclockwise: at each corner continue along the next
    edge clockwise from that of arrival."""
    if not edges or np.ptp(points[:, 2]) > 0.0:
        raise PartError(
            f"{who}: it has no faces_vertices, and they can be told from the edges of a plane "
            "drawing only.",
            code="content",
        )
    ways = [way for a, b in edges for way in ((a, b), (b, a))]
    around: dict[int, list[int]] = {}
    for a, b in ways:
        around.setdefault(a, []).append(b)
    for a, others in around.items():
        others.sort(key=lambda b: math.atan2(*(points[b] - points[a])[1::-1]))
    waiting, faces = dict.fromkeys(ways), []
    while waiting:
        face, (a, b) = [], next(iter(waiting))
        while (a, b) in waiting:
            del waiting[a, b]
            face.append(a)
            others = around[b]
            a, b = b, others[others.index(a) - 1]
        if normal_of(points[face])[2] > 0.0:
            faces.append(face)
    return faces


# --- writing --------------------------------------------------------------------------------------
def write_fold(what: Trajectory | Multibody, path: FilePath, frames: int = 61) -> None:
    """Write the panels of a run as a FOLD file, in a number of frames at regular times, the first
    of which is the key frame; or those of a system in its initial state, in one.

    Panels are bodies that are boxes or prisms, represented by their outlines at the height of their
    creases; corners that a hinge connects are merged. Other bodies are left out. Fold angles lie
    within 180 degrees, as the format requires: panels that have passed through each other are read
    back as folded the other way. The time of a frame [s] is its key "quirkpy:time"."""
    who = "write_fold"
    if not isinstance(what, (Trajectory, Multibody)):
        raise PartError(f"{who}: this is {show(what)}, but must be a run or a system.")
    if isinstance(frames, bool) or not isinstance(frames, int) or frames < 1:
        raise PartError(f"{who}: frames is {show(frames)}, but must be a whole number above 0.")
    place = ending_of(path, who, (".fold",))
    if isinstance(what, Trajectory):
        states = [what.at(t) for t in np.linspace(what.t[0], what.t[-1], frames)]
        sheet = _sheet_of(what.system, who)
    else:
        states, sheet = [what.initial], _sheet_of(what, who)
    head = {
        "file_spec": 1.2, "file_creator": "quirkpy",
        "file_classes": ["animation" if len(states) > 1 else "singleModel"],
        "frame_classes": ["foldedForm"], "frame_attributes": ["3D"], "frame_unit": "m",
        "faces_vertices": sheet.faces, "edges_vertices": [list(edge) for edge in sheet.edges],
    }  # fmt: skip
    first, *others = [_write_frame(sheet, state) for state in states]
    signs = [
        "B" if one is None else "F" if abs(angle) < math.degrees(UNFOLDED) else "VM"[angle < 0.0]
        for one, angle in zip(sheet.hinges, first["edges_foldAngle"], strict=True)
    ]
    inherits = {"frame_classes": ["foldedForm"], "frame_parent": 0, "frame_inherit": True}
    document = head | first | {"edges_assignment": signs}
    if others:
        document["file_frames"] = [inherits | frame for frame in others]
    write_text(place, json.dumps(document, allow_nan=False) + "\n", who)


class Panels(NamedTuple):
    """Panels; their outlines in body axes (n, 3) [m]; faces by the numbers of their corners; edges;
    the two faces of each edge and the hinge between them, None at a border."""

    panels: tuple[Body, ...]
    outlines: tuple[Floats, ...]
    faces: list[list[int]]
    edges: list[tuple[int, int]]
    hinges: list[tuple[int, int, str | None] | None]


def _sheet_of(system: System, who: str) -> Panels:
    found = [
        (part, outline)
        for part in system.parts
        if isinstance(part, Body) and (outline := outline_of(part)) is not None
    ]
    if not found:
        raise PartError(f"{who}: no body of this system is a panel, a box or a prism.")
    panels, middles = zip(*found, strict=True)
    outlines = _in_plane_of_creases(system, panels, middles, who)
    faces = _faces_of(system, panels, outlines)
    names = _hinge_names(system, panels)
    owners: dict[tuple[int, int], list[int]] = {}
    for k, face in enumerate(faces):
        for a, b in edges_of(face):
            owners.setdefault((min(a, b), max(a, b)), []).append(k)
    hinges = [
        (faces_of[0], faces_of[1], names.get((faces_of[0], faces_of[1])))
        if len(faces_of) == 2
        else None
        for faces_of in owners.values()
    ]
    return Panels(panels, outlines, faces, list(owners), hinges)


def outline_of(body: Body) -> Floats | None:
    """The middle surface of a plate in body axes (n, 3) [m], counterclockwise about its thickness;
    None for bodies other than boxes and prisms."""
    if isinstance(body.shape, Box):
        size = np.array(body.shape.size)
        thin = int(size.argmin()) if size[2] > size.min() else 2
        a, b = (thin + 1) % 3, (thin + 2) % 3
        out = np.zeros((4, 3))
        out[:, a] = 0.5 * size[a] * np.array([-1.0, 1.0, 1.0, -1.0])
        out[:, b] = 0.5 * size[b] * np.array([-1.0, -1.0, 1.0, 1.0])
        return out
    if not isinstance(body.shape, Mesh) or len(body.shape.points) % 2:
        return None
    below, above = np.split(body.shape.points, 2)
    across = above - below
    if abs(across - across[0]).max() > SAME_CORNER * body.shape.reach:
        return None
    middle = 0.5 * (below + above)
    return middle if normal_of(middle) @ across[0] > 0.0 else middle[::-1]


def _hinges_between(system: System, panels: Sequence[Body]) -> list[tuple[Revolute, int, int]]:
    """Hinges between panels, with the numbers of these."""
    number_of = {panel.name: k for k, panel in enumerate(panels)}
    return [
        (part, number_of[part.sites[0].body.name], number_of[part.sites[1].body.name])
        for part in system.parts
        if isinstance(part, Revolute) and {s.body.name for s in part.sites} <= number_of.keys()
    ]


def _in_plane_of_creases(
    system: System, panels: Sequence[Body], middles: Sequence[Floats], who: str
) -> tuple[Floats, ...]:
    """The outlines of panels at the height of their creases, which the format knows alone."""
    heights: list[list[float]] = [[] for _ in panels]
    for hinge, *both in _hinges_between(system, panels):
        for k, site in zip(both, hinge.sites, strict=True):
            normal = normal_of(middles[k])
            heights[k].append(float((np.array(site.at) - middles[k][0]) @ normal))
    out = []
    for panel, middle, levels in zip(panels, middles, heights, strict=True):
        level = levels[0] if levels else 0.0
        if levels and np.ptp(levels) > SAME_CORNER * abs(middle).max():
            raise PartError(
                f"{who}: creases of {panel.name!r} lie at different heights, which FOLD files do "
                "not know; make the sheet with hinges in the middle."
            )
        out.append(middle + level * normal_of(middle))
    return tuple(out)


def _hinge_names(system: System, panels: Sequence[Body]) -> dict[tuple[int, int], str]:
    """The hinge between two panels, in the order of the panels."""
    return {
        (min(one, two), max(one, two)): h.name for h, one, two in _hinges_between(system, panels)
    }


def _faces_of(
    system: System, panels: Sequence[Body], outlines: Sequence[Floats]
) -> list[list[int]]:
    """Numbers of corners, merged where they lie on a hinge's axis."""
    starts = np.cumsum([0, *map(len, outlines)])
    same = np.arange(starts[-1])
    for hinge, one, two in _hinges_between(system, panels):
        seen = [
            (outlines[k] - np.array(site.at)) @ site.axes
            for k, site in zip((one, two), hinge.sites, strict=True)
        ]
        near = SAME_CORNER * max(abs(points).max() for points in seen)
        on_line = [np.flatnonzero(abs(points[:, :2]).max(axis=1) <= near) for points in seen]
        for a in on_line[0]:
            for b in on_line[1]:
                if abs(seen[0][a, 2] - seen[1][b, 2]) <= near:
                    merged = same[[starts[one] + a, starts[two] + b]]
                    same[np.isin(same, merged)] = merged.min()
    _, corner = np.unique(same, return_inverse=True)
    return [corner[first:last].tolist() for first, last in pairwise(starts)]


def _write_frame(sheet: Panels, state: State) -> dict[str, Any]:
    """Corners and fold angles of a state."""
    placed = [
        _place(panel, outline, state)
        for panel, outline in zip(sheet.panels, sheet.outlines, strict=True)
    ]
    corners = np.zeros((1 + max(map(max, sheet.faces)), 3))
    for face, points in zip(sheet.faces, placed, strict=True):
        corners[face] = points
    angles = [
        _fold_angle(edge, hinge, sheet.faces, placed, state)
        for edge, hinge in zip(sheet.edges, sheet.hinges, strict=True)
    ]
    return {
        "quirkpy:time": state.t,
        "vertices_coords": corners.tolist(),
        "edges_foldAngle": [math.degrees(angle) for angle in angles],
    }


def _place(panel: Body, outline: Floats, state: State) -> Floats:
    """The corners of a panel in N (n, 3) [m]."""
    if panel.name in state.bodies:
        at = state[panel.name]
        return np.asarray(at.position + outline @ quat.matrix(at.orientation).T)
    return np.asarray(panel.position + outline @ panel.matrix.T)


def _fold_angle(
    edge: tuple[int, int],
    hinge: tuple[int, int, str | None] | None,
    faces: Sequence[Sequence[int]],
    placed: Sequence[Floats],
    state: State,
) -> float:
    """The fold angle at an edge [rad], positive at a valley; for panels folded shut, the hinge
    gives the sense."""
    if hinge is None:
        return 0.0
    one, two, name = hinge
    first = list(edges_of(faces[one]))
    start, end = edge if edge in first else edge[::-1]
    at = [placed[one][list(faces[one]).index(corner)] for corner in (start, end)]
    axis = (at[0] - at[1]) / np.linalg.norm(at[0] - at[1])
    angle = angle_at(Seam((start, end), (one, two)), placed, axis)
    if name is not None and abs(angle) > math.pi - UNFOLDED:
        return math.copysign(angle, state[name].angle)
    return angle
