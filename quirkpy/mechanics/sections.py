"""Loads inside beams: with which what lies beyond a section acts on what lies before it.

What lies beyond moves with the same modes as the whole, so that its balances of momentum and of
angular momentum, about the origin of the body's axes, are those of `bending`, with integrals over
the masses beyond.  The loads that act beyond, less these, are the load inside.  It is exact for the
motion as it is, however few the modes: stresses by the curvature of the modes converge far more
slowly."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from quirkpy.kernels.base.states import angular_of, linear_of, zero_vectors
from quirkpy.maths.cached import cached_property
from quirkpy.maths.types import Floats
from quirkpy.mechanics import bending
from quirkpy.mechanics.bending import Bent, Planet
from quirkpy.mechanics.equation import over_frames, solve_dense
from quirkpy.mechanics.instant import Instant
from quirkpy.mechanics.readings import SectionLoad
from quirkpy.parts.beam import Beam
from quirkpy.parts.modal import ModalModel, PointModes
from quirkpy.tables.tables import PLANET, Tables

#: Points nearer to a section than this share of the length of the beam are at it [1].
AT_SECTION = 1e-9


class LoadedBeam(NamedTuple):
    """A beam at one instant: how it is bent; rates of its velocity and spin, in its axes, the
    former less all uniform accelerations and those towards planets (3,), and of the rates of its
    modes (n,); what acts on it: places along it (m,) [m], from its mass centre, and the loads there
    about the origin of its axes, in these (m, 6); where it is (3,), and the planets beside it,
    which act on all its mass."""

    bent: Bent
    acceleration: Floats
    angular_acceleration: Floats
    further: Floats
    places: Floats
    loads: Floats
    r: Floats
    planets: tuple[Planet, ...]


class Cut(NamedTuple):
    """A section of a beam: its place along it, from the mass centre of the whole [m], and how it
    follows the modes; of what lies beyond mass [kg], moment (3,) [kg m] and moments of inertia (3,
    3) [kg m2] about the origin of the axes, undeformed, and the integrals of its modes."""

    place: float
    point: PointModes
    mass: float
    moment: Floats
    inertia: Floats
    model: ModalModel

    @classmethod
    def of(cls, beam: Beam, share: float) -> Cut:
        """The section at a share of the length of a beam; at its end, just before what is there."""
        point = beam.modes_at(beam.at(share).at)
        beyond, none = beam.mass_beyond(share), np.zeros((len(point.displacement),) * 2)
        place, margin = float(point.position[0]), AT_SECTION * beam.length
        at_end = place > beam.at(1.0).at[0] - margin
        return cls(
            place - margin if at_end else place + margin, point, beyond.mass,
            beyond.masses @ beyond.points, beyond.inertia,
            beyond.modal_model(none, none, within=math.inf),
        )  # fmt: skip

    def load(self, x: LoadedBeam) -> tuple[Floats, Floats]:
        """Force and moment (3,) with which what lies beyond acts, in the axes of the section."""
        load = x.loads[x.places > self.place].sum(axis=0) + self._attraction(x) - self._inertial(x)
        q, point = x.bent.q, self.point
        drawn = np.einsum("i,kij,j->k", q, point.shortening, q)
        arm = point.position + q @ point.displacement - 0.5 * drawn
        axes = Rotation.from_rotvec(q @ point.rotation).as_matrix()
        moment = angular_of(load) - np.cross(arm, linear_of(load))
        return linear_of(load) @ axes, moment @ axes

    def _attraction(self, x: LoadedBeam) -> Floats:
        """What planets do to what lies beyond, beside what a uniform acceleration would, about
        the origin of the axes (6,)."""
        part, axes, out = x.bent._replace(model=self.model), x.bent.axes, zero_vectors()
        first = axes @ (self.moment + bending.first_moment(part))
        J = axes @ bending.moments(part, self.inertia) @ axes.T
        for planet in x.planets:
            force, moment = planet.pull(x.r, first, J)
            out += np.concatenate([force @ axes, moment @ axes])
        return out

    def _inertial(self, x: LoadedBeam) -> Floats:
        """What the motion of what lies beyond asks for, about the origin of the axes (6,)."""
        part, w = x.bent._replace(model=self.model), x.bent.omega
        a, alpha = x.acceleration, x.angular_acceleration
        moment = self.moment + bending.first_moment(part)
        bias, torque, _ = bending.bias_of(part, self.inertia)
        force = self.mass * a + np.cross(alpha, moment) + np.cross(w, np.cross(w, self.moment))
        force += bending.momentum_of_modes(part) @ x.further + x.bent.axes.T @ bias
        torque = torque + np.cross(moment, a) + bending.moments(part, self.inertia) @ alpha
        return np.concatenate([force, torque + bending.spin_of_modes(part) @ x.further])


class Sections:
    """Loads at sections of a beam, the body in a row of the tables, at several instants in turn,
    whose accelerations are solved for at the first question; or at the only one (alone)."""

    def __init__(
        self, beam: Beam, row: int, instants: Callable[[], Iterable[Instant]], alone: bool = False
    ) -> None:
        self.beam, self.row, self.instants, self.alone = beam, row, instants, alone

    @classmethod
    def of(
        cls, t: Tables, row: int, instants: Callable[[], Iterable[Instant]], alone: bool = False
    ) -> Sections | None:
        """Sections of a body; None where it is no beam."""
        body = t.bodies[row]
        return cls(body, row, instants, alone) if isinstance(body, Beam) else None

    @cached_property
    def loaded(self) -> list[LoadedBeam]:
        """The beam at each instant."""
        return [loaded_beam(at, self.row) for at in self.instants()]

    def __call__(self, share: float) -> SectionLoad:
        """At each instant (k, 3), or at the only one (3,)."""
        cut = Cut.of(self.beam, share)
        found = np.array([cut.load(x) for x in self.loaded])
        return SectionLoad(*(found[0] if self.alone else found.swapaxes(0, 1)))


def loaded_beam(at: Instant, row: int) -> LoadedBeam:
    """What acts on the beam in a row, and how it accelerates."""
    solution, around, tables = solve_dense(at), tuple(bending.planets(at)), at.selection.tables
    g, uniform = np.sum([p.falls_at(at.r[row]) for p in around], axis=0), bending.gravity(at)
    (bent,) = (x for x in bending.bent_bodies(at) if x.row == row)
    wrenches = np.concatenate([_without_planets(at).loads.wrench, zero_vectors(1)])
    wrenches += np.tensordot(solution.multipliers, over_frames(at, at.rows), 1)
    linear_of(wrenches)[row] -= tables.body_mass[row] * uniform
    places, loads = [0.0], [wrenches[row]]
    for k, station in bending.stations(at):
        if station.body == row:
            places.append(float(station.point[0]))
            loads.append(station.with_body.T @ wrenches[k])
    both, a = np.array(loads), linear_of(solution.acceleration)[row] - uniform - g
    return LoadedBeam(
        bent, bent.axes.T @ a, angular_of(solution.acceleration)[row],
        solution.further[bent.columns], np.array(places),
        np.hstack([linear_of(both) @ bent.axes, angular_of(both) @ bent.axes]), at.r[row], around,
    )  # fmt: skip


def _without_planets(at: Instant) -> Instant:
    """The instant without the planets, which act on all mass of a beam and not at its places."""
    chosen, t = at.selection, at.selection.tables
    planets = t.element_force[t.element_kind == PLANET]
    names = [t.force_names[k] for k in chosen.forces if k not in planets]
    if len(names) == len(chosen.forces):
        return at
    joints = [t.joint_names[j] for j in chosen.joints]
    return dataclasses.replace(at, selection=t.select(joints, names))
