"""One HTML file that shows a run or a study: it needs no network, no server and no other files."""

from __future__ import annotations

import dataclasses
import html
import json
import os
import re
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from quirkpy.explore.answers.replay import Replay
from quirkpy.maths.quat import to_array
from quirkpy.maths.types import Floats, Ints
from quirkpy.mechanics.system import System
from quirkpy.motion.frames import TENSION, Frames, frames_of
from quirkpy.motion.joined import JoinedTrajectory
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.body import Body
from quirkpy.parts.files import check_writable, path_of, write_text
from quirkpy.parts.part import PartError
from quirkpy.parts.shapes import Shape
from quirkpy.views.emblems import Emblem, emblems_of_run
from quirkpy.views.keyframes import keyframes, pack
from quirkpy.views.solids import SHARP, Surface, mesh_of
from quirkpy.views.stage import Stage, factor_of
from quirkpy.views.stills import colour_of

#: Allowed errors of poses in a page, as a share of the largest body, and of angles [rad].
LENGTH, ANGLE = 4e-3, 4e-3
#: Largest number of keyframes of one motion; where that is not enough, errors are larger, and the
#: page states them.
MOST = 3000
#: A plain run has no further ledger.
NOTHING_ELSE: Mapping[str, Floats] = {}
#: Largest number of events of a run that are listed.
EVENTS = 200
#: The sources of the page, in this order.
SCRIPTS = (
    "motion.js",
    "canvas.js",
    "camera.js",
    "scene.js",
    "chart.js",
    "player.js",
    "graph.js",
    "plans.js",
    "panels.js",
    "study.js",
    "run.js",
    "live.js",
    "begin.js",
)
#: What stands for a body that is drawn in pieces: a mesh of one point, and its key.
NOWHERE = object()
DOT = {"corners": [[0.0, 0.0, 0.0]], "triangles": [], "edges": []}
#: Colour names that every browser knows.
COLOUR = re.compile(r"#[0-9a-fA-F]{6}|[a-z]{3,20}")


# --- what is shown --------------------------------------------------------------------------------
def bodies_of(system: System, emblems: Iterable[Emblem] = (), bent: bool = False) -> dict[str, Any]:
    """Bodies and their meshes; a moving one with its row, a fixed one with its pose; and the
    emblems on them; bent: bodies that bend as straight pieces, whose poses follow behind those of
    the bodies."""
    meshes: dict[Any, int] = {}
    bodies = []
    stage = Stage(system)
    for number, body in enumerate(stage.bodies):
        row = None if body.fixed else number
        bodies.append({
            "name": body.label or body.name, "mesh": meshes.setdefault(body.shape, len(meshes)),
            "row": row, "r": list(body.position), "q": to_array(body.orientation).tolist(),
            "colour": colour_text(body, row),
        })  # fmt: skip
    row = len(system.tables.bodies)
    for line in stage.lines if bent else ():
        whole = bodies[line.row]
        for k, shape in enumerate(line.shapes):
            named = whole["name"] if k == len(line.shapes) // 2 else ""
            mesh = meshes.setdefault(shape, len(meshes))
            bodies.append(whole | {"name": named, "mesh": mesh, "row": row})
            row += 1
        bodies[line.row] = whole | {"name": "", "mesh": meshes.setdefault(NOWHERE, len(meshes))}
    rows = {body.name: k for k, body in enumerate(Stage(system).bodies)}
    return {
        "bodies": bodies,
        "meshes": [DOT if shape is NOWHERE else _plain(mesh_of(shape)) for shape in meshes],
        "emblems": [
            {
                "body": rows.get(emblem.body.name),  # None: the ground
                "mesh": {
                    "corners": round_numbers(emblem.corners), "triangles": emblem.triangles,
                    "edges": emblem.edges,
                },
                "colour": emblem.colour, "covers": emblem.covers, "line": emblem.line,
            }
            for emblem in emblems
        ],
        "ties": ties_of(system),
    }  # fmt: skip


def ties_of(system: System) -> list[list[Any]]:
    """Both ends of every spring, rope and bar: the row of a body, None for what is fixed, and a
    point in its axes, from its mass centre [m]; then the name of the curve of its tension, None
    where it is no string."""
    t = system.tables
    rows = [None if row == len(t.bodies) else int(row) for row in t.site_body]
    tied = list(Stage(system).tied())
    points = round_numbers(t.site_point) if tied else []
    return [
        [*([rows[s], points[s]] for s in one.sites), one.part + TENSION if one.rope else None]
        for one in tied
    ]


def _plain(mesh: Surface) -> dict[str, Any]:
    return {
        "corners": round_numbers(mesh.points), "triangles": mesh.triangles.tolist(),
        "edges": sharp_edges(mesh).tolist(),
    }  # fmt: skip


def sharp_edges(mesh: Surface) -> Ints:
    """The edges of a mesh at which its surface bends by more than SHARP, as pairs of points (e,
    2)."""
    _, same = np.unique(np.round(mesh.points, 12), axis=0, return_inverse=True)
    a, b, c = (mesh.points[mesh.triangles[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    sides: dict[tuple[int, ...], list[Any]] = {}
    for triangle, normal in zip(mesh.triangles, normals, strict=True):
        for k in range(3):
            pair = triangle[k], triangle[k - 1]
            sides.setdefault(tuple(sorted(int(same.ravel()[i]) for i in pair)), [pair]).append(
                normal
            )
    found = [
        pair for pair, *both in sides.values() if len(both) < 2 or both[0] @ both[1] < np.cos(SHARP)
    ]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def colour_text(body: Body, row: int | None) -> str:
    """The colour of a body in a page; one that a browser might not know is replaced."""
    number = 0 if row is None else 1 + row
    given = colour_of(body, number)
    if not isinstance(given, str):
        return "#" + "".join(f"{round(255 * c):02x}" for c in given)
    return (
        given
        if COLOUR.fullmatch(given)
        else str(colour_of(dataclasses.replace(body, color=None), number))
    )


def reach_of(shape: Shape | None) -> float:
    """The largest distance of a shape from the mass centre [m]."""
    return float(np.linalg.norm(mesh_of(shape).points, axis=1).max())


def tolerances_of(parts: Iterable[Any]) -> tuple[float, float]:
    """Allowed errors of poses in a page: [m], [rad]."""
    return LENGTH * max(
        (reach_of(part.shape) for part in parts if isinstance(part, Body)), default=1.0
    ), ANGLE


def motion_of(
    frames: Frames,
    tolerances: tuple[float, float],
    most: int = MOST,
    ledger: Mapping[str, Floats] = NOTHING_ELSE,
) -> dict[str, Any]:
    """A motion in the form of the page, with energies [J], those of a further ledger, and the
    coordinates of joints."""
    curves = {"kinetic": frames.kinetic, "potential": frames.potential}
    given = {"put in by loads": frames.work, "taken out by dampers": frames.dissipated, **ledger}
    curves |= {name: curve for name, curve in given.items() if abs(curve).max(initial=0.0) > 0.0}
    named = {f"{name} [J]": curve for name, curve in curves.items()} | frames.joints
    return pack(keyframes(frames.t, frames.r, frames.q, named, *tolerances, most))


def run_page(run: Trajectory, frames: Frames) -> dict[str, Any]:
    """All data of the page of a run."""
    system = run.system
    return bodies_of(system, emblems_of_run(system), bent=True) | {
        "kind": "run", "title": "A run of " + join_names(system.parts),
        "words": repr(run), "stop": str(run.stop), "events": list_events(run)[:EVENTS],
        "motion": motion_of(frames, tolerances_of(system.parts), MOST, switching_of(run, frames)),
    }  # fmt: skip


def save_run(path: Any, run: Trajectory, exaggerate: float = 1.0) -> None:
    """Write the page of a run; exaggerate: factor of all bending."""
    check(path)
    factor = factor_of("report", exaggerate)
    frames = frames_of(run.pieces, *tolerances_of(run.system.parts), factor)
    save(path, run_page(run, frames), repr(run))


def list_events(run: Trajectory) -> list[dict[str, Any]]:
    """The events of a run, and the switches of a replay, in the order of time."""
    events = [{"t": e.t, "words": ", ".join((e.name, *e.sensors, *e.joints))} for e in run.events]
    if isinstance(run, Replay):
        for leg in run.legs:
            words = f"{leg.edge.source} \u2192 {leg.edge.target}: {leg.edge.selection}"
            events.append({"t": leg.t, "words": words})
    return sorted(events, key=lambda event: float(event["t"]))


def switching_of(run: Trajectory, frames: Frames) -> dict[str, Floats]:
    """The energy lost as joints became active, and the work of switching, at every frame [J]
    (k,)."""
    later = (
        np.searchsorted(frames.t, frames.t, side="right") - 1 - np.arange(len(frames.t))
    )  # at one time
    rows = np.searchsorted(run.t, frames.t, side="right") - 1 - later
    more = {"taken by joints": run.lost[rows]}
    if isinstance(run, JoinedTrajectory):
        return {"put in by switching": run.switched[rows]} | more
    return more


def join_names(parts: Iterable[Any], most: int = 6) -> str:
    """The names of some bodies."""
    names = [part.label or part.name for part in parts if isinstance(part, Body)]
    return ", ".join(names[:most]) + " ..." * (len(names) > most)


def round_numbers(array: Floats, digits: int = 6) -> Any:
    """Numbers rounded to some digits, as lists."""
    return [
        [float(f"{x:.{digits}g}") for x in row]
        for row in np.asarray(array, dtype=float).reshape(len(array), -1)
    ]


# --- the file -------------------------------------------------------------------------------------
def check(path: Any, side: Any = None) -> None:
    """Refuse, before any work is done, files that could not be written."""
    page_file = path_of(path, "report")
    if page_file.suffix not in (".html", ".htm"):
        raise PartError(
            f"report: {page_file.name!r} must end in .html, for it is a page.", code="file"
        )
    check_writable(page_file, "report")
    if side is not None:
        beside_it = path_of(side, "report")
        if beside_it.suffix != ".js":
            raise PartError(
                f"report: side= is {beside_it.name!r}, but must end in .js, for it is read as a "
                "script.",
                code="file",
            )
        check_writable(beside_it, "report")


def side_file(path: Any, side: Any) -> str | None:
    """The name of the side file in the page."""
    if side is None:
        return None
    return Path(os.path.relpath(Path(side).resolve(), Path(path).resolve().parent)).as_posix()


def save(path: Any, data: dict[str, Any], words: str) -> None:
    """Write a page; words: a text version for readers without scripts."""
    check(path)
    write_text(path, page(data, words), "report")


def page(data: dict[str, Any], words: str) -> str:
    """The page as text; one that is "live" may ask the server that it comes from."""
    folder = files("quirkpy.views") / "page"
    whole = (folder / "page.html").read_text(encoding="utf-8")
    scripts = "\n".join((folder / name).read_text(encoding="utf-8") for name in SCRIPTS)
    pieces = {
        "TITLE": html.escape(data["title"]), "WORDS": html.escape(words), "DATA": as_script(data),
        "STYLE": (folder / "style.css").read_text(encoding="utf-8"),
        "ASK": "'self'" if data.get("live") else "'none'",
        "SCRIPTS": f'(() => {{\n"use strict";\n{scripts}\n}})();',
    }  # fmt: skip
    return re.sub(r"\{\{([A-Z]+)\}\}", lambda found: pieces[found[1]], whole)


def as_script(data: Any) -> str:
    """JSON that may be embedded in a page: it contains no end of a script and no comment."""
    text = json.dumps(finite(data), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def finite(value: Any) -> Any:
    """A value with None for numbers that JSON does not have."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
