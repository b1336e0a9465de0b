"""Pictures of forces, fields and magnets."""

from __future__ import annotations

from draw.card import COLD, FIELD, FREE, INK, LOAD, ONE, PALE, TWO, Card, circle, cosine, flat, sine

#: The outline of a large box.
BOX = ((-46, -30, -38), (46, -30, -38), (46, 30, -38), (46, 30, 12), (-46, 30, 12), (-46, -30, 12))


def gravity(on: Card) -> None:
    """Bodies that are pulled down, each by its mass."""
    for x, size, colour in ((-50, 22, ONE), (-10, 30, TWO), (38, 38, ONE)):
        on.box((x, 0, 26 - size / 6), (size, 0.8 * size, size), colour)
        on.arrow((x, 0, 26 - size / 6), (x, 0, 18 - 1.6 * size))
    on.text((45, 40), "m g", LOAD)
    on.arrow((150, 40), (150, 14), colour=INK, width=0.9)
    on.text((142, 28), "g")


def spring(on: Card) -> None:
    """A spring between points of two bodies pulls them together."""
    _pair(on)
    on.coil((45, 52), (109, 52), 6)
    on.measure((45, 86), (109, 86), "L")
    on.text((80, 18), "k (L - L0)", LOAD)
    on.arrow((46, 34), (70, 34))
    on.arrow((108, 34), (84, 34))


def string(on: Card) -> None:
    """A string between two bodies pulls where it is taut, and hangs slack where it is not."""
    _pair(on)
    on.line((45, 52), (109, 52), colour=LOAD, width=1.4)
    on.line((45, 38), (62, 28), (80, 25), (92, 28), (109, 38), dashed=True)
    on.measure((45, 86), (109, 86), "L > L0")
    on.text((80, 12), "L < L0")
    on.arrow((46, 62), (70, 62))
    on.arrow((108, 62), (84, 62))


def damper(on: Card) -> None:
    """A damper between points of two bodies resists their parting."""
    _pair(on)
    on.dashpot((45, 52), (109, 52))
    on.arrow((94, 90), (130, 90), colour=FREE)
    on.arrow((60, 90), (24, 90), colour=FREE)
    on.text((77, 90), "L'", FREE)
    on.text((80, 18), "c L'", LOAD)
    on.arrow((46, 34), (70, 34))
    on.arrow((108, 34), (84, 34))


def potential_well(on: Card) -> None:
    """A body is pulled to a centre, the more the farther it is."""
    for radius in (24, 46):
        on.line(*circle((62, 56), radius, "flat"), colour=PALE, width=0.6, dashed=True)
    on.disc((62, 56), 2.2)
    on.text((58, 45), "centre", size=6.2)
    on.ball((116, 84), 13)
    on.arrow((116, 84), (78, 64.3))
    on.text((112, 56), "k (c - r)", LOAD, side="left")


def bushing(on: Card) -> None:
    """A block of rubber between two bodies resists displacement and turn."""
    on.box((-50, 0, -4), (22, 52, 54))
    on.box((0, 0, -4), (76, 34, 34), "#e3e6ea")
    for height in (-16, -4, 8):
        on.coil((-38, -17, height), (38, -17, height), 8, 2.0, PALE)
    on.box((50, 0, -4), (22, 52, 54), TWO)
    on.text((80, 12), "-K x - C x'", LOAD)
    on.turn((66, 0, -4), 15, "x", 60, -260)
    on.arrow((0, 0, 46), (44, 0, 46), colour=FREE)
    on.text((-10, 0, 46), "d", FREE)


def load(on: Card) -> None:
    """A force at a point of a body and a torque on it."""
    on.box((0, 0, -14), (66, 48, 44), TWO)
    on.arrow((-58, -24, 24), (-22, -24, -2), width=1.8)
    on.disc((-22, -24, -2), 2)
    on.text((22, 80), "F(t)", LOAD)
    on.turn((4, 0, 26), 20, "z", 5, 290, LOAD)
    on.text((107, 88), "torque", LOAD, side="left")


def thruster(on: Card) -> None:
    """A nozzle on a body pushes it along z of its site."""
    on.box((4, 0, -4), (56, 44, 44), TWO)
    x, y = flat((-24, 0, -4))
    on.fill((x - 14, y - 13), (x - 14, y + 13), (x, y + 6), (x, y - 6), colour=ONE)
    for side in (-1, 0, 1):
        on.line(
            (x - 18, y + 7 * side),
            (x - 38 + 4 * abs(side), y + 13 * side),
            colour=PALE,
            width=1.2,
            dashed=True,
        )
    on.arrow((x, y), (x + 42, y), width=2.0)
    on.text((x + 21, y - 12), "thrust", LOAD)
    on.arrow((44, 0, -4), (64, 0, -4), colour=INK, width=0.9, words="z")
    on.text((84, 14), "turns with the body")


def reaction_wheel(on: Card) -> None:
    """A wheel spins up in a body, which gets the opposite torque."""
    on.fill(*(flat(p) for p in BOX), colour="#fbf3df", edge=PALE)
    on.rod((0, 0, -10), "z", 28, 10)
    on.line((0, 0, -4), (0, 0, 8))
    on.arrow((0, 0, -5), (0, 0, 48), colour=INK, words="h")
    on.turn((0, 0, 14), 17, "z", 5, 285)
    on.turn((0, 0, -32), 40, "z", 330, -230, LOAD)
    on.text((107, 28), "-h'", LOAD)


def orbit(on: Card) -> None:
    """The origin of N falls along an ellipse about a planet; its axes do not turn."""
    ellipse = [(84 + 58 * cosine(a), 58 + 38 * sine(a)) for a in range(0, 361, 8)]
    on.line(*ellipse, colour=PALE, dashed=True)
    on.planet((50, 58), 15)
    on.text((50, 58), "μ")
    for a in (5, 125, 250):
        on.frame((84 + 58 * cosine(a), 58 + 38 * sine(a)), length=12, names="   ")
    on.arrow(*((84 + 58 * cosine(a), 58 + 38 * sine(a)) for a in range(20, 62, 6)), colour=FREE)
    on.text((130, 54), "N")


def point_gravity(on: Card) -> None:
    """A planet at rest in N pulls a long body and turns it upright."""
    on.planet((34, 40), 24)
    on.frame((34, 40), length=15, names="   ")
    on.text((22, 50), "N")
    on.bar((92, 92), (136, 74), 15)
    on.arrow((114, 83), (74, 62.4), width=1.9)
    on.line((74, 62.4), (52, 50), colour=PALE, dashed=True)
    on.text((96, 56), "μ m / R²", LOAD)
    on.turn((114, 83), 27, "flat", 355, 52, LOAD)


def gravity_gradient(on: Card) -> None:
    """Of two bodies beside the falling origin of N, the near one is pulled down and the far one
    up."""
    on.planet((80, -62), 84)
    on.line(*circle((80, -62), 122, "flat", 60, 60), colour=PALE, dashed=True)
    on.frame((80, 60), length=17, names="   ")
    on.text((70, 66), "N")
    on.ball((80, 88), 8)
    on.ball((80, 38), 8)
    on.arrow((80, 88), (80, 113))
    on.arrow((80, 38), (80, 14))
    on.arrow((108, 54), (134, 45.5), colour=FREE)
    on.text((120, 92), "g(R0 + r)", LOAD)
    on.text((121, 80), "- g(R0)", LOAD)


def hill_frame(on: Card) -> None:
    """N turns with a circular orbit: x points up, y along the track."""
    on.planet((20, 12), 32)
    on.line(*circle((20, 12), 82, "flat", -6, 104), colour=PALE, dashed=True)
    for angle, mark in ((48, "xy"), (4, "  "), (84, "  ")):
        x, y = 20 + 82 * cosine(angle), 12 + 82 * sine(angle)
        c, s = cosine(angle), sine(angle)
        long = 28 if mark == "xy" else 15
        on.arrow((x, y), (x + long * c, y + long * s), colour=INK, width=1.0, words=mark[0].strip())
        on.arrow((x, y), (x - long * s, y + long * c), colour=INK, width=1.0, words=mark[1].strip())
        on.disc((x, y), 1.8)
    on.turn((20, 12), 50, "flat", 18, 56)
    on.text((46, 42), "n", FREE)


def charge(on: Card) -> None:
    """A charge at a site of a body."""
    on.box((-6, 0, -6), (70, 50, 46), TWO)
    spot = flat((8, -25, -2))
    on.frame(flat((-30, -25, -20)), length=13, names="   ")
    on.arrow(flat((-30, -25, -20)), spot, colour=PALE, width=0.8)
    on.disc(spot, 11, "#ffffff", LOAD)
    on.text(spot, "+", LOAD, 13)
    on.text((spot[0] - 18, spot[1] + 4), "q", LOAD)


def coulomb(on: Card) -> None:
    """Two charges of one sign push each other apart, less so in a plasma."""
    for x, y in ((66, 78), (76, 34), (88, 84), (94, 42), (82, 60), (70, 52), (92, 66)):
        on.disc((x, y), 1.3, PALE, "none")
    for x, side, colour in ((48, -1, ONE), (112, 1, TWO)):
        on.disc((x, 58), 15, colour)
        on.text((x, 58), "+", INK, 13)
        on.arrow((x + 15 * side, 58), (x + 40 * side, 58))
    on.measure((48, 28), (112, 28), "d", -8)
    on.text((80, 102), "exp(-d/l) / d")


def potential(on: Card) -> None:
    """A body on the slope of any function is pushed down it."""
    on.plot("r", "U(r)")
    on.line(*((28 + x, _valley(x)) for x in range(0, 115, 3)), width=1.4)
    on.ball((121, 78), 9)
    on.arrow((121, 78), (132, 57))
    on.text((130, 98), "-dU/dr", LOAD)


def magnet(on: Card) -> None:
    """A permanent magnet: a dipole along z of its site."""
    _field_lines(on, (74, 46), 46, 66)
    _bar_magnet(on, (74, 46), 26, 46)
    on.arrow((74, 69), (74, 108), colour=FIELD, width=2.0)
    on.text((82, 104), "m = moment z", FIELD, side="left", size=6.2)


def electromagnet(on: Card) -> None:
    """A coil whose moment may change with time."""
    on.rod((-6, 0, -4), "z", 19, 52)
    for k in range(7):
        on.line(*circle((-6, 0, -23 + 6.5 * k), 20, "z", 160, 220), colour="#a8561c", width=2.0)
    on.line((48, 27), (20, 27), (20, 42), width=1.0)
    on.line((48, 75), (20, 75), (20, 60), width=1.0)
    on.disc((20, 51), 9, "#ffffff")
    on.text((20, 51), "~")
    on.arrow((-6, 0, 22), (-6, 0, 56), colour=FIELD, width=2.0)
    on.text((78, 106), "m(t)", FIELD, side="left")


def dipoles(on: Card) -> None:
    """Magnets on two bodies pull and turn each other."""
    on.bar((14, 48), (58, 48), 22, ONE)
    on.bar((104, 34), (136, 66), 22)
    on.arrow((22, 48), (54, 48), colour=FIELD, width=2.0)
    on.arrow((109, 39), (133, 63), colour=FIELD, width=2.0)
    on.text((30, 67), "m1", FIELD)
    on.text((142, 44), "m2", FIELD)
    on.arrow((60, 48), (80, 48))
    on.arrow((106, 50), (86, 50))
    on.turn((120, 50), 31, "flat", 92, -74, LOAD)
    on.text((84, 100), "F = -dU/dr,  m × B", LOAD)


def planet_field(on: Card) -> None:
    """The field of a planet's dipole turns a magnet on a body along itself."""
    on.planet((44, 58), 17)
    _field_lines(on, (44, 58), 22, 40)
    on.arrow((44, 70), (44, 46), colour=FIELD, width=2.0)
    on.text((53, 58), "M", FIELD)
    on.box((42, 0, 2), (28, 24, 24), TWO)
    on.arrow((120, 60), (140, 82), colour=FIELD, width=2.0)
    on.text((148, 74), "m", FIELD)
    on.line((120, 28), (120, 100), colour=FIELD, width=0.9, dashed=True)
    on.text((128, 104), "B", FIELD)
    on.turn((120, 60), 36, "flat", 44, 38, LOAD)


def superconductor(on: Card) -> None:
    """A flat face at a site that pins flux while it is cold; z points out of it."""
    on.box((0, 0, -26), (84, 64, 26), ONE)
    on.box((0, 0, -9), (62, 46, 8), COLD)
    on.arrow((0, 0, -5), (0, 0, 42), colour=INK, width=1.0, words="z")
    on.text((112, 72), "cold")
    x, y = 112, 90
    for a in (0, 60, 120):
        on.line(
            (x - 9 * cosine(a), y - 9 * sine(a)),
            (x + 9 * cosine(a), y + 9 * sine(a)),
            colour=LOAD,
            width=1.0,
        )


def flux_pinning(on: Card) -> None:
    """A magnet hovers over a cold face, behind which lie its mobile and its frozen image."""
    on.fill((10, 52), (150, 52), (150, 62), (10, 62), colour=COLD)
    _bar_magnet(on, (66, 88), 22, 26)
    on.arrow((66, 80), (66, 100), colour="#ffffff", width=1.6)
    for x, name, up, side in ((66, "mobile", -9, "right"), (92, "frozen", 9, "left")):
        on.line((x - 10, 16), (x + 10, 16), (x + 10, 40), (x - 10, 40), (x - 10, 16), dashed=True)
        on.arrow((x, 28 - up), (x, 28 + up), colour=FIELD)
        on.text((x + 14 if side == "left" else x - 14, 28), name, side=side, size=6.2)
    on.turn((66, 88), 22, "z", 205, 130)
    on.arrow((80, 88), (108, 88))
    on.text((121, 98), "back to where", LOAD, 5.8)
    on.text((121, 79), "it was cooled", LOAD, 5.8)


# --- shared by several ----------------------------------------------------------------------------
def _valley(x: float) -> float:
    """Two valleys, as heights on the card."""
    return 56 + 24 * cosine(5.2 * x) + 0.08 * x


def _pair(on: Card) -> None:
    """Two bodies, with a point each."""
    on.box((-46, 0, -4), (30, 34, 36))
    on.box((56, 0, -4), (30, 34, 36), TWO)


def _bar_magnet(on: Card, centre: tuple[float, float], width: float, height: float) -> None:
    """A magnet that points up."""
    x, y = centre
    on.fill((x - width / 2, y), (x + width / 2, y), (x + width / 2, y + height / 2), (x - width / 2,
    y + height / 2),
            colour="#d9695f")  # fmt: skip
    on.fill((x - width / 2, y - height / 2), (x + width / 2, y - height / 2), (x + width / 2, y),
    (x - width / 2, y),
            colour=ONE)  # fmt: skip


def _field_lines(on: Card, centre: tuple[float, float], near: float, far: float) -> None:
    """Lines of a dipole's field beside it."""
    x, y = centre
    for reach in (near, far, -near, -far):
        points = (
            (x + reach * sine(a) ** 3, y + abs(reach) * sine(a) ** 2 * cosine(a))
            for a in range(25, 156, 5)
        )
        on.line(*points, colour=FIELD, width=0.6)
