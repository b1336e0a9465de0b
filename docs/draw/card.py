"""What the pictures of parts are drawn with: a card, and on it boxes, rods, springs, frames and
arrows.

A point of two numbers lies on the card, 160 wide and 120 high, from its lower left corner.  One of
three lies in space: x to the right, y away from the reader and z up, from a little below the middle
of the card."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Literal, TypeAlias

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, FancyBboxPatch, Polygon

Point: TypeAlias = Sequence[float]

WIDTH, HEIGHT = 160.0, 120.0
#: Where the origin of space lies on the card, and what a step away from the reader does.
ORIGIN, AWAY = (76.0, 56.0), (0.42, 0.32)

#: Colours that remain apart for the colour-blind (Okabe and Ito): what may move, what pushes, what
#: a magnet has.
FREE, LOAD, FIELD = "#d55e00", "#0072b2", "#00795a"
INK, PALE = "#333a45", "#7d8796"
#: The first body, the second, and what is cold.
ONE, TWO, COLD = "#ccd3dc", "#f2dca6", "#bfe4f2"

#: Shares of a way, for curves.
STEPS = [k / 16 for k in range(17)]

#: What makes the same bytes each time.  Words stay words, in whatever plain font the reader has.
SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "quirkpy",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "path.simplify": False,
}


def cosine(degrees: float) -> float:
    """Of an angle in degrees."""
    return math.cos(math.radians(degrees))


def sine(degrees: float) -> float:
    """Of an angle in degrees."""
    return math.sin(math.radians(degrees))


def smooth(s: float) -> float:
    """The way from 0 to 1 of a smooth schedule."""
    return s**3 * (10 - 15 * s + 6 * s**2)


def mixed(colour: str, other: str, share: float) -> str:
    """A colour with a share of another one."""
    pairs = ((int(colour[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in pairs)


def lighter(colour: str) -> str:
    """The colour of what faces up."""
    return mixed(colour, "#ffffff", 0.5)


def darker(colour: str) -> str:
    """The colour of what faces right."""
    return mixed(colour, "#000000", 0.13)


def flat(point: Point) -> tuple[float, float]:
    """Where a point lies on the card."""
    if len(point) == 2:
        return round(point[0], 2), round(point[1], 2)
    x, y, z = point
    return round(ORIGIN[0] + x + AWAY[0] * y, 2), round(ORIGIN[1] + z + AWAY[1] * y, 2)


def circle(
    centre: Point, radius: float, axis: str, start: float = 0.0, sweep: float = 360.0
) -> list[Point]:
    """Points of an arc in space, right-handed about an axis; "flat": on the card, against the
    clock.  Degrees."""
    if axis == "flat":
        centre = flat(centre)
    elif len(centre) == 2:
        centre = centre[0] - ORIGIN[0], 0.0, centre[1] - ORIGIN[1]
    steps = max(math.ceil(abs(sweep) / 30.0), math.ceil(radius * math.radians(abs(sweep)) / 4.0))
    angles = [math.radians(start + sweep * k / steps) for k in range(steps + 1)]
    turns = [(radius * math.cos(a), radius * math.sin(a)) for a in angles]
    around: dict[str, Callable[[float, float], Point]] = {
        "x": lambda c, s: (0.0, c, s),
        "y": lambda c, s: (s, 0.0, c),
        "z": lambda c, s: (c, s, 0.0),
        "flat": lambda c, s: (c, s),
    }
    return [tuple(a + b for a, b in zip(centre, around[axis](c, s), strict=True)) for c, s in turns]


def between(one: Point, two: Point, share: float) -> Point:
    """The point that lies a share of the way from one to the other."""
    return tuple(a + share * (b - a) for a, b in zip(one, two, strict=True))


def outline(points: Sequence[Point]) -> list[Point]:
    """The convex hull of points as they lie on the card, against the clock."""
    spots = sorted({flat(point) for point in points})

    def half(ordered: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        hull: list[tuple[float, float]] = []
        for c in ordered:
            while len(hull) > 1:
                (ax, ay), (bx, by) = hull[-2:]
                if (bx - ax) * (c[1] - ay) > (by - ay) * (c[0] - ax):
                    break
                hull.pop()
            hull.append(c)
        return hull[:-1]

    return [*half(spots), *half(spots[::-1])]


class Card:
    """A small white card; what is drawn later lies on top."""

    def __init__(self) -> None:
        self.figure = Figure(figsize=(WIDTH / 100.0, HEIGHT / 100.0))
        self.figure.patch.set_visible(False)
        self.axes = self.figure.add_axes((0.0, 0.0, 1.0, 1.0))
        self.axes.set(xlim=(0.0, WIDTH), ylim=(0.0, HEIGHT))
        self.axes.set_axis_off()
        self.layers = count(1)
        rounded = "round,pad=0,rounding_size=8"
        size = (1.0, 1.0), WIDTH - 2.0, HEIGHT - 2.0
        self.edge = FancyBboxPatch(
            *size, rounded, facecolor="#ffffff", edgecolor="#c3c9d2", linewidth=0.7
        )
        self._add(self.edge)

    def _add(self, shape: Line2D | Polygon | Circle | FancyBboxPatch) -> None:
        shape.set(zorder=next(self.layers), clip_on=False)
        self.axes.add_artist(shape)

    def save(self, path: Path, title: str) -> None:
        """Write the card, as SVG or as PNG."""
        if path.suffix == ".svg":
            self.figure.savefig(path, metadata={"Title": title, "Date": None})
        else:
            self.figure.savefig(path, dpi=250)

    # --- lines and words --------------------------------------------------------------------------
    def line(
        self, *points: Point, colour: str = INK, width: float = 0.8, dashed: bool = False
    ) -> None:
        """Straight from point to point."""
        x, y = zip(*(flat(point) for point in points), strict=True)
        style: Literal["solid"] | tuple[float, Sequence[float]] = (
            (0.0, (3.0, 2.0)) if dashed else "solid"
        )
        self._add(
            Line2D(
                x,
                y,
                color=colour,
                linewidth=width,
                linestyle=style,
                solid_capstyle="round",
                solid_joinstyle="round",
                dash_capstyle="butt",
            )
        )

    def fill(self, *points: Point, colour: str, edge: str = INK) -> None:
        """A polygon."""
        spots = [flat(point) for point in points]
        self._add(
            Polygon(spots, facecolor=colour, edgecolor=edge, linewidth=0.7, joinstyle="round")
        )

    def disc(self, centre: Point, radius: float, colour: str = INK, edge: str = INK) -> None:
        """A round spot."""
        self._add(Circle(flat(centre), radius, facecolor=colour, edgecolor=edge, linewidth=0.7))

    def text(
        self, point: Point, words: str, colour: str = INK, size: float = 7.0, side: str = "center"
    ) -> None:
        """Words; side: which part of them is at the point."""
        x, y = flat(point)
        self.axes.text(
            x,
            y,
            words,
            color=colour,
            fontsize=size,
            ha=side,
            va="center_baseline",
            zorder=next(self.layers),
        )

    def arrow(
        self,
        *points: Point,
        colour: str = LOAD,
        both: bool = False,
        width: float = 1.5,
        words: str = "",
    ) -> None:
        """Along the points, with a head at the last one, or at both ends; words stand before its
        tip."""
        spots = [flat(point) for point in points]
        size = 3.2 + 2.2 * width
        ends = [self._head(spots, size, colour)]
        if both:
            ends.append(self._head(spots[::-1], size, colour))
            spots[0] = ends[1]
        self.line(*spots[:-1], ends[0], colour=colour, width=width)
        if words:
            (ax, ay), (bx, by) = spots[-2], flat(points[-1])
            length = math.hypot(bx - ax, by - ay)
            gap = 5.0 + 2.2 * (len(words) - 1) * abs(bx - ax) / length
            self.text((bx + gap * (bx - ax) / length, by + gap * (by - ay) / length), words, colour)

    def _head(
        self, spots: Sequence[tuple[float, float]], size: float, colour: str
    ) -> tuple[float, float]:
        """The head of an arrow that ends with these spots; gives where its shaft ends."""
        tip = spots[-1]
        back = next((s for s in spots[-2::-1] if math.dist(s, tip) > 0.6 * size), spots[0])
        length = math.dist(back, tip)
        x, y = (tip[0] - back[0]) / length, (tip[1] - back[1]) / length
        foot = tip[0] - size * x, tip[1] - size * y
        half = 0.42 * size
        self.fill(
            tip, (foot[0] - half * y, foot[1] + half * x), (foot[0] + half * y, foot[1] - half * x),
            colour=colour, edge="none",
        )  # fmt: skip
        return round(foot[0] + 0.2 * size * x, 2), round(foot[1] + 0.2 * size * y, 2)

    def turn(
        self, centre: Point, radius: float, axis: str = "z", start: float = 150.0,
        sweep: float = 270.0, colour: str = FREE, both: bool = False,
    ) -> None:  # fmt: skip
        """A curved arrow about an axis."""
        self.arrow(*circle(centre, radius, axis, start, sweep), colour=colour, both=both)

    # --- solids -----------------------------------------------------------------------------------
    def box(self, centre: Point, size: Point, colour: str = ONE) -> None:
        """A cuboid; size: full lengths."""
        (x1, y1, z1), (x2, y2, z2) = (
            [c + sign * s / 2.0 for c, s in zip(centre, size, strict=True)] for sign in (-1, 1)
        )
        self.fill((x1, y1, z1), (x2, y1, z1), (x2, y1, z2), (x1, y1, z2), colour=colour)
        self.fill((x1, y1, z2), (x2, y1, z2), (x2, y2, z2), (x1, y2, z2), colour=lighter(colour))
        self.fill((x2, y1, z1), (x2, y2, z1), (x2, y2, z2), (x2, y1, z2), colour=darker(colour))

    def rod(
        self, centre: Point, axis: str, radius: float, length: float, colour: str = ONE
    ) -> None:
        """A cylinder along an axis."""
        place = "xyz".index(axis)
        ends = [
            circle(
                [c + sign * length / 2.0 * (k == place) for k, c in enumerate(centre)], radius, axis
            )
            for sign in (-1, 1)
        ]
        self.fill(*outline([*ends[0], *ends[1]]), colour=colour)
        self.fill(*ends[0 if axis == "y" else 1][:-1], colour=lighter(colour))

    def ball(self, centre: Point, radius: float, colour: str = TWO) -> None:
        """A ball with a light on it."""
        x, y = flat(centre)
        self.disc(centre, radius, colour)
        self.disc((x - 0.35 * radius, y + 0.35 * radius), 0.28 * radius, lighter(colour), "none")

    def bar(self, start: Point, end: Point, width: float, colour: str = TWO) -> None:
        """A flat bar on the card from point to point."""
        (ax, ay), (bx, by) = flat(start), flat(end)
        length = math.dist((ax, ay), (bx, by))
        x, y = width / 2.0 * (bx - ax) / length, width / 2.0 * (by - ay) / length
        self.fill(
            (ax - y, ay + x), (ax + y, ay - x), (bx + y, by - x), (bx - y, by + x), colour=colour
        )

    def planet(self, centre: Point, radius: float) -> None:
        """A planet, or what of it lies on the card."""
        shape = Circle(flat(centre), radius, facecolor="#a9cfe6", edgecolor=LOAD, linewidth=0.5)
        self._add(shape)
        shape.set(clip_path=self.edge, clip_on=True)

    # --- between points ---------------------------------------------------------------------------
    def coil(
        self, start: Point, end: Point, turns: int = 6, height: float = 6.0, colour: str = INK
    ) -> None:
        """A spring."""
        (ax, ay), (bx, by) = flat(start), flat(end)
        length = math.dist((ax, ay), (bx, by))
        x, y = (bx - ax) / length, (by - ay) / length
        shares = [
            0.0,
            0.12,
            *(0.12 + 0.76 * (k + 0.5) / (2 * turns) for k in range(2 * turns)),
            0.88,
            1.0,
        ]
        sides = [0.0, 0.0, *(height * (-1) ** k for k in range(2 * turns)), 0.0, 0.0]
        self.line(
            *(
                (ax + s * length * x - h * y, ay + s * length * y + h * x)
                for s, h in zip(shares, sides, strict=True)
            ),
            colour=colour,
            width=1.1,
        )

    def dashpot(self, start: Point, end: Point, height: float = 6.0, colour: str = INK) -> None:
        """A damper."""
        (ax, ay), (bx, by) = flat(start), flat(end)
        length = math.dist((ax, ay), (bx, by))
        x, y = (bx - ax) / length, (by - ay) / length

        def at(share: float, side: float) -> Point:
            return ax + share * length * x - side * y, ay + share * length * y + side * x

        self.fill(
            at(0.25, height),
            at(0.25, -height),
            at(0.7, -height),
            at(0.7, height),
            colour=COLD,
            edge="none",
        )
        self.line(
            at(0.75, height),
            at(0.25, height),
            at(0.25, -height),
            at(0.75, -height),
            colour=colour,
            width=1.1,
        )
        self.line(at(0.0, 0.0), at(0.25, 0.0), colour=colour, width=1.1)
        self.line(at(0.52, height - 1.2), at(0.52, 1.2 - height), colour=colour, width=1.8)
        self.line(at(0.52, 0.0), at(1.0, 0.0), colour=colour, width=1.1)

    def measure(self, start: Point, end: Point, words: str, aside: float = 7.0) -> None:
        """A measured length, its words beside it."""
        self.arrow(start, end, colour=PALE, both=True, width=0.7)
        (ax, ay), (bx, by) = flat(start), flat(end)
        length = math.dist((ax, ay), (bx, by))
        self.text(
            (
                (ax + bx) / 2.0 - aside * (by - ay) / length,
                (ay + by) / 2.0 + aside * (bx - ax) / length,
            ),
            words,
        )

    # --- frames and plots -------------------------------------------------------------------------
    def frame(
        self,
        origin: Point,
        mark: str = "",
        length: float = 20.0,
        turned: float = 0.0,
        names: str = "xyz",
    ) -> None:
        """Three axes, turned by an angle [degrees] on the card; mark: what their letters end
        with."""
        ox, oy = flat(origin)
        c, s = math.cos(math.radians(turned)), math.sin(math.radians(turned))
        directions = (1.0, 0.0), (1.5 * AWAY[0], 1.5 * AWAY[1]), (0.0, 1.0)
        for name, (x, y) in zip(names, directions, strict=True):
            end = ox + length * (c * x - s * y), oy + length * (s * x + c * y)
            self.arrow(
                (ox, oy), end, colour=INK, width=0.9, words=name + mark if name.strip() else ""
            )
        self.disc((ox, oy), 1.6)

    def plot(self, across: str, up: str) -> None:
        """Two axes for a curve: from (24, 22) to the right and up."""
        self.arrow((24, 22), (146, 22), colour=INK, width=0.8)
        self.arrow((24, 22), (24, 104), colour=INK, width=0.8)
        self.text((142, 12), across)
        self.text((30, 108), up, side="left")
