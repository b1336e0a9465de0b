"""Random universes: bodies, and joints and forces of every class between them, whether or not the
ends meet."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

import quirkpy as qp
from quirkpy.parts.joint import BaseJoint
from tests.contracts.own_parts import Attraction, Slot, SlotByHand, Wind

AXIAL = (qp.Revolute, qp.Prismatic, Slot, SlotByHand)


class Universe:
    """Parts by kind; `draw` makes more of what a test needs."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.bodies = [self._body(k) for k in range(self.rng.integers(2, 6))]
        self.fixed = qp.Body("wall", fixed=True, position=self.point(), orientation=self.turn())
        self.joints = [self._joint(k) for k in range(self.rng.integers(1, 6))]
        self.forces = [self._force(k) for k in range(self.rng.integers(1, 9))]

    @property
    def parts(self) -> list[Any]:
        return [*self.bodies, self.fixed, *self.joints, *self.forces]

    # --- numbers ----------------------------------------------------------------------------------
    def point(self) -> Any:
        return tuple(self.rng.uniform(-1.0, 1.0, 3))

    def turn(self) -> Any:
        return qp.rotation(self.rng.normal(size=3), self.rng.uniform(-3.0, 3.0))

    def amount(self) -> float:
        return float(self.rng.uniform(0.5, 2.0))

    def inertia(self) -> Any:
        a, b, c = self.rng.uniform(0.2, 0.5, 3)
        return a + b, b + c, a + c

    def schedule(self) -> qp.Schedule:
        return qp.Schedule(
            (-1.0, self.rng.uniform(0.0, 2.0)), (self.point(), self.point()), "linear"
        )

    # --- parts ------------------------------------------------------------------------------------
    def _body(self, k: int) -> qp.Body:
        return qp.Body(
            f"b{k}", mass=self.amount(), inertia=self.inertia(), position=self.point(),
            orientation=self.turn(), velocity=self.point(), angular_velocity=self.point(),
        )  # fmt: skip

    def two(self) -> Any:
        ends = [*self.bodies, self.fixed, qp.GROUND]
        while True:
            one, two = (ends[i] for i in self.rng.choice(len(ends), 2, replace=False))
            if not (one.fixed and two.fixed):
                return one, two

    def _joint(self, k: int) -> BaseJoint:
        name, (one, two) = f"j{k}", self.two()
        kind = self.rng.integers(len(AXIAL) + 4)
        if kind < len(AXIAL):
            return AXIAL[kind](name, one, two, at=self.point(), axis=self.point())
        if kind == len(AXIAL):
            return qp.Spherical(name, one, two, at=self.point())
        if kind == len(AXIAL) + 1:
            return qp.Fixed(name, one, two)
        if kind == len(AXIAL) + 2:
            return qp.Distance(name, one, two, at1=self.point(), length=self.amount())
        return qp.Revolute(
            name, one.site("a", at=self.point(), z=self.point()), two.site("b", z=self.point())
        )

    def _force(self, k: int) -> qp.Force:
        name, (one, two) = f"f{k}", self.two()
        body = self.bodies[self.rng.integers(len(self.bodies))]
        hinges = [joint for joint in self.joints if joint.coordinate == "angle"]
        makers = [
            lambda: qp.Gravity(self.point(), name=name),
            lambda: qp.Spring(
                name, one, two, at1=self.point(), stiffness=self.amount(), damping=self.amount()
            ),
            lambda: qp.Spring(
                name, one, two, at2=self.point(), stiffness=self.amount(), rest_length=self.amount()
            ),
            lambda: qp.Damper(name, one.site("c", at=self.point()), two, damping=self.amount()),
            lambda: qp.PotentialWell(name, body, self.point(), self.amount()),
            lambda: qp.Load(
                name, body, force=self.point(), torque=self.point(), at=self.point(), frame="body"
            ),
            lambda: qp.Load(name, body, force=self.schedule(), torque=self.point()),
            lambda: Wind(name, body, self.amount()),
            lambda: Attraction(
                name, one.site("d", at=self.point()), two.site("e", at=self.point()), self.amount()
            ),
        ]
        if hinges:
            joint = hinges[self.rng.integers(len(hinges))]
            makers += 2 * [
                lambda: qp.HingeSpring(name, joint, stiffness=self.amount(), damping=self.amount())
            ]
        return makers[self.rng.integers(len(makers))]()

    # --- choices ----------------------------------------------------------------------------------
    def some(self, parts: list[Any]) -> list[Any]:
        return [part for part in parts if self.rng.random() < 0.6]

    def parameters(self) -> dict[str, dict[str, Any]]:
        """New numbers for some parts."""
        return {
            part.name: self._new_numbers(part)
            for part in self.some([*self.bodies, *self.joints, *self.forces])
        }

    def _new_numbers(self, part: Any) -> dict[str, Any]:
        makers = {
            "mass": self.amount, "inertia": self.inertia, "at": self.point, "axis": self.point,
            "at1": self.point, "at2": self.point, "length": self.amount, "acceleration": self.point,
            "stiffness": self.amount, "rest_length": self.amount, "rest_angle": self.amount,
            "damping": self.amount, "centre": self.point, "strength": self.amount,
        }  # fmt: skip
        changes = {}
        for field in dataclasses.fields(part):
            value = getattr(part, field.name)
            if field.name in makers and field.init and value is not None:
                changes[field.name] = makers[field.name]()
            if isinstance(value, qp.Schedule):
                changes[field.name] = self.schedule()
        return changes


def rebuilt(part: Any, new: dict[str, dict[str, Any]]) -> Any:
    """The same part written anew with other numbers, and so every part that it refers to."""
    if not isinstance(part, qp.Part):
        return part
    changes = {
        f.name: rebuilt(getattr(part, f.name), new) for f in dataclasses.fields(part) if f.init
    }
    return dataclasses.replace(part, **changes | new.get(getattr(part, "name", ""), {}))
