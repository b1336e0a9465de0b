"""Magnets and coils on bodies, and the fields that act on them.  A dipole in a field B: U = -m.B,
torque m x B."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

import numpy as np

from quirkpy.maths.types import Vector
from quirkpy.parts.actuators import along_z
from quirkpy.parts.body import Site
from quirkpy.parts.checks import instance, not_negative, number, optional, positive, text, vector
from quirkpy.parts.fields import Orbit, at_rest, each, pairs
from quirkpy.parts.force import Element, Force
from quirkpy.parts.part import Part, checked, parts_within
from quirkpy.parts.schedule import TimeFunction

#: Magnetisation [A/m] of a neodymium magnet with 1.32 T of remanence.
NEODYMIUM = 1.32 / (4e-7 * np.pi)


class _Dipole(Part, ABC):
    """A dipole at a site."""

    name: str = checked(text)
    site: Site = checked(instance(Site))

    @abstractmethod
    def drive(self) -> tuple[tuple[float, ...], TimeFunction | None]:
        """Moment (3) in the axes of the site, and the schedule that replaces it."""


class Magnet(_Dipole):
    """A permanent magnet: a dipole along z of its site.

    moment [A m2]: its magnitude. radius [m] (default: that of a neodymium cylinder with equal
    length and diameter and this moment), from which `FluxPinning` computes how near the magnet may
    come."""

    moment: float = checked(number)
    radius: float | None = checked(optional(positive), default=None, kw_only=True)

    def drive(self) -> tuple[tuple[float, ...], TimeFunction | None]:
        return (0.0, 0.0, self.moment), None

    @property
    def size(self) -> float:
        """The radius [m], given or that of neodymium: moment = magnetisation 2 pi radius^3."""
        return self.radius or (abs(self.moment) / (2.0 * np.pi * NEODYMIUM)) ** (1.0 / 3.0)


class Electromagnet(_Dipole):
    """A coil, or three of them: a dipole that may change with time.

    moment [A m2] in the axes of the site: three numbers, one number along z, or a `Schedule`. While
    any moment of a pair is scheduled, the power of the pair counts as work. holding_power [W]: the
    electrical power for holding the moment; for information only, not used in the mechanics."""

    moment: Vector | float | TimeFunction = checked(along_z)
    holding_power: float = checked(not_negative, default=0.0, kw_only=True)

    def drive(self) -> tuple[tuple[float, ...], TimeFunction | None]:
        if isinstance(self.moment, TimeFunction):
            return (0.0, 0.0, 0.0), self.moment
        return tuple(self.moment), None  # type: ignore[arg-type]


def holding_power(forces: Iterable[Force]) -> float:
    """The electrical power that all parts of some forces take to hold [W]; what two forces share is
    counted once."""
    parts = dict.fromkeys(part for force in forces for part in parts_within(force))
    return float(sum(getattr(part, "holding_power", 0.0) or 0.0 for part in parts))


class Dipoles(Force):
    """Magnets and electromagnets on different bodies interact, each pair once.

    r from 1 to 2, u = r/|r|: U = mu0/(4 pi r^3) [m1.m2 - 3 (m1.u)(m2.u)], force on 2 3 mu0/(4 pi
    r^4) [(m1.u) m2 + (m2.u) m1 + (m1.m2) u - 5 (m1.u)(m2.u) u], torque on 2 m2 x B1, and on 1 m1 x
    B2."""

    magnets: Sequence[Magnet | Electromagnet] = checked(each(_Dipole))
    name: str = checked(text, default="dipoles", kw_only=True)

    def elements(self) -> tuple[Element, ...]:
        out = []
        for one, two in pairs(self.magnets):
            (m1, s1), (m2, s2) = one.drive(), two.drive()
            out.append(
                Element("dipoles", one.site, two.site, numbers=(*m1, *m2), schedules=(s1, s2))
            )
        return tuple(out)


class PlanetField(Force):
    """The field of a planet's dipole on magnets: B = mu0/(4 pi r^3) [3 (M.u) u - M], torque m x B,
    force (m.grad) B.

    moment M [A m2] in N (the Earth's: about 7.8e22, pointing south). The planet is at rest at
    `centre` [m] in N (default: the origin), or the origin of N moves about it on an `orbit`; then,
    and where a moment is scheduled, all power of the field counts as work. U = -m.B."""

    magnets: Sequence[Magnet | Electromagnet] = checked(each(_Dipole))
    moment: Vector = checked(vector)
    centre: Vector | None = checked(optional(vector), default=None, kw_only=True)
    orbit: Orbit | None = checked(optional(instance(Orbit)), default=None, kw_only=True)
    name: str = checked(text, default="planet field", kw_only=True)

    def validate(self) -> None:
        if self.centre is not None and self.orbit is not None:
            raise self.refuse(
                f"centre is {self.centre} and there is an orbit too; give one of them."
            )

    def elements(self) -> tuple[Element, ...]:
        place = self.orbit.numbers() if self.orbit else at_rest(0.0, self.centre or (0.0, 0.0, 0.0))
        out = []
        for one in self.magnets:
            m, schedule = one.drive()
            out.append(
                Element(
                    "planet dipole",
                    one.site,
                    numbers=(*place, *self.moment, *m),
                    schedules=(schedule, None),
                )
            )
        return tuple(out)
