"""Pictures of what joints are made of."""

from __future__ import annotations

from draw.card import FREE, INK, ONE, PALE, Card, circle


def coincident_points(on: Card) -> None:
    """The origins of two frames are one point."""
    on.frame((66, 36), "1", 44, names="x z")
    on.frame((66, 36), "2", 44, 22, names="x z")
    on.disc((66, 36), 4, FREE, FREE)
    on.text((66, 18), "d = 0", FREE)


def origin_on_line(on: Card) -> None:
    """The origin of site 2 lies on an axis of site 1."""
    on.line((16, 26.6), (150, 75.2), colour=PALE, dashed=True)
    on.frame((36, 33.8), "1", length=24, turned=20, names=" yz")
    on.text((64, 34), "x1")
    on.frame((108, 60), "2", length=24, turned=-40, names="x z")
    on.disc((108, 60), 4, FREE, FREE)


def origin_on_plane(on: Card) -> None:
    """The origin of site 2 lies at an offset over a plane of site 1."""
    on.fill((-54, -36, -24), (50, -36, -24), (50, 50, -24), (-54, 50, -24), colour=ONE)
    on.frame((-26, 0, -24), "1", length=22)
    on.frame((34, 0, 22), "2", length=20, turned=20)
    on.disc((34, 0, 22), 4, FREE, FREE)
    on.measure((34, 0, -24), (34, 0, 16), "")
    on.text((131, 62), "offset")


def parallel_axes(on: Card) -> None:
    """An axis of site 1 and that of site 2 point the same way."""
    for x, y, mark in ((48, 26, "1"), (106, 40, "2")):
        on.arrow((x, y), (x + 14, y + 56), colour=FREE, width=1.8, words="z" + mark)
        on.disc((x, y), 2)
        on.arrow((x, y), (x + 20, y - 5), colour=INK, width=0.8)
        on.arrow((x, y), (x - 10 if mark == "1" else x + 12, y + 14), colour=INK, width=0.8)


def perpendicular_axes(on: Card) -> None:
    """An axis of site 1 and one of site 2 enclose a right angle."""
    on.arrow((24, 30), (80, 30), colour=FREE, width=1.8)
    on.line((80, 30), (124, 30), colour=PALE, dashed=True)
    on.arrow((116, 96), (116, 54), colour=FREE, width=1.8)
    on.line((116, 54), (116, 30), colour=PALE, dashed=True)
    on.line((106, 30), (106, 40), (116, 40), width=1.2)
    on.disc((24, 30), 2)
    on.disc((116, 96), 2)
    on.text((50, 42), "axis1")
    on.text((134, 76), "axis2")


def same_orientation(on: Card) -> None:
    """Two frames apart, their axes the same."""
    on.frame((34, 30), "1", 26)
    on.frame((98, 52), "2", 26)
    on.text((44, 102), "e1 = e2", FREE)


def fixed_distance(on: Card) -> None:
    """The origins of two sites are a fixed length apart."""
    on.line((36, 36), (124, 80), colour=FREE, width=1.6)
    on.frame((36, 36), "1", 17, -32)
    on.frame((124, 80), "2", 17, 70)
    on.text((96, 50), "length", FREE)


def distance_at_most(on: Card) -> None:
    """The origin of site 2 stays within a sphere about that of site 1."""
    on.line(*circle((78, 60), 48, "flat"), colour=FREE, width=1.2, dashed=True)
    on.measure((78, 60), (78 - 33.6, 60 - 33.6), "", 0)
    on.text((72, 32), "length", FREE)
    on.frame((78, 60), "1", length=16, names="   ")
    on.frame((98, 82), "2", length=14, turned=25, names="   ")
    on.text((70, 68), "1")
    on.text((96, 73), "2")
