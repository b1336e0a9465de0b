"""Layout of a graph on a page: positions of shapes, curves of arrows, and positions of labels."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from quirkpy.explore.answers.routes import steps
from quirkpy.explore.graph import ReconfigurationGraph
from quirkpy.maths.types import Floats

#: Lower bound of distances in a drawing, which avoids division by zero [its units].
COINCIDE = 1e-9
#: Lengths in the unit of the picture: distance of shapes, deviation of an arrow from the straight
#: line, height of a line of text, and width of a letter.
APART, BEND, LINE, LETTER_WIDTH = 5.2, 0.9, 0.30, 0.125
#: Space needed by a shape, around its centre: lower left and upper right corner.
ROOM = np.array([(-1.5, -1.85), (1.5, 1.2)])
#: Up to this number, shapes are placed on a circle, clockwise from the left, so that arrows
#: forwards bend outwards; up to the second number, at such distances that labels fit between them.
ON_A_CIRCLE, FEW = 6, 20
#: Larger graphs are drawn as densely as possible without overlap, relaxed in at most this number of
#: rounds; very large ones are arranged around the start, with the least distance measured among the
#: first few.
CLOSE, ROUNDS, MANY, MEASURED = 4.3, 2000, 150, 300
#: Distances of a label from its arrow and from everything else: preferred, and if that is
#: impossible.
CLEAR = ((0.13, 0.22), (0.05, 0.1))
SHARES = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82)


# --- shapes ---------------------------------------------------------------------------------------
def places_of(graph: ReconfigurationGraph, keys: Sequence[str]) -> Floats:
    """Centres of some shapes (n, 2), without overlap; a deterministic function of the graph."""
    n = len(keys)
    if n < 2:
        return np.zeros((n, 2))
    ways = [
        (source, target)
        for source, target, *_ in steps(graph, True)
        if source in keys and target in keys
    ]
    if n > MANY:
        return outwards(keys, ways)
    ring = circle(n)
    if n <= ON_A_CIRCLE:
        pairs = {tuple(sorted((keys.index(one), keys.index(two)))) for one, two in ways}
        return widen(ring[np.argsort(around(n, pairs))])
    places = relax(keys, ways, ring)
    return widen(places) if n <= FEW else spread_out(places, CLOSE)


def relax(keys: Sequence[str], ways: Iterable[tuple[str, str]], start: Floats) -> Floats:
    """The equilibrium of a system of springs along the arrows, starting from given positions (n,
    2)."""
    import networkx

    plain = networkx.Graph()
    plain.add_nodes_from(keys)
    plain.add_edges_from(ways)
    spread = networkx.kamada_kawai_layout(plain, pos=dict(zip(keys, start, strict=True)))
    return np.array([spread[key] for key in keys])


def circle(n: int) -> Floats:
    """Positions on a circle, clockwise from the left (n, 2)."""
    angles = np.pi - 2.0 * np.pi * np.arange(n) / n
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def widen(places: Floats) -> Floats:
    """Positions scaled such that the nearest two are APART."""
    return np.asarray(places * (APART / gaps(places).min()))


def gaps(places: Floats) -> Floats:
    """Distances between all pairs of some positions."""
    return np.linalg.norm(places[:, None] - places[None], axis=2)[np.triu_indices(len(places), 1)]


def around(n: int, pairs: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """The order of shapes on a circle with the fewest crossings of arrows; the given one if it is
    as good."""
    chords = sorted(pairs)

    def count_crossings(order: tuple[int, ...]) -> int:
        at = {shape: k for k, shape in enumerate(order)}
        ends = [sorted((at[one], at[two])) for one, two in chords]
        return sum(
            a < c < b < d or c < a < d < b for (a, b), (c, d) in itertools.combinations(ends, 2)
        )

    return min(((0, *rest) for rest in itertools.permutations(range(1, n))), key=count_crossings)


def outwards(keys: Sequence[str], ways: Sequence[tuple[str, str]]) -> Floats:
    """Positions around the first shape in a sunflower pattern, with the distance increasing with
    the number of moves."""
    import networkx

    plain = networkx.DiGraph(ways)
    plain.add_nodes_from(keys)
    moves = networkx.single_source_shortest_path_length(plain, keys[0])
    order = sorted(range(len(keys)), key=lambda k: moves.get(keys[k], len(keys)))
    seeds = np.arange(len(keys))
    angles = seeds * np.pi * (3.0 - np.sqrt(5.0))
    places = np.sqrt(seeds + 0.5)[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    out = np.empty_like(places)
    out[order] = places * (CLOSE / gaps(places[:MEASURED]).min())
    return out


def spread_out(places: Floats, least: float) -> Floats:
    """Positions (n, 2) moved as close together as possible with a least distance: those that are
    too close repel each other, in repeated rounds."""
    n = len(places)
    middle = places.mean(axis=0)
    out = (places - middle) * least * np.sqrt(n) / np.ptp(places, axis=0).max()
    for _ in range(ROUNDS):
        off = out[:, None] - out[None]
        between = np.linalg.norm(off, axis=2)
        np.fill_diagonal(between, np.inf)
        short = np.maximum(1.02 * least - between, 0.0)
        if not (between < least).any():
            break
        push = 0.5 * np.einsum("ij,ijk->ik", short / np.maximum(between, COINCIDE), off)
        far = np.linalg.norm(push, axis=1, keepdims=True)
        out = out + push * np.minimum(1.0, 0.2 * least / np.maximum(far, COINCIDE))
    return np.asarray(out)


# --- arrows ---------------------------------------------------------------------------------------
def bend(one: Floats, two: Floats) -> Floats:
    """A curve from one position to another that bends to its left, between the spaces of both
    shapes."""
    along = two - one
    middle = 0.5 * (one + two) + 2.0 * BEND * np.array([-along[1], along[0]]) / np.linalg.norm(
        along
    )
    t = np.linspace(0.0, 1.0, 201)[:, None]
    curve = (1.0 - t) ** 2 * one + 2.0 * t * (1.0 - t) * middle + t**2 * two
    clear = np.array(
        [not (inside(ROOM + one, point) or inside(ROOM + two, point)) for point in curve]
    )
    return curve[clear]


def inside(box: Floats, points: Floats) -> int:
    """The number of some points (..., 2) inside a box (2, 2)."""
    return int(((points > box[0]) & (points < box[1])).all(axis=-1).sum())


# --- words ----------------------------------------------------------------------------------------
def size_of(words: str) -> Floats:
    """Width and height of some lines of text."""
    lines = words.split("\n")
    return np.array([LETTER_WIDTH * max(map(len, lines)), LINE * len(lines)])


def place_words(k: int, curves: Sequence[Floats], words: str, taken: list[Floats]) -> Floats:
    """A position for the label of a curve, near its middle: beside it if that is clear of
    everything else, otherwise on it, where the fewest others pass. taken: occupied boxes, to which
    that of the label is added."""
    half = 0.5 * size_of(words)
    others = np.concatenate(
        [other for j, other in enumerate(curves) if j != k] or [np.zeros((0, 2))]
    )

    def cost(at: Floats) -> int:
        box = np.array([at - half, at + half])
        return inside(box, others) + (0 if free(box, taken) else 10_000)

    for gap, keep in CLEAR:
        for at in sides(curves[k], half, gap):
            box = np.array([at - half, at + half])
            if (
                free(box, taken)
                and not inside(box, curves[k])
                and not inside(box + [[-keep], [keep]], others)
            ):
                taken.append(box)
                return at
    at = min((curves[k][round(share * (len(curves[k]) - 1))] for share in SHARES), key=cost)
    taken.append(np.array([at - half, at + half]))
    return at


def free(box: Floats, taken: Iterable[Floats]) -> bool:
    """Whether a box (2, 2) is clear of all occupied ones."""
    return all((box[1] < low).any() or (box[0] > high).any() for low, high in taken)


def sides(curve: Floats, half: Floats, gap: float) -> Iterator[Floats]:
    """Centres of boxes with given half sizes on both sides of a curve, at a distance from it, those
    near its middle first."""
    for share in SHARES:
        row = round(share * (len(curve) - 1))
        along = curve[min(row + 1, len(curve) - 1)] - curve[max(row - 1, 0)]
        out = np.array([-along[1], along[0]]) / np.linalg.norm(along)
        yield from (curve[row] + side * (gap + abs(out) @ half) * out for side in (1.0, -1.0))
