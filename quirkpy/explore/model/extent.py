"""Properties of a shape of the spacecraft as a whole: mass, centre, inertia and extent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from quirkpy.clearance.skins import surface_of
from quirkpy.maths import quat
from quirkpy.maths.types import Floats
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.parts.body import Body


class MassProperties(NamedTuple):
    """Mass properties of all bodies together: mass [kg], centre (3,) in N [m], inertia (3, 3) about
    it in N [kg m2], its principal moments (3,), in increasing order, and axes (3, 3), columns in N,
    right-handed."""

    mass: float
    centre: Floats
    inertia: Floats
    moments: Floats
    axes: Floats


class Placed(NamedTuple):
    """The pose of a body: mass centre (3,) in N [m], and rotation (3, 3), body to N."""

    body: Body
    at: Floats
    turn: Floats


def placed_bodies(system: System, state: State) -> Iterator[Placed]:
    """All bodies of a system, fixed ones in their poses."""
    for part in system.parts:
        if isinstance(part, Body):
            moving = part.name in state.bodies
            at = state[part.name].position if moving else np.array(part.position)
            turn = quat.matrix(state[part.name].orientation) if moving else part.matrix
            yield Placed(part, at, turn)


def mass_properties(system: System, state: State) -> MassProperties:
    """Mass, centre, inertia and principal axes of the whole at a state."""
    heavy = [one for one in placed_bodies(system, state) if one.body.mass is not None]
    masses = np.array([one.body.mass for one in heavy])
    places = np.array([one.at for one in heavy])
    centre = masses @ places / masses.sum()
    inertia = np.zeros((3, 3))
    for one, mass, place in zip(heavy, masses, places - centre, strict=True):
        inertia += mass * (place @ place * np.eye(3) - np.outer(place, place))
        if one.body.inertia is not None:
            inertia += one.turn @ one.body.inertia_matrix @ one.turn.T
    moments, axes = np.linalg.eigh(inertia)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    return MassProperties(float(masses.sum()), centre, inertia, moments, axes)


def span(system: System, state: State) -> float:
    """The longest distance between two points of the whole [m], on the surfaces used for distances;
    bodies without a shape count as their mass centres."""
    points, radii = [], []
    for body, at, turn in placed_bodies(system, state):
        local, radius = np.zeros((1, 3)), 0.0
        if body.shape is not None:
            local, _, _, radius = surface_of(body.shape)
        points.append(local @ turn.T + at)
        radii.append(np.full(len(local), radius))
    every, beyond = np.concatenate(points), np.concatenate(radii)
    longest = (np.linalg.norm(every - point, axis=1) + beyond for point in every)
    return max(float((far + more).max()) for far, more in zip(longest, beyond, strict=True))
