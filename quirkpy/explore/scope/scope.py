"""`Scope`: a spacecraft with its choices, and the rules for their outcomes."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self, TypeVar

import numpy as np

from quirkpy import doors
from quirkpy.explore.scope.choices import Choice, OnContact, Pair, SettleRule
from quirkpy.explore.scope.choosing import Choosing, Chosen
from quirkpy.explore.scope.identity import SameShape, Shapes, allowed_group, poses_of
from quirkpy.explore.scope.options import Option, freedoms_of, mating_frame
from quirkpy.explore.scope.safety import KeepOut, NoCollision, Safety
from quirkpy.explore.scope.turns import WholeTurns
from quirkpy.kernels.base.states import state_rows
from quirkpy.kernels.place.kinematics import frames_of
from quirkpy.kernels.solid import sight
from quirkpy.kernels.step.integrator import SENSOR_RIM
from quirkpy.kernels.users.modal import states_of
from quirkpy.kernels.users.packing import sites_and_modes, sites_of
from quirkpy.maths.cached import cached_property
from quirkpy.maths.types import Floats
from quirkpy.mechanics.bending import refuse_bending
from quirkpy.mechanics.state import State
from quirkpy.parts.body import Body
from quirkpy.parts.checks import angle_up_to, how_many, optional, show, small, text, whole, word
from quirkpy.parts.force import Force
from quirkpy.parts.part import Part, PartError, parts_within
from quirkpy.parts.sensor import QUARTER_TURNS, Sensor
from quirkpy.system.multibody import Multibody

Made = TypeVar("Made", bound="Scope")


class Scope:
    """The definition of an exploration: all of a `Study` but the exploration itself."""

    def __init__(
        self,
        system: Multibody,
        *,
        sensors: Sequence[Sensor],
        options: Mapping[tuple[str, str], Sequence[Option]],
        choosing: Sequence[Choosing] = (),
        potentials: Mapping[str, Sequence[Force]] | None = None,
        always: Sequence[Force] = (),
        safety: Sequence[Safety] = (),
        settle: SettleRule | None = None,
        on_contact: OnContact = "lock",
        same: SameShape | None = None,
        nudge: float = 1e-6,
        seed: int = 0,
        disturbance: float | None = None,
    ) -> None:
        self.system, self.sensors = system, check_list("sensors", sensors, Sensor)
        self.options = {
            _kinds(kinds): check_list(f"options of {kinds!r}", chosen, Option)
            for kinds, chosen in check_mapping("options", options).items()
        }
        self.potentials = {
            _label("potentials: a name", name): check_list(f"potential {name!r}", forces, Force)
            for name, forces in check_mapping(
                "potentials", {"none": ()} if potentials is None else potentials
            ).items()
        }
        self.choosing = check_list("choosing", choosing, Choosing)
        self.always = check_list("always", always, Force)
        self.safety = check_list("safety", safety, Safety)
        self.settle = SettleRule() if settle is None else settle
        self.on_contact, self.same = on_contact, SameShape() if same is None else same
        self.nudge, self.seed, self.disturbance = nudge, seed, disturbance
        self._last: tuple[Any, set[int], list[tuple[int, int]]] | None = None
        self._check()

    def _check(self) -> None:
        """Refuse invalid studies when they are constructed."""
        for field, kind in (("system", Multibody), ("settle", SettleRule), ("same", SameShape)):
            if not isinstance(getattr(self, field), kind):
                raise PartError(
                    f"Study: {field} is {show(getattr(self, field))}, but must be a "
                    f"{kind.__name__}."
                )
        checks = (
            ("on_contact", word(OnContact)), ("nudge", small), ("seed", whole),
            ("disturbance", optional(angle_up_to(math.pi, "pi"))),
        )  # fmt: skip
        for field, check in checks:
            try:
                check(getattr(self, field))
            except (TypeError, ValueError) as error:
                raise PartError(f"Study: {field} {error}.") from None
        self._check_bending()
        for controller in self.system.tables.controllers:
            raise controller.refuse(
                "a study follows what falls into place by itself, and settles; leave the "
                "controller out, and fly its plans with it afterwards.",
                code="together",
            )
        self._check_sensors()
        self._check_options()

    def _check_bending(self) -> None:
        """Refuse what is known for rigid bodies alone where bodies bend."""
        for rule in self.safety if self.system.tables.bends else ():
            if isinstance(rule, (NoCollision, KeepOut)) or rule.traits.sees == "whole":
                refuse_bending(self.system.tables, type(rule).__name__)
        if self.system.tables.bends and (self.same.interchangeable or self.same.symmetry):
            refuse_bending(self.system.tables, "SameShape with exchanges or turns of bodies")

    def _check_options(self) -> None:
        """Refuse options that are given twice or not at all, and studies without potentials."""
        for pair, chosen in self.options.items():
            labels = [_label(f"options of {pair!r}: a label", o.label) for o in chosen]
            if not chosen or len(set(labels)) < len(labels):
                raise PartError(
                    f"Study: the options of {pair!r} are {labels}; give each once, and at least "
                    "one."
                )
        if not self.potentials:
            raise PartError(
                "Study: potentials is empty; leave it out, or give one without forces: {'none': "
                "[]}."
            )

    def _check_sensors(self) -> None:
        here = {part.name for part in self.system.parts if isinstance(part, Body)}
        if len({sensor.name for sensor in self.sensors}) < len(self.sensors):
            raise PartError(
                "Study: two sensors have the same name; give each a name of its own.", code="name"
            )
        for sensor in self.sensors:
            if sensor.site.body.name not in here:
                raise sensor.refuse(
                    f"its body {sensor.site.body.name!r} is not in the system of the study.",
                    code="name",
                )
        kinds = {sensor.kind for sensor in self.sensors}
        for pair in self.options:
            if not set(pair) <= kinds:
                raise PartError(
                    f"Study: options has the pair {pair!r}, but sensors are of the kinds "
                    f"{', '.join(sorted(kinds))}."
                )
            if pair[0] != pair[1] and pair[::-1] in self.options:
                raise PartError(
                    f"Study: options has {pair!r} in both orders; give one, and the first comes "
                    "first."
                )

    # --- what may meet ----------------------------------------------------------------------------
    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """Every pair of sensors of different bodies with options, in the order of the sensors; the
        first of a pair is of the kind that its options name first."""
        out = []
        for j, two in enumerate(self.sensors):
            for i, one in enumerate(self.sensors[:j]):
                if self._may_meet(one, two):
                    straight = (one.kind, two.kind) in self.options
                    first, second = (i, j) if straight else (j, i)
                    name = f"{self.sensors[first].name} | {self.sensors[second].name}"
                    out.append(Pair(first, second, name))
        return tuple(out)

    def _may_meet(self, one: Sensor, two: Sensor) -> bool:
        """Whether two sensors are on bodies that may move relative to each other, accept each
        other, and have options."""
        apart = one.site.body.name != two.site.body.name and not (
            one.site.body.fixed and two.site.body.fixed
        )
        accept = one.kind in two.accepts and two.kind in one.accepts
        return bool(apart and accept and self._options_of(one, two))

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Numbers of pairs by name."""
        return {pair.name: k for k, pair in enumerate(self.pairs)}

    def _options_of(self, one: Sensor, two: Sensor) -> tuple[Option, ...]:
        kinds = one.kind, two.kind
        return self.options.get(kinds, self.options.get(kinds[::-1], ()))

    def options_of(self, pair: Pair) -> tuple[Option, ...]:
        """The options of a pair."""
        return self._options_of(self.sensors[pair.one], self.sensors[pair.two])

    def rolls(self, pair: Pair) -> tuple[float, ...]:
        """The rotations of the second about the first [rad] at which a pair may be held."""
        roll = self._roll(pair)
        return tuple(k * roll for k in range(max(1, round(2.0 * math.pi / roll))))

    def _roll(self, pair: Pair) -> float:
        """The step between two of them [rad]."""
        return max(self.sensors[k].roll or 0.0 for k in pair[:2]) or QUARTER_TURNS

    @cached_property
    def _sensor_arrays(self) -> sight.Sensors:
        """All sensors and pairs as numbers; limits include the tolerance."""
        index = {name: k for k, name in enumerate(self.system.bodies)}
        sites = sites_of([sensor.site for sensor in self.sensors], index, len(index))
        pairs = np.array([pair[:2] for pair in self.pairs], dtype=np.int64).reshape(-1, 2)
        sizes = np.array([(sensor.reach, sensor.alignment) for sensor in self.sensors]).reshape(
            -1, 2
        )
        limits = np.minimum(sizes[pairs[:, 0]], sizes[pairs[:, 1]]) * (1.0 + SENSOR_RIM)
        rolls = np.array(
            [(self._roll(pair), len(self.rolls(pair))) for pair in self.pairs]
        ).reshape(-1, 2)
        return sight.Sensors(sites, pairs, np.concatenate([limits, rolls], axis=1))

    def in_range(self, state: State, met: Iterable[int] = ()) -> list[tuple[int, int]]:
        """Pairs within reach of each other, facing, and their rotations: numbers of pair and roll;
        met: pairs that an event has found in range, up to its tolerance."""
        known, out = (
            np.zeros(len(self.pairs), dtype=bool),
            np.zeros((len(self.pairs), 2), dtype=np.int64),
        )
        known[list(met)] = True
        if self.system.tables.bends:
            frames, sensors = self._frames_of_sensors(state)
        else:
            y = state_rows(state.r, state.q, state.v, state.omega)
            frames, sensors = frames_of(y), self._sensor_arrays
        count = sight.in_range(frames, sensors, known, out)
        return [(pair, roll) for pair, roll in out[:count].tolist()]

    def _frames_of_sensors(self, state: State) -> tuple[Floats, sight.Sensors]:
        """Frames of bodies and of stations, with the sensors on these, where bodies bend."""
        tables = self.system.tables
        sites, modes = sites_and_modes([sensor.site for sensor in self.sensors], tables)
        rows = state_rows(state.r, state.q, state.v, state.omega)
        lines = states_of(tables).whole_rows(rows, state.further)
        frames = frames_of(lines, modes, len(rows))
        return frames, self._sensor_arrays._replace(sites=sites)

    # --- choices ----------------------------------------------------------------------------------
    def open_pairs(self, node: Any) -> list[tuple[int, int]]:
        """Pairs with a choice at a node: those in range, and those that a joint holds open."""
        return self._open(node)[1]

    def _open(self, node: Any) -> tuple[set[int], list[tuple[int, int]]]:
        """Pairs in range at a node, and all open ones; the last result is cached, since choices are
        enumerated node by node."""
        last = self._last  # read once: other threads may use other nodes
        if last is None or last[0] is not node:
            near = self.in_range(node.state)
            known = {pair for pair, _ in near}
            every = sorted(
                [*near, *((link.pair, link.roll) for link in node.links if link.pair not in known)]
            )
            last = self._last = node, known, every
        return last[1:]

    def choices(self, node: Any) -> list[Choice]:
        """All selections at a node, in order."""
        return list(self._choices(node))

    def _choices(self, node: Any) -> Iterator[Choice]:
        pairs, sets = self.open_pairs(node), self.sets(node)
        joints = [
            [(self.pairs[pair].name, label) for label in labels]
            for (pair, _), labels in zip(pairs, sets, strict=True)
        ]
        every = zip(self._allowed(pairs, sets), itertools.product(*joints), strict=True)
        allowed = [held for may, held in every if may]
        for potential in self.potentials:  # one string, however many potentials there are
            for held in allowed:
                yield Choice(held, potential)

    def sets(self, node: Any) -> list[list[str]]:
        """The options of each open pair, by label."""
        near, pairs = self._open(node)
        held = {link.pair: link.option for link in node.links}
        sets = []
        for pair, _ in pairs:
            options = self.options_of(self.pairs[pair])
            free = [option.label for option in options if not option.joins]
            sets.append(
                [option.label for option in options] if pair in near else [*free, held[pair]]
            )
        return sets

    def allows(self, pairs: Sequence[tuple[int, int]], labels: Sequence[str]) -> bool:
        """Whether the rules of the study allow a selection."""
        if not self.choosing:
            return True
        chosen = [
            self._choosable(pair, roll, label)
            for (pair, roll), label in zip(pairs, labels, strict=True)
        ]
        return all(rule.allows(chosen, self.names) for rule in self.choosing)

    def _allowed(
        self, pairs: Sequence[tuple[int, int]], sets: Sequence[Sequence[str]]
    ) -> Iterator[bool]:
        """For every selection from these sets, in order, whether the rules allow it."""
        if not self.choosing:
            return (True for _ in itertools.product(*sets))
        each = [
            [self._choosable(pair, roll, label) for label in labels]
            for (pair, roll), labels in zip(pairs, sets, strict=True)
        ]
        return (
            all(rule.allows(chosen, self.names) for rule in self.choosing)
            for chosen in map(list, itertools.product(*each))
        )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of all moving bodies, and "ground" where any body is fixed."""
        fixed = any(isinstance(part, Body) and part.fixed for part in self.system.parts)
        return (*self.system.bodies, "ground") if fixed else self.system.bodies

    def _choosable(self, pair: int, roll: int, label: str) -> Chosen:
        return self.remember(("chosen", pair, roll, label), lambda: Chosen(
            *self.ends(pair), label, self.freedoms(pair, roll, self.option(self.pairs[pair], label))
        ))  # fmt: skip

    def count(self, node: Any) -> int:
        """The number of selections at a node."""
        pairs, sets = self.open_pairs(node), self.sets(node)
        if self.choosing:
            ways = sum(self._allowed(pairs, sets))
        else:
            ways = math.prod(len(labels) for labels in sets)
        return ways * len(self.potentials)

    def option(self, pair: Pair, label: str) -> Option:
        """The option of a pair with a given label."""
        return self._labelled[pair[:2]][label]

    @cached_property
    def _labelled(self) -> dict[tuple[int, ...], dict[str, Option]]:
        """The options of each pair of sensors by label; made once for each combination of kinds."""
        return {pair[:2]: self._labels_of(pair) for pair in self.pairs}

    def _labels_of(self, pair: Pair) -> dict[str, Option]:
        key = "labels", self.sensors[pair.one].kind, self.sensors[pair.two].kind
        found: dict[str, Option] = self.remember(
            key, lambda: {o.label: o for o in self.options_of(pair)}
        )
        return found

    # --- parts of a run ---------------------------------------------------------------------------
    def joint_parts(self, pair: int, roll: int, option: Option) -> tuple[Part, ...]:
        """The parts that join a pair, named after it."""
        return self.remember(
            ("joint", pair, roll, option.label), lambda: self._joint_parts(pair, roll, option)
        )

    def _joint_parts(self, pair: int, roll: int, option: Option) -> tuple[Part, ...]:
        p = self.pairs[pair]
        one, two = self.sensors[p.one], self.sensors[p.two]
        name = f"{p.name}: {option.label}" + (f" ({roll})" if roll else "")
        return option.parts(name, one.site, mating_frame(two, self.rolls(p)[roll]))

    def freedoms(self, pair: int, roll: int, option: Option) -> int:
        """The number of freedoms that an option leaves to a pair: six where it does not hold it."""
        return freedoms_of(self.joint_parts(pair, roll, option)[0]) if option.joins else 6

    def ends(self, pair: int) -> tuple[str, str]:
        """The bodies of a pair; "ground" for a fixed one."""
        return self._ends[pair]

    @cached_property
    def _ends(self) -> list[tuple[str, str]]:
        """The bodies of every pair."""
        bodies = [sensor.site.body for sensor in self.sensors]
        names = ["ground" if body.fixed else body.name for body in bodies]
        return [(names[pair.one], names[pair.two]) for pair in self.pairs]

    def remember(self, key: Any, make: Callable[[], Any]) -> Any:
        """A value that depends on the study alone, computed once."""
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]

    @cached_property
    def _cache(self) -> dict[Any, Any]:
        return {}

    @cached_property
    def forces(self) -> dict[str, tuple[Force, ...]]:
        """The forces of every potential, with unique names."""
        return {
            name: tuple(rename(force, f"{name}: {force.name}") for force in forces)
            for name, forces in self.potentials.items()
        }

    def universe(self, node: Any) -> Multibody:
        """The system of all possible parts at a node: joints of every option, forces of every
        potential; none of them active."""
        later: list[Part] = [force for forces in self.forces.values() for force in forces]
        for pair, roll in self.open_pairs(node):
            for option in self.options_of(self.pairs[pair]):
                later += option.hold(self.joint_parts(pair, roll, option), node.state)
        return Multibody(
            *self.system.parts, *self.always, *self.sensors, candidates=later, start=node.state
        )

    @cached_property
    def shapes(self) -> Shapes:
        """The identity of shapes for this study."""
        systems = [
            Multibody(*self.system.parts, *self.always, *forces) for forces in self.forces.values()
        ]
        return Shapes.of(self.same, self.system.bodies, allowed_group(systems))

    @cached_property
    def turns(self) -> WholeTurns:
        """The whole turns of the system's own hinges, which belong to a shape."""
        chosen = (force for forces in self.forces.values() for force in forces)
        return WholeTurns(self.system, (*self.always, *chosen))

    def distance(self, one: State, two: State) -> float:
        """How far states differ as shapes [m] or [rad], as `Shapes` has it; infinite where a
        hinge has made other whole turns, and something feels that."""
        if not self.turns.agree(one, two):
            return math.inf
        return self.shapes.distance(*(poses_of(state.r, state.q) for state in (one, two)))

    # --- identity of the study --------------------------------------------------------------------
    @cached_property
    def digest(self) -> str:
        """A hash of everything that determines the graph; the source of users' classes is part of
        it, the costs of plans are not."""
        if self.disturbance is not None:
            return _restored(type(self), self.fields() | {"disturbance": None}).digest
        parts = parts_within([*self.system.parts, *self.fields().values()])
        sources = sorted(
            {_source(cls) for kind in {type(part) for part in parts} for cls in kind.__mro__}
        )
        return hashlib.sha256("\n".join([self.document(), *sources]).encode()).hexdigest()

    def document(self) -> str:
        """The study as JSON text, which `Study.read` reads."""
        return doors.json.to_json(self)

    @classmethod
    def read(cls, document: str, modules: Iterable[str] = ()) -> Self:
        """The study in a text; modules: those whose own parts it may use."""
        made = doors.json.from_json(document, modules)
        if not isinstance(made, cls):
            raise PartError(
                f"Study.read: the text holds a {type(made).__name__}, not a study.", code="content"
            )
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.fields())

    def fields(self) -> dict[str, Any]:
        """The arguments of the study, by name."""
        return {
            "system": self.system, "sensors": self.sensors, "options": self.options,
            "choosing": self.choosing, "potentials": self.potentials, "always": self.always,
            "safety": self.safety, "settle": self.settle, "on_contact": self.on_contact,
            "same": self.same, "nudge": self.nudge, "seed": self.seed,
            "disturbance": self.disturbance,
        }  # fmt: skip

    def __str__(self) -> str:
        return doors.listings.of_study(self).text()

    def _repr_html_(self) -> str:
        return doors.notebook.of_study(self)

    def __repr__(self) -> str:
        words = (
            how_many(len(self.system.bodies), "moving body", "moving bodies"),
            how_many(len(self.pairs), "pair"),
            how_many(len(self.potentials), "potential"),
        )
        return f"Study({', '.join(words)})"


def _restored(kind: type[Made], fields: dict[str, Any]) -> Made:
    return kind(fields.pop("system"), **fields)


def check_list(what: str, value: Any, kind: type[Any]) -> tuple[Any, ...]:
    """The members of a list, each of a given class."""
    if isinstance(value, (str, Part)) or not isinstance(value, Iterable):
        raise PartError(f"Study: {what} is {show(value)}, but must be a list.")
    items = tuple(value)
    for item in items:
        if not isinstance(item, kind):
            raise PartError(f"Study: {what} has {show(item)}, which is no {kind.__name__}.")
    return items


def check_mapping(what: str, value: Any) -> Mapping[Any, Any]:
    """The value given for a field of a study, which must be a dictionary."""
    if not isinstance(value, Mapping):
        raise PartError(f"Study: {what} is {show(value)}, but must be a dictionary.")
    return value


def _kinds(value: Any) -> tuple[str, str]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise PartError(
            f"Study: options has {show(value)}, but must name two kinds of sensors, ('face', "
            "'face')."
        )
    return _label("options: a kind of sensors", value[0]), _label(
        "options: a kind of sensors", value[1]
    )


def _label(what: str, value: Any) -> str:
    """A name in choices, checked like every name."""
    try:
        return text(value)
    except (TypeError, ValueError) as error:
        raise PartError(f"Study: {what} {error}.") from None


def rename(force: Force, name: str) -> Force:
    """A force under another name."""
    return dataclasses.replace(force, name=name)


def _source(cls: type) -> str:
    """The source of a user's class; empty for a class of this package."""
    if cls.__module__.split(".")[0] in ("quirkpy", "abc", "builtins"):
        return ""
    try:
        return inspect.getsource(cls)
    except (OSError, TypeError):
        return f"{cls.__module__}:{cls.__qualname__}"
