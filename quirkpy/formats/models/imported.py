"""`Imported`: a system made from a file of another program, with findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from quirkpy.formats.models.assembly import Assembly
from quirkpy.formats.models.links import JointMotion, LinkFrame, ModelLink, RelativePose
from quirkpy.maths import quat
from quirkpy.maths.types import Floats
from quirkpy.mechanics.state import State
from quirkpy.parts.body import Site
from quirkpy.parts.checks import number, show
from quirkpy.parts.joint import BaseJoint
from quirkpy.parts.part import Part, PartError, check_argument
from quirkpy.system.findings import Finding, Findings
from quirkpy.system.multibody import Multibody


@dataclass(frozen=True, eq=False)
class Imported:
    """The contents of a file of another program.

    system: the `Multibody`; findings: what was not understood, omitted, or changed, a `Finding`
    (code, sentence, part) for each kind; sites: named frames of the file, by their names; loops:
    the names of joints that close loops."""

    system: Multibody
    findings: tuple[Finding, ...]
    sites: Mapping[str, Site] = field(default_factory=dict)
    loops: tuple[str, ...] = ()
    assembly: Assembly = field(kw_only=True, repr=False)

    def opened(self) -> Imported:
        """The system without the joints that close loops: a tree with free coordinates for
        `state`."""
        return replace(self, system=self.system.without(*self.loops), loops=())

    def report(self) -> str:
        """A summary of the system, and all findings, a line each."""
        lines = [repr(self.system), *(f"[{one.code}] {one.sentence}" for one in self.findings)]
        return "\n".join(lines)

    @property
    def joints(self) -> Mapping[str, BaseJoint]:
        """The joints of the tree, by their names in the file."""
        return self.assembly.motions

    def site(self, link: str) -> Site:
        """The frame of a link as a site of its body."""
        frame = self.assembly.frames.get(link)
        if frame is None:
            raise PartError(
                f"site: no link is called {link!r}; there are: {', '.join(self.assembly.frames)}.",
                code="name",
            )
        return frame.site(link, np.zeros(3), np.eye(3))

    def state(
        self, coordinates: Mapping[str, Any] | None = None, rates: Mapping[str, Any] | None = None
    ) -> State:
        """The state with given joint coordinates [rad or m] and rates, by the names in the file;
        other joints keep their initial coordinates, at rest.

        For a hinge or a slider a number each; for a ball joint an orientation, and the angular
        velocity [rad/s] in axes of its link; for a floating link position [m] and orientation, and
        velocity [m/s] in N with angular velocity in axes of its link. An error where a loop would
        be open."""
        values, speeds = dict(coordinates or {}), dict(rates or {})
        known = {m.name: m for link in self.assembly.links for m in link.motions}
        for given in (values, speeds):
            for name, value in given.items():
                if name not in known:
                    raise PartError(
                        f"state: no joint that moves is called {show(name)}; there are: "
                        f"{', '.join(sorted(known))}.",
                        code="name",
                    )
                if known[name].simple:
                    given[name] = check_argument("state", name, value, number)
        changes = {
            body: {"position": at, "orientation": turn, "velocity": v, "angular_velocity": w}
            for body, at, turn, v, w in _motions_of(self.assembly, values, speeds)
        }
        state = self.system.initial.replace(changes)
        angles = np.array(state.angles)
        for name, joint in self.assembly.motions.items():
            if name in values and joint.name in state.joints:
                angles[state.joints.index(joint.name)] = values[name]
        return state.next_to(angles)


def close_loops(
    parts: Sequence[Part],
    loops: Sequence[BaseJoint],
    later: Sequence[BaseJoint],
    findings: Findings,
) -> tuple[Multibody, tuple[str, ...]]:
    """A system of parts and of those further joints whose ends coincide, with their names; others
    become candidates."""
    tree = Multibody(*parts)
    closed, open_ones = list[BaseJoint](), list(later)
    for loop in loops:
        try:
            tree.with_(loop)
            closed.append(loop)
        except PartError:
            open_ones.append(loop)
            findings.tell(
                "open", "{}: its ends do not meet where the file has them; it is a candidate.",
                loop.name,
            )  # fmt: skip
    system = Multibody(*parts, *closed, candidates=open_ones)
    return system, tuple(loop.name for loop in closed)


class MovingFrame(NamedTuple):
    """A frame in N: its pose, velocity of its origin and angular velocity, both in N (3,)."""

    pose: RelativePose
    v: Floats
    w: Floats

    def at(self, point: Floats) -> Floats:
        """The velocity of a point of N fixed in the frame."""
        return np.asarray(self.v + np.cross(self.w, point - self.pose.at))


def _motions_of(
    made: Assembly, values: Mapping[str, Any], speeds: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any, Any, Any]]:
    """Name, position, orientation, velocity and angular velocity of each moving body."""
    world = MovingFrame(RelativePose(np.eye(3), np.zeros(3)), np.zeros(3), np.zeros(3))
    flights: dict[str, MovingFrame] = {}
    for link in made.links:
        before = world if link.carrier is None else flights[link.carrier.name]
        pose = before.pose.then(link.pose)
        flight = MovingFrame(pose, before.at(pose.at), before.w)
        for motion in link.motions:
            value = values.get(motion.name, None if motion.kind == "free" else motion.first_value)
            flight = _move(flight, motion, value, speeds.get(motion.name))
        flights[link.name] = flight
        if not link.static:
            yield _row_of(made.frames[link.name], link, flight)
    yield from _rotors_of(made, values, speeds)


def _row_of(
    frame: LinkFrame, link: ModelLink, flight: MovingFrame
) -> tuple[str, Any, Any, Any, Any]:
    centre = flight.pose.point(link.centre)
    spin = flight.pose.turn.T @ flight.w
    return frame.body.name, centre, flight.pose.quaternion, flight.at(centre), spin


def _move(before: MovingFrame, motion: JointMotion, value: Any, speed: Any) -> MovingFrame:
    """A frame after the motion of its joint."""
    if motion.kind == "free":
        v, w = (np.zeros(3), np.zeros(3)) if speed is None else map(np.asarray, speed)
        pose = (
            before.pose
            if value is None
            else RelativePose(quat.matrix(value[1]), np.asarray(value[0]))
        )
        return MovingFrame(pose, v, pose.turn @ w)
    axis = before.pose.turn @ motion.axis
    pose = before.pose.then(motion.moved(value))
    if motion.kind == "slide":
        rate = 0.0 if speed is None else speed
        return MovingFrame(pose, before.at(pose.at) + rate * axis, before.w)
    if motion.kind == "planar" and (value is not quat.IDENTITY or speed is not None):
        raise PartError(
            f"state: joint {motion.name!r} is planar, and has three coordinates; place its body by "
            f"system.initial.replace, not by {show(value)}."
        )
    hinge = before.pose.point(motion.at)
    if motion.kind == "hinge":
        more = (0.0 if speed is None else speed) * axis
    else:
        more = np.zeros(3) if speed is None else pose.turn @ np.asarray(speed)
    w = before.w + more
    return MovingFrame(pose, before.at(hinge) + np.cross(w, pose.at - hinge), w)


def _rotors_of(
    made: Assembly, values: Mapping[str, Any], speeds: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any, Any, Any]]:
    """The rotors coupled to joints."""
    axis = np.array(made.level)
    for link in made.links:
        for motion in link.motions:
            if motion.name not in made.rotors:
                continue
            value, rate = values.get(motion.name, motion.start), speeds.get(motion.name, 0.0)
            slides, none = motion.kind == "slide", np.zeros(3)
            yield (
                made.rotors[motion.name],
                value * axis if slides else none,
                quat.IDENTITY if slides else quat.rotation(made.level, value),
                rate * axis if slides else none,
                none if slides else rate * axis,
            )
