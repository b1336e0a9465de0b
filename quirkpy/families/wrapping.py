"""Sheets that wrap around a hub: a pinwheel of ridges and valleys, with the diagonals that rigid
panels need."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias, Unpack

import numpy as np

from quirkpy.families.creases import Fold, assemble, check_angle, seams_of
from quirkpy.families.panels import PanelOptions
from quirkpy.maths.types import Floats
from quirkpy.parts.checks import positive, show
from quirkpy.parts.part import PartError, check_argument

#: A corner of the sheet: on the ridge or the valley of a corner of the hub, with its number along
#: that; number 0 of a ridge is the corner of the hub itself.
Corner: TypeAlias = tuple[str, int, int]


def scheel(
    panels: int, rings: int, side: float = 1.0, fold: float = 0.0, **options: Unpack[PanelOptions]
) -> Fold:
    """A sheet that wraps around its hub, after H. Scheel (and S. D. Guest and S. Pellegrino): the
    hub, a polygon with a given number of sides, and around it rings of triangles.

    side [m]: of the hub; fold [rad], from 0, flat, towards pi/2, wrapped: the angle by which the
    triangles at the hub are folded down. From each corner of the hub start a ridge, along one of
    its sides, and a valley, half way to the next ridge; creases across them lie along the
    edges of the hub's prism when the sheet is wrapped.

    Four such quadrangles around a corner are rigid except in the flat sheet; a diagonal crease in
    each makes all of them movable from flat to wrapped without bending. The number of ways to fold
    is twice the number of sides of the hub; this one is symmetric about the hub. Panels have no
    thickness here: in the wrapped state all layers would coincide on the prism, so fold must be
    less than pi/2.

    Panels have the names "hub", "a0,0" ... between a ridge and the next valley, "b0,0" ... between
    a valley and its ridge, with an apostrophe for the outer triangle of a quadrangle; hinges those
    of the panels that they join. For other options see `from_creases`."""
    who = "scheel"
    for name, count, least in (("panels", panels, 3), ("rings", rings, 1)):
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < least:
            raise PartError(
                f"{who}: {name} is {show(count)}, but must be a whole number from {least} on."
            )
    length = check_argument(who, "side", side, positive)
    angle = check_angle(fold, who, "fold")
    if not 0.0 <= angle < 0.5 * math.pi:
        raise PartError(
            f"{who}: fold is {angle:g} rad, but must lie between 0, flat, and pi/2, where all "
            "layers of the wrapped sheet would lie in one another."
        )
    sheet = Pinwheel(int(panels), int(rings), length)
    faces = sheet.faces()
    corners = sorted({corner for face in faces.values() for corner in face})
    number_of = {corner: k for k, corner in enumerate(corners)}
    places = sheet.folded(angle)
    points = np.array([places[corner] for corner in corners])
    numbers = [[number_of[corner] for corner in face] for face in faces.values()]
    seams, names = seams_of(numbers, who), list(faces)
    hinges = [f"{names[one]} - {names[two]}" for one, two in (seam.faces for seam in seams)]
    angles: list[float | None] = [None if angle else 0.0] * len(seams)
    return assemble(points, numbers, seams, angles, (names, hinges), who, options)


class Pinwheel(NamedTuple):
    """The pattern: sides of the hub, rings, length of a side [m]."""

    sides: int
    rings: int
    side: float

    def faces(self) -> dict[str, Sequence[Corner]]:
        """Corners of each face, counterclockwise from above."""
        n = self.sides
        out: dict[str, Sequence[Corner]] = {"hub": [("ridge", i, 0) for i in range(n)]}
        for i in range(n):
            j = (i + 1) % n
            out[f"a{i},0"] = [("ridge", j, 0), ("ridge", i, 0), ("valley", j, 1)]
            out[f"b{i},0"] = [("ridge", i, 0), ("valley", i, 1), ("ridge", i, 1)]
            for k in range(1, self.rings):
                inner, outer = ("ridge", i, k - 1), ("ridge", i, k)
                low, far = ("valley", j, k), ("valley", j, k + 1)
                out[f"a{i},{k}"] = [inner, outer, low]
                out[f"a{i},{k}'"] = [low, outer, far]
                inner, outer, far = ("valley", i, k), ("ridge", i, k), ("valley", i, k + 1)
                out[f"b{i},{k}"] = [inner, far, outer]
                out[f"b{i},{k}'"] = [outer, far, ("ridge", i, k + 1)]
        return out

    def flat(self) -> dict[Corner, Floats]:
        """The positions of the corners of the flat sheet [m]."""
        n, a = self.sides, self.side
        radius = 0.5 * a / math.sin(math.pi / n)
        turns = [2.0 * math.pi * i / n for i in range(n)]
        hub = [radius * np.array([math.cos(t), math.sin(t), 0.0]) for t in turns]
        out = {}
        for i in range(n):
            ridge = (hub[i] - hub[(i + 1) % n]) / a  # along the side that begins here
            along = (hub[i - 1] - hub[i]) / a + ridge
            valley = along / np.linalg.norm(along)
            for k in range(self.rings + 1):
                out["ridge", i, k] = hub[i] + k * a * ridge
                out["valley", i, k] = hub[i] + k * a / math.cos(math.pi / n) * valley
        return out

    def folded(self, angle: float) -> dict[Corner, Floats]:
        """The positions of the corners when the triangles at the hub are folded down by an angle.

        Ring by ring each corner follows from three others at fixed distances by panels: ridges are
        above them, valleys below."""
        flat = self.flat()
        if angle == 0.0:
            return flat
        out = {("ridge", i, 0): flat["ridge", i, 0] for i in range(self.sides)}
        self._spread(out, ("valley", 1, 1), _turned_down(flat, angle))
        for k in range(1, self.rings + 1):
            ties = [("ridge", 0, k - 1), ("valley", 0, k), ("valley", 1, k)]
            self._spread(out, ("ridge", 0, k), _trilaterate(("ridge", 0, k), ties, out, flat, 1.0))
            if k < self.rings:
                ties = [("valley", 1, k), ("ridge", 0, k), ("ridge", 1, k)]
                at = _trilaterate(("valley", 1, k + 1), ties, out, flat, -1.0)
                self._spread(out, ("valley", 1, k + 1), at)
        return out

    def _spread(self, out: dict[Corner, Floats], corner: Corner, place: Floats) -> None:
        """Set a corner and its images under the rotations of the hub."""
        kind, i, k = corner
        for step in range(self.sides):
            t = 2.0 * math.pi * step / self.sides
            c, s = math.cos(t), math.sin(t)
            x, y, z = place
            out[kind, (i + step) % self.sides, k] = np.array([c * x - s * y, s * x + c * y, z])


def _turned_down(flat: Mapping[Corner, Floats], angle: float) -> Floats:
    """The first valley's corner, rotated downwards about the first side of the hub."""
    one, two, far = flat["ridge", 0, 0], flat["ridge", 1, 0], flat["valley", 1, 1]
    side = (two - one) / np.linalg.norm(two - one)
    foot = one + ((far - one) @ side) * side
    out: Floats = foot + (far - foot) * math.cos(angle)
    out[2] -= float(np.linalg.norm(far - foot)) * math.sin(angle)
    return out


def _trilaterate(
    corner: Corner,
    ties: Sequence[Corner],
    out: Mapping[Corner, Floats],
    flat: Mapping[Corner, Floats],
    above: float,
) -> Floats:
    """The point at its distances in the flat sheet from three others, on one side of their
    plane."""
    a, b, c = (out[tie] for tie in ties)
    ra, rb, rc = (float(np.linalg.norm(flat[corner] - flat[tie])) for tie in ties)
    length = float(np.linalg.norm(b - a))
    ex = (b - a) / length
    along = float(ex @ (c - a))
    across = c - a - along * ex
    width = float(np.linalg.norm(across))
    ey = across / width
    x = (ra * ra - rb * rb + length * length) / (2.0 * length)
    y = (ra * ra - rc * rc + along * along + width * width - 2.0 * along * x) / (2.0 * width)
    height = math.sqrt(max(ra * ra - x * x - y * y, 0.0))
    return np.asarray(a + x * ex + y * ey + above * height * np.cross(ex, ey))
