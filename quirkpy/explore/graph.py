"""`ReconfigurationGraph`: the shapes of a spacecraft as nodes, and what every choice makes of them as edges."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, overload

import numpy as np

from quirkpy.cached import cached_property
from quirkpy.equilibrium import Equilibrium, Mode
from quirkpy.explore import exports, routes
from quirkpy.explore import plan as answers
from quirkpy.explore.chances import Robustness, Spread
from quirkpy.explore.choices import Carried, Choice, Link
from quirkpy.explore.costs import Cost
from quirkpy.explore.leaving import Leaving
from quirkpy.explore.plan import FlightTable
from quirkpy.parts.checks import Floats
from quirkpy.parts.files import check_writable, ending_of, write_text
from quirkpy.parts.part import PartError
from quirkpy.state import State

if TYPE_CHECKING:
    from quirkpy.explore.replay import Replay
    from quirkpy.explore.robustness import Margin
    from quirkpy.explore.study import Study
    from quirkpy.views.drawing import Drawing
    from quirkpy.views.graph_picture import Colouring

Kind: TypeAlias = Literal["moved", "stayed", "rejected", "jammed", "ambiguous", "never settles", "failed"]
SHORT = 8  # letters of an id that are shown
PICTURES = (".png", ".svg", ".pdf")


@dataclass(frozen=True, eq=False)
class Node:
    """A shape: a certified equilibrium of the whole system at rest, with what holds it together.

    number: in the order in which it was found; id: a hash of its pose; links: pairs that are held; verdict, reason: of
    the equilibrium, under the potential with which it was first reached (None: at the start); energy [J], frequencies
    [rad/s] of the motions around it, slowest first.  study: that of its graph, while it is in one.
    """

    number: int
    state: State
    links: tuple[Link, ...]
    verdict: str
    reason: str
    energy: float
    frequencies: tuple[float, ...]
    potential: str | None = None
    name: str | None = None
    study: Study | None = None

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
        """Its certificate, made again when it is first asked for: why it rests there (`rest.explain()`)."""
        from quirkpy.explore.motions import resting

        return resting(self._of_graph, self)

    @property
    def _of_graph(self) -> Study:
        if self.study is None:
            raise PartError(f"{self!r} stands alone; a node of a graph knows the study that says what holds it.")
        return self.study

    @cached_property
    def key(self) -> str:
        """How it is called in the graph: "n0", "n1" ..."""
        return f"n{self.number}"

    @cached_property
    def id(self) -> str:
        """A hash of the pose and of what holds it, to the bit."""
        return node_id(self.state.r, self.state.q, self.links)

    def __repr__(self) -> str:
        called = f" {self.name!r}" if self.name else ""
        return f"Node({self.key}{called}, {self.id[:SHORT]}, {self.verdict})"


def node_id(r: Floats, q: Floats, links: tuple[Link, ...]) -> str:
    """The hash of a pose and its links."""
    text = json.dumps([sorted(links)]).encode()
    return hashlib.sha256(np.ascontiguousarray(r).tobytes() + np.ascontiguousarray(q).tobytes() + text).hexdigest()


class Outcome(NamedTuple):
    """What one run from a node came to.

    target: the node that it reached, or None; kind; reason, in a sentence; t [s], parts: when and by which parts it was
    rejected. duration [s] of the motion as it was flown; leavings: the unstable rests that it left on its way, each
    with the time that this took; switching [J]: work of exchanging joints and potential at the start, from what held
    and acted at the node when it was first reached; start_energy, end_energy [J]: potential energy once that is done,
    and at the end (None where it reaches no node); holding [W]: power that the forces state; dissipated, put_in, lost
    [J]: by dampers and stops, by loads, by joints that took hold or were put back into place; peak_speed [m/s],
    peak_load [N or N m] (None where it was not asked for); clearance [m]: the least distance of bodies that move past
    each other (None where it was not asked for, or none do); contacts: pairs that locked, and when; nudge: how the
    first unstable rest, at the start or on the way, was left, [m or rad] along which direction.
    """

    kind: Kind
    target: str | None
    reason: str
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

    @property
    def waiting(self) -> float:
        """How long it stayed near the unstable rests that it left [s]: it follows from the size of the nudge."""
        return math.fsum(leaving.waiting for leaving in self.leavings)

    @property
    def moving(self) -> float:
        """How long it moved beside that [s]: the same for every small nudge."""
        return self.duration - self.waiting


#: What an edge tells of its first outcome.
TOLD = (*Outcome._fields, "waiting", "moving")


@dataclass(frozen=True, slots=True)
class Edge:
    """A choice at a node, and all that may come of it: one outcome, or several where the start is unstable.

    Its own `kind`, `reason`, `target` and figures are those of its first outcome; "ambiguous" where outcomes differ.
    Their
    order is no matter of runs: kinds as `Kind` lists them, then what holds, where bodies stand, figures.
    robustness: what came of it when it was flown many times, if it was.  carried: the run that speaks for it, where
    that is not its own.
    """

    source: str
    selection: Choice
    outcomes: tuple[Outcome, ...]
    kind: Kind
    robustness: Robustness | None = None
    carried: Carried | None = None

    @property
    def target(self) -> str | None:
        """The node that it leads to; None where it leads nowhere, or not to one."""
        return None if self.kind == "ambiguous" else self.outcomes[0].target

    def __getattr__(self, name: str) -> Any:
        if name in TOLD:
            return getattr(self.outcomes[0], name)
        raise AttributeError(f"an Edge has no {name!r}; there are {', '.join((*TOLD, 'source', 'selection'))}")

    def __repr__(self) -> str:
        return f"Edge({self.source} -> {self.target or self.kind}: {self.selection})"


@dataclass(eq=False)
class ReconfigurationGraph:
    """Nodes by name ("n0" ...), edges in canonical order: by the number of their node, then by choice.

    near_misses: pairs of nodes that differ by little more than the tolerance of shapes, and by how much.  coverage: the
    share of all choices at the nodes found that were tried.  path: its journal, if it has one.  saved: how many edges
    needed no run of their own, by the first of the reductions that allowed it.
    """

    study: Study
    nodes: dict[str, Node]
    edges: list[Edge]
    near_misses: list[tuple[str, str, float]] = field(default_factory=list)
    choices: int = 0
    path: Path | None = None
    saved: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Any, modules: Iterable[str] = ()) -> ReconfigurationGraph:
        """The graph that a journal holds, as far as it has come; nothing is simulated."""
        from quirkpy.explore.explorer import load

        return load(path, modules)

    # --- reading ------------------------------------------------------------------------------------------------
    def __getitem__(self, key: str) -> Node:
        """A node by its number ("n0"), its name, or the beginning of its id."""
        if key in self.nodes:
            return self.nodes[key]
        found = [
            node for node in self.nodes.values() if node.name == key or (len(key) >= 4 and node.id.startswith(key))
        ]
        if len(found) == 1:
            return found[0]
        raise KeyError(f"no node is called {key!r}; there are: {', '.join(self.nodes)}")

    def name(self, key: str, name: str) -> None:
        """Give a node a name of your own."""
        node = self[key]
        if any(other.name == name and other.key != node.key for other in self.nodes.values()):
            raise PartError(f"name: another node is called {name!r} already.")
        self.nodes[node.key] = dataclasses.replace(node, name=name)

    @property
    def coverage(self) -> float:
        """The share of all choices at the nodes found that were tried."""
        return len(self.edges) / self.choices if self.choices else 1.0

    @property
    def kinds(self) -> Mapping[str, int]:
        """How many edges there are of each kind."""
        return dict(sorted(Counter(edge.kind for edge in self.edges).items()))

    def moves(self) -> Iterator[Edge]:
        """Edges that lead from one node to another, for certain."""
        return (edge for edge in self.edges if edge.kind == "moved")

    # --- answers ------------------------------------------------------------------------------------------------
    def plan(
        self, start: str, goal: str, cost: Cost = "energy", *, k: int | None = None, pareto: bool = False,
        ambiguous: bool = False,
    ) -> Any:  # fmt: skip
        """The cheapest route from one node to another, as a `Plan`.

        cost: "energy" that the spacecraft supplies, "time", "switches", "risk", or a function of an edge. k: a list
        of the k best, each through other nodes or in another order; pareto: a list of all that none beats in both
        energy and time. Edges whose outcome is not certain are left out unless asked for; rejected ones always are.
        Each step switches from what the step before has left acting, the first from what acted when its node was
        first reached. "time" is that of the motions, without the waiting near unstable rests unless the study states
        a `disturbance`. "risk" is minus the logarithm of the probability of success, at the lower end of its
        interval; edges without `robustness` are left out.
        """
        if pareto:
            return answers.pareto(self, start, goal, ambiguous)
        found = answers.plans(self, start, goal, cost, 1 if k is None else k, ambiguous)
        return found[0] if k is None else found

    def reachable(self, key: str) -> tuple[str, ...]:
        """The nodes to which moves lead from one, in order."""
        import networkx

        found = networkx.descendants(routes.cheapest(self, "switches", False), self[key].key)
        return tuple(other for other in self.nodes if other in found)

    def sinks(self) -> tuple[str, ...]:
        """The nodes that no move leaves."""
        left = {edge.source for edge in self.moves()}
        return tuple(key for key in self.nodes if key not in left)

    def components(self) -> list[tuple[str, ...]]:
        """Sets of nodes that can all be reached from each other, the largest first."""
        return answers.components(self)

    def dominators(self, start: str = "n0") -> dict[str, tuple[str, ...]]:
        """For every node that can be reached: the nodes through which every route to it passes, in order."""
        return answers.dominators(self, start)

    def without(self, *lost: str) -> ReconfigurationGraph:
        """What remains when a joint sticks or a magnet dies: the graph without the edges that need a pair, "one | two",
        an option of it, "one | two: lock", a potential, or a force."""
        return dataclasses.replace(self, edges=answers.without(self, *lost))

    def table(self, goal: str, cost: Cost = "energy") -> FlightTable:
        """The look-up that flies: for every node the selection that leads on to a goal."""
        return answers.table(self, goal, cost)

    def replay(self, plan: Any) -> Replay:
        """Fly a plan in one go: every step begins in the state in which the one before has ended; see `Replay`."""
        from quirkpy.explore.replay import replay

        return replay(self, plan)

    # --- what may differ in flight ------------------------------------------------------------------------------
    def robustness(
        self, edge: Edge, samples: int = 1000, *, spread: Spread | None = None, seed: int = 0,
        workers: int | Executor = 1, target: str | None = None, within: float = 1e-2,
    ) -> Robustness:  # fmt: skip
        """Fly an edge many times, each with a start, masses, forces and hinges of its own, and count what comes of it.

        The answer stays with the edge, here and in the journal.  spread: see `Spread`; seed: the same samples again,
        whatever the number of workers.  target: the node that counts as success (default: that of the edge).  within
        [m or rad]: where nodes hold the same pairs, and something can move, a sample belongs to the nearest of them, no
        further away than this.
        """
        from quirkpy.explore.robustness import flown

        return flown(self, edge, samples, Spread() if spread is None else spread, seed, workers, target, within)

    def margins(
        self, edge: Edge, reach: Spread | None = None, *, resolution: float = 1e-3, within: float = 1e-2
    ) -> tuple[Margin, ...]:
        """How far each parameter alone may move, either way, before something else comes of an edge.

        reach: how far each is moved at most; zero leaves it out.  resolution: the share of that to which a change is
        found, by steps that double and then by halves: what changes and changes back within one step is not seen.
        """
        from quirkpy.explore.robustness import FAR, margins

        return margins(self, edge, FAR if reach is None else reach, resolution, within)

    def animate(self, plan: Any, **options: Any) -> None:
        """Fly a plan and play it in a window; options are those of `Trajectory.animate`."""
        self.replay(plan).animate(**options)

    # --- as others know it --------------------------------------------------------------------------------------
    def to_networkx(self) -> Any:
        """A `networkx.MultiDiGraph`: nodes "n0" ... with their figures, edges keyed by their selection.

        Figures that are not known are left out.  An ambiguous edge leads to each of its targets, marked so; edges that
        lead nowhere are left out, and stand in `edges`.
        """
        return exports.to_networkx(self)

    def save(self, path: Any) -> None:
        """Write the graph, by the end of the name: .graphml, .dot or .json for other programs, .txt for people, or a
        picture as .png, .svg or .pdf."""
        place = check_writable(ending_of(path, "save", ENDINGS), "save")
        if place.suffix in PICTURES:
            self.picture(place)
        else:
            write_text(place, TEXTS[place.suffix](self), "save")

    def picture(self, path: Any = None, *, colour: Colouring | None = None, of: Sequence[str] | None = None) -> Drawing:
        """Every shape as one sees it, and an arrow for the motions from one to another: ``graph.picture("pair.svg")``.

        colour: what colours the arrows: "drive", the potential that does it quickest; "energy", the least that the
        spacecraft supplies; or "time".  of: names or keys of the shapes to be shown; by itself all, and where these are
        more than a page has room for, those that the fewest moves from the start lead to.
        """
        from quirkpy.views import graph_picture

        return graph_picture.drawn(self, colour, of).saved(path)

    def to_json(self) -> str:
        """All nodes and edges, floats exactly: the same text for the same graph, however it was explored."""
        nodes = {key: node_record(node) | {"id": node.id, "name": node.name} for key, node in self.nodes.items()}
        edges = [
            {"source": e.source, "joints": dict(e.selection.joints), "potential": e.selection.potential, "kind": e.kind,
             "outcomes": [outcome._asdict() for outcome in e.outcomes],
             "carried": None if e.carried is None else e.carried.record()}
            | ({"robustness": e.robustness.record()} if e.robustness else {})
            for e in self.edges
        ]  # fmt: skip
        return json.dumps({"study": self.study.digest, "nodes": nodes, "edges": edges}, indent=1) + "\n"

    @overload
    def report(self) -> str: ...

    @overload
    def report(self, path: Any, *, side: Any = None) -> None: ...

    def report(self, path: Any = None, *, side: Any = None) -> str | None:
        """Nodes, edges and rejections as plain text; with a path the page "x.html", to be opened in any browser.

        The page shows the motions of the edges that lead somewhere, which are run again for it.  side: a file beside
        the page, "x.js", for those that failed and those for which it has no room; the page reads it when asked to.
        """
        from quirkpy.views import graphs

        if path is None:
            return graphs.text(self)
        from quirkpy.explore.motions import frames_of_edges, in_order
        from quirkpy.views import progress, report, report_graph

        report.check(path, side)
        tolerances = report.tolerances_of(self.study.system.parts)
        rests = {key: node.rest for key, node in self.nodes.items()}
        moving = in_order(self, side is not None)
        motions = progress.counted(frames_of_edges(self, moving, *tolerances), len(moving))
        words = graphs.text(self)
        data, beside = report_graph.graph_page(self, rests, motions, words, report.beside(path, side))
        if side is not None:  # first: the page speaks of it
            report_graph.save_beside(side, beside)
        report.save(path, data, words)
        return None

    def _repr_html_(self) -> str:
        from quirkpy.views import notebook

        return notebook.of_graph(self)

    def __repr__(self) -> str:
        kinds = ", ".join(f"{n} {kind}" for kind, n in self.kinds.items())
        return f"ReconfigurationGraph({len(self.nodes)} nodes, {len(self.edges)} edges: {kinds or 'none'})"


#: How a graph is written as a text, by the end of the name; all ends that `save` knows.
TEXTS: dict[str, Callable[[ReconfigurationGraph], str]] = {
    ".graphml": exports.graphml, ".dot": exports.dot, ".json": ReconfigurationGraph.to_json,
    ".txt": lambda graph: graph.report() + "\n",
}  # fmt: skip
ENDINGS = (*TEXTS, *PICTURES)


def node_record(node: Node) -> dict[str, Any]:
    """What a journal keeps of a node: plain values, floats exactly."""
    return {
        "r": node.state.r.tolist(), "q": node.state.q.tolist(), "links": [list(link) for link in node.links],
        "verdict": node.verdict, "reason": node.reason, "energy": node.energy,
        "frequencies": list(node.frequencies), "potential": node.potential,
    }  # fmt: skip


def node_of(record: Mapping[str, Any], number: int, bodies: tuple[str, ...]) -> Node:
    """The node that a record describes."""
    n = len(bodies)
    r, q = np.array(record["r"], dtype=float).reshape(n, 3), np.array(record["q"], dtype=float).reshape(n, 4)
    links = tuple(Link(*link) for link in record["links"])
    return Node(
        number, rest_at(bodies, r, q), links, record["verdict"], record["reason"], record["energy"],
        tuple(record["frequencies"]), record["potential"],
    )  # fmt: skip


def rest_at(bodies: tuple[str, ...], r: Floats, q: Floats) -> State:
    """A pose at rest, at t = 0."""
    still = np.zeros((len(bodies), 3))
    return State(0.0, bodies, r, q, still, still, (), np.zeros(0, dtype=np.int64))
