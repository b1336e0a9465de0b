"""The potential energy over the position of one body, and the path of a run across it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from quirkpy.kernels.base.states import positions_of
from quirkpy.maths.types import Floats
from quirkpy.mechanics.state import State
from quirkpy.motion.joined import JoinedTrajectory
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.part import PartError
from quirkpy.views.curves import prefix_unit, readable
from quirkpy.views.drawing import INK, LINES, Drawing, blank, style
from quirkpy.views.solids import across, visible_patches
from quirkpy.views.stage import Stage, extent_of
from quirkpy.views.stills import Look, colour_of, paint_pieces

#: Points along each side of the map; its extent beyond the path, as a share of the path's extent;
#: number of contours.
GRID, BEYOND, CONTOURS = 49, 0.4, 14


class Landscape(NamedTuple):
    """axes: the two of N that span the map; x (m,), y (n,) [m]; energy (n, m) [J] with the centre
    of the body there, and all else as at the start; way (k, 3): x, y [m] and potential energy [J]
    along the run."""

    body: str
    axes: tuple[int, int]
    x: Floats
    y: Floats
    energy: Floats
    way: Floats


def landscape_of(run: Trajectory, body: str | None = None) -> Landscape:
    """The map of a run; it spans the two axes along which the body's path is longest."""
    if isinstance(run, JoinedTrajectory):
        raise PartError(
            "landscape: what acts, and so its potential, changes on the way; ask one of its "
            "pieces, run.pieces[0][1].",
            code="together",
        )
    name = body_to_vary(run.start.bodies, body)
    k, fine = run.start.bodies.index(name), readable(run)
    r = positions_of(fine.course.states)[:, k]
    spans = np.ptp(r, axis=0)
    i, j = sorted(sorted(range(3), key=lambda axis: (-spans[axis], axis))[:2])
    size = extent_of(run.system.tables.bodies[k].shape)
    x, y = (_stretch(r[:, axis], size) for axis in (i, j))
    place = run.start.r.copy()
    place[k] = r.mean(axis=0)
    energy = np.empty((GRID, GRID))
    for row, column in np.ndindex(GRID, GRID):
        place[k, [i, j]] = x[column], y[row]
        energy[row, column] = potential_at(run, place)
    way = np.stack([r[:, i], r[:, j], fine.potential], axis=1)
    return Landscape(name, (i, j), x, y, energy, way)


def body_to_vary(bodies: Sequence[str], body: str | None) -> str:
    """The body whose position is varied: the named one, or the only one."""
    if body not in bodies and (body is not None or len(bodies) != 1):
        raise PartError(
            f"landscape: body is {body!r}, but must be one of {', '.join(map(repr, bodies))}."
        )
    return bodies[0] if body is None else body


def potential_at(run: Trajectory, places: Floats) -> float:
    """The potential energy [J] with bodies at given positions (n, 3), and all else as at the
    start."""
    there = dataclasses.replace(run.start, r=places.copy(), held=(), merged=None, step=None)
    return float(there.instant(run.system.selection).loads.potential.sum())


def _stretch(values: Floats, size: float) -> Floats:
    """Evenly spaced positions that extend beyond some values, and beyond a body there."""
    wider = BEYOND * float(np.ptp(values)) + size
    return np.linspace(values.min() - wider, values.max() + wider, GRID)


# --- the painter ----------------------------------------------------------------------------------
def draw(run: Trajectory, body: str | None = None) -> Drawing:
    """A map of the energy over positions of a body; see `Trajectory.landscape`."""
    land = landscape_of(run, body)
    with style("landscape"):
        figure = blank(9.6, 3.9)
        relief = figure.add_axes((0.0, 0.04, 0.44, 0.94), projection="3d", computed_zorder=False)
        chart = figure.add_axes((0.54, 0.13, 0.34, 0.8))
        _relief(relief, land)
        _map(figure, chart, land, run)
    return Drawing(figure)


def _relief(axes: Any, land: Landscape) -> None:
    """The energy as a surface, with the path on it."""
    factor, unit = prefix_unit("J", land.energy)
    x, y = np.meshgrid(land.x, land.y)
    axes.plot_surface(
        x,
        y,
        land.energy / factor,
        cmap="cividis",
        rcount=GRID,
        ccount=GRID,
        linewidth=0.0,
        alpha=0.92,
        zorder=1,
    )
    _way_above(axes, land, factor)
    _name_axes(axes, land)
    axes.set_zlabel(f"potential energy [{unit}]", labelpad=4)
    axes.view_init(38, -62)
    axes.locator_params(nbins=5)
    axes.set_box_aspect((1.0, float(np.ptp(land.y) / np.ptp(land.x)), 0.75), zoom=0.92)


def _way_above(axes: Any, land: Landscape, factor: float) -> None:
    """The path of the run and its two ends just above the surface, with energies divided by a
    factor."""
    lift = 0.004 * float(np.ptp(land.energy)) / factor
    axes.plot(
        land.way[:, 0],
        land.way[:, 1],
        land.way[:, 2] / factor + lift,
        color=LINES[1],
        linewidth=2.0,
        zorder=3,
    )
    for k, filled in ((0, "white"), (-1, LINES[1])):
        at = land.way[k]
        axes.plot(
            [at[0]],
            [at[1]],
            [at[2] / factor + lift],
            "o",
            color=filled,
            markeredgecolor=LINES[1],
            zorder=4,
        )


def _name_axes(axes: Any, land: Landscape) -> None:
    one, two = ("xyz"[axis] for axis in land.axes)
    axes.set_xlabel(f"{one} of {land.body} [m]")
    axes.set_ylabel(f"{two} of {land.body} [m]")


def _map(figure: Any, axes: Any, land: Landscape, run: Trajectory) -> None:
    """The energy as contours seen from above, with the bodies as they are at the start, and as
    outlines at the end."""
    factor, unit = prefix_unit("J", land.energy)
    filled = axes.contourf(land.x, land.y, land.energy / factor, CONTOURS, cmap="cividis")
    axes.contour(
        land.x, land.y, land.energy / factor, filled.levels, colors="white", linewidths=0.3
    )
    stage = Stage(run.system)
    axes.add_collection(_bodies(stage, run.start, land.axes, outlines=False))
    axes.add_collection(_bodies(stage, run.final, land.axes, outlines=True))
    axes.plot(land.way[:, 0], land.way[:, 1], color=LINES[1], linewidth=2.0)
    axes.plot(*land.way[0, :2], "o", color="white", markeredgecolor=LINES[1], label="start")
    axes.plot(*land.way[-1, :2], "o", color=LINES[1], label="end")
    axes.set_aspect("equal")
    axes.set_xlim(land.x[0], land.x[-1])
    axes.set_ylim(land.y[0], land.y[-1])
    axes.grid(visible=False)
    _name_axes(axes, land)
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.2)
    bar = figure.colorbar(filled, ax=axes, fraction=0.05, pad=0.03)
    bar.set_label(f"potential energy [{unit}]")


def _bodies(stage: Stage, state: State, plane: tuple[int, int], outlines: bool) -> Any:
    """Bodies in a state as one artist, seen across two axes of N; outlines: moving ones only, not
    filled."""
    from matplotlib.colors import to_rgb

    eye = np.cross(*np.eye(3)[list(plane)])
    parts = []
    for solid, body in zip(stage.at(state).solids, stage.drawn, strict=True):
        if solid.number == 0 and outlines:
            continue
        look = (
            Look(None, "white", 1.2, "--")
            if outlines
            else Look((*to_rgb(colour_of(body, solid.number)), 0.9), INK)
        )
        for patch in visible_patches([solid], eye=tuple(eye)):
            parts.append((_onto(patch.corners, eye, *plane), patch.edges, look))
    return paint_pieces(parts)


def _onto(corners: Floats, eye: Floats, i: int, j: int) -> Floats:
    """From picture coordinates, with the view along the third axis, to coordinates i and j of N."""
    _, onto = across(tuple(eye))
    return np.asarray((corners @ onto.T)[:, [i, j]])
