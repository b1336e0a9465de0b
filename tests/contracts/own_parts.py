"""Joints and forces as a user writes them, at the top of a module, so that pickle and JSON find
them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

import quirkpy as qp
from quirkpy.maths.types import Floats
from quirkpy.parts.checks import positive


class Slot(qp.Joint):
    """A pin that slides and turns along z of site 1: OriginOnLine and ParallelAxes, with the
    freedoms they leave."""

    freedoms = (qp.Freedom("turn", "z"), qp.Freedom("slide", "z"))

    def primitives(self) -> tuple[qp.Primitive, ...]:
        return qp.OriginOnLine("z"), qp.ParallelAxes("z")


class SlotByHand(qp.GeneralJoint):
    """The same pin without its turning: the origin of site 2 lies on z of site 1, as equations
    written by hand."""

    units = ("m", "m")

    def _sides(self, at: qp.MotionView) -> tuple[Any, Any, Any, Any, Any]:
        one, two = (at[site] for site in self.sites)
        return one, two, two.position - one.position, two.velocity - one.velocity, one.axes[:, :2].T

    def phi(self, at: qp.MotionView) -> Floats:
        *_, d, _, e = self._sides(at)
        return np.asarray(e @ d)

    def jacobian(self, at: qp.MotionView) -> Floats:
        _, two, _, _, e = self._sides(at)
        c1 = two.position - at[self.bodies[0]].position
        c2 = two.position - at[self.bodies[1]].position
        return np.hstack([-e, np.cross(e, c1), e, -np.cross(e, c2)])

    def gamma(self, at: qp.MotionView) -> Floats:
        one, two, d, rate, e = self._sides(at)
        w1, w2 = one.angular_velocity, two.angular_velocity
        c1 = one.position - at[self.bodies[0]].position
        c2 = two.position - at[self.bodies[1]].position
        bend = np.cross(w2, np.cross(w2, c2)) - np.cross(w1, np.cross(w1, c1))
        e_dot, e_dot2 = np.cross(w1, e), np.cross(w1, np.cross(w1, e))
        return -(e @ bend + 2.0 * e_dot @ rate + e_dot2 @ d)


class Lift(qp.GeneralJoint):
    """Prescribed motion: site 2 rises along z of N as climb t + 2 t^2."""

    units = ("m",)
    climb: float

    def phi(self, at: qp.MotionView) -> Floats:
        return at[self.sites[1]].position[2:] - self.climb * at.t - 2.0 * at.t**2

    def rate(self, at: qp.MotionView) -> Floats:
        return np.array([-self.climb - 4.0 * at.t])

    def jacobian(self, at: qp.MotionView) -> Floats:
        arm = at[self.sites[1]].position - at[self.bodies[1]].position
        return np.array([[*np.zeros(6), 0.0, 0.0, 1.0, *np.cross(arm, (0.0, 0.0, 1.0))]])

    def gamma(self, at: qp.MotionView) -> Floats:
        w, arm = (
            at[self.sites[1]].angular_velocity,
            at[self.sites[1]].position - at[self.bodies[1]].position,
        )
        return 4.0 - np.cross(w, np.cross(w, arm))[2:]


class Wind(qp.Force):
    """A load only: it grows with time and drags."""

    sail: qp.Body
    strength: float = qp.checked(positive)

    def load(self, at: qp.MotionView) -> Mapping[qp.Body, qp.Wrench]:
        motion = at[self.sail]
        force = (self.strength * at.t, 0.0, 0.0) - 0.1 * motion.velocity
        return {
            self.sail: qp.Wrench(
                force,
                torque=-0.2 * motion.angular_velocity,
                point=motion.position + motion.axes[:, 0],
            )
        }


class Attraction(qp.Force):
    """A potential only: U = -k / |x2 - x1| between two sites."""

    first: qp.Site
    second: qp.Site
    strength: float

    def potential(self, at: qp.MotionView) -> float:
        return -self.strength / float(
            np.linalg.norm(at[self.second].position - at[self.first].position)
        )


class Compass(qp.Force):
    """A potential only: U = -m field . (z of the site); it makes a torque and no force."""

    needle: qp.Site
    field: tuple[float, float, float]

    def potential(self, at: qp.MotionView) -> float:
        return -float(np.dot(self.field, at[self.needle].axes[:, 2]))


class Bungee(qp.CompiledForce):
    """A compiled load with a potential: tension k (L - L0) + c dL/dt between two sites."""

    first: qp.Site
    second: qp.Site
    stiffness: float
    length: float
    damping: float = 0.0

    @staticmethod
    def law(first: Any, second: Any, stiffness: float, length: float, damping: float) -> Any:
        d = qp.triples.sub(second.position, first.position)
        apart = qp.triples.norm(d)
        along = qp.triples.scale(1.0 / apart, d)
        rate = qp.triples.dot(along, qp.triples.sub(second.velocity, first.velocity))
        pull = qp.triples.scale(stiffness * (apart - length) + damping * rate, along)
        return qp.Wrench(pull), qp.Wrench(qp.triples.scale(-1.0, pull))

    @staticmethod
    def energy(first: Any, second: Any, stiffness: float, length: float) -> float:
        return (
            0.5
            * stiffness
            * (qp.triples.norm(qp.triples.sub(second.position, first.position)) - length) ** 2
        )


class Detent(qp.CompiledJointLaw):
    """A hinge with notches."""

    torque: float
    notches: float
    damping: float

    @staticmethod
    def load(t: float, x: float, rate: float, torque: float, notches: float, damping: float) -> Any:
        return -torque * math.sin(notches * x) - damping * rate

    @staticmethod
    def energy(x: float, torque: float, notches: float) -> Any:
        return torque * (1.0 - math.cos(notches * x)) / notches


class Notches(qp.JointLaw):
    """The same in Python."""

    torque: float
    notches: float
    damping: float

    load = Detent.load
    energy = Detent.energy


class Chirp(qp.CompiledFunction):
    """A sine that grows faster."""

    size: float
    growth: float

    @staticmethod
    def value(t: float, size: float, growth: float) -> Any:
        return size * math.sin(growth * t * t)

    @staticmethod
    def rate(t: float, size: float, growth: float) -> Any:
        return 2.0 * growth * t * size * math.cos(growth * t * t)

    @staticmethod
    def acceleration(t: float, size: float, growth: float) -> Any:
        turn = growth * t * t
        return 2.0 * growth * size * (math.cos(turn) - 2.0 * turn * math.sin(turn))


class Well(qp.CompiledForce):
    """A compiled pull of a body to a point: a body and a tuple as arguments, one wrench."""

    body: qp.Body
    centre: tuple[float, float, float]
    stiffness: float

    @staticmethod
    def law(body: Any, centre: Any, stiffness: float) -> Any:
        return qp.Wrench(qp.triples.scale(stiffness, qp.triples.sub(centre, body.position)))

    @staticmethod
    def energy(body: Any, centre: Any, stiffness: float) -> float:
        d = qp.triples.sub(centre, body.position)
        return 0.5 * stiffness * qp.triples.dot(d, d)


class Breeze(qp.CompiledForce):
    """A compiled load without a potential: it grows with time, turns with a site, and has a
    torque."""

    sail: qp.Site
    strength: float

    @staticmethod
    def law(t: float, sail: Any, strength: float) -> Any:
        push = qp.triples.scale(strength * t, sail.x)
        torque = qp.triples.add(
            qp.triples.scale(0.3, sail.z), qp.triples.scale(-0.2, sail.angular_velocity)
        )
        return qp.Wrench(push, torque)
