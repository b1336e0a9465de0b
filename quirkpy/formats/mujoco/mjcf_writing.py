"""`write_mjcf`: a system as an MJCF file of MuJoCo, which `read_mjcf` reads back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from quirkpy.formats.models.branches import CarriedBody, branches_of
from quirkpy.formats.models.links import RelativePose, no_pose
from quirkpy.maths import quat
from quirkpy.maths.rotations import quaternion_of
from quirkpy.maths.triples import array
from quirkpy.maths.types import Floats
from quirkpy.parts.body import GROUND, Body, Site
from quirkpy.parts.checks import instance
from quirkpy.parts.couplings import Gear
from quirkpy.parts.files import FilePath, write_text
from quirkpy.parts.force import Force
from quirkpy.parts.forces import (
    BetweenPoints,
    Damper,
    Gravity,
    HingeSpring,
    JointDamper,
    JointSpring,
    JointStop,
    OnCoordinate,
    Spring,
)
from quirkpy.parts.joint import BaseJoint
from quirkpy.parts.joint_laws import Motor, Servo
from quirkpy.parts.joints import Fixed, Prismatic, Revolute, Spherical
from quirkpy.parts.part import Part, check_argument
from quirkpy.parts.schedule import TimeFunction
from quirkpy.parts.shapes import Box, Cylinder, Shape, Sphere
from quirkpy.parts.strings import String
from quirkpy.system.findings import Finding, Findings
from quirkpy.system.multibody import Multibody

#: Joints of the tree, as MJCF has them; a fixed one is none.
TYPES: dict[type[BaseJoint], str] = {
    Revolute: "hinge", Prismatic: "slide", Spherical: "ball", Fixed: "",
}  # fmt: skip
#: Joints that equalities can stand for.
CLOSING = (Spherical, Fixed, Revolute)
#: How far apart the two points are by which a hinge closes a loop [m].
HINGE_HELD = 0.1


def write_mjcf(system: Multibody, path: FilePath) -> tuple[Finding, ...]:
    """Write a system as an MJCF file in its initial pose; returns findings on what an MJCF cannot
    say, or says otherwise.

    Bodies lie in their axes, at their mass centres, with their moments about principal axes. Joints
    keep their coordinates; ball joints, locks and hinges that close loops become equalities, which
    MuJoCo holds softly, and candidates such as are not active. Gravity, springs, dampers and stops
    of hinges and slides, gears, motors and servos with constant numbers, springs and strings
    between points are written; shapes without contact. Other joints are refused, other forces and
    meshes are left out."""
    check_argument("write_mjcf", "system", system, instance(Multibody))
    made = _Writer(system)
    write_text(path, made.text(), "write_mjcf")
    return made.findings.all()


class _Writer:
    """One system during writing: lines of bodies, and sections behind them."""

    def __init__(self, system: Multibody) -> None:
        self.system, self.findings = system, Findings()
        self.bodies = [part for part in system.parts if isinstance(part, Body)]
        self.joints = [p for p in system.parts if isinstance(p, BaseJoint) and type(p) is not Gear]
        self.branches, self.loops = branches_of(self.bodies, self.joints)
        self.later = [p for p in system.candidates if isinstance(p, BaseJoint)]
        self._check()
        self.poses = self._poses()
        self.on: dict[str, list[OnCoordinate]] = {joint.name: [] for joint in self.joints}
        self.sites: dict[str, list[str]] = {}
        self.equalities = [*self._equalities()]
        self.tendons, self.actuators, self.options = list[str](), list[str](), list[str]()
        for force in (part for part in system.parts if isinstance(part, Force)):
            self._act(force)
        self._tell_rest()
        if any(np.any(getattr(system.initial, part)) for part in ("v", "omega")):
            self.findings.tell("speeds", "{}: an MJCF begins at rest.", "start")

    def _check(self) -> None:
        tree = [branch.joint for branch in self.branches if branch.joint is not None]
        for joint in (*tree, *self.loops, *self.later):
            if type(joint) not in (TYPES if joint in tree else CLOSING):
                raise joint.refuse(
                    "an MJCF knows no such joint here; leave it out by system.without(...)."
                )
        for body in self.bodies:
            if body.name == "world":
                raise body.refuse("an MJCF calls the ground 'world'; give it another name.")

    def _poses(self) -> dict[str, RelativePose]:
        """The poses of all bodies in N at the start."""
        state = self.system.initial
        out = {GROUND.name: no_pose()}
        for body in self.bodies:
            here = body if body.fixed else state[body.name]
            turn = body.matrix if body.fixed else quat.matrix(here.orientation)
            out[body.name] = RelativePose(np.asarray(turn), np.array(here.position))
        return out

    # --- the file ---------------------------------------------------------------------------------
    def text(self) -> str:
        """The whole file."""
        world = self._inside(GROUND, "    ")
        gravity = self.options or ['gravity="0 0 0"']
        lines = [
            '<mujoco model="quirkpy">',
            '  <compiler angle="radian" inertiafromgeom="false" balanceinertia="false"/>',
            f"  <option {' '.join(gravity)}/>", "  <worldbody>", *world, "  </worldbody>",
        ]  # fmt: skip
        for word, some in (
            ("equality", self.equalities), ("tendon", self.tendons), ("actuator", self.actuators)
        ):  # fmt: skip
            if some:
                lines += [f"  <{word}>", *(f"    {line}" for line in some), f"  </{word}>"]
        return "\n".join([*lines, "</mujoco>", ""])

    def _inside(self, carrier: Body, indent: str) -> list[str]:
        """The sites of a body, and the bodies that it carries."""
        lines = [indent + site for site in self.sites.get(carrier.name, ())]
        for branch in self.branches:
            if branch.carrier == carrier:
                lines += self._body(branch, indent)
        return lines

    def _body(self, branch: CarriedBody, indent: str) -> list[str]:
        body, inner = branch.body, indent + "  "
        near, far = self.poses[branch.carrier.name], self.poses[body.name]
        pose = RelativePose(near.turn.T @ far.turn, near.turn.T @ (far.at - near.at))
        lines = [f"{indent}<body name={quoteattr(body.name)} {_pose_of(pose)}>"]
        lines += [inner + line for line in (*_inertial(body), *self._joint(branch))]
        if body.shape is not None:
            lines += [inner + line for line in self._geom(body, body.shape)]
        return [*lines, *self._inside(body, inner), f"{indent}</body>"]

    def _geom(self, body: Body, shape: Shape) -> Iterator[str]:
        found = _geometry(shape)
        if found is None:
            self.findings.tell("shape", "{}: a mesh is not written.", body.name)
            return
        turn, words = found
        free = 'mass="0" contype="0" conaffinity="0"'
        yield f"<geom {words} {_pose_of(RelativePose(turn, np.zeros(3)))} {free}/>"

    # --- joints -----------------------------------------------------------------------------------
    def _joint(self, branch: CarriedBody) -> Iterator[str]:
        joint, body = branch.joint, branch.body
        if joint is None:
            if not body.fixed:
                yield f"<freejoint name={quoteattr(self._free_name(body.name))}/>"
            return
        if body.fixed or type(joint) is Fixed:
            return
        far = joint.sites[branch.forwards]
        words = f'name={quoteattr(joint.name)} type="{TYPES[type(joint)]}" pos="{_row(far.at)}"'
        if type(joint) is not Spherical:
            axis = array(far.axes9)[:, 2] * (1.0 if branch.forwards else -1.0)
            words += f' axis="{_row(axis)}" ref="{_value(self._reference(joint))}"'
            words += self._along(joint)
        yield f"<joint {words}/>"

    def _free_name(self, body: str) -> str:
        """A name for the free joint of a body that no joint has."""
        name, taken = f"{body} in N", {joint.name for joint in self.joints}
        while name in taken:
            name += "_"
        return name

    def _reference(self, joint: BaseJoint) -> float:
        """The coordinate of a hinge or slide at the start."""
        here = self.system.initial[joint.name]
        return float(here.angle if type(joint) is Revolute else here.travel)

    def _along(self, joint: BaseJoint) -> str:
        """Springs, damping and bounds of a coordinate."""
        forces, words = self.on[joint.name], ""
        springs = [f for f in forces if isinstance(f, (JointSpring, HingeSpring)) and f.stiffness]
        if springs:  # together one spring of the sum of stiffnesses at their mean
            sizes = np.array([float(spring.stiffness) for spring in springs])  # type: ignore[arg-type]
            rests = [s.rest if isinstance(s, JointSpring) else s.rest_angle for s in springs]
            rest = sizes @ np.array(rests, dtype=float) / sizes.sum()
            words += f' stiffness="{_value(sizes.sum())}" springref="{_value(rest)}"'
        damping = sum(getattr(f, "damping", 0.0) for f in forces)
        words += f' damping="{_value(damping)}"' if damping else ""
        for stop in (f for f in forces if isinstance(f, JointStop)):
            bounds = (-1e6 if stop.lower is None else stop.lower,
                      1e6 if stop.upper is None else stop.upper)  # fmt: skip
            words += f' limited="true" range="{_row(bounds)}"'
            self.findings.tell("stop", "{}: MuJoCo's limits are soft.", stop.name)
        return words

    def _equalities(self) -> Iterator[str]:
        """What closes loops, may do so later, and couples."""
        for joint in (*self.loops, *self.later):
            active = ' active="false"' if joint in self.later else ""
            kind = "weld" if type(joint) is Fixed else "connect"
            shifts = (-HINGE_HELD, HINGE_HELD) if type(joint) is Revolute else (0.0,)
            for k, shift in enumerate(shifts):
                name = joint.name if k == 0 else f"{joint.name} too"
                ends = [
                    self._site(f"{name} {n}", site, shift) for n, site in enumerate(joint.sites, 1)
                ]
                words = f"name={quoteattr(name)} site1={ends[0]} site2={ends[1]}{active}"
                yield f"<{kind} {words}/>"
            self.findings.tell("soft", "{}: MuJoCo holds it softly.", joint.name)
        for gear in (part for part in self.system.parts if type(part) is Gear):
            yield from self._gear(gear)

    def _gear(self, gear: Gear) -> Iterator[str]:
        one, two = gear.first, gear.second
        if any(j not in self.joints or j in self.loops or type(j) not in (Revolute, Prismatic)
               for j in (one, two)):  # fmt: skip
            raise gear.refuse(
                "an MJCF couples hinges and slides of its tree alone; leave it out by "
                "system.without(...)."
            )
        start = gear.offset - self._reference(two) + gear.ratio * self._reference(one)
        ends = f"joint1={quoteattr(two.name)} joint2={quoteattr(one.name)}"
        yield (
            f"<joint name={quoteattr(gear.name)} {ends} "
            f'polycoef="{_row((start, gear.ratio, 0.0, 0.0, 0.0))}"/>'
        )
        self.findings.tell("soft", "{}: MuJoCo holds it softly.", gear.name)

    # --- forces -----------------------------------------------------------------------------------
    def _act(self, force: Force) -> None:
        """Write a force, or report that it is not written."""
        known = False
        if not _changes(force):
            if isinstance(force, Gravity):
                known = not self.options
                self.options = self.options or [f'gravity="{_row(force.acceleration)}"']
            elif isinstance(force, OnCoordinate):
                known = self._act_on(force)
            elif isinstance(force, (Spring, String, Damper)):
                known = self._tie(force)
        if not known:
            self.findings.tell("not written", "{}: an MJCF cannot say what it does.", force.name)

    def _act_on(self, force: OnCoordinate) -> bool:
        """What acts on the coordinate of a hinge or slide of the tree; returns whether it is
        known."""
        joint = force.joint
        if joint not in self.joints or joint in self.loops:
            return False
        if type(joint) not in (Revolute, Prismatic):
            return False
        if isinstance(force, (Motor, Servo)):
            return self._drive(force)
        if not isinstance(force, (JointSpring, HingeSpring, JointDamper, JointStop)):
            return False
        taken = any(isinstance(other, JointStop) for other in self.on[joint.name])
        if taken and isinstance(force, JointStop):
            return False
        self.on[joint.name].append(force)
        return True

    def _drive(self, force: Motor | Servo) -> bool:
        """An actuator whose bias is the law, as its command is zero."""
        if isinstance(force, Servo):
            if force.limit is not None:
                return False
            stiffness, damping = force.stiffness, force.damping
            bias: tuple[Any, ...] = (stiffness * float(force.target), -stiffness, -damping)  # type: ignore[arg-type]
        else:
            bias = (force.torque if type(force.joint) is Revolute else force.force, 0.0, 0.0)
        names = f"name={quoteattr(force.name)} joint={quoteattr(force.joint.name)}"
        law = f'gainprm="0" biastype="affine" biasprm="{_row(bias)}"'
        self.actuators.append(f"<general {names} {law}/>")
        return True

    def _tie(self, force: BetweenPoints) -> bool:
        """A spring, damper or string as a tendon."""
        pulls = isinstance(force, String) or bool(getattr(force, "tension_only", False))
        if getattr(force, "limit_load", None) is not None:
            return False
        stiffness, rest, damping, *_ = force.pair_numbers()
        if pulls and damping:
            self.findings.tell("slack", "{}: MuJoCo damps it where it is slack.", force.name)
        lengths = (0.0, rest) if pulls else (rest,)
        ends = [self._site(f"{force.name} {n}", site) for n, site in enumerate(force.way(), 1)]
        words = f'stiffness="{_value(stiffness)}" damping="{_value(damping)}"'
        path = "".join(f"<site site={end}/>" for end in ends)
        self.tendons.append(
            f'<spatial name={quoteattr(force.name)} {words} springlength="{_row(lengths)}">'
            f"{path}</spatial>"
        )
        return True

    def _site(self, name: str, site: Site, shift: float = 0.0) -> str:
        """A site of the file, moved along its z axis [m]; returns its quoted name."""
        axes = array(site.axes9)
        at = np.array(site.at) + shift * axes[:, 2]
        pose = RelativePose(axes, at)
        if site.body == GROUND or site.body.name not in self.poses:
            owner = GROUND.name
        else:
            owner = site.body.name
        self.sites.setdefault(owner, []).append(f"<site name={quoteattr(name)} {_pose_of(pose)}/>")
        return quoteattr(name)

    def _tell_rest(self) -> None:
        """Report parts that are neither bodies nor joints nor forces, and forces that may act
        later."""
        later = [part for part in self.system.candidates if not isinstance(part, BaseJoint)]
        for part in (*self.system.parts, *later):
            if part in later or not isinstance(part, (Body, BaseJoint, Force)):
                name = str(getattr(part, "name", ""))
                self.findings.tell("not written", "{}: an MJCF cannot say what it does.", name)


# --- words ----------------------------------------------------------------------------------------
def _changes(part: Part) -> bool:
    """Whether any number of a part is a function of time."""
    return any(isinstance(value, TimeFunction) or callable(value) for value in vars(part).values())


def _inertial(body: Body) -> Iterator[str]:
    """Mass and principal moments of a body that moves."""
    if body.mass is None or body.inertia is None or body.fixed:
        return
    matrix = body.inertia_matrix
    if np.count_nonzero(matrix - np.diag(np.diag(matrix))) == 0:
        moments, axes = np.diag(matrix), np.eye(3)
    else:
        moments, axes = np.linalg.eigh(matrix)
        axes = axes * np.array([1.0, 1.0, np.linalg.det(axes)])
    pose = RelativePose(axes, np.zeros(3))
    yield f'<inertial {_pose_of(pose)} mass="{_value(body.mass)}" diaginertia="{_row(moments)}"/>'


def _geometry(shape: Shape) -> tuple[Floats, str] | None:
    """The axes of a shape in an MJCF, and its type and sizes."""
    if isinstance(shape, Box):
        return np.eye(3), f'type="box" size="{_row(0.5 * x for x in shape.size)}"'
    if isinstance(shape, Sphere):
        return np.eye(3), f'type="sphere" size="{_value(shape.radius)}"'
    if isinstance(shape, Cylinder):
        z = "xyz".index(shape.axis)
        turn = np.eye(3)[:, [(z + 1) % 3, (z + 2) % 3, z]]
        return turn, f'type="cylinder" size="{_row((shape.radius, 0.5 * shape.length))}"'
    return None


def _pose_of(pose: RelativePose) -> str:
    return f'pos="{_row(pose.at)}" quat="{_row(quaternion_of(pose.turn))}"'


def _row(numbers: Any) -> str:
    return " ".join(map(_value, numbers))


def _value(number: Any) -> str:
    return repr(float(number))
