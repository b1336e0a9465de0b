"""The selections that are tried: the options of all pairs in range must satisfy the rules of the
study."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from quirkpy.parts.part import Part


class Chosen(NamedTuple):
    """The option chosen for one pair: the bodies that it joins ("ground" for fixed ones), the label
    of its option, and the number of freedoms between them: none for a lock, one for a hinge, six if
    free."""

    one: str
    two: str
    label: str
    freedoms: int


class Choosing(Part):
    """Base of the rules for selections.

    A subclass says whether a selection may be tried::

        class AtMostOneFree(qp.Choosing):
            def allows(self, chosen, bodies):
                return sum(pair.freedoms == 6 for pair in chosen) <= 1
    """

    @abstractmethod
    def allows(self, chosen: Sequence[Chosen], bodies: Sequence[str]) -> bool:
        """Whether the options of all pairs may be tried; bodies: names of all, "ground" among them
        if any is fixed."""


class OneHinge(Choosing):
    """Exactly one pair is held and movable; locks make two rigid clusters of all bodies, and it
    connects these.

    Of the selections with the same two clusters, only that with every lock within them is tried."""

    def allows(self, chosen: Sequence[Chosen], bodies: Sequence[str]) -> bool:
        hinges = [pair for pair in chosen if 0 < pair.freedoms < 6]
        if len(hinges) != 1:
            return False
        of = clusters(bodies, ((pair.one, pair.two) for pair in chosen if pair.freedoms == 0))
        across = [of[pair.one] != of[pair.two] for pair in chosen if pair.freedoms > 0]
        return len(set(of.values())) == 2 and all(across)


def clusters(bodies: Sequence[str], locks: Iterable[tuple[str, str]]) -> dict[str, str]:
    """One body of each cluster made by locks between bodies, for all of its bodies."""
    of = {name: name for name in bodies}
    for one, two in locks:
        old, new = of[two], of[one]
        if old != new:
            of = {name: new if mine == old else mine for name, mine in of.items()}
    return of
