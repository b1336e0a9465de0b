"""Whether the ends of joints coincide: the gaps of each joint, and the error for a state in which
they do not."""

from __future__ import annotations

import math

import numpy as np

from quirkpy.kernels.base.arrays import AXES, POSITION, SPIN, VELOCITY
from quirkpy.kernels.place.kinematics import sites_along
from quirkpy.kernels.users.packing import sites_of
from quirkpy.maths.triples import (
    Nine,
    Triple,
    array,
    product_back,
    sub,
    turn_back,
)
from quirkpy.maths.types import Bools, Floats
from quirkpy.mechanics.instant import Instant
from quirkpy.parts.body import Site
from quirkpy.parts.checks import numbers
from quirkpy.parts.joint import COORDINATE_UNITS, BaseJoint, GeneralJoint, Joint, Relation
from quirkpy.parts.joints import Fixed
from quirkpy.parts.part import UnknownName
from quirkpy.parts.primitives import Gap
from quirkpy.tables.tables import Selection

#: A further suggestion where a lock does not fit.
HOLD_THEM = "; or hold the two as they stand: Fixed(..., here=True)"
#: Ends of an active joint further apart than this do not coincide [m or rad].
MEETING_TOLERANCE = 1e-6
#: Share of that tolerance within which ends coincide for certain, whatever the rounding [1].
MEETING_SHARE = 0.5


def gaps(at: Instant, joint: BaseJoint) -> list[Gap]:
    """The gaps between the ends of a joint, one for each of its primitives or rows."""
    if isinstance(joint, GeneralJoint):
        try:
            sizes = numbers(joint.phi(at.view), (len(joint.units),))
        except (TypeError, ValueError) as error:
            raise joint.refuse(f"phi(at) at t = {at.t} {error}.", code="yours") from error
        return [Gap(abs(size), unit) for size, unit in zip(sizes, joint.units, strict=True)]
    related = [relation_gap(at, relation) for relation in joint.relations()]
    if not isinstance(joint, Joint):
        return related
    (x1, e1), (x2, e2) = ends_in_n(at, joint)
    d, turned = np.array(turn_back(e1, sub(x2, x1))), array(product_back(e1, e2))
    return [primitive.gap(d, turned) for primitive in joint.primitives()] + related


def relation_gap(at: Instant, relation: Relation) -> Gap:
    """The deviation of coordinates from a relation; with a single angle, up to whole turns of
    it."""
    index = at.selection.tables.coordinate_index
    pairs = [pair for pair in (relation.first, relation.second) if pair is not None]
    kinds = [joint.named_coordinate(name, joint).kind for joint, name in pairs]
    values = at.coordinates(np.array([index[joint.name, name] for joint, name in pairs]))[:, 0]
    factors = [1.0, relation.factor][: len(values)]
    off = float(values @ factors) - relation.value - relation.driven(at.t)[0]
    turns = [abs(factor) for factor, kind in zip(factors, kinds, strict=True) if kind == "angle"]
    if len(turns) == 1 and turns[0] > 0.0:
        off = math.remainder(off, 2.0 * math.pi * turns[0])
    return Gap(abs(off), COORDINATE_UNITS[kinds[0]])


def ends_in_n(at: Instant, joint: Joint) -> list[tuple[Triple, Nine]]:
    """Origin and axes of the two sites of a joint in N; for a lock of the present relative pose the
    first site is in the tables."""
    if not getattr(joint, "here", False):
        return sites_in_n(at, *joint.sites)
    t = at.selection.tables
    j = t.joint_index[joint.name]
    both = at.sites.rows[[t.joint_site1[j], t.joint_site2[j]]].tolist()
    return [(tuple(row[POSITION:VELOCITY]), tuple(row[AXES:SPIN])) for row in both]


def sites_in_n(at: Instant, one: Site, two: Site) -> list[tuple[Triple, Nine]]:
    """Origin and axes of two sites in N, in plain floats."""
    for site in (one, two):
        if site.body.name not in at.selection.tables.body_index:
            raise UnknownName(f"body {site.body.name!r} is not in the system; give one of its own.")
    rows = at.at_sites(one, two).rows.tolist()
    return [(tuple(row[POSITION:VELOCITY]), tuple(row[AXES:SPIN])) for row in rows]


def check_meeting(at: Instant) -> None:
    """Raise an error if the ends of an active joint do not coincide."""
    for k in at.selection.joints:
        joint = at.selection.tables.joints[k]
        worst = max(gaps(at, joint), key=lambda gap: gap.size)
        if not worst.size <= MEETING_TOLERANCE:
            one, two = (body.name for body in joint.bodies)
            raise joint.refuse(
                f"its ends on {one!r} and {two!r} are {worst} apart (tolerance "
                f"{MEETING_TOLERANCE:g}); move a body "
                "or a site so that they meet, or list the joint under candidates= until they "
                f"do{HOLD_THEM if isinstance(joint, Fixed) else ''}.",
                code="pose",
            )


def surely_meet(selection: Selection, rows: Floats) -> Bools:
    """At which states of all bodies (k, nb, STATE_WIDTH) the ends of all active joints certainly
    coincide (k,), by a quick test; others need `check_meeting`, as do all states where joints
    relate coordinates or are equations of a user, or bodies bend."""
    t = selection.tables
    out = np.ones(len(rows), dtype=bool)
    for joint in (t.joints[k] for k in selection.joints):
        if not isinstance(joint, Joint) or joint.relations() or t.bends:
            return np.zeros(len(rows), dtype=bool)
        sites = sites_of(joint.sites, t.body_index, t.n_bodies)
        ends = sites_along(rows, np.arange(2), sites)
        points, axes = ends[..., POSITION:VELOCITY], ends[..., AXES:SPIN].reshape(-1, 2, 3, 3)
        back = axes[:, 0].transpose(0, 2, 1)
        d = (back @ (points[:, 1] - points[:, 0])[..., None])[..., 0]
        turns = back @ axes[:, 1]
        for primitive in joint.primitives():
            out &= primitive.gaps(d, turns) <= MEETING_SHARE * MEETING_TOLERANCE
    return out
