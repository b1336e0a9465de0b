"""`Holdings`: the joints at open faces of a node, and when two nodes of one shape are equivalent in
this respect.

Pairs in range can be selected anew, so their present joints are no part of a node.  A link at open
faces is: it can be kept or released, but no other joint can be selected there.  For instance, one
body may hang on either of two others, at an edge that all three share, in the same pose.  The
available choices and their outcomes then differ, unless every choice keeps these two others
together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from quirkpy.explore.alike.symmetry import Exchange, Symmetry
from quirkpy.explore.model.assembly import firmest, locks
from quirkpy.explore.model.graph import Node
from quirkpy.explore.reduce.conclusions import Rules, frame_of
from quirkpy.explore.scope.choices import Link
from quirkpy.explore.scope.choosing import clusters
from quirkpy.explore.scope.identity import poses_of
from quirkpy.explore.scope.options import Option, hinge_of
from quirkpy.explore.scope.safety import forbids_parting
from quirkpy.explore.scope.scope import Scope
from quirkpy.maths.cached import cached_property
from quirkpy.maths.rotations import rotate
from quirkpy.maths.types import Floats
from quirkpy.mechanics.state import State
from quirkpy.parts.joints import Revolute

#: Open links of one node, and those of another that stand for them.
Matching: TypeAlias = Mapping[Link, Link]
#: Hinges are about one line where they differ by no more than so many tolerances of shapes.
SAME_LINE = 2.0


class Holdings:
    """Open links of the nodes of a study."""

    def __init__(self, study: Scope) -> None:
        self.study = study
        self._sensors: dict[tuple[int, int, int], dict[int, int] | None] = {}

    def open(self, node: Node) -> frozenset[Link]:
        """The links of a node whose pairs are not in range."""
        near = {pair for pair, _ in self.study.in_range(node.state)}
        return frozenset(link for link in node.links if link.pair not in near)

    def are_equivalent(self, one: Node, two: Node) -> bool:
        """Whether two nodes of one shape have equivalent open links under some exchange of bodies
        that maps one pose onto the other."""
        counts = [len(self.open(node)) for node in (one, two)]
        if counts[0] != counts[1] or not counts[0]:
            return counts[0] == counts[1]
        poses = (poses_of(node.state.r, node.state.q) for node in (one, two))
        found = (self._exchange(*exchange) for exchange in self.study.shapes.exchanges(*poses))
        return any(
            exchange is not None and self.matching(exchange, one, two) is not None
            for exchange in found
        )

    def matching(self, exchange: Exchange, one: Node, two: Node) -> Matching | None:
        """For each open link of one node the equivalent link of another, under an exchange of
        bodies that maps one pose onto the other; None if there is no such assignment."""
        before = sorted(self.open(one))
        mine, theirs = [self.symmetry.link(exchange, link) for link in before], self.open(two)
        carried = [link for link in mine if link is not None]
        if len(carried) < len(mine) or len(set(carried)) != len(theirs):
            return None
        left, other = (
            [link for link in carried if link not in theirs],
            sorted(theirs - set(carried)),
        )
        for swapped in itertools.permutations(other):
            swap = dict(zip(left, swapped, strict=True))
            if not swap or self._the_same_to_all(two, carried, swap):
                return {link: swap.get(to, to) for link, to in zip(before, carried, strict=True)}
        return None

    # --- exchanges --------------------------------------------------------------------------------
    @cached_property
    def symmetry(self) -> Symmetry:
        """The exchanges of bodies and sensors."""
        return Symmetry(self.study)

    def _exchange(self, to: Sequence[int], ways: Sequence[int]) -> Exchange | None:
        """The exchange of bodies with given turns, without regard to forces; None if a sensor has
        no counterpart."""
        turns = self.study.shapes.turns
        sensors = {k: k for k, sensor in enumerate(self.study.sensors) if sensor.site.body.fixed}
        for a, (b, way) in enumerate(zip(to, ways, strict=True)):
            found = self._map_sensors(a, b, way)
            if found is None:
                return None
            sensors |= found
        own = np.array([turns[b][way] for b, way in zip(to, ways, strict=True)])
        return Exchange(tuple(to), own, sensors, {})

    def _map_sensors(self, a: int, b: int, way: int) -> dict[int, int] | None:
        """For each sensor of body a its counterpart on body b."""
        key = a, b, way
        if key not in self._sensors:
            turn = rotate(np.broadcast_to(self.study.shapes.turns[b][way], (3, 4)), np.eye(3)).T
            one, two = (self.study.system.bodies[k] for k in (a, b))
            self._sensors[key] = self.symmetry.map_sensors(turn, one, two)
        return self._sensors[key]

    # --- hinges that say the same -----------------------------------------------------------------
    @cached_property
    def _rules(self) -> Rules:
        return Rules.of(self.study, self.symmetry)

    def _the_same_to_all(self, node: Node, mine: Sequence[Link], swap: Matching) -> bool:
        """Whether every choice at a node has the same outcome when some of its links are replaced
        by others."""
        if not (self._rules.closes and self._rules.hinges):
            return False
        if not all(self._one_hinge(node.state, *both) for both in swap.items()):
            return False
        return all(self._agree(chosen, swap) for chosen in self._choices(node, mine, swap))

    def _choices(
        self, node: Node, mine: Sequence[Link], swap: Matching
    ) -> Iterator[Mapping[Link, bool] | None]:
        """For every selection at a node its links, and whether each is a lock; None for a selection
        that is possible with the given links but not with their replacements.  Hinges come before
        locks."""
        study = self.study
        stands = replace(node, links=tuple(sorted(mine)))
        pairs, sets = study.open_pairs(stands), study.sets(stands)
        theirs = {(link.pair, link.roll): other for link, other in swap.items()}
        for labels in itertools.product(*map(reversed, sets)):
            chosen = [Link(*pair, label) for pair, label in zip(pairs, labels, strict=True)]
            joined = {link: study.option(study.pairs[link.pair], link.option) for link in chosen}
            others = sorted(
                theirs[link[:2]]
                if joined[link].joins and link[:2] in theirs
                else link._replace(pair=theirs[link[:2]].pair, roll=theirs[link[:2]].roll)
                if link[:2] in theirs
                else link
                for link in chosen
            )
            allowed = study.allows(pairs, labels)
            if allowed != study.allows(
                [link[:2] for link in others], [link.option for link in others]
            ):
                yield None
            elif allowed:
                yield {
                    link: option.traits.holds == "as one"
                    for link, option in joined.items()
                    if option.joins
                }

    def _agree(self, chosen: Mapping[Link, bool] | None, swap: Matching) -> bool:
        """Whether a selection has the same outcome with the replaced links: the bodies between
        which they move are locked together, or in both cases everything separates."""
        if chosen is None:
            return False
        ends = self.study.ends
        locked = clusters(
            self.study.names, (ends(link.pair) for link, lock in chosen.items() if lock)
        )
        both = [
            (ends(link.pair), ends(other.pair)) for link, other in swap.items() if link in chosen
        ]
        if all(
            {locked[body] for body in one} == {locked[body] for body in two} for one, two in both
        ):
            return True
        return self._come_apart(chosen, swap)

    def _come_apart(self, chosen: Mapping[Link, bool], swap: Matching) -> bool:
        """Whether safety forbids separation, and a selection leads to it both with the links and
        with their replacements."""
        ends = self.study.ends
        apart = any(map(forbids_parting, self.study.safety))
        held = (
            [ends(swap.get(link, link).pair if other else link.pair) for link in chosen]
            for other in (False, True)
        )
        return apart and all(
            len(set(clusters(self.study.names, joints).values())) > 1 for joints in held
        )

    def _one_hinge(self, state: State, one: Link, two: Link) -> bool:
        """Whether two links are hinges of one body about the same line, between the same two end
        positions and at equal cost: the closed position of each lies within the range of the other.
        Sensors then meet and lock alike for both. (Two boxes that touch along one edge have two
        pairs of faces there, for the same hinge.)"""
        if not all(self._locks_when_shut(link) for link in (one, two)):
            return False
        costs = [self._option(link).costs for link in (one, two)]
        spans = [self._span(state, link) for link in (one, two)]
        common = set(self.study.ends(one.pair)) & set(self.study.ends(two.pair))
        if None in spans or not common or costs[0] != costs[1]:
            return False
        body, near = min(common), SAME_LINE * self.study.shapes.tolerance
        (at, u, ways), (there, w, others) = (span for span in spans if span is not None)
        if np.linalg.norm(np.cross(u, w)) > near or np.linalg.norm(np.cross(there - at, u)) > near:
            return False
        shut, far = _turning_range(self.study.ends(one.pair), body, 1.0, ways)
        other, away = _turning_range(
            self.study.ends(two.pair), body, math.copysign(1.0, float(u @ w)), others
        )
        opposite = (far - shut) * (away - other) < 0.0
        return opposite and _within(other, shut, far, near) and _within(shut, other, away, near)

    def _locks_when_shut(self, link: Link) -> bool:
        """Whether the faces of a link lock when they meet; otherwise a joint holds them that leaves
        them free to move."""
        held = firmest(self.study, link.pair, link.roll)
        return self.study.on_contact == "lock" and held is not None and locks(self.study, held)

    def _option(self, link: Link) -> Option:
        """The option of a link."""
        return self.study.option(self.study.pairs[link.pair], link.option)

    def _span(self, state: State, link: Link) -> tuple[Floats, Floats, tuple[float, float]] | None:
        """Point and axis in N of a hinge, and its range from the present pose [rad]: back to where
        its faces close, and forward."""
        pair, option = self.study.pairs[link.pair], hinge_of(self._option(link))
        if option is None:
            return None
        joint = self.study.joint_parts(link.pair, link.roll, option)[0]
        most = option.placed(self.study.sensors[pair.one].site)[2]
        assert isinstance(joint, Revolute)
        (at, one), (_, two) = (frame_of(site, state, self.study.system) for site in joint.sites)
        if most is None:
            return None
        angle = math.atan2(float(two[:, 0] @ one[:, 1]), float(two[:, 0] @ one[:, 0]))
        angle += 2.0 * math.pi * (angle < 0.5 * most - math.pi)  # next to its range
        return at, one[:, 2], (-angle, most - angle)


def _turning_range(
    ends: tuple[str, str], body: str, sense: float, ways: tuple[float, float]
) -> tuple[float, float]:
    """The range of a hinge about an axis of either sense, backward and forward."""
    sign = sense if ends[1] == body else -sense
    return sign * ways[0], sign * ways[1]


def _within(angle: float, one: float, two: float, near: float) -> bool:
    """Whether an angle lies in an interval, extended by a tolerance [rad]."""
    return min(one, two) - near <= angle <= max(one, two) + near
