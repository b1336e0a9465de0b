"""Pictures of bodies, shapes, sensors, events and schedules."""

from __future__ import annotations

import math
from itertools import pairwise

from draw.card import (
    FREE,
    INK,
    LOAD,
    ONE,
    PALE,
    STEPS,
    TWO,
    Card,
    Point,
    between,
    circle,
    cosine,
    flat,
    sine,
    smooth,
)


def body(on: Card) -> None:
    """A rigid body with its mass centre, its axes and its pose in N."""
    on.fill(*_blob((96, 62), 40), colour=TWO)
    on.frame((16, 22), length=18, names="x z")
    on.arrow((16, 22), (92, 60), colour=PALE, width=0.8)
    on.text((50, 48), "r")
    on.frame((94, 61), length=22, turned=20)
    on.text((102, 46), "m, I")
    on.text((16, 12), "N")


def beam(on: Card) -> None:
    """A slender beam clamped at one end, straight and bent, with its length and a site on it."""
    on.fill((20, 30), (28, 30), (28, 90), (20, 90), colour=ONE)
    on.line((28, 60), (140, 60), colour=PALE, dashed=True)
    bent = [(28 + 112 * k / 16, 60 + 26 * (k / 16) ** 2 * (3 - k / 16) / 2) for k in range(17)]
    on.line(*bent, colour=FREE, width=3.0)
    on.disc(bent[-1], 2.2)
    on.text((136, 98), "at(1)")
    on.measure((28, 40), (140, 40), "EI, GJ, EA", -8)


def modal_body(on: Card) -> None:
    """A panel of nodes, and a shape in which they move."""
    on.line((24, 30), (102, 30), (122, 74), (44, 74), (24, 30), colour=PALE, dashed=True)
    columns = [(24 + 26 * i, 30 + 4 * i**2) for i in range(4)]
    rows = [[(x + 10 * j, y + 22 * j) for x, y in columns] for j in range(3)]
    for row in rows:
        on.line(*row, colour=FREE)
    for start, *_, end in zip(*rows, strict=True):
        on.line(start, end, colour=FREE)
    for spot in rows[0] + rows[2]:
        on.disc(spot, 1.4)
    on.text((36, 92), "shapes", side="left", size=6.2)


def site(on: Card) -> None:
    """A frame fixed in a body, at a point given from the mass centre."""
    on.box((-22, 0, -6), (66, 50, 46), TWO)
    centre, face = flat((-26, 0, -6)), flat((11, 0, -6))
    on.disc(centre, 2.2)
    on.arrow(centre, face, colour=PALE, width=0.9)
    on.text(between(centre, (face[0], face[1] + 16), 0.5), "at")
    on.arrow(face, (face[0] + 42, face[1]), colour=INK, width=1.0, words="z")
    on.arrow(face, (face[0] - 14, face[1] - 12), colour=INK, width=1.0, words="x")
    on.arrow(face, (face[0], face[1] + 42), colour=INK, width=1.0, words="y")


def box(on: Card) -> None:
    """A cuboid with its lengths along x, y and z."""
    on.box((0, 0, 2), (76, 50, 40), TWO)
    on.measure((-38, -25, -25), (38, -25, -25), "x", -7)
    on.measure((44, -25, -18), (44, 25, -18), "y", -8)
    on.measure((-45, -25, -18), (-45, -25, 22), "z", 7)


def sphere(on: Card) -> None:
    """A ball with its radius."""
    on.ball((80, 60), 40)
    on.disc((80, 60), 1.8)
    on.measure((80, 60), (114, 41), "radius", -9)


def cylinder(on: Card) -> None:
    """A round rod along x with its radius and its length."""
    on.rod((-10, 0, 4), "x", 26, 86, TWO)
    on.measure((-53, 0, -30), (33, 0, -30), "length", -8)
    on.disc((33, 0, 4), 1.6)
    on.line((33, 0, 4), (33, 0, 30))
    on.text((123, 74), "radius", side="left", size=6.2)


def mesh(on: Card) -> None:
    """An angle of triangles, with a notch that is not filled."""
    outline = [(-36, -32), (44, -32), (44, -4), (4, -4), (4, 34), (-36, 34)]
    front, back = [[(x, y, z) for x, z in outline] for y in (-22, 22)]
    for k in (1, 2, 3, 4):
        a, b, c, d = front[k], front[k + 1], back[k + 1], back[k]
        if k != 3:
            on.fill(a, b, c, d, colour=TWO)
            on.line(a, c, colour=PALE)
    on.fill(front[3], front[4], back[4], back[3], colour=TWO)
    on.line(front[3], back[4], colour=PALE)
    on.fill(*front, colour=TWO)
    for k in (2, 3, 4):
        on.line(front[0], front[k], colour=PALE)
    for point in front:
        on.disc(point, 1.4)
    on.text((124, 96), "vertices", size=6.2)
    on.text((124, 86), "triangles", size=6.2)


def sensor(on: Card) -> None:
    """A mark on a face that notices others within its reach."""
    on.box((-38, 0, 2), (44, 50, 50), TWO)
    x, y = flat((-16, 0, 2))
    on.disc((x, y), 4, LOAD, LOAD)
    for radius in (18, 32, 46):
        on.line(*circle((x, y), radius, "flat", -32, 64), colour=LOAD, width=1.2)
    on.arrow((x, y), (x + 74, y), colour=INK, width=0.9, words="z")
    on.measure((x, 20), (x + 46, 20), "reach", -9)


def at_rest(on: Card) -> None:
    """Speed and acceleration fall below their thresholds."""
    on.plot("t", "speed")
    curve = [
        (26 + t, 26 + 62 * math.exp(-t / 30) * (0.62 + 0.38 * cosine(5 * t)))
        for t in range(0, 113, 3)
    ]
    on.line(*curve, width=1.4)
    on.line((24, 33), (144, 33), colour=PALE, dashed=True)
    on.disc((113, 29.5), 4, FREE, FREE)
    on.text((113, 46), "at rest", FREE)


def energy_below(on: Card) -> None:
    """The energy falls below a threshold."""
    on.plot("t", "energy")
    on.line(*((26 + t, 32 + 58 * math.exp(-t / 55)) for t in range(0, 112, 4)), width=1.4)
    on.line((24, 53), (144, 53), colour=PALE, dashed=True)
    on.disc((82, 53), 4, FREE, FREE)
    on.text((100, 64), "event", FREE)


def sensors_meet(on: Card) -> None:
    """Two sensors come within reach of each other, face to face."""
    on.box((-42, 0, -4), (36, 44, 44))
    on.box((48, 0, -4), (36, 44, 44), TWO)
    one, two = flat((-24, 0, -4)), flat((30, -22, -4))
    two = two[0] + 2, one[1]
    for spot, side in ((one, 1), (two, -1)):
        on.disc(spot, 4, LOAD, LOAD)
        on.arrow((spot[0], spot[1]), (spot[0] + 19 * side, spot[1]), colour=INK, width=0.9)
    on.arrow((98, 94), (66, 94), colour=FREE)
    on.text((80, 12), "reach, alignment, roll")


def when(on: Card) -> None:
    """A function of the state crosses zero."""
    on.arrow((16, 58), (148, 58), colour=INK, width=0.8)
    on.arrow((24, 16), (24, 104), colour=INK, width=0.8)
    on.text((142, 47), "t")
    on.text((30, 108), "function(state)", side="left")
    on.line(*((26 + t, 58 + 34 * cosine(2.4 * t + 10)) for t in range(0, 110, 3)), width=1.4)
    for t in (80 / 2.4, 260 / 2.4):
        on.disc((26 + t, 58), 4, FREE, FREE)


def switch(on: Card) -> None:
    """From a moment on, other joints and forces act."""
    on.arrow((16, 24), (148, 24), colour=INK, width=0.8)
    on.text((142, 13), "t")
    for y, first, last in ((88, 22, 80), (66, 22, 138), (44, 80, 138)):
        on.line((first, y), (last, y), colour=LOAD if y == 66 else FREE, width=3.0)
    on.line((80, 20), (80, 102), dashed=True)
    on.disc((80, 24), 3, FREE, FREE)


def settled(on: Card) -> None:
    """A motion has died down to an equilibrium, from which another one begins."""
    on.plot("t", "angle")
    on.line((24, 50), (104, 50), colour=PALE, dashed=True)
    curve = [(26 + t, 50 + 34 * math.exp(-t / 22) * cosine(9 * t)) for t in range(0, 79, 2)]
    on.line(*curve, width=1.4)
    on.line(*((104 + t, 50 + 34 * smooth(t / 40)) for t in range(0, 41, 4)), colour=FREE, width=1.4)
    on.line((104, 20), (104, 96), dashed=True)
    on.disc((104, 50), 4, FREE, FREE)
    on.text((78, 34), "settled", FREE)


def threshold(on: Card) -> None:
    """A measured number rises to a level."""
    on.plot("t", "hinge.angle")
    on.line(*((26 + t, 28 + 60 * smooth(t / 112)) for t in range(0, 113, 4)), width=1.4)
    on.line((24, 66), (144, 66), colour=PALE, dashed=True)
    on.text((34, 74), "level", PALE, side="left")
    on.disc((87, 66), 4, FREE, FREE)
    on.text((114, 56), "event", FREE)


def schedule(on: Card) -> None:
    """Values at knots, held, joined by lines or smoothly."""
    on.plot("t", "value")
    knots = [(34, 38), (72, 84), (104, 52), (136, 76)]
    for (x1, y1), (x2, y2) in pairwise(knots):
        on.line((x1, y1), (x2, y1), (x2, y2), colour=PALE, width=0.8)
        on.line((x1, y1), (x2, y2), colour=LOAD, width=0.9, dashed=True)
        on.line(
            *((x1 + s * (x2 - x1), y1 + smooth(s) * (y2 - y1)) for s in STEPS),
            colour=FREE,
            width=1.4,
        )
    for knot in knots:
        on.disc(knot, 3)


# --- shared by several ----------------------------------------------------------------------------
def _blob(centre: tuple[float, float], size: float) -> list[Point]:
    """The outline of a body of any shape."""
    return [
        (
            centre[0] + size * (1 + 0.12 * cosine(2 * a + 40) + 0.06 * cosine(3 * a)) * cosine(a),
            centre[1]
            + 0.85 * size * (1 + 0.12 * cosine(2 * a + 40) + 0.06 * cosine(3 * a)) * sine(a),
        )
        for a in range(0, 360, 8)
    ]
