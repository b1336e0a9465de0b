"""Forces and constraints of an MJCF file, as parts: gravity, springs, limits, loops, tendons and
actuators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from quirkpy.formats.models.assembly import Assembly
from quirkpy.formats.models.links import ModelLink, no_pose
from quirkpy.formats.models.on_joints import bound, damp, rub
from quirkpy.formats.models.xml import XmlElement
from quirkpy.formats.mujoco.defaults import ACTUATORS, Defaults, Units
from quirkpy.maths.types import Floats
from quirkpy.parts.body import Site
from quirkpy.parts.bushing import Bushing
from quirkpy.parts.couplings import Gear, Prescribed
from quirkpy.parts.forces import (
    Gravity,
    JointDamper,
    JointSpring,
    Load,
    Spring,
)
from quirkpy.parts.joint import BaseJoint
from quirkpy.parts.joint_laws import Motor, Servo
from quirkpy.parts.joints import Fixed, Rope, Spherical
from quirkpy.parts.part import Part
from quirkpy.parts.schedule import Schedule
from quirkpy.system.findings import Findings


class Lifted(NamedTuple):
    """A link with gravity compensation of a share of its weight."""

    link: ModelLink
    share: float


class Acting:
    """Forces and constraints of a model; parts are made once its bodies exist."""

    def __init__(self, units: Units, defaults: Defaults, findings: Findings) -> None:
        self.units, self.defaults, self.findings = units, defaults, findings
        self.gravity = np.array([0.0, 0.0, -9.81])
        self.joints: dict[str, XmlElement] = {}
        self.lifted: list[Lifted] = []
        self.loops: list[BaseJoint] = []
        self.later: list[BaseJoint] = []

    def read_options(self, top: XmlElement) -> None:
        """Read gravity; air, which is not modelled, is reported."""
        for option in top.all("option"):
            given = option.numbers("gravity", 3)
            self.gravity = self.gravity if given is None else given
            for word in ("density", "viscosity"):
                if option.number(word, 0.0):
                    self.findings.tell("medium", f"The {word} of the medium is not modelled.")
            option.get("wind")
            if any(flag.get("gravity") == "disable" for flag in option.all("flag")):
                self.gravity = np.zeros(3)

    def lift(self, link: ModelLink, share: float) -> None:
        """Compensate a share of the weight of a link."""
        if share:
            self.lifted.append(Lifted(link, share))

    def parts(
        self, top: XmlElement, made: Assembly, sites: Mapping[str, Site],
        heavy: Sequence[tuple[ModelLink, float, Floats]],
    ) -> list[Part]:  # fmt: skip
        """All forces and constraints; `loops` and `later` are found on the way."""
        self.made, self.sites = made, sites
        parts: list[Part] = [Gravity(tuple(self.gravity.tolist()))] if self.gravity.any() else []
        if parts:
            made.names.add("gravity")
        parts += self._lifts(heavy)
        for name, element in self.joints.items():
            parts += self._on_joint(name, element)
        for group in top.all("equality"):
            for element in group.all("connect", "weld", "joint"):
                self.defaults.complete(element, "main")
                onto = self.loops if element.flag("active", True) else self.later
                onto.extend(self._equality(element))
        for group in top.all("tendon"):
            for element in group.all("spatial", "fixed"):
                parts += self._tendon(element)
        for group in top.all("actuator"):
            for element in group.all(*ACTUATORS):
                parts += self._actuator(element)
        return parts

    def _lifts(self, heavy: Sequence[tuple[ModelLink, float, Floats]]) -> Iterator[Part]:
        masses = {id(link): (mass, centre) for link, mass, centre in heavy}
        for link, share in self.lifted:
            mass, centre = masses[id(link)]
            frame = self.made.frames[link.name]
            if frame.body.fixed or not mass:
                continue
            site = frame.site(link.name, centre, np.eye(3))
            force = tuple((-share * mass * self.gravity).tolist())
            name = self.made.name(f"{link.name} lift", "force")
            yield Load(name, frame.body, force=force, at=site.placed()[0])

    # --- joints -----------------------------------------------------------------------------------
    def _on_joint(self, name: str, element: XmlElement) -> list[Part]:
        """Springs, damping, friction and limits of a joint element."""
        kind = element.get("type", "hinge")
        if element.tag == "freejoint":
            return []
        numbers = {
            word: element.number(word, 0.0) or 0.0
            for word in ("stiffness", "damping", "frictionloss", "springref")
        }
        if element.numbers("springdamper", 2) is not None:
            self.findings.tell("acts", "{}: its springdamper is not read.", name)
        if element.get("actuatorfrcrange") is not None:
            self.findings.tell("range", "{}: bounds of what acts on it are not read.", name)
        bounds = element.numbers("range", 2)
        limited = element.get("limited") or "auto"
        if limited == "auto":
            limited = "true" if self.units.compiler.flag("autolimits", True) else "false"
        if bounds is None or limited != "true":
            bounds = None
        joint = self.made.motions.get(name)
        if joint is None or kind in ("free", "ball"):
            return self._on_many(name, element, kind, numbers, bounds)
        scale = self.units.angle if kind == "hinge" else 1.0
        return list(self._on_one(name, joint, numbers, scale, bounds))

    def _on_one(
        self, name: str, joint: BaseJoint, numbers: dict[str, float], scale: float,
        bounds: Floats | None,
    ) -> Iterator[Part]:  # fmt: skip
        """Forces on a single coordinate."""
        stiffness, damping = numbers["stiffness"], numbers["damping"]
        if stiffness > 0.0:
            word, rest = self.made.name(f"{name} spring", "force"), numbers["springref"] * scale
            yield JointSpring(word, joint, stiffness=stiffness, rest=rest)
        if damping > 0.0:
            yield damp(self.made, name, joint, damping)
        if stiffness < 0.0 or damping < 0.0:
            self.findings.tell("acts", "{}: negative stiffness or damping is not read.", name)
        if numbers["frictionloss"] > 0.0:
            yield rub(self.made, name, joint, numbers["frictionloss"])
        if bounds is not None and bounds[0] < bounds[1]:
            lower, upper = (bounds * scale).tolist()
            yield bound(self.made, name, joint, (lower, upper))

    def _on_many(
        self, name: str, element: XmlElement, kind: str | None, numbers: dict[str, float],
        bounds: Floats | None,
    ) -> list[Part]:  # fmt: skip
        """Forces on a ball joint or a floating link: equal in all directions."""
        if bounds is not None or numbers["frictionloss"]:
            self.findings.tell(
                "acts" if numbers["frictionloss"] else "limit",
                "{}: limits and dry friction of joints of several freedoms are not read.", name,
            )  # fmt: skip
        stiffness, damping = numbers["stiffness"], numbers["damping"]
        if not (stiffness or damping):
            return []
        link = next((k for k in self.made.links if any(m.name == name for m in k.motions)), None)
        if link is None:
            return []
        if kind == "free" and stiffness:
            self.findings.tell("acts", "{}: a spring on what floats is not read.", name)
            stiffness = 0.0
        own = self.made.frames[link.name]
        motion = link.motions[-1]
        near = self.made.frame_of(link.carrier)
        place, turn = (motion.at, no_pose()) if kind == "ball" else (np.zeros(3), no_pose())
        ends = (
            near.site(f"{name} damping", link.pose.point(place), link.pose.turn)
            if kind == "ball"
            else near.site(f"{name} damping", np.zeros(3), turn.turn),
            own.site(f"{name} damping", place, np.eye(3)),
        )
        slides = 0.0 if kind == "ball" else damping
        word = self.made.name(f"{name} damping", "force")
        return [
            Bushing(
                word, *ends, stiffness=(0.0, 0.0, 0.0, stiffness, stiffness, stiffness),
                damping=(slides, slides, slides, damping, damping, damping),
            )
        ]  # fmt: skip

    # --- loops ------------------------------------------------------------------------------------
    def _equality(self, element: XmlElement) -> Iterator[BaseJoint]:
        """A joint of the file in addition to its tree."""
        name = self.made.name(
            element.get("name") or f"{element.tag} {len(self.loops) + len(self.later) + 1}", "loop"
        )
        if element.tag == "joint":
            yield from self._coupled(name, element)
            return
        ends = self._ends(element, name)
        if ends is not None:
            yield Spherical(name, *ends) if element.tag == "connect" else Fixed(name, *ends)

    def _ends(self, element: XmlElement, name: str) -> tuple[Site, Site] | None:
        """The two sites of a connect or a weld."""
        one, two = element.get("site1"), element.get("site2")
        if one is not None and two is not None:
            return self._site(element, one), self._site(element, two)
        frames = [
            self.made.frame_of(None)
            if word is None or word == "world"
            else self._frame(element, word)
            for word in (element.get("body1"), element.get("body2"))
        ]
        near, far = frames
        if near.body is far.body:
            self.findings.tell("equality", "{}: both its ends are on one body here.", name)
            return None
        anchor, relative = element.numbers("anchor", 3), element.numbers("relpose", 7)
        point = np.zeros(3) if anchor is None else anchor
        if element.tag == "weld" and relative is not None and relative[3:].any():
            inner = XmlElement(
                "relpose", {"quat": _words(relative[3:])}, element.file, element.line
            )
            first = near.site(name, relative[:3], self.units.turn(inner))
            return first, far.site(name, np.zeros(3), np.eye(3))
        owner, other = (far, near) if element.tag == "weld" else (near, far)
        first = owner.site(name, point, np.eye(3))
        where, axes = first.placed()
        second = other.body.site_placed(name, where, axes)
        return (first, second) if owner is near else (second, first)

    def _frame(self, element: XmlElement, name: str) -> Any:
        found = self.made.frames.get(name)
        if found is None:
            raise element.refuse(f"it names {name!r}, which is no body of the file.")
        return found

    def _site(self, element: XmlElement, name: str) -> Site:
        found = self.sites.get(name)
        if found is None:
            raise element.refuse(f"it names {name!r}, which is no site of the file.")
        return found

    def _coupled(self, name: str, element: XmlElement) -> Iterator[BaseJoint]:
        """One coordinate as a linear function of another; other polynomials are reported."""
        line = element.numbers("polycoef", 1, 5)
        a = np.zeros(5)
        a[: 2 if line is None else len(line)] = (0.0, 1.0) if line is None else line
        one = self.made.motions.get(element.text("joint1"))
        word = element.get("joint2")
        two = None if word is None else self.made.motions.get(word)
        if one is None or (word is not None and two is None) or a[2:].any():
            self.findings.tell(
                "acts", "{}: it couples what does not move by one coordinate, or not along a line; "
                "it is not read.", name,
            )  # fmt: skip
            return
        first = self._zero(element.text("joint1"))
        if two is None or word is None:
            yield Prescribed(name, one, _hold(first + a[0]))
        else:
            offset = first + a[0] - a[1] * self._zero(word)
            yield Gear(name, two, one, ratio=float(a[1]), offset=float(offset))

    def _zero(self, name: str) -> float:
        """The coordinate of a joint in the pose of the file."""
        motions = (m for link in self.made.links for m in link.motions if m.name == name)
        return next(motions).zero

    # --- tendons ----------------------------------------------------------------------------------
    def _tendon(self, element: XmlElement) -> list[Part]:
        self.defaults.complete(element, "main")
        name = element.get("name") or f"tendon {len(self.made.names)}"
        path = list(element.all())
        words = ("stiffness", "damping", "frictionloss", "armature")
        numbers = {word: element.number(word, 0.0) or 0.0 for word in words}
        lengths, bounds = element.numbers("springlength", 1, 2), element.numbers("range", 2)
        limited = element.get("limited")
        ends = [child for child in path if child.tag == "site"]
        for child in path:
            child.asked |= child.attributes.keys()
        if element.tag == "spatial" and len(path) == len(ends) == 2:
            return list(self._line(name, element, ends, numbers, lengths, bounds, limited))
        if any(numbers.values()):
            self.findings.tell("acts", "{}: what such a tendon does is not read.", name)
        else:
            self.findings.tell(
                "tendon", "{}: tendons of this kind are not read; by themselves they do nothing "
                "but bound.", name,
            )  # fmt: skip
        return []

    def _line(
        self, name: str, element: XmlElement, ends: list[XmlElement], numbers: dict[str, float],
        lengths: Floats | None, bounds: Floats | None, limited: str | None,
    ) -> Iterator[Part]:  # fmt: skip
        """A straight tendon from one site to another: a spring, and a rope where it is bounded."""
        sites = [self._site(element, end.text("site")) for end in ends]
        if sites[0].body == sites[1].body:
            return
        low, high = (None, None) if lengths is None else (float(lengths[0]), float(lengths[-1]))
        slack = low == 0.0 and high is not None and high > 0.0 and lengths is not None
        slack = slack and len(lengths) == 2 if lengths is not None else False
        if (
            numbers["frictionloss"]
            or numbers["armature"]
            or (low is not None and high is not None and low != high and not slack)
        ):
            self.findings.tell("acts", "{}: its friction, rotor or dead band is not read.", name)
        if numbers["stiffness"] or numbers["damping"]:
            rest = None if high is None or high < 0.0 else high
            yield Spring(
                self.made.name(name, "spring"), *sites, stiffness=numbers["stiffness"],
                rest_length=rest, damping=0.0 if slack else numbers["damping"],
                tension_only=slack,
            )  # fmt: skip
        if bounds is not None and limited != "false" and bounds[1] > 0.0:
            if bounds[0] > 0.0:
                self.findings.tell("limit", "{}: its least length is not read.", name)
            yield Rope(self.made.name(f"{name} limit", "rope"), *sites, length=float(bounds[1]))

    # --- actuators --------------------------------------------------------------------------------
    def _actuator(self, element: XmlElement) -> list[Part]:
        self.defaults.complete(element, "main")
        name = element.get("name") or f"{element.tag} {len(self.made.names)}"
        joint = self.made.motions.get(element.get("joint") or "")
        law = _Law.of(element)
        if joint is None or law is None or len(joint.coordinates) != 1:
            self.findings.tell(
                "actuator", "{}: what it drives, or how, is not known here; it is not read.", name
            )
            return []
        if element.get("dyntype", "none") != "none":
            self.findings.tell("lag", "{}: how it lags behind its command is not read.", name)
        gear = element.numbers("gear", 1, 6)
        ratio = 1.0 if gear is None else float(gear[0])
        if ratio != 1.0:
            self.findings.tell("gear", "{}: it has a gear; give it what comes out of that.", name)
        word, turns = self.made.name(name, "motor"), joint.coordinates[0].kind == "angle"
        return list(self._driven(word, joint, law, ratio, turns))

    def _driven(
        self, word: str, joint: BaseJoint, law: _Law, ratio: float, turns: bool
    ) -> Iterator[Part]:
        """The force of an actuator on a coordinate x for its command: ratio (bias - k ratio x - c
        ratio x')."""
        stiffness, damping = law.stiffness * ratio**2, law.damping * ratio**2
        if stiffness > 0.0 and damping >= 0.0:
            target = law.bias / (law.stiffness * ratio)
            yield Servo(word, joint, target=target, stiffness=stiffness, damping=damping)
        elif stiffness == 0.0 and law.bias == 0.0 and damping > 0.0:
            yield JointDamper(word, joint, damping=damping)
        elif stiffness == 0.0 and damping == 0.0:
            load = law.bias * ratio
            yield Motor(word, joint, torque=load) if turns else Motor(word, joint, force=load)
        else:
            self.findings.tell("acts", "{}: it pushes away; it is not read.", word)
        if law.bounded and (law.stiffness or law.damping):
            self.findings.tell("range", "{}: bounds of its load are not read.", word)


class _Law(NamedTuple):
    """The law of an actuator for the command nearest to zero: bias - stiffness x - damping x'."""

    bias: float
    stiffness: float
    damping: float
    bounded: bool

    @classmethod
    def of(cls, element: XmlElement) -> _Law | None:
        """The law of an actuator; None where it is not linear."""
        command = 0.0
        bounds = element.numbers("ctrlrange", 2)
        if bounds is not None and element.get("ctrllimited") != "false":
            command = min(max(0.0, float(bounds[0])), float(bounds[1]))
        bounded = element.get("forcerange") is not None and element.get("forcelimited") != "false"
        tag = element.tag
        kp = element.number("kp", 1.0) or 0.0
        kv = element.number("kv", 1.0 if tag == "velocity" else 0.0) or 0.0
        if tag == "motor":
            return cls(command, 0.0, 0.0, bounded)
        if tag == "position":
            return cls(kp * command, kp, kv, bounded)
        if tag == "velocity":
            return cls(kv * command, 0.0, kv, bounded)
        return cls._general(element, command, bounded) if tag == "general" else None

    @classmethod
    def _general(cls, element: XmlElement, command: float, bounded: bool) -> _Law | None:
        gain, bias = element.numbers("gainprm", 1, 10), element.numbers("biasprm", 1, 10)
        way, kind = element.get("dyntype", "none"), element.get("biastype", "none")
        element.get("dynprm")
        known = way in ("none", "filter", "filterexact", "integrator")
        if (
            not known
            or element.get("gaintype", "fixed") != "fixed"
            or kind not in ("none", "affine")
        ):
            return None
        command = command if way == "none" else 0.0
        b = np.zeros(3)
        if kind == "affine" and bias is not None:
            b[: min(3, len(bias))] = bias[:3]
        push = (1.0 if gain is None else float(gain[0])) * command
        return cls(push + float(b[0]), -float(b[1]), -float(b[2]), bounded)


def _hold(value: float) -> Schedule:
    """A coordinate that is constant."""
    return Schedule((0.0, 1.0), (value, value), "smooth")


def _words(values: Floats) -> str:
    return " ".join(repr(float(value)) for value in values)
