"""Potential energies of elements and coordinates of joints at all rows of a run."""

from __future__ import annotations

from quirkpy.kernels.act.loads import applied_loads
from quirkpy.kernels.base.arrays import Elements, Joints, Modes, Schedules, Sites
from quirkpy.kernels.base.compiled import kernel
from quirkpy.kernels.place.kinematics import fill_frames, joint_coordinates
from quirkpy.maths.types import Floats, Ints


@kernel
def potentials_along(
    t: Floats, states: Floats, modes: Modes, angles: Floats, which: Ints, elements: Elements,
    joints: Joints, schedules: Schedules, bodies: Floats, sites: Sites, frames: Floats,
    wrench: Floats, power: Floats, out: Floats,
) -> None:  # fmt: skip
    """Potential energy of each given element at each row (k, n); states (k, nb + 1, STATE_WIDTH),
    angles (k, nc); callbacks give zero."""
    for k in range(t.shape[0]):
        fill_frames(states[k], modes, frames)
        here = Joints(joints.ends, joints.coordinates, angles[k])
        applied_loads(
            t[k], which, elements, here, schedules, bodies, sites, frames, wrench, out[k], power
        )


@kernel
def coordinates_along(
    states: Floats, modes: Modes, angles: Floats, which: Ints, joints: Joints, sites: Sites,
    frames: Floats, out: Floats,
) -> None:  # fmt: skip
    """Value and rate of each of the given coordinates at each row (k, n, 2)."""
    for k in range(states.shape[0]):
        fill_frames(states[k], modes, frames)
        here = Joints(joints.ends, joints.coordinates, angles[k])
        joint_coordinates(which, here, sites, frames, out[k])
