"""The tree of a system, as files of links have it: each body with its carrier and their joint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from quirkpy.parts.body import GROUND, Body
from quirkpy.parts.joint import BaseJoint


class CarriedBody(NamedTuple):
    """A body, its parent, and the joint between them; forwards: whether the joint names the parent
    first."""

    body: Body
    carrier: Body
    joint: BaseJoint | None
    forwards: bool


def branches_of(
    bodies: Sequence[Body], joints: Sequence[BaseJoint]
) -> tuple[list[CarriedBody], list[BaseJoint]]:
    """All bodies, parents first, along joints from fixed bodies, then from floating ones; and the
    joints that close loops."""
    still = [body for body in bodies if body.fixed]
    seen, used = {GROUND.name, *(body.name for body in still)}, set[str]()
    found = [CarriedBody(body, GROUND, None, True) for body in still]
    found += _grown([GROUND, *still], joints, seen, used)
    for body in bodies:
        if body.name not in seen:
            seen.add(body.name)
            found.append(CarriedBody(body, GROUND, None, True))
            found += _grown([body], joints, seen, used)
    return found, [joint for joint in joints if joint.name not in used]


def _grown(
    front: list[Body], joints: Sequence[BaseJoint], seen: set[str], used: set[str]
) -> Iterator[CarriedBody]:
    """The bodies connected to some bodies, nearest first."""
    for carrier in front:  # front grows in this loop
        for joint in joints:
            first, second = joint.bodies
            for body, other, forwards in ((second, first, True), (first, second, False)):
                if other == carrier and body.name not in seen:
                    seen.add(body.name)
                    used.add(joint.name)
                    front.append(body)
                    yield CarriedBody(body, carrier, joint, forwards)
