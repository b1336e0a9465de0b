"""`ReconfigurationGraph`: the shapes of a spacecraft as nodes, and the results of every choice at
them as edges."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from quirkpy import doors
from quirkpy.explore.answers import asking, exports, routes
from quirkpy.explore.answers import plan as answers
from quirkpy.explore.answers.asking import GraphComparison
from quirkpy.explore.answers.motions import frames_of_edges, in_order
from quirkpy.explore.answers.one_run import OneRun, one_run
from quirkpy.explore.answers.plan import FlightTable, Plan
from quirkpy.explore.answers.replay import Replay, replay
from quirkpy.explore.answers.robustness import FAR, Margin, margins, sample_edge
from quirkpy.explore.explorer import load
from quirkpy.explore.model.chances import Robustness, Spread
from quirkpy.explore.model.costs import Cost
from quirkpy.explore.model.graph import Edge, Graph, Node, node_record
from quirkpy.explore.union import unite
from quirkpy.parts.files import check_writable, ending_of, write_text
from quirkpy.parts.part import PartError

if TYPE_CHECKING:
    from quirkpy.doors import Colouring, Drawing, Live

PICTURES = (".png", ".svg", ".pdf")


@dataclass(eq=False)
class ReconfigurationGraph(Graph):
    """Nodes by name ("n0" ...), edges in canonical order: by the number of their node, then by
    choice.

    near_misses: pairs of nodes that differ by little more than the tolerance of shapes, and by how
    much.  coverage: the share of all choices at the nodes found that were tried.  path: its
    journal, if it has one.  saved: how many edges needed no run of their own, by the first of the
    reductions that allowed it."""

    @classmethod
    def load(cls, path: Any, modules: Iterable[str] = ()) -> ReconfigurationGraph:
        """The graph in a journal, as far as it has been explored; nothing is simulated."""
        return cls.of(load(path, modules))

    @classmethod
    def merge(
        cls, paths: Sequence[Any], out: Any, modules: Iterable[str] = ()
    ) -> ReconfigurationGraph:
        """Write all runs of several journals of one study into a new one, and load it: those of
        different machines, budgets or goals.

        Journals of other studies are refused. What none of them has flown is left for `explore`,
        which goes on from the new one; damaged runs are left out."""
        unite(paths, out, modules)
        return cls.load(out, modules)

    @classmethod
    def of(cls, graph: Graph) -> ReconfigurationGraph:
        """The graph of the results of an exploration."""
        return cls(**vars(graph))

    # --- answers ----------------------------------------------------------------------------------
    def plan(
        self, start: str | Node, goal: str | Node | None = None, cost: Cost = "energy", *,
        where: Callable[[Node], bool] | None = None, k: int | None = None,
        pareto: bool = False, ambiguous: bool = False,
    ) -> Any:  # fmt: skip
        """The cheapest route from one node to another, or to any of which a condition is true,
        ``where=lambda node: node.span > 0.3``, as a `Plan`.

        cost: "energy" that the spacecraft supplies, "time", "switches", "risk", or a function of an
        edge. k: a list of the k best, each through other nodes or in another order; pareto: a list
        of all that none beats in both energy and time. Edges whose outcome is not certain are left
        out unless asked for; rejected ones always are.  Each step switches from what the step
        before has left acting, the first from what acted when its node was first reached. "time" is
        that of the motions, without the waiting near unstable rests unless the study states a
        `disturbance`. "risk" is minus the logarithm of the probability of success, at the lower end
        of its interval; edges without `robustness` are left out."""
        many = 1 if k is None else k
        if goal is not None and where is None:
            if pareto:
                return answers.pareto(self, start, goal, ambiguous)
            found = answers.plans(self, start, goal, cost, many, ambiguous)
        elif goal is None and where is not None and not pareto:
            found = asking.plans_where(self, start, where, cost, many, ambiguous)
        else:
            raise PartError("plan: give a goal, or where= (and not pareto=) for any of several.")
        return found[0] if k is None else found

    def nodes_where(self, condition: Callable[[Node], bool]) -> tuple[str, ...]:
        """The nodes of which a condition is true, in order:
        ``graph.nodes_where(lambda node: node.verdict == "stable")``."""
        return asking.nodes_where(self, condition)

    def furthest(self, start: str | Node = "n0", cost: Cost = "energy") -> Plan:
        """The cheapest `Plan` to the node that costs most to reach."""
        return asking.furthest(self, start, cost)

    def compare(self, other: ReconfigurationGraph) -> GraphComparison:
        """Compare this graph with another of the same bodies: shapes of both, shapes of one alone,
        and selections with different results; see `GraphComparison`."""
        return asking.compare(self, other)

    def frames(self) -> tuple[Any, Any]:
        """All nodes, and all edges that lead to nodes, as two DataFrames of pandas."""
        return (
            doors.csv.data_frame(asking.columns_of_nodes(self)),
            doors.csv.data_frame(asking.columns_of_edges(self)),
        )

    def reachable(self, key: str | Node) -> tuple[str, ...]:
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

    def dominators(self, start: str | Node = "n0") -> dict[str, tuple[str, ...]]:
        """For every node that can be reached: the nodes through which every route to it passes, in
        order."""
        return answers.dominators(self, start)

    def without(self, *lost: str) -> ReconfigurationGraph:
        """The graph that remains when a joint sticks or a magnet fails: without the edges that need
        a pair, "one | two", an option of it, "one | two: lock", a potential, or a force."""
        return dataclasses.replace(self, edges=answers.without(self, *lost))

    def table(self, goal: str | Node, cost: Cost = "energy") -> FlightTable:
        """The flight table: for every node the selection that leads towards a goal."""
        return answers.table(self, goal, cost)

    def replay(self, plan: Any) -> Replay:
        """Fly a plan in one run: every step begins in the final state of the step before; see
        `Replay`."""
        return replay(self, plan)

    def one_run(self, plan: Any) -> OneRun:
        """A plan, or a `Replay` of it, as one system and its switches, to be simulated with more
        aboard; see `OneRun`."""
        flown = plan if isinstance(plan, Replay) else self.replay(plan)
        return one_run(self.study, flown)

    # --- what may differ in flight ----------------------------------------------------------------
    def robustness(
        self, edge: Edge, samples: int = 1000, *, spread: Spread | None = None, seed: int = 0,
        workers: int | Executor = 1, target: str | None = None, within: float = 1e-2,
    ) -> Robustness:  # fmt: skip
        """Fly an edge many times, each with a start, masses, forces and hinges of its own, and
        count what comes of it.

        The answer stays with the edge, here and in the journal.  spread: see `Spread`; seed: the
        same samples again, whatever the number of workers.  target: the node that counts as success
        (default: that of the edge).  within [m or rad]: where nodes hold the same pairs, and
        something can move, a sample belongs to the nearest of them, no further away than this."""
        return sample_edge(
            self,
            edge,
            samples,
            Spread() if spread is None else spread,
            seed,
            workers,
            target,
            within,
        )

    def margins(
        self,
        edge: Edge,
        reach: Spread | None = None,
        *,
        resolution: float = 1e-3,
        within: float = 1e-2,
    ) -> tuple[Margin, ...]:
        """How far each parameter alone may move, either way, before something else comes of an
        edge.

        reach: how far each is moved at most; zero leaves it out.  resolution: the share of that to
        which a change is found, by steps that double and then by halves: what changes and changes
        back within one step is not seen."""
        return margins(self, edge, FAR if reach is None else reach, resolution, within)

    def show(
        self, *, browser: bool = True, port: int | None = None, patience: float = 60.0,
        wait: bool | None = None,
    ) -> Live:  # fmt: skip
        """Open the page of the graph in the browser, where any choice at any shape can be flown and
        watched, also those that were not tried; these become known to the page, not to the journal.
        Options are those of `Multibody.show`."""
        return doors.server.show(
            lambda: doors.live.StudyPage(self.study, self), browser, port, patience, wait
        )

    def animate(self, plan: Any, **options: Any) -> None:
        """Fly a plan and play it in a window; options are those of `Trajectory.animate`."""
        self.replay(plan).animate(**options)

    # --- as others know it ------------------------------------------------------------------------
    def to_networkx(self) -> Any:
        """A `networkx.MultiDiGraph`: nodes "n0" ... with their figures, edges keyed by their
        selection.

        Figures that are not known are left out.  An ambiguous edge leads to each of its targets,
        marked so; edges that lead nowhere are left out, and stand in `edges`."""
        return exports.to_networkx(self)

    def save(self, path: Any) -> None:
        """Write the graph, by the end of the name: .graphml, .dot or .json for other programs, .txt
        for people, or a picture as .png, .svg or .pdf."""
        place = check_writable(ending_of(path, "save", ENDINGS), "save")
        if place.suffix in PICTURES:
            self.picture(place)
        else:
            write_text(place, TEXTS[place.suffix](self), "save")

    def picture(
        self, path: Any = None, *, colour: Colouring | None = None, of: Sequence[str] | None = None
    ) -> Drawing:
        """A picture of every shape, with arrows for the motions from one to another:
        ``graph.picture("pair.svg")``.

        colour: what the colours of arrows mean: "drive", the potential of the quickest motion;
        "energy", the least energy that the spacecraft supplies; or "time". of: names or keys of the
        shapes shown; by default all, and if these are too many for one page, those that need the
        fewest moves from the start."""
        return doors.graph_picture.draw(self, colour, of).save_to(path)

    def to_json(self) -> str:
        """All nodes and edges with exact floats: the same text for the same graph, however it was
        explored."""
        nodes = {
            key: node_record(node) | {"id": node.id, "name": node.name}
            for key, node in self.nodes.items()
        }
        edges = [
            {
                "source": e.source,
                "joints": dict(e.selection.joints),
                "potential": e.selection.potential,
                "kind": e.kind,
                "outcomes": [outcome._asdict() for outcome in e.outcomes],
                "carried": None if e.carried is None else e.carried.record(),
            }
            | ({"robustness": e.robustness.record()} if e.robustness else {})
            for e in self.edges
        ]
        return (
            json.dumps({"study": self.study.digest, "nodes": nodes, "edges": edges}, indent=1)
            + "\n"
        )

    @overload
    def report(self) -> str: ...

    @overload
    def report(self, path: Any, *, side: Any = None) -> None: ...

    def report(self, path: Any = None, *, side: Any = None) -> str | None:
        """Nodes, edges and rejections as plain text; with a path the page "x.html", to be opened in
        any browser.

        The page shows the motions of the edges that lead somewhere, which are run again for it.
        side: a file beside the page, "x.js", for those that failed and those for which it has no
        room; the page reads it when asked to."""
        if path is None:
            return doors.graphs.text(self)
        doors.report.check(path, side)
        tolerances = doors.report.tolerances_of(self.study.system.parts)
        rests = {key: node.rest for key, node in self.nodes.items()}
        moving = in_order(self, side is not None)
        motions = doors.progress.count_items(
            frames_of_edges(self, moving, *tolerances), len(moving)
        )
        words = doors.graphs.text(self)
        data, beside = doors.report_graph.graph_page(
            self, rests, motions, words, doors.report.side_file(path, side)
        )
        if side is not None:  # first: the page speaks of it
            doors.report_graph.save_side_file(side, beside)
        doors.report.save(path, data, words)
        return None

    def _repr_html_(self) -> str:
        return doors.notebook.of_graph(self)

    def __repr__(self) -> str:
        kinds = ", ".join(f"{n} {kind}" for kind, n in self.kinds.items())
        return (
            f"ReconfigurationGraph({len(self.nodes)} nodes, {len(self.edges)} edges: "
            f"{kinds or 'none'})"
        )


#: How a graph is written as a text, by the end of the name; all ends that `save` knows.
TEXTS: dict[str, Callable[[ReconfigurationGraph], str]] = {
    ".graphml": exports.graphml, ".dot": exports.dot, ".json": ReconfigurationGraph.to_json,
    ".txt": lambda graph: graph.report() + "\n",
}  # fmt: skip
ENDINGS = (*TEXTS, *PICTURES)
