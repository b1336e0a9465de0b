"""The cost of changing joints: the energy that taking hold and letting go draw, and for how
long."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from quirkpy.explore.model.assembly import firmest
from quirkpy.explore.model.graph import Node, Outcome
from quirkpy.explore.scope.choices import Choice
from quirkpy.explore.scope.options import Option
from quirkpy.explore.scope.scope import Scope


class Change(NamedTuple):
    """A pair that takes hold, or lets go, at a time [s]: the energy that this draws [J], and with
    which power [W]; None: at once."""

    t: float
    pair: str
    option: str
    energy: float
    power: float | None

    @property
    def lasts(self) -> float:
        """How long it draws its power [s]."""
        return 0.0 if self.power is None else self.energy / self.power


def changes_of(
    study: Scope, node: Node, choice: Choice, outcome_contacts: tuple[tuple[float, str], ...]
) -> tuple[Change, ...]:
    """All changes of joints that a choice at a node asks for, at once, and those of the contacts on
    its way, when they lock."""
    made = [
        *_choice_changes(study, node, choice),
        *_contact_changes(study, choice, outcome_contacts),
    ]
    return tuple(change for change in made if change.energy > 0.0)


def cost_of_changes(study: Scope, node: Node, choice: Choice, outcome: Outcome) -> float:
    """The energy that all changes of joints of an outcome draw [J]."""
    found = changes_of(study, node, choice, outcome.contacts)
    return math.fsum(change.energy for change in found)


def _choice_changes(study: Scope, node: Node, choice: Choice) -> Iterator[Change]:
    """What is let go, and takes hold, as a choice is made."""
    before = {study.pairs[link.pair].name: link.option for link in node.links}
    for pair, label in choice.joints:
        option = _option(study, pair, label)
        if before.get(pair) != label or option.renewed:
            if pair in before:
                yield _release(study, 0.0, pair, before[pair])
            yield _hold(0.0, pair, option)


def _contact_changes(
    study: Scope, choice: Choice, contacts: tuple[tuple[float, str], ...]
) -> Iterator[Change]:
    """What takes hold as sensors meet, by the firmest option; a hinge that closes lets go."""
    chosen = dict(choice.joints)
    for t, pair in contacts:
        link = firmest(study, study.numbers[pair], 0)
        if link is not None:
            if pair in chosen:
                yield _release(study, t, pair, chosen[pair])
            yield _hold(t, pair, _option(study, pair, link.option))


def _option(study: Scope, pair: str, label: str) -> Option:
    return study.option(study.pairs[study.numbers[pair]], label)


def _hold(t: float, pair: str, option: Option) -> Change:
    return Change(t, pair, option.label, option.energy, option.power)


def _release(study: Scope, t: float, pair: str, label: str) -> Change:
    option = _option(study, pair, label)
    return Change(t, pair, option.label, option.release, option.power)
