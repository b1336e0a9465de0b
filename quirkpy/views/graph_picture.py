"""A picture of a reconfiguration graph: a drawing of every shape, and arrows for the motions
between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from quirkpy.explore.graph import ReconfigurationGraph
from quirkpy.explore.model.costs import supply_for
from quirkpy.explore.model.graph import Edge, Node, Outcome
from quirkpy.maths.types import Floats
from quirkpy.parts.body import Body
from quirkpy.parts.checks import show
from quirkpy.parts.part import PartError
from quirkpy.views.curves import prefix_unit
from quirkpy.views.drawing import INK, LINES, PALE, Drawing, blank, style
from quirkpy.views.graph_places import LINE, ROOM, bend, place_words, places_of, size_of
from quirkpy.views.solids import Patch, Solid, visible_patches
from quirkpy.views.stage import Stage
from quirkpy.views.stills import Look, colour_of, paint_pieces

#: An inch in the unit of the picture, as long as the page is no wider than the second number of
#: inches; half the width of a shape.
INCH, WIDEST, HALF = 0.5, 32.0, 1.0
#: Largest number of shapes in a picture; with more arrows than this, they have no labels, but the
#: colour of what drives them.
MOST, LABELLED = 150, 40
#: Quantities by which arrows may be coloured: the driving potential, the energy supplied by the
#: spacecraft, the time.
Colouring: TypeAlias = Literal["drive", "energy", "time"]
COLOURINGS: tuple[Colouring, ...] = get_args(Colouring)
#: The box behind words, which keeps lines from running through them.
BEHIND = {"boxstyle": "square,pad=0.08", "facecolor": "white", "edgecolor": "none"}
#: The range of the colour map that is dark enough on white; number of potentials with a colour of
#: their own.
DARK, DRIVES = (0.85, 0.05), len(LINES)


class Arrow(NamedTuple):
    """Points of a curve (k, 2), its label and the label's position, and whether the motion
    certainly leads there; the potentials that drive it, the fastest first; the least energy
    supplied by the spacecraft for it [J], and the least time [s]."""

    curve: Floats
    words: str
    at: Floats
    certain: bool
    drives: tuple[str, ...]
    energy: float
    time: float


class Shown(NamedTuple):
    """A shape: its centre, its patches relative to that, names of its bodies with their positions,
    and the lines of text below."""

    centre: Floats
    patches: list[Patch]
    letters: list[tuple[str, Floats]]
    lines: tuple[str, str]


class Picture(NamedTuple):
    """All contents of the picture; `metre`: the length of 1 m; bodies: those to which the numbers
    of patches refer."""

    shapes: list[Shown]
    arrows: list[Arrow]
    caption: str
    metre: float
    bodies: tuple[Body, ...]


# --- what is seen ---------------------------------------------------------------------------------
def picture_of(graph: ReconfigurationGraph, of: Sequence[str] | None = None) -> Picture:
    """The picture as arrays."""
    nodes = select_shapes(graph, of)
    views = [patches_of(graph, node) for node in nodes]
    middles = [0.5 * (low + high) for low, high in (_bounds(patches) for patches in views)]
    extent = max(float((high - low).max()) for low, high in (_bounds(patches) for patches in views))
    metre = 2.0 * HALF / extent
    places = places_of(graph, [node.key for node in nodes])
    shapes = []
    for node, patches, middle, centre in zip(nodes, views, middles, places, strict=True):
        moved = [patch._replace(corners=(patch.corners - middle) * metre) for patch in patches]
        shapes.append(Shown(centre, moved, letters_of(graph, node, middle, metre), lines_of(node)))
    arrows = list(arrows_of(graph, [node.key for node in nodes], places))
    caption = caption_of(graph, len(nodes), any(arrow.words for arrow in arrows))
    return Picture(shapes, arrows, caption, metre, Stage(graph.study.system).bodies)


def select_shapes(graph: ReconfigurationGraph, of: Sequence[str] | None) -> list[Node]:
    """The requested shapes, by key or name; by default all, or those reached by the fewest
    moves."""
    if of is None:
        keys = list(graph.nodes)
        return [graph.nodes[key] for key in (keys if len(keys) <= MOST else nearest(graph)[:MOST])]
    if isinstance(of, str) or not of:
        raise PartError(
            f"picture: of is {of!r}, but must be a list of shapes, such as ['n0', 'n1']."
        )
    known = {name: node for node in graph.nodes.values() for name in (node.name, node.key) if name}
    unknown = [name for name in of if name not in known]
    if unknown:
        raise PartError(
            f"picture: of has {show(unknown[0])}, which is no shape here; there are "
            f"{len(graph.nodes)}.",
            code="name",
        )
    if len(of) > MOST:
        raise PartError(
            f"picture: {len(of)} shapes are too many for one page; there is room for {MOST}.",
            code="answer",
        )
    return list({known[name].key: known[name] for name in of}.values())


def nearest(graph: ReconfigurationGraph) -> list[str]:
    """All shapes, in increasing order of the number of moves from the start."""
    import networkx

    ways = networkx.DiGraph((edge.source, outcome.target) for edge, outcome in ways_of(graph))
    ways.add_nodes_from(graph.nodes)
    moves = networkx.single_source_shortest_path_length(ways, "n0")
    return sorted(graph.nodes, key=lambda key: moves.get(key, len(graph.nodes)))


def solids_of(graph: ReconfigurationGraph, node: Node) -> list[Solid]:
    """The bodies of a node in their poses, with the numbers of the stage."""
    solids = Stage(graph.study.system).at(node.state).solids
    return [solid._replace(number=k) for k, solid in enumerate(solids)]


def patches_of(graph: ReconfigurationGraph, node: Node) -> list[Patch]:
    """The visible patches of a node [m]."""
    return visible_patches(solids_of(graph, node))


def letters_of(
    graph: ReconfigurationGraph, node: Node, middle: Floats, metre: float
) -> list[tuple[str, Floats]]:
    """Names of bodies, if short enough, each on the brightest patch of its body."""
    names = [body.name for body in Stage(graph.study.system).bodies]
    if max(map(len, names), default=0) > 2:
        return []
    out = []
    for name, solid in zip(names, solids_of(graph, node), strict=True):
        top = max(visible_patches([solid]), key=lambda patch: patch.light)
        out.append((name, (top.corners.mean(axis=0) - middle) * metre))
    return out


def _bounds(patches: Sequence[Patch]) -> tuple[Floats, Floats]:
    corners = np.concatenate([patch.corners for patch in patches])
    return corners.min(axis=0), corners.max(axis=0)


def lines_of(node: Node) -> tuple[str, str]:
    """The lines of text below a shape."""
    factor, unit = prefix_unit("J", np.array([node.energy]))
    return node.name or node.key, f"{node.verdict}, {node.energy / factor:.3g} {unit}".replace(
        "-", "\u2212"
    )


def lasting(t: float) -> str:
    """A time in words: in seconds, minutes or hours."""
    size, unit = (1.0, "s") if t < 1000.0 else (60.0, "min") if t < 3600.0 else (3600.0, "h")
    return f"{t / size:.3g} {unit}"


def caption_of(graph: ReconfigurationGraph, n: int, words: bool) -> str:
    """The text below the picture."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in graph.kinds.items())
    shapes = (
        f"{len(graph.nodes)} shapes"
        if n == len(graph.nodes)
        else f"{n} of {len(graph.nodes)} shapes"
    )
    counts = f"{shapes}; {len(graph.edges)} choices tried:"
    return (
        f"{counts}\n{kinds}.\nArrows: "
        f"{'potential, time of the motion' if words else 'the quickest motion'}."
    )


def ways_of(graph: ReconfigurationGraph) -> Iterator[tuple[Edge, Outcome]]:
    """Outcomes of motions from one shape to another, with their edges."""
    for edge in graph.edges:
        for outcome in edge.outcomes:
            if outcome.target not in (None, edge.source):
                yield edge, outcome


def arrows_of(graph: ReconfigurationGraph, keys: Sequence[str], places: Floats) -> Iterator[Arrow]:
    """An arrow for each pair of some shapes between which there is a motion."""
    numbers = {key: k for k, key in enumerate(keys)}
    ways: dict[tuple[str, str], list[tuple[Edge, Outcome]]] = {}
    for edge, outcome in ways_of(graph):
        if edge.source in numbers and outcome.target in numbers:
            ways.setdefault((edge.source, str(outcome.target)), []).append((edge, outcome))
    curves = [bend(places[numbers[one]], places[numbers[two]]) for one, two in ways]
    taken: list[Any] = [ROOM + place for place in places]
    for k, found in enumerate(ways.values()):
        quickest: dict[str, float] = {}
        for edge, outcome in sorted(found, key=lambda way: way[1].moving):
            quickest.setdefault(edge.selection.potential, outcome.moving)
        lines = [
            f"{name}, {lasting(time)}".replace("-", "\u2212")
            for name, time in list(quickest.items())[:3]
        ]
        words = "\n".join(lines) if len(ways) <= LABELLED else ""
        at = place_words(k, curves, words, taken) if words else curves[k][len(curves[k]) // 2]
        certain = any(edge.kind == "moved" for edge, _ in found)
        energy = min(supply_for(outcome) for _, outcome in found)
        yield Arrow(curves[k], words, at, certain, tuple(quickest), energy, min(quickest.values()))


# --- the painter ----------------------------------------------------------------------------------
def draw(
    graph: ReconfigurationGraph, colour: Colouring | None = None, of: Sequence[str] | None = None
) -> Drawing:
    """A graph as a figure of the size that it needs."""
    if colour is not None and colour not in COLOURINGS:
        raise PartError(
            f"picture: colour is {show(colour)}, but must be one of "
            f"{', '.join(map(repr, COLOURINGS))}."
        )
    picture = picture_of(graph, of)
    with style("picture"):
        inks, key = inks_of(
            picture, colour or (None if len(picture.arrows) <= LABELLED else "drive")
        )
        low, high = edges_of(picture)
        high[1] += LINE * (len(key) + 1) if key else 0.0
        inch = min(INCH, WIDEST / float((high - low).max()))
        figure = blank(*((high - low) * inch))
        paint(figure, picture, inks, key, np.array([low, high]), inch / INCH)
    return Drawing(figure)


def paint(
    figure: Any,
    picture: Picture,
    inks: Sequence[Any],
    key: Sequence[tuple[Any, str]],
    page: Floats,
    scale: float,
) -> None:
    """Paint everything onto a figure whose page has these corners (2, 2); scale: factor of letters
    and lines."""
    low, high = page
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])

    crowded = len(picture.arrows) > LABELLED
    width = scale * (1.0 if crowded else 1.9 if key else 1.3)
    for arrow, ink in zip(picture.arrows, inks, strict=True):
        axes.add_patch(_line(arrow, ink, width, scale * 11.0))
    for arrow in picture.arrows:
        _write(axes, arrow.at, arrow.words, scale * 8.5, linespacing=1.25, bbox=BEHIND)
    for shape in picture.shapes:
        if crowded:
            axes.add_patch(_card(shape))
        axes.add_collection(_solids(picture, shape))
        _name(axes, shape, scale)
    _scale(axes, picture, low, scale)
    corner = low[0] + 0.4, low[1] + 0.3
    _write(axes, corner, picture.caption, scale * 8.0, ha="left", va="bottom", color=PALE)
    _key(axes, key, (low[0], high[1]), scale)


def _write(axes: Any, at: Sequence[float] | Floats, words: str, size: float, **more: Any) -> None:
    """Text around a point, in letters of a size [points]."""
    axes.text(*at, words, **{"ha": "center", "va": "center", "fontsize": size, **more})


def _name(axes: Any, shape: Shown, scale: float) -> None:
    """The names of the bodies of a shape, and the lines of text below it."""
    for name, at in shape.letters:
        _write(axes, shape.centre + at, name, scale * 9.0)
    x, y = shape.centre
    _write(axes, (x, y - 1.22), shape.lines[0], scale * 9.5, weight="bold")
    _write(axes, (x, y - 1.55), shape.lines[1], scale * 8.0, color=PALE)


def _key(
    axes: Any, key: Sequence[tuple[Any, str]], corner: tuple[float, float], scale: float
) -> None:
    """The meaning of colours, a line each, below the upper left corner of the page."""
    left, top = corner
    for k, (ink, words) in enumerate(key):
        y = top - 0.35 - LINE * k
        axes.plot(
            [left + 0.4, left + 1.0],
            [y, y],
            color=ink,
            linewidth=2.4 * scale,
            solid_capstyle="butt",
        )
        _write(axes, (left + 1.15, y), words, scale * 8.0, ha="left")


def _line(arrow: Arrow, ink: Any, width: float, head: float) -> Any:
    """An arrow as an artist."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path as Curve

    return FancyArrowPatch(
        path=Curve(arrow.curve), arrowstyle="-|>", mutation_scale=head, linewidth=width, color=ink,
        shrinkA=0, shrinkB=0, linestyle="-" if arrow.certain else (0, (4, 3)),
    )  # fmt: skip


def _card(shape: Shown) -> Any:
    """The background of a shape, which covers arrows."""
    from matplotlib.patches import Rectangle

    low, high = ROOM + shape.centre
    return Rectangle(
        tuple(low), *(high - low), facecolor="white", edgecolor="#c9ced6", linewidth=0.6
    )


def _solids(picture: Picture, shape: Shown) -> Any:
    """The bodies of a shape as one artist."""
    from matplotlib.colors import to_rgb

    numbers = [0 if body.fixed else 1 + k for k, body in enumerate(picture.bodies)]
    colours = [
        np.array(to_rgb(colour_of(*pair))) for pair in zip(picture.bodies, numbers, strict=True)
    ]
    parts = []
    for patch in shape.patches:
        shaded = tuple(colours[patch.number] * (0.55 + 0.45 * patch.light))
        parts.append((patch.corners + shape.centre, patch.edges, Look(shaded, INK)))
    return paint_pieces(parts)


def inks_of(picture: Picture, colour: Colouring | None) -> tuple[list[Any], list[tuple[Any, str]]]:
    """The colour of each arrow, and the meaning of the colours."""
    if colour is None:
        return [INK] * len(picture.arrows), []
    return inks_of_drives(picture) if colour == "drive" else inks_of_amounts(picture, colour)


def inks_of_drives(picture: Picture) -> tuple[list[Any], list[tuple[Any, str]]]:
    """Colours by the potential that drives an arrow, and their meaning."""
    drives = list(dict.fromkeys(arrow.drives[0] for arrow in picture.arrows))
    inks = {drive: LINES[k] if k < DRIVES else PALE for k, drive in enumerate(drives)}
    key: list[tuple[Any, str]] = []
    for drive in drives[:DRIVES]:
        key.append((inks[drive], f"driven by {drive}".replace("-", "\u2212")))
    if len(drives) > DRIVES:
        key.append((PALE, "driven by another"))
    return [inks[arrow.drives[0]] for arrow in picture.arrows], key


def inks_of_amounts(picture: Picture, colour: Colouring) -> tuple[list[Any], list[tuple[Any, str]]]:
    """Colours by the energy or the time of an arrow, and their meaning."""
    from matplotlib import colormaps

    if colour == "energy":
        what, values = "supplied", np.array([arrow.energy for arrow in picture.arrows])
        factor, unit = prefix_unit("J", values)
    else:
        what, values = "time", np.array([arrow.time for arrow in picture.arrows])
        factor, unit = 1.0, "s"
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
    mapped = colormaps["viridis"]
    shares = (values - low) / (high - low) if high > low else np.zeros(len(values))
    steps = np.linspace(0.0, 1.0, 5) if high > low else np.zeros(min(1, len(values)))
    key = [
        (mapped(_dark(x)), f"{what} {(low + x * (high - low)) / factor:.3g} {unit}")
        for x in steps.tolist()
    ]
    return [mapped(_dark(x)) for x in shares.tolist()], key


def _dark(share: float) -> float:
    """The position on the colour map of a share from 0 to 1."""
    return DARK[0] + (DARK[1] - DARK[0]) * share


def _scale(axes: Any, picture: Picture, low: Floats, scale: float) -> None:
    """A scale bar for lengths perpendicular to the view."""
    length = float(10.0 ** np.floor(np.log10(1.2 / picture.metre)))
    length *= max(k for k in (1.0, 2.0, 5.0) if k * length * picture.metre <= 1.2)
    x, y = low[0] + 0.4, low[1] + 0.9 + LINE * picture.caption.count("\n")
    axes.plot(
        [x, x + length * picture.metre],
        [y, y],
        color=INK,
        linewidth=1.6 * scale,
        solid_capstyle="butt",
    )
    axes.text(
        x + length * picture.metre + 0.12,
        y,
        f"{length:g} m",
        ha="left",
        va="center",
        fontsize=8 * scale,
        color=INK,
    )


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
