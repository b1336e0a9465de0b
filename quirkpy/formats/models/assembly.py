"""`Assembly`: the bodies and joints made from links.

Robot files may contain moving links without mass, several joints of one link, and rotor inertia of
a coordinate. They are converted to parts with equivalent motion, and the conversions are
reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from quirkpy.formats.models.links import (
    JointMotion,
    LinkFrame,
    ModelLink,
    RelativePose,
    no_pose,
    size_of,
)
from quirkpy.formats.models.solids import solid_of
from quirkpy.maths import quat
from quirkpy.maths.triples import ORIGIN, scale, unit
from quirkpy.maths.types import Floats
from quirkpy.parts.body import GROUND, INERTIA_TOLERANCE, Body, perpendicular
from quirkpy.parts.couplings import Gear
from quirkpy.parts.joint import BaseJoint, PlacedJoint
from quirkpy.parts.joints import Fixed, Planar, Prismatic, Revolute, Spherical
from quirkpy.parts.part import PartError
from quirkpy.system.findings import Findings

#: A massless link gets this share of the mass that it carries, and moments of this share of those
#: of that mass at the size of the model [1]. Accelerations change by about this share.
FEATHER = 1e-13
#: Increment of a zero moment, as a share of the mass times the squared size of the model [1].
SPECK = 1e-18
#: Moments below this share of the largest count as zero [1], and negative ones beyond it as an
#: error.
NO_MOMENT = 1e-9
JOINTS: Mapping[str, type[PlacedJoint]] = {
    "hinge": Revolute, "slide": Prismatic, "ball": Spherical, "planar": Planar,
}  # fmt: skip


class Assembly:
    """Links, parents first, as bodies and joints: `bodies`, `joints`, and `frames`, the frames of
    the links on the bodies."""

    def __init__(self, links: Sequence[ModelLink], findings: Findings, gravity: Floats) -> None:
        self.links, self.findings = list(links), findings
        self.level = perpendicular(unit(gravity.tolist())) if gravity.any() else (1.0, 0.0, 0.0)
        self.names = {"ground"}
        self.inside: dict[str, tuple[ModelLink, RelativePose]] = {}
        self.size = size_of(self.links)
        self._drop_idle_motions()
        self._merge()
        self._part_motions()
        self.bodies: list[Body] = []
        self.joints: list[BaseJoint] = []
        self.motions: dict[str, BaseJoint] = {}
        self.frames: dict[str, LinkFrame] = {}
        self.rotors: dict[str, str] = {}
        self._make_bodies()
        self._make_joints()

    # --- masses -----------------------------------------------------------------------------------
    def _carried(self) -> dict[int, float]:
        """The mass of each link with all that it carries, by its identity; moments without mass
        count as the mass that would have them at the size of the model."""
        carried = {
            id(link): link.mass or float(np.trace(link.inertia)) / self.size**2
            for link in self.links
        }
        for link in reversed(self.links):
            if link.carrier is not None:
                carried[id(link.carrier)] += carried[id(link)]
        return carried

    def _drop_idle_motions(self) -> None:
        """Fix joints that move no mass: their motion is undetermined."""
        carried = self._carried()
        for link in self.links:
            if link.motions and not carried[id(link)] > 0.0:
                link.motions = []
                self.findings.tell(
                    "massless",
                    "{}: nothing that moves there has any mass, so nothing says how it moves; it "
                    "is held where it is.",
                    link.name,
                )

    def _merge(self) -> None:
        """Merge a link with one fixed to it where one of both cannot be a body."""
        for link in reversed(self.links):
            onto = link.carrier
            if onto is None or link.motions or link.static:
                continue
            waits = not onto.motions and onto.carrier is not None  # to be merged itself
            if not _is_body(link) or not (waits or _is_body(onto)):
                self._merge_into(onto, link)
        self.links = [link for link in self.links if link.name not in self.inside]

    def _merge_into(self, onto: ModelLink, link: ModelLink) -> None:
        if link.mass > 0.0:
            self.findings.tell(
                "merged", "{}: it became part of the link that it is fixed to.", link.name
            )
        onto.absorb(link)
        self.inside[link.name] = onto, link.pose
        for other in self.links:
            if other.carrier is link:
                other.carrier, other.pose = onto, link.pose.then(other.pose)
        for name, (into, pose) in self.inside.items():
            if into is link:
                self.inside[name] = onto, link.pose.then(pose)

    def _part_motions(self) -> None:
        """Give each joint motion a link of its own; a massless one then gets a very small mass."""
        carried, made = self._carried(), []
        for link in self.links:
            for motion in link.motions[:-1]:
                between = ModelLink(f"{link.name} under {motion.name}", link.carrier, link.pose)
                between.motions = [motion]
                link.carrier, link.pose = between, no_pose()
                self._weigh(between, carried[id(link)])
                made.append(between)
            link.motions = link.motions[-1:]
            if link.mass == 0.0 and not link.static:
                self._weigh(link, carried[id(link)])
            made.append(link)
        self.links = made

    def _weigh(self, link: ModelLink, carried: float) -> None:
        """Give a massless link a very small mass, at the point about which it moves."""
        link.feather = True
        link.add(FEATHER * carried, link.motions[0].at, self._moments(FEATHER * carried))
        self.findings.tell(
            "massless",
            f"{{}}: it has no mass of its own, so it was given {FEATHER:g} of what it carries.",
            link.name,
        )

    def _moments(self, mass: float) -> Floats:
        """Moments of a mass at the size of the model."""
        return mass * self.size**2 * np.eye(3)

    def frame_of(self, link: ModelLink | None) -> LinkFrame:
        """The frame of a link on its body; None: the world."""
        return LinkFrame(GROUND, no_pose()) if link is None else self.frames[link.name]

    # --- bodies -----------------------------------------------------------------------------------
    def name(self, wanted: str, other: str) -> str:
        """A name that no part has yet: the wanted one, or with another word appended."""
        made, k = wanted, 1
        while made in self.names:
            k += 1
            made = f"{wanted} {other}" if k == 2 else f"{wanted} {other} {k - 1}"
        if made != wanted:
            self.findings.tell(
                "renamed", "{}: another part has this name; it has a word more.", wanted
            )
        self.names.add(made)
        return made

    def _make_bodies(self) -> None:
        placed: dict[int, RelativePose] = {}
        for link in self.links:
            pose = link.pose if link.carrier is None else placed[id(link.carrier)].then(link.pose)
            for motion in link.motions:
                if motion.kind != "free":
                    pose = pose.then(motion.moved(motion.first_value))
            placed[id(link)] = pose
            body = GROUND if _is_ground(link) else self._body(link, pose)
            self.bodies.append(body)
            self.frames[link.name] = LinkFrame(body, RelativePose(np.eye(3), -link.centre))
        for name, (link, pose) in self.inside.items():
            self.frames[name] = LinkFrame(
                self.frames[link.name].body, RelativePose(np.eye(3), -link.centre).then(pose)
            )

    def _body(self, link: ModelLink, pose: RelativePose) -> Body:
        rest: dict[str, Any] = {
            "position": tuple(pose.point(link.centre).tolist()), "orientation": pose.quaternion,
            "shape": solid_of(link, self.findings), "color": link.color,
        }  # fmt: skip
        name = self.name(link.name, "body")
        if link.static:
            return Body(name, fixed=True, **rest)
        inertia = self._inertia(link)
        return Body(name, link.mass, inertia, **rest, unphysical_inertia=True)

    def _inertia(self, link: ModelLink) -> Floats:
        """The moments of inertia of a link, corrected where a body cannot have them."""
        small, middle, large = np.linalg.eigvalsh(link.inertia)
        if small < -NO_MOMENT * max(large, link.mass * self.size**2):
            raise PartError(
                f"link {link.name!r}: its principal moments are {small:.6g}, {middle:.6g} and "
                f"{large:.6g} kg m2, but no solid has a negative one; correct its inertia.",
                code="content",
            )
        least = SPECK * link.mass * self.size**2
        if small <= least and not link.feather:
            self.findings.tell(
                "inertia",
                f"{{}}: it has a principal moment of zero; {SPECK:g} of its mass at the size of "
                "the model squared was added.",
                link.name,
            )
            return np.asarray(link.inertia + (least + max(0.0, -small)) * np.eye(3))
        if small + middle < large * (1.0 - INERTIA_TOLERANCE):
            self.findings.tell(
                "inertia",
                "{}: no mass distribution has such moments (the two smaller must add up to the "
                "largest or more); they were taken as they are.",
                link.name,
            )
        return link.inertia

    # --- joints -----------------------------------------------------------------------------------
    def _make_joints(self) -> None:
        for link in self.links:
            if link.static:
                continue
            here = self.frame_of(link.carrier)
            if not link.motions:
                self._hold(here, link)
            elif link.motions[0].kind != "free":
                self._join(here, link, link.motions[0])
            if any(motion.rotor > 0.0 and not motion.simple for motion in link.motions):
                self.findings.tell(
                    "acts",
                    "{}: the inertia of its rotor is not read, for its joint has several freedoms.",
                    link.name,
                )

    def _hold(self, carrier: LinkFrame, link: ModelLink) -> None:
        own = self.frames[link.name]
        ends = (
            carrier.site(link.name, link.pose.at, link.pose.turn),
            own.site(link.name, np.zeros(3), np.eye(3)),
        )
        self.joints.append(Fixed(self.name(f"{link.name} mount", "joint"), *ends))

    def _join(self, carrier: LinkFrame, link: ModelLink, motion: JointMotion) -> None:
        ends = motion.sites(carrier, link.pose, self.frames[link.name])
        joint = JOINTS[motion.kind](self.name(motion.name, "joint"), *ends)
        self.joints.append(joint)
        self.motions[motion.name] = joint
        if motion.rotor > 0.0 and motion.simple:
            self._add_rotor(motion, joint)

    def _add_rotor(self, motion: JointMotion, joint: BaseJoint) -> None:
        """A flywheel, or a weight on a horizontal slider, attached to the ground and coupled to the
        joint: it only adds inertia to the equation of its coordinate."""
        slides = motion.kind == "slide"
        start = motion.start
        mass = motion.rotor if slides else motion.rotor / self.size**2
        body = Body(
            self.name(f"{motion.name} rotor", "body"), mass, (motion.rotor,) * 3,
            position=scale(start, self.level) if slides else ORIGIN,
            orientation=None if slides else quat.rotation(self.level, start),
        )  # fmt: skip
        kind = Prismatic if slides else Revolute
        axes = {"z": self.level, "x": perpendicular(self.level)}
        seat = kind(
            self.name(f"{motion.name} seat", "joint"),
            GROUND.site(motion.name, **axes), body.site(motion.name, **axes),
        )  # fmt: skip
        gear = Gear(self.name(f"{motion.name} gear", "joint"), joint, seat, ratio=1.0)
        self.bodies.append(body)
        self.joints += [seat, gear]
        self.rotors[motion.name] = body.name
        self.findings.tell(
            "rotor", "{}: the inertia of its rotor is that of a body on the ground, geared to it.",
            motion.name,
        )  # fmt: skip


def _is_ground(link: ModelLink) -> bool:
    """Whether a link is the ground, as written by `write_urdf`: an empty root of that name."""
    empty = link.name == GROUND.name and link.mass == 0.0 and not link.pieces
    return empty and link.carrier is None and not link.motions and not link.pose.at.any()


def _is_body(link: ModelLink) -> bool:
    """Whether a link has the mass and moments that a body needs."""
    if link.static:
        return True
    return link.mass > 0.0 and bool(np.linalg.eigvalsh(link.inertia)[0] > 0.0)
