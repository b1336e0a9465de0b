"""Sensors: marks on bodies that detect each other at close range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from quirkpy.parts.body import Site
from quirkpy.parts.checks import angle_up_to, instance, optional, positive, show, text
from quirkpy.parts.part import Part, checked

#: For `Sensor(roll=...)`: x axes may match up to multiples of quarter turns [rad].
QUARTER_TURNS = 0.5 * math.pi


def _kinds(value: Any) -> Any:
    if not isinstance(value, (tuple, list)) or not value:
        raise TypeError(f"is {show(value)}, but must be a tuple of kinds, such as ('face',)")
    return tuple(text(kind) for kind in value)


class Sensor(Part):
    """Fires when a compatible sensor of ANOTHER body is within reach and faces it.

    site: its place, z outwards. kind: its type; accepts: the kinds that it detects (both must
    accept). reach [m]: largest distance of the origins; alignment [rad]: largest deviation of the z
    axes from opposite directions. roll [rad]: the x axes must match modulo this angle, within
    alignment (QUARTER_TURNS for square faces; None: any)."""

    name: str = checked(text)
    site: Site = checked(instance(Site))
    kind: str = checked(text, default="face", kw_only=True)
    accepts: Sequence[str] = checked(_kinds, default=("face",), kw_only=True)
    reach: float = checked(positive, default=1e-3, kw_only=True)
    alignment: float = checked(angle_up_to(math.pi, "pi"), default=1e-2, kw_only=True)
    roll: float | None = checked(
        optional(angle_up_to(2.0 * math.pi, "2 pi")), default=None, kw_only=True
    )
