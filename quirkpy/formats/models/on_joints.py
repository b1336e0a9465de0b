"""Forces on a single coordinate of a joint, as parts: damping, dry friction and limits."""

from __future__ import annotations

from quirkpy.formats.models.assembly import Assembly
from quirkpy.parts.forces import JointDamper, JointFriction, JointStop
from quirkpy.parts.joint import BaseJoint


def damp(made: Assembly, name: str, joint: BaseJoint, damping: float) -> JointDamper:
    """Viscous damping [N m s/rad] or [N s/m] of a joint with the name `name` in the file."""
    return JointDamper(made.name(f"{name} damping", "force"), joint, damping=damping)


def rub(made: Assembly, name: str, joint: BaseJoint, most: float) -> JointFriction:
    """Dry friction of a joint, up to a torque [N m] or a force [N]."""
    made.findings.tell(
        "friction", "{}: its dry friction is smooth here, and creeps below 1e-3 rad/s.", name
    )
    turns = joint.coordinates[0].kind == "angle"
    return JointFriction(
        made.name(f"{name} friction", "force"), joint, coefficient=1.0, preload=most,
        radius=1.0 if turns else None,
    )  # fmt: skip


def bound(made: Assembly, name: str, joint: BaseJoint, bounds: tuple[float, float]) -> JointStop:
    """Limits of a joint [rad] or [m]."""
    word = made.name(f"{name} limit", "stop")
    return JointStop(word, joint, lower=bounds[0], upper=bounds[1])
