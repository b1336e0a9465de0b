"""Solid bodies as flat patches, seen from a direction: arrays only, for any painter."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from quirkpy.parts.checks import Floats
from quirkpy.parts.shapes import Box, Cylinder, Shape, Sphere
from quirkpy.tables.merge import turned

#: Towards the eye, and towards the light.
EYE, LIGHT = (0.45, -0.75, 0.8), (0.2, -0.55, 0.95)
#: Corners of what is round, and the radius [m] of a body that has no shape of ours.
ROUND, POINT = 36, 0.02


class Solid(NamedTuple):
    """A body to be seen: its shape, position [m], orientation (w x y z), and a number by which it is coloured."""

    shape: Shape | None
    r: Floats
    q: Floats
    number: int


class Patch(NamedTuple):
    """A flat patch: of which solid, its corners (k, 2) [m] on the picture, how bright it is from 0 to 1."""

    number: int
    corners: Floats
    light: float


def seen(solids: Iterable[Solid], eye: tuple[float, float, float] = EYE) -> list[Patch]:
    """The patches that face the eye, the farthest first."""
    towards = np.array(eye) / np.linalg.norm(eye)
    right = np.cross((0.0, 0.0, 1.0), towards)
    right /= np.linalg.norm(right)
    onto = np.stack([right, np.cross(towards, right)], axis=1)
    light = np.array(LIGHT) / np.linalg.norm(LIGHT)
    out = []
    for solid in solids:
        for face in faces(solid.shape, towards, solid.q):
            corners = turned(np.broadcast_to(solid.q, (len(face), 4)), face) + solid.r
            normal = np.cross(corners[1] - corners[0], corners[2] - corners[1])
            normal /= np.linalg.norm(normal)
            if normal @ towards > 1e-9:
                patch = Patch(solid.number, corners @ onto, float(max(0.0, normal @ light)))
                out.append((float(corners.mean(axis=0) @ towards), patch))
    return [patch for _, patch in sorted(out, key=lambda pair: pair[0])]


def faces(shape: Shape | None, towards: Floats, q: Floats) -> list[Floats]:
    """The faces of a shape in body axes, corners (k, 3) counterclockwise from outside."""
    if isinstance(shape, Box):
        return _of_box(0.5 * np.array(shape.size))
    if isinstance(shape, Cylinder):
        return _of_cylinder(shape)
    radius = shape.radius if isinstance(shape, Sphere) else POINT
    across = turned(np.array([q * (1.0, -1.0, -1.0, -1.0)]), towards[None])[0]  # a disc that faces the eye
    one = np.cross(across, (1.0, 0.0, 0.0) if abs(across[0]) < 0.9 else (0.0, 1.0, 0.0))
    one /= np.linalg.norm(one)
    return [radius * _circle() @ np.stack([one, np.cross(across, one)])]


def _circle() -> Floats:
    angles = 2.0 * math.pi * np.arange(ROUND) / ROUND
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _of_box(half: Floats) -> list[Floats]:
    square = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
    out = []
    for k in range(3):
        for side in (-1.0, 1.0):
            corners = np.empty((4, 3))
            corners[:, k], corners[:, (k + 1) % 3], corners[:, (k + 2) % 3] = side, square[:, 0], square[:, 1]
            out.append((corners if side > 0.0 else corners[::-1]) * half)
    return out


def _of_cylinder(shape: Cylinder) -> list[Floats]:
    k, half, ring = "xyz".index(shape.axis), 0.5 * shape.length, shape.radius * _circle()
    ends = []
    for side in (-half, half):
        end = np.empty((ROUND, 3))
        end[:, k], end[:, (k + 1) % 3], end[:, (k + 2) % 3] = side, ring[:, 0], ring[:, 1]
        ends.append(end)
    low, high = ends
    sides = [np.array([low[j], low[j - ROUND + 1], high[j - ROUND + 1], high[j]]) for j in range(ROUND)]
    return [low[::-1], high, *sides]
