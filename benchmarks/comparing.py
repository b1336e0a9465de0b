"""How far accelerations of a model that two programs have read differ."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Unable(Exception):
    """Why the two cannot be compared on a file."""


class Sample(NamedTuple):
    """A random pose in motion, and what the peer says of it.

    imported: the model as we have read it, with what both have; values and rates of its joints, as
    `Imported.state` takes them; theirs: accelerations (6,) by names of bodies, of the mass centre
    in N [m/s2] and of the turn in axes of the body [rad/s2]."""

    imported: Any
    values: dict[str, Any]
    rates: dict[str, Any]
    theirs: dict[str, np.ndarray]


def difference(sample: Sample) -> float:
    """The largest difference of accelerations, as a share of the largest of any, or of one."""
    system = sample.imported.system
    state = sample.imported.state(sample.values, sample.rates)
    ours = dict(zip(system.bodies, system.acceleration(state), strict=True))
    if not sample.theirs:
        raise Unable("nothing moves")
    if not all(np.isfinite(row).all() for row in sample.theirs.values()):
        raise Unable("the peer gives no numbers")
    largest = max(1.0, *(float(np.abs(row).max()) for row in sample.theirs.values()))
    return (
        max(float(np.abs(ours[name] - row).max()) for name, row in sample.theirs.items()) / largest
    )


def plain(value: Any) -> Any:
    """A value of a joint as lists of numbers, as files keep it."""
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    if hasattr(value, "components"):
        return value.components.tolist()
    return np.asarray(value).tolist()
