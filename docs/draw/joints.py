"""Pictures of joints, and of what acts on their coordinates."""

from __future__ import annotations

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
    circle,
    cosine,
    flat,
    sine,
    smooth,
)

#: Half a turn of a thread: a way along it, cosine and sine.
HALF = [(3 * a / 90, cosine(a), sine(a)) for a in range(-90, 91, 30)]


def fixed(on: Card) -> None:
    """Two bodies welded together; their sites are one frame."""
    on.box((-30, 0, -8), (58, 44, 46))
    on.box((28, 0, -8), (58, 44, 46), TWO)
    on.line((-1, -22, -31), (-1, -22, 15), (-1, 22, 15), width=2.6)
    on.text((84, 100), "e1 = e2,  d = 0")


def revolute(on: Card) -> None:
    """Two plates on a pin: one turns about z."""
    on.box((-38, 0, -4), (50, 10, 50))
    on.box((40, 0, -4), (46, 10, 50), TWO)
    on.box((12, 0, -4), (16, 10, 17), TWO)
    for height, colour in ((-21, ONE), (-4, TWO), (13, ONE)):
        on.rod((0, 0, height), "z", 11, 17, colour)
    on.line((0, 0, -30), (0, 0, -42), dashed=True)
    on.arrow((0, 0, 22), (0, 0, 50), colour=INK, width=0.9, words="z")
    on.turn((0, 0, 36), 18, "z", 5, 290)


def prismatic(on: Card) -> None:
    """A square sleeve on a square bar: it slides along z."""
    on.box((0, 0, -4), (124, 16, 16))
    on.box((-8, 0, -4), (44, 36, 36), TWO)
    on.arrow((-50, 0, 36), (40, 0, 36), colour=FREE, both=True)
    on.text((-5, 0, 46), "travel along z", FREE)


def screw(on: Card) -> None:
    """A nut on a bolt: as it turns about z it moves along it."""
    on.rod((0, 0, -4), "x", 9, 124)
    for k in range(17):
        on.line(*((x + 7 * k - 57, -9 * c, 9 * s - 4) for x, c, s in HALF), width=0.6)
    on.rod((-12, 0, -4), "x", 22, 30, TWO)
    thread = [
        (3 + 0.075 * a, 32 * cosine(a + 90), 32 * sine(a + 90) - 4) for a in range(-60, 500, 14)
    ]
    on.arrow(*thread, colour=FREE)
    on.text((80, 11), "travel = pitch · angle", FREE)


def cylindrical(on: Card) -> None:
    """A round sleeve on a round bar: it slides along z and turns about it."""
    on.rod((0, 0, -6), "x", 9, 124)
    on.rod((-12, 0, -6), "x", 23, 44, TWO)
    on.rod((36, 0, -6), "x", 9, 52)
    on.arrow((-56, 0, 34), (34, 0, 34), colour=FREE, both=True)
    on.text((-11, 0, 44), "travel, angle", FREE)
    on.turn((34, 0, -6), 24, "x", 60, -290)


def universal(on: Card) -> None:
    """Two forks on a cross: one turns about x1, the other about y2."""
    on.rod((-50, 0, 0), "x", 7, 34)
    on.box((-30, 0, 0), (6, 50, 10))
    on.box((-11, 22, 0), (34, 6, 12))
    on.box((11, 0, -20), (34, 10, 5), TWO)
    on.rod((0, 0, 0), "z", 3, 38, "#ffffff")
    on.rod((0, 0, 0), "y", 3, 40, "#ffffff")
    on.box((30, 0, 0), (6, 10, 46), TWO)
    on.rod((50, 0, 0), "x", 7, 34, TWO)
    on.box((11, 0, 20), (34, 10, 5), TWO)
    on.box((-11, -22, 0), (34, 6, 12))
    on.line((0, -26, 0), (0, -62, 0), width=0.8)
    on.line((0, 0, 24), (0, 0, 44), width=0.8)
    on.turn((0, -48, 0), 12, "y", 100, 280)
    on.turn((0, 0, 35), 14, "z", 5, 290)
    on.text((40, 23), "x1")
    on.text((0, 0, 50), "y2")


def planar(on: Card) -> None:
    """A block on a table: it slides along x and y and turns about z."""
    on.box((0, 0, -28), (104, 92, 8))
    on.box((-6, 0, -13), (48, 40, 22), TWO)
    on.arrow((-6, 0, -2), (54, 0, -2), colour=FREE, words="x")
    on.arrow((-6, 0, -2), (-6, 64, -2), colour=FREE, words="y")
    on.line((-6, 0, -2), (-6, 0, 44), dashed=True)
    on.turn((-6, 0, 32), 20, "z", 5, 290)
    on.text((-6, 0, 50), "z")


def spherical(on: Card) -> None:
    """A ball in a socket: it turns any way."""
    on.rod((0, 0, -37), "z", 30, 6)
    on.rod((0, 0, -20), "z", 20, 28)
    on.ball((0, 0, -4), 15)
    on.fill(
        *circle((0, 0, -6), 20, "z", 203, 180), *circle((0, 0, -34), 20, "z", 23, -180), colour=ONE
    )
    on.rod((0, 0, 20), "z", 5, 20, TWO)
    on.box((0, 0, 36), (52, 30, 14), TWO)
    _any_turn(on, (0, 0, -4))


def point_on_line(on: Card) -> None:
    """A ball in a groove along z: it slides along it and turns any way."""
    on.box((0, 0, -30), (128, 36, 18))
    on.line((-64, 0, -21), (64, 0, -21), width=3.6, colour=PALE)
    on.ball((-4, 0, -12), 11)
    on.rod((-4, 0, 9), "z", 4, 22, TWO)
    on.box((-4, 0, 28), (44, 26, 18), TWO)
    on.arrow((-44, -18, -30), (44, -18, -30), colour=FREE, both=True)
    on.text((54, -18, -30), "z", FREE)
    _any_turn(on, (-4, 0, -12))


def point_on_plane(on: Card) -> None:
    """A ball on a table across z: it slides along x and y and turns any way."""
    on.box((0, 0, -34), (104, 80, 8))
    on.ball((-22, 0, -19), 11)
    on.rod((-22, 0, 3), "z", 4, 22, TWO)
    on.box((-22, 0, 22), (40, 26, 18), TWO)
    on.arrow((14, -6, -30), (38, -6, -30), colour=FREE)
    on.arrow((14, -6, -30), (14, 36, -30), colour=FREE)
    on.text((45, -6, -30), "x", FREE)
    on.text((19, 22, -28), "y", FREE)
    _any_turn(on, (-22, 0, -19))


def parallel(on: Card) -> None:
    """Two bodies apart whose z axes stay parallel."""
    on.box((-42, 0, -26), (42, 34, 28))
    on.arrow((-42, 0, -12), (-42, 0, 38), colour=INK, width=1.0, words="z1")
    on.box((20, 0, -14), (42, 34, 28), TWO)
    on.arrow((20, 0, 0), (20, 0, 50), colour=INK, width=1.0, words="z2")
    on.turn((20, 0, 22), 15, "z", 5, 290)
    on.arrow((46, 0, -14), (72, 0, -14), colour=FREE)
    on.arrow((20, -20, -20), (20, -58, -20), colour=FREE)
    on.arrow((56, 0, -6), (56, 0, 22), colour=FREE)


def perpendicular(on: Card) -> None:
    """Two bodies apart: x1 of one and y2 of the other stay at a right angle."""
    on.box((-44, 0, -28), (38, 32, 30))
    on.box((42, 0, 30), (38, 32, 24), TWO)
    on.arrow((-20, 0, -28), (22, 0, -28), colour=INK, width=1.2)
    on.line((22, 0, -28), (60, 0, -28), dashed=True)
    on.arrow((42, -8, 16), (42, -8, -10), colour=INK, width=1.2)
    on.line((42, -8, -10), (42, -8, -26), dashed=True)
    x, y = flat((42, -8, -25.5))
    on.line((x - 8, y), (x - 8, y + 8), (x, y + 8), width=1.2, colour=FREE)
    on.text((-2, 0, -18), "x1")
    on.text((54, -8, 2), "y2")


def distance(on: Card) -> None:
    """Two bodies on a bar of constant length between two points."""
    on.box((-43, 0, -20), (40, 32, 32))
    on.box((46, 0, 22), (40, 32, 32), TWO)
    start, end = (-32, -16, -12), (34, -16, 20)
    on.bar(start, end, 5, "#ffffff")
    on.disc(start, 4, INK)
    on.disc(end, 4, INK)
    on.measure((-44, -16, 10), (18, -16, 40), "")
    on.text((40, 82), "length")


def rope(on: Card) -> None:
    """Two bodies on a rope, slack while they are nearer than its length."""
    on.box((-43, 0, 4), (40, 32, 32))
    on.box((34, 0, 14), (40, 32, 32), TWO)
    start, end = flat((-32, -16, 0)), flat((22, -16, 10))
    sag = [(u, 4 * u * (1 - u)) for u in (k / 20 for k in range(21))]
    on.line(
        *((start[0] + u * (end[0] - start[0]), start[1] + 10 * u - 30 * s) for u, s in sag),
        width=1.6,
    )
    on.disc(start, 3)
    on.disc(end, 3)
    on.arrow((58, 0, 14), (79, 0, 14), colour=FREE)
    on.text((80, 12), "distance ≤ length")


def gear(on: Card) -> None:
    """Two wheels in mesh: the turn of one is the ratio times that of the other."""
    one, two = (54, 58), (112, 58)
    for centre, radius, teeth, colour, start in ((one, 34, 17, ONE, 0), (two, 24, 12, TWO, 15)):
        on.fill(*_wheel(centre, radius, teeth, start), colour=colour)
        on.disc(centre, 4, "#ffffff")
    on.turn(one, 22, "flat", 150, -240)
    on.turn(two, 14, "flat", 30, 240)
    on.text((56, 105), "first")
    on.text((112, 93), "second")
    on.text((84, 11), "x2 = ratio · x1 + offset", FREE)


def prescribed(on: Card) -> None:
    """A hinge that is driven: its angle follows a function of time."""
    on.bar((10, 28), (64, 28), 14, ONE)
    on.bar((24, 34), (60, 86), 12)
    on.disc((24, 34), 7, "#ffffff")
    on.disc((24, 34), 2)
    on.turn((24, 34), 40, "flat", 2, 46)
    on.arrow((84, 40), (150, 40), colour=INK, width=0.8)
    on.arrow((84, 40), (84, 96), colour=INK, width=0.8)
    on.line(*((88 + 52 * s, 44 + 40 * smooth(s)) for s in STEPS), colour=FREE, width=1.6)
    on.text((90, 102), "angle", FREE, side="left")
    on.text((146, 31), "t")


def hinge_spring(on: Card) -> None:
    """A spiral spring at a hinge turns it back."""
    _hinge(on)
    spiral = [(5 + 0.021 * a, a) for a in range(0, 815, 12)]
    on.line(*((46 + r * cosine(a), 36 + r * sine(a)) for r, a in spiral), width=1.0)
    on.turn((46, 36), 62, "flat", 34, -30, LOAD)
    on.text((50, 104), "-k x - c x'", LOAD)


def servo(on: Card) -> None:
    """A motor at a hinge turns an arm to where its target is."""
    _hinge(on)
    on.disc((46, 36), 11, LOAD)
    on.line((46, 36), (112, 54), colour=PALE, dashed=True)
    on.text((106, 44), "target", PALE)
    on.turn((46, 36), 58, "flat", 38, -20, LOAD)
    on.text((52, 104), "-k e - c e'", LOAD)


def motor(on: Card) -> None:
    """A motor at a hinge turns an arm, and pushes back on what it stands on."""
    _hinge(on)
    on.disc((46, 36), 11, LOAD)
    on.turn((46, 36), 58, "flat", -20, 38, LOAD)
    on.turn((46, 36), 26, "flat", 230, 170, LOAD)
    on.text((52, 104), "torque", LOAD)


def tape_spring(on: Card) -> None:
    """The moment of a tape spring over its angle: linear, a snap, a plateau on either side."""
    on.arrow((10, 60), (152, 60), colour=INK, width=0.8)
    on.arrow((80, 10), (80, 108), colour=INK, width=0.8)
    on.text((140, 50), "angle", size=6.2)
    on.text((86, 110), "moment", side="left", size=6.2)
    right = [(80, 60), (89, 88), (91, 92.5), (94, 95)]
    fall = [(94 + 20 * s, 95 - 23 * smooth(s)) for s in STEPS]
    left = [(14, 36), (66, 36), (70, 37.5), (73, 41)]
    on.line(*left, *right, *fall, (148, 72), colour=LOAD, width=1.5)
    on.text((110, 99), "peak")
    on.text((130, 82), "plateau")


def joint_spring(on: Card) -> None:
    """A spring along the coordinate of a slide."""
    _slide(on)
    on.coil((27, 48), (84, 48))
    on.arrow((92, 74), (52, 74), words="F")
    on.text((70, 88), "F = -k (x - rest) - c x'", size=6.2)


def joint_damper(on: Card) -> None:
    """A damper along the coordinate of a slide."""
    _slide(on)
    on.dashpot((27, 48), (84, 48))
    on.arrow((92, 74), (52, 74), words="F")
    on.text((76, 90), "F = -c x'")


def viscous_hinges(on: Card) -> None:
    """Several hinges, each with a damper about its axis."""
    on.line((22, 34), (64, 62), (100, 34), (140, 62), width=5.0, colour=ONE)
    for x, y in ((64, 62), (100, 34)):
        on.disc((x, y), 6, "#ffffff")
        on.disc((x, y), 2)
        on.turn((x, y), 15, "flat", 20, 250, LOAD)
    on.text((80, 92), "-c x' at each", LOAD)


def sprung_hinges(on: Card) -> None:
    """Several hinges, each with a spiral spring that turns it to the same angle."""
    on.line((22, 34), (64, 62), (100, 34), (140, 62), width=5.0, colour=ONE)
    for x, y in ((64, 62), (100, 34)):
        on.disc((x, y), 7, "#ffffff")
        spiral = [(2 + 0.008 * a, a) for a in range(0, 635, 15)]
        on.line(*((x + r * cosine(a), y + r * sine(a)) for r, a in spiral), width=0.8)
        on.turn((x, y), 15, "flat", 20, 250, LOAD)
    on.text((80, 92), "-k (x - rest) at each", LOAD)


def joint_friction(on: Card) -> None:
    """Friction on a slide: a normal load, and a force against the motion."""
    _slide(on)
    on.arrow((103, 98), (103, 66), colour=INK, words="")
    on.text((112, 92), "N", side="left")
    on.arrow((94, 38), (58, 38), words="μN")
    on.line(*((84 + 4 * k, 31) for k in range(10)), width=1.4, colour=LOAD, dashed=True)


def joint_stop(on: Card) -> None:
    """A slide between two stops: its coordinate stays between lower and upper."""
    on.fill((12, 22), (150, 22), (150, 30), (12, 30), colour=ONE)
    for x, sign in ((22, 1), (140, -1)):
        on.fill((x, 30), (x - 6 * sign, 30), (x - 6 * sign, 66), (x, 66), colour=ONE)
        on.fill((x, 42), (x + 5 * sign, 44), (x + 5 * sign, 52), (x, 54), colour=INK)
    on.fill((66, 30), (102, 30), (102, 62), (66, 62), colour=TWO)
    on.arrow((60, 48), (32, 48), colour=FREE)
    on.arrow((108, 48), (131, 48), colour=FREE)
    on.text((27, 76), "lower")
    on.text((136, 76), "upper")
    on.line((84, 62), (84, 82), dashed=True)
    on.text((84, 90), "x", FREE)


def latch(on: Card) -> None:
    """A slide with a pin that has dropped into a notch, and is held both ways."""
    on.fill((12, 22), (150, 22), (150, 30), (12, 30), colour=ONE)
    notch = (106, 58), (84, 58), (84, 48), (74, 48), (74, 58), (52, 58)
    on.fill((52, 30), (106, 30), *notch, colour=TWO)
    on.fill((75, 49), (83, 49), (83, 88), (75, 88), colour=ONE)
    on.arrow((79, 106), (79, 92), colour=LOAD)
    on.arrow((20, 44), (46, 44), colour=FREE)
    on.line((79, 46), (79, 12), dashed=True)
    on.text((92, 12), "at", FREE)


# --- shared by several ----------------------------------------------------------------------------
def _wheel(centre: tuple[float, float], radius: float, teeth: int, start: float) -> list[Point]:
    """The outline of a gear; start: where its first gap is [degrees]."""
    step = 360 / teeth
    points: list[Point] = []
    for k in range(teeth):
        for share, height in ((0.24, -3.5), (0.4, 3), (0.6, 3), (0.76, -3.5)):
            angle = start + (k + share) * step
            points.append(
                (
                    centre[0] + (radius + height) * cosine(angle),
                    centre[1] + (radius + height) * sine(angle),
                )
            )
    return points


def _hinge(on: Card) -> None:
    """A base and an arm that is turned out of its rest."""
    on.bar((20, 18), (140, 18), 12, ONE)
    on.bar((46, 24), (46, 36), 14, ONE)
    on.line((46, 36), (146, 36), colour=PALE, dashed=True)
    on.bar((46, 36), (110, 94), 13)
    on.disc((46, 36), 2.4)
    on.turn((46, 36), 84, "flat", 0, 42)
    on.text((137, 72), "x", FREE)


def _slide(on: Card) -> None:
    """A wall, a rail and a carriage with its coordinate."""
    on.fill((12, 22), (150, 22), (150, 30), (27, 30), (27, 66), (12, 66), colour=ONE)
    on.fill((84, 30), (122, 30), (122, 64), (84, 64), colour=TWO)
    on.arrow((122, 48), (146, 48), colour=FREE, words="")
    on.text((140, 58), "x", FREE)


def _any_turn(on: Card, centre: tuple[float, float, float]) -> None:
    """Turns of a ball, and of what stands on it, about all three axes."""
    x, y, z = centre
    on.turn((x, y, z + 22), 15, "z", 205, 230)
    on.turn((x + 26, y, z + 8), 16, "x", 70, -220)
    on.turn((x - 4, y, z), 30, "flat", 122, 48)
