"""Choices: pairs of sensors, the options that hold them, and one selection at a node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from sys import intern
from typing import Any, Literal, NamedTuple, TypeAlias

from quirkpy.parts.checks import positive, share
from quirkpy.parts.part import Part, checked

#: Reductions of the number of runs: see `Study.explore`.
Reduction: TypeAlias = Literal["clusters", "rigid", "symmetry", "cache"]
OnContact: TypeAlias = Literal["lock", "stop"]
#: A function called now and then with the progress of an exploration; False: no output; None: a
#: line on a terminal.
Exploring: TypeAlias = "Callable[[Count], None] | Literal[False] | None"


class SettleRule(Part):
    """The settings for the end of a run; see `Multibody.settle`: rest, duration [s], evaluations,
    rtol, atol."""

    rest: float = checked(share, default=1e-3, kw_only=True)
    duration: float = checked(positive, default=1e7, kw_only=True)
    evaluations: float = checked(positive, default=2e6, kw_only=True)
    rtol: float = checked(share, default=1e-8, kw_only=True)
    atol: float = checked(positive, default=1e-10, kw_only=True)


class Count(NamedTuple):
    """The progress of an exploration: nodes, edges and how many of them are rejected, nodes that
    wait; runs of this session, the tasks in which workers computed them, and their time, all
    workers together [s]."""

    nodes: int
    edges: int
    rejected: int
    waiting: int
    runs: int
    tasks: int = 0
    seconds: float = 0.0


class Pair(NamedTuple):
    """Two sensors that may meet, by their numbers; the name of the pair."""

    one: int
    two: int
    name: str


class Link(NamedTuple):
    """A pair that is held together: its number, the rotation of the second about the first [quarter
    turns], and the option."""

    pair: int
    roll: int
    option: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One selection at a node: the option of each pair in range, by name, and the potential."""

    joints: tuple[tuple[str, str], ...]
    potential: str

    @property
    def key(self) -> str:
        """The choice as a line of text, equal for equal choices; one string object for all nodes
        that have it."""
        return intern(
            "; ".join([*(f"{pair}: {option}" for pair, option in self.joints), self.potential])
        )

    @property
    def held(self) -> str:
        """The pairs that it holds, each with its option, as words; empty where it holds none."""
        return ", ".join(f"{pair} {option}" for pair, option in self.joints if option != "free")

    def __str__(self) -> str:
        return f"{self.held or 'nothing held'}, potential {self.potential}"


class Arrival(NamedTuple):
    """The parts that hold a shape when some motion has reached it, in terms of the modules of its
    node: pairs and the option that holds each, by name; and the potentials that have equal names
    there and at the node."""

    joints: tuple[tuple[str, str], ...]
    potentials: tuple[str, ...]


class Carried(NamedTuple):
    """The origin of an edge without a run of its own: the reductions that allowed it, and the node
    ("n0") and selection of the run that represents it; None where no run was needed."""

    by: tuple[Reduction, ...]
    node: str | None = None
    selection: Choice | None = None

    def record(self) -> dict[str, Any]:
        """The record for files, as plain values."""
        run = self.selection
        joints, potential = (None, None) if run is None else (dict(run.joints), run.potential)
        return {"by": self.by, "node": self.node, "joints": joints, "potential": potential}
