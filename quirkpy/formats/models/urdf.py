"""`read_urdf` and `write_urdf`: robots in URDF files.

A URDF is a tree of links, each with a joint to its parent. Nothing is ignored silently: unread
contents are listed in `Imported.findings`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from quirkpy.formats.models.assembly import Assembly
from quirkpy.formats.models.imported import Imported, close_loops
from quirkpy.formats.models.links import (
    JointMotion,
    MassPiece,
    ModelLink,
    RelativePose,
    no_pose,
    rotation_about,
)
from quirkpy.formats.models.meshes import Meshes
from quirkpy.formats.models.on_joints import bound, damp, rub
from quirkpy.formats.models.unread import tell_unread, words
from quirkpy.formats.models.xml import XmlElement, read_elements
from quirkpy.maths.types import Floats
from quirkpy.parts.couplings import Gear
from quirkpy.parts.files import FilePath
from quirkpy.parts.forces import Gravity
from quirkpy.parts.joint import BaseJoint
from quirkpy.parts.part import Part
from quirkpy.parts.shapes import Box, Cylinder, Sphere
from quirkpy.system.findings import Findings

#: Other contents of a URDF, by the codes of their findings.
UNREAD = {
    "looks": (
        "What only looks is not read",
        words("material texture verbose visual color"),
    ),
    "drives": (
        "What drives can do is not read",
        words("effort velocity safety_controller transmission calibration"),
    ),
    "contact": ("Contact is not modelled", words("contact collision")),
    "others": ("What is meant for another program is not read", words("gazebo sensor")),
}
#: Limits beyond this count as none [m] or [rad].
LIMITLESS = 1e9
KINDS = {
    "revolute": "hinge", "continuous": "hinge", "prismatic": "slide", "spherical": "ball",
    "planar": "planar", "floating": "free", "fixed": None,
}  # fmt: skip


def read_urdf(
    path: FilePath, *, free: bool = False, gravity: Sequence[float] | None = None,
    shapes: bool = True, root: FilePath | None = None,
) -> Imported:  # fmt: skip
    """The robot of a URDF file as a system, with findings.

    Links become bodies in their own axes, joints keep their names and zeros: revolute, continuous,
    prismatic, planar, spherical, fixed and floating ones; mimics become gears, limits stops,
    damping and friction forces. free: the first link floats (by default it is attached to the
    ground). gravity [m/s2]: a URDF does not contain it; without it there is none. shapes: whether
    solids are read, of collisions where a link has some. root: the folder below which meshes are
    read (by default the package of the file, or the folder above its own)."""
    top = read_elements(path, "read_urdf")
    if top.tag != "robot":
        raise top.refuse(f"a URDF begins with <robot>, not with <{top.tag}>.")
    if any(element.tag.startswith("xacro:") for element in top.walk()):
        raise top.refuse("it is a template of xacro; let xacro make the URDF of it first.")
    return _Robot(top, free, gravity, shapes, root).imported()


class _Robot:
    """One file during reading."""

    def __init__(
        self, top: XmlElement, free: bool, gravity: Any, shapes: bool, root: FilePath | None
    ) -> None:
        self.top, self.free, self.shapes = top, free, shapes
        self.gravity = None if gravity is None else Gravity(tuple(gravity))
        self.findings = Findings()
        self.folder = Path(top.file).absolute().parent
        self.meshes = Meshes(self._root(root), self.findings)
        self.links: dict[str, ModelLink] = {}
        self.joints: dict[str, XmlElement] = {}
        self.gears: list[Gear] = []
        top.get("name"), top.get("version")

    def _root(self, root: FilePath | None) -> Path:
        if root is not None:
            return Path(root)
        packages = [up for up in self.folder.parents if (up / "package.xml").is_file()]
        return packages[0] if packages else self.folder.parent

    def imported(self) -> Imported:
        """The complete result."""
        for element in self.top.all("link"):
            self._add_link(element)
        for element in self.top.all("joint"):
            self._add_joint(element)
        self._start_mimics()
        down = np.zeros(3) if self.gravity is None else np.array(self.gravity.acceleration)
        made = Assembly(self._in_order(), self.findings, down)
        parts: list[Part] = [*made.bodies, *made.joints]
        parts += [] if self.gravity is None else [self.gravity]
        for name, element in self.joints.items():
            joint = made.motions.get(name)
            if joint is not None:
                parts += self._forces(name, element, joint, made)
        tell_unread(self.top, UNREAD, self.findings)
        system, closed = close_loops(parts, self.gears, [], self.findings)
        return Imported(system, self.findings.all(), {}, closed, assembly=made)

    # --- links ------------------------------------------------------------------------------------
    def _add_link(self, element: XmlElement) -> None:
        name = element.text("name")
        if name in self.links:
            raise element.refuse(f"two links are called {name!r}; give each a name of its own.")
        element.get("type")
        link = self.links[name] = ModelLink(name, None, no_pose())
        inertial = element.find("inertial")
        if inertial is not None:
            self._add_mass(link, inertial)
        if self.shapes:
            self._add_shapes(link, element)

    def _add_mass(self, link: ModelLink, inertial: XmlElement) -> None:
        pose, mass = _origin(inertial), inertial.find("mass")
        link.mass = 0.0 if mass is None else mass.number("value", 0.0) or 0.0
        if link.mass < 0.0:
            raise inertial.refuse(f"link {link.name!r} has a mass of {link.mass:g} kg; none can.")
        link.centre = pose.at
        moments = inertial.find("inertia")
        if moments is not None:
            words = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
            xx, xy, xz, yy, yz, zz = (moments.number(word, 0.0) for word in words)
            inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=float)
            link.inertia = pose.turn @ inertia @ pose.turn.T
        if link.mass == 0.0 and link.inertia.any():
            self.findings.tell(
                "mass", "{}: it has moments but no mass; its moments count.", link.name
            )

    def _add_shapes(self, link: ModelLink, element: XmlElement) -> None:
        kind = "collision" if element.find("collision") is not None else "visual"
        for solid in element.all(kind):
            solid.get("name"), solid.get("concave"), solid.get("group")
            geometry = solid.find("geometry")
            for shape in () if geometry is None else geometry.all():
                pose = _origin(solid)
                self._add_shape(link, pose, shape)

    def _add_shape(self, link: ModelLink, pose: RelativePose, element: XmlElement) -> None:
        kind = element.tag
        if kind == "box":
            size = element.numbers("size", 3)
            if size is not None and size.min() > 0.0:
                link.pieces.append(MassPiece(pose, Box(tuple(size.tolist()))))
        elif kind in ("sphere", "cylinder", "capsule"):
            radius, length = element.number("radius", 0.0) or 0.0, element.number("length", 0.0)
            if radius > 0.0 and (kind == "sphere" or (length or 0.0) > 0.0):
                made = Sphere(radius) if kind == "sphere" else Cylinder(radius, length or 0.0, "z")
                link.pieces.append(MassPiece(pose, made))
            if kind == "capsule":
                self.findings.tell("shape", "{}: of a capsule the cylinder is kept.", link.name)
        elif kind == "mesh":
            self._add_mesh(link, pose, element)

    def _add_mesh(self, link: ModelLink, pose: RelativePose, element: XmlElement) -> None:
        scale = element.numbers("scale", 1, 3)
        factor = np.ones(3) if scale is None else np.broadcast_to(scale, (3,))
        base, name = self._place(element.text("filename"))
        mesh = self.meshes.solid(base, name, factor, link.name)
        if mesh is not None:
            link.pieces.append(MassPiece(pose, mesh))

    def _place(self, name: str) -> tuple[Path, str]:
        """The folder to which a file is relative, and its name there."""
        for scheme in ("package://", "model://"):
            if name.startswith(scheme):
                package, _, rest = name.removeprefix(scheme).partition("/")
                above = [up for up in self.folder.parents if up.name == package]
                base = above[0] if above else self.meshes.root
                if above and not self.meshes.root.is_relative_to(base):
                    base = self.meshes.root
                if above and above[0] in self.meshes.root.parents:
                    self.meshes.root = above[0]
                    base = above[0]
                return (base, rest) if (base / rest).exists() else (base / package, rest)
        return self.folder, name.removeprefix("file://")

    # --- joints -----------------------------------------------------------------------------------
    def _add_joint(self, element: XmlElement) -> None:
        name, word = element.text("name"), element.text("type")
        if name in self.joints:
            raise element.refuse(f"two joints are called {name!r}; give each a name of its own.")
        if word not in KINDS:
            raise element.refuse(
                f"joint {name!r} is {word!r}, but must be one of {', '.join(map(repr, KINDS))}."
            )
        parent, child = self._end(element, "parent"), self._end(element, "child")
        if child.carrier is not None or child is parent:
            raise element.refuse(
                f"link {child.name!r} has two parents, but links make a tree; close loops by a "
                "joint of your own: system.with_(...)."
            )
        child.carrier, child.pose = parent, _origin(element)
        self.joints[name] = element
        kind = KINDS[word]
        if kind is not None:
            self._add_motion(child, name, kind, element)

    def _add_motion(self, child: ModelLink, name: str, kind: Any, element: XmlElement) -> None:
        motion = JointMotion(name, kind, self._axis(element, kind), np.zeros(3))
        lower, upper = self._limits(name, element)
        motion.start = min(max(0.0, lower), upper)
        if motion.start != 0.0:
            self.findings.tell(
                "limit", "{}: zero lies beyond its limits, so it begins at the nearer one.", name
            )
        child.motions.append(motion)
        if kind == "free" and child.carrier is not None:
            child.pose, above = self._from_root(child), child.carrier
            child.carrier = None
            if above.carrier is not None:
                self.findings.tell(
                    "floating", "{}: it floats in the world, not with its parent.", child.name
                )

    def _start_mimics(self) -> None:
        """Set the initial coordinates of mimics according to their joints."""
        starts = {motion.name: motion for link in self.links.values() for motion in link.motions}
        for name, element in self.joints.items():
            mimic = next((child for child in element.children if child.tag == "mimic"), None)
            first = None if mimic is None else starts.get(mimic.attributes.get("joint", ""))
            if mimic is not None and first is not None and first.simple and name in starts:
                ratio, offset = mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
                starts[name].start = (ratio or 0.0) * first.start + (offset or 0.0)

    def _from_root(self, link: ModelLink) -> RelativePose:
        pose = link.pose
        while link.carrier is not None:
            link = link.carrier
            pose = link.pose.then(pose)
        return pose

    def _end(self, element: XmlElement, tag: str) -> ModelLink:
        end = element.find(tag)
        name = "" if end is None else end.text("link")
        if name not in self.links:
            raise element.refuse(f"its {tag} is {name!r}, which is no link of the file.")
        return self.links[name]

    def _axis(self, element: XmlElement, kind: str) -> Floats:
        axis = element.find("axis")
        given = None if axis is None else axis.numbers("xyz", 3)
        if given is None:
            return np.array([1.0, 0.0, 0.0])
        length = float(np.linalg.norm(given))
        if length == 0.0 and kind not in ("free", "ball"):
            raise element.refuse("its axis is 0 0 0, but must point somewhere.")
        return given / length if length else np.array([0.0, 0.0, 1.0])

    def _limits(self, name: str, element: XmlElement) -> tuple[float, float]:
        """The bounds of a joint; infinite where it has none."""
        limit, none = element.find("limit"), (-math.inf, math.inf)
        if limit is None:
            return none
        lower, upper = limit.number("lower", 0.0) or 0.0, limit.number("upper", 0.0) or 0.0
        if element.attributes["type"] not in ("revolute", "prismatic"):
            return none
        if lower <= -LIMITLESS and upper >= LIMITLESS:
            return none
        if lower >= upper:
            self.findings.tell(
                "limit", f"{{}}: its limits are {lower:g} and {upper:g}, so it has none here.", name
            )
            return none
        return lower, upper

    def _in_order(self) -> list[ModelLink]:
        """All links, parents before children; an error where they form a cycle."""
        order: list[ModelLink] = [link for link in self.links.values() if link.carrier is None]
        if not self.links:
            raise self.top.refuse("it has no link; a robot has one or more.")
        if not order:
            raise self.top.refuse("it has no first link: each link is the child of another.")
        self._let_go(order)
        children: dict[str, list[ModelLink]] = {}
        for link in self.links.values():
            if link.carrier is not None:
                children.setdefault(link.carrier.name, []).append(link)
        for link in order:  # order grows in this loop
            order += children.get(link.name, [])
        if len(order) < len(self.links):
            rest = sorted(set(self.links) - {link.name for link in order})
            raise self.top.refuse(f"links run in a ring: {rest[0]!r} is its own ancestor.")
        return order

    def _let_go(self, roots: list[ModelLink]) -> None:
        """Let the first links float, if requested."""
        for link in roots if self.free else ():
            if not link.motions:
                z = np.array([0.0, 0.0, 1.0])
                link.motions.append(JointMotion(f"{link.name} floating", "free", z, np.zeros(3)))

    # --- what acts --------------------------------------------------------------------------------
    def _forces(
        self, name: str, element: XmlElement, joint: BaseJoint, made: Assembly
    ) -> list[Part]:
        """The forces of a joint element."""
        out: list[Part] = []
        lower, upper = self._limits(name, element)
        if math.isfinite(lower):
            out.append(bound(made, name, joint, (lower, upper)))
        out += self._dynamics(name, element, joint, made)
        mimic = element.find("mimic")
        if mimic is not None:
            self._add_mimic(name, mimic, joint, made)
        return out

    def _dynamics(
        self, name: str, element: XmlElement, joint: BaseJoint, made: Assembly
    ) -> list[Part]:
        dynamics, out = element.find("dynamics"), list[Part]()
        if dynamics is None:
            return out
        damping = dynamics.number("damping", 0.0) or 0.0
        friction = dynamics.number("friction", 0.0) or 0.0
        several = len(joint.coordinates) != 1
        if several and (damping or friction):
            self.findings.tell("damping", "{}: damping of such a joint is not read.", name)
            return out
        if damping < 0.0 or friction < 0.0:
            raise element.refuse(f"joint {name!r} has negative damping or friction.")
        if damping > 0.0:
            out.append(damp(made, name, joint, damping))
        if friction > 0.0:
            out.append(rub(made, name, joint, friction))
        return out

    def _add_mimic(self, name: str, mimic: XmlElement, joint: BaseJoint, made: Assembly) -> None:
        of = mimic.text("joint")
        ratio, offset = mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
        first = made.motions.get(of)
        if first is None or first is joint or len(first.coordinates) != 1:
            self.findings.tell(
                "mimic", f"{{}}: it mimics {of!r}, which does not move by one coordinate; it is "
                "free here.", name,
            )  # fmt: skip
            return
        word = made.name(f"{name} mimic", "gear")
        self.gears.append(Gear(word, first, joint, ratio=ratio or 0.0, offset=offset or 0.0))


def _origin(element: XmlElement) -> RelativePose:
    """The pose of an <origin>; the identity where there is none."""
    origin = element.find("origin")
    if origin is None:
        return no_pose()
    at, turns = origin.numbers("xyz", 3), origin.numbers("rpy", 3)
    turn = np.eye(3) if turns is None else turn_of(turns)
    return RelativePose(turn, np.zeros(3) if at is None else at)


def turn_of(rpy: Floats) -> Floats:
    """The matrix of roll, pitch and yaw [rad]: successive rotations about x, y and z of the outer
    frame."""
    roll, pitch, yaw = rpy.tolist()
    x, y, z = np.eye(3)
    return rotation_about(z, yaw) @ rotation_about(y, pitch) @ rotation_about(x, roll)
