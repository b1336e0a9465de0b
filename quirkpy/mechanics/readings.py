"""What a state, or a run, tells of one body or of one joint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from quirkpy.maths.types import Floats
from quirkpy.parts.beam import Beam
from quirkpy.parts.joint import Coordinate
from quirkpy.parts.part import PartError


class BodyState(NamedTuple):
    """position [m] and velocity [m/s] of the mass centre in N, orientation body to N, and angular
    velocity [rad/s] in body axes."""

    position: Floats
    orientation: Any
    velocity: Floats
    angular_velocity: Floats


class SectionLoad(NamedTuple):
    """The load inside a beam at a section, with which what lies beyond acts on what lies before, in
    the axes of the section: x along the bent line, y and z turned with it.

    force (..., 3) [N]: axial, positive where it pulls, and shear along y and z; moment (..., 3)
    [N m]: twist, and bending about y and z."""

    force: Floats
    moment: Floats

    @property
    def axial(self) -> Floats:
        """Tension [N] (...)."""
        return np.asarray(self.force[..., 0])

    @property
    def shear(self) -> Floats:
        """Along y and z [N] (..., 2)."""
        return self.force[..., 1:]

    @property
    def twist(self) -> Floats:
        """Moment about the line [N m] (...)."""
        return np.asarray(self.moment[..., 0])

    @property
    def bending(self) -> Floats:
        """Moments about y and z [N m] (..., 2)."""
        return self.moment[..., 1:]


class BentState(NamedTuple):
    """position [m] and velocity [m/s] in N of the mass centre of a body that bends, where it is
    while straight, orientation body to N, angular velocity [rad/s] in body axes; amounts of modes
    and their rates, the displacement of the tip of a beam in body axes [m], and the beam; inside:
    what `section` asks."""

    position: Floats
    orientation: Any
    velocity: Floats
    angular_velocity: Floats
    modes: Floats
    mode_rates: Floats
    tip: Floats | None
    beam: Beam | None
    inside: Callable[[float], SectionLoad] | None = None

    def deflection(self, share: float) -> Floats:
        """Displacement of the line of a beam at a share of its length, 0 at its start and 1 at its
        end, in body axes (..., 3) [m]: ``run["boom"].deflection(0.3)``."""
        if self.beam is None:
            raise PartError("deflection: only a Beam has a line; sites show how other bodies bend.")
        return self.beam.deflection(self.modes, share)

    def section(self, share: float) -> SectionLoad:
        """Loads inside a beam at a share of its length: ``run["boom"].section(0.3).bending``.

        With which what lies beyond acts on what lies before, just beyond what acts at that very
        place, at the end just before it: ``section(0)`` is what the beam does to a joint at its
        start, ``section(1)`` what acts on its end.  They balance all loads beyond and the motion of
        all mass beyond, as it is."""
        if self.beam is None:
            raise PartError("section: only a Beam has sections; joints tell the loads at sites.")
        if self.inside is None:
            raise PartError("section: loads are those of one run; ask one of the runs, or a state.")
        return self.inside(share)


def body_state(
    motion: tuple[Any, ...], bent: tuple[Any, ...],
    inside: Callable[[float], SectionLoad] | None = None,
) -> BodyState | BentState:  # fmt: skip
    """From its four fields as a rigid body, and more where it bends."""
    return BentState(*motion, *bent)._replace(inside=inside) if bent else BodyState(*motion)


class JointState(NamedTuple):
    """Coordinates of a joint and their rates: angle [rad], whole turns included, and travel or
    length [m]; None where it has none, an array where it has several of a kind. rate: of its only
    coordinate, or an array of all of them, in the order of `joint.coordinates`."""

    angle: float | Floats | None
    travel: float | Floats | None
    rate: float | Floats | None

    @classmethod
    def of(cls, names: Sequence[Coordinate], both: Floats) -> JointState:
        """From values and rates of the coordinates of a joint (n, 2), or of arrays of them (n, 2,
        k)."""
        turning = np.array([c.kind == "angle" for c in names], dtype=bool)
        return cls(
            *(_unwrap(values) for values in (both[turning, 0], both[~turning, 0], both[:, 1]))
        )


def _unwrap(values: Floats) -> Any:
    """None for no coordinates, the value of a single one, else the array; the last axis is that of
    the coordinates."""
    if len(values) > 1:
        return np.moveaxis(values, 0, -1)
    if len(values) == 0:
        return None
    return float(values[0]) if values.ndim == 1 else values[0]
