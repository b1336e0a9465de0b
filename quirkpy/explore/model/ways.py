"""`Way`: the motions of a choice as a tree, of which each edge that asks may see another part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from quirkpy.explore.scope.safety import is_simultaneous
from quirkpy.maths.types import Floats

T = TypeVar("T")
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Entered(Generic[T]):
    """A cone that a motion enters, by number, in which of its stretches and when [s], and what it
    comes to if that matters."""

    cone: int
    stretch: int
    t: float
    value: T


@dataclass(frozen=True, slots=True)
class Way(Generic[T]):
    """What a motion comes to, and the cones that it enters; where that is an unstable rest which is
    left, its number, those before it that are the same shape, and the motions onward."""

    value: T
    entered: tuple[Entered[T], ...] = ()
    saddle: int | None = None
    like: tuple[int, ...] = ()
    onward: tuple[Way[T], ...] = ()

    def ends(self, asked: Sequence[int] = (), left: set[int] | None = None) -> list[T]:
        """What all motions come to where some cones must stay clear, of which the first counts
        where two are entered at once; left: the rests that have been left, each shape once."""
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
        """Of some cones those that any motion enters: no other makes a difference."""
        met = {met.cone for met in self.entered}.union(
            *(way.entering(asked) for way in self.onward)
        )
        return tuple(k for k in asked if k in met)

    def map(self, tell: Callable[[T], S]) -> Way[S]:
        """The tree of ways with every end put into other words by a function."""
        entered = tuple(
            Entered(met.cone, met.stretch, met.t, tell(met.value)) for met in self.entered
        )
        onward = tuple(way.map(tell) for way in self.onward)
        return Way(tell(self.value), entered, self.saddle, self.like, onward)


class Parting(NamedTuple):
    """An unstable rest that was left: its pose, the cones that were clear until then, and whether
    whoever finds these clear has come by it."""

    pose: Floats
    clear: frozenset[int]
    sure: bool
