"""`Way`: the motions of a choice as a tree; different edges may use different parts of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from quirkpy.explore.scope.safety import is_simultaneous
from quirkpy.mechanics.state import State

T = TypeVar("T")
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Entered(Generic[T]):
    """The entry of a motion into a cone, given by its number: in which of its stretches and when
    [s], and the outcome if this cone must stay clear."""

    cone: int
    stretch: int
    t: float
    value: T


@dataclass(frozen=True, slots=True)
class Way(Generic[T]):
    """The outcome of a motion, and the cones that it enters; if it is an unstable equilibrium that
    is left, the number of that, those before it of the same shape, and the motions from there."""

    value: T
    entered: tuple[Entered[T], ...] = ()
    saddle: int | None = None
    like: tuple[int, ...] = ()
    onward: tuple[Way[T], ...] = ()

    def ends(self, asked: Sequence[int] = (), left: set[int] | None = None) -> list[T]:
        """The outcomes of all motions if some cones must stay clear, of which the first counts
        where two are entered at once; left: the equilibria that have been left, each shape once."""
        left = set() if left is None else left
        met = [
            (met.stretch, met.t, asked.index(met.cone), met.value)
            for met in self.entered
            if met.cone in asked
        ]
        if met:
            stretch, t = min(one[:2] for one in met)
            return [
                min(
                    (one for one in met if one[0] == stretch and is_simultaneous(t, one[1])),
                    key=lambda one: one[2],
                )[3]
            ]
        if self.saddle is None or any(k in left for k in self.like):
            return [self.value]
        left.add(self.saddle)
        return [end for way in self.onward for end in way.ends(asked, left)]

    def entering(self, asked: Sequence[int]) -> tuple[int, ...]:
        """The cones, among some, that any motion enters: the others have no effect."""
        met = {met.cone for met in self.entered}.union(
            *(way.entering(asked) for way in self.onward)
        )
        return tuple(k for k in asked if k in met)

    def map(self, tell: Callable[[T], S]) -> Way[S]:
        """The tree with a function applied to every outcome."""
        entered = tuple(
            Entered(met.cone, met.stretch, met.t, tell(met.value)) for met in self.entered
        )
        onward = tuple(way.map(tell) for way in self.onward)
        return Way(tell(self.value), entered, self.saddle, self.like, onward)


class Parting(NamedTuple):
    """An unstable equilibrium that was left: its state, the cones that were clear until then, and
    whether every motion for which these are clear has passed it."""

    state: State
    clear: frozenset[int]
    sure: bool
