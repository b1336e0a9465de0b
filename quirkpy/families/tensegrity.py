"""Tensegrity: bars and strings between nodes, as ordinary bodies, ball joints and strings."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias, TypedDict

import numpy as np

from quirkpy.families.bars import CompressibleBar
from quirkpy.families.beads import chains_of
from quirkpy.maths.quat import rotation_matrix
from quirkpy.maths.triples import NO_TURN, turn
from quirkpy.maths.types import Floats, Vector
from quirkpy.mechanics.state import State
from quirkpy.parts.body import GROUND, Body, Site
from quirkpy.parts.checks import instance, not_negative, positive, show, vector, whole
from quirkpy.parts.joint import BaseJoint
from quirkpy.parts.joints import Planar, Revolute, Spherical
from quirkpy.parts.part import Part, PartError, check_argument
from quirkpy.parts.strings import String, point_mass
from quirkpy.system.multibody import Multibody

#: Two nodes, or for a string all nodes along its path, counted from 0.
Member: TypeAlias = Sequence[int]
#: One number for all members, or one for each.
OneOrEach: TypeAlias = float | Sequence[float]
#: The default radius of a bar, as a share of its length [1].
SLENDER = 0.01


class BarOptions(TypedDict, total=False):
    """Options of bars: density [kg/m3] or mass [kg], and radius [m] (default: a hundredth of the
    length); for compressible ones Young's modulus [Pa], poisson, the ratio [1], damping [N s/m]
    along them, and limit_load [N], at which they yield; each one number, or one for each bar."""

    density: OneOrEach
    mass: OneOrEach
    radius: OneOrEach
    modulus: OneOrEach
    poisson: OneOrEach
    damping: OneOrEach
    limit_load: OneOrEach


class StringOptions(TypedDict, total=False):
    """Options of strings: stiffness [N/m] or EA [N]; rest, the rest length as a share of the
    initial length [1] (default 1), or rest_length [m]; damping [N s/m]; limit_load [N], at which it
    yields; mass [kg] (default 0), with beads, the number of point masses along it (default 3); each
    one number, or one for each string."""

    stiffness: OneOrEach
    EA: OneOrEach
    rest: OneOrEach
    rest_length: OneOrEach
    damping: OneOrEach
    limit_load: OneOrEach
    mass: OneOrEach
    beads: OneOrEach


class Tensegrity(NamedTuple):
    """Bars and strings. system: all parts; bars "b1", "b2" ... (of compressible ones the middle),
    strings "s1" ... and point masses "p1" ... in their order; nodes: "n1" ..., each a site of a
    body there; ends, ways: the nodes of each bar and of each string, counted from 0; compressible:
    those bars."""

    system: Multibody
    bars: tuple[Body, ...]
    strings: tuple[String, ...]
    masses: tuple[Body, ...]
    nodes: tuple[Site, ...]
    ends: tuple[tuple[int, ...], ...]
    ways: tuple[tuple[int, ...], ...]
    compressible: tuple[CompressibleBar, ...] = ()

    def places(self, state: State | None = None) -> Floats:
        """The positions of the nodes in a state (default: the initial one) [m] (n, 3)."""
        at = self.system.initial if state is None else state
        return np.array([place_of(site, at) for site in self.nodes])


def place_of(site: Site, state: State) -> Floats:
    """The position of a site in a state [m]."""
    if site.body.fixed:
        return np.asarray(site.placed()[0], dtype=float)
    k = state.bodies.index(site.body.name)
    return np.asarray(state.r[k]) + turn(rotation_matrix(*state.q[k].tolist()), site.at)


def tensegrity(
    nodes: Any,
    bars: Sequence[Member] = (),
    strings: Sequence[Member] = (),
    fixed: Sequence[int] = (),
    *,
    bar: BarOptions | None = None,
    string: StringOptions | None = None,
    masses: Mapping[int, float] | None = None,
    normal: Vector | None = None,
) -> Tensegrity:
    """Bars and strings between nodes: ``tensegrity([(0, 0, 0), ...], bars=[(0, 4), ...],
    strings=[(0, 1), ...], bar=dict(density=1300.0, radius=0.01), string=dict(stiffness=1e4,
    rest=0.9))``.

    nodes (n, 3) [m]; members refer to them by numbers from 0, and are named by the letters of the
    papers, numbered from 1. A string with more than two nodes runs over those between with one
    tension. fixed: nodes that are fixed. masses [kg] of nodes: on the first bar that ends there, or
    a ball of its own where none does; such a node needs one. Where bars meet, at nodes of any
    class, there are ball joints; normal: of a plane in which the motion is confined, then these are
    hinges about it.

    Bars are solid cylinders; with a modulus each is a `CompressibleBar`. No member exerts a moment
    about the axis of a bar, so the moment of inertia about that axis has no effect. A string "s1"
    with mass consists of pieces "s1 1", "s1 2" ... between point masses, which are nodes behind the
    given ones."""
    frame = Frame.of("tensegrity", nodes, bars, strings, fixed, masses, normal, string or {})
    made = frame.bars(bar or {})
    balls = frame.balls()
    sites = frame.sites(made, balls)
    ropes = frame.ropes(sites)
    joints = frame.joints(made, balls)
    system = Multibody(*(p for one in made for p in one.parts), *balls.values(), *joints, *ropes)
    found = tuple(one.middle for one in made), ropes, tuple(balls.values()), sites
    soft = tuple(one.soft for one in made if one.soft)
    return Tensegrity(system, *found, frame.pairs, frame.ways, soft)


class Strut(NamedTuple):
    """A bar of a tensegrity. middle: the body that bears its name; ends: the bodies at its two
    nodes; parts: all of which it consists; soft: the compressible bar, where it is one."""

    middle: Body
    ends: tuple[Body, Body]
    parts: tuple[Part, ...]
    soft: CompressibleBar | None = None


class Frame(NamedTuple):
    """Nodes and members as given, checked: points (n, 3), pairs of bars, paths of strings, fixed
    nodes, masses of nodes, the normal of the plane of motion, the bars that end at each node, and
    names and options of the strings."""

    who: str
    points: Floats
    pairs: tuple[tuple[int, ...], ...]
    ways: tuple[tuple[int, ...], ...]
    held: frozenset[int]
    masses: Mapping[int, float]
    normal: Any
    ends: tuple[tuple[int, ...], ...]
    names: tuple[str, ...]
    string: Mapping[str, Any]

    @classmethod
    def of(
        cls, who: str, nodes: Any, bars: Any, strings: Any, fixed: Any, masses: Any, normal: Any,
        string: Any,
    ) -> Frame:  # fmt: skip
        """A frame from checked arguments."""
        points = check_points(who, nodes)
        stiff, pulling = check_list(who, "bars", bars), check_list(who, "strings", strings)
        pairs = tuple(
            check_member(who, f"b{k + 1}", pair, points, 2) for k, pair in enumerate(stiff)
        )
        ways = tuple(
            check_member(who, f"s{k + 1}", way, points, len(points))
            for k, way in enumerate(pulling)
        )
        stay = check_list(who, "fixed", fixed)
        held = frozenset(check_node(who, "fixed", i, len(points)) for i in stay)
        weights = check_argument(who, "masses", masses or {}, instance(Mapping))
        loads = {
            check_node(who, "masses", i, len(points)): check_argument(who, "masses", m, positive)
            for i, m in weights.items()
        }
        axis = None if normal is None else check_argument(who, "normal", normal, vector)
        each = MemberNumbers(who, "string", string, len(ways))
        names: Sequence[str] = [f"s{k + 1}" for k in range(len(ways))]
        if string.get("mass") is not None:
            chains = chains_of(points, ways, each.checked, string, loads)
            points, string, loads = np.array(chains.nodes), chains.options, chains.masses
            ways, names = tuple(chains.strings), chains.names
        ends = tuple(
            tuple(k for k, pair in enumerate(pairs) if i in pair) for i in range(len(points))
        )
        made = cls(who, points, pairs, ways, held, loads, axis, ends, tuple(names), string)
        made.check()
        return made

    def check(self) -> None:
        """Refuse members that cannot move, and nodes without a body."""
        for letter, members in (("b", self.pairs), ("s", self.ways)):
            for k, member in enumerate(members):
                if self.held.issuperset(member):
                    raise PartError(
                        f"{self.who}: {letter}{k + 1} stands between fixed nodes alone; leave it "
                        "out."
                    )
        used = {i for member in (*self.pairs, *self.ways) for i in member}
        for i in range(len(self.points)):
            if i not in used:
                raise PartError(f"{self.who}: node {i} belongs to no member; leave it out.")
            if not self.ends[i] and i not in self.held and i not in self.masses:
                raise PartError(
                    f"{self.who}: node {i} has no bar; give it a mass, masses={{{i}: ...}}, or fix "
                    "it."
                )

    # --- bodies -----------------------------------------------------------------------------------
    def bars(self, options: BarOptions) -> tuple[Strut, ...]:
        """The bars, with the masses at their ends."""
        each = MemberNumbers(self.who, "bar", options, len(self.pairs))
        if options.get("modulus") is not None:
            return tuple(self.soft_bar(k, each) for k in range(len(self.pairs)))
        for name in ("poisson", "damping", "limit_load"):
            if options.get(name) is not None:
                raise PartError(
                    f"{self.who}: bar has {name}, but is rigid without a modulus [Pa]; give one."
                )
        bodies = [self.bar(k, each) for k in range(len(self.pairs))]
        return tuple(Strut(body, (body, body), (body,)) for body in bodies)

    def tip_masses(self, k: int) -> list[float]:
        """The masses at the ends of a bar [kg]."""
        return [
            self.masses[i] if i in self.masses and self.ends[i][0] == k else 0.0
            for i in self.pairs[k]
        ]

    def soft_bar(self, k: int, each: MemberNumbers) -> Strut:
        """A compressible bar."""
        made = CompressibleBar(
            f"b{k + 1}", *(tuple(self.points[i]) for i in self.pairs[k]),
            modulus=each.get("modulus", k, positive), mass=each.get("mass", k, positive),
            density=each.get("density", k, positive), radius=each.get("radius", k, positive),
            poisson=each.get("poisson", k, not_negative, 0.0),
            damping=each.get("damping", k, not_negative, 0.0),
            limit_load=each.get("limit_load", k, positive), tips=self.tip_masses(k),
        )  # fmt: skip
        return Strut(made.middle, made.ends, tuple(made), made)

    def bar(self, k: int, each: MemberNumbers) -> Body:
        """A solid cylinder, and balls at its ends that rotate with it."""
        one, two = self.points[list(self.pairs[k])]
        length = float(np.linalg.norm(two - one))
        radius = each.get("radius", k, positive, SLENDER * length)
        mass = each.get("mass", k, positive)
        density = each.get("density", k, positive)
        if (mass is None) == (density is None):
            raise PartError(f"{self.who}: bar needs a density [kg/m3], or a mass [kg].")
        if mass is None:
            mass = density * math.pi * radius**2 * length
        across = mass * (3.0 * radius**2 + length**2) / 12.0
        at_ends = self.tip_masses(k)
        total = mass + sum(at_ends)
        centre = 0.5 * length * (at_ends[1] - at_ends[0]) / total  # from the middle of the bar
        across += mass * centre**2
        across += sum(
            m * (side * 0.5 * length - centre) ** 2
            for m, side in zip(at_ends, (-1.0, 1.0), strict=True)
        )
        place = 0.5 * (one + two) + centre / length * (two - one)
        return dataclasses.replace(
            Body.rod(f"b{k + 1}", tuple(one), tuple(two), mass, radius), mass=total,
            inertia=(0.5 * mass * radius**2, across, across), position=tuple(place),
        )  # fmt: skip

    def balls(self) -> dict[int, Body]:
        """The point masses at nodes where no bar ends, by node."""
        alone = [i for i in sorted(self.masses) if not self.ends[i] and i not in self.held]
        return {
            i: point_mass(f"p{k + 1}", self.masses[i], tuple(self.points[i]))
            for k, i in enumerate(alone)
        }

    def end_of(self, made: Sequence[Strut], k: int, i: int) -> Body:
        """The body of bar k at node i."""
        return made[k].ends[self.pairs[k].index(i)]

    def holder(self, i: int, made: Sequence[Strut], balls: Mapping[int, Body]) -> Body:
        """The body that contains a node."""
        if i in self.held:
            return GROUND
        return self.end_of(made, self.ends[i][0], i) if self.ends[i] else balls[i]

    def sites(self, made: Sequence[Strut], balls: Mapping[int, Body]) -> tuple[Site, ...]:
        """The site of each node, on a bar, a ball or the ground."""
        return tuple(
            self.holder(i, made, balls).site_placed(f"n{i + 1}", tuple(point), NO_TURN)
            for i, point in enumerate(self.points)
        )

    # --- what joins them --------------------------------------------------------------------------
    def joints(self, made: Sequence[Strut], balls: Mapping[int, Body]) -> Iterator[BaseJoint]:
        """A ball joint, or a hinge, wherever bars meet or end at a fixed node; and joints that keep
        floating parts in the plane."""
        for i, ends in enumerate(self.ends):
            hub, others = (GROUND, ends) if i in self.held else (None, ends[1:])
            for k in others:
                name = f"n{i + 1}" if len(others) == 1 else f"n{i + 1} b{k + 1}"
                first = hub or self.end_of(made, ends[0], i)
                yield self.joint(name, first, self.end_of(made, k, i), i)
        if self.normal is not None:
            middles = [one.middle for one in made]
            for body in (*self.floating(middles), *balls.values()):
                yield Planar(f"plane {body.name}", GROUND, body, at=body.position, axis=self.normal)

    def joint(self, name: str, first: Body, second: Body, i: int) -> BaseJoint:
        """The joint of two bodies at a node."""
        at = tuple(self.points[i])
        if self.normal is None:
            return Spherical(name, first, second, at=at)
        return Revolute(name, first, second, at=at, axis=self.normal)

    def floating(self, bodies: Sequence[Body]) -> Iterator[Body]:
        """One bar of each connected group without a fixed node."""
        left = set(range(len(bodies)))
        while left:
            group, grown = set[int](), {min(left)}
            while grown > group:
                group = grown
                grown = group | {k for ends in self.ends if group & {*ends} for k in ends}
            left -= group
            if not any(self.held & {*self.pairs[k]} for k in group):
                yield bodies[min(group)]

    def ropes(self, sites: Sequence[Site]) -> tuple[String, ...]:
        """The strings between sites of nodes, as parts."""
        each = MemberNumbers(self.who, "string", self.string, len(self.ways))
        return tuple(self.rope(k, sites, each) for k in range(len(self.ways)))

    def rope(self, k: int, sites: Sequence[Site], each: MemberNumbers) -> String:
        """A string over its nodes."""
        way = self.ways[k]
        length = sum(math.dist(*self.points[[i, j]]) for i, j in pairwise(way))
        rest = each.get("rest_length", k, not_negative)
        if rest is None:
            rest = length * each.get("rest", k, not_negative, 1.0)
        first, *over, last = (sites[i] for i in way)
        return String(
            self.names[k], first, last, over=over, rest_length=rest,
            stiffness=each.get("stiffness", k, not_negative), EA=each.get("EA", k, positive),
            damping=each.get("damping", k, not_negative, 0.0),
            limit_load=each.get("limit_load", k, positive),
        )  # fmt: skip


class MemberNumbers:
    """The options of members: one number for all, or one for each."""

    def __init__(self, who: str, what: str, options: Any, count: int) -> None:
        self.who, self.what, self.count = who, what, count
        known = (BarOptions if what == "bar" else StringOptions).__annotations__
        if not isinstance(options, Mapping) or not set(options) <= set(known):
            raise PartError(
                f"{who}: {what} is {show(options)}, but must be a dict of {', '.join(known)}."
            )
        self.options: Mapping[str, Any] = options

    def get(self, name: str, k: int, check: Any, default: Any = None) -> Any:
        """The number of member k, or the default."""
        value = self.options.get(name)
        if value is None:
            return default
        if isinstance(value, (list, tuple, np.ndarray)):
            if len(value) != self.count:
                raise PartError(
                    f"{self.who}: {self.what} has {len(value)} numbers of {name} for {self.count} "
                    "members; give one, or one for each."
                )
            value = value[k]
            if value is None:
                return default
        return check_argument(self.who, f"{self.what} {name}", value, check)

    def checked(self, name: str, k: int, default: Any = None) -> Any:
        """The number of member k, or the default; zero or above."""
        return self.get(name, k, whole if name == "beads" else not_negative, default)


# --- checks ---------------------------------------------------------------------------------------
def check_points(who: str, nodes: Any) -> Floats:
    """Nodes as an array (n, 3) [m]."""
    try:
        points = np.array(nodes, dtype=float)
    except (TypeError, ValueError):
        points = np.empty(0)
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise PartError(f"{who}: nodes must be a list of points (x, y, z) [m].")
    return points


def check_list(who: str, name: str, values: Any) -> list[Any]:
    """Several values, one after the other."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise PartError(f"{who}: {name} is {show(values)}, but must be a list.")
    return list(values)


def check_node(who: str, what: str, node: Any, count: int) -> int:
    """The number of a node."""
    if isinstance(node, bool) or not isinstance(node, (int, np.integer)) or not 0 <= node < count:
        raise PartError(
            f"{who}: {what} names the node {show(node)}, but there are those from 0 to {count - 1}."
        )
    return int(node)


def check_member(who: str, name: str, member: Any, points: Floats, most: int) -> tuple[int, ...]:
    """The nodes of a member, each two at different places."""
    if not isinstance(member, (list, tuple, np.ndarray)) or not 2 <= len(member) <= most:
        many = "two nodes" if most == 2 else "two nodes or more"
        raise PartError(f"{who}: {name} is {show(member)}, but must be {many}.")
    way = tuple(check_node(who, name, i, len(points)) for i in member)
    for i, j in pairwise(way):
        if not np.any(points[i] != points[j]):
            raise PartError(f"{who}: {name} has no length from node {i} to node {j}.")
    return way
