"""Solids of all bodies in the tables, as arrays for the kernels."""

from __future__ import annotations

import numpy as np

from quirkpy.kernels.solid import solids as built_in
from quirkpy.kernels.solid.solids import Solids
from quirkpy.maths.triples import NO_TURN, ORIGIN, Nine, Triple, triple
from quirkpy.maths.types import Bools
from quirkpy.parts.shapes import Mesh, Shape, Sphere
from quirkpy.tables.tables import Tables


def solids_of(t: Tables) -> tuple[tuple[str, ...], Solids]:
    """The bodies that have a shape, by name, and their solids; a mesh is represented by its
    bounding sphere. Made once for the same bodies."""
    return t.once(_solids_of)


def _solids_of(t: Tables) -> tuple[tuple[str, ...], Solids]:
    names = tuple(body.name for body in (*t.bodies, *t.fixed) if body.shape is not None)
    rows = [
        (body, Sphere(shape.reach) if isinstance(shape, Mesh) else shape, point, axes)
        for body, shape, point, axes in placed_shapes(t)
    ]
    return names, built_in.solids(rows)


def placed_shapes(t: Tables) -> list[tuple[int, Shape, Triple, Nine]]:
    """For bodies that have a shape: row of the body, shape, and its pose in body axes, for a fixed
    body in N."""
    moving = [(k, body.shape, ORIGIN, NO_TURN) for k, body in enumerate(t.bodies)]
    fixed = [(t.n_bodies, body.shape, triple(body.position), body.matrix9) for body in t.fixed]
    return [
        (k, shape, point, axes) for k, shape, point, axes in (*moving, *fixed) if shape is not None
    ]


def find_meshes(t: Tables) -> Bools:
    """Which solids are meshes (n,)."""
    return np.array([isinstance(shape, Mesh) for _, shape, _, _ in placed_shapes(t)], dtype=bool)
