"""Two bodies and the joints or forces between them, put where a test wants them."""

from __future__ import annotations

from typing import Any

import numpy as np

import quirkpy as qp
from quirkpy.maths import quat
from quirkpy.maths.types import AXES, Floats
from quirkpy.mechanics.instant import Instant
from quirkpy.parts.joint import BaseJoint
from quirkpy.tables import Selection, compile
from tests.contracts.catalogue import ARM, HUB

#: A pose of a body: mass centre (3,) and rotation matrix (3, 3).
Pose = tuple[Floats, Floats]


def turn(axis: Any, angle: float) -> Floats:
    """Rotation matrix about an axis."""
    return quat.matrix(qp.rotation(axis, angle))


def quaternion_of(matrix: Floats) -> Floats:
    """w x y z of a rotation matrix."""
    return quat.to_array(quat.unit_quaternion(quat.Rotation.from_matrix(matrix)))


def random_pose(rng: np.random.Generator) -> Pose:
    """Anywhere within a metre, turned any way."""
    return rng.uniform(-1.0, 1.0, 3), turn(rng.normal(size=3), rng.uniform(-3.0, 3.0))


def written(body: qp.Body) -> Pose:
    """The pose with which a body was written."""
    return np.asarray(body.position), body.matrix


def moved(pose: Pose, pivot: Floats, shift: Floats, rotation: Floats) -> Pose:
    """A pose turned about a point, then shifted."""
    centre, axes = pose
    return pivot + rotation @ (centre - pivot) + shift, rotation @ axes


def at_poses(selection: Selection, poses: dict[str, Pose], **rates: Floats) -> Instant:
    """A selection with its bodies at the given poses; rates: v in N and omega in body axes, each
    (nb, 3)."""
    names = selection.tables.body_names
    r = np.array([poses[name][0] for name in names]).reshape(-1, 3)
    q = np.array([quaternion_of(poses[name][1]) for name in names]).reshape(-1, 4)
    zero = np.zeros_like(r)
    near = np.zeros(len(selection.tables.coordinate_names))
    return Instant(selection, 0.0, r, q, rates.get("v", zero), rates.get("omega", zero), near)


def between(joint: BaseJoint, one: Pose, two: Pose, **rates: Floats) -> Instant:
    """A joint of the catalogue, hub and arm at the given poses."""
    return at_poses(compile((HUB, ARM, joint)).select(), {"hub": one, "arm": two}, **rates)


def site_frame(site: qp.Site, pose: Pose) -> Pose:
    """Origin and axes in N of a site whose body is at a pose."""
    centre, axes = pose
    return centre + axes @ np.asarray(site.at), axes @ site.axes


def pitch_of(joint: qp.Joint) -> float:
    """How far a screw moves on as it turns [m/rad]."""
    (relation,) = joint.relations()
    return -relation.factor


def allowed(joint: qp.Joint, one: Pose, amounts: Floats, freedoms: Any = None) -> Pose:
    """Pose of body 2 when the sites coincide but for the freedoms, each gone through by its
    amount."""
    origin, axes = site_frame(joint.sites[0], one)
    placed = axes
    for freedom, amount in zip(freedoms or joint.freedoms or (), amounts):
        axis = (axes if freedom.site == 1 else placed)[:, AXES.index(freedom.axis)]
        if freedom.kind == "slide":
            origin = origin + amount * axis
        else:
            placed = turn(axis, amount) @ placed
        if freedom.kind == "screw":
            origin = origin + pitch_of(joint) * amount * axis
    site = joint.sites[1]
    body = placed @ site.axes.T
    return origin - body @ np.asarray(site.at), body
