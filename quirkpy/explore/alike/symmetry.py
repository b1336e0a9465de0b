"""Symmetries of a study: exchanges of interchangeable modules, as maps of poses and links.

Two modules are interchangeable if a turn of body axes maps mass properties, shape and sensors of
one onto those of the other.  An exchange of modules is a symmetry of the study if it maps the set
of forces onto itself; it may permute potentials.  Directions of cameras play no part here:
`SameShape` decides which poses count as one shape."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args

import numpy as np

from quirkpy.explore.scope.choices import Link
from quirkpy.explore.scope.identity import Group, poses_of
from quirkpy.explore.scope.options import hinge_of
from quirkpy.explore.scope.safety import cone_of
from quirkpy.explore.scope.scope import Scope
from quirkpy.kernels.base.states import attitudes_of, positions_of
from quirkpy.maths.cached import cached_property
from quirkpy.maths.rotations import product, quaternion_of, rotate
from quirkpy.maths.types import Bools, Floats
from quirkpy.mechanics.state import State
from quirkpy.parts.body import Body, Site
from quirkpy.parts.force import KINDS, Element, Force
from quirkpy.parts.joint import BaseJoint
from quirkpy.parts.part import fields_of
from quirkpy.parts.sensor import Sensor
from quirkpy.parts.shapes import Box, Cylinder, Shape, Sphere

#: Rotation matrices and unit vectors are equal where no entry differs by more than this [1].
SAME_TURN = 1e-9
#: Poses that differ by no more than this [m], [rad] begin the same run.
EQUAL = 1e-10
#: Lengths [m] and direction cosines that agree to so many digits after the point are the same, and
#: so are numbers of forces that agree in as many digits.
DIGITS = 12
IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
BACK = np.array([1.0, -1.0, -1.0, -1.0])


class Alike(NamedTuple):
    """The relation of a body to the first of its kind: the turn (4,) from the axes of the first to
    its own axes, and for each sensor of the first the number of its counterpart."""

    turn: Floats
    sensors: dict[int, int]


@dataclass(frozen=True, eq=False)
class Exchange:
    """A permutation of bodies, with turns (n, 4) from the axes of each body to those of its image;
    and the images of sensors (by number) and of potentials, where they have one."""

    to: tuple[int, ...]
    own: Floats
    sensors: dict[int, int]
    potentials: dict[str, str]

    @property
    def renames(self) -> bool:
        """Whether the permutation moves any body."""
        return self.to != tuple(range(len(self.to)))

    @cached_property
    def sources(self) -> dict[str, str]:
        """For each potential, the one that maps to it, by name."""
        return {other: mine for mine, other in self.potentials.items()}


class Carrier(NamedTuple):
    """An exchange followed by a rigid motion of the whole, a turn (4,) about the origin and a shift
    (3,) [m]: a map from one pose onto another."""

    exchange: Exchange
    turn: Floats
    shift: Floats

    def pose(self, r: Floats, q: Floats) -> tuple[Floats, Floats]:
        """The image of a pose: positions (n, 3) and quaternions (n, 4)."""
        to = list(self.exchange.to)
        moved, turning = np.empty_like(r), np.empty_like(q)
        moved[to] = rotate(np.broadcast_to(self.turn, q.shape), r) + self.shift
        turning[to] = product(
            product(np.broadcast_to(self.turn, q.shape), q), self.exchange.own * BACK
        )
        return moved, turning


class Symmetry:
    """The exchanges of modules and rigid motions of the whole that leave the dynamics of a study
    unchanged."""

    def __init__(self, study: Scope) -> None:
        self.study = study
        known = {part.name: part for part in study.system.parts if isinstance(part, Body)}
        self.bodies = [known[name] for name in study.system.bodies]
        self.index = {name: k for k, name in enumerate(study.system.bodies)}
        self.kinds, self.first, self.turns = self._classify()
        self._made: dict[Any, Any] = {}

    # --- which bodies are alike -------------------------------------------------------------------
    def _classify(self) -> tuple[list[int], list[Alike], list[list[Alike]]]:
        """For every body: the first body of its kind, the turn that relates the two, and the turns
        that map the body onto itself."""
        kinds: list[int] = []
        first: list[Alike] = []
        pinned = self._unique_bodies()
        itself = [Alike(IDENTITY, {k: k for k in self._sensors(name)}) for name in self.index]
        for b in range(len(self.bodies)):
            like = (
                (a, way)
                for a in range(b)
                if kinds[a] == a and not {a, b} & pinned
                for way in self._ways(a, b)
            )
            kind, way = next(like, (b, itself[b]))
            kinds.append(kind)
            first.append(way)
        turns = [
            [itself[b]] if b in pinned else list(self._ways(b, b)) for b in range(len(self.bodies))
        ]
        return kinds, first, turns

    def _unique_bodies(self) -> set[int]:
        """Bodies that map only to themselves: those with joints of the system itself; all of them
        if an unknown trait may distinguish bodies."""
        system = self.study.system
        options = [option for chosen in self.study.options.values() for option in chosen]
        known = all(option.traits.exchanged != "unknown" for option in options)
        marks = {part for part in system.parts if isinstance(part, Sensor)} <= set(
            self.study.sensors
        )
        plain = known and marks and self.safety_is_invariant and self._has_one_firmest_hold()
        if not (plain and self._forces_of(range(len(self.bodies))) is not None):
            return set(range(len(self.bodies)))
        joints = [part for part in system.parts if isinstance(part, BaseJoint)]
        return set(range(len(self.bodies))) if joints else set()

    def _has_one_firmest_hold(self) -> bool:
        """Whether the options of each pair have a unique firmest one.  If several are equally firm
        the first in the list is taken, which an exchange may alter."""
        choices = (
            [o.traits.holds for o in chosen if o.joins] for chosen in self.study.options.values()
        )
        one = all(
            holds.count("as one") == 1 or ("as one" not in holds and len(holds) <= 1)
            for holds in choices
        )
        return self.study.on_contact == "stop" or one

    @cached_property
    def safety_is_invariant(self) -> bool:
        """Whether safety criteria give equal verdicts for motions that differ by an exchange of
        bodies, with their arguments mapped where necessary."""
        return all(
            rule.traits.exchanged == "same" or cone_of(rule) is not None
            for rule in self.study.safety
        )

    @cached_property
    def group(self) -> Group:
        """The rigid motions of the whole under which both forces and safety are invariant."""
        groups = (rule.traits.invariant_under for rule in self.study.safety)
        return min([self.study.shapes.group, *groups], key=get_args(Group).index)

    def _sensors(self, name: str) -> list[int]:
        return [k for k, sensor in enumerate(self.study.sensors) if sensor.site.body.name == name]

    def _ways(self, a: int, b: int) -> Iterator[Alike]:
        """The turns of body axes that map a body, with shape and sensors, onto another; the
        identity first, if it is one."""
        one, two = self.bodies[a], self.bodies[b]
        mine, others = self._sensors(one.name), self._sensors(two.name)
        if len(mine) != len(others) or one.mass != two.mass:
            return
        turns = [np.eye(3)]
        if mine:
            start = self.study.sensors[mine[0]].site.axes
            turns += [self.study.sensors[k].site.axes @ start.T for k in others]
        seen: list[Floats] = []
        for turn in turns:
            if any(abs(turn - other).max() < SAME_TURN for other in seen) or not _carries(
                turn, one, two
            ):
                continue
            sensors = self.map_sensors(turn, one.name, two.name)
            if sensors is not None:
                seen.append(turn)
                yield Alike(quaternion_of(turn), sensors)

    def map_sensors(self, turn: Floats, one: str, two: str) -> dict[int, int] | None:
        """Which sensor of another body each of one body becomes when a turn of body axes (3, 3)
        carries the first onto the second, by number; None where one becomes none."""
        mine, others = self._sensors(one), self._sensors(two)
        keys = {_mark(self.study.sensors[k], np.eye(3)): k for k in others}
        found = [keys.get(_mark(self.study.sensors[k], turn)) for k in mine]
        return (
            {k: to for k, to in zip(mine, found, strict=True) if to is not None}
            if None not in found
            else None
        )

    # --- exchanges --------------------------------------------------------------------------------
    def exchange(self, to: tuple[int, ...], ways: tuple[int, ...]) -> Exchange | None:
        """The exchange with a given permutation, in which each body is turned in one of the ways in
        which its kind maps onto itself; None if forces are not invariant.  Cones are checked
        separately, by `Cones`."""
        key = to, ways
        if key not in self._made:
            nothing = to == tuple(range(len(to))) and not any(ways)
            self._made[key] = self._nothing if nothing else self._exchange(to, ways)
        made: Exchange | None = self._made[key]
        return made

    @cached_property
    def _nothing(self) -> Exchange:
        """The exchange that leaves every body and every sensor in its place."""
        n = len(self.bodies)
        sensors = {k: k for k in range(len(self.study.sensors))}
        return Exchange(
            tuple(range(n)),
            np.tile(IDENTITY, (n, 1)),
            sensors,
            {p: p for p in self.study.potentials},
        )

    def _exchange(self, to: tuple[int, ...], ways: tuple[int, ...]) -> Exchange | None:
        own, sensors = np.empty((len(to), 4)), dict(self._nothing.sensors)
        for a, (b, k) in enumerate(zip(to, ways, strict=True)):
            itself = self.turns[self.kinds[a]][k]
            own[a] = product(product(self.first[b].turn, itself.turn), self.first[a].turn * BACK)
            for s, mine in self.first[a].sensors.items():
                sensors[mine] = self.first[b].sensors[itself.sensors[s]]
        potentials = self._potentials(to, own)
        return None if potentials is None else Exchange(to, own, sensors, potentials)

    def _potentials(self, to: tuple[int, ...], own: Floats) -> dict[str, str] | None:
        """The image of each potential, itself if possible; None if the forces that always act are
        not invariant."""
        mine, theirs = self._forces_of(range(len(to))), self._forces_of(to, own)
        if mine is None or theirs is None or mine[0] != theirs[0]:
            return None
        out: dict[str, str] = {}
        names = list(self.study.potentials)
        for name, before, after in zip(names, mine[1:], theirs[1:], strict=True):
            alike = [other for other, said in zip(names, mine[1:], strict=True) if said == after]
            other = (
                name
                if before == after
                else next((other for other in alike if other not in out.values()), None)
            )
            out |= {} if other is None else {name: other}
        return out

    @cached_property
    def sprung(self) -> bool:
        """Whether the energy of a potential may depend on which joints act."""
        chosen = (force for forces in self.study.potentials.values() for force in forces)
        return any(_speaks_of_joints(force) for force in (*self.study.always, *chosen))

    def _forces_of(self, to: Sequence[int], own: Floats | None = None) -> list[Counter[Any]] | None:
        """Descriptions of forces after an exchange: those that always act first, then those of
        every potential; None if one is unknown."""
        place = self._places(to, np.tile(IDENTITY, (len(to), 1)) if own is None else own)
        always = [
            *self.study.always,
            *(part for part in self.study.system.parts if isinstance(part, Force)),
        ]
        out = [
            _describe_forces(forces, place) for forces in (always, *self.study.potentials.values())
        ]
        return None if None in out else [said for said in out if said is not None]

    def _places(self, to: Sequence[int], own: Floats) -> Callable[[Site], Any]:
        """A site after an exchange as a comparable value: body, point and axes."""

        def place_of(site: Site) -> Any:
            body = site.body
            if body.fixed:
                point, nine = site.placed()
                return -1, _digits(point), _digits(np.reshape(nine, (3, 3))[:, 2]), _digits(nine)
            a = self.index[body.name]
            axes = rotate(np.broadcast_to(own[a], (3, 4)), site.axes.T).T
            at = rotate(own[a], np.array(site.at, dtype=float))
            return int(to[a]), _digits(at), _digits(axes[:, 2]), _digits(axes.ravel())

        return place_of

    # --- poses ------------------------------------------------------------------------------------
    def carriers(self, one: State, two: State, within: float = EQUAL) -> list[Carrier]:
        """All carriers from one pose onto another, to within a tolerance [m], [rad], in a fixed
        order; from a pose onto itself the identity comes first. There is none where whole turns of
        hinges differ: joints of the system itself exclude exchanges."""
        out: list[Carrier] = []
        if not self.study.turns.agree(one, two):
            return out
        mine, theirs = self._to_common_axes(one), self._to_common_axes(two)
        for turn, shift in self._meeting(mine, theirs, within):
            found = self._assign(turn, shift, mine, theirs, within)
            exchange = None if found is None else self.exchange(*found)
            if exchange is not None:
                out.append(Carrier(exchange, turn, shift))
        return out

    def _to_common_axes(self, state: State) -> Floats:
        """The pose with the axes of every body replaced by those of the first of its kind (n,
        7)."""
        return poses_of(state.r, product(state.q, np.array([way.turn for way in self.first])))

    def _meeting(
        self, mine: Floats, theirs: Floats, within: float
    ) -> Iterator[tuple[Floats, Floats]]:
        """The rigid motions that bring every body to a place where one of its kind is."""
        motions = list(self._motions(mine, theirs))
        turns = np.array([turn for turn, _ in motions])[:, None]
        shifts = np.array([shift for _, shift in motions])[:, None]
        places = np.broadcast_to(positions_of(mine), (len(motions), len(mine), 3))
        near = self._near(rotate(turns, places) + shifts, theirs, within)
        return (motions[k] for k in np.flatnonzero(np.all(near.any(axis=2), axis=1)))

    def _near(self, r: Floats, theirs: Floats, within: float) -> Bools:
        """Whether each of some places (..., n, 3) is where a body of its kind is (..., n, n)."""
        far = np.linalg.norm(r[..., None, :] - positions_of(theirs), axis=-1)
        kinds = np.array(self.kinds)
        return np.asarray((far <= within) & (kinds[:, None] == kinds))

    def _motions(self, mine: Floats, theirs: Floats) -> Iterator[tuple[Floats, Floats]]:
        """The rigid motions that map the first body onto one of its kind."""
        if self.group == "none" or not len(mine):
            yield IDENTITY, np.zeros(3)
            return
        for b in (b for b in range(len(theirs)) if self.kinds[b] == self.kinds[0]):
            ways = self.turns[self.kinds[0]] if self.group == "rigid" else [None]
            for way in ways:
                q = (
                    IDENTITY
                    if way is None
                    else product(
                        product(attitudes_of(theirs)[b], way.turn), attitudes_of(mine)[0] * BACK
                    )
                )
                yield q, positions_of(theirs)[b] - rotate(q, positions_of(mine)[0])

    def _assign(
        self, turn: Floats, shift: Floats, mine: Floats, theirs: Floats, within: float
    ) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """The permutation of bodies under a rigid motion, and their turns; None if a body has no
        counterpart.  Bodies may lie in one place, as folded panels do: they differ by how they are
        turned, and of those that do not each stands for itself where it can."""
        many = np.broadcast_to(turn, (len(mine), 4))
        r, q = rotate(many, positions_of(mine)) + shift, product(many, attitudes_of(mine))
        near = self._near(r, theirs, within)
        found: dict[int, int] = {}
        for a in range(len(mine)):
            left = product(attitudes_of(theirs) * BACK, q[a])  # in axes of the first of the kind
            for b in sorted(np.flatnonzero(near[a]).tolist(), key=lambda b: b != a):
                way = None if b in found else self._way(self.kinds[a], left[b], within)
                if way is not None:
                    found[b] = way
                    break
            else:
                return None
        return tuple(found), tuple(found.values())

    def _way(self, kind: int, turning: Floats, within: float) -> int | None:
        """Which of the turns that map a kind onto itself a turn (4,) is, by number; None where it
        is none of them."""
        ways = np.array([way.turn for way in self.turns[kind]])
        near = np.minimum(*(np.linalg.norm(ways - sign * turning, axis=1) for sign in (1.0, -1.0)))
        return int(np.argmin(near)) if 2.0 * near.min() <= within else None

    # --- pairs ------------------------------------------------------------------------------------
    @cached_property
    def _numbers(self) -> dict[frozenset[int], int]:
        return {frozenset(pair[:2]): k for k, pair in enumerate(self.study.pairs)}

    def pair(self, exchange: Exchange, pair: int) -> int:
        """The image of a pair of sensors, by number."""
        one, two, _ = self.study.pairs[pair]
        return self._numbers[frozenset((exchange.sensors[one], exchange.sensors[two]))]

    def link(self, exchange: Exchange, link: Link) -> Link | None:
        """The image of a link; None if it is no pair or no option of the study."""
        both = frozenset(exchange.sensors[k] for k in self.study.pairs[link.pair][:2])
        label = self.label(exchange, *link) if both in self._numbers else None
        return None if label is None else Link(self._numbers[both], link.roll, label)

    def says(self, force: Force, exchange: Exchange | None = None) -> Counter[Any] | None:
        """The description of a force after an exchange, as a comparable value; None if it is
        unknown."""
        there = self._nothing if exchange is None else exchange
        return _describe_forces([force], self._places(there.to, there.own))

    def label(self, exchange: Exchange, pair: int, roll: int, label: str) -> str | None:
        """The label of an option of a pair after an exchange, which may swap the two sensors; None
        if there is no such option."""
        other = self.study.pairs[self.pair(exchange, pair)]
        if other.one == exchange.sensors[self.study.pairs[pair].one]:
            return label
        key = "label", pair, roll, label
        if key not in self._made:
            self._made[key] = self._reverse_label(pair, roll, label)
        seen: str | None = self._made[key]
        return seen

    def _reverse_label(self, pair: int, roll: int, label: str) -> str | None:
        p = self.study.pairs[pair]
        option = self.study.option(p, label)
        hinge = hinge_of(option)
        if hinge is None or option.traits.exchanged != "carried":
            return label if option.traits.exchanged == "same" else None
        one, two = (self.study.sensors[k].site for k in p[:2])
        at, axis, most = hinge.placed(one)
        angle = self.study.rolls(p)[roll]
        c, s = np.cos(angle), np.sin(angle)
        frame = np.array(
            [(c, s, 0.0), (s, -c, 0.0), (0.0, 0.0, -1.0)]
        )  # axes of the second site in those of the first
        point, about = _digits(frame @ at), _digits(frame @ [-x for x in axis])
        for other in filter(None, map(hinge_of, self.study.options_of(p))):
            seen = other.placed(two)
            there = _digits(seen[0]), _digits(seen[1]), seen[2], other.costs
            if there == (point, about, most, option.costs):
                return other.label
        return None


def _speaks_of_joints(force: Force) -> bool:
    """Whether a force may store energy in joints that do not move, or depend on which joints
    exist."""
    if force.traits.energy == "none":
        return False
    among = type(force).elements_among is not Force.elements_among
    return among or any(KINDS[e.kind].felt == "unknown" for e in force.elements())


# --- parts as values ------------------------------------------------------------------------------
def _digits(values: Any) -> tuple[float, ...]:
    return tuple((np.round(np.asarray(values, dtype=float).ravel(), DIGITS) + 0.0).tolist())


def _mark(sensor: Sensor, turn: Floats) -> Any:
    """A sensor on a turned body, as a comparable value."""
    at, axes = turn @ np.array(sensor.site.at, dtype=float), turn @ sensor.site.axes
    what = sensor.kind, sensor.accepts, sensor.reach, sensor.alignment, sensor.roll
    return _digits(at), _digits(axes), what


def _carries(turn: Floats, one: Body, two: Body) -> bool:
    """Whether a turn of body axes maps mass properties and shape of one body onto those of
    another."""
    A, B = one.inertia_matrix, two.inertia_matrix
    same = abs(turn @ A @ turn.T - B).max() <= 10.0**-DIGITS * abs(B).max()
    return bool(same) and _same_shape(turn, one.shape, two.shape)


def _same_shape(turn: Floats, one: Shape | None, two: Shape | None) -> bool:
    """Whether a turn of body axes maps one shape onto another."""
    if isinstance(one, Box) and isinstance(two, Box):
        whole = abs(abs(turn) - abs(turn).round()).max() < SAME_TURN
        return bool(whole) and _digits(abs(turn).round() @ one.size) == _digits(two.size)
    if isinstance(one, Sphere) and isinstance(two, Sphere):
        return one.radius == two.radius
    if isinstance(one, Cylinder) and isinstance(two, Cylinder):
        along, there = (np.eye(3)["xyz".index(shape.axis)] for shape in (one, two))
        return (one.radius, one.length) == (two.radius, two.length) and abs(
            abs(turn @ along) - there
        ).max() < SAME_TURN
    return one == two and (one is None or abs(turn - np.eye(3)).max() < SAME_TURN)


def _describe_forces(forces: Sequence[Force], place: Callable[[Site], Any]) -> Counter[Any] | None:
    """Descriptions of forces by the bodies that they act on, as comparable values; None if one is
    unknown."""
    out: Counter[Any] = Counter()
    for force in forces:
        if force.traits.on_joints == "alike":
            out[
                type(force),
                tuple(value for name, value in fields_of(force).items() if name != "name"),
            ] += 1
            continue
        if type(force).elements_among is not Force.elements_among:
            return None
        for element in force.elements():
            if not KINDS[element.kind].carried or element.joint is not None:
                return None
            out[_element(element, place)] += 1
    return out


def _element(element: Element, place: Callable[[Site], Any]) -> Any:
    """An element as a comparable value."""
    sites: list[Any] = [
        None if s is None else place(s) for s in (element.site1, element.site2, element.site3)
    ]
    kind = KINDS[element.kind]
    if kind.points:
        sites = [None if s is None else s[:2] for s in sites]
    numbers, schedules = element.numbers, element.schedules
    # However a coil is turned about its moment
    if element.kind == "dipoles" and not any(schedules):
        moments = np.reshape(numbers[:6], (2, 3))
        numbers = tuple(
            x for s, m in zip(sites, moments) for x in _digits(np.reshape(s[3], (3, 3)) @ m)
        )
        sites = [None if s is None else s[:2] for s in sites]
    n = kind.swapped
    if n is not None and sites[1] < sites[0]:
        sites[:2] = sites[1::-1]
        numbers = (*numbers[n : 2 * n], *numbers[:n], *numbers[2 * n :])
        schedules = schedules if n == 0 else schedules[::-1]
    return element.kind, tuple(sites), tuple(float(f"{x:.{DIGITS}g}") for x in numbers), schedules
