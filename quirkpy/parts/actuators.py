"""Actuators of a spacecraft: thrusters and reaction wheels."""

from __future__ import annotations

from typing import Any

import numpy as np

from quirkpy.maths.types import Floats, Vector
from quirkpy.parts.body import Site
from quirkpy.parts.checks import instance, number, real, vector
from quirkpy.parts.force import Element, Force
from quirkpy.parts.part import checked
from quirkpy.parts.schedule import TimeFunction


def along_z(value: Any) -> Any:
    """A vector or a schedule of vectors; one number gives a vector along z."""
    if isinstance(value, TimeFunction):
        return value.mapped(np.array([[0.0], [0.0], [1.0]])) if value.scalar else value
    return vector(value) if real(value).ndim else (0.0, 0.0, number(value))


class Thruster(Force):
    """A force fixed in the axes of its site: ``Thruster("jet", nozzle, 0.5)``. All of its power
    counts as work.

    thrust [N] on the body, in the axes of the site: one number along z, three numbers, or a
    `Schedule` or other `TimeFunction` of either."""

    site: Site = checked(instance(Site))
    thrust: Vector | float | TimeFunction = checked(along_z)

    def elements(self) -> tuple[Element, ...]:
        axes, constant, schedule = self.site.axes, (0.0, 0.0, 0.0), None
        if isinstance(self.thrust, TimeFunction):
            schedule = self.thrust.mapped(axes)
        else:
            constant = tuple((axes @ np.array(self.thrust)).tolist())
        numbers = (*constant, 0.0, 0.0, 0.0, 1.0)
        return (Element("push", self.site, numbers=numbers, schedules=(schedule, None)),)


class ReactionWheel(Force):
    """Momentum h stored in wheels: torque -h' - w x h on the body, h' as seen from it.

    momentum h [N m s] in the axes of the site: one number along z, three numbers for three wheels,
    or a `Schedule` with linear interpolation or another `TimeFunction`, whose slopes are the
    torques of the motors. h is the total angular momentum about each wheel's axis, so the body's
    inertia contains the wheels without their moments about these axes. The motors' power on the
    body, -h'.w, counts as work; h is not part of `run.angular_momentum`, and `momentum_at` gives
    it. Not in a `HillFrame`, with which h would have to turn."""

    site: Site = checked(instance(Site))
    momentum: Vector | float | TimeFunction = checked(along_z)

    def validate(self) -> None:
        if isinstance(self.momentum, TimeFunction) and self.momentum.smoothness == 0:
            raise self.refuse(
                "momentum is a schedule not joined by lines, as motors need it; give it "
                "interpolation='linear'."
            )

    def elements(self) -> tuple[Element, ...]:
        if isinstance(self.momentum, TimeFunction):
            return (
                Element(
                    "wheel", self.site, numbers=(0.0, 0.0, 0.0), schedules=(self.momentum, None)
                ),
            )
        return (Element("wheel", self.site, numbers=tuple(self.momentum)),)  # type: ignore[arg-type]

    @property
    def still(self) -> bool:
        """Whether the momentum is zero at all times."""
        return not isinstance(self.momentum, TimeFunction) and not any(self.momentum)  # type: ignore[arg-type]

    def momentum_at(self, t: float) -> Floats:
        """h (3,) at time t [s], in body axes [N m s]."""
        return np.asarray(self.site.axes @ self.in_site(t))

    def in_site(self, t: float) -> Floats:
        """h (3,) at time t [s], in axes of the site [N m s]."""
        h = self.momentum.at(t) if isinstance(self.momentum, TimeFunction) else self.momentum
        return np.array(h, dtype=float)
