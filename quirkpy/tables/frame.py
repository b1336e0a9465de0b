"""Consistency of the assumptions of active forces about frame N."""

from __future__ import annotations

from collections.abc import Iterable

from quirkpy.parts.actuators import ReactionWheel
from quirkpy.parts.fields import GravityGradient, HillFrame, PointGravity
from quirkpy.parts.force import Force
from quirkpy.parts.magnets import PlanetField


def check_frame(forces: Iterable[Force]) -> None:
    """Refuse forces that together count a planet's attraction twice, or assume different motions of
    N."""
    acting = list(forces)
    frames = [force for force in acting if isinstance(force, (HillFrame, GravityGradient))]
    others = [*frames[1:], *(force for force in acting if isinstance(force, PointGravity))]
    if frames and others:
        raise frames[0].refuse(
            f"it acts together with {type(others[0]).__name__} {others[0].name!r}, and both "
            "contain a planet's pull "
            "and say how N moves; let one of them act.",
            code="together",
        )
    if frames and isinstance(frames[0], HillFrame):
        _check_in_hill_frame(frames[0], acting)


def _check_in_hill_frame(frame: HillFrame, acting: Iterable[Force]) -> None:
    """Refuse forces with constant directions that would have to rotate with the axes of a Hill
    frame."""
    wheels = [force for force in acting if isinstance(force, ReactionWheel) and not force.still]
    if wheels:
        raise wheels[0].refuse(
            f"its momentum would have to turn with HillFrame {frame.name!r}, which it is not "
            "known to do; let "
            "GravityGradient act on an Orbit instead, where the axes of N do not turn.",
            code="together",
        )
    falling = [force for force in acting if isinstance(force, PlanetField) and force.orbit]
    if falling:
        raise falling[0].refuse(
            "it has an orbit, on which the axes of N do not turn, as they do with HillFrame "
            f"{frame.name!r}; give "
            "centre=(-radius, 0, 0) instead, and the moment as it stands in the turning frame.",
            code="together",
        )
