"""A run as plain arrays, to be shown in another process or by another program."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from quirkpy.maths.rotations import rotate
from quirkpy.maths.triples import Triple
from quirkpy.maths.types import Floats
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.motion.frames import moments, time_on_screen
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.body import Body
from quirkpy.parts.shapes import Box, Cylinder, Mesh, Shape
from quirkpy.views.curves import sheet_of
from quirkpy.views.movie import Scenes, traces
from quirkpy.views.solids import Solid
from quirkpy.views.stage import ARROW, Sight, Stage, extent_of
from quirkpy.views.stills import colour_of

#: Frames per second of viewing time, and largest number of frames.
RATE, MOST = 30.0, 3000
AXES = {"x": (0, 1), "y": (1, 2), "z": (2, 0)}
ARRAYS = (
    "times",
    "centres",
    "along",
    "up",
    "axles",
    "marks",
    "pushes",
    "ways",
    "energy_t",
    "energy",
)


class Film(NamedTuple):
    """The data shown in a window.

    solids: for each body its name, kind ("box", "cylinder", "sphere"), size [m] along `along`, `up`
    and the third axis, colour, and whether it is fixed. times (k,) [s]. centres, along, up (k, n,
    3): position of each solid, and two directions of it. axles (k, m, 2, 3): the ends of the axes
    of joints; marks (k, s, 3, 3): centre, normal and one edge of each sensor; pushes (k, f, 2, 3):
    point of application of each force and its arrow; nan while they do not exist. ways (p, nb, 3):
    paths of the moving mass centres. energy (j, c) at times energy_t (j,), in `unit`, with the
    names of its columns. size [m]: of a typical body; speed: relative to real time."""

    solids: tuple[dict[str, Any], ...]
    times: Floats
    centres: Floats
    along: Floats
    up: Floats
    axles: Floats
    marks: Floats
    pushes: Floats
    ways: Floats
    energy_t: Floats
    energy: Floats
    columns: tuple[str, ...]
    unit: str
    size: float
    speed: float
    title: str

    def pack(self) -> bytes:
        """The film as an archive of arrays."""
        out = io.BytesIO()
        rest = {name: value for name, value in self._asdict().items() if name not in ARRAYS}
        np.savez_compressed(
            out, about=np.array(json.dumps(rest)), **{name: getattr(self, name) for name in ARRAYS}
        )
        return out.getvalue()

    @classmethod
    def unpack(cls, data: bytes) -> Film:
        """The film from the bytes of `pack`."""
        with np.load(io.BytesIO(data)) as archive:
            rest = json.loads(str(archive["about"]))
            rest |= {"solids": tuple(rest["solids"]), "columns": tuple(rest["columns"])}
            return cls(**{name: archive[name] for name in ARRAYS}, **rest)


def film_of(run: Trajectory, speed: float, forces: bool, title: str = "quirkpy") -> Film:
    """A run, with the frames of its viewing time; the clock is stopped while the run waits."""
    scenes = Scenes.of(run)
    span = float(np.diff(time_on_screen(run.t[[0, -1]], run.waits))[0])
    times = moments(run, int(np.clip(span / speed * RATE, 1, MOST)) + 1)
    sights = [scenes.sight(run, float(t), forces) for t in times]
    panel = sheet_of(run, ["energy"]).panels[0]
    energy = np.stack([line.values for line in panel.lines], axis=1)
    ledger = (
        time_on_screen(panel.x, run.waits),
        energy,
        tuple(line.name for line in panel.lines),
        panel.y_label.partition("[")[2].rstrip("]"),
    )
    watched = time_on_screen(times, run.waits)
    return _film(scenes.stages[0], watched, sights, traces(run), ledger, speed, title)


def still_of(system: System, state: State, forces: bool, title: str = "quirkpy") -> Film:
    """A system in one state."""
    stage = Stage(system)
    nothing = np.zeros(0), np.zeros((0, 0)), (), "J"
    sight = stage.at(state, forces)
    return _film(stage, np.array([state.t]), [sight], np.zeros((0, 0, 3)), nothing, 1.0, title)


def _film(
    stage: Stage,
    times: Floats,
    sights: Sequence[Sight],
    ways: Floats,
    ledger: tuple[Any, ...],
    speed: float,
    title: str,
) -> Film:
    described = tuple(map(describe, stage.drawn, sights[0].solids))
    along, up = directions([one["axis"] for one in described], sights)
    centres = np.array([[solid.r for solid in sight.solids] for sight in sights])
    axles, marks = axles_of(sights), marks_of(sights)
    pushes = pushes_of(sights, ARROW * stage.size)
    t, energy, columns, unit = ledger
    return Film(
        described, times, centres, along, up, axles, marks, pushes, ways, t, energy, columns, unit,
        stage.size, speed, title,
    )  # fmt: skip


def directions(axes: Sequence[str], sights: Sequence[Sight]) -> tuple[Floats, Floats]:
    """Two directions of each solid in each frame (k, n, 3): along its axis, and along the next
    one."""
    rows = np.array([AXES[axis] for axis in axes]).reshape(-1, 2)
    q = np.array([[solid.q for solid in sight.solids] for sight in sights])
    along, up = (
        rotate(q, np.broadcast_to(np.eye(3)[rows[:, k]], (*q.shape[:2], 3))) for k in (0, 1)
    )
    return along, up


def axles_of(sights: Sequence[Sight]) -> Floats:
    """The ends of the axes of joints in each frame (k, m, 2, 3)."""
    return union([{(a.joint, k): a.ends for k, a in enumerate(s.axles)} for s in sights], 2)


def marks_of(sights: Sequence[Sight]) -> Floats:
    """Centre, normal and one edge of each sensor in each frame (k, s, 3, 3)."""
    return union(
        [
            {
                m.sensor: np.array(
                    [m.corners.mean(axis=0), m.outwards, m.corners[1] - m.corners[0]]
                )
                for m in sight.marks
            }
            for sight in sights
        ],
        3,
    )


def pushes_of(sights: Sequence[Sight], longest: float) -> Floats:
    """Point of application and arrow of each force in each frame (k, f, 2, 3); the arrow of the
    largest one has the given length [m]."""
    sizes = (float(np.linalg.norm(p.force)) for sight in sights for p in sight.pushes)
    metres = longest / (max(sizes, default=0.0) or 1.0)
    found = [
        {(p.source, p.body): np.array([p.at, metres * p.force]) for p in sight.pushes}
        for sight in sights
    ]
    return union(found, 2)


def union(found: Sequence[dict[Any, Floats]], rows: int) -> Floats:
    """Named objects in each frame as one array (k, n, rows, 3); nan where a frame lacks a name."""
    names = list(dict.fromkeys(name for frame in found for name in frame))
    out = np.full((len(found), len(names), rows, 3), np.nan)
    for k, frame in enumerate(found):
        for name, value in frame.items():
            out[k, names.index(name)] = value
    return out


def describe(body: Body, solid: Solid) -> dict[str, Any]:
    """A solid of a body as plain values."""
    kind, across, axis = hull_of(solid.shape)
    colour = list(rgb_of(colour_of(body, solid.number)))
    return {
        "name": body.name,
        "kind": kind,
        "size": across,
        "axis": axis,
        "colour": colour,
        "fixed": solid.number == 0,
    }


def hull_of(shape: Shape | None) -> tuple[str, list[float], str]:
    """The simple shape that represents a shape: its kind, its three sizes [m], the first of them
    along its axis, and this axis."""
    if isinstance(shape, Box):
        return "box", list(shape.size), "x"
    if isinstance(shape, Mesh):  # the smallest box around the mass centre that contains it
        return "box", (2.0 * abs(shape.points).max(axis=0)).tolist(), "x"
    if isinstance(shape, Cylinder):
        return "cylinder", [shape.length, 2.0 * shape.radius, 2.0 * shape.radius], shape.axis
    return "sphere", [extent_of(shape)] * 3, "x"


def rgb_of(colour: str | Iterable[float]) -> Triple:
    """A colour as three numbers from 0 to 1; names are those of matplotlib, and grey if that is
    missing."""
    if not isinstance(colour, str):
        r, g, b = (float(c) for c in colour)
        return r, g, b
    if len(colour) == 7 and colour.startswith("#"):
        r, g, b = (int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5))
        return r, g, b
    try:
        from matplotlib.colors import to_rgb
    except ImportError:
        return 0.6, 0.6, 0.6
    r, g, b = to_rgb(colour)
    return r, g, b
