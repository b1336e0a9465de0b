"""A picture of a reconfiguration graph: every shape as one sees it, and arrows for the motions between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from quirkpy.explore.graph import Edge, Node, Outcome, ReconfigurationGraph
from quirkpy.parts.body import Body
from quirkpy.parts.checks import Floats
from quirkpy.parts.part import PartError
from quirkpy.quat import to_array
from quirkpy.views.solids import Patch, Solid, seen

#: Lengths in the unit of the picture, of which INCH is one in inches: half the width of a shape, how far shapes are
#: from each other, how far an arrow bends away from the straight line, a line of writing, and a letter of it.
INCH, HALF, APART, BEND, LINE, LETTER = 0.5, 1.0, 5.2, 0.9, 0.30, 0.125
#: What belongs to a shape, around its centre: left and low, right and high.
ROOM = np.array([(-1.5, -1.85), (1.5, 1.2)])
#: Up to so many shapes stand on a circle, clockwise from the left, so that arrows onwards bend outwards.
ON_A_CIRCLE = 6
#: More shapes than this stand too close to be drawn.
MOST = 60
#: A fixed body, then the moving ones in turn.
COLOURS = ("#b4b9c0", "#e6bd7a", "#86aed6", "#94c9a0", "#dd9a92", "#b7a3d0", "#c9b99b")
INK, PALE = "#2b2f36", "#6d7480"


class Arrow(NamedTuple):
    """Points of a curve (k, 2), what stands beside it and where, and whether it is certain to lead there."""

    curve: Floats
    words: str
    at: Floats
    certain: bool


class Shown(NamedTuple):
    """A shape: its centre, its patches around that, names of its bodies with their places, and lines below."""

    centre: Floats
    patches: list[Patch]
    letters: list[tuple[str, Floats]]
    lines: tuple[str, str]


class Picture(NamedTuple):
    """All that is painted; `metre`: how long 1 m is."""

    shapes: list[Shown]
    arrows: list[Arrow]
    caption: str
    metre: float


# --- what is seen -----------------------------------------------------------------------------------------------------
def picture_of(graph: ReconfigurationGraph) -> Picture:
    """The picture as arrays."""
    if len(graph.nodes) > MOST:
        raise PartError(f"picture: {len(graph.nodes)} shapes are too many for one page; there is room for {MOST}.")
    views = [patches_of(graph, node) for node in graph.nodes.values()]
    middles = [0.5 * (low + high) for low, high in (_bounds(patches) for patches in views)]
    extent = max(float((high - low).max()) for low, high in (_bounds(patches) for patches in views))
    metre = 2.0 * HALF / extent
    places = places_of(graph)
    shapes = []
    for node, patches, middle, centre in zip(graph.nodes.values(), views, middles, places, strict=True):
        moved = [patch._replace(corners=(patch.corners - middle) * metre) for patch in patches]
        shapes.append(Shown(centre, moved, letters_of(graph, node, middle, metre), lines_of(node)))
    return Picture(shapes, list(arrows_of(graph, places)), caption_of(graph), metre)


def solids_of(graph: ReconfigurationGraph, node: Node) -> list[Solid]:
    """The bodies of a node where they are."""
    s = node.state
    rows = {name: k for k, name in enumerate(s.bodies)}
    out = []
    for part in graph.study.system.parts:
        if isinstance(part, Body):
            k = rows.get(part.name)
            r = s.r[k] if k is not None else np.array(part.position)
            q = s.q[k] if k is not None else to_array(part.orientation)
            out.append(Solid(part.shape, r, q, 0 if k is None else 1 + k % (len(COLOURS) - 1)))
    return out


def patches_of(graph: ReconfigurationGraph, node: Node) -> list[Patch]:
    """What one sees of a node [m]."""
    return seen(solids_of(graph, node))


def letters_of(graph: ReconfigurationGraph, node: Node, middle: Floats, metre: float) -> list[tuple[str, Floats]]:
    """Names of bodies, short enough, each on the brightest patch of its body."""
    names = [part.name for part in graph.study.system.parts if isinstance(part, Body)]
    if max(map(len, names), default=0) > 2:
        return []
    out = []
    for name, solid in zip(names, solids_of(graph, node), strict=True):
        top = max(seen([solid]), key=lambda patch: patch.light)
        out.append((name, (top.corners.mean(axis=0) - middle) * metre))
    return out


def _bounds(patches: Sequence[Patch]) -> tuple[Floats, Floats]:
    corners = np.concatenate([patch.corners for patch in patches])
    return corners.min(axis=0), corners.max(axis=0)


def lines_of(node: Node) -> tuple[str, str]:
    """What stands below a shape."""
    return node.name or node.key, f"{node.verdict}, {node.energy:.3g} J"


def caption_of(graph: ReconfigurationGraph) -> str:
    """What stands below the picture."""
    kinds = ", ".join(f"{n} {kind}" for kind, n in graph.kinds.items())
    counts = f"{len(graph.nodes)} shapes; {len(graph.edges)} choices tried:"
    return f"{counts}\n{kinds}.\nArrows: potential, time of the motion."


# --- where it stands --------------------------------------------------------------------------------------------------
def places_of(graph: ReconfigurationGraph) -> Floats:
    """Centres of the shapes (n, 2), none nearer to another than APART; the same for the same graph."""
    n = len(graph.nodes)
    angles = np.pi - 2.0 * np.pi * np.arange(n) / max(n, 1)
    places = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    if n > ON_A_CIRCLE:
        import networkx

        plain = networkx.Graph()
        plain.add_nodes_from(graph.nodes)
        plain.add_edges_from((edge.source, outcome.target) for edge, outcome in ways_of(graph))
        spread = networkx.kamada_kawai_layout(plain, pos=dict(zip(graph.nodes, places, strict=True)))
        places = np.array([spread[key] for key in graph.nodes])
    if n < 2:
        return np.zeros((n, 2))
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2)[np.triu_indices(n, 1)]
    return np.asarray(places * (APART / gaps.min()))


def ways_of(graph: ReconfigurationGraph) -> Iterator[tuple[Edge, Outcome]]:
    """Outcomes that lead from one shape to another, with their edges."""
    for edge in graph.edges:
        for outcome in edge.outcomes:
            if outcome.target not in (None, edge.source):
                yield edge, outcome


def arrows_of(graph: ReconfigurationGraph, places: Floats) -> Iterator[Arrow]:
    """An arrow for each pair of shapes between which there is a motion."""
    numbers = {key: k for k, key in enumerate(graph.nodes)}
    ways: dict[tuple[str, str], list[tuple[Edge, Outcome]]] = {}
    for edge, outcome in ways_of(graph):
        ways.setdefault((edge.source, str(outcome.target)), []).append((edge, outcome))
    curves = [bent(places[numbers[one]], places[numbers[two]]) for one, two in ways]
    taken: list[Any] = [ROOM + place for place in places]
    for curve, found in zip(curves, ways.values(), strict=True):
        quickest: dict[str, float] = {}
        for edge, outcome in sorted(found, key=lambda way: way[1].duration):
            quickest.setdefault(edge.selection.potential, outcome.duration)
        words = "\n".join(f"{name}, {time:.3g} s".replace("-", "\u2212") for name, time in list(quickest.items())[:3])
        at = beside(curve, words, np.concatenate(curves), taken)
        yield Arrow(curve, words, at, any(edge.kind == "moved" for edge, _ in found))


def bent(one: Floats, two: Floats) -> Floats:
    """A curve from one place to another that bends to its left, as far as it is clear of both."""
    along = two - one
    middle = 0.5 * (one + two) + 2.0 * BEND * np.array([-along[1], along[0]]) / np.linalg.norm(along)
    t = np.linspace(0.0, 1.0, 201)[:, None]
    curve = (1.0 - t) ** 2 * one + 2.0 * t * (1.0 - t) * middle + t**2 * two
    clear = np.array([not (inside(ROOM + one, point) or inside(ROOM + two, point)) for point in curve])
    return curve[clear]


def inside(box: Floats, points: Floats) -> bool:
    """Whether one of some points (..., 2) lies in a box (2, 2)."""
    return bool(((points > box[0]) & (points < box[1])).all(axis=-1).any())


def size_of(words: str) -> Floats:
    """Width and height of some lines."""
    lines = words.split("\n")
    return np.array([LETTER * max(map(len, lines)), LINE * len(lines)])


def beside(curve: Floats, words: str, curves: Floats, taken: list[Any]) -> Floats:
    """A place for some words, near the middle of their curve, that overlaps nothing so far, if there is one."""
    half, first = 0.5 * size_of(words), None
    for share in (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82):
        for side in (1.0, -1.0):
            k = round(share * (len(curve) - 1))
            along = curve[min(k + 1, len(curve) - 1)] - curve[max(k - 1, 0)]
            out = side * np.array([-along[1], along[0]]) / np.linalg.norm(along)
            at = curve[k] + (0.13 + abs(out) @ half) * out
            box = np.array([at - half, at + half])
            first = box if first is None else first
            apart = all((box[1] < low).any() or (box[0] > high).any() for low, high in taken)
            if apart and not inside(box, curves):
                taken.append(box)
                return at
    assert first is not None
    taken.append(first)
    return np.asarray(first.mean(axis=0))


# --- the painter ------------------------------------------------------------------------------------------------------
def save(graph: ReconfigurationGraph, path: Path) -> None:
    """Paint a graph into a file."""
    picture = picture_of(graph)
    try:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PartError("picture: this needs matplotlib; pip install 'quirkpy[plots]' brings it.") from error
    figure = Figure()
    FigureCanvasAgg(figure)
    with matplotlib.rc_context({"font.family": "DejaVu Sans", "svg.hashsalt": "quirkpy"}):
        paint(figure, picture)
        dated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix, {})
        figure.savefig(path, dpi=200, metadata=dated)


def paint(figure: Any, picture: Picture) -> None:
    """Everything onto a figure, which takes the size that it needs."""
    from matplotlib.colors import to_rgb
    from matplotlib.patches import FancyArrowPatch, Polygon
    from matplotlib.path import Path as Curve

    low, high = edges_of(picture)
    width, height = (high - low) * INCH
    figure.set_size_inches(width, height)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    for arrow in picture.arrows:
        axes.add_patch(FancyArrowPatch(
            path=Curve(arrow.curve), arrowstyle="-|>", mutation_scale=11, linewidth=1.3, color=INK, shrinkA=0,
            shrinkB=0, linestyle="-" if arrow.certain else (0, (4, 3)),
        ))  # fmt: skip
        axes.text(*arrow.at, arrow.words, ha="center", va="center", fontsize=8.5, color=INK, linespacing=1.25)
    for shape in picture.shapes:
        for patch in shape.patches:
            colour = np.array(to_rgb(COLOURS[patch.number])) * (0.55 + 0.45 * patch.light)
            axes.add_patch(
                Polygon(patch.corners + shape.centre, facecolor=colour, edgecolor=INK, linewidth=0.8, joinstyle="round")
            )
        for name, at in shape.letters:
            axes.text(*(shape.centre + at), name, ha="center", va="center", fontsize=9, color=INK)
        x, y = shape.centre
        axes.text(x, y - 1.22, shape.lines[0], ha="center", va="center", fontsize=9.5, weight="bold", color=INK)
        axes.text(x, y - 1.55, shape.lines[1], ha="center", va="center", fontsize=8, color=PALE)
    _scale(axes, picture, low)
    axes.text(low[0] + 0.4, low[1] + 0.3, picture.caption, ha="left", va="bottom", fontsize=8, color=PALE)


def _scale(axes: Any, picture: Picture, low: Floats) -> None:
    """A bar that says how long lengths are that lie across the picture."""
    length = float(10.0 ** np.floor(np.log10(1.2 / picture.metre)))
    length *= max(k for k in (1.0, 2.0, 5.0) if k * length * picture.metre <= 1.2)
    x, y = low[0] + 0.4, low[1] + 0.9 + LINE * picture.caption.count("\n")
    axes.plot([x, x + length * picture.metre], [y, y], color=INK, linewidth=1.6, solid_capstyle="butt")
    axes.text(x + length * picture.metre + 0.12, y, f"{length:g} m", ha="left", va="center", fontsize=8, color=INK)


def edges_of(picture: Picture) -> tuple[Floats, Floats]:
    """The corners of the page."""
    points = [shape.centre + ROOM for shape in picture.shapes]
    for arrow in picture.arrows:
        half = 0.5 * size_of(arrow.words)
        points += [arrow.curve, (arrow.at - half)[None], (arrow.at + half)[None]]
    every = np.concatenate(points)
    low, high = every.min(axis=0) - 0.3, every.max(axis=0) + 0.3
    low[1] -= 0.9 + LINE * picture.caption.count("\n")  # the scale and the caption
    wider = max(0.0, float(0.6 + size_of(picture.caption)[0] - (high[0] - low[0])))
    return low - (0.5 * wider, 0.0), high + (0.5 * wider, 0.0)
