"""What is chosen: pairs of sensors, what holds them, and one selection at a node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from sys import intern
from typing import Any, Literal, NamedTuple, TypeAlias

from quirkpy.parts.checks import positive, share
from quirkpy.parts.part import Part, checked

#: What saves runs: see `Study.explore`.
Reduction: TypeAlias = Literal["clusters", "rigid", "symmetry", "cache"]
OnContact: TypeAlias = Literal["lock", "stop"]
#: Called now and then with how far an exploration has come; False: nothing; None: a line on a
#: terminal.
Exploring: TypeAlias = "Callable[[Count], None] | Literal[False] | None"


class SettleRule(Part):
    """When a run is over; see `Multibody.settle`: rest, duration [s], evaluations, rtol, atol."""

    rest: float = checked(share, default=1e-3, kw_only=True)
    duration: float = checked(positive, default=1e7, kw_only=True)
    evaluations: float = checked(positive, default=2e6, kw_only=True)
    rtol: float = checked(share, default=1e-8, kw_only=True)
    atol: float = checked(positive, default=1e-10, kw_only=True)


class Count(NamedTuple):
    """How far an exploration has come: nodes, edges and how many of them are rejected, nodes that
    wait; runs of now, the tasks in which workers were given them, and how long these took, all
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
    """A pair that is held together: its number, after which turn [quarter] of the second about the
    first, and how."""

    pair: int
    roll: int
    option: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One selection at a node: what each pair in range becomes, by name, and the potential."""

    joints: tuple[tuple[str, str], ...]
    potential: str

    @property
    def key(self) -> str:
        """The choice in a line of text, the same for the same choice; one string for all nodes that
        have it."""
        return intern(
            "; ".join([*(f"{pair}: {option}" for pair, option in self.joints), self.potential])
        )

    def __str__(self) -> str:
        held = ", ".join(f"{pair} {option}" for pair, option in self.joints if option != "free")
        return f"{held or 'nothing held'}, potential {self.potential}"


class Arrival(NamedTuple):
    """What holds a shape as some motion has reached it, said of the modules of its node: pairs and
    the option that holds each, by name; and the potentials that are called there as they are at the
    node."""

    joints: tuple[tuple[str, str], ...]
    potentials: tuple[str, ...]


class Carried(NamedTuple):
    """Where an edge has its outcomes from that no run of its own has found: the reductions that
    allowed it, and the node ("n0") and selection of the run that speaks for it; None where there
    was no need of any."""

    by: tuple[Reduction, ...]
    node: str | None = None
    selection: Choice | None = None

    def record(self) -> dict[str, Any]:
        """What is kept of it in files, as plain values."""
        run = self.selection
        joints, potential = (None, None) if run is None else (dict(run.joints), run.potential)
        return {"by": self.by, "node": self.node, "joints": joints, "potential": potential}
