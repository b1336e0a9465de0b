"""`read_mjcf`: models in MJCF files of MuJoCo.

Nothing is ignored silently: unread contents are listed in `Imported.findings`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from quirkpy.formats.models.assembly import Assembly
from quirkpy.formats.models.imported import Imported, close_loops
from quirkpy.formats.models.links import (
    JointMotion,
    MassPiece,
    ModelLink,
    MotionKind,
    RelativePose,
    no_pose,
    turned_moments,
)
from quirkpy.formats.models.meshes import Meshes
from quirkpy.formats.models.unread import tell_unread, words
from quirkpy.formats.models.xml import XmlElement
from quirkpy.formats.mujoco.acting import Acting
from quirkpy.formats.mujoco.defaults import Defaults, Units, read_whole
from quirkpy.formats.mujoco.geoms import (
    SIZES,
    WEIGHTLESS,
    GeomSolid,
    mesh_solid,
    pose_between,
    primitive,
)
from quirkpy.maths.types import Floats
from quirkpy.parts.body import Site
from quirkpy.parts.files import FilePath
from quirkpy.parts.part import PartError
from quirkpy.system.findings import Findings

MOTIONS: dict[str, MotionKind] = {
    "hinge": "hinge", "slide": "slide", "ball": "ball", "free": "free",
}  # fmt: skip
#: Other contents of an MJCF, by the codes of their findings.
UNREAD = {
    "looks": (
        "What only looks is not read",
        words(
            "asset visual statistic custom light camera material rgba group user texture skin "
            "texturedir discardvisual size hfield width mesh name dclass model class fitscale "
            "actuatorgroup octree fluidshape fluidcoef"
        ),
    ),
    "contact": (
        "Contact is not modelled",
        words(
            "contact contype conaffinity condim friction solref solimp margin gap priority solmix "
            "solreflimit solimplimit solreffriction solimpfriction collision cone "
            "impratio"
        ),
    ),
    "solver": (
        "How another program solves is not read",
        words(
            "option flag timestep integrator iterations solver tolerance ls_iterations "
            "noslip_iterations noslip_tolerance sleep_tolerance usethread nconmax njmax nstack "
            "nkey nuserdata nuser_jnt nuser_body memory mpr_iterations apirate"
        ),
    ),
    "sensors": ("What is measured is not read", words("sensor keyframe")),
}  # fmt: skip


def read_mjcf(path: FilePath, *, shapes: bool = True, root: FilePath | None = None) -> Imported:
    """The model of an MJCF file as a system, with findings.

    Bodies, joints and sites keep their names, axes and zeros; several joints of one body become
    joints of nearly massless bodies. The following is read: the units and inertias of <compiler>,
    defaults, includes, frames, inertial or the masses of geoms, limits as stops, springs, damping,
    friction, rotors, gravity and its compensation, equality connect, weld and joint as joints
    (inactive ones as candidates), tendons between two sites as springs, and motors, position and
    velocity actuators. shapes: whether geoms become shapes. root: the folder below which files are
    read (by default that above the file's)."""
    top = read_whole(path, None if root is None else Path(root))
    if top.tag != "mujoco":
        raise top.refuse(f"an MJCF begins with <mujoco>, not with <{top.tag}>.")
    return _Model(top, shapes, root).imported()


class _Model:
    """One file during reading."""

    def __init__(self, top: XmlElement, shapes: bool, root: FilePath | None) -> None:
        self.top, self.shapes = top, shapes
        top.get("model")
        self.findings = Findings()
        self.folder = Path(top.file).absolute().parent
        below = self.folder.parent if root is None else Path(root)
        self.meshes = Meshes(below, self.findings)
        self.units, self.defaults = Units(top), Defaults(top)
        self.links: list[ModelLink] = []
        self.sites: dict[str, tuple[ModelLink | None, RelativePose]] = {}
        self.solids: dict[str, XmlElement] = {}
        self.weighed: set[str] = set()
        self.acting = Acting(self.units, self.defaults, self.findings)
        self.groups = self.units.groups()

    def imported(self) -> Imported:
        """The complete result."""
        self.acting.read_options(self.top)
        for asset in self.top.all("asset"):
            for mesh in asset.all("mesh"):
                self._add_mesh(mesh)
        for world in self.top.all("worldbody"):
            self._read_inside(world, None, no_pose(), "main")
        if not self.links:
            raise self.top.refuse("it has no body; it is a piece of a model that others include.")
        self._scale_masses()
        heavy = [(link, link.mass, link.centre) for link in self.links]
        made = Assembly(self.links, self.findings, self.acting.gravity)
        sites = self._sites(made)
        parts = self.acting.parts(self.top, made, sites, heavy)
        tell_unread(self.top, UNREAD, self.findings)
        parts = [*made.bodies, *made.joints, *parts]
        loops, later = self.acting.loops, self.acting.later
        system, closed = close_loops(parts, loops, later, self.findings)
        return Imported(system, self.findings.all(), sites, closed, assembly=made)

    def _sites(self, made: Assembly) -> dict[str, Site]:
        return {
            name: made.frame_of(link).site(name, pose.at, pose.turn)
            for name, (link, pose) in self.sites.items()
        }

    # --- bodies -----------------------------------------------------------------------------------
    def _read_inside(
        self, element: XmlElement, link: ModelLink | None, pose: RelativePose, around: str
    ) -> None:
        """Read the contents of a body, of the world, or of a frame of either."""
        for child in element.all("frame", "site", "body", "geom", "plugin"):
            if child.tag == "plugin":
                raise child.refuse("it asks for a plugin, which only MuJoCo has.")
            if child.tag == "frame":
                inner = child.get("childclass") or around
                child.get("name")
                self._read_inside(child, link, pose.then(self.units.pose(child)), inner)
            elif child.tag == "site":
                self._add_site(child, link, pose, around)
            elif child.tag == "body":
                self._add_body(child, link, pose, around)
            elif link is not None:
                self._add_geom(child, link, pose, around)
            else:
                self._ask_geom(child)
        for child in element.children:
            if child.tag in ("composite", "flexcomp", "replicate", "attach", "flex"):
                raise child.refuse(
                    f"<{child.tag}> makes bodies of a recipe that is not known here; save the "
                    "model by MuJoCo (mj_saveLastXML), which writes them out."
                )

    def _add_body(
        self, element: XmlElement, carrier: ModelLink | None, pose: RelativePose, around: str
    ) -> None:
        inner = element.get("childclass") or around
        name = element.get("name") or f"body {len(self.links) + 1}"
        link = ModelLink(name, carrier, pose.then(self.units.pose(element)))
        self.links.append(link)
        self.acting.lift(link, element.number("gravcomp", 0.0) or 0.0)
        if element.flag("mocap"):
            self.findings.tell("mocap", "{}: what leads it is not read; it stands.", name)
        for child in element.all("joint", "freejoint"):
            self._add_joint(child, link, inner)
        inertial = element.find("inertial")
        way = self.units.compiler.get("inertiafromgeom", "auto")
        if way == "true" or (way == "auto" and inertial is None):
            self.weighed.add(link.name)
        elif inertial is not None:
            self._set_inertia(link, inertial)
        self._read_inside(element, link, no_pose(), inner)
        self._bound(link)

    def _set_inertia(self, link: ModelLink, inertial: XmlElement) -> None:
        pose = self.units.pose(inertial)
        link.mass, link.centre = inertial.number("mass", 0.0) or 0.0, pose.at
        full, principal = inertial.numbers("fullinertia", 6), inertial.numbers("diaginertia", 3)
        if full is not None:
            xx, yy, zz, xy, xz, yz = full.tolist()
            link.inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        elif principal is not None:
            link.inertia = turned_moments(pose.turn, principal)
        if link.mass < 0.0:
            raise inertial.refuse(f"body {link.name!r} has a mass of {link.mass:g} kg; none can.")

    def _bound(self, link: ModelLink) -> None:
        """Apply the least masses and moments set in <compiler>."""
        least_mass, least = self.units.number("boundmass"), self.units.number("boundinertia")
        if not (link.mass > 0.0 or least_mass > 0.0 or link.motions):
            return
        link.mass = max(link.mass, least_mass)
        moments, axes = np.linalg.eigh(link.inertia)
        if least > 0.0:
            moments = np.maximum(moments, least)
            link.inertia = turned_moments(axes, moments)
        small, middle, large = np.sort(moments)
        if self.units.compiler.flag("balanceinertia") and small + middle < large:
            link.inertia = np.eye(3) * moments.mean()

    def _scale_masses(self) -> None:
        wanted = self.units.number("settotalmass")
        total = sum(link.mass for link in self.links)
        if wanted > 0.0 and total > 0.0:
            for link in self.links:
                link.mass, link.inertia = (
                    link.mass * wanted / total,
                    link.inertia * (wanted / total),
                )

    # --- joints and sites -------------------------------------------------------------------------
    def _add_joint(self, element: XmlElement, link: ModelLink, around: str) -> None:
        free = element.tag == "freejoint"
        if not free:
            self.defaults.complete(element, around)
        kind = "free" if free else element.get("type", "hinge") or "hinge"
        if kind not in MOTIONS:
            raise element.refuse(f"its type is {kind!r}, but must be one of {', '.join(MOTIONS)}.")
        if kind == "free" and link.carrier is not None:
            raise element.refuse("a free joint stands in a body of the world; this one does not.")
        name = element.get("name") or f"{link.name} joint {len(link.motions) + 1}"
        at, axis = element.numbers("pos", 3), element.numbers("axis", 3)
        axis = np.array([0.0, 0.0, 1.0]) if axis is None else axis
        if not axis.any():
            raise element.refuse("its axis is 0 0 0, but must point somewhere.")
        zero = (element.number("ref", 0.0) or 0.0) * (self.units.angle if kind == "hinge" else 1.0)
        unit = axis / np.linalg.norm(axis)
        place = np.zeros(3) if at is None else at
        motion = JointMotion(name, MOTIONS[kind], unit, place, zero, start=zero)
        motion.rotor = element.number("armature", 0.0) or 0.0
        link.motions.append(motion)
        self.acting.joints[name] = element

    def _add_site(
        self, element: XmlElement, link: ModelLink | None, pose: RelativePose, around: str
    ) -> None:
        self.defaults.complete(element, around)
        for word in ("type", "size"):
            element.get(word)
        own, ends = self.units.pose(element), element.numbers("fromto", 6)
        if ends is not None:
            own = pose_between(ends)[0]
        name = element.get("name")
        if name is not None:
            self.sites[name] = link, pose.then(own)

    # --- geoms ------------------------------------------------------------------------------------
    def _ask_geom(self, element: XmlElement) -> None:
        """Mark a geom of the world as read: it has no effective mass, and no contacts here."""
        element.asked |= element.attributes.keys()
        self.findings.tell("world", "Geoms of the world are not read.")

    def _add_geom(
        self, element: XmlElement, link: ModelLink, pose: RelativePose, around: str
    ) -> None:
        self.defaults.complete(element, around)
        element.get("name")
        kind = element.get("type", "sphere") or "sphere"
        if kind == "sphere" and element.get("mesh") and element.get("type") is None:
            kind = "mesh"
        given, density = element.number("mass"), element.number("density", 1000.0) or 0.0
        group, ends = int(element.number("group", 0.0) or 0.0), element.numbers("fromto", 6)
        own, size = self.units.pose(element), element.numbers("size", 1, 3)
        if element.flag("shellinertia"):
            self.findings.tell("acts", "{}: moments of a shell are read as of a solid.", link.name)
        weighs = given != 0.0 and (given is not None or density != 0.0) and group in self.groups
        weighs = weighs and link.name in self.weighed
        try:
            if kind in SIZES and ends is not None:
                own, half = pose_between(ends)
                radius = 0.0 if size is None else float(size[0])
                size = np.array([radius, half] if SIZES[kind] == 2 else [radius, radius, half])
            solid = self._solid(element, kind, size, link, weighs)
        except PartError as error:
            raise element.refuse(f"body {link.name!r}: {str(error).rstrip('.')}.") from None
        if solid is not None:
            self._add_solid(link, pose.then(own), solid, given, density if weighs else 0.0)

    def _solid(
        self, element: XmlElement, kind: str, size: Floats | None, link: ModelLink, weighs: bool
    ) -> GeomSolid | None:
        if kind in WEIGHTLESS:
            return None
        if kind == "mesh":
            return self._mesh(element, link, weighs)
        if kind not in SIZES:
            raise PartError(
                f"a geom of type {kind!r} is not known here; give it mass by inertial",
                code="content",
            )
        if element.get("mesh") is not None:
            if weighs:
                raise PartError(
                    f"a {kind} is fitted to a mesh, which only MuJoCo does; give its size",
                    code="content",
                )
            return None
        if size is None or len(size) < SIZES[kind] or not size[: SIZES[kind]].min() > 0.0:
            raise PartError(f"a {kind} needs {SIZES[kind]} positive sizes", code="content")
        return primitive(kind, size[: SIZES[kind]])

    def _add_solid(
        self,
        link: ModelLink,
        pose: RelativePose,
        solid: GeomSolid,
        mass: float | None,
        density: float,
    ) -> None:
        if density != 0.0 and solid.volume > 0.0:
            share = density if mass is None else mass / solid.volume
            moments = share * (pose.turn @ solid.moments @ pose.turn.T)
            link.add(share * solid.volume, pose.point(solid.centre), moments)
        if self.shapes and solid.shape is not None:
            link.pieces.append(MassPiece(pose, solid.shape))

    # --- meshes -----------------------------------------------------------------------------------
    def _add_mesh(self, element: XmlElement) -> None:
        self.defaults.complete(element, "main")
        file = element.get("file")
        name = element.get("name") or (Path(file).stem if file else "")
        self.solids[name] = element

    def _mesh(self, element: XmlElement, link: ModelLink, weighs: bool) -> GeomSolid | None:
        name = element.text("mesh")
        asset = self.solids.get(name)
        if asset is None:
            raise PartError(f"its mesh {name!r} is none of the assets", code="content")
        found = self._vertices(asset, link)
        if found is None:
            if weighs:
                self.findings.tell("acts", "{}: a mesh that gives it mass was not read.", link.name)
            return None
        points, corners = found
        scale = asset.numbers("scale", 3)
        points = points * (np.ones(3) if scale is None else scale)
        if scale is not None and scale.prod() < 0.0:
            corners = corners[:, ::-1]
        points = self._referred(asset, points)
        shape = self.meshes.solid_of(points, corners, link.name) if self.shapes else None
        way = asset.get("inertia") or "legacy"
        if not weighs:
            return GeomSolid(0.0, np.zeros(3), np.zeros((3, 3)), shape)
        if way not in ("legacy", "exact"):
            self.findings.tell("acts", f"{{}}: moments of a {way} mesh are taken as exact.", name)
        return mesh_solid(points, corners, shape, way)

    def _referred(self, asset: XmlElement, points: Floats) -> Floats:
        """Points relative to the reference frame given by a mesh."""
        at, turn = asset.numbers("refpos", 3), asset.numbers("refquat", 4)
        moved = points if at is None else points - at
        if turn is None:
            return moved
        asset.attributes["quat"] = asset.attributes.get("refquat", "1 0 0 0")
        return np.asarray(moved @ self.units.turn(asset))

    def _vertices(self, asset: XmlElement, link: ModelLink) -> tuple[Floats, Any] | None:
        file = asset.get("file")
        if file is None:
            self.findings.tell("mesh", "{}: a mesh written in the model is not read.", link.name)
            return None
        if self.units.compiler.flag("strippath"):
            file = Path(file.replace("\\", "/")).name
        compiler = self.units.compiler
        base = self.folder / (compiler.get("meshdir", compiler.get("assetdir")) or "")
        return self.meshes.triangles(base, file, link.name)
