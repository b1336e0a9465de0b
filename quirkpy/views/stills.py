"""Painting of visible objects: every piece after those that it hides."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from quirkpy.maths.types import Floats
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.parts.body import Body
from quirkpy.parts.shapes import Box, Cylinder, Mesh
from quirkpy.views.curves import prefix_unit
from quirkpy.views.dots import DOTS, Ink, paint_dots
from quirkpy.views.drawing import INK, LINES, PALE, Drawing, blank, style
from quirkpy.views.hidden import EDGE_ON, Piece, sort_by_depth
from quirkpy.views.solids import EYE, LIGHT, Solid, across, brightness, pieces_of
from quirkpy.views.stage import ARROW, Sight, Stage, Tie

#: An arrow points at the viewer where the sine of its angle to the view is below this [1].
AT_THE_EYE = 1e-6
#: A round length may exceed its bound by this share, by rounding [1].
ROUND_LENGTH = 1e-12
#: Colours of fixed bodies, then of the moving ones in turn.
COLOURS = ("#b4b9c0", "#e6bd7a", "#86aed6", "#94c9a0", "#dd9a92", "#b7a3d0", "#c9b99b")
#: Colours of axes of joints, sensors, springs, forces and traces.
AXLES, SENSORS, TIES, PUSHES, TRACES = LINES[1], LINES[3], PALE, LINES[0], LINES[2]
#: Dashes of a rope that is slack.
SLACK = (0, (3, 2))
#: Dashes of the hidden parts of arrows of forces, most of which begin within a body.
DOTTED = (0, (1, 1.6))
#: Number of discs that give a ball a round appearance, and the changes of size and lightness from
#: each to the next.
DISCS, SMALLER, LIGHTER = 6, 0.83, 0.12
#: Transparent.
CLEAR = (0.0, 0.0, 0.0, 0.0)
#: Half the width of the head of an arrow, as a share of its length; width and height of a picture
#: [inches].
HEAD, PICTURE_WIDTH, PICTURE_HEIGHT = 0.3, 6.0, 4.5
#: Largest number of pieces painted exactly; more are painted pixel by pixel.
EXACT = 2000
#: With more bodies than this names are omitted.
MOST_NAMES = 14


class Look(NamedTuple):
    """The style of a piece: colour of its interior, of its edges, their width [points] and
    dashes."""

    face: Any
    edge: Any
    width: float = 0.8
    dashes: Any = "-"


class Stroke(NamedTuple):
    """A path of matplotlib, the colours of its interior and of its edge, width [points] and
    dashes."""

    path: Any
    inside: Any
    edge: Any
    width: float
    dashes: Any


class View(NamedTuple):
    """Pieces with their styles, the force of an arrow of full length [N], and pieces drawn over all
    others."""

    pieces: list[Piece]
    looks: list[Look]
    largest: float
    over: tuple[Piece, ...] = ()

    def add(self, found: Iterable[Piece], look: Look) -> None:
        """Add pieces of equal style."""
        self.pieces.extend(piece._replace(number=len(self.looks)) for piece in found)
        self.looks.append(look)


# --- pieces ---------------------------------------------------------------------------------------
def colour_of(body: Body, number: int) -> Any:
    """The colour of a body: its own, or the next default."""
    return (
        body.color
        if body.color is not None
        else COLOURS[number and 1 + (number - 1) % (len(COLOURS) - 1)]
    )


def view_of(
    stage: Stage,
    sight: Sight,
    eye: Sequence[float],
    largest: float | None = None,
    faint: bool = False,
) -> View:
    """All pieces of a sight. faint: moving solids only, as ghosts."""
    towards, _ = across(eye)
    view = View([], [], 0.0)
    for solid, body in zip(sight.solids, stage.drawn, strict=True):
        if solid.number or not faint:
            add_solid(view, solid, body, towards, faint)
    if faint:
        return view
    add_lines(view, sight, towards)
    strongest = max((float(np.linalg.norm(push.force)) for push in sight.pushes), default=0.0)
    scale = strongest if largest is None else largest
    over = add_pushes(view, sight, towards, stage.size, scale) if scale > 0.0 else []
    return view._replace(largest=scale, over=tuple(over))


def add_solid(view: View, solid: Solid, body: Body, towards: Floats, faint: bool) -> None:
    """The visible surface of a solid with lighting; a ball with discs for a round appearance."""
    from matplotlib.colors import to_rgb

    colour = np.array(to_rgb(colour_of(body, solid.number)))
    flat = isinstance(solid.shape, (Box, Cylinder, Mesh))
    opaque, edge = (0.25, PALE) if faint else (1.0, INK)
    pieces = pieces_of(0, solid, towards)
    lights = brightness([piece.corners for piece in pieces]).tolist()
    for piece, lit in zip(pieces, lights, strict=True):
        light = lit if flat else 0.55
        view.add([piece], Look((*(colour * (0.55 + 0.45 * light)), opaque), edge))
        for disc, share in () if flat or faint else discs_of(piece, solid, towards):
            view.add([disc], Look((*(colour * (0.8 - 0.8 * share) + share), 1.0), None))


def add_lines(view: View, sight: Sight, towards: Floats) -> None:
    """Axes of joints, sensors that face the viewer, and springs."""
    from matplotlib.colors import to_rgb

    for axle in sight.axles:
        dashes = (0, (1, 1.2)) if axle.slides else (0, (5, 2))
        view.add([Piece.whole(0, axle.ends)], Look(None, AXLES, 1.5, dashes))
    for mark in sight.marks:
        if mark.outwards @ towards > EDGE_ON:
            view.add([Piece.whole(0, mark.corners)], Look(to_rgb("white"), SENSORS, 1.1))
    largest = max((tie.tension for tie in sight.ties if tie.tension), default=1.0)
    for tie in sight.ties:
        if np.ptp(tie.ends, axis=0).any():
            view.add([Piece.whole(0, tie.ends)], look_of(tie, largest))


def look_of(tie: Tie, largest: float) -> Look:
    """A rope in stronger colour and wider with increasing tension, relative to the largest [N], and
    dashed where it is slack; otherwise a plain line."""
    from matplotlib.colors import to_rgb

    if tie.tension is None:
        return Look(None, TIES, 1.0)
    if tie.tension <= 0.0:
        return Look(None, TIES, 1.0, SLACK)
    share = tie.tension / largest
    pale, full = np.array(to_rgb(TIES)), np.array(to_rgb(PUSHES))
    return Look(None, tuple(pale + (0.25 + 0.75 * share) * (full - pale)), 1.0 + share)


def add_pushes(
    view: View, sight: Sight, towards: Floats, size: float, largest: float
) -> list[Piece]:
    """Arrows of forces, the largest force [N] with the length ARROW times the size [m]; their
    hidden parts shine through."""
    from matplotlib.colors import to_rgb

    over: list[Piece] = []
    for push in sight.pushes:
        vector = push.force * (ARROW * size / largest)
        if np.linalg.norm(vector) > 0.02 * size:
            for piece in arrow(push.at, vector, towards, size):
                face = to_rgb(PUSHES) if len(piece.corners) > 2 else None
                view.add([piece], Look(face, PUSHES, 1.8))
                over.append(piece._replace(number=len(view.looks)))
                view.looks.append(Look(None, PUSHES, 1.1, DOTTED))
    return over


def discs_of(piece: Piece, solid: Solid, towards: Floats) -> list[tuple[Piece, float]]:
    """Successively smaller discs within that of a ball, shifted towards the light."""
    light = np.array(LIGHT) / np.linalg.norm(LIGHT)
    aside = light - (light @ towards) * towards
    radius = float(np.linalg.norm(piece.corners[0] - solid.r))
    out = []
    for k in range(1, DISCS + 1):
        share = SMALLER**k
        corners = (
            solid.r + share * (piece.corners - solid.r) + (1.0 - share) * 0.75 * radius * aside
        )
        out.append((Piece(0, corners, (False,) * len(corners)), LIGHTER * k))
    return out


def arrow(foot: Floats, vector: Floats, towards: Floats, size: float) -> list[Piece]:
    """A line, and a head whose flat side faces the viewer."""
    length = float(np.linalg.norm(vector))
    along, head = vector / length, min(0.14 * size, 0.45 * length)
    side = np.cross(along, towards)
    if np.linalg.norm(side) < AT_THE_EYE:  # it points at the viewer
        side = np.cross(along, (1.0, 0.0, 0.0) if abs(along[0]) < 0.9 else (0.0, 1.0, 0.0))
    side *= 1.4 * HEAD * head / np.linalg.norm(side)
    tip, base = foot + vector, foot + (length - head) * along
    return [
        Piece.whole(0, np.array([foot, base])),
        Piece.whole(0, np.array([base - side, base + side, tip])),
    ]


def trace(points: Floats) -> list[Piece]:
    """A path (k, 3) as short lines."""
    return [
        Piece.whole(0, np.array(pair))
        for pair in itertools.pairwise(points)
        if np.ptp(pair, axis=0).any()
    ]


# --- painting -------------------------------------------------------------------------------------
def add_view(axes: Any, view: View, eye: Sequence[float]) -> tuple[Any, ...]:
    """Paint a view on prepared axes: exactly if its pieces are few, otherwise pixel by pixel."""
    if len(view.pieces) <= EXACT:
        return (axes.add_collection(collection(view, eye)),)
    from matplotlib.image import AxesImage

    towards, onto = across(eye)
    box = np.stack([axes.get_xlim(), axes.get_ylim()], axis=1)
    image = AxesImage(axes, extent=tuple(box.T.ravel()), origin="lower")
    image.set_data(paint_dots(view.pieces, ink_of(view.looks), box, onto, towards))
    axes.add_artist(image)
    shining = [(part.corners @ onto, part.edges, view.looks[part.number]) for part in view.over]
    return image, axes.add_collection(paint_pieces(shining))


def ink_of(looks: Sequence[Look]) -> Ink:
    """Styles as numbers; no colour has opacity zero."""
    from matplotlib.colors import to_rgba

    faces = [CLEAR if look.face is None else to_rgba(look.face) for look in looks]
    lines = [CLEAR if look.edge is None else to_rgba(look.edge) for look in looks]
    per_point = DOTS / (72.0 * PICTURE_WIDTH)
    return Ink(np.array(faces), np.array(lines), np.round([per_point * k.width for k in looks]))


def collection(view: View, eye: Sequence[float]) -> Any:
    """All pieces as one artist."""
    towards, onto = across(eye)
    parts = [*sort_by_depth(view.pieces, towards), *view.over]
    return paint_pieces(
        [(part.corners @ onto, part.edges, view.looks[part.number]) for part in parts]
    )


def paint_pieces(parts: Iterable[tuple[Floats, Sequence[bool], Look]]) -> Any:
    """Flat pieces (k, 2) in their order as one artist: interiors, then the edges that are not
    cuts."""
    from matplotlib.collections import PathCollection

    strokes = [stroke for part in parts for stroke in strokes_of(*part)]
    return PathCollection(
        [stroke.path for stroke in strokes],
        facecolors=[stroke.inside for stroke in strokes],
        edgecolors=[stroke.edge for stroke in strokes],
        linewidths=[stroke.width for stroke in strokes],
        linestyles=[stroke.dashes for stroke in strokes],
        capstyle="round",
        joinstyle="round",
    )


def strokes_of(flat: Floats, real: Sequence[bool], look: Look) -> Iterator[Stroke]:
    """A flat piece (k, 2) as its interior, and its real edges."""
    from matplotlib.path import Path

    if look.face is not None and len(flat) > 2:
        opaque = len(look.face) == 3 or look.face[3] == 1.0
        seam = look.face if opaque else CLEAR  # closes the seam between neighbours
        yield Stroke(Path(np.vstack([flat, flat[:1]]), closed=True), look.face, seam, 0.4, "-")
    lines = [(flat[i], flat[(i + 1) % len(flat)]) for i, edge in enumerate(real) if edge]
    if look.edge is not None and lines:
        lines = lines[:1] if len(flat) == 2 else lines
        way = Path(np.concatenate(lines), [Path.MOVETO, Path.LINETO] * len(lines))
        yield Stroke(way, CLEAR, look.edge, look.width, look.dashes)


def room(pieces: Iterable[Piece], eye: Sequence[float], margin: float = 0.08) -> Floats:
    """Lower left and upper right corner of all pieces on the picture (2, 2) [m], with a margin."""
    _, onto = across(eye)
    points = np.concatenate([piece.corners for piece in pieces]) @ onto
    low, high = points.min(axis=0), points.max(axis=0)
    wider = margin * float((high - low).max()) or 1.0
    return np.array([low - wider, high + wider])


def prepare(axes: Any, box: Floats) -> None:
    """Axes that show a rectangle at equal scales, with neither frame nor ticks."""
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.set_xlim(box[0, 0], box[1, 0])
    axes.set_ylim(box[0, 1], box[1, 1])


def furnish(axes: Any, box: Floats, eye: Sequence[float], largest: float) -> None:
    """The directions of the axes of N, and scales of length and force."""
    _, onto = across(eye)
    for k, name in enumerate("xyz"):
        step = 22.0 * onto[k]  # points
        _compass(axes, name, step)
    width = float(box[1, 0] - box[0, 0])
    length = round_length(0.25 * width)
    factor, unit = prefix_unit("m", np.array([length]))
    words = f"{length / factor:g} {unit}"
    if largest > 0.0:
        factor, unit = prefix_unit("N", np.array([largest]))
        words += f"      longest arrow {largest / factor:.3g} {unit}"
    _ruler(axes, length / width, words)


def _ruler(axes: Any, share: float, words: str) -> None:
    """A bar below the lower right corner, over a share of the width, with text below it."""
    low = axes.transAxes
    axes.plot([0.98 - share, 0.98], [-0.035, -0.035], transform=low, color=INK,
    linewidth=1.8, clip_on=False,
              solid_capstyle="butt")  # fmt: skip
    axes.text(
        0.98,
        -0.055,
        words,
        transform=low,
        ha="right",
        va="top",
        fontsize=8,
        color=INK,
        clip_on=False,
    )


def _compass(axes: Any, name: str, step: Floats) -> None:
    """One of N's axes, from a point below the lower left corner."""
    head = {
        "arrowstyle": "-|>",
        "color": PALE,
        "linewidth": 0.9,
        "shrinkA": 0,
        "shrinkB": 0,
        "mutation_scale": 7,
    }
    at = {"xycoords": "axes fraction", "textcoords": "offset points"}
    axes.annotate(
        "", xy=(0.06, -0.03), xytext=tuple(step), arrowprops={**head, "arrowstyle": "<|-"}, **at
    )
    axes.annotate(name, xy=(0.06, -0.03), xytext=tuple(1.35 * step), ha="center", va="center",
    fontsize=8, color=PALE,
                  **at)  # fmt: skip


def round_length(most: float) -> float:
    """The largest of 1, 2, 5, 10 ... that is not above `most`."""
    power = 10.0 ** np.floor(np.log10(most))
    return float(
        power * max(k for k in (1.0, 2.0, 5.0) if k * power <= most * (1.0 + ROUND_LENGTH))
    )


def name_bodies(axes: Any, stage: Stage) -> None:
    """A legend of the bodies by their colours."""
    from matplotlib.patches import Patch

    nb = len(stage.tables.bodies)
    numbers = [k + 1 if k < nb else 0 for k in range(len(stage.bodies))]
    if len(numbers) <= MOST_NAMES:
        handles = [
            Patch(
                facecolor=colour_of(body, n),
                edgecolor=INK,
                linewidth=0.8,
                label=body.label or body.name,
            )
            for body, n in zip(stage.bodies, numbers, strict=True)
        ]
        axes.legend(
            handles=handles,
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
            handlelength=1.0,
            handleheight=1.0,
        )


def picture(
    system: System, state: State | None = None, eye: Sequence[float] = EYE, forces: bool = True
) -> Drawing:
    """A picture of a system in a state; see `Multibody.picture`."""
    stage = Stage(system)
    sight = stage.at(system.initial if state is None else state, forces)
    with style("picture"):
        return page(view_of(stage, sight, eye), stage, eye)


def page(view: View, stage: Stage, eye: Sequence[float]) -> Drawing:
    """A view with legend and scales; within `style`."""
    box = room(view.pieces, eye)
    figure = blank(PICTURE_WIDTH, PICTURE_HEIGHT, "constrained")
    axes = figure.add_subplot()
    prepare(axes, box)
    add_view(axes, view, eye)
    furnish(axes, box, eye, view.largest)
    name_bodies(axes, stage)
    return Drawing(figure)
