"""`write_urdf`: a tree of bodies as a URDF file, which `read_urdf` reads back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.sax.saxutils import quoteattr

import numpy as np

from quirkpy.formats.models.branches import CarriedBody, branches_of
from quirkpy.formats.models.links import RelativePose, no_pose
from quirkpy.formats.models.urdf import LIMITLESS
from quirkpy.maths.triples import array
from quirkpy.maths.types import Floats
from quirkpy.parts.body import GROUND, Body, Site
from quirkpy.parts.checks import instance
from quirkpy.parts.couplings import Gear
from quirkpy.parts.files import FilePath, write_text
from quirkpy.parts.forces import JointDamper, JointStop
from quirkpy.parts.joint import BaseJoint
from quirkpy.parts.joints import Fixed, Planar, Prismatic, Revolute, Spherical
from quirkpy.parts.part import check_argument
from quirkpy.parts.shapes import Box, Cylinder, Shape, Sphere
from quirkpy.system.findings import Finding, Findings
from quirkpy.system.multibody import Multibody

TYPES: dict[type[BaseJoint], str] = {
    Revolute: "continuous", Prismatic: "prismatic", Fixed: "fixed", Planar: "planar",
    Spherical: "spherical",
}  # fmt: skip
#: Joints whose coordinate a URDF can bound.
BOUNDED = (Revolute, Prismatic)
#: Where the cosine of a pitch is smaller, roll and yaw have the same axis.
UPRIGHT = 1e-9


def write_urdf(system: Multibody, path: FilePath) -> tuple[Finding, ...]:
    """Write the bodies and joints of a system that is a tree as a URDF; returns findings on what a
    URDF cannot represent.

    Links lie in the axes of their bodies, at their joints; joints are at zero.  Bodies that float
    hang at the link "ground" by floating joints.  Stops become limits, gears mimics, and damping
    stays; other forces and meshes are left out.  Joints that close loops are refused."""
    check_argument("write_urdf", "system", system, instance(Multibody))
    findings = Findings()
    branches = _branches(system)
    frames = {GROUND.name: no_pose()} | {b.body.name: _frame(b) for b in branches}
    lines = ['<?xml version="1.0"?>', '<robot name="quirkpy">', '  <link name="ground"/>']
    for branch in branches:
        lines += _link(branch.body, frames[branch.body.name], findings)
    for branch in branches:
        lines += _joint(system, branch, frames)
    _tell_rest(system, findings)
    write_text(path, "\n".join([*lines, "</robot>", ""]), "write_urdf")
    return findings.all()


# --- the tree -------------------------------------------------------------------------------------
def _branches(system: Multibody) -> list[CarriedBody]:
    """All bodies, parents first; joints that a URDF does not know are refused, and those that close
    loops."""
    bodies = [part for part in system.parts if isinstance(part, Body)]
    joints = [p for p in system.parts if isinstance(p, BaseJoint) and not isinstance(p, Gear)]
    for joint in joints:
        if type(joint) not in TYPES:
            raise joint.refuse(
                "a URDF knows no such joint; leave it out by system.without(...).", code="together"
            )
    found, loops = branches_of(bodies, joints)
    for joint in loops:
        raise joint.refuse(
            "it closes a loop, but a URDF is a tree; leave it out by system.without(...).",
            code="together",
        )
    return found


def _frame(branch: CarriedBody) -> RelativePose:
    """The frame of a link in its body: axes of the body, origin at its joint."""
    if branch.joint is None:
        return no_pose()
    return RelativePose(np.eye(3), np.array(branch.joint.sites[branch.forwards].at))


# --- links ----------------------------------------------------------------------------------------
def _link(body: Body, frame: RelativePose, findings: Findings) -> list[str]:
    centre = _origin(RelativePose(np.eye(3), -frame.at))
    lines = [f"  <link name={quoteattr(body.name)}>"]
    if body.mass is not None and body.inertia is not None:
        m = body.inertia_matrix
        names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        pairs = zip(names, m[np.triu_indices(3)].tolist(), strict=True)
        moments = " ".join(f'{name}="{value!r}"' for name, value in pairs)
        lines.append(
            f'    <inertial>{centre}<mass value="{body.mass!r}"/><inertia {moments}/></inertial>'
        )
    lines += _solid(body, -frame.at, findings)
    return [*lines, "  </link>"]


def _solid(body: Body, at: Floats, findings: Findings) -> list[str]:
    if body.shape is None:
        return []
    found = _geometry(body.shape)
    if found is None:
        findings.tell("shape", "{}: a mesh is not written.", body.name)
        return []
    turn, words = found
    inside = f"{_origin(RelativePose(turn, at))}<geometry>{words}</geometry>"
    return [f"    <{kind}>{inside}</{kind}>" for kind in ("visual", "collision")]


def _geometry(shape: Shape) -> tuple[Floats, str] | None:
    """The axes of a shape in a URDF, and its element."""
    if isinstance(shape, Box):
        return np.eye(3), f'<box size="{_row(tuple(shape.size))}"/>'
    if isinstance(shape, Sphere):
        return np.eye(3), f'<sphere radius="{shape.radius!r}"/>'
    if isinstance(shape, Cylinder):
        z = "xyz".index(shape.axis)
        turn = np.eye(3)[:, [(z + 1) % 3, (z + 2) % 3, z]]
        return turn, f'<cylinder radius="{shape.radius!r}" length="{shape.length!r}"/>'
    return None


# --- joints ---------------------------------------------------------------------------------------
def _joint(system: Multibody, branch: CarriedBody, frames: dict[str, RelativePose]) -> list[str]:
    body, carrier, joint = branch.body, branch.carrier, branch.joint
    ends = f"<parent link={quoteattr(carrier.name)}/><child link={quoteattr(body.name)}/>"
    if joint is None:
        kind = "fixed" if body.fixed else "floating"
        pose = RelativePose(body.matrix, np.array(body.position))
        name = quoteattr(f"{body.name} in N")
        return [f'  <joint name={name} type="{kind}">{_origin(pose)}{ends}</joint>']
    far, near = joint.sites[branch.forwards], joint.sites[not branch.forwards]
    pose = _between(near, frames[carrier.name], far)
    axis = array(far.axes9)[:, 2] * (1.0 if branch.forwards else -1.0)
    limit = _limit(system, joint)
    kind = "revolute" if limit and type(joint) is Revolute else TYPES[type(joint)]
    inside = f'{_origin(pose)}{ends}<axis xyz="{_row(axis.tolist())}"/>'
    if not limit and kind == "prismatic":
        limit = f'<limit lower="{-LIMITLESS!r}" upper="{LIMITLESS!r}" effort="0" velocity="0"/>'
    inside += limit + _damping(system, joint) + _mimic(system, joint)
    return [f'  <joint name={quoteattr(joint.name)} type="{kind}">{inside}</joint>']


def _between(near: Site, frame: RelativePose, far: Site) -> RelativePose:
    """The pose of the link at the far site relative to that at the near site, where the sites
    coincide."""
    turn = array(near.axes9) @ array(far.axes9).T
    return RelativePose(turn, np.array(near.at) - frame.at)


def _limit(system: Multibody, joint: BaseJoint) -> str:
    for part in system.parts:
        if isinstance(part, JointStop) and part.joint == joint and type(joint) in BOUNDED:
            lower, upper = (
                far if bound is None else bound
                for bound, far in ((part.lower, -LIMITLESS), (part.upper, LIMITLESS))
            )
            return f'<limit lower="{lower!r}" upper="{upper!r}" effort="0" velocity="0"/>'
    return ""


def _damping(system: Multibody, joint: BaseJoint) -> str:
    found = sum(
        part.damping
        for part in system.parts
        if isinstance(part, JointDamper) and part.joint == joint
    )
    return f'<dynamics damping="{found!r}" friction="0"/>' if found else ""


def _mimic(system: Multibody, joint: BaseJoint) -> str:
    for part in system.parts:
        if isinstance(part, Gear) and part.second == joint:
            name = quoteattr(part.first.name)
            return f'<mimic joint={name} multiplier="{part.ratio!r}" offset="{part.offset!r}"/>'
    return ""


def _tell_rest(system: Multibody, findings: Findings) -> None:
    """Report active parts that are not written."""
    written = (Body, JointStop, JointDamper, Gear, *TYPES)
    for part in (*system.parts, *system.candidates):
        if part in system.candidates or not isinstance(part, written):
            name = str(getattr(part, "name", ""))
            findings.tell("not written", "{}: a URDF cannot say what it does.", name)


# --- words ----------------------------------------------------------------------------------------
def _origin(pose: RelativePose) -> str:
    return f'<origin xyz="{_row(pose.at.tolist())}" rpy="{_row(angles_of(pose.turn))}"/>'


def angles_of(turn: Floats) -> tuple[float, float, float]:
    """Roll, pitch and yaw of a rotation (3, 3) [rad]."""
    across = math.hypot(turn[0, 0], turn[1, 0])
    pitch = math.atan2(-turn[2, 0], across)
    if across < UPRIGHT:
        return math.atan2(-turn[1, 2], turn[1, 1]), pitch, 0.0
    return math.atan2(turn[2, 1], turn[2, 2]), pitch, math.atan2(turn[1, 0], turn[0, 0])


def _row(numbers: Sequence[float]) -> str:
    return " ".join(repr(float(x)) for x in numbers)
