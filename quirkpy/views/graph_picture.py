"""A picture of a reconfiguration graph: every shape as one sees it, and arrows for the motions between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from quirkpy.explore.graph import Edge, Node, Outcome, ReconfigurationGraph
from quirkpy.explore.plan import supplied
from quirkpy.parts.body import Body
from quirkpy.parts.checks import Floats, shown
from quirkpy.parts.part import PartError
from quirkpy.views.curves import prefixed
from quirkpy.views.drawing import INK, LINES, PALE, Drawing, blank, styled
from quirkpy.views.solids import Patch, Solid, seen
from quirkpy.views.stage import Stage
from quirkpy.views.stills import Look, colour_of, painted

#: Lengths in the unit of the picture, of which INCH is one in inches: half the width of a shape, how far shapes are
#: from each other, how far an arrow bends away from the straight line, a line of writing, and a letter of it.
INCH, HALF, APART, BEND, LINE, LETTER = 0.5, 1.0, 5.2, 0.9, 0.30, 0.125
#: What belongs to a shape, around its centre: left and low, right and high.
ROOM = np.array([(-1.5, -1.85), (1.5, 1.2)])
#: Up to so many shapes stand on a circle, clockwise from the left, so that arrows onwards bend outwards.
ON_A_CIRCLE = 6
#: More shapes than this stand too close to be drawn.
MOST = 60
#: How arrows may be coloured: by the potential that drives them, by what the spacecraft supplies, by time.
Colouring: TypeAlias = Literal["drive", "energy", "time"]
COLOURINGS: tuple[Colouring, ...] = get_args(Colouring)
#: Which part of the colour map is dark enough on white; potentials that have a colour of their own.
DARK, DRIVES = (0.85, 0.05), len(LINES)


class Arrow(NamedTuple):
    """Points of a curve (k, 2), what stands beside it and where, and whether it is certain to lead there; potentials
    that drive it, the quickest first; the least that the spacecraft supplies for it [J], and the least time [s]."""

    curve: Floats
    words: str
    at: Floats
    certain: bool
    drives: tuple[str, ...]
    energy: float
    time: float


class Shown(NamedTuple):
    """A shape: its centre, its patches around that, names of its bodies with their places, and lines below."""

    centre: Floats
    patches: list[Patch]
    letters: list[tuple[str, Floats]]
    lines: tuple[str, str]


class Picture(NamedTuple):
    """All that is painted; `metre`: how long 1 m is; bodies: those that the numbers of patches mean."""

    shapes: list[Shown]
    arrows: list[Arrow]
    caption: str
    metre: float
    bodies: tuple[Body, ...]


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
    return Picture(shapes, list(arrows_of(graph, places)), caption_of(graph), metre, Stage(graph.study.system).bodies)


def solids_of(graph: ReconfigurationGraph, node: Node) -> list[Solid]:
    """The bodies of a node where they are, numbered as the stage has them."""
    solids = Stage(graph.study.system).at(node.state).solids
    return [solid._replace(number=k) for k, solid in enumerate(solids)]


def patches_of(graph: ReconfigurationGraph, node: Node) -> list[Patch]:
    """What one sees of a node [m]."""
    return seen(solids_of(graph, node))


def letters_of(graph: ReconfigurationGraph, node: Node, middle: Floats, metre: float) -> list[tuple[str, Floats]]:
    """Names of bodies, short enough, each on the brightest patch of its body."""
    names = [body.name for body in Stage(graph.study.system).bodies]
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
        certain = any(edge.kind == "moved" for edge, _ in found)
        energy = min(supplied(outcome) for _, outcome in found)
        yield Arrow(curve, words, at, certain, tuple(quickest), energy, min(quickest.values()))


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
def drawn(graph: ReconfigurationGraph, colour: Colouring | None = None) -> Drawing:
    """A graph as a figure, which takes the size that it needs."""
    if colour is not None and colour not in COLOURINGS:
        raise PartError(f"picture: colour is {shown(colour)}, but must be one of {', '.join(map(repr, COLOURINGS))}.")
    picture = picture_of(graph)
    with styled("picture"):
        inks, key = inks_of(picture, colour)
        low, high = edges_of(picture)
        high[1] += LINE * (len(key) + 1) if key else 0.0
        figure = blank(*((high - low) * INCH))
        paint(figure, picture, inks, key, np.array([low, high]))
    return Drawing(figure)


def paint(figure: Any, picture: Picture, inks: Sequence[Any], key: Sequence[tuple[Any, str]], page: Floats) -> None:
    """Everything onto a figure, of which the page has these corners (2, 2)."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path as Curve

    low, high = page
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    for arrow, ink in zip(picture.arrows, inks, strict=True):
        axes.add_patch(FancyArrowPatch(
            path=Curve(arrow.curve), arrowstyle="-|>", mutation_scale=11, linewidth=1.9 if key else 1.3,
            color=ink, shrinkA=0, shrinkB=0, linestyle="-" if arrow.certain else (0, (4, 3)),
        ))  # fmt: skip
        axes.text(*arrow.at, arrow.words, ha="center", va="center", fontsize=8.5, linespacing=1.25)
    for shape in picture.shapes:
        axes.add_collection(_solids(picture, shape))
        for name, at in shape.letters:
            axes.text(*(shape.centre + at), name, ha="center", va="center", fontsize=9)
        x, y = shape.centre
        axes.text(x, y - 1.22, shape.lines[0], ha="center", va="center", fontsize=9.5, weight="bold")
        axes.text(x, y - 1.55, shape.lines[1], ha="center", va="center", fontsize=8, color=PALE)
    _scale(axes, picture, low)
    axes.text(low[0] + 0.4, low[1] + 0.3, picture.caption, ha="left", va="bottom", fontsize=8, color=PALE)
    for k, (ink, words) in enumerate(key):
        y = high[1] - 0.35 - LINE * k
        axes.plot([low[0] + 0.4, low[0] + 1.0], [y, y], color=ink, linewidth=2.4, solid_capstyle="butt")
        axes.text(low[0] + 1.15, y, words, ha="left", va="center", fontsize=8)


def _solids(picture: Picture, shape: Shown) -> Any:
    """The bodies of a shape as one artist."""
    from matplotlib.colors import to_rgb

    numbers = [0 if body.fixed else 1 + k for k, body in enumerate(picture.bodies)]
    colours = [np.array(to_rgb(colour_of(*pair))) for pair in zip(picture.bodies, numbers, strict=True)]
    parts = []
    for patch in shape.patches:
        shaded = tuple(colours[patch.number] * (0.55 + 0.45 * patch.light))
        parts.append((patch.corners + shape.centre, patch.edges, Look(shaded, INK)))
    return painted(parts)


def inks_of(picture: Picture, colour: Colouring | None) -> tuple[list[Any], list[tuple[Any, str]]]:
    """The colour of each arrow, and what the colours mean."""
    if colour is None:
        return [INK] * len(picture.arrows), []
    if colour == "drive":
        drives = list(dict.fromkeys(arrow.drives[0] for arrow in picture.arrows))
        inks = {drive: LINES[k] if k < DRIVES else PALE for k, drive in enumerate(drives)}
        key: list[tuple[Any, str]] = []
        for drive in drives[:DRIVES]:
            key.append((inks[drive], f"driven by {drive}".replace("-", "\u2212")))
        if len(drives) > DRIVES:
            key.append((PALE, "driven by another"))
        return [inks[arrow.drives[0]] for arrow in picture.arrows], key
    from matplotlib import colormaps

    values = np.array([arrow.energy if colour == "energy" else arrow.time for arrow in picture.arrows])
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
    factor, unit = prefixed("J" if colour == "energy" else "s", values) if colour == "energy" else (1.0, "s")
    mapped = colormaps["viridis"]
    shares = (values - low) / (high - low) if high > low else np.zeros(len(values))
    steps = np.linspace(0.0, 1.0, 5) if high > low else np.zeros(min(1, len(values)))
    what = "supplied" if colour == "energy" else "time"
    key = [(mapped(_dark(x)), f"{what} {(low + x * (high - low)) / factor:.3g} {unit}") for x in steps.tolist()]
    return [mapped(_dark(x)) for x in shares.tolist()], key


def _dark(share: float) -> float:
    """Where on the map a share from 0 to 1 lies."""
    return DARK[0] + (DARK[1] - DARK[0]) * share


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
