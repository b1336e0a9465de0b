"""The cost of switching joints and of opening latches: the energy for locking and releasing, and
for how long it is drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from quirkpy.explore.model.assembly import assemble, firmest
from quirkpy.explore.model.graph import Node, Outcome
from quirkpy.explore.scope.choices import Arrival, Choice, Link
from quirkpy.explore.scope.options import Option
from quirkpy.explore.scope.scope import Scope
from quirkpy.motion.capture import hold_at_latches
from quirkpy.motion.course import Change
from quirkpy.parts.latch import Latch

#: The label of latches of a potential among options of pairs.
LATCHED = "latch"


class OnTheWay(NamedTuple):
    """Changes after a choice is made, each with its time [s]: pairs that lock as their sensors
    meet, and pairs that are then released, as others hold their bodies together."""

    met: tuple[tuple[float, str], ...] = ()
    opened: tuple[tuple[float, str], ...] = ()


def has_costs(study: Scope) -> bool:
    """Whether any option of a study, or a latch of a potential, needs energy to lock or to
    release."""
    options = (option for chosen in study.options.values() for option in chosen)
    return bool(
        study.remember("costs", lambda: any(any(o.costs[:2]) for o in options) or latches_of(study))
    )


def held_by(study: Scope, links: Sequence[Link]) -> dict[str, str]:
    """The option that holds each pair, by name."""
    return {study.pairs[link.pair].name: link.option for link in links}


def held_at(study: Scope, node: Node) -> dict[str, str]:
    """The parts that hold at a node: the option of each pair, by name, and latches of its
    potential."""
    return held_by(study, node.links) | dict.fromkeys(latched_at(study, node), LATCHED)


# --- latches --------------------------------------------------------------------------------------
def latches_of(study: Scope, potential: str | None = None) -> dict[str, Latch]:
    """The latches that need energy to open, by name: those of a potential, or of any."""
    chosen = study.potentials if potential is None else (potential,)
    forces = (force for name in chosen for force in study.potentials[name])
    return {force.name: force for force in forces if isinstance(force, Latch) and force.release}


def latched_at(study: Scope, node: Node) -> tuple[str, ...]:
    """The latches that hold at a node, under the potential with which it was reached."""
    mine = {} if node.potential is None else latches_of(study, node.potential)
    if not mine:
        return ()
    system = assemble(study, node.links, node.state, node.potential)
    held = hold_at_latches(system.clusters, system.initial).held
    named = {label.rsplit(" ", 1)[0] for label in held}
    return tuple(name for name in mine if f"{node.potential}: {name}" in named)


def opened_since(
    study: Scope, choice: Choice, met: Sequence[tuple[float, str]], links: Sequence[Link]
) -> tuple[str, ...]:
    """The pairs joined by a choice or a contact that no longer hold at the end."""
    joined = (name for name, label in choice.joints if _option(study, name, label).joins)
    every = dict.fromkeys((*joined, *(name for _, name in met)))
    return tuple(name for name in every if name not in held_by(study, links))


# --- what is drawn --------------------------------------------------------------------------------
def changes_of(
    study: Scope, before: Mapping[str, str], choice: Choice, way: OnTheWay
) -> tuple[Change, ...]:
    """All changes of joints, given the options that held each pair before, by name: those of a
    choice, at once, and those on the way."""
    made = [*_choice_changes(study, before, choice), *_changes_on(study, choice, way)]
    return tuple(change for change in made if change.energy > 0.0)


def cost_of_changes(
    study: Scope, before: Mapping[str, str], choice: Choice, way: OnTheWay
) -> float:
    """The total energy of changes [J]."""
    if not has_costs(study):
        return 0.0
    return math.fsum(change.energy for change in changes_of(study, before, choice, way))


def cost_of_outcome(
    study: Scope, node: Node, choice: Choice, told: Outcome, reached: Mapping[str, Any] | None
) -> float:
    """The energy of all joint changes on the way of an outcome [J], given the options that held
    when its node was first reached; reached: the record of its end, or None."""
    if not has_costs(study):
        return 0.0
    links = () if reached is None else tuple(Link(*link) for link in reached["links"])
    gone = () if reached is None else opened_since(study, choice, told.contacts, links)
    way = OnTheWay(told.contacts, tuple((told.duration, pair) for pair in gone))
    return cost_of_changes(study, held_at(study, node), choice, way)


def cost_of_choice(
    study: Scope, node: Node, choice: Choice, arrivals: Sequence[Arrival] = ()
) -> float:
    """The energy of a choice at a node as it is made [J], given several arrivals at the node, any
    of which determines the options that hold: the least of all. If none includes the potential, for
    the options when the node was first reached."""
    known = [dict(one.joints) for one in arrivals if choice.potential in one.potentials]
    ways = known or [held_at(study, node)]
    return min(cost_of_changes(study, before, choice, OnTheWay()) for before in ways)


def _choice_changes(study: Scope, before: Mapping[str, str], choice: Choice) -> Iterator[Change]:
    """The releases and locks as a choice is made."""
    for name in (name for name, label in before.items() if label == LATCHED):
        if name not in latches_of(study, choice.potential):
            latch = latches_of(study)[name]
            yield Change(0.0, name, LATCHED, latch.release, latch.power)
    for pair, label in choice.joints:
        option = _option(study, pair, label)
        if before.get(pair) != label or option.renewed:
            if pair in before:
                yield _release(study, 0.0, pair, before[pair])
            yield _hold(0.0, pair, option)


def _changes_on(study: Scope, choice: Choice, way: OnTheWay) -> Iterator[Change]:
    """The changes on the way: pairs lock by the firmest option as sensors meet; a hinge that closes
    is released, and so are pairs that others make unnecessary."""
    holding = dict(choice.joints)
    for t, pair in way.met:
        link = firmest(study, study.numbers[pair], 0)
        if link is not None:
            if pair in holding:
                yield _release(study, t, pair, holding[pair])
            yield _hold(t, pair, _option(study, pair, link.option))
            holding[pair] = link.option
    for t, pair in way.opened:
        yield _release(study, t, pair, holding[pair])


def _option(study: Scope, pair: str, label: str) -> Option:
    return study.option(study.pairs[study.numbers[pair]], label)


def _hold(t: float, pair: str, option: Option) -> Change:
    return Change(t, pair, option.label, option.energy, option.power)


def _release(study: Scope, t: float, pair: str, label: str) -> Change:
    option = _option(study, pair, label)
    return Change(t, pair, option.label, option.release, option.power)
