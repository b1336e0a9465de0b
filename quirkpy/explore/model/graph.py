"""`Graph`: the shapes of a spacecraft as nodes, and the results of every choice at them as edges:
plain records."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from quirkpy import doors
from quirkpy.explore.model.assembly import resting
from quirkpy.explore.model.chances import Robustness
from quirkpy.explore.model.extent import MassProperties, mass_properties, span
from quirkpy.explore.model.leaving import Leaving
from quirkpy.explore.scope.choices import Arrival, Carried, Choice, Link
from quirkpy.explore.scope.scope import Scope
from quirkpy.kernels.base.states import NO_TAIL
from quirkpy.maths.cached import cached_property
from quirkpy.maths.types import Floats
from quirkpy.mechanics.state import State
from quirkpy.parts.part import PartError, UnknownName
from quirkpy.rest.equilibrium import Equilibrium, Mode
from quirkpy.rest.reason import Reason, told

Kind: TypeAlias = Literal[
    "moved", "stayed", "rejected", "jammed", "ambiguous", "never settles", "failed"
]
SHORT = 8  # letters of an id that are displayed


@dataclass(frozen=True, eq=False)
class Node:
    """A shape: a certified equilibrium of the whole system, with the links that hold it.

    number: in the order in which it was found; id: a hash of its pose; links: pairs that are held;
    verdict, reason: of the equilibrium, under the potential with which it was first reached (None:
    at the start); energy [J], frequencies [rad/s] of the motions around it, slowest first. study:
    that of its graph, while it is in one."""

    number: int
    state: State
    links: tuple[Link, ...]
    verdict: str
    reason: Reason
    energy: float
    frequencies: tuple[float, ...]
    potential: str | None = None
    name: str | None = None
    study: Scope | None = None

    @property
    def joints(self) -> tuple[tuple[str, str], ...]:
        """The pairs that are held, and the option that holds each, by name."""
        return tuple((self._of_graph.pairs[link.pair].name, link.option) for link in self.links)

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The motions around it, slowest first."""
        return self.rest.modes

    @cached_property
    def rest(self) -> Equilibrium:
        """The certificate of the node, recomputed at the first access; `rest.explain()` says why
        the node is at rest."""
        return resting(self._of_graph, self.state, self.links, self.potential)

    @cached_property
    def mass_properties(self) -> MassProperties:
        """Mass, centre, inertia and principal axes of the whole, fixed bodies included."""
        return mass_properties(self._of_graph.system, self.state)

    @cached_property
    def span(self) -> float:
        """The longest distance between two points of the whole [m]."""
        return span(self._of_graph.system, self.state)

    @property
    def _of_graph(self) -> Scope:
        if self.study is None:
            raise PartError(
                f"{self!r} stands alone; a node of a graph knows the study that says what holds "
                "it.",
                code="together",
            )
        return self.study

    @cached_property
    def key(self) -> str:
        """The name of the node in the graph: "n0", "n1" ..."""
        return f"n{self.number}"

    @cached_property
    def id(self) -> str:
        """A hash of the pose, of turns, of how bodies are bent and of the links, to the bit."""
        return node_id(self.state, self.links)

    def __str__(self) -> str:
        return doors.listings.of_node(self).text()

    def _repr_html_(self) -> str:
        return doors.notebook.of_node(self)

    def __repr__(self) -> str:
        called = f" {self.name!r}" if self.name else ""
        return f"Node({self.key}{called}, {self.id[:SHORT]}, {self.verdict})"


def node_id(state: State, links: tuple[Link, ...]) -> str:
    """The hash of a pose, its whole turns, if there are any, how bodies are bent, and its links."""
    turns = [turns_of(state)] if state.windings.any() else []
    text = json.dumps([sorted(links), *turns]).encode()
    arrays = (np.ascontiguousarray(some).tobytes() for some in (state.r, state.q, state.further))
    return hashlib.sha256(b"".join(arrays) + text).hexdigest()


def turns_of(state: State) -> dict[str, int]:
    """The whole turns of the state of a node, by the name of the coordinate."""
    return dict(zip(state.joints, state.windings.tolist(), strict=True))


class Outcome(NamedTuple):
    """The outcome of one run from a node.

    target: the node that it reached, or None; kind; reason, in a sentence; t [s], parts: when and
    because of which parts it was rejected. duration [s] of the simulated motion; leavings: the
    unstable equilibria that it left on its way, each with the time that this took; switching [J]:
    work of exchanging joints and potential at the start, relative to those at the node when it was
    first reached; start_energy, end_energy [J]: potential energy after that, and at the end (None
    where it reaches no node); holding [W]: holding power of the forces; changing [J]: energy for
    locking and releasing joints, at the start and at contacts; dissipated, put_in, lost [J]: by
    dampers and stops, by loads, by joints that became active or were projected; peak_speed [m/s],
    peak_load [N or N m] (None where it was not computed); clearance [m]: the least distance of
    bodies that move past each other (None where it was not computed, or none do); contacts: pairs
    that locked, and when; nudge: the displacement from the first unstable equilibrium, at the start
    or on the way, [m or rad], and along which direction."""

    kind: Kind
    target: str | None
    reason: Reason
    duration: float = 0.0
    switching: float = 0.0
    holding: float = 0.0
    dissipated: float = 0.0
    put_in: float = 0.0
    lost: float = 0.0
    peak_speed: float = 0.0
    peak_load: float | None = None
    clearance: float | None = None
    contacts: tuple[tuple[float, str], ...] = ()
    t: float | None = None
    parts: tuple[str, ...] = ()
    nudge: tuple[float, int] | None = None
    evaluations: int = 0
    start_energy: float | None = None
    end_energy: float | None = None
    leavings: tuple[Leaving, ...] = ()
    changing: float = 0.0

    @property
    def waiting(self) -> float:
        """The time spent near the unstable equilibria that it left [s]: it depends on the size of
        the displacement."""
        return math.fsum(leaving.waiting for leaving in self.leavings)

    @property
    def moving(self) -> float:
        """The remaining time of motion [s]: equal for all small displacements."""
        return self.duration - self.waiting


#: The attributes that an edge takes from its first outcome.
TOLD = (*Outcome._fields, "waiting", "moving")


@dataclass(frozen=True, slots=True)
class Edge:
    """A choice at a node, and all of its outcomes: one, or several where the start is unstable.

    Its own `kind`, `reason`, `target` and figures are those of its first outcome; "ambiguous" where
    outcomes differ. The order of outcomes is canonical: by kind, as `Kind` lists them, then by
    links, poses, figures. robustness: the results of many perturbed simulations, if there are any.
    carried: the run that represents it, where that is not its own. arrivals: where options define
    costs, for each outcome the options that hold its target at that arrival, in all ways in which
    interchangeable modules may be mapped to those of the node."""

    source: str
    selection: Choice
    outcomes: tuple[Outcome, ...]
    kind: Kind
    robustness: Robustness | None = None
    carried: Carried | None = None
    arrivals: tuple[tuple[Arrival, ...], ...] = ()

    def arrival(self, outcome: Outcome) -> tuple[Arrival, ...]:
        """The options that hold the target of one of its outcomes; empty where that is not
        known."""
        known = zip(self.outcomes, self.arrivals)
        return next((ways for told, ways in known if told is outcome), ())

    @property
    def target(self) -> str | None:
        """The node that it leads to; None where it leads to none, or not to a unique one."""
        return None if self.kind == "ambiguous" else self.outcomes[0].target

    def __getattr__(self, name: str) -> Any:
        if name in TOLD:
            return getattr(self.outcomes[0], name)
        raise AttributeError(
            f"an Edge has no {name!r}; there are {', '.join((*TOLD, 'source', 'selection'))}"
        )

    def __str__(self) -> str:
        return doors.listings.of_edge(self).text()

    def _repr_html_(self) -> str:
        return doors.listings.of_edge(self).html()

    def __repr__(self) -> str:
        return f"Edge({self.source} -> {self.target or self.kind}: {self.selection})"


@dataclass(eq=False)
class Graph:
    """Nodes by name ("n0" ...) and edges in canonical order; see `ReconfigurationGraph`."""

    study: Scope
    nodes: dict[str, Node]
    edges: list[Edge]
    near_misses: list[tuple[str, str, float]] = field(default_factory=list)
    choices: int = 0
    path: Path | None = None
    saved: Mapping[str, int] = field(default_factory=dict)

    # --- reading ----------------------------------------------------------------------------------
    def __getitem__(self, key: str | Node) -> Node:
        """A node by its key ("n0"), its name, or the beginning of its id; or the one of the same id
        as a node."""
        name = key.id if isinstance(key, Node) else str(key)
        if name in self.nodes:
            return self.nodes[name]
        found = [
            node
            for node in self.nodes.values()
            if node.name == name or (len(name) >= 4 and node.id.startswith(name))
        ]
        if len(found) == 1:
            return found[0]
        raise UnknownName(f"no node is called {name!r}; there are: {', '.join(self.nodes)}.")

    def _ipython_key_completions_(self) -> list[str]:
        """The keys that `graph[...]` accepts."""
        named = [node.name for node in self.nodes.values() if node.name is not None]
        return list(dict.fromkeys((*self.nodes, *named)))

    def name(self, key: str, name: str) -> None:
        """Give a node a name."""
        node = self[key]
        if any(other.name == name and other.key != node.key for other in self.nodes.values()):
            raise PartError(f"name: another node is called {name!r} already.", code="name")
        self.nodes[node.key] = dataclasses.replace(node, name=name)

    @property
    def coverage(self) -> float:
        """The share of all choices at the nodes found that were tried."""
        return len(self.edges) / self.choices if self.choices else 1.0

    @property
    def kinds(self) -> Mapping[str, int]:
        """The number of edges of each kind."""
        return dict(sorted(Counter(edge.kind for edge in self.edges).items()))

    def moves(self) -> Iterator[Edge]:
        """Edges that lead from one node to another with certainty."""
        return (edge for edge in self.edges if edge.kind == "moved")


def node_record(node: Node) -> dict[str, Any]:
    """The record of a node for a journal: plain values, floats exactly."""
    more = {"further": node.state.further.tolist(), "turns": turns_of(node.state)}
    return {name: some for name, some in more.items() if some} | {
        "r": node.state.r.tolist(), "q": node.state.q.tolist(),
        "links": [list(link) for link in node.links], "verdict": node.verdict,
        "reason": node.reason, "energy": node.energy, "frequencies": list(node.frequencies),
        "potential": node.potential,
    }  # fmt: skip


def node_of(record: Mapping[str, Any], number: int, bodies: tuple[str, ...]) -> Node:
    """The node of a record."""
    n = len(bodies)
    r, q = (
        np.array(record["r"], dtype=float).reshape(n, 3),
        np.array(record["q"], dtype=float).reshape(n, 4),
    )
    links = tuple(Link(*link) for link in record["links"])
    further, turns = np.array(record.get("further", ()), dtype=float), record.get("turns", {})
    return Node(
        number, rest_at(bodies, r, q, further, turns), links,
        record["verdict"], told(record["reason"]),
        record["energy"],
        tuple(record["frequencies"]), record["potential"],
    )  # fmt: skip


def rest_at(
    bodies: tuple[str, ...], r: Floats, q: Floats, further: Floats = NO_TAIL,
    turns: Mapping[str, int] = MappingProxyType({}),
) -> State:  # fmt: skip
    """A pose at rest, at t = 0; further: the tail of the state; turns: whole turns of angles, by
    the name of the coordinate."""
    still, windings = np.zeros((len(bodies), 3)), np.array([*turns.values()], dtype=np.int64)
    return State(0.0, bodies, r, q, still, still, tuple(turns), windings, further=further)


def shape_of(study: Scope, state: State) -> State:
    """A state as that of a node: its pose at rest, with the whole turns that anything feels."""
    return rest_at(state.bodies, state.r, state.q, state.further, study.turns.of(state))
